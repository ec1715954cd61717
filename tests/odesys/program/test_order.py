"""What a program knows of its tokens: order, places, and words that are not among them."""

from __future__ import annotations

import pytest

from odesys import Units, Words, maps, norm, softmax
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


LISTED = maps("L", Units("r", 3), WORDS)


def test_parts_come_once_and_after_what_they_are_made_of() -> None:
    X = tokens(WORDS, 3)
    shared = w @ X
    whole = (shared * shared).sum() + shared.sum()
    found = list(parts(whole))
    assert len(found) == len(set(found)) and found[-1] is whole and X in found and shared in found
    for k, part in enumerate(found):
        assert all(a in found[:k] for a in part.args)
    assert [part.op for part in parts(w @ X)] == ["map", "tokens", "matmul"]


@pytest.mark.parametrize(
    ("make", "ordered"),
    [
        (lambda X: X[0], True),
        (lambda X: X.positions, True),
        (lambda X: softmax(X.T @ Z @ X, mask=lambda key, query: key <= query), True),
        (lambda X: softmax(X.T @ Z @ X), False),
        (lambda X: WORDS.all[0], False),
        (lambda X: LISTED @ X + [[1, 2, 3]], True),
        (lambda X: LISTED @ X * [[1], [2], [3]], False),
        (lambda X: (LISTED @ X).T * [[1], [2], [3]], True),
        (lambda X: w @ X * 2, False),
        (lambda X: w @ X @ [1, 2, 3], True),
        (lambda X: [[1, 2, 3]] @ (X.T @ Z @ X), True),
        (lambda X: [[1, 2, 3]] @ (LISTED @ X), False),
        (lambda X: LISTED @ X + (LISTED @ X) * 2, False),
        (lambda X: X.T @ Z @ X @ (X.T @ Z @ X), False),
        (lambda X: norm(X), False),
    ],
)
def test_a_part_knows_the_order_of_tokens_where_they_meet_what_is_listed(make, ordered: bool) -> None:
    assert knows_order(make(tokens(WORDS, 3))) is ordered


def test_one_token_is_in_no_order() -> None:
    X = tokens(WORDS, 1)
    assert not knows_order(w @ X * [[2]]) and only_through_tokens(w @ X, WORDS, ordered=False)
    assert not only_through_tokens(w @ X[0], WORDS, ordered=False)
