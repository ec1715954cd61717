"""Reading order: which term, factor or sign comes first in print, whatever was built before.

Terms of a node are kept in the order of a digest, which is the same in every run but says nothing to a reader. Print
needs an order that shows: by the states of a term, then by its value at a fixed generic point. The value decides order
and nothing else, so floats do no harm here.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from fractions import Fraction

from ..expr import graph
from ..expr.graph import ONE, Node, Number

_LAST = 10**9  # the place of what shows no state


def monomial(term: Node) -> dict[Node, Fraction]:
    """The factors of one term of a linear form."""
    if term.op == "mul":
        return dict(term.args)
    return {} if term is ONE else {term: Fraction(1)}


class ReadingOrder:
    """Reading order of terms: by the states they show, then by their value at a fixed generic point, largest first."""

    def __init__(self, names: Iterable[str]) -> None:
        self._place: dict[Node, tuple[int, ...]] = {ONE: ()}
        self._value: dict[Node, float] = {}
        self._primitive: dict[Node, tuple[Number, Node]] = {}
        for i, name in enumerate(names):
            self._place[graph.sym(name)] = (i,)
            self._value[graph.sym(name)] = 0.3 + 0.4 * ((i + 1) * 0.6180339887498949 % 1.0)

    def introduce(self, symbol: Node, meaning: Node, place: tuple[int, ...]) -> None:
        """Give a new symbol the value of what it stands for."""
        self._value[symbol], self._place[symbol] = self.value(meaning), place

    def term(self, coefficient: Number, term: Node) -> tuple[tuple[int, ...], float]:
        """Sort key of a term of a sum."""
        return self.place(term), -round_off(_nearest(coefficient) * self.value(term))

    def leading(self, coefficient: Number, term: Node) -> tuple[tuple[int, ...], float]:
        """Sort key for the term that decides the sign of a sum; the same for a sum and its negative."""
        return self.place(term), -round_off(abs(_nearest(coefficient) * self.value(term)))

    def factor(self, base: Node) -> tuple[tuple[int, ...], float]:
        """Sort key of a factor of a product; the same for a sum and its negative."""
        return self.place(base), -round_off(abs(self.value(base)))

    def terms(self, node: Node) -> list[tuple[Number, Node]]:
        """The terms of a linear form in reading order."""
        return sorted(graph.linear_terms(node), key=lambda item: self.term(*item))

    def primitive(self, node: Node) -> tuple[Number, Node]:
        """A linear form as factor times a form that is written with coprime integers, the leading one positive."""
        if node not in self._primitive:
            self._primitive[node] = Fraction(1), node
            terms = sorted(node.args, key=lambda item: self.leading(*item)) if node.op == "add" else []
            shown = [self.shown(c, t) for c, t in terms]
            exact = [c for c in shown if isinstance(c, Fraction)]
            if shown and len(exact) == len(shown):
                size = Fraction(math.gcd(*(c.numerator for c in exact)), math.lcm(*(c.denominator for c in exact)))
                factor = size if shown[0] > 0 else -size
                self._primitive[node] = factor, graph.combine((c / factor, t) for c, t in node.args)
        return self._primitive[node]

    def shown(self, coefficient: Number, term: Node) -> Number:
        """The coefficient of a term once the sums among its factors are written in primitive form."""
        for base, exponent in monomial(term).items():
            if base.op == "add" and exponent.denominator == 1:
                coefficient = coefficient * self.primitive(base)[0] ** int(exponent)
        return coefficient

    def place(self, node: Node) -> tuple[int, ...]:
        """Positions of the symbols a term shows; those inside an inner sum stay hidden."""
        path = [node]  # a function of a multiple of a function of ... a product
        while path[-1] not in self._place and (inside := _inside(path[-1])) is not None:
            path.append(inside)
        shown = self._place.get(path[-1], (_LAST,))
        if path[-1].op == "mul" and path[-1] not in self._place:
            shown = tuple(sorted(p for base, _ in path[-1].args for p in self.place(base))[:8])
        self._place.update(dict.fromkeys(path, shown))
        return shown

    def value(self, node: Node) -> float:
        """Value at the generic point; zero where it can not be computed."""
        stack = [node]
        while stack:
            top = stack[-1]
            missing = [child for child in graph.children(top) if child not in self._value]
            if top in self._value or not missing:
                stack.pop()
                if top not in self._value:
                    value = self._compute(top)
                    self._value[top] = 0.0 if math.isnan(value) else value  # which has no place in any order
            else:
                stack.extend(missing)
        return self._value[node]

    def _compute(self, node: Node) -> float:
        v = self._value
        try:
            if node.op == "num":
                return float(node.args[0])
            if node.op == "sym":
                return 0.5
            if node.op == "add":
                return math.fsum(float(c) * v[t] for c, t in node.args)
            if node.op == "mul":
                return math.prod(v[b] ** int(e) if e.denominator == 1 else abs(v[b]) ** float(e) for b, e in node.args)
            return float(graph.FUNCTIONS[node.op].floats(v[node.args[0]]))
        except (ArithmeticError, ValueError):
            return 0.0


def _inside(node: Node) -> Node | None:
    """What a function or a multiple is made of."""
    if node.op == "add":
        return node.args[0][1] if len(node.args) == 1 else None
    return None if node.op in ("sym", "num", "mul") else node.args[0]


def _nearest(value: Number) -> float:
    """The nearest float; the largest one stands for an exact number beyond all of them, which is only put in order."""
    try:
        return float(value)
    except OverflowError:
        return math.copysign(sys.float_info.max, 1 if value > 0 else -1)


def round_off(value: float) -> float:
    """Eight digits: what is left of a value does not depend on the order of summation."""
    return float(f"{value:.7e}")
