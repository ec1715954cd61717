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


@pytest.mark.parametrize("shape", [(1, 1, 3), (2, 3, 1), (2, 2, 3), (1, 3, 2)])
def test_swap_exchanges_rows_and_columns_of_whatever_a_block_is(shape: tuple[int, int, int]) -> None:
    array = RNG.normal(size=shape)
    leaf = blocks.leaf("a", shape)
    index = np.ix_(np.arange(shape[0]), np.arange(shape[1])[::-1], np.arange(shape[2]))
    taken = blocks.take(leaf, tuple(np.broadcast_to(i, shape) for i in index))
    for block in (leaf, taken, batch.constant(array), blocks.multiply(leaf, leaf)):
        assert batch.swap(block).shape == (shape[0], shape[2], shape[1])
        np.testing.assert_array_equal(value(batch.swap(block), a=array), np.swapaxes(value(block, a=array), 1, 2))
        np.testing.assert_array_equal(value(batch.swap(batch.swap(block)), a=array), value(block, a=array))


def test_factors_of_one_are_left_out_where_the_shape_stays() -> None:
    one, row, leaf = batch.constant([[[1]]]), batch.constant([[[1, 1, 1]]]), blocks.leaf("a", (2, 1, 3))
    assert batch.is_ones(one) and not batch.is_ones(batch.constant([[[1, 2]]])) and not batch.is_ones(leaf)
    assert batch.times(leaf, one) is leaf and batch.times(row, leaf) is leaf and batch.times(leaf, row) is leaf
    small = blocks.leaf("b", (1, 1, 1))
    assert batch.times(row, small).shape == (1, 1, 3) and batch.times(small, one) is small
    assert batch.times(batch.constant([[[2]]]), leaf) is not leaf


@pytest.mark.parametrize("inner", [1, 2])
@pytest.mark.parametrize(("p", "q"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_products_of_every_width(p: int, q: int, inner: int) -> None:
    a, b = RNG.normal(size=(p, 3, inner)), RNG.normal(size=(q, inner, 2))
    block = batch.matmul(blocks.leaf("a", a.shape), blocks.leaf("b", b.shape))
    assert block.shape == (max(p, q), 3, 2)
    np.testing.assert_allclose(value(block, a=a, b=b), a @ b, rtol=1e-13)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_softmax_is_the_share_of_a_row_or_of_all_its_copies(masked: bool, counted: bool, whole: bool) -> None:
    scores = RNG.normal(size=(2, 3, 4))
    counts = np.array([[1.0, 2.0, 3.0], [4.0, 1.0, 2.0]])[:, :, None] if counted else np.ones((2, 3, 1))
    visible = RNG.random((3, 4)) < 0.6 if masked else np.ones((3, 4), dtype=bool)
    visible[1] = True
    block = batch.softmax(
        blocks.leaf("s", scores.shape), blocks.constant(counts) if counted else None, visible if masked else None, whole
    )
    weights = np.exp(scores) * visible
    share = weights * (counts if whole else 1) / (counts * weights).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(value(block, s=scores), share, rtol=1e-12)
    seen = batch.softmax(blocks.leaf("s", scores.shape), None, np.ones((3, 4), dtype=bool))
    assert (
        value(seen, s=scores).tolist()
        == value(batch.softmax(blocks.leaf("s", scores.shape), None, None), s=scores).tolist()
    )


def test_columns_of_constants_and_all_of_them_in_order() -> None:
    array = RNG.normal(size=(2, 3, 4))
    leaf = blocks.leaf("a", array.shape)
    assert batch.columns(leaf, (0, 1, 2, 3)) is leaf
    for places in ((0, 1, 2), (3, 2, 1, 0), (1,), (2, 2)):
        for block in (leaf, batch.constant(array)):
            np.testing.assert_array_equal(value(batch.columns(block, places), a=array), array[:, :, list(places)])
