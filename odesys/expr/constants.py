"""Exact numbers within limits: what is read, raised to a power or made a float is refused where it can not be."""

from __future__ import annotations

from fractions import Fraction

from ..errors import EquationError

MOST_DIGITS = 4000  # of a number that is written out
MOST_EXPONENT = 4000  # of ten in a decimal
MOST_BITS = 13288  # of an exact power, as many digits


def read_number(text: str) -> Fraction:
    """The number that a text such as ``3``, ``8/3``, ``0.5`` or ``1e-3`` prints, exactly.

    >>> read_number("1e-3")
    Fraction(1, 1000)
    >>> read_number("1e999999999")
    Traceback (most recent call last):
        ...
    odesys.errors.EquationError: 1e999999999 has 999999999 digits, and a number may have at most 4000
    """
    tail = text.lower().partition("e")[2].strip().lstrip("+-").replace("_", "").lstrip("0")
    if tail.isdecimal() and (len(tail) > 9 or int(tail) > MOST_EXPONENT):
        raise EquationError(f"{shown(text)} has {shown(tail)} digits, and a number may have at most {MOST_DIGITS}")
    if len(text) > MOST_DIGITS:
        raise EquationError(f"{shown(text)} has {len(text)} digits, and a number may have at most {MOST_DIGITS}")
    return Fraction(text)


def whole_power(value: Fraction | float, exponent: int) -> Fraction | float:
    """A number to a whole power; an exact one stays exact, so one of too many digits is refused.

    >>> whole_power(Fraction(2, 3), -2)
    Fraction(9, 4)
    """
    if isinstance(value, Fraction):
        refuse_long_power(value, exponent)
    try:
        return value**exponent
    except OverflowError:
        raise EquationError(f"{value} to the power {exponent} is beyond floating-point numbers") from None


def refuse_long_power(value: Fraction, exponent: int | Fraction) -> None:
    """An error for a power that would have too many digits, before it is computed."""
    bits = max(abs(value.numerator) - 1, value.denominator - 1).bit_length() * max(exponent, -exponent)
    if bits > MOST_BITS:
        raise EquationError(
            f"{shown(str(value))} to the power {shown(str(exponent))} has more than {MOST_DIGITS} digits as an "
            f"exact number; write it with exp and log"
        )


def to_float(value: Fraction | float | int) -> float:
    """The nearest float; a number beyond all floats is refused.

    >>> to_float(Fraction(1, 4))
    0.25
    """
    try:
        return float(value)
    except OverflowError:
        raise EquationError(
            f"the constant {shown(str(value))} is beyond floating-point numbers, which end at 1.8e308; change the units"
        ) from None


def shown(text: str, most: int = 40) -> str:
    """A text that may be very long, by its ends.

    >>> shown("1" * 100)
    '11111111111111111111...1111111111'
    """
    return text if len(text) <= most else f"{text[: most // 2]}...{text[-(most // 4) :]}"
