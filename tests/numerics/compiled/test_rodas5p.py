"""Implicit steps: the order of the method and of its polynomial, its linear algebra, and stiff runs against others."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import lu_factor, lu_solve

from numerics.compiled import rodas5p
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.dop853 import dense_value
from numerics.compiled.records import IMPLICIT, Problem, RunState, Step, new_step
from numerics.compiled.stretch import Stretch
from numerics.flows.trajectory import StopWhen
from odesys import System, integrate
from odesys.jit.loops import Array
from tests.machine_and_python import both

NONE = np.empty(0)
START = np.array([1.0, 0.5])
ROBERTSON = System.from_strings({"x": "-0.04*x + 1e4*y*z", "y": "0.04*x - 1e4*y*z - 3e7*y**2", "z": "3e7*y**2"})
OSCILLATOR = System.from_strings({"x": "y", "y": "mu*(1 - x**2)*y - x"}, ["mu"])


def pendulum(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    out[0], out[1] = x[1], -math.sin(x[0]) + 0.1 * math.cos(t)


def slopes(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    out[0], out[1], out[2], out[3] = 0.0, 1.0, -math.cos(x[0]), 0.0
    out[4], out[5] = 0.0, -0.1 * math.sin(t)


def exact(t: float) -> np.ndarray:
    def field(t: float, x: np.ndarray) -> np.ndarray:
        out = np.empty(2)
        pendulum(t, x, NONE, NONE, out)
        return out

    return solve_ivp(field, (0.0, t), START, "DOP853", rtol=1e-13, atol=1e-14).y[:, -1]


def one_step(h: float) -> tuple[Problem, RunState, Step]:
    """A step of the pendulum from its start."""
    problem = Problem(
        pendulum, slopes, pendulum, 2, 0, 0, NONE, NONE, NONE, NONE, NONE, 5.0, 1e-8, np.full(2, 1e-8), 1000, 10
    )
    state, step = RunState(0.0, 0.0, START.copy(), NONE, NONE, NONE), new_step(2, 0, IMPLICIT)
    step.h = h
    pendulum(0.0, START, NONE, NONE, step.K)
    slopes(0.0, START, NONE, NONE, step.J)
    assert rodas5p.stiff_stages(problem, state, step)
    return problem, state, step


def test_a_step_has_order_five_and_its_estimate_order_four() -> None:
    """Errors of one step fall like h^6, estimates like h^5; the field depends on time, so that its slope counts."""
    errors, sizes = [], []
    for h in (0.4, 0.2, 0.1):
        problem, state, step = one_step(h)
        errors.append(np.abs(step.new - exact(h)).max())
        sizes.append(rodas5p.stiff_error(problem, state, step))
    assert np.log2(errors[0] / errors[1]) > 5.2 and np.log2(errors[1] / errors[2]) > 5.5
    assert 4.2 < np.log2(sizes[0] / sizes[1]) < 5.8


def test_between_its_ends_a_step_has_order_four() -> None:
    errors, out = [], np.empty(2)
    for h in (0.4, 0.2, 0.1):
        _, _, step = one_step(h)
        rodas5p.stiff_table(2, START, step)
        for part, wanted in ((0.0, START), (1.0, step.new)):
            dense_value(2, step.F, START, part, out)
            np.testing.assert_allclose(out, wanted, rtol=1e-15)
        dense_value(2, step.F, START, 0.4, out)
        errors.append(np.abs(out - exact(0.4 * h)).max())
    assert np.log2(errors[0] / errors[1]) > 4.2 and np.log2(errors[1] / errors[2]) > 4.5


def test_between_the_ends_of_a_long_step_errors_are_of_the_size_of_that_at_its_end() -> None:
    """Each number of the polynomial counts: of those of its last order a wrong one leaves the order as it is."""
    _, _, step = one_step(0.4)
    rodas5p.stiff_table(2, START, step)
    at_end, out = np.abs(step.new - exact(0.4)).max(), np.empty(2)
    for part in np.linspace(0.1, 0.9, 9):
        dense_value(2, step.F, START, part, out)
        assert np.abs(out - exact(part * 0.4)).max() < 4 * at_end


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_linear_systems_are_solved_with_rows_exchanged(n: int) -> None:
    rng = np.random.default_rng(n)
    matrix, b = rng.normal(size=(n, n)), rng.normal(size=n)
    matrix[0, 0] = 0.0 if n > 1 else 2.0  # needs another row first
    W, pivots = matrix.ravel().copy(), np.zeros(n)
    assert rodas5p.factor(n, W, pivots)
    for _, (_, _, found) in both(rodas5p.solve, n, W, pivots, b):
        np.testing.assert_allclose(matrix @ found, b, atol=1e-10)


def test_a_singular_matrix_is_noticed() -> None:
    assert not rodas5p.factor(2, np.array([1.0, 2.0, 2.0, 4.0]), np.zeros(2))
    assert not rodas5p.factor(1, np.array([math.nan]), np.zeros(1))


@pytest.mark.parametrize("method", ["auto", "Rodas5P"])
def test_stiff_runs_agree_with_an_independent_solver(method: str) -> None:
    """The end after 4e6 units of time, by SciPy's Radau at a tighter tolerance."""
    run = integrate(ROBERTSON, [1.0, 0.0, 0.0], (0.0, 4e6), method=method, rtol=1e-8, atol=1e-12)
    other = integrate(ROBERTSON, [1.0, 0.0, 0.0], (0.0, 4e6), method="Radau", rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(run.end_state, other.end_state, rtol=1e-6)
    assert run.cost.steps < 1000 and run.cost.jacobian_evaluations > 100
    assert (run.stiff_from is None) == (method == "Rodas5P")


def test_a_run_that_turns_out_stiff_says_when() -> None:
    run = integrate(OSCILLATOR, [2.0, 0.0], (0.0, 2000.0), {"mu": 1000.0}, rtol=1e-7)
    assert run.stiff_from is not None and 0 < run.stiff_from < 1 and "stiff from" in repr(run)
    mild = integrate(OSCILLATOR, [2.0, 0.0], (0.0, 20.0), {"mu": 1.0})
    assert mild.stiff_from is None and mild.cost.jacobian_evaluations == 0
    explicit = integrate(OSCILLATOR, [2.0, 0.0], (0.0, 20.0), {"mu": 1.0}, method="DOP853")
    assert np.array_equal(mild.states, explicit.states)


def test_switches_and_events_are_met_by_implicit_steps() -> None:
    """x' = -1000 (x - cos t) falls through levels at the times at which its slow solution does; then a gate turns."""
    system = System.from_strings({"x": "-1000*(x - cos(t))", "y": "Heaviside(x - 1/2)"})
    events = [StopWhen("half", "x", level=0.5, direction=-1, terminal=False)]
    run = integrate(system, [1.0, 0.0], (0.0, 3.0), method="Rodas5P", events=events, rtol=1e-9)
    found = [event.time for event in run.events]
    slow = math.pi / 3 + math.atan(1 / 1000)  # cos(t - delta)/sqrt(1 + 1e-6) at 1/2, up to 1e-6
    assert len(found) == 2 and found == pytest.approx([slow, slow], abs=1e-6)
    assert run.final["y"] == pytest.approx(found[0], abs=1e-8)


def test_a_batch_by_implicit_steps_is_that_of_single_runs() -> None:
    values = [{"mu": mu} for mu in (50.0, 200.0, 1000.0)]
    ends = CompiledFlow(OSCILLATOR).batch([2.0, 0.0], (0.0, 100.0), values, rtol=1e-8, method="Rodas5P")
    left = CompiledFlow(OSCILLATOR).batch([2.0, 0.0], (0.0, 100.0), values, rtol=1e-8)
    for end, other, given in zip(ends, left, values, strict=True):
        single = integrate(OSCILLATOR, [2.0, 0.0], (0.0, 100.0), given, rtol=1e-8, method="Rodas5P")
        assert np.array_equal(end, single.end_state)
        np.testing.assert_allclose(other, end, rtol=1e-5)


@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9, 1e-11])
def test_a_decay_onto_a_slow_curve_is_called_stiff_at_every_tolerance(rtol: float) -> None:
    """x' = -10^4 (x - cos t): at tight tolerances explicit steps are held back below the reach of stability."""
    drawn = System.from_strings({"x": "-10000*(x - cos(t))"})
    run = integrate(drawn, [0.0], (0.0, 10.0), rtol=rtol)
    assert run.stiff_from is not None and run.stiff_from < 0.1 and run.cost.steps < 2000
    assert "stiff from" in repr(run)
    k, t = 1e4, run.end_time  # the solution is k (k cos t + sin t) / (1 + k^2) once the start is forgotten
    assert abs(run.end_state[0] - k * (k * math.cos(t) + math.sin(t)) / (1 + k * k)) < 100 * rtol


def test_prothero_and_robinson_s_equation_is_called_stiff() -> None:
    run = integrate(System.from_strings({"x": "-1000000*(x - sin(t)) + cos(t)"}), [0.0], (0.0, 3.0))
    assert run.stiff_from is not None and run.stiff_from < 0.01
    assert abs(run.end_state[0] - math.sin(3.0)) < 1e-7


def test_where_implicit_steps_are_not_longer_the_run_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decay onto a curve that is fast too: explicit steps look held back, implicit ones are tried and not longer."""
    waves, asked = System.from_strings({"x": "-80*(x - cos(10*t))"}), list[bool]()
    pays = Stretch._implicit_pays
    monkeypatch.setattr(Stretch, "_implicit_pays", lambda self: asked.append(pays(self)) or asked[-1])
    run = integrate(waves, [1.0], (0.0, 100.0), rtol=1e-6)
    assert asked and not any(asked) and run.stiff_from is None
    explicit = integrate(waves, [1.0], (0.0, 100.0), method="DOP853", rtol=1e-6)
    assert np.array_equal(run.times, explicit.times) and np.array_equal(run.states, explicit.states)


def test_an_oscillator_is_never_suspected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stretch, "_implicit_pays", lambda self: pytest.fail("an oscillation is no decay"))
    for rtol in (1e-3, 1e-6, 1e-9):
        assert (
            integrate(System.from_strings({"x": "y", "y": "-x"}), [1.0, 0.0], (0.0, 2000.0), rtol=rtol).stiff_from
            is None
        )


def test_stiff_runs_of_a_batch_are_those_of_integrate() -> None:
    flow = CompiledFlow(System.from_strings({"x": "-k*(x - cos(t))"}))
    points = [{"k": k} for k in (1e4, 1.0, 3e4)]
    found = flow.batch([0.0], (0.0, 10.0), points)
    runs = [flow.run([0.0], (0.0, 10.0), point) for point in points]
    assert [run.stiff_from is not None for run in runs] == [True, False, True]
    np.testing.assert_array_equal(found[[0, 2], 0], [runs[0].end_state[0], runs[2].end_state[0]])


# ---- any step, against the formulas of the method --------------------------------------------------------------------


class Case:
    """An implicit step of length h of a field of three states and time, from a random start at a random time."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.t, self.x, self.h = float(self.rng.uniform(1.0, 2.0)), self.rng.normal(size=3), 0.3
        self.jacobian, self.rates = self.rng.normal(size=(3, 3)), self.rng.normal(size=3)
        self.atol, self.rtol = np.array([1e-3, 1e-4, 1e-2]), 1e-3
        self.problem = Problem(
            self.field, self.slopes, self.field, 3, 0, 0, NONE, NONE, NONE, NONE, NONE, self.t + 9.0, self.rtol,
            self.atol, 1000, 10,
        )  # fmt: skip
        self.state, self.step = RunState(self.t, 0.0, self.x.copy(), NONE, NONE, NONE), new_step(3, 0, IMPLICIT)
        self.step.h = self.h
        self.slopes(self.t, self.x, NONE, NONE, self.step.J)
        self.step.K[:3] = self.slope(self.t, self.x)
        self.calls: list[float] = []
        self.jacobians = 0

    def slope(self, t: float, x: np.ndarray) -> np.ndarray:
        return self.jacobian @ np.sin(x) + self.rates * t * t

    def field(self, t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        self.calls.append(t)
        out[:3] = self.slope(t, x)

    def slopes(self, t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        self.jacobians = getattr(self, "jacobians", 0) + 1
        out[:9] = (self.jacobian * np.cos(x)).ravel()
        out[9:12] = 2.0 * t * self.rates

    def stages(self) -> tuple[np.ndarray, np.ndarray]:
        """The stages and the new state by the formulas at the top of the module."""
        A, C = (table.reshape(8, 8) for table in (rodas5p.A, rodas5p.C))
        W = np.eye(3) / (rodas5p.GAMMA * self.h) - self.jacobian * np.cos(self.x)
        k = np.zeros((8, 3))
        for s in range(8):
            at = self.x + A[s, :s] @ k[:s]
            right = self.slope(self.t + rodas5p.TIMES[s] * self.h, at) + C[s, :s] @ k[:s] / self.h
            k[s] = np.linalg.solve(W, right + self.h * rodas5p.SLOPES[s] * 2.0 * self.t * self.rates)
        return k, at + k[7]


@pytest.mark.parametrize("seed", range(4))
def test_stages_solve_the_equations_of_the_method(seed: int) -> None:
    """Seven calls of the field, and one solution of linear equations for each stage; the last estimates the error."""
    case = Case(seed)
    assert rodas5p.stiff_stages(case.problem, case.state, case.step)
    stages, new = case.stages()
    np.testing.assert_allclose(case.step.K[3:27].reshape(8, 3), stages, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(case.step.new, new, rtol=1e-11)
    assert case.calls == pytest.approx([case.t + c * case.h for c in rodas5p.TIMES[1:]])
    assert (case.state.fields, case.state.visited) == (7, 7)
    case.step.new[:] = new * case.rng.choice([0.1, 3.0], 3)
    room = case.atol + np.maximum(np.abs(case.x), np.abs(case.step.new)) * case.rtol
    size = np.sqrt(np.mean((stages[7] / room) ** 2))
    assert rodas5p.stiff_error(case.problem, case.state, case.step) == pytest.approx(size, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_polynomial_of_a_step_is_that_of_its_tables(seed: int) -> None:
    """x0 (1 - s) + s (x1 + (1 - s) (r1 + s (r2 + s r3))) in the part s of the step, each r a combination of stages."""
    case, out = Case(seed), np.zeros(3)
    assert rodas5p.stiff_stages(case.problem, case.state, case.step)
    case.step.F[:] = 7.0  # of another step
    rodas5p.stiff_table(3, case.x, case.step)
    stages, new = case.stages()
    r1, r2, r3 = rodas5p.H.reshape(3, 8) @ stages
    for s in (0.0, 0.2, 0.5, 0.9, 1.0, 1.25):
        dense_value(3, case.step.F, case.x, s, out)
        wanted = (1 - s) * case.x + s * (new + (1 - s) * (r1 + s * (r2 + s * r3)))
        np.testing.assert_allclose(out, wanted, rtol=1e-9, atol=1e-11)


def test_factors_are_of_the_matrix_with_its_largest_rows_first() -> None:
    """Rows are exchanged whole, as LAPACK does it; what is below the diagonal is at most one."""
    for n in (1, 2, 3, 6):
        for seed in range(5):
            rng = np.random.default_rng(10 * n + seed)
            given = rng.normal(size=(n, n)) * (rng.random((n, n)) < 0.8) + np.eye(n) / 8
            W, pivots = given.ravel().copy(), np.full(n, 9.0)
            assert rodas5p.factor(n, W, pivots)
            wanted, rows = lu_factor(given)
            np.testing.assert_allclose(W.reshape(n, n), wanted, rtol=1e-9, atol=1e-12)
            assert pivots.tolist() == rows.tolist()
            b = rng.normal(size=n)
            found = b.copy()
            rodas5p.solve(n, W, pivots, found)
            np.testing.assert_allclose(found, lu_solve((wanted, rows), b), rtol=1e-9, atol=1e-12)


def test_of_rows_that_are_as_large_the_first_stays() -> None:
    W, pivots = np.array([2.0, 1.0, 2.0, 3.0]), np.zeros(2)
    assert rodas5p.factor(2, W, pivots)
    assert pivots.tolist() == [0.0, 1.0] and W.tolist() == [2.0, 1.0, 1.0, 2.0]
    for bad in (math.inf, math.nan, 0.0):
        assert not rodas5p.factor(1, np.array([bad]), np.zeros(1))
        assert not rodas5p.factor(2, np.array([1.0, 0.0, 0.0, bad]), np.zeros(2))


@pytest.mark.parametrize(
    ("errors", "factors", "growth"),
    [
        ([0.0], [], 6.0),
        ([1e-30], [], 6.0),
        ([0.5], [], 0.9 * 0.5**-0.2),
        ([1.0, 0.5], [0.9], 0.9 * 0.5**-0.2),
        ([2.0, 0.9999], [0.9 * 2.0**-0.2], 0.9 * 0.9999**-0.2),
        ([1e20, 3.0, 0.1], [0.2, 0.9 * 3.0**-0.2], 1.0),
        ([None, 0.0], [0.2], 1.0),
        ([math.inf, math.nan, 0.9], [0.2, 0.2], 0.9 * 0.9**-0.2),
    ],
)
def test_a_step_is_made_shorter_until_its_error_is_within_the_tolerance(
    errors: list[float | None], factors: list[float], growth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the fifth root of the error and a safety of 0.9; where its matrix is singular (None), by a fifth."""
    tried, left, case = list[float](), list(errors), Case(1)

    def made(problem: Problem, state: RunState, step: Step) -> bool:
        tried.append(step.h)
        return left[0] is not None or left.pop(0) is not None

    monkeypatch.setattr(rodas5p, "stiff_stages", made)
    monkeypatch.setattr(rodas5p, "stiff_error", lambda problem, state, step: left.pop(0))
    case.state.h, case.step.end, case.step.J[:], case.jacobians = 0.25, 0.5, 0.0, 0
    case.step.new[:] = [1.0, -2.0, 3.0]
    assert rodas5p.stiff_step(case.problem, case.state, case.step)
    wanted = list(0.25 * np.cumprod([1.0, *factors]))
    assert tried == pytest.approx(wanted, rel=1e-13) and not left
    last = growth if not factors else min(1.0, growth)
    assert case.state.h == pytest.approx(wanted[-1] * last, rel=1e-13)
    assert (case.step.t_new, case.step.end) == (case.t + tried[-1], 1.0)
    assert (case.jacobians, case.state.jacobians, case.state.fields, case.state.visited) == (1, 1, 1, 1)
    assert case.step.J[:9] == pytest.approx((case.jacobian * np.cos(case.x)).ravel())
    field_there = case.slope(case.step.t_new, case.step.new)
    assert case.calls == [case.step.t_new] and case.step.K[36:39] == pytest.approx(field_there)


def test_the_last_step_ends_at_the_end_and_none_is_below_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, error, case = list[float](), [0.5], Case(2)
    monkeypatch.setattr(rodas5p, "stiff_stages", lambda problem, state, step: not tried.append(step.h))
    monkeypatch.setattr(rodas5p, "stiff_error", lambda problem, state, step: error[0])
    least = 10 * math.ulp(case.t)
    for asked in (0.3, 0.1, 7.0):
        case.state.h, case.problem.t_end = asked, case.t + 0.1
        left = case.problem.t_end - case.t
        assert rodas5p.stiff_step(case.problem, case.state, case.step)
        assert tried[-1] == min(asked, left) and case.step.t_new == case.problem.t_end
    case.state.t, case.problem.t_end = -0.16, -0.02
    case.state.h = left = case.problem.t_end - case.state.t
    assert -0.16 + left != -0.02  # rounding
    assert rodas5p.stiff_step(case.problem, case.state, case.step) and case.step.t_new == -0.02
    case.state.t, case.state.h, case.problem.t_end = case.t, 0.0, case.t + 9.0
    assert rodas5p.stiff_step(case.problem, case.state, case.step) and tried[-1] == least
    error[0] = math.inf
    tried.clear()
    case.state.h = 0.5
    assert not rodas5p.stiff_step(case.problem, case.state, case.step)
    assert min(tried) >= least > 0.2 * min(tried) and len(tried) > 10
