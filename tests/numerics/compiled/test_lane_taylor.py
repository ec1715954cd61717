"""Taylor series in lanes."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from numerics.compiled import lane_taylor, taylor
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.lane_step import (
    FRESH,
    GOES_ON,
    MAX_STEPS,
    OVER,
    RTOL,
    STATUS,
    STEPS,
    T_END,
    H,
    T,
    places,
)
from numerics.compiled.lane_taylor import DEGREE, FRACTION
from numerics.compiled.records import END, HANDOVER, TAYLOR, Problem, RunState, Step, new_step
from odesys import BrokenRunWarning, IntegrationError, System
from odesys.jit import llvm
from odesys.jit.lanes import lane_width
from odesys.jit.loops import Array
from odesys.jit.taylor import has_branches, taylor_code

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
KEPLER = System.from_strings("x' = u; y' = v; u' = -m*x/(x**2 + y**2)**(3/2); v' = -m*y/(x**2 + y**2)**(3/2)")
FORCED = System.from_strings("x' = y; y' = -m*sin(x) - exp(-x**2)*y + cos(t)")


def points(count: int) -> tuple[np.ndarray, list[dict[str, float]]]:
    drawn = np.random.default_rng(4)
    starts = np.column_stack([drawn.uniform(0.8, 1.2, (count, 2)), drawn.uniform(-0.5, 0.5, (count, 2))])
    return starts, [{"m": float(m)} for m in drawn.uniform(0.8, 1.2, count)]


@pytest.mark.parametrize("system", [KEPLER, FORCED])
@pytest.mark.parametrize("rtol", [1e-7, 1e-13])
def test_runs_are_those_of_the_scalar_kernel_and_independent_of_others(system: System, rtol: float) -> None:
    flow, (starts, values) = CompiledFlow(system), points(21)
    starts = starts[:, : system.dimension]
    found = flow.batch(starts, (0.0, 5.0), values, method="Taylor", rtol=rtol)
    runs = [
        flow.run(x, (0.0, 5.0), v, method="Taylor", rtol=rtol).end_state for x, v in zip(starts, values, strict=True)
    ]
    np.testing.assert_allclose(found, runs, rtol=0, atol=max(100 * rtol, 1e-12))
    part = flow.batch(starts[5:8], (0.0, 5.0), values[5:8], method="Taylor", rtol=rtol)
    assert part.tobytes() == found[5:8].tobytes()


def test_the_energy_of_a_planet_is_kept_to_rounding() -> None:
    flow, (starts, values) = CompiledFlow(KEPLER), points(9)
    starts[:, 1:3], starts[:, 3] = 0.0, 1.0  # far from the sun all along
    ends = flow.batch(starts, (0.0, 30.0), values, method="Taylor", rtol=3e-14, atol=1e-17)
    masses = np.array([value["m"] for value in values])
    before, after = (0.5 * (s[:, 2:] ** 2).sum(1) - masses / np.hypot(s[:, 0], s[:, 1]) for s in (starts, ends))
    np.testing.assert_allclose(after, before, rtol=1e-12)


def test_a_series_that_ends_is_one_step_and_what_blows_up_is_left() -> None:
    line = CompiledFlow(System.from_strings({"x": "1 + 0*x", "y": "2*x"}))
    ends = line.batch([[0.0, 0.0], [1.0, 2.0]], (0.0, 3.0), [{}] * 2, method="Taylor", max_steps=1)
    np.testing.assert_allclose(ends, [[3.0, 9.0], [4.0, 17.0]], rtol=1e-14)
    square = CompiledFlow(System.from_strings({"x": "x**2"}))
    with pytest.warns(BrokenRunWarning, match="point 0 of the batch"):
        found = square.batch([[2.0], [0.5]], (0.0, 1.0), [{}] * 2, method="Taylor")
    assert np.isnan(found[0, 0]) and found[1, 0] == pytest.approx(1.0, rel=1e-8)


def test_logarithms_have_four_digits() -> None:
    z = np.linspace(1, 2, 1001)
    assert len(FRACTION) == DEGREE + 1 and np.abs(np.polyval(FRACTION, z) - np.log2(z)).max() < 1e-4


def test_a_single_end_has_code_of_its_own() -> None:
    flow, (starts, values) = CompiledFlow(KEPLER), points(3)
    for end in (5.0, 7.0, 5.0):
        for rtol in (1e-6, 1e-12):
            for x, v in zip(starts, values, strict=True):
                found = flow.final(x, (0.0, end), v, method="Taylor", rtol=rtol)
                wanted = flow.run(x, (0.0, end), v, method="Taylor", rtol=rtol).end_state
                np.testing.assert_allclose(found, wanted, rtol=0, atol=100 * rtol)
    assert flow.final(starts[0], (2.0, 2.0), values[0], method="Taylor").tolist() == starts[0].tolist()


@pytest.mark.parametrize("rtol", [1e-6, 1e-10])
def test_a_series_does_not_lead_past_a_root(rtol: float) -> None:
    """x' = -sqrt(x) is at zero at t = 2 sqrt(x0); its series goes on to (sqrt(x0) - t/2)^2, which is no solution."""
    flow = CompiledFlow(System.from_strings({"x": "-sqrt(x)", "y": "x - y"}))
    starts = np.array([[1.0, 0.0], [0.01, 0.0], [4.0, 0.0]])
    with pytest.warns(BrokenRunWarning, match="point 1 of the batch"):
        found = flow.batch(starts, (0.0, 1.0), [{}] * 3, rtol=rtol, method="Taylor")
    assert np.isnan(found[1]).all()
    np.testing.assert_allclose(found[[0, 2], 0], [0.25, 2.25], rtol=100 * rtol)
    for run in (flow.final, flow.run):
        with pytest.raises(IntegrationError):
            run(starts[1], (0.0, 1.0), rtol=rtol, method="Taylor")


def test_fields_with_branches_that_are_not_met_go_in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kepler's roots stay away from zero, logarithms too: no run is left to `integrate`."""
    monkeypatch.setattr(CompiledFlow, "_by_integrate", lambda *given: pytest.fail("left"))
    kepler = {"x": "u", "y": "v", "u": "-x*(x**2 + y**2)**(-3/2)", "v": "-y*(x**2 + y**2)**(-3/2)"}
    starts = np.array([1.0, 0.0, 0.0, 1.1]) * (1 + 0.05 * np.random.default_rng(2).uniform(-1, 1, (9, 4)))
    for rtol in (1e-6, 1e-10, 1e-13):
        flow = CompiledFlow(System.from_strings(kepler))
        found = flow.batch(starts, (0.0, 30.0), [{}] * 9, rtol=rtol, method="Taylor")
        alone = np.array([flow.final(start, (0.0, 30.0), rtol=rtol, method="Taylor") for start in starts])
        np.testing.assert_allclose(found, alone, atol=max(1e4 * rtol, 1e-11))
        logs = CompiledFlow(System.from_strings({"x": "y - log(1 + x**2)", "y": "-x"}))
        logs.batch(starts[:, :2], (0.0, 30.0), [{}] * 9, rtol=rtol, method="Taylor")


def test_a_series_with_gaps_is_left_whoever_the_neighbours_are() -> None:
    """At the start of the first runs the last two terms vanish: they went to the end in one step."""
    gaps = CompiledFlow(System.from_strings("x' = -5*m*s**4*x; s' = 1"))
    starts, values = [[1.0, k / 4] for k in range(4)], [{"m": 1.0}] * 4
    exact = [np.exp(s**5 - (s + 1) ** 5) for _, s in starts]
    options = {"method": "Taylor", "rtol": 1e-6, "atol": 1e-6}
    found = gaps.batch(starts, (0.0, 1.0), values, **options)
    np.testing.assert_allclose(found[:, 0], exact, rtol=0, atol=1e-4)
    alone = [gaps.final(start, (0.0, 1.0), {"m": 1.0}, **options) for start in starts]
    assert np.array(alone).tobytes() == found.tobytes()


# ---- one step at a time against the scalar text ----------------------------------------------------------------------

ORDER = 9
SMOOTH = System.from_strings("x' = k*x*x; y' = cos(t) - y; z' = 1")
ROOTS = System.from_strings("x' = -k*sqrt(x); y' = x - y + cos(t); z' = 1")
NONE = np.empty(0)


def entries(code: Any, *names: str) -> list[Callable[..., None]]:
    """Functions of machine code by name."""
    kind = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)
    return [kind(code.address(name)) for name in names]


@cache
def lane_code(system: System) -> tuple[Any, Callable[..., None], Callable[..., None]]:
    code = llvm.compiled(lane_taylor.assembly(system, ORDER, lane_width()), llvm.LOOPS)
    begin, step = entries(code, "begin", "step")
    return code, begin, step


@cache
def series(system: System) -> tuple[Any, Callable[..., None]]:
    """The coefficients, one run at a time."""
    address = taylor_code(system, ORDER)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)
    code = kind(int(address))

    def coefficients(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        given = [np.ascontiguousarray(values) for values in (x, p)]
        code(t, *(values.ctypes.data for values in given), 0, out.ctypes.data)

    return address, coefficients


def a_room(system: System, drawn: np.random.Generator) -> np.ndarray:
    """Runs under way, each somewhere else, all with a step before that was as long as what follows."""
    found, width = places(system), lane_width()
    room = np.zeros((found.rows, width))
    room[T], room[H] = drawn.uniform(-2.0, 2.0, width), 1e3
    room[T_END], room[RTOL] = room[T] + drawn.choice([0.01, 9.0], width), 10.0 ** drawn.uniform(-9, -3, width)
    room[STEPS], room[MAX_STEPS] = drawn.integers(0, 3, width), drawn.integers(3, 5, width)
    room[STATUS], room[FRESH] = GOES_ON, drawn.integers(0, 2, width)
    room[found.x : found.atol] = drawn.uniform(0.3, 3.0, (3, width))
    room[found.atol : found.p] = 10.0 ** drawn.uniform(-9, -3, (3, width))
    room[found.p] = drawn.uniform(0.5, 2.0, width)
    room[found.f : found.f + 3] = 77.0
    return room


def scalar(system: System, room: np.ndarray, lane: int) -> tuple[Problem, RunState, Step]:
    """The run in a lane as the scalar text has it, with the coefficients at its state."""
    found, here = places(system), room[:, lane].copy()
    compiled = system.compile({"k": here[found.p]}, backend="scalar")

    def field(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[:3] = compiled(t, x[:3])

    coefficients = series(system)[1]
    problem = Problem(
        field, coefficients, field, 3, 0, 0, here[found.p : found.f], NONE, NONE, NONE, NONE, here[T_END], here[RTOL],
        here[found.atol : found.p], 9, 9, order=ORDER, rows=ORDER,
    )  # fmt: skip
    state = RunState(here[T], math.inf, here[found.x : found.atol].copy(), NONE, NONE, NONE)
    step = new_step(3, 0, TAYLOR, ORDER)
    coefficients(state.t, state.x, problem.p, NONE, step.K)
    return problem, state, step


def polynomial(step: Step, x: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
    """The series and its slope at h."""
    rows = np.vstack([x, step.K[: ORDER * 3].reshape(ORDER, 3)])
    powers = h ** np.arange(ORDER + 1.0)
    return powers @ rows, (np.arange(1, ORDER + 1) * powers[:-1]) @ rows[1:]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("system", [SMOOTH, ROOTS], ids=["smooth", "roots"])
def test_a_step_in_lanes_is_that_of_the_scalar_text(system: System, seed: int) -> None:
    """As long as its last terms allow, to some digits; the state is that of the series, and so is the slope kept."""
    drawn, found = np.random.default_rng(seed), places(system)
    branches, room = has_branches(system), a_room(system, drawn)
    room[T, 0], room[T_END, 0] = 1.0, math.nextafter(1.0, 2.0)  # all that is left
    room[found.x, 1], room[T, 1] = (1e16 if system is SMOOTH else 1e-80), 1.0  # a pole, or root, below rounding
    room[found.x, 2] = [1e200, math.inf, math.nan][seed % 3]
    room[T_END, 1:3] = 9.0
    room[T, 3] = room[T_END, 3]
    if branches:
        for lane in range(lane_width()):
            room[found.f : found.f + 3, lane] = scalar(system, room, lane)[2].K[:3]
    before = room.copy()
    lane_code(system)[2](0.0, room.ctypes.data, 0, 0, 0)
    assert room[OVER, 0] == float(((room[STATUS] >= 0) & (room[FRESH] >= 0)).any())
    kept = [k for k in range(1, found.rows) if k not in (T, H, STEPS, STATUS, *range(found.x, found.atol))]
    kept = [k for k in kept if not branches or k not in range(found.f, found.f + 3)]
    assert np.array_equal(room[kept], before[kept], equal_nan=True)
    for lane in range(lane_width()):
        problem, state, step = scalar(system, before, lane)
        left, steps = problem.t_end - state.t, before[STEPS, lane]
        with np.errstate(all="ignore"):
            longest = taylor.longest_step(problem, state, step)
        x = room[found.x : found.atol, lane]
        if lane in (1, 2):
            assert (room[T, lane], room[STEPS, lane]) == (before[T, lane], steps) and room[STATUS, lane] == HANDOVER
            assert np.array_equal(x, before[found.x : found.atol, lane], equal_nan=True)
            continue
        h = room[H, lane]
        assert h == pytest.approx(min(longest, left), rel=2e-3) and room[STEPS, lane] == steps + 1
        assert room[T, lane] == (problem.t_end if longest >= left else state.t + h)
        there, slope = polynomial(step, state.x, h)
        np.testing.assert_allclose(x, there, rtol=1e-13)
        if branches:
            np.testing.assert_allclose(room[found.f : found.f + 3, lane], slope, rtol=1e-12)
        ends = room[T, lane] >= problem.t_end
        status = END if ends and (not branches or before[T, lane] >= problem.t_end) else GOES_ON
        assert room[STATUS, lane] == (HANDOVER if room[STEPS, lane] >= before[MAX_STEPS, lane] and not ends else status)


@pytest.mark.parametrize("off", [0.99, 1.01])
@pytest.mark.parametrize("number", range(3))
def test_a_run_on_another_branch_is_left(number: int, off: float) -> None:
    """Where the field differs from the slope before by LEAP tolerances of one state over the step, or of none."""
    system, found = ROOTS, places(ROOTS)
    room = a_room(system, np.random.default_rng(number))
    room[MAX_STEPS], room[T_END], room[H] = 1e6, room[T] + 9.0, np.geomspace(1e-3, 10.0, lane_width())
    for lane in range(lane_width()):
        _, state, step = scalar(system, room, lane)
        unit = room[found.atol + number, lane] + abs(state.x[number]) * room[RTOL, lane]
        room[found.f : found.f + 3, lane] = step.K[:3]
        room[found.f + number, lane] += (-1) ** lane * off * taylor.LEAP * unit / room[H, lane]
    room[found.f : found.f + 3, 0] = math.nan  # no step before
    lane_code(system)[2](0.0, room.ctypes.data, 0, 0, 0)
    assert room[STATUS].tolist() == [GOES_ON] + [HANDOVER if off > 1 else GOES_ON] * (lane_width() - 1)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_much_longer_than_the_one_before_is_compared_with_the_field(seed: int) -> None:
    """Near zero a series with gaps has no last terms; the field where a step ends says what they would."""
    system = System.from_strings("x' = -k*s**5*x; y' = x - y; s' = 1")
    found, drawn = places(system), np.random.default_rng(seed)
    room = a_room(system, drawn)
    width = lane_width()
    room[MAX_STEPS], room[T_END] = 1e6, room[T] + 0.5
    room[found.x + 2] = drawn.choice([0.0, 0.3], width)
    room[found.atol : found.p], room[RTOL] = (
        10.0 ** drawn.uniform(-11, -1, width),
        10.0 ** drawn.uniform(-11, -3, width),
    )
    _, _, step_lanes = lane_code(system)
    probe = room.copy()
    step_lanes(0.0, probe.ctypes.data, 0, 0, 0)
    room[H] = probe[H] / taylor.GROWTH * drawn.choice([0.5, 0.999, 1.001, 2.0], width)
    before = room.copy()
    step_lanes(0.0, room.ctypes.data, 0, 0, 0)
    seen = set()
    for lane in range(width):
        problem, state, step = scalar(system, before, lane)
        step.h, step.t_new = room[H, lane], room[T, lane]
        step.new[:] = room[found.x : found.atol, lane]
        grown = room[H, lane] > taylor.GROWTH * before[H, lane]
        wrong = grown and not taylor.on_branch(problem, state, step, taylor.LEAP)
        ends = room[T, lane] >= problem.t_end
        assert room[STATUS, lane] == (HANDOVER if wrong else END if ends else GOES_ON)
        seen.add((grown, wrong))
    assert len(seen) > 1


@pytest.mark.parametrize("system", [SMOOTH, ROOTS], ids=["smooth", "roots"])
def test_only_runs_that_begin_have_no_step_before(system: System) -> None:
    room, found = a_room(system, np.random.default_rng(1)), places(system)
    room[FRESH] = [1.0, 0.0, -1.0, 1.0, *[0.0] * (lane_width() - 4)]
    wanted = room.copy()
    lane_code(system)[1](0.0, room.ctypes.data, 0, 0, 0)
    if system is SMOOTH:
        wanted[H, [0, 3]] = 0.0
    else:
        wanted[found.f : found.f + 3, [0, 3]] = math.nan
    assert np.array_equal(room, wanted, equal_nan=True)
