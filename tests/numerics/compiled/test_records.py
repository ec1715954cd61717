"""Records of a compiled run: room of the right size, in which nothing is left over."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.compiled.lane_step import LEFT
from numerics.compiled.records import (
    BUFFER_FULL,
    END,
    EVENT,
    EXPLICIT,
    HANDOVER,
    IMPLICIT,
    POWERS,
    READINGS,
    STAGES,
    STIFF,
    SUSPECT,
    TAYLOR,
    Log,
    Problem,
    RunState,
    new_step,
)
from numerics.flows.semantics import STEP_PARTS
from odesys.jit.loops import Code


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


@pytest.mark.parametrize(
    ("method", "order", "stages", "rows", "matrix"),
    [
        (EXPLICIT, 0, 16, 7, 0),
        (TAYLOR, 5, 16, 7, 0),
        (TAYLOR, 12, 16, 12, 0),
        (TAYLOR, 20, 20, 20, 0),
        (IMPLICIT, 0, 16, 7, 1),
    ],
)
def test_each_method_has_the_room_it_needs(method: int, order: int, stages: int, rows: int, matrix: int) -> None:
    """As many stages and rows as DOP853 has, or coefficients; only implicit steps have matrices."""
    step = new_step(3, 2, method, order)
    assert (step.K.size, step.F.size) == (3 * stages, 3 * rows)
    assert (step.J.size, step.W.size, step.pivots.size) == (12 * matrix, 9 * matrix, 3 * matrix)
    assert (step.V.size, step.cuts.size) == (2 * (STEP_PARTS + 3), 3 * (STEP_PARTS + 1))
    assert (step.h, step.t_new, step.end, step.cut_count) == (0.0, 0.0, 1.0, 0)


def test_a_run_starts_with_nothing_counted_and_by_explicit_steps() -> None:
    none = np.empty(0)
    state = RunState(1.0, 0.5, none, none, none, none)
    counters = ("steps", "switches", "fields", "visited", "jacobians", "held", "free", "damped")
    assert [getattr(state, name) for name in counters] == [0] * 8
    assert (state.status, state.index, state.method) == (BUFFER_FULL, -1, EXPLICIT)
    log = Log(1, none, none, none, 1, none)
    assert (log.kept, log.happened) == (0, 0)
    code: Code = lambda t, x, p, g, out: None  # noqa: E731
    problem = Problem(code, code, code, 1, 0, 0, none, none, none, none, none, 1.0, 1e-6, none, 9, 9)
    assert (problem.may_switch, problem.order, problem.patience, problem.branches) == (0, 0, 0, 0)
    assert problem.rows == POWERS


def test_reasons_and_methods_are_told_apart() -> None:
    """Lanes have a reason of their own among them."""
    reasons = (END, EVENT, HANDOVER, BUFFER_FULL, STIFF, SUSPECT, LEFT)
    assert len(set(reasons)) == 7 and min(reasons) == END == 0 and END < EVENT < min(reasons[2:])
    assert len({EXPLICIT, IMPLICIT, TAYLOR}) == 3
