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
    always_positive,
    as_ball,
    certified,
    decided,
    enumerate_all,
    equal,
    frequency_at_most,
    graph,
    refuted,
    rounded,
    sym,
)

from ..laboratory import Laboratory
from .book import NUMBERS, PRINTED, book


@book.claim(
    "Lem.3",
    "Number of lucky neurons",
    kind="probability",
    uses=["Def.2"],
    insensitive=NUMBERS,
    statement=r"|\mathcal W_{l,n}(0)|,|\mathcal U_{l,n}(0)|\ge\Omega(m)",
    reading="for a fixed V != 0 the signs of w_i'V are fair coins, so |W| is Bin(m, 1/2), and Bin(m, 1/4) with the sign of a_i (Lem.4): constant 1/4 (1/8 with the sign); exact tails at most e^{-m/8} and e^{-m/32} for m = 1..400, "
    "as Hoeffding's 2 gap^2 has it for every m",
)
def number_of_lucky(lab: Laboratory) -> Verdict:
    """Exact binomial tails against the exponentials."""

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


@book.claim(
    "Eq.203-204",
    "Area of a cap",
    kind="identity",
    uses=["Lem.3"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\Pr=\tfrac12I_{\sin^2\phi}(\tfrac{m_a-1}2,\tfrac12)=\frac{\int_0^{\sin^2\phi}t^{(m_a-3)/2}(1-t)^{-1/2}dt}{\int_0^1t^{(m_a-3)/2}(1-t)^{-1/2}dt}",
    reading="second equality at phi = pi/2, m_a = 10; the first on the 2-sphere, where a cap is (1 - cos phi)/2, by balls at phi = 1/16, .., 24/16",
)
def area_of_cap(lab: Laboratory) -> Verdict:
    """The half sphere, and caps of the 2-sphere."""
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


@book.claim(
    "Eq.205-206",
    "Size of the cap",
    kind="inequality",
    uses=["Eq.203-204"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\phi\le\tfrac\pi2-\Theta(\tfrac1M):\ \text{ratio}\ge1-\frac{\Theta(2/M)}{2/(m_a-1)}\ge\Theta(1),\quad m_a=\Theta(M)",
    reading="phi = pi/2 - 1/M: the displayed bound is 1 - (m_a - 1) sin(1/M), in the paper's own setting M < m_a: m_a = M + 1 and M + 2, 2 M, for M = 3..200 (with sigma + tau = c/M and c m_a < M it would do, but the display has cos^2(1/M)); corrected 1 - sin(1/M) sqrt(2 m_a/pi) for the same M and m_a, and M^2/4",
)
def size_of_cap(lab: Laboratory) -> Verdict:
    """The displayed bound and the corrected one in balls."""

    def displayed(case: tuple[int, int]) -> Any:
        M, m_a = case
        with flint.ctx.workprec(96):
            return 1 - (m_a - 1) * as_ball(Fraction(1, M)).sin()

    cases = [(M, m_a) for M in range(3, 201) for m_a in (M + 1, M + 2, 2 * M)]
    negative = [case for case in cases if displayed(case) < 0]
    best = max(float(displayed((M, M + 1))) * M * M for M in range(3, 201))
    needed = {(M, m_a) for M, m_a in cases if m_a > M + 1}
    printed = (
        refuted(
            {
                "negative for all of": f"{len(negative)} pairs with m_a >= M + 2",
                "first": str(negative[0]),
                "at m_a = M + 1 at most": f"{best:.4g}/M^2",
            },
            Evidence.CERTIFICATE,
        )
        if set(negative) >= needed
        else certified()
    )

    def corrected(case: tuple[int, int]) -> bool:
        M, m_a = case
        with flint.ctx.workprec(160):
            angle = as_ball(Fraction(1, M))
            return bool(
                cap_ratio(m_a, flint.arb.pi() / 2 - angle)
                >= 1 - angle.sin() * (2 * as_ball(Fraction(m_a)) / flint.arb.pi()).sqrt()
            )

    fixed = enumerate_all([*cases, *((M, M * M // 4) for M in range(5, 60))], corrected, "pairs (M, m_a)")
    return printed.correcting(
        r"\text{ratio}\ge1-\sin(\tfrac1M)\sqrt{2m_a/\pi}",
        fixed,
        "the Beta density near 1 is of order sqrt(m_a), not m_a; and Pr(lucky) = 1/2 needs no cap",
    )


@book.claim(
    "Eq.210-218",
    "Angles of lucky neurons",
    kind="identity",
    uses=["Lem.3"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\mathbb E[\theta_{l,n}^i]=0,\quad\tfrac1{|\mathcal W|}\sum_{i\in\mathcal W}\theta^i\le\sqrt{\log N/m}\ (212)",
    reading="angle between a uniform direction and V in m_a = 3, 5, 10, 20 dimensions, density sin^{m_a - 2}: ball integrals of all angles (pi/2) and of the lucky ones (still far from 0); corrected by E|cos theta| = Gamma(m_a/2)/(sqrt(pi) Gamma((m_a+1)/2))",
)
def angles(lab: Laboratory) -> Verdict:
    """Integrals over the angle in balls."""
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
        mean_cosine={str(k): round(float(v), 6) for k, v in exact.items()},
    )
    return printed.correcting(
        r"\mathbb E\theta=\tfrac\pi2,\quad\mathbb E[\hat w\mid\hat w'\hat V>0]=\frac{\Gamma(m_a/2)}{\sqrt\pi\,\Gamma((m_a+1)/2)}\hat V",
        fixed,
        "a random direction is nearly orthogonal to V, not parallel",
    )


@book.claim(
    "Eq.214",
    "Lucky neurons agree with their sum",
    kind="probability",
    uses=["Eq.210-218"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"W_{O(i,\cdot)}\sum_{k\in\mathcal W}W_{O(k,\cdot)}^\top>0\quad\text{for all }i\in\mathcal W",
    reading="m = 1000, m_a = 10, 300 draws, seed 21: the event that all lucky i satisfy it must have probability at least 1/2 (the paper has 1 - N^{-10}); corrected: true for those with cos(w_i, V) >= 4/(kappa sqrt(|W|)), kappa = E cos: failing in at most 3 percent of the draws",
)
def agree_with_sum(lab: Laboratory) -> Verdict:
    """Monte Carlo of starts."""
    rng, m, m_a, draws = np.random.default_rng(21), 1000, 10, 300
    kappa = gamma(m_a / 2) / (sqrt(pi) * gamma((m_a + 1) / 2))
    some, clear, share = 0, 0, []
    for _ in range(draws):
        w = rng.standard_normal((m, m_a))
        w = w[w[:, 0] > 0]  # V along the first axis
        product_ = w @ w.sum(axis=0)
        cosine = w[:, 0] / np.linalg.norm(w, axis=1)
        share.append(float((product_ > 0).mean()))
        some += int((product_ <= 0).any())
        clear += int((product_[cosine >= 4 / (kappa * np.sqrt(len(w)))] <= 0).any())
    fixed = frequency_at_most(clear, draws, 0.03, seed=21)
    return frequency_at_most(some, draws, 0.5, seed=21, share_of_lucky_neurons=rounded(np.mean(share))).correcting(
        r"w_i'\textstyle\sum_{k\in\mathcal W}w_k>0\ \text{if }\cos(w_i,V)\ge\frac4{\kappa\sqrt{|\mathcal W|}}",
        fixed,
        "the sum points along V up to directions of relative size 1/sqrt(|W|); neurons nearly orthogonal to V can disagree",
    )


@book.claim(
    "G.1",
    "Four classes",
    kind="identity",
    insensitive=PRINTED,
    statement=r"-\partial\mathrm{Loss}/\partial W_{O(i,\cdot)}\propto y^\top s/\sqrt m:\ \{\tfrac2{\sqrt m},0,-\tfrac2{\sqrt m},0\}\ \text{for }i\in\mathcal W_2,\ y\in\mathcal D_2,\mathcal D_1,\mathcal D_3,\mathcal D_4",
    reading="y'F with F = sum_i s_i h_i / sqrt(m): the derivative by h_i for all 4 x 4 pairs of a class y and a neuron group s, and the printed row of s = (1, -1)",
)
def four_classes(lab: Laboratory) -> Verdict:
    """All pairs."""
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


@book.claim(
    "G.1-loss",
    "Loss of four classes",
    kind="inequality",
    uses=["G.1"],
    expect="fails",
    insensitive=PRINTED,
    statement=r"\mathrm{Loss}=\max\{1-y^\top F,0\}=0\ \Rightarrow\ \text{the class is right}",
    reading="all F in {-2, .., 2}^2 and all y: zero loss with a coordinate of the wrong sign; corrected sum_c max{1 - y_c F_c, 0} on the same grid, and in general since each summand vanishes",
)
def loss_of_four_classes(lab: Laboratory) -> Verdict:
    """Exhaustive over a grid of outputs."""
    grid = list(product(product((1, -1), repeat=2), product(range(-2, 3), repeat=2)))

    def right(case: Any, loss: Any) -> bool:
        y, F = case
        return loss(y, F) > 0 or all(a * b > 0 for a, b in zip(y, F, strict=True))

    printed = enumerate_all(
        grid, lambda case: right(case, lambda y, F: max(1 - y[0] * F[0] - y[1] * F[1], 0)), "pairs (y, F)"
    )
    fixed = enumerate_all(
        grid,
        lambda case: right(case, lambda y, F: sum(max(1 - a * b, 0) for a, b in zip(y, F, strict=True))),
        "pairs (y, F)",
    )
    return printed.correcting(r"\sum_c\max\{1-y_cF_c,0\}", fixed, "a large right coordinate hides a wrong one")


@book.claim(
    "G.2",
    "Sets of patterns",
    kind="inequality",
    uses=["Asm.3"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"(236)\ \min_{j,b_1,b_2}\|x_l-x_s\|\le\Delta,\ 2\tau+\Delta<\kappa\ \Rightarrow\ \text{inner products separate}",
    reading="tau = 0, M_1 = {e_1, e_2}, M_2 = {(3/5, 4/5)} in the plane: with the printed minimum (l = s allowed, so Delta = 0) the condition holds, and tokens of one set have a smaller inner product than tokens of different sets; with the maximum: "
    "|x - x'| <= Delta < kappa - 2 tau <= |x - x''| for unit tokens",
)
def sets_of_patterns(lab: Laboratory) -> Verdict:
    """Exact inner products, and the polarisation of the corrected form."""
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


@book.claim(
    "G.3",
    "Several heads",
    kind="definition",
    insensitive=PRINTED,
    statement=r"W_O\prod_h\sum_sW_{V_h}x_s\mathrm{softmax}=\sum_hW_{O_h}\sum_sW_{V_h}x_s\mathrm{softmax},\quad W_O=(W_{O_1},\dots,W_{O_H})",
    reading="the product sign read as concatenation: two heads, m_a = 2, three neurons; read as a product of entries the shapes m x 2 m_a and m_a do not fit",
)
def several_heads(lab: Laboratory) -> Verdict:
    """A block product."""
    blocks = [np.array([[sym(f"W{h}_{i}{j}") for j in range(2)] for i in range(3)], dtype=object) for h in range(2)]
    values = [np.array([sym(f"x{h}_{j}") for j in range(2)], dtype=object) for h in range(2)]
    left = np.concatenate(blocks, axis=1) @ np.concatenate(values)
    right = blocks[0] @ values[0] + blocks[1] @ values[1]
    return equal({f"neuron {i}": (x, y) for i, (x, y) in enumerate(zip(left, right, strict=True))})


@book.claim(
    "G.4",
    "Skip connection",
    kind="identity",
    uses=["Eq.28-29"],
    expect="fails",
    insensitive=PRINTED,
    statement=r"(243)\ V_l=\sum_{s\in S_1}\mathrm{softmax}\,p_1+z+\sum_{j\ne1}W_j(x_j+x_l)-\dots",
    reading="at t = 0 without errors, (W_V + I) mu_j = p_j as in (242): V_l = sum_s A_s W_V x_s + x_l with A_1 + A_2 + A_3 = 1 and symbols for p_j, mu_j (one coordinate); x_l = mu_1",
)
def skip_connection(lab: Laboratory) -> Verdict:
    """Printed decomposition against the definition."""
    A2, A3 = sym("A2"), sym("A3")
    A = [1 - A2 - A3, A2, A3]
    pj, mu = [sym(f"p{j}") for j in range(3)], [sym(f"mu{j}") for j in range(3)]
    exact = graph.add(A[j] * (pj[j] - mu[j]) for j in range(3)) + mu[0]
    printed = equal({"V_l": (exact, A[0] * pj[0] + graph.add(A[j] * (mu[j] + mu[0]) for j in (1, 2)))})
    fixed = equal({"V_l": (exact, A[0] * pj[0] + graph.add(A[j] * (pj[j] - mu[j] + mu[0]) for j in (1, 2)))})
    return printed.correcting(
        r"V_l=A_1p_1+\sum_{j\ne1}A_j(p_j-\mu_j+\mu_1)",
        fixed,
        "W_V mu_j = p_j - mu_j, and x_l enters once, whatever the attention",
    )
