r"""Flip and attention times with fitted powers; here because the paper states its times as powers of the sizes.

.. math::  T_f \propto m_k^{-1/2}, \qquad T_{\mathrm{attn}} \propto (\sigma_p s)^{-1/2} .
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from odesys import PowerLaw, fit_power_law

from ..setting import Case
from . import recursion, stages

LEVEL = 0.1  # attention of the signal on itself below which it counts as lost
KAPPA = 1e-3  # sigma_0 sigma_p s sqrt(m_k): small, so that start values do not matter at the flip


@dataclass(frozen=True)
class Law:
    """Measured times (theta) over a size, one row per (size, seed), and the fitted exponent with its interval."""

    sizes: tuple[float, ...]
    times: tuple[float, ...]
    seeds: int

    @property
    def exponent(self) -> PowerLaw:
        """Fitted power of the size."""
        return fit_power_law(self.sizes, self.times)


def sparse_case(n: int, m_k: int, strength: float) -> Case:
    """A case with sigma_p = 1, s = sigma_p s, disjoint supports and kappa = 1e-3."""
    s = round(strength)
    return Case(n=n, s=s, d=n * s + 1, m_k=m_k, m_v=1000, sigma_p=1.0, sigma_0=KAPPA / (s * math.sqrt(m_k)))


def flip_law(widths: Sequence[int] = (16, 32, 64, 128), strength: float = 1e5, n: int = 15, seeds: int = 2) -> Law:
    """The key flip (peak of unaligned keys) over m_k."""
    sizes, times = list[float](), list[float]()
    for m_k in widths:
        case = sparse_case(n, m_k, strength)
        for seed in range(seeds):
            start = recursion.draw(case, (seed, m_k))
            run = recursion.geometric(start, 1.6 * case.flip_time(), records=3000)
            sizes.append(float(m_k))
            times.append(stages.flips(run, stages.REFERENCE * case.flip_time()).key_flip)
    return Law(tuple(sizes), tuple(times), seeds)


def attention_law(strengths: Sequence[float] = (1e4, 1e5, 1e6, 1e7), m_k: int = 32, n: int = 15, seeds: int = 2) -> Law:
    """First theta with s_11 < 0.1 for all samples, over sigma_p s."""
    sizes, times = list[float](), list[float]()
    for strength in strengths:
        case = sparse_case(n, m_k, strength)
        for seed in range(seeds):
            start = recursion.draw(case, (seed, round(strength)))
            guess = math.sqrt(2 * math.log(1 / LEVEL) / (case.Lambda * m_k)) / case.mu
            run = recursion.geometric(start, 3 * guess, records=2000)
            sizes.append(strength)
            times.append(stages.first_time(run, (run.s11.max(axis=1) < LEVEL)))
    return Law(tuple(sizes), tuple(times), seeds)


def infinite_fractions(
    l1: np.ndarray, l2: np.ndarray, mu: float = 1.0, count: int = 200_000, seed: int = 0
) -> np.ndarray:
    r"""For every sample the aligned fraction of infinitely many neurons, given the norms of the noise: Monte Carlo.

    The outcome of a pair is :math:`\epsilon_i = \operatorname{sgn}(q_i + k_i + q_\mu - k_\mu)` at the start, the vote
    :math:`\operatorname{sgn}\sum_i \epsilon_i\|\xi_i\|_1^2`: the driver of the query signal is a sum of
    :math:`g_i a_i w_i B_i` with :math:`w_i` and :math:`B_i` both proportional to the norm. Norms decide what would be a
    tie.
    """
    rng = np.random.default_rng(seed)
    size, rounds = 20_000, math.ceil(count / 20_000)
    right = np.zeros(len(l1))
    for _ in range(rounds):
        pairs = np.sqrt(2) * l2 * rng.standard_normal((size, len(l1)))
        signs = np.sign(pairs + np.sqrt(2) * mu * rng.standard_normal((size, 1)))
        vote = np.sign(signs @ np.asarray(l1) ** 2)
        right += (signs == vote[:, None]).sum(axis=0)
    return np.asarray(right / (size * rounds))
