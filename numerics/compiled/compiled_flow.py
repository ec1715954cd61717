"""Flows run whole in compiled code: field, switches and events in one function, for single runs and for many of them.

The results are those of the reference integrator (`numerics.flows.run`) to the tolerance asked for, which goes on where
this code does not; see `numerics.flows.semantics`. Without llvmlite the same text runs as plain Python.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from odesys.errors import BrokenRunWarning, EquationError, IntegrationError, ParameterError
from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.system import TIME, System
from odesys.jit import llvm, loops
from odesys.jit.codegen import GeneratedCode, shared_code, slopes_code
from odesys.jit.taylor import has_branches, taylor_code
from odesys.shortening import shortened

from ..flows.integrate import (
    IN_MACHINE_CODE,
    SWITCHES,
    check_events,
    check_rtol,
    integrate,
    method_name,
    own_system,
    time_span,
    whole_number,
)
from ..flows.run import Run
from ..flows.surfaces import rounding_signs
from ..flows.trajectory import StopWhen, Trajectory
from .batch_rows import batch_rows, single_row
from .choice import nodes_of
from .dop853 import DAMPED
from .lane_batch import LaneBatch, goes_in_lanes
from .records import (
    EVENT,
    IMPLICIT,
    TAYLOR,
    Problem,
    RunState,
    new_step,
)
from .stretch import Stretch, kernel_functions, new_log
from .taylor import order_for

RUNS_PER_CALL, LANE_RUNS_PER_CALL = 256, 2048  # of a batch, between two looks at the keyboard


class CompiledFlow:
    """A flow with its events compiled into one function; parameters and start values are given at each run.

    Parameters
    ----------
    system : System
        The flow to compile; parameters stay open.
    events : Sequence[StopWhen], optional
        What to look for in every run.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> flow = CompiledFlow(System.from_equations({x: -x}))
    >>> round(float(flow.run([1.0], (0.0, 1.0)).end_state[0]), 9)
    0.367879441
    """

    def __init__(self, system: System, events: Sequence[StopWhen] = ()) -> None:
        system = own_system(system, "CompiledFlow")
        if system.kind != "flow":
            raise ParameterError("a map has no time between its steps; use numerics.maps.iterate")
        self.system, self.specs = system, check_events(events)
        self.events = [_event_node(system, spec) for spec in events]
        self.surfaces, self.count = len(system.surfaces), len(system.surfaces) + len(self.specs)
        self._taylor: dict[int, Any] = {}  # code by order
        self._watched = [*system.surfaces, *self.events]
        self._may_go_in_lanes: dict[tuple[str, int], bool] = {}  # by method and order
        self._lane_code: dict[tuple[int, int], LaneBatch] = {}  # by order, 0 for DOP853, and width
        self._room = threading.local()  # for batches

    def __repr__(self) -> str:
        return f"<CompiledFlow of {shortened(repr(self.system), 240)}, {len(self.specs)} events>"

    def run(
        self, x0: Any, t_span: tuple[float, float], parameters: Mapping[str, Any] | None = None, **options: Any
    ) -> Trajectory:
        """One trajectory with dense output; `options` are those of `integrate`."""
        return integrate(self.system, x0, t_span, parameters, events=self.specs, backend="compiled", **options)

    def final(
        self,
        x0: Any,
        t_span: tuple[float, float],
        parameters: Mapping[str, Any] | None = None,
        rtol: float = 1e-9,
        atol: Any = None,
        max_steps: int = 100_000,
        method: str = "auto",
    ) -> np.ndarray:
        """Only the state at the end; `rtol` to `method` as in `batch`."""
        limits = self._limits(t_span, rtol, max_steps, "raise", method)
        row = single_row(self.system, x0, parameters or {}, rtol, atol)
        room = self._single_room(limits)
        room.row[:] = row
        room.one()
        if room.end[-1] > EVENT or not math.isfinite(sum(room.end.tolist())):
            return self._by_integrate(np.array(row), 0, limits)
        return room.end[:-1].copy()

    def batch(
        self,
        starts: Any,
        t_span: tuple[float, float],
        parameters: Sequence[Mapping[str, Any]],
        rtol: float = 1e-9,
        atol: Any = None,
        max_steps: int = 100_000,
        on_error: str = "nan",
        method: str = "auto",
    ) -> np.ndarray:
        """End states (points, n), one per row of `starts` (or one start for all) and entry of `parameters`.

        `method` is auto, DOP853, Rodas5P or Taylor, as in `integrate`. Without surfaces and events several runs go
        at once by auto and DOP853, in machine code (`lane_step.py`); each is the same whatever the others are.

        A run that can not go on, as one that blows up, ends as not-a-number with a BrokenRunWarning, and the others go
        on; with ``on_error="raise"`` it raises its IntegrationError.
        """
        limits = self._limits(t_span, rtol, max_steps, on_error, method)
        given = batch_rows(self.system, starts, parameters, rtol, atol)
        results = np.empty((len(given), self.system.dimension + 1))
        lanes = self._in_lanes(limits)
        count = LANE_RUNS_PER_CALL if lanes else RUNS_PER_CALL
        for k in range(0, len(given), count):
            part = slice(k, k + count)
            if lanes:
                records = self._room_for(limits).records if self.count else ()
                self._lanes(limits).run(given[part], results[part], limits, records)
            else:
                room = self._room_for(limits)
                kernel_functions()[1](*room.records, *given[part].shape, given[part].ravel(), results[part].ravel())
            self._by_reference(given[part], results[part], k, limits)
        return results[:, :-1]

    def _limits(self, t_span: Any, rtol: float, max_steps: int, on_error: str, method: str) -> BatchLimits:
        t0, t1 = time_span(t_span)
        if not (math.isfinite(t0) and math.isfinite(t1) and t0 <= t1):
            raise ParameterError(f"the time span ({t0}, {t1}) must be finite and must not run backwards")
        rtol, max_steps, method = check_rtol(rtol), whole_number(max_steps, "max_steps"), method_name(method)
        if on_error not in ("nan", "raise"):
            raise ParameterError(f"on_error = {on_error!r} is not known; choose nan or raise")
        if method not in IN_MACHINE_CODE:
            raise ParameterError(f"a batch is run by {', '.join(IN_MACHINE_CODE)}, not {method}; use integrate")
        return BatchLimits(t0, t1, rtol, max_steps, on_error, method)

    def _by_reference(self, given: np.ndarray, results: np.ndarray, first: int, limits: BatchLimits) -> None:
        """Ends of those of some runs that were left, or overflowed, of which the first has the number `first`."""
        for k in np.flatnonzero((results[:, -1] > EVENT) | ~np.isfinite(results).all(axis=1)):
            try:
                results[k, :-1] = self._by_integrate(given[k], first + int(k), limits)
            except IntegrationError as error:
                if limits.on_error == "raise":
                    raise
                results[k, :-1] = np.nan
                warnings.warn(str(error), BrokenRunWarning, stacklevel=3)

    def _in_lanes(self, limits: BatchLimits) -> bool:
        order = self.order(limits.rtol) if limits.method == "Taylor" else 0
        key = (limits.method, order)
        if key not in self._may_go_in_lanes:
            self._may_go_in_lanes[key] = goes_in_lanes(self.system, self._watched, limits.method, order)
        return limits.start < limits.end and self._may_go_in_lanes[key]

    def _lanes(self, limits: BatchLimits, width: int = 0) -> LaneBatch:
        """Code of runs in lanes."""
        key = (self.order(limits.rtol) if limits.method == "Taylor" else 0, width)
        if key not in self._lane_code:
            self._lane_code[key] = LaneBatch(self.system, *key, self._watched, self._movable)
        return self._lane_code[key]

    def _room_for(self, limits: BatchLimits) -> BatchRoom:
        """What batches within some limits read and write, made once per thread and method."""
        known: dict[Any, BatchRoom] = self._room.__dict__.setdefault("known", {})
        order = self.order(limits.rtol) if limits.method == "Taylor" else 0
        room = known.get((limits.method, order))
        if room is None:
            room = known[limits.method, order] = self._new_room(limits.method, order)
        if room.limits != limits:
            loops.put(room.records[0], t_end=limits.end, rtol=limits.rtol, max_steps=limits.max_steps)
            room.limits = limits
        loops.put(room.records[1], t=limits.start)
        return room

    def _single_room(self, limits: BatchLimits) -> BatchRoom:
        """What a single run reads and writes; one by a Taylor series where nothing is watched has code of its own."""
        if limits.method != "Taylor" or not self._in_lanes(limits):
            return self._room_for(limits)
        known, order = self._room.__dict__.setdefault("single", {}), self.order(limits.rtol)
        room: BatchRoom | None = known.get(order)
        if room is None:
            lanes = self._lanes(limits, 1)
            table, row, end = lanes.new_room(), np.empty((1, self._row_size)), np.empty((1, self.system.dimension + 1))
            room = known[order] = BatchRoom((lanes, table), row[0], end[0], lanes.prepared(row, end, table))
        if room.limits != limits:
            lanes, table = room.records
            lanes.put(table, limits)
            room.limits = limits
        return room

    def _new_room(self, method: str, order: int) -> BatchRoom:
        n, none = self.system.dimension, np.zeros(self.count)
        problem = self.problem(np.zeros(len(self.system.parameters)), 0.0, 1e-6, np.zeros(n))
        problem.may_switch, problem.patience = int(method == "auto"), DAMPED if method == "auto" else 0
        state = RunState(0.0, 0.0, np.zeros(n), np.zeros(self.surfaces), none, none.copy())
        self.take_up(method, problem, state, order)
        step, log = new_step(n, self.count, state.method, problem.order), new_log(n, self.count, 0)
        records = tuple(map(loops.settled, (problem, state, step, log)))
        row, end = np.empty(self._row_size), np.empty(n + 1)
        return BatchRoom(records, row, end, loops.prepared(kernel_functions()[1], *records, 1, row.size, row, end))

    def _by_integrate(self, row: np.ndarray, number: int, limits: BatchLimits) -> np.ndarray:
        """The end of a run of a batch with what only the reference integrator does; a refusal names it."""
        n = self.system.dimension
        values = dict(zip(self.system.parameters, row[2 * n :].tolist(), strict=True))
        try:
            return integrate(
                self.system,
                row[:n],
                (limits.start, limits.end),
                values,
                atol=row[n : 2 * n],
                events=self.specs,
                rtol=limits.rtol,
                max_steps=limits.max_steps,
                method=limits.method,
            ).end_state
        except IntegrationError as error:
            raise IntegrationError(f"point {number} of the batch: {error}", **error.objects) from None

    def stretch(self, run: Run) -> Stretch:
        """A run in progress, to be gone on with in compiled code from where it is."""
        rtol, atol = (
            run.tolerances["rtol"],
            np.broadcast_to(np.asarray(run.tolerances["atol"], dtype=float), run.x.shape),
        )
        p = np.array(list(run.surfaces.parameters.values()), dtype=float)
        watch = run.watch
        state = RunState(run.t, 0.0, run.x.copy(), run.mode.gates.copy(), watch.side.copy(), watch.width.copy())
        problem = self.problem(p, run.end, rtol, atol.copy())
        problem.may_switch, problem.patience = int(run.method == "auto"), DAMPED if run.method == "auto" else 0
        self.take_up(run.method if run.stiff_from is None else "Rodas5P", problem, state, self.order(rtol))
        return Stretch(self, problem, state)

    def order(self, rtol: float) -> int:
        """The order of Taylor series at a tolerance."""
        return order_for(rtol, self._nodes)

    def take_up(self, method: str, problem: Problem, state: RunState, order: int = 0) -> None:
        """Let the steps of a run from here on be made by a method, a Taylor series to this order."""
        if method == "Rodas5P":
            problem.slopes, state.method, state.held = self.slopes, IMPLICIT, 0
        elif method == "Taylor":
            problem.order, problem.rows, problem.branches = order, order, int(has_branches(self.system))
            problem.slopes, state.method, state.h = self._series(order), TAYLOR, math.inf

    def _series(self, order: int) -> Any:
        """Code of Taylor coefficients."""
        if not llvm.available():
            raise ParameterError("Taylor series are machine code, which needs llvmlite; use method='DOP853'")
        if order not in self._taylor:
            self._taylor[order] = taylor_code(self.system, order)
        return self._taylor[order]

    # ---- what a run is made of ---------------------------------------------------------------------------------------

    def problem(self, p: np.ndarray, t_end: float, rtol: float, atol: np.ndarray) -> Problem:
        """What stays during a run."""
        field = self._code("field", self.system.nodes)
        return Problem(
            field,
            field,  # nobody reads slopes of explicit steps
            self._watch,
            self.system.dimension,
            self.surfaces,
            self.count,
            p,
            self._movable,
            *self._wanted,
            rounding_signs(self.system.dimension).ravel(),
            t_end,
            rtol,
            atol,
            0,
            SWITCHES,
        )

    @property
    def _row_size(self) -> int:
        return 2 * self.system.dimension + len(self.system.parameters)

    @cached_property
    def _nodes(self) -> int:
        return nodes_of(self.system)

    @cached_property
    def slopes(self) -> Any:
        """Code of the Jacobian and of the change of the field in time."""
        machine = llvm.available()
        code = slopes_code(self.system, machine)
        return code.function if machine else _python_code(self.system, code)

    @cached_property
    def _watch(self) -> Any:
        return self._code(f"watched {[node.uid for node in self.events]}", self._watched)  # a formula would take long

    def _code(self, what: str, nodes: Sequence[Node]) -> Any:
        machine = llvm.available()
        code = shared_code(self.system, what, nodes, gated=True, machine=machine)
        return code.function if machine else _python_code(self.system, code)

    @cached_property
    def _movable(self) -> np.ndarray:
        moving = {*self.system.moving, TIME}
        still = [float(bool(graph.symbols([node]) & moving)) for node in self.system.surfaces]
        return np.array([*still, *[1.0] * len(self.events)])

    @cached_property
    def _wanted(self) -> tuple[np.ndarray, np.ndarray]:
        """Direction of each event, and 1 for those that end a run."""
        directions, terminal = [spec.direction for spec in self.specs], [spec.terminal for spec in self.specs]
        return np.array(directions, dtype=float), np.array(terminal, dtype=float)


class BatchLimits(NamedTuple):
    """What all runs of a batch have in common."""

    start: float
    end: float
    rtol: float
    max_steps: int
    on_error: str
    method: str


@dataclass(eq=False)
class BatchRoom:
    """Where the runs of a batch find what they read: problem, state, step and log; and a single run its row and end."""

    records: tuple[Any, ...]
    row: np.ndarray
    end: np.ndarray
    one: Callable[[], None]
    limits: BatchLimits | None = None


def _python_code(system: System, code: GeneratedCode) -> Callable[..., None]:
    """Straight-line Python code for the arrays of the kernel, which may be longer than what is read of them."""
    n, parameters, surfaces = system.dimension, len(system.parameters), len(system.surfaces)

    def run(t: float, x: np.ndarray, p: np.ndarray, g: np.ndarray, out: np.ndarray) -> None:
        code.function(float(t), x[:n].tolist(), p[:parameters].tolist(), g[:surfaces].tolist(), out)

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
        raise EquationError(f"the event {spec.name} uses {unknown[0]}, which is no state, observable or parameter")
    return node - graph.num(spec.level)
