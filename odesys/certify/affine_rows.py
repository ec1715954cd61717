r"""Rows of a linear lower bound: :math:`F_i = c_0(z) + \sum_s c_s(z)\,s`, with the vertices of a region in the role s.

A row that is linear in some states takes its least value over them at a vertex, so that only z needs boxes.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import sympy as sp

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy
from .box_search import Objective, Point
from .region import Ranges, Region

COMBINATION_LIMIT = 4096
Vertex = dict[str, Fraction]
Corners = Mapping[tuple[str, ...], list[Vertex]]


@dataclass(eq=False)
class AffineRow:
    """F_i as c_0(z) + sum of c_s(z) s, with its row of the matrix and the vertices of the region in the linear role."""

    name: str
    node: Node
    constant: Node
    slopes: dict[str, Node]
    weights: dict[str, Fraction]
    generators: list[Vertex]
    ranges: Ranges  # of z; empty if all coefficients are constant
    symbols: Mapping[str, sp.Expr]

    def beta(self, point: Point) -> Fraction:
        """This row of A x_S at a point."""
        return sum((a * point[s] for s, a in self.weights.items()), Fraction(0))

    def at(self, vertex: Vertex) -> Node:
        """The row at one vertex as an expression in z."""
        return self.constant + graph.combine((vertex[s], c) for s, c in self.slopes.items())

    def objective(self, vertex: Vertex) -> Objective:
        """The row at one vertex, divided by its row of A x_S where that is positive."""
        beta = self.beta(vertex)
        return Objective(self.at(vertex), self.ranges, beta if beta > 0 else Fraction(1))

    def exact(self, vertex: Vertex) -> sp.Expr:
        """The row at one vertex, where it does not depend on z."""
        return to_sympy(self.at(vertex), self.symbols)


def row_of(
    name: str,
    node: Node,
    weights: dict[str, Fraction],
    region: Region,
    corners: Corners,
    symbols: Mapping[str, sp.Expr],
) -> AffineRow:
    """Write a right-hand side as a row: `symbols` are the user's own, with their assumptions."""
    parts: dict[str, list[Node]] = {}
    rest: list[Node] = []
    _split(node, _ranks(corners, weights), parts, rest)
    slopes, constant = {s: graph.add(terms) for s, terms in parts.items()}, graph.add(rest)
    # if the row is homogeneous and zero is allowed, tied states decouple, and one point of each ray is enough
    used, rays = set(slopes) | set(weights), constant is graph.ZERO
    generators, _ = generators_of(name, used, rays, region, corners)
    names = sorted(graph.symbols([constant, *slopes.values()]) & set(region.box))
    extent = extents(corners)
    ranges = {s: extent.get(s, region.box[s]) for s in names}
    return AffineRow(name, node, constant, slopes, weights, generators, ranges, symbols)


def generators_of(
    name: str, used: Collection[str], rays: bool, region: Region, corners: Corners
) -> tuple[list[Vertex], bool]:
    """The vertices a row has to be looked at, as far as it sees them; one per ray, and True, if that is enough."""
    used_ties = [tied for tied in corners if set(used) & set(tied)]
    zero = {s: Fraction(0) for tied in used_ties for s in tied}
    cone = rays and all(region.contains_zero(tied) for tied in used_ties)
    if not cone and math.prod(len(corners[tied]) for tied in used_ties) > COMBINATION_LIMIT:
        raise EquationError(
            f"the bound of {name} needs more than {COMBINATION_LIMIT} combinations of vertices; "
            f"tie fewer states to the block"
        )
    every = [corners[tied] for tied in used_ties]
    generators: dict[Any, Vertex] = {}
    for choice in ((v,) for vertices in every for v in vertices) if cone else itertools.product(*every):
        vertex = {s: x for part in choice for s, x in part.items()}
        seen = {s: x for s, x in vertex.items() if s in used}
        size = max((abs(x) for x in seen.values()), default=Fraction(0)) if cone else Fraction(1)
        if size or not cone:
            generators.setdefault(tuple((s, x / size) for s, x in seen.items()), {**zero, **vertex})
    return list(generators.values()), cone


def extents(corners: Corners) -> dict[str, tuple[Fraction, Fraction]]:
    """The smallest box around the vertices."""
    return {s: (min(v[s] for v in vs), max(v[s] for v in vs)) for tied, vs in corners.items() for s in tied}


def _ranks(corners: Corners, weights: Collection[str]) -> dict[str, int]:
    """Which state is taken out of a product first: those of the row of the matrix, then the others."""
    states = [s for tied in corners for s in tied]
    return {s: k + (0 if s in weights else len(states)) for k, s in enumerate(states)}


def _split(node: Node, linear: Mapping[str, int], slopes: dict[str, list[Node]], rest: list[Node]) -> None:
    """Distribute the terms of a row: one linear state is taken out of each product that has one."""
    for c, term in node.args if node.op == "add" else ((Fraction(1), node),):
        factors = dict(term.args) if term.op == "mul" else {term: Fraction(1)}
        whole = [b for b, e in factors.items() if e >= 1 and e.denominator == 1]
        states = [b for b in whole if b.op == "sym" and b.args[0] in linear]
        sums = [b for b, e in factors.items() if b.op == "add" and e == 1 and graph.symbols([b]) & set(linear)]
        if states:
            best = min(states, key=lambda b: linear[b.args[0]])
            others = [graph.power(b, e - (b is best)) for b, e in factors.items()]
            slopes.setdefault(best.args[0], []).append(graph.scale(graph.multiply(*others), c))
        elif sums and term.op == "mul":
            others = [graph.power(b, e) for b, e in factors.items() if b is not sums[0]]
            for inner, part in sums[0].args:
                _split(graph.scale(graph.multiply(part, *others), c * inner), linear, slopes, rest)
        else:
            rest.append(graph.scale(term, c))


def role(state: str) -> Node:
    """The symbol of a state in the linear role."""
    return graph.sym(f"{state}'")


def with_roles(node: Node, corners: Corners, weights: Collection[str]) -> Node:
    """A row as it stands, with the states in the linear role marked where they occur; affine in the marked ones.

    >>> x, y = graph.sym("x"), graph.sym("y")
    >>> marked = with_roles(x * graph.exp(x) - x * y, {("x",): [], ("y",): []}, ["x"])
    >>> marked is role("x") * graph.exp(x) - role("x") * y
    True
    """
    return _mark(node, _ranks(corners, weights))


def _mark(node: Node, linear: Mapping[str, int]) -> Node:
    """The choices of `_split`; a product is only multiplied out if two of its sums hold states in the linear role."""
    terms = []
    for c, term in node.args if node.op == "add" else ((Fraction(1), node),):
        factors = dict(term.args) if term.op == "mul" else {term: Fraction(1)}
        whole = [b for b, e in factors.items() if e >= 1 and e.denominator == 1]
        states = [b for b in whole if b.op == "sym" and b.args[0] in linear]
        sums = [b for b, e in factors.items() if b.op == "add" and e == 1 and graph.symbols([b]) & set(linear)]
        others = [graph.power(b, e) for b, e in factors.items() if not sums or b is not sums[0]]
        if states:
            best = min(states, key=lambda b: linear[b.args[0]])
            term = graph.multiply(role(best.args[0]), *(graph.power(b, e - (b is best)) for b, e in factors.items()))
        elif term.op == "mul" and len(sums) == 1:
            term = graph.multiply(_mark(sums[0], linear), *others)
        elif term.op == "mul" and sums:
            term = graph.combine((inner, _mark(graph.multiply(part, *others), linear)) for inner, part in sums[0].args)
        terms.append((c, term))
    return graph.combine(terms)
