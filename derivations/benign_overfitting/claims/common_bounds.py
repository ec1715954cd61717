r"""Bounds of a step of V at every state, from the lengths and inner products of Lemma C.4 and the class sizes of C.1.

With :math:`a_{n,j} = -\ell'_n\sum_l\varphi^{(n)}_{lj}` a step changes :math:`\rho_{V,n,i}` by
:math:`\tfrac\eta{NM}\sum_{n',j\ge2}y_{n'}\langle\xi_{n,i},\xi_{n',j}\rangle a_{n',j}`. With
:math:`\|\xi\|^2\le\tfrac32m` and :math:`|\langle\xi,\xi'\rangle|\le X` it is at most

.. math::  \tfrac\eta{NM}\tfrac32m\,a_{n,i} + \eta X\,\tfrac1N\sum_{n'}(-\ell'_{n'}),

since the attention of a row sums to one: :math:`\sum_ja_{n',j} = M(-\ell'_{n'})`.
"""

from __future__ import annotations

from fractions import Fraction

import sympy as sp

from odesys import Node, Verdict, always_positive, decided, equal, graph, num, sym

from ..laboratory import Laboratory
from .book import on_toy, tables

M_TOY = 3
HALVES = num(Fraction(3, 2))


def step_of_rho(lab: Laboratory) -> Verdict:
    """The bound above minus (plus) the derived change is a sum of products of non-negative numbers.

    The factors are 3/2 m -+ y |xi|^2 and X -+ y <xi, xi'>, which C.4 makes non-negative, and the sums a >= 0.
    """
    flow = lab.step(M_TOY)
    t = tables(flow, M_TOY)
    step, eta, w2, X, m = flow.rhs("wOV")[0], sym("eta"), sym("w2"), sym("X"), sym("m of C.4")
    attention = [t.attention(n) for n in range(t.N)]
    slopes = [t.slope(n) for n in range(t.N)]
    a = {(n, j): slopes[n] * graph.add(row[j] for row in attention[n]) for n in range(t.N) for j in range(t.M)}
    others = [(n, j) for n, j in a if j >= 1]
    found: dict[str, tuple[Node, Node]] = {}
    for n, i in others:
        token = t.places[n][i]
        change = (step[token] - t.V[token]) / (eta * w2) * (t.N * t.M)
        bound = HALVES * m * a[n, i] + X * t.M * graph.add(slopes)
        for sign in (1, -1):
            slack = [(HALVES * m - sign * t.y[n] * t.G[token, token]) * a[n, i], X * a[n, i]]
            slack += [(X - sign * t.y[k] * t.G[token, t.places[k][j]]) * a[k, j] for k, j in others if (k, j) != (n, i)]
            slack += [X * a[k, 0] for k in range(t.N)]
            found[f"sample {n + 1}, token {i + 1}, sign {sign}"] = (bound - sign * change, graph.add(slack))
    return on_toy(equal(found)).proving(
        "bound minus and plus the derived step of rho: sums of (3/2 m -+ y |xi|^2) a and (X -+ y <xi, xi'>) a, all non-negative by Lemma C.4"
    )


def step_of_gamma(lab: Laboratory) -> Verdict:
    """The derived step of gamma is eta mu^2 / (NM) times a sum over the class of -l' and attentions."""
    flow = lab.step(M_TOY)
    t = tables(flow, M_TOY)
    step, eta, w2 = flow.rhs("wOV")[0], sym("eta"), sym("w2")
    found = {}
    for n in range(t.N):
        total = graph.add(row[0] for row in t.attention(n))
        found[f"gamma {n}"] = (
            (step[n] - t.V[n]) / (eta * w2) * (t.N * t.M),
            t.y[n] * sym("m_s") * t.slope(n) * total,
        )
        rest = graph.add(row[j] for row in t.attention(n) for j in range(1, t.M))
        found[f"rows {n}"] = (num(t.M) - total, rest)
    return on_toy(equal(found)).proving(
        "each class member adds at most (-l') M <= M, and by Lemma C.1 a class has at most 3N/4 of them"
    )


def sums_to(steps: dict[str, tuple[sp.Expr, sp.Expr]]) -> Verdict:
    """A bound per step times the number of steps is what it is said to be."""
    wrong = {name: str(sp.cancel(a - b)) for name, (a, b) in steps.items() if sp.cancel(a - b) != 0}
    return decided(not wrong, wrong).proving(*(f"{name}: {b}" for name, (_, b) in steps.items()))


def bounds_for_every_size() -> dict[str, Verdict]:
    """V_+ - f >= V_+ (1 - phi_1)/2 and f - V_j >= V_+ phi_1/3 from dominance and phi_1 = 1/M + x, M = m + 1."""
    m, x, p = sym("m"), sym("x"), sym("p")
    M = m + 1
    own = always_positive({"3M - 2": 3 * M - 2}, positive=["m"]).proving(
        "V_+ - f >= (1 - phi_1)(1 - 1/(3M)) V_+, and 1 - 1/(3M) >= 1/2", M="every"
    )
    first = 1 / M + x
    worst = num(Fraction(2, 3)) * first - (2 - first - 2 * p) / (3 * M)  # V_j = 1/(3M), all other noise -1/(3M)
    other = always_positive({"f - V_j - phi_1/3": worst}, positive=["m", "x", "p"]).proving(
        "f - V_j >= phi_1 V_+ - (2 - phi_1 - 2 phi_j) V_+/(3M), which is least at V_j = V_+/(3M) and -V_+/(3M) for the others",
        "with phi_1 = 1/M + x it exceeds phi_1 V_+/3 by (1/M + x + 2Mx + 2 phi_j) V_+/(3M)",
        M="every",
    )
    return {"own": own, "other": other}
