"""Multiplicities of zeros that are known from intersection theory."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import flint
import pytest

from odesys.analysis.multiplicity import _monomials, multiplicity
from odesys.analysis.number_field import AlgebraicPoint, rational_point

CONTEXT = flint.fmpz_mpoly_ctx.get(("x", "y"), "degrevlex")
X, Y = CONTEXT.gens()


@pytest.mark.parametrize(
    ("curves", "wanted"),
    [((X, Y), 1), ((X**2, Y), 2), ((X**2, Y**2), 4), ((Y - X**2, Y), 2), ((Y**2 - X**3, X), 2), ((X * Y, X + Y), 2)],
)
def test_intersections_at_the_origin(curves: tuple[object, object], wanted: int) -> None:
    assert multiplicity(curves, rational_point([0, 0])) == wanted


def test_elsewhere() -> None:
    assert multiplicity(((X - 1) ** 3, 2 * Y - 1), rational_point([1, "1/2"])) == 3
    root = AlgebraicPoint(flint.fmpq_poly([-2, 0, 1]), 1, (flint.fmpq_poly([0, 1]), flint.fmpq_poly([0])))
    assert multiplicity((X**2 - 2, Y), root) == 1
    assert multiplicity(((X**2 - 2) ** 2, Y), root) is None  # above one
    assert multiplicity((X**2 + Y**2, X**2 + Y**2), rational_point([0, 0])) is None


@pytest.mark.parametrize(("a", "b"), [(1, 1), (1, 4), (2, 3), (3, 3), (2, 5)])
def test_a_zero_of_two_powers_counts_their_product_wherever_it_is(a: int, b: int) -> None:
    """And so it does after a change of variables that can be undone."""
    place = rational_point([2, Fraction(-1, 3)])
    u, v = X - 2, 3 * Y + 1
    assert multiplicity((u**a, v**b), place) == a * b
    assert multiplicity(((u + v) ** a, (u - 2 * v) ** b), place) == a * b
    assert multiplicity(((u + v**2) ** a, v**b), place) == a * b


def test_parallel_curves_through_a_point_touch_to_an_order() -> None:
    """The curve y = x^k meets y = 0 k times at the origin, up to the degree that is looked at."""
    counts = [multiplicity((Y - X**k, Y), rational_point([0, 0])) for k in range(1, 10)]
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8, None]


def test_three_variables_and_more_equations_than_variables() -> None:
    context = flint.fmpz_mpoly_ctx.get(("x", "y", "z"), "degrevlex")
    x, y, z = context.gens()
    origin = rational_point([0, 0, 0])
    assert multiplicity((x**2, y**2, z**2), origin) == 8 and multiplicity((x * y, y * z, x * z), origin) is None
    assert multiplicity((x**2, y**2, z**2, x * y, y * z, x * z), origin) == 4
    assert multiplicity((x, y, z, x + y), origin) == 1
    assert multiplicity((x - y**2, y - z**2, z - x**2), origin) == 1


def test_monomials_of_a_degree_are_all_and_each_once() -> None:
    for size in (1, 2, 3):
        for degree in (0, 1, 3):
            found = _monomials(size, degree)
            assert sorted(found) == sorted(m for m in product(range(degree + 1), repeat=size) if sum(m) <= degree)
