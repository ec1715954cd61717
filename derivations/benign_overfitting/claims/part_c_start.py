"""Appendix C: the start of weights and data, with high probability."""

from __future__ import annotations

from fractions import Fraction
from math import comb, sqrt

import flint
import numpy as np
import sympy as sp

from odesys import (
    Hypothesis,
    Node,
    Verdict,
    Witness,
    always_positive,
    decided,
    graph,
    identity,
    measured,
    num,
    refuted,
    rounded,
    say_number,
    sym,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special import span_network
from ..special.conditions import CONDITION_4_1
from .book import COQ, NUMBERS, book
from .common_hypotheses import ENOUGH, exact_point

EXACT_N = range(1, 201)
NO_ERFC = "the tail of a Gaussian is an integral, erfc, which is not in the libraries of Coq that are used here"
LONG_TOKENS = Hypothesis(
    "large dimension",
    r"d=\Omega(\log(4NM/\delta))",  # read with the constant 100 and N^2 M^2, which is at most twice that
    lambda p: float(p["d"]) - 100 * float(np.log(4 * p["N"] ** 2 * p["M"] ** 2 / p["delta"])),
    asymptotic=True,
)
LONG_KEYS = Hypothesis(
    "large width",
    r"d_h=\Omega(\log(6N^2M^2/\delta))",  # of the proof of Lemma C.3, read with the constant 100
    lambda p: float(p["d_h"]) - 100 * float(np.log(6 * p["N"] ** 2 * p["M"] ** 2 / p["delta"])),
    asymptotic=True,
)


@book.claim(
    "C.1",
    "Balanced classes",
    kind="probability",
    insensitive=NUMBERS,
    where="Lemma C.1",
    parts=("class sizes",),
    hypotheses=(ENOUGH,),
    for_all=("N",),
    statement=r"n\ge8\log(4/\delta):\quad \mathbb P\big[\tfrac N4\le|\{n:y_n=\pm1\}|\le\tfrac{3N}4\big]\ge1-\delta",
    reading="The n of the condition is N; labels are Rademacher.",
)
def balanced_classes(lab: Laboratory) -> Verdict:
    """Hoeffding's bound by exponential moments, for every N; exact tails for small N beside it."""
    x, s = sym("x"), sym("s")
    up, down = graph.exp(x), graph.exp(-x)
    steps = identity(
        {
            "second derivative": 1 - 4 / (up + down) ** 2 - ((up - down) / (up + down)) ** 2,
            "exponent": graph.substitute([s * s / 8 - s / 4 + num(Fraction(1, 8))], {s: num(1)})[0],
        }
    )
    tails = [_exact_tail(N) <= 2 * (-flint.arb(N) / 8).exp() for N in EXACT_N]
    if not all(tails):
        return refuted(Witness("an exact binomial tail exceeds 2 exp(-N/8)", {"N": EXACT_N[tails.index(False)]}))
    delta = sym("delta")
    told = {"enough": (("delta",), 8 * graph.call("log", 4 / delta))}
    return (
        steps.by_theorems(COQ / "balanced_classes.v", told)
        .proving(
            "E exp(s(B - 1/2)) = cosh(s/2) <= exp(s^2/8): x^2/2 - log cosh x is 0 with its derivative at 0, and its second derivative is tanh^2",
            "at s = 1 each of the two tails is at most exp(-N/8), so both at most 2 exp(-N/8) <= delta/2",
            N="every",
        )
        .adding(exact=f"the exact tail is below 2 exp(-N/8) for N = 1 .. {EXACT_N[-1]}")
    )


def _exact_tail(N: int) -> flint.arb:
    return flint.arb(sum(comb(N, k) for k in range(N + 1) if 4 * k < N or 4 * k > 3 * N)) / flint.arb(2) ** N


SMALL_V = next(item for item in CONDITION_4_1 if item.number == "7")


def gaussian_tail() -> Verdict:
    """P(|g| > x) <= exp(-x^2/2): the difference is 0 at 0 and at infinity, rises and then falls."""
    x = sp.Symbol("x", positive=True)
    gap = sp.exp(-(x**2) / 2) - sp.erfc(x / sp.sqrt(2))
    slope = sp.expand(sp.diff(gap, x) - (sp.sqrt(2 / sp.pi) - x) * sp.exp(-(x**2) / 2))
    ends = [gap.subs(x, 0), sp.limit(gap, x, sp.oo)]
    found = decided(slope == 0 and ends == [0, 0], {"slope": str(slope), "ends": str(ends)})
    return found.arguing(NO_ERFC).proving(
        "P(|g| > x) <= exp(-x^2/2): the difference is 0 at 0 and at infinity, and its derivative is (sqrt(2/pi) - x) exp(-x^2/2)"
    )


@book.claim(
    "C.2",
    "Start of V",
    kind="inequality",
    uses=["C.4", "C.2-proof"],
    repairs=["C.2-proof"],
    insensitive=NUMBERS,
    where="Lemma C.2",
    parts=("V_+-", "V_n,i"),
    hypotheses=(SMALL_V, LONG_TOKENS),
    for_all=("N", "M"),
    statement=r"\text{with probability at least}\ 1-\delta:\quad |V_\pm^{(0)}|\le d_h^{-1/4},\quad |V_{n,i}^{(0)}|\le d_h^{-1/4}",
    reading="The constant that the order of condition (7) hides is one over C_p and a root of the logarithm; C_p is a constant.",
)
def start_of_values(lab: Laboratory) -> dict[str, Verdict]:
    """Gaussian tails, added over the tokens."""
    N, M = sym("N"), sym("M")
    count = identity({"tokens": N * M - (2 + N * (M - 1)) - (N - 2)}).proving(
        "2 + N(M - 1) tokens are at most NM for N >= 2, so failures of delta/(2NM) each add up to delta/2; Lemma C.4 takes the other half",
        N="every",
        M="every",
    )
    signal = (gaussian_tail() & count).proving(
        "the deviation of V_+- is at most d_h^(-1/4) / sqrt(3 log(2NM/delta)), so |V| > d_h^(-1/4) has probability at most (delta/(2NM))^(3/2)"
    )
    noise = (gaussian_tail() & count).proving(
        "with |xi|^2 <= 3/2 sigma~_p^2 d that of V_n,i is at most d_h^(-1/4) sqrt(3/2) / sqrt(3 log(2NM/delta)): probability delta/(2NM)"
    )
    return {"V_+-": signal, "V_n,i": noise}


def _tail(x: flint.arb) -> flint.arb:
    return (x / flint.arb(2).sqrt()).erfc()


@book.claim(
    "C.2-proof",
    "Tails of V at the start",
    kind="inequality",
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma C.2, both displays",
    parts=("V_+-", "V_n,i"),
    hypotheses=CONDITION_4_1,
    statement=r"\text{with probability at least}\ 1-\delta/NM:\quad |\mu_\pm^\top W_V^{(0)}w_O|\le\sigma_V\|w_O\|_2\|\mu\|_2\sqrt{\log(2NM/\delta)},\quad |\xi_{n,i}^\top W_V^{(0)}w_O|\le2\sigma_V\sigma_p\|w_O\|_2\sqrt{d\log(2NM/\delta)}",
    reading="Exact Gaussian probabilities; the second display for i = 2, whose token has the deviation sigma~_p = C_p sigma_p.",
)
def tails_of_values(lab: Laboratory) -> dict[str, Verdict]:
    """Both probabilities in balls at one point inside, and the constants that do, by the bound of a Gaussian tail."""
    point = exact_point(True)
    level = flint.arb(int(point["N"] * point["M"] / point["delta"]))
    root = (2 * level).log().sqrt()
    C_p = flint.arb(int(point["C_p"]))
    cases = {
        "V_+-": (
            _tail(root),
            Fraction(2),
            r"\sqrt{2\log(2NM/\delta)}",
            "gaussian-tail",
            "a Gaussian exceeds x deviations with probability near exp(-x^2/2); (7) hides the factor, and no constant of a lemma changes",
        ),
        "V_n,i": (
            _tail(2 * root / C_p),
            4 / Fraction(3, 2),  # given |xi|^2 <= 3/2 sigma~_p^2 d
            r"2\sigma_V\tilde\sigma_p\|w_O\|_2\sqrt{d\log(2NM/\delta)}",
            "sigma-for-sigma-tilde",
            "xi_n,2 has the deviation sigma~_p = C_p sigma_p, for i >= 3 the display holds; (7) hides the factor, and no constant of a lemma changes",
        ),
    }
    out = {}
    for part, (printed, square, formula, cause, why) in cases.items():
        sentence = (
            f"at N = {point['N']}, M = {point['M']}, delta = 1/d = {say_number(float(point['delta']))} (all hypotheses hold) the probability to "
            f"exceed the bound is {say_number(float(printed))}, and delta/NM is {say_number(float(1 / level))}"
        )
        verdict = decided(bool(printed * level <= 1), Witness(sentence, point)).arguing(NO_ERFC)
        fixed = gaussian_tail() & decided(square >= 2, {"square": str(square)}).proving(
            f"at x^2 = {square} log(2NM/delta) the bound is (delta/(2NM))^({square / 2}) <= delta/NM"
        )
        out[part] = verdict.correcting(formula, fixed, why).blaming("constant", cause)
    return out


MOMENTS = "argues in words: from exponential moments of Gaussian vectors to probabilities"


def _norm_exponents(low: str, high: str) -> Verdict:
    """(r - 1 - log r)/2 is above 1/100 at both ends: P(chi^2_n outside n [low, high]) <= 2 exp(-n/100)."""
    found = [(flint.arb(r) - 1 - flint.arb(r).log()) / 2 for r in (low, high)]
    r = sp.Symbol("r", positive=True)
    sizes = decided(all(bool(e > flint.arb("0.01")) for e in found), {"exponents": [str(e) for e in found]})
    for end in (low, high):
        handed = {f"exponent at {end}": ((r - 1 - sp.log(r)) / 2, ">", sp.Rational(1, 100))}
        sizes = sizes.stating(handed, at={r: sp.Rational(end)})
    return sizes.arguing(MOMENTS).proving(
        f"P(chi^2_n outside n [{low}, {high}]) <= 2 exp(-n/100), by exponential moments (r - 1 - log r)/2 at both ends, in balls"
    )


def _product_exponent() -> Verdict:
    """s t + log(1 - s^2)/2 at s = t/(1 + t) is at least t^2/4 for 0 < t < 1."""
    x = sym("x")
    t = x / (1 + x)
    slope: Node = (t * t + 2 * t) / (1 + t) ** 2 + 1 / (1 + 2 * t) - 1 / (1 + t) - t / 2
    return always_positive({"derivative of the exponent less t^2/4": slope}, positive=["x"]).proving(
        "E exp(s g g') = (1 - s^2)^(-1/2); with s = t/(1 + t) the exponent t^2/(1 + t) + log((1 + 2t)/(1 + t)^2)/2 less t^2/4 is 0 at t = 0 and increases for t < 1",
        "so |<g, g'>| > 2 sqrt(n l) has probability at most 2 exp(-l) for l < n/4",
    )


@book.claim(
    "C.4",
    "Noise tokens",
    kind="inequality",
    insensitive=NUMBERS,
    where="Lemma C.4",
    parts=("first noise token", "weak noise tokens", "inner products"),
    hypotheses=(LONG_TOKENS,),
    for_all=("N", "M"),
    statement=r"\text{with probability at least}\ 1-\delta:\quad \tfrac12\tilde\sigma_p^2d\le\|\xi_{n,2}\|_2^2\le\tfrac32\tilde\sigma_p^2d,\ \tfrac12\sigma_p^2d\le\|\xi_{n,i}\|_2^2\le\tfrac32\sigma_p^2d,\ |\langle\xi_{n,i},\xi_{n',i'}\rangle|\le2\tilde\sigma_p^2\sqrt{d\log(4N^2M^2/\delta)}",
    reading="Tokens are Gaussian in d - 2 directions; the constant of the condition on d is 100, with N and M squared.",
)
def noise_tokens(lab: Laboratory) -> dict[str, Verdict]:
    """Exponential moments for lengths and products."""
    lengths = _norm_exponents("0.6", "1.4").proving(
        "d - 2 >= 100 log(4N^2M^2/delta) - 2 makes the N(M - 1) tails at most delta/2 together; d - 2 for d costs less than the 1/10 left",
        N="every",
        M="every",
    )
    products = _product_exponent().proving(
        "with l = log(4N^2M^2/delta) fewer than N^2M^2/2 pairs fail with at most 2 exp(-l) each: delta/4",
        N="every",
        M="every",
    )
    return {"first noise token": lengths, "weak noise tokens": lengths, "inner products": products}


def _products_of_start() -> Verdict:
    """Products of different vectors at the start: the exponent of a small product, and the room that lengths leave."""
    x = sym("x")
    t = x / (5 * (1 + x))
    slope: Node = (t * t + 2 * t) / (1 + t) ** 2 + 1 / (1 + 2 * t) - 1 / (1 + t) - num(Fraction(9, 10)) * t
    small = always_positive({"derivative of the exponent less 9/20 t^2": slope}, positive=["x"])
    lengths, mean = Fraction(3, 2), Fraction(1, 20)  # (|x||x'|)^2 over its mean; the share of the mean of <q, q'>
    power = Fraction(9, 20) * (2 * (1 - mean)) ** 2 / lengths
    share, room_ = sp.symbols("share lengths", positive=True)
    room = decided(power > 1, {"power": str(power)}).stating(
        {"power of delta": (sp.Rational(9, 20) * (2 * (1 - share)) ** 2 / room_, ">", 1)},
        at={share: mean, room_: lengths},
    )
    return (small & room & _norm_exponents("0.7072", "1.2247")).proving(
        "given the tokens a query and a key have the product sigma_h^2 |x| |x'| <g, g'>, g and g' independent with d_h entries",
        "E exp(s g g') = (1 - s^2)^(-1/2) at s = t/(1 + t): |<g, g'>| > t d_h has probability at most 2 exp(-9/20 d_h t^2) for t < 1/5",
        "two queries: x' = c x + y with y orthogonal to x; the term of c is at most 5/4 (d_h/d)^(1/2) of the printed bound, below 1/20 by (2)",
        "with |x|^2 |x'|^2 <= 3/2 of its mean a pair fails with probability at most 2 (delta/(6N^2M^2))^(1083/1000); fewer than 2N^2M^2 pairs fail with less than 2/3 delta",
        "weak tokens are shorter than sigma~_p allows, and signals have their length exactly and are orthogonal to all others",
    )


@book.claim(
    "C.3",
    "Start of queries and keys",
    kind="inequality",
    uses=["C.4"],
    insensitive=NUMBERS,
    where="Lemma C.3",
    parts=("squared norms", "inner products"),
    hypotheses=(*CONDITION_4_1, LONG_TOKENS, LONG_KEYS),
    statement=r"\text{with probability at least}\ 1-\delta:\quad \tfrac12\|\mu\|_2^2\sigma_h^2d_h\le\|q_\pm^{(0)}\|_2^2\le\tfrac32\|\mu\|_2^2\sigma_h^2d_h,\ \ldots;\quad |\langle q_{n,i}^{(0)},q_{n',j}^{(0)}\rangle|\le2\tilde\sigma_p^2\sigma_h^2d\sqrt{d_h\log(6N^2M^2/\delta)},\ \ldots\quad i,j\in[M]\setminus\{1\},\ n,n'\in[N]",
    reading="Products of different vectors, as the squared norms of the same list say, and as in D.4, E.2 and C.4, which prints the condition.",
)
def start_of_queries(lab: Laboratory) -> dict[str, Verdict]:
    """Norms and products by exponential moments."""
    norms = _norm_exponents("0.7072", "1.2247").proving(
        "|q|^2 is sigma_h^2 |xi|^2 times chi^2 with d_h degrees: both factors within [2^(-1/2), (3/2)^(1/2)] of their means"
    )
    return {"squared norms": norms, "inner products": _products_of_start()}


@book.claim(
    "Beyond.start",
    "Law of the start",
    kind="definition",
    origin="ours",
    insensitive=NUMBERS,
    hypotheses=(),
    statement=r"E\mathcal Q^{(0)}=E\mathcal K^{(0)}=\sigma_h^2d_hG,\ ES^{(0)}=0",
    reading="means over 200 starts for one training set, within 5 standard errors (N = 2, M = 2)",
)
def law_of_start(lab: Laboratory) -> Verdict:
    """Means of the Gram matrices at the start."""
    case = Case(2, 2, 20, 30, 2.0, 4.0, 1.5)
    made = span_network.draw(case, 1)
    rng, root, total = np.random.default_rng(2), np.linalg.cholesky(made.gram), []
    for _ in range(200):
        q, k = (case.sigma_h * root @ rng.standard_normal((case.P, case.d_h)) for _ in range(2))
        total.append([q @ q.T - case.kappa * made.gram, q @ k.T])
    means, errors = np.mean(total, axis=0), np.std(total, axis=0) / sqrt(200)
    worst = float(np.abs(means / np.maximum(errors, 1e-12)).max())
    return measured(worst < 5, {"standard errors": rounded(worst)}, standard_errors=rounded(worst), seed=2)
