r"""An expression multiplied out into few terms of many symbols.

.. math::  \sum_m c_m \prod_{a \in m} a^{e_a}

over atoms a: symbols, and whatever can not be multiplied out (functions, roots, sums that divide). A monomial lists
only the atoms it has, so a thousand symbols cost nothing where each term has two of them.
"""

from __future__ import annotations

from fractions import Fraction

from ..expr import graph
from ..expr.graph import ONE, Node

Monomial = frozenset[tuple[Node, Fraction]]
LIMIT = 200_000


class TooManyTerms(Exception):
    """More terms, or products of terms for one power, than `LIMIT`."""


def sparse_terms(node: Node) -> dict[Monomial, Fraction]:
    """Coefficients by monomial; monomials are independent if the atoms are.

    >>> from odesys.expr.graph import sym
    >>> x, y = sym("x"), sym("y")
    >>> sorted(sparse_terms((x + y) ** 2 - x**2).values())
    [Fraction(1, 1), Fraction(2, 1)]
    """
    memo: dict[Node, dict[Monomial, Fraction]] = {}
    for one in graph.topological([node]):
        if one.op == "num" and isinstance(one.args[0], Fraction):
            memo[one] = {frozenset(): one.args[0]} if one.args[0] else {}
        elif one.op == "add":
            memo[one] = _sum(one, memo)
        elif one.op == "mul":
            product: dict[Monomial, Fraction] = {frozenset(): Fraction(1)}
            for base, exponent in one.args:
                product = _times(product, _power(base, exponent, memo))
            memo[one] = product
        else:
            memo[one] = {frozenset(((one, Fraction(1)),)): Fraction(1)}
    return memo[node]


def _sum(node: Node, memo: dict[Node, dict[Monomial, Fraction]]) -> dict[Monomial, Fraction]:
    out: dict[Monomial, Fraction] = {}
    for c, term in node.args:
        for monomial, value in memo[term].items() if term is not ONE else ((frozenset(), Fraction(1)),):
            out[monomial] = out.get(monomial, Fraction(0)) + Fraction(c) * value
    return {monomial: c for monomial, c in out.items() if c}


def _power(base: Node, exponent: Fraction, memo: dict[Node, dict[Monomial, Fraction]]) -> dict[Monomial, Fraction]:
    if base.op == "add" and exponent.denominator == 1 and exponent > 0:
        out, work = memo[base], 0
        for _ in range(int(exponent) - 1):
            work += len(out) * len(memo[base])
            if work > LIMIT:  # two terms have as many powers as one likes, each a little longer than the last
                raise TooManyTerms
            out = _times(out, memo[base])
        return out
    return {frozenset(((base, exponent),)): Fraction(1)}


def _times(a: dict[Monomial, Fraction], b: dict[Monomial, Fraction]) -> dict[Monomial, Fraction]:
    if len(a) * len(b) > LIMIT:
        raise TooManyTerms
    out: dict[Monomial, Fraction] = {}
    for m, c in a.items():
        for n, d in b.items():
            together = _joined(m, n)
            out[together] = out.get(together, Fraction(0)) + c * d
    return {monomial: c for monomial, c in out.items() if c}


def _joined(m: Monomial, n: Monomial) -> Monomial:
    if not m or not n:
        return m or n
    powers = dict(m)
    for atom, e in n:
        powers[atom] = powers.get(atom, Fraction(0)) + e
    return frozenset((atom, e) for atom, e in powers.items() if e)
