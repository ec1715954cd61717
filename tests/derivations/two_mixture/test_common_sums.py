"""Runs in sums and gaps: the same numbers as before where both can be computed, and the law that was derived."""

from __future__ import annotations

import pytest

from derivations.two_mixture.claims.common_stage_two import REACH, neurons
from derivations.two_mixture.claims.common_sums import rates_are_bilinear, small_sums
from derivations.two_mixture.claims.part_e_near_symmetry import sums_along
from derivations.two_mixture.laboratory import Laboratory

LAB = Laboratory()


def test_sums_as_states_are_the_sums_of_the_states() -> None:
    run, table = small_sums(LAB, 0.01, 20.0, REACH, 0.5), sums_along(LAB, 0.01, 20.0)
    assert run.fastest_sum() == pytest.approx(table["rate"].max(), rel=1e-4)
    first = int((table["score"] >= 0.01).argmax())
    assert run.speed_at(table["score"][first]) == pytest.approx(table["speed"][first], rel=1e-7)


def test_the_ratio_has_the_constant_of_the_leading_order_at_a_small_score() -> None:
    omega, T1, b, x = 1e-8, 5.0, 0.5, 0.1
    run, n = small_sums(LAB, omega, T1, x, b), neurons(T1, b)
    linear, turned = omega * x**0.5 / 2, 8 * x**3 / 3675
    law = omega * n["n_v"] / n["n_c"] * (linear + turned) / 2
    assert run.fastest_sum() / run.speed_at(omega) == pytest.approx(law, rel=0.05), (
        "the next order in x is x/10 or less"
    )


def test_a_system_whose_sums_are_not_bilinear_is_noticed() -> None:
    assert (
        rates_are_bilinear(LAB).as_stated == "holds" and rates_are_bilinear(Laboratory("double")).as_stated == "fails"
    )
