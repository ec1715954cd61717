"""Keys and queries: forces on logits, growth of both, and the deviation of a key from the mean key."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from odesys import (
    FAILS,
    HOLDS,
    ONE,
    ZERO,
    Hypothesis,
    Node,
    Verdict,
    Witness,
    always_positive,
    decided,
    entry_pairs,
    equal,
    graph,
    identity,
    sym,
    untested,
)

from ..laboratory import Laboratory
from .book import COQ, SHARED, Tables, before_margin, claim, put, tables
from .common_gradients import POSITIVE, force
from .common_seeds import CONFUSED, either_way, in_every_run, of_confused


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
    axes the entries of the query of pattern 1 move by the G_j1 of (125), which sum to zero.
    """
    t = tables(lab.toy())
    same = {t.K[x, j]: t.K[x, 0] for x in range(3) for j in (1, 2)}
    found = graph.substitute(list(lab.rates("Q").ravel()), same)
    axes = {t.K[x, j]: ONE if x == j else ZERO for x in range(3) for j in range(3)}
    moved = before_margin(put(lab.rates("Q")[:, 0], axes))
    forces = put(np.array([force(t, j, 0, False) for j in range(3)], dtype=object), axes)
    both = equal(entry_pairs(moved, forces, "G_j1") | {"sum": (graph.add(moved), ZERO)}, positive=POSITIVE)
    return identity({str(k): node for k, node in enumerate(found)}, positive=POSITIVE) & both


#: without confusion tokens, where a point is admitted, the right side of (148) is 0
GROWS_MORE = Hypothesis(
    "pattern 1 grows more",
    r"K(t)>0\text{ as in (49), and }(148):\text{ label-relevant tokens drive }q_1\text{ up by more than confusion tokens drive it down}",
    lambda p: -p["alpha_c"],
)


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
    expect="undecided",
    origin="proof",
    where="Proof of Claim 2, Eq. (163)",
    parts=["Q against K", "positive"],
    hypotheses=SHARED,
    statement=r"Q(t)\ge K(t)(1-\lambda)>0",
    reading="some lambda that (26) allows: the overlap times 1 + P, P the pull of other queries on pattern 1; positive at alpha_# = 0.4",
)
def keys_and_queries(lab: Laboratory) -> dict[str, Verdict]:
    """Rates of both along the features: with overlap the query of pattern 1 is moved by the other queries, too.

    With inner products lambda the key moves by eta sum_j G_j1 mu_j'mu_1 = (1 - lambda) eta G_11, as columns of G sum to zero,
    the query by eta (G_11 + lambda sum_k G_1k), k other than 1. For orthogonal patterns and keys k_j q_j, queries r_j q_j
    K = eta G_11 k_1/r_1 and Q = eta G_11 r_1/k_1. With overlap o and
    P = sum_k G_1k/G_11 the bound lambda = o (1 + P) will do, or o itself where P is negative.
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
    pull, less, left = sym("P"), sym("less"), sym("left")  # left = 1 - o
    bound = {
        "(Q - (1 - lambda) K)/(eta G_11), lambda = o (1 + P)": (1 - overlap)
        - (1 - overlap * (1 + pull)) * (1 + overlap * pull),
        "the same, lambda = o, P = -less": left - left * (1 - overlap * less),
    }
    some = always_positive(bound, positive=("lambda", "P", "less", "left"))
    what = "P is at most 2, so that three times the overlap will do for lambda"
    pulled = in_every_run(lab, what, lambda x: x["pull of other queries"] <= 2)
    grown = in_every_run(lab, "keys of both patterns grow", lambda x: x["least late growth of keys"] > 0)
    what = "the mean of K over the second half is positive for pattern 1 or 2"
    confused = in_every_run(lab, what, lambda x: x["K late"] > 0, of_confused, CONFUSED)
    return {"Q against K": exact & with_overlap & some & pulled, "positive": grown & either_way(confused)}


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
    along orthonormal q_j: both equal G_11 of (125).
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
    length of the query by 1 + eta G_11, (185) by its root.
    """
    t = tables(lab.toy())
    new, G = graph.substitute(
        [lab.rates("Q", step=True)[0, 0], sym("eta") * force(t, 0, 0, True)], _diagonal(t) | {t.Q[0, 0]: sym("k1")}
    )
    grown = new / sym("k1")
    printed = equal({"(185), squared": (grown * grown, 1 + G)}, positive=(*POSITIVE, "k1", "eta"))
    if printed.as_stated == FAILS:
        printed = printed.witnessed(
            "for every K > 0 (141) multiplies the length of q_1 by 1 + K, and (185) by its root: at K = 1 by 2 and by 1.414",
            {},
        )
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
    query is A_11 (u_1 - mean) = A_11 beta_1 (u_1 - u_other) per neuron.
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
    fault="misprint",
    cause="errors-of-logits",
    statement=r"|\zeta_l'|\le\beta_1^n\tfrac{|S_l|}{|S|-|S_1|},\quad l\ge2",
    reading="<= as printed, while (146), (147) have <~: a start of Assumption 1 whose other logits differ; (131) writes r_l for keys",
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
    wrong = decided(not (inside and above.as_stated == HOLDS), Witness(sentence, {}))
    wrong = wrong.stating({"zeta_2 and its bound": (share, ">", printed)}, ("c2", "c3", "g"))
    wrong = wrong.stating({"e^(7/25) = 1 + g": (graph.exp(graph.num(sine)), ">", 1)})
    return wrong.correcting(
        r"|\zeta_l'|\le e^d\,\beta_1\tfrac{|S_l|}{|S|-|S_1|},\ d\text{ the largest difference of the other logits}",
        up_to,
        "the other logits are not equal with errors, nor later in training",
    )


@claim(
    "Eq.144-147",
    "Growth of other components",
    kind="inequality",
    expect="fails",
    uses=["X1"],
    origin="proof",
    where="Proof of Claim 2, Eqs. (146), (147)",
    source="damaged",
    parts=["(146)", "(147)"],
    hypotheses=(GROWS_MORE,),
    fault="misprint",
    cause="K-of-a-sample",
    statement=r"|\gamma_l'|\lesssim\tfrac1B\sum_nK\tfrac{|S_l^n|}{|S^n|-|S_1^n|},\qquad|K_e|\lesssim\tfrac1B\sum_nK\tfrac{|S_2^n|}{|S^n|-|S_1^n|}",
    reading="K(t) is the coefficient of q_1 in (141), one for the batch, as printed; the damaged denominator of (147) as |S| - |S_1|; constants free of B and of counts",
)
def other_components(lab: Laboratory) -> dict[str, Verdict]:
    """All components of the query of pattern 1; a batch in which one sample alone moves both the first and another one.

    The query of pattern 1 moves by sum_j G_j1 q_j, and G_j1 = A_j (g_j - sum_s A_s g_s), where g_j is the sum over neurons of
    (125) for the value of pattern j. Where g_j = 0 for the others, a + sample with counts c_1 and c_l adds to K(t) and takes from
    gamma_l' the same, f A_1 A_l g_1 with f the share of pattern 1 among its tokens. - samples without pattern 1 have no query of
    it. Of B/2 samples with label + one has r = f A_1 A_3 g_1 and the others s = f A_1 A_4 g_1: gamma_3' = r/B, K = (r + (B/2 - 1) s)/B,
    and the mean of |S_3|/(|S| - |S_1|) is 1/B. As s falls like one over the number of tokens, no constant will do for all B. There are no
    confusion tokens, so that the right side of (148) is 0.
    """
    wrong = _one_sample_alone(_moves_of_query(lab), "gamma_3'", "components_of_queries.v")
    gamma = wrong.correcting(
        r"|\gamma_l'|\le C\tfrac1B\sum_n|K_n|\tfrac{|S_l^n|}{|S^n|-|S_1^n|},\quad K(t)=\tfrac1B\sum_nK_n",
        _sample_by_sample(),
        "K lost the index n that beta_1^n has in (132); where other values are at most a share c < 1 of the first and other logits are equal; "
        "C depends on c and on the least A_1; as printed where |K_n| <= C K(t), as for equal fractions",
    )
    return {"(146)": gamma, "(147)": untested(NOT_BOTH)}


@claim(
    "Eq.164-165",
    "Growth of other components of the key",
    kind="inequality",
    expect="fails",
    uses=["X1"],
    origin="proof",
    where="Proof of Claim 2, Eqs. (164), (165)",
    parts=["(164)", "(165)"],
    hypotheses=(GROWS_MORE,),
    fault="misprint",
    cause="K-of-a-sample",
    statement=r"|\gamma_l|\lesssim\tfrac1B\sum_nQ\tfrac{|S_l^n|}{|S^n|-|S_*^n|},\qquad|Q_e|\lesssim\tfrac1B\sum_nQ\tfrac{|S_\#^n|}{|S^n|-|S_*^n|}",
    reading="as (146), (147): Q(t) is the coefficient of q_1 in (162), one for the batch, as printed; constants free of B and of counts",
)
def other_components_of_the_key(lab: Laboratory) -> dict[str, Verdict]:
    """The key of pattern 1 moves by sum_k G_1k r_k, and the batch of Eq.144-147 has the same numbers.

    A query of pattern 3 in the sample with one token of patterns 1 and 3 each gives 1/(1 + x) to pattern 1, that of pattern 1 gives x/(1 + x)
    to it: A (1 - A) is one number, and so gamma_3 = r/B, as there.
    """
    gamma = _one_sample_alone(_moves_of_key(lab), "gamma_3", "components_of_keys.v").correcting(
        r"|\gamma_l|\le C\tfrac1B\sum_n|Q_n|\tfrac{|S_l^n|}{|S^n|-|S_1^n|},\quad Q(t)=\tfrac1B\sum_nQ_n",
        _key_sample_by_sample(),
        "Q lost the index n; where the same neurons meet both queries, other values are at most a share c < 1 of the first and features have one length; "
        "C = (1 + c)/(1 - c) (1 + x)^2/(a x), a the least |S_1|/|S| of a sample and x = e^{|q_1|^2}; "
        "|S_1| is |S_*| for label +",
    )
    return {"(164)": gamma, "(165)": untested(NOT_BOTH)}


NOT_BOTH = "in the batch of the other display no sample has tokens of patterns 1 and 2, so that this component is 0"


def _query_bound(a: Node, c: Node) -> Node:
    """The constant of (146) with K_n: a is the least A_1, and other values are at most a share c of the first."""
    return (a + c * (2 - a)) / (a * (1 - c))


def _key_bound(a: Node, c: Node, x: Node) -> Node:
    """The constant of (164) with Q_n: a is the least |S_1|/|S|, and x = e^{|q_1|^2}."""
    return (1 + c) / (1 - c) * (1 + x) ** 2 / (a * x)


def _many_tokens(x: Node, others: Node) -> Node:
    """As many of pattern 1 in each of the other samples that these together move it no more than the one alone."""
    return 2 * others * (1 + x) ** 2 / x**2


#: constants of the check that the theorems about batches speak of
TOLD = {
    "query_bound": (("a", "c"), _query_bound(sym("a"), sym("c"))),
    "key_bound": (("a", "c", "x"), _key_bound(sym("a"), sym("c"), sym("x"))),
}
TOLD_OF_ONE = TOLD | {"many_tokens": (("x", "b"), _many_tokens(sym("x"), sym("b")))}
OF_A_BATCH = COQ / "components_of_a_batch.v"


def _one_sample_alone(moved: dict[str, tuple[Node, Node]], name: str, theorems: str) -> Verdict:
    """Refuted by the batch in the text of Eq.144-147, if components move as stated; theorems say so of the batch itself."""
    own = equal(moved, positive=(*POSITIVE, "k1", "k2", "k3"))

    x, g, others, room = map(sym, ("x", "g", "b", "u"))  # x = e^{|q_1|^2}, b = B/2 - 1
    tokens = _many_tokens(x, others) + room  # of pattern 1 in each of the b samples
    K, gamma = [], []
    for ones, rest, times in ((ONE, ONE, ONE), (tokens, ONE, others)):
        total = ones * x + rest
        first, other = _pulled([ones * x / total, rest / total], [g, ZERO])
        K.append(times * ones / (ones + rest) * first)
        gamma.append(-ones / (ones + rest) * other)
    size = 2 * (1 + others)
    printed = graph.add(K) / size / size
    positive = ("x", "g", "b", "u")
    above = always_positive({"component - (B/2) right side": gamma[0] / size - size / 2 * printed}, positive=positive)
    point = {"x": math.e, "g": 1.0, "b": 49.0, "u": 0.0}
    left, right, least, batch = graph.evaluate([gamma[0] / size, printed, tokens, size], point, graph.FLOAT_FUNCTIONS)
    sentence = (
        f"B = {batch:.0f}, a first step at W_K = W_Q = 1 with neurons that meet patterns 1 and 2 alone (counts depend on B); half of the samples have label - and patterns 2 and 4; of "
        f"label + one has as many tokens of pattern 3 as of 1, the others {math.ceil(least)} of pattern 1 for each of pattern 4. "
        f"|{name}| is {left / right:.0f} times the right side, and at least B/2 times for every even B"
    )
    wrong = decided(not (own.as_stated == above.as_stated == HOLDS), Witness(sentence, {"B": int(batch), "alpha_c": 0}))
    wrong = wrong.stating({k: (l, "=", r) for k, (l, r) in moved.items()}, (*POSITIVE, "k1", "k2", "k3"))
    wrong = wrong.stating({"component and B/2 times its bound": (gamma[0] / size, ">", size / 2 * printed)}, positive)
    return wrong.by_theorems([OF_A_BATCH, COQ / "one_sample_alone.v", COQ / theorems], TOLD_OF_ONE)


@claim(
    "Beyond.components",
    "Other components stay below the first",
    kind="inequality",
    uses=["X1"],
    repairs=["Eq.144-147", "Eq.164-165"],
    origin="ours",
    hypotheses=(GROWS_MORE,),
    statement=r"K_n,Q_n\ge0:\quad\textstyle\sum_{l\ge2}|\gamma_l'|\le\frac{A_1+c(2-A_1)}{A_1(1-c)}\,K(t),\qquad|\gamma_l|\le\frac{1+c}{1-c}\,\frac{(1+x)^2}{ax}\,Q(t)",
    reading="what (171) uses; least A_1 and a; other values at most a share c < 1 of the first, other logits equal, - samples without pattern 1",
)
def below_the_first(lab: Laboratory) -> Verdict:
    """The bound of one sample for all signs of the other components; then the sum over samples, with one constant for all of them.

    (1 + f x)^2/(f x) of a sample whose share is f grows with f beyond 1/x, so that its value at the least share a is none for the batch.
    """
    G, constant, _ = _one_sample()
    signs = [(a, b) for a in (1, -1) for b in (1, -1)]
    rows = {f"C G_11 - ({a} G_21 + {b} G_31)": constant * G[0] - a * G[1] - b * G[2] for a, b in signs}
    own = equal(_moves_of_query(lab), positive=(*POSITIVE, "k1", "k2", "k3"))
    found = own & always_positive(rows, positive=PULLED, nonnegative=("u2", "u3")) & _key_sample_by_sample()
    return found.proving(
        "gamma_l' is the mean of G_l1 over samples, K(t) that of G_11 = K_n; C falls as A_1 grows"
    ).by_theorems([OF_A_BATCH, COQ / "components_below_the_first.v"], TOLD, alone=True)


def _moves_of_query(lab: Laboratory) -> dict[str, tuple[Node, Node]]:
    """By pattern: the derived rate of the query of pattern 1 along its key, and the force of one + sample on it."""
    t = tables(lab.toy())
    alike = _diagonal(t) | {t.Q[0, 0]: sym("k1"), sym("e1"): ZERO}
    rates = before_margin(graph.substitute(list(lab.rates("Q")[:, 0]), alike))
    drive = [graph.add(t.weight(0, i, 0, False) * graph.add(t.O[i] * t.V[:, j]) for i in range(2)) for j in range(3)]
    drive, share = (graph.substitute(nodes, alike) for nodes in (drive, [t.softmax(0, j, 0) for j in range(3)]))
    return {f"pattern {j + 1}": (rates[j], sym(f"k{j + 1}") * node) for j, node in enumerate(_pulled(share, drive))}


def _moves_of_key(lab: Laboratory) -> dict[str, tuple[Node, Node]]:
    """By pattern: the derived rate of the key of pattern 1 along a query, and the force of that query in one + sample."""
    t = tables(lab.toy())
    alike = _diagonal(t) | {sym("e1"): ZERO}
    rates = before_margin(graph.substitute(list(lab.rates("K")[:, 0]), alike))
    moved = {}
    for k in range(3):
        drive = [
            graph.add(t.weight(0, i, k, False) * graph.add(t.O[i] * t.V[:, j]) for i in range(2)) for j in range(3)
        ]
        drive, share = (graph.substitute(nodes, alike) for nodes in (drive, [t.softmax(0, j, k) for j in range(3)]))
        moved[f"pattern {k + 1}"] = rates[k], sym(f"r{k + 1}") * _pulled(share, drive)[0]
    return moved


PULLED = ("c1", "c2", "c3", "x", "g", "h")


def _one_sample() -> tuple[list[Node], Node, list[Node]]:
    """G_j1 of a sample, (A_1 + c (2 - A_1))/(A_1 (1 - c)), and |S_l|/(|S| - |S_1|): the g of others is between -c g_1 and c g_1, c = 1/(1 + h)."""
    first, x, c = sym("g"), sym("x"), 1 / (1 + sym("h"))  # x = e^{|q_1|^2}
    counts = [sym(f"c{j + 1}") for j in range(3)]
    total = graph.add([counts[0] * x, *counts[1:]])
    A = [counts[0] * x / total, counts[1] / total, counts[2] / total]
    g = [first, *(first * c * (sym(f"u{l}") - 1) / (sym(f"u{l}") + 1) for l in (2, 3))]
    share = [count / (counts[1] + counts[2]) for count in counts[1:]]
    return _pulled(A, g), _query_bound(A[0], c), share


def _sample_by_sample() -> Verdict:
    """With |g_l| <= c g_1 a G_l1 is at most a constant times G_11 |S_l|/(|S| - |S_1|); A_1 is at least that of the start while the key grows."""
    G, constant, share = _one_sample()
    rows = {
        f"bound {sign} G_{l + 1}1": constant * G[0] * share[l - 1] + factor * G[l]
        for l in (1, 2)
        for sign, factor in (("-", -1), ("+", 1))
    }
    found = always_positive(rows, positive=PULLED, nonnegative=("u2", "u3"))
    return found.proving(
        "the query of pattern 1 moves by sum_j A_j (g_j - mean) q_j along orthonormal keys",
        "g_1 - mean is at least (1 - A_1)(1 - c) g_1, and |g_l - mean| at most (A_1 + c (2 - A_1)) g_1; A_l/(1 - A_1) is |S_l|/(|S| - |S_1|)",
    )


def _key_sample_by_sample() -> Verdict:
    """G_1l of a query of pattern l against G_11 |S_l|/(|S| - |S_1|), with |g_s| <= c g_1 for s other than 1, c = 1/(1 + h)."""
    first, x, c = sym("g"), 1 + sym("y"), 1 / (1 + sym("h"))  # x = e^{|q_1|^2} > 1
    counts = [sym(f"c{j + 1}") for j in range(3)]
    total = graph.add(counts)
    least = counts[0] / total / (1 + sym("k"))  # of all samples: at most that of this one
    g = [first, *(first * c * (sym(f"u{l}") - 1) / (sym(f"u{l}") + 1) for l in (2, 3))]
    forces = []
    for query in (0, 1):
        weights = [count * x if j == query else count for j, count in enumerate(counts)]
        forces.append(counts[query] / total * _pulled([w / graph.add(weights) for w in weights], g)[0])
    bound = _key_bound(least, c, x) * forces[0] * counts[1] / (counts[1] + counts[2])
    rows = {"bound - G_12": bound - forces[1], "bound + G_12": bound + forces[1]}
    return always_positive(rows, positive=("c1", "c2", "c3", "y", "g", "h"), nonnegative=("u2", "u3", "k")).proving(
        "the key of pattern 1 moves by sum_k G_1k r_k; |g_1 - mean| is at most (1 - A)(1 + c) g_1, and at least (1 - A)(1 - c) g_1",
        "with f = |S_1|/|S| of a sample the quotient of the two is at most (1 + f x)^2/(f x), so at most (1 + x)^2/(a x) for all samples",
    )


def _pulled(share: Sequence[Node], drive: Sequence[Node]) -> list[Node]:
    """Attention on each pattern times what drives it beyond the mean."""
    mean = graph.add(a * b for a, b in zip(share, drive, strict=True))
    return [a * (b - mean) for a, b in zip(share, drive, strict=True)]
