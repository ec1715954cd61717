r"""Descent in the span of the tokens, gradients by hand; here because d x d_h weights would be too large to hold.

.. math::
    q = Z W_Q,\quad k = Z W_K,\quad V = Z W_V w_O, \qquad q^+ = q + \eta G H k,\quad k^+ = k + \eta G H^\top q,\quad
    V^+ = V + \eta\|w_O\|^2 G h,

with :math:`H = \sum_n c_n E_n^\top g^{(n)} E_n`, :math:`h = \sum_n c_n E_n^\top \sum_l \varphi^{(n)}_l`,
:math:`g_{lj} = \varphi_{lj}(v_j - f_l)` and :math:`c_n = y_n \sigma(-y_n f_n)/(N M)`. Gaussian weights enter through
the rows of q and k alone, whose law given the tokens is :math:`q = L\Omega`, :math:`L L^\top = G`; so nothing of size
d x d_h is ever made. Fresh tokens are handled in the same way, with the exact conditional law. No derived equation is
used here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import IntegrationError, ParameterError, Progress, paced, row_softmax, silent

from .. import setting
from ..setting import Case


@dataclass(frozen=True, eq=False)
class Draw:
    """Data and start weights of one seed: noise tokens (P - 2, d - 2), and the images q, k (P, d_h), V (P,)."""

    case: Case
    tokens: np.ndarray
    gram: np.ndarray
    y: np.ndarray
    places: np.ndarray
    q: np.ndarray
    k: np.ndarray
    V: np.ndarray
    rng: np.random.Generator = field(repr=False)


def scales(case: Case) -> np.ndarray:
    """Standard deviation of each noise token of a sample, i = 2 .. M."""
    return case.sigma_p * np.array([case.C_p, *[1.0] * (case.M - 2)])


def draw(case: Case, seed: int | tuple[int, ...], signs: np.ndarray | None = None) -> Draw:
    """A training set of Definition 3.1 with mu+ = mu e_1, mu- = mu e_2, and a Gaussian start.

    The labels are balanced unless `signs` are given; noise tokens live in the other d - 2 coordinates.
    """
    rng = np.random.default_rng(seed)
    y = np.array(setting.labels(case.N)) if signs is None else np.asarray(signs, dtype=int)
    tokens = np.tile(scales(case), case.N)[:, None] * rng.standard_normal((case.P - 2, case.d - 2))
    gram = np.zeros((case.P, case.P))
    gram[0, 0] = gram[1, 1] = case.m_s
    gram[2:, 2:] = tokens @ tokens.T
    root = np.linalg.cholesky(gram)
    q, k = (case.sigma_h * root @ rng.standard_normal((case.P, case.d_h)) for _ in range(2))
    V = case.sigma_V * np.sqrt(case.w2) * root @ rng.standard_normal(case.P)
    return Draw(case, tokens, gram, y, setting.places(case.N, case.M, list(y)), q, k, V, rng)


@dataclass(eq=False)
class State:
    """Images of the tokens and the coefficients C of the change, W = W(0) + Z' C."""

    q: np.ndarray
    k: np.ndarray
    V: np.ndarray
    c_q: np.ndarray
    c_k: np.ndarray
    c_v: np.ndarray


@dataclass(frozen=True, eq=False)
class Forces:
    """What a step needs: attention (N, M, M), outputs, margins, and the forces within samples.

    `pull` is c_n g^(n) (N, M, M) with rows queries; `push` is c_n sum_l phi^(n)_l (N, M).
    """

    places: np.ndarray
    tokens: int
    attention: np.ndarray
    rows: np.ndarray
    margins: np.ndarray
    pull: np.ndarray
    push: np.ndarray

    @property
    def loss(self) -> float:
        """Training loss."""
        return float(np.logaddexp(0.0, -self.margins).mean())

    @cached_property
    def H(self) -> np.ndarray:
        """H over all pairs of tokens, (P, P)."""
        out = np.zeros((self.tokens, self.tokens))
        np.add.at(out, (self.places[:, :, None], self.places[:, None, :]), self.pull)
        return out

    @cached_property
    def h(self) -> np.ndarray:
        """h over all tokens, (P,)."""
        return self.gather(self.push[:, :, None])[:, 0]

    def gather(self, parts: np.ndarray) -> np.ndarray:
        """Sum of E_n' parts_n: (N, M, size) to (P, size); only signals stand in several samples."""
        out = np.zeros((self.tokens, parts.shape[2]))
        out[self.places[:, 1:]] = parts[:, 1:]
        for signal in (0, 1):
            out[signal] = parts[self.places[:, 0] == signal, 0].sum(axis=0)
        return out


def forces(S: np.ndarray, V: np.ndarray, places: np.ndarray, y: np.ndarray) -> Forces:
    """Forces from the scores S = q k' of all pairs of tokens (rows queries) and the values V."""
    return _forces(S[places[:, :, None], places[:, None, :]], V, places, y)


def forces_of(state: State, places: np.ndarray, y: np.ndarray) -> Forces:
    """Forces from the images; only scores within samples are computed."""
    return _forces(state.q[places] @ np.swapaxes(state.k[places], 1, 2), state.V, places, y)


def _forces(scores: np.ndarray, V: np.ndarray, places: np.ndarray, y: np.ndarray) -> Forces:
    N, M = places.shape
    weights = row_softmax(scores)
    v = V[places]
    rows = np.einsum("nlj,nj->nl", weights, v)
    margins = y * rows.mean(axis=1)
    c = y * expit(-margins) / (N * M)
    pull = c[:, None, None] * weights * (v[:, None, :] - rows[:, :, None])
    return Forces(places, len(V), weights, rows, margins, pull, c[:, None] * weights.sum(axis=1))


def start(made: Draw) -> State:
    """The start of a draw."""
    zero = np.zeros_like(made.q)
    return State(made.q.copy(), made.k.copy(), made.V.copy(), zero, zero.copy(), np.zeros_like(made.V))


def step(made: Draw, state: State, eta: float, found: Forces | None = None) -> Forces:
    """One gradient step in place; gives the forces it was made with (computed unless they are given)."""
    found = found or forces_of(state, made.places, made.y)
    dq = eta * found.gather(found.pull @ state.k[made.places])  # H k
    dk = eta * found.gather(np.swapaxes(found.pull, 1, 2) @ state.q[made.places])  # H' q
    dv = eta * made.case.w2 * found.h
    state.c_q += dq
    state.c_k += dk
    state.c_v += dv
    state.q += made.gram @ dq
    state.k += made.gram @ dk
    state.V += made.gram @ dv
    return found


@dataclass(frozen=True, eq=False)
class Descent:
    """A run: its draw and last state, the number of steps and the table of what was recorded at each of `times`."""

    made: Draw
    state: State
    eta: float
    steps: int
    loss: float
    times: np.ndarray
    table: dict[str, np.ndarray]
    stages: dict[str, int | None]
    regime: str

    @property
    def tau(self) -> float:
        """eta times the number of steps."""
        return self.eta * self.steps


def descend(
    made: Draw, eta: float, eps: float, steps: int, record: int = 0, theta: float = 0.1, progress: Progress = silent
) -> Descent:
    """Gradient descent until the training loss is at most eps, with the three stages.

    T1 is the first step with the exit property of Lemma 5.2 (signal, benign) or E.3 (first noise token, harmful); T2
    the first after it where every row of every sample has attention at least 1 - theta there; T2_linear the first
    from T1 on with a value of at least 1/4, up to which values grow linearly (the start may have one by chance, which
    ends no stage); T3 the last. A stage that is not reached is None.
    """
    if not 0 < eta < np.inf or not 0 < eps < np.inf or steps < 1:
        raise ParameterError(f"eta = {eta}, eps = {eps} and {steps} steps can not be used: all three are positive")
    state, rows, times = start(made), list[dict[str, float]](), list[int]()
    stages: dict[str, int | None] = {"T1": None, "T2": None, "T2_linear": None, "T3": None}
    regime, number, loss, tell = "neither", 0, np.inf, paced(progress)
    while True:
        found = forces_of(state, made.places, made.y)
        loss = found.loss
        if not np.isfinite(loss):
            raise IntegrationError(f"gradient descent with eta = {eta:g} overflows at step {number}; lower it")
        if stages["T1"] is None:
            regime = dominance(made, state.V)
            stages["T1"] = number if regime != "neither" else None
        if stages["T1"] is not None and stages["T2"] is None and _winner(found.attention, regime) >= 1 - theta:
            stages["T2"] = number
        if stages["T1"] is not None and stages["T2_linear"] is None and np.abs(state.V).max() >= 0.25:
            stages["T2_linear"] = number
        last = loss <= eps or number == steps
        if record and (number % record == 0 or last):
            rows.append(snapshot(made, state, found))
            times.append(number)
        if last:
            break
        step(made, state, eta, found)
        number += 1
        tell("gradient descent", number / steps)
    if loss <= eps:
        stages["T3"] = number
    table = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else {})}
    return Descent(made, state, eta, number, loss, np.array(times), table, stages, regime)


def dominance(made: Draw, V: np.ndarray) -> str:
    """Which token dominates all others of its sample by 3 M: benign, harmful or neither."""
    M, v = made.case.M, V[made.places] * made.y[:, None]
    if (v[:, 0] >= 3 * M * np.abs(v[:, 1:]).max(axis=1)).all() and (v[:, 0] > 0).all():
        return "benign"
    rest = np.abs(np.delete(v, 1, axis=1)).max(axis=1)
    return "harmful" if (v[:, 1] >= 3 * M * rest).all() and (v[:, 1] > 0).all() else "neither"


def _winner(attention: np.ndarray, regime: str) -> float:
    return float(attention[:, :, 0 if regime == "benign" else 1].min())


def snapshot(made: Draw, state: State, found: Forces) -> dict[str, float]:
    """Means over samples of values, scores within a sample and attention, by the types s, 2 and w."""
    S, v = state.q @ state.k.T, state.V[made.places] * made.y[:, None]
    scores = S[made.places[:, :, None], made.places[:, None, :]]
    out = {"loss": found.loss}
    groups = {"s": [0], "2": [1], "w": list(range(2, made.case.M))}
    for a, ia in groups.items():
        if not ia:
            continue
        out[f"v_{a}"] = float(v[:, ia].mean())
        for b, ib in groups.items():
            if ib:
                out[f"S_{a}{b}"] = float(scores[np.ix_(range(made.case.N), ia, ib)].mean())
                out[f"phi_{a}{b}"] = float(found.attention[np.ix_(range(made.case.N), ia, ib)].mean())
    return out


# ---- fresh samples ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TestLoss:
    """Mean test loss with its standard error, and the fraction of fresh samples with the right sign."""

    loss: float
    error: float
    accuracy: float
    margins: np.ndarray = field(repr=False)
    signal_attention: np.ndarray = field(repr=False)  # of the signal row on the signal
    values: np.ndarray = field(repr=False)  # of the fresh noise tokens

    __test__ = False  # the name is the paper's, not pytest's


def test_loss(run: Descent, count: int, seed: int = 1, batch: int = 200) -> TestLoss:
    """Loss on fresh samples, every one with the exact law of its tokens and of the untrained part of the weights."""
    if count < 2:
        raise ParameterError(f"{count} fresh samples give no error bar; use at least 2")
    rng = np.random.default_rng((seed, 77))
    parts = [_fresh(run, min(batch, count - done), rng) for done in range(0, count, batch)]
    margins, attention, values = (np.concatenate([part[i] for part in parts]) for i in range(3))
    losses = np.logaddexp(0.0, -margins)
    error = float(losses.std(ddof=1) / np.sqrt(count))
    return TestLoss(float(losses.mean()), error, float((margins > 0).mean()), margins, attention, values)


test_loss.__test__ = False  # type: ignore[attr-defined]


def _fresh(run: Descent, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    made, state, case = run.made, run.state, run.made.case
    tokens = scales(case)[:, None] * rng.standard_normal((count, case.M - 1, case.d - 2))
    cross = tokens @ made.tokens.T  # inner products with the training noise, (count, M - 1, P - 2)
    part = np.linalg.solve(made.gram[2:, 2:], np.swapaxes(cross, 1, 2).reshape(count, case.P - 2, -1))
    part = np.swapaxes(part, 1, 2)
    rest = tokens @ np.swapaxes(tokens, 1, 2) - part @ np.swapaxes(cross, 1, 2)  # Gram matrix of what is left over
    root = np.linalg.cholesky(rest + 1e-12 * np.trace(rest, axis1=1, axis2=2)[:, None, None] * np.eye(case.M - 1))

    def image(start: np.ndarray, change: np.ndarray, spread: float) -> np.ndarray:
        fresh = spread * root @ rng.standard_normal((count, case.M - 1, start.shape[1]))
        return part @ start[2:] + fresh + cross @ change[2:]

    q, k = image(made.q, state.c_q, case.sigma_h), image(made.k, state.c_k, case.sigma_h)
    v = image(made.V[:, None], state.c_v[:, None], case.sigma_V * np.sqrt(case.w2))[:, :, 0]
    y = rng.choice([1, -1], size=count)
    own = np.where(y > 0, 0, 1)
    q, k = (np.concatenate([x[own][:, None, :], new], axis=1) for x, new in ((state.q, q), (state.k, k)))
    v = np.concatenate([state.V[own][:, None], v], axis=1)
    weights = row_softmax(q @ np.swapaxes(k, 1, 2))
    margins = y * np.einsum("nlj,nj->nl", weights, v).mean(axis=1)
    return margins, weights[:, 0, 0], v[:, 1:]


def gram_values(made: Draw, state: State | None = None) -> dict[str, np.ndarray]:
    """S, Q, K and V as matrices, from the images."""
    q, k, V = (made.q, made.k, made.V) if state is None else (state.q, state.k, state.V)
    return {"S": q @ k.T, "Q": q @ q.T, "K": k @ k.T, "V": V}


def engine_leaves(values: Mapping[str, np.ndarray]) -> dict[str, Any]:
    """The same matrices under the engine's names: KQ has the key first, wOV is a row."""
    return {"KQ": values["S"].T, "QQ": values["Q"], "KK": values["K"], "wOV": values["V"][None, :]}
