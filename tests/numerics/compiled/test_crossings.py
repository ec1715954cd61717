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
from numerics.compiled.crossings import rate_of
from numerics.compiled.records import Problem, RunState, new_step
from numerics.flows.integrate import integrate
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
    assert state.fields == len(calls) == 1


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
