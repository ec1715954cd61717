r"""Condition 4.1 with the ratio of every inequality; here because the paper states it in orders without constants.

All unnamed constants and powers of logarithms inside the tilde-orders are 1; L = log(6 N^2 M^2 / delta). The ratio is
what is there over what is needed, so that at least 1 holds.
"""

from __future__ import annotations

import math
from typing import Any

from odesys import Condition

from ..setting import Case


def condition_4_1(case: Case, eta: float, eps: float, delta: float | None = None) -> list[Condition]:
    """The conditions of a case; delta is 1/d unless given."""
    delta = 1 / case.d if delta is None else delta
    snr, log = case.snr, math.log(6 * case.N**2 * case.M**2 / delta)
    small = min(1 / case.m_s, 1 / case.noise)
    sigma_v = math.sqrt(small) * case.d_h**-0.25 / math.sqrt(case.w2)
    high, low = small * case.d_h**-0.5 * log**-1.5, small * case.d_h**-0.5 * log**-2
    exact = 5 * math.sqrt(case.M)
    norm = math.sqrt(case.w2)
    return [
        Condition(1, "d_h >= max(SNR^4, SNR^-4) N^2 / eps^2", case.d_h * eps**2 / (max(snr**4, snr**-4) * case.N**2)),
        Condition(2, "d >= N^2 d_h / eps^2", case.d * eps**2 / (case.N**2 * case.d_h)),
        Condition(3, "N >= log d", case.N / math.log(case.d)),
        Condition(4, "M = Theta(1): M <= N", case.N / case.M),
        Condition(5, "|w_O| = Theta(1): between 1/10 and 10", min(10 * norm, 10 / norm)),
        Condition(6, "eta <= min(mu^-2, (sigma_p^2 d)^-1) d_h^-1/2", small * case.d_h**-0.5 / eta),
        Condition(
            7,
            "sigma_V <= |w_O|^-1 min(mu^-1, (sigma_p sqrt d)^-1) d_h^-1/4",
            sigma_v / case.sigma_V if case.sigma_V else math.inf,
        ),
        Condition(
            8,
            "sigma_h^2 between min(mu^-2, (sigma_p^2 d)^-1) d_h^-1/2 times L^-2 and L^-3/2",
            min(high / case.sigma_h**2, case.sigma_h**2 / low),
        ),
        Condition(9, "eps <= 1 / log d", 1 / (eps * math.log(case.d))),
        Condition(10, "C_p = 5 sqrt M", min(case.C_p / exact, exact / case.C_p)),
    ]


def satisfying(N: int = 80, M: int = 3, snr: float = 1.0, eps: float = 0.01) -> dict[str, Any]:
    """Arguments of `condition_4_1` that satisfy every condition with constant 1 (sigma_p^2 d = 1, delta = 1/d)."""
    d_h = math.ceil(max(snr**4, snr**-4) * N**2 / eps**2)
    d = math.ceil(N**2 * d_h / eps**2)
    log = math.log(6 * N**2 * M**2 * d)
    small = min(1 / snr**2, 1.0)
    kappa = small * math.sqrt(d_h) * log**-1.75
    case = Case(N, M, d, d_h, snr, 1.0, 5 * math.sqrt(M), 1.0, kappa, math.sqrt(small) * d_h**-0.25)
    return {"case": case, "eta": small / math.sqrt(d_h), "eps": eps, "delta": 1 / d}
