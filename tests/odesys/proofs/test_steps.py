"""Substitutions, step by step."""

from fractions import Fraction
from pathlib import Path

import pytest

from odesys import ONE, ZERO, graph, num, sym
from odesys.proofs.theory import theory
from odesys.stated import Stated
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


ROOT, EXP = graph.sqrt, graph.exp
PUT_IN = {
    "a square under a root": same(ROOT(X) * Z, Y * Z, ["y"], values=((X, Y**2),)),
    "a square with a number": same(ROOT(X) * Z, 2 * Y * Z, ["y"], values=((X, 4 * Y**2),)),
    "another symbol under a root": same(ROOT(X + 1), ROOT(Y + 1), ["y"], values=((X, Y),)),
    "beside a root": same(ROOT(X + 1) * Z, ROOT(X + 1) * Y, ["x"], values=((Z, Y),)),
    "an exponent that vanishes": same(EXP(X - Y) * Z, Z, values=((X, Y),)),
    "an exponent that is a number": same(EXP(X) * Z, EXP(ONE) * Z, values=((X, ONE),)),
    "an exponent with another sign": same(EXP(X) * Z, Z / EXP(Y), values=((X, -Y),)),
    "an exponent that is minus a sum": same(EXP(X + 1) * Z, EXP(-Y) * Z, values=((X, -Y - 1),)),
    "a logarithm of one": same(graph.call("log", X) * Z, ZERO, values=((X, ONE),)),
    "a divisor": same(Z / (X + Y), Z / (2 * Y), ["y"], values=((X, Y),)),
    "a square of a divisor": same(Z / (X + Y) ** 2, Z / (4 * Y**2), ["y"], values=((X, Y),)),
    "numbers": same(X * Y + 1, num(7), values=((X, num(2)), (Y, num(3)))),
    "a gate that is off": same(graph.step(X - Y) * X, ZERO, values=((graph.step(X - Y), ZERO),)),
    "a gate whose argument is one number": same(graph.step(X) * Y + Z, Z, values=((X, -ONE), (Y, Z))),
    "a gate that its argument decides": same(graph.step(X) * Y, Y, values=((graph.step(X), ONE), (X, ONE))),
}


@needs_coq
def test_values_that_change_what_is_around_them(tmp_path: Path) -> None:
    for name, statement in PUT_IN.items():
        made = theory(["t"], [statement])
        assert (made.left_out, made.by_substitution, made.by_definition) == ((), 1, 0), name
        assert ("Hypothesis given_1" in made.text) == (name == "a gate that is off")
    found = said(list(PUT_IN.values()), tmp_path)
    assert found.ok, found.why


@needs_coq
def test_a_wrong_side_after_values_are_put_in_does_not_check(tmp_path: Path) -> None:
    assert not said([same(ROOT(X) * Z, 3 * Y * Z, ["y"], values=((X, 4 * Y**2),))], tmp_path).ok


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (same(ROOT(X) * Z, Y * Z, values=((X, Y**2),)), "a square root of something whose sign is not known"),
        (
            same(graph.power(X, Fraction(1, 3)) * Z, Y * Z, ["y"], values=((X, Y**3),)),
            "values are put under a root that is no square root, which is not exported yet",
        ),
        (
            same(graph.step(X) * Y, Y, values=((graph.step(X), ONE), (X, -ONE))),
            "a gate is given a value that its argument contradicts",
        ),
        (
            same(graph.step(X) * Y, ZERO, values=((graph.step(X), ZERO), (X, ONE))),
            "a gate is given a value that its argument contradicts",
        ),
        (
            same(graph.call("sin", X) * Z, ZERO, values=((X, ZERO),)),
            "what is known of the function sin is not exported yet",
        ),
    ],
)
def test_values_that_are_not_exported_are_said(statement: Stated, why: str) -> None:
    made = theory(["t"], [statement])
    assert made.statements == 0 and made.left_out == (f"same: {why}",)
