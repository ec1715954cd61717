"""Appendix E.2: attention at the start and later, the condition (153), products and logits after a step."""

from __future__ import annotations

from fractions import Fraction

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
    refuted,
    sym,
)

from ..laboratory import Laboratory
from .book import COQ, GROWTH, HALF, NUMBERS, PRINTED, THEOREM_1, b, c, claim, value
from .common_motion import STEPS, TIME, too_slow
from .common_seeds import CONFUSED, either_way, in_every_run, of_confused
from .part_e_2_softmax import n, w


@claim(
    "Eq.174-middle",
    "Mean value step of (174) and (183)",
    kind="identity",
    uses=["Eq.46"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, Eqs. (174), (183)",
    parts=["mean value"],
    hypotheses=(),
    fault="misprint",
    cause="K-for-K-Q-squared",
    statement=r"\Delta\,\mathrm{softmax}=\frac{(|S|-|S_1|)\,e^{Q^2-\epsilon Q}(e^K-1)}{(|S_1|e^x+|S|-|S_1|)^2},\quad x\in[Q^2-\epsilon Q,(1+K)Q^2-\epsilon Q]\ (175),(184)",
    reading="no x in (175) satisfies the mean value step at this point",
)
def mean_value(lab: Laboratory) -> Verdict:
    """Both ends against the required square, in balls; the corrected form by signs.

    The x would have to satisfy (|S_1| e^x + b)^2 = (product of the two denominators)(e^K - 1)/(e^{K Q^2} - 1); at Q
    = 2, eps = 0, K = 1/2, |S_1| = 1, |S| = 200 that is below the value at the left end; with e^{K Q^2} - 1 it is
    the product of the denominators, which lies between the squares at the ends.
    """
    with flint.ctx.workprec(128):
        u, top, rest = flint.arb(4).exp(), flint.arb(6).exp(), flint.arb(199)
        needed = (u + rest) * (top + rest) * (as_ball(Fraction(1, 2)).exp() - 1) / (flint.arb(2).exp() - 1)
        low = (u + rest) ** 2
    sentence = (
        "at |q_1(t)| = 2, delta + tau = 0, K = 1/2, |S_1| = 1, |S| = 200 the printed equality asks for a squared denominator that is "
        f"{float(needed / low):.4f} of its value at the left end of (175), where it is least"
    )
    printed = decided(not (needed < low), Witness(sentence, {}), Evidence.CERTIFICATE)
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


@claim(
    "Eq.130",
    "Upper bound of beta_1 by phi",
    kind="order",
    uses=["Def.1"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, Eq. (130)",
    parts=["chain"],
    hypotheses=(),
    fault="misprint",
    cause="errors-of-logits",
    statement=r"\beta_1^n\lesssim\nu_n(|S|-|S_1|)\lesssim e^{2(\tau+\delta)Q}\phi_n(|S|-|S_1|)\le\phi_n(|S|-|S_1|),\quad\text{the last for }\log T\le\Theta(1)",
    reading="the last step has no hidden constant; up to constants, as (149) uses it, the chain holds where Q is bounded",
)
def chain_of_130(lab: Laboratory) -> Verdict:
    """nu <= e^{2 eps Q} phi for all positive numbers; without a constant the last step would need eps Q = 0."""
    g = sym("g")
    phi = 1 / (c * w * graph.exp(g) + b)
    above = always_positive({"e^{2 eps Q} phi - phi": graph.exp(2 * g) * phi - phi}, positive=("c", "b", "w", "g"))
    sentence = "for every tau + delta > 0 and Q > 0 the factor e^(2 (tau + delta) Q) is above 1, whatever T is"
    fixed = (
        always_positive(
            {"e^{2 eps Q} phi - nu": graph.exp(2 * g) * phi - 1 / (c * w * graph.exp(-g) + b)},
            positive=("c", "b", "w", "g"),
        )
        .proving("for Q at most a constant so is e^{2 eps Q}, with eps = delta + tau below 1")
        .with_constants(constant="e^{2 (delta + tau) Q}")
    )
    shown = {"the last step of (130)": (graph.exp(2 * g) * phi, ">", phi)}
    wrong = decided(above.as_stated != "holds", Witness(sentence, {})).stating(shown, ("c", "b", "w", "g"))
    return wrong.correcting(
        r"\lesssim\text{ for the last }\le", fixed, "the factor is a constant where Q is bounded, and not 1"
    )


def _few(e: Node) -> dict[Node, Node]:
    """For every constant k a share alpha = 1/(1 + e/k + r) of relevant tokens, and the rest."""
    others = e / sym("k") + sym("r")
    return {sym("alpha"): 1 / (1 + others), sym("rest"): others / (1 + others)}


@claim(
    "Eq.149-150",
    "Attention at the start",
    kind="order",
    uses=["Def.1"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eq. (150)",
    source="damaged",
    parts=["later", "start", "level"],
    hypotheses=(),
    statement=r"1\ge p_n(t)\ge p_n(0)=\Theta\Big(\frac{|S_1|e^{-\epsilon}}{|S_1|e^{-\epsilon}+|S|-|S_1|}\Big)\ge\Theta(e^{-\epsilon})",
    reading="if |S| is meant by the second |S_1|; p_n(t) for large t, alpha_# = 0.4, one a_i for all positions; the last constant free of alpha, as (152) uses it",
)
def attention_at_start(lab: Laboratory) -> dict[str, Verdict]:
    """p_n(0) with |q_1(0)| = 1 is above alpha e^{-eps}, and above the expression in Theta, below e times it."""
    alpha, rest, g, h = (
        sym(name) for name in ("alpha", "rest", "g", "h")
    )  # alpha + rest = 1, e^eps = 1 + g, e = 1 + h
    x, e = 1 + g, 1 + h
    p, shown = alpha * e / (alpha * e + rest * x), alpha / (alpha + rest * x)
    rows = {"p_n(0) - shown": p - shown, "e shown - p_n(0)": e * shown - p}
    positive, nonnegative = ("alpha", "rest", "h"), ("g",)
    level = always_positive(
        {"p_n(0) - alpha e^{-eps}": p - alpha / (x * (alpha + rest))}, positive=positive, nonnegative=nonnegative
    )
    ((small, _),) = leading_orders(graph.substitute([p], {alpha: 1 / n, rest: 1 - 1 / n}), "n")
    sentence = "if |S| is meant by the second |S_1|: as alpha tends to 0, with any errors, p_n(0) is of the order alpha, as (78) says, while the right side is a constant"
    what = "p_n(t) >= p_n(0) at some time of the second half"
    confused = in_every_run(lab, what, lambda f: f["longest late key"] >= 1, of_confused, CONFUSED)
    grown = in_every_run(lab, "p_n(t) >= p_n(0) in the second half of the run", lambda f: f["least late key"] >= 1)
    return {
        "later": grown & either_way(confused),
        "start": always_positive(rows, positive=positive, nonnegative=nonnegative).with_constants(constant="e"),
        "level": decided(small == 0, Witness(sentence, {}))
        .stating({"p_n(0) and k e^-eps": (p, "<", sym("k") / x)}, ("k", "h"), ("g", "r"), at=_few(e))
        .correcting(r"p_n(0)\ge\alpha_*e^{-\epsilon}", level, "the fraction in Theta is of the order alpha, not 1")
        .blaming("proof", "level-of-p"),
    }


@claim(
    "Eq.148-153",
    "From (152) to the condition (153)",
    kind="inequality",
    uses=["Eq.8"],
    expect="fails",
    insensitive=PRINTED,
    origin="proof",
    where="Proof of Claim 2, Eqs. (152), (153)",
    parts=["sufficient"],
    hypotheses=(),
    fault="proof",
    cause="dropped-sigma",
    statement=r"(152)\ e^{-(\delta+\tau)}(1-\sigma-\tau)\big(\alpha_*-\sqrt{\tfrac{\log B}B}-\sigma-\tau\big)\ge\sqrt{\tfrac{\log B}B}+\alpha_\#;\quad\text{hence}\ (153)\ \text{if}\ B\ge\Omega(1)",
    reading="(153) replaces (152) as the sufficient condition for (148), as Theorem 1 uses it with (8); that (152) gives (153) is right; B to infinity",
)
def from_152(lab: Laboratory) -> Verdict:
    """(152) where (153) is an equality.

    Even for B -> infinity: at equality in (153), i.e. alpha_# = e^{-(delta+tau)}(1-sigma-tau) alpha_*, the left
    minus the right side of (152) for every 0 < sigma + tau < 1.
    """
    star, s, factor = sym("alpha_s"), sym("s"), sym("e") * sym("r")  # e = e^{-(delta + tau)}, r = 1 - s
    left = factor * (star - s) - factor * star
    here = {"alpha_s": 0.5, "s": 0.1, "e": 1, "r": 0.9}
    sides = value(factor * (star - s), **here), value(factor * star, **here)
    printed = always_positive({"(152)": left}, positive=("alpha_s", "s", "e", "r")).witnessed(
        f"at sigma = 1/10, delta = tau = 0, alpha_* = 1/2, alpha_# = {sides[1]:g} there is equality in (153), and for B to infinity the left side of (152) is "
        f"{sides[0]:g} and the right side {sides[1]:g}; so for every sigma + tau between 0 and 1",
        {},
    )
    more = sym("more")
    right = always_positive(
        {"(152)": factor * (star + s + more - s) - factor * star}, positive=("alpha_s", "s", "e", "r", "more")
    )
    return printed.correcting(
        r"\alpha_*>\frac{\alpha_\#}{e^{-(\delta+\tau)}(1-(\sigma+\tau))}+\sigma+\tau\ \text{(and }B\text{ large)}",
        right,
        "a term sigma + tau of (152) is dropped in (153)",
    )


@claim(
    "Eq.151",
    "Batch averages",
    kind="probability",
    uses=["Lem.1"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, Eq. (151)",
    parts=["deviation"],
    hypotheses=(),
    statement=r"\Big|\tfrac1B\sum_n(\tfrac{|S_1|}{|S|}-\sigma-\tau)-(1-\sigma-\tau)\mathbb E\tfrac{|S_1|}{|S|}\Big|\le\sqrt{\tfrac{\log B}B}+\sigma+\tau",
    reading="any fractions; Hoeffding for variables between 0 and 1",
)
def batch_averages(lab: Laboratory) -> Verdict:
    """The triangle inequality and the exponent.

    The decomposition is exact and its second part is at most sigma + tau for 0 <= E <= 1; the first part is a mean
    of B variables in [0, 1], so Hoeffding's 2 exp(-2 B t^2) at t^2 = log B / B is 2 B^{-2} (B >= 2).
    """
    mean, E, s, rest = sym("mean"), sym("E"), sym("s"), sym("rest")  # rest = 1 - E
    split = identity({"split": mean - s - (1 - s) * E - ((mean - E) - s * (1 - E))})
    second = always_positive(
        {"sigma + tau - second part": s * (rest + E) - s * rest}, positive=("s", "E"), nonnegative=("rest",)
    )
    exponent = enumerate_all(range(2, 200), lambda B: 2 * Fraction(1, B * B) <= Fraction(1, B), "B with 2 B^-2 <= B^-1")
    return split & second & exponent


@claim(
    "Eq.157",
    "Product of growth factors",
    kind="inequality",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, Eq. (157)",
    parts=["first step", "both steps"],
    hypotheses=(),
    statement=r"\prod_b\sqrt{1+K(b)}\,\|q(0)\|^2\gtrsim e^{\sum_bK(b)\|q(0)\|^2}\ge\sum_bK(b)\|q_1(0)\|^2,\quad K\to0^+",
    reading="|q(0)| = 1, K at most 1; sum K is at most c eta T, which is bounded (steps of Thm.1), and the hidden constant contains it",
)
def product_of_factors(lab: Laboratory) -> dict[str, Verdict]:
    """The product is at least 1 and e^{sum K} at most a constant where eta T is bounded; the ends of the chain agree for every sum.

    For 0 <= K <= 1: log(1 + K) >= K/2, since log(1 + K) - K/2 has the slope (1 - K)/(2 (1 + K)) and starts at 0.
    """
    x, rest = sym("K"), sym("rest")  # K + rest = 1
    slope = identity({"slope": 1 / (1 + x) - Fraction(1, 2) - (1 - x) / (2 * (1 + x))}) & always_positive(
        {"slope, K + rest = 1": rest / (2 * (1 + x))}, positive=("K", "rest")
    )
    quarter = slope.proving("log(1 + K) >= K/2 for 0 <= K <= 1, so the product is at least e^{sum K/4}, and e^y >= y")
    first = slope.proving(
        "log(1 + K) >= K/2, so the product is at least e^{sum K/4}, which is e^{sum K} times e^{-3/4 sum K}",
        "K(b) is eta times a product of norms, bounded free of eta where eta T is: sum K <= c eta T, and the constant is e^{-3 c eta T/4}",
    )
    told = {"kept": (("s",), graph.exp(Fraction(-3, 4) * sym("s"))), "share": ((), Fraction(1, 4))}
    shown = {"first step": first, "both steps": quarter}
    shown = {part: verdict.by_theorems(COQ / "product_of_factors.v", told) for part, verdict in shown.items()}
    return {
        "first step": shown["first step"].adding(
            remark="sqrt(1 + K) is about e^{K/2}: if sum K grew without bound, no constant would be left"
        ),
        "both steps": shown["both steps"].with_constants(constant="1/4"),
    }


@claim(
    "Eq.171-172",
    "Logits after a step",
    kind="inequality",
    uses=["Eq.141", "Eq.144-147", "Eq.164-165"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, Eq. (171)",
    source="damaged",
    parts=["logit", "gamma terms"],
    hypotheses=(GROWTH, HALF),
    statement=r"x_j^\top W_K^{(t+1)\top}W_Q^{(t+1)}x_l\gtrsim(1+K)(1+Q)\|q_1\|^2-(\delta+\tau)\|q_1\|-\sqrt{\cdot}\sqrt{\cdot}\gtrsim(1+K+Q)\|q_1\|^2-(\delta+\tau)\|q_1\|,\ j,l\in S_1",
    reading="errors that shorten key and query, |q_1| at least 1; the hidden constant is 1 - delta - tau; (172) is not judged",
)
def logits_after_a_step(lab: Laboratory) -> dict[str, Verdict]:
    """(A - eps)(B - eps) against (1 - eps) times the printed bound, A = (1 + K) q, B = (1 + Q) q; with the constant 1 it would fail.

    This is the least inner product of A e + n and B e + o for |n|, |o| <= eps <= 1/2 and A, B >= q >= 1. The two roots that
    are dropped next are at most K Q times the largest share and lengths of the other features, none longer than q_1.
    """
    Kq, Qk, more, short = sym("K"), sym("Qk"), sym("more"), sym("short")  # eps = 1 - short, q = 1 + more
    q = 1 + more
    key, query = (1 + Kq) * q, (1 + Qk) * q
    true = (key - (1 - short)) * (query - (1 - short))
    bound = key * query - (1 - short) * q
    room = (1 - short) * ((key - 1) * (query - 1) + (q - 1) * short)
    exact = identity({"room": true - short * bound - room})
    sign = always_positive(
        {"(A - 1)(B - 1) + (q - 1)(1 - eps)": (key - 1) * (query - 1) + (q - 1) * short},
        positive=("K", "Qk", "short"),
        nonnegative=("more",),
    )
    eps, q_1 = sym("eps"), sym("q_1")
    told = {"bound": (("K", "Qk", "q_1", "eps"), (1 + Kq) * q_1 * (1 + Qk) * q_1 - eps * q_1)}
    left = sym("left")  # one minus the sum of squared shares times |q_l| |r_l| / |q_1|^2
    dropped = (1 + Kq) * (1 + Qk) * q * q - Kq * Qk * (1 - left) * q * q - (1 + Kq + Qk) * q * q
    return {
        "logit": (exact & sign)
        .by_theorems(COQ / "logits_after_a_step.v", told)
        .with_constants(constant="1 - delta - tau")
        .proving(
            "for lengths A, B of at least 1 and eps at most 1/2 the slope B - eps A/|A e + n| is not negative, so that errors "
            "against q_1 are the worst"
        ),
        "gamma terms": identity({"rest": dropped - Kq * Qk * left * q * q})
        & always_positive(
            {"rest": Kq * Qk * left * q * q}, positive=("K", "Qk", "left"), nonnegative=("more",)
        ).proving(
            "shares |S_l|/(|S| - |S_*|) add up to at most 1 and |q_l|, |r_l| are at most |q_1|: both roots together are at most K Q |q_1|^2"
        ),
    }


@claim(
    "Eq.176-181",
    "Queries of other patterns",
    kind="inequality",
    uses=["Eq.45"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, Eq. (180)",
    parts=["(180)"],
    hypotheses=(),
    fault="constant",
    cause="confusion-tokens",
    statement=r"(180)\ \frac{e^{u'}}{(|S_1|+|S_2|)e^{u'}+|S|-|S_1|-|S_2|}\ge\frac{e^{u'}}{|S_1|e^{u'}+|S|-|S_1|},\quad u'=(1+K)Q^2-\epsilon Q>0",
    reading="the second inequality, for every positive number of confusion tokens",
)
def other_queries(lab: Laboratory) -> Verdict:
    """Sign of the difference, the constant with which it holds for |S_2| <= |S_1|, and the limit of the first fraction.

    Second inequality of (180) for all u' > 0 and |S_2| > 0; b = |S| - |S_1| - |S_2| here.
    """
    c2, up, K_big = sym("c2"), graph.exp(sym("u")), sym("E")
    first, second = up / ((c + c2) * up + b), up / (c * up + b + c2)
    shown = [value(node, c=5, c2=3, b=2, u=1) for node in (first, second)]
    printed = always_positive({"first - second": first - second}, positive=("c", "c2", "b", "u")).witnessed(
        f"at |S_1| = 5, |S_2| = 3, |S| = 10, u' = 1 the left side of the second inequality is {shown[0]:.4f} and the right side {shown[1]:.4f}; it is "
        "below it for all counts with |S_2| > 0 and every u' > 0",
        {},
    )
    ((power, limit),) = leading_orders([c * K_big / ((c + c2) * K_big + b)], "E")
    fixed = equal({"limit": (limit, c / (c + c2))}) if power == 0 else refuted({"power": str(power)}, Evidence.PROOF)
    below = always_positive(
        {"limit - attention": c / (c + c2) - c * K_big / ((c + c2) * K_big + b)}, positive=("c", "c2", "b", "E")
    )
    # |S_1| = |S_2| + rest: twice the second denominator is above the first one
    more = {c: c2 + sym("rest")}
    half = always_positive(
        {"first - second/2": graph.substitute([2 * (c * up + b + c2) - ((c + c2) * up + b)], more)[0]},
        positive=("c2", "b", "u"),
        nonnegative=("rest",),
    )
    return printed.correcting(
        r"\ge\tfrac12\text{ of the right side for }|S_2|\le|S_1|;\quad\sum_{S_1}\mathrm{softmax}<\frac{|S_1|}{|S_1|+|S_2|}\ \text{and tends to it as }u'\to\infty",
        half & fixed & below,
        "confusion tokens have the same logit, so |S_2| e^{u'} stays in the denominator",
    )


@claim(
    "Eq.178",
    "Sum of key growth at the end",
    kind="order",
    uses=["Eq.60"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eq. (178)",
    parts=["first", "second"],
    hypotheses=THEOREM_1,
    statement=r"\sum_bK(b)\|q_1(b)\|\ge\frac T{e^{\|q_1(T)\|^2-\epsilon\|q_1(T)\|}}\ge\Theta(\sqrt{\log T})",
    reading="first inequality at T of (10) along eta to 0; second one with the squared length below log T by a factor",
)
def sum_of_growth(lab: Laboratory) -> dict[str, Verdict]:
    """K carries a factor eta, which the middle does not have; T^{1-c} against sqrt(log T) for |q_1|^2 = c log T, c < 1."""
    sentence = (
        "for every c and eta to 0 (all hypotheses hold), at T = c eta^(-3/5)/alpha_*: K is at most eta times bounded "
        "norms, so that the left side is O(eta T), while the middle is T times a constant"
    )
    s, k = sym("s"), sym("k")
    first = too_slow(lab, TIME, STEPS, sentence, "sum_of_key_growth.v").correcting(
        r"\frac{\eta T}{e^{\|q_1(T)\|^2}}\text{ in the middle: a function of }\eta T",
        identity({"eta T": k * s - k * sym("eta") * (s / sym("eta"))}),
        "K carries a factor eta, as in (60)",
    )
    x, spare = sym("x"), sym("spare")  # x = log T, |q_1|^2 = (1 - spare) x
    second = always_positive(
        {"T^{2 spare} - 2 spare log T": 1 + 2 * spare * x + 2 * (spare * x) ** 2 - 2 * spare * x},
        positive=("x", "spare"),
    ).proving("T^{2 spare} = e^{2 spare x} is at least 1 + 2 spare x + 2 (spare x)^2, hence above 2 spare log T")
    return {"first": first.blaming("proof", "log-T"), "second": second}
