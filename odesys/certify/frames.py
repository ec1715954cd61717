r"""Frames that turn with the flow (Lohner): a set :math:`c + Q r` with an orthogonal matrix in place of a box.

.. math::  x(h) \in \varphi(c) + A\,(x - c), \qquad A \supseteq D\varphi(X), \qquad
           A Q \approx Q' R, \quad r' = (Q'^{-1} A Q)\,r + Q'^{-1}(\varphi(c) - c') .

A is the solution of the variational equation over the tight box, by its Taylor series with a remainder over the rough
one. A box that only rotates stays as narrow as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint
import numpy as np

from ..exact.balls import as_ball, ball_around, coefficient, series_program, solution_series
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import System
from .validated_step import horner

SLACK = 2.0**-12  # of the radii, added to them after each step
ORDER = 10  # of the variational series


@dataclass(frozen=True, eq=False)
class Frame:
    """The set c + Q r: a point, an orthogonal matrix up to rounding, and balls around zero."""

    centre: tuple[Any, ...]
    matrix: Any  # flint.arb_mat with exact entries
    radii: tuple[Any, ...]

    @classmethod
    def of(cls, box: Sequence[Any]) -> Frame:
        """The frame of a box."""
        size = len(box)
        identity = flint.arb_mat([[int(i == j) for j in range(size)] for i in range(size)])
        return cls(tuple(x.mid() for x in box), identity, tuple(x - x.mid() for x in box))


class Variation:
    """The variational equation of a system, as a program over series."""

    def __init__(self, system: System, precision: int) -> None:
        size = system.dimension
        rows = graph.jacobian(system.nodes, [graph.sym(name) for name in system.names])
        entries = [[graph.sym(f"@v{i}_{j}") for j in range(size)] for i in range(size)]
        slopes = [
            graph.add(graph.multiply(slope, entries[k][j]) for k, slope in rows[i].items())
            for i in range(size)
            for j in range(size)
        ]
        self.size, self.names = size, [*system.names, *(e.args[0] for row in entries for e in row)]
        self.program = series_program((*system.nodes, *slopes), precision)
        self.places = [(i, j) for i, row in enumerate(rows) for j in row]
        self.slopes: tuple[Node, ...] = tuple(rows[i][j] for i, j in self.places)
        self.slope_program = series_program(self.slopes, precision)

    def over(
        self, parameters: Mapping[str, Any], tight: Sequence[Any], rough: Sequence[Any], time: Fraction, h: Fraction
    ) -> Any:
        """A matrix of balls around the derivative of the flow over `h`, for all starts in the tight box."""
        size, span = self.size, ball_around(time, time + h)
        env = {**parameters, **dict(zip(self.names, rough, strict=False)), "t": span}
        bound = flint.arb_mat(size, size)
        for (i, j), value in zip(self.places, self.slope_program(env), strict=True):
            bound[i, j] = abs(coefficient(value, 0)).upper() * as_ball(h)
        grown = bound.exp()
        start, wide = [], []
        for i in range(size):
            for j in range(size):
                unit = flint.arb(int(i == j))
                start.append(unit)
                wide.append(unit + flint.arb(0, 1) * (grown[i, j] - unit).upper())
        first = solution_series(self.program, self.names, parameters, [*tight, *start], as_ball(time), ORDER)
        last = solution_series(self.program, self.names, parameters, [*rough, *wide], span, ORDER + 1)
        flat = [horner([*first[size + k], last[size + k][ORDER]], as_ball(h)) for k in range(size * size)]
        return flint.arb_mat([[flat[i * size + j] for j in range(size)] for i in range(size)])


def turned(frame: Frame, image: Sequence[Any], derivative: Any) -> tuple[Frame, list[Any]]:
    """The frame after a step, from the image of its centre and the derivative of the flow; and the box around it."""
    size = len(image)
    centre = [x.mid() for x in image]
    radii = flint.arb_mat([[r] for r in frame.radii])
    error = flint.arb_mat([[x - c] for x, c in zip(image, centre, strict=True)])
    moved = derivative * frame.matrix
    direct = moved * radii + error
    middle = np.array([[float(moved[i, j].mid()) for j in range(size)] for i in range(size)])
    lengths = np.linalg.norm(middle, axis=0) * [float(r.rad()) for r in frame.radii]
    order = np.argsort(-lengths, kind="stable")  # the longest edge keeps its direction
    box = [c + direct[i, 0] for i, c in enumerate(centre)]
    if not np.isfinite(middle).all():
        return Frame.of(box), box
    orthogonal, _ = np.linalg.qr(middle[:, order])
    matrix = flint.arb_mat(orthogonal.tolist())
    try:
        back = matrix.inv()
    except ZeroDivisionError:
        return Frame.of(box), box
    new = (back * moved) * radii + back * error
    most = max((new[i, 0].rad() for i in range(size)), key=float)
    for i in range(size):  # a little wider, so that one who computes it in another way comes to lie inside
        new[i, 0] = flint.arb(0, 1) * (abs(new[i, 0]).upper() * (1 + SLACK) + most * SLACK)
    frame = Frame(tuple(centre), matrix, tuple(new[i, 0] for i in range(size)))
    around = matrix * new
    spread = [direct[i, 0] * (1 + SLACK) + flint.arb(0, 1) * most * SLACK for i in range(size)]
    box = [c + s for c, s in zip(centre, spread, strict=True)]
    narrow = [b.intersection(c + around[i, 0]) for i, (b, c) in enumerate(zip(box, centre, strict=True))]
    return frame, narrow
