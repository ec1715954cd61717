"""Steps by Taylor series: ends, states between, events and switches against other methods."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.compiled import taylor
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.dop853 import dense_value
from numerics.compiled.records import TAYLOR, Problem, RunState, Step, new_step
from numerics.flows.trajectory import StopWhen
from odesys import System, integrate
from odesys.errors import IntegrationError
from odesys.jit import llvm
from odesys.jit.loops import Array

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite is not installed")
KEPLER = System.from_strings({"x": "u", "y": "v", "u": "-x/(x**2 + y**2)**(3/2)", "v": "-y/(x**2 + y**2)**(3/2)"})
OVAL = [1.0, 0.0, 0.0, 1.2]


def test_a_planet_comes_back() -> None:
    """After one period, known in closed form, to 13 digits; a third of the steps of DOP853."""
    half_axis = 1 / (2 - 1.2**2)
    period = 2 * math.pi * half_axis**1.5
    run = integrate(KEPLER, OVAL, (0.0, period), method="Taylor", rtol=1e-14 * 3, atol=1e-16)
    assert run.end_state == pytest.approx(OVAL, abs=5e-13)
    other = integrate(KEPLER, OVAL, (0.0, period), method="DOP853", rtol=1e-14 * 3, atol=1e-16)
    assert run.cost.steps < 0.4 * other.cost.steps


@pytest.mark.parametrize("rtol", [1e-5, 1e-9, 1e-12])
def test_the_error_is_of_the_size_asked_for_also_between_steps(rtol: float) -> None:
    swing = System.from_strings({"x": "y", "y": "-x"})
    run = integrate(swing, [1.0, 0.0], (0.0, 20.0), method="Taylor", rtol=rtol, atol=rtol)
    times = np.linspace(0, 20, 1001)
    assert np.abs(run.solution(times)[0] - np.cos(times)).max() < 40 * rtol
    assert np.abs(run.solution(times)[0] - np.cos(times)).max() > 1e-6 * rtol  # it was not a tighter tolerance


def test_the_order_follows_the_tolerance_and_the_size() -> None:
    assert [taylor.order_for(rtol, 10**6) for rtol in (1e-3, 1e-9, 1e-14)] == [8, 12, 18]
    assert [taylor.order_for(rtol, 10) for rtol in (1e-3, 1e-9, 1e-14)] == [12, 16, 22]
    between = [taylor.order_for(1e-9, nodes) for nodes in range(1, 200)]
    assert between == sorted(between, reverse=True) and {*between} == {12, 13, 14, 15, 16}
    assert all(order == 12 or nodes * order**2 <= taylor.SHORT for nodes, order in enumerate(between, start=1))


def test_events_and_switches() -> None:
    bounce = System.from_strings({"x": "v", "v": "-1 - 20*Heaviside(-x)*x"})
    events = [StopWhen("top", "v", direction=-1, terminal=False)]
    options = {"rtol": 1e-11, "events": events}
    ours = integrate(bounce, [1.0, 0.0], (0.0, 12.0), method="Taylor", **options)
    theirs = integrate(bounce, [1.0, 0.0], (0.0, 12.0), method="DOP853", backend="reference", **options)
    assert [e.name for e in ours.events] == [e.name for e in theirs.events] and len(ours.events) > 5
    assert [e.time for e in ours.events] == pytest.approx([e.time for e in theirs.events], abs=1e-8)
    np.testing.assert_allclose(ours.end_state, theirs.end_state, atol=1e-8)


def test_fast_events_are_not_jumped_over() -> None:
    """A long step, of which x = t is known exactly, hides many zeros of sin(50 x)."""
    line = System.from_strings({"x": "1"})
    run = integrate(line, [0.01], (0.0, 3.0), method="Taylor", events=[StopWhen("zero", "sin(50*x)", terminal=False)])
    assert len(run.events) == math.floor(50 * 3.01 / math.pi)


def test_a_blow_up_is_an_error() -> None:
    with pytest.raises(IntegrationError):
        integrate(System.from_strings({"x": "x**2"}), [1.0], (0.0, 2.0), method="Taylor")


def test_a_batch_is_made_of_single_runs() -> None:
    flow, starts = CompiledFlow(KEPLER), [OVAL, [1.0, 0.0, 0.0, 0.9]]
    ends = flow.batch(starts, (0.0, 10.0), [{}, {}], method="Taylor", rtol=1e-11)
    for start, end in zip(starts, ends, strict=True):
        single = integrate(KEPLER, start, (0.0, 10.0), method="Taylor", rtol=1e-11).end_state
        np.testing.assert_allclose(end, single, rtol=0, atol=100 * 1e-11)  # in lanes, which round otherwise


@pytest.mark.parametrize("power", [3, 4, 5, 7])
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-9, 1e-10])
def test_a_series_with_gaps_is_not_taken_for_its_end(power: int, rtol: float) -> None:
    """That of exp(-t^k) at 0 has every k-th term, so the last two of an order may vanish; one step led to the end."""
    gaps = System.from_strings({"x": f"-{power}*t**{power - 1}*x"})
    for start, end in ((0.0, 1.5), (-1.0, 1.2)):
        exact = math.exp(start**power - end**power)
        run = integrate(gaps, [1.0], (start, end), method="Taylor", rtol=rtol, atol=rtol)
        assert run.final["x"] == pytest.approx(exact, abs=100 * rtol)


def test_a_series_whose_terms_all_vanish_at_the_start_is_followed() -> None:
    late = System.from_strings({"x": "1 + 0*x", "y": "9*x**8", "z": "x*y**2"})
    run = integrate(late, [0.0, 0.0, 0.0], (0.0, 2.0), method="Taylor")
    assert run.final["z"] == pytest.approx(2**20 / 20, rel=1e-8)
    gate = System.from_strings({"x": "1 + 0*x", "y": "Heaviside(x - 1)*y*(-5*(x - 1)**4)"})
    run = integrate(gate, [0.0, 1.0], (0.0, 2.5), method="Taylor", rtol=1e-6, atol=1e-6)
    assert run.final["y"] == pytest.approx(math.exp(-(1.5**5)), abs=1e-4)


def explosion(order: int, end: float = 9.0, rtol: float = 1e-9) -> tuple[Problem, Step]:
    """x' = x^2, whose coefficients from x are x^(k + 1): a pole at 1/x."""

    def field(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[0] = x[0] * x[0]

    def coefficients(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        for k in range(1, order + 1):
            out[k - 1] = x[0] ** (k + 1)

    one = np.ones(1)
    problem = Problem(
        field, coefficients, field, 1, 0, 0, one, one, one, one, np.ones(3), end, rtol, np.array([1e-12]), 9, 9,
        order=order, rows=order,
    )  # fmt: skip
    return problem, new_step(1, 0, TAYLOR, order)


def begun(t: float, x: float, h: float = math.inf) -> RunState:
    none = np.empty(0)
    return RunState(t, h, np.array([x]), none, none, none)


@pytest.mark.parametrize("x", [0.25, 1.0, 30.0])
@pytest.mark.parametrize("order", [12, 17])
def test_a_step_is_as_long_as_its_last_terms_allow(order: int, x: float) -> None:
    """Terms x (h x)^k in units of the tolerance: the last two, one of them just, are a power of SAFETY."""
    problem, step = explosion(order)
    state = begun(0.0, x)
    assert taylor.taylor_step(problem, state, step)
    unit = 1e-12 + 1e-9 * x
    last = [(x * (step.h * x) ** k / unit) ** (1 / k) for k in (order - 1, order)]
    assert max(last) == pytest.approx(taylor.SAFETY) and state.h == math.inf
    assert (step.t_new, step.end, state.fields, state.visited) == (step.h, 1.0, 2, 1)  # a first step is compared
    assert step.new[0] == pytest.approx(x / (1 - step.h * x), rel=1e-7)
    taylor.taylor_table(problem, step)
    out = np.zeros(1)
    for part in (0.0, 0.3, 1.0):
        taylor.state_at(problem, step, state.x, part, out)
        assert out[0] == pytest.approx(x / (1 - part * step.h * x), rel=1e-7)


def test_a_step_ends_where_the_run_does_or_sooner_if_asked() -> None:
    problem, step = explosion(12)
    free = begun(0.0, 1.0)
    assert taylor.taylor_step(problem, free, step)
    longest = step.h
    for asked, end, h in ((longest / 4, 9.0, longest / 4), (math.inf, longest / 3, longest / 3), (9.0, 9.0, longest)):
        problem.t_end = end
        assert taylor.taylor_step(problem, begun(0.0, 1.0, asked), step)
        assert step.h == h and step.t_new == h
    late = 1e6 / 7
    problem.t_end = late + longest / 2  # not t + h, which may be rounded
    assert taylor.taylor_step(problem, begun(late, 1.0), step) and step.t_new == problem.t_end


@np.errstate(all="ignore")
def test_a_step_below_rounding_or_to_no_number_is_not_made() -> None:
    problem, step = explosion(12, end=2.0)
    assert not taylor.taylor_step(problem, begun(1.0, 1e16), step)  # the pole is nearer than the next times
    problem.t_end = math.nextafter(1.0, 2.0)
    assert taylor.taylor_step(problem, begun(1.0, 1.0), step) and step.t_new == problem.t_end  # all that is left
    problem.t_end = 2.0
    for bad in (math.nan, math.inf, 1e200):
        assert not taylor.taylor_step(problem, begun(1.0, bad), step)
    flat, room = explosion(12, rtol=1.0)
    flat.slopes = lambda t, x, p, g, out: out.__setitem__(slice(12), [1e308, *[0.0] * 11])
    assert not taylor.taylor_step(flat, begun(1.0, 1.0, 4.0), room)  # its ends are infinite, though no term is large


def test_on_another_branch_the_slope_is_not_the_field() -> None:
    """x' = |x| from -1 is -e^-t, whose series goes on where the field of another formula holds."""
    problem, step = explosion(12)
    problem.branches = 1
    assert taylor.taylor_step(problem, begun(0.0, 1.0), step)
    smooth, length = problem.field, step.h
    for gap, kept in ((0.5, True), (2.0, False), (-2.0, False), (math.nan, False)):
        tolerance = 1e-12 + 1e-9 / (1 - length)
        off = gap * taylor.LEAP * tolerance / length

        def field(t: float, x: Array, p: Array, g: Array, out: Array, off: float = off) -> None:
            smooth(t, x, p, g, out)
            out[0] += off

        problem.field = field
        state = begun(0.0, 1.0)
        assert taylor.taylor_step(problem, state, step) is kept and state.fields == 2
    problem.branches = 0
    assert taylor.taylor_step(problem, begun(0.0, 1.0), step)


@pytest.mark.parametrize("order", [1, 2, 7])
def test_a_series_is_a_polynomial_in_each_state(order: int) -> None:
    """Of any numbers; at an order of 0 the state between is that of the dense output of DOP853."""
    rng, n, out = np.random.default_rng(order), 3, np.zeros(3)
    table, x = rng.normal(size=(7, n)), rng.normal(size=n)
    given = table.ravel().copy()
    taylor.power_series(n, order, table.ravel(), x, 0.7, out)
    wanted = [np.polyval([*table[:order, i][::-1], x[i]], 0.7) for i in range(n)]
    assert out == pytest.approx(wanted, rel=1e-14)
    problem, step = explosion(order)
    problem.n, step.F = n, given
    taylor.state_at(problem, step, x, 0.7, out)
    assert out == pytest.approx(wanted, rel=1e-14)
    problem.order = 0
    taylor.state_at(problem, step, x, 0.7, out)
    dense_value(n, step.F, x, 0.7, x_dense := np.zeros(n))
    assert out.tolist() == x_dense.tolist() != wanted
    step.K, step.h, problem.order = table.ravel(), 0.5, order
    taylor.taylor_table(problem, step)
    assert step.F[: order * n].reshape(-1, n) == pytest.approx(table[:order] * 0.5 ** np.arange(1, order + 1)[:, None])


def test_the_last_step_ends_at_the_end_of_the_run_itself() -> None:
    problem, step = explosion(12, end=-0.02)
    left = problem.t_end + 0.16
    assert -0.16 + left != problem.t_end  # rounding
    for asked in (math.inf, left):
        assert taylor.taylor_step(problem, begun(-0.16, 0.25, asked), step) and step.t_new == problem.t_end
    problem.t_end = math.nextafter(1.0, 2.0)
    assert taylor.taylor_step(problem, begun(1.0, 1.0, problem.t_end - 1.0), step) and step.t_new == problem.t_end


@pytest.mark.parametrize("order", [1, 2, 5])
def test_the_slope_of_a_series_at_its_end_is_compared_state_by_state(order: int) -> None:
    """Within LEAP tolerances of the state there over the step, whatever the size of each state."""
    rng, n = np.random.default_rng(order), 3
    table, new, h = rng.normal(size=(7, n)), np.array([0.02, -50.0, 1.0]), 0.7
    slope = sum(k * table[k - 1] * h ** (k - 1) for k in range(1, order + 1))
    problem, step = explosion(order, rtol=1e-3)
    problem.n, problem.atol = n, np.array([1e-4, 1e-5, 1e-3])
    step.K, step.h, step.new, step.work = table.ravel(), h, new, np.zeros(n)
    for i in range(n):
        room = taylor.LEAP * (problem.atol[i] + 1e-3 * abs(new[i])) / h
        for part, kept in ((0.0, True), (0.99, True), (-0.99, True), (1.01, False), (-1.01, False)):
            there = slope + part * room * (np.arange(n) == i)
            problem.field = lambda t, x, p, g, out, there=there: out.__setitem__(slice(n), there)
            assert taylor.on_branch(problem, begun(0.0, 1.0), step, taylor.LEAP) is kept
