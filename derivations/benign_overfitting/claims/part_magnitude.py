r"""Lemmas D.4 and E.2: all inner products of queries and keys keep their magnitude in stage 1, proved.

Write :math:`\hat q_a = q_a/|x_a|`, :math:`\hat k_a = k_a/|x_a|` for a token :math:`x_a`. A step changes
:math:`\hat q_a` by :math:`\sum_b\hat\alpha_{ab}\hat k_b` with :math:`\hat\alpha_{ab} = \alpha_{ab}|x_b|/|x_a|`, and
:math:`\hat k_a` in the same way with :math:`\beta`. Let *e* be the largest sum of one :math:`|\hat\alpha_{ab}|` or
:math:`|\hat\beta_{ab}|` over all steps up to :math:`T_0`, *r* the largest sum of a whole row, :math:`\kappa = \sigma_h^2
d_h`, and *u* the largest inner product of two different vectors, :math:`u_0` at the start. While squared lengths are at
most :math:`2\kappa` and :math:`u\le U`,

.. math::  u\le u_0 + 2\,(2\kappa e + rU) + 2\kappa er + r^2U .

All products are of one time: a step changes :math:`\langle x, y\rangle` by :math:`\langle\Delta x, y\rangle +
\langle x,\Delta y\rangle + \langle\Delta x,\Delta y\rangle` (Lemma B.3). Summed over the steps each of the first two
meets a squared length in one entry at most, and products of different vectors in the rest of a row; the last meets
squared lengths in *er* and products in :math:`r^2`. A query and a key are different vectors also where their tokens are
the same.

So *u* stays at most :math:`U = 2u_0 + 12\kappa e` as long as :math:`r\le1/10`, and squared lengths change by at most
:math:`2rU + 2\kappa er + r^2U`, which is small against :math:`\kappa`. The sums come from the bounds of F.3, the sizes
of V of D.3 and E.1, and the number of steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import sympy as sp

from odesys import Verdict, always_positive, decided, num, sym

from ..laboratory import Laboratory
from .book import book
from .common_hypotheses import ENOUGH, IN_BENIGN, IN_HARMFUL
from .part_f_coefficients import coefficient_bounds

MAGNITUDES = ("scores", "products of queries", "products of keys", "norms of signals", "norms of noise")
#: h for d_h^(-1/4); snr for SNR = |mu| / (sigma_p d^(1/2)); c, C constants of T_0 and of the values; lengths in sigma_p d^(1/2)
H, SNR, N, CP, C, T0 = sp.symbols("h snr N C_p C c", positive=True)
X = sp.Symbol("x", positive=True)  # N SNR^2
ROOM = Fraction(1, 10)  # r is at most this


@dataclass(frozen=True)
class Sums:
    """Sums over stage 1 up to constants that depend on M alone: entries of alpha and beta in units of lengths, and rows."""

    entries: dict[str, sp.Expr]
    rows: dict[str, sp.Expr]


def sums(benign: bool) -> Sums:
    """Bounds of F.3 at |V| <= C h, times T_0; the same for alpha and beta, whose forces are H and its transpose.

    The row of a signal is mu^2 times a force, which adds up 3N/4 samples with the signal itself and one sample else. A
    row of noise has sigma~_p^2 d times the force of its own sample; noise of other samples adds M/3 of it at most.
    """
    steps = T0 * H / (SNR**2 if benign else 1 / N)  # T_0 times eta sigma_p^2 d |w_O|^2
    signal, noise = SNR, CP
    entries = {
        "signal with itself": SNR**2 * C * H * steps,
        "signal with noise": SNR**2 * C * H / N * noise / signal * steps,
        "noise with signal": CP**2 * C * H / N * signal / 1 * steps,  # a weak token is the shortest: length 1
        "noise with noise": CP**2 * C * H / N * noise / 1 * steps,
    }
    rows = {
        "signal": entries["signal with itself"] + N * entries["signal with noise"],
        "noise": 2 * (entries["noise with signal"] + entries["noise with noise"]),
    }
    return Sums(entries, rows)


def _order(expression: sp.Expr, benign: bool) -> sp.Expr:
    """In terms of h, N and x = N SNR^2, which is bounded below in the benign regime and above in the harmful one."""
    return sp.expand(sp.powsimp(expression.subs(SNR, sp.sqrt(X / N)), force=True))


def entries_small(benign: bool) -> Verdict:
    """e over h^2 has no positive power of N, and of x only those that the regime bounds."""
    wrong = {}
    for name, entry in sums(benign).entries.items():
        powers = sp.cancel(_order(entry, benign) / H**2).as_powers_dict()
        of_N, of_x = powers.get(N, 0), powers.get(X, 0)
        if of_N > 0 or (of_x > 0 if benign else of_x < 0) or powers.get(H, 0) != 0:
            wrong[name] = str(powers)
    return decided(not wrong, wrong).proving(
        "e = O(d_h^(-1/2)): each entry of F.3 times T_0, in N and N SNR^2, with powers that the regime bounds"
    )


def rows_small(benign: bool) -> Verdict:
    """r goes to zero: N (and N^2/x, N^2 x) to the power 1/2 is at most h^-1 eps^(1/2), by condition (1)."""
    eps = sp.Symbol("eps", positive=True)
    wrong = {}
    for name, row in sums(benign).rows.items():
        for term in sp.Add.make_args(_order(row, benign)):
            powers = term.as_powers_dict()
            left = powers.get(H, 0) - 2 * max(powers.get(N, 0), 0)  # N^(1/2) <= h^-1 eps^(1/2), from d_h >= N^2/eps^2
            of_x = powers.get(X, 0)
            if left <= 0 or (of_x > 0 if benign else of_x < 0):
                wrong[f"{name}: {term}"] = str(left)
    return decided(not wrong, wrong).proving(
        f"r = O(d_h^(-1/4)): N^(1/2) <= d_h^(1/4) {eps}^(1/2) by condition (1), so that r <= {ROOM} for large d_h"
    )


def closed() -> Verdict:
    """U = 2 u_0 + 12 kappa e bounds u where r <= 1/10, and lengths keep within [1/2, 2] of kappa."""
    u, k, s = sym("u_0"), sym("ke"), sym("s")  # ke = kappa e; r = s/(10 (1 + s)) runs over (0, 1/10)
    r = num(ROOM) * s / (1 + s)
    U = 2 * u + 12 * k
    bound = u + 2 * (2 * k + r * U) + 2 * k * r + r * r * U
    kappa, v, w = sym("kappa"), sym("v"), sym("w")  # U = kappa v/(1 + v) and e = r w/(1 + w), as one entry is in a row
    most, entry = kappa * v / (1 + v), r * w / (1 + w)
    change = 2 * r * most + 2 * kappa * entry * r + r * r * most
    lengths = always_positive(
        {"kappa/2 less the change": kappa / 2 - change}, positive=["kappa", "v", "w", "s"]
    ).proving(
        "squared lengths start within 1/2 of kappa (C.3) and change by less than kappa/2 where U <= kappa, so they stay below 2 kappa"
    )
    return lengths & always_positive({"U less its bound": U - bound}, positive=["u_0", "ke", "s"]).proving(
        "u_0 + 2(2 kappa e + rU) + 2 kappa e r + r^2 U < U = 2 u_0 + 12 kappa e for r < 1/10, so the induction over steps closes",
        "kappa e = O(sigma_h^2 d_h^(1/2)) and u_0 = O(sigma_h^2 (d_h log)^(1/2)) by C.3; |x_a||x_b| is at most 3/2 C_p^2 max{mu^2, sigma_p^2 d}",
        "squared lengths change by 2rU + 2 kappa e r + r^2 U, which over kappa goes to zero like log^(1/2) d_h^(-3/4)",
    )


def keep(lab: Laboratory, benign: bool) -> dict[str, Verdict]:
    """All five bounds, from the forces at every state."""
    force = coefficient_bounds(lab)
    found = force["signal with itself"] & force["rows of noise"] & entries_small(benign) & rows_small(benign)
    return {part: found & closed() for part in MAGNITUDES}


STEPS = "Every constant of T_0; products of different vectors, as in C.3. Entries of alpha and beta are summed over the steps, and the induction closes."


@book.claim(
    "D.4",
    "Inner products keep their magnitude in stage 1",
    kind="order",
    uses=["D.3", "C.3", "B.3", "F.3"],
    where="Lemma D.4",
    parts=MAGNITUDES,
    hypotheses=(*IN_BENIGN, ENOUGH),
    statement=r"t\in[0,T_0],\ T_0=O\Big(\frac1{\eta d_h^{1/4}\|\mu\|_2^2\|w_O\|_2^2}\Big):\quad |\langle q,k\rangle|,\ |\langle q,q'\rangle|,\ |\langle k,k'\rangle|=O\big(\max\{\|\mu\|_2^2,\sigma_p^2d\}\sigma_h^2\sqrt{d_h\log(6N^2M^2/\delta)}\big),\quad \|q_\pm\|_2^2,\|k_\pm\|_2^2=\Theta(\|\mu\|_2^2\sigma_h^2d_h),\ \|q_{n,i}\|_2^2,\|k_{n,i}\|_2^2=\Theta(\sigma_p^2\sigma_h^2dd_h)",
    reading=STEPS,
)
def magnitude(lab: Laboratory) -> dict[str, Verdict]:
    """In the benign regime."""
    return keep(lab, True)


@book.claim(
    "E.2",
    "Inner products keep their magnitude in stage 1 (harmful)",
    kind="order",
    uses=["E.1", "C.3", "B.3", "F.3"],
    where="Lemma E.2",
    parts=MAGNITUDES,
    hypotheses=(*IN_HARMFUL, ENOUGH),
    statement=r"t\in[0,T_0],\ T_0=O\Big(\frac N{\eta d_h^{1/4}\sigma_p^2d\|w_O\|_2^2}\Big):\quad\text{the five bounds of Lemma D.4}",
    reading=STEPS,
)
def magnitude_harmful(lab: Laboratory) -> dict[str, Verdict]:
    """In the harmful regime."""
    return keep(lab, False)
