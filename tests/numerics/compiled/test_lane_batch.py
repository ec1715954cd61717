"""Runs in lanes: each by itself, and those of the scalar kernel."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from numerics.compiled import compiled_flow, lane_batch
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.lane_batch import (
    LaneBatch,
    _aligned,
    go_together,
    goes_in_lanes,
    in_lanes,
    in_lanes_watched,
    put_back,
    take_out,
)
from numerics.compiled.lane_step import (
    FRESH,
    GOES_ON,
    HEAD,
    LEFT,
    MAX_STEPS,
    MAY_SWITCH,
    OVER,
    REJECTED,
    RTOL,
    START,
    STATUS,
    STEPS,
    STEPS_DAMPED,
    STEPS_FREE,
    STEPS_HELD,
    SWITCHED,
    T_END,
    H,
    T,
    places,
)
from numerics.compiled.records import BUFFER_FULL, END, EVENT, HANDOVER, Log, Problem, RunState, Step, new_step
from numerics.flows.trajectory import StopWhen
from odesys import BrokenRunWarning, System
from odesys.expr import graph
from odesys.jit import llvm
from odesys.jit.lanes import lane_width
from odesys.jit.loops import Array, Code

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


# ---- the text in Python, with steps of our own -----------------------------------------------------------------------

WIDTH, N, NUMBERS = 3, 2, 5  # lanes; states; a state, its tolerances and one parameter
ROWS = {"t": T, "h": H, "steps": STEPS, "switches": SWITCHED, "held": STEPS_HELD, "free": STEPS_FREE}
ROWS |= {"damped": STEPS_DAMPED}


def counting(seen: list[dict[int, list[float]]], begun: list[list[float]]) -> tuple[Code, Code]:
    """A begin that notes who begins, and with what; a step by which x counts up to the parameter."""

    def begin(t: float, room: Array, a: Array, b: Array, c: Array) -> None:
        rows = room.reshape(-1, WIDTH)
        begun.append(rows[FRESH].tolist())
        fresh = np.flatnonzero(rows[FRESH] > 0)
        seen.append({int(k): rows[[*ROWS.values(), REJECTED, STATUS], k].tolist() for k in fresh})

    def step(t: float, room: Array, a: Array, b: Array, c: Array) -> None:
        rows = room.reshape(-1, WIDTH)
        assert set(rows[FRESH]) <= {-1.0, 0.0, 1.0} and (rows[STATUS][rows[FRESH] >= 0] < 0).all()
        rows[HEAD] += 1.0
        rows[HEAD + 1] -= 1.0
        rows[T] += 1.0
        rows[[*list(ROWS.values())[1:], REJECTED]] += 3.0  # what the next run must not find
        over = (rows[FRESH] >= 0) & (rows[HEAD] >= rows[HEAD + 4])
        rows[STATUS][over] = rows[HEAD + 2][over]
        room[OVER] = float(over.any())

    return begin, step


@pytest.mark.parametrize("points", [0, 1, 2, 3, 4, 11])
def test_a_lane_whose_run_is_over_gets_the_next_one(points: int) -> None:
    """Every run has its own number of steps; it starts with nothing of the run before, and its end is its own."""
    drawn = np.random.default_rng(points)
    given = np.empty((points, NUMBERS))
    given[:] = np.stack([0 * drawn.random(points), drawn.random(points), *drawn.integers(0, 4, (3, points))], axis=1)
    given[:, 4] = lengths = drawn.integers(1, 9, points)
    seen, begun, results = list[dict[int, list[float]]](), list[list[float]](), np.full((points, N + 1), np.nan)
    room = np.full((HEAD + NUMBERS + N, WIDTH), 7.0)
    room[START], room[STATUS] = 2.5, 0.0
    in_lanes(
        *counting(seen, begun), WIDTH, N, NUMBERS, points, given.ravel(), results.ravel(), np.zeros(WIDTH), room.ravel()
    )
    np.testing.assert_allclose(results, np.stack([lengths, given[:, 1] - lengths, given[:, 2]], axis=1), rtol=1e-13)
    starts = [values for one in seen for values in one.values()]
    assert len(starts) == points
    assert all(values[0] == 2.5 and values[2:] == [0.0] * 6 + [GOES_ON] for values in starts)
    assert len(begun) <= points and (
        not points or begun[0] == [1.0] * min(points, WIDTH) + [-1.0] * max(0, WIDTH - points)
    )


def test_begin_is_called_only_where_a_run_begins() -> None:
    for begins in (0, 1):
        called: list[str] = []
        room = np.ones(HEAD)

        def step(t: float, room: Array, a: Array, b: Array, c: Array, called: list[str] = called) -> None:
            called.append("step")
            room[OVER] = float(len(called) > 3)

        begin = lambda t, room, a, b, c, called=called: called.append("begin")  # noqa: E731
        go_together(begin, step, begins, room)
        assert called == ["begin"] * begins + ["step"] * (4 - begins)


def watched_problem(surfaces: int, count: int) -> tuple[Problem, RunState, Step]:
    """Records for runs of two states with so much that is watched."""
    one = np.ones(count)
    code: Code = lambda t, x, p, g, out: None  # noqa: E731
    problem = Problem(
        code, code, code, N, surfaces, count, np.ones(1), one, one, one, np.ones(6), 9.0, 1e-6, np.ones(2), 99, 9
    )
    state = RunState(0.0, 0.0, np.zeros(N), np.zeros(surfaces), np.zeros(count), np.zeros(count))
    return problem, state, new_step(N, count)


@pytest.mark.parametrize(("surfaces", "count"), [(0, 0), (2, 2), (0, 3), (1, 3)])
@pytest.mark.parametrize("lane", range(WIDTH))
def test_a_run_is_taken_out_of_its_lane_and_put_back(surfaces: int, count: int, lane: int) -> None:
    """All that a scalar step reads or moves; the other lanes and the rest of the room stay as they are."""
    problem, state, one = watched_problem(surfaces, count)
    rows = HEAD + NUMBERS + N + surfaces + 2 * count + 1
    before = np.arange(1.0, rows * WIDTH + 1).reshape(rows, WIDTH)
    room = before.copy()
    take_out(WIDTH, NUMBERS, lane, problem, state, one, room.ravel())
    here = before[:, lane]
    first = HEAD + NUMBERS + N
    assert {name: getattr(state, name) for name in ROWS} == {name: here[row] for name, row in ROWS.items()}
    assert state.x.tolist() == here[HEAD : HEAD + N].tolist()
    assert one.K[:N].tolist() == here[HEAD + NUMBERS : first].tolist()
    assert state.gates.tolist() == here[first : first + surfaces].tolist()
    sides = here[first + surfaces :]
    assert state.side.tolist() == sides[:count].tolist() and state.width.tolist() == sides[count : 2 * count].tolist()
    for name in ROWS:
        setattr(state, name, getattr(state, name) + 1000)
    for array in (state.x, state.gates, state.side, state.width, one.K[:N]):
        array += 1000.0
    state.status, wanted = 2, before.copy()
    places_of_a_run = [*ROWS.values(), *range(HEAD, HEAD + N), *range(HEAD + NUMBERS, first + surfaces + 2 * count)]
    wanted[places_of_a_run, lane] += 1000.0
    wanted[REJECTED, lane], wanted[STATUS, lane] = 0.0, 2.0
    put_back(WIDTH, NUMBERS, lane, problem, state, one, room.ravel())
    assert np.array_equal(room, wanted)


@pytest.mark.parametrize(
    ("status", "t", "left"),
    [(END, 8.0, GOES_ON), (END, 9.0, END), (END, 9.5, END), (EVENT, 8.0, EVENT), (HANDOVER, 9.0, HANDOVER)],
)
def test_a_run_that_is_not_over_goes_on_in_its_lane(status: int, t: float, left: float) -> None:
    problem, state, one = watched_problem(1, 2)
    room = np.zeros((HEAD + NUMBERS + N + 5, WIDTH))
    state.status, state.t = status, t
    put_back(WIDTH, NUMBERS, 1, problem, state, one, room.ravel())
    assert room[STATUS, 1] == left


@pytest.mark.parametrize("points", [0, 1, 5, 13])
def test_steps_in_which_something_may_happen_are_made_one_by_one(points: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the run in that lane, with its tolerances and parameters; a run that can not begin is over at once."""
    drawn = np.random.default_rng(points + 50)
    given = np.zeros((points, NUMBERS))
    given[:, 1], given[:, 2:4] = np.arange(points), drawn.random((points, 2))
    given[:, 4] = lengths = drawn.integers(1, 9, points)
    problem, state, one = watched_problem(1, 2)
    log = Log(0, np.zeros(0), np.zeros(0), np.zeros(0), 9, np.zeros(27))
    begun, alone = list[int](), list[int]()

    def own_row(state: RunState) -> int:
        k = round(state.x[1])
        assert problem.atol[:2].tolist() == given[k, 2:4].tolist() and problem.p[0] == lengths[k]
        return k

    def begin_run(problem: Problem, state: RunState, step: Step) -> None:
        k = own_row(state)
        begun.append(k)
        assert (state.t, state.steps, state.switches, state.held, state.free, state.damped) == (2.5, 0, 0, 0, 0, 0)
        state.gates[:], state.side[:], state.width[:] = k, [k + 0.25, k + 0.5], [k + 0.75, k + 0.875]
        state.status = HANDOVER if k == 3 else BUFFER_FULL

    def go_on(problem: Problem, state: RunState, step: Step, log: Log) -> None:
        k = own_row(state)
        alone.append(k)
        assert (state.status, log.happened, state.gates[0], step.K[0]) == (END, 0, k, 40.0 + k)
        assert [*state.side, *state.width] == [k + part for part in (0.25, 0.5, 0.75, 0.875)]
        state.x[0] += 1.0
        log.happened = 8
        state.t = 9.0 if state.x[0] >= lengths[k] else 3.0
        state.status = EVENT if state.t == 9.0 and k % 2 else END

    monkeypatch.setattr(lane_batch, "begin_run", begin_run)
    monkeypatch.setattr(lane_batch, "go_on", go_on)

    def begin(t: float, room: Array, a: Array, b: Array, c: Array) -> None:
        rows = room.reshape(-1, WIDTH)
        rows[HEAD + NUMBERS] = np.where(rows[FRESH] > 0, 40.0 + rows[HEAD + 1], rows[HEAD + NUMBERS])

    def step(t: float, room: Array, a: Array, b: Array, c: Array) -> None:
        """Every second step is left; the others are made."""
        rows = room.reshape(-1, WIDTH)
        goes = (rows[FRESH] >= 0) & (rows[STATUS] < 0)
        left = goes & (rows[HEAD] % 2 == 0)
        rows[HEAD][goes & ~left] += 1.0
        rows[STATUS][left] = LEFT
        over = goes & ~left & (rows[HEAD] >= rows[HEAD + 4])
        rows[STATUS][over] = END
        room[OVER] = float(((rows[FRESH] >= 0) & (rows[STATUS] >= 0)).any())

    results = np.full((points, N + 1), np.nan)
    room = np.full((HEAD + NUMBERS + N + 1 + 6, WIDTH), 7.0)
    room[START], room[STATUS], room[T_END] = 2.5, 0.0, 9.0
    in_lanes_watched(
        begin, step, WIDTH, N, NUMBERS, points, given.ravel(), results.ravel(), np.zeros(WIDTH), room.ravel(), problem,
        state, one, log,
    )  # fmt: skip
    assert begun == list(range(points))
    refused = np.arange(points) == 3
    np.testing.assert_array_equal(results[:, 0], np.where(refused, 0, lengths))
    np.testing.assert_array_equal(results[:, 1], np.arange(points))
    odd = (lengths % 2 == 1) & (np.arange(points) % 2 == 1)  # the last step of an odd number was made alone
    np.testing.assert_array_equal(results[:, 2], np.where(refused, HANDOVER, np.where(odd, EVENT, END)))
    counts = np.bincount(np.array(alone, dtype=int), minlength=points)
    np.testing.assert_array_equal(counts, np.where(refused, 0, (lengths + 1) // 2))


def test_a_room_has_the_limits_of_its_runs_in_every_lane() -> None:
    system = System.from_strings("x' = -a*x + step(x - 1); y' = a")
    lanes = LaneBatch(system, 0, 4, [graph.sym("x") - 1, graph.sym("y")], [0.0, 1.0])
    room, found = lanes.new_room(), places(system, 2)
    assert room.shape == (found.rows, 4) and not room.any() and room.ctypes.data % 64 == 0
    assert (found.x, found.atol, found.p, found.f) == (HEAD, HEAD + 2, HEAD + 4, HEAD + 5)
    assert (found.gates, found.side, found.width, found.movable) == (HEAD + 7, HEAD + 8, HEAD + 10, HEAD + 12)
    assert found.rows == HEAD + 14
    for method, switch in (("auto", 1.0), ("DOP853", 0.0)):
        lanes.put(room, SimpleNamespace(start=2.0, end=3.0, rtol=1e-4, max_steps=50, method=method))
        rows = {START: 2.0, T_END: 3.0, RTOL: 1e-4, H: 1.0, MAX_STEPS: 50.0, MAY_SWITCH: switch, found.movable + 1: 1.0}
        assert np.array_equal(room, np.array([[rows.get(k, 0.0)] * 4 for k in range(found.rows)]))


def test_systems_up_to_a_size_go_in_lanes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of states, of what is watched, of operations, and of those of a series; and only where there are vectors."""
    wave, level = System.from_strings({"x": "y", "y": "-x"}), graph.sym("x") - 1
    nodes = len(graph.topological([*wave.nodes, level]))
    assert goes_in_lanes(wave, [level], "auto", 0)
    for name, size in (("MOST_STATES", 2), ("MOST_WATCHED", 1), ("MOST_NODES", nodes)):
        for limit, fits in ((size + 1, True), (size, True), (size - 1, False)):
            monkeypatch.setattr(lane_batch, name, limit)
            assert goes_in_lanes(wave, [level], "DOP853", 0) is fits
        monkeypatch.undo()
    for limit, fits in ((len(graph.topological(list(wave.nodes))) * 49, True), (3 * 49 - 1, False)):
        monkeypatch.setattr(lane_batch, "SHORT", limit)
        assert goes_in_lanes(wave, [], "Taylor", 7) is fits
    monkeypatch.setattr(lane_batch, "lane_width", lambda: 0)
    assert not goes_in_lanes(wave, [level], "auto", 0)
