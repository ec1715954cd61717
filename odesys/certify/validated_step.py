"""One step of a validated integration: Picard's test, the spread of solutions, ranges of Taylor polynomials."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint

from ..exact.balls import as_ball, ball_around, coefficient, series_program
from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node
from ..expr.system import TIME

_ROUGH_BITS = 64
_PICARD_ROUNDS = 12


def picard(start: Sequence[Any], h: Fraction, slopes: Callable[..., tuple[list[Any], ...]]) -> list[Any] | None:
    """A box that passes Picard's test, or None; raises where a gate is undecided."""
    span = ball_around(Fraction(0), h)
    box = list(start)
    for _ in range(_PICARD_ROUNDS):
        image = [x + span * c[1] for x, c in zip(start, slopes(box), strict=True)]
        if not all(i.is_finite() for i in image):
            return None
        if all(b.contains(i) for b, i in zip(box, image, strict=True)):
            return box
        with flint.ctx.workprec(_ROUGH_BITS):
            box = [i + flint.arb(0, 1) * (i.rad() / 8 + flint.arb(2) ** -_ROUGH_BITS) for i in image]
    return None


Guard = tuple[Node, float, float, str]  # an argument, the ends it must lie between, and what it is the argument of


def domain_guards(nodes: Sequence[Node]) -> list[Guard]:
    """Arguments that must stay strictly inside a domain: of logarithms, roots and inverse functions; divisors."""
    found: dict[Node, Guard] = {}
    for node in graph.topological(nodes):
        for base, exponent in node.args if node.op == "mul" else ():
            if exponent.denominator > 1 and base.op != "num":
                found[base] = (base, 0.0, math.inf, "a fractional power")
            elif exponent < 0 and base.op not in ("num", "exp"):
                found.setdefault(base, (base, math.nan, math.nan, "a divisor"))
        if node.op in FUNCTIONS and FUNCTIONS[node.op].domain != (-math.inf, math.inf):
            found[node.args[0]] = (node.args[0], *FUNCTIONS[node.op].domain, node.op)
    return list(found.values())


def outside_domain(
    guards: Sequence[Guard],
    parameters: Mapping[str, Any],
    names: Sequence[str],
    box: Sequence[Any],
    time: Fraction,
    h: Fraction,
) -> str:
    """What may leave its domain somewhere in a box; empty if nothing does."""
    env = {**parameters, **dict(zip(names, box, strict=True)), TIME: ball_around(time, time + h)}
    values = series_program(tuple(node for node, *_ in guards), flint.ctx.prec)(env) if guards else []
    for (_, low, high, what), value in zip(guards, values, strict=True):
        ball = coefficient(value, 0)
        inside = not ball.contains(0) if math.isnan(low) else flint.arb(low) < ball < flint.arb(high)
        if not (ball.is_finite() and inside):
            return f"{what} is not defined on all of the box: its argument lies in {ball.str(6)}"
    return ""


def spread(slopes: Sequence[Mapping[int, Node]], env: Mapping[str, Any], h: Fraction, radii: Sequence[Any]) -> Any:
    r"""How far solutions in the rough box can be apart after `h`: :math:`e^{hM} r` with the Metzler matrix M.

    Row i of M bounds row i of the Jacobian over the box, by states and uncertain parameters: the diagonal from above,
    the other entries by absolute value, each with a quarter more as room for a checker.
    """
    values = iter(series_program(tuple(node for row in slopes for node in row.values()), flint.ctx.prec)(env))
    matrix = flint.arb_mat(len(radii), len(radii))
    for i, row in enumerate(slopes):
        for j in row:
            slope = coefficient(next(values), 0)
            matrix[i, j] = as_ball(h) * ((slope if i == j else abs(slope)).upper() + abs(slope).upper() / 4)
    grown = matrix.exp() * flint.arb_mat([[r] for r in radii])
    return [grown[i, 0].upper() for i in range(len(slopes))]


def widen(x: Any, rest: Any, most: Any) -> Any:
    """Room for a checker that finds the box in another way: part of the radius, of the widest spread, of the rest."""
    room = x.rad() / 32 + most / 2048 + 3 * abs(rest).upper() + flint.arb(2) ** (8 - flint.ctx.prec)
    return x + flint.arb(0, 1) * room


def polynomial_range(model: Sequence[Any], a: Fraction, b: Fraction) -> Any:
    """A ball that holds the polynomial `model` on [a, b]: mean-value form and direct evaluation, intersected."""
    whole = ball_around(a, b)
    direct = horner(model, whole)
    if a == b or not direct.is_finite():
        return direct
    middle = as_ball((a + b) / 2)
    slope = horner([k * c for k, c in enumerate(model)][1:], whole)
    return direct.intersection(horner(model, middle) + slope * (whole - middle))


def horner(model: Sequence[Any], x: Any) -> Any:
    """The polynomial with coefficients `model` at x."""
    total = flint.arb(0)
    for c in reversed(model):
        total = total * x + c
    return total
