r"""The bound of Lemma 5.1 on a step of rho, at every state, along descents by the derived recursion and in networks.

With :math:`a_{n,j} = -\ell'_n\sum_l\varphi^{(n)}_{lj}` a step changes :math:`\rho_{V,n,i}` by
:math:`\tfrac\eta{NM}\sum_{n',j\ge2}y_{n'}\langle\xi_{n,i},\xi_{n',j}\rangle a_{n',j}`. The printed bound has the own term
alone, :math:`\tfrac\eta{NM}2\tilde\sigma_p^2d\,a_{n,i}`. With the lengths and inner products of C.4,
:math:`\|\xi\|^2\le\tfrac32\tilde\sigma_p^2d` and :math:`|\langle\xi,\xi'\rangle|\le X`, the bound that holds is

.. math::  \tfrac\eta{NM}\tfrac32\tilde\sigma_p^2d\,a_{n,i} + \eta X\,\tfrac1N\sum_{n'}(-\ell'_{n'}),

since the attention of a row sums to one: :math:`\sum_ja_{n',j} = M(-\ell'_{n'})`.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import log, sqrt
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import Node, Verdict, equal, graph, num, rounded, sym

from ..laboratory import Laboratory
from ..setting import Case
from ..special import span_network
from ..special.descents import CASES, EPS, Record
from .book import tables

DELTA = 0.1
M_TOY = 3

#: networks trained by hand-written gradients, looked at in every step: the case, the step size times the largest
#: squared length, and the seed. The first breaks the printed bound at once, the second later, the last never
NETWORKS = {
    "N = 60, d = 200": (Case(60, 3, 200, 50, sqrt(400 / 60), 1.0, 4.0, sigma_V=1e-5), 0.1, 0),
    "N = 24, d = 250": (CASES["crowded"], 0.1, 7),
    "N = 6, d = 4000": (Case(6, 3, 4000, 1500, 36.0, 20.0, 4.0, sigma_V=1e-5), 0.1, 11),
}
STEPS = 3000


def largest_product(case: Case) -> float:
    """X: the bound of C.4 on inner products of distinct noise tokens, delta = 1/10."""
    return 2 * case.m_2 / case.d * sqrt(case.d * log(4 * case.N**2 * case.M**2 / DELTA))


def inside_c4(case: Case, gram: np.ndarray) -> bool:
    """Lengths and inner products of the noise tokens are those of C.4."""
    noise = gram[2:, 2:]
    off = np.abs(noise - np.diag(np.diag(noise))).max()
    return bool(off <= largest_product(case) and np.diag(noise).max() <= 1.5 * case.m_2)


@dataclass(frozen=True, eq=False)
class Ratios:
    """|change of rho| over the printed bound and over the corrected one, (times, N, M - 1), with the steps looked at."""

    steps: np.ndarray
    printed: np.ndarray
    corrected: np.ndarray
    inside: bool  # the training set has the lengths and inner products of C.4

    @property
    def largest(self) -> np.ndarray:
        """The largest ratio to the printed bound at each time."""
        return self.printed.max(axis=(1, 2))

    def summary(self) -> dict[str, Any]:
        """Ratios at the start, at their largest, where the printed bound first fails, and against the corrected one."""
        over = np.flatnonzero(self.largest > 1)
        return {
            "start": rounded(self.largest[0]),
            "largest": rounded(self.largest.max()),
            "first step above 1": int(self.steps[over[0]]) if over.size else "none",
            "steps": int(self.steps[-1]),
            "over the corrected bound": rounded(self.corrected.max()),
        }

    def witness(self) -> dict[str, Any]:
        """Step, sample and token of the largest ratio."""
        time, sample, token = np.unravel_index(self.printed.argmax(), self.printed.shape)
        return {
            "step": int(self.steps[time]),
            "sample": int(sample) + 1,
            "token": int(token) + 2,
            "ratio": rounded(self.printed.max()),
            "ratio at the start": rounded(self.largest[0]),
        }


def _ratios(case: Case, gram: np.ndarray, steps: Any, change: np.ndarray, own: np.ndarray, slope: np.ndarray) -> Ratios:
    """From |change| / eta and a, both (times, N, M - 1), and -l' (times, N)."""
    unit = case.m_2 / (case.N * case.M)
    corrected = 1.5 * unit * own + largest_product(case) * slope.mean(axis=1)[:, None, None]
    return Ratios(np.asarray(steps), change / (2 * unit * own), change / corrected, inside_c4(case, gram))


def of_run(run: Record) -> Ratios:
    """Along a descent by the derived recursion: the change is read off the recursion, at every record."""
    attention = run.attention
    slope = expit(-np.einsum("tnlj,tnj->tn", attention, run.values) / run.case.M)
    own = attention.sum(axis=2)[:, :, 1:] * slope[:, :, None]
    change = np.abs(run["V+"] - run["V"])[:, run.made.places[:, 1:]] / (run.eta * run.case.w2)
    return _ratios(run.case, run.made.gram, run.steps, change, own, slope)


@cache
def of_network(name: str) -> Ratios:
    """Along the training of a network by hand-written gradients to the loss 0.05, in every step."""
    case, rate, seed = NETWORKS[name]
    made = span_network.draw(case, seed)
    state, eta = span_network.start(made), rate / case.largest
    rows = list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
    for _ in range(STEPS):
        found = span_network.forces_of(state, made.places, made.y)
        before = state.V.copy()
        span_network.step(made, state, eta, found)
        slope = expit(-found.margins)
        rows.append(
            (
                np.abs(state.V - before)[made.places[:, 1:]] / (eta * case.w2),
                found.attention.sum(axis=1)[:, 1:] * slope[:, None],
                slope,
            )
        )
        if found.loss <= EPS:
            break
    change, own, slopes = (np.array([row[i] for row in rows]) for i in range(3))
    return _ratios(case, made.gram, np.arange(len(rows)), change, own, slopes)


def at_every_state(lab: Laboratory) -> Verdict:
    """The corrected bound minus (plus) the derived change is a sum of products of non-negative numbers.

    The factors are 3/2 m_2 -+ y |xi|^2 and X -+ y <xi, xi'>, which C.4 makes non-negative, and the sums a >= 0.
    """
    flow = lab.step(M_TOY)
    t = tables(flow, M_TOY)
    step, eta, w2, X, m_2 = flow.rhs("wOV")[0], sym("eta"), sym("w2"), sym("X"), sym("m_2 of C.4")
    attention = [t.attention(n) for n in range(t.N)]
    slopes = [t.slope(n) for n in range(t.N)]
    a = {(n, j): slopes[n] * graph.add(row[j] for row in attention[n]) for n in range(t.N) for j in range(t.M)}
    others = [(n, j) for n, j in a if j >= 1]
    found: dict[str, tuple[Node, Node]] = {}
    for n, i in others:
        token = t.places[n][i]
        change = (step[token] - t.V[token]) / (eta * w2) * (t.N * t.M)
        bound = num(Fraction(3, 2)) * m_2 * a[n, i] + X * t.M * graph.add(slopes)
        for sign in (1, -1):
            slack = [(num(Fraction(3, 2)) * m_2 - sign * t.y[n] * t.G[token, token]) * a[n, i], X * a[n, i]]
            slack += [(X - sign * t.y[k] * t.G[token, t.places[k][j]]) * a[k, j] for k, j in others if (k, j) != (n, i)]
            slack += [X * a[k, 0] for k in range(t.N)]
            found[f"sample {n + 1}, token {i + 1}, sign {sign}"] = (bound - sign * change, graph.add(slack))
    return equal(found)
