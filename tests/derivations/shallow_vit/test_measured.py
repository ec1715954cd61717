"""What is measured on the shallow vision transformer: laws of sweeps, lucky neurons, stages, bounds, sparsification."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from derivations.shallow_vit.setting import Case
from derivations.shallow_vit.special import (
    bounds,
    class_network,
    image_tokens,
    network,
    observables,
    sparsify,
    stages,
    training_sweeps,
)
from numerics.sweeps.power_law import fit_power_law
from odesys.errors import IntegrationError, ParameterError
from odesys.papers.hypotheses import violated


def test_sweeps_do_not_depend_on_the_number_of_processes(tmp_path) -> None:
    cases = [replace(training_sweeps.BASE, m=20, alpha_s=a) for a in (0.6, 0.8)]
    one = training_sweeps.stopping_times(cases, 2)
    two = training_sweeps.stopping_times(cases, 2, workers=2, store=tmp_path)
    assert (one.values == two.values).all() and len(list(tmp_path.iterdir())) == 2
    assert (training_sweeps.stopping_times(cases, 2, store=tmp_path).values == one.values).all()
    with pytest.raises(IntegrationError, match="4 runs did not reach their margins"):
        training_sweeps.stopping_times([replace(case, steps=3) for case in cases], 2).law([1.0, 2.0])


def test_the_stopping_time_is_inverse_to_the_step_and_to_the_gap() -> None:
    etas = (0.4, 0.2, 0.1, 0.05, 0.025)
    found = training_sweeps.stopping_times(
        [replace(training_sweeps.BASE, alpha_s=0.5, alpha_c=0.05, m=300, eta=e) for e in etas], 3
    )
    T = found.values / np.array(etas)[:, None]
    law = fit_power_law(np.repeat(etas, 3).tolist(), T.ravel().tolist())
    assert -1.03 < law.value < -0.93 and law.high < -0.9 < bounds.POWER
    products: list[float] = []
    for key in training_sweeps.SCHEMES:
        cases = training_sweeps.scheme(key, replace(training_sweeps.BASE, m=300))
        gaps = np.array([case.alpha_s - case.alpha_c for case in cases])
        products += (gaps * training_sweeps.stopping_times(cases).mean).tolist()
    assert len(products) == 18 and min(products) > 2.8 and max(products) < 4.0


def test_frozen_attention_is_slower_the_fewer_the_relevant_tokens() -> None:
    cases = [replace(training_sweeps.BASE, m=300, alpha_s=a, alpha_c=0.0) for a in (0.4, 0.2, 0.1)]
    trained = training_sweeps.stopping_times(cases, 2)
    frozen = training_sweeps.stopping_times([replace(case, frozen=1) for case in cases], 2)
    x = [case.alpha_s for case in cases]
    assert -1.15 < trained.law(x).value < -0.95 and -1.6 < frozen.law(x).value < -1.2
    assert (frozen.values > trained.values).all()


def test_lucky_neurons_need_the_sign_of_their_output_weight() -> None:
    case = Case(m=2000, m_a=5, m_b=5, eta=0.05)
    run = class_network.train(case, 0)
    first, last = observables.lucky(run.start, run.data), observables.lucky(run.state, run.data)
    assert abs(first.W.sum() - 1000) < 3 * math.sqrt(500) and abs(first.W_signed.sum() - 500) < 3 * math.sqrt(375)
    assert last.W[first.W_signed].all() and last.U[first.U_signed].all()
    assert last.W[first.W & ~first.W_signed].mean() < 0.05
    norms, shrunk = np.linalg.norm(run.state.v, axis=1), np.diag(run.state.S)[2:]
    assert norms[:2] == pytest.approx(1.79, abs=0.06) and norms[2:] == pytest.approx(1.02, abs=0.02)
    assert shrunk == pytest.approx(0.856, abs=0.02)


def test_noisy_tokens_of_the_full_model() -> None:
    case = Case(noise=0.01, sigma=0.1, delta=0.2, m=200, N=40, L=50, eta=0.2)
    runs = {
        margin: network.train(
            replace(case, margin=margin), 1, observe=lambda n, d, f: observables.of_network(n, d, f, 5), record=1000
        )
        for margin in (1.0, 20.0)
    }
    assert runs[1.0].steps == pytest.approx(37, abs=5) and runs[20.0].steps == pytest.approx(71, abs=6)
    assert runs[1.0].table["rel"][[0, -1]] == pytest.approx([0.559, 0.614], abs=0.02)
    assert runs[20.0].table["rel"][-1] == pytest.approx(0.896, abs=0.02)
    assert network.test_loss(runs[1.0].net, case, 5, 200) < 1e-3
    token, kept = (
        observables.lucky_tokens(runs[1.0].first, runs[1.0].data),
        observables.lucky_tokens(runs[1.0].net, runs[1.0].data),
    )
    assert kept.W[token.W_signed].all() and kept.W[token.W & ~token.W_signed].mean() < 0.15


def test_samples_decide_only_where_counts_fluctuate() -> None:
    base = Case(M=3, d=4, m=60, eta=0.2, alpha_s=0.2, alpha_c=0.04, m_a=4, m_b=4, N=4)
    assert training_sweeps.test_losses([base], 3).values.max() < 1e-3, "four equal samples are as good as any number"
    drawn = training_sweeps.test_losses([replace(base, jitter=0.03, N=N) for N in (4, 16, 64)], 8)
    law = drawn.mean_law([4, 16, 64])
    assert (np.diff(drawn.mean) < 0).all() and -1.8 < law.value < -0.7


def test_stages_follow_one_another() -> None:
    found = stages.stages(Case(m=300, m_a=5, m_b=5, eta=0.05, filling="random"), 0, tests=100)
    assert 0 < found.linear < found.T_train < math.inf and found.T_test <= found.T_train + 1e-9
    assert found.T_att(0.6) < found.T_train and found.T_att(0.9) == math.inf
    assert 0 < found.sorting <= found.T_train
    listed = stages.events(found)
    assert {event["name"] for event in listed} == {"gates sorted", "linear growth", "T_train", "T_test"}
    assert [event["time"] for event in listed] == sorted(event["time"] for event in listed)


def test_bounds_depend_on_every_error() -> None:
    case = Case(sigma=0.1, delta=0.4, alpha_s=0.3, alpha_c=0.2, m=500)
    assert bounds.required_ratio(0.1, 0.4, 0.0) == pytest.approx(1.66, abs=0.005)
    found = violated(bounds.CONDITIONS, bounds.condition_point(case))
    assert any("(8)" in line and "1.11" in line for line in found)
    inside = Case(sigma=0.1, delta=0.4, alpha_s=0.4, alpha_c=0.1, m=500)
    assert not violated(bounds.CONDITIONS, bounds.condition_point(inside))
    (half,) = violated(bounds.CONDITIONS, bounds.condition_point(replace(inside, delta=0.5)))
    assert half.startswith("(6) delta < 1/2")  # a strict inequality fails at equality
    assert bounds.iterations(replace(case, eta=0.01)) / bounds.iterations(replace(case, eta=0.1)) == pytest.approx(
        10**0.6
    )
    assert bounds.samples(Case()) == pytest.approx(4.0, rel=1e-6) and bounds.samples_frozen(Case()) == pytest.approx(16)
    assert bounds.samples(case) < bounds.samples(case, tau=0.2) < bounds.samples(replace(case, sigma=0.5), tau=0.2)
    assert bounds.samples(case, attention=0.4) == math.inf and bounds.samples_frozen(case, tau=0.3) == math.inf
    with pytest.raises(ParameterError, match=r"\(70\) has no T here"):
        bounds.iterations_70(case, 0.2)
    assert bounds.start_attention(0.5) == pytest.approx(math.e / (math.e + 1))
    for e in np.linspace(0, 0.5, 6):  # what c' = 2 alpha and c'' = alpha rest on
        for p in np.linspace(e, 1, 6):
            assert 0 <= 1 - p * (p - e) <= 2 * (1 - p) + e + 1e-12


def test_rules_of_sparsification() -> None:
    case, rng = replace(sparsify.EXPERIMENT, N=10), np.random.default_rng(0)
    data, spread = sparsify.draw(case, sparsify.Noisy(), rng)
    net, _ = network.start(case, rng)
    for rule in sparsify.RULES:
        gone = sparsify.removed(data, rule, 0.3, spread, rng, net)
        assert (gone.sum(axis=1) == 15).all()
    gone = sparsify.removed(data, "irrelevant", 0.3, spread, rng)
    assert not (gone & data.relevant).any()
    gone = sparsify.removed(data, "noisy", 0.1, spread, rng)
    assert (spread[gone] == 0.4).all()
    with pytest.raises(ParameterError, match="choose random or irrelevant or noisy or attention"):
        sparsify.removed(data, "all", 0.3, spread, rng)
    with pytest.raises(ParameterError, match="reads the attention of a network"):
        sparsify.removed(data, "attention", 0.3, spread, rng)
    with pytest.raises(ParameterError, match="use 0 to below 1"):
        sparsify.removed(data, "random", 1.0, spread, rng)


def test_sparsification_helps_where_it_should() -> None:
    case = replace(sparsify.EXPERIMENT, N=30, L=30, m=60)

    def losses(rule: str, fraction: float, unit: int = 1) -> np.ndarray:
        return np.array([sparsify.experiment(rule, fraction, k, replace(case, unit=unit), tests=100) for k in range(3)])

    whole, raw = losses("random", 0.0), losses("random", 0.0, 0)
    assert abs(losses("random", 0.3).mean() - whole.mean()) < 0.04
    assert (losses("irrelevant", 0.3) < whole - 0.2).all() and (losses("attention", 0.3) < whole - 0.2).all()
    assert (losses("noisy", 0.3) < whole - 0.03).all(), "tokens of unit length: less noise helps"
    assert (losses("noisy", 0.3, 0) > raw).all(), "raw Gaussian tokens: noise only adds length"


def test_images_are_tokens_and_a_background_misleads_until_it_is_removed(tmp_path) -> None:
    images, rng = image_tokens.synthetic_images(), np.random.default_rng(0)
    found = image_tokens.tokens(images, 1.0, 0.5, rng)
    assert found.X.shape == (400, 25, 16) and (found.kept.sum(axis=1) == 17).all()
    assert (found.pattern == 2).sum(axis=1).tolist() == [16] * 400 and found.kept[found.pattern != 2].all()
    kept, gone = (np.mean([image_tokens.accuracy(images, 24, 0.95, f, k) for k in range(3)]) for f in (0.0, 1.0))
    assert gone > kept + 0.1 and gone > 0.7
    np.savez(tmp_path / "own.npz", images=np.repeat(np.repeat(images.pixels, 2, 1), 2, 2), labels=images.y)
    own = image_tokens.own_images(tmp_path / "own.npz")
    assert np.allclose(image_tokens.small(own.pixels), images.pixels / images.pixels.max())
    (tmp_path / "data_batch_1.bin").write_bytes(b"".join(bytes([k]) + bytes([9]) * 3072 for k in (0, 1)))
    assert image_tokens.small(image_tokens.own_images(tmp_path).pixels).shape == (2, 12, 12)
    with pytest.raises(ParameterError, match="12 x 12 are needed"):
        image_tokens.small(np.ones((1, 8, 8)))
    (tmp_path / "pickled").mkdir()
    (tmp_path / "pickled" / "data_batch_1").write_bytes(b"")
    with pytest.raises(ParameterError, match="take the binary ones"):
        image_tokens.own_images(tmp_path / "pickled")


def test_linear_growth_is_counted_from_the_values_at_the_start() -> None:
    found = stages.stages(Case(m=40, sigma=0.15, m_a=8, m_b=8, eta=0.2), 0)
    assert 0 < found.linear < found.T_train
