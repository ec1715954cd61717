"""Many runs in lanes: whichever run is over gives its lane to the next one. In the language of `odesys.jit.loops`."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from odesys.expr.system import System
from odesys.jit import llvm, loops
from odesys.jit.lanes import lane_width
from odesys.jit.loops import Array, Code, call

from . import lane_step, lane_taylor
from .lane_step import (
    FRESH,
    GOES_ON,
    HEAD,
    MAX_STEPS,
    MAY_SWITCH,
    OVER,
    REJECTED,
    RTOL,
    START,
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
                room[T * width + lane] = room[START * width + lane]
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
    """The runs of a system in lanes, where it has no surfaces and nothing is watched; by DOP853, or to an order."""

    def __init__(self, system: System, order: int = 0, width: int = 0) -> None:
        self._n, self._parameters, self._width = system.dimension, len(system.parameters), width or lane_width()
        make = lane_taylor.assembly(system, order, self._width) if order else lane_step.assembly(system, self._width)
        code = llvm.compiled(make, llvm.LOOPS)
        self._code = code.address("begin"), code.address("step")

    def run(self, given: np.ndarray, results: np.ndarray, limits: Any) -> None:
        """Ends of runs whose starts, tolerances and parameters are the rows of `given`, into the rows of `results`."""
        room = self.new_room()
        self.put(room, limits)
        _driver()(*self._arguments(given.reshape(len(given), -1), results, room))

    def prepared(self, given: np.ndarray, results: np.ndarray, room: np.ndarray) -> Callable[[], Any]:
        """A call for the same arrays, again and again."""
        return loops.prepared(_driver(), *self._arguments(given, results, room))

    def new_room(self) -> np.ndarray:
        """What runs read and write besides, a row of lanes per number."""
        rows = lane_step.places(self._n, self._parameters)[-1]
        return _aligned(rows * self._width).reshape(rows, self._width)

    def put(self, room: np.ndarray, limits: Any) -> None:
        """Write the limits of runs into a room."""
        room[START], room[T_END], room[RTOL], room[H] = limits.start, limits.end, limits.rtol, 1.0
        room[MAX_STEPS], room[MAY_SWITCH] = limits.max_steps, float(limits.method == "auto")

    def _arguments(self, given: np.ndarray, results: np.ndarray, room: np.ndarray) -> tuple[Any, ...]:
        sizes = (self._width, self._n, given.shape[1], len(given))
        return *self._code, *sizes, given.ravel(), results.ravel(), np.empty(self._width), room.ravel()


def _aligned(size: int) -> np.ndarray:
    """Zeros that begin where a line of memory does."""
    found = np.zeros(size + 8)
    skip = -(found.ctypes.data // 8) % 8
    return found[skip : skip + size]


def goes_in_lanes(system: System, watched: int, method: str) -> bool:
    """Whether runs of a system by a method can go in lanes."""
    return lane_width() > 0 and watched == 0 and method != "Rodas5P" and 0 < system.dimension <= MOST_STATES
