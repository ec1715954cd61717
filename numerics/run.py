"""One integration in progress: smooth segments between switches, each step scanned for surfaces and events."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, Radau
from scipy.optimize import brentq

from odesys.codegen import Compiled
from odesys.errors import IntegrationError

from .surfaces import EPS, Surfaces
from .trajectory import Event, StopWhen

METHODS = {"DOP853": DOP853, "RK45": RK45, "RK23": RK23, "Radau": Radau, "BDF": BDF, "LSODA": LSODA}
SAMPLES = 4  # parts of a step at whose ends the surfaces are read
EXACT_JACOBIAN_LIMIT = 40  # states; above this an implicit method takes differences of the field


@dataclass
class Found:
    """What a step meets first: nothing, a ``switch``, an ``event``, or a surface ``denied`` by its gate (`index`)."""

    kind: str = ""
    time: float = math.nan
    index: tuple[int, ...] = ()


class Run:
    """One integration: where it is, its gates, and what it has recorded.

    `side` says on which side of zero each watched value is: surfaces first, then events; 0 until it has left zero.
    """

    def __init__(self, compiled: Compiled, parameters: Mapping[str, float], events: Sequence[StopWhen],
                 span: tuple[float, float], x: np.ndarray, method: str, tolerances: Mapping[str, Any],
                 limits: Mapping[str, int], on_slide: str) -> None:
        t, self.end = span
        self.compiled, self.specs, self.start, self.t, self.x = compiled, events, t, t, x
        self.method, self.tolerances, self.on_slide = method, tolerances, on_slide
        self.switches_left, self.steps_left = limits["max_switches"], limits["max_steps"]
        self.evaluations = self.jacobians = self.steps = 0
        self.surfaces = Surfaces(compiled, parameters, self.field, t, x)
        self.watches = [spec.function(compiled, parameters) for spec in events]
        self.count = self.surfaces.start.size
        self.gates = np.where(self.surfaces.start > 0, 1.0, 0.0)
        self.width = np.zeros(self.count)
        self.side = np.sign(self.watched(t, x))
        self.knots, self.states, self.pieces, self.events = [t], [x], list[Any](), list[Event]()
        self.last_step, self.denied = 0.0, -1
        self.tried: set[int] = set()

    def field(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """The field with gates held, counted; not a number outside of its domain, so that a solver steps shorter."""
        self.evaluations += 1
        try:
            return self.compiled.field(t, x, gates)
        except (ArithmeticError, ValueError):
            return np.full(x.size, np.nan)

    def watched(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of all surfaces and events."""
        return np.append(self.surfaces.values(t, x, self.gates), [watch(t, x) for watch in self.watches])

    def run(self, report: Callable[[float], None]) -> str:
        """Go on until the end; gives the reason."""
        if not np.isfinite(self.field(self.t, self.x, self.gates)).all():
            raise IntegrationError(f"the right-hand side is not finite at the start, t = {self.t:g}", time=self.t)
        reason = self._turn(())
        while not reason:
            reason = self._segment(report)
        return reason

    def _segment(self, report: Callable[[float], None]) -> str:
        """Integrate with the present gates until one changes (then the reason is empty) or the run ends."""
        if self.t >= self.end:
            return "end"
        solver = self._solver()
        try:
            while solver.status == "running":
                message = solver.step()
                self._check(solver, message)
                dense = solver.dense_output()
                found = self._scan(dense, self.t, solver.t)
                if found.kind == "denied":
                    return self._deny(found.index[0])
                self._accept(dense, solver, found)
                report((self.t - self.start) / (self.end - self.start))
                if found.kind == "event":
                    return f"event:{self.specs[found.index[0]].name}"
                if found.kind == "switch":
                    return self._turn(found.index)
        finally:
            self.jacobians += int(solver.njev)
        return "end"

    def _solver(self) -> Any:
        gates, options = self.gates.copy(), {}
        small = self.x.size <= EXACT_JACOBIAN_LIMIT and self.compiled.backend != "block"
        if small and self.method in ("Radau", "BDF", "LSODA"):
            options["jac"] = lambda t, x: self.compiled.jacobian(t, x, gates)
        options |= self.tolerances
        return METHODS[self.method](lambda t, x: self.field(t, x, gates), self.t, self.x, self.end, **options)

    def _check(self, solver: Any, message: str | None) -> None:
        self.steps += 1
        self.steps_left -= 1
        if message is None and not (math.isfinite(solver.t) and np.isfinite(solver.y).all()):
            message = "the values are no longer finite"
        if message is None and self.steps_left < 0:
            message = f"all {self.steps - 1} steps allowed by max_steps were taken"
        if message is not None:
            size = np.abs(self.x).max()
            raise self._error(f"the integration got stuck at t = {self.t:.9g} with states up to {size:.3g}: {message}")

    def _error(self, message: str) -> IntegrationError:
        return IntegrationError(message, time=self.t, state=self.x)

    def _accept(self, dense: Any, solver: Any, found: Found) -> None:
        t = found.time if found.kind else float(solver.t)
        self.x = solver.y.copy() if t == solver.t else np.asarray(dense(t))
        if t > self.t:
            self.knots.append(t)
            self.states.append(self.x)
            self.pieces.append(dense)
        self.last_step, self.t, self.tried = t - self.t, t, set()

    def _turn(self, crossed: Sequence[int]) -> str:
        """Choose the gates at the present point, where the surfaces `crossed` have reached zero."""
        if crossed:
            self.switches_left -= 1
        if self.switches_left < 0:
            last = self.surfaces.names[crossed[0]]
            raise self._error(f"gates switched more than max_switches times up to t = {self.t:.9g}, last: {last}")
        gates, zero, self.width, sliding = self.surfaces.choose(self.t, self.x, self.gates, self.last_step, crossed)
        if sliding.size:
            return self._slide(sliding)
        for i in np.flatnonzero(gates != self.gates):
            self._log_switch(int(i), int(gates[i]))
        self.gates = gates
        self.side[: self.count] = np.where(zero | ~self.surfaces.movable, 0.0, 2 * gates - 1)
        return ""

    def _deny(self, i: int) -> str:
        """A surface left its zero to the side its gate denies: try the other gate; if that was tried, it slides."""
        if i in self.tried:
            return self._slide(np.array([i]))
        self.tried.add(i)
        self.gates[i] = 1 - self.gates[i]
        self._log_switch(i, int(self.gates[i]))
        return ""

    def _log_switch(self, i: int, gate: int) -> None:
        back = [e for e in self.events if e.kind == "switch" and e.time == self.t and e.detail["surface"] == i]
        if back:
            self.events.remove(back[0])
        elif self.t > self.start:  # at the start a gate is chosen, not switched
            self.events.append(Event(self.surfaces.names[i], "switch", self.t, {"surface": i, "gate": gate}))

    def _slide(self, sliding: np.ndarray) -> str:
        names = [self.surfaces.names[i] for i in sliding]
        if self.on_slide == "raise":
            raise self._error(f"the flow slides from t = {self.t:.9g}: the field points to {names[0]} from both sides")
        self.events.append(Event(names[0], "slide", self.t, {"surfaces": sliding.tolist(), "names": names}))
        return "slide"

    # ---- one step --------------------------------------------------------------------------------------------------

    def _scan(self, dense: Any, start: float, end: float) -> Found:
        """Follow all watched values through a step, part by part."""
        if not self.side.size:
            return Found()
        side, events = self.side.copy(), list[Event]()
        times, values = self._samples(dense, start, end)
        found = Found()
        for left, right, value in zip(times[:-1], times[1:], values[1:], strict=True):
            lefts = self._wake(dense, side, value, start, left, right)
            if lefts is None:
                return Found("denied", start, (self.denied,))
            found = self._first(dense, side, value, lefts, right, events)
            if found.kind:
                break
        self.side = side
        self.events += events
        return found

    def _samples(self, dense: Any, start: float, end: float) -> tuple[np.ndarray, np.ndarray]:
        """Times and watched values along a step, with the lowest points of dips towards zero added."""
        part = (end - start) / SAMPLES
        times = start + part * np.arange(-1, SAMPLES + 2)  # one beyond each end: to see a dip there
        times[-2] = end
        values = np.array([self.watched(t, dense(t)) for t in times])
        low, here, high = (values[k : len(values) - 2 + k] * self.side for k in range(3))
        bend = low - 2 * here + high
        shift = np.where(bend > 0, (low - high) / (2 * np.where(bend > 0, bend, 1.0)), 2.0)  # to the parabola's vertex
        deep = (np.abs(shift) < 1) & (self.side != 0) & (here > 0) & (here - bend * shift**2 / 2 < here / 4)
        extra = (times[1:-1, None] + part * shift)[deep]
        extra = np.setdiff1d(extra[(extra > start) & (extra < end)], times)
        added = [self.watched(t, dense(t)) for t in extra]
        order = np.argsort(np.append(times[1:-1], extra), kind="stable")
        return np.append(times[1:-1], extra)[order], np.array([*values[1:-1], *added])[order]

    def _wake(self, dense: Any, side: np.ndarray, value: np.ndarray, start: float, left: float,
              right: float) -> np.ndarray | None:
        """Give a side to what has left zero; from where on each value is known to be on its side. None: denied."""
        lefts = np.full(side.size, left)
        side[self.count :] = np.where(side[self.count :] == 0, np.sign(value[self.count :]), side[self.count :])
        gone = self.surfaces.movable & (side[: self.count] == 0) & (np.abs(value[: self.count]) > 16 * self.width)
        for i in np.flatnonzero(gone):
            side[i] = 2 * self.gates[i] - 1
            if side[i] * value[i] < 0:  # it may have gone to its own side first, and come back
                halves = start + (right - start) * 0.5 ** np.arange(1, 41)
                own = (t for t in halves if side[i] * self.watched(t, dense(t))[i] > self.width[i])
                lefts[i] = next(own, math.nan)
                if math.isnan(lefts[i]):
                    self.denied = int(i)
                    return None
        return lefts

    def _first(self, dense: Any, side: np.ndarray, value: np.ndarray, lefts: np.ndarray, right: float,
               events: list[Event]) -> Found:
        """The first passage through zero in one part of a step that ends the segment; others are put into `events`."""
        hits = np.flatnonzero((side != 0) & (side * value <= 0))
        surfaces, found = hits[hits < self.count], Found(time=math.inf)
        for left in np.unique(lefts[surfaces]):
            group = surfaces[lefts[surfaces] == left]
            t = self._root(dense, side, group, left, right)
            if t < found.time:
                nearest = group[np.argmin((side * self.watched(t, dense(t)))[group])]
                found = Found("switch", t, (int(nearest),))
        passed = [(self._root(dense, side, np.array([i]), lefts[i], right), i) for i in hits[hits >= self.count]]
        for t, i in sorted(passed):
            if t > found.time:
                break
            spec, direction = self.specs[i - self.count], -int(side[i])
            side[i] = np.sign(value[i])
            if spec.direction in (0, direction):
                events.append(Event(spec.name, "user", t, {"direction": direction, "terminal": spec.terminal}))
                if spec.terminal:
                    return Found("event", t, (int(i) - self.count,))
        return found if found.kind else Found()

    def _root(self, dense: Any, side: np.ndarray, group: np.ndarray, left: float, right: float) -> float:
        """When the first of a group of watched values reaches zero."""

        def least(t: float) -> float:
            return float((side * self.watched(t, dense(t)))[group].min())

        for t in (right, left):
            if least(t) == 0:
                return t
        return float(brentq(least, left, right, xtol=4 * EPS * (right - left), rtol=4 * EPS))
