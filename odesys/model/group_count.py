r"""Counts that depend on the number of groups: exact products of linear factors in K.

Numbers of words, pairs and samples of a family, and the weights made of them, all have the form

.. math::  c \prod_r (K - r)^{e_r} \qquad\text{with rational } c \text{ and integers } r \ge 0,\ e_r .

Such a number can be evaluated at a whole K, written with K as a symbol, or taken to the limit K -> infinity; all exact.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from ..errors import ParameterError
from ..expr import graph
from ..expr.graph import ZERO, Node, num, sym

SYMBOL = "K"
INFINITY = "infinity"
Groups = int | str  # a whole number of at least 2, "symbol", or INFINITY


def check_groups(value: Any) -> Groups:
    """A number of groups: a whole number of at least 2, ``"symbol"`` or ``"infinity"``; all else gets a sentence."""
    if value in ("symbol", INFINITY):
        return str(value)
    if isinstance(value, bool):
        raise ParameterError(f"K = {value} is not a number of groups; give a whole number of at least 2")
    try:
        number = operator.index(value)
    except TypeError:
        raise ParameterError(f"K = {value!r} is not a whole number of groups; give 2, 3, ... or 'symbol'") from None
    if number < 2:
        raise ParameterError(f"K = {number} is too small: a family has at least 2 groups")
    return number


def whole_groups(value: Any) -> int:
    """A number of groups that must be a number here."""
    groups = check_groups(value)
    if isinstance(groups, str):
        raise ParameterError(f"K = {groups} can not be used here: a whole number of groups is needed, such as K = 3")
    return groups


@dataclass(frozen=True)
class GroupCount:
    """The number `coefficient` times (K - r)^e for each pair (r, e) of `powers`.

    >>> pairs = GROUPS * below(1)            # ordered pairs of different groups
    >>> pairs.at(3), (pairs / GROUPS).degree
    (Fraction(6, 1), 1)
    """

    coefficient: Fraction
    powers: tuple[tuple[int, int], ...] = ()

    def __mul__(self, other: GroupCount | int | Fraction) -> GroupCount:
        other = as_count(other)
        exponents = dict(self.powers)
        for r, e in other.powers:
            exponents[r] = exponents.get(r, 0) + e
        coefficient = self.coefficient * other.coefficient
        kept = tuple(sorted((r, e) for r, e in exponents.items() if e)) if coefficient else ()
        return GroupCount(coefficient, kept)

    __rmul__ = __mul__

    def __truediv__(self, other: GroupCount | int | Fraction) -> GroupCount:
        other = as_count(other)
        return self * GroupCount(1 / other.coefficient, tuple((r, -e) for r, e in other.powers))

    def __bool__(self) -> bool:
        return bool(self.coefficient)

    @property
    def degree(self) -> int:
        """Power of K it grows like."""
        return sum(e for _, e in self.powers)

    def at(self, groups: int) -> Fraction:
        """The value for a whole number of groups."""
        value = self.coefficient
        for r, e in self.powers:
            value *= Fraction(groups - r) ** e
        return value

    def limit(self) -> Fraction:
        """The value as K tends to infinity; a growing count has none."""
        if self and self.degree > 0:
            raise ParameterError(f"{self} grows without bound as K tends to infinity", count=self)
        return self.coefficient if self.degree == 0 else Fraction(0)

    def node(self, groups: Groups) -> Node:
        """The value as an expression: a number, or a function of the symbol K."""
        if groups == INFINITY:
            return num(self.limit())
        if isinstance(groups, int):
            return num(self.at(groups))
        if not self:
            return ZERO
        factors = [graph.power(sym(SYMBOL) - r, Fraction(e)) for r, e in self.powers]
        return graph.multiply(num(self.coefficient), *factors)

    def __str__(self) -> str:
        parts = [f"(K - {r})^{e}" if r else f"K^{e}" for r, e in self.powers]
        return " ".join([str(self.coefficient), *parts])


def as_count(value: GroupCount | int | Fraction) -> GroupCount:
    """A count, or a number that does not depend on K."""
    return value if isinstance(value, GroupCount) else GroupCount(Fraction(value))


def below(r: int) -> GroupCount:
    """K - r."""
    return GroupCount(Fraction(1), ((r, 1),))


def falling(first: int, factors: int) -> GroupCount:
    """(K - first)(K - first - 1)... with so many factors: ordered choices of different groups."""
    product = GroupCount(Fraction(1))
    for r in range(first, first + factors):
        product = product * below(r)
    return product


GROUPS = below(0)
ONE_GROUP = GroupCount(Fraction(1))
NOTHING = GroupCount(Fraction(0))
