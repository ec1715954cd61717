"""Where equations have no value: everywhere, by a divisor that is always zero, or at a point outside of a domain."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import flint

from ..errors import EquationError
from ..exact.balls import Interval, as_ball, ball_program
from ..exact.zero import in_short, zero_test
from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node
from ..expr.system import System
from .dependency import sign_of, values_at

CLOSED = {"arcsin", "arccos", "arccosh"}  # have a value at the ends of their domains
PRECISION = 192  # bits

Demand = tuple[Node, float, float, bool]  # an argument, the ends it must lie between, and whether it may be one of them


def where_undefined(system: System, nodes: Sequence[Node] | None = None) -> str:
    """A sentence about a rate that has no value anywhere; empty if none is found. `nodes` may stand for the rates.

    >>> where_undefined(System.from_strings({"x": "1/(sin(x)**2 + cos(x)**2 - 1)"}))
    'the rate of x has no value anywhere: it divides by -sin(x)**2 - cos(x)**2 + 1, which is zero'
    """
    for name, rate in zip(system.names, system.nodes if nodes is None else nodes, strict=False):
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


# ---- at a point ----------------------------------------------------------------------------------------------------


def value_at(nodes: Sequence[Node], enclosure: Mapping[str, Interval], place: Mapping[str, Any] | None = None) -> str:
    """Whether expressions have a value at a point of an enclosure, whose coordinates `place` gives if they are known.

    ``value``; ``outside`` where one has none at the point and around it; ``edge`` where one has none at the point
    though it may have a limit there, as x log(x) at zero; ``open`` where this is not decided.

    >>> from fractions import Fraction
    >>> x = graph.sym("x")
    >>> at_zero = {"x": (Fraction(0), Fraction(0))}
    >>> [value_at([x * graph.call("log", x + k)], at_zero, {"x": 0}) for k in (1, -1, 0)]
    ['value', 'outside', 'edge']
    """
    with flint.ctx.workprec(PRECISION):
        balls = {name: as_ball(low).union(as_ball(high)) for name, (low, high) in enclosure.items()}
    if all(ball.is_finite() for ball in _balls(list(nodes), balls)):
        return "value"
    found = {_met(demand, balls, place) for demand in demands(nodes)}
    return next((answer for answer in ("outside", "edge", "open") if answer in found), "value")


def demands(nodes: Sequence[Node]) -> list[Demand]:
    """What must hold where expressions have a value, inner ones first; a divisor has no ends, but must not vanish."""
    found: list[Demand] = []
    for node in graph.topological(nodes):
        if node.op == "mul":
            for base, exponent in node.args:
                if exponent.denominator != 1:
                    found.append((base, 0.0, math.inf, exponent > 0))
                elif exponent < 0:
                    found.append((base, -math.inf, math.inf, False))
        elif node.op == "tan":
            found.append((graph.call("cos", node.args[0]), -math.inf, math.inf, False))
        elif node.op in FUNCTIONS and FUNCTIONS[node.op].domain != (-math.inf, math.inf):
            found.append((node.args[0], *FUNCTIONS[node.op].domain, node.op in CLOSED))
    return found


def _met(demand: Demand, balls: Mapping[str, Any], place: Mapping[str, Any] | None) -> str:
    """Whether a demand is met: by a ball, and by exact signs where the ball leaves it open."""
    argument, low, high, closed = demand
    ends = [end for end in (low, high) if math.isfinite(end)]
    (ball,) = _balls([argument], balls)
    if ball.is_finite() and not any(ball.contains(flint.arb(end)) for end in ends or [0.0]):
        return "value" if low < ball < high or not ends else "outside"
    if place is None:
        return "open"
    try:
        signs = [sign_of(value) for value in values_at([argument - int(end) for end in ends or [0.0]], place)]
    except EquationError:
        return "open"
    if None in signs:
        return "open"
    if not ends:
        return "value" if signs[0] else "edge"
    if any(sign == (-1 if end == low else 1) for sign, end in zip(signs, ends, strict=True)):
        return "outside"
    return "value" if closed or 0 not in signs else "edge"


def _balls(nodes: list[Node], balls: Mapping[str, Any]) -> list[Any]:
    try:
        return ball_program(nodes, PRECISION)(balls)
    except ZeroDivisionError:
        return [flint.arb.nan()] * len(nodes)
