"""Appendix C, first half: supports, classes, norms of the noise and sizes at the start, by exact tails."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import product
from math import comb, log
from typing import Any

import flint

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    certified,
    enumerate_all,
    graph,
    identity,
    refuted,
    say_number,
    sym,
)

from ..laboratory import Laboratory
from .book import NUMBERS, at_most, ball, book, inside, positive_over, short, tail
from .common_hypotheses import CONDITION, at_least, inside_point, many_coordinates, wide

DELTAS = (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000))
WIDTHS = (1, 2, 3, 5, 10, 30, 100, 1000, 10**6, 10**12)


def disjoint_probability(n: int, d: int, s: int) -> Fraction:
    """P(all supports are pairwise disjoint), exactly: product of C(d-1-is, s) / C(d-1, s)."""
    out = Fraction(1)
    for i in range(1, n):
        out *= Fraction(comb(d - 1 - i * s, s), comb(d - 1, s))
    return out


def small_sets(largest: int) -> Iterable[tuple[int, int, int]]:
    """All n <= 6 and d <= largest with every s that fits n times."""
    for n, d in product(range(2, 7), range(3, largest)):
        for s in range(1, (d - 1) // n + 1):
            yield n, d, s


@book.claim(
    "C.1",
    "Supports are disjoint",
    kind="probability",
    hypotheses=[
        at_least(
            "s >= d^(1/2) n^-2",
            r"s=\Omega(d^{1/2}n^{-2})",
            lambda p: p["s"] * p["n"] ** 2,
            lambda p: float(p["d"]) ** 0.5,
        ),
        *CONDITION,
    ],
    parts=["disjoint"],
    where="Lemma C.1",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"s=\Omega(d^{1/2}n^{-2})\ \Rightarrow\ P(\mathcal B_i\cap\mathcal B_j=\emptyset\ \forall i\ne j)\ge1-n^{-2}",
    reading="Omega as printed, a lower bound of s, also with the Theta of Condition 3.1; supports of s coordinates out of d - 1",
)
def disjoint_supports(lab: Laboratory) -> Verdict:
    """P(disjoint) is at most exp(-s^2 n(n-1)/(2(d-1))): a factor of the product is at most (1 - is/(d-1))^s."""
    point = inside_point()
    point = inside_point(s=2 * point["s"])
    with flint.ctx.workprec(300):
        n, d, s = (ball(int(point[x])) for x in "nds")
        meeting = 1 - (-s * s * n * (n - 1) / (2 * (d - 1))).exp()
        says = (
            "at m_k = 240, n = m_k^4, d = n^9, s = 2 d^(1/2) n^-2 the probability that some supports meet, times n^2,"
        )
        printed = at_most(meeting * n * n, ball(1), says, point)

    def product_bound(case: tuple[int, int, int]) -> bool:
        n, d, s = case
        return bool(ball(disjoint_probability(n, d, s)) <= (-ball(Fraction(s * s * n * (n - 1), 2 * (d - 1)))).exp())

    printed = printed & enumerate_all(small_sets(30), product_bound, "triples (n, d, s)")

    def union_bound(case: tuple[int, int, int]) -> bool:
        n, d, s = case
        return disjoint_probability(n, d, s) >= 1 - comb(n, 2) * Fraction(s * s, d - 1)

    # C(n,2) s^2/(d-1) <= n^-2 for s^2 <= d n^-4 and n >= 2: with n = 2 + e, d = 2 + f the gap has positive coefficients only
    N, D = sym("e") + 2, sym("f") + 2
    gap = 1 / N**2 - N * (N - 1) / 2 * D / N**4 / (D - 1)
    right = enumerate_all(small_sets(60), union_bound, "triples (n, d, s)") & always_positive(
        {"gap": gap}, (), ("e", "f")
    )
    fixed = right.with_constants(s="s <= d^(1/2) n^-2 (constant 1, even sqrt 2 for large n)")
    return printed.correcting(
        r"s\le d^{1/2}n^{-2}\Rightarrow P\ge1-\binom n2\tfrac{s^2}{d-1}\ge1-n^{-2}",
        fixed,
        "larger supports meet more often: the hypothesis is an upper bound",
    ).blaming("misprint", "omega-for-o")


@book.claim(
    "C.2",
    "Noise misses the signal coordinate",
    kind="probability",
    hypotheses=CONDITION[:2],
    parts=["value", "exponential", "linear", "order"],
    where="Lemma C.2, and the displays of its proof",
    insensitive=NUMBERS,
    statement=r"P(\exists i:\xi_i[1]\ne0)=1-(1-s/d)^n\le1-e^{-2ns/d}\le2ns/d=O(1/(n\sqrt d))",
    reading="s of d coordinates without replacement; the second step where s/d <= 1/2, which the hypothesis gives for large d",
)
def misses_signal(lab: Laboratory) -> dict[str, Verdict]:
    """The exact probability for small sizes, and 1 - x >= e^-2x on (0, 1/2]."""

    def right(case: tuple[int, int, int]) -> bool:
        n, d, s = case
        hit = 1 - Fraction(comb(d - 1, s), comb(d, s)) ** n
        return hit == 1 - (1 - Fraction(s, d)) ** n and hit <= Fraction(n * s, d)

    exact = enumerate_all(
        [(n, d, s) for n in range(1, 41) for d in range(2, 25) for s in range(1, d + 1)], right, "triples (n, d, s)"
    )
    # 1 - x - e^-2x is concave, 0 at 0 and positive at 1/2, so it is positive in between
    end = at_most((-ball(1)).exp(), ball(Fraction(1, 2)), what="e^-1 against 1 - 1/2 at s/d = 1/2")
    N, S, D = (sym(x) for x in ("n", "s", "d"))
    order = identity(
        {"order": 2 * N * S / D - 2 * (S * N**2 / D ** Fraction(1, 2)) / (N * D ** Fraction(1, 2))}, ("d",)
    )
    return {
        "value": exact.with_constants(sharper="n s / d (Bernoulli's inequality), for every s"),
        "exponential": end.adding(because="concave in s/d, 0 at 0, positive at 1/2"),
        "linear": always_positive({"e^x - 1 - x, second derivative": graph.exp(sym("x"))}, ("x",)).proving(
            "1 - e^-x <= x: both vanish at 0 and the difference is convex"
        ),
        "order": order.proving("with C = s n^2 / d^(1/2), which the hypothesis bounds, 2 n s / d = 2 C / (n d^(1/2))"),
    }


@book.claim(
    "C.3",
    "Balanced classes",
    kind="probability",
    hypotheses=[
        at_least("n >= 8 log(4/delta)", r"n\ge8\log(4/\delta)", lambda p: p["n"], lambda p: 8 * log(4 / p["delta"]))
    ],
    parts=["balanced"],
    where="Lemma C.3",
    insensitive=NUMBERS,
    statement=r"n\ge8\log(4/\delta)\Rightarrow P(|S_1|,|S_{-1}|\in[n/4,3n/4])\ge1-\delta",
    reading="every n up to 400 with its smallest delta, 4 e^(-n/8), by the exact binomial tail; for all n by Hoeffding's inequality",
)
def classes(lab: Laboratory) -> Verdict:
    """Exact integers against balls."""
    ratios = []
    for n in range(1, 401):
        outside = 2 * sum(comb(n, k) for k in range((n + 3) // 4))
        ratios.append(ball(Fraction(outside, 2**n)) / (4 * (-ball(Fraction(n, 8))).exp()))
    worst = max(range(len(ratios)), key=lambda k: float(ratios[k].mid()))
    found = at_most(ratios[worst], ball(1), worst_n=worst + 1, checked=len(ratios))
    return found.with_constants(
        sharper="n >= 8 log(2/delta): the two classes fail together, so the union bound is not needed"
    )


# ---- norms of the noise ----------------------------------------------------------------------------------------------


def _half_normal_rate(level: Any, slope: Fraction, upper: bool) -> Any:
    """A lower bound of the Chernoff rate of a mean of |Z| beyond `level`, at the given slope, as a ball."""
    t = ball(slope) if upper else -ball(slope)
    moment = 2 * (t * t / 2).exp() * (1 - (t / flint.arb(2).sqrt()).erfc() / 2)  # E exp(t |Z|) = 2 exp(t^2/2) Phi(t)
    return t * level - moment.log()


def norm_rates() -> dict[str, Any]:
    """Rates r with P(event) <= exp(-r s) for the four events of the first two lines of Lemma C.4."""
    half, root = flint.arb(1) / 2, 1 / flint.arb(2).sqrt()
    return {
        "|xi|^2 < s/2": half * (flint.arb(2).log() - half),
        "|xi|^2 > 3s/2": half * (half - (3 * half).log()),
        "|xi|_1 < s/sqrt2": _half_normal_rate(root, Fraction(1, 4), False),
        "|xi|_1 > s": _half_normal_rate(flint.arb(1), Fraction(11, 20), True),
    }


def kurtosis_bound() -> tuple[Any, Any]:
    """Variance and fourth central moment of |Z|."""
    p = flint.arb.pi()
    variance = 1 - 2 / p
    mean = (2 / p).sqrt()
    # E|Z|^3 = 2 sqrt(2/pi), E Z^4 = 3
    fourth = 3 - 4 * mean * 2 * mean + 6 * mean**2 - 3 * mean**4
    return variance, fourth


@book.claim(
    "C.4",
    "Norms of the noise",
    kind="probability",
    hypotheses=[many_coordinates],
    parts=["length", "L1 norm", "L1 norm, order"],
    where="Lemma C.4, three displays",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\tfrac12\sigma_p^2s\le\|\xi_i\|_2^2\le\tfrac32\sigma_p^2s,\ \tfrac{\sigma_ps}{\sqrt2}\le\|\xi_i\|_1\le\sigma_ps,\ \|\xi_i\|_1=\sqrt{\tfrac2\pi}\sigma_ps\pm O(\sqrt{\log(4n/\delta)}s^{-1/2})",
    reading="Omega with a constant that may be large; the third line with any constant in O, at fixed n, delta as s grows",
)
def norms(lab: Laboratory) -> dict[str, Verdict]:
    """Chernoff rates for two lines, a second-moment lower bound against the third."""
    rates = norm_rates()
    slowest = min(rates, key=lambda name: float(rates[name].mid()))
    constant = 1 / rates[slowest]
    first = at_most(constant, flint.arb(85), rates={name: short(r) for name, r in rates.items()})
    variance, fourth = kurtosis_bound()
    s, theta = flint.arb(10) ** 8, flint.arb(1) / 100
    # P(D^2 >= theta E D^2) >= (1 - theta)^2 (E D^2)^2 / E D^4 for D = |xi|_1 - E|xi|_1
    far = (1 - theta) ** 2 * (s * variance) ** 2 / (3 * s * (s - 1) * variance**2 + s * fourth)
    distance, allowed = (theta * s * variance).sqrt(), 1000 * (flint.arb(400).log() / s).sqrt()
    third: Verdict = certified(distance=short(distance))
    if distance > allowed and far > flint.arb(1) / 10:
        sentence = (
            f"at s = 10^8, n = 10, delta = 0.1, sigma_p = 1 a norm is further away than {say_number(short(distance))} with "
            f"a probability above {say_number(short(far))}; even with 1000 for O the display allows "
            f"{say_number(short(allowed))}"
        )
        point = {"s": 10**8, "n": 10, "delta": 0.1, "sigma_p": 1.0}
        third = refuted(Witness(sentence, point), Evidence.CERTIFICATE)
    third = third.correcting(
        r"\|\xi_i\|_1=\sqrt{2/\pi}\,\sigma_ps\pm\sqrt2\,\sigma_p\sqrt{s\log(4n/\delta)}",
        first & _sub_gaussian(),
        "a sum of s terms fluctuates by sqrt(s): the proof has the right order",
    ).blaming("misprint", "norm-order")
    both = first.with_constants(C="s >= 85 log(4n/delta) suffices; the slowest event is " + slowest)
    return {"length": both, "L1 norm": both, "L1 norm, order": third}


def _sub_gaussian() -> Verdict:
    """E exp(t(|Z| - E|Z|)) <= exp(t^2/2) for |t| <= 1, all that s >= 2 log(4n/delta) needs.

    That is log 2 Phi(t) <= t sqrt(2/pi): both sides and slopes agree at 0, and log Phi is concave where t Phi + phi > 0.
    """

    def concave(t: Any) -> Any:
        phi = (-t * t / 2).exp() / (2 * flint.arb.pi()).sqrt()
        return t * (1 - (t / flint.arb(2).sqrt()).erfc() / 2) + phi

    return positive_over(concave, -1, 1, 400, "t Phi(t) + phi(t)").adding(tail="2n exp(-log(4n/delta)) = delta/2")


@book.claim(
    "C.5",
    "Sums of norms over a split",
    kind="probability",
    hypotheses=[
        at_least(
            "s >= 243 n^2 log(4 n / delta)",
            r"s=\Omega(n^2\log(4n/\delta))",
            lambda p: p["s"],
            lambda p: 243 * p["n"] ** 2 * log(4 * p["n"] / p["delta"]),
        )
    ],
    parts=["both bounds"],
    where="Lemma C.5",
    uses=["C.4"],
    insensitive=NUMBERS,
    statement=r"s=\Omega(n^2\log(4n/\delta)),\ |S_1|-|S_2|=c>0\ \Rightarrow\ \tfrac{c\sigma_ps}{\sqrt2}\le\sum_{S_1}\|\xi_i\|_1-\sum_{S_2}\|\xi_i\|_1\le c\sigma_ps",
    reading="all splits at once, with probability 1 - delta (the lemma does not print it), and an explicit constant in Omega",
)
def split_sums(lab: Laboratory) -> Verdict:
    """The constant from the corrected third line of C.4."""
    mean, root = (2 / flint.arb.pi()).sqrt(), 1 / flint.arb(2).sqrt()
    # c mean s - n sqrt(2 s L) >= c s / sqrt2 for s >= C n^2 L and c >= 1:  sqrt(2/C) <= mean - 1/sqrt2, and <= 1 - mean
    C = flint.arb(243)
    exact = at_most((2 / C).sqrt(), mean - root, side="lower") & at_most((2 / C).sqrt(), 1 - mean, side="upper")
    return (exact & _sub_gaussian()).with_constants(C="s >= 243 n^2 log(4n/delta) suffices")


# ---- sizes at the start ----------------------------------------------------------------------------------------------


def upper_bounds(
    lab: Laboratory, name: str, squares: tuple[Fraction, Fraction], rows: int, arguments: tuple[str, str]
) -> Verdict:
    """`rows` w copies of |<w,mu>| and |<w,xi_i>|, bounded by roots of squares times log(12 w / delta), log(12 w n / delta).

    The chance that one of them is larger is at most delta/2, for |xi_i|^2 <= 3/2 s: for all w, n, delta where the exponents
    are at least 1; otherwise exact tails on a grid look for a counterexample.
    """
    variance = lab.variances()
    for_mu, for_xi = variance[f"{name}_mu"], variance[f"{name}_xi"] * Fraction(3, 2)
    exponents = squares[0] / (2 * for_mu), squares[1] / (2 * for_xi)
    if min(exponents) >= 1 and rows <= 2:  # erfc(x) <= exp(-x^2): a tail is at most delta/(12 w), or delta/(12 w n)
        return certified(exponents=[str(x) for x in exponents], total=f"{max(1, rows)}/6 delta", of=arguments)
    worst = None
    for width, n, delta in product(WIDTHS, WIDTHS, DELTAS):
        copies = width if rows else 1
        log_mu = (12 * ball(width) / ball(delta)).log()
        log_xi = (12 * ball(width) * ball(n) / ball(delta)).log()
        total = (
            max(1, rows)
            * ball(copies)
            * (
                tail((ball(squares[0] / for_mu) * log_mu).sqrt())
                + ball(n) * tail((ball(squares[1] / for_xi) * log_xi).sqrt())
            )
        )
        ratio = total / ball(delta)
        if worst is None or ratio.mid() > worst[0].mid():
            worst = ratio, (width, n, str(delta))
    assert worst is not None
    return at_most(worst[0], ball(Fraction(1, 2)), at=worst[1], of=arguments)


@book.claim(
    "C.6",
    "Values at the start",
    kind="probability",
    hypotheses=wide("m_v"),
    parts=["length", "signal", "noise"],
    where="Lemma C.6",
    uses=["C.4"],
    statement=r"|\langle w_{V,j,r}^{(0)},\mu\rangle|\le\sqrt{2\log(12m_v/\delta)}\sigma_0\|\mu\|,\ |\langle w_{V,j,r}^{(0)},\xi_i\rangle|\le2\sqrt{\log(12m_vn/\delta)}\sigma_0\sigma_p\sqrt s,\ \|w\|^2\in[\tfrac12,\tfrac32]\sigma_0^2d",
    reading="2 m_v rows, union of Gaussian tails with |xi_i|^2 <= 3/2 sigma_p^2 s, for all m_v, n, delta",
)
def values_start(lab: Laboratory) -> dict[str, Verdict]:
    """Union bounds of Gaussian tails, and the rate of the lengths."""
    inner = upper_bounds(lab, "row", (Fraction(2), Fraction(4)), 2, ("2 log(12 m_v/delta)", "4 log(12 m_v n/delta)"))
    return {"length": _lengths(), "signal": inner, "noise": inner}


def _lengths() -> Verdict:
    """|w|^2 within half of its mean: d coordinates, of which there are at least s."""
    rate = norm_rates()["|xi|^2 > 3s/2"]
    return at_most(1 / rate, flint.arb(22), what="d >= s >= 22 log(8 m n / delta) suffices for the lengths")


@book.claim(
    "C.7",
    "Mean value at the start",
    kind="probability",
    hypotheses=wide("m_v"),
    parts=["signal", "noise"],
    where="Lemma C.7",
    uses=["C.4"],
    statement=r"|\langle v^{(0)},\mu\rangle|\le2\sqrt{\log(12m_v/\delta)}m_v^{-1/2}\sigma_0\|\mu\|,\ |\langle v^{(0)},\xi_i\rangle|\le2\sqrt{2\log(12m_vn/\delta)}m_v^{-1/2}\sigma_0\sigma_p\sqrt s",
    reading="the variance of <v, mu> is 2 sigma_0^2/m_v |mu|^2, derived; tails as in Lemma C.6",
)
def mean_value_start(lab: Laboratory) -> dict[str, Verdict]:
    """Squares over the derived variance (m_v times it is 2)."""
    both = upper_bounds(lab, "v", (Fraction(4, 2), Fraction(8, 2)), 0, ("4 log(12 m_v/delta)", "8 log(12 m_v n/delta)"))
    return {"signal": both, "noise": both}


@book.claim(
    "C.8",
    "Queries and keys at the start",
    kind="probability",
    hypotheses=[*wide("m_k"), *CONDITION],
    parts=["length", "signal, below", "signal, above", "noise, below", "query noise, above", "key noise, above"],
    where="Lemma C.8, six displays",
    uses=["C.4"],
    expect="fails",
    statement=r"\tfrac12\sigma_0^2d\le\|w_{Q,s}^{(0)}\|^2,\|w_{K,s}^{(0)}\|^2\le\tfrac32\sigma_0^2d;\ \tfrac12\sigma_0\|\mu\|\le\max_s|\langle w_{Q,s}^{(0)},\mu\rangle|,\max_s|\langle w_{K,s}^{(0)},\mu\rangle|\le\sqrt{2\log\tfrac{12m_k}\delta}\sigma_0\|\mu\|;\ \tfrac14\sigma_0\sigma_p\sqrt s\le\max_s|\langle w_{Q,s}^{(0)},\xi_i\rangle|\le2\sqrt{\log\tfrac{12m_kn}\delta}\sigma_0\sigma_p\sqrt s,\ \tfrac14\sigma_0\sigma_p\sqrt s\le\max_s|\langle w_{K,s}^{(0)},\xi_i\rangle|\le2\sqrt{\log\tfrac{12m_k}\delta}\sigma_0\sigma_p\sqrt s",
    reading="for all i at once, under Condition 3.1: m_k = Omega(polylog d) gives the m_k >= 1.05 log(8n/delta) that the lower bounds need",
)
def queries_start(lab: Laboratory) -> dict[str, Verdict]:
    """Exact probability that some key noise exceeds the printed bound; union bounds with n; lower bounds."""
    delta, point = Fraction(1, 10), inside_point(delta=0.1)
    m, n = int(point["m_k"]), int(point["n"])
    variance = lab.variances()
    level = 2 * (12 * ball(m) / ball(delta)).log().sqrt() / ball(variance["k_xi"]).sqrt()
    exceeded = 1 - (m * n * (1 - tail(level)).log()).exp()
    says = "at m_k = 240, n = m_k^4, d = n^9, delta = 0.1 the probability that some key noise exceeds the printed bound"
    printed = at_most(exceeded, ball(delta), says, point)
    upper = {
        name: upper_bounds(lab, name, (Fraction(2), Fraction(4)), 1, ("2 log(12 m_k/delta)", "4 log(12 m_k n/delta)"))
        for name in "qk"
    }
    keys = printed.correcting(
        r"\max_{s}|\langle w_{K,s}^{(0)},\xi_i\rangle|\le2\sqrt{\log(12m_kn/\delta)}\sigma_0\sigma_p\sqrt s",
        upper["k"],
        "m_k n inner products, not m_k, as in the line for queries",
    )
    # half of m_k >= log d >= 9 log n and of m_k >= 3 log(1/delta): m_k >= 1.05 log(8n/delta); n = 2^(1 + x), units of log 2
    x, D = sym("x"), sym("D")
    supplied = always_positive(
        {"m_k": Fraction(1, 2) * (9 * (1 + x) + 3 * D) - Fraction(21, 20) * (3 + 1 + x + D)}, (), ("x", "D")
    )
    least = (lower_bounds(lab) & supplied).with_constants(Omega="3 in m_k = Omega(log(1/delta))")
    return {
        "length": _lengths(),
        "signal, below": least,
        "signal, above": upper["q"] & upper["k"],
        "noise, below": least,
        "query noise, above": upper["q"],
        "key noise, above": keys.blaming("misprint", "key-noise-n"),
    }


def lower_bounds(lab: Laboratory) -> Verdict:
    """All |q_s| below half a standard deviation, or all noise below a quarter: at most delta/4 each for m_k >= 1.05 log(8n/delta)."""
    variance = lab.variances()
    for_mu = inside(ball(Fraction(1, 2)) / ball(variance["q_mu"]).sqrt())
    for_xi = inside(ball(Fraction(1, 4)) * flint.arb(2).sqrt() / ball(variance["q_xi"]).sqrt())  # |xi|^2 >= s/2
    # n p^m <= delta/8 for m >= (21/20) log(8n/delta) if p <= exp(-20/21)
    least = (-ball(Fraction(20, 21))).exp()
    return at_most(for_mu, least, what="P(|q_mu| < 1/2)") & at_most(for_xi, least, what="P(|q_i| < 1/4)")


@book.claim(
    "Eq.2-3",
    "Largest inner products at the start",
    kind="probability",
    hypotheses=[*wide("m_k"), *CONDITION],
    parts=["bound of beta_mu"],
    where="Proofs of Lemmas C.10, C.11 and C.13, where beta is bounded by Lemma C.8",
    origin="proof",
    uses=["C.6", "C.8"],
    expect="fails",
    statement=r"\beta_\mu\le\sqrt{2\log(12m_k/\delta)}\sigma_0\|\mu\|\quad\text{with}\ \beta_\mu\ \text{of Eq. (3)}",
    reading="beta_mu of Eq. (3) is a maximum over the 2 m_v rows of values too; the bound has m_k alone",
)
def largest_start(lab: Laboratory) -> Verdict:
    """P(beta_mu above the printed bound), and the union bound with max(m_k, m_v)."""
    m_v, delta = 10**6, Fraction(1, 10)
    point = inside_point(m_v=m_v, delta=0.1)
    m_k, variance = int(point["m_k"]), lab.variances()
    log_printed = (12 * ball(m_k) / ball(delta)).log()
    level = (2 * log_printed / ball(variance["row_mu"])).sqrt()
    exceeded = 1 - (2 * m_v * (1 - tail(level)).log()).exp()
    says = "at m_k = 240, n = m_k^4, m_v = 10^6, delta = 0.1 the probability that beta_mu exceeds the bound"
    printed = at_most(exceeded, ball(delta), says, point)
    worst = ball(0)
    for width, n, d in product(WIDTHS, WIDTHS, DELTAS):
        rows = 2 * ball(width)
        parts = [
            rows * tail((2 * (12 * ball(width) / ball(d)).log() / ball(variance[f"{k}_mu"])).sqrt())
            for k in ("q", "row")
        ]
        parts += [
            rows
            * ball(n)
            * tail(
                (4 * (12 * ball(width) * ball(n) / ball(d)).log() / ball(variance[f"{k}_xi"] * Fraction(3, 2))).sqrt()
            )
            for k in ("q", "row")
        ]
        total = sum(parts[1:], parts[0]) / ball(d)
        worst = total if total.mid() > worst.mid() else worst
    fixed = at_most(worst, ball(1))
    return printed.correcting(
        r"\beta_\mu\le\sqrt{2\log(12\max(m_k,m_v)/\delta)}\sigma_0\|\mu\|,\ \beta_\xi\le2\sqrt{\log(12\max(m_k,m_v)n/\delta)}\sigma_0\sigma_p\sqrt s",
        fixed,
        "the maximum runs over the rows of values too",
    ).blaming("constant", "value-rows")
