"""Many runs in lanes: whichever run is over gives its lane to the next one. In the language of `odesys.jit.loops`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.system import System
from odesys.jit import llvm, loops
from odesys.jit.lanes import lane_width
from odesys.jit.loops import Array, Code, call

from . import lane_step, lane_taylor
from .kernel import begin as begin_run
from .kernel import go_on
from .lane_step import (
    FRESH,
    GOES_ON,
    HEAD,
    LEFT,
    MAX_STEPS,
    MAY_SWITCH,
    OVER,
    REJECTED,
    RTOL,
    START,
    STATUS,
    STEPS,
    STEPS_DAMPED,
    STEPS_FREE,
    STEPS_HELD,
    SWITCHED,
    T_END,
    H,
    T,
    places,
)
from .records import END, HANDOVER, Log, Problem, RunState, Step
from .taylor import SHORT

MOST_STATES = 64  # above, the stages of so many runs are more than what is near the processor
MOST_WATCHED = 64
MOST_NODES = 2000  # of a field: more takes seconds to compile
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
    while running > 0 or following < points:
        begins = 0
        for lane in range(width):
            running -= finished(width, n, lane, results, owners, room)
            if owners[lane] < 0.0 and following < points:
                fill(width, numbers, lane, following, given, owners, room)
                following, running, begins = following + 1, running + 1, 1
        if running > 0:
            go_together(begin, step, begins, room)


def finished(width: int, n: int, lane: int, results: Array, owners: Array, room: Array) -> int:
    """Write down the end of the run in a lane if it is over; gives 1 then."""
    room[FRESH * width + lane] = 0.0 if owners[lane] >= 0.0 else EMPTY
    if owners[lane] < 0.0 or room[STATUS * width + lane] < 0.0:
        return 0
    out = results[int(owners[lane]) * (n + 1) :]
    for i in range(n):
        out[i] = room[(HEAD + i) * width + lane]
    out[n] = room[STATUS * width + lane]
    owners[lane], room[FRESH * width + lane] = EMPTY, EMPTY
    return 1


def fill(width: int, numbers: int, lane: int, number: int, given: Array, owners: Array, room: Array) -> None:
    """Let a run begin in a lane."""
    row = given[number * numbers :]
    for i in range(numbers):
        room[(HEAD + i) * width + lane] = row[i]
    room[T * width + lane] = room[START * width + lane]
    room[STATUS * width + lane] = GOES_ON
    room[FRESH * width + lane] = 1.0
    room[REJECTED * width + lane] = 0.0
    room[STEPS * width + lane] = 0.0
    room[STEPS_HELD * width + lane] = 0.0
    room[STEPS_FREE * width + lane] = 0.0
    room[STEPS_DAMPED * width + lane] = 0.0
    room[SWITCHED * width + lane] = 0.0
    owners[lane] = float(number)


def go_together(begin: Code, step: Code, begins: int, room: Array) -> None:
    """Make steps until a run is over."""
    if begins == 1:
        call(begin, 0.0, room, room, room, room)
    room[OVER] = 0.0
    while room[OVER] == 0.0:
        call(step, 0.0, room, room, room, room)


def in_lanes_watched(
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
    problem: Problem,
    state: RunState,
    one: Step,
    log: Log,
) -> None:
    """The same where something is watched: steps in which something may happen are made by the scalar kernel."""
    following, running = 0, 0
    for lane in range(width):
        owners[lane] = EMPTY
    while running > 0 or following < points:
        begins = 0
        for lane in range(width):
            if owners[lane] >= 0.0 and room[STATUS * width + lane] == LEFT:
                row = given[int(owners[lane]) * numbers :]
                problem.atol, problem.p = row[n:], row[2 * n :]
                take_out(width, numbers, lane, problem, state, one, room)
                state.status, log.happened = END, 0
                go_on(problem, state, one, log)
                put_back(width, numbers, lane, problem, state, one, room)
            running -= finished(width, n, lane, results, owners, room)
            if owners[lane] < 0.0 and following < points:
                fill(width, numbers, lane, following, given, owners, room)
                row = given[following * numbers :]
                problem.atol, problem.p = row[n:], row[2 * n :]
                take_out(width, numbers, lane, problem, state, one, room)
                begin_run(problem, state, one)
                put_sides(width, numbers, lane, problem, state, room)
                if state.status == HANDOVER:
                    room[STATUS * width + lane] = HANDOVER
                following, running, begins = following + 1, running + 1, 1
        if running > 0:
            go_together(begin, step, begins, room)


def take_out(width: int, numbers: int, lane: int, problem: Problem, state: RunState, one: Step, room: Array) -> None:
    """The run in a lane as the scalar kernel has it."""
    n, here = problem.n, room[lane:]
    state.t, state.h = here[T * width], here[H * width]
    state.steps, state.switches = int(here[STEPS * width]), int(here[SWITCHED * width])
    state.held, state.free = int(here[STEPS_HELD * width]), int(here[STEPS_FREE * width])
    state.damped = int(here[STEPS_DAMPED * width])
    for i in range(n):
        state.x[i], one.K[i] = here[(HEAD + i) * width], here[(HEAD + numbers + i) * width]
    rows = HEAD + numbers + n
    for i in range(problem.surfaces):
        state.gates[i] = here[(rows + i) * width]
    rows += problem.surfaces
    for i in range(problem.count):
        state.side[i], state.width[i] = here[(rows + i) * width], here[(rows + problem.count + i) * width]


def put_back(width: int, numbers: int, lane: int, problem: Problem, state: RunState, one: Step, room: Array) -> None:
    """The run in a lane from what the scalar kernel has made of it."""
    n, here = problem.n, room[lane:]
    here[T * width], here[H * width], here[REJECTED * width] = state.t, state.h, 0.0
    here[STEPS * width], here[SWITCHED * width] = float(state.steps), float(state.switches)
    here[STEPS_HELD * width], here[STEPS_FREE * width] = float(state.held), float(state.free)
    here[STEPS_DAMPED * width] = float(state.damped)
    for i in range(n):
        here[(HEAD + i) * width], here[(HEAD + numbers + i) * width] = state.x[i], one.K[i]
    put_sides(width, numbers, lane, problem, state, room)
    here[STATUS * width] = float(state.status)
    if state.status == END and state.t < problem.t_end:
        here[STATUS * width] = GOES_ON


def put_sides(width: int, numbers: int, lane: int, problem: Problem, state: RunState, room: Array) -> None:
    """Gates, and sides and widths of what is watched."""
    rows, here = HEAD + numbers + problem.n, room[lane:]
    for i in range(problem.surfaces):
        here[(rows + i) * width] = state.gates[i]
    rows += problem.surfaces
    for i in range(problem.count):
        here[(rows + i) * width], here[(rows + problem.count + i) * width] = state.side[i], state.width[i]


@cache
def _drivers() -> tuple[Any, ...]:
    return loops.ready(in_lanes, in_lanes_watched)


class LaneBatch:
    """The runs of a system in lanes, by DOP853 or by Taylor series to an order.

    watched : surfaces and events, which a series can not have. movable : 1 for each of them that can change.
    """

    def __init__(
        self,
        system: System,
        order: int = 0,
        width: int = 0,
        watched: Sequence[Node] = (),
        movable: Sequence[float] | np.ndarray = (),
    ) -> None:
        self._n, self._width, self._movable = system.dimension, width or lane_width(), np.array(movable, dtype=float)
        self._places = places(system, len(watched))
        if order:
            text = lane_taylor.assembly(system, order, self._width)
        else:
            text = lane_step.assembly(system, self._width, watched)
        code = llvm.compiled(text, llvm.LOOPS)
        self._code = code.address("begin"), code.address("step")

    def run(self, given: np.ndarray, results: np.ndarray, limits: Any, records: Sequence[Any] = ()) -> None:
        """Ends of runs whose starts, tolerances and parameters are the rows of `given`, into the rows of `results`.

        records : problem, state, step and log, for the steps that the scalar kernel makes where something is watched.
        """
        room = self.new_room()
        self.put(room, limits)
        _drivers()[1 if records else 0](*self._arguments(given, results, room), *records)

    def prepared(self, given: np.ndarray, results: np.ndarray, room: np.ndarray) -> Callable[[], Any]:
        """A call for the same arrays, again and again, where nothing is watched."""
        return loops.prepared(_drivers()[0], *self._arguments(given, results, room))

    def new_room(self) -> np.ndarray:
        """What runs read and write besides, a row of lanes per number."""
        rows = self._places.rows
        return _aligned(rows * self._width).reshape(rows, self._width)

    def put(self, room: np.ndarray, limits: Any) -> None:
        """Write the limits of runs into a room."""
        room[START], room[T_END], room[RTOL], room[H] = limits.start, limits.end, limits.rtol, 1.0
        room[MAX_STEPS], room[MAY_SWITCH] = limits.max_steps, float(limits.method == "auto")
        room[self._places.movable :] = self._movable[:, None]

    def _arguments(self, given: np.ndarray, results: np.ndarray, room: np.ndarray) -> tuple[Any, ...]:
        sizes = (self._width, self._n, given.shape[1], len(given))
        return *self._code, *sizes, given.ravel(), results.ravel(), np.empty(self._width), room.ravel()


def _aligned(size: int) -> np.ndarray:
    """Zeros that begin where a line of memory does."""
    found = np.zeros(size + 8)
    skip = -(found.ctypes.data // 8) % 8
    return found[skip : skip + size]


def goes_in_lanes(system: System, watched: Sequence[Node], method: str, order: int) -> bool:
    """Whether runs of a system by a method, series to this order, can go in lanes, and soon enough."""
    if lane_width() == 0 or not 0 < system.dimension <= MOST_STATES or len(watched) > MOST_WATCHED:
        return False
    nodes = len(graph.topological([*system.nodes, *watched]))
    if method == "Taylor":
        return not watched and nodes * order**2 <= SHORT
    return method in ("auto", "DOP853") and nodes <= MOST_NODES
