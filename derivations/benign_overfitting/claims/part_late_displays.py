"""Displays of D.2.3 to D.3.3, E.2 and F.7 that follow from the propositions: sizes of scores in stage 3, the loss, gaps Psi."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from odesys import Verdict, always_positive, decided, num, sym

from ..laboratory import Laboratory
from .book import NUMBERS, book
from .common_bounds import bounds_for_every_size
from .common_hypotheses import ENOUGH, IN_BENIGN, IN_HARMFUL, UNLIKELY, given
from .part_f_coefficients import bounded_increments, increment

#: lengths of signal and weak noise, d_h^(1/4), the logarithm, log O(1/eps), step size, |w_O|^2, time since T_1
MU, SIGMA, ROOT, L, LG, ETA, W2, N, EPS, TIME = sp.symbols("mu sigma R L lg eta w2 N eps t", positive=True)
H2 = sp.Symbol("h2", positive=True)  # sigma_h^2


def at_upper_ends(size: sp.Expr, larger: sp.Expr) -> sp.Expr:
    """With the largest eta and sigma_h of (6) and (8), where `larger` is the larger of |mu| and sigma_p d^(1/2)."""
    most = {ETA: larger**-2 / ROOT**2, H2: larger**-2 / ROOT**2 * L ** sp.Rational(-3, 2)}
    return sp.cancel(sp.powsimp(size.subs(most), force=True))


def in_both_cases(size: sp.Expr, most: sp.Expr, power: int) -> Verdict:
    """A size at the upper ends is `most`, times that power of the smaller over the larger of the two lengths, if any."""
    left = [at_upper_ends(size, larger) / most for larger in (MU, SIGMA)]
    right = [sp.Integer(1), (MU / SIGMA) ** power]
    wrong = {
        str(k): str(sp.cancel(a - b)) for k, (a, b) in enumerate(zip(left, right, strict=True)) if sp.cancel(a - b)
    }
    return decided(not wrong, wrong)


@book.claim(
    "Eq.93-101",
    "Scores in stage 3",
    kind="inequality",
    uses=["Eq.46-54", "F.12", "Eq.50"],
    origin="proof",
    where="D.3.3, (93)-(101); the expressions of F.9 behind them are not legible",
    parts=("(93), (98)", "(94)", "(95)", "(96)", "(97)", "(99), (101)", "(100)"),
    hypotheses=(*IN_BENIGN, ENOUGH, UNLIKELY, given("F(t), G(t), H(t), E(t) at T_2 and F.12")),
    statement=r"\Delta\langle q_\pm,k_\pm\rangle\le\frac{\eta C_{10}\|\mu\|_2^4\sigma_h^2d_h\log O(1/\epsilon)}{e^{\langle q_\pm,k_\pm\rangle}},\ e^{\langle q_+^{(t+1)},k_+^{(t+1)}\rangle}\le C_{11}e^{\langle q_+^{(t)},k_+^{(t)}\rangle},\ e^{\langle q_+^{(t+1)},k_+^{(t+1)}\rangle}\Delta\langle q_+,k_+\rangle\le\eta C_{12}\|\mu\|_2^4\sigma_h^2d_h\log O(\tfrac1\epsilon),\ \int e^x\le T_3\cdot(\ldots)=O\Big(\frac{d_h^{1/2}\log O(1/\epsilon)}{\epsilon(\log(6N^2M^2/\delta))^{3/2}}\Big),\ \langle q_+^{(t+1)},k_+^{(t+1)}\rangle\le\log(\epsilon^{-1}d_h^{1/2});\ \text{as (52)-(54) with}\ \log O(\tfrac1\epsilon)",
    reading="Given F(t), G(t), H(t), I(T_2) and F.12; epsilon at most 1/2, and the logarithm so large that C log O(1/epsilon) is below half of its power 3/2.",
)
def scores_in_stage_three(lab: Laboratory) -> dict[str, Verdict]:
    """Eq.46-54 with larger values, and the integral of an exponential."""
    rise, fall = bounded_increments(lab)
    values = "values are at most 2 log O(1/epsilon) by F(t), where F.6 has a constant"
    step = ETA * MU**4 * H2 * ROOT**4 * LG
    small = in_both_cases(step, LG * L ** sp.Rational(-3, 2), 4).proving(
        "by (6) and (8) eta mu^4 sigma_h^2 d_h log O(1/eps) is at most log O(1/eps) L^(-3/2)",
        "log(1/eps) <= log(d)/2 <= L/2 by (2), so that this goes to zero; the score is at least -o(1)",
    )
    product = (rise & small).proving("(94) times the increment, which (93) bounds: C_12 = C_10 C_11")
    total = in_both_cases(step / (ETA * EPS * MU**2), ROOT**2 * LG / (EPS * L ** sp.Rational(3, 2)), 2).proving(
        "(95) summed over T_3 = Theta(1/(eta eps mu^2 |w_O|^2)) steps, sigma_h at the upper end of (8); e^x is below its right sums as the score increases"
    )
    r, e = sym("r"), sym("e")  # d_h^(1/2), and eps = 1/(2 + e)
    end = always_positive({"R/eps - R - R/(2 eps)": r * (2 + e) - r - r * (2 + e) / 2}, positive=["r", "e"]).proving(
        "e^(score at T_2) <= d_h^(1/2) by E(t), and C log O(1/eps) L^(-3/2) <= 1/2: the sum is below d_h^(1/2)/eps for eps < 1/2"
    )
    return {
        "(93), (98)": rise.proving(values),
        "(94)": small,
        "(95)": product,
        "(96)": total,
        "(97)": end & total,
        "(99), (101)": fall.proving(values),
        "(100)": rise.proving(values),
    }


@book.claim(
    "Eq.112-115",
    "Loss from the values",
    kind="inequality",
    uses=["Eq.77-85"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma D.7, (112) and (115); (114) is not legible",
    parts=("(112)", "(115)"),
    hypotheses=(*IN_BENIGN, given("F(t), and (114)")),
    statement=r"T=\frac{C_{19}}{\eta\epsilon\|\mu\|_2^2\|w_O\|_2^2}:\ V_+\ge\log\big(e^{V_+^{(T_2)}}+\eta C_{17}\|\mu\|_2^2\|w_O\|_2^2(T-T_2)\big)\ge\log\big(e^{V_+^{(T_2)}}+\tfrac{C_{20}}\epsilon\big)\ge\log\tfrac{C_{20}}\epsilon,\quad \ell_n=\log(1+e^{-f})\le e^{-f}\le e^{-\log(1/\epsilon)}\le\epsilon",
    reading="Given F(t) at T, and f at least log(1/epsilon) for (115), which the lost display (114) says; C_20 is half of C_17 C_19.",
)
def loss_from_values(lab: Laboratory) -> dict[str, Verdict]:
    """T - T_2 is at least T/2, and log(1 + u) <= u."""
    c17, c19, c2, e, u = (sym(name) for name in ("C_17", "C_19", "c_2", "e", "u"))
    one_over = 2 * c2 * (1 + e) / c19  # 1/eps, for eps < C_19/(2 c_2), T_2 = c_2/(eta mu^2 |w_O|^2)
    half = always_positive(
        {"C_17 (C_19/eps - c_2) - C_20/eps": c17 * (c19 * one_over - c2) - num(Fraction(1, 2)) * c17 * c19 * one_over},
        positive=["C_17", "C_19", "c_2", "e"],
    ).proving("T_2 = c_2/(eta mu^2 |w_O|^2) is at most T/2 where eps <= C_19/(2 c_2), and the logarithm increases")
    slope = always_positive({"derivative of u - log(1 + u)": 1 - 1 / (1 + u)}, positive=["u"]).proving(
        "log(1 + u) <= u at u = e^(-f), which is at most eps for f >= log(1/eps)"
    )
    return {"(112)": half, "(115)": slope}


@book.claim(
    "Eq.152-157",
    "Growth of the gaps Psi",
    kind="inequality",
    uses=["E.3", "Eq.147", "Eq.31-37", "F.12"],
    origin="proof",
    where="Appendix E.2, (152)-(157)",
    parts=("(152), (153)", "(154), (155)", "(156), (157)"),
    hypotheses=(*IN_HARMFUL, ENOUGH, given("J(t), K(t), L(t) and F.12")),
    statement=r"\Psi_\pm^{(s+1)}-\Psi_\pm^{(s)},\ \Psi_{n,\pm,j}^{(s+1)}-\Psi_{n,\pm,j}^{(s)}\ge\frac{\eta^2C_7\|\mu\|_2^2\sigma_p^2d\|w_O\|_2^2d_h^{1/2}(s-T_1)}{N^2(\log(6N^2M^2/\delta))^2}e^{-\Psi^{(s)}},\quad \Psi_{n,i,\pm},\Psi_{n,i,j}:\ \sigma_p^4d^2\ \text{for}\ \|\mu\|_2^2\sigma_p^2d,\quad e^{\Psi_+^{(s)}}(\Psi_+^{(s+1)}-\Psi_+^{(s)})\ge\ldots",
    reading="Some C_7 > 0, given J(t), norms of K(t), the comparison of L(t), attention on the first noise token at least 1/M - o(1), and F.12.",
)
def growth_of_psi(lab: Laboratory) -> dict[str, Verdict]:
    """As Eq.31-37 with the first noise token for the signal."""
    kappa = (
        ROOT**2 / L**2 / SIGMA**2
    )  # least sigma_h^2 d_h of (8), as sigma_p^2 d is the larger by N SNR^2 <= 4 and N >= 4
    value = ETA * SIGMA**2 * W2 * TIME / N  # of the first noise token, up to C_3 and C_p^2
    gap = increment(lab) & bounds_for_every_size()["own"].proving(
        "y_n V_n,2 >= 3M of every other value (J(t)) takes the place of V_+: v - f >= v (1 - phi)/2, and 1 - phi >= phi e^(-Psi)",
        "a gap grows by at least half of the winner's increment, as L(t) says that it is twice that of every other key",
    )
    out = {}
    for part, own in (("(152), (153)", MU**2), ("(154), (155)", SIGMA**2)):
        found = ETA * own * SIGMA**2 * kappa / N * value
        printed = ETA**2 * own * SIGMA**2 * W2 * ROOT**2 * TIME / (N**2 * L**2)
        powers = decided(sp.cancel(found - printed) == 0, {"difference": str(sp.cancel(found - printed))})
        out[part] = gap & powers.proving(
            "eta |x|^2 sigma~_p^2 d sigma_h^2 d_h (-l')/(NM) times the value of J(t), sigma_h at the lower end of (8)"
        )
    out["(156), (157)"] = out["(152), (153)"].proving("(156) is (152) for the plus, and (157) is (156) times e^Psi")
    return out


@book.claim(
    "Eq.251-252",
    "What F.7 starts from",
    kind="identity",
    uses=["Prop.B-E"],
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix F.7, (251) and (252), after B(s) quoted in (250); of (253)-(265) and (267)-(277) only words are legible",
    parts=("(251), (252)",),
    hypotheses=(),
    statement=r"\Lambda_{n,\pm,j}^{(s)},\Lambda_{n,i,\pm,j}^{(s)}\ge\log\big(e^{\Lambda^{(T_1)}}+\ldots(s-T_1)(s-T_1-1)\big)",
    reading="Proposition D(s-1) quoted; the factor of D(t) is (t-T_1)(t-T_1+1) at t+1, hence this one at s.",
)
def start_of_sums(lab: Laboratory) -> Verdict:
    """The factor of D(t), put at t = s - 1."""
    s, T1 = sp.symbols("s T_1", positive=True)
    t = s - 1
    left = sp.expand((t - T1) * (t - T1 + 1) - (s - T1) * (s - T1 - 1))
    return decided(left == 0, {"difference": str(left)}).proving("(t - T_1)(t - T_1 + 1) at t = s - 1")
