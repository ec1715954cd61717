"""Definitions, appendix B and section 5.2: data, gradients, and the update rules of all inner products."""

from __future__ import annotations

import numpy as np

from odesys import (
    ONE,
    ZERO,
    Node,
    Verdict,
    entry_pairs,
    enumerate_all,
    equal,
    graph,
    identity,
    measured,
    num,
    rounded,
    sym,
)

from .. import setting
from ..laboratory import Laboratory
from ..setting import Case
from ..special import span_network
from ..special.descents import CASES
from . import common_lemma_5_1
from .book import NUMBERS, TOY, Tables, book, read_off, tables


@book.claim(
    "Def.3.1",
    "Data",
    kind="definition",
    statement=r"x_1=\mu_y,\ x_2=\xi_2\sim N(0,\tilde\sigma_p^2\Pi),\ x_i=\xi_i\sim N(0,\sigma_p^2\Pi),\ \langle\mu_\pm,\xi\rangle=0,\ \langle\mu_+,\mu_-\rangle=0",
    reading="the samples have the signal of their label first and noise tokens of their own; drawn noise is exactly orthogonal to the "
    "signals, and its mean squared lengths are sigma~_p^2 d and sigma_p^2 d within 5 standard errors (N = 40, d = 2000)",
)
def data_law(lab: Laboratory) -> Verdict:
    """Tokens and labels of the training set, and moments of a draw."""

    def right(case: tuple[int, tuple[tuple[str, ...], int]]) -> bool:
        n, (tokens, y) = case
        return tokens == (setting.SIGNAL[0 if y > 0 else 1], *(setting.noise_word(n, i) for i in range(2, 5)))

    listed = enumerate_all(list(enumerate(lab.samples(8, 4), 1)), right, "samples of 4 tokens")
    case = Case(40, 4, 2000, 4, 3.0, 7.0, 3.0)
    made = span_network.draw(case, 0)
    lengths = np.diag(made.gram)[2:].reshape(40, 3) / (np.array([case.m_2, case.m_w, case.m_w]) * (case.d - 2) / case.d)
    gap = np.abs(lengths.mean(axis=0) - 1) / np.sqrt(2 / (40 * (case.d - 2)))
    drawn = measured(
        bool((made.gram[:2, 2:] == 0).all() and made.gram[0, 1] == 0 and (gap < 5).all()),
        {"standard errors": rounded(gap)},
        standard_errors=rounded(gap),
        seed=0,
    )
    return listed & drawn


@book.claim(
    "Def.5.1",
    "Vectorised queries and keys",
    kind="definition",
    statement=r"q_\pm=\mu_\pm^\top W_Q,\ q_{n,i}=\xi_{n,i}^\top W_Q,\ k_\pm=\mu_\pm^\top W_K,\ k_{n,i}=\xi_{n,i}^\top W_K",
    reading="the loss reads W_Q and W_K only through the scores q_a k_b: the derived output of each toy sample equals Eq. (1) written "
    "out in the symbols q_a k_b and V_a (M = 3)",
)
def queries_and_keys(lab: Laboratory) -> Verdict:
    """Outputs of the toy samples."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    return equal({f"y f(X_{n + 1})": (flow.outputs[f"margin_{n + 1}"], t.y[n] * t.output(n)) for n in range(2)})


@book.claim(
    "Def.5.2",
    "Coefficients of V",
    kind="identity",
    uses=["B.1"],
    statement=r"V_\pm^{(t)}=V_\pm^{(0)}+\gamma_{V,\pm}^{(t)}\|w_O\|^2,\quad V_{n,i}^{(t)}=V_{n,i}^{(0)}+\rho_{V,n,i}^{(t)}\|w_O\|^2",
    reading="every step changes V by |w_O|^2 times something that does not contain |w_O|^2 (M = 3), so gamma and rho exist and start at 0",
)
def coefficients_of_v(lab: Laboratory) -> Verdict:
    """The change of V over w2 has no w2."""
    flow = lab.step(3)
    t = tables(flow, 3)
    change = (flow.rhs("wOV")[0] - t.V) / sym("w2")
    left = {str(i): graph.gradient(node, [sym("w2")])[0] for i, node in enumerate(change)}
    own = {
        f"h_{i}": (
            node,
            sym("eta") * graph.add(t.G[i, j] * value for j, value in enumerate(_h(t)) if t.G[i, j] is not ZERO),
        )
        for i, node in enumerate(change)
    }
    return identity(left) & equal(own)


def _h(t: Tables) -> list[Node]:
    """h = sum_n y_n (-l'_n) / (N M) E_n' sum_l phi_l."""
    out = [ZERO] * len(t.V)
    for n in range(2):
        rows = t.attention(n)
        for j, token in enumerate(t.places[n]):
            out[token] = out[token] + num(t.y[n]) / (2 * t.M) * t.slope(n) * graph.add(row[j] for row in rows)
    return out


@book.claim(
    "Def.B.3",
    "Coefficients alpha and beta",
    kind="identity",
    uses=["B.1"],
    statement=r"\Delta q_\pm=\alpha_{\pm,\pm}k_\pm+\sum_{n\in S_\pm,i}\alpha_{n,\pm,i}k_{n,i},\ \ldots",
    reading="alpha = eta G H and beta = eta G H' with the paper's H, entry by entry; alpha_{+,-} = alpha_{-,+} = 0, no coefficient between mu_+ "
    "and a sample of S_-, same for beta; M = 3, " + TOY,
)
def alpha_beta(lab: Laboratory) -> Verdict:
    """alpha and beta read off the derived flow against G H and G H'."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    H = t.H()
    a, b = read_off(flow, True), read_off(flow, False)
    verdict = equal(entry_pairs(a, t.G @ H, "alpha") | entry_pairs(b, t.G @ H.T, "beta"))
    none = {
        f"{name} {i},{j}": table[i, j]
        for name, table in (("alpha", a), ("beta", b))
        for i, j in ((0, 1), (1, 0), (0, 4), (0, 5), (1, 2), (1, 3))
    }
    return verdict & identity(none)


@book.claim(
    "Eq.2",
    "Update of q_+",
    kind="identity",
    uses=["Def.B.3"],
    statement=r"\Delta q_+=\tfrac{\eta}{NM}\sum_{n\in S_+}(-\ell'_n)\|\mu\|^2w_O^\top W_V^\top X_n^\top(\mathrm{diag}\varphi_{n,1}-\varphi_{n,1}^\top\varphi_{n,1})X_nW_K",
    reading="the coefficient of each k_b, read off the derived flow, M = 3; " + TOY,
)
def update_of_q(lab: Laboratory) -> Verdict:
    """First row of alpha."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    row = np.full(len(t.V), ZERO, dtype=object)
    J = t.jacobian(0, 0)
    for j, token in enumerate(t.places[0]):
        row[token] = (
            t.slope(0) * sym("m_s") / (2 * 3) * graph.add(t.V[other] * J[i][j] for i, other in enumerate(t.places[0]))
        )
    return equal(entry_pairs(read_off(flow, True)[0], row, "k"))


def _softmax(size: int) -> tuple[list[Node], list[Node]]:
    a = [sym(f"a_{i + 1}") for i in range(size)]
    total = graph.add(graph.exp(x) for x in a)
    return a, [graph.exp(x) / total for x in a]


@book.claim(
    "Eq.4",
    "Derivative of the softmax",
    kind="identity",
    expect="fails",
    insensitive=NUMBERS,
    statement=r"\partial p_i/\partial a_i=p_i(1-p_i),\quad \partial p_i/\partial a_j=p_ip_j\ (i\ne j)",
    reading="for M = 3 logits; the off-diagonal derivative as printed in (4) and in the text after it",
)
def softmax_derivative(lab: Laboratory) -> Verdict:
    """Printed off-diagonal sign against the derivative."""
    a, p = _softmax(3)
    slopes = [graph.gradient(x, a) for x in p]
    diagonal = {f"{i}{i}": (slopes[i][i], p[i] * (1 - p[i])) for i in range(3)}
    off = [(i, j) for i in range(3) for j in range(3) if i != j]
    printed = equal({f"{i}{j}": (slopes[i][j], p[i] * p[j]) for i, j in off})
    right = equal(diagonal | {f"{i}{j}": (slopes[i][j], -p[i] * p[j]) for i, j in off})
    return printed.correcting(
        r"\partial p_i/\partial a_j=-p_ip_j",
        right,
        "the first equality of the same line has the sign, and (5) is right",
    )


@book.claim(
    "B.1",
    "Gradients",
    kind="identity",
    uses=["Eq.4"],
    statement=r"\nabla_{W_V}L_S=\tfrac1{NM}\sum_ny_n\ell'_n[w_O\sum_l\varphi_{n,l}X_n]^\top,\ \nabla_{W_Q}L_S,\ \nabla_{W_K}L_S",
    reading="contracted with the tokens: Z (-grad W_Q) = G H k, Z (-grad W_K) = G H' q, Z (-grad W_V) w_O = |w_O|^2 G h, with H and h from the "
    "printed Jacobians; as derivatives of the derived loss by the scores and values, M = 3; " + TOY,
)
def gradients(lab: Laboratory) -> Verdict:
    """-dL/dS = H and -dL/dV = h, and the flow of V."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    loss = flow.outputs["loss"]
    slopes = graph.gradient(loss, [*t.S.ravel(), *t.V])
    H = np.array([-s for s in slopes[: t.S.size]], dtype=object).reshape(t.S.shape)
    h = [-s for s in slopes[t.S.size :]]
    mine = _h(t)
    verdict = equal(
        entry_pairs(H, t.H(), "H") | {f"h {i}": (a, b) for i, (a, b) in enumerate(zip(h, mine, strict=True))}
    )
    moving = {
        f"V {i}": (node, sym("w2") * graph.add(t.G[i, j] * mine[j] for j in range(len(mine)) if t.G[i, j] is not ZERO))
        for i, node in enumerate(flow.rhs("wOV")[0])
    }
    return verdict & equal(moving)


@book.claim(
    "B.2",
    "Update rule for V",
    kind="identity",
    uses=["B.1", "Def.5.2"],
    statement=r"\gamma_{V,+}^{(t+1)}-\gamma_{V,+}^{(t)}=\tfrac{\eta\|\mu\|^2}{NM}\sum_{n\in S_+}(-\ell'_n)\sum_l\varphi^{(n)}_{l1},\ "
    r"\rho_{V,n,i}^{(t+1)}-\rho_{V,n,i}^{(t)}=\tfrac{\eta}{NM}\sum_{n'}y_{n'}(-\ell'_{n'})\sum_{i'\ge2}\langle\xi_{n,i},\xi_{n',i'}\rangle\sum_l\varphi^{(n')}_{li'}",
    reading="the derived gradient step of V, all tokens, M = 3; " + TOY,
)
def update_of_v(lab: Laboratory) -> Verdict:
    """The step of V against the printed sums."""
    flow = lab.step(3)
    t = tables(flow, 3)
    step = flow.rhs("wOV")[0]
    eta, w2 = sym("eta"), sym("w2")
    found: dict[str, tuple[Node, Node]] = {}
    for sample, sign in ((0, 1), (1, -1)):
        total = graph.add(row[0] for row in t.attention(sample))
        printed = sign * eta * sym("m_s") / 6 * t.slope(sample) * total
        found["gamma_" + "+-"[sample]] = ((step[sample] - t.V[sample]) / w2, printed)
    for token in range(2, 6):
        printed = graph.add(
            num(t.y[n]) * eta / 6 * t.slope(n) * t.G[token, other] * graph.add(row[i] for row in t.attention(n))
            for n in range(2)
            for i, other in enumerate(t.places[n])
            if i >= 1
        )
        found[f"rho {token}"] = ((step[token] - t.V[token]) / w2, printed)
    return equal(found)


@book.claim(
    "5.1/update",
    "Dynamics of gamma and rho",
    kind="identity",
    uses=["B.2"],
    same_as="B.2",
    statement=r"\text{the update rules of }\gamma_V\text{ and }\rho_V",
    reading="first display of Lemma 5.1, as B.2",
)
def dynamics_of_gamma(lab: Laboratory) -> Verdict:
    """The same equations."""
    return update_of_v(lab)


@book.claim(
    "5.1",
    "Bound on the change of rho",
    kind="inequality",
    expect="fails",
    uses=["B.2", "C.4"],
    statement=r"|\rho^{(t+1)}_{V,n,i}-\rho^{(t)}_{V,n,i}|\le\tfrac{2\eta C_p^2\sigma_p^2d}{NM}\sum_l(-\ell'_n)\varphi^{(n)}_{li}",
    reading="for all t from the start to the training loss 0.05, all samples and tokens: every tenth step of four descents by the derived recursion (benign, harmful and saturating ones with N = 6, d = 200,000 or more, and N = 24, M = 3, d = 250, d_h = 100, C_p = 4, "
    "N SNR^2 = 400, inside the event of C.4) and every step of three networks. Noise of other samples is not orthogonal, and its sum over N samples exceeds the bound unless d is of order N^2 log N; "
    "it can do so later only, when the own loss or attention has become small. The corrected bound is proved at every state; "
    + TOY,
)
def own_sample_bound(lab: Laboratory) -> Verdict:
    """Largest ratios along descents and networks, and the bound with the cross terms at every state."""
    runs = {name: common_lemma_5_1.of_run(lab.descent(name)) for name in CASES}
    networks = {name: common_lemma_5_1.of_network(name) for name in common_lemma_5_1.NETWORKS}
    shown = {name: found.summary() for name, found in (runs | networks).items()}
    crowded, case = runs["crowded"], CASES["crowded"]
    verdict = measured(
        all(found.largest.max() <= 1 for found in runs.values()),
        {"N": case.N, "M": case.M, "d": case.d, "C_p": case.C_p, **crowded.witness()},
        along=shown,
    )
    return verdict.correcting(
        r"|\Delta\rho_{V,n,i}|\le\tfrac{3\eta\tilde\sigma_p^2d}{2NM}\sum_l(-\ell'_n)\varphi^{(n)}_{li}+\eta\,2\tilde\sigma_p^2\sqrt{d\log(4N^2M^2/\delta)}\tfrac1N\sum_{n'}(-\ell'_{n'})",
        common_lemma_5_1.at_every_state(lab),
        "own tokens by C.4 (factor 3/2), all other tokens by the off-diagonal bound of C.4 and attention that sums to one; the printed form needs d of order N^2 log N",
    )


@book.claim(
    "B.3",
    "Update rule for queries and keys",
    kind="identity",
    uses=["Def.B.3"],
    statement=r"S^+=S+A\mathcal K+\mathcal QB^\top+AS^\top B^\top,\ \mathcal Q^+=\mathcal Q+AS^\top+SA^\top+A\mathcal KA^\top,\ \mathcal K^+=\mathcal K+BS+S^\top B^\top+B\mathcal QB^\top",
    reading="(190)-(214) in one line each: all entries of the derived gradient step, M = 2, with A = eta G H, B = eta G H' from the printed "
    "Jacobians; " + TOY,
)
def update_of_inner_products(lab: Laboratory) -> Verdict:
    """The derived step against the box."""
    flow = lab.step(2)
    t = tables(flow, 2)
    names: dict[str, tuple[Node, Node]] = {}
    H = t.H()
    S, Q, K = t.S, t.Q, t.K
    eta = sym("eta")
    A, B = eta * (t.G @ H), eta * (t.G @ H.T)
    printed = {
        "S": S + A @ K + Q @ B.T + A @ S.T @ B.T,
        "Q": Q + A @ S.T + S @ A.T + A @ K @ A.T,
        "K": K + B @ S + S.T @ B.T + B @ Q @ B.T,
    }
    derived = {"S": flow.rhs("KQ").T, "Q": flow.rhs("QQ"), "K": flow.rhs("KK")}
    for part in ("S", "Q", "K"):
        names |= entry_pairs(derived[part], printed[part], part)
    return equal(names)


@book.claim(
    "Sec.5.2-jacobian",
    "Signs and sums of the softmax Jacobian",
    kind="identity",
    uses=["Eq.4"],
    insensitive=NUMBERS,
    statement=r"J_{ii}>0,\ J_{ij}<0,\ \sum_jJ_{ij}=\sum_iJ_{ij}=0",
    reading="J = diag p - p'p for M = 2, 3, 4 logits: rows and columns sum to zero identically; J_ii = p_i sum_{j != i} p_j and J_ij = -p_i p_j are "
    "a sum of products of positive numbers, and minus one",
)
def jacobian_signs(lab: Laboratory) -> Verdict:
    """Zero sums, and the forms that show the signs."""
    found: dict[str, Node] = {}
    for M in (2, 3, 4):
        a, p = _softmax(M)
        slopes = [graph.gradient(x, a) for x in p]
        for i in range(M):
            found[f"{M} row {i}"] = graph.add(slopes[i])
            found[f"{M} column {i}"] = graph.add(slopes[j][i] for j in range(M))
            found[f"{M} diagonal {i}"] = slopes[i][i] - p[i] * graph.add(p[j] for j in range(M) if j != i)
            found |= {f"{M} {i}{j}": slopes[i][j] + p[i] * p[j] for j in range(M) if j != i}
    return identity(found)


@book.claim(
    "Sec.5.2-signs",
    "Who gains attention",
    kind="inequality",
    uses=["Def.B.3", "Sec.5.2-jacobian"],
    statement=r"V_+\ge\max_jV_{n,j}\Rightarrow\alpha_{+,+}\ge0;\quad V_{n,i}\le f_1\Rightarrow\alpha_{n,+,i}\le0",
    reading="the derived alpha_{+,+} / eta equals mu^2 (-l') / (N M) phi_11 sum_j phi_1j (V_+ - V_j), a sum of products of non-negative numbers, and "
    "alpha_{n,+,i} / eta equals mu^2 (-l') / (N M) phi_1i (V_i - f_1); M = 3, " + TOY,
)
def who_gains(lab: Laboratory) -> Verdict:
    """The factored forms of alpha."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    a = read_off(flow, True)
    phi, f1 = t.attention(0)[0], t.row_outputs(0)[0]
    front = sym("m_s") * t.slope(0) / 6
    own = t.places[0]
    found = {"alpha_++": (a[0, 0], front * phi[0] * graph.add(phi[j] * (t.V[0] - t.V[own[j]]) for j in (1, 2)))}
    found |= {f"alpha_n+{i}": (a[0, own[i]], front * phi[i] * (t.V[own[i]] - f1)) for i in (1, 2)}
    return equal(found)


@book.claim(
    "Beyond.I1-I3",
    "Exact sums of the coefficients",
    kind="identity",
    uses=["Def.B.3"],
    origin="ours",
    insensitive="rows of a softmax Jacobian sum to zero and alpha, beta share one H, whatever the model and the data are",
    statement=r"A\mathbf 1=0,\quad \mathbf 1^\top G^{-1}B=0,\quad \alpha_{\pm,\pm}=\beta_{\pm,\pm}",
    reading="alpha and beta read off the derived flow, M = 2; the second for orthogonal tokens of any length",
)
def exact_sums(lab: Laboratory) -> Verdict:
    """Row sums of alpha, weighted column sums of beta, equal diagonals."""
    flow = lab.flow(2)
    a, b = read_off(flow, True), read_off(flow, False)
    found = {f"row {i}": graph.add(row) for i, row in enumerate(a)}
    found |= {f"diagonal {i}": a[i, i] - b[i, i] for i in (0, 1)}
    plain = lab.flow(2, "orthogonal")
    t, beta = tables(plain, 2), read_off(plain, False)
    found |= {f"column {j}": graph.add(beta[i, j] / t.G[i, i] for i in range(4)) for j in range(4)}
    return identity(found)


@book.claim(
    "Beyond.invariants",
    "Conserved quantities of the flow",
    kind="identity",
    uses=["B.3"],
    origin="ours",
    statement=r"I_1=\mathrm{tr}\,G^{-1}(\mathcal Q-\mathcal K),\quad I_2=\mathrm{tr}(G^{-1}\mathcal Q)^2+\mathrm{tr}(G^{-1}\mathcal K)^2-2\,\mathrm{tr}\,G^{-1}SG^{-1}S^\top",
    reading="both have zero derivative along the derived flow, M = 2, orthogonal tokens of any length",
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

    def change(node: Node) -> Node:
        return graph.add(slope * moves[x] for slope, x in zip(graph.gradient(node, states), states, strict=True))

    return identity({"I1": change(i1), "I2": change(i2)})


@book.claim(
    "F.3-index",
    "Coefficients of noise rows as printed in F.3, F.4, F.6",
    kind="identity",
    expect="fails",
    uses=["Def.B.3"],
    statement=r"\beta_{n,+,i}=\tfrac{\eta\|\mu\|^2}{NM}(-\ell'_n)\Big(V_+\varphi_{i1}(1-\varphi_{i1})-\sum_{k\ge2}V_{n,i}\varphi_{i1}\varphi_{ik}\Big)",
    reading="the derived beta_{n,+,i} for M = 3; the printed sum has the index i of the row where the key k is meant; "
    + TOY,
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
    return equal(found).correcting(
        r"\sum_{k\ge2}V_{n,k}\varphi_{i1}\varphi_{ik}", equal(right), "the value belongs to the key k"
    )


@book.claim(
    "Cond.4.1",
    "Parameter conditions",
    kind="definition",
    insensitive=NUMBERS,
    statement=r"\text{conditions (1)-(10) on }d_h, d, N, M, \|w_O\|, \eta, \sigma_V, \sigma_h, \epsilon, C_p",
    reading="the predicate names every violated inequality and by what factor, with all log-constants 1: the runs of figure 1 violate (1), (2) "
    "and (6); a point constructed to satisfy all of them passes, and violates exactly (10) when C_p is doubled",
)
def parameter_conditions(lab: Laboratory) -> Verdict:
    """The predicate on the figures' parameters and on a point inside."""
    from ..special.conditions import CONDITION_4_1, condition_point, satisfying

    figure = condition_point(
        Case(20, 16, 1024, 512, 30.0, 0.04 * 1024, 20.0, w2=1 / 3, kappa=512 / (256 * 3 * 1024)),
        eta=0.1,
        eps=0.01,
        delta=1e-3,
    )
    inside = satisfying()
    good = condition_point(**inside)
    doubled = dict(inside)
    case = doubled["case"]
    doubled["case"] = Case(
        case.N, case.M, case.d, case.d_h, case.mu, case.noise, 2 * case.C_p, case.w2, case.kappa, case.sigma_V
    )
    far = condition_point(**doubled)
    bad = [item.number for item in CONDITION_4_1 if not item.holds(far)]
    wrong = {item.number: rounded(item.ratio_at(figure)) for item in CONDITION_4_1 if not item.holds(figure)}
    missed = [item.number for item in CONDITION_4_1 if not item.holds(good)]
    ok = not missed and bad == ["10"] and {"1", "2", "6"} <= set(wrong)
    return measured(
        ok,
        {"figure 1": wrong, "inside": missed, "doubled C_p": bad},
        figure_1_violates=wrong,
        smallest_d=f"{case.d:.3g}",
    )
