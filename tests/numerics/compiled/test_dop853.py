"""Steps of order 8: run as Python they are those of SciPy's solver, stage by stage and between the ends."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import DOP853, solve_ivp
from scipy.integrate._ivp.common import select_initial_step

from numerics.compiled import dop853
from numerics.compiled.records import Problem, RunState, Step, new_step
from numerics.flows import dense_output
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


# ---- any step of any field, against SciPy ----------------------------------------------------------------------------


def driven(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """Three states of different sizes and rates, time, a parameter and a gate."""
    out[0] = p[0] * x[1] + math.cos(3.0 * t)
    out[1] = -math.sin(x[0]) + 0.3 * x[2] * t
    out[2] = 20.0 * g[0] * math.cos(x[0]) - 0.7 * x[2]


class Case:
    """A step of length h of `driven` from a random start at a random time, and SciPy's solver after it."""

    def __init__(self, seed: int, h: float | None = None, size: float = 1.0) -> None:
        self.rng = np.random.default_rng(seed)
        self.p, self.g = self.rng.uniform(0.5, 2.0, 1), self.rng.uniform(0.5, 2.0, 1)
        self.t, self.x = float(self.rng.uniform(0.5, 3.0)), self.rng.normal(size=3) * [size, 5 * size, 20 * size]
        self.h = float(self.rng.uniform(0.02, 1.0)) if h is None else h
        self.rtol, self.atol = 10.0 ** self.rng.uniform(-9, -3), 10.0 ** self.rng.uniform(-9, -3, 3)
        self.calls: list[float] = []
        self.problem = Problem(
            self.field, self.field, self.field, 3, 0, 0, self.p, NONE, NONE, NONE, NONE, self.t + 50.0, self.rtol,
            self.atol, 1000, 10,
        )  # fmt: skip
        self.state, self.step = RunState(self.t, 0.0, self.x.copy(), self.g, NONE, NONE), new_step(3, 0)
        self.step.h, self.step.t_new = self.h, self.t + self.h
        self.step.K[:3] = self.slope(self.t, self.x)

    def field(self, t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        self.calls.append(t)
        driven(t, x, p, g, out)

    def slope(self, t: float, x: np.ndarray) -> np.ndarray:
        out = np.empty(3)
        driven(t, x, self.p, self.g, out)
        return out

    def solver(self, **options: object) -> DOP853:
        """SciPy's after one step of this length, which is within any tolerance."""
        given = {"first_step": self.h, "rtol": 1e30, "atol": 1e30} | options
        found = DOP853(self.slope, self.t, self.x, self.problem.t_end, **given)
        found.step()
        return found


@pytest.mark.parametrize("seed", range(12))
def test_stages_error_and_first_polynomial_are_those_of_scipy(seed: int) -> None:
    case = Case(seed)
    solver = case.solver()
    assert solver.t - case.t == pytest.approx(case.h)
    dop853.stages(case.problem, case.state, case.step)
    np.testing.assert_allclose(case.step.K[: 13 * 3].reshape(13, 3), solver.K, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(case.step.new, solver.y, rtol=1e-12)
    assert (case.state.fields, case.state.visited, len(case.calls)) == (12, 12, 12)
    scale = case.atol + np.maximum(np.abs(case.x), np.abs(solver.y)) * case.rtol
    wanted = solver._estimate_error_norm(solver.K, case.h, scale)
    assert dop853.error_size(case.problem, case.state, case.step) == pytest.approx(wanted, rel=1e-6)
    table = solver.dense_output().F
    dop853.first_table(case.problem, case.state, case.step)
    np.testing.assert_allclose(case.step.F.reshape(7, 3), table, rtol=1e-7, atol=1e-10)
    assert (case.state.fields, case.state.visited, len(case.calls)) == (15, 15, 15)
    np.testing.assert_allclose(case.step.K[13 * 3 :].reshape(3, 3), solver.K_extended[13:], rtol=1e-11, atol=1e-13)


def test_an_error_is_measured_by_both_of_its_estimates() -> None:
    """Of random stages, as SciPy does, by the larger sizes of those at both ends; none of none."""
    solver = Case(0).solver()
    for seed in range(10):
        case = Case(seed)
        case.step.new[:] = case.x * case.rng.uniform(-3.0, 3.0, 3)
        scale = case.atol + np.maximum(np.abs(case.x), np.abs(case.step.new)) * case.rtol
        for K in (case.rng.normal(size=(13, 3)), np.eye(13)[:, [0, 5, 11]], np.ones((13, 1)) * np.eye(3)[1]):
            case.step.K[:39] = K.ravel()
            wanted = solver._estimate_error_norm(K, case.h, scale)
            found = dop853.error_size(case.problem, case.state, case.step)
            assert found == pytest.approx(wanted, rel=1e-6, abs=1e-9) and found >= 0.0
        case.step.K[:39] = 0.0
        assert dop853.error_size(case.problem, case.state, case.step) == 0.0


def test_where_one_estimate_of_an_error_vanishes_the_other_counts() -> None:
    case = Case(1)
    errors = np.array([dop853.E5, dop853.E3])
    for j, other in [(j, None) for j in range(13)] + [(0, 8), (5, 6), (8, 0), (9, 7)]:
        case.step.K[:39] = 0.0
        case.step.K[3 * j + 1] = 1.0
        if other is not None:  # so that what they give to one estimate is none
            case.step.K[3 * j + 1], case.step.K[3 * other + 1] = errors[1, other], -errors[1, j]
        scale = case.atol[1] + max(abs(case.x[1]), abs(case.step.new[1])) * case.rtol
        e5, e3 = errors @ case.step.K[1:39:3] / scale
        assert other is None or abs(e3) < 1e-9 < abs(e5)
        wanted = case.h * e5**2 / math.sqrt((e5**2 + 0.01 * e3**2) * 3) if e5 or e3 else 0.0
        assert dop853.error_size(case.problem, case.state, case.step) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("n", [1, 2, 5])
def test_rows_of_the_method_combine_stages(n: int) -> None:
    rng, out = np.random.default_rng(n), np.zeros(n)
    K, x = rng.normal(size=(6, n)), rng.normal(size=n)
    for count in range(7):
        row = rng.normal(size=6) * (rng.random(6) < 0.7)
        dop853.combine(n, K.ravel(), row, count, x, 0.3, out)
        assert out == pytest.approx(x + 0.3 * row[:count] @ K[:count], rel=1e-13, abs=1e-15)
    part = Case(n)
    values = part.rng.normal(size=3)
    wanted = np.sqrt(np.mean((values / (part.atol + np.abs(part.x) * part.rtol)) ** 2))
    assert dop853.size_of(part.problem, values, part.x) == pytest.approx(wanted, rel=1e-13)


@pytest.mark.skipif("t_bound" not in inspect.signature(select_initial_step).parameters, reason="SciPy before 1.14")
@pytest.mark.parametrize("size", [1.0, 1e-3, 1e-16])
@pytest.mark.parametrize("seed", range(4))
def test_the_first_step_is_that_of_scipy_at_any_time_and_size(seed: int, size: float) -> None:
    for rate in (1.0, 1e-3, 1e-14, 0.0, 1e5):
        for length in (50.0, 1e-2, 1e-5, 1e-8):
            case = Case(seed, size=size)
            case.problem.t_end = case.t + length

            def field(
                t: float, x: Array, p: Array, g: Array, out: Array, rate: float = rate, case: Case = case
            ) -> None:
                case.field(t, x, p, g, out)
                for i in range(3):
                    out[i] *= rate

            case.problem.field = field
            case.step.K[:3] *= rate
            wanted = DOP853(
                lambda t, x, rate=rate, case=case: rate * case.slope(t, x), case.t, case.x, case.problem.t_end,
                rtol=max(case.rtol, 3e-14), atol=case.atol,
            ).h_abs  # fmt: skip
            assert dop853.initial_step(case.problem, case.state, case.step) == pytest.approx(wanted, rel=1e-11)
            assert (case.state.fields, case.state.visited, len(case.calls)) == (1, 1, 1)


def test_without_time_left_there_is_no_first_step() -> None:
    case = Case(2)
    for end in (case.t, case.t - 1.0):
        case.problem.t_end = end
        assert dop853.initial_step(case.problem, case.state, case.step) == 0.0
        assert (case.state.fields, case.calls) == (0, [])


@pytest.mark.parametrize(
    ("errors", "factors", "growth"),
    [
        ([0.0], [], 10.0),
        ([1e-30], [], 10.0),
        ([0.5], [], 0.9 * 0.5**-0.125),
        ([0.999], [], 0.9 * 0.999**-0.125),
        ([1.0, 0.5], [0.9], 0.9 * 0.5**-0.125),
        ([2.0, 0.9999], [0.9 * 2.0**-0.125], 0.9 * 0.9999**-0.125),
        ([1e20, 3.0, 0.1], [0.2, 0.9 * 3.0**-0.125], 1.0),
        ([math.inf, 0.0], [0.2], 1.0),
        ([math.nan, math.inf, 0.9], [0.2, 0.2], 0.9 * 0.9**-0.125),
    ],
)
def test_a_step_is_made_shorter_until_its_error_is_within_the_tolerance(
    errors: list[float], factors: list[float], growth: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the eighth root of the error and a safety of 0.9, at most ten times longer; after a refusal not longer."""
    tried, left = list[float](), list(errors)
    monkeypatch.setattr(dop853, "stages", lambda problem, state, step: tried.append(step.h))
    monkeypatch.setattr(dop853, "error_size", lambda problem, state, step: left.pop(0))
    counted: list[int] = []
    monkeypatch.setattr(dop853, "count_held", lambda *given: counted.append(1))
    for switch in (0, 1):
        tried.clear()
        left[:] = errors
        case = Case(3)
        case.state.h, case.step.end, case.problem.may_switch = 0.25, 0.5, switch
        assert dop853.accepted_step(case.problem, case.state, case.step)
        wanted = list(0.25 * np.cumprod([1.0, *factors]))
        assert tried == pytest.approx(wanted, rel=1e-13) and not left
        last = growth if not factors else min(1.0, growth)
        assert case.state.h == pytest.approx(wanted[-1] * last, rel=1e-13)
        assert (case.step.t_new, case.step.end, len(counted)) == (case.t + tried[-1], 1.0, switch)


def test_the_last_step_ends_at_the_end_and_none_is_below_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    tried, error = list[float](), [0.5]
    monkeypatch.setattr(dop853, "stages", lambda problem, state, step: tried.append(step.h))
    monkeypatch.setattr(dop853, "error_size", lambda problem, state, step: error[0])
    case = Case(4)
    least = 10 * math.ulp(case.t)
    for asked in (0.3, 0.1, 7.0):
        case.state.h, case.problem.t_end = asked, case.t + 0.1
        left = case.problem.t_end - case.t
        assert dop853.accepted_step(case.problem, case.state, case.step)
        assert tried[-1] == min(asked, left) and case.step.t_new == (case.problem.t_end if asked > 0.09 else 0.0)
    case.state.t, case.problem.t_end = -0.16, -0.02
    case.state.h = left = case.problem.t_end - case.state.t
    assert -0.16 + left != -0.02  # rounding
    assert dop853.accepted_step(case.problem, case.state, case.step) and case.step.t_new == -0.02
    case.state.t, case.state.h, case.problem.t_end = case.t, 0.0, case.t + 9.0
    assert dop853.accepted_step(case.problem, case.state, case.step) and tried[-1] == least
    error[0] = math.inf
    tried.clear()
    case.state.h = 0.5
    assert not dop853.accepted_step(case.problem, case.state, case.step)
    assert min(tried) >= least > 0.2 * min(tried) and len(tried) > 10
    tried.clear()
    case.state.h = 0.0
    assert not dop853.accepted_step(case.problem, case.state, case.step) and tried == [least]


@pytest.mark.parametrize("seed", range(5))
def test_what_holds_a_step_back_is_measured_over_all_states(seed: int) -> None:
    """The difference of two fields over that of their states; against it where it decays by nearly all of itself."""
    counts = np.zeros(3, dtype=int)
    for k in range(60):
        case = Case(100 * seed + k)
        held, free, damped = (int(v) for v in case.rng.integers(0, 9, 3))
        case.state.held, case.state.free, case.state.damped = held, free, damped
        way = case.rng.normal(size=3)
        turned = case.rng.normal(size=3)
        turned -= way * (turned @ way) / (way @ way)
        turned *= np.linalg.norm(way) / np.linalg.norm(turned)
        angle = case.rng.uniform(-1.0, 1.0) if k % 3 else math.pi * case.rng.uniform(-1.0, 1.0)
        speed = case.rng.choice([0.9, 1.1]) * case.rng.choice([dop853.REACH, dop853.NEAR]) / case.h
        rate = -speed * (math.cos(angle) * way + math.sin(angle) * turned)
        case.step.new[:], case.step.work[:] = way + 4.0, 4.0
        case.step.K[33:36], case.step.K[36:39] = 3.0, 3.0 + rate
        dop853.count_held(case.problem, case.state, case.step)
        held_back = case.h * speed > dop853.REACH
        decays = math.cos(angle) > dop853.AGAINST and case.h * speed > dop853.NEAR
        assert case.state.damped == (damped + 1 if decays else 0)
        assert case.state.free == (0 if held_back else free + 1)
        rest = 0 if free + 1 == dop853.FREE else held
        assert case.state.held == (held + 1 if held_back else rest)
        counts += [held_back, decays, rest != held and not held_back]
    assert (counts > 0).all()


@pytest.mark.parametrize("seed", range(30))
def test_slopes_at_the_nodes_are_taken_where_the_reference_takes_them(seed: int) -> None:
    case = Case(seed)
    given = {"rtol": 10.0 ** (seed % 7 - 8), "atol": case.atol}
    solver = case.solver()
    dense = solver.dense_output()
    reference = SimpleNamespace(
        t=solver.t, t_old=case.t, y=solver.y, y_old=case.x, fun=case.slope, n=3, _between=dense, **given
    )
    wanted = SmoothDOP853._refined(reference, dense.F)  # type: ignore[arg-type]
    dop853.stages(case.problem, case.state, case.step)
    dop853.first_table(case.problem, case.state, case.step)
    case.problem.rtol, case.state.fields, case.state.visited = given["rtol"], 0, 0
    case.calls.clear()
    assert bool(dop853.refined(case.problem, case.state, case.step)) is wanted
    np.testing.assert_allclose(case.step.F.reshape(7, 3), dense.F, rtol=1e-6, atol=1e-9)
    assert case.calls == pytest.approx([case.t + part * case.h for part in dop853.NODES])
    assert case.state.fields == case.state.visited == 4


@np.errstate(all="ignore")
def test_where_the_field_is_not_finite_between_the_polynomial_stays() -> None:
    case = Case(6)
    dop853.stages(case.problem, case.state, case.step)
    dop853.first_table(case.problem, case.state, case.step)
    before = case.step.F.copy()
    for bad in (math.inf, math.nan):
        case.problem.field = lambda t, x, p, g, out, bad=bad: out.__setitem__(slice(3), [0.0, bad, 0.0])
        assert dop853.refined(case.problem, case.state, case.step)
        assert np.array_equal(case.step.F, before)


def test_rows_of_a_table_are_factors_of_its_basis() -> None:
    rng, out = np.random.default_rng(1), np.zeros(3)
    F, x = rng.normal(size=(7, 3)), rng.normal(size=3)
    for part in (-0.25, 0.0, 0.1, 0.6, 1.0, 1.25):
        dop853.dense_value(3, F.ravel(), x, part, out)
        wanted = x + sum(row(part) * values for row, values in zip(dense_output.basis(), F, strict=True))
        assert out == pytest.approx(wanted, rel=1e-13)
