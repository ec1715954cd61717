"""What is exact about the equations: inner products close, matrices are conserved, neurons and classes exchange."""

from __future__ import annotations

import numpy as np

from odesys import (
    ONE,
    ZERO,
    Node,
    Verdict,
    entry_pairs,
    equal,
    graph,
    identity,
    num,
    sym,
)

from ..laboratory import Laboratory
from .book import COQ, LABELS, before_margin, claim, gates, put, tables
from .common_gradients import POSITIVE
from .part_c_gradients import everything


@claim(
    "X3",
    "Inner products close",
    kind="identity",
    uses=["Eq.83", "Eq.125", "Eq.161", "Eq.189-191"],
    origin="ours",
    hypotheses=(),
    statement=r"\dot u=CG_V+G_WC,\ \dot G_V=C^\top u+u^\top C,\ \dot G_W=Cu^\top+uC^\top,\ \dot S=G_\kappa G+GG_\rho,\ \dot G_\kappa=SG^\top+GS^\top,\ \dot G_\rho=S^\top G+G^\top S",
    reading="forces by scalar derivatives of the derived loss, all equations on inner products",
)
def inner_products_close(lab: Laboratory) -> Verdict:
    """Matrix equations against the derived ones.

    C = -dLoss/du and G = -dLoss/dS by scalar derivatives of the derived loss; all equations of the derived system
    on inner products.
    """
    flow = lab.gram()
    x = flow.layout.symbols
    nodes = flow.system.equations
    loss = flow.system.observables["loss"]

    def slope(leaf: str) -> np.ndarray:
        found = graph.gradient(loss, list(x[leaf].ravel()))
        return np.array([-s for s in found], dtype=object).reshape(x[leaf].shape)

    C, G, u, S = slope("OV"), slope("KQ"), x["OV"], x["KQ"]
    right = {
        "OV": C @ x["VV"] + x["OO"] @ C,
        "VV": C.T @ u + u.T @ C,
        "OO": C @ u.T + u @ C.T,
        "KQ": x["KK"] @ G + G @ x["QQ"],
        "KK": S @ G.T + G @ S.T,
        "QQ": S.T @ G + G.T @ S,
    }
    rows: dict[str, tuple[Node, Node]] = {}
    for leaf, table in right.items():
        left = np.vectorize(lambda name: nodes[name], otypes=[object])(flow.matrices[leaf])
        found = entry_pairs(left, table, leaf)
        alike = leaf in ("VV", "OO", "KK", "QQ")  # symmetric: the upper half is enough
        rows |= {
            name: pair
            for (i, j), (name, pair) in zip(np.ndindex(left.shape), found.items(), strict=True)
            if i <= j or not alike
        }
    return equal(rows, positive=POSITIVE)


@claim(
    "X4",
    "Conserved matrices",
    kind="identity",
    uses=["Eq.83", "Eq.189-191", "Eq.125", "Eq.161"],
    origin="ours",
    hypotheses=(),
    statement=r"\tfrac d{ds}(W_O^\top W_O-W_VW_V^\top)=0,\qquad\tfrac d{ds}(W_KW_K^\top-W_QW_Q^\top)=0",
    reading="Lie derivatives along the derived flow, entry by entry; the step of size eta misses them by eta squared",
)
def conserved_matrices(lab: Laboratory) -> Verdict:
    """Products of states and rates.

    Lie derivative along the derived flow, entry by entry; for the step of size eta the change is eta^2 times a
    quadratic form, so that the drift at fixed eta T is of order eta (Beyond.drift).
    """
    t, d = everything(lab)
    first = d["O"].T @ t.O + t.O.T @ d["O"] - d["V"] @ t.V.T - t.V @ d["V"].T
    second = d["K"] @ t.K.T + t.K @ d["K"].T - d["Q"] @ t.Q.T - t.Q @ d["Q"].T
    upper = {
        f"{name} {i}": node
        for name, table in (("O V", first), ("K Q", second))
        for i, node in np.ndenumerate(table)
        if i[0] <= i[1]
    }
    files = ("conserved_matrices.v", "conserved_by_the_flow.v")  # of every size, with the matrices by name
    return identity(upper, positive=POSITIVE).by_theorems([COQ / file for file in files])


@claim(
    "X5",
    "Neurons with the same gates move alike",
    kind="identity",
    uses=["Eq.83"],
    origin="ours",
    hypotheses=(),
    statement=r"\Delta w_i\ \text{depends on }i\text{ only through }(a_i,\{\mathbb 1[h^n_{ik}>0]\})",
    reading="with gates held the rate of a neuron contains no entry of another one",
)
def move_alike(lab: Laboratory) -> Verdict:
    """Derivatives by the neurons, and the sum of both rates with all gates on.

    With gates held, the rate of a neuron contains no entry of any neuron; with all gates on and no margin reached,
    the rates of the two neurons are a and -a times the same vector.
    """
    t, rates = tables(lab.toy()), lab.rates("O")
    free = {
        f"{i}{x} by {y}": node
        for (i, x), rate in np.ndenumerate(rates)
        for y, node in enumerate(graph.gradient(rate, list(t.O.ravel())))
    }
    held = before_margin(rates)
    held = put(held, dict.fromkeys(gates(held, False), ONE))
    speed = graph.add(num(LABELS[n]) / 2 * t.fraction(n, k) * t.mixed(n, k)[0] for n in range(2) for k in range(3))
    return identity(free) & equal(
        {"first": (held[0, 0], sym("a") * speed), "sum": (held[0, 1] + held[1, 1], ZERO)}, positive=POSITIVE
    )


@claim(
    "X6",
    "Exchange of the classes",
    kind="identity",
    uses=["Eq.16-20"],
    origin="ours",
    hypotheses=(),
    statement=r"(c,y)\mapsto(\mathrm{swap}_{12}c,-y)\ \text{with equal weights}\Rightarrow\text{the law is invariant under swapping patterns 1, 2 and negating }a",
    reading="counts of the two classes mirrored: the exchange maps every equation to that of the image",
)
def exchange_of_classes(lab: Laboratory) -> Verdict:
    """Every rate against its image.

    Counts (e1, e2, e3) = (c2, c1, c3): exchanging patterns 1 and 2 and the two neurons maps every right-hand side
    to that of the image.
    """
    t, rates = everything(lab)
    mirrored = {sym("e1"): sym("c2"), sym("e2"): sym("c1"), sym("e3"): sym("c3")}
    order = [1, 0, 2]
    images = {"O": t.O[::-1], "V": t.V[:, order], "K": t.K[:, order], "Q": t.Q[:, order]}
    swap = {
        x: y for leaf, table in images.items() for x, y in zip(getattr(t, leaf).ravel(), table.ravel(), strict=True)
    }
    rows: dict[str, tuple[Node, Node]] = {}
    for leaf, table in rates.items():
        plain = np.array(graph.substitute(list(table.ravel()), mirrored), dtype=object).reshape(table.shape)
        moved = np.array(graph.substitute(list(plain.ravel()), swap), dtype=object).reshape(table.shape)
        rows |= entry_pairs(moved, plain[::-1] if leaf == "O" else plain[:, order], leaf)
    return equal(rows, positive=POSITIVE)
