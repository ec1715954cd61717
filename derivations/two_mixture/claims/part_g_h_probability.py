"""Appendices G and H: concentration of the start values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import comb

import flint
import sympy as sp

from odesys import (
    HOLDS,
    ZERO,
    Evidence,
    Hypothesis,
    Node,
    Verdict,
    Witness,
    always_positive,
    certified,
    decided,
    equal,
    from_sympy,
    graph,
    refuted,
    say_number,
    sym,
    tails,
    undecided,
)

from .. import setting
from ..laboratory import Laboratory
from .book import book
from .common_hypotheses import SMALL_START

THUS = "thus, from (4/m^2, 4/m)"
WIDTHS = (*range(1, 33), 64, 128, 256, 512, 1024, 4096, 10**4)
WIDTHS_SAID = "1 to 32, " + ", ".join(str(m) for m in WIDTHS[32:])
PRECISIONS = (64, 256, 1024, 4096, 16384)  # bits: incomplete gamma functions of large order cancel
LEVELS = (  # ends of intervals of delta
    *(Fraction(n, 100) for n in (99, 90, 70, 50)),
    *(Fraction(1, 2**k) for k in range(2, 21)),
)


def _failure(m: int, level: Fraction, columns: int, bits_needed: dict[int, int]) -> flint.arb:
    """Ball above P(an entry of S(0)/omega^2 - I is larger than printed) at delta = level: exact norms, bounded products.

    `bits_needed` has how many bits were enough at the same width and a larger delta: fewer are not enough now.
    """
    for bits in PRECISIONS[PRECISIONS.index(bits_needed.get(m, PRECISIONS[0])) :]:
        bits_needed[m] = bits
        with flint.ctx.workprec(bits):
            log = (flint.arb(8) * level.denominator / level.numerator).log() / m
            t = 2 * log.sqrt() + 4 * log
            products = min(
                tails.product_outside(m, t), tails.product_outside_by_norm(m, t), key=lambda b: float(b.upper())
            )
            ball = columns * tails.norm_outside(m, t) + comb(columns, 2) * products
            if ball.rad() < ball.mid() / 100:
                break
    return ball


def _covers(m: int, low: Fraction, high: Fraction, columns: int, bits_needed: dict[int, int] | None = None) -> bool:
    """The bound holds for every delta from low to high: what fails grows with delta, so the ends decide."""
    return bool(
        _failure(m, high, columns, {} if bits_needed is None else bits_needed)
        < flint.arb(low.numerator) / low.denominator
    )


@book.claim(
    "G.1",
    "Start values concentrate",
    kind="probability",
    uses=["H.2"],
    insensitive="a statement about Gaussian matrices of the paper's size, not about the system",
    where="Lemma G.1",
    parts=("all five bounds at once",),
    hypotheses=(),
    for_all=("m",),
    statement=r"\Pr\Big[\forall\mu,\nu:\ |\langle W_K\mu,W_Q\nu\rangle|,|\langle W_K\mu,W_K\nu\rangle|,|\langle W_Q\mu,W_Q\nu\rangle|\le\omega^2r\ \text{and}\ "
    r"\forall\mu:\ \|W_K\mu\|^2,\|W_Q\mu\|^2=\omega^2(1\pm r)\Big]\ge1-\delta,\quad r=\sqrt{\tfrac4m\log\tfrac8\delta}+\tfrac4m\log\tfrac8\delta",
    reading="Certified at 39 widths up to 10^4, 2^-20 <= delta <= 0.99, for one head; bounds two and three are read for mu != nu, since norms have their own",
)
def start_concentrates(lab: Laboratory) -> Verdict:
    """The first bound for all mu, nu, two and three for mu != nu, norms: the sum of 36 tails is below delta in ball arithmetic, for listed widths and every delta of an interval."""
    columns = 2 * len(setting.words())
    spans = [(low, high) for high, low in pairwise(LEVELS)]
    bits_needed: dict[int, int] = {}
    loose = [(m, low, high) for m in WIDTHS for low, high in spans if not _covers(m, low, high, columns, bits_needed)]
    if loose:  # a sum of tails above delta refutes nothing: the entries do not fail one at a time
        m, low, high = loose[0]
        return undecided(f"the sum of the tails is not below delta at m = {m}, delta = {low} .. {high}")
    return (
        certified(enumerated=f"{len(WIDTHS)} widths, {len(spans)} intervals of delta each", widths=WIDTHS_SAID)
        .proving(
            "the failure probabilities of 8 norms (incomplete gamma functions) and 28 products (exponential moments, or Gaussian given one factor) are summed",
            "their sum grows with delta, and at the upper end of each interval of delta it is below the lower end, in balls",
            "Lemma H.2 and a union bound alone would give 9 delta",
        )
        .at(*({"m": m, "delta": span} for m in WIDTHS for span in spans))
    )


@book.claim(
    "G.1-proof",
    "Law of the images of a word",
    kind="identity",
    expect="fails",
    insensitive="a statement about Gaussian matrices, not about the system",
    origin="proof",
    where="Proof of Lemma G.1",
    parts=("law of W_K mu",),
    hypotheses=(SMALL_START,),
    statement=r"W_K^{(0)}\mu,\,W_Q^{(0)}\nu\sim\mathcal N(0,\omega^2I)",
    reading="for the start of Algorithm 1, whose entries are N(0, omega^2/m); mu has norm 1",
)
def law_of_images(lab: Laboratory) -> Verdict:
    """The expected squared norm: m times the variance of an entry."""
    m, omega = sym("m"), sym("omega")
    started, printed = m * (omega**2 / m), m * omega**2
    return (
        equal({"squared norm": (started, printed)}, positive=("m", "omega"))
        .witnessed(
            "at omega = 0.1, m = 100 (all hypotheses hold) the expected squared norm of W_K mu is 0.01, and that of the printed law 1",
            {"omega": Fraction(1, 10), "m": 100},
        )
        .correcting(
            r"\mathcal N(0,\tfrac{\omega^2}mI)",
            equal({"squared norm": (started, omega**2)}, positive=("m", "omega")),
            "Algorithm 1 starts with entries N(0, omega^2/m), and the bounds of the lemma are about this law",
        )
        .blaming("misprint", "stray-m")
    )


POSITIVE_LEVEL = Hypothesis("level", "t>0", lambda p: p["t"], strict=True)
SPREAD = Hypothesis("some spread", r"\sum_j\mathbb E[Z_j^2]>0", lambda p: p["V"], strict=True)
BOUNDED = Hypothesis(
    "bounded variables", r"\sum_j\mathbb E[Z_j^2]\le nM^2", lambda p: p["n"] * p["M"] ** 2 - p["V"]
)  # all that E[Z_j] = 0 and |Z_j| <= M leave possible
COIN = {"n": Fraction(1), "M": Fraction(1), "V": Fraction(1), "t": Fraction(1, 2)}
RARE = {"n": Fraction(10**5), "M": Fraction(1999, 2000), "V": Fraction(10**5 * 1999, 2000**2), "t": Fraction(99, 2)}


def _exponent(t: Node) -> Node:
    """(t^2/2)/(V + M t/3), the exponent of Bernstein's inequality."""
    return (t * t / 2) / (sym("V") + sym("M") * t / 3)


def _classical() -> Verdict:
    """Chernoff's bound at lambda = t/(V + M t/3) has the printed exponent."""
    V, M, t = sym("V"), sym("M"), sym("t")
    tilt = t / (V + M * t / 3)
    moment = tilt * tilt * V / (2 * (1 - tilt * M / 3))
    return equal({"exponent": (tilt * t - moment, _exponent(t))}, positive=("V", "M", "t")).proving(
        "E e^{lambda Z_i} <= 1 + E Z_i^2 (e^{lambda M} - 1 - lambda M)/M^2, since (e^x - 1 - x)/x^2 increases",
        "e^x - 1 - x <= (x^2/2)/(1 - x/3) for 0 <= x < 3, since k! >= 2 * 3^(k-2)",
        "Chernoff's bound at lambda = t/(V + M t/3), where V = sum of E Z_j^2",
    )


def _tail_above_the_last_bound() -> tuple[flint.arb, flint.arb]:
    """P[Z > t] and the last bound for n centred coins that show 1 with the small probability p, in balls.

    Z > t means at least 100 ones; the terms up to 200 ones are a lower bound of the sum.
    """
    n, p, t = int(RARE["n"]), Fraction(1, 2000), RARE["t"]
    V, M = RARE["V"], RARE["M"]
    least = int(n * p + t) + 1
    with flint.ctx.workprec(256):
        low, high = (flint.arb(q.numerator) / q.denominator for q in (p, 1 - p))
        tail = sum((comb(n, k) * low**k * high ** (n - k) for k in range(least, 2 * least + 1)), flint.arb(0))
        exponent = min(t**2 / (2 * V), t / (2 * M))
        return tail, (-flint.arb(exponent.numerator) / exponent.denominator).exp()


def _second_bound() -> Verdict:
    """A coin is a counterexample; the corrected form follows from two factorised differences."""
    V, M, t = COIN["V"], COIN["M"], COIN["t"]
    left, right = (t**2 / 2) / (V + M * t / 3), min(t**2 / (2 * V), t / (2 * M))
    tail, last = _tail_above_the_last_bound()
    witness = Witness(
        "for one fair coin Z_1 = +-1, so that M = 1 and the sum of E Z_j^2 is 1, and t = 1/2 (all hypotheses hold) the middle "
        f"exponent is {left} and the last one {right}: e^(-{left}) = 0.8984 is not at most e^(-{right}) = 0.8825",
        COIN,
    )
    v, m, s = sym("V"), sym("M"), sym("t")
    # 3V >= Mt makes the first difference nonnegative, Mt >= 3V the second: one of them always holds, and 3/4 > 1/2
    first, second = s * s / (4 * v), 3 * s / (4 * m)
    fixed = equal(
        {
            "t^2/(4V)": (_exponent(s) - first, s * s * (3 * v - m * s) / (4 * v * (3 * v + m * s))),
            "3t/(4M)": (_exponent(s) - second, 3 * s * (m * s - 3 * v) / (4 * m * (3 * v + m * s))),
        },
        positive=("V", "M", "t"),
    )
    both = {
        "the first exponent is below t^2/(2V)": (_exponent(s), "<", s * s / (2 * v)),
        "the first exponent is below t/(2M)": (_exponent(s), "<", s / (2 * m)),
    }
    verdict = decided(left >= right, witness) if left >= right else refuted(witness, Evidence.PROOF)
    verdict = verdict.stating(both, at={v: V, m: M, s: t}) if left < right else verdict
    if tail > last:
        verdict = verdict.at(RARE).adding(
            tail=f"for n = 10^5 centred coins that show 1 with probability 1/2000 and t = 49.5, P[Z > t] is at least "
            f"{say_number(float(tail))}, above the last bound {say_number(float(last))}"
        )
    return verdict.correcting(
        r"\le\exp\Big(-\min\{\tfrac{t^2}{4V},\tfrac{t}{2M}\}\Big),\ V=\textstyle\sum_j\mathbb E[Z_j^2]",
        fixed,
        "the denominator is at most twice its larger term, so that the exponent is at least the smaller of t^2/(4V) and "
        "3t/(4M); only the first constant changes",
    ).blaming("constant", "constants-of-the-minimum")


def _deviation() -> Verdict:
    """At t = sqrt(2 V l) + 2 M l, with l = log(1/delta), the first exponent is at least l; a stands for sqrt(2 V l)."""
    a, m, l = sym("a"), sym("M"), sym("l")
    t = a + 2 * m * l
    (exponent,) = graph.substitute([_exponent(t)], {sym("V"): a * a / (2 * l)})
    return always_positive({"exponent - log(1/delta)": exponent - l}, positive=("a", "M", "l")).proving(
        "from the first bound, at t = sqrt(2 V log(1/delta)) + 2 M log(1/delta)"
    )


@book.claim(
    "H.1",
    "Bernstein's inequality",
    kind="inequality",
    expect="fails",
    insensitive="a statement about numbers, not about the system",
    where="Lemma H.1",
    parts=("first bound", "second bound", "with probability 1 - delta"),
    hypotheses=(POSITIVE_LEVEL, SPREAD, BOUNDED),
    statement=r"\mathbb P[Z>t]\le\exp\Big(-\frac{t^2/2}{\sum_j\mathbb E[Z_j^2]+Mt/3}\Big)\le\exp\Big(-\min\Big\{\frac{t^2}{2\sum_j\mathbb E[Z_j^2]},\frac{t}{2M}\Big\}\Big);\quad "
    r"\text{with probability}\ge1-\delta:\ Z\le\sqrt{2\textstyle\sum_j\mathbb E[Z_j^2]\log\tfrac1\delta}+2M\log\tfrac1\delta",
    reading="Z_1, ..., Z_n i.i.d. with mean 0 and |Z_i| <= M, Z their sum; each inequality of the chain by itself",
)
def bernstein(lab: Laboratory) -> dict[str, Verdict]:
    """The classical bound, its printed simplification, and what is drawn from it."""
    return {"first bound": _classical(), "second bound": _second_bound(), "with probability 1 - delta": _deviation()}


@book.claim(
    "H.2",
    "Concentration of norms and products",
    kind="probability",
    uses=["H.1", "H.2-proof"],
    repairs=["H.1", "H.2-proof"],
    insensitive="a statement about numbers, not about the system",
    where="Lemma H.2",
    parts=("norm", "product"),
    hypotheses=(),
    for_all=("m",),
    statement=r"w_1,w_2\sim\mathcal N(0,I_m/m):\ \mathbb P\Big[\big|\|w_1\|^2-1\big|\ge\sqrt{\tfrac4m\log\tfrac2\delta}+\tfrac4m\log\tfrac2\delta\Big]\le\delta,\quad "
    r"\mathbb P\Big[|\langle w_1,w_2\rangle|\ge\sqrt{\tfrac4m\log\tfrac2\delta}+\tfrac4m\log\tfrac2\delta\Big]\le\delta",
    reading="every m >= 1 and every delta in (0, 1), by exponential moments and without Lemma H.1, which is for bounded variables",
)
def norms_concentrate(lab: Laboratory) -> dict[str, Verdict]:
    """Three exponents against s^2: zero at the start, positive derivative; the tilts are those that are best for t."""
    s = sym("s")
    t = 2 * s + 4 * s * s
    gains = {
        "norm above": (tails.norm_above(t, t / (2 * (1 + t))) - s * s, graph.ONE),
        "norm below": (tails.norm_below(t, t / (2 * (1 - t))) - s * s, 1 - t),  # only asked for where 1 - t > 0
        "product": (tails.product_above(t, s / (1 + s)) - s * s, graph.ONE),
    }
    return {part: _grows({k: g for k, g in gains.items() if part in k}, s) for part in ("norm", "product")}


def _grows(gains: dict[str, tuple[Node, Node]], s: Node) -> Verdict:
    """Every exponent less s^2 is zero at s = 0 and has a positive derivative for s > 0."""
    starts = equal({what: (gain, graph.ZERO) for what, (gain, _) in gains.items()}, given={s: graph.ZERO})
    slopes = always_positive(
        {what: graph.gradient(gain, [s])[0] * factor for what, (gain, factor) in gains.items()}, positive=["s"]
    )
    return (starts & slopes).proving(
        "with s^2 = log(2/delta)/m and t = 2s + 4s^2 each tail is at most e^(-m E), by its exponential moment at an explicit tilt",
        "E - s^2 is zero at s = 0 and increases, so that each of the two tails is at most delta/2; a norm can not fall below 0",
        m="every",
    )


@book.claim(
    "H.2-proof",
    "A squared Gaussian is sub-Gamma",
    kind="inequality",
    expect="fails",
    insensitive="a statement about numbers, not about the system",
    origin="proof",
    where="Proof of Lemma H.2",
    parts=("means", "sub-Gamma", "tail displays", THUS),
    hypotheses=(),
    for_all=("m",),
    statement=r"\mathbb E\|w_1\|^2=1,\ \mathbb E\langle w_1,w_2\rangle=0;\quad w_{1,i}^2\ \text{is sub-Gamma with parameters}\ (\tfrac4{m^2},\tfrac4m);\quad "
    r"\text{thus, by Bernstein's inequality, the tail of}\ \|w_1\|^2;\quad\text{by Bernstein's inequality, that of}\ \langle w_1,w_2\rangle",
    reading="Sub-Gamma (v, c): log E exp(l(Z - EZ)) <= v l^2/2(1 - c|l|) for |l| < 1/c; the displays by themselves, and what these parameters give.",
)
def squares_are_sub_gamma(lab: Laboratory) -> dict[str, Verdict]:
    """Means from the density, moments on both sides, the displays, and the inference from the printed parameters."""
    displays = norms_concentrate(lab)
    sharp = _sub_gamma(2, 2)
    found = _sub_gamma(4, 4).proving(
        "E exp(l w^2) = (1 - 2 l/m)^(-1/2) for l < m/2, so with l = m x, or l = -m x, no m is left",
        "v l^2/2(1 - c l) less the logarithm, and v l^2/2 less that on the left, are 0 at x = 0 and increase for 0 < x < 1/4",
        m="every",
    )
    if sharp.as_stated == HOLDS:
        found = replace(found, sharpened="(2/m^2, 2/m) will do")
    return {
        "means": _means(),
        "sub-Gamma": found,
        "tail displays": displays["norm"] & displays["product"],
        THUS: _from_the_parameters(sharp),
    }


def _means() -> Verdict:
    """First moments by integration of the density of N(0, 1/m), m times."""
    m, x = sp.Symbol("m", positive=True), sp.Symbol("x", real=True)
    density = sp.sqrt(m / (2 * sp.pi)) * sp.exp(-m * x**2 / 2)
    mass, first, second = (sp.integrate(x**k * density, (x, -sp.oo, sp.oo)) for k in (0, 1, 2))
    found = {"mass": (mass, graph.ONE), "norm": (m * second, graph.ONE), "product": (m * first**2, graph.ZERO)}
    pairs = {what: (from_sympy(moment), value) for what, (moment, value) in found.items()}
    return equal(pairs, positive=("m",)).proving(
        "the moments of the density of N(0, 1/m) are integrated; factors of a product are independent", m="every"
    )


def _sub_gamma(v: int, c: int) -> Verdict:
    """w^2 is sub-Gamma with (v/m^2, c/m) on both sides: with l = m x each gap is zero at x = 0 and increases to 1/c."""
    x, u = sym("x"), sym("u")
    right = v * x * x / (2 * (1 - c * x)) - (-x - graph.call("log", 1 - 2 * x) / 2)
    left = v * x * x / 2 - (x - graph.call("log", 1 + 2 * x) / 2)  # smaller than with the factor 1/(1 - c x)
    starts = equal({"above": (right, ZERO), "below": (left, ZERO)}, given={x: ZERO})
    within = {x: u / (c * (1 + u))}
    slopes = {
        what: graph.substitute(graph.gradient(gap, [x]), within)[0] for what, gap in (("above", right), ("below", left))
    }
    return starts & always_positive(slopes, positive=["u"])


NORMAL_M, NORMAL_DELTA = 10**4, Fraction(1, 1000)  # m variables N(0, 4/m^2), which are sub-Gamma (4/m^2, 4/m) too


def _normal_outside(m: int, delta: Fraction) -> flint.arb:
    """P(|sum of m variables N(0, 4/m^2)| >= the printed level), a ball: the sum is N(0, 4/m)."""
    with flint.ctx.workprec(128):
        s = (flint.arb(2) * delta.denominator / delta.numerator).log()
        level = (4 * s / m).sqrt() + 4 * s / m
        return (level / (flint.arb(8) / m).sqrt()).erfc()


def _best_level() -> Verdict:
    """min over l of (v l^2/2(1 - c l) + s)/l is sqrt(2 v s) + c s; a stands for sqrt(2 v s), r for 1 - c l."""
    a, c, s, l, r = (sym(name) for name in ("a", "c", "s", "l", "r"))
    bound = (a * a / (2 * s) * l * l / (2 * (1 - c * l)) + s) / l
    gap = (a * l - 2 * s * (1 - c * l)) ** 2 / (4 * s * l * (1 - c * l))  # a square over positive factors
    best = equal({"at the best l": (gap, ZERO)}, given={l: 2 * s / (a + 2 * c * s)})
    (left,) = graph.substitute([1 - c * l], {l: 2 * s / (a + 2 * c * s)})
    return (
        best
        & equal({"gap": (bound - (a + c * s), gap)})
        & always_positive({"1 - c l": left, "4 s l (1 - c l)": 4 * s * l * r}, positive=("a", "c", "s", "l", "r"))
    )


def _from_the_parameters(sharp: Verdict) -> Verdict:
    """What sub-Gamma (v/m^2, c/m) gives against the printed level, with h = sqrt(s/m) and s = log(2/delta)."""
    h = sym("h")

    def squares(v: int, c: int) -> tuple[Node, Node]:
        """What is left of each level without its c h^2, squared: the given sqrt(2 v) h, and the printed one."""
        return 2 * v * h * h, (2 * h + (4 - c) * h * h) ** 2

    best = _best_level()
    given, printed = squares(4, 4)
    too_large = always_positive({"given by (4/m^2, 4/m) above the printed level": given - printed}, positive=["h"])
    given, printed = squares(2, 2)
    enough = always_positive({"given by (2/m^2, 2/m) below the printed level": printed - given}, positive=["h"])
    tail = _normal_outside(NORMAL_M, NORMAL_DELTA)
    level = flint.arb(NORMAL_DELTA.numerator) / NORMAL_DELTA.denominator
    if any(known.as_stated != HOLDS for known in (best, too_large)) or not tail > level:
        return undecided("what the printed parameters give is not larger than the printed level")
    witness = Witness(
        f"for m = 10^4 independent N(0, 4/m^2), which are sub-Gamma (4/m^2, 4/m), and delta = 0.001 their sum exceeds the "
        f"printed level in size with probability {say_number(float(tail))}, above delta",
        {"m": NORMAL_M, "delta": NORMAL_DELTA},
    )
    return (
        refuted(witness, Evidence.CERTIFICATE)
        .adding(
            given="sub-Gamma (v, c) gives sqrt(2 v s) + c s and nothing smaller, so (4/m^2, 4/m) for each of m terms gives "
            "sqrt(8 s/m) + 4 s/m, s = log(2/delta)"
        )
        .correcting(
            r"w_{1,i}^2\ \text{is sub-Gamma with parameters}\ (\tfrac2{m^2},\tfrac2m)",
            (sharp & best & enough).proving("with h = sqrt(s/m) no m is left in the two levels", m="every"),
            "these give sqrt(4 s/m) + 2 s/m, below the printed level; Lemma H.2 itself is proved without them",
        )
        .blaming("constant", "sub-Gamma-parameters")
    )
