r"""Means over normals of arrays that are polynomial in them: blocks expanded in monomials, and Wick's rule.

An array that depends on normals is a sum of monomials in them times arrays that do not: `Expanded`, with the monomials
along a first axis. Sums, products and matrix products act on it block by block, so the mean is a block again and is
differentiated, scalarised and compiled like any other loss. Of a product only the pairs of monomials whose product is
even are formed.

>>> from odesys import blocks, sym
>>> x = blocks.constant([[sym("x"), 1]])
>>> blocks.evaluate([mean(blocks.multiply(x, blocks.multiply(x, x)), ["x"]), mean(blocks.multiply(x, x), ["x"])], {})
[array([[Node(0), Node(1)]], dtype=object), array([[Node(1), Node(1)]], dtype=object)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..expr import blocks, graph
from ..expr.blocks import Block
from ..expr.graph import ONE, Node
from .wick import EMPTY, Monomial, moment, no_polynomial, odd_part, polynomial, times


@dataclass(frozen=True, eq=False)
class Expanded:
    """A sum of monomials times arrays: `parts` has the monomials along its first axis, `support` where it is not zero.

    Most monomials belong to one token, so most entries are zeros that need not be multiplied.
    """

    monomials: tuple[Monomial, ...]
    parts: Block
    support: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape without the axis of monomials."""
        return self.parts.shape[1:]


Value = Block | Expanded


def mean(root: Block, normals: Iterable[str]) -> Block:
    """The mean of a block over the normals that stand in its constants."""
    return _Reading(frozenset(normals)).mean(root)


_LINEAR = ("add", "sum", "reshape", "transpose", "take", "scatter")


class _Reading:
    """Blocks expanded in the normals, and their means."""

    def __init__(self, normals: frozenset[str]) -> None:
        self.normals = normals
        self.known: dict[int, Value] = {}
        self.means: dict[int, Block] = {}
        self.drawn: dict[int, bool] = {}

    def expand(self, root: Block) -> Value:
        """The block itself where no normal is in it."""
        for block in blocks.topological([root]):
            if id(block) not in self.known:
                self.known[id(block)] = self._expanded(block)
        return self.known[id(root)]

    def mean(self, block: Block) -> Block:
        """The mean; sums are taken apart, and products paired without being multiplied out."""
        if id(block) not in self.means:
            self.means[id(block)] = self._mean(block)
        return self.means[id(block)]

    def _mean(self, block: Block) -> Block:
        drawn = [self.random(a) for a in block.args]
        if not self.random(block):
            return block
        if block.op in _LINEAR or (block.op in ("multiply", "matmul") and sum(drawn) == 1):
            args = tuple(self.mean(a) if r else a for a, r in zip(block.args, drawn, strict=True))
            return Block(block.op, args, block.shape, block.data)
        if block.op == "multiply":
            return _mean_product(*map(self.expand, block.args))
        if block.op == "apply":
            return self._mean_of_function(block)
        value = self.expand(block)
        if isinstance(value, Block):
            return value
        return _weighted(value.parts, [moment(m) for m in value.monomials])

    def random(self, root: Block) -> bool:
        """Whether a normal is below a block."""
        for block in blocks.topological([root]) if id(root) not in self.drawn else ():
            own = block.op == "constant" and bool(graph.symbols(list(block.data.flat)) & self.normals)
            self.drawn[id(block)] = own or any(self.drawn[id(a)] for a in block.args)
        return self.drawn[id(root)]

    def _mean_of_function(self, block: Block) -> Block:
        inner, parts = self.expand(block.args[0]), []
        for exponent, coefficient in _coefficients(block.data).items():
            half = _power(inner, exponent // 2)
            other = half if exponent % 2 == 0 else _power(inner, exponent - exponent // 2)
            powered = _mean_product(half, other)
            parts.append(blocks.multiply(_number(coefficient, len(block.shape)), powered))
        return blocks.add(*parts)

    def _expanded(self, block: Block) -> Value:
        if block.op == "constant":
            return self._constant(block)
        args = [self.known[id(a)] for a in block.args]
        if all(isinstance(a, Block) for a in args):
            return block
        if block.op == "add":
            return _sum([a if isinstance(a, Expanded) else _lifted(a) for a in args], block.shape)
        if block.op == "multiply":
            return _times(args[0], args[1])
        if block.op == "matmul":
            return _matmul(args[0], args[1], block.shape)
        (value,) = args
        assert isinstance(value, Expanded)
        if block.op == "apply":
            return _applied(block.data, value)
        if block.op in ("shifted_exp", "log_sum_exp"):
            raise no_polynomial("softmax")
        return _linear(block, value)

    def _constant(self, block: Block) -> Value:
        if not self.random(block):
            return block
        entries = {at: polynomial(block.data[at], self.normals) for at in np.ndindex(block.shape)}
        monomials = tuple(sorted({m for parts in entries.values() for m in parts}))
        table = np.full((len(monomials), *block.shape), graph.ZERO, dtype=object)
        place = {m: k for k, m in enumerate(monomials)}
        for at, parts in entries.items():
            for monomial, value in parts.items():
                table[(place[monomial], *at)] = value
        support = np.array([entry is not graph.ZERO for entry in table.flat], dtype=bool).reshape(table.shape)
        return Expanded(monomials, blocks.constant(table), support)


def _linear(block: Block, value: Expanded) -> Expanded:
    """A linear operation on every part, and on its support."""
    parts = _same_operation(block, value.parts)
    leaf = blocks.leaf("support", value.parts.shape)
    (support,) = blocks.evaluate([_same_operation(block, leaf)], {"support": value.support.astype(float)}, {})
    return Expanded(value.monomials, parts, support > 0)


def _same_operation(block: Block, parts: Block) -> Block:
    """A linear operation on every part."""
    size = parts.shape[0]
    if block.op == "sum":
        return blocks.sum_axis(parts, block.data + 1)
    if block.op == "reshape":
        return blocks.reshape(parts, (size, *block.shape))
    if block.op == "transpose":
        rows, columns = block.shape
        index = np.ix_(np.arange(size), np.arange(rows), np.arange(columns))
        full = [np.broadcast_to(i, (size, rows, columns)) for i in index]
        return blocks.take(parts, (full[0], full[2], full[1]))
    assert block.op in ("take", "scatter"), block.op
    inner = block.shape if block.op == "take" else block.args[0].shape
    shape = (size, *inner)
    first = np.arange(size).reshape(-1, *(1 for _ in inner))
    index = tuple(np.broadcast_to(i, shape) for i in (first, *(np.broadcast_to(i, inner)[None] for i in block.data)))
    return blocks.take(parts, index) if block.op == "take" else blocks.scatter(parts, index, (size, *block.shape))


def _lifted(block: Block) -> Expanded:
    return Expanded((EMPTY,), blocks.reshape(block, (1, *block.shape)), np.ones((1, *block.shape), dtype=bool))


def _padded(value: Expanded, dimensions: int) -> Expanded:
    """Axes of length 1 put in, so that shapes of different length broadcast as in NumPy."""
    shape = (len(value.monomials), *((1,) * (dimensions - len(value.shape))), *value.shape)
    return Expanded(value.monomials, blocks.reshape(value.parts, shape), value.support.reshape(shape))


def _rows(parts: Block, chosen: Sequence[int]) -> Block:
    """Some parts, possibly several times."""
    if list(chosen) == list(range(parts.shape[0])):
        return parts
    shape = (len(chosen), *parts.shape[1:])
    index = np.ix_(np.array(chosen), *(np.arange(n) for n in parts.shape[1:]))
    return blocks.take(parts, tuple(np.broadcast_to(i, shape) for i in index))


def _collected(parts: Block, support: np.ndarray, monomials: Sequence[Monomial]) -> Expanded:
    """Parts of equal monomials added up."""
    unique = tuple(sorted(set(monomials)))
    place = {m: k for k, m in enumerate(unique)}
    rows = np.array([place[m] for m in monomials])
    total = np.zeros((len(unique), *support.shape[1:]), dtype=bool)
    np.logical_or.at(total, rows, support)
    index = np.ix_(rows, *(np.arange(n) for n in parts.shape[1:]))
    full = tuple(np.broadcast_to(i, parts.shape) for i in index)
    return Expanded(unique, blocks.scatter(parts, full, (len(unique), *parts.shape[1:])), total)


def _sum(values: Sequence[Expanded], shape: tuple[int, ...]) -> Expanded:
    unique = tuple(sorted({m for value in values for m in value.monomials}))
    place = {m: k for k, m in enumerate(unique)}
    parts, support = [], np.zeros((len(unique), *shape), dtype=bool)
    for value in values:
        padded = _padded(value, len(shape))
        rows = np.array([place[m] for m in value.monomials])
        support[rows] |= padded.support
        index = np.ix_(rows, *(np.arange(n) for n in padded.parts.shape[1:]))
        full = tuple(np.broadcast_to(i, padded.parts.shape) for i in index)
        parts.append(blocks.scatter(padded.parts, full, (len(unique), *padded.parts.shape[1:])))
    return Expanded(unique, blocks.add(*parts), support)


def _overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """For each pair of parts, whether both may be different from zero at one place."""
    shape = np.broadcast_shapes(a.shape[1:], b.shape[1:])
    flat = [np.broadcast_to(s, (len(s), *shape)).reshape(len(s), -1).astype(np.float32) for s in (a, b)]
    meets: np.ndarray = flat[0] @ flat[1].T > 0
    return meets


def _paired(a: Expanded, b: Expanded, pairs: Sequence[tuple[int, int]]) -> Block:
    return blocks.multiply(_rows(a.parts, [i for i, _ in pairs]), _rows(b.parts, [j for _, j in pairs]))


def _times(left: Value, right: Value) -> Value:
    """The product entry by entry, with broadcasting."""
    if isinstance(left, Block) and isinstance(right, Block):
        return blocks.multiply(left, right)
    a, b = _both(left, right)
    pairs = [(int(i), int(j)) for i, j in np.argwhere(_overlaps(a.support, b.support))]
    if not pairs:
        return blocks.zeros(np.broadcast_shapes(a.shape, b.shape))
    first, second = (list(side) for side in zip(*pairs, strict=True))
    support = a.support[first] & b.support[second]
    return _collected(_paired(a, b, pairs), support, [times(a.monomials[i], b.monomials[j]) for i, j in pairs])


def _both(left: Value, right: Value) -> tuple[Expanded, Expanded]:
    a, b = (v if isinstance(v, Expanded) else _lifted(v) for v in (left, right))
    size = max(len(a.shape), len(b.shape))
    return _padded(a, size), _padded(b, size)


def _mean_product(left: Value, right: Value) -> Block:
    """The mean of a product, from the pairs of monomials whose product is even."""
    a, b = _both(left, right)
    meets = _overlaps(a.support, b.support)
    alike: dict[tuple[str, ...], list[int]] = {}
    for j, monomial in enumerate(b.monomials):
        alike.setdefault(odd_part(monomial), []).append(j)
    odd = [odd_part(monomial) for monomial in a.monomials]
    pairs = [(i, j) for i, part in enumerate(odd) for j in alike.get(part, ()) if meets[i, j]]
    twice = 1
    if left is right:  # each pair of different monomials once
        pairs, twice = [(i, j) for i, j in pairs if i <= j], 2
    shape = np.broadcast_shapes(a.shape, b.shape)
    if not pairs:
        return blocks.zeros(shape)
    counts = [(1 if i == j else twice) * moment(times(a.monomials[i], b.monomials[j])) for i, j in pairs]
    return _weighted(_paired(a, b, pairs), counts)


def _weighted(parts: Block, counts: Sequence[int]) -> Block:
    """The sum of all parts, each times a number."""
    column = blocks.constant(np.array(counts, dtype=object).reshape(-1, *(1 for _ in parts.shape[1:])))
    return blocks.reshape(blocks.sum_axis(blocks.multiply(column, parts), 0), parts.shape[1:])


def _matmul(left: Value, right: Value, shape: tuple[int, ...]) -> Value:
    (rows, columns), inner = shape, left.shape[1]

    def reshaped(value: Value, turn: bool, to: tuple[int, ...]) -> Value:
        if isinstance(value, Block):
            return blocks.reshape(value.T if turn else value, to)
        if turn:
            value = _linear(Block("transpose", (), (value.shape[1], value.shape[0])), value)
        return _linear(Block("reshape", (), to), value)

    wide = _times(reshaped(left, False, (rows, 1, inner)), reshaped(right, True, (1, columns, inner)))
    if isinstance(wide, Block):
        return blocks.zeros(shape)
    return _linear(Block("reshape", (), shape), _linear(Block("sum", (), (rows, columns, 1), 2), wide))


def _coefficients(function: Node) -> dict[int, Node]:
    """A function of z as a polynomial: coefficients by power."""
    return {m[0][1] if m else 0: value for m, value in polynomial(function, ["z"]).items()}


def _applied(function: Node, value: Expanded) -> Value:
    size, parts = len(value.shape), []
    for exponent, coefficient in _coefficients(function).items():
        powered = _times(_number(coefficient, size), _power(value, exponent))
        parts.append(powered if isinstance(powered, Expanded) else _lifted(powered))
    return _sum(parts, value.shape)


def _power(value: Value, exponent: int) -> Value:
    if exponent == 0:
        return blocks.constant(np.full(value.shape, ONE, dtype=object))
    out = value
    for _ in range(exponent - 1):
        out = _times(out, value)
    return out


def _number(value: Node, dimensions: int) -> Block:
    return blocks.constant(np.full((1,) * dimensions, value, dtype=object))


__all__ = ["Expanded", "mean"]
