r"""Adaptive integration by smooth pieces: gates are held between switches, and every switch is located.

A gate is 1 where its surface :math:`h_i(t, x) > 0`. With the gates g held, the field :math:`F_g` is smooth; the solvers
under `scipy.integrate.solve_ivp` step through it while the surfaces are watched on their dense output. Where surfaces
reach zero, the gates to go on with are those that agree with the side the flow leaves to,

.. math::  g_i = 1 \iff \partial_t h_i + \nabla h_i \cdot F_g > 0 \qquad\text{for all } i \text{ with } h_i = 0 .

If no g does, the field points to a surface from both sides and the flow slides along it: the run stops there.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Any

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, OdeSolution, Radau
from scipy.optimize import brentq

from odesys import graph
from odesys.codegen import Compiled, bind_parameters
from odesys.errors import EquationError, IntegrationError, ParameterError
from odesys.sympy_bridge import to_sympy
from odesys.system import TIME, System, state_vector

from .trajectory import Cost, Event, StagedTrajectory, StopWhen, Trajectory, join, observable_names
from .trajectory import straight_line_function as compile_nodes

EPS = float(np.finfo(float).eps)
METHODS = {"DOP853": DOP853, "RK45": RK45, "RK23": RK23, "Radau": Radau, "BDF": BDF, "LSODA": LSODA}
FOREVER = 1e100  # what an infinite end is to a solver: past every event of a state that still moves
SAMPLES = 4  # parts of a step at whose ends the surfaces are read
EXACT_JACOBIAN_LIMIT = 40  # states; above this an implicit method takes differences of the field
Progress = Callable[[str, float], None]


@dataclass(frozen=True)
class Stage:
    """One stage of a protocol: a system, and when it ends: after `duration`, at `t_end`, or (neither) by an event."""

    name: str
    system: System
    parameters: Mapping[str, Any] | None = None
    duration: float | None = None
    t_end: float | None = None
    events: Sequence[StopWhen] = ()
    state_map: Callable[[np.ndarray], Any] | None = None  # applied to the state on entry


def integrate(system: System, x0: Any, t_span: tuple[float, float], parameters: Mapping[str, Any] | None = None,
              rtol: float = 1e-9, atol: Any = None, events: Sequence[StopWhen] = (), method: str = "DOP853",
              t_eval: Any = None, max_switches: int = 10_000, backend: str = "auto",
              progress: Progress | None = None, *, on_slide: str = "stop", max_steps: int = 100_000,
              label: str = "integrate") -> Trajectory:
    r"""Integrate a flow over `t_span`, switch by switch.

    Parameters
    ----------
    x0 : start values, as a vector or by name.
    t_span : start and end; the end may be infinite if a terminal event is given.
    atol : by default :math:`10^{-3}\,\mathrm{rtol}\cdot\min(1, \text{smallest nonzero } |x_0|)`, at least 1e-20: states
        that start at zero grow from the scale of the others (scores from omega^2), and rounding must stay below it.
    events : what to look for; terminal ones end the run. What starts past its level does not fire.
    method : DOP853, RK45, RK23; Radau, BDF, LSODA for stiff systems.
    t_eval : times to record (those reached); by default every step and every switch. Dense output is kept anyway.
    on_slide : ``stop`` ends the run with stop = "slide", ``raise`` raises IntegrationError.
    progress : called with `label` and the fraction done.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> run = integrate(System.from_equations({x: 2 - sp.Heaviside(x - 1)}), [0], (0, 1))
    >>> [(e.name, round(e.time, 12)) for e in run.events], round(run.final["x"], 12)
    ([('x - 1', 0.5)], 1.5)
    """
    began = time.perf_counter()
    start, x, bound, compiled = _checked(system, x0, t_span, parameters, backend)
    wanted = _check_options(t_span, rtol, method, t_eval, events, on_slide)
    tolerances = {"rtol": rtol, "atol": default_atol(x, rtol) if atol is None else _check_atol(atol, x.size)}
    limits = {"max_switches": max_switches, "max_steps": max_steps}
    span = (start, min(float(t_span[1]), FOREVER))
    run = _Run(compiled, bound, events, span, x, method, tolerances, limits, on_slide)
    with np.errstate(all="ignore"):
        stop = run.run((lambda done: progress(label, done)) if progress else (lambda done: None))
    if stop == "end" and math.isinf(t_span[1]):
        raise IntegrationError("the state has come to rest and no event has stopped the run", time=run.t, state=run.x)
    solution = OdeSolution(run.knots, run.pieces) if run.pieces else None
    times, states = np.array(run.knots), np.array(run.states)
    if wanted is not None:
        times = wanted[wanted <= run.t]
        states = solution(times).T if solution is not None and times.size else states[: times.size]
    cost = Cost(run.evaluations, run.jacobians, run.steps, time.perf_counter() - began)
    happened = tuple(sorted(run.events, key=lambda e: e.time))
    return Trajectory(system, bound, times, states.reshape(-1, x.size), run.t, run.x, happened, stop, cost, solution)


def integrate_stages(stages: Sequence[Stage], x0: Any, t_start: float = 0.0, **options: Any) -> StagedTrajectory:
    """Run stages one after the other; all have the same states, those that are frozen a zero right-hand side.

    `options` are those of `integrate`, for every stage (no t_eval). A slide ends the whole run.
    """
    runs: list[Trajectory] = []
    for stage in stages:
        if stage.system.names != stages[0].system.names:
            raise EquationError(f"the stage {stage.name} has other states than {stages[0].name}; all share one layout")
        if stage.duration is not None and stage.t_end is not None:
            raise ParameterError(f"the stage {stage.name} has both a duration and an end time; give one of them")
    t, x = t_start, x0
    for stage in stages:
        x = x if stage.state_map is None else stage.state_map(x)
        end = t + stage.duration if stage.duration is not None else math.inf if stage.t_end is None else stage.t_end
        run = integrate(stage.system, x, (t, end), stage.parameters, events=stage.events, label=stage.name, **options)
        runs.append(run)
        t, x = run.end_time, run.end_state
        if run.stop == "slide":
            break
    return join(runs, [stage.name for stage in stages[: len(runs)]])


# ---- checks --------------------------------------------------------------------------------------------------------


def _checked(system: System, x0: Any, t_span: Any, parameters: Mapping[str, Any] | None,
             backend: str) -> tuple[float, np.ndarray, dict[str, float], Compiled]:
    if system.kind != "flow":
        raise EquationError("this system is a map, not a flow; use numerics.iterate")
    start, end = float(t_span[0]), float(t_span[1])
    if math.isnan(end) or not math.isfinite(start):
        raise ParameterError(f"the time span ({start:g}, {end:g}) must consist of numbers")
    if end <= start:
        raise ParameterError(f"the time span ({start:g}, {end:g}) must end after it starts")
    x, bound = start_state(system, x0), bound_parameters(system, parameters)
    return start, x, bound, system.compile(bound, backend)


def start_state(system: System, x0: Any) -> np.ndarray:
    """The start as a float vector (n,): right length, known names, all finite."""
    try:
        x = np.array(state_vector(system, x0), dtype=float)
    except (TypeError, ValueError):
        raise EquationError(f"the start {x0!r} is not a list of {system.dimension} real numbers") from None
    if x.shape != (system.dimension,):
        raise EquationError(f"the start has the shape {x.shape}; it must be ({system.dimension},)")
    bad = np.flatnonzero(~np.isfinite(x))
    if bad.size:
        raise ParameterError(f"the start value {system.names[bad[0]]} = {x[bad[0]]} must be finite")
    return x


def bound_parameters(system: System, parameters: Mapping[str, Any] | None) -> dict[str, float]:
    """Parameter values by name, in the order of the system; checked for names and finiteness."""
    try:
        values = bind_parameters(system, parameters or {})
    except (TypeError, ValueError) as error:
        raise ParameterError(f"a parameter is not a number: {error}") from None
    return dict(zip(system.parameters, values.tolist(), strict=True))


def _check_options(t_span: Any, rtol: float, method: str, t_eval: Any, events: Sequence[StopWhen],
                   on_slide: str) -> np.ndarray | None:
    if not 100 * EPS <= rtol < 1:
        raise ParameterError(f"rtol = {rtol} must lie between {100 * EPS:.1e} and 1")
    if method not in METHODS:
        raise ParameterError(f"the method {method!r} is not known; choose {', '.join(METHODS)}")
    if on_slide not in ("stop", "raise"):
        raise ParameterError(f"on_slide = {on_slide!r} is not known; choose stop or raise")
    names = [spec.name for spec in events]
    if len(set(names)) != len(names):
        raise ParameterError(f"two events have the same name: {', '.join(sorted(names))}")
    if math.isinf(t_span[1]) and not any(spec.terminal for spec in events):
        raise ParameterError("the run has neither an end time nor an event that stops it")
    if t_eval is None:
        return None
    wanted = np.array(t_eval, dtype=float)
    inside = wanted.ndim == 1 and np.all((wanted >= t_span[0]) & (wanted <= t_span[1])) and np.all(np.diff(wanted) > 0)
    if not inside:
        raise ParameterError(f"t_eval must increase and lie in the time span ({t_span[0]:g}, {t_span[1]:g})")
    return wanted


def _check_atol(atol: Any, size: int) -> np.ndarray:
    values = np.asarray(atol, dtype=float)
    if values.shape not in ((), (size,)) or not np.all((values >= 0) & np.isfinite(values)):
        raise ParameterError(f"atol = {atol} must be a number, or one a state, and not negative")
    return values


def default_atol(x: np.ndarray, rtol: float) -> float:
    """Absolute tolerance that resolves the smallest state at the start, and stays above rounding; see `integrate`."""
    return max(1e-3 * rtol * min(1.0, float(np.abs(x[x != 0]).min(initial=1.0))), 1e-20)


# ---- surfaces and gates --------------------------------------------------------------------------------------------


class _Surfaces:
    """The switching surfaces of a compiled system: their values, their slopes along the flow, the gates at a zero."""

    def __init__(self, compiled: Compiled, parameters: Mapping[str, float], field: Callable[..., np.ndarray],
                 t: float, x: np.ndarray) -> None:
        self.compiled, self.parameters, self.field = compiled, parameters, field
        self.blocks = compiled.backend == "block"
        nodes = () if self.blocks else compiled.system.surfaces
        # a surface that contains other gates is read with those held too; the others by the compiled code
        nested = any(node.op == "step" for node in graph.topological(nodes))
        self._held = compile_nodes(compiled.system, nodes, parameters) if nested else None
        self.start = compiled.surfaces(t, x)
        moving = set() if self.blocks else {*compiled.system.moving, TIME}
        self.movable = np.array([not graph.symbols([node]).isdisjoint(moving) for node in nodes], dtype=bool)
        if self.blocks:
            self.movable = np.ones(self.start.size, dtype=bool)
        self._signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(3, x.size))
        self._gradients: dict[int, tuple[np.ndarray, Callable[..., np.ndarray]]] = {}

    def values(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """All surfaces at one point; not a number where they are not defined."""
        try:
            return self.compiled.surfaces(t, x) if self._held is None else self._held(t, x, gates)
        except (ArithmeticError, ValueError):
            return np.full(gates.size, np.nan)

    def choose(self, t: float, x: np.ndarray, gates: np.ndarray, step: float = 0.0,
               crossed: Sequence[int] = ()) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gates to go on with, which surfaces are at zero, how wide their zero is, and which of them slide (if any)."""
        new = gates
        for _ in range(8):  # a surface that contains other gates may jump with them
            h, width = self.values(t, x, new), self._width(t, x, new, step)
            zero = self.movable & (np.abs(h) <= width)
            zero[list(crossed)] = True
            settled = np.where(zero, new, np.where(h > 0, 1.0, 0.0))
            chosen = self._consistent(t, x, settled, np.flatnonzero(zero))
            if chosen is None:
                return settled, zero, width, self._attracting(t, x, settled, np.flatnonzero(zero))
            if np.array_equal(chosen, new):
                break
            new = chosen
        return new, zero, width, np.empty(0, dtype=int)

    def _width(self, t: float, x: np.ndarray, gates: np.ndarray, step: float) -> np.ndarray:
        """How far from zero rounding can leave each surface: it moves with the last digits of state and time."""
        late = 8 * EPS * max(abs(t), step)
        h, drift = self.values(t, x, gates), late * self.field(t, x, gates)
        ends = [self.values(t + late, x + drift + 4 * EPS * x * s, gates) for s in self._signs]
        return 4 * np.abs(np.array(ends) - h).max(axis=0)

    def _consistent(self, t: float, x: np.ndarray, gates: np.ndarray, zero: np.ndarray) -> np.ndarray | None:
        """The gates, changed on `zero` only, that agree with the slopes they produce; nearest to `gates` first."""

        def wanted(trial: np.ndarray) -> np.ndarray:
            slope, noise = self._slopes(t, x, trial, zero)
            return np.where(np.abs(slope) <= noise, trial[zero], np.where(slope > 0, 1.0, 0.0))

        trial = gates.copy()
        for _ in range(zero.size + 2 if zero.size else 0):
            old, trial[zero] = trial[zero].copy(), wanted(trial)
            if np.array_equal(old, trial[zero]):
                return trial
        patterns = [np.array(p) for p in product((0.0, 1.0), repeat=zero.size)] if 0 < zero.size <= 6 else []
        for pattern in sorted(patterns, key=lambda p: float(np.abs(p - gates[zero]).sum())):
            trial[zero] = pattern
            if np.array_equal(wanted(trial), pattern):
                return trial
        return None if zero.size else gates

    def _attracting(self, t: float, x: np.ndarray, gates: np.ndarray, zero: np.ndarray) -> np.ndarray:
        found = []
        for k, i in enumerate(zero):
            above, below = gates.copy(), gates.copy()
            above[i], below[i] = 1.0, 0.0
            if self._slopes(t, x, above, zero)[0][k] < 0 < self._slopes(t, x, below, zero)[0][k]:
                found.append(int(i))
        return np.array(found or zero, dtype=int)

    def _slopes(self, t: float, x: np.ndarray, gates: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Time derivatives of some surfaces along the field with these gates, and what of them may be rounding."""
        velocity = self.field(t, x, gates)
        speed = float(np.abs(velocity).max(initial=0.0))
        if self.blocks:
            ahead = 1e-6 * max(1.0, float(np.abs(x).max())) / (speed or 1.0)
            ends = [self.values(t + s, x + s * velocity, gates)[which] for s in (ahead, -ahead)]
            return (ends[0] - ends[1]) / (2 * ahead), np.full(which.size, 1e-8 * speed)
        slopes = np.zeros((2, which.size))
        for k, i in enumerate(which):
            columns, gradient = self._gradient(int(i))
            partial = gradient(t, x, gates)
            terms = partial * np.append(velocity, 1.0)[columns]
            slopes[:, k] = terms.sum(), 1e-11 * np.abs(terms).sum() + 1e-14 * speed * np.abs(partial).sum()
        return slopes[0], slopes[1]

    def _gradient(self, i: int) -> tuple[np.ndarray, Callable[..., np.ndarray]]:
        if i not in self._gradients:
            system = self.compiled.system
            row = graph.gradient(system.surfaces[i], [graph.sym(name) for name in (*system.names, TIME)])
            columns = [j for j, node in enumerate(row) if node is not graph.ZERO]
            code = compile_nodes(system, [row[j] for j in columns], self.parameters)
            self._gradients[i] = np.array(columns, dtype=int), code
        return self._gradients[i]

    @cached_property
    def names(self) -> list[str]:
        """For each surface the observable it is up to scale and offset (H of a sample), or its text, or its number."""
        system, size = self.compiled.system, self.start.size
        names = [f"surface_{i + 1}" for i in range(size)]
        for i, node in enumerate(() if self.blocks else system.surfaces):
            if len(graph.topological([node])) < 12:
                names[i] = str(to_sympy(node))
        points = np.random.default_rng(0).standard_normal((12, system.dimension))
        try:
            read = np.array([self.compiled.surfaces(0.0, x) for x in points])
            seen = np.array([list(self.compiled.observables(0.0, x).values()) for x in points])
        except (ArithmeticError, ValueError):
            return names
        for table in (read, seen):
            table -= table.mean(axis=0)
            table /= np.linalg.norm(table, axis=0) + 1e-300
        likeness = np.abs(read.T @ seen)
        labels = list(observable_names(system))
        return [labels[int(row.argmax())] if row.size and row.max() > 1 - 1e-12 else name
                for name, row in zip(names, likeness, strict=True)]


# ---- one run -------------------------------------------------------------------------------------------------------


@dataclass
class _Found:
    """What a step meets first: nothing, a ``switch``, an ``event``, or a surface ``denied`` by its gate (`index`)."""

    kind: str = ""
    time: float = math.nan
    index: tuple[int, ...] = ()


class _Run:
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
        self.surfaces = _Surfaces(compiled, parameters, self.field, t, x)
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

    def _accept(self, dense: Any, solver: Any, found: _Found) -> None:
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

    def _scan(self, dense: Any, start: float, end: float) -> _Found:
        """Follow all watched values through a step, part by part."""
        if not self.side.size:
            return _Found()
        side, events = self.side.copy(), list[Event]()
        times, values = self._samples(dense, start, end)
        found = _Found()
        for left, right, value in zip(times[:-1], times[1:], values[1:], strict=True):
            lefts = self._wake(dense, side, value, start, left, right)
            if lefts is None:
                return _Found("denied", start, (self.denied,))
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
               events: list[Event]) -> _Found:
        """The first passage through zero in one part of a step that ends the segment; others are put into `events`."""
        hits = np.flatnonzero((side != 0) & (side * value <= 0))
        surfaces, found = hits[hits < self.count], _Found(time=math.inf)
        for left in np.unique(lefts[surfaces]):
            group = surfaces[lefts[surfaces] == left]
            t = self._root(dense, side, group, left, right)
            if t < found.time:
                nearest = group[np.argmin((side * self.watched(t, dense(t)))[group])]
                found = _Found("switch", t, (int(nearest),))
        passed = [(self._root(dense, side, np.array([i]), lefts[i], right), i) for i in hits[hits >= self.count]]
        for t, i in sorted(passed):
            if t > found.time:
                break
            spec, direction = self.specs[i - self.count], -int(side[i])
            side[i] = np.sign(value[i])
            if spec.direction in (0, direction):
                events.append(Event(spec.name, "user", t, {"direction": direction, "terminal": spec.terminal}))
                if spec.terminal:
                    return _Found("event", t, (int(i) - self.count,))
        return found if found.kind else _Found()

    def _root(self, dense: Any, side: np.ndarray, group: np.ndarray, left: float, right: float) -> float:
        """When the first of a group of watched values reaches zero."""

        def least(t: float) -> float:
            return float((side * self.watched(t, dense(t)))[group].min())

        for t in (right, left):
            if least(t) == 0:
                return t
        return float(brentq(least, left, right, xtol=4 * EPS * (right - left), rtol=4 * EPS))
