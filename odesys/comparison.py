r"""Linear lower bounds of a nonlinear block on a region, with the Metzler test that carries them to trajectories.

.. math::  F_S(x) \ge b\,A\,x_S \ \text{ on } R, \quad A \text{ Metzler}
           \quad\Longrightarrow\quad x_S(t) \ge e^{bAt} x_S(0) \ \text{ while the trajectory stays in } R .

Each row is written as :math:`F_i = c_0(z) + \sum_s c_s(z)\,s` over the block and what the region ties to it. In the
linear role s only the vertices of the region matter; in the role z the states range over boxes, enclosed by balls,
pinned where the derivative has a sign, and split where it has not. Rows with constant c need no balls at all.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import sympy as sp

from . import graph
from .dependency import checked_values, linear_part, substitution
from .enclosure import Family, Problem, ends, minimise, prove_at_least
from .errors import EquationError, ParameterError
from .graph import Node
from .linear import MetzlerResult, metzler, sign_of
from .region import Region, exact
from .sympy_bridge import to_sympy
from .system import System

SAMPLES = 60
COMBINATION_LIMIT = 4096
Vertex = dict[str, Fraction]
Point = Mapping[str, Fraction]


# ---- the linear system of a block ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LinearBlock:
    """A block at a point: F_S = matrix x_S + rest.

    Attributes
    ----------
    states, matrix : the block and the exact derivative of F_S by x_S at the point.
    rest : F_S - matrix x_S as nodes, exact everywhere; zero if the block is closed and linear.
    outside, coupling : states outside the block that F_S depends on, and the derivative by them at the point.
    affine : whether F_S is affine in the block (its matrix may still depend on the states outside).
    """

    states: tuple[str, ...]
    matrix: sp.Matrix
    rest: tuple[Node, ...]
    outside: tuple[str, ...]
    coupling: sp.Matrix
    affine: bool


def extract_linear(system: System, block: Sequence[str], point: Mapping[str, Any] | None = None,
                   parameters: Mapping[str, Any] | None = None) -> LinearBlock:  # fmt: skip
    """The linear system of a block at a point (states left out are zero), and what it leaves out.

    >>> x, y = sp.symbols("x y")
    >>> extract_linear(System.from_equations({x: 2 * x + x * y, y: -y}), ["x"], {"y": 3}).matrix
    Matrix([[5]])
    """
    states = _known(system, block)
    full = {**dict.fromkeys(system.names, Fraction(0)), **{str(k): v for k, v in (point or {}).items()}}
    rows = [system.names.index(name) for name in states]
    nodes = graph.substitute([system.nodes[i] for i in rows], substitution(checked_values(system, {}, parameters or {}))[0])
    used = graph.symbols(nodes)
    outside = tuple(name for name in system.names if name in used and name not in states)
    exact = linear_part(system, full, parameters)
    matrix = exact.extract(rows, rows)
    coupling = exact.extract(rows, [system.names.index(name) for name in outside]) if outside else sp.zeros(len(rows), 0)
    symbols = [graph.sym(name) for name in states]
    slopes = [node for row in graph.jacobian(nodes, symbols) for node in row.values()]
    rest = tuple(node - graph.add(graph.as_node(matrix[i, j]) * symbol for j, symbol in enumerate(symbols))
                 for i, node in enumerate(nodes))  # fmt: skip
    return LinearBlock(states, matrix, rest, outside, coupling, not graph.symbols(slopes) & set(states))


def _known(system: System, block: Sequence[str]) -> tuple[str, ...]:
    states = tuple(str(name) for name in block)
    unknown = [name for name in states if name not in system.names]
    if unknown or not states or len(set(states)) != len(states):
        what = f"{unknown[0]} is not a state" if unknown else "it is empty or names a state twice"
        raise EquationError(f"the block {', '.join(states) or '()'} can not be used: {what}")
    return states


# ---- the result ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BoundResult:
    """The rate of a linear lower bound, and how it is known.

    Attributes
    ----------
    answer : ``holds`` (with this rate, everywhere in the region), ``fails`` (no rate works: `tight_at` shows it) or
        ``undecided`` (the search ran out of boxes).
    rate : a constant for which the bound holds: exact, or a rational lower end of the enclosure.
    upper : no larger rate works, because of the point `tight_at` (exact rational, in the region); None if none found.
    optimal : whether `rate` is the largest possible one, exactly.
    row : the state whose equation binds.
    transfers : Metzler test of rate * matrix (for a map: all entries nonnegative).
    evidence : ``proof`` (exact algebra), ``certificate`` (ball arithmetic), ``measurement`` (points only).
    """

    answer: str
    rate: sp.Expr | None
    upper: sp.Expr | None
    optimal: bool
    tight_at: Mapping[str, Fraction]
    row: str
    transfers: MetzlerResult
    evidence: str
    details: Mapping[str, Any] = field(default_factory=dict)


# ---- rows and their vertices ---------------------------------------------------------------------------------------


@dataclass(eq=False)
class _Row:
    """F_i as c_0(z) + sum of c_s(z) s, with its row of the matrix and the vertices of the region in the linear role."""

    name: str
    node: Node
    slopes: dict[str, Node]
    weights: dict[str, Fraction]
    generators: list[Vertex]
    family: Family

    def beta(self, point: Point) -> Fraction:
        """This row of A x_S at a point."""
        return sum((a * point[s] for s, a in self.weights.items()), Fraction(0))

    def problem(self, vertex: Vertex) -> Problem:
        """The row at one vertex as a function of z, divided by its row of A x_S where that is positive."""
        return Problem(self.family, tuple(vertex[s] for s in self.slopes), max(self.beta(vertex), Fraction(0)) or Fraction(1))

    def exact(self, vertex: Vertex) -> sp.Expr:
        """The row at one vertex, where it does not depend on z."""
        first, *rest = self.family.nodes
        return to_sympy(first + graph.combine((vertex[s], c) for s, c in zip(self.slopes, rest, strict=True)))


def _split(node: Node, linear: Mapping[str, int], slopes: dict[str, list[Node]], rest: list[Node]) -> None:
    """Distribute the terms of a row: one linear state is taken out of each product that has one."""
    for c, term in node.args if node.op == "add" else ((Fraction(1), node),):
        factors = dict(term.args) if term.op == "mul" else {term: Fraction(1)}
        states = [b for b, e in factors.items() if b.op == "sym" and b.args[0] in linear and e >= 1 and e.denominator == 1]
        sums = [b for b, e in factors.items() if b.op == "add" and e == 1 and graph.symbols([b]) & set(linear)]
        if states:
            best = min(states, key=lambda b: linear[b.args[0]])
            others = [graph.power(b, e - (b is best)) for b, e in factors.items()]
            slopes.setdefault(best.args[0], []).append(graph.scale(graph.multiply(*others), c))
        elif sums and term.op == "mul":
            others = [graph.power(b, e) for b, e in factors.items() if b is not sums[0]]
            for inner, part in sums[0].args:
                _split(graph.scale(graph.multiply(part, *others), c * inner), linear, slopes, rest)
        else:
            rest.append(graph.scale(term, c))


def _row(name: str, node: Node, weights: dict[str, Fraction], region: Region, corners: Corners) -> _Row:
    tied = [s for group in corners for s in group]
    parts: dict[str, list[Node]] = {}
    rest: list[Node] = []
    _split(node, {s: k + (0 if s in weights else len(tied)) for k, s in enumerate(tied)}, parts, rest)
    slopes, constant = {s: graph.add(terms) for s, terms in parts.items()}, graph.add(rest)
    used = set(slopes) | set(weights)
    groups = [group for group in corners if used & set(group)]
    zero = {s: Fraction(0) for s in tied}
    # if the row is homogeneous and zero is allowed, groups decouple, and one point of each ray is enough
    cone = constant is graph.ZERO and all(region.contains_zero(group) for group in groups)
    if not cone and math.prod(len(corners[group]) for group in groups) > COMBINATION_LIMIT:
        raise EquationError(f"the bound of {name} needs more than {COMBINATION_LIMIT} combinations of vertices; "
                            f"tie fewer states to the block")  # fmt: skip
    choices = [(v,) for group in groups for v in corners[group]] if cone else itertools.product(*(corners[g] for g in groups))
    generators: dict[Any, Vertex] = {}
    for choice in choices:
        vertex = {s: x for part in choice for s, x in part.items()}
        seen = {s: x for s, x in vertex.items() if s in used}
        size = max((abs(x) for x in seen.values()), default=Fraction(0)) if cone else Fraction(1)
        if size or not cone:
            generators.setdefault(tuple((s, x / size) for s, x in seen.items()), {**zero, **vertex})
    names = sorted(graph.symbols([constant, *slopes.values()]) & set(region.box))
    ranges = {s: (min(v[s] for v in vs), max(v[s] for v in vs)) for group, vs in corners.items() for s in group}
    family = Family([constant, *slopes.values()], names, tuple(ranges.get(s, region.box[s]) for s in names))
    return _Row(name, node, slopes, weights, list(generators.values()), family)


# ---- the bound -----------------------------------------------------------------------------------------------------


def lower_linear_bound(system: System, block: Sequence[str], matrix: sp.Matrix, region: Region | Mapping[str, Any],
                       parameters: Mapping[str, Any] | None = None, tolerance: float = 1e-3, boxes: int = 3000,
                       seed: int = 0) -> BoundResult:  # fmt: skip
    r"""Find the largest constant rate at which a linear system bounds a block of `system` from below.

    .. math::  F_S(x) \ge b\,A\,x_S \quad\text{componentwise for all } x \in R .

    The bound transfers to trajectories, :math:`x_S(t) \ge e^{bAt} x_S(0)`, while they stay in :math:`R`, if
    :math:`bA` is Metzler (off-diagonal entries nonnegative). Both conditions are part of the result.

    Parameters
    ----------
    system : the full or reduced system; it need not close on the block.
    block, matrix : the k states S to bound, and the constant k-by-k matrix A in that order (rational numbers).
    region : where the inequality is asked for, a `Region` or a box; bounds the states outside the block too.
    parameters : values; they may stay symbols where all rows are affine with constant coefficients.
    tolerance, boxes : relative width of the enclosure to stop at, and how many boxes may be spent on it.

    References
    ----------
    Two-mixture paper, Lemma E.2 (score growth); the rate there is the unnamed constant b.

    >>> x = sp.Symbol("x")
    >>> lower_linear_bound(System.from_equations({x: x * (1 - x)}), ["x"], sp.eye(1), {"x": (0, sp.Rational(1, 4))}).rate
    3/4
    """
    states, area = _known(system, block), region if isinstance(region, Region) else Region(region)
    if matrix.shape != (len(states), len(states)):
        raise EquationError(f"the block has {len(states)} states but the matrix is {matrix.rows} by {matrix.cols}")
    values = checked_values(system, {}, parameters or {})
    values = {name: exact(v, name) if isinstance(v, float) else v for name, v in values.items()}
    nodes = graph.substitute([system.nodes[system.names.index(s)] for s in states], substitution(values)[0])
    used = graph.symbols(nodes)
    missing = [s for s in system.names if s in used | set(states) and s not in area.box]
    if missing:
        raise EquationError(f"{missing[0]} has no range in the region, and the bound depends on it", state=missing[0])
    corners = {group: area.vertices(group) for group in area.groups if set(group) & set(states)}
    rows = []
    for i, (name, node) in enumerate(zip(states, nodes, strict=True)):
        weights = {s: exact(matrix[i, j], "an entry of the matrix") for j, s in enumerate(states) if matrix[i, j] != 0}
        rows.append(_row(name, node, weights, area, corners))
    loose = sorted(used - set(system.names))
    if loose and any(row.family.variables for row in rows):
        raise ParameterError(f"the bound needs a number for {loose[0]}; pass parameters={{'{loose[0]}': ...}}")
    return _Search(rows, area, corners, seed).run(sp.Matrix(matrix), system.kind == "map", Fraction(tolerance), boxes)


class _Search:
    """The least ratio F_i / (A x_S)_i over rows, vertices and boxes; then what vertices without a ratio ask for."""

    def __init__(self, rows: list[_Row], region: Region, corners: Corners, seed: int) -> None:
        self.rows, self.region, self.used = rows, region, 0
        rng = random.Random(seed)
        every = {group: corners.get(group) or region.vertices(group) for group in region.groups}
        self.samples = [{s: x for vs in every.values() for s, x in _mixture(vs, rng).items()} for _ in range(SAMPLES)]
        self.upper: Fraction | None = None
        self.tight: Point = {}

    def run(self, matrix: sp.Matrix, is_map: bool, tolerance: Fraction, boxes: int) -> BoundResult:
        """Search, check and report."""
        rate, name, optimal = self.least_exact_ratio()
        plain = [row for row in self.rows if row.family.variables]
        for row, sample in itertools.product(plain, self.samples):
            self.look(row, sample)
        owner = {id(row.family): row for row in plain}
        problems = [row.problem(v) for row in plain for v in row.generators if row.beta(v) > 0]
        if problems:
            found = minimise(problems, self.outside, lambda p, z: self.lean(owner[id(p.family)], p, z), tolerance, boxes)
            self.used = found.boxes
            low = None if found.low is None else _rounded_down(found.low)
            if low is None or rate is None or (sign_of(low - rate) or 0) < 0:
                rate, name, optimal = low, owner[id(found.problem.family)].name, False
                if found.attained and low is not None:
                    rate, optimal = self.attained(owner[id(found.problem.family)], found.problem, found.point, low)
        answer, witness = self.check_rest(rate, boxes) if rate is not None else ("undecided", {})
        evidence = ("certificate" if plain else "proof") if answer != "undecided" else "measurement"
        upper = rate if optimal else None if self.upper is None else sp.Rational(self.upper)
        return BoundResult(answer, rate if answer != "fails" else None, upper, optimal and answer == "holds",
                           witness or self.tight, name, metzler((1 if rate in (None, sp.oo) else rate) * matrix, is_map),
                           evidence, {"boxes": self.used, "sampled points": SAMPLES})  # fmt: skip

    def least_exact_ratio(self) -> tuple[Any, str, bool]:
        """Over the rows with constant coefficients; infinity if no vertex asks for anything."""
        rate, name = (None, "") if any(row.family.variables for row in self.rows) else (sp.oo, self.rows[0].name)
        for row in (row for row in self.rows if not row.family.variables):
            for vertex in (v for v in row.generators if row.beta(v) > 0):
                ratio = sp.cancel(row.exact(vertex) / sp.Rational(row.beta(vertex)))
                lower = -1 if rate in (None, sp.oo) else sign_of(ratio - rate)
                if lower is None:
                    raise ParameterError(f"which of {ratio} and {rate} is smaller depends on the parameters; give numbers")
                if lower < 0:
                    rate, name, self.tight = ratio, row.name, {**self.samples[0], **vertex}
        return rate, name, True

    def outside(self, box: Mapping[str, tuple[Fraction, Fraction]]) -> bool:
        """Whether a box of z misses the region."""
        return any(form.highest({**self.region.box, **box}) < 0 for form in self.region.forms)

    def lean(self, row: _Row, problem: Problem, z: Point) -> None:
        """Try the point of the region that a vertex and a point z suggest."""
        vertex = dict(zip(row.slopes, problem.weights, strict=True))
        self.look(row, {**self.samples[0], **z, **{s: x for s, x in vertex.items() if s not in z}})
        self.look(row, {**self.samples[0], **z, **vertex})

    def look(self, row: _Row, point: Point) -> None:
        """Lower the upper end of the rate by the ratio at a point, if the point is in the region."""
        beta = row.beta(point)
        if beta > 0 and self.region.contains(point):
            value = _at(row.node, point)
            if value is not None and (self.upper is None or value[1] / beta < self.upper):
                self.upper, self.tight = value[1] / beta, point
