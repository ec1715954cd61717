r"""D.2.3 and F.7, (55)-(59): sums of alpha and beta over stage 2, proved from what F.7 supposes.

A coefficient is a squared length over N, or over 1 where all samples of a class add up, times the force
:math:`(-\ell')\varphi_j\sum_k\varphi_k(v_j-v_k)/M`, at most :math:`2\max|V|` times the attention on noise of its row.
B(s) bounds the values by :math:`h+ax` at *x* steps after :math:`T_1`, and D(s - 1) that attention by
:math:`2M/(1+r^2x^2)` up to constants. The largest quotient is :math:`h+a/(2r)`, and there are at most :math:`T_2` steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import sympy as sp

from odesys import Verdict, always_positive, decided, sym

from ..laboratory import Laboratory
from .book import book
from .common_hypotheses import ENOUGH, IN_BENIGN, premise
from .part_d_e_stage_one import dimension
from .part_f_coefficients import force, rows_of_coefficients
from .part_key_change import ETA, MU, SIGMA, SNR, L, N, R, largest_quotient

D, X = sp.symbols("d x", positive=True)  # dimension of the tokens; N SNR^2
VALUES = {"start": 1 / R, "speed": ETA * MU**2}  # h and a of B(s)
#: r of D(s - 1), of rows of signals and of noise
ROOTS = {"signal": ETA * MU**2 * R / (sp.sqrt(N) * L), "noise": ETA * MU * SIGMA * R / (sp.sqrt(N) * L)}
STEPS = 1 / (ETA * MU**2 * L)  # T_2 of stage 2


@dataclass(frozen=True)
class Coefficient:
    """What stands before the force, and whose row of attention it is; (alpha_{n,i,..} is a query's, beta_{n,i,..} a key's)."""

    front: sp.Expr
    row: str

    @property
    def terms(self) -> tuple[sp.Expr, sp.Expr]:
        """Its sum over stage 2, up to constants: the start of the values, and their growth."""
        return self.front * VALUES["start"] * STEPS, self.front * VALUES["speed"] / ROOTS[self.row] * STEPS


_CLASS, _SIGNAL, _NOISE = ETA * MU**2, ETA * MU**2 / N, ETA * SIGMA**2 / N
_OTHER = _NOISE * sp.sqrt(L / D)  # products of different noise tokens, by Lemma C.4
#: every display: its coefficients and the printed order
DISPLAYS: dict[str, tuple[dict[str, Coefficient], sp.Expr]] = {
    "(55)": (
        {
            "alpha_++, beta_++": Coefficient(_CLASS, "signal"),
            "beta_n,i,+": Coefficient(_NOISE, "signal"),
        },
        sp.sqrt(N) / R,
    ),
    "(56)": ({"alpha_n,+,i": Coefficient(_SIGNAL, "signal")}, 1 / (sp.sqrt(N) * R)),
    "(57)": ({"beta_n,+,i": Coefficient(_SIGNAL, "noise")}, SNR / (sp.sqrt(N) * R)),
    "(58)": ({"alpha_n,i,+, alpha_n,i,n,j, beta_n,j,n,i": Coefficient(_NOISE, "noise")}, 1 / R),
    "(59)": ({"alpha_n,i,n',j, beta_n,j,n',i": Coefficient(_OTHER, "noise")}, L / (sp.sqrt(D) * R)),
}


def within_order(part: str) -> Verdict:
    """Each term over the printed order is a product of powers, none positive, of N, the logarithm and x = N SNR^2 alone."""
    coefficients, printed = DISPLAYS[part]
    wrong = {}
    for name, coefficient in coefficients.items():
        for term in coefficient.terms:
            ratio = sp.powsimp(sp.powdenest((term / printed).subs(MU, SIGMA * sp.sqrt(X / N)), force=True), force=True)
            powers = {base: power for base, power in ratio.as_powers_dict().items() if base != 1}
            if not set(powers) <= {N, L, X} or any(power > 0 for power in powers.values()):
                wrong[f"{name}: {term}"] = str(ratio)
    return decided(not wrong, wrong).proving(
        "front times (h + a/r) times T_2 over the printed order has powers of N, log(6N^2M^2/delta) and N SNR^2 that are not positive, and these are at least 1",
        "e^Lambda(T_1) is at least 1/2, by D.4 at T_1, so that 1 in its place in D(s - 1) costs a factor of 2; |w_O| = Theta(1) is left out as a constant",
    )


def noise_is_left() -> Verdict:
    """phi_j <= e^(-Lambda_j), so that 1 - phi_1 is at most the sum of these."""
    y, z = sym("y"), sym("z")  # e^(-Lambda_j), and the sum of the others
    return always_positive({"e^-Lambda less phi_j": y - y / (1 + y + z)}, positive=["y", "z"]).proving(
        "phi_j = e^(-Lambda_j)/(1 + sum_k e^(-Lambda_k)) <= e^(-Lambda_j), and 1 - phi_1 is the sum over noise",
        "a force is at most 2 max|V| phi_j (1 - phi_j) (F.3), so 2 max|V| times the attention on noise, for keys of both kinds",
    )


@book.claim(
    "Eq.55-59",
    "Sums of coefficients over stage 2",
    kind="order",
    uses=["Def.B.3", "F.3", "C.1", "C.4", "D.4"],
    origin="proof",
    where="D.2.3, (55)-(59), and F.7; of (265)-(269) only (266), which is (55), is legible",
    parts=tuple(DISPLAYS),
    hypotheses=(*IN_BENIGN, ENOUGH, premise("B up to s and D up to s - 1, which F.7 supposes")),
    statement=r"\sum_{s=T_1}^t|\alpha_{\pm,\pm}|,|\beta_{\pm,\pm}|,|\beta_{n,i,\pm}|=O(N^{1/2}d_h^{-1/4}),\ \sum|\alpha_{n,\pm,i}|=O(N^{-1/2}d_h^{-1/4}),\ \sum|\beta_{n,\pm,i}|=O(\mathrm{SNR}\,N^{-1/2}d_h^{-1/4}),\ \sum|\alpha_{n,i,\pm}|,|\alpha_{n,i,n,j}|,|\beta_{n,j,n,i}|=O(d_h^{-1/4}),\ \sum|\alpha_{n,i,n',j}|,|\beta_{n,j,n',i}|=O(d^{-1/2}d_h^{-1/4}\log(6N^2M^2/\delta))",
    reading="Up to the T_2 of stage 2, from the exact form of the coefficients; the largest summand times the number of steps.",
)
def sums_stage_two(lab: Laboratory) -> dict[str, Verdict]:
    """The derived coefficients, the largest quotient of B and D, and the number of steps."""
    signal, noise = rows_of_coefficients(lab)
    common = force(lab) & noise_is_left() & largest_quotient()
    rows = {
        "(55)": signal & noise & dimension(lab),
        "(56)": signal,
        "(57)": signal,
        "(58)": noise & dimension(lab),
        "(59)": noise,
    }
    return {part: common & rows[part] & within_order(part) for part in DISPLAYS}
