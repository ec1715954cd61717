"""The sub-network, Equations (4) and (5), and scores by it."""

from __future__ import annotations

from itertools import product

from odesys import (
    Node,
    Verdict,
    combine_verdicts,
    graph,
    identity,
    sym,
)

from ..laboratory import Laboratory
from ..special import as_printed
from .book import (
    SIGNS,
    TOY,
    TOY_READING,
    TOY_WORDS,
    book,
    on_toy,
    toy_forces,
    toy_gram,
    toy_neurons,
)


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
