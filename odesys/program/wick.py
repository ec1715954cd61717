r"""Wick's rule: monomials in independent standard normals, their means, and polynomials in them.

.. math::  \mathbb E\,z_1\cdots z_n = \sum_{\text{pairings}}\ \prod_{\{i,j\}} \mathbb E\,z_i z_j, \qquad
           \mathbb E\,z^{2k} = (2k-1)!! .

For independent normals only equal ones pair, so a monomial is a product of such numbers. `expanded` takes the means of
whole arrays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import prod

from ..errors import ModelError
from ..expr import graph
from ..expr.graph import ONE, Node, num

Monomial = tuple[tuple[str, int], ...]  # normals with their powers, sorted by name
EMPTY: Monomial = ()


def moment(monomial: Monomial) -> int:
    """The mean of a monomial in independent standard normals: the number of ways to pair equal factors.

    >>> moment((("x", 4), ("y", 2))), moment((("x", 3), ("y", 1)))
    (3, 0)
    """
    return prod(_pairings(power) for _, power in monomial)


def _pairings(power: int) -> int:
    return 0 if power % 2 else prod(range(1, power, 2))


def times(left: Monomial, right: Monomial) -> Monomial:
    """The product of two monomials."""
    if not left or not right:
        return left or right
    powers = dict(left)
    for name, power in right:
        powers[name] = powers.get(name, 0) + power
    return tuple(sorted(powers.items()))


def odd_part(monomial: Monomial) -> tuple[str, ...]:
    """The normals with an odd power: the mean of a product of two monomials is not zero where these agree."""
    return tuple(name for name, power in monomial if power % 2)


def polynomial(node: Node, names: Iterable[str]) -> dict[Monomial, Node]:
    """An expression as a polynomial in some symbols, multiplied out: its coefficients by monomial.

    >>> from odesys import sym
    >>> polynomial(sym("a") * (sym("x") + 2) ** 2, ["x"])
    {(): Node(4*a), (('x', 1),): Node(4*a), (('x', 2),): Node(a)}
    """
    wanted = set(names)
    memo: dict[Node, dict[Monomial, Node]] = {}
    for part in graph.topological([node]):
        if not graph.symbols([part]) & wanted:
            memo[part] = {EMPTY: part}
        elif part.op == "sym":
            memo[part] = {((part.args[0], 1),): ONE}
        elif part.op == "add":
            total: dict[Monomial, list[Node]] = {}
            for factor, term in part.args:
                for monomial, value in memo[term].items():
                    total.setdefault(monomial, []).append(num(factor) * value)
            memo[part] = {monomial: graph.add(values) for monomial, values in total.items()}
        elif part.op == "mul" and all(e == int(e) and (e > 0 or not _has(b, wanted)) for b, e in part.args):
            memo[part] = {EMPTY: ONE}
            for base, exponent in part.args:
                if not _has(base, wanted):
                    memo[part] = {m: value * graph.power(base, exponent) for m, value in memo[part].items()}
                    continue
                for _ in range(int(exponent)):
                    memo[part] = _product(memo[part], memo[base])
        else:
            raise no_polynomial(part)
    return {m: value for m, value in sorted(memo[node].items()) if value is not graph.ZERO}


def _has(node: Node, names: set[str]) -> bool:
    return bool(graph.symbols([node]) & names)


def _product(left: Mapping[Monomial, Node], right: Mapping[Monomial, Node]) -> dict[Monomial, Node]:
    total: dict[Monomial, list[Node]] = {}
    for m, a in left.items():
        for n, b in right.items():
            total.setdefault(times(m, n), []).append(a * b)
    return {monomial: graph.add(values) for monomial, values in total.items()}


def no_polynomial(function: Node | str) -> ModelError:
    """The sentence about a function of Gaussian tokens that has no finite expansion."""
    if isinstance(function, Node):
        shown = {"step": "relu, with its kink,", "mul": f"{repr(function)[5:-1]}"}.get(function.op, function.op)
    else:
        shown = function
    return ModelError(
        f"{shown} is no polynomial, so its mean over Gaussian tokens is no finite sum of moments; a finite sample with "
        f"its Gram matrix is the way there: Data(Words(..., gram=...), samples)"
    )


__all__ = ["EMPTY", "Monomial", "moment", "no_polynomial", "odd_part", "polynomial", "times"]
