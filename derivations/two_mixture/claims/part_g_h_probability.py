"""Appendices G and H: concentration of the start values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys.claims import combine
from odesys.evidence import frequency_at_most, identity
from odesys.graph import sym
from odesys.verdicts import Evidence, Verdict, certified, refuted

from .. import setting
from ..laboratory import Laboratory
from .book import book


def _bound(m: int, delta: float, inside: float) -> float:
    level = np.log(inside / delta) / m
    return float(np.sqrt(4 * level) + 4 * level)


@book.claim("G.1", "Start values concentrate", kind="probability", uses=["C.1", "H.2"],
            apart="a statement about Gaussian matrices of the paper's size, not about the system",
            statement=r"\Pr\Big[\exists ij:\ |S(0)/\omega^2-I|_{ij}>\sqrt{\tfrac4m\log\tfrac8\delta}+\tfrac4m\log\tfrac8\delta\Big]\le\delta",
            reading="m = 128, delta in {1/10, 1/2}, 4000 networks each, seed 7: the exact 99.9 percent interval of the failure "
                    "probability of all 36 entries lies below delta; other m and delta are claimed but not sampled")
def start_concentrates(lab: Laboratory) -> Verdict:
    """Monte Carlo over Gram matrices of Gaussian columns, one for each word in each of the two maps."""
    rng, m, trials = np.random.default_rng(7), 128, 4000
    columns = 2 * len(setting.words())
    largest = np.empty(trials)
    for k in range(trials):
        z = rng.standard_normal((m, columns)) / np.sqrt(m)
        largest[k] = np.abs(z.T @ z - np.eye(columns)).max()
    parts = {f"delta={delta}": frequency_at_most(int((largest > _bound(m, delta, 8)).sum()), trials, delta, m=m, seed=7)
             for delta in (0.1, 0.5)}
    return combine(parts)


@book.claim("H.1", "Bernstein's inequality, second form", kind="inequality", expect="fails",
            apart="a statement about numbers, not about the system",
            statement=r"\frac{t^2/2}{V+Mt/3}\ge\min\Big\{\frac{t^2}{2V},\frac{t}{2M}\Big\}",
            reading="the algebraic inequality behind the second printed tail, for all positive V, M, t; the corrected one follows from two "
                    "factorised differences, since 3V >= Mt or Mt >= 3V")
def bernstein(lab: Laboratory) -> Verdict:
    """An exact counterexample; the corrected form follows from two factorised differences."""
    V, M, t = Fraction(1), Fraction(1), Fraction(1, 2)
    left, right = (t**2 / 2) / (V + M * t / 3), min(t**2 / (2 * V), t / (2 * M))
    printed = certified() if left >= right else refuted(
        {"V": "1", "M": "1", "t": "1/2", "left": str(left), "right": str(right)}, Evidence.PROOF)
    v, m, s = sym("V"), sym("M"), sym("t")
    exponent = (s * s / 2) / (v + m * s / 3)
    # 3V >= Mt makes the first difference nonnegative, Mt >= 3V the second: one of them always holds
    fixed = identity({
        "t^2/(4V)": exponent - s * s / (4 * v) - s * s * (3 * v - m * s) / (4 * v * (3 * v + m * s)),
        "3t/(4M)": exponent - 3 * s / (4 * m) - 3 * s * (m * s - 3 * v) / (4 * m * (3 * v + m * s)),
    }, positive=("V", "M", "t"))
    return printed.correcting(r"\ge\min\{\tfrac{t^2}{4V},\tfrac{3t}{4M}\}", fixed, "the denominator is at most twice its larger term")


@book.claim("H.2", "Concentration of norms and products", kind="probability",
            apart="a statement about numbers, not about the system",
            statement=r"\Pr\Big[\big|\tfrac1m\|x\|^2-1\big|>\sqrt{\tfrac4m\log\tfrac2\delta}+\tfrac4m\log\tfrac2\delta\Big]\le\delta,\ \text{same for}\ \tfrac1mx^\top y",
            reading="delta = 1/10, m in {1, 4, 64}, 20000 draws each, seed 3: exact 99.9 percent intervals below delta; other m "
                    "and delta are claimed but not sampled")
def norms_concentrate(lab: Laboratory) -> Verdict:
    """Monte Carlo for norms and products of Gaussian vectors."""
    rng, trials, delta = np.random.default_rng(3), 20_000, 0.1
    parts = {}
    for m in (1, 4, 64):
        x, y = rng.standard_normal((2, trials, m))
        for what, value in (("norm", (x * x).mean(axis=1) - 1), ("product", (x * y).mean(axis=1))):
            failures = int((np.abs(value) > _bound(m, delta, 2)).sum())
            parts[f"{what}, m={m}"] = frequency_at_most(failures, trials, delta, m=m, seed=3)
    return combine(parts)


