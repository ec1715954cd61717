"""The operations of a `BlockKernel` as machine code: one pass over samples, whose intermediate values stay close by.

A row is an operation on tables of fixed shapes. Rows that only choose, turn or repeat entries are ways to read others;
an operation that is read once, entry by entry, is done where it is read; all others get a place of their own. What does
not depend on the sample is done once, before the pass. Sums go from the first term to the last, so that results differ
from those of NumPy in the last digits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from odesys.expr.graph import Node
from odesys.expr.tape import Tape
from odesys.jit.loops import compiled_loops

MOST_PLACES = 256  # entries that are chosen or put one by one
LONG_SUM = 16  # terms from which on sums with few results are added up side by side
FEW = 64  # such results

Index = tuple[str, ...]  # where to read, an expression for each axis
ELEMENTWISE = frozenset(("add", "multiply", "add constant", "multiple", "apply"))
VIEWS = frozenset(("reshape", "transpose", "spread"))
PRODUCTS = frozenset(("matmul", "from left", "from right", "contract"))
PLACED = PRODUCTS | {"sum", "take", "scatter", "shifted_exp"}


class NoCode(Exception):
    """An operation has no machine code here."""


@dataclass(frozen=True)
class Operation:
    """A row: what is done (as in the keys of `BlockKernel`), with which constants, on which rows, of which shape."""

    kind: str
    data: Any
    args: tuple[int, ...]
    shape: tuple[int, ...]


@dataclass
class _Writer:
    """The text of one function, for leaves of which some are the same for all samples."""

    operations: Mapping[int, Operation]
    shapes: Mapping[int, tuple[int, ...]]  # of leaves and of values that are given
    single: frozenset[int]  # of these, those that all samples share
    results: Sequence[int]
    parameters: Mapping[str, float]
    lines: list[str] = field(default_factory=list)
    tables: list[np.ndarray] = field(default_factory=list)
    places: dict[int, tuple[str, str]] = field(default_factory=dict)  # the array of a row, and where it begins in it
    scratch: int = 0
    names: int = 0
    depth: int = 1

    # ---- plan --------------------------------------------------------------------------------------------------------

    def plan(self) -> None:
        """Which rows are needed, which are shared by all samples, and which are done where they are read."""
        order: list[int] = []
        seen: set[int] = set()

        def visit(number: int) -> None:
            if number in seen or number in self.shapes:
                return
            seen.add(number)
            for arg in self.operations[number].args:
                visit(arg)
            order.append(number)

        for result in self.results:
            visit(result)
        self.order = order
        self.shared: set[int] = set(self.single)
        for number in order:
            made = self.operations[number]
            if made.kind not in ELEMENTWISE | VIEWS | PLACED:
                raise NoCode(made.kind)
            if self.shared.issuperset(made.args):
                self.shared.add(number)
        uses = Counter(self.results)
        for number in reversed(order):
            made = self.operations[number]
            for arg in made.args:
                uses[arg] += uses[number] if made.kind in VIEWS else 1
        self.written = set(self.results)
        for number in order:
            made = self.operations[number]
            if made.kind in PLACED or (made.kind in ELEMENTWISE and uses[number] > 1):
                self.written.add(number)
            # what reads entries more than once, or in another order, reads them from a place
            again = made.kind in PRODUCTS | {"take", "scatter", "shifted_exp"}
            for arg in made.args:
                wider = math.prod(self.shape(arg)) < math.prod(made.shape)
                if again or wider or (number not in self.shared and arg in self.shared):
                    self._place_source(arg)
            if made.kind == "reshape" and arg in self.operations and not _same_axes(made.shape, self.shape(arg)):
                self.written.add(arg)

    def _place_source(self, number: int) -> None:
        """Give the row behind ways of reading a place."""
        while number in self.operations and self.operations[number].kind in VIEWS:
            number = self.operations[number].args[0]
        if number in self.operations:
            self.written.add(number)

    def shape(self, number: int) -> tuple[int, ...]:
        """The shape of a row, without the axis of samples."""
        return self.shapes[number] if number in self.shapes else self.operations[number].shape

    # ---- text --------------------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """One more line."""
        self.lines.append("    " * self.depth + text)

    def name(self) -> str:
        """A name that is not yet used."""
        self.names += 1
        return f"v{self.names}"

    def loops(self, shape: Sequence[int]) -> Index:
        """Open loops over the entries of a shape."""
        index = []
        for size in shape:
            if size == 1:
                index.append("0")
                continue
            k = self.name()
            self.line(f"for {k} in range({size}):")
            self.depth += 1
            index.append(k)
        return tuple(index)

    def table(self, values: np.ndarray) -> str:
        """The name of a table of constants."""
        self.tables.append(np.ascontiguousarray(values, dtype=float))
        return f"c{len(self.tables) - 1}"

    def place(self, number: int, index: Index) -> str:
        """Where an entry of a row that has a place is."""
        array, first = self.places[number]
        return f"{array}[{_flat(self.shape(number), index, first)}]"

    def read(self, number: int, index: Index) -> str:
        """An entry of a row, as an expression; what is done where it is read comes in lines before."""
        if number in self.places:
            return self.place(number, index)
        made = self.operations[number]
        if made.kind == "reshape" and not _same_axes(made.shape, self.shape(made.args[0])):
            array, first = self.places[made.args[0]]
            return f"{array}[{_flat(made.shape, index, first)}]"
        if made.kind in VIEWS:
            return self.read(made.args[0], self.behind(made, index))
        values = [self.read(arg, _met(index, self.shape(arg))) for arg in made.args]
        name = self.name()
        self.line(f"{name} = {self.value(made, values, index)}")
        return name

    def behind(self, made: Operation, index: Index) -> Index:
        """Where a way of reading finds the entry."""
        inner = self.shape(made.args[0])
        if made.kind == "transpose":
            return (*index[:-2], index[-1], index[-2])
        if made.kind == "spread":
            return _met(index, inner)
        left = iter([k for k, size in zip(index, made.shape, strict=True) if size > 1])
        return tuple(next(left) if size > 1 else "0" for size in inner)

    def value(self, made: Operation, values: Sequence[str], index: Index) -> str:
        """The value of an operation that is done entry by entry."""
        if made.kind in ("add", "multiply"):
            return f"{values[0]} {'+' if made.kind == 'add' else '*'} {values[1]}"
        if made.kind in ("add constant", "multiple"):
            constant = np.asarray(made.data, dtype=float)
            if constant.ndim == 0 or constant.size == 1:
                text = _number(float(constant.reshape(-1)[0]))
            else:
                text = f"{self.table(constant)}[{_flat(constant.shape, _met(index, constant.shape), '')}]"
            return f"{values[0]} {'+' if made.kind == 'add constant' else '*'} {text}"
        return self.applied(made.data, values[0])

    def applied(self, function: Node, argument: str) -> str:
        """A function of one value."""
        if not argument.isidentifier():
            name = self.name()
            self.line(f"{name} = {argument}")
            argument = name
        texts: list[str] = []
        for op, what in Tape.of([function]).rows:
            if op == "num":
                text = _number(float(what))
            elif op == "sym":
                text = argument if what == "z" else _number(float(self.parameters[what]))
            elif op == "add":
                text = " + ".join(f"{_number(float(c))} * {texts[i]}" if c != 1 else texts[i] for c, i in what)
            elif op == "mul":
                text = _monomial([(texts[i], e) for i, e in what])
            elif op == "exp":
                text = f"math.exp({texts[what]})"
            elif op == "step":
                text = f"1.0 if {texts[what]} > 0.0 else (0.0 if {texts[what]} <= 0.0 else {texts[what]})"
            elif op == "sigmoid":
                text = f"1.0 / (1.0 + math.exp(-{texts[what]}))"
            else:
                raise NoCode(op)
            if op not in ("num", "sym"):
                name = self.name()
                self.line(f"{name} = {text}")
                text = name
            texts.append(text)
        return texts[-1]

    # ---- operations with a place -------------------------------------------------------------------------------------

    def row(self, number: int) -> None:
        """The lines of a row that has a place."""
        made, depth = self.operations[number], self.depth
        if number not in self.places:
            self.places[number] = "w", str(self.scratch)
            self.scratch += math.prod(made.shape)
        if made.kind in ELEMENTWISE or made.kind in VIEWS:
            index = self.loops(made.shape)
            own = self.places.pop(number)
            value = self.read(number, index)
            self.places[number] = own
            self.line(f"{self.place(number, index)} = {value}")
        elif made.kind in PRODUCTS or made.kind == "sum":
            self.summed(number, made)
        elif made.kind == "shifted_exp":
            index, (inner,) = self.loops(made.shape[:-1]), made.args
            top, k = self.name(), self.name()
            self.line(f"{top} = {self.read(inner, (*index, '0'))}")
            self.line(f"for {k} in range(1, {made.shape[-1]}):")
            self.line(f"    {top} = max({top}, {self.read(inner, (*index, k))})")
            self.line(f"for {k} in range({made.shape[-1]}):")
            value = self.read(inner, (*index, k))
            self.line(f"    {self.place(number, (*index, k))} = math.exp({value} - {top})")
        else:
            self.moved(number, made)
        self.depth = depth

    def summed(self, number: int, made: Operation) -> None:
        """Sums of products, or of entries, along an axis."""
        axis = len(made.shape) + made.data if made.kind in ("sum", "contract") else 0

        def along(arg: int) -> Callable[[Index, str], str]:
            return lambda index, k: self.read(arg, _met((*index[:axis], k, *index[axis + 1 :]), self.shape(arg)))

        if made.kind in ("sum", "contract"):
            length = max(self.shape(arg)[axis] for arg in made.args)
            factors = [along(arg) for arg in made.args]
        else:
            (left, above), (right, below) = self.sides(made)
            length = above[-1]
            factors = [
                lambda index, k: left(_met((*index[:-1], k), above)),
                lambda index, k: right(_met((*index[:-2], k, index[-1]), below)),
            ]
        k = self.name()
        if length >= LONG_SUM and math.prod(made.shape) <= FEW:
            index = self.loops(made.shape)
            self.line(f"{self.place(number, index)} = 0.0")
            self.depth -= len([size for size in made.shape if size > 1])
            self.line(f"for {k} in range({length}):")
            self.depth += 1
            index = self.loops(made.shape)
            term = " * ".join([factor(index, k) for factor in factors])
            self.line(f"{self.place(number, index)} = {self.place(number, index)} + {term}")
            return
        index, total = self.loops(made.shape), self.name()
        self.line(f"{total} = 0.0")
        self.line(f"for {k} in range({length}):")
        self.depth += 1
        term = " * ".join([factor(index, k) for factor in factors])
        self.line(f"{total} = {total} + {term}")
        self.depth -= 1
        self.line(f"{self.place(number, index)} = {total}")

    def sides(self, made: Operation) -> list[tuple[Callable[[Index], str], tuple[int, ...]]]:
        """The two factors of a product of matrices: how to read them, and their shapes."""
        found = [(partial(self.read, arg), self.shape(arg)) for arg in made.args]
        if made.kind == "matmul":
            return list(found)
        matrix = np.asarray(made.data, dtype=float)
        name = self.table(matrix)
        constant = (lambda index: f"{name}[{_flat(matrix.shape, index, '')}]"), matrix.shape
        return [constant, *found] if made.kind == "from left" else [*found, constant]

    def moved(self, number: int, made: Operation) -> None:
        """Entries chosen from, or put to, places."""
        (inner,) = made.args
        flat, shape = made.data, self.shape(inner)
        if len(flat) > MOST_PLACES or math.prod(made.shape) > MOST_PLACES:
            raise NoCode(made.kind)
        sources: list[list[int]] = [[] for _ in range(math.prod(made.shape))]
        for k, place in enumerate(flat):
            if made.kind == "take":
                sources[k].append(int(place))
            else:
                sources[int(place)].append(k)
        for k, found in enumerate(sources):
            terms = [self.read(inner, _place_of(shape, source)) for source in found]
            self.line(f"{self.place(number, _place_of(made.shape, k))} = {' + '.join(terms) if terms else '0.0'}")


def _same_axes(one: Sequence[int], other: Sequence[int]) -> bool:
    return [size for size in one if size > 1] == [size for size in other if size > 1]


def _met(index: Index, shape: Sequence[int]) -> Index:
    """Where a table of this shape, repeated, has the entry at an index."""
    last = index[len(index) - len(shape) :]
    return tuple("0" if size == 1 else k for k, size in zip(last, shape, strict=True))


def _flat(shape: Sequence[int], index: Index, first: str) -> str:
    """The place of an entry in a table without gaps."""
    parts, step = [], 1
    for size, k in zip(reversed(shape), reversed(index), strict=True):
        if size > 1 and k != "0":
            parts.append(k if step == 1 else f"({k}) * {step}")
        step *= size
    return " + ".join([*([first] if first not in ("", "0") else []), *reversed(parts)]) or "0"


def _place_of(shape: Sequence[int], flat: int) -> Index:
    return tuple(str(int(k)) for k in np.unravel_index(flat, shape)) if shape else ()


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise NoCode("a constant that is not finite")
    return f"({value!r})"


def _monomial(powers: Sequence[tuple[str, Any]]) -> str:
    above: list[str] = []
    below: list[str] = []
    for text, e in powers:
        if e.denominator != 1 or abs(e) > 8:
            raise NoCode("a power")
        (above if e > 0 else below).extend([text] * abs(int(e)))
    whole = " * ".join(above) or "1.0"
    return f"{whole} / ({' * '.join(below)})" if below else whole


class BlockCode:
    """A function of arrays (samples, *shape) by number of row, to the results (samples or 1, *shape)."""

    def __init__(self, writer: _Writer, given: Sequence[int]) -> None:
        self.given, self.results = tuple(given), tuple(writer.results)
        writer.plan()
        kept = [number for number in writer.results if number in writer.shared]
        for k, number in enumerate(given):
            size = math.prod(writer.shapes[number])
            writer.places[number] = f"a{k}", "0" if number in writer.single else f"s * {size}"
        self.shapes = []
        for k, number in enumerate(dict.fromkeys(writer.results)):
            shape = writer.shape(number)
            self.shapes.append(((1 if number in kept else None), shape))
            if number in writer.places:
                raise NoCode("a result that is given")
            writer.places[number] = f"r{k}", "0" if number in kept else f"s * {math.prod(shape)}"
        self.order = list(dict.fromkeys(writer.results))
        for number in writer.order:
            if number in writer.written and number in writer.shared:
                writer.row(number)
        writer.line("for s in range(count):")
        writer.depth += 1
        writer.line("u = 0.0")
        for number in writer.order:
            if number in writer.written and number not in writer.shared:
                writer.row(number)
        self.tables, self.scratch = writer.tables, np.empty(max(1, writer.scratch))
        arrays = [
            *(f"a{k}" for k in range(len(given))),
            *(f"r{k}" for k in range(len(self.order))),
            *(f"c{k}" for k in range(len(self.tables))),
            "w",
        ]
        head = f"def blocks(count: int, {', '.join(f'{name}: Array' for name in arrays)}) -> None:"
        self.text = "\n".join([head, *writer.lines, ""])
        made = compiled_loops(self.text)
        if made is None:
            raise NoCode("no machine code here")
        self.code = made["blocks"]

    def __call__(self, values: Sequence[Any], count: int) -> list[np.ndarray]:
        """The results, from values by number."""
        given = [np.ascontiguousarray(values[number], dtype=float) for number in self.given]
        out = [np.empty((count if one is None else 1, *shape)) for one, shape in self.shapes]
        self.code(count, *given, *out, *self.tables, self.scratch)
        by_number = dict(zip(self.order, out, strict=True))
        return [by_number[number] for number in self.results]


def block_code(
    operations: Mapping[int, Operation],
    shapes: Mapping[int, tuple[int, ...]],
    single: frozenset[int],
    results: Sequence[int],
    parameters: Mapping[str, float],
) -> BlockCode | None:
    """Machine code for the results, from rows of these shapes that are given; None where there is none."""
    try:
        return BlockCode(_Writer(operations, shapes, single, results, parameters), list(shapes))
    except NoCode:
        return None
