"""Equilibria in a box: branch and prune after what is linear has been eliminated, with simple exact numbers tested."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import flint
import sympy as sp

from ..errors import EquationError
from ..exact.balls import Interval, as_ball, ball_endpoints, ball_program, has_endpoints
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy_many
from ..expr.system import System
from .box_zeros import box_zeros
from .dependency import sign_of, values_at
from .rest_sets import EVERYWHERE, Continuum, Ends, Equilibria, Equilibrium, Undecided, in_order
from .undefined import demands, value_at, where_undefined

HIGHEST_ORDER = 6  # of a repeated zero of one equation
MOST_CHOICES = 16  # of a factor of each equation
NO_VALUE = {
    "edge": "an equation has no value at a zero of what is left of it",
    "open": "an equation is not known to have a value at a zero of what is left of it",
}


def searched_equilibria(
    system: System,
    nodes: Sequence[Node],
    touching: Sequence[Node],
    sides: Mapping[Node, int],
    asked: Mapping[str, Interval],
) -> Equilibria:
    """Branch and prune: after eliminating what is linear, as written, factor by factor; the best answer counts."""
    try:
        return _searched(system, nodes, touching, sides, asked)
    except ZeroDivisionError as problem:
        said = where_undefined(system, nodes)
        raise EquationError(said or f"the equations can not be searched for zeros: {problem}") from problem


def _searched(
    system: System,
    nodes: Sequence[Node],
    touching: Sequence[Node],
    sides: Mapping[Node, int],
    asked: Mapping[str, Interval],
) -> Equilibria:
    answers = []
    for eliminate in (True, False):
        answers.append(_search(system, [*nodes, *touching], sides, asked, eliminate))
        if answers[-1].complete:
            return answers[-1]
    split = None if touching else _factor_by_factor(system, nodes, sides, asked)
    if split is not None and split.complete:
        return split
    answers += [] if split is None else [split]
    return min(answers, key=lambda a: (-len(a.points), len(a.undecided)))


def _factor_by_factor(
    system: System, nodes: Sequence[Node], sides: Mapping[Node, int], asked: Mapping[str, Interval]
) -> Equilibria | None:
    """The zeros of one factor of each product, for all choices; None where there are no products, or a continuum."""
    factors = [_factors(node, set(system.names)) for node in nodes]
    if all(some == [node] for some, node in zip(factors, nodes, strict=True)):
        return None
    if math.prod(map(len, factors)) > MOST_CHOICES:
        return None
    size = _scale(nodes)
    box = {name: asked.get(name, (-size, size)) for name in system.names}
    points: list[Equilibrium] = []
    left: list[Undecided] = []
    for choice in product(*factors):
        tried = [_search(system, choice, sides, box, eliminate) for eliminate in (True, False)]
        found = min(tried, key=lambda a: (not a.complete, -len(a.points), len(a.undecided)))
        if found.families:
            return None
        left += found.undecided
        for e in found.points:
            one = _of_the_whole(e, nodes)
            if one is None:
                continue
            if isinstance(one, Undecided):
                left.append(one)
            elif any(other.point == one.point and one.evidence == "proof" for other in points):
                continue
            elif any(_touch(one.enclosure, other.enclosure) for other in points):
                left.append(Undecided("two zeros are not told apart", dict(one.enclosure)))
            else:
                points.append(one)
    return Equilibria(in_order(points, system), (), tuple(left), dict(box))


def _factors(node: Node, states: set[str]) -> list[Node]:
    """The factors of an expression that contain states and do not divide it; itself where it is no product."""
    (_, term), *more = graph.linear_terms(node)
    if more or term.op != "mul":
        return [node]
    return [base for base, exponent in term.args if exponent > 0 and graph.symbols([base]) & states] or [node]


def _of_the_whole(e: Equilibrium, nodes: Sequence[Node]) -> Equilibrium | Undecided | None:
    """A zero of factors as one of the equations: these have a value there; simple where slopes say so.

    None where it lies outside of their domain.
    """
    answer = _value_at(nodes, e)
    if answer != "value":
        return None if answer == "outside" else Undecided(NO_VALUE[answer], dict(e.enclosure))
    simple = _is_simple(nodes, e.enclosure)
    if simple is None:
        return Undecided("an equation may have no value at a zero of its factors", dict(e.enclosure))
    return e if simple else replace(e, multiplicity=None)


def _is_simple(nodes: Sequence[Node], enclosure: Mapping[str, Interval]) -> bool | None:
    """Whether the Jacobian is regular over an enclosure; None where the equations or their slopes are not bounded."""
    names = sorted(graph.symbols(nodes))
    rows = graph.jacobian(nodes, [graph.sym(name) for name in names])
    slopes = [row.get(j, graph.ZERO) for row in rows for j in range(len(names))]
    balls = {name: as_ball(low).union(as_ball(high)) for name, (low, high) in enclosure.items()}
    try:
        values = ball_program([*nodes, *slopes], 192)(balls)
    except ZeroDivisionError:
        return None
    if not all(value.is_finite() for value in values):
        return None
    matrix = [values[len(nodes) + len(names) * i :][: len(names)] for i in range(len(nodes))]
    return len(names) == len(nodes) and not flint.arb_mat(matrix).det().contains(0)


def _touch(one: Mapping[str, Interval], other: Mapping[str, Interval]) -> bool:
    return all(a[0] <= other[name][1] and other[name][0] <= a[1] for name, a in one.items())


def _search(
    system: System, nodes: Sequence[Node], sides: Mapping[Node, int], asked: Mapping[str, Interval], eliminate: bool
) -> Equilibria:
    whole = list(nodes)
    fixed, nodes = ([], whole) if sides else _fixed_states(system, nodes, asked)
    solved, nodes, divided = _linear_states(system, nodes) if eliminate else ([], list(nodes), [])
    solved += fixed
    slopes = [slope for slope, _ in divided]
    apart = [(slope, rest) for slope, rest in divided if graph.symbols([slope]) and _may_vanish(rest)]
    gone = {name for name, _ in solved}
    names = [name for name in system.names if name not in gone]
    nodes = [node for node in dict.fromkeys(nodes) if node is not graph.ZERO]
    size = _scale(nodes)
    ranges: list[Interval] = [asked.get(name, (-size, size)) for name in names]
    box: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    box |= dict(zip(names, ranges, strict=True))
    if len(nodes) != len(names):
        return _not_square(system, solved, nodes, names, box, sides, apart, whole)
    found = box_zeros(nodes, names, ranges, apart=apart) if names else None
    zeros = found.zeros if found else ((),)
    left = [
        Undecided("this box is neither excluded nor known to hold one zero", dict(zip(names, u, strict=True)))
        for u in (found.undecided if found else ())
    ]
    back = ball_program([*(value for _, value in solved), *slopes, *sides], 192)
    points = []
    for zero in zeros:
        env = dict(zip(names, zero, strict=True))
        ordered: dict[str, Any] = dict(env)
        for name, value in reversed(solved):
            ordered[name] = ball_program([value], 192)(ordered)[0]
        later = back(ordered)[len(solved) :]
        divisors, walls = later[: len(slopes)], later[len(slopes) :]
        enclosure = {name: ball_endpoints(ordered[name]) for name in system.names if has_endpoints(ordered[name])}
        if len(enclosure) < system.dimension or any(d.contains(0) for d in divisors):
            left.append(Undecided("the equation of an eliminated state degenerates at a zero", enclosure))
            continue
        if any((w < 0 if sign > 0 else w > 0) for w, sign in zip(walls, sides.values(), strict=True)):
            continue
        if any(not (w > 0 or w < 0) for w in walls):
            left.append(Undecided("a zero is not known to be on its side of a switching surface", enclosure))
            continue
        if any(enclosure[n][1] < low or enclosure[n][0] > high for n, (low, high) in asked.items()):
            continue
        point = _named(system, nodes, solved, enclosure)
        answer = _value_at(whole, point)  # what was put in may have cancelled a term that has none
        if answer != "value":
            left += [] if answer == "outside" else [Undecided(NO_VALUE[answer], enclosure)]
            continue
        if fixed and not _is_simple(whole, enclosure):
            point = replace(point, multiplicity=None)
        points.append(point)
    open_boxes, left = left, []
    for u in open_boxes:
        repeated = _repeated(u, nodes[0], names[0]) if len(names) == 1 and not solved and not sides and u.box else None
        if repeated is not None:
            points.append(repeated)
        else:
            left.append(_known(u, nodes, names, solved, whole))
    return Equilibria(in_order(points, system), (), tuple(left), box)


def _value_at(nodes: Sequence[Node], point: Equilibrium) -> str:
    """Whether equations have a value at a point: x log(x) is no field at zero, though it has a limit."""
    return value_at(nodes, point.enclosure, point.point if point.evidence == "proof" else None)


def _scale(nodes: Sequence[Node]) -> Fraction:
    """How far the search goes by default: ten times the largest number in the equations, as a power of ten."""
    sizes = [1.0]
    for node in graph.topological(nodes):
        numbers = [c for c, _ in node.args] if node.op == "add" else node.args if node.op == "num" else ()
        sizes += [abs(float(c)) for c in numbers]
    return Fraction(10) ** min(max(1, 1 + math.ceil(math.log10(max(sizes)) - 1e-9)), 5)


def _fixed_states(
    system: System, nodes: Sequence[Node], asked: Mapping[str, Interval]
) -> tuple[list[tuple[str, Node]], list[Node]]:
    """States whose range is one number, where as many equations vanish on this slice; the others, on the slice.

    A box without an interior can not be seen to hold a zero, however small it is cut.
    """
    fixed = [(name, graph.num(low)) for name, (low, high) in asked.items() if low == high]
    try:
        cut = graph.substitute(list(nodes), {graph.sym(name): value for name, value in fixed})
    except ZeroDivisionError:
        return [], list(nodes)
    left = [node for node in cut if node is not graph.ZERO and zero_test(node).answer != "zero"] if fixed else cut
    return (fixed, left) if fixed and len(nodes) - len(left) == len(fixed) else ([], list(nodes))


def _linear_states(
    system: System, nodes: Sequence[Node]
) -> tuple[list[tuple[str, Node]], list[Node], list[tuple[Node, Node]]]:
    """States that an equation contains only linearly, as functions of the others; what is left; slopes with the rests.

    Where a slope vanishes together with its rest, the state is free, and nothing may be concluded: what was found with
    its help is not known there. So a state on which such a slope depends is not eliminated after it, and where its rest
    depends on one that is, the slope alone must not vanish.
    """
    solved: list[tuple[str, Node]] = []
    divided: list[tuple[Node, Node]] = []
    left = [node for node in nodes if node is not graph.ZERO]
    while True:
        best: tuple[tuple[int, bool, int], str, Node, Node] | None = None
        needed = graph.symbols([slope for slope, rest in divided if _may_vanish(rest)])
        for node in left:
            for name in sorted(graph.symbols([node]) - needed):
                (slope,) = graph.gradient(node, [graph.sym(name)])
                if name in graph.symbols([slope]):
                    continue
                doubtful = bool(graph.symbols([slope])) and _may_vanish(_at_zero(node, name))
                key = (len(graph.symbols([slope])), doubtful, len(graph.topological([node])))
                if best is None or key < best[0]:
                    best = (key, name, node, slope)
        if best is None:
            return solved, left, divided
        _, name, used, slope = best
        try:
            rest = _at_zero(used, name)
            value = graph.multiply(graph.num(-1), rest, graph.power(slope, Fraction(-1)))
            new = graph.substitute([n for n in left if n is not used], {graph.sym(name): value})
        except ZeroDivisionError:
            return solved, left, divided
        divided = [(s, graph.ZERO if name in graph.symbols([r]) else r) for s, r in divided]
        divided.append((slope, rest))
        solved.append((name, value))
        left = [n for n in new if n is not graph.ZERO]


def _at_zero(node: Node, name: str) -> Node:
    return graph.substitute([node], {graph.sym(name): graph.ZERO})[0]


def _may_vanish(node: Node) -> bool:
    return node.op != "num" or node is graph.ZERO


def _named(
    system: System, nodes: Sequence[Node], solved: Sequence[tuple[str, Node]], enclosure: Mapping[str, Interval]
) -> Equilibrium:
    """A certified zero, with exact numbers where simple ones pass an exact test."""
    guess = {name: _simple(ends) for name, ends in enclosure.items()}
    exact: dict[str, Any] = {name: value for name, value in guess.items() if value is not None}
    for name, value in reversed(solved):
        if name not in exact and graph.symbols([value]) <= set(exact):
            (exact[name],) = values_at([value], exact)
    if len(exact) == len(enclosure):
        place = {name: exact[name] for name in system.names}
        lines = [graph.sym(name) - value for name, value in solved]
        if all(sign_of(value) == 0 for value in values_at([*nodes, *lines], place)):
            return Equilibrium(place, "proof", dict(enclosure))
    return Equilibrium({n: float(sum(enclosure[n]) / 2) for n in system.names}, "certificate", dict(enclosure))


def _simple(ends: Interval, largest: int = 10_000) -> sp.Expr | None:
    """A simple number in a narrow interval, rational or a rational multiple of pi."""
    middle = (ends[0] + ends[1]) / 2
    near = middle.limit_denominator(largest)
    if ends[0] <= near <= ends[1]:
        return sp.Rational(near.numerator, near.denominator)
    with flint.ctx.workprec(192):
        turns = ball_endpoints(as_ball(ends[0]).union(as_ball(ends[1])) / flint.arb.pi())
    near = ((turns[0] + turns[1]) / 2).limit_denominator(largest // 10)
    return sp.pi * sp.Rational(near.numerator, near.denominator) if turns[0] <= near <= turns[1] else None


def _known(
    u: Undecided, nodes: Sequence[Node], names: Sequence[str], solved: Sequence[tuple[str, Node]], whole: Sequence[Node]
) -> Undecided:
    """An undecided box with the simple exact zero in it, if there is one and the whole equations have a value there."""
    guess = {name: _simple(ends, 1000) for name, ends in u.box.items()}
    if set(guess) != set(names) or None in guess.values():
        return u
    try:
        zero = all(sign_of(value) == 0 for value in values_at(nodes, guess))
        place, balls = dict(guess), {name: as_ball(low).union(as_ball(high)) for name, (low, high) in u.box.items()}
        for name, value in reversed(solved):
            (place[name],), (balls[name],) = values_at([value], place), ball_program([value], 192)(balls)
    except (EquationError, ZeroDivisionError):
        return u
    if not all(has_endpoints(ball) for ball in balls.values()):
        return u
    zero = zero and value_at(whole, {name: ball_endpoints(ball) for name, ball in balls.items()}, place) == "value"
    reason = "it holds a zero, at which the test fails: not simple, or at the edge of the domain"
    return replace(u, contains=guess, reason=reason) if zero else u


def _repeated(u: Undecided, node: Node, name: str) -> Equilibrium | None:
    """The only zero in an interval where a derivative has no zero and all before it vanish at one exact point."""
    place = _simple(u.box[name], 1000)
    if place is None:
        return None
    derivative = node
    for order in range(1, HIGHEST_ORDER + 1):
        try:
            (value,) = values_at([derivative], {name: place})
        except EquationError:
            return None
        if sign_of(value) != 0 or value_at([derivative], u.box, {name: place}) != "value":
            return None
        (derivative,) = graph.gradient(derivative, [graph.sym(name)])
        low, high = u.box[name]
        (ball,) = ball_program([derivative], 128)({name: as_ball(low).union(as_ball(high))})
        if ball.is_finite() and not ball.contains(0):
            return Equilibrium({name: place}, "proof", dict(u.box), order)
    return None


def _not_square(
    system: System,
    solved: Sequence[tuple[str, Node]],
    nodes: Sequence[Node],
    names: Sequence[str],
    box: Mapping[str, Ends],
    sides: Mapping[Node, int],
    apart: Sequence[tuple[Node, Node]],
    whole: Sequence[Node] = (),
) -> Equilibria:
    """More or fewer equations than states: a continuum where a slice has a certified zero, else undecided.

    The `whole` equations must have a value at that zero; where else on the continuum they do not is its condition.
    """
    if len(nodes) > len(names):
        ranges = [box[name] for name in names]
        for chosen in combinations(range(len(nodes)), len(names)):
            part = [nodes[k] for k in chosen]
            found = box_zeros(part, names, ranges, 2000, apart) if names else None
            if found is not None and found.undecided:
                continue
            if found is None and apart:
                break
            others = ball_program([n for k, n in enumerate(nodes) if k not in chosen], 192)
            zeros = found.zeros if found is not None else ((),)
            values = [others(dict(zip(names, z, strict=True))) for z in zeros]
            if all(any(v.is_finite() and not v.contains(0) for v in value) for value in values):
                return Equilibria((), (), (), box)
        return Equilibria((), (), (Undecided("more equations than states, on a switching surface"),), box)
    missing = len(names) - len(nodes)
    for free in combinations(names, missing):
        rest = [name for name in names if name not in free]
        for value in (Fraction(0), Fraction(1, 3), Fraction(-7, 5), Fraction(3)):
            try:
                cut = graph.substitute(nodes, {graph.sym(name): graph.num(value) for name in free})
            except ZeroDivisionError:
                continue
            found = box_zeros(cut, rest, [box[name] for name in rest], 500) if rest else None
            zeros = found.zeros if found is not None else ((),)
            fixed = dict.fromkeys(free, as_ball(value))
            if not sides and any(_has_value(whole, solved, fixed | dict(zip(rest, z, strict=True))) for z in zeros):
                point: dict[str, Any] = dict(zip(system.names, system.states, strict=True))
                for name, expression in reversed(solved):
                    (point[name],) = to_sympy_many([expression], point)
                condition = _condition(whole, point)
                if condition is None:
                    continue
                family = Continuum(point, free, missing, tuple(to_sympy_many(nodes)), condition, "certificate")
                left = (Undecided("there may be more than this continuum"),) if nodes or apart else ()
                return Equilibria((), (family,), left, box)
    return Equilibria((), (), (Undecided("fewer equations than states, and no point of a continuum was found"),), box)


def _has_value(whole: Sequence[Node], solved: Sequence[tuple[str, Node]], place: dict[str, Any]) -> bool:
    """Whether equations are known to have a value at a point, which balls of some states give."""
    for name, value in reversed(solved):
        (place[name],) = ball_program([value], 192)(place)
    if not all(has_endpoints(ball) for ball in place.values()):
        return False
    return value_at(whole, {name: ball_endpoints(ball) for name, ball in place.items()}) == "value"


def _condition(whole: Sequence[Node], point: Mapping[str, Any]) -> tuple[Any, ...] | None:
    """Where on a continuum logarithms, roots and inverse functions have a value; None where that is not written out."""
    found = []
    for argument, low, high, closed in demands(whole):
        if not graph.symbols([argument]):
            continue
        (inner,) = to_sympy_many([argument], point)
        if not inner.is_extended_real:
            return None
        if math.isfinite(low):
            found.append(sp.Ge(inner, int(low)) if closed else sp.Gt(inner, int(low)))
        if math.isfinite(high):
            found.append(sp.Le(inner, int(high)) if closed else sp.Lt(inner, int(high)))
    return tuple(dict.fromkeys(c for c in found if c != sp.true))
