"""Appendices G and H: softmax calculus and concentration."""

from __future__ import annotations

from fractions import Fraction

import flint

from odesys import Verdict, Witness, as_ball, certified, enumerate_all, graph, identity, refuted, sym

from ..laboratory import Laboratory
from ..special.tails import PRECISION, log_ball, norm_tail, product_tail, radius
from .book import COQ, NUMBERS, book


@book.claim(
    "G.1",
    "Softmax Jacobian, Eq. (17)",
    kind="identity",
    where="Lemma G.1 and Equation (17)",
    parts=("diagonal", "off the diagonal"),
    hypotheses=(),
    for_all=("l",),
    insensitive=NUMBERS,
    statement=r"\tfrac{dp}{dt}=(\mathrm{diag}(p)-pp^\top)\tfrac{ds}{dt},\quad p=\mathrm{Softmax}(s)",
    reading="Every dimension l: all other weights are one symbol; the lemma is the Jacobian of (17) times ds/dt.",
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
    reading="The paper's remainder xi is zeta here; the constant is 1, for every l: sums over the other weights are symbols.",
)
def softmax_expansion(lab: Laboratory) -> Verdict:
    """The second derivative in closed form, and the last step; the remainder is Taylor's with this bound."""
    t, s, e, p, mean, square = (sym(name) for name in ("t", "s", "e", "p", "mean", "square"))
    # Z = sum_k exp(s_k + t e_k); its derivatives over Z are the means of e and of e^2 under p
    Z, Z1, Z2 = sym("Z"), sym("Z1"), sym("Z2")
    weight = graph.exp(s + t * e)
    first = e * weight / Z - weight * Z1 / Z**2
    second = e**2 * weight / Z - 2 * e * weight * Z1 / Z**2 - weight * Z2 / Z**2 + 2 * weight * Z1**2 / Z**3
    own = graph.substitute([first, second], {Z1: mean * Z, Z2: square * Z})
    share = weight / Z
    residuals = {
        "first derivative": own[0] - share * (e - mean),
        "second derivative": own[1] - share * ((e - mean) ** 2 - (square - mean**2)),
        "both signs": p * (e - mean) ** 2 - p * ((1 - p) * e - (mean - p * e)) ** 2,
    }
    steps = (
        "the quotient rule, with Z' = Z E[e] and Z'' = Z E[e^2]: the second derivative is p((e_i - E e)^2 - Var e)",
        "e_i - E e = (1 - p_i) e_i - sum of the other p_k e_k, so by Cauchy-Schwarz its square is at most 2 |e|^2",
        "Var e <= E e^2 <= |e|^2, so that the second derivative is at most 2 |e|^2 in size",
        "Taylor's remainder with half of this bound",
    )
    told = {"first": (("s", "t", "e", "Z", "Z1"), first), "second": (("s", "t", "e", "Z", "Z1", "Z2"), second)}
    return (
        identity(residuals, positive=("Z",))
        .by_theorems(COQ / "softmax_expansion.v", told)
        .proving(*steps, l="every")
        .with_constants(C=1)
    )


@book.claim(
    "H.1",
    "Bernstein's inequality, second form",
    kind="inequality",
    where="Lemma H.1",
    parts=("first tail", "second tail", "quantile"),
    hypotheses=(),
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\Pr[Z>t]\le\exp\Big(-\tfrac{t^2/2}{V+Mt/3}\Big),\quad\exp\Big(-\tfrac{t^2/2}{V+Mt/3}\Big)\le\exp\Big(-\min\{\tfrac{t^2}{2V},\tfrac t{2M}\}\Big),\quad Z\le\sqrt{2V\log\tfrac1\delta}+2M\log\tfrac1\delta\ \text{with probability}\ 1-\delta",
    reading="V is the sum of the E[Z_j^2] of independent centred Z_j with |Z_j| <= M; log-moments summed over j, then Chernoff's bound.",
)
def bernstein(lab: Laboratory) -> dict[str, Verdict]:
    """A counterexample in rational numbers, the corrected form, and the quantile."""
    V, M, t = Fraction(1), Fraction(1), Fraction(1, 2)
    left, right = (t**2 / 2) / (V + M * t / 3), min(t**2 / (2 * V), t / (2 * M))
    sentence = f"at V = 1, M = 1, t = 1/2 the first exponent is -{left}, the second -{right}, which is smaller"
    printed = certified() if left >= right else refuted(Witness(sentence, {"V": 1, "M": 1, "t": "1/2"}))
    v, m, x, u, s = (sym(name) for name in ("V", "M", "t", "u", "s"))
    exponent = (x * x / 2) / (v + m * x / 3)
    if printed.as_stated == "fails":
        both = {"below t^2/(2V)": (exponent, "<", x * x / (2 * v)), "below t/(2M)": (exponent, "<", x / (2 * m))}
        told = {"exponent": (("V", "M", "t"), exponent), "first": (("V", "t"), x * x / (2 * v))}
        told["second"] = (("M", "t"), x / (2 * m))
        printed = printed.stating(both, at={v: V, m: M, x: t}).by_theorems(COQ / "second_tail.v", told)
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
    of_quantile = {
        "exponent": (("V", "M", "t"), exponent),
        "quantile": (("V", "M", "u"), graph.substitute([quantile], {s: graph.sqrt(2 * v * u)})[0]),
    }
    form = r"\le\exp(-\min\{\tfrac{t^2}{4V},\tfrac{3t}{4M}\})"
    return {
        "first tail": first_tail(),
        "second tail": printed.correcting(form, fixed, "the denominator is at most twice its larger term").blaming(
            "constant", "bernstein-constants"
        ),
        "quantile": identity({"slack": gap}, positive=("M", "u", "s"))
        .by_theorems(COQ / "quantile_of_tail.v", of_quantile)
        .proving("put into the first tail, the exponent exceeds log(1/delta) by positive terms"),
    }


def first_tail() -> Verdict:
    """Chernoff's bound at l = t/(V + M t/3), with E exp(l Z_j) <= exp(E[Z_j^2] l^2/2 / (1 - l M/3))."""
    v, m, t, l, k = (sym(name) for name in ("V", "M", "t", "l", "k"))
    at = t / (v + m * t / 3)
    exponent = l * t - v * l**2 / 2 / (1 - l * m / 3)
    best = graph.substitute([exponent], {l: at})[0]
    gaps = {
        "exponent": best - (t * t / 2) / (v + m * t / 3),
        "below 3/M": 1 - at * m / 3 - v / (v + m * t / 3),
        "factorial": (k + 1) - 3 - (k - 2),
    }
    steps = (
        "k! >= 2 * 3^(k-2), since k + 1 >= 3 for k >= 2, and E Z^k <= E[Z^2] M^(k-2): a geometric series with ratio l M/3",
        "E exp(l Z) <= 1 + E[Z^2] l^2/2 / (1 - l M/3) <= its exponential, multiplied over j",
        "Markov's inequality at l = t/(V + M t/3), which is below 3/M",
    )
    return identity(gaps, positive=("V", "M", "t")).proving(*steps)


@book.claim(
    "H.2",
    "Norms and products of Gaussian vectors",
    kind="probability",
    where="Lemma H.2",
    source="damaged",
    parts=("norms", "products"),
    hypotheses=(),
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
