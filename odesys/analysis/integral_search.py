"""The search behind first integrals: linear relations between the changes of monomials, modulo primes, then proved."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement
from math import gcd, lcm
from typing import Any

import flint
import numpy as np

from ..exact.balls import ball_program
from ..exact.zero import in_short, zero_test
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import System
from ..shortening import shortened
from .conserved import check_integral, lie_derivative
from .modular import PASSED_OVER, PRIMES_TRIED, NoPoint, kernel, kernel_modulo, primes, residues, residues_somewhere

SPARE_POINTS = 12  # points beyond the number of unknowns
LARGEST_SEARCH = 6000  # monomials
SAME_DIRECTION = 1e-14  # of unit gradients, as far as floats can tell: one minus their product
HIGHEST_COEFFICIENT = 4  # degree in the parameters
LARGEST_POWER = 1000  # of a factor; sums of logarithms with larger numbers stay what they are

Monomial = tuple[int, ...]  # indices of variables, sorted, with repetition
Polynomial = dict[Monomial, Fraction]


@dataclass(frozen=True, repr=False)
class FirstIntegral:
    """A conserved quantity, and how it was proved."""

    name: str
    node: Node
    proof: str

    def __repr__(self) -> str:
        return shortened(f"<FirstIntegral {self.name} = {in_short(self.node)}, proved: {self.proof}>")

    def _repr_latex_(self) -> str | None:
        from ..report.cards import integral_tex

        return integral_tex(self)


def monomials(variables: Sequence[int], degree: int) -> list[Monomial]:
    """Monomials in some variables, highest degree first, without the constant."""
    return [m for d in range(degree, 0, -1) for m in combinations_with_replacement(variables, d)]


class Search:
    """Linear relations between the changes of monomials in some variables."""

    def __init__(self, system: System, variables: Sequence[Node], seed: int) -> None:
        self.system, self.variables, self.seed = system, list(variables), seed
        names = [graph.sym(name) for name in system.names]
        if system.kind == "map":
            self.changes = list(system.nodes)
        else:
            self.changes = [system.equations[v.args[0]] if v in names else lie_derivative(system, v) for v in variables]
        self.parameters = [graph.sym(name) for name in system.parameters]
        self._values: dict[Any, Any] = {}

    def changes_of(self, columns: Sequence[Monomial], prime: int, fixed: bool = False) -> list[np.ndarray]:
        """The change of each monomial in variables and parameters, at random points, by the product rule."""
        points = len(columns) + SPARE_POINTS
        key = (prime, fixed, points)
        if key not in self._values:
            rng = np.random.default_rng(self.seed + 1)
            held = {p.args[0]: pow(int(rng.integers(1, prime)), 2, prime) for p in self.parameters} if fixed else None
            roots = [*self.variables, *self.changes, *self.parameters]
            self._values[key] = residues(roots, points, self.seed, prime, held)
        values = self._values[key]
        count = len(self.variables)
        x = [*values[:count], *values[2 * count :]]
        still = [np.full(points, 0, dtype=object)] * len(self.parameters)
        if self.system.kind == "map":
            still = list(values[2 * count :])
        rhs = [*values[count : 2 * count], *still]
        one = np.full(points, 1, dtype=object)
        value: dict[Monomial, np.ndarray] = {(): one}
        change: dict[Monomial, np.ndarray] = {(): one if self.system.kind == "map" else 0 * one}

        def build(m: Monomial) -> None:
            if m in value:
                return
            rest, last = m[:-1], m[-1]
            build(rest)
            value[m] = value[rest] * x[last] % prime
            if self.system.kind == "map":  # here `change` holds the image
                change[m] = change[rest] * rhs[last] % prime
            else:
                change[m] = (change[rest] * x[last] + value[rest] * rhs[last]) % prime

        for m in columns:
            build(m)
        if self.system.kind == "map":
            return [(change[m] - value[m]) % prime for m in columns]
        return [change[m] for m in columns]

    def _has_points(self, columns: Sequence[Monomial], prime: int) -> bool:
        """Whether roots of numbers, and of parameters that are held, are there modulo a prime."""
        try:
            return all(bool(self.changes_of(columns, prime, fixed)) for fixed in (True, False))
        except NoPoint:
            return False

    def node(self, polynomial: Polynomial) -> Node:
        """A polynomial in variables and parameters as an expression."""
        table = [*self.variables, *self.parameters]
        return graph.combine((c, graph.multiply(*(table[i] for i in m))) for m, c in polynomial.items())

    def proved(self, polynomial: Polynomial, number: int) -> FirstIntegral | None:
        """The integral of a candidate, if it is proved; products of powers where it is a sum of logarithms alone."""
        node = self.node(polynomial)
        terms = [(Fraction(c), t) for c, t in graph.linear_terms(node)]
        if all(t.op == "log" and max(abs(c.numerator), c.denominator) <= LARGEST_POWER for c, t in terms):
            node = graph.multiply(*(graph.power(t.args[0], c) for c, t in terms))
        result = check_integral(self.system, node)
        return FirstIntegral(f"I{number}", node, f"exact: {result.method}") if result.answer == "zero" else None

    def is_constant(self, node: Node) -> bool:
        """Whether a quantity is conserved because it is a number, such as the square of sine and cosine."""
        slopes = graph.gradient(node, [graph.sym(name) for name in self.system.names])
        return all(slope is graph.ZERO or zero_test(slope).answer == "zero" for slope in slopes)

    def with_numbers(
        self, columns: Sequence[Monomial], degree: int, parameters: int = 0
    ) -> tuple[list[FirstIntegral], bool]:
        """All integrals over some monomials with numbers as coefficients, without polynomials in earlier ones."""
        fixed = range(len(self.variables), len(self.variables) + parameters)
        found: list[FirstIntegral] = []
        for count in PRIMES_TRIED:
            try:
                _, rows = kernel(partial(self.changes_of, columns), count)
            except NoPoint:
                break
            lifted = [{columns[k]: c for k, c in row.items()} for row in rows if row is not None]
            found, refused = self._independent(lifted, columns, degree, [{(i,): Fraction(1)} for i in fixed])
            if not refused and len(lifted) == len(rows):
                return found, True
        return found, False

    def _independent(
        self, candidates: Sequence[Polynomial], columns: Sequence[Monomial], degree: int, known: list[Polynomial]
    ) -> tuple[list[FirstIntegral], int]:
        """Integrals that are no polynomials in earlier ones, and how many candidates were not proved."""
        found: list[FirstIntegral] = []
        given, span, refused = len(known), _Span(columns), 0
        for d in range(1, degree + 1):
            products = list(_products(known, d, given))
            for product in products:
                span.insert(product)
            for candidate in (c for c in candidates if max(map(len, c)) == d):
                rest = _primitive(_sparse(span.reduce(candidate), products))
                if not rest:
                    continue
                integral = self.proved(rest, len(found) + 1)
                if integral is None:
                    refused += 1
                    continue
                span.insert(rest)
                if not self.is_constant(integral.node):
                    found.append(integral)
                    known.append(rest)
        return found, refused

    def over(self, columns: Sequence[Monomial]) -> tuple[list[FirstIntegral], bool]:
        """All integrals over some monomials with coefficients that are rational in the parameters."""
        degree = max(map(len, columns))
        found, complete = self.with_numbers(columns, degree)
        if not self.parameters:
            return found, complete
        prime = next(filter(partial(self._has_points, columns), primes(PASSED_OVER)), 0)
        if not prime:
            return found, False
        generic = kernel_modulo(self.changes_of(columns, prime, True), prime)
        support = [k for k in range(len(columns)) if any(row[k] for row in generic)]
        constant = kernel_modulo(self.changes_of(columns, prime), prime)
        if len(generic) == len(constant):
            return found, complete
        if complete and self._covered(found, columns, prime, degree) >= len(generic):
            return found, True
        # with coefficients in the parameters there are more: raise their degree until all are there
        first = len(self.variables)
        for power in range(1, HIGHEST_COEFFICIENT + 1):
            factors = [(), *monomials(range(first, first + len(self.parameters)), power)]
            wide = [tuple(sorted((*columns[k], *q))) for k in support for q in factors]
            if len(wide) > LARGEST_SEARCH // 2:
                break
            wide.sort(key=lambda m: -len(m))
            held: list[Polynomial] = [{(i,): Fraction(1)} for i in range(first, first + len(self.parameters))]
            try:
                _, rows = kernel(partial(self.changes_of, wide), 2)
            except NoPoint:
                break
            lifted = [{wide[k]: c for k, c in row.items()} for row in rows if row is not None]
            lifted = [c for c in lifted if max(map(len, c)) <= degree + power]
            more, _ = self._independent(lifted, wide, degree + power, held)
            best = self._generic_rank(more, found)
            if len(best) > len(found):
                found = best
            covered = self._covered(found, columns, prime, degree)
            # dependent as functions, but no polynomials in the others: the third component of Laplace's vector
            for one in more if covered < len(generic) else ():
                wider = [*found, FirstIntegral(f"I{len(found) + 1}", one.node, one.proof)]
                reached = self._covered(wider, columns, prime, degree)
                if reached > covered:
                    found, covered = wider, reached
            if covered >= len(generic):
                return found, True
        return found, False

    def without_copies(self, found: Sequence[FirstIntegral]) -> tuple[list[FirstIntegral], int]:
        """Integrals without those that are a function of one other, such as log(x) beside x; how many are independent.

        Gradients are compared in floats at one random point; a bad draw can only drop an integral.
        """
        rng = np.random.default_rng(self.seed + 5)
        names = [*self.system.names, *self.system.parameters]
        point = dict(zip(names, rng.uniform(0.5, 2.0, len(names)).tolist(), strict=True))
        states = [graph.sym(name) for name in self.system.names]
        rows: list[np.ndarray] = []
        kept: list[FirstIntegral] = []
        for integral in found:
            balls = ball_program(graph.gradient(integral.node, states), 64)({n: flint.arb(v) for n, v in point.items()})
            row = np.array([float(v.mid()) for v in balls])
            row = row / np.linalg.norm(row) if np.isfinite(row).all() and row.any() else rng.normal(size=row.size)
            if all(abs(abs(float(row @ other)) - 1.0) > SAME_DIRECTION for other in rows):
                rows.append(row)
                kept.append(FirstIntegral(f"I{len(kept) + 1}", integral.node, integral.proof))
        return kept, int(np.linalg.matrix_rank(np.array(rows), tol=1e-9)) if rows else 0

    def new_ones(self, nodes: Sequence[Node], found: Sequence[FirstIntegral]) -> list[FirstIntegral]:
        """Those of some quantities that are conserved, proved, and independent of what was found."""
        known, new = list(found), list[FirstIntegral]()
        for node in nodes:
            result = check_integral(self.system, node)
            one = FirstIntegral(f"I{len(known) + 1}", node, f"exact: {result.method}")
            if result.answer == "zero" and len(self._generic_rank([one], known)) > len(self._generic_rank([], known)):
                known.append(one)
                new.append(one)
        return new

    def _generic_rank(self, more: list[FirstIntegral], before: list[FirstIntegral]) -> list[FirstIntegral]:
        """Integrals whose gradients are independent at a random point, those known before first."""
        names = [graph.sym(name) for name in self.system.names]
        kept: list[FirstIntegral] = []
        rank = 0
        for integral in [*before, *more]:
            trial = [*kept, integral]
            slopes = [s for i in trial for s in graph.gradient(i.node, names)]
            prime, values = residues_somewhere(slopes, 1, self.seed)
            matrix = flint.nmod_mat(len(trial), len(names), [int(v[0]) for v in values], prime)
            if matrix.rank() > rank:
                rank, kept = matrix.rank(), trial
        return [FirstIntegral(f"I{k + 1}", i.node, i.proof) for k, i in enumerate(kept)]

    def _covered(self, found: Sequence[FirstIntegral], columns: Sequence[Monomial], prime: int, degree: int) -> int:
        """How many relations between columns, at fixed parameters, follow from constants and polynomials in integrals.

        Columns such as x/(x + k) and 1/(x + k) have combinations that are constant, which no integral is needed for.
        """
        nodes = [i.node for i in found]
        products = [graph.multiply(*(nodes[k] for k in m)) for m in monomials(range(len(nodes)), degree)]
        points = len(products) + len(columns) + SPARE_POINTS
        held = {p.args[0]: (3 + 7 * k) ** 2 for k, p in enumerate(self.parameters)}
        terms = [graph.multiply(*(self.variables[i] for i in m)) for m in columns]
        try:
            values = residues([graph.ONE, *terms, *products], points, self.seed, prime, held)
        except NoPoint:  # then more may be missing than is
            return 0
        width = 1 + len(columns)
        inside, known = _rank(values[:width], prime), _rank([values[0], *values[width:]], prime)
        shared = inside + known - _rank(values, prime)  # dimension of what both span; the constants are in both
        return shared - 1 + width - inside


def _rank(columns: Sequence[np.ndarray], prime: int) -> int:
    entries = np.array(columns, dtype=object).ravel().tolist()
    return int(flint.nmod_mat(len(columns), len(columns[0]), [int(v) for v in entries], prime).rank())


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
            # monomials that are no columns come first: what is left of a product after them may still help
            pivot = min(rest, key=lambda m: (self._place.get(m, -1), m))
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
