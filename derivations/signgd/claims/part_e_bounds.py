"""Appendix E by bounded moves: what follows from Eq. (8), (9), (14), (15) and the sizes at the start, without a run."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, product
from math import log

import flint

from odesys import (
    Hypothesis,
    Verdict,
    Witness,
    always_positive,
    certified,
    equal,
    graph,
    identity,
    num,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from ..special.toy_network import on_section
from .book import at_most, ball, book, on_the_toy, short, signed
from .common_hypotheses import CONDITION, inside_point
from .common_orders import given, settled, vanishing
from .common_path import CHECKS, along
from .part_c_small_values import large_support
from .part_d_gradients import constant_moves
from .part_d_recursion import mean_value_moves
from .part_e_i_ii import same_sign_sizes

MOVES = "an inner product with mu moves by eta |mu| in a step, one with y_i xi_i by eta |xi_i|_1, Eq. (8) and (9)"
VALUES = "values move by 2 eta |mu| and 2 eta |xi_i|_1 in each step, Eq. (14) and (15)"
NORMS = "|xi_i|_1 is between sigma_p s / sqrt2 and sigma_p s, and near (2/pi)^(1/2) sigma_p s, Lemma C.4"
QUARTER = "|sigmoid(z) - 1/2| <= |z| / 4"
root_half, root_two = (Fraction(7, 10), Fraction(17, 12))  # below 1/sqrt2, above sqrt2


# ---- values ----------------------------------------------------------------------------------------------------------


@book.claim(
    "Sec.E.4-start",
    "Mean value noise at the start",
    kind="probability",
    where="Appendix E.4, after the definition of T_1",
    parts=["bound"],
    origin="proof",
    hypotheses=CONDITION,
    insensitive="both sides scale alike with the start",
    statement=r"|\langle v^{(0)},y_i\xi_i\rangle|\le\sqrt2\beta_\xi m_v^{-1/2}",
    reading="for all samples at once, with a probability that tends to 1 as m_k + m_v grows; lengths of the noise within 1 + 1/1000",
)
def value_start(lab: Laboratory) -> Verdict:
    """A level that some of 2(m_k + m_v)n entries exceed, and no rescaled mean of n does."""
    point = inside_point()
    rows = 2 * ball(int(point["m_k"] + point["m_v"]))
    # with P(|Z| > level) = c / (rows n): some entry exceeds it but for exp(-c), and one of n means does with c / rows
    c = rows.log()
    # lengths within a factor 1 + 1/1000: the level counts 1/1000 less, and log P(|Z| > x) falls by at most x + 1/x per unit
    level2 = 2 * (rows * ball(int(point["n"]))).log()
    loss = (ball(Fraction(1, 1000)) * (level2 + 2)).exp()
    total = (-c).exp() + c / rows * loss
    found = at_most(total, ball(Fraction(1, 10)), "the chance of a violation", point)
    return found.with_constants(chance="at most (1 + 1.1 log(2(m_k + m_v))) / (2(m_k + m_v)), for every n").proving(
        "<v, y_i xi_i> is Gaussian with variance 2 sigma_0^2 |xi_i|^2 / m_v, an entry of beta_xi with sigma_0^2 |xi_i|^2"
    )


@book.claim(
    "4.1(1)",
    "Mean value noise grows linearly",
    kind="order",
    main=True,
    where="Lemma 4.1 (1), and the constants of appendix E.4",
    parts=["order", "constants 1 and 2"],
    hypotheses=CONDITION,
    uses=["Eq.14-15", "C.4", "Sec.E.4-start"],
    statement=r"t\ge T_1:\ \langle v^{(t)},y_i\xi_i\rangle=\Theta(t\eta\sigma_ps),\quad t\eta\sigma_ps\le v_i\le2t\eta\sigma_ps",
    reading="all samples and all times from T_1 on; the constant 2 uses that |xi_i|_1 is below 0.81 sigma_p s for large s",
)
def values_linear(lab: Laboratory) -> dict[str, Verdict]:
    """v_i(0) is at most sqrt2/4 of T_1 eta sigma_p s; t = T_1 + u, in units with eta sigma_p s = 1."""
    moves = mean_value_moves(lab)
    T, u, x = sym("T_1"), sym("u"), sym("x")
    start = root_two / 4 * T
    least = -start + 2 * (num(root_half) + x) * (T + u)
    lower = always_positive({"lower": least - (T + u)}, ("T_1",), ("u", "x"))
    order = always_positive({"upper": 3 * (T + u) - (start + 2 * (T + u))}, ("T_1",), ("u",))
    sharp = always_positive({"upper": 2 * (T + u) - (start + 2 * num(Fraction(81, 100)) * (T + u))}, ("T_1",), ("u",))
    steps = VALUES, "sqrt2 beta_xi m_v^-1/2 is sqrt2/4 times T_1 eta sigma_p s", NORMS
    return {
        "order": (moves & lower & order).proving(*steps),
        "constants 1 and 2": (moves & lower & sharp).proving(*steps),
    }


@book.claim(
    "4.1(2)",
    "Mean value signal is negligible",
    kind="order",
    main=True,
    where="Lemma 4.1 (2)",
    parts=["ratio"],
    hypotheses=CONDITION,
    uses=["Eq.14-15", "4.1(1)", "C.7", "C.8"],
    statement=r"t\ge T_1:\ \langle v^{(t)},\mu\rangle=o(\langle v^{(t)},y_i\xi_i\rangle)",
    reading="all samples and all times from T_1 on; the ratio is at most |v_mu(0)| m_v^1/2/(4 beta_xi) + 2|mu|/(sigma_p s)",
)
def signal_negligible(lab: Laboratory) -> Verdict:
    """Both terms of the ratio: start over start, and speed over speed."""
    moves = mean_value_moves(lab)
    T, u, start = sym("T_1"), sym("u"), sym("start")
    # |v_mu| <= start + 2 (T+u) |mu| and v_i >= T + u (units eta sigma_p s = 1): the ratio is at most start/T + 2 |mu|
    bound = always_positive(
        {"ratio": start / T + 2 * sym("m") - (start + 2 * (T + u) * sym("m")) / (T + u)}, ("T_1", "u", "start", "m")
    )
    first = vanishing("|v_mu(0)| over v_i at T_1, |mu| / (sigma_p s^1/2)", n=-2)
    second = vanishing("|mu| / (sigma_p s)", n=-1, d=Fraction(-1, 4))
    return (moves & bound & first & second).proving(VALUES)


@book.claim(
    "4.1(3)",
    "Query and key noise barely move in Stage I",
    kind="order",
    main=True,
    where="Lemma 4.1 (3), and its proof in appendix E.4",
    parts=["queries and keys"],
    hypotheses=[
        *CONDITION,
        Hypothesis(
            "the event E_prelim, by Lemma C.11",
            r"\mathcal E_{\rm prelim}:\ |\langle w_{Q,s}^{(0)},\xi_i\rangle|,|\langle w_{K,s}^{(0)},\xi_i\rangle|\ge\beta_\xi m_v^{-1/4}",
            lambda p: 1,
        ),
    ],
    uses=["Eq.8-9", "C.4", "C.11", "C.14-union"],
    statement=r"t\le T_1:\ \langle w_{Q,s}^{(t)},\xi_i\rangle=\langle w_{Q,s}^{(0)},\xi_i\rangle(1\pm o(1)),\ \langle w_{K,s}^{(t)},\xi_i\rangle\ \text{alike, for all}\ s,i",
    reading="on E_prelim, as Appendix E says of all its results; how likely that is for small m_v is C.14-union",
)
def noise_stays(lab: Laboratory) -> Verdict:
    """T_1 moves are at most 4 beta_xi m_v^(-1/2), a start at least beta_xi m_v^(-1/4); M = m_v^(1/4)."""
    beta, M, r, e = sym("beta"), sym("M"), sym("r"), sym("e")  # a start is beta/M + r, |xi_i|_1 is sigma_p s / (1 + e)
    bound = always_positive(
        {"4/M of the start": 4 / M * (beta / M + r) - 4 * beta / M**2 / (1 + e)}, ("beta", "M", "e"), ("r",)
    )
    return (constant_moves(lab) & bound).proving(
        MOVES,
        "up to T_1 the noise moves by at most T_1 eta |xi_i|_1 <= 4 beta_xi m_v^(-1/2), as |xi_i|_1 <= sigma_p s (C.4)",
        "that is 4 m_v^(-1/4) of the start, which tends to 0 with m_v = Omega(polylog d)",
    )


@book.claim(
    "E.8",
    "Mean value noise is the same for all samples",
    kind="order",
    where="Lemma E.8",
    parts=["law"],
    hypotheses=CONDITION,
    uses=["Eq.14-15", "C.4"],
    expect="fails",
    statement=r"t\ge T_2:\ \langle v^{(t)},y_i\xi_i\rangle=2\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading="at T_2 itself, for d a power of n above 9; its proof has a factor (1 + o(1)) more, which is what is used",
)
def same_values(lab: Laboratory) -> Verdict:
    """The start over v at T_2 is of the order 1/(n m_v^1/2), against s^(-1/2) = n d^(-1/4)."""
    moves = mean_value_moves(lab)
    against = vanishing("s^(-1/2) over the share of the start in v at T_2, 1/(n m_v^1/2)", n=2, d=Fraction(-1, 4))
    if moves.as_stated != "holds" or against.as_stated != "holds":
        return moves & against
    point = inside_point(power=12)
    n, m_v, s = (ball(int(point[x])) for x in ("n", "m_v", "s"))
    rows = 2 * ball(int(point["m_k"] + point["m_v"])) * n
    # v_i(0) is (2/m_v)^1/2 sigma_0 |xi_i| g, T_2 eta |xi_i|_1 at least 50 n beta_xi; beta_xi is at most 2 log^1/2 of rows/delta
    share = 1 / (100 * n * m_v.sqrt()) / (2 * (10 * rows).log()).sqrt()
    allowed = ball(log(point["d"])) ** 2 / s.sqrt()
    if not share > allowed:
        return at_most(share, allowed, "the share of the start", point)
    sentence = (
        f"at m_k = 480, n = m_k^4, d = n^12, t = T_2 the start v_i(0) is typically {short(share):.2g} of the rest, s^-1/2 log(d)^2 "
        f"is {short(allowed):.2g}, and their quotient grows like n up to logarithms"
    )
    law = vanishing("the share of the start, 1/(n m_v^1/2)", n=-1) & vanishing("s^(-1/2)", n=1, d=Fraction(-1, 4))
    return (
        refuted(Witness(sentence, point), moves.evidence)
        .correcting(
            r"=2\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))(1+o(1))",
            (moves & law).proving(VALUES, NORMS),
            "the start value is of the order m_v^(-1/2)/n of v at T_2, which is not of order s^(-1/2)",
        )
        .blaming("misprint", "start-of-values")
    )


def _twice_as_fast(lab: Laboratory, sentence: str, form: str) -> Verdict:
    """A display with half of the speed of the values, against Eq. (14) and (15)."""
    moves = mean_value_moves(lab)
    if moves.as_stated != "holds":
        return moves
    fixed = moves.proving(VALUES)
    return (
        refuted(Witness(sentence, inside_point()), moves.evidence)
        .correcting(form, fixed, "both classes of rows move, so v moves twice as fast")
        .blaming("misprint", "both-classes")
    )


@book.claim(
    "App.E.1-value",
    "Mean value noise in the overview",
    kind="order",
    where="Appendix E.1, mean value noise, third display",
    parts=["law"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["Eq.14-15", "C.4"],
    expect="fails",
    statement=r"t\ge T_2:\ \langle v^{(t)},y_i\xi_i\rangle=\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading="Lemma E.8 has the factor 2 and is what is used",
)
def overview_value(lab: Laboratory) -> Verdict:
    """Ratio of the two sides for large t."""
    sentence = (
        "as t grows the left side over the right side tends to 2 |xi_i|_1 / ((2/pi)^1/2 sigma_p s), which is near 2"
    )
    return _twice_as_fast(lab, sentence, r"=2\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))(1+o(1))")


@book.claim(
    "E.41-value",
    "Mean value signal at T",
    kind="identity",
    where="Proof of Lemma E.41, first display",
    parts=["value"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["Eq.14-15"],
    expect="fails",
    statement=r"\langle v^{(T)},\mu\rangle=\langle v^{(0)},\mu\rangle+\eta T\|\mu\|",
    reading="Eq. (14) has the factor 2; only the order is used",
)
def value_at_the_end(lab: Laboratory) -> Verdict:
    """Eq. (14), T times."""
    sentence = "after T = 1 step the left side minus <v^(0), mu> is 2 eta |mu|, and the right side has eta |mu|"
    return _twice_as_fast(lab, sentence, r"=\langle v^{(0)},\mu\rangle+2\eta T\|\mu\|")


@book.claim(
    "Thm.3.2(3)",
    "Values memorise the noise",
    kind="order",
    main=True,
    where="Theorem 3.2 (3)",
    parts=["noise", "signal"],
    hypotheses=CONDITION,
    uses=["Eq.14-15", "C.4", "C.7"],
    statement=r"|\langle v^{(T)},\xi_i\rangle|=\Omega(1),\quad|\langle v^{(T)},\mu\rangle|=\tilde O(\sigma_p^{-1}s^{-1})",
    reading="at T of Lemma E.41, for every fixed epsilon in (0, 1)",
)
def values_at_the_end(lab: Laboratory) -> dict[str, Verdict]:
    """T eta = 2 log(1/eps) / (sigma_p s), in units with sigma_p s = 1."""
    moves, E, x, e = mean_value_moves(lab), sym("E"), sym("x"), sym("e")  # E = log(1/eps), start at most E/(1 + e)
    noise = always_positive({"v_i": 4 * E * (num(root_half) + x) - E / (1 + e) - E}, ("E",), ("x", "e"))
    signal = always_positive({"v_mu": 5 * E * sym("m") - (4 * E * sym("m") + E * sym("m") / (1 + e))}, ("E", "m", "e"))
    small = vanishing("v_i(0), beta_xi m_v^(-1/2)", n=1, d=Fraction(-1, 4), kappa=1)
    start = settled(
        certified(),
        "v_mu(0) is at most 2 log(12 m_v/delta)^1/2 m_v^-1/2 sigma_0 |mu|, a logarithm times kappa / (sigma_p s)",
    )
    return {
        "noise": (moves & noise & small).proving(VALUES, NORMS),
        "signal": (moves & signal & start).proving(VALUES),
    }


@book.claim(
    "Thm.3.2(2)",
    "Test loss",
    kind="order",
    main=True,
    where="Theorem 3.2 (2)",
    parts=["test loss"],
    hypotheses=CONDITION,
    uses=["Eq.14-15", "C.1", "C.6"],
    statement=r"L_{\mathcal D}(W^{(T)})=\Theta(1)",
    reading="at T of Lemma E.41, for every fixed epsilon; on a fresh sample whose support misses the training set the output tends to 0",
)
def test_loss(lab: Laboratory) -> Verdict:
    """|f| is at most twice the larger of |<v, mu>| and |<v, xi>|, whatever the attention."""
    made = lab.network()
    (f,) = on_section({"f": made.output(0)}).values()
    s = on_section({f"{l}{a}": made.attention(0)[l][a] for l in range(2) for a in range(2)})
    mixed = (s["00"] + s["10"]) * sym("v_mu") + (s["01"] + s["11"]) * sym("v_1")
    output = on_the_toy(equal({"f": (f, mixed), "weights": (s["00"] + s["10"] + s["01"] + s["11"], num(2))}))
    signal = vanishing("<v, mu> at T", n=-1, d=Fraction(-1, 4))
    noise = vanishing("<v, xi> of a fresh sample, beta_xi m_v^(-1/2)", n=1, d=Fraction(-1, 4), kappa=1)
    one = flint.arb(1)
    low = at_most(ball(Fraction(1, 10)), (1 - ball(Fraction(1, 4))) * (1 + (-one).exp()).log(), what="n >= 2, |f| <= 1")
    high = at_most(
        (1 + one.exp()).log(), ball(2), what="|f| <= 1; the rest has probability n^-2 and a loss of O(log(1/eps))"
    )
    return (output & signal & noise & low & high & mean_value_moves(lab)).with_constants(limit="log 2")


# ---- sizes before T_4 ------------------------------------------------------------------------------------------------


@book.claim(
    "E.13",
    "Upper bounds of signals for ever",
    kind="inequality",
    where="Remark E.13",
    parts=["queries", "keys"],
    hypotheses=[],
    uses=["Eq.8-9"],
    statement=r"t\ge T_3:\ \varsigma_sq_{s\mu}\le\tfrac43t\eta\|\mu\|,\ \varsigma_sk_{s\mu}\ge-\tfrac43t\eta\|\mu\|",
    reading="all neurons, all times from T_3 = 3 beta_mu / (eta |mu|) on",
)
def signals_bounded(lab: Laboratory) -> dict[str, Verdict]:
    """|q_mu| <= beta_mu + t eta |mu|, with t = T_3 + u and beta_mu = T_3 eta |mu| / 3."""
    T, u, r = sym("T_3"), sym("u"), sym("r")
    gap = always_positive({"4/3 t - (beta + t)": (T + u) / 3 - (T / 3 - r)}, ("T_3", "u"), ("r",))
    both = (constant_moves(lab) & gap).proving(MOVES, "beta_mu is T_3 eta |mu| / 3")
    return {"queries": both, "keys": both}


@book.claim(
    "E.12",
    "Signals are linear in Stage III",
    kind="inequality",
    where="Lemma E.12, Eq. (24) and (25)",
    parts=["(24)", "(25)"],
    hypotheses=CONDITION,
    uses=["E.11", "E.13", "Eq.8-9"],
    statement=r"t\in[T_3,T_3^+]:\ \tfrac12t\eta\|\mu\|\le\varsigma_sq_{s\mu}\le\tfrac43t\eta\|\mu\|\ (24),\ -\tfrac43t\eta\|\mu\|\le\varsigma_sk_{s\mu}\le-\tfrac12t\eta\|\mu\|\ (25)",
    reading="given the directions of Lemma E.11, for T_2 <= T_3/12; T_2/T_3 is of the order n s^(-1/2)",
)
def signals_linear(lab: Laboratory) -> dict[str, Verdict]:
    """T_2 steps at worst against the vote, then with it."""
    T2, x, u, r = sym("T_2"), sym("x"), sym("u"), sym("r")
    T3 = 12 * T2 + x
    t = T3 + u
    lower = always_positive({"lower": -(T3 / 3 - r) - T2 + (t - T2) - t / 2}, ("T_2", "x"), ("u", "r"))
    ratio = vanishing("T_2/T_3, n s^(-1/2)", n=2, d=Fraction(-1, 4))
    both = (signals_bounded(lab)["queries"] & lower & ratio).proving(
        "to T_2 a signal moves by at most T_2 eta |mu|, from there on with the vote by Lemma E.11"
    )
    both = given(both, "Lemma E.11")
    return {"(24)": both, "(25)": both}


def _near_start(lab: Laboratory) -> Verdict:
    """A signal moves by at most T_2^+ eta |mu|, and starts at least at sigma_0 n s^(-1/3) |mu| (Lemma C.12)."""
    q, e = sym("q"), sym("e")  # the start q, and moves of at most e q in all, e < 1
    small = e / (1 + e)
    kept = always_positive({"sign": q - small * q, "above": 2 * q - (q + small * q)}, ("q", "e"))
    ratio = vanishing("T_2^+ eta over sigma_0 n s^(-1/3), s^(-1/6)", n=Fraction(1, 3), d=Fraction(-1, 12))
    return (constant_moves(lab) & kept & ratio).proving(MOVES, "on the event of Lemma C.12")


@book.claim(
    "E.7",
    "Signals stay near their start",
    kind="order",
    where="Lemma E.7",
    source="damaged",
    parts=["near the start", "signs"],
    hypotheses=[*CONDITION, large_support],
    uses=["C.12", "Eq.8-9"],
    statement=r"t\le T_2^+:\ |\langle w_{Q,s}^{(t)},\mu\rangle|=|\langle w_{Q,s}^{(0)},\mu\rangle|(1\pm o(1)),\ \text{signs kept; keys alike}",
    reading="the display is lost and read off its proof; on the event of Lemma C.12, whose s needs d of order n^14: poly(n) has to be such a power",
)
def signals_stay(lab: Laboratory) -> dict[str, Verdict]:
    """Both parts by the same bound."""
    found = _near_start(lab)
    return {"near the start": found, "signs": found}


@book.claim(
    "4.3(4)",
    "Signals stay near their start until T_2",
    kind="order",
    main=True,
    where="Lemma 4.3 (4)",
    parts=["near the start"],
    hypotheses=[*CONDITION, large_support],
    uses=["E.7"],
    same_as="E.7",
    statement=r"t\le T_2:\ \langle w_{Q,s}^{(t)},\mu\rangle=\langle w_{Q,s}^{(0)},\mu\rangle(1\pm o(1)),\ \langle w_{K,s}^{(t)},\mu\rangle\ \text{alike}",
    reading="for all neurons, on the event of Lemma C.12, whose s needs d of order n^14: poly(n) has to be such a power",
)
def signals_stay_to_the_end(lab: Laboratory) -> Verdict:
    """As Lemma E.7."""
    return _near_start(lab)


@book.claim(
    "E.10",
    "Sums go on growing",
    kind="inequality",
    where="Remark E.10, with Eq. (22)",
    parts=["sums"],
    hypotheses=[],
    uses=["E.9", "E.5"],
    statement=r"\sum_i\langle w_{Q,s}^{(t)},y_i\xi_i\rangle,\ \sum_i\langle w_{K,s}^{(t)},y_i\xi_i\rangle\ \text{keep their dynamics on}\ [T_2,T_3^+]",
    reading="what Lemma E.9 implies: while every summand moves in its own direction the sum moves by eta times the vote",
)
def sums_grow(lab: Laboratory) -> Verdict:
    """Three summands."""
    q, l = [sym(f"q{i}") for i in range(3)], [sym(f"l{i}") for i in range(3)]
    pairs = {}
    for votes in ((1, 1, 1), (1, 1, -1), (1, -1, -1)):
        moved = graph.add(a + e * b for a, b, e in zip(q, l, votes, strict=True))
        pairs[str(votes)] = moved - graph.add(q), graph.add(e * b for e, b in zip(votes, l, strict=True))
    found = (constant_moves(lab) & equal(pairs)).proving(MOVES, "the sum of moves of constant sign is constant", n=3)
    return given(found, "Lemma E.9")


@book.claim(
    "App.E.1-sums",
    "Growth of sums in the overview",
    kind="inequality",
    where="Appendix E.1, query/key noise part i, last displays",
    parts=["queries", "keys"],
    origin="proof",
    hypotheses=[],
    uses=["E.10"],
    expect="fails",
    statement=r"\sum_iq_{si}^{(t+1)}\ge\sum_iq_{si}^{(t)}+\mathrm{sgn}\Big(\sum_iq_{si}^{(t)}\Big)\tfrac1{\sqrt2}\eta\sigma_ps,\ \text{keys alike}",
    reading="for a neuron with a negative vote; the right side is its smallest decrease, not its largest",
)
def overview_sums(lab: Laboratory) -> dict[str, Verdict]:
    """A unanimous negative vote of two samples."""
    moves = constant_moves(lab)
    if moves.as_stated != "holds":
        return {"queries": moves, "keys": moves}
    return {name: _negative_vote(moves, word) for name, word in (("queries", "query"), ("keys", "key"))}


def _negative_vote(moves: Verdict, word: str) -> Verdict:
    """The display at two samples whose noise of a kind is negative."""
    x = sym("x")  # |xi_i|_1 over sigma_p s is 7/10 + x at least, so that a vote of two is above 1/sqrt2
    larger = always_positive({"move": 2 * (num(root_half) + x) - root_two / 2}, (), ("x",))
    sentence = (
        f"with two samples, both {word} noises negative and |xi_1|_1 = |xi_2|_1 = 0.8 sigma_p s the sum falls by 1.6 eta "
        "sigma_p s, and the display allows it to fall by 0.7071 eta sigma_p s"
    )
    return (
        refuted(Witness(sentence, {"n": 2}), moves.evidence)
        .correcting(
            r"\Big|\sum_iq_{si}^{(t+1)}\Big|\ge\Big|\sum_iq_{si}^{(t)}\Big|+\tfrac1{\sqrt2}\eta\sigma_ps",
            (moves & larger).proving(MOVES),
            "negative sums fall",
        )
        .blaming("misprint", "sign-of-sums")
    )


@book.claim(
    "App.E.1-orders",
    "Orders of T_2 and T_2^+ in the overview",
    kind="order",
    where="Appendix E.1, list of times, T_2 and T_2^+",
    parts=["T_2", "T_2^+"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["C.8"],
    expect="fails",
    insensitive="an order in n does not depend on the scale of the start",
    statement=r"T_2=50\sqrt2n\beta_\xi\eta^{-1}\sigma_p^{-1}s^{-1}=\tilde O(\sigma_0s^{-1/2}\eta^{-1}),\ T_2^+=C_1\sqrt{\log(12m_kn/\delta)}\sigma_0ns^{-1/2}\eta^{-1}=\tilde O(\sigma_0s^{-1/2}\eta^{-1})",
    reading="a factor n is no logarithm; Section 4.2 has it",
)
def overview_orders(lab: Laboratory) -> dict[str, Verdict]:
    """T_2 over sigma_0 s^(-1/2) / eta is at least 50 sqrt2/4 n."""
    least = at_most(ball(17), 50 * flint.arb(2).sqrt() / 4, what="beta_xi is at least sigma_0 sigma_p s^1/2 / 4 (C.8)")
    point = inside_point()
    n = short(ball(int(point["n"])))
    sentence = (
        f"at n = {n:.4g} (all of Condition 3.1 holds) the left side over sigma_0 s^-1/2 / eta is at least 17 n, and log d is "
        f"{log(point['d']):.4g}"
    )
    fixed = settled(least, "beta_xi over sigma_0 sigma_p s^1/2 is between 1/4 and 2 log(12 max(m_k, m_v) n/delta)^1/2")
    printed = refuted(Witness(sentence, point), least.evidence).correcting(
        r"\tilde\Theta(n\sigma_0s^{-1/2}\eta^{-1})", fixed, "the factor n of the definitions is no logarithm"
    )
    both = printed.blaming("misprint", "factor-n")
    return {"T_2": both, "T_2^+": both}


@book.claim(
    "Eq.27-28",
    "Sizes before T_4",
    kind="order",
    where="Proof of Lemma E.14, Eq. (27) and (28)",
    parts=["(27)", "(28)"],
    origin="proof",
    hypotheses=CONDITION,
    uses=["Eq.8-9", "C.8"],
    statement=r"t\le T_4:\ |q_{si}|,|k_{si}|\le O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2}),\ |q_{s\mu}|,|k_{s\mu}|\le O(\log(C_3\sigma_ps/\|\mu\|)m_k^{-1/2}(\sigma_ps)^{-1}\|\mu\|)",
    reading="the constant is 2 C_3: T_4 eta sigma_p s is C_3 log(C_3 sigma_p s/|mu|) m_k^(-1/2), and the start is smaller",
)
def sizes_before(lab: Laboratory) -> dict[str, Verdict]:
    """Start plus T_4 moves, in units of T_4 eta sigma_p s."""
    U, e = sym("U"), sym("e")
    bound = constant_moves(lab) & always_positive({"2 U - (U + start)": 2 * U - (U + U / (1 + e))}, ("U", "e"))
    noise = vanishing("the start of noise over T_4 eta sigma_p s, kappa s^(-1/2)", n=1, d=Fraction(-1, 4), kappa=1)
    signal = settled(
        certified(),
        "the start of a signal over T_4 eta |mu| is log(12 m_k/delta)^1/2 kappa / log(sigma_p s), at most kappa, as "
        "m_k <= n and sigma_p s >= n (delta a power of 1/n)",
    )
    return {"(27)": (bound & noise).proving(MOVES, NORMS), "(28)": (bound & signal).proving(MOVES)}


@book.claim(
    "E.14",
    "Softmax before T_4",
    kind="order",
    where="Lemma E.14",
    parts=["s_11", "s_21"],
    hypotheses=CONDITION,
    uses=["Eq.27-28", "C.13"],
    expect="fails",
    statement=r"s_{i,11}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_4,\quad s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_3^+",
    reading="for every start with sigma_0 = o(1/(sigma_p s m_k^1/2)), as printed; the bound of the proof is log(12 m_k/delta) kappa^2, which need not tend to 0",
)
def softmax_before(lab: Laboratory) -> dict[str, Verdict]:
    """Logits are at most 2 m_k times squares of sizes; the noise logit at T_3^+ is that large."""
    moves = constant_moves(lab)
    first = vanishing("m_k |q_mu| |k_i|, log^2(sigma_p s) |mu| / (sigma_p s)", n=-1, d=Fraction(-1, 4))
    # -log s_21 is at least m_k (T_3^+ eta sigma_p s / 2)^2 = C_2^2 log(12 m_k / delta) kappa^2 / 4, with delta = n^(-1/3)
    printed = _not_half(
        moves,
        lambda p: (log(12 * p["m_k"]) + log(p["n"]) / 3) / 4,
        "n",
        "T_3^+",
        "-log s_21 over C_2^2, which is at least log(12 m_k/delta)/4 times the square of sigma_0 sigma_p s m_k^1/2, delta = n^-1/3,",
    )
    return {
        "s_11": (moves & first).proving(MOVES, QUARTER),
        "s_21": printed.correcting(LOGARITHM, half_with_logarithm(lab), PAYS).blaming("constant", "log-of-start"),
    }


LOGARITHM = (
    r"s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \text{for}\ \sigma_0=o(\sigma_p^{-1}s^{-1}(m_k\log(12m_k/\delta))^{-1/2})"
)
PAYS = "T_3^+ has log(12 m_k/delta)^1/2, which the condition on sigma_0 has to pay for"
WIDTHS = (240, 10**4, 10**6, 10**8)  # m_k of a path inside Condition 3.1: n = m_k^4, d = n^9


def slow_starts(letter: str) -> list[dict[str, float]]:
    """Points of the path with kappa = sigma_0 sigma_p s m_k^1/2 = 0.05 (log x_0 / log x)^(1/4), x = n or m_k, x_0 its start."""
    points = [inside_point(m_k) for m_k in WIDTHS]
    return [
        {**p, "sigma_0": p["sigma_0"] * (log(points[0][letter]) / log(p[letter])) ** 0.25} for p in points
    ]  # kappa is 0.05 at every inside point


def _not_half(
    moves: Verdict, factor: Callable[[dict[str, float]], float], letter: str, time: str, what: str
) -> Verdict:
    """A logit factor(p) kappa^2 along the path that grows with the root of log n or log m_k: s_21 does not stay at 1/2.

    If it stayed there, the induction of Lemma E.9 would apply from the state at T_2 on (Remark E.4), with both noises of
    every pair at least t eta sigma_p s / 2: a contradiction.
    """
    if moves.as_stated != "holds":
        return moves
    points = slow_starts(letter)
    logits = [factor(p) * p["m_k"] * (p["sigma_0"] * p["sigma_p"] * p["s"]) ** 2 for p in points]
    y, r = sym("y"), sym("r")  # roots of log x and log x_0: the factor is of order y^2, kappa^2 of order r/y
    grows = identity({"logit over the root of log x": y**2 * (r / y) - r * y})
    if grows.as_stated != "holds" or not all(late > early for early, late in pairwise(logits)):
        return undecided(f"the logit does not grow: {logits}")
    sentence = (
        (
            f"along n = m_k^4, d = n^9, sigma_0 sigma_p s m_k^1/2 = 0.05 (log {letter}_0/log {letter})^(1/4), which tends to 0, if s_21 "
            f"stayed near 1/2 then at {time} {what} would be {logits[0]:.4g} at m_k = 240, {logits[-1]:.4g} at m_k = 10^8, and grow like "
            f"(log {letter})^1/2"
        )
        .replace("m_k_0", "240")
        .replace("n_0", "240^4")
    )
    return given(refuted(Witness(sentence, points[-1]), moves.evidence), "Remark E.4")


def half_with_logarithm(lab: Laboratory) -> Verdict:
    """|q|, |k| <= 2 C_2 log^1/2 sigma_0 sigma_p s up to T_3^+: the logit is at most 8 C_2^2 log kappa^2."""
    moves, U, e = constant_moves(lab), sym("U"), sym("e")
    size = always_positive({"2 U - (start + U)": 2 * U - (U + U / (1 + e))}, ("U", "e"))
    start = vanishing("the start of noise over T_3^+ eta sigma_p s, s^(-1/2)", n=1, d=Fraction(-1, 4))
    return (moves & size & start).proving(
        MOVES,
        "up to T_3^+ noise is at most 2 C_2 log(12 m_k/delta)^1/2 sigma_0 sigma_p s",
        "a noise logit is at most 2 m_k times its square, 8 C_2^2 log(12 m_k/delta) kappa^2",
        QUARTER,
    )


@book.claim(
    "Beyond.log-scale",
    "Softmax stays at 1/2 in Stage III with a logarithm more",
    kind="order",
    hypotheses=[],
    origin="ours",
    uses=["Eq.27-28"],
    repairs=["E.14", "4.4(3)"],
    statement=r"\sigma_0=o(\sigma_p^{-1}s^{-1}(m_k\log(12m_k/\delta))^{-1/2}):\ s_{i,11}^{(t)},s_{i,21}^{(t)}=\tfrac12\pm o(1)\ \forall t\le T_3^+",
    reading="Lemma E.14 under the condition that its proof needs",
)
def log_scale(lab: Laboratory) -> Verdict:
    """As the corrected form of Lemma E.14."""
    return half_with_logarithm(lab)


@book.claim(
    "4.3(2)",
    "Softmax stays at 1/2 in Stage II",
    kind="order",
    main=True,
    where="Lemma 4.3 (2)",
    parts=["both"],
    hypotheses=CONDITION,
    uses=["Eq.8-9", "C.8"],
    statement=r"t\le T_2:\ s_{i,11}^{(t)}=\tfrac12\pm o(1),\ s_{i,21}^{(t)}=\tfrac12\pm o(1)",
    reading="all samples and times; logits are at most 2 m_k (1 + 50 sqrt2 n)^2 beta_xi^2",
)
def half_in_stage_two(lab: Laboratory) -> Verdict:
    """Noise is at most beta_xi + T_2 eta sigma_p s = (1 + 50 sqrt2 n) beta_xi."""
    logit = vanishing("m_k n^2 beta_xi^2, n^2 kappa^2 / s", n=4, d=Fraction(-1, 2), kappa=2)
    return (constant_moves(lab) & logit).proving(MOVES, NORMS, QUARTER)


@book.claim(
    "4.4(3)",
    "Softmax stays at 1/2 in Stage III",
    kind="order",
    main=True,
    where="Lemma 4.4 (3)",
    parts=["s_11", "s_21"],
    hypotheses=CONDITION,
    uses=["E.14"],
    expect="fails",
    statement=r"t\in[T_2,T_3]:\ s_{i,11}^{(t)}=\tfrac12\pm o(1),\ s_{i,21}^{(t)}=\tfrac12\pm o(1)",
    reading="for every start that the condition allows; beta_mu in T_3 is of the order (log m_k)^1/2 sigma_0 |mu|",
)
def half_in_stage_three(lab: Laboratory) -> dict[str, Verdict]:
    """As in Lemma E.14, with T_3 for T_3^+."""
    found = softmax_before(lab)
    # beta_mu is at least (log m_k)^1/2 sigma_0 |mu|, so T_3 eta sigma_p s / 2 at least 3/2 (log m_k)^1/2 sigma_0 sigma_p s
    printed = _not_half(
        constant_moves(lab),
        lambda p: 9 / 4 * log(p["m_k"]),
        "m_k",
        "T_3",
        "-log s_21, which is at least 9/4 log m_k times the square of sigma_0 sigma_p s m_k^1/2,",
    )
    fixed = printed.correcting(LOGARITHM, half_with_logarithm(lab), PAYS).blaming("constant", "log-of-start")
    return {"s_11": found["s_11"], "s_21": fixed}


@book.claim(
    "4.8(2)",
    "The loss has not converged at T_4",
    kind="order",
    main=True,
    where="Lemma 4.8 (2)",
    parts=["loss"],
    hypotheses=[
        *CONDITION,
        Hypothesis(
            "m_k >= log(sigma_p s)^2",
            r"m_k=\Omega(\mathrm{polylog}(d))\ \text{so that}\ m_k\ge\log^2(\sigma_ps/\|\mu\|)",
            lambda p: p["m_k"] - log(p["sigma_p"] * p["s"]) ** 2,
        ),
    ],
    uses=["Eq.14-15"],
    statement=r"L_S(W^{(T_4)})=\Theta(1)",
    reading="polylog(d) as a power of log d above log(sigma_p s)^2, as the proof of E.15 has it; with m_k = log d it would fail; constants depend on C_3",
)
def loss_at_t4(lab: Laboratory) -> Verdict:
    """A margin is at most 2 v_i <= 4 T_4 eta sigma_p s + 1 = 4 C_3 log(C_3 sigma_p s) m_k^-1/2 + 1."""
    C, x, e = sym("C"), sym("x"), sym("e")  # C = C_3 >= 1 as C = 1 + x; log(C_3 S) <= (1 + log C_3) log S <= C_3 log S
    margin = 4 * (1 + x) ** 2 / (1 + e) + 1
    bound = always_positive({"margin": 4 * (1 + x) ** 2 + 2 - margin}, (), ("x", "e"))
    least = always_positive({"loss": graph.exp(-C)}, ("C",))
    return (mean_value_moves(lab) & bound & least).proving(
        VALUES,
        NORMS,
        "margins at T_4 are between -1 and 4 C_3^2 + 2, so every share of the loss is between two positive constants",
    )


# ---- after T_4^- -----------------------------------------------------------------------------------------------------

at_t4 = Hypothesis(
    "the state at T_4^- is that of Remark E.28",
    r"|k_{si}^{(T_4^-)}|=T_4^-\eta\sqrt{2/\pi}\sigma_ps(1\pm\tilde O(s^{-1/2}))",
    lambda p: 1,
)


def _back(aligned: bool) -> dict[str, graph.Node]:
    """Keys after T = T_4^- with all moves back (lower) or on (upper), over the speed; small errors e of sizes and speeds."""
    T, u, e = sym("T"), sym("u"), sym("e")
    t = T + u
    if aligned:
        return {"upper": t * (1 + 2 * e) - (T * (1 + e) + u * (1 + e))}
    return {"lower": T * (1 - e) - u * (1 + e) - ((2 * T - t) - 2 * e * t)}


@book.claim(
    "E.29",
    "Keys after T_4^-",
    kind="inequality",
    where="Lemma E.29",
    parts=["key noise", "key signal", "signs", "at (1 + theta') T_4^-"],
    hypotheses=[at_t4],
    uses=["E.28", "Eq.8-9", "C.4"],
    expect="fails",
    statement=r"t\ge T_4^-:\ (2T_4^--t)\eta\sqrt{\tfrac2\pi}\sigma_ps(1-\tilde O(s^{-1/2}))\le\mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le t\eta\sqrt{\tfrac2\pi}\sigma_ps(1+\tilde O(s^{-1/2})),\ k_{s\mu}\ \text{alike with}\ o(1);\ \text{signs kept to}\ (1+\theta)T_4^-;\ (1-\theta')T_4^-\ldots\le|k_{si}|\le(1+\theta')T_4^-\ldots",
    reading="for all t, as printed: an error of 2 T_4^- - t, where it is one of t; used up to (1 + theta) T_4^-, where it holds",
)
def keys_after(lab: Laboratory) -> dict[str, Verdict]:
    """The fastest way back and on."""
    moves = constant_moves(lab)
    bounds = always_positive({**_back(True), **_back(False)}, ("T", "u", "e"))
    th, z = 1 / (1 + sym("y")), sym("z")  # theta = 1/(1+y) < 1, errors e <= (1 - theta)/4 / (1 + z)
    e = (1 - th) / 4 / (1 + z)
    signs = always_positive({"sign": (1 - th) - 2 * e * (1 + th)}, ("y",), ("z",))
    both = (moves & bounds).proving(MOVES, "sizes at T_4^- and speeds have relative errors e; a key moves back at most")
    T, c, err, u = sym("T"), sym("theta"), sym("e"), sym("u")
    # a key that moves back from (1 + theta_c) T on, at t = 2 T + 2 theta_c T / e + u, against (2 T - t)(1 - e)
    t = 2 * T + 2 * c * T / err + u
    below = always_positive({"bound - key": (2 * T - t) * (1 - err) - (2 * (1 + c) * T - t)}, ("T", "theta", "e", "u"))
    sentence = (
        "a key that moves back from (1 + theta_c) T_4^- on (Lemma 4.6), with |xi_i|_1 = (2/pi)^1/2 sigma_p s, is below the printed "
        "bound with the error e at every t > 2 T_4^- (1 + theta_c / e)"
    )
    printed = (
        refuted(Witness(sentence, inside_point()), moves.evidence)
        if (moves & below).as_stated == "holds"
        else moves & below
    )
    late = printed.correcting(
        r"(2T_4^--t)\eta\sqrt{\tfrac2\pi}\sigma_ps-\tilde O(s^{-1/2})t\eta\sigma_ps\le\ldots,\ \text{which is the printed bound for}\ t\le(1+\theta)T_4^-",
        both,
        "the errors of T_4^- and of t - T_4^- do not cancel in their difference",
    ).blaming("misprint", "error-of-a-difference")
    kept = given((moves & signs).proving(MOVES), "Remark E.28")
    late = given(late, "Lemma 4.6", "Remark E.28")
    # at t = (1 + theta') T: T (1 - e) - theta' T (1 + e) is (1 - theta') T (1 - e (1 + theta')/(1 - theta'))
    share = always_positive(
        {
            "below": T * (1 - err) - th * T * (1 + err) - (1 - th) * T * (1 - 2 * err * (1 + th) / (1 - th)),
            "above": (1 + th) * T * (1 + 2 * err) - (T * (1 + err) + th * T * (1 + err)),
        },
        ("T", "y", "e"),
    )
    return {
        "key noise": late,
        "key signal": late,
        "signs": kept,
        "at (1 + theta') T_4^-": given((moves & share).proving(MOVES), "Remark E.28"),
    }


@book.claim(
    "E.39",
    "Unaligned keys after the flip",
    kind="inequality",
    where="Lemma E.39",
    parts=["bound"],
    hypotheses=[
        at_t4,
        Hypothesis("D(t) holds", r"\mathcal D(t),\ t=(1+\theta_c)T_4^-,\dots,\tilde t", lambda p: 1),
    ],
    uses=["E.28", "Eq.8-9", "C.4"],
    statement=r"t\ge(1+\theta_c)T_4^-,\ i\notin E_s:\ \mathrm{sgn}(k_{si}^{(T_4^-)})k_{si}^{(t)}\le(2(1+\theta_c)T_4^--t)\eta\sqrt{2/\pi}\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading="with D(t) supposed, as printed; the small term is of t, as the bound may vanish",
)
def keys_reflected(lab: Laboratory) -> Verdict:
    """At worst on to (1 + theta_c) T_4^-, then back at every step."""
    T, th, u, e = sym("T"), sym("theta"), sym("u"), sym("e")
    t = (1 + th) * T + u
    key = T * (1 + e) + th * T * (1 + e) - u * (1 - e)
    bound = always_positive({"bound": (2 * (1 + th) * T - t) + 2 * e * t - key}, ("T", "theta", "u", "e"))
    return given((constant_moves(lab) & bound).proving(MOVES), "Remark E.28")


@book.claim(
    "Eq.32",
    "Sum of products in Stage IV.a",
    kind="order",
    where="Proof of Lemma E.20, Eq. (32)",
    parts=["(32)"],
    origin="proof",
    hypotheses=[
        Hypothesis("A(t) and F(t) hold", r"\mathcal A(t),\mathcal F(t)", lambda p: 1),
    ],
    uses=["IV.a-A", "IV.a-DEF"],
    statement=r"\sum_sq_{si}k_{si}=\tfrac2\pi m_kt^2\eta^2\sigma_p^2s^2(1\pm\tilde O(s^{-1/2}))",
    reading="given A(t) and F(t), as its proof has it: a product of two numbers of one sign within e of 1 is within 3 e of 1",
)
def sum_of_products(lab: Laboratory) -> Verdict:
    """(1 + e)^2 - 1 <= 3 e and 1 - (1 - e)^2 <= 3 e, and the derived logit is the sum."""
    made = lab.network()
    logit = on_section({"z22": made.logit(0, 1, 1)})["z22"]
    total = on_the_toy(equal({"logit": (logit, graph.add(sym(f"q{r}_1") * sym(f"k{r}_1") for r in (1, 2)))}))
    e = 1 / (1 + sym("x"))
    squares = always_positive({"above": 3 * e - (2 * e + e * e), "below": 3 * e - (2 * e - e * e)}, ("x",))
    found = (total & squares).proving("every product is (1 +- e)^2 times the square of t eta (2/pi)^1/2 sigma_p s")
    return given(found, "A(t) and F(t) of Stage IV.a")


@book.claim(
    "IV.b-signs",
    "Signs printed in D(t) and F(t) of Stage IV.b",
    kind="identity",
    where="Appendix E.7.2, second equalities of D(t) and F(t)",
    parts=["D(t)", "F(t)"],
    origin="proof",
    hypotheses=[],
    uses=["E.28"],
    expect="fails",
    insensitive="it compares signs that the paper prints with each other",
    statement=r"\mathcal D(t):\ k_{si}=_{\rm sgn}k_{si}^{(T_4^-)}=_{\rm sgn}-q_{si}\ (i\notin E_s);\quad\mathcal F(t):\ k_{s\mu}=_{\rm sgn}k_{s\mu}^{(T_4^-)}=_{\rm sgn}-q_{si}",
    reading="at T_4^-, against the six displays of Remark E.28; F(t) has a free index i",
)
def printed_signs(lab: Laboratory) -> dict[str, Verdict]:
    """The signs of Remark E.28 for a positive vote: q_i, k_i by alignment, q_mu, k_mu."""
    table = {"aligned": (1, 1), "unaligned": (-1, -1)}  # signs of q_i and k_i
    q_mu, k_mu = 1, -1
    q, k = table["unaligned"]
    printed = k == -q, all(k_mu == -row[0] for row in table.values())
    right = (
        certified(enumerated="both kinds of pairs") if k == q == -q_mu and k_mu == -q_mu else refuted({"signs": table})
    )
    sentences = (
        "for a positive vote and i not in E_s Remark E.28 has q_si and k_si negative at T_4^-, and D(t) says k_si has the sign "
        "of -q_si",
        "for a positive vote and i not in E_s Remark E.28 has q_si and k_s,mu negative at T_4^-, and F(t) says k_s,mu has the "
        "sign of -q_si",
    )
    form = r"\mathcal D:\ k_{si}=_{\rm sgn}q_{si}=_{\rm sgn}-q_{s\mu}\ (i\notin E_s);\quad\mathcal F:\ k_{s\mu}=_{\rm sgn}-q_{s\mu}"
    return {
        name: (certified() if good else refuted(Witness(said, {}), right.evidence))
        .correcting(form, right, "one letter: with mu for y_i xi_i in the last bracket both lines are right")
        .blaming("misprint", "signs-of-keys")
        for name, good, said in zip(("D(t)", "F(t)"), printed, sentences, strict=True)
    }


# ---- pairs with opposite signs ------------------------------------------------------------------------------------------


@book.claim(
    "E.1",
    "Order of the three times of a pair",
    kind="inequality",
    where="Lemma E.1",
    parts=["positive", "order"],
    hypotheses=[
        Hypothesis(
            "|q_i|, |k_i| >= 2 beta_mu, by Lemma C.10", r"|q_{si}^{(0)}|,|k_{si}^{(0)}|\ge2\beta_\mu", lambda p: 1
        ),
        Hypothesis("uniform attention, by Lemma C.13", r"s_{i,11}^{(0)},s_{i,21}^{(0)}=\tfrac12+o(1)", lambda p: 1),
    ],
    uses=["C.10", "C.13", "Eq.10-12"],
    statement=r"0<T^1_{2,s,i}\le T^3_{2,s,i},\quad0<T^2_{2,s,i}\le T^3_{2,s,i}\quad\text{for pairs with opposite signs}",
    reading="with |q_i|, |k_i| >= 2 beta_mu (Lemma C.10) and uniform attention at t = 0 (Lemma C.13), for both signs of v_i - v_mu",
)
def three_times(lab: Laboratory) -> dict[str, Verdict]:
    """At t = 0 signs differ, and so do the first moves; T^3 asks for what T^1 and T^2 ask for, and more."""
    total: Verdict | None = None
    for w, e, f in product((1, -1), repeat=3):
        state = {
            "X12": sym("X11"),
            "v_1": sym("v_mu") + w * sym("w1"),
            "q1_mu": f * sym("c"),
            "k1_mu": f * sym("d"),
            "q1_1": e * (2 * sym("c") + sym("q")),
            "k1_1": -e * (2 * sym("d") + sym("k")),
        }
        found = signed(lab, state, {"q1_1": -w * e, "k1_1": w * e}, ("w1", "c", "d"), ("q", "k"))
        total = found if total is None else total & found
    assert total is not None
    order = certified(enumerated="three equations: T^3 is the first time of (16), (17) and (18) together")
    return {"positive": on_the_toy(total), "order": order}


# ---- pairs with one sign -----------------------------------------------------------------------------------------------

CHECKS["E.3: sizes"] = same_sign_sizes


@book.claim(
    "E.3",
    "Pairs with one sign",
    kind="inequality",
    where="Lemma E.3",
    source="damaged",
    parts=["signs and moves", "sizes"],
    hypotheses=CONDITION,
    uses=["Eq.10-12", "C.10"],
    expect="fails",
    statement=r"t\in[0,T_2^+]:\ q=_{\rm sgn}k,\ \Delta q,\Delta k=\mathrm{sgn}\cdot\eta\|\xi_i\|_1;\quad t\ge T_2':\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading="if the lost display says what its proof says: from t = 0 on, where half of the samples have v_i < v_mu; later uses begin after T_1",
)
def one_sign(lab: Laboratory) -> dict[str, Verdict]:
    """The first move of a pair with |k_i| >= 2 |k_mu|, |q_i| >= 2 |q_mu| (Lemma C.10), for both signs of v_i - v_mu."""

    def moves(w: int) -> Verdict:
        total: Verdict | None = None
        for e, f in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            state = {
                "X12": sym("X11"),
                "v_1": sym("v_mu") + w * sym("w1"),
                "q1_mu": f * sym("c"),
                "k1_mu": f * sym("d"),
                "q1_1": e * (2 * sym("c") + sym("q")),
                "k1_1": e * (2 * sym("d") + sym("k")),
            }
            found = signed(lab, state, {"q1_1": w * e, "k1_1": w * e}, ("w1", "c", "d"), ("q", "k"))
            total = found if total is None else total & found
        assert total is not None
        return on_the_toy(total)

    forward, backward = moves(1), moves(-1)
    if backward.as_stated == "holds":
        sentence = (
            "at t = 0 with uniform attention, q_si = k_si = 1, |q_s,mu|, |k_s,mu| <= 1/2 and v_i < v_mu both moves are "
            "negative; v_i^(0) < v_mu^(0) has probability 1/2 for each sample"
        )
        printed = (
            refuted(Witness(sentence, inside_point()), backward.evidence)
            .correcting(
                r"\text{the same while}\ \langle v^{(t)},y_i\xi_i-\mu\rangle>0,\ \text{so from}\ T_1\ \text{on for pairs that kept their sign}",
                forward,
                "where v_i - v_mu is negative every move of the pair is reversed",
            )
            .blaming("proof", "reversed-start")
        )
    else:
        printed = backward
    return {"signs and moves": printed, "sizes": along(lab, "E.3: sizes", "'sizes' was seen")}
