"""Section 5.2 and the written-out coefficients: who gains attention, exact sums and invariants, slips of indices."""

from __future__ import annotations

import numpy as np

from odesys import ONE, ZERO, Node, Verdict, equal, graph, identity, measured, rounded, sym

from ..laboratory import Laboratory
from ..setting import Case
from ..special.conditions import CONDITION_4_1, condition_point
from .book import NUMBERS, book, on_toy, read_off, tables
from .common_bounds import bounds_for_every_size
from .common_hypotheses import ATTENTIVE, BAD, DOMINANT, GOOD
from .part_b_system import softmax_of


@book.claim(
    "Sec.5.2-jacobian",
    "Signs and sums of the softmax Jacobian",
    kind="identity",
    uses=["Eq.5"],
    insensitive=NUMBERS,
    origin="proof",
    where="Section 5.2, properties 1 and 2",
    parts=("signs", "sums"),
    hypotheses=(),
    statement=r"J=\mathrm{diag}(\varphi)-\varphi^\top\varphi:\ J_{ii}>0,\ J_{ij}<0,\ \sum_jJ_{ij}=\sum_iJ_{ij}=0",
    reading="Two, three and four tokens; the diagonal is a sum of products of weights, the rest minus one.",
)
def jacobian_signs(lab: Laboratory) -> dict[str, Verdict]:
    """Zero sums, and the forms that show the signs."""
    sums: dict[str, Node] = {}
    signs: dict[str, Node] = {}
    for M in (2, 3, 4):
        a, p = softmax_of(M)
        slopes = [graph.gradient(x, a) for x in p]
        for i in range(M):
            sums[f"{M} row {i}"] = graph.add(slopes[i])
            sums[f"{M} column {i}"] = graph.add(slopes[j][i] for j in range(M))
            signs[f"{M} diagonal {i}"] = slopes[i][i] - p[i] * graph.add(p[j] for j in range(M) if j != i)
            signs |= {f"{M} {i}{j}": slopes[i][j] + p[i] * p[j] for j in range(M) if j != i}
    step = "J_ii = p_i sum_{j != i} p_j and J_ij = -p_i p_j, with positive weights p"
    return {
        "signs": identity(signs).proving(step, M="2, 3, 4"),
        "sums": identity(sums).proving("added up", M="2, 3, 4"),
    }


@book.claim(
    "Sec.5.2-signs",
    "Who gains attention",
    kind="inequality",
    uses=["Def.B.3", "Sec.5.2-jacobian"],
    origin="proof",
    where="Section 5.2, conclusion from properties 1 and 2",
    parts=("alpha_++", "alpha_n+i"),
    hypotheses=(DOMINANT, ATTENTIVE),
    statement=r"V_+\ \text{larger enough than}\ V_{n,i}:\quad \alpha_{+,+}\ge0,\ \alpha_{n,+,i}\le0",
    reading="Larger enough: V_+ >= 3M|V_n,i|, as in Lemma 5.2, with at least 1/M of the attention of a row on the signal.",
)
def who_gains(lab: Laboratory) -> dict[str, Verdict]:
    """The factored forms of alpha."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    a = read_off(flow, True)
    phi, f1 = t.attention(0)[0], t.row_outputs(0)[0]
    front = sym("m_s") * t.slope(0) / 6
    own = t.places[0]
    own_signal = {"alpha_++": (a[0, 0], front * phi[0] * graph.add(phi[j] * (t.V[0] - t.V[own[j]]) for j in (1, 2)))}
    bounds = bounds_for_every_size()
    own_noise = {f"alpha_n+{i}": (a[0, own[i]], front * phi[i] * (t.V[own[i]] - f1)) for i in (1, 2)}
    return {
        "alpha_++": on_toy(equal(own_signal).proving("a positive factor times sum_j phi_1j (V_+ - V_n,j)"))
        & bounds["own"],
        "alpha_n+i": on_toy(equal(own_noise).proving("a positive factor times V_n,i - f_1, f_1 the row's mean value"))
        & bounds["other"],
    }


@book.claim(
    "Beyond.I1-I3",
    "Exact sums of the coefficients",
    kind="identity",
    uses=["Def.B.3"],
    origin="ours",
    insensitive="rows of a softmax Jacobian sum to zero and alpha, beta share one H, whatever the model and the data are",
    hypotheses=(),
    statement=r"A\mathbf 1=0,\quad \mathbf 1^\top G^{-1}B=0,\quad \alpha_{\pm,\pm}=\beta_{\pm,\pm}",
    reading="alpha and beta read off the derived flow; the second for orthogonal tokens of any length",
)
def exact_sums(lab: Laboratory) -> Verdict:
    """Row sums of alpha, weighted column sums of beta, equal diagonals."""
    flow = lab.flow(2)
    a, b = read_off(flow, True), read_off(flow, False)
    found = {f"row {i}": (graph.add(row), ZERO) for i, row in enumerate(a)}
    found |= {f"diagonal {i}": (a[i, i], b[i, i]) for i in (0, 1)}
    plain = lab.flow(2, "orthogonal")
    t, beta = tables(plain, 2), read_off(plain, False)
    found |= {f"column {j}": (graph.add(beta[i, j] / t.G[i, i] for i in range(4)), ZERO) for j in range(4)}
    return equal(found)


@book.claim(
    "Beyond.invariants",
    "Conserved quantities of the flow",
    kind="identity",
    uses=["B.3"],
    origin="ours",
    hypotheses=(),
    statement=r"I_1=\mathrm{tr}\,G^{-1}(\mathcal Q-\mathcal K),\quad I_2=\mathrm{tr}(G^{-1}\mathcal Q)^2+\mathrm{tr}(G^{-1}\mathcal K)^2-2\,\mathrm{tr}\,G^{-1}SG^{-1}S^\top",
    reading="both have zero derivative along the derived flow of orthogonal tokens of any length",
)
def invariants(lab: Laboratory) -> Verdict:
    """Derivatives of the written-out traces, which contain scores and norms only."""
    flow = lab.flow(2, "orthogonal")
    t = tables(flow, 2)
    inverse = np.array([[ONE / t.G[i, i] if i == j else ZERO for j in range(4)] for i in range(4)], dtype=object)
    q, k, s = inverse @ t.Q, inverse @ t.K, inverse @ t.S @ inverse @ t.S.T
    i1 = graph.add(np.diagonal(q)) - graph.add(np.diagonal(k))
    i2 = graph.add(np.diagonal(q @ q)) + graph.add(np.diagonal(k @ k)) - 2 * graph.add(np.diagonal(s))
    moves = {
        sym(name): node
        for leaf in ("KQ", "QQ", "KK")
        for name, node in zip(flow.matrices[leaf].ravel(), flow.rhs(leaf).ravel(), strict=True)
    }
    states = list(moves)
    speeds = [sym(f"d_{x.args[0]}") for x in states]

    def change(node: Node) -> Node:
        """The chain rule, with a symbol for the speed of each state."""
        return graph.add(slope * speed for slope, speed in zip(graph.gradient(node, states), speeds, strict=True))

    derived = dict(zip(speeds, moves.values(), strict=True))
    return equal({"I1": (change(i1), ZERO), "I2": (change(i2), ZERO)}, given=derived)


@book.claim(
    "F.3-index",
    "The value in the sum over keys",
    kind="identity",
    expect="fails",
    uses=["Def.B.3"],
    origin="proof",
    where="Appendix F.3, F.4 and F.6, expressions of beta_{n,+,i} and alpha_{n,i,+}",
    parts=("beta_n+i",),
    hypotheses=(),
    statement=r"\beta_{n,+,i}=-\tfrac{\eta\|\mu\|_2^2}{NM}\ell'_n\Big(V_+(\varphi_{i1}-\varphi_{i1}^2)-\sum_{k=2}^MV_{n,i}\varphi_{i1}\varphi_{ik}\Big)",
    reading="The derived coefficient; the printed sum over the key k has the value of the row i.",
)
def index_of_the_sum(lab: Laboratory) -> Verdict:
    """Printed and corrected sums."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    b = read_off(flow, False)
    found: dict[str, tuple[Node, Node]] = {}
    right: dict[str, tuple[Node, Node]] = {}
    own, rows = t.places[0], t.attention(0)
    for i in (1, 2):
        front = sym("m_s") * t.slope(0) / 6
        diagonal = t.V[0] * rows[i][0] * (1 - rows[i][0])
        found[f"beta_n+{i}"] = (
            b[0, own[i]],
            front * (diagonal - graph.add(t.V[own[i]] * rows[i][0] * rows[i][k] for k in (1, 2))),
        )
        right[f"beta_n+{i}"] = (
            b[0, own[i]],
            front * (diagonal - graph.add(t.V[own[k]] * rows[i][0] * rows[i][k] for k in (1, 2))),
        )
    wrong = on_toy(equal(found)).correcting(
        r"\sum_{k=2}^MV_{n,k}\varphi_{i1}\varphi_{ik}",
        on_toy(equal(right)),
        "the value belongs to the key k; the bounds that follow use |V_{n,k}| <= V_+/(3M) for every k",
    )
    sentence = "at equal scores, M = 3, V_+ = V_n,3 = 0, V_n,2 = 1 and i = 2 the sum is 1/9, and 2/9 as printed"
    return wrong.witnessed(sentence, {}).blaming("misprint", "value-of-the-row")


@book.claim(
    "F.4-index",
    "The range of the sum over keys",
    kind="identity",
    expect="fails",
    uses=["Def.B.3"],
    origin="proof",
    where="Appendix F.4, expression of alpha_{n,i,n,j} and the line after it",
    parts=("alpha_ninj",),
    hypotheses=(),
    statement=r"\alpha_{n,i,n,j}=-\tfrac{\eta\|\xi_{n,i}\|_2^2}{NM}\ell'_n\varphi_{ij}\Big(-V_+\varphi_{i1}+V_{n,j}(1-\varphi_{ij})-\sum_{l\ne i}V_{n,l}\varphi_{il}\Big)+\{\text{lower order term}\}",
    reading="For orthogonal noise, where the lower order term is zero; the sum leaves out the row i, where it must leave out the key j.",
)
def range_of_the_sum(lab: Laboratory) -> Verdict:
    """Printed and corrected ranges, at M = 3."""
    flow = lab.flow(3, "orthogonal")
    t = tables(flow, 3)
    a, own, rows = read_off(flow, True), t.places[0], t.attention(0)
    found: dict[str, tuple[Node, Node]] = {}
    right: dict[str, tuple[Node, Node]] = {}
    for i, j in ((1, 2), (2, 1)):
        phi, front = rows[i], t.G[own[i], own[i]] * t.slope(0) / 6 * rows[i][j]
        first = -t.V[0] * phi[0] + t.V[own[j]] * (1 - phi[j])
        for table, left_out in ((found, i), (right, j)):
            rest = graph.add(t.V[own[l]] * phi[l] for l in (1, 2) if l != left_out)
            table[f"{i + 1}{j + 1}"] = (a[own[i], own[j]], front * (first - rest))
    wrong = on_toy(equal(found)).correcting(
        r"\sum_{l\ne j}V_{n,l}\varphi_{il}",
        on_toy(equal(right)),
        "the bound that follows is for the sum over l other than j",
    )
    sentence = (
        "at equal scores, M = 3, V_+ = V_n,3 = 0, V_n,2 = 1, i = 2 and j = 3 the bracket is -1/3, and 0 as printed"
    )
    return wrong.witnessed(sentence, {}).blaming("misprint", "l-not-i")


@book.claim(
    "Cond.4.1",
    "Parameter conditions",
    kind="condition",
    insensitive=NUMBERS,
    where="Condition 4.1",
    hypotheses=(),
    statement=r"\text{conditions (1)-(10) on}\ d_h, d, N, M, \|w_O\|_2, \eta, \sigma_V, \sigma_h, \epsilon, C_p",
    reading="Unnamed constants are 1, no logarithm is added; in (3) and (9) they are 1/8 and 2. What needs more, N >= 8 log(4/delta) or class sizes, lists it.",
)
def parameter_conditions(lab: Laboratory) -> Verdict:
    """The predicate on the figures' parameters and on a point inside."""
    figure = condition_point(
        Case(20, 16, 1024, 512, 30.0, 0.04 * 1024, 20.0, w2=1 / 3, kappa=512 / (256 * 3 * 1024)),
        eta=0.1,
        eps=0.01,
        delta=1e-3,
    )
    wrong = {item.number: rounded(item.ratio_at(figure)) for item in CONDITION_4_1 if not item.holds(figure)}
    missed = [item.number for family in (GOOD, BAD) for item in CONDITION_4_1 if not item.holds(family.point)]
    return measured(
        not missed and {"1", "2", "6"} <= set(wrong),
        {"figure 1": wrong, "inside": missed},
        figure_1_violates=wrong,
        inside=f"N = {GOOD.N}, d_h = {GOOD.widths[0]:.2g}, d = {GOOD.widths[1]:.2g}",
    )
