"""The tape: every distinct node once, after what it uses, and the same values over any kind of number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from odesys.expr import graph
from odesys.expr.tape import ARRAYS, Arithmetic, Tape

X, Y = graph.sym("x"), graph.sym("y")


def test_shared_parts_are_one_row_and_rows_come_after_what_they_use() -> None:
    shared = graph.exp(X * Y)
    tape = Tape.of([shared + X, shared * shared, shared])
    assert [op for op, _ in tape.rows].count("exp") == 1
    assert tape.roots == tuple(tape.index[root] for root in (shared + X, shared * shared, shared))
    for k, (op, what) in enumerate(tape.rows):
        used = {"add": lambda w: [i for _, i in w], "mul": lambda w: [i for i, _ in w]}
        read = used[op](what) if op in used else [what] if op in graph.FUNCTIONS else []
        assert all(i < k for i in read)


def test_one_tape_over_exact_numbers_arrays_and_polynomials() -> None:
    tape = Tape.of([X * X / 3 - Y + 2, (X + Y) ** -1])
    exact = tape.over(Arithmetic({}))({"x": Fraction(1, 2), "y": Fraction(1, 4)})
    assert exact == [Fraction(11, 6), Fraction(4, 3)]
    values = tape.over(ARRAYS)({"x": np.array([0.5, 1.0]), "y": 0.25})
    assert values[0] == pytest.approx([11 / 6, 25 / 12]) and values[1] == pytest.approx([4 / 3, 4 / 5])


def test_constants_are_made_once_and_negative_ones_negate() -> None:
    made: list[object] = []
    tape = Tape.of([X / 3 - Y])
    run = tape.over(Arithmetic({}, lambda c: made.append(c) or c))  # type: ignore[func-returns-value]
    assert [run({"x": 3, "y": y})[0] for y in range(3)] == [1, 0, -1]
    assert made == [Fraction(1, 3)]


def test_a_power_goes_through_the_kind_of_number() -> None:
    def shown(value: str, exponent: object) -> str:
        return f"{value}^{exponent}"

    kind = Arithmetic({}, str, shown)
    assert Tape.of([X**2, X ** Fraction(1, 2)]).over(kind)({"x": "x"}) == ["x^2", "x^1/2"]


def test_arrays_have_infinities_where_pythons_floats_raise() -> None:
    """A parameter is one number among arrays: its powers are those of an array."""
    run = Tape.of([X / Y, Y ** Fraction(1, 3), Y**400]).over(ARRAYS)
    with np.errstate(all="ignore"):
        assert [run({"x": np.array([2.0]), "y": 0.0})[0][0], run({"x": 1.0, "y": 1e9})[2]] == [np.inf, np.inf]
        assert np.isnan(run({"x": 1.0, "y": -8.0})[1])


def test_ones_that_are_exact_are_not_multiplied_and_those_of_floats_are() -> None:
    made: list[object] = []
    kind = Arithmetic({}, lambda c: made.append(c) or c)  # type: ignore[func-returns-value]
    exact, rounded = X - Y + 2, graph.combine([(1.0, X), (-1.0, Y)])
    assert Tape.of([exact]).over(kind)({"x": 5, "y": 3}) == [4] and made == [1, 2]
    made.clear()
    assert Tape.of([rounded]).over(kind)({"x": 5, "y": 3}) == [2] and made == [1.0, -1.0]


def test_children_and_the_order_of_nodes_below() -> None:
    node = graph.exp(X * Y) + 3 * X**2 - 1
    assert set(graph.children(node)) == {graph.exp(X * Y), X**2, graph.ONE}
    assert graph.children(X * Y**2) in ((X, Y), (Y, X)) and graph.children(graph.exp(X)) == (X,)
    assert graph.children(X) == graph.children(graph.ONE) == ()
    order = graph.topological([node, X * Y, node])
    assert len(order) == len(set(order)) and order[-1] is node
    assert all(order.index(child) < k for k, each in enumerate(order) for child in graph.children(each))
    cut = graph.topological([node], {graph.exp(X * Y)})
    assert Y not in cut and graph.exp(X * Y) in cut and X in cut


def test_roots_and_powers_go_their_ways_when_evaluated() -> None:
    asked: list[tuple[object, object]] = []

    def root(value: object, exponent: Fraction) -> int:
        asked.append((value, exponent))
        return 7

    found = graph.evaluate([X**3 + X ** Fraction(-2, 3), 1 / X], {"x": Fraction(2)}, {}, root=root)
    assert found == [15, Fraction(1, 2)] and asked == [(2, Fraction(-2, 3))]
    assert graph.evaluate([X / 3], {"x": 6}, {}, constant=lambda c: 100) == [600]
