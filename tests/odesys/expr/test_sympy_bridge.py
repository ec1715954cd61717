"""To SymPy and back: the same value, and sentences for what has no counterpart."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings

from odesys import System
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.sympy_bridge import from_sympy, to_sympy
from tests.random_nodes import expressions, value

SX, SY = sp.Symbol("x", real=True), sp.Symbol("y", real=True)


@settings(deadline=None, max_examples=150)
@given(expressions())
def test_sympy_round_trip_is_the_same_value(node: graph.Node) -> None:
    back = from_sympy(to_sympy(node))
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        assert value(back, x, y) == pytest.approx(value(node, x, y), rel=1e-9, abs=1e-12)


def test_min_max_abs_sign_from_sympy() -> None:
    for expression in (sp.Max(SX, SY, 1), sp.Min(SX, SY, 0), sp.Abs(SX - SY), sp.sign(SX) * SY, sp.Heaviside(SX) * SY):
        node = from_sympy(expression)
        for x, y in ((0.5, -2.0), (-1.5, 2.5), (3.0, 0.25)):
            assert value(node, x, y) == pytest.approx(float(expression.subs({SX: x, SY: y})))


@pytest.mark.parametrize("tower", ["9^(a^9)", "a^a^a^a", "exp(9^9*log(a))"])
def test_powers_of_too_many_digits_are_refused_before_they_are_computed(tower: str) -> None:
    (node,) = System.from_strings({"x": tower}, ["a"]).nodes
    (known,) = graph.substitute([node], {graph.sym("a"): graph.num(9)})
    with pytest.raises(EquationError, match=r"9 to the power .* has more than 4000 digits"):
        to_sympy(known)


def test_unknown_functions_are_refused_with_a_sentence() -> None:
    with pytest.raises(EquationError, match="the function gamma is not known"):
        from_sympy(sp.gamma(SX))


def test_cases_from_sympy() -> None:
    cases = [
        sp.Piecewise((SX, SX > 1), (SY, SX <= -1), (3, True)),
        sp.Piecewise((SX**2, sp.And(SX >= 0, SY < 1)), (-SY, sp.Or(SX < -1, SY >= 2)), (5, True)),
        sp.Piecewise((1, sp.Not(sp.And(SX > SY, SX > 0))), (2, True), evaluate=False),
    ]
    for expression in cases:
        node = from_sympy(expression)
        for x in (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0):
            for y in (-1.5, 0.5, 1.0, 2.0):
                assert value(node, x, y) == pytest.approx(float(expression.subs({SX: x, SY: y}))), (expression, x, y)
    with pytest.raises(EquationError, match="does not say what it is elsewhere"):
        from_sympy(sp.Piecewise((SX, SX > 1)))
    with pytest.raises(EquationError, match="is not made of"):
        from_sympy(sp.Piecewise((SX, sp.Ne(SX, SY)), (SY, True)))
