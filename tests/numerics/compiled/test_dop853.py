"""Steps of order 8: run as Python they are those of SciPy's solver, stage by stage and between the ends."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp

from numerics.compiled import dop853
from numerics.compiled.records import Problem, RunState, Step, new_step
from numerics.flows.dense_output import SmoothDOP853
from odesys.jit.loops import Array

NONE = np.empty(0)
START = np.array([1.0, 0.5])
RTOL, ATOL = 1e-8, 1e-10


def pendulum(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    out[0], out[1] = x[1], -math.sin(x[0]) + 0.1 * math.cos(t)


def slope(t: float, x: np.ndarray) -> np.ndarray:
    out = np.empty(2)
    pendulum(t, x, NONE, NONE, out)
    return out


def ready(h: float = 0.0, end: float = 5.0) -> tuple[Problem, RunState, Step]:
    """The pendulum at its start, with a step of length h to be made."""
    problem = Problem(
        pendulum, pendulum, pendulum, 2, 0, 0, NONE, NONE, NONE, NONE, NONE, end, RTOL, np.full(2, ATOL), 1000, 10
    )
    state, step = RunState(0.0, 0.0, START.copy(), NONE, NONE, NONE), new_step(2, 0)
    step.h = h
    pendulum(0.0, START, NONE, NONE, step.K)
    return problem, state, step


def test_a_step_is_that_of_scipy() -> None:
    solver = DOP853(slope, 0.0, START, 5.0, first_step=0.1, rtol=RTOL, atol=ATOL)
    solver.step()
    problem, state, step = ready(solver.t)
    dop853.stages(problem, state, step)
    np.testing.assert_allclose(step.new, solver.y, rtol=1e-15)


def tabled(problem: Problem, state: RunState, step: Step) -> bool:
    dop853.first_table(problem, state, step)
    return bool(dop853.refined(problem, state, step))


def test_dense_output_is_that_of_the_reference() -> None:
    solver = SmoothDOP853(slope, 0.0, START, 5.0, first_step=0.1, rtol=RTOL, atol=ATOL)
    solver.step()
    problem, state, step = ready(solver.t)
    dop853.stages(problem, state, step)
    assert tabled(problem, state, step)
    dense, out = solver.dense_output(), np.zeros(2)
    for part in (0.0, 0.25, 0.7, 1.0):
        dop853.dense_value(2, step.F, START, part, out)
        np.testing.assert_allclose(out, dense(part * solver.t), rtol=1e-13)
    assert state.fields == 19  # twelve stages, three for the first polynomial, four for the second


def test_a_polynomial_of_a_step_that_is_too_long_is_not_trusted() -> None:
    """And not changed where the slopes of the field would change much of it."""
    for h, trusted in ((0.5, True), (1.5, False), (5.0, False)):
        problem, state, step = ready(h)
        dop853.stages(problem, state, step)
        assert tabled(problem, state, step) is trusted
        dense = step.F.copy()
        dop853.stages(problem, state, step)
        dop853.first_table(problem, state, step)
        change = np.abs(dense - step.F)[3 * 2 :].max()
        assert bool(change == 0.0) is (h > 4) and np.array_equal(dense[: 3 * 2], step.F[: 3 * 2])


def test_the_first_step_is_that_of_scipy() -> None:
    wanted = DOP853(slope, 0.0, START, 5.0, rtol=RTOL, atol=ATOL).h_abs
    assert dop853.initial_step(*ready()) == pytest.approx(wanted, rel=1e-14)
    assert dop853.initial_step(*ready(end=0.0)) == 0.0


def test_accepted_steps_are_those_of_scipy() -> None:
    solver = DOP853(slope, 0.0, START, 5.0, first_step=2.0, rtol=RTOL, atol=ATOL)  # too long: it has to be rejected
    solver.step()
    problem, state, step = ready()
    state.h = 2.0
    assert dop853.accepted_step(problem, state, step)
    assert step.t_new == pytest.approx(solver.t, rel=1e-8) and state.h == pytest.approx(solver.h_abs, rel=1e-8)
    np.testing.assert_allclose(step.new, solver.y, rtol=1e-8)


def test_the_estimated_error_falls_with_order_eight() -> None:
    """Half the step: about 2^8 less is estimated; the step itself is as good as its order says."""
    sizes, exact = [], solve_ivp(slope, (0.0, 0.4), START, method="DOP853", rtol=1e-13, atol=1e-14).y[:, -1]
    for h in (0.8, 0.4):
        problem, state, step = ready(h)
        dop853.stages(problem, state, step)
        sizes.append(dop853.error_size(problem, state, step))
    assert 100 < sizes[0] / sizes[1] < 1500
    np.testing.assert_allclose(step.new, exact, rtol=1e-9)


def test_steps_as_long_as_stability_allows_are_counted_until_some_in_a_row_are_shorter() -> None:
    problem, state, step = ready(1.0)
    step.new[:], step.work[:] = 1.0, 0.0

    def made(rate: float) -> None:
        step.K[11 * 2 : 12 * 2], step.K[12 * 2 : 13 * 2] = 0.0, rate  # of the two stages at the end of the step
        dop853.count_held(problem, state, step)

    for count in (1, 2, 3):
        made(-1.1 * dop853.REACH)
        assert (state.held, state.damped) == (count, count)
    made(1.1 * dop853.REACH)
    assert (state.held, state.damped) == (4, 0), "what grows is not what is fastest to decay"
    for _ in range(dop853.FREE):
        assert state.held == 4
        made(-0.9 * dop853.REACH)
    assert (state.held, state.free) == (0, dop853.FREE)
