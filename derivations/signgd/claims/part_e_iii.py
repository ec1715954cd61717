"""Appendix E, stage III, on watched runs: values of all samples, the vote on the signals, softmax still at 1/2."""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np

from odesys import Verdict, between, certified, everywhere, identity, refuted, rounded, sym

from ..laboratory import Laboratory
from ..special.watched_runs import Record
from .book import FLOW, NUMBERS, book
from .common_checks import RUNS, later, never, on_both, quiet_pairs, window


def signal_moves(record: Record) -> np.ndarray:
    """Relative moves of the signals at T_2."""
    start, now = record.start.state, record.run.at(record.T2)
    old = np.stack([start.q_mu, start.k_mu])
    return np.abs(np.stack([now.q_mu, now.k_mu]) - old) / np.abs(old)


@book.claim(
    "E.7",
    "Signals stay near their start",
    kind="order",
    uses=["C.12"],
    statement=r"t\le T_2^+:\ |\langle w_{Q,s}^{(t)},\mu\rangle|=|\langle w_{Q,s}^{(0)},\mu\rangle|(1\pm o(1)),\ \text{signs kept; keys alike}",
    reading="R3: R2 with s = 10^16: relative moves at T_2 at most 1/50 for all neurons, no sign change before T_2; the move is T_2 |mu| for everyone and falls like n s^(-1/2), so the largest one in R2 "
    "(s = 10^12) is 50 to 200 times that of R3; in R1 (n s^(-1/2) = 0.02) it exceeds 1. What C.12 guarantees is 252 s^(-1/6) only; "
    + FLOW,
)
def signals_stay(lab: Laboratory) -> Verdict:
    """Moves in R3, against R2 and R1."""
    record = lab.record("R3")
    move = signal_moves(record)
    verdict = between("relative move", move, 0, 0.02)
    for name in ("q_mu zero", "k_mu zero"):
        verdict = verdict & never("sign change", record.events[name], 0, record.T2)
    coarse = signal_moves(lab.record("R2"))
    return (verdict & between("R2 over R3", [coarse.max() / move.max()], 50, 200)).adding(
        R2_largest=rounded(coarse.max(), 5), R1_largest=rounded(signal_moves(lab.record("R1")).max(), 5)
    )


@book.claim(
    "4.3(4)",
    "Signals stay near their start until T_2",
    kind="order",
    uses=["E.7"],
    same_as="E.7",
    statement=r"t\le T_2:\ \langle w_{Q,s}^{(t)},\mu\rangle=\langle w_{Q,s}^{(0)},\mu\rangle(1\pm o(1)),\ \langle w_{K,s}^{(t)},\mu\rangle\ \text{alike}",
    reading="as E.7, R3, at every snapshot up to T_2; " + FLOW,
)
def signals_until_t2(lab: Laboratory) -> Verdict:
    """Largest relative move over all snapshots."""
    record = lab.record("R3")
    part, s = window(record, 0, record.T2), record.start.state
    worst = [np.abs(getattr(record.run, name)[part] / getattr(s, name) - 1) for name in ("q_mu", "k_mu")]
    return between("relative move", np.stack(worst), 0, 0.02)


@book.claim(
    "E.8",
    "Mean value noise is the same for all samples",
    kind="order",
    uses=["Eq.14-15", "C.4"],
    statement=r"t\ge T_2:\ \langle v^{(t)},y_i\xi_i\rangle=2\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading=RUNS
    + "relative deviation at most 6 s^(-1/2) (three standard deviations of |xi_i|_1 are 2.3), at all times from T_2 on; "
    + FLOW,
)
def values_equal(lab: Laboratory) -> Verdict:
    """Deviation times sqrt(s)."""

    def check(record: Record) -> Verdict:
        part = later(record, record.T2)
        ratio = record.run.v[part] / (2 * record.run.times[part, None] * record.case.Lambda * record.case.mu)
        return between("deviation times sqrt s", (ratio - 1) * sqrt(record.case.s), -6, 6)

    return on_both(lab, check)


@book.claim(
    "App.E.1-value",
    "Mean value noise in the overview",
    kind="order",
    uses=["E.8"],
    expect="fails",
    statement=r"t\ge T_2:\ \langle v^{(t)},y_i\xi_i\rangle=\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))",
    reading=RUNS
    + "o(1) at most 10 s^(-1/2) times log: ratio within 1 percent of 1; Lemma E.8 has the factor 2; "
    + FLOW,
)
def overview_value(lab: Laboratory) -> Verdict:
    """Ratio of v_i to the printed law, and to twice it."""

    def check(factor: float) -> Verdict:
        def ratio(record: Record) -> Verdict:
            part = later(record, record.T2)
            return between(
                "ratio",
                record.run.v[part] / (factor * record.run.times[part, None] * record.case.Lambda * record.case.mu),
                0.99,
                1.01,
            )

        return on_both(lab, ratio)

    return check(1).correcting(
        r"=2\sqrt{2/\pi}\,t\eta\sigma_ps(1+\tilde O(s^{-1/2}))",
        check(2),
        "both classes of rows move, so v moves twice as fast",
    )


@book.claim(
    "E.9",
    "Noise goes on growing in Stage III",
    kind="inequality",
    uses=["E.4", "E.14"],
    statement=r"t\in[T_2,T_3^+]:\ q=_{\rm sgn}k,\ \text{both grow by}\ \eta\|\xi_i\|_1,\ \tfrac12t\eta\sigma_ps\le|q_{si}|,|k_{si}|\le2t\eta\sigma_ps",
    reading=RUNS + "T_3^+ = 2 T_3; no pair turns or crosses zero; " + FLOW,
)
def stage_three_noise(lab: Laboratory) -> Verdict:
    """Events and sizes on [T_2, 2 T_3]."""

    def check(record: Record) -> Verdict:
        part = window(record, record.T2, 2 * record.T3)
        sizes = np.abs(np.stack([record.run.q[part], record.run.k[part]])) / (
            record.run.times[part, None, None] * record.case.strength
        )
        return (
            quiet_pairs(record, record.T2, 2 * record.T3)
            & everywhere("one sign", record.run.q[part] * record.run.k[part] > 0)
            & between("size", sizes, 0.5, 2)
        )

    return on_both(lab, check)


@book.claim(
    "E.10",
    "Sums go on growing",
    kind="inequality",
    uses=["E.9"],
    statement=r"\sum_i\langle w_{Q,s}^{(t)},y_i\xi_i\rangle,\ \sum_i\langle w_{K,s}^{(t)},y_i\xi_i\rangle\ \text{keep their dynamics on}\ [T_2,T_3^+]",
    reading=RUNS
    + "T_3^+ = 2 T_3; |sum| grows from snapshot to snapshot by at least 1/sqrt2 sigma_p s times the time, with one sign; "
    + FLOW,
)
def sums_grow(lab: Laboratory) -> Verdict:
    """Increments of the sums between snapshots."""

    def check(record: Record) -> Verdict:
        part = window(record, record.T2, 2 * record.T3)
        verdict = None
        for name in ("q", "k"):
            sums = getattr(record.run, name)[part].sum(axis=2) * record.vote(record.T2)
            rate = np.diff(sums, axis=0) / np.diff(record.run.times[part])[:, None] / record.case.strength
            found = between(f"rate of sum {name}", rate, 1 / sqrt(2), record.case.n)
            verdict = found if verdict is None else verdict & found
        assert verdict is not None
        return verdict

    return on_both(lab, check)


def voting(record: Record, low: float, high: float) -> Verdict:
    """Query signals move with the vote of the noise at `low`, key signals against it, without a turn up to `high`."""
    vote = record.vote(low)
    verdict = never("turn of a signal", record.events["q_mu"], low, high) & never(
        "turn of a signal", record.events["k_mu"], low, high
    )
    return (
        verdict
        & everywhere("query signal with the vote", record.directions("q_mu", low) == vote)
        & everywhere("key signal against the vote", record.directions("k_mu", low) == -vote)
    )


@book.claim(
    "E.11",
    "The vote decides the signals",
    kind="inequality",
    uses=["E.5", "E.8", "E.14", "E.15"],
    statement=r"t\in[T_2,T_3^+]:\ \langle\Delta w_{Q,s},\mu\rangle=\mathrm{sgn}\Big(\sum_i\langle w_{Q,s}^{(T_2)},y_i\xi_i\rangle\Big)\eta\|\mu\|,\ \langle\Delta w_{K,s},\mu\rangle=-(\text{same})",
    reading=RUNS + "all neurons, every step of [T_2, 2 T_3]; " + FLOW,
)
def vote_rule(lab: Laboratory) -> Verdict:
    """Directions and turns of the signals."""
    return on_both(lab, lambda record: voting(record, record.T2, 2 * record.T3))


@book.claim(
    "4.4(1)",
    "Noise decides the sign of signals by majority",
    kind="inequality",
    uses=["E.11"],
    same_as="E.11",
    statement=r"t\in[T_2,T_3]:\ \mathrm{sgn}\,\Delta q_{s\mu}=\mathrm{sgn}\sum_ik_{si},\ \mathrm{sgn}\,\Delta k_{s\mu}=-\mathrm{sgn}\sum_iq_{si}",
    reading=RUNS + "all neurons, every step of [T_2, T_3], with the sums of that time, which keep their sign; " + FLOW,
)
def majority(lab: Laboratory) -> Verdict:
    """Directions of signals, and the sums at all snapshots."""

    def check(record: Record) -> Verdict:
        part = window(record, record.T2, record.T3)
        same = np.sign(record.run.k[part].sum(axis=2)) == record.vote(record.T2)
        return voting(record, record.T2, record.T3) & everywhere("sum of keys keeps the vote", same)

    return on_both(lab, check)


@book.claim(
    "E.11-weights",
    "Weights 1 + o(1) are enough for a vote",
    kind="inequality",
    uses=["E.11"],
    expect="fails",
    insensitive=NUMBERS,
    statement=r"w_i=1\pm o(1)\ \Rightarrow\ \mathrm{sgn}\sum_iw_i\epsilon_i=\mathrm{sgn}\sum_i\epsilon_i",
    reading="a vote won by one of n = 21 samples with weights within 1/10 of 1, as in the proofs of E.11, E.20, E.23, E.24, E.34; a vote with margin S keeps its sign iff weights are within |S|/n: o(1/n), that is "
    "n s^(-1/2) = o(1) or d >> n^8; exact algebra for all n",
)
def weights(lab: Laboratory) -> Verdict:
    """The worst weights for a vote won by one."""
    n, delta = 21, Fraction(1, 10)
    worst = Fraction(n + 1, 2) * (1 - delta) - Fraction(n - 1, 2) * (1 + delta)
    printed = (
        refuted(
            {
                "n": n,
                "margin of the vote": 1,
                "weights": "9/10 for the majority, 11/10 for the minority",
                "weighted sum": str(worst),
            }
        )
        if worst < 0
        else certified()
    )
    N, S, d = sym("n"), sym("S"), sym("delta")
    law = identity({"worst": (N + S) / 2 * (1 - d) - (N - S) / 2 * (1 + d) - (S - N * d)})
    return printed.correcting(
        r"w_i=1\pm\delta\ \text{with}\ \delta<|\textstyle\sum_i\epsilon_i|/n",
        law,
        "the majority can be larger by one sample only",
    )


@book.claim(
    "E.12",
    "Signals are linear in Stage III",
    kind="inequality",
    uses=["E.11"],
    statement=r"t\in[T_3,T_3^+]:\ \tfrac12t\eta\|\mu\|\le\varsigma_sq_{s\mu}\le\tfrac43t\eta\|\mu\|\ (24),\ -\tfrac43t\eta\|\mu\|\le\varsigma_sk_{s\mu}\le-\tfrac12t\eta\|\mu\|\ (25)",
    reading="R2 (in R1 T_2/T_3 = 0.6 instead of o(1)): all neurons, all snapshots of [T_3, 2 T_3], with the vote at T_2; "
    + FLOW,
)
def signals_linear(lab: Laboratory) -> Verdict:
    """Ratios of the signals to the time."""
    record = lab.record("R2")
    part, vote = window(record, record.T3, 2 * record.T3), record.vote(record.T2)
    t = record.run.times[part, None] * record.case.mu
    return between("query", record.run.q_mu[part] * vote / t, 0.5, 4 / 3) & between(
        "key", -record.run.k_mu[part] * vote / t, 0.5, 4 / 3
    )


@book.claim(
    "E.13",
    "Upper bounds of signals for ever",
    kind="inequality",
    uses=["E.12", "Eq.8-9"],
    statement=r"t\ge T_3:\ \varsigma_sq_{s\mu}\le\tfrac43t\eta\|\mu\|,\ \varsigma_sk_{s\mu}\ge-\tfrac43t\eta\|\mu\|",
    reading=RUNS + "all snapshots from T_3 on; " + FLOW,
)
def signals_bounded(lab: Laboratory) -> Verdict:
    """Largest ratio of a signal to the time."""

    def check(record: Record) -> Verdict:
        part = later(record, record.T3)
        size = np.abs(np.stack([record.run.q_mu[part], record.run.k_mu[part]])) / (
            record.run.times[part, None] * record.case.mu
        )
        return between("size", size, 0, 4 / 3)

    return on_both(lab, check)


@book.claim(
    "4.4(2)",
    "Signals at T_3",
    kind="inequality",
    uses=["E.12"],
    same_as="E.12",
    statement=r"\langle w_{Q,s}^{(T_3)},\mu\rangle=\mathrm{sgn}\Big(\sum_iq_{si}\Big)\Theta(T_3\eta\|\mu\|),\ \langle w_{K,s}^{(T_3)},\mu\rangle=-\mathrm{sgn}(\cdot)\Theta(T_3\eta\|\mu\|)",
    reading="R2, constants 1/2 and 4/3 at T_3, sums of that time; " + FLOW,
)
def signals_at_t3(lab: Laboratory) -> Verdict:
    """Signals at T_3."""
    record = lab.record("R2")
    theta = record.run.times[record.run.index(record.T3)]
    now, vote = record.run.at(record.T3), record.vote(record.T3)
    return between("query", now.q_mu * vote / theta, 0.5, 4 / 3) & between("key", -now.k_mu * vote / theta, 0.5, 4 / 3)


def softmax_near_half(record: Record, low: float, high: float, allowed: float) -> Verdict:
    """Both softmax weights within `allowed` of 1/2."""
    part = window(record, low, high)
    return between("s11 - 1/2", record.seen.s11[part] - 0.5, -allowed, allowed) & between(
        "s21 - 1/2", record.seen.s21[part] - 0.5, -allowed, allowed
    )


@book.claim(
    "4.3(2)",
    "Softmax stays at 1/2 in Stage II",
    kind="order",
    uses=["E.14"],
    statement=r"t\le T_2:\ s_{i,11}^{(t)}=\tfrac12\pm o(1),\ s_{i,21}^{(t)}=\tfrac12\pm o(1)",
    reading=RUNS + "o(1) as 1/1000, all samples, all snapshots up to T_2; " + FLOW,
)
def softmax_stage_two(lab: Laboratory) -> Verdict:
    """Deviations up to T_2."""
    return on_both(lab, lambda record: softmax_near_half(record, 0, record.T2, 1e-3))


@book.claim(
    "4.4(3)",
    "Softmax stays at 1/2 in Stage III",
    kind="order",
    uses=["E.14"],
    statement=r"t\in[T_2,T_3]:\ s_{i,11}^{(t)}=\tfrac12\pm o(1),\ s_{i,21}^{(t)}=\tfrac12\pm o(1)",
    reading=RUNS + "o(1) as 1/1000, all samples, all snapshots of [T_2, T_3]; " + FLOW,
)
def softmax_stage_three(lab: Laboratory) -> Verdict:
    """Deviations on [T_2, T_3]."""
    return on_both(lab, lambda record: softmax_near_half(record, record.T2, record.T3, 1e-3))


@book.claim(
    "App.E.1-sums",
    "Growth of sums in the overview",
    kind="inequality",
    uses=["E.10"],
    expect="fails",
    statement=r"\sum_iq_{si}^{(t+1)}\ge\sum_iq_{si}^{(t)}+\mathrm{sgn}\Big(\sum_iq_{si}^{(t)}\Big)\tfrac1{\sqrt2}\eta\sigma_ps,\ \text{keys alike}",
    reading=RUNS
    + "between snapshots of [T_2, 2 T_3], all neurons: for a negative vote the right side is the smallest decrease, not the largest; corrected with sizes, |sum| grows by at least that; "
    + FLOW,
)
def printed_sums(lab: Laboratory) -> Verdict:
    """Increments over the time, with and without the sign of the vote."""

    def rates(record: Record) -> tuple[np.ndarray, np.ndarray]:
        part, vote = window(record, record.T2, 2 * record.T3), record.vote(record.T2)
        rate = (
            np.diff(record.run.q[part].sum(axis=2), axis=0)
            / np.diff(record.run.times[part])[:, None]
            / record.case.strength
        )
        return rate - vote / sqrt(2), rate * vote - 1 / sqrt(2)

    printed = on_both(lab, lambda record: between("above the bound", rates(record)[0], 0, np.inf))
    fixed = on_both(lab, lambda record: between("above the bound", rates(record)[1], 0, np.inf))
    return printed.correcting(
        r"\Big|\sum_iq_{si}^{(t+1)}\Big|\ge\Big|\sum_iq_{si}^{(t)}\Big|+\tfrac1{\sqrt2}\eta\sigma_ps",
        fixed,
        "negative sums fall",
    )
