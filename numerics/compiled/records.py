"""What a compiled run is made of, as records that its functions share; see `odesys.jit.loops`.

n states, `count` watched values: the surfaces, then the events.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from numerics.flows.semantics import STEP_PARTS
from odesys.jit.loops import Array, Code, Record

STAGES, POWERS = 16, 7
EXPLICIT, IMPLICIT, TAYLOR = range(3)  # methods of a step: DOP853, Rodas5P, Taylor series
READINGS = STEP_PARTS + 3  # of a step: the ends of its parts, and one beyond each end
KNOT_SIZE = 3  # numbers of a knot, and of what happens
END, EVENT, HANDOVER, BUFFER_FULL, STIFF = range(5)  # why a run is left
SUSPECT = 6  # the same: implicit steps should be tried (5 is in use by lanes)


@dataclass(eq=False)
class Problem(Record):
    """What stays during a run.

    slopes : code that other methods than DOP853 read: the Jacobian, row by row, and the change of the field in time; or
    Taylor coefficients up to `order`, which is 0 otherwise. rows : of the polynomial of a step.
    may_switch : 1 if a run whose explicit steps turn out to be stiff is to be left, to go on with implicit ones.
    branches : 1 if a series may lead past a point where the solution does not.
    patience : after so many steps in a row that are longer than what decays, implicit ones should be tried.
    movable : 1 for each watched value that can change. directions, terminal : of each event.
    signs : three rows of n signs, in which a state is moved to see what rounding does.
    """

    field: Code
    slopes: Code
    watch: Code
    n: int
    surfaces: int
    count: int
    p: Array
    movable: Array
    directions: Array
    terminal: Array
    signs: Array
    t_end: float
    rtol: float
    atol: Array
    max_steps: int
    max_switches: int
    may_switch: int = 0
    order: int = 0
    rows: int = POWERS
    patience: int = 0
    branches: int = 0


@dataclass(eq=False)
class RunState(Record):
    """What moves along: time, state, gates, the side of each watched value and the width of its zero; counters.

    h is the next step to try, 0 to choose one. `status` says why the run was left, `index` by which event. `fields` are
    calls of the field, `visited` states at which the field or any watched value was computed, each once. `method`
    is that of the next step; `held` counts explicit steps that stability holds back, `free` others since,
    `damped` those in a row that are longer than what decays lasts.
    """

    t: float
    h: float
    x: Array
    gates: Array
    side: Array
    width: Array
    status: int = BUFFER_FULL
    index: int = -1
    steps: int = 0
    switches: int = 0
    fields: int = 0
    visited: int = 0
    jacobians: int = 0
    method: int = EXPLICIT
    held: int = 0
    free: int = 0
    damped: int = 0


@dataclass(eq=False)
class Log(Record):
    """Buffers for what is kept: of every step its end, start, length, last state and polynomial; and what happens.

    With no rows no steps are kept. A row of `happenings` is (time, index, direction).
    """

    rows: int
    knots: Array
    states: Array
    tables: Array
    places: int
    happenings: Array
    kept: int = 0
    happened: int = 0


@dataclass(eq=False)
class Step(Record):
    """One step in the making, and room to work in.

    h, t_new, end : its length, where it ends, and the fraction of it that is taken.
    K, F : 16 stages, or Taylor coefficients, and the rows of its polynomial, each of n numbers. new : the state at its
    end.
    V : the watched values at the ends of its parts and one beyond each end. cuts : fractions at which it is read.
    now, spots, touches, rooms, lows : of each watched value its side as the step goes on, where it reaches zero, where
    a dip of it touches zero and how closely, and where that is lowest.
    J, W, pivots : of an implicit step the Jacobian with the change in time, and its factored matrix.
    """

    K: Array
    F: Array
    new: Array
    work: Array
    other: Array
    V: Array
    cuts: Array
    now: Array
    spots: Array
    touches: Array
    rooms: Array
    lows: Array
    values: Array
    spare: Array
    more: Array
    J: Array
    W: Array
    pivots: Array
    h: float = 0.0
    t_new: float = 0.0
    end: float = 1.0
    cut_count: int = 0


def new_step(n: int, count: int, method: int = EXPLICIT, order: int = 0) -> Step:
    """Room for the steps of a run with n states and `count` watched values."""
    states, watched = ("new", "work", "other"), ("now", "spots", "touches", "rooms", "lows", "values", "spare", "more")
    sizes = {
        "K": max(STAGES, order) * n,
        "F": max(POWERS, order) * n,
        "V": READINGS * count,
        "cuts": (STEP_PARTS + 1) * (count + 1),
    }
    sizes |= {"J": n * n + n, "W": n * n, "pivots": n} if method == IMPLICIT else dict.fromkeys(("J", "W", "pivots"), 0)
    arrays: dict[str, Any] = {
        k: np.zeros(size) for k, size in (sizes | dict.fromkeys(states, n) | dict.fromkeys(watched, count)).items()
    }
    return Step(**arrays)
