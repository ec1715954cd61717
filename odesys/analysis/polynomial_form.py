"""Rational expressions as quotients of polynomials, exactly, and polynomials as expressions of SymPy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from ..expr import graph
from ..expr.graph import Node

LONGEST = 4000  # terms of a numerator or denominator
HIGHEST = 1000  # degree of either

Quotient = tuple[Any, Any]  # flint.fmpz_mpoly above and below


def polynomial_context(names: Sequence[str]) -> Any:
    """The ring of polynomials with whole coefficients in some names."""
    return flint.fmpz_mpoly_ctx.get(tuple(names), "degrevlex")


def is_rational(nodes: Sequence[Node]) -> bool:
    """Whether expressions are quotients of polynomials with exact rational coefficients."""
    for node in graph.topological(nodes):
        numbers = [c for c, _ in node.args] if node.op == "add" else node.args if node.op == "num" else ()
        if node.op not in ("num", "sym", "add", "mul") or any(isinstance(c, float) for c in numbers):
            return False
        if node.op == "mul" and any(exponent.denominator != 1 for _, exponent in node.args):
            return False
    return True


def quotients(nodes: Sequence[Node], context: Any) -> tuple[list[Quotient], list[Any]] | None:
    """Expressions as polynomials over polynomials, in lowest terms, and all that is divided by; None if too large.

    >>> x = graph.sym("x")
    >>> quotients([x / (1 + x) + 1], polynomial_context(["x"]))
    ([(2*x + 1, x + 1)], [x + 1])
    """
    gens = dict(zip(context.names(), context.gens(), strict=True))
    one = context.constant(1)
    memo: dict[Node, Quotient] = {}
    divisors: list[Any] = []
    for node in graph.topological(nodes):
        if node.op == "num":
            memo[node] = (context.constant(node.args[0].numerator), context.constant(node.args[0].denominator))
        elif node.op == "sym":
            memo[node] = (gens[node.args[0]], one)
        elif node.op == "add":
            top, bottom = context.constant(0), one
            for c, term in node.args:
                above, below = memo[term]
                above, below = above * c.numerator, below * c.denominator
                common = bottom.gcd(below)
                rest = below / common
                top, bottom = top * rest + above * (bottom / common), bottom * rest
            memo[node] = _lowest(top, bottom)
        else:
            top, bottom = one, one
            for base, exponent in node.args:
                above, below = memo[base] if exponent > 0 else memo[base][::-1]
                if below.is_zero():
                    return None
                if exponent < 0 and not below.is_constant() and below not in divisors:
                    divisors.append(below)
                if not (_has_power(above, abs(int(exponent))) and _has_power(below, abs(int(exponent)))):
                    return None
                top, bottom = top * above ** abs(int(exponent)), bottom * below ** abs(int(exponent))
            memo[node] = _lowest(top, bottom)
        if max(len(memo[node][0]), len(memo[node][1])) > LONGEST:
            return None
    return [memo[node] for node in nodes], divisors


def _has_power(polynomial: Any, exponent: int) -> bool:
    """Whether a power is small enough to be multiplied out: by its degree, and by the most terms it can have."""
    degree, size = int(polynomial.total_degree()) * exponent, polynomial.context().nvars()
    if exponent == 1 or polynomial.is_constant():
        return True
    if degree > HIGHEST:
        return False
    most = min(math.comb(len(polynomial) + exponent - 1, exponent), math.comb(degree + size, size))
    return most <= 4 * LONGEST  # some fall together


def _lowest(top: Any, bottom: Any) -> Quotient:
    if top.is_zero():
        return top, bottom**0
    common = top.gcd(bottom)
    if bottom.leading_coefficient() < 0:
        common = -common
    return top / common, bottom / common


def as_expression(polynomial: Any, symbols: Mapping[str, Any]) -> sp.Expr:
    """A polynomial as an expression of SymPy, its variables replaced by `symbols`."""
    names = polynomial.context().names()
    total = []
    for exponents, c in polynomial.to_dict().items():
        powers = (symbols[name] ** int(n) for name, n in zip(names, exponents, strict=True) if n)
        total.append(sp.Mul(sp.Integer(int(c)), *powers))
    return sp.Add(*total)


def decimals(nodes: Sequence[Node]) -> list[Node]:
    """Expressions with each float read as the decimal number that it prints as.

    >>> decimals([0.1 * graph.sym("x")])
    [Node(x/10)]
    """
    memo: dict[Node, Node] = {}

    def exact(value: Any) -> Fraction:
        return Fraction(repr(value)) if isinstance(value, float) else value

    for node in graph.topological(nodes):
        if node.op == "num":
            memo[node] = graph.num(exact(node.args[0]))
        elif node.op == "add":
            memo[node] = graph.combine((exact(c), memo[t]) for c, t in node.args)
        else:
            memo[node] = graph.rebuild(node, memo.__getitem__)
    return [memo[node] for node in nodes]


def factored(polynomial: Any) -> list[tuple[Any, int]]:
    """Irreducible factors of a polynomial over the integers with their powers, without the constant.

    flint orders factors by machine integers and fails where leading coefficients are longer; SymPy then takes over.

    >>> context = polynomial_context(["x", "y"])
    >>> x, y = context.gens()
    >>> sorted((str(f), n) for f, n in factored((10**30 * x + 1) * (x + y) ** 2))
    [('1000000000000000000000000000000*x + 1', 1), ('x + y', 2)]
    """
    try:
        return [(f, int(n)) for f, n in polynomial.factor()[1]]
    except OverflowError:
        context = polynomial.context()
        terms = {tuple(map(int, powers)): int(c) for powers, c in polynomial.to_dict().items()}
        gens = sp.symbols(f"g0:{context.nvars()}")
        parts = sp.Poly.from_dict(terms, *gens).factor_list()[1]
        return [(context.from_dict({e: int(c) for e, c in f.as_dict().items()}), n) for f, n in parts]
