"""Passages through zero inside a step, where rounding has put a value on the wrong side before the step began."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.flows.scan import STEP_PARTS, WatchedValues


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


def test_last_digits_of_a_sum_that_cancels_are_not_read_ever_finer() -> None:
    def state(t: float) -> np.ndarray:
        x = 1e-16 * np.sin(1e4 * t)
        return np.array([(1 + x) - 1])  # 0, but for rounding

    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    times, values = watch._samples(state, state, 0.0, 1.0)
    assert times.size < 20 and 0 < np.abs(values).max() < 1e-15


def test_small_waves_are_read_as_finely_as_large_ones() -> None:
    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    watch.side[:] = 1.0
    found = watch.scan(lambda t: np.array([1e-17 * (0.5 + np.cos(40 * t))]), 0.0, 1.0)
    assert found.kind == "switch" and found.time == pytest.approx(2 * np.pi / 3 / 40)


def test_a_dip_below_zero_between_two_readings_is_found_from_either_side() -> None:
    for side in (1.0, -1.0):
        watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
        watch.side[:], watch.own[:] = side, side
        found = watch.scan(lambda t, side=side: np.array([side * ((t - 0.625) ** 2 - 1e-4)]), 0.0, 1.0)
        assert found.kind == "switch" and found.time == pytest.approx(0.615)


def test_a_step_that_is_read_more_finely_is_read_at_the_ends_of_its_parts() -> None:
    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    times = watch._finer(lambda t: np.array([t - 0.3]), 0.0, 1.0)
    wanted = [1 / 12, 1 / 6, 1 / 4, 1 / 3, 5 / 12, 1 / 2]
    assert np.abs(times[:, None] - wanted).min(axis=0).max() < 1e-12


def test_a_start_that_rounding_put_behind_its_surface_is_no_denial() -> None:
    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    found = watch.scan(lambda t: np.array([t - 1e-18]), 0.0, 1.0)
    assert found.kind == "" and watch.side[0] == 1.0
    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    assert watch.scan(lambda t: np.array([-t]), 0.0, 1.0).kind == "denied"


def test_a_cubic_is_read_no_finer_than_the_parts_of_a_step_and_inside_of_it() -> None:
    """Three parts give what is between, exactly; a wave is halved where it is quick."""
    watch = WatchedValues(lambda t, x: x, np.ones(1, dtype=bool), ())
    asked: list[float] = []

    def cubic(t: float) -> np.ndarray:
        asked.append(t)
        return np.array([(t - 2.3) * (t - 2.9) ** 2])

    times = watch._finer(cubic, 2.0, 3.0)
    assert min(asked) == 2.0 and max(asked) == pytest.approx(3.0)
    assert np.diff([2.0, *times, 3.0]).min() > 1e-3 and times.size < 10 * STEP_PARTS
    wave = watch._finer(lambda t: np.array([np.sin(400 * t)]), 2.0, 3.0)
    assert wave.size > 4 * times.size
