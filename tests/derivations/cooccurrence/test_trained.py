"""The network trained in weight space: its gradients by differences, and the derived systems of every level on it."""

from __future__ import annotations

import numpy as np
import pytest

from derivations.cooccurrence import dynamics, setting
from derivations.cooccurrence.laboratory import Laboratory
from derivations.cooccurrence.special.trained_network import (
    Gradients,
    compressed,
    regression,
    train,
    trained,
    trained_mean_field,
    trained_orbits,
    word_classes,
    word_weights,
)
from derivations.cooccurrence.special.trajectories import course, first_rates, mean_field_run, neuron_course
from numerics.flows.integrate import integrate
from numerics.sweeps.power_law import fit_power_law
from odesys.errors import IntegrationError
from odesys.papers.number_checks import relative_gap as gap

TOLERANCE = 1e-6  # of two routes that agree
TAUS = (0.0, 5.0, 40.0)
SCALE = setting.condition_one(5, 64, 8, 0.5)


def small(seed: int = 0, m: int = 9, m1: int = 4):
    rng = np.random.default_rng(seed)
    data = setting.data(6, 4)
    gradients = Gradients(setting.word_numbers(data), labels(data), rng.choice([-1.0, 1.0], size=m1), float(m))
    weights = tuple(0.6 * rng.standard_normal(shape) for shape in ((m1, m), (m, 13), (m, 13), (m, 13)))
    return gradients, weights


def labels(data) -> np.ndarray:
    return np.array([float(sample.label) for sample in data.samples])


def loss(gradients: Gradients, weights) -> float:
    """Eq. (1) and (2), sample by sample and position by position."""
    W, V, K, Q = weights
    total = 0.0
    for tokens, label in zip(gradients.tokens, gradients.labels, strict=True):
        F = 0.0
        for query in tokens:
            p = np.exp([K[:, key] @ Q[:, query] / np.sqrt(gradients.m) for key in tokens])
            F += gradients.signs @ W @ V[:, tokens] @ (p / p.sum())
        total += np.log1p(np.exp(-label * F)) / len(gradients.labels)
    return float(total)


def test_gradients_of_appendix_b_by_differences() -> None:
    gradients, weights = small()
    rng, h = np.random.default_rng(1), 1e-6
    for place, speed in enumerate(gradients.speeds(weights)):
        direction = rng.standard_normal(speed.shape)
        ends = [
            loss(gradients, [w + (s * h * direction if k == place else 0) for k, w in enumerate(weights)])
            for s in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / (2 * h)
        assert slope == pytest.approx(-float((speed * direction).sum()), abs=1e-8)
        assert abs(slope) > 1e-4


def test_an_isometry_changes_no_inner_product() -> None:
    gradients, weights = small(m=40)
    fewer = compressed(weights)
    assert fewer[1].shape == (17, 13) and fewer[2].shape == (26, 13)
    for i, j in ((1, 1), (2, 2), (3, 3), (2, 3)):
        assert np.abs(fewer[i].T @ fewer[j] - weights[i].T @ weights[j]).max() < 1e-12
    assert np.abs(fewer[0] @ fewer[1] - weights[0] @ weights[1]).max() < 1e-12
    assert loss(gradients, fewer) == pytest.approx(loss(gradients, weights), abs=1e-12)


def test_two_simulators_agree() -> None:
    data = setting.data(6, 4)
    flow = dynamics.neuron_flow(data, 13, (1, -1, -1, 1))
    scales = {"W": 0.6, "W_V": 0.5, "W_K": 0.9, "W_Q": 0.9}
    net = flow.network(7, 1, scales=scales, parameters={"m": 7.0})
    images, end = net.images(), net.flow_run(5.0)[1][-1].images()
    gradients = Gradients(setting.word_numbers(data), labels(data), np.array([1.0, -1, -1, 1]), 7.0)
    names = ("W", "W_V", "W_K", "W_Q")
    *_, last = train(gradients, tuple(images[name] for name in names), [0.0, 5.0])
    assert max(np.abs(w - end[name]).max() for w, name in zip(last, names, strict=True)) < 1e-8


def test_derived_flows_are_the_network() -> None:
    lab = Laboratory()
    one, known = course(lab, 12, 5, SCALE, 3, TAUS), trained(12, 5, SCALE, 3, TAUS)
    assert gap(dict(one.tables), dict(known.tables)) < 1e-9 and gap(one.rates, known.rates) < 1e-8
    assert gap({str(k): f for k, f in enumerate(one.forces)}, {str(k): f for k, f in enumerate(known.forces)}) < 1e-8
    each, known = neuron_course(lab, 12, 5, SCALE, 3, TAUS), trained(12, 5, SCALE, 3, TAUS, True)
    assert gap(dict(each.tables), dict(known.tables)) < 1e-9
    for leaf in ("WW", "VV", "KQ", "KK", "QQ"):
        assert gap(each.moved(leaf), known.moved(leaf)) < TOLERANCE / 10, leaf
    rates = first_rates(lab, 12, 5, SCALE, 3)
    assert gap(rates, known.rate("WV")[0] * SCALE.B) < 1e-12


@pytest.mark.parametrize("mutation", ["labels", "weight", "scale", "unscaled", "flip", "keys", "values", "G", "beta"])
def test_a_broken_flow_is_not_the_network(mutation: str) -> None:
    run, known = course(Laboratory(mutation), 12, 5, SCALE, 3, TAUS), trained(12, 5, SCALE, 3, TAUS)
    moved = {leaf: gap(run.moved(leaf), known.moved(leaf)) for leaf in ("aWWa", "aWV", "VV", "KQ", "KK", "QQ")}
    assert max(moved.values()) > 1e3 * TOLERANCE, moved


def test_infinite_width_as_a_network() -> None:
    run = mean_field_run(Laboratory(), 12, 5, SCALE, 40.0)
    states, rates = trained_orbits(12, 5, SCALE, TAUS)
    assert trained_mean_field(12, 5, SCALE, TAUS).G[0] == pytest.approx(np.zeros(35), abs=1e-15)
    found = dict(zip(run.names, run.end_state, strict=True))
    for letter in ("beta", "G", "V", "A", "K", "Q"):
        names = [name for name in run.names if name.split("_")[0] == letter]
        assert gap([found[n] for n in names], [states[-1][n] for n in names]) < 1e-7, letter
    field = run.system.compile(run.parameters)(0.0, run.end_state)
    assert gap(field, [rates[-1][name] for name in run.names]) < 1e-7


def test_limits_are_a_regression_on_bags_of_words() -> None:
    system = Laboratory().every_n(5).substitute({"n": 60})
    run = integrate(system, np.zeros(5), (0.0, 1e4), rtol=1e-10, atol=1e-13, method="LSODA")
    found = word_weights((0.0, 0.0, 0.0), (20.0, 1e4), 60.0, 5)
    assert found[0, :3] == pytest.approx([1.2498, 1.2498, -1.2957], abs=1e-4)
    names = ("G_1", "G_1", "G_3", "G_r1", "G_r2", "G_r2", "G_r4")
    assert found[1] == pytest.approx([run.final[name] for name in names], rel=1e-8)
    features, labels, shares = word_classes()
    assert features.tolist() == [[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]] and labels.tolist() == [1, -1, -1, -1]
    assert shares.sum() == pytest.approx(1)
    with pytest.raises(IntegrationError, match="start"):
        regression(features, labels, shares, (0.0, 0.0, np.nan), (1.0,))


def test_width_exponents() -> None:
    """Changes up to tau = 20 and the time of the margin 0.1 over widths: n = 12, L = 5, m1 = 16, c0 = 0.3, 4 seeds."""
    taus = tuple(sorted({0.0, 20.0, *np.geomspace(3, 400, 160).tolist()}))
    end = taus.index(20.0)
    rows: dict[str, list[tuple[int, float]]] = {}
    for m in (256, 512, 1024, 2048, 4096):
        for seed in range(4):
            run = trained(12, 5, setting.condition_one(5, m, 16, 0.3), seed, taus, True)
            seen = {leaf: run.moved(leaf)[end] for leaf in ("WW", "VV", "KQ", "KK", "QQ")}
            signal = run.tables["KQ"][:, 1, 0]
            seen |= {"beta": abs(run.beta[end] - run.beta[0]), "A_21": abs(signal[end] - signal[0])}
            late = run.taus[run.margins.min(axis=1) > 0.1]
            assert late.size and late[0] > 3
            seen["time"] = late[0] / run.scale.B
            for name, value in seen.items():
                rows.setdefault(name, []).append((m, float(value)))
    laws = {name: fit_power_law([m for m, _ in row], [v for _, v in row]) for name, row in rows.items()}
    known = {"WW": -1.0, "VV": -1.0, "KQ": -1.5, "KK": -2.0, "QQ": -2.0, "beta": -1.0, "A_21": -1.5, "time": -1.0}
    for name, exponent in known.items():
        law = laws[name]
        assert law.low <= exponent <= law.high and law.high - law.low < 0.35, (name, law)
