"""Symmetries of single expressions, found on the signed double cover."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest

from odesys import graph, sym
from odesys.reduce.automorphism import automorphisms
from odesys.reduce.loss_graph import LossGraph
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
