r"""Mini-batches as an averaged step: the exact mean over all batches of k samples, drawn without replacement.

A term of order r in the step size is linear in each of its r forces. With :math:`g_i` the force of sample i and G that
of all n samples, its mean is that of the full batch for r = 1, and for r = 2

.. math::  \mathbb E\,b(G_B, G_B) = \frac{1}{k^2}\Big[\Big(\frac kn - q\Big)\sum_i b(g_i, g_i) + q\,n^2\,b(G, G)\Big],
           \qquad q = \frac{k(k-1)}{n(n-1)},

since a pair of samples is in a batch with probability q. Terms of higher order are summed over all batches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Any

from ..errors import ModelError
from ..expr import blocks
from ..expr.blocks import Block
from ..program.data import Data
from ..program.program import Program, sample_losses
from .motion import Forces

MOST_BATCHES = 2000


def forces_of(loss: Block, leaves: Sequence[Block]) -> list[Block]:
    """-dL/d(leaf) for every leaf."""
    minus = blocks.constant([[-1]])
    return [blocks.multiply(minus, slope) for slope in blocks.gradient(loss, leaves)]


@dataclass(frozen=True, eq=False)
class Batches:
    """Batches of `size` samples: the forces of all samples together, and of each."""

    size: int
    full: Forces
    single: Sequence[Forces]

    @classmethod
    def of(
        cls, program: Program, size: Any, full: Forces, renamed: Mapping[str, Block], leaves: Sequence[Block]
    ) -> Batches:
        """The batches of a program; `renamed` are the leaves in place of those the program was read with."""
        data = program.data
        if not isinstance(data, Data):
            raise ModelError("batches are drawn from a finite number of samples: Data(words, samples)")
        if isinstance(size, bool) or not isinstance(size, int) or not 1 <= size <= len(data):
            raise ModelError(f"batch={size!r} is how many of the {len(data)} samples one step sees: 1 to {len(data)}")
        if len(set(data.weights)) > 1:
            raise ModelError("batches are drawn from samples of equal weight; repeat a sample that weighs more")
        losses = blocks.replace_leaves(sample_losses(program), renamed)
        return cls(size, full, [forces_of(loss, leaves) for loss in losses])

    def mean(self, order: int, build: Callable[[Forces], Block]) -> Block:
        """The mean over all batches of a term with `order` forces, made by `build` from the forces of a batch."""
        n, k = len(self.single), self.size
        if order <= 1 or k == n:
            return build(self.full)
        if order > 2:
            return _scaled(Fraction(1, len(self._subsets)), *(build(forces) for forces in self._subsets))
        pair = Fraction(k * (k - 1), n * (n - 1))
        alone = _scaled((Fraction(k, n) - pair) / k**2, *(build(forces) for forces in self.single))
        return alone if k == 1 else blocks.add(alone, _scaled(pair * n**2 / k**2, build(self.full)))

    @cached_property
    def _subsets(self) -> list[Forces]:
        """The forces of every batch."""
        n, k = len(self.single), self.size
        if comb(n, k) > MOST_BATCHES:
            raise ModelError(
                f"there are {comb(n, k)} batches of {k} out of {n} samples, and a path with three or more moving maps "
                f"needs them one by one, at most {MOST_BATCHES}; take batch=1, or fewer samples"
            )
        chosen = ([self.single[i] for i in batch] for batch in combinations(range(n), k))
        return [[_scaled(Fraction(1, k), *parts) for parts in zip(*batch, strict=True)] for batch in chosen]


def _scaled(factor: Fraction, *parts: Block) -> Block:
    """The sum of matrices times a number."""
    return blocks.multiply(blocks.constant([[factor]]), blocks.add(*parts))
