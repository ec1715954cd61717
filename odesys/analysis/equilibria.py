r"""Equilibria of a flow (fixed points of a map): found exactly where algebra allows, linearised, classified.

.. math::  F(p) = 0 \quad (\text{of a map: } F(p) = p), \qquad \lambda \in \operatorname{spec} DF(p) .

At a hyperbolic point the type of the linear part is the type of the flow (Hartman-Grobman). A linear centre decides
nothing: it becomes a centre of the flow when a first integral is supplied that is proved to be conserved and has a
definite Hessian at the point.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import sympy as sp

from ..errors import EquationError, ParameterError
from ..exact.rewriting import has_floats
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy_many
from ..expr.system import TIME, System
from .dependency import checked_values, linear_part, sign_of, substitution, values_at
from .linear import SIZE_LIMIT, exact_spectrum

EXACT_LIMIT = 4  # states; above this roots are searched for in floats
STARTS = 200
ACCURACY = 1e-9


@dataclass(frozen=True)
class Equilibrium:
    """A point where the field vanishes.

    Attributes
    ----------
    point : values by state name, exact expressions or floats; a state in `free` stands for itself (a whole family).
    evidence : ``proof`` if the field vanishes there exactly, ``measurement`` if a root finder says so.
    residual : size of the field there, for measurements.
    """

    point: Mapping[str, Any]
    free: tuple[str, ...] = ()
    evidence: str = "proof"
    residual: float = 0.0


def equilibria(
    system: System,
    parameters: Mapping[str, Any] | None = None,
    box: Mapping[str, tuple[float, float]] | None = None,
    seed: int = 0,
) -> list[Equilibrium]:
    """All real equilibria of a small polynomial or rational system, exactly; else those a search in floats finds.

    The exact list is as complete as `sympy.solve` is. The search starts from random points of `box` (by default -5 to
    5 for each state) and may miss some; what it finds becomes an exact point where a simple one passes an exact check.

    >>> x = sp.Symbol("x")
    >>> [str(e.point["x"]) for e in equilibria(System.from_equations({x: x * (1 - x)}))]
    ['0', '1']
    """
    values = checked_values(system, {}, parameters or {})
    nodes = _residuals(system)
    if TIME in graph.symbols(nodes) and TIME not in system.names:
        raise EquationError("the system depends on time t, so it has no equilibria; freeze t first")
    mapping, outside = substitution(values)
    nodes = graph.substitute(nodes, mapping)
    if system.dimension <= EXACT_LIMIT and _is_rational(nodes):
        found = _solve(system, to_sympy_many(nodes, outside))
        if found is not None:
            return found
    return _search(system, nodes, outside, box or {}, seed)


def _residuals(system: System) -> list[Node]:
    if system.kind == "flow":
        return list(system.nodes)
    return [node - graph.sym(name) for name, node in system.equations.items()]


def _is_rational(nodes: list[Node]) -> bool:
    for node in graph.topological(nodes):
        numbers = [c for c, _ in node.args] if node.op == "add" else node.args if node.op == "num" else ()
        if node.op not in ("num", "sym", "add", "mul") or any(isinstance(c, float) for c in numbers):
            return False
        if node.op == "mul" and any(exponent.denominator != 1 for _, exponent in node.args):
            return False
    return True


def _solve(system: System, expressions: list[sp.Expr]) -> list[Equilibrium] | None:
    unknowns = list(system.states)
    parts = [sp.fraction(sp.together(e)) for e in expressions]
    tops = [top for top, _ in parts]
    if not any(tops):
        return [Equilibrium({x.name: x for x in unknowns}, system.names)]
    try:
        numeric = not set().union(*(top.free_symbols for top in tops)) - set(unknowns)
        solutions = _isolated(tops, unknowns) if numeric else None
        eliminated = solutions is not None
        if solutions is None:
            solutions = sp.solve(tops, unknowns, dict=True)
    except NotImplementedError:
        return None
    found = []
    for solution in solutions:
        imaginary = any(value.is_real is False for value in solution.values())
        if imaginary or any(_is_zero(bottom.xreplace(solution)) for _, bottom in parts):
            continue  # no real point, or one where the numerator vanishes but the field is not defined
        if not eliminated and not all(_is_zero(top.xreplace(solution)) for top in tops):
            return None
        point = {x.name: solution.get(x, x) for x in unknowns}
        found.append(Equilibrium(point, tuple(x.name for x in unknowns if x not in solution)))
    return sorted(found, key=lambda e: [sp.default_sort_key(value) for value in e.point.values()])


def _isolated(polynomials: list[sp.Expr], unknowns: list[sp.Symbol]) -> list[dict[sp.Symbol, sp.Expr]] | None:
    """All real zeros, if finitely many, by lexicographic elimination and exact real roots; else None."""
    if not unknowns:
        return [{}] if all(sp.expand(p) == 0 for p in polynomials) else []
    basis = sp.groebner(polynomials, *unknowns, order="grevlex")
    if basis.exprs == [1] or not basis.is_zero_dimensional:
        return [] if basis.exprs == [1] else None
    *others, last = unknowns
    lex = basis.fglm("lex").exprs
    eliminant = next(p for p in reversed(lex) if p.free_symbols <= {last})
    found: list[dict[sp.Symbol, sp.Expr]] = []
    for factor, _ in sp.factor_list(eliminant, last)[1]:
        roots = sp.real_roots(factor, last)
        if sp.degree(factor, last) == 1:
            rest = _isolated([p.xreplace({last: roots[0]}) for p in lex], others)
            if rest is None:
                return None
            found += [{**solution, last: roots[0]} for solution in rest]
        elif roots:
            rest_of = _by_last([*lex, factor], others, last)
            found += [{**{x: e.xreplace({last: root}) for x, e in rest_of.items()}, last: root} for root in roots]
    return found


def _by_last(polynomials: list[sp.Expr], others: list[sp.Symbol], last: sp.Symbol) -> dict[sp.Symbol, sp.Expr]:
    """The other coordinates as polynomials in the last one, where elimination gives them so."""
    found = {}
    for x, p in itertools.product(others, sp.groebner(polynomials, *others, last, order="lex").exprs):
        slope = sp.diff(p, x)
        if slope.is_Rational and slope != 0 and p.free_symbols <= {x, last}:
            found[x] = sp.expand(x - p / slope)
    if len(found) < len(others):
        raise NotImplementedError("several zeros share an irrational coordinate")
    return found


def _is_zero(expression: sp.Expr) -> bool:
    return bool(sp.expand(expression) == 0 or sign_of(sp.cancel(sp.expand(expression))) == 0)


def _search(
    system: System, nodes: list[Node], outside: Mapping[str, Any], box: Mapping[str, Any], seed: int
) -> list[Equilibrium]:
    from scipy.optimize import root

    loose = sorted(graph.symbols(nodes) - set(system.names))
    numbers = {name: float(outside[name]) for name in loose if name in outside and not outside[name].free_symbols}
    for name in (name for name in loose if name not in numbers):
        raise ParameterError(f"equilibria of this system are searched for in floats, so {name} needs a number")
    residual = System.from_equations(dict(zip(system.names, nodes, strict=True)), loose).compile(numbers)
    ranges = np.array([box.get(name, (-5.0, 5.0)) for name in system.names], dtype=float)
    rng = np.random.default_rng(seed)
    starts = rng.uniform(ranges[:, 0], ranges[:, 1], (STARTS, system.dimension))
    slack = 1e-6 * (1.0 + np.abs(ranges))
    points: list[np.ndarray] = []

    def field(x: np.ndarray) -> np.ndarray:
        value = residual(0.0, x)
        if not np.isfinite(value).all():  # the search does not go on from outside of the domain
            raise ArithmeticError
        return value

    with np.errstate(all="ignore"):
        for start in [ranges.mean(axis=1), *starts]:
            try:
                result = root(field, start, tol=1e-13)
                small = bool(np.max(np.abs(field(result.x))) < ACCURACY)
            except ArithmeticError:
                continue
            inside = bool(np.all((result.x >= ranges[:, 0] - slack[:, 0]) & (result.x <= ranges[:, 1] + slack[:, 1])))
            if small and inside and all(np.max(np.abs(result.x - p)) > 1e-5 for p in points):
                points.append(result.x)
    found = []
    # floats are not exact, and with a kink whole regions may rest: a nice-looking point would prove nothing there
    exact = not has_floats(nodes) and not graph.surfaces(nodes)
    for p in sorted(points, key=lambda x: np.round(x, 6).tolist()):
        candidate = {name: _simple(value) for name, value in zip(system.names, p, strict=True)}
        if exact and all(value == 0 for value in values_at(nodes, {**outside, **candidate})):
            found.append(Equilibrium(candidate))
        else:
            size = float(np.max(np.abs(residual(0.0, p))))
            found.append(Equilibrium(dict(zip(system.names, p.tolist(), strict=True)), (), "measurement", size))
    return found


def _simple(value: float) -> sp.Expr:
    return sp.S.Zero if abs(value) < 1e-8 else sp.nsimplify(value, [sp.pi], tolerance=1e-8)


# ---- linear part ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linearisation:
    """Jacobian at a point and its eigenvalues with multiplicities; floats where exact algebra does not reach."""

    matrix: sp.Matrix
    eigenvalues: tuple[tuple[Any, int], ...]
    evidence: str


def linearise(
    system: System, point: Mapping[str, Any] | Equilibrium, parameters: Mapping[str, Any] | None = None
) -> Linearisation:
    """Exact Jacobian at a point and its eigenvalues (of a map: its multipliers)."""
    place = point.point if isinstance(point, Equilibrium) else point
    matrix = linear_part(system, place, parameters)
    try:
        if not matrix.has(sp.Float) and matrix.rows <= SIZE_LIMIT:
            matrix = matrix.applyfunc(sp.cancel)
            return Linearisation(matrix, tuple((s.value, s.multiplicity) for s in exact_spectrum(matrix)), "proof")
    except EquationError:
        pass
    if matrix.free_symbols:
        first = sorted(symbol.name for symbol in matrix.free_symbols)[0]
        raise EquationError(f"the eigenvalues at this point have no closed form; give {first} a number", matrix=matrix)
    numbers = np.linalg.eigvals(np.array(matrix.tolist(), dtype=float))
    return Linearisation(matrix, tuple((sp.sympify(complex(v)), 1) for v in numbers), "measurement")


# ---- classification ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Classification:
    """What an equilibrium is.

    Attributes
    ----------
    linear_type : node, focus, saddle, centre, degenerate (a zero eigenvalue, or +-1 for a map) or undecided.
    stability : ``asymptotically stable``, ``stable``, ``unstable`` or ``undecided``, of the full system.
    nonlinear_type : the type for the full system, or ``undecided``.
    reason : the sentence behind the answer.
    """

    linear_type: str
    stability: str
    nonlinear_type: str
    eigenvalues: tuple[tuple[Any, int], ...]
    evidence: str
    reason: str


def classify(
    system: System,
    point: Mapping[str, Any] | Equilibrium,
    integral: Any = None,
    parameters: Mapping[str, Any] | None = None,
) -> Classification:
    """Type and stability of an equilibrium; `integral` is a conserved quantity that may settle a linear centre.

    >>> x, y = sp.symbols("x y")
    >>> oscillator = System.from_equations({x: y, y: -x})
    >>> classify(oscillator, {"x": 0, "y": 0}).nonlinear_type
    'undecided'
    >>> classify(oscillator, {"x": 0, "y": 0}, integral=x**2 + y**2).nonlinear_type
    'centre'
    """
    place = point.point if isinstance(point, Equilibrium) else {str(name): value for name, value in point.items()}
    _check_equilibrium(system, place, parameters or {})
    linear = linearise(system, place, parameters)
    if any(sp.sympify(value).has(sp.Float) for value in (*place.values(), *(parameters or {}).values())):
        linear = replace(linear, evidence="measurement")  # a float point is a measured one
    kind, stability = (
        _planar(linear.matrix)
        if linear.matrix.shape == (2, 2) and system.kind == "flow"
        else _general(linear, system.kind)
    )
    if kind in ("node", "focus", "saddle", "node or focus"):
        return Classification(kind, stability, kind, linear.eigenvalues, linear.evidence, "hyperbolic: Hartman-Grobman")
    reason = {
        "centre": "eigenvalues on the imaginary axis (map: unit circle) decide nothing; supply a first integral",
        "degenerate": "an eigenvalue is zero or repeated on the boundary of stability, which decides nothing",
    }.get(kind, "the sign of a real part is not decided; give numbers or assumptions")
    answer = Classification(kind, stability, "undecided", linear.eigenvalues, linear.evidence, reason)
    if kind not in ("centre", "degenerate") or integral is None or system.kind == "map":
        return answer
    conserved, reason = _definite_integral(system, place, integral, parameters or {})
    closed = conserved and kind == "centre" and system.dimension == 2
    return replace(
        answer,
        stability="stable" if conserved else stability,
        nonlinear_type="centre" if closed else "undecided",
        reason=reason,
    )


def _check_equilibrium(system: System, place: Mapping[str, Any], parameters: Mapping[str, Any]) -> None:
    missing = [name for name in system.names if name not in place]
    if missing:
        raise EquationError(f"the point has no value for {missing[0]}")
    residuals = values_at(_residuals(system), checked_values(system, place, parameters))
    for name, value in zip(system.names, residuals, strict=True):
        measured = value.has(sp.Float) and not value.free_symbols
        if abs(complex(value)) > 1e3 * ACCURACY if measured else not _is_zero(value):
            what = "its equation gives" if system.kind == "flow" else "one step moves it by"
            raise EquationError(f"the point is no equilibrium: {name} does not rest, {what} {value}", residual=value)


def _planar(matrix: sp.Matrix) -> tuple[str, str]:
    """Trace and determinant need no radicals, so they also decide symbolic matrices."""
    trace, determinant = sp.cancel(matrix.trace()), sp.cancel(matrix.det())
    area, drift = sign_of(determinant), sign_of(trace)
    if area == -1:
        return "saddle", "unstable"
    if area is None or drift is None:
        return "undecided", "unstable" if drift == 1 else "undecided"
    if area == 0:
        return "degenerate", "unstable" if drift == 1 else "undecided"
    if drift == 0:
        return "centre", "undecided"
    turn = sign_of(sp.cancel(trace**2 - 4 * determinant))
    shape = "node or focus" if turn is None else "focus" if turn == -1 else "node"
    return shape, "asymptotically stable" if drift == -1 else "unstable"


def _general(linear: Linearisation, kind: str) -> tuple[str, str]:
    sides, turning = [], []
    for value, multiplicity in linear.eigenvalues:
        real, imaginary = sp.expand(value).as_real_imag()
        size = real if kind == "flow" else sp.expand(real**2 + imaginary**2) - 1
        sides.append(sign_of(size))
        # a repeated eigenvalue on the boundary may hide a Jordan block
        turning.append(sign_of(imaginary) in (1, -1) and (sides[-1] != 0 or multiplicity == 1))
    if None in sides:
        return "undecided", "unstable" if 1 in sides else "undecided"
    if 0 in sides:
        plain = all(side == 0 for side in sides) and all(turning)
        return "centre" if plain else "degenerate", "unstable" if 1 in sides else "undecided"
    if len(set(sides)) > 1:
        return "saddle", "unstable"
    return "focus" if any(turning) else "node", "asymptotically stable" if sides[0] == -1 else "unstable"


def _definite_integral(
    system: System, place: Mapping[str, Any], integral: Any, parameters: Mapping[str, Any]
) -> tuple[bool, str]:
    """Whether a quantity is proved to be conserved and to have a strict extremum at the point."""
    from .first_integrals import check_integral

    node = graph.as_node(integral)
    numbers = {name: value for name, value in parameters.items() if not isinstance(value, sp.Symbol)}
    bound = system.substitute(numbers) if numbers else system
    inserted = graph.substitute([node], {graph.sym(name): graph.as_node(value) for name, value in numbers.items()})[0]
    answer = check_integral(bound, inserted).answer
    if answer != "zero":
        return False, f"the quantity supplied is not proved to be conserved (zero test: {answer})"
    symbols = [graph.sym(name) for name in system.names]
    slopes = graph.gradient(node, symbols)
    rows = graph.jacobian(slopes, symbols)
    values = checked_values(system, place, parameters)
    if not all(_is_zero(value) for value in values_at(slopes, values)):
        return False, "the quantity supplied is conserved but has no extremum at the point: its gradient is not zero"
    size = range(system.dimension)
    flat = values_at([rows[i].get(j, graph.ZERO) for i in size for j in size], values)
    hessian = sp.Matrix(system.dimension, system.dimension, flat)
    minors = [sign_of(sp.cancel(hessian[:k, :k].det())) for k in range(1, system.dimension + 1)]
    if all(sign == 1 for sign in minors) or all(sign == (-1) ** k for k, sign in enumerate(minors, start=1)):
        sense = "minimum" if minors[0] == 1 else "maximum"
        return True, f"a conserved quantity has a strict {sense} at the point (definite Hessian): orbits stay near"
    return False, "the quantity supplied is conserved, but its Hessian is not shown to be definite at the point"
