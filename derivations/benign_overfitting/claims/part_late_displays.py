"""Displays of D.2.3 to D.3.3, E.2 and F.7 that follow from the propositions: sizes of scores in stage 3, the loss, gaps Psi."""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from odesys import Verdict, always_positive, decided, graph, num, sym

from ..laboratory import Laboratory
from .book import COQ, NUMBERS, book
from .common_bounds import bounds_for_every_size, step_of_gamma, step_of_rho
from .common_formulas import C2, M_, MU2, N_, NOISE
from .common_hypotheses import ENOUGH, IN_BENIGN, IN_HARMFUL, UNLIKELY, given, premise
from .part_d_e_stage_one import dimension, values_small
from .part_f_coefficients import bounded_increments, increment
from .part_stage_displays import sum_of_times

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
    where="Proof of Lemma D.7, (112), (113) and (115); (114) is not legible",
    parts=("(112)", "(113)", "(115)"),
    hypotheses=(*IN_BENIGN, given("F(t), and (114)")),
    statement=r"T=\frac{C_{19}}{\eta\epsilon\|\mu\|_2^2\|w_O\|_2^2}:\ V_+\ge\log\big(e^{V_+^{(T_2)}}+\eta C_{17}\|\mu\|_2^2\|w_O\|_2^2(T-T_2)\big)\ge\log\big(e^{V_+^{(T_2)}}+\tfrac{C_{20}}\epsilon\big)\ge\log\tfrac{C_{20}}\epsilon,\quad |V_{n,i}|=O(1),\quad \ell_n=\log(1+e^{-f})\le e^{-f}\le e^{-\log(1/\epsilon)}\le\epsilon",
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
    r, m, l = sym("r"), sym("m"), sym("l")  # d_h^(1/4) = 4(1 + r), M = 2 + m, log(6N^2M^2/delta) = 1 + l
    most = 1 / (2 * (1 + r)) + 1 / (20 * (2 + m) ** 2 * (1 + l))
    small = always_positive({"1 less what o(1) of F(t) is at most": 1 - most}, positive=["r", "m", "l"]).proving(
        "F(t) at T has |V_n,i| = o(1), at most 2d_h^(-1/4) + 1/(20M^2 log(6N^2M^2/delta)) in Prop.F-I, which is below 1"
    )
    names = ("x", "eps", "C_19")
    told = {
        "T": (names, sym("C_19") / (sym("eps") * sym("x"))),
        "C_20": (("C_17", "C_19"), sym("C_17") * sym("C_19") / 2),
    }
    found = {"(112)": half, "(115)": slope}
    shown = {part: verdict.by_theorems(COQ / "loss_from_values.v", told) for part, verdict in found.items()}
    return {"(112)": shown["(112)"], "(113)": small, "(115)": shown["(115)"]}


PSI = r"\frac{\eta^2C_7\|\mu\|_2^2\sigma_p^2d\|w_O\|_2^2d_h^{1/2}}{N^2(\log(6N^2M^2/\delta))^2}"


def psi_law(own: sp.Expr) -> sp.Expr:
    """The factor of (152)-(155), without C_7, for a row of this squared length."""
    return ETA**2 * own * SIGMA**2 * W2 * ROOT**2 / (N**2 * L**2)


def other_keys_fall() -> Verdict:
    """f - v_j > 0 from dominance and attention of 17/(20M) or more on the winner, M = m + 1."""
    m, x, p = sym("m"), sym("x"), sym("p")
    first = num(Fraction(17, 20)) / (m + 1) + x
    worst = first - (2 - first - 2 * p) / (3 * (m + 1))  # v_j = 1/(3M), all other values -1/(3M)
    return always_positive({"f - v_j": worst}, positive=["m", "x", "p"]).proving(
        "f - v_j >= phi v - (2 - phi - 2 phi_j) v/(3M) > 0 at phi >= 17/(20M), which 1/M - o(1) is: every other key falls, so a gap grows by the winner's rise",
        M="every",
    )


@book.claim(
    "Eq.152-157",
    "Growth of the gaps Psi",
    kind="inequality",
    uses=["E.3", "Eq.147", "Eq.31-37", "F.12"],
    origin="proof",
    where="Appendix E.2, (152)-(157)",
    parts=("(152), (153)", "(154), (155)", "(156), (157)"),
    hypotheses=(
        *IN_HARMFUL,
        ENOUGH,
        premise(
            "J, with dominance against values at t, and K up to t, L up to t - 1: attention on the first noise token at least 1/M - o(1)"
        ),
        given("F.12"),
    ),
    statement=r"\Psi_\pm^{(s+1)}-\Psi_\pm^{(s)},\ \Psi_{n,\pm,j}^{(s+1)}-\Psi_{n,\pm,j}^{(s)}\ge\frac{\eta^2C_7\|\mu\|_2^2\sigma_p^2d\|w_O\|_2^2d_h^{1/2}(s-T_1)}{N^2(\log(6N^2M^2/\delta))^2}e^{-\Psi^{(s)}},\quad \Psi_{n,i,\pm},\Psi_{n,i,j}:\ \sigma_p^4d^2\ \text{for}\ \|\mu\|_2^2\sigma_p^2d,\quad e^{\Psi_+^{(s)}}(\Psi_+^{(s+1)}-\Psi_+^{(s)})\ge\ldots",
    reading="Some C_7 > 0, from J(t) with dominance against values at t and the norms of K(t), which Claim 10 supposes, and F.12, which is measured.",
)
def growth_of_psi(lab: Laboratory) -> dict[str, Verdict]:
    """As Eq.31-37 with the first noise token for the signal."""
    # least sigma_h^2 d_h of (8), as sigma_p^2 d is the larger by N SNR^2 <= 4 and N >= 4
    kappa = ROOT**2 / L**2 / SIGMA**2
    value = ETA * SIGMA**2 * W2 * TIME / N  # of the first noise token, up to C_3 and C_p^2
    rise = bounds_for_every_size()["own"].proving(
        "y_n V_n,2 >= 3M of every other value (J(t)) takes the place of V_+: v - f >= v (1 - phi)/2, and 1 - phi >= phi e^(-Psi)"
    )
    fall = other_keys_fall()
    out = {}
    for part, own in (("(152), (153)", MU**2), ("(154), (155)", SIGMA**2)):
        left = sp.cancel(ETA * own * SIGMA**2 * kappa / N * value - psi_law(own) * TIME)
        powers = decided(left == 0, {"difference": str(left)}).proving(
            "eta |x|^2 sigma~_p^2 d sigma_h^2 d_h (-l')/(NM) times the value of J(t), sigma_h at the lower end of (8)"
        )
        out[part] = increment(lab) & rise & fall & powers
    out["(156), (157)"] = out["(152), (153)"].proving("(156) is (152) for the plus, and (157) is (156) times e^Psi")
    return out


#: the displays of the gaps, and those of one step that they sum up
GAPS = {"(160)": "(156)", "(161)": "(152)", "(162)": "(153)", "(163)": "(154)", "(164)": "(155)"}


@book.claim(
    "Eq.159-164",
    "Logarithmic growth of the gaps Psi",
    kind="inequality",
    uses=["Eq.152-157", "Eq.158"],
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix E.2, (159)-(164)",
    parts=("(159), first inequality", "(159), second inequality", *GAPS),
    hypotheses=(premise("(152)-(156) up to t with 2 C_7 for C_7, since they are for some C_7"),),
    statement=rf"\int_{{\Psi_+^{{(T_1)}}}}^{{\Psi_+^{{(t+1)}}}}e^xdx\ge\sum_{{s=T_1}}^te^{{\Psi_+^{{(s)}}}}(\Psi_+^{{(s+1)}}-\Psi_+^{{(s)}})\ge{PSI}(t-T_1)(t-T_1+1),\quad \Psi_\pm^{{(t+1)}},\Psi_{{n,\pm,j}}^{{(t+1)}}\ge\log\Big(e^{{\Psi^{{(T_1)}}}}+{PSI}(t-T_1)(t-T_1+1)\Big),\quad \Psi_{{n,i,\pm}},\Psi_{{n,i,j}}:\ \sigma_p^4d^2\ \text{{for}}\ \|\mu\|_2^2\sigma_p^2d",
    reading="C_7 is some constant: half of the one that (152)-(155) have serves all displays. The slip of the sum is printed in (158), which is judged there.",
)
def growth_of_psi_summed(lab: Laboratory) -> dict[str, Verdict]:
    """The left sum of an exponential, the sum of times, and the logarithm, for each row from its display of one step."""
    x = sym("x")
    convex = always_positive({"derivative of e^x - 1 - x": graph.exp(x) - 1}, positive=["x"]).proving(
        "e^x >= 1 + x: the integral of e^x is above its left sum, as Psi increases by (152)-(155)"
    )
    total = sum_of_times(2, 1).proving(
        "each step is at least 2 C_7 f (s - T_1), f the common factor, and 2 sum_s (s - T_1) = (t - T_1)(t - T_1 + 1)"
    )
    slope = graph.gradient(graph.call("log", x), [x])[0]
    monotone = always_positive({"derivative of log x": slope}, positive=["x"])
    found = {"(159), first inequality": convex, "(159), second inequality": total}
    end = (convex & total & monotone).proving(
        "together e^Psi(t+1) >= e^Psi(T_1) + C_7 f (t - T_1)(t - T_1 + 1), and the logarithm increases"
    )
    t, constant, common = sym("t"), sym("C_7"), sym("f")
    told = {"bound": (("t", "C_7", "f"), constant * common * t * (t + 1))}
    parts = found | {display: end.proving(f"{display} sums up {step}") for display, step in GAPS.items()}
    return {part: verdict.by_theorems(COQ / "gaps_grow.v", told) for part, verdict in parts.items()}


@book.claim(
    "Eq.250",
    "Values over stage 2",
    kind="inequality",
    uses=["B.2", "C.1", "C.4", "D.3", "D.5"],
    origin="proof",
    where="Appendix F.7, (250), which is the last line of proposition B",
    parts=("V_+-", "V_n,i"),
    hypotheses=(*IN_BENIGN, ENOUGH),
    statement=r"|V_\pm^{(s)}|,|V_{n,i}^{(s)}|\le O(d_h^{-1/4})+\eta C_4\|\mu\|_2^2\|w_O\|_2^2(s-T_1)",
    reading="At every state, without the other propositions: C_4 = 3/4, and the start at T_1 is Lemma D.3.",
)
def values_over_stage_two(lab: Laboratory) -> dict[str, Verdict]:
    """The change of V per step, at every state."""
    share = sp.cancel((2 * C2 * NOISE / N_ / MU2).subs(MU2, 80 * M_**2 * C2 * NOISE / N_) - 1 / (40 * M_**2))
    noise = decided(share == 0, {"difference": str(share)}).proving(
        "2 C_p^2 sigma_p^2 d/N is |mu|^2/(40M^2) at N SNR^2 = 80M^2C_p^2, and less above it: below 3/4 |mu|^2"
    )
    start = values_small(lab)
    added = "at most what it is at T_1, O(d_h^(-1/4)) by D.3, as T_1 is within its T_0 (D.5), and the bound of a step for each step since"
    return {
        "V_+-": start["V_+-"] & step_of_gamma(lab).proving("3/4 eta mu^2 |w_O|^2 a step", added),
        "V_n,i": start["V_n,i"] & step_of_rho(lab) & dimension(lab) & noise.proving(added),
    }


@book.claim(
    "Eq.251-252",
    "What F.7 starts from",
    kind="identity",
    uses=["Prop.B-E"],
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix F.7, (251) and (252); of (253)-(265) and (267)-(277) only words are legible",
    parts=("(251), (252)",),
    hypotheses=(),
    statement=r"\Lambda_{n,\pm,j}^{(s)},\Lambda_{n,i,\pm,j}^{(s)}\ge\log\big(e^{\Lambda^{(T_1)}}+\ldots(s-T_1)(s-T_1-1)\big)",
    reading="Proposition D(s-1) quoted; the factor of D(t) is (t-T_1)(t-T_1+1) at t+1, hence this one at s.",
)
def start_of_sums(lab: Laboratory) -> Verdict:
    """The factor of D(t), put at t = s - 1."""
    s, T1 = sp.symbols("s T_1", positive=True)
    t = sp.Symbol("t", positive=True)
    factor, printed = (t - T1) * (t - T1 + 1), (s - T1) * (s - T1 - 1)
    left = sp.expand(factor.subs(t, s - 1) - printed)
    return (
        decided(left == 0, {"difference": str(left)})
        .stating({"factor of D(t)": (factor, "=", printed)}, at={t: s - 1})
        .proving("(t - T_1)(t - T_1 + 1) at t = s - 1")
    )
