"""Steps in lanes are those of SciPy, as those of the scalar kernel are."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy.integrate import DOP853

from numerics.compiled import lane_step
from numerics.compiled.lane_step import FRESH, GOES_ON, MAX_STEPS, REJECTED, RTOL, STATUS, STEPS, T_END, H, T, places
from odesys import System
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
