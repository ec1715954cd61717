"""Appendix E, stages I and II, along the path: what is proved about pairs and their sums is also seen in runs."""

from __future__ import annotations

import numpy as np

from odesys import Verdict, between, everywhere

from ..special.watched_runs import Record
from .common_checks import never, opposite, window
from .common_path import STEP, on_path


def _aligned(record: Record) -> Verdict:
    now = record.run.at(3 * record.T2_prime)
    return everywhere("aligned", now.q * now.k > 0)


def _kept(record: Record) -> Verdict:
    """All pairs of one sign have kept it, of those with |q|, |k| >= 2 beta_mu at the start (Lemma C.10)."""
    now, old = record.run.at(3 * record.T2_prime), record.start.state
    large = (np.abs(old.q) >= 2 * record.start.beta_mu) & (np.abs(old.k) >= 2 * record.start.beta_mu)
    return everywhere("kept", (np.sign(now.q) == np.sign(old.q))[~opposite(record) & large])


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


def _all_sizes(record: Record) -> Verdict:
    part = window(record, 12 * record.T2_prime, record.T2)
    return between("size", record.sizes[:, part] / (record.run.times[part] * record.case.strength), 0.5, 2)


on_path(
    "Beyond.stage-two",
    "Stage II as runs have it",
    {
        "aligned at 3 T_2'": _aligned,
        "same signs are kept": _kept,
        "T^2 and T^3": _durations,
        "signs and moves": lambda record: _quiet(record, opposite(record), 3.06 * record.T2_prime),
        "(21)": _all_sizes,
    },
    where="",
    origin="ours",
    uses=["4.2", "Sec.E.5-times", "E.2", "E.4"],
    statement=r"\text{Lemmas 4.2 and E.2, the bounds of}\ T^2_{2,s,i},T^3_{2,s,i}\ \text{and Eq. (21), on}\ [0,T_2]",
    reading="all pairs of each run, kept signs of those with |q|, |k| >= 2 beta_mu; what is proved for large sizes, along the path; times known to two percent",
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
