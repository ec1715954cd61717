"""integrate: exact solutions, switches and slides at the right time, events, stages, counters, clear refusals."""

import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from numerics.flows.integrate import (
    METHODS,
    Stage,
    _kernel,
    check_atol,
    check_events,
    check_rtol,
    default_atol,
    integrate,
    integrate_stages,
    method_name,
    real_number,
    start_state,
    time_span,
    whole_number,
)
from numerics.flows.trajectory import StopWhen, Trajectory
from numerics.maps.iterate import iterate
from odesys import Data, Words, enclose, gradient_descent, logistic, maps, sensitivities
from odesys.derive.flow import Flow
from odesys.derive.training import gradient_flow
from odesys.errors import EquationError, IntegrationError, OdesysError, ParameterError
from odesys.expr.graph import sym
from odesys.expr.system import System
from odesys.jit import llvm
from odesys.jit.codegen import Compiled
from odesys.model.attention import Head
from odesys.model.dictionary import Dictionary
from odesys.model.distribution import Distribution, Sample
from odesys.program.attention import AttentionModel

x, y, v, t, k = sp.symbols("x y v t k")
gate = sp.Heaviside

OSCILLATOR = System.from_equations({x: v, v: -x}, observables={"energy": (x**2 + v**2) / 2})
RELAY = System.from_equations({x: v, v: -sp.sign(x)})  # from (1, 0): x = 0 at sqrt(2) (2 j + 1)


def flow(*rhs: Any, states: tuple[sp.Symbol, ...] = (x, y, v), **more: Any) -> System:
    return System.from_equations(dict(zip(states, map(sp.sympify, rhs), strict=False)), **more)


def switches(run: Trajectory) -> list[float]:
    return run.times_of("switch")


# ---- smooth flows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_every_method_solves_the_oscillator(method: str) -> None:
    run = integrate(OSCILLATOR, [1, 0], (0, 5), method=method, rtol=1e-7)
    assert np.allclose(run.end_state, [math.cos(5), -math.sin(5)], atol=1e-5, rtol=0)
    assert run.stop == "end" and run.events == () and run.end_time == 5


def test_logistic_growth_from_a_tiny_start() -> None:
    start = 1e-6
    run = integrate(flow(k * x * (1 - x), parameters=[k]), {"x": start}, (0, 20), {"k": 1.5}, rtol=1e-11)
    exact = 1 / (1 + (1 / start - 1) * np.exp(-1.5 * run.times))
    assert np.allclose(run.state("x"), exact, rtol=1e-8, atol=0)  # relative: the tiny start is resolved too


def test_explicit_time_and_a_late_start() -> None:
    run = integrate(flow(2 * t), [4], (2, 3), rtol=1e-11)
    assert run.start_time == 2 and run.end_state[0] == pytest.approx(9, abs=1e-10)


def test_default_atol_follows_the_smallest_start_and_stays_above_rounding() -> None:
    assert default_atol(np.array([0.0, 1e-2, 3.0]), 1e-6) == pytest.approx(1e-11)
    assert default_atol(np.zeros(3), 1e-9) == pytest.approx(1e-12)
    assert default_atol(np.array([50.0]), 1e-9) == pytest.approx(1e-12)
    assert default_atol(np.array([1e-8, 1.0]), 1e-9) == pytest.approx(1e-18)


# ---- switches ------------------------------------------------------------------------------------------------------


def test_a_crossing_is_located_and_the_field_changes_there() -> None:
    run = integrate(flow(2 - gate(x - 1)), [0], (0, 1))
    (event,) = run.events
    assert (event.name, event.kind, event.detail["gate"]) == ("x - 1", "switch", 1)
    assert event.time == pytest.approx(0.5, abs=1e-12) and run.end_state[0] == pytest.approx(1.5, abs=1e-12)
    assert event.time in run.times


def test_absolute_value_is_a_switch() -> None:
    run = integrate(flow(sp.Abs(x) + sp.Rational(1, 2)), [-1], (0, 3), rtol=1e-12)
    assert switches(run) == pytest.approx([math.log(3)], abs=1e-10)
    assert run.end_state[0] == pytest.approx((math.exp(3 - math.log(3)) - 1) / 2, abs=1e-10)


def test_max_of_three_with_surfaces_inside_surfaces() -> None:
    run = integrate(flow(sp.Max(x, 1, 2 - x)), [-1], (0, 3), rtol=1e-12)  # 2 - x up to x = 1, then x
    assert np.allclose(switches(run), math.log(3), atol=1e-10, rtol=0) and run.events
    assert run.end_state[0] == pytest.approx(math.exp(3 - math.log(3)), abs=1e-9)


def test_a_gate_that_depends_on_time() -> None:
    run = integrate(flow(gate(t - 1) - gate(t - 2)), [0], (0, 3))
    assert switches(run) == pytest.approx([1, 2], abs=1e-12) and run.end_state[0] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("sign", "times", "end"), [(1, [1, 1], 2), (-1, [1, 1, Fraction(4, 3)], Fraction(8, 3))])
def test_a_surface_that_jumps_when_another_gate_switches(sign: int, times: list[float], end: float) -> None:
    # h = x - 1/3 + sign * sgn(x - 1) changes sign at x = 1 by its jump (and, with the minus sign, again at 4/3)
    run = integrate(flow(1, gate(x - sp.Rational(1, 3) + sign * sp.sign(x - 1))), [0, 0], (0, 3))
    assert switches(run) == pytest.approx([float(time) for time in times], abs=1e-12)
    assert run.end_state[1] == pytest.approx(float(end), abs=1e-12)


def test_two_surfaces_at_the_same_time() -> None:
    run = integrate(flow(1 + gate(y - 1), 1 + gate(x - 1)), [0, 0], (0, 2))
    assert sorted(e.name for e in run.events) == ["x - 1", "y - 1"]
    assert switches(run) == pytest.approx([1, 1], abs=1e-12)
    assert run.end_state == pytest.approx([3, 3], abs=1e-11)


def test_a_crossing_that_needs_both_flips() -> None:
    # seen alone, x would slide at t = 1; but y opens at the same time and turns the field around
    run = integrate(flow(-sp.sign(x) * (1 - 2 * gate(-y)), -1), [1, 1], (0, 3))
    assert run.stop == "end" and run.end_state == pytest.approx([-2, -2], abs=1e-11)


def test_many_switches_keep_their_accuracy() -> None:
    run = integrate(RELAY, [1, 0], (0, 60), rtol=1e-11)
    exact = math.sqrt(2) * (2 * np.arange(21) + 1)
    assert len(run.events) == 21 and np.allclose(switches(run), exact, atol=1e-10, rtol=0)
    gates = [e.detail["gate"] for e in run.events[:4]]  # of the surface as it is oriented, so either may come first
    assert gates in ([1, 0, 1, 0], [0, 1, 0, 1])


def test_agrees_with_a_run_that_steps_over_the_kinks() -> None:
    system = flow(v, gate(x) - y / 2 + sp.Abs(v) / 5, sp.Max(0, y - 1) - x)
    start = [0.5, -0.3, 0.2]
    run = integrate(system, start, (0, 8))
    other = solve_ivp(system.compile(), (0, 8), start, rtol=1e-10, atol=1e-12, max_step=0.01)
    assert run.stop == "end" and len({e.name for e in run.events}) == 3 and len(run.events) >= 5
    assert np.allclose(run.end_state, other.y[:, -1], atol=1e-6, rtol=0)


# ---- slides and starts on a surface --------------------------------------------------------------------------------


@pytest.mark.parametrize("start", [0.7, -0.4])
def test_sign_feedback_slides_when_it_arrives(start: float) -> None:
    run = integrate(flow(-sp.sign(x)), [start], (0, 3), on_slide="stop")
    assert run.stop == "slide" and run.end_time == pytest.approx(abs(start), abs=1e-12)
    assert [e.kind for e in run.events] == ["slide"] and abs(run.end_state[0]) < 1e-12
    assert run.events[0].detail["surface"] == 0 and run.slides[0].end == run.slides[0].start == run.end_time


def test_a_slide_can_be_an_error_with_its_time() -> None:
    with pytest.raises(IntegrationError, match="slides") as caught:
        integrate(flow(1 - 2 * gate(x - 1)), [0], (0, 3), on_slide="raise")
    assert caught.value.time == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("push", "stop"), [(2, "end"), (sp.Rational(1, 2), "slide")])
def test_a_slide_is_not_confused_with_a_crossing(push: Any, stop: str) -> None:
    # x' = push - sign(x): with a strong push the flow goes through zero, with a weak one it stays there
    run = integrate(flow(push - sp.sign(x)), [-1], (0, 2), on_slide="stop")
    hit = 1 / (float(push) + 1)
    assert run.stop == stop and run.events[0].time == pytest.approx(hit, abs=1e-12)
    assert run.events[0].kind == ("switch" if stop == "end" else "slide")
    if stop == "end":
        assert run.end_state[0] == pytest.approx((2 - hit) * (float(push) - 1), abs=1e-11)


def test_a_continuous_field_never_slides() -> None:
    run = integrate(flow(-sp.Max(x, 0) + 3 * sp.Max(-x, 0) + sp.cos(t)), [0], (0, 12))
    assert run.stop == "end" and len(switches(run)) >= 3


def test_switches_that_pile_up_end_in_a_slide_at_the_corner() -> None:
    # each turn around the origin shrinks by 3: x = y = 0 is reached after 1/10 + 11/30 (1 + 1/3 + 1/9 + ...) = 13/20
    run = integrate(
        flow(2 * sp.sign(y) - sp.sign(x), -2 * sp.sign(x) - sp.sign(y)),
        [1, sp.Rational(3, 10)],
        (0, 3),
        on_slide="stop",
    )
    assert run.stop == "slide" and run.end_time == pytest.approx(0.65, abs=1e-12)
    assert len(switches(run)) > 10 and np.abs(run.end_state).max() < 1e-12


@pytest.mark.parametrize(
    ("rhs", "start", "stop", "end"),
    [
        (1 + gate(x), 0, "end", 2),  # both sides go up: above the surface from the start
        (-1 - gate(x), 0, "end", -1),  # both go down
        (-sp.sign(x), 0, "slide", 0),
        (1 - 3 * gate(x - 1), 1, "slide", 1),
    ],
)
def test_a_start_on_a_surface_is_decided_by_the_slopes(rhs: Any, start: float, stop: str, end: float) -> None:
    run = integrate(flow(rhs), [start], (0, 1), on_slide="stop")
    assert run.stop == stop and run.end_state[0] == pytest.approx(end, abs=1e-12)
    assert switches(run) == []  # a gate chosen at the start has not switched


def test_where_both_sides_point_away_the_gate_is_kept() -> None:
    run = integrate(flow(2 * gate(x) - 1), [0], (0, 1))  # step(0) = 0: the lower side
    assert run.stop == "end" and run.end_state[0] == pytest.approx(-1, abs=1e-12)


@pytest.mark.parametrize("force", [1, -1])
def test_a_start_with_zero_slope_goes_to_the_side_it_leaves_to(force: int) -> None:
    run = integrate(flow(v, gate(x), force, states=(x, y, v)), [0, 0, 0], (0, 4))
    expected = [8 * force, 4 if force > 0 else 0, 4 * force]
    assert run.stop == "end" and run.end_state == pytest.approx(expected, abs=1e-10)


def test_a_start_with_zero_slope_that_neither_side_lets_go_slides() -> None:
    # x = v = 0, and the second derivative points back from both sides
    run = integrate(RELAY, [0, 0], (0, 1), on_slide="stop")
    assert run.stop == "slide" and run.end_time == 0 and run.end_state.tolist() == [0, 0]


@pytest.mark.parametrize(("gap", "expected"), [(0, {0, 2}), (1e-6, {0}), (-1e-6, {2})])
def test_a_grazing_touch_does_not_loop(gap: float, expected: set[int]) -> None:
    # x = (1 - t)^2 / 2 + gap touches zero (rounding decides), stays above it, or dips below it for 2 sqrt(2e-6)
    run = integrate(flow(v, gate(-x), 1, states=(x, y, v)), [0.5 + gap, 0, -1], (0, 4), rtol=1e-12)
    assert run.stop == "end" and len(switches(run)) in expected
    below = 2 * math.sqrt(-2 * gap) if gap < 0 else 0.0
    assert run.end_state[1] == pytest.approx(below, abs=1e-6)


def test_a_dip_shorter_than_a_step_is_seen() -> None:
    level = sp.Rational(9999, 10000)
    run = integrate(flow(v, gate(x - level), -x, states=(x, y, v)), [0, 0, 1], (0, 20), rtol=1e-12)
    rise = math.asin(0.9999)
    exact = [2 * math.pi * j + a for j in range(3) for a in (rise, math.pi - rise)]
    assert np.diff(exact)[0] < 20 / run.cost.steps / 4
    assert np.allclose(switches(run), exact, atol=1e-9, rtol=0)


# ---- events --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("expression", ["x", sym("x"), x, sp.cos(t) * k / 2, lambda t, state: state[0]])
def test_an_event_is_located_however_it_is_written(expression: Any) -> None:
    system = flow(v, -x, states=(x, v), parameters=[k])
    run = integrate(system, [1, 0], (0, 9), {"k": 2}, rtol=1e-12, events=[StopWhen("half", expression, level=0.5)])
    assert run.stop == "event:half" and run.end_time == pytest.approx(math.pi / 3, abs=1e-10)
    assert [(e.name, e.kind, e.detail["direction"]) for e in run.events] == [("half", "user", -1)]


def test_an_event_on_an_observable_by_name_and_inside_an_expression() -> None:
    system = flow(-x, observables={"square": x**2})
    for expression in ("square", 3 * sp.Symbol("square") - 2 * x**2):
        run = integrate(system, [1], (0, 9), rtol=1e-12, events=[StopWhen("quarter", expression, level=0.25)])
        assert run.end_time == pytest.approx(math.log(2), abs=1e-10)


def test_events_that_do_not_stop_are_recorded_with_their_direction() -> None:
    events = [
        StopWhen("up", "x", 1, terminal=False),
        StopWhen("down", "x", -1, terminal=False),
        StopWhen("both", "v", terminal=False),
    ]
    run = integrate(OSCILLATOR, [1, 0], (0, 10), rtol=1e-12, events=events)
    assert run.times_of("user", "up") == pytest.approx([1.5 * math.pi], abs=1e-10)
    assert run.times_of("user", "down") == pytest.approx([0.5 * math.pi, 2.5 * math.pi], abs=1e-10)
    assert run.times_of("user", "both") == pytest.approx([math.pi, 2 * math.pi, 3 * math.pi], abs=1e-10)  # not at 0
    assert [e.time for e in run.events] == sorted(e.time for e in run.events) and run.stop == "end"


def test_an_event_on_a_switching_surface_happens_once() -> None:
    events = [StopWhen("here", "x", terminal=False), StopWhen("later", "x", 1, level=0.5)]
    run = integrate(flow(2 - gate(x)), [-1], (0, 3), events=events)
    assert run.times_of("user", "here") == pytest.approx([0.5], abs=1e-12)
    assert switches(run) == pytest.approx([0.5], abs=1e-12)
    assert run.stop == "event:later" and run.end_time == pytest.approx(1, abs=1e-12)


def test_a_passage_in_the_other_direction_or_before_the_start_does_not_count() -> None:
    assert integrate(flow(1), [0], (0, 2), events=[StopWhen("e", "x", -1, level=1)]).stop == "end"
    assert integrate(flow(1), [1.5], (0, 2), events=[StopWhen("e", "x", level=1)]).stop == "end"


def test_an_infinite_run_needs_an_event_and_reports_a_state_at_rest() -> None:
    run = integrate(flow(-x), [1], (0, math.inf), events=[StopWhen("small", "x", level=1e-3)], rtol=1e-11)
    assert run.end_time == pytest.approx(3 * math.log(10), abs=1e-8)
    with pytest.raises(ParameterError, match="neither an end time nor an event"):
        integrate(flow(-x), [1], (0, math.inf), events=[StopWhen("small", "x", level=1e-3, terminal=False)])
    with pytest.raises(IntegrationError, match="come to rest"):
        integrate(flow(0), [1], (0, math.inf), events=[StopWhen("never", "x", level=2)])


# ---- counters, recording, progress ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["DOP853", "Radau"])
def test_the_counters_count(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = {"field": 0, "jacobian": 0}
    for name in calls:
        original = getattr(Compiled, name)

        def counted(self: Compiled, *args: Any, name: str = name, original: Any = original) -> Any:
            calls[name] += 1
            return original(self, *args)

        monkeypatch.setattr(Compiled, name, counted)
    run = integrate(RELAY, [1, 0], (0, 10), method=method, backend="reference")
    assert run.cost.field_evaluations == calls["field"] > 0
    assert run.cost.jacobian_evaluations == calls["jacobian"] and (calls["jacobian"] > 0) == (method == "Radau")
    assert run.cost.steps == run.times.size - 1  # every step is recorded; a switch ends one
    assert run.cost.seconds > 0


def test_t_eval_records_exactly_these_times() -> None:
    wanted = np.linspace(0, 2, 7)
    run = integrate(OSCILLATOR, [1, 0], (0, 2.5), rtol=1e-11, t_eval=wanted)
    assert np.array_equal(run.times, wanted) and np.allclose(run.state("x"), np.cos(wanted), atol=1e-8, rtol=0)
    assert run.end_time == 2.5 and run.final["x"] == pytest.approx(math.cos(2.5), abs=1e-9)
    cut = integrate(OSCILLATOR, [1, 0], (0, 2), t_eval=wanted, events=[StopWhen("zero", "x")])
    assert np.array_equal(cut.times, wanted[wanted < math.pi / 2])


def test_progress_grows_to_one() -> None:
    seen: list[tuple[str, float]] = []
    integrate(RELAY, [1, 0], (0, 10), progress=lambda label, done: seen.append((label, done)), label="relay")
    done = [fraction for _, fraction in seen]
    assert {label for label, _ in seen} == {"relay"} and done == sorted(done) and done[-1] == 1


# ---- what goes wrong -----------------------------------------------------------------------------------------------


def test_a_blow_up_is_reported_with_its_time() -> None:
    with pytest.raises(IntegrationError) as caught:
        integrate(flow(x**2), [0.5], (0, 3))
    assert caught.value.time == pytest.approx(2, abs=1e-6) and caught.value.state[0] > 1e6
    assert integrate(flow(x**2), [0.5], (0, 1.9)).end_state[0] == pytest.approx(10, rel=1e-7)


def test_leaving_the_domain_is_reported_with_its_time() -> None:
    with pytest.raises(IntegrationError) as caught:
        integrate(flow(-1 / x), [1], (0, 3))
    assert caught.value.time == pytest.approx(0.5, abs=1e-6)
    with pytest.raises(IntegrationError, match="not finite at the start"):
        integrate(flow(sp.log(x)), [-1], (0, 1))


def test_limits_on_switches_and_steps() -> None:
    with pytest.raises(IntegrationError, match="max_switches") as caught:
        integrate(RELAY, [1, 0], (0, 60), max_switches=3)
    assert caught.value.time == pytest.approx(7 * math.sqrt(2), abs=1e-6)
    with pytest.raises(IntegrationError, match="max_steps"):
        integrate(OSCILLATOR, [1, 0], (0, 100), max_steps=10)


GROWTH = flow(k * x, parameters=[k])
MAP = System.from_equations({x: x / 2}, kind="map")


@pytest.mark.parametrize(
    ("error", "text", "change"),
    [
        (ParameterError, "must end after it starts", {"t_span": (1, 1)}),
        (ParameterError, "must consist of numbers", {"t_span": (0, math.nan)}),
        (ParameterError, "must consist of numbers", {"t_span": (-math.inf, 0)}),
        (ParameterError, "must be finite", {"x0": [math.nan]}),
        (EquationError, "2 entries", {"x0": [1, 2]}),
        (EquationError, "not a list", {"x0": 1.0}),
        (EquationError, "not a list", {"x0": ["one"]}),
        (EquationError, "x has no value", {"x0": {}}),
        (EquationError, "z is not a state", {"x0": {"x": 1, "z": 1}}),
        (ParameterError, "k has no value", {"parameters": {}}),
        (ParameterError, "q is not a parameter", {"parameters": {"k": 1, "q": 1}}),
        (ParameterError, "must be finite", {"parameters": {"k": math.inf}}),
        (ParameterError, "not a number", {"parameters": {"k": "two"}}),
        (EquationError, "is a map", {"system": MAP}),
        (ParameterError, "rtol", {"rtol": 0}),
        (ParameterError, "rtol", {"rtol": math.nan}),
        (ParameterError, "atol", {"atol": -1e-9}),
        (ParameterError, "atol", {"atol": [1e-9, 1e-9]}),
        (ParameterError, "method", {"method": "Euler"}),
        (ParameterError, "on_slide", {"on_slide": "go"}),
        (ParameterError, "t_eval", {"t_eval": [0, 2]}),
        (ParameterError, "t_eval", {"t_eval": [1, 0.5]}),
        (ParameterError, "t_eval", {"t_eval": [math.nan]}),
        (ParameterError, "back end", {"backend": "gpu"}),
        (ParameterError, "same name", {"events": [StopWhen("e", "x"), StopWhen("e", "x", 1)]}),
        (EquationError, "event e uses z", {"events": [StopWhen("e", "z")]}),
    ],
)
def test_bad_input_gets_a_sentence(error: type[OdesysError], text: str, change: dict[str, Any]) -> None:
    good: dict[str, Any] = {"system": GROWTH, "x0": [1], "t_span": (0, 1), "parameters": {"k": 1}}
    assert integrate(**good).end_state[0] == pytest.approx(math.e, rel=1e-8)
    with pytest.raises(error, match=text) as caught:
        integrate(**{**good, **change})
    assert "\n" not in str(caught.value)


def test_a_bad_event_gets_a_sentence() -> None:
    with pytest.raises(ParameterError, match="direction"):
        StopWhen("e", "x", 2)
    with pytest.raises(ParameterError, match="level"):
        StopWhen("e", "x", level=math.nan)


# ---- stages --------------------------------------------------------------------------------------------------------


def stages() -> list[Stage]:
    return [
        Stage("grow", flow(1, 0), duration=2),
        Stage("decay", flow(-k * x, 0, parameters=[k]), {"k": 3}, events=[StopWhen("one", "x", level=1)]),
        Stage("carry", flow(0, 1), t_end=5),
    ]


def test_stages_continue_in_time_and_state() -> None:
    run = integrate_stages(stages(), [0, 0], rtol=1e-11)
    second = 2 + math.log(2) / 3
    assert run.times_of("stage") == pytest.approx([2, second, 5], abs=1e-9)
    assert [e.name for e in run.events] == ["grow", "one", "decay", "carry"]
    assert run.events[2].detail["stop"] == "event:one" and run.stop == "end"
    assert run.end_state == pytest.approx([1, 5 - second], abs=1e-9)
    expected = np.array([[1, 0], [4 / 3, 0], [1, 4 - second]])
    assert run.at([1, 2 + math.log(1.5) / 3, 4]) == pytest.approx(expected, abs=1e-9)
    assert np.all(np.diff(run.times) > 0) and list(run.parts) == ["grow", "decay", "carry"]
    assert run.cost.field_evaluations == sum(part.cost.field_evaluations for part in run.parts.values())


def test_a_state_map_acts_on_entry() -> None:
    first, second, third = stages()
    jump = np.array([2, 0])
    reset = Stage("decay", second.system, second.parameters, duration=1, state_map=lambda state: state + jump)
    run = integrate_stages([first, reset, third], [0, 0], rtol=1e-11)
    assert run.parts["decay"].states[0] == pytest.approx([4, 0], abs=1e-12)
    assert run.end_state[0] == pytest.approx(4 * math.exp(-3), abs=1e-9)
    assert run.at(2) == pytest.approx([2, 0], abs=1e-12)


def test_a_slide_that_is_not_followed_ends_all_stages() -> None:
    first, _, third = stages()
    run = integrate_stages([first, Stage("stuck", flow(-sp.sign(x), 0), duration=9), third], [0, 0], on_slide="stop")
    assert run.stop == "slide" and list(run.parts) == ["grow", "stuck"] and run.end_time == pytest.approx(4, abs=1e-10)


def test_bad_stages_get_a_sentence() -> None:
    with pytest.raises(EquationError, match="layout"):
        integrate_stages([stages()[0], Stage("other", flow(1), duration=1)], [0, 0])
    with pytest.raises(ParameterError, match="both a duration and an end time"):
        integrate_stages([Stage("twice", flow(1), duration=1, t_end=1)], [0])
    with pytest.raises(ParameterError, match="neither an end time nor an event"):
        integrate_stages([Stage("endless", flow(1))], [0])
    with pytest.raises(ParameterError, match="must end after it starts"):
        integrate_stages([stages()[0], Stage("back", flow(1, 0), t_end=1)], [0, 0])


# ---- the two-mixture flow, all 80 states ---------------------------------------------------------------------------

BIAS, END = 0.5, 20.0
HALF = (2 * BIAS + math.exp(2 * BIAS) - 1) / 2  # T_0.5 = e/2: four ReLU units switch off at once


@cache
def two_mixture(train: tuple[str, ...], conflicting: bool = False) -> Flow:
    def token(sign: int, number: int) -> str:
        return f"{'-' if sign < 0 else ''}v{number}"

    pairs = [(s, r) for s in (1, -1) for r in (1, -1) if not (conflicting and s == r)]
    weight = Fraction(1, 2 * len(pairs))
    samples = [Sample([f"c{g}", token(s, g), token(r, 3 - g)], s, weight) for g in (1, 2) for s, r in pairs]
    model = AttentionModel(Dictionary(["c1", "c2", "v1", "v2"]), [Head(1, "relu", "b"), Head(-1, "relu", "b")])
    return gradient_flow(model, Distribution(samples), train=train, carry=("w", "W_K", "W_Q"))


@cache
def stage_one(**options: Any) -> Trajectory:
    derived = two_mixture(("w",))
    return integrate(derived.system, derived.initial_state(omega=0.1), (0, END), {"b": BIAS}, **options)


def closed_form(time: float) -> tuple[float, float]:
    """(n_c, n_v) after T_0.5: F + e^F = 2b + e^(2b) + 5/8 (t - T_0.5)."""
    total = 2 * BIAS + math.exp(2 * BIAS) + 5 / 8 * (time - HALF)
    f = brentq(lambda f: f + math.exp(f) - total, 0, 10, xtol=1e-14)
    return (f - 2 * BIAS) / 5, BIAS / 2 + 2 / 5 * (f - 2 * BIAS)


OPTIONS = [{}, {"backend": "block"}, {"method": "Radau"}, {"method": "LSODA", "rtol": 1e-11}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_stage_one_switches_at_half_e(options: dict[str, Any]) -> None:
    run = stage_one(**options)
    assert run.system.dimension == 80 and pytest.approx(math.e / 2, abs=1e-15) == HALF
    assert {e.name for e in run.events} == {"H_p_4", "H_p_8", "H_m_1", "H_m_5"}  # X_(k,-,-) in +, X_(k,+,+) in -
    assert {e.detail["gate"] for e in run.events} == {0} and len({e.time for e in run.events}) == 1
    assert run.events[0].time == pytest.approx(HALF, abs=1e-9)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_stage_one_follows_the_closed_form(options: dict[str, Any]) -> None:
    run = stage_one(**options)
    n_c, n_v = closed_form(END)
    assert (n_c, n_v) == pytest.approx((0.310170, 0.870339), abs=5e-7)
    assert (run.final["w_p_c1"], run.final["w_p_v1"]) == pytest.approx((n_c, n_v), abs=1e-9)
    assert (run.final["w_m_c2"], run.final["w_m_v2"]) == pytest.approx((n_c, -n_v), abs=1e-9)
    assert run.final["loss"] == pytest.approx((math.log(2) + math.log1p(math.exp(-5 * n_c - 2 * BIAS))) / 2, abs=1e-9)
    for time in (3.0, 5.0, 10.0):
        assert (run.at(time)[[0, 2]]) == pytest.approx(closed_form(time), abs=2e-9)


def test_both_back_ends_give_the_same_trajectory() -> None:
    scalar, block = stage_one(backend="scalar"), stage_one(backend="block")
    times = np.linspace(0, END, 101)
    assert np.allclose(scalar.at(times), block.at(times), atol=1e-9, rtol=0)
    assert scalar.cost.steps == block.cost.steps < 40


def test_three_stages_reach_the_measured_numbers() -> None:
    learn = two_mixture(("W_K", "W_Q"), conflicting=True)
    first = two_mixture(("w",))
    run = integrate_stages(
        [
            Stage("1", first.system, {"b": BIAS}, duration=END),
            Stage("2", learn.system, {"b": BIAS}, events=[StopWhen("T2", "KQ_p_c1_v1", 1, level=1.0)]),
            Stage("3", first.system, {"b": BIAS}, duration=1000),
        ],
        first.initial_state(omega=0.1),
    )
    assert run.times_of("user", "T2")[0] - END == pytest.approx(90.17591, abs=1e-5)
    assert run.final["loss"] == pytest.approx(0.00543, abs=5e-6)
    assert run.final["margin_2"] == pytest.approx(4.568, abs=5e-4)
    assert [e.detail["gate"] for e in run.events if e.kind == "switch"] == [0] * 4 + [1] * 4


def test_a_flow_stands_for_its_system() -> None:
    words = Words("a b")
    w = maps("w", 1, words)
    flow = gradient_flow(lambda X: w @ X[0], Data(words, [("a", 1), ("b", -1)]), logistic)
    assert integrate(flow, [0.0, 0.0], (0.0, 1.0)).final == integrate(flow.system, [0.0, 0.0], (0.0, 1.0)).final
    assert integrate(flow.quotient(), [0.0], (0.0, 1.0)).final["w_a"] > 0
    step = gradient_descent(lambda X: w @ X[0], Data(words, [("a", 1), ("b", -1)]), logistic)
    assert iterate(step, [0.0, 0.0], 1, {"eta": 1.0}).final["w_a"] == 0.25
    with pytest.raises(EquationError, match=r"integrate takes a System, or a flow or reduction .* not Data"):
        integrate(Data(words, [("a", 1)]), [0.0], (0.0, 1.0))


def test_symbols_are_as_good_as_names() -> None:
    system = System.from_equations({x: -k * x}, parameters=[k])
    run = integrate(system, {x: 1.0}, (0.0, 1.0), {k: 2.0})
    assert run.end_state == pytest.approx([np.exp(-2)]) and run.parameters == {"k": 2.0}
    assert system.compile({k: 2})(0.0, [1.0]) == pytest.approx([-2.0])
    ((low, high),) = enclose(system, {x: 1}, 1, {k: 2}).final
    assert float(low) <= np.exp(-2) * (1 + 1e-15) and float(high) >= np.exp(-2) * (1 - 1e-15)
    assert sensitivities(system, {x: 1.0}, 1.0, {k: 2.0}).run.end_state[0] == pytest.approx(np.exp(-2))
    greek = System.from_strings({"x": "-λ*x"})
    assert integrate(greek, [1.0], (0.0, 1.0), {"λ": 2.0}).end_state == pytest.approx([np.exp(-2)])


def test_text_as_an_event_is_refused_with_what_to_write() -> None:
    with pytest.raises(ParameterError, match=r'is no event; write StopWhen\("its name"'):
        integrate(System.from_strings({"x": "1"}), [0.0], (0.0, 1.0), events=["x - 1"])  # type: ignore[list-item]


def test_names_of_methods_may_be_written_small() -> None:
    x = System.from_strings({"x": "-x"})
    assert (
        integrate(x, [1.0], (0, 1), method="taylor").end_state == integrate(x, [1.0], (0, 1), method="Taylor").end_state
    ).all()
    with pytest.raises(ParameterError, match="'tailor' is not known; choose auto, DOP853, Taylor"):
        integrate(x, [1.0], (0, 1), method="tailor")


@pytest.mark.parametrize(
    "wrong",
    [
        {"rtol": "a"},
        {"rtol": [1e-6, 1e-6]},
        {"atol": "a"},
        {"t_span": "01"},
        {"method": None},
        {"parameters": [1.0]},
        {"max_steps": 1.5},
        {"max_steps": math.inf},
        {"max_steps": -1},
        {"max_switches": None},
        {"max_step": "a"},
        {"t_eval": ["a"]},
        {"t_span": (1, 0), "t_eval": ["a"]},
        {"events": None},
        {"events": StopWhen("half", "x", level=0.5)},
    ],
)
def test_what_is_no_number_is_refused_by_a_sentence(wrong: dict[str, Any]) -> None:
    decay = System.from_equations({"x": -sym("k") * sym("x")}, parameters=["k"])
    given = {"t_span": (0, 1), "parameters": {"k": 1.0}} | wrong
    with pytest.raises(ParameterError):
        integrate(decay, [1.0], **given)


def test_counts_may_be_written_as_floats_and_ends_may_be_far() -> None:
    decay, line = System.from_equations({"x": -sym("x")}), System.from_equations({"x": 1 + 0 * sym("x")})
    assert integrate(decay, [1.0], (0, 1), max_steps=1e5).end_time == 1  # type: ignore[arg-type]
    assert integrate(line, [0.0], (0.0, 1e200)).final["x"] == pytest.approx(1e200)  # it ended at 1e100


def test_numbers_at_the_edge_of_what_is_allowed() -> None:
    eps = np.finfo(float).eps
    assert check_rtol(100 * eps) == 100 * eps and check_rtol(0.999) == 0.999
    for rtol in (99 * eps, 1.0, 1.5, -1e-9):
        with pytest.raises(ParameterError, match=r"^rtol = .* must lie between 2\.2e-14 and 1$"):
            check_rtol(rtol)
    assert whole_number(0, "n") == 0 and whole_number(3.0, "n") == 3 and whole_number(10**30, "n") == 2**62
    assert whole_number(1e30, "n") == 2**62 and isinstance(whole_number(3.0, "n"), int)
    for wrong in (-1, 0.5, math.nan, math.inf):
        with pytest.raises(ParameterError, match=r"^n = .* must be a whole number that is not negative$"):
            whole_number(wrong, "n")
    for text in ("1", b"1", None, [1], 10**400):
        with pytest.raises(ParameterError, match=r"^n = .* is not a number$"):
            real_number(text, "n")
    assert real_number(np.float32(0.5), "n") == 0.5 and real_number(Fraction(1, 4), "n") == 0.25
    assert check_atol(0, 3).tolist() == 0.0 and check_atol([1, 2, 0], 3).tolist() == [1, 2, 0]
    for atol in ([1, 2], -1e-300, math.nan, math.inf, [[1, 2, 3]], [1, 2, -1], "x"):
        with pytest.raises(ParameterError, match=r"^atol = .* must be a number, or one per state"):
            check_atol(atol, 3)
    assert time_span([1, 2]) == (1.0, 2.0)
    for span in ((1,), (1, 2, 3), 5, "12", ("a", 1)):
        with pytest.raises(ParameterError, match="is not a pair of numbers"):
            time_span(span)
    assert method_name("dop853") == "DOP853" and method_name("AUTO") == "auto" and method_name("x") == "x"
    assert method_name(None) is None


def test_the_options_of_a_run_are_checked_to_their_ends() -> None:
    line = flow(1 + 0 * x)
    ends = integrate(line, [0], (0, 2), t_eval=[0, 2])
    assert ends.times.tolist() == [0, 2] and ends.states[:, 0] == pytest.approx([0, 2])
    none = integrate(line, [0], (0, 2), t_eval=[])
    assert none.times.size == 0 and none.states.shape == (0, 1) and none.end_state == pytest.approx([2])
    for wrong in ([-1e-9, 1], [1, 2 + 1e-9], [1, 1], [[0, 1]], 1.0):
        with pytest.raises(ParameterError, match=r"^t_eval must increase and lie in the time span \(0, 2\)$"):
            integrate(line, [0], (0, 2), t_eval=wrong)
    with pytest.raises(ParameterError, match=r"^t_eval = 'a' is not a list of times$"):
        integrate(line, [0], (0, 2), t_eval="a")
    for longest in (0, -1, math.nan):
        with pytest.raises(ParameterError, match=r"^max_step = .* must be positive$"):
            integrate(line, [0], (0, 2), max_step=longest)
    short = integrate(line, [0], (0, 2), max_step=0.25)
    assert np.diff(short.times).max() == pytest.approx(0.25) and short.end_state == pytest.approx([2])
    far = integrate(line, [0], (0, math.inf), events=[StopWhen("e", "x", level=5)])
    assert far.stop == "event:e" and far.end_time == pytest.approx(5)
    for start in (1e100, 2e100):
        with pytest.raises(ParameterError, match=r"a run that starts at t = .* needs an end"):
            integrate(line, [0], (start, math.inf), events=[StopWhen("e", "x", level=5)])
    with pytest.raises(ParameterError, match=r"^two events have the same name: a, a, b$"):
        integrate(line, [0], (0, 1), events=[StopWhen(n, "x") for n in ("b", "a", "a")])
    with pytest.raises(ParameterError, match="events are a list of StopWhen, not 5"):
        integrate(line, [0], (0, 1), events=5)  # type: ignore[arg-type]
    assert check_events(iter([StopWhen("a", "x")])) == (StopWhen("a", "x"),)
    with pytest.raises(EquationError, match=r"the start has the shape .*; it must be"):
        start_state(line, [[1.0]])
    assert start_state(line, {"x": 3}).tolist() == [3.0]


def test_how_a_run_is_made_is_chosen_or_refused() -> None:
    decay = System.from_strings({"x": "-x"})
    python = StopWhen("half", lambda t, s: s[0] - 0.5)
    for backend in ("auto", "reference"):
        run = integrate(decay, [1.0], (0, 2), events=[python], backend=backend)
        assert run.end_time == pytest.approx(math.log(2), abs=1e-8)
    with pytest.raises(ParameterError):  # which only Python can evaluate
        integrate(decay, [1.0], (0, 2), events=[python], backend="compiled")
    with pytest.raises(
        ParameterError, match="compiled runs are by DOP853, Taylor and Rodas5P, not Radau; use backend="
    ):
        integrate(decay, [1.0], (0, 2), method="Radau", backend="compiled")
    assert integrate(decay, [1.0], (0, 2), method="Radau").end_state == pytest.approx([math.exp(-2)], rel=1e-6)
    compiled = decay.compile({})
    assert (
        _kernel(decay, (), "RK45", compiled, "auto") is None and _kernel(decay, (), "auto", compiled, "scalar") is None
    )
    if llvm.available():
        kernel = _kernel(decay, (), "auto", compiled, "auto")
        assert kernel is not None and kernel is _kernel(decay, (), "DOP853", compiled, "compiled")
        assert _kernel(decay, (python,), "auto", compiled, "auto") is None
        assert integrate(decay, [1.0], (0, 2), max_step=0.1).cost.steps >= 20


def test_stages_begin_where_the_one_before_ended_and_at_the_time_given() -> None:
    grow = flow(1, 0)
    run = integrate_stages([Stage("a", grow, duration=1.5), Stage("b", grow, t_end=6)], [0, 0], t_start=2.0)
    assert run.start_time == 2.0 and run.times_of("stage") == pytest.approx([3.5, 6.0])
    assert run.end_state == pytest.approx([4.0, 0.0])
    doubled = Stage("b", grow, duration=1, state_map=lambda state: 2 * state)
    assert integrate_stages([Stage("a", grow, duration=1), doubled], [1, 0]).end_state == pytest.approx([5, 0])
    for wrong in (Stage("b", grow, t_end=3.5), Stage("b", grow, duration=0), Stage("b", grow, duration=-1)):
        with pytest.raises(ParameterError, match=r"the stage b must end after it starts, and it starts at t = 3\.5"):
            integrate_stages([Stage("a", grow, duration=1.5), wrong], [0, 0], t_start=2.0)
    seen: list[str] = []
    integrate_stages([Stage("a", grow, duration=1), doubled], [1, 0], progress=lambda label, done: seen.append(label))
    assert list(dict.fromkeys(seen)) == ["a", "b"]


def test_an_event_that_is_like_no_other_is_compiled_each_time() -> None:
    """A SymPy function of an unhashable kind of event is not remembered, and runs all the same."""

    class Odd(StopWhen):
        __hash__ = None  # type: ignore[assignment]

    run = integrate(System.from_strings({"x": "-x"}), [1.0], (0, 2), events=[Odd("half", "x", level=0.5)])
    assert run.stop == "event:half" and run.end_time == pytest.approx(math.log(2), abs=1e-8)


def test_a_state_at_rest_is_told_with_where_it_is() -> None:
    with pytest.raises(IntegrationError, match="has come to rest and no event has stopped the run") as caught:
        integrate(flow(0), [7], (0, math.inf), events=[StopWhen("never", "x", level=9)])
    assert caught.value.state.tolist() == [7.0] and caught.value.time > 1e99
