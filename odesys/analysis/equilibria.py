r"""All real equilibria of a flow (fixed points of a map), or what is left open and where.

.. math::  F(p) = 0 \quad (\text{of a map: } F(p) = p).

Polynomial and rational systems are solved exactly on the whole space (`polynomial_zeros`). Others are searched in a box
by branch and prune (`box_zeros`), after states that an equation contains only linearly have been eliminated. A field
with gates is solved on each side of its surfaces and on them. Floats are read as the decimals they print as, and what
rests on them is a measurement. Type and stability are in `odesys.analysis.stability`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, product
from typing import Any

import flint
import sympy as sp

from ..errors import EquationError, ParameterError
from ..exact.balls import Interval, as_ball, ball_endpoints, ball_program
from ..exact.rewriting import has_floats
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy, to_sympy_many
from ..expr.system import TIME, System
from .box_zeros import box_zeros
from .dependency import checked_values, substitution, values_at
from .multiplicity import multiplicity
from .number_field import AlgebraicPoint
from .polynomial_form import as_expression, decimals, is_rational, polynomial_context, quotients
from .polynomial_zeros import Case, ZeroFamily, parametric_zeros, real_zeros

PATTERNS = 800  # of signs of switching surfaces
SAMPLES = 40  # points of a continuum that are tried for a sign
HIGHEST_ORDER = 6  # of a repeated zero of one equation
EVERYWHERE = (-math.inf, math.inf)

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Equilibrium:
    """A point where the field vanishes.

    Attributes
    ----------
    point : values by state name, exact expressions where there are such, else floats.
    evidence : ``proof`` for an exact point, ``certificate`` for one enclosed with the proof that it is there and
        alone, ``measurement`` where the equations contain floats.
    enclosure : rational ends of an interval for each state that holds the point; empty in symbols.
    multiplicity : of the zero; None where only known to be above one, or in symbols.
    condition : what parameters must satisfy, for a point in symbols.
    """

    point: Mapping[str, Any]
    evidence: str = "proof"
    enclosure: Mapping[str, Interval] = field(default_factory=dict, repr=False)
    multiplicity: int | None = 1
    condition: tuple[Any, ...] = ()
    algebraic: AlgebraicPoint | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Continuum:
    """A set of equilibria of positive dimension.

    Attributes
    ----------
    point : the states; those in `free` stand for themselves, the others are functions of them.
    dimension : of the set.
    equations : what else must vanish between the states that are left.
    condition : where in the space, or for which parameters, this is so.
    """

    point: Mapping[str, Any]
    free: tuple[str, ...]
    dimension: int
    equations: tuple[Any, ...] = ()
    condition: tuple[Any, ...] = ()
    evidence: str = "proof"


@dataclass(frozen=True)
class Undecided:
    """Where equilibria are neither found nor excluded: a box, or equations; with the reason, and one that is there."""

    reason: str
    box: Mapping[str, Interval] = field(default_factory=dict)
    equations: tuple[Any, ...] = ()
    contains: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class Equilibria(Sequence[Equilibrium]):
    """The isolated real equilibria as a sequence, and all that belongs to an honest answer.

    Attributes
    ----------
    families : continua of equilibria, with their dimension.
    undecided : what is left open.
    box : where was searched, by state; (-inf, inf) is everywhere.
    complete : True if every real equilibrium in `box` is one of these points or lies in one of the families.
    special : equilibria in symbols that exist only where parameters satisfy an equation.
    reading : how floats were read; empty if there were none.

    >>> x = sp.Symbol("x")
    >>> found = equilibria(System.from_equations({x: x * (x**2 - 300)}))
    >>> [str(e.point["x"]) for e in found], found.complete, found.box
    (['-10*sqrt(3)', '0', '10*sqrt(3)'], True, {'x': (-inf, inf)})
    """

    points: tuple[Equilibrium, ...]
    families: tuple[Continuum, ...]
    undecided: tuple[Undecided, ...]
    box: Mapping[str, Ends]
    special: tuple[Equilibrium | Continuum, ...] = ()
    reading: str = ""

    @property
    def complete(self) -> bool:
        """Whether nothing is left open in the box."""
        return not self.undecided

    def __getitem__(self, index: Any) -> Any:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.points)

    def __str__(self) -> str:
        where = ", ".join(
            f"{name} in [{float(low):g}, {float(high):g}]"
            for name, (low, high) in self.box.items()
            if math.isfinite(low)
        )
        count = f"{len(self.points)} isolated equilibri{'um' if len(self.points) == 1 else 'a'}"
        parts = [f"{count} {'with ' + where if where else 'on the whole space'}"]
        parts += [f"a family of dimension {f.dimension} in {', '.join(f.free)}" for f in self.families]
        parts += [f"undecided: {u.reason}" for u in self.undecided] or ["complete"]
        return "; ".join(parts)


def equilibria(
    system: System,
    parameters: Mapping[str, Any] | None = None,
    box: Mapping[str, tuple[Any, Any]] | None = None,
    seed: int = 0,
) -> Equilibria:
    """All real equilibria, isolated and in continua, with what is left undecided and where was searched.

    Parameters
    ----------
    parameters : values; a polynomial system may keep parameters as symbols, and then answers by cases.
    box : {state: (low, high)}, by default the whole space where algebra is complete there, and otherwise a box from the
        size of the numbers in the equations; it is part of the answer.
    seed : of the slices on which a real point of a continuum is looked for.

    >>> x = sp.Symbol("x")
    >>> [str(e.point["x"]) for e in equilibria(System.from_equations({x: x * (1 - x)}))]
    ['0', '1']
    """
    values = checked_values(system, {}, parameters or {})
    nodes = residuals(system)
    if TIME in graph.symbols(nodes) and TIME not in system.names:
        raise EquationError("the system depends on time t, so it has no equilibria; freeze t first")
    mapping, outside = substitution(values)
    nodes = graph.substitute(nodes, mapping)
    floats = has_floats(nodes)
    nodes = decimals(nodes) if floats else nodes
    asked = _asked(system, box)
    loose = sorted(graph.symbols(nodes) - set(system.names))
    numbers = {name: outside[name] for name in loose if name in outside and not outside[name].free_symbols}
    if any(name not in numbers for name in loose) and is_rational(nodes):
        return _parametric(system, nodes, loose, outside)
    for name in (name for name in loose if name not in numbers):
        raise ParameterError(
            f"the equilibria of this system are searched for in a box, so {name} needs a number", parameter=name
        )
    if numbers:  # numbers that the graph can not hold: tight intervals would do, the nearest decimals are honest too
        floats = True
        near = {graph.sym(name): graph.num(Fraction(str(sp.N(value, 30)))) for name, value in numbers.items()}
        nodes = graph.substitute(nodes, near)
    found = _numeric(system, nodes, asked, seed)
    if not floats:
        return found
    return replace(
        found,
        points=tuple(replace(e, evidence="measurement") for e in found.points),
        families=tuple(replace(f, evidence="measurement") for f in found.families),
        reading="floats are read as the decimals they print as",
    )


def residuals(system: System) -> list[Node]:
    """What vanishes at rest: the field of a flow, the displacement of a map."""
    if system.kind == "flow":
        return list(system.nodes)
    return [node - graph.sym(name) for name, node in system.equations.items()]


def _asked(system: System, box: Mapping[str, tuple[Any, Any]] | None) -> dict[str, tuple[Fraction, Fraction]]:
    found = {}
    for key, (low, high) in (box or {}).items():
        if str(key) not in system.names:
            raise ParameterError(
                f"the box has a range for {key}, which is no state; they are {', '.join(system.names[:12])}"
            )
        ends = tuple(Fraction(repr(end)) if isinstance(end, float) else Fraction(end) for end in (low, high))
        if ends[0] > ends[1]:
            raise ParameterError(f"the range of {key} is empty: {low} is not below {high}")
        found[str(key)] = (ends[0], ends[1])
    return found


# ---- by the signs of switching surfaces ----------------------------------------------------------------------------


def _numeric(system: System, nodes: Sequence[Node], asked: Mapping[str, Interval], seed: int) -> Equilibria:
    surfaces = graph.surfaces(nodes)
    if not surfaces:
        return _smooth(system, nodes, (), {}, asked, seed)
    whole: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    if 3 ** len(surfaces) > PATTERNS:
        reason = f"{len(surfaces)} switching surfaces have {3 ** len(surfaces)} patterns of signs, more than {PATTERNS}"
        return Equilibria((), (), (Undecided(reason),), whole)
    gates = [n for n in graph.topological(nodes) if n.op == "step"]
    parts = []
    for signs in product((1, 0, -1), repeat=len(surfaces)):
        value = dict(zip(surfaces, signs, strict=True))
        on = {g: graph.num(int((value[g.args[0]] if g.args[0] in value else -value[-g.args[0]]) > 0)) for g in gates}
        inside = graph.substitute([*nodes, *surfaces], on)
        fields, walls = inside[: len(nodes)], inside[len(nodes) :]
        sides = {wall: sign for wall, sign in zip(walls, signs, strict=True) if sign}
        touching = [wall for wall, sign in zip(walls, signs, strict=True) if not sign]
        parts.append(_smooth(system, fields, touching, sides, asked, seed))
    families = tuple(f for part in parts for f in part.families)
    points = [e for part in parts for e in part.points if not any(_lies_in(e, f, system) for f in families)]
    box: dict[str, Ends] = {}
    for name in system.names:
        ends = [part.box[name] for part in parts]
        box[name] = (max(low for low, _ in ends), min(high for _, high in ends))
    undecided = tuple(dict.fromkeys(u.reason for part in parts for u in part.undecided))
    left = tuple(next(u for part in parts for u in part.undecided if u.reason == reason) for reason in undecided)
    return Equilibria(_in_order(points, system), families, left, box)


def _lies_in(e: Equilibrium, family: Continuum, system: System) -> bool:
    """Whether a point on a switching surface belongs to a continuum beside it."""
    if e.algebraic is None:
        return False
    at = {sp.Symbol(name, real=True): value for name, value in e.point.items()}
    gaps = [sp.sympify(family.point[name]).xreplace(at) - e.point[name] for name in system.names]
    for relation in family.condition:
        gap = (relation.lhs - relation.rhs).xreplace(at)
        if sp.sign(gap) == (-1 if isinstance(relation, sp.Gt) else 1):
            return False
    return all(sp.simplify(gap) == 0 for gap in [*gaps, *(sp.sympify(q).xreplace(at) for q in family.equations)])


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
        found = _exact(system, nodes, touching, sides, asked, seed)
        if found is not None and found.complete:
            return found
        searched = _searched(system, nodes, touching, sides, asked)
        return searched if found is None or (searched.complete and not found.families) else found
    return _searched(system, nodes, touching, sides, asked)


# ---- exactly -------------------------------------------------------------------------------------------------------


def _exact(
    system: System,
    nodes: Sequence[Node],
    touching: Sequence[Node],
    sides: Mapping[Node, int],
    asked: Mapping[str, Interval],
    seed: int,
) -> Equilibria | None:
    """All real zeros of rational expressions; None where they are too large to be written as polynomials."""
    context = polynomial_context(system.names)
    fractions = quotients([*nodes, *touching, *sides], context)
    if fractions is None:
        return None
    pairs, divisors = fractions
    held = [top for top, _ in pairs[: len(nodes) + len(touching)]]
    walls = [top * bottom for top, bottom in pairs[len(nodes) + len(touching) :]]  # of the same sign as the quotient
    zeros = real_zeros(held, context, divisors, seed)
    points = []
    for point in zeros.points:
        signs = [point.sign(point.value(wall)) for wall in walls]
        if signs != list(sides.values()) or not _inside(point, asked, system.names):
            continue
        exact, values = point.is_exact, point.expressions()
        enclosure = dict(zip(system.names, point.enclosures(), strict=True))
        count = multiplicity(held[: len(nodes)], point) if not touching else 1
        place = dict(zip(system.names, values if exact else map(float, values), strict=True))
        points.append(Equilibrium(place, "proof" if exact else "certificate", enclosure, count, (), point))
    families, left = [], []
    for family in zeros.families:
        continuum = _continuum(family, system)
        side = _side_of(family, walls, list(sides.values()), seed)
        if side == "outside":
            continue
        relations = tuple(
            sp.Gt(to_sympy(wall), 0) if sign > 0 else sp.Lt(to_sympy(wall), 0) for wall, sign in sides.items()
        )
        continuum = replace(continuum, condition=(*continuum.condition, *relations))
        if side == "inside":
            families.append(continuum)
        else:
            left.append(Undecided("whether a continuum of zeros meets its side of the switching surfaces"))
    symbols = dict(zip(system.names, system.states, strict=True))
    for case in zeros.open:
        equations = tuple(as_expression(p, symbols) for p in case.equations)
        left.append(Undecided("elimination and Groebner basis did not settle a case", equations=equations))
    box: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    return Equilibria(_in_order(points, system), tuple(families), tuple(left), box)


def _inside(point: AlgebraicPoint, asked: Mapping[str, Interval], names: Sequence[str]) -> bool:
    for name, element in zip(names, point.coordinates, strict=True):
        low, high = asked.get(name, (None, None))
        if low is not None and high is not None:
            ends = [flint.fmpq(end.numerator, end.denominator) for end in (low, high)]
            if point.sign(element - ends[0]) < 0 or point.sign(element - ends[1]) > 0:
                return False
    return True


def _in_order(points: Sequence[Equilibrium], system: System) -> tuple[Equilibrium, ...]:
    return tuple(sorted(points, key=lambda e: [float(sum(e.enclosure[name])) for name in system.names]))


def _continuum(family: ZeroFamily, system: System, symbols: Mapping[str, Any] | None = None) -> Continuum:
    """A continuum with the eliminated states as functions of the others."""
    table = dict(zip(system.names, system.states, strict=True)) if symbols is None else dict(symbols)
    values: dict[str, Any] = dict(table)
    names = list(table)
    for s in reversed(family.solved):
        top, bottom = as_expression(s.rest, values), as_expression(s.slope, values)
        values[names[s.variable]] = sp.cancel(-top / bottom)
    equations = tuple(as_expression(p, table) for p in family.equations)
    free = tuple(names[j] for j in family.free)
    return Continuum({n: values[n] for n in system.names}, free, family.dimension, equations)


def _side_of(family: ZeroFamily, walls: Sequence[Any], signs: Sequence[int], seed: int) -> str:
    """Whether a continuum has points where polynomials have given signs: ``inside``, ``outside`` or ``undecided``."""
    if not walls:
        return "inside"
    context = walls[0].context()
    gens = context.gens()
    held = [*family.equations, *(s.slope * gens[s.variable] + s.rest for s in family.solved)]
    if all(s.slope.is_constant() for s in family.solved):  # a wall may be constant along the whole continuum
        for wall, sign in zip(walls, signs, strict=True):
            along = wall
            for s in family.solved:
                line = s.slope * gens[s.variable] + s.rest
                along = along.resultant(line, s.variable) if along.degrees()[s.variable] else along
            if along.is_constant():
                somewhere = real_zeros([*held, *(gens[j] for j in family.free)], context, (), seed).points
                if somewhere and somewhere[0].sign(somewhere[0].value(wall)) != sign:
                    return "outside"
    for k in range(SAMPLES):
        values = [(-1) ** k * (k // 2 + 1 + 3 * i) for i, _ in enumerate(family.free)]
        if k % 4 > 1:
            values = [v * (-1) ** i for i, v in enumerate(values)]
        slices = [gens[j] * (1 + k % 3) - v for j, v in zip(family.free, values, strict=True)]
        for point in real_zeros([*held, *slices], context, family.nonzero, seed).points:
            if [point.sign(point.value(wall)) for wall in walls] == list(signs):
                return "inside"
    return "undecided"


# ---- in symbols ----------------------------------------------------------------------------------------------------


def _parametric(
    system: System, nodes: Sequence[Node], loose: Sequence[str], outside: Mapping[str, sp.Expr]
) -> Equilibria:
    """Equilibria of a rational system by cases in its parameters."""
    context = polynomial_context([*system.names, *loose])
    fractions = quotients(nodes, context)
    box: dict[str, Ends] = dict.fromkeys(system.names, EVERYWHERE)
    if fractions is None:
        return Equilibria((), (), (Undecided("the equations are too large to be solved in symbols"),), box)
    symbols: dict[str, Any] = dict(zip(system.names, system.states, strict=True))
    symbols |= {name: outside.get(name, sp.Symbol(name, real=True)) for name in loose}
    size = system.dimension
    generic: list[Equilibrium] = []
    families: list[Continuum] = []
    special: list[Equilibrium | Continuum] = []
    left: list[Undecided] = []
    for case in parametric_zeros([top for top, _ in fractions[0]], size, fractions[1]):
        equal = [p for p in case.equations if not any(p.degrees()[:size])]
        rest = [p for p in case.equations if any(p.degrees()[:size])]
        conditions = [sp.Eq(as_expression(p, symbols), 0) for p in equal]
        conditions += [sp.Ne(as_expression(p, symbols), 0) for p in case.nonzero if not any(p.degrees()[:size])]
        if any(c == sp.false for c in conditions):
            continue
        told = tuple(c for c in conditions if c != sp.true)
        answers = _in_symbols(case, rest, system, symbols, told)
        if answers is None:
            text = tuple(as_expression(p, symbols) for p in rest)
            left.append(Undecided("a case in symbols needs more than square roots; give numbers", equations=text))
        elif equal:
            special += answers
        else:
            generic += [a for a in answers if isinstance(a, Equilibrium)]
            families += [a for a in answers if isinstance(a, Continuum)]
    order = sorted(generic, key=lambda e: [sp.default_sort_key(v) for v in e.point.values()])
    return Equilibria(tuple(order), tuple(families), tuple(left), box, tuple(special))


def _in_symbols(
    case: Case, rest: Sequence[Any], system: System, symbols: Mapping[str, Any], told: tuple[Any, ...]
) -> list[Equilibrium | Continuum] | None:
    """What a case says about the states; None where it takes more than a square root."""
    gone = {s.variable for s in case.solved}
    free = [j for j in range(system.dimension) if j not in gone]
    if not rest and free:
        family = ZeroFamily(len(free), tuple(free), case.solved, (), case.nonzero)
        return [replace(_continuum(family, system, symbols), condition=told)]
    starts: list[tuple[dict[str, Any], tuple[Any, ...]]] = [({}, ())]
    if rest:
        if len(rest) > 1 or len(free) != 1 or rest[0].degrees()[free[0]] != 2:
            return None
        name = system.names[free[0]]
        c, b, a = sp.Poly(as_expression(rest[0], symbols), symbols[name]).all_coeffs()[::-1]
        root = sp.sqrt(sp.factor(b**2 - 4 * a * c))
        real = sp.Ge(sp.factor(b**2 - 4 * a * c), 0)
        if real == sp.false:
            return []
        where = () if real == sp.true else (real,)
        starts = [({name: (-b + sign * root) / (2 * a)}, (sp.Ne(a, 0), *where)) for sign in (-1, 1)]
    found: list[Equilibrium | Continuum] = []
    for start, more in starts:
        values = {**symbols, **start}
        for s in reversed(case.solved):
            top, bottom = as_expression(s.rest, values), as_expression(s.slope, values)
            values[system.names[s.variable]] = sp.cancel(-top / bottom)
        place = {name: values[name] for name in system.names}
        condition = tuple(c for c in (*told, *more) if c != sp.true)
        found.append(Equilibrium(place, "proof", {}, None, condition))
    return found


# ---- in a box ------------------------------------------------------------------------------------------------------


def _searched(
    system: System,
    nodes: Sequence[Node],
    touching: Sequence[Node],
    sides: Mapping[Node, int],
    asked: Mapping[str, Interval],
) -> Equilibria:
    """Branch and prune, once after eliminating what is linear and once as written; the better answer counts."""
    answers = []
    for eliminate in (True, False):
        answers.append(_search(system, [*nodes, *touching], sides, asked, eliminate))
        if answers[-1].complete:
            return answers[-1]
    return min(answers, key=lambda a: (-len(a.points), len(a.undecided)))


def _search(
    system: System, nodes: Sequence[Node], sides: Mapping[Node, int], asked: Mapping[str, Interval], eliminate: bool
) -> Equilibria:
    solved, nodes, divided = _linear_states(system, nodes) if eliminate else ([], list(nodes), [])
    slopes = [slope for slope, _ in divided]
    apart = [(slope, rest) for slope, rest in divided if graph.symbols([slope])]
    gone = {name for name, _ in solved}
    names = [name for name in system.names if name not in gone]
    nodes = [node for node in dict.fromkeys(nodes) if node is not graph.ZERO]
    size = _scale(nodes)
    ranges: list[Interval] = [asked.get(name, (-size, size)) for name in names]
    box: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    box |= dict(zip(names, ranges, strict=True))
    if len(nodes) != len(names):
        return _not_square(system, solved, nodes, names, box, sides, apart)
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
        enclosure = {name: ball_endpoints(ordered[name]) for name in system.names if ordered[name].is_finite()}
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
        points.append(_named(system, nodes, solved, enclosure))
    open_boxes, left = left, []
    for u in open_boxes:
        repeated = _repeated(u, nodes[0], names[0]) if len(names) == 1 and not solved and not sides and u.box else None
        if repeated is not None:
            points.append(repeated)
        else:
            left.append(_known(u, nodes, names))
    return Equilibria(_in_order(points, system), (), tuple(left), box)


def _scale(nodes: Sequence[Node]) -> Fraction:
    """How far the search goes by default: ten times the largest number in the equations, as a power of ten."""
    sizes = [1.0]
    for node in graph.topological(nodes):
        numbers = [c for c, _ in node.args] if node.op == "add" else node.args if node.op == "num" else ()
        sizes += [abs(float(c)) for c in numbers]
    return Fraction(10) ** min(max(1, 1 + math.ceil(math.log10(max(sizes)) - 1e-9)), 5)


def _linear_states(
    system: System, nodes: Sequence[Node]
) -> tuple[list[tuple[str, Node]], list[Node], list[tuple[Node, Node]]]:
    """States that an equation contains only linearly, as functions of the others; what is left; slopes with the rests.

    Where a slope vanishes together with its rest, the state is free, and nothing may be concluded.
    """
    solved: list[tuple[str, Node]] = []
    divided: list[tuple[Node, Node]] = []
    left = [node for node in nodes if node is not graph.ZERO]
    while True:
        best: tuple[tuple[int, int], str, Node, Node] | None = None
        for node in left:
            for name in sorted(graph.symbols([node])):
                (slope,) = graph.gradient(node, [graph.sym(name)])
                if name in graph.symbols([slope]):
                    continue
                key = (len(graph.symbols([slope])), len(graph.topological([node])))
                if best is None or key < best[0]:
                    best = (key, name, node, slope)
        if best is None:
            return solved, left, divided
        _, name, used, slope = best
        try:
            rest = graph.substitute([used], {graph.sym(name): graph.ZERO})[0]
            value = graph.multiply(graph.num(-1), rest, graph.power(slope, Fraction(-1)))
            new = graph.substitute([n for n in left if n is not used], {graph.sym(name): value})
            parts = [part for pair in [*divided, (slope, rest)] for part in pair]
            parts = graph.substitute(parts, {graph.sym(name): value})
        except ZeroDivisionError:
            return solved, left, divided
        divided = list(zip(parts[::2], parts[1::2], strict=True))
        solved.append((name, value))
        left = [n for n in new if n is not graph.ZERO]


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
        if all(sp.simplify(value) == 0 for value in values_at([*nodes, *lines], place)):
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


def _known(u: Undecided, nodes: Sequence[Node], names: Sequence[str]) -> Undecided:
    """An undecided box with the simple exact zero in it, if there is one."""
    guess = {name: _simple(ends, 1000) for name, ends in u.box.items()}
    if set(guess) != set(names) or None in guess.values():
        return u
    try:
        zero = all(sp.simplify(value) == 0 for value in values_at(nodes, guess))
    except EquationError:
        return u
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
        if sp.simplify(value) != 0:
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
) -> Equilibria:
    """More or fewer equations than states: a continuum where a slice has a certified zero, else undecided."""
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
            if not sides and (found is None or found.zeros):
                point: dict[str, Any] = dict(zip(system.names, system.states, strict=True))
                for name, expression in reversed(solved):
                    (point[name],) = to_sympy_many([expression], point)
                family = Continuum(point, free, missing, tuple(to_sympy_many(nodes)), (), "certificate")
                left = (Undecided("there may be more than this continuum"),) if nodes or apart else ()
                return Equilibria((), (family,), left, box)
    return Equilibria((), (), (Undecided("fewer equations than states, and no point of a continuum was found"),), box)
