"""The equations: network, gradients (83), (125), (161), (189), one step of training, and what is exact about them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys import (
    HOLDS,
    ONE,
    ZERO,
    Node,
    Verdict,
    Witness,
    always_positive,
    decided,
    entry_pairs,
    equal,
    graph,
    identity,
    num,
    sym,
)

from ..laboratory import Laboratory
from .book import LABELS, THEOREM_1, Tables, before_margin, claim, gates, put, tables
from .common_gradients import POSITIVE, force, gradient_k, gradient_o, gradient_q, gradient_v
from .common_seeds import CONFUSED, PULLED_BACK, in_every_run, of_confused


def everything(lab: Laboratory) -> tuple[Tables, dict[str, np.ndarray]]:
    """The tables, and all right-hand sides."""
    return tables(lab.toy()), {leaf: lab.rates(leaf) for leaf in ("O", "V", "K", "Q")}


@claim(
    "Eq.16-20",
    "Network and losses",
    kind="definition",
    where="Appendix C, Eqs. (16)-(20)",
    hypotheses=(),
    statement=r"F(X^n)=\tfrac1{|S^n|}\sum_{l\in S^n}a_{(l)}^\top\mathrm{Relu}(W_OW_VX^n\mathrm{softmax}(X^{n\top}W_K^\top W_Qx_l^n)),\quad\overline{\mathrm{Loss}}_b=\tfrac1B\sum_n\max\{1-y^nF,0\}",
    reading="network and losses over the symbols of a toy with three patterns and two neurons",
)
def network_and_losses(lab: Laboratory) -> Verdict:
    """Outputs and loss.

    Y F of both samples and the mean loss (margin Gamma, 1 in the paper) of the derived system equal the printed
    formulas over the same symbols; M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample
    of each class with any counts (the formulas are sums over samples, neurons and tokens).
    """
    flow = lab.toy()
    t, seen = tables(flow), flow.system.observables
    rows = {f"sample {n + 1}": (seen[f"margin_{n + 1}"], LABELS[n] * t.output(n)) for n in range(2)}
    rows["loss"] = seen["loss"], graph.add(graph.relu(sym("Gamma") - LABELS[n] * t.output(n)) for n in range(2)) / 2
    return equal(rows, positive=POSITIVE)


@claim(
    "Eq.21",
    "SGD step",
    kind="definition",
    uses=["Eq.16-20"],
    where="Algorithm 1, Eq. (21)",
    hypotheses=(),
    statement=r"W^{(t+1)}=W^{(t)}-\eta\tfrac1B\sum_{n\in\mathcal B_t}\nabla_W\ell,\quad W\in\{W_O,W_V,W_K,W_Q\}",
    reading="all four weights at once: the derived step is minus eta times the derivative of the derived loss",
)
def sgd_step(lab: Laboratory) -> Verdict:
    """Entry by entry, by scalar derivatives.

    All four weights at once (W_O where W_Q is printed first): every entry of the derived step (of keys and queries
    those on the first axis, the other axes being alike) moves by -eta times the scalar derivative of the derived
    loss; M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each class with any
    counts (the formulas are sums over samples, neurons and tokens).
    """
    flow = lab.toy(step=True)
    loss = flow.system.observables["loss"]
    rows: dict[str, tuple[Node, Node]] = {}
    for leaf, names in flow.matrices.items():
        chosen = slice(0, 1) if leaf in "KQ" else slice(None)
        states = [sym(name) for name in names[chosen].ravel()]
        slopes = graph.gradient(loss, states)
        stepped = np.array([x - sym("eta") * s for x, s in zip(states, slopes, strict=True)], dtype=object)
        rows |= entry_pairs(lab.rates(leaf, step=True)[chosen], stepped, leaf)
    return equal(rows, positive=POSITIVE)


MARGIN = "while no margin is reached (for the indicator see Eq.83-hinge); "


@claim(
    "Eq.83",
    "Gradient of W_O",
    kind="identity",
    uses=["Eq.16-20"],
    origin="proof",
    where="Proof of Claim 1, Eq. (83)",
    parts=["gradient"],
    hypotheses=(),
    statement=r"\partial\overline{\mathrm{Loss}}_b/\partial W_{O(i,\cdot)}=-\tfrac1B\sum_ny^n\tfrac1{|S^n|}\sum_la_{(l)i}\mathbb 1[W_{O(i,\cdot)}V_l\ge0]V_l^\top",
    reading="while no margin is reached; every entry of the toy",
)
def gradient_of_w_o(lab: Laboratory) -> Verdict:
    """Rates of the neurons.

    While no margin is reached (for the indicator see Eq.83-hinge); M = 3 patterns, two neurons with weights a and
    -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and
    tokens).
    """
    flow = lab.toy()
    return equal(entry_pairs(before_margin(lab.rates("O")), gradient_o(tables(flow), False), "W_O"), positive=POSITIVE)


@claim(
    "Eq.189-191",
    "Gradient of W_V",
    kind="identity",
    uses=["Eq.16-20"],
    origin="proof",
    where="Proof of Claim 3, Eqs. (189), (191)",
    source="damaged",
    parts=["gradient"],
    hypotheses=(),
    statement=r"\partial\overline{\mathrm{Loss}}_b/\partial W_V=-\tfrac1B\sum_ny^n\tfrac1{|S^n|}\sum_l\sum_ia_{(l)i}\mathbb 1[\cdot]W_{O(i,\cdot)}^\top\mathrm{softmax}^\top X^{n\top}",
    reading="y inside the sum, as (191) has it (outside and without index in our text), while no margin is reached; every entry of the toy",
)
def gradient_of_w_v(lab: Laboratory) -> Verdict:
    """Rates of the values.

    Y^n inside the sum; while no margin is reached (for the indicator see Eq.83-hinge); M = 3 patterns, two neurons
    with weights a and -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over
    samples, neurons and tokens).
    """
    flow = lab.toy()
    return equal(entry_pairs(before_margin(lab.rates("V")), gradient_v(tables(flow), False), "W_V"), positive=POSITIVE)


@claim(
    "Eq.190",
    "Attention on pattern 1 against p_n",
    kind="inequality",
    uses=["Eq.30"],
    expect="fails",
    insensitive="a start that satisfies Assumption 1 refutes it, before anything moves",
    origin="proof",
    where="Proof of Claim 3, Eq. (190)",
    parts=["bound"],
    hypotheses=(),
    fault="constant",
    cause="errors-of-logits",
    statement=r"\sum_{s\in S_1}\mathrm{softmax}(x_s^\top W_K^\top W_Qx_l)\ge p_n(t),\quad l\in S_1",
    reading="no hidden constant: the start of Eq.30, W_K = W_Q = diag(1 - delta, 1, ..), tau = 0",
)
def attention_against_p(lab: Laboratory) -> Verdict:
    """Own attention at a gap of logits, e^(1 - delta) = e^gap (1 + g): (190) asks for the larger odds."""
    c, b, w, g, delta = (sym(name) for name in ("c", "b", "w", "g", "delta"))
    own, asked = c * w / (c * w + b), c * w * (1 + g) / (c * w * (1 + g) + b)
    missed = always_positive({"p_n - sum": asked - own}, positive=("c", "b", "w", "g"))
    up_to = always_positive({"(1 + g) sum - p_n": (1 + g) * own - asked}, positive=("c", "b", "w", "g"))
    gap = identity({"1 - delta - gap": (1 - delta) - (1 - delta) ** 2 - delta * (1 - delta)})
    sentence = (
        "at W_K = W_Q = diag(1 - delta, 1, ..), 0 < delta < 1/2, tau = 0, which Assumption 1 allows, the gap of logits is "
        "(1 - delta)^2, less than the 1 - delta of p_n(0): the left side is below p_n(0)"
    )
    return decided(not (missed.as_stated == gap.as_stated == HOLDS), Witness(sentence, {})).correcting(
        r"\sum_{s\in S_1}\mathrm{softmax}_s\ge e^{-\delta(1-\delta)}p_n(0)\text{ at this start}",
        up_to & gap,
        "the logit noise has three terms, not one (Eq.30); up to the constant of Eq.126-127",
    )


@claim(
    "Eq.125",
    "Gradient of W_Q",
    kind="identity",
    uses=["Eq.16-20"],
    origin="proof",
    where="Proof of Claim 2, Eq. (125)",
    parts=["gradient"],
    hypotheses=(),
    statement=r"\partial\mathrm{Loss}/\partial W_Q=-\tfrac1B\sum_ny^n\tfrac1{|S^n|}\sum_{l,i}a\mathbb 1[\cdot]\Big(W_{O(i,\cdot)}\sum_sW_Vx_s\mathrm{softmax}_s\big(W_Kx_s-\sum_r\mathrm{softmax}_rW_Kx_r\big)x_l^\top\Big)",
    reading="while no margin is reached; every entry of the toy",
)
def gradient_of_w_q(lab: Laboratory) -> Verdict:
    """Rates of the queries.

    While no margin is reached (for the indicator see Eq.83-hinge); M = 3 patterns, two neurons with weights a and
    -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and
    tokens).
    """
    flow = lab.toy()
    t = tables(flow)
    return equal(entry_pairs(before_margin(lab.rates("Q")), gradient_q(t, False), "W_Q"), positive=POSITIVE)


@claim(
    "Eq.161",
    "Gradient of W_K",
    kind="identity",
    uses=["Eq.16-20"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eq. (161)",
    parts=["gradient"],
    hypotheses=(),
    fault="misprint",
    cause="gradient-of-keys",
    statement=r"\partial\mathrm{Loss}/\partial W_K=-\tfrac1B\sum_ny^n\sum_{l,i}a\mathbb 1[\cdot]\Big(W_{O(i,\cdot)}\sum_sW_Vx_s\mathrm{softmax}_sW_Qx_l\big(x_s-\sum_r\mathrm{softmax}_rx_r\big)^\top\Big)",
    reading="with W_Q x_l for the printed transpose, whose shapes do not fit; the toy, before a margin is reached",
)
def gradient_of_w_k(lab: Laboratory) -> Verdict:
    """Rates of the keys.

    With W_Q x_l for the printed W_Q' x_l, whose shapes do not fit; without 1/|S^n| as printed; while no margin is
    reached (for the indicator see Eq.83-hinge); M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b =
    3, one sample of each class with any counts (the formulas are sums over samples, neurons and tokens).
    """
    flow = lab.toy()
    t = tables(flow)
    rates = before_margin(lab.rates("K"))
    printed = equal(entry_pairs(rates, gradient_k(t, False, scale=False), "W_K"), positive=POSITIVE)
    return printed.correcting(
        r"\text{the same with }\tfrac1{|S^n|}",
        equal(entry_pairs(rates, gradient_k(t, False), "W_K"), positive=POSITIVE),
        "the factor 1/|S^n| of the network is missing; (125) has it",
    )


@claim(
    "Eq.83-hinge",
    "Gradients after the margin is reached",
    kind="identity",
    uses=["Eq.83", "Eq.125", "Eq.161", "Eq.189-191"],
    expect="fails",
    origin="proof",
    where="Eqs. (83), (125), (161), (189)",
    parts=["after a margin"],
    hypotheses=(),
    fault="misprint",
    cause="hinge-indicator",
    statement=r"(83),(125),(161),(189)\ \text{for all }t",
    reading="as printed, without the indicator of the hinge loss, at any time",
)
def after_the_margin(lab: Laboratory) -> Verdict:
    """Loss gates as symbols h1, h2: they are the indicators, and all rates are linear in them.

    As printed, without an indicator, i.e. the rates would not contain the loss gates; corrected: every rate is
    linear in the two indicators 1[y F < Gamma], one for the summand of each sample, and vanishes with both; M = 3
    patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each class with any counts (the
    formulas are sums over samples, neurons and tokens).
    """
    t, rates = everything(lab)
    nodes = np.concatenate([table.ravel() for table in rates.values()])
    found = gates(nodes, True)
    h = [sym("h1"), sym("h2")]
    with_symbols = put(nodes, dict(zip(found, h, strict=False)))
    both = [put(with_symbols, {h[0]: x, h[1]: y}) for x, y in ((ONE, ONE), (ONE, ZERO), (ZERO, ONE), (ZERO, ZERO))]
    printed = equal(entry_pairs(with_symbols, both[0], "rate"), positive=POSITIVE)
    surfaces = {
        node.args[0]: min(
            range(2), key=lambda n: len(graph.symbols([node.args[0]]) & {f"{'ec'[n]}{k}" for k in (1, 2, 3)})
        )
        for node in found
    }
    own = (
        identity(
            {
                f"surface of sample {n + 1}": surface - (sym("Gamma") - LABELS[n] * t.output(n))
                for surface, n in surfaces.items()
            },
            positive=POSITIVE,
        )
        if surfaces
        else printed
    )
    linear = equal(
        entry_pairs(with_symbols, h[0] * both[1] + h[1] * both[2], "linear")
        | entry_pairs(both[3], np.full(nodes.shape, ZERO), "none"),
        positive=POSITIVE,
    )
    return printed.correcting(
        r"\text{each summand times }\mathbb 1[y^nF(X^n)<1]",
        own & linear,
        "the hinge loss is flat behind the margin: then everything stops",
    )


@claim(
    "X1",
    "Forces on the logits of a query sum to zero",
    kind="identity",
    uses=["Eq.125"],
    origin="ours",
    hypotheses=(),
    statement=r"\textstyle\sum_jG_{jk}=0,\qquad G_{jk}=-\partial\mathrm{Loss}/\partial S_{jk}",
    reading="with all keys equal every query stands still, and the forces on one query add up to zero",
)
def zero_sum(lab: Laboratory) -> Verdict:
    """Rates of the queries where all keys are the same vector, and where they are the axes.

    W_Q mu_k moves by sum_j G_jk W_K mu_j: with all keys equal every query stands still; and with keys along the
    axes the entries of the query of pattern 1 move by the G_j1 of (125), which sum to zero; M = 3 patterns, two
    neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums
    over samples, neurons and tokens).
    """
    t = tables(lab.toy())
    same = {t.K[x, j]: t.K[x, 0] for x in range(3) for j in (1, 2)}
    found = graph.substitute(list(lab.rates("Q").ravel()), same)
    axes = {t.K[x, j]: ONE if x == j else ZERO for x in range(3) for j in range(3)}
    moved = before_margin(put(lab.rates("Q")[:, 0], axes))
    forces = put(np.array([force(t, j, 0, False) for j in range(3)], dtype=object), axes)
    both = equal(entry_pairs(moved, forces, "G_j1") | {"sum": (graph.add(moved), ZERO)}, positive=POSITIVE)
    return identity({str(k): node for k, node in enumerate(found)}, positive=POSITIVE) & both


def _diagonal(t: Tables) -> dict[Node, Node]:
    """Keys and queries k_j, r_j along orthonormal features."""
    return {
        table[x, j]: sym(f"{name}{j + 1}") if x == j else ZERO
        for name, table in (("k", t.K), ("r", t.Q))
        for x in range(3)
        for j in range(3)
    }


@claim(
    "Eq.162-170",
    "Growth of keys and of queries",
    kind="inequality",
    uses=["Eq.125", "Eq.161"],
    expect="fails",
    origin="proof",
    where="Proof of Claim 2, Eq. (163)",
    parts=["Q against K", "positive"],
    hypotheses=THEOREM_1,
    statement=r"Q(t)\ge K(t)(1-\lambda)>0",
    reading="lambda the small inner product of any two patterns; K, Q the growth of query and key of pattern 1 late in runs; positive at alpha_# = 0.4",
)
def keys_and_queries(lab: Laboratory) -> dict[str, Verdict]:
    """Rates of both along the features: with overlap the query of pattern 1 is moved by the other queries, too.

    With inner products lambda the key moves by eta sum_j G_j1 mu_j'mu_1 = (1 - lambda) eta G_11, as columns of G sum to zero,
    the query by eta (G_11 + lambda sum_k G_1k), k other than 1. For orthogonal patterns and keys k_j q_j, queries r_j q_j
    K = eta G_11 k_1/r_1 and Q = eta G_11 r_1/k_1. The sign of the sum over other queries is that of runs, lambda to 0.
    """
    t = tables(lab.toy())
    query, key = graph.substitute([lab.rates("Q")[0, 0], lab.rates("K")[0, 0]], _diagonal(t))
    ratio = identity({"K r_1^2 = Q k_1^2": query * sym("r1") - key * sym("k1")}, positive=POSITIVE)
    (G,) = graph.substitute([force(t, 0, 0, False)], _diagonal(t))
    ratio = ratio & equal({"K": (before_margin([query])[0], G * sym("k1"))}, positive=POSITIVE)
    same = graph.substitute([query, key], {sym("r1"): sym("k1")})
    exact = ratio & equal({"k_1 = r_1": (same[0], same[1])}, positive=POSITIVE)
    G11, G21, G31, G12, G13, overlap = (sym(name) for name in ("G11", "G21", "G31", "G12", "G13", "lambda"))
    moved = G11 + overlap * (G21 + G31)  # of the key: the column of query 1
    (closed,) = graph.substitute([moved], {G31: -G11 - G21})
    with_overlap = identity(
        {"Q": closed - (1 - overlap) * G11, "K": (G11 + overlap * G12 + overlap * G13) - (G11 + overlap * (G12 + G13))}
    )
    pulled = in_every_run(
        lab,
        "other queries do not turn to pattern 1, so that Q >= (1 - lambda) K",
        lambda x: x["pull of other queries"] <= 0,
    )
    grown = in_every_run(lab, "keys of both patterns grow", lambda x: x["least late growth of keys"] > 0)
    what = "the mean of K over the second half is positive for pattern 1 or 2"
    confused = in_every_run(lab, what, lambda x: x["K late"] > 0, of_confused, CONFUSED)
    return {
        "Q against K": pulled.correcting(
            r"Q=(1-\lambda)\eta G_{11},\quad K=\eta\big(G_{11}+\lambda\textstyle\sum_{k\ne1}G_{1k}\big)",
            exact & with_overlap,
            "nuisance queries are drawn to pattern 1, too, and move the query of pattern 1 where patterns overlap",
        ).blaming("constant", "overlap-of-queries"),
        "positive": confused.correcting(
            r"\alpha_\#=\tfrac1{20}:\ K,Q>0\text{ for large }t", grown, PULLED_BACK
        ).blaming("proof", "queries-of-confusion"),
    }


@claim(
    "X2",
    "K and Q are one number",
    kind="identity",
    uses=["Eq.162-170"],
    origin="ours",
    hypotheses=(),
    statement=r"K(t)=Q(t)=\eta G_{11}\ \text{for }q_1=r_1",
    reading="balanced features along orthonormal directions: both coefficients are eta times G_11",
)
def one_number(lab: Laboratory) -> Verdict:
    """G_11 from the formula of (125).

    Coefficient of the key in the query's step and of the query in the key's step, with balanced features k_j = r_j
    along orthonormal q_j: both equal G_11 of (125); M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b
    = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and tokens).
    """
    t = tables(lab.toy())
    query, key, G = graph.substitute([lab.rates("Q")[0, 0], lab.rates("K")[0, 0], force(t, 0, 0, True)], _diagonal(t))
    return equal({"query": (query, G * sym("k1")), "key": (key, G * sym("r1"))}, positive=POSITIVE)


@claim(
    "Eq.141",
    "Update of the query of pattern 1",
    kind="identity",
    uses=["Eq.162-170"],
    expect="fails",
    same_as="Eq.159-160",
    origin="proof",
    where="Proof of Claim 2, Eqs. (141) and (185)-(188)",
    parts=["length"],
    hypotheses=(),
    fault="misprint",
    cause="root-of-1-plus-K",
    statement=r"W_Q^{(t+1)}x_j=r_1+Kq_1+\dots=(1+K)q_1+\dots,\qquad q_1(t+1)=\sqrt{1+K}\,q_1(t)\ (185)-(188)=(49),(50)",
    reading="both displays for one step with balanced features along q_1",
)
def update_of_query(lab: Laboratory) -> Verdict:
    """Component of the stepped query along its feature.

    (141) and (185) for the same step: with balanced features k_1 = r_1 along q_1 the derived step multiplies the
    length of the query by 1 + eta G_11, (185) by its root; M = 3 patterns, two neurons with weights a and -a, m_a =
    2, m_b = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and tokens).
    """
    t = tables(lab.toy())
    new, G = graph.substitute(
        [lab.rates("Q", step=True)[0, 0], sym("eta") * force(t, 0, 0, True)], _diagonal(t) | {t.Q[0, 0]: sym("k1")}
    )
    grown = new / sym("k1")
    printed = equal({"(185), squared": (grown * grown, 1 + G)}, positive=(*POSITIVE, "k1", "eta"))
    return printed.correcting(
        r"q_1(t+1)=(1+K)q_1(t),\quad\|q_1\|^2\ \text{is multiplied by}\ (1+K)^2",
        equal({"(141)": (grown, 1 + G)}, positive=(*POSITIVE, "k1", "eta")),
        "the root belongs to neither (141) nor (162); (49) also attaches K, the step of W_Q, to the keys",
    )


@claim(
    "Eq.128-132",
    "Deviation of a key from the mean key",
    kind="identity",
    uses=["Eq.125"],
    origin="proof",
    where="Proof of Claim 2, Eqs. (128), (129)",
    parts=["beta_1"],
    hypotheses=(),
    statement=r"W_Kx_s-\sum_r\mathrm{softmax}_rW_Kx_r=\beta_1q_1+\beta_2,\quad\beta_1\gtrsim\phi_n(|S|-|S_1|)",
    reading="exact features of equal length and other logits 0, where (129) is an equality; with errors up to the constant of Eq.126-127",
)
def deviation_of_key(lab: Laboratory) -> Verdict:
    """Softmax at zero other logits, and the derived rate with equal other values.

    S and the query in S_1, exact features k_1 = r_1 = Q, other logits 0 and other features of equal length: beta_1 = 1 -
    A_11 = phi (|S| - |S_1|) and zeta_l' = -A_l1 = -beta_1 |S_l|/(|S|-|S_1|); what multiplies q_1 in the derived step of the
    query is A_11 (u_1 - mean) = A_11 beta_1 (u_1 - u_other) per neuron; M = 3 patterns, two neurons with weights a and -a,
    m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and tokens).
    """
    t = tables(lab.toy())
    balanced = _diagonal(t) | {t.Q[0, 0]: sym("k1")}
    A1, A2 = graph.substitute([t.softmax(0, 0, 0), t.softmax(0, 1, 0)], balanced)
    c1, rest = sym("c1"), sym("c2") + sym("c3")
    phi = 1 / (c1 * graph.exp(sym("k1") ** 2) + rest)
    exact = identity({"beta_1": 1 - A1 - phi * rest, "zeta_2": A2 - (1 - A1) * sym("c2") / rest}, positive=POSITIVE)
    # the - sample has no pattern 1 queries and is behind its margin; values of patterns 2 and 3 are the same vector
    alike = balanced | {t.V[x, 2]: t.V[x, 1] for x in range(2)} | {sym("e1"): ZERO}
    rate, weights = graph.substitute(
        [
            lab.rates("Q")[0, 0],
            graph.add(t.weight(0, i, 0, True) * (graph.add(t.O[i] * (t.V[:, 0] - t.V[:, 1]))) for i in range(2)),
        ],
        alike,
    )
    (own,) = graph.substitute([A1], alike)
    derived = equal({"rate": (rate, sym("k1") * weights * own * (1 - own))}, positive=POSITIVE)
    return exact & derived


@claim(
    "Eq.132",
    "Other components of the deviation",
    kind="inequality",
    uses=["Eq.128-132"],
    expect="fails",
    insensitive="a start that satisfies Assumption 1 refutes it, before anything moves",
    origin="proof",
    where="Proof of Claim 2, Eq. (132)",
    parts=["bound"],
    hypotheses=(),
    fault="constant",
    cause="errors-of-logits",
    statement=r"|\zeta_l'|\le\beta_1^n\tfrac{|S_l|}{|S|-|S_1|},\quad l\ge2",
    reading="no hidden constant: a start of Assumption 1 whose other logits differ; (131) writes r_l for keys",
)
def other_parts_of_deviation(lab: Laboratory) -> Verdict:
    """With W_Q = 1 and W_K a rotation of the first two axes with sine 7/25 the logits of query 1 are 24/25, 7/25, 0.

    Errors are sqrt(2 - 48/25) = 0.283 and norms 1. So zeta_2'/beta_1 is |S_2| e^(7/25) over |S_2| e^(7/25) + |S_3|.
    """
    c2, c3, g = sym("c2"), sym("c3"), sym("g")  # e^(7/25) = 1 + g
    share, printed = c2 * (1 + g) / (c2 * (1 + g) + c3), c2 / (c2 + c3)
    above = always_positive({"zeta_2 - bound": share - printed}, positive=("c2", "c3", "g"))
    up_to = always_positive({"(1 + g) bound - zeta_2": (1 + g) * printed - share}, positive=("c2", "c3", "g"))
    sine, cosine = Fraction(7, 25), Fraction(24, 25)
    inside = sine**2 + cosine**2 == 1 and 2 - 2 * cosine < Fraction(1, 4)
    sentence = (
        "at W_Q = 1, W_K a rotation of the first two axes with sine 7/25 (errors 0.283, below 1/2, norms 1, tau = 0) |zeta_2'| is "
        "beta_1 |S_2| e^0.28/(|S_2| e^0.28 + |S_3|), above the right side for all counts of three patterns"
    )
    return decided(not (inside and above.as_stated == HOLDS), Witness(sentence, {})).correcting(
        r"|\zeta_l'|\le e^d\,\beta_1\tfrac{|S_l|}{|S|-|S_1|},\ d\text{ the largest difference of the other logits}",
        up_to,
        "the other logits are not equal with errors, nor later in training",
    )


@claim(
    "Eq.144-147",
    "Growth of other components",
    kind="identity",
    uses=["X1"],
    origin="proof",
    where="Proof of Claim 2, Eqs. (146), (147)",
    source="damaged",
    parts=["gamma and K_e"],
    hypotheses=(),
    statement=r"|\gamma_l'|\lesssim K\tfrac{|S_l|}{|S|-|S_1|},\qquad|K_e|\lesssim K\tfrac{|S_2|}{|S|-|S_1|}",
    reading="at a state that starts have: balanced exact features, other logits 0, equal values of other patterns; the damaged denominator read as |S| - |S_1|",
)
def other_components(lab: Laboratory) -> Verdict:
    """All components of the query of pattern 1.

    With |S|-|S_1| in (147); balanced exact features, other logits 0, values of all patterns but 1 equal, no pattern
    1 in the - sample: the query of pattern 1 moves by G_11 (q_1 - sum_l |S_l|/(|S|-|S_1|) q_l), G_11 that of (125):
    both are equalities; M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each
    class with any counts (the formulas are sums over samples, neurons and tokens).
    """
    t = tables(lab.toy())
    alike = _diagonal(t) | {t.Q[0, 0]: sym("k1")} | {t.V[x, 2]: t.V[x, 1] for x in range(2)} | {sym("e1"): ZERO}
    rates = graph.substitute(list(lab.rates("Q")[:, 0]), alike)
    rest = sym("c2") + sym("c3")
    (G,) = graph.substitute([force(t, 0, 0, False)], alike)
    own = equal({"G_11": (before_margin([rates[0]])[0], G * sym("k1"))}, positive=(*POSITIVE, "k1"))
    return own & identity(
        {
            f"pattern {l + 1}": rates[l] / sym(f"k{l + 1}") + rates[0] / sym("k1") * sym(f"c{l + 1}") / rest
            for l in (1, 2)
        },
        positive=(*POSITIVE, "k1", "k2", "k3"),
    )


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
    on inner products; M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each class
    with any counts (the formulas are sums over samples, neurons and tokens).
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
    quadratic form, so that the drift at fixed eta T is of order eta (Beyond.drift); M = 3 patterns, two neurons
    with weights a and -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over
    samples, neurons and tokens).
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
    return identity(upper, positive=POSITIVE)


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
    the rates of the two neurons are a and -a times the same vector; M = 3 patterns, two neurons with weights a and
    -a, m_a = 2, m_b = 3, one sample of each class with any counts (the formulas are sums over samples, neurons and
    tokens).
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
    to that of the image; M = 3 patterns, two neurons with weights a and -a, m_a = 2, m_b = 3, one sample of each
    class with any counts (the formulas are sums over samples, neurons and tokens).
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
