"""Ratios are fractions: same values, same hashes, same texts, and they stay what they are."""

from __future__ import annotations

import copy
import operator
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odesys.expr.rationals import Ratio, ratio

fractions = st.fractions(min_value=-9, max_value=9, max_denominator=12) | st.integers(-5, 5).map(Fraction)
others = fractions | fractions.map(ratio) | st.integers(-5, 5) | st.sampled_from([0.5, -2.0])


@given(fractions, others)
def test_arithmetic_is_that_of_fractions(a: Fraction, b: Fraction | int | float) -> None:
    plain = Fraction(b) if isinstance(b, Fraction) else b
    for work in (operator.add, operator.sub, operator.mul, operator.truediv):
        for swapped in (False, True):
            mine, theirs = ((b, ratio(a)), (plain, a)) if swapped else ((ratio(a), b), (a, plain))
            if work is operator.truediv and theirs[1] == 0:
                with pytest.raises(ZeroDivisionError):
                    work(*mine)
                continue
            found, expected = work(*mine), work(*theirs)
            assert found == expected and type(found) is (Ratio if type(expected) is Fraction else float)
            if type(found) is Ratio:
                assert (found.numerator, found.denominator) == (expected.numerator, expected.denominator)
    for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
        assert compare(ratio(a), b) == compare(a, plain) and compare(b, ratio(a)) == compare(plain, a)


@given(fractions)
def test_a_ratio_looks_like_the_fraction(a: Fraction) -> None:
    mine = ratio(a)
    assert (hash(mine), str(mine), repr(mine), bool(mine), float(mine)) == (hash(a), str(a), repr(a), bool(a), float(a))
    for work in (operator.neg, operator.pos, abs, copy.copy, copy.deepcopy):
        found = work(mine)
        assert type(found) is Ratio and found == work(a)
    made, parts = mine.__reduce__()  # what another process makes it from
    assert type(made(*parts)) is Ratio and made(*parts) == a
    assert isinstance(mine, Fraction) and ratio(mine) is mine and Fraction(mine) == a


def test_powers_stay_exact() -> None:
    assert ratio(Fraction(2, 3)) ** -2 == Fraction(9, 4) and type(ratio(Fraction(2, 3)) ** -2) is Ratio
    assert ratio(4) ** Fraction(1, 2) == 2.0 and ratio("1/3") == Fraction(1, 3)


def test_every_pair_of_small_fractions() -> None:
    """By enumeration: sums, products, quotients and orders are those of fractions, in lowest terms."""
    small = sorted({Fraction(p, q) for p in range(-4, 5) for q in range(1, 5)})
    for a in small:
        for b in small:
            for work in (operator.add, operator.sub, operator.mul, operator.truediv):
                if work is operator.truediv and not b:
                    continue
                found, expected = work(ratio(a), ratio(b)), work(a, b)
                assert type(found) is Ratio and (found.numerator, found.denominator) == expected.as_integer_ratio()
            for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):
                other = b.numerator if b.denominator == 1 else ratio(b)
                assert compare(ratio(a), other) is compare(a, b) is compare(ratio(a), ratio(b))


def test_orders_are_exact_however_large_or_close() -> None:
    """Whole numbers beyond floats, and floats next to a third: nothing is rounded before it is compared."""
    large = 10**400
    for p, q in ((1, 3), (3 * large + 1, 3), (-large, 7), (large, 1)):
        for other in (large, large + 1, -large, 0, 1, 1 / 3, 2 / 3, -0.1, 1e300):
            for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq):
                assert compare(Ratio(p, q), other) is compare(Fraction(p, q), other)
    for p in range(1, 30):
        for q in range(1, 30):
            for compare in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq):
                assert compare(Ratio(p, q), p / q) is compare(Fraction(p, q), p / q)
