r"""Formal times, and what is measured along a run; here because alignment, votes and flips end the stages.

Times are steps for recursions and networks and theta = eta t for flows, where `Run.eta` is 1: one formula serves both.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from odesys import ParameterError

from .mean_field import MeanField
from .recursion import Run, Start, log_product

C3 = 2.0  # the paper's unnamed large constant of T_4, as it is used here
ALIGNED = 0.99  # part of all pairs with one sign that ends stage II in a finite run
REFERENCE = 0.8  # part of T_f at which votes are read: signals have settled, no key has turned yet


@dataclass(frozen=True)
class FormalTimes:
    """The paper's times for one start and step size, in steps; T4 and T_attn with unnamed constants C3 and 1."""

    T1: float
    T2_prime: float
    T2_sgn: float
    T2: float
    T3: float
    T4: float
    T_attn: float
    lower_T4_minus: float  # (34); nan where its logarithm is not positive
    upper_T4_minus: float  # (38)

    def as_dict(self) -> dict[str, float]:
        """All times by name."""
        return dict(self.__dict__)


def formal_times(start: Start, eta: float, c3: float = C3) -> FormalTimes:
    """T1, T2', T2^SGN, T2, T3, T4, T_attn and the bounds (34), (38) of the paper."""
    case, mu = start.case, start.mu
    speed = eta * case.strength
    prime = math.sqrt(2) * start.beta_xi / speed
    unit = 1 / (speed * math.sqrt(case.m_k))
    ratio = case.strength / mu
    inside = math.log(ratio / (3 * math.sqrt(2) * case.n))
    return FormalTimes(
        T1=4 * start.beta_xi / math.sqrt(case.m_v) / speed,
        T2_prime=prime,
        T2_sgn=3 * prime,
        T2=50 * case.n * prime,
        T3=3 * start.beta_mu / (eta * mu),
        T4=c3 * math.log(c3 * ratio) * unit,
        T_attn=math.log(ratio) / (eta * math.sqrt(case.m_k * case.strength * mu)),
        lower_T4_minus=math.sqrt(0.99 * math.pi / 2 * inside) * unit if inside > 0 else math.nan,
        upper_T4_minus=math.sqrt(1.01 * math.pi / 2 * math.log(ratio)) * unit if ratio > 1 else math.nan,
    )


def value_crossings(start: Start, eta: float) -> np.ndarray:
    """Exact time at which v_i - v_mu becomes positive, for every sample, in steps (0 where it is from the start)."""
    gap = start.state.v_mu - start.state.v
    return np.asarray(np.maximum(0.0, gap / (2 * eta * (start.l1 - start.mu))))


def measured_crossing(run: Run) -> float:
    """Time from which all v_i stay above v_mu, by interpolation between records (exact where values are straight)."""
    w = run.v - run.v_mu[:, None]
    below = np.flatnonzero((w <= 0).any(axis=1))
    if not below.size:
        return 0.0
    k = int(below[-1])
    if k + 1 == len(run.times):
        return math.nan
    late = w[k] <= 0
    parts = w[k, late] / (w[k, late] - w[k + 1, late])
    return float(run.times[k] + parts.max() * (run.times[k + 1] - run.times[k]))


def aligned(run: Run) -> np.ndarray:
    """Fraction of pairs with q k > 0 at every record."""
    return np.asarray((run.q * run.k > 0).mean(axis=(1, 2)))


def contingency(run: Run, time: float) -> np.ndarray:
    """Pairs by the signs (key, query) at the start (rows) and at `time` (columns), in the order ++, +-, -+, --."""

    def classes(index: int) -> np.ndarray:
        return np.asarray(2 * (run.k[index] < 0) + (run.q[index] < 0))

    table = np.zeros((4, 4), dtype=int)
    np.add.at(table, (classes(0).ravel(), classes(run.index(time)).ravel()), 1)
    return table


def votes(run: Run, time: float) -> np.ndarray:
    """sgn of the sum over samples of query noise, for every neuron: the majority that the signals will follow."""
    return np.asarray(np.sign(run.at(time).q.sum(axis=1)))


def aligned_fractions(run: Run, time: float) -> np.ndarray:
    """For every sample the fraction of neurons whose query noise has the sign of the neuron's vote."""
    return np.asarray((np.sign(run.at(time).q) == votes(run, time)[:, None]).mean(axis=0))


def vote_rule(run: Run, first: float, last: float) -> float:
    """Part of all (record, neuron) in [first, last] where q_mu moves with sum_i k and k_mu against sum_i q."""
    inside = np.flatnonzero((run.times >= first) & (run.times <= last))
    inside = inside[inside + 1 < len(run.times)]
    if not inside.size:
        return math.nan
    up, down = np.diff(run.q_mu, axis=0)[inside], np.diff(run.k_mu, axis=0)[inside]
    good = (np.sign(up) == np.sign(run.k.sum(axis=2)[inside])) & (np.sign(down) == -np.sign(run.q.sum(axis=2)[inside]))
    return float(good.mean())


def early_conditions(run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where (29), (30) and (42) hold for all neurons and samples: three arrays of truth values over the records."""
    log_a, log_b = log_product(run.z11), log_product(run.z21)
    with np.errstate(divide="ignore"):
        signal, noise = np.log(np.abs(run.q_mu)), np.log(np.abs(run.q))
    gap = log_b[:, None, :] + noise - log_a[:, None, :] - signal[:, :, None]
    top = log_b.max(axis=1)[:, None]
    total = np.abs(np.einsum("ti,tri->tr", np.exp(log_b - top), run.q))
    with np.errstate(divide="ignore"):
        vote = np.log(total) + top - math.log(run.start.case.n / 2) - signal
    return ((vote >= 0).all(axis=1), (gap >= math.log(2)).all(axis=(1, 2)), (gap <= -math.log(2)).all(axis=(1, 2)))


def in_cone(run: Run) -> np.ndarray:
    """Records at which every neuron is in the absorbing cone: w > 0 and q, k, q_mu, -k_mu of one sign."""
    sign = np.sign(run.q_mu)[:, :, None]
    pairs = (np.sign(run.q) == sign) & (np.sign(run.k) == sign)
    signals = (run.q_mu != 0) & (np.sign(run.k_mu) == -np.sign(run.q_mu))
    return np.asarray(pairs.all(axis=(1, 2)) & signals.all(axis=1) & (run.v > run.v_mu[:, None]).all(axis=1))


def first_time(run: Run, holds: np.ndarray, after: float = -math.inf) -> float:
    """Time of the first record after `after` at which `holds`; nan if there is none."""
    places = np.flatnonzero(holds & (run.times >= after))
    return float(run.times[places[0]]) if places.size else math.nan


@dataclass(frozen=True)
class Flips:
    """Unaligned pairs after the vote: when their key and query noise turn round and cross zero, in the run's times.

    Neurons whose query signal changes sign again after the reference time have a contested vote; their pairs are left
    out and counted in `contested`. `curves` are the means over unaligned pairs of k and q in the gauge where they start
    positive; the four times are the peak and the zero of these curves, `spread` the quartiles of single pairs' peaks.
    """

    reference: float
    count: int
    contested: int
    key_flip: float
    query_flip: float
    key_zero: float
    query_zero: float
    spread: dict[str, tuple[float, float]] = field(default_factory=dict)
    crossed: dict[str, float] = field(default_factory=dict)  # part of unaligned pairs with the voted sign at the end
    curves: dict[str, np.ndarray] = field(default_factory=dict, repr=False)

    def in_units(self, unit: float) -> dict[str, float]:
        """The four times over `unit`, e.g. the paper-independent T_f."""
        return {name: getattr(self, name) / unit for name in ("key_flip", "query_flip", "key_zero", "query_zero")}


def flips(run: Run, reference: float) -> Flips:
    """The flips of pairs that at the time `reference` (after the vote, before the flip) disagree with the vote."""
    at = run.index(reference)
    vote = np.sign(run.q_mu[at])
    settled = (np.sign(run.q_mu[at:]) == vote).all(axis=0)
    apart = (np.sign(run.q[at]) == -vote[:, None]) & (np.sign(run.k[at]) == -vote[:, None]) & settled[:, None]
    times: dict[str, float] = dict.fromkeys(("key_flip", "query_flip", "key_zero", "query_zero"), math.nan)
    spread, crossed, curves = {}, {}, {}
    if apart.any():
        for name, values in (("key", run.k), ("query", run.q)):
            pairs = (-vote[:, None] * values)[:, apart]
            mean = pairs.mean(axis=1)
            peak = int(mean[at:].argmax()) + at
            if peak + 1 < len(mean):  # a curve that still rises at the end has not turned
                times[f"{name}_flip"] = float(run.times[peak])
            below = np.flatnonzero((mean < 0) & (np.arange(len(mean)) > peak))
            if below.size:
                k = int(below[0])
                part = mean[k - 1] / (mean[k - 1] - mean[k])
                times[f"{name}_zero"] = float(run.times[k - 1] + part * (run.times[k] - run.times[k - 1]))
            single = run.times[at + pairs[at:].argmax(axis=0)]
            spread[name] = (float(np.quantile(single, 0.25)), float(np.quantile(single, 0.75)))
            crossed[name] = float((pairs[-1] < 0).mean())
            curves[name] = mean
    return Flips(
        float(run.times[at]),
        int(apart.sum()),
        int((~settled).sum()),
        **times,
        spread=spread,
        crossed=crossed,
        curves=curves,
    )


@dataclass(frozen=True)
class Stages:
    """Formal times, and the events measured along a run; nan where the run did not get there."""

    formal: FormalTimes
    flip_unit: float  # T_f with the run's own mean norm
    events: dict[str, float]
    flips: Flips
    vote_rule: float
    fractions: np.ndarray

    def as_events(self) -> list[dict[str, Any]]:
        """All events that happened, in the order of time, for a simulation's table."""
        found = {
            **self.events,
            **{name: getattr(self.flips, name) for name in ("key_flip", "query_flip", "key_zero", "query_zero")},
        }
        kept = sorted((t, name) for name, t in found.items() if math.isfinite(t))
        return [{"name": name, "kind": "stage", "time": t} for t, name in kept]


def stages(run: Run) -> Stages:
    """The stages of a run.

    T1 last crossing of v_i and v_mu; T2_sgn first record with 99 percent of pairs aligned; T2 first record
    after it at which the median neuron has |sum_i q|, |sum_i k| >= 2 n |signal| (Lemma 4.3(3) with present signals); T3
    first record with all signals opposite, q_mu k_mu < 0; T4_minus last record with (29) and (30) since T3 (nan if they
    fail at T3 already), T4_plus first one with (42); T4 the absorbing cone.
    """
    start, eta = run.start, run.eta
    formal = formal_times(start, eta)
    unit = flip_unit(start, eta)
    events = {"T1": measured_crossing(run), "T2_sgn": first_time(run, aligned(run) >= ALIGNED)}
    n = start.case.n
    sums = np.minimum(
        np.abs(run.q.sum(axis=2)) - 2 * n * np.abs(run.q_mu), np.abs(run.k.sum(axis=2)) - 2 * n * np.abs(run.k_mu)
    )
    events["T2"] = first_time(run, (np.median(sums, axis=1) >= 0), events["T2_sgn"])
    opposite = (run.q_mu * run.k_mu < 0).all(axis=1)
    events["T3"] = first_time(run, opposite)
    vote29, pair30, flipped = early_conditions(run)
    since = run.index(events["T3"]) if math.isfinite(events["T3"]) else len(run.times) - 1
    hold = (vote29 & pair30)[since:]
    if hold.size and hold[0]:
        lost = np.flatnonzero(~hold)
        events["T4_minus"] = float(run.times[since + lost[0] - 1]) if lost.size else math.nan
    else:
        events["T4_minus"] = math.nan
    events["T4_plus"] = first_time(run, flipped, events.get("T4_minus", math.nan) if hold.size and hold[0] else unit)
    events["T4"] = first_time(run, in_cone(run))
    reference = min(REFERENCE * unit, run.times[-1])
    found = flips(run, reference)
    fractions = aligned_fractions(run, reference)
    return Stages(formal, unit, events, found, vote_rule(run, 0.2 * unit, 0.6 * unit), fractions)


def flip_unit(start: Start, eta: float) -> float:
    """T_f with the mean L1 norm of the run's own noise, in steps."""
    ratio = float(start.l1.mean()) / start.mu
    if ratio <= 1:
        raise ParameterError(
            f"the noise has the mean L1 norm {ratio * start.mu:.3g}, not above the signal's "
            f"{start.mu:.3g}: the stages are those of strong noise; lower mu or raise s or sigma_p"
        )
    return math.sqrt(math.log(4 * ratio)) / (eta * ratio * start.mu * math.sqrt(start.case.m_k))


def mean_field_samples(run: Run, time: float) -> list[MeanField]:
    """The mean field of every sample, with its own norm and the aligned fraction measured at `time`."""
    fractions = aligned_fractions(run, time)
    start = run.start
    return [
        MeanField(float(l / start.mu), float(p), start.case.m_k, run.eta, start.mu)
        for l, p in zip(start.l1, fractions, strict=True)
    ]


def mean_field_mean(run: Run, time: float) -> MeanField:
    """One mean field with the mean norm and the mean aligned fraction."""
    start = run.start
    return MeanField(
        float(start.l1.mean() / start.mu), float(aligned_fractions(run, time).mean()), start.case.m_k, run.eta, start.mu
    )
