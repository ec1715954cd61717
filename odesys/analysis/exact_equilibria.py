"""Equilibria of polynomial and rational systems: exact on the whole space, or in symbols by cases of the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import prod
from typing import Any

import flint
import sympy as sp

from ..exact.balls import Interval
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy
from ..expr.system import System
from .multiplicity import multiplicity
from .number_field import AlgebraicPoint
from .polynomial_form import as_expression, factored, polynomial_context, quotients
from .polynomial_zeros import BASIS_LIMITS, Case, ZeroFamily, parametric_zeros, real_zeros
from .rest_sets import EVERYWHERE, Continuum, Ends, Equilibria, Equilibrium, Undecided, in_order

SAMPLES = 40  # points of a continuum that are tried for a sign


def exact_equilibria(
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
        count = multiplicity(held[: len(nodes)], point) if not touching else None  # no algebra at a kink
        place = dict(zip(system.names, values if exact else map(float, values), strict=True))
        points.append(Equilibrium(place, "proof" if exact else "certificate", enclosure, count, (), point))
    families, left = [], []
    for family in zeros.families:
        continuum = _continuum(family, system)
        side = _side_of(family, walls, list(sides.values()), seed)
        if side == "outside":
            continue
        continuum = replace(continuum, condition=(*continuum.condition, *_relations(continuum, sides, system)))
        if side == "inside":
            families.append(continuum)
        else:
            left.append(Undecided("whether a continuum of zeros meets its side of the switching surfaces"))
    for point in zeros.doubtful:
        signs = [point.sign(point.value(wall)) for wall in walls]
        if signs == list(sides.values()) and _inside(point, asked, system.names):
            place = dict(zip(system.names, point.expressions(), strict=True))
            left.append(Undecided("a zero may be isolated or belong to a continuum", contains=place))
    symbols = dict(zip(system.names, system.states, strict=True))
    for case in zeros.open:
        equations = tuple(as_expression(p, symbols) for p in case.equations)
        left.append(Undecided("elimination and Groebner basis did not settle a case", equations=equations))
    box: dict[str, Ends] = {name: asked.get(name, EVERYWHERE) for name in system.names}
    return Equilibria(in_order(points, system), tuple(families), tuple(left), box)


def _relations(continuum: Continuum, sides: Mapping[Node, int], system: System) -> tuple[Any, ...]:
    """Where a continuum lies; a flow also rests at its ends, for the field on that side is zero up to them."""
    above, below = (sp.Ge, sp.Le) if system.kind == "flow" else (sp.Gt, sp.Lt)
    at = {symbol: continuum.point[name] for name, symbol in zip(system.names, system.states, strict=True)}
    values = {wall: sp.cancel(to_sympy(wall).xreplace(at)) for wall in sides}
    found = [above(values[wall], 0) if sign > 0 else below(values[wall], 0) for wall, sign in sides.items()]
    return tuple(relation for relation in found if relation != sp.true)


def _inside(point: AlgebraicPoint, asked: Mapping[str, Interval], names: Sequence[str]) -> bool:
    for name, element in zip(names, point.coordinates, strict=True):
        low, high = asked.get(name, (None, None))
        if low is not None and high is not None:
            ends = [flint.fmpq(end.numerator, end.denominator) for end in (low, high)]
            if point.sign(element - ends[0]) < 0 or point.sign(element - ends[1]) > 0:
                return False
    return True


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
        values = [(-1) ** k * (k // 2 + 3 * i) for i, _ in enumerate(family.free)]
        if k % 4 > 1:
            values = [v * (-1) ** i for i, v in enumerate(values)]
        below = (1, 3, 17, 101)[k % 4]  # a segment may be short
        slices = [gens[j] * below - v for j, v in zip(family.free, values, strict=True)]
        for point in real_zeros([*held, *slices], context, family.nonzero, seed).points:
            if [point.sign(point.value(wall)) for wall in walls] == list(signs):
                return "inside"
    return "undecided"


# ---- in symbols ----------------------------------------------------------------------------------------------------


def parametric_equilibria(
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
        equal = _conditions([p for p in case.equations if not any(p.degrees()[:size])], case.nonzero, context)
        if any(p.is_constant() for p in equal):  # no parameters satisfy all of them
            continue
        if any(_follows(p, equal, context) for p in case.nonzero):  # what must not vanish does for these parameters
            continue
        rest = [p for p in case.equations if any(p.degrees()[:size])]
        zero = {name: 0 for name, gen in zip(loose, context.gens()[size:], strict=True) if gen in equal}
        rest = [p for q in rest if not (p := q.subs(zero) if zero else q).is_zero()]  # of the degree that is left
        safe = [f for p in case.nonzero for f, _ in factored(p.subs(zero) if zero else p)]
        if any(_never_zero(p, safe) for p in rest):
            continue
        gone = dict.fromkeys(zero, sp.S.Zero)
        known = {**symbols, **gone}
        conditions = [sp.Eq(as_expression(p, symbols), 0) for p in equal]
        if rest or len(case.solved) == size:  # V k + d is a condition on d where k = 0
            apart = [as_expression(p, known) for p in case.nonzero]
        else:  # a continuum: what must not vanish does not do so on all of it
            apart = [_sum(_somewhere(p, equal, case.nonzero, context, size), known) for p in case.nonzero]
        conditions += [sp.Ne(value, 0) for value in apart if not value.free_symbols & set(system.states)]
        if any(c == sp.false for c in conditions):
            continue
        told = tuple(dict.fromkeys(c for c in conditions if c != sp.true))
        answers = _in_symbols(case, rest, safe, system, known, told, fractions[1])
        if answers is None:
            text = tuple(as_expression(p, symbols) for p in rest)
            why = "a case in symbols needs more than square roots; give numbers"
            left.append(Undecided(why, equations=text, condition=told))
        elif equal:
            special += answers
        else:
            generic += [a for a in answers if isinstance(a, Equilibrium)]
            families += [a for a in answers if isinstance(a, Continuum)]
    if left and not families and (origin := _origin(system, fractions, symbols)) is not None:
        generic += [] if any(not any(e.point.values()) for e in generic) else [origin]
    order = sorted(generic, key=lambda e: [sp.default_sort_key(v) for v in e.point.values()])
    return Equilibria(tuple(order), tuple(families), tuple(left), box, tuple(special))


def _conditions(equal: Sequence[Any], nonzero: Sequence[Any], context: Any) -> list[Any]:
    """Equations between parameters in their simplest form: without factors that are not zero, and a reduced basis."""
    left = list(equal)
    for _ in range(2 if left else 0):
        generators: Any = flint.fmpz_mpoly_vec(left, context)
        found, finished = generators.buchberger_naive(limits=BASIS_LIMITS)
        basis = list(found.autoreduction()) if finished else left
        parts = [[f for f, _ in factored(p) if f not in nonzero and -f not in nonzero] for p in basis]
        left = [prod(some, start=context.constant(1)) for some in parts]
    return left


def _somewhere(polynomial: Any, equal: Sequence[Any], nonzero: Sequence[Any], context: Any, size: int) -> list[Any]:
    """Polynomials in the parameters one of which must not vanish, so that a polynomial is not zero for all states.

    They are its coefficients, without those that vanish wherever `equal` do; 1 if they never vanish together.
    """
    if not any(polynomial.degrees()[:size]):
        return [polynomial]
    parts: dict[Any, dict[Any, Any]] = {}
    for powers, c in polynomial.to_dict().items():
        parts.setdefault(powers[:size], {})[(0,) * size + tuple(powers[size:])] = c
    left = [p for p in map(context.from_dict, parts.values()) if not _follows(p, equal, context)]
    if any(p.is_constant() for p in _conditions([*equal, *left], nonzero, context)):
        return [context.constant(1)]
    known = [[f for f, _ in factored(p) if f not in nonzero and -f not in nonzero] for p in left]
    return [prod(some, start=context.constant(1)) for some in known]


def _sum(polynomials: Sequence[Any], symbols: Mapping[str, Any]) -> sp.Expr:
    """What is zero where all polynomials are: the only one, or the sum of their squares."""
    values = [as_expression(p, symbols) for p in polynomials]
    return values[0] if len(values) == 1 else sp.Add(*(value**2 for value in values))


def _never_zero(polynomial: Any, safe: Sequence[Any]) -> bool:
    """Whether all factors of a polynomial are among those that do not vanish."""
    return not polynomial.is_zero() and all(f in safe or -f in safe for f, _ in factored(polynomial))


def _follows(polynomial: Any, equal: Sequence[Any], context: Any) -> bool:
    """Whether a polynomial vanishes wherever equations between parameters hold: it lies in their ideal."""
    if not equal:
        return bool(polynomial.is_zero())
    bases = []
    for some in (equal, [*equal, polynomial]):
        generators: Any = flint.fmpz_mpoly_vec(some, context)
        found, finished = generators.buchberger_naive(limits=BASIS_LIMITS)
        if not finished:
            return False
        bases.append({str(p if p.leading_coefficient() > 0 else -p) for p in found.autoreduction()})
    return bases[0] == bases[1]


def _origin(system: System, fractions: Any, symbols: Mapping[str, Any]) -> Equilibrium | None:
    """Zero, where it is an equilibrium whatever the parameters are: no numerator has a term without a state."""
    size, (quotient, excluded) = system.dimension, fractions
    if any(not any(powers[:size]) for top, _ in quotient for powers in top.monoms()):
        return None
    zero = {name: sp.S.Zero for name in system.names}
    conditions = [sp.Ne(as_expression(p, {**symbols, **zero}), 0) for p in excluded]
    if any(c == sp.false for c in conditions):
        return None
    return Equilibrium(zero, "proof", {}, None, tuple(c for c in conditions if c != sp.true))


def _in_symbols(
    case: Case,
    rest: Sequence[Any],
    safe: Sequence[Any],
    system: System,
    symbols: Mapping[str, Any],
    told: tuple[Any, ...],
    divisors: Sequence[Any],
) -> list[Equilibrium | Continuum] | None:
    """What a case says about the states; None where it takes more than a square root of each."""
    gone = {s.variable for s in case.solved}
    free = [j for j in range(system.dimension) if j not in gone]
    if not rest and free:
        family = ZeroFamily(len(free), tuple(free), case.solved, (), case.nonzero)
        return [replace(_continuum(family, system, symbols), condition=told)]
    roots: list[list[tuple[dict[str, Any], tuple[Any, ...]]]] = []
    for p in rest:
        used = [j for j, n in enumerate(p.degrees()[: system.dimension]) if n]
        if len(used) != 1 or used[0] not in free or p.degrees()[used[0]] != 2:
            return None
        if not _never_zero(p.derivative(used[0]).derivative(used[0]), safe):  # then it may be linear
            return None
        free.remove(used[0])
        pair = _square_roots(as_expression(p, symbols), system.names[used[0]], symbols)
        if not pair:
            return []
        roots.append(pair)
    found: list[Equilibrium | Continuum] = []
    for chosen in product(*roots):
        values = {**symbols, **{name: value for start, _ in chosen for name, value in start.items()}}
        more = [relation for _, where in chosen for relation in where]
        for s in reversed(case.solved):
            top, bottom = as_expression(s.rest, values), sp.cancel(as_expression(s.slope, values))
            if bottom == 0:
                break
            values[system.names[s.variable]] = sp.cancel(-top / bottom)
            more += [sp.Ne(sp.numer(bottom), 0)] if rest and any(s.slope.degrees()[: system.dimension]) else []
        else:
            found += _placed(values, more, told, divisors if rest else (), free, system)
    return found


def _placed(
    values: Mapping[str, Any],
    more: Sequence[Any],
    told: tuple[Any, ...],
    divisors: Sequence[Any],
    free: Sequence[int],
    system: System,
) -> list[Equilibrium | Continuum]:
    """A point, or a continuum where states are free, with its conditions; nothing where these contradict each other."""
    apart = [sp.Ne(sp.numer(sp.cancel(as_expression(p, values))), 0) for p in divisors]
    condition = tuple(dict.fromkeys(c for c in (*told, *more, *apart) if c != sp.true))
    if sp.false in condition:
        return []
    place = {name: values[name] for name in system.names}
    if free:
        names = tuple(system.names[j] for j in free)
        return [Continuum(place, names, len(names), (), condition)]
    return [Equilibrium(place, "proof", {}, None, condition)]


def _square_roots(
    expression: sp.Expr, name: str, symbols: Mapping[str, Any]
) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """Both zeros of a polynomial of degree 2, with what makes them real; none where they never are."""
    c, b, a = sp.Poly(expression, symbols[name]).all_coeffs()[::-1]
    square = sp.factor(b**2 - 4 * a * c)
    if square == 0:
        return [({name: -b / (2 * a)}, ())]
    number, letters = square.as_coeff_Mul()
    real = sp.Ge(letters, 0) if number > 0 else sp.Le(letters, 0)
    if real == sp.false:
        return []
    where = () if real == sp.true else (real,)
    return [({name: (-b + sign * sp.sqrt(square)) / (2 * a)}, where) for sign in (-1, 1)]
