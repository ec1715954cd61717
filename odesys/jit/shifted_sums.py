r"""Sums of exponentials in floats: what class probabilities divide by is shifted by its largest exponent.

.. math::  \frac{e^a}{1 + \sum_i c_i e^{a_i}} = \frac{e^{a - m}}{e^{-m} + \sum_i c_i e^{a_i - m}},\quad
           m = \max(0, a_i), \qquad
           \log\Big(1 + \sum_i c_i e^{a_i}\Big) = \operatorname{softplus}\Big(n + \log\sum_i c_i e^{a_i - n}\Big),\quad
           n = \max a_i .

Without it both sides of the fraction are infinite where an exponent is above 709, and the logarithm is zero where all
are below -37. Expressions keep the plain form, in which they are proved and printed; only the code is written so. Sums
without a constant, as in a softmax over scores, share their exponentials with other sums and stay as they are, unless
their exponents are differences to a mean, as under targets that are probabilities.

>>> from odesys import System, graph, sym
>>> x = sym("x")
>>> share = graph.exp(x) / (1 + graph.exp(x) + graph.exp(2 * x))
>>> float(System.from_equations({"x": share}).compile(backend="scalar")(0.0, [1000.0])[0])
0.0
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce

from ..expr import gc_pause, graph
from ..expr.graph import ONE, Node

Exponent = tuple[tuple[Fraction, Node], ...]  # a linear form in the arguments of exponentials


@dataclass(frozen=True)
class _Term:
    """A term of a sum: c times powers of nodes times the exponential of a linear form."""

    coefficient: Node
    powers: tuple[tuple[Node, Fraction], ...]
    exponent: Exponent


@gc_pause.paused()
def shifted(roots: Sequence[Node], leaves: Container[Node] = ()) -> list[Node]:
    """The same expressions with their sums of exponentials shifted; what is below `leaves` is left alone."""
    order = graph.topological(roots)
    sums, logs = _divisors(order), {node: _terms(node.args[0]) for node in order if node.op == "log"}
    if not sums and not any(logs.values()):
        return list(roots)
    made = _Shifting(sums)
    for node in order:
        if node in leaves:
            made.new[node] = node
        elif node.op == "mul" and any(base in sums and e < 0 for base, e in node.args):
            made.new[node] = made.product(node)
        elif logs.get(node):
            made.new[node] = made.log(logs[node])
        else:
            made.new[node] = graph.rebuild(node, made.new.__getitem__)
    return [made.new[root] for root in roots]


def _terms(node: Node, positive: bool = True) -> list[_Term]:
    """The terms of a sum with exponentials (and positive numbers in front); empty for any other expression."""
    if node.op != "add" or len(node.args) < 2:
        return []
    out = []
    for c, term in node.args:
        powers = term.args if term.op == "mul" else () if term is ONE else ((term, Fraction(1)),)
        exponent = tuple((e, b.args[0]) for b, e in powers if b.op == "exp")
        out.append(_Term(graph.num(c), tuple((b, e) for b, e in powers if b.op != "exp"), exponent))
    # the sign of a factor with symbols, such as K - 1, is not known here; it is taken to be a count
    refused = positive and any(c <= 0 and not term.powers for (c, _), term in zip(node.args, out, strict=True))
    return out if any(term.exponent for term in out) and not refused else []


def _divisors(order: Iterable[Node]) -> dict[Node, list[_Term]]:
    """Sums with a constant, by which one of their own exponentials is divided."""
    out: dict[Node, list[_Term]] = {}
    for node in order:
        above = _above(node)
        for base, e in node.args if above else ():
            if e < 0 and e.denominator == 1 and base not in out:
                terms = _terms(base)
                constant = any(not term.exponent for term in terms)
                if (constant or _centred(terms)) and any(_times(above, term.exponent) for term in terms):
                    out[base] = terms
    return out


def _centred(terms: Sequence[_Term]) -> bool:
    """True if every exponent is a difference to a mean: signs of both kinds, and fractions in front."""
    arguments = [term.exponent[0][1] for term in terms if len(term.exponent) == 1]
    if len(arguments) < len(terms) or any(a.op != "add" for a in arguments):
        return False
    tables = [[c for c, _ in a.args] for a in arguments]
    return all(min(t) < 0 < max(t) and any(Fraction(c).denominator > 1 for c in t) for t in tables)


def _above(node: Node) -> dict[Node, Fraction]:
    """The exponentials among the factors of a product, as arguments with their factors."""
    return {b.args[0]: e for b, e in node.args if b.op == "exp"} if node.op == "mul" else {}


def _times(above: Mapping[Node, Fraction], exponent: Exponent) -> int:
    """How often the exponential of a term is among factors."""
    return max(0, min((int(above.get(a, Fraction(0)) / e) for e, a in exponent), default=0))


class _Shifting:
    """Expressions written anew, and the shifts of the sums met so far."""

    def __init__(self, sums: dict[Node, list[_Term]]) -> None:
        self.sums, self.new = sums, dict[Node, Node]()
        self.known: dict[Node, tuple[Node, Node]] = {}

    def product(self, node: Node) -> Node:
        """A product divided by sums: each takes its shift from exponentials of its own, or from the number one."""
        above, others = _above(node), {b: e for b, e in node.args if b.op != "exp"}
        divisors = [b for b, e in others.items() if b in self.sums and e < 0 and e.denominator == 1]
        factors = []
        for divisor in divisors:
            (shift, total), own = self.shift(divisor), {term.exponent for term in self.sums[divisor]}
            left = -int(others[divisor])
            factors.append(graph.power(total, others.pop(divisor)))
            for term in self.sums[divisor]:
                times = min(left, _times(above, term.exponent))
                if times:
                    factors.append(graph.power(graph.exp(self.at(term.exponent) - shift), Fraction(times)))
                    above |= {a: above[a] - times * e for e, a in term.exponent}
                    left -= times
            for base, e in list(others.items()):
                terms = _terms(base, positive=False) if 0 < e <= left and e.denominator == 1 else []
                if terms and {term.exponent for term in terms} <= own and not self.divided(terms):
                    factors.append(graph.power(self.summed(terms, shift), others.pop(base)))
                    left -= int(e)
            factors.append(graph.exp(-left * shift))
        factors += [graph.power(self.new[base], e) for base, e in others.items()]
        factors += [graph.power(graph.exp(self.new[a]), e) for a, e in above.items()]
        return graph.multiply(*factors)

    def divided(self, terms: Sequence[_Term]) -> bool:
        """Whether terms are divided by a shifted sum themselves."""
        return any(base in self.sums and e < 0 for term in terms for base, e in term.powers)

    def log(self, terms: list[_Term]) -> Node:
        """The logarithm of a sum of exponentials."""
        others = [term for term in terms if term.exponent]
        rest = [term for term in terms if not term.exponent]
        one = len(rest) == 1 and rest[0].coefficient is ONE and not rest[0].powers
        if not one or any(term.powers for term in others):
            shift = self.largest(terms)
            return shift + graph.call("log", self.summed(terms, shift))
        shift = self.largest(others)
        return graph.call("softplus", shift + graph.call("log", self.summed(others, shift)))

    def shift(self, node: Node) -> tuple[Node, Node]:
        """The shift of a sum, and the shifted sum."""
        if node not in self.known:
            shift = self.largest(self.sums[node])
            self.known[node] = shift, self.summed(self.sums[node], shift)
        return self.known[node]

    def largest(self, terms: Sequence[_Term]) -> Node:
        """The largest exponent."""
        return reduce(lambda a, b: a + graph.relu(b - a), sorted({self.at(term.exponent) for term in terms}))

    def summed(self, terms: Sequence[_Term], shift: Node) -> Node:
        """A sum with all exponents lowered by the shift."""
        parts = []
        for term in terms:
            powers = (graph.power(self.new[b], e) for b, e in term.powers)
            parts.append(graph.multiply(term.coefficient, graph.exp(self.at(term.exponent) - shift), *powers))
        return graph.add(parts)

    def at(self, exponent: Exponent) -> Node:
        """An exponent in the new expressions."""
        return graph.combine((e, self.new[a]) for e, a in exponent)
