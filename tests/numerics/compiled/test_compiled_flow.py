"""Flows run in compiled code against the reference integrator: ends, dense output, switches, events, slides."""

import subprocess
import sys
import threading

import numpy as np
import pytest
import sympy as sp

from derivations.two_mixture import dynamics
from numerics.compiled import compiled_flow
from numerics.compiled.choice import nodes_of
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.dop853 import DAMPED
from numerics.compiled.records import EXPLICIT, IMPLICIT, TAYLOR
from numerics.compiled.taylor import order_for
from numerics.flows.integrate import SWITCHES, integrate
from numerics.flows.run import Run
from numerics.flows.trajectory import StopWhen
from odesys import System
from odesys.errors import BrokenRunWarning, EquationError, IntegrationError, OdesysError, ParameterError
from odesys.expr import graph
from odesys.jit import llvm, native
from odesys.jit.codegen import node_function

x, y, v, t, k = sp.symbols("x y v t k")
OSCILLATOR = System.from_equations({x: y, y: -k * x}, parameters=[k])


def test_an_oscillator_is_followed_and_dense_output_is_accurate() -> None:
    run = CompiledFlow(OSCILLATOR).run({"x": 1, "y": 0}, (0.0, 40.0), {"k": 4}, rtol=1e-11)
    times = np.linspace(0, 40, 1001)
    assert np.abs(run.at(times)[:, 0] - np.cos(2 * times)).max() < 1e-8
    assert run.stop == "end" and run.end_time == 40 and run.cost.steps > 20


def test_steps_are_those_of_scipy() -> None:
    from scipy.integrate import solve_ivp

    ours = CompiledFlow(OSCILLATOR).run([1.0, 0.0], (0.0, 10.0), {"k": 1}, rtol=1e-8, atol=1e-10)
    theirs = solve_ivp(lambda t, z: [z[1], -z[0]], (0, 10), [1.0, 0.0], "DOP853", rtol=1e-8, atol=1e-10)
    assert ours.times == pytest.approx(theirs.t, rel=1e-6) and ours.states == pytest.approx(theirs.y.T, abs=1e-6)


@pytest.mark.parametrize("groups", [2, 7])
def test_training_with_switches_agrees_with_the_reference(groups: int) -> None:
    flow = dynamics.family("simultaneous")
    start, given = flow.initial_state(0.1), {"b": 0.5, "K": groups}
    ours = CompiledFlow(flow.system).run(start, (0.0, 150.0 * groups), given, rtol=1e-10)
    reference = integrate(flow.system, start, (0.0, 150.0 * groups), given, rtol=1e-10, backend="reference")
    assert ours.end_state == pytest.approx(reference.end_state, abs=1e-9)
    assert [(e.name, e.kind, e.detail["gate"]) for e in ours.events] == [
        (e.name, e.kind, e.detail["gate"]) for e in reference.events
    ]
    assert [e.time for e in ours.events] == pytest.approx([e.time for e in reference.events], rel=1e-8)
    times = np.linspace(0, 150 * groups, 77)
    assert np.abs(ours.at(times) - reference.at(times)).max() < 1e-8


def test_a_slide_is_handed_over() -> None:
    relay = System.from_equations({x: 2 - 3 * sp.Heaviside(x - 1) + y, y: -y})
    ours = CompiledFlow(relay).run([0.0, 0.5], (0.0, 2.0))
    reference = integrate(relay, [0.0, 0.5], (0.0, 2.0), backend="reference")
    assert [(s.name, round(s.start, 9)) for s in ours.slides] == [(s.name, round(s.start, 9)) for s in reference.slides]
    assert ours.end_state == pytest.approx(reference.end_state, abs=1e-9) and len(ours.slides) == 1


def test_two_surfaces_at_once_are_handed_over() -> None:
    corner = System.from_equations({x: 1 - sp.Heaviside(x - 1) / 2, y: 1 + sp.Heaviside(y - 1)})
    run = CompiledFlow(corner).run([0.0, 0.0], (0.0, 2.0))
    assert run.end_state == pytest.approx([1.5, 3.0], abs=1e-9)
    assert sorted(e.name for e in run.events) == ["x - 1", "y - 1"]


def test_events_stop_and_are_recorded() -> None:
    events = [StopWhen("down", x, -1, terminal=False), StopWhen("late", "y", +1, level=0.5)]
    ours = CompiledFlow(OSCILLATOR, events).run([1.0, 0.0], (0.0, 20.0), {"k": 1}, rtol=1e-11)
    reference = integrate(OSCILLATOR, [1.0, 0.0], (0.0, 20.0), {"k": 1}, rtol=1e-11, events=events, backend="reference")
    assert ours.stop == reference.stop == "event:late"
    assert [(e.name, e.kind) for e in ours.events] == [(e.name, e.kind) for e in reference.events]
    assert [e.time for e in ours.events] == pytest.approx([e.time for e in reference.events], abs=1e-9)


def test_a_dip_within_one_step_is_seen() -> None:
    """The free fall is exact in one step; the ball is below zero for a short while in the middle of it."""
    fall = System.from_equations({x: v, v: sp.Integer(2)})
    run = CompiledFlow(fall, [StopWhen("ground", x, -1)]).run([0.2499, -1.0], (0.0, 1.0), rtol=1e-3, atol=1e-3)
    assert run.stop == "event:ground" and run.end_time == pytest.approx(0.49, abs=1e-6)


def test_batches_agree_with_single_runs_and_order_does_not_matter() -> None:
    flow, given = CompiledFlow(OSCILLATOR), [{"k": 1 + j / 10} for j in range(12)]
    ends = flow.batch([1.0, 0.0], (0.0, 5.0), given)
    single = np.array([flow.run([1.0, 0.0], (0.0, 5.0), one).end_state for one in given])
    np.testing.assert_allclose(ends, single, rtol=0, atol=100 * 1e-9)  # a batch goes in lanes, which round otherwise
    assert np.array_equal(flow.batch([1.0, 0.0], (0.0, 5.0), given[::-1]), ends[::-1])


def test_a_batch_stops_at_events_and_hands_slides_over() -> None:
    relay = System.from_equations({x: k - 3 * sp.Heaviside(x - 1) + y, y: -y}, parameters=[k])
    given = [{"k": 2.0}, {"k": 5.0}, {"k": 0.5}]  # slides, crosses, never gets there
    ends = CompiledFlow(relay).batch([0.0, 0.5], (0.0, 2.0), given)
    assert ends == pytest.approx(
        np.array([integrate(relay, [0.0, 0.5], (0.0, 2.0), one, backend="reference").end_state for one in given]),
        abs=1e-8,
    )
    stopped = CompiledFlow(OSCILLATOR, [StopWhen("down", x, -1)]).batch(
        [[1.0, 0.0], [2.0, 0.0]], (0.0, 9.0), [{"k": 1}, {"k": 4}]
    )
    assert stopped == pytest.approx(np.array([[0.0, -1.0], [0.0, -4.0]]), abs=1e-8)
    with pytest.raises(ParameterError, match="3 starts do not go with 2"):
        CompiledFlow(OSCILLATOR).batch(np.zeros((3, 2)), (0.0, 1.0), [{"k": 1}, {"k": 2}])
    assert CompiledFlow(OSCILLATOR).batch([1.0, 0.0], (0.0, 1.0), []).shape == (0, 2)


needs_llvm = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")


@needs_llvm
def test_integrate_runs_in_compiled_code_by_default(monkeypatch: pytest.MonkeyPatch) -> None:
    events = [StopWhen("down", x, -1)]
    plain = integrate(OSCILLATOR, [1.0, 0.0], (0.0, np.inf), {"k": 4}, events=events, backend="reference")
    monkeypatch.setattr(Run, "_segment", lambda *_: pytest.fail("the reference was used"))
    run = integrate(OSCILLATOR, [1.0, 0.0], (0.0, np.inf), {"k": 4}, events=events, t_eval=[0.0, 0.5])
    with pytest.raises(IntegrationError, match="come to rest"):
        integrate(
            System.from_equations({x: sp.Integer(0)}), [1.0], (0.0, np.inf), events=[StopWhen("never", x, level=2.0)]
        )
    assert run.stop == plain.stop == "event:down" and run.times.tolist() == [0.0, 0.5]
    assert run.end_time == pytest.approx(np.pi / 4, abs=1e-9) == plain.end_time
    for options in ({"backend": "reference"}, {"method": "RK45"}, {"events": [StopWhen("f", lambda t, z: z[0])]}):
        with pytest.raises(pytest.fail.Exception, match="the reference"):
            integrate(OSCILLATOR, [1.0, 0.0], (0.0, 1.0), {"k": 4}, **options)


@needs_llvm
def test_code_is_looked_up_from_the_second_run_on(monkeypatch: pytest.MonkeyPatch) -> None:
    first = integrate(OSCILLATOR, [1.0, 0.0], (0.0, 1.0), {"k": 4})
    monkeypatch.setattr(native, "assembly", lambda *_: pytest.fail("written again"))
    monkeypatch.setattr(llvm, "compiled", lambda *_: pytest.fail("compiled again"))
    again = integrate(OSCILLATOR, [1.0, 0.0], (0.0, 1.0), {"k": 4})
    assert np.array_equal(first.end_state, again.end_state)


def test_what_can_not_be_compiled_is_refused_where_it_is_asked_for() -> None:
    with pytest.raises(ParameterError, match="Rodas5P, not RK45"):
        integrate(OSCILLATOR, [1.0, 0.0], (0.0, 1.0), {"k": 4}, method="RK45", backend="compiled")
    with pytest.raises(ParameterError, match="a Python function"):
        integrate(
            OSCILLATOR, [1.0, 0.0], (0.0, 1.0), {"k": 4}, events=[StopWhen("f", lambda t, z: z[0])], backend="compiled"
        )


def test_each_state_has_its_own_absolute_tolerance() -> None:
    loose, tight = (
        CompiledFlow(OSCILLATOR).run([1.0, 0.0], (0.0, 20.0), {"k": 1}, rtol=1e-12, atol=atol)
        for atol in (1e-3, [1e-3, 1e-11])
    )
    assert tight.cost.steps > 2 * loose.cost.steps
    assert tight.end_state == pytest.approx([np.cos(20), -np.sin(20)], abs=1e-8)


def random_system(rng: np.random.Generator) -> tuple[System, list[StopWhen]]:
    """Up to three equations with up to three kinks or jumps, and up to two events."""
    states = sp.symbols("x0:3")[: int(rng.integers(1, 4))]

    def plane() -> sp.Expr:
        *slopes, level = (sp.Rational(int(k), 4) for k in rng.integers(-8, 9, size=len(states) + 1))
        return states[0] / 3 + level + sum(a * v for a, v in zip(slopes, states, strict=True))

    surfaces = [plane() + (sp.sin(3 * t) if rng.random() < 0.2 else 0) for _ in range(int(rng.integers(0, 4)))]
    equations = {}
    for state in states:
        kinks = (
            sp.Heaviside(h) * plane() if rng.random() < 0.5 else sp.Max(h, 0) * int(rng.integers(-1, 2)) / 2
            for h in surfaces
        )
        equations[state] = plane() - state + sp.sin(plane()) + sum(kinks)
    events = [
        StopWhen(f"event {k}", plane(), int(rng.integers(-1, 2)), bool(rng.random() < 0.3), float(rng.normal()))
        for k in range(int(rng.integers(0, 3)))
    ]
    return System.from_equations(equations), events


@pytest.mark.parametrize("seed", range(20))
def test_random_piecewise_flows_agree_with_the_reference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    system, events = random_system(rng)
    start, span = rng.normal(size=system.dimension), (0.0, float(rng.uniform(1, 8)))
    ours = CompiledFlow(system, events).run(start, span, rtol=1e-10)
    if ours.cost.steps > 1000:  # it grows, and turns ever faster
        span = (0.0, float(ours.times[1000]))
        ours = CompiledFlow(system, events).run(start, span, rtol=1e-10)
    reference = integrate(system, start, span, rtol=1e-10, events=events, backend="reference")
    assert (ours.stop, [(e.name, e.kind) for e in ours.events]) == (
        reference.stop,
        [(e.name, e.kind) for e in reference.events],
    )
    assert ours.end_time == pytest.approx(reference.end_time, abs=1e-7)
    times = np.linspace(0, min(ours.end_time, reference.end_time), 40)
    assert ours.at(times) == pytest.approx(reference.at(times), rel=1e-6, abs=1e-6)


def test_long_runs_keep_all_their_steps() -> None:
    run = CompiledFlow(OSCILLATOR).run([1.0, 0.0], (0.0, 2000.0), {"k": 1}, rtol=1e-10)
    assert len(run.times) > 1200 and (np.diff(run.times) > 0).all()
    times = np.linspace(0, 2000, 333)
    assert np.abs(run.at(times)[:, 0] - np.cos(times)).max() < 1e-6


def test_events_recorded_times_and_progress_of_a_long_run() -> None:
    seen: list[float] = []
    run = CompiledFlow(OSCILLATOR, [StopWhen("up", x, +1, terminal=False)]).run(
        [1.0, 0.0],
        (0.0, 300.0),
        {"k": 1},
        rtol=1e-10,
        t_eval=[0.0, 7.0, 299.0],
        progress=lambda label, done: seen.append(done),
    )
    assert run.end_state == pytest.approx([np.cos(300), -np.sin(300)], abs=1e-7) and run.cost.steps > 100
    assert run.times.tolist() == [0.0, 7.0, 299.0] and run.states[:, 0] == pytest.approx(np.cos([0, 7, 299]), abs=1e-7)
    assert np.diff(run.times_of("user", "up")) == pytest.approx(2 * np.pi, abs=1e-7) and len(run.events) == 47
    assert seen[-1] == 1.0


def test_blow_up_and_too_many_steps_are_sentences() -> None:
    with pytest.raises(IntegrationError, match="stuck at t = "):
        CompiledFlow(System.from_equations({x: x**2})).run([1.0], (0.0, 2.0))
    with pytest.raises(IntegrationError, match="all 3 steps"):
        CompiledFlow(OSCILLATOR).run([1.0, 0.0], (0.0, 100.0), {"k": 1}, max_steps=3)
    with pytest.raises(ParameterError, match="finite"):
        CompiledFlow(OSCILLATOR).final([1.0, 0.0], (0.0, np.inf), {"k": 1})
    with pytest.raises(ParameterError, match="Python function"):
        CompiledFlow(OSCILLATOR, [StopWhen("f", lambda t, x: x[0])])


def test_without_llvmlite_the_same_lines_run_as_python() -> None:
    """In a process where llvmlite can not be imported: same steps, same digits up to library functions."""
    code = """
import sys
sys.modules["llvmlite"] = None
import sympy as sp
from numerics.compiled import compiled_flow
from numerics.compiled.choice import nodes_of
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.dop853 import DAMPED
from numerics.compiled.records import EXPLICIT, IMPLICIT, TAYLOR
from numerics.compiled.taylor import order_for
from odesys import System
x, y = sp.symbols("x y")
system = System.from_equations({x: y - sp.Max(x, 0), y: -sp.exp(x) + 1})
run = CompiledFlow(system).run([-1.0, 0.3], (0.0, 5.0), rtol=1e-9)
print(run.cost.steps, *map(repr, run.end_state.tolist()), len(run.events))
flow = CompiledFlow(system)
ends = [flow.final([-1.0, 0.3], (0.0, 5.0)), *flow.batch([-1.0, 0.3], (0.0, 5.0), [{}] * 2)]
print(all((end == run.end_state).all() for end in ends))
"""
    plain = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    system = System.from_equations({x: y - sp.Max(x, 0), y: -sp.exp(x) + 1})
    run = CompiledFlow(system).run([-1.0, 0.3], (0.0, 5.0), rtol=1e-9)
    assert int(plain[0]) == run.cost.steps and int(plain[3]) == len(run.events) > 0
    assert [float(p) for p in plain[1:3]] == pytest.approx(run.end_state, rel=1e-13) and plain[4] == "True"


def test_a_state_that_stays_zero_needs_no_absolute_tolerance() -> None:
    """With atol = 0 its error is measured in units of nothing: a sentence, not a division by zero."""
    still = System.from_equations({x: -x, y: sp.Integer(0) * y})
    with pytest.raises(IntegrationError, match="y starts at zero and atol is zero"):
        CompiledFlow(still).run([1.0, 0.0], (0.0, 1.0), atol=0.0)


def test_wrong_arguments_are_refused_by_a_sentence() -> None:
    decay = System.from_strings("x' = -k*x")
    flow = CompiledFlow(decay)
    for wrong in ({"t_span": (0,)}, {"t_span": "01"}, {"t_span": None}, {"rtol": "a"}, {"max_steps": 1.5}):
        given = {"t_span": (0.0, 1.0)} | wrong
        with pytest.raises(ParameterError):
            flow.batch([1.0], parameters=[{"k": 1.0}], **given)
        with pytest.raises(ParameterError):
            flow.final([1.0], parameters={"k": 1.0}, **given)
    for system, events in ((5, ()), (decay, ["a"]), (decay, 5)):
        with pytest.raises(OdesysError):
            CompiledFlow(system, events)  # type: ignore[arg-type]
    taylor = [flow.final([1.0], (0.0, 1.0), {"k": 1.0}, method=name) for name in ("Taylor", "taylor")]
    assert taylor[0] == taylor[1]


# ---- what the flow hands on ---------------------------------------------------------------------------------------

GATED = System.from_strings(
    {"x": "v", "v": "-k*x + step(x - 2)*step(k - 3) + step(t - 5)"}, ["k"], observables={"twice": "2*x"}
)
EVENTS = [
    StopWhen("up", "twice", 1, False, 0.5),
    StopWhen("any", 3 * x, 0, True, 0.0),
    StopWhen("late", t, -1, True, 7.0),
]


def test_what_is_watched_are_surfaces_then_events_minus_their_levels() -> None:
    """A surface of parameters alone stays where it is; time moves, and so does every event."""
    flow = CompiledFlow(GATED, EVENTS)
    assert (flow.surfaces, flow.count) == (3, 6)
    watched = node_function(GATED, flow._watched, {"k": 4.0})(6.0, [1.5, 0.25])
    assert watched[3:].tolist() == [2.5, 4.5, -1.0]
    gates = [node_function(GATED, [graph.step(node)], {"k": 4.0})(6.0, [1.5, 0.25])[0] for node in GATED.surfaces]
    assert (watched[:3] > 0).tolist() == [gate == 1.0 for gate in gates]
    moves = {str(node): moved for node, moved in zip(GATED.surfaces, flow._movable, strict=False)}
    assert [moves[name] for name in sorted(moves, key=lambda name: ("k" in name, name))] == [1.0, 1.0, 0.0]
    assert flow._movable[3:].tolist() == [1.0] * 3
    directions, terminal = flow._wanted
    assert directions.tolist() == [1.0, 0.0, -1.0] and terminal.tolist() == [0.0, 1.0, 1.0]
    problem = flow.problem(np.array([4.0]), 9.0, 1e-5, np.array([1e-3, 1e-4]))
    assert (problem.n, problem.surfaces, problem.count, problem.t_end, problem.rtol) == (2, 3, 6, 9.0, 1e-5)
    assert (problem.max_steps, problem.max_switches, problem.order, problem.may_switch) == (0, SWITCHES, 0, 0)
    assert problem.signs.size == 6 and problem.atol.tolist() == [1e-3, 1e-4] and problem.p.tolist() == [4.0]
    assert repr(flow).endswith(", 3 events>") and repr(flow).startswith("<CompiledFlow of <System")


def test_events_are_expressions_of_what_the_system_has() -> None:
    flow = CompiledFlow(GATED)
    assert (flow.surfaces, flow.count, flow.events) == (3, 3, [])
    for wrong in ("z - 1", sp.Symbol("z") * x, "w + z"):
        with pytest.raises(EquationError, match=r"the event odd uses [wz], which is no state, observable or parameter"):
            CompiledFlow(GATED, [StopWhen("odd", wrong)])
    for same_as in ("twice - 1", 2 * x - 1, graph.sym("twice") - 1):
        (node,) = CompiledFlow(GATED, [StopWhen("one", same_as, level=-0.5)]).events
        assert node_function(GATED, [node], {"k": 1.0})(0.0, [3.0, 0.0]).tolist() == [5.5]
    with pytest.raises(ParameterError, match=r"a map has no time between its steps; use numerics\.maps\.iterate"):
        CompiledFlow(System.from_equations({x: x / 2}, kind="map"))


@pytest.mark.parametrize("call", ["batch", "final"])
def test_limits_are_refused_by_a_sentence(call: str) -> None:
    flow = CompiledFlow(OSCILLATOR)
    given: dict[str, object] = {"x0": [1.0, 0.0], "parameters": {"k": 1.0}}
    if call == "batch":
        given = {"starts": [1.0, 0.0], "parameters": [{"k": 1.0}]}
    for span in ((0.0, np.inf), (-np.inf, 0.0), (1.0, 0.5), (0.0, np.nan)):
        with pytest.raises(ParameterError, match="must be finite and must not run backwards"):
            getattr(flow, call)(t_span=span, **given)
    assert np.ravel(getattr(flow, call)(t_span=(0.5, 0.5), **given)).tolist() == [1.0, 0.0]
    with pytest.raises(ParameterError, match=r"a batch is run by .*Rodas5P.*, not Radau; use integrate"):
        getattr(flow, call)(t_span=(0.0, 1.0), method="Radau", **given)
    if call == "batch":
        with pytest.raises(ParameterError, match="on_error = 'skip' is not known; choose nan or raise"):
            flow.batch([1.0, 0.0], (0.0, 1.0), [{"k": 1.0}], on_error="skip")


@pytest.mark.parametrize("method", ["DOP853", "Rodas5P", "auto"])
def test_a_run_that_breaks_has_no_number_and_its_place_in_the_batch(
    method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In whichever call of the kernel it was; all of its states, and none of the others'."""
    monkeypatch.setattr(compiled_flow, "RUNS_PER_CALL", 3)
    monkeypatch.setattr(compiled_flow, "LANE_RUNS_PER_CALL", 3)
    system = System.from_equations({x: k * x**2, y: -y, v: sp.Integer(1)}, parameters=[k])
    flow, rates = CompiledFlow(system), [0.5, 0.25, 0.1, -1.0, 3.0, 0.7, 0.2]
    with pytest.warns(BrokenRunWarning, match="point 4 of the batch") as caught:
        found = flow.batch([1.0, 1.0, 0.0], (0.0, 1.0), [{"k": rate} for rate in rates], method=method)
    assert len(caught) == 1 and np.isnan(found[4]).all()
    for rate, row in zip(rates, found, strict=True):
        if rate < 1.0:
            np.testing.assert_allclose(row, [1 / (1 - rate), np.exp(-1), 1.0], rtol=1e-7)
    with pytest.raises(IntegrationError, match="point 4 of the batch"):
        flow.batch([1.0, 1.0, 0.0], (0.0, 1.0), [{"k": rate} for rate in rates], on_error="raise", method=method)
    with pytest.raises(IntegrationError):
        flow.final([1.0, 1.0, 0.0], (0.0, 1.0), {"k": 3.0}, method=method)


@pytest.mark.parametrize("method", ["auto", "DOP853", "Rodas5P", "Taylor"])
def test_a_flow_forgets_the_limits_of_the_calls_before(method: str) -> None:
    """Other times, tolerances and most steps, back and forth: as a flow that is used for the first time."""
    used, calls = (
        CompiledFlow(OSCILLATOR),
        [((0.0, 1.0), 1e-4), ((0.5, 3.0), 1e-9), ((-2.0, 1.0), 1e-4), ((0.0, 1.0), 1e-9)],
    )
    for _ in range(2):
        for span, rtol in calls:
            for each in (used, CompiledFlow(OSCILLATOR)):
                one = each.final([1.0, 0.0], span, {"k": 4.0}, rtol=rtol, method=method)
                many = each.batch([1.0, 0.0], span, [{"k": 4.0}] * 2, rtol=rtol, method=method)
                if each is used:
                    before = one.tobytes(), many.tobytes()
            assert before == (one.tobytes(), many.tobytes())
            angle = 2 * (span[1] - span[0])
            assert np.abs(many - [np.cos(angle), -2 * np.sin(angle)]).max() < 300 * rtol
    with pytest.raises(IntegrationError, match="max_steps"):
        used.final([1.0, 0.0], (0.0, 50.0), {"k": 4.0}, max_steps=3, method=method)
    assert np.isfinite(used.final([1.0, 0.0], (0.0, 50.0), {"k": 4.0}, method=method)).all()


@needs_llvm
def test_rooms_are_of_a_thread_and_a_method() -> None:
    """A single run by a series has one of its own where nothing is watched; others share that of batches."""
    flow, watched = CompiledFlow(OSCILLATOR), CompiledFlow(OSCILLATOR, [StopWhen("down", x, -1)])
    for each in (flow, watched):
        rooms = {}
        for method in ("auto", "DOP853", "Rodas5P", "Taylor"):
            limits = each._limits((0.0, 1.0), 1e-9, 100, "nan", method)
            rooms[method] = each._room_for(limits)
            assert each._room_for(limits) is rooms[method]
            alone = each._single_room(limits)
            assert (alone is rooms[method]) is (method != "Taylor" or each is watched)
            assert each._single_room(limits) is alone
            problem, state = (rooms[method].records[k].record for k in (0, 1))
            assert (problem.may_switch, problem.patience) == ((1, DAMPED) if method == "auto" else (0, 0))
            assert state.method == {"Rodas5P": IMPLICIT, "Taylor": TAYLOR}.get(method, EXPLICIT)
            assert problem.order == (order_for(1e-9, nodes_of(OSCILLATOR)) if method == "Taylor" else 0)
        assert len({id(room) for room in rooms.values()}) == 4
        assert each._in_lanes(flow._limits((0.0, 1.0), 1e-9, 100, "nan", "auto"))
        assert not each._in_lanes(flow._limits((1.0, 1.0), 1e-9, 100, "nan", "auto"))
        other: list[object] = []
        thread = threading.Thread(
            target=lambda each=each, other=other, limits=limits: other.append(each._room_for(limits))
        )
        thread.start()
        thread.join()
        assert other[0] is not rooms["Taylor"]
