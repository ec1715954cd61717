r"""Matrices that S_K leaves alone: their entries up to permutations of groups, and how they multiply.

A block between two word types of K words each is :math:`x I + y(\mathbb 1\mathbb 1^\top - I)`: one number for pairs of
the *same* group, one for pairs of an *other*. With orbit matrices :math:`E_a` of such pairs

.. math::  E_a E_b = \sum_c p_{ab}^c\, E_c, \qquad p_{ab}^c(K) \in \{0, 1, K, K-1, K-2\},

where :math:`p_{ab}^c` counts the words in the middle. Shared words and output rows belong to no group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..expr import blocks
from ..expr.blocks import Block
from ..expr.graph import ZERO, Node
from .group_count import GROUPS, NOTHING, ONE_GROUP, GroupCount, Groups, below

SAME, OTHER, NONE = "same", "other", ""
Pair = tuple[int, int, str]  # left kind, right kind, relation of their groups


@dataclass(frozen=True)
class Pin:
    """A pinned set up to permutations of groups: for each kind whether it has one vector per group."""

    grouped: tuple[bool, ...]


@dataclass(frozen=True)
class PairSpace:
    """Orbits of pairs (left, right) of pinned vectors, in a fixed order."""

    left: Pin
    right: Pin

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """All orbits: kinds, and same or other group where both have one."""
        return tuple(
            (i, j, relation)
            for i, a in enumerate(self.left.grouped)
            for j, b in enumerate(self.right.grouped)
            for relation in ((SAME, OTHER) if a and b else (NONE,))
        )

    @cached_property
    def index(self) -> dict[Pair, int]:
        """Number of each orbit."""
        return {pair: n for n, pair in enumerate(self.pairs)}

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the column of orbit values."""
        return len(self.pairs), 1

    @property
    def T(self) -> PairSpace:
        """The space of transposed matrices."""
        return PairSpace(self.right, self.left)

    def transposed(self) -> np.ndarray:
        """Where each orbit of the transposed space is found in this one."""
        return np.array([self.index[j, i, relation] for i, j, relation in self.T.pairs])

    def sizes(self) -> list[GroupCount]:
        """Number of entries in each orbit."""
        out = []
        for i, j, relation in self.pairs:
            either = self.left.grouped[i] or self.right.grouped[j]
            out.append(GROUPS * below(1) if relation == OTHER else GROUPS if either else ONE_GROUP)
        return out

    def partners(self) -> list[GroupCount]:
        """Entries a row has in each orbit of pairs of groups: the natural unit of these entries as K grows."""
        return [below(1) if relation == OTHER else ONE_GROUP for *_, relation in self.pairs]


@dataclass(frozen=True)
class StructureConstants:
    """Structure constants of (left, middle) times (middle, right): parallel lists a, b, c and counts."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    result: tuple[int, ...]
    counts: tuple[GroupCount, ...]


def structure_constants(left: PairSpace, right: PairSpace) -> StructureConstants:
    """All nonzero p_ab^c, found by counting the words in the middle."""
    out = PairSpace(left.left, right.right)
    rows = []
    for a, (i, j, r) in enumerate(left.pairs):
        for b, (jj, k, s) in enumerate(right.pairs):
            if j != jj:
                continue
            for relation in (SAME, OTHER, NONE):
                c = out.index.get((i, k, relation))
                if c is not None:
                    count = _middles(left.right.grouped[j], r, s, relation)
                    if count:
                        rows.append((a, b, c, count))
    first, second, result, counts = zip(*rows, strict=True)
    return StructureConstants(first, second, result, counts)


def _middles(grouped: bool, left: str, right: str, ends: str) -> GroupCount:
    """Words in the middle whose group has the relation `left` to one end and `right` to the other."""
    if not grouped:
        return ONE_GROUP
    if ends == NONE:
        if left == right == NONE:
            return GROUPS
        return ONE_GROUP if SAME in (left, right) else below(1)
    if left == right:
        either = (ONE_GROUP, below(1)) if ends == SAME else (NOTHING, below(2))
        return either[left == OTHER]
    return NOTHING if ends == SAME else ONE_GROUP


@dataclass(frozen=True)
class OrbitAlgebra:
    r"""Products of orbit columns for a number of groups; with `scaled` an entry counts once for all its partners.

    In scaled variables :math:`\tilde x_c = s_c x_c`, with :math:`s_c` the number of partners, the structure constants
    are :math:`p_{ab}^c s_c / (s_a s_b)`, which stay bounded as K grows.
    """

    groups: Groups
    scaled: bool = False

    def constants(self, counts: Sequence[GroupCount]) -> Block:
        """A column of counts as a constant block."""
        return blocks.constant(np.array([[count.node(self.groups)] for count in counts], dtype=object))

    def scales(self, space: PairSpace) -> list[GroupCount]:
        """The unit of each orbit value."""
        return space.partners() if self.scaled else [ONE_GROUP] * len(space.pairs)

    def _products(self, left: PairSpace, right: PairSpace) -> list[tuple[int, int, int, GroupCount]]:
        table = structure_constants(left, right)
        a, b = self.scales(left), self.scales(right)
        c = self.scales(PairSpace(left.left, right.right))
        rows = zip(table.first, table.second, table.result, table.counts, strict=True)
        found = [(i, j, k, count * c[k] / (a[i] * b[j])) for i, j, k, count in rows]
        return [row for row in found if row[3].node(self.groups) is not ZERO]

    def product(self, x: tuple[Block, PairSpace], y: tuple[Block, PairSpace]) -> tuple[Block, PairSpace]:
        """The column of the product of two matrices given by their columns."""
        space = PairSpace(x[1].left, y[1].right)
        rows = self._products(x[1], y[1])
        first, second, result = (np.array([[row[k]] for row in rows]) for k in range(3))
        zero = np.zeros_like(first)
        if blocks.is_zero(x[0]) or blocks.is_zero(y[0]):
            return blocks.zeros(space.shape), space
        pairs = blocks.multiply(blocks.take(x[0], (first, zero)), blocks.take(y[0], (second, zero)))
        weighted = blocks.multiply(self.constants([row[3] for row in rows]), pairs)
        return blocks.scatter(weighted, (result, zero), space.shape), space

    def transpose(self, x: tuple[Block, PairSpace]) -> tuple[Block, PairSpace]:
        """The column of the transposed matrix."""
        block, space = x
        where = space.transposed()[:, None]
        return blocks.take(block, (where, np.zeros_like(where))), space.T

    def multiply_nodes(self, x: Sequence[Node], y: Sequence[Node], left: PairSpace, right: PairSpace) -> list[Node]:
        """The same product for columns of scalar expressions."""
        out = [ZERO] * len(PairSpace(left.left, right.right).pairs)
        for i, j, k, count in self._products(left, right):
            out[k] = out[k] + count.node(self.groups) * x[i] * y[j]
        return out
