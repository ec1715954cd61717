"""Trajectories of drawn training sets inside Condition 4.1, with the printed times, and events that are judged over seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt
from typing import Any

import numpy as np

from odesys import IntegrationError, Verdict, with_high_probability

from ..laboratory import Laboratory
from ..setting import Case
from ..special.conditions import Inside
from ..special.wide_flow import Snapshot, draw, follow
from .common_hypotheses import base

DRAWN = "read off the flow of drawn training sets, whose gradients are written by hand"
EARLY, LATE = 12, 16  # records of stage 2 and of stage 3
ROUNDING = 1e-9  # of log(exp(x)); at T_1 both sides of a bound are equal


def time_one(case: Case, benign: bool) -> float:
    """eta T_1, as printed in D.5 and E.3."""
    h, M = case.d_h**-0.25, case.M
    if benign:
        return 10 * M * (3 * M + 1) * case.N * h / ((case.N * case.m_s - 60 * M**2 * case.m_2) * case.w2)
    return 4 * M * (3 * M + 1) * case.N * h / ((case.C_p**2 - 24 * M) * case.noise * case.w2)


def unit_time(case: Case, benign: bool) -> float:
    """1/(mu^2 |w_O|^2), or N/(sigma_p^2 d |w_O|^2): the unit of all later times."""
    return 1 / (case.m_s * case.w2) if benign else case.N / (case.noise * case.w2)


@dataclass(frozen=True, eq=False)
class Stages:
    """Trajectories of several seeds: records of stage 1, of stage 2 from T_1 to T_2, and of stage 3 to the loss eps."""

    inside: Inside
    benign: bool
    first: Sequence[Snapshot]
    second: Sequence[Snapshot]
    third: Sequence[Snapshot]

    @property
    def case(self) -> Case:
        """The case."""
        return self.second[0].batch.case

    @property
    def unit(self) -> float:
        """The unit of time."""
        return unit_time(self.case, self.benign)

    @property
    def winner(self) -> int:
        """The token that wins: the signal, or the first noise token."""
        return 0 if self.benign else 1


def stages_of(inside: Inside, seeds: tuple[int, ...]) -> Stages:
    """The flow of these seeds from the start to the training loss eps (or 64 units of time over eps)."""
    case, benign = inside.case, inside.n_snr2 > 4
    one, two = time_one(case, benign), unit_time(case, benign) / inside.widths[2]
    if one >= two:
        raise IntegrationError("stage 2 is empty: the printed T_1 is after T_2, d_h is too small", time=one)
    late = np.geomspace(2 * two, 64 * unit_time(case, benign) / inside.eps, 3 * LATE)
    times = np.concatenate([[one / 16, one / 4], np.geomspace(one, two, EARLY), late])
    found = follow(draw(case, seeds), times, inside.eps)
    return Stages(inside, benign, found[:3], found[3 : EARLY + 3], found[EARLY + 2 :])


stages = lru_cache(maxsize=4)(stages_of)


Event = Callable[[Stages], Any]  # of each seed, whether it was seen


def probable(lab: Laboratory, what: str, benign: bool, event: Event, inside: Inside | None = None) -> Verdict:
    """An event along the trajectories has high probability, at the book's point of the regime or a new one."""
    place = inside or base(lab.draw, benign)
    return with_high_probability(what, place.point, lambda seeds: list(event(stages(place, seeds))), lab.draw)


# ---- what propositions are made of: one array (records, seeds) each --------------------------------------------------


def each(records: Sequence[Snapshot], test: Callable[[Snapshot], np.ndarray]) -> np.ndarray:
    """A test at every record: (records, seeds)."""
    return np.array([test(s) for s in records], dtype=bool)


def all_of(x: np.ndarray) -> np.ndarray:
    """All entries of each seed."""
    return np.asarray(x.reshape(len(x), -1).all(axis=1))


def dominates(run: Stages, s: Snapshot) -> np.ndarray:
    """The winner's value is at least 3M times every other one of its sample."""
    v, k = s.values, run.winner
    rest = np.abs(np.delete(v, k, axis=2)).max(axis=2)
    return all_of((v[:, :, k] >= 3 * run.case.M * rest) & (v[:, :, k] > 0))


def start_bound(run: Stages) -> float:
    """Twice the bound of C.3 for inner products that start at zero, with the longest tokens: at most 4 C_p^2/L by (8)."""
    case = run.case
    return 4 * max(case.m_s, case.m_2) * case.sigma_h**2 * sqrt(case.d_h * run.inside.widths[2])


def norms_keep(run: Stages, s: Snapshot) -> np.ndarray:
    """Norms are between half and 3/2 of their mean at the start, and other products of queries, or keys, stay small."""
    mean = run.case.kappa * s.batch.lengths
    off = 1 - np.eye(run.case.P)
    good = [np.abs(np.diagonal(x, axis1=1, axis2=2) / mean - 1) <= 0.5 for x in (s.Q, s.K)]
    small = [np.abs(x * off) <= start_bound(run) for x in (s.Q, s.K)]
    return np.asarray(np.all([all_of(g) for g in (*good, *small)], axis=0))


def rates_within(s: Snapshot) -> np.ndarray:
    """Rates of the scores within samples, (s, N, row, key)."""
    where = s.batch.places
    seed = np.arange(len(where))[:, None, None, None]
    return np.asarray(s.rates["S"][seed, where[:, :, :, None], where[:, :, None, :]])


def monotone(run: Stages, s: Snapshot) -> np.ndarray:
    """Scores of the winning key rise in every row, all others fall."""
    rate, k = rates_within(s), run.winner
    return all_of(rate[:, :, :, k] >= 0) & all_of(np.delete(rate, k, axis=3) <= 0)


def moved(run: Stages, s: Snapshot, salt: int, most: float) -> Snapshot:
    """Another state: noise values drawn up to 1/(3M) of the winner's, each gap widened by 0, half of `most` or `most`.

    So attentions of different samples differ by factors up to e^most; scores between samples and norms stay.
    """
    rng, case, where = np.random.default_rng((salt, 17)), run.case, s.batch.places
    seed = np.arange(len(where))[:, None]
    V, win = s.V.copy(), where[:, :, run.winner]
    least = np.abs(V[seed, win]).min(axis=1)[:, None]
    others = np.delete(where, run.winner, axis=2).reshape(len(where), -1)
    V[seed, others] = rng.uniform(-1, 1, others.shape) * least / (3 * case.M)
    pairs = np.zeros(s.S.shape, dtype=bool)
    four = np.arange(len(where))[:, None, None, None]
    pairs[four, where[:, :, :, None], where[:, :, None, :]] = True
    winners = np.zeros(V.shape, dtype=bool)
    winners[seed, win] = True
    bump = most / 2 * rng.integers(0, 2, s.S.shape) * np.where(winners[:, None, :], 1, -1)
    return Snapshot(s.batch, s.time, s.S + np.where(pairs, bump, 0.0), s.Q, s.K, V)


def twice(run: Stages, s: Snapshot) -> np.ndarray:
    """The winning key gains at least twice what any other key of the row gains, and no less: the gaps Psi grow."""
    rate, k = rates_within(s), run.winner
    own, rest = rate[:, :, :, k : k + 1], np.delete(rate, k, axis=3)
    return all_of(own >= 2 * rest) & all_of(own >= rest)


def gaps(run: Stages, s: Snapshot) -> np.ndarray:
    """Lambda or Psi: the winner's score less each other one, (s, N, row, key)."""
    S, k = s.scores, run.winner
    return np.asarray(S[:, :, :, k : k + 1] - np.delete(S, k, axis=3))


def gap_growth(run: Stages, s: Snapshot, constant: float) -> np.ndarray:
    """The logarithmic lower bounds of the gaps since T_1, with this constant, in every row."""
    case, first, L = run.case, run.second[0], run.inside.widths[2]
    tau2 = (s.time - first.time) ** 2
    common = constant * case.w2 * sqrt(case.d_h) / L**2 * tau2
    unit = case.m_s / case.N if run.benign else case.noise / case.N**2
    rows = np.array([case.m_s, *[case.noise] * (case.M - 1)])[None, None, :, None]
    return all_of(gaps(run, s) >= np.log(np.exp(gaps(run, first)) + common * unit * rows) - ROUNDING)


def scores_below(run: Stages, s: Snapshot, most: float) -> np.ndarray:
    """Scores within samples are at most this in size, and scores between samples and between signals stay small."""
    where, P = s.batch.places, run.case.P
    apart = np.ones((len(where), P, P), dtype=bool)
    apart[np.arange(len(where))[:, None, None, None], where[:, :, :, None], where[:, :, None, :]] = False
    apart[:, :2, 2:] = apart[:, 2:, :2] = False  # a signal and the noise of the other class: read by nothing
    cross = np.where(apart, np.abs(s.S), 0.0)
    return all_of(np.abs(s.scores) <= most) & all_of(cross <= start_bound(run))


def sizes(run: Stages, s: Snapshot, most: float) -> np.ndarray:
    """Scores are at most this in size; in the harmful regime that is for the gaps Psi, and scores may be twice as large."""
    if run.benign:
        return scores_below(run, s, most)
    return scores_below(run, s, 2 * most) & all_of(np.abs(gaps(run, s)) <= most)


def half_log(run: Stages) -> float:
    """log d_h^(1/2)."""
    return 0.5 * log(run.case.d_h)


def implied(premises: Sequence[np.ndarray], conclusion: np.ndarray, strict: Sequence[int] = ()) -> np.ndarray:
    """At every record: where the premises held at all records so far, the conclusion holds at the next one.

    Premises whose place is in `strict` are asked for up to the record before the last one only.
    """
    good = np.ones(conclusion.shape[1], dtype=bool)
    for k in range(len(conclusion) - 1):
        held = np.ones(conclusion.shape[1], dtype=bool)
        for place, premise in enumerate(premises):
            held &= premise[: k if place in strict else k + 1].all(axis=0)
        good &= ~held | conclusion[k + 1]
    return good
