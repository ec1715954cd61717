r"""One integration in progress: smooth segments, in each of which a mode (gates held, or sliding) is kept.

Chattering can not occur. A segment starts in a mode that agrees with the rates it produces, so a surface with a rate
other than zero leaves to the side of its gate, and time passes before it can return. A surface with zero rate is let go
and watched: if it leaves to the side its gate denies, that mode is refused at this time for good, and the next one is
tried: the other gate, then sliding. A mode in which no time passed is refused as well. There are finitely many modes,
so either time passes or the run ends with an error.
Where a kernel is given, smooth stretches and plain switches are left to it; it comes back where it does not know how to
go on (`numerics.flows.semantics`), with the step not made.
Switches that pile up (each turn around a corner shorter than the one before) end when the surfaces are zero within
rounding, where they are one event; whatever else might accumulate ends at max_switches.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.integrate import BDF, LSODA, RK23, RK45, Radau

from numerics.flows.patterns import PatternTable
from odesys.errors import IntegrationError
from odesys.jit.codegen import Compiled

from .dense_output import SmoothDOP853
from .events import EventLog
from .modes import EDGE, Mode
from .scan import StepOutcome, WatchedValues, sides
from .semantics import TIME_ROUNDING, TOUCH_ROOM
from .sliding import DRIFT, DRIFT_MULTISTEP, Slide
from .surfaces import Surfaces, rounding_signs
from .trajectory import Event, StopWhen

#: what takes the steps that are not made in compiled code, along a slide for instance
METHODS = {
    "auto": SmoothDOP853,
    "DOP853": SmoothDOP853,
    "Taylor": SmoothDOP853,
    "Rodas5P": Radau,
    "RK45": RK45,
    "RK23": RK23,
    "Radau": Radau,
    "BDF": BDF,
    "LSODA": LSODA,
}
PILE, PILE_TIME = 8, 1e-5  # switches pile up: so many of them in such a part of the run so far
IMPLICIT = ("Rodas5P", "Radau", "BDF", "LSODA")
EXACT_JACOBIAN_LIMIT = 40  # states; above this an implicit method takes differences of the field


class Run:
    """One integration: where it is, its mode, and what it has recorded."""

    def __init__(
        self,
        compiled: Compiled,
        parameters: Mapping[str, float],
        events: Sequence[StopWhen],
        span: tuple[float, float],
        x: np.ndarray,
        method: str,
        tolerances: Mapping[str, Any],
        limits: Mapping[str, int],
        on_slide: str,
        kernel: Any = None,
    ) -> None:
        t, self.end = span
        self.compiled, self.parameters, self.specs = compiled, parameters, events
        self.start, self.t, self.x = t, t, x
        self.method, self.tolerances, self.on_slide = method, tolerances, on_slide
        self.switches_left, self.steps_left = limits["max_switches"], limits["max_steps"]
        self.kernel, self.left_to_me = kernel, False
        self.jacobians = self.steps = 0
        self.stiff_from: float | None = None  # when a run by "auto" went on with implicit steps
        self.series_from: float | None = None  # and when by Taylor series
        self.surfaces = Surfaces(compiled, parameters, tolerances)
        self.meter = self.surfaces.meter
        self.watches = [spec.function(compiled, parameters) for spec in events]
        self.mode = self.surfaces.start_mode(t, x)
        self.slide: Slide | None = None
        self.watch = WatchedValues(self.watched, self.surfaces.movable, events, self._reach)
        self.log = EventLog(self.surfaces, t)
        self.knots, self.states, self.pieces = [t], [x], list[Any]()
        self.last_step, self.entered = 0.0, math.nan
        self.refused: set[tuple[int, ...]] = set()
        self.turns: list[float] = []  # when the mode was chosen last

    @property
    def methods(self) -> tuple[float | None, float | None]:
        """When the run went on with implicit steps, and when by Taylor series."""
        return self.stiff_from, self.series_from

    def _events_at_zero(self) -> None:
        """Measure the zero of all events where a mode is entered; at the start those that are not there get a side."""
        if not self.watches:
            return
        first, values = self.watch.count, self._events(self.t, self.x)
        room = 0.0 if self.slide is None else self.surfaces.tolerance(self.x)  # a slide keeps to its surfaces so well
        width = self.surfaces.moved_by_rounding(self._events, self.t, self.x, self.mode.gates, self.last_step, room)
        if self.t == self.start:
            self.watch.side[first:] = np.where(np.abs(values) <= width, 0.0, sides(values))
        self.watch.width[first:] = width

    def _events(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of all events, with the gates of the present mode."""
        gates = self.mode.gates
        if self.slide is not None and self.watches:
            gates = gates.copy()
            gates[self.slide.which] = self.slide.gates(t, x)
        return np.array([watch(t, x, gates) for watch in self.watches])

    def _reach(self, t: float, x: np.ndarray) -> np.ndarray:
        """How far the tolerances of some steps, and rounding of time, can move each event."""
        here, room = self._events(t, x), self.surfaces.tolerance(x)
        moved = [np.abs(self._events(t, x + room * signs) - here) for signs in rounding_signs(x.size)]
        late = TIME_ROUNDING * max(abs(t), self.last_step)
        moved += [np.abs(self._events(t + way * late, x) - here) for way in (1, -1)]
        reach: np.ndarray = TOUCH_ROOM * np.max(moved, axis=0)
        return reach

    def field(self, t: float, x: np.ndarray) -> np.ndarray:
        """The field of the present mode."""
        return self.surfaces.field(t, x, self.mode.gates) if self.slide is None else self.slide.velocity(t, x)

    def watched(self, t: float, x: np.ndarray) -> np.ndarray:
        """Values of all surfaces (margins of the gates of those that slide) and events."""
        values = self.surfaces.values(t, x, self.mode.gates)
        if self.slide is not None:
            values[self.slide.which] = self.slide.margins(t, x)
        return np.append(values, self._events(t, x))

    def run(self, report: Callable[[float], None]) -> str:
        """Go on until the end; gives the reason."""
        if not np.isfinite(self.field(self.t, self.x)).all():
            raise IntegrationError(f"the right-hand side is not finite at the start, t = {self.t:g}", time=self.t)
        unmeasured = np.flatnonzero((self.x == 0) & (np.broadcast_to(self.tolerances["atol"], self.x.shape) == 0))
        if unmeasured.size:
            name = self.compiled.system.names[unmeasured[0]]
            raise self._error(f"{name} starts at zero and atol is zero: its error has no unit; give a positive atol")
        reason = self._turn(())
        while not reason:
            by_kernel = self.kernel is not None and self.slide is None and not self.left_to_me
            reason = self._stretch(report) if by_kernel else self._segment(report)
        self.log.finish(self.t)
        return reason

    # ---- one segment -------------------------------------------------------------------------------------------------

    def _segment(self, report: Callable[[float], None]) -> str:
        """Integrate in the present mode until it changes (then the reason is empty) or the run ends."""
        if self.t >= self.end:
            return "end"
        solver = self._solver()
        while solver.status == "running":
            self._check(solver, _message_of(solver))
            if self._gates_multiply(solver):
                self.jacobians += int(solver.njev)
                return ""
            dense = solver.dense_output()
            found = self.watch.scan(self._states(dense, solver), self.t, float(solver.t))
            if found.kind == "denied":
                self.jacobians += int(solver.njev)
                return self._deny(found.index)
            self.log.events += found.events
            self._accept(dense, solver, found)
            report((self.t - self.start) / (self.end - self.start))
            if found.kind:
                self.jacobians += int(solver.njev)
                return f"event:{self.specs[found.index].name}" if found.kind == "event" else self._turn((found.index,))
            solver = self._back_on_surface(solver)
        self.jacobians += int(solver.njev)
        return "end"

    def _solver(self, first_step: float | None = None) -> Any:
        options: dict[str, Any] = dict(self.tolerances)
        method = self.method if self.stiff_from is None else "Rodas5P"
        small = self.x.size <= EXACT_JACOBIAN_LIMIT and self.compiled.backend != "block" and self.slide is None
        if small and method in IMPLICIT:
            gates = self.mode.gates
            options["jac"] = lambda t, x: self.compiled.jacobian(t, x, gates)
        if first_step is not None:
            options["first_step"] = min(first_step, self.end - self.t)
        solver = METHODS[method](self.field, self.t, self.x, self.end, **options)
        if math.isnan(getattr(solver, "h_abs", 0.0)):  # SciPy's step would have no end
            raise self._error(f"the right-hand side is not finite at t = {self.t:.9g}")
        return solver

    def _states(self, dense: Any, solver: Any) -> Callable[[float], np.ndarray]:
        """The state at a time of the step just made: its ends as they are, dense output between and a little beyond."""
        ends = {self.t: self.x, float(solver.t): solver.y}
        return lambda t: ends[t] if t in ends else np.asarray(dense(t))

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

    def _accept(self, dense: Any, solver: Any, found: StepOutcome) -> None:
        t = found.time if found.kind else float(solver.t)
        self.x = self._states(dense, solver)(t).copy()
        if t > self.t:
            self.knots.append(t)
            self.states.append(self.x)
            self.pieces.append(dense)
            self.refused = set()
        self.last_step, self.t = t - self.t, t

    # ---- a stretch in compiled code ----------------------------------------------------------------------------------

    def _stretch(self, report: Callable[[float], None]) -> str:
        """Go on in compiled code to the end, an event, or what is left to this class (then the reason is empty)."""
        stretch, more = self.kernel.stretch(self), True
        while more:
            more = stretch.advance(self.steps_left, self.switches_left)
            self._keep(stretch)
            report((self.t - self.start) / (self.end - self.start))
        self.stiff_from = stretch.stiff_from if self.stiff_from is None else self.stiff_from
        self.series_from = stretch.series_from if self.series_from is None else self.series_from
        self.left_to_me = not stretch.ended
        if self.left_to_me:
            return ""
        return f"event:{self.specs[stretch.event].name}" if stretch.event >= 0 else "end"

    def _keep(self, stretch: Any) -> None:
        """Take over what a stretch has done since it was last asked."""
        times, states, pieces = stretch.steps()
        lost = np.flatnonzero(~np.isfinite(states).all(axis=1))  # an error in units of an infinite state is zero
        if lost.size:
            self.t, self.x = ([self.t, *times][lost[0]], [self.x, *states][lost[0]])
            size = np.abs(self.x).max()
            message = "the values are no longer finite"
            raise self._error(f"the integration got stuck at t = {self.t:.9g} with states up to {size:.3g}: {message}")
        self.knots += times.tolist()
        self.states += list(states)
        self.pieces += pieces
        self.t, self.x = self.knots[-1], self.states[-1].copy()
        if pieces:
            self.refused, self.last_step = set(), self.t - pieces[-1].t_old
        for t, i, direction in stretch.happenings():
            if i < self.watch.count:
                self._switched(t, i)
            else:
                spec = self.specs[i - self.watch.count]
                detail = {"direction": direction, "terminal": spec.terminal}
                self.log.events.append(Event(spec.name, "user", t, detail))
        state = stretch.state
        self.watch.side, self.watch.width = state.side.copy(), state.width.copy()
        self.steps, self.steps_left = self.steps + state.steps, self.steps_left - state.steps
        self.meter.fields, self.meter.states = self.meter.fields + state.fields, self.meter.states + state.visited
        self.jacobians += state.jacobians

    def _switched(self, t: float, i: int) -> None:
        """The kernel turned the gate of a surface."""
        gates = self.mode.gates.copy()
        gates[i] = 1 - gates[i]
        mode = Mode(gates, self.mode.sliding)
        self.log.change(t, self.mode, mode)
        self.mode, self.entered, self.watch.own = mode, t, 2 * gates - 1
        self.switches_left -= 1

    # ---- sliding -----------------------------------------------------------------------------------------------------

    def _gates_multiply(self, solver: Any) -> bool:
        """True if gates taken as affine turn out not to be at the end of a step: the step is made again with all."""
        if self.slide is None or not self.mode.affine or self.slide.which.size < 2:
            return False
        t, x = float(solver.t), solver.y
        if PatternTable(self.surfaces, t, x, self.mode.gates, self.slide.which).is_affine():
            return False
        self._take(Mode(self.mode.gates, self.mode.sliding, affine=False))
        return True

    def _back_on_surface(self, solver: Any) -> Any:
        """After a step of a slide: keep its gates, take out the drift; a state that was moved needs a new solver."""
        if self.slide is None or solver.status != "running":
            return solver
        self.slide.keep_guess(self.slide.gates(self.t, self.x))
        room = DRIFT_MULTISTEP if self.method in ("BDF", "LSODA") else DRIFT
        if not self.slide.has_drifted(self.t, self.x, self.tolerances, room):
            return solver
        self.jacobians += int(solver.njev)
        self._move(self.slide.corrected(self.t, self.x))
        return self._solver(getattr(solver, "h_abs", None))

    def _move(self, x: np.ndarray) -> None:
        if self.t > self.start:  # the start is given, and kept
            self.x = self.states[-1] = x

    def _take(self, mode: Mode) -> None:
        self.mode = mode
        self.slide = Slide(self.surfaces, mode) if mode.sliding.size else None

    # ---- from mode to mode -------------------------------------------------------------------------------------------

    def _turn(self, crossed: Sequence[int]) -> str:
        """Choose the mode at the present point, where the surfaces `crossed` are at zero or their gates at an end."""
        if crossed:
            self.switches_left -= 1
            if self.t == self.entered:  # no time has passed in this mode: not to be entered again at this time
                self.refused.add(self.mode.key)
        if self.switches_left < 0:
            last = self.surfaces.names[crossed[0]]
            raise self._error(f"gates switched more than max_switches times up to t = {self.t:.9g}, last: {last}")
        present = self.mode
        if self.slide is not None:
            self._move(self.slide.corrected(self.t, self.x))
            gates = present.gates.copy()
            gates[present.sliding] = np.clip(self.slide.gates(self.t, self.x), 0, 1)
            for i in set(crossed) & set(present.sliding.tolist()):
                gates[i] = np.round(gates[i])
            present = Mode(gates, present.sliding, present.affine)
        self.turns = [*self.turns[1 - PILE :], self.t]
        piling = len(self.turns) == PILE and self.t - self.turns[0] <= PILE_TIME * (self.t - self.start)
        choice = self.surfaces.choose(self.t, self.x, present, self.last_step, crossed, self.refused, piling)
        self.watch.width[: self.watch.count] = choice.width
        still = choice.zero | ~self.surfaces.movable
        self.watch.side[: self.watch.count] = np.where(still, 0.0, 2 * choice.mode.gates - 1)
        return self._enter(choice.mode)

    def _enter(self, mode: Mode) -> str:
        """Go on in a mode, unless it slides and that is not to be followed."""
        if mode.sliding.size and self.on_slide != "follow":
            return self._stop_at_slide(mode)
        if mode.loose:
            name = self.surfaces.names[int(mode.sliding[0])]
            raise self._error(
                f"at t = {self.t:.9g} the flow stays on {name} = 0, but that does not determine the gates and the "
                f"equation of {mode.loose} depends on them; smooth the step, or end the run there with on_slide='stop'"
            )
        self.log.change(self.t, self.mode, mode)
        self._take(mode)
        self.entered, self.left_to_me = self.t, False
        watch = self.watch
        watch.own = 2 * mode.gates - 1
        if self.slide is not None:
            which = self.slide.which
            if self.t > self.start:
                self._move(self.slide.corrected(self.t, self.x))
            watch.own[which], watch.width[which] = 1.0, EDGE / 10
            watch.side[which] = np.where(self.slide.margins(self.t, self.x) > EDGE, 1.0, 0.0)
        self._events_at_zero()
        return ""

    def _deny(self, i: int) -> str:
        """A surface left its zero to the side its gate denies (a gate left [0, 1] at once): the next mode."""
        self.refused.add(self.mode.key)
        gate = self.mode.gates[i]
        if self.slide is not None and i in self.slide.which:
            trial: Mode | None = self.mode.release(i, float(np.round(gate)))
            self.watch.width[i] = self.surfaces.width(self.t, self.x, self.mode.gates, self.last_step)[i]
        else:
            trial = self.mode.release(i, 1 - gate)
            if trial.key in self.refused:
                zero = np.flatnonzero(self.surfaces.movable & (self.watch.side[: self.watch.count] == 0))
                trial = self.surfaces.slide_along(self.t, self.x, self.mode, i, zero)
        self.watch.side[i] = 0.0
        if trial is None or trial.key in self.refused:
            return self._turn((i,))
        return self._enter(trial)

    def _stop_at_slide(self, mode: Mode) -> str:
        names = [self.surfaces.names[i] for i in mode.sliding]
        if self.on_slide == "raise":
            raise self._error(f"the flow slides from t = {self.t:.9g}: the field points to {names[0]} from both sides")
        self.log.change(self.t, self.mode, mode)
        return "slide"


def _message_of(solver: Any) -> str | None:
    """Make a step; why it could not be made, if so."""
    try:
        message: str | None = solver.step()
    except (ValueError, np.linalg.LinAlgError) as error:  # linear algebra with what is not finite
        return str(error)
    return message
