"""Exact signs and names of algebraic numbers."""

from __future__ import annotations

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
