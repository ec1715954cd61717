r"""Exact lumping: the fewest linear combinations of the states that contain some chosen ones and move by themselves.

.. math::  y = Lx, \qquad \dot y = L F(x) = G(y) \iff \text{the rows of } L\,DF(x) \text{ lie in the row space of } L
           \text{ for all } x .

The smallest such row space is grown modulo primes from the chosen rows, by products with the Jacobian at random points,
and lifted to the rational numbers. The law L F(x) = G(Lx) is then proved. Every start is described, unlike by a
quotient; but x can not be had back from y.

References
----------
Ovchinnikov, Perez Verona, Pogudin and Tribastone, CLUE: exact maximal reduction of kinetic models by constrained
lumping of differential equations (2021).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from ..errors import EquationError
from ..exact.evidence import identity
from ..exact.sparse_terms import Monomial, TooManyTerms, sparse_terms
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node, as_node, sym
from ..expr.sympy_bridge import to_sympy
from ..expr.system import TIME, System
from ..reading.grammar import Grammar
from ..reduce.reduction import Reduction
from ..verdicts import HOLDS, Verdict, proved
from .modular import PASSED_OVER, NoPoint, primes, rational, residue, residues

POINTS = 3  # random Jacobians; what all of them map into itself, every Jacobian does but for chance of one in 2^60
TRIES = (1, 2, 4)  # primes used together to lift the rows

Row = dict[int, Fraction]


@dataclass(frozen=True, eq=False, repr=False)
class Lumping(Reduction):
    """Linear combinations of states that move by themselves; made by `lump`.

    Parameters
    ----------
    system : System
        The equations of the combinations.
    source : System
        The equations of the states.
    rows : Mapping[str, Mapping[str, Fraction]]
        The combinations, {name: {state: coefficient}}.
    minimal : bool, optional
        No smaller set contains what was kept; true up to the random choice of points modulo a prime.

    Examples
    --------
    >>> from odesys import System
    >>> System.from_strings({"a": "b + c", "b": "-b", "c": "-c"}).lump("a")
    <Lumping: 3 -> 2 states, from every start>
    """

    system: System
    source: System
    rows: Mapping[str, Mapping[str, Fraction]]
    minimal: bool = True
    starts = "of any kind"

    def __repr__(self) -> str:
        return f"<Lumping: {self._sizes()} states, from every start>"

    @property
    def lifted(self) -> None:
        """There is none: many states have the same combinations."""
        return None

    def _lift(self, values: np.ndarray) -> NoReturn:
        raise EquationError(f"{self!r} has no way back: many states have the same combinations; integrate the source")

    def _project(self, values: np.ndarray) -> np.ndarray:
        place = {name: k for k, name in enumerate(self.source.names)}
        matrix = np.zeros((len(self.rows), len(place)))
        for k, row in enumerate(self.rows.values()):
            for name, c in row.items():
                matrix[k, place[name]] = float(c)
        return np.asarray(values @ matrix.T)

    def defects(self) -> dict[str, Node]:
        """L F(x) - G(L x), one expression per combination."""
        forms = {sym(n): graph.combine((c, sym(s)) for s, c in row.items()) for n, row in self.rows.items()}
        right = graph.substitute(self.system.nodes, forms)
        equations = self.source.equations
        left = [graph.combine((c, equations[s]) for s, c in row.items()) for row in self.rows.values()]
        return {name: a - b for name, a, b in zip(self.rows, left, right, strict=True)}

    def law(self, seed: int = 0) -> Verdict:
        """Whether the combinations of every state move as `system` says: proved, or not decided.

        Polynomials are compared by their terms, everything else by the exact zero test.
        """
        place = {name: k for k, name in enumerate(self.source.names)}
        rows = [{place[s]: c for s, c in row.items()} for row in self.rows.values()]
        if _maps_into_itself(self.source, rows):
            there = _at_pivots(self.source, rows, self.system.names)
            verdict = identity({n: a - b for n, a, b in zip(self.rows, there, self.system.nodes, strict=True)})
            method = "every coefficient of L DF lies in the row space of L; G is L F at one state with these L x"
            return proved(identities=len(rows), method=method) if verdict.as_stated == HOLDS else verdict
        return identity(self.defects())


def lump(system: System, keep: Any, seed: int = 0) -> Lumping:
    """The fewest linear combinations of states that contain `keep` and obey equations of their own, for all parameters.

    Parameters
    ----------
    system : System
        A flow or a map. Functions such as exp(x) are taken as independent of the states, so for them the result may be
        larger than the smallest (`minimal` is then False).
    keep : Any
        Linear combinations that the smaller system must contain, as text, nodes or SymPy expressions; a single one may
        stand alone.
    seed : int, optional
        Of the random points.

    Returns
    -------
    Lumping
        With ``system`` (its observables kept_1, kept_2, ... are what was kept), ``rows``, ``project(x)`` and ``law()``;
        an EquationError if only the whole system contains what is to be kept.

    Examples
    --------
    >>> from odesys import System, lump
    >>> both = System.from_strings({"a": "-a + k*(b - c)", "b": "a - 2*b", "c": "-a - 2*c"})
    >>> small = lump(both, "b + c")
    >>> small, small.rows
    (<Lumping: 3 -> 1 states, from every start>, {'y1': {'b': Fraction(1, 1), 'c': Fraction(1, 1)}})
    >>> small.system.equations, small.law().as_stated
    ({'y1': Node(-2*y1)}, 'holds')
    """
    chosen = [_row(system, one) for one in ([keep] if isinstance(keep, (str, Node)) else list(keep))]
    if not chosen:
        raise EquationError('keep nothing? name what the smaller system must contain, lump(system, ["x", "y + z"])')
    if system.surfaces:
        surface = to_sympy(system.surfaces[0])
        raise EquationError(
            f"lumping is for smooth equations, and these switch where {surface} = 0; hold the gates first"
        )
    found: list[Row] | None = None
    for count in TRIES:
        found = _closed_rows(system, chosen, count, seed)
        if found is not None:
            break
    if found is None:
        raise EquationError("the combinations could not be lifted to rational numbers; give simpler ones to keep")
    if len(found) == system.dimension:
        wanted = " and ".join(_said(system, row) for row in chosen[:4])
        raise EquationError(
            f"only all {system.dimension} states together contain {wanted} and move by themselves: nothing to lump"
        )
    names = _names(system, found)
    nodes = _at_pivots(system, found, names)
    table = {name: {system.names[k]: c for k, c in sorted(row.items())} for name, row in zip(names, found, strict=True)}
    kept = {
        f"kept_{k}": graph.combine((row[min(f)], sym(n)) for n, f in zip(names, found, strict=True) if min(f) in row)
        for k, row in enumerate(chosen, 1)
    }
    small = System(names, ScalarField(tuple(nodes), kept), system.parameters, system.kind)
    made = Lumping(small, system, table, minimal=not _has_functions(system))
    if made.law(seed).as_stated != HOLDS:
        raise EquationError(f"a lumping to {len(names)} states was found modulo primes, but its law is not proved")
    return made


def _at_pivots(system: System, rows: Sequence[Row], names: Sequence[str]) -> list[Node]:
    """L F at the state whose pivots carry the combinations, all other states being zero."""
    start = {sym(name): graph.ZERO for name in system.names}
    start |= {sym(system.names[min(row)]): sym(name) for name, row in zip(names, rows, strict=True)}
    sums = [graph.combine((c, system.nodes[k]) for k, c in row.items()) for row in rows]
    try:
        return graph.substitute(sums, start)
    except ZeroDivisionError:
        raise EquationError("the equations divide by a state that the combinations leave out; shift it first") from None


def _row(system: System, one: Any) -> Row:
    """Coefficients of a linear combination of states."""
    node = Grammar(states=system.names).read(one) if isinstance(one, str) else as_node(one)
    place = {name: k for k, name in enumerate(system.names)}
    row: Row = {}
    for c, term in graph.linear_terms(node):
        if term.op != "sym" or term.args[0] not in place or not isinstance(c, Fraction):
            raise EquationError(f"{one} is no linear combination of states with whole or rational coefficients")
        row[place[term.args[0]]] = c
    return row


def _has_functions(system: System) -> bool:
    return any(node.op not in ("num", "sym", "add", "mul") for node in graph.topological(system.nodes))


def _closed_rows(system: System, chosen: Sequence[Row], count: int, seed: int) -> list[Row] | None:
    """The smallest invariant row space that contains the chosen rows, in reduced echelon form; None if not lifted."""
    slopes = graph.jacobian(system.nodes, [sym(name) for name in system.names])
    places = [(i, j) for i, row in enumerate(slopes) for j in row]
    nodes = [slopes[i][j] for i, j in places]
    tables: list[list[list[int]]] = []
    used: list[int] = []
    for prime in primes(count + PASSED_OVER):
        try:
            values = residues(nodes, POINTS, seed, prime) if nodes else []
        except NoPoint:
            continue
        echelon = _grow(system.dimension, places, values, chosen, prime)
        if tables and len(echelon) != len(tables[0]):
            if len(echelon) < len(tables[0]):
                continue  # an unlucky prime loses rows
            tables, used = [], []
        tables.append(echelon)
        used.append(prime)
        if len(used) == count:
            break
    if not used:
        return None
    modulus, rows = used[0], tables[0]
    for prime, other in zip(used[1:], tables[1:], strict=True):
        lift = pow(modulus, -1, prime)
        rows = [
            [a + modulus * ((b - a) * lift % prime) for a, b in zip(old, new, strict=True)]
            for old, new in zip(rows, other, strict=True)
        ]
        modulus *= prime
    lifted = [{k: rational(v, modulus) for k, v in enumerate(row) if v} for row in rows]
    if any(v is None for row in lifted for v in row.values()):
        return None
    return [{k: v for k, v in row.items() if v is not None} for row in lifted]


def _grow(
    size: int, places: Sequence[tuple[int, int]], values: Sequence[np.ndarray], chosen: Sequence[Row], prime: int
) -> list[list[int]]:
    """Reduced echelon rows modulo a prime, closed under products with the Jacobians."""
    by_row: list[list[tuple[int, np.ndarray]]] = [[] for _ in range(size)]
    for (i, j), value in zip(places, values, strict=True):
        by_row[i].append((j, value))
    echelon: dict[int, np.ndarray] = {}  # pivot: row with one there and zero at the other pivots
    waiting = [_modulo(row, size, prime) for row in chosen]
    while waiting and len(echelon) < size:
        row = waiting.pop()
        for pivot, known in echelon.items():
            if row[pivot]:
                row = (row - row[pivot] * known) % prime
        support = np.flatnonzero(row)
        if not len(support):
            continue
        pivot = int(support[0])
        row = row * pow(int(row[pivot]), -1, prime) % prime
        for other, known in echelon.items():
            if known[pivot]:
                echelon[other] = (known - known[pivot] * row) % prime
        echelon[pivot] = row
        images = [np.zeros(size, dtype=object) for _ in range(POINTS)]
        for i in map(int, np.flatnonzero(row)):
            for j, value in by_row[i]:
                for image, v in zip(images, value, strict=True):
                    image[j] += row[i] * v
        waiting += [image % prime for image in images]
    return [[int(v) for v in echelon[p]] for p in sorted(echelon)]


def _modulo(row: Row, size: int, prime: int) -> np.ndarray:
    out = np.zeros(size, dtype=object)
    for k, c in row.items():
        out[k] = residue(c, prime)
    return out


def _maps_into_itself(system: System, rows: Sequence[Row]) -> bool:
    """True if each coefficient of L DF, a polynomial in states, parameters and functions, is a combination of the rows.

    For independent symbols this is the law; functions of states are symbols here, which is enough but not needed.
    """
    reduced = {min(row): row for row in rows}  # reduced echelon form, by pivot
    slopes = graph.jacobian(system.nodes, [sym(name) for name in system.names])
    try:
        for row in rows:
            parts: dict[Monomial, Row] = {}
            for i, c in row.items():
                for j, node in slopes[i].items():
                    for monomial, coefficient in sparse_terms(node).items():
                        vector = parts.setdefault(monomial, {})
                        vector[j] = vector.get(j, Fraction(0)) + c * coefficient
            if any(not _inside(vector, reduced) for vector in parts.values()):
                return False
    except TooManyTerms:
        return False
    return True


def _inside(vector: Row, reduced: Mapping[int, Row]) -> bool:
    rest = {k: v for k, v in vector.items() if v}
    for pivot in [k for k in rest if k in reduced]:
        factor = vector[pivot]
        for k, c in reduced[pivot].items():
            rest[k] = rest.get(k, Fraction(0)) - factor * c
    return not any(rest.values())


def _names(system: System, found: Sequence[Row]) -> tuple[str, ...]:
    """A name per row: that of a state where the row is one, y1, y2, ... for sums."""
    names: list[str] = []
    taken = {*system.names, *system.parameters, TIME}
    for row in found:
        if len(row) == 1:
            names.append(system.names[min(row)])
            continue
        k = len(names) + 1
        while f"y{k}" in taken:
            k += 1
        names.append(f"y{k}")
        taken.add(f"y{k}")
    return tuple(names)


def _said(system: System, row: Row) -> str:
    return str(to_sympy(graph.combine((c, sym(system.names[k])) for k, c in row.items())))
