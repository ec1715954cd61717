"""Appendix F, the exact part: ratios of class sums, Equations (12)-(16), and the quadratic for R."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import sympy as sp

from odesys import Hypothesis, Node, Verdict, decided, graph, identity, sym

from ..laboratory import Laboratory
from ..special.trajectories import class_sums
from .book import NUMBERS, book

S1, S2, S3, S4 = (sym(f"S{c}") for c in (1, 2, 3, 4))
POSITIVE = ("S1", "S2", "S3", "S4")


ORDERED = Hypothesis(
    "order of the class sums",
    r"S_4\le\min(S_2,S_3)\le\max(S_2,S_3)\le S_1\le S_2+S_3+S_4",
    lambda p: min(
        p["S2"] - p["S4"],
        p["S3"] - p["S4"],
        p["S1"] - p["S2"],
        p["S1"] - p["S3"],
        p["S2"] + p["S3"] + p["S4"] - p["S1"],
    ),
)
BALANCED = Hypothesis(
    "balance of I_2 and I_3", r"\tfrac12\le S_2/S_3\le2", lambda p: min(2 * p["S3"] - p["S2"], 2 * p["S2"] - p["S3"])
)


@book.claim(
    "Eq.12",
    "When the ratio of one-target sums falls",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.5, Equation (12)",
    parts=("Eq. (12)",),
    hypotheses=(),
    for_all=("n",),
    insensitive=NUMBERS,
    statement=r"\partial_t\tfrac{S_2}{S_3}\le0\iff\tfrac1{S_3}\sum_{I_3}g_i(1-g_i)\partial_t(y_iF_i)\le\tfrac1{S_2}\sum_{I_2}g_i(1-g_i)\partial_t(y_iF_i)",
    reading="S_3 is positive; g' = -g(1 - g), and the class sums are any numbers.",
)
def ratio_falls(lab: Laboratory) -> Verdict:
    """The derivative of the quotient as a multiple of the difference; class sums of g(1 - g) dyF/dt are symbols."""
    T2, T3 = sym("T2"), sym("T3")  # dS_c/dt = -T_c, since g' = -g(1 - g)
    rate = (-T2 * S3 + S2 * T3) / S3**2
    u = sym("u")
    logistic = graph.call("sigmoid", -u)
    return identity(
        {
            "ratio": rate - S2 / S3 * (T3 / S3 - T2 / S2),
            "slope": graph.gradient(logistic, [u])[0] + logistic * (1 - logistic),
        },
        positive=("S2", "S3"),
    ).proving("the quotient rule, with g' = -g(1 - g) of the logistic function", n="every")


@book.claim(
    "Eq.13",
    "R and the class sums",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.6, Equation (13)",
    parts=("Eq. (13)",),
    hypotheses=(),
    insensitive=NUMBERS,
    statement=r"(1+R)\big(S_1-S_2\big)=S_3+S_4",
    reading="With R as defined just before it.",
)
def ratio_relation(lab: Laboratory) -> Verdict:
    """Put the definition in."""
    R = (S2 + S3 + S4 - S1) / (S1 - S2)
    return identity({"R": (1 + R) * (S1 - S2) - S3 - S4})


MIDDLE = Hypothesis(
    "R in [1, 3]",
    r"1\le R\le3",
    lambda p: min(
        p["S2"] + p["S3"] + p["S4"] - p["S1"] - (p["S1"] - p["S2"]),
        3 * (p["S1"] - p["S2"]) - (p["S2"] + p["S3"] + p["S4"] - p["S1"]),
    ),
)


NEARLY = Fraction(1, 10)
CLOSE = Hypothesis(
    "epsilon is small",
    r"\Big|\tfrac{S_1-S_3}{S_1-S_2}-1\Big|\le\tfrac1{10}",
    lambda p: (p["S1"] - p["S2"]) / 10 - abs(p["S2"] - p["S3"]),
)


@book.claim(
    "Eq.14",
    "Balancing inside its proof",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma F.6, Equation (14)",
    parts=("common word", "mu1"),
    hypotheses=(ORDERED, BALANCED, MIDDLE),
    uses=["F.1", "F.5", "Eq.13"],
    insensitive=NUMBERS,
    statement=r"\tfrac{\sum_{[n]}g_i}{S_2+S_3+S_4-S_1}=O(1),\quad\tfrac{\sum_{[n]}g_i}{S_1-S_2}=O(1)",
    reading="Where R lies in [1, 3], as the proof says, with the order and balance of Definition F.1; the constant is 22.",
)
def balancing_display(lab: Laboratory) -> dict[str, Verdict]:
    """S_1 - S_2 = (S_3 + S_4)/(1 + R), so that 22 times either difference less the sum has no negative term."""
    s3, s4, l, R = sp.symbols("S3 S4 l R")  # l = 2 S_3 - S_2 >= 0
    gap = (s3 + s4) / (1 + R)  # S_1 - S_2, by (13)
    total = 2 * (2 * s3 - l) + gap + s3 + s4  # S_1 + S_2 + S_3 + S_4
    form = sp.expand(sp.cancel((1 + R) * (22 * gap - total)))
    ends = [sp.Poly(form.subs(R, end), s3, s4, l).coeffs() for end in (1, 3)]
    fine = sp.degree(form, R) == 1 and all(c >= 0 for end in ends for c in end)
    step = "(1 + R) (22 (S_1 - S_2) - sum g) is linear in R, with no negative coefficient at R = 1 and R = 3"
    last = "the other difference is R (S_1 - S_2), and R is at least 1"
    S1, S2, D = sp.symbols("S1 S2 D")  # D = S_1 - S_2
    handed = {"22 (S_1 - S_2) and the sum": (S1 + S2 + s3 + s4, "<=", 22 * (S1 - S2))}
    third = (1 + R) * D - s4
    put = {S1: 2 * third - l + D, S2: 2 * third - l, s3: third}
    sure = decided(bool(fine), {"form": str(form)}, form=str(form))
    sure = sure.stating(handed, nonnegative=("S4", "l", "D"), at=put, where=[(1, "<=", R), (R, "<=", 3)]).proving(step)
    return {"common word": sure.proving(last).with_constants(C=22), "mu1": sure.with_constants(C=22)}


@book.claim(
    "Eq.15",
    "When R grows",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.6, Equation (15)",
    parts=("Eq. (15)",),
    hypotheses=(),
    uses=["Eq.13"],
    insensitive=NUMBERS,
    statement=r"\dot R\ge0\iff\sum_{I_2\cup I_3\cup I_4}\dot g_i+R\sum_{I_2}\dot g_i\ge(1+R)\sum_{I_1}\dot g_i\quad(S_1>S_2)",
    reading="(S_1 - S_2) dR/dt is the difference of both sides, with S_1 > S_2.",
)
def ratio_rate(lab: Laboratory) -> Verdict:
    """The derivative of the quotient."""
    names = POSITIVE
    R = (S2 + S3 + S4 - S1) / (S1 - S2)
    rates = [sym(f"d{n}") for n in names]
    rate = graph.add([s * d for s, d in zip(graph.gradient(R, [sym(n) for n in names]), rates, strict=True)])
    d1, d2, d3, d4 = rates
    return identity({"R": (S1 - S2) * rate - (d2 + d3 + d4 + R * d2 - (1 + R) * d1)})


def limit_rates(lab: Laboratory) -> tuple[Mapping[str, Node], dict[int, Node], dict[int, Node]]:
    """Equations of the three-variable limit, class sums s_c and their rates along it."""
    system = lab.large_n()
    rhs = system.equations
    sums = class_sums(system)
    rates = {}
    for c, node in sums.items():
        slopes = graph.gradient(node, [sym(n) for n in system.names])
        rates[c] = graph.add([s * rhs[n] for s, n in zip(slopes, system.names, strict=True)])
    return rhs, sums, rates


def _weights(lab: Laboratory) -> dict[int, Node]:
    """A_c = sum over the class of g'(y F), per sample: -s_c (1 - g_c), for the three-variable limit."""
    system = lab.large_n()
    return {
        c: -s * (1 - graph.call("sigmoid", -system.observables[f"margin_I{c}"])) for c, s in class_sums(system).items()
    }


def opaque(lab: Laboratory, nodes: list[Node]) -> list[Node]:
    """The same expressions with the four logistic factors as independent positive symbols."""
    system = lab.large_n()
    mapping = {}
    for c in (1, 2, 3, 4):
        margin = system.observables[f"margin_I{c}"]
        mapping[graph.call("sigmoid", -margin)] = sym(f"g{c}")
        mapping[graph.call("sigmoid", margin)] = 1 - sym(f"g{c}")
    return graph.substitute(nodes, mapping)


@book.claim(
    "Eq.16",
    "The quadratic for R",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.6, Equation (16) and the quadratic after it",
    source="damaged",
    parts=("R is -dG(mu3)/dG(mu1)", "Eq. (16)", "quadratic"),
    hypotheses=(ORDERED, CLOSE),
    uses=["Eq.15", "F.6-proof/rates"],
    expect="fails",
    statement=r"\dot R\ge0\iff\text{(16)},\ \text{rearranged as}\ aR^2+bR+c\ge0,\ a=A_1+A_2,\ b=A_3+A_4-A_1,\ c=-A_2-(1\pm\varepsilon)A_3-(2\pm\varepsilon)A_1,\ A_c=\sum_{I_c}g'(F_i),\ \big|\tfrac{S_1-S_3}{S_1-S_2}-1\big|\le\varepsilon",
    reading="Without o(1), so for n to infinity; g' is even, so g'(F) is g'(yF); r = (S_1 - S_3)/(S_1 - S_2) is 1 +- epsilon.",
)
def quadratic(lab: Laboratory) -> dict[str, Verdict]:
    """The derivative of R along the derived system, logistic factors as symbols."""
    rhs, sums, rates = limit_rates(lab)
    A = _weights(lab)
    X, Y, Z = sums[1] - sums[2], sums[2] + sums[3] + sums[4] - sums[1], sums[1] - sums[3]  # R = Y/X, r = Z/X
    R, r = Y / X, Z / X
    rate = (rates[2] + rates[3] + rates[4]) * X + Y * rates[2] - (X + Y) * rates[1]  # X^2 dR/dt, by (15)
    a, b = (A[1] + A[2]) * Y**2, (A[3] + A[4]) * X * Y - A[1] * Z * Y
    c = -A[2] * X**2 - A[3] * Z * X - A[1] * (X**2 + Z * X)
    lost = (r - 1) * A[1] * R  # what b lacks
    exact, right, short = opaque(lab, [R * rhs["G_1"] + rhs["G_3"], rate - a - b - c, lost])
    positive = ("g1", "g2", "g3", "g4")
    full = identity({"gap": right}, positive=positive).proving("both sides times (S_1 - S_2)^2, which is positive")
    state, margins = (2.03, 1.97, -2.5), (1.5, 0.47, 0.53, 2.5)  # G, and y F on the four classes
    g = [1 / (1 + math.exp(u)) for u in margins]
    s1, s2, s3, s4 = g[0] / 2, g[1] / 6, g[2] / 6, g[3] / 6
    ratio, near = (s2 + s3 + s4 - s1) / (s1 - s2), (s1 - s3) / (s1 - s2)
    sentence = (
        f"at G = {state} (n to infinity, all hypotheses hold) R is {ratio:.3g} and r is {near:.3g}: the quadratic with the printed b is "
        f"{(near - 1) * s1 * (1 - g[0]) * ratio:.2g} n larger than (16) says"
    )
    point = {f"S{c}": float(f"{value:.4g}") for c, value in zip((1, 2, 3, 4), (s1, s2, s3, s4), strict=True)}
    printed = identity({"gap": short}, positive=positive).witnessed(sentence, point)
    fixed = r"b=A_3+A_4-(1\pm\varepsilon)A_1"
    why = "the coefficient of A_1 R is r = 1 +- epsilon, as in c; epsilon is small and nothing else changes"
    return {
        "R is -dG(mu3)/dG(mu1)": identity({"gap": exact}, positive=positive),
        "Eq. (16)": full,
        "quadratic": printed.correcting(fixed, full, why).blaming("misprint", "epsilon-in-b"),
    }
