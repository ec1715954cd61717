"""Sizes of units."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp
import sympy.physics.units as su
from sympy.physics.units import convert_to
from sympy.physics.units.prefixes import PREFIXES as SYMPY_PREFIXES

from odesys.errors import EquationError
from odesys.reading import units
from odesys.reading.mathml import parse_xml
from odesys.reading.units import DERIVED, PREFIXES, Units

TEXT = """<model>
<units name="mV"><unit units="volt" prefix="milli"/></units>
<units name="volt_thousandth"><unit units="volt" multiplier="0.001"/></units>
<units name="mM"><unit units="mole" prefix="milli"/><unit units="litre" exponent="-1"/></units>
<units name="mole_per_m3"><unit units="mole"/><unit units="metre" exponent="-3"/></units>
<units name="beat" base_units="yes"/>
<units name="warm"><unit units="kelvin" offset="273.15"/></units>
</model>"""


def test_equal_sizes_under_two_names() -> None:
    known = Units(parse_xml(TEXT))
    assert known.size("", "mV") == known.size("", "volt_thousandth") != known.size("", "volt")
    assert known.size("", "mM") == known.size("", "mole_per_m3")
    assert known.size("", "beat") == (1, (("beat", Fraction(1)),))


def test_what_is_not_known_is_named() -> None:
    known = Units(parse_xml(TEXT))
    with pytest.raises(EquationError, match="furlong is neither"):
        known.size("", "furlong")
    with pytest.raises(EquationError, match="offset"):
        known.size("", "warm")


def test_the_units_of_the_standard_are_those_of_sympy() -> None:
    base = [su.ampere, su.candela, su.kelvin, su.kilogram, su.meter, su.mole, su.second]
    ours = {"meter": "metre"}
    known = Units(parse_xml("<model/>"))
    for name in DERIVED:
        told = {"litre": "liter", "lumen": "candela", "sievert": "gray"}.get(name, name)  # a name that SymPy has
        powers = {} if told in ("dimensionless", "radian", "steradian") else None
        factor = sp.Integer(1)
        if powers is None:
            factor, rest = convert_to(getattr(su, told), base).as_coeff_Mul()
            powers = {ours.get(str(b), str(b)): Fraction(int(e)) for b, e in rest.as_powers_dict().items() if e}
        assert known.size("", name) == (Fraction(str(factor)), tuple(sorted(powers.items()))), name


def test_the_prefixes_are_those_of_sympy() -> None:
    known = {prefix.name.name: prefix.scale_factor for prefix in SYMPY_PREFIXES.values()}
    for name in PREFIXES:
        text = f'<model><units name="u"><unit units="second" prefix="{name}"/></units></model>'
        told = known[{"deka": "deca"}.get(name, name)]
        assert Units(parse_xml(text)).size("", "u") == (Fraction(str(told)), (("second", Fraction(1)),)), name


@pytest.mark.parametrize(
    ("part", "said"),
    [
        ('prefix="1000000000"', "more than 4000 digits"),
        ('prefix="9e9"', "more than 4000 digits"),
        ('prefix="1e9999999999"', "digits"),
        ('prefix="tiny"', "'tiny', which is not a number"),
        ('prefix="1/2"', "not a whole number"),
        ('prefix="3" exponent="1000000000"', "more than 4000 digits"),
        ('exponent="two"', "'two', which is not a number"),
        ('multiplier="1e999999999"', "999999999 digits"),
        ('multiplier="1/0"', "'1/0', which is not a number"),
        ('offset="nan"', "'nan', which is not a number"),
    ],
)
def test_numbers_that_can_not_be_are_refused(part: str, said: str) -> None:
    text = f'<model><units name="u"><unit units="second" {part}/></units></model>'
    with pytest.raises(EquationError, match=said):
        Units(parse_xml(text)).size("", "u")


def test_units_of_a_component_go_before_those_of_the_model_and_may_be_made_of_others() -> None:
    text = """<model><units name="u"><unit units="second" multiplier="2"/></units>
    <units name="second"><unit units="second" multiplier="60"/></units>
    <component name="c"><units name="u"><unit units="metre" prefix="kilo" exponent="2"/></units>
    <units name="v"><unit units="u" exponent="-1"/><unit units="own" exponent="3"/></units>
    <units name="own"><unit units="gram"/></units></component>
    <units name="root"><unit units="metre" exponent="0.5"/></units>
    <units name="none"><unit units="metre"/><unit units="metre" exponent="-1"/></units>
    <units name="bad"><unit units="gram" exponent="0.5"/></units></model>"""
    known = Units(parse_xml(text))
    assert known.size("", "u") == (120, (("second", Fraction(1)),))
    assert known.size("c", "u") == (10**6, (("metre", Fraction(2)),))
    assert known.size("c", "v") == (Fraction(1, 10**15), (("kilogram", Fraction(3)), ("metre", Fraction(-2))))
    assert known.size("d", "u") == known.size("", "u") and known.size("", "second")[0] == 60
    assert known.size("", "root") == (1, (("metre", Fraction(1, 2)),)) and known.size("", "none") == (1, ())
    with pytest.raises(EquationError, match="bad is a root of a unit with a factor"):
        known.size("", "bad")


def test_units_that_double_at_each_step_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each asks twice for the one before: 63 steps from u5 to u0, and 32 from there to the metre."""
    steps = "".join(
        f'<units name="u{k}"><unit units="u{k - 1}"/><unit units="u{k - 1}"/></units>' for k in range(1, 60)
    )
    root = parse_xml(f'<model><units name="u0"><unit units="metre"/></units>{steps}</model>')
    monkeypatch.setattr(units, "MOST_STEPS", 63 + 32)
    assert Units(root).size("", "u5") == (1, (("metre", Fraction(32)),))
    monkeypatch.setattr(units, "MOST_STEPS", 63 + 31)
    with pytest.raises(EquationError, match="the units of this file are made of each other in more than 94 steps"):
        Units(root).size("", "u5")
    monkeypatch.setattr(units, "MOST_STEPS", 2000)
    with pytest.raises(EquationError, match="in more than 2,000 steps"):
        Units(root).size("", "u59")
