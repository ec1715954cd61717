"""The sign-descent paper: the network in weight space, its optimisers, several heads, images.

Numbers in this file that come from a reading of the paper are compared with, never used.
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from derivations.signgd import PAPER, dynamics
from derivations.signgd.setting import Case
from derivations.signgd.special import (
    image_runs,
    network,
    recursion,
    stages,
)
from derivations.signgd.special.network import Optimiser, Weights
from derivations.signgd.special.recursion import State
from derivations.signgd.special.training_sets import make

SMALL = Case(n=10, s=60, d=701, m_k=16, m_v=4, sigma_0=2e-3)
TINY = Case(n=3, s=60, d=181, m_k=2, m_v=4, sigma_0=2e-3)
RANDOM_SUPPORTS = Case(n=4, s=12, d=60, m_k=3, m_v=2, supports=1)
FIELDS = ("v_mu", "v", "q_mu", "k_mu", "q", "k")


# ---- the network -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1])
def test_network_and_recursion_agree_over_1500_steps(seed: int) -> None:
    data, weights = make(SMALL, (seed, 0)), network.gaussian(SMALL, (seed, 1))
    assert data.disjoint and data.shared.max() == 0
    trained = network.train(data, weights, Optimiser("signgd", 2e-4), 1500, 100)
    reduced = recursion.descend(recursion.project(data, weights), 2e-4, 1500, 100)
    for name in (*FIELDS, "margin"):
        assert np.abs(getattr(trained.run, name) - getattr(reduced, name)).max() < 1e-10, name
    assert stages.in_cone(reduced)[-1]  # all four stages are in these steps
    assert np.allclose(trained.loss, reduced.loss, rtol=1e-9)


@pytest.mark.parametrize("patches", [2, 4])
def test_gradients_agree_with_finite_differences(patches: int) -> None:
    case = Case(n=4, s=6, d=60, m_k=3, m_v=2, sigma_0=0.3, supports=1)
    data = make(case, 3, patches)
    weights = network.gaussian(case, 4)
    slope = network.gradient(weights, data.x, data.y)
    signs = network.gradient(weights, data.x, data.y, signs=True)
    rng = np.random.default_rng(5)
    for part, (array, exact, sign) in enumerate(zip(weights.all(), slope.all(), signs.all(), strict=True)):
        assert np.array_equal(np.sign(exact), sign)
        for _ in range(25):
            place = (*(int(rng.integers(k)) for k in array.shape[:-1]), int(rng.choice(data.active)))
            sides = []
            for h in (1e-5, -1e-5):
                moved = [w.copy() for w in weights.all()]
                moved[part][place] += h
                sides.append(network.loss(Weights(*moved), data.x, data.y))
            assert (sides[0] - sides[1]) / 2e-5 == pytest.approx(exact[place], abs=1e-7)


def test_signs_survive_underflow() -> None:
    """Logits of a thousand: all softmax products are 0 in floats, the signs are still those of exact arithmetic."""
    start = recursion.draw(TINY, 0)
    big = State(0.0, np.full(3, 800.0), *(1e5 * getattr(start.state, f) for f in FIELDS[2:]))
    found = recursion.drivers(big)
    assert np.exp(found.log_b).max() == 0 and np.exp(found.log_g).max() == 0
    for part in ("q", "k", "q_mu", "k_mu"):
        assert (np.abs(getattr(found.signs, part)) == 1).all()
    data, weights = make(SMALL, 0), network.gaussian(SMALL, 1)
    large = Weights(*(w * scale for w, scale in zip(weights.all(), (3e4, 3e4, 1e3), strict=True)))
    naive = network.gradient(large, data.x, data.y)
    signs = network.gradient(large, data.x, data.y, signs=True)
    active = data.active
    assert (naive.W_Q[:, active] == 0).mean() > 0.5 and (signs.W_Q[:, active] != 0).all()
    reduced = recursion.drivers(recursion.project(data, large).state)
    moved = (-signs.W_Q @ data.pinned.T)[:, 1:] / data.norms
    same = reduced.signs.q != 0
    assert np.allclose(moved[same], reduced.signs.q[same], atol=1e-12)


def test_adam_is_adam() -> None:
    """One weight by hand: bias-corrected moments, eps outside of the root."""
    g = [np.array([[0.3]]), np.array([[-0.2]]), np.array([[0.5]])]
    update = Optimiser("adam", 0.1, 0.9, 0.99, 1e-3).update()
    m = s = 0.0
    for t, x in enumerate(g, 1):
        m, s = 0.9 * m + 0.1 * x[0, 0], 0.99 * s + 0.01 * x[0, 0] ** 2
        wanted = -0.1 * (m / (1 - 0.9**t)) / (math.sqrt(s / (1 - 0.99**t)) + 1e-3)
        assert update(Weights(x, x, x[None]), Weights(x, x, x[None]))[0][0, 0] == pytest.approx(wanted, rel=1e-12)
    one = Weights(g[1], g[1], g[1][None])
    sign = Optimiser("adam", 0.1, 0.0, 0.0, 0.0).update()(one, one)
    assert sign[0][0, 0] == pytest.approx(0.1)  # Adam without memory is sign descent


# ---- optimisers ------------------------------------------------------------------------------------------------------


def test_adam_in_machine_code_has_the_bits_of_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    slopes = [Weights(*(rng.standard_normal(shape) for shape in ((3, 7), (3, 7), (2, 2, 7)))) for _ in range(4)]

    def moves() -> list[np.ndarray]:
        update = Optimiser("adam", 0.1, 0.9, 0.99, 1e-15).update()
        return [move for slope in slopes for move in update(slope, slope)]

    quick = moves()
    monkeypatch.setattr(network, "_adam_code", lambda: None)
    for found, right in zip(quick, moves(), strict=True):
        np.testing.assert_array_equal(found, right)


def test_signgd_and_adam_generalise_badly_and_gd_well() -> None:
    """Seeds 0 and 1: data (seed, 0), weights (seed, 1), fresh samples (seed, 2)."""
    for seed in (0, 1):
        parameters = PAPER.read_parameters(
            {
                "n": "6",
                "s": "24",
                "d": "600",
                "m_k": "30",
                "m_v": "6",
                "supports": "1",
                "steps": "900",
                "seed": str(seed),
                "tests": "300",
                "eta": "4e-4",
                "eta_gd": "0.4",
            }
        )
        final = PAPER.protocols["optimisers"](parameters, lambda *_: None).final
        for name in ("signgd", "adam"):
            assert final[f"loss_{name}"] < 0.02 and final[f"test_loss_{name}"] > 0.4, (seed, name)
            assert final[f"s11_{name}"] < 0.05
        assert final["loss_gd"] < 0.02 and final["test_loss_gd"] < 0.1 and final["test_wrong_gd"] == 0
        assert final["s11_gd"] > 0.5


# ---- beside sign descent ---------------------------------------------------------------------------------------------


def test_plain_gradient_flow_is_that_of_the_network() -> None:
    """The derived field at the projections of weights, against the hand-written gradient of the network, projected."""
    case = Case(n=2, s=6, d=13, m_k=2, m_v=3, sigma_p=1.0, sigma_0=0.7)
    data, weights = make(case, 4), network.gaussian(case, 5)
    start = recursion.project(data, weights)
    system = dynamics.gradient(2, 2)
    assert system.dimension == (2 + 1) * (2 * 2 + 1)
    slope = network.gradient(weights, data.x, data.y)
    moves = recursion.project(data, network.Weights(*(-g for g in slope.all()))).state
    names = {f"cv_{w}": k for k, w in enumerate(("mu", "z1", "z2"))}

    def table(state: recursion.State) -> dict[str, float]:
        out = {name: float(np.concatenate([[state.v_mu], state.v])[k]) for name, k in names.items()}
        for r in range(2):
            for i, w in enumerate(("mu", "z1", "z2")):
                q, k = (np.column_stack([a, b]) for a, b in ((state.q_mu, state.q), (state.k_mu, state.k)))
                out |= {f"q_r{r + 1}_{w}": float(q[r, i]), f"k_{w}_r{r + 1}": float(k[r, i])}
        return out

    at, wanted = table(start.state), table(moves)
    lengths = {"m2": case.mu**2, "c2": 2 / case.m_v, **{f"s{i + 1}": float(x**2) for i, x in enumerate(data.lengths)}}
    field = system.compile(lengths)
    found = field(0.0, np.array([at[name] for name in system.names]))
    assert np.allclose(found, [wanted[name] for name in system.names], rtol=1e-10, atol=1e-14)


def test_every_head_moves_as_one_does() -> None:
    """Two equal heads: each has the step of one head whose loss slopes are those of twice its output."""
    two, one = dynamics.several_heads(1, 1), dynamics.derived(1, 1).system()
    assert two.dimension == 2 * one.dimension
    values = {"m": 1.0, "l1": 5.0, "eta": 1e-3}
    state = np.array([0.1, 0.4, 0.2, -0.5, 0.3, 0.7])
    single = one.compile(values)(0.0, state)
    both = two.compile(values)(0.0, np.concatenate([state, state]))
    assert np.array_equal(both[:6], both[6:]) and np.allclose(both[:6], single, atol=1e-15)


def test_adam_on_inner_products_is_adam_on_the_network() -> None:
    """Thirty steps of the derived map with moments against the network's own, on disjoint supports."""
    case = Case(n=2, s=6, d=13, m_k=1, m_v=3, sigma_p=1.0, sigma_0=0.3)
    data, weights = make(case, 4), network.gaussian(case, 5)
    start = recursion.project(data, weights)
    trained = network.train(data, weights, Optimiser("adam", 1e-2, 0.5, 0.8, 0.0), 30, record=30).run.state(-1)
    system = dynamics.adam(2, 1)
    values = {"eta": 1e-2, "m": case.mu, "beta1": 0.5, "beta2": 0.8, "l1": start.l1[0], "l2": start.l1[1]}
    first = dict(zip(dynamics.derived(2, 1).system().names, start.state.pack(), strict=True)) | {"B1": 1.0, "B2": 1.0}
    x = np.array([first.get(name, 0.0) for name in system.names])
    step = system.compile(values)
    for _ in range(30):
        x = step(0.0, x)
    found = dict(zip(system.names, x, strict=True))
    wanted = dict(zip(dynamics.derived(2, 1).system().names, trained.pack(), strict=True))
    assert all(found[name] == pytest.approx(value, abs=1e-10) for name, value in wanted.items())


def test_networks_trained_together_are_those_trained_alone() -> None:
    """Supports of different sizes, so that zeros fill up; by sign descent, Adam and gradient descent."""
    case = replace(RANDOM_SUPPORTS, m_v=3)
    data = [make(case, seed) for seed in (1, 2, 3)]
    weights = [network.gaussian(case, (seed, 1)) for seed in (1, 2, 3)]
    assert len({len(one.active) for one in data}) > 1
    for optimiser in (Optimiser("signgd", 1e-3), Optimiser("adam", 1e-3), Optimiser("gd", 0.3)):
        for one, start, found in zip(
            data, weights, network.train_together(data, weights, optimiser, 40, 20), strict=True
        ):
            alone = network.train(one, start, optimiser, 40, 20)
            assert np.array_equal(found.run.times, alone.run.times)
            assert np.allclose(found.run.q, alone.run.q, rtol=1e-9, atol=1e-12) and np.allclose(found.loss, alone.loss)
            assert np.allclose(found.weights.W_V, alone.weights.W_V, rtol=1e-9, atol=1e-12)


def test_one_head_of_several_moves_as_a_network_of_one() -> None:
    data, weights = make(RANDOM_SUPPORTS, 1), network.gaussian(RANDOM_SUPPORTS, 2)
    alone = network.gradient(weights, data.x, data.y, signs=True)
    (head,) = network.head_signs([weights], data.x, data.y)
    assert all(np.array_equal(a, b) for a, b in zip(head.all(), alone.all(), strict=True))
    both = network.head_signs([weights, weights], data.x, data.y)
    assert np.array_equal(both[0].W_Q, both[1].W_Q)


def test_images_are_fitted_and_noise_is_learned(tmp_path: Path) -> None:
    """Two classes that differ in one patch of the middle: with much noise on the border it generalises worse."""
    rng = np.random.default_rng(0)
    y = np.where(np.arange(80) < 40, 3, 7)
    pixels = np.zeros((80, 28, 28))
    pixels[y == 3, 7:14, 7:10], pixels[y == 7, 7:14, 11:14] = 1.0, 1.0
    np.savez(tmp_path / "digits.npz", images=pixels * rng.uniform(0.5, 1, (80, 1, 1)), labels=y)
    images = image_runs.load_images(tmp_path / "digits.npz")
    sign = next(image_runs.optimisers(0.2))
    noisy, clean = (image_runs.train_on(images, level, sign, epochs=30) for level in (0.2, 1.0))
    assert noisy.train < 0.1 and clean.test < 0.1 < noisy.test
