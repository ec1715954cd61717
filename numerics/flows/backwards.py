r"""Runs backwards in time: the flow of -F forwards in -t, with its times turned round again.

.. math::  y(s) = x(-s), \qquad \dot y = -F(y, -s) .
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.integrate import OdeSolution

from odesys.errors import IntegrationError, ParameterError
from odesys.expr import graph
from odesys.expr.field import ScalarField
from odesys.expr.system import TIME, System

from .trajectory import Event, StopWhen, Trajectory

_AT_TIME = re.compile(r"(\b(?:at|from|up to) t = )(-?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?)")  # in what errors say


def runs_backwards(t_span: Any) -> bool:
    """True for a pair of numbers of which the second is the smaller."""
    try:
        start, end = (float(t) for t in (() if isinstance(t_span, str) else t_span))
    except (TypeError, ValueError, OverflowError):
        return False  # which is said where spans are checked
    return end < start


@dataclass(frozen=True, eq=False)
class TurnedPiece:
    """Dense output of one step, read in the other direction of time."""

    piece: Callable[[Any], np.ndarray]

    def __call__(self, t: Any) -> np.ndarray:
        return self.piece(-np.asarray(t, dtype=float))


@lru_cache(maxsize=64)
def time_reversed(system: System) -> System:
    """The system whose flow is that of `system` backwards in time; kept, so that it is compiled once."""
    turn = {graph.sym(TIME): -graph.sym(TIME)}
    nodes = graph.substitute([-node for node in system.nodes], turn)
    seen = graph.substitute(list(system.observables.values()), turn)
    field = ScalarField(tuple(nodes), dict(zip(system.observables, seen, strict=True)))
    return replace(system, field=field)


def integrate_backwards(
    integrate: Callable[..., Trajectory],
    system: System,
    x0: Any,
    t_span: tuple[float, float],
    parameters: Mapping[str, Any] | None,
    events: Sequence[StopWhen],
    t_eval: Any,
    **options: Any,
) -> Trajectory:
    """A run from a time to an earlier one; times fall along it, and directions of events are those along the run."""
    start, end = -float(t_span[0]), -float(t_span[1])
    try:
        wanted = None if t_eval is None else -np.asarray(t_eval, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"t_eval = {t_eval!r} is not a list of times") from None
    if wanted is not None and not np.all(np.diff(wanted) > 0):
        raise ParameterError("t_eval must fall along a run backwards in time, like the run itself")
    turned = [_turned_event(spec) for spec in events]
    try:
        run = integrate(time_reversed(system), x0, (start, end), parameters, events=turned, t_eval=wanted, **options)
    except IntegrationError as error:
        raise _turned_error(error) from None
    solution = None
    if run.solution is not None:
        solution = OdeSolution(-run.solution.ts, [TurnedPiece(piece) for piece in run.solution.interpolants])
    happened = tuple(replace(e, time=-e.time, detail=_turned_detail(e)) for e in run.events)
    since: dict[str, Any] = {name: _minus(getattr(run, name)) for name in ("stiff_from", "series_from")}
    turns: dict[str, Any] = {"times": -run.times, "end_time": -run.end_time, "events": happened, "solution": solution}
    return replace(run, system=system, **turns, **since)


def _minus(time: float | None) -> float | None:
    return None if time is None else -time


def _turned_error(error: IntegrationError) -> IntegrationError:
    """The error with the times of the run backwards."""
    text = _AT_TIME.sub(lambda found: f"{found[1]}{-float(found[2]) + 0.0:.9g}", str(error))
    objects = {name: -value if name == "time" else value for name, value in error.objects.items()}
    return IntegrationError(text, **objects)


def _turned_event(spec: StopWhen) -> StopWhen:
    wanted: Any = spec.expression
    if isinstance(wanted, str) and wanted != TIME:  # a state or an observable, which are turned with the system
        return spec
    if callable(wanted) and not isinstance(wanted, graph.Node) and not hasattr(wanted, "free_symbols"):
        return replace(spec, expression=lambda t, x: wanted(-t, x))
    turn = {graph.sym(TIME): -graph.sym(TIME)}
    return replace(spec, expression=graph.substitute([graph.as_node(wanted)], turn)[0])


def _turned_detail(event: Event) -> dict[str, Any]:
    end = event.detail.get("end", math.nan)
    return {**event.detail, **({"end": -end} if "end" in event.detail and end is not None else {})}
