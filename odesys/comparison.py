r"""Linear lower bounds of a nonlinear block on a region, with the Metzler test that carries them to trajectories.

.. math::  F_S(x) \ge b\,A\,x_S \ \text{ on } R, \quad A \text{ Metzler}
           \quad\Longrightarrow\quad x_S(t) \ge e^{bAt} x_S(0) \ \text{ while the trajectory stays in } R .

Each row is written as :math:`F_i = c_0(z) + \sum_s c_s(z)\,s` over the block and what the region ties to it. In the
linear role s only the vertices of the region matter; in the role z the states range over boxes, enclosed by balls,
pinned where the derivative has a sign, and split where it has not. Rows with constant c need no balls at all.
"""

from __future__ import annotations

import heapq
import itertools
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import flint
import sympy as sp

from . import graph
from .dependency import checked_values, linear_part, substitution, values_at
from .errors import EquationError, ParameterError
from .graph import Node
from .linear import MetzlerResult, metzler, sign_of
from .region import Region
from .system import System

PRECISION = 64
Box = tuple[tuple[Fraction, Fraction], ...]
Vertex = dict[str, Fraction]


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


# ---- one row -------------------------------------------------------------------------------------------------------


class _Tape:
    """Straight-line evaluation of nodes over balls; remembers whether a gate stayed open."""

    def __init__(self, roots: Sequence[Node], names: Sequence[str]) -> None:
        from .zero import ball_functions

        order = graph.topological(roots)
        self.slot = {node: k for k, node in enumerate(order)}
        self.order, self.roots, self.functions = order, [self.slot[root] for root in roots], ball_functions()
        self.place = {name: k for k, name in enumerate(names)}

    def __call__(self, balls: Sequence[Any]) -> tuple[list[Any], bool]:
        """Values of the roots, and whether every gate was decided."""
        memo: list[Any] = []
        decided = True
        for node in self.order:
            if node.op == "sym":
                value = balls[self.place[node.args[0]]]
            elif node.op == "num":
                value = ball(node.args[0])
            elif node.op == "add":
                value = sum((memo[self.slot[t]] * ball(c) for c, t in node.args), flint.arb(0))
            elif node.op == "mul":
                value = flint.arb(1)
                for base, exponent in node.args:
                    value *= self._power(base, exponent, memo)
            else:
                value = self.functions[node.op](memo[self.slot[node.args[0]]])
                decided = decided and (node.op != "step" or value.is_exact())
            memo.append(value)
        return [memo[k] for k in self.roots], decided

    def _power(self, base: Node, exponent: Fraction, memo: Sequence[Any]) -> Any:
        from .zero import ball_root

        value = memo[self.slot[base]]
        if exponent == 1:
            return value
        if base.op == "exp":
            return (memo[self.slot[base.args[0]]] * ball(exponent)).exp()
        if exponent.denominator != 1:
            return ball_root(value, exponent)
        size = abs(exponent.numerator)
        if size % 2 == 0:  # even powers of the modulus: flint's own power gives nan on a ball centred at zero
            value = value.abs_lower().union(value.abs_upper())
        result = flint.arb(1)
        for _ in range(size):
            result = result * value
        return result if exponent > 0 else 1 / result


def ball(value: Any) -> Any:
    """The ball of a rational number or a float (floats are taken as the exact numbers they are)."""
    exact = Fraction(value)
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def _lowest(value: Any) -> Fraction | None:
    """Lower end of a ball as an exact fraction; None if the ball is not finite."""
    if not value.is_finite():
        return None
    mantissa, exponent = value.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


@dataclass(eq=False)
class _Row:
    """F_i as c_0(z) + sum of c_s(z) s, with the row a of the matrix, over the vertices of the region."""

    name: str
    constant: Node
    slopes: dict[str, Node]
    weights: dict[str, Fraction]
    generators: list[Vertex]
    box: Box = ()

    @cached_property
    def nodes(self) -> list[Node]:
        return [self.constant, *self.slopes.values()]

    @cached_property
    def variables(self) -> list[str]:
        return sorted(graph.symbols(self.nodes))

    @cached_property
    def _values(self) -> _Tape:
        return _Tape(self.nodes, self.variables)

    @cached_property
    def _gradients(self) -> tuple[_Tape, list[list[int]]]:
        rows = graph.jacobian(self.nodes, [graph.sym(name) for name in self.variables])
        flat: list[Node] = [graph.ZERO]
        table = []
        for row in rows:
            table.append([flat.index(row[j]) if row.get(j) in flat else 0 for j in range(len(self.variables))])
            for j, node in row.items():
                flat.append(node)
                table[-1][j] = len(flat) - 1
        return _Tape(flat, self.variables), table

    def beta(self, vertex: Vertex) -> Fraction:
        return sum((a * vertex[s] for s, a in self.weights.items()), Fraction(0))

    def combine(self, parts: Sequence[Any], vertex: Vertex) -> Any:
        """c_0 + sum of v_s c_s over balls."""
        return sum((part * ball(vertex[s]) for s, part in zip(self.slopes, parts[1:], strict=True)), parts[0])

    def bound(self, vertex: Vertex, box: Box) -> tuple[Fraction | None, int | None, tuple[Fraction, ...]]:
        """Certified lower bound over a box, the variable to split (None: attained), and the point it leans on."""
        sides = [ball(low).union(ball(high)) for low, high in box]
        tape, table = self._gradients
        found, decided = tape(sides)
        slopes = [self.combine([found[row[j]] for row in table], vertex) for j in range(len(box))]
        widths = [high - low for low, high in box]
        if not decided or not all(slope.is_finite() for slope in slopes):
            natural = self.combine(self._values(sides)[0], vertex)
            middle = tuple((low + high) / 2 for low, high in box)
            root = [w / (h - l) if h > l else Fraction(0) for w, (l, h) in zip(widths, self.box, strict=True)]
            return _lowest(natural), root.index(max(root)), middle
        pinned = [(low, low) if slope >= 0 else (high, high) if slope <= 0 else (low, high)
                  for slope, (low, high) in zip(slopes, box, strict=True)]  # fmt: skip
        centre = tuple((low + high) / 2 for low, high in pinned)
        taylor = self.combine(self._values([ball(c) for c in centre])[0], vertex)
        loss = [Fraction(0)] * len(box)
        for j, (low, high) in enumerate(pinned):
            if high > low:
                step = slopes[j] * (ball(low).union(ball(high)) - ball(centre[j]))
                taylor, loss[j] = taylor + step, Fraction(float(slopes[j].abs_upper())) * (high - low)
        lowest = _lowest(taylor)
        if any(loss):
            natural = _lowest(self.combine(self._values([ball(l).union(ball(h)) for l, h in pinned])[0], vertex))
            lowest = max((value for value in (lowest, natural) if value is not None), default=None)
        return lowest, loss.index(max(loss)) if any(loss) else None, centre
