"""Definitions, appendix B and section 5.2: data, gradients, the update of V, and who gains attention."""

from __future__ import annotations

import numpy as np

from odesys import (
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
from .book import NUMBERS, Tables, book, on_toy, read_off, tables


@book.claim(
    "Def.3.1",
    "Data",
    kind="definition",
    where="Definition 3.1",
    hypotheses=(),
    statement=r"x_1=\mu_y,\ x_2=\xi_2\sim N(0,\tilde\sigma_p^2\Pi),\ x_i=\xi_i\sim N(0,\sigma_p^2\Pi),\ \Pi=I-(\mu_+\mu_+^\top+\mu_-\mu_-^\top)/\|\mu\|_2^2,\ \langle\mu_+,\mu_-\rangle=0",
    reading="Samples have the signal of their label first and noise tokens of their own, orthogonal to the signals.",
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
    where="Definition 5.1, Definition B.2",
    hypotheses=(),
    statement=r"q_\pm=\mu_\pm^\top W_Q,\ q_{n,i}=\xi_{n,i}^\top W_Q,\ k_\pm=\mu_\pm^\top W_K,\ k_{n,i}=\xi_{n,i}^\top W_K",
    reading="The loss reads W_Q and W_K only through the scores, and the output is Eq. (1) in these symbols.",
)
def queries_and_keys(lab: Laboratory) -> Verdict:
    """Outputs of the toy samples."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    found = []
    for n, places in enumerate(t.places[:2]):
        at = {sym(f"v_{i}"): t.V[key] for i, key in enumerate(places)}
        at |= {sym(f"z_{l}{i}"): t.S[query, key] for l, query in enumerate(places) for i, key in enumerate(places)}
        pair = flow.outputs[f"margin_{n + 1}"], t.y[n] * _equation_1(len(places))
        found.append(equal({f"y f(X_{n + 1})": pair}, given=at))
    return found[0] & found[1]


def _equation_1(M: int) -> Node:
    """f(X) of Eq. (1): the mean over queries l of values v_i under the softmax of the scores z_li."""
    weights = [[graph.exp(sym(f"z_{l}{i}")) for i in range(M)] for l in range(M)]
    rows = (graph.add(w * sym(f"v_{i}") for i, w in enumerate(row)) / graph.add(row) for row in weights)
    return graph.add(rows) / M


@book.claim(
    "Def.5.2",
    "Coefficients of V",
    kind="identity",
    uses=["B.1"],
    where="Definition 5.2, Definition B.1",
    parts=("gamma and rho exist",),
    hypotheses=(),
    statement=r"V_\pm^{(t)}=V_\pm^{(0)}+\gamma_{V,\pm}^{(t)}\|w_O\|_2^2,\quad V_{n,i}^{(t)}=V_{n,i}^{(0)}+\rho_{V,n,i}^{(t)}\|w_O\|_2^2",
    reading="Every step changes V by the squared length of w_O times something that does not contain it.",
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
            sym("eta") * graph.add(t.G[i, j] * value for j, value in enumerate(pushes(t)) if t.G[i, j] is not ZERO),
        )
        for i, node in enumerate(change)
    }
    return on_toy(identity(left) & equal(own))


def pushes(t: Tables) -> list[Node]:
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
    where="Definition B.3; of the expressions of Appendix F.1 only (180) and (181) are legible",
    parts=("coefficients", "zero pattern"),
    hypotheses=(),
    statement=r"\Delta q_\pm=\alpha_{\pm,\pm}k_\pm+\sum_{n\in S_\pm,i}\alpha_{n,\pm,i}k_{n,i},\ \Delta q_{n,i}=\alpha_{n,i,+}k_++\alpha_{n,i,-}k_-+\sum_{n',i'}\alpha_{n,i,n',i'}k_{n',i'},\ \text{and with}\ \beta\ \text{for}\ k",
    reading="The coefficients are G H and G H' times eta, H the forces of Lemma B.1; no coefficient joins a signal to the other class.",
)
def alpha_beta(lab: Laboratory) -> dict[str, Verdict]:
    """alpha and beta read off the derived flow against G H and G H'."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    H = t.H()
    a, b = read_off(flow, True), read_off(flow, False)
    found = equal(entry_pairs(a, t.G @ H, "alpha") | entry_pairs(b, t.G @ H.T, "beta"))
    none = {
        f"{name} {i},{j}": table[i, j]
        for name, table in (("alpha", a), ("beta", b))
        for i, j in ((0, 1), (1, 0), (0, 4), (0, 5), (1, 2), (1, 3))
    }
    return {"coefficients": on_toy(found), "zero pattern": on_toy(identity(none))}


@book.claim(
    "Eq.2",
    "Update of q_+",
    kind="identity",
    uses=["Def.B.3"],
    origin="proof",
    where="Section 5.1, Eq. (2)",
    parts=("(2)",),
    hypotheses=(),
    statement=r"q_+^{(t+1)}-q_+^{(t)}=\tfrac{\eta}{NM}\sum_{n\in S_+}-\ell'_n\|\mu\|_2^2w_O^\top W_V^\top X_n^\top(\mathrm{diag}(\varphi_{n,1})-\varphi_{n,1}^\top\varphi_{n,1})X_nW_K",
    reading="The coefficient of each key, read off the derived equations.",
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
    return on_toy(equal(entry_pairs(read_off(flow, True)[0], row, "k")))


ORIGIN = {"a_1": 0, "a_2": 0, "a_3": 0}
THREE = "derivatives of the three weights, by exact rewriting"


def softmax_of(size: int) -> tuple[list[Node], list[Node]]:
    """Logits and their softmax."""
    a = [sym(f"a_{i + 1}") for i in range(size)]
    total = graph.add(graph.exp(x) for x in a)
    return a, [graph.exp(x) / total for x in a]


@book.claim(
    "Eq.4",
    "Derivative of the softmax",
    kind="identity",
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix B.2, Eq. (3) and (4), and the sentence after (4); also Appendix F.7",
    parts=("(3)", "(4)"),
    hypotheses=(),
    statement=r"\frac{\partial\,\mathrm{softmax}(a_i)}{\partial a_i}=\mathrm{softmax}(a_i)(1-\mathrm{softmax}(a_i)),\quad \frac{\partial\,\mathrm{softmax}(a_i)}{\partial a_j}=-\frac{\exp(a_i)\exp(a_j)}{(\sum_j\exp(a_j))^2}=\mathrm{softmax}(a_i)\,\mathrm{softmax}(a_j)\ (i\ne j)",
    reading="Three logits; the middle member of (4) has the minus, the last one has lost it.",
)
def softmax_derivative(lab: Laboratory) -> dict[str, Verdict]:
    """Printed off-diagonal sign against the derivative."""
    a, p = softmax_of(3)
    slopes = [graph.gradient(x, a) for x in p]
    diagonal = {f"{i}{i}": (slopes[i][i], p[i] * (1 - p[i])) for i in range(3)}
    off = [(i, j) for i in range(3) for j in range(3) if i != j]
    total = graph.add(graph.exp(x) for x in a)
    middle = equal({f"{i}{j}": (slopes[i][j], -graph.exp(a[i]) * graph.exp(a[j]) / total**2) for i, j in off})
    printed = equal({f"{i}{j}": (slopes[i][j], p[i] * p[j]) for i, j in off})
    right = equal({f"{i}{j}": (slopes[i][j], -p[i] * p[j]) for i, j in off})
    wrong = printed.correcting(
        r"\partial\,\mathrm{softmax}(a_i)/\partial a_j=-\mathrm{softmax}(a_i)\,\mathrm{softmax}(a_j)",
        right & middle,
        "the middle member of the same line has the sign, and (5), which is used, is right (Eq.5)",
    ).witnessed(
        "at a = (0, 0, 0) the derivative of softmax(a_1) by a_2 is -1/9, and the printed product is 1/9", ORIGIN
    )
    return {"(3)": equal(diagonal).proving(THREE, m=3), "(4)": wrong.blaming("misprint", "sign-in-4")}


@book.claim(
    "Eq.5",
    "Jacobian of the attention",
    kind="identity",
    insensitive=NUMBERS,
    origin="proof",
    where="Appendix B.2, Eq. (5)",
    parts=("(5)",),
    hypotheses=(),
    statement=r"\frac{\partial\varphi_{n,i}}{\partial(x_{n,i}^\top W_QW_K^\top X_n^\top)}=\mathrm{diag}(\varphi_{n,i})-\varphi_{n,i}^\top\varphi_{n,i}",
    reading="Every entry, for two, three and four tokens; this is the form that the gradients of Lemma B.1 use.",
)
def jacobian_of_attention(lab: Laboratory) -> Verdict:
    """Derivatives of the weights against the matrix."""
    found: dict[str, tuple[Node, Node]] = {}
    for M in (2, 3, 4):
        a, p = softmax_of(M)
        for i, weight in enumerate(p):
            for j, slope in enumerate(graph.gradient(weight, a)):
                found[f"{M} {i}{j}"] = (slope, (p[i] if i == j else ZERO) - p[i] * p[j])
    return equal(found).proving("derivatives of the weights, by exact rewriting", M="2, 3, 4")


@book.claim(
    "B.1",
    "Gradients",
    kind="identity",
    uses=["Eq.5"],
    where="Lemma B.1",
    parts=("W_Q and W_K", "W_V"),
    hypotheses=(),
    statement=r"\nabla_{W_Q}L_S=\tfrac1{NM}\sum_ny_n\ell'_n\sum_ix_{n,i}w_O^\top W_V^\top X_n^\top(\mathrm{diag}(\varphi_{n,i})-\varphi_{n,i}^\top\varphi_{n,i})X_nW_K,\ \nabla_{W_K}L_S=\ldots,\ \nabla_{W_V}L_S=\tfrac1{NM}\sum_ny_n\ell'_n[w_O\sum_l\varphi_{n,l}X_n]^\top",
    reading="All entries of the matrices at d = 3, typed from Eq. (1); and contracted with the tokens, as forces on scores and values, for the derived loss.",
)
def gradients(lab: Laboratory) -> dict[str, Verdict]:
    """-dL/dS = H and -dL/dV = h, the flow of V, and all entries of the three matrices at d = 3."""
    flow = lab.flow(3)
    t = tables(flow, 3)
    loss = flow.outputs["loss"]
    slopes = graph.gradient(loss, [*t.S.ravel(), *t.V])
    H = np.array([-s for s in slopes[: t.S.size]], dtype=object).reshape(t.S.shape)
    h = [-s for s in slopes[t.S.size :]]
    mine = pushes(t)
    moving = {
        f"V {i}": (node, sym("w2") * graph.add(t.G[i, j] * mine[j] for j in range(len(mine)) if t.G[i, j] is not ZERO))
        for i, node in enumerate(flow.rhs("wOV")[0])
    }
    forces = {f"h {i}": (a, b) for i, (a, b) in enumerate(zip(h, mine, strict=True))}
    whole = matrix_gradients()
    return {
        "W_Q and W_K": on_toy(equal(entry_pairs(H, t.H(), "H"))) & whole["W_Q"] & whole["W_K"],
        "W_V": on_toy(equal(forces | moving)) & whole["W_V"],
    }


def matrix_gradients() -> dict[str, Verdict]:
    """Eq. (1) typed with weight matrices: its gradients against the printed ones, every entry; d = 3, d_h = d_v = 2, N = M = 2."""
    W = {
        name: np.array([[sym(f"{name}_{i}{j}") for j in range(2)] for i in range(3)], dtype=object)
        for name in ("Q", "K", "V")
    }
    w = np.array([sym("o_1"), sym("o_2")], dtype=object)
    a, samples = sym("a"), []
    for n, y in enumerate((1, -1)):
        signal = [a if (k == 0) == (y > 0) and k < 2 else ZERO for k in range(3)]
        samples.append((y, np.array([signal, [ZERO, ZERO, sym(f"x_{n + 1}")]], dtype=object)))
    losses: list[Node] = []
    printed = {name: np.full((3, 2), ZERO, dtype=object) for name in W}
    for y, X in samples:
        scores, v = (X @ W["Q"]) @ (X @ W["K"]).T, X @ W["V"] @ w
        weights = [[graph.exp(x) for x in row] for row in scores]
        phi = [np.array([e / graph.add(row) for e in row], dtype=object) for row in weights]
        f = graph.add(p @ v for p in phi) / 2
        losses.append(graph.call("softplus", -y * f) / 2)
        front = num(y) / 4 * -graph.call("sigmoid", -y * f)  # y l' / (NM)
        for x, p in zip(X, phi, strict=True):
            J = np.diag(p) - np.outer(p, p)
            printed["Q"] = printed["Q"] + front * np.outer(x, (v @ J) @ (X @ W["K"]))
            printed["K"] = printed["K"] + front * np.outer(X.T @ (J @ v), x @ W["Q"])
            printed["V"] = printed["V"] + front * np.outer(w, p @ X).T
    total = graph.add(losses)
    out = {}
    for name, table in W.items():
        slopes = np.array(graph.gradient(total, list(table.ravel())), dtype=object).reshape(table.shape)
        found = equal(entry_pairs(slopes, printed[name], f"W_{name}"))
        out[f"W_{name}"] = found.proving(
            "derivatives of Eq. (1) by all entries of the matrix, d = 3, d_h = d_v = 2", N=2, M=2
        )
    return out


@book.claim(
    "B.2",
    "Update rule for V",
    kind="identity",
    uses=["B.1", "Def.5.2"],
    where="Lemma B.2",
    parts=("gamma_+", "gamma_-", "rho"),
    hypotheses=(),
    statement=r"\gamma_{V,+}^{(t+1)}=\gamma_{V,+}^{(t)}-\tfrac{\eta\|\mu\|_2^2}{NM}\sum_{n\in S_+}\ell'_n\sum_l\varphi^{(n)}_{l1},\ \gamma_{V,-}^{(t+1)}=\gamma_{V,-}^{(t)}+\tfrac{\eta\|\mu\|_2^2}{NM}\sum_{n\in S_-}\ell'_n\sum_l\varphi^{(n)}_{l1},\ \rho_{V,n,i}^{(t+1)}=\rho_{V,n,i}^{(t)}-\tfrac{\eta}{NM}\sum_{n'}y_{n'}\ell'_{n'}\sum_{i'\ge2}\langle\xi_{n,i},\xi_{n',i'}\rangle\sum_l\varphi^{(n')}_{li'}",
    reading="The derived gradient step of V, all tokens.",
)
def update_of_v(lab: Laboratory) -> dict[str, Verdict]:
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
    return {
        part: on_toy(equal({k: v for k, v in found.items() if k.startswith(part)}))
        for part in ("gamma_+", "gamma_-", "rho")
    }


@book.claim(
    "5.1/update",
    "Dynamics of gamma and rho",
    kind="identity",
    uses=["B.2"],
    same_as="B.2",
    where="Lemma 5.1, first display",
    parts=("gamma_+",),
    hypotheses=(),
    statement=r"\gamma_{V,+}^{(t+1)}-\gamma_{V,+}^{(t)}=\tfrac{\eta\|\mu\|_2^2}{NM}\sum_{n\in S_+,s\in[M]}-\ell'_n\varphi^{(n)}_{s1}",
    reading="As Lemma B.2.",
)
def dynamics_of_gamma(lab: Laboratory) -> dict[str, Verdict]:
    """The first of the same equations."""
    return {"gamma_+": update_of_v(lab)["gamma_+"]}
