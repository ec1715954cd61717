r"""First integrals: quantities that a system conserves, found by linear algebra modulo primes and then proved.

.. math::  I = \sum_m c_m(p)\, m + \sum_k \lambda_k(p) \log f_k, \qquad \nabla I \cdot F = 0,

over the monomials m up to a degree in the states and in atoms (1/r, cos x, exp x), and the logarithms of polynomials
:math:`f_k` that divide their own derivative (Darboux). The change of each term is evaluated modulo primes at random
points; what annihilates them is lifted to the rational numbers and proved. `Integrals.ansatz` says for which terms the
answer is complete.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import combinations_with_replacement
from math import gcd, lcm
from typing import Any

import flint
import numpy as np

from ..errors import EquationError
from ..exact.balls import ball_program
from ..exact.rewriting import has_floats
from ..exact.zero import ZeroResult, in_short, zero_test
from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node
from ..expr.system import TIME, System
from ..shortening import shortened
from .modular import PRIMES_TRIED, kernel, kernel_modulo, primes, residues
from .polynomial_form import is_rational, polynomial_context, quotients

SPARE_POINTS = 12  # points beyond the number of unknowns
LARGEST_SEARCH = 6000  # monomials
QUICK_SEARCH = 1500  # monomials; with more a search by default takes the degree below
SAME_DIRECTION = 1e-14  # of unit gradients, as far as floats can tell: one minus their product
MOST_ATOMS = 8
HIGHEST_COEFFICIENT = 4  # degree in the parameters

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


@dataclass(frozen=True, eq=False)
class Integrals(Sequence[FirstIntegral]):
    """The conserved quantities found, what they were looked for among, and whether these are all of that kind.

    >>> from odesys import System, sym
    >>> found = System.from_equations({"x": sym("y"), "y": -sym("x")}).first_integrals()
    >>> len(found), found.complete, found.ansatz
    (1, True, 'polynomials of degree at most 2 in x, y')
    """

    found: tuple[FirstIntegral, ...]
    ansatz: str
    complete: bool
    degree: int = 0  # of the monomials searched
    independent: int = 0  # of those found, as functions

    def __getitem__(self, index: Any) -> Any:
        return self.found[index]

    def __len__(self) -> int:
        return len(self.found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return shortened(
            f"<Integrals: {len(self)}, {'complete' if self.complete else 'not complete'} for {self.ansatz}>"
        )

    def _repr_html_(self) -> str:
        from ..report.cards import integrals_card

        return integrals_card(self)


def lie_derivative(system: System, node: Any) -> Node:
    r"""Change of a quantity along the system.

    .. math::  \nabla I \cdot F + \partial_t I \quad\text{for a flow}, \qquad I(F(x)) - I(x) \quad\text{for a map.}

    Gates count as constants, so the answer is about motion between switching surfaces; a quantity that jumps there
    needs more.

    Parameters
    ----------
    system : System
        A flow or a map.
    node : Any
        The quantity: a node, a SymPy expression or a name.

    Returns
    -------
    Node
        The rate of change, or for a map the change in one step.

    Examples
    --------
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
    """Whether a supplied quantity is conserved: ``zero`` is a proof, ``nonzero`` has a point where it changes.

    A quantity with gates of its own must not jump where the flow crosses their surfaces.

    Parameters
    ----------
    system : System
        A flow or a map.
    expression : Any
        The quantity: a node, a SymPy expression or a name.
    positive : Collection[str], optional
        Names taken to be positive.
    seed : int, optional
        Of the points tried as witnesses.

    Returns
    -------
    ZeroResult
        Answer ``zero``, ``nonzero`` or ``undecided``, with a point or what is left over.

    Examples
    --------
    >>> from odesys import System, graph, sym
    >>> sign = graph.step(sym("x")) - graph.step(-sym("x"))
    >>> check_integral(System.from_equations({"x": 1}), sign).answer
    'nonzero'
    """
    node = graph.as_node(expression)
    between = zero_test(lie_derivative(system, node), positive, seed)
    if between.answer != "zero" or system.kind == "map":
        return between
    for surface in graph.surfaces([node]):
        jump = _jump(system, node, surface, positive, seed)
        if jump is not None:
            return jump
    return between


def _jump(system: System, node: Node, surface: Node, positive: Collection[str], seed: int) -> ZeroResult | None:
    """None if a quantity does not jump at a surface; otherwise where it does, or that this is not known."""

    def side(value: int, roots: Sequence[Node]) -> list[Node]:
        gates = {graph.step(surface): graph.num(value), graph.step(-surface): graph.num(1 - value)}
        return graph.substitute(roots, gates)

    (above,), (below,) = side(1, [node]), side(0, [node])
    gap = above - below
    if gap is graph.ZERO:
        return None
    onto = None  # the surface, solved for a state
    for name in system.names:
        (slope,) = graph.gradient(surface, [graph.sym(name)])
        if slope.op == "num":
            rest = graph.substitute([surface], {graph.sym(name): graph.ZERO})[0]
            onto = {graph.sym(name): graph.multiply(rest, graph.num(-1), graph.power(slope, Fraction(-1)))}
            break
    if onto is None:
        return ZeroResult("undecided", None, None, gap, "a jump at a curved switching surface is not decided")
    on_surface = zero_test(graph.substitute([gap], onto)[0], positive, seed)
    if on_surface.answer == "zero":
        return None
    speed = lie_derivative(system, surface)
    speeds = [graph.substitute(side(value, [speed]), onto)[0] for value in (0, 1)]
    crossing = graph.multiply(graph.substitute([gap], onto)[0], *speeds)
    crossed = zero_test(crossing, positive, seed)
    if crossed.answer == "zero":  # the flow does not cross
        return None if all(zero_test(v, positive, seed).answer == "zero" for v in speeds) else on_surface
    if crossed.answer == "nonzero" and speeds[0] is speeds[1]:
        return ZeroResult(
            "nonzero", crossed.witness, on_surface.value, None, "it jumps where the flow crosses a surface"
        )
    return ZeroResult("undecided", None, None, gap, "whether the flow crosses a surface where it jumps is not decided")


def first_integrals(system: System, degree: int = 2, atoms: Sequence[Any] | None = None, seed: int = 0) -> Integrals:
    """Conserved quantities with coefficients that may depend on the parameters, over states, atoms and logarithms.

    Parameters
    ----------
    system : a flow or a map without floats.
    degree : of the monomials in states and atoms; a lower one where these are more than QUICK_SEARCH.
    atoms : functions of the states that count as variables; by default those in the equations, and the logarithms of
        polynomials that divide their own derivative. Give () for polynomials in the states alone.
    seed : of the random points; a bad draw can only cost candidates, never let a wrong one pass.

    >>> from odesys import System, sym
    >>> x, y = sym("x"), sym("y")
    >>> prey = System.from_equations({"x": x - x * y, "y": x * y - y})
    >>> first_integrals(prey)[0].node
    Node(x + y - log(x) - log(y))
    """
    _check(system, degree)
    chosen = natural_atoms(system) if atoms is None else [graph.as_node(a) for a in atoms]
    logs = [a for a in chosen if a.op == "log"]
    others = [a for a in chosen if a.op != "log"]
    variables = [*(graph.sym(name) for name in system.names), *others]
    columns = _monomials(range(len(variables)), degree)
    if len(columns) > QUICK_SEARCH and degree > 1:
        return first_integrals(system, degree - 1, atoms, seed)
    columns += [(len(variables) + k,) for k in range(len(logs))]
    variables += logs
    search = _Search(system, variables, seed)
    found, complete = search.over(columns)
    found, independent = search.without_copies(found)
    parts = [f"polynomials of degree at most {degree} in {_listed(variables[: len(variables) - len(logs)])}"]
    if logs:
        parts.append(f"plus multiples of {_listed(logs)}")
    if system.parameters:
        parts.append(f"with coefficients in {', '.join(system.parameters)}")
    if others:
        parts.append("different functions taken as independent")
    return Integrals(tuple(found), ", ".join(parts), complete, degree, independent)


def polynomial_integrals(system: System, degree: int = 2, parameters: bool = False, seed: int = 0) -> Integrals:
    """Polynomial conserved quantities up to `degree`, modulo polynomials in those of lower degree; constants excluded.

    Parameters
    ----------
    system : a flow or a map without floats.
    degree : of the polynomial in the states; with `parameters`, in states and parameters together.
    parameters : let coefficients be polynomials in the parameters; otherwise they are numbers, and what is found holds
        for all values of the parameters.
    seed : of the random points; a bad draw can only cost candidates, never let a wrong one pass.
    """
    _check(system, degree)
    names = system.names + (system.parameters if parameters else ())
    columns = [m for m in _monomials(range(len(names)), degree) if m[0] < system.dimension]
    if len(columns) > LARGEST_SEARCH:
        raise EquationError(
            f"degree {degree} in {len(names)} variables has {len(columns)} monomials, more than {LARGEST_SEARCH}; "
            f"lower the degree, or search the quotient by the symmetries"
        )
    search = _Search(system, [graph.sym(name) for name in system.names], seed)
    found, complete = search.with_numbers(columns, degree, len(names) - system.dimension)
    return Integrals(tuple(found), f"polynomials of degree at most {degree} in {', '.join(names[:12])}", complete)


def _check(system: System, degree: int) -> None:
    if degree < 1:
        raise EquationError(f"the degree of a conserved polynomial is at least 1, not {degree}")
    if has_floats(system.nodes):
        raise EquationError("the equations contain floats, so nothing can be proved about them; use exact fractions")


def _listed(nodes: Sequence[Node]) -> str:
    names = [repr(node).removeprefix("Node(").removesuffix(")") for node in nodes[:12]]
    return ", ".join(names) + (", ..." if len(nodes) > 12 else "")


# ---- what may occur ------------------------------------------------------------------------------------------------


def natural_atoms(system: System) -> list[Node]:
    """Functions, roots and reciprocals in the equations of a flow, and logarithms of its Darboux polynomials."""
    if system.kind == "map":
        return []
    states, found = set(system.names), dict[Node, None]()
    for node in graph.topological(system.nodes):
        if not graph.symbols([node]) & states:
            continue
        if node.op in FUNCTIONS and node.op != "step":
            pair = {"sin": "cos", "cos": "sin"}.get(node.op)
            found |= dict.fromkeys([node] if pair is None else [node, graph.call(pair, node.args[0])])
        for base, exponent in node.args if node.op == "mul" else ():
            if graph.symbols([base]) & states and (exponent < 0 or exponent.denominator > 1):
                step = Fraction(1 if exponent > 0 else -1, exponent.denominator)
                if base.op not in FUNCTIONS:
                    found[graph.power(base, step)] = None
    return [*list(found)[:MOST_ATOMS], *darboux_logarithms(system)]


def darboux_logarithms(system: System) -> list[Node]:
    """Logarithms of states and of factors of the equations that divide their own derivative."""
    if not is_rational(system.nodes) or system.dimension > 12:
        return []
    context = polynomial_context([*system.names, *system.parameters])
    if TIME in graph.symbols(system.nodes) or (fractions := quotients(system.nodes, context)) is None:
        return []
    gens = context.gens()
    candidates = list(gens[: system.dimension])
    for top, _ in fractions[0]:
        candidates += [f for f, _ in top.factor()[1] if not top.is_zero() and f.total_degree() <= 2] if top else []
    below = context.constant(1)
    for _, bottom in fractions[0]:
        below *= bottom / below.gcd(bottom)
    distinct: list[Any] = []
    logs = []
    for f in candidates:
        change = sum(
            (f.derivative(j) * top * (below / bottom) for j, (top, bottom) in enumerate(fractions[0])),
            context.constant(0),
        )
        if any(f.degrees()[: system.dimension]) and f not in distinct and not divmod(change, f)[1]:
            distinct.append(f)
            terms = f.to_dict().items()
            names = [*system.names, *system.parameters]
            powers = [
                (c, graph.multiply(*(graph.sym(n) ** int(k) for n, k in zip(names, e, strict=True)))) for e, c in terms
            ]
            logs.append(graph.call("log", graph.combine((Fraction(int(c)), p) for c, p in powers)))
    return logs[:MOST_ATOMS]


def _monomials(variables: Sequence[int], degree: int) -> list[Monomial]:
    return [m for d in range(degree, 0, -1) for m in combinations_with_replacement(variables, d)]


# ---- the search ----------------------------------------------------------------------------------------------------


class _Search:
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
            held = {p.args[0]: int(rng.integers(1, prime)) for p in self.parameters} if fixed else None
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

    def node(self, polynomial: Polynomial) -> Node:
        """A polynomial in variables and parameters as an expression."""
        table = [*self.variables, *self.parameters]
        return graph.combine((c, graph.multiply(*(table[i] for i in m))) for m, c in polynomial.items())

    def proved(self, polynomial: Polynomial, number: int) -> FirstIntegral | None:
        """The integral of a candidate, if it is proved; products of powers where it is a sum of logarithms alone."""
        node = self.node(polynomial)
        terms = [(c, t) for c, t in graph.linear_terms(node)]
        if all(t.op == "log" for _, t in terms):
            node = graph.multiply(*(graph.power(t.args[0], Fraction(c)) for c, t in terms))
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
        for count in PRIMES_TRIED:
            _, rows = kernel(partial(self.changes_of, columns), count)
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
        prime = primes(1)[0]
        generic = kernel_modulo(self.changes_of(columns, prime, True), prime)
        support = [k for k in range(len(columns)) if any(row[k] for row in generic)]
        constant = kernel_modulo(self.changes_of(columns, prime), prime)
        if len(generic) == len(constant):
            return found, complete
        if complete and self._spans(found, columns, generic, prime, degree):
            return found, True
        # with coefficients in the parameters there are more: raise their degree until all are there
        first = len(self.variables)
        for power in range(1, HIGHEST_COEFFICIENT + 1):
            factors = [(), *_monomials(range(first, first + len(self.parameters)), power)]
            wide = [tuple(sorted((*columns[k], *q))) for k in support for q in factors]
            if len(wide) > LARGEST_SEARCH // 2:
                break
            wide.sort(key=lambda m: -len(m))
            held: list[Polynomial] = [{(i,): Fraction(1)} for i in range(first, first + len(self.parameters))]
            _, rows = kernel(partial(self.changes_of, wide), 2)
            lifted = [{wide[k]: c for k, c in row.items()} for row in rows if row is not None]
            lifted = [c for c in lifted if max(map(len, c)) <= degree + power]
            more, _ = self._independent(lifted, wide, degree + power, held)
            best = self._generic_rank(more, found)
            if len(best) > len(found):
                found = best
            if self._spans(found, columns, generic, prime, degree):
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

    def _generic_rank(self, more: list[FirstIntegral], before: list[FirstIntegral]) -> list[FirstIntegral]:
        """Integrals whose gradients are independent at a random point, those known before first."""
        names = [graph.sym(name) for name in self.system.names]
        kept: list[FirstIntegral] = []
        prime = primes(1)[0]
        rank = 0
        for integral in [*before, *more]:
            trial = [*kept, integral]
            slopes = [s for i in trial for s in graph.gradient(i.node, names)]
            values = residues(slopes, 1, self.seed, prime)
            matrix = flint.nmod_mat(len(trial), len(names), [int(v[0]) for v in values], prime)
            if matrix.rank() > rank:
                rank, kept = matrix.rank(), trial
        return [FirstIntegral(f"I{k + 1}", i.node, i.proof) for k, i in enumerate(kept)]

    def _spans(
        self,
        found: list[FirstIntegral],
        columns: Sequence[Monomial],
        generic: Sequence[Sequence[int]],
        prime: int,
        degree: int,
    ) -> bool:
        """Whether there are as many relations, at fixed parameters, as constants and polynomials in the integrals give.

        Columns such as x/(x + k) and 1/(x + k) have combinations that are constant, which no integral is needed for.
        """
        nodes = [i.node for i in found]
        products = [graph.multiply(*(nodes[k] for k in m)) for m in _monomials(range(len(nodes)), degree)]
        points = len(products) + len(columns) + SPARE_POINTS
        held = {p.args[0]: 3 + 7 * k for k, p in enumerate(self.parameters)}
        monomials = [graph.multiply(*(self.variables[i] for i in m)) for m in columns]
        values = residues([graph.ONE, *monomials, *products], points, self.seed, prime, held)
        width = 1 + len(columns)
        base = values[:width]
        inside = 0
        rank = _rank(base, prime)
        current = list(base)
        # products that are combinations of the columns, counted by how many are independent modulo constants
        kept: list[Any] = [values[0]]
        for value in values[width:]:
            if _rank([*current, value], prime) == rank and _rank([*kept, value], prime) > len(kept):
                kept.append(value)
                inside += 1
        return inside + width - rank >= len(generic)


def _rank(columns: Sequence[np.ndarray], prime: int) -> int:
    entries = np.array(columns, dtype=object).ravel().tolist()
    return int(flint.nmod_mat(len(columns), len(columns[0]), [int(v) for v in entries], prime).rank())


# ---- polynomials ---------------------------------------------------------------------------------------------------


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
