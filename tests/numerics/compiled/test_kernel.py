"""A run as Python: it ends where it should, keeps what it is given room for, and many runs are runs one by one."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from numerics.compiled import kernel
from numerics.compiled.records import (
    BUFFER_FULL,
    END,
    EVENT,
    IMPLICIT,
    KNOT_SIZE,
    POWERS,
    Log,
    Problem,
    RunState,
    new_step,
)
from odesys.jit.loops import Array

NONE = np.empty(0)


def decay(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    out[0] = -p[0] * x[0]


def decay_slopes(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """The Jacobian, and the change in time."""
    out[0], out[1] = -p[0], 0.0


def level(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """An event where x = 1/2."""
    out[0] = x[0] - 0.5


def nothing(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """No watched values."""


def problem(end: float, events: int = 0, rate: float = 1.0) -> Problem:
    one = np.ones(events)
    return Problem(
        decay,
        decay,
        level if events else nothing,
        1,
        0,
        events,
        np.array([rate]),
        one,
        0 * one,
        one,
        np.ones(3),
        end,
        1e-10,
        np.array([1e-12]),
        1000,
        10,
    )


def log(rows: int, places: int = 100) -> Log:
    return Log(
        rows, np.zeros(rows * KNOT_SIZE), np.zeros(rows), np.zeros(rows * POWERS), places, np.zeros(places * KNOT_SIZE)
    )


def start(events: int = 0) -> RunState:
    return RunState(0.0, 0.0, np.array([1.0]), NONE, np.ones(events), np.zeros(events))


def test_a_run_ends_at_its_end_with_the_exact_solution() -> None:
    state = start()
    kernel.run(problem(2.0), state, new_step(1, 0), log(0))
    assert state.status == END and state.t == 2.0 and state.x[0] == pytest.approx(math.exp(-2.0), rel=1e-10)


def test_steps_are_kept_and_a_full_buffer_is_no_end() -> None:
    state, step, kept = start(), new_step(1, 0), log(3)
    kernel.run(problem(20.0), state, step, kept)
    assert state.status == BUFFER_FULL and kept.kept == 3 and 0.0 < state.t < 20.0
    ends, starts = kept.knots[::KNOT_SIZE], kept.knots[1::KNOT_SIZE]
    assert ends[:-1].tolist() == starts[1:].tolist() and ends[-1] == state.t  # each step starts where the last ended
    np.testing.assert_allclose(kept.states, np.exp(-ends), rtol=1e-9)


def test_a_terminal_event_ends_the_run() -> None:
    asked, state, step = problem(5.0, events=1), start(1), new_step(1, 1)
    kernel.begin(asked, state, step)
    kernel.run(asked, state, step, log(0))
    assert (state.status, state.index) == (EVENT, 0) and state.t == pytest.approx(math.log(2.0), abs=1e-9)


def test_many_runs_are_the_runs_one_by_one() -> None:
    starts, rates = (1.0, 2.0, 0.3), (1.0, 0.5, 3.0)
    given = np.array([[x, 1e-12, rate] for x, rate in zip(starts, rates, strict=True)])
    results = np.zeros((3, 2))
    kernel.many(problem(1.0), start(), new_step(1, 0), log(0), 3, 3, given.ravel(), results.reshape(-1))
    for row, x, rate in zip(results, starts, rates, strict=True):
        alone = start()
        alone.x[0] = x
        kernel.run(problem(1.0, rate=rate), alone, new_step(1, 0), log(0))
        assert row[0] == alone.x[0] and int(row[1]) == END


def test_room_for_what_happens_is_asked_for_before_a_step() -> None:
    asked = problem(1.0, events=1)
    assert kernel.full(asked, log(0, places=kernel.most_happenings(1)))
    assert not kernel.full(asked, log(0, places=kernel.most_happenings(1) + 1))


def test_implicit_steps_go_to_the_end_as_well() -> None:
    asked, state = replace(problem(2.0), slopes=decay_slopes, rtol=1e-7), start()
    state.method = IMPLICIT
    kernel.run(asked, state, new_step(1, 0, IMPLICIT), log(0))
    assert state.status == END and state.t == 2.0 and state.x[0] == pytest.approx(math.exp(-2.0), rel=1e-6)
    assert state.jacobians == state.steps > 1


def test_calls_of_the_field_and_states_visited_are_counted() -> None:
    """Each call is at a state of its own: stages, and the point that the first step is guessed with."""
    calls: list[float] = []

    def counted(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        calls.append(t)
        decay(t, x, p, g, out)

    state = start()
    kernel.run(replace(problem(2.0), field=counted), state, new_step(1, 0), log(0))
    assert state.fields == state.visited == len(calls) > 12
