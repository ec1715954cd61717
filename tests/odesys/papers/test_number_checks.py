"""Verdicts of measured numbers: each check holds, fails by a witness, and refuses what is no measurement."""

from fractions import Fraction

import numpy as np
import pytest

from numerics.sweeps.power_law import PowerLaw
from odesys.errors import IntegrationError
from odesys.papers.number_checks import agrees, between, everywhere, has_exponent, in_turn, relative_gap, rounded
from odesys.verdicts import Evidence, Verdict, measured


def test_rounded_keeps_the_shape_and_what_is_no_float() -> None:
    assert rounded({1: (1 / 3, np.float64(2 / 3)), "b": np.array([[0.123456789]])}, 3) == {
        "1": [0.333, 0.667],
        "b": [[0.123]],
    }
    assert rounded("text") == "text" and rounded(True) is True and rounded(Fraction(1, 3)) == Fraction(1, 3)
    assert rounded(1234567.0) == 1234570.0


def test_between_includes_its_ends_and_keeps_the_range() -> None:
    verdict = between("x", [[0.5, 1.0], [0.7, 0.6]], 0.5, 1.0)
    assert verdict.as_stated == "holds" and verdict.evidence is Evidence.MEASUREMENT
    assert verdict.details == {"x": [0.5, 1.0]}
    for low, high in ((0.51, 1.0), (0.5, 0.99)):
        broken = between("x", [0.5, 1.0], low, high)
        assert broken.as_stated == "fails" and broken.witness == {"x": [0.5, 1.0], "allowed": [low, high]}


def test_a_value_that_is_no_number_is_outside_and_no_value_is_refused() -> None:
    assert between("x", [0.5, np.nan], -np.inf, np.inf).as_stated == "fails"
    assert between("x", [np.nan], -np.inf, np.inf).as_stated == "fails"
    with pytest.raises(IntegrationError, match="x: nothing of the kind"):
        between("x", [], 0, 1)
    with pytest.raises(IntegrationError, match="y: nothing of the kind"):
        everywhere("y", np.zeros((0, 3), dtype=bool))


def test_everywhere_counts_places() -> None:
    assert everywhere("y", np.array([[True, True]])).details == {"y": "1.0000 of 2"}
    broken = everywhere("y", [True, False, True, True])
    assert broken.as_stated == "fails" and broken.witness == {"y": "in 0.7500 of 4 places"}


def test_relative_gap_is_that_of_the_worst_name() -> None:
    assert relative_gap([1.0, 2.0], [1.0, 2.0]) == 0 and relative_gap(2.2, 2.0) == pytest.approx(0.1)
    assert relative_gap({"a": [0.0, 1.0], "b": 3.0}, {"a": [0.0, 1.0], "b": 2.0}) == pytest.approx(0.5)
    assert relative_gap([0.5], [0.0]) == 0.5
    assert relative_gap([np.nan], [1.0]) == relative_gap([1.0], [np.inf]) == np.inf


def test_agrees_is_strict() -> None:
    assert agrees([1.0], [1.0 + 1e-7]).as_stated == "holds"
    broken = agrees([1.5], [1.0], 0.5, "theory")
    assert broken.as_stated == "fails" and broken.witness == {"gap to theory": 0.5, "allowed": 0.5}


def test_an_exponent_needs_the_expected_value_and_a_short_interval() -> None:
    law = PowerLaw(-0.98, -1.05, -0.91, 1.0)
    assert has_exponent(law, -1.0, 0.2).details == {"exponent": [-1.05, -0.98, -0.91], "expected": -1.0}
    assert has_exponent(law, -0.5, 0.2).as_stated == has_exponent(law, -1.0, 0.1).as_stated == "fails"
    assert has_exponent(PowerLaw(*[np.nan] * 4), -1.0, 0.2).as_stated == "fails"


def test_in_turn_stops_at_the_first_part_that_fails() -> None:
    def never() -> Verdict:
        raise AssertionError("not to be computed")

    verdict = in_turn({"a": lambda: measured(True), "b": lambda: measured(False, {"x": 1}), "c": never})
    assert verdict.as_stated == "fails" and list(verdict.details["parts"]) == ["a", "b"]
    assert in_turn({"a": lambda: measured(True)}).as_stated == "holds"


def test_a_range_is_judged_by_both_ends_and_only_where_all_are_numbers() -> None:
    """By comparison with each value, one by one."""
    rng = np.random.default_rng(3)
    for _ in range(200):
        values, (low, high) = rng.integers(-3, 4, rng.integers(1, 5)).astype(float), np.sort(rng.integers(-3, 4, 2))
        if rng.random() < 0.2:
            values[rng.integers(len(values))] = np.nan
        right = all(low <= value <= high for value in values)
        assert between("x", values, low, high).as_stated == ("holds" if right else "fails")
    assert between("x", [0.123456789, 2.0], 0, 1, digits=3).details == {"x": [0.123, 2.0]}
    assert between("x", [0.123456789], 0, 1).details == {"x": [0.12346, 0.12346]}
    assert np.isnan(between("x", [np.nan], 0, 1).details["x"]).all()
    assert between("x", [1.0, np.nan], 0, 1).details == {"x": [1.0, 1.0]}


def test_the_gap_is_relative_to_the_largest_known_number() -> None:
    assert relative_gap([1.0, -9.0], [1.0, -8.0]) == 0.125 and relative_gap([5.0], [-4.0]) == 2.25
    assert relative_gap([-0.5, 0.25], [0.0, 0.0]) == 0.5 and relative_gap({"a": -3.0}, {"a": 0.0}) == 3.0
    assert relative_gap([np.inf], [1.0]) == np.inf
    with pytest.raises(IntegrationError, match="x: nothing of the kind") as caught:
        between("x", [], 0, 1)
    assert caught.value.time == 0.0


def test_details_have_the_digits_that_are_asked_for() -> None:
    assert agrees([1.0], [1.0 + 1e-6 * 1.2345]).details == {"gap_to_trained": 1.2e-06}
    assert agrees([1.0], [1.0 + 1e-6 * 1.2345]).as_stated == "fails"
    assert agrees([3.0], [2.0], 0.6, route="theory").details == {"gap_to_theory": 0.5}
    law = PowerLaw(-0.98765432, -1.0512345, -0.9123456, 1.0)
    assert has_exponent(law, -1.0, 0.2).details["exponent"] == [-1.051, -0.9877, -0.9123]
    assert rounded(0.123456789) == 0.123457 and rounded((1 / 3,)) == [0.333333]


def test_the_interval_of_an_exponent_has_its_ends_and_is_shorter_than_its_width() -> None:
    law = PowerLaw(-1.0, -1.25, -0.75, 1.0)
    for expected, width, answer in (
        (-1.25, 0.6, "holds"),
        (-0.75, 0.6, "holds"),
        (-1.26, 0.6, "fails"),
        (-0.74, 0.6, "fails"),
        (-1.0, 0.5, "fails"),
        (-1.0, 0.51, "holds"),
    ):
        assert has_exponent(law, expected, width).as_stated == answer


def test_parts_in_turn_go_on_while_they_hold() -> None:
    parts = {name: lambda: measured(True) for name in "abc"}
    assert list(in_turn(parts).details["parts"]) == ["a", "b", "c"]
