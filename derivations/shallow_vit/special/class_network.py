r"""The network on noiseless tokens, gradients by hand; here because counts of patterns take the place of tokens.

For orthonormal patterns and shared output weights a sample enters through its counts c_j alone, and the weights through
:math:`w_i,\ v_j = W_V\mu_j,\ \kappa_j = W_K\mu_j,\ \rho_k = W_Q\mu_k`:

.. math::
    A^n_{jk} = \frac{c^n_j e^{S_{jk}}}{\sum_i c^n_i e^{S_{ik}}},\quad h^n_{ik} = \sum_j A^n_{jk}u_{ij},\quad
    F^n = \sum_k f^n_k \sum_i a_i (h^n_{ik})_+,\qquad
    C_{ij} = \sum_{n,k} D^n_{ik}A^n_{jk},\quad G_{jk} = \sum_n A^n_{jk}(g^n_{jk} - \sum_i A^n_{ik}g^n_{ik}),

with :math:`D^n_{ik} = \frac1B y^n \mathbb 1[y^nF^n<\Gamma]\,f^n_k a_i\mathbb 1[h^n_{ik}>0]` and
:math:`g^n_{jk} = \sum_i D^n_{ik}u_{ij}`. Cost of a step: N M m, whatever the number of tokens. No derived equation is
used here: `dynamics` derives the same step on inner products, and the tests compare.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from odesys import Progress, row_softmax, silent

from .. import setting
from ..setting import Case, CountedSteps, Features


@dataclass(eq=False)
class Weights:
    """Neurons w, images v, kappa and rho of the patterns, and the frozen weights a."""

    w: np.ndarray
    v: np.ndarray
    kappa: np.ndarray
    rho: np.ndarray
    a: np.ndarray

    def copy(self) -> Self:
        """Weights of its own."""
        return type(self)(*(np.array(x) for x in (self.w, self.v, self.kappa, self.rho, self.a)))


class State(Weights):
    """Neurons w (m, m_a), images v (M, m_a), kappa and rho (M, m_b), and the frozen weights a (m,)."""

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


def forward(state: State, data: Counts) -> Pass:
    """Attention, pre-activations and outputs of all samples."""
    A = attention(state.S, data.counts)
    h = np.einsum("njk,ij->nki", A, state.u, optimize=True)
    F = np.einsum("nk,nki,i->n", data.fractions, np.maximum(h, 0.0), state.a, optimize=True)
    return Pass(A, h, F, data.y * F)


def forces(state: State, data: Counts, margin: float = 1.0, found: Pass | None = None) -> Forces:
    """C and G of the mean hinge loss over `data`."""
    found = found or forward(state, data)
    active = data.y * (found.margins < margin) / len(data.y)
    D = (active[:, None] * data.fractions)[:, :, None] * ((found.h > 0) * state.a)
    N, M, m = D.shape
    C = D.reshape(N * M, m).T @ found.A.transpose(0, 2, 1).reshape(N * M, M)
    g = (D.reshape(N * M, m) @ state.u).reshape(N, M, M).transpose(0, 2, 1)  # g[n, j, k]
    G = (found.A * (g - (found.A * g).sum(axis=1, keepdims=True))).sum(axis=0)
    return Forces(C, G, found)


def step(
    state: State, data: Counts, eta: float, margin: float = 1.0, frozen: bool = False, made: Forces | None = None
) -> Forces:
    """One gradient step in place, all right-hand sides at the old state; `frozen` keeps keys and queries."""
    made = made or forces(state, data, margin)
    w, v = state.w + eta * made.C @ state.v, state.v + eta * made.C.T @ state.w
    if not frozen:
        kappa, rho = state.kappa + eta * made.G @ state.rho, state.rho + eta * made.G.T @ state.kappa
        state.kappa, state.rho = kappa, rho
    state.w, state.v = w, v
    return made


# ---- runs ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Run(CountedSteps):
    """A run: first and last state, training data, steps taken, whether all margins were reached, what was recorded.

    `table` holds one array per recorded number, at the step numbers `times`; `states` are kept if asked for.
    """

    case: Case
    data: Counts
    start: State
    state: State
    steps: int
    fitted: bool
    times: np.ndarray
    table: dict[str, np.ndarray]
    states: list[State] = field(default_factory=list)
    ideal: Features | None = None


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
    seed: int | tuple[int, ...] | None = None,
    data: Counts | None = None,
    state: State | None = None,
    observe: Callable[[State, Forces], dict[str, float]] | None = None,
    record: int = 1,
    keep: bool = False,
    steps: int | None = None,
    stop: bool = True,
    progress: Progress = silent,
) -> Run:
    """Train until every training margin is reached (or `steps` are done).

    Parameters
    ----------
    seed : of start, data and batches; by default that of the case.
    data : samples; by default the two exact ones of `exact_data`.
    state : where to start; by default `start`.
    observe : a function of (state, forces) whose numbers are recorded every `record` steps; `keep` keeps the states.
    stop : False goes on for the full number of steps (nothing moves any more once all margins are reached).
    """
    rng = np.random.default_rng(case.seed if seed is None else seed)
    made, ideal = start(case, rng)
    now = state.copy() if state is not None else made
    data = exact_data(case) if data is None else data
    first, limit = now.copy(), case.steps if steps is None else steps
    times: list[int] = []
    rows: list[dict[str, float]] = []
    kept: list[State] = []
    number, fitted = 0, False
    while True:
        with np.errstate(all="ignore"):
            found = forward(now, data)
        setting.check_outputs(found.F, number, case)
        fitted = bool(np.all(found.margins >= case.margin))
        last = number >= limit or (fitted and stop)
        full = case.B in (0, len(data.y))
        needed = observe is not None and (number % record == 0 or last)
        made_now = forces(now, data, case.margin, found) if full or needed else None
        if needed and observe is not None and made_now is not None:
            times.append(number)
            rows.append({"loss": found.loss(case.margin), **observe(now, made_now)})
        if keep and (number % record == 0 or last):
            kept.append(now.copy())
        if last:
            break
        batch = data if full else data.take(rng.choice(len(data.y), case.B, replace=False))
        step(now, batch, case.eta, case.margin, bool(case.frozen), made_now if full else None)
        number += 1
        if number % 200 == 0:
            progress("training", number / limit)
    table = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    return Run(case, data, first, now, number, fitted, np.array(times), table, kept, ideal)


def test_loss(state: State, case: Case, seed: Any, tests: int | None = None) -> float:
    """Mean hinge loss on fresh samples of the case."""
    counts, y = setting.draw_counts(case, np.random.default_rng(seed), _even(case.tests if tests is None else tests))
    return forward(state, Counts(counts, y)).loss(case.margin)


def drawn_data(case: Case, rng: np.random.Generator) -> Counts:
    """N training samples drawn by the rules of the case."""
    return Counts(*setting.draw_counts(case, rng))


def _even(count: int) -> int:
    return count + count % 2


def conserved(state: State) -> tuple[np.ndarray, np.ndarray]:
    """W_O' W_O - W_V W_V' and W_K W_K' - W_Q W_Q' (on the span of the patterns): constant along the flow."""
    return state.w.T @ state.w - state.v.T @ state.v, state.kappa.T @ state.kappa - state.rho.T @ state.rho
