"""What a step of a compiled flow meets, case by case, against the reference integrator."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.compiled import crossings, stretch
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.crossings import NONE, rate_of
from numerics.compiled.records import KNOT_SIZE, Log, Problem, RunState, Step, new_step
from numerics.flows.integrate import integrate
from numerics.flows.semantics import (
    DIP_PART,
    DIP_RATIO,
    LEAVING_WIDTHS,
    ONE_MOMENT,
    STATE_ROUNDING,
    TIME_ROUNDING,
    TOUCH_ROOM,
    TOUCH_TURNS,
)
from numerics.flows.trajectory import StopWhen, Trajectory
from odesys import System
from odesys.errors import IntegrationError, ParameterError
from odesys.jit.loops import Array

x, y, v, t, k = sp.symbols("x y v t k")
JUMP = System.from_equations({x: 2 - sp.Heaviside(x - 1)})
FALL = System.from_equations({x: v, v: sp.Integer(2)})
OSCILLATOR = System.from_equations({x: y, y: -k * x}, parameters=[k])
RELAY = System.from_equations({x: 2 - 3 * sp.Heaviside(x - 1) + y, y: -y})


def same(system: System, start: Any, end: float, events: Any = (), **options: Any) -> tuple[Trajectory, Trajectory]:
    """Both runs, after their ends, stops and all that happened were compared."""
    ours = CompiledFlow(system, events).run(np.array(start, dtype=float), (0.0, end), **options)
    reference = integrate(system, start, (0.0, end), events=events, backend="reference", **options)
    assert ours.stop == reference.stop and ours.end_time == pytest.approx(reference.end_time, abs=1e-7)
    assert ours.end_state == pytest.approx(reference.end_state, abs=1e-6)
    assert [(e.name, e.kind) for e in ours.events] == [(e.name, e.kind) for e in reference.events]
    assert [e.time for e in ours.events] == pytest.approx([e.time for e in reference.events], abs=1e-6)
    return ours, reference


def test_an_event_on_a_surface_ends_the_run() -> None:
    ours, _ = same(JUMP, [0.0], 1.0, [StopWhen("at one", x, level=1.0)])
    assert ours.stop == "event:at one" and (np.diff(ours.times) > 0).all()
    ours, _ = same(JUMP, [0.0], 1.0, [StopWhen("gate", sp.Heaviside(x - sp.Rational(1, 2)) - sp.Rational(1, 2))])
    assert ours.stop == "event:gate"


def test_what_lies_behind_a_dip_has_not_happened() -> None:
    """The step ends where the ball first touches the ground, in the middle of it; the mark comes later."""
    events = [StopWhen("ground", x, -1), StopWhen("mark", t, level=0.6, terminal=False)]
    run = CompiledFlow(FALL, events).run([0.2499, -1.0], (0.0, 1.03), rtol=1e-3, atol=1e-3)
    assert [e.name for e in run.events] == ["ground"] and run.end_time == pytest.approx(0.49, abs=1e-6)
    turned = System.from_equations({x: v, v: sp.Integer(2), y: 1 + sp.Heaviside(x)})
    run = CompiledFlow(turned, events[1:]).run([0.2499, -1.0, 0.0], (0.0, 1.03), rtol=1e-3, atol=1e-3)
    assert [e.name for e in run.events] == ["x", "x", "mark"]


def test_of_two_dips_the_first_in_time_is_met() -> None:
    system = System.from_equations({x: v, v: sp.Integer(2), y: sp.Integer(1)})
    events = [StopWhen("late", x + y / 100, -1), StopWhen("early", x - sp.Rational(1, 1000), -1)]
    run = CompiledFlow(system, events).run([0.2499, -1.0, -0.5], (0.0, 1.0), rtol=1e-3, atol=1e-3)
    assert run.stop == "event:early"


@pytest.mark.parametrize(("direction", "times"), [(0, [0.49, 0.51]), (-1, [0.49]), (1, [0.51])])
def test_a_dip_that_does_not_end_the_run_is_two_passages(direction: int, times: list[float]) -> None:
    ground = StopWhen("ground", x, direction, terminal=False)
    run = CompiledFlow(FALL, [ground]).run([0.2499, -1.0], (0.0, 1.0), rtol=1e-6, atol=1e-6)
    assert [e.time for e in run.events] == pytest.approx(times, abs=1e-6) and run.stop == "end"


@pytest.mark.parametrize("a", [sp.Rational(j, 97) for j in (7, 23, 54, 61, 90)])
def test_two_surfaces_at_one_time_are_both_recorded(a: sp.Rational) -> None:
    ours, _ = same(System.from_equations({x: 1 + sp.Heaviside(x - a) / 2, y: sp.Heaviside(t - a)}), [0.0, 0.0], 3.0)
    assert len(ours.events) == 2


def test_surfaces_that_contain_other_gates() -> None:
    inner = sp.Heaviside(x - sp.Rational(1, 3))
    system = System.from_equations({x: sp.Integer(1), y: sp.Heaviside(x - sp.Rational(1, 2) - inner / 4)})
    same(system, [0.0, 0.0], 2.0)
    same(system, [0.6, 0.0], 2.0)  # the gate at the start is found with the other one open


def test_more_happens_than_a_buffer_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [StopWhen(f"level {j}", x, 0, terminal=False, level=j / 20) for j in range(-9, 10)]
    monkeypatch.setattr(stretch, "BUFFER_STEPS", 3)
    run = CompiledFlow(OSCILLATOR, events).run([1.0, 0.0], (0.0, 100.0), {"k": 1.0})
    angles = np.arccos(np.arange(-9, 10) / 20)
    expected = np.concatenate([2 * np.pi * turn + sign * angles for turn in range(17) for sign in (-1, 1)])
    assert len(run.events) == np.sum((expected > 0) & (expected < 100))
    times = np.array([e.time for e in run.events])
    levels = np.array([float(e.name.split()[1]) / 20 for e in run.events])
    assert np.abs(np.cos(times) - levels).max() < 1e-6 and (np.diff(times) > 0).all()
    assert CompiledFlow(OSCILLATOR, events).final([1.0, 0.0], (0.0, 100.0), {"k": 1.0}) == pytest.approx(run.end_state)


def test_the_end_alone_is_that_of_the_run() -> None:
    assert CompiledFlow(RELAY).final([0.0, 0.5], (0.0, 2.0)) == pytest.approx(
        integrate(RELAY, [0.0, 0.5], (0.0, 2.0), backend="reference").end_state, abs=1e-9
    )  # slides, so it is handed over
    assert CompiledFlow(JUMP).final([0.0], (0.0, 1.0)) == pytest.approx([1.5], abs=1e-9)


def test_limits_hold_for_the_whole_run() -> None:
    with pytest.raises(IntegrationError, match="steps allowed by max_steps"):
        CompiledFlow(RELAY).run([0.0, 1e-3], (0.0, 200.0), max_steps=10)
    with pytest.raises(IntegrationError, match=r"point 1 of the batch: .*all 60 steps"):
        CompiledFlow(OSCILLATOR).batch([1.0, 0.0], (0.0, 10.0), [{"k": 1}, {"k": 1e4}], max_steps=60, on_error="raise")
    kinks = System.from_equations({x: y, y: -x - sp.Heaviside(x) / 10})
    with pytest.raises(IntegrationError, match="switches"):
        integrate(kinks, [1.0, 0.0], (0.0, 50.0), max_switches=3)


def test_every_point_of_a_batch_has_its_own_tolerance() -> None:
    """States of size 1e-6 need a smaller absolute tolerance than states of size one, whatever is beside them."""
    flow, starts = CompiledFlow(OSCILLATOR), np.array([[1.0, 0.0], [1e-6, 0.0]])
    both = flow.batch(starts, (0.0, 20.0), [{"k": 1}, {"k": 1}])
    assert both[1] * 1e6 == pytest.approx([np.cos(20), -np.sin(20)], abs=1e-7)
    assert np.array_equal(both[1:], flow.batch(starts[1], (0.0, 20.0), [{"k": 1}]))


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rtol": 0.0}, "rtol"),
        ({"rtol": 5.0}, "rtol"),
        ({"atol": -1.0}, "atol"),
        ({"atol": np.ones(3)}, "atol"),
    ],
)
def test_tolerances_are_checked(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        CompiledFlow(OSCILLATOR).run([1.0, 0.0], (0.0, 1.0), {"k": 1}, **options)


def test_progress_never_goes_back() -> None:
    seen: list[float] = []
    integrate(
        OSCILLATOR, [1.0, 0.0], (0.0, 4000.0), {"k": 1}, rtol=1e-10, progress=lambda label, done: seen.append(done)
    )
    assert (np.diff(seen) >= 0).all() and seen[-1] == 1.0
    with pytest.raises(IntegrationError, match="all 2500 steps"):
        integrate(OSCILLATOR, [1.0, 0.0], (0.0, 4000.0), {"k": 1}, rtol=1e-10, max_steps=2500)


def test_starts_by_name_and_of_other_types() -> None:
    flow, expected = CompiledFlow(OSCILLATOR), [np.cos(1), -np.sin(1)]
    frozen = np.array([1.0, 0.0])
    frozen.setflags(write=False)
    for start in ({"x": 1, "y": 0}, frozen, np.array([1, 0]), np.array([[1.0, 9.0], [0.0, 9.0]])[:, 0]):
        assert flow.run(start, (0.0, 1.0), {"k": 1}).end_state == pytest.approx(expected, abs=1e-8)
    assert flow.batch({"x": 1, "y": 0}, (0.0, 1.0), [{"k": 1}])[0] == pytest.approx(expected, abs=1e-8)
    assert flow.final([1.0, 0.0], (2.0, 2.0), {"k": 1}).tolist() == [1.0, 0.0]


@pytest.mark.parametrize("speed", [-1.0, 0.0, 2.0])
def test_the_rate_of_a_watched_value_has_its_own_motion_and_costs_one_call(speed: float) -> None:
    """Along x' = 3 the value x - speed t moves by 3 - speed."""
    calls: list[float] = []

    def field(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        calls.append(t)
        out[0] = 3.0

    def watch(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0] = x[0] - speed * t

    one, step = np.ones(1), new_step(1, 1)
    problem = Problem(field, field, watch, 1, 1, 1, one, one, one, one, np.ones(3), 9.0, 1e-9, one, 9, 9)
    state = RunState(0.0, 0.5, np.zeros(1), one, one, one)
    step.h, step.t_new, step.new[0] = 0.5, 0.5, 1.5
    assert rate_of(problem, state, step, 0) == pytest.approx(3.0 - speed, abs=1e-8)
    assert state.fields == len(calls) == 1 and state.visited == 2


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize(
    ("function", "place"),
    [
        (lambda s: 0.3 - s, 0.3),
        (lambda s: math.exp(-3 * s) - 0.5, math.log(2) / 3),
        (lambda s: 0.1 - s**5, 0.1**0.2),
        (lambda s: (1 - s) ** 5 - 0.3, 1 - 0.3**0.2),
        (lambda s: math.cos(1.2 * s) - s, 0.68274),
        (lambda s: 1 - s, 1.0),
    ],
)
def test_a_root_is_found_to_the_last_digit(
    function: Callable[[float], float], place: float, side: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Python, for a value that goes to zero from its side."""
    asked: list[float] = []

    def read(problem: Any, state: Any, step: Any, part: float, values: Any) -> None:
        asked.append(part)
        values[0] = side * function(part)

    monkeypatch.setattr(crossings, "read", read)
    room: Any = SimpleNamespace(cuts=[1.0], now=[side], values=[side * function(1.0)], spare=[0.0])
    found = crossings.root(None, None, room, 0, 0)  # type: ignore[arg-type]
    assert found == pytest.approx(place, abs=1e-4) and abs(function(found)) < 1e-15
    assert function(found) <= 0 and len(asked) < 60


Watched = Callable[[float], float]


def line(values: list[Watched], surfaces: int, directions: list[int], terminal: list[int]) -> Problem:
    """x' = 1 from 0, with functions of x = t that are watched: surfaces first, then events."""
    count, one = len(values), np.ones(len(values))

    def field(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0] = 1.0

    def watch(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        for k, value in enumerate(values):
            out[k] = value(float(x[0]))

    ways, ends = np.array(directions, dtype=float), np.array(terminal, dtype=float)
    atol = np.array([1e-12])
    return Problem(
        field, field, watch, 1, surfaces, count, one, one, ways, ends, np.ones(3), 9.0, 1e-12, atol, 9, 9, order=1
    )


def unit_step(problem: Problem, start: float = 0.0, length: float = 1.0) -> tuple[RunState, Step, Log]:
    """A step of that length, its readings, and the sides of all that is watched where it starts."""
    count = problem.count
    values, step = np.zeros(count), new_step(1, count, order=1)
    problem.watch(start, np.array([start]), problem.p, np.zeros(problem.surfaces), values)
    state = RunState(start, length, np.array([start]), np.zeros(problem.surfaces), np.sign(values), np.zeros(count))
    step.h, step.t_new, step.new[0], step.F[0] = length, start + length, start + length, length
    crossings.read_parts(problem, state, step)
    return state, step, Log(0, np.zeros(0), np.zeros(0), np.zeros(0), 99, np.zeros(99 * KNOT_SIZE))


def seen(log: Log) -> list[tuple[float, int, int]]:
    rows = log.happenings.reshape(-1, KNOT_SIZE)[: log.happened].tolist()
    return [(round(t, 9), int(i), int(way)) for t, i, way in rows]


@pytest.mark.parametrize("surfaces", [0, 1, 3])
@pytest.mark.parametrize(("start", "length"), [(0.0, 1.0), (-0.2, 2.0), (0.1, 0.75)])
def test_events_of_a_step_in_their_order_whatever_surfaces_are_before_them(
    surfaces: int, start: float, length: float
) -> None:
    """A passage up, one down, a touch, a dip that goes through; each asked for in all three directions."""
    happens = [[(0.7, 1)], [(0.3, -1)], [(0.45, 0)], [(0.6, -1), (0.62, 1)]]
    for way in (0, 1, -1):
        apart = 1e-9 * abs(way)  # only one without a direction can touch
        events: list[Watched] = [
            lambda s: s - 0.7,
            lambda s: 0.3 - s,
            lambda s, gap=apart: (s - 0.45) ** 2 + gap,
            lambda s: (s - 0.61) ** 2 - 1e-4,
        ]
        problem = line([lambda s: s - 8.0] * surfaces + events, surfaces, [way] * 4, [0] * 4)
        state, step, log = unit_step(problem, start, length)
        assert crossings.met(problem, state, step, log) == NONE and step.end == 1.0
        wanted = [(t, surfaces + i, d) for i, rows in enumerate(happens) for t, d in rows if d == way or way == 0]
        assert seen(log) == sorted(wanted)
        assert step.now.tolist() == [-1.0] * surfaces + [1.0, -1.0, 1.0, 1.0]


@pytest.mark.parametrize("seed", range(12))
def test_roots_of_a_step_are_found_in_order_and_the_first_that_ends_it_does(seed: int) -> None:
    """Polynomials with known roots; what ends a run goes before a surface, and nothing behind it has happened."""
    rng = np.random.default_rng(seed)
    roots = [np.sort(rng.uniform(0.03, 1.4, 2)) for _ in range(6)]
    roots = [r if r[1] - r[0] > 0.3 else np.array([r[0], 3.0]) for r in roots]  # else between two readings, and flat
    signs = rng.choice([-1, 1], 6)
    values: list[Watched] = [
        lambda s, r=r, sign=int(sign): sign * (s - r[0]) * (s - r[1]) for r, sign in zip(roots, signs, strict=True)
    ]
    surfaces, ways, ends = int(rng.integers(0, 4)), rng.integers(-1, 2, 6), rng.integers(0, 2, 6)
    ways, ends = ways[surfaces:], ends[surfaces:] * (seed % 3 > 0)
    problem = line(values, surfaces, ways.tolist(), ends.tolist())
    state, step, log = unit_step(problem)
    found = crossings.met(problem, state, step, log)
    passages = sorted(
        (t, i, int(signs[i]) * (-1, 1)[k]) for i, r in enumerate(roots) for k, t in enumerate(r) if t <= 1
    )
    wanted, end = [], (1.0, NONE)
    for t, i, way in passages:
        event = i - surfaces
        if event >= 0 and ways[event] * way >= 0:
            wanted.append((round(t, 9), i, way))
        if event < 0 or (ends[event] and ways[event] * way >= 0):
            end = t, i
            break
    assert (found, seen(log)) == (end[1], wanted) and step.end == pytest.approx(end[0], abs=1e-14)
    for i in range(surfaces, 6):
        assert step.now[i] == np.sign(values[i](step.end + 1e-9))


def test_of_one_moment_all_events_are_told_and_the_first_that_ends_the_run_is_its_end() -> None:
    """In the order in which they are listed, before the surface of the same moment; a later one is not."""
    at = [0.4, 0.4 + 1e-15, 0.4 - 1e-15, 0.4, 0.9]
    values: list[Watched] = [lambda s, a=a: s - a for a in at]
    for terminal, found in (
        ([1, 1, 1, 1], 1),
        ([0, 0, 1, 1], 3),
        ([0, 1, 0, 0], 2),
        ([0, 0, 0, 0], 0),
        ([0, 0, 0, 1], 0),
    ):
        problem = line(values, 1, [0] * 4, terminal)
        state, step, log = unit_step(problem)
        assert crossings.met(problem, state, step, log) == found and step.end == pytest.approx(0.4, abs=1e-14)
        assert seen(log) == [(0.4, i, 1) for i in (1, 2, 3)]
        times = log.happenings.reshape(-1, KNOT_SIZE)[:3, 0]
        assert (times == times[0]).all() and (step.now[1:4] == (0.0 if found == 0 else 1.0)).all()
    problem = line(
        values, 1, [-1, 0, -1, 0], [1, 0, 1, 1]
    )  # not looked for in this direction, so it does not end the run
    state, step, log = unit_step(problem)
    assert crossings.met(problem, state, step, log) == 0 and seen(log) == [(0.4, 2, 1)]


@pytest.mark.parametrize("surfaces", [0, 1])
def test_a_touch_ends_a_run_and_what_is_not_near_enough_is_none(surfaces: int) -> None:
    """By what the tolerance of a step can move the value, ten times: 1e-12 + 1e-12 x, of which it is half."""
    for gap, touched in ((0.0, True), (6e-12, True), (-6e-12, True), (9e-12, False)):
        problem = line([lambda s: s + 5.0] * surfaces + [lambda s: s], surfaces, [0], [1])

        def dip(t: float, x: Array, p: Array, g: Array, out: Array, gap: float = gap) -> None:
            out[0] = 1.0
            out[surfaces] = (t - 0.55) ** 2 + gap + (x[0] - t) / 2  # along the run, x = t

        problem.watch = dip
        state, step, log = unit_step(problem)
        assert crossings.met(problem, state, step, log) == (surfaces if touched else NONE)
        assert step.end == (pytest.approx(0.55, abs=1e-6) if touched else 1.0)
        assert [(i, way) for _, i, way in seen(log)] == [(surfaces, 0)] * touched


def test_what_cannot_move_or_is_at_zero_does_not_happen() -> None:
    """A value at zero gets a side where it has left by several widths; a surface, the side of its gate."""
    values: list[Watched] = [lambda s: s - 0.5, lambda s: s * (s - 0.6), lambda s: s]
    problem = line(values, 0, [0] * 3, [0] * 3)
    problem.movable = np.array([0.0, 1.0, 1.0])
    state, step, log = unit_step(problem)
    assert crossings.met(problem, state, step, log) == NONE and seen(log) == [(0.6, 1, 1)]
    assert step.now.tolist() == [-1.0, 1.0, 1.0]
    state, step, log = unit_step(problem)
    state.width[:] = 0.9 / LEAVING_WIDTHS  # then the second stays near zero all the time
    assert crossings.met(problem, state, step, log) == NONE and step.now.tolist() == [-1.0, 0.0, 1.0]
    for gate, found in ((1.0, NONE), (0.0, crossings.DENIED)):
        problem = line([lambda s: s], 1, [], [])
        state, step, log = unit_step(problem)
        state.gates[0] = gate
        assert crossings.met(problem, state, step, log) == found


def test_a_value_that_turns_between_readings_is_not_resolved() -> None:
    """Unless it stays far from zero, can not move, or moves by no more than rounding."""
    for value, resolved in (
        (lambda s: math.sin(30 * s), False),
        (lambda s: math.sin(2 * s), True),
        (lambda s: 9 + math.sin(30 * s), True),
        (lambda s: -9 + math.sin(30 * s), True),
        (lambda s: 3 + math.sin(30 * s), False),  # nearer than twice its range
        (lambda s: 1e-16 * math.sin(30 * s), False),
        (lambda s: abs(s - 0.52) - 0.1, True),  # a kink is missed by less
    ):
        problem = line([lambda s: s, value], 1, [0], [0])
        state, step, _ = unit_step(problem)
        assert crossings.resolved(problem, state, step) is resolved
        problem.movable = np.array([1.0, 0.0])
        assert crossings.resolved(problem, state, step)
        problem.movable, state.width = np.ones(2), np.array([0.0, 3.0])  # as wide as what rounding makes of it
        assert crossings.resolved(problem, state, step)


def test_cuts_are_in_order_and_each_is_made_once() -> None:
    step = new_step(1, 3)
    step.cuts[:5], step.cut_count = np.arange(5) / 4, 5
    for part in (0.6, 0.1, 0.6, 0.25, 0.9, 0.0, 1.0, -0.5, 1.5, 0.05, 0.1):
        crossings.cut(step, part)
    wanted = [0.0, 0.05, 0.1, 0.25, 0.5, 0.6, 0.75, 0.9, 1.0]
    assert step.cuts[: step.cut_count].tolist() == wanted
    values: list[Watched] = [lambda s: s - 0.3, lambda s: s**2]
    problem = line(values, 0, [0, 0], [0, 0])
    state, ready, _ = unit_step(problem)
    ready.cuts, ready.cut_count = np.array(wanted), len(wanted)
    for k, part in enumerate(wanted):
        crossings.read_cut(problem, state, ready, k)
        assert ready.values == pytest.approx([part - 0.3, part**2])


def test_what_ends_a_step_is_a_number_of_a_value_or_one_of_two_others() -> None:
    assert len({NONE, crossings.DENIED}) == 2 and max(NONE, crossings.DENIED) < 0
    assert [crossings.sign(v) for v in (-3.0, -5e-324, 0.0, 5e-324, 2.0)] == [-1, -1, 0, 1, 1]


def test_a_step_is_read_at_its_own_times() -> None:
    """At its ends the states are known; between them and beyond each reading is one more state visited."""
    problem = line([lambda s: s], 0, [0], [0])
    problem.watch = lambda t, x, p, g, out: out.__setitem__(0, 10 * t + x[0])
    state, step, _ = unit_step(problem, 2.0, 0.5)
    state.visited, out = 0, np.zeros(1)
    for part, visited in ((0.0, 0), (1.0, 0), (0.5, 1), (-0.25, 2), (1.25, 3)):
        crossings.read(problem, state, step, part, out)
        assert out[0] == pytest.approx(11 * (2.0 + part * 0.5)) and state.visited == visited
    step.t_new, step.new[0] = 7.0, 3.0  # where it ends may be rounded
    crossings.read(problem, state, step, 1.0, out)
    assert out[0] == 73.0


@pytest.mark.parametrize("seed", range(4))
def test_dips_are_looked_for_below_a_part_of_their_readings_or_of_their_bend(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parabola through each three readings, on the side of the middle one; not of what has no side yet."""
    rng, asked = np.random.default_rng(seed), list[tuple[float, int, float]]()
    monkeypatch.setattr(crossings, "touch", lambda p, state, step, part, i, side: asked.append((part, i, side)))
    problem = line([lambda s: s] * 3, 0, [0] * 3, [0] * 3)
    found = 0
    for _ in range(100):
        state, step, _ = unit_step(problem)
        V = rng.choice([0.01, 1.0, 100.0], 3) * rng.uniform(-0.3, 1.0, (crossings.READINGS, 3)) * rng.choice([-1, 1], 3)
        step.V[:], state.side[:] = V.ravel(), [1.0, -1.0, 0.0]
        wanted = []
        for k in range(crossings.STEP_PARTS + 1):
            for i in range(2):
                low, here, high = V[k : k + 3, i] * np.sign(V[k + 1, i])
                a, b = (low + high) / 2 - here, (high - low) / 2  # here + b s + a s^2, at s = -1, 0, 1
                bent = here > 0 and a > 0 and abs(b) < 2 * a
                if bent and here - b * b / (4 * a) < max(here / DIP_RATIO, DIP_PART * 2 * a):
                    wanted.append(((k - b / (2 * a)) / crossings.STEP_PARTS, i, np.sign(V[k + 1, i])))
        asked.clear()
        crossings.choose_cuts(problem, state, step)
        assert [call[1:] for call in asked] == [call[1:] for call in wanted]
        assert [call[0] for call in asked] == pytest.approx([call[0] for call in wanted], abs=1e-12)
        assert step.cuts[: step.cut_count] == pytest.approx(np.linspace(0, 1, crossings.STEP_PARTS + 1))
        assert np.isinf(step.touches).all() and np.isinf(step.lows).all()
        found += len(wanted)
    assert found > 50


@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("start", [0.4, 0.52, 0.55, 0.63, 0.7])
def test_the_lowest_point_of_a_dip_is_found_from_near_it(
    side: float, start: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By readings of an eighth of a part on both sides, each time an eighth as far."""
    for value in (lambda s: (s - 0.55) ** 2 + 1, lambda s: math.cosh(3 * (s - 0.55)), lambda s: -math.cos(2 * s - 1.1)):
        problem = line([lambda s: s, lambda s, value=value: side * value(s)], 0, [0, 0], [0, 0])
        state, step, _ = unit_step(problem)
        parts: list[float] = []
        plain = crossings.read
        monkeypatch.setattr(crossings, "read", lambda *a, plain=plain, parts=parts: (parts.append(a[3]), plain(*a))[1])
        found = crossings.lowest(problem, state, step, start, 1, side)
        monkeypatch.undo()
        assert found == pytest.approx(0.55, abs=1e-7)
        reach = 0.125 / crossings.STEP_PARTS
        assert sorted(parts[:3]) == pytest.approx([start - reach, start, start + reach])
        assert max(parts[3:6]) - min(parts[3:6]) == pytest.approx(reach / 4)
        assert len(parts) <= 3 * TOUCH_TURNS
        assert abs(parts[5] - start) <= 8 * reach * (1 + 1e-12)
    for shape in (lambda s: -((s - 0.5) ** 2), lambda s: 2.0):  # there is no lowest point
        hill = line([lambda s, shape=shape: shape(s) * side], 0, [0], [0])
        state, step, _ = unit_step(hill)
        assert crossings.lowest(hill, state, step, start, 0, side) == start


def test_the_room_of_a_touch_is_what_the_tolerance_of_each_state_makes_of_it() -> None:
    """Ten times the most that three rows of signs make, and some widths of what rounding makes."""
    rng, n = np.random.default_rng(2), 3
    slope, signs, x, F = rng.normal(size=n), rng.choice([-1.0, 1.0], 3 * n), rng.normal(size=n), rng.normal(size=n)

    def watch(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0], out[1] = 9.0, t * t * float(x @ slope)

    problem = line([lambda s: s] * 2, 0, [0, 0], [0, 0])
    problem.watch, problem.n, problem.signs = watch, n, signs
    problem.atol, problem.rtol = np.array([1e-3, 2e-4, 5e-5]), 1e-2
    step = new_step(n, 2)
    step.F[:n], step.h = F, 0.5
    state = RunState(2.0, 0.5, x, np.zeros(0), np.ones(2), np.array([0.0, 1e-3]))
    room = problem.atol + 1e-2 * np.abs(x + 0.3 * F)
    most = np.abs(signs.reshape(3, n) @ (room * slope)).max() * (2.0 + 0.3 * 0.5) ** 2
    found = crossings.error_reach(problem, state, step, 0.3, 1)
    assert found == pytest.approx(TOUCH_ROOM * most + LEAVING_WIDTHS * 1e-3) and state.visited == 4


def test_only_an_event_without_a_direction_touches_and_each_dip_is_seen_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crossings, "lowest", lambda p, state, step, part, i, side: part)
    monkeypatch.setattr(crossings, "error_reach", lambda p, state, step, part, i: 0.25)
    problem = line([lambda s: s - 0.6] * 4, 1, [0, 1, -1], [0] * 3)
    for i in range(4):
        for part, touched in ((0.5, True), (0.7, True), (0.3, False), (1.0, False)):
            state, step, _ = unit_step(problem)
            crossings.choose_cuts(problem, state, step)
            cuts = step.cut_count
            crossings.touch(problem, state, step, part, i, 1.0)
            assert step.lows[i] == part and step.cut_count == cuts + (part not in (0.5, 1.0))
            assert bool(step.touches[i] == part) is (touched and i == 1)
            assert not touched or i != 1 or step.rooms[i] == 0.25
            for again in (part + 1e-4, part - 1e-4):
                crossings.touch(problem, state, step, again, i, 1.0)
                assert step.lows[i] == part and step.cut_count == cuts + (part not in (0.5, 1.0))
            for apart in (part - 2e-3, 0.9):
                crossings.touch(problem, state, step, apart, i, 1.0)
                assert step.lows[i] == apart
    state, step, _ = unit_step(problem)
    crossings.choose_cuts(problem, state, step)
    for outside in (-0.1, 0.0, 1.0 + 1e-9):
        crossings.touch(problem, state, step, outside, 1, 1.0)
    assert np.isinf(step.lows).all() and step.cut_count == crossings.STEP_PARTS + 1


def test_widths_are_what_rounding_of_time_and_state_makes_of_each_value() -> None:
    """Along the field by the rounding of time, of all states by theirs: the most of three rows of signs."""
    rng, n = np.random.default_rng(3), 2
    slopes, signs, f = rng.normal(size=(3, n)), rng.choice([-1.0, 1.0], 3 * n), np.array([2.0, -3.0])

    def watch(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[:3] = slopes @ x - 5.0 * t

    problem = line([lambda s: s] * 3, 0, [0] * 3, [0] * 3)
    problem.watch, problem.n, problem.signs = watch, n, signs
    problem.field = lambda t, x, p, g, out: out.__setitem__(slice(n), f)
    step, x = new_step(n, 3), np.array([400.0, -700.0])
    for t, h, end in ((0.0, 0.0, 1.0), (-900.0, 1.0, 1.0), (1.0, 3000.0, 0.5)):
        step.h, step.end = h, end
        state = RunState(t, h, x, np.zeros(0), np.ones(3), np.zeros(3))
        crossings.widths(problem, state, step, t, x)
        late = TIME_ROUNDING * max(abs(t), end * h)
        moved = late * f + STATE_ROUNDING * x * signs.reshape(3, n)
        wanted = 4 * np.abs(slopes @ moved.T - 5.0 * late).max(axis=1)
        assert step.more == pytest.approx(wanted, rel=0.2) and step.values == pytest.approx(slopes @ x - 5.0 * t)
        assert (state.fields, state.visited) == (1, 4)


@pytest.mark.parametrize("way", [1.0, -1.0])
@pytest.mark.parametrize(
    ("after", "other", "passes"),
    [
        (1.0, 1.0, True),
        (0.1, 1.0, True),
        (1e-7, 1.0, False),  # it hardly leaves
        (0.0, 1.0, False),
        (-1.0, 1.0, False),  # it would slide
        (1.0, 0.0, False),  # another surface is there as well
        (1.0, -1.0, False),  # or has been passed
        (1.0, 0.5, False),  # or will be where the gate turns
    ],
)
def test_a_gate_turns_where_the_flow_leaves_to_its_side_and_no_other_surface_is_near(
    way: float, after: float, other: float, passes: bool
) -> None:
    """x passes zero at the end of the step with the rate `way`, and `way * after` with its gate turned."""
    old = 0.0 if way > 0 else 1.0

    def field(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0] = way if g[0] == old else way * after

    def watch(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0], out[1], out[2] = x[0], other - (0.75 if g[0] != old and other == 0.5 else 0.0), 3.0 * x[0] + 1.0

    problem = line([lambda s: s] * 3, 2, [0], [0])
    problem.field, problem.watch = field, watch
    step = new_step(1, 3)
    step.h, step.t_new, step.now[:] = 0.5, 0.5, [-way, 1.0, 1.0]
    state = RunState(0.0, 0.5, np.array([-way / 2]), np.array([old, 1.0]), np.ones(3), np.full(3, 7.0))
    assert crossings.turns(problem, state, step, 0) is passes
    assert state.gates.tolist() == [1.0 - old if passes else old, 1.0]
    if passes:  # how near to zero it is left, and events are measured again
        assert 0.0 < state.width[0] < 1e-13 and state.width[1] == 7.0 and 0.0 < state.width[2] < 1e-13
    else:
        assert state.width.tolist() == [7.0, 7.0, 7.0]
    problem.movable = np.array([1.0, 0.0, 1.0])  # a surface that can not move is not in the way
    state.gates[0] = old
    assert crossings.turns(problem, state, step, 0) is (passes or other == 0.0)


def test_a_reading_at_a_fraction_is_that_of_its_root() -> None:
    """Between cuts; where a value is on the other side at both ends, or at zero, there is nothing to search."""
    problem = line([lambda s: 2.0 - s, lambda s: (s - 0.3) * (s - 3.0)], 0, [0, 0], [0, 0])
    state, step, _ = unit_step(problem)
    crossings.choose_cuts(problem, state, step)
    step.now[:] = [1.0, 1.0]
    for k, found in ((2, pytest.approx(0.3, abs=1e-15)), (3, 0.5), (0, 0.0)):
        crossings.read_cut(problem, state, step, k)
        assert crossings.root(problem, state, step, k, 1) == found
    state, step, _ = unit_step(line([lambda s: 0.25 - s], 0, [0], [0]))
    problem = line([lambda s: 0.25 - s], 0, [0], [0])
    crossings.choose_cuts(problem, state, step)
    step.now[0] = 1.0
    crossings.read_cut(problem, state, step, 1)
    assert crossings.root(problem, state, step, 1, 0) == 0.25


@pytest.mark.parametrize(("start", "length"), [(0.0, 1000.0), (1000.0, 1.0), (-1e6, 0.01), (-3.0, 64.0)])
def test_a_moment_is_as_wide_as_the_larger_of_time_and_step_says(start: float, length: float) -> None:
    """Half of it apart happens at once, twice of it one after the other; what ends a run goes before a surface."""
    width, place = ONE_MOMENT * max(abs(start), length), start + 0.4 * length

    def stepped(shifts: list[float], surfaces: int, terminal: list[int]) -> tuple[int, float, list[float], list[int]]:
        values: list[Watched] = [lambda s, at=place + shift * width: s - at for shift in shifts]
        problem = line(values, surfaces, [0] * len(terminal), terminal)
        state, step, log = unit_step(problem, start, length)
        found = crossings.met(problem, state, step, log)
        rows = log.happenings.reshape(-1, KNOT_SIZE)[: log.happened]
        return found, start + step.end * length, rows[:, 0].tolist(), [int(i) for i in rows[:, 1]]

    found, _, times, names = stepped([0.0, 0.5, 2.0], 0, [0, 0, 0])
    assert (found, names) == (NONE, [0, 1, 2]) and times[0] == times[1] < times[2]
    found, _, times, names = stepped([2.0, 0.5, 0.0], 0, [0, 0, 0])
    assert (found, names) == (NONE, [1, 2, 0]) and times[0] == times[1] < times[2]
    found, end, times, names = stepped([0.0, 0.5, 2.0], 0, [0, 1, 0])
    assert (found, names) == (1, [0, 1]) and times[0] == times[1] == end
    found, end, times, names = stepped([0.5, 0.0], 0, [1, 1])
    assert (found, names) == (0, [0, 1]) and end == pytest.approx(place, abs=width / 4)
    found, _, _, names = stepped([2.0, 0.0], 0, [1, 1])
    assert (found, names) == (1, [1])
    for shift, ended, noted in ((0.5, 1, [1]), (2.0, 0, []), (-2.0, 1, [1])):
        found, _, _, names = stepped([0.0, shift], 1, [1])
        assert (found, names) == (ended, noted)
    for shift, noted in ((0.5, [1]), (2.0, []), (-2.0, [1])):  # events are told before the surface of their moment
        found, end, times, names = stepped([0.0, shift], 1, [0])
        assert (found, names) == (0, noted) and (shift < 0 or times == [end] * len(noted))


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_what_is_far_stays_on_its_side_by_twice_what_its_readings_span(side: float) -> None:
    """And by 64 widths; of all that is watched, one that is nearer is enough, or one that has no side."""
    problem = line([lambda s: s] * 3, 1, [0, 0], [0, 0])
    state, step, _ = unit_step(problem)
    state.side[:], state.width[:] = side, 0.0
    V = step.V.reshape(-1, 3)
    for place in range(3):
        for k in range(len(V)):
            V[:] = 9.0 * side
            assert crossings.far_away(problem, state, step)
            for near, far in ((2.01, True), (1.99, False), (-9.0, False)):
                V[:, place], V[k, place] = side * (near + 1.0), side * near
                assert crossings.far_away(problem, state, step) is far
            V[:, place] = 1.0 * side
            for width, far in ((0.99 / 64, True), (1.01 / 64, False)):
                state.width[place] = width
                assert crossings.far_away(problem, state, step) is far
            state.width[:], state.side[place] = 0.0, 0.0
            assert not crossings.far_away(problem, state, step)
            state.side[place] = side
