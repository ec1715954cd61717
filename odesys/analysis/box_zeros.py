r"""All zeros of a smooth field in a box: branch and prune with balls, and Krawczyk's test for existence and uniqueness.

.. math::  K(X) = m - Y F(m) + (I - Y F'(X)) (X - m): \qquad
           K(X) \cap X = \emptyset \Rightarrow \text{no zero in } X, \qquad
           K(X) \subset \operatorname{int} X \Rightarrow \text{exactly one.}

Every box ends as excluded, as the home of one zero, or as undecided; nothing is lost in between.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import numpy as np

from ..exact.balls import Interval, as_ball, ball_endpoints, ball_program, has_endpoints
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node

PRECISION = 64  # bits of the search; a zero is then refined with more
FINE_PRECISION = 192
BOXES = 6000  # looked at before the rest is left undecided
CONTRACTIONS = 60  # of a box that is known to hold one zero
TINY = 2.0**-400  # a middle this near to zero is taken as zero
SMALLEST = 1e-9  # a box this narrow, relative to where it is, is not cut again
MOST_UNDECIDED = 12  # boxes listed; more of them become one

Box = tuple[tuple[float, float], ...]


@dataclass(frozen=True)
class BoxZeros:
    """Balls around the zeros, boxes that are undecided, and how many boxes were looked at."""

    zeros: tuple[tuple[Any, ...], ...]
    undecided: tuple[tuple[Interval, ...], ...]
    looked: int


def box_zeros(
    nodes: Sequence[Node],
    names: Sequence[str],
    box: Sequence[Interval],
    limit: int = BOXES,
    apart: Sequence[tuple[Node, Node]] = (),
) -> BoxZeros:
    """All zeros of as many smooth expressions as names in a box, each certified to be there and to be the only one.

    Nothing is said of a box where both expressions of a pair in `apart` may vanish: what was divided by the first of
    them before may have other zeros there.

    >>> x = graph.sym("x")
    >>> found = box_zeros([graph.exp(-x) - x], ["x"], [(Fraction(-5), Fraction(5))])
    >>> [round(float(z.mid()), 9) for z, in found.zeros], found.undecided
    ([0.56714329], ())
    """
    field = _Field(nodes, names, apart)
    stack: list[Box] = [tuple((_down(a), _up(b)) for a, b in box)]
    zeros: list[tuple[list[Any], list[Any]]] = []  # fine balls, and the box where each is the only zero
    undecided: list[Box] = []
    looked = 0
    while stack:
        current = stack.pop()
        if looked >= limit:
            undecided.append(current)
            continue
        looked += 1
        outcome = field.look(current)
        if outcome is None:
            continue
        if isinstance(outcome, _Unique):
            if not field.record(outcome, zeros):
                undecided.append(current)
        elif all(b - a <= SMALLEST * max(1.0, abs(a), abs(b)) for a, b in outcome):
            undecided.append(outcome)
        else:
            stack += field.halves(outcome)
    inside = [fine for fine, _ in zeros if all(_may_contain(i, x) for i, x in zip(box, fine, strict=True))]
    left = [b for b in undecided if not any(_within(b, alone) for _, alone in zeros)]
    return BoxZeros(tuple(tuple(z) for z in inside), tuple(_merged(left)), looked)


@dataclass(frozen=True)
class _Unique:
    """A box with exactly one zero, as balls."""

    balls: list[Any]


class _Field:
    """A field with its Jacobian and the limits of its domain, over balls."""

    def __init__(self, nodes: Sequence[Node], names: Sequence[str], apart: Sequence[tuple[Node, Node]] = ()) -> None:
        self.names = list(names)
        count = len(nodes)
        everything = with_sigmoids([*nodes, *(node for pair in apart for node in pair)])
        everything, self.removable = _without_removable(everything)
        nodes, pairs = everything[:count], everything[count:]
        self.apart = ball_program(pairs, PRECISION) if pairs else None
        atoms = [graph.sym(r.name) for r in self.removable]
        rows = graph.jacobian(nodes, [*(graph.sym(name) for name in names), *atoms])
        for k, r in enumerate(self.removable):  # the chain rule
            j = self.names.index(r.variable)
            for row in rows:
                if len(names) + k in row:
                    more = graph.multiply(row.pop(len(names) + k), graph.sym(r.slope_name))
                    row[j] = graph.add([row[j], more]) if j in row else more
        self.places = [(i, j) for i, row in enumerate(rows) for j in row]
        slopes = [rows[i][j] for i, j in self.places]
        self.ranges = domain_limits([*nodes, *slopes])
        arguments = [node for node, _, _ in self.ranges]
        size, self.parts = len(names), (len(nodes), len(slopes))
        self.size = size
        self.programs: dict[int, Callable[[Mapping[str, Any]], list[Any]]] = {
            p: ball_program([*nodes, *slopes, *arguments], p) for p in (PRECISION, FINE_PRECISION)
        }
        self.values: dict[int, Callable[[Mapping[str, Any]], list[Any]]] = {
            p: ball_program(list(nodes), p) for p in (PRECISION, FINE_PRECISION)
        }

    def at(self, balls: Sequence[Any], precision: int) -> tuple[list[Any], Any, list[Any]]:
        """Values, Jacobian and arguments with a limited domain, over balls."""
        try:
            values = self.programs[precision](self.env(balls, precision))
        except ZeroDivisionError:
            values = [flint.arb.nan()] * (sum(self.parts) + len(self.ranges))
        count, slopes = self.parts
        matrix = flint.arb_mat(self.size, self.size)
        for (i, j), value in zip(self.places, values[count : count + slopes], strict=True):
            matrix[i, j] = value
        return values[:count], matrix, values[count + slopes :]

    def env(self, balls: Sequence[Any], precision: int) -> dict[str, Any]:
        """States, and quotients with a removable singularity."""
        env = dict(zip(self.names, balls, strict=True))
        for r in self.removable:
            env[r.name], env[r.slope_name] = r.at(env[r.variable], precision)
        return env

    def value(self, point: Sequence[Any], precision: int) -> list[Any]:
        """Values at a point."""
        try:
            return self.values[precision](self.env(point, precision))
        except ZeroDivisionError:
            return [flint.arb.nan()] * self.parts[0]

    def look(self, box: Box) -> Box | _Unique | None:
        """None if the box has no zero; where it has exactly one; or what is left of the box."""
        for _ in range(8):
            with flint.ctx.workprec(PRECISION):
                balls = [flint.arb(a).union(flint.arb(b)) for a, b in box]
                values, matrix, arguments = self.at(balls, PRECISION)
                outside = any(a < low or a > high for a, (_, low, high) in zip(arguments, self.ranges, strict=True))
                if outside:
                    return None
                if self.may_degenerate(balls):
                    return box
                if any(v.is_finite() and not v.contains(0) for v in values):
                    return None
                image = self.krawczyk(balls, matrix, PRECISION)
            if image is None or not all(has_endpoints(k) for k in image):
                return box
            if all(x.contains_interior(k) for x, k in zip(balls, image, strict=True)):
                return _Unique(balls)
            new = []
            for (a, b), k in zip(box, image, strict=True):
                low, high = ball_endpoints(k)
                ends = (max(a, _down(low)), min(b, _up(high)))
                if ends[0] > ends[1]:
                    return None
                new.append(ends)
            gain = max((b - a) / (d - c) if d > c else math.inf for (a, b), (c, d) in zip(box, new, strict=True))
            box = tuple(new)
            if gain < 1.3:
                return box
        return box

    def may_degenerate(self, balls: Sequence[Any]) -> bool:
        """Whether both expressions of a pair may vanish somewhere in a box."""
        if self.apart is None:
            return False
        try:
            values = self.apart(self.env(balls, PRECISION))
        except ZeroDivisionError:
            return True
        open_values = [not v.is_finite() or v.contains(0) for v in values]
        return any(a and b for a, b in zip(open_values[::2], open_values[1::2], strict=True))

    def krawczyk(self, balls: Sequence[Any], matrix: Any, precision: int) -> list[Any] | None:
        """The image of Krawczyk's operator, None where it is not defined."""
        entries = np.array([[float(matrix[i, j].mid()) for j in range(self.size)] for i in range(self.size)])
        if not np.isfinite(entries).all() or not all(e.is_finite() for e in matrix.entries()):
            return None
        try:
            near = np.linalg.inv(entries)
        except np.linalg.LinAlgError:
            return None
        if not np.isfinite(near).all():
            return None
        middle = [x.mid() for x in balls]
        here = self.value(middle, precision)
        if not all(v.is_finite() for v in here):
            return None
        y = flint.arb_mat(near.tolist())
        step = y * flint.arb_mat([[v] for v in here])
        gap = flint.arb_mat(np.eye(self.size).tolist()) - y * matrix
        spread = gap * flint.arb_mat([[x - m] for x, m in zip(balls, middle, strict=True)])
        return [m - step[i, 0] + spread[i, 0] for i, m in enumerate(middle)]

    def record(self, unique: _Unique, zeros: list[tuple[list[Any], list[Any]]]) -> bool:
        """Refine a zero and add it unless it is known; False where two zeros can not be told apart."""
        with flint.ctx.workprec(FINE_PRECISION):
            fine = self.refined(unique.balls)
            for other, alone in zeros:
                if all(x.overlaps(o) for x, o in zip(fine, other, strict=True)):
                    return all(a.contains(x) for a, x in zip(alone, fine, strict=True)) or all(
                        a.contains(x) for a, x in zip(unique.balls, other, strict=True)
                    )
        zeros.append((fine, list(unique.balls)))
        return True

    def refined(self, balls: list[Any]) -> list[Any]:
        """A much smaller box around the only zero of a box: Krawczyk's images, Newton's method, and the test again."""
        balls = self.contracted(balls)
        middle = [x.mid() for x in balls]
        for _ in range(60):
            matrix, here = self.at(middle, FINE_PRECISION)[1], self.value(middle, FINE_PRECISION)
            try:
                step = matrix.mid().solve(flint.arb_mat([[v.mid()] for v in here]))
            except ZeroDivisionError:
                return balls
            new = [(m - step[i, 0]).mid() for i, m in enumerate(middle)]
            if not all(x.is_finite() and b.contains(x) for x, b in zip(new, balls, strict=True)):
                new = [((m + b.mid()) / 2).mid() for m, b in zip(middle, balls, strict=True)]  # it left the box
            small = max(abs(float(n - m)) for n, m in zip(new, middle, strict=True)) < 2.0**-100
            middle = new
            if small:
                break
        middle = [m if abs(m) > TINY else flint.arb(0) for m in middle]  # 2^(-10^7) can not be written out
        for bits in (FINE_PRECISION - 32, FINE_PRECISION // 2, FINE_PRECISION // 4):
            near = [m + flint.arb(0, flint.arb(2) ** -bits * max(1.0, abs(float(m)))) for m in middle]
            image = self.krawczyk(near, self.at(near, FINE_PRECISION)[1], FINE_PRECISION)
            inside = image is not None and all(x.contains_interior(k) for x, k in zip(near, image, strict=True))
            if inside and all(b.contains(x) for b, x in zip(balls, near, strict=True)):
                return near
        return balls

    def contracted(self, balls: list[Any]) -> list[Any]:
        """What Krawczyk's images leave of a box with one zero: each holds it, where Newton's method may run away."""
        for _ in range(CONTRACTIONS):
            image = self.krawczyk(balls, self.at(balls, FINE_PRECISION)[1], FINE_PRECISION)
            if image is None or not all(k.is_finite() and x.overlaps(k) for x, k in zip(balls, image, strict=True)):
                return balls
            new = [x.intersection(k) for x, k in zip(balls, image, strict=True)]
            if not any(float(n.rad()) < 0.9 * float(x.rad()) for n, x in zip(new, balls, strict=True)):
                return balls
            balls = new
        return balls

    def halves(self, box: Box) -> list[Box]:
        """The box cut where it is widest, relative to where it is."""
        j = max(range(self.size), key=lambda k: (box[k][1] - box[k][0]) / max(1.0, abs(box[k][0]), abs(box[k][1])))
        a, b = box[j]
        # a little off the middle, so that zeros at round numbers do not lie on the cut
        cut = a + (b - a) * 0.4857
        if a < -1.0 and b > 1.0 and b - a > 40.0:  # across the origin first, then away from it by factors
            cut = 0.0137
        elif a > 1.0 and b > 4.0 * a:
            cut = math.sqrt(a * b)
        elif b < -1.0 and a < 4.0 * b:
            cut = -math.sqrt(a * b)
        return [(*box[:j], ends, *box[j + 1 :]) for ends in ((a, cut), (cut, b))]


@dataclass(frozen=True, eq=False)
class _Removable:
    r"""A quotient :math:`g/b` of functions of one variable that both vanish at a rational point.

    By Cauchy's mean value theorem :math:`g(v)/b(v) = g'(\xi)/b'(\xi)` with :math:`\xi` between the two, so a ball that
    holds the point still has a finite image.
    """

    name: str
    variable: str
    place: Fraction
    above: Node
    below: Node

    @property
    def slope_name(self) -> str:
        """The name of its derivative."""
        return f"{self.name}'"

    @cached_property
    def _programs(self) -> dict[int, Callable[[Mapping[str, Any]], list[Any]]]:
        symbol = graph.sym(self.variable)
        slopes = [graph.gradient(node, [symbol])[0] for node in (self.above, self.below)]
        return {p: ball_program([self.above, self.below, *slopes], p) for p in (PRECISION, FINE_PRECISION)}

    def at(self, ball: Any, precision: int) -> tuple[Any, Any]:
        """The quotient and its derivative over a ball."""
        g, b, dg, db = self._programs[precision]({self.variable: ball})
        if ball.contains(flint.arb(flint.fmpq(self.place.numerator, self.place.denominator))):
            return dg / db, flint.arb.nan()
        return g / b, (dg * b - g * db) / (b * b)


def _without_removable(nodes: Sequence[Node]) -> tuple[list[Node], list[_Removable]]:
    """Expressions with quotients such as x / (1 - exp(-x)) as symbols, and what these stand for."""
    found: dict[tuple[Node, Node], _Removable] = {}
    memo: dict[Node, Node] = {}
    for node in graph.topological(nodes):
        powers = dict(node.args) if node.op == "mul" else {}
        new = graph.ONE
        for below in [b for b, e in powers.items() if e <= -1 and e.denominator == 1 and b.op == "add"]:
            for above in [g for g, e in powers.items() if e >= 1 and e.denominator == 1]:
                place = _common_zero(above, below)
                times = min(powers[above], -powers[below])
                if place is not None and times > 0:
                    key = (above, below)
                    if key not in found:
                        (variable,) = graph.symbols([above])
                        found[key] = _Removable(f"@quotient{len(found)}", variable, place, above, below)
                    new = graph.multiply(new, graph.power(graph.sym(found[key].name), times))
                    powers[above] -= times
                    powers[below] += times
        rest = [graph.power(memo[b], e) for b, e in powers.items() if e]
        memo[node] = graph.multiply(new, *rest) if node.op == "mul" else graph.rebuild(node, memo.__getitem__)
    return [memo[node] for node in nodes], list(found.values())


def with_sigmoids(nodes: Sequence[Node]) -> list[Node]:
    r"""Expressions with quotients of exponentials as sigmoids, whose image of a wide ball is narrow.

    .. math::  e^{m z} (a + b\,e^z)^{-k} = a^{m-k} b^{-m}\, \sigma(z - s)^m\, \sigma(s - z)^{k-m},
               \qquad s = \log(a/b), \quad a, b > 0, \quad 0 \le m \le k.
    """
    memo: dict[Node, Node] = {}
    for node in graph.topological(nodes):
        memo[node] = graph.rebuild(node, memo.__getitem__)
        if node.op == "mul":
            memo[node] = _with_sigmoids([(memo[base], exponent) for base, exponent in node.args])
    return [memo[node] for node in nodes]


def _with_sigmoids(powers: Sequence[tuple[Node, Fraction]]) -> Node:
    """A product of powers, with those of a + b e^z that divide it as sigmoids, and e^z above them as well."""
    left = dict(powers)
    found = [graph.ONE]
    for base, exponent in powers:
        sum_of = _number_and_exponential(base) if exponent < 0 and exponent.denominator == 1 else None
        if sum_of is None:
            continue
        (a, b, z), k = sum_of, -int(exponent)
        m = 0
        for sign in (1, -1):  # e^z is one over e^(-z)
            grown = graph.exp(sign * z)
            count = left.get(grown, Fraction(0)) * sign
            if grown.op == "exp" and count >= 1 and count.denominator == 1:
                m = min(k, int(count))
                left[grown] -= m * sign
                break
        shift = graph.call("log", graph.num(a / b)) if a != b else graph.ZERO
        del left[base]
        found += [
            graph.power(graph.num(a), Fraction(m - k)),
            graph.power(graph.num(b), Fraction(-m)),
            graph.power(graph.call("sigmoid", z - shift), Fraction(m)),
            graph.power(graph.call("sigmoid", shift - z), Fraction(k - m)),
        ]
    return graph.multiply(*found, *(graph.power(base, e) for base, e in left.items() if e))


def _number_and_exponential(base: Node) -> tuple[Any, Any, Node] | None:
    """The numbers a, b > 0 and the expression z of a + b e^z, None for anything else."""
    terms = graph.linear_terms(base) if base.op == "add" else []
    numbers = [c for c, term in terms if term is graph.ONE]
    grown = [(c, z) for c, term in terms if (z := _logarithm(term)) is not None]
    if len(terms) != 2 or not numbers or not grown:
        return None
    (a,), ((b, z),) = numbers, grown
    return None if isinstance(a, float) or isinstance(b, float) or a <= 0 or b <= 0 else (a, b, z)


def _logarithm(node: Node) -> Node | None:
    """The sum in an exponential or a product of exponentials, None for anything else."""
    powers = node.args if node.op == "mul" else ((node, 1),)
    if any(base.op != "exp" for base, _ in powers):
        return None
    return graph.combine((power, base.args[0]) for base, power in powers)


def _common_zero(above: Node, below: Node) -> Fraction | None:
    """The rational zero of an affine expression of one symbol, if the other expression of it vanishes there too."""
    names = graph.symbols([above])
    if len(names) != 1 or graph.symbols([below]) != names:
        return None
    symbol = graph.sym(next(iter(names)))
    slope = graph.gradient(above, [symbol])[0]
    if slope.op != "num" or isinstance(slope.args[0], float):
        return None
    constant = graph.substitute([above], {symbol: graph.ZERO})[0]
    if constant.op != "num" or isinstance(constant.args[0], float):
        return None
    place = -constant.args[0] / slope.args[0]
    try:
        value = graph.substitute([below], {symbol: graph.num(place)})[0]
    except ZeroDivisionError:
        return None
    return place if value is graph.ZERO or zero_test(value).answer == "zero" else None


def domain_limits(nodes: Sequence[Node]) -> list[tuple[Node, Any, Any]]:
    """Arguments with the ends of the domain they must lie in: of logarithms, roots and inverse functions."""
    found: dict[Node, tuple[float, float]] = {}
    for node in graph.topological(nodes):
        if node.op == "mul":
            for base, exponent in node.args:
                if exponent.denominator != 1:
                    found[base] = (0.0, math.inf)
        elif node.op in FUNCTIONS and FUNCTIONS[node.op].domain != (-math.inf, math.inf):
            found[node.args[0]] = FUNCTIONS[node.op].domain
    limits = [(node, flint.arb(low), flint.arb(high)) for node, (low, high) in found.items() if node.op != "num"]
    return [(node, low, high) for node, low, high in limits]


def _down(value: Any) -> float:
    try:
        number = float(value)
    except OverflowError:  # longer than any float
        return -math.inf if value < 0 else sys.float_info.max
    return number if Fraction(number) <= value else math.nextafter(number, -math.inf)


def _up(value: Any) -> float:
    return -_down(-value)


def _may_contain(interval: Interval, ball: Any) -> bool:
    if not has_endpoints(ball):
        return not (ball < as_ball(interval[0]) or ball > as_ball(interval[1]))
    low, high = ball_endpoints(ball)
    return bool(low <= interval[1] and high >= interval[0])


def _within(box: Box, alone: Sequence[Any]) -> bool:
    return all(x.contains(flint.arb(a)) and x.contains(flint.arb(b)) for x, (a, b) in zip(alone, box, strict=True))


def _merged(boxes: Sequence[Box]) -> list[tuple[Interval, ...]]:
    """Boxes that touch as one box around them."""
    groups: list[list[tuple[float, float]]] = []
    for box in boxes:
        merged = list(box)
        again = True
        while again:
            again = False
            for group in groups:
                if all(a <= d and c <= b for (a, b), (c, d) in zip(merged, group, strict=True)):
                    groups.remove(group)
                    merged = [(min(a, c), max(b, d)) for (a, b), (c, d) in zip(merged, group, strict=True)]
                    again = True
                    break
        groups.append(merged)
    if len(groups) > MOST_UNDECIDED:
        ends = zip(*groups, strict=True)
        groups = [[(min(a for a, _ in column), max(b for _, b in column)) for column in ends]]
    return [tuple((Fraction(a), Fraction(b)) for a, b in group) for group in groups]
