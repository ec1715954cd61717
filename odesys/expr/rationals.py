"""Exact coefficients and exponents: fractions whose arithmetic is quick where it is done a million times.

A `Ratio` is a `fractions.Fraction`, equal to it, hashed and printed like it. Python's own goes through checks of kinds
and two function calls for every operation, which takes longer than the operation; here whole numbers, nearly all there
are, have a short way. Whatever a Ratio meets, the result is a Ratio again, as long as it is exact.
"""

from __future__ import annotations

from fractions import Fraction
from math import gcd
from typing import Any

_new = object.__new__


class Ratio(Fraction):
    """A fraction with quick arithmetic.

    >>> Ratio(1, 3) + Fraction(1, 6), Fraction(1, 2) == Ratio(1, 2), 2 * Ratio(3, 2), Ratio(1, 4) + 0.25
    (Fraction(1, 2), True, Fraction(3, 1), 0.5)
    """

    __slots__ = ()
    _numerator: int
    _denominator: int
    numerator = Fraction._numerator  # type: ignore[attr-defined]  # the slots themselves: no function is called
    denominator = Fraction._denominator  # type: ignore[attr-defined]

    def __add__(self, other: Any) -> Any:
        if type(other) is Ratio:
            below, under = self._denominator, other._denominator
            if below == 1 == under:
                return _made(self._numerator + other._numerator, 1)
            return _reduced(self._numerator * under + other._numerator * below, below * under)
        return _kept(Fraction.__add__(self, other))

    def __radd__(self, other: Any) -> Any:
        return _kept(Fraction.__radd__(self, other))

    def __sub__(self, other: Any) -> Any:
        if type(other) is Ratio:
            below, under = self._denominator, other._denominator
            if below == 1 == under:
                return _made(self._numerator - other._numerator, 1)
            return _reduced(self._numerator * under - other._numerator * below, below * under)
        return _kept(Fraction.__sub__(self, other))

    def __rsub__(self, other: Any) -> Any:
        return _kept(Fraction.__rsub__(self, other))

    def __mul__(self, other: Any) -> Any:
        if type(other) is Ratio:
            below, under = self._denominator, other._denominator
            if below == 1 == under:
                return _made(self._numerator * other._numerator, 1)
            return _reduced(self._numerator * other._numerator, below * under)
        return _kept(Fraction.__mul__(self, other))

    def __rmul__(self, other: Any) -> Any:
        return _kept(Fraction.__rmul__(self, other))

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Ratio and other._numerator:
            above, below = self._numerator * other._denominator, self._denominator * other._numerator
            return _reduced(above, below) if below > 0 else _reduced(-above, -below)
        return _kept(Fraction.__truediv__(self, other))

    def __rtruediv__(self, other: Any) -> Any:
        return _kept(Fraction.__rtruediv__(self, other))

    def __pow__(self, exponent: Any) -> Any:
        return _kept(Fraction.__pow__(self, exponent))

    def __neg__(self) -> Ratio:
        return _made(-self._numerator, self._denominator)

    def __pos__(self) -> Ratio:
        return self

    def __abs__(self) -> Ratio:
        return self if self._numerator >= 0 else _made(-self._numerator, self._denominator)

    def __bool__(self) -> bool:
        return self._numerator != 0

    def __eq__(self, other: Any) -> bool:
        kind = type(other)
        if kind is Ratio or kind is Fraction:
            same: bool = self._numerator == other._numerator and self._denominator == other._denominator
            return same
        if kind is int:
            whole: bool = self._denominator == 1 and self._numerator == other
            return whole
        return Fraction.__eq__(self, other)

    def __hash__(self) -> int:  # type: ignore[override]  # that of Complex is None
        return hash(self._numerator) if self._denominator == 1 else Fraction.__hash__(self)

    def __lt__(self, other: Any) -> bool:
        return self._numerator < other * self._denominator if type(other) is int else Fraction.__lt__(self, other)

    def __gt__(self, other: Any) -> bool:
        return self._numerator > other * self._denominator if type(other) is int else Fraction.__gt__(self, other)

    def __le__(self, other: Any) -> bool:
        return self._numerator <= other * self._denominator if type(other) is int else Fraction.__le__(self, other)

    def __ge__(self, other: Any) -> bool:
        return self._numerator >= other * self._denominator if type(other) is int else Fraction.__ge__(self, other)

    def __str__(self) -> str:
        return f"{self._numerator}" if self._denominator == 1 else f"{self._numerator}/{self._denominator}"

    def __repr__(self) -> str:
        return f"Fraction({self._numerator}, {self._denominator})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._numerator, self._denominator)

    def __copy__(self) -> Ratio:
        return self

    def __deepcopy__(self, memo: Any) -> Ratio:
        return self


def ratio(value: Any) -> Ratio:
    """An exact number as a Ratio."""
    if type(value) is Ratio:
        return value
    if type(value) is int:
        return _made(value, 1)
    exact = value if type(value) is Fraction else Fraction(value)
    return _made(exact._numerator, exact._denominator)  # type: ignore[attr-defined]


def _made(numerator: int, denominator: int) -> Ratio:
    """From integers without common factor, the second one positive."""
    found = _new(Ratio)
    found._numerator = numerator
    found._denominator = denominator
    return found


def _reduced(numerator: int, denominator: int) -> Ratio:
    common = gcd(numerator, denominator)
    return _made(numerator, denominator) if common == 1 else _made(numerator // common, denominator // common)


def _kept(value: Any) -> Any:
    return ratio(value) if type(value) is Fraction else value
