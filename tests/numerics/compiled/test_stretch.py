"""Parts of runs, buffer by buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from numerics.compiled import stretch
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.kernel import most_happenings
from numerics.compiled.pieces import Piece, TaylorPiece
from numerics.compiled.records import (
    BUFFER_FULL,
    END,
    EVENT,
    EXPLICIT,
    HANDOVER,
    IMPLICIT,
    STIFF,
    SUSPECT,
    TAYLOR,
    Log,
    Problem,
    RunState,
)
from numerics.compiled.stretch import BUFFER_STEPS, Stretch, new_log
from numerics.flows.semantics import FOREVER
from odesys import BrokenRunWarning, EquationError, IntegrationError, StopWhen, System, integrate

OSCILLATOR = System.from_strings("x' = y; y' = -x")


@pytest.mark.parametrize("method", ["DOP853", "Taylor", "Rodas5P"])
def test_a_run_is_the_same_however_often_its_steps_are_fetched(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = CompiledFlow(OSCILLATOR, [StopWhen("up", "x", 1, False)])
    whole = flow.run([1.0, 0.0], (0.0, 20.0), method=method)
    monkeypatch.setattr(stretch, "BUFFER_STEPS", 2)
    parts = flow.run([1.0, 0.0], (0.0, 20.0), method=method)
    assert np.array_equal(parts.times, whole.times) and np.array_equal(parts.states, whole.states)
    assert [(e.name, e.time) for e in parts.events] == [(e.name, e.time) for e in whole.events]
    assert len(whole.events) == 3 and np.array_equal(parts.at(7.3), whole.at(7.3))


def test_buffers_have_room_for_what_one_step_may_bring() -> None:
    log = new_log(3, 2, 5, 7)
    assert log.knots.size == 15 and log.states.size == 15 and log.tables.size == 105
    assert log.happenings.size == 3 * log.places > 3 * stretch.BUFFER_STEPS


def test_only_an_event_that_ends_the_run_is_its_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of events listed before and after it; a run to its end has none."""
    ends: list[tuple[str, int]] = []
    original = stretch.Stretch.steps

    def noted(self: stretch.Stretch) -> object:
        ends.append((type(self).__name__, self.event))
        return original(self)

    monkeypatch.setattr(stretch.Stretch, "steps", noted)
    events = [StopWhen("passed", "x", 1, False), StopWhen("down", "y", -1)]
    for level, event in ((0.0, 1), (-5.0, -1)):
        flow = CompiledFlow(OSCILLATOR, [events[0], StopWhen("down", "y", -1, level=level)])
        run = flow.run([0.0, 1.0], (0.0, 20.0))
        assert (run.stop == "event:down") is (event == 1) and ends[-1][1] == event


def test_series_follow_three_full_buffers_in_a_row_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is asked once, then the run goes on by series."""
    asked: list[float] = []

    def pays(system: System, rtol: float, left: float, allowed: float) -> bool:
        asked.append(left)
        return True

    monkeypatch.setattr(stretch, "BUFFER_STEPS", 8)
    monkeypatch.setattr(stretch, "series_pay", pays)
    wave = integrate(OSCILLATOR, [1.0, 0.0], (0.0, 100.0), rtol=1e-12)
    assert wave.series_from is not None and len(asked) == 1
    assert np.abs(wave.end_state - [np.cos(100.0), -np.sin(100.0)]).max() < 1e-9


@pytest.mark.parametrize("method", ["auto", "DOP853"])
def test_a_state_that_overflows_is_no_end(method: str) -> None:
    """The error of a step to infinity is zero in units of that state; ends were infinite, or a ValueError."""
    pole = System.from_strings("x' = 1/t**2")
    with pytest.raises(IntegrationError):
        integrate(pole, [0.0], (-1.0, 1.0), method=method)
    flow = CompiledFlow(pole)
    with pytest.raises(IntegrationError):
        flow.final([0.0], (-1.0, 1.0), method=method)
    with pytest.warns(BrokenRunWarning):
        assert np.isnan(flow.batch([0.0], (-1.0, 1.0), [{}] * 2, method=method)).all()


class Flow:
    """A flow that notes what it is asked for."""

    system, slopes = OSCILLATOR, "slopes"

    def __init__(self) -> None:
        self.taken: list[tuple[str, int]] = []

    def order(self, rtol: float) -> int:
        return 13

    def take_up(self, method: str, problem: Problem, state: RunState, order: int = 0) -> None:
        if self.taken and self.taken[-1] == ("refused", 0):
            raise EquationError("no coefficients")
        self.taken.append((method, order))
        state.method, problem.order = (IMPLICIT, 0) if method == "Rodas5P" else (TAYLOR, order)


def a_stretch(end: float = 1e6, switch: int = 1) -> Stretch:
    """A stretch of a run of two states with one event, of which no step has been made."""
    one, code = np.ones(1), None
    problem = Problem(
        code, code, code, 2, 0, 1, np.empty(0), one, one, one, np.ones(6), end, 1e-12, np.ones(2), 9, 9,  # type: ignore[arg-type]
        may_switch=switch, patience=8,
    )  # fmt: skip
    return Stretch(Flow(), problem, RunState(0.0, 0.0, np.array([1.0, 0.0]), np.empty(0), one, one))


def kernel_of(monkeypatch: pytest.MonkeyPatch, *runs: Callable[[Problem, RunState, Any, Log], None]) -> None:
    """Let calls of the kernel be these, one after the other, and trials of implicit steps the last."""
    left = list(runs)

    def run(problem: Problem, state: RunState, step: Any, log: Log) -> None:
        left.pop(0)(problem, state, step, log)

    monkeypatch.setattr(stretch, "kernel_functions", lambda: (run, None, runs[-1]))


@pytest.mark.parametrize(
    ("status", "more", "stiff"),
    [
        (BUFFER_FULL, True, False),
        (STIFF, True, True),
        (END, False, False),
        (EVENT, False, False),
        (HANDOVER, False, False),
    ],
)
def test_a_stretch_has_more_where_a_buffer_is_full_or_steps_are_stiff(
    status: int, more: bool, stiff: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counters are those since the last call; how it ended is read off the state."""
    part = a_stretch()

    def run(problem: Problem, state: RunState, step: Any, log: Log) -> None:
        assert (problem.max_steps, problem.max_switches, log.rows) == (70, 6, BUFFER_STEPS)
        counters = (state.steps, state.switches, state.fields, state.visited, state.jacobians)
        assert counters == (0, 0, 0, 0, 0)
        state.steps = state.switches = state.fields = state.visited = state.jacobians = 5
        state.t, state.status, state.index = 4.0, status, 0

    kernel_of(monkeypatch, run, run)
    assert part.advance(70, 6) is more
    assert (part.stiff_from == 4.0) is stiff and (part._step.W.size > 0) is stiff
    assert part._flow.taken == [("Rodas5P", 0)] * stiff
    assert part.ended is (status != HANDOVER) and part.event == (0 if status == EVENT else -1)
    part.advance(70, 6)


@pytest.mark.parametrize(("longer", "pays"), [(9.9, False), (10.0, False), (10.1, True)])
def test_suspected_steps_are_stiff_where_implicit_ones_are_much_longer(
    longer: float, pays: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Six of them are tried, from a copy of the state and without what is watched; else patience doubles."""
    part = a_stretch()

    def run(problem: Problem, state: RunState, step: Any, log: Log) -> None:
        state.status, state.t, state.damped, step.h = SUSPECT, 4.0, 9, 0.25

    def tried(problem: Problem, state: RunState, step: Any, count: int) -> None:
        assert (problem.count, problem.slopes, problem.n, state.h, state.method, count) == (
            0,
            "slopes",
            2,
            0.25,
            IMPLICIT,
            6,
        )
        assert (step.W.size, step.V.size, state.t) == (4, 0, 4.0)
        state.x[:], state.t, step.h = 99.0, 99.0, longer * 0.25

    kernel_of(monkeypatch, run, tried)
    assert part.advance(70, 6)
    assert part.state.x.tolist() == [1.0, 0.0] and part.state.t == 4.0 and part.problem.count == 1
    if pays:
        assert (part.stiff_from, part.state.status, part.problem.patience) == (4.0, SUSPECT, 8)
    else:
        assert (part.stiff_from, part.state.status, part.problem.patience) == (None, BUFFER_FULL, 16)
        assert part.state.damped == 0 and not part._flow.taken


@pytest.mark.parametrize(
    ("change", "asked"),
    [
        ({}, True),
        ({"steps": BUFFER_STEPS - 1}, False),
        ({"method": IMPLICIT}, False),
        ({"held": 1}, False),
        ({"damped": 1}, False),
        ({"t_end": FOREVER}, False),
        ({"may_switch": 0}, False),
    ],
)
def test_series_are_thought_of_after_two_full_buffers_of_explicit_steps(
    change: dict[str, float], asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a row, towards an end, where nothing looks stiff; the steps left are estimated from the last two buffers."""
    part, times = a_stretch(100.0), list[tuple[float, ...]]()
    monkeypatch.setattr(stretch, "steps_left", lambda count, *given: times.append((count, *given)) or 1e9)
    monkeypatch.setattr(
        stretch, "series_pay", lambda system, rtol, left, allowed: (rtol, left, allowed) == (1e-12, 1e9, 70)
    )

    def run(problem: Problem, state: RunState, step: Any, log: Log) -> None:
        state.t, state.steps, state.status = state.t + 2.0, BUFFER_STEPS, BUFFER_FULL

    kernel_of(monkeypatch, *[run] * 9)
    for number in range(2):
        assert part.advance(70, 6) and part.series_from is None
        if number == 1:
            for name, value in change.items():
                setattr(part.problem if hasattr(part.problem, name) else part.state, name, value)
    part.advance(70, 6)
    assert times == ([(BUFFER_STEPS, 0.0, 2.0, 4.0, 100.0)] if asked else [])
    assert (part.series_from == 4.0) is asked and part._flow.taken == [("Taylor", 13)] * asked
    assert part._step.K.size == 2 * 16 and part.problem.order == (13 if asked else 0)


def test_a_function_without_coefficients_leaves_a_run_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    part, times = a_stretch(100.0), list[tuple[float, ...]]()
    monkeypatch.setattr(stretch, "steps_left", lambda count, *given: times.append(given) or 1e9)
    monkeypatch.setattr(stretch, "series_pay", lambda *given: True)

    def run(problem: Problem, state: RunState, step: Any, log: Log) -> None:
        state.t, state.steps, state.status = state.t + 2.0, BUFFER_STEPS, BUFFER_FULL

    kernel_of(monkeypatch, *[run] * 9)
    part._flow.taken.append(("refused", 0))
    for _ in range(5):
        assert part.advance(70, 6)
    assert times == [(k, k + 2.0, k + 4.0, 100.0) for k in (0.0, 2.0, 4.0)]
    assert part.series_from is None and part.state.method == EXPLICIT


def test_what_was_kept_is_read_row_by_row() -> None:
    """Ends, states, and dense output of each step from the end of the one before; what happened, in order."""
    part, rng = a_stretch(), np.random.default_rng(1)
    for rows, order, kind in ((7, 0, Piece), (4, 4, TaylorPiece)):
        part.problem.rows, part.problem.order = rows, order
        part._start, log = np.array([5.0, 6.0]), new_log(2, 1, 6, rows)
        log.kept, log.happened = 3, 2
        log.knots[:9], log.states[:6] = rng.normal(size=9), rng.normal(size=6)
        log.tables[: 3 * rows * 2], log.happenings[:6] = rng.normal(size=3 * rows * 2), [0.5, 2, -1, 0.75, 0, 1]
        part._log = log
        ends, states, pieces = part.steps()
        assert ends.tolist() == log.knots[:9:3].tolist() and states.ravel().tolist() == log.states[:6].tolist()
        assert all(type(piece) is kind for piece in pieces) and len(pieces) == 3
        starts = [part._start.tolist(), *states[:2].tolist()]
        for k, piece in enumerate(pieces):
            assert (piece.t_old, piece.h) == (log.knots[3 * k + 1], log.knots[3 * k + 2])
            assert piece.start.tolist() == starts[k]
            assert piece.table.ravel().tolist() == log.tables[k * rows * 2 : (k + 1) * rows * 2].tolist()
        assert part.happenings() == [(0.5, 2, -1), (0.75, 0, 1)]


def test_buffers_hold_their_steps_and_what_happens_in_them() -> None:
    for rows in (7, 4):
        log = new_log(3, 2, 5, rows)
        assert (log.rows, log.knots.size, log.states.size, log.tables.size) == (5, 15, 15, 15 * rows)
        assert log.places == BUFFER_STEPS + most_happenings(2) and log.happenings.size == 3 * log.places
    assert new_log(1, 0, 4).tables.size == 28
