"""Appendix C: the bounds phi, nu, p of Definition 1, the geometry of Assumption 3, sub-Gaussian tails."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import flint

from odesys import (
    Evidence,
    Verdict,
    always_positive,
    as_ball,
    certified,
    combine_verdicts,
    enumerate_all,
    equal,
    graph,
    identity,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .book import NUMBERS, PRINTED, b, c, claim, definition_1, eps


@claim(
    "Def.1",
    "Bounds phi, nu, p of attention",
    kind="definition",
    insensitive=NUMBERS,
    where="Definition 1",
    hypotheses=(),
    statement=r"\phi_n=\tfrac1{|S_1|e^{Q^2+\epsilon Q}+|S|-|S_1|},\ \nu_n=\tfrac1{|S_1|e^{Q^2-\epsilon Q}+|S|-|S_1|},\ p_n=|S_1|e^{Q^2-\epsilon Q}\nu_n",
    reading="Q for the length of q_1(t): the three quantities are consistent, for all positive numbers",
)
def bounds_of_attention(lab: Laboratory) -> Verdict:
    """Both facts for all values.

    Q = |q_1(t)|, eps = delta + tau: p_n + (|S|-|S_1|) nu_n = 1, phi_n <= nu_n <= e^{2 eps Q} phi_n for all positive
    Q, eps, |S_1|, |S|-|S_1|; whether they bound the attention is Eq.30.
    """
    d = definition_1()
    grown = sym("g")  # eps Q
    phi, nu = 1 / (c * sym("w") * graph.exp(grown) + b), 1 / (c * sym("w") * graph.exp(-grown) + b)
    order = always_positive(
        {"nu - phi": nu - phi, "e^{2 eps Q} phi - nu": graph.exp(2 * grown) * phi - nu}, positive=("c", "b", "w", "g")
    )
    return identity({"p + b nu - 1": d["p"] + b * d["nu"] - 1}) & order


@claim(
    "Asm.3",
    "Inner products of tokens",
    kind="inequality",
    insensitive=NUMBERS,
    origin="text",
    where="Appendix C, after Assumption 3",
    parts=["(5) gives it", "it gives (5)"],
    hypotheses=(),
    statement=r"x_i^\top x_j\ge1\ (\text{same pattern}),\quad x_i^\top x_j\le\lambda<1\ (\text{different patterns}),\quad\text{after a common rescaling, equivalent to (5)}",
    reading="both directions; the second for tokens scaled up a little bit, by s with s^2 - 1 < (1 - lambda)/15, as 1 - lambda = Theta(1)",
)
def inner_products(lab: Laboratory) -> dict[str, Verdict]:
    """lambda by the polarisation identity, and where it is below 1.

    Unit tokens within tau of their pattern, patterns at least kappa apart: |x_i - x_j| <= 2 tau or >= kappa - 2
    tau, divided by 1 - 2 tau^2 > 0; lambda < 1 exactly if tau < kappa/4 (so the condition of (5) is what is needed).
    """
    kappa, tau, gap = sym("kappa"), sym("tau"), sym("gap")
    same, other = 1 - (2 * tau) ** 2 / 2, 1 - (kappa - 2 * tau) ** 2 / 2
    factor = kappa * (kappa - 4 * tau) / 2
    x = [sym(f"x{i}") for i in range(3)]
    y = [sym(f"y{i}") for i in range(3)]
    dot = graph.add(p * q for p, q in zip(x, y, strict=True))
    distance = graph.add((p - q) ** 2 for p, q in zip(x, y, strict=True))
    squares = graph.add(p * p for p in x) + graph.add(q * q for q in y)
    exact = identity(
        {
            "polarisation": dot - (squares - distance) / 2,
            "(1 - lambda)(1 - 2 tau^2)": (1 - other / same) * same - factor,
            "lambda = 1 at tau = kappa/4": graph.substitute([factor], {kappa: 4 * tau})[0],
        }
    )
    (inside,) = graph.substitute([factor], {kappa: 4 * tau + gap})
    (outside,) = graph.substitute([factor], {tau: kappa / 4 + gap})
    signs = always_positive({"tau < kappa/4": inside, "tau > kappa/4": -outside}, positive=("tau", "gap", "kappa"))
    given = (exact & signs).with_constants(
        **{
            "lambda": "(1 - (kappa - 2 tau)^2 / 2) / (1 - 2 tau^2)",
            "1 - lambda": "kappa (kappa - 4 tau) / (2 (1 - 2 tau^2))",
        }
    )
    return {
        "(5) gives it": given,
        "it gives (5)": _converse(),
    }


def _converse() -> Verdict:
    """Unit tokens scaled by s, s^2 = 1 + x: with one token of each pattern for mu_j, tau^2 <= 2 - 2/s^2 and kappa^2 >= 2 - 2 lambda/s^2.

    Times s^2/2, kappa^2 - 16 tau^2 is at least (s^2 - lambda) - 16 (s^2 - 1) = (1 - lambda) - 15 x.
    """
    x, lam, rest = sym("x"), sym("lam"), sym("rest")  # 1 - lambda = 15 x + rest
    square = 1 + x
    left = (2 - 2 * lam / square) - 16 * (2 - 2 / square)
    exact = identity({"kappa^2 - 16 tau^2": left * square / 2 - ((1 - lam) - 15 * x)}, positive=("x",))
    (room,) = graph.substitute([(1 - lam) - 15 * x], {lam: 1 - 15 * x - rest})
    return exact & always_positive({"room": room}, positive=("rest",)).proving(
        "tokens of one pattern: |u - u'|^2 = 2 - 2 u'u' <= 2 - 2/s^2; of different ones at least 2 - 2 lambda/s^2; any token of a pattern serves as mu_j"
    )


def gaussian_norm(p: object) -> object:
    """p^{-1/2} (E|X|^p)^{1/p} of a standard normal variable, as a ball."""
    return (2 / p).sqrt() * ((((p + 1) / 2).gamma() / flint.arb.pi().sqrt()).log() / p).exp()  # type: ignore[operator, attr-defined]


@claim(
    "Def.3",
    "Sub-Gaussian norm",
    kind="definition",
    insensitive=NUMBERS,
    where="Definition 3",
    hypotheses=(),
    statement=r"(\mathbb E|X|^p)^{1/p}\le K\sqrt p\ \forall p\ge1,\qquad\|X\|_{\psi_2}=\sup_{p\ge1}p^{-1/2}(\mathbb E|X|^p)^{1/p}",
    reading="norms of a sign and of a normal variable",
)
def subgaussian_norm(lab: Laboratory) -> Verdict:
    """Derivative of the logarithm, piece by piece.

    A sign has the norm 1 (at p = 1); a standard normal variable has sqrt(2/pi), at p = 1: its p^{-1/2}
    (E|X|^p)^{1/p} falls on 1 <= p <= 16 (sign of the derivative in balls of width 1/128), larger p not enclosed.
    """

    def falls(k: int) -> bool:
        with flint.ctx.workprec(96):
            p = as_ball(1 + Fraction(k, 128)).union(as_ball(1 + Fraction(k + 1, 128)))
            half = (p + 1) / 2
            slope = -p / 2 - (half.gamma() / flint.arb.pi().sqrt()).log() + p / 2 * half.digamma()  # p^2 d/dp log
            return bool(slope < 0)

    pieces = enumerate_all(range(15 * 128), falls, "pieces of 1 <= p <= 16")
    with flint.ctx.workprec(96):
        start = abs(gaussian_norm(flint.arb(1)) - (2 / flint.arb.pi()).sqrt()) < 1e-20  # type: ignore[operator]
        sign = enumerate_all(
            [Fraction(k, 8) for k in range(9, 129)],
            lambda p: bool(as_ball(p) ** as_ball(Fraction(-1, 2)) < 1),
            "p > 1 of a sign",
        )
    return (pieces & sign if start else refuted({"p": 1}, Evidence.CERTIFICATE)).with_constants(
        gaussian="sqrt(2/pi)", sign=1
    )


@claim(
    "Lem.1",
    "Hoeffding's inequality",
    kind="probability",
    uses=["Def.3"],
    insensitive=NUMBERS,
    where="Lemma 1",
    parts=["tail"],
    hypotheses=(),
    statement=r"\mathbb P\{|\textstyle\sum_ia_iX_i|\ge t\}\le e\cdot\exp(-ct^2/(K^2\|a\|^2))\ \text{with an absolute }c>0",
    reading="any centered independent variables and weights: c = 1/16 by proof; for signs and normal variables with equal weights c = 1/4",
)
def hoeffding(lab: Laboratory) -> Verdict:
    """Moments, then Chernoff, for every law; exact tails of signs and of the normal law for a better constant.

    c = 1/4, N equal weights: signs (K = 1) by exact binomial tails for all t >= 0 and N = 1..120; normal variables
    (K^2 = 2/pi) by balls at t/|a| = 1/8, 2/8, .., 12; c = 1/2, which is enough for signs, is too much for normal variables.
    """

    def signs(N: int) -> bool:
        with flint.ctx.workprec(96):
            weight = 0
            for k in range(N + 1):  # the tail changes only at the values N - 2k
                value = N - 2 * k
                if value < 0:
                    break
                weight += comb(N, k) * (2 if value else 1)
                if not as_ball(Fraction(weight, 2**N)) <= (1 - as_ball(Fraction(value * value, 4 * N))).exp():
                    return False
            return True

    def normal(level: Fraction, factor: Fraction) -> bool:
        with flint.ctx.workprec(96):
            t = as_ball(level)
            return bool((t / flint.arb(2).sqrt()).erfc() <= (1 - as_ball(factor) * t * t * flint.arb.pi() / 2).exp())

    levels = [Fraction(k, 8) for k in range(1, 97)]
    parts = {
        "every law": _every_law(),
        "signs": enumerate_all(range(1, 121), signs, "numbers N of signs"),
        "normal": enumerate_all(levels, lambda t: normal(t, Fraction(1, 4)), "levels of the normal tail"),
    }
    too_much = next((str(t) for t in levels if not normal(t, Fraction(1, 2))), "none")
    return combine_verdicts(parts).with_constants(
        c="1/16", c_for_signs_and_normal_laws="1/4", first_level_where_one_half_fails=too_much
    )


def _every_law() -> Verdict:
    """E e^(l X) <= e^(4 l^2 K^2) for a centered X with E|X|^p <= K^p p^(p/2): terms of both series, y = |l| K."""
    with flint.ctx.workprec(96):
        # (1 + 1/(2 k))^k/sqrt(2 k + 1), by which the odd terms exceed (2 y^2)^k/k!, is at most e^(1/2)/sqrt(3)
        fine = bool(flint.arb(1).exp() < 3) and bool(flint.arb(1).exp() > 2)
    if not fine:
        return undecided("2 < e < 3")
    k = sym("k")
    start = identity({"2 - (3/2 + 1/4) at k = 1": graph.num(2) - Fraction(7, 4) - Fraction(1, 4)})
    step = always_positive(
        {"2 (3/2 + k/4) - (3/2 + (k + 1)/4)": 2 * (Fraction(3, 2) + k / 4) - (Fraction(3, 2) + (k + 1) / 4)},
        positive=("k",),
    )
    lam, s, t = sym("l"), sym("s"), sym("t")
    chernoff = identity(
        {
            "4 s l^2 - l t at l = t/(8 s)": graph.substitute([4 * s * lam**2 - lam * t], {lam: t / (8 * s)})[0]
            + t * t / (16 * s)
        },
        positive=("s",),
    )
    return (start & step & chernoff).proving(
        "E X = 0: E e^(l X) <= 1 + sum over p >= 2 of y^p p^(p/2)/p!",
        "even p = 2 k: (2 k)!/k! >= k^k, so the term is at most (2 y^2)^k/k!",
        "odd p = 2 k + 1: y^p is at most half of y^(2 k) + y^(2 k + 2), and p^(p/2)/p! is at most e^(1/2)/sqrt(3) < 1 times 2^k/k!, "
        "so at most (k + 1)/2 times 2^(k + 1)/(k + 1)!",
        "together 1 + sum of (2 y^2)^k/k! (3/2 + k/4), and 3/2 + k/4 <= 2^k for k >= 1 by induction: at most e^(4 y^2)",
        "a sum of independent a_i X_i has the product; with l = t/(8 K^2 |a|^2) Chernoff gives e^(-t^2/(16 K^2 |a|^2)), twice, and 2 < e",
    )


@claim(
    "Eq.90",
    "Labels of a batch",
    kind="probability",
    uses=["Lem.1"],
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 1, Eq. (90)",
    parts=["tail"],
    hypotheses=(),
    statement=r"\Pr\big(|\tfrac1B\textstyle\sum_ny^n|\ge\sqrt{\log B/B}\big)\le B^{-c}",
    reading="c = 1/4, every B from 2 on",
)
def labels_of_a_batch(lab: Laboratory) -> Verdict:
    """Binomial tails in exact arithmetic, the logarithm in balls.

    C = 1/4 for every B >= 2: exact binomial tails for B = 2..16, and 2 exp(-B t^2/2) = 2 B^{-1/2} <= B^{-1/4} for B
    >= 16, since B^{1/4} >= 2; the tails for B <= 400 show how much larger c may be.
    """

    def tail(B: int) -> Fraction:
        with flint.ctx.workprec(96):
            square = as_ball(B).log() * B
            return Fraction(sum(comb(B, k) for k in range(B + 1) if not as_ball((2 * k - B) ** 2) < square), 2**B)

    def small(B: int) -> bool:
        with flint.ctx.workprec(96):
            return bool(as_ball(tail(B)) <= (-as_ball(B).log() / 4).exp())

    few = enumerate_all(range(2, 17), small, "batch sizes")
    x = sym("x")  # B^{1/4} = 2 + x
    many = always_positive({"B^{1/2} - 2 B^{1/4}": (2 + x) ** 2 - 2 * (2 + x)}, positive=("x",))
    with flint.ctx.workprec(64):
        rate = min(float(-as_ball(tail(B)).log() / as_ball(B).log()) for B in range(2, 401))
    return (few & many).with_constants(c="1/4", largest_c_for_B_up_to_400=round(rate, 4))


@claim(
    "Eq.91",
    "Projection of the noise",
    kind="probability",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 1, Eq. (91)",
    parts=["tail"],
    hypotheses=(),
    statement=r"\Pr\big(|z_l(t)^\top p_1|\ge\sqrt{(\sigma+\tau)^2\log m}\big)\le m^{-c}",
    reading="an error of length at most sigma + tau and m from 3 on: the event is empty",
)
def noise_projection(lab: Laboratory) -> Verdict:
    """Lagrange's identity, and log 3 > 1.

    For |z| <= sigma + tau, |p_1| = 1 and m >= 3 the event is empty, so any c will do: |z|^2 |p|^2 - (z'p)^2 is a
    sum of squares (three dimensions), and log m > 1.
    """
    z, p = ([sym(f"{name}{i}") for i in range(3)] for name in "zp")
    left = (
        graph.add(x * x for x in z) * graph.add(x * x for x in p)
        - graph.add(x * y for x, y in zip(z, p, strict=True)) ** 2
    )
    squares = graph.add((z[i] * p[j] - z[j] * p[i]) ** 2 for i in range(3) for j in range(i + 1, 3))
    exact = identity({"Lagrange": left - squares})
    with flint.ctx.workprec(64):
        log = flint.arb(3).log()
    return exact & (certified(log_3=str(log)) if log > 1 else undecided("log 3 > 1"))


@claim(
    "Eq.8",
    "Condition on the fractions",
    kind="condition",
    same_as="Eq.71, Eq.153",
    insensitive=PRINTED,
    where="Theorem 1, Eq. (8), with (71) and (153)",
    hypotheses=(),
    statement=r"(8)\ \alpha_*\ge\frac{\alpha_\#}{e^{-(\delta+\tau)}(1-(\sigma+\tau))}\iff(71)=(153)\ \alpha_*\ge\frac{1-\alpha_{nd}}{1+e^{-(\delta+\tau)}(1-(\sigma+\tau))}",
    reading="with the three fractions adding up to 1, and sigma + tau below 1",
)
def condition_on_fractions(lab: Laboratory) -> Verdict:
    """Difference of the cleared forms.

    With alpha_* + alpha_# + alpha_nd = 1 the cleared forms are the same expression, and what was cleared is
    positive for sigma + tau < 1.
    """
    star, confusion, factor = sym("alpha_s"), sym("alpha_c"), graph.exp(-eps) * sym("r")  # r = 1 - (sigma + tau)
    first = star * factor - confusion
    second = star * (1 + factor) - (star + confusion)  # 1 - alpha_nd
    same = equal({"cleared": (first, second)})
    return same & always_positive({"first divisor": factor, "second divisor": 1 + factor}, positive=("r", "eps"))
