r"""Condition 3.1 with the ratio of every inequality; here because the paper states it in orders without constants.

All unnamed constants are 1 and :math:`\mathrm{polylog}(d)` is :math:`\log d`; `ratio` is what is there over what is
needed, so that at least 1 holds. Theta is read as both inequalities with a factor `theta` of room.
"""

from __future__ import annotations

import math

from odesys import Condition, ParameterError

from ..setting import Case

THETA = 10.0
SMALL = 0.1  # what o(1) is read as


def condition_3_1(case: Case, eta: float, power: float = 8.0) -> list[Condition]:
    """The five conditions, split into their inequalities; poly(n) is n^power and poly(1/d) is 1/d.

    The power 8 makes n s^(-1/2) small for s of the order of condition 1, which the votes need.
    """
    if not 0 < eta < math.inf:
        raise ParameterError(f"eta = {eta:g} can not be used: a step size is positive")
    n, d = float(case.n), float(case.d)
    sparsity = case.s * n**2 / math.sqrt(d)
    scale = SMALL / (case.strength * math.sqrt(case.m_k))
    return [
        Condition("1a", f"d >= n^{power:g}", d / n**power),
        Condition("1b", f"s = Theta(d^1/2 n^-2) within a factor {THETA:g}", THETA * min(sparsity, 1 / sparsity)),
        Condition("2", "sigma_p >= d^-1/4 n^3", case.sigma_p * d**0.25 / n**3),
        Condition("3a", "m_k >= log d", case.m_k / math.log(d)),
        Condition("3b", "m_v >= log d", case.m_v / math.log(d)),
        Condition("3c", f"sigma_0 <= {SMALL:g} / (sigma_p s m_k^1/2)", scale / case.sigma_0),
        Condition("4", "n >= m_k^4", n / float(case.m_k) ** 4),
        Condition("5", "eta <= 1/d", 1 / (eta * d)),
    ]


def satisfying(m_k: int = 60) -> tuple[Case, float]:
    """A case and a step size that satisfy every inequality with constant 1 (numbers no one can simulate in d)."""
    n = m_k**4
    while True:
        d = n**8
        if m_k >= math.log(d):
            break
        m_k *= 2
        n = m_k**4
    s = math.isqrt(d) // n**2
    sigma_p = 2 * d**-0.25 * n**3
    sigma_0 = SMALL / (2 * sigma_p * s * math.sqrt(m_k))
    return Case(n, s, d, m_k, math.ceil(math.log(d)), sigma_p, sigma_0), 1 / (2 * d)
