r"""All variables stay near their start up to T_1: a bootstrap in balls; here because Definition E.2 is one.

On the events of Lemmas D.1, D.3, D.7, D.8 and Proposition E.5 every scalar of the flow is bounded at the start. Let
each be assumed to stay below a number on :math:`[0,T_1]`. Then the matrix form of the flow bounds every rate:

* softmax weights lie between :math:`e^{-2s}/L` and :math:`e^{2s}/L` if all scores are at most s in size;
* the loss does not grow along its gradient flow and :math:`g=1-e^{-\ell}` is concave in the loss, so that
  :math:`\frac1n\sum_ig_i\le\gamma=1-e^{-\hat{\mathcal L}(0)}`; hence
  :math:`|\xi_\mu|\le e^{2s}\min(\gamma,|\{i\ni\mu\}|/n)` and :math:`\sum_\mu|\xi_\mu|\le\gamma L`;
* rows and columns of :math:`\mathcal D` have sums of at most
  :math:`2\max|G|\,e^{2s}|\{i\ni\mu\}|/(n\sqrt m)`, since those of p have 1.

A rate times :math:`T_1` plus the start is a new bound. Where all new bounds are below the assumed ones no variable can
be the first to pass its bound, so the bounds hold up to :math:`T_1`.

Parameters are boxes: with :math:`m=qL^2/c_0^4` and :math:`n=rL^2` a power is the exponential of a ball of logarithms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

import flint

from odesys import Verdict, enumerate_all

PRECISION = 128
DELTA, HALF = Fraction(1, 10), Fraction(1, 2)
T1 = 40
#: q = m c0^4 / L^2, tokens L, r = n / L^2, neurons m1, start scale c0: every cell lies inside Condition 1
RANGES: Mapping[str, tuple[tuple[Any, Any], ...]] = {
    "q": ((20, 10**3), (10**3, 10**5), (10**5, 10**8)),
    "L": ((4, 8), (8, 32), (32, 128)),
    "r": ((Fraction(3, 2), 10), (10, 10**3), (10**3, 10**6)),
    "m1": ((4, 100), (100, 10**4), (10**4, 10**8)),
    "c0": (
        (Fraction(3, 10**5), Fraction(1, 10**4)),
        (Fraction(1, 10**4), Fraction(3, 10**4)),
        (Fraction(3, 10**4), Fraction(6, 10**4)),
    ),
}
INSIDE = "boxes of (m c_0^4/L^2, L, n/L^2, m_1, c_0)"
STEPS = (
    "rates bounded through the matrix form of the flow, its softmax weights and a loss that does not grow",
    "a bootstrap: up to T_1 no variable is the first to pass its bound",
)


def corner_points() -> list[dict[str, Any]]:
    """Points at the ends of the boxes in whole numbers, at which hypotheses can be looked at."""
    points = []
    for q, L, r, m1, c0 in product(*((RANGES[k][0][0], RANGES[k][-1][1]) for k in RANGES)):
        n = 6 * -(-int(r * L**2) // 6)
        points.append({"n": n, "L": L, "m": int(q * L**2 / c0**4) + 1, "m1": m1, "c0": float(c0)})
    return points


@dataclass(frozen=True, eq=False)
class Cell:
    """One box of parameters, by balls of their logarithms."""

    logs: tuple[flint.arb, ...]  # of q, L, r, m1, c0

    @cache  # noqa: B019  (the boxes are a list of this module, kept with it; all balls have one precision)
    def log(self, factor: Any = 1, m: Any = 0, n: Any = 0, L: Any = 0, m1: Any = 0, c0: Any = 0) -> flint.arb:
        """log(factor m^a n^b L^c ...) over the box; powers of m and n are put into q, r, L and c0 first."""
        m, n, L, m1, c0, factor = (Fraction(x) for x in (m, n, L, m1, c0, factor))
        total = (flint.arb(factor.numerator) / factor.denominator).log()
        for a, log in zip((m, L + 2 * m + 2 * n, n, m1, c0 - 4 * m), self.logs, strict=True):
            total += log * a.numerator / a.denominator
        return total

    @cache  # noqa: B019
    def power(self, **powers: Any) -> flint.arb:
        """m^a n^b L^c ... over the box."""
        return self.log(**powers).exp()

    @property
    def words(self) -> flint.arb:
        """log(2 d / delta), where d / (n L) lies between 2/5 and 11/10."""
        share = (flint.arb(2) / 5).union(flint.arb(11) / 10)
        return self.log(2 / DELTA, n=1, L=1) + share.log()

    @property
    def tilde(self) -> flint.arb:
        """What a tilde hides: log(2 n L d m m1 / delta)."""
        return self.words + self.log(1, n=1, L=1, m=1, m1=1)

    def radius(self, u: flint.arb) -> flint.arb:
        """Delta(u) = sqrt(4 u / m) + 4 u / m."""
        return 2 * u.sqrt() * self.power(m=Fraction(-1, 2)) + 4 * u * self.power(m=-1)


@cache
def cells() -> tuple[Cell, ...]:
    """All boxes."""
    with flint.ctx.workprec(PRECISION):
        found = []
        for box in product(*RANGES.values()):
            logs = []
            for low, high in box:
                a, b = (flint.arb(Fraction(x).numerator) / Fraction(x).denominator for x in (low, high))
                logs.append(a.log().union(b.log()))
            found.append(Cell(tuple(logs)))
        return tuple(found)


@dataclass(frozen=True)
class Start:
    """Bounds at t = 0 in a box, in the units of `UNITS`."""

    cell: Cell

    def spread(self, u: flint.arb) -> flint.arb:
        """sqrt(m) Delta(u) = 2 sqrt(u) + 4 u / sqrt(m)."""
        return 2 * u.sqrt() + 4 * u * self.cell.power(m=-HALF)

    @property
    def off(self) -> flint.arb:
        """Products of two keys, queries or values, or of a key and a query (D.1, D.3)."""
        return self.spread(self.cell.words)

    @property
    def diagonal(self) -> flint.arb:
        """Squared norms of keys, queries and values (D.1, D.3)."""
        return 1 + self.cell.radius(self.cell.words)

    @property
    def square(self) -> flint.arb:
        """Squared norms of neurons (D.3)."""
        return 1 + self.cell.radius(self.cell.log(2 / DELTA, m1=1))

    @property
    def cross(self) -> flint.arb:
        """|sum_k a_k <w_j, w_k>|, k != j (E.5)."""
        c = self.cell
        return self.spread(c.log(2 / DELTA, m1=2)) * c.log(4 / DELTA, m1=1).sqrt()

    @property
    def neuron_on_value(self) -> flint.arb:
        """|w_j' W_V mu| (D.3)."""
        c = self.cell
        return c.power(c0=1, L=-HALF, m1=HALF) * self.spread(c.words + c.log(1, m1=1))

    @property
    def sub_network(self) -> flint.arb:
        """|G(mu)| (D.7): (c0 / sqrt L) sqrt(2 (1 + Delta) log(2 d / delta))."""
        c = self.cell
        return c.power(c0=1, L=-HALF) * (2 * (1 + c.radius(c.words)) * c.words).sqrt()


def mean_slope() -> flint.arb:
    """gamma, the largest mean of g up to T_1: |F| <= 0.01 at the start (D.8), so loss(0) <= log 2 + 0.0051."""
    return 1 - (-(flint.arb(2).log() + flint.arb(51) / 10**4)).exp()


#: what is bounded, and its unit
UNITS = {
    "score": "1",
    "G": "1",
    "beta": "sigma_1^2 m m_1",
    "V_off": "sigma_0^2 sqrt(m)",
    "V_diag": "sigma_0^2 m",
    "K_off": "sigma_0^2 sqrt(m)",
    "K_diag": "sigma_0^2 m",
    "A": "sigma_0^2 sqrt(m)",
    "square": "sigma_1^2 m",
    "cross": "sigma_1^2 sqrt(m m_1)",
    "wv": "1/m_1",
    "wv_change": "1/m_1",
}
#: by which an assumed bound exceeds the fixed point; more where it follows from others
ROOM = {name: Fraction(1, 20) for name in UNITS} | {"score": Fraction(1, 10), "G": Fraction(1, 100)}
ROOM |= dict.fromkeys(("beta", "square", "cross"), Fraction(1, 1000)) | dict.fromkeys(
    ("wv_change", "wv_rest"), Fraction(1, 50)
)
Bounds = dict[str, flint.arb]


def new_bounds(cell: Cell, x: Bounds) -> Bounds:
    """Start plus T_1 = 40/m times the rate, with every variable at its assumed bound `x`."""
    start, gamma, power = Start(cell), mean_slope(), cell.power
    e = (2 * x["score"]).exp()
    share = power(m1=1, m=-1, c0=2, L=-1)  # sigma_0^2 / sigma_1^2
    mixed = power(m1=1, m=-3 * HALF, c0=2) * gamma * x["V_off"]  # of Gamma xi, off the diagonal
    pull = share * x["V_diag"] * gamma * e + mixed
    root = power(m1=HALF, m=-HALF)
    neurons = x["square"] + x["cross"] * root
    force = 2 * x["G"] * e  # sqrt(m) times row and column sums of D, for a share of 1
    change = T1 * (neurons * gamma * e + pull)
    return {
        "score": x["A"] * power(c0=2, L=-1, m=-1),
        "G": start.sub_network + T1 * (x["beta"] * gamma * e + pull),
        "beta": start.square + start.cross * root + 2 * T1 * gamma * x["G"] * power(m1=1, m=-2, L=1),
        "V_off": start.off + 2 * T1 * x["G"] * e * power(m=-HALF, c0=-2, L=1),
        "V_diag": start.diagonal + 2 * T1 * x["G"] * e * power(m=-1, c0=-2, L=1),
        "K_off": start.off + 2 * T1 * x["A"] * force * power(m=-3 * HALF),
        "K_diag": start.diagonal + 2 * T1 * x["A"] * force * power(m=-2),
        "A": start.off + score_gain(cell, x),
        "square": start.square + 2 * T1 * gamma * x["wv"] * power(L=1, m=-2),
        "cross": start.cross + T1 * gamma * (x["wv"] + x["G"]) * power(L=1, m1=HALF, m=-3 * HALF),
        "wv": start.neuron_on_value + change,
        "wv_change": change,
    }


def score_gain(cell: Cell, x: Bounds) -> flint.arb:
    """What a score gains up to T_1, over sigma_0^2 sqrt(m): kappa D + D rho with shares of at most 1 each."""
    force = 2 * x["G"] * (2 * x["score"]).exp()
    return 2 * T1 * force * (cell.power(m=-1, L=-1) * x["K_diag"] + cell.power(m=-3 * HALF) * x["K_off"])


@cache
def bounds(cell: Cell) -> Bounds | None:
    """Bounds that hold up to T_1 in a box, or None where the bootstrap does not close."""
    with flint.ctx.workprec(PRECISION):
        x = new_bounds(cell, dict.fromkeys(UNITS, flint.arb(0)))
        for _ in range(8):
            x = {name: value.upper() for name, value in new_bounds(cell, x).items()}
        assumed = {name: value * (1 + ROOM[name]).numerator / (1 + ROOM[name]).denominator for name, value in x.items()}
        found = new_bounds(cell, assumed)
        return assumed if all(bool(found[name] < assumed[name]) for name in UNITS) else None


def everywhere(check: Any, what: str = INSIDE) -> Verdict:
    """`check(cell, bounds)` is certain in every box."""

    def one(cell: Cell) -> bool | str:
        x = bounds(cell)
        if x is None:
            return "the bootstrap does not close"
        with flint.ctx.workprec(PRECISION):
            return bool(check(cell, x))

    found = enumerate_all(cells(), one, what).at(*corner_points())
    return found.proving(*STEPS, m="boxes", n="boxes", L="boxes", m1="boxes", c0="boxes")
