"""Appendices B and C: weight gradients, the dynamical system, and what it conserves; Eqs. (4), (5), (6), (7), E.18."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import sympy as sp

from odesys import (
    HOLDS,
    ONE,
    ZERO,
    Data,
    Flow,
    Node,
    Sample,
    Verdict,
    combine_verdicts,
    computed_once,
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

MINI = Data(setting.words(3), [Sample(["mu1", "mu2"], +1, Fraction(1, 2)), Sample(["mu2", "mu3"], -1, Fraction(1, 2))])


@book.claim(
    "B",
    "Weight gradients",
    kind="identity",
    where="Appendix B, four displays",
    parts=("W", "W_V", "W_K", "W_Q"),
    hypotheses=(),
    uses=["Eq.1", "Eq.2"],
    statement=r"\partial_tw_j=\tfrac1n\sum_ig_iy_i\sum_la_jV^{(i)}p^{(i)}_l,\ \partial_tW_V=\tfrac1n\sum_ig_iy_i\sum_l\sum_ja_jw_j(X^{(i)}p^{(i)}_l)^\top,\ \partial_tW_K=\tfrac1{n\sqrt m}\sum_ig_iy_i\sum_l\sum_ja_jq^{(i)}_lp^{(i)\top}_l\mathrm{diag}\big(w_j^\top V^{(i)}-w_j^\top V^{(i)}p^{(i)}_l\big)X^{(i)\top},\ \partial_tW_Q=\tfrac1{n\sqrt m}\sum_ig_iy_i\sum_l\sum_ja_jK^{(i)}\mathrm{diag}\big(V^{(i)\top}w_j-w_j^\top V^{(i)}p^{(i)}_l\big)p^{(i)}_lx^{(i)\top}_l",
    reading="The last forms of the four displays against derivatives of the loss by every weight, all weights symbols, at m = m_1 = 2, two samples of two words.",
)
def weight_gradients(lab: Laboratory) -> dict[str, Verdict]:
    """Scalar derivatives of the engine's loss in symbolic weights against the printed sums."""
    flow, m, d = lab.outputs_of(MINI, 3, SIGNS), 2, 3
    weights = {
        name: np.array([[sym(f"{name}_{i}{j}") for j in range(size)] for i in range(2)], dtype=object)
        for name, size in (("W", m), ("V", d), ("K", d), ("Q", d))
    }
    W, V, K, Q = (weights[name] for name in "WVKQ")
    values = {"WV": W @ V, "KQ": K.T @ Q, "WW": W @ W.T, "VV": V.T @ V, "KK": K.T @ K, "QQ": Q.T @ Q}
    mapping = {
        sym(name): node
        for leaf, names in flow.matrices.items()
        for name, node in zip(names.ravel(), values[leaf].ravel(), strict=True)
    }
    mapping[sym("m")] = graph.num(m)
    loss = graph.substitute([flow.system.observables["loss"]], mapping)[0]
    tables = as_printed.Tables(
        as_printed.encoded(MINI, flow),
        [s.label for s in MINI.samples],
        SIGNS,
        wv=values["WV"],
        score=values["KQ"],
        ww=values["WW"],
        vv=values["VV"],
        kk=values["KK"],
        qq=values["QQ"],
        root_m=graph.sqrt(graph.num(m)),
        exp=graph.exp,
        g=lambda z: graph.call("sigmoid", -z),
    )
    xi, D = printed_forces(tables, d)
    a = np.array([graph.num(s) for s in SIGNS], dtype=object)
    printed = {"W": np.outer(a, V @ xi), "V": np.outer(W.T @ a, xi), "K": Q @ D.T, "Q": K @ D}
    found = {}
    for (name, table), part in zip(weights.items(), ("W", "W_V", "W_K", "W_Q"), strict=True):
        slopes = graph.gradient(loss, list(table.ravel()))
        gaps = {
            f"{name}{place}": s + p
            for place, s, p in zip(np.ndindex(table.shape), slopes, printed[name].ravel(), strict=True)
        }
        found[part] = identity(gaps)
        if found[part].as_stated == HOLDS:
            found[part] = found[part].proving("derivatives of the loss by all entries", n=2, L=2, m=2, m1=2)
    return found


@computed_once
def appendix(lab: Laboratory, leaf: str, form: str, upper: bool = False) -> Verdict:
    """All equations of one path matrix of level 0 equal the printed sums, by the name they have in `as_printed`."""
    flow, tables = toy_neurons(lab)
    rhs, names, entry = lab.equations(flow), flow.matrices[leaf], getattr(tables, form)
    places = [(i, j) for i, j in np.ndindex(names.shape) if not upper or i <= j]
    gaps = {str(names[place]): rhs[str(names[place])] - entry(*place) for place in places}
    return on_toy(with_opaque_attention(gaps, tables, ("m",)))


FORMS = {
    "WW": ("correlation", True),
    "VV": ("values", True),
    "WV": ("neuron", False),
    "QQ": ("queries", True),
    "KK": ("keys", True),
    "KQ": ("scores_split", False),
}


def level_zero(lab: Laboratory) -> Verdict:
    """All equations of level 0 are those of Appendix C; the first that are not, if some are not."""
    for leaf, form in FORMS.items():
        found = appendix(lab, leaf, *form)
        if found.as_stated != HOLDS:
            break
    return found


@book.claim(
    "C.1",
    "Neurons against values, Eq. (6)",
    kind="identity",
    where="Lemma C.1, first form; Equation (6)",
    parts=("Eq. (6)",),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["B"],
    statement=r"\partial_tw_j^\top W_V\mu=\tfrac1n\sum_ig_iy_i\sum_l\sum_ka_k\langle w_j,w_k\rangle(X^{(i)}p_l)^\top\mu+\tfrac1n\sum_ig_iy_i\sum_la_jp_l^\top V^{(i)\top}W_V\mu",
    reading=f"All eight equations {TOY_READING}; j runs over the m_1 neurons.",
)
def neurons(lab: Laboratory) -> Verdict:
    """Eq. (6) entry by entry."""
    return appendix(lab, "WV", "neuron")


@book.claim(
    "C.1/split",
    "Second form of Lemma C.1",
    kind="identity",
    where="Lemma C.1, second form",
    parts=("second form",),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["C.1"],
    statement=r"\partial_tw_j^\top W_V\mu=\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_la_j(\|w_j\|^2+\|v(\mu)\|^2)p_{q\leftarrow l,k\leftarrow\mu}+\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_l\sum_{k\ne j}a_k\langle w_j,w_k\rangle p_{q\leftarrow l,k\leftarrow\mu}+\tfrac1n\sum_ig_iy_i\sum_{l_1}a_j\sum_{l_2:v_{l_2}\ne v(\mu)}\langle p_{l_1,l_2}v_{l_2},v(\mu)\rangle",
    reading=f"All eight equations {TOY_READING}; no word stands twice in a sample.",
)
def neurons_split(lab: Laboratory) -> Verdict:
    """The squared norms in front, epsilon behind."""
    return appendix(lab, "WV", "neuron_split")


@book.claim(
    "C.2",
    "Correlations of neurons",
    kind="identity",
    where="Lemma C.2",
    parts=("split by U",),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["B"],
    statement=r"\partial_t\langle w_{j_1},w_{j_2}\rangle=\tfrac1n\sum_ig_iy_i\sum_l\sum_{l'}(a_{j_2}w_{j_1}^\top V_{l'}p_{l,l'}+a_{j_1}w_{j_2}^\top V_{l'}p_{l,l'}),\ l'\ \text{split by}\ U",
    reading=f"U, which is not defined in the text, is (mu1, mu2, mu3); all equations {TOY_READING}.",
)
def correlations(lab: Laboratory) -> Verdict:
    """The sum split into words of U and the others."""
    return appendix(lab, "WW", "correlation", upper=True)


@book.claim(
    "C.3",
    "Value Gram matrix",
    kind="identity",
    where="Lemma C.3",
    parts=("the equation",),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["B"],
    statement=r"\partial_t\nu^\top W_V^\top W_V\mu=\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_l\sum_ja_j\nu^\top W_V^\top w_jp_{q\leftarrow l,k\leftarrow\mu}+(\mu\leftrightarrow\nu)",
    reading=f"All ten equations {TOY_READING}; the left side with its transpose.",
)
def values(lab: Laboratory) -> Verdict:
    """Lemma C.3 entry by entry."""
    return appendix(lab, "VV", "values", upper=True)


@book.claim(
    "C.3-transpose",
    "Shapes of left sides",
    kind="identity",
    where="Lemma C.3 and Lemma F.16, second bullet; proofs of E.9, F.11, F.16, F.17",
    parts=("values", "scores"),
    hypotheses=(),
    uses=["C.3"],
    expect="fails",
    insensitive="shapes of matrices, not the system",
    statement=r"\nu W_V^\top W_V\mu\ \text{(C.3, E.9, F.11)},\quad\nu^\top W_KW_Q\mu\ \text{(F.16, F.17)}\quad\text{are numbers}",
    reading="Words are columns and W_V, W_K, W_Q have m rows; Appendix C prints the equations themselves with their transposes.",
)
def shapes(lab: Laboratory) -> dict[str, Verdict]:
    """Products of matrix symbols of these shapes."""
    m, d = sp.symbols("m d", integer=True, positive=True)
    word, other = sp.MatrixSymbol("nu", d, 1), sp.MatrixSymbol("mu", d, 1)
    V, K, Q = (sp.MatrixSymbol(name, m, d) for name in ("W_V", "W_K", "W_Q"))

    def one_number(factors: tuple[sp.MatrixExpr, ...]) -> bool | str:
        for left, right in pairwise(factors):
            if left.shape[1] != right.shape[0]:
                return f"{left.shape[0]} x {left.shape[1]} times {right.shape[0]} x {right.shape[1]} is not defined"
        return bool((factors[0].shape[0], factors[-1].shape[1]) == (1, 1))

    def judged(factors: tuple[Any, ...], right: tuple[Any, ...], sentence: str, fixed: str, why: str) -> Verdict:
        found = enumerate_all([factors], one_number, "products").witnessed(sentence, {"d": 64})
        return found.correcting(fixed, enumerate_all([right], one_number, "products"), why).blaming(
            "misprint", "lost-transpose"
        )

    return {
        "values": judged(
            (word, V.T, V, other),
            (word.T, V.T, V, other),
            "a d x 1 word times the d x d matrix W_V^T W_V is not defined for d > 1, say d = 64",
            r"\nu^\top W_V^\top W_V\mu",
            "a word on the left is a row",
        ),
        "scores": judged(
            (word.T, K, Q, other),
            (word.T, K.T, Q, other),
            "the 1 x d row nu^T times the m x d matrix W_K, and that times the m x d matrix W_Q, is not defined, say for d = 64",
            r"\nu^\top W_K^\top W_Q\mu",
            "the transpose of W_K is missing",
        ),
    }


@book.claim(
    "C.4",
    "Keys, queries and scores",
    kind="identity",
    where="Lemma C.4",
    parts=("queries", "keys", "scores"),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["B"],
    statement=r"\partial_t\nu^\top W_Q^\top W_Q\mu=\tfrac1{n\sqrt m}\sum_{i\ni\mu}g_iy_i\sum_ja_j\nu^\top W_Q^\top K\,\mathrm{diag}(V^\top w_j-w_j^\top Vp_{l(i,\mu)})p_{l(i,\mu)}+(\mu\leftrightarrow\nu),\quad\partial_t\nu^\top W_K^\top W_K\mu=\tfrac1{n\sqrt m}\sum_{i\ni\mu}g_iy_i\sum_l\sum_ja_j\nu^\top W_K^\top q_lp_{q\leftarrow l,k\leftarrow\mu}\big(w_j^\top v(\mu)-w_j^\top Vp_l\big)+(\mu\leftrightarrow\nu),\quad\partial_t\nu^\top W_K^\top W_Q\mu=\tfrac1{n\sqrt m}\sum_{i\ni\mu}g_iy_i\sum_ja_j\nu^\top W_K^\top K\,\mathrm{diag}(V^\top w_j-w_j^\top Vp_{l(i,\mu)})p_{l(i,\mu)}+\tfrac1{n\sqrt m}\sum_{i\ni\nu}g_iy_i\sum_l\sum_ja_j\mu^\top W_Q^\top q_lp_{q\leftarrow l,k\leftarrow\nu}\big(w_j^\top v(\nu)-w_j^\top Vp_l\big)",
    reading=f"The paper splits each sum of the last one in two: all 36 equations {TOY_READING}.",
)
def keys_queries_scores(lab: Laboratory) -> dict[str, Verdict]:
    """Lemma C.4 entry by entry."""
    return {
        "queries": appendix(lab, "QQ", "queries", upper=True),
        "keys": appendix(lab, "KK", "keys", upper=True),
        "scores": appendix(lab, "KQ", "scores_split"),
    }


@book.claim(
    "Eq.7",
    "Scores",
    kind="identity",
    where="Equation (7)",
    parts=("Eq. (7)",),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["B"],
    statement=r"\partial_t\nu^\top W_K^\top W_Q\mu=\tfrac1{n\sqrt m}\sum_ig_iy_i\sum_{l,j}a_j\nu^\top W_K^\top K\,\mathrm{diag}(V^\top w_j-w_j^\top Vp_l)p_lx_l^\top\mu+\tfrac1{n\sqrt m}\sum_ig_iy_i\sum_{l,j}a_j\mu^\top W_Q^\top q_lp_l^\top\mathrm{diag}(w_j^\top V-w_j^\top Vp_l)X^{(i)\top}\nu",
    reading=f"All 16 equations {TOY_READING}.",
)
def scores(lab: Laboratory) -> Verdict:
    """Eq. (7) entry by entry."""
    return appendix(lab, "KQ", "scores")


@book.claim(
    "Sec.4.2-text",
    "Scores by the sub-network",
    kind="identity",
    origin="text",
    where="Section 4.2, the display after Corollary 4.6",
    parts=("the display",),
    hypotheses=(),
    for_all=("n", "L"),
    uses=["Eq.7"],
    statement=r"\partial_t\mu_1^\top W_K^\top W_Q\mu_2=\tfrac1{n\sqrt m}\sum_ig_iy_i\sum_l\mu_1^\top W_K^\top K\,\mathrm{diag}\big(G(X^{(i)})-G(X^{(i)})^\top p_l\big)p_lx_l^\top\mu_2+\tfrac1{n\sqrt m}\sum_ig_iy_i\sum_l\mu_2^\top W_Q^\top q_lp_l^\top\mathrm{diag}\big(G(X^{(i)})-G(X^{(i)})^\top p_l\big)X^{(i)\top}\mu_1",
    reading=f"Equation (7) summed over neurons: the equation of the two words {TOY_READING}.",
)
def scores_by_sub_network(lab: Laboratory) -> Verdict:
    """The derived equation of level 1 against K D + D Q, with D from the printed sums."""
    flow = toy_gram(lab)
    _, D = toy_forces(flow)
    K, Q = flow.layout.symbols["KK"], flow.layout.symbols["QQ"]
    printed = graph.add([K[0, x] * D[x, 1] for x in range(TOY_WORDS)] + [D[0, x] * Q[x, 1] for x in range(TOY_WORDS)])
    name = flow.matrices["KQ"][0, 1]
    return on_toy(identity({"A_12": lab.equations(flow)[name] - printed}, positive=("m",)))


# ---- the sub-network ---------------------------------------------------------------------------------------------


def _sub_network_rate(lab: Laboratory, mu: int) -> Node:
    """dG(mu)/dt of level 0: the sum of a_j times the neurons' equations."""
    flow, _ = toy_neurons(lab)
    rhs, names = lab.equations(flow), flow.matrices["WV"]
    return graph.add([a * rhs[names[j, mu]] for j, a in enumerate(SIGNS)])


def _first_term(t: as_printed.Tables, mu: int) -> Node:
    beta = graph.add([a * b * t.ww[j, k] for j, a in enumerate(SIGNS) for k, b in enumerate(SIGNS)])
    return (
        graph.add(
            [
                gy * row[h] * beta
                for gy, tokens, p in zip(t.gy, t.tokens, t.p, strict=True)
                for row in p
                for h, x in enumerate(tokens)
                if x == mu
            ]
        )
        / t.n
    )


def _second_term(t: as_printed.Tables, mu: int, factor: int) -> Node:
    return (
        len(SIGNS)
        * factor
        * graph.add(
            [
                gy * row[h] * t.vv[x, mu]
                for gy, tokens, p in zip(t.gy, t.tokens, t.p, strict=True)
                for row in p
                for h, x in enumerate(tokens)
            ]
        )
        / t.n
    )


def _eq4(lab: Laboratory, factor: int) -> Verdict:
    _, t = toy_neurons(lab)
    return identity(
        {
            f"mu{mu + 1}": _sub_network_rate(lab, mu) - _first_term(t, mu) - _second_term(t, mu, factor)
            for mu in range(TOY_WORDS)
        },
        positive=("m",),
    )


@book.claim(
    "Eq.4",
    "Gradient flow of the sub-network",
    kind="identity",
    origin="text",
    where="Equation (4)",
    parts=("the equation",),
    hypotheses=(),
    uses=["C.1"],
    expect="fails",
    statement=r"\partial_tG(\mu)=\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_lp_{q\leftarrow l,k\leftarrow\mu}\sum_{j_1,j_2}a_{j_1}a_{j_2}\langle w_{j_1},w_{j_2}\rangle+\tfrac{m_1}n\sum_ig_iy_i\sum_la_{j_1}p_l^\top V^\top W_V\mu",
    reading="The free index j_1 of the second term is read as either neuron; the toy data have signs +, -.",
)
def sub_network_printed(lab: Laboratory) -> Verdict:
    """Eq. (4) with the stray sign; without it, it is Definition E.18."""
    printed = combine_verdicts({f"a_j1 = {a:+d}": _eq4(lab, a) for a in SIGNS})
    sentence = "with a_{j_1} = -1 (two neurons, signs +, -) the printed second term has the wrong sign for every word"
    fixed = r"\text{the same with}\ \tfrac{m_1}n\sum_ig_iy_i\sum_lp_l^\top V^\top W_V\mu"
    right = on_toy(_eq4(lab, 1))
    return (
        printed.witnessed(sentence, {"m1": 2})
        .correcting(fixed, right, "a_j enters twice, and its square is one")
        .blaming("misprint", "stray-sign-in-4")
    )


@book.claim(
    "E.18",
    "Sub-network and its gradient flow",
    kind="identity",
    where="Definition E.18",
    parts=("double sum", "matrix form"),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["C.1"],
    statement=r"G(\mu)=\sum_ja_jw_j^\top W_V\mu,\quad\partial_tG(\mu)=\tfrac1n\sum_{i\ni\mu}g_iy_i\sum_l\sum_{j_1,j_2}a_{j_1}a_{j_2}\langle w_{j_1},w_{j_2}\rangle p_{q\leftarrow l,k\leftarrow\mu}+\tfrac{m_1}n\sum_ig_iy_i\sum_{l_1,l_2}\langle p_{l_1,l_2}v_{l_2},v(\mu)\rangle",
    reading=f"The printed sums, and the same as beta xi + m_1 Gamma xi with m_1 a symbol, {TOY_READING}.",
)
def sub_network(lab: Laboratory) -> dict[str, Verdict]:
    """Level 0 against the double sum, level 1 against the matrix form."""
    flow = toy_gram(lab)
    xi, _ = toy_forces(flow)
    rhs, G, V, beta = (
        lab.equations(flow),
        flow.matrices["aWV"][0],
        flow.layout.symbols["VV"],
        flow.layout.symbols["aWWa"][0, 0],
    )
    form = {name: rhs[name] - beta * xi[k] - sym("m1") * graph.add(V[k] * xi) for k, name in enumerate(G)}
    return {"double sum": on_toy(_eq4(lab, 1)), "matrix form": on_toy(identity(form, positive=("m", "m1")))}


@book.claim(
    "Eq.5",
    "Gradient flow of the summed correlations",
    kind="identity",
    origin="text",
    where="Equation (5)",
    parts=("the equation",),
    hypotheses=(),
    for_all=("n", "L", "m1"),
    uses=["C.2"],
    statement=r"\partial_t\sum_{j_1,j_2}\langle a_{j_1}w_{j_1},a_{j_2}w_{j_2}\rangle=\tfrac{2m_1}n\sum_ig_iy_iF_i",
    reading=f"By neurons with m_1 = 2, and summed with m_1 a symbol, {TOY_READING}.",
)
def beta_rate(lab: Laboratory) -> Verdict:
    """The sum of the equations of <w_j, w_k>, and the equation of beta."""
    flow, t = toy_neurons(lab)
    rhs, names = lab.equations(flow), flow.matrices["WW"]
    total = graph.add([a * b * rhs[names[j, k]] for (j, a), (k, b) in product(enumerate(SIGNS), repeat=2)])
    mean = graph.add([gy * F for gy, F in zip(t.gy, t.outputs, strict=True)]) / t.n
    gram = toy_gram(lab)
    one = as_printed.symbolic_tables(gram, TOY, (1,))
    own = graph.add([gy * F for gy, F in zip(one.gy, one.outputs, strict=True)]) / one.n
    beta = gram.matrices["aWWa"][0, 0]
    gaps = {"level 0": total - 2 * len(SIGNS) * mean, "level 1": lab.equations(gram)[beta] - 2 * sym("m1") * own}
    return on_toy(identity(gaps, positive=("m", "m1")))


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
