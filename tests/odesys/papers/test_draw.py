"""Draws: the book's own seeds and points, and new ones that are inside the hypotheses and repeat themselves."""

from __future__ import annotations

import pytest

from odesys.errors import OdesysError
from odesys.papers.draw import Draw
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
