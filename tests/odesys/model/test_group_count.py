"""Numbers of things in K groups: evaluated, as expressions, in the limit."""

from __future__ import annotations

from fractions import Fraction

import pytest

from derivations.two_mixture import setting
from odesys.errors import ParameterError
from odesys.model.group_count import GROUPS, as_count, below, check_groups, falling


def test_multiplicities_are_polynomials_over_powers() -> None:
    counts = {orbit.others: orbit.count for orbit in setting.family(4).orbits() if orbit.label == 1}
    v, minus = (1, 1), (1, -1)
    assert counts[((v, minus),)] == as_count(Fraction(1, 4)) / below(1)
    assert counts[((minus,), (v,))] == Fraction(1, 4) * below(2) / below(1)
    assert counts[((v,), (v,))] == Fraction(1, 8) * below(2) / below(1)


def test_counts() -> None:
    pairs = GROUPS * below(1)
    assert pairs.at(5) == 20 and pairs.degree == 2 and (pairs / GROUPS).degree == 1
    assert falling(1, 3).at(3) == 0 and falling(1, 3).at(5) == 24
    assert (below(2) / below(1)).limit() == 1 and (1 * below(2) / pairs).limit() == 0
    assert str(2 * pairs / below(2)) == "2 K^1 (K - 1)^1 (K - 2)^-1"
    for growing in (pairs, GROUPS, below(2)):
        with pytest.raises(ParameterError, match="grows without bound"):
            growing.limit()


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (1, "K = 1 is too small: a family has at least 2 groups"),
        (2.5, "K = 2.5 is not a whole number of groups"),
        ("three", "K = 'three' is not a whole number"),
        (True, "is not a number of groups"),
        (None, "K = None is not a"),
    ],
)
def test_bad_numbers_of_groups(value: object, sentence: str) -> None:
    with pytest.raises(ParameterError, match=sentence):
        check_groups(value)
