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


@pytest.mark.parametrize("count", [3, 4, 9])
def test_the_interval_of_single_values_is_students_for_the_slope(count: int) -> None:
    """At 0.975 with two degrees of freedom less than points, from the deviations from the line."""
    rng = np.random.default_rng(count)
    x = np.geomspace(1.0, 50.0, count)
    y = 3 * x**-1.25 * np.exp(0.2 * rng.normal(size=count))
    law, (u, v) = fit_power_law(x.tolist(), y.tolist()), (np.log(x), np.log(y))
    slope, shift = np.polyfit(u, v, 1)
    error = np.sqrt(((v - slope * u - shift) ** 2).sum() / (count - 2) / ((u - u.mean()) ** 2).sum())
    margin = {3: 12.70620, 4: 4.30265, 9: 2.36462}[count] * error
    assert law.interval == pytest.approx((slope - margin, slope, slope + margin), rel=1e-5)
    assert law.half_width == pytest.approx(margin, rel=1e-5) and law.prefactor == pytest.approx(np.exp(shift))


def test_two_points_have_an_exponent_and_no_interval() -> None:
    law = fit_power_law([1, 4], [3.0, 6.0])
    assert (law.value, law.prefactor) == pytest.approx((0.5, 3.0)) and (law.low, law.high) == (-np.inf, np.inf)
    with pytest.raises(ParameterError, match="at least two different widths"):
        fit_power_law([2, 2, 2], [1.0, 2.0, 3.0])
    assert np.isnan(fit_power_law([1, 2, 4], [1.0, -2.0, 3.0]).value)


def test_means_are_drawn_again_in_whole_columns() -> None:
    """By the quantiles of slopes of a line through means of columns, one draw at a time."""
    x, rng = [1.0, 3.0, 7.0, 20.0], np.random.default_rng(8)
    table = np.array(x)[:, None] ** 0.75 * rng.exponential(size=(4, 12))
    law = fit_power_law_of_means(x, table, draws=300, seed=5)
    picks = np.random.default_rng(5).integers(12, size=(300, 12))
    slopes = [np.polyfit(np.log(x), np.log(table[:, pick].mean(axis=1)), 1)[0] for pick in picks]
    slope, shift = np.polyfit(np.log(x), np.log(table.mean(axis=1)), 1)
    low, high = np.quantile(slopes, [0.025, 0.975])
    assert law.interval == pytest.approx((low, slope, high)) and law.prefactor == pytest.approx(np.exp(shift))


def test_draws_whose_mean_is_zero_are_left_out() -> None:
    """Half of the draws of two columns have a mean; each is the only power there is."""
    law = fit_power_law_of_means([1.0, 2.0], np.array([[0.0, 2.0], [0.0, 8.0]]), draws=50)
    assert law.interval == pytest.approx((2.0, 2.0, 2.0))


def test_a_table_has_a_row_for_every_point() -> None:
    for x, values in (([1.0, 2.0], np.ones((3, 2))), ([1.0, 2.0], np.ones(2)), ([1.0, 2.0], np.ones((2, 2, 2)))):
        with pytest.raises(ParameterError, match=r"a power needs one row of values per point and two different points"):
            fit_power_law_of_means(x, values)
    with pytest.raises(ParameterError, match="the mean at x = 5 is -3; a power law needs positive means"):
        fit_power_law_of_means([1.0, 2.0, 5.0], np.array([[1.0], [2.0], [-3.0]]))
