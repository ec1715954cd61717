"""The edge to SymPy: graph nodes as SymPy expressions for people and proofs, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from ..errors import EquationError
from . import graph
from .constants import refuse_long_power
from .functions import FUNCTIONS, unknown
from .graph import Node
from .letters import plain_name

_FROM_SYMPY = {getattr(sp, record.sympy): name for name, record in FUNCTIONS.items() if isinstance(record.sympy, str)}


def _apply(name: str, argument: sp.Expr) -> sp.Expr:
    known = FUNCTIONS[name].sympy
    return getattr(sp, known)(argument) if isinstance(known, str) else known(sp, argument)


def _number(value: Fraction | float) -> sp.Expr:
    return sp.Float(value, 17) if isinstance(value, float) else sp.Rational(value.numerator, value.denominator)


def _power(base: sp.Expr, exponent: sp.Expr) -> sp.Expr:
    """A power, which SymPy computes at once where both are numbers."""
    if base.is_Rational and exponent.is_Rational:
        refuse_long_power(Fraction(base.p, base.q), Fraction(exponent.p, exponent.q))
    return base**exponent


def to_sympy(node: Node, symbols: Mapping[str, sp.Symbol] | None = None) -> sp.Expr:
    """The SymPy expression of one node; names become real symbols unless `symbols` gives others.

    Parameters
    ----------
    node : Node
        The expression.
    symbols : Mapping[str, sp.Symbol], optional
        SymPy symbols to use for some names.

    Returns
    -------
    sp.Expr
        The same expression in SymPy.

    Examples
    --------
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
            memo[node] = sp.Mul(*(_power(memo[b], _number(e)) for b, e in node.args))
        elif parts := graph.power_parts(node):
            memo[node] = _power(*to_sympy_many(parts, symbols))
        else:
            memo[node] = _apply(node.op, memo[node.args[0]])
    return [memo[root] for root in roots]


def from_sympy(expression: Any) -> Node:
    """The node of a SymPy expression; floats stay floats, everything else stays exact.

    Parameters
    ----------
    expression : Any
        A SymPy expression.

    Returns
    -------
    Node
        The same expression as a node.

    Examples
    --------
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
        return graph.sym(plain_name(e.name))
    if isinstance(e, AppliedUndef) and len(e.args) == 1 and e.args[0].is_Symbol:  # x(t) is the state x
        return graph.sym(plain_name(e.func.__name__))
    if isinstance(e, sp.Piecewise):
        return _pieces(e, visit)
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


def _pieces(e: Any, visit: Any) -> Node:
    """A function by cases, as gates; the last case must be the rest."""
    if e.args[-1].cond != sp.true:
        raise EquationError(f"{e} does not say what it is elsewhere; end it with (value, True)")
    total, left = graph.ZERO, graph.ONE
    for value, condition in e.args:
        gate = _gate(condition, visit)
        total = total + left * gate * visit(value)
        left = left * (1 - gate)
    return total


def _gate(condition: Any, visit: Any) -> Node:
    if condition in (sp.true, sp.false):
        return graph.ONE if condition == sp.true else graph.ZERO
    if isinstance(condition, (sp.StrictGreaterThan, sp.StrictLessThan, sp.GreaterThan, sp.LessThan)):
        gap = visit(condition.gts) - visit(condition.lts)
        strict = isinstance(condition, (sp.StrictGreaterThan, sp.StrictLessThan))
        return graph.step(gap) if strict else 1 - graph.step(-gap)
    if isinstance(condition, sp.Not):
        return 1 - _gate(condition.args[0], visit)
    if isinstance(condition, (sp.And, sp.Or)):
        both = isinstance(condition, sp.And)
        gates = [_gate(c, visit) for c in condition.args]
        product = graph.multiply(*(g if both else 1 - g for g in gates))
        return product if both else 1 - product
    raise EquationError(f"the condition {condition} is not made of <, >, <=, >=, And, Or, Not")
