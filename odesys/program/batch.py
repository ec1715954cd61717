"""Arrays with a sample axis in front, made of block operations: shape (samples or 1, rows, columns)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..expr import blocks
from ..expr.blocks import Block
from ..expr.graph import ONE, as_node


def constant(values: Any) -> Block:
    """A constant array of nodes."""
    return blocks.constant(values)


def swap(block: Block) -> Block:
    """Rows and columns exchanged."""
    samples, rows, columns = block.shape
    if rows == 1 or columns == 1:
        return blocks.reshape(block, (samples, columns, rows))
    if block.op == "take" and len(block.shape) == 3:
        index = tuple(np.swapaxes(np.broadcast_to(i, block.shape), 1, 2) for i in block.data)
        return blocks.take(block.args[0], index)
    if block.op == "constant":
        return blocks.constant(np.swapaxes(block.data, 1, 2))
    s, c, r = np.ix_(np.arange(samples), np.arange(columns), np.arange(rows))
    shape = (samples, columns, rows)
    return blocks.take(block, tuple(np.broadcast_to(i, shape) for i in (s, r, c)))


def is_ones(block: Block) -> bool:
    """True for a constant array of ones."""
    return block.op == "constant" and all(entry is ONE for entry in block.data.flat)


def times(left: Block, right: Block) -> Block:
    """The product entry by entry, with broadcasting; factors of one are left out."""
    shape = np.broadcast_shapes(left.shape, right.shape)
    for one, other in ((left, right), (right, left)):
        if is_ones(one) and other.shape == shape:
            return other
    return blocks.multiply(left, right)


def matmul(left: Block, right: Block) -> Block:
    """Matrix products, one per sample."""
    (p, rows, inner), (q, _, columns) = left.shape, right.shape
    if inner == 1:
        return times(left, right)
    if p == q == 1:
        flat = blocks.matmul(blocks.reshape(left, (rows, inner)), blocks.reshape(right, (inner, columns)))
        return blocks.reshape(flat, (1, rows, columns))
    turned = swap(right)
    wide = blocks.multiply(blocks.reshape(left, (p, rows, 1, inner)), blocks.reshape(turned, (q, 1, columns, inner)))
    return blocks.reshape(blocks.sum_axis(wide, 3), (max(p, q), rows, columns))


def softmax(scores: Block, counts: Block | None, visible: np.ndarray | None, whole: bool = False) -> Block:
    """Softmax over the rows for each column, where rows may have counts (samples or 1, rows, 1).

    An entry is the share of one copy of its row; with `whole` it is that of all copies together.
    """
    table = swap(scores)  # (samples, query, key)
    samples, queries, keys = table.shape
    shown = None
    if visible is not None and not visible.all():
        # a hidden key repeats a visible one with weight zero, so that it never decides the maximum
        first = visible.argmax(axis=0)
        key = np.where(visible.T, np.arange(keys)[None], first[:, None])
        s, q, k = np.arange(samples)[:, None, None], np.arange(queries)[None, :, None], key[None]
        table = blocks.take(table, tuple(np.broadcast_to(i, table.shape) for i in (s, q, k)))
        shown = blocks.constant(visible.T.astype(int)[None])
    weights = Block("shifted_exp", (table,), table.shape)
    if shown is not None:
        weights = blocks.multiply(shown, weights)
    counted = weights if counts is None else blocks.multiply(swap(counts), weights)
    share = blocks.multiply(counted if whole else weights, blocks.apply(blocks.RECIPROCAL, blocks.sum_axis(counted, 2)))
    return swap(share)


def diagonal(block: Block) -> Block:
    """The diagonals of square matrices, as rows."""
    samples, size, _ = block.shape
    s, d = np.arange(samples)[:, None, None], np.arange(size)[None, None, :]
    shape = (samples, 1, size)
    return blocks.take(block, tuple(np.broadcast_to(i, shape) for i in (s, d, d)))


def columns(block: Block, places: tuple[int, ...]) -> Block:
    """Some columns."""
    if places == tuple(range(block.shape[2])):
        return block
    if block.op == "constant":
        return blocks.constant(block.data[:, :, list(places)])
    samples, rows, _ = block.shape
    shape = (samples, rows, len(places))
    s, r, c = np.ix_(np.arange(samples), np.arange(rows), np.array(places))
    return blocks.take(block, tuple(np.broadcast_to(i, shape) for i in (s, r, c)))


def identity(size: int) -> Block:
    """The identity matrix."""
    return blocks.constant([[[as_node(int(i == j)) for j in range(size)] for i in range(size)]])
