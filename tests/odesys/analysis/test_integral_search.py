"""The search behind first integrals: nothing is lost to large numbers, and copies are told from new ones."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from odesys.analysis.conserved import check_integral
from odesys.analysis.integral_search import FirstIntegral, Search, _products, _Span, _sparse, monomials
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.sympy_bridge import to_sympy
from odesys.expr.system import System
from tests.found_integrals import only, same_up_to_factor

x, y = sp.symbols("x y")


@pytest.mark.parametrize("coefficient", [123456789012, 10**40 + 7, sp.Rational(987654321987, 123456789011)])
def test_large_coefficients_are_not_lost(coefficient: Any) -> None:
    duffing = System.from_equations({x: y, y: coefficient * x - x**3})
    assert same_up_to_factor(only(duffing, 4), 2 * y**2 - 2 * coefficient * x**2 + x**4)
    assert only(System.from_equations({x: 10**10 * y, y: -y})) is graph.as_node(x + 10**10 * y)


def test_constants_between_quotients_are_no_reason_to_search_on() -> None:
    """1/(k + x) and x/(k + x) have a constant combination with k in it, which is no conserved quantity."""
    prey = System.from_strings({"x": "x*(1 - x) - a*x*y/(x + m)", "y": "s*y*(1 - y/x)"})
    nothing = prey.first_integrals(degree=3)
    assert len(nothing) == 0 and nothing.complete
    enzyme = System.from_strings({"x": "-a*x/(k + x)", "y": "b*x/(k + x)"})
    found = enzyme.first_integrals(degree=2)
    assert found.complete and any(check_integral(enzyme, i.node).answer == "zero" for i in found)
    assert next(str(to_sympy(i.node)) for i in found) == "a*y + b*x"
    pendulum = System.from_strings({"x": "y", "y": "-g*sin(x)"}).first_integrals()
    assert len(pendulum) == 1 and pendulum.complete


def test_monomials_come_with_the_highest_degree_first() -> None:
    assert monomials(range(2), 2) == [(0, 0), (0, 1), (1, 1), (0,), (1,)]


def test_a_function_of_another_integral_is_a_copy() -> None:
    turn = System.from_equations({x: y, y: -x})
    energy = graph.as_node(x**2 + y**2)
    pair = [FirstIntegral("a", energy, ""), FirstIntegral("b", graph.call("log", energy), "")]
    kept, independent = Search(turn, [sym("x"), sym("y")], 0).without_copies(pair)
    assert [i.node for i in kept] == [energy] and independent == 1


def test_all_of_laplaces_vector_with_the_mass_as_a_parameter() -> None:
    """Its components depend on one another and on the energy, but none is a polynomial in the others."""
    r = "(x**2 + y**2)**(3/2)"
    kepler = System.from_strings({"x": "u", "y": "v", "u": f"-m*x/{r}", "v": f"-m*y/{r}"})
    found = kepler.first_integrals(degree=3)
    assert len(found) == 4 and found.independent == 3 and found.complete
    for text in ("v*(x*v - y*u) - m*x/sqrt(x**2 + y**2)", "u*(x*v - y*u) + m*y/sqrt(x**2 + y**2)"):
        assert any(same_up_to_factor(i.node, sp.sympify(text)) for i in found), text


def test_roots_of_numbers_hide_no_integral() -> None:
    """Modulo one prime of two there is no root of a number; with five of them all primes that were tried had none."""
    speed = "(sqrt(2) + sqrt(3) + sqrt(5) + sqrt(7) + sqrt(11))"
    system = System.from_strings({"x": f"{speed}*y", "y": f"-{speed}*x"})
    assert same_up_to_factor(only(system), x**2 + y**2)


def test_roots_of_parameters_hide_no_integral() -> None:
    assert same_up_to_factor(only(System.from_strings({"x": "sqrt(k)", "y": "sqrt(k)"}), 1), x - y)


def test_an_integral_is_written_with_few_terms() -> None:
    """A rotation about (1, 1, 2): the squares have three terms, their remainder after (x + y + 2 z)^2 has four."""
    linear, squares = System.from_strings("x' = 2*y - z; y' = z - 2*x; z' = x - y").first_integrals(degree=2)
    assert [str(to_sympy(i.node)) for i in (linear, squares)] == ["x + y + 2*z", "x**2 + y**2 + z**2"]


def test_where_no_prime_has_a_point_what_was_found_is_given_as_not_all(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System.from_strings({"x": "k*y", "y": "-x"})
    with_points = system.first_integrals(degree=2)
    assert len(with_points) == 1 and with_points.complete
    monkeypatch.setattr(Search, "_has_points", lambda *_: False)
    without = system.first_integrals(degree=2)
    assert not without.complete and len(without) <= 1


def test_products_of_known_polynomials_have_the_degree_and_are_not_of_parameters_alone() -> None:
    """Over x, y = 0, 1 and a parameter 2: of the parameter, of x + y and of x y."""
    one = Fraction(1)
    known = [{(2,): one}, {(0,): one, (1,): one}, {(0, 1): one}]
    assert list(_products(known, 2, 1)) == [
        {(0, 2): one, (1, 2): one},
        {(0, 0): one, (0, 1): 2 * one, (1, 1): one},
    ]
    cubes = list(_products(known, 3, 1))
    assert {(0, 1, 2): one} in cubes and {(0, 0, 1): one, (0, 1, 1): one} in cubes and len(cubes) == 5
    assert {(2, 2, 2): one} not in cubes and {(2, 2): one} in list(_products(known, 2, 0))


def test_a_span_reduces_what_lies_in_it_to_nothing() -> None:
    columns = [(0, 0), (0, 1), (1, 1), (0,), (1,)]
    span = _Span(columns)
    rows = [{(0, 0): Fraction(2), (0,): Fraction(1)}, {(0, 1): Fraction(1), (0,): Fraction(-3)}, {(0,): Fraction(1)}]
    for row in rows:
        assert span.reduce(row)
        span.insert(row)
    mixed = {(0, 0): Fraction(3), (0, 1): Fraction(5), (0,): Fraction(7)}
    assert span.reduce(mixed) == {} and span.reduce({}) == {}
    assert span.reduce({**mixed, (1,): Fraction(2)}) == {(1,): Fraction(2)}
    before = len(span._rows)
    span.insert(mixed)
    assert len(span._rows) == before == 3


def test_multiples_of_products_are_taken_off_while_that_makes_it_shorter() -> None:
    square = {(0, 0): Fraction(1), (0, 1): Fraction(2), (1, 1): Fraction(1)}
    long = {(0, 0): Fraction(3), (0, 1): Fraction(6), (1, 1): Fraction(4)}
    assert _sparse(long, [square]) == {(1, 1): Fraction(1)}
    assert _sparse({(0, 0): Fraction(1)}, [square]) == {(0, 0): Fraction(1)} and _sparse({}, [square]) == {}
