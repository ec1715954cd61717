"""One validated step: Picard's box holds the solution, spreads and ranges are from above."""

from __future__ import annotations

from fractions import Fraction

import flint
import pytest

from odesys.certify.validated_step import horner, picard, polynomial_range, spread, widen
from odesys.expr.graph import ONE, sym


def growth(box: list[flint.arb]) -> tuple[list[flint.arb], ...]:
    """Taylor coefficients of x' = x: value and slope."""
    return tuple([x, x] for x in box)


def test_a_box_that_passes_holds_the_solution() -> None:
    (box,) = picard([flint.arb(1)], Fraction(1, 4), growth)
    for part in (Fraction(0), Fraction(1, 8), Fraction(1, 4)):
        assert box.contains(flint.arb(flint.fmpq(part.numerator, part.denominator)).exp())


def test_a_step_that_is_too_long_has_no_box() -> None:
    assert picard([flint.arb(1)], Fraction(5), growth) is None
    assert picard([flint.arb("nan")], Fraction(1, 4), growth) is None


@pytest.mark.parametrize(("slope", "rate"), [(ONE, 1), (-ONE, -1), (3 * ONE, 3)])
def test_solutions_spread_at_most_so_far(slope: object, rate: int) -> None:
    """x' = rate x: the distance of two solutions is e^(rate h) times the one before; there is a quarter to spare."""
    (grown,) = spread([{0: slope}], {}, Fraction(1, 2), [flint.arb(1)])
    exact = (flint.arb(rate) / 2).exp()
    assert exact <= grown <= (flint.arb(rate + abs(rate) / 4) / 2).exp() * (1 + flint.arb(2) ** -20)


def test_a_slope_over_a_box_is_taken_at_its_largest() -> None:
    (grown,) = spread([{0: sym("r")}], {"r": flint.arb_series([flint.arb(1, 1)])}, Fraction(1), [flint.arb(1)])
    assert grown >= flint.arb(2).exp()


def test_room_for_a_checker() -> None:
    x = flint.arb(1, 0.01)
    wide = widen(x, flint.arb(0.001), flint.arb(0))
    assert wide.contains(x) and wide.rad() > x.rad() + flint.arb(0.003)


def test_room_is_on_both_sides_and_of_the_sizes_that_are_said() -> None:
    """A 32nd of the radius, a 2048th of the widest spread, three times the rest."""
    x = flint.arb(5, 0.5)
    for rest, most in ((0, 0), (0.125, 0), (-0.125, 0), (0, 4), (0.25, 8)):
        wide = widen(x, flint.arb(rest), flint.arb(most))
        room = 0.5 / 32 + most / 2048 + 3 * abs(rest)
        assert float(x.lower() - wide.lower()) == pytest.approx(room, rel=1e-6)
        assert float(wide.upper() - x.upper()) == pytest.approx(room, rel=1e-6)


def test_the_range_of_a_polynomial_holds_every_value_and_is_not_much_wider() -> None:
    model = [flint.arb(c) for c in (1, -2, 1)]  # (1 - x)^2
    found = polynomial_range(model, Fraction(0), Fraction(1, 2))
    for k in range(11):
        assert found.contains(horner(model, flint.arb(k) / 20))
    assert found.rad() < flint.arb("0.8") and not found.contains(flint.arb(2))
    point = polynomial_range(model, Fraction(1, 2), Fraction(1, 2))
    assert point.contains(flint.arb("0.25")) and point.rad() < flint.arb(2) ** -40
