"""iterate: exact powers, what is recorded, when it stops, and gradient descent close to its flow."""

import math
import time
from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.flows.integrate import integrate
from numerics.flows.trajectory import StopWhen
from numerics.maps.iterate import REPORT_EVERY, iterate
from odesys.errors import EquationError, IntegrationError, OdesysError, ParameterError
from odesys.expr.system import System

x, y, eta, t = sp.symbols("x y eta t")

LOSS = (x**2 + 10 * y**2) / 2
DESCENT = System.from_equations({s: s - eta * sp.diff(LOSS, s) for s in (x, y)}, [eta], "map", {"loss": LOSS})
HALVING = System.from_equations({x: x / 2}, kind="map")


def test_gradient_descent_on_a_quadratic_is_a_power() -> None:
    run = iterate(DESCENT, {"x": 1, "y": -2}, 50, {"eta": 0.15})
    steps = np.arange(51)
    assert np.array_equal(run.times, steps)
    assert np.allclose(run.state("x"), 0.85**steps, rtol=1e-12, atol=0)
    assert np.allclose(run.state("y"), -2 * (-0.5) ** steps, rtol=1e-12, atol=0)
    assert np.allclose(run.observable("loss"), (run.state("x") ** 2 + 10 * run.state("y") ** 2) / 2, rtol=1e-13)
    assert (run.cost.field_evaluations, run.cost.steps, run.stop) == (50, 50, "end")


def test_small_steps_follow_the_flow_to_first_order() -> None:
    flow = System.from_equations({s: -sp.diff(LOSS, s) for s in (x, y)})
    end = integrate(flow, [1, -2], (0, 1), rtol=1e-11).end_state
    gaps = [np.abs(iterate(DESCENT, [1, -2], n, {"eta": 1 / n}).end_state - end).max() for n in (400, 800)]
    assert 0 < gaps[1] < gaps[0] < 1e-3 and gaps[0] / gaps[1] == pytest.approx(2, abs=0.05)


def test_the_step_number_is_the_time_of_the_map() -> None:
    run = iterate(System.from_equations({x: x + t}, kind="map"), [0], 4)  # 0 + 0 + 1 + 2 + 3
    assert run.end_state[0] == 6


def test_gates_follow_the_state() -> None:
    run = iterate(System.from_equations({x: sp.Abs(x) - 1}, kind="map"), [2.5], 5)
    assert run.state("x").tolist() == [2.5, 1.5, 0.5, -0.5, -0.5, -0.5]


# ---- what is recorded ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (1, [0, 1, 2, 3, 4, 5]),
        (2, [0, 2, 4, 5]),
        (np.int64(5), [0, 5]),
        (9, [0, 5]),
        ([1, 4], [1, 4]),
        ([], []),
        (range(0, 6, 3), [0, 3]),
    ],
)
def test_recorded_steps(every: Any, expected: list[int]) -> None:
    run = iterate(HALVING, [1], 5, record_every=every)
    assert run.times.tolist() == expected and run.states.shape == (len(expected), 1)
    assert run.state("x").tolist() == [0.5**n for n in expected]
    assert run.end_time == 5 and run.final["x"] == 1 / 32


def test_no_step_at_all() -> None:
    run = iterate(HALVING, [1], 0)
    assert run.times.tolist() == [0] and run.end_state == [1] and run.cost.field_evaluations == 0


# ---- when it stops -------------------------------------------------------------------------------------------------


def test_stop_by_a_function() -> None:
    run = iterate(HALVING, [1], 100, record_every=10, stop=lambda step, state: state[0] < 1e-3)
    assert run.stop == "event:stop" and run.end_time == 10 and run.end_state[0] == 2**-10


@pytest.mark.parametrize("expression", ["loss", LOSS, lambda step, state: (state[0] ** 2 + 10 * state[1] ** 2) / 2])
def test_stop_by_an_event(expression: Any) -> None:
    run = iterate(DESCENT, [1, 0], 100, {"eta": 0.5}, stop=StopWhen("fitted", expression, -1, level=1e-3))
    first = next(n for n in range(100) if 0.25**n / 2 <= 1e-3)
    assert run.stop == "event:fitted" and run.end_time == first
    assert [(e.name, e.kind, e.time) for e in run.events] == [("fitted", "user", first)]
    assert run.cost.steps == first


def test_passages_that_do_not_stop_are_recorded() -> None:
    turn = System.from_equations({x: -x}, kind="map")
    assert iterate(turn, [1], 4, stop=StopWhen("both", "x", terminal=False)).times_of("user") == [1, 2, 3, 4]
    run = iterate(turn, [1], 4, stop=StopWhen("up", "x", 1, terminal=False))
    assert run.times_of("user") == [2, 4] and run.stop == "end"


def test_progress_is_reported() -> None:
    seen: list[float] = []
    iterate(HALVING, [1], 2 * REPORT_EVERY, record_every=[], progress=lambda label, done: seen.append(done))
    assert seen == [0.5, 1.0]


# ---- what goes wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("power", [2, 3])
def test_overflow_names_the_step(power: int) -> None:
    with pytest.raises(IntegrationError, match=r"step \d+ makes x") as caught:
        iterate(System.from_equations({x: x**power}, kind="map"), [10], 100)
    assert caught.value.time == math.ceil(math.log(308.25, power)) - 1  # 10^(power^n) beyond 1.8e308


@pytest.mark.parametrize(
    ("error", "text", "change"),
    [
        (EquationError, "is a flow", {"system": System.from_equations({x: eta * x}, [eta])}),
        (ParameterError, "must be finite", {"x0": [math.nan]}),
        (EquationError, "2 entries", {"x0": [1, 2]}),
        (ParameterError, "eta has no value", {"parameters": None}),
        (ParameterError, "must be finite", {"parameters": {"eta": math.nan}}),
        (ParameterError, "can not be negative", {"steps": -1}),
        (ParameterError, "whole number", {"steps": 2.5}),
        (ParameterError, "at least 1", {"record_every": 0}),
        (ParameterError, "whole number", {"record_every": 0.5}),
        (ParameterError, "step 9 can not be recorded", {"record_every": [0, 9]}),
        (EquationError, "event e uses z", {"stop": StopWhen("e", "z")}),
    ],
)
def test_bad_input_gets_a_sentence(error: type[OdesysError], text: str, change: dict[str, Any]) -> None:
    system = System.from_equations({x: eta * x}, [eta], "map")
    good: dict[str, Any] = {"system": system, "x0": [1], "steps": 3, "parameters": {"eta": 2}}
    assert iterate(**good).end_state == [8]
    with pytest.raises(error, match=text) as caught:
        iterate(**{**good, **change})
    assert "\n" not in str(caught.value)


def test_the_seconds_of_a_run_are_those_that_passed() -> None:
    began = time.perf_counter()
    cost = iterate(HALVING, [1], 500).cost
    assert 0 < cost.seconds <= time.perf_counter() - began


def test_passages_are_what_a_plain_walk_along_signs_finds() -> None:
    """Values on either side of a level and upon it: a passage needs a side that was left and is lost."""
    rng = np.random.default_rng(2)
    for _ in range(40):
        values = rng.integers(-1, 2, 9).astype(float)
        start = float(rng.integers(-1, 2))
        for way in (-1, 0, 1):
            side, wanted = np.sign(start), []
            for step, value in enumerate(values, 1):
                if side != 0 and side * value <= 0:
                    if way in (0, -side):
                        wanted.append((step, -side))
                    side = np.sign(value)
                elif side == 0:
                    side = np.sign(value)
            path = np.append(start, values) + 2
            read = lambda step, state, path=path: path[int(step)]  # noqa: E731
            run = iterate(HALVING, [1], 9, stop=StopWhen("level", read, way, terminal=False, level=2.0))
            assert [(e.time, e.detail["direction"]) for e in run.events] == wanted and run.stop == "end"
            assert all(e.detail["terminal"] is False and (e.name, e.kind) == ("level", "user") for e in run.events)
            first = iterate(HALVING, [1], 9, stop=StopWhen("level", read, way, level=2.0))
            assert first.end_time == (wanted[0][0] if wanted else 9) and len(first.events) == min(len(wanted), 1)
            assert first.stop == ("event:level" if wanted else "end") and first.times[-1] == first.end_time


def test_a_stop_is_asked_after_each_step_with_its_number_and_state() -> None:
    seen: list[tuple[int, float]] = []

    def stop(number: int, state: np.ndarray) -> bool:
        seen.append((number, float(state[0])))
        return number == 3

    run = iterate(HALVING, [8], 9, stop=stop, record_every=2)
    assert seen == [(1, 4.0), (2, 2.0), (3, 1.0)] and run.stop == "event:stop"
    assert run.times.tolist() == [0, 2, 3] and run.state("x").tolist() == [8, 2, 1] and run.events == ()
    listed = iterate(HALVING, [8], 9, stop=lambda number, state: number == 3, record_every=[2, 7])
    assert listed.times.tolist() == [2] and listed.end_time == 3 and listed.end_state == [1.0]


def test_progress_is_told_every_so_many_steps_and_at_the_end() -> None:
    seen: list[tuple[str, float]] = []
    more = REPORT_EVERY + 500
    iterate(HALVING, [1], more, record_every=[], progress=lambda *told: seen.append(told), label="half")
    assert seen == [("half", REPORT_EVERY / more), ("half", 1.0)]


@pytest.mark.parametrize("numbers", [[0, 3], [3], [0], [3, 3, 0]])
def test_the_ends_of_a_run_may_be_recorded(numbers: list[int]) -> None:
    run = iterate(HALVING, [1], 3, record_every=numbers)
    assert run.times.tolist() == sorted(set(numbers))
    for outside in (-1, 4):
        with pytest.raises(ParameterError, match=f"^step {outside} can not be recorded: the steps are 0 to 3$"):
            iterate(HALVING, [1], 3, record_every=[*numbers, outside])


def test_a_step_that_overflows_is_told_with_the_state_before_it() -> None:
    system = System.from_equations({x: x + 1, y: y**2}, kind="map")
    with pytest.raises(IntegrationError, match=r"^step 2 makes y = inf; a smaller step size may help$") as caught:
        iterate(system, [0, 1e90], 5)
    assert caught.value.time == 1 and caught.value.state.tolist() == [1.0, pytest.approx(1e180)]
    assert iterate(System.from_equations({x: x}, kind="map"), [1], 4, record_every=1).times.tolist() == [0, 1, 2, 3, 4]
    for wrong in (-1, -5):
        with pytest.raises(ParameterError, match=f"^the number of steps is {wrong}; it can not be negative$"):
            iterate(HALVING, [1], wrong)
