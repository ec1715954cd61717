"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Parts a check can read are the `model`, the `data`, the `samples` without their weights, the `equations` of a stage, the
`outputs` (margins and head outputs as expressions), the `start_values`, and the `family` of all K. Most mutations keep
the symmetries, so that checks on the quotient are run, not refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from odesys import (
    BaseLaboratory,
    BlockField,
    Data,
    FamilyFlow,
    Flow,
    Mutation,
    Node,
    OdesysError,
    PathSpeeds,
    Quotient,
    Sample,
    computed_once,
    each_sample,
    gradient_flow,
    laboratory_part,
    sym,
    unchanged,
)

from . import dynamics, setting

__all__ = ["MUTATIONS", "FamilyMutation", "Laboratory"]


@dataclass(frozen=True)
class FamilyMutation(Mutation):
    """A mutation with a change of the templates of the family alone, to break it apart from the listed samples."""

    templates: Callable[[Sequence[Sample]], Sequence[Sample]] = unchanged


def _second_twice(samples: Sequence[Sample]) -> list[Sample]:
    first, second, *rest = samples  # the second is a conflicting one, so that every stage is hit
    return [first, _twice(second), *rest]


def _second_and_last_exchanged(samples: Sequence[Sample]) -> list[Sample]:
    first, second, *rest, last = samples
    return [first, replace(second, label=last.label), *rest, replace(last, label=second.label)]


def _twice(sample: Sample) -> Sample:
    return replace(sample, weight=2 * sample.weight)


def _repeated(sample: Sample) -> Sample:
    group, own, *rest = sample.tokens
    return replace(sample, tokens=(group, own, own, *rest))


def _conflicting(change: Callable[[Sample], Sample], clash: bool = True) -> Callable[[Sequence[Sample]], list[Sample]]:
    return each_sample(lambda sample: change(sample) if setting.is_conflicting(sample) == clash else sample)


def _label_twice(sign: int) -> Callable[[Sequence[Sample]], list[Sample]]:
    return each_sample(lambda sample: _twice(sample) if sample.label == sign else sample)


def _own_label_twice(flow: Flow) -> Flow:
    """The same flow with the equations of each head taken from data in which the samples of its sign count twice."""
    rhs: dict[str, Any] = {}
    for head, sign in zip(HEADS, _listed(flow).model.signs, strict=True):
        data = Data.proportional(flow.data.words, _label_twice(sign)(flow.data.samples))
        other = gradient_flow(flow.model, data, train=flow.train, carry=dynamics.ALL).system.field
        assert isinstance(other, BlockField)
        rhs |= {leaf: block for leaf, block in other.rhs.items() if leaf.endswith(f"_{head}")}
    field = flow.system.field
    assert isinstance(field, BlockField)
    return replace(flow, system=replace(flow.system, field=replace(field, rhs={leaf: rhs[leaf] for leaf in field.rhs})))


def _groups_apart(flow: Flow) -> Flow:
    """The same flow with scores between words of different groups standing still; words are c1..cK, v1..vK."""
    return PathSpeeds({"KQ": lambda n, _: [[int(i % (n // 2) == j % (n // 2)) for j in range(n)] for i in range(n)]})(
        _listed(flow)
    )


def _listed(flow: Any) -> Flow:
    if not isinstance(flow, Flow):
        raise OdesysError("this mutation is not defined for families: it is one of listed samples and words")
    return flow


HEADS = ("p", "m")
MUTATIONS = (
    # model, data and start: everything is derived from them
    Mutation("sign", "the second head counts with a plus", model=lambda model: replace(model, signs=(1, 1))),
    Mutation("bias", "the bias counts with a minus", model=lambda model: replace(model, bias=-sym("b"))),
    Mutation("weight", "the second sample counts twice", data=_second_twice),
    Mutation("swap", "the second and the last sample exchange their labels", data=_second_and_last_exchanged),
    Mutation(
        "labels",
        "all conflicting samples get the other label",
        data=_conflicting(lambda s: replace(s, label=-s.label)),
    ),
    Mutation("consistent", "consistent samples count twice", data=_conflicting(_twice, clash=False)),
    Mutation("repeat", "every sample repeats its own classification signal", data=each_sample(_repeated)),
    Mutation(
        "start",
        "key self-scores start twice as large",
        start=lambda values: {name: 2 * x if name.startswith("KK_") else x for name, x in values.items()},
    ),
    FamilyMutation(
        "templates",
        "consistent templates of the family count twice, the samples listed for K = 2 do not",
        templates=_conflicting(_twice, clash=False),
    ),
    # derived equations of both heads
    Mutation("own", "each head moves as if the samples of its own label counted twice", equations=_own_label_twice),
    Mutation("flip", "scores move backwards", equations=PathSpeeds({"KQ": -1})),
    Mutation("double", "key self-scores move twice as fast", equations=PathSpeeds({"KK": 2})),
    Mutation("neurons", "neurons move twice as fast", equations=PathSpeeds({"w": 2})),
    Mutation("groups", "scores between words of different groups stand still", equations=_groups_apart),
)


class Laboratory(BaseLaboratory):
    """Model, data, flows and quotients of L = 3 (and K = 2 unless asked otherwise), possibly mutated."""

    mutations = MUTATIONS

    @laboratory_part
    def model(self, K: int = 2) -> setting.TwoHeads:
        """The two-headed model."""
        return self.mutation.model(setting.model(K))

    @laboratory_part
    def data(self, K: int = 2) -> Data:
        """All samples; eight for K = 2."""
        return Data.proportional(setting.words(K), self.mutation.data(setting.data(K).samples))

    @laboratory_part
    def samples(self) -> list[tuple[tuple[str, ...], int]]:
        """Tokens and label of each sample."""
        return [(s.tokens, s.label) for s in self.data().samples]

    @laboratory_part
    def equations(self, stage: str, K: int) -> Flow:
        """The flow of a stage; `flow` gives it with its start."""
        data = self.data(K)
        if stage == "stage2":  # told by the names, so that mutated labels or tokens do not change what it trains on
            clash = {s.name for s in setting.data(K).samples if setting.is_conflicting(s)}
            data = data.condition(lambda s: s.name in clash)
        train = dynamics.STAGES[stage]
        return self.mutation.equations(gradient_flow(self.model(K), data, train=train, carry=dynamics.ALL))

    def flow(self, stage: str = "simultaneous", K: int = 2) -> Flow:
        """The flow of a stage on all path scalars."""
        return _Watched.of(self.equations(stage, K), self)

    def reduced(self, stage: str = "simultaneous", K: int = 2) -> Quotient:
        """The 22-variable quotient of a stage, under the symmetries of the unmutated data (checked exactly)."""
        quotient = self._quotient(stage, K)
        return replace(quotient, flow=_Watched.of(quotient.flow, self))

    @computed_once
    def _quotient(self, stage: str, K: int) -> Quotient:
        return dynamics.named(self.equations(stage, K).quotient(generators=dynamics.symmetry_generators(K)))

    @laboratory_part
    def family(self, stage: str = "simultaneous", K: int | str = "symbol", scaled: bool = False) -> FamilyFlow:
        """The 22 orbit variables of a stage for every K (L = 3), under the symmetries of the unmutated family."""
        from .special.family_laboratory import mutated_family

        return mutated_family(self.mutation, stage, K, scaled)

    @laboratory_part
    def start_values(self, omega: float) -> np.ndarray:
        """The infinite-width start of all path scalars."""
        return self.flow().initial_state(omega=omega)

    def start(self, omega: float) -> dict[str, float]:
        """The infinite-width start of all path scalars, by name."""
        return dict(zip(self.names.system.names, self.start_values(omega).tolist(), strict=True))

    @laboratory_part
    def outputs(self) -> tuple[tuple[str, ...], dict[str, Node]]:
        """Names of the states, margins and head outputs; the loss reads the weights of the samples too."""
        system = self.names.system
        return system.names, {name: node for name, node in system.observables.items() if name != "loss"}

    @property
    def names(self) -> Flow:
        """A flow to ask for the names of states; that reads no equation."""
        return self.unrecorded().equations("simultaneous", 2)

    def head_name(self, sign: int) -> str:
        """Label of a head by the sign it has in the paper."""
        return HEADS[0 if sign > 0 else 1]

    def neuron(self, sign: int, word: str) -> Node:
        """w_sign . word, as a node."""
        return sym(f"w_{self.head_name(sign)}_{word}")

    def score(self, sign: int, key: str, query: str) -> str:
        """The name of key' W_K' W_Q query of a head."""
        return f"KQ_{self.head_name(sign)}_{key}_{query}"

    def symmetric(self, state: str) -> Node:
        """A state of the full flow in the 22 variables, on the states that have the symmetries C.2 and C.4."""
        place, paper = self.names.layout.names.index(state), dynamics.reduced()
        return sym(paper.system.names[int(paper.orbits.orbit[place])]) * int(paper.orbits.sign[place])

    def sample(self, k: int, s: int, r: int) -> int:
        """Position of X_{k,s,s'} in the data: tokens (c_k, s v_k, s' v_k')."""
        other = 3 - k
        tokens = (f"c{k}", f"v{k}" if s > 0 else f"-v{k}", f"v{other}" if r > 0 else f"-v{other}")
        return next(i for i, item in enumerate(setting.data().samples) if item.tokens == tokens)

    def label(self, k: int, s: int, r: int) -> int:
        """Label of X_{k,s,s'}."""
        return self.samples()[self.sample(k, s, r)][1]

    def observable(self, kind: str, k: int, s: int, r: int, sign: int = 0, quotient: bool = False) -> Node:
        """``margin`` (y f) or ``H`` (pooled output of a head) on X_{k,s,s'}, in the full or the reduced states."""
        self.read(Laboratory.outputs)
        system = self.unrecorded().reduced().system if quotient else self.names.system
        position = self.sample(k, s, r) + 1
        name = f"margin_{position}" if kind == "margin" else f"H_{self.head_name(sign)}_{position}"
        return system.observables[name]


@dataclass(frozen=True, eq=False)
class _Watched(Flow):
    """A flow that notes when its start is read: checks ask flows and quotients for it, not the laboratory."""

    lab: Laboratory = field(kw_only=True)

    @classmethod
    def of(cls, flow: Flow, lab: Laboratory) -> _Watched:
        """The same flow, watched."""
        return cls(**{each.name: getattr(flow, each.name) for each in fields(Flow)}, lab=lab)

    def initial_state(self, omega: Any = None, *, weights: Any = None, **more: Any) -> np.ndarray:
        """Start values of all states; those of a finite network are not mutated."""
        state = super().initial_state(omega, weights=weights, **more)
        if weights is not None:
            return state
        self.lab.read(Laboratory.start_values, 0.5)
        values = self.lab.mutation.start(dict(zip(self.system.names, state, strict=True)))
        return np.array(list(values.values()))
