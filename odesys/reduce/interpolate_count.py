r"""One system for every value of a whole number, through a few of its members.

Where symmetric parts of a model are counted by a number n, its expressions have the same shape for every n, and n
stands in them only as a multiplicity: in sums of equal terms, also inside exponentials and denominators. The members
are compared part by part. A part of a product may be scaled differently in each member (a sum in a product is kept up
to a factor), so a comparison gives a factor for each member and one common expression,

.. math::  e_n = f_n\,e(n), \qquad e(n) = \sum_i p_i(n)\,t_i(n),

with polynomials :math:`p_i` of degree two at most through the exact coefficients, and a factor in front that is such a
polynomial or one over it, times a power of n. More members are needed than a polynomial has coefficients: each further
one is a check, and expressions of different shape are refused. The result is exact at the members and a measurement for
every other n; `family_flow` derives what it can with the number as a symbol, which needs no members.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import ONE, Node, num, sym
from ..expr.system import System

LARGEST_DEGREE = 2
Values = tuple[Fraction, ...]  # one number for each member


def interpolate_count(parameter: str, members: Mapping[int, System]) -> System:
    """The system with the whole number `parameter` left open that all members are values of.

    Parameters
    ----------
    parameter : str
        What the number is called.
    members : Mapping[int, System]
        By number, systems with the same states.

    Returns
    -------
    System
        With the number as a parameter; refused if no such system has these members.

    Examples
    --------
    >>> x, y = sym("x"), sym("y")
    >>> def member(n):
    ...     return System.from_equations({"x": x / (n * y + x), "y": x})
    >>> interpolate_count("n", {n: member(n) for n in (3, 4, 5, 6)}).nodes[0] == x / (sym("n") * y + x)
    True
    """
    numbers = tuple(sorted(members))
    if len(numbers) < LARGEST_DEGREE + 2:
        raise EquationError(
            f"{len(numbers)} members can not check one system for every {parameter}; give at least {LARGEST_DEGREE + 2}"
        )
    systems = [members[n] for n in numbers]
    one = systems[0]
    for system in systems:
        if system.names != one.names or system.kind != one.kind or set(system.observables) != set(one.observables):
            raise EquationError(f"the members for every {parameter} need the same states and observables")
    if parameter in {*one.names, *one.parameters}:
        raise EquationError(f"{parameter} is already a name in the members; call the whole number otherwise")
    found = _Comparison(parameter, numbers)
    nodes = [found.whole(name, tuple(s.nodes[k] for s in systems)) for k, name in enumerate(one.names)]
    observables = {name: found.whole(name, tuple(s.observables[name] for s in systems)) for name in one.observables}
    parameters = tuple(sorted({*one.parameters, parameter}))
    return replace(one, field=ScalarField(tuple(nodes), observables), parameters=parameters)


@dataclass(eq=False)
class _Comparison:
    """Parts of the members compared so far: factors and common expression."""

    parameter: str
    numbers: tuple[int, ...]
    known: dict[tuple[Node, ...], tuple[Values, Node]] = field(default_factory=dict)
    shapes: dict[Node, int] = field(default_factory=dict)
    kinds: dict[Any, int] = field(default_factory=dict)  # a number for every shape met

    def whole(self, name: str, nodes: tuple[Node, ...]) -> Node:
        """The common expression including its factor."""
        for node in graph.topological(nodes):
            if node not in self.shapes:
                self.shapes[node] = self._shape(node)
        try:
            factors, common = self.part(nodes)
            return self._factor(factors) * common
        except _DifferentError as error:
            raise EquationError(
                f"the members for every {self.parameter} differ in more than multiplicities: {name}, {error}",
                parameter=self.parameter,
            ) from error

    def part(self, nodes: tuple[Node, ...]) -> tuple[Values, Node]:
        """Factors and common expression of one part."""
        if nodes not in self.known:
            alone = [_alone(node) for node in nodes]
            factors, common = self._compare(tuple(term for _, term in alone))
            self.known[nodes] = tuple(c * f for (c, _), f in zip(alone, factors, strict=True)), common
        return self.known[nodes]

    def _shape(self, node: Node) -> int:
        """The number of an expression without its numbers: equal for two members."""
        known: dict[Node, int] = self.shapes
        key: Any = node.op
        if node.op == "add" and len(node.args) == 1:
            return known[node.args[0][1]]
        if node.op == "sym":
            key = node.args
        elif node.op == "add":
            key = "add", tuple(sorted(known[term] for _, term in node.args))
        elif node.op == "mul":
            key = "mul", tuple(sorted((known[base], exponent) for base, exponent in node.args))
        elif node.op != "num":
            key = node.op, known[node.args[0]]
        return self.kinds.setdefault(key, len(self.kinds))

    def _compare(self, nodes: tuple[Node, ...]) -> tuple[Values, Node]:
        ones = (Fraction(1),) * len(nodes)
        if all(node is nodes[0] for node in nodes):
            return ones, nodes[0]
        if len({self.shapes[node] for node in nodes}) > 1:
            raise _DifferentError("whose parts have different shapes")
        op = nodes[0].op
        if op == "num":
            return tuple(Fraction(node.args[0]) for node in nodes), ONE
        if op == "add":
            return self._sum(nodes)
        if op == "mul":
            return self._product(nodes)
        factors, inner = self.part(tuple(node.args[0] for node in nodes))
        if op == "step" and min(factors) > 0:  # a gate does not see the size of its argument
            return ones, graph.call(op, inner)
        return ones, graph.call(op, self._factor(factors) * inner)

    def _product(self, nodes: tuple[Node, ...]) -> tuple[Values, Node]:
        total, parts = [Fraction(1)] * len(nodes), []
        for bases, exponent in self._matched([[(base, e) for base, e in node.args] for node in nodes]):
            factors, common = self.part(bases)
            if set(factors) != {Fraction(1)}:
                if exponent.denominator != 1:
                    raise _DifferentError(f"a root of which changes with {self.parameter}")
                total = [t * f ** int(exponent) for t, f in zip(total, factors, strict=True)]
            parts.append(graph.power(common, exponent))
        return tuple(total), graph.multiply(*parts)

    def _sum(self, nodes: tuple[Node, ...]) -> tuple[Values, Node]:
        """A sum up to a factor: the first term by which all coefficients become polynomials is kept with 1."""
        terms: list[tuple[Values, Node]] = []
        for parts, _ in self._matched([[(term, Fraction(1)) for _, term in node.args] for node in nodes]):
            factors, common = self.part(parts)
            own = [dict((t, c) for c, t in node.args)[part] for node, part in zip(nodes, parts, strict=True)]
            terms.append((tuple(Fraction(c) * f for c, f in zip(own, factors, strict=True)), common))
        best: tuple[int, Values, list[Node]] | None = None
        for unit in dict.fromkeys(values for values, _ in terms):
            rows = [_fit(self.numbers, [v / u for v, u in zip(values, unit, strict=True)]) for values, _ in terms]
            if all(rows):
                degree = sum(len(row) for row in rows if row)
                if best is None or degree < best[0]:
                    best = degree, unit, [self._written(row) for row in rows if row]
        if best is None:
            raise _DifferentError(f"whose coefficients are no polynomials in {self.parameter}")
        return best[1], graph.add(p * common for p, (_, common) in zip(best[2], terms, strict=True))

    def _matched(self, rows: Sequence[list[tuple[Node, Fraction]]]) -> list[tuple[tuple[Node, ...], Fraction]]:
        """Parts of the members with the same shape and exponent, in the order of the first member."""
        tables = []
        for row in rows:
            table = {(self.shapes[node], exponent): node for node, exponent in row}
            if len(table) < len(row):
                raise _DifferentError("two parts of which differ in numbers only")
            tables.append(table)
        return [(tuple(table[key] for table in tables), key[1]) for key in tables[0]]

    def _factor(self, values: Values) -> Node:
        """A factor as polynomial or one over a polynomial, divided by a power of the number where that helps."""
        for power in range(LARGEST_DEGREE + 1):
            for exponent in (1, -1):
                row = _fit(self.numbers, [v**exponent * n**power for v, n in zip(values, self.numbers, strict=True)])
                if row is not None:
                    written = self._written(row) * graph.power(sym(self.parameter), Fraction(-power))
                    return graph.power(written, Fraction(exponent))
        raise _DifferentError(f"whose factor is no polynomial in {self.parameter}, nor one over a polynomial")

    def _written(self, row: Sequence[Fraction]) -> Node:
        return graph.add(num(c) * graph.power(sym(self.parameter), Fraction(k)) for k, c in enumerate(row))


class _DifferentError(Exception):
    """The members are not values of one expression; the text goes on after the name of the equation."""


def _alone(node: Node) -> tuple[Fraction, Node]:
    """The coefficient of a single term, and the term."""
    if node.op == "add" and len(node.args) == 1:
        coefficient, term = node.args[0]
        return Fraction(coefficient), term
    return Fraction(1), node


def _fit(numbers: Sequence[int], values: Sequence[Fraction]) -> list[Fraction] | None:
    """Coefficients, from the constant on, of the polynomial of least degree through all values; None above degree 2."""
    for degree in range(LARGEST_DEGREE + 1):
        row = through(numbers[: degree + 1], values[: degree + 1])
        if all(sum(c * n**k for k, c in enumerate(row)) == v for n, v in zip(numbers, values, strict=True)):
            return row
    return None


def through(numbers: Sequence[int], values: Sequence[Fraction]) -> list[Fraction]:
    """The polynomial through as many values as it has coefficients (Newton's divided differences, multiplied out)."""
    slopes, row = list(values), [Fraction(0)] * len(numbers)
    for k in range(1, len(numbers)):
        for i in range(len(numbers) - 1, k - 1, -1):
            slopes[i] = (slopes[i] - slopes[i - 1]) / (numbers[i] - numbers[i - k])
    for k in range(len(numbers) - 1, -1, -1):
        row = [slopes[k] - numbers[k] * row[0], *(row[j - 1] - numbers[k] * row[j] for j in range(1, len(row)))]
    return row


__all__ = ["interpolate_count", "through"]
