"""Closed systems, ours: sizes, conserved quantities, dissipation, rigid motion, steps."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from odesys import (
    HOLDS,
    ONE,
    ZERO,
    Flow,
    Node,
    Verdict,
    combine_verdicts,
    enumerate_all,
    graph,
    identity,
    sym,
)

from .. import setting
from ..laboratory import Laboratory
from ..special import as_printed
from .book import (
    SIGNS,
    TOY,
    TOY_READING,
    TOY_WORDS,
    book,
    gram_forces,
    on_toy,
    printed_forces,
    toy_forces,
    toy_gram,
    toy_neurons,
    with_opaque_attention,
)

# ---- ours: sizes, conserved quantities, dissipation, rigid motion, steps -----------------------------------------


@book.claim(
    "Beyond.sizes",
    "Sizes of the closed systems",
    kind="identity",
    origin="ours",
    level="full",
    hypotheses=(),
    uses=["C.1", "C.2", "C.3", "C.4"],
    insensitive="which scalars occur does not depend on their coefficients: the program compares the closed sets",
    statement=r"\dim=1+d+d^2+\tfrac32d(d+1);\quad109\ \text{orbits for}\ n\ge12,\ L=4",
    reading="States at (n, L) = (6, 4), (12, 4); orbits at (12, 4), (18, 4), with the same names.",
)
def sizes(lab: Laboratory) -> Verdict:
    """Count states and orbits."""
    return count_sizes(lab, 4, [(6, 4), (12, 4)], [18], [(12, 4), (18, 4)])


@book.claim(
    "Beyond.sizes/larger",
    "Sizes of the closed systems, larger",
    kind="identity",
    origin="ours",
    level="full",
    hypotheses=(),
    uses=["Beyond.sizes"],
    insensitive="which scalars occur does not depend on their coefficients: the program compares the closed sets",
    statement=r"\dim=1+d+d^2+\tfrac32d(d+1);\quad113\ \text{orbits for}\ n\ge12,\ L\ge5",
    reading="The same at (n, L) = (12, 5), (18, 5), (24, 5), (12, 6).",
)
def larger_sizes(lab: Laboratory) -> Verdict:
    """Count states and orbits."""
    return count_sizes(lab, 5, [(12, 5), (24, 5), (12, 6)], [18, 24], [(12, 5), (18, 5), (24, 5), (12, 6)])


def count_sizes(
    lab: Laboratory, length: int, states: list[tuple[int, int]], named: list[int], orbit_sizes: list[tuple[int, int]]
) -> Verdict:
    """States and orbits at some sizes, and the names of orbits at one length."""

    def full(case: tuple[int, int]) -> bool:
        d = setting.words_needed(*case)
        return len(lab.closed_sets(*case)[0]) == 1 + d + d * d + 3 * d * (d + 1) // 2

    def orbits(case: tuple[int, int]) -> bool:
        return len(lab.closed_sets(*case)[1]) == (109 if case[1] == 4 else 113)

    same = enumerate_all(
        named, lambda n: lab.closed_sets(n, length)[1] == lab.closed_sets(12, length)[1], "values of n"
    )
    return combine_verdicts(
        {
            "states": enumerate_all(states, full, "sizes"),
            "names": same,
            "orbits": enumerate_all(orbit_sizes, orbits, "sizes"),
        }
    )


def _lie(flow_nodes: Mapping[str, Node], quantity: Node) -> Node:
    names = [n for n in sorted(graph.symbols([quantity])) if n in flow_nodes]
    return graph.add(
        [s * flow_nodes[n] for n, s in zip(names, graph.gradient(quantity, [sym(n) for n in names]), strict=True)]
    )


def _trace(*factors: np.ndarray) -> Node:
    total = factors[0]
    for factor in factors[1:]:
        total = total @ factor
    return graph.add(list(np.diagonal(total)))


@book.claim(
    "Beyond.conserved",
    "Conservation laws",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["Eq.5", "C.3", "C.4"],
    level="full",
    statement=r"\mathrm{tr}M^q,\ \mathrm{tr}N^q\ (q\le3),\ \mathbf 1^\top\kappa\mathbf 1\ \text{constant},\ M=bb^\top-m_1W_VW_V^\top,\ N=W_KW_K^\top-W_QW_Q^\top",
    reading=f"The seven quantities in beta, G, Gamma, A, kappa, rho have zero derivative {TOY_READING}.",
)
def conserved(lab: Laboratory) -> Verdict:
    """The derived equations have the matrix form; along it, with forces as symbols, nothing changes (the sum of keys: with the forces put in)."""
    flow = toy_gram(lab)
    rhs = lab.equations(flow)
    beta, G = flow.layout.symbols["aWWa"][0, 0], flow.layout.symbols["aWV"][0]
    V, A, K, Q = (flow.layout.symbols[leaf] for leaf in ("VV", "KQ", "KK", "QQ"))
    m1 = sym("m1")
    quantities = {
        "tr M": beta - m1 * _trace(V),
        "tr M^2": beta**2 - 2 * m1 * graph.add(G * G) + m1**2 * _trace(V, V),
        "tr M^3": beta**3
        - 3 * m1 * beta * graph.add(G * G)
        + 3 * m1**2 * graph.add(G * (V @ G))
        - m1**3 * _trace(V, V, V),
        "tr N": _trace(K) - _trace(Q),
        "tr N^2": _trace(K, K) - 2 * graph.add((A * A).ravel()) + _trace(Q, Q),
        "tr N^3": _trace(K, K, K) - 3 * _trace(K, A, A.T) + 3 * _trace(Q, A.T, A) - _trace(Q, Q, Q),
        "1'K1": graph.add(K.ravel()),
    }
    xi = np.array([sym(f"xi_{i}") for i in range(TOY_WORDS)], dtype=object)
    D = np.array([[sym(f"D_{i}{j}") for j in range(TOY_WORDS)] for i in range(TOY_WORDS)], dtype=object)
    form = _gram_form(flow, xi, D)
    lie = {name: _lie(rhs if name == "1'K1" else form, q) for name, q in quantities.items()}
    matrix = gram_system(lab)
    return (
        combine_verdicts({"matrix form": matrix, "derivatives": identity(lie, positive=("m", "m1"))})
        if matrix.as_stated == HOLDS
        else matrix
    )


def _gram_form(flow: Flow, xi: np.ndarray, D: np.ndarray) -> dict[str, Node]:
    """The matrix form of level 1 with given forces, by state name."""
    beta, G, m1 = flow.layout.symbols["aWWa"][0, 0], flow.layout.symbols["aWV"][0], sym("m1")
    V, A, K, Q = (flow.layout.symbols[leaf] for leaf in ("VV", "KQ", "KK", "QQ"))
    form = {
        "aWWa": np.array([[2 * m1 * graph.add(xi * G)]], dtype=object),
        "aWV": (beta * xi + m1 * (V @ xi))[None, :],
        "VV": np.outer(xi, G) + np.outer(G, xi),
        "KQ": K @ D + D @ Q,
        "KK": D @ A.T + A @ D.T,
        "QQ": D.T @ A + A.T @ D,
    }
    return {name: form[leaf][place] for leaf in form for place, name in np.ndenumerate(flow.matrices[leaf])}


@book.claim(
    "Beyond.level1",
    "The aggregated Gram system",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["C.1", "C.2", "C.3", "C.4"],
    statement=r"\dot\beta=2m_1\xi^\top G,\ \dot G=\beta\xi+m_1\Gamma\xi,\ \dot\Gamma=\xi G^\top+G\xi^\top,\ \dot A=\kappa\mathcal D+\mathcal D\rho,\ \dot\kappa=\mathcal DA^\top+A\mathcal D^\top,\ \dot\rho=\mathcal D^\top A+A^\top\mathcal D",
    reading=f"Every derived equation equals the matrix form with the forces of Appendix B, which are -dL/dG and -dL/dA, {TOY_READING}.",
)
def gram_system(lab: Laboratory) -> Verdict:
    """Entry by entry; the forces also by scalar derivatives of the loss."""
    flow = toy_gram(lab)
    rhs, (xi, D) = lab.equations(flow), gram_forces(flow)
    printed = toy_forces(flow)
    slopes = {f"xi_{k}": x - y for k, (x, y) in enumerate(zip(xi, printed[0], strict=True))}
    slopes |= {f"D_{k}": x - y for k, (x, y) in enumerate(zip(D.ravel(), printed[1].ravel(), strict=True))}
    forces = identity(slopes, positive=("m",))
    if forces.as_stated != HOLDS:  # nothing else can be right then
        return forces
    form = _gram_form(flow, xi, D)
    gaps = {name: rhs[name] - node for name, node in form.items()}
    return on_toy(forces & with_opaque_attention(gaps, as_printed.symbolic_tables(flow, TOY, (1,)), ("m", "m1")))


@book.claim(
    "Beyond.shift",
    "The sum of all keys is conserved",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["B"],
    statement=r"\mathbf 1^\top\mathcal D=0",
    reading=f"The force on the scores, read off their equation at unit keys and zero queries, has columns that sum to zero, {TOY_READING}.",
)
def shift(lab: Laboratory) -> Verdict:
    """Columns of D, read off the equation of the scores at unit keys and zero queries."""
    flow = toy_gram(lab)
    rhs, names = lab.equations(flow), flow.matrices["KQ"]
    unit = {node: ONE if i == j else ZERO for (i, j), node in np.ndenumerate(flow.layout.symbols["KK"])}
    unit |= {node: ZERO for node in flow.layout.symbols["QQ"].ravel()}
    _, D = toy_forces(flow)
    residuals: dict[str, Node] = {}
    for j in range(TOY_WORDS):
        column = graph.substitute([rhs[names[i, j]] for i in range(TOY_WORDS)], unit)
        residuals |= {f"D_{i + 1}{j + 1}": node - D[i, j] for i, node in enumerate(column)}
        residuals[f"column {j + 1}"] = graph.add(column)
    return on_toy(identity(residuals, positive=("m",)))


@book.claim(
    "Beyond.dissipation",
    "Where the loss goes",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["B"],
    statement=r"-\partial_t\hat{\mathcal L}=\beta|\xi|^2+m_1\xi^\top\Gamma\xi+\mathrm{tr}\,\mathcal D\rho\mathcal D^\top+\mathrm{tr}\,\mathcal D^\top\kappa\mathcal D",
    reading=f"The four terms are the shares of W_V, W, W_K and W_Q, {TOY_READING}.",
)
def dissipation(lab: Laboratory) -> Verdict:
    """The derivative of the loss along the derived flow, forces as symbols after the form is checked."""
    flow = toy_gram(lab)
    rhs = lab.equations(flow)
    xi, D = toy_forces(flow)
    beta, V = flow.layout.symbols["aWWa"][0, 0], flow.layout.symbols["VV"]
    K, Q = flow.layout.symbols["KK"], flow.layout.symbols["QQ"]
    spent = graph.add([x * rhs[name] for x, name in zip(xi, flow.matrices["aWV"][0], strict=True)])
    spent = spent + graph.add([D[place] * rhs[name] for place, name in np.ndenumerate(flow.matrices["KQ"])])
    shares = beta * graph.add(xi * xi) + sym("m1") * graph.add(xi * (V @ xi)) + _trace(D, Q, D.T) + _trace(D.T, K, D)
    atoms = {node: sym(f"force_{k}") for k, node in enumerate(dict.fromkeys([*xi, *D.ravel()])) if node.op != "num"}
    return on_toy(identity({"loss": graph.substitute([spent - shares], atoms)[0]}, positive=("m", "m1")))


@book.claim(
    "Beyond.rigid",
    "Neurons move rigidly",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["C.1", "C.2"],
    statement=r"\dot w_j=a_j\,W_V\xi:\quad a_jw_j-a_kw_k\ \text{constant}",
    reading=f"|a_1 w_1 - a_2 w_2|^2 is constant, and its values change by W_V alone, {TOY_READING}.",
)
def rigid(lab: Laboratory) -> Verdict:
    """The squared distance of a_1 w_1 and a_2 w_2, and what moves their values."""
    flow, t = toy_neurons(lab)
    rhs, names, wv = lab.equations(flow), flow.matrices["WW"], flow.matrices["WV"]
    distance = rhs[names[0, 0]] + rhs[names[1, 1]] - 2 * SIGNS[0] * SIGNS[1] * rhs[names[0, 1]]
    xi, _ = printed_forces(t, TOY_WORDS)
    residuals = {"distance": distance}
    for mu in range(TOY_WORDS):
        both = [
            graph.add([b * t.ww[j, k] for k, b in enumerate(SIGNS)]) * xi[mu] for j in range(2)
        ]  # w_j' b xi: W_V alone
        residuals[f"mu{mu + 1}"] = graph.add(
            [s * a * (rhs[wv[j, mu]] - both[j]) for j, (a, s) in enumerate(zip(SIGNS, (1, -1), strict=True))]
        )
    return on_toy(identity(residuals, positive=("m",)))


@book.claim(
    "Beyond.descent",
    "Gradient descent is closed too",
    kind="identity",
    origin="ours",
    hypotheses=(),
    uses=["Beyond.level1"],
    level="full",
    statement=r"\beta^+=\beta+2\eta m_1\xi^\top G+\eta^2m_1^2\xi^\top\Gamma\xi,\ \dots,\ \rho^+=\rho+\eta(\mathcal D^\top A+A^\top\mathcal D)+\eta^2\mathcal D^\top\kappa\mathcal D",
    reading=f"All six recursions of a simultaneous step eta on W, W_V, W_K, W_Q, {TOY_READING}.",
)
def descent(lab: Laboratory) -> Verdict:
    """The derived map against the six recursions."""
    from odesys import gradient_descent

    flow = gradient_descent(lab.model(TOY_WORDS), lab.mutate(TOY), train=setting.TRAINED)
    rhs = flow.system.equations
    eta, m1 = sym("eta"), sym("m1")
    xi, D = toy_forces(flow)
    beta, G = flow.layout.symbols["aWWa"][0, 0], flow.layout.symbols["aWV"][0]
    V, A, K, Q = (flow.layout.symbols[leaf] for leaf in ("VV", "KQ", "KK", "QQ"))
    form = {
        "aWWa": np.array(
            [[beta + 2 * eta * m1 * graph.add(xi * G) + eta**2 * m1**2 * graph.add(xi * (V @ xi))]], dtype=object
        ),
        "aWV": (G + eta * (beta * xi + m1 * (V @ xi)) + eta**2 * m1 * graph.add(xi * G) * xi)[None, :],
        "VV": V + eta * (np.outer(xi, G) + np.outer(G, xi)) + eta**2 * beta * np.outer(xi, xi),
        "KQ": A + eta * (K @ D + D @ Q) + eta**2 * (D @ A.T @ D),
        "KK": K + eta * (D @ A.T + A @ D.T) + eta**2 * (D @ Q @ D.T),
        "QQ": Q + eta * (D.T @ A + A.T @ D) + eta**2 * (D.T @ K @ D),
    }
    atoms = {node: sym(f"force_{k}") for k, node in enumerate(dict.fromkeys([*xi, *D.ravel()])) if node.op != "num"}
    gaps = {name: rhs[name] - form[leaf][place] for leaf in form for place, name in np.ndenumerate(flow.matrices[leaf])}
    new = graph.substitute(list(gaps.values()), atoms)
    return identity(dict(zip(gaps, new, strict=True)), positive=("m", "m1"))
