"""Expressions as quotients of polynomials."""

from __future__ import annotations

import sympy as sp

from odesys.analysis.polynomial_form import (
    as_expression,
    decimals,
    factored,
    is_rational,
    polynomial_context,
    quotients,
)
from odesys.expr import graph
from odesys.expr.graph import sym


def test_quotients_are_in_lowest_terms_and_remember_divisors() -> None:
    x, y = sym("x"), sym("y")
    found = quotients([(x**2 - y**2) / (x - y), 1 / (1 + 1 / x)], polynomial_context(["x", "y"]))
    assert found is not None
    (pairs, divisors), symbols = found, dict(zip("xy", sp.symbols("x y"), strict=True))
    assert [[str(as_expression(p, symbols)) for p in pair] for pair in pairs] == [["x + y", "1"], ["x", "x + 1"]]
    assert {str(d) for d in divisors} == {"x - y", "x", "x + 1"}


def test_what_is_rational() -> None:
    x = sym("x")
    assert is_rational([x / (1 + x)])
    assert not any(is_rational([node]) for node in (graph.sqrt(x), graph.exp(x), 0.5 * x))


def test_floats_become_the_decimals_they_print_as() -> None:
    x = sym("x")
    assert decimals([0.1 * x + 0.2, graph.exp(0.3 * x)]) == [x / 10 + graph.num(1) / 5, graph.exp(3 * x / 10)]


def test_factors_with_leading_coefficients_of_any_length() -> None:
    x, y = polynomial_context(["x", "y"]).gens()
    parts = [10**40 * x + 1, x + y, 3 * 10**25 * x + y + 7]
    found = factored(parts[0] * parts[1] ** 2 * parts[2])
    assert {str(f): n for f, n in found} == {str(parts[0]): 1, str(parts[1]): 2, str(parts[2]): 1}


def test_powers_that_are_too_large_are_not_multiplied_out() -> None:
    x, y = sym("x"), sym("y")
    context = polynomial_context(["x", "y"])
    assert quotients([(x + y + 1) ** 30 / (x - y) ** 2], context) is not None
    for node in ((x + y + 1) ** 3000, (x + 1) ** 100_000, 1 / (x + 1) ** 100_000, x**1_000_000_000):
        assert quotients([node], context) is None
