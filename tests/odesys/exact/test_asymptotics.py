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
    ],
)
def test_what_is_not_known_is_refused(node: graph.Node, sentence: str) -> None:
    with pytest.raises(EquationError, match=sentence):
        limits_at_infinity([node], "K")


@pytest.mark.parametrize(("stage", "L"), [("simultaneous", 3), ("stage2", 3), ("simultaneous", 4)])
def test_both_routes_to_many_groups_agree(stage: str, L: int) -> None:
    scaled, limit = dynamics.family(stage, L, scaled=True).system, dynamics.family(stage, L, "infinity").system
    assert limits_at_infinity(scaled.nodes, "K") == list(limit.nodes)
