r"""Expressions of a program: matrices whose two sides are spaces, units or tokens, written with ``@``, ``+``, ``*``.

Free indices can only be contracted; functions act on listed ones. An expression is checked while it is written, so
that an error names the place in the user's own formula.

>>> from odesys import Space, Words, maps, softmax
>>> words, m = Words("a b"), Space("m")
>>> W_K, W_Q = maps("W_K W_Q", m, words)
>>> softmax(words.all.T @ W_K.T @ W_Q @ words.all)
softmax(words.all.T @ W_K.T @ W_Q @ words.all)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ModelError, OdesysError
from ..expr import graph
from ..expr.graph import ONE, ZERO, Node, as_node
from ..model.dictionary import exact_number
from ..model.paths import Letter
from .spaces import ONE_AXIS, Side, Space, Tokens, Units, Words, check_name, same_side, say_side

LONGEST_TEXT, DEEPEST_TEXT = 200, 10
_PRECEDENCE = {"add": 1, "times": 2, "matmul": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Expr:
    """A matrix of a program: an operation, its arguments, and what its rows and columns are.

    Operators: ``@`` contracts, ``+ - * /`` with numbers, parameter names and listed entries, ``.T``, columns by
    ``X[i]`` and ``X[:-1]``, ``.sum()``, ``.mean()``.

    Parameters
    ----------
    op : str
        The operation.
    args : tuple[Expr, ...]
        What it is applied to.
    rows : Side
        What its rows are: a space, or 1.
    columns : Side
        What its columns are.
    data : Any, optional
        What the operation needs besides arguments.

    Examples
    --------
    >>> from odesys import Units, Words, maps
    >>> words = Words("a b")
    >>> W, V = maps("W", Units("r", 3), words), maps("V", 1, Units("r", 3))
    >>> isinstance(W, Expr), V @ W @ words.all
    (True, V @ W @ words.all)
    """

    op: str
    args: tuple[Expr, ...]
    rows: Side
    columns: Side
    data: Any = None

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Expr:
        """NumPy leaves mixed operations to us: arrays are tables, and functions of numbers are said otherwise."""
        plain = {np.matmul: matmul, np.add: add, np.multiply: times}
        if method == "__call__" and not options and len(inputs) == 2:
            left, right = as_expr(inputs[0]), as_expr(inputs[1], column=ufunc is np.matmul)
            if ufunc in plain:
                return plain[ufunc](left, right)
            if ufunc in (np.subtract, np.true_divide):
                return left - right if ufunc is np.subtract else left / right
        raise ModelError(_no_numpy(ufunc.__name__))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Expr:
        """np.dot, np.sum and the like: the language has its own words for them."""
        raise ModelError(
            f"np.{function.__name__} does not know expressions of a program: write A @ B for products, A.T, A.sum(), "
            f"A.mean(), norm(A), softmax(A), and function(...) for what acts on every entry"
        )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"an expression of a program has no {name!r}: sizes are len(X) (tokens), X.count (with multiplicities) and "
            f"Units(...).size; operations are @ + - * / **, .T, .sum(), .mean(), X[i]"
        )

    def _sympy_(self) -> Any:
        raise ModelError(_no_numpy("exp"))

    __hash__ = object.__hash__

    # ---- algebra ---------------------------------------------------------------------------------------------------

    def __matmul__(self, other: Any) -> Expr:
        return matmul(self, as_expr(other, column=True))

    def __rmatmul__(self, other: Any) -> Expr:
        return matmul(as_expr(other), self)

    def __add__(self, other: Any) -> Expr:
        return add(self, as_expr(other))

    __radd__ = __add__

    def __neg__(self) -> Expr:
        return times(as_expr(-1), self)

    def __sub__(self, other: Any) -> Expr:
        return self + (-as_expr(other))

    def __rsub__(self, other: Any) -> Expr:
        return as_expr(other) + (-self)

    def __mul__(self, other: Any) -> Expr:
        return times(as_expr(other), self)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Expr:
        return times(as_expr(other) ** -1, self)

    def __rtruediv__(self, other: Any) -> Expr:
        return times(as_expr(other), self**-1)

    def __pow__(self, exponent: Any) -> Expr:
        power = exact_number(exponent, "an exponent", ModelError)
        if isinstance(power, float):
            raise ModelError(f"the exponent {exponent} is a float; write Fraction(1, 2) or sp.Rational(1, 2)")
        if power < 0 and self.op == "constant" and any(entry is ZERO for entry in self.data.flat):
            raise ModelError(f"{self} ** {power} divides by zero")
        if power == -1 and self.op == "constant" and self.data.size == 1:
            return Expr("constant", (), self.rows, self.columns, np.array([[1 / self.data[0, 0]]], dtype=object))
        return elementwise(graph.power(graph.sym("z"), power), self, f"(.)**{power}")

    def apply(self, function: Node, name: str) -> Expr:
        """A function of one number, given as a node in z, on every entry."""
        return elementwise(function, self, name)

    @property
    def T(self) -> Expr:
        """The transpose."""
        return self.args[0] if self.op == "transpose" else Expr("transpose", (self,), self.columns, self.rows)

    # ---- columns ---------------------------------------------------------------------------------------------------

    def __getitem__(self, item: Any) -> Expr:
        if isinstance(self.columns, Space):
            raise ModelError(
                f"{self} has columns in {say_side(self.columns)}, which are not listed; take X[i] of tokens"
            )
        size = self.columns.size
        try:
            chosen = tuple(range(size))[item]
        except IndexError:
            raise ModelError(f"{self} has {size} column{'s' * (size != 1)}, so there is no column {item}") from None
        except TypeError:
            raise ModelError(f"{self}[{item!r}]: a column is chosen by a whole number or a slice") from None
        places = (chosen,) if isinstance(chosen, int) else chosen
        if not places:
            raise ModelError(f"{self}[{item!r}] has no column left; the sample has {size} tokens")
        if isinstance(self.columns, Tokens):
            side: Side = Tokens(tuple(self.columns.positions[p] for p in places))
        else:
            own = self.columns.counts
            counts = None if own is None else tuple(own[p] for p in places)
            side = ONE_AXIS if len(places) == 1 else Units(self.columns.name, len(places), counts)
        return Expr("columns", (self,), self.rows, side, (places, item))

    def __len__(self) -> int:
        if isinstance(self.columns, Space):
            raise ModelError(f"{self} has columns in {say_side(self.columns)}, whose dimension is not a number")
        return self.columns.size

    def __iter__(self) -> Iterator[Expr]:
        return (self[i] for i in range(len(self)))

    def __abs__(self) -> Expr:
        return elementwise(graph.absolute(graph.sym("z")), self, "abs")

    def __float__(self) -> float:
        raise ModelError(f"{self} is an expression, not a number; its value is an observable of the derived system")

    def _compare(self, other: Any) -> Any:
        raise ModelError(f"{self} can not be compared: a program has no branches on numbers; use relu or function(...)")

    __lt__ = __le__ = __gt__ = __ge__ = _compare

    def __bool__(self) -> bool:
        raise ModelError(
            f"{self} has no truth value: a program is written without branches on numbers; use relu or step"
        )

    @property
    def count(self) -> Expr:
        """How many tokens there are: their number, or the sum of the counts of the sample."""
        return Expr("count", (), ONE_AXIS, ONE_AXIS, self._tokens("count"))

    @property
    def positions(self) -> Expr:
        """The position vectors of these tokens, as columns."""
        tokens = self._tokens("positions")
        if not isinstance(self.rows, Words) or max(tokens.positions) >= self.rows.positions:
            have = self.rows.positions if isinstance(self.rows, Words) else 0
            raise ModelError(
                f"the tokens reach position {max(tokens.positions) + 1}, but the words have {have} position vectors; "
                f"write Words(..., positions={max(tokens.positions) + 1})"
            )
        return Expr("positions", (), self.rows, tokens)

    def _tokens(self, what: str) -> Tokens:
        if not isinstance(self.columns, Tokens):
            raise ModelError(f"{self}.{what} is asked of tokens, but its columns are {say_side(self.columns)}")
        return self.columns

    # ---- sums ------------------------------------------------------------------------------------------------------

    def sum(self, axis: int | None = None) -> Expr:
        """The sum over all listed entries; with `axis` 0 or 1 over rows or columns only."""
        out = self
        if axis not in (None, 0, 1):
            raise ModelError(f"sum(axis={axis!r}): the axis is 0 (rows), 1 (columns) or left out")
        free = [side for side in (self.rows, self.columns) if isinstance(side, Space)]
        if len(free) == 2 or (axis is not None and isinstance((self.rows, self.columns)[axis], Space)):
            raise ModelError(f"{self} can not be summed over {say_side(free[0])}: its axes are not listed")
        for k, side in enumerate((self.rows, self.columns)):
            if axis in (None, k) and not isinstance(side, Space):
                rows, columns = (ONE_AXIS, out.columns) if k == 0 else (out.rows, ONE_AXIS)
                out = Expr("sum", (out,), rows, columns, k)
        return out

    def mean(self, axis: int | None = None) -> Expr:
        """The mean over all listed entries, or over rows (0) or columns (1)."""
        sizes = Fraction(1)
        over: list[Expr] = []
        for k, side in enumerate((self.rows, self.columns)):
            if axis not in (None, k) or isinstance(side, Space):
                continue
            if isinstance(side, Tokens) or side.counts is not None:
                over.append(Expr("count", (), ONE_AXIS, ONE_AXIS, side))
            else:
                sizes *= side.size
        out = self.sum(axis)
        for number in over:
            out = out / number
        return out * (1 / sizes) if sizes != 1 else out

    # ---- words -----------------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        text = write(self)
        return text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT - 50]} ... {text[-40:]}"


def _no_numpy(name: str) -> str:
    if name in ("maximum", "minimum", "fmax", "fmin"):
        return f"{name} of an expression of a program: max(x, 0) is relu(x), and max(x, y) is y + relu(x - y)"
    return (
        f"{name} of an expression of a program: write it as an activation, e.g. z = sympy.Symbol('z') and "
        f"function(sympy.{name}(z))(...), which acts on every entry"
    )


def write(expr: Expr, inside: int = 0, depth: int = 0) -> str:
    """An expression as it was typed, or nearly so; what lies deep is left out, since parts may be used many times."""
    if depth > DEEPEST_TEXT:
        return "..."
    parts = [write(a, _PRECEDENCE.get(expr.op, 3), depth + 1) for a in expr.args]
    if expr.op in ("tokens", "map", "words", "positions", "constant", "target"):
        return _leaf_text(expr)
    if expr.op == "transpose":
        return f"{parts[0]}.T"
    if expr.op == "columns":
        item = expr.data[1]
        if isinstance(item, slice):
            ends = (item.start, item.stop, *(() if item.step is None else (item.step,)))
            item = ":".join("" if v is None else str(v) for v in ends)
        return f"{parts[0]}[{item}]"
    if expr.op == "sum":
        return parts[0] if expr.args[0].op == "sum" else f"{parts[0]}.sum()"
    if expr.op == "count":
        return "X.count"
    if expr.op == "apply":
        return f"{expr.data[1]}({write(expr.args[0], 0, depth + 1)})"
    if expr.op in ("softmax", "norm", "cross_entropy", "relu"):
        return f"{expr.op}({', '.join(write(a, 0, depth + 1) for a in expr.args)})"
    symbol = {"add": " + ", "matmul": " @ ", "times": " * "}[expr.op]
    text = symbol.join(parts)
    return f"({text})" if _PRECEDENCE[expr.op] < inside else text


def _leaf_text(expr: Expr) -> str:
    if expr.op == "map":
        return str(expr.data)
    if expr.op == "constant":
        entries = expr.data
        return repr(entries[0, 0])[5:-1] if entries.size == 1 else f"a {entries.shape[0]} x {entries.shape[1]} table"
    return {"tokens": "X", "positions": "X.positions", "words": "words.all", "target": "y"}[expr.op]


# ---- leaves --------------------------------------------------------------------------------------------------------


def tokens(words: Words, length: int) -> Expr:
    """The matrix X of a sample with `length` tokens, one column per token."""
    return Expr("tokens", (), words, Tokens(tuple(range(length))))


def all_words(words: Words) -> Expr:
    """The matrix whose columns are the words (without positions)."""
    groups, counts = words.groups, None
    if groups is not None and groups.counts is not None:
        rest = len(words) - groups.kinds * groups.size
        counts = groups.counts * groups.kinds + (ONE,) * rest
    return Expr("words", (), words, Units("word", len(words), counts, words=words.words))


def maps(names: str, rows: Any, columns: Any, of: str = "") -> Any:
    """Linear maps by name, from `columns` to `rows`: one, or a tuple where several names are given.

    Parameters
    ----------
    names : str
        Names separated by blanks.
    rows : Any
        A `Space`, `Words`, `Units`, or 1 for a row vector.
    columns : Any
        A `Space`, `Words`, `Units`, or 1 for a column vector.
    of : str, optional
        The head (or layer) the maps belong to, part of the names of their scalars.

    Returns
    -------
    Expr or tuple of Expr
        One map, or as many as there are names.

    Examples
    --------
    >>> from odesys import Space, Words, maps
    >>> maps("W_K W_Q", Space("m"), Words("a b"), of="p")
    (W_K.p, W_Q.p)
    """
    if not isinstance(names, str) or not names.split():
        raise ModelError(f"maps are named by a string such as 'W_K W_Q', not {names!r}")
    if of:
        check_name(of, "a head")
    sides = _side(rows, "rows"), _side(columns, "columns")
    out = tuple(Expr("map", (), *sides, Letter(check_name(name, "a map"), of=of)) for name in names.split())
    if len(set(names.split())) != len(out):
        raise ModelError(f"a map stands twice in {names!r}; each map once")
    return out if len(out) > 1 else out[0]


def _side(side: Any, what: str) -> Side:
    if isinstance(side, (Space, Units)):
        return side
    if isinstance(side, int) and not isinstance(side, bool):
        if side == 1:
            return ONE_AXIS
        raise ModelError(f"{what}={side} are that many axes without a name: list them with Units('r', {side})")
    raise ModelError(f"{what} of a map are a Space, Words, Units or 1, not {side!r}")


def as_expr(value: Any, column: bool = False) -> Expr:
    """A number, the name of a parameter, a SymPy expression, or a list (of lists) of them, as an expression.

    A flat list is a row; behind ``@`` it is a column.
    """
    if isinstance(value, Expr):
        return value
    if isinstance(value, (list, tuple, np.ndarray)):
        return _table(value, column)
    try:
        node = value if isinstance(value, Node) else as_node(value)
    except (OdesysError, TypeError, ValueError):
        raise ModelError(
            f"{value!r} can not stand in a program; use maps, tokens, numbers and parameter names"
        ) from None
    return Expr("constant", (), ONE_AXIS, ONE_AXIS, np.array([[node]], dtype=object))


def _table(values: Any, column: bool) -> Expr:
    rows = [list(r) if isinstance(r, (list, tuple, np.ndarray)) else r for r in values]
    if not rows:
        raise ModelError("an empty list can not stand in a program")
    flat = not isinstance(rows[0], list)
    if flat:
        rows = [[v] for v in rows] if column else [rows]
    if any(not isinstance(r, list) or len(r) != len(rows[0]) for r in rows) or not rows[0]:
        raise ModelError("a table in a program has rows of one length")
    nodes = np.array([[as_expr(v).data[0, 0] for v in r] for r in rows], dtype=object)
    sides = [ONE_AXIS if n == 1 else Units("entry", n) for n in nodes.shape]
    return Expr("constant", (), sides[0], sides[1], nodes)


# ---- operations ----------------------------------------------------------------------------------------------------


def matmul(left: Expr, right: Expr) -> Expr:
    """The matrix product, contracting the columns of `left` with the rows of `right`."""
    if not same_side(left.columns, right.rows):
        one = {True: "; a number is multiplied by *"}.get(_is_scalar(left) or _is_scalar(right), "")
        raise ModelError(
            f"{left} @ {right} does not fit: the left has columns in {say_side(left.columns)}, the right rows in "
            f"{say_side(right.rows)}{one}"
        )
    return Expr("matmul", (left, right), left.rows, right.columns)


def add(left: Expr, right: Expr) -> Expr:
    """The sum; a single listed row, column or number is repeated."""
    sides = []
    for a, b in ((left.rows, right.rows), (left.columns, right.columns)):
        if same_side(a, b):
            sides.append(b if isinstance(b, Tokens) else a)
        elif isinstance(a, Space) or isinstance(b, Space) or 1 not in (a.size, b.size):
            raise ModelError(
                f"{left} + {right} does not fit: {say_side(left.rows)} by {say_side(left.columns)}, and "
                f"{say_side(right.rows)} by {say_side(right.columns)}"
            )
        else:
            sides.append(b if a.size == 1 else a)
    return Expr("add", (left, right), sides[0], sides[1])


def times(factor: Expr, matrix: Expr) -> Expr:
    """The product entry by entry; vectors of a free space are multiplied by a number, or by one per column."""
    if is_listed(matrix) and not is_listed(factor):
        factor, matrix = matrix, factor
    if not is_listed(factor):
        raise ModelError(
            f"{factor} * {matrix} multiplies vectors of {say_side(free_side(factor))} entry by entry, but its axes "
            f"are not listed: use @ for inner products, or list the axes with Units"
        )
    if is_listed(matrix):
        sides = []
        for a, b in ((factor.rows, matrix.rows), (factor.columns, matrix.columns)):
            if not same_side(a, b) and 1 not in (a.size, b.size):  # type: ignore[union-attr]
                raise ModelError(
                    f"{factor} * {matrix} does not fit: {say_side(factor.rows)} by {say_side(factor.columns)}, and "
                    f"{say_side(matrix.rows)} by {say_side(matrix.columns)}"
                )
            sides.append(_wider(a, b))
        return Expr("times", (factor, matrix), sides[0], sides[1])
    row_ok = _is_scalar(factor)
    column_ok = isinstance(matrix.rows, Space) and factor.rows.size == 1 and same_side(factor.columns, matrix.columns)  # type: ignore[union-attr]
    side_ok = isinstance(matrix.columns, Space) and factor.columns.size == 1 and same_side(factor.rows, matrix.rows)  # type: ignore[union-attr]
    if not (row_ok or column_ok or side_ok):
        raise ModelError(
            f"{factor} * {matrix} does not fit: vectors are multiplied by one number, or by one per vector"
        )
    rows, columns = (
        b if isinstance(b, Space) else _wider(a, b)
        for a, b in ((factor.rows, matrix.rows), (factor.columns, matrix.columns))
    )
    return Expr("times", (factor, matrix), rows, columns)


def _wider(a: Side, b: Side) -> Side:
    """The side of a product: the longer one; of two single ones that of a token, which may have a count."""
    if a.size == b.size == 1:  # type: ignore[union-attr]
        return a if isinstance(a, Tokens) else b
    return b if a.size == 1 else a  # type: ignore[union-attr]


def elementwise(function: Node, argument: Any, name: str) -> Expr:
    """A function of one number on every entry."""
    expr = as_expr(argument)
    if not is_listed(expr):
        side = free_side(expr)
        if isinstance(side, Words):
            raise ModelError(
                f"{name} acts on numbers, but {expr} are vectors of {say_side(side)}, whose axes are not listed: take "
                f"inner products with words.all, or map to listed axes first with maps('W', Units('r', n), words)"
            )
        raise ModelError(
            f"{name} acts on numbers, but {expr} are vectors of {side.name}, whose axes are not listed: take inner "
            f"products, or list the axes with Units('{side.name}', n)"
        )
    return Expr("apply", (expr,), expr.rows, expr.columns, (function, name))


def is_listed(expr: Expr) -> bool:
    """True if both sides are listed."""
    return not isinstance(expr.rows, Space) and not isinstance(expr.columns, Space)


def _is_scalar(expr: Expr) -> bool:
    return is_listed(expr) and expr.rows.size == expr.columns.size == 1  # type: ignore[union-attr]


def free_side(expr: Expr) -> Space:
    """The side that is free, where one is."""
    return next(side for side in (expr.rows, expr.columns) if isinstance(side, Space))
