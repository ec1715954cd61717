"""Expressions as terms of Coq."""

import pytest

from odesys import graph, sym
from odesys.proofs.terms import NotExported, Writer, _open, definitions, identifiers, number

X, Y = sym("x"), sym("y")


def test_inverses_roots_and_functions_are_written_out() -> None:
    write = Writer({"x": "x", "y": "y"})
    assert write(X / Y) in ("(x * (/ y))", "((/ y) * x)")
    assert write(graph.sqrt(X)) == "((sqrt x))"
    assert write(graph.call("log", X)) == "(ln x)"


def test_floats_are_never_exported() -> None:
    with pytest.raises(NotExported, match="floating-point"):
        number(0.5)


def test_words_of_coq_are_no_identifiers() -> None:
    assert set(identifiers(["exp", "S", "n1", "left_2"]).values()) == {"exp_", "S_", "n1_", "left_2_"}


def test_shared_parts_get_one_definition() -> None:
    part = 1 + X * Y + 7 * Y**3 + 12 * X**5
    writer, bodies = definitions([graph.exp(part), part * X], {"x": "x", "y": "y"})
    assert part in writer.names
    assert [node for node, _ in bodies].count(part) == 1


def test_below_a_named_part_nothing_is_written_again() -> None:
    """Children first and each once; the part itself is opened, its name is for those that use it."""
    inner = X + Y
    part = graph.exp(inner)
    top = part * (part + inner**3) * graph.call("log", inner)
    for closed in ([], [part], [part, inner], [top], [inner]):
        order = _open(top, closed)
        assert len({*order}) == len(order) and order[-1] is top
        for node in order:
            if node is top or node not in closed:
                assert all(c in order[: order.index(node)] for c in graph.children(node) if c not in closed)
        reached, todo = set(), [top]
        while todo:
            node = todo.pop()
            reached.add(node)
            todo += [c for c in graph.children(node) if c not in closed and c not in reached]
        assert {*order} == reached
