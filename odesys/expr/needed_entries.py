"""Which entries of which arrays a few wanted entries need, so that only those are made into scalar nodes.

A quotient reads one entry per orbit; multiplying out whole matrices for it would take cubic time for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from .blocks import Block, topological


def entries_needed(roots: Sequence[Block], wanted: Mapping[int, np.ndarray]) -> dict[int, np.ndarray]:
    """For each matrix product below `roots` the mask of its entries that matter, by the id of its block.

    `wanted` has the mask of a root by its id; a root without one is needed whole.
    """
    needed: dict[int, np.ndarray] = {}

    def ask(block: Block, mask: np.ndarray) -> None:
        needed[id(block)] = needed[id(block)] | mask if id(block) in needed else mask

    for root in roots:
        ask(root, wanted.get(id(root), np.ones(root.shape, dtype=bool)))
    for block in reversed(topological(roots)):
        mask = needed[id(block)]
        for place, argument in enumerate(block.args):
            ask(argument, _of_argument(block, place, argument, mask))
    return {id(block): needed[id(block)] for block in topological(roots) if block.op == "matmul"}


def _of_argument(block: Block, place: int, argument: Block, mask: np.ndarray) -> np.ndarray:
    """The entries of one argument that the entries `mask` of a block are made of."""
    if block.op in ("add", "multiply", "apply") and argument.shape == block.shape:
        return mask
    if block.op == "transpose":
        return mask.T
    if block.op == "matmul":
        used = mask.any(axis=1, keepdims=True) if place == 0 else mask.any(axis=0, keepdims=True)
        return np.broadcast_to(used, argument.shape)
    return np.ones(argument.shape, dtype=bool)
