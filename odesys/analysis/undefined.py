"""Equations that no state satisfies the domain of: a divisor, or the argument of a logarithm, that is always zero."""

from __future__ import annotations

from collections.abc import Iterator

from ..exact.zero import in_short, zero_test
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import System


def where_undefined(system: System) -> str:
    """A sentence about a rate that has no value anywhere; empty if none is found.

    >>> where_undefined(System.from_strings({"x": "1/(sin(x)**2 + cos(x)**2 - 1)"}))
    'the rate of x has no value anywhere: it divides by -sin(x)**2 - cos(x)**2 + 1, which is zero'
    """
    for name, rate in zip(system.names, system.nodes, strict=False):
        for said, part in _asked(rate):
            if zero_test(part).answer == "zero":
                return f"the rate of {name} has no value anywhere: it {said} {in_short(part)}, which is zero"
    return ""


def _asked(rate: Node) -> Iterator[tuple[str, Node]]:
    """What must not vanish, inner parts first, for these are defined themselves."""
    for node in graph.topological([rate]):
        if node.op == "mul":
            yield from (("divides by", base) for base, exponent in node.args if exponent < 0)
        elif node.op == "log":
            yield "takes the logarithm of", node.args[0]
