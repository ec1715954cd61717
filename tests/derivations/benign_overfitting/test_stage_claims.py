"""What the claims about stages are made of: forces without cancellation, all products of tokens, places, constants."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
import sympy as sp

from derivations.benign_overfitting.claims import (
    common_descent,
    part_fresh,
    part_key_change,
    part_late_displays,
    part_stage_displays,
    part_stages,
    part_sums,
    part_theorems,
)
from derivations.benign_overfitting.claims.common_drawn import moved, stages_of
from derivations.benign_overfitting.claims.common_hypotheses import (
    BAD,
    ENOUGH,
    GOOD,
    IN_HARMFUL,
    SMALL_LOSS,
    STAGES_BENIGN,
    STAGES_HARMFUL,
    UNLIKELY,
    WIDE,
    WIDE_FOR_EPSILON,
    exact_point,
)
from derivations.benign_overfitting.special.wide_flow import Snapshot, draw, snapshot
from odesys import Draw
from odesys.papers.hypotheses import violated


@pytest.fixture(scope="module")
def start() -> Snapshot:
    batch = draw(GOOD.case, (1, 2))
    return snapshot(batch, 0.0, batch.start)


def test_forces_keep_their_sign_and_size_where_attention_is_saturated(start: Snapshot) -> None:
    """At a gap of 60 the force on the winning key is the sum of the others, which v less the mean rounds to zero."""
    seed = np.arange(2)[:, None, None]
    S, V = start.S.copy(), np.zeros_like(start.V)
    S[seed, start.batch.places, start.batch.places[:, :, :1]] = 60.0
    V[:, 0], V[:, 1] = 1.0, -1.0
    here = Snapshot(start.batch, 0.0, S, start.Q, start.K, V)
    pull = here.pull
    assert (pull[..., 0] > 0).all() and (pull[..., 1:] < 0).all()
    np.testing.assert_allclose(pull[..., 0], -pull[..., 1:].sum(axis=-1), rtol=1e-12)


def test_judged_rates_have_the_noise_of_other_samples(start: Snapshot) -> None:
    own, others = start.pushes
    assert np.abs(others[:, 2:]).min() > 0 and np.abs(others).max() < 1e-12 * np.abs(own).max()
    np.testing.assert_allclose(start.rates["V"], GOOD.case.w2 * (own + others), rtol=1e-14)


def test_all_places_are_inside_and_new_draws_move_them() -> None:
    for benign, listed in ((True, STAGES_BENIGN), (False, STAGES_HARMFUL)):
        for draws in (Draw(7, number) for number in range(12)):
            for place in part_stages.places(draws, benign):
                assert violated(listed, place.point) == []
        assert part_stages.places(Draw(7, 1), benign)[1] != part_stages.places(Draw(), benign)[1]


def test_constants_come_from_the_proofs() -> None:
    assert part_stages.gap_constant(1) == Fraction(19 * 289, 40 * 400 * 120)
    assert part_stages.gap_constant_harmful(3) == Fraction(2 * 289, 5 * 400) * Fraction(8, 9) * Fraction(
        625 * 9, 32 * 81
    )


def test_states_that_are_moved_keep_what_they_should(start: Snapshot) -> None:
    run = stages_of(BAD, (3,))
    first = run.second[0]
    other = moved(run, first, 0, 4.0)
    assert (other.Q == first.Q).all() and (other.K == first.K).all()
    steps = np.unique(np.round(other.S - first.S, 9))
    assert set(steps) <= {-2.0, 0.0, 2.0} and len(steps) == 3
    won = first.batch.places[0, :, run.winner]
    assert (other.V[0, won] == first.V[0, won]).all()


def test_orders_are_compared_and_not_taken_for_granted() -> None:
    L, root, lg = part_late_displays.L, part_late_displays.ROOT, part_late_displays.LG
    step = part_late_displays.ETA * part_late_displays.MU**4 * part_late_displays.H2 * root**4 * lg
    right = lg * L ** sp.Rational(-3, 2)
    assert part_late_displays.in_both_cases(step, right, 4).as_stated == "holds"
    assert part_late_displays.in_both_cases(step, right * L, 4).as_stated == "fails"
    assert part_late_displays.in_both_cases(step, right, 2).as_stated == "fails"
    N = part_key_change.N
    assert part_key_change.same(N**2 / N, N, {}).as_stated == "holds"
    assert part_key_change.same(N**2, N, {}).as_stated == "fails"
    assert part_key_change.same(part_key_change.R, N, {part_key_change.R: N}).as_stated == "holds"


def test_sums_of_coefficients_have_no_smaller_order_than_the_printed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A root of N less, or a power of the logarithm less where the growth of V is all, is noticed in every display."""
    for part, (coefficients, printed) in list(part_sums.DISPLAYS.items()):
        assert part_sums.within_order(part).as_stated == "holds", part
        for factor in (part_sums.N, 1 / part_sums.SNR**3, part_sums.L):
            monkeypatch.setitem(part_sums.DISPLAYS, part, (coefficients, printed / factor))
            assert part_sums.within_order(part).as_stated == "fails", (part, factor)
        monkeypatch.setitem(part_sums.DISPLAYS, part, (coefficients, printed))


def test_the_sum_of_times_needs_twice_the_constant() -> None:
    """(158) with one C_7 fails, and (159)-(164) follow where steps have 2 C_7."""
    assert part_stage_displays.sum_of_times(2, 1).as_stated == "holds"
    assert part_stage_displays.sum_of_times(1, 1).as_stated == "fails"
    assert part_late_displays.other_keys_fall().as_stated == "holds"


def test_the_time_below_a_tenth_is_one_of_a_descent() -> None:
    """With all attention on the signal: the bound is above the time that descent takes."""
    point = exact_point(False) | {"N": 2, "M": 2, "mu": 1, "w_O": 1}
    bound, v, time, step = float(common_descent.time_below(point)), 0.0, 0.0, 1e-2
    while np.log1p(np.exp(-v)) > 0.1:  # V of one signal alone, attention on it: v' = |mu|^2 sigma(-v) / N
        v, time = v + step / 2 / (1 + np.exp(v)), time + step
    assert time < bound < 1e4 * time
    early, late = (common_descent.second_derivative(point, common_descent.ball(10**power)) for power in (2, 6))
    assert bool(late > early) and bool(early > 0)


def test_the_least_constant_is_that_of_the_time_below_a_tenth() -> None:
    """132 is 2 (log 2 - 1/10) (200/19)^2 rounded up, so that the closed form is within half a percent of the balls."""
    point = exact_point(False) | part_theorems.TINY
    unit = point["N"] / (point["eps"] * point["sigma_p"] ** 2 * point["d"] * point["w_O"] ** 2)
    below, closed = common_descent.time_below(point), common_descent.ball(common_descent.least_constant(point) * unit)
    assert bool(below < closed) and bool(closed < below * 201 / 200)


@pytest.mark.parametrize("changes", [part_theorems.TINY, part_fresh.FAINT])
def test_failures_in_the_harmful_regime_are_inside_with_every_logarithm(changes: dict[str, int | Fraction]) -> None:
    """Also with the eighth power in the tilde of (1), N SNR^2 at most 1/16, and the second power in (9)."""
    point = exact_point(False) | changes
    snr2 = Fraction(point["N"]) * point["mu"] ** 2 / (point["sigma_p"] ** 2 * point["d"])
    L = log(6 * point["N"] ** 2 * point["M"] ** 2 / point["delta"])
    listed = (*IN_HARMFUL, ENOUGH, WIDE, WIDE_FOR_EPSILON, SMALL_LOSS, UNLIKELY)
    assert violated(listed, point | {"n_snr2": snr2, "L": L}) == [] and snr2 <= Fraction(1, 16)
