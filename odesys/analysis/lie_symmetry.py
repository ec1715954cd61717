r"""Linear Lie symmetries: matrices A that carry solutions to solutions, and scalings of states, parameters and time.

.. math::  [Ax, F] = DF(x)\,Ax - A F(x) = c\,F(x) \quad\Rightarrow\quad x(t) \mapsto e^{sA} x(e^{cs}\,t)
           \text{ maps solutions to solutions.}

The pairs (A, c) are a linear space: it is found modulo primes at random points, lifted and proved. A scaling multiplies
each state and parameter by a power of one number; its exponents solve a linear system that is read off the equations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import flint
import numpy as np
import sympy as sp

from ..errors import EquationError
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.graph import Node, sym
from ..expr.sympy_bridge import to_sympy
from ..expr.system import TIME, System
from .modular import PRIMES_TRIED, NoPoint, kernel, residues

LARGEST = 24  # states up to which all matrices are searched

Weights = dict[str, Fraction]


@dataclass(frozen=True)
class LinearSymmetry:
    """A direction A x in which solutions can be moved, and the rate c of time.

    Parameters
    ----------
    matrix : Mapping[tuple[str, str], Fraction]
        Entries of A that are not zero, by row and column.
    time : Fraction
        The rate c.

    Examples
    --------
    >>> from odesys import System, linear_symmetries
    >>> (growth,) = linear_symmetries(System.from_strings({"x": "x**2"}))
    >>> growth
    LinearSymmetry(matrix={('x', 'x'): Fraction(1, 1)}, time=Fraction(1, 1))
    """

    matrix: Mapping[tuple[str, str], Fraction]
    time: Fraction

    def __str__(self) -> str:
        rows: dict[str, list[tuple[Fraction, Node]]] = {}
        for (row, column), c in self.matrix.items():
            rows.setdefault(row, []).append((c, sym(column)))
        used = {name for pair in self.matrix for name in pair}
        step = next(name for name in ("s", "eps", "ds", "step_of_symmetry") if name not in used)
        moves = [f"{row} -> {row} + {step}*({to_sympy(graph.combine(terms))})" for row, terms in rows.items()]
        return ", ".join([*moves, *([f"t -> t - {self.time}*{step}*t"] if self.time else [])])


def linear_symmetries(system: System, seed: int = 0) -> tuple[LinearSymmetry, ...]:
    """A basis of all (A, c) with DF A x - A F = c F, each proved; for all values of the parameters.

    Functions of states are followed by their own rules (cos and sin on the circle), other functions are taken as
    independent: then a symmetry may be missed, but none is wrong. Where the field switches, a symmetry must move each
    surface into itself; combinations of those that do not are not searched.

    Parameters
    ----------
    system : System
        A flow of at most 24 states whose equations do not contain t.
    seed : int, optional
        Of the random points.

    Returns
    -------
    tuple[LinearSymmetry, ...]
        A basis; empty where there is none.

    Examples
    --------
    >>> from odesys import System, linear_symmetries
    >>> [str(g) for g in linear_symmetries(System.from_strings({"x": "x*y", "y": "-y**2"}))]
    ['x -> x + s*(x)', 'y -> y + s*(y), t -> t - 1*s*t']
    """
    if system.kind == "map" or TIME in graph.symbols(system.nodes):
        raise EquationError("linear symmetries are searched for flows whose equations do not contain t")
    n = system.dimension
    if n > LARGEST:
        raise EquationError(f"{n} states have {n * n} entries to search, more than those of {LARGEST}; try scalings()")
    states = [sym(name) for name in system.names]
    columns = _columns(system, states)

    def values(prime: int) -> Sequence[np.ndarray]:
        points = len(columns) // n + 2
        flat = residues([node for column in columns for node in column], points, seed, prime)
        return [np.concatenate(flat[k * n : (k + 1) * n]) for k in range(len(columns))]

    for count in PRIMES_TRIED:
        try:
            _, rows = kernel(values, count)
        except NoPoint:
            raise EquationError("the equations have roots of too many numbers for a search modulo primes") from None
        if all(row is not None for row in rows):
            break
    found = []
    for row in rows:
        if row is None:
            raise EquationError("the symmetries have entries too large to be lifted to rational numbers")
        gaps = [graph.combine((c, columns[k][i]) for k, c in row.items()) for i in range(n)]
        if all(gap is graph.ZERO or zero_test(gap).answer == "zero" for gap in gaps):
            entries = {(system.names[k // n], system.names[k % n]): c for k, c in row.items() if k < n * n}
            if all(_keeps(surface, entries) for surface in system.surfaces):
                found.append(LinearSymmetry(entries, row.get(n * n, Fraction(0))))
    return tuple(found)


def _keeps(surface: Node, entries: Mapping[tuple[str, str], Fraction]) -> bool:
    """Whether a matrix moves a switching surface into itself: the change of h is a multiple of h, by a number."""
    names = sorted({row for row, _ in entries})
    slopes = dict(zip(names, graph.gradient(surface, [sym(name) for name in names]), strict=True))
    change = graph.combine((c, slopes[row] * sym(column)) for (row, column), c in entries.items())
    ratio = to_sympy(change / surface)
    return bool(sp.cancel(ratio).is_Rational)


def _columns(system: System, states: Sequence[Node]) -> list[list[Node]]:
    """DF A x - A F for every matrix with a single one, and -F for the rate of time."""
    slopes = graph.jacobian(system.nodes, states)
    n = len(states)
    found = []
    for i in range(n):
        for j in range(n):
            column = [slopes[k][i] * states[j] if i in slopes[k] else graph.ZERO for k in range(n)]
            column[i] = column[i] - system.nodes[j]
            found.append(column)
    return [*found, [-node for node in system.nodes]]


def scalings(system: System, parameters: bool = False) -> tuple[Weights, ...]:
    """Exponents a with x -> k^a x for states, `t` and (if asked) parameters, that map solutions to solutions, k > 0.

    With parameters these are the units that can be chosen: each takes one parameter out of the equations. The answer is
    complete for equations as they are written: a sum scales if its terms do alike.

    Parameters
    ----------
    system : System
        A flow.
    parameters : bool, optional
        Let parameters scale too.

    Returns
    -------
    tuple[dict[str, Fraction], ...]
        A basis of the exponents, by name; what is not named stays.

    Examples
    --------
    >>> from odesys import System, scalings
    >>> logistic = System.from_strings({"x": "r*x*(1 - x/K)"})
    >>> [{name: str(a) for name, a in one.items()} for one in scalings(logistic, parameters=True)]
    [{'x': '1', 'K': '1'}, {'t': '-1', 'r': '1'}]
    """
    if system.kind == "map":
        raise EquationError("scalings are searched for flows; a map has no time to scale")
    names = [*system.names, TIME, *(system.parameters if parameters else ())]
    place = {name: k for k, name in enumerate(names)}
    equations: list[dict[int, Fraction]] = []
    memo: dict[Node, dict[int, Fraction]] = {}
    for node in graph.topological(system.nodes):
        memo[node] = _weight(node, memo, place, equations)
    for name, node in system.equations.items():
        if node is not graph.ZERO:
            right = _plus(memo[node], {place[TIME]: Fraction(1)}, 1)
            equations.append(_plus(right, {place[name]: Fraction(1)}, -1))
    rows = [
        [flint.fmpq(e.get(k, Fraction(0)).numerator, e.get(k, Fraction(0)).denominator) for k in place.values()]
        for e in equations
        if e
    ]
    return _nullspace(rows, names)


def _weight(
    node: Node, memo: Mapping[Node, dict[int, Fraction]], place: Mapping[str, int], equations: list[dict[int, Fraction]]
) -> dict[int, Fraction]:
    """The weight of an expression as a linear form in those of names; what it asks for is added to `equations`."""
    if node.op == "sym":
        return {place[node.args[0]]: Fraction(1)} if node.args[0] in place else {}
    if node.op == "add":
        weights = [{} if term is graph.ONE else memo[term] for _, term in node.args]
        equations += [_plus(weight, weights[0], -1) for weight in weights[1:]]
        return weights[0]
    if node.op == "mul":
        total: dict[int, Fraction] = {}
        for base, exponent in node.args:
            total = _plus(total, memo[base], exponent)
        return total
    if node.op not in ("num", "step"):  # a gate sees only the sign of its argument
        equations.append(memo[node.args[0]])
    return {}


def _plus(a: Mapping[int, Fraction], b: Mapping[int, Fraction], factor: Fraction | int) -> dict[int, Fraction]:
    out = dict(a)
    for k, c in b.items():
        out[k] = out.get(k, Fraction(0)) + factor * c
    return {k: c for k, c in out.items() if c}


def _nullspace(rows: Sequence[Sequence[flint.fmpq]], names: Sequence[str]) -> tuple[Weights, ...]:
    reduced, rank = flint.fmpq_mat(len(rows), len(names), [c for row in rows for c in row]).rref()
    table = [[Fraction(int(c.p), int(c.q)) for c in row] for row in reduced.tolist()[:rank]]
    pivots = [next(k for k, c in enumerate(row) if c) for row in table]
    found = []
    for free in (k for k in range(len(names)) if k not in pivots):
        vector = {names[p]: -row[free] for p, row in zip(pivots, table, strict=True) if row[free]}
        vector[names[free]] = Fraction(1)
        found.append({name: vector[name] for name in names if name in vector})
    return tuple(found)
