"""Softmax: weights of sum one along the axis asked for, for scores of any size, with and without counts."""

import numpy as np
import pytest

from numerics.networks.softmax import row_softmax

SCORES = np.random.default_rng(0).normal(size=(3, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_weights_are_proportional_to_exponentials_along_the_axis(axis: int) -> None:
    found = row_softmax(SCORES, axis)
    assert found.sum(axis=axis) == pytest.approx(1)
    assert found == pytest.approx(np.exp(SCORES) / np.exp(SCORES).sum(axis=axis, keepdims=True))


def test_large_scores_do_not_overflow_and_removed_tokens_have_no_weight() -> None:
    assert row_softmax(1e4 * SCORES).max(axis=1).tolist() == [1.0, 1.0, 1.0]
    assert row_softmax(np.array([0.0, -np.inf, 0.0])).tolist() == [0.5, 0.0, 0.5]


def test_a_count_is_that_many_equal_tokens_and_may_differ_by_sample() -> None:
    counts = np.array([[1, 2, 1], [2, 1, 1]])
    found = row_softmax(SCORES, axis=-2, counts=counts[:, :, None])
    assert found.shape == (2, 3, 4)
    for row, each in zip(counts, found, strict=True):
        listed = row_softmax(np.repeat(SCORES, row, axis=0), axis=0)
        assert each == pytest.approx(np.add.reduceat(listed, np.r_[0, np.cumsum(row)[:-1]], axis=0))
