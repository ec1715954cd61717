"""The co-occurrence paper: sizes, appendix C, exactness at finite width, limits and phases against known numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from derivations.cooccurrence import PAPER, dynamics, setting
from derivations.cooccurrence.compare import compare, sub_network
from derivations.cooccurrence.laboratory import Laboratory
from derivations.cooccurrence.special import as_printed
from derivations.cooccurrence.special.phases import phase_one, phase_times, phase_two
from derivations.cooccurrence.special.trajectories import course, mean_field_run, network, neuron_course
from numerics.flows.integrate import integrate
from numerics.maps.iterate import iterate
from odesys.analysis.lax import invariant_drift
from odesys.errors import DictionaryError, ParameterError
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.terminal import silent

P0 = replace(setting.condition_one(5, 24, 8), sigma0=1 / np.sqrt(5 * 24))  # exactness: n = 12, L = 5, d = 35


def parameters(**values: object) -> dict:
    return PAPER.read_parameters({name: str(value) for name, value in values.items()})


# ---- setting -----------------------------------------------------------------------------------------------------


def test_training_set() -> None:
    assert setting.words_needed(60, 5) == 163 and setting.words_needed(12, 5) == 35
    for n, L in ((6, 4), (12, 5), (60, 5)):
        data = setting.data(n, L)
        assert not setting.satisfies_assumption(data)
        assert len({t for s in data.samples for t in s.tokens}) == setting.words_needed(n, L) == 3 + n * L - 7 * n // 3
    rng = np.random.default_rng(0)
    assert not setting.satisfies_assumption(setting.training_set(12, 5, 40, rng))
    repeated = setting.satisfies_assumption(setting.training_set(60, 5, 64, rng, distinct=False))
    assert len(repeated) == 1 and "repeat" in repeated[0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: setting.data(10, 5), "multiple of 6"),
        (lambda: setting.data(0, 5), "multiple of 6"),
        (lambda: setting.data(12, 3), "at least 4"),
        (lambda: setting.training_set(60, 5, 64, np.random.default_rng(0)), "d must be at least 163"),
        (lambda: dynamics.named_system("quotient", {"n": 13, "L": 5}), "multiple of 6"),
        (lambda: PAPER.protocols["mean-field"]({**parameters(), "n": 9}, silent), "multiple of 6"),
        (lambda: PAPER.read_parameters({"L": "3"}), "at least 4"),
    ],
)
def test_bad_input_gets_a_sentence(make, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        make()


def test_a_word_outside_of_the_vocabulary_is_named() -> None:
    with pytest.raises(DictionaryError, match="mu13"):
        dynamics.flow_of(setting.data(6, 4), 12)


# ---- closed systems ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "L"), [(6, 4), (12, 5)])
def test_dimension_comes_out_of_the_program(n: int, L: int) -> None:
    d = setting.words_needed(n, L)
    assert dynamics.gram_flow(n, L).system.dimension == 1 + d + d * d + 3 * d * (d + 1) // 2
    m1 = 3
    level0 = dynamics.neuron_flow(setting.data(n, L), d, (1, -1, 1)).system.dimension
    assert level0 == m1 * d + d * d + m1 * (m1 + 1) // 2 + 3 * d * (d + 1) // 2


@pytest.mark.parametrize(("n", "L", "size"), [(12, 5, 113), (18, 5, 113), (12, 6, 113), (12, 4, 109), (6, 5, 105)])
def test_orbits(n: int, L: int, size: int) -> None:
    quotient = dynamics.symmetric(n, L)
    assert quotient.system.dimension == size
    if size == 113:
        kinds = [name.split("_")[0] for name in quotient.system.names]
        assert [kinds.count(k) for k in ("beta", "G", "A", "V", "K", "Q")] == [1, 5, 35, 24, 24, 24]


def test_orbits_do_not_depend_on_n() -> None:
    names = [dynamics.symmetric(n, 5).system.names for n in (12, 18, 24)]
    assert names[0] == names[1] == names[2]


def test_quotient_is_the_full_flow_on_symmetric_states() -> None:
    quotient = dynamics.symmetric(12, 5)
    z = np.random.default_rng(3).normal(size=113)
    full = quotient.flow.system.compile(m=7.0, m1=3.0)(0.0, quotient.lift(z))
    small = quotient.system.compile(m=7.0, m1=3.0, backend="scalar")(0.0, z)
    assert np.abs(full - quotient.lift(small)).max() < 1e-12 * np.abs(full).max()


@cache
def small_network(signs: tuple[int, ...] = (1, -1, -1, 1), n: int = 6, L: int = 4, m: int = 7):
    flow = dynamics.neuron_flow(setting.data(n, L), setting.words_needed(n, L), signs)
    scales = {"W": 0.6, "W_V": 0.5, "W_K": 0.9, "W_Q": 0.9}
    net = flow.network(m, 1, scales=scales, parameters={"m": float(m)})
    return flow, net, signs


def test_literal_equations_of_appendix_c() -> None:
    flow, net, signs = small_network()
    state = flow.initial_state(weights=net.images())
    derived = flow.layout.unpack(flow.system.compile(m=7.0)(0.0, state))
    tables = as_printed.numeric_tables(flow, signs, state, 7.0)
    for leaf, table in as_printed.rates(tables).items():
        assert np.abs(table.astype(float) - derived[leaf]).max() < 1e-12, leaf
    words = range(len(flow.model.words))
    assert max(abs(tables.neuron_split(j, mu) - tables.neuron(j, mu)) for j in range(4) for mu in words) < 1e-12
    assert max(abs(tables.scores_split(a, b) - tables.scores(a, b)) for a in words for b in words) < 1e-12


def test_literal_equations_notice_a_broken_system() -> None:
    for mutation in ("flip", "keys", "values", "G", "beta", "scale"):
        _, net, signs = small_network()
        flow = Laboratory(mutation).flow_of(setting.data(6, 4), 13, signs)
        state = flow.initial_state(weights=net.images())
        derived = flow.layout.unpack(flow.system.compile(m=7.0)(0.0, state))
        found = as_printed.rates(as_printed.numeric_tables(flow, signs, state, 7.0))
        assert max(np.abs(t.astype(float) - derived[leaf]).max() for leaf, t in found.items()) > 1e-3, mutation


def test_gradients_by_differences() -> None:
    _, net, _ = small_network()
    slopes, h = net.gradients(), 1e-6
    rng = np.random.default_rng(0)
    for name in setting.TRAINED:
        direction = rng.standard_normal(net.weights[name].shape)
        moved = [{**net.weights, name: net.weights[name] + s * h * direction} for s in (1, -1)]
        ends = [replace(net, weights=weights).loss() for weights in moved]
        assert (ends[0] - ends[1]) / (2 * h) == pytest.approx(float((slopes[name] * direction).sum()), abs=1e-8)


def test_network_flow_and_gram_flow_agree() -> None:
    flow = dynamics.gram_flow(12, 5)
    net = network(flow, P0, 4)
    t_end = 300 / P0.B
    _, nets = net.flow_run(t_end, rtol=1e-11, atol=1e-13)
    run = integrate(
        flow.system, flow.initial_state(weights=net.images()), (0.0, t_end), P0.parameters, rtol=1e-11, atol=1e-13
    )
    end = nets[-1].paths()
    assert np.abs(end - run.end_state).max() < 1e-8
    assert invariant_drift(flow, np.array([run.states[0], run.end_state]), {"m1": 8.0}) < 1e-9


def test_level_0_aggregates_to_level_1() -> None:
    flow, net, signs = small_network()
    gram = dynamics.flow_of(flow.data, 13)
    images = {**net.images(), "a": np.array(signs, dtype=float)}
    rate0 = flow.layout.unpack(flow.system.compile(m=7.0)(0.0, flow.initial_state(weights=net.images())))
    rate1 = gram.layout.unpack(gram.system.compile(m=7.0, m1=4.0)(0.0, gram.initial_state(weights=images)))
    a = np.array(signs)
    assert np.abs(a @ rate0["WV"] - rate1["aWV"][0]).max() < 1e-13
    assert abs(a @ rate0["WW"] @ a - rate1["aWWa"][0, 0]) < 1e-12
    for leaf in ("KQ", "KK", "QQ", "VV"):
        assert np.abs(rate0[leaf] - rate1[leaf]).max() < 1e-13


def test_gradient_descent_is_closed() -> None:
    flow = dynamics.gram_descent(6, 4)
    scale = setting.condition_one(4, 9, 5, 1.0)
    net = network(flow, scale, 2)
    start = flow.initial_state(weights=net.images())
    run = iterate(flow.system, start, 200, {**scale.parameters, "eta": 0.05})
    end = net.descend(0.05, 200).paths()
    assert np.abs(end - run.end_state).max() < 1e-12
    assert np.abs(end - start).max() > 0.1


def test_conservation_laws_are_found() -> None:
    flow = dynamics.gram_flow(6, 4)
    spectra = flow.invariants()
    assert [(str(f.path), f.size) for f in spectra] == [("a'.W.W_V.E", 14), ("E'.W_K'.W_Q.E", 26)]
    names = {"beta": "aWWa", "V": "VV", "K": "KK", "Q": "QQ"}
    trace = {
        k: graph.add([sym(flow.matrices[leaf][i, i]) for i in range(len(flow.matrices[leaf]))])
        for k, leaf in names.items()
    }
    assert zero_test(spectra[0].trace(1) - (trace["beta"] / sym("m1") - trace["V"]), ["m1"]).answer == "zero"
    assert zero_test(spectra[1].trace(1) - (trace["K"] - trace["Q"])).answer == "zero"


# ---- limits ------------------------------------------------------------------------------------------------------


def test_kernel_and_planar_systems() -> None:
    def g(node: graph.Node) -> graph.Node:
        return graph.call("sigmoid", -node)

    x, z = sym("x"), sym("z")
    half, sixth, third = Fraction(1, 2), Fraction(1, 6), Fraction(1, 3)
    for L in (4, 5):
        system = dynamics.planar_ode(L)
        assert system.names == ("x", "z") and not system.parameters
        printed = (half * g(2 * x - z) - sixth * g(z - x), third * g(z - x) + sixth * g(z) - half * g(2 * x - z))
        assert all(zero_test(a - b).answer == "zero" for a, b in zip(system.nodes, printed, strict=True))
    every, n = dynamics.every_n(5), sym("n")
    assert every.names == ("G_1", "G_3", "G_r1", "G_r2", "G_r4") and every.parameters == ("n",)
    margin = 2 * sym("G_1") + sym("G_3") + 2 * sym("G_r1")
    assert zero_test(every.nodes[2] - g(margin) / n, ["n"]).answer == "zero"
    short, other = dynamics.every_n(4), Laboratory().every_n(4)  # its orbits are taken in the limit, not before it
    assert other.equations == short.equations and other.observables == short.observables


def test_dimensionless_form_has_three_small_numbers() -> None:
    system = dynamics.mean_field(12, 5)
    assert set(system.parameters) == {"eps2", "eps3", "eps4"}
    scale, quotient = setting.condition_one(5, 64, 16, 1.0), dynamics.symmetric(12, 5)
    run = mean_field_run(Laboratory(), 12, 5, scale, 50.0)
    direct = integrate(
        quotient.system,
        quotient.initial_state(**scale.spread()),
        (0.0, 50 / scale.B),
        scale.parameters,
        rtol=1e-10,
        atol=1e-14,
    )
    assert direct.final["beta"] / scale.B == pytest.approx(run.final["beta"], abs=1e-8)
    assert direct.final["A_12"] / 8 == pytest.approx(run.final["A_12"], rel=1e-5)
    assert direct.final["V_13"] / scale.k0 == pytest.approx(run.final["V_13"], rel=1e-6)


def test_planar_times_and_constants() -> None:
    run = PAPER.protocols["planar"](parameters(tau_end=1e7), silent)
    times = {e["name"]: e["time"] for e in run.events}
    assert times["R=1"] == pytest.approx(3.5647, abs=5e-5)
    assert times["T_0.5"] == pytest.approx(4.8855, abs=5e-4) and times["T_cls"] == pytest.approx(12.979, abs=5e-4)
    assert run.final["loss"] * 1e7 == pytest.approx(17.0004, abs=1e-4)
    system = dynamics.planar_ode()
    table = dict(zip(run.columns["tau"], zip(run.columns["x"], run.columns["z"], strict=True), strict=True))
    field = system.compile()
    R = {t: field(0.0, s)[1] / field(0.0, s)[0] for t, s in table.items() if t > 1}
    assert max(R.values()) == pytest.approx(1.53063, abs=2e-5)


@pytest.mark.parametrize(("n", "L", "R", "product"), [(60, 5, 1.2687, 8.2233), (600, 5, 1.4745, 15.3516)])
def test_finite_n_limits(n: int, L: int, R: float, product: float) -> None:
    system = dynamics.every_n(L).substitute({"n": n})
    run = integrate(system, np.zeros(5), (0.0, 1e9), rtol=1e-10, atol=1e-13, method="LSODA")
    rate = dict(zip(system.names, system.compile()(0.0, run.end_state), strict=True))
    assert -rate["G_3"] / rate["G_1"] == pytest.approx(R, abs=2e-4)
    assert run.final["loss"] * 1e9 == pytest.approx(product, abs=2e-3)


# ---- networks and phases -----------------------------------------------------------------------------------------


def test_start_of_a_network() -> None:
    scale = setting.condition_one(5, 512, 64, 1.0)
    flow = dynamics.gram_flow(12, 5)
    rows = [sub_network(network(flow, scale, seed)) for seed in range(40)]
    assert np.std([G for G, _ in rows]) == pytest.approx(0.447, abs=0.03)
    assert np.mean([beta for _, beta in rows]) == pytest.approx(512, abs=20)


def test_phases_of_a_network() -> None:
    lab, scale = Laboratory(), setting.condition_one(4, 512, 16, 0.1)
    taus = (0.0, *np.geomspace(0.3, 300, 40).tolist())
    run = course(lab, 48, 4, scale, 0, taus)
    times = phase_times(run)
    assert 3 < times.half < 12 and times.classified < 20 and times.margin < 30
    later = phase_two(run)
    assert later.holds(since=40), later.first_failure(since=40)
    assert later.first_failure(since=0), "before the margins are positive it is not phase 2"
    first = phase_one(neuron_course(lab, 12, 5, setting.condition_one(5, 512, 16, 0.1), 0, (0.0, 10.0, 20.0)))
    assert first.holds(), first.at_end()


def test_finite_width_against_theory() -> None:
    result = compare([64, 256], 3, parameters(n=12, c0=0.3), workers=1)
    assert result.exponent is not None and -2.6 < result.exponent.value < -1.2


def test_protocols_agree() -> None:
    mean = PAPER.protocols["mean-field"](parameters(n=12, tau_end=100), silent)
    limit = PAPER.protocols["kernel"](parameters(n=12, tau_end=100), silent)
    assert mean.final["loss"] == pytest.approx(limit.final["loss"], rel=2e-3)
    assert mean.invariant_drift is not None and mean.invariant_drift < 1e-7


@pytest.mark.slow
def test_scores_of_a_wide_mean_field() -> None:
    scale = setting.condition_one(6, 1_000_000, 100, 1.0)
    run = mean_field_run(Laboratory(), 24, 6, scale, 3000.0)
    known = {"A_12": 9.486998e-10, "A_31": -1.018856e-9, "A_11": -9.680e-12, "A_33": -2.4555e-10}
    for name, value in known.items():
        assert run.final[name] * 1000 == pytest.approx(value, rel=2e-4), name
