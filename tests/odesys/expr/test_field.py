"""Layouts: states into matrices and back; blocks scalarised read as the same field."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.expr import blocks, graph
from odesys.expr.blocks import leaf
from odesys.expr.field import BlockField, Layout, ScalarField, Segment
from odesys.expr.graph import num, sym

# a symmetric 2 x 2 matrix S with three states, and an antisymmetric one with a single state
NAMES = ("s11", "s12", "s22", "a12")
PLACES = (("S", 0, 0), ("S", 0, 1), ("S", 1, 1), ("A", 0, 1))
SEGMENTS = (
    Segment("S", np.array([[0, 1], [1, 2]])),
    Segment("A", np.array([[3, 3], [3, 3]]), np.array([[0, 1], [-1, 0]])),
)
LAYOUT = Layout(NAMES, PLACES, SEGMENTS)


def field() -> BlockField:
    s, a = leaf("S", (2, 2)), leaf("A", (2, 2))
    rate = blocks.constant(np.full((2, 2), sym("r"), dtype=object))
    return BlockField(
        LAYOUT, {"S": rate * (s @ s), "A": a @ s + s @ a}, {"trace": blocks.take(s @ s, (np.array([0]), np.array([0])))}
    )


def test_packing_undoes_unpacking() -> None:
    x = np.array([1.0, 2.0, 3.0, 4.0])
    leaves = LAYOUT.unpack(x)
    np.testing.assert_array_equal(leaves["S"], [[1, 2], [2, 3]])
    np.testing.assert_array_equal(leaves["A"], [[0, 4], [-4, 0]])
    np.testing.assert_array_equal(LAYOUT.pack(leaves), x)


def test_symbols_sit_where_their_states_do() -> None:
    s11, s12, s22, a12 = (sym(name) for name in NAMES)
    assert LAYOUT.symbols["S"].tolist() == [[s11, s12], [s12, s22]]
    assert LAYOUT.symbols["A"].tolist() == [[num(0), a12], [-a12, num(0)]]


def test_scalars_are_the_entries_of_the_blocks() -> None:
    made = field()
    s11, s12, s22, a12, r = (sym(name) for name in (*NAMES, "r"))
    expected = (r * (s11**2 + s12**2), r * (s11 * s12 + s12 * s22), r * (s12**2 + s22**2), a12 * (s11 + s22))
    for node, wanted in zip(made.nodes, expected, strict=True):
        values = graph.evaluate([node, wanted], dict(zip((*NAMES, "r"), (2, 3, 5, 7, 11), strict=True)), {}, int)
        assert values[0] == values[1]
    assert made.observables["trace"] is s11 * s11 + s12 * s12


def test_parameters_are_names_that_are_no_states() -> None:
    assert field().parameters == {"r"} and not field().block_only
    assert ScalarField((sym("x") * sym("k"),), {"e": sym("m")}).parameters == {"x", "k", "m"}


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_root_makes_a_field_block_only(side: str) -> None:
    root = blocks.gram_root(leaf("S", (2, 2)), blocks.constant(np.array([[num(1)]], dtype=object)), side)
    assert BlockField(LAYOUT, {"S": root}, {}).block_only


def test_a_layout_is_told_in_a_line_and_knows_where_states_are() -> None:
    assert repr(LAYOUT) == "<Layout: 4 states in S (2, 2), A (2, 2)>"
    assert LAYOUT.numbers == {"s11": 0, "s12": 1, "s22": 2, "a12": 3}


def test_a_field_at_expressions_is_the_field_with_them_put_in() -> None:
    made = field()
    values = [sym("u") + 1, graph.exp(sym("v")), num(2), -sym("u")]
    there = made.at(values)
    wanted = graph.substitute(list(made.nodes), dict(zip(map(sym, NAMES), values, strict=True)))
    for one, other in zip(there, wanted, strict=True):
        at = {"u": 0.3, "v": -0.7, "r": 1.7}
        both = graph.evaluate([one, other], at, graph.FLOAT_FUNCTIONS, float)
        assert both[0] == pytest.approx(both[1], rel=1e-13)
    assert isinstance(there, tuple) and len(there) == 4


def test_parameters_of_functions_count_and_their_argument_does_not() -> None:
    s = leaf("S", (2, 2))
    applied = blocks.apply(sym("k") * sym("z") + graph.exp(-sym("z")), s)
    seen = BlockField(LAYOUT, {"S": applied, "A": leaf("A", (2, 2))}, {"c": blocks.constant([[sym("m")]])})
    assert seen.parameters == {"k", "m"} and seen.observables == {"c": sym("m")}
