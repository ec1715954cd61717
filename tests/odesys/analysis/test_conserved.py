"""Supplied quantities: conserved ones are proved, others have a point where they change."""

from __future__ import annotations

import pytest
import sympy as sp

from odesys.analysis.conserved import check_integral, lie_derivative
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.system import System

x, y, t = sp.symbols("x y t")


def test_supplied_integrals_with_angles_and_time() -> None:
    pendulum = System.from_equations({x: y, y: -sp.sin(x)})
    assert check_integral(pendulum, y**2 / 2 - sp.cos(x)).answer == "zero"
    assert check_integral(pendulum, y**2 / 2 + sp.cos(x)).answer == "nonzero"
    growth = System.from_equations({x: x})
    assert check_integral(growth, x * sp.exp(-t)).answer == "zero"
    assert check_integral(growth, x * sp.exp(t)).answer == "nonzero"


def test_a_quantity_that_jumps_is_not_conserved() -> None:
    assert check_integral(System.from_equations({x: 1}), sp.sign(x)).answer == "nonzero"
    assert check_integral(System.from_equations({x: x}), sp.sign(x)).answer == "zero"  # it never crosses
    bouncing = System.from_equations({x: y, y: -sp.sign(x)})
    assert check_integral(bouncing, y**2 / 2 + sp.Abs(x)).answer == "zero"  # a kink, no jump
    assert check_integral(bouncing, y**2 / 2 + sp.Abs(x) + sp.sign(x)).answer == "nonzero"
    assert check_integral(bouncing, y**2 / 2 + sp.Abs(x) + sp.sign(x**2 + y**2 - 1)).answer == "undecided"


def test_the_change_of_a_quantity() -> None:
    turn = System.from_equations({x: y, y: -x})
    assert lie_derivative(turn, x) is graph.as_node(y) and lie_derivative(turn, x**2 + y**2) is graph.ZERO
    with pytest.raises(EquationError, match="neither a state nor a parameter"):
        lie_derivative(turn, sp.Symbol("u"))


def test_a_quantity_may_be_text() -> None:
    turn = System.from_strings({"x": "y", "y": "-x"})
    assert check_integral(turn, "x^2 + y^2").answer == "zero" and check_integral(turn, "x").answer == "nonzero"
    assert check_integral(System.from_strings({"x": "1"}), "sign(x)").answer == "nonzero"
