r"""Condition 3.1 with the ratio of every inequality; here because the paper states it in orders without constants.

All unnamed constants are 1, :math:`\mathrm{poly}(n)` is :math:`n^9`, :math:`\mathrm{poly}(1/d)` is :math:`1/d` and
:math:`\mathrm{polylog}(d)` is :math:`\log d`. With s of the order of condition 1, :math:`n s^{-1/2} = n^2 d^{-1/4}`,
which the votes need to be smaller than any power of a logarithm: 9 is the least whole power of n that gives it. Theta
is read as both inequalities with a factor `THETA` of room.
"""

from __future__ import annotations

import math

from odesys import Hypothesis, ParameterError

from ..setting import Case

THETA = 10.0
SMALL = 0.1  # what o(1) is read as
POWER = 9  # of n, in poly(n)


def _both_sides(ratio: float) -> float:
    return min(ratio, 1 / ratio)


CONDITION_3_1 = (
    Hypothesis.from_ratio(
        "1a",
        f"d >= n^{POWER}",
        r"d=\Omega(\mathrm{poly}(n))",
        lambda p: p["d"] / p["n"] ** POWER,
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "1b",
        f"s = Theta(d^(1/2) n^-2) within a factor {THETA:g}",
        r"s=\Theta(d^{1/2}n^{-2})",
        lambda p: THETA * _both_sides(p["s"] * p["n"] ** 2 / math.sqrt(p["d"])),
    ),
    Hypothesis.from_ratio(
        "2",
        "sigma_p >= d^-1/4 n^3",
        r"\sigma_p=\Omega(d^{-1/4}n^3)",
        lambda p: p["sigma_p"] * p["d"] ** 0.25 / p["n"] ** 3,
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "3a",
        "m_k >= log d",
        r"m_k=\Omega(\mathrm{polylog}\,d)",
        lambda p: p["m_k"] / math.log(p["d"]),
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "3b",
        "m_v >= log d",
        r"m_v=\Omega(\mathrm{polylog}\,d)",
        lambda p: p["m_v"] / math.log(p["d"]),
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "3c",
        f"sigma_0 <= {SMALL:g} / (sigma_p s m_k^(1/2))",
        r"\sigma_0=o(\sigma_p^{-1}s^{-1}m_k^{-1/2})",
        lambda p: SMALL / (p["sigma_p"] * p["s"] * math.sqrt(p["m_k"])) / p["sigma_0"],
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "4", "n >= m_k^4", r"n=\Omega(m_k^4)", lambda p: p["n"] / float(p["m_k"]) ** 4, asymptotic=True
    ),
    Hypothesis.from_ratio(
        "5", "eta <= 1/d", r"\eta=O(\mathrm{poly}(d^{-1}))", lambda p: 1 / (p["eta"] * p["d"]), asymptotic=True
    ),
)


def condition_point(case: Case, eta: float) -> dict[str, float]:
    """The numbers that Condition 3.1 speaks of."""
    if not 0 < eta < math.inf:
        raise ParameterError(f"eta = {eta:g} can not be used: a step size is positive")
    names = ("n", "s", "d", "m_k", "m_v", "sigma_p", "sigma_0")
    return {**{name: float(getattr(case, name)) for name in names}, "eta": eta}


def beside(case: Case, eta: float) -> dict[str, str]:
    """Condition 3.1 beside a run: which inequalities hold there, which are missed, and by what factor."""
    point, out = condition_point(case, eta), {}
    for inequality in CONDITION_3_1:
        ratio = inequality.ratio_at(point)
        out[f"{inequality.number} {inequality.name}"] = (
            f"holds, by {ratio:.3g}" if inequality.holds(point) else f"missed by a factor {1 / ratio:.3g}"
        )
    return out


def satisfying(m_k: int = 60, power: int = POWER) -> tuple[Case, float]:
    """A case with d = n^power and a step size that satisfy every inequality with constant 1 (nobody can simulate d)."""
    n = m_k**4
    while True:
        d = n**power
        if m_k >= math.log(d):
            break
        m_k *= 2
        n = m_k**4
    s = math.isqrt(d) // n**2
    sigma_p = 2 * d**-0.25 * n**3
    sigma_0 = SMALL / (2 * sigma_p * s * math.sqrt(m_k))
    return Case(n, s, d, m_k, math.ceil(math.log(d)), sigma_p, sigma_0), 1 / (2 * d)
