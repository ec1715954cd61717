"""Passages through zero inside a step, where rounding has put a value on the wrong side before the step began."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

from numerics.flows.scan import LEAVING_WIDTHS, STEP_PARTS, WatchedValues
from numerics.flows.trajectory import StopWhen


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


Values = list[Callable[[float], float]]


def watching(
    values: Values, surfaces: int = 0, directions: Sequence[int] = (), ends: Sequence[int] = ()
) -> WatchedValues:
    """Functions of time that are watched, surfaces first, all of them with the side on which they start."""
    ways, last = list(directions) or [0] * len(values), list(ends) or [0] * len(values)
    specs = [StopWhen(str(k), "t", ways[k - surfaces], bool(last[k - surfaces])) for k in range(surfaces, len(values))]
    watch = WatchedValues(lambda t, x: np.array([value(t) for value in values]), np.ones(surfaces, dtype=bool), specs)
    watch.side = np.sign([value(0.0) for value in values])
    watch.own = watch.side[:surfaces].copy()
    return watch


def scanned(
    watch: WatchedValues, start: float = 0.0, end: float = 1.0
) -> tuple[str, int, list[tuple[float, str, int]]]:
    found = watch.scan(lambda t: np.array([t]), start, end)
    return found.kind, found.index, [(round(e.time, 9), e.name, e.detail["direction"]) for e in found.events]


def test_a_step_is_read_at_the_ends_of_its_parts() -> None:
    for start, end in ((0.0, 1.0), (2.0, 2.5), (-3.0, 9.0)):
        watch = watching([lambda t: t + 50.0])
        times, values = watch._samples(lambda t: np.array([t]), lambda t: np.array([t + 50.0]), start, end)
        assert times == pytest.approx(np.linspace(start, end, STEP_PARTS + 1), abs=1e-15)
        assert (times[0], times[-1]) == (start, end) and values[:, 0] == pytest.approx(times + 50.0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("side", [1.0, -1.0])
@pytest.mark.parametrize("place", [0.13, 0.31, 0.55, 0.62, 0.86, 0.89])
def test_a_narrow_dip_is_found_wherever_it_is_and_in_any_units(scale: float, side: float, place: float) -> None:
    """A cosine that comes through zero for 0.007: its readings are far from it."""
    angle = np.arccos(0.9997) / 7
    watch = watching([lambda t: side * scale * (0.9997 - np.cos(7 * (t - place)))])
    wanted = [(t, "0", int(way * side)) for t, way in ((place - angle, -1), (place + angle, 1)) if t <= 1]
    kind, _, events = scanned(watch)
    assert kind == "" and [e[1:] for e in events] == [e[1:] for e in wanted]
    assert [e[0] for e in events] == pytest.approx([e[0] for e in wanted], abs=1e-7)


@pytest.mark.parametrize("surfaces", [0, 2])
def test_events_are_told_in_order_with_the_directions_asked_for(surfaces: int) -> None:
    happens = [[(0.7, 1)], [(0.3, -1)], [(0.6, -1), (0.62, 1)], [(1.0, 1)]]
    for way in (0, 1, -1):
        values: Values = [lambda t: t + 5.0] * surfaces
        values += [lambda t: t - 0.7, lambda t: 0.3 - t, lambda t: (t - 0.61) ** 2 - 1e-4, lambda t: t - 1.0]
        watch = watching(values, surfaces, [way] * 4)
        kind, _, events = scanned(watch)
        wanted = [(t, str(surfaces + k), d) for k, rows in enumerate(happens) for t, d in rows if way in (0, d)]
        assert (kind, events) == ("", sorted(wanted))
        assert watch.side.tolist() == [1.0] * surfaces + [1.0, -1.0, 1.0, 0.0]


@pytest.mark.parametrize("surfaces", [0, 1])
def test_a_touch_is_what_the_tolerance_of_a_step_can_move_to_zero(surfaces: int) -> None:
    for gap, touched in ((0.0, True), (9e-9, True), (-9e-9, True), (2e-8, False)):
        for way, terminal in ((0, 0), (0, 1), (1, 0)):
            values: Values = [lambda t: t + 5.0] * surfaces + [lambda t, gap=gap: (t - 0.55) ** 2 + gap]
            watch = watching(values, surfaces, [way], [terminal])
            watch.reach = lambda t, x: np.array([1e-8])
            kind, index, events = scanned(watch)
            if touched and way == 0:
                assert [e[1:] for e in events] == [(str(surfaces), 0)] and events[0][0] == pytest.approx(0.55, abs=1e-7)
                assert (kind, index) == (("event", 0) if terminal else ("", -1)) and watch.side[-1] == 1.0
            elif gap > 0:
                assert (kind, events) == ("", [])


@pytest.mark.parametrize("seed", range(12))
def test_the_first_that_ends_a_step_does_and_nothing_behind_it_has_happened(seed: int) -> None:
    """Parabolas with known roots; events of the way before it are told, a switch leaves sides of what comes later."""
    rng = np.random.default_rng(seed)
    roots = [np.sort(rng.uniform(0.03, 1.4, 2)) for _ in range(6)]
    roots = [r if r[1] - r[0] > 0.3 else np.array([r[0], 3.0]) for r in roots]
    signs = rng.choice([-1, 1], 6)
    values: Values = [
        lambda t, r=r, sign=int(sign): sign * (t - r[0]) * (t - r[1]) for r, sign in zip(roots, signs, strict=True)
    ]
    surfaces = int(rng.integers(0, 4))
    ways, ends = rng.integers(-1, 2, 6 - surfaces), rng.integers(0, 2, 6 - surfaces) * (seed % 3 > 0)
    watch = watching(values, surfaces, ways.tolist(), ends.tolist())
    passages = sorted(
        (t, i, int(signs[i]) * (-1, 1)[k]) for i, r in enumerate(roots) for k, t in enumerate(r) if t <= 1
    )
    wanted, end = [], ("", -1)
    for t, i, way in passages:
        event = i - surfaces
        if event >= 0 and ways[event] * way >= 0:
            wanted.append((round(t, 9), str(i), way))
        if event < 0 or (ends[event] and ways[event] * way >= 0):
            end = ("switch", i) if event < 0 else ("event", event)
            break
    assert scanned(watch) == (*end, wanted)


def test_of_one_moment_all_events_are_told_and_an_event_goes_before_a_switch() -> None:
    at = [0.4, 0.4 + 1e-15, 0.4 - 1e-15, 0.4, 0.9]
    values: Values = [lambda t, a=a: t - a for a in at]
    for terminal, kind, index in (
        ([1, 1, 1, 1], "event", 0), ([0, 0, 1, 1], "event", 2), ([0, 1, 0, 0], "event", 1), ([0, 0, 0, 1], "switch", 0)
    ):  # fmt: skip
        watch = watching(values, 1, [0] * 4, terminal)
        assert scanned(watch) == (kind, index, [(0.4, str(k), 1) for k in (1, 2, 3)])
        assert (watch.side[1:4] == (0.0 if kind == "switch" else 1.0)).all()  # beyond a switch it is not known


def test_leaving_zero_gives_a_side_and_is_no_event() -> None:
    values: Values = [lambda t: t, lambda t: -t, lambda t: t * (t - 0.6)]
    watch = watching(values)
    assert scanned(watch) == ("", -1, [(0.6, "2", 1)]) and watch.side.tolist() == [1.0, -1.0, 1.0]
    watch = watching(values)
    watch.width[:] = 1.1 / LEAVING_WIDTHS  # then all stay near zero
    assert scanned(watch) == ("", -1, []) and watch.side.tolist() == [0.0, 0.0, 0.0]
    for own, kind in ((1.0, ""), (-1.0, "denied")):
        watch = watching([lambda t: t], 1)
        watch.own[:] = own
        assert scanned(watch)[:2] == (kind, 0 if kind else -1)


def test_a_surface_that_left_to_its_side_and_came_back_is_a_switch() -> None:
    """By more than rounding; before the first reading, where only halves of it show."""
    watch = watching([lambda t: t * (0.01 - t)], 1)
    watch.own[:] = 1.0
    found = watch.scan(lambda t: np.array([t]), 0.0, 1.0)
    assert (found.kind, found.index) == ("switch", 0) and found.time == pytest.approx(0.01)


def test_of_surfaces_that_are_reached_in_one_part_the_first_is_met() -> None:
    for places in ((0.30, 0.28, 0.35), (0.26, 0.28, 0.35), (0.30, 0.45, 0.27)):
        watch = watching([lambda t, a=a: a - t for a in places], 3)
        found = watch.scan(lambda t: np.array([t]), 0.0, 1.0)
        assert (found.kind, found.index) == ("switch", int(np.argmin(places)))
        assert found.time == pytest.approx(min(places), abs=1e-14)


def test_nothing_is_watched_and_nothing_is_read() -> None:
    watch = WatchedValues(lambda t, x: x, np.ones(0, dtype=bool), ())
    assert watch.scan(lambda t: pytest.fail("there is nothing to read"), 0.0, 1.0).kind == ""
