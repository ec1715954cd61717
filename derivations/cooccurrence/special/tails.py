r"""Exact tails of Gaussian start values in ball arithmetic; here because appendix D is about such tails only.

Squared norms have chi-square laws; a product of two vectors is bounded by Chernoff's inequality at an explicit point,
:math:`\Pr[\langle w_1,w_2\rangle\ge r]\le e^{-m\lambda r}(1-\lambda^2)^{-m/2}`; sums with fixed vectors are Gaussian.
Numbers are balls: what is certified holds for the numbers that are named.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import flint

from odesys import as_ball

PRECISION = 192


def log_ball(value: Any) -> flint.arb:
    """The logarithm of a rational number."""
    return as_ball(Fraction(value)).log()


def radius(m: int, u: Any) -> flint.arb:
    """Delta(u) = sqrt(4 u / m) + 4 u / m."""
    level = 4 * u / m
    return level.sqrt() + level


def norm_tail(m: int, r: Any, more: Any = 0) -> flint.arb:
    """Pr[|w|^2 >= (1 + r) / (1 + more) or |w|^2 <= 1 - r], w with m Gaussian entries of variance 1/m, exactly."""
    half = flint.arb(m) / 2
    total = (half * (1 + r) / (1 + more)).gamma_upper(half, regularized=1)
    if not r > 1:
        total += 1 - (half * (1 - r)).gamma_upper(half, regularized=1)
    return total


def product_tail(m: int, r: Any) -> flint.arb:
    """An upper bound of Pr[|<w_1, w_2>| >= r] for two such vectors: both sides, at lambda = r / (1 + r)."""
    point = r / (1 + r)
    return 2 * (-point * r * m - (1 - point**2).log() * m / 2).exp()


def gaussian_tail(t: Any) -> flint.arb:
    """Pr[|Z| >= t] of a standard Gaussian, exactly."""
    return (t / flint.arb(2).sqrt()).erfc()
