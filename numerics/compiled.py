"""Flows run whole in compiled code: field, switches and events in one function, for long runs and for many of them.

The results are those of `numerics.integrate` to the tolerance asked for, and `integrate` stays the reference: slides,
and points where several surfaces meet, are handed over to it. Without numba the same text runs as plain Python.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution

from odesys import graph, machine_code, native
from odesys.codegen import bind_parameters, generate
from odesys.errors import IntegrationError, ParameterError
from odesys.graph import Node
from odesys.switching import Switching
from odesys.system import TIME, System, state_vector

from . import dop853
from .integrate import default_atol, integrate
from .trajectory import Cost, Event, StopWhen, Trajectory, continued

ROOM = 512  # steps kept at a time


class CompiledFlow:
    """A flow with its events compiled into one function; parameters and start values are given at each run.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> flow = CompiledFlow(System.from_equations({x: -x}))
    >>> round(float(flow.run([1.0], (0.0, 1.0)).end_state[0]), 12)
    0.367879441171
    """

    def __init__(self, system: System, events: Sequence[StopWhen] = ()) -> None:
        if system.kind != "flow":
            raise ParameterError("a map has no time between its steps; use numerics.iterate")
        self.system, self.specs = system, tuple(events)
        self.events = [_event_node(system, spec) for spec in events]

    @cached_property
    def _field(self) -> int:
        nodes = self.system.nodes
        return _address(self.system, nodes)

    @cached_property
    def _watch(self) -> int:
        return _address(self.system, [*self.system.surfaces, *self.events])

    def run(self, x0: Any, t_span: tuple[float, float], parameters: Mapping[str, Any] | None = None,
            rtol: float = 1e-9, atol: float | None = None, max_steps: int = 100_000,
            report: Callable[[float], None] | None = None) -> Trajectory:
        """One trajectory with dense output, as `integrate` gives it; `report` is told the fraction done."""
        began = time.perf_counter()
        x, p, t0, t1 = self._checked(x0, parameters, t_span)
        out = self._call(t0, x, p, t1, rtol, atol, max_steps, True, report)
        bound = dict(zip(self.system.parameters, p.tolist(), strict=True))
        trajectory = self._trajectory(x, t0, bound, out, time.perf_counter() - began)
        if out.status == dop853.HANDOVER:
            rest = integrate(self.system, out.x, (out.t, t1), bound, rtol=rtol, atol=atol, events=self.specs,
                             max_steps=max_steps)
            return continued(trajectory, rest)
        return trajectory

    def final(self, x0: Any, t_span: tuple[float, float], parameters: Mapping[str, Any] | None = None,
              rtol: float = 1e-9, atol: float | None = None, max_steps: int = 100_000) -> np.ndarray:
        """Only the state at the end."""
        x, p, t0, t1 = self._checked(x0, parameters, t_span)
        out = self._call(t0, x, p, t1, rtol, atol, max_steps, False)
        if out.status == dop853.HANDOVER:
            bound = dict(zip(self.system.parameters, p.tolist(), strict=True))
            return integrate(self.system, out.x, (out.t, t1), bound, rtol=rtol, atol=atol, events=self.specs).end_state
        return out.x

    def batch(self, starts: Any, t_span: tuple[float, float], parameters: Sequence[Mapping[str, Any]],
              rtol: float = 1e-9, atol: float | None = None, max_steps: int = 100_000) -> np.ndarray:
        """End states (points, n), one a row of `starts` (or one start for all) and an entry of `parameters`."""
        rows = np.atleast_2d(np.asarray(starts, dtype=float))
        if len(rows) not in (1, len(parameters)):
            raise ParameterError(f"{len(rows)} starts do not go with {len(parameters)} sets of parameters")
        return np.array([self.final(rows[k % len(rows)], t_span, given, rtol, atol, max_steps)
                         for k, given in enumerate(parameters)])

    # ---- one call ----------------------------------------------------------------------------------------------------

    def _checked(self, x0: Any, parameters: Mapping[str, Any] | None,
                 t_span: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, float, float]:
        given = x0 if isinstance(x0, np.ndarray) else state_vector(self.system, x0)
        x = np.ascontiguousarray(given, dtype=float)
        if x.shape != (self.system.dimension,) or not np.isfinite(x).all():
            raise ParameterError(f"the start must be {self.system.dimension} finite numbers")
        t0, t1 = float(t_span[0]), float(t_span[1])
        if not (math.isfinite(t0) and math.isfinite(t1) and t0 <= t1):
            raise ParameterError(f"the time span ({t0}, {t1}) must be finite and must not run backwards")
        return x, bind_parameters(self.system, parameters or {}), t0, t1

    def _call(self, t0: float, x: np.ndarray, p: np.ndarray, t1: float, rtol: float, atol: float | None,
              max_steps: int, keep: bool, report: Callable[[float], None] | None = None) -> _Outcome:
        size = default_atol(x, rtol) if atol is None else atol
        surfaces = len(self.system.surfaces)
        values = np.empty(surfaces + len(self.events))
        gates = np.zeros(surfaces)
        for _ in range(surfaces + 1):  # surfaces may contain other gates
            machine_code.apply(self._watch, t0, x, p, gates, values)
            found = np.where(values[:surfaces] > 0, 1.0, 0.0)
            if np.array_equal(found, gates):
                break
            gates = found
        out = _Outcome(t0, x.copy(), gates, np.sign(values), x.size, keep)
        width, tolerance = np.zeros(values.size), np.full(x.size, size)
        while out.status == dop853.ROOM:
            out.advance(self._field, self._watch, p, t1, rtol, tolerance, width, self._movable, self._directions,
                        self._terminal, max_steps)
            if report is not None and t1 > t0:
                report((out.t - t0) / (t1 - t0))
        if out.status in (dop853.STUCK, dop853.STEPS) or not np.isfinite(out.x).all():
            why = f"all {max_steps} steps allowed by max_steps were taken" if out.status == dop853.STEPS else \
                "the required step is below rounding, or values are no longer finite"
            raise IntegrationError(f"the integration got stuck at t = {out.t:.9g}: {why}", time=out.t, state=out.x)
        return out

    @cached_property
    def _movable(self) -> np.ndarray:
        moving = {*self.system.moving, TIME}
        still = [bool(graph.symbols([node]) & moving) for node in self.system.surfaces]
        return np.array([*still, *[True] * len(self.events)], dtype=bool)

    @cached_property
    def _surface_names(self) -> list[str]:
        ones = dict.fromkeys(self.system.parameters, 1.0)
        return Switching(self.system.compile(ones, backend="scalar")).names

    @cached_property
    def _directions(self) -> np.ndarray:
        return np.array([spec.direction for spec in self.specs], dtype=float)

    @cached_property
    def _terminal(self) -> np.ndarray:
        return np.array([spec.terminal for spec in self.specs], dtype=bool)

    def _trajectory(self, x: np.ndarray, t0: float, bound: Mapping[str, float], out: _Outcome,
                    seconds: float) -> Trajectory:
        knots, states, tables, happenings = out.kept
        times, states = np.append(t0, knots[:, 0]), np.vstack([x, states])
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
        stop = f"event:{self.specs[out.index].name}" if out.status == dop853.EVENT else "end"
        cost = Cost(out.evaluations, 0, out.steps, seconds, out.evaluations)
        solution = OdeSolution(times, pieces) if pieces else None
        happened = tuple(sorted(events, key=lambda e: e.time))
        return Trajectory(self.system, bound, times, states, out.t, out.x, happened, stop, cost, solution)


class _Outcome:
    """A run in compiled code: where it is and, if asked for, every step it made, in rooms of `ROOM` steps."""

    def __init__(self, t: float, x: np.ndarray, gates: np.ndarray, side: np.ndarray, n: int, keep: bool) -> None:
        self.t, self.x, self.gates, self.side, self._rows = t, x, gates, side, ROOM if keep else 0
        self.status, self.index, self.steps, self.evaluations, self._h = dop853.ROOM, -1, 0, 0, 0.0
        self._parts: list[list[np.ndarray]] = []

    def advance(self, field: int, watch: int, p: np.ndarray, t_end: float, rtol: float, atol: np.ndarray,
                width: np.ndarray, movable: np.ndarray, directions: np.ndarray, terminal: np.ndarray,
                max_steps: int) -> None:
        """Go on until something ends the run or a room is full."""
        rows, n = self._rows, self.x.size
        room = np.empty((rows, 3)), np.empty((rows, n)), np.empty((rows, 7, n)), np.empty((ROOM + 8 * width.size, 3))
        self.status, self.index, self.t, self._h, steps, evaluations, kept, happened = dop853.run(
            field, watch, self.t, self.x, p, self.gates, t_end, rtol, atol, self._h, self.side, width, movable,
            directions, terminal, max_steps - self.steps, *room)
        self.steps += steps
        self.evaluations += evaluations
        self._parts.append([*(array[:kept] for array in room[:3]), room[3][:happened]])

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
        return y + self.start.reshape(-1, *[1] * np.ndim(part))


def _address(system: System, nodes: Sequence[Node]) -> int:
    """Machine code for nodes with gates given, or a number that stands for their straight-line Python code."""
    if machine_code.COMPILED:
        return native.compile_nodes(system, nodes, range(len(nodes)), gated=True).address
    code = generate(system, nodes, [f"out[{i}]" for i in range(len(nodes))], gated=True).function
    sizes = system.dimension, len(system.parameters), len(system.surfaces), len(nodes)
    return machine_code.register(code, sizes)


def _event_node(system: System, spec: StopWhen) -> Node:
    """The expression of an event minus its level, in states, parameters and time."""
    wanted: Any = spec.expression
    if isinstance(wanted, str) and wanted in system.observables:
        wanted = system.observables[wanted]
    elif not isinstance(wanted, (str, Node)) and not hasattr(wanted, "free_symbols") and callable(wanted):
        raise ParameterError(f"the event {spec.name} is a Python function, which compiled code can not call; "
                             f"give it as an expression, or use integrate")
    node = graph.substitute([graph.as_node(wanted)], {graph.sym(n): v for n, v in system.observables.items()})[0]
    unknown = sorted(graph.symbols([node]) - {*system.names, *system.parameters, TIME})
    if unknown:
        raise ParameterError(f"the event {spec.name} uses {unknown[0]}, which is no state, observable or parameter")
    return node - graph.num(spec.level)
