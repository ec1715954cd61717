"""Appendices F and G: number and direction of lucky neurons, spherical caps, and the extensions."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, gamma, pi, sqrt
from typing import Any

import flint
import numpy as np

from odesys import (
    Evidence,
    Node,
    Verdict,
    Witness,
    always_positive,
    as_ball,
    certified,
    decided,
    enumerate_all,
    equal,
    graph,
    refuted,
    sym,
    with_high_probability,
)

from ..laboratory import Laboratory
from .book import NUMBERS, PRINTED, claim


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

    printed = decided(
        not wrong,
        {"phi": "pi/2", "half of I": float(whole / 2), "ratio of integrals": float(whole)},
        Evidence.CERTIFICATE,
    )
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
    printed = decided(
        not far,
        {
            "mean angle": "pi/2" if right else "?",
            "mean angle of lucky ones": {str(k): round(float(v), 4) for k, v in lucky.items()},
        },
        Evidence.CERTIFICATE,
    )
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


@claim(
    "G.1",
    "Four classes",
    kind="identity",
    insensitive=PRINTED,
    origin="text",
    where="Appendix G.1, Eqs. (226)-(232)",
    parts=["signs"],
    hypotheses=(),
    statement=r"-\partial\mathrm{Loss}/\partial W_{O(i,\cdot)}\propto y^\top s/\sqrt m:\ \{\tfrac2{\sqrt m},0,-\tfrac2{\sqrt m},0\}\ \text{for }i\in\mathcal W_2,\ y\in\mathcal D_2,\mathcal D_1,\mathcal D_3,\mathcal D_4",
    reading="all pairs of a class and a group of neurons",
)
def four_classes(lab: Laboratory) -> Verdict:
    """All pairs.

    Y'F with F = sum_i s_i h_i / sqrt(m): the derivative by h_i for all 4 x 4 pairs of a class y and a neuron group
    s, and the printed row of s = (1, -1).
    """
    signs = [(s, t) for s in (1, -1) for t in (1, -1)]
    h = {s: sym(f"h_{k}") for k, s in enumerate(signs)}
    root = graph.sqrt(sym("m"))
    rows: dict[str, tuple[Node, Node]] = {}
    for y in signs:
        output = graph.add(y[c] * s[c] * h[s] / root for s in signs for c in range(2))
        slopes = graph.gradient(output, [h[s] for s in signs])
        rows |= {
            f"y {y}, s {s}": (slope, graph.num(y[0] * s[0] + y[1] * s[1]) / root)
            for s, slope in zip(signs, slopes, strict=True)
        }
        printed = {(1, -1): 2, (1, 1): 0, (-1, 1): -2, (-1, -1): 0}[y]
        rows[f"printed for y {y}"] = slopes[signs.index((1, -1))], graph.num(printed) / root
    return equal(rows)


@claim(
    "G.1-loss",
    "Loss of four classes",
    kind="existence",
    uses=["G.1"],
    insensitive=PRINTED,
    origin="ours",
    hypotheses=(),
    statement=r"\exists\,y,F:\ \max\{1-y^\top F,0\}=0\ \text{with}\ y_cF_c<0;\quad\textstyle\sum_c\max\{1-y_cF_c,0\}=0\Rightarrow y_cF_c\ge1",
    reading="the loss (223) on a grid of outputs: it can vanish while a coordinate has the wrong sign",
)
def loss_of_four_classes(lab: Laboratory) -> Verdict:
    """y = (1, 1), F = (-1, 2); with one hinge per coordinate all F in {-2, .., 2}^2 and all y are right."""
    grid = list(product(product((1, -1), repeat=2), product(range(-2, 3), repeat=2)))
    hidden = max(1 - (-1) - 2, 0) == 0

    def right(case: Any) -> bool:
        y, F = case
        return sum(max(1 - a * b, 0) for a, b in zip(y, F, strict=True)) > 0 or all(
            a * b > 0 for a, b in zip(y, F, strict=True)
        )

    return decided(hidden, {"y": "(1, 1)", "F": "(-1, 2)"}, Evidence.CERTIFICATE) & enumerate_all(
        grid, right, "pairs (y, F)"
    )


@claim(
    "G.2",
    "Sets of patterns",
    kind="inequality",
    uses=["Asm.3"],
    expect="fails",
    insensitive=NUMBERS,
    origin="text",
    where="Appendix G.2, Eq. (236)",
    parts=["separation"],
    hypotheses=(),
    fault="misprint",
    cause="minimum-for-maximum",
    statement=r"(236)\ \min_{j,b_1,b_2}\|x_l-x_s\|\le\Delta,\ 2\tau+\Delta<\kappa\ \Rightarrow\ \text{inner products separate}",
    reading="tau = 0, three patterns in the plane",
)
def sets_of_patterns(lab: Laboratory) -> Verdict:
    """Exact inner products, and the polarisation of the corrected form.

    Tau = 0, M_1 = {e_1, e_2}, M_2 = {(3/5, 4/5)} in the plane: with the printed minimum (l = s allowed, so Delta =
    0) the condition holds, and tokens of one set have a smaller inner product than tokens of different sets; with
    the maximum: |x - x'| <= Delta < kappa - 2 tau <= |x - x''| for unit tokens.
    """
    sets = [[(Fraction(1), Fraction(0)), (Fraction(0), Fraction(1))], [(Fraction(3, 5), Fraction(4, 5))]]

    def dot(x: Any, y: Any) -> Fraction:
        return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))

    same = min(dot(x, y) for group in sets for x in group for y in group)
    other = max(dot(x, y) for x in sets[0] for y in sets[1])
    least = min(2 - 2 * dot(x, y) for group in sets for x in group for y in group)  # squared, the printed minimum
    kappa = min(2 - 2 * dot(x, y) for x in sets[0] for y in sets[1])
    printed = (
        refuted(
            {"Delta^2": str(least), "kappa^2": str(kappa), "same set": str(same), "different sets": str(other)},
            Evidence.PROOF,
        )
        if least < kappa and same < other
        else certified()
    )
    Delta, gap = sym("Delta"), sym("gap")  # kappa - 2 tau = Delta + gap
    fixed = always_positive(
        {"same - different": (1 - Delta**2 / 2) - (1 - (Delta + gap) ** 2 / 2)}, positive=("Delta", "gap")
    )
    return printed.correcting(
        r"\max_{j,b_1,b_2}\|x_l-x_s\|\le\Delta,\quad2\tau+\Delta<\kappa",
        fixed,
        "a minimum over pairs says nothing about the other pairs",
    )


@claim(
    "G.3",
    "Several heads",
    kind="definition",
    insensitive=PRINTED,
    origin="text",
    where="Appendix G.3, Eq. (240)",
    hypotheses=(),
    statement=r"W_O\prod_h\sum_sW_{V_h}x_s\mathrm{softmax}=\sum_hW_{O_h}\sum_sW_{V_h}x_s\mathrm{softmax},\quad W_O=(W_{O_1},\dots,W_{O_H})",
    reading="the product sign read as concatenation; two heads, three neurons",
)
def several_heads(lab: Laboratory) -> Verdict:
    """A block product.

    The product sign read as concatenation: two heads, m_a = 2, three neurons; read as a product of entries the
    shapes m x 2 m_a and m_a do not fit.
    """
    blocks = [np.array([[sym(f"W{h}_{i}{j}") for j in range(2)] for i in range(3)], dtype=object) for h in range(2)]
    values = [np.array([sym(f"x{h}_{j}") for j in range(2)], dtype=object) for h in range(2)]
    left = np.concatenate(blocks, axis=1) @ np.concatenate(values)
    right = blocks[0] @ values[0] + blocks[1] @ values[1]
    return equal({f"neuron {i}": (x, y) for i, (x, y) in enumerate(zip(left, right, strict=True))})


@claim(
    "G.4",
    "Skip connection",
    kind="identity",
    uses=["Eq.28-29"],
    expect="fails",
    insensitive=PRINTED,
    origin="text",
    where="Appendix G.4, Eq. (243)",
    parts=["mixed value"],
    hypotheses=(),
    fault="misprint",
    cause="skip-connection",
    statement=r"(243)\ V_l=\sum_{s\in S_1}\mathrm{softmax}\,p_1+z+\sum_{j\ne1}W_j(x_j+x_l)-\dots",
    reading="at t = 0 without errors, a query of pattern 1",
)
def skip_connection(lab: Laboratory) -> Verdict:
    """Printed decomposition against the definition.

    At t = 0 without errors, (W_V + I) mu_j = p_j as in (242): V_l = sum_s A_s W_V x_s + x_l with A_1 + A_2 + A_3 =
    1 and symbols for p_j, mu_j (one coordinate); x_l = mu_1.
    """
    A2, A3 = sym("A2"), sym("A3")
    A = [1 - A2 - A3, A2, A3]
    pj, mu = [sym(f"p{j}") for j in range(3)], [sym(f"mu{j}") for j in range(3)]
    exact = graph.add(A[j] * (pj[j] - mu[j]) for j in range(3)) + mu[0]
    printed = equal({"V_l": (exact, A[0] * pj[0] + graph.add(A[j] * (mu[j] + mu[0]) for j in (1, 2)))})
    fixed = equal({"V_l": (exact, A[0] * pj[0] + graph.add(A[j] * (pj[j] - mu[j] + mu[0]) for j in (1, 2)))})
    sentence = "with A_1 = A_2 = 1/2, p_2 orthogonal to mu_2, the two sides differ by (p_2 - 2 mu_2)/2, which is not 0"
    return printed.witnessed(sentence, {}).correcting(
        r"V_l=A_1p_1+\sum_{j\ne1}A_j(p_j-\mu_j+\mu_1)",
        fixed,
        "W_V mu_j = p_j - mu_j, and x_l enters once, whatever the attention",
    )
