"""Rows as affine functions: put together again they are the field; vertices, rays, and boxes around them."""

from __future__ import annotations

import itertools
import math
import random
from fractions import Fraction

import pytest

from odesys.certify.affine_rows import COMBINATION_LIMIT, extents, generators_of, role, row_of, with_roles
from odesys.certify.region import Region
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import Node, exp, sym

X, Y, Z = sym("x"), sym("y"), sym("z")
UNIT = Region({"x": (0, 1), "y": (0, 2), "z": (-1, 1)})
CORNERS = {("x",): [{"x": Fraction(v)} for v in (0, 1)], ("y",): [{"y": Fraction(v)} for v in (0, 2)]}


def value(node: Node, **point: Fraction) -> Fraction:
    return graph.evaluate([node], point, {}, Fraction)[0]


@pytest.mark.parametrize("node", [X * Z + 3 * Y - Z**2, (X + 2 * Y) * (1 + Z), X * Y * Z - X, Z + 5])
def test_a_row_is_the_field_again(node: Node) -> None:
    row = row_of("x'", node, {"x": Fraction(1)}, UNIT, CORNERS, {})
    for x, y, z in itertools.product((0, 1), (0, 2), (Fraction(-1, 3), Fraction(2, 5))):
        at = {"x": Fraction(x), "y": Fraction(y), "z": Fraction(z)}
        linear = sum((at[s] * value(c, **at) for s, c in row.slopes.items()), value(row.constant, **at))
        assert linear == value(node, **at)


def test_a_row_at_a_vertex_and_its_row_of_the_matrix() -> None:
    row = row_of("x'", X * Z + Y, {"x": Fraction(2), "y": Fraction(-1)}, UNIT, CORNERS, {})
    vertex = {"x": Fraction(1), "y": Fraction(2)}
    assert row.at(vertex) is Z + 2 and row.beta(vertex) == 0 and row.beta({"x": Fraction(1), "y": Fraction(0)}) == 2
    assert row.ranges == {"z": (-1, 1)}


def test_rays_are_enough_for_a_homogeneous_row_at_zero() -> None:
    all_of_them, cone = generators_of("x'", ["x", "y"], False, UNIT, CORNERS)
    assert len(all_of_them) == 4 and not cone
    rays, cone = generators_of("x'", ["x", "y"], True, UNIT, CORNERS)
    assert cone and [{s: v for s, v in ray.items() if v} for ray in rays] == [{"x": 1}, {"y": 2}]


def test_too_many_vertices_get_a_sentence() -> None:
    names = [f"s{k}" for k in range(13)]
    corners = {(name,): [{name: Fraction(v)} for v in (1, 2)] for name in names}
    region = Region({name: (1, 2) for name in names})
    with pytest.raises(EquationError, match="more than 4096 combinations"):
        generators_of("s0'", names, True, region, corners)


def test_the_box_around_the_vertices() -> None:
    assert extents(CORNERS) == {"x": (0, 1), "y": (0, 2)}


def test_marked_rows_are_affine_in_the_marks_and_read_as_before() -> None:
    node = (X + exp(Z)) * (Y - X) + X**2
    marked = with_roles(node, CORNERS, ["x"])
    back = graph.substitute([marked], {role("x"): X, role("y"): Y})[0]
    assert graph.symbols([marked]) & {"x'", "y'"}
    for slope in graph.gradient(marked, [role("x"), role("y")]):
        assert not graph.symbols([slope]) & {"x'", "y'"}
    env = {"x": 0.3, "y": 1.1, "z": -0.7}
    numbers = [graph.evaluate([n], env, {"exp": math.exp}, float)[0] for n in (node, back)]
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-14)


@pytest.mark.parametrize("node", [X * Z + 3 * Y - Z**2, (X + 2 * Y) * (1 + Z), (1 + X) * (Z - 2) + (Y + Z) * Z])
def test_what_is_linear_in_the_states_is_all_in_the_slopes(node: Node) -> None:
    row = row_of("x'", node, {"x": Fraction(1)}, UNIT, CORNERS, {})
    assert set(row.slopes) == {s for s in ("x", "y") if graph.sym(s) in graph.topological([node])}
    for part in (row.constant, *row.slopes.values()):
        assert not graph.symbols([part]) & {"x", "y"}
    for state, slope in row.slopes.items():
        at = {"x": Fraction(1), "y": Fraction(2), "z": Fraction(-1, 3)}
        (wanted,) = graph.gradient(node, [graph.sym(state)])
        assert value(slope, **at) == value(wanted, **at)


NODES = [
    X**2 * Y + 3 * X * Z - Y**3,
    graph.sqrt(1 + X) * Y + X * exp(X) - graph.power(X + 2, Fraction(3, 2)),
    (X + 2 * Y) * (Z - X) * (1 + Y) + 5,
    2 * (X - Y * (Z + X * 3)) * exp(Z * X) - (Y + Z) ** 2 * X,
    Y / (2 + X) + (X - 1) / (Y + 3) - 4 * Z,
    (1 + Z) * (2 - Z) + (X - Z) * (Y + 2) * (X + Y + 1),
]


@pytest.mark.parametrize("weights", [["x"], ["y"], ["x", "y"], []])
@pytest.mark.parametrize("node", NODES)
def test_slopes_and_marks_are_two_ways_to_say_the_same(node: Node, weights: list[str]) -> None:
    """A row is c_0 + c_x x' + c_y y' for all numbers in the linear role, in both forms; with x' = x it is the field."""
    rng = random.Random(7)
    row = row_of("x'", node, {name: Fraction(1) for name in weights}, UNIT, CORNERS, {})
    marked = with_roles(node, CORNERS, weights)
    parts = [row.constant, *row.slopes.values(), marked, node]
    for _ in range(6):
        at = {name: rng.uniform(-0.9, 1.9) for name in ("x", "y", "z", "x'", "y'")}
        for env in (at, {**at, "x'": at["x"], "y'": at["y"]}):
            constant, *slopes, whole, field = graph.evaluate(parts, env, {"exp": math.exp}, float)
            total = constant + sum(c * env[f"{s}'"] for s, c in zip(row.slopes, slopes, strict=True))
            assert total == pytest.approx(whole, rel=1e-12, abs=1e-12)
        assert total == pytest.approx(field, rel=1e-12, abs=1e-12)


def test_of_a_product_the_state_of_the_matrix_is_the_linear_one_then_the_first() -> None:
    def taken(node: Node, weights: list[str]) -> dict[str, Node]:
        return row_of("x'", node, {name: Fraction(1) for name in weights}, UNIT, CORNERS, {}).slopes

    assert taken(X * Y, ["x"]) == taken(X * Y, []) == {"x": Y} and taken(X * Y, ["y"]) == {"y": X}
    assert taken(X**3 * Z, ["x"]) == {"x": X**2 * Z}
    assert taken(graph.sqrt(X) * Y, ["x"]) == {"y": graph.sqrt(X)}
    assert taken(graph.power(X, Fraction(3, 2)), ["x"]) == {} and taken(Y / X, ["x"]) == {"y": 1 / X}
    assert with_roles(X * Y, CORNERS, ["y"]) is role("y") * X and with_roles(X**2, CORNERS, ["x"]) is role("x") * X


def test_what_a_row_sees_of_the_box_is_what_its_coefficients_depend_on() -> None:
    row = row_of("x'", X * Y + X * Z + sym("p"), {"x": Fraction(1)}, UNIT, CORNERS, {})
    assert row.ranges == {"y": (0, 2), "z": (-1, 1)} and row.constant is sym("p")
    assert row_of("x'", 3 * X + Y, {"x": Fraction(1)}, UNIT, CORNERS, {}).ranges == {}
    smaller = {**CORNERS, ("y",): [{"y": Fraction(1, 2)}, {"y": Fraction(1)}]}
    assert row_of("x'", X * Y, {"x": Fraction(1)}, UNIT, smaller, {}).ranges == {"y": (Fraction(1, 2), 1)}


def test_only_a_homogeneous_row_has_rays() -> None:
    generators = {
        name: row_of("x'", node, {"x": Fraction(1)}, UNIT, CORNERS, {}).generators
        for name, node in {"plain": X + Y, "shifted": X + Y + 1}.items()
    }
    assert generators["plain"] == [{"x": 1, "y": 0}, {"x": 0, "y": 2}]
    assert generators["shifted"] == [{"x": a, "y": b} for a in (0, 1) for b in (0, 2)]


def test_the_objective_of_a_row_is_divided_by_its_row_of_the_matrix_where_that_is_positive() -> None:
    row = row_of("x'", X * Z + Y, {"x": Fraction(3), "y": Fraction(-1)}, UNIT, CORNERS, {})
    for vertex, divisor in (({"x": 1, "y": 0}, 3), ({"x": 1, "y": 2}, 1), ({"x": 0, "y": 2}, 1), ({"x": 0, "y": 0}, 1)):
        found = row.objective({s: Fraction(v) for s, v in vertex.items()})
        assert found.divisor == divisor and found.node is row.at({s: Fraction(v) for s, v in vertex.items()})
    plain = row_of("x'", 2 * X - Y + 1, {"x": Fraction(1)}, UNIT, CORNERS, {})
    assert plain.exact({"x": Fraction(1, 2), "y": Fraction(2)}) == 0


def test_vertices_that_a_row_can_not_tell_apart_are_looked_at_once() -> None:
    corners = {("x", "y"): [{"x": Fraction(a), "y": Fraction(b)} for a, b in ((0, 0), (1, 1), (1, 2), (2, 2))]}
    region = Region({"x": (0, 2), "y": (0, 2), "z": (0, 1)}, [Y - X])
    seen, cone = generators_of("x'", ["x"], False, region, corners)
    assert not cone and [v["x"] for v in seen] == [0, 1, 2] and all(set(v) == {"x", "y"} for v in seen)
    both, _ = generators_of("x'", ["x", "y"], False, region, corners)
    assert both == corners["x", "y"]
    rays, cone = generators_of("x'", ["x", "y"], True, region, corners)
    assert cone and rays == [{"x": 1, "y": 1}, {"x": 1, "y": 2}], "(2, 2) is on the ray of (1, 1), and 0 on none"
    negative = {("x",): [{"x": Fraction(-2)}, {"x": Fraction(1)}]}
    wide = Region({"x": (-2, 1)})
    assert generators_of("x'", ["x"], True, wide, negative) == ([{"x": -2}, {"x": 1}], True)


def test_away_from_zero_vertices_count_and_not_rays() -> None:
    corners = {("x",): [{"x": Fraction(1)}, {"x": Fraction(2)}], ("y",): [{"y": Fraction(0)}, {"y": Fraction(1)}]}
    region = Region({"x": (1, 2), "y": (0, 1)})
    found, cone = generators_of("x'", ["x", "y"], True, region, corners)
    assert not cone and found == [{"x": a, "y": b} for a in (1, 2) for b in (0, 1)]
    found, cone = generators_of("x'", ["y"], True, region, corners)
    assert cone and found == [{"y": 1}], "what the row does not see does not matter"


def test_as_many_vertices_as_the_limit_says() -> None:
    names = [f"s{k}" for k in range(12)]
    corners = {(name,): [{name: Fraction(v)} for v in (1, 2)] for name in names}
    found, cone = generators_of("s0'", names, False, Region({name: (1, 2) for name in names}), corners)
    assert len(found) == COMBINATION_LIMIT == 2**12 and not cone
    many = [*names, "more"]
    region = Region({name: (0, 2) for name in many})
    rays, cone = generators_of("s0'", many, True, region, {**corners, ("more",): [{"more": Fraction(1)}]})
    assert cone and len(rays) == 13, "rays are few"
