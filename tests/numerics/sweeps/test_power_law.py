"""Powers with intervals: of single values, and of means over repeats."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.sweeps.power_law import fit_power_law, fit_power_law_of_means
from odesys.errors import ParameterError


def test_a_power_of_means_survives_zeros_and_covers_the_truth() -> None:
    x, rng = np.array([1.0, 2.0, 4.0, 8.0]), np.random.default_rng(0)
    covered = 0
    for k in range(40):
        values = x[:, None] ** -1.5 * rng.exponential(size=(4, 30)) * (rng.random((4, 30)) < 0.9) / 0.9
        law = fit_power_law_of_means(x.tolist(), values, draws=400, seed=k)
        covered += law.low <= -1.5 <= law.high
        assert law.low < law.value < law.high
    assert 32 <= covered <= 40, covered


def test_a_pure_power_is_found_by_both_fits() -> None:
    x = [1.0, 3.0, 9.0]
    table = np.array([[2.0 * v**0.7] * 3 for v in x])
    means = fit_power_law_of_means(x, table)
    single = fit_power_law(np.repeat(x, 3).tolist(), table.ravel().tolist())
    assert (means.value, means.prefactor) == pytest.approx((single.value, single.prefactor))
    assert (means.value, means.low, means.high) == pytest.approx((0.7, 0.7, 0.7))


def test_what_has_no_power_gets_a_sentence() -> None:
    with pytest.raises(ParameterError, match="mean at x = 2 is 0"):
        fit_power_law_of_means([1.0, 2.0], np.array([[1.0, 1.0], [0.0, 0.0]]))
    with pytest.raises(ParameterError, match="two different points"):
        fit_power_law_of_means([1.0, 1.0], np.ones((2, 2)))


def test_one_value_at_each_point_says_nothing_of_the_error() -> None:
    x = np.array([1.0, 2.0, 4.0])
    law = fit_power_law_of_means(x, 3 * x[:, None] ** -0.5)
    assert (law.low, law.high) == (-np.inf, np.inf) and law.value == pytest.approx(-0.5)
    assert law.prefactor == pytest.approx(3)
    two = fit_power_law_of_means(x, 3 * x[:, None] ** -0.5 * np.array([0.9, 1.1]))
    assert -np.inf < two.low <= two.value <= two.high < np.inf and two.low < two.high
