"""Substitutions, step by step."""

from pathlib import Path

from odesys import ONE, ZERO, graph, sym
from odesys.proofs.theory import theory
from tests.coq import needs_coq, said, same

X, Y, Z = sym("x"), sym("y"), sym("z")


@needs_coq
def test_both_sides_are_maps_at_the_given_values(tmp_path: Path) -> None:
    field = graph.exp(X - Y) / (1 + graph.exp(X - Y)) + Z * Y
    other = graph.exp(Y - X) / (1 + graph.exp(Y - X)) + Z * X
    swap = ((X, Y), (Y, X))
    assert said([same(field, other + Z * (X - X), values=((X, Z), (Y, Z)))], tmp_path).ok
    assert "map_1" in theory(["t"], [same(field, other, values=((X, Z), (Y, Z)))]).text
    assert theory(["t"], [same(field, field, values=swap)]).by_definition == 0


@needs_coq
def test_a_gate_that_is_given_a_value_is_a_hypothesis(tmp_path: Path) -> None:
    relu = graph.relu(X + Y)
    statement = same(relu, X + Y, values=((graph.step(X + Y), ONE),))
    assert "step (x + y)" in theory(["t"], [statement]).text.replace("(step (x + y))", "step (x + y)")
    assert said([statement], tmp_path).ok


def test_a_gate_is_not_given_a_value_that_its_argument_contradicts() -> None:
    gate = graph.step(X)
    made = theory(["t"], [same(gate * Y, Y, values=((gate, ONE), (X, ZERO)))])
    assert made.statements == 0
    assert "contradicts" in made.left_out[0]


@needs_coq
def test_signs_that_cancel_in_a_product_are_algebra_and_no_definition(tmp_path: Path) -> None:
    one, other = Z * (1 + graph.exp(X * Y)), Z + Z * graph.exp(X * Y)
    assert said([same(one, other, values=((X, -X), (Y, -Y)))], tmp_path).ok


GATE = graph.step(X + Y) * Z
GATES = {
    "a multiple of its argument": (((X, Z), (Y, 3 * Z)), graph.step(Z) * Z),
    "a negative one": (((X, -Z), (Y, -3 * Z)), graph.step(-Z) * Z),
    "above zero": (((X, ONE), (Y, ONE)), Z),
    "below zero": (((X, -ONE), (Y, -ONE)), ZERO),
    "at zero": (((X, ONE), (Y, -ONE)), ZERO),
}


@needs_coq
def test_the_argument_of_a_gate_is_changed_or_decided(tmp_path: Path) -> None:
    statements = [same(GATE, right, values=values) for values, right in GATES.values()]
    for name, statement in zip(GATES, statements, strict=True):
        assert theory(["t"], [statement]).left_out == (), name
    assert said(statements, tmp_path).ok
    assert theory(["t"], [same(GATE, graph.step(-Z) * Z, values=((X, Z), (Y, 3 * Z)))]).statements == 0


@needs_coq
def test_a_function_whose_argument_is_changed_is_kept(tmp_path: Path) -> None:
    field = graph.call("tanh", X + Y) + graph.exp(X - Y)
    both = same(field, graph.call("tanh", 2 * Z) + 1, values=((X, Z), (Y, Z)))
    one = same(field, graph.call("tanh", X + Z) + graph.exp(X - Z), values=((Y, Z),))
    assert theory(["t"], [both, one]).left_out == () and said([both, one], tmp_path).ok
