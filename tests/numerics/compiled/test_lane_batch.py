"""Runs in lanes: each by itself, and those of the scalar kernel."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.compiled import compiled_flow
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.lane_batch import _aligned, goes_in_lanes
from numerics.flows.trajectory import StopWhen
from odesys import BrokenRunWarning, System
from odesys.expr import graph
from odesys.jit import llvm
from odesys.jit.lanes import lane_width

pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
TEXTS = {
    "volterra": ("x' = a*x - x*y; y' = x*y - y", 10.0),
    "pendulum": ("x' = y; y' = -sin(x) - y/10 + a*cos(t)", 20.0),
    "decay": ("x' = -x*exp(-a*y); y' = tanh(x) - y/(1 + x**2)", 5.0),
    "one": ("x' = a - log(1 + x**2)", 3.0),
}


def flow_of(name: str) -> tuple[CompiledFlow, float]:
    text, end = TEXTS[name]
    return CompiledFlow(System.from_strings(text)), end


def points_of(flow: CompiledFlow, count: int) -> tuple[np.ndarray, list[dict[str, float]]]:
    drawn = np.random.default_rng(5)
    return drawn.uniform(0.2, 2.0, (count, flow.system.dimension)), [
        {"a": float(a)} for a in drawn.uniform(0.2, 1, count)
    ]


@pytest.mark.parametrize("name", TEXTS)
def test_a_run_does_not_depend_on_lane_neighbours_or_size_of_the_batch(name: str) -> None:
    flow, end = flow_of(name)
    starts, values = points_of(flow, 29)
    whole = flow.batch(starts, (0.0, end), values)
    backwards = flow.batch(starts[::-1], (0.0, end), values[::-1])[::-1]
    assert whole.tobytes() == backwards.tobytes()
    for part in (slice(0, 1), slice(3, 12), slice(20, 29)):
        assert flow.batch(starts[part], (0.0, end), values[part]).tobytes() == whole[part].tobytes()
    many = flow.batch(np.tile(starts[4], (40, 1)), (0.0, end), [values[4]] * 40)
    assert {row.tobytes() for row in many} == {whole[4].tobytes()}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("rtol", [1e-6, 1e-11])
def test_runs_are_those_of_the_scalar_kernel(name: str, rtol: float) -> None:
    flow, end = flow_of(name)
    starts, values = points_of(flow, 20)
    found = flow.batch(starts, (0.0, end), values, rtol=rtol)
    for start, value, state in zip(starts, values, found, strict=True):
        single = flow.final(start, (0.0, end), value, rtol=rtol)
        assert np.max(np.abs(state - single) / (1e-3 + np.abs(single))) < 100 * rtol


def test_a_long_batch_goes_in_several_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    flow, end = flow_of("volterra")
    starts, values = points_of(flow, 30)
    whole = flow.batch(starts, (0.0, end), values)
    monkeypatch.setattr(compiled_flow, "LANE_RUNS_PER_CALL", 7)
    assert flow.batch(starts, (0.0, end), values).tobytes() == whole.tobytes()


def test_a_run_that_blows_up_leaves_the_others_alone() -> None:
    flow = CompiledFlow(System.from_strings({"x": "x**2"}))
    starts = np.array([[0.1], [5.0], [0.2], [0.3]])
    with pytest.warns(BrokenRunWarning, match="point 1 of the batch"):
        found = flow.batch(starts, (0.0, 1.0), [{}] * 4)
    assert np.isnan(found[1, 0])
    np.testing.assert_allclose(found[[0, 2, 3], 0], [1 / 9, 0.25, 3 / 7], rtol=1e-8)


def test_stiff_runs_and_too_many_steps_are_left() -> None:
    stiff = CompiledFlow(System.from_strings({"x": "y", "y": "mu*(1 - x**2)*y - x"}))
    points = [{"mu": mu} for mu in (1000.0, 1.0, 900.0)]
    found = stiff.batch([2.0, 0.0], (0.0, 100.0), points, rtol=1e-7)
    runs = [stiff.run([2.0, 0.0], (0.0, 100.0), point, rtol=1e-7) for point in points]
    assert [run.stiff_from is not None for run in runs] == [True, False, True]
    np.testing.assert_array_equal(found[[0, 2]], [runs[0].end_state, runs[2].end_state])
    np.testing.assert_allclose(found[1], runs[1].end_state, rtol=1e-4)
    with pytest.warns(BrokenRunWarning, match="max_steps"):
        ends = CompiledFlow(System.from_strings({"x": "-x"})).batch([1.0], (0.0, 100.0), [{}], max_steps=5)
    assert np.isnan(ends).all()


def test_no_time_changes_nothing() -> None:
    flow, _ = flow_of("volterra")
    starts, values = points_of(flow, 3)
    assert flow.batch(starts, (1.0, 1.0), values).tolist() == starts.tolist()


def test_negative_times_and_times_of_zero_length_steps() -> None:
    flow = CompiledFlow(System.from_strings({"x": "1 + 0*x"}))
    np.testing.assert_allclose(flow.batch([[1.0], [2.0]], (-3.0, 4.0), [{}] * 2)[:, 0], [8.0, 9.0], rtol=1e-14)


def test_which_runs_go_in_lanes() -> None:
    smooth, level = System.from_strings({"x": "-x"}), [graph.sym("x") - 1]
    for watched in ([], level):
        assert goes_in_lanes(smooth, watched, "auto", 0) and goes_in_lanes(smooth, watched, "DOP853", 0)
        assert not goes_in_lanes(smooth, watched, "Rodas5P", 0)
        assert goes_in_lanes(smooth, watched, "Taylor", 12) == (not watched)
    long = System.from_strings({"x": " + ".join(f"sin({k}*x)" for k in range(1, 200))})
    assert goes_in_lanes(long, [], "auto", 0) and not goes_in_lanes(long, [], "Taylor", 12)
    longer = System.from_strings({"x": " + ".join(f"sin({k}*x)" for k in range(1, 1100))})
    assert not goes_in_lanes(longer, [], "auto", 0)
    many = System.from_strings({f"x{k}": f"-x{k}" for k in range(65)})
    assert not goes_in_lanes(many, [], "auto", 0)
    assert lane_width() in (4, 8)


def test_what_does_not_go_in_lanes_goes_one_by_one() -> None:
    many = CompiledFlow(System.from_strings({f"x{k}": f"-{k}*x{k}" for k in range(65)}))
    ends = many.batch(np.ones(65), (0.0, 0.5), [{}] * 2)
    assert ends[0].tobytes() == many.final(np.ones(65), (0.0, 0.5), {}).tobytes() == ends[1].tobytes()


def test_a_run_in_a_lane_ends_at_its_event() -> None:
    fall = CompiledFlow(System.from_strings({"h": "v", "v": "-a"}), [StopWhen("ground", "h", direction=-1)])
    heights, pulls = np.linspace(0.5, 6.0, 19), [{"a": 1 + k / 7} for k in range(19)]
    found = fall.batch(np.stack([heights, 0 * heights], axis=1), (0.0, 2.0), pulls)
    for height, pull, (h, v) in zip(heights, pulls, found, strict=True):
        t = min(2.0, np.sqrt(2 * height / pull["a"]))
        assert h == pytest.approx(height - pull["a"] * t**2 / 2, abs=1e-8) and v == pytest.approx(-pull["a"] * t)


@pytest.mark.parametrize(
    "text",
    ["x' = y; y' = -x - a*heaviside(x - 1/3) + heaviside(y)/2", "x' = a - 2*heaviside(x - 1)*x/3"],
    ids=["oscillator", "relay"],
)
def test_gates_turn_in_lanes_as_in_runs_by_themselves(text: str) -> None:
    flow = CompiledFlow(System.from_strings(text))
    starts, values = points_of(flow, 21)
    found = flow.batch(starts, (0.0, 9.0), values)
    alone = [flow.run(start, (0.0, 9.0), value) for start, value in zip(starts, values, strict=True)]
    assert sum(len(run.events) > 0 for run in alone) > 10
    np.testing.assert_allclose(found, [run.end_state for run in alone], atol=1e-7)


def test_rooms_begin_where_a_line_of_memory_does() -> None:
    rooms = [_aligned(size) for size in range(1, 40)]
    assert [room.size for room in rooms] == list(range(1, 40))
    assert all(room.ctypes.data % 64 == 0 and not room.any() for room in rooms)
