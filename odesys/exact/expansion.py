r"""Rational functions multiplied out exactly, modulo what is known of their symbols.

A sum of products of symbols, nested sums and rational powers becomes a quotient of polynomials over the rationals,
reduced by :math:`c^2 = 1 - s^2` for a cosine, :math:`r^q = b` for a root and :math:`g^2 = g` for a gate. If the
numerator vanishes, the expression is proved to be zero wherever it is defined.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import flint

from ..expr import graph
from ..expr.graph import ONE, Node, add, combine, multiply, power, scale

Divisors = dict[tuple[Node, bool], int]  # powers of named divisors: a base, or (True) the generator of a base
_COMPOUND = ("add", "mul", "num")
_LARGEST_POWER = 2**62  # of a generator, as machine words go
_PATIENCE = 20  # times the limit of one multiplication, for all of a power


class TooLarge(Exception):
    """An expansion has more terms than allowed."""


@dataclass
class Relations:
    """What is known of symbols: cosines with their sines, gates (0 or 1), edges z with z h = 0 and z gate(h) = 0."""

    sine: dict[Node, Node] = field(default_factory=dict)
    gates: set[Node] = field(default_factory=set)
    edges: dict[Node, tuple[Node, Node]] = field(default_factory=dict)  # z: (gate of h, h)


def linear_terms(node: Node) -> Sequence[tuple[Fraction, Node]]:
    """Coefficients, here exact, and terms of a sum; a single term is a sum too."""
    return graph.linear_terms(node)  # type: ignore[return-value]


def factors(term: Node) -> Sequence[tuple[Node, Fraction]]:
    """Bases and exponents of a product; a single factor is a product too."""
    if term is ONE:
        return ()
    return term.args if term.op == "mul" else ((term, Fraction(1)),)


class Expansion:
    """A rewritten expression as a quotient of polynomials over the rationals.

    Parameters
    ----------
    root, relations : the expression, made of sums, products and rational powers, and what is known of its symbols.
    depth : sums nested deeper than this stay opaque, as if they were symbols of their own. An identity that holds for
        independent symbols holds for the sums, so a shallow expansion is a proof too, and often much smaller.
    limit : largest number of products of terms in one multiplication; TooLarge beyond.
    divisors : whether sums that only divide are multiplied out too; otherwise they stay opaque at any depth.
    """

    def __init__(self, root: Node, relations: Relations, depth: int | None, limit: int, divisors: bool = True) -> None:
        self._limit = limit
        self._relations = relations
        reached, self.complete = nested_sums([root, *(h for _, h in relations.edges.values())], depth, divisors)
        self._opened = {node for node in reached if node.op in _COMPOUND}
        exponents: dict[Node, set[Fraction]] = {}
        for node in reached:
            for _, term in linear_terms(node):
                for base, exponent in factors(term):
                    if base not in self._opened or exponent.denominator != 1:
                        exponents.setdefault(base, set()).add(exponent)
        for atom in [a for a in exponents if a in relations.sine or a in relations.edges]:
            partner = relations.sine[atom] if atom in relations.sine else relations.edges[atom][0]
            exponents.setdefault(partner, set()).add(Fraction(1))
        self._bases = sorted(exponents)
        # generator k is base^(1/D); a base that only divides enters by its inverse, D < 0
        self._index: dict[Node, tuple[int, int]] = {}
        for k, base in enumerate(self._bases):
            sign = -1 if all(e < 0 for e in exponents[base]) and base not in relations.sine else 1
            self._index[base] = k, sign * math.lcm(*(e.denominator for e in exponents[base]))
        self.context = flint.fmpq_mpoly_ctx.get(("x", max(len(self._bases), 1)), flint.Ordering.degrevlex)
        self._divisors: dict[tuple[Node, bool], Any] = {}
        self._memo: dict[Node, tuple[Any, Divisors]] = {}
        numerator, denominator = self._fraction(root)
        above, cleared_above = self._reduce(numerator)
        below, cleared_below = self._reduce(self._product(denominator))
        self.numerator, self.denominator = above * cleared_below, below * cleared_above
        if not below:
            raise ZeroDivisionError("a divisor vanishes identically")

    def is_zero(self) -> bool:
        """True if the expression is proved to vanish wherever it is defined."""
        return not self.numerator

    def lowest_terms(self) -> tuple[Any, Any]:
        """Numerator and denominator without common factor."""
        above, below = self.numerator, self.denominator
        if not below.is_constant():
            common = above.gcd(below)
            above, below = above / common, below / common
        return above, below

    def terms(self, polynomial: Any) -> list[tuple[Fraction, tuple[tuple[Node, Fraction], ...]]]:
        """Coefficients and monomials (bases with exponents) of a polynomial in the generators of this expansion."""
        found = []
        for monomial, c in polynomial.to_dict().items():
            used = [(base, int(e)) for base, e in zip(self._bases, monomial, strict=False) if e]
            powers = tuple((base, Fraction(e, self._index[base][1])) for base, e in used)
            found.append((Fraction(int(c.p), int(c.q)), powers))
        return found

    def node(self, divided: bool = False) -> Node:
        """The quotient in lowest terms as a node; `divided`: with remainder, term by term."""
        above, below = self.lowest_terms()
        inverse = power(self._to_node(below), Fraction(-1))
        if not divided:
            return multiply(self._to_node(above), inverse)
        whole, rest = divmod(above, below)
        parts = [multiply(scale(term, c), inverse) for c, term in linear_terms(self._to_node(rest))]
        return add([self._to_node(whole), *parts])

    def _to_node(self, polynomial: Any) -> Node:
        return combine((c, multiply(*(power(*factor) for factor in used))) for c, used in self.terms(polynomial))

    def _times(self, a: Any, b: Any) -> Any:
        if len(a) * len(b) > self._limit:
            raise TooLarge
        return a * b

    def _repeatedly(self, a: Any, b: Any, times: int) -> Any:
        """a b^times; TooLarge at once where a sum is to be multiplied so often that the end is out of sight."""
        if len(b) <= 1 and times < _LARGEST_POWER:
            return self._times(a, b**times)
        if times * times * len(b) > _PATIENCE * self._limit:
            raise TooLarge
        for _ in range(times):
            a = self._times(a, b)
        return a

    def _product(self, divisors: Divisors) -> Any:
        out = self.context.constant(1)
        for key, exponent in divisors.items():
            out = self._repeatedly(out, self._divisors[key], exponent)
        return out

    def _fraction(self, node: Node) -> tuple[Any, Divisors]:
        """Numerator, and denominator as powers of named divisors, which makes common denominators cheap."""
        if node not in self._memo:
            parts = [(c, *self._term(term)) for c, term in linear_terms(node)]
            common: Divisors = {}
            for _, _, below in parts:
                for key, exponent in below.items():
                    common[key] = max(common.get(key, 0), exponent)
            total = self.context.constant(0)
            for c, above, below in parts:
                missing = self._product({key: e - below.get(key, 0) for key, e in common.items()})
                total += self._times(above, missing) * flint.fmpq(c.numerator, c.denominator)
            self._memo[node] = total, common
        return self._memo[node]

    def _term(self, term: Node) -> tuple[Any, Divisors]:
        monomial = [0] * max(len(self._bases), 1)
        above = self.context.constant(1)
        below: Divisors = {}
        for base, exponent in factors(term):
            if base in self._index and (base not in self._opened or exponent.denominator != 1):
                place, root = self._index[base]
                count = int(exponent * root)
                if count >= 0:
                    monomial[place] = count
                else:
                    self._divisors[base, True] = self.context.gens()[place]
                    below[base, True] = -count
                continue
            inner, divisors = self._fraction(base)
            above = self._repeatedly(above, inner if exponent > 0 else self._product(divisors), abs(int(exponent)))
            if exponent < 0:
                if not inner:
                    raise ZeroDivisionError("a divisor vanishes identically")
                self._divisors[base, False] = inner
                divisors = {(base, False): 1}
            for key, count in divisors.items():
                below[key] = below.get(key, 0) + count * abs(int(exponent))
        return above * self.context.from_dict({tuple(monomial): 1}), below

    def _reduce(self, polynomial: Any) -> tuple[Any, Any]:
        """Apply r^q = b (outermost root first), c^2 = 1 - s^2 and g^2 = g; also the denominator cleared on the way."""
        cleared = self.context.constant(1)
        for base in reversed(self._bases):
            place, root = self._index[base]
            if base in self._opened:
                above, divisors = self._fraction(base)
                pair = above, self._product(divisors)
                polynomial, factor = self._replace(polynomial, place, abs(root), *(pair if root > 0 else pair[::-1]))
                cleared = self._times(cleared, factor)
        for base in self._bases:
            if base in self._relations.sine:
                place, root = self._index[base]
                partner, degree = self._index[self._relations.sine[base]]
                square = self.context.gens()[partner] ** (2 * degree)
                polynomial, _ = self._replace(polynomial, place, 2 * root, 1 - square, self.context.constant(1))
        return self._reduce_gates(polynomial), cleared

    def _replace(self, polynomial: Any, place: int, degree: int, above: Any, below: Any) -> tuple[Any, Any]:
        """Put x^degree = above / below and clear the denominator; also the factor this takes."""
        highest = int(polynomial.degrees()[place]) // degree if polynomial else 0
        if not highest:
            return polynomial, self.context.constant(1)
        groups: dict[int, dict[tuple[int, ...], Any]] = {}
        for monomial, c in polynomial.to_dict().items():
            times, left = divmod(int(monomial[place]), degree)
            groups.setdefault(times, {})[(*monomial[:place], left, *monomial[place + 1 :])] = c
        total = self.context.constant(0)
        for times, group in groups.items():
            part = self._repeatedly(self.context.from_dict(group), above, times)
            total += self._repeatedly(part, below, highest - times)
        return total, self._repeatedly(self.context.constant(1), below, highest)

    def _reduce_gates(self, polynomial: Any) -> Any:
        gates = [self._index[b][0] for b in self._bases if b in self._relations.gates or b in self._relations.edges]
        edges = {z: pair for z, pair in self._relations.edges.items() if z in self._index}
        pairs = [(self._index[z][0], self._index[s][0]) for z, (s, _) in edges.items()]
        if not gates:
            return polynomial
        merged: dict[tuple[int, ...], Any] = {}
        for monomial, c in polynomial.to_dict().items():
            if any(monomial[z] and monomial[s] for z, s in pairs):
                continue
            new = list(monomial)
            for place in gates:
                new[place] = min(new[place], 1)
            merged[tuple(new)] = merged.get(tuple(new), 0) + c
        polynomial = self.context.from_dict(merged)
        for edge, (_, surface) in edges.items():  # z h = 0: the coefficient of z counts modulo h
            place = self._index[edge][0]
            on = self.context.from_dict({m: c for m, c in polynomial.to_dict().items() if m[place]})
            polynomial = polynomial - on + on % self._fraction(surface)[0]
        return polynomial


def nested_sums(roots: Sequence[Node], depth: int | None, divisors: bool) -> tuple[dict[Node, int], bool]:
    """The sums to be multiplied out, with their level of nesting, and whether these are all."""
    level = dict.fromkeys(roots, 0)
    queue, complete = list(level), True
    for node in queue:  # grows while it is read: breadth first, so that levels are the smallest possible
        for _, term in linear_terms(node):
            for base, exponent in factors(term):
                if base.op not in _COMPOUND or base in level or (exponent < 0 and not divisors and base.op != "num"):
                    continue
                if depth is not None and base.op != "num" and level[node] + 1 >= depth:
                    complete = False
                else:
                    level[base] = level[node] + 1
                    queue.append(base)
    return level, complete
