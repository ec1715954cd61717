"""Records of a compiled run: room of the right size, in which nothing is left over."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.compiled.records import POWERS, READINGS, STAGES, new_step
from numerics.flows.semantics import STEP_PARTS


@pytest.mark.parametrize(("n", "count"), [(1, 0), (3, 2), (80, 16)])
def test_a_step_has_room_for_its_stages_and_for_what_is_watched(n: int, count: int) -> None:
    step = new_step(n, count)
    assert step.K.size == STAGES * n and step.F.size == POWERS * n and step.V.size == READINGS * count
    assert step.new.size == step.work.size == step.other.size == n
    assert step.now.size == step.spots.size == step.values.size == count
    assert step.cuts.size >= (STEP_PARTS + 1) * (count + 1)


def test_arrays_of_a_step_are_its_own() -> None:
    first, second = new_step(2, 1), new_step(2, 1)
    arrays = [v for step in (first, second) for v in vars(step).values() if isinstance(v, np.ndarray)]
    assert len({id(a) for a in arrays}) == len(arrays) and not any(np.any(a) for a in arrays)
