"""Regions: vertices, intersections, tied states, and what is refused."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from odesys.certify.region import Region, mixture
from odesys.errors import EquationError
from odesys.expr import graph

SEED = 5


def brute_force_vertices(region: Region, names: list[str]) -> set[tuple[sp.Rational, ...]]:
    """All feasible intersections of as many facets as there are states."""
    rows = [(form.slopes, form.constant) for form in region.forms]
    for s in names:
        low, high = region.box[s]
        rows += [({s: Fraction(1)}, -low), ({s: Fraction(-1)}, high)]
    found = set()
    for choice in itertools.combinations(rows, len(names)):
        matrix = sp.Matrix([[sp.Rational(slopes.get(s, 0)) for s in names] for slopes, _ in choice])
        if matrix.det() == 0:
            continue
        point = [Fraction(int(v.p), int(v.q)) for v in matrix.LUsolve(sp.Matrix([-sp.Rational(c) for _, c in choice]))]
        if region.contains(dict(zip(names, point, strict=True))):
            found.add(tuple(point))
    return found


def test_vertices_agree_with_brute_force() -> None:
    rng = random.Random(SEED)
    names = ["x", "y", "z"]
    for _ in range(12):
        conditions = []
        for _ in range(3):
            slopes = [(Fraction(rng.randint(-2, 2)), graph.sym(s)) for s in names]
            conditions.append(graph.num(rng.randint(0, 2)) + graph.combine(slopes))
        region = Region({s: (-1, rng.randint(1, 2)) for s in names}, conditions)
        cut = Region(region.box, [*region.forms, graph.num(9) - graph.add(map(graph.sym, names))])  # all states tied
        wanted = brute_force_vertices(cut, names)
        assert {tuple(v.values()) for v in cut.vertices(names)} == wanted


def test_regions_intersect_tie_states_and_refuse() -> None:
    both = Region({"x": (0, 2), "y": (0, 1)}) & Region({"x": (1, 3), "z": (0, 1)}, [sp.Symbol("x") - sp.Symbol("z")])
    assert both.box["x"] == (1, 2) and set(map(frozenset, both.tied_states)) == {frozenset("xz"), frozenset("y")}
    with pytest.raises(EquationError, match="not linear"):
        Region({"x": (0, 1)}, [sp.Symbol("x") ** 2])
    with pytest.raises(EquationError, match="no range"):
        Region({"x": (0, 1)}, [sp.Symbol("y")])
    with pytest.raises(EquationError, match="empty"):
        Region({"x": (1, 0)})
    with pytest.raises(EquationError, match="contradict"):
        Region({"x": (0, 1)}, [sp.Symbol("x") - 2]).vertices(["x"])


def test_a_box_shrinks_to_what_the_conditions_leave() -> None:
    x, y = graph.sym("x"), graph.sym("y")
    unit = {"x": (0, 1), "y": (0, 1)}
    above, below = Region(unit, [x + y - Fraction(3, 2)]), Region(unit, [Fraction(1, 2) - x - y])
    assert above.shrink(above.box) == dict.fromkeys("xy", (Fraction(1, 2), Fraction(1)))
    assert below.shrink(below.box) == dict.fromkeys("xy", (Fraction(0), Fraction(1, 2)))
    assert below.shrink({"x": (Fraction(3, 4), Fraction(1))}) is None


def test_the_way_to_a_point_inside_ends_there_and_to_one_outside_at_the_condition() -> None:
    x, y = graph.sym("x"), graph.sym("y")
    region = Region({"x": (0, 1), "y": (0, 1)}, [Fraction(1, 2) - x - y, 4 * x - y])
    zero, inside, outside = ({"x": Fraction(n, 4), "y": Fraction(0)} for n in (0, 1, 3))
    assert region.between(zero, inside) == inside and region.between(inside, inside) == inside
    assert region.between(zero, outside) == {"x": Fraction(1, 2), "y": 0}
    assert region.between(outside, zero) is None


def test_a_mixture_lies_between_the_vertices() -> None:
    rng = random.Random(SEED)
    corners = [{"x": Fraction(a), "y": Fraction(b)} for a, b in ((0, 0), (1, 0), (0, 1))]
    found = [mixture(corners, rng) for _ in range(60)]
    assert all(p["x"] >= 0 and p["y"] >= 0 and p["x"] + p["y"] <= 1 for p in found)
    assert any(p in corners for p in found) and any(p["x"] * p["y"] * (1 - p["x"] - p["y"]) > 0 for p in found)
    assert mixture(corners[1:2], rng) == corners[1]


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ({"x": (1, 0)}, "is empty"),
        ({"x": 3}, "3 of x is no pair"),
        ({"x": (1, 2, 3)}, "no pair"),
        ([(0, 1)], "by state"),
    ],
)
def test_a_box_that_is_none_is_refused(box: Any, said: str) -> None:
    with pytest.raises(EquationError, match=said):
        Region(box)
