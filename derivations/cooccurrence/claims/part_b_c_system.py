"""Appendices B and C: weight gradients, and the equations of neurons, values, keys, queries and scores."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import sympy as sp

from odesys import (
    HOLDS,
    Data,
    Sample,
    Verdict,
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
    TOY_READING,
    book,
    on_toy,
    printed_forces,
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
