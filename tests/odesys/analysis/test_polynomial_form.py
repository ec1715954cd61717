"""Expressions as quotients of polynomials."""

from __future__ import annotations

import random
from fractions import Fraction

import sympy as sp

from odesys.analysis.polynomial_form import (
    HIGHEST,
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


def test_random_quotients_have_the_value_of_their_expression() -> None:
    """Denominators share factors, so that sums have a common one; divisors vanish where something is divided by 0."""
    rng, names = random.Random(4), ["x", "y"]
    x, y = map(sym, names)
    factors = [x, y, x + 1, x - 2 * y, 3 * x + y / 2, x * y - 1]
    for _ in range(60):
        node = graph.ZERO
        for _ in range(rng.randint(2, 4)):
            term = graph.num(Fraction(rng.randint(-4, 4), rng.randint(1, 3)))
            for factor in rng.sample(factors, 3):
                term = term * factor ** rng.randint(-2, 2)
            node = node + term
        found = quotients([node, 1 / (1 + node**2)], polynomial_context(names))
        assert found is not None
        values = {"x": Fraction(rng.randint(5, 40), 7), "y": Fraction(rng.randint(5, 40), 11)}
        place = tuple(values.values())
        wanted = graph.evaluate([node, 1 / (1 + node**2)], values, {}, Fraction)
        for (top, bottom), value in zip(found[0], wanted, strict=True):
            above, below = (
                sum(int(c) * place[0] ** int(i) * place[1] ** int(j) for (i, j), c in part.to_dict().items())
                for part in (top, bottom)
            )
            assert above / below == value
            assert top.is_zero() or (bottom.leading_coefficient() > 0 and top.gcd(bottom) == 1)


def test_a_polynomial_that_is_divided_by_zero_has_no_quotient() -> None:
    x = sym("x")
    assert quotients([1 / (x * (x + 1) - x**2 - x)], polynomial_context(["x"])) is None


def test_what_is_not_too_large_is_multiplied_out() -> None:
    x, y = sym("x"), sym("y")
    context = polynomial_context(["x", "y"])
    for node in (x + y, x):
        assert quotients([node**HIGHEST], context) is not None and quotients([node ** (HIGHEST + 1)], context) is None
    assert quotients([(x + y + 1) ** 80], context) is not None
    assert quotients([(x + y + 1) ** 100], context) is None  # 5151 terms
