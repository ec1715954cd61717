r"""Random networks of infinite width by their sums; here because n and L are swept beyond what path matrices allow.

For :math:`m\to\infty` attention stays uniform and :math:`\beta` still, and the words of a sample move alike: what is
left is G on the three special words and one sum :math:`H_i` over the irrelevant words of each sample,

.. math::  G_k' = \frac1n\sum_{i\ni k}y_ig_i,\qquad H_i' = \frac{L-k_i}n\,y_ig_i,\qquad F_i=\sum_{k\in i}G_k+H_i ,

from Gaussian starts of variance :math:`c_0^2/L` and :math:`c_0^2(L-k_i)/L`. Rates of scores and values between the
special words are those of leading order in 1/m, and so is the gain of beta, :math:`\dot\beta=2m_1\xi^\top G` with
:math:`\dot G=\beta\xi`. Labels and weights are those of a laboratory; the runs are compared with path matrices at one
size. Time is :math:`\log(1+\tau)` for the solver, so that :math:`\tau=m^2` is near. Floats only: measurements.

Three facts of this flow give constants. Two samples of a class differ by :math:`H_i-H_j`, whose rate has the
opposite sign: :math:`|F_i-F_j|` never grows. A sample of I2 and one of I3 that are paired differ by e, and
:math:`|e_i'|\le\tfrac1n\sum_{I_2}\tfrac14|e_j|` where e_i is largest in size, so that the largest grows by
:math:`e^{\tau/24}` at most. With :math:`D=G_1-G_2`, :math:`h_i=H_i-H_j` and slopes :math:`c_i\ge0`,

.. math::  D'=-\frac1n\sum_{I_2}c_i(D+h_i),\qquad h_i'=-\frac{L-2}n\,c_i(D+h_i) ,

so that the largest of :math:`|D|,|h_i|` never grows (`mirror`): where one is the largest in size, its rate has the
opposite sign. It bounds :math:`|G_1-G_2|` and half of :math:`|\log S_2/S_3|` for all times, whatever n and L.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from odesys import IntegrationError, computed_once

from .. import setting
from ..laboratory import Laboratory
from ..setting import CLASSES, SPECIAL, Scales

RTOL = 1e-9
SAMPLED = 1e-8  # of networks with random starts, whose smallest differences are 1e-5
LONG = 1e-7  # of runs up to poly(m): relative errors of logarithms
STRAIGHT = 10.0  # from here on values are linear in log(1 + tau) but for what decays, whose rate is 20 to 40


@dataclass(frozen=True, eq=False)
class Sums:
    """One network at the times `taus`: G on mu1, mu2, mu3 (k, 3) and sums over irrelevant words (k, n)."""

    taus: np.ndarray
    special: np.ndarray
    rest: np.ndarray
    has: np.ndarray  # (n, 3): which special words a sample has
    labels: np.ndarray
    weights: np.ndarray
    classes: dict[int, np.ndarray]
    L: int
    scale: Scales
    own: float = 1.0  # weight of a sample of its own: 6/n where six stand for n alike, 0 for n to infinity

    def kept(self, keep: slice) -> Sums:
        """The same run at some of its times."""
        return replace(self, taus=self.taus[keep], special=self.special[keep], rest=self.rest[keep])

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.labels)

    @cached_property
    def outputs(self) -> np.ndarray:
        """F_i, (k, n)."""
        return np.asarray(self.special @ self.has.T + self.rest)

    @cached_property
    def margins(self) -> np.ndarray:
        """y_i F_i, (k, n)."""
        return np.asarray(self.labels * self.outputs)

    @cached_property
    def g(self) -> np.ndarray:
        """g(y_i F_i), (k, n)."""
        return np.asarray(expit(-self.margins))

    @cached_property
    def loss(self) -> np.ndarray:
        """The training loss, (k,)."""
        return np.asarray(np.logaddexp(0, -self.margins) @ self.weights)

    @cached_property
    def S(self) -> dict[int, np.ndarray]:
        """Class sums of g."""
        return {c: self.g[:, places].sum(axis=1) for c, places in self.classes.items()}

    @cached_property
    def pull(self) -> np.ndarray:
        """g_i y_i over n, (k, n)."""
        return np.asarray(self.g * self.labels * self.weights)

    @property
    def alone(self) -> np.ndarray:
        """What one sample adds to the sums over samples, (k, n): zero in the limit n to infinity."""
        return self.own * self.pull

    @cached_property
    def G(self) -> np.ndarray:
        """G of mu1, mu2, mu3 and the mean of G over the irrelevant words of each sample, (k, 3 + n)."""
        return np.hstack([self.special, self.rest / (self.L - self.has.sum(axis=1))])

    @cached_property
    def G_rate(self) -> np.ndarray:
        """Rates of G per unit of tau."""
        return np.hstack([self.pull @ self.has, self.pull])

    @cached_property
    def squares(self) -> np.ndarray:
        """Sum of G(mu)^2 over all words less its start, (k,): the words of a sample have moved alike."""
        free = self.L - self.has.sum(axis=1)
        moved = (self.rest - self.rest[0]) / free
        rest = 2 * moved * self.rest[0] + free * moved**2
        return np.asarray((self.special**2 - self.special[0] ** 2).sum(axis=1) + rest.sum(axis=1))

    @property
    def beta(self) -> np.ndarray:
        """sigma_1^2 m m_1 and what it has gained, (k,)."""
        return np.asarray(self.scale.B + self.scale.m1 * self.squares / self.scale.B)

    @cached_property
    def forces(self) -> np.ndarray:
        """sum of g y (G(key) - F/L)/n over the samples with both words, key and query, (k, 3, 3)."""
        total = np.zeros((len(self.taus), 3, 3))
        for places in self.classes.values():
            h, pull = self.has[places[0]], self.pull[:, places]
            whole, mean = pull.sum(axis=1), (pull * self.outputs[:, places]).sum(axis=1) / self.L
            total += (self.special * whole[:, None] - mean[:, None])[:, :, None] * np.outer(h, h)
        return total

    def R(self) -> np.ndarray:
        """-dG(mu3) / max(dG(mu1), dG(mu2))."""
        return np.asarray(-self.G_rate[:, 2] / self.G_rate[:, :2].max(axis=1))

    def rate(self, leaf: str) -> np.ndarray:
        """Rates of scores (KQ) or values (VV) between the special words at leading order, (k, 3, 3)."""
        G, xi, s = self.special, self.pull @ self.has, self.scale
        if leaf == "VV":
            outer = xi[:, :, None] * G[:, None, :]
            return np.asarray((outer + outer.transpose(0, 2, 1)) / s.B)
        if leaf != "KQ":
            raise IntegrationError(f"a network of infinite width has no rate of {leaf}")
        return np.asarray(2 * s.k0 * self.forces / (s.B * self.L * np.sqrt(s.m)))


def _frame(lab: Laboratory, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, dict[int, np.ndarray]]:
    """Which special words samples have, their labels and weights, and the classes, for a laboratory."""
    small = lab.data(6, 4)
    rows, labels, weights, classes, first = [], [], [], {}, 0
    for c, size in setting.class_sizes(n).items():
        samples = [s for s in small.samples if setting.class_of(s) == c]
        rows += [[float(w in SPECIAL[c]) for w in ("mu1", "mu2", "mu3")]] * size
        labels += [float(samples[0].label)] * size
        weights += [sum(float(s.weight) for s in samples) / size] * size
        classes[c] = np.arange(first, first + size)
        first += size
    return np.array(rows), np.array(labels), np.array(weights), classes


def run_sums(
    lab: Laboratory,
    n: int,
    L: int,
    scale: Scales,
    starts: np.ndarray,
    taus: tuple[float, ...],
    own: float = 1.0,
    rtol: float = RTOL,
) -> list[Sums]:
    """Runs from `starts` (seeds, 3 + n), all together, at `taus`; a sample counts `own` times for its own words."""
    has, labels, weights, classes = _frame(lab, n)
    free = own * (L - has.sum(axis=1))
    count = len(starts)

    signed, pulls = -labels, labels * weights

    def velocity(s: float, flat: np.ndarray) -> np.ndarray:
        x, rates = flat.reshape(count, 3 + n), np.empty((count, 3 + n))
        pull = x[:, :3] @ has.T
        pull += x[:, 3:]
        pull *= signed
        expit(pull, out=pull)
        pull *= pulls * np.exp(s)
        np.matmul(pull, has, out=rates[:, :3])
        np.multiply(pull, free, out=rates[:, 3:])
        return rates.ravel()

    times, logs = np.array(taus), np.log1p(taus)
    # where stability alone limits the steps a method of low order needs the fewest evaluations
    middle = min(STRAIGHT, logs[-1]) if rtol >= LONG else logs[-1]
    rows: list[np.ndarray] = []
    last = starts.ravel()
    for method, begin, end in (("DOP853", 0.0, middle), ("RK23", middle, logs[-1])):
        if begin < end:
            at = [*logs[(begin <= logs) & (logs < end)], end]
            run = solve_ivp(velocity, (begin, end), last, method, at, rtol=rtol, atol=1e-2 * rtol)
            if not run.success or not np.isfinite(run.y).all():
                raise IntegrationError(f"the networks do not reach tau = {taus[-1]}: {run.message}")
            rows, last = [*rows, *run.y.T[:-1]], run.y[:, -1]
    rows.append(last)
    x = np.array(rows).reshape(len(taus), count, 3 + n)
    return [Sums(times, x[:, s, :3], x[:, s, 3:], has, labels, weights, classes, L, scale, own) for s in range(count)]


@computed_once
def limit_sums(lab: Laboratory, L: int, scale: Scales, taus: tuple[float, ...], n: float = np.inf) -> Sums:
    """From zero at any n, or n to infinity: six samples are the shares of the classes, each stands for n/6 alike."""
    return run_sums(lab, 6, L, scale, np.zeros((1, 9)), taus, own=6 / n)[0]


@computed_once
def sampled_sums(
    lab: Laboratory, n: int, L: int, scale: Scales, seeds: tuple[int, ...], taus: tuple[float, ...]
) -> list[Sums]:
    """Networks of infinite width with random starts."""
    assert lab.draw is not None  # seeds are those of a draw: the networks are given up with it
    has = np.array([[float(w in SPECIAL[c]) for w in ("mu1", "mu2", "mu3")] for c in CLASSES])
    free = np.repeat(L - has.sum(axis=1), [setting.class_sizes(n)[c] for c in CLASSES])
    deviation = scale.sigma0 * scale.sigma1 * np.sqrt(float(scale.m) * scale.m1) * np.sqrt([1.0, 1.0, 1.0, *free])
    starts = [np.random.default_rng(seed).standard_normal(3 + n) * deviation for seed in seeds]
    return run_sums(lab, n, L, scale, np.array(starts), taus, rtol=SAMPLED if taus[-1] < 1e9 else LONG)


def irrelevant_sums(run: Any) -> np.ndarray:
    """Sums of G over the irrelevant words of each sample, (k, n)."""
    if isinstance(run, Sums):
        return run.rest
    return np.asarray(np.where(run.tokens >= 3, run.G[:, run.tokens], 0.0).sum(axis=2))


def mirror(run: Any) -> np.ndarray:
    """The largest of |G_1 - G_2| and |H_i - H_j| over pairs of I_2 and I_3, (k,): how far mu1 and mu2 are apart."""
    rest = irrelevant_sums(run)
    pairs = np.abs(rest[:, run.classes[2]] - rest[:, run.classes[3]]).max(axis=1)
    return np.maximum(np.abs(run.G[:, 0] - run.G[:, 1]), pairs)


def sums_of(lab: Laboratory, run: Any) -> Sums:
    """The network of infinite width that starts from the sub-network values of a course."""
    start = np.concatenate([run.G[0, :3], irrelevant_sums(run)[0]])[None]
    return run_sums(lab, run.n, run.L, run.scale, start, tuple(run.taus.tolist()))[0]
