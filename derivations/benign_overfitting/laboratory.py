"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

A laboratory notes what a check reads of it, in `reads`: the data, the equations of a toy training set (two samples of M
tokens, any Gram matrix) as flow or as gradient step, the mean-field systems, the ``start`` of runs, and descents of a
real training set by the derived recursion. Equations are handed out by kind (scores, norms, values, outputs), so that a
check that never asks for the equations of the keys is known to be apart from what is broken there. With `changes` a
part is compared with the paper's own. All mutations but ``weight`` keep the symmetries, so the mean-field systems of
broken models are derived too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from odesys import (
    AttentionModel,
    BaseLaboratory,
    BlockField,
    Distribution,
    Flow,
    Head,
    IntegrationError,
    Node,
    OdesysError,
    Sample,
    ScalarField,
    System,
    Trajectory,
    blocks,
    gradient_descent,
    gradient_flow,
    graph,
    softmax,
)

from . import dynamics, setting
from .setting import Case
from .special import mean_field
from .special import span_network as span
from .special.gram_start import GramStart, gram_start

MUTATIONS = {
    # model and data: everything is derived from them
    "sign": "the output counts with a minus",
    "scale": "scores count half in the softmax",
    "pool": "rows are summed instead of averaged",
    "repeat": "every sample repeats its signal",
    "weight": "samples with label -1 count twice",
    # derived equations
    "flip": "scores move backwards",
    "keys": "inner products of keys move twice as fast",
    "values": "values move twice as fast",
    "noise": "values of noise tokens stand still",
    # start
    "start": "keys start with twice the norm",
}
BROKEN = {"flip": ("KQ", -1), "keys": ("KK", 2), "values": ("wOV", 2)}

#: training sets of the runs by the recursion: P = 14 tokens, 420 scalars, whatever the widths. These are such that the
#: terms the paper leaves out are small: N SNR / sqrt(d_h) is 0.15 and N sqrt(log / d) 0.04 in the first two; in the
#: third attention saturates while the values are small, which needs kappa mu^2 = 10^6 and a d_h far above its square
BENIGN = Case(N=6, M=3, d=200_000, d_h=100_000, mu=36.0, noise=20.0, C_p=4.0, sigma_V=1e-5)
HARMFUL = replace(BENIGN, mu=2.5)
SATURATING = replace(BENIGN, d=10**16, d_h=10**14, kappa=1e6 / BENIGN.m_s, sigma_V=3e-8)
#: and one where they are not: with d below N^2 the noise of the other samples moves a value as much as its own
CROWDED = Case(N=24, M=3, d=250, d_h=100, mu=(400 / 24) ** 0.5, noise=1.0, C_p=4.0, sigma_V=1e-5)
CASES = {"benign": BENIGN, "harmful": HARMFUL, "saturating": SATURATING, "crowded": CROWDED}
RATES = {"benign": 0.1, "harmful": 0.3, "saturating": 0.001, "crowded": 0.1}  # step size times largest squared length
LARGEST_VALUE = {"saturating": 0.25}  # where a run ends before the loss is fitted
EPS, STEPS, SEED = 0.05, 3000, 11
LONGEST = 3000  # solver steps of a mean-field run; the paper's own take a few hundred


class Laboratory(BaseLaboratory):
    """Model, data, toy systems, mean field and runs, possibly mutated."""

    mutations = MUTATIONS

    def part(self, name: str) -> Any:
        """A part in a form that can be compared; None if there is nothing to compare."""
        return _part(self.mutation, name)

    def samples(self, N: int, M: int) -> list[tuple[tuple[str, ...], int]]:
        """Tokens and label of each training sample."""
        self.reads.add(f"data {N} {M}")
        return [(s.tokens, s.label) for s in _data(self.mutation, N, M).samples]

    def flow(self, M: int = 2, gram: str = "general") -> Toy:
        """Gradient flow on two samples of M tokens; the Gram matrix is one of `setting.GRAMS`."""
        return Toy(_flow(self.mutation, 2, M, gram, False), f"flow {M} {gram}", self.reads)

    def step(self, M: int = 2, gram: str = "general") -> Toy:
        """The gradient step on the same states."""
        return Toy(_flow(self.mutation, 2, M, gram, True), f"step {M} {gram}", self.reads)

    def mean_field(self, M: int = 3, frozen: bool = True) -> Mean:
        """The equations of the mean-field system for every N."""
        return Mean(_mean_field(self.mutation, M, frozen), f"mean {M} {_FROZEN[frozen]}", self.reads)

    def mean_run(self, case: Case, eps: float, frozen: bool = True, **options: Any) -> Trajectory:
        """A run of the mean-field system to the training loss eps."""
        system = _mean_field(self.mutation, case.M, frozen)
        values = case.mean_field
        self.reads.add(f"mean {case.M} {_FROZEN[frozen]}")
        if not frozen:
            self.reads.add("start")
        try:
            return mean_field.run(
                case.M,
                values,
                eps,
                frozen,
                system,
                t_end=_patience(case, eps),
                start_factor=_start_factor(self.mutation),
                max_steps=LONGEST,
                **options,
            )
        except OdesysError as error:
            raise IntegrationError(f"the training loss does not reach {eps:g}: {error}", time=0.0) from error

    def descent(self, name: str) -> Record:
        """Gradient descent by the derived recursion on one training set of `CASES`."""
        self.reads |= {"start", f"step of {name}"}
        return _descent(self.mutation, name)


@dataclass(frozen=True, eq=False)
class Toy:
    """A toy system, read piece by piece: names of states and tokens are no part of what can be broken."""

    flow: Flow
    part: str
    reads: set[str]

    @property
    def matrices(self) -> Mapping[str, np.ndarray]:
        """Names of the states, a matrix for each kind of path."""
        return self.flow.matrices

    @property
    def gram(self) -> np.ndarray:
        """The Gram matrix of the tokens."""
        return self.flow.model.words.gram_array()

    def rhs(self, leaf: str) -> np.ndarray:
        """Right-hand sides of one kind of path (KQ, QQ, KK, wOV), as a matrix of nodes."""
        self.reads.add(f"{self.part} {leaf}")
        return np.vectorize(self.flow.system.equations.__getitem__, otypes=[object])(self.flow.matrices[leaf])

    @property
    def outputs(self) -> Mapping[str, Node]:
        """Loss and margins."""
        self.reads.add(f"{self.part} outputs")
        return self.flow.system.observables


@dataclass(frozen=True, eq=False)
class Mean:
    """A mean-field system, read by kind of variable: v, S, Q, K, and outputs."""

    system: System
    part: str
    reads: set[str]

    @property
    def names(self) -> tuple[str, ...]:
        """States."""
        return self.system.names

    def rhs(self, *names: str) -> list[Node]:
        """Right-hand sides of the named states."""
        self.reads.update(f"{self.part} {name[0]}" for name in names)
        return [self.system.equations[name] for name in names]

    @property
    def outputs(self) -> Mapping[str, Node]:
        """Output f, losses and test margin."""
        self.reads.add(f"{self.part} outputs")
        return self.system.observables


_FROZEN = {True: "frozen", False: "moving"}


def _patience(case: Case, eps: float) -> float:
    """A time by which the paper's system has long reached the loss."""
    return 10 * case.M**2 / (eps * case.w2 * max(case.m_s / 2, case.m_2 / case.N))


class Record:
    """A run of the recursion on its training set: S, Q, K, V, alpha, beta at every record, and S+, ... a step later."""

    def __init__(
        self, case: Case, made: GramStart, eta: float, rows: Mapping[str, np.ndarray], steps: np.ndarray, fitted: bool
    ) -> None:
        self.case, self.made, self.eta, self.rows, self.steps, self.fitted = case, made, eta, rows, steps, fitted

    def __getitem__(self, name: str) -> np.ndarray:
        return self.rows[name]

    @property
    def y(self) -> np.ndarray:
        """Labels."""
        return self.made.y

    @property
    def values(self) -> np.ndarray:
        """y_n V of the tokens of each sample, (times, N, M)."""
        return self.rows["V"][:, self.made.places] * self.y[None, :, None]

    @property
    def scores(self) -> np.ndarray:
        """Scores within samples, (times, N, query, key)."""
        p = self.made.places
        return self.rows["S"][:, p[:, :, None], p[:, None, :]]

    @property
    def attention(self) -> np.ndarray:
        """Softmax of the scores within samples."""
        return softmax(self.scores)

    def exit(self, key: int) -> int:
        """Place of the first record where token `key` (0 signal, 1 first noise) dominates by 3 M; refuses if none."""
        v, M = self.values, self.case.M
        rest = np.abs(np.delete(v, key, axis=2)).max(axis=2)
        places = np.flatnonzero(((v[:, :, key] >= 3 * M * rest) & (v[:, :, key] > 0)).all(axis=1))
        if not places.size:
            raise IntegrationError("no token dominates by 3 M in this run", time=float(self.steps[-1]))
        return int(places[0])


@cache
def _part(mutation: str, part: str) -> Any:
    """A part in a form that can be compared: equal expressions are the same object."""
    kind, *rest = part.split()
    if kind == "data":
        return [(s.tokens, s.label, s.weight) for s in _data(mutation, *map(int, rest)).samples]
    if kind == "start":
        return _start_factor(mutation)
    if kind == "mean":
        try:
            system = _mean_field(mutation, int(rest[0]), rest[1] == "frozen")
        except OdesysError:
            return None
        return _piece(system, {name: name[0] for name in system.names}, rest[2:])
    if kind in ("flow", "step"):  # what is broken in a run shows on the toy as well
        M, gram, *which = ["3", "orthogonal"] if rest[0] == "of" else rest
        made = _flow(mutation, 2, int(M), gram, kind == "step")
        leaves = {name: leaf for leaf, table in made.matrices.items() for name in table.ravel()}
        return _piece(made.system, leaves, which)
    return None


def _piece(system: System, kinds: Mapping[str, str], which: list[str]) -> Any:
    """The equations of one kind of state, the outputs, or (nothing asked for) the whole system."""
    if which == ["outputs"]:
        return dict(system.observables)
    rows = [(name, node) for name, node in system.equations.items() if not which or kinds[name] == which[0]]
    return rows if which else (rows, dict(system.observables))


def _start_factor(mutation: str) -> float:
    return 2.0 if mutation == "start" else 1.0


@cache
def _data(mutation: str, N: int, M: int) -> Distribution:
    out = []
    for s in setting.data(N, M).samples:
        tokens = (s.tokens[0], *s.tokens) if mutation == "repeat" else s.tokens
        out.append(Sample(tokens, s.label, s.weight * (2 if mutation == "weight" and s.label < 0 else 1)))
    return Distribution.proportional(out)


def _model(mutation: str, N: int, M: int, gram: Any) -> AttentionModel:
    made = setting.model(setting.words(N, M, gram))
    heads = [Head(-1)] if mutation == "sign" else list(made.heads)
    return AttentionModel(
        made.words,
        heads,
        made.value,
        pooling="sum" if mutation == "pool" else "mean",
        scale=Fraction(1, 2) if mutation == "scale" else 1,
    )


@cache
def _flow(mutation: str, N: int, M: int, gram: str, step: bool) -> Flow:
    return _broken(mutation, _derive(mutation, N, M, setting.GRAMS[gram](N, M), step))


def _derive(mutation: str, N: int, M: int, gram: Any, step: bool) -> Flow:
    derive = gradient_descent if step else gradient_flow
    return derive(_model(mutation, N, M, gram), _data(mutation, N, M), setting.TRAINED)


def _broken(mutation: str, flow: Flow) -> Flow:
    """The flow with the change of one path matrix multiplied, entry by entry."""
    if mutation not in (*BROKEN, "noise"):
        return flow
    field = flow.system.field
    assert isinstance(field, BlockField)
    leaf, factor = ("wOV", None) if mutation == "noise" else BROKEN[mutation]
    words = len(flow.model.words)
    by = blocks.constant([[1, 1, *[0] * (words - 2)]] if factor is None else [[factor]])
    old = field.rhs[leaf]
    if flow.system.kind == "map":  # only the change is multiplied, not the state
        state = blocks.leaf(leaf, old.shape)
        change = blocks.add(old, blocks.multiply(blocks.constant([[-1]]), state))
        new = blocks.add(state, blocks.multiply(by, change))
    else:
        new = blocks.multiply(by, old)
    return replace(flow, system=replace(flow.system, field=replace(field, rhs={**field.rhs, leaf: new})))


@cache
def _mean_field(mutation: str, M: int, frozen: bool) -> System:
    if not mutation or mutation == "start":
        return dynamics.mean_field(M, frozen)

    def derive(N: int) -> System:
        made = _broken(mutation, _derive(mutation, N, M, setting.orthogonal_gram(N, M), False))
        return dynamics.mean_field_at(made, N, M)

    moving = dynamics.in_every_N(derive)
    margin = dynamics.test_margin(M) * (-1 if mutation == "sign" else 1)
    found = dynamics.with_test_loss(moving, M)
    if mutation == "sign":
        seen = {**found.observables, "test_margin": margin, "test_loss": graph.call("softplus", -margin)}
        found = replace(found, field=ScalarField(found.nodes, seen))
    return dynamics.freeze(found) if frozen else found


@cache
def _descent(mutation: str, name: str) -> Record:
    """Iterate the derived gradient step from a drawn start; record every tenth step of the run."""
    case = CASES[name]
    made = gram_start(case, SEED)
    made_flow = _broken(mutation, _derive(mutation, case.N, case.M, made.gram.tolist(), True))
    values = {**made.values, "K": _start_factor(mutation) * made.values["K"]}
    state = made_flow.layout.pack(span.engine_leaves(values))
    eta = RATES[name] / case.largest
    bound = {"eta": eta, "w2": case.w2}
    compiled = made_flow.system.compile(bound, "block")
    alpha_beta = list(dynamics.coefficients(made_flow))
    field = made_flow.system.field
    assert isinstance(field, BlockField)
    loss = field.observable_blocks["loss"]
    kept: dict[str, list[Any]] = {}
    numbers, fitted, every = list[int](), False, 5
    for number in range(STEPS + 1):
        if number % every == 0:
            leaves = made_flow.layout.unpack(state)
            a, b, value = blocks.evaluate([*alpha_beta, loss], leaves, bound)
            fitted = float(value.reshape(-1)[0]) <= EPS
            fitted = fitted or bool(np.abs(leaves["wOV"]).max() >= LARGEST_VALUE.get(name, np.inf))
            if number % (2 * every) == 0 or fitted:
                after = made_flow.layout.unpack(compiled(0.0, state))
                row = {
                    "S": leaves["KQ"].T,
                    "Q": leaves["QQ"],
                    "K": leaves["KK"],
                    "V": leaves["wOV"][0],
                    "alpha": a,
                    "beta": b,
                    "loss": value.reshape(-1)[0],
                    "S+": after["KQ"].T,
                    "Q+": after["QQ"],
                    "K+": after["KK"],
                    "V+": after["wOV"][0],
                }
                for key, item in row.items():
                    kept.setdefault(key, []).append(np.array(item))
                numbers.append(number)
            if fitted:
                break
        state = compiled(0.0, state)
        if not np.isfinite(state).all():
            raise IntegrationError(f"the recursion overflows at step {number}", time=float(number))
    rows = {key: np.array(items) for key, items in kept.items()}
    return Record(case, made, eta, rows, np.array(numbers), fitted)
