r"""Who drives whom: dependency graph, strong components, linear part at a point, and the block that grows fastest.

.. math::  x \to y \iff x \text{ occurs in } F_y, \qquad DF(p)_{yx} = \partial F_y/\partial x\,(p) .
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import networkx as nx
import numpy as np
import sympy as sp

from ..errors import EquationError, ParameterError
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy, to_sympy_many
from ..expr.system import TIME, System
from .rest_words import rest_words

DIGITS = 40  # for the numerical half of a sign or zero decision
NO_NUMBERS = (sp.nan, sp.zoo, sp.oo, -sp.oo, sp.AccumBounds)  # what SymPy has for a value outside of a domain


def dependency_graph(system: System) -> nx.DiGraph:
    """Directed graph on state names with an edge x -> y where the right-hand side of y contains x.

    One pass over the shared expression graph with a bitset per node, so the cost does not grow with states squared.

    >>> system = System.from_equations({"x": graph.sym("y"), "y": graph.ONE})
    >>> list(dependency_graph(system).edges)
    [('y', 'x')]
    """
    bit = {name: 1 << k for k, name in enumerate(system.names)}
    seen: dict[Node, int] = {}
    for node in graph.topological(system.nodes):
        mask = bit.get(node.args[0], 0) if node.op == "sym" else 0
        for child in graph.children(node):
            mask |= seen[child]
        seen[node] = mask
    result = nx.DiGraph()
    result.add_nodes_from(system.names)
    for target, node in system.equations.items():
        mask = seen[node]
        while mask:
            lowest = mask & -mask
            result.add_edge(system.names[lowest.bit_length() - 1], target)
            mask ^= lowest
    return result


def strong_components(system: System) -> tuple[tuple[str, ...], ...]:
    """Groups of states that drive each other, drivers before the driven; states in the order of the system."""
    return ordered_components(dependency_graph(system), system.names)


def ordered_components(edges: nx.DiGraph, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """Strong components of a directed graph in topological order, ties broken by the order of `names`."""
    place = {name: k for k, name in enumerate(names)}
    condensed = nx.condensation(edges)
    members = {c: tuple(sorted(data["members"], key=place.__getitem__)) for c, data in condensed.nodes(data=True)}
    order = nx.lexicographical_topological_sort(condensed, key=lambda c: place[members[c][0]])
    return tuple(members[c] for c in order)


# ---- signs of exact numbers ----------------------------------------------------------------------------------------


def sign_of(value: Any) -> int | None:
    """Sign of an exact real expression as -1, 0 or 1; None where the assumptions (or float accuracy) leave it open."""
    e = sp.sympify(value)
    if e.has(*NO_NUMBERS):
        return None
    measured = e.has(sp.Float)
    if not e.free_symbols and not measured and not e.is_Rational:  # the assumptions of SymPy are slow on nested roots
        digits = sp.N(e, DIGITS)
        if digits.is_Float and abs(digits) > sp.Float(10) ** (10 - DIGITS):
            return 1 if digits > 0 else -1
    for candidate in (e, sp.factor_terms(e), sp.factor(e)) if e.free_symbols else () if measured else (e,):
        for answer, known in ((1, candidate.is_positive), (-1, candidate.is_negative), (0, candidate.is_zero)):
            if known:
                return answer
    if e.free_symbols:
        return None
    digits = sp.N(e, DIGITS)
    if not digits.is_Number or not digits.is_finite:
        return None
    if abs(digits) > (1e-9 if measured else sp.Float(10) ** (10 - DIGITS)):
        return 1 if digits > 0 else -1
    return 0 if not measured and _exactly_zero(e) else None


def _exactly_zero(e: sp.Expr) -> bool:
    if sp.expand(e) == 0:
        return True
    if e.is_algebraic:
        x = sp.Dummy("x")
        return bool(sp.minimal_polynomial(e, x) == x)
    from ..exact.zero import zero_test

    try:
        return bool(zero_test(graph.as_node(e)).answer == "zero")
    except EquationError:  # a function the graph does not have
        return False


# ---- exact values at a point ---------------------------------------------------------------------------------------


def substitution(values: Mapping[str, Any]) -> tuple[dict[Node, Node], dict[str, sp.Expr]]:
    """Split exact values into those the graph can hold and those (pi, algebraic roots) only SymPy can.

    The second part also keeps the user's own symbols, so that assumptions such as positivity survive.
    """
    nodes: dict[Node, Node] = {}
    outside: dict[str, sp.Expr] = {}
    for name, value in values.items():
        try:
            nodes[graph.sym(name)] = value if isinstance(value, Node) else graph.as_node(value)
        except EquationError:
            outside[name] = sp.sympify(value)
        if isinstance(value, sp.Basic):
            outside |= {symbol.name: symbol for symbol in value.free_symbols}
    return nodes, outside


def values_at(roots: Sequence[Node], values: Mapping[str, Any]) -> list[sp.Expr]:
    """Exact values of nodes with names replaced by numbers or expressions, as SymPy expressions."""
    nodes, outside = substitution(values)
    try:
        return to_sympy_many(graph.substitute(list(roots), nodes), outside)
    except ZeroDivisionError:
        raise EquationError(f"the equations divide by zero at {_point_text(values)}", point=dict(values)) from None


def linear_part(
    system: System, point: Mapping[str, Any] | None = None, parameters: Mapping[str, Any] | None = None
) -> sp.Matrix:
    r"""Exact Jacobian at a point, row y and column x holding :math:`\partial F_y/\partial x`.

    Parameters
    ----------
    point : values of the states, exact numbers or symbols; states left out stay symbols.
    parameters : values of parameters; parameters left out stay symbols, and a SymPy symbol keeps its assumptions.

    The derivative is carried through the expression graph together with the values, so constants are folded before
    anything grows. On a switching surface the derivative does not exist and an error names the surface.
    """
    rows, outside = _linear_nodes(system, point or {}, parameters or {})
    return _as_matrix(rows, range(system.dimension), outside)


def _linear_nodes(
    system: System, point: Mapping[str, Any], parameters: Mapping[str, Any]
) -> tuple[list[dict[int, Node]], dict[str, sp.Expr]]:
    values = checked_values(system, point, parameters)
    for surface, value in zip(system.surfaces, values_at(system.surfaces, values), strict=True):
        if value.is_zero:
            raise EquationError(
                f"the {rest_words(system).moves} has a kink at {_point_text(point)}: {to_sympy(surface)} is zero "
                f"there, so the Jacobian does not exist; take a point on one side",
                surface=surface,
            )
    nodes, outside = substitution(values)
    try:
        return _derivative_at(system.nodes, system.names, nodes), outside
    except ZeroDivisionError:
        raise EquationError(f"the equations divide by zero at {_point_text(values)}", point=dict(values)) from None


def _as_matrix(rows: Sequence[Mapping[int, Node]], index: Sequence[int], outside: Mapping[str, sp.Expr]) -> sp.Matrix:
    places = [(i, j) for i, k in enumerate(index) for j, m in enumerate(index) if m in rows[k]]
    entries = to_sympy_many([rows[index[i]][index[j]] for i, j in places], outside)
    return sp.Matrix(sp.SparseMatrix(len(index), len(index), dict(zip(places, entries, strict=True))))


def checked_values(system: System, point: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """States and parameters in one mapping, with a sentence for a name the system does not have."""
    for given, known, what in ((point, system.names, "state"), (parameters, system.parameters, "parameter")):
        extra = {s.name for value in point.values() if isinstance(value, sp.Basic) for s in value.free_symbols}
        wrong = sorted(str(name) for name in given if str(name) not in known)
        wrong = [name for name in wrong if what == "state" or name not in extra]
        if wrong:
            raise EquationError(f"{wrong[0]} is not a {what}; the {what}s are {', '.join(known[:12]) or 'none'}")
    placed = {str(name): value for name, value in point.items()}
    numbers = {str(name): value for name, value in parameters.items()}
    # a point may be written in symbols of its own (omega): `parameters` gives those numbers too
    for name, value in placed.items():
        if isinstance(value, sp.Basic):
            known_here = {s: sp.sympify(numbers[s.name]) for s in value.free_symbols if s.name in numbers}
            placed[name] = value.xreplace(known_here)
    return {**placed, **{name: value for name, value in numbers.items() if name in system.parameters}}


def _derivative_at(roots: Sequence[Node], names: Sequence[str], mapping: Mapping[Node, Node]) -> list[dict[int, Node]]:
    """Values and derivatives together, forward through the graph; gates count as constants."""
    column = {graph.sym(name): j for j, name in enumerate(names)}
    value: dict[Node, Node] = {}
    rows: dict[Node, dict[int, Node]] = {}
    for node in graph.topological(roots):
        value[node] = mapping[node] if node in mapping else graph.rebuild(node, value.__getitem__)
        parts: dict[int, list[Node]] = {}
        for child, slope in [] if node in column else _slopes(node, value, rows):
            for j, inner in rows[child].items():
                parts.setdefault(j, []).append(graph.multiply(slope, inner))
        merged = {j: graph.add(terms) for j, terms in parts.items()}
        rows[node] = (
            {column[node]: graph.ONE}
            if node in column
            else {j: total for j, total in merged.items() if total is not graph.ZERO}
        )
    return [rows[root] for root in roots]


def _slopes(node: Node, value: Mapping[Node, Node], rows: Mapping[Node, dict[int, Node]]) -> list[tuple[Node, Node]]:
    if node.op == "add":
        return [(term, graph.num(c)) for c, term in node.args]
    if node.op == "mul":
        found = []
        for k, (base, exponent) in enumerate(node.args):
            if rows[base]:
                others = [graph.power(value[b], e) for i, (b, e) in enumerate(node.args) if i != k]
                own = graph.scale(graph.power(value[base], exponent - 1), exponent)
                found.append((base, graph.multiply(own, *others)))
        return found
    if node.op in ("num", "sym"):
        return []
    argument = node.args[0]
    return [(argument, graph.derivative(node.op, value[argument], value[node]))] if rows[argument] else []


# ---- the critical block --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CriticalBlock:
    """The strong component of the linearised system that grows fastest.

    Attributes
    ----------
    states : the component, in the order of the system.
    matrix : the exact linear part restricted to it.
    growth : largest real part of its eigenvalues (of a map: largest modulus), computed in floats: a measurement.
    ties : other components whose growth agrees to nine digits.
    """

    states: tuple[str, ...]
    matrix: sp.Matrix
    growth: float
    ties: tuple[tuple[str, ...], ...] = ()
    evidence: str = "measurement"


def critical_block(
    system: System, point: Mapping[str, Any] | None = None, parameters: Mapping[str, Any] | None = None
) -> CriticalBlock:
    """The strong component of the linear part at `point` (by default the origin) with the largest growth rate.

    States left out of `point` are zero. Every symbol needs a number here, through `parameters`.

    >>> x, y = sp.symbols("x y")
    >>> critical_block(System.from_equations({x: 2 * x, y: x - y})).states
    ('x',)
    """
    full = {**dict.fromkeys(system.names, Fraction(0)), **{str(k): v for k, v in (point or {}).items()}}
    rows, outside = _linear_nodes(system, full, parameters or {})
    entries = {(i, j): node for i, row in enumerate(rows) for j, node in row.items()}
    used = graph.symbols(entries.values())
    loose = sorted(name for name in used if name not in outside or outside[name].free_symbols)
    if loose:
        hint = " (the system depends on time)" if loose[0] == TIME else f"; pass parameters={{'{loose[0]}': ...}}"
        raise ParameterError(f"the growth rate needs numbers, but {loose[0]} has none{hint}", symbol=loose[0])
    numbers = np.zeros((system.dimension, system.dimension))
    for place, value in _numbers(entries, outside).items():
        numbers[place] = value
    edges = nx.DiGraph()
    edges.add_nodes_from(system.names)
    edges.add_edges_from((system.names[j], system.names[i]) for i, j in np.argwhere(numbers))
    place_of = {name: k for k, name in enumerate(system.names)}
    measured = []
    for states in ordered_components(edges, system.names):
        index = [place_of[name] for name in states]
        spectrum = np.linalg.eigvals(numbers[np.ix_(index, index)])
        measured.append((float(np.max(spectrum.real if system.kind == "flow" else np.abs(spectrum))), states))
    growth = max(rate for rate, _ in measured)
    near = [(rate, states) for rate, states in measured if growth - rate <= 1e-9 * max(1.0, abs(growth))]
    rate, states = near[0]
    matrix = _as_matrix(rows, [place_of[name] for name in states], outside)
    return CriticalBlock(states, matrix, rate, tuple(s for _, s in near[1:]))


def _numbers(entries: Mapping[tuple[int, int], Node], outside: Mapping[str, sp.Expr]) -> dict[tuple[int, int], float]:
    """Floats of exact entries, zero only where an entry is zero: by balls, and by `sign_of` where a ball meets zero."""
    from ..exact.balls import ball_evaluate

    result: dict[tuple[int, int], float] = {}
    if graph.symbols(entries.values()):  # numbers such as pi that only SymPy can hold
        for place, value in zip(entries, to_sympy_many(entries.values(), outside), strict=True):
            result[place] = 0.0 if sign_of(value) == 0 else float(value)
        return result
    for (place, node), ball in zip(entries.items(), ball_evaluate(list(entries.values()), {}, 128), strict=True):
        open_case = not ball.is_finite() or ball.contains(0)
        result[place] = 0.0 if open_case and sign_of(to_sympy(node)) == 0 else float(ball.mid())
    return result


def _point_text(values: Mapping[str, Any]) -> str:
    items = [f"{name} = {value}" for name, value in list(values.items())[:4]]
    return ", ".join(items) + (", ..." if len(values) > 4 else "") or "the symbolic point"
