"""Means over batches of products of forces; the averaged step of a network is in test_rules."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from odesys import Data, Words, blocks, gradient_descent, maps, squared
from odesys.derive.minibatch import Batches
from odesys.errors import ModelError


def test_pairs_of_samples_are_summed_as_all_batches_are() -> None:
    """The short formula for two forces against the sum over batches; three forces by hand."""
    rng = np.random.default_rng(1)
    values = rng.integers(-5, 6, size=(5, 2, 2))
    single = [[blocks.constant(v)] for v in values]
    full = [blocks.constant(np.array([[Fraction(int(x), 5) for x in row] for row in values.sum(axis=0)]))]
    for k in (1, 2, 3, 4):
        batches = Batches(k, full, single)
        for order in (2, 3):

            def build(forces: Any, order: int = order) -> Any:
                return blocks.chain([forces[0]] * order)

            (found,) = blocks.evaluate([batches.mean(order, build)], {}, {})
            means = [np.mean([values[i] for i in b], axis=0) for b in combinations(range(5), k)]
            wanted = np.mean([np.linalg.matrix_power(m, order) for m in means], axis=0)
            assert np.abs(found - wanted).max() < 1e-12


def test_too_many_batches_are_refused() -> None:
    many = Batches(10, [blocks.constant([[1]])], [[blocks.constant([[1]])]] * 20)
    with pytest.raises(ModelError, match="there are 184756 batches of 10 out of 20 samples"):
        many.mean(3, lambda forces: forces[0])
    assert many.mean(2, lambda forces: forces[0]).shape == (1, 1)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (4, 2), (4, 3), (4, 4), (5, 2), (2, 1), (1, 1)])
def test_means_of_one_two_and_three_forces_are_those_over_all_batches(n: int, k: int) -> None:
    """Bilinear terms with a matrix between them, so that the order of the forces is seen."""
    rng = np.random.default_rng(n + 10 * k)
    values, between = rng.integers(-5, 6, size=(n, 2, 2)), rng.integers(-3, 4, size=(2, 2))
    single = [[blocks.constant(v)] for v in values]
    total = [[Fraction(int(x), n) for x in row] for row in values.sum(axis=0)]
    batches, middle = Batches(k, [blocks.constant(np.array(total))], single), blocks.constant(between)
    means = [np.mean([values[i] for i in b], axis=0) for b in combinations(range(n), k)]
    for order in (0, 1, 2, 3):

        def build(forces: Any, order: int = order) -> Any:
            return blocks.chain([middle, *([forces[0], middle] * order)])

        (found,) = blocks.evaluate([batches.mean(order, build)], {}, {})
        wanted = np.mean([between @ np.linalg.matrix_power(m @ between, order) for m in means], axis=0)
        assert np.allclose(found, wanted, rtol=1e-12, atol=1e-10), (order, k)


def test_sizes_and_weights_that_no_batch_has_are_refused() -> None:
    words = Words("a b c")
    w = maps("w", 1, words)

    def step(batch: Any, samples: Any = None, data: Any = None) -> Any:
        given = data or Data(words, samples or [("a", 1), ("b", -1), ("c", 1)])
        return gradient_descent(lambda X: w @ X[0], given, squared, batch=batch)

    for wrong in (0, 4, -1, True, 2.0, "2"):
        with pytest.raises(ModelError, match="is how many of the 3 samples one step sees: 1 to 3"):
            step(wrong)
    with pytest.raises(ModelError, match="batches are drawn from samples of equal weight"):
        step(1, [("a", 1, Fraction(1, 3)), ("b", -1, Fraction(2, 3))])
    full = gradient_descent(lambda X: w @ X[0], Data(words, [("a", 1), ("b", -1), ("c", 1)]), squared).system
    for size in (1, 2, 3):
        made = step(size)
        assert made.batch == size
        assert all(a is b for a, b in zip(made.system.nodes, full.nodes, strict=True)), "one force is linear"


def test_the_number_of_batches_is_refused_only_above_the_limit() -> None:
    from odesys.derive.minibatch import MOST_BATCHES

    one = [blocks.constant([[1]])]
    for n in (MOST_BATCHES, MOST_BATCHES + 1):
        batches = Batches(1, one, [one] * n)
        if n > MOST_BATCHES:
            with pytest.raises(
                ModelError, match=f"there are {n} batches of 1 out of {n} samples.* at most {MOST_BATCHES}"
            ):
                batches.mean(3, lambda forces: forces[0])
        else:
            assert len(batches._subsets) == n
