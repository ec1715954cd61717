r"""The network on noiseless tokens, by the program of one sample over arrays of counts; here because sweeps train on
thousands of drawn sets.

For orthonormal patterns and shared output weights a sample enters through its counts c_j alone, and the weights through
:math:`w_i,\ v_j = W_V\mu_j,\ \kappa_j = W_K\mu_j,\ \rho_k = W_Q\mu_k`. Attention and pre-activations are watched:

.. math::
    A^n_{jk} = \frac{c^n_j e^{S_{jk}}}{\sum_i c^n_i e^{S_{ik}}},\quad h^n_{ik} = \sum_j A^n_{jk}u_{ij},\quad
    F^n = \sum_k f^n_k \sum_i a_i (h^n_{ik})_+ .

What moves the weights are the slopes of the program by :math:`u = W_OW_VE` and :math:`S = E^\top W_K^\top W_QE`:
:math:`C = -\partial\mathcal L/\partial u`, :math:`G = -\partial\mathcal L/\partial S`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Self

import numpy as np

from odesys import ManySamples, PathSpeeds, Progress, paced, row_softmax, silent

from .. import setting
from ..setting import Case, CountedSteps, Features
from .rules import LEAVES, PAPER, Rules, factors, one_sample


@dataclass(eq=False)
class State:
    """Neurons w (m, m_a), images v (M, m_a), kappa and rho (M, m_b) of the patterns, and the frozen weights a (m,)."""

    w: np.ndarray
    v: np.ndarray
    kappa: np.ndarray
    rho: np.ndarray
    a: np.ndarray

    def copy(self) -> Self:
        """Weights of its own."""
        return type(self)(*(np.array(x) for x in (self.w, self.v, self.kappa, self.rho, self.a)))

    def one(self, k: int) -> Self:
        """Number k of stacked networks."""
        return type(self)(self.w[k], self.v[k], self.kappa[k], self.rho[k], self.a)

    @property
    def S(self) -> np.ndarray:
        """Logits S[j, k] of key pattern j for query pattern k."""
        return self.kappa @ self.rho.T

    @property
    def u(self) -> np.ndarray:
        """u[i, j] = w_i' v_j."""
        return self.w @ self.v.T


@dataclass(frozen=True, eq=False)
class Counts:
    """Samples as counts (N, M), in any unit, and labels (N,)."""

    counts: np.ndarray
    y: np.ndarray

    @property
    def fractions(self) -> np.ndarray:
        """f[n, k] = c_k / |S|."""
        return self.counts / self.counts.sum(axis=1, keepdims=True)

    def take(self, which: np.ndarray) -> Counts:
        """Some of the samples."""
        return Counts(self.counts[which], self.y[which])


@dataclass(frozen=True, eq=False)
class Pass:
    """A forward pass: attention A[n, j, k], pre-activations h[n, k, i], outputs F[n], margins y F."""

    A: np.ndarray
    h: np.ndarray
    F: np.ndarray
    margins: np.ndarray

    def loss(self, margin: float = 1.0) -> float:
        """Mean hinge loss."""
        return float(np.maximum(margin - self.margins, 0.0).mean())


@dataclass(frozen=True, eq=False)
class Forces:
    """What moves a state: C (m, M), G (M, M), and the pass they were computed from."""

    C: np.ndarray
    G: np.ndarray
    found: Pass


def attention(S: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """A[n, j, k]: attention of a query of pattern k on all tokens of pattern j."""
    return row_softmax(S, axis=-2, counts=counts[:, :, None])


def forward(state: State, data: Counts, rules: Rules = PAPER) -> Pass:
    """Attention, pre-activations and outputs of all samples; neurons without ReLU count as active."""
    A = attention(rules.scale * state.S, data.counts)
    h = A.mT @ state.u.T
    F = (data.fractions * ((h if rules.linear else np.maximum(h, 0.0)) @ state.a)).sum(axis=1)
    return Pass(A, np.ones_like(h) if rules.linear else h, F, data.y * F)


@lru_cache(maxsize=64)
def program_of(M: int, readout: bytes, margin: float, rules: Rules) -> ManySamples:
    """The program of one sample, whose label and counts are arrays later."""
    return one_sample(M, np.frombuffer(readout), margin, rules, "counts")


def forces(state: State, data: Counts, margin: float = 1.0, found: Pass | None = None, rules: Rules = PAPER) -> Forces:
    """C and G of the mean loss over `data`."""
    made = program_of(len(state.v), state.a.tobytes(), float(margin), rules)
    slopes, _ = made.slopes({"OV": state.u, "KQ": state.S}, np.column_stack([data.y, data.counts]))
    return Forces(-slopes["OV"], -slopes["KQ"], found or forward(state, data, rules))


def move(
    state: State, made: Forces, eta: float, frozen: bool = False, speeds: PathSpeeds | None = None, merged: bool = False
) -> None:
    """One gradient step in place, all right-hand sides at the old state.

    `frozen` keeps keys and queries, `speeds` are factors of the moves, and with `merged` kappa holds trained logits.
    """
    O, V, K, Q, S = (eta if speeds is None else eta * factors(speeds, leaf, len(state.v)).T for leaf in (*LEAVES, "S"))
    w, v = state.w + O * (made.C @ state.v), state.v + V * (made.C.T @ state.w)
    if merged:
        state.kappa = state.kappa + S * made.G
    elif not frozen:
        state.kappa, state.rho = state.kappa + K * (made.G @ state.rho), state.rho + Q * (made.G.T @ state.kappa)
    state.w, state.v = w, v


def step(state: State, data: Counts, eta: float, margin: float = 1.0) -> Forces:
    """One gradient step of the hinge loss in place."""
    made = forces(state, data, margin)
    move(state, made, eta)
    return made


# ---- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run(CountedSteps):
    """A run: first and last state, training data, steps taken, whether all margins were reached, what was recorded.

    `table` holds one array per recorded number, at the step numbers `times`; `states` and the forces `made` (of the
    full batch) are kept if asked for.
    """

    case: Case
    data: Counts
    start: State
    state: State
    steps: int
    fitted: bool
    times: np.ndarray
    table: dict[str, np.ndarray]
    ideal: Features | None = None
    states: list[State] = field(default_factory=list)
    made: list[Forces] = field(default_factory=list)


def start(case: Case, rng: np.random.Generator) -> tuple[State, Features]:
    """The start of Assumption 1, with shared output weights."""
    made = setting.features(case, rng)
    weights = np.repeat([1.0, -1.0], case.m // 2) / np.sqrt(case.m)
    return State(setting.hidden(case, rng), made.v.copy(), made.kappa.copy(), made.rho.copy(), weights), made


def exact_data(case: Case) -> Counts:
    """Two samples, one of each class, with the exact fractions."""
    return Counts(*setting.exact_counts(case))


def train(
    case: Case,
    seed: int | Sequence[int] | None = None,
    data: Counts | None = None,
    state: State | None = None,
    observe: Callable[[State, Forces], dict[str, float]] | None = None,
    record: int = 1,
    keep: bool = False,
    steps: int | None = None,
    stop: bool = True,
    progress: Progress = silent,
    rules: Rules = PAPER,
    speeds: PathSpeeds | None = None,
    merged: bool = False,
) -> Run:
    """Train until every training margin is reached (or `steps` are done).

    Parameters
    ----------
    seed : of start and batches; by default that of the case.
    data : samples; by default the two exact ones of `exact_data`.
    state : where to start; by default `start`.
    observe : a function of (state, forces) whose numbers are recorded every `record` steps (0: at the end); `keep`
        keeps both.
    stop : False goes on for the full number of steps (nothing moves any more once all margins are reached).
    rules, speeds, merged : as in `forces` and `move`.
    """
    chosen = case.seed if seed is None else seed
    rng = np.random.default_rng([7, *([chosen] if isinstance(chosen, int) else chosen)])  # of the batches
    ideal = None
    if state is None:
        state, ideal = start(case, np.random.default_rng(chosen))
    now, data = state.copy(), exact_data(case) if data is None else data
    first, limit, tell = now.copy(), case.steps if steps is None else steps, paced(progress)
    full = case.B in (0, len(data.y))
    times: list[int] = []
    rows: list[dict[str, float]] = []
    kept: list[tuple[State, Forces]] = []
    number, fitted = 0, False
    while True:
        with np.errstate(all="ignore"):
            found = forward(now, data, rules)
        setting.check_outputs(found.F, number, case)
        fitted = bool(np.all(found.margins >= case.margin))
        last = number >= limit or (fitted and stop)
        needed = (observe is not None or keep) and (last or (record > 0 and number % record == 0))
        made = forces(now, data, case.margin, found, rules) if needed or (full and not last) else None
        if needed and made is not None:
            times.append(number)
            if observe is not None:
                rows.append({"loss": found.loss(case.margin), **observe(now, made)})
            if keep:
                kept.append((now.copy(), made))
        if last:
            break
        if made is None or not full:
            batch = data.take(rng.choice(len(data.y), case.B, replace=False))
            made = forces(now, batch, case.margin, rules=rules)
        move(now, made, case.eta, bool(case.frozen), speeds, merged)
        number += 1
        tell("training", number / limit)
    table = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    states, all_made = [s for s, _ in kept], [f for _, f in kept]
    return Run(case, data, first, now, number, fitted, np.array(times), table, ideal, states, all_made)


def test_loss(state: State, case: Case, seed: Any, tests: int | None = None) -> float:
    """Mean hinge loss on fresh samples of the case."""
    counts, y = setting.draw_counts(case, np.random.default_rng(seed), _even(case.tests if tests is None else tests))
    return forward(state, Counts(counts, y)).loss(case.margin)


def drawn_data(case: Case, rng: np.random.Generator) -> Counts:
    """N training samples drawn by the rules of the case."""
    return Counts(*setting.draw_counts(case, rng))


def _even(count: int) -> int:
    return count + count % 2


def conserved(state: State, overlap: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """W_O' W_O - W_V W_V' and W_K W_K' - W_Q W_Q' (on the span of the patterns): constant along the flow.

    Patterns with inner products lambda = `overlap` have the Gram matrix (1 - lambda) I + lambda 11'; with its inverse
    the images of the patterns give W W'.
    """
    M = len(state.v)
    inverse = (np.eye(M) - overlap / (1 + (M - 1) * overlap)) / (1 - overlap)
    V, K, Q = (images.T @ inverse @ images for images in (state.v, state.kappa, state.rho))
    return state.w.T @ state.w - V, K - Q
