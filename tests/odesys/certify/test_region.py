"""Regions: vertices, intersections, tied states, and what is refused."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction
from typing import Any

import flint
import pytest
import sympy as sp

from odesys.certify.affine_rows import extents
from odesys.certify.region import LinearCondition, Region, exact, mixture
from odesys.errors import EquationError
from odesys.expr import graph

SEED = 5


def brute_force_vertices(region: Region, names: list[str]) -> set[tuple[Fraction, ...]]:
    """All feasible intersections of as many facets as there are states."""
    rows = [(form.slopes, form.constant) for form in region.forms]
    for s in names:
        low, high = region.box[s]
        rows += [({s: Fraction(1)}, -low), ({s: Fraction(-1)}, high)]
    found = set()
    for choice in itertools.combinations(rows, len(names)):
        entries = [Fraction(slopes.get(s, 0)) for slopes, _ in choice for s in names]
        size = len(names)
        matrix = flint.fmpq_mat(size, size, [flint.fmpq(v.numerator, v.denominator) for v in entries])
        if matrix.det() == 0:
            continue
        right = [flint.fmpq(-c.numerator, c.denominator) for _, c in choice]
        place = matrix.solve(flint.fmpq_mat(size, 1, right))
        point = [Fraction(int(place[k, 0].p), int(place[k, 0].q)) for k in range(size)]
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


def random_region(rng: random.Random, names: str, conditions: int) -> Region:
    """A box with small integer ends, some of them equal, and linear conditions on all states together."""
    box = {}
    for name in names:
        low = rng.randint(-2, 1)
        box[name] = (low, low + rng.choice([0, 1, 2, 3]))
    forms = []
    for _ in range(conditions):
        slopes = {name: Fraction(rng.choice([-2, -1, 1, 2, 3])) for name in names}
        forms.append(LinearCondition(slopes, Fraction(rng.randint(-3, 4), 2)))
    return Region(box, forms)


@pytest.mark.parametrize("seed", range(4))
def test_one_condition_shrinks_a_box_to_the_box_around_its_vertices(seed: int) -> None:
    rng = random.Random(seed)
    kinds = set()
    for _ in range(25):
        region = random_region(rng, "xyz", 1)
        found = region.shrink(region.box)
        try:
            wanted = extents({tuple("xyz"): region.vertices("xyz")})
        except EquationError as error:
            assert "the region is empty" in str(error)
            wanted = None
        assert found == wanted
        kinds.add("empty" if wanted is None else "whole" if wanted == region.box else "cut")
    assert {"whole", "cut"} <= kinds


@pytest.mark.parametrize(("names", "conditions"), [("xy", 4), ("xyz", 3), ("xyz", 5), ("xyzu", 3)])
def test_several_conditions_shrink_a_box_to_no_less_than_their_vertices(names: str, conditions: int) -> None:
    rng = random.Random(100 + conditions)
    for _ in range(15):
        region = random_region(rng, names, conditions)
        wanted = brute_force_vertices(region, list(names))
        if not wanted:
            with pytest.raises(EquationError, match="contradict each other"):
                region.vertices(names)
            continue
        assert {tuple(v.values()) for v in region.vertices(names)} == wanted
        found = region.shrink(region.box)
        assert found is not None
        for j, name in enumerate(names):
            values = [point[j] for point in wanted]
            assert region.box[name][0] <= found[name][0] <= min(values)
            assert max(values) <= found[name][1] <= region.box[name][1]


def test_a_box_shrinks_by_the_region_for_what_it_does_not_say_and_repeatedly() -> None:
    """x <= y <= z/2 with z <= 1 in the region: asked about x alone, y has its range; the chain takes two rounds."""
    x, y, z = map(graph.sym, "xyz")
    region = Region({"x": (0, 1), "y": (0, 1), "z": (0, 1)}, [y - x, z / 2 - y])
    assert region.shrink({"x": (Fraction(0), Fraction(1))}) == {"x": (0, 1)}
    assert region.shrink(region.box) == {"x": (0, Fraction(1, 2)), "y": (0, Fraction(1, 2)), "z": (0, 1)}
    tight = {"x": (Fraction(1, 4), Fraction(1)), "y": region.box["y"], "z": (Fraction(0), Fraction(1, 2))}
    assert region.shrink(tight) == {"x": (Fraction(1, 4),) * 2, "y": (Fraction(1, 4),) * 2, "z": (Fraction(1, 2),) * 2}
    halving = Region({"x": (0, 16), "y": (0, 16)}, [y / 2 - x, x - y / 8 - y / 4])
    assert halving.shrink(halving.box) == {"x": (0, 8), "y": (0, 16)}


@pytest.mark.parametrize("seed", range(5))
def test_the_way_out_of_a_region_ends_at_the_last_point_inside(seed: int) -> None:
    rng = random.Random(seed)
    ends = set()
    for _ in range(40):
        region = random_region(rng, "xy", 2)
        inner, outer = ({s: Fraction(rng.randint(-8, 8), 4) for s in "xy"} for _ in range(2))
        found = region.between(inner, outer)
        free = Region(dict.fromkeys("xy", (-100, 100)), region.forms)
        if not free.contains(inner):
            assert found is None
            continue
        assert found is not None and free.contains(found)
        moved = next((s for s in "xy" if inner[s] != outer[s]), None)
        share = Fraction(1) if moved is None else (found[moved] - inner[moved]) / (outer[moved] - inner[moved])
        assert 0 <= share <= 1 and found == {s: inner[s] + share * (outer[s] - inner[s]) for s in "xy"}
        ends.add("whole" if share == 1 else "part")
        if share < 1:
            more = share + Fraction(1, 10**6)
            assert not free.contains({s: inner[s] + more * (outer[s] - inner[s]) for s in "xy"})
    assert ends == {"whole", "part"}


def test_conditions_on_other_states_do_not_end_a_way() -> None:
    x, y = graph.sym("x"), graph.sym("y")
    region = Region({"x": (0, 1), "y": (0, 1)}, [x - y])
    assert region.between({"x": Fraction(0)}, {"x": Fraction(1)}) == {"x": 1}


@pytest.mark.parametrize("seed", range(3))
def test_a_point_is_in_an_intersection_if_it_is_in_both(seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        one, other = random_region(rng, "xy", 1), random_region(rng, "yz", 1)
        try:
            both = one & other
        except EquationError as error:
            assert "is empty" in str(error)
            assert one.box["y"][0] > other.box["y"][1] or other.box["y"][0] > one.box["y"][1]
            continue
        for _ in range(30):
            point = {s: Fraction(rng.randint(-6, 10), 3) for s in "xyz"}
            assert both.contains(point) == (one.contains(point) and other.contains(point))


def test_chains_of_conditions_tie_all_their_states() -> None:
    a, b, c, d = map(graph.sym, "abcd")
    region = Region(dict.fromkeys("abcdef", (0, 1)), [a - b, d - c, c - b, graph.num(1)])
    assert region.tied_states == (tuple("abcd"), ("e",), ("f",))
    assert Region(dict.fromkeys("ab", (0, 1))).tied_states == (("a",), ("b",))


def test_zero_is_in_a_part_of_a_region_up_to_its_border() -> None:
    x, y, z = map(graph.sym, "xyz")
    region = Region({"x": (0, 1), "y": (-1, 0), "z": (1, 2)}, [x - y, z - x - 1])
    assert region.contains_zero(["x"]) and region.contains_zero(["y"]) and region.contains_zero(["x", "y"])
    assert not region.contains_zero(["z"]) and not region.contains_zero(["x", "z"])
    assert not Region({"x": (-2, -1)}).contains_zero(["x"])
    outside = Region({"x": (-1, 1), "y": (-1, 1)}, [x + y - Fraction(1, 2)])
    assert outside.contains_zero(["x"]) and not outside.contains_zero(["x", "y"])
    assert Region({"x": (-1, 1), "y": (-1, 1)}, [x + y]).contains_zero(["x", "y"])


def test_a_linear_condition_is_largest_at_the_ends_its_slopes_point_to() -> None:
    form = LinearCondition({"x": Fraction(2), "y": Fraction(-3), "z": Fraction(0)}, Fraction(1, 2))
    assert form({"x": 1, "y": 2, "z": 7}) == Fraction(-7, 2)
    assert form.highest({"x": (-1, 4), "y": (-2, 5), "z": (0, 1)}) == Fraction(1, 2) + 8 + 6


@pytest.mark.parametrize(
    ("condition", "slopes", "constant"),
    [
        (2 * graph.sym("x") - graph.sym("y") / 3 + 4, {"x": 2, "y": Fraction(-1, 3)}, 4),
        (graph.sym("x"), {"x": 1}, 0),
        (-graph.sym("y"), {"y": -1}, 0),
        (graph.num(3), {}, 3),
        (sp.Rational(-1, 2), {}, Fraction(-1, 2)),
        (sp.Symbol("x") / 2 - 1, {"x": Fraction(1, 2)}, -1),
    ],
)
def test_conditions_are_read_as_linear_forms(condition: Any, slopes: dict[str, Any], constant: Any) -> None:
    (form,) = Region({"x": (0, 1), "y": (0, 1)}, [condition]).forms
    assert (dict(form.slopes), form.constant) == (slopes, constant)
    assert Region({"x": (0, 1), "y": (0, 1)}, [form]).forms == (form,)


@pytest.mark.parametrize("condition", [graph.sym("x") * graph.sym("y"), graph.exp(graph.sym("x")), 1 / sp.Symbol("x")])
def test_what_is_not_linear_is_refused(condition: Any) -> None:
    with pytest.raises(EquationError, match="is not linear in the states"):
        Region({"x": (0, 1), "y": (0, 1)}, [condition])


def test_exact_numbers_of_a_region() -> None:
    assert [exact(v, "x") for v in (3, Fraction(1, 3), 0.1, sp.Rational(2, 7), sp.Integer(-2))] == [
        3,
        Fraction(1, 3),
        Fraction(1, 10),
        Fraction(2, 7),
        -2,
    ]
    for value in (float("nan"), float("inf"), sp.sqrt(2), None, sp.Symbol("a")):
        with pytest.raises(EquationError, match=r"x = .* is not a rational number; a region needs exact numbers"):
            exact(value, "x")


def test_a_box_without_width_has_one_vertex_and_may_be_a_string_of_names() -> None:
    region = Region({"x": (2, 2), "y": (-1, -1)})
    assert region.vertices(["x", "y"]) == [{"x": 2, "y": -1}] and region.contains({"x": 2, "y": -1})
    assert not region.contains({"x": 2, "y": 0}) and not region.contains({"x": Fraction(3, 2), "y": -1})
    with pytest.raises(EquationError, match="'12' of x is no pair"):
        Region({"x": "12"})
