"""Flows run whole in compiled code: field, switches and events in one function, for long runs and for many of them.

The results are those of `numerics.flows.integrate` to the tolerance asked for, and `integrate` stays the reference:
slides, and points where several surfaces meet, are handed over to it. Without llvmlite the same text runs as plain
Python.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution

from odesys.analysis.switching import Switching
from odesys.errors import IntegrationError, ParameterError
from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.system import TIME, System, state_vector
from odesys.jit import llvm, loops, native
from odesys.jit.codegen import bind_parameters, generate

from ..flows.integrate import check_atol, check_rtol, default_atol, integrate, repeated
from ..flows.trajectory import Cost, Event, StopWhen, Trajectory, continued
from . import kernel

ROOM = 512  # steps kept at a time
CHUNK = 256  # runs of a batch between two looks at the keyboard


class CompiledFlow:
    """A flow with its events compiled into one function; parameters and start values are given at each run.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> flow = CompiledFlow(System.from_equations({x: -x}))
    >>> round(float(flow.run([1.0], (0.0, 1.0)).end_state[0]), 9)
    0.367879441
    """

    def __init__(self, system: System, events: Sequence[StopWhen] = ()) -> None:
        if system.kind != "flow":
            raise ParameterError("a map has no time between its steps; use numerics.maps.iterate")
        self.system, self.specs = system, tuple(events)
        self.events = [_event_node(system, spec) for spec in events]

    @cached_property
    def _field(self) -> Any:
        return _code(self.system, self.system.nodes)

    @cached_property
    def _watch(self) -> Any:
        return _code(self.system, [*self.system.surfaces, *self.events])

    def run(
        self,
        x0: Any,
        t_span: tuple[float, float],
        parameters: Mapping[str, Any] | None = None,
        rtol: float = 1e-9,
        atol: float | None = None,
        max_steps: int = 100_000,
        report: Callable[[float], None] | None = None,
        done: int = 0,
    ) -> Trajectory:
        """One trajectory with dense output, as `integrate` gives it.

        `report` is told the fraction done; `done` steps of `max_steps` were made before.
        """
        began = time.perf_counter()
        problem = self._checked(x0, parameters, t_span, rtol, atol, max_steps, done)
        out = self._call(problem, True, report)
        trajectory = self._trajectory(problem, out, time.perf_counter() - began)
        if out.status == kernel.HANDOVER:
            return continued(trajectory, self._rest(problem, out.x, out.t, out.steps))
        return trajectory

    def final(
        self,
        x0: Any,
        t_span: tuple[float, float],
        parameters: Mapping[str, Any] | None = None,
        rtol: float = 1e-9,
        atol: float | None = None,
        max_steps: int = 100_000,
    ) -> np.ndarray:
        """Only the state at the end."""
        problem = self._checked(x0, parameters, t_span, rtol, atol, max_steps)
        out = self._call(problem, False)
        if out.status == kernel.HANDOVER:
            return self._rest(problem, out.x, out.t, out.steps).end_state
        return out.x

    def batch(
        self,
        starts: Any,
        t_span: tuple[float, float],
        parameters: Sequence[Mapping[str, Any]],
        rtol: float = 1e-9,
        atol: float | None = None,
        max_steps: int = 100_000,
    ) -> np.ndarray:
        """End states (points, n), one per row of `starts` (or one start for all) and an entry of `parameters`."""
        rows = [starts] if isinstance(starts, Mapping) else np.atleast_2d(np.asarray(starts, dtype=float))
        if len(rows) not in (1, len(parameters)):
            raise ParameterError(f"{len(rows)} starts do not go with {len(parameters)} sets of parameters")
        problems = [
            self._checked(rows[k % len(rows)], one, t_span, rtol, atol, max_steps) for k, one in enumerate(parameters)
        ]
        chunks = [self._many(problems[k : k + CHUNK], k) for k in range(0, len(problems), CHUNK)]
        return np.concatenate([np.empty((0, self.system.dimension)), *chunks])

    # ---- one call ----------------------------------------------------------------------------------------------------

    def _many(self, problems: Sequence[_Problem], first: int) -> np.ndarray:
        """Ends of some runs of a batch, of which the first has the number `first`."""
        x, p = np.array([one.x for one in problems]), np.array([one.p for one in problems])
        one, sizes, watched = problems[0], np.array([one.atol for one in problems]), self._watched()
        n, info = self.system.dimension, np.empty((len(x), kernel.INFO))
        happenings, space = np.empty((_places(watched.count), kernel.KNOT)), np.empty(kernel.memory(n, watched.count))
        _, _, many = _functions()
        many(
            self._field,
            self._watch,
            n,
            watched.surfaces,
            watched.count,
            len(x),
            p.shape[1],
            x.ravel(),
            p.ravel(),
            watched.gates,
            one.t0,
            one.t1,
            one.rtol,
            sizes,
            watched.side,
            watched.width,
            *watched.fixed,
            one.max_steps,
            len(happenings),
            happenings.ravel(),
            space,
            info.ravel(),
        )
        for k, (row, told) in enumerate(zip(x, info, strict=True)):
            status, t, taken = int(told[kernel.STATUS]), float(told[kernel.TIME]), int(told[kernel.TAKEN])
            self._check(status, t, row, one.max_steps, f"point {first + k} of the batch: ")
            if status == kernel.HANDOVER:
                x[k] = self._rest(problems[k], row, t, taken).end_state
        return x

    def _checked(
        self,
        x0: Any,
        parameters: Mapping[str, Any] | None,
        t_span: tuple[float, float],
        rtol: float,
        atol: float | None,
        max_steps: int,
        done: int = 0,
    ) -> _Problem:
        given = x0 if isinstance(x0, np.ndarray) else state_vector(self.system, x0)
        x = np.ascontiguousarray(given, dtype=float)
        if x.shape != (self.system.dimension,) or not x.size or not np.isfinite(x).all():
            raise ParameterError(f"the start must be {self.system.dimension} finite numbers, and not none at all")
        t0, t1 = float(t_span[0]), float(t_span[1])
        if not (math.isfinite(t0) and math.isfinite(t1) and t0 <= t1):
            raise ParameterError(f"the time span ({t0}, {t1}) must be finite and must not run backwards")
        check_rtol(rtol)
        if atol is not None and np.ndim(check_atol(atol, x.size)):
            raise ParameterError("compiled flows take one atol for all states; use integrate for one each")
        size = default_atol(x, rtol) if atol is None else float(atol)
        p = bind_parameters(self.system, parameters or {})
        return _Problem(x, p, t0, t1, float(rtol), size, int(max_steps), done)

    def _call(self, problem: _Problem, keep: bool, report: Callable[[float], None] | None = None) -> _Outcome:
        t0, t1 = problem.t0, problem.t1
        out = _Outcome(problem, self._watched(), keep)
        out.begin(self._watch)
        while out.status == kernel.ROOM:
            out.advance(self._field, self._watch)
            if report is not None and t1 > t0:
                report((out.t - t0) / (t1 - t0))
        self._check(out.status, out.t, out.x, problem.max_steps)
        return out

    def _check(self, status: int, t: float, x: np.ndarray, max_steps: int, where: str = "") -> None:
        """Raise a sentence if a run could not go on."""
        if status in (kernel.STUCK, kernel.STEPS) or not np.isfinite(x).all():
            why = (
                f"all {max_steps} steps allowed by max_steps were taken"
                if status == kernel.STEPS
                else "the required step is below rounding, or values are no longer finite"
            )
            raise IntegrationError(f"{where}the integration got stuck at t = {t:.9g}: {why}", time=float(t), state=x)

    def _rest(self, problem: _Problem, x: np.ndarray, t: float, taken: int) -> Trajectory:
        """What the reference integrator makes of a run that was handed over to it after `taken` steps."""
        with repeated(False):  # else it would come back here
            return integrate(
                self.system,
                x,
                (t, problem.t1),
                self._bound(problem),
                rtol=problem.rtol,
                atol=problem.atol,
                events=self.specs,
                max_steps=max(1, problem.max_steps - problem.done - taken),
            )

    def _bound(self, problem: _Problem) -> dict[str, float]:
        return dict(zip(self.system.parameters, problem.p.tolist(), strict=True))

    def _watched(self) -> _Watched:
        return _Watched(len(self.system.surfaces), self._movable, self._directions, self._terminal)

    @cached_property
    def _movable(self) -> np.ndarray:
        moving = {*self.system.moving, TIME}
        still = [float(bool(graph.symbols([node]) & moving)) for node in self.system.surfaces]
        return np.array([*still, *[1.0] * len(self.events)])

    @cached_property
    def _surface_names(self) -> list[str]:
        ones = dict.fromkeys(self.system.parameters, 1.0)
        return Switching(self.system.compile(ones, backend="scalar")).names

    @cached_property
    def _directions(self) -> np.ndarray:
        return np.array([spec.direction for spec in self.specs], dtype=float)

    @cached_property
    def _terminal(self) -> np.ndarray:
        return np.array([spec.terminal for spec in self.specs], dtype=float)

    def _trajectory(self, problem: _Problem, out: _Outcome, seconds: float) -> Trajectory:
        knots, states, tables, happenings = out.kept
        times, states = np.append(problem.t0, knots[:, 0]), np.vstack([problem.x, states])
        pieces = [Piece(knots[k, 1], knots[k, 2], states[k], table) for k, table in enumerate(tables)]
        surfaces = self.system.surfaces
        events = []
        for when, index, direction in happenings.tolist():
            i = int(index)
            if i < len(surfaces):
                detail = {"surface": i, "gate": int(direction > 0)}
                events.append(Event(self._surface_names[i], "switch", when, detail))
            else:
                spec = self.specs[i - len(surfaces)]
                detail = {"direction": int(direction), "terminal": spec.terminal}
                events.append(Event(spec.name, "user", when, detail))
        stop = f"event:{self.specs[out.index].name}" if out.status == kernel.EVENT else "end"
        cost = Cost(out.evaluations, 0, out.steps, seconds, out.evaluations)
        solution = OdeSolution(times, pieces) if pieces else None
        happened = tuple(sorted(events, key=lambda e: e.time))
        bound = self._bound(problem)
        return Trajectory(self.system, bound, times, states, out.t, out.x, happened, stop, cost, solution)


@dataclass(frozen=True, eq=False)
class _Watched:
    """Surfaces and events of a run: what stays (which can change, directions, which end it) and what moves along."""

    surfaces: int
    movable: np.ndarray
    directions: np.ndarray
    terminal: np.ndarray
    gates: np.ndarray = field(init=False)
    side: np.ndarray = field(init=False)
    width: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        for name, size in (("gates", self.surfaces), ("side", self.count), ("width", self.count)):
            object.__setattr__(self, name, np.zeros(size))

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.movable)

    @property
    def fixed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """What stays."""
        return self.movable, self.directions, self.terminal


@dataclass(frozen=True, eq=False)
class _Problem:
    """One run to be made: start, parameters, span, tolerances, and how many steps may be taken and have been."""

    x: np.ndarray
    p: np.ndarray
    t0: float
    t1: float
    rtol: float
    atol: float
    max_steps: int
    done: int = 0


class _Outcome:
    """A run in compiled code: where it is and, if asked for, every step it made, in rooms of `ROOM` steps."""

    def __init__(self, problem: _Problem, watched: _Watched, keep: bool) -> None:
        self.problem, self.watched, self._rows = problem, watched, ROOM if keep else 0
        self.t, self.x = problem.t0, problem.x.copy()
        self.status, self.index, self.steps, self.evaluations, self._h = kernel.ROOM, -1, 0, 0, 0.0
        self._space = np.empty(kernel.memory(self.x.size, watched.count))
        self._parts: list[list[np.ndarray]] = []

    def begin(self, watch: Any) -> None:
        """Find the gates and sides at the start."""
        w = self.watched
        begin, _, _ = _functions()
        begin(watch, w.surfaces, w.count, self.t, self.x, self.problem.p, w.gates, w.side, w.width, self._space)

    def advance(self, field: Any, watch: Any) -> None:
        """Go on until something ends the run or a room is full."""
        rows, n, w, info, problem = self._rows, self.x.size, self.watched, np.empty(kernel.INFO), self.problem
        knots, states, tables = np.empty((rows, kernel.KNOT)), np.empty((rows, n)), np.empty((rows, kernel.POWERS, n))
        happenings = np.empty((_places(w.count), kernel.KNOT))
        info[kernel.TIME], info[kernel.STEP] = self.t, self._h
        _, run, _ = _functions()
        run(
            field,
            watch,
            n,
            w.surfaces,
            w.count,
            self.x,
            problem.p,
            w.gates,
            problem.t1,
            problem.rtol,
            problem.atol,
            w.side,
            w.width,
            *w.fixed,
            problem.max_steps - problem.done - self.steps,
            rows,
            knots.ravel(),
            states.ravel(),
            tables.ravel(),
            len(happenings),
            happenings.ravel(),
            self._space,
            info,
        )
        status, index, self.t, self._h, steps, evaluations, kept, happened = info[: kernel.HAPPENED + 1].tolist()
        self.status, self.index = int(status), int(index)
        self.steps += int(steps)
        self.evaluations += int(evaluations)
        self._parts.append([*(array[: int(kept)] for array in (knots, states, tables)), happenings[: int(happened)]])

    @property
    def kept(self) -> list[np.ndarray]:
        """Knots, states, polynomials and happenings of the whole run."""
        return [np.concatenate(arrays) for arrays in zip(*self._parts, strict=True)]


@dataclass(frozen=True, eq=False)
class Piece:
    """Dense output of one step from `t_old` over `h`, or of the part of it that was taken."""

    t_old: float
    h: float
    start: np.ndarray
    table: np.ndarray = field(repr=False)

    def __call__(self, t: Any) -> np.ndarray:
        part = (np.asarray(t, dtype=float) - self.t_old) / self.h
        y = np.zeros((self.start.size, *np.shape(part)))
        for k, row in enumerate(self.table[::-1]):
            y = (y + row.reshape(-1, *[1] * np.ndim(part))) * (part if k % 2 == 0 else 1 - part)
        result: np.ndarray = y + self.start.reshape(-1, *[1] * np.ndim(part))
        return result


@cache
def _functions() -> tuple[Callable[..., Any], ...]:
    return loops.ready(kernel.begin, kernel.run, kernel.many)


def _places(count: int) -> int:
    """Room for what happens in a room of steps."""
    return ROOM + 4 * kernel.PARTS * count


def _code(system: System, nodes: Sequence[Node]) -> Any:
    """Address of machine code for nodes with gates given, or their straight-line Python code for the same arrays."""
    if llvm.available():
        return native.compile_nodes(system, nodes, range(len(nodes)), gated=True)
    function = generate(system, nodes, [f"out[{i}]" for i in range(len(nodes))], gated=True).function
    n, parameters, surfaces = system.dimension, len(system.parameters), len(system.surfaces)

    def run(t: float, x: np.ndarray, p: np.ndarray, g: np.ndarray, out: np.ndarray) -> None:
        try:
            function(float(t), x[:n].tolist(), p[:parameters].tolist(), g[:surfaces].tolist(), out)
        except (ArithmeticError, ValueError):  # where machine code gives what is not a number
            out[: len(nodes)] = math.nan

    return run


def _event_node(system: System, spec: StopWhen) -> Node:
    """The expression of an event minus its level, in states, parameters and time."""
    wanted: Any = spec.expression
    if isinstance(wanted, str) and wanted in system.observables:
        wanted = system.observables[wanted]
    elif not isinstance(wanted, (str, Node)) and not hasattr(wanted, "free_symbols") and callable(wanted):
        raise ParameterError(
            f"the event {spec.name} is a Python function, which compiled code can not call; "
            f"give it as an expression, or use integrate"
        )
    node = graph.substitute([graph.as_node(wanted)], {graph.sym(n): v for n, v in system.observables.items()})[0]
    unknown = sorted(graph.symbols([node]) - {*system.names, *system.parameters, TIME})
    if unknown:
        raise ParameterError(f"the event {spec.name} uses {unknown[0]}, which is no state, observable or parameter")
    return node - graph.num(spec.level)
