"""Appendices G and H: softmax calculus and concentration."""

from __future__ import annotations

from fractions import Fraction

import flint
import numpy as np

from odesys import (
    Evidence,
    Node,
    Verdict,
    as_ball,
    certified,
    combine_verdicts,
    enumerate_all,
    frequency_at_most,
    graph,
    identity,
    refuted,
    sym,
)

from ..laboratory import Laboratory
from .book import NUMBERS, book

SIZE = 4


def _softmax(shift: bool = False) -> tuple[list[Node], list[Node], list[Node]]:
    """Scores s_i (+ t e_i), directions e_i, and softmax weights."""
    s, e = [sym(f"s{i}") for i in range(SIZE)], [sym(f"e{i}") for i in range(SIZE)]
    weights = [graph.exp(a + sym("t") * b) if shift else graph.exp(a) for a, b in zip(s, e, strict=True)]
    total = graph.add(weights)
    return s, e, [w / total for w in weights]


@book.claim(
    "G.1",
    "Softmax Jacobian, Eq. (17)",
    kind="identity",
    insensitive=NUMBERS,
    statement=r"\partial_{s}\,\mathrm{Softmax}(s)=\mathrm{diag}(p)-pp^\top",
    reading="all 16 entries in dimension 4; the chain rule of Lemma G.1 is this Jacobian times ds/dt",
)
def softmax_jacobian(lab: Laboratory) -> Verdict:
    """Scalar derivatives of the four weights."""
    s, _, p = _softmax()
    residuals = {}
    for i in range(SIZE):
        for j, slope in enumerate(graph.gradient(p[i], s)):
            residuals[f"{i}{j}"] = slope - (p[i] if i == j else graph.ZERO) + p[i] * p[j]
    return identity(residuals)


@book.claim(
    "G.2",
    "First-order expansion of softmax",
    kind="inequality",
    uses=["G.1"],
    insensitive=NUMBERS,
    statement=r"p(s+\epsilon)-p(s)=J\epsilon+\zeta,\quad\|\zeta\|_\infty=O(\|\epsilon\|_2^2)",
    reading="dimension 4, constant 1: along s + t e the second derivative of p_i is p_i ((e_i - E e)^2 - Var e) (identity), a difference of two numbers in "
    "[0, (max e - min e)^2], so |zeta| <= (max e - min e)^2 / 2 <= |e|^2, since 2a^2 + 2b^2 - (a-b)^2 = (a+b)^2 (identity)",
)
def softmax_expansion(lab: Laboratory) -> Verdict:
    """The second derivative in closed form, and the last step; the remainder is Taylor's with this bound."""
    _, e, p = _softmax(shift=True)
    t = sym("t")
    mean = graph.add([w * x for w, x in zip(p, e, strict=True)])
    variance = graph.add([w * (x - mean) ** 2 for w, x in zip(p, e, strict=True)])
    residuals = {}
    for i in range(SIZE):
        second = graph.gradient(graph.gradient(p[i], [t])[0], [t])[0]
        residuals[f"second derivative {i}"] = second - p[i] * ((e[i] - mean) ** 2 - variance)
    a, b = sym("a"), sym("b")
    residuals["square"] = 2 * a**2 + 2 * b**2 - (a - b) ** 2 - (a + b) ** 2
    return identity(residuals).with_constants(C=1)


@book.claim(
    "H.1",
    "Bernstein's inequality, second form",
    kind="inequality",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\exp\Big(-\tfrac{t^2/2}{V+Mt/3}\Big)\le\exp\Big(-\min\{\tfrac{t^2}{2V},\tfrac t{2M}\}\Big)",
    reading="the algebraic inequality between the two printed tails, for all positive V, M, t; corrected by two factorised differences, since "
    "3V >= Mt or Mt >= 3V; the printed quantile bound sqrt(2 V u) + 2 M u follows from the first tail (identity in s^2 = 2 V u)",
)
def bernstein(lab: Laboratory) -> Verdict:
    """A counterexample in rational numbers, the corrected form, and the quantile."""
    V, M, t = Fraction(1), Fraction(1), Fraction(1, 2)
    left, right = (t**2 / 2) / (V + M * t / 3), min(t**2 / (2 * V), t / (2 * M))
    printed = (
        certified()
        if left >= right
        else refuted({"V": "1", "M": "1", "t": "1/2", "exponents": f"{left} against {right}"}, Evidence.PROOF)
    )
    v, m, x, u, s = (sym(name) for name in ("V", "M", "t", "u", "s"))
    exponent = (x * x / 2) / (v + m * x / 3)
    quantile = s + 2 * m * u  # s^2 = 2 V u
    slack = quantile**2 / 2 - u * (s**2 / (2 * u) + m * quantile / 3)
    fixed = identity(
        {
            "t^2/(4V)": exponent - x * x / (4 * v) - x * x * (3 * v - m * x) / (4 * v * (3 * v + m * x)),
            "3t/(4M)": exponent - 3 * x / (4 * m) - 3 * x * (m * x - 3 * v) / (4 * m * (3 * v + m * x)),
            "quantile": slack - Fraction(4, 3) * m**2 * u**2 - Fraction(5, 3) * m * u * s,
        },
        positive=("V", "M", "t", "u", "s"),
    )
    return printed.correcting(
        r"\le\exp(-\min\{\tfrac{t^2}{4V},\tfrac{3t}{4M}\})", fixed, "the denominator is at most twice its larger term"
    )


@book.claim(
    "H.2",
    "Norms and products of Gaussian vectors",
    kind="probability",
    uses=["H.1"],
    insensitive=NUMBERS,
    statement=r"w_1,w_2\sim N(0,\tfrac1mI):\ \Pr[|\|w_1\|^2-1|\ge\Delta(\log\tfrac2\delta)]\le\delta,\ \Pr[|\langle w_1,w_2\rangle|\ge\Delta(\log\tfrac2\delta)]\le\delta",
    reading="norms: exact chi-square tails by ball arithmetic for m in 1, 2, 4, 8, ..., 512 and delta in 1/2, 1/10, 1/100, 1/1000; products: delta = 1/10, "
    "m in 1, 4, 64, 20000 draws each, seed 5; the sub-gamma parameters quoted in the proof do not give the radius",
)
def norms_products(lab: Laboratory) -> Verdict:
    """Incomplete gamma functions in balls, and Monte Carlo for the products."""

    def tail(case: tuple[int, Fraction]) -> bool:
        m, delta = case
        with flint.ctx.workprec(192):
            level = 4 * as_ball(2 / delta).log() / m
            away = level.sqrt() + level
            half = flint.arb(m) / 2
            total = (half * (1 + away)).gamma_upper(half, regularized=1)
            if not away > 1:
                total += 1 - (half * (1 - away)).gamma_upper(half, regularized=1)
            return bool(total <= as_ball(delta))

    cases = [
        (2**k, delta)
        for k in range(10)
        for delta in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100), Fraction(1, 1000))
    ]
    parts = {"norms": enumerate_all(cases, tail, "pairs (m, delta)")}
    rng, trials, delta = np.random.default_rng(5), 20_000, 0.1
    for m in (1, 4, 64):
        x, y = rng.standard_normal((2, trials, m))
        level = 4 * np.log(2 / delta) / m
        bad = np.abs((x * y).mean(axis=1)) > np.sqrt(level) + level
        parts[f"products, m={m}"] = frequency_at_most(int(bad.sum()), trials, delta, m=m, seed=5)
    return combine_verdicts(parts)
