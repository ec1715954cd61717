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
FROM = np.linalg.inv(dense_output.FROM_SLOPES)
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


def test_rows_of_the_table_are_powers_of_the_part_and_of_the_rest() -> None:
    rows = dense_output.basis()
    for s in (0.0, 0.2, 0.5, 1.0):
        exact = [s, s * (1 - s), s**2 * (1 - s), s**2 * (1 - s) ** 2, s**3 * (1 - s) ** 2, s**3 * (1 - s) ** 3]
        assert [float(row(s)) for row in rows[:6]] == pytest.approx(exact, abs=1e-15)
    assert len(rows) == dense_output.KNOWN + dense_output.FOUND == 7
    slopes = np.array([[row.deriv()(part) for row in rows] for part in dense_output.NODES])
    np.testing.assert_allclose(dense_output.ENDS, slopes[:, :3], atol=1e-14)
    np.testing.assert_allclose(dense_output.FROM_SLOPES @ slopes[:, 3:], np.eye(4), atol=1e-12)
    inner = [[row(part) for row in rows[3:]] for part in (0.3, 0.7)]
    np.testing.assert_allclose(dense_output.INSIDE, inner, atol=1e-15)


@pytest.mark.parametrize(("change", "size", "small", "trusted"), [
    (1.0, 100.0, True, True),
    (16.5, 2000.0, True, False),  # a quarter of it is more than four tolerances
    (15.5, 1000.0, True, True),
    (3.9, 100.0, False, True),
    (4.1, 100.0, False, False),
])  # fmt: skip
def test_which_changes_are_made_and_which_polynomials_are_trusted(
    change: float, size: float, small: bool, trusted: bool
) -> None:
    """Sizes in tolerances, at two places in a step, of one state: made if below a part of what they change."""
    solver = SmoothDOP853(lambda t, x: 0 * x, 0.0, np.ones(1), 1.0, rtol=1e-3, atol=1e-3, first_step=0.1)
    solver.t_old, solver.t, solver.y_old, solver.y = 2.0, 2.5, np.array([-3.0]), np.array([1.0])
    scale = 1e-3 + 3 * 1e-3
    row = np.linalg.lstsq(dense_output.INSIDE, np.full(2, scale), rcond=None)[0]  # one tolerance at both places
    wanted = size * row
    table = np.zeros((7, 1))
    table[3:, 0] = wanted - change * row
    before = table.copy()
    slopes = {t: value / 0.5 for t, value in zip(2 + 0.5 * dense_output.NODES, FROM @ wanted, strict=True)}
    solver._between = lambda t: np.array([7.0])
    solver.fun = lambda t, x: np.array([slopes[t]])  # type: ignore[method-assign]
    assert solver._refined(table) == trusted
    np.testing.assert_allclose(table[3:, 0], wanted if small else before[3:, 0], rtol=1e-9, atol=1e-10)
    assert not table[:3].any()


def test_a_step_is_halved_until_its_polynomial_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    for distrusted, length in ((0, 0.4), (1, 0.2), (2, 0.1), (3, 0.05), (9, 0.05)):
        answers: list[bool] = []

        def refined(self: SmoothDOP853, table: np.ndarray, answers: list[bool] = answers, n: int = distrusted) -> bool:
            answers.append(len(answers) >= n)
            return answers[-1]

        monkeypatch.setattr(SmoothDOP853, "_refined", refined)
        solver = SmoothDOP853(lambda t, x: -x, 1.0, np.ones(1), 5.0, first_step=0.4, rtol=1e-3)
        solver.step()
        assert solver.t == pytest.approx(1 + length) and solver.t_old == 1.0
        assert solver.y[0] == pytest.approx(np.exp(-length), rel=1e-6)
        assert len(answers) == min(distrusted, dense_output.SMOOTHINGS) + 1
        assert distrusted == 0 or solver.h_abs <= 4 * length + 1e-15
        assert solver.dense_output()(1 + length / 2)[0] == pytest.approx(np.exp(-length / 2), rel=1e-5)
