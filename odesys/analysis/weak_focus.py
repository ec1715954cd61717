r"""A linear centre in the plane, decided by its first Lyapunov coefficient.

With :math:`A q = i\omega q`, :math:`l A = i\omega l`, :math:`l q = 1` and the second and third derivatives B, C of the
field at the point,

.. math::  l_1 = \frac{1}{2\omega} \operatorname{Re}\bigl[ l\,C(q,q,\bar q) - 2\, l\,B(q, A^{-1}B(q,\bar q))
           + l\,B(\bar q, (2 i\omega - A)^{-1} B(q,q)) \bigr] ;

orbits spiral in where it is negative and out where it is positive (Andronov, Leontovich; Kuznetsov, Elements of Applied
Bifurcation Theory, section 3.5). Where it is zero nothing is decided.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import sympy as sp

from ..errors import EquationError
from ..expr import graph
from ..expr.system import System
from .dependency import checked_values, linear_part, values_at


def first_lyapunov(
    system: System, place: Mapping[str, Any], parameters: Mapping[str, Any] | None = None
) -> sp.Expr | None:
    """The coefficient (up to a positive factor) at a linear centre of a planar flow; None where there is none.

    >>> first_lyapunov(System.from_strings({"x": "y", "y": "-x - y^3"}), {"x": 0, "y": 0})
    -3/2
    """
    if system.dimension != 2 or system.kind != "flow" or system.surfaces:
        return None
    matrix = linear_part(system, place, parameters)
    square = sp.cancel(matrix.det())
    if matrix.has(sp.Float) or sp.cancel(matrix.trace()) != 0 or square.is_positive is not True:
        return None
    omega, (a, b, c, _) = sp.sqrt(square), matrix
    turn = sp.I * omega
    q, row = sp.Matrix([b, turn - a]), sp.Matrix([[c, turn - a]])
    symbols = [graph.sym(name) for name in system.names]
    known = checked_values(system, place, parameters or {})
    try:
        second = _derivatives(system, symbols, known, 2)
        third = _derivatives(system, symbols, known, 3)
    except EquationError:
        return None

    def form(table: Mapping[tuple[int, ...], sp.Matrix], *vectors: sp.Matrix) -> sp.Matrix:
        total = sp.zeros(2, 1)
        for places, value in table.items():
            total += sp.Mul(*(v[j] for v, j in zip(vectors, places, strict=True))) * value
        return total.applyfunc(sp.expand)

    other = sp.Matrix([b, -turn - a])
    still = form(second, q, matrix.inv() * form(second, q, other))
    double = form(second, other, (2 * turn * sp.eye(2) - matrix).inv() * form(second, q, q))
    total = (row * (form(third, q, q, other) - 2 * still + double))[0] / (row * q)[0]
    size = sp.expand(sp.radsimp(sp.expand(total)))
    return sp.radsimp(sp.expand(sp.re(size)) / (2 * omega * b**2))


def _derivatives(
    system: System, symbols: list[Any], known: Mapping[str, Any], order: int
) -> dict[tuple[int, ...], sp.Matrix]:
    """All derivatives of one order at a point, by the places of their variables."""
    table = {}
    for places in product(range(2), repeat=order):
        nodes = list(system.nodes)
        for j in places:
            nodes = [graph.gradient(node, [symbols[j]])[0] for node in nodes]
        table[places] = sp.Matrix(values_at(nodes, known))
    return table
