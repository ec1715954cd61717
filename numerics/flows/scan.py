"""One step of a solver, looked through: the first surface, release or event that it meets, located to rounding.

The rules are those of `numerics.flows.semantics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq

from .semantics import (
    DIP_PART,
    DIP_RATIO,
    EPS,
    HALVINGS,
    LEAVING_WIDTHS,
    MISSED,
    ONE_MOMENT,
    PROBES,
    STEP_PARTS,
    TOUCH_TURNS,
    probe_weights,
)
from .trajectory import Event, StopWhen

StateAt = Callable[[float], np.ndarray]
SAME_DIP = 1e-3  # of a part: a dip that two triples of readings show
ROOT_TURNS = 10_000  # a root of higher order takes hundreds
NOISE = 1e-13  # of the largest reading, which rounding may make
LAST_DIGITS = 64 * EPS  # of sums with terms of about 1, where readings that move by chance take few values
MOST_READINGS = 200_000  # of a step whose watched values are rough
WEIGHTS = probe_weights()


@dataclass
class StepOutcome:
    """What a step meets first: nothing, a ``switch``, an ``event``, or a surface ``denied`` by its gate (`index`)."""

    kind: str = ""
    time: float = math.nan
    index: int = -1
    events: list[Event] = field(default_factory=list)  # events passed on the way that do not stop the run


class WatchedValues:
    """The watched values of a run and on which side of zero each of them is: surfaces first, then events.

    The entry of a surface is its value, or :math:`g (1 - g)` of its gate while the flow slides along it. `side` is 0
    until a value has left zero by more than LEAVING_WIDTHS `width`; `own` is the side that the gate of a surface stands
    for.
    """

    def __init__(
        self,
        read: Callable[[float, np.ndarray], np.ndarray],
        movable: np.ndarray,
        specs: Sequence[StopWhen],
        reach: Callable[[float, np.ndarray], np.ndarray] | None = None,
    ) -> None:
        self.read, self.movable, self.specs, self.count = read, movable, specs, movable.size
        self.reach = reach  # how far the tolerance of a step can move each event
        self.moving = np.append(movable, np.ones(len(specs), dtype=bool)).astype(bool)
        self.touched: dict[int, float] = {}
        self.rooms: dict[int, float] = {}
        self.side = np.zeros(self.count + len(specs))
        self.width, self.own = np.zeros(self.side.size), np.ones(self.count)

    def scan(self, state: StateAt, start: float, end: float) -> StepOutcome:
        """Follow all watched values through a step, part by part; `state` gives the state at a time in it."""
        if not self.side.size:
            return StepOutcome()

        def at(t: float) -> np.ndarray:
            return self.read(t, state(t))

        side, found, events = self.side.copy(), StepOutcome(), list[Event]()
        times, values = self._samples(state, at, start, end)
        if not self.touched and side.all() and (side * values > 0).all():  # all are on their sides all along
            return StepOutcome()
        for left, right, value in zip(
            [start, *times[:-1]], times, values, strict=True
        ):  # first what jumped with a gate
            lefts = self._wake(at, side, value, start, left, right) if right > start else np.full(side.size, start)
            if isinstance(lefts, int):
                return StepOutcome("denied", start, lefts)
            touched = [i for i, t in self.touched.items() if t == right and side[i] != 0]
            near = [i for i in self.touched if abs(value[i]) <= self.rooms[i]]  # as near to zero as the touch is
            hits = np.setdiff1d(np.flatnonzero((side != 0) & (side * value <= 0)), np.array(near, dtype=int))
            found = self._first_surface(at, side, hits[hits < self.count], lefts, right)
            passed = [(self._root(at, side, np.array([i]), lefts[i], right), int(i)) for i in hits[hits >= self.count]]
            passed += [(right, i) for i in touched]
            same = ONE_MOMENT * max(abs(start), end - start)
            found = self._first_event(side, passed, same, found)
            events += self._recorded(side, value, passed, same, found, right)
            if found.kind:
                break
        self.side = side
        found.events = events
        return found

    def _samples(self, state: StateAt, at: StateAt, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Times and watched values along a step, with the lowest points of dips towards zero added."""
        self.touched = {}
        part = (end - start) / STEP_PARTS
        times = start + part * np.arange(-1, STEP_PARTS + 2)  # one beyond each end: to see a dip there
        times[1], times[-2] = start, end
        values = np.array([at(t) for t in times])
        probes = start + (end - start) * np.array(PROBES)
        known = np.array([at(t) for t in probes])
        if self._missed(values, known, WEIGHTS @ values).any():
            more = np.setdiff1d(self._finer(at, start, end), times)
            order = np.argsort(np.append(times, more), kind="stable")
            times, values = np.append(times, more)[order], np.array([*values, *(at(t) for t in more)])[order]
        extra = self._lowest(state, at, times, values)
        extra = np.setdiff1d(extra[(extra > start) & (extra < end)], times) if extra.size else extra
        inside = (times >= start) & (times <= end)
        times, values = times[inside], values[inside]
        order = np.argsort(np.append(times, extra), kind="stable")
        return np.append(times, extra)[order], np.array([*values, *(at(t) for t in extra)])[order]

    def _lowest(self, state: StateAt, at: StateAt, times: np.ndarray, values: np.ndarray) -> np.ndarray:
        """The lowest points of dips towards zero, by the parabolas through three neighbouring readings each."""
        early, here, late = (times[k : len(times) - 2 + k, None] for k in range(3))
        side = sides(values[1:-1])
        low, middle, high = (values[k : len(values) - 2 + k] * side for k in range(3))
        falls, rises = (middle - low) / (here - early), (high - middle) / (late - here)
        curve = np.where(rises > falls, (rises - falls) / (late - early), math.inf)
        vertex = np.where(rises > falls, (early + here) / 2 - falls / (2 * curve), math.inf)
        least = middle - np.where(rises > falls, curve * (here - vertex) ** 2, 0.0)
        bend = np.where(rises > falls, curve * (late - early) ** 2 / 2, 0.0)
        near = least < np.maximum(middle / DIP_RATIO, DIP_PART * bend)
        deep = (vertex > early) & (vertex < late) & (self.side != 0) & (side != 0) & near
        lows: list[tuple[int, float]] = []
        for row, i in zip(*np.nonzero(deep), strict=True):
            part = float(late[row, 0] - early[row, 0]) / 2
            lowest = self._touch(state, at, float(vertex[row, i]), part, int(i), float(side[row, i]))
            if not any(abs(lowest - t) < SAME_DIP * part for j, t in lows if j == i):
                lows.append((int(i), lowest))
        return np.array([t for _, t in lows])

    def _missed(self, values: np.ndarray, known: np.ndarray, given: np.ndarray) -> np.ndarray:
        """Which watched values, near zero, the polynomial through readings does not give at the probes."""
        every = np.vstack([values, known])
        size, largest = np.ptp(every, axis=0), np.abs(every).max(axis=0)
        far = (np.abs(every).min(axis=0) > 2 * size) | (size <= NOISE * largest + 64 * self.width)
        steps = 1 + (np.diff(np.sort(every, axis=0), axis=0) > 0).sum(axis=0)
        far |= (size <= LAST_DIGITS) & (2 * steps <= len(every))  # last digits of a sum that cancels
        wrong = np.abs(given - known).max(axis=0) > MISSED * size
        result: np.ndarray = self.moving & ~far & wrong
        return result

    def _finer(self, at: StateAt, start: float, end: float) -> np.ndarray:
        """Times at which a step is read where its parts are too long: halved until three parts give what is between."""
        parts = np.linspace(start, end, STEP_PARTS + 1)
        waiting = [(a, b, 0) for a, b in pairwise(parts.tolist())][::-1]
        found: list[float] = []
        while waiting and len(found) < MOST_READINGS:
            a, b, depth = waiting.pop()
            inner = a + (b - a) * np.arange(4) / 3
            probes = a + (b - a) * np.array(PROBES)
            values, known = np.array([at(t) for t in inner]), np.array([at(t) for t in probes])
            if depth < HALVINGS and self._missed(values, known, CUBIC @ values).any():
                waiting += [((a + b) / 2, b, depth + 1), (a, (a + b) / 2, depth + 1)]
            else:
                found += [*inner[1:], *probes]
        times: np.ndarray = np.unique([t for t in found if start < t < end])
        return times

    def _touch(self, state: StateAt, at: StateAt, t: float, part: float, i: int, side: float) -> float:
        """The lowest point of a dip, by parabolas through closer and closer readings; a touch of an event is noted."""
        reach = part / 8
        for _ in range(TOUCH_TURNS):
            low, here, high = (side * at(s)[i] for s in (t - reach, t, t + reach))
            if not low + high - 2 * here > 0:
                break
            t += reach * float(np.clip((low - high) / (2 * (low + high - 2 * here)), -8, 8))
            reach /= 8
        if i < self.count or self.specs[i - self.count].direction != 0:
            return t
        value = side * at(t)[i]
        room = 0.0 if self.reach is None else float(self.reach(t, state(t))[i - self.count])
        room += LEAVING_WIDTHS * float(self.width[i])
        if abs(value) <= room:
            self.touched.setdefault(i, t)
            self.rooms[i] = room
        return t

    def _wake(
        self, at: StateAt, side: np.ndarray, value: np.ndarray, start: float, left: float, right: float
    ) -> np.ndarray | int:
        """Give a side to what has left zero; from where on each value is known to be on its side.

        The number of a surface if that left zero to the side its gate denies.
        """
        lefts = np.full(side.size, left)
        gone = (side == 0) & (np.abs(value) > LEAVING_WIDTHS * self.width)
        side[self.count :] = np.where(gone, sides(value), side)[self.count :]
        for i in np.flatnonzero(gone[: self.count] & self.movable):
            side[i] = self.own[i]
            if side[i] * value[i] < 0:  # it may have gone to its own side first, and come back
                halves = start + (right - start) * 0.5 ** np.arange(1, 41)
                lefts[i] = next((t for t in halves if side[i] * at(t)[i] > self.width[i]), math.nan)
                if math.isnan(lefts[i]):
                    return int(i)
        return lefts

    def _first_surface(
        self, at: StateAt, side: np.ndarray, surfaces: np.ndarray, lefts: np.ndarray, right: float
    ) -> StepOutcome:
        """The first of some surfaces that reach zero in one part of a step."""
        found = StepOutcome(time=math.inf)
        for left in np.unique(lefts[surfaces]):
            group = surfaces[lefts[surfaces] == left]
            t = self._root(at, side, group, left, right)
            if t < found.time:
                found = StepOutcome("switch", t, int(group[np.argmin((side * at(t))[group])]))
        return found

    def _first_event(
        self, side: np.ndarray, passed: list[tuple[float, int]], same: float, found: StepOutcome
    ) -> StepOutcome:
        """The terminal event that ends the run, if one does not happen after `found`; else that."""
        ends = [(t, i) for t, i in passed if self._counts(side, i) and self.specs[i - self.count].terminal]
        first = min(ends, default=(math.inf, 0))[0]
        if not ends or first > found.time + same:
            return found
        return StepOutcome("event", first, min(i for t, i in ends if t <= first + same) - self.count)

    def _recorded(
        self,
        side: np.ndarray,
        value: np.ndarray,
        passed: list[tuple[float, int]],
        same: float,
        found: StepOutcome,
        right: float,
    ) -> list[Event]:
        """Events up to `found`, moment by moment, each with its sides moved along."""
        events, left = list[Event](), sorted(passed)
        while left and left[0][0] <= found.time + same:
            moment = left[0][0] if left[0][0] < found.time - same else found.time
            now, left = sorted(i for t, i in left if t <= moment + same), [p for p in left if p[0] > moment + same]
            for i in now:
                touched = self.touched.get(i) == right
                spec, direction = self.specs[i - self.count], 0 if touched else -int(side[i])
                if self._counts(side, i):
                    events.append(Event(spec.name, "user", moment, {"direction": direction, "terminal": spec.terminal}))
                turned = found.kind == "switch" and moment == found.time  # then the value is not what comes next
                side[i] = 0.0 if turned else side[i] if touched else np.sign(value[i])
                self.width[i] = 0.0
        return events

    def _counts(self, side: np.ndarray, i: int) -> bool:
        """True if an event is looked for in the direction in which it happens."""
        return self.specs[i - self.count].direction in (0, -int(side[i]))

    def _root(self, at: StateAt, side: np.ndarray, group: np.ndarray, left: float, right: float) -> float:
        """When the first of a group of watched values reaches zero."""

        def least(t: float) -> float:
            return float((side * at(t))[group].min())

        if least(right) == 0:
            return float(right)
        if least(left) <= 0:  # on the wrong side of zero by rounding before the step began
            return float(left)
        return float(brentq(least, left, right, xtol=4 * EPS * (right - left), rtol=4 * EPS, maxiter=ROOT_TURNS))


def _cubic() -> np.ndarray:
    places, wanted = np.arange(4) / 3, np.array(PROBES)
    return np.array([[np.prod([(w - b) / (a - b) for b in places if b != a]) for a in places] for w in wanted])


CUBIC = _cubic()  # weights of four readings at PROBES between them


def sides(values: np.ndarray) -> np.ndarray:
    """The sign of each value; what is not a number has no side."""
    result: np.ndarray = np.nan_to_num(np.sign(values))
    return result
