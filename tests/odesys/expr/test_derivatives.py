"""Equations of SymPy with derivatives anywhere: solved for them, or refused with what to do."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys.errors import EquationError
from odesys.expr.derivatives import equation_table

t = sp.Symbol("t")
x, y = (sp.Function(name)(t) for name in "xy")
dx, dy = x.diff(t), y.diff(t)


def test_plain_equations_are_taken_as_they_are() -> None:
    assert equation_table([sp.Eq(dx, y), sp.Eq(-x, dy)]) == {"x": y, "y": -x}
    assert equation_table({"a": 1, sp.Symbol("b"): 2}) == {"a": 1, "b": 2}


def test_derivatives_on_the_right_are_solved_for() -> None:
    k = sp.Symbol("k")
    equations = [sp.Eq(dx, k * dy + y), sp.Eq(dy, -x - dx)]
    system = System.from_equations(equations, parameters=["k"])
    # by hand: x' (1 + k) = y - k x
    a, b, c = sp.symbols("x y k", real=True)
    assert sp.cancel(system.rhs[0] - (b - c * a) / (1 + c)) == 0
    assert sp.cancel(system.rhs[1] + (a + b) / (1 + c)) == 0
    assert equation_table({x: y, y: dx + 1}) == {"x": y, "y": y + 1}
    assert equation_table([sp.Eq(dx + dy, x), sp.Eq(dx - dy, y)]) == {"x": x / 2 + y / 2, "y": x / 2 - y / 2}


@pytest.mark.parametrize(
    ("equations", "says"),
    [
        ([sp.Eq(dx, dy**2), sp.Eq(dy, x)], "do not stand linearly"),
        ([sp.Eq(dx, dy + 1), sp.Eq(dy, dx - 1)], "determinant zero"),
        ([sp.Eq(dx, dy + 1)], "1 equations do not determine the 2 derivatives"),
        ([sp.Eq(dx, y.diff(t, 2)), sp.Eq(dy, x)], "order 2"),
        ([sp.Eq(x.diff(t, 2), x)], "order 2"),
        ([sp.Eq(dx, 1), sp.Eq(dx, 2)], "two equations"),
        (["x"], "no equation"),
        ([SimpleNamespace(lhs=dx)], "no equation"),
        ([SimpleNamespace(rhs=dx)], "no equation"),
        ({x.diff(t, 2): y}, "order 2"),
        ([sp.Eq(dx, 1), sp.Eq(dx + dy, 2), sp.Eq(dy, 1)], "3 equations do not determine the 2 derivatives x', y'"),
    ],
)
def test_what_can_not_be_solved_is_refused(equations: Any, says: str) -> None:
    with pytest.raises(EquationError, match=says):
        equation_table(equations)
