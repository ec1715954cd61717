"""Appendices D and E.2-E.3 on inner products: the exact recursion, constant moves, absorbing cone, symmetries."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from typing import Any

from odesys import (
    ZERO,
    Evidence,
    Hypothesis,
    Node,
    Verdict,
    Witness,
    always_positive,
    ball_evaluate,
    certified,
    equal,
    graph,
    identity,
    num,
    refuted,
    say_number,
    sym,
    untested,
)

from ..laboratory import Laboratory
from ..special.one_sample import BOTH, INNER, NOISE, POSITIVE, SIGNAL, factor
from ..special.toy_network import LABELS, SUPPORTS, on_section
from ..special.toy_network import POSITIVE as TOY_POSITIVE
from .book import NUMBERS, book, for_every_size, on_the_toy, short, signed, weights_of_pair
from .common_hypotheses import disjoint, longer_noise
from .part_d_gradients import SIDES, common_factor


def share_formula() -> dict[str, Node]:
    """What one sample adds to the arguments (10) to (13), with w_i = v_i - v_mu; other neurons are in the symbols Z."""
    q_mu, q, k_mu, k, v_mu, v = (sym(name) for name in INNER)
    B, w = k - k_mu, v - v_mu
    z11, z21 = sym("Z11") - sym("Z12") - q_mu * B, sym("Z21") - sym("Z22") - q * B
    s11, s21 = graph.call("sigmoid", z11), graph.call("sigmoid", z21)
    a, b = s11 * graph.call("sigmoid", -z11), s21 * graph.call("sigmoid", -z21)
    g = graph.call("sigmoid", -((s11 + s21) * v_mu + (2 - s11 - s21) * v))
    A = a * q_mu + b * q
    found = {"q1_mu": g * a * w * B, "k1_mu": -g * w * A, "q1_1": g * b * w * B, "k1_1": g * w * A}
    return {name: node / sym("n") for name, node in found.items()}


def derived_shares(lab: Laboratory, names: Sequence[str]) -> Verdict:
    """What a sample of either label adds to these arguments is the formula: for every size."""
    formula = share_formula()
    return for_every_size(
        equal({f"{name} {y}": (lab.shares()[y][name], formula[name]) for y in BOTH for name in names}, POSITIVE)
    )


def recursion_formula(printed: bool) -> dict[str, Node]:
    """Arguments (10) to (13): with v_i as printed, or with w_i = v_i - v_mu; a_i, b_i, g_i written out; neuron 1."""
    q, k = ({x: sym(f"{c}1_{x}") for x in ("mu", "1", "2")} for c in "qk")
    out: dict[str, Node] = {"q1_mu": ZERO, "k1_mu": ZERO}
    for i in ("1", "2"):
        gap = [k[j] - k["mu"] for j in ("1", "2")]
        second = [sym(f"k2_{j}") - sym("k2_mu") for j in ("1", "2")]
        B, other = gap[int(i) - 1], second[int(i) - 1]
        z11, z21 = -(q["mu"] * B + sym("q2_mu") * other), -(q[i] * B + sym(f"q2_{i}") * other)
        a, b = (graph.call("sigmoid", z) * graph.call("sigmoid", -z) for z in (z11, z21))
        s11, s21 = graph.call("sigmoid", z11), graph.call("sigmoid", z21)
        margin = (s11 + s21) * sym("v_mu") + (2 - s11 - s21) * sym(f"v_{i}")
        g = graph.call("sigmoid", -margin)
        w = sym(f"v_{i}") if printed else sym(f"v_{i}") - sym("v_mu")
        A = a * q["mu"] + b * q[i]
        out[f"q1_{i}"], out[f"k1_{i}"] = g * b * w * B / 2, g * w * A / 2
        out["q1_mu"], out["k1_mu"] = out["q1_mu"] + g * a * w * B / 2, out["k1_mu"] - g * w * A / 2
    return out


neglected = Hypothesis(
    "v_mu is small",
    r"\langle v,\mu\rangle=o(1)\langle v,y_i\xi_i\rangle",
    lambda p: min(p["v_1"], p["v_2"]) / 100 - abs(p["v_mu"]),
)
from_stage_one = Hypothesis(
    "v_2 <= 2 v_1", r"t\eta\sigma_ps\le\langle v,y_i\xi_i\rangle\le2t\eta\sigma_ps", lambda p: 2 * p["v_1"] - p["v_2"]
)


def _one_pair(lab: Laboratory) -> Verdict:
    """Signs of both increments of a pair, for w_i > 0."""
    return signed(
        lab,
        {"v_1": sym("v_mu") + sym("w"), "k1_1": sym("k1_mu") + sym("B"), "q1_1": sym("c"), "q1_mu": sym("e")},
        {"q1_1": 1, "k1_1": 1},
        positive=("w", "B", "c", "e"),
    )


@book.claim(
    "Eq.10-12",
    "Signs of the increments of noise",
    kind="identity",
    hypotheses=[disjoint, neglected],
    parts=["(10)", "(12)"],
    where="Appendix E.3, Eq. (10) and (12)",
    origin="proof",
    uses=["D.7"],
    statement=r"\langle\Delta w_{Q,s},y_i\xi_i\rangle=_{\rm sgn}k_{si}-k_{s\mu},\quad\langle\Delta w_{K,s},y_i\xi_i\rangle=_{\rm sgn}a_iq_{s\mu}+b_iq_{si}",
    reading="the exact increments are the right sides times w_i = v_i - v_mu, which is positive where v_mu is small",
)
def noise_increments(lab: Laboratory) -> dict[str, Verdict]:
    """Derived arguments against the formula, and their signs."""
    signs = _one_pair(lab)
    return {"(10)": derived_shares(lab, ["q1_1"]) & signs, "(12)": derived_shares(lab, ["k1_1"]) & signs}


@book.claim(
    "Eq.11-13",
    "Signs of the increments of signals",
    kind="identity",
    hypotheses=[disjoint, neglected, from_stage_one],
    parts=["(11)", "(13)"],
    where="Appendix E.3, Eq. (11) and (13)",
    origin="proof",
    uses=["D.7"],
    expect="fails",
    statement=r"\langle\Delta w_{Q,s},\mu\rangle=_{\rm sgn}\sum_ig_ia_iv_i(k_{si}-k_{s\mu}),\quad\langle\Delta w_{K,s},\mu\rangle=_{\rm sgn}-\sum_ig_iv_i(a_iq_{s\mu}+b_iq_{si})",
    reading="as an identity of states after T_1: near ties of a vote the neglected v_mu decides; on [T_2, T_3^+], where there is none, it is right (E.11)",
)
def signal_increments(lab: Laboratory) -> dict[str, Verdict]:
    """Derived arguments against both formulas; a point where the printed signs differ, and that there is one for every v_mu."""
    derived = lab.arguments()
    right = derived_shares(lab, list(share_formula())) & _one_pair(lab)
    # where g_1 v_1 x_1 + g_2 v_2 x_2 vanishes, the sum with w_i is v_mu g_1 x_1 (v_1/v_2 - 1): not 0 for v_1 < v_2
    g1, g2, v1, v2, x, mu = (sym(name) for name in ("g1", "g2", "v_1", "v_2", "x", "v_mu"))
    y = -g1 * v1 * x / (g2 * v2)
    tie = identity({"tie": g1 * (v1 - mu) * x + g2 * (v2 - mu) * y - mu * g1 * x * (v1 / v2 - 1)})

    def votes(name: str, other: str, display: str) -> Verdict:
        return (
            _near_tie(derived[name], recursion_formula(printed=True)[name], other, display)
            .correcting(
                r"\text{the same with}\ w_i=v_i-v_\mu\ \text{in place of}\ v_i:\ \text{exact for all states}",
                right & tie,
                "<v, y_i mu - xi_i> = y_i (v_mu - v_i): the weights of a vote are w_i",
            )
            .blaming("proof", "weights-of-votes")
        )

    return {"(11)": votes("q1_mu", "k", "(11)"), "(13)": votes("k1_mu", "q", "(13)")}


def _near_tie(derived: Node, printed: Node, other: str, display: str) -> Verdict:
    """A state at which the derived and the printed argument of a signal differ in sign; all logits vanish there.

    Further samples with v_i = 1/10 and vanishing queries and keys add 0 to both, so it is a state for every n >= 2.
    """
    for step in range(6835, 6860):  # the slopes differ by the margins v_i + v_mu
        second = Fraction(-step, 10000)
        point: dict[str, Any] = {
            "v_1": Fraction(1, 10),
            "v_2": Fraction(3, 20),
            "v_mu": Fraction(1, 1000),
            f"{other}1_1": 1,
            f"{other}1_2": second,
        }
        values = {sym(f"{x}{r}_{y}"): ZERO for x in "qk" for r in (1, 2) for y in ("mu", "1", "2")}
        values |= {sym(name): num(value) for name, value in {**point, "m": 1}.items()}
        mine, theirs = ball_evaluate(graph.substitute([derived, printed], values), {}, 64)
        if (mine > 0 and theirs < 0) or (mine < 0 and theirs > 0):
            sentence = (
                f"with v_1 = 0.1, v_2 = 0.15, v_mu = 0.001, {other}_1 = 1, {other}_2 = {float(second):.4g} and all other queries "
                f"and keys 0, so that other samples, with v_i = 0.1, add nothing, the right side of {display} is {say_number(short(theirs))} and the increment has the sign of "
                f"{say_number(short(mine))}; there is such a state for every v_mu > 0"
            )
            return refuted(Witness(sentence, {"v_mu": 0.001, "v_1": 0.1, "v_2": 0.15}), Evidence.CERTIFICATE)
    return certified(searched=25)


@book.claim(
    "Eq.14-15",
    "Mean value grows linearly",
    kind="identity",
    for_all=["n", "m_v"],
    hypotheses=[disjoint],
    parts=["both"],
    where="Appendix E.4, Eq. (14) and (15)",
    origin="proof",
    uses=["D.6"],
    statement=r"\langle v^{(t+1)},\mu\rangle=\langle v^{(t)},\mu\rangle+2\eta\|\mu\|,\quad\langle v^{(t+1)},y_i\xi_i\rangle=\langle v^{(t)},y_i\xi_i\rangle+2\eta\|\xi_i\|_1",
    reading="all softmax weights and slopes: rows of W_{V,1} move up, rows of W_{V,-1} down, in proportion to the noise",
)
def mean_value_moves(lab: Laboratory) -> Verdict:
    """Signs of the arguments of all rows, and proportionality."""
    names = [f"{kind}1_{x}" for kind in SIDES for x in (SIGNAL, NOISE)]
    return signed(lab, {}, {name: SIDES[name[0]] for name in names}) & common_factor(lab, "PN")


@book.claim(
    "Sec.E.2",
    "Rows of values",
    kind="identity",
    for_all=["n", "m_v"],
    hypotheses=[disjoint],
    parts=["rows"],
    where="Appendix E.2, last display",
    origin="proof",
    uses=["D.6"],
    statement=r"\langle w_{V,y_i,r},y_i\mu\rangle\mathrel{+}=\eta\|\mu\|,\ \langle w_{V,-y_i,r},y_i\mu\rangle\mathrel{-}=\eta\|\mu\|,\ \langle w_{V,y_i,r},\xi_i\rangle\mathrel{+}=\eta\|\xi_i\|_1,\ \langle w_{V,-y_i,r},\xi_i\rangle\mathrel{-}=\eta\|\xi_i\|_1",
    reading="the argument of row r of W_{V,j} along y_i xi_i and mu has the sign j for every r, all weights and slopes",
)
def value_rows(lab: Laboratory) -> Verdict:
    """Signs; the row is any row of its class, and its move does not depend on the row itself."""
    return mean_value_moves(lab)


@book.claim(
    "Sec.E.3-expansion",
    "Expansion of the product of inner products",
    kind="identity",
    hypotheses=[],
    parts=["with keys", "with queries"],
    source="damaged",
    where="Appendix E.3, display before Eq. (10)",
    origin="proof",
    expect="untested",
    insensitive=NUMBERS,
    statement=r"\langle v,y_i\mu-\xi_i\rangle\langle w_K,y_i\mu-\xi_i\rangle=v_\mu k_\mu-y_iv_\mu\langle w_K,\xi_i\rangle k_\mu+\langle v,\xi_i\rangle k_\mu;\ \langle v,y_i\mu-\xi_i\rangle\langle w_Q,y_i\mu+\xi_i\rangle=v_\mu q_\mu+y_iv_\mu\langle w_Q,\xi_i\rangle-y_i\langle v,\xi_i\rangle q_\mu-\langle v,\xi_i\rangle\langle w_Q,\xi_i\rangle",
    reading="the line with keys as far as it can be read: a string is lost; if it has four terms like the line with queries, it holds",
)
def expansion(lab: Laboratory) -> dict[str, Verdict]:
    """Both signs of the label."""
    v_mu, k_mu, v, k = (sym(x) for x in ("v_mu", "k_mu", "v_xi", "k_xi"))
    left = {y: (y * v_mu - v) * (y * k_mu - k) for y in LABELS}
    four = equal({str(y): (left[y], v_mu * k_mu - y * v_mu * k - y * v * k_mu + v * k) for y in LABELS})
    keys = untested(
        "the line can not be read as printed: it has three terms, one of three factors",
        with_four_terms=f"{four.as_stated}, multiplied out with y_i^2 = 1",
    )
    if four.as_stated != "holds":
        keys = four
    q_mu, q = sym("q_mu"), sym("q_xi")
    queries = equal(
        {str(y): ((y * v_mu - v) * (y * q_mu + q), v_mu * q_mu + y * v_mu * q - y * v * q_mu - v * q) for y in LABELS}
    )
    return {
        "with keys": keys,
        "with queries": queries.proving("multiplied out, with y_i^2 = 1"),
    }


@book.claim(
    "Beyond.recursion",
    "The inner products obey a closed recursion",
    kind="identity",
    hypotheses=[disjoint],
    uses=["Eq.8-9", "Eq.14-15"],
    repairs=["Eq.11-13"],
    origin="ours",
    statement=r"q_{si}^+=q_{si}+\eta\|\xi_i\|_1\mathrm{sgn}(w_iB_{si}),\ k_{si}^+=k_{si}+\eta\|\xi_i\|_1\mathrm{sgn}(w_iA_{si}),\ q_{s\mu}^+=q_{s\mu}+\eta\|\mu\|\mathrm{sgn}\sum_ig_ia_iw_iB_{si},\ k_{s\mu}^+=k_{s\mu}-\eta\|\mu\|\mathrm{sgn}\sum_ig_iw_iA_{si}",
    reading="disjoint supports, every size; arguments depend on weights only through inner products, and no label is left",
)
def closed_recursion(lab: Laboratory) -> Verdict:
    """Dependence through inner products: what a sample adds at general weights is the formula, with inner products put in."""
    pairs = {}
    for label, place, (kind, letter) in product(BOTH, (SIGNAL, NOISE), (("Q", "q1"), ("K", "k1"))):
        made, name = lab.sample(label, place), f"{letter}_{place}"
        (node,) = graph.substitute([lab.shares()[label][name]], made.inner_products())
        pairs[f"{name} {label}"] = lab.moves_of_a_sample(label, place)[kind], factor(label, place) * node
    return derived_shares(lab, list(share_formula())) & for_every_size(equal(pairs, POSITIVE))


@book.claim(
    "Beyond.gradient-norm",
    "The loss falls at the rate of the L1 norm of its gradient",
    kind="identity",
    hypotheses=[],
    uses=["D.6", "D.7"],
    origin="ours",
    statement=r"\|\nabla L_S\|_1=\tfrac2n\sum_ig_i[(s_{i,11}+s_{i,21})\|\mu\|+(s_{i,12}+s_{i,22})\|\xi_i\|_1]+\tfrac1n\sum_s\big[\|\mu\|(|G^q_s|+|G^k_s|)+\sum_ig_i|w_i|\|\xi_i\|_1(b_i|B_{si}|+|A_{si}|)\big]",
    reading="in the absorbing cone, where all signs are known; elsewhere signs cancel in the absolute values",
)
def gradient_norm(lab: Laboratory) -> Verdict:
    """|gradient entries| added up, with signs known in the cone, against the formula."""
    made, arguments, _ = lab.steps()
    on = on_section(arguments)
    entries = [(kind, c, w.args[0]) for kind, rows in made.weights.items() for row in rows for c, w in enumerate(row)]
    # in the cone (q_mu, -k_mu, q_i, k_i > 0, w_i > 0) arguments of P rows are +, of N rows -, queries + along y xi and mu, keys + along y xi and - along mu
    total = ZERO
    for kind, coordinate, name in entries:
        label = 1 if coordinate == 0 else LABELS[0 if coordinate in SUPPORTS[0] else 1]
        sign = (SIDES.get(kind, 1)) * label * (-1 if kind == "K" and coordinate == 0 else 1)
        total = total + sign * on[name]
    formula = recursion_formula(printed=False)
    second = _swap_neurons(formula)
    norms = {str(i): sym(f"x{i}_1") + sym(f"x{i}_2") for i in (1, 2)}
    expected = ZERO
    for i in (1, 2):
        made = lab.network()
        s = on_section({f"{l}{a}": made.attention(i - 1)[l][a] for l in range(2) for a in range(2)})
        y = LABELS[i - 1]
        (slope,) = on_section({"g": graph.call("sigmoid", -y * made.output(i - 1))}).values()
        expected = expected + slope * ((s["00"] + s["10"]) * sym("m") + (s["01"] + s["11"]) * norms[str(i)])  # 2/n = 1
        for f in (formula, second):
            r = "1" if f is formula else "2"
            expected = expected + norms[str(i)] * (f[f"q{r}_{i}"] + f[f"k{r}_{i}"])
    for f, r in ((formula, "1"), (second, "2")):
        expected = expected + sym("m") * (f[f"q{r}_mu"] - f[f"k{r}_mu"])
    return on_the_toy(equal({"norm": (total, expected)}, TOY_POSITIVE))


def _swap_neurons(formula: dict[str, Node]) -> dict[str, Node]:
    """The arguments of neuron 2."""
    swap = {sym(f"{c}{r}_{x}"): sym(f"{c}{3 - r}_{x}") for c in "qk" for r in (1, 2) for x in ("mu", "1", "2")}
    nodes = graph.substitute(list(formula.values()), swap)
    return {f"{name[0]}2{name[2:]}": node for name, node in zip(formula, nodes, strict=True)}


@book.claim(
    "Beyond.cone",
    "Absorbing cone",
    kind="identity",
    hypotheses=[disjoint, longer_noise],
    uses=["Beyond.recursion"],
    origin="ours",
    statement=r"\{w_i>0,\ \varsigma q_{s\mu}>0,\ \varsigma k_{s\mu}<0,\ \varsigma q_{si}>0,\ \varsigma k_{si}>0\ \forall i\}\ \text{is forward invariant}",
    reading="both signs, all positive softmax weights and slopes, any step size",
)
def absorbing_cone(lab: Laboratory) -> Verdict:
    """Signs of all arguments of a neuron in both cones, and of the values; w_i grows by a step, as |xi_i|_1 > |mu|."""
    verdict: Verdict | None = None
    for sign in (1, -1):
        state = {
            "v_1": sym("v_mu") + sym("w1"),
            "q1_mu": sign * sym("c"),
            "k1_mu": -sign * sym("e"),
            "q1_1": sign * sym("q"),
            "k1_1": sign * sym("k"),
        }
        wanted = {"q1_mu": sign, "k1_mu": -sign, "q1_1": sign, "k1_1": sign, "P1_1": 1, "N1_1": -1}
        part = signed(lab, state, wanted, positive=("w1", "c", "e", "q", "k"))
        verdict = part if verdict is None else verdict & part
    assert verdict is not None
    # by (14), (15) a step adds 2 eta (|xi_i|_1 - |mu|) to w_i; |xi_i|_1 = |mu| + l
    eta, length, mu = sym("eta"), sym("l"), sym("mu")
    grows = always_positive({"w_i after a step": sym("w1") + 2 * eta * ((mu + length) - mu)}, ("w1", "eta", "l", "mu"))
    return verdict & mean_value_moves(lab) & grows


def pair_moves(lab: Laboratory, q: int, k: int) -> Verdict:
    """Query noise of sign q moves with sign k and key noise of sign k with sign q: b_i|q_i| > a_i|q_mu|, |k_i| > |k_mu|, v_i > v_mu."""
    a, b = weights_of_pair()
    total: Verdict | None = None
    for f in (1, -1):
        state = {
            "v_1": sym("v_mu") + sym("w1"),
            "q1_mu": f * sym("c"),
            "k1_mu": f * sym("d"),
            "q1_1": q * (a / b * sym("c") + sym("q")),
            "k1_1": k * (sym("d") + sym("k")),
        }
        found = signed(lab, state, {"q1_1": k, "k1_1": q}, ("w1", "c", "d", "q", "k"))
        total = found if total is None else total & found
    assert total is not None
    return total


@book.claim(
    "Beyond.gauge",
    "Labels are absorbed",
    kind="identity",
    hypotheses=[],
    uses=["Beyond.recursion"],
    origin="ours",
    insensitive="a symmetry of every system whose arguments are odd in a neuron, broken or not",
    statement=r"y_i\to-y_i,\ \xi_i\to-\xi_i\ \text{and}\ (w_{Q,s},w_{K,s})\to-(w_{Q,s},w_{K,s})\ \text{leave the recursion unchanged}",
    reading="all arguments of a neuron change sign with it, and stay where another neuron changes sign",
)
def gauge(lab: Laboratory) -> Verdict:
    """Flip the neuron; other neurons enter by products of their queries and keys, and no label is left."""
    pairs, flip = {}, {sym(name): -sym(name) for name in INNER[:4]}
    for name in share_formula():
        first, second = (lab.shares()[label][name] for label in BOTH)
        pairs[f"{name} flip"] = graph.substitute([first], flip)[0], -first
        pairs[f"{name} labels"] = first, second
    return for_every_size(equal(pairs, POSITIVE))
