"""What can be written, and one teaching sentence for what can not."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from odesys import OdesysError, Space, Units, Words, cross_entropy, function, maps, norm, relu, softmax
from odesys.expr import graph
from odesys.program.expressions import Expr, as_expr, tokens, write
from odesys.program.spaces import Groups, Tokens

WORDS, M, R = Words("a b c", positions=3), Space("m"), Units("r", 2)
W_K, W_Q = maps("W_K W_Q", M, WORDS)
W, V, Z = maps("W", R, WORDS), maps("V", 1, R), maps("Z", WORDS, WORDS)
X = tokens(WORDS, 3)


@pytest.mark.parametrize(
    ("expr", "text", "rows", "columns"),
    [
        (softmax(X.T @ W_K.T @ W_Q @ X), "softmax(X.T @ W_K.T @ W_Q @ X)", 3, 3),
        (V @ relu(W @ X[0] + "b"), "V @ relu(W @ X[0] + b)", 1, 1),
        ((W @ X[:-1]).mean(1), None, 2, 1),
        (X[1:].T @ Z @ X[-1] / 2, None, 2, 1),
        (norm(Z @ X), "norm(Z @ X)", 1, 3),
        ([[1, -1]] @ relu(W @ X), None, 1, 3),
        (np.array([[1, -1]]) @ relu(W @ X) + np.ones((1, 3)), None, 1, 3),
        (abs(W @ X), "abs(W @ X)", 2, 3),
        (WORDS.all.T @ Z @ X[0], "words.all.T @ Z @ X[0]", 3, 1),
    ],
)
def test_shapes_and_text(expr, text: str | None, rows: int, columns: int) -> None:
    assert (expr.rows.size, expr.columns.size) == (rows, columns)
    assert text is None or str(expr) == text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: relu(W_K @ X), r"relu acts on numbers, but W_K @ X are vectors of m, .* Units\('m', n\)"),
        (lambda: softmax(W_K @ X), "softmax acts on numbers"),
        (lambda: W_K @ W_Q, "does not fit: the left has columns in the space of the words a"),
        (lambda: X @ X, "does not fit"),
        (lambda: W_K @ X + W @ X, "does not fit: the space m by 3 tokens, and 2 r by 3 tokens"),
        (lambda: (W_K @ X) * (W_Q @ X), "entry by entry, but its axes are not listed"),
        (lambda: softmax(X.T @ Z @ X, mask=lambda key, query: key < query), "hides every key from the query at pos"),
        (lambda: softmax(X.T @ Z @ X, mask="causal"), "mask is a function of two positions"),
        (lambda: X[3], "there is no column 3"),
        (lambda: X[:1][4], "has 1 column, so there is no column 4"),
        (lambda: X[5:], "has no column left"),
        (lambda: maps("W", 4, WORDS), r"list them with Units\('r', 4\)"),
        (lambda: maps("W W", M, WORDS), "stands twice"),
        (lambda: maps("", M, WORDS), "named by a string"),
        (lambda: function("z**2"), "not a text"),
        (lambda: function(sp.Symbol("x")), "does not contain z"),
        (lambda: function(lambda z: z), "not a Python function"),
        (lambda: cross_entropy(V @ W @ X[0], 1), "one entry per class"),
        (lambda: tokens(WORDS, 4).positions, "have 3 position vectors"),
        (lambda: W_K.sum(), "can not be summed"),
        (lambda: bool(V @ W @ X[0]), "has no truth value"),
        (lambda: (V @ W @ X[0]) ** 0.5, "is a float"),
        (lambda: sp.tanh(V @ W @ X[0]), "write it as an activation"),
        (lambda: np.tanh(V @ W @ X[0]), r"function\(sympy.tanh\(z\)\)"),
        (lambda: V @ W @ X[0] > 0, "can not be compared"),
        (lambda: float(V @ W @ X[0]), "is an expression, not a number"),
        (lambda: softmax(V @ W @ X), "softmax runs over rows"),
        (lambda: softmax(X.T @ Z @ X, mask=lambda key: True), "a mask is a function of two positions"),
        (lambda: relu(X[0]), "map to listed axes first"),
    ],
)
def test_refused(make, words: str) -> None:
    with pytest.raises((OdesysError, IndexError), match=words):
        make()


def test_numpy_and_sizes_are_said_otherwise() -> None:
    with pytest.raises(OdesysError, match="does not know expressions of a program: write A @ B"):
        np.dot(W, X)
    with pytest.raises(OdesysError, match=r"max\(x, 0\) is relu\(x\)"):
        np.maximum(W @ X, 0)
    with pytest.raises(AttributeError, match=r"no 'shape': sizes are len\(X\)"):
        X.shape  # noqa: B018


def test_a_sum_keeps_what_is_known_of_its_axes() -> None:
    """Columns that are tokens are those of the sum, on whichever side they stand; a single one is repeated."""
    listed = np.ones((2, 3))
    for total in (W @ X + listed, listed + W @ X):
        assert total.columns == Tokens((0, 1, 2)) and total.rows.size == 2
    for total in (W @ X + [[1], [2]], [[1], [2]] + W @ X):
        assert total.columns == Tokens((0, 1, 2)) and total.rows.size == 2
    for total in (W @ X[0] + listed, listed + W @ X[0]):
        assert total.columns.size == 3
    for make in (lambda: W @ X + np.ones((2, 2)), lambda: np.ones((3, 3)) + W @ X):
        with pytest.raises(OdesysError, match="does not fit"):
            make()


def arrays() -> dict[str, np.ndarray]:
    """Numbers for the maps and tokens: three words and three positions are six axes."""
    rng = np.random.default_rng(4)
    sizes = {"X": (6, 3), "W": (2, 6), "V": (1, 2), "Z": (6, 6), "W_K": (5, 6), "W_Q": (5, 6)}
    return {name: rng.normal(size=size) for name, size in sizes.items()}


def value(expr: Expr, given: dict[str, np.ndarray]) -> np.ndarray:
    """What an expression says, operation by operation."""
    parts = [value(a, given) for a in expr.args]
    match expr.op:
        case "tokens":
            return given["X"]
        case "map":
            return given[str(expr.data)]
        case "words":
            return np.eye(6)[:, :3]
        case "positions":
            return np.eye(6)[:, [3 + p for p in expr.columns.positions]]  # type: ignore[union-attr]
        case "count":
            return np.array([[float(expr.data.size)]])
        case "constant":
            return np.array([[float(e.args[0]) for e in row] for row in expr.data])
        case "transpose":
            return parts[0].T
        case "columns":
            return parts[0][:, list(expr.data[0])]
        case "add":
            return parts[0] + parts[1]
        case "times":
            return parts[0] * parts[1]
        case "matmul":
            return parts[0] @ parts[1]
        case "sum":
            return parts[0].sum(axis=expr.data, keepdims=True)
        case "apply":
            function = np.vectorize(lambda z: graph.evaluate([expr.data[0]], {"z": z}, graph.FLOAT_FUNCTIONS, float)[0])
            return function(parts[0])
    raise AssertionError(expr.op)


FORMULAS: list[Callable[..., Any]] = [
    lambda X, W, V, Z: W @ X,
    lambda X, W, V, Z: (W @ X).T @ V.T,
    lambda X, W, V, Z: W @ X - 2 * (W @ X[:, :1] if isinstance(X, np.ndarray) else W @ X[0]),
    lambda X, W, V, Z: 1 - W @ X,
    lambda X, W, V, Z: -(W @ X) + [[1, 2, 3], [4, 5, 6]],
    lambda X, W, V, Z: np.array([[1.0, 2.0, 3.0]]) - W @ X,
    lambda X, W, V, Z: (W @ X) * [[1], [-2]],
    lambda X, W, V, Z: np.array([[1, -1]]) @ (W @ X) / 4,
    lambda X, W, V, Z: (W @ X) @ [[1], [2], [3]] * 3,
    lambda X, W, V, Z: 2 / ((V @ W @ X) ** 2 + 1),
    lambda X, W, V, Z: (V @ W @ X) / ((V @ W @ X) ** 2 + 2),
    lambda X, W, V, Z: (W @ X) ** 3 - (W @ X) * (W @ X),
    lambda X, W, V, Z: abs(W @ X) + 0.25,
    lambda X, W, V, Z: Z @ X * (V @ W @ X),
    lambda X, W, V, Z: (V @ W @ X) * (Z @ X),
    lambda X, W, V, Z: X.T @ Z @ X,
    lambda X, W, V, Z: (X.T @ Z @ X).T / 2,
    lambda X, W, V, Z: np.array([[1.0, 2.0, 4.0]]) / ((V @ W @ X) ** 2 + 1),
]


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_formula_says_what_numpy_says(formula: Callable[..., Any]) -> None:
    given = arrays()
    expr, wanted = formula(X, W, V, Z), formula(*(given[name] for name in ("X", "W", "V", "Z")))
    found = value(expr, given)
    np.testing.assert_allclose(np.broadcast_to(found, wanted.shape), wanted, rtol=1e-12)
    sizes = tuple(getattr(side, "size", 6) for side in (expr.rows, expr.columns))
    assert sizes == wanted.shape


@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_and_means_over_listed_axes(axis: int | None) -> None:
    given = arrays()
    table = given["W"] @ given["X"]
    for expr, wanted in (
        ((W @ X).sum(axis), table.sum(axis=axis, keepdims=True)),
        ((W @ X).mean(axis), table.mean(axis=axis, keepdims=True)),
        ((W @ X)[1:].mean(axis), table[:, 1:].mean(axis=axis, keepdims=True)),
        ((W @ X).T.mean(axis), table.T.mean(axis=axis, keepdims=True)),
        ((V @ W @ X[0]).mean(axis), given["V"] @ table[:, :1]),
    ):
        np.testing.assert_allclose(value(expr, given), wanted, rtol=1e-12)
        assert (expr.rows.size, expr.columns.size) == wanted.shape
    np.testing.assert_allclose(value(X.mean(1), given), given["X"].mean(axis=1, keepdims=True))
    assert value(X.count, given).tolist() == [[3.0]] and value(X[1:].count, given).tolist() == [[2.0]]
    for bad in (2, "rows"):
        with pytest.raises(OdesysError, match="the axis is 0"):
            (W @ X).sum(bad)  # type: ignore[arg-type]
    with pytest.raises(OdesysError, match="can not be summed over"):
        X.sum(0)
    with pytest.raises(OdesysError, match="can not be summed over"):
        Z.sum()


def test_columns_are_chosen_as_from_a_list() -> None:
    given, table = arrays(), arrays()["W"] @ arrays()["X"]
    for item, places in (
        (0, [0]),
        (-1, [2]),
        (slice(1, None), [1, 2]),
        (slice(None, -1), [0, 1]),
        (slice(None, None, 2), [0, 2]),
    ):
        chosen = (W @ X)[item]
        np.testing.assert_array_equal(value(chosen, given), table[:, places])
        assert chosen.columns == Tokens(tuple(places)) and len(chosen) == len(places)
    assert (W @ X)[1:][-1].columns == Tokens((2,)) and [str(c) for c in X] == ["X[0]", "X[1]", "X[2]"]
    listed = W.T.T @ Z @ WORDS.all
    assert listed[0].columns.size == 1 and listed[:2].columns == Units("word", 2) and len(listed) == 3
    for item, words in ((3, "no column 3"), (slice(3, None), "no column left"), ("a", "a whole number or a slice")):
        with pytest.raises((OdesysError, IndexError), match=words):
            X[item]
    with pytest.raises(OdesysError, match="columns in the space of the words"):
        W[0]


def test_positions_belong_to_tokens_and_must_be_there() -> None:
    given = arrays()
    np.testing.assert_array_equal(value(X[1:].positions, given), np.eye(6)[:, 4:])
    assert X.positions.columns == X.columns and X.T.T is X
    with pytest.raises(OdesysError, match=r"reach position 4, but the words have 3 .*positions=4"):
        _ = tokens(WORDS, 4).positions
    assert tokens(WORDS, 4)[:3].positions.columns == Tokens((0, 1, 2))
    with pytest.raises(OdesysError, match="is asked of tokens"):
        _ = W.count


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ((W + 1 * W) @ X[0], "(W + 1 * W) @ X[0]"),
        (V @ (W @ X) ** 2, "V @ (.)**2(W @ X)"),
        (X[1:2], "X[1:2]"),
        (X[:-1].T, "X[:-1].T"),
        ((V @ W @ X).sum(), "(V @ W @ X).sum()"),
        (V @ W @ (X[0] + X[1]), "V @ W @ (X[0] + X[1])"),
        (X.count / 2, "1/2 * X.count"),
        (WORDS.all.T @ X, "words.all.T @ X"),
        (W @ X + [[1, 2, 3], [4, 5, 6]], "W @ X + a 2 x 3 table"),
    ],
)
def test_an_expression_is_shown_as_it_is_typed(expr: Expr, text: str) -> None:
    assert write(expr) == text and str(expr) == text


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: W @ V, "does not fit: the left has columns in the space of the words"),
        (lambda: 2 @ X, "a number is multiplied by"),
        (lambda: X @ 2, "a number is multiplied by"),
        (lambda: X * X, "use @ for inner products"),
        (lambda: (W @ X) * np.ones((3, 3)), "does not fit"),
        (lambda: (W @ X) * X, "multiplied by one number, or by one per vector"),
        (lambda: (W @ X[:2]) + (W @ X[1:]), "does not fit"),
        (lambda: as_expr([]), "an empty list"),
        (lambda: as_expr([[1, 2], [3]]), "rows of one length"),
        (lambda: as_expr(object()), "can not stand in a program"),
        (lambda: as_expr(0) ** -1, "divides by zero"),
        (lambda: maps("A A", M, WORDS), "stands twice"),
        (lambda: maps("", M, WORDS), "named by a string"),
        (lambda: maps("A", 3, WORDS), r"list them with Units\('r', 3\)"),
        (lambda: maps("A", True, WORDS), "Space, Words, Units or 1"),
        (lambda: sp.Max(1, 2) and relu(Z @ X), "whose axes are not listed"),
    ],
)
def test_more_is_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(OdesysError, match=words):
        make()


def test_numbers_become_tables_of_one_entry_and_lists_rows_or_columns() -> None:
    assert as_expr([1, 2, 3]).columns.size == 3 and as_expr([1, 2, 3], column=True).rows.size == 3
    assert as_expr(np.eye(2)).rows.size == 2 and as_expr("b").data[0, 0] is graph.sym("b")
    assert (as_expr(4) ** -1).data[0, 0] is graph.num(Fraction(1, 4)) and as_expr(W) is W
    assert maps("A", 1, WORDS).rows.size == 1 and [str(m) for m in maps("A B", M, WORDS, of="h")] == ["A.h", "B.h"]


FREE = "the space of the words a, b, c with 3 positions"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: (W @ X).positions,
            "the tokens reach position 3, but the words have 0 position vectors; write Words(..., positions=3)",
        ),
        (lambda: X.T[0], f"X.T has columns in {FREE}, which are not listed; take X[i] of tokens"),
        (lambda: len(W), f"W has columns in {FREE}, whose dimension is not a number"),
        (lambda: X[5:], "X[slice(5, None, None)] has no column left; the sample has 3 tokens"),
        (lambda: (W @ X)[7], "W @ X has 3 columns, so there is no column 7"),
        (lambda: X[:1][1], "X[:1] has 1 column, so there is no column 1"),
        (lambda: X["a"], "X['a']: a column is chosen by a whole number or a slice"),
        (lambda: (W @ X).sum(2), "sum(axis=2): the axis is 0 (rows), 1 (columns) or left out"),
        (lambda: Z.sum(0), f"Z can not be summed over {FREE}: its axes are not listed"),
        (lambda: Z.sum(), f"Z can not be summed over {FREE}: its axes are not listed"),
        (lambda: X.sum(0), f"X can not be summed over {FREE}: its axes are not listed"),
        (lambda: X.T.sum(1), f"X.T can not be summed over {FREE}: its axes are not listed"),
        (lambda: W @ V, f"W @ V does not fit: the left has columns in {FREE}, the right rows in 1"),
        (
            lambda: 2 @ X,
            f"2 @ X does not fit: the left has columns in 1, the right rows in {FREE}; a number is multiplied by *",
        ),
        (
            lambda: X @ 2,
            "X @ 2 does not fit: the left has columns in 3 tokens, the right rows in 1; a number is multiplied by *",
        ),
        (
            lambda: W @ X + np.ones((2, 2)),
            "W @ X + a 2 x 2 table does not fit: 2 r by 3 tokens, and 2 entry by 2 entry",
        ),
        (lambda: X + W @ X, f"X + W @ X does not fit: {FREE} by 3 tokens, and 2 r by 3 tokens"),
        (
            lambda: X * X,
            f"X * X multiplies vectors of {FREE} entry by entry, but its axes are not listed: use @ for inner "
            "products, or list the axes with Units",
        ),
        (
            lambda: (W @ X) * np.ones((3, 3)),
            "a 3 x 3 table * W @ X does not fit: 3 entry by 3 entry, and 2 r by 3 tokens",
        ),
        (
            lambda: X * (W @ X),
            "W @ X * X does not fit: vectors are multiplied by one number, or by one per vector",
        ),
        (
            lambda: X.T * (W @ X),
            "W @ X * X.T does not fit: vectors are multiplied by one number, or by one per vector",
        ),
        (lambda: as_expr([[]]), "a table in a program has rows of one length"),
        (lambda: as_expr([[1], 2]), "a table in a program has rows of one length"),
        (lambda: as_expr([[1, 0]]) ** -1, "a 1 x 2 table ** -1 divides by zero"),
        (lambda: maps(3, M, WORDS), "maps are named by a string such as 'W_K W_Q', not 3"),
        (lambda: maps("A", M, "x"), "columns of a map are a Space, Words, Units or 1, not 'x'"),
        (lambda: maps("A", M, 0), "columns=0 are that many axes without a name: list them with Units('r', 0)"),
        (
            lambda: maps("A", M, 1, of="2"),
            "'2' is not the name of a head: a letter, then letters, digits, underscores, as in W_K",
        ),
        (
            lambda: np.fmin(1, W @ X),
            "fmin of an expression of a program: max(x, 0) is relu(x), and max(x, y) is y + relu(x - y)",
        ),
        (
            lambda: np.add(W @ X, 1, where=True),
            "add of an expression of a program: write it as an activation, e.g. z = sympy.Symbol('z') and "
            "function(sympy.add(z))(...), which acts on every entry",
        ),
        (
            lambda: np.add.reduce(W @ X),
            "add of an expression of a program: write it as an activation, e.g. z = sympy.Symbol('z') and "
            "function(sympy.add(z))(...), which acts on every entry",
        ),
        (lambda: W.positions, f"W.positions is asked of tokens, but its columns are {FREE}"),
    ],
)
def test_the_sentence_says_what_is_wrong(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises((OdesysError, IndexError), match=f"^{re.escape(sentence)}$"):
        make()


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ((W @ X)[::2], "(W @ X)[::2]"),
        (X[::-1], "X[::-1]"),
        (X[-2], "X[-2]"),
        (-(W @ X), "-1 * W @ X"),
        (1 - W @ X, "1 + -1 * W @ X"),
        (2 / (W @ X), "2 * (.)**-1(W @ X)"),
        (X.count.T / 3, "1/3 * X.count.T"),
        (cross_entropy(W @ X, 0), "cross_entropy(W @ X, 0)"),
        (relu(X.positions.T @ X + 1) * 2, "2 * relu(X.positions.T @ X + 1)"),
        ((W @ X).sum(1).sum(0), "(W @ X).sum()"),
        ((W @ X + 1) * 2, "2 * (W @ X + 1)"),
        ((W @ X * 2).T, "(2 * W @ X).T"),
        (X.mean(), "(.)**-1(X.count) * X.sum()"),
        (W.mean(0), "1/2 * W.sum()"),
        (V.mean(0), "V.sum()"),
        (as_expr([[1, 2]]) ** -1, "(.)**-1(a 1 x 2 table)"),
        (Expr("target", (), R, R), "y"),
    ],
)
def test_more_expressions_are_shown_as_they_are_typed(expr: Expr, text: str) -> None:
    assert str(expr) == text


def test_long_texts_are_cut_in_the_middle_and_deep_ones_below() -> None:
    for letters in range(180, 230):
        expr = W @ maps("A" * letters, WORDS, WORDS) @ X
        text = write(expr)
        assert len(text) == letters + 8
        assert str(expr) == (text if len(text) <= 200 else f"{text[:150]} ... {text[-40:]}")
    deep = V @ W @ X[0]
    for depth in range(1, 14):
        deep = relu(deep)
        assert write(deep).count("relu(") == min(depth, 11)
        assert ("..." in write(deep)) == (depth > 8)


def test_units_keep_their_counts_and_columns_of_columns_their_places() -> None:
    counted = Units("y", 3, (graph.ONE, graph.num(2), graph.sym("K")))
    table = maps("T", R, counted)
    assert table[1:].columns == Units("y", 2, (graph.num(2), graph.sym("K")))
    assert table[0].columns.size == 1 and table[0].columns.counts is None
    assert (table.sum(1)).columns.size == 1 and write(table.mean(1)) == "(.)**-1(X.count) * T.sum()"
    assert X[::-1].columns == Tokens((2, 1, 0)) and X[::-1][0].columns == Tokens((2,))
    assert [part.data[0] for part in X[1:]] == [(0,), (1,)]


def test_words_of_a_family_have_the_counts_of_their_groups_and_others_are_one() -> None:
    words = Words("a1 a2 b1 b2 s t", groups=Groups(2, 2, graph.sym("K")))
    assert words.all.columns.counts == (graph.ONE, graph.sym("K")) * 2 + (graph.ONE,) * 2
    assert WORDS.all.columns.counts is None
