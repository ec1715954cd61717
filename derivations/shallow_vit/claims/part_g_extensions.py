"""Appendix G: four classes, sets of patterns, several heads, skip connections."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from operator import and_
from typing import Any

import numpy as np

from odesys import (
    FAILS,
    Evidence,
    Node,
    Verdict,
    Witness,
    always_positive,
    certified,
    decided,
    enumerate_all,
    equal,
    graph,
    refuted,
    sym,
)

from ..laboratory import Laboratory
from .book import COQ, NUMBERS, PRINTED, claim


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
    label = [sym("y_1"), sym("y_2")]
    output = graph.add(label[c] * s[c] * h[s] / root for s in signs for c in range(2))
    slopes = graph.gradient(output, [h[s] for s in signs])
    found = []
    for y in signs:
        rows: dict[str, tuple[Node, Node]] = {
            f"y {y}, s {s}": (slope, graph.num(y[0] * s[0] + y[1] * s[1]) / root)
            for s, slope in zip(signs, slopes, strict=True)
        }
        printed = {(1, -1): 2, (1, 1): 0, (-1, 1): -2, (-1, -1): 0}[y]
        rows[f"printed for y {y}"] = slopes[signs.index((1, -1))], graph.num(printed) / root
        found.append(equal(rows, given={label[c]: graph.num(y[c]) for c in range(2)}))
    return reduce(and_, found)


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
    where="Appendix G.2, after Eq. (236): inner products separate",
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
    sentence = (
        "at tau = 0 with the sets {e_1, e_2} and {(3/5, 4/5)} in the plane the printed minimum is "
        f"{least}, below kappa = sqrt({kappa}), so that (236) holds; an inner product within a set is {same} and one between the sets {other}"
    )
    printed = refuted(Witness(sentence, {}), Evidence.PROOF) if least < kappa and same < other else certified()
    x, y, z = ([sym(f"{name}_{i}") for i in range(2)] for name in "xyz")  # x and y in one set, z in the other
    at = {
        entry: value
        for node, token in zip((x, y, z), (*sets[0], *sets[1]), strict=True)
        for entry, value in zip(node, token, strict=True)
    }
    apart = graph.add((a - b) ** 2 for a, b in zip(x, z, strict=True))
    inner = [graph.add(a * b for a, b in zip(x, other_one, strict=True)) for other_one in (y, z)]
    printed = printed.stating(
        {"same set below different sets": (inner[0], "<", inner[1]), "kappa above Delta = 0": (0, "<", apart)}, at=at
    )
    pair = ("x_0", "x_1", "y_0", "y_1")
    square = graph.add((a - b) ** 2 for a, b in zip(x, y, strict=True))
    if printed.as_stated == FAILS:
        told = {"inner": (pair, inner[0]), "square": (pair, square)}
        printed = printed.by_theorems(COQ / "sets_in_the_plane.v", told, alone=True)
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
    whole, entries = np.concatenate(blocks, axis=1), np.concatenate(values)
    right = blocks[0] @ values[0] + blocks[1] @ values[1]
    row, column = [sym(f"W_{j}") for j in range(4)], [sym(f"x_{j}") for j in range(4)]
    product_of_row = graph.add(a * b for a, b in zip(row, column, strict=True))
    found = []
    for i in range(3):
        at = dict(zip((*row, *column), (*whole[i], *entries), strict=True))
        found.append(equal({f"neuron {i}": (product_of_row, right[i])}, given=at))
    return reduce(and_, found)


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
