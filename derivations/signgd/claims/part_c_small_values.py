"""Appendix C, second half: small inner products at the start, softmax weights at the start, the cone of undecided pairs."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from math import log, log1p, pi
from typing import Any

import flint
import sympy as sp

from odesys import (
    Evidence,
    Verdict,
    decided,
    enumerate_all,
    graph,
    identity,
    num,
    refuted,
    say_number,
    sym,
    triangle_bound,
)

from ..laboratory import Laboratory
from ..special.one_sample import BOTH
from .book import NUMBERS, at_most, ball, book, inside, positive_over, short, tail
from .common_hypotheses import CONDITION, at_least, inside_point, many_coordinates, wide
from .common_orders import HALF, M_K, SIGMA_P, N, S, vanishing
from .part_c_probability import lower_bounds, upper_bounds

EVERY = "every"
SCALE = "a larger start only helps a lower bound, and a cone does not depend on its scale"
GRID = list(
    product((1, 2, 5, 30, 1000, 10**6), (1, 2, 10, 1000, 10**6), (Fraction(1, 2), Fraction(1, 10), Fraction(1, 1000)))
)


def _coefficients(x: Any, order: int) -> Any:
    """Taylor coefficients of 1 - exp(-4x^2/pi) - erf(x)^2 at a ball."""
    series = flint.arb_series([x, 1], order + 1)
    return 1 - (-4 * series * series / flint.arb.pi()).exp() - series.erf() * series.erf()


def _above_erf(x: Any) -> Any:
    """The function over a ball, by its middle and its slope."""
    middle = flint.arb(x.mid())
    return _coefficients(middle, 0)[0] + _coefficients(x, 1)[1] * (x - middle)


def _fourth_coefficient(x: Any) -> Any:
    """The fourth Taylor coefficient somewhere in the ball x."""
    return _coefficients(x, 4)[4]


@cache
def erf_bound() -> Verdict:
    """erf(x)^2 <= 1 - exp(-4x^2/pi) for all x >= 0: Taylor at 0, balls to 3, and the tail."""
    # even, and the coefficients of order 0 and 2 vanish exactly (4/pi - 4/pi), so the value is x^4 times the fourth one
    near = positive_over(_fourth_coefficient, 0, Fraction(1, 5), 400, "fourth coefficient on [0, 1/5]")
    middle = positive_over(_above_erf, Fraction(1, 5), 3, 4000, "1 - exp(-4x^2/pi) - erf(x)^2 on [1/5, 3]")
    # beyond 3: 1 - erf^2 >= erfc >= 2/sqrt(pi) exp(-x^2)/(x + sqrt(x^2 + 2)), and exp((4/pi - 1) x^2) grows faster
    x = flint.arb(3)
    far = ((4 / flint.arb.pi() - 1) * x * x).exp() * 2 / flint.arb.pi().sqrt() / (x + (x * x + 2).sqrt())
    return near & middle & at_most(flint.arb(1), far, what="tail at 3, growing beyond")


@book.claim(
    "C.9",
    "Small values of a Gaussian",
    kind="inequality",
    hypotheses=[],
    parts=["law", "bound"],
    where="Lemma C.9",
    uses=["C.9-proof"],
    insensitive=NUMBERS,
    statement=r"P(|x|\le c)\le\mathrm{erf}\Big(\frac c{\sqrt2\sigma}\Big)\le\sqrt{1-\exp\big(-\tfrac{2c^2}{\pi\sigma^2}\big)}",
    reading="for all c >= 0: the first relation is an equality, the second in balls up to 3 and by the tail beyond",
)
def small_values(lab: Laboratory) -> dict[str, Verdict]:
    """The integral of the density by its slope, and the inequality behind the anti-concentration lemmas."""
    c, sigma = sp.symbols("c sigma", positive=True)
    density = sp.exp(-(c**2) / (2 * sigma**2)) / (sp.sqrt(2 * sp.pi) * sigma)
    law = sp.erf(c / (sp.sqrt(2) * sigma))
    ratio = sp.diff(law, c) / (2 * density)
    equality = decided(ratio == 1 and law.subs(c, 0) == 0, {"slope over 2 f(c)": str(ratio)}).proving(
        "both sides vanish at c = 0 and have the slope 2 f(c), which cancels"
    )
    return {"law": equality, "bound": erf_bound()}


@book.claim(
    "C.9-proof",
    "The proof's value of P(|x| <= c)",
    kind="identity",
    hypotheses=[],
    parts=["value of P"],
    where="Proof of Lemma C.9, last conclusion before the inequality of erf",
    origin="proof",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"P(|x|\le c)=2\,\mathrm{erf}\Big(\frac c{\sqrt2\sigma}\Big)",
    reading="the display against the integral of the density; the lemma itself has the right factor",
)
def small_values_proof(lab: Laboratory) -> Verdict:
    """The integral of the density over [-c, c] at c = sigma = 1."""
    integral = flint.acb.integral(lambda z, _: (-z * z / 2).exp(), -1, 1).real / (2 * flint.arb.pi()).sqrt()
    erf = inside(flint.arb(1))
    says = "at c = sigma = 1 the display's 2 erf(c/(sqrt2 sigma))"
    printed = at_most(2 * erf, integral, says)
    once = decided(
        erf.overlaps(integral) and abs(erf - integral) < flint.arb(10) ** -10,
        {"erf": short(erf), "P": short(integral)},
        Evidence.CERTIFICATE,
        value=short(erf),
    )
    return printed.correcting(
        r"P(|x|\le c)=\mathrm{erf}(c/(\sqrt2\sigma))",
        once,
        "the factor 2 of the definition of erf was lost and put back twice",
    ).blaming("misprint", "erf-factor")


def _minus_log(x: Any) -> Any:
    """-log(1 - x) as a ball."""
    return -(1 - x).log()


def _union(pairs: Any, probability: Any) -> Any:
    """1 - (1 - p)^pairs for independent events."""
    return 1 - (pairs * (1 - probability).log()).exp()


@book.claim(
    "C.10",
    "Noise inner products exceed twice the signal's",
    kind="probability",
    hypotheses=[
        at_least(
            "sigma_p^2 s is large",
            r"\sigma_p^2s\ge\frac{32\|\mu\|^2\log(12m_k/\delta)}{-\pi\log(1-\delta^2/4m_k^2n^2)}",
            lambda p: p["sigma_p"] ** 2 * p["s"],
            lambda p: (
                32
                * p["mu"] ** 2
                * log(12 * p["m_k"] / p["delta"])
                / pi
                / -log1p(-((p["delta"] / (2 * p["m_k"] * p["n"])) ** 2))
            ),
        ),
        *wide("m_k"),
        many_coordinates,
        *CONDITION,
    ],
    parts=["queries and keys"],
    where="Lemma C.10",
    uses=["C.4", "C.8", "C.9", "Eq.2-3"],
    expect="fails",
    statement=r"\sigma_p^2s\ge\frac{32\|\mu\|^2\log(12m_k/\delta)}{-\pi\log(1-\delta^2/4m_k^2n^2)}\Rightarrow P(|\langle w_{Q,s}^{(0)},\xi_i\rangle|,|\langle w_{K,s}^{(0)},\xi_i\rangle|\ge2\beta_\mu\ \forall s,i)\ge1-\delta",
    reading="on the events of C.4 and C.8; beta_mu of Eq. (3), with the rows of values; for m_v a power of n only a factor below 2 changes",
)
def exceeds_signal(lab: Laboratory) -> Verdict:
    """An exact lower bound of the failure probability, and the union bound with the right logarithm."""
    variance = lab.variances()
    point = inside_point(m_v=10**40, delta=1e-6, mu=1.0)
    n, m_k, m_v, delta = int(point["n"]), int(point["m_k"]), 10**40, Fraction(1, 10**6)

    def least(width: int, n: int, delta: Fraction, m: int) -> Any:
        return (
            32
            * (12 * ball(width) / ball(delta)).log()
            / flint.arb.pi()
            / _minus_log(ball(delta**2 / (4 * m * m * n * n)))
        )

    with flint.ctx.workprec(400):
        level = (2 * ball(m_v).log()).sqrt() * ball(Fraction(19, 20))
        larger = 1 - (2 * ball(m_v) * (1 - tail(level / ball(variance["row_mu"]).sqrt())).log()).exp()
        hit = _union(2 * m_k * n, inside(2 * level / (least(m_k, n, delta, m_k) * ball(variance["q_xi"])).sqrt()))
        says = (
            "at m_k = 240, n = m_k^4, d = n^9, m_v = 10^40, delta = 10^-6, sigma_p^2 s at its bound (5 n^4), the probability "
            "of a violation, over delta,"
        )
        noise = 1.0000001 * float((least(m_k, n, delta, m_k) / ball(int(point["s"]))).mid()) ** 0.5
        point = inside_point(m_v=10**40, delta=1e-6, mu=1.0, sigma_p=noise)
        printed = at_most(larger * hit / ball(delta), ball(1), says, point, beta_mu_exceeds=short(level))
        worst = ball(0)
        for m, n, delta in GRID:
            level = (2 * (12 * ball(max(m, 10**6)) / ball(delta)).log()).sqrt()
            scale = least(max(m, 10**6), n, delta, m) / 2
            fail = 2 * m * n * inside(2 * level / (scale * ball(min(variance["q_xi"], variance["k_xi"]))).sqrt())
            worst = fail / ball(delta) if (fail / ball(delta)).mid() > worst.mid() else worst
        # for all sizes by C.9: 2 (2 beta_mu)^2/(pi |xi|^2) with |xi|^2 >= s/2 is 32 log(...)/(pi s) over the variance
        every = (
            at_most(ball(Fraction(32) / min(variance["q_xi"], variance["k_xi"])), ball(32), what="coefficient")
            & erf_bound()
        )
        fixed = at_most(worst, ball(1), m_v="10^6 or less") & every
        needs = least(100, 20, Fraction(1, 10), 100)
    return (
        printed.correcting(
            r"\sigma_p^2s\ge\frac{32\|\mu\|^2\log(12\max(m_k,m_v)/\delta)}{-\pi\log(1-\delta^2/4m_k^2n^2)}",
            fixed,
            "beta_mu is a maximum over the rows of values too",
        )
        .blaming("constant", "value-rows")
        .with_constants(
            size="sigma_p^2 s of about (128/pi) m_k^2 n^2 log(12 m_k/delta)/delta^2: "
            f"{short(needs):.3g} for m_k = 100, n = 20, delta = 1/10; with sigma_p^2 s of order n^4 it forces delta >= m_k/n"
        )
    )


@book.claim(
    "Beyond.starts",
    "Sizes at the start under Condition 3.1",
    kind="probability",
    hypotheses=[],
    origin="ours",
    uses=["C.4", "C.9"],
    repairs=["C.8", "Eq.2-3", "C.10"],
    statement=r"\beta_\mu,\beta_\xi\ \text{with}\ \max(m_k,m_v)n\ \text{in the logarithms},\ \max_s|q_{si}^{(0)}|\ge\tfrac14\sigma_0\sigma_p\sqrt s\ \forall i,\ |q_{si}^{(0)}|,|k_{si}^{(0)}|\ge2\beta_\mu\ \forall s,i",
    reading="what is used of Lemmas C.8 and C.10: m_k >= 1.05 log(8n/delta), delta = n^(-1/3), m_k = O(n^(1/4)), log m_v below a power of n",
)
def starts(lab: Laboratory) -> Verdict:
    """Union bounds with all rows, lower bounds for all samples, and room in the bound of Lemma C.10."""
    squares = (Fraction(2), Fraction(4))
    upper = [
        upper_bounds(lab, name, squares, rows, ("2 log(12 m/delta)", "4 log(12 m n/delta)"))
        for name, rows in (("q", 1), ("k", 1), ("row", 2))
    ]
    # sigma_p^2 s >= c m_k^2 n^2 log / delta^2, with sigma_p^2 s of order n^4, m_k^2 = n^(1/2) and delta^-2 = n^2/3
    room = vanishing(
        "the bound of Lemma C.10 over sigma_p^2 s", (M_K * N * N ** Fraction(1, 3)) ** 2 / (SIGMA_P**2 * S)
    )
    return upper[0] & upper[1] & upper[2] & lower_bounds(lab) & room & erf_bound()


@book.claim(
    "C.11",
    "Noise inner products are not small",
    kind="probability",
    hypotheses=[
        at_least(
            "m_v is large",
            r"m_v\ge\frac{256\log^2(12m_kn/\delta)}{\pi^2\log^2(1-\delta^2/4m_k^2n^2)}",
            lambda p: p["m_v"],
            lambda p: (
                (
                    16
                    * log(12 * p["m_k"] * p["n"] / p["delta"])
                    / pi
                    / -log1p(-((p["delta"] / (2 * p["m_k"] * p["n"])) ** 2))
                )
                ** 2
            ),
        ),
        *wide("m_k"),
        many_coordinates,
        *CONDITION,
    ],
    parts=["queries and keys"],
    where="Lemma C.11",
    expect="fails",
    uses=["C.4", "C.8", "C.9", "Eq.2-3"],
    statement=r"m_v\ge\frac{256\log^2(12m_kn/\delta)}{\pi^2\log^2(1-\delta^2/4m_k^2n^2)}\Rightarrow P(|\langle w_{Q,s}^{(0)},\xi_i\rangle|,|\langle w_{K,s}^{(0)},\xi_i\rangle|\ge\beta_\xi m_v^{-1/4}\ \forall s,i)\ge1-\delta",
    reading="on the events of C.4 and C.8; beta_xi of Eq. (2), with the rows of values, as in Lemma C.10; the excess over delta is small",
)
def not_small(lab: Laboratory) -> Verdict:
    """An exact lower bound of the failure probability at the smallest m_v, and the union bound with the right logarithm."""
    variance = lab.variances()
    point, delta = inside_point(delta=0.1), Fraction(1, 10)
    n, m_k = int(point["n"]), int(point["m_k"])
    with flint.ctx.workprec(600):
        width_log = (12 * ball(m_k) * n / ball(delta)).log()
        chance = _minus_log(ball(delta**2 / (4 * m_k * m_k * n * n)))
        m_v = int(((16 * width_log / flint.arb.pi() / chance) ** 2 * (1 + flint.arb(10) ** -9)).ceil().unique_fmpz())
        # noise of length sigma_p sqrt(s), its mean: the largest of 2 m_v n inner products exceeds this level
        level = (2 * ball(2 * m_v * n).log()).sqrt() * ball(Fraction(975, 1000))
        larger = 1 - (2 * ball(m_v) * n * (1 - tail(level / ball(variance["row_xi"]).sqrt())).log()).exp()
        hit = _union(2 * m_k * n, inside(level / ball(m_v).root(4) / ball(variance["q_xi"]).sqrt()))
        says = (
            "at m_k = 240, n = m_k^4, d = n^9, delta = 0.1 and the smallest m_v allowed the probability of a violation"
        )
        point = inside_point(delta=0.1, m_v=m_v)
        printed = at_most(larger * hit, ball(delta), says, point, beta_xi_exceeds=short(level), m_v=f"{float(m_v):.3g}")
    return printed.correcting(
        r"m_v\ge\frac{256\log^2(12\max(m_k,m_v)n/\delta)}{\pi^2\log^2(1-\delta^2/4m_k^2n^2)}",
        with_all_rows(lab),
        "beta_xi is a maximum over the rows of values too",
    ).blaming("constant", "value-rows")


def with_all_rows(lab: Laboratory) -> Verdict:
    """Lemma C.11 with the rows of values in its logarithm: exact tails on a grid, and every size by Lemma C.9."""
    variance = lab.variances()
    smallest, worst = min(variance["q_xi"], variance["k_xi"]), ball(0)
    with flint.ctx.workprec(600):
        for m, n, delta in GRID:
            width = _smallest_width(m, n, delta)
            log = (12 * ball(max(m, width)) * n / ball(delta)).log()
            ratio = 2 * log.sqrt() / ball(width).root(4) * flint.arb(2).sqrt() / ball(smallest).sqrt()
            fail = 2 * m * n * inside(ratio) / ball(delta)
            worst = fail if fail.mid() > worst.mid() else worst
        # for all sizes by C.9: 2 beta_xi^2 m_v^(-1/2) / (pi |xi|^2) with |xi|^2 >= s/2 is 16 log(...) / (pi sqrt(m_v))
        every = at_most(ball(Fraction(16) / smallest), ball(16), what="coefficient") & erf_bound()
        return at_most(worst, ball(1), grid=len(GRID)) & every


def _smallest_width(m: int, n: int, delta: Fraction) -> int:
    """A whole m_v that satisfies the corrected bound, within a factor 2 of the smallest: it stands on both sides."""
    chance, width = _minus_log(ball(delta**2 / (4 * m * m * n * n))), 1
    while not ball(width) >= (16 * (12 * ball(max(m, width)) * n / ball(delta)).log() / flint.arb.pi() / chance) ** 2:
        width *= 2
    return width


@book.claim(
    "C.11-width",
    "The width of values that Lemma C.11 needs",
    kind="order",
    hypotheses=[],
    origin="ours",
    uses=["C.9", "Beyond.starts"],
    repairs=["C.11", "C.14-union"],
    insensitive=SCALE,
    statement=r"m_v\ge\big(\tfrac{64}\pi\big)^2m_k^4n^4\delta^{-4}\log^2(12\max(m_k,m_v)n/\delta)\ \Rightarrow\ P(|q_{si}^{(0)}|,|k_{si}^{(0)}|\ge\beta_\xi m_v^{-1/4}\ \forall s,i)\ge1-\delta",
    reading="a power of n, so allowed by Condition 3.1 and not implied by m_v = Omega(polylog d); what else is in E_prelim needs no such width",
)
def width_needed(lab: Laboratory) -> Verdict:
    """The corrected bound of Lemma C.11 over m_k^4 n^4 / delta^4 log^2, and the bound itself."""
    order = []
    with flint.ctx.workprec(600):
        for exponent in (4, 8, 16, 32):
            n, m, delta = ball(10) ** exponent, ball(10) ** (exponent // 4), ball(10) ** (-ball(Fraction(exponent, 3)))
            needed = (16 / flint.arb.pi() / _minus_log((delta / (2 * m * n)) ** 2)) ** 2
            order.append(needed / ((64 / flint.arb.pi()) ** 2 * (m * n / delta) ** 4))
    # -log(1 - x) >= x, so what is needed is never more; and it is hardly less
    kept = at_most(max(order, key=lambda x: float(x.mid())), ball(1)) & at_most(ball(Fraction(99, 100)), order[0])
    # Lemma C.12 with delta = n^(-1/3), m_k = O(n^(1/4)): n^3 (m_k/delta)^3 over s = d^(1/2) n^-2, for d = n^14
    other = vanishing(
        "what Lemma C.12 needs over s, for d = n^14", (N * M_K * N ** Fraction(1, 3)) ** 3 / (N**14) ** HALF * N**2
    )
    return kept & with_all_rows(lab) & other


large_support = at_least(
    "s is large, as in Lemma C.12",
    r"s\ge n^3\Big(\frac2{-\pi\log(1-\delta^2/4m_k^2)}\Big)^{3/2}",
    lambda p: p["s"],
    lambda p: p["n"] ** 3 * (2 / pi / -log1p(-((p["delta"] / (2 * p["m_k"])) ** 2))) ** 1.5,
)


@book.claim(
    "C.12",
    "Signal inner products are not small",
    kind="probability",
    hypotheses=[large_support],
    parts=["queries and keys"],
    where="Lemma C.12",
    uses=["C.9"],
    insensitive=SCALE,
    statement=r"s\ge n^3\Big(\frac2{-\pi\log(1-\delta^2/4m_k^2)}\Big)^{3/2}\Rightarrow P(|\langle w_{Q,s}^{(0)},\mu\rangle|,|\langle w_{K,s}^{(0)},\mu\rangle|\ge\sigma_0ns^{-1/3}\|\mu\|\ \forall s)\ge1-\delta",
    reading="at the smallest s allowed, exact tails on a grid of m_k and delta, for all others by Lemma C.9",
)
def signals_not_small(lab: Laboratory) -> Verdict:
    """Union bound of exact probabilities."""
    variance = lab.variances()
    worst = ball(0)
    with flint.ctx.workprec(400):
        for m, _, delta in GRID:
            level = (flint.arb.pi() / 2 * _minus_log(ball(delta**2 / (4 * m * m)))).sqrt()
            fail = 2 * m * inside(level / ball(min(variance["q_mu"], variance["k_mu"])).sqrt()) / ball(delta)
            worst = fail if fail.mid() > worst.mid() else worst
        every = at_most(ball(1 / min(variance["q_mu"], variance["k_mu"])), ball(1), what="coefficient") & erf_bound()
        return (at_most(worst, ball(1), grid=len(GRID)) & every).with_constants(
            sharp="the union bound is attained for large m_k/delta"
        )


@book.claim(
    "C.13",
    "Softmax weights at the start",
    kind="probability",
    hypotheses=wide("m_k"),
    parts=["s_11", "s_21", "both near 1/2"],
    where="Lemma C.13",
    uses=["C.8"],
    statement=r"|s_{i,11}^{(0)}-\tfrac12|,|s_{i,21}^{(0)}-\tfrac12|\le16m_k\log(12m_kn/\delta)\sigma_0^2\max\{\sigma_p^2s,\|\mu\|^2\}",
    reading="given the bounds of Lemma C.8 with 12 m_k n in the logarithm; constants may be smaller than 16",
)
def softmax_start(lab: Laboratory) -> dict[str, Verdict]:
    """Bound of the derived logits, term by term, and the slope of the logistic function."""
    beta, largest = sym("beta"), dict[str, Verdict]()
    for label, l in product(BOTH, range(2)):
        made = lab.sample(label)
        (gap,) = made.on_section([made.logit(l, 0) - made.logit(l, 1)])
        (gap,) = graph.substitute([gap], {sym(f"Z{l + 1}{a}"): num(0) for a in (1, 2)})  # of one neuron
        most = triangle_bound(gap, dict.fromkeys(graph.symbols([gap]), beta))
        largest[f"{label}{l}"] = identity({f"{label}{l}": most - 2 * beta * beta})
    s = graph.call("sigmoid", sym("z"))
    slope = graph.gradient(s, [sym("z")])[0]
    # 1/4 - s(1-s) = (1/2 - s)^2 is a square
    quarter = identity({"slope": num(1) / 4 - slope - (num(1) / 2 - s) ** 2})
    first = Fraction(1, 4) * 2 * 4  # slope times 2 m_k beta^2 over m_k log sigma_0^2 max
    bound = (quarter & at_most(ball(first), ball(16))).with_constants(constant=f"{first} instead of 16")
    step = "each neuron adds at most 2 beta^2 to a logit gap, and |sigmoid(z) - 1/2| <= |z|/4"
    rows = {
        name: (largest[f"1{l}"] & largest[f"-1{l}"] & bound).proving(step, m_k="every")
        for l, name in enumerate(("s_11", "s_21"))
    }
    return {**rows, "both near 1/2": (rows["s_11"] & rows["s_21"]).proving("the right side is o(1) by hypothesis")}


# ---- the cone of undecided pairs -------------------------------------------------------------------------------------


def cone_probability(Lambda: Any) -> Any:
    """P((L-1)/(L+1) X < Y < (L+1)/(L-1) X) for independent X, Y of one centred Gaussian law: angle over 2 pi."""
    return ((Lambda + 1) / (Lambda - 1)).atan() / (2 * flint.arb.pi()) - ((Lambda - 1) / (Lambda + 1)).atan() / (
        2 * flint.arb.pi()
    )


@book.claim(
    "C.14",
    "Few pairs are undecided",
    kind="probability",
    hypotheses=[
        at_least(
            "sigma_p s / |mu| >= d^1/5 / pi",
            r"\sigma_ps/\|\mu\|=\Omega(d^{1/5})",
            lambda p: pi * p["Lambda"],
            lambda p: float(p["d"]) ** 0.2,
        )
    ],
    parts=["all samples of a neuron"],
    where="Lemma C.14",
    uses=["C.14-display"],
    insensitive=SCALE,
    statement=r"\sigma_ps/\|\mu\|=\Omega(d^{1/5})\Rightarrow P\Big(\exists i:\tfrac{\Lambda-1}{\Lambda+1}X_i<Y_i<\tfrac{\Lambda+1}{\Lambda-1}X_i\Big)\le nd^{-1/5},\ X_i=q_{si}+q_{s\mu},\ Y_i=-k_{si}+k_{s\mu},\ \Lambda=\tfrac{\sigma_ps}{\|\mu\|}",
    reading="one neuron s; Omega with a constant of at least 1/pi; sigma_p s is Lambda |mu|",
)
def undecided_pairs(lab: Laboratory) -> Verdict:
    """Angle of the cone for many Lambda, equal variances, and drawn starts."""
    variance = lab.variances()
    if (variance["q_mu"], variance["q_xi"]) != (variance["k_mu"], variance["k_xi"]):
        return refuted({"variances": {k: str(v) for k, v in variance.items()}})
    L = sym("L")
    angle = (
        graph.call("arctan", (L + 1) / (L - 1))
        - graph.call("arctan", (L - 1) / (L + 1))
        - 2 * graph.call("arctan", 1 / L)
    )
    verdict = identity({"slope of the angle": graph.gradient(angle, [L])[0]})  # constant for Lambda > 1, and 0 at 2
    with flint.ctx.workprec(200):
        for Lambda in (2, 5, 20, 1000, 10**6):
            found, law = cone_probability(ball(Lambda)), (1 / ball(Lambda)).atan() / flint.arb.pi()
            if not found.overlaps(law) or abs(found - law) > flint.arb(10) ** -40:
                return refuted({"Lambda": Lambda, "angle": short(found), "law": short(law)}, Evidence.CERTIFICATE)
            verdict = verdict & at_most(found, 1 / (flint.arb.pi() * Lambda), Lambda=Lambda)
    return verdict.with_constants(P="(1/pi) arctan(|mu|/(sigma_p s)), exactly").proving(
        "X_i and Y_i are independent with equal variances, so the chance is the angle of the cone over 2 pi",
        "the angle is 2 arctan(1/Lambda): equal slopes in Lambda > 1, equal at Lambda = 2 (and in balls at 5, 20, 1000, 10^6)",
        "arctan(x) <= x, and a union over n samples",
        Lambda="every",
    )


@book.claim(
    "C.14-display",
    "Value of the probability in the proof",
    kind="identity",
    hypotheses=[],
    parts=["value"],
    where="Proof of Lemma C.14, fourth line of the long display",
    origin="proof",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\iint_D\tfrac1{2\pi\sigma^2}r\,e^{-r^2/2\sigma^2}\,dr\,d\theta=\tfrac\pi2-2\arctan\tfrac{\Lambda-1}{\Lambda+1}",
    reading="the printed value against the integral of the Gaussian density over D; only its order is used",
)
def display_value(lab: Laboratory) -> Verdict:
    """Printed value against the angle over 2 pi."""
    L = ball(2)
    printed_value, true = flint.arb.pi() / 2 - 2 * ((L - 1) / (L + 1)).atan(), cone_probability(L)
    printed = at_most(printed_value, true, "at sigma_p s = 2 |mu| the printed value", {"Lambda": 2})
    scaled = printed_value / (2 * flint.arb.pi())
    fixed = decided(scaled.overlaps(true), {"scaled": short(scaled)}, Evidence.CERTIFICATE, value=short(scaled))
    return printed.correcting(
        r"=\tfrac1{2\pi}\big(\tfrac\pi2-2\arctan\tfrac{\Lambda-1}{\Lambda+1}\big)=\tfrac1\pi\arctan\tfrac1\Lambda",
        fixed,
        "the density's factor 1/(2 pi) was dropped in the fourth line",
    ).blaming("misprint", "two-pi")


@book.claim(
    "C.14-union",
    "All results of appendix C hold together",
    kind="probability",
    uses=["C.1", "C.10", "C.11", "C.12", "C.14"],
    insensitive=SCALE,
    origin="proof",
    where="Appendix E, first paragraph",
    parts=["union", "under Condition 3.1"],
    hypotheses=CONDITION,
    expect="fails",
    statement=r"\text{based on Condition 3.1, the conclusions of Appendix C hold with high probability:}\ P(\mathcal E_{\rm prelim})\ge1-10\delta-n^{-2}-nd^{-1/5}",
    reading="the union, each lemma under its own hypotheses; then under Condition 3.1 alone, where m_v may be a power of log d; only Lemma 4.1 (3) rests on C.11",
)
def all_results(lab: Laboratory) -> dict[str, Verdict]:
    """The union bound, and the event of Lemma C.11 where m_v is a power of log d."""
    point = inside_point()
    width = int(log(point["d"])) ** 4
    point = inside_point(m_v=width)
    m, n = int(point["m_k"]), int(point["n"])
    # in each of n samples: beta_xi is at least its largest query noise, so all |q_s| are below 1, or all above m_v^(-1/4)
    one = inside(ball(1)) ** m + tail(1 / ball(width).root(4)) ** m
    log_of_event = n * one.log()
    says = "at m_k = 240, n = m_k^4, d = n^9, m_v = 197^4, near (log d)^4, the logarithm of P(E_prelim), by Lemma C.11,"
    printed = at_most(ball(-1), log_of_event, says, point)
    if printed.as_stated == "fails":
        printed = printed.witnessed(
            f"at m_k = {m}, n = m_k^4, d = n^9, m_v = {say_number(float(width))}, about (log d)^4, the event of Lemma C.11, and so "
            f"E_prelim, has a probability below exp({short(log_of_event):.3g})",
            point,
        )
    return {
        "union": all_pairs(),
        "under Condition 3.1": printed.correcting(
            r"P(\mathcal E_{\rm prelim})\ge\ldots\ \text{for}\ m_v=\tilde\Omega(m_k^4n^4\delta^{-4});\ \text{without Lemma C.11 under Condition 3.1}",
            width_needed(lab) & all_pairs(),
            "the smallest of 2 m_k n Gaussians is of order delta/(m_k n), which beta_xi m_v^(-1/4) has to stay below",
        ).blaming("proof", "width-of-values"),
    }


def all_pairs() -> Verdict:
    """The union over neurons costs a factor m_k, which Condition 3.1 pays for: exponents of n and d."""
    # m_k n / (pi Lambda) over n d^(-1/5), with Lambda >= d^(1/4) n (1 and 2 of the condition) and m_k <= n^(1/4) (4)
    powers = {"n": Fraction(1, 4) + 1 - 1 - 1, "d": Fraction(1, 5) - Fraction(1, 4)}
    return decided(all(power < 0 for power in powers.values()), {name: str(p) for name, p in powers.items()}).proving(
        "C.3 to C.8 and C.10 to C.13 fail with at most delta each, C.1 (corrected) with n^-2",
        "C.14 for m_k n pairs fails with at most m_k n / (pi Lambda)",
        "Lambda = Omega(d^(1/4) n) by conditions 1 and 2, m_k = O(n^(1/4)) by condition 4",
        "so the quotient by n d^-1/5 is O(n^-3/4 d^-1/20), which is below 1 for large d",
        n=EVERY,
        m_k=EVERY,
        d=EVERY,
    )


@book.claim(
    "Eq.4-7",
    "Sets of signs at the start",
    kind="identity",
    hypotheses=[],
    parts=["union"],
    where="Eq. (7)",
    insensitive=NUMBERS,
    statement=r"S^{(0)}_{s,K+,Q-}=\{i:\langle w_K,y_i\xi_i\rangle>0,\langle w_Q,y_i\xi_i\rangle<0\}=S^{(0)}_{s,1,K+,Q-}\cup S^{(0)}_{s,-1,K-,Q+}",
    reading="all signs of <w_K, xi_i>, <w_Q, xi_i> and y_i, for all four pairs of signs",
)
def sign_sets(lab: Laboratory) -> Verdict:
    """Enumeration of signs."""

    def right(case: tuple[int, int, int, int, int]) -> bool:
        k, q, y, K, Q = case  # signs of <w_K, xi>, <w_Q, xi>, label, and the wanted signs with y
        member = y * k == K and y * q == Q
        union = (y == 1 and k == K and q == Q) or (y == -1 and k == -K and q == -Q)
        return member == union

    return enumerate_all(product((1, -1), repeat=5), right, "sign patterns")
