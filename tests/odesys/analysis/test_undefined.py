"""Rates without a value anywhere are named, and refused with a sentence by `analyse`; points without one are seen."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from odesys import System, analyse
from odesys.analysis.undefined import value_at, where_undefined
from odesys.errors import EquationError
from odesys.expr import graph


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


NO_VALUES = [  # at x = 0, y = 1
    ("x*log(y - 3)", "outside"),
    ("x*log(y - 1)", "edge"),
    ("x*log(y + 1)", "value"),
    ("x*sqrt(y - 2)", "outside"),
    ("x*sqrt(y - 1)", "value"),
    ("x/sqrt(y - 1)", "edge"),
    ("x*asin(y + 1)", "outside"),
    ("x*acos(-y - 1)", "outside"),
    ("x*asin(y)", "value"),
    ("x*acosh(y)", "value"),
    ("x*acosh(y - 1)", "outside"),
    ("x*atanh(y)", "edge"),
    ("x*atanh(2*y)", "outside"),
    ("x/(cosh(y - 1) - 1)", "edge"),
    ("x/(sigmoid(y - 1) - 1/2)", "edge"),
    ("x/(sigmoid(y) - 1/2)", "value"),
    ("x*tan(pi*y/2)", "edge"),
    ("x*log(log(y - 3))", "outside"),
    ("x^3", "value"),
]


@pytest.mark.parametrize(("rate", "answer"), NO_VALUES)
def test_whether_an_equation_has_a_value_at_a_point(rate: str, answer: str) -> None:
    nodes = System.from_strings({"x": rate, "y": "1"}).nodes
    point = {"x": (Fraction(0), Fraction(0)), "y": (Fraction(1), Fraction(1))}
    assert value_at(nodes, point, {"x": 0, "y": 1}) == answer
    wide = {name: (low - Fraction(1, 10**30), high + Fraction(1, 10**30)) for name, (low, high) in point.items()}
    assert value_at(nodes, wide, {"x": 0, "y": 1}) == answer
    assert value_at(nodes, wide) in ("open", answer) and (value_at(nodes, wide) == answer or answer != "outside")


def test_a_sign_that_is_not_known_leaves_it_open() -> None:
    nodes = System.from_strings({"x": "x/(sin(y) - z)", "y": "1", "z": "1"}).nodes
    zero = (Fraction(-1, 10**40), Fraction(1, 10**40))
    free = {"x": sp.Integer(0), "y": sp.Symbol("a"), "z": sp.Integer(0)}
    assert value_at(nodes, dict.fromkeys("xyz", zero), free) == "open"


def test_other_rates_may_be_asked() -> None:
    system = System.from_strings({"x": "log(a*x)"})
    nodes = graph.substitute(list(system.nodes), {graph.sym("a"): graph.ZERO})
    assert where_undefined(system) == "" and "takes the logarithm of 0" in where_undefined(system, nodes)
