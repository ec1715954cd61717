"""What a program knows of its tokens: order, places, and words that are not among them."""

from __future__ import annotations

import pytest

from odesys import Words, maps, softmax
from odesys.program.expressions import tokens
from odesys.program.order import knows_order, only_through_tokens, parts

WORDS, ROW = Words("a b", positions=3), Words("r", [[2]], name="r")
w, Z, V = maps("w", 1, WORDS), maps("Z", WORDS, WORDS), maps("V", ROW, WORDS)
SYMMETRIC = {
    "sum": lambda X: (w @ X).sum(),
    "attention": lambda X: (w @ X @ softmax(X.T @ Z @ X)).sum(),
    "a frozen vector is no word of the data": lambda X: (ROW.all.T @ V @ X).mean(),
}
ORDERED = {
    "a place": lambda X: w @ X[0],
    "a mask": lambda X: (w @ X @ softmax(X.T @ Z @ X, mask=lambda key, query: key <= query)).sum(),
    "a table": lambda X: (w @ X * [1, 2, 3]).sum(),
    "an output per token": lambda X: w @ X,
}


@pytest.mark.parametrize("name", SYMMETRIC)
def test_words_enter_through_tokens(name: str) -> None:
    output = SYMMETRIC[name](tokens(WORDS, 3))
    assert only_through_tokens(output, WORDS, ordered=False) and only_through_tokens(output, WORDS, ordered=True)


@pytest.mark.parametrize("name", ORDERED)
def test_order_matters(name: str) -> None:
    output = ORDERED[name](tokens(WORDS, 3))
    assert not only_through_tokens(output, WORDS, ordered=False) and only_through_tokens(output, WORDS, ordered=True)


def test_words_that_are_no_tokens() -> None:
    X = tokens(WORDS, 3)
    for output in ((w @ X).sum() + (w @ WORDS.all).sum(), (w @ X @ softmax(X.T @ Z @ X.positions)).sum()):
        assert not only_through_tokens(output, WORDS, ordered=True)
    assert any(knows_order(part) for part in parts(w @ X[0]))
