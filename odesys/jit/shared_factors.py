"""Products that monomials share, for straight-line code: powers are computed once, and frequent pairs of factors too.

The pair of factors that most monomials have in common becomes a factor of its own, again and again until no pair is
left twice. What code does with it is a matter of order only: the same powers are multiplied.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import NamedTuple

from ..expr import graph
from ..expr.graph import Node

MOST_PAIRS = 200_000  # pairs of factors of all monomials; above it only powers are shared

Power = tuple[Node, Fraction]


class Pair(NamedTuple):
    """The product of two factors, by their numbers."""

    first: int
    second: int


@dataclass(frozen=True, eq=False)
class Products:
    """`factors` of each monomial by number; a number stands for a power of a node, or for a pair of earlier numbers."""

    definitions: tuple[Power | Pair, ...]
    factors: dict[Node, tuple[int, ...]]
    uses: tuple[int, ...]


def read_nodes(roots: Sequence[Node], leaves: Container[Node]) -> list[Node]:
    """All nodes that code for `roots` reads, each after those it reads; what is below `leaves` is not."""
    order, kept = graph.topological(roots), set(roots)
    for node in reversed(order):
        if node in kept and node not in leaves:
            kept.update(reads(node))
    return [node for node in order if node in kept]


def reads(node: Node) -> Sequence[Node]:
    """The nodes that code of a node reads: its children, or the exponents of powers of exponentials."""
    if node.op != "mul":
        return graph.children(node)
    return [base.args[0] if is_exponential_power(base, exponent) else base for base, exponent in node.args]


def is_exponential_power(base: Node, exponent: Fraction) -> bool:
    """True for e^(n x), which is computed as such: e^(-x) is no division by an underflowed exponential."""
    return base.op == "exp" and exponent != 1 and exponent.denominator == 1


def shared_products(order: Sequence[Node]) -> Products:
    """Factors of all monomials among the nodes."""
    numbers: dict[Power, int] = {}
    monomials = [node for node in order if node.op == "mul"]
    factors = [[numbers.setdefault(power, len(numbers)) for power in node.args] for node in monomials]
    definitions: list[Power | Pair] = list(numbers)
    if sum(len(row) * (len(row) - 1) // 2 for row in factors) <= MOST_PAIRS:
        _share_pairs(definitions, factors)
    uses = Counter(number for row in factors for number in row)
    for definition in definitions:
        if isinstance(definition, Pair):
            uses.update(definition)
    return Products(
        tuple(definitions),
        {node: tuple(row) for node, row in zip(monomials, factors, strict=True)},
        tuple(uses[number] for number in range(len(definitions))),
    )


def _share_pairs(definitions: list[Power | Pair], factors: list[list[int]]) -> None:
    """Give numbers to pairs, the most frequent first; ties go to the one that was seen first."""
    where: dict[int, set[int]] = {}
    for m, row in enumerate(factors):
        for number in row:
            where.setdefault(number, set()).add(m)
    heap = [(-count, pair) for pair, count in Counter(p for row in factors for p in _pairs(row)).items() if count > 1]
    heapq.heapify(heap)
    while heap:
        count, (a, b) = heapq.heappop(heap)
        common = where[a] & where[b]
        if len(common) < 2:
            continue
        if len(common) < -count:
            heapq.heappush(heap, (-len(common), (a, b)))
            continue
        new = len(definitions)
        definitions.append(Pair(a, b))
        where[a], where[b], where[new] = where[a] - common, where[b] - common, common
        for m in common:
            row = [number for number in factors[m] if number != b]
            factors[m] = [new if number == a else number for number in row]
        beside = Counter(number for m in common for number in factors[m] if number != new)
        for number, together in beside.items():
            if together > 1:
                heapq.heappush(heap, (-together, (number, new)))


def _pairs(row: Sequence[int]) -> list[tuple[int, int]]:
    return [(min(a, b), max(a, b)) for a, b in combinations(row, 2)]
