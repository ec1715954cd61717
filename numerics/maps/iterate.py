"""Stepwise training: iterate a map (gradient descent and the like) on the same path scalars as the flow.

A map has no times between its steps, so gates need no care here: each step reads them off the state it starts from.
"""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from odesys.errors import EquationError, IntegrationError, ParameterError
from odesys.expr.system import System
from odesys.jit.codegen import Compiled
from odesys.terminal import Progress

from ..flows.integrate import HasSystem, bound_parameters, own_system, start_state
from ..flows.trajectory import Cost, Event, StopWhen, Trajectory

Stop = StopWhen | Callable[[int, np.ndarray], bool]
REPORT_EVERY = 1000  # steps between two calls of `progress`


def iterate(
    system: System | HasSystem,
    x0: Any,
    steps: int,
    parameters: Mapping[str, Any] | None = None,
    record_every: int | Iterable[int] = 1,
    stop: Stop | None = None,
    backend: str = "auto",
    progress: Progress | None = None,
    label: str = "iterate",
) -> Trajectory:
    """Iterate a map; the times of the trajectory are step numbers, 0 being the start.

    Parameters
    ----------
    system : System | HasSystem
        A map, or what has one as its ``.system``.
    x0 : Any
        Start values, as a vector or by name.
    steps : int
        How many steps to take.
    parameters : Mapping[str, Any], optional
        Values of the parameters of the map, by name.
    record_every : int | Iterable[int], optional
        Record each so many steps, and the last one; or the list of step numbers to record.
    stop : Stop, optional
        Stop after the first step at which a function of (step, x) is true, or at which a `StopWhen` has passed its
        level; a `StopWhen` that is not terminal is recorded at every passage.
    backend : str, optional
        ``auto``, or how the map is computed: ``native``, ``scalar``, ``block``.
    progress : Progress, optional
        Called with `label` and the fraction done.
    label : str, optional
        What `progress` is told.

    Returns
    -------
    Trajectory
        The recorded steps, and why the run stopped.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> iterate(System.from_equations({x: x / 2}, kind="map"), [1], 3).state("x")
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    began, system = time.perf_counter(), own_system(system, "iterate")
    if system.kind != "map":
        raise EquationError("this system is a flow, not a map; use integrate")
    count, recorded = _check_steps(steps, record_every)
    x, bound = start_state(system, x0), bound_parameters(system, parameters)
    compiled = system.compile(bound, backend)
    watch = _watch(stop, compiled, bound, x)
    rows, kept, events = [x], [0], list[Event]()
    number, reason = 0, "end"
    while number < count and reason == "end":
        x, number = _step(compiled, number, x), number + 1
        if recorded(number):
            rows.append(x)
            kept.append(number)
        reason = watch(number, x, events)
        if progress and (number % REPORT_EVERY == 0 or number == count):
            progress(label, number / count)
    if not isinstance(record_every, Iterable) and kept[-1] != number:
        rows.append(x)
        kept.append(number)
    first = 0 if recorded(0) else 1
    cost = Cost(field_evaluations=number, steps=number, seconds=time.perf_counter() - began)
    return Trajectory(
        system,
        bound,
        np.array(kept[first:], dtype=float),
        np.array(rows[first:]).reshape(-1, x.size),
        float(number),
        x,
        tuple(events),
        reason,
        cost,
    )


def _check_steps(steps: int, record_every: Any) -> tuple[int, Callable[[int], bool]]:
    """The number of steps, and which step numbers to record."""
    count = _whole(steps, "the number of steps")
    if count < 0:
        raise ParameterError(f"the number of steps is {count}; it can not be negative")
    if not isinstance(record_every, Iterable):
        every = _whole(record_every, "record_every")
        if every < 1:
            raise ParameterError(f"record_every = {every} must be at least 1")
        return count, lambda number: number % every == 0
    wanted = {_whole(number, "a step to record") for number in record_every}
    outside = sorted(number for number in wanted if not 0 <= number <= count)
    if outside:
        raise ParameterError(f"step {outside[0]} can not be recorded: the steps are 0 to {count}")
    return count, wanted.__contains__


def _whole(value: Any, what: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise ParameterError(f"{what} is {value!r}; it must be a whole number") from None


def _step(compiled: Compiled, number: int, x: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        new = compiled(float(number), x)
    bad = np.flatnonzero(~np.isfinite(new))
    if bad.size:
        name = compiled.system.names[bad[0]]
        raise IntegrationError(
            f"step {number + 1} makes {name} = {new[bad[0]]}; a smaller step size may help", time=float(number), state=x
        )
    return new


def _watch(
    stop: Stop | None, compiled: Compiled, parameters: Mapping[str, float], start: np.ndarray
) -> Callable[[int, np.ndarray, list[Event]], str]:
    """A function of (step, x, events) that records passages and says why to stop, or ``end`` to go on."""
    if stop is None:
        return lambda number, x, events: "end"
    if not isinstance(stop, StopWhen):
        condition = stop
        return lambda number, x, events: "event:stop" if condition(number, x) else "end"
    spec, value = stop, stop.function(compiled, parameters)
    side = np.sign(value(0.0, start))

    def watch(number: int, x: np.ndarray, events: list[Event]) -> str:
        nonlocal side
        now = value(float(number), x)
        passed, direction = side != 0 and side * now <= 0, -int(side)
        if passed or side == 0:
            side = np.sign(now)
        if not passed or spec.direction not in (0, direction):
            return "end"
        events.append(Event(spec.name, "user", float(number), {"direction": direction, "terminal": spec.terminal}))
        return f"event:{spec.name}" if spec.terminal else "end"

    return watch
