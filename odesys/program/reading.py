r"""From expressions to blocks over path scalars: free indices are contracted, and every path that is read is recorded.

A vector of a free space is a combination of chains of maps applied to pinned vectors,

.. math::  v_c = \sum_{\text{terms}} W_1 \cdots W_k\, \sum_j e_{i_j}\, s_j\, M_{jc},

with :math:`e_i` pinned vectors (words, or the axes of units), factors :math:`s` and a listed matrix :math:`M`.
Contracting two of them gives :math:`M^\top (e^\top \cdots W_1^\top W'_1 \cdots e') M'`, a table of path scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from ..errors import ModelError
from ..expr import blocks, graph
from ..expr.blocks import Block
from ..expr.graph import ZERO, Node, add, as_node
from ..model.paths import Letter, Path
from . import batch
from .data import Group, target_table
from .expressions import Expr
from .spaces import Listed, Side, Space, Tokens, Units, Words, say_side


@dataclass(frozen=True)
class Pin:
    """A set of pinned vectors: the words of a space, or the axes of units; `labels` name its vectors."""

    name: str
    labels: tuple[str, ...]
    side: Side

    @property
    def size(self) -> int:
        """How many vectors."""
        return len(self.labels)

    @property
    def gram(self) -> np.ndarray | None:
        """Inner products as nodes; None where the vectors are orthonormal."""
        if not isinstance(self.side, Words) or self.side.pinned.orthonormal:
            return None
        rows = self.side.pinned.gram_array()
        exact = [[as_node(v) if isinstance(v, Node) or v else ZERO for v in row] for row in rows]  # 0.0 is no term
        return np.array(exact, dtype=object)


def pin_of(side: Side) -> Pin:
    """The pinned vectors of a side."""
    if isinstance(side, Words):
        return Pin(side.name, side.pinned.words, side)
    assert isinstance(side, Units)
    return Pin(side.name, side.labels, side)


@dataclass
class Reads:
    """The tables of path scalars that a program reads, and their pinned ends; filled while it is read."""

    pins: dict[str, Pin] = field(default_factory=dict)
    tables: dict[Path, Block] = field(default_factory=dict)
    letters: dict[str, Expr] = field(default_factory=dict)  # every map that occurs, by name

    def pin(self, side: Side) -> Pin:
        """Register the pinned vectors of a side; two different sets can not share a name."""
        pin = pin_of(side)
        known = self.pins.setdefault(pin.name, pin)
        if known.side != side:
            raise ModelError(
                f"{known.side!r} and {side!r} have the same name {pin.name}; give one of them another name="
            )
        return known

    def table(self, path: Path) -> tuple[Block, bool]:
        """The leaf of a path, and whether it holds the transpose."""
        if path.T in self.tables and path not in self.tables:
            return self.tables[path.T], True
        if path not in self.tables:
            shape = self.pins[path.left].size, self.pins[path.right].size
            self.tables[path] = blocks.leaf(str(path), shape)
        return self.tables[path], False


@dataclass(frozen=True, eq=False)
class Term:
    """One chain of maps applied to chosen pinned vectors: `index` (s, k), factors (s, k), mixing matrix (s, k, c)."""

    letters: tuple[Letter, ...]
    pin: str
    index: np.ndarray
    factor: Block | None = None
    mix: Block | None = None


Vectors = tuple[Term, ...]


@dataclass(frozen=True, eq=False)
class Operator:
    """A map between free spaces: chains of maps with factors (s, 1, 1), and products of columns and rows."""

    chains: tuple[tuple[Block | None, tuple[Letter, ...]], ...] = ()
    products: tuple[tuple[Vectors, Vectors], ...] = ()  # left @ right.T

    @property
    def T(self) -> Operator:
        """The transpose."""
        chains = tuple((f, tuple(letter.T for letter in reversed(word))) for f, word in self.chains)
        return Operator(chains, tuple((right, left) for left, right in self.products))


Value = Block | Vectors | Operator


class Reader:
    """Reads expressions on one group of samples."""

    def __init__(self, group: Group, reads: Reads) -> None:
        self.group, self.reads = group, reads
        self.memo: dict[int, Value] = {}
        self.kept: list[Expr] = []  # ids stay unique while the expressions live

    def block(self, expr: Expr) -> Block:
        """The entries of a listed expression, shape (samples or 1, rows, columns)."""
        value = self.read(expr)
        assert isinstance(value, Block)
        return value

    def read(self, expr: Expr) -> Value:
        """A block for listed sides; vectors where one side is free (of the transpose, if it is the columns)."""
        if id(expr) not in self.memo:
            self.kept.append(expr)
            self.memo[id(expr)] = _READ[expr.op](self, expr)
        return self.memo[id(expr)]

    # ---- leaves ----------------------------------------------------------------------------------------------------

    def _tokens(self, expr: Expr) -> Value:
        group, pin = self.group, self.reads.pin(expr.rows)
        if group.table is not None:
            return (Term((), pin.name, group.index, None, batch.constant(group.table)),)
        factor = None if all(f is graph.ONE for f in group.factor.flat) else blocks.constant(group.factor)
        return (Term((), pin.name, group.index, factor),)

    def _positions(self, expr: Expr) -> Value:
        assert isinstance(expr.rows, Words) and isinstance(expr.columns, Tokens)
        self._refuse_counts()
        first = len(expr.rows)
        index = np.array([[first + p for p in expr.columns.positions]])
        return (Term((), self.reads.pin(expr.rows).name, index),)

    def _refuse_counts(self) -> None:
        if self.group.counts is not None:
            raise ModelError("a token that stands for several has no position of its own; list every token by itself")

    def _stands_for_several(self, side: Side) -> bool:
        """Whether a count other than 1 belongs to some of these axes, if they are tokens."""
        if not isinstance(side, Tokens) or self.group.counts is None:
            return False
        return any(count is not graph.ONE for count in self.group.counts[:, list(side.positions)].flat)

    def _paired(self, left: Side, right: Side, contracted: bool = False) -> None:
        """A table with an entry for each token says what stands at which position.

        A single token is as many columns as its count, so it corresponds to itself only; one number is repeated.
        """
        for a, b in ((left, right), (right, left)):
            if isinstance(a, Tokens) and isinstance(b, Units) and b.size > 1:
                self._refuse_counts()
            repeated = isinstance(b, Units) and b.size == 1 and not contracted
            if a != b and not repeated and isinstance(a, Tokens) and a.size == 1 and self._stands_for_several(a):
                self._refuse_counts()

    def _words(self, expr: Expr) -> Value:
        assert isinstance(expr.rows, Words)
        return (Term((), self.reads.pin(expr.rows).name, np.arange(len(expr.rows))[None]),)

    def _map(self, expr: Expr) -> Value:
        letter: Letter = expr.data
        known = self.reads.letters.setdefault(letter.map, expr)
        if (known.rows, known.columns) != (expr.rows, expr.columns):
            raise ModelError(f"two maps are called {letter.map}, with different rows or columns; give one another name")
        free_rows, free_columns = isinstance(expr.rows, Space), isinstance(expr.columns, Space)
        if free_rows and free_columns:
            return Operator(((None, (letter,)),))
        if free_rows:
            return self._axes(expr.columns, (letter,))
        if free_columns:
            return self._axes(expr.rows, (letter.T,))
        path = Path(self.reads.pin(expr.rows).name, (letter,), self.reads.pin(expr.columns).name)
        table, turned = self.reads.table(path)
        return blocks.reshape(table.T if turned else table, (1, *(table.shape[::-1] if turned else table.shape)))

    def _axes(self, side: Side, letters: tuple[Letter, ...]) -> Vectors:
        pin = self.reads.pin(side)
        return (Term(letters, pin.name, np.arange(pin.size)[None]),)

    def _constant(self, expr: Expr) -> Value:
        return batch.constant(expr.data[None])

    def _count(self, expr: Expr) -> Value:
        counts = self.counts(expr.data)
        if counts is None:
            return batch.constant([[[expr.data.size]]])
        return batch.constant([[[add(list(row.flat))]] for row in counts.data])

    def _target(self, expr: Expr) -> Value:
        return batch.constant(target_table(self.group, expr.data))

    def counts(self, side: Side) -> Block | None:
        """Multiplicities of tokens or units, shape (samples or 1, size, 1); None where every axis is itself."""
        if isinstance(side, Units) and side.counts is not None:
            return batch.constant([[[count] for count in side.counts]])
        if not isinstance(side, Tokens) or self.group.counts is None:
            return None
        return batch.constant(self.group.counts[:, list(side.positions), None])

    def _summed_alone(self, expr: Expr, side: Side, *others: Side) -> None:
        """Refuse a sum over counted axes in front of others: whether two of them are one axis would be lost."""
        if isinstance(side, Units) and side.counts is not None:
            for other in others:
                if isinstance(other, Space) or (isinstance(other, Units) and other.counts is not None):
                    raise ModelError(
                        f"{expr} sums over the {say_side(side)} of a family, one for each group, and leaves "
                        f"{say_side(other)}, which may be of the same group or of another; sum to a number, or to axes "
                        f"that belong to no group, with brackets if need be: U @ (V @ s)"
                    )

    # ---- operations ------------------------------------------------------------------------------------------------

    def _transpose(self, expr: Expr) -> Value:
        value = self.read(expr.args[0])
        if isinstance(value, Block):
            return batch.swap(value)
        return value.T if isinstance(value, Operator) else value

    def _columns(self, expr: Expr) -> Value:
        if not isinstance(expr.data[1], slice) and self._stands_for_several(expr.columns):
            raise ModelError(
                f"{expr} is a token by its place, but a token that stands for several (its count is not 1) has no "
                f"position of its own; list every token by itself, or take the word: words['a']"
            )
        value, places = self.read(expr.args[0]), expr.data[0]
        if isinstance(value, Block):
            return batch.columns(value, places)
        assert isinstance(value, tuple)
        return tuple(_some_columns(term, places) for term in value)

    def _add(self, expr: Expr) -> Value:
        self._entrywise(expr)
        left, right = map(self.read, expr.args)
        if isinstance(left, Block) and isinstance(right, Block):
            return blocks.add(left, right)
        if isinstance(left, Operator) and isinstance(right, Operator):
            return Operator(left.chains + right.chains, left.products + right.products)
        assert isinstance(left, tuple) and isinstance(right, tuple)
        width = _listed_side(expr).size
        return tuple(self._repeat(term, width) for term in left + right)

    def _repeat(self, term: Term, width: int) -> Term:
        """A single vector added to several is added to each of them."""
        have = term.index.shape[1] if term.mix is None else term.mix.shape[2]
        if have == width:
            return term
        mix = term.mix if term.mix is not None else batch.identity(1)
        return replace(term, mix=blocks.multiply(mix, batch.constant([[[1] * width]])))

    def _entrywise(self, expr: Expr) -> None:
        left, right = expr.args
        self._paired(left.rows, right.rows)
        self._paired(left.columns, right.columns)

    def _times(self, expr: Expr) -> Value:
        self._entrywise(expr)
        factor, matrix = self.block(expr.args[0]), self.read(expr.args[1])
        if isinstance(matrix, Block):
            return batch.times(factor, matrix)
        if isinstance(matrix, Operator):
            chains = tuple((factor if f is None else batch.times(f, factor), word) for f, word in matrix.chains)
            products = tuple((_scaled(left, factor), right) for left, right in matrix.products)
            return Operator(chains, products)
        if isinstance(expr.columns, Space):
            factor = batch.swap(factor)
        return _scaled(matrix, factor)

    def _matmul(self, expr: Expr) -> Value:
        left, right = expr.args
        self._paired(left.columns, right.rows, contracted=True)
        if isinstance(left.columns, Space):
            return self._contract_free(left, right)
        self._summed_alone(expr, left.columns, left.rows, right.columns)
        return self._contract_listed(left, right)

    def _contract_free(self, left: Expr, right: Expr) -> Value:
        a, b = self.read(left), self.read(right)
        if isinstance(a, Operator) and isinstance(b, Operator):
            return self._composed(a, b)
        if isinstance(a, Operator):
            assert isinstance(b, tuple)
            return self._image(a, b)
        assert isinstance(a, tuple)
        return self._image(b.T, a) if isinstance(b, Operator) else self._inner(a, b)  # type: ignore[arg-type]

    def _contract_listed(self, left: Expr, right: Expr) -> Value:
        a, b, counts = self.read(left), self.read(right), self.counts(left.columns)
        if isinstance(b, Block):
            b = b if counts is None else self._counted(right, counts)
            return batch.matmul(a, b) if isinstance(a, Block) else _mixed(a, b)  # type: ignore[arg-type]
        assert isinstance(b, tuple)
        if isinstance(a, Block):  # a listed matrix times rows of a free space: the transpose is mixed by a.T
            turned = batch.swap(a)
            return _mixed(b, turned if counts is None else batch.times(counts, turned))
        assert isinstance(a, tuple)
        return Operator(products=((a if counts is None else _scaled(a, batch.swap(counts)), b),))

    def _counted(self, expr: Expr, counts: Block) -> Block:
        """Rows times their counts; in a softmax the counts go to the weights, where the sum below has them too."""
        if expr.op == "softmax":
            return batch.softmax(self.block(expr.args[0]), counts, expr.data, whole=True)
        return batch.times(counts, self.block(expr))

    def _inner(self, left: Vectors, right: Vectors) -> Block:
        """left.T @ right, with every path that is read recorded."""
        return blocks.add(*(self._pair(a, b) for a in left for b in right))

    def _pair(self, a: Term, b: Term) -> Block:
        path = Path(a.pin, tuple(letter.T for letter in reversed(a.letters)) + b.letters, b.pin)
        rows, columns = np.broadcast_arrays(a.index[:, :, None], b.index[:, None, :])
        if path.letters:
            leaf, turned = self.reads.table(path)
            table = blocks.take(leaf, (columns, rows) if turned else (rows, columns))
        else:
            if a.pin != b.pin:
                raise ModelError(
                    f"the vectors {a.pin} and {b.pin} have no inner products of their own; put a map between"
                )
            gram = self.reads.pins[a.pin].gram
            values = (rows == columns).astype(int) if gram is None else gram[rows, columns]
            table = batch.constant(values)
        for term, axis in ((a, 2), (b, 1)):
            if term.factor is not None:
                table = batch.times(_expand(term.factor, axis), table)
        if a.mix is not None:
            table = batch.matmul(batch.swap(a.mix), table)
        return table if b.mix is None else batch.matmul(table, b.mix)

    def _image(self, operator: Operator, vectors: Vectors) -> Vectors:
        """operator @ vectors."""
        out: list[Term] = []
        for factor, word in operator.chains:
            moved = tuple(replace(term, letters=word + term.letters) for term in vectors)
            out += moved if factor is None else _scaled(moved, factor)
        for left, right in operator.products:
            out += _mixed(left, self._inner(right, vectors))
        return tuple(out)

    def _composed(self, a: Operator, b: Operator) -> Operator:
        chains = []
        for f, word in a.chains:
            for g, other in b.chains:
                both = g if f is None else f if g is None else batch.times(f, g)
                chains.append((both, word + other))
        products = [(left, self._image(b.T, right)) for left, right in a.products]
        if a.chains:
            only = Operator(chains=a.chains)
            products += [(self._image(only, left), right) for left, right in b.products]
        return Operator(tuple(chains), tuple(products))

    def _apply(self, expr: Expr) -> Value:
        function: Node = expr.data[0]
        inner = self.block(expr.args[0])
        return blocks.relu(inner) if function is _RELU else blocks.apply(function, inner)

    def _softmax(self, expr: Expr) -> Value:
        if expr.data is not None and any(map(self._stands_for_several, (expr.rows, expr.columns))):
            self._refuse_counts()  # a mask looks at positions
        self._summed_alone(expr, expr.rows, expr.columns)
        return batch.softmax(self.block(expr.args[0]), self.counts(expr.rows), expr.data)

    def _sum(self, expr: Expr) -> Value:
        inner = expr.args[0]
        side = (inner.rows, inner.columns)[expr.data]
        self._summed_alone(expr, side, (inner.columns, inner.rows)[expr.data])
        value, counts = self.read(inner), self.counts(side)
        if isinstance(value, Block):
            axis = 1 + expr.data
            if counts is not None:
                value = batch.times(counts if axis == 1 else batch.swap(counts), value)
            return blocks.sum_axis(value, axis) if value.shape[axis] > 1 else value
        assert isinstance(value, tuple) and not isinstance(side, Space)
        ones = batch.constant([[[1]] * side.size])
        return _mixed(value, ones if counts is None else counts)

    def _norm(self, expr: Expr) -> Value:
        value, rows = self.read(expr.args[0]), expr.args[0].rows
        self._summed_alone(expr, rows, expr.columns)
        if isinstance(value, Block):
            counts, square = self.counts(rows), blocks.multiply(value, value)
            square = blocks.sum_axis(square if counts is None else batch.times(counts, square), 1)
        else:
            assert isinstance(value, tuple)
            square = batch.diagonal(self._inner(value, value))
        return blocks.apply(graph.sqrt(graph.sym("z")), square)

    def _cross_entropy(self, expr: Expr) -> Value:
        self._summed_alone(expr, expr.args[0].rows, expr.columns)
        output, target = map(self.block, expr.args)
        return cross_entropy(output, target, self.counts(expr.args[0].rows))


def cross_entropy(output: Block, target: Block, counts: Block | None = None) -> Block:
    r"""The loss :math:`\log \sum_k e^{f_k - f_r} + f_r - \langle y, f\rangle` per sample and column, with r the class.

    Differences to the output of the class come first, so that nothing is lost where a network is almost sure. Under
    probabilities r is the likeliest class; where two are equally likely, the mean of f takes the place of f_r. With
    `counts` a row stands for so many classes.
    """
    _check_probabilities(target)
    if counts is not None and not _all_digits(target):
        raise ModelError("classes that are counted, one for each group of a family, have classes as targets")
    middle = _likeliest(target)
    wanted = blocks.sum_axis(batch.times(middle, output), 1)
    difference = blocks.add(output, blocks.multiply(blocks.constant([[[-1]]]), wanted))
    if _all_digits(middle):  # at the class itself it is zero, and stays so
        difference = blocks.multiply(blocks.constant(1 - middle.data), difference)
    loss = batch.swap(blocks.log_sum_exp(batch.swap(difference), None if counts is None else batch.swap(counts)))
    if middle is target:
        return loss
    return blocks.add(loss, blocks.sum_axis(batch.times(blocks.constant(middle.data - target.data), output), 1))


def _check_probabilities(target: Block) -> None:
    for wrong in (e for e in target.data.flat if e.op == "num" and e.args[0] < 0):
        raise ModelError(f"the target of cross_entropy has the entry {wrong.args[0]}; it is a class, or probabilities")
    sums = [add(list(column)) for column in np.moveaxis(target.data, 1, 2).reshape(-1, target.shape[1])]
    for total in (e for e in sums if e.op == "num" and abs(e.args[0] - 1) > 1e-9):
        raise ModelError(
            f"the target of cross_entropy sums to {total.args[0]}; it is a class, or probabilities that sum to 1"
        )


def _all_digits(table: Block) -> bool:
    return all(entry is graph.ONE or entry is ZERO for entry in table.data.flat)


def _likeliest(target: Block) -> Block:
    """The class of every column as ones and zeros; the target itself where it is that, or some column has no class."""
    if _all_digits(target) or any(entry.op != "num" for entry in target.data.flat):
        return target
    values = np.vectorize(lambda entry: entry.args[0], otypes=[object])(target.data)
    first = values == values.max(axis=1, keepdims=True)
    return blocks.constant(first.astype(int)) if (first.sum(axis=1) == 1).all() else target


_RELU = graph.relu(graph.sym("z"))
_READ: dict[str, Callable[[Reader, Expr], Value]] = {
    "tokens": Reader._tokens,
    "positions": Reader._positions,
    "words": Reader._words,
    "map": Reader._map,
    "constant": Reader._constant,
    "count": Reader._count,
    "target": Reader._target,
    "transpose": Reader._transpose,
    "columns": Reader._columns,
    "add": Reader._add,
    "times": Reader._times,
    "matmul": Reader._matmul,
    "apply": Reader._apply,
    "softmax": Reader._softmax,
    "sum": Reader._sum,
    "norm": Reader._norm,
    "cross_entropy": Reader._cross_entropy,
}


def _listed_side(expr: Expr) -> Listed:
    side = expr.columns if isinstance(expr.rows, Space) else expr.rows
    assert not isinstance(side, Space)
    return side


def _expand(factor: Block, axis: int) -> Block:
    """Factors (s, k) as (s, k, 1) or (s, 1, k)."""
    samples, size = factor.shape
    return blocks.reshape(factor, (samples, size, 1) if axis == 2 else (samples, 1, size))


def _some_columns(term: Term, places: tuple[int, ...]) -> Term:
    if term.mix is not None:
        return replace(term, mix=batch.columns(term.mix, places))
    factor = term.factor
    if factor is not None:
        wide = batch.columns(_expand(factor, 1), places)
        factor = blocks.reshape(wide, (wide.shape[0], len(places)))
    return replace(term, index=term.index[:, list(places)], factor=factor)


def _mixed(vectors: Vectors, matrix: Block) -> Vectors:
    """vectors @ matrix."""
    return tuple(replace(t, mix=matrix if t.mix is None else batch.matmul(t.mix, matrix)) for t in vectors)


def _scaled(vectors: Vectors, factor: Block) -> Vectors:
    """Each column times its factor, given as (s, 1, columns) or (s, 1, 1)."""
    out = []
    for term in vectors:
        if term.mix is not None:
            out.append(replace(term, mix=batch.times(factor, term.mix)))
            continue
        size = term.index.shape[1]
        own = batch.constant([[[1] * size]]) if term.factor is None else _expand(term.factor, 1)
        wide = batch.times(factor, own)
        out.append(replace(term, factor=blocks.reshape(wide, (wide.shape[0], size))))
    return tuple(out)
