r"""Condition 4.1 with the ratio of every inequality; here because the paper states it in orders without constants.

All unnamed constants and powers of logarithms inside the tilde-orders are 1, but for the constants 1/8 in (3) and 2
in (9), and that of (7), which is what Lemma C.2 needs; L = log(6 N^2 M^2 / delta). The ratio is what is there over what
is needed, so that at least 1 holds. What (1) hides for statements about whole stages, and N >= 8 log(4/delta) of Lemma
C.1, which (3) is there for, are hypotheses of their own (`claims/common_hypotheses.py`). Drawn training sets have N =
25, where C.1 does not have its probability, and are conditioned on its event, class sizes between N/4 and 3N/4.
Failures are shown at points where the constants of (3) and (9) may be 1, and where N is at least 8 log(4/delta).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odesys import Hypothesis

from ..setting import Case

SMALL = r"\min\{\mu^{-2},(\sigma_p^2d)^{-1}\}"


def _small(p: Mapping[str, Any]) -> float:
    """min(mu^-2, (sigma_p^2 d)^-1)."""
    return float(min(p["mu"] ** -2, 1 / (p["sigma_p"] ** 2 * p["d"])))


def _log(p: Mapping[str, Any]) -> float:
    return math.log(6 * p["N"] ** 2 * p["M"] ** 2 / p["delta"])


def _signal(p: Mapping[str, Any]) -> float:
    """max(SNR^4, SNR^-4)."""
    snr = p["mu"] / (p["sigma_p"] * math.sqrt(p["d"]))
    return float(max(snr**4, snr**-4))


def _start_of_values(p: Mapping[str, Any]) -> float:
    """With the constant that Lemma C.2 needs: the tilde of (7) written out."""
    constant = p["C_p"] * math.sqrt(3 * math.log(2 * p["N"] * p["M"] / p["delta"]))
    allowed = math.sqrt(_small(p)) * p["d_h"] ** -0.25 / (p["w_O"] * constant)
    return float(allowed / p["sigma_V"]) if p["sigma_V"] else math.inf


def _start_of_scores(p: Mapping[str, Any]) -> float:
    scale = _small(p) * p["d_h"] ** -0.5
    return float(min(scale * _log(p) ** -1.5 / p["sigma_h"] ** 2, p["sigma_h"] ** 2 / (scale * _log(p) ** -2)))


def _both_sides(ratio: float) -> float:
    return min(ratio, 1 / ratio)


CONDITION_4_1 = (
    Hypothesis.from_ratio(
        "1",
        "d_h >= max(SNR^4, SNR^-4) N^2 / eps^2",
        r"d_h=\tilde\Omega(\max\{\mathrm{SNR}^4,\mathrm{SNR}^{-4}\}N^2\epsilon^{-2})",
        lambda p: p["d_h"] * p["eps"] ** 2 / (_signal(p) * p["N"] ** 2),
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "2",
        "d >= N^2 d_h / eps^2",
        r"d=\tilde\Omega(\epsilon^{-2}N^2d_h)",
        lambda p: p["d"] * p["eps"] ** 2 / (p["N"] ** 2 * p["d_h"]),
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "3",
        "N >= log(d) / 8",
        r"N=\Omega(\mathrm{polylog}\,d)",
        lambda p: 8 * p["N"] / math.log(p["d"]),
        asymptotic=True,
    ),
    Hypothesis.from_ratio("4", "M = Theta(1): M <= N", r"M=\Theta(1)", lambda p: p["N"] / p["M"]),
    Hypothesis.from_ratio(
        "5",
        "|w_O| = Theta(1): between 1/10 and 10",
        r"\|w_O\|_2=\Theta(1)",
        lambda p: 10 * _both_sides(p["w_O"]),
    ),
    Hypothesis.from_ratio(
        "6",
        "eta <= min(mu^-2, (sigma_p^2 d)^-1) d_h^-1/2",
        rf"\eta\le\tilde O({SMALL}d_h^{{-1/2}})",
        lambda p: _small(p) * p["d_h"] ** -0.5 / p["eta"],
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "7",
        "sigma_V <= |w_O|^-1 min(mu^-1, (sigma_p sqrt d)^-1) d_h^-1/4 over C_p sqrt(3 log(2NM/delta))",
        r"\sigma_V\le\tilde O(\|w_O\|^{-1}\min\{\mu^{-1},(\sigma_p\sqrt d)^{-1}\}d_h^{-1/4})",
        _start_of_values,
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "8",
        "sigma_h^2 between min(mu^-2, (sigma_p^2 d)^-1) d_h^-1/2 times L^-2 and L^-3/2",
        rf"{SMALL}d_h^{{-1/2}}L^{{-2}}\le\sigma_h^2\le{SMALL}d_h^{{-1/2}}L^{{-3/2}}",
        _start_of_scores,
    ),
    Hypothesis.from_ratio(
        "9",
        "eps <= 2 / log d",
        r"\epsilon\le O(1/\mathrm{polylog}\,d)",
        lambda p: 2 / (p["eps"] * math.log(p["d"])),
        asymptotic=True,
    ),
    Hypothesis.from_ratio(
        "10", "C_p = 5 sqrt M", r"C_p=5\sqrt M", lambda p: _both_sides(p["C_p"] / (5 * math.sqrt(p["M"])))
    ),
)


def condition_point(case: Case, eta: float, eps: float, delta: float | None = None) -> dict[str, float]:
    """The numbers that Condition 4.1 speaks of; delta is 1/d unless given."""
    names = ("N", "M", "d", "d_h", "mu", "sigma_p", "C_p", "sigma_V", "sigma_h")
    rest = {"w_O": math.sqrt(case.w2), "eta": eta, "eps": eps, "delta": 1 / case.d if delta is None else delta}
    return {**{name: float(getattr(case, name)) for name in names}, **rest}


@dataclass(frozen=True)
class Inside:
    """A choice of what Condition 4.1 leaves free; all else is put where every condition holds.

    `logs` is the power of L = log(6 N^2 M^2 / delta) by which d_h exceeds max(SNR^4, SNR^-4) N^2 / eps^2: the tilde in
    condition (1). delta = 1/d as in the theorems.
    """

    N: int = 25
    M: int = 3
    n_snr2: float = 81_000.0
    eps: float = 0.01
    logs: float = 9.0
    noise: float = 1.0
    w_O: float = 1.0
    wider: float = 1.0  # d_h over that
    power: float = 1.75  # of 1/L in sigma_h^2: (8) has 3/2 to 2

    @property
    def snr(self) -> float:
        """SNR."""
        return math.sqrt(self.n_snr2 / self.N)

    @property
    def widths(self) -> tuple[float, float, float]:
        """d_h, d, and the logarithm L they lead to."""
        L = 100.0
        for _ in range(50):
            d_h = self.wider * max(self.snr**4, self.snr**-4) * self.N**2 / self.eps**2 * L**self.logs
            d = self.N**2 * d_h / self.eps**2
            L = math.log(6 * self.N**2 * self.M**2 * d)
        return float(math.ceil(d_h)), float(math.ceil(d)), L

    @property
    def small(self) -> float:
        """min(mu^-2, (sigma_p^2 d)^-1)."""
        return min(self.snr**-2, 1.0) / self.noise

    @property
    def case(self) -> Case:
        """The case; V(0) is as small as Lemma C.2 needs it."""
        d_h, d, L = self.widths
        C_p = 5 * math.sqrt(self.M)
        spread = math.sqrt(self.small) * d_h**-0.25 / (self.w_O * C_p * math.sqrt(3 * L))
        kappa = self.small * math.sqrt(d_h) * L**-self.power
        mu = self.snr * math.sqrt(self.noise)
        return Case(self.N, self.M, int(d), int(d_h), mu, self.noise, C_p, self.w_O**2, kappa, spread)

    @property
    def point(self) -> dict[str, float]:
        """The numbers that Condition 4.1 speaks of, with N SNR^2 and L."""
        d_h, d, L = self.widths
        point = condition_point(self.case, self.small / math.sqrt(d_h), self.eps, 1 / d)
        return {
            **point,
            "n_snr2": self.n_snr2,
            "L": L,
            "share": math.ceil(self.N / 4) / self.N,  # the least that `wide_flow.draw` allows
        }


def case_of(point: Mapping[str, Any]) -> Case:
    """The case of such a point."""
    p = {name: float(value) for name, value in point.items()}
    return Case(
        int(p["N"]),
        int(p["M"]),
        int(p["d"]),
        int(p["d_h"]),
        p["mu"],
        p["sigma_p"] ** 2 * p["d"],
        p["C_p"],
        p["w_O"] ** 2,
        p["sigma_h"] ** 2 * p["d_h"],
        p["sigma_V"],
    )
