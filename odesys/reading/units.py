"""Sizes of units in a CellML file: each is a power of ten, or another factor, of base units."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

from ..errors import EquationError
from ..expr.constants import read_number, shown, whole_power
from .mathml import Element, tag

Size = tuple[Fraction, tuple[tuple[str, Fraction], ...]]  # factor, and base units with their exponents
PREFIXES = {
    "yotta": 24, "zetta": 21, "exa": 18, "peta": 15, "tera": 12, "giga": 9, "mega": 6, "kilo": 3, "hecto": 2, "deca": 1,
    "deka": 1, "deci": -1, "centi": -2, "milli": -3, "micro": -6, "nano": -9, "pico": -12, "femto": -15, "atto": -18,
    "zepto": -21, "yocto": -24,
}  # fmt: skip
BASE = ("ampere", "candela", "kelvin", "kilogram", "metre", "mole", "second")
#: power of ten of other units of the standard, with exponents of base units
DERIVED: dict[str, tuple[int, dict[str, int]]] = {
    "dimensionless": (0, {}), "radian": (0, {}), "steradian": (0, {}), "gram": (-3, {"kilogram": 1}),
    "litre": (-3, {"metre": 3}), "liter": (-3, {"metre": 3}), "meter": (0, {"metre": 1}), "hertz": (0, {"second": -1}),
    "becquerel": (0, {"second": -1}), "newton": (0, {"kilogram": 1, "metre": 1, "second": -2}),
    "joule": (0, {"kilogram": 1, "metre": 2, "second": -2}), "watt": (0, {"kilogram": 1, "metre": 2, "second": -3}),
    "pascal": (0, {"kilogram": 1, "metre": -1, "second": -2}), "coulomb": (0, {"ampere": 1, "second": 1}),
    "volt": (0, {"kilogram": 1, "metre": 2, "second": -3, "ampere": -1}),
    "ohm": (0, {"kilogram": 1, "metre": 2, "second": -3, "ampere": -2}),
    "siemens": (0, {"kilogram": -1, "metre": -2, "second": 3, "ampere": 2}),
    "farad": (0, {"kilogram": -1, "metre": -2, "second": 4, "ampere": 2}),
    "weber": (0, {"kilogram": 1, "metre": 2, "second": -2, "ampere": -1}),
    "tesla": (0, {"kilogram": 1, "second": -2, "ampere": -1}),
    "henry": (0, {"kilogram": 1, "metre": 2, "second": -2, "ampere": -2}),
    "katal": (0, {"mole": 1, "second": -1}), "lumen": (0, {"candela": 1}),
    "lux": (0, {"candela": 1, "metre": -2}), "gray": (0, {"metre": 2, "second": -2}),
    "sievert": (0, {"metre": 2, "second": -2}),
}  # fmt: skip
NUMBERS = {"offset": "0", "exponent": "1", "multiplier": "1"}  # attributes of a part of a unit, and what they are else


def _number(unit: Element, attribute: str, otherwise: str) -> Fraction:
    text = unit.get(attribute, otherwise)
    try:
        return read_number(text)
    except (ValueError, ZeroDivisionError):
        raise EquationError(f"the {attribute} of a unit is {shown(repr(text))}, which is not a number") from None


def _whole(unit: Element, attribute: str, otherwise: str) -> int:
    number = _number(unit, attribute, otherwise)
    if number.denominator != 1:
        raise EquationError(f"the {attribute} of a unit is {shown(str(number))}, which is not a whole number")
    return int(number)


MOST_STEPS = 10**5  # from a unit to those it is made of, in one file


class Units:
    """The units of a file: those of the model, and those of its components."""

    def __init__(self, root: Element) -> None:
        self.tables: dict[str, dict[str, Element]] = {"": self._own(root)}
        self.tables |= {c.get("name", ""): self._own(c) for c in root if tag(c) == "component"}
        self.steps = 0

    def _own(self, element: Element) -> dict[str, Element]:
        return {child.get("name", ""): child for child in element if tag(child) == "units"}

    def size(self, component: str, name: str, seen: tuple[str, ...] = ()) -> Size:
        """Factor and base units of a name, as a component knows it."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise EquationError(f"the units of this file are made of each other in more than {MOST_STEPS:,} steps")
        element = self.tables.get(component, {}).get(name)
        if element is None:
            element = self.tables[""].get(name)
        if element is None or name in seen:
            return self._standard(name)
        if element.get("base_units") == "yes" or not len(element):
            return Fraction(1), ((name, Fraction(1)),)
        factor, powers = Fraction(1), Counter[str]()
        for unit in element:
            offset, exponent, multiplier = (_number(unit, *each) for each in NUMBERS.items())
            if offset:
                raise EquationError(f"the unit {name} has an offset, which is not read")
            prefix = unit.get("prefix", "0")
            ten = PREFIXES[prefix] if prefix in PREFIXES else _whole(unit, "prefix", "0")
            inner, dims = self.size(component, unit.get("units", ""), (*seen, name))
            inner *= Fraction(whole_power(Fraction(10), ten))
            if exponent.denominator != 1:
                if inner != 1:
                    raise EquationError(f"the unit {name} is a root of a unit with a factor, which is not read")
            else:
                factor *= Fraction(whole_power(inner, exponent.numerator))
            factor *= multiplier
            for base, power in dims:
                powers[base] += power * exponent  # type: ignore[assignment]
        return factor, tuple(sorted((base, Fraction(p)) for base, p in powers.items() if p))

    def _standard(self, name: str) -> Size:
        if name in BASE:
            return Fraction(1), ((name, Fraction(1)),)
        if name in DERIVED:
            ten, dims = DERIVED[name]
            return Fraction(10) ** ten, tuple(sorted((base, Fraction(p)) for base, p in dims.items()))
        raise EquationError(f"the unit {name} is neither defined nor one of the standard ones")
