"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

A laboratory notes what a check reads of it, in `reads`: the equations of a stage, the ``outputs`` (margins and head
outputs as expressions), the ``start``, the ``data``, the ``samples`` without their weights, the ``model``. With
`changes` it says whether its mutation makes a part any different from the paper's, by comparing the two; so a survivor
that never looked at what was broken is found by program. Most mutations keep the symmetries, so that checks on the
quotient are run, not refused.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    AttentionModel,
    BaseLaboratory,
    BlockField,
    Distribution,
    FamilyFlow,
    Flow,
    Head,
    Node,
    OdesysError,
    Quotient,
    Sample,
    blocks,
    gradient_flow,
    sym,
)

from . import dynamics, setting

__all__ = ["BROKEN", "MUTATIONS", "Laboratory", "broken"]

MUTATIONS = {
    # model, data and start: everything is derived from them
    "sign": "the second head counts with a plus",
    "bias": "the bias counts with a minus",
    "weight": "the second sample counts twice",
    "swap": "the second and the last sample exchange their labels",
    "labels": "all conflicting samples get the other label",
    "consistent": "consistent samples count twice",
    "repeat": "every sample repeats its own classification signal",
    "start": "key self-scores start twice as large",
    "templates": "consistent templates of the family count twice, the samples listed for K = 2 do not",
    # derived equations of both heads
    "own": "each head moves as if the samples of its own label counted twice",
    "flip": "scores move backwards",
    "double": "key self-scores move twice as fast",
    "neurons": "neurons move twice as fast",
    "groups": "scores between words of different groups stand still",
}
BROKEN = {"flip": ("KQ", -1), "double": ("KK", 2), "neurons": ("w", 2)}


class Laboratory(BaseLaboratory):
    """Model, data, flows and quotients of L = 3 (and K = 2 unless asked otherwise), possibly mutated."""

    mutations = MUTATIONS

    def part(self, name: str) -> Any:
        """A part in a form that can be compared: equal expressions are the same object."""
        return _part(self.mutation, name)

    @property
    def model(self) -> AttentionModel:
        """The two-headed model."""
        self.reads.add("model")
        return _model(self.mutation)

    @property
    def data(self) -> Distribution:
        """The eight samples."""
        self.reads.add("data")
        return _data(self.mutation)

    def flow(self, stage: str = "simultaneous", K: int = 2) -> Flow:
        """The flow of a stage on all path scalars."""
        self.reads.add(_stage(stage, K))
        return _Watched.of(_flow(self.mutation, stage, K), self)

    def reduced(self, stage: str = "simultaneous", K: int = 2) -> Quotient:
        """The 22-variable quotient of a stage, under the symmetries of the unmutated data (checked exactly)."""
        self.reads.add(_stage(stage, K))
        quotient = _reduced(self.mutation, stage, K)
        return replace(quotient, flow=_Watched.of(quotient.flow, self))

    @property
    def names(self) -> Flow:
        """A flow to ask for the names of states; that reads no equation."""
        return _flow(self.mutation, "simultaneous", 2)

    def family(self, stage: str = "simultaneous", K: int | str = "symbol", scaled: bool = False) -> FamilyFlow:
        """The 22 orbit variables of a stage for every K (L = 3), under the symmetries of the unmutated family."""
        from .special.family_laboratory import mutated_family

        self.reads.add(f"family, {stage}, {K}, {scaled}")
        return mutated_family(self.mutation, stage, K, scaled)

    def head_name(self, sign: int) -> str:
        """Label of a head by the sign it has in the paper."""
        return _model(self.mutation).head_labels[0 if sign > 0 else 1]

    def neuron(self, sign: int, word: str) -> Node:
        """w_sign . word, as a node."""
        return sym(self.names.neuron(0 if sign > 0 else 1, word))

    def symmetric(self, state: str) -> Node:
        """A state of the full flow in the 22 variables, on the states that have the symmetries C.2 and C.4."""
        place, paper = self.names.layout.names.index(state), dynamics.reduced()
        return sym(paper.system.names[int(paper.orbits.orbit[place])]) * int(paper.orbits.sign[place])

    def sample(self, k: int, s: int, r: int) -> int:
        """Position of X_{k,s,s'} in the data: tokens (c_k, s v_k, s' v_k')."""
        other = 3 - k
        tokens = (f"c{k}", f"v{k}" if s > 0 else f"-v{k}", f"v{other}" if r > 0 else f"-v{other}")
        return next(i for i, item in enumerate(setting.data().samples) if item.tokens == tokens)

    @property
    def samples(self) -> list[tuple[tuple[str, ...], int]]:
        """Tokens and label of each sample."""
        self.reads.add("samples")
        return [(s.tokens, s.label) for s in _data(self.mutation).samples]

    def label(self, k: int, s: int, r: int) -> int:
        """Label of X_{k,s,s'}."""
        return self.samples[self.sample(k, s, r)][1]

    def start(self, omega: float) -> dict[str, float]:
        """The infinite-width start of all path scalars, by name."""
        flow = _Watched.of(self.names, self)
        return dict(zip(flow.system.names, flow.initial_state(omega=omega).tolist(), strict=True))

    def observable(self, kind: str, k: int, s: int, r: int, sign: int = 0, quotient: bool = False) -> Node:
        """``margin`` (y f) or ``H`` (pooled output of a head) on X_{k,s,s'}, in the full or the reduced states."""
        self.reads.add("outputs")
        system = _reduced(self.mutation, "simultaneous", 2).system if quotient else self.names.system
        position = self.sample(k, s, r) + 1
        name = f"margin_{position}" if kind == "margin" else f"H_{self.head_name(sign)}_{position}"
        return system.observables[name]


@dataclass(frozen=True, eq=False)
class _Watched(Flow):
    """A flow that notes when its start is read; mutation ``start`` doubles the key self-scores there."""

    lab: Laboratory

    @classmethod
    def of(cls, flow: Flow, lab: Laboratory) -> _Watched:
        """The same flow, watched."""
        return cls(flow.model, flow.data, flow.loss, flow.train, flow.closure, flow.system, lab)

    def initial_state(self, omega: Any = None, *, weights: Any = None, **spread: Any) -> np.ndarray:
        """Start values of all states; those of a finite network are not mutated."""
        if weights is None:
            self.lab.reads.add("start")
            if self.lab.mutation == "start":
                spread = {"W_K": 2 * omega**2, **spread}
        return super().initial_state(omega, weights=weights, **spread)


def _stage(stage: str, K: int) -> str:
    return stage if K == 2 else f"{stage}, K = {K}"


@cache
def _part(mutation: str, part: str) -> Any:
    """A part of a laboratory in a form that can be compared: equal expressions are the same object."""
    lab = Laboratory(mutation)
    if part in ("model", "data", "samples"):
        return getattr(lab, part)
    if part == "start":
        return list(lab.start(0.5).values())
    if part.startswith("family, "):
        return _family_part(mutation, *part.split(", ")[1:])
    stage, _, K = part.partition(", K = ")
    if stage not in ("outputs", *dynamics.STAGES):
        return None
    system = _flow(mutation, "simultaneous" if part == "outputs" else stage, int(K or 2)).system
    if part == "outputs":
        return system.names, {name: node for name, node in system.observables.items() if name != "loss"}
    return system.names, system.nodes, dict(system.observables)


def _family_part(mutation: str, stage: str, K: str, scaled: str) -> Any:
    from .special.family_laboratory import mutated_family

    try:
        system = mutated_family(mutation, stage, int(K) if K.isdigit() else K, scaled == "True").system
    except OdesysError:  # refused: nothing to compare
        return None
    return system.names, system.nodes, dict(system.observables)


@cache
def _model(mutation: str, K: int = 2) -> AttentionModel:
    if mutation not in ("sign", "bias"):
        return setting.model(K)
    second, bias = (+1, sym("b")) if mutation == "sign" else (-1, -sym("b"))
    return AttentionModel(setting.words(K), [Head(sign, activation="relu", bias=bias) for sign in (+1, second)])


@cache
def _data(mutation: str, K: int = 2) -> Distribution:
    samples = list(setting.data(K).samples)
    clash = [setting.is_conflicting(s) for s in samples]
    weights, labels = [s.weight for s in samples], [s.label for s in samples]
    if mutation == "weight":
        weights[1] *= 2  # a conflicting one, so that every stage is hit
    if mutation == "consistent":
        weights = [w if conflicting else 2 * w for w, conflicting in zip(weights, clash, strict=True)]
    if mutation == "swap":
        labels[1], labels[-1] = labels[-1], labels[1]
    if mutation == "labels":
        labels = [-y if conflicting else y for y, conflicting in zip(labels, clash, strict=True)]
    tokens = [s.tokens for s in samples]
    if mutation == "repeat":
        tokens = [(group, own, own, *rest) for group, own, *rest in tokens]
    return Distribution.proportional(
        Sample(t, y, w, s.name) for s, t, y, w in zip(samples, tokens, labels, weights, strict=True)
    )


@cache
def _flow(mutation: str, stage: str, K: int) -> Flow:
    plain = _derived(_model(mutation, K), _data(mutation, K), stage, K)
    if mutation == "own":
        return _own_label_twice(plain, stage, K)
    if mutation == "groups":
        same = [[int(i % K == j % K) for j in range(2 * K)] for i in range(2 * K)]  # words are c1..cK, v1..vK
        return broken(plain, "KQ", same)
    return broken(plain, *BROKEN[mutation]) if mutation in BROKEN else plain


def _derived(model: AttentionModel, data: Distribution, stage: str, K: int) -> Flow:
    # the second stage is told by the names, so that mutated labels or tokens do not change what it trains on
    clash = {s.name for s in setting.data(K).samples if setting.is_conflicting(s)}
    chosen = data.condition(lambda s: s.name in clash) if stage == "stage2" else data
    return gradient_flow(model, chosen, train=dynamics.STAGES[stage], carry=dynamics.ALL)


def _own_label_twice(flow: Flow, stage: str, K: int) -> Flow:
    """The same flow with the equations of each head taken from data in which the samples of its sign count twice."""
    field = flow.system.field
    assert isinstance(field, BlockField)
    samples = _data("", K).samples
    rhs: dict[str, Any] = {}
    for head, label in zip(flow.model.heads, flow.model.head_labels, strict=True):
        data = Distribution.proportional(
            Sample(s.tokens, s.label, (2 if s.label == head.sign else 1) * s.weight, s.name) for s in samples
        )
        other = _derived(flow.model, data, stage, K).system.field
        assert isinstance(other, BlockField)
        rhs |= {leaf: block for leaf, block in other.rhs.items() if leaf.endswith(f"_{label}")}
    return replace(flow, system=replace(flow.system, field=replace(field, rhs={leaf: rhs[leaf] for leaf in field.rhs})))


def broken(flow: Any, path: str, factor: Any) -> Any:
    """The same flow with the equations of one path matrix multiplied by a number, or entry by entry, in both heads."""
    field = flow.system.field
    assert isinstance(field, BlockField)
    by = blocks.constant(factor if isinstance(factor, list) else [[factor]])
    rhs = dict(field.rhs)
    for leaf in (name for name in field.rhs if name.startswith(f"{path}_")):
        rhs[leaf] = blocks.multiply(by, rhs[leaf])
    return replace(flow, system=replace(flow.system, field=replace(field, rhs=rhs)))


@cache
def _reduced(mutation: str, stage: str, K: int) -> Quotient:
    quotient: Any = _flow(mutation, stage, K).quotient(generators=dynamics.symmetry_generators(K))
    return dynamics.named(quotient)
