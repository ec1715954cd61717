r"""The sign of a rational expression in few, simple gates: positive factors dropped, the others one gate each.

.. math::  \operatorname{sgn}\prod_k f_k^{e_k} = \prod_{k\ \text{not positive}} \operatorname{sgn}(f_k)^{e_k} ,

with the f_k irreducible over the rationals. A factor that is left is written level by level: as a polynomial in the
symbols of the first level, its coefficients factored and written in those of the next. So a sum over samples stays a
sum of products. Only named rewriting: factor, cancel, polynomial coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import sympy as sp

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node
from ..expr.sympy_bridge import from_sympy, to_sympy

MOST_UNITS = 10  # symbols whose corners are looked at


def sign_node(node: Node) -> Node:
    """sgn(node) with sgn(0) = 0, as the difference of two gates."""
    return graph.step(node) - graph.step(-node)


class SignForm:
    """How the sign of an expression is brought to normal form.

    Parameters
    ----------
    positive : Sequence[sp.Expr]
        Expressions taken to be positive.
    unit : Sequence[sp.Symbol]
        Symbols taken to lie strictly between 0 and 1. A polynomial of degree one in each of them is positive there if
        it is not negative at any corner of the cube and not zero at all; positive symbols may multiply such ones.
    levels : Sequence[Sequence[sp.Symbol]]
        Symbols of a first level, of a second, and so on; see the module.
    names : Mapping[sp.Expr, sp.Symbol], optional
        How factors are written in the result: {1 - p: q} makes q of every factor 1 - p.

    Examples
    --------
    >>> import sympy as sp
    >>> p, g, x, y = sp.symbols("p g x y", real=True)
    >>> form = SignForm([g], [p], [[g], [x, y]])
    >>> form.factors(from_sympy(g * (p - p**2) * (2 * x - 2 * y)))
    (1, [(x - y, 1)])
    """

    def __init__(
        self,
        positive: Sequence[sp.Expr],
        unit: Sequence[sp.Symbol],
        levels: Sequence[Sequence[sp.Symbol]],
        names: Mapping[sp.Expr, sp.Symbol] | None = None,
    ) -> None:
        self.positive = {_monic(p)[1]: _monic(p)[0] for p in positive}
        self.unit = list(unit)
        self._found: dict[Node, tuple[int, list[tuple[sp.Expr, int]]]] = {}
        self.levels = [list(level) for level in levels]
        self.names = {_monic(e)[1]: _monic(e)[0] * name for e, name in (names or {}).items()}

    def factors(self, node: Node) -> tuple[int, list[tuple[sp.Expr, int]]]:
        """The sign in front and the factors, with exponents, that are not known to be positive; (0, []) for zero."""
        if node not in self._found:
            self._found[node] = self._split(node)
        return self._found[node]

    def _split(self, node: Node) -> tuple[int, list[tuple[sp.Expr, int]]]:
        above, below = self._fraction(node)
        outer, kept = 1, list[tuple[sp.Expr, int]]()
        for part in (above, below):
            number, found = self._factor_list(part)
            if number == 0:
                return 0, []
            outer *= int(sp.sign(number))
            for base, exponent in found:
                lead, monic = _monic(base)
                outer *= int(sp.sign(lead)) ** exponent
                known = self.definite(monic)
                outer *= known**exponent if known else 1
                if not known:
                    kept.append((monic, exponent))
        return outer, kept

    def _fraction(self, node: Node) -> tuple[sp.Expr, sp.Expr]:
        terms = [to_sympy(graph.scale(t, c)) for c, t in graph.linear_terms(node)]
        if all(t.is_polynomial() for t in terms):
            return sp.Add(*terms), sp.S.One
        above, below = sp.fraction(sp.cancel(sp.Add(*terms)))
        return above, below

    def _factor_list(self, part: sp.Expr) -> tuple[sp.Expr, list[tuple[sp.Expr, int]]]:
        """Factors over the rationals; a sum linear in the first level is its content times an irreducible rest."""
        first = [s for s in (self.levels[0] if self.levels else []) if part.has(s)]
        poly = sp.Poly(part, *first) if len(first) > 1 else None
        if poly is None or any(sum(m) != 1 for m in poly.monoms()):
            number, found = sp.factor_list(part)
            return number, list(found)
        split = [sp.factor_list(c) for c in poly.coeffs()]
        common = {base: min(dict(f).get(base, 0) for _, f in split) for base, _ in split[0][1]}
        common = {base: e for base, e in common.items() if e}
        rest = [number * sp.Mul(*(b ** (e - common.get(b, 0)) for b, e in f)) for number, f in split]
        inner = sp.Add(*(r * _monomial(first, m) for r, m in zip(rest, poly.monoms(), strict=True)))
        return sp.S.One, [*common.items(), (inner, 1)]

    def definite(self, factor: sp.Expr) -> int:
        """1 or -1 for a factor that is known to have this sign everywhere, 0 for any other."""
        lead, monic = _monic(factor)
        if monic in self.positive:
            return int(sp.sign(self.positive[monic] * lead))
        others = [s for s in factor.free_symbols if s not in self.unit]
        if not all(s in self.positive for s in others):
            return 0
        parts = [c for _, c in sp.Poly(factor, *others).terms()] if others else [factor]
        corners = [value for part in parts for value in self._corners(part)]
        if not corners or None in corners or not any(corners):
            return 0
        return 1 if all(v >= 0 for v in corners) else -1 if all(v <= 0 for v in corners) else 0

    def _corners(self, part: sp.Expr) -> list[Any]:
        """Values at the corners of the cube; [None] for a polynomial the test does not apply to."""
        symbols = sorted(part.free_symbols, key=str)
        if len(symbols) > MOST_UNITS or any(sp.degree(part, s) > 1 for s in symbols):
            return [None]
        return [part.subs(dict(zip(symbols, corner, strict=True))) for corner in product((0, 1), repeat=len(symbols))]

    def write(self, expression: sp.Expr, levels: Sequence[Sequence[sp.Symbol]] | None = None) -> sp.Expr:
        """The expression as nested sums over the levels with factored coefficients, and factors by their names."""
        left = self.levels if levels is None else levels
        number, found = self._factor_list(expression) if levels is None else sp.factor_list(expression)
        out = [number]
        for base, exponent in found:
            lead, monic = _monic(base)
            if monic in self.names:
                out.append((self.names[monic] * lead) ** exponent)
                continue
            for depth, level in enumerate(left):
                here = [s for s in level if base.has(s)]
                if here and base not in here:
                    base = sp.Add(
                        *(
                            self.write(c, left[depth + 1 :]) * _monomial(here, m)
                            for m, c in sp.Poly(base, *here).terms()
                        )
                    )
                    break
            out.append(base**exponent)
        return sp.Mul(*out)

    def sign(self, node: Node) -> Node:
        """sgn(node) as a product of signs of the factors that can change sign."""
        outer, kept = self.factors(node)
        return graph.multiply(
            graph.num(outer), *(sign_node(from_sympy(self.write(base))) ** exponent for base, exponent in kept)
        )


def _monomial(symbols: Sequence[sp.Symbol], exponents: Sequence[int]) -> sp.Expr:
    return sp.Mul(*(s**e for s, e in zip(symbols, exponents, strict=True)))


def _monic(expression: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """Leading coefficient, by SymPy's order of the symbols, and the expression over it."""
    symbols = sorted(expression.free_symbols, key=str)
    if not symbols:
        raise EquationError(f"{expression} is a number; a factor contains a symbol")
    lead = sp.Poly(expression, *symbols).LC()
    return lead, sp.expand(expression / lead)
