"""Appendix D: the start values concentrate. Tails are exact, in ball arithmetic, at the numbers that are named."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb
from typing import Any

import flint

from odesys import Evidence, Verdict, Witness, as_ball, certified, enumerate_all, equal, graph, refuted, sym

from ..laboratory import Laboratory
from ..special.tails import PRECISION, gaussian_tail, log_ball, radius
from .book import START, book
from .common_hypotheses import CONDITION_1, SMALL
from .common_start import (
    DELTAS,
    START_POINTS,
    WIDTHS,
    Case,
    certainly,
    key_query_failure,
    many_gaussians,
    mixed_failure,
    mixed_radius,
    uneven,
    value_neuron_failure,
    words,
)

SIZES = [{"m": m, "d": d, "delta": delta} for m, d, delta in product(WIDTHS, (64, 1000, 10**5), DELTAS)]
UNION = "a union bound over all events, with exact chi-square tails for norms and Chernoff's bound for products"


@book.claim(
    "D.1",
    "Keys and queries at the start",
    kind="probability",
    where="Lemma D.1",
    source="damaged",
    parts=("keys on queries", "keys", "queries", "norms of keys", "norms of queries"),
    hypotheses=(),
    uses=["H.2"],
    insensitive=START,
    statement=r"|\langle W_K\mu_a,W_Q\mu_b\rangle|,\ |\langle W_K\mu_a,W_K\mu_b\rangle|,\ |\langle W_Q\mu_a,W_Q\mu_b\rangle|\le\sigma_0^2m\,\Delta,\ \|W_K\mu_a\|^2,\|W_Q\mu_a\|^2=\sigma_0^2m(1\pm\Delta),\ \Delta=\sqrt{\tfrac4m\log\tfrac{2d}\delta}+\tfrac4m\log\tfrac{2d}\delta",
    reading="All five displays together fail with probability at most delta; a is not b in the second and third.",
)
def keys_queries(lab: Laboratory) -> dict[str, Verdict]:
    """The sum of all tails against delta."""
    joint = certainly(
        SIZES,
        lambda c: key_query_failure(c["m"], c["d"], c["delta"]) <= as_ball(c["delta"]),
        "triples (m, d, delta)",
    ).proving(UNION, m="listed", d="listed")
    return dict.fromkeys(("keys on queries", "keys", "queries", "norms of keys", "norms of queries"), joint)


@book.claim(
    "D.2",
    "Attention is nearly uniform at the start",
    kind="order",
    where="Corollary D.2",
    parts=("p(0)",),
    hypotheses=CONDITION_1,
    uses=["D.1", "G.2"],
    insensitive=START,
    statement=r"p^{(0,i)}_{l,k}=\tfrac1L\pm\widetilde O(\tfrac1{Lm})",
    reading="On the event of Lemma D.1, with 4(2 sqrt(u) + 4u), u = log(2d/delta), for what the tilde hides.",
)
def uniform_attention(lab: Laboratory) -> Verdict:
    """(e^{2s} - 1) m against the polylogarithm."""

    def small(c: Case) -> bool:
        u = log_ball(Fraction(2 * words(c)) / c["delta"])
        return bool(uneven(c) * c["m"] <= 4 * (2 * u.sqrt() + 4 * u))

    step = "a softmax weight lies between e^{-2s}/L and e^{2s}/L if all scores are at most s in size"
    return certainly(START_POINTS, small, "points inside Condition 1").proving(step, m="listed")


@book.claim(
    "D.3",
    "Values and neurons at the start",
    kind="probability",
    where="Lemma D.3",
    source="damaged",
    parts=("values", "neurons", "neurons on values", "norms of neurons", "norms of values"),
    hypotheses=(),
    uses=["H.2"],
    insensitive=START,
    statement=r"|\langle W_V\mu_a,W_V\mu_b\rangle|\le\sigma_0^2m\Delta(\log\tfrac{2d}\delta),\ |\langle w_j,w_k\rangle|\le\sigma_1^2m\Delta(\log\tfrac{2m_1^2}\delta),\ |\langle w_j,W_V\mu\rangle|\le\sigma_0\sigma_1m\Delta(\log\tfrac{2m_1d}\delta),\ \|w_j\|^2=\sigma_1^2m(1\pm\Delta(\log\tfrac{2m_1}\delta)),\ \|W_V\mu\|^2=\sigma_0^2m(1\pm\Delta(\log\tfrac{2d}\delta))",
    reading="All five displays together fail with probability at most delta; Delta(u) = sqrt(4u/m) + 4u/m.",
)
def values_neurons(lab: Laboratory) -> dict[str, Verdict]:
    """The sum of all tails against delta."""
    cases = [{**case, "m1": m1} for case, m1 in product(SIZES, (4, 32, 1024))]
    joint = certainly(
        cases,
        lambda c: value_neuron_failure(c["m"], c["d"], c["m1"], c["delta"]) <= as_ball(c["delta"]),
        "quadruples (m, d, m1, delta)",
    ).proving(UNION, m="listed", d="listed")
    return dict.fromkeys(("values", "neurons", "neurons on values", "norms of neurons", "norms of values"), joint)


@book.claim(
    "D.4",
    "Mixed values at the start",
    kind="probability",
    where="Lemma D.4",
    parts=("norms",),
    hypotheses=CONDITION_1,
    uses=["D.2"],
    insensitive=START,
    statement=r"\|W_VX^{(i)}p^{(0,i)}_l\|^2=\tfrac{\sigma_0^2m}L\Big(1\pm\sqrt{\tfrac4m\log\tfrac{2nL}\delta}\pm\tfrac4m\log\tfrac{2nL}\delta\Big)\ \forall i,l",
    reading="On the event of D.2, where |X p|^2 lies between 1/L and (1 + (e^{2s} - 1)^2)/L, for all i and l together.",
)
def mixed_values(lab: Laboratory) -> Verdict:
    """Exact chi-square tails, summed over samples and positions."""
    found = certainly(START_POINTS, lambda c: mixed_failure(c) <= as_ball(c["delta"]), "points inside Condition 1")
    return found.proving("a union bound over samples and positions with exact chi-square tails", m="listed")


WITNESS_5 = {"n": 30, "L": 4, "m": 10**6, "m1": 10**5, "c0": 0.001, "delta": 0.1}


@book.claim(
    "D.5",
    "Neurons on mixed values",
    kind="probability",
    where="Corollary D.5",
    source="damaged",
    parts=("bound",),
    hypotheses=CONDITION_1,
    uses=["D.4"],
    expect="fails",
    insensitive=START,
    statement=r"|w_j^{(0)\top}V^{(0,i)}p^{(0,i)}_l|\le\sigma_1\sigma_0\sqrt{\tfrac mL\log\tfrac{m_1nL}\delta}\ \forall j,i,l\ \text{with probability}\ 1-\delta",
    reading="On the event of D.4; the logarithm of the union bound with the constant 1, as printed; bars are read in, and without them it fails too.",
)
def neurons_mixed(lab: Laboratory) -> Verdict:
    """A lower bound of the failure probability from one position and all neurons; the bound with the two by a union."""
    case: dict[str, Any] = {**WITNESS_5, "c0": Fraction(1, 1000), "delta": Fraction(1, 10)}
    with flint.ctx.workprec(PRECISION):
        count = case["m1"] * case["n"] * case["L"]
        level = (log_ball(count / case["delta"]) / (1 - mixed_radius(case))).sqrt()
        fails = 1 - (1 - gaussian_tail(level)) ** case["m1"]
        sure = bool(fails > as_ball(case["delta"]))
        least = float(fails)
        above = float(1 - (1 - gaussian_tail(level) / 2) ** case["m1"])
    sentence = (
        f"at n = 30, L = 4, m = 10^6, m1 = 10^5, delta = 0.1 (all hypotheses hold) at one position alone some "
        f"neuron exceeds the bound in size with probability at least {least:.3g}, without bars with {above:.3g}, and "
        f"delta = 0.1 is allowed"
    )
    printed = refuted(Witness(sentence, WITNESS_5), Evidence.CERTIFICATE) if sure else certified()

    def enough(c: Case) -> bool:
        total = c["m1"] * c["n"] * c["L"]
        return bool(many_gaussians(total, (2 * log_ball(2 * total / c["delta"])).sqrt()) <= as_ball(c["delta"]))

    return printed.correcting(
        r"|w_j^\top V^{(i)}p_l|\le\sigma_1\sigma_0\sqrt{\tfrac{2m}L(1+\Delta)\log\tfrac{2m_1nL}\delta},\ \Delta=\sqrt{\tfrac4m\log\tfrac{2nL}\delta}+\tfrac4m\log\tfrac{2nL}\delta",
        certainly(START_POINTS, enough, "points inside Condition 1"),
        "the tail of a Gaussian is exp(-t^2/2): the two was lost",
    ).blaming("constant", "gaussian-tail-two")


@book.claim(
    "D.6",
    "Signs of the output layer",
    kind="probability",
    where="Lemma D.6",
    parts=("both signs",),
    hypotheses=(),
    insensitive=START,
    statement=r"|S_{+1}|,|S_{-1}|=m_1\Big(\tfrac12\pm\sqrt{\tfrac{2\log(4/\delta)}{m_1}}\Big)\ \text{with probability}\ 1-\delta",
    reading="S_+1 and S_-1, not defined in the text, are the j with a_j = +1 and -1; m_1 = 1, ..., 150.",
)
def signs(lab: Laboratory) -> Verdict:
    """Exact sums of binomial coefficients; the logarithm by balls."""

    def small(case: tuple[int, Fraction]) -> bool:
        m1, delta = case
        with flint.ctx.workprec(128):
            square = 2 * m1 * (as_ball(4 / delta)).log()
            weight = sum(comb(m1, k) for k in range(m1 + 1) if not as_ball(Fraction(2 * k - m1, 2)) ** 2 < square)
        return Fraction(weight, 2**m1) <= delta

    cases = [(m1, delta) for m1 in range(1, 151) for delta in (Fraction(1, 2), Fraction(1, 10), Fraction(1, 100))]
    return enumerate_all(cases, small, "pairs (m1, delta)")


def sub_network_bound(c: Case) -> flint.arb:
    """|G(mu)| over sigma_0 sigma_1 sqrt(m m1) that fails with probability delta: sqrt(2 (1 + Delta) log(2d/delta))."""
    u = log_ball(Fraction(2 * words(c)) / c["delta"])
    return (2 * (1 + radius(c["m"], u)) * u).sqrt()


def sub_network_start(lab: Laboratory) -> Verdict:
    """Given W_V, G(mu) is Gaussian with variance sigma_1^2 m1 |W_V mu|^2: a union bound over the words."""

    def enough(c: Case) -> bool:
        u = log_ball(Fraction(2 * words(c)) / c["delta"])
        return bool(many_gaussians(words(c), (2 * u).sqrt()) <= as_ball(c["delta"]))

    step = "given W_V, G(mu) is Gaussian with variance sigma_1^2 m_1 |W_V mu|^2, since a_j^2 = 1"
    return certainly(START_POINTS, enough, "points inside Condition 1").proving(step, d="listed")


@book.claim(
    "D.7",
    "Sub-network at the start",
    kind="probability",
    where="Lemma D.7",
    parts=("bound",),
    hypotheses=CONDITION_1,
    uses=["D.3", "D.7-proof"],
    insensitive=START,
    statement=r"|G^{(0)}(\mu_i)|\le\widetilde O(\sigma_1\sigma_0\sqrt{mm_1})\ \forall i\in[d]",
    reading="On the event of D.3, with sqrt(2(1 + Delta) log(2d/delta)) for what the tilde hides.",
)
def sub_network_small(lab: Laboratory) -> Verdict:
    """The union bound."""
    return sub_network_start(lab)


@book.claim(
    "D.7-proof",
    "The law of the sum over neurons",
    kind="identity",
    origin="proof",
    where="Proof of Lemma D.7, the sentence with the law of the sum over j",
    parts=("the printed sum", "G(mu)"),
    hypotheses=(),
    for_all=("m1",),
    uses=["D.3"],
    insensitive=START,
    statement=r"\text{given}\ W_V^{(0)}\mu_i:\ \sum_{j=1}^{m_1}w_j^{(0)}W_V^{(0)}\mu_i\sim N(0,\sigma_1^2\sigma_0^2mm_1)",
    reading="The variance is sigma_1^2 m_1 |W_V mu|^2, which D.3 makes Theta of the printed one; the signs a_j of G(mu) leave the law alone.",
)
def sum_over_neurons(lab: Laboratory) -> dict[str, Verdict]:
    """Variances of independent Gaussians add: a_j^2 sigma_1^2 |u|^2 for each neuron, with a_j = +1, -1."""
    a, s, u, count = sym("a"), sym("sigma1"), sym("u2"), sym("m1")
    step = "given u = W_V mu, the w_j'u are independent with variance sigma_1^2 |u|^2, so the sum has m_1 times it"
    law = "argues in words: that a sum of independent Gaussians is Gaussian, and that their variances add"
    plain = equal({"sum": (count * (s**2 * u), s**2 * count * u)}).arguing(law).proving(step, m1="every")
    signs = [equal({f"a = {value:+d}": ((a * s) ** 2 * u, s**2 * u)}, given={a: graph.num(value)}) for value in (1, -1)]
    last = "a_j w_j'u has the variance a_j^2 sigma_1^2 |u|^2, and a_j^2 = 1"
    return {"the printed sum": plain, "G(mu)": (signs[0] & signs[1]).arguing(law).proving(last, m1="every")}


@book.claim(
    "D.8",
    "Outputs at the start",
    kind="probability",
    where="Lemma D.8",
    parts=("bound", "at most 0.01"),
    hypotheses=(*CONDITION_1, SMALL),
    uses=["D.5"],
    repairs=["D.5"],
    insensitive=START,
    statement=r"|F^{(0)}(X^{(i)})|\le2\sigma_0\sigma_1\sqrt{2Lm_1m\log(2Ln/\delta)}\le0.01",
    reading="On the events of D.3 and D.4; the second inequality is a requirement on c_0, among the hypotheses; the proof ends with a further factor, the root of log(m_1nL/delta).",
)
def outputs_start(lab: Laboratory) -> dict[str, Verdict]:
    """F is Gaussian given values and attention, with |sum_l V p_l| at most L max |V p_l|; no use is made of D.5."""

    def enough(c: Case) -> bool:
        t = (8 * log_ball(2 * c["L"] * c["n"] / c["delta"]) / (1 + mixed_radius(c))).sqrt()
        return bool(many_gaussians(c["n"], t) <= as_ball(c["delta"]))

    def small(c: Case) -> bool:
        return bool(2 * as_ball(Fraction(c["c0"])) * (2 * log_ball(2 * c["L"] * c["n"] / c["delta"])).sqrt() <= 0.01)

    step = "given W_V and p, F is Gaussian with variance at most sigma_1^2 sigma_0^2 L m m_1 (1 + Delta)"
    return {
        "bound": certainly(START_POINTS, enough, "points inside Condition 1").proving(step, n="listed"),
        "at most 0.01": certainly(START_POINTS, small, "points inside Condition 1").with_constants(
            c0_at_most="0.01 / (2 sqrt(2 log(2Ln/delta))), 0.0013 at n = 30, L = 4"
        ),
    }
