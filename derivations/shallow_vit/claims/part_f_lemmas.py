"""Appendix F: number and direction of lucky neurons, spherical caps."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, gamma, pi, sqrt
from typing import Any

import flint
import numpy as np

from odesys import (
    Evidence,
    Verdict,
    Witness,
    always_positive,
    as_ball,
    decided,
    enumerate_all,
    sym,
    with_high_probability,
)

from ..laboratory import Laboratory
from .book import NUMBERS, claim


@claim(
    "Lem.3",
    "Number of lucky neurons",
    kind="probability",
    uses=["Def.2"],
    insensitive=NUMBERS,
    where="Lemma 3",
    parts=["number"],
    hypotheses=(),
    statement=r"|\mathcal W_{l,n}(0)|,|\mathcal U_{l,n}(0)|\ge\Omega(m)",
    reading="a fixed query: constant 1/4, exact tails up to m = 400 and Hoeffding beyond",
)
def number_of_lucky(lab: Laboratory) -> Verdict:
    """Exact binomial tails against the exponentials.

    For a fixed V != 0 the signs of w_i'V are fair coins, so |W| is Bin(m, 1/2), and Bin(m, 1/4) with the sign of
    a_i (Lem.4): constant 1/4 (1/8 with the sign); exact tails at most e^{-m/8} and e^{-m/32} for m = 1..400, as
    Hoeffding's 2 gap^2 has it for every m.
    """

    def small(case: tuple[int, int]) -> bool:
        m, parts = case  # success probability 1/parts; the tail at half of the mean
        weight = sum(comb(m, k) * (parts - 1) ** (m - k) for k in range(m // (2 * parts) + 1))
        with flint.ctx.workprec(96):
            return bool(as_ball(Fraction(weight, parts**m)) <= (-as_ball(Fraction(2 * m, (2 * parts) ** 2))).exp())

    return enumerate_all(
        [(m, parts) for m in range(1, 401) for parts in (2, 4)], small, "pairs (m, 1/p)"
    ).with_constants(Omega="1/4 (failure e^{-m/8})", with_the_sign_of_a="1/8 (failure e^{-m/32})")


def cap_ratio(m_a: int, phi: Any) -> Any:
    """I_{sin^2 phi}((m_a - 1)/2, 1/2) as a ball."""
    return (phi.sin() ** 2).beta_lower(as_ball(Fraction(m_a - 1, 2)), as_ball(Fraction(1, 2)), regularized=True)


@claim(
    "Eq.203-204",
    "Area of a cap",
    kind="identity",
    uses=["Lem.3"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma 3, Eq. (204)",
    parts=["area"],
    hypotheses=(),
    fault="misprint",
    cause="factor-one-half",
    statement=r"\Pr=\tfrac12I_{\sin^2\phi}(\tfrac{m_a-1}2,\tfrac12)=\frac{\int_0^{\sin^2\phi}t^{(m_a-3)/2}(1-t)^{-1/2}dt}{\int_0^1t^{(m_a-3)/2}(1-t)^{-1/2}dt}",
    reading="second equality at phi = pi/2, m_a = 10",
)
def area_of_cap(lab: Laboratory) -> Verdict:
    """The half sphere, and caps of the 2-sphere.

    Second equality at phi = pi/2, m_a = 10; the first on the 2-sphere, where a cap is (1 - cos phi)/2, by balls at
    phi = 1/16, .., 24/16.
    """
    with flint.ctx.workprec(96):
        whole = flint.arb(1).beta_lower(
            as_ball(Fraction(9, 2)), as_ball(Fraction(1, 2)), regularized=True
        )  # sin^2 phi = 1
        wrong = bool(abs(whole / 2 - whole) > as_ball(Fraction(1, 4)))

    def sphere(k: int) -> bool:
        with flint.ctx.workprec(96):
            phi = as_ball(Fraction(k, 16))
            return bool(abs(cap_ratio(3, phi) / 2 - (1 - phi.cos()) / 2) < 1e-20)

    sentence = f"at phi = pi/2 and m_a = 10, a half sphere, half of I is {float(whole / 2):g}, which is its share, and the ratio of integrals is {float(whole):g}"
    printed = decided(not wrong, Witness(sentence, {}), Evidence.CERTIFICATE)
    return printed.correcting(
        r"\Pr=\tfrac12I_{\sin^2\phi}=\tfrac12\cdot\text{ratio of integrals}",
        enumerate_all(range(1, 25), sphere, "caps of the 2-sphere"),
        "the factor 1/2 is dropped",
    )


@claim(
    "Eq.205-206",
    "Size of the cap",
    kind="inequality",
    uses=["Eq.203-204"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma 3, Eqs. (205), (206)",
    parts=["first step", "last steps"],
    hypotheses=(),
    statement=r"\phi\le\tfrac\pi2-\sigma-\tau=\tfrac\pi2-\Theta(\tfrac1M):\ \text{ratio at }\phi\ge\text{ratio at }\tfrac\pi2-\tfrac1M\ge1-\frac{\Theta(2/M)}{2/(m_a-1)}\ge\Theta(1),\quad m_a=\Theta(M)",
    reading="first step as printed, for all phi of (205); last steps for sigma + tau = c/M with c m_a at most M/2, for every M",
)
def size_of_cap(lab: Laboratory) -> dict[str, Verdict]:
    """A small cap against the right side, in balls; then 1 - (m_a - 1) sin(c/M) is at least 1/2, since sin x <= x.

    With the literal c = 1 and m_a > M + 1 the last bound would be negative.
    """
    c, M, more = sym("c"), sym("M"), sym("more")  # m_a = M/(2 c) - more, at most M/(2 c)
    bound = 1 - (M / (2 * c) - more - 1) * (c / M) - Fraction(1, 2)
    last = always_positive({"bound - 1/2": bound}, positive=("c", "M"), nonnegative=("more",)).proving(
        "sin(c/M) <= c/M, and m_a <= M/(2 c)"
    )
    with flint.ctx.workprec(96):
        small = cap_ratio(10, as_ball(Fraction(1, 2)))
        right = cap_ratio(10, flint.arb.pi() / 2 - as_ball(Fraction(1, 5)))
        fails = bool(small < right)
    sentence = f"at phi = 1/2, m_a = 10, M = 5, which (205) allows, the left side is {float(small):.4f} and the right side {float(right):.4f}"
    steps = [Fraction(k, 16) for k in range(1, 25)]

    def larger(case: tuple[int, Fraction]) -> bool:
        with flint.ctx.workprec(96):
            m_a, phi = case
            return bool(cap_ratio(m_a, as_ball(phi)) < cap_ratio(m_a, as_ball(phi + Fraction(1, 16))))

    grows = enumerate_all(
        list(product(range(4, 21), steps)), larger, "pairs (m_a, phi), ratio at phi below that at phi + 1/16"
    ).proving(
        "the integrand t^((m_a - 3)/2) (1 - t)^(-1/2) is positive, so the ratio grows with phi up to pi/2 for every m_a"
    )
    return {
        "first step": decided(not fails, Witness(sentence, {}), Evidence.CERTIFICATE)
        .correcting(
            r"\phi\ge\tfrac\pi2-\Theta(\tfrac1M)",
            grows,
            "the ratio grows with phi; lucky neurons fill a half sphere, phi = pi/2",
        )
        .blaming("misprint", "reversed-angle"),
        "last steps": last,
    }


@claim(
    "Eq.210-218",
    "Angles of lucky neurons",
    kind="identity",
    uses=["Lem.3"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma 4, Eq. (212)",
    parts=["mean angle"],
    hypotheses=(),
    fault="proof",
    cause="angle-to-V",
    statement=r"\mathbb E[\theta_{l,n}^i]=0,\quad\tfrac1{|\mathcal W|}\sum_{i\in\mathcal W}\theta^i\le\sqrt{\log N/m}\ (212)",
    reading="angles between a random direction and a fixed one in 3, 5, 10 and 20 dimensions",
)
def angles(lab: Laboratory) -> Verdict:
    """Integrals over the angle in balls.

    Angle between a uniform direction and V in m_a = 3, 5, 10, 20 dimensions, density sin^{m_a - 2}: ball integrals
    of all angles (pi/2) and of the lucky ones (still far from 0); corrected by E|cos theta| =
    Gamma(m_a/2)/(sqrt(pi) Gamma((m_a+1)/2)).
    """
    with flint.ctx.workprec(96):
        whole, half = flint.acb.pi(), flint.acb.pi() / 2

        def mean(f: Any, m_a: int, end: Any) -> Any:
            return (
                flint.acb.integral(lambda z, _: f(z) * z.sin() ** (m_a - 2), 0, end)
                / flint.acb.integral(lambda z, _: z.sin() ** (m_a - 2), 0, end)
            ).real

        every = {m_a: mean(lambda z: z, m_a, whole) for m_a in (3, 5, 10, 20)}
        lucky = {m_a: mean(lambda z: z, m_a, half) for m_a in every}
        cosine = {m_a: mean(lambda z: z.cos(), m_a, half) for m_a in every}
        right = all(bool(abs(x - flint.arb.pi() / 2) < 1e-15) for x in every.values())
        exact = {
            m_a: (as_ball(Fraction(m_a, 2)).gamma() / (flint.arb.pi().sqrt() * as_ball(Fraction(m_a + 1, 2)).gamma()))
            for m_a in every
        }
        close = all(bool(abs(cosine[m_a] - exact[m_a]) < 1e-15) for m_a in every)
        far = all(bool(x > as_ball(Fraction(1, 2))) for x in (*every.values(), *lucky.values()))
    shown = ", ".join(f"{float(x):.4g} for m_a = {m_a}" for m_a, x in lucky.items())
    sentence = (
        "the mean angle between a random direction and V is pi/2 in every number of dimensions, where (212) has 0; over lucky neurons it is "
        f"{shown}, while the right side of (212) is small for large m"
    )
    printed = decided(not (far and right), Witness(sentence, {}), Evidence.CERTIFICATE)
    fixed = decided(
        right and close,
        {"cosine": str(cosine)},
        Evidence.CERTIFICATE,
        mean_cosine=", ".join(f"m_a = {k}: {float(v):.4f}" for k, v in exact.items()),
    )
    return printed.correcting(
        r"\mathbb E\theta=\tfrac\pi2,\quad\mathbb E[\hat w\mid\hat w'\hat V>0]=\frac{\Gamma(m_a/2)}{\sqrt\pi\,\Gamma((m_a+1)/2)}\hat V",
        fixed,
        "a random direction is nearly orthogonal to V, not parallel; with signed deviations for angles (212) would say that the mean direction of lucky "
        "neurons is near that of V, which the corrected form has",
    )


@claim(
    "Eq.214",
    "Lucky neurons agree with their sum",
    kind="probability",
    uses=["Eq.210-218"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Lemma 4, Eq. (214)",
    parts=["all lucky neurons"],
    hypotheses=(),
    fault="proof",
    cause="angle-to-V",
    statement=r"W_{O(i,\cdot)}\sum_{k\in\mathcal W}W_{O(k,\cdot)}^\top>0\quad\text{for all }i\in\mathcal W",
    reading="m = 1000 neurons in 10 dimensions at the start: all lucky ones at once",
)
def agree_with_sum(lab: Laboratory) -> Verdict:
    """The share of starts with all of them; corrected for those with cos(w_i, V) >= 4/(kappa sqrt(|W|)), kappa = E cos."""
    m, m_a = 1000, 10
    kappa = gamma(m_a / 2) / (sqrt(pi) * gamma((m_a + 1) / 2))

    def agree(seed: int, clear: bool) -> bool:
        w = np.random.default_rng([seed, 21]).standard_normal((m, m_a))
        w = w[w[:, 0] > 0]  # V along the first axis
        cosine = w[:, 0] / np.linalg.norm(w, axis=1)
        chosen = w[cosine >= 4 / (kappa * np.sqrt(len(w)))] if clear else w
        return bool((chosen @ w.sum(axis=0) > 0).all())

    here = {"m": m, "m_a": m_a}
    what = "all lucky neurons agree with their sum"
    every = with_high_probability(what, here, lambda seeds: [agree(s, False) for s in seeds], lab.draw)
    clear = with_high_probability(what, here, lambda seeds: [agree(s, True) for s in seeds], lab.draw)
    return every.correcting(
        r"w_i'\textstyle\sum_{k\in\mathcal W}w_k>0\ \text{if }\cos(w_i,V)\ge\frac4{\kappa\sqrt{|\mathcal W|}}",
        clear,
        "the sum points along V up to directions of relative size 1/sqrt(|W|); neurons nearly orthogonal to V can disagree",
    )
