"""Appendix E.2, softmax algebra: how attention changes with the logits, and the inequalities drawn from it."""

from __future__ import annotations

from fractions import Fraction

import flint

from odesys import (
    ONE,
    Evidence,
    Verdict,
    always_positive,
    as_ball,
    decided,
    enumerate_all,
    equal,
    graph,
    identity,
    leading_orders,
    refuted,
    sym,
)

from ..laboratory import Laboratory
from .book import NUMBERS, PRINTED, K, Q, at, b, book, c, definition_1, eps
from .common_equations import dot

w, delta, n = sym("w"), sym("delta"), sym("n")  # w = e^u with u = Q^2 - eps Q


@book.claim(
    "Eq.30",
    "Attention on other patterns",
    kind="inequality",
    uses=["Def.1", "Asm.2"],
    expect="fails",
    insensitive="a start that satisfies Assumption 1 refutes it, before anything moves",
    statement=r"W_j^n(t)\le\nu_n(t)|S_j^n|",
    reading="with Definition 1 at t = 0, tau = 0: W_K = W_Q = diag(1 - delta, 1, .., 1) has norm 1 and errors at most delta; W_j <= nu |S_j| says that the gap of logits is at least 1 - delta; corrected by Cauchy-Schwarz for any "
    "errors |n_j|, |o| <= eps of features of length Q",
)
def attention_on_others(lab: Laboratory) -> Verdict:
    """The gap of the start, exact, and the bilinear expansion behind the corrected gap."""
    key = {j: [(1 - delta if i == 0 else ONE) if i == j else graph.ZERO for i in range(3)] for j in range(3)}
    gap = graph.add((key[0][i] - key[1][i]) * key[0][i] for i in range(3))
    g = sym("g")  # e^{1 - delta} = e^{gap} (1 + g), and g > 0 because delta (1 - delta) > 0
    exponents = identity(
        {
            "1 - delta - gap": 1 - delta - gap - delta * (1 - delta),
            "Definition 1": 1 / at(definition_1()["nu"], Q=1, eps=delta) - c * graph.exp(1 - delta) - b,
        }
    )
    printed = (
        always_positive(
            {"nu |S_2| - W_2": sym("c2") / (c * w * (1 + g) + b) - sym("c2") / (c * w + b)},
            positive=("c", "b", "c2", "w", "g"),
        )
        & exponents
    )
    q1, q2, r, n1, n2, o = ([sym(f"{name}_{i}") for i in range(2)] for name in ("q1", "q2", "r", "n1", "n2", "o"))

    logit = [
        dot([x + y for x, y in zip(q, e, strict=True)], [x + y for x, y in zip(r, o, strict=True)])
        for q, e in ((q1, n1), (q2, n2))
    ]
    rest = dot([x - y for x, y in zip(q1, q2, strict=True)], o) + dot(
        [x - y for x, y in zip(n1, n2, strict=True)], [x + y for x, y in zip(r, o, strict=True)]
    )
    expansion = identity({"gap": logit[0] - logit[1] - (dot(q1, r) - dot(q2, r)) - rest})
    room = 1 - graph.sqrt(graph.num(2)) * delta - 2 * delta * (1 + delta)
    inside = always_positive({"this start": gap - room}, positive=("delta",))
    return printed.correcting(
        r"W_j\le|S_j|/(|S_1|e^{Q^2-\sqrt2\epsilon Q-2\epsilon(Q+\epsilon)}+|S|-|S_1|)\ \text{for }q_1\perp q_j,\ |q_1|=|q_j|=Q",
        expansion & inside,
        "the logit noise is q'o + n'r + n'o: three terms, not one; |q_1 - q_j| = sqrt(2) Q, |n_1 - n_j| <= 2 eps",
    ).with_constants(gap_of_the_start="(1 - delta)^2", corrected_gap_vanishes_at_eps=_vanishing())


def _vanishing() -> float:
    """Where 1 - sqrt(2) eps - 2 eps (1 + eps) = 0."""
    with flint.ctx.workprec(64):
        slope = 2 + flint.arb(2).sqrt()
        return round(float(((slope * slope + 8).sqrt() - slope) / 4), 6)


@book.claim(
    "Eq.126-127",
    "Attention on pattern 1",
    kind="order",
    uses=["Eq.30"],
    insensitive="logits of a start that satisfies Assumption 1, before anything moves",
    statement=r"\mathrm{softmax}_j\gtrsim\frac{e^{Q^2-\epsilon Q}}{|S_1|e^{Q^2-\epsilon Q}+|S|-|S_1|},\ j\in S_1;\qquad\mathrm{softmax}_j\lesssim\frac1{|S_1|e^{Q^2-\epsilon Q}+|S|-|S_1|},\ j\notin S_1",
    reading="tau = 0, query in S_1, features of length Q: with the gap of logits g of Eq.30 (corrected) both hold with the constant e^{Q^2 - eps Q - g} = e^{(1 + sqrt 2) eps Q + 2 eps^2}, which is bounded while Q is; with constant 1 the start of Eq.30 fails them",
)
def attention_on_own(lab: Laboratory) -> Verdict:
    """Attention with gap g against the printed bounds, e^{Q^2 - eps Q} = e^g (1 + r)."""
    root = graph.sqrt(graph.num(2))
    gap = Q * Q - root * eps * Q - 2 * eps * (Q + eps)
    constant = identity({"exponent": Q * Q - eps * Q - gap - ((1 + root) * eps * Q + 2 * eps * eps)})
    r = sym("r")  # the constant is 1 + r
    own, other = w / (c * w + b), 1 / (c * w + b)
    printed_own, printed_other = w * (1 + r) / (c * w * (1 + r) + b), 1 / (c * w * (1 + r) + b)
    bounds = always_positive(
        {"(126)": (1 + r) * own - printed_own, "(127)": (1 + r) * printed_other - other}, positive=("c", "b", "w", "r")
    )
    one = always_positive({"(126) with constant 1": own - printed_own}, positive=("c", "b", "w", "r"))
    with flint.ctx.workprec(64):
        largest = float(((1 + flint.arb(2).sqrt()) / 2 + as_ball(Fraction(1, 2))).exp())
    return (
        (constant & bounds)
        .with_constants(constant="e^{(1 + sqrt 2) eps Q + 2 eps^2}", at_eps_half_and_Q_1=round(largest, 4))
        .adding(with_constant_1=one.as_stated)
    )


@book.claim(
    "Eq.45",
    "Claim 2: attention after a step",
    kind="inequality",
    uses=["Eq.126-127", "Eq.171-172"],
    same_as="Eq.173",
    insensitive=NUMBERS,
    statement=r"\mathrm{softmax}(t+1)\gtrsim\frac{e^{(1+K)Q^2-\epsilon Q}}{|S_1|e^{(1+K)Q^2-\epsilon Q}+|S|-|S_1|},\quad j\in S_*",
    reading="for l in S_1 and exact features (eps = 0), balanced q_1 = r_1 and other logits 0: the logit becomes (1 + K)^2 Q^2, and the attention is at least the printed one (constant 1); with errors see Eq.30",
)
def after_a_step(lab: Laboratory) -> Verdict:
    """e^{(1 + K)^2 Q^2} against e^{(1 + K) Q^2}."""
    more = graph.exp(K * (1 + K) * Q * Q)  # (1 + K)^2 - (1 + K) = K (1 + K)
    same = identity({"exponent": (1 + K) ** 2 * Q * Q - (1 + K) * Q * Q - K * (1 + K) * Q * Q})
    low = w  # e^{(1 + K) Q^2}
    return same & always_positive(
        {"softmax - bound": low * more / (c * low * more + b) - low / (c * low + b)}, positive=("c", "b", "w", "K", "Q")
    )


def increments() -> tuple[graph.Node, graph.Node]:
    """Exact change of the attention on one token of pattern 1 and on one other, with E = e^{K Q^2} = 1 + E1."""
    E = 1 + sym("E1")
    own = w * E / (c * w * E + b) - w / (c * w + b)
    other = 1 / (c * w * E + b) - 1 / (c * w + b)
    return own, other


def _printed(own: bool) -> graph.Node:
    return (b if own else -c) * w * K / (c * w * (1 + sym("E1")) + b) ** 2


@book.claim(
    "Eq.46",
    "Claim 2: growth of attention",
    kind="inequality",
    uses=["Eq.45"],
    same_as="Eq.174",
    insensitive=NUMBERS,
    statement=r"\Delta\,\mathrm{softmax}\ge\frac{(|S|-|S_1|)\,e^{Q^2-\epsilon Q}K}{(|S_1|e^{(1+K)Q^2-\epsilon Q}+|S|-|S_1|)^2}",
    reading="difference of the two bounds of (174), for Q >= 1 and K >= 0: E = e^{K Q^2} >= 1 + K, so E = 1 + K + r with r >= 0",
)
def growth_of_attention(lab: Laboratory) -> Verdict:
    """The exact difference, factorised, and the sign of what is left."""
    own, _ = increments()
    E1, r = sym("E1"), sym("r")
    exact = identity({"difference": own - b * w * E1 / ((c * w * (1 + E1) + b) * (c * w + b))})
    (left,) = graph.substitute([own - _printed(True)], {E1: K + r})
    return exact & always_positive({"growth - bound": left}, positive=("c", "b", "w", "K"), nonnegative=("r",))


@book.claim(
    "Eq.47-48",
    "Claim 2: decrease elsewhere",
    kind="inequality",
    uses=["Eq.45"],
    same_as="Eq.182-183",
    insensitive=NUMBERS,
    statement=r"\Delta\,\mathrm{softmax}_j\le-\frac{|S_1|e^{Q^2-\epsilon Q}K}{(|S_1|e^{(1+K)Q^2-\epsilon Q}+|S|-|S_1|)^2},\ j\notin S_*",
    reading="difference of the two bounds of (183), for Q >= 1 and K >= 0, with the same eps in all exponents",
)
def decrease_elsewhere(lab: Laboratory) -> Verdict:
    """As Eq.46."""
    _, other = increments()
    E1, r = sym("E1"), sym("r")
    exact = identity({"difference": other + c * w * E1 / ((c * w * (1 + E1) + b) * (c * w + b))})
    (left,) = graph.substitute([_printed(False) - other], {E1: K + r})
    return exact & always_positive({"bound - change": left}, positive=("c", "b", "w", "K"), nonnegative=("r",))


@book.claim(
    "Eq.174-middle",
    "Mean value step of (174) and (183)",
    kind="identity",
    uses=["Eq.46"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\Delta\,\mathrm{softmax}=\frac{(|S|-|S_1|)\,e^{Q^2-\epsilon Q}(e^K-1)}{(|S_1|e^x+|S|-|S_1|)^2},\quad x\in[Q^2-\epsilon Q,(1+K)Q^2-\epsilon Q]\ (175),(184)",
    reading="the x would have to satisfy (|S_1| e^x + b)^2 = (product of the two denominators)(e^K - 1)/(e^{K Q^2} - 1); at Q = 2, eps = 0, K = 1/2, |S_1| = 1, |S| = 200 that is below the value at the left end; with e^{K Q^2} - 1 "
    "it is the product of the denominators, which lies between the squares at the ends",
)
def mean_value(lab: Laboratory) -> Verdict:
    """Both ends against the required square, in balls; the corrected form by signs."""
    with flint.ctx.workprec(128):
        u, top, rest = flint.arb(4).exp(), flint.arb(6).exp(), flint.arb(199)
        needed = (u + rest) * (top + rest) * (as_ball(Fraction(1, 2)).exp() - 1) / (flint.arb(2).exp() - 1)
        low = (u + rest) ** 2
    printed = decided(
        not (needed < low),
        {"Q": 2, "K": "1/2", "|S_1|": 1, "|S|": 200, "needed square": float(needed), "least square": float(low)},
        Evidence.CERTIFICATE,
    )
    E1 = sym("E1")
    low_end, high_end = c * w + b, c * w * (1 + E1) + b
    between = always_positive(
        {
            "above the left end": low_end * high_end - low_end**2,
            "below the right end": high_end**2 - low_end * high_end,
        },
        positive=("c", "b", "w", "E1"),
    )
    return printed.correcting(
        r"e^{KQ^2}-1\ \text{in place of}\ e^K-1", between, "the exponents differ by K Q^2, not by K"
    )


@book.claim(
    "Eq.130",
    "Upper bound of beta_1 by phi",
    kind="inequality",
    uses=["Def.1"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\beta_1^n\lesssim\nu_n(|S|-|S_1|)\lesssim e^{2(\tau+\delta)Q}\phi_n(|S|-|S_1|)\le\phi_n(|S|-|S_1|)",
    reading="the last step, for all positive eps Q (the paper needs log T <= Theta(1), which (63) excludes)",
)
def last_step(lab: Laboratory) -> Verdict:
    """Sign of phi - e^{2 eps Q} phi."""
    g, phi = sym("g"), sym("phi")
    printed = always_positive({"phi - e^{2 eps Q} phi": phi * (1 - graph.exp(2 * g))}, positive=("g", "phi"))
    fixed = always_positive(
        {"e^{2 eps Q} phi - nu": graph.exp(2 * g) / (c * w * graph.exp(g) + b) - 1 / (c * w * graph.exp(-g) + b)},
        positive=("c", "b", "w", "g"),
    )
    return printed.correcting(r"\nu_n\le e^{2(\tau+\delta)Q}\phi_n", fixed, "the factor e^{2 eps Q} stays")


@book.claim(
    "Eq.149-150",
    "Attention at the start",
    kind="order",
    uses=["Def.1"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"1\ge p_n(t)\ge p_n(0)=\Theta\Big(\frac{|S_1|e^{-\epsilon}}{|S_1|e^{-\epsilon}+|S|-|S_1|}\Big)\ge\Theta(e^{-\epsilon})",
    reading="p_n(0) of Definition 1 with |q_1(0)| = 1 as alpha = |S_1|/|S| tends to 0: the last bound needs a positive limit",
)
def attention_at_start(lab: Laboratory) -> Verdict:
    """Order in 1/alpha of p_n(0), and what holds for every alpha."""
    start = at(definition_1()["p"], Q=1, c=1, b=n - 1)  # alpha = 1/n
    ((exponent, coefficient),) = leading_orders([start], "n")
    printed = decided(
        exponent == 0, {"p_n(0)": f"alpha^{-exponent}", "coefficient": repr(coefficient), "for": "alpha -> 0"}
    )
    alpha, rest, small = sym("alpha"), sym("rest"), sym("small")  # eps = 1 - small, rest = 1 - alpha
    p = alpha * graph.exp(small) / (alpha * graph.exp(small) + rest)
    fixed = always_positive({"p_n(0) - alpha": p * (alpha + rest) - alpha}, positive=("alpha", "rest", "small"))
    exact = identity(
        {
            "p_n(0)": at(definition_1()["p"], Q=1, c=alpha, b=1 - alpha)
            - alpha * graph.exp(1 - eps) / (alpha * graph.exp(1 - eps) + 1 - alpha)
        }
    )
    return printed.correcting(
        r"p_n(0)=\frac{\alpha e^{1-\epsilon}}{\alpha e^{1-\epsilon}+1-\alpha}>\alpha\ \text{for }\epsilon<1",
        fixed & exact,
        "a query of pattern 1 sees a fraction alpha of such tokens; |q_1(0)|^2 = 1 was left out",
    )


@book.claim(
    "Eq.148-153",
    "From (152) to the condition (153)",
    kind="inequality",
    uses=["Eq.8"],
    expect="fails",
    insensitive=PRINTED,
    statement=r"(152)\ e^{-(\delta+\tau)}(1-\sigma-\tau)\big(\alpha_*-\sqrt{\tfrac{\log B}B}-\sigma-\tau\big)\ge\sqrt{\tfrac{\log B}B}+\alpha_\#\ \text{follows from}\ (153),\ B\ge\Omega(1)",
    reading="even for B -> infinity: at equality in (153), i.e. alpha_# = e^{-(delta+tau)}(1-sigma-tau) alpha_*, the left minus the right side of (152) for every 0 < sigma + tau < 1",
)
def from_152(lab: Laboratory) -> Verdict:
    """(152) where (153) is an equality."""
    star, s, factor = sym("alpha_s"), sym("s"), sym("e") * sym("r")  # e = e^{-(delta + tau)}, r = 1 - s
    left = factor * (star - s) - factor * star
    printed = always_positive({"(152)": left}, positive=("alpha_s", "s", "e", "r"))
    more = sym("more")
    right = always_positive(
        {"(152)": factor * (star + s + more - s) - factor * star}, positive=("alpha_s", "s", "e", "r", "more")
    )
    return printed.correcting(
        r"\alpha_*>\frac{\alpha_\#}{e^{-(\delta+\tau)}(1-(\sigma+\tau))}+\sigma+\tau\ \text{(and }B\text{ large)}",
        right,
        "a term sigma + tau of (152) is dropped in (153)",
    )


@book.claim(
    "Eq.151",
    "Batch averages",
    kind="probability",
    uses=["Lem.1"],
    insensitive=NUMBERS,
    statement=r"\Big|\tfrac1B\sum_n(\tfrac{|S_1|}{|S|}-\sigma-\tau)-(1-\sigma-\tau)\mathbb E\tfrac{|S_1|}{|S|}\Big|\le\sqrt{\tfrac{\log B}B}+\sigma+\tau",
    reading="the decomposition is exact and its second part is at most sigma + tau for 0 <= E <= 1; the first part is a mean of B variables in [0, 1], so Hoeffding's 2 exp(-2 B t^2) at t^2 = log B / B is 2 B^{-2} (B >= 2)",
)
def batch_averages(lab: Laboratory) -> Verdict:
    """The triangle inequality and the exponent."""
    mean, E, s, rest = sym("mean"), sym("E"), sym("s"), sym("rest")  # rest = 1 - E
    split = identity({"split": mean - s - (1 - s) * E - ((mean - E) - s * (1 - E))})
    second = always_positive(
        {"sigma + tau - second part": s * (rest + E) - s * rest}, positive=("s", "E"), nonnegative=("rest",)
    )
    exponent = enumerate_all(range(2, 200), lambda B: 2 * Fraction(1, B * B) <= Fraction(1, B), "B with 2 B^-2 <= B^-1")
    return split & second & exponent


@book.claim(
    "Eq.157",
    "Product of growth factors",
    kind="inequality",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\prod_b\sqrt{1+K(b)}\,\|q(0)\|^2\gtrsim e^{\sum_bK(b)\|q(0)\|^2}\ge\sum_bK(b)\|q_1(0)\|^2",
    reading="with |q(0)| = 1, any constant C, and a sum of K that grows without bound (as (63) has it): equal K = 1/10, the ratio of the two sides after 10, 20, .., 100 steps falls below every C > 0 (each step multiplies it by sqrt(1 + K) e^{-K} < 1); three steps for the corrected form",
)
def product_of_factors(lab: Laboratory) -> Verdict:
    """One step in balls; products against sums by signs."""
    with flint.ctx.workprec(96):
        tenth = as_ball(Fraction(1, 10))
        one = (1 + tenth).sqrt() * (-tenth).exp()
    printed = decided(not (one < 1), {"K": "1/10", "factor of the ratio in one step": float(one)}, Evidence.CERTIFICATE)
    steps = [sym(f"K{i}") for i in range(3)]
    product, total = (1 + steps[0]) * (1 + steps[1]) * (1 + steps[2]), graph.add(steps)
    fixed = always_positive({"product of squares - (1 + sum)": product - 1 - total}, positive=("K0", "K1", "K2"))
    return printed.correcting(
        r"\prod_b\sqrt{1+K(b)}\ge\sqrt{1+\textstyle\sum_bK(b)}",
        fixed,
        "sqrt(1 + K) <= e^{K/2} < e^K: the first inequality is reversed",
    )


@book.claim(
    "Eq.171-172",
    "Logits after a step",
    kind="inequality",
    uses=["Eq.141"],
    expect="fails",
    insensitive="errors of the start refute it, before anything moves",
    statement=r"x_j^\top W_K^{(t+1)\top}W_Q^{(t+1)}x_l\gtrsim(1+K)(1+Q)\|q_1\|^2-(\delta+\tau)\|q_1\|,\ j,l\in S_1",
    reading="constant 1, since (173) puts it into an exponent; errors n = o = -eps q_1/|q_1| (allowed by Assumptions 1 and 2), any K, Q >= 0, |q_1| = 1, 0 < eps < 1; corrected by the exact product of (1+K) q_1 + n and (1+Q) q_1 + o and |n|, |o| <= eps",
)
def logits_after_a_step(lab: Laboratory) -> Verdict:
    """The product with errors against q_1."""
    Kq, Qk = sym("K"), sym("Qk")
    true = (1 + Kq - eps) * (1 + Qk - eps)
    short = sym("short")  # eps = 1 - short with 0 < short < 1
    (value,) = graph.substitute([true - ((1 + Kq) * (1 + Qk) - eps)], {eps: 1 - short})
    plus = sym("plus")  # K + Q = plus, eps (1 + plus - eps) = (1 - short)(plus + short) > 0
    exact = identity({"difference": value + (1 - short) * (Kq + Qk + short)})
    printed = always_positive({"logit - bound": -sym("eps") * (plus + short)}, positive=("eps", "plus", "short"))
    right = identity({"product": true - ((1 + Kq) * (1 + Qk) - eps * (2 + Kq + Qk) + eps * eps)})
    worst = always_positive(
        {"room": true - ((1 + Kq) * (1 + Qk) - eps * (2 + Kq + Qk) - eps * eps)},
        positive=("eps",),
        nonnegative=("K", "Qk"),
    )
    return (printed & exact).correcting(
        r"\ge(1+K)(1+Q)\|q_1\|^2-\epsilon(2+K+Q)\|q_1\|-\epsilon^2",
        right & worst,
        "both the key and the query have an error",
    )


@book.claim(
    "Eq.176-181",
    "Queries of other patterns",
    kind="inequality",
    uses=["Eq.45"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"(180)\ \frac{e^{u'}}{(|S_1|+|S_2|)e^{u'}+|S|-|S_1|-|S_2|}\ge\frac{e^{u'}}{|S_1|e^{u'}+|S|-|S_1|},\quad u'=(1+K)Q^2-\epsilon Q>0",
    reading="second inequality of (180) for all u' > 0 and |S_2| > 0; b = |S| - |S_1| - |S_2| here",
)
def other_queries(lab: Laboratory) -> Verdict:
    """Sign of the difference, and the limit of the first fraction."""
    c2, up, K_big = sym("c2"), graph.exp(sym("u")), sym("E")
    first, second = up / ((c + c2) * up + b), up / (c * up + b + c2)
    printed = always_positive({"first - second": first - second}, positive=("c", "c2", "b", "u"))
    ((power, limit),) = leading_orders([c * K_big / ((c + c2) * K_big + b)], "E")
    fixed = equal({"limit": (limit, c / (c + c2))}) if power == 0 else refuted({"power": str(power)}, Evidence.PROOF)
    below = always_positive(
        {"limit - attention": c / (c + c2) - c * K_big / ((c + c2) * K_big + b)}, positive=("c", "c2", "b", "E")
    )
    return printed.correcting(
        r"\sum_{S_1}\mathrm{softmax}<\frac{|S_1|}{|S_1|+|S_2|}\ \text{and tends to it as }u'\to\infty",
        fixed & below,
        "confusion tokens have the same logit, so |S_2| e^{u'} stays in the denominator",
    )


@book.claim(
    "Eq.178",
    "Sum of key growth at the end",
    kind="order",
    uses=["Eq.60"],
    expect="fails",
    insensitive=PRINTED,
    statement=r"\sum_bK(b)\|q_1(b)\|\ge\frac T{e^{\|q_1(T)\|^2-\epsilon\|q_1(T)\|}}\ge\Theta(\sqrt{\log T})",
    reading="the second inequality at |q_1(T)|^2 = log T as (63) has it, for eps = 0 (a perfect initial model): with x = sqrt(log T) the middle is 1 while the right side grows",
)
def sum_of_growth(lab: Laboratory) -> Verdict:
    """Order of the middle over the right side as x grows."""
    x = sym("x")
    middle = graph.exp(x * x) / graph.exp(x * x)  # T = e^{x^2}, eps = 0
    ((power, _),) = leading_orders([middle / x], "x")
    printed = decided(
        not (power < 0), {"eps": 0, "middle": repr(middle), "middle over right side": f"(log T)^{power / 2}"}
    )
    general = identity(
        {"T e^{-Q^2 + eps Q} at Q^2 = log T": graph.exp(x * x) * graph.exp(-x * x + eps * x) - graph.exp(eps * x)}
    )
    return printed.correcting(
        r"T/e^{\|q_1\|^2-\epsilon\|q_1\|}=e^{\epsilon\sqrt{\log T}}\ \text{at }\|q_1(T)\|^2=\log T",
        general,
        "T e^{-log T} = 1; and K carries a factor eta, which is missing",
    )
