r"""Equilibria of a field with gates: on each side of its surfaces, and on them.

Where a field jumps at a surface, it moves there by a mixture of both sides (Filippov), and rests where

.. math::  \lambda F^+(p) + (1 - \lambda) F^-(p) = 0, \qquad h(p) = 0, \qquad 0 \le \lambda \le 1 .

The mixture is one more unknown, the gate of the surface. A field that is continuous at a surface needs none, and a map
takes its own value there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import sympy as sp

from ..exact.balls import Interval
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node
from ..expr.system import System
from .dependency import sign_of
from .exact_equilibria import exact_equilibria
from .polynomial_form import is_rational
from .rest_sets import EVERYWHERE, Continuum, Ends, Equilibria, Equilibrium, Undecided, in_order
from .searched_equilibria import searched_equilibria

PATTERNS = 800  # of sides of switching surfaces
ABOVE, BELOW, OPEN, CLOSED, MIXED = "above", "below", "open", "closed", "mixed"  # where a point is at a surface


def gated_equilibria(system: System, nodes: Sequence[Node], asked: Mapping[str, Interval], seed: int = 0) -> Equilibria:
    """Zeros of a field whose gates are 1 where their surfaces are positive.

    >>> v, x = graph.sym("v"), graph.sym("x")
    >>> friction = System.from_strings({"x": "v", "v": "-x - sign(v)"})
    >>> found = gated_equilibria(friction, friction.nodes, {})
    >>> len(found), [(str(f.point["v"]), f.free) for f in found.families]
    (0, [('0', ('x',))])
    """
    surfaces = graph.surfaces(nodes)
    if not surfaces:
        return _smooth(system, nodes, (), {}, asked, seed)
    whole: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    rational = is_rational([*_with_gates(nodes, surfaces, dict.fromkeys(surfaces, graph.ONE)), *surfaces])
    jumps = [surface for surface in surfaces if system.kind == "flow" and not _is_continuous(system, nodes, surface)]
    places = [_places(surface in jumps, rational) for surface in surfaces]
    count = 1
    for options in places:
        count *= len(options)
    if count > PATTERNS:
        reason = f"{len(surfaces)} switching surfaces have {count} patterns of sides, more than {PATTERNS}"
        return Equilibria((), (), (Undecided(reason),), whole)
    parts = [_part(system, nodes, surfaces, pattern, asked, seed) for pattern in product(*places)]
    families = _distinct_families(tuple(f for part in parts for f in part.families))
    points: list[Equilibrium] = []
    for e in (e for part in parts for e in part.points):
        known = any(e.point == other.point for other in points)
        if not known and not any(_lies_in(e, f, system) for f in families):
            points.append(e)
    box: dict[str, Ends] = {}
    for name in system.names:
        ends = [part.box[name] for part in parts]
        box[name] = (max(low for low, _ in ends), min(high for _, high in ends))
    undecided = tuple(dict.fromkeys(u.reason for part in parts for u in part.undecided))
    left = tuple(next(u for part in parts for u in part.undecided if u.reason == reason) for reason in undecided)
    return Equilibria(in_order(points, system), families, left, box)


def _places(jumps: bool, rational: bool) -> tuple[str, ...]:
    """Where a point can be at a surface; the ends of a mixture are cases of their own where these are exact."""
    if not jumps:
        return (ABOVE, BELOW, CLOSED)
    return (ABOVE, BELOW, MIXED, OPEN, CLOSED) if rational else (ABOVE, BELOW, MIXED)


def _with_gates(nodes: Sequence[Node], surfaces: Sequence[Node], value: Mapping[Node, Node]) -> list[Node]:
    """The nodes with each gate replaced by a value of its surface, and by one minus it for the other sign."""
    steps = [n for n in graph.topological([*nodes, *surfaces]) if n.op == "step"]
    on = {g: value[g.args[0]] if g.args[0] in value else graph.ONE - value[-g.args[0]] for g in steps}
    return graph.substitute(list(nodes), on)


def _is_continuous(system: System, nodes: Sequence[Node], surface: Node) -> bool:
    """Whether the field is proved not to jump at a surface."""
    sides = []
    for value in (graph.ONE, graph.ZERO):
        gates = {graph.step(surface): value, graph.step(-surface): graph.ONE - value}
        sides.append(graph.substitute(list(nodes), gates))
    gaps = [a - b for a, b in zip(*sides, strict=True) if a is not b]
    for name in system.names:
        (slope,) = graph.gradient(surface, [graph.sym(name)])
        if slope.op == "num" and slope is not graph.ZERO:
            rest = graph.substitute([surface], {graph.sym(name): graph.ZERO})[0]
            onto = graph.multiply(rest, graph.num(-1), graph.power(slope, Fraction(-1)))
            gaps = graph.substitute(gaps, {graph.sym(name): onto})
            break
    return all(gap is graph.ZERO or zero_test(gap).answer == "zero" for gap in gaps)


def _part(
    system: System,
    nodes: Sequence[Node],
    surfaces: Sequence[Node],
    pattern: Sequence[str],
    asked: Mapping[str, Interval],
    seed: int,
) -> Equilibria:
    """Equilibria for one pattern of places."""
    names = [f"gate{k + 1}" for k in range(len(surfaces))]
    while set(names) & set(system.names):
        names = [f"{name}_" for name in names]
    mixed = [name for name, place in zip(names, pattern, strict=True) if place == MIXED]
    gates = {ABOVE: graph.ONE, OPEN: graph.ONE, BELOW: graph.ZERO, CLOSED: graph.ZERO}
    value = {s: gates.get(place, graph.sym(n)) for s, place, n in zip(surfaces, pattern, names, strict=True)}
    if system.kind == "map":  # its own value: at a surface both gates are zero
        value_at = {g: graph.ZERO for s, p in zip(surfaces, pattern, strict=True) if p == CLOSED for g in _both(s)}
        nodes = graph.substitute(list(nodes), value_at)
    inside = _with_gates([*nodes, *surfaces], surfaces, value)
    fields, walls = inside[: len(nodes)], inside[len(nodes) :]
    sides = {w: 1 if p == ABOVE else -1 for w, p in zip(walls, pattern, strict=True) if p in (ABOVE, BELOW)}
    touching = [wall for wall, place in zip(walls, pattern, strict=True) if place in (OPEN, CLOSED, MIXED)]
    if not mixed:
        return _smooth(system, fields, touching, sides, asked, seed)
    ranges = {**asked, **dict.fromkeys(mixed, (Fraction(0), Fraction(1)))}
    if is_rational([*fields, *touching, *sides]):  # then the ends are patterns of their own
        sides |= {node: 1 for name in mixed for node in (graph.sym(name), graph.ONE - graph.sym(name))}
    larger = System(
        (*mixed, *system.names), ScalarField((graph.ZERO,) * (len(mixed) + system.dimension), {}), (), system.kind
    )
    found = _smooth(larger, fields, touching, sides, ranges, seed)
    shown = dict(zip(names, surfaces, strict=True))
    return _without_gates(found, {name: shown[name] for name in mixed}, system)


def _both(surface: Node) -> tuple[Node, Node]:
    return graph.step(surface), graph.step(-surface)


def _without_gates(found: Equilibria, mixed: Mapping[str, Node], system: System) -> Equilibria:
    """Points and continua in the states, with the gates that the flow takes there."""
    points = []
    for e in found.points:
        gates = {name: e.point[name] for name in mixed}
        points.append(_moved(e, gates, system))
    families = []
    for f in found.families:
        point, free = dict(f.point), list(f.free)
        for name in mixed:
            symbol = sp.Symbol(name, real=True)
            others = [point[n] for n in system.names] + list(f.equations)
            if name in free and not any(sp.sympify(o).has(symbol) for o in others):
                free.remove(name)
        dimension = f.dimension - (len(f.free) - len(free))
        place = {name: point[name] for name in system.names}
        if dimension:
            families.append(replace(f, point=place, free=tuple(free), dimension=dimension))
        else:
            points.append(Equilibrium(place, f.evidence, {n: _ends(v) for n, v in place.items()}, None, (), None, True))
    box = {name: found.box[name] for name in system.names}
    return Equilibria(tuple(points), tuple(families), found.undecided, box)


def _ends(value: Any) -> Interval:
    """A rational number twice, or ends around another, which 40 digits do not hold."""
    exact = sp.sympify(value)
    if exact.is_Rational:
        number = Fraction(int(exact.p), int(exact.q))
        return number, number
    number = Fraction(str(sp.N(exact, 40)))
    room = abs(number) / 10**38
    return number - room, number + room


def _moved(e: Equilibrium, gates: Mapping[str, Any], system: System) -> Equilibrium:
    point = {name: e.point[name] for name in system.names}
    enclosure = {name: e.enclosure[name] for name in system.names}
    algebraic = None
    if e.algebraic is not None:
        algebraic = replace(e.algebraic, coordinates=e.algebraic.coordinates[len(gates) :])
    return Equilibrium(point, e.evidence, enclosure, e.multiplicity, (), algebraic, True)


def _distinct_families(families: tuple[Continuum, ...]) -> tuple[Continuum, ...]:
    kept: list[Continuum] = []
    for f in families:
        if f not in kept:
            kept.append(f)
    return tuple(kept)


def _lies_in(e: Equilibrium, family: Continuum, system: System) -> bool:
    """Whether a point on a switching surface belongs to a continuum beside it."""
    if e.evidence != "proof":  # its coordinates are floats
        return False
    at = {sp.Symbol(name, real=True): value for name, value in e.point.items()}
    gaps = [sp.sympify(family.point[name]).xreplace(at) - e.point[name] for name in system.names]
    for relation in family.condition:
        wrong = {sp.Ge: (-1,), sp.Le: (1,), sp.Gt: (-1, 0), sp.Lt: (0, 1)}[relation.func]
        if sign_of((relation.lhs - relation.rhs).xreplace(at)) in wrong:
            return False
    return all(sign_of(gap) == 0 for gap in [*gaps, *(sp.sympify(q).xreplace(at) for q in family.equations)])


def _smooth(
    system: System,
    nodes: Sequence[Node],
    touching: Sequence[Node],
    sides: Mapping[Node, int],
    asked: Mapping[str, Interval],
    seed: int,
) -> Equilibria:
    """Zeros of a field without gates on surfaces `touching`, where the surfaces of `sides` have their signs."""
    everything = [*nodes, *touching, *sides]
    if is_rational(everything):
        found = exact_equilibria(system, nodes, touching, sides, asked, seed)
        if found is not None and found.complete:
            return found
        searched = searched_equilibria(system, nodes, touching, sides, asked)
        return searched if found is None or (searched.complete and not found.families) else found
    return searched_equilibria(system, nodes, touching, sides, asked)
