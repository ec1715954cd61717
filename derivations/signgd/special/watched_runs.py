r"""Runs with turning points, zero crossings and T_1 to T_4; here because the lemmas speak of single pairs.

A record watches every step of a run through the recursion's own loops: it notes when a variable changes its direction
or its sign, and how far the conditions (29), (30) and (42) are from equality. Broken systems are compositions around
the recursion's step (`Rules`), so that the same record can be made of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import log, sqrt

import numpy as np

from odesys import IntegrationError

from ..setting import Case
from . import recursion
from .recursion import Run, Start, State
from .stages import FormalTimes, formal_times, votes

PAIRS, SIGNALS = ("q", "k"), ("q_mu", "k_mu")
MOST_EVENTS = 60_000


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
        c = sqrt(self.temperature)
        return State(state.v_mu, state.v, c * state.q_mu, c * state.k_mu, c * state.q, c * state.k)

    def advance(self, plain: Callable[[State, Start, float], State]) -> Callable[[State, Start, float], State]:
        """The step of the broken system from the recursion's own step `plain`."""
        if self == Rules():
            return plain
        c = sqrt(self.temperature)

        def step(state: State, start: Start, width: float) -> State:
            old = self.seen(state)
            fast = replace(start, l1=c * self.noise * start.l1, case=replace(start.case, mu=c * start.mu))
            if self.frozen:
                new = recursion.step(old, fast, self.descent * width, recursion.drivers(old, frozen=True))
            else:
                new = plain(old, fast, self.descent * width)
            # the seen state moves c times as fast; values too, which undoes it
            names = ("v_mu", "v", *SIGNALS, *PAIRS)
            move = {name: (np.asarray(getattr(new, name)) - getattr(old, name)) / c for name in names}
            return State(
                float(state.v_mu + self.values * move["v_mu"]),
                state.v + self.values * move["v"],
                state.q_mu + self.query * move["q_mu"],
                state.k_mu + self.key * move["k_mu"],
                state.q + self.query * move["q"],
                state.k + self.key * move["k"],
            )

        return step


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
    """A step that watches: pass it as `advance`."""

    rules: Rules
    step: Callable[[State, Start, float], State]
    after: float = 0.0  # conditions (29), (30), (42) are looked at from here on
    clock: float = 0.0
    direction: dict[str, np.ndarray] = field(default_factory=dict)
    first: dict[str, np.ndarray] = field(default_factory=dict)
    lists: dict[str, list[tuple[float, np.ndarray]]] = field(default_factory=dict)
    series: list[tuple[float, float, float, float]] = field(default_factory=list)
    count: int = 0

    def __call__(self, state: State, start: Start, width: float) -> State:
        """One step, with what happened in it."""
        new = self.step(state, start, width)
        if self.clock >= self.after:
            self.series.append((self.clock, *conditions(self.rules.seen(state))))
        for name in (*PAIRS, *SIGNALS):
            before, after = getattr(state, name), getattr(new, name)
            heading = np.sign(after - before)
            if name not in self.direction:
                self.direction[name], self.first[name] = heading, heading
            else:
                turned = (heading != self.direction[name]) & (heading != 0)
                self._note(name, turned)
                self.direction[name] = np.where(heading == 0, self.direction[name], heading)
            self._note(f"{name} zero", np.sign(after) != np.sign(before))
        self.clock += width
        return new

    def _note(self, kind: str, where: np.ndarray) -> None:
        if where.any():
            places = np.argwhere(where)
            self.count += len(places)
            if self.count > MOST_EVENTS:
                raise IntegrationError(f"more than {MOST_EVENTS} turns: the run chatters", time=self.clock)
            self.lists.setdefault(kind, []).append((self.clock, places))

    def events(self) -> dict[str, Events]:
        """All events by kind."""
        out = {}
        for name in (*PAIRS, *SIGNALS, *(f"{x} zero" for x in (*PAIRS, *SIGNALS))):
            found = self.lists.get(name, [])
            theta = np.concatenate([np.full(len(p), t) for t, p in found]) if found else np.empty(0)
            places = np.concatenate([p for _, p in found]) if found else np.empty((0, 2), dtype=int)
            sample = places[:, 1] if places.shape[1] == 2 else np.full(len(places), -1)
            out[name] = Events(theta, places[:, 0], sample)
        return out


def conditions(state: State) -> tuple[float, float, float]:
    """Logarithms of left over right side: of (29) and (30) the smallest, of (42) the largest."""
    f = recursion.drivers(state)
    n, top = len(f.w), f.log_b.max()
    with np.errstate(divide="ignore"):
        q_mu = np.log(np.abs(state.q_mu))
        total = np.log(np.abs(state.q @ np.exp(f.log_b - top))) + top - log(n / 2) - q_mu
        single = np.log(np.abs(state.q)) + f.log_b - f.log_a - q_mu[:, None]
    return float(total.min()), float(single.min() - log(2)), float(single.max() + log(2))


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

    def directions(self, name: str, theta: float) -> np.ndarray:
        """Directions (signs of the moves) of the variables of one kind at a time."""
        out = self.first[name].copy()
        found = self.events[name].within(0, theta)
        for r, i in zip(found.neuron, found.sample, strict=True):
            place = r if i < 0 else (r, i)
            out[place] = -out[place]
        return out

    def vote(self, theta: float) -> np.ndarray:
        """sgn sum_i q_si at a time, (m_k,)."""
        return votes(self.run, theta)

    def aligned(self, theta: float) -> np.ndarray:
        """Pairs whose query noise has the sign of the query signal, (m_k, n)."""
        state = self.run.at(theta)
        return np.asarray(np.sign(state.q) == np.sign(state.q_mu)[:, None])


def flow(
    case: Case,
    seed: int | tuple[int, ...],
    end: float,
    rules: Rules = Rules(),  # noqa: B008
    records: int = 500,
    fraction: float = 0.02,
) -> Record:
    """The sign flow to theta = end, watched; fine steps where pairs align, signals settle, and from T_f/5 to 12 T_f."""
    start = recursion.draw(case, seed)
    formal, flip = formal_times(start, 1.0), case.flip_time()
    fine = [(0.0, 15 * formal.T2_prime), (formal.T3 / 200, 2.2 * formal.T3), (flip / 5, 12 * flip)]
    watch = Recorder(rules, rules.advance(recursion.saddle_step), 0.9 * formal.T3)
    run = recursion.geometric(start, end, fraction=fraction, records=records, advance=watch, fine=fine)
    return finish(start, run, watch)


def descent(case: Case, seed: int | tuple[int, ...], eta: float, steps: int, rules: Rules = Rules()) -> Record:  # noqa: B008
    """Sign descent with a finite step, watched; times are theta = eta t."""
    start = recursion.draw(case, seed)
    watch = Recorder(rules, rules.advance(recursion.step))
    run = recursion.descend(start, eta, steps, advance=watch)
    return finish(start, replace(run, times=run.times * eta, eta=1.0), watch)


def finish(start: Start, run: Run, watch: Recorder) -> Record:
    """A record of a finished run."""
    if not all(np.isfinite(getattr(run, name)).all() for name in ("q", "k", "v")):
        raise IntegrationError("the run overflows", time=float(run.times[-1]))
    c = sqrt(watch.rules.temperature)
    seen = replace(run, **{name: c * getattr(run, name) for name in (*SIGNALS, *PAIRS)})
    return Record(start, run, seen, watch.first, watch.events(), np.array(watch.series).reshape(-1, 4))
