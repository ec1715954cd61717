"""Batched array operations against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import blocks
from odesys.program import batch

RNG = np.random.default_rng(7)


def value(block: blocks.Block, **leaves: np.ndarray) -> np.ndarray:
    return blocks.evaluate([block], leaves, {})[0]


@pytest.mark.parametrize(("p", "q"), [(1, 1), (3, 1), (1, 3), (3, 3)])
def test_matmul_and_swap(p: int, q: int) -> None:
    a, b = RNG.normal(size=(p, 2, 4)), RNG.normal(size=(q, 4, 5))
    left, right = blocks.leaf("a", a.shape), blocks.leaf("b", b.shape)
    assert np.allclose(value(batch.matmul(left, right), a=a, b=b), a @ b)
    assert np.allclose(value(batch.swap(left), a=a), np.swapaxes(a, 1, 2))


def test_softmax_with_counts_and_mask() -> None:
    scores, counts = RNG.normal(size=(2, 3, 2)), np.array([[1.0, 2.0, 3.0], [2.0, 1.0, 1.0]])[:, :, None]
    visible = np.array([[True, True], [False, True], [True, False]])
    block = batch.softmax(blocks.leaf("s", scores.shape), blocks.constant(counts), visible)
    weights = np.exp(scores) * visible
    assert np.allclose(value(block, s=scores), weights / (counts * weights).sum(axis=1, keepdims=True))


def test_a_hidden_key_never_decides_the_maximum() -> None:
    scores = np.array([[[5000.0, 5000.0], [0.0, 1.0], [1.0, 0.0]]])
    visible = np.array([[False, False], [True, True], [True, True]])
    found = value(batch.softmax(blocks.leaf("s", (1, 3, 2)), None, visible), s=scores)
    assert np.allclose(found[0, 1:].sum(axis=0), 1.0) and (found[0, 0] == 0).all()


def test_columns_diagonal_identity() -> None:
    a = RNG.normal(size=(2, 3, 3))
    leaf = blocks.leaf("a", a.shape)
    assert np.allclose(value(batch.columns(leaf, (2, 0)), a=a), a[:, :, [2, 0]])
    assert np.allclose(value(batch.diagonal(leaf), a=a)[:, 0], np.diagonal(a, axis1=1, axis2=2))
    assert np.allclose(value(batch.times(batch.identity(3), leaf), a=a), a * np.eye(3))
    assert batch.times(batch.constant(np.ones((1, 1, 1), dtype=int)), leaf) is leaf


def test_whole_shares_are_those_of_all_copies() -> None:
    scores, counts = batch.constant([[["a"], ["b"]]]), batch.constant([[["n"], [2]]])
    one, whole = blocks.evaluate(
        [batch.times(counts, batch.softmax(scores, counts, None)), batch.softmax(scores, counts, None, whole=True)], {}
    )
    assert one.shape == (1, 2, 1) and all(a is b for a, b in zip(one.flat, whole.flat, strict=True))
