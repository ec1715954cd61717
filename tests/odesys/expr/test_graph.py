"""Scalar graph: normal forms, derivatives and evaluation against SymPy and exact arithmetic."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from odesys.expr import graph
from odesys.expr.graph import ZERO
from tests.random_nodes import X, Y, expressions, value


@settings(deadline=None, max_examples=150)
@given(expressions())
def test_reverse_and_forward_derivatives_agree_with_differences(node: graph.Node) -> None:
    slopes = graph.gradient(node, [X, Y])
    (row,) = graph.jacobian([node], [X, Y])
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        h = 1e-6
        near_kink = any(abs(value(s, x, y)) < 1e-4 for s in graph.surfaces([node]))
        scale = 1 + abs(value(node, x, y))
        for k, (dx, dy) in enumerate(((h, 0), (0, h))):
            reverse = value(slopes[k], x, y)
            assert value(row.get(k, ZERO), x, y) == pytest.approx(reverse, rel=1e-10, abs=1e-10)
            if not near_kink:
                difference = (value(node, x + dx, y + dy) - value(node, x - dx, y - dy)) / (2 * h)
                assert reverse == pytest.approx(difference, rel=1e-6, abs=1e-7 * scale)


def test_surfaces_count_each_surface_once() -> None:
    node = graph.relu(X - 1) + 3 * graph.relu(1 - X) + graph.step(Y)
    assert len(graph.surfaces([node])) == 2


def test_substitution_is_simultaneous() -> None:
    swapped = graph.substitute([X - 2 * Y], {X: Y, Y: X})[0]
    assert swapped is Y - 2 * X


@given(expressions())
def test_an_expression_rebuilt_from_its_own_children_is_itself(node: graph.Node) -> None:
    for each in graph.topological([node]):
        assert graph.rebuild(each, lambda child: child) is each


def test_what_is_below_a_replaced_node_is_not_looked_at() -> None:
    x, y, z = graph.sym("x"), graph.sym("y"), graph.sym("z")
    inner = graph.exp(x + y)
    assert graph.substitute([inner * x + 1], {inner: z, x: y}) == [z * y + 1]
    assert set(graph.topological([inner * x], {inner})) == {x, inner, inner * x}


def test_formulas_as_they_are_written_out_and_their_names() -> None:
    shared = X + Y
    assert graph.written_leaves(X) == graph.written_leaves(graph.ONE) == 1 and graph.written_leaves(shared) == 2
    assert graph.written_leaves(graph.exp(shared) * shared) == 4 and graph.written_leaves(graph.sqrt(shared * 3)) == 2
    assert (
        graph.symbols([shared, graph.exp(graph.sym("k")), graph.ONE]) == {"x", "y", "k"} and graph.symbols([]) == set()
    )
    inner = graph.step(X - 1)
    assert graph.surfaces([graph.step(inner * Y), inner]) == [X - 1, inner * Y]


def test_partial_derivatives_of_each_kind_of_node() -> None:
    assert dict(graph.partials(3 * X - Y / 2 + 7)) == {X: graph.num(3), Y: graph.num(-1) / 2}
    assert dict(graph.partials(X**3 * Y**-1)) == {X: 3 * X**2 / Y, Y: -(X**3) / Y**2}
    assert dict(graph.partials(X * Y)) == {X: Y, Y: X} and graph.partials(X) == graph.partials(graph.ONE) == []
    assert graph.partials(graph.exp(X)) == [(X, graph.exp(X))] and graph.partials(graph.step(X)) == [(X, ZERO)]


def test_derivatives_by_what_is_not_there_and_by_parts() -> None:
    """Columns are in the order asked for; zeros are left out; a node that is no symbol counts as one."""
    k, part = graph.sym("k"), graph.exp(X * Y)
    assert graph.gradient(X * k, [Y, k, X]) == [ZERO, X, k] and graph.gradient(X, [X, X]) == [graph.ONE] * 2
    assert graph.gradient(part**2 + X, [part]) == [2 * part] and graph.gradient(part, [graph.step(X)]) == [ZERO]
    rows = graph.jacobian([X * k - Y, k, graph.step(X), X - X * 1, Y + k - Y], [Y, X])
    assert rows == [{0: -graph.ONE, 1: k}, {}, {}, {}, {}]
    assert graph.jacobian([part * X], [part]) == [{0: X}]
    deep = graph.sqrt(1 + (X * part) ** 2) * part
    (slope,) = graph.gradient(deep, [X])
    assert graph.jacobian([deep], [X]) == [{0: slope}] or value(slope, 0.3, 0.7) == pytest.approx(
        value(graph.jacobian([deep], [X])[0][0], 0.3, 0.7), rel=1e-13
    )
