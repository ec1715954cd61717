"""Appendix C, second half: small inner products at the start, softmax weights at the start, the cone of undecided pairs."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import flint
import numpy as np

from odesys import (
    Evidence,
    Verdict,
    decided,
    enumerate_all,
    frequency_at_most,
    graph,
    identity,
    num,
    refuted,
    sym,
    triangle_bound,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special import recursion
from ..special.toy_network import on_section
from .book import NUMBERS, at_most, ball, book, inside, positive_over, short, tail

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
    insensitive=NUMBERS,
    statement=r"P(|x|\le c)\le\mathrm{erf}\Big(\frac c{\sqrt2\sigma}\Big)\le\sqrt{1-\exp\big(-\tfrac{2c^2}{\pi\sigma^2}\big)}",
    reading="the first is an equality; the second for all c >= 0, in balls: by the fourth Taylor coefficient up to 1/5, directly up to 3, by the tail beyond",
)
def small_values(lab: Laboratory) -> Verdict:
    """The inequality behind the anti-concentration lemmas."""
    return erf_bound()


@book.claim(
    "C.9-proof",
    "The proof's value of P(|x| <= c)",
    kind="identity",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"P(|x|\le c)=2\,\mathrm{erf}\Big(\frac c{\sqrt2\sigma}\Big)",
    reading="c = sigma: the value printed in the proof against the integral of the density, in balls",
)
def small_values_proof(lab: Laboratory) -> Verdict:
    """The integral of the density over [-c, c] at c = sigma = 1."""
    integral = flint.acb.integral(lambda z, _: (-z * z / 2).exp(), -1, 1).real / (2 * flint.arb.pi()).sqrt()
    erf = inside(flint.arb(1))
    printed = decided(
        not (2 * erf > integral), {"c": "sigma", "2 erf": short(2 * erf), "P": short(integral)}, Evidence.CERTIFICATE
    )
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
    )


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
    uses=["C.4", "C.8", "C.9", "Eq.2-3"],
    expect="fails",
    statement=r"\sigma_p^2s\ge\frac{32\|\mu\|^2\log(12m_k/\delta)}{-\pi\log(1-\delta^2/4m_k^2n^2)}\Rightarrow P(|\langle w_{Q,s}^{(0)},\xi_i\rangle|,|\langle w_{K,s}^{(0)},\xi_i\rangle|\ge2\beta_\mu\ \forall s,i)\ge1-\delta",
    reading="beta_mu of Eq. (3) contains the rows of values; n = 20, m_k = 10, m_v = 10^40, delta = 1/10, sigma_p^2 s at the bound, |xi_i|^2 = sigma_p^2 s: exact probability "
    "that some noise inner product is below twice a level that beta_mu exceeds almost surely; corrected with 12 max(m_k, m_v), for |xi_i|^2 >= sigma_p^2 s / 2",
)
def exceeds_signal(lab: Laboratory) -> Verdict:
    """An exact lower bound of the failure probability, and the union bound with the right logarithm."""
    variance = lab.variances()
    n, m_k, m_v, delta = 20, 10, 10**40, Fraction(1, 10)

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
        printed = at_most(larger * hit, ball(delta), n=n, m_k=m_k, m_v="10^40", beta_mu_exceeds=short(level))
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
    return printed.correcting(
        r"\sigma_p^2s\ge\frac{32\|\mu\|^2\log(12\max(m_k,m_v)/\delta)}{-\pi\log(1-\delta^2/4m_k^2n^2)}",
        fixed,
        "beta_mu is a maximum over the rows of values too",
    ).with_constants(
        size="sigma_p^2 s of about (128/pi) m_k^2 n^2 log(12 m_k/delta)/delta^2: "
        f"{short(needs):.3g} for m_k = 100, n = 20, delta = 1/10; with sigma_p^2 s of order n^4 it forces delta >= m_k/n"
    )


@book.claim(
    "C.11",
    "Noise inner products are not small",
    kind="probability",
    uses=["C.4", "C.8", "C.9", "Eq.2-3"],
    insensitive=SCALE,
    statement=r"m_v\ge\frac{256\log^2(12m_kn/\delta)}{\pi^2\log^2(1-\delta^2/4m_k^2n^2)}\Rightarrow P(|\langle w_{Q,s}^{(0)},\xi_i\rangle|,|\langle w_{K,s}^{(0)},\xi_i\rangle|\ge\beta_\xi m_v^{-1/4}\ \forall s,i)\ge1-\delta",
    reading="with beta_xi <= 2 sqrt(log(12 m_k n/delta)) sigma_0 sigma_p sqrt(s), as its proof has it (beta_xi without the rows of values), and |xi_i|^2 >= sigma_p^2 s/2; "
    "for all sizes by the inequality of C.9, and exact tails on a grid of m_k, n, delta",
)
def not_small(lab: Laboratory) -> Verdict:
    """Union bound at the smallest allowed m_v."""
    variance = lab.variances()
    worst = ball(0)
    with flint.ctx.workprec(400):
        for m, n, delta in GRID:
            log = (12 * ball(m) * n / ball(delta)).log()
            m_v = (16 * log / flint.arb.pi() / _minus_log(ball(delta**2 / (4 * m * m * n * n)))) ** 2
            ratio = (
                2
                * log.sqrt()
                / m_v.root(4)
                * flint.arb(2).sqrt()
                / ball(min(variance["q_xi"], variance["k_xi"])).sqrt()
            )
            fail = 2 * m * n * inside(ratio) / ball(delta)
            worst = fail if fail.mid() > worst.mid() else worst
        every = (
            at_most(ball(Fraction(16) / min(variance["q_xi"], variance["k_xi"])), ball(16), what="coefficient")
            & erf_bound()
        )
        return at_most(worst, ball(1), grid=len(GRID)) & every


@book.claim(
    "C.11-width",
    "The width C.11 needs is polylogarithmic",
    kind="order",
    uses=["C.11"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"m_v=\Omega(\mathrm{polylog}(d))\ \text{satisfies}\ m_v\ge\frac{256\log^2(12m_kn/\delta)}{\pi^2\log^2(1-\delta^2/4m_k^2n^2)}",
    reading="Condition 3.1 allows m_v = (log d)^4 with d = n^8, m_k = n^(1/4), delta = n^(-1/3), the failure probability of the theorem: n = 10^4, 10^8, 10^16, 10^32; the "
    "corrected order is m_v >= m_k^4 n^4 / delta^4 up to logarithms, sandwiched in balls",
)
def width_needed(lab: Laboratory) -> Verdict:
    """What is needed over what the condition supplies, and over m_k^4 n^4 / delta^4."""
    supplied, order = [], []
    with flint.ctx.workprec(600):
        for exponent in (4, 8, 16, 32):
            n, m, delta = ball(10) ** exponent, ball(10) ** (exponent // 4), ball(10) ** (-ball(Fraction(exponent, 3)))
            log = (12 * m * n / delta).log()
            needed = (16 * log / flint.arb.pi() / _minus_log((delta / (2 * m * n)) ** 2)) ** 2
            supplied.append(needed / (8 * n.log()) ** 4)
            order.append(needed / ((64 / flint.arb.pi()) ** 2 * log**2 * (m * n / delta) ** 4))
        printed = at_most(supplied[0], ball(1), n="10^4", needed_over_supplied=[short(x) for x in supplied])
        fixed = at_most(order[-1], ball(Fraction(101, 100))) & at_most(ball(Fraction(99, 100)), order[0])
    return printed.correcting(
        r"m_v=\Theta(m_k^4n^4\delta^{-4}\log^2(12m_kn/\delta))",
        fixed,
        "the smallest of 2 m_k n Gaussians is of order delta/(m_k n)",
    )


@book.claim(
    "C.12",
    "Signal inner products are not small",
    kind="probability",
    uses=["C.9"],
    insensitive=SCALE,
    statement=r"s\ge n^3\Big(\frac2{-\pi\log(1-\delta^2/4m_k^2)}\Big)^{3/2}\Rightarrow P(|\langle w_{Q,s}^{(0)},\mu\rangle|,|\langle w_{K,s}^{(0)},\mu\rangle|\ge\sigma_0ns^{-1/3}\|\mu\|\ \forall s)\ge1-\delta",
    reading="at the smallest allowed s, where n s^(-1/3) = sqrt(pi/2) sqrt(-log(1 - delta^2/4m_k^2)); exact tails on a grid of m_k, delta, for all others by C.9",
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
    kind="inequality",
    uses=["C.8"],
    statement=r"|s_{i,11}^{(0)}-\tfrac12|,|s_{i,21}^{(0)}-\tfrac12|\le16m_k\log(12m_kn/\delta)\sigma_0^2\max\{\sigma_p^2s,\|\mu\|^2\}",
    reading="given all |q|, |k| <= beta = 2 sqrt(log(12 m_k n/delta)) sigma_0 max(sigma_p sqrt s, |mu|) (C.8): the derived logits are at most 2 m_k beta^2 (triangle inequality, m_k = 2) "
    "and |sigmoid(z) - 1/2| <= |z|/4, so the constant 16 can be 2",
)
def softmax_start(lab: Laboratory) -> Verdict:
    """Bound of the derived logits, term by term, and the slope of the logistic function."""
    made = lab.network()
    gaps = on_section({f"{i}{l}": made.logit(i, l, 0) - made.logit(i, l, 1) for i in range(2) for l in range(2)})
    beta = sym("beta")
    bounds = {name: triangle_bound(node, dict.fromkeys(graph.symbols([node]), beta)) for name, node in gaps.items()}
    largest = identity(
        {name: bound - 2 * 2 * beta * beta for name, bound in bounds.items()}
    )  # 2 m_k beta^2 with m_k = 2
    s = graph.call("sigmoid", sym("z"))
    slope = graph.gradient(s, [sym("z")])[0]
    # 1/4 - s(1-s) = (1/2 - s)^2 is a square
    quarter = identity({"slope": num(1) / 4 - slope - (num(1) / 2 - s) ** 2})
    first = Fraction(1, 4) * 2 * 4  # slope times 2 m_k beta^2 over m_k log sigma_0^2 max
    return (largest & quarter & at_most(ball(first), ball(16))).with_constants(constant=f"{first} instead of 16")


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
    insensitive=SCALE,
    statement=r"\sigma_ps/\|\mu\|=\Omega(d^{1/5})\Rightarrow P\Big(\exists i:\tfrac{\Lambda-1}{\Lambda+1}X_i<Y_i<\tfrac{\Lambda+1}{\Lambda-1}X_i\Big)\le nd^{-1/5},\ X_i=q_{si}+q_{s\mu},\ Y_i=-k_{si}+k_{s\mu},\ \Lambda=\tfrac{\sigma_ps}{\|\mu\|}",
    reading="one neuron s, with Omega-constant at least 1/pi: X_i and Y_i have the same variance (derived) and are independent, so the probability is (1/pi) arctan(1/Lambda) <= 1/(pi Lambda) "
    "exactly, the angle of the cone over 2 pi: its difference to 2 arctan(1/Lambda) has slope 0 (exact) and vanishes in balls at Lambda = 2, 5, ..., 10^6; drawn pairs (exact start, Lambda = 5) agree within 5 standard errors",
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
    case = Case(n=1, s=25, d=26, m_k=400_000, m_v=1, sigma_p=0.2)
    start = recursion.draw(case, 3)
    X, Y = start.state.q[:, 0] + start.state.q_mu, start.state.k_mu - start.state.k[:, 0]
    ratio, count = (5 - 1) / (5 + 1), case.m_k
    share, law = float(np.mean((ratio * X < Y) & (X / ratio > Y))), float(np.arctan(1 / 5) / np.pi)
    gap = abs(share - law) / np.sqrt(law * (1 - law) / count)
    if gap > 5:
        return refuted({"share": share, "law": law, "standard errors": float(gap)}, Evidence.MEASUREMENT)
    return verdict.with_constants(P="(1/pi) arctan(|mu|/(sigma_p s)), exactly").adding(drawn=share, law=law, seed=3)


@book.claim(
    "C.14-display",
    "Value of the probability in the proof",
    kind="identity",
    uses=["C.14"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\iint_D\tfrac1{2\pi\sigma^2}r\,e^{-r^2/2\sigma^2}\,dr\,d\theta=\tfrac\pi2-2\arctan\tfrac{\Lambda-1}{\Lambda+1}",
    reading="at Lambda = 2 the printed value against the integral; at Lambda = 1 it would be pi/2, which is no probability",
)
def display_value(lab: Laboratory) -> Verdict:
    """Printed value against the angle over 2 pi."""
    L = ball(2)
    printed_value, true = flint.arb.pi() / 2 - 2 * ((L - 1) / (L + 1)).atan(), cone_probability(L)
    printed = decided(
        not (printed_value > true),
        {"Lambda": 2, "printed": short(printed_value), "integral": short(true)},
        Evidence.CERTIFICATE,
    )
    scaled = printed_value / (2 * flint.arb.pi())
    fixed = decided(scaled.overlaps(true), {"scaled": short(scaled)}, Evidence.CERTIFICATE)
    return printed.correcting(
        r"=\tfrac1{2\pi}\big(\tfrac\pi2-2\arctan\tfrac{\Lambda-1}{\Lambda+1}\big)=\tfrac1\pi\arctan\tfrac1\Lambda",
        fixed,
        "the density's factor 1/(2 pi) was dropped in the fourth line",
    )


@book.claim(
    "C.14-union",
    "All pairs of all neurons are decided",
    kind="probability",
    uses=["C.14"],
    expect="fails",
    insensitive=SCALE,
    statement=r"P(\mathcal E_{\rm prelim})\ge1-10\delta-n^{-2}-nd^{-1/5}",
    reading="the event is used for all s and i; n = 8, m_k = 16, Lambda = d^(1/5) = 20, 4000 starts: frequency that some pair is in the cone against n d^(-1/5); corrected with m_k n, "
    "and the cone of the speeds |xi_i|_1 >= sigma_p s / sqrt2 is the one with Lambda/sqrt2, so (sqrt2/pi) m_k n / Lambda",
)
def all_pairs(lab: Laboratory) -> Verdict:
    """Frequencies over drawn starts."""
    rng, trials, n, m, Lambda = np.random.default_rng(14), 4000, 8, 16, 20.0
    variance = lab.variances()
    std = {name: float(value) ** 0.5 for name, value in variance.items()}
    length = 5.0  # |xi| over |mu|

    def failures(ratio: float) -> int:
        q, k = (std[f"{c}_xi"] * length * rng.standard_normal((trials, m, n)) for c in "qk")
        X = q + std["q_mu"] * rng.standard_normal((trials, m, 1))
        Y = std["k_mu"] * rng.standard_normal((trials, m, 1)) - k
        return int(((ratio * X < Y) & (X / ratio > Y)).any(axis=(1, 2)).sum())

    printed = frequency_at_most(failures((Lambda - 1) / (Lambda + 1)), trials, n / Lambda, seed=14)
    large = 400.0
    wide = large / 2**0.5
    fixed = frequency_at_most(
        failures((wide - 1) / (wide + 1)), trials, 2**0.5 / np.pi * m * n / large, Lambda=large, seed=14
    )
    return printed.correcting(
        r"P\ge1-10\delta-n^{-2}-\tfrac{\sqrt2}{\pi}m_kn\Lambda^{-1}",
        fixed,
        "the union runs over neurons as well as samples",
    )


@book.claim(
    "Eq.4-7",
    "Sets of signs at the start",
    kind="identity",
    insensitive=NUMBERS,
    statement=r"S^{(0)}_{s,K+,Q-}=\{i:\langle w_K,y_i\xi_i\rangle>0,\langle w_Q,y_i\xi_i\rangle<0\}=S^{(0)}_{s,1,K+,Q-}\cup S^{(0)}_{s,-1,K-,Q+}",
    reading="all signs of <w_K, xi_i>, <w_Q, xi_i> and y_i, and the other three sets alike",
)
def sign_sets(lab: Laboratory) -> Verdict:
    """Enumeration of signs."""

    def right(case: tuple[int, int, int, int, int]) -> bool:
        k, q, y, K, Q = case  # signs of <w_K, xi>, <w_Q, xi>, label, and the wanted signs with y
        member = y * k == K and y * q == Q
        union = (y == 1 and k == K and q == Q) or (y == -1 and k == -K and q == -Q)
        return member == union

    return enumerate_all(product((1, -1), repeat=5), right, "sign patterns")
