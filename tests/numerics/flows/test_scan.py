"""Passages through zero inside a step, where rounding has put a value on the wrong side before the step began."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from numerics.flows import scan
from numerics.flows.scan import (
    CUBIC,
    DIP_PART,
    DIP_RATIO,
    HALVINGS,
    LEAVING_WIDTHS,
    PROBES,
    STEP_PARTS,
    WEIGHTS,
    StepOutcome,
    WatchedValues,
    sides,
)
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


def no_state(t: float) -> np.ndarray:
    return np.array([t])


@pytest.mark.parametrize("seed", range(4))
def test_dips_are_looked_for_where_the_parabola_of_three_readings_comes_down(seed: int) -> None:
    """Its lowest point, between the outer two readings, is below a quarter of the middle one, or of its bend."""
    rng = np.random.default_rng(seed)
    looked = 0
    for _ in range(60):
        times = 3.0 + np.sort(rng.uniform(0, 2, 7)) + 0.2 * np.arange(7)
        vertex, curve = rng.uniform(3, 6, 5), 10.0 ** rng.uniform(-3, 3, 5)
        least = curve * rng.uniform(-0.1, 1, 5) * 10.0 ** rng.uniform(-2, 1, 5)
        side = rng.choice([-1.0, 1.0], 5)
        own = side * rng.choice([0, 1, 1, 1], 5)
        curve[0] *= -1  # turned away from zero
        values = side * (least + curve * (times[:, None] - vertex) ** 2)
        watch = watching([lambda t: t] * 5, 2)
        watch.side = own
        found: list[tuple[float, float, int, float]] = []

        def touch(state: Any, at: Any, t: float, part: float, i: int, way: float, found: list = found) -> float:
            found.append((t, part, i, way))
            return t + len(found)  # none is like another

        watch._touch = touch  # type: ignore[method-assign]
        lows = watch._lowest(no_state, no_state, times, values)
        wanted = []
        for row in range(5):
            early, late = times[row], times[row + 2]
            for i in range(5):
                here_side = np.sign(values[row + 1, i])
                lowest = here_side * side[i] * least[i] if here_side * side[i] * curve[i] > 0 else np.inf
                bend = abs(curve[i]) * (late - early) ** 2 / 2
                near = lowest < max(abs(values[row + 1, i]) / DIP_RATIO, DIP_PART * bend)
                if near and early < vertex[i] < late and own[i]:
                    wanted.append((vertex[i], (late - early) / 2, i, here_side))
        assert [f[2:] for f in found] == [w[2:] for w in wanted] and lows.size == len(wanted)
        for got, exact in zip(found, wanted, strict=True):
            assert got[:2] == pytest.approx(exact[:2], rel=1e-7)
        looked += len(wanted)
    assert looked > 40


def test_a_dip_that_two_triples_show_is_one() -> None:
    for apart, count in ((0.0, 1), (0.9e-3, 1), (1.1e-3, 2)):
        watch = watching([lambda t: (t - 0.5) ** 2, lambda t: (t - 0.5) ** 2])
        shown: list[float] = []
        step = apart * 0.12505  # half the distance of the outer readings

        def touch(
            state: Any, at: Any, t: float, part: float, i: int, way: float, shown: list = shown, h: float = step
        ) -> float:
            shown.append(t)
            return 0.5 + h * len(shown[1:])

        watch._touch = touch  # type: ignore[method-assign]
        times = np.array([0.25 - 1e-9, 0.4999, 0.5001, 0.75 + 1e-9])
        watch.side[:] = 1.0
        values = np.column_stack([(times - 0.5) ** 2, times**0 + times])
        assert watch._lowest(no_state, no_state, times, values).size == count and len(shown) == 2


def missed(values: list[float], known: list[float], given: list[float], width: float = 0.0) -> bool:
    watch = watching([lambda t: 1.0, lambda t: 1.0], 1)
    watch.width[:] = width
    columns = [np.array(column)[:, None] * np.ones(2) for column in (values, known, given)]
    found = watch._missed(*columns)
    assert found[0] == found[1]
    watch.movable[:] = watch.moving[0] = False
    assert watch._missed(*columns).tolist() == [False, found[1]]  # a surface that can not change is not looked at
    return bool(found[0])


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e7])
def test_a_reading_is_missed_by_more_than_a_tenth_of_the_range_near_zero(scale: float) -> None:
    def told(values: list[float], known: list[float], error: float, up: float = 0.0, width: float = 0.0) -> bool:
        given = [k + error for k in known]
        return missed(*([scale * (v + up) for v in row] for row in (values, known, given)), width=scale * width)  # type: ignore[arg-type]

    readings, probes = [-1.0, 0.5, 2.0, 1.0], [0.3, 1.2, -0.2]  # the range is 3
    for error in (0.29, 0.31, -0.29, -0.31):
        assert told(readings, probes, error) == (abs(error) > 0.3)
    assert told([1.0, 0.5, 0.2], [-1.0, 2.0], 0.31) and not told([1.0, 0.5, 0.2], [-1.0, 2.0], 0.29)
    for up, near in ((6.9, True), (7.1, False), (-7.9, True), (-8.1, False)):  # twice the range from zero
        assert told(readings, probes, 1.0, up) == near
    for width, wide in ((3 / 70, True), (3 / 58, False)):  # rounding alone makes as much
        assert told(readings, probes, 1.0, width=width) == wide


def test_noise_in_the_last_digits_is_not_missed() -> None:
    eps = np.finfo(float).eps
    few, many = [0.0, eps, 0.0, eps], [0.0, 2.5 * eps, 4.1 * eps, 1.3 * eps]
    assert not missed(few, [eps, 0.0], [3 * eps, 3 * eps]) and missed(many, [5.7 * eps, -eps], [9 * eps, 9 * eps])
    assert missed([200 * v for v in few], [200 * eps, 0.0], [600 * eps, 600 * eps])  # these are no last digits
    large = [1.0, 1.0 + 4e-16, 1.0 + 2e-16, -1.0]
    assert missed(large, [0.5, 0.2], [0.9, 0.9])
    assert not missed([1e-14, -1e-14, 3e-15, 1.0], [1.0, 1.0], [1.0, 1.0])


def test_a_step_is_read_in_thirds_and_probes_of_parts_and_of_halves_where_it_is_quick() -> None:
    """Only the part in which it is quick is halved; its readings lie inside of the step."""
    watch = watching([lambda t: t])
    watch.side[:] = 1.0

    def readings(a: float, b: float) -> list[float]:
        return [*(a + (b - a) * np.arange(1, 4) / 3), *(a + (b - a) * np.array(PROBES))]

    smooth = watch._finer(lambda t: np.array([t - 2.4]), 2.0, 4.0)
    wanted = sorted(t for k in range(4) for t in readings(2 + k / 2, 2.5 + k / 2) if t < 4)
    assert smooth == pytest.approx(wanted, abs=1e-14)
    kink = watch._finer(lambda t: np.array([abs(t - 2.8) - 0.01 if t < 3 else 0.19 + (t - 3)]), 2.0, 4.0)
    outside = [t for t in kink if not 2.5 <= t <= 3]
    assert outside == pytest.approx([t for t in wanted if not 2.5 <= t <= 3], abs=1e-14)
    jump = watch._finer(lambda t: np.array([np.sign(t - 2.8)]), 2.0, 4.0)
    gaps = np.diff(jump)
    near = gaps[(jump[1:] > 2.79) & (jump[:-1] < 2.81)].min()
    assert near < 0.5 * 2.0**-HALVINGS and np.all(gaps > 0) and jump.size > 8 * HALVINGS
    assert jump[np.abs(jump - 2.8).argmin()] == pytest.approx(2.8, abs=1e-7)


@pytest.mark.parametrize("speed", [3.0, 30.0, 300.0])
def test_between_the_readings_of_a_wave_it_is_what_they_say(speed: float) -> None:
    """However quick it is, it turns by less than a radian between neighbours; a slow one is not read finely."""
    watch = watching([lambda t: t])
    watch.side[:] = 1.0
    times, values = watch._samples(no_state, lambda t: np.sin(speed * t + np.ones(1)), 5.0, 6.0)
    assert times[0] == 5.0 and times[-1] == 6.0 and np.all(np.diff(times) > 0)
    np.testing.assert_array_equal(values[:, 0], np.sin(speed * times + 1))
    if speed > 10:
        assert np.diff(times).max() * speed < 1
    else:
        assert times.size < 12


def test_the_lowest_point_of_a_dip_is_found_and_noted_where_it_is_a_touch() -> None:
    """Of an event without a direction, nearer to zero than tolerance and rounding can move it; all else is read."""
    places, gaps = [0.4, 0.52, 0.61], [0.5e-6, 0.5e-9, 2e-3]
    functions: Values = [lambda t: np.cosh(t - 0.3) - 1.0, lambda t: t]
    functions += [lambda t, p=p, g=g: np.exp((t - p) ** 2) - 1 + g for p, g in zip(places, gaps, strict=True)]
    for way, width in ((1.0, 0.0), (-1.0, 0.0), (1.0, 1e-10)):
        watch = watching([lambda t, f=f, s=way: s * f(t) for f in functions], 2, [0, 0, 0])
        watch.width[:] = width
        watch.reach = lambda t, x: np.array([1e-6, 1e-9, 1e-3])
        at = lambda t, w=watch: w.read(t, None)  # type: ignore[arg-type]  # noqa: E731
        for i, place in [(0, 0.3), *enumerate(places, 2)]:
            for start in (place - 0.03, place + 0.05):
                watch.touched, watch.rooms = {}, {}
                lowest = watch._touch(no_state, at, start, 0.25, i, way)
                assert lowest == pytest.approx(place, abs=1e-6)
                told = i in (2, 3)
                assert list(watch.touched) == ([i] if told else [])
                if told:
                    assert watch.touched[i] == lowest
                    assert watch.rooms == {i: pytest.approx([1e-6, 1e-9][i - 2] + LEAVING_WIDTHS * width, rel=1e-12)}
    watch = watching(functions, 2, [0, 1, -1])
    watch.reach = lambda t, x: np.ones(3)
    for i, told in ((2, True), (3, False), (4, False)):
        watch.touched = {}
        watch._touch(no_state, lambda t: watch.read(t, None), 0.5, 0.25, i, 1.0)  # type: ignore[arg-type]
        assert (i in watch.touched) == told
    watch.reach = None  # then only rounding counts
    for width, told in ((0.4e-6 / LEAVING_WIDTHS, False), (0.6e-6 / LEAVING_WIDTHS, True)):
        watch.touched, watch.width[2] = {}, width
        watch._touch(no_state, lambda t: watch.read(t, None), 0.41, 0.25, 2, 1.0)  # type: ignore[arg-type]
        assert (2 in watch.touched) == told


def test_what_has_left_zero_by_widths_gets_a_side() -> None:
    values: Values = [lambda t: t, lambda t: -t, lambda t: t, lambda t: -t, lambda t: t]
    for leaves in (0.99, 1.01):
        watch = watching(values, 2)
        watch.width[:] = 0.5 / LEAVING_WIDTHS / leaves
        watch.own = np.array([1.0, -1.0])
        side = np.array([0.0, 0.0, 0.0, 0.0, 1.0])
        at = lambda t, w=watch: w.read(t, None)  # type: ignore[arg-type]  # noqa: E731
        lefts = watch._wake(at, side, at(0.5), 0.0, 0.3, 0.5)
        assert lefts.tolist() == [0.3] * 5
        assert side.tolist() == ([1.0, -1.0, 1.0, -1.0, 1.0] if leaves > 1 else [0.0, 0.0, 0.0, 0.0, 1.0])
    watch = watching(values, 2)
    watch.movable, watch.own = np.array([False, True]), np.array([1.0, 1.0])
    side = np.zeros(5)
    assert watch._wake(lambda t: watch.read(t, None), side, np.array([1.0, -1, 1, 1, 1]), 0.0, 0.0, 1.0) == 1  # type: ignore[arg-type]
    assert side[0] == 0  # it can not change


@pytest.mark.parametrize("back", [0.3, 1e-3, 1e-9])
def test_a_surface_that_came_back_is_on_its_side_from_a_time_on_at_which_it_was(back: float) -> None:
    start, right = 7.0, 8.0
    watch = watching([lambda t: (t - start) * (start + back - t)], 1)
    watch.own[:], watch.width[:] = 1.0, 1e-30
    at = lambda t: watch.read(t, None)  # type: ignore[arg-type]  # noqa: E731
    side = np.zeros(1)
    lefts = watch._wake(at, side, at(right), start, start, right)
    assert side[0] == 1.0 and start < lefts[0] < start + back and at(lefts[0])[0] > 0
    watch = watching([lambda t: start - t], 1)
    watch.own[:] = 1.0
    assert watch._wake(at, np.zeros(1), at(right), start, start, right) == 0  # it is not on that side anywhere


def test_a_surface_that_was_on_its_side_by_rounding_only_is_denied() -> None:
    """It is at most 1/16 above zero, and at the end of the part 1/2 below."""
    watch = watching([lambda t: t * (0.5 - t)], 1)
    watch.own[:] = 1.0
    at = lambda t: watch.read(t, None)  # type: ignore[arg-type]  # noqa: E731
    for width, denied in ((0.01, False), (0.07, True)):
        watch.width[:] = width
        found = watch._wake(at, np.zeros(1), np.array([-2.0]), 0.0, 0.0, 1.0)
        assert (isinstance(found, int) and found == 0) == denied


def outcome(time: float, kind: str = "switch") -> StepOutcome:
    return StepOutcome(kind, time, 0)


def test_which_terminal_event_ends_a_step_and_which_events_are_told() -> None:
    """Events 1 to 4 of which 2 and 3 are terminal; moments are 0.01 long."""
    names = [1, 2, 3, 4]
    watch = watching([lambda t: 1.0 - t] * 5, 1, [0, -1, 0, 1], [0, 1, 1, 0])
    side, same = np.ones(5), 0.01
    passed = [(0.305, 3), (0.30, 2), (0.1, 1), (0.5, 4), (0.1, 4)]
    found = watch._first_event(side, passed, same, outcome(0.9))
    assert (found.kind, found.time, found.index) == ("event", 0.30, 1)
    found = watch._first_event(side, [(0.305, 2), (0.30, 3)], same, outcome(0.9))
    assert (found.kind, found.time, found.index) == ("event", 0.30, 1)  # of one moment the first in the list
    found = watch._first_event(side, [(0.32, 2), (0.30, 3)], same, outcome(0.9))
    assert (found.time, found.index) == (0.30, 2)
    later = outcome(0.285)
    assert watch._first_event(side, passed, same, later) is later
    assert watch._first_event(side, passed, same, outcome(0.295)).kind == "event"
    side[2] = side[3] = -1.0  # then 2 goes up, which is not looked for
    found = watch._first_event(side, passed, same, outcome(0.9))
    assert (found.time, found.index) == (0.305, 2)
    assert watch._first_event(side, [(0.1, 1), (0.2, 2)], same, later) is later
    side = np.ones(5)
    watch.width[:] = 1.0
    told = watch._recorded(side, -np.ones(5), passed, same, outcome(math.inf, ""), 1.0)
    assert [(e.name, e.time, e.detail["direction"]) for e in told] == [
        ("1", 0.1, -1), ("2", 0.30, -1), ("3", 0.30, -1), ("4", 0.5, 1)
    ]  # fmt: skip
    assert [e.detail["terminal"] for e in told] == [False, True, True, False] and {e.kind for e in told} == {"user"}
    assert side.tolist() == [1.0, -1.0, -1.0, -1.0, -1.0] and watch.width.tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]
    side = np.ones(5)
    told = watch._recorded(side, -np.ones(5), passed, same, outcome(0.295), 1.0)
    assert [(e.name, e.time) for e in told] == [("1", 0.1), ("2", 0.295), ("3", 0.295)]
    assert side[names].tolist() == [-1.0, 0.0, 0.0, -1.0]  # a gate turns then, and values may jump
    side = np.ones(5)
    assert [e.name for e in watch._recorded(side, -np.ones(5), passed, same, outcome(0.2), 1.0)] == ["1"]
    assert side[names].tolist() == [-1.0, 1.0, 1.0, -1.0]
    watch.touched = {1: 1.0, 2: 0.7}
    side = np.ones(5)
    told = watch._recorded(side, np.ones(5), [(1.0, 1)], same, outcome(math.inf, ""), 1.0)
    assert [(e.name, e.detail["direction"]) for e in told] == [("1", 0)] and side[1] == 1.0


def test_the_first_of_surfaces_with_times_from_which_they_are_known() -> None:
    places = [0.6, 0.3, 0.45, 0.2]
    watch = watching([lambda t, p=p: p - t for p in places], 4)
    at = lambda t: watch.read(t, None)  # type: ignore[arg-type]  # noqa: E731
    lefts = np.array([0.1, 0.1, 0.25, 0.1])
    found = watch._first_surface(at, watch.side, np.array([0, 1, 2]), lefts, 1.0)
    assert (found.kind, found.index) == ("switch", 1) and found.time == pytest.approx(0.3, abs=1e-14)
    found = watch._first_surface(at, watch.side, np.array([0, 2]), lefts, 1.0)
    assert (found.kind, found.index) == ("switch", 2) and found.time == pytest.approx(0.45, abs=1e-14)
    found = watch._first_surface(at, watch.side, np.array([], dtype=int), lefts, 1.0)
    assert found.kind == "" and found.time == math.inf and found.index == -1
    assert watch._root(at, watch.side, np.array([3, 1]), 0.1, 1.0) == pytest.approx(0.2, abs=1e-14)
    assert watch._root(at, watch.side, np.array([0]), 0.1, 0.6) == 0.6
    assert watch._root(at, watch.side, np.array([3]), 0.2, 1.0) == 0.2 == watch._root(at, watch.side, [3], 0.2, 0.25)


def test_sides_are_signs_and_no_number_has_none() -> None:
    assert sides(np.array([-2.0, 0.0, 3.0, np.nan, np.inf, -np.inf])).tolist() == [-1, 0, 1, 0, 1, -1]
    places = np.arange(4) / 3
    for power in range(4):
        np.testing.assert_allclose(CUBIC @ places**power, np.array(PROBES) ** power, atol=1e-14)
        parts = np.arange(-1, STEP_PARTS + 2)
        np.testing.assert_allclose(WEIGHTS @ parts**power, (STEP_PARTS * np.array(PROBES)) ** power, atol=1e-12)


def test_a_parabola_is_seen_through_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three readings, an eighth of half the distance of readings apart, give its lowest point, up to that far away."""
    monkeypatch.setattr(scan, "TOUCH_TURNS", 1)
    watch = watching([lambda t: t])
    for vertex, found in ((3.17, 3.17), (2.9, 2.9), (3.49, 3.49), (3.9, 3.5), (1.0, 2.5)):
        asked: list[float] = []

        def at(t: float, v: float = vertex, asked: list[float] = asked) -> np.ndarray:
            asked.append(t)
            return np.array([2 * (t - v) ** 2 + 1])

        assert watch._touch(no_state, at, 3.0, 0.5, 0, 1.0) == pytest.approx(found, abs=1e-12)
        assert asked[:3] == pytest.approx([3 - 1 / 16, 3, 3 + 1 / 16])
    assert watch._touch(no_state, lambda t: np.array([5.0 - (t - 3.1) ** 2]), 3.0, 0.5, 0, 1.0) == 3.0  # no dip
    monkeypatch.setattr(scan, "TOUCH_TURNS", 2)
    asked = []

    def line(t: float) -> np.ndarray:
        asked.append(t)
        return np.array([(t - 3.01) ** 2])

    watch._touch(no_state, line, 3.0, 0.5, 0, 1.0)
    assert asked[3:6] == pytest.approx([3.01 - 1 / 128, 3.01, 3.01 + 1 / 128])  # then an eighth as far apart
