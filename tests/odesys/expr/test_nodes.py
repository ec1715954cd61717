"""Nodes: one object per expression, exact constants, an order that does not depend on history."""

from __future__ import annotations

import copy
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest

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
