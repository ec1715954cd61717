r"""Runs with turning points, zero crossings and T_1 to T_4; here because the lemmas speak of single pairs.

A record watches every step of a run: it notes when a variable changes its direction or its sign, and how far the
conditions (29), (30) and (42) are from equality. Runs of several seeds go side by side, as one array with the axis of
seeds in front, each with its own steps. Broken systems are compositions around the recursion's step (`Rules`), so that
the same record can be made of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log, sqrt
from typing import Any

import numpy as np

from odesys import IntegrationError

from ..setting import Case
from . import recursion
from .pair_loops import PairRuns
from .recursion import NAMES, Advance, Drivers, Run, Start, State
from .stages import FormalTimes, formal_times, votes

PAIRS, SIGNALS = ("q", "k"), ("q_mu", "k_mu")
MOST_EVENTS = 60_000
SIDE_BY_SIDE = 75_000  # pairs of all runs that go together, 20 of the largest: what is kept of them takes 0.6 GB


@dataclass(frozen=True)
class Rules:
    """How a broken system differs from the recursion; the defaults are the recursion itself."""

    temperature: float = 1.0  # factor of the logits
    descent: int = 1
    query: int = 1  # factor of the moves of queries
    key: int = 1
    values: int = 1  # factor of the moves of v
    noise: float = 1.0  # factor of all moves along the noise
    frozen: bool = False  # derivatives of the softmax taken at zero logits

    def seen(self, state: State) -> State:
        """The state as the paper's formulas have to read it: logits scaled."""
        if self.temperature == 1:
            return state
        c = sqrt(self.temperature)
        return State(state.v_mu, state.v, c * state.q_mu, c * state.k_mu, c * state.q, c * state.k)

    def advance(self, plain: Advance) -> Advance:
        """The step of the broken system from the recursion's own step `plain`; `found` are drivers of what is seen."""
        if self == THE_RECURSION:
            return plain
        c = sqrt(self.temperature)

        def step(state: State, start: Start, width: Any, found: Drivers | None = None) -> State:
            old = self.seen(state)
            fast = replace(start, l1=c * self.noise * start.l1, case=replace(start.case, mu=c * start.mu))
            if self.frozen:
                new = recursion.step(old, fast, self.descent * width, recursion.drivers(old, frozen=True))
            else:
                new = plain(old, fast, self.descent * width, found)
            # the seen state moves c times as fast; values too, which undoes it
            move = {name: (np.asarray(getattr(new, name)) - getattr(old, name)) / c for name in NAMES}
            return State(
                state.v_mu + self.values * move["v_mu"],
                state.v + self.values * move["v"],
                state.q_mu + self.query * move["q_mu"],
                state.k_mu + self.key * move["k_mu"],
                state.q + self.query * move["q"],
                state.k + self.key * move["k"],
            )

        return step


THE_RECURSION = Rules()


@dataclass(frozen=True)
class Events:
    """When (theta), which neuron and which sample; for signals the sample is -1."""

    theta: np.ndarray
    neuron: np.ndarray
    sample: np.ndarray

    def within(self, low: float, high: float) -> Events:
        """Those in an interval of time."""
        keep = (self.theta >= low) & (self.theta <= high)
        return Events(self.theta[keep], self.neuron[keep], self.sample[keep])

    def __len__(self) -> int:
        return len(self.theta)


@dataclass
class Recorder:
    """Steps of several runs at once, watched; a run that breaks off stands still and has its error in `broken`."""

    rules: Rules
    step: Advance
    start: Start
    after: np.ndarray  # conditions (29), (30), (42) of a run are looked at from here on
    clock: np.ndarray = field(init=False)
    falls: dict[str, np.ndarray] = field(default_factory=dict)  # whose last move was downwards
    negative: dict[str, np.ndarray] = field(default_factory=dict)
    first: dict[str, np.ndarray] = field(default_factory=dict)
    lists: dict[str, list[tuple[np.ndarray, np.ndarray]]] = field(default_factory=dict)
    series: list[list[tuple[float, ...]]] = field(init=False)
    count: np.ndarray = field(init=False)
    broken: dict[int, IntegrationError] = field(default_factory=dict)
    pairs: PairRuns | None = None  # after the first step of the recursion itself

    def __post_init__(self) -> None:
        runs = len(self.start.l1)
        self.clock, self.count, self.series = np.zeros(runs), np.zeros(runs, dtype=int), [[] for _ in range(runs)]

    def __call__(self, state: State, width: np.ndarray) -> State:
        """One step of every run, each of its own width, with what happened in it; `state` is what came of the last."""
        if self.pairs is not None:
            return self._in_place(self.pairs, width)
        seen = self.rules.seen(state)
        found = recursion.drivers(seen)
        new = self.step(state, self.start, width, found)
        self._judge(seen, found.log_a, found.log_b, width)
        self._watch({name: (getattr(state, name), getattr(new, name)) for name in (*PAIRS, *SIGNALS)})
        self._tick(width)
        if self.step is recursion.saddle_step and PairRuns.possible():
            self.pairs = PairRuns(new, self.start, self.falls)
        return new

    def _in_place(self, pairs: PairRuns, width: np.ndarray) -> State:
        """The same, by machine code."""
        read, state = pairs.read(), pairs.state
        self._judge(state, read.log_a, read.log_b, width)
        before = {name: getattr(state, name).copy() for name in SIGNALS}
        for kind, places in pairs.move(read, width).items():
            self._put(kind, places)
        self._watch({name: (before[name], getattr(state, name)) for name in SIGNALS})
        self._tick(width)
        return state

    def _judge(self, seen: State, log_a: np.ndarray, log_b: np.ndarray, width: np.ndarray) -> None:
        late = np.flatnonzero((self.clock >= self.after) & (width > 0))
        if late.size:
            table = conditions(seen, log_a, log_b)
            for run in late:
                self.series[run].append((self.clock[run], *table[:, run]))

    def _watch(self, moves: dict[str, tuple[np.ndarray, np.ndarray]]) -> None:
        """Turns and changes of sign, from before to after."""
        for name, (before, after) in moves.items():
            down, up, negative = after < before, after > before, np.signbit(after)
            if name not in self.falls:
                self.falls[name], self.negative[name] = down, np.signbit(before)
                self.first[name] = up.astype(float) - down
            else:
                turned = np.where(self.falls[name], up, down)
                if self._note(name, turned):
                    self.falls[name] = self.falls[name] ^ turned
            self._note(f"{name} zero", negative ^ self.negative[name])
            self.negative[name] = negative

    def _tick(self, width: np.ndarray) -> None:
        self.clock = self.clock + width
        for run in np.flatnonzero(self.count > MOST_EVENTS):
            chatter = f"more than {MOST_EVENTS} turns: the run chatters"
            self.broken.setdefault(int(run), IntegrationError(chatter, time=float(self.clock[run])))

    def _note(self, kind: str, where: np.ndarray) -> bool:
        if not where.any():
            return False
        self._put(kind, np.argwhere(where))
        return True

    def _put(self, kind: str, places: np.ndarray) -> None:
        self.count += np.bincount(places[:, 0], minlength=len(self.count))
        self.lists.setdefault(kind, []).append((self.clock[places[:, 0]], places))

    def events(self) -> list[dict[str, Events]]:
        """All events by kind, for every run."""
        out: list[dict[str, Events]] = [{} for _ in self.clock]
        for name in (*PAIRS, *SIGNALS, *(f"{x} zero" for x in (*PAIRS, *SIGNALS))):
            found = self.lists.get(name, [])
            theta = np.concatenate([t for t, _ in found]) if found else np.empty(0)
            places = np.concatenate([p for _, p in found]) if found else np.empty((0, 3), dtype=int)
            sample = places[:, 2] if places.shape[1] == 3 else np.full(len(places), -1)
            for run, events in enumerate(out):
                mine = places[:, 0] == run
                events[name] = Events(theta[mine], places[mine, 1], sample[mine])
        return out


def conditions(state: State, log_a: np.ndarray, log_b: np.ndarray) -> np.ndarray:
    """Logarithms of left over right side, for every run: of (29) and (30) the smallest, of (42) the largest."""
    n, top = log_b.shape[-1], log_b.max(axis=-1, keepdims=True)
    with np.errstate(divide="ignore"):
        q_mu = np.log(np.abs(state.q_mu))
        sums = (state.q @ np.exp(log_b - top)[..., None])[..., 0]
        total = np.log(np.abs(sums)) + top - log(n / 2) - q_mu
        single = np.log(np.abs(state.q)) + (log_b - log_a)[..., None, :] - q_mu[..., None]
    least = single.min(axis=(-2, -1)) - log(2), single.max(axis=(-2, -1)) + log(2)
    return np.array([total.min(axis=-1), *least])


@dataclass(frozen=True, eq=False)
class Record:
    """A run with its events; times are theta = eta t (for a recursion with step eta too)."""

    start: Start
    run: Run
    seen: Run  # for softmax weights, margins and losses
    first: dict[str, np.ndarray]  # first directions
    events: dict[str, Events]
    series: np.ndarray  # theta, (29), (30), (42)

    @property
    def case(self) -> Case:
        """Sizes and scales."""
        return self.start.case

    @property
    def unit(self) -> float:
        """(Lambda sqrt(m_k))^-1: times over it are the tau of the mean field."""
        return 1 / (self.case.Lambda * self.case.mu * sqrt(self.case.m_k))

    # ---- the paper's times, in theta
    @cached_property
    def formal(self) -> FormalTimes:
        """T_1 to T_4 and T_attn by their definitions, with C_3 = 2; bounds (34) and (38)."""
        return formal_times(self.start, 1.0)

    @property
    def T1(self) -> float:
        """4 beta_xi m_v^-1/2 / (sigma_p s)."""
        return self.formal.T1

    @property
    def T2_prime(self) -> float:
        """sqrt2 beta_xi / (sigma_p s)."""
        return self.formal.T2_prime

    @property
    def T2(self) -> float:
        """50 n T_2'."""
        return self.formal.T2

    @property
    def T3(self) -> float:
        """3 beta_mu / |mu|."""
        return self.formal.T3

    @property
    def T4(self) -> float:
        """C_3 log(C_3 sigma_p s / |mu|) / (sqrt(m_k) sigma_p s)."""
        return self.formal.T4

    @cached_property
    def T4_minus(self) -> float:
        """The last time from T_3 on up to which (29) and (30) hold."""
        late = self.series[self.series[:, 0] >= self.T3]
        bad = np.flatnonzero((late[:, 1] < 0) | (late[:, 2] < 0))
        if not len(late) or not bad.size or bad[0] == 0:
            raise IntegrationError("conditions (29), (30) fail at T_3 already, or never", time=self.T3)
        return float(late[bad[0] - 1, 0])

    @cached_property
    def T4_plus(self) -> float:
        """The first time from T_4^- on with (42) for all pairs."""
        late = self.series[self.series[:, 0] >= self.T4_minus]
        good = np.flatnonzero(late[:, 3] <= 0)
        if not good.size:
            raise IntegrationError("condition (42) never holds for all pairs", time=self.T4_minus)
        return float(late[good[0], 0])

    @cached_property
    def sizes(self) -> np.ndarray:
        """Smallest and largest |q| and smallest and largest |k| over all pairs, at every record, (4, T)."""
        q, k = np.abs(self.run.q), np.abs(self.run.k)
        return np.array([end(axis=(1, 2)) for x in (q, k) for end in (x.min, x.max)])

    def directions(self, name: str, theta: float) -> np.ndarray:
        """Directions (signs of the moves) of the variables of one kind at a time."""
        first, found = self.first[name], self.events[name].within(0, theta)
        turns = np.zeros(first.shape, dtype=int)
        np.add.at(turns, (found.neuron, found.sample) if first.ndim == 2 else found.neuron, 1)
        return np.asarray(np.where(turns % 2, -first, first))

    def vote(self, theta: float) -> np.ndarray:
        """sgn sum_i q_si at a time, (m_k,)."""
        return votes(self.run, theta)

    def aligned(self, theta: float) -> np.ndarray:
        """Pairs whose query noise has the sign of the query signal, (m_k, n)."""
        state = self.run.at(theta)
        return np.asarray(np.sign(state.q) == np.sign(state.q_mu)[:, None])


# ---- runs of several seeds -------------------------------------------------------------------------------------------


def side_by_side(case: Case, seeds: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Seeds in groups whose runs go together."""
    size = max(1, SIDE_BY_SIDE // (case.n * case.m_k))
    return (seeds[k : k + size] for k in range(0, len(seeds), size))


def flows(
    case: Case,
    seeds: Sequence[int | tuple[int, ...]],
    end: float,
    rules: Rules = THE_RECURSION,
    records: int = 500,
    fraction: float = 0.02,
    untied: bool = False,
) -> Iterator[Record | IntegrationError]:
    """Sign flows to theta = end, watched; fine steps where pairs align, signals settle, and from T_f/5 to 12 T_f.

    Each is a record, or the error with which it broke off. `untied` is about starts, see `recursion.draw`.
    """
    flip = case.flip_time()
    for group in side_by_side(case, seeds):
        starts = [recursion.draw(case, seed, untied) for seed in group]
        formal = [formal_times(start, 1.0) for start in starts]
        prime, T3 = (np.array([getattr(f, name) for f in formal]) for name in ("T2_prime", "T3"))
        fine = [(0 * prime, 15 * prime), (T3 / 200, 2.2 * T3), (flip / 5, 12 * flip)]
        least = np.array([recursion.first_step(start) for start in starts])
        pace = recursion.Pace(end, fraction, least, fine)
        watch = Recorder(rules, rules.advance(recursion.saddle_step), recursion.many(starts), 0.9 * T3)
        yield from _watched(starts, watch, pace, end, (end / least) ** (1 / records))


def _watched(
    starts: Sequence[Start], watch: Recorder, pace: recursion.Pace, end: float, growth: np.ndarray
) -> list[Record | IntegrationError]:
    """Flows of one group, each with its own clock; states are kept at times that grow geometrically."""
    state, keep = watch.start.state, np.array(pace.least)
    kept = Kept(state)
    with np.errstate(over="ignore", invalid="ignore"):  # a broken system may overflow: its record says so
        while True:
            width = np.where(watch.clock < end, pace(watch.clock), 0.0)
            width[list(watch.broken)] = 0.0
            if not width.any():
                break
            state = watch(state, width)
            due = np.flatnonzero(((watch.clock >= keep) | (watch.clock >= end)) & (width > 0))
            kept.add(watch.clock, state, due)
            keep[due] = np.maximum(keep[due] * growth[due], watch.clock[due])
    runs = [kept.run(start, number) for number, start in enumerate(starts)]
    return _finished(runs, watch)


class Kept:
    """States of several runs, each at times of its own, copied once into arrays that double where one is full."""

    def __init__(self, first: State) -> None:
        columns = {name: np.asarray(getattr(first, name)) for name in NAMES}
        self.columns = {name: np.empty((len(x), 512, *x.shape[1:])) for name, x in columns.items()}
        count = len(next(iter(columns.values())))
        self.times, self.counts = np.zeros((count, 512)), np.zeros(count, dtype=int)
        self.add(np.zeros(count), first, np.arange(count))

    def add(self, times: np.ndarray, states: State, runs: np.ndarray) -> None:
        """The present states of some of the runs."""
        places = self.counts[runs]
        if places.size and places.max() == self.times.shape[1]:
            self.times = _doubled(self.times)
            self.columns = {name: _doubled(column) for name, column in self.columns.items()}
        self.times[runs, places] = times[runs]
        for name, column in self.columns.items():
            column[runs, places] = getattr(states, name)[runs]
        self.counts[runs] += 1

    def run(self, start: Start, number: int) -> Run:
        """One of the runs, whose times are theta."""
        count = self.counts[number]
        columns = {name: column[number, :count] for name, column in self.columns.items()}
        return Run(start, self.times[number, :count], eta=1.0, **columns)


def _doubled(table: np.ndarray) -> np.ndarray:
    return np.concatenate([table, np.empty_like(table)], axis=1)


def descents(
    case: Case,
    seeds: Sequence[int | tuple[int, ...]],
    eta: float,
    steps: int,
    rules: Rules = THE_RECURSION,
) -> Iterator[Record | IntegrationError]:
    """Sign descent with a finite step, watched; times are theta = eta t."""
    recursion.check_steps(eta, steps, 1)
    for group in side_by_side(case, seeds):
        starts = [recursion.draw(case, seed) for seed in group]
        start = recursion.many(starts)
        watch = Recorder(rules, rules.advance(recursion.step), start, np.zeros(len(starts)))
        states = [start.state]
        for _ in range(steps):
            states.append(watch(states[-1], np.full(len(starts), eta)))
        times = eta * np.arange(steps + 1)
        runs = [recursion.from_states(one, times, [x.one(j) for x in states], 1.0) for j, one in enumerate(starts)]
        yield from _finished(runs, watch)


def _finished(runs: Sequence[Run], watch: Recorder) -> list[Record | IntegrationError]:
    """The records of finished runs."""
    out: list[Record | IntegrationError] = []
    c, events = sqrt(watch.rules.temperature), watch.events()
    for number, run in enumerate(runs):
        if number in watch.broken:
            out.append(watch.broken[number])
        elif not all(np.isfinite(getattr(run, name)[-1]).all() for name in ("q", "k", "v")):
            out.append(IntegrationError("the run overflows", time=float(run.times[-1])))
        else:
            scaled = {name: c * getattr(run, name) for name in (*SIGNALS, *PAIRS)} if c != 1 else {}
            seen = replace(run, **scaled) if scaled else run
            first = {name: value[number] for name, value in watch.first.items()}
            series = np.array(watch.series[number]).reshape(-1, 4)
            out.append(Record(run.start, run, seen, first, events[number], series))
    return out
