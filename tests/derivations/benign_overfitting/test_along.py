"""The flow of drawn training sets: against the derived flow, against the mean field, and with random labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from derivations.benign_overfitting import dynamics
from derivations.benign_overfitting.claims.common_drawn import Stages, dominates, gaps, moved, stages
from derivations.benign_overfitting.claims.common_hypotheses import BAD, GOOD
from derivations.benign_overfitting.protocol import columns_of
from derivations.benign_overfitting.setting import Case, places
from derivations.benign_overfitting.special import span_network, wide_flow
from derivations.benign_overfitting.special.gram_start import gram_start
from derivations.benign_overfitting.special.mean_field import run_case
from derivations.benign_overfitting.special.seed_steps import SeedSteps
from odesys import IntegrationError

SMALL = Case(N=4, M=3, d=60, d_h=40, mu=3.0, noise=2.0, C_p=2.0, sigma_V=0.3)


def test_the_field_is_that_of_the_derived_flow() -> None:
    """Tokens that overlap, labels as they fall: every equation of the derived flow."""
    batch = wide_flow.draw(SMALL, (3, 4))
    state = wide_flow.snapshot(batch, 0.0, batch.start)
    for seed in (0, 1):
        signs = [int(y) for y in batch.y[seed]]
        made = gram_start(SMALL, ((3, 4)[seed], 6))
        flow = dynamics.flow(SMALL.N, SMALL.M, made.gram.tolist(), signs)
        leaves = span_network.engine_leaves({name: getattr(state, name)[seed] for name in "SQKV"})
        field = flow.system.compile({"w2": SMALL.w2}, "block")(0.0, flow.layout.pack(leaves))
        right = flow.layout.unpack(field)
        for name, leaf in (("S", right["KQ"].T), ("Q", right["QQ"]), ("K", right["KK"]), ("V", right["wOV"][0])):
            np.testing.assert_allclose(state.rates[name][seed], leaf, rtol=1e-9, atol=1e-9 * np.abs(leaf).max())


@pytest.mark.skipif(not SeedSteps.possible(), reason="no machine code here")
def test_machine_code_takes_the_steps_of_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves out the zeros of H; tables that are not symmetric show where something is turned round."""
    batch = wide_flow.draw(replace(SMALL, N=6), (3, 4, 5))
    x = np.random.default_rng(1).standard_normal(batch.start.shape)
    batch = replace(batch, overlaps=0 * batch.overlaps, start=x)
    times = np.array([1e-3, 1e-2, 3e-2])
    quick = wide_flow.follow(batch, times)
    monkeypatch.setattr(SeedSteps, "possible", lambda: False)
    plain = wide_flow.follow(batch, times)
    assert [s.time for s in quick] == [s.time for s in plain] == [0.0, *times]
    for found, right in zip(quick[1:], plain[1:], strict=True):
        assert np.abs(right.packed - x).max() > 1e-3
        np.testing.assert_allclose(found.packed, right.packed, rtol=1e-11, atol=1e-11 * np.abs(right.packed).max())


def test_labels_are_random_and_signals_belong_to_them() -> None:
    batch = wide_flow.draw(replace(SMALL, N=12, d_h=80), tuple(range(30)))
    assert 0.35 < (batch.y > 0).mean() < 0.65 and len({int(y.sum()) for y in batch.y}) > 3
    for y, where in zip(batch.y, batch.places, strict=True):
        np.testing.assert_array_equal(where, places(12, 3, list(y)))


def test_coefficients_are_the_rates_of_the_scores() -> None:
    batch = wide_flow.draw(SMALL, (1,))
    s = wide_flow.snapshot(batch, 0.0, batch.start)
    rate = s.alpha @ s.K + s.Q @ np.swapaxes(s.beta, 1, 2)
    np.testing.assert_allclose(s.rates["S"], rate, rtol=1e-9, atol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("benign", [True, False])
def test_trajectories_are_near_the_mean_field(benign: bool) -> None:
    run = stages(GOOD if benign else BAD, (0, 1))
    last, name = run.third[-1], "v_s" if benign else "v_2"
    theory = run_case(run.case, 0.3 * run.inside.eps, method="RK45", rtol=1e-6)
    value = float(columns_of(theory, np.array([0.0, last.time]))[name][-1])
    seen = np.abs(last.V[:, :2]).mean() if benign else last.values[:, :, 1].mean()
    assert (last.loss <= run.inside.eps).all() and abs(seen - value) < 0.25


def test_classes_are_as_large_as_lemma_c1_says() -> None:
    """One label in four at least, although one of twenty sets of eight labels has fewer."""
    batch = wide_flow.draw(replace(SMALL, N=8, d_h=80), tuple(range(40)))
    assert ((batch.y > 0).sum(axis=1) >= 2).all() and ((batch.y > 0).sum(axis=1) <= 6).all()


def test_a_stage_that_is_empty_is_refused() -> None:
    with pytest.raises(IntegrationError, match="T_1 is after T_2"):
        stages(replace(GOOD, logs=0.0), (0,))


def test_moved_states_keep_dominance_and_change_the_rest() -> None:
    batch = wide_flow.draw(GOOD.case, (1,))
    V = np.where(np.arange(GOOD.case.P) < 2, 1.0, 1e-3)[None, :] * np.where(np.arange(GOOD.case.P) == 1, -1, 1)
    start = replace(wide_flow.snapshot(batch, 0.0, batch.start), V=V)
    run = Stages(GOOD, True, [start], [start], [start])
    other = moved(run, start, 3, 2.0)
    assert dominates(run, other).all() and not np.allclose(other.V, start.V)
    assert (gaps(run, other) >= gaps(run, start)).all() and np.abs(
        gaps(run, other) - gaps(run, start)
    ).max() <= 2 + 1e-9
