"""Means over batches of products of forces; the averaged step of a network is in test_rules."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from odesys import blocks
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
