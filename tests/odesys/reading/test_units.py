"""Sizes of units."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys.errors import EquationError
from odesys.reading.mathml import parse_xml
from odesys.reading.units import Units

TEXT = """<model>
<units name="mV"><unit units="volt" prefix="milli"/></units>
<units name="volt_thousandth"><unit units="volt" multiplier="0.001"/></units>
<units name="mM"><unit units="mole" prefix="milli"/><unit units="litre" exponent="-1"/></units>
<units name="mole_per_m3"><unit units="mole"/><unit units="metre" exponent="-3"/></units>
<units name="beat" base_units="yes"/>
<units name="warm"><unit units="kelvin" offset="273.15"/></units>
</model>"""


def test_equal_sizes_under_two_names() -> None:
    units = Units(parse_xml(TEXT))
    assert units.size("", "mV") == units.size("", "volt_thousandth") != units.size("", "volt")
    assert units.size("", "mM") == units.size("", "mole_per_m3")
    assert units.size("", "beat") == (1, (("beat", Fraction(1)),))


def test_what_is_not_known_is_named() -> None:
    units = Units(parse_xml(TEXT))
    with pytest.raises(EquationError, match="furlong is neither"):
        units.size("", "furlong")
    with pytest.raises(EquationError, match="offset"):
        units.size("", "warm")
