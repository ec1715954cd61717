"""Dense output of DOP853: as accurate between the ends of steps as at them, in compiled runs and in the reference."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import DOP853

from numerics.flows import dense_output
from numerics.flows.dense_output import SmoothDOP853
from odesys import System, integrate

PENDULUM = System.from_strings("x' = y; y' = -sin(x)"), [2.0, 0.0], 12.0
LORENZ = System.from_strings("x' = 10*(y - x); y' = x*(28 - z) - y; z' = x*y - 8*z/3"), [1.0, 1.0, 1.0], 4.0
POLE = System.from_strings("x' = y; y' = 2*(1 - x^2)*y - x"), [2.0, 0.0], 8.0
BACKENDS = pytest.mark.parametrize("backend", ["auto", "reference"])


@BACKENDS
@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-11])
@pytest.mark.parametrize("case", [PENDULUM, LORENZ, POLE])
def test_errors_between_steps_are_those_at_steps(case: tuple, rtol: float, backend: str) -> None:
    system, start, end = case
    exact = integrate(system, start, (0.0, end), rtol=1e-13, atol=1e-16, method="Taylor").solution
    run = integrate(system, start, (0.0, end), rtol=rtol, atol=1e-3 * rtol, method="DOP853", backend=backend)
    t = np.linspace(0.0, end, 3001)
    at_steps = np.abs(run.states.T - exact(run.times)).max()
    assert np.abs(run.solution(t) - exact(t)).max() < 1.3 * at_steps + 2e-14 * np.abs(start).max()


@BACKENDS
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
def test_steps_that_stability_holds_back_are_read_within_some_tolerances(rtol: float, backend: str) -> None:
    """Of decays alone, steps are as long as they can be; the first polynomial errs by 35 tolerances there."""
    system = System.from_strings("x' = -50*x; y' = x - y/10")
    run = integrate(system, [1.0, 1.0], (0.0, 4.0), rtol=rtol, atol=1e-3 * rtol, method="DOP853", backend=backend)
    worst = 0.0
    for t0, t1, x0, y0 in zip(run.times, run.times[1:], *run.states[:-1].T, strict=False):
        t = np.linspace(t0, t1, 21)
        fast, slow = x0 * np.exp(-50 * (t - t0)), np.exp(-(t - t0) / 10)
        exact = np.array([fast, (y0 + x0 / 49.9) * slow - fast / 49.9])
        scale = 1e-3 * rtol + rtol * np.abs(exact[:, [0, -1]]).max(axis=1)
        worst = max(worst, float(np.sqrt((((run.solution(t) - exact) / scale[:, None]) ** 2).mean(axis=0)).max()))
    assert worst < 8


def test_the_table_has_the_ends_and_their_slopes_and_the_slopes_at_the_nodes() -> None:
    _, start, end = PENDULUM

    def field(t: float, x: np.ndarray) -> np.ndarray:
        return np.array([x[1], -np.sin(x[0])])

    solver, first = (kind(field, 0.0, np.array(start), end, rtol=1e-9, atol=1e-12) for kind in (SmoothDOP853, DOP853))
    for _ in range(5):
        solver.step()
        first.step()
    assert solver.t == first.t  # the same steps
    dense, coarse, h = solver.dense_output(), first.dense_output(), solver.t - solver.t_old
    assert np.array_equal(dense(solver.t_old), solver.y_old) and dense(solver.t) == pytest.approx(solver.y, abs=1e-15)

    def slope(part: float) -> np.ndarray:
        rows = [row.deriv()(part) / h for row in dense_output.basis()]
        return np.asarray(rows @ dense.F)

    for part in (0.0, 1.0):
        t = solver.t_old + part * h
        assert slope(part) == pytest.approx(field(t, dense(t)), abs=1e-13)
    for part in dense_output.NODES:
        t = solver.t_old + part * h
        assert slope(part) == pytest.approx(field(t, coarse(t)), abs=1e-13)


def test_a_field_that_is_not_finite_at_a_node_leaves_the_polynomial_as_it_is() -> None:
    calls = []

    def field(t: float, x: np.ndarray) -> np.ndarray:
        calls.append(t)
        return np.full(1, np.nan) if len(calls) % 19 == 0 else -x  # the last node of a step

    solver = SmoothDOP853(field, 0.0, np.ones(1), 1.0, first_step=0.1)
    solver.step()
    assert np.isfinite(solver.dense_output()(0.05)).all() and solver.t == 0.1
