"""Passages through zero inside a step, where rounding has put a value on the wrong side before the step began."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.flows.scan import WatchedValues


@pytest.mark.parametrize(
    ("values", "wanted"), [((1.0, -1.0), 0.5), ((-1e-16, -1e-16), 0.0), ((-1e-16, 1.0), 0.0), ((1.0, 0.0), 1.0)]
)
def test_the_first_passage_is_found_or_has_been(values: tuple[float, float], wanted: float) -> None:
    left, right = values

    def at(t: float) -> np.ndarray:
        hump = 1e-3 * t * (1 - t) if left < 0 else 0.0
        return np.array([left + (right - left) * t + hump])

    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    assert watch._root(at, np.ones(1), np.array([0]), 0.0, 1.0) == pytest.approx(wanted)
