r"""Appendix E, stage II by a kept quantity: every pair settles within T_2^SGN = 3 T_2' and goes on growing to T_2^+; no runs.

With :math:`A = q_{si} + (a_i/b_i) q_{s\mu}`, :math:`B = k_{si} - k_{s\mu}`, :math:`w = v_i - v_\mu` a query noise moves with
:math:`\mathrm{sgn}(wB)` and a key noise with :math:`\mathrm{sgn}(wA)`, both by :math:`\eta\|\xi_i\|_1`. So |A| and |B| grow or
shrink together and :math:`|A| - |B|` is kept, up to moves of signals, whatever the sign of w is. Where it is not small at the
start, the larger of the two never crosses zero, and its sign decides the pair. This needs no lower bound of single starts,
so not C.11 for a small m_v. Starts of at least 2 beta_mu, as in C.10, are taken for "same signs are kept" (Lemma 4.2 (1)),
and by it for ties (E.6 (2), E.5 (2), Lemma 4.3 (3)).
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from math import sqrt
from operator import and_

import flint

from odesys import ZERO, Node, Verdict, always_positive, decided, enumerate_all, identity, num, sym

from ..laboratory import Laboratory
from .book import at_most, ball, book, signed, weights_of_pair
from .common_hypotheses import CONDITION, at_least, taken
from .common_orders import (
    BETA_MU,
    BETA_XI,
    ETA,
    HALF,
    M_K,
    MOVES,
    NORMS,
    ONE,
    QUARTER,
    STEP,
    T_2_PLUS,
    T_2_PRIME,
    VALUES,
    N,
    S,
    settled,
    vanishing,
)
from .part_d_gradients import constant_moves
from .part_d_recursion import gauge, mean_value_moves

root_two_low, root_two_high = Fraction(7, 5), Fraction(17, 12)
root_half_low = Fraction(7, 10)
LOGIT = M_K * (T_2_PLUS * STEP) ** 2  # of noise, up to T_2^+
TURN = Fraction(6, 10)  # of T_1: from there on v_i > v_mu
TINY = Fraction(1, 1000)  # what tends to zero, for sizes that are large enough

#: condition 5 has a small enough eta: the smallest of m_k n differences at the start is many steps
fine_steps = at_least(
    "sigma_0 >= n^2 eta s^(1/2)",
    r"\eta\ \text{small enough (condition 5):}\ n^2\eta\sqrt s\le\sigma_0",
    lambda p: p["sigma_0"],
    lambda p: float(p["n"]) ** 2 * p["eta"] * sqrt(p["s"]),
)
#: a probability 1 - delta with a smaller delta asks for more; T_3 < T_3^+ asks for a delta of at most n^(-1/3), and both have Theorem 3.2's
usual_delta = at_least(
    "delta >= n^(-1/3), as in Theorem 3.2: smaller ones ask for more than the events of Appendix C are decided for",
    r"\delta\ge n^{-1/3}",
    lambda p: p["delta"] * p["n"] ** (1 / 3),
    lambda p: 1,
)
untied = taken(
    "no vote is tied, which for even n has probability 1 - O(m_k n^(-1/2)) by Lemma E.5 (2); the proof of Lemma E.5 supposes it",
    r"|E_{s,+}|\ne|E_{s,-}|\ \forall s",
)
#: not in the printed E_prelim: two events of probability 1 - o(n^(-1/2)), by `apart` and `value_starts`
two_events = taken(
    "two events beside E_prelim, no pair nearly undecided and no large value at the start, of probability 1 - o(n^(-1/2))",
    r"\big||q_{si}^{(0)}+q_{s\mu}^{(0)}|-|k_{si}^{(0)}-k_{s\mu}^{(0)}|\big|\ge M,\ |v_i^{(0)}|\le2\sqrt2\beta_\xi m_v^{-1/2}\ \forall s,i",
)
wide_values = at_least(
    "m_v >= 1521", r"m_v=\Omega(\mathrm{polylog}\,d),\ \text{at least}\ 1521", lambda p: p["m_v"], lambda p: 1521
)

EVENTS = (
    "on the events of Lemma C.4 (corrected) and Beyond.starts, that no |v_i| starts above 2 2^(1/2) beta_xi m_v^(-1/2), and that no pair has "
    "||q_i + q_mu| - |k_i - k_mu|| below M = 12 T_2' eta |mu| + 32 (e + eta sigma_p s) at the start, e the largest |a_i/b_i - 1| |q_mu| up to T_2^+",
    "the first two are those of Appendix C, of probability 1 - O(delta)",
)
DECIDED = (
    "q_i + q_mu and k_i - k_mu are independent Gaussians of variance at least sigma_0^2 |xi_i|^2, and ||x| - |y|| < M asks for |x - y| < M "
    "or |x + y| < M: the chance of a pair is at most 2 M / (pi^(1/2) sigma_0 |xi_i|), and there are m_k n pairs"
)
VALUE_STARTS = (
    "v_i is Gaussian with variance 2 sigma_0^2 |xi_i|^2 / m_v at the start, and each of the N = 2 (m_k + m_v) n entries of beta_xi with sigma_0^2 |xi_i|^2",
    "with P(|Z| > x) = log(2/delta)/N no entry exceeds x sigma_0 |xi_i| with probability at most delta/2, and one of n values "
    "2 x times its own deviation with at most n P(|Z| > 2 x), at most 17 n x^3 P(|Z| > x)^4 by Mills' bounds for x >= 1, and x is a power of logarithms; lengths |xi_i| are equal up to s^(-1/2), so x^2 changes by o(1)",
)
KEPT = (
    "a step changes |q_i + q_mu| and |k_i - k_mu| by the same +-eta |xi_i|_1, up to eta |mu| each, unless one of them crosses zero or |q_i + q_mu| <= e",
    "w_i grows (Eq. (14), (15)), so it changes its sign at most once, before 6 T_1 / 10; for one sign of w_i the smaller of the two "
    "moves one way as long as the larger keeps its sign: two passages through [-e, e], each of at most 2 e/(eta (|xi_i|_1 - |mu|)) + 1 steps "
    "and one that crosses zero, in each of which the difference changes by at most 2 eta |xi_i|_1 more",
    "so it changes by less than M/2 up to 3 T_2', and the larger, of sign c at the start, stays above M/2 > e and keeps its sign",
    "what the larger drives moves with sgn(w_i) c in every step: from t = 2 (6 T_1/10) + (beta_xi + |signal| + e)/(eta |xi_i|_1) + 1 on it has sign "
    "c and outweighs the signal; then the larger moves with c as well, and its noise has sign c after |signal|/(eta |xi_i|_1) + 1 steps",
    "from there on q_i + q_mu and k_i - k_mu grow by at least eta (|xi_i|_1 - |mu|) in each step, so no sign changes up to T_2^+",
)


def _each(parts: list[Verdict]) -> Verdict:
    return reduce(and_, parts)


def alike(lab: Laboratory, signs: tuple[int, ...] = (1, -1)) -> Verdict:
    """Moves of a pair by the signs e of A, f of B and w (`signs`) of w_i: both sizes change by w e f eta |xi_i|_1.

    The argument of the query has B alone and that of the key A alone, so e and f need not be varied apart.
    """
    a, b = weights_of_pair()
    parts = []
    for w, e in product(signs, (1, -1)):
        q_mu, k_mu = sym("c") - sym("C"), sym("d") - sym("D")  # signals of either sign
        state = {
            "v_1": sym("v_mu") + w * sym("w1"),
            "q1_mu": q_mu,
            "k1_mu": k_mu,
            "q1_1": e * sym("A") - a / b * q_mu,
            "k1_1": -e * sym("B") + k_mu,
        }
        parts.append(signed(lab, state, {"q1_1": -w * e, "k1_1": w * e}, ("w1", "A", "B", "c", "d", "C", "D")))
    return _each([*parts, constant_moves(lab)])


def as_settled(lab: Laboratory) -> Verdict:
    """What is used of settled pairs later: from 3 T_2' to T_2^+ both move outwards in every step."""
    return settling(lab).proving("from 3 T_2' to T_2^+ every pair has one sign and moves outwards (Lemma E.2)")


def apart(lab: Laboratory) -> Verdict:
    """The chance that one of m_k n pairs has a difference below M, times n^(1/2): its three parts over sigma_0 sigma_p s^(1/2)."""
    variance = lab.variances()
    spread = variance["q_xi"] + variance["k_xi"]  # of x - y and x + y, over sigma_0^2 |xi_i|^2
    # two intervals of length 2 M, and densities of at most (2 pi spread)^(-1/2): pi times the square of their sum over M is 4
    constant = decided(Fraction(4**2) / (2 * spread) <= 2**2, {"variance of x - y": str(spread)})
    law = decided(variance["q_xi"] == variance["k_xi"] == 1, {"variances of q_i, k_i": "not those of beta_xi"})
    many = M_K * N ** Fraction(3, 2)
    return (
        constant
        & law
        & vanishing("m_k n^(3/2) T_2' eta |mu| over sigma_0 sigma_p s^(1/2)", many * T_2_PRIME * ETA / BETA_XI)
        & vanishing(
            "m_k n^(3/2) e over sigma_0 sigma_p s^(1/2), e at most the square of a logit times beta_mu", many * LOGIT**2 * BETA_MU / BETA_XI
        )
        & vanishing("m_k n^(3/2) eta sigma_p s over sigma_0 sigma_p s^(1/2)", many * STEP / BETA_XI)
    ).proving(DECIDED)  # fmt: skip


PASSAGES = 2


def crossings(c: int, phases: tuple[int, ...], sign: int) -> tuple[int, int]:
    """How often the smaller of a pair crosses zero at most, and its last sign: it moves with w c in each phase of w, c the larger's sign."""
    count = 0
    for w in phases:
        count, sign = count + (sign != w * c), w * c
    return count, sign


def few_passages() -> Verdict:
    """w_i grows, so its signs are + or -, +: in all cases at most two passages, the last towards the sign of the larger."""
    cases = product((1, -1), ((1,), (-1, 1)), (1, -1))
    return enumerate_all(
        cases,
        lambda case: crossings(*case)[0] <= PASSAGES and crossings(*case)[1] == case[0],
        "signs of both, phases of w",
    )


def kept_apart(passing: int = 32) -> Verdict:
    """M/2 minus what the difference changes by up to 3 T_2': h = eta |xi_i|_1 at most eta sigma_p s = h + z, eta |mu| = h/(2 + y)."""
    h, e, T, y, z = (sym(name) for name in ("h", "e", "T", "y", "z"))
    m = h / (2 + y)
    half = (12 * T * m + passing * (e + h + z)) / 2
    passages = PASSAGES * (2 * e / (h - m) + 2)
    return always_positive({"M/2 - change": half - (3 * T * 2 * m + passages * 2 * h), "M/2 - e": half - e}, ("h", "T"), ("e", "y", "z"))  # fmt: skip


def value_starts(lab: Laboratory) -> Verdict:
    """No |v_i| starts above 2 sqrt2 beta_xi m_v^(-1/2), with probability 1 - delta for every delta >= n^(-2)."""
    variance = lab.variances()  # for m_v = 2, where 2/m_v is 1
    spread = decided(variance["v_xi"] <= variance["row_xi"], {"variance of v_i, m_v = 2": str(variance["v_xi"])})
    rare = vanishing("n (log(2/delta)/N)^4 over delta, for N >= n and delta >= n^-2", N / N**4 / N**-2)
    return (spread & fourth_power() & rare).proving(*VALUE_STARTS)


def fourth_power(constant: int = 17) -> Verdict:
    """P(|Z| > 2 x) <= 17 x^3 P(|Z| > x)^4 for x >= 1, by Mills' bounds x/(1 + x^2) < P(|Z| > x)/(2 phi(x)) < 1/x."""
    x = 1 + sym("y")
    exponents = identity({"exponents": (2 * sym("x")) ** 2 / 2 - 4 * (sym("x") ** 2 / 2)})
    # (pi/2)^(3/2) (1 + x^2)^4 / (2 x^5), and (1 + x^2)^4 < 17 x^8
    powers = always_positive({"17 x^8 - (1 + x^2)^4": constant * x**8 - (1 + x**2) ** 4}, (), ("y",))
    factor = at_most((flint.arb.pi() / 2) ** ball(Fraction(3, 2)) / 2, ball(1), what="17 of Mills' bounds, over 17")
    return exponents & powers & factor


def small_signals() -> Verdict:
    """Signals, e and a few steps over beta_xi, up to 3 T_2'."""
    return (
        vanishing("beta_mu / beta_xi", BETA_MU / BETA_XI)
        & vanishing("3 T_2' eta |mu| / beta_xi", T_2_PRIME * ETA / BETA_XI)
        & vanishing("|a_i/b_i - 1| up to T_2^+, the square of a logit", LOGIT**2)
        & vanishing("a step over T_2'", ONE / T_2_PRIME)
    )


def turning(lab: Laboratory) -> Verdict:
    """w_i > 0 from 6 T_1/10 on: starts at most 2 sqrt2 beta_xi m_v^(-1/2), signal a hundredth of it; in units with beta_xi m_v^(-1/2) = 1."""
    gained = 2 * (root_half_low * (1 - Fraction(1, 100)) + sym("x")) * 4 * TURN
    late = always_positive({"w_i": gained - 2 * root_two_high * (1 + Fraction(1, 100))}, (), ("x",))
    signal = vanishing("|v_mu(0)| over beta_xi m_v^(-1/2)", BETA_MU / BETA_XI)
    return mean_value_moves(lab) & late & signal & value_starts(lab)


def settling_time(speed: Node, root_width: Node) -> Node:
    """An upper bound of the time at which a pair has settled, in units of T_2'; m_v^(1/2) and |xi_i|_1 / (sigma_p s) are given."""
    stage_one = 2 * TURN * 2 * num(root_two_high) / root_width  # T_1 = 2 sqrt2 T_2' m_v^(-1/2)
    beta = num(1 / root_two_low)  # beta_xi, in units of T_2' eta sigma_p s
    return stage_one + beta * (1 + 3 * TINY) / speed + 2 * TINY


def settling(lab: Laboratory) -> Verdict:
    """Every pair has settled at 3 T_2', and what is used for it."""
    x, y = sym("x"), sym("y")  # |xi_i|_1 = (7/10 + x) sigma_p s, m_v = (3 + y)^2
    early = always_positive({"3 T_2' - time": 3 - settling_time(root_half_low + x, 3 + y)}, (), ("x", "y"))
    bounds = at_most(ball(root_two_low), flint.arb(2).sqrt()) & at_most(flint.arb(2).sqrt(), ball(root_two_high))
    bounds = bounds & at_most(ball(root_half_low), 1 / flint.arb(2).sqrt())
    found = alike(lab) & turning(lab) & apart(lab) & few_passages() & kept_apart() & small_signals() & early & bounds
    return settled(found, *EVENTS, *KEPT, MOVES, VALUES, NORMS, QUARTER)


# ---- claims of stage II ----------------------------------------------------------------------------------------------


def signs_of_starts() -> Verdict:
    """|q_i|, |k_i| >= 2 beta_mu and a_i < 3/2 b_i: A has the sign of q_i and B that of k_i at the start."""
    beta, x = sym("beta"), sym("x")
    return always_positive(
        {"q": 2 * beta + x - Fraction(3, 2) * beta, "k": 2 * beta + x - beta}, ("beta",), ("x",)
    ).proving(
        "all starts have |q_i|, |k_i| >= 2 beta_mu (Beyond.starts), so A and B start with the signs of q_i and k_i"
    )


def _fair_outcome(lab: Laboratory) -> Verdict:
    """The other sign of a neuron is as likely, and its run has the other signs."""
    moving = enumerate_all(
        [name for name in lab.shares()[1] if name[0] in "qk"],
        lambda name: lab.shares()[1][name] is not ZERO,
        "arguments",
    )
    return (gauge(lab) & moving).proving(
        "(w_Q,s, w_K,s) and its negative have the same law and the same pairs with opposite signs",
        "the recursion of the negative start is the negative of the recursion (Beyond.gauge), so + and - end equally often: "
        "1/2 each, as a query noise is 0 with probability 0",
    )


@book.claim(
    "4.2",
    "Signs of query and key noise align",
    kind="probability",
    main=True,
    where="Lemma 4.2",
    parts=["aligned", "(1) same signs are kept", "(2) opposite signs"],
    hypotheses=[*CONDITION, fine_steps, usual_delta],
    uses=["E.2", "C.1", "C.4", "Beyond.starts", "Beyond.gauge"],
    statement=r"\text{with probability}\ 1-\delta:\ \mathrm{sgn}\,q_{si}=\mathrm{sgn}\,k_{si}\ \text{at}\ T_2^{\rm SGN};\ \text{same signs are kept; opposite ones end as}\ \pm\ \text{with conditional probability}\ge\tfrac12-O(\delta)",
    reading="all pairs at once with probability 1 - O(delta), delta not below that of Theorem 3.2; (2) for each pair, given that signs differ, 1/2 by symmetry",
)
def signs_align(lab: Laboratory) -> dict[str, Verdict]:
    """A pair settles with the sign of the larger of |A| and |B|, which is the common sign where there is one."""
    done = settling(lab)
    return {
        "aligned": done,
        "(1) same signs are kept": done & signs_of_starts(),
        "(2) opposite signs": _fair_outcome(lab),
    }


@book.claim(
    "Sec.E.5-times",
    "How long a pair takes",
    kind="inequality",
    where="Appendix E.5, bounds of T_2^2 and T_2^3 before Lemma E.2",
    origin="proof",
    parts=["T^2", "T^3"],
    hypotheses=[*CONDITION, fine_steps, two_events, wide_values],
    uses=["E.1", "C.1", "C.4", "Beyond.starts", "Eq.14-15"],
    statement=r"T^2_{2,s,i}\le1.5T_2',\quad T^3_{2,s,i}\le\max\{T_2',2T^2_{2,s,i}\}\le3T_2',\quad T_2'=\sqrt2\beta_\xi\eta^{-1}\sigma_p^{-1}s^{-1}",
    reading="all pairs, in fact T^2 <= T^3 <= T_2', as |xi_i|_1 is near 0.798 sigma_p s; m_v >= 1521 for the reversed moves of Stage I",
)
def durations(lab: Laboratory) -> dict[str, Verdict]:
    """T^2 <= T^3 <= the time at which the pair has settled, which is at most T_2' for |xi_i|_1 >= 0.79 sigma_p s, m_v >= 1521."""
    x, y = sym("x"), sym("y")
    speed = num(Fraction(79, 100)) + x
    sharp = always_positive({"T_2' - time": 1 - settling_time(speed, 39 + y)}, (), ("x", "y"))
    norm = at_most(ball(Fraction(79, 100)), (2 / flint.arb.pi()).sqrt(), what="|xi_i|_1 / (sigma_p s), Lemma C.4")
    near = vanishing("|xi_i|_1 / (sigma_p s) minus (2/pi)^(1/2), s^(-1/2)", ONE / S**HALF)
    done = (settling(lab) & sharp & norm & near).proving(
        "T^3 is the first time of (16), (17), (18) together and a settled pair has all three; T^2 is at most T^3"
    )
    return {"T^2": done, "T^3": done}


def linear_sizes(lab: Laboratory) -> Verdict:
    """From 3 T_2' to T_2^+ noise grows by |xi_i|_1 >= 7/10 sigma_p s in each step: at t = 12 T_2' + u it is above t/2, in units with eta sigma_p s = 1."""
    T, u, x = sym("T"), sym("u"), sym("x")
    t = 12 * T + u
    lower = always_positive({"lower": (t - 3 * T) * (root_half_low + x) - t / 2}, ("T",), ("u", "x"))
    return as_settled(lab) & lower & upper_for_ever(lab)


def upper_for_ever(lab: Laboratory) -> Verdict:
    """2 t minus beta_xi + t, in units with eta sigma_p s = 1, for t = T_2' + x and beta_xi = T_2'/sqrt2 <= 5/7 T_2'."""
    T, x = sym("T"), sym("x")
    room = always_positive({"room": 2 * (T + x) - (T / root_two_low + T + x)}, ("T",), ("x",))
    bound = at_most(ball(root_two_low), flint.arb(2).sqrt())
    return (room & bound & constant_moves(lab)).proving(
        "a start is at most beta_xi = T_2' eta sigma_p s / sqrt2",
        "a step moves by eta |xi_i|_1, at most eta sigma_p s by the second line of Lemma C.4 (Eq. (9))",
    )


@book.claim(
    "E.2",
    "Pairs with opposite signs",
    kind="inequality",
    where="Lemma E.2",
    source="damaged",
    parts=["signs and moves", "sizes"],
    hypotheses=[*CONDITION, fine_steps, two_events],
    uses=["E.1", "C.1", "C.4", "Beyond.starts", "Eq.10-12", "Eq.14-15"],
    statement=r"t\in[3T_2',T_2^+]:\ q=_{\rm sgn}k,\ \Delta q,\Delta k=\mathrm{sgn}\cdot\eta\|\xi_i\|_1;\quad t\in[12T_2',T_2^+]:\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading="the first display is lost in the text at hand and read off the overview; all pairs, for every constant C_1 in T_2^+",
)
def opposite_pairs(lab: Laboratory) -> dict[str, Verdict]:
    """By the kept difference of |A| and |B|."""
    return {"signs and moves": settling(lab), "sizes": linear_sizes(lab)}


@book.claim(
    "E.4",
    "All pairs after Stage II",
    kind="inequality",
    where="Remark E.4, Eq. (21)",
    parts=["(21)", "upper bound for later times"],
    hypotheses=[*CONDITION, fine_steps, two_events],
    uses=["E.2", "C.4", "Eq.8-9"],
    statement=r"t\in[12T_2',T_2^+]:\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps\ (21);\ \text{the upper bound for all later}\ t",
    reading="all pairs, those of one sign too, as the kept difference does not ask for opposite signs; the upper bound for all t >= T_2'",
)
def all_pairs(lab: Laboratory) -> dict[str, Verdict]:
    """As Lemma E.2; the upper bound by the length of moves."""
    return {"(21)": linear_sizes(lab), "upper bound for later times": upper_for_ever(lab)}


@book.claim(
    "4.3(1)",
    "Noise is linear at the end of Stage II",
    kind="order",
    main=True,
    where="Lemma 4.3 (1)",
    parts=["at T_2"],
    hypotheses=[*CONDITION, fine_steps, two_events],
    uses=["E.4", "App.E.1-times"],
    statement=r"|\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle|,|\langle w_{K,s}^{(T_2)},y_i\xi_i\rangle|=\Theta(T_2\eta\sigma_ps)",
    reading="all pairs, with the constants 1/2 and 2 of Eq. (21); C_1 so large that T_2 <= T_2^+ (App.E.1-times)",
)
def linear_at_t2(lab: Laboratory) -> Verdict:
    """T_2 = 50 n T_2' is later than 12 T_2', and at most T_2^+ for the constants C_1 of App.E.1-times."""
    return linear_sizes(lab)
