"""Leading orders: rational functions against SymPy, functions of decaying arguments, and what is refused."""

from __future__ import annotations

import pytest
import sympy as sp

from derivations.two_mixture import dynamics
from odesys.errors import EquationError
from odesys.exact.asymptotics import leading_orders, limits_at_infinity
from odesys.expr import graph
from odesys.expr.graph import ONE, ZERO, num, sym
from odesys.expr.sympy_bridge import from_sympy, to_sympy

K, X = sym("K"), sym("x")


@pytest.mark.parametrize("text", ["(K-2)*x/(3*K)", "1/(K-1)", "(2*K**2 + x*K)/(K*(K-1)) + x", "x/K + x**2/(K-5)"])
def test_limits_are_those_of_sympy(text: str) -> None:
    expression = sp.sympify(text, locals={"x": sp.Symbol("x", real=True), "K": sp.Symbol("K", real=True)})
    (found,) = limits_at_infinity([from_sympy(expression)], "K")
    assert sp.simplify(to_sympy(found) - sp.limit(expression, sp.Symbol("K", real=True), sp.oo)) == 0


def test_functions_of_what_decays() -> None:
    assert limits_at_infinity(
        [graph.exp(X / K), graph.step(X + 1 / K), graph.call("sigmoid", X * (K - 1) / K)], "K"
    ) == [
        ONE,
        graph.step(X),
        graph.call("sigmoid", X),
    ]
    assert leading_orders([K**2 * X / (K - 1)], "K") == [(1, X)]
    assert limits_at_infinity([ZERO, num(3)], "K") == [ZERO, num(3)]


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        (K * X, "grows like K"),
        ((K * K - 1) / (K * K) - ONE, "leading terms in K cancel"),
        (graph.exp(K * X), "argument of exp"),
        (graph.step(X / K), "a gate closes on its surface"),
        (K * ((X + 1) ** 2 - X**2 - 2 * X - 1) + 1, "leading terms in K cancel"),
        (1 / (K * graph.call("log", 1 + 1 / K)), "log vanishes as K grows"),
        (X / graph.step(1 / K - 1), "a divisor vanishes as K grows"),
        (graph.sqrt(K) * X, "grows like K"),
        (graph.call("sin", K - 1 / K), "argument of sin"),
    ],
)
def test_what_is_not_known_is_refused(node: graph.Node, sentence: str) -> None:
    with pytest.raises(EquationError, match=sentence):
        limits_at_infinity([node], "K")


@pytest.mark.parametrize(("stage", "L"), [("simultaneous", 3), ("stage2", 3), ("simultaneous", 4)])
def test_both_routes_to_many_groups_agree(stage: str, L: int) -> None:
    scaled, limit = dynamics.family(stage, L, scaled=True).system, dynamics.family(stage, L, "infinity").system
    assert limits_at_infinity(scaled.nodes, "K") == list(limit.nodes)


@pytest.mark.parametrize("name", [name for name, record in graph.FUNCTIONS.items() if record.odd])
def test_an_odd_function_of_what_decays_is_as_large_as_its_argument(name: str) -> None:
    """sin(x/K) K is x and not 0 or without limit; 1/(K sin(1/K)) is 1: by the slope at zero."""
    ((exponent, slope),) = leading_orders([graph.call(name, 1 / K)], "K")
    small = 1e-5
    (value,) = graph.evaluate([graph.call(name, X)], {"x": small}, graph.FLOAT_FUNCTIONS, float)
    (found,) = graph.evaluate([slope], {}, graph.FLOAT_FUNCTIONS, float)
    assert exponent == -1 and found == pytest.approx(value / small, rel=1e-9)
    first = leading_orders([graph.call(name, X / K**2) + 1 / K, graph.call(name, X / K) * K], "K")
    assert first == [(-1, ONE), (0, slope * X)]
    assert limits_at_infinity([slope / (K * graph.call(name, 1 / K)), X + graph.call(name, X / K)], "K") == [ONE, X]


def test_what_is_zero_for_all_large_values_has_no_order_and_leaves_others_theirs() -> None:
    """A gate that is closed at last; sums keep what is open, products and odd functions vanish."""
    closed, other = graph.step(1 / K - 1), graph.step(2 / K - X**2 - 1)
    assert (
        limits_at_infinity([closed, closed * X * K, closed + closed * X, graph.call("sin", closed)], "K") == [ZERO] * 4
    )
    assert leading_orders([closed + X / K, other * closed], "K") == [(-1, X), (0, ZERO)]
    assert limits_at_infinity([graph.exp(closed * K), graph.call("cos", X * closed)], "K") == [
        ONE,
        graph.call("cos", ZERO),
    ]


def test_orders_of_powers_and_sums() -> None:
    orders = leading_orders(
        [graph.sqrt(K) * X, 1 / (K * K - X) ** 2, (2 * K - X) ** 3, K**-2 + 3 / K, 2 * K + X * K + 1, num(0), X], "K"
    )
    assert orders == [(sp.Rational(1, 2), X), (-4, ONE), (3, num(8)), (-1, num(3)), (1, X + 2), (0, ZERO), (0, X)]
    assert limits_at_infinity([1 / graph.sqrt(K), X + 1 / K, num(2)], "K") == [ZERO, X, num(2)]
    assert leading_orders([K + X], "x") == [(1, ONE)] and leading_orders([K + 1], "x") == [(0, K + 1)]
