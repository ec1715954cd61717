r"""Real points with algebraic coordinates, exactly: every coordinate is a polynomial in one real root.

.. math::  x_j = c_j(\tau), \qquad \varphi(\tau) = 0, \qquad c_j \in \mathbb{Q}[T]/(\varphi), \ \varphi \text{ prime}.

Equality with zero is decided in the field, signs by balls that are refined until they leave zero.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import flint
import sympy as sp

from ..exact.balls import Interval, ball_endpoints

FIRST_PRECISION = 128  # bits
LARGEST_DEGREE = 24  # of an algebraic number that is written as a root; above it stays an enclosure


@dataclass(frozen=True, eq=False)
class AlgebraicPoint:
    """A real point whose coordinates are polynomials in the real root number `index` of `minimal`.

    >>> two = flint.fmpq_poly([-2, 0, 1])
    >>> AlgebraicPoint(two, 0, (flint.fmpq_poly([1, 1]),)).expressions()
    (1 - sqrt(2),)
    """

    minimal: Any  # an irreducible flint.fmpq_poly
    index: int  # among its real roots, from the left
    coordinates: tuple[Any, ...]  # flint.fmpq_poly, reduced

    def ball(self, element: Any, precision: int = FIRST_PRECISION) -> Any:
        """A ball around an element of the field."""
        with flint.ctx.workprec(precision):
            return _at(element, real_roots(self.minimal, precision)[self.index])

    def balls(self, precision: int = FIRST_PRECISION) -> list[Any]:
        """Balls around the coordinates."""
        return [self.ball(c, precision) for c in self.coordinates]

    def enclosures(self) -> list[Interval]:
        """Intervals with rational ends around the coordinates; a rational coordinate is a point."""
        return [
            (_fraction(c[0]),) * 2 if c.degree() < 1 else ball_endpoints(ball)
            for c, ball in zip(self.coordinates, self.balls(), strict=True)
        ]

    def value(self, polynomial: Any) -> Any:
        """A polynomial in the coordinates (flint.fmpz_mpoly) as an element of the field."""
        return evaluate(polynomial, dict(enumerate(self.coordinates)), self.minimal)

    def sign(self, element: Any) -> int:
        """The sign of an element of the field, exactly."""
        if not element:
            return 0
        precision = FIRST_PRECISION
        while True:  # ends, for the element is not zero
            ball = self.ball(element, precision)
            if ball > 0 or ball < 0:
                return 1 if ball > 0 else -1
            precision *= 2

    def expression(self, element: Any) -> sp.Expr:
        """An element of the field as a number of SymPy: rational, with square roots, or a root of its polynomial."""
        if element.degree() < 1:
            return _rational(element[0])
        own = minimal_of(element, self.minimal)
        if own.degree() == 1:
            return _rational(-own[0] / own[1])
        if own.degree() == 2:
            c, b, a = (_rational(own[k]) for k in range(3))
            root = sp.sqrt(b**2 - 4 * a * c) / (2 * a)
            above = self.sign(element + flint.fmpq_poly([own[1] / (2 * own[2])])) > 0
            return sp.expand(-b / (2 * a) + (root if above == bool(a > 0) else -root))
        precision = FIRST_PRECISION
        while True:
            ball = self.ball(element, precision)
            near = [k for k, root in enumerate(real_roots(own, precision)) if root.overlaps(ball)]
            if len(near) == 1:
                break
            precision *= 2
        if own.degree() > LARGEST_DEGREE:
            return sp.Float(ball.mid().str(30, radius=False), 30)
        x = sp.Dummy("x")
        return sp.CRootOf(sp.Poly([_rational(c) for c in reversed(own.coeffs())], x), near[0])

    def expressions(self) -> tuple[sp.Expr, ...]:
        """The coordinates as numbers of SymPy."""
        return tuple(self.expression(c) for c in self.coordinates)

    @property
    def is_exact(self) -> bool:
        """Whether `expressions` are exact: no coordinate has too high a degree to be written down."""
        return all(c.degree() < 1 or minimal_of(c, self.minimal).degree() <= LARGEST_DEGREE for c in self.coordinates)


def rational_point(values: Sequence[Fraction]) -> AlgebraicPoint:
    """A point with rational coordinates."""
    numbers = [flint.fmpq(v.numerator, v.denominator) for v in map(Fraction, values)]
    return AlgebraicPoint(flint.fmpq_poly([0, 1]), 0, tuple(flint.fmpq_poly([v]) for v in numbers))


def evaluate(polynomial: Any, values: Mapping[int, Any], minimal: Any) -> Any:
    """A polynomial (flint.fmpz_mpoly) with variables, by their numbers, replaced by elements of the field."""
    total, powers = flint.fmpq_poly([]), dict[tuple[int, int], Any]()

    def power(j: int, n: int) -> Any:
        if (j, n) not in powers:
            powers[j, n] = values[j] if n == 1 else power(j, n // 2) * power(j, n - n // 2) % minimal
        return powers[j, n]

    for exponents, coefficient in polynomial.to_dict().items():
        term = flint.fmpq_poly([coefficient])
        for j, n in enumerate(exponents):
            if n:
                term = term * power(j, int(n)) % minimal
        total += term
    return total


def inverse(element: Any, minimal: Any) -> Any:
    """One over an element of the field."""
    common, factor, _ = element.xgcd(minimal)
    return factor * (1 / common[0]) % minimal


def minimal_of(element: Any, minimal: Any) -> Any:
    """The minimal polynomial of an element of the field."""
    n = minimal.degree()
    columns, column = [], flint.fmpq_poly([1])
    for _ in range(n):
        image = element * column % minimal
        columns.append([image[k] for k in range(n)])
        column = column * flint.fmpq_poly([0, 1]) % minimal
    matrix = flint.fmpq_mat(n, n, [columns[j][i] for i in range(n) for j in range(n)])
    (factor, _), *_ = matrix.charpoly().factor()[1]  # a power of the minimal polynomial
    return factor


@lru_cache(maxsize=256)
def _roots(coefficients: tuple[str, ...], precision: int) -> tuple[Any, ...]:
    with flint.ctx.workprec(precision):
        found: Any = flint.fmpz_poly([int(c) for c in coefficients]).complex_roots()
        return tuple(sorted((r.real for r, _ in found if r.imag == 0), key=lambda ball: _fraction(ball.mid().fmpq())))


def real_roots(polynomial: Any, precision: int = FIRST_PRECISION) -> tuple[Any, ...]:
    """Disjoint balls around the real roots of a squarefree polynomial (flint.fmpq_poly), from the left."""
    whole = polynomial.numer() if isinstance(polynomial, flint.fmpq_poly) else polynomial
    return _roots(tuple(str(c) for c in whole.coeffs()), precision)


def _at(element: Any, root: Any) -> Any:
    total = flint.arb(0)
    for c in reversed(element.coeffs()):
        total = total * root + flint.arb(c)
    return total


def _fraction(value: Any) -> Fraction:
    return Fraction(int(value.p), int(value.q))


def _rational(value: Any) -> sp.Rational:
    return sp.Rational(int(value.p), int(value.q))
