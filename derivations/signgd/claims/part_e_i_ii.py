"""Appendix E, stages I and II, along the path: values, alignment of queries with keys, sums of the noise."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import flint
import numpy as np

from odesys import ZERO, Node, Verdict, always_positive, between, enumerate_all, everywhere, sym

from ..laboratory import Laboratory
from ..special.watched_runs import Record
from .book import NUMBERS, at_most, ball, book
from .common_checks import never, opposite, window
from .common_hypotheses import large_noise, taken
from .common_orders import given
from .common_path import STEP, UNTIED, on_path
from .part_d_gradients import constant_moves
from .part_d_recursion import gauge

root_two_low, root_two_high = Fraction(7, 5), Fraction(17, 12)


# ---- Stage II --------------------------------------------------------------------------------------------------------


def _aligned(record: Record) -> Verdict:
    now = record.run.at(3 * record.T2_prime)
    return everywhere("aligned", now.q * now.k > 0)


def _kept(record: Record) -> Verdict:
    """All pairs of one sign have kept it."""
    now, same = record.run.at(3 * record.T2_prime), ~opposite(record)
    return everywhere("kept", (np.sign(now.q) == np.sign(record.start.state.q))[same])


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


on_path(
    "4.2",
    "Signs of query and key noise align",
    {"aligned": _aligned, "(1) same signs are kept": _kept},
    proved={"(2) opposite signs": _fair_outcome},
    main=True,
    where="Lemma 4.2",
    printed=lambda case: 0.9,
    kind="probability",
    uses=["E.2", "E.3", "E.6"],
    statement=r"\mathrm{sgn}\,q_{si}=\mathrm{sgn}\,k_{si}\ \text{at}\ T_2^{\rm SGN};\ \text{same signs are kept; opposite ones end as}\ \pm\ \text{with conditional probability}\ge\tfrac12-O(\delta)",
    reading="aligned and (1): all pairs at once, with probability 1 - delta, delta = 1/10; (2) for each pair, 1/2 by symmetry",
)


def pair_times(record: Record) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every opposite pair the first times of equal signs, of equal moves, and of both with moves of that sign."""
    start, kinds = record.start.state, ("q", "k", "q zero", "k zero")
    table = np.stack([record.first["q"], record.first["k"], np.sign(start.q), np.sign(start.k)]).reshape(4, -1)
    parts = [record.events[kind].within(0, 20 * record.T2_prime) for kind in kinds]
    when = np.concatenate([part.theta for part in parts])
    which = np.repeat(np.arange(4), [len(part) for part in parts])
    pair = np.concatenate([part.neuron * start.q.shape[1] + part.sample for part in parts])
    order = np.lexsort((when, pair))
    pair, when = pair[order], when[order]
    turns = np.cumsum(np.arange(4)[:, None] == which[order], axis=1)  # of each kind, over all pairs so far
    last = np.append((np.diff(pair) != 0) | (np.diff(when) != 0), True)[
        : len(pair)
    ]  # all that happens at one time is in
    begin = np.searchsorted(pair, pair[last])
    before = np.where(begin > 0, turns[:, begin - 1], 0) if len(pair) else turns
    now = table[:, pair[last]] * np.where((turns[:, last] - before) % 2, -1, 1)
    times = np.where(_facts(table), 0.0, np.inf)
    times[:, pair[last][when[last] == 0]] = np.inf  # what happens in the first step counts from then on
    for number, fact in enumerate(_facts(now)):
        np.minimum.at(times[number], pair[last][fact], when[last][fact])
    one, two, three = times.reshape(3, *start.q.shape)[:, opposite(record)]
    return one, two, three


def _facts(table: np.ndarray) -> np.ndarray:
    """Of moves and signs of queries and keys: equal signs, equal moves, and all four equal."""
    move_q, move_k, sign_q, sign_k = table
    signs, moves = sign_q == sign_k, move_q == move_k
    return np.stack([signs, moves, signs & moves & (sign_k == move_q)])


def _durations(record: Record) -> Verdict:
    _, two, three = pair_times(record)
    unit = record.T2_prime
    return (
        between("T2/T2'", two / unit, 0, 1.5)
        & between("T3/T2'", three / unit, 0, 3)
        & everywhere("T3 <= max(T2', 2 T2)", three <= 1.02 * np.maximum(unit, 2 * two))
    )


on_path(
    "Sec.E.5-times",
    "How long a pair takes",
    {"times": _durations},
    where="Appendix E.5, bounds of T_2^2 and T_2^3 before Lemma E.2",
    origin="proof",
    uses=["E.1", "C.14"],
    statement=r"T^2_{2,s,i}\le1.5T_2',\quad T^3_{2,s,i}\le\max\{T_2',2T^2_{2,s,i}\}\le3T_2',\quad T_2'=\sqrt2\beta_\xi\eta^{-1}\sigma_p^{-1}s^{-1}",
    reading="all pairs with opposite signs; times of a run are known to two percent",
)


def _quiet(record: Record, pairs: np.ndarray, low: float) -> Verdict:
    """Chosen pairs neither turn nor cross zero from `low` to T_2."""
    verdict = never("turn or zero", record.events["q"], low, record.T2, pairs)
    for kind in ("k", "q zero", "k zero"):
        verdict = verdict & never("turn or zero", record.events[kind], low, record.T2, pairs)
    return verdict


def _sizes(record: Record, pairs: np.ndarray, low: float) -> Verdict:
    """Sizes of chosen pairs over t sigma_p s from `low` to T_2 are between 1/2 and 2."""
    part = window(record, low, record.T2)
    times = record.run.times[part, None] * record.case.strength
    both = np.stack([record.run.q[part][:, pairs], record.run.k[part][:, pairs]])
    return between("size", np.abs(both) / times, 0.5, 2)


def same_sign_sizes(record: Record) -> Verdict:
    """Sizes of all pairs that start with one sign, from T_2' to T_2."""
    return _sizes(record, ~opposite(record), STEP * record.T2_prime)


on_path(
    "E.2",
    "Pairs with opposite signs",
    {
        "signs and moves": lambda record: _quiet(record, opposite(record), 3.06 * record.T2_prime),
        "sizes": lambda record: _sizes(record, opposite(record), 12 * record.T2_prime),
    },
    where="Lemma E.2",
    source="damaged",
    uses=["Sec.E.5-times"],
    statement=r"t\in[3T_2',T_2^+]:\ q=_{\rm sgn}k,\ \Delta q,\Delta k=\mathrm{sgn}\cdot\eta\|\xi_i\|_1;\quad t\ge12T_2':\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading="the first display is lost in the text at hand and read off the overview; T_2^+ is T_2 here, times known to two percent",
)


on_path(
    "Beyond.same-sign",
    "Pairs that start with one sign have settled at 3 T_2'",
    {"signs and moves": lambda record: _quiet(record, ~opposite(record), 3.06 * record.T2_prime)},
    where="",
    origin="ours",
    uses=["E.1", "C.14"],
    repairs=["E.3"],
    statement=r"q_{si}^{(0)}k_{si}^{(0)}>0,\ t\in[3T_2',T_2]:\ q_{si}=_{\rm sgn}k_{si},\ \Delta q_{si},\Delta k_{si}=\mathrm{sgn}\cdot\eta\|\xi_i\|_1",
    reading="what later lemmas use of E.3: all pairs of one sign neither turn nor cross zero from 3 T_2' on; times known to two percent",
)


def _upper_for_ever(lab: Laboratory) -> Verdict:
    """2 t minus beta_xi + t, in units with eta sigma_p s = 1, for t = T_2' + x and beta_xi = T_2'/sqrt2 <= 5/7 T_2'."""
    T, x = sym("T"), sym("x")
    room = always_positive({"room": 2 * (T + x) - (T / root_two_low + T + x)}, ("T",), ("x",))
    bound = at_most(ball(root_two_low), flint.arb(2).sqrt())
    return (room & bound & constant_moves(lab)).proving(
        "a start is at most beta_xi = T_2' eta sigma_p s / sqrt2",
        "a step moves by eta |xi_i|_1, at most eta sigma_p s by the second line of Lemma C.4 (Eq. (9))",
    )


def _all_sizes(record: Record) -> Verdict:
    part = window(record, 12 * record.T2_prime, record.T2)
    return between("size", record.sizes[:, part] / (record.run.times[part] * record.case.strength), 0.5, 2)


on_path(
    "E.4",
    "All pairs after Stage II",
    {
        "(21)": _all_sizes,
    },
    proved={"upper bound for later times": _upper_for_ever},
    where="Remark E.4, Eq. (21)",
    uses=["E.2", "E.3", "C.4", "Eq.8-9"],
    statement=r"t\in[12T_2',T_2^+]:\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps\ (21);\ \text{the upper bound for all later}\ t",
    reading="all pairs; T_2^+ is T_2 in runs; the upper bound for all t >= T_2', by the length of moves",
)


def _linear_at_t2(record: Record) -> Verdict:
    place = record.run.index(record.T2)
    return between("size", record.sizes[:, place] / (record.run.times[place] * record.case.strength), 0.5, 2)


on_path(
    "4.3(1)",
    "Noise is linear at the end of Stage II",
    {"at T_2": _linear_at_t2},
    main=True,
    where="Lemma 4.3 (1)",
    uses=["E.4"],
    statement=r"|\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle|,|\langle w_{K,s}^{(T_2)},y_i\xi_i\rangle|=\Theta(T_2\eta\sigma_ps)",
    reading="all pairs, with the constants 1/2 and 2 of Eq. (21)",
)


def _no_turn(record: Record) -> Verdict:
    low = 3.06 * record.T2_prime
    return never("turn", record.events["q"], low, record.T2) & never("turn", record.events["k"], low, record.T2)


def _vote(record: Record) -> np.ndarray:
    return np.asarray(np.sign(record.run.at(3 * record.T2_prime).q) @ record.start.l1)


def _vote_size(record: Record) -> Verdict:
    return between("|vote|/(sigma_p s)", np.abs(_vote(record)) / record.case.strength, 1 / sqrt(2), np.inf)


def _sum_size(record: Record) -> Verdict:
    now = record.run.at(record.T2)
    sums = np.stack([now.q.sum(axis=1), now.k.sum(axis=1)]) * np.sign(_vote(record))
    return between("sum/(2 n beta_mu)", sums / (2 * record.case.n * record.start.beta_mu), 1, np.inf)


on_path(
    "E.5",
    "Sums of query and key noise",
    {"1. direction": _no_turn, "2. magnitude of the update": _vote_size, "3. magnitude of the sums": _sum_size},
    supposing=[UNTIED],
    where="Lemma E.5",
    uses=["E.4", "E.6", "C.5", "Eq.23"],
    statement=r"\Delta\sum_iq_{si}=\Delta\sum_ik_{si}=\eta\sum_i\epsilon_{s,i}\|\xi_i\|_1\ \text{on}\ [3T_2',T_2^+];\ \Big|\sum_i\epsilon_{s,i}\|\xi_i\|_1\Big|\ge\tfrac{\sigma_ps}{\sqrt2};\ \varsigma_s\sum_iq_{si},\varsigma_s\sum_ik_{si}\ge2n\beta_\mu\ \text{on}\ [T_2,T_2^+]",
    reading="all neurons; no vote is tied; T_2^+ is T_2 here",
)

on_path(
    "4.3(3)",
    "Sums of noise dominate the signals",
    {"sums": _sum_size},
    main=True,
    supposing=[UNTIED],
    where="Lemma 4.3 (3)",
    uses=["E.5"],
    same_as="E.5",
    statement=r"\text{with probability at least}\ 1-\delta:\ \Big|\sum_i\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle\Big|,\Big|\sum_i\langle w_{K,s}^{(T_2)},y_i\xi_i\rangle\Big|\ge2n\beta_\mu\ \text{for all}\ s",
    reading="all neurons at T_2; no vote is tied",
)


def _units() -> tuple[Node, Node, Node, Verdict]:
    """n = 1 + e, T_2' >= 2 sqrt2 beta_mu and beta_mu, in units with eta sigma_p s = 1; and bounds of sqrt2."""
    bounds = at_most(ball(root_two_low), flint.arb(2).sqrt()) & at_most(flint.arb(2).sqrt(), ball(root_two_high))
    return 1 + sym("e"), 2 * sym("beta") * root_two_low + sym("r"), sym("beta"), bounds


@book.claim(
    "E.5-requirement",
    "What T_2 exceeds",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma E.5, what T_2 exceeds",
    parts=["T_2 exceeds it"],
    hypotheses=[large_noise],
    uses=["C.10"],
    insensitive=NUMBERS,
    statement=r"T_2=50nT_2'\ge(12+24\sqrt2n)T_2'+2n\beta_\mu\eta^{-1}\sigma_p^{-1}s^{-1}",
    reading="for every n, with T_2' = sqrt2 beta_xi / (eta sigma_p s)",
)
def requirement(lab: Laboratory) -> Verdict:
    """With sqrt2 < 17/12."""
    n, T, beta, bounds = _units()
    least = 50 * n * T - ((12 + 24 * root_two_high * n) * T + 2 * n * beta)
    return always_positive({"gap": least}, ("beta",), ("e", "r")) & bounds


@book.claim(
    "Eq.23",
    "Sums of noise are large from T_2 on",
    kind="inequality",
    origin="proof",
    where="Proof of Lemma E.5, Eq. (23)",
    parts=["(23)"],
    hypotheses=[large_noise, taken("a positive vote", r"|E_{s,+}|-|E_{s,-}|\ge1")],
    uses=["C.10", "E.4", "C.5", "E.5-requirement"],
    insensitive=NUMBERS,
    statement=r"t\in[T_2,T_2^+]:\ \sum_iq_{si},\sum_ik_{si}\ge2n\beta_\mu\ (23)",
    reading="from sums of at least -24 T_2' n eta sigma_p s at 12 T_2' (E.4) that grow by eta sigma_p s / sqrt2 in each step, Eq. (22)",
)
def sums_from_t2(lab: Laboratory) -> Verdict:
    """sqrt2 times the sum at T_2 + u, minus sqrt2 2 n beta_mu."""
    (n, T, beta, bounds), u = _units(), sym("u")
    sums = -24 * root_two_high * n * T + (50 * n * T + u - 12 * T) - root_two_high * 2 * n * beta
    found = always_positive({"gap": sums}, ("beta",), ("e", "r", "u")) & bounds
    return given(found, "Remark E.4", "Eq. (22) of Lemma E.5").with_constants(
        needed="(12 + 24 sqrt2 n) T_2' + 2 sqrt2 n beta_mu / (eta sigma_p s), which T_2 exceeds as well"
    )
