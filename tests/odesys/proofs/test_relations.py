"""What is known of functions."""

from fractions import Fraction
from pathlib import Path

import pytest

from odesys import ONE, ZERO, graph, sym
from odesys.proofs.theory import theory
from odesys.stated import Stated
from tests.coq import needs_coq, said, same

X, Y = sym("x"), sym("y")
SIGMOID = graph.call("sigmoid", X)


@needs_coq
def test_exponentials_sigmoids_and_roots(tmp_path: Path) -> None:
    assert said(
        [
            same(graph.exp(2 * X + Y) - 1, graph.exp(X) ** 2 * graph.exp(Y) - 1),
            same(SIGMOID + graph.call("sigmoid", -X), graph.ONE),
            same(graph.call("tanh", X), 2 * graph.call("sigmoid", 2 * X) - 1),
            same((1 + graph.sqrt(Y)) ** 2, 1 + 2 * graph.sqrt(Y) + Y, ["y"]),
        ],
        tmp_path,
    ).ok


@needs_coq
def test_exponentials_of_logarithms_with_roots(tmp_path: Path) -> None:
    root = graph.sqrt(X**2 + Y**4)
    grown = graph.exp(graph.call("log", (X + root) / Y**2))
    arsinh = same(Y**2 * (grown - 1 / grown) / 2, X, ["x", "y"])
    assert said([arsinh], tmp_path).ok
    assert not said([same(Y**2 * (grown - 1 / grown) / 2, 2 * X, ["x", "y"])], tmp_path).ok


@needs_coq
def test_roots_with_divisors_under_them(tmp_path: Path) -> None:
    root = graph.sqrt(1 + X**2 / Y**4)
    assert said([same((root + X / Y**2) * (root - X / Y**2), graph.ONE, ["x", "y"])], tmp_path).ok


@needs_coq
def test_powers_of_exponentials_that_have_names(tmp_path: Path) -> None:
    slow = X * Y / (9 * (1 + X + Y + X * Y))
    twice = graph.exp(2 * slow) + graph.exp(slow) * graph.exp(slow)
    assert said([same(twice, 2 * graph.exp(slow) ** 2, ["x", "y"])], tmp_path).ok


def call(name: str, node: graph.Node) -> graph.Node:
    return graph.call(name, node)


ROOT, EXP = graph.sqrt, graph.exp
TRUE = {
    "a root of a product": same(ROOT(X * Y), ROOT(X) * ROOT(Y), ["x", "y"]),
    "of a square": same(ROOT(4 * X**2 * Y) + 1, 2 * X * ROOT(Y) + 1, ["x", "y"]),
    "of a quotient": same(ROOT(X / Y) * Y, ROOT(X * Y), ["x", "y"]),
    "of a cube": same(ROOT(X * Y**3), Y * ROOT(X) * ROOT(Y), ["x", "y"]),
    "of a square times a sum": same(ROOT(X**2 * (1 + Y)), X * ROOT(1 + Y), ["x", "y"]),
    "of a product with a sum": same(ROOT(X * (1 + Y)) * ROOT(X), X * ROOT(1 + Y), ["x", "y"]),
    "of a number that is a square": same(ROOT(Fraction(9, 4) * X * Y), Fraction(3, 2) * ROOT(X) * ROOT(Y), ["x", "y"]),
    "below a line": same(1 / ROOT(X * Y), 1 / (ROOT(X) * ROOT(Y)), ["x", "y"]),
    "squares of cosh and sinh": same(call("cosh", X) ** 2 - call("sinh", X) ** 2, ONE),
    "tanh": same(call("tanh", X) * call("cosh", X), call("sinh", X)),
    "twice the argument": same(2 * call("sinh", X) * call("cosh", X), call("sinh", 2 * X)),
    "signs in exponents": same(EXP(-X) * EXP(X + Y), EXP(Y)),
    "powers of exponentials": same(EXP(3 * X - 2 * Y) + 1, EXP(X) ** 3 / EXP(Y) ** 2 + 1),
    "a sigmoid of a difference": same(call("sigmoid", X - Y), EXP(X) / (EXP(X) + EXP(Y))),
    "one minus a sigmoid": same(1 - call("sigmoid", 2 * X), 1 / (1 + EXP(X) ** 2)),
    "a logarithm in an exponent": same(EXP(call("log", X + Y)), X + Y, ["x", "y"]),
    "a logarithm of one": same(call("log", ONE) * X, ZERO),
    "an exponent that is factored": same(EXP(X * Y + X), EXP(X * (Y + 1))),
    "an exponent with a divisor": same(EXP(X / (1 + Y)) * EXP(X / (1 + Y)), EXP(2 * X / (1 + Y))),
}


@needs_coq
def test_what_is_known_of_functions_is_enough(tmp_path: Path) -> None:
    assert [made.left_out for made in (theory(["t"], [each]) for each in TRUE.values()) if made.left_out] == []
    found = said(list(TRUE.values()), tmp_path)
    assert found.ok, found.why


@pytest.mark.parametrize(
    ("statement", "why"),
    [
        (same(EXP(call("log", X + Y)), X + Y, ["x"]), "a logarithm of something whose sign is not known"),
        (same(ROOT((X - Y) * X) * X, X * ROOT(X) * ROOT(X - Y)), "a square root of something whose sign is not known"),
        (
            same(graph.power(X * Y, Fraction(1, 3)) * X, X * graph.power(X, Fraction(1, 3)) * Y, ["x", "y"]),
            "roots other than square roots are not exported yet",
        ),
        (same(EXP(2 * call("log", X)), X**2, ["x"]), "a fractional multiple in an exponent is not exported yet"),
        (same(EXP(30 * X) + Y, EXP(X) ** 30 + Y), "an exponent with too many terms"),
        (
            same(call("softplus", X) - call("softplus", -X), X),
            "what is known of the function softplus is not exported yet",
        ),
        (
            same(call("log", X * Y), call("log", X) + call("log", Y), ["x", "y"]),
            "what is known of the function log is not exported yet",
        ),
        (same(graph.step(X) + graph.step(-X), ONE), "a gate and its opposite meet"),
    ],
)
def test_what_is_not_known_is_left_out_with_the_reason(statement: Stated, why: str) -> None:
    made = theory(["t"], [statement])
    assert made.statements == 0 and made.left_out == (f"same: {why}",)


def test_an_exponent_may_have_as_many_terms_as_are_written_out() -> None:
    for count, left_out in ((24, False), (25, True)):
        assert bool(theory(["t"], [same(EXP(count * X) + Y, EXP(X) ** count + Y)]).left_out) == left_out
