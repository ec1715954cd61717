"""Rates that have no value anywhere are named, and refused with a sentence by `analyse`."""

from __future__ import annotations

import pytest

from odesys import System, analyse
from odesys.analysis.undefined import where_undefined
from odesys.errors import EquationError


@pytest.mark.parametrize(
    ("rate", "words"),
    [
        ("log(x - x)", "takes the logarithm of 0"),
        ("0^x", "takes the logarithm of 0"),
        ("y + 1/sin(0)", "divides by"),
        ("1/((x+1)^2 - x^2 - 2*x - 1)", "divides by"),
        ("log((x+1)^2 - x^2 - 2*x - 1)", "takes the logarithm of"),
        ("x/(sin(x)^2 + cos(x)^2 - 1)", "divides by"),
        ("1/(exp(x+1) - exp(1)*exp(x))", "divides by"),
    ],
)
def test_a_rate_without_a_value_is_refused(rate: str, words: str) -> None:
    system = System.from_strings({"y": "-y", "x": rate})
    assert f"the rate of x has no value anywhere: it {words}" in where_undefined(system)
    with pytest.raises(EquationError, match="the rate of x has no value anywhere"):
        analyse(system)


def test_a_rate_with_poles_is_left_alone() -> None:
    system = System.from_strings({"x": "1/(x - y) + log(x)", "y": "1/sin(y)"})
    assert where_undefined(system) == ""
    assert analyse(system).findings
