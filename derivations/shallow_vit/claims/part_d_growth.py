"""Growth of neurons and keys in the proofs: the comparison equation, its integral, and how long keys can become."""

from __future__ import annotations

from fractions import Fraction

import flint

from odesys import (
    HOLDS,
    ONE,
    Evidence,
    Node,
    Verdict,
    Witness,
    always_positive,
    as_ball,
    decided,
    enumerate_all,
    equal,
    graph,
    identity,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import CONSTANTS, NUMBERS, PRINTED, THEOREM_1, claim
from .common_motion import RIGHT_SIDES, too_slow
from .part_d_orders import alpha, error, eta, n, p, power, t


@claim(
    "Eq.99-101",
    "Size of neurons at the start",
    kind="probability",
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 1, Eqs. (99)-(101)",
    parts=["(99), (100)", "(101)"],
    hypotheses=(CONSTANTS,),
    statement=r"\Pr(\|W_{O(i,\cdot)}^{(0)}\|\lesssim\xi)\lesssim\xi,\qquad\|W_{O(i,\cdot)}^{(0)}p_1\|\gtrsim\xi\ \text{for all }i\in[m]\text{ with high probability}",
    reading="(99), (100) for xi = 1/sqrt(M), M < m_a, constants 1/2 and 1/10, m at most e^m_a; (101) along m, which (7) lets grow, any constant",
)
def neurons_at_start(lab: Laboratory) -> dict[str, Verdict]:
    """Error functions in balls.

    The text before (99) has w ~ N(0, xi^2 I/m_a), Algorithm 1 entries N(0, xi^2). The probability of |w' p_1| >= xi/10
    for all of m = 1000 neurons, (1 - erf(sqrt(m_a)/(10 sqrt 2)))^1000 or (1 - erf(1/(10 sqrt 2)))^1000, is free of xi
    for both; corrected, with entries N(0, xi^2): with probability at least 1 - q all |w' p_1| >= q sqrt(pi/2) xi / m, by balls
    for m = 2, 4, .., 4096 and q in 1/2, 1/10, 1/100.
    """
    with flint.ctx.workprec(128):
        # |w'p_1| >= xi/10 for one neuron: with variance xi^2/m_a, m_a = 10, and with xi^2
        one = [1 - (as_ball(Fraction(1, 10)) * (flint.arb(size) / 2).sqrt()).erf() for size in (10, 1)]
        rare = all(bool(share**1000 < 0.01) for share in one)
    sentence = (
        "with w ~ N(0, xi^2 I/m_a), as printed before (99), and m_a = 10: the probability that all m neurons have |w'p_1| >= "
        f"k xi is (1 - erf(k sqrt 5))^m, which tends to 0 with m, {float(one[0]):.4f}^m at k = 1/10. With entries N(0, xi^2) it "
        f"is {float(one[1]):.4f}^m"
    )
    printed = decided(not rare, Witness(sentence, {"m": 1000, "m_a": 10}), Evidence.CERTIFICATE)

    def large(case: tuple[int, Fraction]) -> bool:
        count, q = case
        with flint.ctx.workprec(128):
            level = as_ball(q) * (flint.arb.pi() / 2).sqrt() / count
            return bool((1 - (level / flint.arb(2).sqrt()).erf()) ** count >= 1 - as_ball(q))

    fixed = enumerate_all([(2**k, Fraction(1, q)) for k in range(1, 13) for q in (2, 10, 100)], large, "pairs (m, q)")
    with flint.ctx.workprec(
        128
    ):  # (1 - erf(x / sqrt 2))^1000 = 1/2, and erf(x / sqrt 2) = x sqrt(2 / pi) to first order
        median = float((1 - flint.arb(2) ** (-flint.arb(1) / 1000)) * (flint.arb.pi() / 2).sqrt())
    fails = printed.correcting(
        r"w_{ij}\sim\mathcal N(0,\xi^2):\ \Pr(|w'p_1|\le x\xi)=\mathrm{erf}(x/\sqrt2);\quad\min_i|w_i'p_1|\ge q\sqrt{\pi/2}\,\xi/m\ \text{with probability}\ge1-q",
        fixed,
        "the law of w/xi does not contain xi, and the smallest of m is of order xi/m; with the variance xi^2/m_a put "
        "xi/sqrt(m_a) for xi",
    ).with_constants(median_of_the_least_over_xi_at_m_1000=round(median, 6))
    return {"(99), (100)": _lengths_at_start(), "(101)": fails.blaming("proof", "least-of-m-neurons")}


def _lengths_at_start() -> Verdict:
    """m_a |w|^2/xi^2 is a chi-square variable of k = m_a degrees: Pr(chi^2 <= k x) <= (x e^(1 - x))^(k/2) by Chernoff.

    At x = 1/4 this is at most 1/sqrt(k) <= 1/sqrt(M) = xi, for every k; at x = 1/100 it is below e^-k 2^-k.
    """

    def bounded(k: int) -> bool:
        with flint.ctx.workprec(96):
            return bool((as_ball(Fraction(3, 4)).exp() / 4) ** k * k < 1)  # squared

    with flint.ctx.workprec(96):
        later = bool(as_ball(Fraction(3, 4)).exp() / 4 * as_ball(Fraction(3, 2)) < 1)  # (k + 1)/k <= 3/2 for k >= 2
        all_neurons = bool(
            (as_ball(Fraction(99, 100)).exp() / 100) * flint.arb(2).exp() * 4 < 1
        )  # squared, times e^2 2^2
    if not (later and all_neurons):
        return undecided("Chernoff's bound is too weak")
    return enumerate_all((1, 2), bounded, "degrees k, larger ones by the ratio of neighbours").proving(
        "Pr(|w| <= xi/2) <= (e^(3/4)/4)^(m_a/2) <= 1/sqrt(m_a) <= 1/sqrt(M) = xi: k = 1, 2 in balls, and the bound over 1/sqrt(k) falls from k = 2 on",
        "Pr(|w| <= xi/10) <= (2 e)^(-m_a): for m <= e^(m_a) all m neurons are longer with probability at least 1 - 2^(-m_a)",
    )


@claim(
    "Eq.102-107",
    "Comparison equation",
    kind="identity",
    uses=["Eq.94-98"],
    expect="fails",
    insensitive=PRINTED,
    origin="proof",
    where="Proof of Claim 1, Eqs. (102) and (108)",
    parts=["equation", "exponent"],
    hypotheses=(),
    fault="proof",
    cause="lost-eta",
    statement=r"(98)\Rightarrow(102)\ \frac{\partial y}{\partial t}=\Theta\Big(\frac1a\Big(\alpha p-\sigma-\tau+\eta t\,\alpha\frac{\alpha m}{2a}p\,y\Big)\Big),\quad(108)\ y\ge e^{\eta t^2\alpha^2mp/(4a^2)}\xi",
    reading="right-hand side and exponent over what (98) gives, any constant in Theta, along eta to 0",
)
def comparison_equation(lab: Laboratory) -> dict[str, Verdict]:
    """Printed right-hand side over the increment of (98), as a power of eta, and the residual of the solution.

    (98) is y(t+1) - y(t) = (eta/a)(alpha p - e + eta t alpha^2 m p y/(2a)); the printed equation and the printed
    exponent (its homogeneous solution) over it, both 1/eta exactly; with s = eta t: y' = (alpha p - e)/a + k s y, k = alpha^2 m p/(2
    a^2), solved by e^{k s^2/2}(y_0 + b_0 J(s)), J' = e^{-k s^2/2}, J(0) = 0.
    """
    y, y0, s, J = sym("y"), sym("y0"), sym("s"), sym("J")
    A, names = sym("a"), ("a", "alpha", "error", "eta", "p", "t", "y")
    m = A * A  # as the proof chooses it
    inside = alpha * p - error + eta * t * alpha * (alpha * m / (2 * A)) * p * y
    increment, printed_rhs = eta / A * inside, inside / A
    exponent = eta * t**2 * alpha**2 * m * p / (4 * A**2)  # of (108)
    slope = graph.gradient(exponent, [t])[0]
    by_98 = eta * (eta * t * alpha * (alpha * m / (2 * A)) * p) / A
    k, b0 = alpha**2 * m * p / (2 * A**2), (alpha * p - error) / A
    solution = graph.exp(k * s * s / 2) * (y0 + b0 * J)
    ds, dJ = graph.gradient(solution, [s, J])
    total = ds + dJ * graph.exp(-k * s * s / 2)
    right = identity(
        {
            "residual": total - b0 - k * s * solution,
            "start": graph.substitute([solution], {s: graph.ZERO, J: graph.ZERO})[0] - y0,
            "(98) in s": graph.substitute([increment / eta], {t: s / eta})[0] - b0 - k * s * y,
        }
    )
    solved = r"y(s)=e^{ks^2/2}\Big(y_0+b_0\int_0^se^{-ku^2/2}du\Big),\ s=\eta t,\ k=\tfrac{\alpha^2mp}{2a^2}"
    why = "one factor eta of (98) is lost in (102); the integral starts at 0"
    path = "for eta to 0 with all else fixed"

    def unbounded(over: Node, under: Node, sentence: str) -> Verdict:
        """Refuted if the ratio is 1/eta, exactly."""
        ratio = equal({"ratio": (over * eta, under)}, positive=names)
        found = refuted(Witness(sentence, {})) if ratio.as_stated == HOLDS else undecided("the ratio is not 1/eta")
        found = found.stating({"eta times the printed one": (over * eta, "=", under)}, names)
        found = found.proving("the ratio of both is 1/eta, exactly, which no constant bounds")
        return found.correcting(solved, right, why)

    return {
        "equation": unbounded(
            printed_rhs,
            increment,
            f"{path} the right-hand side of (102) is 1/eta times the increment of (98), so that no constant in Theta is left",
        ),
        "exponent": unbounded(
            slope,
            by_98,
            f"{path} the exponent of (108) grows 1/eta times as fast as (98) says, and has no hidden constant",
        ),
    }


@claim(
    "Eq.104-105",
    "Gaussian integral",
    kind="order",
    uses=["Eq.102-107"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 1, Eqs. (104), (105)",
    parts=["integral"],
    hypotheses=(),
    fault="proof",
    cause="lost-eta",
    statement=r"\int_{-\infty}^\infty e^{-cu^2}du=\sqrt{2\pi}/c=\Theta(\eta^{-1}),\quad c\propto\eta;\qquad C_0=\xi(1-\Theta(\eta^{-1}))\ (107)",
    reading="the Gaussian integral as a function of its exponent c, which is proportional to eta",
)
def gaussian_integral(lab: Laboratory) -> Verdict:
    """The integral in balls, and the powers of eta.

    Ball integration of e^{-u^2} on [-12, 12] (the tail is below e^{-144}) against sqrt(2 pi) at c = 1; substituting
    u -> u/sqrt(c), the order in eta is -1/2 with the printed exponent c = eta k, and -1 with the corrected c =
    eta^2 k.
    """
    with flint.ctx.workprec(96):
        value = flint.acb.integral(lambda z, _: (-z * z).exp(), flint.acb(-12), flint.acb(12)).real
        root, printed_value = flint.arb.pi().sqrt(), (2 * flint.arb.pi()).sqrt()
        close, wrong = bool(abs(value - root) < 1e-20), bool(abs(value - printed_value) > as_ball(Fraction(1, 2)))
    k, small = sym("k"), sym("h")  # eta = 1/h
    integral = graph.sqrt(sym("pi") / sym("c"))
    order = {
        name: power(graph.substitute([integral], {sym("c"): choice})[0], "h")
        for name, choice in (("eta", k / small), ("eta^2", k / small**2))
    }
    sentence = "for c = k eta and eta to 0 the integral is sqrt(pi/c), of the order eta^(-1/2), while the right side is of the order eta^(-1)"
    printed = decided(not wrong and order["eta"] == 1, Witness(sentence, {}), Evidence.CERTIFICATE)
    fixed = decided(
        close and order["eta"] == Fraction(1, 2) and order["eta^2"] == 1,
        order,
        Evidence.CERTIFICATE,
        orders=", ".join(f"c of order {name}: eta^-{value}" for name, value in order.items()),
    )
    return printed.correcting(
        r"\sqrt{\pi/c}:\ \Theta(\eta^{-1/2})\text{ for }c\propto\eta,\ \Theta(\eta^{-1})\text{ for the corrected }c\propto\eta^2",
        fixed,
        "with the factor eta that was lost the order is the printed one; the width of a Gaussian is c^{-1/2}; from minus infinity it makes C_0 < 0, so that (108) does not follow",
    )


@claim(
    "Eq.61-63",
    "Growth of the keys",
    kind="order",
    uses=["Eq.60", "Eq.125", "Eq.161"],
    expect="fails",
    origin="proof",
    where="Proof of Theorem 1, Eqs. (61)-(63)",
    parts=["growth"],
    hypotheses=THEOREM_1,
    fault="proof",
    cause="log-T",
    statement=r"q_1(T)\gtrsim\Big(1+\frac\eta{e^{\|q_1(T)\|^2-\epsilon\|q_1(T)\|}}\Big)^T\ \Rightarrow\ \|q_1(T)\|^2=\Theta(\log T)",
    reading="eta T = Theta(1), as before (60), or T of (10), eta to 0 with all else fixed; any constants in (60) and in Theta",
)
def growth_of_keys(lab: Laboratory) -> Verdict:
    """Keys and queries are bounded free of eta while eta T is, and log T is not; beside it the limit of the printed recursion.

    (61) with equality, eta T = 1 and eps = 0 is x -> x (1 + eta e^{-x}) from x = 1. Its limit solves x' = x e^{-x}, i.e.
    Ei(x) = Ei(1) + eta T, so that x = Theta(log(eta T)); in balls at T = 4096.
    """
    with flint.ctx.workprec(128):
        x = flint.arb(1)
        for _ in range(4096):
            x = x * (1 + (-x).exp() / 4096)
        limits = {s: _ei_inverse(s) for s in (1, 10, 1000)}
        rising = bool(limits[1000] - limits[10] > 4)
    near = abs(float(x) - float(limits[1])) < 1e-3
    fixed = decided(
        near and rising,
        {"limit": str(limits[1])},
        Evidence.CERTIFICATE,
        values=", ".join(f"eta T = {s}: {float(x):.4f}" for s, x in limits.items()),
    )
    sentence = (
        "for eta to 0 (all hypotheses hold), at every T with bounded eta T, also that of (10), |W_K|, |W_Q| are bounded free of eta, "
        "and with them |q_1(T)|^2, while log T is unbounded"
    )
    return (
        too_slow(lab, ONE, n, sentence, "length_of_keys.v")
        .proving(
            "|q_1(T)|^2 >= c log T would make e^{|q_1(T)|^2} at least T^c, a power of 1/eta for every c > 0; the left side is bounded; c = 1 is shown"
        )
        .correcting(
            r"\mathrm{Ei}(\|q_1\|^2)=\mathrm{Ei}(1)+\eta T:\quad\|q_1(T)\|^2=\Theta(\log(2+\eta T)),\ \text{where (60) holds with the constant 1}",
            fixed,
            "T enters with eta, and eta T = Theta(1)",
        )
    )


def _ei_inverse(s: int) -> flint.arb:
    """x with Ei(x) = Ei(1) + s, enclosed by bisection with ball values."""
    target = flint.arb(1).ei() + s
    low, high = Fraction(1), Fraction(40)
    while high - low > Fraction(1, 10**8):
        middle = (low + high) / 2
        if as_ball(middle).ei() < target:
            low = middle
        else:
            high = middle
    return as_ball(low).union(as_ball(high))


@claim(
    "Eq.64-65",
    "Level of attention",
    kind="order",
    uses=["Eq.61-63"],
    expect="fails",
    origin="proof",
    where="Proof of Theorem 1, Eqs. (64), (65)",
    parts=["(64)", "(65)"],
    hypotheses=THEOREM_1,
    statement=r"p_n(T)\gtrsim\frac{T^C}{T^C+\frac{1-\alpha}\alpha}\ge1-\Theta(\eta^C),\qquad\phi_n(T)(|S^n|-|S_1^n|)\le\eta^C\ \text{for some large }C",
    reading="the step from (63) is right, (63) is not: every C > 0 and eta T = Theta(1), or T of (10), eta to 0 with all else fixed",
)
def level_of_attention(lab: Laboratory) -> dict[str, Verdict]:
    """Logits are bounded free of eta while eta T is, so one minus the attention stays above a constant.

    What would follow from (63) with T = c/eta, where x is T^C and k is (1 - alpha)/alpha: 1 - p = k/(x + k) < k/x.
    """
    x, k = sym("x"), sym("k")
    given = identity({"1 - left": 1 - x / (x + k) - k / (x + k)}) & always_positive(
        {"k/x - k/(x + k)": k / x - k / (x + k)}, positive=("x", "k")
    )
    why = "|q_1(T)|^2 is bounded where eta T is (Eq.61-63), and not of the order log T"
    start = "for every C > 0 and eta to 0 (all hypotheses hold), at every T with bounded eta T, also that of (10), all logits are bounded free of eta"
    said = {
        "(64)": (f"{start}: 1 - p_n(T) stays above a constant, and is not O(eta^C)", r"1-p_n=\frac k{T^C+k}"),
        "(65)": (f"{start}: phi_n(T) (|S| - |S_1|) stays above a constant", r"\phi_n(|S|-|S_1|)=\frac k{T^C+k}"),
    }
    return {
        part: too_slow(lab, ONE, n, sentence, RIGHT_SIDES, "level_of_attention.v")
        .proving(
            "the left side is bounded by a constant over eta^0, the right side of its reciprocal grows like eta^-C; C = 1 is shown"
        )
        .correcting(
            rf"{form}<\eta^C\tfrac{{1-\alpha}}\alpha c^{{-C}}\ \text{{if}}\ \|q_1\|^2=C\log T,\ T=c/\eta,\ \epsilon=0",
            given,
            why,
        )
        .blaming("proof", "log-T")
        for part, (sentence, form) in said.items()
    }
