"""Appendix E.2, softmax algebra: how attention changes with the logits, and the inequalities drawn from it."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint

from odesys import (
    HOLDS,
    ONE,
    Verdict,
    Witness,
    always_positive,
    as_ball,
    decided,
    graph,
    identity,
    sym,
)

from ..laboratory import Laboratory
from .book import APART, COQ, GROWTH, HALF, NUMBERS, ONE_ERROR, SHARED, K, Q, at, b, c, claim, definition_1, eps, point
from .common_equations import dot
from .common_motion import by_printed_steps
from .common_seeds import BATCH, FEW, Facts, in_every_run, of_few

w, delta, n = sym("w"), sym("delta"), sym("n")  # w = e^u with u = Q^2 - eps Q


@claim(
    "Eq.30",
    "Attention on other patterns",
    kind="inequality",
    uses=["Def.1", "Asm.2"],
    expect="fails",
    insensitive="a start that satisfies Assumption 1 refutes it, before anything moves",
    where="Lemma 2, Eq. (30), with (82), and (190)",
    parts=["(30)", "(190)"],
    hypotheses=(),
    fault="misprint",
    cause="errors-of-logits",
    statement=r"W_j^n(t)\le\nu_n(t)|S_j^n|\ (30),\qquad\sum_{s\in S_1}\mathrm{softmax}(x_s^\top W_K^\top W_Qx_l)\ge p_n(t),\ l\in S_1\ (190)",
    reading="start with W_K = W_Q = diag(1 - delta, 1, ..), tau = 0; <= as printed, while (126), (127) have <~ and hold",
)
def attention_on_others(lab: Laboratory) -> dict[str, Verdict]:
    """The gap of the start, exact, and the bilinear expansion behind the corrected gap.

    With Definition 1 at t = 0, tau = 0: W_K = W_Q = diag(1 - delta, 1, .., 1) has norm 1 and errors at most delta;
    W_j <= nu |S_j| says that the gap of logits is at least 1 - delta; corrected by Cauchy-Schwarz for any errors
    |n_j|, |o| <= eps of features of length Q.
    """
    key = {j: [(1 - delta if i == 0 else ONE) if i == j else graph.ZERO for i in range(3)] for j in range(3)}
    gap = graph.add((key[0][i] - key[1][i]) * key[0][i] for i in range(3))
    g = sym("g")  # e^{1 - delta} = e^{gap} (1 + g), and g > 0 because delta (1 - delta) > 0
    exponents = identity(
        {
            "1 - delta - gap": 1 - delta - gap - delta * (1 - delta),
            "Definition 1": 1 / at(definition_1()["nu"], Q=1, eps=delta) - c * graph.exp(1 - delta) - b,
        }
    )
    printed = (
        always_positive(
            {"nu |S_2| - W_2": sym("c2") / (c * w * (1 + g) + b) - sym("c2") / (c * w + b)},
            positive=("c", "b", "c2", "w", "g"),
        )
        & exponents
    )
    q1, q2, r, n1, n2, o = ([sym(f"{name}_{i}") for i in range(2)] for name in ("q1", "q2", "r", "n1", "n2", "o"))

    logit = [
        dot([x + y for x, y in zip(q, e, strict=True)], [x + y for x, y in zip(r, o, strict=True)])
        for q, e in ((q1, n1), (q2, n2))
    ]
    rest = dot([x - y for x, y in zip(q1, q2, strict=True)], o) + dot(
        [x - y for x, y in zip(n1, n2, strict=True)], [x + y for x, y in zip(r, o, strict=True)]
    )
    expansion = identity({"gap": logit[0] - logit[1] - (dot(q1, r) - dot(q2, r)) - rest})
    room = 1 - graph.sqrt(graph.num(2)) * delta - 2 * delta * (1 + delta)
    inside = always_positive({"this start": gap - room}, positive=("delta",))
    sentence = (
        "at W_K = W_Q = diag(1 - delta, 1, ..), 0 < delta < 1/2, tau = 0, which Assumption 1 allows, the gap of logits is (1 - delta)^2, less than the 1 - delta of "
        "nu_n(0): W_2 is above nu_n |S_2| for all counts"
    )
    first = (
        printed.witnessed(sentence, {})
        .correcting(
            r"W_j\le|S_j|/(|S_1|e^{Q^2-\sqrt2\epsilon Q-2\epsilon(Q+\epsilon)}+|S|-|S_1|)\ \text{for }q_1\perp q_j,\ |q_1|=|q_j|=Q",
            expansion & inside,
            "the logit noise is q'o + n'r + n'o: three terms, not one; |q_1 - q_j| = sqrt(2) Q, |n_1 - n_j| <= 2 eps",
        )
        .with_constants(
            gap_of_the_start="(1 - delta)^2", corrected_gap_vanishes_at_eps=_vanishing(), with_2_delta=_two_deltas()
        )
    )
    return {"(30)": first, "(190)": _against_p()}


def _against_p() -> Verdict:
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
    wrong = decided(not (missed.as_stated == gap.as_stated == HOLDS), Witness(sentence, {}))
    return (
        wrong.stating({"attention on its own pattern, and p_n(0)": (own, "<", asked)}, ("c", "b", "w", "g"))
        .stating({"gap of logits": ((1 - delta) - (1 - delta) ** 2, "=", delta * (1 - delta))})
        .correcting(
            r"\sum_{s\in S_1}\mathrm{softmax}_s\ge e^{-\delta(1-\delta)}p_n(0)\text{ at this start}",
            up_to & gap,
            "the logit noise has three terms, not one (Eq.30); up to the constant of Eq.126-127",
        )
    )


def _two_deltas() -> str:
    """The form with 2 delta in the exponent, as (82) and the text after (93) have it: two rotations refute that, too."""
    keys, query = (
        [(Fraction(24, 25), Fraction(-7, 25)), (Fraction(7, 25), Fraction(24, 25))],
        (Fraction(24, 25), Fraction(7, 25)),
    )
    own, other = (k[0] * query[0] + k[1] * query[1] for k in keys)
    gap, square = own - other, 2 - 2 * Fraction(24, 25)  # of the logits of query 1, and delta^2
    if not (gap < 1 and ((1 - gap) / 2) ** 2 > square and other > 0):
        return "not refuted"
    return (
        f"refuted as well: keys (24, -7)/25, (7, 24)/25 and query (24, 7)/25 of pattern 1, rotations with errors {float(square) ** 0.5:.3f}, have the gap "
        f"{float(gap):.4f}, below 1 - 2 delta = {1 - 2 * float(square) ** 0.5:.4f}; the third logit is 0, which makes W_2 larger"
    )


def _vanishing() -> float:
    """Where 1 - sqrt(2) eps - 2 eps (1 + eps) = 0."""
    with flint.ctx.workprec(64):
        slope = 2 + flint.arb(2).sqrt()
        return round(float(((slope * slope + 8).sqrt() - slope) / 4), 6)


@claim(
    "Eq.126-127",
    "Attention on pattern 1",
    kind="order",
    uses=["Eq.30"],
    insensitive="logits of a start that satisfies Assumption 1, before anything moves",
    origin="proof",
    where="Proof of Claim 2, Eqs. (126), (127)",
    parts=["own and other"],
    hypotheses=(),
    statement=r"\mathrm{softmax}_j\gtrsim\frac{e^{Q^2-\epsilon Q}}{|S_1|e^{Q^2-\epsilon Q}+|S|-|S_1|},\ j\in S_1;\qquad\mathrm{softmax}_j\lesssim\frac1{|S_1|e^{Q^2-\epsilon Q}+|S|-|S_1|},\ j\notin S_1",
    reading="query of pattern 1; the hidden constant depends on the errors times the length of the features",
)
def attention_on_own(lab: Laboratory) -> Verdict:
    """Attention with gap g against the printed bounds, e^{Q^2 - eps Q} = e^g (1 + r).

    Tau = 0, query in S_1, features of length Q: with the gap of logits g of Eq.30 (corrected) both hold with the
    constant e^{Q^2 - eps Q - g} = e^{(1 + sqrt 2) eps Q + 2 eps^2}, which is bounded while Q is; with constant 1
    the start of Eq.30 fails them.
    """
    root = graph.sqrt(graph.num(2))
    gap = Q * Q - root * eps * Q - 2 * eps * (Q + eps)
    constant = identity({"exponent": Q * Q - eps * Q - gap - ((1 + root) * eps * Q + 2 * eps * eps)})
    r = sym("r")  # the constant is 1 + r
    own, other = w / (c * w + b), 1 / (c * w + b)
    printed_own, printed_other = w * (1 + r) / (c * w * (1 + r) + b), 1 / (c * w * (1 + r) + b)
    bounds = always_positive(
        {"(126)": (1 + r) * own - printed_own, "(127)": (1 + r) * printed_other - other}, positive=("c", "b", "w", "r")
    )
    one = always_positive({"(126) with constant 1": own - printed_own}, positive=("c", "b", "w", "r"))
    with flint.ctx.workprec(64):
        largest = float(((1 + flint.arb(2).sqrt()) / 2 + as_ball(Fraction(1, 2))).exp())
    return (
        by_logits(constant & bounds)
        .with_constants(constant="e^{(1 + sqrt 2) eps Q + 2 eps^2}", at_eps_half_and_Q_1=round(largest, 4))
        .adding(with_constant_1=one.as_stated)
    )


#: Attention of a query of pattern 1 is a function of the odds, own over other tokens. With errors and other logits that differ
#: the odds are the printed ones up to a factor 1 + R either way, R free of eta and t while |q_1| is bounded (Eq.126-127).
R = sym("R")
#: the growth of the gap by a step and the exponent K Q^2 of the printed denominator may differ
SMALLER = (
    "the change of attention grows with E, the printed bound falls with it: it is enough to take the smaller of e to the growth of the gap "
    "and e^(K Q^2) for both, and each is at least 1 + K/2"
)
TOGETHER = "own attention is a function of its odds against all other tokens together, which grow by a mean of the factors of single tokens"
EACH = "one other token has between 1/(1 + R) and 1 + R times the mean attention of all other tokens: one more factor 1 + R"


def by_logits(found: Verdict) -> Verdict:
    """The same verdict by a theorem about the softmax of any number of tokens, whose logits differ by errors."""
    told = {"bound_own": (("c", "b", "w"), w / (c * w + b)), "bound_other": (("c", "b", "w"), 1 / (c * w + b))}
    return found.by_theorems(COQ / "odds_of_attention.v", told)


def by_change(found: Verdict) -> Verdict:
    """The same verdict by a theorem about odds that are off by any factor in between."""
    own, other = increments()
    told = {
        "change_own": (("b", "c", "w", "E1"), own),
        "change_other": (("b", "c", "w", "E1"), other),
        "printed_own": (("b", "c", "w", "K", "E1"), _printed(True)),
        "printed_other": (("b", "c", "w", "K", "E1"), _printed(False)),
    }
    return found.by_theorems(COQ / "change_of_attention.v", told)


def odds_off(node: graph.Node) -> tuple[graph.Node, graph.Node]:
    """An expression in w = e^(Q^2 - eps Q) with the odds a factor 1 + R smaller, and larger."""
    smaller, larger = (graph.substitute([node], {w: factor})[0] for factor in (w / (1 + R), w * (1 + R)))
    return smaller, larger


def step_of_the_gap() -> Verdict:
    """What a step adds to the gap of logits of pattern 1 over another pattern, with errors: at least K/2 if 2 eps Q^2 <= Q^2.

    Key (1 + K) q_1 + n_1, query (1 + K) r_1 + o, other keys q_j + n_j with q_j orthogonal to r_1, |q_1| = |r_1| = Q >= 1;
    x, y, z are the inner products q_1'o, n_1'r_1, n_j'r_1, each at most eps Q in size.
    """
    x, y, z, rest = (sym(name) for name in ("x", "y", "z", "rest"))
    gap = {k: k**2 * Q * Q + k * (x + y) - k * z + rest for k in (ONE, 1 + K)}
    exact = identity({"gap": gap[1 + K] - gap[ONE] - (K * (2 + K) * Q * Q + K * (x + y - z))})
    more, less = sym("more"), sym("less")  # Q = 1 + more, eps = 1/2 - less
    lowest = K * (2 + K) * Q * Q - 3 * K * eps * Q - K / 2
    inside = graph.substitute([lowest], {Q: 1 + more, eps: Fraction(1, 2) - less})[0]
    return exact & always_positive({"increment - K/2": inside}, positive=("K",), nonnegative=("more", "less")).proving(
        "the gap grows by K (2 + K) Q^2 + K (q_1'o + n_1'r_1 - n_j'r_1), at least K/2 for eps <= 1/2 and Q >= 1; e^(K/2) - 1 >= K/2"
    )


@claim(
    "Eq.45",
    "Claim 2: attention after a step",
    kind="inequality",
    uses=["Eq.126-127", "Eq.171-172", "Eq.49-50"],
    same_as="Eq.173",
    insensitive=NUMBERS,
    where="Lemma 2, Claim 2, Eq. (45)",
    parts=["attention"],
    hypotheses=(GROWTH, HALF),
    statement=r"\mathrm{softmax}(t+1)\gtrsim\frac{e^{(1+K)Q^2-\epsilon Q}}{|S_1|e^{(1+K)Q^2-\epsilon Q}+|S|-|S_1|},\quad j\in S_*",
    reading="query of pattern 1, errors delta + tau up to 1/2; the constant depends on the errors times the length of the features",
)
def after_a_step(lab: Laboratory) -> Verdict:
    """e^{(1 + K)^2 Q^2} against e^{(1 + K) Q^2}, exact features; with errors the odds are off by a factor 1 + R.

    Balanced q_1 = r_1: the logit becomes (1 + K)^2 Q^2, and with other logits 0 the attention is at least the printed one.
    """
    more = graph.exp(K * (1 + K) * Q * Q)  # (1 + K)^2 - (1 + K) = K (1 + K)
    same = identity({"exponent": (1 + K) ** 2 * Q * Q - (1 + K) * Q * Q - K * (1 + K) * Q * Q})
    low = w  # e^{(1 + K) Q^2}
    own = low * more / (c * low * more + b)
    bound = low / (c * low + b)
    rows = {"exact features": own - bound}
    rows |= {f"odds off, {k}": (1 + R) * odds - bound for k, odds in enumerate(odds_off(own))}
    return by_logits(same & always_positive(rows, positive=("c", "b", "w", "K", "Q", "R"))).with_constants(
        constant="1/(1 + R), with 1 + R the constant of Eq.126-127"
    )


def increments() -> tuple[graph.Node, graph.Node]:
    """Exact change of the attention on one token of pattern 1 and on one other, with E = e^{K Q^2} = 1 + E1."""
    E = 1 + sym("E1")
    own = w * E / (c * w * E + b) - w / (c * w + b)
    other = 1 / (c * w * E + b) - 1 / (c * w + b)
    return own, other


def _printed(own: bool) -> graph.Node:
    return (b if own else -c) * w * K / (c * w * (1 + sym("E1")) + b) ** 2


@claim(
    "Eq.46",
    "Claim 2: growth of attention",
    kind="inequality",
    uses=["Eq.45", "Eq.49-50"],
    same_as="Eq.174",
    insensitive=NUMBERS,
    where="Lemma 2, Claim 2, Eq. (46)",
    parts=["growth"],
    hypotheses=(GROWTH, APART, HALF, ONE_ERROR),
    statement=r"\Delta\,\mathrm{softmax}\gtrsim\frac{(|S|-|S_1|)\,e^{Q^2-\epsilon Q}K}{(|S_1|e^{(1+K)Q^2-\epsilon Q}+|S|-|S_1|)^2}",
    reading="query of pattern 1, a step by K q_1 and K r_1, features of length 1 or more, errors delta + tau up to 1/2",
)
def growth_of_attention(lab: Laboratory) -> Verdict:
    """The exact change of attention for odds that are off by a factor 1 + R, against the printed bound over 1 + R.

    E = 1 + E1 is e to what the gap grows by; E1 >= K for exact features and E1 >= K/2 with errors, so E1 = K/2 + r.
    """
    own, _ = increments()
    E1, r = sym("E1"), sym("r")
    exact = identity({"difference": own - b * w * E1 / ((c * w * (1 + E1) + b) * (c * w + b))})
    printed = _printed(True)
    rows = {f"odds off, {k}": 2 * (1 + R) * odds - printed for k, odds in enumerate(odds_off(own))}
    left = graph.substitute(list(rows.values()), {E1: K / 2 + r})
    found = always_positive(dict(zip(rows, left, strict=True)), positive=("c", "b", "w", "K", "R"), nonnegative=("r",))
    return (
        exact & step_of_the_gap() & by_change(found).proving(SMALLER, TOGETHER).with_constants(constant="1/(2 (1 + R))")
    )


@claim(
    "Eq.47-48",
    "Claim 2: decrease elsewhere",
    kind="inequality",
    uses=["Eq.45", "Eq.49-50"],
    expect="fails",
    same_as="Eq.182-183",
    where="Lemma 2, Claim 2, Eqs. (47), (48)",
    parts=["(47)", "(48)"],
    hypotheses=(*SHARED, GROWTH, HALF),
    statement=r"\mathrm{softmax}_j(t+1)\lesssim\frac1{|S_1|e^{(1+K)Q^2-\delta Q}+|S|-|S_1|},\quad\Delta\,\mathrm{softmax}_j\lesssim-\frac{|S_1|e^{Q^2-\delta Q}K}{(|S_1|e^{(1+K)Q^2-\delta Q}+|S|-|S_1|)^2},\quad j\notin S_*",
    reading="query of pattern 1; e^(tau Q) between (182) and (47) is constant; (48) at few label-relevant tokens, xi = 1/sqrt m, one a_i for all positions",
)
def decrease_elsewhere(lab: Laboratory) -> dict[str, Verdict]:
    """As Eq.45 and Eq.46: attention on one other token is at most (1 + R)/b times that on all of them; and it may rise.

    All other tokens together lose what label-relevant ones gain. (183) takes their logits for equal, before the step and after it; nuisance tokens
    lose, and where they are many, confusion tokens gain a part of that: the sign of their change is that of what their own logit grows by beyond the
    mean growth under attention.
    """
    _, other = increments()
    E1, r = sym("E1"), sym("r")
    exact = identity({"difference": other + c * w * E1 / ((c * w * (1 + E1) + b) * (c * w + b))})
    printed = _printed(False)
    rows = {f"odds off, {k}": printed - 2 * (1 + R) * odds for k, odds in enumerate(odds_off(other))}
    left = graph.substitute(list(rows.values()), {E1: K / 2 + r})
    change = always_positive(dict(zip(rows, left, strict=True)), positive=("c", "b", "w", "K", "R"), nonnegative=("r",))
    level = 1 / (c * w + b)  # w = e^{(1 + K) Q^2 - eps Q}
    below = {f"odds off, {k}": (1 + R) * level - odds for k, odds in enumerate(odds_off(level))}
    what = (
        "attention of label-relevant queries on confusion tokens falls at a step of the last quarter before a first sample has its margin, or a key does not "
        "grow there, or this margin comes before 19/20 of T (a batch of copies of both samples)"
    )
    copies = point(replace(FEW, N=BATCH), B=BATCH)  # they make the same run, and (7), (9) hold
    falls = by_printed_steps(lab, lambda: in_every_run(lab, what, falls_at_a_step, of_few, FEW, copies))
    falls = falls.within(0.95, "where a margin is late: from it on one class alone moves", LOOKED_AT)
    return {
        "(47)": by_logits(always_positive(below, positive=("c", "b", "w", "R")))
        .proving(EACH)
        .with_constants(constant="(1 + R)^2"),
        "(48)": falls.correcting(
            r"\text{the mean over all }j\notin S_*\text{, if own odds against all others together grow by }1+K/2",
            exact & step_of_the_gap() & by_change(change).proving(SMALLER, TOGETHER),
            "(183) has one logit for all other tokens; nuisance tokens lose, and of that confusion tokens gain a part where nuisance tokens are many",
        )
        .with_constants(constant="1/(2 (1 + R))")
        .blaming("false", "confusion-tokens"),
    }


LOOKED_AT = range(40, 52)  # seeds by which the window before a margin was chosen, and 19/20


def falls_at_a_step(seen: Facts) -> bool:
    """Nothing against (48): attention on confusion tokens falls at a late step, or keys do not grow, so that there is no K > 0."""
    rises = seen["least on confusion"] > 0 and seen["least late growth of keys"] > 0
    return not (rises and seen["first margin"] >= 0.95)


@claim(
    "Eq.183-nuisance",
    "Decrease elsewhere for nuisance queries",
    kind="inequality",
    uses=["Eq.47-48", "Eq.176-181"],
    expect="fails",
    insensitive=NUMBERS,
    origin="proof",
    where="Proof of Claim 2, after (184)",
    parts=["confusion tokens"],
    hypotheses=(),
    fault="proof",
    cause="confusion-tokens",
    statement=r"\text{(182), (183) also hold for }l\notin S_1^n\cup S_2^n,\ j\notin S_1^n",
    reading="confusion tokens: a nuisance query gives both discriminative patterns the same logit, as the text says before (180)",
)
def decrease_for_nuisance(lab: Laboratory) -> Verdict:
    """Attention of a nuisance query on one confusion token before and after the common logit has grown: it grows, too."""
    c2, E1 = sym("c2"), sym("E1")

    def attention(grown: graph.Node) -> graph.Node:
        return w * grown / ((c + c2) * w * grown + b)

    change = attention(1 + E1) - attention(ONE)
    grows = always_positive({"change": change}, positive=("c", "c2", "b", "w", "E1"))
    nuisance = 1 / ((c + c2) * w * (1 + E1) + b) - 1 / ((c + c2) * w + b)
    kept = always_positive({"nuisance tokens": -nuisance}, positive=("c", "c2", "b", "w", "E1"))
    sentence = (
        "where the logits of S_1 and S_2 are the same and grow by the same amount, as the text has them before (180), attention on each "
        "confusion token grows, for all counts, while (183) has a negative right side"
    )
    shown = {"attention on a confusion token, before and after": (attention(ONE), "<", attention(1 + E1))}
    wrong = decided(grows.as_stated != "holds", Witness(sentence, {}))
    return wrong.stating(shown, ("c", "c2", "b", "w", "E1")).correcting(
        r"\text{for }j\notin S_1\cup S_2",
        kept,
        "(179) is said to hold for S_2, too: what grows there can not fall here",
    )
