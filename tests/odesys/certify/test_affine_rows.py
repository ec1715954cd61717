"""Rows as affine functions: put together again they are the field; vertices, rays, and boxes around them."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import pytest

from odesys.certify.affine_rows import extents, generators_of, role, row_of, with_roles
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
