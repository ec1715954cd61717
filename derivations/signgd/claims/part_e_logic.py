"""Appendix E, one-step implications and algebra: signs of the derived arguments, saddles, products, orders of times."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import reduce
from itertools import product
from operator import and_

import flint
import numpy as np

from odesys import (
    Verdict,
    always_positive,
    certified,
    equal,
    graph,
    identity,
    leading_orders,
    num,
    over_seeds,
    refuted,
    sym,
    untested,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special import mean_field, recursion
from .book import SIZES, at_most, ball, book, inside, short, signed, weights_of_pair
from .common_checks import not_supposed
from .common_hypotheses import after_stage_one, longer_noise, taken
from .common_orders import given
from .part_d_gradients import constant_moves
from .part_d_recursion import derived_shares


def _values() -> dict[str, graph.Node]:
    """v_i = v_mu + w_i with positive w_i."""
    return {"v_1": sym("v_mu") + sym("w1")}


def _all(parts: list[Verdict]) -> Verdict:
    return reduce(and_, parts)


@book.claim(
    "E.16-19",
    "Stage IV.a goes on by itself",
    kind="inequality",
    hypotheses=[
        after_stage_one,
        taken("(30), up to T_4^-", r"b_i|q_{si}|\ge2a_i|q_{s\mu}|"),
        longer_noise,
    ],
    parts=["E.16", "E.17", "E.18", "E.19"],
    where="Claims E.16 to E.19",
    origin="statement",
    uses=["Eq.10-12", "Eq.8-9"],
    statement=r"\mathcal F(t)\Rightarrow\mathcal E(t);\ \mathcal D(T_3),\mathcal E,\mathcal F(\le t-1)\Rightarrow\mathcal D(t);\ \mathcal A,\mathcal D,\mathcal E(t)\Rightarrow\mathcal A(t+1);\ \mathcal F,\mathcal D,\mathcal E(t)\Rightarrow\mathcal F(t+1)",
    reading="on the derived arguments, all signs; in E.18 errors e of sizes and lengths; E.19 has mu for y_i xi_i",
)
def stage_four_a(lab: Laboratory) -> dict[str, Verdict]:
    """Signs in all cases, sizes after a step, and signs after a step outwards."""
    keys, queries = [], []
    a, b = weights_of_pair()
    for e, f in product((1, -1), repeat=2):
        query = e * (2 * a * sym("c") + sym("r")) / b  # b |q| = 2 a |q_mu| + r
        keys.append(signed(lab, _values() | {"q1_mu": f * sym("c"), "q1_1": query}, {"k1_1": e}, ("w1", "c"), ("r",)))
        gap = sym("B") + sym("tau") * (sym("m") + sym("e"))
        queries.append(
            signed(
                lab,
                _values() | {"k1_mu": f * sym("tau") * sym("m"), "k1_1": e * gap},
                {"q1_1": e},
                ("w1", "B", "e"),
                ("tau",),
            )
        )
    moves, q, k, h = constant_moves(lab), sym("q"), sym("k"), sym("h")
    outwards = always_positive({"product after a step": (q + h) * (k + h)}, ("q", "k", "h"))
    return {
        "E.16": _all(keys),
        "E.17": _all([*queries, moves]),
        "E.18": moves & _linear_after_a_step(),
        "E.19": moves & outwards,
    }


def _linear_after_a_step() -> Verdict:
    """t (1 +- e) and a step 1 +- e', e' < e, add up to (t + 1)(1 +- e)."""
    t, e = sym("t"), sym("e")
    less = e / (1 + sym("z"))
    return always_positive(
        {"above": (t + 1) * (1 + e) - (t * (1 + e) + 1 + less), "below": t * (1 - e) + 1 - less - (t + 1) * (1 - e)},
        ("t", "e", "z"),
    )


@book.claim(
    "E.31-32",
    "Aligned noise goes on in Stage IV.b",
    kind="inequality",
    hypotheses=[after_stage_one],
    parts=["one step"],
    where="Claims E.31 and E.32",
    uses=["Eq.10-12"],
    statement=r"\mathcal G(t),\mathcal F(t)\Rightarrow\mathcal A(t);\quad\mathcal G(t)\Rightarrow\mathcal B(t)",
    reading="all positive softmax weights and slopes, w_i = v_i - v_mu > 0, both signs",
)
def aligned_goes_on(lab: Laboratory) -> Verdict:
    """Signs of the arguments of an aligned pair."""
    parts = []
    for e in (1, -1):
        state = _values() | {"q1_mu": e * sym("c"), "k1_mu": -e * sym("d"), "q1_1": e * sym("q"), "k1_1": e * sym("k")}
        parts.append(signed(lab, state, {"q1_1": e, "k1_1": e}, ("w1", "c", "d", "q", "k")))
    return _all(parts)


@book.claim(
    "E.33",
    "Unaligned query noise goes on in Stage IV.b",
    kind="inequality",
    hypotheses=[
        after_stage_one,
        taken(
            "D(t) and F(t), by Lemma E.29",
            r"\mathcal D(t),\mathcal F(t)\ \text{with}\ |k_{si}|\ge(1-\theta)T_4^-\eta\sqrt{2/\pi}\,\sigma_ps(1-o(1)),\ |k_{s\mu}|\le(1+\theta)T_4^-\eta\|\mu\|(1+o(1))",
        ),
    ],
    parts=["one step"],
    where="Claim E.33",
    uses=["Eq.10-12", "E.29", "E.33-proof"],
    repairs=["E.33-proof", "IV.b-signs"],
    statement=r"\mathcal D(t),\mathcal F(t)\Rightarrow\mathcal C(t)",
    reading="with the sizes of Lemma E.29, by which Remark E.30 has D(t) and F(t); sigma_p s over |mu| above a constant of theta",
)
def unaligned_query(lab: Laboratory) -> Verdict:
    """The sign of the increment where |k_i| > |k_mu|, and the sizes of Lemma E.29; sqrt(2/pi) > 7/10, errors in 7/10."""
    names = ("w1", "c", "d", "k")
    parts = [
        signed(lab, _values() | {"k1_mu": -e * sym("d"), "k1_1": -e * (sym("d") + sym("k"))}, {"q1_1": -e}, names)
        for e in (1, -1)
    ]
    y, z = sym("y"), sym("z")  # theta = 1/(1 + y), sigma_p s / |mu| = (10/7) (1 + theta)/(1 - theta) (1 + z)
    theta = 1 / (1 + y)
    Lambda = num(Fraction(10, 7)) * (2 + y) / y * (1 + z)
    sizes = always_positive({"|k_i| - |k_mu|": (1 - theta) * Fraction(7, 10) * Lambda - (1 + theta)}, ("y", "z"))
    found = _all(parts) & sizes & at_most(ball(Fraction(7, 10)), (2 / flint.arb.pi()).sqrt())
    return given(found, "Remark E.28")


@book.claim(
    "E.34-35",
    "Query signal goes on in Stage IV.b",
    kind="inequality",
    hypotheses=[
        after_stage_one,
        taken(
            "weights within |vote|/n, as corrected in E.11-weights",
            r"g_ia_iv_i=c(1\pm\delta),\ \delta<|\textstyle\sum_i\epsilon_i|/n",
        ),
    ],
    parts=["E.34", "E.35"],
    where="Claims E.34 and E.35",
    uses=["Eq.11-13", "E.11-weights", "E.23-24"],
    statement=r"\mathcal B(t)\Rightarrow\mathcal E(t);\quad\mathcal G,\mathcal A,\mathcal B,\mathcal C,\mathcal E(t)\Rightarrow\mathcal G(t+1)",
    reading="E.34 for n samples whose keys have one size, with the worst weights; E.35 as E.18",
)
def query_signal_goes_on(lab: Laboratory) -> dict[str, Verdict]:
    """The derived weights of a vote, the part of k_mu, which goes with it, and the worst weights for n keys of one size."""
    # what a sample adds is its weight c_i = g_i a_i w_i / n times k_i - k_mu, of the signs e_i K and -k_mu > 0
    weights = derived_shares(lab, ["q1_mu"])
    alone = signed(lab, _values() | {"k1_mu": -sym("d"), "k1_1": 0}, {"q1_mu": 1}, ("w1", "d"))
    n, S, r = sym("n"), sym("S"), sym("r")  # delta = S / (n (1 + r)): (n + S)/2 keys with, (n - S)/2 against the vote
    delta = S / (n * (1 + r))
    worst = always_positive({"vote": (n + S) / 2 * (1 - delta) - (n - S) / 2 * (1 + delta)}, ("n", "S", "r"))
    moves = constant_moves(lab)
    near = given(
        weights & alone & worst & moves, "that weights are so near each other, as in Lemmas E.23 and E.24 up to T_4^-"
    )
    return {"E.34": near, "E.35": moves & _linear_after_a_step()}


@book.claim(
    "E.38",
    "Stage IV.c: small noise-signal weights let the signal decide",
    kind="inequality",
    hypotheses=[
        after_stage_one,
        taken("signals of opposite signs", r"\langle w_{K,s},\mu\rangle=_{\rm sgn}-\langle w_{Q,s},\mu\rangle"),
    ],
    parts=["one step"],
    where="Claim E.38",
    uses=["Eq.10-12", "Beyond.recursion"],
    statement=r"\mathcal H(t)\Rightarrow\mathcal D(t),\mathcal F(t)",
    reading="H(t) for every sample and any signs of the query noise: keys move with q_mu, the key signal against it",
)
def signal_decides(lab: Laboratory) -> Verdict:
    """All signs of the query noise; each sample adds to the key signal with the same sign."""
    parts, (a, b) = [], weights_of_pair()
    for e, f in product((1, -1), repeat=2):
        state = _values() | {"q1_mu": e * sym("c"), "q1_1": f * a * sym("c") / b / (2 + sym("r"))}
        parts.append(signed(lab, state, {"k1_1": e, "k1_mu": -e}, ("w1", "c"), ("r",)))
    return _all(parts)


# ---- products --------------------------------------------------------------------------------------------------------


def noise_logit(lab: Laboratory) -> Callable[[graph.Node, graph.Node], graph.Node]:
    """z_22 on the reduced state, the sum of q k over neurons, as a function of one pair; the others add 0."""
    made = lab.sample(1)
    (logit,) = made.on_section([made.logit(1, 1)])
    zero = {sym("Z22"): num(0)}
    return lambda q, k: graph.substitute([logit], zero | {sym("q1_1"): q, sym("k1_1"): k})[0]


@book.claim(
    "Eq.44",
    "Noise logit after the key flip",
    kind="inequality",
    hypotheses=[],
    parts=["(44)"],
    where="Proof of Lemma E.36, Eq. (44)",
    origin="proof",
    uses=["E.27", "E.29"],
    statement=r"\sum_sq_{si}k_{si}\ge\big((1+\theta)m_k-(\theta^2+\theta)o(m_k)\big)(T_4^-)^2\tfrac2\pi\eta^2\sigma_p^2s^2\ \text{at}\ (1+\theta)T_4^-",
    reading="the derived logit with |E_i| = m_k/2 - e aligned neurons: o(m_k) is 2 e, exactly",
)
def logit_after_flip(lab: Laboratory) -> Verdict:
    """The products at the two kinds of neurons."""
    at, T, th, m, e, p = noise_logit(lab), sym("T"), sym("theta"), sym("M"), sym("e"), sym("p")
    one, other = at((1 + th) * T, (1 + th) * T), at(-(1 + th) * T, -(1 - th) * T)
    found = equal(
        {
            "m_k/2 - e": ((m / 2 - e) * one + (m / 2 + e) * other, ((1 + th) * m - 2 * e * (th + th**2)) * T**2),
            "fraction p": (m * (p * one + (1 - p) * other), m * (1 + th) * (1 + th * (2 * p - 1)) * T**2),
        }
    ).proving("products of the two kinds of neurons, multiplied out")
    return given(found, "Lemma E.27 for o(m_k)")


@book.claim(
    "Eq.46-48",
    "Increments of the noise logit",
    kind="identity",
    hypotheses=[],
    parts=["increments"],
    where="Appendix E.7.3, Eq. (46) and (48)",
    origin="proof",
    uses=["Eq.8-9"],
    statement=r"\Delta\sum_{s\in E_i}q_{si}k_{si}=\sum_{s\in E_i}\eta^2\|\xi_i\|_1^2+\eta\|\xi_i\|_1(|q|+|k|)\ (46);\ \text{unaligned}\ge-(\ldots);\ |q|+|k|\ \text{conserved (48)}",
    reading="the derived logit of one neuron after a step of length eta |xi_i|_1",
)
def logit_increments(lab: Laboratory) -> Verdict:
    """Products before and after a step, for the three kinds of pairs."""
    at, q, k, h = noise_logit(lab), sym("q"), sym("k"), sym("h")
    grown = at(q + h, k + h) - at(q, k)
    turning = at(-(q + h), -(k - h)) - at(-q, -k)
    after = at(-(q - h), k + h) - at(-q, k)  # query falls back, key on the other side already: product -q k
    first = equal(
        {
            "(46)": (grown, h**2 + h * (q + k)),
            "unaligned, before": (turning, -(h**2) + h * (k - q)),
            "unaligned, after": (after, h**2 + h * (k - q)),
            "(48)": ((q - h) + (k + h), q + k),
        }
    )
    rest = always_positive(
        {"before": turning + h**2 + h * (q + k), "after": after + h**2 + h * (q + k)}, ("q", "k", "h")
    )
    return (first & rest).proving("products before and after a step, multiplied out")


@book.claim(
    "Eq.46-49-growth",
    "The noise logit keeps growing",
    kind="inequality",
    hypotheses=[
        taken("theta_c <= 1/4", r"\theta_c\le\tfrac14"),
        taken("m_k >= 400 C^2, C the constant in O", r"\text{a share}\ p\ge\tfrac12-Cm_k^{-1/2}\ge\tfrac9{20}"),
    ],
    parts=["growth"],
    where="Appendix E.7.3, what follows Eq. (47) and (49)",
    origin="proof",
    uses=["Eq.46-48", "Eq.49", "E.27"],
    statement=r"-O(\sqrt{m_k})+\big(\tfrac{m_k}2(t-3\theta_cT_4^-)-O(\sqrt{m_k})(t+\theta_cT_4^-)\big)(1\pm o(1))>0\ \text{on}\ [(2-\theta_c)T_4^-,(2+3\theta_c)T_4^-];\ -O(\sqrt{m_k})+\big(m_k(t-(1+3\theta_c)T_4^-)-O(\sqrt{m_k})(t+(1+3\theta_c)T_4^-)\big)(1\pm o(1))>0\ \text{after}",
    reading="in units of eta^2 |xi_i|_1^2, T_4^- at least one step, errors o(1) at most 1/50; the share of aligned neurons is by Lemma E.27",
)
def logit_grows(lab: Laboratory) -> Verdict:
    """Positivity for all theta <= 1/4 and 1/2 - p = C m_k^(-1/2) <= 1/20, and the sharp threshold."""
    th = num(Fraction(1, 4)) / (1 + sym("u"))  # theta in (0, 1/4)
    p = num(Fraction(9, 20)) + num(Fraction(11, 20)) * sym("x") / (1 + sym("x"))
    c = num(Fraction(1, 2)) - p  # O(m_k^(1/2)) is c m_k times 2 or 3
    t, later = 2 - th + sym("r"), 2 + 3 * th + sym("r")  # over T_4^-
    step, error = 1 / (1 + sym("h")), num(Fraction(1, 50)) / (1 + sym("y"))  # a step over T_4^-, and o(1)

    def growth(at: graph.Node, against: graph.Node, e: graph.Node | int) -> graph.Node:
        return p * (step + 2 * at * (1 - e)) - (1 - p) * (step + against * (1 + e))

    both = {"first": (t, t + 3 * th), "second": (later, 2 + 6 * th)}
    last = {
        "first": (t - 3 * th) / 2 - 3 * c * (t + th),
        "second": (later - (1 + 3 * th)) - 2 * c * (later + 1 + 3 * th),
    }
    printed = identity({side: growth(*both[side], 0) - (last[side] - 2 * c * step) for side in both})
    bounds = printed & always_positive(
        {side: growth(*both[side], error) for side in both}, ("u",), ("x", "r", "h", "y")
    )
    law = _sharp_threshold(lab)
    found = (bounds & law).proving("polynomials with positive coefficients in the slack of theta and p")
    known = found.with_constants(p="a share 45/100 of aligned neurons and theta_c = 1/4 suffice; 1/3 is sharp")
    return given(known, "Lemma E.27")


def _sharp_threshold(lab: Laboratory) -> Verdict:
    """Slope of p tau^2 + (1-p) x u at 2 tau_f on both sides is 2 tau_f (3p - 1), from the derived logit."""
    at, p, t, f = noise_logit(lab), sym("p"), sym("t"), sym("f")
    before = p * at(t, t) + (1 - p) * at(-t, -(2 * f - t))
    after = p * at(t, t) + (1 - p) * at(-(4 * f - t), -(2 * f - t))
    slopes = {
        side: graph.substitute([graph.gradient(node, [t])[0]], {t: 2 * f})[0]
        for side, node in (("before", before), ("after", after))
    }
    return equal({side: (slope, 2 * f * (3 * p - 1)) for side, slope in slopes.items()})


@book.claim(
    "Beyond.sliding",
    "Below a fraction of aligned neurons unaligned keys slide",
    kind="identity",
    hypotheses=[],
    uses=["Eq.46-49-growth"],
    origin="ours",
    statement=r"\min_{\tau\ge2\tau_f}Z(\tau)=(1-p)(9p-1)\tau_f^2\ge\tau_f^2\iff p\ge p^*=\tfrac{5-\sqrt7}9",
    reading="large Lambda; the minimum of the derived logit after the query flip",
)
def sliding(lab: Laboratory) -> Verdict:
    """The minimum, its value, and the root."""
    at, p, t, f = noise_logit(lab), sym("p"), sym("t"), sym("f")
    one, other = at(t, t), at(-(4 * f - t), -(2 * f - t))
    late = p * one + (1 - p) * other
    place = 3 * (1 - p) * f
    slope, value = graph.substitute([graph.gradient(late, [t])[0], late], {t: place})
    star = (5 - graph.sqrt(num(7))) / 9
    level = graph.substitute([(1 - p) * (9 * p - 1)], {p: star})[0]
    exact = equal(
        {"minimum": (slope, num(0)), "value": (value, (1 - p) * (9 * p - 1) * f**2), "threshold": (level, num(1))}
    )
    root = (5 - flint.arb(7).sqrt()) / 9
    other_route = ball(0) + flint.arb(str(mean_field.slide_threshold().evalf(30)))
    agrees = (
        certified()
        if abs(root - other_route) < flint.arb(10) ** -12
        else refuted({"root": short(root), "mean field": short(other_route)})
    )
    return exact & at_most(root, ball(Fraction(1, 3))) & agrees


# ---- saddles and the trap --------------------------------------------------------------------------------------------


@book.claim(
    "Beyond.saddle",
    "The pair is a saddle with a conserved quantity",
    kind="identity",
    hypotheses=[],
    uses=["Beyond.recursion"],
    origin="ours",
    statement=r"a_i=b_i:\ \dot q=\|\xi\|_1\mathrm{sgn}(k-k_\mu),\ \dot k=\|\xi\|_1\mathrm{sgn}(q+q_\mu);\quad|q_{si}+q_{s\mu}|-|k_{si}-k_{s\mu}|=\text{const}",
    reading="frozen signals, a_i = b_i, w_i > 0; in the four cells of q + q_mu and k - k_mu",
)
def saddle(lab: Laboratory) -> Verdict:
    """Signs of the arguments in the four cells of A = q + q_mu, B = k - k_mu."""
    parts = []
    for e, f in product((1, -1), repeat=2):
        state = _values() | {
            "X12": sym("X11"),
            "q1_1": e * sym("A") - sym("q1_mu"),
            "k1_1": f * sym("B") + sym("k1_mu"),
        }
        parts.append(signed(lab, state, {"q1_1": f, "k1_1": e}, ("w1", "A", "B")))
    return _all(parts)  # then d|A| = e dq = e f |xi|_1 and d|B| = f dk = f e |xi|_1 are equal


@book.claim(
    "Beyond.signal-saddle",
    "Query and key signals become opposite",
    kind="identity",
    hypotheses=[],
    uses=["Beyond.recursion"],
    origin="ours",
    statement=r"\text{without noise}:\ \dot q_\mu=-\|\mu\|\mathrm{sgn}\,k_\mu,\ \dot k_\mu=-\|\mu\|\mathrm{sgn}\,q_\mu;\ \text{unstable line}\ q_\mu=-k_\mu",
    reading="q_i = k_i = 0 and w_i > 0, in all four cells",
)
def signal_saddle(lab: Laboratory) -> Verdict:
    """Signs with vanishing noise inner products."""
    parts = []
    for e, f in product((1, -1), repeat=2):
        state = _values() | {"q1_1": 0, "k1_1": 0, "q1_mu": e * sym("c"), "k1_mu": f * sym("d")}
        parts.append(signed(lab, state, {"q1_mu": -f, "k1_mu": -e}, ("w1", "c", "d")))
    return _all(parts)


@book.claim(
    "Beyond.trap",
    "A finite step has a two-cycle at the saddle",
    kind="identity",
    hypotheses=[],
    uses=["Beyond.saddle"],
    origin="ours",
    statement=r"0<A<h,\ -h<B<0:\ (A,B)\to(A-h,B+h)\to(A,B),\quad P(\lfloor|A_0|/h\rfloor=\lfloor|B_0|/h\rfloor)=\tfrac h{\sqrt\pi}+O(h^3)",
    reading="h = eta |xi_i|_1, frozen signals, a_i = b_i; the probability in balls at h = 1/20 and 2/5",
)
def trap(lab: Laboratory) -> Verdict:
    """Directions at the two points, and the exact probability."""
    parts = []
    for A, B, e, f in ((sym("A"), -sym("B"), 1, -1), (-sym("A"), sym("B"), -1, 1)):
        state = _values() | {"X12": sym("X11"), "q1_1": A - sym("q1_mu"), "k1_1": B + sym("k1_mu")}
        parts.append(signed(lab, state, {"q1_1": f, "k1_1": e}, ("w1", "A", "B")))
    for h, room in ((Fraction(1, 20), Fraction(1, 100)), (Fraction(2, 5), Fraction(2, 100))):
        total = ball(0)
        for j in range(int(12 / h)):
            low, high = (inside(ball(h * x)) for x in (j, j + 1))
            total = total + (high - low) * (high - low)
        ratio = total / (ball(h) / flint.arb.pi().sqrt())
        parts += [at_most(ratio, ball(1 + room), h=str(h)), at_most(ball(1 - room), ratio, h=str(h))]
    return _all(parts)


TRAP = {"n": 1, "s": 100, "m_k": 3000}


@book.claim(
    "Beyond.trap-share",
    "Share of trapped pairs",
    kind="probability",
    hypotheses=[],
    uses=["Beyond.trap"],
    origin="ours",
    statement=r"P(\text{trapped}\mid\text{opposite signs})=\tfrac h{\sqrt\pi}+O(h^3)",
    reading="one sample, signals held at 0, v_i > v_mu, h = 2/5: share of opposite pairs that still have opposite signs after 40 steps",
)
def trapped_share(lab: Laboratory) -> Verdict:
    """Oscillating pairs of the recursion against the law, in standard errors."""
    case = Case(n=1, s=100, d=101, m_k=3000, m_v=1, sigma_p=1.0, sigma_0=1e-6)
    law, step = 0.4 / np.pi**0.5, lab.advance()

    def share(seed: int) -> float:
        start = recursion.draw(case, seed)
        eta = 0.4 * case.sigma_0 * start.l2[0] / start.l1[0]
        still = 0 * start.state.q_mu
        state = recursion.State(0.0, np.array([1.0]), still, still, start.state.q, start.state.k)
        mixed = (state.q * state.k < 0)[:, 0]
        for _ in range(40):
            state = step(state, start, eta)
            state = recursion.State(0.0, state.v, still, still, state.q, state.k)
        found = float(((state.q * state.k < 0)[:, 0] & mixed).sum() / mixed.sum())
        return float((found - law) / (law * (1 - law) / mixed.sum()) ** 0.5)

    def runs(point: object, seeds: Sequence[int]) -> list[float]:
        return [share(seed) for seed in seeds]

    found = over_seeds("share minus law, in standard errors", [TRAP], runs, lab.draw.seeds(20)).between(
        -5, 5, "five standard errors of a share among about 1500 pairs; the next order of the law is below one"
    )
    return not_supposed(
        found, case, 0.4 * case.sigma_0 / case.s**0.5 / (2 / np.pi) ** 0.5, "one sample, frozen signals, h = 2/5"
    )


# ---- orders ----------------------------------------------------------------------------------------------------------


@book.claim(
    "Cond.3.1-consequences",
    "What Condition 3.1 implies",
    kind="order",
    hypotheses=[],
    parts=["orders"],
    where="Remarks on Condition 3.1, and E.11: n |mu| = o(sigma_p s)",
    origin="text",
    insensitive=SIZES,
    statement=r"s=\Theta(d^{1/2}n^{-2}),\ \sigma_p=\Omega(d^{-1/4}n^3)\Rightarrow\sigma_p\sqrt s=\Omega(n^2\|\mu\|),\ \sigma_ps=\Omega(d^{1/4}n),\ n\|\mu\|=o(\sigma_ps)",
    reading="at equality with constants 1; n/(sigma_p s) is d^(-1/4)",
)
def consequences(lab: Laboratory) -> Verdict:
    """Products of powers, and orders in d."""
    n, d = sym("n"), sym("d")
    s, sigma = graph.power(d, Fraction(1, 2)) / n**2, graph.power(d, Fraction(-1, 4)) * n**3
    exact = identity(
        {"sigma_p^2 s": sigma * sigma * s - n**4, "sigma_p s": sigma * s - graph.power(d, Fraction(1, 4)) * n},
        ("n", "d"),
    )
    votes = n / graph.sqrt(s)
    exact = exact & identity({"votes": votes * votes - n**4 * graph.power(d, Fraction(-1, 2))}, ("n", "d"))
    orders = leading_orders([n / (sigma * s)], "d")
    small = certified() if orders[0][0] < 0 else refuted({"order of n/(sigma_p s) in d": str(orders[0][0])})
    return (
        (exact & small)
        .proving("powers of n and d")
        .with_constants(votes="n s^(-1/2) = n^2 d^(-1/4): d >> n^8, so at least n^9")
    )


@book.claim(
    "Cond.3.1-remark",
    "Initial scale in the remark on Condition 3.1",
    kind="order",
    hypotheses=[],
    parts=["order"],
    where="Remarks on Condition 3.1, last sentence",
    origin="text",
    uses=["Cond.3.1-consequences"],
    expect="untested",
    insensitive=SIZES,
    statement=r"m_k=\Theta(\mathrm{polylog}(d))\ \Rightarrow\ \text{the condition becomes}\ \sigma_0=\Theta(d^{-1/2})",
    reading="the bound of condition 3 depends on sigma_p, which the remark does not set",
)
def scale_remark(lab: Laboratory) -> Verdict:
    """The bound sigma_p^-1 s^-1 m_k^-1/2 over d^-1/2, at sigma_p = n^2 and at the smallest sigma_p."""
    n, d = sym("n"), sym("d")
    s = graph.power(d, Fraction(1, 2)) / n**2
    quotient = {
        "sigma_p = n^2": (n**2, num(1)),
        "sigma_p = d^-1/4 n^3": (graph.power(d, Fraction(-1, 4)) * n**3, graph.power(d, Fraction(1, 4)) / n),
    }
    exact = identity(
        {name: graph.sqrt(d) / (sigma * s) - value for name, (sigma, value) in quotient.items()}, ("n", "d")
    )
    if exact.as_stated != "holds":
        return exact
    return untested(
        "the remark does not say which sigma_p: the bound of condition 3 over d^-1/2 is m_k^-1/2 at sigma_p = n^2 and "
        "d^(1/4) n^-1 m_k^-1/2 at the smallest sigma_p"
    )
