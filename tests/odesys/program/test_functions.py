"""Activations, softmax and losses against what they should be, and sentences for what they can not be."""

from __future__ import annotations

import re

import numpy as np
import pytest
import sympy as sp

from odesys import (
    Data,
    OdesysError,
    Units,
    Words,
    cross_entropy,
    function,
    gradient_flow,
    graph,
    maps,
    norm,
    relu,
    softmax,
    squared,
)
from odesys.program.expressions import tokens
from odesys.program.functions import check_call

WORDS = Words("a b c")
W, V = maps("W", Units("r", 2), WORDS), maps("V", 1, Units("r", 2))
DATA = Data(WORDS, [("a b", 2), ("c a", -1)])
z = sp.Symbol("z")
NAMES = [*(f"W_r{r}_{w}" for r in (1, 2) for w in "abc"), "V_r1", "V_r2"]
VALUES = {name: 0.1 * (k + 1) * (-1) ** k for k, name in enumerate(NAMES)}


def output(f) -> float:
    """The first output at fixed states."""
    system = gradient_flow(f, DATA, squared).system
    return float(graph.evaluate([system.observables["f_1"]], VALUES, graph.FLOAT_FUNCTIONS)[0])


def weights() -> tuple[np.ndarray, np.ndarray]:
    first = np.array([[VALUES[f"W_r{r}_{w}"] for w in "abc"] for r in (1, 2)])
    return first, np.array([VALUES["V_r1"], VALUES["V_r2"]])


@pytest.mark.parametrize(
    ("activation", "known"),
    [
        (relu, lambda x: np.maximum(x, 0)),
        (function(sp.tanh(z)), np.tanh),
        (function(z**3 - z), lambda x: x**3 - x),
        (function(sp.Max(z, z / 10)), lambda x: np.maximum(x, x / 10)),
    ],
)
def test_activations(activation, known) -> None:
    first, second = weights()
    assert output(lambda X: V @ activation(W @ X[0])) == pytest.approx(second @ known(first[:, 0]), rel=1e-12)


def test_norm_of_listed_columns() -> None:
    first, second = weights()
    expected = second @ first[:, 0] / np.linalg.norm(first[:, 0])
    assert output(lambda X: V @ (W @ X[0]) / norm(W @ X[0])) == pytest.approx(expected, rel=1e-12)


def test_softmax_over_units() -> None:
    first, second = weights()
    share = np.exp(first[:, 0]) / np.exp(first[:, 0]).sum()
    assert output(lambda X: V @ softmax(W @ X[0])) == pytest.approx(second @ share, rel=1e-12)


def test_functions_are_asked_for_their_arguments() -> None:
    check_call(lambda f, y: f, 2, "a loss", "(f, y)")
    check_call(max, 2, "a loss", "(f, y)")  # it does not tell
    with pytest.raises(OdesysError, match="a loss is a function"):
        check_call(lambda f: f, 2, "a loss", "(f, y)")


X = tokens(WORDS, 3)
Z = maps("Z", WORDS, WORDS)


def test_a_mask_is_asked_for_each_key_and_query_by_position() -> None:
    """Positions are those of the sample, also of some of its tokens; units are counted from 0."""
    for keys, queries, rule in (
        (X, X, lambda key, query: key <= query),
        (X[1:], X, lambda key, query: key != query),
        (X, X[-1], lambda key, query: key < query),
        (X[::2], X[1:], lambda key, query: key == 0 or key == query),
    ):
        seen = softmax(keys.T @ Z @ queries, mask=rule).data
        places = keys.columns.positions, queries.columns.positions
        assert seen.tolist() == [[bool(rule(k, q)) for q in places[1]] for k in places[0]]
    assert softmax(W @ X[0], mask=lambda key, query: key == 1).data.tolist() == [[False], [True]]
    assert softmax(X.T @ Z @ X).data is None


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            lambda: softmax(X.T @ Z @ X, mask=lambda key, query: key < query),
            "the mask hides every key from the query at position 0 (counted from 0), so its softmax has nothing to "
            "choose from; let it see itself, as in lambda key, query: key <= query",
        ),
        (
            lambda: softmax(X.T @ Z @ X[1:], mask=lambda key, query: query == 1),
            "the mask hides every key from the query at position 2 (counted from 0), so its softmax has nothing to "
            "choose from; let it see itself, as in lambda key, query: key <= query",
        ),
        (
            lambda: softmax(X.T @ Z @ X, mask=lambda key: True),
            "a mask is a function of two positions, lambda key, query: key <= query; <lambda> is not",
        ),
        (
            lambda: softmax(Z @ X),
            "softmax acts on numbers, but Z @ X has the space of the words a, b, c on one side: contract it first, as "
            "in X.T @ W_K.T @ W_Q @ X",
        ),
        (
            lambda: softmax(V @ W @ X),
            "softmax runs over rows, and V @ W @ X has one row, so all would be 1; write softmax((V @ W @ X).T)",
        ),
        (
            lambda: norm(X.T),
            "norm(X.T) is asked of columns, but the columns are in the space of the words a, b, c; use .T",
        ),
        (
            lambda: cross_entropy(V @ W @ X, 0),
            "cross_entropy needs a listed output with one entry per class, but V @ W @ X has one row",
        ),
        (
            lambda: function(sp.Symbol("x") + 1),
            "function(x + 1) does not contain z, so it is a constant; write the number itself",
        ),
        (
            lambda: function(max),
            "function(...) takes an expression in z, such as z**2 or Max(0, z), not a Python function",
        ),
    ],
)
def test_the_sentence_says_what_is_wrong(make, sentence: str) -> None:
    with pytest.raises(OdesysError, match=f"^{re.escape(sentence)}$"):
        make()


def test_shapes_and_names_of_what_functions_give() -> None:
    for expr, rows, columns in (
        (softmax(W @ X), 2, 3),
        (norm(W @ X), 1, 3),
        (norm(Z @ X), 1, 3),
        (cross_entropy(W @ X, 0), 1, 3),
        (squared(W @ X, np.ones((2, 3))), 1, 3),
        (relu(W @ X), 2, 3),
        (softmax((V @ W @ X).T), 3, 1),
        (softmax(V @ W @ X[0]), 1, 1),
    ):
        assert (expr.rows.size, expr.columns.size) == (rows, columns)
    assert repr(function(z**2)) == "function(z**2)" and repr(function(z**2, name="square")) == "square"
    assert function(graph.sym("z") * 2).node is 2 * graph.sym("z")


def test_the_squared_loss_is_half_the_square() -> None:
    first, _ = weights()
    loss = gradient_flow(lambda X: W @ X[0], Data(WORDS, [("a", [2, -1])]), squared).system.observables["loss"]
    value = float(graph.evaluate([loss], VALUES, graph.FLOAT_FUNCTIONS)[0])
    assert value == pytest.approx(((first[:, 0] - [2, -1]) ** 2).sum() / 2, rel=1e-12)
