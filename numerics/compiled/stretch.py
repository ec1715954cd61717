"""A part of a run in compiled code, with its steps: the side in Python of `kernel.run`."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from numerics.flows.semantics import FOREVER
from odesys.errors import EquationError, ParameterError
from odesys.jit import loops

from . import kernel
from .choice import series_pay, steps_left
from .pieces import Piece, TaylorPiece
from .records import (
    BUFFER_FULL,
    EVENT,
    EXPLICIT,
    HANDOVER,
    IMPLICIT,
    KNOT_SIZE,
    POWERS,
    STIFF,
    SUSPECT,
    Log,
    Problem,
    RunState,
    new_step,
)

BUFFER_STEPS = 512  # steps kept before they are fetched
TRIALS, GAIN = 6, 10.0  # implicit steps that are tried, and so many times longer than explicit ones they must be


@cache
def kernel_functions() -> tuple[Callable[..., Any], ...]:
    """`kernel.run`, `kernel.many` and `kernel.tried` as machine code."""
    return loops.ready(kernel.run, kernel.many, kernel.tried)


def new_log(n: int, count: int, steps: int, rows: int = POWERS) -> Log:
    """Buffers for so many steps of n states, with so many rows for the polynomial of each, and for what happens."""
    places = BUFFER_STEPS + kernel.most_happenings(count)
    kept = (np.empty(steps * KNOT_SIZE), np.empty(steps * n), np.empty(steps * rows * n))
    return Log(steps, *kept, places, np.empty(places * KNOT_SIZE))


class Stretch:
    """A part of a run in compiled code, from a point of it: where it is, and what it has met since the last call."""

    def __init__(self, flow: Any, problem: Problem, state: RunState) -> None:
        self.problem, self.state = problem, state
        self._flow, self._step = flow, new_step(problem.n, problem.count, state.method, problem.order)
        self.stiff_from: float | None = None
        self.series_from: float | None = None
        self._times: list[float] = []  # at which the last buffers began

    def advance(self, max_steps: int, max_switches: int) -> bool:
        """Go on until a buffer is full or steps turn out stiff, and say if there is more; counters count from here."""
        state, problem = self.state, self.problem
        self._choose(max_steps)
        problem.max_steps, problem.max_switches = max_steps, max_switches
        state.steps = state.switches = state.fields = state.visited = state.jacobians = 0
        self._start, self._log = state.x.copy(), new_log(problem.n, problem.count, BUFFER_STEPS, problem.rows)
        kernel_functions()[0](self.problem, self.state, self._step, self._log)
        if state.status == SUSPECT and not self._implicit_pays():
            problem.patience, state.damped = 2 * problem.patience, 0
            state.status = BUFFER_FULL
        if state.status in (STIFF, SUSPECT):
            self.stiff_from = state.t
            self._flow.take_up("Rodas5P", problem, state)
            self._step = new_step(problem.n, problem.count, IMPLICIT)
        return state.status in (BUFFER_FULL, STIFF, SUSPECT)

    def _choose(self, max_steps: int) -> None:
        """Go on by Taylor series where that pays; see `choice.py`."""
        state, problem = self.state, self.problem
        whole = problem.may_switch == 1 and state.method == EXPLICIT and state.steps == BUFFER_STEPS
        self._times = [*self._times[-2:], state.t] if whole or not self._times else [state.t]
        if len(self._times) < 3 or problem.t_end >= FOREVER or state.damped > 0 or state.held > 0:
            return
        first, before, now = self._times
        left = steps_left(BUFFER_STEPS, first, before, now, problem.t_end)
        if series_pay(self._flow.system, problem.rtol, left, max_steps):
            with suppress(EquationError, ParameterError):  # not every function has coefficients
                self._flow.take_up("Taylor", problem, state, self._flow.order(problem.rtol))
                self._step = new_step(problem.n, problem.count, state.method, problem.order)
                self.series_from = state.t

    def _implicit_pays(self) -> bool:
        """Whether implicit steps from here are much longer than the last explicit one; the run stays as it is."""
        n, state = self.problem.n, self.state
        problem = replace(self.problem, slopes=self._flow.slopes, count=0)
        trial = replace(state, x=state.x.copy(), gates=state.gates.copy(), h=self._step.h, method=IMPLICIT)
        step = new_step(n, 0, IMPLICIT)
        kernel_functions()[2](problem, trial, step, TRIALS)
        return step.h > GAIN * self._step.h

    @property
    def ended(self) -> bool:
        """True if the run is over: at its end, or by the event `state.index`."""
        return self.state.status != HANDOVER

    @property
    def event(self) -> int:
        """The event that ended the run, or -1."""
        return self.state.index if self.state.status == EVENT else -1

    def steps(self) -> tuple[np.ndarray, np.ndarray, list[Piece | TaylorPiece]]:
        """Ends of the steps made (k,), states there (k, n), and dense output of each."""
        log, n, rows = self._log, self.problem.n, self.problem.rows
        knots, states = log.knots.reshape(-1, KNOT_SIZE)[: log.kept], log.states.reshape(-1, n)[: log.kept]
        tables, starts = log.tables.reshape(-1, rows, n)[: log.kept], np.vstack([self._start, states])
        ways = zip(knots[:, 1].tolist(), knots[:, 2].tolist(), starts[:-1], tables, strict=True)
        piece: type[Piece | TaylorPiece] = TaylorPiece if self.problem.order else Piece
        return knots[:, 0], states, [piece(*way) for way in ways]

    def happenings(self) -> list[tuple[float, int, int]]:
        """Time, number of the watched value and direction of all that happened, in order."""
        rows = self._log.happenings.reshape(-1, KNOT_SIZE)[: self._log.happened].tolist()
        return [(t, int(i), int(direction)) for t, i, direction in rows]
