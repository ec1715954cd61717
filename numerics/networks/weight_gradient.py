r"""Reverse mode from the loss of a program to its weights, through the tables of path scalars that it reads.

A table is :math:`\phi = (P^\top V)^\top W\,(S\,V')` with pinned vectors V as columns; images of pinned vectors under
chains of maps are computed once, and :math:`\partial\mathcal L/\partial W = \sum P^\top V\, G_\phi\, (S V')^\top`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from odesys.expr import blocks
from odesys.expr.blocks import Block
from odesys.model.paths import Letter, Path
from odesys.program.program import Program
from odesys.program.spaces import Words

from .block_kernel import VARYING, BlockKernel
from .softmax_pairs import SHORT, SoftmaxPairs
from .wide_floats import Wide

Arrays = dict[str, np.ndarray]


class _Image(NamedTuple):
    """One more map (or its transpose) applied to an image, which is None for the axes of units."""

    map: str
    transposed: bool
    inner: int | None


@dataclass(frozen=True)
class _Part:
    """A term rows G columns' of the derivative by a map: numbers of images, None for axes, and the table."""

    rows: int | None
    table: int
    turned: bool
    columns: int | None


class WeightGradient:
    """Loss, outputs and gradients of weights (networks, rows, columns); made once for a program and its parameters.

    >>> import numpy as np
    >>> from odesys import Data, Units, Words, gradient_flow, maps, squared
    >>> words = Words("a b")
    >>> V, W = maps("V", 1, Units("r", 2)), maps("W", Units("r", 2), words)
    >>> flow = gradient_flow(lambda X: V @ W @ X[0], Data(words, [("a", 1)]), squared)
    >>> reverse = WeightGradient(flow.program, ("V", "W"), {})
    >>> weights = {"V": np.array([[[1.0, 0.0]]]), "W": np.array([[[3.0, 0.0], [0.0, 0.0]]])}
    >>> {name: slope.tolist() for name, slope in reverse.gradients(weights, {"E": np.eye(2)[None]}).items()}
    {'V': [[[6.0, 0.0]]], 'W': [[[2.0, 0.0], [0.0, 0.0]]]}
    """

    def __init__(
        self,
        program: Program,
        train: Sequence[str],
        parameters: Mapping[str, float],
        varying: Sequence[str] = (),
        pairs: int = SHORT,
    ) -> None:
        self.pins = program.naming.pins
        self.paths = tuple(program.tables)
        self.train = tuple(train)
        self.images: list[_Image | str] = []  # a pinned set by name, or one map more
        self.numbers: dict[tuple[tuple[Letter, ...], str], int | None] = {}
        leaves = [program.tables[path] for path in self.paths]
        self.names = [str(leaf.data) for leaf in leaves]
        self.ends = [self._split(path) for path in self.paths]
        self.parts = {name: self._parts(name) for name in self.train}
        moved = {part.table for parts in self.parts.values() for part in parts}
        self.moved = sorted(moved)
        slopes = blocks.gradient(program.loss, [leaves[k] for k in self.moved], SoftmaxPairs(pairs))
        self.slopes = BlockKernel(slopes, parameters, varying, often=True)
        self.far = 1e-250 ** (1 / _degree(slopes))  # products of factors that are larger stay in the range of floats
        factors = [block for block in blocks.topological(slopes) if _may_be_tiny(block)]
        self._watched = [*slopes, *factors], parameters, varying
        self.observables = tuple(program.observables)
        self.values = BlockKernel(list(program.observables.values()), parameters, varying)

    def observe(self, weights: Mapping[str, np.ndarray], vectors: Mapping[str, np.ndarray]) -> Arrays:
        """Loss, margins and outputs by name, one number per network."""
        tables = self._tables(self._images(weights, vectors), vectors)
        with np.errstate(all="ignore"):
            found = self.values(tables)
        return {name: value.reshape(-1) for name, value in zip(self.observables, found, strict=True)}

    def gradients(self, weights: Mapping[str, np.ndarray], vectors: Mapping[str, np.ndarray]) -> Arrays:
        """The derivative of the loss by every trained map; `vectors` has the pinned vectors of each set of words.

        Parameters that differ along the first axis, if there are any, are in it as `VARYING`.
        """
        images = self._images(weights, vectors)
        with np.errstate(all="ignore"):
            slopes = dict(zip(self.moved, self.slopes(self._tables(images, vectors)), strict=True))
        out: Arrays = {}
        for name in self.train:
            total: np.ndarray | None = None
            for part in self.parts[name]:
                slope = slopes[part.table].mT if part.turned else slopes[part.table]
                term = _sandwich(
                    None if part.rows is None else images[part.rows],
                    slope,
                    None if part.columns is None else images[part.columns],
                )
                total = term if total is None else total + term
            out[name] = np.zeros(weights[name].shape) if total is None else total
        return out

    def means(self, weights: Mapping[str, np.ndarray], vectors: Mapping[str, np.ndarray]) -> Arrays:
        """The mean of `gradients` over the first axis, which is never written out, with one network in front.

        Where weights are those of several networks, the first axis of vectors is cut into as many equal pieces, one
        after the other, and each network has the mean over its own.
        """
        images = self._images(weights, vectors)
        with np.errstate(all="ignore"):
            slopes = dict(zip(self.moved, self.slopes(self._tables(images, vectors)), strict=True))
        return {name: self._mean(name, weights, images, slopes) for name in self.train}

    @cached_property
    def watched(self) -> BlockKernel:
        """The slopes, then all values of functions that enter them."""
        return BlockKernel(*self._watched, often=True)

    def signs(self, weights: Mapping[str, np.ndarray], vectors: Mapping[str, np.ndarray]) -> Arrays:
        """The signs of `means`, also where slopes are outside the range of floats.

        A slope is a sum of products of tables and values of functions: where none of them is tiny floats are enough.
        """
        images = self._images(weights, vectors)
        tables = self._tables(images, vectors)
        with np.errstate(all="ignore"):
            found: list[Any] = self.watched(tables)
            factors = [*found[len(self.moved) :], *(np.where(t == 0, 1.0, t) for t in tables.values())]
            if not all(np.abs(factor).min() > self.far for factor in factors):
                wide: Any = {name: t if name == VARYING else Wide.of(t) for name, t in tables.items()}
                found = self.slopes(wide)
            slopes = dict(zip(self.moved, found[: len(self.moved)], strict=True))
            return {name: np.sign(self._mean(name, weights, images, slopes)) for name in self.train}

    def _mean(self, name: str, weights: Mapping[str, np.ndarray], images: list[np.ndarray], slopes: Any) -> Any:
        total: Any = None
        for part in self.parts[name]:
            slope = slopes[part.table].mT if part.turned else slopes[part.table]
            rows, columns = (None if k is None else images[k] for k in (part.rows, part.columns))
            term = _mean_sandwich(rows, columns, slope, len(weights[name]))
            total = term if total is None else total + term
        return np.zeros(weights[name].shape) if total is None else total

    # ---- plan ------------------------------------------------------------------------------------------------------

    def _image(self, letters: tuple[Letter, ...], pin: str) -> int | None:
        """The number of the image of a pinned set under a chain; None for the axes of units themselves."""
        key = letters, pin
        if key not in self.numbers:
            if letters:
                inner = self._image(letters[1:], pin)
                self.images.append(_Image(letters[0].map, letters[0].transposed, inner))
            elif isinstance(self.pins[pin].side, Words):
                self.images.append(pin)
            else:
                self.numbers[key] = None
                return None
            self.numbers[key] = len(self.images) - 1
        return self.numbers[key]

    def _before(self, path: Path, place: int) -> int | None:
        return self._image(tuple(letter.T for letter in reversed(path.letters[:place])), path.left)

    def _split(self, path: Path) -> tuple[int | None, int | None]:
        """A table as product of two images, those that the derivatives need too; axes of units are left out."""
        place = len(path.letters) - 1
        if self._before(path, 0) is not None and self._image((), path.right) is None:
            return self._before(path, place + 1), None
        return self._before(path, place), self._image(path.letters[place:], path.right)

    def _parts(self, name: str) -> list[_Part]:
        parts = []
        for table, path in enumerate(self.paths):
            for place, letter in enumerate(path.letters):
                if letter.map == name:
                    ends = self._before(path, place), self._image(path.letters[place + 1 :], path.right)
                    rows, columns = ends[::-1] if letter.transposed else ends
                    parts.append(_Part(rows, table, letter.transposed, columns))
        return parts

    # ---- numbers ---------------------------------------------------------------------------------------------------

    def _images(self, weights: Mapping[str, np.ndarray], vectors: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        images: list[np.ndarray] = []
        samples = max(map(len, vectors.values()), default=1)
        for image in self.images:
            if isinstance(image, str):
                images.append(vectors[image])
                continue
            matrix = weights[image.map].mT if image.transposed else weights[image.map]
            if image.inner is not None:
                images.append(_each(matrix, images[image.inner]))
            else:
                images.append(np.repeat(matrix, max(1, samples // len(matrix)), axis=0) if len(matrix) > 1 else matrix)
        return images

    def _tables(self, images: list[np.ndarray], vectors: Mapping[str, np.ndarray]) -> Arrays:
        out = {}
        for name, (left, right) in zip(self.names, self.ends, strict=True):
            if right is None:
                assert left is not None  # one of the ends is a set of words
                out[name] = images[left].mT
            else:
                out[name] = images[right] if left is None else images[left].mT @ images[right]
        if VARYING in vectors:
            out[VARYING] = vectors[VARYING]
        return out


def _may_be_tiny(block: Block) -> bool:
    """True for values of functions, but for gates: a gate that is 0 is so in exact numbers too."""
    return block.op == "shifted_exp" or (block.op == "apply" and block.data is not blocks.STEP)


def _degree(roots: Sequence[Block]) -> int:
    """The largest number of tables and values of functions that are multiplied with each other."""
    degrees: dict[int, int] = {}
    for block in blocks.topological(roots):
        below = [degrees[id(a)] for a in block.args]
        if block.op in ("multiply", "matmul"):
            degrees[id(block)] = sum(below)
        else:
            read = block.op == "leaf" or block.op == "shifted_exp" or block.op == "apply"
            degrees[id(block)] = 1 if read else max(below, default=0)
    return max(1, *(degrees[id(root)] for root in roots))


def _sandwich(rows: np.ndarray | None, slope: np.ndarray, columns: np.ndarray | None) -> np.ndarray:
    """rows slope columns', in the cheaper order; None stands for the identity."""
    value: np.ndarray
    if rows is None or columns is None:
        value = slope if rows is None else rows @ slope
        return value if columns is None else value @ columns.mT
    (p, r), (q, c) = rows.shape[-2:], columns.shape[-2:]
    value = (rows @ slope) @ columns.mT if p * c * (r + q) < r * q * (c + p) else rows @ (slope @ columns.mT)
    return value


def _each(matrix: np.ndarray, inner: np.ndarray) -> np.ndarray:
    """Matrices of networks applied to the vectors of their samples, which follow each other network by network.

    Those of one network stand beside each other: one product of matrices in place of many small ones.
    """
    networks, (count, length, vectors) = len(matrix), inner.shape
    if networks in (1, count) or count == 1:
        return np.asarray(matrix @ inner)
    rows = matrix.shape[1]
    beside = inner.mT.reshape(networks, -1, length)
    return np.asarray((beside @ matrix.mT).reshape(count, vectors, rows).mT)


def _mean_sandwich(rows: np.ndarray | None, columns: np.ndarray | None, slope: Any, networks: int = 1) -> Any:
    """The mean of rows slope columns' over the samples of each network; one product where columns differ."""
    if rows is not None and len(rows) > 1:
        rows, slope = None, rows @ slope
    count = max(len(slope), 1 if columns is None else len(columns))
    each = count // networks
    slope = np.broadcast_to(slope / each, (count, *slope.shape[1:]))
    _, p, q = slope.shape
    if columns is not None and len(columns) > 1:
        side = slope.reshape(networks, each, p, q).transpose(0, 2, 1, 3).reshape(networks, p, each * q)
        value = side @ columns.mT.reshape(networks, each * q, -1)
    else:
        value = slope.reshape(networks, each, p, q).sum(axis=1)
        value = value if columns is None else value @ columns[0].mT
    return value if rows is None else rows[0] @ value
