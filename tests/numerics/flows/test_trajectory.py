"""Trajectory: dense output, columns by name, observables, files that are whole or absent, runs joined."""

import csv
import math
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.integrate
import sympy as sp

from numerics.flows.integrate import integrate
from numerics.flows.trajectory import (
    Cost,
    Event,
    StagedTrajectory,
    StopWhen,
    Trajectory,
    join_trajectories,
    write_atomic,
)
from numerics.maps.iterate import iterate
from odesys import gradient_flow
from odesys.errors import EquationError, OdesysError, OutputError, ParameterError
from odesys.expr.system import System
from tests import toy_models
from tests.report_pages import Reader

x, v, k, t = sp.symbols("x v k t")
OSCILLATOR = System.from_equations({x: v, v: -k * x}, parameters=[k], observables={"energy": (v**2 + k * x**2) / 2})
BOUNCE = System.from_equations({x: 2 - sp.Heaviside(x - 1)})


@pytest.fixture
def run() -> Trajectory:
    return integrate(OSCILLATOR, [1, 0], (0, 3), {"k": 4}, rtol=1e-11)


# ---- reading a run -------------------------------------------------------------------------------------------------


def test_dense_output_is_as_good_as_the_steps(run: Trajectory) -> None:
    times = np.linspace(0, 3, 200)
    exact = np.stack([np.cos(2 * times), -2 * np.sin(2 * times)], axis=1)
    assert np.abs(run.at(times) - exact).max() < 1e-8
    assert np.allclose(run.at(run.times), run.states, atol=1e-13, rtol=0)


def test_dense_output_takes_one_time_or_several_in_any_order(run: Trajectory) -> None:
    assert run.at(1.0).shape == (2,) and run.at([1.0]).shape == (1, 2) and run.at([]).shape == (0, 2)
    assert np.array_equal(run.at([2.0, 1.0]), [run.at(2.0), run.at(1.0)])


def test_dense_output_has_its_corner_at_the_switch() -> None:
    bounce = integrate(BOUNCE, [0], (0, 2))
    times = np.array([0.25, 0.5 - 1e-9, 0.5 + 1e-9, 1.5])
    exact = np.where(times < 0.5, 2 * times, times + 0.5)
    assert np.allclose(bounce.at(times)[:, 0], exact, atol=1e-12, rtol=0)


@pytest.mark.parametrize("time", [-0.1, 3.1, math.nan, [1, 4]])
def test_times_outside_of_the_run_are_refused(run: Trajectory, time: Any) -> None:
    with pytest.raises(ParameterError, match="outside of the run"):
        run.at(time)


def test_columns_and_final_values_by_name(run: Trajectory) -> None:
    assert np.array_equal(run.state("v"), run.states[:, 1])
    assert run.final["x"] == run.end_state[0] == run.states[-1, 0]
    assert run.final["energy"] == pytest.approx(2, abs=1e-9) and list(run.final) == ["energy", "x", "v"]
    with pytest.raises(EquationError, match="'z' is not a state; the states are x, v"):
        run.state("z")


def test_observables_along_the_run(run: Trajectory) -> None:
    energy = run.observable("energy")
    assert energy.shape == run.times.shape
    assert np.allclose(energy, (run.state("v") ** 2 + 4 * run.state("x") ** 2) / 2, rtol=1e-14)
    other = System.from_equations({x: 0, v: 0}, observables={"sum": x + v})
    assert np.allclose(run.observable("sum", other), run.states.sum(axis=1), rtol=1e-14)
    with pytest.raises(EquationError, match="'sum' is not an observable; the observables are energy"):
        run.observable("sum")


def test_events_by_kind_and_name() -> None:
    bounce = integrate(BOUNCE, [0], (0, 2))
    assert bounce.times_of("switch") == bounce.times_of("switch", "x - 1") == [bounce.events[0].time]
    assert bounce.times_of("switch", "other") == bounce.times_of("slide") == []
    assert bounce.events[0].as_json() == {
        "name": "x - 1",
        "kind": "switch",
        "time": bounce.events[0].time,
        "surface": 0,
        "gate": 1,
    }


def test_a_run_that_stops_at_once_can_still_be_read() -> None:
    stuck = integrate(System.from_equations({x: -sp.sign(x)}), [0], (1, 2), on_slide="stop")
    assert stuck.stop == "slide" and stuck.end_time == stuck.start_time == 1 and stuck.at(1) == [0]


def test_values_are_frozen(run: Trajectory) -> None:
    with pytest.raises(AttributeError):
        run.stop = "other"  # type: ignore[misc]


# ---- files ---------------------------------------------------------------------------------------------------------


def test_npz_reads_back_without_pickled_objects(tmp_path: Path) -> None:
    bounce = integrate(BOUNCE, [0], (0, 2))
    with np.load(bounce.to_npz(tmp_path / "run.npz"), allow_pickle=False) as file:
        assert np.array_equal(file["times"], bounce.times) and np.array_equal(file["states"], bounce.states)
        assert file["names"].tolist() == ["x"] and file["event_names"].tolist() == ["x - 1"]
        assert file["event_kinds"].tolist() == ["switch"] and file["event_times"][0] == bounce.events[0].time
        assert str(file["stop"]) == "end" and int(file["cost_steps"]) == bounce.cost.steps
    assert os.listdir(tmp_path) == ["run.npz"]


def test_csv_reads_back_to_the_last_digit(run: Trajectory, tmp_path: Path) -> None:
    with open(run.to_csv(tmp_path / "run.csv", observables=["energy"]), newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert head == ["t", "x", "v", "energy"]
    table = np.array(rows, dtype=float)
    assert np.array_equal(table[:, 0], run.times) and np.array_equal(table[:, 1:3], run.states)
    assert np.array_equal(table[:, 3], run.observable("energy"))
    assert os.listdir(tmp_path) == ["run.csv"]


@pytest.mark.parametrize("method", ["to_npz", "to_csv"])
def test_a_folder_that_can_not_be_written_gets_a_sentence(run: Trajectory, tmp_path: Path, method: str) -> None:
    (tmp_path / "file").write_text("here")
    for path in (tmp_path / "file" / "run", tmp_path, ""):
        with pytest.raises(OutputError) as caught:
            getattr(run, method)(path)
        assert "\n" not in str(caught.value) and isinstance(caught.value, OdesysError)
    assert os.listdir(tmp_path) == ["file"]


def test_a_failed_write_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "table"
    target.write_bytes(b"old")

    def half(file: Any) -> None:
        file.write(b"ne")
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        write_atomic(target, half)
    assert target.read_bytes() == b"old" and os.listdir(tmp_path) == ["table"]
    with open(target, "rb") as reader:  # a reader keeps the whole old file
        write_atomic(target, lambda file: file.write(b"new"))
        assert reader.read() == b"old" and target.read_bytes() == b"new"


# ---- joining runs --------------------------------------------------------------------------------------------------


def two_parts(shift: float = 0.0, start: float = 1.0) -> list[Trajectory]:
    first = integrate(OSCILLATOR, [1, 0], (0, 1), {"k": 4}, rtol=1e-11)
    second = integrate(OSCILLATOR, first.end_state + shift, (start, start + 2), {"k": 1}, rtol=1e-11)
    return [first, second]


def test_joined_runs_read_as_one() -> None:
    first, second = two_parts()
    whole = join_trajectories([first, second], ["fast", "slow"])
    assert isinstance(whole, StagedTrajectory) and whole.parts["slow"] is second
    assert whole.times.size == first.times.size + second.times.size - 1 and np.all(np.diff(whole.times) > 0)
    assert np.array_equal(whole.at([0.5, 2.5]), [first.at(0.5), second.at(2.5)])
    assert (whole.start_time, whole.end_time) == (0, 3) and whole.final == second.final
    assert whole.events == (Event("fast", "stage", 1.0, {"stop": "end"}), Event("slow", "stage", 3.0, {"stop": "end"}))
    assert whole.cost == first.cost + second.cost


def test_observables_of_joined_runs_come_from_each_run() -> None:
    first, second = two_parts()
    whole = join_trajectories([first, second])
    expected = np.concatenate([first.observable("energy"), second.observable("energy")[1:]])
    assert np.array_equal(whole.observable("energy"), expected)
    assert whole.observable("energy")[0] != pytest.approx(whole.observable("energy")[-1])  # k = 4, then k = 1
    other = System.from_equations({x: 0, v: 0}, observables={"sum": x + v})
    assert np.array_equal(whole.observable("sum", other), whole.states.sum(axis=1))


def test_a_jump_between_runs_keeps_both_rows() -> None:
    first, second = two_parts(shift=0.5)
    whole = join_trajectories([first, second])
    assert whole.times.size == first.times.size + second.times.size
    assert np.count_nonzero(whole.times == 1) == 2 and np.array_equal(whole.at(1), first.end_state)
    assert whole.observable("energy").size == whole.times.size


def test_runs_that_do_not_fit_are_refused() -> None:
    first, second = two_parts(start=1.5)
    with pytest.raises(ParameterError, match=r"starts at t = 1\.5; the one before it ends at 1"):
        join_trajectories([first, second])
    with pytest.raises(EquationError, match="other states"):
        join_trajectories([first, integrate(BOUNCE, [0], (1, 2))])
    with pytest.raises(ParameterError, match="no run"):
        join_trajectories([])
    with pytest.raises(ParameterError, match="different names"):
        join_trajectories([first, first], ["a", "a"])


def test_costs_add_up() -> None:
    total = Cost(1, 2, 3, 0.5, 4) + Cost(10, 20, 30, 0.25, 40)
    assert total.as_json() == {
        "field_evaluations": 11,
        "jacobian_evaluations": 22,
        "steps": 33,
        "seconds": 0.75,
        "state_evaluations": 44,
    }


# ---- maps ----------------------------------------------------------------------------------------------------------


def test_a_map_has_its_recorded_steps_only() -> None:
    halves = iterate(System.from_equations({x: x / 2}, kind="map"), [1], 6, record_every=2)
    assert halves.solution is None and halves.at(4) == [1 / 16] and halves.at([0, 6]).tolist() == [[1], [1 / 64]]
    with pytest.raises(ParameterError, match="step 3 of the map was not recorded"):
        halves.at(3)
    with pytest.raises(ParameterError, match="outside of the run"):
        halves.at(7)


def test_the_names_of_scipy() -> None:
    wave = System.from_strings({"x": "y", "y": "-x"})
    run = integrate(wave, [0.0, 1.0], (0.0, 7.0), events=[StopWhen("top", "x - 0.999999", terminal=False)])
    theirs = scipy.integrate.solve_ivp(
        lambda t, s: [s[1], -s[0]], (0, 7), [0, 1], rtol=1e-9, atol=1e-10, dense_output=True
    )
    times = np.linspace(0, 7, 5)
    assert run.sol(times).shape == theirs.sol(times).shape and np.abs(run.sol(times) - theirs.sol(times)).max() < 1e-6
    assert run.y.shape == (2, run.t.size) and run.success and run.sol(1.0).shape == (2,)
    assert run.t_events["top"] == pytest.approx([np.arcsin(0.999999), np.pi - np.arcsin(0.999999)], abs=1e-5)


def test_no_step_is_longer_than_asked() -> None:
    line = System.from_strings({"x": "1"})
    fast = [StopWhen("zero", "sin(50*x)", terminal=False)]
    run = integrate(line, [0.0], (0.0, 10.0), events=fast, max_step=0.02)
    assert np.diff(run.times).max() <= 0.02 + 1e-12 and len(run.t_events["zero"]) == 159


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize(("wave", "count"), [("sin(50*x)", 159), ("cos(50*x)", 159), ("sin(333*x)", 1059)])
def test_fast_events_are_all_there_without_a_longest_step(wave: str, count: int, backend: str) -> None:
    run = integrate(
        System.from_strings({"x": "1"}),
        [0.0],
        (0.0, 10.0),
        events=[StopWhen("zero", wave, terminal=False)],
        backend=backend,
    )
    times = np.array(run.t_events["zero"])
    phase = times * (333 if "333" in wave else 50) / np.pi - (0.5 if wave.startswith("cos") else 0.0)
    assert len(times) == count and np.abs(phase - np.round(phase)).max() < 1e-9


@pytest.mark.parametrize("backend", ["compiled", "reference"])
@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_waves_are_seen_at_every_level_however_long_the_steps(direction: int, backend: str) -> None:
    """A straight line lets steps grow to the whole run: tops that barely pass a level, at random speeds and phases."""
    line, rng = System.from_strings({"x": "1"}), np.random.default_rng(11)
    for level in (0.0, 0.5, 0.9, 0.99, -0.999, 0.9999, 0.999999, 0.9999999):
        speed, phase = rng.uniform(0.3, 6), rng.uniform(0, 2 * np.pi)
        wave = f"sin({float(speed)!r}*x + {float(phase)!r}) - ({level!r})"
        event = StopWhen("level", wave, terminal=False, direction=direction)
        run = integrate(line, [0.0], (0.0, 20.0), events=[event], backend=backend)
        turns = 2 * np.pi * np.arange(30)
        ways = {1: np.arcsin(level) + turns, -1: np.pi - np.arcsin(level) + turns}
        expected = np.sort(np.concatenate([(ways[d] - phase) / speed for d in ways if direction in (0, d)]))
        expected = expected[(expected > 0) & (expected < 20)]
        assert run.t_events.get("level", []) == pytest.approx(expected, abs=1e-7), wave


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_fast_switch_is_not_jumped_over(backend: str) -> None:
    system = System.from_strings({"x": "1", "y": "sign(sin(50*x))"})
    run = integrate(system, [0.001, 0.0], (0.0, 10.0), backend=backend)
    assert len(run.events) == 159 and abs(float(run.end_state[1]) - (0.05109649)) < 1e-7


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_touch_happens_once_and_without_a_direction(backend: str) -> None:
    wave = System.from_strings({"x": "y", "y": "-x"})
    events = [
        StopWhen("top", "x - 1", terminal=False),
        StopWhen("above", "x - 1.0001", terminal=False),
        StopWhen("just below", "x - 0.999999", terminal=False),
        StopWhen("up", "x - 1.00001", direction=1, terminal=False),
    ]
    run = integrate(wave, [0.0, 1.0], (0.0, 20.0), events=events, backend=backend)
    tops = np.pi / 2 + 2 * np.pi * np.arange(3)
    assert run.t_events["top"] == pytest.approx(tops, abs=1e-6)
    assert {e.detail["direction"] for e in run.events if e.name == "top"} == {0}
    assert len(run.t_events["just below"]) == 6 and not {"above", "up"} & set(run.t_events)
    last = integrate(wave, [0.0, 1.0], (0.0, 20.0), events=[StopWhen("top", "x - 1")], backend=backend)
    assert last.stop == "event:top" and last.end_time == pytest.approx(np.pi / 2, abs=1e-6)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_rough_event_ends_the_reading_and_not_the_run(backend: str) -> None:
    line = System.from_strings({"x": "1"})
    if backend == "reference":
        events = [StopWhen("jump", lambda t, x: 1.0 if x[0] < np.e else -1.0, terminal=False)]
    else:
        events = [StopWhen("jump", "1 - 2*step(x - exp(1))", terminal=False)]
    run = integrate(line, [0.0], (0.0, 10.0), events=events, backend=backend)
    assert run.t_events["jump"] == pytest.approx([np.e], abs=1e-9)


@pytest.mark.parametrize("backend", ["compiled", "reference"])
def test_a_twisting_controller_comes_to_rest_in_finite_time(backend: str) -> None:
    """Levant's controller, Int. J. Control 58 (1993): each half turn takes 1/sqrt(5) of the time of the one before."""
    twist = System.from_strings({"x": "v", "v": "-3*sign(x) - 2*sign(v)"})
    run = integrate(twist, [1.0, 0.0], (0.0, 10.0), backend=backend)
    end = 1.2 * np.sqrt(2) / (1 - 1 / np.sqrt(5))
    assert {s.name for s in run.slides} == {"x", "-v"} and np.abs(run.end_state).max() < 1e-11
    assert min(s.start for s in run.slides) == pytest.approx(end, abs=1e-5)
    pushed = System.from_strings({"x": "v", "v": "-3*sign(x) - 2*sign(v) + sin(t)/2"})
    run = integrate(pushed, [1.0, 0.0], (0.0, 10.0), backend=backend)
    assert np.abs(run.end_state).max() < 1e-11 and len(run.events) < 200


def test_columns_by_name_and_as_a_table() -> None:
    pandas = pytest.importorskip("pandas")
    x = sp.Symbol("x")
    system = System.from_equations({x: -x}, observables={"square": x**2})
    run = integrate(system, [1.0], (0.0, 1.0), t_eval=[0.0, 0.5, 1.0])
    assert np.array_equal(run["x"], run.states[:, 0]) and np.array_equal(run["t"], run.times)
    assert np.allclose(run["square"], run["x"] ** 2)
    table = run.to_dataframe()
    assert isinstance(table, pandas.DataFrame) and list(table.columns) == ["x", "square"] and table.index.name == "t"
    assert list(run.to_dataframe(observables=[]).columns) == ["x"]
    with pytest.raises(EquationError, match="did you mean square"):
        run["squares"]


def test_stages_with_observables_of_their_own_are_one_table_of_what_they_share() -> None:
    pytest.importorskip("pandas")
    x = sp.Symbol("x")
    few = System.from_equations({x: -x}, observables={"square": x**2})
    more = System.from_equations({x: -x}, observables={"cube": x**3, "square": x**2})
    first = integrate(few, [1.0], (0.0, 1.0))
    run = join_trajectories([first, integrate(more, first.end_state, (1.0, 2.0))])
    assert list(run.to_dataframe().columns) == ["x", "square"]
    with pytest.raises(EquationError, match="'cube' is neither"):
        run["cube"]
    turned = System.from_equations({x: -x}, observables={"square": x**2, "cube": x**3})
    both = [integrate(more, [1.0], (0.0, 1.0)), integrate(turned, first.end_state, (1.0, 2.0))]
    assert list(join_trajectories(both).to_dataframe().columns) == ["x", "square", "cube"]  # as the last one has them


def test_without_pandas_the_table_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    x = sp.Symbol("x")
    run = integrate(System.from_equations({x: -x}), [1.0], (0.0, 1.0))
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(OdesysError, match="needs pandas"):
        run.to_dataframe()


@pytest.mark.parametrize("backend", ["reference", "compiled"])
def test_an_event_named_after_a_state_is_where_the_state_has_the_level(backend: str) -> None:
    run = integrate(OSCILLATOR, [1, 0], (0, 3), {"k": 4}, events=[StopWhen("half", "x", level=0.5)], backend=backend)
    assert run.stop == "event:half" and run.end_time == pytest.approx(math.pi / 6, abs=1e-8)


def test_a_row_is_left_out_only_where_it_is_there_already() -> None:
    """The first run ends at 1 and recorded another time last, or none at all."""
    last = integrate(OSCILLATOR, [1, 0], (0, 1), {"k": 4}).end_state
    second = integrate(OSCILLATOR, last, (1, 2), {"k": 4}, t_eval=[1.0, 1.5])
    for recorded, kept in (([0.0, 0.5], [0, 0.5, 1, 1.5]), ([], [1, 1.5]), ([0.0, 1.0], [0, 1, 1.5])):
        first = integrate(OSCILLATOR, [1, 0], (0, 1), {"k": 4}, t_eval=recorded)
        whole = join_trajectories([first, second])
        assert whole.times.tolist() == kept and len(whole.states) == len(kept)
    late = integrate(OSCILLATOR, last, (1, 2), {"k": 4}, t_eval=[1.5])
    assert join_trajectories([integrate(OSCILLATOR, [1, 0], (0, 1), {"k": 4}, t_eval=[1.0]), late]).times.tolist() == [
        1,
        1.5,
    ]


def test_a_run_has_a_card_for_notebooks(run: Trajectory) -> None:
    card = run._repr_html_()
    Reader(card)
    assert f"{run.cost.field_evaluations} evaluations of the field" in card and "0 to 3" in card


@pytest.mark.parametrize("wrong", [{"level": "a"}, {"level": 1j}, {"terminal": "yes"}])
def test_events_with_other_values_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="the event half has"):
        StopWhen("half", "x", **wrong)


def test_a_run_is_told_in_one_line() -> None:
    decay = System.from_strings({"x": "-x"})
    plain = integrate(decay, [1.0], (0.0, 2.5), t_eval=[0.0, 1.0, 2.0])
    assert repr(plain) == "<Trajectory of x: 3 rows, 0 to 2.5 (end)>"
    bounce = integrate(BOUNCE, [0], (0, 2), t_eval=[0.0])
    assert repr(bounce) == "<Trajectory of x: 1 rows, 0 to 2 (end), 1 events>"
    turned = replace(plain, stiff_from=0.5, series_from=0.25)
    assert repr(turned) == ("<Trajectory of x: 3 rows, 0 to 2.5 (end), stiff from 0.5 on, Taylor series from 0.25 on>")
    assert repr(replace(plain, series_from=0.25)).endswith("(end), Taylor series from 0.25 on>")
    assert repr(replace(plain, stiff_from=0.25)).endswith("(end), stiff from 0.25 on>")
    staged = join_trajectories([plain])
    assert repr(staged).startswith("<StagedTrajectory of x: 3 rows, 0 to 2.5 (end), 1 events")


def test_events_as_functions_of_time_and_state() -> None:
    """A name, an expression, an observable or a function, minus the level, with numbers bound to parameters."""
    system = System.from_equations({x: k * v, v: -x}, parameters=[k], observables={"total": x + v, "other": k * x**2})
    numbers, at = {"k": 3.0}, (0.7, np.array([5.0, 11.0]))
    for backend in ("auto", "scalar"):
        compiled = system.compile(numbers, backend)
        for expression, value in (
            ("x", 5.0),
            ("v", 11.0),
            ("t", 0.7),
            ("total", 16.0),
            ("other", 75.0),
            ("x*v - k", 52.0),
            (sp.Symbol("total") * 2 - x, 27.0),
            (k * x + v, 26.0),
            (lambda t, state: 100 * t + state[1], 81.0),
        ):
            read = StopWhen("e", expression, level=2.5).function(compiled, numbers)
            assert read(*at) == pytest.approx(value - 2.5), (backend, expression)
            assert isinstance(read(*at), float)
        with pytest.raises(EquationError, match="the event e uses z, which is no state, observable or parameter"):
            StopWhen("e", "x + z").function(compiled, numbers)
    toy = toy_models.signgd()
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    blocked = flow.system.compile(toy.parameters, "block")
    state = np.random.default_rng(0).normal(size=flow.system.dimension)
    loss = blocked.observables(0.0, state)["loss"]
    for expression in ("loss", sp.Symbol("loss") + 0 * t):
        assert StopWhen("e", expression, level=0.25).function(blocked, toy.parameters)(0.0, state) == pytest.approx(
            loss - 0.25
        )


def test_gates_of_events_follow_the_state_or_are_given() -> None:
    compiled = BOUNCE.compile({})
    read = StopWhen("e", "3*step(x - 1)").function(compiled, {})
    high, low = np.array([2.0]), np.array([0.5])
    assert read(0.0, high) == 3.0 and read(0.0, low) == 0.0
    assert read(0.0, high, np.array([0.0])) == 0.0 and read(0.0, low, np.array([0.25])) == 0.75


def test_events_that_mean_nothing_are_refused() -> None:
    for wrong, sentence in (
        ({"direction": 2}, "the event e has the direction 2; it is"),
        ({"direction": -2}, "the direction -2"),
        ({"level": math.inf}, "the event e has the level inf; it must be finite"),
        ({"terminal": 2}, "the event e has terminal = 2; it is True or False"),
    ):
        with pytest.raises(ParameterError, match=sentence):
            StopWhen("e", "x", **wrong)
    for right in ({"direction": -1}, {"direction": 0}, {"direction": 1}, {"terminal": 0}, {"level": -3}):
        StopWhen("e", "x", **right)  # type: ignore[arg-type]
    first = StopWhen("e", "x")
    assert (first.direction, first.terminal, first.level) == (0, True, 0.0)


def test_a_column_that_is_not_there_is_refused_with_what_there_is(run: Trajectory) -> None:
    with pytest.raises(EquationError) as caught:
        run["energie"]
    assert str(caught.value) == (
        "'energie' is neither a state nor an observable of this run; the observables are energy, the states x, v; "
        "did you mean energy?"
    )
    with pytest.raises(EquationError, match=r"the observables are none, the states x$"):
        integrate(BOUNCE, [0], (0, 1))["nothing like it"]
    names = [f"x{j}" for j in range(13)]
    many = integrate(System.from_strings({name: "1" for name in names}), np.zeros(13), (0, 1))
    with pytest.raises(EquationError, match=r"the states are x0, .*, x11, \.\.\.$"):
        many.state("y")
    few = integrate(System.from_strings({name: "1" for name in names[:12]}), np.zeros(12), (0, 1))
    with pytest.raises(EquationError, match=r"x10, x11$"):
        few.state("y")


def test_states_are_read_inside_of_a_run_in_both_directions(run: Trajectory) -> None:
    for end in (0.0, 3.0):
        assert run.at(end) == pytest.approx([np.cos(2 * end), -2 * np.sin(2 * end)], abs=1e-9)
    for time in (np.nextafter(3.0, 4.0), -5e-324):
        with pytest.raises(ParameterError, match="is outside of the run, which goes from 0 to 3"):
            run.at(time)
    back = integrate(OSCILLATOR, [1, 0], (3, 1), {"k": 4}, rtol=1e-11)
    assert back.start_time == 3 and back.at(1.0) == pytest.approx(back.end_state, abs=1e-9)
    with pytest.raises(ParameterError, match=r"the time 3\.5 is outside of the run, which goes from 3 to 1"):
        back.at([2.0, 3.5])
    assert run.at(np.zeros((0,))).shape == (0, 2) and run.at(2.0).flags.c_contiguous
    assert run.sol([0.5, 1.0]).shape == (2, 2) and np.array_equal(run.sol([0.5, 1.0]).T, run.at([0.5, 1.0]))
    assert run.success is True and run.t is run.times and np.array_equal(run.y, run.states.T)


def test_steps_of_a_map_that_were_recorded_are_read_with_the_last_one() -> None:
    halves = System.from_equations({x: x / 2, v: v + 1}, kind="map")
    some = iterate(halves, [8, 0], 6, record_every=[2, 5])
    assert some.start_time == 2 and some.at([5, 2, 6]).tolist() == [[0.25, 5], [2, 2], [0.125, 6]]
    assert some.at(6.0).tolist() == [0.125, 6]
    with pytest.raises(ParameterError, match="step 4 of the map was not recorded"):
        some.at([5, 4])
    none = iterate(halves, [8, 0], 6, record_every=[])
    assert repr(none) == "<Trajectory of x, v: 0 rows, 6 to 6 (end)>"
    assert none.start_time == 6 and none.at(6).tolist() == [0.125, 6]


def test_events_of_each_kind_and_the_slides() -> None:
    relay = System.from_equations({x: 1 - 2 * sp.Heaviside(x), v: 1 + 0 * x})
    events = [StopWhen("half", "v", level=0.5, terminal=False), StopWhen("late", "v", level=1.5, terminal=False)]
    run = integrate(relay, [-1.0, 0.0], (0.0, 2.0), events=events)
    assert run.times_of("user") == pytest.approx([0.5, 1.5]) and run.times_of("user", "late") == pytest.approx([1.5])
    assert run.times_of("slide", "x") == pytest.approx([1.0]) and run.times_of("switch") == []
    (slide,) = run.slides
    assert (slide.name, slide.surface, slide.start, slide.end) == ("x", 0, pytest.approx(1.0), 2.0)
    assert list(run.t_events) == ["half", "late"] and run.t_events["half"] == pytest.approx([0.5])
    assert run.events[0].as_json() == {
        "name": "half", "kind": "user", "time": run.events[0].time, "direction": 1, "terminal": False
    }  # fmt: skip


def test_npz_has_everything_by_name(tmp_path: Path) -> None:
    relay = System.from_equations({x: k - 2 * sp.Heaviside(x)}, parameters=[k])
    run = integrate(relay, [-1.0], (0.0, 2.0), {"k": 1.0}, events=[StopWhen("half", "x", level=-0.5, terminal=False)])
    with np.load(run.to_npz(tmp_path / "run.npz"), allow_pickle=False) as file:
        assert file["parameter_names"].tolist() == ["k"] and file["parameter_values"].tolist() == [1.0]
        assert file["event_names"].tolist() == ["half", "x"] and file["event_kinds"].tolist() == ["user", "slide"]
        assert file["event_ends"].tolist() == [run.events[0].time, 2.0] and float(file["end_time"]) == 2.0
        assert file["end_state"].tolist() == run.end_state.tolist()
        assert {name: file[f"cost_{name}"] for name in run.cost.as_json()} == run.cost.as_json()


def test_a_picture_is_drawn_of_what_is_asked_for(run: Trajectory) -> None:
    figure, ax = plt.subplots()
    assert run.plot("v", "energy", ax=ax, linestyle="--") is ax
    for line, name in zip(ax.lines[:2], ("v", "energy"), strict=True):
        assert (line.get_xdata()[0], line.get_xdata()[-1]) == (0, 3) and line.get_ydata()[-1] == run[name][-1]
    assert ax.lines[0].get_linestyle() == "--"
    plt.close(figure)


def test_runs_that_are_joined_keep_when_they_changed_their_method() -> None:
    first, second = two_parts()
    both = join_trajectories([replace(first, stiff_from=0.75), replace(second, stiff_from=1.5, series_from=2.0)])
    assert (both.stiff_from, both.series_from) == (0.75, 2.0)
    late = join_trajectories([first, replace(second, stiff_from=1.5)])
    assert (late.stiff_from, late.series_from) == (1.5, None)
    assert both.parts.keys() == {"1", "2"} and both.parameters == {"k": 1.0} and both.system is OSCILLATOR
    assert both.states.shape == (both.times.size, 2) and both.end_state is second.end_state


def test_dense_output_of_joined_runs_is_there_if_all_have_it() -> None:
    first, second = two_parts()
    whole = join_trajectories([first, second])
    assert whole.solution is not None and whole.solution.ts.size == first.solution.ts.size + second.solution.ts.size - 1
    assert len(whole.solution.interpolants) == whole.solution.ts.size - 1
    for missing in ([replace(first, solution=None), second], [first, replace(second, solution=None)]):
        assert join_trajectories(missing).solution is None
    stuck = integrate(System.from_equations({x: -sp.sign(x), v: 0}), [0, 1], (3, 4), on_slide="stop")
    assert stuck.solution is None and stuck.end_time == 3  # it takes no time, and has nothing to be read
    longer = join_trajectories([first, second, replace(stuck, system=OSCILLATOR)])
    assert longer.solution is not None and np.array_equal(longer.at(2.0), second.at(2.0))


def test_names_of_runs_to_join_are_as_many_and_different() -> None:
    first, second = two_parts()
    for names in (["a"], ["a", "b", "c"], ["a", "a"], []):
        with pytest.raises(ParameterError, match=f"2 runs need 2 different names, not {', '.join(names) or 'none'}$"):
            join_trajectories([first, second], names)
    third = integrate(OSCILLATOR, second.end_state, (3, 4), {"k": 1})
    with pytest.raises(ParameterError, match="the stage c starts at t = 0; the one before it ends at 3"):
        join_trajectories([first, second, first], ["a", "b", "c"])
    with pytest.raises(ParameterError, match="the stage b starts at t = 3; the one before it ends at 1"):
        join_trajectories([first, third], ["a", "b"])
    with pytest.raises(EquationError, match="the stage c has other states than the stage before it"):
        join_trajectories([first, second, integrate(BOUNCE, [0], (3, 4))], ["a", "b", "c"])
    assert join_trajectories([first, second, third]).times_of("stage") == [1.0, 3.0, 4.0]


def test_the_table_and_the_file_have_the_observables_asked_for(run: Trajectory, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    table = run.to_dataframe()
    assert list(table.columns) == ["x", "v", "energy"] and table.index.tolist() == run.times.tolist()
    assert list(run.to_dataframe(["energy"]).columns) == ["x", "v", "energy"]
    assert (table["v"].to_numpy() == run["v"]).all() and (table["energy"].to_numpy() == run["energy"]).all()
    with open(run.to_csv(tmp_path / "run.csv"), newline="", encoding="utf-8") as file:
        assert next(csv.reader(file)) == ["t", "x", "v"]
