"""Expressions as terms of Coq."""

from fractions import Fraction

import pytest

from odesys import ONE, ZERO, graph, num, sym
from odesys.proofs.terms import LONG, SHORT, NotExported, Writer, _open, definitions, function, identifiers, number

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


WRITE = Writer({"x": "x", "y": "y", "z": "z'"})


@pytest.mark.parametrize(
    ("node", "texts"),
    [
        (num(Fraction(-3, 2)), {"(-3 / 2)"}),
        (ZERO, {"0"}),
        (num(-4), {"(-4)"}),
        (X - Y, {"(x + - y)", "(- y + x)"}),
        (2 * X - Y / 3, {"(2 * x + (-1 / 3) * y)", "((-1 / 3) * y + 2 * x)"}),
        (sym("z") + 1, {"(z' + 1)", "(1 + z')"}),
        (5 * X, {"(5 * x)"}),
        (-X, {"(- x)"}),
        (X * Y, {"(x * y)", "(y * x)"}),
        (X**2, {"((x ^ 2))"}),
        (X**-1, {"((/ x))"}),
        (X**-3, {"(((/ x) ^ 3))"}),
        (graph.sqrt(X), {"((sqrt x))"}),
        (graph.power(X, Fraction(3, 2)), {"(((sqrt x) ^ 3))"}),
        (graph.power(X, Fraction(-1, 2)), {"((/ (sqrt x)))"}),
        (graph.power(X, Fraction(2, 3)), {"(((Rpower x (1 / 3)) ^ 2))"}),
        (graph.call("arctan", X + 1), {"(atan (x + 1))", "(atan (1 + x))"}),
        (graph.exp(graph.call("log", X)), {"(exp (ln x))"}),
    ],
)
def test_every_kind_of_node_is_a_term(node: graph.Node, texts: set[str]) -> None:
    assert WRITE(node) in texts


def test_parts_with_a_name_are_written_by_it_and_roots_too() -> None:
    part, root = X + Y, graph.sqrt(X)
    writer = Writer({"x": "x", "y": "y"}, {part: "p", root: "r"})
    assert writer(part**2) == "((p ^ 2))" and writer.body(part) in ("(x + y)", "(y + x)")
    assert (
        writer(graph.power(X, Fraction(3, 2))) == "((r ^ 3))" and writer(graph.power(X, Fraction(-1, 2))) == "((/ r))"
    )


def test_functions_that_coq_does_not_have_are_refused() -> None:
    assert [function(name) for name in ("log", "arcsin", "tanh")] == ["ln", "asin", "tanh"]
    with pytest.raises(NotExported, match=r"^the function erf is not in the libraries of Coq that are used here$"):
        function("erf")


def test_identifiers_are_words_that_nothing_else_is_called() -> None:
    names = ["x", "1x", "a b", "a-b", "a_b", "claim_1", "c1", "K2", "f", "map_x", "left_1", "leftover_1", "_x", "at"]
    assert identifiers(names) == {
        "x": "x", "1x": "v1x", "a b": "a_b1", "a-b": "a_b2", "a_b": "a_b", "claim_1": "claim_1_", "c1": "c1_",
        "K2": "K2_", "f": "f", "map_x": "map_x", "left_1": "left_1_", "leftover_1": "leftover_1", "_x": "v_x",
        "at": "at_",
    }  # fmt: skip


def test_a_definition_is_for_what_is_long_or_used_twice_and_not_short() -> None:
    """The bodies stand in an order in which each speaks of those before it."""
    for letters in range(18, 32):
        name = "x" * letters
        part = sym(name) + 1
        writer, bodies = definitions([graph.exp(part), graph.call("sin", part)], {name: name})
        assert (part in writer.names) == (len(writer.body(part)) > SHORT) == bool(bodies)
        once, none = definitions([graph.exp(part)], {name: name})
        assert none == [] and once.names == {}
    for letters in (LONG - 4, LONG - 3):
        name = "x" * letters
        writer, bodies = definitions([sym(name) * 2 + ONE], {name: name})
        assert (len(bodies) == 1) == (len(writer.body(sym(name) * 2 + ONE)) > LONG)
    inner = X * Y + 7 * Y**3 + 12 * X**5
    outer = graph.exp(inner) + graph.exp(-inner)
    writer, bodies = definitions([outer * X, outer * Y, inner], {"x": "x", "y": "y"}, "p", {outer: "top"})
    assert [writer.names[node] for node, _ in bodies] == ["p1", "top"] and "p1" in bodies[1][1]
    assert definitions([X, X], {"x": "x"})[1] == [] and definitions([X], {"x": "x"}, titles={X: "t"})[1] == [(X, "x")]
