r"""The transformer with sign descent, Adam and gradient descent; here because optimisers are compared.

.. math::
    f = \sum_{l,a} s_{la}\langle v, x^{(a)}\rangle,\qquad s_{l\cdot} = \mathrm{softmax}_a\Big(\sum_r
    \langle w_{Q,r}, x^{(l)}\rangle\langle w_{K,r}, x^{(a)}\rangle\Big),\qquad v = \bar w_{V,1} - \bar w_{V,-1} .

Gradients and their signs are those of the program `derivations.signgd.dynamics.model` over arrays of patches; signs are
those without bounds on exponents, also where softmax products and loss slopes underflow. Only coordinates that some
patch has can move, so only those are trained.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

import numpy as np

from odesys import (
    Data,
    IntegrationError,
    ManySamples,
    ParameterError,
    Progress,
    Sample,
    Words,
    compiled_loops,
    logistic,
    paced,
    row_softmax,
    silent,
)

from .. import dynamics
from ..setting import Case
from . import recursion
from .recursion import Run, State, check_steps
from .training_sets import TrainingSet, fresh


@dataclass(frozen=True, eq=False)
class Weights:
    """W_Q, W_K (m_k, d) and W_V (2, m_v, d): rows of class +1, then of class -1; several networks have an axis more."""

    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray

    @property
    def v(self) -> np.ndarray:
        """Mean value vector, (d,)."""
        rows = self.W_V.mean(axis=-2)
        return np.asarray(rows[..., 0, :] - rows[..., 1, :])

    def columns(self, index: np.ndarray) -> Weights:
        """The weights on some coordinates only (a copy)."""
        return Weights(self.W_Q[:, index], self.W_K[:, index], self.W_V[:, :, index])

    def all(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The three arrays."""
        return self.W_Q, self.W_K, self.W_V


def gaussian(case: Case, seed: int | tuple[int, ...]) -> Weights:
    """Independent Gaussian weights with standard deviation sigma_0."""
    rng = np.random.default_rng(seed)
    q, k = (case.sigma_0 * rng.standard_normal((case.m_k, case.d)) for _ in range(2))
    return Weights(q, k, case.sigma_0 * rng.standard_normal((2, case.m_v, case.d)))


@dataclass(frozen=True, eq=False)
class Forward:
    """What the model computes on samples: queries and keys (n, L, m_k), attention s_la (n, L, L), outputs (n,)."""

    queries: np.ndarray
    keys: np.ndarray
    attention: np.ndarray
    f: np.ndarray


def forward(weights: Weights, x: np.ndarray) -> Forward:
    """Outputs of the model on patches x (n, L, d)."""
    queries, keys = x @ weights.W_Q.T, x @ weights.W_K.T
    attention = row_softmax(queries @ np.swapaxes(keys, 1, 2))
    return Forward(queries, keys, attention, np.einsum("nla,na->n", attention, x @ weights.v))


@lru_cache(maxsize=64)
def _program(L: int, m_k: int, heads: tuple[str, ...] = ("",)) -> ManySamples:
    """The model on one sample of L patches, whose label and patches are arrays later."""
    words = Words([f"x{a}" for a in range(1, L + 1)])
    model = dynamics.model(words, m_k, heads)
    return ManySamples(model, Data(words, [Sample(words.words, "y")]), logistic, ["y"], pairs=L)


def head_signs(heads: Sequence[Weights], x: np.ndarray, y: np.ndarray) -> list[Weights]:
    """Signs of the gradients of a network whose output is the sum over heads, for every head."""
    names = tuple("abcdefgh"[: len(heads)])
    _, m_v, d = heads[0].W_V.shape
    maps = {f"v{h}": head.W_V.reshape(2 * m_v, d) for h, head in zip(names, heads, strict=True)}
    for letter in "QK":
        maps |= {f"{letter.lower()}{h}": getattr(head, f"W_{letter}") for h, head in zip(names, heads, strict=True)}
    readout = np.repeat([1.0, -1.0], m_v)[None, :, None] / m_v
    found = _program(x.shape[1], len(heads[0].W_Q), names).signs(maps, {"E": x.mT, "c": readout}, y[:, None])
    return [Weights(found[f"q{h}"], found[f"k{h}"], found[f"v{h}"].reshape(2, m_v, d)) for h in names]


def gradient(weights: Weights, x: np.ndarray, y: np.ndarray, signs: bool = False) -> Weights:
    """Gradient of the training loss on patches x (n, L, d), or the signs of its entries, by the program.

    Patches of several networks follow each other, as many for each.
    """
    made, (*several, _, m_v, d) = _program(x.shape[1], weights.W_Q.shape[-2]), weights.W_V.shape
    maps = {"v": weights.W_V.reshape(*several, 2 * m_v, d), "q": weights.W_Q, "k": weights.W_K}
    readout = np.repeat([1.0, -1.0], m_v)[None, :, None] / m_v
    found = (made.signs if signs else made.gradients)(maps, {"E": x.mT, "c": readout}, y[:, None])
    return Weights(found["q"], found["k"], found["v"].reshape(weights.W_V.shape))


# ---- optimisers ------------------------------------------------------------------------------------------------------

Update = Callable[[Weights, Weights], list[np.ndarray]]


@dataclass(frozen=True)
class Optimiser:
    """A name and its numbers: ``signgd``, ``gd`` or ``adam`` (bias-corrected); eps is added to the root."""

    kind: str
    eta: float
    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-15

    def __post_init__(self) -> None:
        if self.kind not in ("signgd", "gd", "adam"):
            raise ParameterError(f"the optimiser {self.kind!r} is not known; choose signgd, adam or gd")
        if not 0 < self.eta < np.inf:
            raise ParameterError(
                f"the step size eta = {self.eta:g} can not be used: it is positive and finite; with 0 "
                f"nothing would move"
            )
        for name in ("beta1", "beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ParameterError(f"{name} = {getattr(self, name):g} can not be used: it is at least 0 and below 1")
        if not 0 <= self.eps < np.inf:
            raise ParameterError(f"eps = {self.eps:g} can not be used: it is not negative")

    @property
    def label(self) -> str:
        """For legends."""
        return {"signgd": "SignGD", "gd": "GD", "adam": f"Adam({self.beta1:g}, {self.beta2:g})"}[self.kind]

    def update(self) -> Update:
        """A function (weights, gradient) -> changes; Adam's keeps its moments."""
        if self.kind == "signgd":
            return lambda weights, g: [-self.eta * np.sign(x) for x in g.all()]
        if self.kind == "gd":
            return lambda weights, g: [-self.eta * x for x in g.all()]
        return self._adam()

    def mover(self) -> Callable[[Weights, Weights], None]:
        """A function (weights, gradient) that moves the weights themselves, by what `update` gives."""
        if self.kind == "adam":
            add = self._adam_moves()
            return lambda weights, g: add(weights.all(), g)
        update = self.update()

        def move(weights: Weights, g: Weights) -> None:
            for w, change in zip(weights.all(), update(weights, g), strict=True):
                w += change

        return move

    def _adam(self) -> Update:
        add = self._adam_moves()

        def change(weights: Weights, g: Weights) -> list[np.ndarray]:
            out = [np.zeros(x.shape) for x in g.all()]
            add(out, g)
            return out

        return change

    def _adam_moves(self) -> Callable[[Sequence[np.ndarray], Weights], None]:
        """A function (arrays, gradient) that adds the moves of Adam to arrays; it keeps the moments."""
        moments: list[tuple[np.ndarray, np.ndarray]] = []
        count, code = 0, _adam_code() if self.eps > 0 else None  # then no root vanishes

        def add(arrays: Sequence[np.ndarray], g: Weights) -> None:
            nonlocal count
            count += 1
            if not moments:
                moments.extend((np.zeros(x.shape), np.zeros(x.shape)) for x in g.all())
            left = (1 - self.beta2**count) ** 0.5
            step = -self.eta * left / (1 - self.beta1**count)
            numbers = self.beta1, 1 - self.beta1, self.beta2, 1 - self.beta2, self.eps * left, step
            for w, (m, s), x in zip(arrays, moments, g.all(), strict=True):
                if code is not None:
                    code(w.size, *numbers, np.ascontiguousarray(x), m, s, w)
                    continue
                m *= self.beta1
                m += (1 - self.beta1) * x
                s *= self.beta2
                s += x * x * (1 - self.beta2)
                root = np.sqrt(s) + self.eps * left
                w += step * np.divide(m, root, out=np.zeros_like(m), where=root > 0)

        return add


@cache
def _adam_code() -> Callable[..., Any] | None:
    found = compiled_loops(adam)
    return None if found is None else found["adam"]


def adam(
    size: int,
    beta1: float,
    rest1: float,
    beta2: float,
    rest2: float,
    eps: float,
    step: float,
    slope: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    weight: np.ndarray,
) -> None:
    """A step of Adam, entry by entry: both moments, and the weight is moved; `rest` is 1 - beta."""
    for i in range(size):
        x = slope[i]
        m = first[i] * beta1 + rest1 * x
        s = second[i] * beta2 + x * x * rest2
        first[i] = m
        second[i] = s
        weight[i] = weight[i] + m / (math.sqrt(s) + eps) * step


@dataclass(frozen=True, eq=False)
class Training:
    """A trained network: recorded projections (L = 2), losses, the last weights, and what was measured on the way."""

    data: TrainingSet
    optimiser: Optimiser
    seed: int | tuple[int, ...]
    run: Run
    weights: Weights
    loss: np.ndarray
    test_loss: np.ndarray
    extra: Mapping[str, np.ndarray]


def train(
    data: TrainingSet,
    weights: Weights,
    optimiser: Optimiser,
    steps: int,
    record: int = 10,
    tests: TrainingSet | None = None,
    watch: Callable[[Weights, Weights, list[np.ndarray]], Mapping[str, Any]] | None = None,
    progress: Progress = silent,
    seed: int | tuple[int, ...] = 0,
) -> Training:
    """Full-batch training; the projections on mu and y_i xi_i are recorded every `record` steps and at the end.

    `watch` gets (weights, gradient, changes) on the coordinates `data.active` at recorded steps (for sign descent the
    signs of the gradient) and gives numbers or arrays to keep; `tests` are samples for a test loss at the same steps.
    """
    check_steps(optimiser.eta, steps, record)
    active, tell = data.active, paced(progress)
    start = recursion.project(data, weights)
    x, pinned = np.ascontiguousarray(data.x[:, :, active]), data.pinned[:, active]
    moving, update = weights.columns(active), optimiser.update()
    signs = optimiser.kind == "signgd"
    outside = None if tests is None else _rest(weights, tests, active)
    times, states, losses, test_losses, seen = list[int](), list[State](), list[float](), list[float](), list[Any]()
    for number in range(steps + 1):
        slope = gradient(moving, x, data.y, signs)
        changes = update(moving, slope)
        if number % record == 0 or number == steps:
            margins = data.y * forward(moving, x).f
            if not np.isfinite(margins).all():
                raise IntegrationError(
                    f"{optimiser.label} with eta = {optimiser.eta:g} overflows by step {number}; lower it"
                )
            times.append(number)
            states.append(projected(moving, pinned))
            losses.append(float(np.logaddexp(0.0, -margins).mean()))
            if outside is not None and tests is not None:
                test_losses.append(float(np.logaddexp(0.0, -_test_margins(moving, tests, active, outside)).mean()))
            if watch is not None:
                seen.append(dict(watch(moving, slope, changes)))
        if number < steps:
            for w, change in zip(moving.all(), changes, strict=True):
                w += change
        tell(optimiser.label, number / steps)
    last = Weights(*(w.copy() for w in weights.all()))
    for whole, part in zip(last.all(), moving.all(), strict=True):
        whole[..., active] = part
    extra = {name: np.array([row[name] for row in seen]) for name in (seen[0] if seen else {})}
    return Training(
        data,
        optimiser,
        seed,
        recursion.from_states(start, times, states, optimiser.eta),
        last,
        np.array(losses),
        np.array(test_losses),
        extra,
    )


def projected(weights: Weights, pinned: np.ndarray) -> State:
    """The reduced state of weights: their inner products with pinned vectors, mu first."""
    q, k, v = weights.W_Q @ pinned.mT, weights.W_K @ pinned.mT, (pinned @ weights.v[..., None])[..., 0]
    return State(v[..., 0], v[..., 1:], q[..., 0], k[..., 0], q[..., 1:], k[..., 1:])


def train_together(
    data: Sequence[TrainingSet], weights: Sequence[Weights], optimiser: Optimiser, steps: int, record: int = 10
) -> list[Training]:
    """Networks of one shape on training sets of one size, trained side by side: `train` of each, by one call per step.

    Coordinates that can move are put beside each other; where a set has fewer, zeros fill up, which never move.
    """
    check_steps(optimiser.eta, steps, record)
    width = max(len(one.active) for one in data)

    def filled(rows: np.ndarray) -> np.ndarray:
        return np.concatenate([rows, np.zeros((*rows.shape[:-1], width - rows.shape[-1]))], axis=-1)

    x = np.array([filled(one.x[:, :, one.active]) for one in data])
    pinned = np.array([filled(one.pinned[:, one.active]) for one in data])
    parts = [net.columns(one.active).all() for net, one in zip(weights, data, strict=True)]
    moving = Weights(*(np.array([filled(part) for part in of]) for of in zip(*parts, strict=True)))
    y, samples = np.concatenate([one.y for one in data]), x.reshape(-1, *x.shape[2:])
    move, signs, times, states = optimiser.mover(), optimiser.kind == "signgd", list[int](), list[State]()
    for number in range(steps + 1):
        if number % record == 0 or number == steps:
            times.append(number)
            states.append(projected(moving, pinned))
        if number < steps:
            move(moving, gradient(moving, samples, y, signs))
    out = []
    for place, (one, net) in enumerate(zip(data, weights, strict=True)):
        last = Weights(*(w.copy() for w in net.all()))
        for whole, part in zip(last.all(), moving.all(), strict=True):
            whole[..., one.active] = part[place][..., : len(one.active)]
        run = recursion.from_states(recursion.project(one, net), times, [s.one(place) for s in states], optimiser.eta)
        if not np.isfinite(run.margin).all():
            raise IntegrationError(f"{optimiser.label} with eta = {optimiser.eta:g} overflows; lower it")
        out.append(Training(one, optimiser, 0, run, last, run.loss, np.empty(0), {}))
    return out


def _rest(weights: Weights, tests: TrainingSet, active: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Contributions of the coordinates that never move, computed once."""
    still = np.setdiff1d(np.arange(weights.W_Q.shape[1]), active)
    part, x = weights.columns(still), tests.x[:, :, still]
    return x @ part.W_Q.T, x @ part.W_K.T, x @ part.v


def _test_margins(moving: Weights, tests: TrainingSet, active: np.ndarray, outside: Any) -> np.ndarray:
    x = tests.x[:, :, active]
    queries, keys = outside[0] + x @ moving.W_Q.T, outside[1] + x @ moving.W_K.T
    weights = row_softmax(queries @ np.swapaxes(keys, 1, 2))
    return np.asarray(tests.y * np.einsum("nla,na->n", weights, outside[2] + x @ moving.v))


@dataclass(frozen=True)
class TestResult:
    """Loss, its standard error, and the fraction of wrong or zero signs, on fresh samples."""

    loss: float
    error: float
    wrong: float

    __test__ = False  # the name is not pytest's


def test(training: Training, count: int, seed: int | tuple[int, ...]) -> TestResult:
    """Loss and 0-1 error of a trained network on fresh samples."""
    if count < 2:
        raise ParameterError(f"{count} fresh samples give no error bar; use at least 2")
    samples = fresh(training.data.case, count, seed, training.data.x.shape[1])
    margins = samples.y * forward(training.weights, samples.x).f
    losses = np.logaddexp(0.0, -margins)
    return TestResult(float(losses.mean()), float(losses.std(ddof=1) / np.sqrt(count)), float((margins <= 0).mean()))


test.__test__ = False  # type: ignore[attr-defined]


def loss(weights: Weights, x: np.ndarray, y: np.ndarray) -> float:
    """Training loss of weights on patches."""
    return float(np.logaddexp(0.0, -y * forward(weights, x).f).mean())
