"""Random array expressions over a few leaves, and what each of them is for one network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from odesys import blocks, graph
from odesys.expr.blocks import Block

SHAPES = [(), (1,), (3,), (2, 3), (3, 2), (3, 3), (1, 3), (2, 1, 3), (2, 3, 2)]
FUNCTIONS = [
    graph.exp(blocks.Z * Fraction(1, 8)),
    blocks.Z * blocks.Z * graph.num(Fraction(1, 3)) + graph.num(2),
    graph.sym("b") * blocks.Z - graph.sym("c"),
    blocks.STEP,
    graph.power(graph.num(1) + graph.exp(-blocks.Z), Fraction(-1)) * blocks.STEP,
    graph.power(blocks.Z * blocks.Z + graph.num(1), Fraction(-1)),
]
PARAMETERS = {"b": 0.37, "c": -0.6}


def same_count(shape: tuple[int, ...], rng: np.random.Generator) -> tuple[int, ...]:
    """Another shape with as many entries."""
    size = int(np.prod(shape, dtype=int))
    return [(size,), (1, size), (size, 1), (1, *shape), (*shape, 1), shape[::-1]][rng.integers(6)]


def fractions(rng: np.random.Generator, shape: tuple[int, ...]) -> Block:
    """A constant: some are the same everywhere, some are ones or zeros."""
    values = rng.integers(-3, 4, shape) if rng.random() < 0.5 else np.full(shape, rng.integers(0, 3))
    return blocks.constant(np.frompyfunc(lambda v: Fraction(int(v), 2), 1, 1)(np.asarray(values)))


def chosen(rng: np.random.Generator, shape: tuple[int, ...], target: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    """Places in a table of this shape: at random, all in order, all in another order, or those of the transpose."""
    flat = np.arange(int(np.prod(shape, dtype=int)))
    kind = rng.integers(4)
    if kind == 0 or not shape:
        return tuple(rng.integers(0, n, target) for n in shape)
    if kind == 1:
        return np.unravel_index(flat.reshape(shape), shape)
    if kind == 2 or len(shape) < 2:
        return np.unravel_index(rng.permutation(flat).reshape(shape), shape)
    return np.unravel_index(flat.reshape(shape).swapaxes(-1, -2), shape)


@dataclass
class Grown:
    """Expressions in the order in which they were made; the first are leaves."""

    leaves: list[Block]
    made: list[Block] = field(default_factory=list)

    def some(self, rng: np.random.Generator) -> Block:
        """A leaf or an expression, rather one of the last."""
        known = [*self.leaves, *self.made]
        return known[max(rng.integers(len(known)), rng.integers(len(known)))]

    def arrays(self, rng: np.random.Generator, counts: Sequence[int]) -> dict[str, np.ndarray]:
        """Values of the leaves, of so many networks each."""
        return {b.data: rng.normal(size=(n, *b.shape)) for b, n in zip(self.leaves, counts, strict=True)}


def grown(seed: int, steps: int = 14, without: str = "") -> Grown:
    """Some random expressions, none of them larger than a few hundred entries, and none by the operation `without`."""
    rng = np.random.default_rng(seed)
    shapes = [SHAPES[k] for k in rng.integers(1, len(SHAPES), 3)]
    found = Grown([blocks.leaf(name, shape) for name, shape in zip("uvw", shapes, strict=True)])
    while len(found.made) < steps:
        block = _one(found, rng)
        if block is not None and block.op not in ("zeros", "constant", without) and np.prod(block.shape) < 300:
            found.made.append(block)
    return found


def _one(found: Grown, rng: np.random.Generator) -> Block | None:
    """One more expression, or None where shapes do not fit."""
    one, other = found.some(rng), found.some(rng)
    kind = rng.integers(12)
    if kind < 4:
        if kind == 3:
            other = fractions(rng, [one.shape, one.shape[-1:], (1,) * len(one.shape), (2, *one.shape)][rng.integers(4)])
        try:
            np.broadcast_shapes(one.shape, other.shape)
        except ValueError:
            return None
        pair = (one, other) if rng.random() < 0.5 else (other, one)
        more = [fractions(rng, one.shape)] if rng.random() < 0.3 else []
        return blocks.multiply(*pair) if rng.random() < 0.5 else blocks.add(*pair, *more)
    if kind == 4:
        one = blocks.reshape(one, (1, one.shape[0])) if len(one.shape) == 1 else one
        matrix = other if rng.random() < 0.5 else fractions(rng, (one.shape[-1] if one.shape else 1, 2))
        if len(one.shape) == 2 == len(matrix.shape) and one.shape[1] == matrix.shape[0]:
            return one @ matrix
        left = fractions(rng, (2, one.shape[0] if one.shape else 1))
        return left @ one if len(one.shape) == 2 else None
    if kind == 5:
        return one.T if len(one.shape) == 2 else None
    if kind == 6:
        return blocks.reshape(one, same_count(one.shape, rng))
    if kind == 7:
        return blocks.sum_axis(one, -int(rng.integers(1, len(one.shape) + 1))) if one.shape else None
    if kind == 8:
        return blocks.take(one, chosen(rng, one.shape, (2, 3))) if one.shape else None
    if kind == 9:
        table = SHAPES[rng.integers(1, len(SHAPES))]
        index = chosen(rng, table, one.shape)
        return blocks.scatter(one, index, table) if index[0].shape == one.shape else None
    if kind == 10:
        return blocks.apply(FUNCTIONS[rng.integers(len(FUNCTIONS))], one)
    if not one.shape:
        return None
    return blocks.softmax(one) if rng.random() < 0.6 else blocks.log_sum_exp(one)
