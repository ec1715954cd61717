r"""The flow of many drawn training sets at once, inside Condition 4.1; here because no network is so wide.

Inside Condition 4.1 d_h and d are so large that neither weights nor steps can be made: a step of the largest allowed
size needs :math:`10^{20}` of them. The equations of all inner products (Lemma B.3) do not know the widths, the start
comes from exact Wishart laws (`gram_start.py`), and the limit :math:`\eta\to0`, which condition (6) allows, is the flow

.. math::  \dot S = GH\mathcal K + \mathcal QHG,\quad \dot{\mathcal Q} = GHS^\top + SH^\top G,\quad
           \dot{\mathcal K} = GH^\top S + S^\top HG,\quad \dot V = \|w_O\|^2Gh .

Labels are random, as Definition 3.1 says. Time is :math:`\tau = \eta t`. Gradients are written by hand: no derived
equation is used here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import RK45
from scipy.special import expit

from odesys import IntegrationError, row_softmax

from ..setting import Case, places
from .gram_start import gram_start
from .seed_steps import SeedSteps

RTOL = 1e-6
MOST_STEPS = 5000


@dataclass(frozen=True, eq=False)
class Batch:
    """Training sets of several seeds: labels (s, N), places (s, N, M), squared lengths (s, P), start S, Q, K, V."""

    case: Case
    y: np.ndarray
    places: np.ndarray
    lengths: np.ndarray
    overlaps: np.ndarray  # Gram matrices without their diagonals, (s, P, P)
    start: np.ndarray  # packed


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All inner products of all seeds at one time, with what a proof names: attention, outputs, force H."""

    batch: Batch
    time: float
    S: np.ndarray
    Q: np.ndarray
    K: np.ndarray
    V: np.ndarray

    @cached_property
    def _forces(self) -> tuple[np.ndarray, ...]:
        return _forces(self.batch, self.S, self.V)

    @property
    def attention(self) -> np.ndarray:
        """Softmax of the scores within samples, (s, N, row, key)."""
        return self._forces[0]

    @property
    def slopes(self) -> np.ndarray:
        """-l'_n, (s, N)."""
        return self._forces[1]

    @property
    def margins(self) -> np.ndarray:
        """y_n f(X_n), (s, N)."""
        return self._forces[2]

    @property
    def pull(self) -> np.ndarray:
        """y_n (-l'_n)/(NM) times the force on each score within samples, (s, N, row, key)."""
        return self._forces[3]

    @property
    def push(self) -> np.ndarray:
        """y_n (-l'_n)/(NM) times the attention each token has, (s, N, M)."""
        return self._forces[4]

    @property
    def loss(self) -> np.ndarray:
        """Training loss of each seed."""
        return np.asarray(np.logaddexp(0.0, -self.margins).mean(axis=1))

    @cached_property
    def scores(self) -> np.ndarray:
        """Scores within samples, (s, N, row, key)."""
        return _within(self.S, self.batch.places)

    @cached_property
    def values(self) -> np.ndarray:
        """y_n V of the tokens of each sample, (s, N, M)."""
        return np.asarray(_of_samples(self.V, self.batch.places) * self.batch.y[:, :, None])

    @cached_property
    def H(self) -> np.ndarray:
        """H over all pairs of tokens, (s, P, P): rows queries."""
        return _spread(self.pull, self.batch)

    @cached_property
    def alpha(self) -> np.ndarray:
        """alpha over eta: G H."""
        return self.batch.lengths[:, :, None] * self.H + self.batch.overlaps @ self.H

    @cached_property
    def beta(self) -> np.ndarray:
        """beta over eta: G H'."""
        turned = np.swapaxes(self.H, 1, 2)
        return self.batch.lengths[:, :, None] * turned + self.batch.overlaps @ turned

    @cached_property
    def rates(self) -> dict[str, np.ndarray]:
        """Derivatives of S, Q, K and V by tau, with all products of different tokens."""
        return dict(zip("SQKV", _unpack(self.batch, _field(self.batch, True)(self.time, self.packed)), strict=True))

    @property
    def pushes(self) -> tuple[np.ndarray, np.ndarray]:
        """The rate of V over |w_O|^2 in two parts: of the own token, and of all others through their inner products."""
        h = _added(self.push, self.batch)
        return self.batch.lengths * h, (self.batch.overlaps @ h[:, :, None])[:, :, 0]

    @property
    def packed(self) -> np.ndarray:
        """The state as one vector."""
        return _pack(self.S, self.Q, self.K, self.V)


def draw(case: Case, seeds: tuple[int, ...]) -> Batch:
    """Training sets with random labels, and starts, one for each seed.

    Labels are drawn again until both classes have between N/4 and 3N/4 samples: the event of Lemma C.1, which has the
    printed probability where N >= 8 log(4/delta), and which all that follows in the paper is conditioned on.
    """
    made, y = [], []
    for seed in seeds:
        y.append(_labels(np.random.default_rng((seed, 5)), case.N))
        made.append(gram_start(case, (seed, 6)))
    grams = np.array([m.gram for m in made])
    lengths = np.diagonal(grams, axis1=1, axis2=2).copy()
    start = [np.array([m.values[name] for m in made]) for name in "SQKV"]
    where = np.array([places(case.N, case.M, list(signs)) for signs in y])
    eye = np.eye(case.P)
    return Batch(case, np.array(y), where, lengths, grams * (1 - eye), _pack(*start))


def _labels(rng: np.random.Generator, N: int) -> np.ndarray:
    while True:
        y = rng.choice([1, -1], size=N)
        if N <= 4 * (y > 0).sum() <= 3 * N:
            return y


def follow(batch: Batch, times: np.ndarray, eps: float = 0.0, rtol: float = RTOL) -> list[Snapshot]:
    """The flow at given times (the start included), until all training losses are at most eps."""
    case = batch.case
    small = case.sigma_V * np.sqrt(case.w2 * case.largest) or 1e-6
    scale = [np.full_like(x, a) for x, a in zip(_unpack(batch, batch.start), (1e-7, 1, 1, 1e-3 * small), strict=True)]
    for table in scale[1:3]:  # inner products of queries and keys: relative to the norms
        table *= 1e-7 * case.kappa * np.sqrt(batch.lengths[:, :, None] * batch.lengths[:, None, :])
    end, first = float(times[-1]), 1e-3 * float(times[times > 0][0])
    solver: Any
    if SeedSteps.possible() and not _crowded(batch):
        data = batch.places, batch.y, batch.lengths, case.w2
        solver = SeedSteps(*data, batch.start, end, first, rtol, _pack(*scale))
    else:
        solver = RK45(_field(batch), 0.0, batch.start.copy(), end, first_step=first, rtol=rtol, atol=_pack(*scale))
    out = [snapshot(batch, 0.0, batch.start)]
    waiting = [float(t) for t in times if t > 0]
    for _ in range(MOST_STEPS):
        problem = solver.step()
        if problem or not np.isfinite(solver.y).all():
            raise IntegrationError(f"the flow stops at tau = {solver.t:g}: {problem}", time=float(solver.t))
        dense = solver.dense_output() if waiting and waiting[0] <= solver.t else None
        while waiting and waiting[0] <= solver.t and dense is not None:
            now = waiting.pop(0)
            out.append(snapshot(batch, now, dense(now)))
            if eps and (out[-1].loss <= eps).all():
                return out
        if solver.status != "running":
            return out
    raise IntegrationError(f"the flow needs more than {MOST_STEPS} steps", time=float(solver.t))


def snapshot(batch: Batch, time: float, x: np.ndarray) -> Snapshot:
    return Snapshot(batch, time, *_unpack(batch, x))


def _pack(S: np.ndarray, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Seed by seed, all of S, Q, K, V."""
    return np.concatenate([x.reshape(len(V), -1) for x in (S, Q, K, V)], axis=1).ravel()


def _unpack(batch: Batch, x: np.ndarray) -> list[np.ndarray]:
    s, P = batch.lengths.shape
    tables = np.split(x.reshape(s, -1), [P * P * k for k in (1, 2, 3)], axis=1)
    return [*(table.reshape(s, P, P) for table in tables[:3]), tables[3]]


def _within(S: np.ndarray, where: np.ndarray) -> np.ndarray:
    seed = np.arange(len(S))[:, None, None, None]
    return S[seed, where[:, :, :, None], where[:, :, None, :]]


def _of_samples(V: np.ndarray, where: np.ndarray) -> np.ndarray:
    return V[np.arange(len(V))[:, None, None], where]


def _forces(batch: Batch, S: np.ndarray, V: np.ndarray) -> tuple[np.ndarray, ...]:
    N, M = batch.case.N, batch.case.M
    weights = row_softmax(_within(S, batch.places))
    v = _of_samples(V, batch.places)
    rows = (weights * v[:, :, None, :]).sum(axis=3)
    margins = batch.y * rows.mean(axis=2)
    slopes = expit(-margins)
    c = batch.y * slopes / (N * M)
    apart = (
        v[:, :, None, :, None] - v[:, :, None, None, :]
    )  # sum_k phi_k (v_j - v_k): v_j less the mean loses 1 - phi_j
    pull = c[:, :, None, None] * weights * (weights[:, :, :, None, :] * apart).sum(axis=4)
    return weights, slopes, margins, pull, c[:, :, None] * weights.sum(axis=2)


def _spread(pull: np.ndarray, batch: Batch) -> np.ndarray:
    """Sum of E_n' pull_n E_n: only the entry of a signal with itself is shared by several samples."""
    s, P = batch.lengths.shape
    H = np.zeros((s, P, P))
    np.add.at(
        H,
        (np.arange(s)[:, None, None, None], batch.places[:, :, :, None], batch.places[:, :, None, :]),
        pull,
    )
    return H


def _added(push: np.ndarray, batch: Batch) -> np.ndarray:
    """Sums over the samples of each token, (s, P)."""
    h = np.zeros(batch.lengths.shape)
    np.add.at(h, (np.arange(len(h))[:, None, None], batch.places), push)
    return h


def _field(batch: Batch, whole: bool = False):  # type: ignore[no-untyped-def]
    """The field; integration leaves out products of different tokens that are below its rounding, `whole` none."""
    lengths, overlaps, w2 = batch.lengths, batch.overlaps, batch.case.w2
    crowded = whole or _crowded(batch)

    def with_gram(x: np.ndarray) -> np.ndarray:
        out = lengths[:, :, None] * x
        return out + overlaps @ x if crowded else out

    def field(_: float, x: np.ndarray) -> np.ndarray:
        S, Q, K, V = _unpack(batch, x)
        pull, push = _forces(batch, S, V)[3:]
        h, H = _added(push, batch), _spread(pull, batch)
        A, B = with_gram(H), with_gram(np.swapaxes(H, 1, 2))
        AS, BS = A @ np.swapaxes(S, 1, 2), B @ S
        dS = A @ K + Q @ np.swapaxes(B, 1, 2)
        dV = w2 * with_gram(h[:, :, None])[:, :, 0]
        return _pack(dS, AS + np.swapaxes(AS, 1, 2), BS + np.swapaxes(BS, 1, 2), dV)

    return field


def _crowded(batch: Batch) -> bool:
    """True where products of different tokens are not below rounding."""
    return bool(np.abs(batch.overlaps).max() > 1e-12 * batch.lengths.max())
