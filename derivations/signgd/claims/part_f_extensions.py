"""Appendix F: 0-1 test loss, longer contexts, a trained second layer, several heads; and what gradient flow conserves."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from itertools import product
from math import log, sqrt
from operator import and_
from typing import Any

import flint

from odesys import ZERO, Node, Verdict, Witness, always_positive, certified, equal, graph, identity, num, refuted, sym

from ..laboratory import Laboratory
from ..special.toy_network import LABELS, POSITIVE, ROWS, dot
from .book import EVERY, NUMBERS, at_most, ball, book, on_the_toy, short, signed, tail
from .common_hypotheses import CONDITION, inside_point
from .common_orders import BETA_XI, COQ, ETA, M_K, T_END, D, N, S, vanishing
from .part_d_gradients import SIDES, constant_moves
from .part_d_recursion import mean_value_moves

# ---- 0-1 test loss ----------------------------------------------------------------------------------------------------


def error_law(lab: Laboratory, c: Fraction, per_eps: int = 10) -> tuple[Any, Any]:
    """P(y f <= 0) for a fresh sample at T, eps = 1/per_eps and sigma_0 = c sigma_p^-2 s^-3/2 m_v^(1/2), from below and above.

    f has the sign of (s_11 + s_21) v_mu + (s_12 + s_22) v_xi, where v_mu = 4 log(1/eps)|mu|/(sigma_p s) and v_xi is Gaussian
    with variance 2 sigma_0^2 sigma_p^2 s / m_v. Softmax outputs are within 1/100 of 1/2, as |xi|_1 plays no part: queries
    and keys of a fresh sample are at their start, and signals at T are of the order 1/(sigma_p s).
    """
    spread = ball(
        lab.variances()["v_xi"]
    ).sqrt()  # of v_xi, in units of (2/m_v)^(1/2) sigma_0 sigma_p s^(1/2): 2/m_v is 1 in the toy
    z = 2 * flint.arb(2).sqrt() * flint.arb(per_eps).log() / ball(c) / spread
    low, high = (tail(z * ball(x)) / 2 for x in (Fraction(51, 49), Fraction(49, 51)))
    return low, high


def _half(lab: Laboratory) -> Verdict:
    """Softmax outputs of a fresh sample at T tend to 1/2."""
    signals = vanishing("m_k (T eta |mu|)^2", M_K * (T_END * ETA) ** 2)
    noise = vanishing("m_k sigma_0^2 sigma_p^2 s", M_K * BETA_XI**2)
    return (constant_moves(lab) & mean_value_moves(lab) & signals & noise).proving(
        "queries and keys of a fresh sample stay at their start, as no weight on its support moves"
    )


@book.claim(
    "F.1-definition",
    "0-1 test loss",
    kind="definition",
    where="Appendix F.1, first display",
    hypotheses=[],
    origin="text",
    insensitive="a definition",
    statement=r"L^{0\text{-}1}_{\mathcal D}(W):=P[yf(W,X)>0]",
    reading="as printed it is the share of right answers; where the text calls it a small loss, P(yf <= 0) is meant",
)
def printed_loss(lab: Laboratory) -> Verdict:
    """Both expressions for a network that is always right."""
    return certified(printed="1 where every answer is right", meant="P(yf <= 0), which is 0 there")


@book.claim(
    "F.1a",
    "Small initial scale: few errors",
    kind="probability",
    where="Appendix F.1, sigma_0 small",
    parts=["probability"],
    origin="text",
    hypotheses=CONDITION,
    uses=["Eq.14-15", "F.1-definition"],
    statement=r"\sigma_0=o(\sigma_p^{-2}s^{-3/2}m_v^{1/2})\ \Rightarrow\ P[yf>0]\ge1-n^{-O(1)}",
    reading="n^(-O(1)) as a number that tends to 0, since a slow o(1) gives no fixed power of n; eps = 1/2 to 10^-4",
)
def small_scale(lab: Laboratory) -> Verdict:
    """The law of the error is at most exp(-z^2/2)/2, z = 2 sqrt2 log(1/eps)/c up to 49/51: it falls to zero with c, for every eps."""
    falls = at_most(error_law(lab, Fraction(1, 4))[1], ball(Fraction(1, 10**60)), c="1/4")
    for per_eps, k in product((2, 10, 100, 10**4), range(5)):
        z = ball(Fraction(49, 51)) * 2 * flint.arb(2).sqrt() * flint.arb(per_eps).log() * 2**k
        falls = falls & at_most(error_law(lab, Fraction(1, 2**k), per_eps)[1], (-z * z / 2).exp() / 2, c=f"1/{2**k}")
    falls = falls.proving("P(|Z| > z) <= exp(-z^2/2) for z >= 0, and z is a constant by eps over c")
    supports = vanishing("P(the fresh support meets one of n others), n s^2 / d", N * S**2 / D)
    return (
        (_half(lab) & falls & supports)
        .with_constants(law="P(yf <= 0) = Phi(-2 sqrt2 log(1/eps) / c), c = sigma_0 sigma_p^2 s^(3/2) m_v^-1/2")
        .proving("n s^2 / d is of the order n^-3, as s is of the order d^(1/2) n^-2: it is added to the law")
    )


@book.claim(
    "F.1b",
    "Large initial scale: errors near one half",
    kind="probability",
    where="Appendix F.1, sigma_0 large",
    parts=["probability"],
    origin="text",
    hypotheses=[],
    uses=["F.1a"],
    insensitive="it holds for every probability",
    statement=r"\sigma_0=\Omega(\sigma_p^{-2}s^{-3/2}m_v^{1/2})\ \Rightarrow\ |P[yf>0]-\tfrac12|\le1-n^{-O(1)}",
    reading="as printed: the left side is at most 1/2 for every probability, so it says nothing; what is meant is Beyond.F.1",
)
def large_scale(lab: Laboratory) -> Verdict:
    """1/2 <= 1 - 1/n for n >= 2."""
    found = always_positive({"1 - 1/n - 1/2": num(Fraction(1, 2)) - 1 / (3 + sym("e"))}, (), ("e",))
    told = {"room": (("power",), 1 - 1 / sym("power"))}  # of n
    return found.by_theorems(COQ / "any_probability.v", told).proving("a probability is between 0 and 1")


@book.claim(
    "F.1b-display",
    "Large initial scale: the signal is negligible",
    kind="order",
    where="Appendix F.1, sigma_0 large, first display",
    parts=["<v, mu>", "<<", "|<v, xi>|"],
    origin="text",
    hypotheses=CONDITION,
    uses=["Eq.14-15"],
    expect="fails",
    statement=r"\sigma_0=\Omega(\sigma_p^{-2}s^{-3/2}m_v^{1/2})\ \Rightarrow\ \langle v^{(T)},\mu\rangle=\Theta(\log(\epsilon^{-1})\|\mu\|\sigma_p^{-1}s^{-1})\ll\Omega(m_v^{-1/2}\sigma_0\sigma_ps^{1/2})=|\langle v^{(T)},\xi\rangle|",
    reading="Omega allows sigma_0 of that order itself, where both sides are of one order; later lines use <<; the last Omega with probability 1 - delta, constant by delta",
)
def large_scale_display(lab: Laboratory) -> dict[str, Verdict]:
    """The signal by the length of moves, the noise by the derived spread of a fresh sample, at points of a path."""
    E, r = sym("E"), sym("r")  # E = log(1/eps); the start over |mu|/(sigma_p s) is at most E/(1 + r), as in Thm.3.2(3)
    both = {"above": 4 * E - E / (1 + r) - 3 * E, "below": 5 * E - (4 * E + E / (1 + r))}
    signal = mean_value_moves(lab) & always_positive(both, ("E", "r"))
    spread = ball(lab.variances()["v_xi"]).sqrt()  # over (2/m_v)^(1/2) sigma_0 |xi|, which is 1 in the toy
    dense = at_most((2 / flint.arb.pi()).sqrt(), ball(1), what="density of |Z|") & at_most(ball(Fraction(1, 2)), spread)
    points = [_at_equality(m_k) for m_k in (60, 10**4, 10**6)]
    level = ball(4) * flint.arb(10).log()

    def quotient(point: Mapping[str, float], factor: int = 1) -> Any:
        noise = (
            (2 / ball(point["m_v"])).sqrt() * spread * ball(factor) * ball(point["sigma_0"]) * ball(point["sigma_p"])
        )
        return level / (ball(point["sigma_p"]) * ball(point["s"])) / (noise * ball(point["s"]).sqrt())

    half = ball(Fraction(1, 2))
    stays = reduce(and_, (at_most(half, quotient(p)) for p in points))
    falls = reduce(and_, (at_most(quotient(p, 10**k), ball(10) ** -k) for p in points for k in (1, 2, 4)))
    if (stays & signal).as_stated != "holds":
        return {"<v, mu>": signal, "<<": stays & signal, "|<v, xi>|": dense}
    sentence = (
        f"at n = {points[0]['n']:.4g}, sigma_0 = 4 log(10) |mu| sigma_p^-2 s^-3/2 m_v^(1/2) (Condition 3.1 holds), eps = 1/10, the "
        f"signal over the deviation of the noise is {short(quotient(points[0])):.4g}, and the same at n = {points[-1]['n']:.4g}"
    )
    printed = (
        refuted(Witness(sentence, points[0]), stays.evidence)
        .correcting(
            r"\sigma_0=\omega(\log(\epsilon^{-1})\sigma_p^{-2}s^{-3/2}m_v^{1/2})\ \Rightarrow\ \text{the same}",
            falls.proving("the quotient falls like 1/sigma_0"),
            "a large constant gives errors near 1/2 only, see Beyond.F.1",
        )
        .blaming("misprint", "omega-for-large")
    )
    noise = dense.proving(
        "P(|Z| <= delta) <= delta, as the density of |Z| is at most (2/pi)^(1/2): the constant is delta"
    )
    return {"<v, mu>": signal, "<<": printed, "|<v, xi>|": noise}


def _at_equality(m_k: int) -> dict[str, float]:
    """A point inside Condition 3.1 with sigma_0 = 4 log(10) sigma_p^-2 s^-3/2 m_v^(1/2)."""
    point = inside_point(m_k)
    sigma_0 = 4 * log(10) * point["sigma_p"] ** -2 * point["s"] ** -1.5 * sqrt(point["m_v"])
    return {**point, "sigma_0": sigma_0}


@book.claim(
    "Beyond.F.1",
    "The 0-1 error at both scales",
    kind="probability",
    origin="ours",
    hypotheses=[],
    uses=["F.1a"],
    statement=r"P[yf\le0]=\Phi(-2\sqrt2\log(1/\epsilon)/c),\ c=\sigma_0\sigma_p^2s^{3/2}m_v^{-1/2}:\ \to0\ (c\to0),\ \to\tfrac12\ (c\to\infty)",
    reading="eps = 1/10, softmax outputs within 1/100 of 1/2; the transition is at c = 2 sqrt2 log(1/eps), so Omega needs a large constant",
)
def both_scales(lab: Laboratory) -> Verdict:
    """Errors at c = 100, 10^4 and 1/4."""
    near = at_most(ball(Fraction(47, 100)), error_law(lab, Fraction(100))[0], c=100)
    limit = at_most(ball(Fraction(4995, 10000)), error_law(lab, Fraction(10**4))[0], c=10**4)
    return _half(lab) & near & limit & at_most(error_law(lab, Fraction(1, 4))[1], ball(Fraction(1, 10**60)), c="1/4")


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
    reading="L = 4: the output is L/2 times that of L = 2, so samples move alike, with slopes at L/2 times the margin; L = 3: softmax 1/3",
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
    expect="fails",
    statement=r"\nabla_{w_{Q,s}}L_S=\tfrac1n\sum_i\ell_i'y_i\sum_lx_i^{(l)}\sum_{a<b}s_{i,la}s_{i,lb}\langle\bar w_{V,j},x_i^{(a)}-x_i^{(b)}\rangle\langle w_{K,s},x_i^{(a)}-x_i^{(b)}\rangle",
    reading="j is free on the right: both classes enter, by v, as in Lemma D.7; covariance identity for four logits, output with three patches, two of them equal",
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
    one = [graph.add([r[c] for r in made.weights["P"]]) / ROWS for c in range(5)]  # mean row of j = 1
    key, pairs, single = made.weights["K"][0], {}, {}
    for c, slope in enumerate(graph.gradient(f, made.weights["Q"][0])[:2]):
        inner = graph.add(
            x[l][c] * rows[l][a] * rows[l][b] * (dot(v, x[a]) - dot(v, x[b])) * (dot(key, x[a]) - dot(key, x[b]))
            for l in range(3)
            for a in range(3)
            for b in range(a + 1, 3)
        )
        pairs[f"query {c}"] = slope, inner
        single[f"query {c}"] = (
            slope,
            graph.add(
                x[l][c]
                * rows[l][a]
                * rows[l][b]
                * (dot(one, x[a]) - dot(one, x[b]))
                * (dot(key, x[a]) - dot(key, x[b]))
                for l in range(3)
                for a in range(3)
                for b in range(a + 1, 3)
            ),
        )
    fixed = on_the_toy(equal({"covariance": (left, right)}) & equal(pairs, POSITIVE))
    return (
        equal(single, POSITIVE)
        .witnessed(
            "with the rows of class 1 at 0 the right side with j = 1 is 0, and the gradient has those of class -1", {}
        )
        .correcting(
            r"\text{the same with}\ v=\bar w_{V,1}-\bar w_{V,-1}\ \text{for}\ \bar w_{V,j}", fixed, "f is F_1 - F_{-1}"
        )
        .blaming("misprint", "one-class")
    )


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
    reading="theta starts at j/m_v, so f has no factor j; with f = F_1 - F_{-1} and the start 1/m_v the display is right, the start is not",
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
    uses=["F.3-gradient", "F.3-rows", "Sec.E.2"],
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
    rows = signed(lab, {}, {f"{kind}1_{x}": j for kind, j in SIDES.items() for x in ("mu", "1")})
    return on_the_toy(always_positive(nodes, ("X", "Y", "c", "w", "e", *POSITIVE)) & rows)


@book.claim(
    "F.3-rows",
    "Rows of values after Stage I",
    kind="inequality",
    where="Appendix F.3, after the display",
    parts=["positive", "larger than the signal"],
    origin="text",
    hypotheses=CONDITION,
    uses=["C.4", "C.10", "Sec.E.2"],
    statement=r"\text{after Stage I},\ \langle w_{V,j,r},jy_i\xi_i\rangle\ \text{become positive for all}\ i\ \text{and larger than}\ \langle w_{V,j,r},\mu\rangle",
    reading="there is a time after T_1 from which it is so, 2 T_2' at the latest; at T_1 single rows may still be negative",
)
def rows_after(lab: Laboratory) -> dict[str, Verdict]:
    """A row moves by eta |xi_i|_1 in a step and starts at -beta_xi at the least; sigma_p s = 1, T_2' eta = sqrt2 beta_xi."""
    beta, x, u, r, h = (sym(name) for name in ("beta", "x", "u", "r", "h"))
    norm, late = num(Fraction(7, 10)) + x, 2 * num(Fraction(7, 5)) * beta + u  # |xi_i|_1 >= 1/sqrt2, and t = 2 T_2' + u
    positive = always_positive({"row": late * norm - beta}, ("beta",), ("x", "u"))
    # a signal row is at most beta_mu + t |mu|, with beta_mu = beta_xi / (2 + r) and |mu| = |xi_i|_1 / (8 + h)
    larger = always_positive(
        {"row minus signal": late * norm - beta - (beta / (2 + r) + late * norm / (8 + h))},
        ("beta",),
        ("x", "u", "r", "h"),
    )
    moves = mean_value_moves(lab)
    names = ("beta", "eta", "size")
    told = {"T_2_prime": (names, graph.sqrt(num(2)) * beta / (sym("eta") * sym("size")))}
    return {
        "positive": (moves & positive)
        .by_theorems(COQ / "rows_after.v", told)
        .proving("2 T_2' eta |xi_i|_1 is at least 2 beta_xi for |xi_i|_1 >= sigma_p s / sqrt2"),
        "larger than the signal": (moves & larger)
        .by_theorems(COQ / "rows_after.v", told)
        .proving("beta_xi >= 2 beta_mu by Lemma C.10, and |mu| is at most an eighth of |xi_i|_1 for large sigma_p s"),
    }


@book.claim(
    "F.4",
    "Several heads",
    kind="identity",
    where="Appendix F.4, gradients",
    parts=["gradients"],
    origin="text",
    hypotheses=[],
    uses=["D.4", "D.5", "D.6"],
    statement=r"f=\sum_hf_h:\ \text{gradients by the weights of head}\ h\ \text{are those of one head, with the slope}\ \ell'\ \text{of the sum; equal heads give}\ Hf",
    reading="sample by sample: with the output c of the other heads a gradient is that of one head times g(f + c)/g(f), which is positive",
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
    return on_the_toy(equal(pairs, POSITIVE))


@book.claim(
    "Beyond.conservation",
    "What gradient flow conserves and sign flow does not",
    kind="identity",
    hypotheses=[],
    uses=["D.7"],
    origin="ours",
    statement=r"\tfrac d{dt}(\|w_{Q,s}\|^2-\|w_{K,s}\|^2)=0\ \text{under gradient flow, for every neuron}",
    reading="the sum of w_Q times its argument minus w_K times its argument vanishes for each neuron; with signs of the arguments it does not",
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
    return on_the_toy(identity(out, POSITIVE))
