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
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import sympy as sp

from ..analysis.dependency import checked_values, linear_part, sign_of, substitution
from ..analysis.linear import MetzlerResult, check_metzler
from ..errors import EquationError, ParameterError
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy
from ..expr.system import System
from .affine_rows import AffineRow, Corners, Vertex, row_of
from .box_search import Objective, Point, minimise, prove_at_least, rational_below, value_at
from .region import Region, exact, mixture
from .region_certificate import SMALLEST_MARGIN, certificate_of

SAMPLED_POINTS = 60
GATE_BOXES = 50
LARGEST_RATE_SHOWN = 40  # operations of an exact rate worth showing


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


def extract_linear(
    system: System,
    block: Sequence[str],
    point: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
) -> LinearBlock:
    """The linear system of a block at a point (states left out are zero), and what it leaves out.

    >>> x, y = sp.symbols("x y")
    >>> extract_linear(System.from_equations({x: 2 * x + x * y, y: -y}), ["x"], {"y": 3}).matrix
    Matrix([[5]])
    """
    states = _known(system, block)
    full = {**dict.fromkeys(system.names, Fraction(0)), **{str(k): v for k, v in (point or {}).items()}}
    rows = [system.names.index(name) for name in states]
    bound = substitution(checked_values(system, {}, parameters or {}))[0]
    nodes = graph.substitute([system.nodes[i] for i in rows], bound)
    used = graph.symbols(nodes)
    outside = tuple(name for name in system.names if name in used and name not in states)
    whole = linear_part(system, full, parameters)
    matrix = whole.extract(rows, rows)
    columns = [system.names.index(name) for name in outside]
    coupling = whole.extract(rows, columns) if outside else sp.zeros(len(rows), 0)
    symbols = [graph.sym(name) for name in states]
    slopes = [node for row in graph.jacobian(nodes, symbols) for node in row.values()]
    rest = tuple(
        node - graph.add(graph.as_node(matrix[i, j]) * symbol for j, symbol in enumerate(symbols))
        for i, node in enumerate(nodes)
    )
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

    Parameters
    ----------
    answer : str
        ``holds`` (with this rate, everywhere in the region), ``fails`` (no rate works: `tight_at` shows it) or
        ``undecided`` (the search ran out of boxes).
    rate : sp.Expr | None
        A constant for which the bound holds: exact, or a rational lower end of the enclosure.
    upper : sp.Expr | None
        No larger rate works, because of the point `tight_at` (exact rational, in the region); None if none found.
    optimal : bool
        Whether `rate` is the largest possible one, exactly.
    tight_at : Mapping[str, Fraction]
        The point of least slack.
    row : str
        The state whose equation binds.
    transfers : MetzlerResult
        Metzler test of rate * matrix (for a map: all entries nonnegative).
    evidence : str
        ``proof`` (exact algebra), ``certificate`` (ball arithmetic), ``measurement`` (points only).
    details : Mapping[str, Any], optional
        Numbers beside the answer.
    certificate : Mapping[str, Any], optional
        What `write_region_certificate` stores, if it was asked for and balls were needed.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import sympy as sp
    >>> from odesys import System, sym
    >>> x = sym("x")
    >>> logistic, box = System.from_equations({"x": x * (1 - x)}), {"x": (0, Fraction(1, 4))}
    >>> found = lower_linear_bound(logistic, ["x"], sp.eye(1), box)
    >>> found.answer, found.rate, found.evidence, found.tight_at
    ('holds', 3/4, 'certificate', {'x': Fraction(1, 4)})
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
    certificate: Mapping[str, Any] | None = field(default=None, repr=False)


# ---- the bound -----------------------------------------------------------------------------------------------------


def lower_linear_bound(
    system: System,
    block: Sequence[str],
    matrix: sp.Matrix,
    region: Region | Mapping[str, Any],
    parameters: Mapping[str, Any] | None = None,
    tolerance: float | Fraction = 1e-3,
    boxes: int = 3000,
    seed: int = 0,
    wanted: Fraction | None = None,
    keep_boxes: bool = False,
) -> BoundResult:
    r"""Find the largest constant rate at which a linear system bounds a block of `system` from below.

    .. math::  F_S(x) \ge b\,A\,x_S \quad\text{componentwise for all } x \in R .

    The bound transfers to trajectories, :math:`x_S(t) \ge e^{bAt} x_S(0)`, while they stay in :math:`R`, if
    :math:`bA` is Metzler (off-diagonal entries nonnegative). Both conditions are part of the result.

    Parameters
    ----------
    system : System
        The full or reduced system; it need not close on the block.
    block : Sequence[str]
        The k states S to bound.
    matrix : sp.Matrix
        The constant k-by-k matrix A, in the order of `block` (rational numbers).
    region : Region | Mapping[str, Any]
        Where the inequality is asked for, a `Region` or a box; bounds the states outside the block too.
    parameters : Mapping[str, Any], optional
        Values; they may stay symbols where all rows are affine with constant coefficients.
    tolerance : float | Fraction, optional
        Relative width of the enclosure to stop at.
    boxes : int, optional
        How many boxes may be spent on it.
    seed : int, optional
        Of the points tried first.
    wanted : Fraction, optional
        Give up, with the answer ``fails``, at the first point where only a rate up to this works.
    keep_boxes : bool, optional
        Prove the rate once more and keep every box as `certificate`, for `write_region_certificate`.

    Returns
    -------
    BoundResult
        The rate, the point where it is tight, and whether the bound transfers to trajectories.

    Notes
    -----
    Two-mixture paper, Lemma E.2 (score growth); the rate there is the unnamed constant b.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> logistic = System.from_equations({x: x * (1 - x)})
    >>> lower_linear_bound(logistic, ["x"], sp.eye(1), {"x": (0, sp.Rational(1, 4))}).rate
    3/4
    """
    states, area = _known(system, block), region if isinstance(region, Region) else Region(region)
    if matrix.shape != (len(states), len(states)):
        raise EquationError(f"the block has {len(states)} states but the matrix is {matrix.rows} by {matrix.cols}")
    values = checked_values(system, {}, parameters or {})
    values = {name: exact(v, name) if isinstance(v, float) else v for name, v in values.items()}
    mapping, symbols = substitution(values)
    nodes = graph.substitute([system.equations[s] for s in states], mapping)
    used = graph.symbols(nodes)
    missing = [s for s in system.names if s in used | set(states) and s not in area.box]
    if missing:
        raise EquationError(f"{missing[0]} has no range in the region, and the bound depends on it", state=missing[0])
    nodes = settle_gates(nodes, area)
    corners = {tied: area.vertices(tied) for tied in area.tied_states if set(tied) & set(states)}
    rows = []
    for i, (name, node) in enumerate(zip(states, nodes, strict=True)):
        weights = {s: exact(matrix[i, j], "an entry of the matrix") for j, s in enumerate(states) if matrix[i, j] != 0}
        rows.append(row_of(name, node, weights, area, corners, symbols))
    loose = sorted(used - set(system.names))
    if loose and any(row.ranges for row in rows):
        raise ParameterError(f"the bound needs a number for {loose[0]}; pass parameters={{'{loose[0]}': ...}}")
    search = _Search(rows, area, corners, seed, wanted)
    found = search.run(sp.Matrix(matrix), system.kind == "map", Fraction(tolerance), boxes)
    if not (keep_boxes and found.answer == "holds" and found.evidence == "certificate"):
        return found
    model = {s: system.equations[s] for s in states}
    rate = min(x for x in (rational_below(found.rate), search.proved) if x is not None)
    kept = certificate_of(model, values, [row.weights for row in rows], area, corners, rate, boxes)
    return replace(found, certificate=kept)


def settle_gates(nodes: Sequence[Node], region: Region, boxes: int = GATE_BOXES) -> list[Node]:
    """The same expressions with the gates that have one sign on the whole region replaced by 0 or 1."""
    on: dict[Node, Node] = {}
    for surface in graph.surfaces(nodes):
        box = {name: region.box[name] for name in sorted(graph.symbols([surface])) if name in region.box}
        if len(box) < len(graph.symbols([surface])):
            continue  # a parameter is still a symbol
        for sign in (1, -1):
            objective = Objective(surface * sign, box)
            if prove_at_least(objective, SMALLEST_MARGIN, region, boxes):
                on |= {graph.step(surface * s): graph.as_node(int(s == sign)) for s in (1, -1)}
                break
    return graph.substitute(nodes, on)


class _Search:
    """The least ratio F_i / (A x_S)_i over rows, vertices and boxes; then what vertices without a ratio ask for."""

    def __init__(
        self, rows: list[AffineRow], region: Region, corners: Corners, seed: int, wanted: Fraction | None
    ) -> None:
        self.rows, self.region, self.wanted, self.used = rows, region, wanted, 0
        rng = random.Random(seed)
        self.vertices = [corners.get(tied) or region.vertices(tied) for tied in region.tied_states]
        self.samples = [
            {s: x for vs in self.vertices for s, x in mixture(vs, rng).items()} for _ in range(SAMPLED_POINTS)
        ]
        self.upper: Fraction | None = None
        self.tight: Point = {}
        self.proved: Fraction | None = None  # by balls, for the rows with coefficients that are not constant

    def run(self, matrix: sp.Matrix, is_map: bool, tolerance: Fraction, boxes: int) -> BoundResult:
        """Search, check and report."""
        rate, name, optimal = self.least_exact_ratio()
        plain = [row for row in self.rows if row.ranges]
        for row, sample in itertools.product(plain, self.samples):
            self.try_point(row, sample)
        self.descend(plain)
        asks = {(row.at(v), row.beta(v)): (row, v) for row in plain for v in row.generators if row.beta(v) > 0}
        owner = {row.objective(v): (row, v) for row, v in asks.values()}
        if owner and not self.wanted_fails():
            suggest = lambda objective, z: self.try_suggested(*owner[objective], z)  # noqa: E731
            found = minimise(
                list(owner), self.region, tolerance, boxes, suggest, lambda low: self.enough(low, tolerance)
            )
            self.used, (row, vertex) = found.boxes, owner[found.objective]
            self.proved = None if found.low is None else rational_below(found.low)
            low = None if self.proved is None else sp.Rational(self.proved)
            if low is None or rate is None or (sign_of(low - rate) or 0) < 0:
                rate, name, optimal = low, row.name, False
                if found.attained and low is not None:
                    rate, optimal = self.attained(row, vertex, found.point, low)
        answer, witness = "undecided", self.tight
        if self.wanted_fails():
            answer = "fails"
        elif rate is not None:
            answer, witness = self.check_rest(rate, boxes)
        evidence = ("certificate" if plain else "proof") if answer != "undecided" else "measurement"
        known = optimal and rate is not None
        upper = rate if known else None if self.upper is None else sp.Rational(-rational_below(-self.upper))
        transfers = check_metzler((1 if rate in (None, sp.oo) else rate) * matrix, is_map)
        return BoundResult(
            answer,
            rate if answer != "fails" else None,
            upper,
            optimal and answer == "holds",
            witness or self.tight,
            name,
            transfers,
            evidence,
            {"boxes": self.used, "sampled points": SAMPLED_POINTS},
        )

    def least_exact_ratio(self) -> tuple[Any, str, bool]:
        """Over the rows with constant coefficients; infinity if no vertex asks for anything."""
        rate, name = (None, "") if any(row.ranges for row in self.rows) else (sp.oo, self.rows[0].name)
        for row in (row for row in self.rows if not row.ranges):
            for vertex in (v for v in row.generators if row.beta(v) > 0):
                ratio = sp.cancel(row.exact(vertex) / sp.Rational(row.beta(vertex)))
                lower = -1 if rate in (None, sp.oo) else sign_of(ratio - rate)
                if lower is None:
                    raise ParameterError(f"whether {ratio} or {rate} is smaller depends on parameters; give numbers")
                if lower < 0:
                    rate, name, self.tight = ratio, row.name, {**self.samples[0], **vertex}
        return rate, name, True

    def enough(self, low: Fraction | None, tolerance: Fraction) -> bool:
        """Whether the rate is known well enough between a lower end and the points seen."""
        near = low is not None and self.upper is not None and self.upper - low <= tolerance * abs(self.upper)
        return near or self.wanted_fails()

    def wanted_fails(self) -> bool:
        """Whether a point was found where only rates up to the wanted one work."""
        return self.wanted is not None and self.upper is not None and self.upper <= self.wanted

    def try_suggested(self, row: AffineRow, vertex: Vertex, z: Point) -> None:
        """Try the point of the region that a vertex and a point z suggest."""
        self.try_point(row, {**self.samples[0], **z, **{s: x for s, x in vertex.items() if s not in z}})
        self.try_point(row, {**self.samples[0], **z, **vertex})

    def try_point(self, row: AffineRow, point: Point) -> None:
        """Lower the upper end of the rate by the ratio at a point, if the point is in the region."""
        beta = row.beta(point)
        if beta > 0 and self.region.contains(point):
            value = value_at(row.node, point)
            if value is not None and (self.upper is None or value[1] / beta < self.upper):
                self.upper, self.tight = value[1] / beta, point

    def descend(self, rows: list[AffineRow]) -> None:
        """From the best point so far, move states tied together to the vertex with the least ratio."""
        before = None
        while self.upper is not None and self.upper != before:
            before = self.upper
            for row, vertices in itertools.product(rows, self.vertices):
                for vertex in vertices:
                    self.try_point(row, {**self.tight, **vertex})

    def attained(self, row: AffineRow, vertex: Vertex, z: Point, low: sp.Expr) -> tuple[Any, bool]:
        """The exact ratio at a corner where all derivatives have a sign, and whether the corner is in the region."""
        total = graph.substitute([row.at(vertex)], {graph.sym(s): graph.num(x) for s, x in z.items()})[0]
        ratio = to_sympy(total) / sp.Rational(row.beta(vertex))
        if ratio.count_ops() > LARGEST_RATE_SHOWN:
            return low, False
        point = {**self.samples[0], **z, **vertex}
        same = all(z.get(s, x) == x for s, x in vertex.items())
        return ratio, same and self.region.contains(point)

    def check_rest(self, rate: Any, boxes: int) -> tuple[str, Point]:
        """Vertices with (A x_S)_i <= 0 ask for a sign or for a rate that is large enough."""
        answer = "holds"
        for row in self.rows:
            for vertex in (v for v in row.generators if row.beta(v) <= 0):
                beta = row.beta(vertex)
                if rate == sp.oo and beta < 0:
                    continue
                if not row.ranges:
                    sign = sign_of(row.exact(vertex) - (rate if beta else 0) * sp.Rational(beta))
                    if sign == -1:
                        return "fails", {**self.samples[0], **vertex}
                    answer = "undecided" if sign is None else answer
                    continue
                against: list[Point] = []

                def visit(
                    _: Objective,
                    z: Point,
                    row: AffineRow = row,
                    vertex: Vertex = vertex,
                    against: list[Point] = against,
                ) -> None:
                    point = {**self.samples[0], **z, **vertex}
                    against += [x for x in (point, *self.samples) if self.refutes(row, x)][:1]

                level = Fraction(0) if beta == 0 else rational_below(rate) * beta
                if not prove_at_least(row.objective(vertex), level, self.region, boxes, visit):
                    if against:
                        return "fails", against[0]
                    answer = "undecided"
        return answer, {}

    def refutes(self, row: AffineRow, point: Point) -> bool:
        """Whether no rate works at a point: F_i < 0 where (A x_S)_i = 0, or a rate above the upper end is needed."""
        beta = row.beta(point)
        value = value_at(row.node, point) if beta <= 0 and self.region.contains(point) else None
        if value is None or value[1] >= 0:
            return False
        return beta == 0 or (self.upper is not None and value[1] / beta > self.upper)
