"""One integration in progress: why it ends, what it keeps, and a mode in every segment."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import quad
from scipy.optimize import brentq

from numerics.flows.integrate import integrate
from numerics.flows.run import EXACT_JACOBIAN_LIMIT, METHODS, PILE, Run
from numerics.flows.trajectory import StopWhen
from odesys.errors import IntegrationError
from odesys.expr.system import System
from odesys.terminal import silent
from tests.known_systems import bouncing, oscillator, sliding
from tests.numerics.flows.test_semantics import CASES, Case, outcome

LIMITS = {"max_switches": 100, "max_steps": 10_000}


def make(system: System, start: list[float], end: float, events: tuple[StopWhen, ...] = (), **more: object) -> Run:
    options = {"method": "DOP853", "on_slide": "follow", "limits": LIMITS} | more
    tolerances = {"rtol": 1e-10, "atol": 1e-12}
    return Run(
        system.compile(),
        {},
        events,
        (0.0, end),
        np.array(start),
        options["method"],
        tolerances,
        options["limits"],
        options["on_slide"],
    )


def report(fraction: float) -> None:
    silent("", fraction)


@pytest.mark.parametrize("method", METHODS)
def test_a_smooth_run_is_one_segment_to_the_end(method: str) -> None:
    run = make(oscillator(), [1.0, 0.0], math.pi, method=method)
    assert run.run(report) == "end" and run.t == math.pi and run.log.events == []
    assert run.x == pytest.approx([-1.0, 0.0], abs=1e-5)
    assert run.knots[0] == 0.0 and len(run.pieces) == len(run.knots) - 1 == run.steps


def test_a_kink_breaks_a_run_into_segments_whose_ends_are_on_it() -> None:
    run = make(bouncing(), [0.5, 0.0], 4.0)  # quarter periods of sqrt(2 x0) = 1
    assert run.run(report) == "end"
    assert [event.time for event in run.log.events] == pytest.approx([1.0, 3.0], abs=1e-9)
    for event in run.log.events:
        assert run.states[run.knots.index(event.time)][0] == pytest.approx(0.0, abs=1e-9)


def test_an_event_ends_the_run_where_it_happens() -> None:
    run = make(oscillator(), [1.0, 0.0], 10.0, (StopWhen("zero", "x"),))
    assert run.run(report) == "event:zero" and run.t == pytest.approx(math.pi / 2, abs=1e-9)


def test_steps_and_switches_are_limited() -> None:
    with pytest.raises(IntegrationError, match="steps"):
        make(oscillator(), [1.0, 0.0], 1000.0, limits={**LIMITS, "max_steps": 5}).run(report)
    with pytest.raises(IntegrationError, match="switch"):
        make(bouncing(), [0.5, 0.0], 40.0, limits={**LIMITS, "max_switches": 3}).run(report)


def test_a_slide_is_followed_along_its_surface() -> None:
    run = make(sliding(), [1.0, 0.0], 3.0)
    assert run.run(report) == "end" and run.x == pytest.approx([0.0, 3.0], abs=1e-12)
    assert [(e.kind, e.time, e.detail["end"]) for e in run.log.events] == [("slide", pytest.approx(1.0), 3.0)]


@pytest.mark.parametrize("backend", ["reference", "auto"])
def test_progress_is_the_part_of_the_time_that_is_done(backend: str) -> None:
    seen: list[float] = []
    integrate(oscillator(), [1.0, 0.0], (10.0, 14.0), backend=backend, progress=lambda label, done: seen.append(done))
    assert seen == sorted(seen) and 0.0 < seen[0] <= seen[-1] == 1.0


def test_the_side_that_a_start_on_a_surface_leaves_to_is_no_switch() -> None:
    """x = t^2 / 2 starts on the surface with no speed, and its gate is open from then on."""
    system = System.from_strings({"x": "v", "y": "heaviside(x)", "v": "1"})
    run = make(system, [0.0, 0.0, 0.0], 4.0, limits={**LIMITS, "max_switches": 0})
    assert run.run(report) == "end" and run.log.events == [] and run.x == pytest.approx([8.0, 4.0, 4.0], abs=1e-9)


@pytest.mark.parametrize("backend", ["reference", "compiled"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_of_the_semantics_is_run_as_it_is_defined(case: Case, backend: str) -> None:
    run = outcome(case, backend)
    assert [e.name for e in run.events] == [name for name, _ in case.happens] and run.stop == case.stop
    assert [e.time for e in run.events] == pytest.approx([time for _, time in case.happens], abs=case.accuracy)
    if case.final is not None:
        assert run.end_state == pytest.approx(case.final, abs=case.accuracy)


def test_a_run_that_can_not_begin_says_why() -> None:
    with pytest.raises(IntegrationError, match=r"the right-hand side is not finite at the start, t = 0$") as caught:
        make(System.from_strings({"x": "1/t"}), [1.0], 1.0).run(report)
    assert caught.value.objects["time"] == 0.0
    run = make(System.from_strings({"x": "1", "y": "1"}), [1.0, 0.0], 1.0)
    run.tolerances["atol"] = 0.0
    with pytest.raises(IntegrationError, match="y starts at zero and atol is zero: its error has no unit") as caught:
        run.run(report)
    assert caught.value.objects["time"] == 0.0 and caught.value.objects["state"].tolist() == [1.0, 0.0]
    for atol in ([0.0, 1e-9], 1e-12):
        fine = make(System.from_strings({"x": "1", "y": "1"}), [1.0, 0.0], 1.0)
        fine.tolerances["atol"] = atol
        assert fine.run(report) == "end" and fine.x == pytest.approx([2.0, 1.0])


def test_a_run_that_gets_stuck_says_where_and_why() -> None:
    with pytest.raises(IntegrationError, match=r"got stuck at t = 0\.\d+ with states up to") as caught:
        make(System.from_strings({"x": "exp(exp(x))"}), [1.0], 3.0).run(report)
    end = quad(lambda x: np.exp(-np.exp(x)), 1.0, 6.0)[0]
    assert caught.value.objects["time"] == pytest.approx(end, abs=1e-6)
    for most in (1, 7):
        run = make(oscillator(), [1.0, 0.0], 1000.0, limits={**LIMITS, "max_steps": most})
        with pytest.raises(IntegrationError, match=f"all {most} steps allowed by max_steps were taken$"):
            run.run(report)
        assert len(run.pieces) == most and run.steps == most + 1


def test_so_many_switches_are_allowed_and_not_one_more() -> None:
    for allowed in (2, 3):
        run = make(bouncing(), [0.5, 0.0], 6.0, limits={**LIMITS, "max_switches": allowed})  # at 1, 3 and 5
        if allowed == 3:
            assert run.run(report) == "end" and run.switches_left == 0
        else:
            with pytest.raises(IntegrationError, match=r"more than max_switches times up to t = 5(\.0*)?\d*, last: x$"):
                run.run(report)


def test_a_slide_ends_a_run_or_is_an_error_where_it_is_not_to_be_followed() -> None:
    run = make(sliding(), [1.0, 0.0], 3.0, on_slide="stop")
    assert run.run(report) == "slide" and run.t == pytest.approx(1.0) and run.x[1] == pytest.approx(1.0)
    assert [(e.kind, e.time) for e in run.log.events] == [("slide", pytest.approx(1.0))]
    with pytest.raises(IntegrationError, match=r"the flow slides from t = 1.* points to x from both sides") as caught:
        make(sliding(), [1.0, 0.0], 3.0, on_slide="raise").run(report)
    assert caught.value.objects["time"] == pytest.approx(1.0)


def test_gates_that_a_slide_leaves_open_are_an_error_that_names_the_state() -> None:
    """From rest the gate acts on x only through y."""
    relay = System.from_strings({"x": "y", "y": "-sign(x)"})
    with pytest.raises(IntegrationError, match=r"t = 0 .* stays on x = 0, .* equation of y depends on them; smooth"):
        make(relay, [0.0, 0.0], 3.0).run(report)
    run = make(relay, [0.0, 0.0], 3.0, on_slide="stop")
    assert run.run(report) == "slide" and run.t == 0.0


@pytest.mark.parametrize("method", METHODS)
def test_a_slide_stays_on_its_surface_and_leaves_it_in_time(method: str) -> None:
    """On x = t^2/10 the gate of x' = 1 - 2 gate + y grows with y' = 1, until it opens at y = 1."""
    x, y, t = sp.symbols("x y t")
    system = System.from_equations({x: 1 - 2 * sp.Heaviside(x - t**2 / 10) + y + t / 5, y: 1 + 0 * y})
    run = make(system, [-0.5, -0.5], 4.0, method=method)
    assert run.run(report) == "end"
    (slide,) = run.log.events
    begin = brentq(lambda s: -0.5 + s / 2 + 0.6 * s**2 - s**2 / 10, 0.1, 2.0)
    assert slide.time == pytest.approx(begin, abs=1e-6) and slide.detail["end"] == pytest.approx(1.5, abs=1e-5)
    assert (slide.detail["before"], slide.detail["gate"]) == (0, 1)
    states, knots = np.array(run.states), np.array(run.knots)
    on = (knots >= slide.time) & (knots <= slide.detail["end"])
    assert on.sum() > 1 and np.abs(states[on, 0] - knots[on] ** 2 / 10).max() < 1e-8
    left = 1.5**2 / 10 + (4 - 1.5) * (1 - 2 - 0.5) + 0.6 * (4**2 - 1.5**2)
    assert run.x == pytest.approx([left, 3.5], abs=1e-4)
    if method != "LSODA":  # which does not tell
        assert (run.jacobians > 0) == (method in ("Rodas5P", "Radau", "BDF"))


def test_what_is_watched_are_surfaces_then_events_with_the_gates_of_the_mode() -> None:
    x, y = sp.symbols("x y")
    system = System.from_equations({x: 1 - 3 * sp.Heaviside(x), y: sp.Heaviside(x) + sp.Heaviside(y - 5)})
    events = (StopWhen("gate", 10 * sp.Heaviside(x), terminal=False), StopWhen("sum", "x + 2*y", level=1))
    run = make(system, [-1.0, 0.0], 3.0, events)
    here = np.array([-0.25, 2.0])
    assert run.watched(0.0, here) == pytest.approx([-0.25, -0.6, 0.0, 2.75])
    assert run.field(0.0, here) == pytest.approx([1.0, 0.0])
    reach = run._reach(0.0, here)
    room = 1e-12 + 1e-10 * np.abs(here)
    assert reach[0] == 0 and 10 * abs(room[0] - 2 * room[1]) * 0.99 <= reach[1] <= 10 * (room[0] + 2 * room[1]) * 1.01
    run.run(report)
    assert run.slide is not None  # on x = 0 with a gate of a third
    on = np.array([0.0, 2.0])
    assert run.watched(2.0, on) == pytest.approx([1 / 3 * 2 / 3, -0.6, 10 / 3, 3.0])
    assert run.field(2.0, on) == pytest.approx([0.0, 1 / 3])


def test_events_in_a_slide_are_told_with_the_gates_of_the_slide() -> None:
    """The gate of x is (1 + t) / 4 along x = 0: one event is its passage of a half, and one jumps as it begins."""
    x, t = sp.symbols("x t")
    system = System.from_equations({x: (1 + t) - 4 * sp.Heaviside(x)})
    events = (
        StopWhen("half", sp.Heaviside(x) - sp.Rational(1, 2), terminal=False),
        StopWhen("most", sp.Heaviside(x), level=0.75),
    )
    run = make(system, [0.0], 5.0, events)
    assert run.run(report) == "event:most" and run.t == pytest.approx(2.0)
    assert sorted(e.name for e in run.log.events) == ["half", "most", "x"]
    assert [e.time for e in run.log.events if e.kind == "user"] == pytest.approx([1.0, 2.0])


def test_dense_output_of_a_step_is_its_ends_at_its_ends() -> None:
    run = make(oscillator(), [1.0, 0.0], 2.0)
    run._turn(())
    solver = run._solver(first_step=0.125)
    assert solver.h_abs == 0.125 and run._solver(first_step=7.0).h_abs == 2.0
    solver.step()
    states = run._states(lambda t: np.array([t, -t]), solver)
    assert states(0.0) is run.x and states(float(solver.t)) is solver.y and states(0.05).tolist() == [0.05, -0.05]


def test_exact_jacobians_are_given_to_implicit_methods_of_small_systems() -> None:
    run = make(oscillator(), [1.0, 0.0], 2.0, method="Radau")
    run._turn(())
    assert run._solver().jac(0.0, run.x) == pytest.approx(np.array([[0.0, 1.0], [-1.0, 0.0]]), abs=1e-14)
    for size in (EXACT_JACOBIAN_LIMIT, EXACT_JACOBIAN_LIMIT + 1):
        names = [f"x{k}" for k in range(size)]
        system = System.from_strings({name: f"-{name}**3" for name in names})
        wide = make(system, [1.0] * size, 1.0, method="BDF")
        wide._turn(())
        exact = np.array_equal(wide._solver().jac(0.0, wide.x), -3 * np.eye(size))
        assert exact == (size <= EXACT_JACOBIAN_LIMIT)


def test_switches_that_pile_up_around_a_corner_end_in_it() -> None:
    """Each turn takes a third of the one before: the corner is reached at 13/20, and the flow stays there."""
    x, y = sp.symbols("x y")
    system = System.from_equations({x: 2 * sp.sign(y) - sp.sign(x), y: -2 * sp.sign(x) - sp.sign(y)})
    run = make(system, [1.0, 0.3], 3.0)
    assert run.run(report) == "end" and np.abs(run.x).max() < 1e-10
    slides = [e for e in run.log.events if e.kind == "slide"]
    assert sorted(e.name for e in slides) == ["x", "y"]
    assert [e.time for e in slides] == pytest.approx([0.65, 0.65], abs=1e-6)
    switches = [e.time for e in run.log.events if e.kind == "switch"]
    gaps = np.diff(switches)[2:8]
    assert len(switches) > 8 and gaps[1:] / gaps[:-1] == pytest.approx(np.full(5, 1 / 3), rel=1e-3)
    assert len(run.turns) <= PILE


def test_the_kernel_is_asked_again_after_a_slide() -> None:
    """Compiled code goes up to the slide and on from its end; the steps and states of both are one run."""
    x, y = sp.symbols("x y")
    system = System.from_equations({x: 1 - 2 * sp.Heaviside(x) + y, y: 1 + 0 * y})
    quick, slow = (
        integrate(system, [-0.5, -0.5], (0.0, 4.0), backend=b, rtol=1e-10) for b in ("compiled", "reference")
    )
    assert quick.end_state == pytest.approx(slow.end_state, abs=1e-8) and quick.slides[0].end == pytest.approx(1.5)
    assert len(quick.times) == len(quick.states) == len(quick.solution.interpolants) + 1
    assert np.all(np.diff(quick.times) > 0) and quick.at(3.0) == pytest.approx(slow.at(3.0), abs=1e-8)
    assert quick.cost.steps >= len(quick.times) - 1 and quick.cost.field_evaluations > quick.cost.steps
    with pytest.raises(IntegrationError, match="all 3 steps allowed by max_steps"):
        integrate(System.from_strings({"x": "-x*sin(9*t)"}), [1.0], (0.0, 90.0), max_steps=3, backend="compiled")
    with pytest.raises(IntegrationError, match="gates switched more than max_switches times"):
        integrate(bouncing(), [0.5, 0.0], (0.0, 40.0), max_switches=3, backend="compiled")
    exact = integrate(bouncing(), [0.5, 0.0], (0.0, 6.0), max_switches=3, backend="compiled")
    assert [e.detail["gate"] for e in exact.events] in ([0, 1, 0], [1, 0, 1])


def test_a_run_of_compiled_code_says_when_it_turned_out_stiff() -> None:
    stiff = System.from_strings({"x": "-2000*(x - cos(t))"})
    run = integrate(stiff, [0.0], (0.0, 20.0), backend="compiled")
    assert run.stiff_from is not None and 0 < run.stiff_from < 20 and run.cost.jacobian_evaluations > 0
    assert run.end_state[0] == pytest.approx(np.cos(20.0) + np.sin(20.0) / 2000, abs=1e-6)
    assert integrate(oscillator(), [1.0, 0.0], (0.0, 20.0), backend="compiled").stiff_from is None


def stretched(run: Run, times: list[float], states: list[list[float]], happened: list[tuple[float, int, int]]) -> Any:
    """A stretch in compiled code that made these steps."""
    pieces = [SimpleNamespace(t_old=old) for old in [run.t, *times[:-1]]][: len(times)]
    counters = SimpleNamespace(side=np.full(2, 7.0), width=np.full(2, 8.0), steps=3, fields=30, visited=20, jacobians=2)
    table = np.array(states, dtype=float).reshape(-1, run.x.size)
    return SimpleNamespace(steps=lambda: (np.array(times), table, pieces), happenings=lambda: happened, state=counters)


def test_what_compiled_code_has_done_is_taken_over() -> None:
    run = make(bouncing(), [0.5, 0.0], 9.0, (StopWhen("seen", "x", terminal=False),))
    run._turn(())
    run.refused, before = {(1,)}, (run.meter.fields, run.meter.states, run.switches_left, run.steps_left)
    gate = run.mode.gates[0]
    run._keep(stretched(run, [1.0, 2.5], [[0.1, 0.2], [0.3, 0.4]], [(1.0, 1, -1), (2.5, 0, 0)]))
    assert (run.t, run.last_step, run.x.tolist()) == (2.5, 1.5, [0.3, 0.4]) and run.refused == set()
    assert run.knots == [0.0, 1.0, 2.5] and len(run.states) == 3 and len(run.pieces) == 2
    user, switch = run.log.events
    assert (user.name, user.kind, user.time) == ("seen", "user", 1.0)
    assert user.detail == {"direction": -1, "terminal": False}
    assert (switch.kind, switch.time, switch.detail["gate"]) == ("switch", 2.5, 1 - gate)
    assert run.mode.gates[0] == 1 - gate and run.entered == 2.5 and run.watch.own.tolist() == [1 - 2 * gate]
    assert run.watch.side.tolist() == [7.0, 7.0] and run.watch.width.tolist() == [8.0, 8.0]
    after = (run.meter.fields, run.meter.states, run.switches_left, run.steps_left)
    assert np.subtract(after, before).tolist() == [30, 20, -1, -3] and (run.steps, run.jacobians) == (3, 2)
    run.refused = {(1,)}
    run._keep(stretched(run, [], [], [(2.5, 0, 0)]))
    assert (run.t, run.last_step) == (2.5, 1.5) and run.refused == {(1,)} and run.steps == 6
    assert run.mode.gates[0] == gate and run.watch.own.tolist() == [2 * gate - 1] and run.log.events == [user]


def test_values_that_are_lost_in_compiled_code_are_told_with_the_last_good_ones() -> None:
    for lost, t, state in ((0, 0.0, [0.5, 0.0]), (1, 1.0, [0.1, 0.2])):
        run = make(oscillator(), [0.5, 0.0], 9.0)
        states = [[0.1, 0.2], [0.3, 0.4]]
        states[lost][1] = np.nan
        with pytest.raises(
            IntegrationError, match=f"stuck at t = {t:g} with states up to .*: the values are no"
        ) as said:
            run._keep(stretched(run, [1.0, 2.0], states, []))
        assert said.value.objects["time"] == t and said.value.objects["state"].tolist() == state


def test_a_stretch_goes_on_until_it_is_left_to_the_reference() -> None:
    run = make(oscillator(), [0.5, 0.0], 4.0, (StopWhen("seen", "x", terminal=False),))
    run._turn(())
    seen: list[float] = []
    for ended, event, says, left in ((True, -1, "end", False), (True, 0, "event:seen", False), (False, -1, "", True)):
        run.t, run.knots, run.states, run.pieces = 0.0, [0.0], [run.x], []
        made = stretched(run, [1.0], [[0.1, 0.2]], [])
        asked: list[tuple[int, int]] = []

        def advance(steps: int, switches: int, asked: list[tuple[int, int]] = asked) -> bool:
            asked.append((steps, switches))
            return len(asked) < 3

        made.advance, made.ended, made.event, made.stiff_from, made.series_from = advance, ended, event, 0.5, 0.75
        run.kernel, allowed = SimpleNamespace(stretch=lambda own, made=made: made), run.steps_left
        assert run._stretch(seen.append) == says and run.left_to_me is left
        assert [n for n, _ in asked] == [allowed, allowed - 3, allowed - 6]
    assert seen == [0.25] * 9 and run.methods == (0.5, 0.75)
    made.stiff_from, made.series_from = 3.0, 3.5
    run._stretch(seen.append)
    assert run.methods == (0.5, 0.75)  # the first time counts
