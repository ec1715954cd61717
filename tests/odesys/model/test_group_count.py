"""Numbers of things in K groups: evaluated, as expressions, in the limit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from derivations.two_mixture import setting
from odesys.errors import ParameterError
from odesys.expr import graph
from odesys.expr.graph import num, sym
from odesys.model.group_count import (
    GROUPS,
    INFINITY,
    NOTHING,
    ONE_GROUP,
    GroupCount,
    as_count,
    below,
    check_groups,
    falling,
    whole_groups,
)


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


def random_count(rng: np.random.Generator) -> GroupCount:
    powers = {int(r): int(e) for r, e in zip(rng.integers(0, 4, 2), rng.integers(-2, 3, 2), strict=True) if e}
    return GroupCount(Fraction(int(rng.integers(-3, 4)), int(rng.integers(1, 4))), tuple(sorted(powers.items())))


def test_products_and_quotients_are_those_of_the_values() -> None:
    rng = np.random.default_rng(8)
    for _ in range(60):
        one, other = random_count(rng), random_count(rng)
        both = one * other
        assert all(e for _, e in both.powers) and list(both.powers) == sorted(both.powers)
        for K in (5, 6, 11):
            assert both.at(K) == one.at(K) * other.at(K)
            assert (one * 3).at(K) == (3 * one).at(K) == (Fraction(3) * one).at(K) == 3 * one.at(K)
            assert (one / 2).at(K) == one.at(K) / 2
            if other:
                assert (one / other).at(K) == one.at(K) / other.at(K)
            for groups in (K, "symbol"):
                (node,) = graph.substitute([one.node(groups)], {sym("K"): num(K)})
                assert node is num(one.at(K))
        assert bool(one) == (one.coefficient != 0)
    assert not (GROUPS * 0).powers and not NOTHING and NOTHING.node("symbol") is num(0)


def test_the_limit_is_the_value_at_a_large_number() -> None:
    for count in (below(2) / below(1), 3 * below(1) / (GROUPS * GROUPS), ONE_GROUP, NOTHING, below(3) * below(1) * 0):
        assert abs(count.limit() - count.at(10**9)) < Fraction(1, 10**8)
        assert count.node(INFINITY) is num(count.limit())
    assert (5 * below(2) / below(1)).limit() == 5 and (GROUPS / GROUPS).degree == 0
    assert (GROUPS * GROUPS / below(1)).degree == 1 and below(1).degree == 1
    grown = GroupCount(Fraction(0), ((0, 2),))
    assert grown.limit() == 0 and grown.node("symbol") is num(0)


def test_numbers_of_groups_as_they_are_given() -> None:
    for value in (2, 3, np.int64(7), 10**12):
        assert check_groups(value) == value and type(check_groups(value)) is int and whole_groups(value) == value
    assert check_groups("symbol") == "symbol" and check_groups(INFINITY) == "infinity"
    for text in ("symbol", "infinity"):
        with pytest.raises(ParameterError, match=f"K = {text} can not be used here: a whole number of groups is"):
            whole_groups(text)


def test_counts_of_choices() -> None:
    assert [falling(0, k).at(4) for k in range(6)] == [1, 4, 12, 24, 24, 0]
    assert falling(2, 2).powers == ((2, 1), (3, 1)) and falling(5, 0) == ONE_GROUP
    assert as_count(3) == GroupCount(Fraction(3)) and as_count(GROUPS) is GROUPS
    assert str(GROUPS) == "1 K^1" and str(as_count(Fraction(1, 2))) == "1/2"
    assert below(3).at(10) == 7 and GROUPS.at(9) == 9
