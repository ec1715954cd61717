"""Appendix D, orders: powers of eta, t, m and alpha in the printed bounds, and what they give."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import flint

from odesys import (
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
    leading_orders,
    sym,
)

from ..laboratory import Laboratory
from .book import COQ, NUMBERS, PRINTED, claim

alpha, error, p, m, n = (
    sym(name) for name in ("alpha", "error", "p", "m", "n")
)  # error = sigma + tau, alpha = |S_1|/|S|
eta, t, T = sym("eta"), sym("t"), sym("T")
a, xi = graph.sqrt(m), 1 / graph.sqrt(m)  # the choices made before (67)


def power(node: Node, name: str) -> Fraction:
    """Exponent of a symbol in the leading term as it grows."""
    ((exponent, _),) = leading_orders([node], name)
    return exponent


def growth_34(step: Node) -> Node:
    """The bracket of (34): xi (1 + eta t^2 alpha^2 m p / (4 a^2)); `step` stands for eta t^2."""
    return xi / a * step * alpha * (alpha * m / a * p) / 4


def lucky_part(first: Node, second: Node) -> tuple[Node, Node]:
    """The two terms of (56) as (66) has them (in (56) one factor m more is printed in the first); `first` is eta t^2 and `second` is eta t times its square."""
    outside = alpha * m / a
    one = outside * xi * first * alpha * m / a**2 * (alpha * p / 4 - error) * p
    two = outside * m * alpha * p / (2 * a) * second * (growth_34(graph.ONE)) ** 2
    return one, two


@claim(
    "Eq.66",
    "Margin condition",
    kind="order",
    uses=["Eq.55-59", "Eq.34"],
    insensitive=PRINTED,
    origin="proof",
    where="Proof of Theorem 1, Eq. (66)",
    source="damaged",
    parts=["terms"],
    hypotheses=(),
    statement=r"(56)\ge1,\ \text{first step: letting}\ a=\sqrt m,\ \xi=1/\sqrt m",
    reading="most of the display is lost; what its first step says, with the first line as (66) has it, one m less than (56): no m is left",
)
def margin_condition(lab: Laboratory) -> Verdict:
    """The two terms as (66) has them, with these choices: both are free of m, with eta T^2 and eta^3 T^5.

    The second one is 1 at T = (32/p^3)^{1/5} eta^{-3/5} alpha^{-6/5}; the power of alpha in T is judged at (70).
    """
    one, two = lucky_part(eta * T**2, eta * T * (eta * T**2) ** 2)
    free = equal(
        {
            "first": (one, alpha**2 * eta * T**2 * (alpha * p / 4 - error) * p),
            "second": (two, alpha**6 * eta**3 * T**5 * p**3 / 32),
        },
        positive=("m", "alpha", "p"),
    )
    powers = {name: -power(two, name) / power(two, "T") for name in ("eta", "alpha")}
    return free.with_constants(**{f"power of {name} in T": str(value) for name, value in powers.items()})


@claim(
    "Eq.70",
    "Stopping time from a_1",
    kind="order",
    uses=["Eq.66", "Eq.69"],
    expect="fails",
    insensitive=PRINTED,
    origin="proof",
    where="Proof of Theorem 1, Eq. (70)",
    parts=["order"],
    hypotheses=(),
    fault="proof",
    cause="power-of-alpha",
    statement=r"T=\frac{\eta^{-3/5}}{a_1},\quad a_1=\tfrac{|S_1|}{|S|}\tfrac1N\sum_n\big(\tfrac{|S_*|}{|S|}p_n-(\sigma+\tau)\big)p_n=\Theta(\alpha_*)",
    reading="equal fractions alpha, sigma + tau = 0, constant attention p, alpha to 0: a_1 as printed, with the summand of (69), and what (66) asks for",
)
def stopping_from_a1(lab: Laboratory) -> Verdict:
    """Order in n = 1/alpha.

    Equal fractions alpha in all samples, sigma + tau = 0, p a positive constant: order of a_1 as alpha -> 0.
    """
    a1 = graph.substitute([alpha * (alpha * p - error) * p], {alpha: 1 / n, error: graph.ZERO})[0]
    exponent = -power(a1, "n")
    _, largest = lucky_part(eta * T**2, eta * T * (eta * T**2) ** 2)  # of order 1 in (66)
    needed = -power(graph.substitute([largest], {alpha: 1 / n, error: graph.ZERO})[0], "n") / power(largest, "T")
    sentence = (
        f"for alpha to 0, sigma = tau = 0 and equal fractions a_1 as printed is of the order alpha^{exponent}; with the summand "
        f"of (69) it would be alpha, but then T is not that of (66), which is of the order alpha^(-{needed})"
    )
    printed = decided(exponent == 1 or needed == 1, Witness(sentence, {}), Evidence.PROOF)
    below, more = sym("c"), sym("r")  # for every constant c there are alpha at which a_1 is below c alpha
    small = {error: graph.ZERO, alpha: below / (p**2 + more)}
    found = {"a_1 and c alpha": (alpha * (alpha * p - error) * p, "<", below * alpha)}
    printed = printed.stating(found, ("c", "p", "r"), at=small)
    fixed = equal(
        {"a_1": (graph.substitute([alpha * (alpha * p - error) * p], {error: graph.ZERO})[0], alpha**2 * p**2)}
    )
    return printed.correcting(r"a_1=\Theta(\alpha_*^2)", fixed, "the factor |S_1|/|S| in front is lost")


@claim(
    "Eq.9",
    "Batch size",
    kind="condition",
    uses=["Eq.55-59"],
    same_as="Eq.68, Eq.154",
    insensitive=PRINTED,
    where="Theorem 1, Eq. (9), with (68) and (154)",
    hypotheses=(),
    statement=r"B\ge\Omega(1),\quad|S^n|\ge\Omega(1)",
    reading="a condition that excludes no batch size",
)
def unlucky_against_lucky(lab: Laboratory) -> Verdict:
    """The factor alpha sqrt(m/B) of (59) is one half at B = 4 alpha^2 m, which the condition does not ask for."""
    B = sym("B")
    (half,) = graph.substitute([alpha * m / a / graph.sqrt(B)], {B: 4 * alpha**2 * m})
    return identity({"factor": half - Fraction(1, 2)}, positive=("m", "alpha"))


@claim(
    "Eq.67",
    "Sums of powers of attention",
    kind="order",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Theorem 1, Eq. (67)",
    parts=["sum"],
    hypotheses=(),
    statement=r"\sum_{b=1}^Tb^{o_1}p_n(b)^{o_2}\gtrsim T^{o_1+1}p_n(T)^{o_2}",
    reading="given p_n(0) <= p_n(b) <= 1 (see Eq.149-150), whole o_1 up to 6; the constant p_n(0)^o_2/(o_1 + 1) contains alpha_*, which is enough for (66)",
)
def sums_of_powers(lab: Laboratory) -> Verdict:
    """Each summand of the telescope, with b = 1 + r.

    Constant p_n(0)^{o_2}/(o_1 + 1), for p_n(0) <= p_n <= 1 (true by Lemma 2 if p_n does not fall): sum b^o >=
    T^{o+1}/(o+1) by telescoping, b^{o+1} - (b-1)^{o+1} <= (o+1) b^o for o = 0..6, b >= 1.
    """
    r = sym("r")
    parts = {f"o = {o}": (o + 1) * (1 + r) ** o - (1 + r) ** (o + 1) + r ** (o + 1) for o in range(1, 7)}
    zero = identity({"o = 0": graph.num(1) - ((1 + r) - r)})
    told = {"constant": (("o",), 1 / (1 + sym("o")))}
    found = (zero & always_positive(parts, nonnegative=("r",), positive=())).by_theorems(COQ / "sums_of_powers.v", told)
    return found.with_constants(constant="p_n(0)^o2 / (o1 + 1)")


@claim(
    "Eq.69",
    "Concentration of the sample mean",
    kind="probability",
    uses=["Lem.1"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Theorem 1, Eq. (69)",
    parts=["deviation"],
    hypotheses=(),
    statement=r"\Big|\tfrac1N\sum_n\tfrac{|S_*|}{|S|}p_n(p_n-(\sigma+\tau))-\mathbb E\tfrac{|S_*|}{|S|}\Big|\lesssim\sqrt{\tfrac{\log N}N}+c'(1-\zeta)+c''(\sigma+\tau)",
    reading="c' = 2 alpha_*, c'' = alpha_*, twice the printed first term; attention between zeta and 1",
)
def sample_mean(lab: Laboratory) -> Verdict:
    """Exact remainders, and the exponents of Hoeffding.

    Zeta <= p_n <= 1, 0 <= sigma + tau <= 1: 0 <= 1 - p(p - e) <= 2 (1 - p) + e, so c' = 2 alpha_*, c'' = alpha_*;
    the first term by Hoeffding for variables in [-1, 1]: 2 exp(-N t^2/2) at t^2 = 4 log N / N is 2 N^{-2} (exact
    tails of signs for N = 2..200; the printed t^2 = log N / N gives 2 N^{-1/2} only).
    """
    r, e, rest = sym("r"), sym("e"), sym("rest")  # r = 1 - p
    gap = 1 - (1 - r) * (1 - r - e)
    exact = identity({"upper": 2 * r + e - gap - r * (r + e), "lower": gap - (r * (1 + (1 - r)) + e * (1 - r))})
    signs = always_positive({"gap": r * (1 + rest) + e * rest, "room": r * (r + e)}, positive=("r", "e", "rest"))

    def tail(N: int) -> bool:  # signs have the heaviest tails among variables in [-1, 1] that Hoeffding's proof meets
        with flint.ctx.workprec(96):
            square = 4 * N * as_ball(N).log()
            weight = sum(comb(N, k) for k in range(N + 1) if not as_ball((2 * k - N) ** 2) < square)
        return Fraction(weight, 2**N) <= Fraction(2, N * N)

    first = enumerate_all(range(2, 201), tail, "sample sizes N, variables +-1")
    found = (exact & signs & first).proving(
        "|mean X p(p - e) - E X| <= |mean X - E X| + mean X (1 - p(p - e)): Hoeffding is needed for the fractions X alone, which are independent; "
        "the middle line of (69), whose p_n(T) depends on the training set, is not used"
    )
    return found.with_constants(c_prime="2 alpha_*", c_double_prime="alpha_*")


@claim(
    "Eq.73",
    "Without attention",
    kind="order",
    uses=["Eq.69", "Eq.149-150"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Theorem 1, Eq. (73) and the words after it",
    parts=["order", "scale-up"],
    hypotheses=(),
    statement=r"c'(1-\zeta)=O(\alpha_*(1-\alpha_*)),\ \text{which can scale up the sample complexity in (72) by}\ \alpha_*^{-2}",
    reading="attention at the start in place of zeta, errors of the logits at most 1; `can`: for the constant 1 in O, and not for others",
)
def without_attention(lab: Laboratory) -> dict[str, Verdict]:
    """The bound, and the denominator of (72) with alpha_* (1 - alpha_*) for c'(1 - zeta).

    C' = 2 alpha_* of Eq.69 and 1 - zeta = 1 - p_n(0) <= 1 - alpha_* (eps <= 1): at most 2 alpha_* (1 - alpha_*). With c = 1/2 in
    O the denominator is of the order alpha_*, with c = 2 negative.
    """
    rest, small = sym("rest"), sym("small")  # rest = 1 - alpha, small = 1 - eps
    missed = rest / (alpha * graph.exp(small) + rest)  # 1 - p_n(0)
    bound = always_positive(
        {"(1 - alpha) - (1 - p), alpha + rest = 1": rest / (alpha + rest) - missed}, positive=("alpha", "rest", "small")
    )
    factor = identity(
        {"(72) with the constant 1": 1 / (alpha - alpha * (1 - alpha)) ** 2 - alpha**-2 / alpha**2}, positive=("alpha",)
    )
    return {"order": bound.with_constants(constant=2), "scale-up": factor}


@claim(
    "Eq.78-80",
    "Proposition 1, algebra",
    kind="order",
    uses=["Eq.69"],
    expect="fails",
    insensitive=PRINTED,
    origin="proof",
    where="Proof of Proposition 1, Eqs. (79), (80)",
    parts=["(79)"],
    hypotheses=(),
    fault="proof",
    cause="dropped-one",
    statement=r"(79)\ \sqrt{\tfrac{\log N}N}+|1-\Theta(\alpha_*^2)+\Theta(\alpha_*)(\sigma+\tau)|\le\Theta(1)\alpha_*\ \Rightarrow\ (80)\ N\ge\Omega\big((\alpha_*(\alpha_*-\sigma-\tau))^{-2}\big)",
    reading="any positive constants, N to infinity: both sides as alpha_* tends to 0",
)
def proposition_1_algebra(lab: Laboratory) -> Verdict:
    """Limits in n = 1/alpha.

    Constants c_1, c_2, c_3 > 0 free, N -> infinity: as alpha_* -> 0 the left side tends to 1 and the right to 0, so
    (79) can not be met; and the fraction of (80) tends to 1, not to infinity.
    """
    c1, c2, c3 = sym("c1"), sym("c2"), sym("c3")
    left = 1 - c1 / n**2 + c2 / n * error
    right = c3 / n
    fraction = 1 / (c3 / n - 1 + c1 / n**2 - c2 / n * error) ** 2
    orders = dict(zip(("left", "right", "fraction"), leading_orders([left, right, fraction], "n"), strict=True))
    impossible = orders["left"][0] == 0 and orders["left"][1] is graph.ONE and orders["right"][0] < 0
    bounded = orders["fraction"][0] == 0
    sentence = (
        "for all hidden constants and N to infinity: as alpha_* falls to 0 the left side of (79) tends to 1, and its right side to 0 like "
        f"alpha_* to the power {-orders['right'][0]}, so that no N satisfies (79); the first line of (80) asks for a number that tends to 1, its second line for one that is unbounded"
    )
    printed = decided(not (impossible and bounded), Witness(sentence, {})).stating(
        {"(79) is not met": (right, "<", left), "the fraction of (80) is bounded": (fraction, "<=", 4)},
        ("c1", "c2", "c3"),
        ("error", "r"),
        at={n: 1 + 2 * c1 + 2 * c3 + sym("r")},
    )
    r, e, rest = sym("r"), sym("e"), sym("rest")  # r = 1 - p_n(0), rest = p_n(0)
    fixed = identity({"1 - p(p - e)": 1 - (1 - r) * (1 - r - e) - (r + (1 - r) * (r + e))}) & always_positive(
        {"above 1 - p": rest * (r + e)}, positive=("r", "e", "rest")
    )
    return printed.correcting(
        r"1-p_n(0)(p_n(0)-\sigma-\tau)\ge1-p_n(0)\to1\ (\alpha_*\to0):\ \text{the deviation is no multiple of }\alpha_*",
        fixed,
        "(80) drops the 1 of (79)",
    )
