r"""Certified minima over boxes: ball arithmetic, pinned where a derivative has a sign, split where it has not.

.. math::  \phi_w(z) = c_0(z) + \sum_s w_s c_s(z), \qquad
           \min_Z \phi_w \ \ge\ \phi_w(\bar z) + \sum_j \nabla_j\phi_w(Z)\,(Z_j - \bar z_j) .

Enclosures come from outward-rounded balls (python-flint), so no rounding can break a lower end. Where a gate of the
field is undecided on a box the derivative is not used there: the field may jump.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import sympy as sp

from . import graph
from .errors import EquationError
from .graph import Node
from .region import Region
from .sympy_bridge import to_sympy

PRECISION = 64  # bits
COMBINATION_LIMIT = 4096
Vertex = dict[str, Fraction]
Point = Mapping[str, Fraction]
Corners = Mapping[tuple[str, ...], list[Vertex]]
Box = tuple[tuple[Fraction, Fraction], ...]


def ball(value: Fraction) -> Any:
    """The ball of an exact number."""
    return flint.arb(flint.fmpq(value.numerator, value.denominator))


def ends(value: Any) -> tuple[Fraction, Fraction] | None:
    """Both ends of a ball as exact fractions; None if the ball is not finite."""
    if not value.is_finite():
        return None
    low, high = (end.man_exp() for end in (value.lower(), value.upper()))
    return tuple(Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (low, high))  # type: ignore[return-value]


def value_at(node: Node, point: Mapping[str, Fraction]) -> tuple[Fraction, Fraction] | None:
    """Certified ends of a node at an exact point."""
    from .zero import ball_evaluate

    with flint.ctx.workprec(PRECISION):
        env = {name: ball(x) for name, x in point.items()}
    return ends(ball_evaluate([node], env, PRECISION)[0])


def rational_below(value: Any, digits: int = 12) -> Fraction:
    """A short rational number at or just below an exact one."""
    if isinstance(value, (Fraction, int)) or getattr(value, "is_Rational", False):
        exact = Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else Fraction(value)
        if exact.denominator < 10**digits:
            return exact
    else:
        exact = Fraction(str(value.evalf(2 * digits))) * (1 - Fraction(1, 10 ** (2 * digits - 2)))
    scale = Fraction(10) ** (digits - 1 - math.floor(math.log10(abs(exact)))) if exact else Fraction(1)
    return Fraction(math.floor(exact * scale)) / scale


@dataclass(eq=False)
class Family:
    """Linear combinations of the nodes c over one box of variables; the first node has weight one."""

    nodes: list[Node]
    variables: list[str]
    start: Box

    @cached_property
    def _derivatives(self) -> tuple[list[Node], int, list[list[int]]]:
        """Distinct derivatives followed by the switching surfaces, how many derivatives, and where each one sits."""
        rows = graph.jacobian(self.nodes, [graph.sym(name) for name in self.variables])
        place = {graph.ZERO: 0}
        for row in rows:
            for node in row.values():
                place.setdefault(node, len(place))
        table = [[place[row.get(j, graph.ZERO)] for j in range(len(self.variables))] for row in rows]
        return [*place, *graph.surfaces(self.nodes)], len(place), table

    def enclose(self, nodes: Sequence[Node], box: Box) -> list[Any]:
        """Balls that contain the nodes over a box."""
        from .zero import ball_evaluate

        with flint.ctx.workprec(PRECISION):
            env = {name: ball(low).union(ball(high)) for name, (low, high) in zip(self.variables, box, strict=True)}
        return ball_evaluate(nodes, env, PRECISION)

    def value(self, weights: Sequence[Fraction], box: Box) -> Any:
        """Ball of one combination over a box, by plain interval evaluation."""
        return _combine(self.enclose(self.nodes, box), weights)

    def bound(self, weights: Sequence[Fraction], box: Box) -> tuple[Fraction | None, int | None, tuple[Fraction, ...]]:
        """Certified lower bound over a box, the variable to split (None: it is attained), and the point it leans on."""
        nodes, count, table = self._derivatives
        found = self.enclose(nodes, box)
        slopes = [_combine([found[row[j]] for row in table], weights) for j in range(len(box))]
        smooth = all(surface > 0 or surface <= 0 for surface in found[count:])
        if not smooth or not all(slope.is_finite() for slope in slopes):
            share = [(high - low) / (h - l) if h > l else Fraction(0)
                     for (low, high), (l, h) in zip(box, self.start, strict=True)]
            plain = ends(self.value(weights, box))
            return plain and plain[0], share.index(max(share)), tuple((low + high) / 2 for low, high in box)
        pinned = tuple((low, low) if slope >= 0 else (high, high) if slope <= 0 else (low, high)
                       for slope, (low, high) in zip(slopes, box, strict=True))
        centre = tuple((low + high) / 2 for low, high in pinned)
        with flint.ctx.workprec(PRECISION):
            mean = self.value(weights, tuple((c, c) for c in centre))
            loss = [0.0] * len(box)
            for j, (low, high) in enumerate(pinned):
                if high > low:
                    mean += slopes[j] * (ball(low).union(ball(high)) - ball(centre[j]))
                    loss[j] = float(slopes[j].abs_upper()) * float(high - low)
        candidates = [ends(mean)] + ([ends(self.value(weights, pinned))] if any(loss) else [])
        lows = [candidate[0] for candidate in candidates if candidate is not None]
        return max(lows, default=None), loss.index(max(loss)) if any(loss) else None, centre


def _combine(parts: Sequence[Any], weights: Sequence[Fraction]) -> Any:
    with flint.ctx.workprec(PRECISION):
        return sum((part * ball(w) for part, w in zip(parts[1:], weights, strict=True)), parts[0])


@dataclass(frozen=True)
class Problem:
    """Minimise a combination of a family, divided by a positive number."""

    family: Family
    weights: tuple[Fraction, ...]
    divisor: Fraction = Fraction(1)

    def lower(self, box: Box) -> tuple[Fraction | None, int | None, tuple[Fraction, ...]]:
        """`Family.bound` divided by the divisor."""
        low, split, centre = self.family.bound(self.weights, box)
        return (None if low is None else low / self.divisor), split, centre

    def at(self, point: Sequence[Fraction]) -> tuple[Fraction, Fraction] | None:
        """Ends of the ball at one point."""
        found = ends(self.family.value(self.weights, tuple((x, x) for x in point)))
        return None if found is None else (found[0] / self.divisor, found[1] / self.divisor)

    def named(self, point: Sequence[Fraction]) -> dict[str, Fraction]:
        """A point by variable name."""
        return dict(zip(self.family.variables, point, strict=True))


@dataclass(frozen=True)
class Minimum:
    """Certified lower end of the least value, where the search leaned last, and whether it is attained there."""

    low: Fraction | None
    problem: Problem
    point: Mapping[str, Fraction]
    attained: bool
    boxes: int


Outside = Callable[[Mapping[str, tuple[Fraction, Fraction]]], bool]
Visit = Callable[[Problem, Mapping[str, Fraction]], None]


def _halves(box: Box, split: int) -> list[Box]:
    low, high = box[split]
    middle = (low + high) / 2
    return [(*box[:split], side, *box[split + 1 :]) for side in ((low, middle), (middle, high))]


def minimise(problems: Sequence[Problem], outside: Outside, visit: Visit, tolerance: Fraction, boxes: int) -> Minimum:
    """Least value over all problems and boxes, best first, until the enclosure is narrow or the boxes are spent.

    `outside` may discard a box that does not meet the region; `visit` sees the points the search leans on.
    """
    heap: list[Any] = []
    seen: Fraction | None = None
    used = 0

    def push(k: int, box: Box, parent: Fraction | None) -> None:
        nonlocal seen, used
        problem = problems[k]
        if outside(dict(zip(problem.family.variables, box, strict=True))):
            return
        low, split, centre = problem.lower(box)
        used += 1
        visit(problem, problem.named(centre))
        here = problem.at(centre)
        if here is not None and (seen is None or here[1] < seen):
            seen = here[1]
        if low is None or (parent is not None and low < parent):
            low = parent
        rank = (low is not None, low or 0)
        heapq.heappush(heap, (rank, used, k, box, low, split, centre))

    for k, problem in enumerate(problems):
        push(k, problem.family.start, None)
    while heap:
        _, _, k, box, low, split, centre = heap[0]
        narrow = low is not None and seen is not None and seen - low <= tolerance * abs(seen)
        if split is None or narrow or used >= boxes:
            return Minimum(low, problems[k], problems[k].named(centre), split is None, used)
        heapq.heappop(heap)
        for half in _halves(box, split):
            push(k, half, low)
    raise EquationError("the region is empty: its conditions leave no box")


def prove_at_least(problem: Problem, level: Fraction, outside: Outside, visit: Visit, boxes: int) -> bool:
    """Whether the problem is proved to be >= `level` on its whole box within the given number of boxes."""
    stack, used = [problem.family.start], 0
    while stack:
        box = stack.pop()
        if outside(dict(zip(problem.family.variables, box, strict=True))):
            continue
        low, split, centre = problem.lower(box)
        used += 1
        if low is not None and low >= level:
            continue
        visit(problem, problem.named(centre))
        if split is None or used >= boxes:
            return False
        stack += _halves(box, split)
    return True


# ---- rows and their vertices ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class Row:
    """F_i as c_0(z) + sum of c_s(z) s, with its row of the matrix and the vertices of the region in the linear role."""

    name: str
    node: Node
    slopes: dict[str, Node]
    weights: dict[str, Fraction]
    generators: list[Vertex]
    family: Family
    symbols: Mapping[str, sp.Expr]

    def beta(self, point: Point) -> Fraction:
        """This row of A x_S at a point."""
        return sum((a * point[s] for s, a in self.weights.items()), Fraction(0))

    def problem(self, vertex: Vertex) -> Problem:
        """The row at one vertex as a function of z, divided by its row of A x_S where that is positive."""
        beta = self.beta(vertex)
        return Problem(self.family, tuple(vertex[s] for s in self.slopes), beta if beta > 0 else Fraction(1))

    def exact(self, vertex: Vertex) -> sp.Expr:
        """The row at one vertex, where it does not depend on z."""
        first, *rest = self.family.nodes
        total = first + graph.combine((vertex[s], c) for s, c in zip(self.slopes, rest, strict=True))
        return to_sympy(total, self.symbols)


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


def row_of(name: str, node: Node, weights: dict[str, Fraction], region: Region, corners: Corners,
           symbols: Mapping[str, sp.Expr]) -> Row:
    """Write a right-hand side as a row: `symbols` are the user's own, with their assumptions."""
    tied = [s for group in corners for s in group]
    parts: dict[str, list[Node]] = {}
    rest: list[Node] = []
    _split(node, {s: k + (0 if s in weights else len(tied)) for k, s in enumerate(tied)}, parts, rest)
    slopes, constant = {s: graph.add(terms) for s, terms in parts.items()}, graph.add(rest)
    used = set(slopes) | set(weights)
    groups = [group for group in corners if used & set(group)]
    zero = {s: Fraction(0) for group in groups for s in group}
    # if the row is homogeneous and zero is allowed, groups decouple, and one point of each ray is enough
    cone = constant is graph.ZERO and all(region.contains_zero(group) for group in groups)
    if not cone and math.prod(len(corners[group]) for group in groups) > COMBINATION_LIMIT:
        raise EquationError(f"the bound of {name} needs more than {COMBINATION_LIMIT} combinations of vertices; "
                            f"tie fewer states to the block")
    every = [corners[group] for group in groups]
    generators: dict[Any, Vertex] = {}
    for choice in ((v,) for vertices in every for v in vertices) if cone else itertools.product(*every):
        vertex = {s: x for part in choice for s, x in part.items()}
        seen = {s: x for s, x in vertex.items() if s in used}
        size = max((abs(x) for x in seen.values()), default=Fraction(0)) if cone else Fraction(1)
        if size or not cone:
            generators.setdefault(tuple((s, x / size) for s, x in seen.items()), {**zero, **vertex})
    names = sorted(graph.symbols([constant, *slopes.values()]) & set(region.box))
    ranges = {s: (min(v[s] for v in vs), max(v[s] for v in vs)) for group, vs in corners.items() for s in group}
    family = Family([constant, *slopes.values()], names, tuple(ranges.get(s, region.box[s]) for s in names))
    return Row(name, node, slopes, weights, list(generators.values()), family, symbols)
