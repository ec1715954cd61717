r"""Conserved quantities: found by exact linear algebra, proved by the zero test, or supplied and checked.

A polynomial in the states is conserved if the changes of its monomials cancel,

.. math::  I = \sum_\alpha c_\alpha x^\alpha, \qquad \sum_\alpha c_\alpha\,\tfrac{d}{dt} x^\alpha = 0 .

The Lie derivatives are evaluated modulo a large prime at random points, where every function of the states and every
parameter takes an independent residue; the nullspace is lifted to rationals, and each candidate is then proved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import gcd, isqrt, lcm
from typing import Any

import flint
import numpy as np

from ..errors import EquationError
from ..exact.rewriting import Rewriter, has_floats
from ..exact.zero import ZeroResult, zero_test
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System

PRIME = 2**61 - 1
SPARE_POINTS = 12  # points beyond the number of unknowns
LARGEST_SEARCH = 6000  # monomials

Monomial = tuple[int, ...]  # indices of variables, sorted, with repetition
Polynomial = dict[Monomial, Fraction]


@dataclass(frozen=True)
class FirstIntegral:
    """A conserved quantity, and how it was proved."""

    name: str
    node: Node
    proof: str


def lie_derivative(system: System, node: Any) -> Node:
    r"""Change of a quantity along the system.

    .. math::  \nabla I \cdot F + \partial_t I \quad\text{for a flow}, \qquad I(F(x)) - I(x) \quad\text{for a map.}

    Gates count as constants, so the answer is about motion between switching surfaces; a quantity that jumps there
    needs more.

    >>> from odesys import System, lie_derivative, sym
    >>> x, y = sym("x"), sym("y")
    >>> lie_derivative(System.from_equations({"x": y, "y": -x}), x**2 + y**2)
    Node(0)
    """
    node = graph.as_node(node)
    used = graph.symbols([node])
    unknown = sorted(used - {*system.names, *system.parameters, TIME})
    if unknown:
        raise EquationError(f"the quantity uses {unknown[0]}, which is neither a state nor a parameter of the system")
    moving = [(graph.sym(name), rhs) for name, rhs in system.equations.items() if name in used]
    if system.kind == "map":
        if TIME in used:
            raise EquationError("a map has no time t; write the conserved quantity in the states and parameters")
        return graph.add([graph.substitute([node], dict(moving))[0], -node])
    if TIME in used:
        moving.append((graph.sym(TIME), graph.ONE))
    slopes = graph.gradient(node, [symbol for symbol, _ in moving])
    return graph.add(graph.multiply(slope, rhs) for slope, (_, rhs) in zip(slopes, moving, strict=True))


def check_integral(system: System, expression: Any, positive: Collection[str] = (), seed: int = 0) -> ZeroResult:
    """Whether a supplied quantity is conserved: ``zero`` is a proof, ``nonzero`` has a point where it changes."""
    return zero_test(lie_derivative(system, expression), positive, seed)


def polynomial_integrals(
    system: System, degree: int = 2, parameters: bool = False, seed: int = 0
) -> list[FirstIntegral]:
    """Polynomial conserved quantities up to `degree`, modulo polynomials in those of lower degree; constants excluded.

    Parameters
    ----------
    system : a flow or a map without floats.
    degree : of the polynomial in the states; with `parameters`, in states and parameters together.
    parameters : let coefficients be polynomials in the parameters; otherwise they are numbers, and what is found holds
        for all values of the parameters.
    seed : of the random points; a bad draw can only cost candidates, never let a wrong one pass.
    """
    if degree < 1:
        raise EquationError(f"the degree of a conserved polynomial is at least 1, not {degree}")
    if has_floats(system.nodes):
        raise EquationError("the equations contain floats, so nothing can be proved about them; use exact fractions")
    names = system.names + (system.parameters if parameters else ())
    fixed = range(system.dimension, len(names))
    columns = [
        m
        for d in range(degree, 0, -1)
        for m in combinations_with_replacement(range(len(names)), d)
        if m[0] < system.dimension
    ]
    if len(columns) > LARGEST_SEARCH:
        raise EquationError(
            f"degree {degree} in {len(names)} variables has {len(columns)} monomials, more than {LARGEST_SEARCH}; "
            f"lower the degree, or search the quotient by the symmetries"
        )
    candidates = _nullspace(_derivatives(system, names, columns, seed), columns)
    found: list[FirstIntegral] = []
    known: list[Polynomial] = [{(i,): Fraction(1)} for i in fixed]
    span = _Span(columns)
    for d in range(1, degree + 1):
        products = list(_products(known, d, len(fixed)))
        for product in products:
            span.insert(product)
        for candidate in (c for c in candidates if max(map(len, c)) == d):
            rest = _primitive(_sparse(span.reduce(candidate), products))
            if not rest:
                continue
            node = _node(rest, names)
            result = check_integral(system, node)
            if result.answer == "zero":
                found.append(FirstIntegral(f"I{len(found) + 1}", node, f"exact: {result.method}"))
                known.append(rest)
                span.insert(rest)
    return found


# ---- Lie derivatives modulo a prime --------------------------------------------------------------------------------


def _derivatives(system: System, names: Sequence[str], columns: Sequence[Monomial], seed: int) -> list[np.ndarray]:
    """The change of each monomial at random points modulo PRIME, by the product rule."""
    rewriter = Rewriter()
    nodes = rewriter(system.nodes)
    symbols = [graph.sym(name) for name in names]
    values = _residues([*nodes, *symbols], rewriter, len(columns) + SPARE_POINTS, seed)
    rhs, x = values[: len(nodes)], values[len(nodes) :]
    still = [np.full(len(columns) + SPARE_POINTS, 0, dtype=object)] * (len(names) - len(nodes))
    rhs = rhs + (x[len(nodes) :] if system.kind == "map" else still)
    one = np.full(len(columns) + SPARE_POINTS, 1, dtype=object)
    value: dict[Monomial, np.ndarray] = {(): one}
    change: dict[Monomial, np.ndarray] = {(): one if system.kind == "map" else 0 * one}
    for d in range(1, len(columns[0]) + 1):
        for m in combinations_with_replacement(range(len(names)), d):
            rest, last = m[:-1], m[-1]
            value[m] = value[rest] * x[last] % PRIME
            if system.kind == "map":  # here `change` holds the image
                change[m] = change[rest] * rhs[last] % PRIME
            else:
                change[m] = (change[rest] * x[last] + value[rest] * rhs[last]) % PRIME
    return [(change[m] - value[m]) % PRIME if system.kind == "map" else change[m] for m in columns]


def _residues(roots: Sequence[Node], rewriter: Rewriter, points: int, seed: int) -> list[np.ndarray]:
    """Values of rewritten expressions modulo PRIME; every symbol, atom and root is random, consistently."""
    rng = np.random.default_rng(seed)
    order = graph.topological(roots)
    split: dict[Node, int] = {}  # a base with fractional powers is itself a power
    for node in order:
        for base, exponent in node.args if node.op == "mul" else ():
            split[base] = lcm(split.get(base, 1), exponent.denominator)
    sines = {s: c for c, s in rewriter.relations.sine.items()}
    draws: dict[Node, np.ndarray] = {}
    roots_of: dict[Node, np.ndarray] = {}

    def draw(top: int = PRIME) -> np.ndarray:
        return rng.integers(top == PRIME, top, points).astype(object)

    def symbol(node: Node) -> np.ndarray:
        if node in rewriter.relations.gates:
            return draw(2)
        if node in rewriter.relations.edges:
            return np.full(points, 0, dtype=object)
        cosine = sines.get(node, node)
        if cosine in rewriter.relations.sine:  # by the tangent of the half angle
            if cosine not in draws:
                t = draw()
                inverse = _power(1 + t * t, -1)
                draws[cosine] = (1 - t * t) * inverse % PRIME
                draws[rewriter.relations.sine[cosine]] = 2 * t * inverse % PRIME
            return draws[node]
        roots_of[node] = draw()
        return _power(roots_of[node], split.get(node, 1))

    memo: dict[Node, np.ndarray] = {}
    powers: dict[tuple[Node, Fraction], np.ndarray] = {}
    for node in order:
        if node.op == "num":
            memo[node] = np.full(points, _residue(node.args[0]), dtype=object)
        elif node.op == "sym":
            memo[node] = symbol(node)
        elif node.op == "add":
            memo[node] = np.add.reduce([_residue(c) * memo[t] for c, t in node.args]) % PRIME
        else:
            total = np.full(points, 1, dtype=object)
            for base, exponent in node.args:
                if (base, exponent) not in powers:
                    if exponent.denominator == 1:
                        powers[base, exponent] = _power(memo[base], int(exponent))
                    else:  # the root of a sum is random too: it may hide an integral, but shows no wrong one
                        roots_of[base] = roots_of[base] if base in roots_of else draw()
                        powers[base, exponent] = _power(roots_of[base], int(exponent * split[base]))
                total = total * powers[base, exponent] % PRIME
            memo[node] = total
    return [memo[root] for root in roots]


def _residue(value: Any) -> int:
    return int(value.numerator * pow(value.denominator, -1, PRIME) % PRIME)


def _power(values: np.ndarray, exponent: int) -> np.ndarray:
    if exponent < 0:
        return _power(_inverse(values), -exponent)
    out = np.full(len(values), 1, dtype=object)
    for bit in bin(exponent)[2:]:
        out = out * out % PRIME if bit == "0" else out * out % PRIME * values % PRIME
    return out


def _inverse(values: np.ndarray) -> np.ndarray:
    """Inverses of all entries by one inversion: prefix products, then backwards."""
    prefix, total = [], 1
    for v in values:
        prefix.append(total)
        total = total * v % PRIME
    total = pow(total, -1, PRIME)
    out = np.empty(len(values), dtype=object)
    for k in range(len(values) - 1, -1, -1):
        out[k] = total * prefix[k] % PRIME
        total = total * values[k] % PRIME
    return out


# ---- linear algebra ------------------------------------------------------------------------------------------------


def _nullspace(matrix_columns: Sequence[np.ndarray], columns: Sequence[Monomial]) -> list[Polynomial]:
    """Polynomials with vanishing derivative, in reduced echelon form with the highest degree first."""
    rows = len(matrix_columns[0])
    entries = np.array(matrix_columns, dtype=object).T.ravel().tolist()
    kernel, nullity = flint.nmod_mat(rows, len(columns), entries, PRIME).nullspace()
    if nullity == 0:
        return []
    table = kernel.transpose().tolist()[:nullity]
    reduced, _ = flint.nmod_mat(nullity, len(columns), [int(v) for row in table for v in row], PRIME).rref()
    out = []
    for row in reduced.tolist():
        lifted = {m: _lift(int(v)) for m, v in zip(columns, row, strict=True) if int(v)}
        if all(value is not None for value in lifted.values()):
            out.append({m: value for m, value in lifted.items() if value is not None})
    return out


def _lift(residue: int) -> Fraction | None:
    """The fraction with small numerator and denominator that has this residue."""
    bound = isqrt(PRIME // 2)
    r0, r1, s0, s1 = PRIME, residue, 0, 1
    while r1 > bound:
        q = r0 // r1
        r0, r1, s0, s1 = r1, r0 - q * r1, s1, s0 - q * s1
    return Fraction(r1, s1) if s1 and abs(s1) <= bound and gcd(r1, s1) == 1 else None


class _Span:
    """A growing space of polynomials in echelon form."""

    def __init__(self, columns: Sequence[Monomial]) -> None:
        self._place = {m: k for k, m in enumerate(columns)}
        self._rows: list[tuple[Monomial, Polynomial]] = []

    def reduce(self, polynomial: Polynomial) -> Polynomial:
        """The remainder of a polynomial, zero if it lies in the space."""
        rest = dict(polynomial)
        for pivot, row in self._rows:
            if pivot in rest:
                factor = rest[pivot]
                for m, c in row.items():
                    rest[m] = rest.get(m, Fraction(0)) - factor * c
                rest = {m: c for m, c in rest.items() if c}
        return rest

    def insert(self, polynomial: Polynomial) -> None:
        """Add a polynomial to the space."""
        rest = self.reduce(polynomial)
        if rest:
            pivot = min(rest, key=self._place.__getitem__)
            self._rows.append((pivot, {m: c / rest[pivot] for m, c in rest.items()}))


def _products(known: Sequence[Polynomial], degree: int, parameters: int) -> Iterator[Polynomial]:
    """Products of two or more known polynomials (parameters first) of this degree, not of parameters alone."""
    sizes = [max(map(len, p)) for p in known]
    for count in range(2, degree + 1):
        for choice in combinations_with_replacement(range(len(known)), count):
            if choice[-1] < parameters or sum(sizes[k] for k in choice) != degree:
                continue
            product: Polynomial = {(): Fraction(1)}
            for k in choice:
                grown: Polynomial = {}
                for m, c in product.items():
                    for n, e in known[k].items():
                        key = tuple(sorted(m + n))
                        grown[key] = grown.get(key, Fraction(0)) + c * e
                product = grown
            yield {m: c for m, c in product.items() if c}


def _sparse(polynomial: Polynomial, products: Sequence[Polynomial]) -> Polynomial:
    """The polynomial minus multiples of products, as long as that makes it shorter."""
    shorter = True
    while shorter and polynomial:
        shorter = False
        for product in products:
            ratios = Counter(polynomial[m] / c for m, c in product.items() if m in polynomial)
            if ratios:
                factor = ratios.most_common(1)[0][0]
                rest = dict(polynomial)
                for m, c in product.items():
                    rest[m] = rest.get(m, Fraction(0)) - factor * c
                rest = {m: c for m, c in rest.items() if c}
                if len(rest) < len(polynomial):
                    polynomial, shorter = rest, True
    return polynomial


def _primitive(polynomial: Polynomial) -> Polynomial:
    """The same up to a factor, with coprime integer coefficients, most of them positive."""
    if not polynomial:
        return {}
    values = list(polynomial.values())
    scale = Fraction(lcm(*(c.denominator for c in values)), gcd(*(c.numerator for c in values)))
    balance = sum(1 if c > 0 else -1 for c in values)
    scale = -scale if balance < 0 or (balance == 0 and polynomial[min(polynomial)] < 0) else scale
    return {m: c * scale for m, c in polynomial.items()}


def _node(polynomial: Polynomial, names: Sequence[str]) -> Node:
    return graph.combine((c, graph.multiply(*(graph.sym(names[i]) for i in m))) for m, c in polynomial.items())
