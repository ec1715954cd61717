"""Exact signs and names of algebraic numbers."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import flint
import pytest
import sympy as sp

from odesys.analysis.number_field import AlgebraicPoint, evaluate, inverse, minimal_of, rational_point, real_roots

CUBIC = flint.fmpq_poly([-1, -1, 0, 1])  # t^3 - t - 1, one real root
ROOT = flint.fmpq_poly([0, 1])


def test_signs_are_exact_where_floats_see_zero() -> None:
    point = AlgebraicPoint(flint.fmpq_poly([-2, 0, 1]), 1, (ROOT,))
    near = flint.fmpq(665857, 470832)  # a convergent: above the root of 2 by 2e-12
    assert point.sign(ROOT - near) == -1 and point.sign(ROOT * ROOT % point.minimal - 2) == 0
    far = AlgebraicPoint(flint.fmpq_poly([-2, 0, 1]), 0, (ROOT,))
    assert far.sign(ROOT) == -1


def test_expressions_pick_the_right_root() -> None:
    for index, sign in ((0, -1), (1, 1)):
        point = AlgebraicPoint(flint.fmpq_poly([-3, 0, 2]), index, (ROOT, ROOT * ROOT))
        x, square = point.expressions()
        assert sp.expand(x - sign * sp.sqrt(6) / 2) == 0 and square == sp.Rational(3, 2)
    (value,) = AlgebraicPoint(CUBIC, 0, (ROOT * ROOT,)).expressions()
    assert value.has(sp.CRootOf) and float(value) == pytest.approx(1.324717957244746**2)


def test_inverse_and_minimal_polynomial() -> None:
    element = ROOT * ROOT + 1
    assert inverse(element, CUBIC) * element % CUBIC == 1
    own = minimal_of(element, CUBIC)
    assert own.degree() == 3 and own(element) % CUBIC == 0


def test_values_of_polynomials_and_enclosures() -> None:
    context = flint.fmpz_mpoly_ctx.get(("x", "y"), "degrevlex")
    x, y = context.gens()
    point = rational_point([2, -3])
    assert point.value(x**2 * y + 1) == -11 and point.enclosures() == [(2, 2), (-3, -3)]
    assert not evaluate(x**3 - x - 1, {0: ROOT, 1: ROOT}, CUBIC)
    assert len(real_roots(CUBIC)) == 1


def test_high_powers_are_not_a_matter_of_depth() -> None:
    context = flint.fmpz_mpoly_ctx.get(("x",), "degrevlex")
    (x,) = context.gens()
    assert rational_point([2]).value(x**5001) == flint.fmpq_poly([2**5001])


def test_real_roots_of_polynomials_of_both_kinds_from_the_left() -> None:
    rng = random.Random(2)
    for _ in range(20):
        roots = sorted(rng.sample(range(-9, 10), 4))
        whole = flint.fmpz_poly([1])
        for root in roots:
            whole = whole * flint.fmpz_poly([-root, 1])
        whole = whole * flint.fmpz_poly([1, 0, 1])  # and a pair that is not real
        scaled = flint.fmpq_poly(whole) / 7
        for polynomial in (whole, scaled):
            found = real_roots(polynomial)
            assert [round(float(ball.mid()), 9) for ball in found] == roots
            assert all(not a.overlaps(b) for a, b in pairwise(found))


QUARTIC = flint.fmpq_poly([1, 0, -10, 0, 1])  # of sqrt(2) + sqrt(3), whose four signs are its real roots


@pytest.mark.parametrize("index", range(4))
def test_numbers_of_a_smaller_field_are_written_with_its_roots(index: int) -> None:
    """(t^3 - 9 t) / 2 and (11 t - t^3) / 2 are the two square roots that t is the sum of."""
    point = AlgebraicPoint(QUARTIC, index, ())
    two, three = flint.fmpq_poly([0, -9, 0, 1]) / 2, flint.fmpq_poly([0, 11, 0, -1]) / 2
    signs = [point.sign(element) for element in (two, three)]
    assert signs == [[-1, -1], [1, -1], [-1, 1], [1, 1]][index]
    wanted = [signs[0] * sp.sqrt(2), signs[1] * sp.sqrt(3)]
    assert [sp.expand(point.expression(e) - v) for e, v in zip((two, three), wanted, strict=True)] == [0, 0]
    mixed = two * flint.fmpq(-3, 5) + flint.fmpq(1, 7)
    assert sp.expand(point.expression(mixed) - (sp.Rational(1, 7) - wanted[0] * sp.Rational(3, 5))) == 0
    assert minimal_of(two, QUARTIC).degree() == 2 and minimal_of(ROOT, QUARTIC).degree() == 4
    assert point.expression(two * two) == 2 and point.expression(flint.fmpq_poly([flint.fmpq(-2, 3)])) == sp.Rational(
        -2, 3
    )
    whole = point.expression(ROOT)
    assert whole.has(sp.CRootOf) and float(whole) == pytest.approx(float(wanted[0] + wanted[1]), abs=1e-12)
    assert point.sign(two * two % QUARTIC - 2) == 0 == point.sign(flint.fmpq_poly([]))


def test_a_sign_is_found_where_the_first_balls_do_not_tell() -> None:
    """Convergents of the root of 2 with a hundred digits, from both sides."""
    point = AlgebraicPoint(flint.fmpq_poly([-2, 0, 1]), 1, (ROOT,))
    p, q = 1, 1
    for k in range(140):
        near = flint.fmpq(p, q)
        assert point.sign(ROOT - near) == (1 if k % 2 == 0 else -1) == -point.sign(near - ROOT)
        p, q = p + 2 * q, p + q
    assert q > 10**50
    close = flint.fmpq_poly([-(2 * q * q + 1), 0, q * q])  # its roots differ from those of t^2 - 2 by 10^-100
    assert len({str(ball) for ball in real_roots(close)}) == 2


def test_inverses_powers_and_minimal_polynomials_of_random_elements() -> None:
    rng = random.Random(4)
    context = flint.fmpz_mpoly_ctx.get(("x", "y"), "degrevlex")
    x, y = context.gens()
    for minimal in (CUBIC, QUARTIC, flint.fmpq_poly([-3, 0, 2])):
        for _ in range(8):
            a, b = (
                flint.fmpq_poly([flint.fmpq(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(minimal.degree())])
                for _ in "ab"
            )
            if not a:
                continue
            assert inverse(a, minimal) * a % minimal == 1
            own = minimal_of(a, minimal)
            assert own(a) % minimal == 0 and minimal.degree() % own.degree() == 0
            point = AlgebraicPoint(minimal, 0, (a, b))
            assert point.value(3 * x**5 * y - y**7 + 2) == (3 * a**5 * b - b**7 + 2) % minimal
            for ball, element in zip(point.balls(), (a, b), strict=True):
                root = real_roots(minimal)[0]
                exact = sum((flint.arb(c) * root**k for k, c in enumerate(element.coeffs())), flint.arb(0))
                assert ball.overlaps(exact) and float(ball.rad()) < 1e-30
            for (low, high), element in zip(point.enclosures(), (a, b), strict=True):
                assert low <= high and (low == high) == (element.degree() < 1)
                assert float(low) == pytest.approx(float(point.expression(element)), abs=1e-9)


def test_a_number_of_a_high_degree_stays_a_decimal() -> None:
    """x^25 - 2 and x^24 - 2 by Eisenstein's criterion: the last degree that is written as a root is 24."""
    for degree, exact in ((24, True), (25, False)):
        minimal = flint.fmpq_poly([-2] + [0] * (degree - 1) + [1])
        point = AlgebraicPoint(minimal, len(real_roots(minimal)) - 1, (ROOT, flint.fmpq_poly([3])))
        assert point.is_exact is exact
        value, three = point.expressions()
        assert three == 3 and value.has(sp.CRootOf) is exact and value.has(sp.Float) is not exact
        assert float(value) == pytest.approx(2 ** (1 / degree), rel=1e-14)


def test_a_root_of_a_cubic_with_three_is_the_one_it_lies_in() -> None:
    minimal = flint.fmpq_poly([1, -3, 0, 1])  # t^3 - 3 t + 1, whose roots are 2 cos(2 pi k / 9)
    found = [float(AlgebraicPoint(minimal, k, (ROOT,)).expressions()[0]) for k in range(3)]
    assert found == pytest.approx(sorted(2 * math.cos(2 * math.pi * k / 9) for k in (1, 2, 4)))
