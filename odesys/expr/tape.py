"""Expressions as one straight-line program, for any kind of number: floats, arrays, balls, series, exact numbers."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from .functions import FUNCTIONS
from .nodes import Node, Number

TapeRow = tuple[str, Any]
_MINUS = object()
Work = Callable[[list[Any], Mapping[str, Any]], Any]  # the value of a row, from those before it and the symbols


def children(node: Node) -> tuple[Node, ...]:
    """The nodes an expression is made of directly."""
    if node.op == "add":
        return tuple([t for _, t in node.args])
    if node.op == "mul":
        return tuple([b for b, _ in node.args])
    return () if node.op in ("num", "sym") else node.args


def topological(roots: Iterable[Node], leaves: Container[Node] = ()) -> list[Node]:
    """All nodes below `roots`, each after its children; what is below `leaves` only is left out.

    >>> from odesys import graph, sym
    >>> graph.topological([graph.exp(sym("x")) + sym("x")])
    [Node(x), Node(exp(x)), Node(x + exp(x))]
    """
    order: list[Node] = []
    seen: set[Node] = set()
    stack: list[Any] = list(roots)[::-1]  # nodes, and those that only wait for what is above them, as tuples
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            order.append(node[0])
        elif node not in seen:
            seen.add(node)
            op = node.op
            if op == "num" or op == "sym" or node in leaves:
                order.append(node)
                continue
            stack.append((node,))
            if op == "add":
                stack += [child for _, child in node.args if child not in seen]
            elif op == "mul":
                stack += [child for child, _ in node.args if child not in seen]
            else:
                stack += [child for child in node.args if child not in seen]
    return order


@dataclass(frozen=True)
class Arithmetic:
    """One kind of number: its constants, its powers (by integers other than one, or fractions), its functions."""

    functions: Mapping[str, Callable[[Any], Any]]
    constant: Callable[[Number], Any] = lambda value: value
    power: Callable[[Any, Any], Any] = pow


@dataclass(frozen=True, eq=False)
class Tape:
    """Several expressions as rows, each after the rows it uses and each distinct one once.

    row                          value
    ---------------------------  -----------------------------------
    num, value                   a constant
    sym, name                    a variable or parameter
    add, ((c, row), ...)         a linear form
    mul, ((row, exponent), ...)  a monomial
    f, row                       a function of `functions.FUNCTIONS`
    """

    rows: tuple[TapeRow, ...]
    roots: tuple[int, ...]
    index: Mapping[Node, int]  # the row of every node

    @classmethod
    def of(cls, roots: Sequence[Node]) -> Tape:
        """The tape of some expressions.

        >>> from odesys import graph
        >>> x = graph.sym("x")
        >>> Tape.of([x * x - x]).over(Arithmetic({}))({"x": 3})
        [6]
        """
        index: dict[Node, int] = {}
        rows: list[TapeRow] = []
        for node in topological(roots):
            if node.op in ("num", "sym"):
                what: Any = node.args[0]
            elif node.op == "add":
                what = tuple((c, index[t]) for c, t in node.args)
            elif node.op == "mul":
                what = tuple((index[b], e) for b, e in node.args)
            else:
                what = index[node.args[0]]
            index[node] = len(rows)
            rows.append((node.op, what))
        return cls(tuple(rows), tuple(index[root] for root in roots), index)

    def over(self, kind: Arithmetic) -> Callable[[Mapping[str, Any]], list[Any]]:
        """The function from values of the symbols to values of the expressions; constants are made now."""
        program = [_work(op, what, kind) for op, what in self.rows]

        def run(env: Mapping[str, Any]) -> list[Any]:
            values: list[Any] = []
            for work in program:
                values.append(work(values, env))
            return [values[i] for i in self.roots]

        return run


def _work(op: str, what: Any, kind: Arithmetic) -> Work:
    if op == "num":
        number = kind.constant(what)
        return lambda values, env: number
    if op == "sym":
        return lambda values, env: env[what]
    if op == "add":
        return _sum([(_factor(c, kind), i) for c, i in what])
    if op == "mul":
        exponents = [(i, int(e) if e.denominator == 1 else e) for i, e in what]
        return _product([(i, None if e == 1 else e) for i, e in exponents], kind.power)
    function = kind.functions[op]
    return lambda values, env: function(values[what])


def _factor(coefficient: Number, kind: Arithmetic) -> Any:
    """What a term is multiplied by: None for one, a mark for minus one, where these are exact."""
    if isinstance(coefficient, float) or abs(coefficient) != 1:
        return kind.constant(coefficient)
    return None if coefficient > 0 else _MINUS


def _sum(terms: Sequence[tuple[Any, int]]) -> Work:
    def work(values: list[Any], env: Mapping[str, Any]) -> Any:
        total = None
        for c, i in terms:
            term = values[i] if c is None else -values[i] if c is _MINUS else c * values[i]
            total = term if total is None else total + term
        return total

    return work


def _product(factors: Sequence[tuple[int, Any]], power: Callable[[Any, Any], Any]) -> Work:
    def work(values: list[Any], env: Mapping[str, Any]) -> Any:
        total = None
        for i, e in factors:
            factor = values[i] if e is None else power(values[i], e)
            total = factor if total is None else total * factor
        return total

    return work


def float_power(value: Any, exponent: int | Fraction) -> Any:
    """A power of a float or an array; Python would refuse 0.0 ** -1 and answer a root with a complex number."""
    value = np.float64(value) if isinstance(value, float) else value
    return value ** (exponent if isinstance(exponent, int) else float(exponent))


ARRAYS = Arithmetic({name: record.arrays for name, record in FUNCTIONS.items()}, float, float_power)


def evaluate(
    roots: Sequence[Node],
    env: Mapping[str, Any],
    functions: Mapping[str, Callable[[Any], Any]],
    constant: Callable[[Number], Any] = lambda v: v,
    root: Callable[[Any, Fraction], Any] = pow,
) -> list[Any]:
    """Evaluate once over any number type: `functions` gives its elementary functions, `root` its fractional powers.

    >>> from fractions import Fraction
    >>> from odesys import graph, sym
    >>> graph.evaluate([sym("x") ** 2 + 1, 1 / sym("x")], {"x": Fraction(1, 2)}, {})
    [Fraction(5, 4), Fraction(2, 1)]
    """

    def power(value: Any, exponent: Any) -> Any:
        return value**exponent if isinstance(exponent, int) else root(value, exponent)

    return Tape.of(roots).over(Arithmetic(functions, constant, power))(env)
