"""Symmetries of single expressions, found on the signed double cover."""

from __future__ import annotations

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
