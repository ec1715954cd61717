"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Mutations of the setting: ``sign`` (the second head counts with a plus), ``weight`` (the second sample counts twice),
``swap`` (the second and the last sample exchange their labels). Mutations of the derived equations of the + head:
``flip`` (the scores move backwards), ``double`` (the key self-scores move twice as fast).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from odesys import AttentionModel, Distribution, Flow, Head, Quotient, Sample, blocks, gradient_flow
from odesys.errors import OdesysError
from odesys.field import BlockField
from odesys.graph import Node, sym

from . import dynamics, setting

MUTATIONS = ("sign", "weight", "swap", "flip", "double")


@dataclass(frozen=True)
class Laboratory:
    """Model, data, flows and quotients of K = 2, L = 3, possibly mutated."""

    mutation: str = ""

    def __post_init__(self) -> None:
        if self.mutation and self.mutation not in MUTATIONS:
            raise OdesysError(f"the mutation {self.mutation!r} is not known; there are {', '.join(MUTATIONS)}")

    @cached_property
    def model(self) -> AttentionModel:
        """The two-headed model; mutation ``sign`` turns the minus head into a plus head."""
        if self.mutation != "sign":
            return setting.model()
        heads = [Head(sign, activation="relu", bias="b") for sign in (+1, +1)]
        return AttentionModel(setting.words(), heads)

    @cached_property
    def data(self) -> Distribution:
        """The eight samples; mutations change a weight or exchange two labels."""
        samples = list(setting.data().samples)
        if self.mutation == "weight":
            second = samples[1]  # a conflicting one, so that every stage is hit
            samples[1] = Sample(second.tokens, second.label, 2 * second.weight, second.name)
            return Distribution.proportional(samples)
        if self.mutation == "swap":
            second, last = samples[1], samples[-1]
            samples[1] = Sample(second.tokens, last.label, second.weight, second.name)
            samples[-1] = Sample(last.tokens, second.label, last.weight, last.name)
        return Distribution(samples)

    def flow(self, stage: str = "simultaneous") -> Flow:
        """The flow of a stage on all path scalars."""
        return _flow(self.mutation, stage)

    def reduced(self, stage: str = "simultaneous") -> Quotient:
        """The 22-variable quotient of a stage, under the symmetries of the unmutated data (checked exactly)."""
        return _reduced(self.mutation, stage)

    def head_name(self, sign: int) -> str:
        """Label of a head by the sign it has in the paper."""
        return self.model.head_labels[0 if sign > 0 else 1]

    def neuron(self, sign: int, word: str) -> Node:
        """w_sign . word, as a node."""
        return sym(self.flow().neuron(0 if sign > 0 else 1, word))

    def sample(self, k: int, s: int, r: int) -> int:
        """Position of X_{k,s,s'} in the data: tokens (c_k, s v_k, s' v_k')."""
        other = 3 - k
        tokens = (f"c{k}", f"v{k}" if s > 0 else f"-v{k}", f"v{other}" if r > 0 else f"-v{other}")
        return next(i for i, item in enumerate(self.data.samples) if item.tokens == tokens)

    def observable(self, kind: str, k: int, s: int, r: int, sign: int = 0, quotient: bool = False) -> Node:
        """``margin`` (y f) or ``H`` (pooled output of a head) on X_{k,s,s'}, in the full or the reduced states."""
        system = self.reduced().system if quotient else self.flow().system
        position = self.sample(k, s, r) + 1
        name = f"margin_{position}" if kind == "margin" else f"H_{self.head_name(sign)}_{position}"
        return system.observables[name]


@cache
def _flow(mutation: str, stage: str) -> Flow:
    lab = Laboratory(mutation)
    data = lab.data.condition(setting.is_conflicting) if stage == "stage2" else lab.data
    flow = gradient_flow(lab.model, data, train=dynamics.STAGES[stage], carry=dynamics.ALL)
    if mutation == "flip":
        return _broken(flow, "KQ_p", -1)
    return _broken(flow, "KK_p", 2) if mutation == "double" else flow


def _broken(flow: Flow, leaf: str, factor: int) -> Flow:
    """The same flow with the equations of one matrix multiplied by a number."""
    field = flow.system.field
    assert isinstance(field, BlockField)
    wrong = blocks.multiply(blocks.constant([[factor]]), field.rhs[leaf])
    return replace(flow, system=replace(flow.system, field=replace(field, rhs={**field.rhs, leaf: wrong})))


@cache
def _reduced(mutation: str, stage: str) -> Quotient:
    quotient: Any = _flow(mutation, stage).quotient(generators=dynamics.symmetry_generators())
    return dynamics.named(quotient)
