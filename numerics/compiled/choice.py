"""When a long run goes on by Taylor series: where that saves more time than their machine code takes to compile.

The choice depends on counts alone (states, operations, tolerance, steps), not on clocks or on what is compiled already,
so that a run is the same on every machine and every time. Runs of fewer than LEAST_STEPS steps are never changed.
"""

from __future__ import annotations

import math

from odesys.expr import graph
from odesys.expr.system import System

from .taylor import order_for

LEAST_STEPS = 50_000  # of DOP853 that are left
MOST_RTOL = 1e-11  # at larger tolerances steps of a low order are as quick
MOST_WORK = 10_000  # operations of the coefficients; above, processors are slower than what is saved
STEADY = 1.25  # a buffer of steps may be so much longer than the one before for its length to say something of the rest
COMPILE, STEP, OPERATION = 1.5e-4, 2.5e-6, 1e-8  # seconds an operation to compile; saved a step, and a node in it


def nodes_of(system: System) -> int:
    """Operations and symbols of the field."""
    return len(graph.topological(list(system.nodes)))


def work_of(system: System, rtol: float) -> float:
    """About the operations of the Taylor coefficients at a tolerance."""
    nodes = nodes_of(system)
    return nodes * order_for(rtol, nodes) ** 2 / 2


def can_be_series(system: System, rtol: float) -> bool:
    """Whether a system is smooth and small, and the tolerance tight."""
    return not system.surfaces and rtol <= MOST_RTOL and work_of(system, rtol) <= MOST_WORK


def steps_left(count: int, first: float, before: float, now: float, end: float) -> float:
    """Steps of DOP853 to the end as the last `count` were, if they were steady; else none.

    `first`, `before` and `now` are the times at which the last two counts began, and now.
    """
    last, earlier = now - before, before - first
    if not (0.0 < last <= STEADY * earlier and math.isfinite(end)):
        return 0.0
    return count * (end - now) / last


def series_pay(system: System, rtol: float, left: float, allowed: float) -> bool:
    """Whether Taylor series save more than it takes to compile them, or DOP853 would not get there.

    left : steps of DOP853 to the end. allowed : that may be made.
    """
    if not can_be_series(system, rtol) or left < LEAST_STEPS:
        return False
    saved = left * (STEP + OPERATION * nodes_of(system))
    return left > allowed or saved > COMPILE * work_of(system, rtol)
