"""What can be written, and one teaching sentence for what can not."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from odesys import OdesysError, Space, Units, Words, cross_entropy, function, maps, norm, relu, softmax
from odesys.program.expressions import tokens
from odesys.program.spaces import Tokens

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
