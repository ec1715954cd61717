r"""Blocks as a straight list of NumPy calls, with the networks of an ensemble as one more axis in front.

Made once and run at every step of training, as machine code where all operations have some (`block_code`). Constants
are folded, equal operations are done once, factors of one are dropped, large sums of products are matrix products, and
what no result needs is left out. What depends on the samples alone is kept until other samples come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from odesys.expr import blocks, graph
from odesys.expr.blocks import Block
from odesys.expr.graph import Node
from odesys.expr.tape import ARRAYS, Tape
from odesys.model.loss import LOGISTIC

from .block_code import BlockCode, Operation, block_code

Work = Callable[..., np.ndarray]
VARYING = " "  # the leaf of parameters that differ along the first axis, one column each
SHORT_ROW = 8  # from here on NumPy adds up by pairs
LARGE = 2000  # entries of a product from which on its sum is a matrix product: below, one more call costs more


@dataclass(frozen=True)
class Slot:
    """A value that depends on the leaves: its number, and its shape without the axis of networks."""

    number: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Spread:
    """A value repeated to a larger shape, not yet written out."""

    inner: Slot
    shape: tuple[int, ...]


Value = np.ndarray | Slot | Spread


class BlockKernel:
    """The values of some blocks as one function of leaf arrays (networks, rows, columns).

    >>> import numpy as np
    >>> from odesys import blocks
    >>> W = blocks.leaf("W", (1, 2))
    >>> kernel = BlockKernel([W @ W.T], {})
    >>> kernel({"W": np.array([[[3.0, 4.0]], [[1.0, 0.0]]])})[0].tolist()
    [[[25.0]], [[1.0]]]
    """

    def __init__(
        self,
        roots: Sequence[Block],
        parameters: Mapping[str, float],
        varying: Sequence[str] = (),
        often: bool = False,
    ) -> None:
        self.parameters, self.varying, self.often = dict(parameters), tuple(varying), often
        self.leaves: dict[str, int] = {}
        self.known: dict[Any, Value] = {}
        self.rows: list[tuple[int, Work, tuple[int, ...]]] = []
        self.scaled: dict[int, tuple[np.ndarray, Slot]] = {}
        self.taken: dict[int, tuple[np.ndarray, Slot]] = {}
        self.products: dict[int, tuple[Slot, Slot]] = {}
        self.operations: dict[int, Operation] = {}
        self.shapes: dict[int, tuple[int, ...]] = {}
        self.codes: dict[frozenset[int], BlockCode | None] = {}
        self.count = 0
        self.kept: tuple[np.ndarray, list[Any]] | None = None
        memo: dict[int, Value] = {}
        for block in blocks.topological(roots):
            memo[id(block)] = self._value(block, [memo[id(a)] for a in block.args])
        results = [memo[id(root)] for root in roots]
        self.results = [r if isinstance(r, np.ndarray) else self._written(r) for r in results]
        self._prune()

    def __call__(self, leaves: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        """The values, each with the axis of networks in front."""
        values: list[Any] = self._of_samples(leaves[VARYING]) if VARYING in self.leaves else [None] * self.count
        for name, number in self.leaves.items():
            values[number] = leaves[name]
        self._fill(values)
        networks = len(next(iter(leaves.values())))
        return [
            np.broadcast_to(r, (networks, *r.shape)) if isinstance(r, np.ndarray) else values[r.number]
            for r in self.results
        ]

    def _fill(self, values: list[Any]) -> None:
        """Compute the results, by machine code where there is some for these numbers, else row by row."""
        given = [values[number] for number in self.given]
        if self.often and all(type(value) is np.ndarray for value in given):
            count = max(map(len, given), default=0)
            if all(len(value) in (1, count) for value in given):
                single = frozenset(k for k, v in zip(self.given, given, strict=True) if len(v) == 1 < count)
                if single not in self.codes:
                    self.codes[single] = self._code(single)
                code = self.codes[single]
                if code is not None:
                    for number, value in zip(code.results, code(values, count), strict=True):
                        values[number] = value
                    return
        for number, work, first, second in self.plan:
            values[number] = work(values[first]) if second is None else work(values[first], values[second])

    def _code(self, single: frozenset[int]) -> BlockCode | None:
        made = {row[0] for row in self.plan}
        results = [r.number for r in self.results if isinstance(r, Slot) and r.number in made]
        shapes = {number: self.shapes[number] for number in self.given}
        return block_code(self.operations, shapes, single, results, self.parameters) if results else None

    def _of_samples(self, given: np.ndarray) -> list[Any]:
        """All values, with those filled in that depend on the samples alone: kept, as steps repeat the samples."""
        if self.kept is None or not np.array_equal(self.kept[0], given):
            values: list[Any] = [None] * self.count
            values[self.leaves[VARYING]] = given = given.copy()
            for number, work, first, second in self.of_samples:
                values[number] = work(values[first]) if second is None else work(values[first], values[second])
                values[number].flags.writeable = False
            self.kept = given, values
        return list(self.kept[1])

    # ---- making ----------------------------------------------------------------------------------------------------

    def _row(self, key: Any, work: Work, args: Sequence[Slot], shape: tuple[int, ...], data: Any = None) -> Slot:
        """The slot of an operation, which is done once however often it occurs."""
        known = self.known.get(key)
        if isinstance(known, Slot):
            return known
        slot = Slot(self.count, shape)
        self.count += 1
        self.known[key] = slot
        self.rows.append((slot.number, work, tuple(a.number for a in args)))
        self.shapes[slot.number] = shape
        self.operations[slot.number] = Operation(key[0], data, self.rows[-1][2], shape)
        return slot

    def _prune(self) -> None:
        needed = {r.number for r in self.results if isinstance(r, Slot)}
        kept = []
        for row in reversed(self.rows):
            if row[0] in needed:
                needed.update(row[2])
                kept.append(row)
        self.rows = kept[::-1]
        fixed = {self.leaves[VARYING]} if VARYING in self.leaves else set()
        for number, _, args in self.rows:
            if fixed.issuperset(args):
                fixed.add(number)
        plan = [(n, work, args[0], args[1] if len(args) > 1 else None) for n, work, args in self.rows]
        self.of_samples, self.plan = ([row for row in plan if (row[0] in fixed) is which] for which in (True, False))
        made = {row[0] for row in self.plan}
        read = dict.fromkeys(k for row in self.plan for k in row[2:] if k is not None and k not in made)
        self.given = tuple(read)

    def _written(self, value: Slot | Spread) -> Slot:
        if isinstance(value, Slot):
            return value
        shape, inner = value.shape, self._aligned(value.inner, len(value.shape))
        key = ("spread", inner.number, shape)
        return self._row(key, lambda x: np.broadcast_to(x, (len(x), *shape)), [inner], shape)

    def _aligned(self, slot: Slot, dimensions: int) -> Slot:
        """The same with axes of length one in front, so that the axes of networks stand above each other."""
        if len(slot.shape) >= dimensions:
            return slot
        return self._reshaped(slot, (1,) * (dimensions - len(slot.shape)) + slot.shape)

    def _reshaped(self, slot: Slot, shape: tuple[int, ...]) -> Slot:
        if shape == slot.shape:
            return slot
        return self._row(("reshape", slot.number, shape), lambda x: x.reshape(-1, *shape), [slot], shape)

    def _value(self, block: Block, args: list[Value]) -> Value:
        op, shape = block.op, block.shape
        if op == "leaf":
            if block.data not in self.leaves:
                self.leaves[block.data] = self.count
                self.shapes[self.count] = shape
                self.count += 1
            return Slot(self.leaves[block.data], shape)
        if self.varying and op == "constant" and graph.symbols(list(block.data.flat)) & set(self.varying):
            return self._varied(block)
        if all(isinstance(a, np.ndarray) for a in args):
            numbers: list[np.ndarray] = args  # type: ignore[assignment]
            with np.errstate(all="ignore"):
                return np.asarray(blocks.evaluate_op(block, numbers, {}, self.parameters, None), dtype=float)
        if op == "log_sum_exp" and len(args) > 1:  # an entry stands for so many equal ones
            args = [self._sum([args[0], self._logarithm(args[1])], block.args[0].shape)]
        if op == "add":
            return self._sum(args, shape)
        if op == "multiply":
            return self._product(args[0], args[1], shape)
        if op == "reshape" and isinstance(args[0], Spread):
            narrow = _narrow(args[0], shape)
            if narrow is not None:
                return Spread(self._reshaped(args[0].inner, narrow), shape)
        slots = [a if isinstance(a, np.ndarray) else self._written(a) for a in args]
        if op == "matmul":
            return self._matmul(slots[0], slots[1], shape)
        assert isinstance(slots[0], Slot)
        return self._unary(block, slots[0])

    def _logarithm(self, counts: Value) -> Value:
        if isinstance(counts, np.ndarray):
            with np.errstate(all="ignore"):
                return np.log(counts)
        slot = self._written(counts)
        return self._row(("log", slot.number), np.log, [slot], slot.shape)

    def _varied(self, block: Block) -> Slot:
        """A table with parameters that differ along the first axis; equal entries are computed once."""
        number = self.leaves.get(VARYING)
        if number is None:
            number = self.leaves[VARYING] = self.count
            self.shapes[number] = (len(self.varying),)
            self.count += 1
        nodes = list(dict.fromkeys(block.data.flat))
        places = np.array([nodes.index(node) for node in block.data.flat])
        tape, rest, varying = Tape.of(nodes).over(ARRAYS), self.parameters, self.varying

        def work(given: np.ndarray) -> np.ndarray:
            values = tape({**rest, **dict(zip(varying, given.T, strict=True))})
            table = np.stack([np.broadcast_to(np.asarray(v, dtype=float), len(given)) for v in values], axis=1)
            return table[:, places].reshape(len(given), *block.shape)

        key = ("varied", tuple(nodes), places.tobytes(), block.shape)
        return self._row(key, work, [Slot(number, (len(varying),))], block.shape)

    def _sum(self, args: Sequence[Value], shape: tuple[int, ...]) -> Value:
        constant: np.ndarray | None = None
        total: Slot | None = None
        for value in args:
            if isinstance(value, np.ndarray):
                constant = value if constant is None else constant + value
                continue
            slot = self._aligned(value.inner if isinstance(value, Spread) else value, len(shape))
            total = slot if total is None else self._binary("add", np.add, total, slot)
        assert total is not None
        if constant is not None and constant.any():
            key = ("add constant", total.number, constant.shape, constant.tobytes())
            number, together = constant, np.broadcast_shapes(total.shape, constant.shape)
            total = self._row(key, lambda x: x + number, [self._aligned(total, len(together))], together, number)
        return total if total.shape == shape else Spread(total, shape)

    def _binary(self, op: str, work: Work, left: Slot, right: Slot) -> Slot:
        together = np.broadcast_shapes(left.shape, right.shape)
        pair = [self._aligned(left, len(together)), self._aligned(right, len(together))]
        made = self._row((op, *sorted(s.number for s in pair)), work, pair, together)
        if op == "multiply":
            self.products[made.number] = pair[0], pair[1]
        return made

    def _product(self, left: Value, right: Value, shape: tuple[int, ...]) -> Value:
        if isinstance(right, np.ndarray):
            left, right = right, left
        inner = right.inner if isinstance(right, Spread) else right
        assert isinstance(inner, Slot)
        if not isinstance(left, np.ndarray):
            other = left.inner if isinstance(left, Spread) else left
            made = self._binary("multiply", np.multiply, other, inner)
        else:
            made = self._multiple(left, inner)
        return made if made.shape == shape else Spread(made, shape)

    def _multiple(self, factor: np.ndarray, slot: Slot) -> Slot:
        """A constant times a value; constants that follow each other become one."""
        if factor.size and (factor == factor.flat[0]).all():
            factor = np.asarray(factor.flat[0])
        if slot.number in self.scaled:
            before, base = self.scaled[slot.number]
            if np.broadcast_shapes(factor.shape, slot.shape) == np.broadcast_shapes(
                factor.shape, before.shape, base.shape
            ):
                factor, slot = factor * before, base
        together = np.broadcast_shapes(factor.shape, slot.shape)
        if (factor == 1.0).all() and together == slot.shape:
            return slot
        key = ("multiple", slot.number, factor.shape, factor.tobytes())
        made = self._row(key, lambda x: x * factor, [self._aligned(slot, len(together))], together, factor)
        self.scaled[made.number] = (factor, slot)
        return made

    def _matmul(self, left: np.ndarray | Slot, right: np.ndarray | Slot, shape: tuple[int, ...]) -> Slot:
        if isinstance(left, np.ndarray) and isinstance(right, Slot):
            matrix = left
            return self._row(
                ("from left", left.shape, left.tobytes(), right.number), lambda x: matrix @ x, [right], shape, left
            )
        if isinstance(right, np.ndarray) and isinstance(left, Slot):
            other = right
            return self._row(
                ("from right", left.number, right.shape, right.tobytes()), lambda x: x @ other, [left], shape, right
            )
        assert isinstance(left, Slot) and isinstance(right, Slot)
        return self._row(("matmul", left.number, right.number), np.matmul, [left, right], shape)

    def _summed(self, slot: Slot, axis: int, shape: tuple[int, ...]) -> Slot:
        """The sum along an axis, counted from behind; that of a large product is a matrix product."""
        large = math.prod(slot.shape) >= LARGE
        if large and slot.number in self.products:
            left, right = self.products[slot.number]
            if right.shape[axis] == 1:
                left, right = right, left
            if left.shape[axis] == 1:  # a factor that all terms have
                inner = self._summed(right, axis, (*right.shape[:axis], 1, *right.shape[len(shape) + axis + 1 :]))
                return self._binary("multiply", np.multiply, left, inner)
            if math.prod(slot.shape) > max(math.prod(left.shape), math.prod(right.shape)):
                key = ("contract", left.number, right.number, axis)
                return self._row(key, _contraction(left.shape, right.shape, axis), [left, right], shape, axis)
        if large and axis == -1:  # NumPy adds up short rows one by one
            ones = np.ones((slot.shape[-1], 1))
            return self._row(("sum", slot.number, axis), lambda x: x @ ones, [slot], shape, axis)
        return self._row(("sum", slot.number, axis), _summing(axis, slot.shape[axis]), [slot], shape, axis)

    def _gathered(self, slot: Slot, places: np.ndarray, shape: tuple[int, ...]) -> Slot:
        """Entries of a value at flat places; signs are put in behind, and turned matrices are views."""
        factor, base = self.scaled.get(slot.number, (None, slot))
        if factor is not None and base.shape == slot.shape and factor.shape in ((), slot.shape):
            taken = factor if factor.shape == () else factor.reshape(-1)[places]
            return self._multiple(taken, self._gathered(base, places, shape))
        if slot.number in self.taken:
            before, base = self.taken[slot.number]
            return self._gathered(base, before.reshape(-1)[places], shape)
        if len(slot.shape) > 1 and shape == (*slot.shape[:-2], slot.shape[-1], slot.shape[-2]):
            turned = np.arange(math.prod(slot.shape)).reshape(slot.shape).swapaxes(-1, -2)
            if np.array_equal(turned, places):
                return self._row(("transpose", slot.number), _UNARY["transpose"], [slot], shape)
        flat = np.ascontiguousarray(places).reshape(-1)
        if len(flat) == math.prod(slot.shape) and np.array_equal(flat, np.arange(len(flat))):
            return self._reshaped(slot, shape)
        made = self._row(("take", slot.number, shape, flat.tobytes()), _taking(flat, shape), [slot], shape, flat)
        self.taken[made.number] = (places, slot)
        return made

    def _scattered(self, slot: Slot, places: np.ndarray, shape: tuple[int, ...]) -> Slot:
        """The adjoint: where every place is met once it is a choice of entries as well."""
        flat = np.ascontiguousarray(places).reshape(-1)
        if len(flat) == math.prod(shape) == len(np.unique(flat)):
            return self._gathered(slot, np.argsort(flat).reshape(shape), shape)
        return self._row(("scatter", slot.number, shape, flat.tobytes()), _scattering(flat, shape), [slot], shape, flat)

    def _unary(self, block: Block, slot: Slot) -> Slot:
        op, shape = block.op, block.shape
        if op == "reshape":
            return self._reshaped(slot, shape)
        if op in ("take", "scatter"):
            table = slot.shape if op == "take" else shape
            places = np.ravel_multi_index(np.broadcast_arrays(*block.data), table)
            if op == "scatter":
                places = np.broadcast_to(places, slot.shape)
            return self._gathered(slot, places, shape) if op == "take" else self._scattered(slot, places, shape)
        if op == "sum":
            return self._summed(slot, block.data - len(slot.shape), shape)
        if op == "apply":
            return self._row(
                (op, slot.number, block.data), _function(block.data, self.parameters), [slot], shape, block.data
            )
        return self._row((op, slot.number), _UNARY[op], [slot], shape)


def _narrow(value: Spread, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of the value before it is repeated, in a new shape that only adds or drops axes of length one."""
    inner = (1,) * (len(value.shape) - len(value.inner.shape)) + value.inner.shape
    kept = [own for own, full in zip(inner, value.shape, strict=True) if full != 1]
    if [full for full in value.shape if full != 1] != [full for full in shape if full != 1]:
        return None
    sizes = iter(kept)
    return tuple(1 if full == 1 else next(sizes) for full in shape)


def _contraction(left: tuple[int, ...], right: tuple[int, ...], axis: int) -> Work:
    """The sum along an axis of the product of two values of these shapes, as products of matrices.

    Axes that both have number the products, those of one alone are its rows or columns.
    """
    last = len(left)  # axes are counted from 1, behind that of networks
    at = last + axis + 1
    kinds: dict[tuple[bool, bool], list[int]] = {(True, True): [], (True, False): [], (False, True): []}
    for k, (a, b) in enumerate(zip(left, right, strict=True), 1):
        if k != at and (a > 1 or b > 1):
            kinds[a > 1, b > 1].append(k)
    both, rows, columns = kinds.values()
    still = [k for k in range(1, last + 1) if k not in (*both, *rows, *columns, at)]
    orders = (0, *both, *rows, at, *columns, *still), (0, *both, *rows, *still, at, *columns)
    sizes = [left[k - 1] for k in both]
    first = *sizes, math.prod(left[k - 1] for k in rows), left[at - 1]
    second = *sizes, right[at - 1], math.prod(right[k - 1] for k in columns)
    order = 0, *both, *rows, *columns, at, *still
    whole = [max(left[k - 1], right[k - 1]) if k != at else 1 for k in order[1:]]
    back = np.argsort(order).tolist()

    def work(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        made = x.transpose(orders[0]).reshape(len(x), *first) @ y.transpose(orders[1]).reshape(len(y), *second)
        summed: np.ndarray = made.reshape(len(made), *whole).transpose(back)
        return summed

    return work


def _summing(axis: int, length: int) -> Work:
    """The sum along an axis; NumPy goes through a short last one row by row, here it is added column by column."""
    if axis != -1 or not 1 < length < SHORT_ROW:
        return lambda x: np.add.reduce(x, axis=axis, keepdims=True)

    def work(x: np.ndarray) -> np.ndarray:
        rows = isinstance(x, np.ndarray) and x.size > LARGE and x.strides[-1] == x.itemsize
        if not rows:
            found: np.ndarray = np.add.reduce(x, axis=axis, keepdims=True)
            return found
        total: np.ndarray = x[..., :1] + x[..., 1:2]
        for k in range(2, length):
            total += x[..., k : k + 1]
        return total

    return work


def _step(x: np.ndarray) -> np.ndarray:
    """As np.heaviside(x, 0), which is slow; what is not a number stays so."""
    out: np.ndarray
    if not isinstance(x, np.ndarray):  # numbers beyond the range of floats
        out = np.maximum(np.sign(x), 0.0)
        return out
    out = (x > 0.0).astype(float)
    lost = x != x
    if lost.any():
        out[lost] = math.nan
    return out


def _taking(flat: np.ndarray, shape: tuple[int, ...]) -> Work:
    return lambda x: x.reshape(len(x), -1).take(flat, axis=1).reshape(-1, *shape)


def _scattering(flat: np.ndarray, shape: tuple[int, ...]) -> Work:
    total, offsets = math.prod(shape), {1: flat}

    def work(x: np.ndarray) -> np.ndarray:
        networks = len(x)
        if networks not in offsets:
            offsets[networks] = (np.arange(networks)[:, None] * total + flat).reshape(-1)
        return np.bincount(offsets[networks], x.reshape(-1), networks * total).reshape(networks, *shape)

    return work


def _shifted_exp(x: np.ndarray) -> np.ndarray:
    out: np.ndarray = x - np.maximum.reduce(x, axis=-1, keepdims=True)
    np.exp(out, out=out)
    return out


_UNARY: dict[str, Work] = {
    "transpose": lambda x: x.mT,
    "shifted_exp": _shifted_exp,
    "log_sum_exp": blocks.array_log_sum_exp,
}


_RECIPROCAL_SLOPE = graph.gradient(blocks.RECIPROCAL, [blocks.Z])[0]


def _function(function: Node, parameters: Mapping[str, float]) -> Work:
    if function is blocks.RECIPROCAL:
        return np.reciprocal
    if function is blocks.STEP:
        return _step
    if function is _RECIPROCAL_SLOPE:
        return lambda x: -1.0 / (x * x)
    if function is LOGISTIC.slope:
        return lambda x: -expit(-x)
    program, rest = Tape.of([function]).over(ARRAYS), {k: parameters[k] for k in graph.symbols([function]) - {"z"}}

    def work(x: np.ndarray) -> np.ndarray:
        value: np.ndarray = program({**rest, "z": x})[0]
        if getattr(value, "shape", ()) != x.shape:  # the function is constant
            value = np.broadcast_to(np.asarray(value, dtype=float), x.shape)
        return value

    return work
