"""Appendices D.1 and E.1: stage 1, where attention is uniform, and its exit."""

from __future__ import annotations

from math import sqrt

import flint
import numpy as np
import sympy as sp

from odesys import (
    ONE,
    Node,
    Verdict,
    Witness,
    decided,
    equal,
    from_sympy,
    graph,
    identity,
    measured,
    num,
    say_number,
    sym,
    to_sympy,
    undecided,
)

from ..laboratory import Laboratory
from ..special.conditions import Inside
from . import common_formulas
from .book import COQ, NUMBERS, book, on_toy, tables
from .common_bounds import step_of_gamma, step_of_rho, sums_to
from .common_drawn import time_one
from .common_formulas import C2, ETA, H_, M_, MU2, N_, NOISE, W2
from .common_hypotheses import (
    CONDITION_4_1,
    ENOUGH,
    IN_BENIGN,
    IN_HARMFUL,
    NEAR_BENIGN,
    NEAR_HARMFUL,
    base,
    exact_point,
)
from .common_mean_runs import start_rates

POSITIVE = ("M", "N", "eta", "w2", "mu2", "noise", "C2", "h")
X = sp.Symbol("x", positive=True)  # N SNR^2
c = sp.Symbol("c", positive=True)  # constant of T_0


@book.claim(
    "D.1",
    "Loss derivative near 1/2",
    kind="inequality",
    uses=["Def.5.1"],
    where="Lemma D.1",
    parts=("-l' near 1/2",),
    hypotheses=(),
    statement=r"\max\{|V_+|,|V_-|,|V_{n,i}|\}=o(1):\quad -\ell'(y_nf(X_n,\theta))=\tfrac12\pm o(1)",
    reading="Explicitly: the distance from 1/2 is at most a quarter of the largest value.",
)
def loss_derivative(lab: Laboratory) -> Verdict:
    """The output is a mean of values, the logistic function has slope at most 1/4."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    found: dict[str, tuple[Node, Node]] = {}
    for n in range(2):
        output = t.y[n] * flow.outputs[f"margin_{n + 1}"]
        slopes = graph.gradient(output, [t.V[j] for j in t.places[n]])
        for j, slope in enumerate(slopes):
            found[f"{n} {j}"] = (slope, graph.add(row[j] for row in t.attention(n)) / 3)
        found[f"{n} sum"] = (graph.add(slopes), ONE)
    s = sym("s")
    found["slope"] = (num(1) / 4 - s * (1 - s), (s - num(1) / 2) ** 2)
    return on_toy(
        equal(found).proving(
            "the output is a convex combination of the values: its derivatives by them are means of attentions, and sum to 1",
            "1/4 - s(1 - s) = (s - 1/2)^2 bounds the slope of the logistic function",
        )
    ).with_constants(bound="|-l' - 1/2| <= max|V| / 4")


@book.claim(
    "D.2",
    "Attention near 1/M",
    kind="inequality",
    uses=["Sec.5.2-jacobian"],
    insensitive=NUMBERS,
    where="Lemma D.2",
    parts=("attention",),
    hypotheses=(),
    statement=r"|\langle q,k\rangle|=o(1)\ \text{for all pairs of a sample}:\quad \tfrac1M-o(1)\le\mathrm{softmax}(\langle q,k\rangle)\le\tfrac1M+o(1)",
    reading="Explicitly: scores of size at most a give weights between 1/(1 + (M-1)e^{2a}) and 1/(1 + (M-1)e^{-2a}).",
)
def attention_near_uniform(lab: Laboratory) -> Verdict:
    """Values at the corners."""
    a, M, found = sym("a"), sym("M"), {}
    for name, sign in (("high", 1), ("low", -1)):
        own, rest = graph.exp(sign * a), graph.exp(-sign * a)
        found[name] = (own / (own + (M - 1) * rest), 1 / (1 + (M - 1) * graph.exp(-2 * sign * a)))
    told = {name: (("M", "a"), bound) for name, (_, bound) in found.items()}
    return (
        equal(found)
        .by_theorems(COQ / "softmax_near.v", told)
        .proving(
            "a weight grows with its own score and falls with the others (Sec.5.2-jacobian), so that the corners of the box are extreme",
            M="every",
        )
    )


# ---- values stay small -----------------------------------------------------------------------------------------------


def dimension(lab: Laboratory) -> Verdict:
    """2 N sqrt(d l) <= d/2 where d >= 16 N^2 l, which condition (2) gives as soon as d_h/eps^2 >= 16 l."""
    d, l = sp.symbols("d l", positive=True)
    equality = sp.expand((2 * N_ * sp.sqrt(d * l)).subs(d, 16 * N_**2 * l) - (16 * N_**2 * l) / 2)
    grows = sp.expand(sp.diff(d / (2 * sp.sqrt(d * l)), d)).is_positive
    e, f = sp.symbols("sqrt_d sqrt_l", positive=True)
    handed = {"2 N sqrt(d l) and d/2, in roots": (2 * N_ * e * f, "<=", e**2 / 2)}
    found = decided(equality == 0 and bool(grows), {"difference": str(equality)})
    return found.stating(handed, where=[(e, ">=", 4 * N_ * f)]).proving(
        "N 2 sigma~_p^2 sqrt(d l) = sigma~_p^2 d / 2 at d = 16 N^2 l, and d/sqrt(d) grows",
        "d >= N^2 d_h/eps^2 and, by (1), d_h >= N^2/eps^2; N >= 8 log(4/delta) makes l = log(4N^2M^2/delta) at most N/8 + 4 log N, so that d_h/eps^2 >= 16 l",
    )


@book.claim(
    "Eq.17-dimension",
    "Noise of other samples",
    kind="inequality",
    uses=["C.4"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma D.3, third inequality of (17)",
    parts=("third inequality",),
    hypotheses=(*IN_BENIGN, ENOUGH),
    for_all=("N", "M"),
    statement=r"\tfrac{3\eta\tilde\sigma_p^2d}{2NM}\cdot M+\tfrac\eta{NM}\cdot MN\cdot2\tilde\sigma_p^2\sqrt{d\log(4N^2M^2/\delta)}\le\tfrac{2\eta\tilde\sigma_p^2d}N\quad\text{by}\ d=\tilde\Omega(\epsilon^{-2}N^2d_h)",
    reading="Under condition (2); the printed middle member 4N times the root of the logarithm needs a root of d on the left.",
)
def dimension_needed(lab: Laboratory) -> Verdict:
    """The condition that is equivalent, and that (2) gives it."""
    names = ("eta", "noise", "N", "M", "d", "l")
    eta, noise, N, M, d, l = (sym(name) for name in names)
    left = 3 * eta * noise * d / (2 * N * M) * M + eta / (N * M) * M * N * 2 * noise * graph.sqrt(d * l)
    told = {"left": (names, left), "right": (("eta", "noise", "N", "d"), 2 * eta * noise * d / N)}
    found = dimension(lab).by_theorems(COQ / "noise_of_others.v", told)
    return found.proving("one inequality in N, d and l = log(4N^2M^2/delta)", N="every", M="every")


def _steps(lab: Laboratory, time: sp.Expr, small: sp.Expr) -> dict[str, Verdict]:
    """Bounds of the changes of V over the time T_0, beyond the start `small`."""
    signal = sums_to(
        {"3/4 eta mu^2 |w_O|^2 T_0 over d_h^(-1/4) or 1/L": (sp.Rational(3, 4) * ETA * MU2 * W2 * time, small[0])}
    )
    noise = sums_to(
        {"2 eta sigma~_p^2 d |w_O|^2 T_0 / N over the same": (2 * ETA * C2 * NOISE * W2 / N_ * time, small[1])}
    )
    return {
        "V_+-": step_of_gamma(lab) & signal,
        "V_n,i": step_of_rho(lab) & dimension(lab) & noise,
    }


BENIGN_TIME = c / (ETA * MU2 * W2)
HARMFUL_TIME = c * N_ / (ETA * NOISE * W2)
ON_BENIGN = (sp.Rational(3, 4) * c, 2 * c * C2 * NOISE / (N_ * MU2))  # the second is 2 c C_p^2 / (N SNR^2)
ON_HARMFUL = (sp.Rational(3, 4) * c * N_ * MU2 / NOISE, 2 * c * C2)
BOUNDED = "the constant c of T_0, C_p and 1/(N SNR^2) are bounded"
BOUNDED_TOO = "the constant c of T_0, C_p and N SNR^2 are bounded"


def _with(found: dict[str, Verdict], *steps: str) -> dict[str, Verdict]:
    return {part: verdict.proving(*steps) for part, verdict in found.items()}


@book.claim(
    "D.3",
    "V stays small in stage 1",
    kind="order",
    uses=["B.2", "C.1", "C.2", "C.4", "Eq.17-dimension"],
    where="Lemma D.3, with (17)",
    parts=("V_+-", "V_n,i"),
    hypotheses=(*IN_BENIGN, ENOUGH),
    statement=r"T_0=O\Big(\frac1{\eta d_h^{1/4}\|\mu\|_2^2\|w_O\|_2^2}\Big):\quad |V_+^{(t)}|,|V_-^{(t)}|,|V_{n,i}^{(t)}|=O(d_h^{-1/4})\ \text{for}\ t\in[0,T_0]",
    reading="Change per step at every state, at most 3/4 and at most (17), times the number of steps; the start is Lemma C.2.",
)
def values_small(lab: Laboratory) -> dict[str, Verdict]:
    """Changes of V at every state, added up."""
    return _with(_steps(lab, BENIGN_TIME, ON_BENIGN), BOUNDED)


@book.claim(
    "E.1",
    "V stays small in stage 1 (harmful)",
    kind="order",
    uses=["B.2", "C.1", "C.2", "C.4", "Eq.143"],
    where="Lemma E.1",
    parts=("V_+-", "V_n,i"),
    hypotheses=(*IN_HARMFUL, ENOUGH),
    statement=r"T_0=O\Big(\frac N{\eta d_h^{1/4}\sigma_p^2d\|w_O\|_2^2}\Big):\quad |V_+^{(t)}|,|V_-^{(t)}|,|V_{n,i}^{(t)}|=O(d_h^{-1/4})\ \text{for}\ t\in[0,T_0]",
    reading="As D.3, with N SNR^2 bounded in place of its inverse.",
)
def values_small_harmful(lab: Laboratory) -> dict[str, Verdict]:
    """Changes of V at every state, added up."""
    return _with(_steps(lab, HARMFUL_TIME, ON_HARMFUL), BOUNDED_TOO)


@book.claim(
    "Eq.143",
    "Change of rho in the harmful regime",
    kind="inequality",
    uses=["B.2", "C.4"],
    origin="proof",
    where="Proof of Lemma E.1, (143)",
    parts=("(143)",),
    hypotheses=(*IN_HARMFUL, ENOUGH),
    statement=r"|\rho_{V,n,i}^{(t+1)}-\rho_{V,n,i}^{(t)}|\le\tfrac{3\eta\tilde\sigma_p^2d}{2NM}\cdot M+\tfrac\eta{NM}\cdot MN\cdot2\tilde\sigma_p^2\sqrt{d\log(4N^2M^2/\delta)}\le\tfrac{2\eta\tilde\sigma_p^2d}N",
    reading="At every state. The reason quoted for the last step, N SNR^2 = Omega(1), is that of the benign part and is not needed.",
)
def change_of_rho(lab: Laboratory) -> Verdict:
    """The bound at every state; the derived step of rho has no |mu|^2 in it."""
    values = lab.step(2).rhs("wOV")[0]
    free = identity({f"rho {k}": graph.gradient(values[k], [sym("m_s")])[0] for k in (2, 3)})
    no_signal = free.proving("the derived step of rho does not contain the length of the signal")
    return step_of_rho(lab) & dimension(lab) & no_signal


@book.claim(
    "D.6",
    "V stays small in stage 2",
    kind="order",
    uses=["D.3"],
    where="Lemma D.6",
    parts=("V_+-", "V_n,i"),
    hypotheses=(*IN_BENIGN, ENOUGH),
    statement=r"T_0=O\Big(\frac1{\eta\|\mu\|_2^2\|w_O\|_2^2\log(6N^2M^2/\delta)}\Big):\quad |V_+^{(t)}|,|V_-^{(t)}|,|V_{n,i}^{(t)}|=o(1)\ \text{for}\ t\in[0,T_0]",
    reading="As D.3, with one over the logarithm in place of d_h^(-1/4); the logarithm grows with N.",
)
def values_small_two(lab: Laboratory) -> dict[str, Verdict]:
    """The sum of the bounds over a longer time."""
    return _with(_steps(lab, BENIGN_TIME, ON_BENIGN), BOUNDED, "at most d_h^(-1/4) plus that over L, which tends to 0")


@book.claim(
    "E.4",
    "V stays small in stage 2 (harmful)",
    kind="order",
    uses=["E.1"],
    where="Lemma E.4",
    parts=("V_+-", "V_n,i"),
    hypotheses=(*IN_HARMFUL, ENOUGH),
    statement=r"T_0=O\Big(\frac N{\eta\sigma_p^2d\|w_O\|_2^2\log(6N^2M^2/\delta)}\Big):\quad |V_+^{(t)}|,|V_-^{(t)}|,|V_{n,i}^{(t)}|=o(1)\ \text{for}\ t\in[0,T_0]",
    reading="As D.6, in the harmful regime.",
)
def values_small_two_harmful(lab: Laboratory) -> dict[str, Verdict]:
    """The sum of the bounds over a longer time."""
    return _with(
        _steps(lab, HARMFUL_TIME, ON_HARMFUL), BOUNDED_TOO, "at most d_h^(-1/4) plus that over L, which tends to 0"
    )


# ---- exits -----------------------------------------------------------------------------------------------------------


def exact_rates(lab: Laboratory) -> dict[str, sp.Expr]:
    """Rates of the values at the start of the mean field, M = 3, in the paper's symbols."""
    names = {"m_s": MU2, "m_2": C2 * NOISE, "m_w": NOISE, "w2": W2, "N": N_}
    found = {n: to_sympy(node) for n, node in start_rates(lab).items()}
    return {n: e.subs({s: names[str(s)] for s in e.free_symbols}) for n, e in found.items()}


NEAR = {"-l'": sp.Rational(19, 40), "M attention": sp.Rational(17, 20), "|xi|^2": sp.Rational(49, 50)}
NEARLY = "-l' >= 19/40, attention >= 17/(20M), |xi|^2 >= 49/50 of its mean: what o(1) stands for, by D.1, D.2 and C.4"


def _tight(lower: sp.Expr, upper: sp.Expr, step: str) -> Verdict:
    return identity({"difference": from_sympy(sp.together(lower - 3 * M_ * upper))}, POSITIVE).proving(
        step, M="every", N="every"
    )


@book.claim(
    "D.5",
    "Exit of stage 1",
    kind="inequality",
    uses=["D.1", "D.2", "D.3", "D.4", "B.2", "C.1"],
    where="Lemma D.5",
    parts=("n in S_+", "n in S_-"),
    hypotheses=(*IN_BENIGN, ENOUGH, NEAR_BENIGN),
    statement=r"T_1=\frac{10M(3M+1)N}{\eta d_h^{1/4}(N\|\mu\|_2^2-60M^2C_p^2\sigma_p^2d)\|w_O\|_2^2}:\quad V_+^{(T_1)}\ge3M|V_{n,i}^{(T_1)}|\ (n\in S_+),\quad V_-^{(T_1)}\le-3M|V_{n,i}^{(T_1)}|\ (n\in S_-)",
    reading="At t = T_1, from (17), (18) and the start; N SNR^2 is at least the bound of the proof with C = 40M(3M + 1).",
)
def exit_of_stage_one(lab: Laboratory) -> dict[str, Verdict]:
    """The tight comparison, and both rates."""
    time = common_formulas.exit_benign()
    lower = -H_ + time * ETA * MU2 / (10 * M_) * W2
    upper = H_ + time * 2 * ETA * C2 * NOISE / N_ * W2
    tight = _tight(
        lower,
        upper,
        "V_+ >= -h + T_1 eta mu^2 |w_O|^2/(10M) and |V_n,i| <= h + 2 T_1 eta sigma~_p^2 d |w_O|^2/N: the difference is 0 at T_1",
    )
    C = sp.Symbol("C", positive=True)
    least = 60 * C * M_**2 * C2 / (C - 10 * M_ * (3 * M_ + 1))
    short = sp.cancel(time.subs(MU2, least * NOISE / N_) - C * H_ / (ETA * least * NOISE / N_ * W2))
    rate = NEAR["-l'"] * NEAR["M attention"] / 4 - sp.Rational(1, 10)
    numbers = decided(rate > 0 and short == 0, {"rate": str(rate), "T_1": str(short)}).proving(
        "(18): N/4 samples, " + NEARLY + ", give 323/3200 >= 1/10",
        "at N SNR^2 = 60CM^2C_p^2/(C - 10M(3M + 1)) T_1 is C/(eta d_h^(1/4) mu^2 |w_O|^2), within the time of D.3 and D.4; C = 40M(3M + 1) gives 80M^2C_p^2",
    )
    found = tight & numbers & step_of_gamma(lab) & step_of_rho(lab) & dimension(lab)
    return {"n in S_+": found, "n in S_-": found}


@book.claim(
    "5.2",
    "V's beginning of learning signals",
    kind="inequality",
    uses=["D.5"],
    same_as="D.5",
    where="Lemma 5.2",
    parts=("n in S_+", "n in S_-"),
    hypotheses=(*IN_BENIGN, ENOUGH, NEAR_BENIGN),
    statement=r"T_1=\frac{10M(3M+1)N}{\eta d_h^{1/4}(N\|\mu\|_2^2-60M^2C_p^2\sigma_p^2d)\|w_O\|_2^2}:\quad \mu_+^\top W_V^{(t)}w_O\ge3M|\xi_{n,i}^\top W_V^{(t)}w_O|,\quad \mu_-^\top W_V^{(t)}w_O\le-3M|\xi_{n,i}^\top W_V^{(t)}w_O|\quad\text{at}\ t=T_1",
    reading="As Lemma D.5.",
)
def beginning_of_signals(lab: Laboratory) -> dict[str, Verdict]:
    """The same statement."""
    return exit_of_stage_one(lab)


@book.claim(
    "E.3",
    "Exit of stage 1 (harmful)",
    kind="inequality",
    uses=["D.1", "D.2", "E.1", "E.2", "B.2", "Eq.147"],
    where="Lemma E.3",
    parts=("n in S_+", "n in S_-"),
    hypotheses=(*IN_HARMFUL, ENOUGH, NEAR_HARMFUL),
    statement=r"T_1=\frac{4M(3M+1)N}{\eta d_h^{1/4}(C_p^2-24M)\sigma_p^2d\|w_O\|_2^2}:\quad V_{n,2}^{(T_1)}\ge3M\max\{|V_+^{(T_1)}|,|V_{n,i}^{(T_1)}|\}\ (n\in S_+),\quad V_{n,2}^{(T_1)}\le-3M\max\{|V_-^{(T_1)}|,|V_{n,i}^{(T_1)}|\}\ (n\in S_-),\quad i\ge3",
    reading="From (144), (147) and (150); the constant of N^{-1} SNR^{-2} = Omega(1) is the 1/4 that (144) needs.",
)
def exit_harmful(lab: Laboratory) -> dict[str, Verdict]:
    """The tight comparison, and the three rates."""
    time = common_formulas.exit_harmful()
    lower = -H_ + time * ETA * C2 * NOISE / (4 * N_ * M_) * W2
    upper = H_ + time * 2 * ETA * NOISE / (N_ * M_) * W2
    tight = _tight(
        lower,
        upper,
        "|V_n,2| >= -h + T_1 eta C_p^2 sigma_p^2 d |w_O|^2/(4NM), others <= h + 2 T_1 eta sigma_p^2 d |w_O|^2/(NM): the difference is 0 at T_1",
    )
    signal = sp.cancel((ETA * MU2 / (2 * M_) - 2 * ETA * NOISE / (N_ * M_)).subs(MU2, 4 * NOISE / N_))
    near = sp.Rational(11, 20)
    numbers = {
        "signal": sp.Rational(1, 2) - sp.Rational(3, 4) * near * sp.Rational(11, 10),
        "weak noise": 2 - sp.Rational(3, 2) * sp.Rational(11, 10) - sp.Rational(1, 10),
    }
    rates = decided(signal == 0 and all(x > 0 for x in numbers.values()), {"signal": str(signal)}).proving(
        "(144): 3/4 of the samples, -l' <= 11/20 and M attention <= 11/10 give at most 1/2, and eta mu^2/(2M) is 2 eta sigma_p^2 d/(NM) at N SNR^2 = 4",
        "(150): 3/2 with M attention <= 11/10, and other noise below 1/10 of sigma_p^2 d/N by condition (2), as soon as d_h/eps^2 >= (20 M C_p^2)^2 l",
    )
    found = tight & rates & growth_of_noise_value(lab)["third line"] & step_of_gamma(lab) & step_of_rho(lab)
    return {"n in S_+": found, "n in S_-": found}


@book.claim(
    "Eq.147",
    "Growth of the first noise value",
    kind="inequality",
    uses=["C.4", "D.1", "B.2"],
    origin="proof",
    where="Proof of Lemma E.3, (147)",
    parts=("second line", "third line"),
    hypotheses=(*IN_HARMFUL, ENOUGH, NEAR_HARMFUL),
    statement=r"\rho_{V,n,2}^{(t+1)}-\rho_{V,n,2}^{(t)}\ge\tfrac{\eta\tilde\sigma_p^2d}{2NM}\cdot M(\tfrac1M-o(1))-\tfrac\eta{NM}\cdot MN\cdot2\tilde\sigma_p^2\sqrt{d\log(4N^2M^2/\delta)}\ge\tfrac{\eta\tilde\sigma_p^2d}{4NM}",
    reading="While -l' is 1/2 up to o(1); the squared length is its mean up to o(1) as d grows, which is more than Lemma C.4 says.",
)
def growth_of_noise_value(lab: Laboratory) -> dict[str, Verdict]:
    """The derived rate at uniform attention is the second line; the third has half of it to spare."""
    rate = sp.cancel(exact_rates(lab)["v_2"] * N_ * 3 / (C2 * NOISE * W2))
    r = flint.arb("0.98")
    exponent = (r - 1 - r.log()) / 2
    seen = decided(rate == sp.Rational(1, 2) and bool(exponent > 0), {"rate": str(rate)}).proving(
        "the derived rate at uniform attention and -l' = 1/2 is |xi|^2/(2NM), and |xi|^2 >= 49/50 of its mean but for exp(-10^-4 d)",
        M=3,
        N="every",
    )
    slack = NEAR["-l'"] * NEAR["M attention"] * NEAR["|xi|^2"] - sp.Rational(1, 4) - sp.Rational(1, 10)
    third = decided(slack > 0, {"slack": str(slack)}).proving(
        NEARLY + "; other noise takes at most 1/10 by condition (2)"
    )
    return {"second line": seen & step_of_rho(lab), "third line": seen & third & step_of_rho(lab) & dimension(lab)}


@book.claim(
    "Eq.28",
    "Size of V at the end of stage 1",
    kind="order",
    expect="fails",
    uses=["D.3", "E.1", "D.5", "Eq.147"],
    origin="proof",
    source="damaged",
    where="Remark after (28); last lines of the proofs of Lemmas D.3 and E.1",
    parts=("(28)", "D.3", "E.1"),
    hypotheses=CONDITION_4_1,
    statement=r"V_+^{(T_1)}=O(d^{-1}),\quad |V_{n,i}^{(t)}|=O(d^{-1/4})\ \text{(last line of D.3)},\quad |V_{n,i}^{(t)}|=O(d^{-1/4})\ \text{(last line of E.1)}",
    reading="As the text at hand has it; d is written where the lemmas have d_h, unless an index was lost.",
)
def size_at_exit(lab: Laboratory) -> dict[str, Verdict]:
    """Lower bounds at T_1 by (19), (147) and (148), all multiples of d_h^(-1/4); by (2) d/d_h is at least N^2/eps^2."""
    noise = ETA * C2 * NOISE / (4 * N_ * M_) * W2  # (147), a step
    gains = {
        "(28)": (True, "V_+", "(19)", -1.0, exit_gain()),
        "D.3": (True, "y_n V_n,2", "the rate of (147)", -0.25, common_formulas.exit_benign() * noise),
        "E.1": (False, "y_n V_n,2", "(148)", -0.25, common_formulas.exit_harmful() * noise),
    }
    fixed, out = {True: values_small(lab), False: values_small_harmful(lab)}, {}
    for part, (benign, name, rule, power, gain) in gains.items():
        point = exact_point(benign)
        width, size = float(point["d_h"]), float(point["d"])
        start = 2 * float(point["sigma_V"] * point["C_p"] * point["sigma_p"]) * sqrt(size * 150) * width**0.25
        at = {MU2: point["n_snr2"] * NOISE / N_, M_: point["M"], C2: point["C_p"] ** 2}
        factor = float(sp.cancel((gain / H_).subs(at))) - start  # of d_h^(-1/4)
        sentence = (
            f"at d_h = {say_number(width)} and d = {say_number(size)} (all hypotheses hold) {name} at T_1 is at least {say_number(factor * width**-0.25)} by {rule}, "
            f"and d^({power:g}) is {say_number(size**power)}; their quotient grows at least like (N/eps)^(1/2), by (2)"
        )
        wrong = decided(factor <= 0, Witness(sentence, point)).arguing(
            "argues in words: from lower bounds of other displays"
        )
        right = fixed[benign]
        out[part] = wrong.correcting(
            r"O(d_h^{-1/4})", right["V_+-"] & right["V_n,i"], "as Lemmas D.3 and E.1 state"
        ).blaming("misprint", "d-for-d_h")
    return out


def exit_gain() -> sp.Expr:
    """What (19) adds to -d_h^(-1/4)."""
    return common_formulas.exit_benign() * ETA * MU2 / (10 * M_) * W2


@book.claim(
    "E.1-intro",
    "Which value leads in the harmful regime",
    kind="inequality",
    expect="fails",
    uses=["E.3"],
    origin="text",
    where="First sentences of Appendices E.1 and E.2",
    parts=("values", "attention"),
    hypotheses=IN_HARMFUL,
    statement=r"\text{stage I: until}\ |V_\pm|\ \text{is sufficiently larger than}\ |V_{n,i}|;\quad\text{stage II:}\ \langle q_+,k_+\rangle,\langle q_{n,i},k_+\rangle\ \text{grow},\ \langle q_+,k_{n,j}\rangle,\langle q_{n,i},k_{n,j}\rangle\ \text{decrease, attention focuses on the signal}",
    reading="The sentences of the benign part are repeated; in the lemmas themselves the first noise token leads.",
)
def who_leads(lab: Laboratory) -> dict[str, Verdict]:
    """Rates at uniform attention, exactly."""
    rates = exact_rates(lab)
    if rates["v_2"] == 0:
        return {part: undecided("the noise tokens learn nothing") for part in ("values", "attention")}
    share = sp.cancel((rates["v_s"] / rates["v_2"]).subs(MU2, X * NOISE / N_))  # N SNR^2 / (2 C_p^2)
    gain = sp.cancel((2 * rates["v_s"] - rates["v_2"] - rates["v_w"]).subs(MU2, X * NOISE / N_) * N_ / (NOISE * W2))
    point = base(lab.draw, False).point
    at = {X: sp.nsimplify(point["n_snr2"]), C2: 75}
    value, pull = share.subs(at), gain.subs(at)
    here = f"at N SNR^2 = {say_number(point['n_snr2'])}, M = 3, C_p^2 = 75 (all hypotheses hold)"
    values = decided(
        value >= 1, Witness(f"{here} |V_+-| grows {say_number(float(value))} times as fast as |V_n,2|", point)
    )
    signal = decided(
        pull >= 0,
        Witness(
            f"{here} the force on the score of the signal with itself is negative: 2V_+ - V_n,2 - V_n,3 < 0", point
        ),
    )
    fixed = exit_harmful(lab)["n in S_+"]
    out = {}
    for part, verdict, why, formula in (
        (
            "values",
            values,
            "as Lemma E.3 states",
            r"|V_{n,2}|\ \text{is sufficiently larger than}\ |V_\pm|\ \text{and}\ |V_{n,i}|,\ i\ge3",
        ),
        (
            "attention",
            signal,
            "as proposition L(t) states",
            r"\langle q,k_{n,2}\rangle\ \text{grows, attention focuses on}\ \xi_{n,2}",
        ),
    ):
        out[part] = verdict.proving(M=3).correcting(formula, fixed, why).blaming("misprint", "copied-from-benign")
    return out


@book.claim(
    "Beyond.stage-one",
    "Where stage 1 begins to make sense",
    kind="existence",
    uses=["D.5", "E.3"],
    origin="ours",
    insensitive=NUMBERS,
    hypotheses=(),
    statement=r"V^{(T_1)}\le\tfrac1{10}\ \text{and scores}\le\tfrac1{10}\ \text{at the printed}\ T_1:\ \text{the harmful regime needs a logarithm a hundred times larger}",
    reading="Closed forms of uniform attention, M = 3: least d_h for values, least logarithm for scores; benign at twice the smallest N SNR^2.",
)
def where_stage_one_lives(lab: Laboratory) -> Verdict:
    """Numbers from the closed forms: V at T_1 is a constant times d_h^(-1/4), scores a constant times L^(-7/4)."""
    found: dict[str, float] = {}
    for benign, inside in ((True, Inside()), (False, Inside(n_snr2=0.5))):
        case, name = inside.case, "benign" if benign else "harmful"
        tau = time_one(case, benign)
        m = np.array([case.m_s, case.m_2, case.m_w])
        rate = m * case.w2 / (2 * case.N * 3) * np.array([case.N / 2, 1, 1])
        shared = np.ones((3, 3))
        shared[0, 0] = case.N / 2
        gain = case.kappa * np.outer(m, m) * shared * (rate - rate.mean()) * tau**2 / (2 * case.N * 9)
        value, score = float((rate * tau).max()) * case.d_h**0.25, float(np.abs(gain).max()) * inside.widths[2] ** 1.75
        found |= {f"{name}: least d_h": (10 * value) ** 4, f"{name}: least logarithm": (10 * score) ** (4 / 7)}
    shown = {name: say_number(x) for name, x in found.items()}
    later = found["harmful: least logarithm"] > 100 * found["benign: least logarithm"]
    because = "closed forms at uniform attention (Beyond.MF.stage1), in floats; the factor 100 is far from both"
    found_at = measured(later, shown, **shown).at(Inside().point, Inside(n_snr2=0.5).point)
    return found_at.within({"factor": 100}, because).with_constants(**shown)
