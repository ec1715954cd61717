r"""Stability of a point of a system with one state: by the sign of the field on both sides of it.

.. math::  F(p \pm s) \sim \tfrac{1}{k!} F_\pm^{(k)}(p) (\pm s)^k, \qquad s \downarrow 0,

with the first derivative that is not zero on each side, gates as they are there. So a double zero is decided, and a
point where the field has a kink or jumps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import System
from .dependency import checked_values, sign_of, values_at

HIGHEST = 9  # derivative that is tried


def sides_of(system: System, place: Mapping[str, Any], values: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Signs of the field just below and just above a point; None where they are not decided.

    >>> sides_of(System.from_strings({"x": "x^2"}), {"x": 0}, {})
    (1, 1)
    """
    return _side(system, place, values, -1), _side(system, place, values, 1)


def _side(system: System, place: Mapping[str, Any], values: Mapping[str, Any], side: int) -> int | None:
    known = checked_values(system, place, values)
    x = graph.sym(system.names[0])
    gates: dict[Node, Node] = {}
    for surface in graph.surfaces(system.nodes):
        sign = _first(surface, x, known, side)
        if sign is None:
            return None
        gates |= {graph.step(surface): graph.num(int(sign > 0)), graph.step(-surface): graph.num(int(sign < 0))}
    return _first(graph.substitute(list(system.nodes), gates)[0], x, known, side)


def _first(node: Node, x: Node, known: Mapping[str, Any], side: int) -> int | None:
    """Sign of an expression next to a point; 0 if it vanishes identically."""
    for order in range(HIGHEST + 1):
        try:
            value = sign_of(values_at([node], known)[0])
        except EquationError:  # a root has no slope here
            return None
        if value == 0 and x.args[0] not in graph.symbols([node]):
            return 0
        if value is None:
            return None
        if value:
            return int(value * side**order)
        (node,) = graph.gradient(node, [x])
    return None


def stability_of_one(
    system: System, place: Mapping[str, Any], values: Mapping[str, Any] | None = None
) -> tuple[str, str]:
    """Stability of an equilibrium of one state, and the sentence behind it; ``undecided`` where a sign is open.

    >>> stability_of_one(System.from_strings({"x": "-x^3"}), {"x": 0})[0]
    'asymptotically stable'
    """
    below, above = sides_of(system, place, values or {})
    if below is None or above is None:
        return "undecided", "the sign of the field beside the point is not decided"
    said = {1: "upwards", -1: "downwards", 0: "not at all"}
    reason = f"the state moves {said[below]} just below the point and {said[above]} just above it"
    if below < 0 or above > 0:
        return "unstable", reason
    return "asymptotically stable" if below > 0 > above else "stable", reason
