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
