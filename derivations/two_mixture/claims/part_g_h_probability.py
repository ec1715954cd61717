"""Appendices G and H: concentration of the start values."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import flint

from odesys import (
    Evidence,
    Verdict,
    always_positive,
    certified,
    combine_verdicts,
    graph,
    identity,
    refuted,
    sym,
    tails,
    undecided,
)

from .. import setting
from ..laboratory import Laboratory
from .book import book

WIDTHS = (1, 4, 16, 64, 128, 1024, 10**4)
PRECISIONS = (64, 256, 1024)  # bits: incomplete gamma functions of large order cancel
LEVELS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2))


def _failure(m: int, delta: Fraction, columns: int) -> flint.arb:
    """Ball above P(an entry of S(0) - I is larger than printed) over delta: exact norms, bounded products."""
    for bits in PRECISIONS:
        with flint.ctx.workprec(bits):
            level = (flint.arb(8) * delta.denominator / delta.numerator).log() / m
            t = 2 * level.sqrt() + 4 * level
            total = columns * tails.norm_outside(m, t) + comb(columns, 2) * tails.product_outside(m, t)
            ball = total * delta.denominator / delta.numerator
            if ball < 1 or ball > 1:
                break
    return ball


@book.claim(
    "G.1",
    "Start values concentrate",
    kind="probability",
    uses=["C.1", "H.2"],
    insensitive="a statement about Gaussian matrices of the paper's size, not about the system",
    statement=r"\Pr\Big[\exists ij:\ |S(0)/\omega^2-I|_{ij}>\sqrt{\tfrac4m\log\tfrac8\delta}+\tfrac4m\log\tfrac8\delta\Big]\le\delta",
    reading=f"m in {', '.join(map(str, WIDTHS))} and delta in {', '.join(map(str, LEVELS))}: the sum over all 36 entries of their failure "
    "probabilities (incomplete gamma functions for the 8 norms, the exponential moment for the 28 products) is "
    "below delta, in balls; other m and delta are claimed but not covered",
)
def start_concentrates(lab: Laboratory) -> Verdict:
    """Sum of tails in ball arithmetic, for one column for each word in each of the two maps."""
    columns = 2 * len(setting.words())
    bounds = {(m, delta): _failure(m, delta, columns) for m, delta in product(WIDTHS, LEVELS)}
    loose = [f"m={m}, delta={delta}" for (m, delta), ball in bounds.items() if not ball < 1]
    # a sum of tails above delta refutes nothing: the entries do not fail one at a time
    verdict = (
        undecided(f"the sum of the tails is not below delta at {loose}")
        if loose
        else certified(enumerated=f"{len(bounds)} pairs (m, delta)")
    )
    return verdict.with_constants(
        **{
            f"bound over delta at m={m}, delta={delta}": float(f"{float(bounds[m, delta].upper()):.3g}")
            for m in (128, 10**4)
            for delta in LEVELS
        }
    )


@book.claim(
    "H.1",
    "Bernstein's inequality, second form",
    kind="inequality",
    expect="fails",
    insensitive="a statement about numbers, not about the system",
    statement=r"\frac{t^2/2}{V+Mt/3}\ge\min\Big\{\frac{t^2}{2V},\frac{t}{2M}\Big\}",
    reading="the algebraic inequality behind the second printed tail, for all positive V, M, t; the corrected one follows from two "
    "factorised differences, since 3V >= Mt or Mt >= 3V",
)
def bernstein(lab: Laboratory) -> Verdict:
    """An exact counterexample; the corrected form follows from two factorised differences."""
    V, M, t = Fraction(1), Fraction(1), Fraction(1, 2)
    left, right = (t**2 / 2) / (V + M * t / 3), min(t**2 / (2 * V), t / (2 * M))
    printed = (
        certified()
        if left >= right
        else refuted({"V": "1", "M": "1", "t": "1/2", "left": str(left), "right": str(right)}, Evidence.PROOF)
    )
    v, m, s = sym("V"), sym("M"), sym("t")
    exponent = (s * s / 2) / (v + m * s / 3)
    # 3V >= Mt makes the first difference nonnegative, Mt >= 3V the second: one of them always holds
    fixed = identity(
        {
            "t^2/(4V)": exponent - s * s / (4 * v) - s * s * (3 * v - m * s) / (4 * v * (3 * v + m * s)),
            "3t/(4M)": exponent - 3 * s / (4 * m) - 3 * s * (m * s - 3 * v) / (4 * m * (3 * v + m * s)),
        },
        positive=("V", "M", "t"),
    )
    return printed.correcting(
        r"\ge\min\{\tfrac{t^2}{4V},\tfrac{3t}{4M}\}", fixed, "the denominator is at most twice its larger term"
    )


@book.claim(
    "H.2",
    "Concentration of norms and products",
    kind="probability",
    insensitive="a statement about numbers, not about the system",
    statement=r"\Pr\Big[\big|\tfrac1m\|x\|^2-1\big|>\sqrt{\tfrac4m\log\tfrac2\delta}+\tfrac4m\log\tfrac2\delta\Big]\le\delta,\ \text{same for}\ \tfrac1mx^\top y",
    reading="for every m and every delta: with s^2 = log(2/delta)/m and t = 2s + 4s^2 each of the two tails has an exponent E(t) >= s^2 (by its "
    "exponential moment at an explicit tilt), hence a probability of at most delta/2; E - s^2 vanishes at s = 0 and its "
    "derivative is positive for s > 0; a norm can not fall by t >= 1",
)
def norms_concentrate(lab: Laboratory) -> Verdict:
    """Three exponents against s^2: zero at the start, positive derivative; the tilts are those that are best for t."""
    s = sym("s")
    t = 2 * s + 4 * s * s
    gains = {
        "norm above": (tails.norm_above(t, t / (2 * (1 + t))) - s * s, graph.ONE),
        "norm below": (tails.norm_below(t, t / (2 * (1 - t))) - s * s, 1 - t),  # only asked for where 1 - t > 0
        "product": (tails.product_above(t, s / (1 + s)) - s * s, graph.ONE),
    }
    starts = identity({what: graph.substitute([gain], {s: graph.ZERO})[0] for what, (gain, _) in gains.items()})
    slopes = always_positive(
        {what: graph.gradient(gain, [s])[0] * factor for what, (gain, factor) in gains.items()}, positive=["s"]
    )
    return combine_verdicts({"at s = 0": starts, "derivatives": slopes})
