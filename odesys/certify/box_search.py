r"""Certified minima over boxes: ball arithmetic, pinned where a derivative has a sign, split where it has not.

.. math::  f(x) \ \ge\ f(\bar x) + \sum_j \nabla_j f(X)\,(X_j - \bar x_j), \qquad
           \nabla_j f(X) \subseteq \nabla_j f(\bar x) + \sum_k \nabla^2_{jk} f(X)\,(X_k - \bar x_k) .

Enclosures come from outward-rounded balls (python-flint), so no rounding can break a lower end. Where a gate of the
field is undecided on a box the derivative is not used there: the field may jump. Linear conditions of a region shrink
every box before it is looked at; variables that enter only through a sum are hidden in it
(`odesys.certify.hidden_sums`).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

import flint

from ..errors import EquationError
from ..exact.balls import Program, as_ball, ball_around, ball_program, has_endpoints
from ..expr import graph
from ..expr.graph import Node
from .hidden_sums import separate
from .region import Ranges, Region

PRECISION = 64  # bits
SECOND_ORDER_LIMIT = 12  # variables up to which second derivatives are worth their price
NARROW = Fraction(1, 10**8)  # a range that is never worth splitting
CORNER_BOXES = 8  # boxes to look for a corner that is the exact minimum, even if the enclosure is narrow before
PART_BOXES, PART_TOLERANCE = 40, Fraction(1, 20)
Point = Mapping[str, Fraction]


# ---- balls and rationals -------------------------------------------------------------------------------------------


def ends(value: Any) -> tuple[Fraction, Fraction] | None:
    """Both ends of a ball as exact fractions; None if the ball is not finite, or nearly so."""
    if not has_endpoints(value):
        return None
    low, high = (end.man_exp() for end in (value.lower(), value.upper()))
    return tuple(Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (low, high))  # type: ignore[return-value]


def value_at(node: Node, point: Point) -> tuple[Fraction, Fraction] | None:
    """Certified ends of a node at an exact point."""
    return ends(_over((node,), {name: (x, x) for name, x in point.items()})[0])


def _over(nodes: Sequence[Node], box: Ranges) -> list[Any]:
    """Balls that hold the nodes over a box."""
    with flint.ctx.workprec(PRECISION):
        env = {
            name: as_ball(low) if low == high else as_ball(low).union(as_ball(high))
            for name, (low, high) in box.items()
        }
    return _program(tuple(nodes))(env)


@lru_cache(maxsize=1024)
def _program(nodes: tuple[Node, ...]) -> Program:
    return ball_program(nodes, PRECISION)


def rational_below(value: Any, digits: int = 12) -> Fraction:
    """A short rational number at or just below an exact one."""
    if isinstance(value, (Fraction, int)) or getattr(value, "is_Rational", False):
        exact = Fraction(int(value.p), int(value.q)) if hasattr(value, "p") else Fraction(value)
        if exact.denominator < 10**digits:
            return exact
    else:
        near = Fraction(str(value.evalf(2 * digits)))
        exact = near - abs(near) / 10 ** (2 * digits - 2)
    scale = Fraction(10) ** (digits - 1 - math.floor(math.log10(abs(exact)))) if exact else Fraction(1)
    return Fraction(math.floor(exact * scale)) / scale


# ---- one expression over boxes -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bound:
    """Lower end over a box (None: not finite), the variable to split (None: nothing to gain), and the leaning point."""

    low: Fraction | None
    split: str | None
    point: dict[str, Fraction]


@dataclass(eq=False)
class Objective:
    """An expression over a box of variables, divided by a positive number; `hiding` chooses what is hidden in sums."""

    node: Node
    start: Ranges
    divisor: Fraction = Fraction(1)
    coarse: bool = False  # hide all that can be hidden
    hiding: tuple[Node, dict[str, Node]] | None = None

    def __post_init__(self) -> None:
        used = graph.symbols([self.node])
        self.start = {name: ends for name, ends in self.start.items() if name in used}
        narrow = {name for name, (low, high) in self.start.items() if high - low <= NARROW}
        fine = separate(self.node, narrow, self.coarse) if self.hiding is None else self.hiding
        self.outer, hidden = fine
        self.parts = {name: _part(part, tuple(self.start.items())) for name, part in hidden.items()}
        self.variables = sorted(graph.symbols([self.outer]) - narrow)
        self.narrow = narrow & graph.symbols([self.outer])
        self._known: dict[Any, tuple[tuple[Fraction, Fraction], dict[str, Fraction], dict[str, Fraction]]] = {}

    @cached_property
    def _negative(self) -> Objective:
        return Objective(-self.node, self.start)

    @cached_property
    def _blurred(self) -> Objective:
        return Objective(self.node, self.start, self.divisor, coarse=True)

    @cached_property
    def _slopes(self) -> list[Node]:
        return graph.gradient(self.outer, [graph.sym(name) for name in self.variables])

    @cached_property
    def _bends(self) -> dict[tuple[int, int], Node]:
        """Second derivatives j <= k; none if there are too many variables."""
        if len(self.variables) > SECOND_ORDER_LIMIT:
            return {}
        rows = graph.jacobian(self._slopes, [graph.sym(name) for name in self.variables])
        return {(j, k): node for j, row in enumerate(rows) for k, node in row.items() if j <= k}

    @cached_property
    def _surfaces(self) -> list[Node]:
        return graph.surfaces([self.outer])

    def at(self, point: Point) -> tuple[Fraction, Fraction] | None:
        """Certified ends at one point."""
        found = value_at(self.node, {name: point[name] for name in self.start})
        return None if found is None else (found[0] / self.divisor, found[1] / self.divisor)

    def range(self, box: Ranges) -> tuple[tuple[Fraction, Fraction], dict[str, Fraction], dict[str, Fraction]]:
        """Certified ends over a box, narrow but not sharp, and the points where the least and largest value are."""
        key = tuple(box[name] for name in self.start)
        if key not in self._known:
            here = {name: box[name] for name in self.start}
            both = (self, self._negative)
            least, most = (minimise([side], None, PART_TOLERANCE, PART_BOXES, start=here) for side in both)
            if least.low is None or most.low is None:
                raise EquationError("a sum inside an expression has no finite range on a box")
            self._known[key] = (least.low, -most.low), dict(least.point), dict(most.point)
        return self._known[key]

    def bound(self, box: Ranges) -> Bound:
        """Certified lower bound over a box; the first, widest one is seen without what can be hidden."""
        free = self.parts and not self.coarse and self.hiding is None
        if free and all(box[name] == ends for name, ends in self.start.items()):
            return self._blurred.bound(box)
        hidden = {name: part.range(box)[0] for name, part in self.parts.items()}
        whole = {name: hidden[name] if name in hidden else box[name] for name in self.variables}
        thin = {name: box[name] for name in self.narrow}
        n, bends = len(self.variables), self._bends
        found = _over([*self._slopes, *bends.values(), *self._surfaces], whole | thin)
        slopes, curves = found[:n], dict(zip(bends, found[n:], strict=False))
        smooth = all(surface > 0 or surface <= 0 for surface in found[n + len(bends) :])
        if not smooth or not all(slope.is_finite() for slope in slopes):
            plain = ends(_over([self.outer], whole | thin)[0])
            middle = {name: (low + high) / 2 for name, (low, high) in whole.items()}
            return Bound(plain and plain[0] / self.divisor, self._widest(box), self._lift(middle, middle, box))
        slopes = self._sharper(slopes, curves, whole, thin)
        pinned = {
            name: (low, low) if slope >= 0 else (high, high) if slope <= 0 else (low, high)
            for slope, (name, (low, high)) in zip(slopes, whole.items(), strict=True)
        }
        centre = {name: (low + high) / 2 for name, (low, high) in pinned.items()}
        middle, *tilts = _over([self.outer, *self._slopes], {name: (x, x) for name, x in centre.items()} | thin)
        with flint.ctx.workprec(PRECISION):
            away = [
                as_ball(low - centre[name]).union(as_ball(high - centre[name])) for name, (low, high) in pinned.items()
            ]
            candidates = [middle + sum((s * d for s, d in zip(slopes, away, strict=True)), flint.arb(0))]
            if curves:
                second = middle + sum((s * d for s, d in zip(tilts, away, strict=True)), flint.arb(0))
                for (j, k), curve in curves.items():  # as a product, for a power of a ball around zero is no number
                    second += curve * away[j] * away[k] / (2 if j == k else 1)
                candidates.append(second)
        if any(high > low for low, high in pinned.values()):
            candidates += _over([self.outer], pinned | thin)
        lows = [found[0] for found in map(ends, candidates) if found is not None]
        point = self._lift(centre, dict(zip(self.variables, slopes, strict=True)), box)
        low = max(lows) / self.divisor if lows else None
        return Bound(low, self._worst(slopes, pinned, whole, box), point)

    def _sharper(
        self,
        slopes: list[Any],
        curves: Mapping[tuple[int, int], Any],
        whole: Ranges,
        thin: dict[str, tuple[Fraction, Fraction]],
    ) -> list[Any]:
        """First derivatives over the box from those at its middle and the second ones over the box."""
        if not curves or not all(curve.is_finite() for curve in curves.values()):
            return slopes
        at = _over(self._slopes, {name: ((low + high) / 2,) * 2 for name, (low, high) in whole.items()} | thin)
        with flint.ctx.workprec(PRECISION):
            away = [ball_around((low - high) / 2, (high - low) / 2) for low, high in whole.values()]
            for (j, k), curve in curves.items():
                at[j] += curve * away[k]
                if j != k:
                    at[k] += curve * away[j]
            return [a.intersection(b) for a, b in zip(slopes, at, strict=True)]

    def _worst(self, slopes: Sequence[Any], pinned: Ranges, whole: Ranges, box: Ranges) -> str | None:
        """The variable whose range costs most: among those not pinned, else among all that can be split."""
        open_ones: dict[str, float] = {}
        closed: dict[str, float] = {}
        for name, slope in zip(self.variables, slopes, strict=True):
            low, high = whole[name]
            if high - low > NARROW and name not in self.parts:
                cost = float(slope.abs_upper()) * float(high - low)
                (open_ones if pinned[name][1] > pinned[name][0] else closed)[name] = cost
        if open_ones:
            return max(open_ones, key=lambda name: open_ones[name])
        return max(closed, key=lambda name: closed[name], default=self._widest(box))

    def _widest(self, box: Ranges) -> str | None:
        share = {
            name: (box[name][1] - box[name][0]) / (high - low)
            for name, (low, high) in self.start.items()
            if high > low and box[name][1] - box[name][0] > NARROW
        }
        return max(share, key=lambda name: share[name], default=None)

    def _lift(self, point: Mapping[str, Fraction], slopes: Mapping[str, Any], box: Ranges) -> dict[str, Fraction]:
        """A point with the hidden variables put where their sum is least or largest, as its slope asks for."""
        full = {name: low for name, (low, _) in box.items() if name in self.narrow}
        full |= {name: x for name, x in point.items() if name not in self.parts}
        for name, part in self.parts.items():
            _, least, most = part.range(box)
            full |= least if slopes[name] >= 0 else most
        return full


@lru_cache(maxsize=256)
def _part(node: Node, start: tuple[tuple[str, tuple[Fraction, Fraction]], ...]) -> Objective:
    """A hidden sum, shared by all expressions that hide it, so that its ranges are found once."""
    return Objective(node, dict(start))


# ---- the search ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Minimum:
    """Certified lower end of the least value, the least value seen, and the point that the lower end leans on."""

    low: Fraction | None
    seen: Fraction | None
    objective: Objective
    point: Mapping[str, Fraction]
    attained: bool
    boxes: int


Visit = Callable[[Objective, Mapping[str, Fraction]], None]


def _halves(box: Ranges, split: str) -> list[dict[str, tuple[Fraction, Fraction]]]:
    low, high = box[split]
    middle = (low + high) / 2
    return [{**box, split: side} for side in ((low, middle), (middle, high))]


def minimise(
    objectives: Sequence[Objective],
    region: Region | None,
    tolerance: Fraction,
    boxes: int,
    visit: Visit | None = None,
    enough: Callable[[Fraction | None], bool] | None = None,
    start: Ranges | None = None,
) -> Minimum:
    """Least value over all objectives and boxes, best first, until the enclosure is narrow or the boxes are spent.

    Boxes are cut down to the region; `visit` sees the points of the region that the search leans on; `enough` may end
    the search at a lower end; `start` is a smaller box to search than the objectives' own.
    """
    heap: list[Any] = []
    seen: tuple[Fraction, Objective, Mapping[str, Fraction]] | None = None
    used = 0

    def push(objective: Objective, ranges: Ranges, parent: Fraction | None) -> None:
        nonlocal seen, used
        box = ranges if region is None else region.shrink(ranges)
        if box is None:
            return
        found = objective.bound(box)
        used += 1
        middle = {name: (low + high) / 2 for name, (low, high) in box.items()}
        point = found.point if region is None else region.between(middle, found.point)
        inside = point == found.point
        here = None if point is None else objective.at(point)
        if visit is not None:
            visit(objective, found.point if point is None else point)
        if here is not None and point is not None and (seen is None or here[1] < seen[0]):
            seen = here[1], objective, point
        low = parent if found.low is None or (parent is not None and found.low < parent) else found.low
        rank = (low is not None, low or 0)
        heapq.heappush(heap, (rank, used, objective, box, low, found.split, found.point, inside))

    for objective in objectives:
        push(objective, objective.start if start is None else start, None)
    while heap:
        _, _, objective, box, low, split, point, inside = heap[0]
        value = None if seen is None else seen[0]
        narrow = low is not None and value is not None and value - low <= tolerance * abs(value)
        corner = inside and low is not None and _exactly(objective, point, low)
        settled = narrow or (enough is not None and enough(low))
        if split is None or corner or used >= boxes or (settled and used >= CORNER_BOXES):
            return Minimum(low, value, objective, point, corner, used)
        heapq.heappop(heap)
        for half in _halves(box, split):
            push(objective, half, low)
    raise EquationError("the region is empty: its conditions leave no box")


def _exactly(objective: Objective, point: Mapping[str, Fraction], low: Fraction) -> bool:
    """Whether a lower end is the value at a point, up to the width of a ball."""
    here = objective.at(point)
    return here is not None and here[0] <= low + (here[1] - here[0])


def prove_at_least(
    objective: Objective,
    level: Fraction,
    region: Region | None,
    boxes: int,
    visit: Visit | None = None,
    trail: list[dict[str, Any]] | None = None,
) -> bool:
    """Whether the objective is proved to be >= `level` on its whole box within the given number of boxes.

    `trail` receives the boxes looked at, each before its parts and the upper part first: what was split and where, or
    the ranges of hidden sums the proof rests on, or no box where the conditions leave nothing.
    """
    stack, used = [dict(objective.start)], 0
    while stack:
        box = stack.pop() if region is None else region.shrink(stack.pop())
        entry: dict[str, Any] = {"box": box}
        if trail is not None:
            trail.append(entry)
        if box is None:
            continue
        found = objective.bound(box)
        used += 1
        if found.low is not None and found.low >= level:
            entry["hidden"] = {name: part.range(box)[0] for name, part in objective.parts.items()}
            continue
        if visit is not None:
            visit(objective, found.point)
        if found.split is None or used >= boxes:
            return False
        halves = _halves(box, found.split)
        entry |= {"split": found.split, "at": halves[0][found.split][1]}
        stack += halves
    return True
