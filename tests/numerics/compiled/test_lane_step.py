"""Steps in lanes are those of SciPy, as those of the scalar kernel are."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy.integrate import DOP853

from numerics.compiled import lane_step
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.lane_step import (
    FRESH,
    GOES_ON,
    MAX_STEPS,
    REJECTED,
    RTOL,
    STATUS,
    STEPS,
    STEPS_HELD,
    T_END,
    H,
    T,
    places,
)
from odesys import StopWhen, System
from odesys.jit import llvm
from odesys.jit.lanes import lane_width

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
