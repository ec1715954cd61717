"""Trajectory: dense output, columns by name, observables, files that are whole or absent, runs joined."""

import csv
import math
import os
import sys
from pathlib import Path
from typing import Any

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
from odesys.errors import EquationError, OdesysError, OutputError, ParameterError
from odesys.expr.system import System
from tests.report_pages import Reader

x, v, k = sp.symbols("x v k")
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
