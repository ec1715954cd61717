"""Many runs in lanes: whichever run is over gives its lane to the next one. In the language of `odesys.jit.loops`."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from odesys.expr.system import System
from odesys.jit import loops
from odesys.jit.lanes import lane_width
from odesys.jit.loops import Array, Code, call

from . import lane_step
from .lane_step import (
    FRESH,
    GOES_ON,
    HEAD,
    MAX_STEPS,
    MAY_SWITCH,
    OVER,
    REJECTED,
    RTOL,
    STATUS,
    STEPS,
    STEPS_FREE,
    STEPS_HELD,
    T_END,
    H,
    T,
)

MOST_STATES = 64  # above, the stages of so many runs are more than what is near the processor
EMPTY = -1.0


def in_lanes(
    begin: Code,
    step: Code,
    width: int,
    n: int,
    numbers: int,
    points: int,
    start: float,
    given: Array,
    results: Array,
    owners: Array,
    room: Array,
) -> None:
    """Runs of `points` rows of `given`, each of so many `numbers`; rows of `results` are the end and why it is one.

    `owners` has the number of the run in each lane.
    """
    following, running = 0, 0
    for lane in range(width):
        owners[lane] = EMPTY
        room[STATUS * width + lane] = GOES_ON
    while running > 0 or following < points:
        begins = 0
        for lane in range(width):
            room[FRESH * width + lane] = 0.0
            if owners[lane] >= 0.0 and room[STATUS * width + lane] >= 0.0:
                out = results[int(owners[lane]) * (n + 1) :]
                for i in range(n):
                    out[i] = room[(HEAD + i) * width + lane]
                out[n] = room[STATUS * width + lane]
                owners[lane] = EMPTY
                running -= 1
            if owners[lane] < 0.0 and following < points:
                row = given[following * numbers :]
                for i in range(numbers):
                    room[(HEAD + i) * width + lane] = row[i]
                room[T * width + lane] = start
                room[STATUS * width + lane] = GOES_ON
                room[FRESH * width + lane] = 1.0
                room[REJECTED * width + lane] = 0.0
                room[STEPS * width + lane] = 0.0
                room[STEPS_HELD * width + lane] = 0.0
                room[STEPS_FREE * width + lane] = 0.0
                owners[lane] = float(following)
                following += 1
                running += 1
                begins = 1
            elif owners[lane] < 0.0:
                room[FRESH * width + lane] = EMPTY
        if running > 0:
            if begins == 1:
                call(begin, 0.0, room, room, room, room)
            room[OVER] = 0.0
            while room[OVER] == 0.0:
                call(step, 0.0, room, room, room, room)


@cache
def _driver() -> Any:
    return loops.ready(in_lanes)[0]


class LaneBatch:
    """The runs of a system in lanes, where it has no surfaces and nothing is watched."""

    def __init__(self, system: System) -> None:
        self._n, self._parameters, self._code = system.dimension, len(system.parameters), lane_step.lane_code(system)

    def run(self, given: np.ndarray, results: np.ndarray, limits: Any) -> None:
        """Ends of runs whose starts, tolerances and parameters are the rows of `given`, into the rows of `results`."""
        width, rows = lane_width(), lane_step.places(self._n, self._parameters)[-1]
        room, owners = _aligned(rows * width), np.empty(width)
        table = room.reshape(rows, width)
        table[H] = 1.0
        table[T], table[T_END] = limits.start, limits.end
        table[RTOL], table[MAX_STEPS], table[MAY_SWITCH] = limits.rtol, limits.max_steps, limits.method == "auto"
        begin, step = self._code.address("begin"), self._code.address("step")
        sizes = (width, self._n, given.shape[1], len(given))
        _driver()(begin, step, *sizes, limits.start, given.ravel(), results.ravel(), owners, room)


def _aligned(size: int) -> np.ndarray:
    """Zeros that begin where a line of memory does."""
    found = np.zeros(size + 8)
    skip = -(found.ctypes.data // 8) % 8
    return found[skip : skip + size]


def goes_in_lanes(system: System, watched: int, method: str) -> bool:
    """Whether runs of a system by a method can go in lanes."""
    return lane_width() > 0 and watched == 0 and method in ("auto", "DOP853") and 0 < system.dimension <= MOST_STATES
