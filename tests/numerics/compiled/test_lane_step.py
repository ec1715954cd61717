"""Steps in lanes are those of SciPy, as those of the scalar kernel are."""

from __future__ import annotations

import ctypes
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.integrate import DOP853

from numerics.compiled import dop853, lane_step
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.dop853 import DAMPED, FREE, HELD
from numerics.compiled.lane_step import (
    FRESH,
    GOES_ON,
    LEFT,
    MAX_STEPS,
    MAY_SWITCH,
    OVER,
    REJECTED,
    RTOL,
    STATUS,
    STEPS,
    STEPS_DAMPED,
    STEPS_FREE,
    STEPS_HELD,
    T_END,
    H,
    T,
    places,
)
from numerics.compiled.records import END, HANDOVER, STIFF, Problem, RunState, Step, new_step
from odesys import StopWhen, System
from odesys.expr import graph
from odesys.jit import llvm
from odesys.jit.lane_text import LaneWriter
from odesys.jit.lane_text import declarations as lane_declarations
from odesys.jit.lanes import lane_width
from odesys.jit.loops import Array

NONE = np.empty(0)
pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")


def test_steps_are_those_of_scipy() -> None:
    system, width, rtol, atol = System.from_strings("x' = y; y' = k*(1 - x**2)*y - x"), lane_width(), 1e-8, 1e-10
    code = llvm.compiled(lane_step.assembly(system, width), llvm.LOOPS)
    begin, step = (
        ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(code.address(name))
        for name in ("begin", "step")
    )
    found = places(system)
    x_row, atol_row, p_row, room = found.x, found.atol, found.p, np.zeros((found.rows, width))
    room[T_END], room[RTOL], room[MAX_STEPS], room[STATUS], room[FRESH] = 20.0, rtol, 1e6, GOES_ON, 1.0
    room[x_row], room[x_row + 1], room[atol_row : atol_row + 2] = 2.0, np.linspace(0, 1, width), atol
    room[p_row] = np.linspace(1, 8, width)
    starts, place = room[x_row : x_row + 2].copy(), room.ctypes.data
    begin(0.0, place, 0, 0, 0)
    solvers = [
        DOP853(lambda t, x, k=k: [x[1], k * (1 - x[0] ** 2) * x[1] - x[0]], 0.0, start, 20.0, rtol=rtol, atol=atol)
        for k, start in zip(room[p_row], starts.T, strict=True)
    ]
    np.testing.assert_allclose(room[H], [solver.h_abs for solver in solvers], rtol=1e-12)
    rejected = 0
    for _ in range(40):
        before = room[STEPS].copy()
        step(0.0, place, 0, 0, 0)
        rejected += int(room[REJECTED].sum())
        assert (room[REJECTED] == (room[STEPS] == before)).all()
        for lane, solver in enumerate(solvers):
            if room[STEPS, lane] > before[lane]:
                solver.step()
                np.testing.assert_allclose(room[T, lane], solver.t, rtol=1e-6)
                np.testing.assert_allclose(room[x_row : x_row + 2, lane], solver.y, rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(room[H, lane], solver.h_abs, rtol=1e-4)
    assert rejected > 0 and (room[STATUS] == GOES_ON).all()


def test_between_its_ends_a_step_knows_the_time() -> None:
    """x = sin 5t in runs that end just below its crest: the field is read at the right times within a step."""
    system = System.from_strings("x' = 5*cos(5*t); s' = 1; a' = 0*a")
    flow = CompiledFlow(system, [StopWhen("crest", "x - a", 1, True, 0.0)])
    levels = 0.9 + 0.0999 * np.linspace(0, 1, 16)
    starts = np.stack([0 * levels, 0 * levels, levels], axis=1)
    ends = flow.batch(starts, (0.0, 6.0), [{}] * 16, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(ends[:, 1], np.arcsin(levels) / 5, atol=1e-4)


def stepped(rate: float, rtol: float, steps: int) -> np.ndarray:
    """The room after some steps of x' = -rate x, and y' = 1 that keeps them going."""
    system, width = System.from_strings("x' = -k*x; y' = 1"), lane_width()
    code = llvm.compiled(lane_step.assembly(system, width), llvm.LOOPS)
    begin, step = (
        ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(code.address(name))
        for name in ("begin", "step")
    )
    found = places(system)
    room = np.zeros((found.rows, width))
    room[T_END], room[RTOL], room[MAX_STEPS], room[STATUS], room[FRESH] = 1e9, rtol, 1e6, GOES_ON, 1.0
    room[found.x], room[found.atol : found.atol + 2], room[found.p] = 1.0, 1e-9, rate
    begin(0.0, room.ctypes.data, 0, 0, 0)
    for _ in range(steps):
        step(0.0, room.ctypes.data, 0, 0, 0)
    return room


@pytest.mark.parametrize("rate", [1e-4, 1.0, 1e4])
def test_steps_that_stability_holds_are_counted_on_any_scale(rate: float) -> None:
    """At first the error says how long a step is, whatever the unit of time; later stability does."""
    assert (stepped(rate, 1e-10, 12)[STEPS_HELD] == 0).all()
    assert (stepped(rate, 1e-4, 60)[STEPS_HELD] > 0).all()


# ---- one step at a time against the scalar text ----------------------------------------------------------------------

SYSTEM = System.from_strings("x' = y - k*(x - cos(t)); y' = -4*x + z/9; z' = m*exp(z) + cos(3*t)")


def field(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """The same in Python."""
    with np.errstate(all="ignore"):
        out[0], out[1] = x[1] - p[0] * (x[0] - math.cos(t)), -4.0 * x[0] + x[2] / 9.0
        out[2] = p[1] * np.exp(x[2]) + math.cos(3.0 * t)


@cache
def lane_code() -> tuple[Any, ...]:
    code = llvm.compiled(lane_step.assembly(SYSTEM, lane_width()), llvm.LOOPS)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)
    return code, kind(code.address("begin")), kind(code.address("step"))


def a_room(drawn: np.random.Generator) -> np.ndarray:
    """Runs under way, each somewhere else."""
    room, found = np.zeros((places(SYSTEM).rows, lane_width())), places(SYSTEM)
    width = lane_width()
    room[T], room[H] = drawn.uniform(-2.0, 2.0, width), 10.0 ** drawn.uniform(-3, 0, width)
    room[T_END], room[RTOL] = room[T] + drawn.choice([0.01, 0.1, 9.0], width), 10.0 ** drawn.uniform(-9, -3, width)
    room[STEPS], room[MAX_STEPS] = drawn.integers(0, 3, width), drawn.integers(3, 5, width)
    room[STEPS_HELD], room[STEPS_FREE] = HELD - drawn.integers(1, 4, width), FREE - drawn.integers(1, 4, width)
    room[STEPS_DAMPED], room[MAY_SWITCH] = DAMPED - drawn.integers(1, 3, width), drawn.integers(0, 2, width)
    room[STATUS], room[FRESH] = GOES_ON, drawn.integers(0, 2, width)
    room[found.x : found.atol] = drawn.normal(size=(3, width))
    room[found.atol : found.p] = 10.0 ** drawn.uniform(-9, -3, (3, width))
    room[found.p], room[found.p + 1] = 10.0 ** drawn.uniform(-1, 4, width), drawn.choice([0.0, 0.1], width)
    for lane in range(width):
        field(
            room[T, lane], room[found.x : found.atol, lane], room[found.p : found.f, lane], NONE, room[found.f :, lane]
        )
    return room


def scalar(room: np.ndarray, lane: int) -> tuple[Problem, RunState, Step]:
    """The run in a lane as the scalar text has it."""
    found, here = places(SYSTEM), room[:, lane].copy()
    p, atol = here[found.p : found.f], here[found.atol : found.p]
    problem = Problem(
        field, field, field, 3, 0, 0, p, NONE, NONE, NONE, NONE, here[T_END], here[RTOL], atol, 9, 9, may_switch=1
    )
    state = RunState(here[T], here[H], here[found.x : found.atol].copy(), NONE, NONE, NONE)
    state.held, state.free, state.damped = (int(here[k]) for k in (STEPS_HELD, STEPS_FREE, STEPS_DAMPED))
    step = new_step(3, 0)
    step.K[:3] = here[found.f : found.f + 3]
    return problem, state, step


def why_over(room: np.ndarray, lane: int, state: RunState, t: float, steps: float) -> float:
    """What `kernel.run` says of a run after a step to t: stiffness first, then its limit, then its end."""
    if t >= room[T_END, lane]:
        return float(END)
    if room[MAY_SWITCH, lane] and (state.held >= HELD or state.damped >= DAMPED):
        return float(STIFF)
    return float(HANDOVER) if steps >= room[MAX_STEPS, lane] else GOES_ON


@pytest.mark.parametrize("seed", range(12))
def test_a_step_in_lanes_is_that_of_the_scalar_text(seed: int) -> None:
    """Tried until it is within the tolerance; all that the next one reads is as there, also why a run is over."""
    drawn, found, width = np.random.default_rng(seed), places(SYSTEM), lane_width()
    room = a_room(drawn)
    room[H, 0] = 0.0  # as long as rounding allows
    room[H, 1], room[T_END, 1] = 0.3, room[T, 1] + 0.3
    room[found.x + 2, 2], room[found.p + 1, 2] = (750.0, 0.1) if seed % 2 else (-1.0, 0.1)  # infinite at once
    room[T, 3] = [0.0, -0.0, 1e-310, -1e5][seed % 4]
    room[T_END, 3] = room[T, 3] + 1.0
    room[T, -1], room[T_END, -1] = -0.16, -0.02  # which is not where it would end, by rounding
    room[found.p : found.f, -1], room[H, -1] = 0.0, room[T_END, -1] - room[T, -1]
    room[[RTOL, *range(found.atol, found.p)], -1] = 1e-2
    for lane in range(width):
        field(
            room[T, lane], room[found.x : found.atol, lane], room[found.p : found.f, lane], NONE, room[found.f :, lane]
        )
    before, reached = room.copy(), [False] * width
    for _ in range(40):
        now = room.copy()
        lane_code()[2](0.0, room.ctypes.data, 0, 0, 0)
        assert room[OVER, 0] == float(((room[STATUS] >= 0) & (room[FRESH] >= 0)).any())
        for lane in range(width):
            if reached[lane]:
                room[:, lane] = now[:, lane]
            elif room[STEPS, lane] > now[STEPS, lane] or room[STATUS, lane] != GOES_ON:
                reached[lane] = True
            else:
                assert room[REJECTED, lane] == 1.0 and room[H, lane] < now[H, lane] + 1e-13
                same = [T, STEPS, STEPS_HELD, STEPS_FREE, STEPS_DAMPED, STATUS, *range(found.x, found.f + 3)]
                assert np.array_equal(room[same, lane], before[same, lane], equal_nan=True)
    for lane in range(width):
        problem, state, step = scalar(before, lane)
        with np.errstate(all="ignore"):
            made = dop853.accepted_step(problem, state, step)
        assert reached[lane] and made == (room[STEPS, lane] > before[STEPS, lane]), lane
        if not made:
            assert room[STATUS, lane] == HANDOVER and room[REJECTED, lane] == 1.0
            continue
        assert room[REJECTED, lane] == 0.0 and room[STEPS, lane] == before[STEPS, lane] + 1
        assert room[T, lane] == pytest.approx(step.t_new, rel=1e-8)
        assert (room[T, lane] == before[T_END, lane]) == (step.t_new == problem.t_end)
        assert room[H, lane] == pytest.approx(state.h, rel=1e-5)
        np.testing.assert_allclose(room[found.x : found.atol, lane], step.new, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(room[found.f : found.f + 3, lane], step.K[36:39], rtol=1e-5, atol=1e-6)
        counters = [int(room[k, lane]) for k in (STEPS_HELD, STEPS_FREE, STEPS_DAMPED)]
        assert counters == [state.held, state.free, state.damped]
        assert room[STATUS, lane] == why_over(before, lane, state, room[T, lane], room[STEPS, lane])


@pytest.mark.parametrize("seed", range(4))
def test_only_runs_that_begin_get_a_first_step(seed: int) -> None:
    """That of the scalar text, at any size of state, field and time left; the others keep theirs."""
    drawn, found, width = np.random.default_rng(seed), places(SYSTEM), lane_width()
    room = a_room(drawn)
    room[FRESH] = [1.0, 1.0, 1.0, -1.0 if seed % 2 else 0.0, *[1.0] * (width - 4)]
    room[found.x : found.atol] *= drawn.choice([1.0, 1e-12, 1e-3], width)
    room[found.p : found.f, 0] = 0.0
    room[T_END, 1] = room[T, 1] + [0.0, -1.0, 1e-9, 1e-3][seed]
    room[found.f : found.f + 3] = 55.0
    before = room.copy()
    lane_code()[1](0.0, room.ctypes.data, 0, 0, 0)
    for lane in range(width):
        if before[FRESH, lane] > 0.0:
            problem, state, step = scalar(before, lane)
            field(state.t, state.x, problem.p, NONE, step.K)
            with np.errstate(all="ignore"):
                assert room[H, lane] == pytest.approx(dop853.initial_step(problem, state, step), rel=1e-10)
            np.testing.assert_allclose(room[found.f : found.f + 3, lane], step.K[:3], rtol=1e-12)
            before[[H, *range(found.f, found.f + 3)], lane] = room[[H, *range(found.f, found.f + 3)], lane]
    assert np.array_equal(room, before, equal_nan=True)


@pytest.mark.parametrize("seed", range(6))
def test_a_step_that_may_meet_something_is_left_as_it_was(seed: int) -> None:
    """x = t and a line that bends with z: left where the scalar text would not call the value far, else made."""
    system = System.from_strings("x' = 1; z' = 0*z")
    watched = [graph.sym("x") * graph.sym("z") - Fraction(1, 2), graph.sym("x") + 9]
    text = lane_step.assembly(system, lane_width(), watched)
    code = llvm.compiled(text, llvm.LOOPS)
    kind = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)
    drawn, found, width = np.random.default_rng(seed), places(system, 2), lane_width()
    room = np.zeros((found.rows, width))
    room[T_END], room[RTOL], room[MAX_STEPS], room[STATUS] = 100.0, 1e-6, 1e6, GOES_ON
    room[found.x], room[found.x + 1] = drawn.uniform(-1.0, 1.0, width), drawn.choice([-1.0, 0.5, 1.0, 2.0], width)
    room[found.atol : found.p], room[H] = 1e-9, drawn.uniform(0.05, 1.0, width)
    room[found.f] = 1.0
    room[found.movable : found.movable + 2] = 1.0
    x, z, h = room[found.x].copy(), room[found.x + 1].copy(), room[H].copy()
    room[found.side], room[found.side + 1] = np.sign(x * z - 0.5), 1.0
    stays = np.sign((x * z - 0.5) * ((x + h) * z - 0.5)) > 0
    room[found.movable, -1], stays[-1] = 0.0, True  # what can not move
    room[found.side, -2], stays[-2] = 0.0, False  # what has no side
    before = room.copy()
    kind(code.address("step"))(0.0, room.ctypes.data, 0, 0, 0)
    np.testing.assert_allclose(room[T], np.where(stays, h, 0.0), rtol=1e-13)
    np.testing.assert_array_equal(room[STATUS], np.where(stays, GOES_ON, LEFT))
    np.testing.assert_array_equal(room[STEPS], np.where(stays, 1.0, 0.0))
    np.testing.assert_allclose(room[H], np.where(stays, 10 * h, h), rtol=1e-13)
    np.testing.assert_allclose(room[found.x], x + np.where(stays, h, 0.0), rtol=1e-13)
    np.testing.assert_array_equal(room[REJECTED], 0.0)
    rest = [*range(found.x + 1, found.f), *range(found.f, found.rows)]
    np.testing.assert_array_equal(room[rest], before[rest])


def test_the_least_step_is_ten_times_the_way_to_the_next_time() -> None:
    """On both sides of zero, at it, and where floats are smallest."""
    w, width = LaneWriter(lane_width()), lane_width()
    w.store(lane_step.next_float(w, w.load("%a")), "%out")
    text = lane_declarations(width) + w.procedure("function", "ptr %a, ptr %out")
    code = llvm.compiled(text, llvm.LOOPS)
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(code.address("function"))
    times = np.array(
        [0.0, -0.0, 1.0, -1.0, 1e-310, -1e-310, 5e-324, -5e-324, 1e5, -1e5, 1 - 2**-53, -3.7, 2.0, -2.0, 7e300, 0.1]
    )
    for part in times.reshape(-1, width):
        given, out = part.copy(), np.empty(width)
        function(given.ctypes.data, out.ctypes.data)
        assert out.tolist() == [10.0 * (math.nextafter(t, math.inf) - t) for t in part.tolist()]


@pytest.mark.parametrize("seed", range(3))
def test_what_is_between_the_ends_of_a_step_is_where_the_solution_is(seed: int) -> None:
    """x = sin t goes up in these steps: past a level in the middle of them, and not to one just below their starts."""
    system = System.from_strings("x' = cos(t); a' = 0*a")
    code = llvm.compiled(lane_step.assembly(system, lane_width(), [graph.sym("x") - graph.sym("a")]), llvm.LOOPS)
    step = ctypes.CFUNCTYPE(None, ctypes.c_double, *[ctypes.c_void_p] * 4)(code.address("step"))
    drawn, found, width = np.random.default_rng(seed), places(system, 1), lane_width()
    room = np.zeros((found.rows, width))
    room[T_END], room[RTOL], room[MAX_STEPS], room[STATUS] = 100.0, 1e-3, 1e6, GOES_ON
    room[T], room[H] = drawn.uniform(-0.9, 0.0, width), drawn.uniform(0.4, 0.6, width)
    start, end = np.sin(room[T]), np.sin(room[T] + room[H])
    part = np.where(np.arange(width) % 2 == 0, drawn.uniform(0.02, 0.98, width), drawn.uniform(-0.1, -0.02, width))
    room[found.x], room[found.x + 1], room[found.f] = start, start + part * (end - start), np.cos(room[T])
    room[found.atol : found.p], room[found.movable], room[found.side] = 1e-3, 1.0, -np.sign(part)
    step(0.0, room.ctypes.data, 0, 0, 0)
    np.testing.assert_array_equal(room[STATUS], np.where(part > 0, LEFT, GOES_ON))
    np.testing.assert_allclose(room[found.x], np.where(part > 0, start, end), rtol=1e-4)
