"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Mutations of the setting: ``sign`` (the second head counts with a plus), ``weight`` (the second sample counts twice),
``swap`` (the second and the last sample exchange their labels), ``labels`` (all conflicting samples get the other
label), ``consistent`` (consistent samples count twice). Mutations of the derived equations of both heads: ``flip``
(scores move backwards), ``double`` (key self-scores move twice as fast), ``neurons`` (neurons move twice as fast). The
last five keep the symmetries, so that checks on the quotient are run, not refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from odesys import AttentionModel, Distribution, Flow, Head, Quotient, Sample, blocks, gradient_flow
from odesys.errors import OdesysError
from odesys.family_gradient import FamilyFlow
from odesys.field import BlockField
from odesys.graph import Node, sym

from . import dynamics, setting

MUTATIONS = ("sign", "weight", "swap", "labels", "consistent", "flip", "double", "neurons")
BROKEN = {"flip": ("KQ", -1), "double": ("KK", 2), "neurons": ("w", 2)}


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
        if self.mutation == "labels":
            signs = [-1 if setting.is_conflicting(s) else 1 for s in samples]
            samples = [Sample(s.tokens, e * s.label, s.weight, s.name) for e, s in zip(signs, samples, strict=True)]
        if self.mutation == "consistent":
            times = [1 if setting.is_conflicting(s) else 2 for s in samples]
            samples = [Sample(s.tokens, s.label, k * s.weight, s.name) for k, s in zip(times, samples, strict=True)]
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

    def family(self, stage: str = "simultaneous", K: int | str = "symbol", scaled: bool = False) -> FamilyFlow:
        """The 22 orbit variables of a stage for every K (L = 3), under the symmetries of the unmutated family."""
        from .family_laboratory import mutated_family

        return mutated_family(self.mutation, stage, K, scaled)

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
    # the second stage is told by the tokens, so that a mutated label does not change what it trains on
    clash = {s.tokens for s in setting.data().samples if setting.is_conflicting(s)}
    data = lab.data.condition(lambda s: s.tokens in clash) if stage == "stage2" else lab.data
    flow = gradient_flow(lab.model, data, train=dynamics.STAGES[stage], carry=dynamics.ALL)
    return broken(flow, *BROKEN[mutation]) if mutation in BROKEN else flow


def broken(flow: Any, path: str, factor: int) -> Any:
    """The same flow with the equations of one path matrix multiplied by a number, in both heads."""
    field = flow.system.field
    assert isinstance(field, BlockField)
    by = blocks.constant([[factor]])
    rhs = dict(field.rhs)
    for leaf in (name for name in field.rhs if name.startswith(f"{path}_")):
        rhs[leaf] = blocks.multiply(by, rhs[leaf])
    return replace(flow, system=replace(flow.system, field=replace(field, rhs=rhs)))


@cache
def _reduced(mutation: str, stage: str) -> Quotient:
    quotient: Any = _flow(mutation, stage).quotient(generators=dynamics.symmetry_generators())
    return dynamics.named(quotient)
