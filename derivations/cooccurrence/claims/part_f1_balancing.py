"""Appendix F, the exact part of balancing: coefficients and root of the quadratic, the fixed ratio of one-target sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import sympy as sp

from odesys import Hypothesis, Node, Verdict, combine_verdicts, decided, from_sympy, graph, identity, sym, to_sympy

from ..laboratory import Laboratory
from .book import COQ, NUMBERS, book
from .part_f1_algebra import BALANCED, CLOSE, MIDDLE, NEARLY, ORDERED, S1, S2, S3, S4, limit_rates, opaque


def _coefficients(lab: Laboratory) -> dict[str, Node]:
    """dR/dt of the symmetric limit as polynomial in R, coefficient of each A_c: what is left of it as the constant term.

    A_c = -s_c h_c with h_c = 1 - g_c free; the coefficient of A_1 is R^2 - R + c_1, of A_2 and A_3 together
    R^2 + R + c_2, of A_4 R + c_4, where R and the c_k come out of the derived rates.
    """
    system = lab.large_n()
    rhs, sums, _ = limit_rates(lab)
    R = -rhs["G_3"] / rhs["G_1"]
    rate = graph.add(
        [s * rhs[n] for s, n in zip(graph.gradient(R, [sym(n) for n in system.names]), system.names, strict=True)]
    )
    free = {graph.call("sigmoid", system.observables[f"margin_I{c}"]): sym(f"h{c}") for c in (1, 2, 3, 4)}
    for c in (1, 2, 3, 4):  # sigmoid(u) appears as 1 - sigmoid(-u) too
        free[graph.call("sigmoid", -system.observables[f"margin_I{c}"])] = sym(f"g{c}")
    same = {sym("g3"): sym("g2"), sym("h3"): sym("h2")}
    rate, R, *s = graph.substitute(graph.substitute([rate, R, *(sums[c] for c in (1, 2, 4))], free), same)
    slope = graph.gradient(rate, [sym("h1"), sym("h2"), sym("h4")])
    k1, k2, k4 = (-d / x for d, x in zip(slope, s, strict=True))
    return {"1": k1 - R**2 + R, "2": k2 - R**2 - R, "4": k4 - R}


@book.claim(
    "F.6-proof",
    "Weights of the classes",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.6, the display of the sum of g'",
    parts=("weights",),
    hypotheses=(),
    insensitive=NUMBERS,
    expect="fails",
    statement=r"\sum_Ig_i\min_I\tfrac1{1+e^{y_iF_i}}\le-\sum_Ig'(F_i)\le\sum_Ig_i\max_I\tfrac1{1+e^{y_iF_i}}",
    reading="For every class of samples; -g'(F_i) is g_i times the weight.",
)
def class_weights(lab: Laboratory) -> dict[str, Verdict]:
    """-g'/g is the logistic function of the margin."""
    u = sym("u")
    logistic = graph.call("sigmoid", -u)
    weight = -graph.gradient(logistic, [u])[0] / logistic
    printed, right = (identity({"weight": weight - graph.call("sigmoid", s * u)}) for s in (-1, 1))
    sentence = "for a class of one sample with yF = 2 the printed bounds are both 0.0142, and -g'(2) is 0.105"
    fixed = r"-g'(y_iF_i)=g_i\cdot\tfrac1{1+e^{-y_iF_i}}"
    weights = printed.witnessed(sentence, {"yF": 2}).correcting(fixed, right, "a sign in the exponent is missing")
    return {"weights": weights.blaming("misprint", "sign-in-exponent")}


@book.claim(
    "F.6-proof/c",
    "The last coefficient of the quadratic",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.6, the display of c/a",
    source="damaged",
    parts=("c/a",),
    hypotheses=(ORDERED,),
    uses=["Eq.16", "F.6-proof"],
    statement=r"\big|\tfrac ca\big|=(1\pm O(\varepsilon)\pm O(\max e^{-y_iF_i}))\cdot2",
    reading="The bars of c/a are lost in the text at hand; |c/a + 2| <= (3 epsilon + d)/(1 - d) with d = max exp(-yF) < 1.",
)
def last_coefficient(lab: Laboratory) -> dict[str, Verdict]:
    """c/a from the derived dR/dt where epsilon and d vanish, and how far it is from -2 where they do not."""
    c, A1, A2 = _coefficients(lab), sym("A1"), sym("A2")
    constant = c["1"] * A1 + c["2"] * A2 + c["4"] * sym("A4")
    positive = ("g1", "g2", "g4", "h1", "h2", "h4")
    derived = identity({"c + 2 a": constant + 2 * (A1 + A2)}, positive=positive)
    steps = (
        "with A_c = -w_c S_c, r = 1 + rho and S_2 - S_3 = rho (S_1 - S_2): c + 2a = rho (w_1 S_1 + w_3 S_3 - S_1 + S_2) + "
        "(1 - w_2) S_2 - (1 - w_3) S_3",
        "|rho| <= epsilon and 1 - d <= w_c <= 1, since w = 1/(1 + exp(-yF)) >= 1 - exp(-yF): |c + 2a| <= (3 epsilon + d) S_1, "
        "and -a >= (1 - d) S_1",
    )
    names = [sp.Symbol(name) for name in ("A1", "A2", "A3", "r")]
    A, r = names[:3], names[3]
    told = {"a": (("A1", "A2"), A[0] + A[1]), "c": (("A1", "A2", "A3", "r"), -A[1] - r * A[2] - (1 + r) * A[0])}
    found = (derived & _near_minus_two()).by_theorems(COQ / "last_coefficient.v", told)
    return {"c/a": found.proving(*steps).with_constants(C="(3 epsilon + d)/(1 - d)")}


def _near_minus_two() -> Verdict:
    """(3 epsilon + d) S_1 less |c + 2a|, and -a less (1 - d) S_1, as sums of nonnegative terms."""
    rho, w1, w2, w3 = (sym(name) for name in ("rho", "w1", "w2", "w3"))
    third = S2 - rho * (S1 - S2)  # S_3, by r = (S_1 - S_3)/(S_1 - S_2) = 1 + rho
    A = {1: -w1 * S1, 2: -w2 * S2, 3: -w3 * third}
    a, c = A[1] + A[2], -A[2] - (1 + rho) * A[3] - (2 + rho) * A[1]
    parts = rho * (w1 * S1 + w3 * third - (S1 - S2)) + (1 - w2) * S2 - (1 - w3) * third
    exact = identity({"c + 2 a": c + 2 * a - parts})
    s2, s3, p, q, d, v1, v2 = sp.symbols("S2 S3 p q d v1 v2", nonnegative=True)  # S_1 = S_2 + p = S_3 + q
    s1, x1, x2 = sp.symbols("S1 w1 w2", nonnegative=True)
    second, third_ = {s1: s2 + p}, {s1: s3 + q}
    bounds = {
        # |w_1 S_1 + w_3 S_3 - S_1 + S_2| <= S_1 + S_3 + (S_1 - S_2); the last two terms lie in [-d S_3, d S_2]
        "rho": (s1 + s3 + (s1 - s2), 3 * s1, {s1: s2 + p, s3: s2 + p - q}),
        "d S_2": (d * s2, d * s1, second),
        "d S_3": (d * s3, d * s1, third_),
        "a": ((1 - d) * s1 + (1 - d) * s2, x1 * s1 + x2 * s2, {**second, x1: 1 - d + v1, x2: 1 - d + v2}),
    }
    return exact & combine_verdicts({name: _at_most(name, *sides) for name, sides in bounds.items()})


@book.claim(
    "F.6-proof/rates",
    "Rates of the margins of the four classes",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.6, the four displays before the substitution into (15)",
    parts=("I_1", "I_2", "I_3", "I_4"),
    hypotheses=(ORDERED, BALANCED),
    uses=["Eq.4"],
    expect="fails",
    statement=r"\frac{\partial_ty_{i_1}F_{i_1}}{S_1-S_2}=\tfrac\beta n\Big(1+\tfrac{S_1-S_3}{S_1-S_2}-R+o(1)\Big),\ \frac{\partial_ty_{i_2}F_{i_2}}{S_1-S_2}=-\tfrac\beta n(1-R+o(1)),\ \frac{\partial_ty_{i_3}F_{i_3}}{S_1-S_2}=-\tfrac\beta n\Big(\tfrac{S_1-S_3}{S_1-S_2}-R+o(1)\Big);\ \text{for}\ i_4\in I_4:\ \frac{\partial_ty_{i_1}F_{i_1}}{S_1-S_2}=-\tfrac\beta n(-R+o(1))",
    reading="For m and n to infinity, where o(1) is 0, beta the printed double sum; the last display has the index i_1 for i_4.",
)
def class_rates(lab: Laboratory) -> dict[str, Verdict]:
    """Rates of G on the words of each class against the printed brackets, times S_1 - S_2."""
    rhs, s, _ = limit_rates(lab)
    G1, G2, G3 = (rhs[name] for name in ("G_1", "G_2", "G_3"))
    pulled, common = s[1] - s[2], s[2] + s[3] + s[4] - s[1]  # S_1 - S_2, and R times it
    right = {
        "I_1": G1 + G2 + G3 - (pulled + s[1] - s[3] - common),
        "I_2": -(G1 + G3) + pulled - common,
        "I_3": -(G2 + G3) + s[1] - s[3] - common,
        "I_4": -G3 - common,
    }
    positive = ("g1", "g2", "g3", "g4")
    seen = {name: identity({name: opaque(lab, [node])[0]}, positive=positive) for name, node in right.items()}
    printed = identity({"i_1": opaque(lab, [G1 + G2 + G3 - common])[0]}, positive=positive)
    sentence = (
        "at S_1 = 5/4, S_2 = S_3 = 1, S_4 = 1/2 (all hypotheses hold) margins of I_1 move at the rate -3/4 and those of I_4 at 5/4, "
        "which is the printed right side, in beta/n"
    )
    step = "the derived rates of G on the words of a class, logistic factors as symbols"
    last = printed.witnessed(sentence, {"S1": 1.25, "S2": 1, "S3": 1, "S4": 0.5})
    fixed = r"\frac{\partial_ty_{i_4}F_{i_4}}{S_1-S_2}=-\tfrac\beta n(-R+o(1))"
    wrong = last.correcting(fixed, seen["I_4"], "the index of I_4").blaming("misprint", "index-in-F.6")
    return {name: seen[name].proving(step) for name in ("I_1", "I_2", "I_3")} | {"I_4": wrong}


LATE = Hypothesis("margins are large", r"\max_ie^{-y_iF_i}\le\tfrac1{10}", lambda p: p["yF"] - math.log(10))


@book.claim(
    "F.6-root",
    "Where the root of the quadratic lies",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma F.6, b/a and the root R*",
    source="damaged",
    parts=("b/a", "the root"),
    hypotheses=(ORDERED, CLOSE, LATE),
    uses=["Eq.16"],
    insensitive=NUMBERS,
    statement=r"\big|\tfrac ba\big|\le C<1,\quad R^\star=-\tfrac b{2a}+\sqrt{\tfrac{b^2}{4a^2}-\tfrac ca}\in(1,2)\ \text{if}\ \varepsilon\ \text{and}\ \max_ie^{-y_iF_i}\ \text{are small}",
    reading="Both at most 1/10, which exp(-yF) is later than tau = 40, o(1) at most 1/20; b with or without 1 +- epsilon; -A_c/S_c in [9/10, 1]; C = 2/3.",
)
def root_interval(lab: Laboratory) -> dict[str, Verdict]:
    """Q(1) > 0 > Q(2) for Q = a R^2 + b R + c, where a < 0 < c: at the corners of all 1 +- epsilon, of 1 + o(1) and of the A_c/S_c."""
    s4, p, q, k = sp.symbols("S4 p q k", nonnegative=True)
    names = ("r_b", "r_3", "r_1", "u", "w1", "w2", "w3", "w4", "S1", "S2", "S3", "S4")
    factors, w = sp.symbols(names[:4]), sp.symbols(names[4:8])
    orders = {
        "S_2 is larger": {"S1": s4 + p + q + k, "S2": s4 + p + q, "S3": s4 + q, "S4": s4},
        "S_3 is larger": {"S1": s4 + p + q + k, "S2": s4 + q, "S3": s4 + p + q, "S4": s4},
    }
    below: dict[str, Verdict] = {}
    inside: dict[str, Verdict] = {}
    for name, S in orders.items():
        a, b, c = _quadratic(factors, w, [S[name] for name in names[8:]])
        slack = S["S2"] + S["S3"] + S["S4"] - S["S1"]  # not negative, by the order
        forms = {
            "Q(1)": a + b + c,
            "-Q(2)": -(4 * a + 2 * b + c) - 5 * NEARLY * slack,
            "2/3 - b/a": -(2 * a / 3 - b),
            "2/3 + b/a": -(2 * a / 3 + b) - sp.Rational(9, 20) * slack,
        }
        for what, form in forms.items():
            ends = [*[(1 - NEARLY, 1 + NEARLY)] * 3, (1 - NEARLY / 2, 1 + NEARLY / 2), *[(1 - NEARLY, Fraction(1))] * 4]
            found = decided(_at_corners(form, (*factors, *w), ends), {"form": str(form)}, form=str(form))
            box = [
                relation
                for x, (low, high) in zip((*factors, *w), ends, strict=True)
                for relation in ((low, "<=", x), (x, "<=", high))
            ]
            found = found.stating({f"{name}, {what}": (0, "<=", form)}, where=box)
            (inside if "Q" in what else below)[f"{name}, {what}"] = found
    step = "linear in each 1 +- epsilon, in 1 + o(1) and in each A_c/S_c, so its corners decide; there it is a sum of nonnegative differences of the order of Definition F.1"
    last = "a < 0 < c, so one root is positive; the quadratic is positive at 1 and negative at 2"
    told = {x: (names, node) for x, node in zip("abc", _quadratic(factors, w, sp.symbols(names[8:])), strict=True)}
    return {
        "b/a": combine_verdicts(below)
        .by_theorems(COQ / "root_interval.v", told, alone=True)
        .proving(step)
        .with_constants(C="2/3"),
        "the root": combine_verdicts(inside)
        .by_theorems(COQ / "root_interval.v", told, alone=True)
        .proving(step, last)
        .with_constants(epsilon="1/10"),
    }


def _quadratic(
    factors: Sequence[sp.Expr], w: Sequence[sp.Expr], S: Sequence[sp.Expr]
) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """Coefficients of R^2, R and 1, with A_c = -w_c S_c; factors are 1 +- epsilon of b, of A_3 and A_1 in c, and 1 + o(1) of c."""
    r_b, r_3, r_1, u = factors
    A = [-weight * size for weight, size in zip(w, S, strict=True)]
    return A[0] + A[1], A[2] + A[3] - r_b * A[0], u * (-A[1] - r_3 * A[2] - (1 + r_1) * A[0])


ALIKE = "by F.2 with ratios up to 2 inside a class, so that S^2 <= N sum g^2 <= 9/8 S^2 for a class of N samples"


@book.claim(
    "F.6-root/b",
    "Both displays of b/a",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma F.6, -b/(2a) >= -1/4 and the display after it",
    source="damaged",
    parts=("-b/(2a)", "b/a"),
    hypotheses=(ORDERED, CLOSE, LATE, MIDDLE),
    uses=["Eq.14", "F.2"],
    insensitive=NUMBERS,
    statement=r"-\tfrac b{2a}\ge-\tfrac14,\quad\big|\tfrac ba\big|\le(1+O(\max_ie^{-y_iF_i}))\max\Big(\tfrac{S_1-S_3}{S_1+S_2},\tfrac{S_4}{S_1+S_2}\Big)",
    reading="The printed b, R in [1, 3] as the proof says, epsilon and max exp(-yF) at most 1/10, g_i/g_j <= 2 in a class; bars are read in; constant 8.",
)
def middle_coefficient(lab: Laboratory) -> dict[str, Verdict]:
    """2|A_3| + 2|A_4| <= 3|A_1| + |A_2|, and |b| against the larger of S_1 - S_3 and S_4: sums of nonnegative terms."""
    s4, p, q, k, u = sp.symbols("S4 p q k u", nonnegative=True)
    orders = {
        "S_2 is larger": (s4 + p + q + k, s4 + p + q, s4 + q, s4),
        "S_3 is larger": (s4 + p + q + k, s4 + q, s4 + p + q, s4),
    }
    quarter = {}
    for name, (one, two, three, four) in orders.items():
        unit = 22 * (one + u)  # the 1 of 1 - N S, in units of n: g <= 1/11 on I_1 gives S_1 <= 1/22
        least = 3 * (one * unit - 2 * NINE_EIGHTHS * one**2) + two * unit - 6 * NINE_EIGHTHS * two**2
        most = 2 * (three * unit - 6 * three**2) + 2 * (four * unit - 6 * four**2)
        quarter[name] = _at_most(name, sp.expand(most), sp.expand(least), {})
    steps = (
        "with -A_c = S_c - sum g^2 and g <= exp(-yF)/(1 + exp(-yF)) <= 1/11, in units of n: -A_1 >= S_1 (1 - 9/4 S_1), "
        "-A_2 >= S_2 (1 - 27/4 S_2), -A_3 <= S_3 (1 - 6 S_3), -A_4 <= S_4 (1 - 6 S_4), " + ALIKE,
        "3|A_1| + |A_2| - 2|A_3| - 2|A_4| with 1 = 22 (S_1 + u), u >= 0, has no negative coefficient in the differences of the order",
    )
    names = ("A1", "A2", "A3", "A4")
    a, b, _ = _quadratic([sp.Integer(1)] * 4, [-sp.Symbol(name) for name in names], [sp.Integer(1)] * 4)
    told = {"a": (names, a), "b": (names, b)}
    last = combine_verdicts(quarter).by_theorems(COQ / "middle_coefficient.v", told, alone=True)
    return {
        "-b/(2a)": last.proving(*steps).assuming("g_i/g_j <= 2 inside a class (F.2)"),
        "b/a": _quotient_bound().by_theorems(COQ / "middle_coefficient.v", told, alone=True),
    }


NINE_EIGHTHS = sp.Rational(9, 8)


def _quotient_bound() -> Verdict:
    """|b| <= max(S_1 - S_3, S_4) + d S_1, S_1 <= 49/9 (S_1 - S_3), |a| >= (1 - d)(S_1 + S_2)."""
    s1, s3, s4, d, D, e, f, q, h = sp.symbols("S1 S3 S4 d D e f q h", nonnegative=True)
    w1, w3, w4, u1, u3, u4, v1, v3 = sp.symbols("w1 w3 w4 u1 u3 u4 v1 v3", nonnegative=True)
    third = 4 * D - s4 - f  # R <= 3 is 4 (S_1 - S_2) >= S_3 + S_4
    bounds = {
        "b from above": (w1 * s1 - w3 * s3 - w4 * s4, s1 - s3 + d * s3, {w1: 1 - u1, w3: 1 - d + v3}),
        "b from below": (
            w3 * s3 + w4 * s4 - w1 * s1,
            s4 + d * s1,
            {w3: 1 - u3, w4: 1 - u4, w1: 1 - d + v1, s1: s3 + q},
        ),
        "S_1": (s1, sp.Rational(49, 9) * (s1 - s3), {s1: third + sp.Rational(9, 10) * D + e, s3: third}),
        # (1 + 49/9 d) <= (1 + 8 d)(1 - d), times 1 = 10 (d + h): d is at most 1/10
        "constant": (8 * d**2, sp.Rational(14, 9) * d * 10 * (d + h), {}),
    }
    found = combine_verdicts({name: _at_most(name, *sides) for name, sides in bounds.items()})
    steps = (
        "with A_c = -w_c S_c, 1 - d <= w_c <= 1: |b| <= max(S_1 - S_3, S_4) + d S_1",
        "S_1 - S_3 >= 9/10 (S_1 - S_2) by epsilon <= 1/10, and 4 (S_1 - S_2) >= S_3 + S_4 by R <= 3: S_1 <= 49/9 (S_1 - S_3)",
        "|a| >= (1 - d)(S_1 + S_2), and (1 + 49/9 d)/(1 - d) <= 1 + 8 d for d <= 1/10",
    )
    return found.proving(*steps).with_constants(C=8)


def _at_corners(form: sp.Expr, moving: tuple[sp.Symbol, ...], ends: list[tuple[Fraction, Fraction]]) -> bool:
    """Linear in each moving symbol, and at all corners without a negative coefficient in the nonnegative ones."""
    rest, count = sorted(form.free_symbols - set(moving), key=str), len(moving)
    terms = [(powers, Fraction(int(c.p), int(c.q))) for powers, c in sp.Poly(form, *moving, *rest).terms()]
    if any(power > 1 for powers, _ in terms for power in powers[:count]):
        return False
    for corner in product(*ends):
        found: dict[tuple[int, ...], Fraction] = {}
        for powers, c in terms:
            value = c * math.prod(x for x, power in zip(corner, powers[:count], strict=True) if power)
            found[powers[count:]] = found.get(powers[count:], Fraction(0)) + value
        if min(found.values()) < 0:
            return False
    return True


def _at_most(name: str, small: sp.Expr, large: sp.Expr, put: dict[sp.Symbol, sp.Expr]) -> Verdict:
    """With these values put in, every coefficient of the difference, in nonnegative symbols, is nonnegative."""
    poly = sp.expand((large - small).subs(put, simultaneous=True))
    symbols = sorted(poly.free_symbols, key=str)
    coefficients = sp.Poly(poly, *symbols).coeffs() if symbols else [poly]
    found = decided(all(c >= 0 for c in coefficients), {"form": str(poly)}, form=str(poly))
    return found.stating({name: (small, "<=", large)}, at=put)


def _all_nonnegative(node: Node, mapping: dict[str, sp.Expr]) -> Verdict:
    """Substitute nonnegative differences; every coefficient of the expanded polynomial is then nonnegative."""
    text = {sp.Symbol(name, real=True): value for name, value in mapping.items()}
    poly = sp.expand(to_sympy(node).subs(text, simultaneous=True))
    coefficients = sp.Poly(poly, *sorted(poly.free_symbols, key=str)).coeffs() if poly.free_symbols else [poly]
    found = decided(all(c >= 0 for c in coefficients), {"form": str(poly)}, form=str(poly))
    differences = {str(s) for value in mapping.values() for s in value.free_symbols}
    put = {name: from_sympy(value) for name, value in mapping.items()}
    return found.stating({"form": (0, "<=", node)}, nonnegative=differences, at=put)


@book.claim(
    "F.5-proof",
    "The fixed ratio of one-target sums",
    kind="identity",
    origin="proof",
    where="Proof of Lemma F.5, the equality of both sides of (12) and the display of S_2/S_3",
    source="damaged",
    parts=("equality", "fixed ratio"),
    hypotheses=(ORDERED, BALANCED),
    uses=["Eq.12"],
    expect="fails",
    statement=r"\tfrac1{S_3}\sum_{I_3}g_i(1-g_i)\,(N+S_2)=\tfrac1{S_2}\sum_{I_2}g_i(1-g_i)\,(N+S_3)\ \Rightarrow\ \tfrac{S_2}{S_3}=1+q\cdot\tfrac{N+S_2}{S_3},\quad N=S_2+S_3+S_4-2S_1,\ q=\frac{\tfrac1{S_3}\sum_{I_3}g_i(1-g_i)}{\tfrac1{S_2}\sum_{I_2}g_i(1-g_i)}",
    reading="Margin rates are N + S_2 on I_2 and N + S_3 on I_3; the last line, 1 +- 6(q - 1), follows either way.",
)
def fixed_ratio(lab: Laboratory) -> dict[str, Verdict]:
    """The equality in (12) with the rates of the classes, and its solution for S_2/S_3."""
    q, N = sym("q"), sym("N")
    point = {"S1": 1.25, "S2": 1, "S3": 1, "S4": 0.5}
    brackets = identity({"printed": q * (N + S2) - (N + S3) - (q * (N + S3) - (N + S2))}, positive=("S3",))
    inside = "at S_1 = 5/4, S_2 = S_3 = 1, S_4 = 1/2, so N = 0 (all hypotheses hold), "
    told = (
        "at S_1 = 6/5, S_2 = 9/10, S_3 = 1, S_4 = 1/2 (all hypotheses hold) N is 0, the margins of I_3 move at the rate "
        "N + S_3 = 1 and those of I_2 at N + S_2 = 9/10, and these two are interchanged in print"
    )
    swapped = brackets.witnessed(told, {"S1": 1.2, "S2": 0.9, "S3": 1, "S4": 0.5})
    rhs, sums, _ = limit_rates(lab)
    pulls = opaque(
        lab,
        [
            -(rhs["G_1"] + rhs["G_3"]) - (2 * sums[2] + sums[3] + sums[4] - 2 * sums[1]),
            -(rhs["G_2"] + rhs["G_3"]) - (sums[2] + 2 * sums[3] + sums[4] - 2 * sums[1]),
        ],
    )
    rates = identity({"I_2": pulls[0], "I_3": pulls[1]}, positive=("g1", "g2", "g3", "g4"))
    fixed = r"\tfrac1{S_3}\sum_{I_3}g_i(1-g_i)\,(N+S_3)=\tfrac1{S_2}\sum_{I_2}g_i(1-g_i)\,(N+S_2)"
    first = swapped.correcting(fixed, rates, "the brackets of I_2 and I_3 are interchanged")
    right_s2 = q * (N + S3) - N  # q (N + S3) = N + S2, the equality in (12)
    printed = identity({"printed": right_s2 / S3 - 1 - q * (N + right_s2) / S3}, positive=("S3",))
    right = identity(
        {"equality": q * (N + S3) - (N + right_s2), "right": right_s2 / S3 - 1 - (q - 1) * (N + S3) / S3},
        positive=("S3",),
    )
    sentence = inside + "and q = 1, the equality gives S_2/S_3 = 1 and the printed formula 2"
    second = printed.witnessed(sentence, point).correcting(
        r"\tfrac{S_2}{S_3}=1+(q-1)\tfrac{N+S_3}{S_3}",
        right,
        "a minus one is missing; the last line of the proof has q - 1",
    )
    return {
        "equality": first.blaming("misprint", "brackets-in-F.5"),
        "fixed ratio": second.blaming("misprint", "lost-minus-one-in-F.5"),
    }


@book.claim(
    "F.5-bound",
    "The bracket of the fixed ratio",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma F.5, the bound 6",
    parts=("above", "below"),
    hypotheses=(ORDERED, BALANCED),
    uses=["F.5-proof"],
    insensitive=NUMBERS,
    statement=r"\frac{-S_1+(S_2+S_3+S_4)-S_1+S_2\pm o(1)\sum g}{S_3}\le6",
    reading="In absolute value, for the printed bracket and for the one with S_3 in place of the last S_2; 3 without o(1), 6 with o(1) up to 3/8.",
)
def bracket_bound(lab: Laboratory) -> dict[str, Verdict]:
    """3 S_3 +- the bracket as sums of nonnegative differences, for both brackets."""
    s2, s4, p, q, k, l = sp.symbols("S2 S4 p q k l")  # p, q, k, l >= 0
    s3 = s4 + q
    half = 2 * s3 - l
    above, below, told = {}, {}, {}
    for name, last in (("printed", S2), ("with S_3", S3)):
        bracket = S2 + S3 + S4 - 2 * S1 + last
        told[name.replace("S_3", "third").replace(" ", "_")] = ("S1", "S2", "S3", "S4"), bracket
        above[name] = _all_nonnegative(3 * S3 - bracket, {"S1": s2 + p, "S2": s2, "S3": s3, "S4": s4})
        below[name] = _all_nonnegative(3 * S3 + bracket, {"S1": half + s3 + s4 - k, "S2": half, "S3": s3, "S4": s4})
    step = "3 S_3 less (plus) the bracket is a sum of nonnegative differences of the order of Definition F.1"
    found = {"above": combine_verdicts(above).with_constants(C=3), "below": combine_verdicts(below)}
    return {
        part: verdict.by_theorems(COQ / "class_sums.v", told, alone=True).proving(step)
        for part, verdict in found.items()
    }
