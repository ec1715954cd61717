r"""The network in weight space, gradients by hand; here because changes of order 1/m must keep their digits.

Nothing derived is used: the four weight gradients of appendix B move :math:`W, W_V, W_K, W_Q`,

.. math::  \dot W = a\,\xi^\top W_V^\top,\quad \dot W_V = W^\top a\,\xi^\top,\quad \dot W_K = W_Q\mathcal D^\top,\quad
           \dot W_Q = W_K\mathcal D ,

on the data of Assumption 2.3, and path values and their rates are formed from the weights. What is integrated is the
change since the start, so that small changes keep their digits; and the weights are written in an orthonormal frame of
the space they span, which no inner product notices. Floats only: measurements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from odesys import IntegrationError

from .. import dynamics, setting
from ..laboratory import Laboratory
from ..setting import Scales
from .ensembles import signs_of, start_weights
from .trajectories import Course, network, random_signs

Weights = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # W (m1, m), W_V, W_K, W_Q (m, d)
Named = dict[str, float]
RTOL = 1e-11


@dataclass(frozen=True, eq=False)
class Trained(Course):
    """A course whose states and rates come from weights; `speeds` are the rates per unit of tau."""

    speeds: np.ndarray = None  # type: ignore[assignment]
    pulls: tuple[np.ndarray, np.ndarray] = None  # type: ignore[assignment]
    changes: dict[str, np.ndarray] = None  # type: ignore[assignment]

    def moved(self, leaf: str) -> np.ndarray:
        """Largest change of an entry since the start, (k,), from the changes of the weights."""
        return np.abs(self.changes[leaf]).max(axis=(1, 2))

    @cached_property
    def rates(self) -> np.ndarray:
        """The rates of the path values by the product rule, (k, states)."""
        return self.speeds

    @cached_property
    def forces(self) -> tuple[np.ndarray, np.ndarray]:
        """xi (k, d) and D (k, d, d) of appendix B."""
        return self.pulls


@dataclass(frozen=True, eq=False)
class Gradients:
    """Appendix B on one training set: samples (n, L), labels (n,), signs a (m1,), and the width m under the root."""

    tokens: np.ndarray
    labels: np.ndarray
    signs: np.ndarray
    m: float

    def forces(self, weights: Weights) -> tuple[np.ndarray, np.ndarray]:
        """xi = -dL/dG and D = -dL/d(W_K' W_Q), summed over samples and positions."""
        W, V, K, Q = weights
        tokens, d = self.tokens, V.shape[1]
        G, score = (self.signs @ W) @ V, K.T @ Q
        p = np.exp(score[tokens[:, None, :], tokens[:, :, None]] / np.sqrt(self.m))  # sample, query, key
        p /= p.sum(axis=-1, keepdims=True)
        mixed = np.einsum("nlh,nh->nl", p, G[tokens])
        pull = expit(-self.labels * mixed.sum(axis=1)) * self.labels / len(tokens)
        xi = np.bincount(tokens.ravel(), (pull[:, None] * p.sum(axis=1)).ravel(), d)
        entry = pull[:, None, None] * p * (G[tokens][:, None, :] - mixed[:, :, None])
        places = tokens[:, None, :] * d + tokens[:, :, None]
        return xi, np.bincount(places.ravel(), entry.ravel(), d * d).reshape(d, d) / np.sqrt(self.m)

    def speeds(self, weights: Weights) -> Weights:
        """The four rates of appendix B."""
        W, V, K, Q = weights
        xi, D = self.forces(weights)
        return np.outer(self.signs, V @ xi), np.outer(self.signs @ W, xi), Q @ D.T, K @ D


def train(gradients: Gradients, start: Weights, times: Sequence[float], rtol: float = RTOL) -> list[Weights]:
    """Weights at the given times, the first of which is 0, along gradient flow."""
    return [_sum(start, change) for change in changes_along(gradients, start, times, rtol)]


def _sum(start: Weights, change: Weights) -> Weights:
    W, V, K, Q = (w + part for w, part in zip(start, change, strict=True))
    return W, V, K, Q


def changes_along(gradients: Gradients, start: Weights, times: Sequence[float], rtol: float = RTOL) -> list[Weights]:
    """How much the weights have changed at the given times, the first of which is 0, along gradient flow."""
    shapes = [w.shape for w in start]
    cuts = np.cumsum([w.size for w in start])[:-1]

    def parts(change: np.ndarray) -> Weights:
        W, V, K, Q = (part.reshape(shape) for part, shape in zip(np.split(change, cuts), shapes, strict=True))
        return W, V, K, Q

    def velocity(t: float, change: np.ndarray) -> np.ndarray:
        return np.concatenate([s.ravel() for s in gradients.speeds(_sum(start, parts(change)))])

    if len(times) == 1:
        return [parts(np.zeros(sum(w.size for w in start)))]
    first = velocity(0.0, np.zeros(sum(w.size for w in start)))
    # every block is followed relative to its own motion: keys and queries move by orders of 1/m less than values
    sizes = [float(np.abs(part).max()) * times[-1] for part in np.split(first, cuts)]
    still = 1e-3 * times[-1] * float(np.abs(start[2]).max()) / np.sqrt(gradients.m)  # where G vanishes at the start
    sizes[2:] = [max(size, still) for size in sizes[2:]]
    atol = np.concatenate([np.full(w.size, 1e-2 * rtol * size) for w, size in zip(start, sizes, strict=True)])
    run = solve_ivp(velocity, (0.0, times[-1]), np.zeros(first.size), "DOP853", times, rtol=rtol, atol=atol)
    if not run.success:
        raise IntegrationError(f"the network's flow does not reach {times[-1]}: {run.message}")
    return [parts(change) for change in run.y.T]


def compressed(weights: Weights) -> Weights:
    """The same inner products in as few dimensions as the weights span: an isometry of the hidden spaces."""
    W, V, K, Q = weights
    values, scores = np.linalg.qr(np.hstack([V, W.T]))[1], np.linalg.qr(np.hstack([K, Q]))[1]
    d = V.shape[1]
    return values[:, d:].T, values[:, :d], scores[:, :d], scores[:, d:]


def _course(
    n: int,
    L: int,
    scale: Scales,
    start: Weights,
    signs: np.ndarray,
    taus: Sequence[float],
    by_neuron: bool,
    rtol: float = RTOL,
) -> Trained:
    """Train from `start` and form the path values of level 1, or of level 0."""
    lab, d = Laboratory(), setting.words_needed(n, L)
    flow = lab.flow_of(setting.data(n, L), d, tuple(int(a) for a in signs)) if by_neuron else lab.names(n, L)
    data = setting.data(n, L)
    labels = np.array([float(sample.label) for sample in data.samples])
    gradients = Gradients(setting.word_numbers(data), labels, signs.astype(float), float(scale.m))
    states: list[np.ndarray] = []
    speeds: list[np.ndarray] = []
    xi, D = [], []
    small, changes = compressed(start), []
    for change in changes_along(gradients, small, [tau / scale.B for tau in taus], rtol):
        weights = _sum(small, change)
        (W, V, K, Q), (dW, dV, dK, dQ) = weights, gradients.speeds(weights)
        b, db = (w if by_neuron else (signs @ w)[None] for w in (W, dW))
        changes.append(_moved(small, change, None if by_neuron else signs))
        values = {"VV": V.T @ V, "KQ": K.T @ Q, "KK": K.T @ K, "QQ": Q.T @ Q, "WW": b @ b.T, "WV": b @ V}
        moves = {
            "VV": _both(dV.T @ V),
            "KQ": dK.T @ Q + K.T @ dQ,
            "KK": _both(dK.T @ K),
            "QQ": _both(dQ.T @ Q),
            "WW": _both(db @ b.T),
            "WV": db @ V + b @ dV,
        }
        for rows, tables in ((states, values), (speeds, moves)):
            row = np.empty(flow.system.dimension)
            for segment in flow.layout.segments:
                row[segment.index] = tables[{"aWWa": "WW", "aWV": "WV"}.get(segment.leaf, segment.leaf)]
            rows.append(row)
        forces = gradients.forces(weights)
        xi.append(forces[0])
        D.append(forces[1])
    return Trained(
        flow,
        scale,
        np.array(taus),
        np.array(states),
        signs if by_neuron else None,
        np.array(speeds) / scale.B,
        (np.array(xi), np.array(D)),
        {leaf: np.array([row[leaf] for row in changes]) for leaf in changes[0]},
    )


def _moved(start: Weights, change: Weights, signs: np.ndarray | None) -> dict[str, np.ndarray]:
    """Changes of the path matrices from those of the weights: (x + dx)'(y + dy) - x'y without cancellation."""
    (W, V, K, Q), (dW, dV, dK, dQ) = start, change
    b, db = (W, dW) if signs is None else ((signs @ W)[None], (signs @ dW)[None])

    def product(x: np.ndarray, dx: np.ndarray, y: np.ndarray, dy: np.ndarray) -> np.ndarray:
        return x.T @ dy + dx.T @ (y + dy)

    found = {"VV": product(V, dV, V, dV), "KQ": product(K, dK, Q, dQ), "KK": product(K, dK, K, dK)}
    found |= {"QQ": product(Q, dQ, Q, dQ), "WW": product(b.T, db.T, b.T, db.T), "WV": product(b.T, db.T, V, dV)}
    return found | {"aWWa": found["WW"], "aWV": found["WV"]}


def _both(half: np.ndarray) -> np.ndarray:
    return half + half.T


@cache
def trained(n: int, L: int, scale: Scales, seed: int, taus: tuple[float, ...], by_neuron: bool = False) -> Trained:
    """The network of `course` (or, neuron by neuron, of `neuron_course`), trained in weight space."""
    lab = Laboratory()
    if by_neuron:
        signs = random_signs(scale, seed)
        flow = lab.flow_of(setting.data(n, L), setting.words_needed(n, L), tuple(int(a) for a in signs))
    else:
        flow = lab.names(n, L)
    net = network(flow, scale, [seed, scale.m])
    if not by_neuron:
        signs = net.words["a"][:, 0]
    images = net.images()
    start = net.weights["W"], images["W_V"], images["W_K"], images["W_Q"]
    return _course(n, L, scale, start, signs, taus, by_neuron)


@lru_cache(maxsize=4)
def trained_sample(n: int, L: int, scale: Scales, seed: int, taus: tuple[float, ...]) -> Trained:
    """A network of `ensemble`, trained in weight space."""
    start = start_weights(scale, setting.words_needed(n, L), seed)
    return _course(n, L, scale, start, signs_of(scale.m1), taus, True, 1e-10)


@cache
def trained_mean_field(n: int, L: int, scale: Scales, taus: tuple[float, ...]) -> Trained:
    """A network whose start has exactly the path values of infinite width: orthogonal words, neurons all alike."""
    d, a = setting.words_needed(n, L), np.ones(scale.m1)
    none, unit = np.zeros((d, d)), np.sqrt(scale.k0) * np.eye(d)
    W = np.outer(a, np.sqrt(scale.B) / scale.m1 * np.eye(d + 1)[d])
    start = W, np.vstack([unit, none[:1]]), np.vstack([unit, none]), np.vstack([none, unit])
    return _course(n, L, scale, start, a, taus, False)


@cache
def trained_orbits(n: int, L: int, scale: Scales, taus: tuple[float, ...]) -> tuple[list[Named], list[Named]]:
    """Level-2 states by name, without dimensions, and their rates per unit of tau, of the network just above."""
    run, quotient = trained_mean_field(n, L, scale, taus), Laboratory().symmetric(n, L)
    unit = {"beta": scale.B, "G": 1.0, "A": np.sqrt(scale.m)}
    units = np.array([unit.get(dynamics.letter(quotient.system, name), scale.k0) for name in quotient.system.names])
    rows = [
        [dict(zip(quotient.system.names, (quotient.project(x) / units).tolist(), strict=True)) for x in table]
        for table in (run.states, run.rates)
    ]
    return rows[0], rows[1]


# ---- the limits: logistic regression on bags of words ------------------------------------------------------------


def regression(
    features: np.ndarray,
    labels: np.ndarray,
    shares: np.ndarray,
    start: Sequence[float],
    taus: Sequence[float],
    rtol: float = 1e-11,
) -> np.ndarray:
    """Gradient flow of a logistic regression: weights (k, d) at the times `taus`; samples count with their shares."""
    signed = labels[:, None] * features

    def velocity(t: float, w: np.ndarray) -> np.ndarray:
        return (shares * expit(-signed @ w)) @ signed

    if not np.isfinite(start).all():
        raise IntegrationError(f"a regression can not start from {list(start)}")
    run = solve_ivp(
        velocity, (0.0, max(taus)), np.array(start, dtype=float), "LSODA", rtol=rtol, atol=1e-13, dense_output=True
    )
    if not run.success:
        raise IntegrationError(f"the regression does not reach {max(taus)}: {run.message}")
    return np.array([run.sol(tau) for tau in taus])


def word_classes(n: float = np.inf, L: int = 5) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features, labels and shares of the four classes of Definition 2.1: mu1, mu2, mu3 and, scaled, irrelevant words.

    The L - k irrelevant words of a sample move alike, so sqrt((L - k) / size of the class) times one weight for each
    class stands for all of them; without n they do not move.
    """
    rows, labels = [], []
    for c, special in setting.SPECIAL.items():
        row = [float(word in special) for word in ("mu1", "mu2", "mu3")]
        fill = [
            np.sqrt((L - len(special)) / (float(setting.PROBABILITY[k]) * n)) if k == c else 0.0
            for k in setting.CLASSES
        ]
        rows.append(row + (fill if np.isfinite(n) else []))
        labels.append(float(setting.LABEL[c]))
    return np.array(rows), np.array(labels), np.array([float(setting.PROBABILITY[c]) for c in setting.CLASSES])


@cache
def word_weights(
    start: tuple[float, float, float], taus: tuple[float, ...], n: float = np.inf, L: int = 5
) -> np.ndarray:
    """G(mu1), G(mu2), G(mu3) of the regression on bags of words, (k, 3); with `n` also G of irrelevant words by class.

    It starts from `start` and from zero on irrelevant words.
    """
    features, labels, shares = word_classes(n, L)
    extra = [0.0] * (features.shape[1] - 3)
    found = regression(features, labels, shares, [*start, *extra], taus)
    if np.isfinite(n):
        words = [float(setting.PROBABILITY[c]) * n * (L - len(setting.SPECIAL[c])) for c in setting.CLASSES]
        found[:, 3:] /= np.sqrt(words)
    return found
