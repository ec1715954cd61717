"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

Parts a check can read are the `data`, the equations of a toy training set (two samples of M tokens, any Gram matrix) as
flow or as gradient step, the mean-field systems, and the `start` of runs. Equations are handed out by kind (scores,
norms, values, outputs), so that a check that never asks for the equations of the keys is known to be insensitive to
what is broken there. All mutations but ``weight`` keep the symmetries, so the mean-field systems of broken models are
derived too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from odesys import (
    BaseLaboratory,
    Data,
    Expr,
    Flow,
    IntegrationError,
    Mutation,
    Node,
    OdesysError,
    PathSpeeds,
    Sample,
    System,
    Trajectory,
    each_sample,
    gradient_descent,
    gradient_flow,
    laboratory_part,
)

from . import dynamics, setting
from .setting import Case
from .special import mean_field, two_classes

MUTATIONS = (
    # model and data: everything is derived from them
    Mutation("sign", "the output counts with a minus", model=lambda model: replace(model, sign=-1)),
    Mutation("scale", "scores count half in the softmax", model=lambda model: replace(model, scale=Fraction(1, 2))),
    Mutation("pool", "rows are summed instead of averaged", model=lambda model: replace(model, pooled=Expr.sum)),
    Mutation(
        "repeat",
        "every sample repeats its signal",
        data=each_sample(lambda s: replace(s, tokens=(s.tokens[0], *s.tokens))),
    ),
    Mutation(
        "weight",
        "samples with label -1 count twice",
        data=each_sample(lambda s: replace(s, weight=s.weight * (2 if s.label < 0 else 1))),
    ),
    # derived equations
    Mutation("flip", "scores move backwards", equations=PathSpeeds({"KQ": -1})),
    Mutation("keys", "inner products of keys move twice as fast", equations=PathSpeeds({"KK": 2})),
    Mutation("values", "values move twice as fast", equations=PathSpeeds({"wOV": 2})),
    Mutation(
        "noise",
        "values of noise tokens stand still",
        equations=PathSpeeds({"wOV": lambda _, tokens: [[1, 1, *[0] * (tokens - 2)]]}),
    ),
    # start
    Mutation("start", "keys start with twice the norm", start=lambda norm: 2 * norm),
)

LONGEST = 3000  # solver steps of a mean-field run; the paper's own take a few hundred


class Laboratory(BaseLaboratory):
    """Model, data, toy systems, mean field and runs, possibly mutated."""

    mutations = MUTATIONS

    @laboratory_part
    def data(self, N: int, M: int) -> list[Sample]:
        """The training set."""
        return self.mutation.data(setting.samples(N, M))

    def samples(self, N: int, M: int) -> list[tuple[tuple[str, ...], int]]:
        """Tokens and label of each training sample."""
        return [(s.tokens, s.label) for s in self.data(N, M)]

    def _derive(self, N: int, M: int, gram: Any, step: bool, signs: Sequence[int] | None = None) -> Flow:
        derive, words = gradient_descent if step else gradient_flow, setting.words(N, M, gram)
        data = Data.proportional(words, self.mutation.data(setting.samples(N, M, signs)))
        model = self.mutation.model(setting.Network(words))
        return self.mutation.equations(derive(model, data, train=setting.TRAINED))

    # ---- toy systems

    @laboratory_part
    def toy(self, M: int, gram: str, step: bool) -> Flow:
        """The flow or the gradient step on two samples of M tokens; the Gram matrix is one of `setting.GRAMS`."""
        return self._derive(2, M, setting.GRAMS[gram](2, M), step)

    @laboratory_part
    def toy_rates(self, M: int, gram: str, step: bool, leaf: str) -> np.ndarray:
        """Right-hand sides of one kind of path of the toy."""
        made = self.toy(M, gram, step)
        return np.vectorize(made.system.equations.__getitem__, otypes=[object])(made.matrices[leaf])

    @laboratory_part
    def toy_outputs(self, M: int, gram: str, step: bool) -> Mapping[str, Node]:
        """Loss and margins of the toy."""
        return self.toy(M, gram, step).system.observables

    def flow(self, M: int = 2, gram: str = "general") -> Toy:
        """Gradient flow on two samples of M tokens; the Gram matrix is one of `setting.GRAMS`."""
        return Toy(self, M, gram, False)

    def step(self, M: int = 2, gram: str = "general") -> Toy:
        """The gradient step on the same states."""
        return Toy(self, M, gram, True)

    # ---- mean field

    @laboratory_part
    def mean_system(self, M: int, frozen: bool) -> System:
        """The mean-field system for every N."""

        def derive(N: int) -> System:
            return dynamics.mean_field_at(self._derive(N, M, setting.orthogonal_gram(N, M), False), N, M)

        sign = self.mutation.model(setting.Network(setting.words(2, M, setting.orthogonal_gram(2, M)))).sign
        found = dynamics.with_test_loss(dynamics.in_every_N(derive), M, sign)
        return dynamics.freeze(found) if frozen else found

    @laboratory_part
    def mean_rates(self, M: int, frozen: bool, kind: str) -> dict[str, Node]:
        """Right-hand sides of one kind of mean-field variable: v, S, Q or K."""
        return {name: node for name, node in self.mean_system(M, frozen).equations.items() if name[0] == kind}

    @laboratory_part
    def mean_outputs(self, M: int, frozen: bool) -> Mapping[str, Node]:
        """Output f, losses and test margin of the mean field."""
        return self.mean_system(M, frozen).observables

    @laboratory_part
    def class_rates(self, M: int, kind: str) -> dict[str, Node]:
        """The same for one class with a share p of the samples, norms frozen."""

        def derive(n: int) -> System:
            made = self._derive(n, M, setting.orthogonal_gram(n, M), False, (1,) * n)
            return dynamics.mean_field_at(made, n, M, one_class=True)

        found = dynamics.freeze(two_classes.one_class(derive)).equations
        return {name: node for name, node in found.items() if name[0] == kind}

    def mean_field(self, M: int = 3, frozen: bool = True) -> Mean:
        """The equations of the mean-field system for every N."""
        return Mean(self, M, frozen, self.unrecorded().mean_system(M, frozen))

    # ---- runs

    @laboratory_part
    def start(self) -> float:
        """Norms of the keys at the start over the paper's."""
        return self.mutation.start(1.0)

    def mean_run(self, case: Case, eps: float, frozen: bool = True, **options: Any) -> Trajectory:
        """A run of the mean-field system to the training loss eps."""
        system = self.mean_system(case.M, frozen)
        norm = 1.0 if frozen else self.start()
        try:
            return mean_field.run(
                case.M,
                case.mean_field,
                eps,
                frozen,
                system,
                t_end=_patience(case, eps),
                start_factor=norm,
                max_steps=LONGEST,
                **options,
            )
        except OdesysError as error:
            raise IntegrationError(f"the training loss does not reach {eps:g}: {error}", time=0.0) from error


@dataclass(frozen=True, eq=False)
class Toy:
    """A toy system, read piece by piece: names of states and tokens are no part of what can be broken."""

    lab: Laboratory
    M: int
    kind: str
    step: bool

    @property
    def _flow(self) -> Flow:
        return self.lab.unrecorded().toy(self.M, self.kind, self.step)

    @property
    def matrices(self) -> Mapping[str, np.ndarray]:
        """Names of the states, a matrix for each kind of path."""
        return self._flow.matrices

    @property
    def symbols(self) -> Mapping[str, np.ndarray]:
        """The states as symbols, a matrix for each kind of path."""
        return self._flow.layout.symbols

    @property
    def gram(self) -> np.ndarray:
        """The Gram matrix of the tokens."""
        return self._flow.data.words.pinned.gram_array()

    def rhs(self, leaf: str) -> np.ndarray:
        """Right-hand sides of one kind of path (KQ, QQ, KK, wOV), as a matrix of nodes."""
        return self.lab.toy_rates(self.M, self.kind, self.step, leaf)

    @property
    def outputs(self) -> Mapping[str, Node]:
        """Loss and margins."""
        return self.lab.toy_outputs(self.M, self.kind, self.step)


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean-field system, read by kind of variable: v, S, Q, K, and outputs."""

    lab: Laboratory
    M: int
    frozen: bool
    system: System

    @property
    def names(self) -> tuple[str, ...]:
        """States."""
        return self.system.names

    def rhs(self, *names: str) -> list[Node]:
        """Right-hand sides of the named states."""
        return [self.lab.mean_rates(self.M, self.frozen, name[0])[name] for name in names]

    @property
    def outputs(self) -> Mapping[str, Node]:
        """Output f, losses and test margin."""
        return self.lab.mean_outputs(self.M, self.frozen)


def _patience(case: Case, eps: float) -> float:
    """A time by which the paper's system has long reached the loss."""
    return 10 * case.M**2 / (eps * case.w2 * max(case.m_s / 2, case.m_2 / case.N))
