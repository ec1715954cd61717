"""The edge to SymPy: graph nodes as SymPy expressions for people and proofs, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from ..errors import EquationError
from . import graph
from .functions import FUNCTIONS, unknown
from .graph import Node

_FROM_SYMPY = {getattr(sp, record.sympy): name for name, record in FUNCTIONS.items() if isinstance(record.sympy, str)}


def _apply(name: str, argument: sp.Expr) -> sp.Expr:
    known = FUNCTIONS[name].sympy
    return getattr(sp, known)(argument) if isinstance(known, str) else known(sp, argument)


def _number(value: Fraction | float) -> sp.Expr:
    return sp.Float(value, 17) if isinstance(value, float) else sp.Rational(value.numerator, value.denominator)


def to_sympy(node: Node, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.Expr:
    """The SymPy expression of one node; names become real symbols unless `symbols` gives others.

    >>> to_sympy(1 / (1 + graph.exp(-graph.sym("x"))))
    1/(1 + exp(-x))
    """
    return to_sympy_many([node], symbols)[0]


def to_sympy_many(roots: Iterable[Node], symbols: Mapping[str, sp.Symbol] | None = None) -> list[sp.Expr]:
    """SymPy expressions of several nodes, sharing what they share."""
    roots = list(roots)
    memo: dict[Node, sp.Expr] = {}
    for node in graph.topological(roots):
        if node.op == "num":
            memo[node] = _number(node.args[0])
        elif node.op == "sym":
            name = node.args[0]
            memo[node] = symbols[name] if symbols is not None and name in symbols else sp.Symbol(name, real=True)
        elif node.op == "add":
            memo[node] = sp.Add(*(_number(c) * memo[t] for c, t in node.args))
        elif node.op == "mul":
            memo[node] = sp.Mul(*(memo[b] ** _number(e) for b, e in node.args))
        elif parts := graph.power_parts(node):
            memo[node] = sp.Pow(*to_sympy_many(parts, symbols))
        else:
            memo[node] = _apply(node.op, memo[node.args[0]])
    return [memo[root] for root in roots]


def from_sympy(expression: Any) -> Node:
    """The node of a SymPy expression; floats stay floats, everything else stays exact.

    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> from_sympy(sp.Max(x, 0) + sp.Rational(1, 3))
    Node(x*Heaviside(x, 0) + 1/3)
    """
    memo: dict[sp.Basic, Node] = {}

    def visit(e: sp.Basic) -> Node:
        if e not in memo:
            memo[e] = _convert(e, visit)
        return memo[e]

    try:
        return visit(sp.sympify(expression))
    except (sp.SympifyError, AttributeError, TypeError, ZeroDivisionError):
        raise EquationError(f"{expression!r} is not an expression: use numbers and SymPy expressions") from None


def _convert(e: Any, visit: Any) -> Node:
    if e.is_Symbol:
        return graph.sym(e.name)
    if e.is_Rational:
        return graph.num(Fraction(int(e.p), int(e.q)))
    if e.is_Float:
        return graph.num(float(e))
    if e.is_Add:
        return graph.add([visit(a) for a in e.args])
    if e.is_Mul:
        return graph.multiply(*(visit(a) for a in e.args))
    if e is sp.pi:
        return 4 * graph.call("arctan", graph.ONE)
    if e is sp.E:
        return graph.exp(graph.ONE)
    if isinstance(e, sp.exp):
        return graph.exp(visit(e.args[0]))
    if e.is_Pow:
        if e.exp.is_Rational:
            return graph.power(visit(e.base), Fraction(int(e.exp.p), int(e.exp.q)))
        return graph.symbolic_power(visit(e.base), visit(e.exp))
    if isinstance(e, sp.Abs):
        return graph.absolute(visit(e.args[0]))
    if isinstance(e, sp.Heaviside):
        return graph.step(visit(e.args[0]))
    if isinstance(e, sp.sign):
        inner = visit(e.args[0])
        return graph.step(inner) - graph.step(-inner)
    if isinstance(e, (sp.Max, sp.Min)):
        sense = 1 if isinstance(e, sp.Max) else -1
        result: Node = visit(e.args[0])
        for other in e.args[1:]:  # max(a, b) = a + relu(b - a);  min(a, b) = a - relu(a - b)
            gap = (visit(other) - result) * sense
            result = result + graph.relu(gap) * sense
        return result
    name = _FROM_SYMPY.get(e.func)
    if name is not None and len(e.args) == 1:
        return graph.call(name, visit(e.args[0]))
    raise unknown(e.func.__name__)
