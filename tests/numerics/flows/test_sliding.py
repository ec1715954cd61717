"""Sliding: known answers, release and entry, several surfaces, copies, smoothing, drift, counting, refusals."""

import math
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from derivations.two_mixture import dynamics
from derivations.two_mixture.compare import start_network
from numerics.flows.integrate import METHODS, Stage, integrate, integrate_stages
from numerics.flows.modes import Mode, Solution
from numerics.flows.sliding import DRIFT, OPEN_MARGIN, Slide
from numerics.flows.surfaces import Surfaces
from numerics.flows.trajectory import StopWhen, Trajectory
from odesys.analysis.lax import invariant_drift
from odesys.derive.training import gradient_flow
from odesys.errors import IntegrationError
from odesys.expr.system import System
from tests import toy_models
from tests.attention_oracle import flow_run, random_network
from tests.known_systems import corner

x, y, z, t = sp.symbols("x y z t", real=True)
gate, sign, half = sp.Heaviside, sp.sign, sp.Rational(1, 2)


def flow(*rhs: Any, states: tuple[sp.Symbol, ...] = (x, y, z), **more: Any) -> System:
    return System.from_equations(dict(zip(states, map(sp.sympify, rhs), strict=False)), **more)


def intervals(run: Trajectory) -> np.ndarray:
    return np.array([(s.start, s.end) for s in run.slides])


def smoothed(
    system: System, start: Any, span: tuple[float, float], width: float, shape: str = "sigmoid", **values: float
) -> np.ndarray:
    """The end of the flow with every step replaced by a sigmoid or ramp of the given width, by a stiff solver."""
    compiled = system.compile(values)

    def field(time: float, state: np.ndarray) -> np.ndarray:
        h = compiled.surfaces(time, state) / width
        gates = 0.5 * (1 + np.tanh(h / 2)) if shape == "sigmoid" else np.clip(0.5 + h, 0, 1)
        return compiled.field(time, state, gates)

    done = solve_ivp(field, span, np.asarray(start, dtype=float), method="LSODA", rtol=1e-10, atol=1e-13)
    assert done.success, done.message
    return done.y[:, -1]


# ---- known answers -------------------------------------------------------------------------------------------------

FRICTION = flow(y, sp.sin(t) - sp.Rational(4, 5) * sign(y))  # a block driven by sin t with dry friction 0.8


def friction_times() -> list[float]:
    """Sticks while |sin t| < 0.8; slips from t1 = arcsin 0.8 until the velocity cos t1 - cos t - 0.8 (t - t1) is 0."""
    first = math.asin(0.8)
    back = brentq(lambda s: math.cos(first) - math.cos(s) - 0.8 * (s - first), first + 0.5, 4, xtol=1e-15)
    return [0.0, first, back, math.pi + first, math.pi + back, 2 * math.pi + first]


@pytest.mark.parametrize("method", METHODS)
def test_dry_friction_sticks_and_slips(method: str) -> None:
    run = integrate(FRICTION, [0, 0], (0, 7.3), method=method, rtol=1e-7)
    assert run.stop == "end" and run.times_of("switch") == []
    assert intervals(run).ravel() == pytest.approx(friction_times(), abs=2e-5)


def test_dry_friction_to_all_digits() -> None:
    run, times = integrate(FRICTION, [0, 0], (0, 7.3), rtol=1e-12), friction_times()
    assert intervals(run).ravel() == pytest.approx(times, abs=1e-10)
    first, back = times[1], times[2]
    slip = math.cos(first) * (back - first) - math.sin(back) + math.sin(first) - 0.4 * (back - first) ** 2
    assert run.at(3.5) == pytest.approx([slip, 0], abs=1e-10)  # stuck where it came to rest
    assert run.at(6.5) == pytest.approx([0, 0], abs=1e-10)  # and back again, by symmetry
    gates = [(e.detail["before"], e.detail["gate"]) for e in run.events[1:]]
    assert gates in ([(0, 1), (1, 0)], [(1, 0), (0, 1)])  # through to the other side, and back


RELAY = flow(y, -sign(x + y))  # double integrator with relay feedback: slides on x + y = 0 where |y| < 1


@pytest.mark.parametrize("start", [1.0, 4.0, 30.0])
def test_relay_oscillator_switches_until_it_slides_to_rest(start: float) -> None:
    time, position, velocity, u, switches = 0.0, start, 0.0, -1, []
    while True:  # parabolas x + v s + u s^2 / 2 up to x + v + (v + u) s + u s^2 / 2 = 0
        roots = np.roots([u / 2, velocity + u, position + velocity])
        s = min(r.real for r in roots if r.real > 1e-9)
        time, position, velocity = time + s, position + velocity * s + u * s * s / 2, velocity + u * s
        if abs(velocity) < 1:
            break
        switches.append(time)
        u = -u
    run = integrate(RELAY, [start, 0], (0, time + 3), rtol=1e-12)
    assert run.times_of("switch") == pytest.approx(switches, abs=1e-9)
    assert intervals(run) == pytest.approx(np.array([[time, time + 3]]), abs=1e-9)
    for later in (0.5, 3.0):
        assert run.at(time + later) == pytest.approx(np.array([position, velocity]) * math.exp(-later), abs=1e-9)
    assert np.abs(run.states[run.times > time].sum(axis=1)).max() < 1e-14


def test_release_at_a_tangency_leaves_with_the_square_of_time() -> None:
    # x' = y - sign x, y' = 1: held while y < 1, then x = (t - t1)^2 / 2
    run = integrate(flow(y - sign(x), 1), [-1, half], (0, 4), rtol=1e-12)
    hit = brentq(lambda s: -1 + 1.5 * s + s * s / 2, 0, 1, xtol=1e-15)
    assert hit > 0.5  # y = 1 was passed before the surface was reached: a crossing, no slide
    assert run.slides == () and run.times_of("switch") == pytest.approx([hit], abs=1e-12)
    run = integrate(flow(y - sign(x), 1), [half / 2, -half], (0, 4), rtol=1e-12)
    assert intervals(run) == pytest.approx(np.array([[(3 - math.sqrt(7)) / 2, 1.5]]), abs=1e-10)
    assert run.end_state == pytest.approx([2.5**2 / 2, 3.5], abs=1e-10) and run.events[-1].detail["surface"] == 0


def test_release_to_the_side_it_came_from() -> None:
    run = integrate(flow(sp.cos(t) - half - half * sign(x)), [0], (0, 6), rtol=1e-12)  # held while 0 < cos t < 1
    assert intervals(run)[0] == pytest.approx([0, math.pi / 2], abs=1e-10)
    assert run.at(3.0)[0] == pytest.approx(math.sin(3) - 1, abs=1e-10)
    assert run.times_of("switch") == [] and len(run.slides) == 1


# ---- starts, grazing, double crossings -----------------------------------------------------------------------------


@pytest.mark.parametrize(("rhs", "end"), [((-sign(x), 1 + gate(x)), [0, 1.5]), ((half - sign(x), gate(x)), [0, 0.75])])
def test_a_start_on_the_surface_slides_from_the_start(rhs: Any, end: list[float]) -> None:
    run = integrate(flow(*rhs), [0, 0], (0, 1), rtol=1e-11)
    assert intervals(run).tolist() == [[0, 1]] and run.end_state == pytest.approx(end, abs=1e-12)
    assert run.slides[0].surface == 0 and run.events[0].detail["gate"] is None


def test_a_start_where_the_gate_is_at_its_end() -> None:
    # x' = cos t - sign x: the gate needed at t = 0 is at its end, and moves inside: the flow is held from the start
    run = integrate(flow(sp.cos(t) - sign(x), 1), [0, 0], (0, 2), rtol=1e-11)
    assert intervals(run) == pytest.approx(np.array([[0, 2]]), abs=1e-12) and abs(run.end_state[0]) < 1e-12
    # x' = cosh t - sign x: it moves outside, and x = sinh t - t from the start
    run = integrate(flow(sp.cosh(t) - sign(x), 1), [0, 0], (0, 2), rtol=1e-11)
    assert run.events == () and run.end_state[0] == pytest.approx(math.sinh(2) - 2, abs=1e-9)


@pytest.mark.parametrize("gap", [1e-3, 1e-6])
def test_grazing_a_surface_that_would_hold_from_there_on(gap: float) -> None:
    # x' = t - 1 above x = 0: x = (1 - t)^2 / 2 + gap stays above and never feels the strong push up below
    system = flow(t - 1 + 3 * gate(-x))
    run = integrate(system, [0.5 + gap], (0, 3), rtol=1e-12)
    assert run.events == () and run.end_state[0] == pytest.approx(2 + gap, abs=1e-10)
    # a little lower it is caught at 1 - sqrt(2 gap), held, and let go at t = 1
    run = integrate(system, [0.5 - gap], (0, 3), rtol=1e-12)
    assert intervals(run) == pytest.approx(np.array([[1 - math.sqrt(2 * gap), 1]]), abs=1e-9)
    assert run.end_state[0] == pytest.approx(2, abs=1e-10)


def test_a_gate_that_leaves_its_range_for_less_than_a_step_is_seen() -> None:
    # the force 1 + r^2/10 - (t-3)^2/10 beats the friction 1 for |t - 3| < r; x then comes back at 3 + 2 r
    r = sp.sqrt(sp.Rational(1, 200))
    run = integrate(flow(1 + r**2 / 10 - (t - 3) ** 2 / 10 - sign(x)), [0], (0, 6), rtol=1e-9)
    assert intervals(run) == pytest.approx(np.array([[0, 3 - r], [3 + 2 * r, 6]], dtype=float), abs=1e-8)
    assert run.cost.steps < 40


def test_two_surfaces_reached_together_one_crossed_one_held() -> None:
    run = integrate(flow(-sign(x), 2 + gate(y)), [1, -2], (0, 2), rtol=1e-11)
    assert intervals(run) == pytest.approx(np.array([[1, 2]]), abs=1e-12)
    assert run.times_of("switch") == pytest.approx([1], abs=1e-12) and run.end_state == pytest.approx([0, 3], abs=1e-11)


def test_a_surface_crossed_during_a_slide_changes_the_gate_not_the_slide() -> None:
    # on x = 0 the gate is 1/4, after y = 1 it is 3/4: z' = gate
    run = integrate(flow(sp.Rational(1, 4) + half * gate(y - 1) - gate(x), 1, gate(x)), [0, 0, 0], (0, 3), rtol=1e-11)
    assert intervals(run).tolist() == [[0, 3]] and run.times_of("switch") == pytest.approx([1], abs=1e-12)
    assert run.end_state[2] == pytest.approx(0.25 + 2 * 0.75, abs=1e-11)


def test_a_surface_crossed_during_a_slide_can_end_it() -> None:
    run = integrate(flow(half + gate(y - 1) - gate(x), 1), [0, 0], (0, 3), rtol=1e-11)
    assert intervals(run) == pytest.approx(np.array([[0, 1]]), abs=1e-12)
    assert run.end_state[0] == pytest.approx(1, abs=1e-11)


# ---- several surfaces ----------------------------------------------------------------------------------------------

CORNER = corner()


def test_two_surfaces_at_once_with_release_and_return() -> None:
    run = integrate(CORNER, [0, 0, 0], (0, 5), rtol=1e-11)

    def load(s: float) -> float:
        return 0.9 * math.cos(s) + 0.5 * math.sin(s)

    out, back = (brentq(lambda s: load(s) - 1, *ends, xtol=1e-15) for ends in ((0, 0.5), (0.5, 2)))
    assert load(0.5) > 1 and max(abs(load(s)) for s in np.linspace(back, 3, 50)) <= 1

    def height(s: float) -> float:
        return 0.9 * (math.sin(s) - math.sin(out)) - 0.5 * (math.cos(s) - math.cos(out)) - (s - out)

    caught = brentq(height, back, 3, xtol=1e-15)
    second = next(s.surface for s in run.slides if s.end < 5)
    parts = np.array([(s.start, s.end) for s in run.slides if s.surface == second])
    assert parts[0] == pytest.approx([0, out], abs=1e-9) and parts[1][0] == pytest.approx(caught, abs=1e-9)
    assert [(s.start, s.end) for s in run.slides if s.surface != second] == [(0, 5)]


def test_the_corner_where_switches_pile_up_is_left_as_the_gates_say() -> None:
    # around the origin the turns shrink by 3 and end at t = 13/20; there sign x = sign y = 0
    spiral = (2 * sign(y) - sign(x), -2 * sign(x) - sign(y), 3 + sign(x) + 2 * sign(y))
    run = integrate(flow(*spiral), [1, sp.Rational(3, 10), 0], (0, 2), rtol=1e-11)
    assert intervals(run) == pytest.approx(np.array([[0.65, 2]] * 2), abs=1e-11)
    at_corner = run.at(0.65 + 1e-9)[2]
    assert run.end_state[2] - at_corner == pytest.approx(3 * 1.35, abs=1e-8)
    assert np.abs(run.end_state[:2]).max() < 1e-13


PRODUCT = flow(half - sign(x), sp.Rational(1, 5) + sp.Rational(3, 10) * sign(x) * sign(y) - sign(y), sign(x) * sign(y))


def test_products_of_gates_slide_on_the_multilinear_field() -> None:
    # sign x = 1/2, then 1/5 + 3/20 sign y = sign y: sign y = 4/17; z' = 2/17
    run = integrate(PRODUCT, [1, 1, 0], (0, 6), rtol=1e-11)
    late = run.times_of("slide")[-1]
    assert len(run.slides) == 2 and run.stop == "end"
    assert run.end_state[2] - run.at(late)[2] == pytest.approx((6 - late) * 2 / 17, abs=1e-10)


def test_products_that_appear_along_the_slide() -> None:
    # the product of gates has the factor max(t - 1, 0): affine before t = 1, and found out after it
    system = flow(half - sign(x), sp.Rational(1, 5) - sign(y), 1 + sp.Max(t - 1, 0) * (sign(x) * sign(y) - 1))
    run = integrate(system, [0, 0, 0], (0, 3), rtol=1e-11)
    assert run.end_state[2] == pytest.approx(3 + 2 * (0.1 - 1), abs=1e-10)


def test_copies_of_one_surface_leave_the_gates_open_but_not_the_field() -> None:
    # x = 0 and e^x = 1 are one surface twice: only g1 + 3 g2 = c is determined, and the flow needs no more
    force = 4 * sp.sin(t)
    system = flow(force - gate(x) - 3 * gate(sp.exp(x) - 1), 2 * gate(x) + 6 * gate(sp.exp(x) - 1))
    run = integrate(system, [-half, 0], (0, math.pi), rtol=1e-11)
    hit = math.acos(1 - 1 / 8)
    assert intervals(run) == pytest.approx(np.array([[hit, math.pi]] * 2), abs=1e-9)
    assert run.end_state[1] == pytest.approx(2 * 4 * (math.cos(hit) + 1), abs=1e-9)


def test_copies_are_released_when_no_choice_of_gates_holds_any_more() -> None:
    system = flow(t - gate(x) - 3 * gate(sp.exp(x) - 1))  # held while t < 4, although one gate is at its end before
    run = integrate(system, [0], (0, 6), rtol=1e-11)
    assert intervals(run) == pytest.approx(np.array([[0, 4]] * 2), abs=1e-7)
    assert run.end_state[0] == pytest.approx(2, abs=1e-7)


# ---- the smoothed field --------------------------------------------------------------------------------------------


SMOOTHED = {
    "friction": (flow(y, sp.sin(t) - sp.Rational(4, 5) * sign(y), y**2), [0, 0.5, 0], 5.0),
    "relay": (flow(y, -sign(x + y), sp.Abs(x)), [4, 0, 0], 6.0),
    "corner": (CORNER, [0.3, -0.2, 0], 4.0),
    "product": (PRODUCT, [0.5, 0.4, 0], 3.0),
}


@pytest.mark.parametrize("shape", ["ramp", "sigmoid"])
@pytest.mark.parametrize("name", SMOOTHED)
def test_the_smoothed_field_comes_near_at_first_order(name: str, shape: str) -> None:
    system, start, end = SMOOTHED[name]
    run = integrate(system, start, (0, end), rtol=1e-11)
    widths = (4e-4, 2e-4, 1e-4)
    gaps = [float(np.linalg.norm(smoothed(system, start, (0, end), w, shape) - run.end_state)) for w in widths]
    ratios = [wide / narrow for wide, narrow in pairwise(gaps)]
    if shape == "sigmoid" and any(s.end < end for s in run.slides):
        # where a gate leaves at 0 or 1 a sigmoid lags by width * log(1 / width): its tail, not the limit
        logs = [2 * math.log(1 / wide) / math.log(1 / narrow) for wide, narrow in pairwise(widths)]
        assert ratios == pytest.approx(logs, abs=0.06)
    else:
        assert ratios == pytest.approx([2, 2], abs=0.03)
    assert gaps[0] < 20 * widths[0]


def random_relays(seed: int) -> tuple[System, np.ndarray]:
    """Three states, two or three switching planes with relays that mostly pull towards them, one forced by sin 2t."""
    rng = np.random.default_rng(seed)
    planes = rng.integers(-9, 10, (rng.integers(2, 4), 3))
    pull = rng.integers(-9, 10, planes.shape) - planes
    levels = [
        sum(int(c) * u for c, u in zip(row, (x, y, z), strict=True)) + int(c0)
        for row, c0 in zip(planes, rng.integers(-3, 4, len(planes)), strict=True)
    ]
    mixing = rng.integers(-9, 10, (3, 3))
    rhs = [
        sum(sp.Rational(int(m), 9) * sp.tanh(u) for m, u in zip(row, (x, y, z), strict=True))
        + sum(sp.Rational(int(p), 6) * sign(h) for p, h in zip(pull[:, i], levels, strict=True))
        for i, row in enumerate(mixing)
    ]
    rhs[0] += sp.sin(2 * t) * half
    return flow(*rhs), rng.standard_normal(3)


@pytest.mark.parametrize("seed", range(12))
def test_random_relays_follow_their_smoothed_fields(seed: int) -> None:
    system, start = random_relays(seed)
    run = integrate(system, start, (0, 4), max_switches=500)
    gaps = [np.abs(smoothed(system, start, (0, 4), width, "ramp") - run.end_state).max() for width in (2e-4, 1e-4)]
    assert run.stop == "end" and run.cost.steps < 500
    assert gaps[1] < 1e-3 and (gaps[1] < 1e-7 or gaps[0] / gaps[1] == pytest.approx(2, abs=0.02))


# ---- drift, cost, events, options ----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau", "BDF", "LSODA"])
def test_a_long_slide_stays_on_a_curved_surface(method: str) -> None:
    h = x**2 + y**2 - 1
    circle = flow(-y - x * sign(h), x - y * sign(h))  # pulled onto the unit circle, along which it turns at speed 1
    run = integrate(circle, [1, 0], (0, 10), method=method, rtol=1e-6)
    radius = np.hypot(*run.states.T)
    assert [e.kind for e in run.events] == ["slide"]
    assert np.abs(radius - 1).max() < (1e-4 if method in ("BDF", "LSODA") else 2e-7)
    if method == "DOP853":
        assert run.end_state == pytest.approx([math.cos(10), math.sin(10)], abs=1e-4)


def test_drift_is_taken_out_along_the_gates_only() -> None:
    # z is not moved by the gate, so the correction leaves it alone; without correction the radius would wander
    h = x**2 + y**2 - 1
    circle = flow(-y - x * sign(h), x - y * sign(h), 1)
    run = integrate(circle, [1, 0, 0], (0, 60), rtol=1e-5)
    assert abs(np.hypot(*run.end_state[:2]) - 1) < 1e-6 and run.end_state[2] == pytest.approx(60, abs=1e-12)


def test_a_slide_costs_steps_as_a_smooth_flow_does() -> None:
    run = integrate(flow(half * sp.sin(t) - sign(x), 1), [1, 0], (0, 50), rtol=1e-9)
    assert len(run.slides) == 1 and run.cost.steps < 60  # a solver that knows no surface takes about 50,000


def test_events_and_recorded_times_along_a_slide() -> None:
    wanted = np.linspace(0, 4, 9)
    stop = StopWhen("far", "y", level=2.5)
    run = integrate(flow(-sign(x), 1 + half * sign(x)), [1, 0], (0, 4), t_eval=wanted, events=[stop], rtol=1e-11)
    assert run.stop == "event:far" and run.end_time == pytest.approx(2, abs=1e-11)
    assert intervals(run) == pytest.approx(np.array([[1, 2]]), abs=1e-11)
    assert np.array_equal(run.times, wanted[wanted <= run.end_time])
    assert run.state("x") == pytest.approx(np.maximum(1 - run.times, 0), abs=1e-11)


def test_stages_can_begin_and_end_along_a_slide() -> None:
    held, free = flow(-sign(x), 1), flow(1 - sign(x) / 2, 1)
    run = integrate_stages([Stage("held", held, duration=2), Stage("free", free, duration=2)], [1, 0], rtol=1e-11)
    assert intervals(run) == pytest.approx(np.array([[1, 2]]), abs=1e-11) and run.stop == "end"
    assert run.end_state == pytest.approx([1, 4], abs=1e-11)


def test_slides_are_part_of_what_is_saved(tmp_path: Any) -> None:
    run = integrate(flow(-sign(x)), [1], (0, 3))
    with np.load(run.to_npz(tmp_path / "run.npz")) as saved:
        assert saved["event_kinds"].tolist() == ["slide"] and saved["event_ends"].tolist() == [3.0]
        assert saved["event_times"] == pytest.approx([1], abs=1e-12)
    assert run.events[0].as_json()["end"] == 3 and run.slides[0].name in ("x", "-x")


def test_a_slide_can_stop_the_run_or_be_an_error() -> None:
    assert integrate(CORNER, [1, 1, 0], (0, 5), on_slide="stop").stop == "slide"
    with pytest.raises(IntegrationError, match="slides from t = "):
        integrate(CORNER, [1, 1, 0], (0, 5), on_slide="raise")


# ---- what can not be followed --------------------------------------------------------------------------------------


def test_gates_that_nothing_determines_get_a_sentence() -> None:
    with pytest.raises(IntegrationError, match="does not determine the gates and the equation of y depends") as caught:
        integrate(flow(y, -sign(x)), [0, 0], (0, 1))  # the gate acts on x only through y
    assert caught.value.time == 0 and "\n" not in str(caught.value)


def test_too_many_products_get_a_sentence() -> None:
    states = sp.symbols("x0:9", real=True)
    product = sp.prod([sign(u) for u in states])
    system = System.from_equations({s: product / 4 - sign(s) for s in states})
    with pytest.raises(IntegrationError, match="9 surfaces meet"):
        integrate(system, [0] * 9, (0, 1))


def test_switches_without_end_stop_at_the_limit() -> None:
    # second-order sliding: x = 0 is reached after infinitely many switches whose distances shrink
    fuller = flow(y, -sign(x) - half * sign(y))
    with pytest.raises(IntegrationError, match=r"max_switches|does not determine"):
        integrate(fuller, [1, 0], (0, 20), max_switches=50)


def test_a_surface_without_a_value_at_the_start_gets_a_sentence() -> None:
    with pytest.raises(IntegrationError, match="has no value at the start"):
        integrate(flow(gate(sp.log(x))), [-1], (0, 1))


# ---- two-mixture flow, K = 3, L = 4 --------------------------------------------------------------------------------

BIAS, OMEGA, END = 0.5, 0.1, 600.0
SLIDES = np.array([[157.38446, 159.30438], [164.65275, 167.67108]])
TIGHT = {"rtol": 1e-10, "atol": 1e-14}


@cache
def quotient_run() -> Trajectory:
    reduced = dynamics.reduced("simultaneous", 3, 4)
    return integrate(reduced.system, reduced.initial_state(OMEGA), (0, END), {"b": BIAS}, **TIGHT)


def test_simultaneous_training_meets_these_events_and_no_others() -> None:
    run = quotient_run()
    assert [e.kind for e in run.events] == ["switch", "switch", "slide", "slide"] and run.stop == "end"
    assert run.times_of("switch") == pytest.approx([1.3649167, 1.3649193], abs=5e-8)
    assert [e.detail["gate"] for e in run.events] == [0, 0, 1, 1]  # off early, on again at the end of each slide
    assert intervals(run) == pytest.approx(SLIDES, abs=1e-5)
    assert [s.name for s in run.slides] == ["H_p_15", "H_p_17"]  # the two that had switched off, the later one first
    assert run.final["loss"] == pytest.approx(0.0054110376, abs=1e-9)


def test_simultaneous_training_takes_few_evaluations() -> None:
    cost = quotient_run().cost
    assert cost.state_evaluations <= 3000 and cost.field_evaluations <= 3000 and cost.steps < 120


def test_the_surface_stays_at_zero_and_the_loss_falls_along_the_slides() -> None:
    run = quotient_run()
    compiled = run.system.compile({"b": BIAS})
    for slide in run.slides:
        dense = run.at(np.linspace(slide.start, slide.end, 41))
        assert np.abs([compiled.surfaces(0.0, state)[slide.surface] for state in dense]).max() < 1e-11
        assert np.all(np.diff([compiled.observables(0.0, state)["loss"] for state in dense]) < 0)


@pytest.mark.parametrize(("shape", "end"), [("ramp", 170.0), ("sigmoid", 158.5)])  # through both slides; into the first
def test_the_two_mixture_slides_agree_with_a_smoothed_field_at_first_order(shape: str, end: float) -> None:
    run, begin = quotient_run(), 150.0
    gaps = [
        np.abs(smoothed(run.system, run.at(begin), (begin, end), width, shape, b=BIAS) - run.at(end)).max()
        for width in (2e-5, 1e-5)
    ]
    assert gaps[0] < 2e-5 and gaps[0] / gaps[1] == pytest.approx(2, abs=0.03)


def test_a_plain_solver_chatters_to_the_same_place() -> None:
    run, span, rtol = quotient_run(), (157.3, 157.4), 1e-8
    plain = solve_ivp(run.system.compile({"b": BIAS}), span, run.at(span[0]), rtol=rtol, atol=1e-12)
    assert plain.nfev > 1500  # for a hundredth of the first slide
    assert np.abs(plain.y[:, -1] - run.at(span[1])).max() < 20 * rtol


@pytest.mark.slow
def test_the_full_system_slides_on_all_copies_at_once() -> None:
    flow_, reduced = dynamics.full_flow("simultaneous", 3, 4), dynamics.reduced("simultaneous", 3, 4)
    full = integrate(flow_.system, flow_.initial_state(OMEGA), (0, END), {"b": BIAS}, backend="block", **TIGHT)
    assert full.system.dimension == 168 and full.stop == "end"
    for window, copies in zip(SLIDES, (12, 6), strict=True):
        found = [s for s in full.slides if s.start == pytest.approx(window[0], abs=1e-5)]
        assert len(found) == copies and [s.end for s in found] == pytest.approx([window[1]] * copies, abs=1e-5)
    assert len(full.slides) == 18
    times = np.linspace(0, END, 1501)
    assert np.abs(full.at(times) - reduced.lift(quotient_run().at(times))).max() < 1e-8


@pytest.mark.nightly
def test_a_finite_width_start_slides_on_separate_surfaces() -> None:
    flow_ = dynamics.full_flow("simultaneous", 3, 4)
    net = start_network(50, 2, {"K": 3, "omega": OMEGA, "b": BIAS})
    run = integrate(
        flow_.system,
        flow_.initial_state(weights=net.images()),
        (0, 400),
        {"b": BIAS},
        rtol=1e-9,
        atol=1e-12,
        backend="block",
    )
    starts = [s.start for s in run.slides]
    assert run.stop == "end" and len(starts) >= 4 and np.diff(sorted(starts)).min() > 1e-4  # the copies separate
    assert invariant_drift(flow_, run.states) < 1e-7
    assert np.all(np.diff(run.observable("loss")) < 0)  # gradient flow descends, also where it slides
    compiled = run.system.compile({"b": BIAS}, "block")
    for slide in run.slides:
        middle = compiled.surfaces(0.0, run.at((slide.start + slide.end) / 2))
        assert abs(middle[slide.surface]) < 1e-7


# ---- other models: ReLU neurons and hinge loss ---------------------------------------------------------------------


@cache
def neurons(end: float, backend: str) -> Trajectory:
    toy = toy_models.shallow_vit()
    derived = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    start = derived.initial_state(weights=random_network(toy.model, 5, 3, toy.scales, 2, toy.parameters).images())
    return integrate(derived.system, start, (0, end), toy.parameters, backend=backend)


@pytest.mark.slow
def test_exact_copies_of_a_neuron_slide_as_the_one_they_are() -> None:
    # a repeated word gives the same ReLU argument twice: two gates in the block code, one in the scalar code
    one, copies = neurons(2.3, "scalar"), neurons(2.3, "block")
    assert np.abs(one.end_state - copies.end_state).max() < 1e-9
    starts = [s.start for s in copies.slides]
    assert len(one.slides) == 3 and len(starts) == 4 and starts[2] == starts[3]
    assert sorted({*np.round(starts, 7)}) == pytest.approx(sorted(s.start for s in one.slides), abs=1e-6)


@pytest.mark.slow
def test_a_network_trained_in_weight_space_chatters_along_the_same_slide() -> None:
    toy, run = toy_models.shallow_vit(), neurons(1.08, "scalar")
    assert [s.start < 1.06 for s in run.slides] == [True]
    net = random_network(toy.model, 5, 3, toy.scales, 2, toy.parameters)
    _, nets = flow_run(net, toy.data, toy.train, (0, 1.08), "hinge", 1e-6, 1e-9, max_evaluations=50_000)
    derived = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    assert np.abs(derived.initial_state(weights=nets[-1].images()) - run.end_state).max() < 1e-5


@pytest.mark.parametrize(
    ("gates", "unique", "expected"),
    [
        ([0.5, 1.0], True, [0.25, 0.0]),
        ([0.5, 1.0], False, [0.25, OPEN_MARGIN]),  # some choice lies inside: it is no release
        ([0.5, 1.5], False, [0.25, -0.75]),
        ([0.5, -0.5], True, [0.25, -0.75]),
    ],
)
def test_margins_vanish_at_a_release_where_the_gates_are_the_only_ones(
    gates: list[float], unique: bool, expected: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    slide = object.__new__(Slide)
    found = Solution(np.array(gates), np.ones(2, dtype=bool), unique)
    monkeypatch.setattr(slide, "table", lambda t, x: (None, found), raising=False)
    assert slide.margins(0.0, np.zeros(1)) == pytest.approx(expected)


def test_newtons_method_begins_with_gates_that_can_be() -> None:
    slide = object.__new__(Slide)
    slide.keep_guess(np.array([-0.5, 0.0, 0.3, 1.0, 1.5]))
    assert slide._guess.tolist() == [0, 0, 0.3, 1, 1]


def along_a_circle() -> tuple[Slide, np.ndarray]:
    """On x^2 + y^2 = 1 gates act on y alone, z runs; and a state 1e-4 off it."""
    system = flow(1, -3 * sign(x**2 + y**2 - 1), 2)
    made = Surfaces(system.compile({}), {}, {"rtol": 1e-9, "atol": 1e-12})
    return Slide(made, Mode(np.array([0.5]), np.array([0]))), np.array([0.6, 0.8 + 1e-4, 5.0])


def test_a_state_off_its_surface_is_put_back_along_what_the_gates_move() -> None:
    slide, off = along_a_circle()
    back = slide.corrected(0.0, off)
    assert back[[0, 2]].tolist() == [0.6, 5.0] and back[1] == pytest.approx(0.8, abs=1e-15)
    first = slide.drift(0.0, off)
    assert first[[0, 2]].tolist() == [0.0, 0.0]  # as Newton's method has it
    assert first[1] == pytest.approx(-(off[0] ** 2 + off[1] ** 2 - 1) / (2 * off[1]), rel=1e-9)
    assert slide.corrected(0.0, back) == pytest.approx(back, abs=1e-15) and off[1] == 0.8 + 1e-4
    on = slide.velocity(0.0, back)
    assert on == pytest.approx([1.0, -0.75, 2.0]) and back[:2] @ on[:2] == pytest.approx(0.0, abs=1e-12)
    g = slide.gates(0.0, back)
    assert 3 * (1 - 2 * g[0]) in (pytest.approx(-0.75), pytest.approx(0.75))


def test_a_drift_is_measured_in_tolerances_of_a_step() -> None:
    """By the root of the mean square over the three states, of which one is off."""
    slide, off = along_a_circle()
    size = abs(slide.drift(0.0, off)[1])
    for atol, rtol in ((1e-4, 0.0), (0.0, 1e-3), (2e-5, 1e-4)):
        ratio = size / (atol + rtol * off[1]) / np.sqrt(3)
        for room, drifted in ((0.99 * ratio, True), (1.01 * ratio, False)):
            assert slide.has_drifted(0.0, off, {"atol": atol, "rtol": rtol}, room) is drifted
    on = slide.corrected(0.0, off)
    assert not slide.has_drifted(0.0, on, {"atol": 1e-9, "rtol": 0.0})
    with np.errstate(over="ignore"):
        assert slide.has_drifted(0.0, off, {"atol": 0.0, "rtol": 0.0}, 1e9)  # there any drift is too much
    assert slide.has_drifted(0.0, off, {"atol": 0.11 * size, "rtol": 0.0}) and DRIFT < 1
    assert not slide.has_drifted(0.0, off, {"atol": 10 * size, "rtol": 0.0})


def test_gates_of_a_point_are_found_once() -> None:
    slide, off = along_a_circle()
    first = slide.table(0.0, off)
    again = slide.table(0.0, off.copy())
    assert again[0] is first[0] and again[1] is first[1]
    for t_, x_ in ((1.0, off), (0.0, off + 1e-9)):
        other = slide.table(t_, x_)
        assert other[0] is not first[0] and (other[0].t, other[0].x.tolist()) == (t_, x_.tolist())
        assert slide.table(t_, x_)[0] is other[0]
