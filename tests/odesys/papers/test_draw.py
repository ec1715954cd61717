"""Draws: the book's own seeds and points, and new ones that are inside the hypotheses and repeat themselves."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.errors import OdesysError
from odesys.papers.draw import OWN_DRAW, Draw, _spare_decades
from odesys.papers.hypotheses import Hypothesis

BELOW = Hypothesis("x is below y", "x < y", lambda p: p["y"] - p["x"], strict=True)
RANGES = {"x": (0.1, 10.0), "n": (2, 5)}


def test_seeds_are_distinct_and_can_be_disjoint() -> None:
    for draw in (Draw(), Draw(3, 1), Draw(3, 2), Draw(4, 1)):
        first, rest = draw.seeds(20), draw.seeds(20, start=20)
        assert len({*first, *rest}) == 40
    sets = [set(Draw(3, k).seeds(20)) for k in range(10)]
    assert all(not one & other for i, one in enumerate(sets) for other in sets[:i])


def test_new_points_are_inside_and_repeat_themselves() -> None:
    own = [{"x": 1.0, "y": 2.0, "n": 3}] * 20
    draw = Draw(seed=5, number=1)
    points = draw.points("runs", own, RANGES, [BELOW])
    assert points == draw.points("runs", own, RANGES, [BELOW]) != Draw(5, 2).points("runs", own, RANGES, [BELOW])
    assert draw.points("others", own, RANGES) != points
    assert all(0.1 <= p["x"] < 2.0 == p["y"] and p["n"] in (2, 3, 4, 5) and isinstance(p["n"], int) for p in points)
    assert len({p["x"] for p in points}) == 20
    assert Draw(seed=5).points("runs", own, RANGES, [BELOW]) == own


def test_ranges_outside_the_hypotheses_are_refused() -> None:
    with pytest.raises(OdesysError, match="no point inside the hypotheses was found for runs"):
        Draw(number=1).points("runs", [{"y": 0.01}], {"x": (0.1, 10.0)}, [BELOW])


def test_a_sweep_stays_in_its_range() -> None:
    own = [p["x"] for p in Draw().along("x", 0.01, 1.0, 5, b=1)]
    new = [p["x"] for p in Draw(number=1).along("x", 0.01, 1.0, 5, b=1)]
    assert own[0] == 0.01 and own[-1] == 1.0 and own != new
    assert all(0.01 <= x <= 1.0 for x in new) and sorted(new) == new


def test_the_books_own_draw_is_number_zero_and_counts_from_zero() -> None:
    assert Draw() == Draw(0, 0) == OWN_DRAW and Draw().own and Draw(7).own
    assert not Draw(0, 1).own and not Draw(0, 2).own
    assert Draw(5).seeds(3) == (0, 1, 2) and Draw().seeds(3, start=2) == (2, 3, 4)


@pytest.mark.parametrize("number", [1, 2])
def test_seeds_of_a_new_draw_follow_each_other_and_do_not_depend_on_what_was_asked_before(number: int) -> None:
    draw = Draw(3, number)
    seeds = draw.seeds(6)
    assert seeds == tuple(range(seeds[0], seeds[0] + 6)) and draw.seeds(4, start=2) == seeds[2:]
    assert 10**6 <= seeds[0] < 2**40, "none of a book's own"


def test_whole_ends_give_whole_numbers_positive_ones_a_uniform_logarithm_and_others_a_uniform_number() -> None:
    """Means of 3000 draws, within six standard deviations."""
    own = [{"held": 4}] * 3000
    ranges = {"whole": (2, 5), "one": (3, 3), "scale": (1e-4, 1e4), "mixed": (1, 5.0), "line": (0.0, 2.0)}
    points = Draw(11, 1).points("runs", own, {**ranges, "both": (-1, 3.0)})
    seen = {name: [p[name] for p in points] for name in points[0]}
    assert set(seen["whole"]) == {2, 3, 4, 5} and set(seen["one"]) == {3} and set(seen["held"]) == {4}
    assert all(isinstance(v, int) for v in seen["whole"]) and all(isinstance(v, float) for v in seen["mixed"])
    assert all(1 <= v <= 5 for v in seen["mixed"]) and len(set(seen["mixed"])) == 3000
    for name, value, low, high in (
        ("scale", np.log10, -4, 4),
        ("mixed", np.log, 0, np.log(5)),
        ("line", np.asarray, 0, 2),
        ("both", np.asarray, -1, 3),
    ):
        found = value(seen[name])
        assert low <= found.min() and found.max() <= high
        assert abs(found.mean() - (low + high) / 2) < 6 * (high - low) / np.sqrt(12 * 3000)


@pytest.mark.parametrize(
    ("width", "spare"), [(0.5, 0.25), (1, 0), (1 - 1e-12, 0), (1.5, 0.5), (2, 0), (2.3, 0.3), (3, 1), (5.5, 3.5)]
)
def test_below_a_decade_half_of_a_range_is_spare_and_above_all_beyond_one_or_two(width: float, spare: float) -> None:
    assert _spare_decades(width) == pytest.approx(spare, abs=1e-9)


@pytest.mark.parametrize(
    ("low", "high", "count"),
    [(0.01, 1.0, 5), (1.0, 0.001, 4), (1.0, 500.0, 9), (2.0, 4.0, 3), (1e-6, 1.0, 2), (1, 7, 4)],
)
def test_a_new_draw_along_a_range_moves_each_point_by_less_than_three_quarters_of_a_spacing(
    low: float, high: float, count: int
) -> None:
    """All stay in the range and in order; whole decades stay, and up to half of what is spare goes at each end."""
    own = np.log10([p["x"] for p in Draw().along("x", low, high, count)])
    assert np.allclose(own, np.linspace(np.log10(low), np.log10(high), count), atol=1e-11)
    drawn = [Draw(seed, 1).along("x", low, high, count, b=2) for seed in range(200)]
    assert all(set(p) == {"x", "b"} and p["b"] == 2 for points in drawn for p in points)
    logs = np.log10([[p["x"] for p in points] for points in drawn])
    step, way = own[1] - own[0], np.sign(own[1] - own[0])
    moved = way * (logs - own) / abs(step)
    assert np.all(np.abs(moved) < 0.75) and np.all(way * np.diff(logs) > 0)
    room = min(abs(step), max(0.0, _spare_decades(abs(own[-1] - own[0])))) / 2 / abs(step)  # of each end, in spacings
    for inwards in (moved[:, 0], -moved[:, -1]):
        assert inwards.min() > -1e-9 and 0.9 * room - 1e-9 <= inwards.max() <= room + 1e-9
    shares = np.linspace(0, 1, count)
    jumps = moved[:, 1:-1] - (moved[:, :1] * (1 - shares) + moved[:, -1:] * shares)[:, 1:-1]
    if count > 2:  # between the ends up to a quarter of a spacing to both sides, each by itself
        assert np.abs(jumps).max() <= 0.25 + 1e-9 and jumps.max() > 0.22 and jumps.min() < -0.22
    if count > 3:
        assert np.abs(np.diff(jumps, axis=1)).min(axis=0).max() > 0
