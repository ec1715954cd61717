"""Networks of the shallow vision transformer: gradients, class-level steps, derived systems, data and conventions."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from derivations.shallow_vit import dynamics, protocol, setting
from derivations.shallow_vit.laboratory import Laboratory
from derivations.shallow_vit.setting import Case
from derivations.shallow_vit.special import class_network, network
from derivations.shallow_vit.special.class_network import Counts, State
from derivations.shallow_vit.special.rules import Rules
from numerics.maps.iterate import iterate
from odesys.errors import ParameterError
from tests import vit_gradients

SMALL = Case(d=10, m_a=8, m_b=7, m=40, L=50, N=6, sigma=0.1, delta=0.2, eta=0.2)


def on_classes(case: Case, net: network.Network) -> State:
    mu = network.patterns(case)
    return State(net.W_O.copy(), mu @ net.W_V.T, mu @ net.W_K.T, mu @ net.W_Q.T, net.a)


@pytest.mark.parametrize("readout", setting.READOUTS)
def test_gradients_agree_with_finite_differences(readout: str) -> None:
    case = Case(
        d=7,
        m_a=6,
        m_b=5,
        m=12,
        L=11,
        N=6,
        sigma=0.1,
        delta=0.2,
        noise=0.1,
        readout=readout,
        alpha_c=0.1,
        filling="random",
    )
    rng = np.random.default_rng(2)
    net, _ = network.start(case, rng)
    net.W_V += 0.3 * rng.standard_normal(net.W_V.shape)
    net.W_O *= 3
    data = network.draw(case, rng)
    gone = np.zeros(data.kept.shape, dtype=bool)
    gone[:, :3] = True
    data = network.without(data, gone)
    found, h = network.gradients(net, data), 1e-6
    for name in network.WEIGHTS:
        weight = getattr(net, name)
        slopes = np.zeros_like(weight)
        for place in np.ndindex(weight.shape):
            weight[place] += h
            high = network.forward(net, data).loss()
            weight[place] -= 2 * h
            slopes[place] = (high - network.forward(net, data).loss()) / (2 * h)
            weight[place] += h
        assert np.abs(slopes - found[name]).max() < 1e-6 * np.abs(slopes).max(), name


def test_tokens_classes_and_the_derived_step_agree_after_60_steps() -> None:
    rng = np.random.default_rng(1)
    net, _ = network.start(SMALL, rng)
    data = network.draw(SMALL, rng)
    counts = data.counts(SMALL.M)
    state, start = on_classes(SMALL, net), on_classes(SMALL, net)
    readout = [s / sp.sqrt(40) for s in [1] * 20 + [-1] * 20]
    samples = dynamics.samples(counts.tolist(), data.y)
    gram = dynamics.class_system(SMALL.M, readout, samples, step=True)
    entries = dynamics.coordinate_system(SMALL.M, readout, samples, SMALL.m_a, SMALL.m_b, step=True)
    assert gram.system.dimension == 40 * 5 + 25 + 40 * 41 // 2 + 3 * 15
    assert entries.system.dimension == SMALL.m * SMALL.m_a + SMALL.M * (SMALL.m_a + 2 * SMALL.m_b)
    for _ in range(60):
        network.step(net, data, SMALL.eta)
        made = class_network.step(state, Counts(counts, data.y), SMALL.eta)
        assert np.abs(made.G.sum(axis=0)).max() < 1e-15, "softmax does not see a shift of its logits"
    real = on_classes(SMALL, net)
    assert np.abs(network.forward(net, data).F - class_network.forward(state, Counts(counts, data.y)).F).max() < 1e-12
    for name in ("w", "v", "kappa", "rho"):
        assert np.abs(getattr(real, name) - getattr(state, name)).max() < 1e-12, name
    known = {"eta": SMALL.eta, "Gamma": 1.0}
    run = iterate(
        gram.system, gram.initial_state(weights=dynamics.weights_of(start)), 60, known, record_every=60, backend="block"
    )
    assert np.abs(run.end_state - gram.initial_state(weights=dynamics.weights_of(real))).max() < 1e-12
    run = iterate(
        entries.system,
        entries.initial_state(weights=dynamics.weights_of(start)),
        60,
        known,
        record_every=60,
        backend="block",
    )
    assert np.abs(run.end_state - entries.initial_state(weights=dynamics.weights_of(real))).max() < 1e-12


def test_the_network_of_the_program_is_the_class_network() -> None:
    case = Case(m=6, m_a=6, m_b=7, sigma=0.1, delta=0.2, eta=0.2)
    run = class_network.train(
        case, 2, Counts(np.array([[5, 1, 2, 2, 0], [1, 6, 1, 1, 1]]), np.array([1, -1])), steps=40
    )
    flow = dynamics.class_system(5, dynamics.half_positive(6), dynamics.samples(run.data.counts.tolist(), run.data.y))
    known = {"widths": {"v": 6, "m": 7}, "parameters": {"Gamma": 1.0}}
    net = flow.network(values=dynamics.weights_of(run.start), **known).descend(case.eta, 40)
    assert net.paths() == pytest.approx(flow.network(values=dynamics.weights_of(run.state), **known).paths(), abs=1e-12)


def small_flow(step: bool = False):
    readout = [Fraction(1, 2), Fraction(-1, 2), Fraction(1, 2), Fraction(-1, 2)]
    return dynamics.class_system(4, readout, dynamics.parametric(4), step)


KNOWN = {"alpha_s": 0.5, "alpha_c": 0.1, "beta": 0.2, "Gamma": 1.0}


def test_the_flow_is_the_step_of_vanishing_size_and_moves_as_the_forces_say() -> None:
    rng = np.random.default_rng(4)
    state = State(*(rng.standard_normal((n, 3)) for n in (4, 4, 4, 4)), np.array([0.5, -0.5, 0.5, -0.5]))
    flow, step = small_flow(), small_flow(step=True)
    x = flow.initial_state(weights=dynamics.weights_of(state))
    rate = flow.system.compile(KNOWN)(0.0, x)
    eta = 1e-7
    assert np.abs((step.system.compile({**KNOWN, "eta": eta})(0.0, x) - x) / eta - rate).max() < 1e-5
    data = Counts(np.array([[0.5, 0.1, 0.2, 0.2], [0.1, 0.5, 0.2, 0.2]]), np.array([1, -1]))
    made = class_network.forces(state, data)
    tables = flow.layout.unpack(rate)
    V, W, S = state.v @ state.v.T, state.w @ state.w.T, state.S
    assert np.allclose(tables["OV"], made.C @ V + W @ made.C, atol=1e-13)
    assert np.allclose(tables["VV"], made.C.T @ state.u + state.u.T @ made.C, atol=1e-13)
    assert np.allclose(tables["OO"], made.C @ state.u.T + state.u @ made.C.T, atol=1e-13)
    K, Q = state.kappa @ state.kappa.T, state.rho @ state.rho.T
    assert np.allclose(tables["KQ"], K @ made.G + made.G @ Q, atol=1e-13)
    assert np.allclose(tables["KK"], S @ made.G.T + made.G @ S.T, atol=1e-13)
    assert np.allclose(tables["QQ"], S.T @ made.G + made.G.T @ S, atol=1e-13)


def test_both_spectra_are_conserved_by_the_flow_and_not_by_a_broken_one() -> None:
    flow = small_flow()
    spectra = flow.invariants()
    assert {str(f.path).count("W_O") for f in spectra} == {0, 1} and len(spectra) == 2
    x = np.random.default_rng(5).standard_normal(flow.system.dimension)
    rate = flow.system.compile(KNOWN)(0.0, x)
    h = 1e-6
    for spectrum in spectra:
        slope = (spectrum.values(x + h * rate) - spectrum.values(x - h * rate)) / (2 * h)
        assert np.abs(slope / (1 + np.abs(spectrum.values(x)))).max() < 1e-6
        broken = rate * np.where(np.arange(rate.size) % 2, 1.0, 1.5)
        slope = (spectrum.values(x + h * broken) - spectrum.values(x - h * broken)) / (2 * h)
        assert np.abs(slope / (1 + np.abs(spectrum.values(x)))).max() > 1e-3


@pytest.mark.parametrize("readout", setting.READOUTS)
def test_steps_miss_the_conserved_matrices_by_the_first_order_of_their_size(readout: str) -> None:
    """Also with noisy tokens and one row of output weights per position: half the step, half the drift."""
    case = Case(noise=0.05, sigma=0.1, delta=0.2, m=40, N=6, L=12, alpha_c=0.1, readout=readout, margin=50.0)
    drifts = []
    for eta in (0.2, 0.1):
        run = network.train(replace(case, eta=eta), 0, steps=round(6 / eta), stop=False)
        drifts.append(
            [np.abs(a - b).max() for a, b in zip(protocol.balance(run.first), protocol.balance(run.net), strict=True)]
        )
    ratio = np.array(drifts[0]) / np.array(drifts[1])
    assert (ratio > 1.8).all() and (ratio < 2.3).all()


def test_conventions_of_the_output_weights() -> None:
    """Output weights drawn for each position average out, so training takes many times longer."""
    case = Case(noise=0.01, sigma=0.1, delta=0.2, m=100, N=12, L=20, alpha_c=0.1, eta=0.4)
    shared, drawn = (network.train(replace(case, readout=name), 0) for name in setting.READOUTS)
    assert shared.fitted and drawn.fitted and drawn.steps > 4 * shared.steps
    assert drawn.net.a.shape == (20, 100) and set(np.unique(drawn.net.a * 10)) == {-1.0, 1.0}


def test_runs_come_from_their_seed() -> None:
    case = Case(m=20, N=8, L=10, alpha_c=0.1, B=2, steps=30, noise=0.02)
    one, two, other = (network.train(case, seed) for seed in (3, 3, 4))
    assert (one.net.W_O == two.net.W_O).all() and (one.net.W_O != other.net.W_O).any()
    data = class_network.drawn_data(case, np.random.default_rng(0))
    first, again = (class_network.train(case, 5, data, steps=20) for _ in range(2))
    assert (first.state.w == again.state.w).all()
    full = class_network.train(replace(case, B=0), 5, data, steps=20)
    assert (first.state.w != full.state.w).any(), "a batch of two samples is not the full batch"


@pytest.mark.parametrize("filling", setting.FILLINGS)
def test_counts_follow_the_rules(filling: str) -> None:
    case = Case(M=6, L=37, alpha_s=0.4, alpha_c=0.1, filling=filling, jitter=0.05, N=200, d=6, m_a=6, m_b=6)
    counts, y = setting.draw_counts(case, np.random.default_rng(0))
    assert (counts.sum(axis=1) == 37).all() and y.sum() == 0
    assert ((counts[:, 0] > counts[:, 1]) == (y > 0)).all() and (counts[:, 0] != counts[:, 1]).all()
    own = np.where(y > 0, counts[:, 0], counts[:, 1]) / 37
    assert abs(own.mean() - 0.4) < 0.015 and abs(own.std() - 0.05) < 0.015
    spread = np.ptp(counts[:, 2:], axis=1)
    assert {
        "balanced": spread.max() <= 1,
        "random": 1 < spread.max() < 19,
        "one": (np.count_nonzero(counts[:, 2:], axis=1) == 1).all(),
    }[filling]
    tokens = network.lay_out(case, counts, y, np.random.default_rng(1))
    assert (tokens.counts(6) == counts).all() and (tokens.relevant.sum(axis=1) == own * 37).all()


@pytest.mark.parametrize("unit", [0, 1])
def test_tokens_stay_within_tau(unit: int) -> None:
    free = Case(M=3, d=4, m_a=4, m_b=4, L=20, N=60, noise=0.12, unit=unit)
    near = replace(free, tau=0.3)

    def distances(case: Case) -> np.ndarray:
        data = network.draw(case, np.random.default_rng(0))
        return np.linalg.norm(data.X - network.patterns(case)[data.pattern], axis=2)

    first, second = distances(free), distances(near)
    inside = first <= 0.3
    assert 0.02 < (~inside).mean() < 0.9, "without tau some tokens are farther"
    assert second.max() <= 0.3 and (second[inside] == first[inside]).all(), "others are drawn as before"
    with pytest.raises(ParameterError, match="use a larger tau or less noise"):
        distances(replace(free, tau=1e-3))
    with pytest.raises(ParameterError, match=r"kappa/4 = 0\.3536"):
        replace(free, tau=0.36)


def test_the_start_has_the_errors_of_assumption_1_up_to_scale() -> None:
    case = Case(M=5, sigma=0.15, delta=0.3, m_a=12, m_b=9)
    made = setting.features(case, np.random.default_rng(0))
    for image, ideal, error in ((made.v, made.p, 0.15), (made.kappa, made.q, 0.3), (made.rho, made.q, 0.3)):
        assert np.linalg.norm(image, 2) <= 1 + 1e-12 and np.allclose(ideal @ ideal.T, np.eye(5))
        along = (image * ideal).sum(axis=1)
        assert np.ptp(along) < 1e-12 and along[0] < 1, "one factor for all rows"
        wanted = math.hypot(1 - along[0], error * along[0])
        assert setting.distance(image, ideal) == pytest.approx(wanted)
        assert 0 < setting.least_distance(image) < setting.distance(image, ideal)
    assert not np.allclose(made.kappa, made.rho)
    clean = setting.features(Case(), np.random.default_rng(0))
    assert setting.least_distance(clean.v) < 1e-12 and (clean.v == clean.p).all()


def test_removed_tokens_leave_the_softmax_and_zeroed_ones_do_not() -> None:
    case, rng = replace(SMALL, L=10, alpha_c=0.1), np.random.default_rng(0)
    net, _ = network.start(case, rng)
    data = network.draw(case, rng)
    gone = np.zeros(data.kept.shape, dtype=bool)
    gone[:, 2:5] = True
    left = network.Tokens(
        data.X[:, [0, 1, 5, 6, 7, 8, 9]], data.pattern[:, [0, 1, 5, 6, 7, 8, 9]], np.ones((6, 7), dtype=bool), data.y
    )
    removed, zeroed = network.without(data, gone), network.without(data, gone, zeroed=True)
    assert np.allclose(network.forward(net, removed).F, network.forward(net, left).F)
    assert not np.allclose(network.forward(net, zeroed).F, network.forward(net, left).F)
    with pytest.raises(ParameterError, match="lose all of its tokens"):
        network.without(data, np.ones(data.kept.shape, dtype=bool))


RULES = [Rules(), Rules(halved=True), Rules(linear=True), Rules(exponential=True), Rules(logistic=True)]


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_the_program_moves_weights_as_gradients_by_hand_say(rules) -> None:
    rng = np.random.default_rng(12)
    readout = np.repeat([1.0, -1.0], 3) / np.sqrt(6)
    state = State(*(rng.normal(size=shape) for shape in ((6, 5), (4, 5), (4, 3), (4, 3))), readout)
    data = Counts(rng.integers(0, 4, size=(7, 4)) + 1 * (np.arange(4) == 0), rng.choice([-1, 1], 7))
    for margin in (0.3, np.inf):
        made = class_network.forces(state, data, margin, rules=rules)
        C, G = vit_gradients.by_counts(state, data, margin, rules)
        assert np.abs(made.C - C).max() < 1e-14 and np.abs(made.G - G).max() < 1e-14
    X, kept = rng.normal(size=(7, 3, 5)), np.ones((7, 3), dtype=bool)
    for a in (readout, rng.choice([-1.0, 1.0], size=(3, 6))):
        net = network.Network(*(rng.normal(size=shape) for shape in ((6, 4), (4, 5), (2, 5), (2, 5))), a)
        for which in (kept, np.arange(21).reshape(7, 3) % 4 > 0):
            tokens = network.Tokens(X, np.zeros((7, 3), dtype=int), which, data.y)
            found = network.gradients(net, tokens, 0.3, rules)
            for name, slope in vit_gradients.by_tokens(net, tokens, 0.3, rules).items():
                assert np.abs(found[name] - slope).max() < 1e-13


@pytest.mark.parametrize("mutation", ["", "keys", "weight", "linear"])
def test_networks_on_tokens_take_the_same_steps_together(mutation: str) -> None:
    """Other networks in the stack, which stop earlier or later, change nothing."""
    case = Case(M=3, alpha_c=0.1, L=10, N=6, d=4, m=10, m_a=4, m_b=4, noise=0.05, eta=0.4, steps=400)
    lab = Laboratory(mutation=mutation)
    alone = [lab.tokens(case, seed).steps for seed in range(4)]
    assert lab.token_steps(case, range(4)).tolist() == alone and len(set(alone)) > 1
