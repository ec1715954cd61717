r"""Setting of the paper: data of Definition 2.1, the sizes and scales of a run, and the published settings.

A sample with label y has the patches :math:`y\mu` with :math:`\mu = \|\mu\| e_1` and :math:`\xi`, Gaussian with
variance :math:`\sigma_p^2` on s coordinates and zero elsewhere. Noise enters sign descent through
:math:`\|\xi_i\|_1` (speeds) and :math:`\|\xi_i\|_2` (law of the start) alone when supports are disjoint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odesys import ParameterError

from .parameters import DISJOINT as DISJOINT
from .parameters import EVERYWHERE as EVERYWHERE
from .parameters import PARAMETERS as PARAMETERS
from .parameters import RANDOM as RANDOM

SUPPORTS = {
    DISJOINT: "disjoint, away from the signal coordinate",
    RANDOM: "s coordinates at random, away from the signal coordinate",
    EVERYWHERE: "s coordinates at random, the signal coordinate too",
}
LARGEST_ENTRIES = 50_000_000  # of one weight matrix


@dataclass(frozen=True)
class Case:
    """One choice of all sizes and scales; sigma_p = 0 stands for 2/sqrt(s), sigma_0 = 0 for 0.1/sqrt(d)."""

    n: int
    s: int
    d: int
    m_k: int
    m_v: int
    sigma_p: float = 0.0
    sigma_0: float = 0.0
    mu: float = 1.0
    supports: int = DISJOINT

    def __post_init__(self) -> None:
        for name in ("n", "s", "m_k", "m_v"):
            if getattr(self, name) < 1:
                raise ParameterError(
                    f"{name} = {getattr(self, name)} can not be used: it is a number of things, so it is at least 1"
                )
        for name in ("sigma_p", "sigma_0"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ParameterError(
                    f"{name} = {getattr(self, name):g} can not be used: it is a standard deviation, "
                    f"so it is not negative (0 stands for the published choice)"
                )
        if not 0 < self.mu < math.inf:
            raise ParameterError(f"mu = {self.mu:g} can not be used: it is the length of the signal, so it is positive")
        if self.supports not in SUPPORTS:
            raise ParameterError(
                f"supports = {self.supports} is not known; choose "
                + ", ".join(f"{key} ({text})" for key, text in SUPPORTS.items())
            )
        room = self.d - (0 if self.supports == EVERYWHERE else 1)
        if self.s > room:
            raise ParameterError(
                f"the sparsity s = {self.s} is above the {room} coordinates there are for noise with "
                f"d = {self.d}; lower s or raise d"
            )
        if self.supports == DISJOINT and self.n * self.s > room:
            raise ParameterError(
                f"n = {self.n} disjoint supports of s = {self.s} coordinates need d of at least "
                f"{self.n * self.s + 1}, not {self.d}; raise d or set supports=1"
            )
        if self.sigma_p == 0:
            object.__setattr__(self, "sigma_p", 2 / math.sqrt(self.s))
        if self.sigma_0 == 0:
            object.__setattr__(self, "sigma_0", 0.1 / math.sqrt(self.d))

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Case:
        """The case of a table of parameters."""
        return cls(**{name: parameters[name] for name in cls.__dataclass_fields__})

    @property
    def strength(self) -> float:
        r""":math:`\sigma_p s`, what the paper's times are written in."""
        return self.sigma_p * self.s

    @property
    def Lambda(self) -> float:
        r""":math:`\Lambda = E\|\xi\|_1/\|\mu\| = \sqrt{2/\pi}\,\sigma_p s/\|\mu\|`."""
        return math.sqrt(2 / math.pi) * self.strength / self.mu

    @property
    def rho(self) -> float:
        r""":math:`\|\mu\|/(\sigma_p\sqrt s)`, the signal's share in a vote."""
        return self.mu / (self.sigma_p * math.sqrt(self.s))

    @property
    def kappa(self) -> float:
        r""":math:`\sigma_0\sigma_p s\sqrt{m_k}`: initial noise products against those at the key flip."""
        return self.sigma_0 * self.strength * math.sqrt(self.m_k)

    def grain(self, eta: float) -> float:
        r""":math:`h = \eta\|\xi\|_1/(\sigma_0\|\xi\|_2)`: one step against the start, by expected norms."""
        return eta * math.sqrt(2 * self.s / math.pi) / self.sigma_0

    def flip_time(self, eta: float = 1.0) -> float:
        r""":math:`T_f = \sqrt{\log 4\Lambda}/(\eta\Lambda\|\mu\|\sqrt{m_k})`, leading order of the key flip."""
        if self.Lambda <= 1:
            raise ParameterError(
                f"Lambda = {self.Lambda:.3g} is not above 1, so noise does not dominate and no key "
                f"flips; lower mu or raise s or sigma_p"
            )
        return math.sqrt(math.log(4 * self.Lambda)) / (eta * self.Lambda * self.mu * math.sqrt(self.m_k))

    @property
    def shared_fraction(self) -> float:
        """Expected fraction of a support that another sample has too (0 for disjoint supports)."""
        if self.supports == DISJOINT:
            return 0.0
        room = self.d - (0 if self.supports == EVERYWHERE else 1)
        return 1 - (1 - self.s / room) ** (self.n - 1)


def published(letter: str, d: int = 2000) -> Case:
    """The settings (a) to (d) of the experiments; all sizes scale with d."""
    if letter not in ("a", "b", "c", "d"):
        raise ParameterError(f"there is no setting {letter!r}; choose a, b, c or d")
    sparsity = round((0.04 if letter in "ab" else 0.4) * d)
    return Case(
        n=round(0.01 * d),
        s=sparsity,
        d=d,
        m_k=round(0.05 * d),
        m_v=max(1, round(0.01 * d)),
        supports=RANDOM if letter in "ac" else EVERYWHERE,
    )


def regime(name: str) -> Case:
    """Two choices inside the theory's time scales, R1 and R2, too large for vectors: only norms are drawn."""
    sizes = {"R1": (41, 64, 4096, 4 * 10**6, 0.02 / 3), "R2": (11, 32, 10**8, 10**12, 1e-3)}
    if name not in sizes:
        raise ParameterError(f"there is no regime {name!r}; choose R1 or R2")
    n, m_k, m_v, s, kappa = sizes[name]
    return Case(n=n, s=s, d=n * s + 1, m_k=m_k, m_v=m_v, sigma_p=1.0, sigma_0=kappa / (s * math.sqrt(m_k)))
