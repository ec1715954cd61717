"""Appendix F: 0-1 test loss, longer contexts, a trained second layer, several heads; and what gradient flow conserves."""

from __future__ import annotations

from fractions import Fraction
from math import erfc, sqrt

import numpy as np

from odesys import (
    ZERO,
    Node,
    Verdict,
    always_positive,
    between,
    equal,
    graph,
    identity,
    measured,
    num,
    sym,
)

from ..laboratory import Laboratory
from ..special.toy_network import LABELS, POSITIVE, ROWS, dot
from .book import EVERY, FLOW, NUMBERS, TOY, book, on_the_toy, signed
from .part_3_main import end_time, fresh_margins
from .part_d_gradients import SIDES

EPS = 0.1
FRESH = 40_000


def error_law(lab: Laboratory, name: str) -> tuple[float, float]:
    """Share of fresh samples with y f <= 0 at T, and the law."""
    record = lab.record(name)
    case, place = record.case, record.run.index(end_time(record, EPS))
    share = float((fresh_margins(record, place, FRESH, 51) <= 0).mean())
    theta = float(record.run.times[place])
    z = sqrt(2 * case.m_v) * theta * case.mu / (case.sigma_0 * case.sigma_p * sqrt(case.s))
    return share, 0.5 * erfc(z / sqrt(2))


def _near(found: float, law: float, what: str) -> Verdict:
    room = 4 * sqrt(max(law * (1 - law), 1 / FRESH) / FRESH) + 0.01 * law
    return between(what, [found - law], -room, room)


@book.claim(
    "F.1a",
    "Small initial scale: small 0-1 test loss",
    kind="probability",
    uses=["Thm.3.2(3)"],
    statement=r"\sigma_0=o(\sigma_p^{-2}s^{-3/2}m_v^{1/2})\ \Rightarrow\ P[yf\le0]\le n^{-O(1)}",
    reading="n = 5, m_k = 16, m_v = 16, s = 10^8, sigma_0 = c s^(-3/2) m_v^(1/2) with c = 1/2: no error among 40000 fresh samples at T (eps = 1/10); two-sided at c = 5: the error is Phi(-sqrt(2 m_v) eta T |mu|/(sigma_0 sigma_p sqrt s)) within 4 standard errors and 1 percent; "
    + FLOW,
)
def small_scale(lab: Laboratory) -> Verdict:
    """Errors at c = 1/2 and c = 5."""
    none, _ = error_law(lab, "scale 0.5")
    some, law = error_law(lab, "scale 5")
    return (
        between("error at c = 1/2", [none], 0, 1e-4)
        & _near(some, law, "error minus law at c = 5")
        & between("law at c = 5", [law], 0.05, 0.2)
    )


@book.claim(
    "F.1b",
    "Large initial scale: 0-1 test loss 1/2",
    kind="probability",
    uses=["F.1a"],
    statement=r"\sigma_0=\Omega(\sigma_p^{-2}s^{-3/2}m_v^{1/2})\ \text{within Condition 3.1}\ \Rightarrow\ |P[yf\le0]-\tfrac12|\le1-n^{-O(1)}",
    reading="as printed the inequality says nothing (the left side is at most 1/2); read as: the error tends to 1/2; c = 100: error in [0.45, 1/2] and equal to the law of F.1a within 4 standard errors and 1 percent; the transition is at c = 2 sqrt2 log(1/eps), so Omega needs a large "
    "constant; " + FLOW,
)
def large_scale(lab: Laboratory) -> Verdict:
    """Error at c = 100."""
    found, law = error_law(lab, "scale 100")
    return between("error", [found], 0.45, 0.505) & _near(found, law, "error minus law")


@book.claim(
    "F.1-definition",
    "0-1 test loss as printed",
    kind="identity",
    uses=["F.1a"],
    expect="fails",
    statement=r"L^{0\text{-}1}_{\mathcal D}(W)=P[yf(W,X)>0]",
    reading="a loss is 0 for a network that classifies every fresh sample correctly: c = 1/2 of F.1a, where the printed expression is 1; "
    + FLOW,
)
def printed_loss(lab: Laboratory) -> Verdict:
    """Printed expression where all samples are right."""
    record = lab.record("scale 0.5")
    margins = fresh_margins(record, record.run.index(end_time(record, EPS)), FRESH, 51)
    right = bool((np.sign(margins) == 1).all())
    value, fixed = float((margins > 0).mean()), float((margins <= 0).mean())
    printed = measured(not (right and value > 0.5), {"all fresh samples right": right, "printed loss": value})
    return printed.correcting(
        r"L^{0\text{-}1}_{\mathcal D}(W)=P[yf(W,X)\le0]",
        measured(right and fixed == 0.0, {"loss": fixed}),
        "the printed one is the accuracy",
    )


# ---- longer contexts -------------------------------------------------------------------------------------------------


def _output(lab: Laboratory, patches: list[int]) -> tuple[Node, list[list[Node]]]:
    """Output and attention of sample 1 for a list of patches, 0 signal and 1 noise, by softmax over all of them."""
    made = lab.network()
    x = made.tokens(0)
    v = [
        graph.add([r[c] for r in made.weights["P"]]) / ROWS - graph.add([r[c] for r in made.weights["N"]]) / ROWS
        for c in range(5)
    ]
    rows = []
    for query in patches:
        weights = [graph.exp(made.logit(0, query, key)) for key in patches]
        total = graph.add(weights)
        rows.append([w / total for w in weights])
    f = graph.add(rows[l][a] * dot(v, x[key]) for l in range(len(patches)) for a, key in enumerate(patches))
    return f, rows


@book.claim(
    "F.2a",
    "Equal noise patches",
    kind="identity",
    hypotheses=[],
    parts=["half signal", "one signal"],
    where="Appendix F.2, equal noise patches",
    origin="text",
    uses=["Eq.1"],
    insensitive=EVERY,
    statement=r"L\ \text{patches, half signal, half one noise vector}:\ \text{the same dynamics};\ 1\ \text{signal and}\ L-1\ \text{noise patches}:\ \text{softmax starts at}\ \tfrac1L,\ \tfrac{L-1}L",
    reading="L = 4 with two of each: the output is L/2 times that of L = 2; L = 3 with one signal: softmax 1/3 at the start",
)
def equal_patches(lab: Laboratory) -> dict[str, Verdict]:
    """Outputs for both kinds of contexts."""
    made = lab.network()
    four, _ = _output(lab, [0, 0, 1, 1])
    _, rows = _output(lab, [0, 1, 1])
    nothing = {w: ZERO for w in made.all_weights().values()}
    start = graph.substitute([rows[l][0] for l in range(3)], nothing)
    doubled = equal({"L = 4": (four, 2 * made.output(0))}, POSITIVE)
    third = equal({f"row {l}": (node, num(1) / 3) for l, node in enumerate(start)})
    two = [
        graph.exp(made.logit(0, q, 0)) / (graph.exp(made.logit(0, q, 0)) + 2 * graph.exp(made.logit(0, q, 1)))
        for q in (0, 1)
    ]
    shifted = equal({f"shift {q}": (rows[q][0], two[q]) for q in (0, 1)}, POSITIVE)
    return {"half signal": on_the_toy(doubled), "one signal": on_the_toy(third & shifted)}


@book.claim(
    "F.2b",
    "Gradient with different patches",
    kind="identity",
    hypotheses=[],
    parts=["gradient"],
    where="Appendix F.2, gradient of query",
    origin="text",
    uses=["D.1"],
    statement=r"\nabla_{w_{Q,s}}f=\sum_lx^{(l)}\sum_{a<b}s_{la}s_{lb}\langle v,x^{(a)}-x^{(b)}\rangle\langle w_{K,s},x^{(a)}-x^{(b)}\rangle",
    reading="the covariance identity for four logits, and the derived output with three patches; v for the mean value of one class",
)
def covariance(lab: Laboratory) -> Verdict:
    """The identity, and the gradient of the output with three patches."""
    z = [sym(f"z{a}") for a in range(4)]
    total = graph.add(graph.exp(x) for x in z)
    s, u, kappa = [graph.exp(x) / total for x in z], [sym(f"u{a}") for a in range(4)], [sym(f"c{a}") for a in range(4)]
    mean = graph.add(a * b for a, b in zip(s, u, strict=True))
    left = graph.add(s[a] * (u[a] - mean) * kappa[a] for a in range(4))
    right = graph.add(s[a] * s[b] * (u[a] - u[b]) * (kappa[a] - kappa[b]) for a in range(4) for b in range(a + 1, 4))
    made, patches = lab.network(), [0, 1, 1]
    f, rows = _output(lab, patches)
    x = [made.tokens(0)[p] for p in patches]
    v = [
        graph.add([r[c] for r in made.weights["P"]]) / ROWS - graph.add([r[c] for r in made.weights["N"]]) / ROWS
        for c in range(5)
    ]
    key, pairs = made.weights["K"][0], {}
    for c, slope in enumerate(graph.gradient(f, made.weights["Q"][0])[:2]):
        inner = graph.add(
            x[l][c] * rows[l][a] * rows[l][b] * (dot(v, x[a]) - dot(v, x[b])) * (dot(key, x[a]) - dot(key, x[b]))
            for l in range(3)
            for a in range(3)
            for b in range(a + 1, 3)
        )
        pairs[f"query {c}"] = slope, inner
    return on_the_toy(equal({"covariance": (left, right)}) & equal(pairs, POSITIVE))


@book.claim(
    "F.2b-approximation",
    "One-term approximation with a dominant patch",
    kind="identity",
    origin="text",
    where="Appendix F.2, second line of the display of the inner product",
    parts=["sign"],
    hypotheses=[],
    uses=["F.2b"],
    insensitive=NUMBERS,
    statement=r"\sum_{a<b}s_as_b\langle v,x^{(a)}-x^{(b)}\rangle\langle w_K,x^{(a)}-x^{(b)}\rangle\approx_{\rm sgn}\langle w_K,y_i\xi_i^{(L)}-\sum_{a<L}x_i^{(a)}\rangle",
    reading="its own assumptions: softmax 1/L, <v, x^(a)> = 0 for a < L, and |sum of the other keys| below that of patch L; L = 4",
)
def dominant_patch(lab: Laboratory) -> Verdict:
    """The exact sum and the printed one have the sign of the dominant key."""
    L, u = 4, sym("u")
    kappa = [sym(f"c{a}") for a in range(L)]
    values = [ZERO] * (L - 1) + [u]
    exact = graph.add((values[a] - values[b]) * (kappa[a] - kappa[b]) for a in range(L) for b in range(a + 1, L)) / L**2
    others = graph.add(kappa[:-1])
    law = identity({"sum": exact - u * ((L - 1) * kappa[-1] - others) / L**2})
    S, e = sym("S"), sym("e")  # the others add up to S or -S, the dominant key is S + e
    signs = always_positive(
        {
            f"{what} {sign}": node
            for sign in (1, -1)
            for what, node in (("exact", (L - 1) * (S + e) - sign * S), ("printed", (S + e) - sign * S))
        },
        ("S", "e"),
    )
    return (law & signs).proving("the sum is u ((L - 1) c_L - sum of the others) / L^2", L=L)


# ---- second layer and heads ------------------------------------------------------------------------------------------


def _second_layer(lab: Laboratory) -> tuple[dict[str, Node], Node]:
    """Second-layer weights, and the output of sample 1 with them."""
    made = lab.network()
    s, x = made.attention(0), made.tokens(0)
    theta = {f"{kind}{r}": sym(f"theta_{kind}{r}") for kind in SIDES for r in (1, 2)}
    f = graph.add(
        theta[f"{kind}{r}"] * s[l][a] * dot(made.weights[kind][r - 1], x[a])
        for kind in SIDES
        for r in (1, 2)
        for l in range(2)
        for a in range(2)
    )
    return theta, f


@book.claim(
    "F.3-gradient",
    "Gradient of the second layer",
    kind="identity",
    hypotheses=[],
    parts=["gradient"],
    where="Appendix F.3, display",
    origin="text",
    uses=["Eq.1"],
    expect="fails",
    insensitive=EVERY,
    statement=r"\theta_{j,r}^{(0)}=\tfrac j{m_v}:\ \nabla_{\theta_{j,r}}L_S=\tfrac1n\sum_iy_i\ell'_ij[(s_{i,11}+s_{i,21})\langle w_{V,j,r},y_i\mu\rangle+(s_{i,12}+s_{i,22})\langle w_{V,j,r},\xi_i\rangle]",
    reading="theta_{j,r} starts at j/m_v, so that f is linear in theta without a factor j",
)
def second_layer_gradient(lab: Laboratory) -> Verdict:
    """Derivatives by theta with and without j."""
    made = lab.network()
    theta, f = _second_layer(lab)
    at_start = {node: num(Fraction(SIDES[name[0]], ROWS)) for name, node in theta.items()}
    same = equal({"start": (graph.substitute([f], at_start)[0], made.output(0))}, POSITIVE)
    s, x = made.attention(0), made.tokens(0)
    printed, right = {}, {}
    for name, node in theta.items():
        inner = graph.add((s[0][a] + s[1][a]) * dot(made.weights[name[0]][int(name[1]) - 1], x[a]) for a in range(2))
        slope = graph.gradient(f, [node])[0]
        printed[name], right[name] = (slope, SIDES[name[0]] * inner), (slope, inner)
    return (
        equal(printed, POSITIVE)
        .witnessed(
            "for j = -1 the derivative of f by theta_{j,r} is the bracket itself, and the display has minus the bracket",
            {},
        )
        .correcting(
            r"\nabla_{\theta_{j,r}}L_S=\tfrac1n\sum_iy_i\ell'_i[\ldots]\ \text{(no}\ j)",
            same & equal(right, POSITIVE),
            "j is in the initial value already",
        )
        .blaming("misprint", "second-layer-sign")
    )


@book.claim(
    "F.3",
    "Signs of the second layer",
    kind="inequality",
    hypotheses=[],
    parts=["signs"],
    where="Appendix F.3, signs of the gradient after Stage I",
    origin="text",
    uses=["F.3-gradient", "Sec.E.2"],
    statement=r"\text{after the rows have grown},\ \mathrm{sgn}\,\nabla_{\theta_{j,r}}L_S=-j:\ \theta_{1,r}\ \text{grows},\ \theta_{-1,r}\ \text{falls, no sign changes}",
    reading="rows with the sign of j along noise and signal, all softmax weights and slopes",
)
def second_layer_signs(lab: Laboratory) -> Verdict:
    """Sign of the derivative with rows of the right sign."""
    made = lab.network()
    theta, f = _second_layer(lab)
    X, Y = sym("X"), sym("Y")
    s = made.attention(0)
    hidden = {s[0][0]: 1 / (1 + X), s[0][1]: X / (1 + X), s[1][0]: 1 / (1 + Y), s[1][1]: Y / (1 + Y)}
    nodes = {}
    for kind, j in SIDES.items():
        row = made.weights[kind][0]
        values = {w: ZERO for w in row} | {
            row[0]: j * sym("c"),
            row[1]: j * sym("w"),
            row[2]: j * sym("e"),
        }  # y = 1, positive noise entries
        slope = graph.substitute(graph.substitute([graph.gradient(f, [theta[f"{kind}1"]])[0]], hidden), values)[0]
        nodes[kind] = j * slope  # dL/dtheta = -g df/dtheta for y = 1, so the loss falls in the direction j
    rows = signed(lab, {}, {f"{kind}1_{x}": j for kind, j in SIDES.items() for x in ("mu", "1", "2")})
    return on_the_toy(always_positive(nodes, ("X", "Y", "c", "w", "e", *POSITIVE)) & rows)


@book.claim(
    "F.3-rows",
    "Rows of values after Stage I",
    kind="inequality",
    uses=["F.3"],
    expect="fails",
    statement=r"t\ge T_1:\ \langle w_{V,j,r},jy_i\xi_i\rangle>0\ \text{for all}\ i,r",
    reading="R1: a row starts with standard deviation sigma_0 |xi_i| and moves by T_1 |xi_i|_1 up to T_1: probability that it is positive, smallest over samples, against 1 - 1/(2 m_v n); corrected from T_2' on, where T_2' |xi_i|_1 >= beta_xi; "
    + FLOW,
)
def rows_after(lab: Laboratory) -> Verdict:
    """Moves at T_1 in standard deviations, and at T_2' over beta_xi."""
    record = lab.record("R1")
    case, start = record.case, record.start
    speed = float((record.run.v[1] - record.run.v[0] > 0).mean())  # v grows from the first step on
    z = record.T1 * start.l1 / (case.sigma_0 * start.l2)
    share = 0.5 * np.array([erfc(-x / sqrt(2)) for x in z])
    printed = between("share of positive rows", share, 1 - 1 / (2 * case.m_v * case.n), 1)
    fixed = between("T_2' |xi|_1 / beta_xi", record.T2_prime * start.l1 / start.beta_xi, 1, 2) & between(
        "v grows", [speed], 1, 1
    )
    return printed.correcting(
        r"t\ge T_2':\ \langle w_{V,j,r},jy_i\xi_i\rangle>0,\ \text{so that}\ T_2'\eta\ll1/m_v\ \text{is needed}",
        fixed,
        "single rows start m_v^(1/2) times larger than their mean",
    )


@book.claim(
    "F.4",
    "Several heads",
    kind="identity",
    uses=["D.4", "D.5", "D.6"],
    statement=r"f=\sum_hf_h:\ \text{gradients by the weights of head}\ h\ \text{are those of one head, with the slope}\ \ell'\ \text{of the sum; equal heads give}\ Hf",
    reading="sample by sample: the gradient of log(1 + exp(-y (f + c))), c the output of the other heads, is that of one head times g(f + c)/g(f), positive, so every sign of a sample's contribution stays; and the margin of H equal heads is H times one; "
    + TOY,
)
def heads(lab: Laboratory) -> Verdict:
    """Gradients with another head's output added."""
    made, c = lab.network(), sym("c")
    pairs: dict[str, tuple[Node, Node]] = {}
    weights = [made.weights["Q"][0][0], made.weights["K"][0][1], made.weights["P"][0][0]]
    for i, y in enumerate(LABELS):
        f = made.output(i)
        single = graph.gradient(graph.call("softplus", -y * f), weights)
        several = graph.gradient(graph.call("softplus", -y * (f + c)), weights)
        one, more = graph.call("sigmoid", -y * f), graph.call("sigmoid", -y * (f + c))
        pairs |= {f"{i} {k}": (b * one, a * more) for k, (a, b) in enumerate(zip(single, several, strict=True))}
        pairs[f"loss {i}"] = graph.substitute([lab.slope(i, sym("f"))], {sym("f"): f})[0], -y * one
    return equal(pairs, POSITIVE)


@book.claim(
    "Beyond.conservation",
    "What gradient flow conserves and sign flow does not",
    kind="identity",
    uses=["D.7"],
    origin="ours",
    statement=r"\tfrac d{dt}(\|w_{Q,s}\|^2-\|w_{K,s}\|^2)=0\ \text{under gradient flow, for every neuron}",
    reading="sum over coordinates of w_Q times its argument minus w_K times its argument vanishes identically for each neuron; with signs of the arguments it does not: in the absorbing cone the sum is (|xi| weights) positive multiples that differ; "
    + TOY,
)
def conservation(lab: Laboratory) -> Verdict:
    """The rescaling invariant of each neuron."""
    made, arguments, _ = lab.steps()
    out = {}
    for r in range(2):
        total = ZERO
        for kind, sign in (("Q", 1), ("K", -1)):
            for w in made.weights[kind][r]:
                total = total + sign * w * arguments[w.args[0]]
        out[f"neuron {r + 1}"] = total
    return identity(out, POSITIVE)
