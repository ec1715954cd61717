"""Symmetries of single expressions, found on the signed double cover."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest

from odesys import graph, num, sym
from odesys.reduce.automorphism import automorphisms
from odesys.reduce.loss_graph import MOST_SIGNS, LossGraph, Scalar
from odesys.reduce.signed_graph import SignedGraph

w, x, y, z = (sym(name) for name in "wxyz")


def order(loss: graph.Node, *names: str) -> int:
    """How many signed permutations of the names leave the expression alone."""
    build, states = SignedGraph(), {}
    for name in names:
        build.signed(("state", name), "state", True)
        states[name] = ("state", name)
    LossGraph(set(names)).write(build, loss, states)
    return automorphisms(build.coloured()).order


@pytest.mark.parametrize(
    ("loss", "names", "known"),
    [
        (x + y, "xy", 2),  # exchange
        (x * y, "xy", 4),  # exchange, both signs
        (x**2 + y**2, "xy", 8),
        (x**2 + 2 * y**2, "xy", 4),
        (x**3 + y**3, "xy", 2),
        (graph.exp(x) + graph.exp(-x), "x", 2),
        (graph.exp(x) + graph.exp(y), "xy", 2),
        (graph.exp(2 * x + 3 * y) + graph.exp(3 * x + 2 * y), "xy", 2),
        (graph.call("tanh", x) * y, "xy", 2),  # odd: both signs together
        (graph.call("cos", x), "x", 2),
        (graph.relu(x), "x", 1),
        (x * y + y * z + z * x, "xyz", 12),  # exchanges, and all signs at once
        (x**2 - y**2, "xy", 4),  # a square has no sign to change, so no exchange
        ((x + 2 * y) * (3 * z + 6 * w), "xyzw", 4),  # exchange of the factors, whatever their sizes; both signs
        (sym("b") * x + y, "xy", 1),  # a parameter stays where it is
    ],
)
def test_orders(loss: graph.Node, names: str, known: int) -> None:
    assert order(loss, *names) == known


@pytest.mark.parametrize(
    ("loss", "names", "known"),
    [
        (graph.call("sinh", x * y), "xy", 4),
        (graph.call("tanh", x + y), "xy", 2),
        (graph.call("tanh", x) + graph.call("tanh", y), "xy", 2),
        (graph.call("tanh", 2 * x) + graph.call("tanh", y), "xy", 1),
        (graph.call("tanh", x) ** 2 + graph.call("tanh", y) ** 2, "xy", 8),
        (graph.call("cos", x + y) * graph.call("cos", x - y), "xy", 8),
        (graph.call("tanh", x * y) * z, "xyz", 8),
        (graph.step(x) + graph.step(2 * y), "xy", 2),
        (x**2 * y**2 * z, "xyz", 8),
        (x**3 * y, "xy", 2),
        (x / y, "xy", 2),
        (1 / (1 + x**2) + 1 / (1 + y**2), "xy", 8),
        (x * y + 2 * z * w, "xyzw", 16),
        (x * y + z * w, "xyzw", 32),
        ((x + y) ** 2 + z, "xyz", 4),
        (graph.exp(x * y) + graph.exp(z * w), "xyzw", 32),
        ((3 * x + 6 * y) ** 2 / 9 + (z + 2 * w) ** 2, "xyzw", 8),  # sizes are taken out of powers, whole ones
        ((3 * x + 6 * y) ** 2 / 3 + (z + 2 * w) ** 2, "xyzw", 4),
        ((3 * x + 6 * y) ** 3 / 27 + (z + 2 * w) ** 3, "xyzw", 2),
        (9 / (3 * x + 6 * y) ** 2 + (z + 2 * w) ** -2, "xyzw", 8),
        (27 / (3 * x + 6 * y) ** 3 + (z + 2 * w) ** -3, "xyzw", 2),
    ],
)
def test_more_orders(loss: graph.Node, names: str, known: int) -> None:
    assert order(loss, *names) == known == by_hand(loss, names)


def tanh(node: graph.Node) -> graph.Node:
    return graph.call("tanh", node)


def cos(node: graph.Node) -> graph.Node:
    return graph.call("cos", node)


ROOT = graph.power(num(2), Fraction(1, 2))


@pytest.mark.parametrize(
    ("loss", "names"),
    [
        (y / graph.exp(x) + x / graph.exp(y), "xy"),
        (y * graph.exp(x) + x / graph.exp(y), "xy"),
        (y * graph.exp(x) + y / graph.exp(x), "xy"),
        (y * graph.exp(-x) + x * graph.exp(y), "xy"),
        (y * graph.exp(2 * x) + x * graph.exp(3 * y), "xy"),
        (x * graph.exp(y) - x * graph.exp(-y), "xy"),
        (graph.exp(x - y) + graph.exp(y - x), "xy"),
        (graph.exp(x) * graph.exp(y * z), "xyz"),
        (graph.exp(-x * y) * z, "xyz"),
        (graph.exp(cos(x)), "x"),
        ((x + 1) * (y + 1), "xy"),  # a number in a sum ties the sign down
        ((x - 1) * (y + 1), "xy"),
        ((x - 1) * (y - 1) * z, "xyz"),
        ((x + 1) ** 2 * (y - 1) ** 2, "xy"),
        ((x - 1) ** 3 * (y + 1) ** 3, "xy"),
        (5 - x * y, "xy"),
        (x * x + 1, "xy"),
        (graph.power(x * x + 1, Fraction(1, 2)) + graph.power(y * y + 1, Fraction(1, 2)), "xy"),
        (graph.power(x * x + 1, Fraction(1, 2)) + graph.power(y * y + 2, Fraction(1, 2)), "xy"),
        (graph.power(x * x + 1, Fraction(1, 2)) + graph.power(y * y + 1, Fraction(-1, 2)), "xy"),
        (graph.power(2 + cos(x), Fraction(-1, 2)) * y, "xy"),
        (ROOT * x + y, "xy"),
        (ROOT * x * z + ROOT * y * w, "xyzw"),
        (ROOT * x * z + y * w, "xyzw"),
        (tanh(x) - tanh(-y), "xy"),
        (tanh(x) + tanh(-x) + y, "xy"),
        (tanh(x - y) + tanh(z), "xyz"),
        (tanh(x - y) + tanh(y - x) + z, "xyz"),
        (tanh(x - y) - tanh(y - x) + z, "xyz"),
        (2 * tanh(x - y) + tanh(y - x) + z, "xyz"),
        (tanh(x - y) + 2 * tanh(y - x) + tanh(z), "xyz"),
        (tanh(x + 1) * tanh(y - 1), "xy"),
        (tanh(x * y) ** 3 + z, "xyz"),
        (tanh(x) * tanh(y) * z, "xyz"),
        (cos(x - y) + cos(y - x), "xy"),
        (cos(x) + cos(-y), "xy"),
        (cos(2 * x) + cos(y), "xy"),
        (graph.call("cosh", x - y) * z, "xyz"),
        (graph.call("log", 1 + x * x) + graph.call("log", 1 + y * y), "xy"),
        (graph.call("softplus", x) + graph.call("softplus", -x), "x"),
        (graph.call("softplus", x * y) + graph.call("softplus", z), "xyz"),
        (graph.relu(x) + graph.relu(-x), "x"),
        (graph.relu(x) * graph.relu(-y), "xy"),
        (graph.step(x) * y, "xy"),
        (graph.step(x) + graph.step(-x), "x"),
        ((x + 2 * y) ** -1 * z + (z - 3 * w) ** 3, "xyzw"),
        ((x - y) * (z - w), "xyzw"),
        ((x - y) * (y - x), "xy"),
        ((x - y) ** 2 + (z + w) ** 2, "xyzw"),
        ((2 * x - 2 * y) ** 2 + 4 * (z + w) ** 2, "xyzw"),
        (-x - y, "xy"),
        (-(x**2) * y, "xy"),
        (x * y * (x - y), "xy"),
        (x**2 * y, "xy"),
        (x**2 + y**4, "xy"),
        (x**3 * y**3 + z, "xyz"),
        (x / y + z / w, "xyzw"),
        (1 / (x * y) + z, "xyz"),
        (x**2 / (1 + y**2), "xy"),
    ],
)
def test_orders_are_those_of_trying_all(loss: graph.Node, names: str) -> None:
    assert order(loss, *names) == by_hand(loss, names)


def test_parameters_have_neither_signs_nor_places() -> None:
    b, c = sym("b"), sym("c")
    assert order(b * x * y + z, "x", "y", "z") == 4
    assert order(b * x + c * y, "x", "y") == 1 and order(b * x * z + c * y * w, "x", "y", "z", "w") == 16
    assert order(tanh(b) * x + tanh(c) * y, "x", "y") == 1 and order((b + x) * (b + y), "x", "y") == 2
    assert order((b + c) * x * y, "x", "y") == 4


def test_signs_of_a_long_product_are_kept() -> None:
    """n! exchanges, and any even number of signs while they are followed."""
    names = [f"x{k}" for k in range(MOST_SIGNS + 1)]
    short, long = (graph.multiply(*map(sym, names[:n])) for n in (MOST_SIGNS, MOST_SIGNS + 1))
    assert order(short, *names[:-1]) == factorial(MOST_SIGNS) * 2 ** (MOST_SIGNS - 1)
    assert order(long, *names) == factorial(MOST_SIGNS + 1)


@pytest.mark.parametrize("node", [x, x * y, x + 2 * y, tanh(x - y), x**2 * y, (x - 3 * y) ** 3, 1 / (2 * x + y)])
@pytest.mark.parametrize("factor", [1, -1, 3, Fraction(-5, 7)])
def test_a_scalar_is_sign_times_size_times_a_shape(node: graph.Node, factor: Fraction) -> None:
    """A numeric factor changes sign and size only, whether it is written before the expression or inside of it."""
    shapes = LossGraph({"x", "y"})
    one, scaled = shapes.scalar(node), shapes.scalar(num(factor) * node)
    assert scaled == Scalar(one.sign * (1 if factor > 0 else -1), abs(factor) * one.size, one.shape)
    assert one.sign in (1, -1) and one.size > 0


def test_scalars_of_numbers_and_of_whole_powers() -> None:
    shapes = LossGraph({"x", "y"})
    one = shapes.scalar(num(1))
    assert (one.sign, one.size) == (1, 1)
    assert shapes.scalar(num(Fraction(-3, 2))) == Scalar(-1, Fraction(3, 2), one.shape)
    assert shapes.scalar(num(0)) == Scalar(1, 0, one.shape)
    assert shapes.scalar(x) == shapes.scalar(x) and shapes.scalar(x).shape != shapes.scalar(y).shape
    line = shapes.scalar(-2 * x - y)
    assert (line.sign, line.size) == (shapes.scalar(-x - y / 2).sign, 2)
    assert shapes.scalar((2 * x + y) ** 2) == shapes.scalar((-2 * x - y) ** 2)
    for exponent in (3, -3, 2, -2):
        small, large = (shapes.scalar((k * x + k * y / 2) ** exponent) for k in (1, 2))
        assert large.size == small.size * Fraction(2) ** exponent and large.shape == small.shape
    assert shapes.scalar(tanh(x) - tanh(x - 0)).size == 0


def by_hand(loss: graph.Node, names: str) -> int:
    """All signed permutations tried, at points of random numbers."""
    rng = np.random.default_rng(3)
    points = [dict(zip(names, rng.normal(size=len(names)), strict=True)) for _ in range(6)]

    def at(point: dict[str, float]) -> float:
        return float(graph.evaluate([loss], point, graph.FLOAT_FUNCTIONS, float)[0])

    count = 0
    for images in permutations(names):
        for signs in product((1, -1), repeat=len(names)):
            moved = [{n: s * p[m] for n, m, s in zip(names, images, signs, strict=True)} for p in points]
            with np.errstate(invalid="ignore"):
                count += all(abs(at(m) - at(p)) < 1e-9 * (1 + abs(at(p))) for m, p in zip(moved, points, strict=True))
    return count
