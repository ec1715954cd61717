"""Random expressions in x and y, as a strategy, and their values in floats."""

from __future__ import annotations

import math

import hypothesis.strategies as st

from odesys.expr import graph
from odesys.expr.graph import num, sym

X, Y = sym("x"), sym("y")
FUNCTIONS = {
    "exp": math.exp,
    "step": lambda z: 1.0 if z > 0 else 0.0,
    "sigmoid": lambda z: 1 / (1 + math.exp(-z)),
    "softplus": lambda z: math.log1p(math.exp(z)),
    "tanh": math.tanh,
    "sin": math.sin,
    "cos": math.cos,
}
fractions = st.fractions(min_value=-3, max_value=3, max_denominator=7)


def expressions() -> st.SearchStrategy[graph.Node]:
    leaves = st.one_of(st.just(X), st.just(Y), fractions.map(num))
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, inner).map(lambda p: p[0] + p[1]),
            st.tuples(inner, inner).map(lambda p: p[0] - p[1]),
            st.tuples(inner, inner).map(lambda p: p[0] * p[1]),
            inner.map(lambda e: graph.call("tanh", e)),
            inner.map(lambda e: graph.call("sigmoid", e)),
            inner.map(lambda e: graph.exp(graph.call("sin", e))),
            inner.map(graph.relu),
            inner.map(lambda e: 1 / (1 + e * e)),
        ),
        max_leaves=8,
    )


def value(node: graph.Node, x: float, y: float) -> float:
    return float(graph.evaluate([node], {"x": x, "y": y}, FUNCTIONS, float)[0])
