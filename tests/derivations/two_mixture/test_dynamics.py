"""The two-mixture paper: sizes, closed forms, stages, gradient descent and finite width against known numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import sympy as sp
from scipy.integrate import solve_ivp

from derivations.two_mixture import PAPER, dynamics, protocol, setting
from derivations.two_mixture.compare import compare, start_network
from derivations.two_mixture.special import closed_forms
from numerics.flows.clearance import clearances
from numerics.flows.integrate import integrate
from numerics.maps.iterate import iterate
from odesys.analysis.lax import invariant_drift
from odesys.errors import IntegrationError, ParameterError
from odesys.terminal import silent


def parameters(**values: object) -> dict:
    return PAPER.read_parameters({name: str(value) for name, value in values.items()})


def event_time(run, name: str) -> float:
    (time,) = (event.time for event in run.events if event.name == name)
    return time


# ---- setting and sizes -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("K", "L", "size"), [(2, 3, 8), (3, 3, 24), (4, 3, 48), (8, 3, 224), (3, 4, 60)])
def test_support(K: int, L: int, size: int) -> None:
    data = setting.data(K, L)
    assert len(data) == size and sum(s.weight * s.label for s in data.samples) == 0


def test_conflicting_half() -> None:
    assert len(setting.conflicting(2)) == 4
    assert {s.weight for s in setting.conflicting(2).samples} == {Fraction(1, 4)}
    assert sum(s.weight for s in setting.data(2).samples if setting.is_conflicting(s)) == Fraction(1, 2)


def test_dimensions_come_out_of_the_program() -> None:
    assert dynamics.full_flow().system.dimension == 80
    assert dynamics.one_head().system.dimension == 40
    assert dynamics.reduced().system.dimension == 22
    assert dynamics.slaved().system.dimension == 10
    assert [len(dynamics.slaved(stage).system.moving) for stage in ("stage1", "stage2", "stage3")] == [2, 8, 2]
    kinds = [name[0] for name in dynamics.reduced().system.names]
    assert [kinds.count(kind) for kind in "nMAB"] == [2, 8, 6, 6]


# ---- closed forms ------------------------------------------------------------------------------------------------


def test_switch_time_in_closed_form() -> None:
    b = sp.Symbol("b", real=True)
    for K in (2, 3, 4):
        expected = sp.Rational(K, 4) * (2 * b + sp.exp(2 * b) - 1)
        assert sp.expand(closed_forms.stage_one(K).switch_time() - expected) == 0


@pytest.mark.parametrize(
    ("T1", "n_v", "n_c"),
    [(3, 0.350310, 0.050155), (5, 0.450884, 0.100442), (20, 0.870339, 0.310170), (100, 1.496010, 0.623005)],
)
def test_neurons_after_stage_one(T1: float, n_v: float, n_c: float) -> None:
    exact = closed_forms.stage_one().neurons(T1, 0.5)
    assert exact["n_v"] == pytest.approx(n_v, abs=5e-7) and exact["n_c"] == pytest.approx(n_c, abs=5e-7)
    reduced = dynamics.reduced("stage1")
    run = integrate(reduced.system, reduced.initial_state(0.1), (0.0, T1), {"b": 0.5}, rtol=1e-11)
    assert run.final["n_v"] == pytest.approx(exact["n_v"], abs=1e-9)
    assert run.final["n_c"] == pytest.approx(exact["n_c"], abs=1e-9)
    assert run.times_of("switch") == [pytest.approx(math.e / 2, abs=1e-9)]


def test_closed_form_of_stage_one_survives_large_times() -> None:
    late = closed_forms.stage_one().neurons(1e6, 0.5)
    assert late["n_c"] == pytest.approx((math.log(5e6 / 8) - 1) / 5, abs=1e-3)


def test_frozen_force_solution_solves_its_equation() -> None:
    rate, solution = closed_forms.frozen_solution()
    n_c, omega, t = sp.Symbol("n_c", real=True), sp.Symbol("omega", positive=True), sp.Symbol("t", real=True)
    assert rate == n_c / 18
    force = np.array(closed_forms.uniform_force().subs(n_c, 0.31), dtype=float)
    gamma = np.block([[np.zeros((4, 4)), force], [force.T, np.zeros((4, 4))]])
    run = solve_ivp(
        lambda _, s: (gamma @ s.reshape(8, 8) + s.reshape(8, 8) @ gamma).ravel(),
        (0, 60),
        0.01 * np.eye(8).ravel(),
        rtol=1e-11,
        atol=1e-14,
    )
    exact = np.array(solution.subs({n_c: 0.31, omega: 0.1, t: 60}), dtype=float)
    assert np.abs(run.y[:, -1].reshape(8, 8) - exact).max() < 1e-9
    kappa = rate
    assert sp.expand(solution[0, 6] - omega**2 * sp.sinh(4 * kappa * t).rewrite(sp.exp) / 2) == 0
    assert sp.expand(solution[2, 4] + omega**2 * sp.sinh(2 * kappa * t).rewrite(sp.exp) / 2) == 0


# ---- three stages ------------------------------------------------------------------------------------------------

AT_T2 = {  # omega = 0.1, T1 = 20, x* = 1
    "M_cc_same": 0.02719,
    "M_cc_other": -0.02703,
    "M_cv_other": -1.0,
    "M_vc_same": -0.05541,
    "M_vc_other": 0.05407,
    "M_vv_same": -0.11114,
    "M_vv_other": 0.11114,
    "A_cc_same": 0.99970,
    "A_cc_other": -0.98970,
    "A_cv_same": -0.10642,
    "A_vv_same": 0.06868,
    "B_cc_same": 0.05770,
    "B_cv_same": 0.03136,
    "B_vv_same": 1.01068,
    "B_vv_other": -1.00068,
}


def test_second_stage() -> None:
    run = protocol.three_stage_run(parameters())
    assert event_time(run, "T2") - 20 == pytest.approx(90.17591, abs=5e-6)
    state = dict(zip(run.names, run.at(event_time(run, "T2")), strict=True))
    for name, value in AT_T2.items():
        assert state[name] == pytest.approx(value, abs=6e-6), name


@pytest.mark.parametrize(("omega", "delay"), [(0.3, 58.3405), (0.03, 125.0680), (0.01, 156.9302), (0.001, 223.7354)])
def test_duration_of_stage_two(omega: float, delay: float) -> None:
    run = protocol.three_stage_run(parameters(omega=omega))
    assert event_time(run, "T2") - 20 == pytest.approx(delay, abs=6e-5)


def test_conflicting_queries_are_exactly_antisymmetric_in_stage_two() -> None:
    run = protocol.three_stage_run(parameters(x_star=2))
    state = dict(zip(run.names, run.at(event_time(run, "T2")), strict=True))
    assert abs(state["M_cv_same"] + state["M_cv_other"]) < 1e-12
    assert abs(state["M_vv_same"] + state["M_vv_other"]) < 1e-12
    assert abs(state["M_vc_same"] + state["M_vc_other"]) > 1e-4


def test_late_loss_of_stage_three() -> None:
    run = protocol.three_stage_run(parameters(omega=0.05, eps=1e-12, t_end=100_200))
    t2 = event_time(run, "T2")
    product = (run.end_time - t2) * run.final["loss"]
    predicted = closed_forms.late_loss_constant(dict(zip(run.names, run.at(t2), strict=True)))
    assert product == pytest.approx(5.473, abs=2e-3)
    assert predicted == pytest.approx(5.470, abs=1e-3) and product == pytest.approx(predicted, rel=1e-3)


def test_another_integrator_and_the_slaved_system_agree() -> None:
    values = parameters()
    run = protocol.three_stage_run(values)
    t2 = event_time(run, "T2")
    slaved = dynamics.slaved("stage2")
    start = slaved.project(run.at(20.0))
    other = integrate(slaved.system, start, (20.0, t2), {"b": 0.5, "omega": 0.1}, rtol=1e-9, atol=1e-12, method="Radau")
    assert other.final["M_cv_same"] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("omega", [0.1, 0.01])
def test_invariant_drift_at_both_sizes(omega: float) -> None:
    run = protocol.three_stage_run(parameters(omega=omega))
    assert 0 < protocol.drift(run, 2) < 1e-12
    flow = dynamics.full_flow("stage2")
    start = dynamics.reduced("stage2").lift(run.at(20.0))
    full = integrate(flow.system, start, (20.0, event_time(run, "T2")), {"b": 0.5}, rtol=1e-10)
    assert 0 < invariant_drift(dynamics.full_flow(), full.states) < 1e-12
    assert abs(full.final["KQ_p_c1_v1"] - 1) < 1e-6


def test_simulate_results() -> None:
    result = PAPER.protocols["three-stage"](parameters(), silent).as_json("two_mixture")
    keys = {"paper", "protocol", "parameters", "final", "cost", "events", "invariant_drift", "note", "descent"}
    assert set(result) == keys
    assert result["note"] == "" and result["descent"] is None
    wanted = {"loss", "n_c", "n_v", *(f"M_{a}{b}_{s}" for a in "cv" for b in "cv" for s in ("same", "other"))}
    assert wanted <= set(result["final"])
    assert {event["kind"] for event in result["events"]} == {"switch", "stage"}
    assert result["final"]["loss"] == pytest.approx(0.01, abs=1e-9)


def test_simultaneous_flow_is_the_limit_of_gradient_descent() -> None:
    result = PAPER.protocols["simultaneous"](parameters(t_end=100), silent)
    assert result.invariant_drift < 1e-10
    reduced = dynamics.reduced_descent()
    gaps = []
    for eta in (0.1, 0.00625):
        steps = round(100 / eta)
        run = iterate(reduced.system, reduced.initial_state(0.1), steps, {"b": 0.5, "eta": eta}, [steps])
        gaps.append(abs(run.final["M_cv_same"] - result.final["M_cv_same"]))
    # first order up to the switch, whose time is rounded to a whole number of steps: 16 up to a factor of two
    assert 8 < gaps[0] / gaps[1] < 32 and gaps[1] < 2e-3


def test_a_run_that_slides_goes_on_and_says_when() -> None:
    slide = PAPER.protocols["simultaneous"](parameters(K=3, L=4, t_end=200), silent)
    assert slide.note == "" and slide.descent is None, "far from other kinks: steps of rate 1.4 would be needed"
    assert slide.final["t"] == 200 and slide.invariant_drift < 1e-9
    near = [e["nearest"] for e in slide.events if e["kind"] == "slide"]
    assert [(e["name"], round(e["rate"], 2)) for e in near] == [("H_p_17", 1.44), ("H_p_15", 2.89)]
    ends = [(e["time"], e["end"]) for e in slide.as_json("two_mixture")["events"] if e["kind"] == "slide"]
    assert np.array(ends) == pytest.approx(np.array([[157.38446, 159.30438], [164.65275, 167.67108]]), abs=1e-5)


@pytest.mark.slow
def test_a_slide_beside_another_kink_says_so_and_shows_the_descent_that_leaves_it(tmp_path: Path) -> None:
    run = PAPER.protocols["simultaneous"](parameters(K=3, L=4, b=0.3, t_end=300), silent)
    (near, far) = (e["nearest"] for e in run.events if e["kind"] == "slide")
    assert near["name"] == "H_p_7" and near["value"] == pytest.approx(8.98e-6, rel=1e-3)
    assert near["rate"] == pytest.approx(6.53e-4, rel=1e-2) and far["rate"] > 1
    assert run.note.startswith("the slide along H_p_14 comes within 9e-06 of the surface H_p_7, at t = 7.239;")
    assert run.note.endswith("discrete steps or finite width may leave this branch")
    beside = run.as_json("two_mixture")["descent"]
    assert (beside["rate"], beside["steps"], beside["final"]["t"]) == (0.1, 3000, pytest.approx(300))
    assert run.final["n_c"] == pytest.approx(2.41, abs=0.01) and beside["final"]["n_c"] == pytest.approx(
        -1.02, abs=0.01
    )
    assert set(beside["final"]) == set(run.final) and beside["final"]["loss"] > 10 * run.final["loss"]
    assert run.plot is not None
    assert b"gradient descent at rate 0.1" in next(f for f in run.plot(tmp_path) if f.suffix == ".svg").read_bytes()


@pytest.mark.slow
def test_steps_finer_than_the_clearance_stay_with_the_flow() -> None:
    """The criterion is about the rate: of two rates about that of the clearance, the smaller one keeps the branch."""
    reduced, ends = dynamics.reduced_descent(3, 4), []
    run = protocol.simultaneous_run(parameters(K=3, L=4, b=0.3, omega=0.3, t_end=20))
    (near,) = clearances(run)
    for eta in (0.1, near.rate / 2):
        steps = round(20 / eta)
        done = iterate(reduced.system, reduced.initial_state(0.3), steps, {"b": 0.3, "eta": eta}, [steps])
        ends.append(done.final["n_c"] - run.final["n_c"])
    assert abs(ends[0]) > 0.05 > 0.002 > abs(ends[1])


def test_surfaces_in_the_notation_of_the_paper() -> None:
    assert setting.surface_tex("H_p_4") == "H_+(c_1, -v_1, -v_2) + b"
    assert setting.surface_tex("H_m_17", 3, 4) == "H_-(c_1, -v_1, -v_2, -v_3) + b"


def test_a_run_that_ends_early_says_so() -> None:
    late = PAPER.protocols["three-stage"](parameters(eps=1e-3, t_end=300), silent)
    assert late.note == "stopped at t_end = 300 before the loss reached eps = 0.001"


def test_protocol_mistakes() -> None:
    with pytest.raises(ParameterError, match="three-stage training is defined for L = 3"):
        protocol.three_stage(parameters(L=4))
    with pytest.raises(ParameterError, match="t_end = 10 must be above T1 = 20"):
        protocol.three_stage_run(parameters(t_end=10))
    with pytest.raises(IntegrationError, match="has not reached x_star = 1 by t = 50"):
        protocol.three_stage_run(parameters(t_end=50))
    for name, value in (("omega", "-1"), ("omega", "nan"), ("K", "1"), ("K", "symbol"), ("K", "2.5"), ("T1", "0")):
        with pytest.raises(ParameterError, match=f"{name} = "):
            parameters(**{name: value})


# ---- gradient descent and finite width ---------------------------------------------------------------------------


def test_gradient_descent_of_weights_and_of_path_scalars_agree() -> None:
    flow = dynamics.full_descent()
    net = start_network(50, 0, {"K": 2, "omega": 0.1, "b": 0.5})
    marks = [0, 1000, 2000]
    nets = net.descend_recorded(0.1, 2000, marks)
    run = iterate(flow.system, flow.initial_state(weights=net.images()), 2000, {"b": 0.5, "eta": 0.1}, marks)
    for step, moved in zip(marks, nets, strict=True):
        assert np.abs(moved.paths() - run.at(step)).max() < 1e-12
    assert run.final["KQ_p_c1_v1"] > 2, "past the transition"


def test_infinite_width_gradient_descent_curve() -> None:
    reduced = dynamics.reduced_descent()
    run = iterate(reduced.system, reduced.initial_state(0.1), 4000, {"b": 0.5, "eta": 0.1}, [500, 1000, 1500, 4000])
    table = {int(t): dict(zip(run.names, x, strict=True)) for t, x in zip(run.times, run.states, strict=True)}
    losses = dict(zip(run.times.astype(int).tolist(), run.observable("loss").tolist(), strict=True))
    expected = {
        500: (0.3606, 0.495, 1.222, 0.013),
        1000: (0.2681, 0.927, 1.481, 0.438),
        1500: (0.0228, 1.885, 1.561, 2.291),
        4000: (0.0036, 2.626, 1.854, 3.254),
    }
    for step, (loss, n_c, n_v, score) in expected.items():
        assert losses[step] == pytest.approx(loss, abs=6e-5)
        assert table[step]["n_c"] == pytest.approx(n_c, abs=6e-4)
        assert table[step]["n_v"] == pytest.approx(n_v, abs=6e-4)
        assert table[step]["M_cv_same"] == pytest.approx(score, abs=6e-4)


@pytest.mark.parametrize("width", [20, 200])
def test_flow_from_a_networks_values_follows_the_network(width: int) -> None:
    net = start_network(width, 3, {"K": 2, "omega": 0.3, "b": 0.5})
    _, nets = net.flow_run(100.0)
    flow = dynamics.full_flow()
    run = integrate(flow.system, flow.initial_state(weights=net.images()), (0.0, 100.0), {"b": 0.5}, rtol=1e-11)
    expected = nets[-1].paths()
    assert np.abs(run.end_state - expected).max() < 1e-7
    assert np.abs(run.end_state).max() > 1


@pytest.mark.slow
def test_deviation_falls_like_one_over_the_root_of_the_width() -> None:
    result = compare([200, 400, 800, 1600], 20, parameters())
    law = result.exponent
    assert abs(law.value + 0.5) <= max(0.05, law.half_width)
    rms = {row["width"]: row["rms"] for row in result.rows()}
    assert 1.5 < rms[800] * 800**0.5 < 3.0, "about 2.0 - 2.3 / sqrt(m)"


def test_comparison_does_not_depend_on_the_number_of_workers() -> None:
    one, two = (compare([30, 60], 2, parameters(), silent, workers) for workers in (1, 2))
    assert one.as_json("x") == two.as_json("x")
