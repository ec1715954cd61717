r"""Leading order of expressions as one of their symbols grows: exact, and refused where it can not be read off.

Every node is written as :math:`c\,K^p (1 + o(1))` with an exponent p and an expression c that is free of K. Sums keep
their largest power, products add powers; where leading terms cancel the order is not known, and that is said. An odd
function of what decays is as large as its argument times the slope at zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import ONE, ZERO, Node
from .zero import zero_test

Order = tuple[Fraction, Node]  # exponent, and coefficient free of the symbol
_ZERO_ORDER = Fraction(0)


def leading_orders(roots: Sequence[Node], name: str) -> list[Order]:
    """Exponent and coefficient of the leading term of each expression as `name` tends to infinity.

    Parameters
    ----------
    roots : Sequence[Node]
        The expressions.
    name : str
        What tends to infinity.

    Returns
    -------
    list[Order]
        For each expression the exponent and the coefficient.

    Examples
    --------
    >>> from odesys import sym, to_sympy
    >>> K, x = sym("K"), sym("x")
    >>> [(str(p), str(to_sympy(c))) for p, c in leading_orders([(K - 2) * x / (3 * K), 1 / (K - 1)], "K")]
    [('0', 'x/3'), ('-1', '1')]
    """
    memo: dict[Node, Order] = {}
    for node in graph.topological(roots):
        memo[node] = _order(node, memo, name)
    return [memo[root] for root in roots]


def limits_at_infinity(roots: Sequence[Node], name: str) -> list[Node]:
    """Limits of expressions as `name` tends to infinity; refuses one that grows.

    Parameters
    ----------
    roots : Sequence[Node]
        The expressions.
    name : str
        What tends to infinity.

    Returns
    -------
    list[Node]
        One limit per expression.

    Examples
    --------
    >>> K, x = graph.sym("K"), graph.sym("x")
    >>> limits_at_infinity([(K - 1) * x / K, x / K], "K")
    [Node(x), Node(0)]
    """
    out = []
    for root, (exponent, coefficient) in zip(roots, leading_orders(roots, name), strict=True):
        if exponent > 0 and coefficient is not ZERO:
            raise EquationError(f"an expression grows like {name}^{exponent} and has no limit", expression=root)
        out.append(coefficient if exponent == 0 else ZERO)
    return out


def _order(node: Node, memo: dict[Node, Order], name: str) -> Order:
    if node.op == "num":
        return _ZERO_ORDER, node
    if node.op == "sym":
        return (Fraction(1), ONE) if node.args[0] == name else (_ZERO_ORDER, node)
    if node.op == "add":
        terms = [(memo[t][0], c, memo[t][1]) for c, t in node.args if memo[t][1] is not ZERO]
        if not terms:
            return _ZERO_ORDER, ZERO
        top = max(exponent for exponent, *_ in terms)
        largest = [(c, coefficient) for exponent, c, coefficient in terms if exponent == top]
        lead = graph.combine(largest)
        if len(largest) > 1 and zero_test(lead).answer == "zero":
            raise EquationError(f"the leading terms in {name} cancel, so the order is not known", expression=node)
        return top, lead
    if node.op == "mul":
        gone = [e for base, e in node.args if memo[base][1] is ZERO]
        if any(e < 0 for e in gone):
            raise EquationError(f"a divisor vanishes as {name} grows", expression=node)
        if gone:
            return _ZERO_ORDER, ZERO
        exponent = sum((memo[base][0] * e for base, e in node.args), _ZERO_ORDER)
        return exponent, graph.multiply(*(graph.power(memo[base][1], e) for base, e in node.args))
    exponent, inner = memo[node.args[0]]
    if exponent > 0 and inner is not ZERO:
        raise EquationError(f"the argument of {node.op} grows with {name}", expression=node)
    argument = inner if exponent == 0 else ZERO
    if node.op == "step" and argument is ZERO:
        raise EquationError(f"a gate closes on its surface as {name} grows, so it has no limit", expression=node)
    if argument is ZERO and graph.FUNCTIONS[node.op].odd:
        return exponent, graph.multiply(inner, graph.derivative(node.op, ZERO, ZERO))
    value = graph.call(node.op, argument)
    if node.op != "step" and zero_test(value).answer == "zero":
        raise EquationError(f"{node.op} vanishes as {name} grows, so its order is not known", expression=node)
    return _ZERO_ORDER, value
