"""A run as Python: it ends where it should, keeps what it is given room for, and many runs are runs one by one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from numerics.compiled import kernel
from numerics.compiled.crossings import DENIED
from numerics.compiled.dop853 import HELD
from numerics.compiled.records import (
    BUFFER_FULL,
    END,
    EVENT,
    EXPLICIT,
    HANDOVER,
    IMPLICIT,
    KNOT_SIZE,
    POWERS,
    STIFF,
    SUSPECT,
    TAYLOR,
    Log,
    Problem,
    RunState,
    new_step,
)
from numerics.compiled.rodas5p import stiff_step
from numerics.flows.semantics import HALVINGS, STATE_ROUNDING, STEP_PARTS
from odesys.jit.loops import Array, Code

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
    state, one = start(), log(1)
    kernel.run(problem(20.0), state, step, one)
    assert (one.kept, one.knots[0]) == (1, state.t) and state.t == ends[0]


def test_a_step_of_no_length_is_not_kept() -> None:
    """An event that jumped past zero with a gate happens where the step begins."""
    asked, state, kept = watching(level, 0, 1), start(1), log(5)
    asked.terminal[0], state.side[0] = 1.0, -1.0
    kernel.run(asked, state, new_step(1, 1), kept)
    assert (state.status, state.t, state.x[0], kept.kept, kept.happened) == (EVENT, 0.0, 1.0, 0, 1)


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


def watching(watch: Code, surfaces: int, events: int, end: float = 9.0, field: Code = decay) -> Problem:
    """A run whose surfaces and events, which do not end it, all move."""
    moves, free = np.ones(surfaces + events), np.zeros(events)
    return replace(
        problem(end), field=field, watch=watch, surfaces=surfaces, count=surfaces + events, movable=moves,
        directions=free, terminal=free.copy(),
    )  # fmt: skip


def begun(asked: Problem, x: Sequence[float], gates: float = 1.0) -> RunState:
    """What `begin` makes of a start, whatever the gates and sides of the run before."""
    state = RunState(
        0.0, 0.0, np.array(x), np.full(asked.surfaces, gates), np.full(asked.count, 7.0), np.full(asked.count, 7.0)
    )
    kernel.begin(asked, state, new_step(asked.n, asked.count))
    return state


@pytest.mark.parametrize("before", [0.0, 1.0])
def test_gates_at_the_start_agree_with_surfaces_that_contain_gates(before: float) -> None:
    """In a chain each gate is known one reading after the next one; where none turns, one reading is enough."""
    readings: list[float] = []

    def chain(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        readings.append(x[0])
        out[0], out[1], out[2] = g[1] - 0.5, g[2] - 0.5, x[0] - 0.25

    for x, passes in ((1.0, 4), (0.125, 1)):
        readings.clear()
        state = begun(watching(chain, 3, 0), [x], before)
        assert state.gates.tolist() == [float(x > 0.25)] * 3
        assert state.side.tolist() == (2.0 * state.gates - 1.0).tolist()
        assert state.status == BUFFER_FULL and len(readings) == passes + 4  # and four that measure widths


def test_at_the_start_what_is_at_zero_has_no_side_and_a_surface_there_is_left_to_the_reference() -> None:
    def values(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0], out[1], out[2] = x[0] - 0.5, x[0] - x[1], 0.75 - x[1]

    for surfaces in (0, 1, 2, 3):
        asked = replace(watching(values, surfaces, 3 - surfaces), n=2, signs=np.ones(6), atol=np.ones(2))
        asked.field = lambda t, x, p, g, out: out.__setitem__(slice(2), 0.0)
        state = begun(asked, [1.0, 1.0])
        assert state.side.tolist() == [1.0, 0.0, -1.0] and state.gates.tolist() == [1.0, 0.0, 0.0][:surfaces]
        assert state.status == (HANDOVER if surfaces > 1 else BUFFER_FULL)
        asked.movable = np.array([1.0, 0.0, 1.0])  # a surface that can not move stays as it is
        assert begun(asked, [1.0, 1.0]).status == BUFFER_FULL


def test_at_the_start_a_width_is_what_rounding_of_the_state_makes() -> None:
    """A step that was made before, of another run, does not count; nothing at all rounds at x = t = 0."""
    asked = watching(lambda t, x, p, g, out: out.__setitem__(0, 3.0 * x[0] - 7.0), 1, 0)
    state, step = begun(asked, [2.0]), new_step(1, 1)
    assert state.width[0] == pytest.approx(4 * 3 * STATE_ROUNDING * 2.0, rel=0.3)
    step.h, step.end = 5.0, 0.5
    kernel.begin(asked, state, step)
    assert state.width[0] == pytest.approx(4 * 3 * STATE_ROUNDING * 2.0, rel=0.3)
    at_zero = begun(watching(lambda t, x, p, g, out: out.__setitem__(0, x[0]), 1, 0), [0.0])
    assert (at_zero.width[0], at_zero.status) == (0.0, HANDOVER)


def test_there_is_room_for_every_value_to_pass_zero_once_between_two_cuts() -> None:
    """Cuts are the ends of the parts, and one dip of each value for each of them."""
    for count in range(5):
        cuts = new_step(1, count).cuts.size
        assert cuts == (STEP_PARTS + 1) * (count + 1) and kernel.most_happenings(count) == cuts * count + 1
        asked = problem(1.0, events=count)
        for rows in (1, 2):
            room = log(rows, 1 + kernel.most_happenings(count))
            full = [kernel.full(asked, replace(room, kept=kept)) for kept in range(rows + 1)]
            assert full == [False] * rows + [True]
        assert kernel.full(asked, replace(log(0, 1 + kernel.most_happenings(count)), happened=1))


def turning(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """(cos t, -sin t, t) from (1, 0, 0)."""
    out[0], out[1], out[2] = x[1], -x[0], 1.0


def turn(end: float) -> Problem:
    return replace(problem(end), field=turning, n=3, signs=np.ones(9), atol=np.full(3, 1e-12))


def test_every_state_goes_on_from_the_last_stage() -> None:
    """Of which the first of the next step is a copy; all that is kept is of all states."""
    asked, step = turn(3.0), new_step(3, 0)
    state = RunState(0.0, 0.0, np.array([1.0, 0.0, 0.0]), NONE, NONE, NONE)
    kept = Log(40, np.zeros(40 * KNOT_SIZE), np.zeros(40 * 3), np.zeros(40 * 3 * POWERS), 9, np.zeros(27))
    kernel.run(asked, state, step, kept)
    assert state.status == END and state.x == pytest.approx([math.cos(3), -math.sin(3), 3], rel=1e-9)
    field = np.zeros(3)
    turning(state.t, state.x, NONE, NONE, field)
    assert step.K[:3].tolist() == field.tolist() and state.steps == kept.kept > 3
    knots, states = kept.knots.reshape(-1, KNOT_SIZE)[: kept.kept], kept.states.reshape(-1, 3)[: kept.kept]
    np.testing.assert_allclose(states, np.array([np.cos(knots[:, 0]), -np.sin(knots[:, 0]), knots[:, 0]]).T, rtol=1e-9)
    np.testing.assert_allclose(knots[:, 1] + knots[:, 2], knots[:, 0], rtol=1e-15)
    starts = np.vstack([[1.0, 0.0, 0.0], states[:-1]])
    for (_, t, h), x, table in zip(knots, starts, kept.tables.reshape(40, -1), strict=False):
        middle = np.zeros(3)
        kernel.state_at(asked, replace(step, F=table), x, 0.5, middle)
        assert middle == pytest.approx([math.cos(t + h / 2), -math.sin(t + h / 2), t + h / 2], rel=1e-7)


def test_states_between_are_computed_only_for_what_reads_them() -> None:
    """Twelve stages a step, two calls for the first step; three more where it is watched, seven where it is kept."""

    def far(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0] = 9.0 + x[0]

    plain, kept, watched, single = start(), start(), start(1), start()
    kernel.run(problem(2.0), plain, new_step(1, 0), log(0))
    kernel.run(problem(2.0), kept, new_step(1, 0), log(50))
    kernel.run(replace(problem(2.0, events=1), watch=far), watched, new_step(1, 1), log(0))
    assert plain.steps == kept.steps == watched.steps and (plain.fields - 2) % 12 == 0
    assert watched.fields == plain.fields + 3 * plain.steps  # nothing comes near: the first polynomial will do
    assert kept.fields == plain.fields + 7 * plain.steps
    kernel.run(problem(2.0), single, new_step(1, 0), log(1))
    assert (single.steps, single.fields, single.status) == (1, 2 + 19, BUFFER_FULL)


def test_only_a_step_that_meets_something_is_cut() -> None:
    asked, state, step = replace(problem(9.0), order=1), replace(start(), t=2.0), new_step(1, 0, TAYLOR, 1)
    for end, t, x in ((1.0, 7.0, 5.0), (0.75, 3.5, 2.5)):
        step.h, step.t_new, step.end, step.new[0], step.F[0] = 2.0, 7.0, end, 5.0, 2.0
        kernel.end_here(asked, state, step)
        assert (step.t_new, step.new[0]) == (t, x)  # in full, its end is not computed again


def test_a_method_makes_its_own_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    ways = {IMPLICIT: "stiff_step", TAYLOR: "taylor_step", EXPLICIT: "accepted_step"}
    tables = {IMPLICIT: "stiff_table", TAYLOR: "taylor_table", EXPLICIT: "refined"}
    used: list[str] = []
    for name in (*ways.values(), *tables.values()):
        monkeypatch.setattr(kernel, name, lambda *given, name=name: bool(used.append(name)) or name == "taylor_step")
    for method in (IMPLICIT, TAYLOR, EXPLICIT):
        state = start()
        state.method = method
        assert kernel.made(problem(1.0), state, new_step(1, 0)) is (method == TAYLOR)
        assert kernel.read_between(problem(1.0), state, new_step(1, 0), log(1), 0) is (method != EXPLICIT)
    assert used == [f(m) for m in ways for f in (ways.get, tables.get)]


@pytest.mark.parametrize(
    ("found", "given", "status", "index"),
    [
        (DENIED, {}, HANDOVER, -1),
        (2, {}, EVENT, 0),  # two surfaces, then events
        (4, {"held": HELD}, EVENT, 2),
        (kernel.NONE, {}, END, -1),
        (kernel.NONE, {"held": HELD}, STIFF, -1),
        (kernel.NONE, {"held": HELD - 1}, END, -1),
        (kernel.NONE, {"held": HELD, "t": 5.0}, END, -1),  # at the end there is no other method to go on with
        (kernel.NONE, {"damped": 7}, SUSPECT, -1),
        (kernel.NONE, {"damped": 6}, END, -1),
        (kernel.NONE, {"damped": 7, "t": 5.0}, END, -1),
        (kernel.NONE, {"damped": 7, "held": HELD}, STIFF, -1),
    ],
)
def test_what_a_step_meets_says_how_the_run_goes_on(
    found: int, given: dict[str, Any], status: int, index: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernel, "take_step", lambda *args: found)
    asked = replace(problem(5.0), surfaces=2, count=5, patience=7)
    state = replace(start(), status=END, **given)
    kernel.go_on(asked, state, new_step(1, 5), log(0))
    assert (state.status, state.index) == (status, index)
    state = replace(start(), status=END, **given)
    kernel.go_on(replace(asked, patience=0), state, new_step(1, 5), log(0))  # then nothing is suspected, and with 1 all
    assert state.status == (END if status == SUSPECT else status)
    if (found, status) == (kernel.NONE, END) and "damped" in given and "t" not in given:
        state = replace(start(), status=END, **given)
        kernel.go_on(replace(asked, patience=1), state, new_step(1, 5), log(0))
        assert state.status == SUSPECT


def slower(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """Speed 2, and 1 where the gate is open."""
    out[0] = 2.0 - g[0]


def half(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """A surface at 1/2, an event at 3/4."""
    out[0], out[1] = x[0] - 0.5, x[0] - 0.75


@pytest.mark.parametrize("rows", [0, 9])
def test_a_gate_turns_at_its_surface(rows: int) -> None:
    """At 1/2 the speed falls from 2 to 1: switch at 1/4, event at 1/2, end at 5/4."""
    asked, state, step, kept = (
        watching(half, 1, 1, 1.0, slower),
        begun(watching(half, 1, 1), [0.0]),
        new_step(1, 2),
        log(rows),
    )
    kernel.run(asked, state, step, kept)
    assert (state.status, state.switches) == (END, 1) and state.x[0] == pytest.approx(1.25, abs=1e-12)
    seen = kept.happenings.reshape(-1, KNOT_SIZE)[: kept.happened]
    assert seen == pytest.approx(np.array([[0.25, 0.0, 1.0], [0.5, 1.0, 1.0]]), abs=1e-12)
    assert state.gates.tolist() == [1.0] and state.side.tolist() == [1.0, 1.0]
    if rows:  # a kept step ends at the switch
        ends = kept.knots.reshape(-1, KNOT_SIZE)[: kept.kept, 0]
        assert np.abs(ends - 0.25).min() < 1e-12 and kept.kept == state.steps
        assert kept.states[: kept.kept] == pytest.approx(np.where(ends < 0.25, 2 * ends, ends + 0.25), abs=1e-12)


def test_after_a_switch_the_field_is_that_of_the_other_side() -> None:
    asked, state, step, kept = (
        watching(half, 1, 1, 1.0, slower),
        begun(watching(half, 1, 1), [0.0]),
        new_step(1, 2),
        log(0),
    )
    state.h, state.status, step.K[0] = 0.5, END, 2.0
    fields = state.fields
    kernel.go_on(asked, state, step, kept)
    assert state.t == pytest.approx(0.25) and step.K[0] == 1.0 and state.switches == 1
    assert state.side[0] == 0.0 and state.side[1] == -1.0  # it has to leave its zero first
    assert state.h == 0.5 and step.h == 0.0  # the length of a step with another field says nothing of the next
    assert state.fields == fields + 12 + 3 + 4 + 4  # a step, what it is between, two rates, widths, and the new field


def test_a_step_that_may_not_be_made_leaves_the_run_as_it_was() -> None:
    """No more switches, also where an event came first; no more steps; a surface where the flow does not pass."""
    early = lambda t, x, p, g, out: out.__setitem__(slice(2), [x[0] - 0.5, x[0] - 0.125])  # noqa: E731
    for watch in (half, early):
        for limits in ({"max_switches": 0}, {"max_steps": 0}):
            asked = replace(watching(watch, 1, 1, 1.0, slower), **limits)
            state, step, kept = begun(asked, [0.0]), new_step(1, 2), log(9)
            state.h, state.status, step.K[0] = 0.5, END, 2.0
            kernel.go_on(asked, state, step, kept)
            assert (state.status, state.t, state.x[0], state.steps, state.switches) == (HANDOVER, 0.0, 0.0, 0, 0)
            assert kept.happened == kept.kept == 0 and state.gates.tolist() == [0.0]
            assert state.side.tolist() == [-1.0, -1.0]
    against = watching(half, 1, 1, 1.0, lambda t, x, p, g, out: out.__setitem__(0, 2.0 - 3.0 * g[0]))  # it would slide
    state = begun(against, [0.0])
    kernel.run(against, state, new_step(1, 2), log(0))
    assert (state.status, state.switches) == (HANDOVER, 0) and 0.0 <= state.t < 0.25


def test_a_step_is_halved_while_what_is_watched_moves_faster_than_the_state(monkeypatch: pytest.MonkeyPatch) -> None:
    """And at most so often."""

    def wave(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0] = math.sin(40.0 * x[0] + 1.0)

    asked = watching(wave, 0, 1, 1.0, lambda t, x, p, g, out: out.__setitem__(0, 1.0))
    state, step, kept = begun(asked, [0.0]), new_step(1, 1), log(0)
    kernel.run(asked, state, step, kept)
    times = kept.happenings.reshape(-1, KNOT_SIZE)[: kept.happened, 0]
    assert state.status == END and times == pytest.approx((np.arange(1, 14) * math.pi - 1.0)[:13] / 40.0, abs=1e-12)
    tries: list[float] = []
    monkeypatch.setattr(kernel, "resolved", lambda problem, state, step: bool(tries.append(step.h)))
    state = begun(asked, [0.0])
    state.h, state.status, step.K[0] = 1.0, END, 1.0
    kernel.go_on(asked, state, step, log(50))
    assert state.status == HANDOVER and state.t == 0.0
    assert tries == [0.5**k for k in range(HALVINGS + 1)]
    tries.clear()
    monkeypatch.setattr(kernel, "resolved", lambda problem, state, step: bool(tries.append(step.h)) or len(tries) > 3)
    state = replace(begun(asked, [0.0]), h=1.0, status=END)
    kernel.go_on(asked, state, step, log(50))
    assert (state.status, state.t) == (END, 0.125) and state.h == 0.25  # the next one may be twice as long


def test_steps_are_tried_one_after_the_other_up_to_the_end() -> None:
    asked = replace(problem(2.0), slopes=decay_slopes, rtol=1e-7)
    for count in (1, 2, 5, 1000):
        state, step = replace(start(), method=IMPLICIT, h=0.01), new_step(1, 0, IMPLICIT)
        kernel.tried(asked, state, step, count)
        hand, room = replace(start(), method=IMPLICIT, h=0.01), new_step(1, 0, IMPLICIT)
        room.K[0], made = -1.0, 0
        while made < count and hand.t < 2.0:
            assert stiff_step(asked, hand, room)
            hand.t, made = room.t_new, made + 1
            kernel.move(1, hand.x, room)
        assert (state.t, state.x[0], step.h) == (hand.t, hand.x[0], room.h) and step.h > 0.0
        assert made == count or state.t == 2.0
    broken = replace(asked, field=lambda t, x, p, g, out: out.__setitem__(0, -x[0] if t < 0.02 else math.nan))
    state, step = replace(start(), method=IMPLICIT, h=0.01), new_step(1, 0, IMPLICIT)
    kernel.tried(broken, state, step, 50)
    assert step.h == 0.0 and state.t < 0.02


def test_each_of_many_runs_starts_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counters, step, tolerance and parameters are its own; a full buffer is emptied and the run goes on."""
    seen: list[Any] = []

    def half_a_run(problem: Problem, state: RunState, step: Any, log: Log) -> None:
        counters = (state.steps, state.switches, state.held, state.free, state.damped, log.happened)
        seen.append((state.t, state.h, state.x[0], problem.atol[0], problem.p[0], counters))
        state.status = BUFFER_FULL if len(seen) % 2 else len(seen)
        state.t, state.h, state.x[0], log.happened = 3.0, 0.5, -state.x[0], 5
        state.steps = state.switches = state.held = state.free = state.damped = 8

    monkeypatch.setattr(kernel, "run", half_a_run)
    given, results = np.array([2.0, 0.5, 11.0, 3.0, 0.25, 12.0]), np.zeros(4)
    for order, first in ((0, 0.0), (1, math.inf)):
        seen.clear()
        state = replace(start(), t=1.0, held=8, free=8, damped=8)
        kernel.many(replace(problem(1.0), order=order), state, new_step(1, 0), log(0), 2, 3, given, results)
        afresh, after = (0,) * 6, (*(8,) * 5, 0)
        assert seen == [
            (1.0, first, 2.0, 0.5, 11.0, afresh), (3.0, 0.5, -2.0, 0.5, 11.0, after),
            (1.0, first, 3.0, 0.25, 12.0, afresh), (3.0, 0.5, -3.0, 0.25, 12.0, after),
        ]  # fmt: skip
        assert results.tolist() == [2.0, 2.0, 3.0, 4.0]


def test_a_run_begins_with_its_first_stage_and_a_step_that_is_given() -> None:
    """A step that is given is not chosen; a run that is at its end makes none."""
    state, step = replace(start(), h=1e-3), new_step(1, 0)
    kernel.run(replace(problem(2.0), max_steps=1), state, step, log(0))
    assert (state.status, state.steps, state.t) == (HANDOVER, 1, 1e-3) and state.fields == state.visited == 1 + 12
    over = replace(start(), t=2.0)
    kernel.run(problem(2.0), over, step, log(0))
    assert (over.status, over.steps, over.t, over.h) == (END, 0, 2.0, 0.0) and over.fields == over.visited == 1
