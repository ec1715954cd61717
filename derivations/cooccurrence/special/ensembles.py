r"""Many random networks of one size at once; here because an order needs widths that no list of weights has room for.

The Gram matrices of a Gaussian start of any width m are drawn exactly from their triangular factors (Bartlett), so a
network of width :math:`10^{10}` costs what one of width 100 costs. All seeds move together: the matrix form of the
flow, neuron by neuron, with the data, the scale of the scores and the speeds of the laboratory,

.. math::  \dot\Omega = (\Omega a)\xi^\top + a(\Gamma\xi)^\top,\ \ \dot\Gamma = \xi G^\top + G\xi^\top,\ \
           \dot A = \kappa\mathcal D + \mathcal D\rho,\ \ \dot\kappa = \mathcal DA^\top + A\mathcal D^\top,\ \dots

What is integrated is the change since the start, so that a change by :math:`1/m^2` keeps its digits. That this is the
derived field is compared at the states of a run (`gap_to_derived`); the same networks are trained in weight space
by the gradients of appendix B (`trained_network`) as a second route. Floats only: measurements.

Where m is so large that nothing but G moves by more than rounding, relative to its start, the same flow is a
quadrature (`wide_changes`): :math:`\dot X=\xi` with :math:`G=G(0)+(\beta I+m_1\Gamma)X`, and the changes of the other
path matrices are products of X, of :math:`E=\int\mathcal D` and of start values. What this leaves out is computed and
has to be below `NEGLIGIBLE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from odesys import Flow, IntegrationError, computed_once, graph, row_softmax, to_sympy

from .. import setting
from ..laboratory import Laboratory
from ..setting import Scales
from .trajectories import Course

RTOL = 1e-7
LEAVES = ("WV", "WW", "VV", "KQ", "KK", "QQ")
Arrays = dict[str, np.ndarray]  # path matrices, one for each seed


def signs_of(m1: int) -> np.ndarray:
    """a_j = +1, -1, +1, ...: the law of (a_j w_j) is that of random signs, since w_j and -w_j have the same."""
    return np.resize([1.0, -1.0], m1)


def triangular(m: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """The triangular factor of an m x size matrix of independent standard Gaussians, exactly in law (m >= size)."""
    factor = np.triu(rng.standard_normal((size, size)), 1)
    return factor + np.diag(np.sqrt(rng.chisquare(float(m) - np.arange(size))))


def start_weights(scale: Scales, d: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """W, W_V, W_K, W_Q of a random network in an orthonormal frame of the space they span.

    Values, keys, queries and W'a / sqrt(m1) of a seed are the same numbers for every m1: a rotation of the neurons that
    turns a / sqrt(m1) into the first axis leaves the law of W alone.
    """
    rng, m1 = np.random.default_rng([seed, d]), scale.m1
    scores = triangular(scale.m, 2 * d, rng)
    values, turned = np.zeros((d + m1, d)), np.zeros((d + m1, m1))
    values[:d] = triangular(scale.m, d, rng)
    for j in range(m1):
        turned[: d + j, j] = rng.standard_normal(d + j)
        turned[d + j, j] = np.sqrt(rng.chisquare(float(scale.m) - d - j))
    return (
        scale.sigma1 * _first_axis(signs_of(m1) / np.sqrt(m1)) @ turned.T,
        scale.sigma0 * values,
        scale.sigma0 * scores[:, :d],
        scale.sigma0 * scores[:, d:],
    )


def _first_axis(unit: np.ndarray) -> np.ndarray:
    """A reflection whose first column is `unit`."""
    normal = unit - np.eye(len(unit))[0]
    size = float(normal @ normal)
    return np.asarray(np.eye(len(unit)) - (2 / size * np.outer(normal, normal) if size > 0 else 0.0))


def gram_start(scale: Scales, d: int, seeds: Sequence[int]) -> Arrays:
    """The path matrices at the start, seed first."""
    rows: dict[str, list[np.ndarray]] = {leaf: [] for leaf in LEAVES}
    for seed in seeds:
        W, V, K, Q = start_weights(scale, d, seed)
        for leaf, table in zip(LEAVES, (W @ V, W @ W.T, V.T @ V, K.T @ Q, K.T @ K, Q.T @ Q), strict=True):
            rows[leaf].append(table)
    return {leaf: np.array(tables) for leaf, tables in rows.items()}


@dataclass(frozen=True, eq=False)
class Motion:
    """The matrix form of level 0 with data, scale and speeds of a laboratory."""

    tokens: np.ndarray
    labels: np.ndarray
    weights: np.ndarray
    signs: np.ndarray
    root: float  # what scores are multiplied by
    speeds: Mapping[str, float]
    d: int

    def forces(self, x: Arrays) -> tuple[np.ndarray, np.ndarray]:
        """xi = -dL/dG (seeds, d) and D = -dL/dA (seeds, d, d)."""
        tokens, d, count = self.tokens, self.d, len(x["WV"])
        G = np.einsum("j,sjd->sd", self.signs, x["WV"])
        p = row_softmax(x["KQ"][:, tokens[:, None, :], tokens[:, :, None]] * self.root)  # seed, sample, query, key
        values = G[:, tokens]
        mixed = np.einsum("snlh,snh->snl", p, values)
        pull = expit(-self.labels * mixed.sum(axis=2)) * self.labels * self.weights
        offset = np.arange(count)[:, None, None]
        places = offset * d + tokens
        xi = np.bincount(places.ravel(), (pull[:, :, None] * p.sum(axis=2)).ravel(), count * d).reshape(count, d)
        entry = pull[:, :, None, None] * p * (values[:, :, None, :] - mixed[:, :, :, None]) * self.root
        pairs = offset[..., None] * d * d + tokens[:, None, :] * d + tokens[:, :, None]
        D = np.bincount(pairs.ravel(), entry.ravel(), count * d * d).reshape(count, d, d)
        return xi, D

    def rates(self, x: Arrays) -> Arrays:
        """All rates per unit of t."""
        xi, D = self.forces(x)
        a = self.signs
        G = np.einsum("j,sjd->sd", a, x["WV"])
        turned = D.transpose(0, 2, 1)
        pulled = np.einsum("sjd,sd->sj", x["WV"], xi)
        outer = xi[:, :, None] * G[:, None, :]
        keys, queries = D @ x["KQ"].transpose(0, 2, 1), turned @ x["KQ"]
        found = {
            "WV": (x["WW"] @ a)[:, :, None] * xi[:, None, :]
            + a[:, None] * np.einsum("sab,sb->sa", x["VV"], xi)[:, None, :],
            "WW": pulled[:, :, None] * a + a[:, None] * pulled[:, None, :],
            "VV": outer + outer.transpose(0, 2, 1),
            "KQ": x["KK"] @ D + D @ x["QQ"],
            "KK": keys + keys.transpose(0, 2, 1),
            "QQ": queries + queries.transpose(0, 2, 1),
        }
        return {leaf: self.speeds[leaf] * table for leaf, table in found.items()}


def motion(lab: Laboratory, flow: Flow, scale: Scales, d: int) -> Motion:
    """Data, scale and speeds of a laboratory for networks of one size."""
    at = {"m": float(scale.m), "m1": float(scale.m1)}
    speeds = {leaf: _number(lab.speed(leaf), at) for leaf in LEAVES}
    root = _number(graph.as_node(flow.model.scale), at)
    weights = np.array([float(s.weight) for s in flow.data.samples])
    labels = np.array([float(s.label) for s in flow.data.samples])
    return Motion(setting.word_numbers(flow.data), labels, weights, signs_of(scale.m1), root, speeds, d)


def _number(node: Any, at: Mapping[str, float]) -> float:
    expression = to_sympy(node)
    return float(expression.subs({s: at[str(s)] for s in expression.free_symbols}))


class Tables(Mapping[str, np.ndarray]):
    """Path matrices by leaf, time first: start plus change, added when asked for, since runs are many."""

    def __init__(self, start: Arrays, changes: Mapping[str, np.ndarray]) -> None:
        self._start, self._changes = start, changes

    def __getitem__(self, leaf: str) -> np.ndarray:
        return np.asarray(self._start[leaf] + self._changes[leaf])

    def __iter__(self) -> Iterator[str]:
        return iter(self._changes)

    def __len__(self) -> int:
        return len(self._changes)


@dataclass(frozen=True, eq=False)
class Sampled(Course):
    """One network of an ensemble: a level-0 course by the changes since its start; `states` are made when asked for."""

    speeds: np.ndarray = None  # type: ignore[assignment]
    pulls: tuple[np.ndarray, np.ndarray] = None  # type: ignore[assignment]
    changes: Mapping[str, np.ndarray] = None  # type: ignore[assignment]
    start: Arrays = None  # type: ignore[assignment]

    @property
    def tables(self) -> Tables:  # type: ignore[override]
        """Path matrices by leaf, time first."""
        return Tables(self.start, self.changes)

    @cached_property
    def rates(self) -> np.ndarray:
        """Rates per unit of tau, (k, states)."""
        return self.speeds

    @cached_property
    def forces(self) -> tuple[np.ndarray, np.ndarray]:
        """xi (k, d) and D (k, d, d)."""
        return self.pulls

    def moved(self, leaf: str) -> np.ndarray:
        """Largest change of an entry since the start, (k,), from the change that was integrated."""
        return np.abs(self.changes[leaf]).max(axis=(1, 2))


def attention_change(run: Any) -> np.ndarray:
    """p - p(0) to first order in the change of the scores, (k, n, query, key): the change itself is below rounding."""
    change = run.changes["KQ"][:, run.tokens[:, None, :], run.tokens[:, :, None]] / np.sqrt(run.scale.m)
    p = run.attention
    return p * (change - (p * change).sum(axis=-1, keepdims=True))


NEGLIGIBLE = 1e-9  # relative to what is kept


@computed_once
def ensemble(
    lab: Laboratory, n: int, L: int, scale: Scales, seeds: tuple[int, ...], taus: tuple[float, ...], rtol: float = RTOL
) -> list[Sampled]:
    """Networks of one size for all seeds, recorded at `taus`, the first of which is 0."""
    assert lab.draw is not None  # seeds are those of a draw: the networks are given up with it
    d, a = setting.words_needed(n, L), signs_of(scale.m1)
    flow = lab.flow_of(setting.data(n, L), d, tuple(int(s) for s in a))
    moving, start = motion(lab, flow, scale, d), gram_start(scale, d, seeds)
    quick = wide_changes(moving, start, scale, taus, 1e-2 * rtol)
    changes = whole_changes(moving, start, scale, taus, rtol) if quick is None else quick
    return _courses(flow, scale, taus, a, moving, start, changes)


def _solve(velocity: Any, size: int, taus: Sequence[float], rtol: float, atol: Any) -> np.ndarray:
    run = solve_ivp(velocity, (0.0, taus[-1]), np.zeros(size), "DOP853", taus, rtol=rtol, atol=atol)
    if not run.success or not np.isfinite(run.y).all():
        raise IntegrationError(f"the networks do not reach tau = {taus[-1]}: {run.message}")
    return np.asarray(run.y.T)


def whole_changes(moving: Motion, start: Arrays, scale: Scales, taus: Sequence[float], rtol: float) -> list[Arrays]:
    """Changes of all path matrices since the start, by the matrix form of the flow."""
    shapes = {leaf: start[leaf].shape for leaf in LEAVES}
    cuts = np.cumsum([start[leaf].size for leaf in LEAVES])[:-1]

    def split(flat: np.ndarray) -> Arrays:
        return {leaf: part.reshape(shapes[leaf]) for leaf, part in zip(LEAVES, np.split(flat, cuts), strict=True)}

    def velocity(t: float, change: np.ndarray) -> np.ndarray:
        moved = split(change)
        rates = moving.rates({leaf: start[leaf] + moved[leaf] for leaf in LEAVES})
        return np.concatenate([rates[leaf].ravel() for leaf in LEAVES]) / scale.B

    first = split(velocity(0.0, np.zeros(sum(x.size for x in start.values()))))
    sizes = {leaf: float(np.abs(first[leaf]).max()) for leaf in LEAVES}
    k0 = scale.k0  # where G vanishes at the start nothing moves there yet: the orders of the motion itself
    orders = {"KQ": k0 / (np.sqrt(scale.m) * scale.B), "KK": k0 / (scale.m * scale.B), "QQ": k0 / (scale.m * scale.B)}
    orders |= {"WV": 1 / scale.m1, "WW": 1 / (scale.B * scale.m1), "VV": 1 / scale.B}
    atol = np.concatenate([np.full(start[leaf].size, 1e-2 * rtol * max(sizes[leaf], orders[leaf])) for leaf in LEAVES])
    return [split(row) for row in _solve(velocity, atol.size, taus, rtol, atol)]


def wide_changes(
    moving: Motion, start: Arrays, scale: Scales, taus: Sequence[float], rtol: float
) -> list[Arrays] | None:
    """The same by quadratures, or None where what they leave out is not negligible."""
    count, d, speed, a = len(start["WV"]), moving.d, moving.speeds, moving.signs
    beta = np.einsum("i,sij,j->s", a, start["WW"], a)[:, None]
    G0, m1, V0 = np.einsum("j,sjd->sd", a, start["WV"]), len(a), start["VV"]
    tokens, labels = moving.tokens, moving.labels
    p = row_softmax(start["KQ"][:, tokens[:, None, :], tokens[:, :, None]] * moving.root)  # seed, sample, query, key
    columns, offset = p.sum(axis=2), np.arange(count)[:, None, None]
    places = (offset * d + tokens).ravel()
    pairs = offset[..., None] * d * d + tokens[:, None, :] * d + tokens[:, :, None]

    def G_of(X: np.ndarray) -> np.ndarray:
        return np.asarray(G0 + speed["WV"] * (beta * X + m1 * np.einsum("sab,sb->sa", V0, X)))

    def velocity(t: float, flat: np.ndarray) -> np.ndarray:
        values = G_of(flat[: count * d].reshape(count, d))[:, tokens]
        mixed = np.einsum("snlh,snh->snl", p, values)
        pull = (expit(-labels * mixed.sum(axis=2)) * labels * moving.weights)[:, :, None]
        xi = np.bincount(places, (pull * columns).ravel(), count * d)
        entry = pull[..., None] * p * (values[:, :, None, :] - mixed[:, :, :, None]) * moving.root
        return np.concatenate([xi, entry.ravel()]) / scale.B

    atol = np.full(count * d + p.size, 1e-2 * rtol / scale.B)
    atol[count * d :] *= moving.root
    found = []
    for row in _solve(velocity, atol.size, taus, rtol, atol):
        X = row[: count * d].reshape(count, d)
        E = np.bincount(pairs.ravel(), row[count * d :], count * d * d).reshape(count, d, d)
        found.append(_products(moving, start, beta, G0, X, E))
    return found if _left_out(moving, start, scale, found[-1]) < NEGLIGIBLE else None


def _products(moving: Motion, start: Arrays, beta: np.ndarray, G0: np.ndarray, X: np.ndarray, E: np.ndarray) -> Arrays:
    """Changes of all path matrices from X, the integral of xi, and E, that of D."""
    a, speed = moving.signs, moving.speeds
    rows, inner = start["WW"] @ a, np.einsum("sab,sb->sa", start["VV"], X)
    ends = rows * (X * X).sum(axis=1)[:, None] + a * (X * inner).sum(axis=1)[:, None]
    pulled = np.einsum("sjd,sd->sj", start["WV"], X) + speed["WV"] / 2 * ends  # the integral of WV xi
    outer = X[:, :, None] * (G0 + speed["WV"] / 2 * beta * X)[:, None, :]  # of xi G'
    KQ = start["KQ"]
    keys, queries = E @ KQ.transpose(0, 2, 1), E.transpose(0, 2, 1) @ KQ
    found = {
        "WV": rows[:, :, None] * X[:, None, :] + a[:, None] * inner[:, None, :],
        "WW": pulled[:, :, None] * a + a[:, None] * pulled[:, None, :],
        "VV": outer + outer.transpose(0, 2, 1),
        "KQ": start["KK"] @ E + E @ start["QQ"],
        "KK": keys + keys.transpose(0, 2, 1),
        "QQ": queries + queries.transpose(0, 2, 1),
    }
    return {leaf: speed[leaf] * table for leaf, table in found.items()}


def _left_out(moving: Motion, start: Arrays, scale: Scales, end: Arrays) -> float:
    """Largest relative size of what the quadratures leave out: the motion of beta, values, scores, keys and queries."""
    size = {leaf: float(np.abs(table).max()) for leaf, table in end.items()}
    share = scale.m1 * scale.k0 / scale.B  # of the values in the rate of G
    off = float(np.abs(start["KQ"]).max())
    return max(
        size["WW"] * scale.m1**2 / scale.B,
        share * (1 + size["VV"] / scale.k0),
        size["KQ"] / off,
        (size["KK"] + size["QQ"]) / scale.k0,
        (off + size["KQ"]) * moving.root,
    )


def _courses(
    flow: Flow,
    scale: Scales,
    taus: Sequence[float],
    a: np.ndarray,
    moving: Motion,
    start: Arrays,
    changes: list[Arrays],
) -> list[Sampled]:
    count, segments = len(start["WV"]), {s.leaf: s.index for s in flow.layout.segments}
    dimension = flow.system.dimension
    speeds = np.zeros((count, len(taus), dimension))
    xi, D = [], []
    for k, change in enumerate(changes):
        x = {leaf: start[leaf] + change[leaf] for leaf in LEAVES}
        rates = moving.rates(x)
        for leaf, index in segments.items():
            speeds[:, k, index] = rates[leaf] / scale.B
        pulls = moving.forces(x)
        xi.append(pulls[0])
        D.append(pulls[1])
    every_xi, every_D = np.array(xi), np.array(D)
    along = {leaf: np.array([change[leaf] for change in changes]) for leaf in LEAVES}
    return [
        Sampled(
            flow,
            scale,
            np.array(taus),
            np.empty((len(taus), 0)),
            a,
            speeds[s],
            (every_xi[:, s], every_D[:, s]),
            {leaf: table[:, s] for leaf, table in along.items()},
            {leaf: table[s] for leaf, table in start.items()},
        )
        for s in range(count)
    ]


def gap_to_derived(run: Sampled) -> float:
    """Largest relative gap, path matrix by path matrix, of the rates to those of the derived field."""
    field = run.flow.system.compile({p: run.scale.parameters[p] for p in run.flow.system.parameters})
    states = np.zeros_like(run.rates)
    for segment in run.flow.layout.segments:
        states[:, segment.index] = run.tables[segment.leaf]
    derived = np.array([field(0.0, x) for x in states]) / run.scale.B
    gaps = []
    for segment in run.flow.layout.segments:
        own, known = run.rates[:, segment.index], derived[:, segment.index]
        gaps.append(float(np.abs(own - known).max() / np.abs(known).max()))
    return max(gaps)
