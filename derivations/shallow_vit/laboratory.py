"""The paper's systems behind one object, so that every check can also be run on systems broken on purpose.

A laboratory notes what a check reads of it, in `reads`: the ``model``, the ``samples``, the ``loss``, the ``start`` and
the ``equations of`` neurons (O), values (V), keys (K) and queries (Q), or of the logits (S) where they are trained
themselves. Derived systems (toy equations on the entries of
the weights, Gram systems, the symmetric system) and runs of hand-written gradient steps are made of these, and are
broken in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import (
    MARGIN,
    AttentionModel,
    BaseLaboratory,
    BlockField,
    CoordinateFlow,
    CoordinateQuotient,
    Distribution,
    Flow,
    IntegrationError,
    Loss,
    Neurons,
    Sample,
    Value,
    blocks,
    coordinate_flow,
    gradient_flow,
    graph,
    sym,
)

from . import dynamics
from .setting import TRAINED, Case, Features
from .special import broken_tokens, network
from .special import class_network as classes
from .special import several_heads as heads
from .special.class_network import Counts, Forces, State
from .special.several_heads import Heads, HeadTables

__all__ = ["MUTATIONS", "Laboratory", "Record"]

MUTATIONS = {
    # model and data: everything is derived from them
    "minority": "the label is the minority of mu1 and mu2",
    "weight": "samples with label -1 count twice",
    "scale": "logits count half in the softmax",
    "linear": "hidden neurons without ReLU",
    "hinge": "exponential loss in place of the hinge: no margin at which the motion stops",
    "tokens": "nuisance tokens count three times",
    # equations
    "flip": "keys and queries move backwards",
    "keys": "keys move backwards, queries as they should",
    "values": "values move backwards",
    "neurons": "hidden neurons move twice as fast",
    "nuisance": "values of nuisance patterns move backwards",
    # start
    "start": "the initial model has half its size",
}
LEAVES = ("O", "V", "K", "Q")
SPEED: dict[str, dict[str, int]] = {
    "flip": {"K": -1, "Q": -1, "S": -1},
    "keys": {"K": -1},
    "values": {"V": -1},
    "neurons": {"O": 2},
}
LONGEST = 60_000  # steps of one run
EXPONENTIAL = Loss("exponential", graph.exp(-MARGIN))
SIGNS = (sym("a"), -sym("a"))
POSITIONS = ((sym("a1"), -sym("a2")), (sym("a3"), -sym("a4")))  # output weights of two positions


class Laboratory(BaseLaboratory):
    """Toy equations, Gram system, symmetric system and runs, possibly mutated."""

    mutations = MUTATIONS

    def part(self, name: str) -> Any:
        """A part in a form that can be compared."""
        what, _, leaf = name.rpartition(" of ")
        if what == "equations":
            return _speed(self.mutation, leaf), self.mutation == "nuisance" and leaf == "V"
        return {
            "model": self.mutation in ("scale", "linear"),
            "samples": self.mutation in ("minority", "weight", "tokens"),
            "loss": self.mutation == "hinge",
            "start": self.mutation == "start",
        }[name]

    def _all(self, *parts: str) -> None:
        self.reads |= set(parts) or {"model", "samples", "loss", "start", *(f"equations of {leaf}" for leaf in LEAVES)}

    # ---- derived systems

    def toy(self, step: bool = False, variant: str = "") -> CoordinateFlow:
        """Two neurons with weights a, -a, M = 3, m_a = 2, m_b = 3, a sample a class, counts c1.., e1.. as parameters.

        To ask for names, outputs and loss; equations are read with `rates`. The variant is one of `dynamics.VARIANTS`,
        or ``noisy``: tokens with any Gram matrix, two a sample, and output weights of their own for each position.
        """
        self._all("model", "samples", "loss")
        return _toy(self.mutation, step, variant)

    def rates(self, leaf: str, step: bool = False, variant: str = "") -> np.ndarray:
        """Right-hand sides of one matrix of the toy: O (neuron, axis), V, K or Q (axis, pattern), S (key, query)."""
        self._all("model", "samples", "loss", f"equations of {leaf}")
        return _rates(self.mutation, leaf, step, variant)

    def two_heads(self, leaf: str) -> tuple[HeadTables, np.ndarray]:
        """The toy with two heads in one layer (`heads.py`): its tables, and the rates of one matrix of both heads."""
        self._all("model", "samples", "loss", f"equations of {leaf}")
        return _two_heads(self.mutation, leaf)

    def gram(self) -> Flow:
        """The class-level system on inner products for the same toy; reads all equations."""
        self._all("model", "samples", "loss", *(f"equations of {leaf}" for leaf in LEAVES))
        return _gram(self.mutation)

    def symmetric(self, M: int = 4, variant: str = "") -> CoordinateQuotient:
        """Two mirrored neurons (weights +-sqrt(pi)) on the exact fractions as parameters, reduced by its symmetries."""
        self._all("model", "samples", "loss", *(f"equations of {leaf}" for leaf in _leaves(variant)))
        return _symmetric(self.mutation, M, variant)

    # ---- runs

    def data(self, counts: Counts) -> Counts:
        """Samples as they are trained on."""
        self._all("samples")
        return _mutated(self.mutation, counts)

    def begin(self, case: Case, seed: Any) -> tuple[State, Features]:
        """The start of Assumption 1."""
        self._all("start")
        state, ideal = classes.start(case, np.random.default_rng(seed))
        return _halved(self.mutation, state), ideal

    def forces(self, state: State, data: Counts, margin: float = 1.0) -> Forces:
        """C, G and the pass they come from; `data` as given by `data`."""
        self._all("model", "loss")
        return _forces(self.mutation, state, data, margin)

    def train(
        self,
        case: Case,
        seed: Any = 0,
        counts: Counts | None = None,
        state: State | None = None,
        steps: int | None = None,
        stop: bool = True,
        every: int = 0,
        variant: str = "",
    ) -> Record:
        """Gradient steps until every margin is reached (or `steps` are done); refused if that never happens.

        `counts` are the samples (default the two exact ones), `state` where to start, `every` the steps between two
        kept states; `stop` False goes on after the margins; batches of case.B samples are drawn with the same seed.
        Trained logits (variant ``merged``) are kept in kappa, with rho the identity.
        """
        self._all("model", "samples", "loss", "start", *(f"equations of {leaf}" for leaf in _leaves(variant)))
        ideal = None
        if state is None:
            state, ideal = self.begin(case, seed)
        else:
            state = _halved(self.mutation, state)
        given = _mutated(self.mutation, classes.exact_data(case) if counts is None else counts)
        if variant == "merged":
            state = replace(state, kappa=state.S, rho=np.eye(len(state.rho)))
        return _train(self.mutation, case, given, state.copy(), ideal, seed, steps, stop, every, variant)

    def train_heads(self, net: Heads, counts: Counts, eta: float, steps: int, margin: float) -> Heads:
        """Gradient steps of several heads in one layer (`heads.py`), with the speeds of the equations."""
        self._all("samples", *(f"equations of {leaf}" for leaf in LEAVES))
        speed: dict[str, Any] = {
            name: _speed(self.mutation, leaf) for name, leaf in zip(("w", "v", "kappa", "rho"), LEAVES, strict=True)
        }
        if self.mutation == "nuisance":
            speed["v"] = np.where(np.arange(counts.counts.shape[1]) < 2, 1, -1)[None, :, None]
        return heads.train(net, _mutated(self.mutation, counts), eta, steps, margin, speed)

    def tokens(self, case: Case, seed: Any = 0, steps: int | None = None) -> network.Run:
        """SGD on noisy tokens by the hand-written gradients of the full network, with the speeds of the equations."""
        self._all()
        return broken_tokens.train(self.mutation, partial(_speed, self.mutation), case, seed, steps)


@dataclass(frozen=True, eq=False)
class Record:
    """A run: data, first and last state, steps, kept states with their step numbers and forces (full batch)."""

    case: Case
    data: Counts
    start: State
    state: State
    ideal: Features | None
    steps: int
    fitted: bool
    times: np.ndarray
    states: list[State]
    made: list[Forces]

    @property
    def eta_T(self) -> float:
        """eta times the number of steps."""
        return self.case.eta * self.steps


# ---- derived systems -------------------------------------------------------------------------------------------------


def _speed(mutation: str, leaf: str) -> int:
    return SPEED.get(mutation, {}).get(leaf, 1)


def _leaves(variant: str) -> tuple[str, ...]:
    return tuple(name.removeprefix("W_") for name in dynamics.trained(variant))


def _model(mutation: str, M: int, readout: Sequence[Any], variant: str = "") -> AttentionModel:
    made = dynamics.model(M, readout, variant)
    if mutation == "linear":
        value = Value(("W_O", "W_V"), Neurons(tuple(readout), "linear"))
        made = AttentionModel(made.words, made.heads, value, made.score, pooling="mean")
    if mutation == "scale":
        made = AttentionModel(made.words, made.heads, made.value, made.score, pooling="mean", scale=sym("half"))
    return made


def _samples(mutation: str, data: Distribution) -> Distribution:
    flip, twice = -1 if mutation == "minority" else 1, 2 if mutation == "weight" else 1
    return Distribution.proportional(
        Sample(s.tokens, flip * s.label, s.weight * (twice if s.label < 0 else 1), s.name, counts=_counts(mutation, s))
        for s in data.samples
    )


def _counts(mutation: str, sample: Sample) -> Any:
    if mutation != "tokens" or sample.counts is None:
        return sample.counts
    return [3 * c if word not in ("mu1", "mu2") else c for word, c in zip(sample.tokens, sample.counts, strict=True)]


def _loss(mutation: str, variant: str = "") -> Loss:
    return EXPONENTIAL if mutation == "hinge" else dynamics.loss_of(variant)


def toy_data() -> Distribution:
    """One sample of each class with counts as parameters."""
    return dynamics.samples([["c1", "c2", "c3"], ["e1", "e2", "e3"]], [1, -1])


def noisy_data() -> Distribution:
    """Two samples of two tokens, the second in common; the tokens have any Gram matrix."""
    return Distribution.proportional([Sample(["mu1", "mu2"], 1), Sample(["mu3", "mu2"], -1)])


def _factor(mutation: str, leaf: str, columns: int) -> blocks.Block:
    row = [_speed(mutation, leaf)] * columns
    if mutation == "nuisance" and leaf == "V":
        row = [1, 1, *[-1] * (columns - 2)]
    return blocks.constant([row])


def _broken(mutation: str, made: CoordinateFlow) -> CoordinateFlow:
    """The same flow or step with the changes of some weights multiplied."""
    field = made.system.field
    assert isinstance(field, BlockField)
    rhs = dict(field.rhs)
    for leaf, old in field.rhs.items():
        if _speed(mutation, leaf) == 1 and not (mutation == "nuisance" and leaf == "V"):
            continue
        factor = _factor(mutation, leaf, old.shape[1])
        if made.system.kind == "map":
            state = blocks.leaf(leaf, old.shape)
            change = blocks.add(old, blocks.multiply(blocks.constant([[-1]]), state))
            rhs[leaf] = blocks.add(state, blocks.multiply(factor, change))
        else:
            rhs[leaf] = blocks.multiply(factor, old)
    return replace(made, system=replace(made.system, field=replace(field, rhs=rhs)))


@cache
def _toy(mutation: str, step: bool, variant: str = "") -> CoordinateFlow:
    readout, data, width = (POSITIONS, noisy_data(), 2) if variant == "noisy" else (SIGNS, toy_data(), 3)
    score = () if variant == "merged" else width
    made = coordinate_flow(
        _model(mutation, 3, readout, variant),
        _samples(mutation, data),
        dynamics.trained(variant),
        value=2,
        score=score,
        loss=_loss(mutation, variant),
        step=step,
    )
    return _broken(mutation, made)


@cache
def _two_heads(mutation: str, leaf: str) -> tuple[HeadTables, np.ndarray]:
    model = _model(mutation, 3, SIGNS)
    made = heads.tables(2, SIGNS, _samples(mutation, toy_data()), _loss(mutation), model.row_activation, model.scale)
    factor = _factor(mutation, leaf, 3).data if leaf == "V" else np.array([[_speed(mutation, leaf)]])
    return made, np.array([factor * table for table in made.rates(leaf)], dtype=object)


@cache
def _rates(mutation: str, leaf: str, step: bool, variant: str = "") -> np.ndarray:
    made = _toy(mutation, step, variant)
    return np.vectorize(made.system.equations.__getitem__, otypes=[object])(made.matrices[leaf])


GRAM_SPEED = {"flip": {"KQ": -1, "KK": -1, "QQ": -1}, "keys": {"KK": -1}, "values": {"VV": -1}, "neurons": {"OO": 2}}


@cache
def _gram(mutation: str) -> Flow:
    made = gradient_flow(_model(mutation, 3, SIGNS), _samples(mutation, toy_data()), TRAINED, loss=_loss(mutation))
    field = made.system.field
    assert isinstance(field, BlockField)
    speed = GRAM_SPEED.get(mutation, {})
    rhs = {leaf: blocks.multiply(blocks.constant([[speed.get(leaf, 1)]]), block) for leaf, block in field.rhs.items()}
    if mutation == "nuisance":
        rhs["VV"] = blocks.multiply(blocks.constant([[1, 1, -1], [1, 1, -1], [-1, -1, -1]]), rhs["VV"])
    return replace(made, system=replace(made.system, field=replace(field, rhs=rhs)))


@cache
def _symmetric(mutation: str, M: int, variant: str = "") -> CoordinateQuotient:
    root = graph.sqrt(sym("pi"))
    made = coordinate_flow(
        _model(mutation, M, [root, -root], variant),
        _samples(mutation, dynamics.parametric(M)),
        dynamics.trained(variant),
        value=M,
        score=() if variant == "merged" else M,
        loss=_loss(mutation, variant),
    )
    return _broken(mutation, made).quotient(dynamics.generators(M, variant))


# ---- runs ------------------------------------------------------------------------------------------------------------


def _mutated(mutation: str, counts: Counts) -> Counts:
    if mutation == "minority":
        return Counts(counts.counts, -counts.y)
    if mutation == "weight":
        twice = np.concatenate([np.arange(len(counts.y)), np.flatnonzero(counts.y < 0)])
        return counts.take(twice)
    if mutation == "tokens":
        return Counts(counts.counts * np.where(np.arange(counts.counts.shape[1]) < 2, 1, 3), counts.y)
    return counts


def _halved(mutation: str, state: State) -> State:
    return replace(state, v=state.v / 2, kappa=state.kappa / 2, rho=state.rho / 2) if mutation == "start" else state


def _forces(mutation: str, state: State, data: Counts, margin: float, variant: str = "") -> Forces:
    if mutation == "scale":
        state = replace(state, kappa=state.kappa / 2)
    found = classes.forward(state, data)
    if mutation == "linear":
        F = np.einsum("nk,nki,i->n", data.fractions, found.h, state.a, optimize=True)
        found = classes.Pass(found.A, np.ones_like(found.h), F, data.y * F)
    if mutation == "hinge":  # the label times the slope of the loss
        return classes.forces(state, Counts(data.counts, data.y * np.exp(-found.margins)), math.inf, found)
    if variant == "logistic":
        weighted, margin = Counts(data.counts, data.y * expit(-found.margins)), math.inf
    else:
        weighted = data
    made = classes.forces(state, weighted, margin, found)
    return Forces(made.C, made.G / 2, found) if mutation == "scale" else made


def _move(mutation: str, state: State, made: Forces, eta: float, frozen: bool, variant: str = "") -> None:
    speed = {leaf: eta * _speed(mutation, leaf) for leaf in (*LEAVES, "S")}
    dv = made.C.T @ state.w
    if mutation == "nuisance":
        dv[2:] *= -1
    w, v = state.w + speed["O"] * made.C @ state.v, state.v + speed["V"] * dv
    if variant == "merged":
        state.kappa = state.kappa + speed["S"] * made.G
    elif not frozen:
        kappa = state.kappa + speed["K"] * made.G @ state.rho
        state.kappa, state.rho = kappa, state.rho + speed["Q"] * made.G.T @ state.kappa
    state.w, state.v = w, v


def _train(
    mutation: str,
    case: Case,
    data: Counts,
    state: State,
    ideal: Features | None,
    seed: Any,
    steps: int | None,
    stop: bool,
    every: int,
    variant: str = "",
) -> Record:
    rng = np.random.default_rng([7, *(seed if isinstance(seed, (list, tuple)) else [seed])])
    limit = min(case.steps if steps is None else steps, LONGEST)
    first, number, fitted = state.copy(), 0, False
    times, states, kept = list[int](), list[State](), list[Forces]()
    while True:
        made = _forces(mutation, state, data, case.margin, variant)
        fitted = bool(np.all(made.found.margins >= case.margin))
        last = number >= limit or (fitted and stop)
        if last or (every and number % every == 0):
            times.append(number)
            states.append(state.copy())
            kept.append(made)
        if last:
            break
        if case.B not in (0, len(data.y)):
            batch = data.take(rng.choice(len(data.y), case.B, replace=False))
            made = _forces(mutation, state, batch, case.margin, variant)
        _move(mutation, state, made, case.eta, bool(case.frozen), variant)
        if not np.isfinite(state.w).all() or np.abs(state.v).max() > 1e150:
            raise IntegrationError(f"the run overflows at step {number}", time=float(number))
        number += 1
    if stop and steps is None and not fitted:
        raise IntegrationError(f"the training margins are not reached in {number} steps", time=float(number))
    return Record(case, data, first, state, ideal, number, fitted, np.array(times), states, kept)
