"""One step of a solver, looked through: the first surface, release or event that it meets, located to rounding.

The rules are those of `numerics.flows.semantics`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import brentq

from .semantics import DIP_RATIO, EPS, LEAVING_WIDTHS, ONE_MOMENT, STEP_PARTS
from .trajectory import Event, StopWhen

StateAt = Callable[[float], np.ndarray]
ROOT_TURNS = 10_000  # a root of higher order takes hundreds


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
        self, read: Callable[[float, np.ndarray], np.ndarray], movable: np.ndarray, specs: Sequence[StopWhen]
    ) -> None:
        self.read, self.movable, self.specs, self.count = read, movable, specs, movable.size
        self.side = np.zeros(self.count + len(specs))
        self.width, self.own = np.zeros(self.side.size), np.ones(self.count)

    def scan(self, state: StateAt, start: float, end: float) -> StepOutcome:
        """Follow all watched values through a step, part by part; `state` gives the state at a time in it."""
        if not self.side.size:
            return StepOutcome()

        def at(t: float) -> np.ndarray:
            return self.read(t, state(t))

        side, found, events = self.side.copy(), StepOutcome(), list[Event]()
        times, values = self._samples(at, start, end)
        for left, right, value in zip(
            [start, *times[:-1]], times, values, strict=True
        ):  # first what jumped with a gate
            lefts = self._wake(at, side, value, start, left, right) if right > start else np.full(side.size, start)
            if isinstance(lefts, int):
                return StepOutcome("denied", start, lefts)
            hits = np.flatnonzero((side != 0) & (side * value <= 0))
            found = self._first_surface(at, side, hits[hits < self.count], lefts, right)
            passed = [(self._root(at, side, np.array([i]), lefts[i], right), int(i)) for i in hits[hits >= self.count]]
            same = ONE_MOMENT * max(abs(start), end - start)
            found = self._first_event(side, passed, same, found)
            events += self._recorded(side, value, passed, same, found)
            if found.kind:
                break
        self.side = side
        found.events = events
        return found

    def _samples(self, at: StateAt, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Times and watched values along a step, with the lowest points of dips towards zero added."""
        part = (end - start) / STEP_PARTS
        times = start + part * np.arange(-1, STEP_PARTS + 2)  # one beyond each end: to see a dip there
        times[1], times[-2] = start, end
        values = np.array([at(t) for t in times])
        low, here, high = (values[k : len(values) - 2 + k] * self.side for k in range(3))
        bend = low - 2 * here + high
        shift = np.where(bend > 0, (low - high) / (2 * np.where(bend > 0, bend, 1.0)), 2.0)  # to the parabola's vertex
        deep = (np.abs(shift) < 1) & (self.side != 0) & (here > 0) & (here - bend * shift**2 / 2 < here / DIP_RATIO)
        extra = (times[1:-1, None] + part * shift)[deep]
        extra = np.setdiff1d(extra[(extra > start) & (extra < end)], times) if extra.size else extra
        added = [at(t) for t in extra]
        order = np.argsort(np.append(times[1:-1], extra), kind="stable")
        return np.append(times[1:-1], extra)[order], np.array([*values[1:-1], *added])[order]

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
        self, side: np.ndarray, value: np.ndarray, passed: list[tuple[float, int]], same: float, found: StepOutcome
    ) -> list[Event]:
        """Events up to `found`, moment by moment, each with its sides moved along."""
        events, left = list[Event](), sorted(passed)
        while left and left[0][0] <= found.time + same:
            moment = left[0][0] if left[0][0] < found.time - same else found.time
            now, left = sorted(i for t, i in left if t <= moment + same), [p for p in left if p[0] > moment + same]
            for i in now:
                spec, direction = self.specs[i - self.count], -int(side[i])
                if self._counts(side, i):
                    events.append(Event(spec.name, "user", moment, {"direction": direction, "terminal": spec.terminal}))
                turned = found.kind == "switch" and moment == found.time  # then the value is not what comes next
                side[i], self.width[i] = 0.0 if turned else np.sign(value[i]), 0.0
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


def sides(values: np.ndarray) -> np.ndarray:
    """The sign of each value; what is not a number has no side."""
    result: np.ndarray = np.nan_to_num(np.sign(values))
    return result
