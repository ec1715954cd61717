"""Appendices G and H: softmax calculus and concentration."""

from __future__ import annotations

from fractions import Fraction

import flint

from odesys import Node, Verdict, Witness, as_ball, certified, enumerate_all, graph, identity, refuted, sym

from ..laboratory import Laboratory
from ..special.tails import PRECISION, log_ball, norm_tail, product_tail, radius
from .book import NUMBERS, book

SIZE = 4


def _softmax(shift: bool = True) -> tuple[list[Node], list[Node], list[Node]]:
    """Scores s_i (+ t e_i), directions e_i, and softmax weights."""
    s, e = [sym(f"s{i}") for i in range(SIZE)], [sym(f"e{i}") for i in range(SIZE)]
    weights = [graph.exp(a + sym("t") * b) if shift else graph.exp(a) for a, b in zip(s, e, strict=True)]
    total = graph.add(weights)
    return s, e, [w / total for w in weights]


@book.claim(
    "G.1",
    "Softmax Jacobian, Eq. (17)",
    kind="identity",
    where="Lemma G.1 and Equation (17)",
    parts=("diagonal", "off the diagonal"),
    hypotheses=(),
    for_all=("l",),
    insensitive=NUMBERS,
    statement=r"\partial_{s}\,\mathrm{Softmax}(s)=\mathrm{diag}(p)-pp^\top",
    reading="Every dimension l: all other weights are one symbol; the chain rule of the lemma is this Jacobian times ds/dt.",
)
def softmax_jacobian(lab: Laboratory) -> dict[str, Verdict]:
    """Derivatives by the own score and by another one; all other weights are one symbol."""
    own, other, rest = sym("s0"), sym("s1"), sym("rest")
    total = graph.exp(own) + graph.exp(other) + rest
    p, q = graph.exp(own) / total, graph.exp(other) / total
    by_own, by_other = graph.gradient(p, [own, other])
    step = "two weights written out, the sum of all others a positive symbol"
    return {
        "diagonal": identity({"own": by_own - p * (1 - p)}, positive=("rest",)).proving(step, l="every"),
        "off the diagonal": identity({"other": by_other + p * q}, positive=("rest",)).proving(step, l="every"),
    }


@book.claim(
    "G.2",
    "First-order expansion of softmax",
    kind="inequality",
    where="Lemma G.2",
    parts=("remainder",),
    hypotheses=(),
    for_all=("l",),
    uses=["G.1"],
    insensitive=NUMBERS,
    statement=r"p(s+\epsilon)-p(s)=J\epsilon+\zeta,\quad\|\zeta\|_\infty=O(\|\epsilon\|_2^2)",
    reading="Constant 1, in dimension 4: the second derivative along e is p_i((e_i - E e)^2 - Var e), at most |e|^2 twice over in Taylor's remainder.",
)
def softmax_expansion(lab: Laboratory) -> Verdict:
    """The second derivative in closed form, and the last step; the remainder is Taylor's with this bound."""
    _, e, p = _softmax(shift=True)
    t = sym("t")
    mean = graph.add([w * x for w, x in zip(p, e, strict=True)])
    variance = graph.add([w * (x - mean) ** 2 for w, x in zip(p, e, strict=True)])
    residuals = {}
    for i in range(SIZE):
        second = graph.gradient(graph.gradient(p[i], [t])[0], [t])[0]
        residuals[f"second derivative {i}"] = second - p[i] * ((e[i] - mean) ** 2 - variance)
    a, b = sym("a"), sym("b")
    residuals["square"] = 2 * a**2 + 2 * b**2 - (a - b) ** 2 - (a + b) ** 2
    step = "Taylor's remainder with this second derivative, and 2a^2 + 2b^2 - (a - b)^2 = (a + b)^2"
    return identity(residuals).proving(step, l=SIZE).with_constants(C=1)


@book.claim(
    "H.1",
    "Bernstein's inequality, second form",
    kind="inequality",
    where="Lemma H.1",
    parts=("second tail", "quantile"),
    hypotheses=(),
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\exp\Big(-\tfrac{t^2/2}{V+Mt/3}\Big)\le\exp\Big(-\min\{\tfrac{t^2}{2V},\tfrac t{2M}\}\Big),\quad Z\le\sqrt{2V\log\tfrac1\delta}+2M\log\tfrac1\delta\ \text{with probability}\ 1-\delta",
    reading="V is the sum of the E[Z_j^2]; the first tail is Bernstein's and is taken as known.",
)
def bernstein(lab: Laboratory) -> dict[str, Verdict]:
    """A counterexample in rational numbers, the corrected form, and the quantile."""
    V, M, t = Fraction(1), Fraction(1), Fraction(1, 2)
    left, right = (t**2 / 2) / (V + M * t / 3), min(t**2 / (2 * V), t / (2 * M))
    sentence = f"at V = 1, M = 1, t = 1/2 the first exponent is -{left}, the second -{right}, which is smaller"
    printed = certified() if left >= right else refuted(Witness(sentence, {"V": 1, "M": 1, "t": "1/2"}))
    v, m, x, u, s = (sym(name) for name in ("V", "M", "t", "u", "s"))
    exponent = (x * x / 2) / (v + m * x / 3)
    quantile = s + 2 * m * u  # s^2 = 2 V u
    slack = quantile**2 / 2 - u * (s**2 / (2 * u) + m * quantile / 3)
    fixed = identity(
        {
            "t^2/(4V)": exponent - x * x / (4 * v) - x * x * (3 * v - m * x) / (4 * v * (3 * v + m * x)),
            "3t/(4M)": exponent - 3 * x / (4 * m) - 3 * x * (m * x - 3 * v) / (4 * m * (3 * v + m * x)),
        },
        positive=("V", "M", "t"),
    )
    gap = slack - Fraction(4, 3) * m**2 * u**2 - Fraction(5, 3) * m * u * s
    form = r"\le\exp(-\min\{\tfrac{t^2}{4V},\tfrac{3t}{4M}\})"
    return {
        "second tail": printed.correcting(form, fixed, "the denominator is at most twice its larger term").blaming(
            "constant", "bernstein-constants"
        ),
        "quantile": identity({"slack": gap}, positive=("M", "u", "s")).proving(
            "put into the first tail, the exponent exceeds log(1/delta) by positive terms"
        ),
    }


@book.claim(
    "H.2",
    "Norms and products of Gaussian vectors",
    kind="probability",
    where="Lemma H.2",
    parts=("norms", "products"),
    hypotheses=(),
    repairs=("H.1",),
    uses=["H.1"],
    insensitive=NUMBERS,
    statement=r"w_1,w_2\sim N(0,\tfrac1mI):\ \Pr[|\|w_1\|^2-1|\ge\Delta(\log\tfrac2\delta)]\le\delta,\ \Pr[|\langle w_1,w_2\rangle|\ge\Delta(\log\tfrac2\delta)]\le\delta",
    reading="Norms: exact chi-square tails; products: Chernoff's bound at an explicit point; m = 1, 2, 4, ..., 512, delta from 1/2 to 1/1000.",
)
def norms_products(lab: Laboratory) -> dict[str, Verdict]:
    """Incomplete gamma functions in balls, and Chernoff's bound in balls."""
    cases = [
        (2**k, delta)
        for k in range(10)
        for delta in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))
    ]

    def norms(case: tuple[int, Fraction]) -> bool:
        with flint.ctx.workprec(PRECISION):
            return bool(norm_tail(case[0], radius(case[0], log_ball(2 / case[1]))) <= as_ball(case[1]))

    def products(case: tuple[int, Fraction]) -> bool:
        with flint.ctx.workprec(PRECISION):
            return bool(product_tail(case[0], radius(case[0], log_ball(2 / case[1]))) <= as_ball(case[1]))

    return {
        "norms": enumerate_all(cases, norms, "pairs (m, delta)"),
        "products": enumerate_all(cases, products, "pairs (m, delta)"),
    }
