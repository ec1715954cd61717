"""Appendix E, stages I and II, on watched runs: values, alignment of queries with keys, sums of the noise."""

from __future__ import annotations

from math import sqrt

import flint
import numpy as np

from odesys import (
    Verdict,
    always_positive,
    between,
    equal,
    everywhere,
    frequency_at_most,
    graph,
    measured,
    num,
    rounded,
    sym,
)

from ..laboratory import Laboratory
from ..setting import Case
from ..special.watched_runs import Record
from .book import FLOW, NUMBERS, at_most, ball, book
from .common_checks import RUNS, later, never, on_both, opposite, predicted, window

SMALL_CASE = Case(n=4, s=100, d=401, m_k=10, m_v=10, sigma_p=1.0, sigma_0=0.01)


@book.claim(
    "Sec.E.4-start",
    "Mean value noise at the start",
    kind="inequality",
    expect="fails",
    statement=r"|\langle v^{(0)},y_i\xi_i\rangle|\le\sqrt2\beta_\xi m_v^{-1/2}",
    reading="stated without a probability, so for every start: 3000 starts with n = 4, m_k = m_v = 10; the corrected form is the bound of C.7, which holds with probability 1 - delta (delta = 1/10)",
)
def value_start(lab: Laboratory) -> Verdict:
    """Frequencies of the deterministic bound and of the probabilistic one."""
    over, above, trials = 0, 0, 3000
    for k in range(trials):
        start = lab.starts(SMALL_CASE, (4, k))
        size = np.abs(start.state.v)
        over += bool((size > sqrt(2) * start.beta_xi / sqrt(SMALL_CASE.m_v)).any())
        limit = (
            2
            * sqrt(2 * np.log(12 * SMALL_CASE.m_v * SMALL_CASE.n / 0.1) / SMALL_CASE.m_v)
            * SMALL_CASE.sigma_0
            * sqrt(SMALL_CASE.s)
        )
        above += bool((size > limit).any())
    printed = frequency_at_most(over, trials, 0.0, seeds="(4, 0) to (4, 2999)")
    fixed = frequency_at_most(above, trials, 0.1, seeds="(4, 0) to (4, 2999)")
    return printed.correcting(
        r"|\langle v^{(0)},y_i\xi_i\rangle|\le2\sqrt{2\log(12m_vn/\delta)}\,m_v^{-1/2}\sigma_0\sigma_p\sqrt s\ \text{with probability}\ 1-\delta",
        fixed,
        "the mean of m_v rows has a law of its own; the largest row does not bound it",
    )


def value_ratio(record: Record) -> Verdict:
    """v_i over theta sigma_p s from T_1 on."""
    part = later(record, record.T1)
    return between("v/(t sigma_p s)", record.run.v[part] / (record.run.times[part, None] * record.case.strength), 1, 2)


@book.claim(
    "4.1(1)",
    "Mean value noise grows linearly",
    kind="inequality",
    uses=["Eq.14-15", "C.4", "C.7"],
    statement=r"t\ge T_1:\ \langle v^{(t)},y_i\xi_i\rangle=\Theta(t\eta\sigma_ps),\quad t\eta\sigma_ps\le v_i\le2t\eta\sigma_ps",
    reading=RUNS + "all samples, all times from T_1 on, with the constants of appendix E; " + FLOW,
)
def values_linear(lab: Laboratory) -> Verdict:
    """The ratio in both runs."""
    return on_both(lab, value_ratio)


@book.claim(
    "4.1(2)",
    "Mean value signal is negligible",
    kind="order",
    uses=["Eq.14-15"],
    statement=r"t\ge T_1:\ \langle v^{(t)},\mu\rangle=o(\langle v^{(t)},y_i\xi_i\rangle)",
    reading=RUNS
    + "|v_mu|/v_i <= 2 |mu|/(sigma_p sqrt s) from T_1 on, and within 2 percent of |mu|/|xi_i|_1 from T_3 on; "
    + FLOW,
)
def signal_negligible(lab: Laboratory) -> Verdict:
    """Ratios from T_1 and from T_3 on."""

    def check(record: Record) -> Verdict:
        early, late = later(record, record.T1), later(record, record.T3)
        ratio = np.abs(record.run.v_mu[early, None]) / record.run.v[early]
        limit = record.run.v_mu[late, None] / record.run.v[late] * record.start.l1 / record.case.mu
        return between("v_mu/v over rho", ratio / record.case.rho, 0, 2) & between("limit", limit, 0.98, 1.02)

    return on_both(lab, check)


def _moves_at_t1(record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Relative moves of q and k at T_1 with the start values."""
    start, now = record.start.state, record.run.at(record.T1)
    old = np.stack([start.q, start.k])
    return np.abs(np.stack([now.q, now.k]) - old) / np.abs(old), np.abs(old)


@book.claim(
    "4.1(3)",
    "Query and key noise barely move in Stage I",
    kind="order",
    uses=["C.11"],
    expect="fails",
    statement=r"t\le T_1:\ \langle w_{Q,s}^{(t)},\xi_i\rangle=\langle w_{Q,s}^{(0)},\xi_i\rangle(1\pm o(1)),\ \langle w_{K,s}^{(t)},\xi_i\rangle\ \text{alike, for all}\ s,i",
    reading=RUNS
    + "o(1) read as 1/2, for all pairs at T_1; m_v = 4096 is log(d)^2.8 in R1, so within Condition 3.1(3); corrected: pairs with |q(0)| >= beta_xi m_v^(-1/4), which are at least half, "
    " move by at most 4 m_v^(-1/4) of it, and the median move falls like m_v^(-1/2); " + FLOW,
)
def barely_move(lab: Laboratory) -> Verdict:
    """Relative moves at T_1, all pairs, and those that are not small."""
    printed = on_both(lab, lambda record: between("relative move at T_1", _moves_at_t1(record)[0], 0, 0.5))

    def large(record: Record) -> Verdict:
        move, size = _moves_at_t1(record)
        keep = size >= record.start.beta_xi * record.case.m_v**-0.25
        return (
            between("move over 4 m_v^-1/4", move[keep] / (4 * record.case.m_v**-0.25), 0, 1)
            & between("share", [keep.mean()], 0.5, 1)
            & between("median move times m_v^1/2", [np.median(move) * sqrt(record.case.m_v)], 1, 60)
        )

    return printed.correcting(
        r"|\Delta\langle w_{Q,s},\xi_i\rangle|\le4m_v^{-1/4}|\langle w_{Q,s}^{(0)},\xi_i\rangle|\ \text{for pairs with}\ |\langle w_{Q,s}^{(0)},\xi_i\rangle|\ge\beta_\xi m_v^{-1/4}",
        on_both(lab, large),
        "the smallest of 2 m_k n start values is far below m_v^(-1/2) of the largest unless m_v is of order (m_k n)^4",
    )


# ---- Stage II --------------------------------------------------------------------------------------------------------


@book.claim(
    "4.2",
    "Signs of query and key noise align",
    kind="probability",
    uses=["E.2", "E.3", "E.6"],
    statement=r"\mathrm{sgn}\,q_{si}=\mathrm{sgn}\,k_{si}\ \text{at}\ T_2^{\rm SGN};\ \text{same signs are kept; opposite ones end as}\ \pm\ \text{with conditional probability}\ge\tfrac12-O(\delta)",
    reading=RUNS
    + "every pair is aligned at 3 T_2', at most 2 percent of the pairs that start with one sign lose it, the share of + among opposite pairs lies in its exact 99.9 percent interval around 1/2, "
    "and the sign of q + k + q_mu - k_mu at the start tells the outcome of at least 97 percent; " + FLOW,
)
def signs_align(lab: Laboratory) -> Verdict:
    """Alignment, kept signs, outcomes of opposite pairs."""

    def check(record: Record) -> Verdict:
        now, other = record.run.at(3 * record.T2_prime), opposite(record)
        start = record.start.state
        kept = np.sign(now.q)[~other] == np.sign(start.q)[~other]
        plus = int((now.q[other] > 0).sum())
        return (
            everywhere("aligned", now.q * now.k > 0)
            & between("kept", [kept.mean()], 0.98, 1)
            & between("outcome as predicted", [(np.sign(now.q) == predicted(record)).mean()], 0.97, 1)
            & _near_half(plus, int(other.sum()))
        )

    return on_both(lab, check)


def _near_half(count: int, total: int) -> Verdict:
    from scipy.stats import binomtest

    interval = binomtest(count, total).proportion_ci(confidence_level=0.999, method="exact")
    share = count / total
    return measured(
        bool(interval.low <= 0.5 <= interval.high), {"share": share}, share_of_plus=rounded(share, 5), pairs=total
    )


def pair_times(record: Record) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For every opposite pair the first times of equal signs, of equal moves, and of both with moves of that sign."""
    start, out = record.start.state, []
    found: dict[tuple[int, int], list[tuple[float, str]]] = {}
    for kind in ("q", "k", "q zero", "k zero"):
        e = record.events[kind].within(0, 20 * record.T2_prime)
        for t, r, i in zip(e.theta, e.neuron, e.sample, strict=True):
            found.setdefault((int(r), int(i)), []).append((float(t), kind))
    for r, i in np.argwhere(opposite(record)):
        sign = {"q": np.sign(start.q[r, i]), "k": np.sign(start.k[r, i])}
        move = {x: record.first[x][r, i] for x in "qk"}
        times = [np.inf] * 3
        history = sorted(found.get((int(r), int(i)), []))
        for t in sorted({0.0, *(when for when, _ in history)}):
            for when, kind in history:
                if when == t:
                    table = sign if kind.endswith("zero") else move
                    table[kind[0]] = -table[kind[0]]
            facts = (sign["q"] == sign["k"], move["q"] == move["k"], sign["q"] == sign["k"] == move["q"] == move["k"])
            for number, fact in enumerate(facts):
                if fact and times[number] == np.inf:
                    times[number] = t
        out.append(times)
    one, two, three = np.array(out).T
    return one, two, three


@book.claim(
    "E.1",
    "Order of the three times of a pair",
    kind="inequality",
    uses=["C.10", "Eq.10-13"],
    statement=r"0<T^1_{2,s,i}\le T^3_{2,s,i},\quad0<T^2_{2,s,i}\le T^3_{2,s,i}\quad\text{for pairs with opposite signs}",
    reading="R2, all opposite pairs with |q|, |k| >= 2 beta_mu (what C.10 provides) and v_i > v_mu at the start: equal signs, equal moves, and both; "
    + FLOW,
)
def three_times(lab: Laboratory) -> Verdict:
    """All three times from the events of each pair."""
    record = lab.record("R2")
    one, two, three = pair_times(record)
    s = record.start.state
    sure = (np.minimum(np.abs(s.q), np.abs(s.k)) >= 2 * record.start.beta_mu) & (s.v > s.v_mu)[None, :]
    keep = sure[opposite(record)]
    return everywhere(
        "positive and ordered", ((one > 0) & (two > 0) & (one <= three) & (two <= three) & np.isfinite(three))[keep]
    )


@book.claim(
    "Sec.E.5-times",
    "How long a pair takes",
    kind="inequality",
    uses=["E.1", "C.14"],
    statement=r"T^2_{2,s,i}\le1.5T_2',\quad T^3_{2,s,i}\le\max\{T_2',2T^2_{2,s,i}\}\le3T_2',\quad T_2'=\sqrt2\beta_\xi\eta^{-1}\sigma_p^{-1}s^{-1}",
    reading=RUNS + "all pairs with opposite signs; " + FLOW,
)
def pair_duration(lab: Laboratory) -> Verdict:
    """Times over T_2'."""

    def check(record: Record) -> Verdict:
        _, two, three = pair_times(record)
        unit = record.T2_prime
        return (
            between("T2/T2'", two / unit, 0, 1.5)
            & between("T3/T2'", three / unit, 0, 3)
            & everywhere("T3 <= max(T2', 2 T2)", three <= np.maximum(unit, 2 * two))
        )

    return on_both(lab, check)


@book.claim(
    "E.2",
    "Pairs with opposite signs",
    kind="inequality",
    uses=["Sec.E.5-times"],
    statement=r"t\in[3T_2',T_2^+]:\ q=_{\rm sgn}k,\ \Delta q,\Delta k=\mathrm{sgn}\cdot\eta\|\xi_i\|_1;\quad t\ge12T_2':\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading=RUNS
    + "T_2^+ = T_2; no turn and no zero of such a pair in [3 T_2', T_2], and the bounds at all snapshots of [12 T_2', T_2]; 12 can be 3/(1 - 2^(-1/2)) (balls); "
    + FLOW,
)
def opposite_pairs(lab: Laboratory) -> Verdict:
    """Events and sizes; the constant 12."""
    sharp = 3 / (1 - 1 / flint.arb(2).sqrt())
    return (
        on_both(lab, lambda record: _settled(record, opposite(record), 3, 12))
        & at_most(sharp, ball(12), what="(t - 3)/sqrt2 >= t/2")
    ).with_constants(instead_of_12=f"{float(sharp.mid()):.4g}")


def _settled(record: Record, pairs: np.ndarray, from_events: float, from_sizes: float) -> Verdict:
    """Chosen pairs neither turn nor cross zero, and grow linearly, up to T_2; factors are in units of T_2'."""
    unit = record.T2_prime
    verdict = never("turn or zero", record.events["q"], from_events * unit, record.T2, pairs)
    for kind in ("k", "q zero", "k zero"):
        verdict = verdict & never("turn or zero", record.events[kind], from_events * unit, record.T2, pairs)
    part = window(record, from_sizes * unit, record.T2)
    times = record.run.times[part, None] * record.case.strength
    for name in ("q", "k"):
        verdict = verdict & between(
            f"|{name}|/(t sigma_p s)", np.abs(getattr(record.run, name)[part][:, pairs]) / times, 0.5, 2
        )
    return verdict


@book.claim(
    "E.3",
    "Pairs with one sign",
    kind="inequality",
    uses=["Eq.10-13"],
    expect="fails",
    statement=r"t\in[0,T_2^+]:\ q=_{\rm sgn}k,\ \Delta q,\Delta k=\mathrm{sgn}\cdot\eta\|\xi_i\|_1;\quad t\ge T_2':\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading=RUNS
    + "from t = 0 on as printed, where half of the samples have v_i < v_mu and move the other way; corrected from T_1 on, for pairs whose |q|, |k| exceed beta_xi m_v^(-1/4) at the start; "
    + FLOW,
)
def equal_pairs(lab: Laboratory) -> Verdict:
    """First moves of pairs with one sign; the lemma from T_1 on."""

    def printed(record: Record) -> Verdict:
        s, same = record.start.state, ~opposite(record)
        return everywhere("first move with the sign", (record.first["q"] == np.sign(s.q))[same])

    def fixed(record: Record) -> Verdict:
        s = record.start.state
        sure = ~opposite(record) & (
            np.minimum(np.abs(s.q), np.abs(s.k))
            >= max(2 * record.start.beta_mu, record.start.beta_xi * record.case.m_v**-0.25)
        )
        return _settled(record, sure, record.T1 / record.T2_prime, 1)

    return on_both(lab, printed).correcting(
        r"\text{the same from}\ t_i^\times=\max\{0,\tfrac{v_\mu^{(0)}-v_i^{(0)}}{2\eta(\|\xi_i\|_1-\|\mu\|)}\}\le T_1\ \text{on}",
        on_both(lab, fixed),
        "where w_i = v_i - v_mu is negative every move of the pair is reversed",
    )


@book.claim(
    "E.4",
    "All pairs after Stage II",
    kind="inequality",
    uses=["E.2", "E.3"],
    statement=r"t\in[12T_2',T_2^+]:\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps\ (21);\ \text{the upper bound for all later}\ t",
    reading=RUNS + "all pairs, all snapshots; T_2^+ = T_2, upper bound to the end of the run; " + FLOW,
)
def all_pairs(lab: Laboratory) -> Verdict:
    """Sizes of all pairs."""

    def check(record: Record) -> Verdict:
        part, rest = window(record, 12 * record.T2_prime, record.T2), later(record, 12 * record.T2_prime)
        verdict = None
        for name in ("q", "k"):
            size = np.abs(getattr(record.run, name))
            both = between(
                f"|{name}|", size[part] / (record.run.times[part, None, None] * record.case.strength), 0.5, 2
            ) & between(
                f"|{name}| later", size[rest] / (record.run.times[rest, None, None] * record.case.strength), 0, 2
            )
            verdict = both if verdict is None else verdict & both
        assert verdict is not None
        return verdict

    return on_both(lab, check)


@book.claim(
    "4.3(1)",
    "Noise is linear at the end of Stage II",
    kind="inequality",
    uses=["E.4"],
    same_as="E.4",
    statement=r"|\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle|,|\langle w_{K,s}^{(T_2)},y_i\xi_i\rangle|=\Theta(T_2\eta\sigma_ps)",
    reading=RUNS + "constants 1/2 and 2 of (21) at T_2, and within 1 percent of sqrt(2/pi); " + FLOW,
)
def linear_at_t2(lab: Laboratory) -> Verdict:
    """Sizes at T_2."""

    def check(record: Record) -> Verdict:
        now = record.run.at(record.T2)
        theta = record.run.times[record.run.index(record.T2)]
        return between(
            "size", np.abs(np.stack([now.q, now.k])) / (theta * record.case.strength) / sqrt(2 / np.pi), 0.99, 1.01
        )

    return on_both(lab, check)


@book.claim(
    "E.5",
    "Sums of query and key noise",
    kind="inequality",
    uses=["E.4", "E.6", "C.5"],
    statement=r"\Delta\sum_iq_{si}=\Delta\sum_ik_{si}=\eta\sum_i\epsilon_{s,i}\|\xi_i\|_1\ \text{on}\ [3T_2',T_2^+];\ \Big|\sum_i\epsilon_{s,i}\|\xi_i\|_1\Big|\ge\tfrac{\sigma_ps}{\sqrt2};\ \varsigma_s\sum_iq_{si},\varsigma_s\sum_ik_{si}\ge2n\beta_\mu\ \text{on}\ [T_2,T_2^+]",
    reading=RUNS
    + "T_2^+ = T_2; (1) no turn of any pair in [3 T_2', T_2]; (2) for all neurons (n is odd, so no vote is tied); (3) at T_2; "
    + FLOW,
)
def noise_sums(lab: Laboratory) -> Verdict:
    """Constancy of moves, size of the votes, size of the sums."""

    def check(record: Record) -> Verdict:
        verdict = never("turn", record.events["q"], 3 * record.T2_prime, record.T2) & never(
            "turn", record.events["k"], 3 * record.T2_prime, record.T2
        )
        now = record.run.at(record.T2)
        epsilon = np.sign(record.run.at(3 * record.T2_prime).q)
        vote = epsilon @ record.start.l1
        sums = np.stack([now.q.sum(axis=1), now.k.sum(axis=1)]) * np.sign(vote)
        return (
            verdict
            & between("|vote|/(sigma_p s)", np.abs(vote) / record.case.strength, 1 / sqrt(2), record.case.n)
            & between("sum/(2 n beta_mu)", sums / (2 * record.case.n * record.start.beta_mu), 1, np.inf)
        )

    return on_both(lab, check)


@book.claim(
    "4.3(3)",
    "Sums of noise dominate the signals",
    kind="inequality",
    uses=["E.5"],
    same_as="E.5",
    statement=r"\Big|\sum_i\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle\Big|,\Big|\sum_i\langle w_{K,s}^{(T_2)},y_i\xi_i\rangle\Big|\ge2n\beta_\mu\ \text{for all}\ s",
    reading=RUNS
    + "part (3) of E.5 at T_2, with its size: at least 1000 times what is needed in R1, so T_2 is far too late; "
    + FLOW,
)
def sums_dominate(lab: Laboratory) -> Verdict:
    """Sums at T_2 over 2 n beta_mu."""

    def check(record: Record) -> Verdict:
        now = record.run.at(record.T2)
        sums = np.abs(np.stack([now.q.sum(axis=1), now.k.sum(axis=1)]))
        return between("sum/(2 n beta_mu)", sums / (2 * record.case.n * record.start.beta_mu), 1, np.inf)

    return on_both(lab, check).with_constants(
        T_2="50 n T_2' is pessimistic: the sums are larger than needed by the printed factors"
    )


@book.claim(
    "E.5-requirement",
    "What T_2 has to exceed",
    kind="inequality",
    uses=["E.5"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"t\ge(12+24\sqrt2n)T_2'+2n\beta_\mu\eta^{-1}\sigma_p^{-1}s^{-1}\ \Rightarrow\ -24T_2'n\eta\sigma_ps+(t-12T_2')\eta\sigma_ps/\sqrt2\ge2n\beta_\mu",
    reading="exact algebra at equality, for all positive n, T_2', beta_mu; corrected with 2 sqrt2; 50 n T_2' still suffices for beta_mu <= beta_xi/2 and every n >= 1",
)
def requirement(lab: Laboratory) -> Verdict:
    """Both sides at equality; and 50 n against the corrected requirement."""
    n, T, beta = sym("n"), sym("T"), sym("beta")  # in units with eta sigma_p s = 1, so that T_2' = sqrt2 beta_xi
    root = graph.sqrt(num(2))

    def gap(factor: graph.Node) -> graph.Node:
        t = (12 + 24 * root * n) * T + factor * n * beta
        return -24 * T * n + (t - 12 * T) / root - 2 * n * beta

    printed = always_positive({"gap": gap(num(2))}, ("n", "T", "beta"))
    right = equal({"gap": (gap(2 * root), num(0))})
    # 50 n T - (12 + 24 sqrt2 n) T - 2 sqrt2 n beta_mu with beta_mu <= T/(2 sqrt2), n = 1 + e: positive
    rest = at_most(
        ball(12) + 24 * flint.arb(2).sqrt() + 1, ball(50), n=1, what="12 + 24 sqrt2 n + n <= 50 n, growing in n"
    )
    return printed.correcting(
        r"t\ge(12+24\sqrt2n)T_2'+2\sqrt2n\beta_\mu\eta^{-1}\sigma_p^{-1}s^{-1}",
        right & rest,
        "the sum grows by eta sigma_p s / sqrt2 per step",
    )
