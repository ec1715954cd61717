r"""Equilibria of a field with gates: on each side of its surfaces, and on them.

Where a field jumps at a surface, it moves there by a mixture of both sides (Filippov), and rests where

.. math::  \lambda F^+(p) + (1 - \lambda) F^-(p) = 0, \qquad h(p) = 0, \qquad 0 \le \lambda \le 1 .

The mixture is one more unknown, the gate of the surface; over several surfaces it is the multilinear interpolation of
`odesys.analysis.switching`, and independent only where their gradients are. Where these are not known to be linearly
independent, a point is left undecided. A field that is continuous at a surface needs no mixture, and a map takes its
own value there.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import sympy as sp

from ..exact.balls import Interval, as_ball, ball_program
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy
from ..expr.system import System
from .dependency import sign_of
from .exact_equilibria import exact_equilibria
from .invariant_sets import never_zero
from .polynomial_form import factored, is_rational, polynomial_context, quotients
from .rest_sets import EVERYWHERE, Continuum, Ends, Equilibria, Equilibrium, Undecided, in_order
from .searched_equilibria import searched_equilibria
from .switching import determinant

PATTERNS = 800  # of sides of switching surfaces
ABOVE, BELOW, OPEN, CLOSED, MIXED = "above", "below", "open", "closed", "mixed"  # where a point is at a surface
TOUCHED = (OPEN, CLOSED, MIXED)
RANGED = [sp.Rational(k, 10) for k in (0, 5, -5, 10, -10, 1, -1, 20, -20, 100, -100)]  # where mixtures are tried


def gated_equilibria(system: System, nodes: Sequence[Node], asked: Mapping[str, Interval], seed: int = 0) -> Equilibria:
    """Zeros of a field whose gates are 1 where their surfaces are positive.

    >>> v, x = graph.sym("v"), graph.sym("x")
    >>> friction = System.from_strings({"x": "v", "v": "-x - sign(v)"})
    >>> found = gated_equilibria(friction, friction.nodes, {})
    >>> len(found), [(str(f.point["v"]), f.free) for f in found.families]
    (0, [('0', ('x',))])
    """
    nodes = _one_gate_each(system, nodes) if system.kind == "flow" else nodes
    surfaces = graph.surfaces(nodes)
    if not surfaces:
        return _smooth(system, nodes, (), {}, asked, seed)
    whole: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    jumps: list[Node] = []
    torn: dict[Node, Node] = {}  # a surface where another one jumps
    for surface in surfaces if system.kind == "flow" else ():
        inside = [s for s in surfaces if s is not surface and _gates_of(surface) & set(graph.topological([s]))]
        if not _is_continuous(system, nodes, surface):
            jumps.append(surface)
        broken = [s for s in inside if not _is_continuous(system, [s], surface)]
        if broken:
            torn[surface] = broken[0]
    jumps += [surface for surface in torn if surface not in jumps]
    rational = _is_rational_inside(nodes, surfaces)
    places = [_places(surface in jumps, rational) for surface in surfaces]
    count = 1
    for options in places:
        count *= len(options)
    if count > PATTERNS:
        reason = f"{len(surfaces)} switching surfaces have {count} patterns of sides, more than {PATTERNS}"
        return Equilibria((), (), (Undecided(reason),), whole)
    parts: list[Equilibria] = []
    for pattern in product(*places):
        touched = [s for s, place in zip(surfaces, pattern, strict=True) if place in TOUCHED]
        broken = [s for s in touched if s in torn]
        try:
            if broken:
                reason = (
                    f"{to_sympy(torn[broken[0]])} jumps where {to_sympy(broken[0])} = 0, and switches the field too"
                )
                parts.append(Equilibria((), (), (Undecided(reason),), whole))
            else:
                parts += _parts(system, nodes, surfaces, pattern, jumps, rational, asked, seed)
        except ZeroDivisionError:  # no value on a side: nothing rests there
            reason = f"the field has no value on one side of {_named(touched)}"
            left = (Undecided(reason),) if system.kind == "flow" and touched else ()
            parts.append(Equilibria((), (), left, whole))
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
    open_ones = tuple(next(u for part in parts for u in part.undecided if u.reason == reason) for reason in undecided)
    return Equilibria(in_order(points, system), families, open_ones, box)


def _places(jumps: bool, rational: bool) -> tuple[str, ...]:
    """Where a point can be at a surface; the ends of a mixture are cases of their own where these are exact."""
    if not jumps:
        return (ABOVE, BELOW, CLOSED)
    return (ABOVE, BELOW, MIXED, OPEN, CLOSED) if rational else (ABOVE, BELOW, MIXED)


def _is_rational_inside(nodes: Sequence[Node], surfaces: Sequence[Node]) -> bool:
    """Whether the field and its surfaces are rational where all gates are open."""
    try:
        return is_rational([*_with_gates(nodes, surfaces, dict.fromkeys(surfaces, graph.ONE)), *surfaces])
    except ZeroDivisionError:
        return False


def _named(surfaces: Sequence[Node]) -> str:
    return " and ".join(f"{to_sympy(surface)} = 0" for surface in surfaces)


def _gates_of(surface: Node) -> set[Node]:
    return {graph.step(surface), graph.step(-surface)}


# ---- surfaces --------------------------------------------------------------------------------------------------------


def _one_gate_each(system: System, nodes: Sequence[Node]) -> list[Node]:
    """The equations of a flow with one gate for each polynomial surface, however often and to what power it is written.

    A factor to an even power, or without zeros, has one sign almost everywhere, and no other matters to a flow: the
    gates of x and x^3 are one, and that of x^2 is open.
    """
    context = polynomial_context(system.names)
    first: dict[frozenset[str], tuple[Node, int]] = {}
    gates: dict[Node, Node] = {}
    for surface in graph.surfaces(nodes):
        known = graph.symbols([surface]) <= set(system.names) and is_rational([surface])
        found = quotients([surface], context) if known else None
        if found is None or not found[0][0][1].is_constant():
            continue
        top, bottom = found[0][0]
        polynomial = top * bottom
        if polynomial.is_zero():
            continue
        sign, odd, parts = (1 if polynomial.leading_coefficient() > 0 else -1), [], factored(polynomial)
        for factor, order in parts:
            if order % 2:
                upward = factor if factor.leading_coefficient() > 0 else -factor
                node = _as_node(upward)
                if not never_zero(node):
                    odd.append((str(upward), node))
        if not odd:
            gates |= {
                g: graph.num(int(sign > 0) if g is graph.step(surface) else int(sign < 0)) for g in _gates_of(surface)
            }
            continue
        key = frozenset(name for name, _ in odd)
        plain = len(odd) == len(parts) and all(order == 1 for _, order in parts)
        new, turned = first.setdefault(key, (surface, sign) if plain else (graph.multiply(*(n for _, n in odd)), 1))
        same = 1 if sign == turned else -1
        gates |= {graph.step(surface): graph.step(same * new), graph.step(-surface): graph.step(-same * new)}
    return graph.substitute(list(nodes), gates) if gates else list(nodes)


def _as_node(polynomial: Any) -> Node:
    names = polynomial.context().names()
    terms = []
    for exponents, c in polynomial.to_dict().items():
        powers = [graph.power(graph.sym(n), Fraction(int(e))) for n, e in zip(names, exponents, strict=True) if e]
        terms.append(graph.multiply(graph.num(int(c)), *powers))
    return graph.add(terms)


def _with_gates(
    nodes: Sequence[Node], surfaces: Sequence[Node], value: Mapping[Node, Node], silent: Sequence[Node] = ()
) -> list[Node]:
    """The nodes with each gate replaced by a value of its surface, and by one minus it for the other sign.

    Both gates of the surfaces in `silent` are zero, as they are at the surface itself.
    """
    on = {g: value[s] if g is graph.step(s) else graph.ONE - value[s] for s in surfaces for g in _gates_of(s)}
    on |= {g: graph.ZERO for s in silent for g in _gates_of(s)}
    return graph.substitute(list(nodes), on)


def _is_continuous(system: System, nodes: Sequence[Node], around: Node) -> bool:
    """Whether the field is proved not to jump at a surface, whatever the gates of the other surfaces are."""
    others = [s for s in graph.surfaces([*nodes, around]) if _gates_of(s) != _gates_of(around)]
    held: dict[Node, Node] = {
        s: graph.sym(name) for s, name in zip(others, _new_names(system, len(others)), strict=True)
    }
    try:
        sides = [_with_gates(nodes, [*others, around], {**held, around: v}) for v in (graph.ONE, graph.ZERO)]
        if any(node.op == "step" for node in graph.topological([around])):  # it may be zero in all of an open set
            sides.append(_with_gates(nodes, others, held, [around]))
        gaps = [a - b for one in sides[1:] for a, b in zip(sides[0], one, strict=True) if a is not b]
        return _vanish_on(gaps, _with_gates([around], others, held)[0], system)
    except ZeroDivisionError:
        return False


def _vanish_on(gaps: Sequence[Node], surface: Node, system: System) -> bool:
    """Whether expressions are proved to vanish on a surface: it is solved for a state, or divides their numerators."""
    for name in system.names:
        (slope,) = graph.gradient(surface, [graph.sym(name)])
        if slope.op == "num" and slope is not graph.ZERO:
            rest = graph.substitute([surface], {graph.sym(name): graph.ZERO})[0]
            onto = graph.multiply(rest, graph.num(-1), graph.power(slope, Fraction(-1)))
            on_it = graph.substitute(gaps, {graph.sym(name): onto})
            if all(gap is graph.ZERO or zero_test(gap).answer == "zero" for gap in on_it):
                return True
    if all(gap is graph.ZERO or zero_test(gap).answer == "zero" for gap in gaps):
        return True
    atoms = [n for n in graph.topological([*gaps, surface]) if not _is_rational_step(n)]
    names = sorted(graph.symbols([*gaps, surface]))
    taken = [f"{name}_atom{k}" for k, name in enumerate([max(names, key=len, default="x")] * len(atoms))]
    *gaps, surface = graph.substitute([*gaps, surface], dict(zip(atoms, map(graph.sym, taken), strict=True)))
    found = quotients([*gaps, surface], polynomial_context([*names, *taken]))
    if found is None or found[0][-1][0].is_zero():
        return False
    parts = [factor for factor, _ in factored(found[0][-1][0])]
    return all(divmod(top, part)[1].is_zero() for top, _ in found[0][:-1] for part in parts)


def _is_rational_step(node: Node) -> bool:
    """Whether a node is a number, a name, or rational in its children."""
    numbers = [c for c, _ in node.args] if node.op == "add" else node.args if node.op == "num" else ()
    if node.op not in ("num", "sym", "add", "mul") or any(isinstance(c, float) for c in numbers):
        return False
    return node.op != "mul" or all(exponent.denominator == 1 for _, exponent in node.args)


def _new_names(system: System, count: int) -> list[str]:
    """Names of gates that no state has."""
    names = [f"gate{k + 1}" for k in range(count)]
    while set(names) & set(system.names):
        names = [f"{name}_" for name in names]
    return names


# ---- one pattern of sides --------------------------------------------------------------------------------------------


def _parts(
    system: System,
    nodes: Sequence[Node],
    surfaces: Sequence[Node],
    pattern: Sequence[str],
    jumps: Sequence[Node],
    ends: bool,
    asked: Mapping[str, Interval],
    seed: int,
) -> list[Equilibria]:
    """Equilibria for one pattern of places; `ends` says that the ends of each mixture are patterns of their own."""
    nothing = [Equilibria((), (), (), {name: asked.get(name, EVERYWHERE) for name in system.names})]
    names = _new_names(system, len(surfaces))
    place = dict(zip(surfaces, pattern, strict=True))
    value = {s: graph.ONE if p in (ABOVE, OPEN) else graph.ZERO for s, p in place.items()}
    silent = [s for s, p in place.items() if p == CLOSED and system.kind == "map"]  # its own value there: both are zero
    walls = dict(zip(surfaces, _with_gates(surfaces, surfaces, value, silent), strict=True))
    inner = {s: [o for o in surfaces if o is not s and _gates_of(o) & set(graph.topological([s]))] for s in surfaces}
    for s in surfaces if system.kind == "flow" else ():  # zero in all of an open set: so are both gates
        if (
            inner[s]
            and walls[s] is graph.ZERO
            and place[s] in TOUCHED
            and all(place[o] in (ABOVE, BELOW) for o in inner[s])
        ):
            if place[s] == OPEN or (place[s] == MIXED and ends):
                return nothing
            silent.append(s)
    mixed = {n: s for n, s in zip(names, surfaces, strict=True) if place[s] == MIXED and s not in silent}
    sides: dict[Node, int] = {}
    for s, wall in walls.items():
        if place[s] in TOUCHED:
            if wall.op == "num" and wall is not graph.ZERO:
                return nothing
            continue
        sign = 1 if place[s] == ABOVE else -1
        if sides.setdefault(wall, sign) != sign or sides.get(-wall) == sign:
            return nothing
        if wall.op == "num" and (wall.args[0] > 0) - (wall.args[0] < 0) != sign:
            return nothing
    touching = [walls[s] for s in surfaces if place[s] in TOUCHED]
    fields = _mixture(nodes, surfaces, value, silent, mixed)
    exact = is_rational([*fields, *touching, *sides])
    if exact and mixed and not ends:  # then the ends are patterns of their own
        options = [(MIXED, OPEN, CLOSED) if s in mixed.values() else (place[s],) for s in surfaces]
        return [
            part for one in product(*options) for part in _parts(system, nodes, surfaces, one, jumps, True, asked, seed)
        ]
    ranges = {**asked, **dict.fromkeys(mixed, (Fraction(0), Fraction(1)))}
    held = sides | ({n: 1 for g in map(graph.sym, mixed) for n in (g, graph.ONE - g)} if exact else {})
    larger = System(
        (*mixed, *system.names), ScalarField((graph.ZERO,) * (len(mixed) + system.dimension), {}), (), system.kind
    )

    def solved(*more: Node) -> Equilibria:
        if not mixed:
            alone = _smooth(system, fields, [*touching, *more], held, asked, seed)
            return replace(alone, points=tuple(replace(e, slides=bool(torn)) for e in alone.points))
        return _without_gates(
            _smooth(larger, fields, [*touching, *more], held, ranges, seed), tuple(mixed), system, exact
        )

    torn = [s for s in jumps if place[s] in TOUCHED and s not in silent]
    found = solved()
    found = replace(found, families=tuple(_with_true_ends(f, sides, system) for f in found.families))
    nested = [o for s in torn for o in inner[s] if place[o] in TOUCHED]
    # a surface that is zero on one side of another has a third value there: its mixtures then say nothing
    sure = [n for n in nodes if not graph.surfaces([n])] if nested else [n for n in fields if _is_free(n, mixed)]
    crossed = list(dict.fromkeys([*torn, *nested]))
    return [_doubted(system, sure, found, solved, crossed, walls, touching, asked, seed)]


def _is_free(node: Node, gates: Container[str]) -> bool:
    return node is not graph.ZERO and not any(name in gates for name in graph.symbols([node]))


def _with_true_ends(family: Continuum, sides: Mapping[Node, int], system: System) -> Continuum:
    """A continuum beside surfaces, without these where points of them may not be ends of it.

    It rests at its ends; x (x + 1) >= 0 and x (x^2 - 1) >= 0 hold at 0 too, and none of it is near there.
    """
    at = {symbol: family.point[name] for name, symbol in zip(system.names, system.states, strict=True)}
    values = [sp.cancel(to_sympy(wall).xreplace(at)) for wall in sides] if system.kind == "flow" else []
    values = [value for value in values if value.free_symbols]
    names = sorted(set().union(*(value.free_symbols for value in values)), key=str)
    if not all(value.is_polynomial(*names) for value in values):
        simple = False
    elif all(sp.Poly(value, *names).total_degree() <= 1 for value in values):
        simple = True
    else:
        simple = len(names) == 1 and not family.equations and sp.Poly(sp.prod(dict.fromkeys(values)), *names).is_sqf
    if simple:
        return family
    strict = {sp.Ge: sp.Gt, sp.Le: sp.Lt}
    weak = {relation(value, 0) for relation in strict for value in values}
    return replace(family, condition=tuple(strict[c.func](c.lhs, c.rhs) if c in weak else c for c in family.condition))


def _mixture(
    nodes: Sequence[Node],
    surfaces: Sequence[Node],
    value: Mapping[Node, Node],
    silent: Sequence[Node],
    mixed: Mapping[str, Node],
) -> list[Node]:
    """The multilinear interpolation of the field between its values at the gates 0 and 1 of mixed surfaces."""
    if not mixed:
        return _with_gates(nodes, surfaces, value, silent)
    (name, surface), *rest = mixed.items()
    low, high = (
        _mixture(nodes, surfaces, {**value, surface: end}, silent, dict(rest)) for end in (graph.ZERO, graph.ONE)
    )
    gate = graph.sym(name)
    return [a if a is b else graph.add([a, graph.multiply(gate, b - a)]) for a, b in zip(low, high, strict=True)]


def _doubted(
    system: System,
    sure: Sequence[Node],
    found: Equilibria,
    solved: Callable[..., Equilibria],
    crossed: Sequence[Node],
    walls: Mapping[Node, Node],
    touching: Sequence[Node],
    asked: Mapping[str, Interval],
    seed: int,
) -> Equilibria:
    """What is left of an answer where surfaces are not known to have slopes, or to cross: all of it where they do.

    Sides are mixed independently only where the gradients of their surfaces are linearly independent. What
    is `sure` must vanish at rest, however sides mix.
    """
    minors = _minors([walls[s] for s in crossed], system) if crossed else None
    if minors is None:
        return found
    together = _smooth(system, (), [*touching, *minors], {}, asked, seed)
    if together.complete and not together.points and not together.families:
        return _narrowed(found, together.box)
    if len(crossed) == 1:
        reason = f"whether {_named(crossed)} has two sides at a point without a slope is not known"
    else:
        reason = f"{_named(crossed)} are not known to cross where they meet, so how their sides mix is open there"
    left = [*found.undecided]
    program = ball_program(list(minors), 192)
    points = []
    for e in found.points:
        balls = {name: as_ball(low).union(as_ball(high)) for name, (low, high) in e.enclosure.items()}
        try:
            regular = any(v.is_finite() and not v.contains(0) for v in program(balls))
        except ZeroDivisionError:
            regular = False
        if regular:
            points.append(e)
        else:
            left.append(Undecided(reason, dict(e.enclosure)))
    families = found.families
    if families:
        flat = solved(*minors)
        if not flat.complete or flat.families:
            families = ()
            left.append(Undecided(reason))
    box = found.box
    if len(crossed) > 1:  # the sides that are there may mix otherwise
        rest = _smooth(system, sure, [*touching, *minors], {}, asked, seed)
        box = _narrowed(found, rest.box).box
        if not rest.complete or rest.points or rest.families:
            left.append(Undecided(reason))
    return Equilibria(tuple(points), families, tuple(left), box)


def _minors(walls: Sequence[Node], system: System) -> list[Node] | None:
    """What vanishes where gradients of surfaces are dependent; None where they are seen to be independent."""
    rows = [graph.gradient(wall, [graph.sym(name) for name in system.names]) for wall in walls]
    columns = [j for j in range(system.dimension) if any(row[j] is not graph.ZERO for row in rows)]
    found = []
    for chosen in combinations(columns, len(rows)):
        minor = determinant([[row[j] for j in chosen] for row in rows])
        if (minor.op == "num" and minor is not graph.ZERO) or never_zero(minor):
            return None
        if minor is not graph.ZERO:
            found.append(minor)
    return found


def _narrowed(found: Equilibria, box: Mapping[str, Ends]) -> Equilibria:
    """The answer for what two searches have in common."""
    both = {n: (max(low, box[n][0]), min(high, box[n][1])) for n, (low, high) in found.box.items()}
    return replace(found, box=both)


def _in_range(values: Sequence[sp.Expr], free: Sequence[str]) -> tuple[Any, ...] | None:
    """Where mixtures along a continuum lie between 0 and 1; None where no such place is known."""
    for at in RANGED:
        place = {sp.Symbol(name, real=True): at for name in free}
        if all(sign_of(v.xreplace(place)) == 1 == sign_of(1 - v.xreplace(place)) for v in values):
            conditions = [c for v in values for c in (sp.Ge(v, 0), sp.Le(v, 1))]
            return tuple(c for c in conditions if c != sp.true)
    return None


def _without_gates(found: Equilibria, mixed: Sequence[str], system: System, exact: bool) -> Equilibria:
    """Points and continua in the states, without the gates that the flow takes there."""
    points = [_moved(e, len(mixed), system) for e in found.points]
    families: list[Continuum] = []
    left = []
    for u in found.undecided:
        contains = None if u.contains is None else {n: v for n, v in u.contains.items() if n not in mixed}
        left.append(replace(u, box={n: ends for n, ends in u.box.items() if n not in mixed}, contains=contains))
    gates = {sp.Symbol(name, real=True) for name in mixed}
    for f in found.families:
        place = {name: sp.sympify(f.point[name]) for name in system.names}
        used = set().union(*(sp.sympify(v).free_symbols for v in (*place.values(), *f.equations)))
        free = tuple(name for name in f.free if name not in mixed)
        condition = tuple(c for c in f.condition if not (c.free_symbols and c.free_symbols <= gates))
        bound = any(c.free_symbols & gates for c in condition)
        dimension = f.dimension - (len(f.free) - len(free))
        if not exact or f.evidence != "proof":  # then the ends of gates that were eliminated were not asked for
            ranged = _in_range([sp.sympify(f.point[name]) for name in mixed if name not in f.free], free)
            if ranged is None:
                left.append(Undecided("whether the sides mix to rest along a continuum on a switching surface"))
                continue
            condition = (*condition, *ranged)
        if used & gates or (bound and len(free) < len(f.free)):
            left.append(Undecided("a continuum on a switching surface is only known together with how its sides mix"))
        elif dimension:
            families.append(replace(f, point=place, free=free, dimension=dimension, condition=condition))
        elif f.equations or any(v.free_symbols for v in place.values()):
            left.append(Undecided("points on a switching surface are only known by equations", equations=f.equations))
        else:
            points.append(Equilibrium(place, f.evidence, {n: _ends(v) for n, v in place.items()}, None, (), None, True))
    box = {name: found.box[name] for name in system.names}
    return Equilibria(tuple(points), tuple(families), tuple(left), box)


def _ends(value: Any) -> Interval:
    """A rational number twice, or ends around another, which 40 digits do not hold."""
    exact = sp.sympify(value)
    if exact.is_Rational:
        number = Fraction(int(exact.p), int(exact.q))
        return number, number
    number = Fraction(str(sp.N(exact, 40)))
    room = abs(number) / 10**38
    return number - room, number + room


def _moved(e: Equilibrium, gates: int, system: System) -> Equilibrium:
    point = {name: e.point[name] for name in system.names}
    enclosure = {name: e.enclosure[name] for name in system.names}
    algebraic = None
    if e.algebraic is not None:
        algebraic = replace(e.algebraic, coordinates=e.algebraic.coordinates[gates:])
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
