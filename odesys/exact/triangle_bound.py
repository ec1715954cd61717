r"""Upper bounds of polynomials by the triangle inequality, exact and for all values at once.

.. math::  |x_i| \le B_i \quad\Longrightarrow\quad \Big|\sum_k c_k x^{m_k}\Big| \le \sum_k |c_k|\, B^{m_k} .
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..errors import EquationError
from ..expr.graph import Node, as_node, combine, multiply, power, sym
from .expansion import Expansion, Relations, TooLarge
from .rewriting import has_floats

EXPANSION_LIMIT = 100_000


def triangle_bound(node: Node, bounds: Mapping[str, Any]) -> Node:
    """A bound of the absolute value of a polynomial, where each symbol is at most its own bound in absolute value.

    Parameters
    ----------
    node : Node
        The polynomial, exact; like terms cancel before the bound is taken.
    bounds : Mapping[str, Any]
        For each symbol of `node` its bound: a number or an expression that is not negative.

    Returns
    -------
    Node
        The bound, as an expression in the bounds.

    Examples
    --------
    >>> x, y = sym("x"), sym("y")
    >>> triangle_bound((x - y) * (x + y), {"x": 2, "y": sym("B")})
    Node(B**2 + 4)
    """
    if has_floats([node]):
        raise EquationError("a bound of an expression with floats would be no proof; give exact numbers")
    try:
        quotient = Expansion(node, Relations(), None, EXPANSION_LIMIT)
    except TooLarge:
        raise EquationError("the polynomial has too many terms to be bounded term by term") from None
    above, below = quotient.lowest_terms()
    terms = quotient.terms(above)
    if not below.is_constant() or any(e.denominator != 1 or e < 0 for _, used in terms for _, e in used):
        raise EquationError("the triangle inequality is for polynomials; this expression has divisors or roots")
    known = {sym(name): as_node(bound) for name, bound in bounds.items()}
    loose = sorted(repr(base) for _, used in terms for base, _ in used if base not in known)
    if loose:
        raise EquationError(f"{loose[0]} has no bound")
    divisor = quotient.terms(below)[0][0]
    return combine((abs(c / divisor), multiply(*(power(known[base], e) for base, e in used))) for c, used in terms)
