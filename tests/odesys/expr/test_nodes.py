"""Nodes: one object per expression, exact constants, an order that does not depend on history."""

from __future__ import annotations

import copy
import math
import random
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from odesys import stated
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import ONE, ZERO, num, sym

ROOT = Path(__file__).resolve().parents[3]
X, Y = sym("x"), sym("y")


def test_equal_expressions_are_one_object() -> None:
    assert (X + Y) * 2 is 2 * X + 2 * Y
    assert (2 * X + 4 * Y) * X is 2 * (X + 2 * Y) * X
    assert X * Y / X is Y and X - X is ZERO and X**3 / X**2 is X
    assert graph.exp(-X) is 1 / graph.exp(X)
    assert graph.step(3 * X) is graph.step(X) and graph.step(X) ** 2 is graph.step(X)
    for c in (0.895, 3.1, 1 / 3, 1e-7):  # floats too: a surface and its negative stay one surface
        surface = graph.step(-c * X + 0.7 * Y - 0.3).args[0]
        assert graph.step(surface).args[0] is surface and -graph.step(-surface).args[0] is surface
    assert graph.sqrt(num(Fraction(9, 4))) is num(Fraction(3, 2))
    assert graph.sqrt(num(2)) * graph.sqrt(num(2)) is num(2)
    assert graph.multiply(graph.sqrt(num(2)), X, graph.sqrt(num(2))) is 2 * X
    root = graph.sqrt(X * Y)
    assert graph.multiply(root, Y, root) is X * Y**2
    root = graph.sqrt(2 * X + 2 * Y)
    assert graph.multiply(root, X, root) is 2 * X * (X + Y)
    assert num(1) is ONE and num(0.5) is not num(Fraction(1, 2))


def test_constants_stay_exact() -> None:
    third = num(Fraction(1, 3))
    assert third + third + third is ONE
    exact = graph.evaluate([X * third + Y], {"x": Fraction(3, 7), "y": Fraction(1, 7)}, {})[0]
    assert exact == Fraction(2, 7)
    with pytest.raises(ZeroDivisionError):
        _ = X / ZERO


def test_roots_of_numbers_below_one_are_exact() -> None:
    assert graph.sqrt(num(Fraction(1, 4))) is num(Fraction(1, 2))
    assert graph.power(num(Fraction(8, 27)), Fraction(-2, 3)) is num(Fraction(9, 4))


def test_a_symbolic_power_has_a_base_and_an_exponent() -> None:
    assert graph.power_parts(X**Y) == (X, Y) and graph.power_parts(X ** (2 * Y)) == (X, 2 * Y)
    assert repr(X**Y) == "Node(x**y)"
    assert graph.power_parts(graph.exp(X)) is None and graph.power_parts(X) is None


def test_floats_that_cancel_are_not_exact() -> None:
    assert X * 1e17 + X - X * 1e17 is not ZERO and X * 0.5 * 2 - X is not ZERO
    with pytest.raises(EquationError, match="must be finite"):
        num(float("nan"))
    with pytest.raises(ZeroDivisionError):
        graph.power(ZERO, Fraction(-1, 2))
    big = 10**400
    assert graph.sqrt(num(big * big)) is num(big) and graph.sqrt(num(big * big + 1)) is not num(big)


def test_copies_are_the_same_object() -> None:
    node = graph.exp(X * Y) / (1 + graph.sqrt(X)) - num(Fraction(1, 3)) * graph.relu(Y)
    assert copy.deepcopy(node) is node


def test_a_node_has_no_truth_value() -> None:
    with pytest.raises(TypeError, match="no truth value"):
        bool(X)


def test_order_of_terms_does_not_depend_on_what_was_built_before() -> None:
    program = """
import sys
from odesys import graph
from odesys.jit.codegen import float_literal, straight_line
if sys.argv[1] == "later":  # the same symbols and subexpressions, made in another order
    z, y, x = graph.sym("z"), graph.sym("y"), graph.sym("x")
    old = [z * y, 3 * graph.exp(z - y) + 1, graph.step(2 * z - x)]
x, y, z = graph.sym("x"), graph.sym("y"), graph.sym("z")
row = [graph.exp(x - y), graph.exp(y - z), graph.exp(z - x)]
node = row[0] / graph.add(row) * (x - 2 * y + z) + graph.relu(x - 2 * z) * (3 * x + y)
print(straight_line([node], {n: n for n in "xyz"}, ["out"], float_literal))
"""
    texts = {
        subprocess.run(
            [sys.executable, "-c", program, when],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
        ).stdout
        for when, seed in (("first", "1"), ("later", "2"))
    }
    assert len(texts) == 1


def test_a_sum_with_an_infinite_coefficient_is_left_as_it_is() -> None:
    x, k = sym("x"), sym("k")
    wild = graph.combine([(float("inf"), x), (float("-inf"), k)])
    product = wild
    for _ in range(40):
        product = product**2
    assert graph.symbols([product]) == {"x", "k"}
    assert graph.symbols([wild * x, graph.step(wild)]) == {"x", "k"}


Made = tuple[graph.Node, Callable[[float, float], float]]
OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / (b * b + 1),
    "2 a": lambda a, b: 2 * a - b / 3,
    "squares": lambda a, b: (a - b) ** 2 - (b - a) ** 2 + a,
    "1 / a": lambda a, b: 1 / (1 + a**2) + b**3,
    "number - a": lambda a, b: 0.5 - a + 3 / (2 + b**2),
}


def drawn(rng: random.Random, depth: int) -> Made:
    """A random expression, and the same in floats by Python."""
    if not depth:
        number = rng.choice([Fraction(2), Fraction(-3, 4), 0.25, -1, 0, 1])
        return rng.choice([(X, lambda x, y: x), (Y, lambda x, y: y), (num(number), lambda x, y, c=number: float(c))])
    (a, f), (b, g) = drawn(rng, depth - 1), drawn(rng, depth - 1)
    kind = rng.randrange(13)
    if kind < 8:
        work = list(OPERATIONS.values())[kind]
        return work(a, b), lambda x, y: work(f(x, y), g(x, y))
    if kind == 8:
        return graph.relu(a - b), lambda x, y: max(f(x, y) - g(x, y), 0.0)
    if kind == 9:
        return graph.absolute(a) + b, lambda x, y: abs(f(x, y)) + g(x, y)
    if kind == 10:
        return graph.exp(graph.call("sin", a - b)), lambda x, y: math.exp(math.sin(f(x, y) - g(x, y)))
    if kind == 11:
        return graph.sqrt(1 + a**2) * b, lambda x, y: math.sqrt(1 + f(x, y) ** 2) * g(x, y)
    return graph.power(1 + b**2, Fraction(-3, 2)) * a, lambda x, y: (1 + g(x, y) ** 2) ** -1.5 * f(x, y)


@pytest.mark.parametrize("seed", range(12))
def test_random_expressions_have_the_value_that_python_gives(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(15):
        node, by_hand = drawn(rng, 3)
        for x, y in ((0.37, -1.21), (-0.64, 0.83), (1.5, 0.25)):
            (found,) = graph.evaluate([node], {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float)
            wanted = by_hand(x, y)
            assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9 * (1 + abs(x) + abs(y)) ** 8)


@pytest.mark.parametrize("seed", range(6))
def test_a_sum_of_multiples_and_a_product_of_powers_do_not_know_how_they_were_made(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        terms = [drawn(rng, rng.randrange(3))[0] for _ in range(4)]
        exact = [t for t in terms if not any(map(inexact, graph.topological([t])))]
        mixed = rng.sample(exact, len(exact))
        assert graph.add(exact) is graph.add(mixed) and graph.multiply(*exact) is graph.multiply(*mixed)
        for a in exact:
            assert a - a is ZERO and a + a is 2 * a and 0 - (0 - a) is a and a * ONE is a and a + ZERO is a
            assert (a is ZERO) or (a / a is ONE and a**2 * a is a**3 and 1 / (1 / a) is a and a**0 is ONE)
            assert graph.scale(a, Fraction(3, 2)) is a * Fraction(3, 2) and graph.combine([(Fraction(-1), a)]) is -a


def inexact(node: graph.Node) -> bool:
    """Whether a node has a float in it, or a root of a number, which has several forms."""
    if node.op == "mul":
        return any(base.op == "num" for base, _ in node.args)
    numbers = [c for c, _ in node.args] if node.op == "add" else node.args if node.op == "num" else ()
    return any(isinstance(c, float) for c in numbers)


def test_powers_of_numbers_are_exact_where_they_can_be() -> None:
    for value, exponent, wanted in (
        (Fraction(4, 9), Fraction(3, 2), Fraction(8, 27)),
        (Fraction(4, 9), Fraction(-1, 2), Fraction(3, 2)),
        (8, Fraction(2, 3), 4),
        (-2, Fraction(3), -8),
        (-2, Fraction(-2), Fraction(1, 4)),
        (0, Fraction(1, 2), 0),
        (0, Fraction(3), 0),
        (0.25, Fraction(1, 2), 0.5),
    ):
        assert graph.power(num(value), exponent) is num(wanted)
    for value, exponent in (
        (2, Fraction(1, 2)),
        (-4, Fraction(1, 2)),
        (Fraction(4, 3), Fraction(1, 2)),
        (4, Fraction(1, 3)),
    ):
        node = graph.power(num(value), exponent)
        assert node.op == "mul" and node**exponent.denominator is num(value)
    for exponent in (-1, Fraction(-1, 2)):
        with pytest.raises(ZeroDivisionError, match="division by the constant zero"):
            graph.power(ZERO, Fraction(exponent))


def test_exponentials_gates_and_symbolic_powers_have_one_form() -> None:
    assert graph.exp(ZERO) is ONE and graph.exp(X - 2 * Y) * graph.exp(2 * Y - X) is ONE
    for c in (2, Fraction(1, 3), Fraction(7, 2)):
        assert graph.step(c * X - c * Y) is graph.step(X - Y) and graph.step(c * X) is not graph.step(-c * X)
    assert graph.step(num(0)) is ZERO and graph.step(num(-2)) is ZERO and graph.step(num(0.1)) is ONE
    gate = graph.step(X)
    assert gate**3 is gate and graph.sqrt(gate) is gate and (1 / gate) is not gate
    assert X ** num(2) is X**2 and X ** num(2.0) is X**2 and 2 ** num(3) is num(8)
    assert graph.power_parts(2**X) == (num(2), X) and graph.power_parts(X ** num(0.3)) == (X, num(0.3))
    assert graph.power_parts((X + 1) ** (Y + 1)) == (X + 1, Y + 1)
    assert graph.power_parts(graph.exp(X * graph.call("log", Y) * graph.call("log", X))) is None
    assert graph.call("cbrt", num(27)) is num(3) and graph.call("abs", num(-3)) is num(3)
    for other in (graph.linear_terms(num(5)), graph.linear_terms(X), graph.linear_terms(2 * X + 1)):
        assert graph.combine(other) in (num(5), X, 2 * X + 1)
    assert (X.__add__("no"), X.__mul__([]), X.__rsub__(None)) == (NotImplemented,) * 3
    assert graph.as_node("x") is X and graph.as_node(3) is num(3) and +X is X


def test_how_an_expression_was_written_is_noted_while_that_is_asked_for() -> None:
    square, quotient = X**2, X / (Y + 1)
    with stated.recorded():
        for operation, left, right, result in (
            ("+", X, Y + 1, X + (Y + 1)),
            ("-", square, 2 * Y, square - 2 * Y),
            ("-", num(3), square, 3 - square),
            ("*", X, Y + 2, X * (Y + 2)),
            ("/", X, Y + 1, X / (Y + 1)),
            ("/", num(3), Y + 1, 3 / (Y + 1)),
            ("^", Y + 3, Fraction(5), (Y + 3) ** 5),
        ):
            assert stated.forms[result][-1][1:] == (operation, left, right)
        assert stated.written[square - 2 * Y] == ("-", square, 2 * Y) and quotient not in stated.written
    before = dict(stated.forms)
    _ = (X + 7) * (Y - 9) / (X - 8) ** 3
    assert stated.forms == before


def test_other_kinds_of_values_are_left_to_others_or_refused() -> None:
    import sympy as sp

    for method in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "rpow"):
        assert getattr(X, f"__{method}__")("no number") is NotImplemented
    assert graph.as_node(sp.Symbol("x") ** 2 / 3) is X**2 / 3 and 2**X is graph.symbolic_power(num(2), X)
    assert X**2.0 is X**2 and X ** "1/2" is graph.sqrt(X) and repr(X**2) == "Node(x**2)"
    with pytest.raises(EquationError, match="more than 4300 digits"):
        num(10**5000)
    with pytest.raises(EquationError, match="the function no is not known"):
        graph.call("no", X)
    for wild in (float("inf"), float("-inf"), float("nan")):
        with pytest.raises(EquationError, match="every constant must be finite"):
            num(wild)


def test_terms_and_factors_stand_in_one_order() -> None:
    """Constants, then symbols by name, then all else; each expression has its own key."""
    made = [num(1), num(2), X, Y, X + Y, X - Y, 2 * X, X * Y, X / Y, X**2, X**3, graph.exp(X), graph.call("sin", X)]
    made += [graph.sqrt(X), graph.exp(Y), X**2 + Y, X + 2 * Y, 0.5 * X + Y, num(0.5), graph.step(X)]
    keys = [node.uid for node in made]
    assert len(set(keys)) == len(made)
    assert (
        max(num(k).uid for k in (0, 7, -3))
        < X.uid
        < Y.uid
        < min(node.uid for node in made if node.args[0:1] and node.op not in ("num", "sym"))
    )
    assert [term for _, term in graph.linear_terms(graph.exp(X) + Y + X + 3)][:3] == [ONE, X, Y]
    assert sorted([Y, X, num(1)]) == [num(1), X, Y] and (X < Y) is True and (Y < X) is False
    assert sym("x") is X and num(Fraction(6, 4)) is num(Fraction(3, 2)) and num(2.0) is not num(2)


def test_a_node_is_made_again_from_its_parts() -> None:
    for node in (num(2), num(0.5), X, X + 2 * Y - 1, X**2 * Y**-3, graph.exp(X - 1), graph.step(X), graph.sqrt(X) / Y):
        make, parts = node.__reduce__()
        assert make(*parts) is node and copy.copy(node) is node


def test_factors_of_sums_are_taken_out_where_they_can_be() -> None:
    """Leading coefficients: exactly, with their powers; of floats too, but not where one is zero or infinite."""
    assert (2 * X + 4 * Y) ** 3 is 8 * (X + 2 * Y) ** 3 and (2 * X + 4 * Y) ** -2 is (X + 2 * Y) ** -2 / 4
    assert (-X + Y) ** 2 is (X - Y) ** 2 and (-X + Y) ** 3 is -((X - Y) ** 3) and 1 / (Y - X) is -1 / (X - Y)
    assert (3 * X) ** -2 is X**-2 / 9 and (3 * X * Y**2) ** 2 is 9 * X**2 * Y**4
    half = (2 * X + 4 * Y) ** Fraction(1, 2)
    assert (
        half.op == "mul"
        and half**2 is 2 * X + 4 * Y
        and half * half is 2 * X + 4 * Y
        and half**4 is 4 * (X + 2 * Y) ** 2
    )
    assert (2 * X) ** Fraction(1, 2) * (2 * X) ** Fraction(1, 2) is 2 * X and (X * Y) ** Fraction(
        1, 3
    ) ** 3 is not X * Y
    assert ((X * Y) ** Fraction(1, 3)) ** 3 is X * Y and (X**2) ** Fraction(1, 2) is not X
    floats = (0.5 * X + 0.25 * Y) * (X + 0.5 * Y)
    assert floats is (1.0 * X + 0.5 * Y) * (X + 0.5 * Y) * 0.5
    assert graph.scale(X + Y, Fraction(0)) is ZERO and graph.scale(X, 1) is X and graph.scale(X - Y, -1) is Y - X
    assert 0.0 * X is not ZERO and graph.multiply(num(0.0), X) is not ZERO and graph.multiply(ZERO, X, Y) is ZERO
    assert graph.multiply() is ONE and graph.add([]) is ZERO and graph.multiply(num(2), num(3)) is num(6)
    assert (
        graph.from_powers({X: Fraction(0), Y: Fraction(1)}, 2) is 2 * Y
        and graph.from_powers({X: Fraction(2)}, 0) is ZERO
    )


def test_exponentials_begin_with_a_positive_term_and_powers_are_read_back() -> None:
    assert graph.exp(Y - X) is 1 / graph.exp(X - Y) and graph.exp(-2 * X).args == ((graph.exp(2 * X), -1),)
    log = graph.call("log", X)
    assert graph.power_parts(graph.exp(2 * log * Y)) == (X, 2 * Y) and graph.power_parts(graph.exp(log)) == (X, ONE)
    assert graph.power_parts(graph.exp(log**2)) is None and graph.power_parts(graph.exp(log + 1)) is None
    assert graph.power_parts(graph.exp(log / Y)) == (X, 1 / Y) and graph.power_parts(log) is None
    assert X ** num(Fraction(1, 2)) is graph.sqrt(X) and X ** num(0.5) is not graph.sqrt(X)
    assert graph.step(-3 * X + 6 * Y).args[0] is -X + 2 * Y and graph.step(X - 1).args[0] is X - 1
    assert graph.relu(num(-2)) is ZERO and graph.relu(num(2)) is num(2) and graph.absolute(-X) is graph.absolute(X)
