"""Minima over boxes: certified, narrow, and rational numbers below them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys.certify.box_search import Objective, minimise, rational_below
from odesys.expr import graph
from tests.known_systems import X, Y


@pytest.mark.parametrize(
    "expression",
    [
        (X - sp.Rational(1, 3)) ** 2 + sp.cos(3 * Y) / 2,
        sp.exp(X * Y) - X - Y,
        sp.sin(4 * X) * sp.cos(3 * Y) + X**3,
        sp.Heaviside(X - Y) * (1 - X) - Y / 3,
        sp.sqrt(X**2 + Y**2 + sp.Rational(1, 10)),
    ],
)
def test_minima_are_certified_and_narrow(expression: sp.Expr) -> None:
    objective = Objective(graph.as_node(expression), dict.fromkeys(("x", "y"), (Fraction(-1), Fraction(1))))
    found = minimise([objective], None, Fraction(1, 100), 4000)
    grid = np.linspace(-1, 1, 401)
    xs, ys = np.meshgrid(grid, grid)
    values = sp.lambdify((X, Y), expression, [{"Heaviside": lambda z, _=0: 1.0 * (z > 0)}, "numpy"])(xs, ys)
    assert found.low is not None and float(found.low) <= values.min() + 1e-12
    assert float(found.low) >= values.min() - 0.03 * max(1.0, abs(values.min()))


def test_rational_below_is_below_and_short() -> None:
    for value in (sp.sqrt(2), -sp.pi, sp.Rational(10**20 + 1, 3 * 10**20), sp.exp(-40)):
        short = rational_below(value)
        assert sp.Rational(short) <= value and short.denominator < 10**40
        assert float(short) == pytest.approx(float(value), rel=1e-10)
    assert rational_below(Fraction(3, 7)) == Fraction(3, 7)
