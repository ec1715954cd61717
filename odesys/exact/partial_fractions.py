r"""Sums brought to normal form term by term, each divisor for itself: never over one common denominator.

Every divisor D, cleared of monomials and of divisors within it, is an atom that occurs with negative exponents only.
With its largest monomial M, by one order for all, or the largest one where those before it occur inverted,

.. math::  D = M + R: \qquad M\,D^{-1} \to 1 - R\,D^{-1} ,

and where two divisors have the same one, :math:`(A - B) A^{-1} B^{-1} = B^{-1} - A^{-1}` is solved for the largest
monomial of A - B. Each step leaves fewer inverted atoms, or as many and smaller monomials, or the same monomial and
fewer divisors, so this ends. For a softmax the rule is
:math:`\sum_a p_a = 1` with :math:`p_a = e^{z_a} D^{-1}`, for a sigmoid :math:`\sigma(x) + \sigma(-x) = 1`. A sum over
samples grows with the number of samples, not with the product of their divisors. Further rules:
:math:`e^{2x+y} = X^2 Y`, :math:`g^2 = g` for a gate, roots of numbers by their primes; equal arguments make equal
atoms. All hold wherever both sides are defined, so an empty normal form is a proof of zero. The converse is not true:
some identities between divisors need them together (`odesys.exact.expansion`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import flint

from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import Node
from .expansion import TooLarge
from .rewriting import primes

Exponent = int | Fraction
Monomial = tuple[tuple[int, Exponent], ...]  # atoms by number, in order, with exponents that are not zero
Polynomial = dict[Monomial, Any]  # coefficients are flint.fmpq
WORK_LIMIT = 400_000  # products of monomials in one normal form

_ONE = flint.fmpq(1)


class NotRational(Exception):
    """An expression has a fractional power, or two opposite gates, for which there is no rule here."""


@dataclass(frozen=True)
class _Rule:
    """A product `whole` of a monomial and inverted divisors is the sum of `parts`, used where the monomial occurs."""

    lead: Monomial
    whole: Monomial
    parts: tuple[tuple[Monomial, Any], ...]


@dataclass(frozen=True)
class _Divisor:
    """A sum of two or more monomials without common factor.

    `rules` say what each monomial times 1/D is, largest first.
    """

    terms: Polynomial
    lead: Monomial
    rules: tuple[_Rule, ...]


class PartialFractions:
    """Normal forms of expressions; equal ones mean equal expressions.

    >>> x, y, z = (graph.exp(graph.sym(name)) for name in "xyz")
    >>> PartialFractions()(x / (x + y + z) + 1 / (1 + x / y + z / y) + z / (x + y + z) - 1)
    {}
    """

    def __init__(self, limit: int = WORK_LIMIT) -> None:
        self._left = limit
        self._atoms: dict[Any, int] = {}  # what an atom stands for -> its number
        self._gates: set[int] = set()
        self._roots: dict[int, Fraction] = {}  # number of an atom -> the prime it is a root of
        self._divisors: dict[int, _Divisor] = {}  # numbers below zero: they come first in a monomial
        self._pairs: dict[tuple[int, int], _Rule | None] = {}
        self._memo: dict[Node, Polynomial] = {}

    def __call__(self, node: Node) -> Polynomial:
        """The normal form; empty if `node` is zero wherever it is defined.

        Raises TooLarge, NotRational, or ZeroDivisionError where a divisor turns out to vanish identically.
        """
        for each in graph.topological([node]):
            if each not in self._memo:
                self._memo[each] = self._form(each)
        return self._memo[node]

    def node(self, form: Polynomial) -> Node:
        """A normal form as an expression, to be read or compared with what it came from."""
        keys = list(self._atoms)

        def meaning(key: Any) -> Node:
            if isinstance(key, Node):
                return key
            kind, what = key
            if kind in ("exp", "root"):
                return graph.exp(build({what: _ONE})) if kind == "exp" else what
            terms = {m: flint.fmpq(p, q) for m, p, q in what}
            return build(terms) if kind == "divisor" else graph.call(kind, build(terms))

        def build(terms: Polynomial) -> Node:
            return graph.combine(
                (
                    Fraction(int(c.p), int(c.q)),
                    graph.multiply(*(graph.power(meaning(keys[max(k, -1 - k)]), Fraction(e)) for k, e in m)),
                )
                for m, c in terms.items()
            )

        return build(form)

    def _form(self, node: Node) -> Polynomial:
        if node.op == "num":
            return {(): _fmpq(node.args[0])} if node.args[0] else {}
        if node.op == "sym":
            return self._atom(node)
        if node.op == "add":
            return self._sum((_fmpq(c), self._memo[t]) for c, t in node.args)
        if node.op == "mul":
            return self._product(factor for base, e in node.args for factor in self._powers(base, e))
        record = FUNCTIONS[node.op]
        if node.op not in ("exp", "step") and record.through is not None:
            return self(record.through(node.args[0], graph.call))
        argument = self._memo[node.args[0]]
        if node.op == "exp":
            powers = sorted((self._number(("exp", m)), _exponent(c)) for m, c in argument.items())
            return {tuple(powers): _ONE}
        return self._gate(argument) if node.op == "step" else self._atom((node.op, _key(argument)))

    # ---- atoms -------------------------------------------------------------------------------------------------------

    def _number(self, key: Any) -> int:
        return self._atoms.setdefault(key, len(self._atoms))

    def _atom(self, key: Any) -> Polynomial:
        return {((self._number(key), 1),): _ONE}

    def _gate(self, surface: Polynomial) -> Polynomial:
        if not surface or set(surface) == {()}:
            return {(): _ONE} if surface and surface[()] > 0 else {}
        scale = abs(surface[max(surface)])
        key, opposite = (("step", _key({m: s * c / scale for m, c in surface.items()})) for s in (1, -1))
        if opposite in self._atoms:
            raise NotRational  # 1 - g off the surface only
        self._gates.add(self._number(key))
        return self._atom(key)

    # ---- arithmetic --------------------------------------------------------------------------------------------------

    def _sum(self, parts: Iterable[tuple[Any, Polynomial]]) -> Polynomial:
        total: Polynomial = {}
        for c, terms in parts:
            self._work(len(terms))
            for m, value in terms.items():
                total[m] = total[m] + c * value if m in total else c * value
        return {m: c for m, c in total.items() if c}

    def _product(self, factors: Iterable[Polynomial]) -> Polynomial:
        total: Polynomial = {(): _ONE}
        waiting = sorted(factors, key=len)  # monomials first: what cancels between them is not taken apart
        for k, factor in enumerate(waiting):
            total = self._times(total, factor)
            if len(factor) > 1 or k + 1 == len(waiting) or len(waiting[k + 1]) > 1:
                total = self._reduced(total)
        return total

    def _times(self, a: Polynomial, b: Polynomial) -> Polynomial:
        self._work(len(a) * len(b))
        total: Polynomial = {}
        for m, c in a.items():
            for n, d in b.items():
                both = _multiply(m, n)
                total[both] = total[both] + c * d if both in total else c * d
        return total

    def _powers(self, base: Node, exponent: Fraction) -> list[Polynomial]:
        if exponent.denominator != 1:
            return [self._root(base, exponent)]
        form, times = self._memo[base] if exponent > 0 else self._inverse(self._memo[base]), abs(int(exponent))
        if len(form) == 1:
            ((monomial, c),) = form.items()
            if c in (1, -1):
                return [{tuple((atom, e * times) for atom, e in monomial): c**times}]
        if times * len(form) > self._left:
            raise TooLarge  # before so many are multiplied
        return [form] * times

    def _root(self, base: Node, exponent: Fraction) -> Polynomial:
        """Of a number by its primes; other roots have no rule here."""
        if base.op != "num" or base.args[0] < 0:
            raise NotRational
        powers = []
        for prime, e in primes(base.args[0]):
            number = self._number(("root", prime))
            self._roots[number] = prime.args[0]
            powers.append((number, _whole(e * exponent)))
        return self._reduced({tuple(sorted(powers)): _ONE})

    def _inverse(self, form: Polynomial) -> Polynomial:
        if not form:
            raise ZeroDivisionError("a divisor vanishes identically")
        within: dict[int, int] = {}  # divisors of the terms of this divisor: cleared first
        for m in form:
            for atom, e in m:
                if atom < 0:
                    within[atom] = max(within.get(atom, 0), -int(e))
        if within:
            above: Polynomial = {tuple(sorted(within.items())): _ONE}
            whole = self._sum((c, self._product([{m: _ONE}, above])) for m, c in form.items())
            return self._times(self._inverse(whole), above)
        shared = dict(next(iter(form)))
        for m in form:
            powers = dict(m)
            for atom in {*shared, *powers}:
                shared[atom] = min(shared.get(atom, 0), powers.get(atom, 0))
        if any(atom in self._gates and e for atom, e in shared.items()):
            raise NotRational
        common = tuple(sorted((atom, -e) for atom, e in shared.items() if e))
        terms = {_multiply(m, common): c for m, c in form.items()}
        if len(terms) == 1:
            return {common: 1 / terms[()]}
        order = sorted(terms, key=_lexicographic, reverse=True)
        scale = terms[order[0]]
        terms = {m: terms[m] / scale for m in order}
        atom = -1 - self._number(("divisor", _key(terms)))
        if atom not in self._divisors:
            inverse = ((atom, -1),)
            rules = tuple(_rule(m, terms, inverse, [((), _ONE)]) for m in order)
            self._divisors[atom] = _Divisor(terms, order[0], rules)
        return {((atom, -1), *common): 1 / scale}

    def _reduced(self, pending: Polynomial) -> Polynomial:
        """Apply the rules until none applies."""
        done: Polynomial = {}
        while pending:
            m, c = pending.popitem()
            if not c:
                continue
            if self._gates:
                m = tuple((atom, 1 if e > 0 and atom in self._gates else e) for atom, e in m)
            if self._roots:
                m, factor = self._whole_roots(m)
                c = c * factor
            found = self._rule_for(m)
            if found is None:
                done[m] = done[m] + c if m in done else c
                continue
            bare = _multiply(m, tuple((atom, -e) for atom, e in found.whole))
            self._work(len(found.parts))
            for n, d in found.parts:
                new = _multiply(bare, n)
                pending[new] = pending[new] + c * d if new in pending else c * d
        return {m: c for m, c in done.items() if c}

    def _rule_for(self, m: Monomial) -> _Rule | None:
        """The first rule that applies: of a divisor that stands above, of one divisor, of two."""
        below = [atom for atom, _ in m if atom < 0]
        if not below:
            return None
        powers = dict(m)
        for atom in below:
            if powers[atom] > 0:
                return _Rule((), ((atom, 1),), tuple(self._divisors[atom].terms.items()))
        for atom in below:
            for rule in self._divisors[atom].rules:
                if _contains(powers, rule.lead):
                    return rule
                if all([powers.get(other, 0) >= 0 for other, _ in rule.lead]):
                    break
        for pair in combinations(below, 2):
            both = self._pair(*pair)
            if both is not None and _contains(powers, both.lead):
                return both
        return None

    def _pair(self, a: int, b: int) -> _Rule | None:
        """(A - B) / (A B) = 1/B - 1/A, for two divisors with the same largest monomial."""
        if (a, b) not in self._pairs:
            first, second = self._divisors[a], self._divisors[b]
            rule = None
            if first.lead == second.lead:
                gap = self._sum([(_ONE, first.terms), (-_ONE, second.terms)])
                split: list[tuple[Monomial, Any]] = [(((b, -1),), _ONE), (((a, -1),), -_ONE)]
                rule = _rule(max(gap, key=_lexicographic), gap, ((a, -1), (b, -1)), split)
            self._pairs[a, b] = rule
        return self._pairs[a, b]

    def _whole_roots(self, m: Monomial) -> tuple[Monomial, Any]:
        powers, factor = [], _ONE
        for atom, e in m:
            if atom in self._roots:
                whole = math.floor(e)
                factor, e = factor * _fmpq(self._roots[atom] ** whole), e - whole
            if e:
                powers.append((atom, e))
        return tuple(powers), factor

    def _work(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise TooLarge


def _rule(lead: Monomial, terms: Polynomial, inverse: Monomial, value: Sequence[tuple[Monomial, Any]]) -> _Rule:
    """What lead times `inverse` is, where all `terms` times `inverse` are `value`."""
    scale = 1 / terms[lead]
    rest = [(_multiply(m, inverse), -c) for m, c in terms.items() if m != lead]
    return _Rule(lead, _multiply(lead, inverse), tuple((m, c * scale) for m, c in [*value, *rest]))


def _contains(powers: dict[int, Exponent], lead: Monomial) -> bool:
    """True if every exponent of a monomial is at most the one that is there."""
    return all([powers.get(atom, 0) >= e for atom, e in lead])  # leads are short: a list is quicker than a generator


def _multiply(m: Monomial, n: Monomial) -> Monomial:
    if not m or not n:
        return m or n
    powers = dict(m)
    for atom, e in n:
        if atom in powers:
            both = powers[atom] + e
            if both:
                powers[atom] = both
            else:
                del powers[atom]
        else:
            powers[atom] = e
    return tuple(sorted(powers.items()))


def _key(terms: Polynomial) -> frozenset[tuple[Monomial, int, int]]:
    """What tells a sum from others; the hash of a flint.fmpq takes ten times as long as that of two integers."""
    return frozenset((m, int(c.p), int(c.q)) for m, c in terms.items())


def _lexicographic(m: Monomial) -> list[tuple[int, Exponent]]:
    """Sort key for exponents that are not negative: the atom of the smallest number counts most."""
    return [(-atom, e) for atom, e in m]


def _whole(e: Fraction) -> Exponent:
    return int(e) if e.denominator == 1 else e


def _exponent(c: Any) -> Exponent:
    return _whole(Fraction(int(c.p), int(c.q)))


def _fmpq(value: Fraction) -> Any:
    return flint.fmpq(value.numerator, value.denominator)
