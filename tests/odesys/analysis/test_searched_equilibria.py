"""Equilibria in a box: zeros whose first box is wide."""

from __future__ import annotations

import math

import pytest

from odesys import System
from odesys.analysis.equilibria import equilibria


@pytest.mark.parametrize("text", ["tanh(2*x) - x", "atan(2*x) - x", "x*exp(-x^2/50)", "erf(3*x) - x"])
def test_zero_is_named_where_newtons_method_runs_away(text: str) -> None:
    found = equilibria(System.from_strings({"x": text}))
    assert 0 in [e.point["x"] for e in found]
    widths = [float(e.enclosure["x"][1] - e.enclosure["x"][0]) for e in found]
    assert max(widths) < 1e-20


#: equations in which a state is given by the others except where its slope and the rest of its equation both vanish
SPLIT = {
    "Gompertz": ({"x": "-x*log(x/3) - x*y", "y": "x*y - y"}, {(1.0, 1.098612), (3.0, 0.0)}),
    "Ricker": ({"x": "x*(exp(1 - x) - y)", "y": "y*(x - 1/2)"}, {(0.0, 0.0), (0.5, 1.648721)}),
    "saturated": (
        {"x": "x*(1 - x) - tanh(x)*y", "y": "y*(tanh(x) - 1/2)"},
        {(0.0, 0.0), (1.0, 0.0), (0.549306, 0.495138)},
    ),
    "three": (
        {"x": "x*(2 - exp(x) - y)", "y": "y*(x - z - 1/8)", "z": "z*(x - 1/4)"},
        {(0.0, 0.0, 0.0), (0.693147, 0.0, 0.0), (0.125, 0.866852, 0.0), (0.25, 0.715975, 0.125)},
    ),
    "reaction": ({"a": "1 - a*b*exp(-c)", "b": "a*b*exp(-c) - b", "c": "b - c"}, {(2.718282, 1.0, 1.0)}),
}


@pytest.mark.parametrize("name", SPLIT)
def test_points_where_a_slope_vanishes_are_not_lost(name: str) -> None:
    equations, expected = SPLIT[name]
    system = System.from_strings(equations)
    least = "1/10" if name == "Gompertz" else -4  # its logarithm has no value at zero
    found = system.equilibria(box={n: (least if n == "x" else -4, 4) for n in system.names})
    places = {tuple(round(float(e.point[n]), 6) + 0.0 for n in system.names) for e in found}
    assert places == expected and found.complete


def test_products_are_searched_factor_by_factor() -> None:
    """V. S. Ivlev's predator, whose own equation is a product: y = 0, or the prey is where it breaks even."""
    predator = System.from_strings({"x": "x*(1 - x) - y*(1 - exp(-2*x))", "y": "y*(1/2 - exp(-2*x))"})
    found = predator.equilibria()
    assert found.complete and [e.multiplicity for e in found] == [1, 1, 1]
    inner = found[1].point
    assert inner["x"] == pytest.approx(math.log(2) / 2) and inner["y"] == pytest.approx(
        2 * inner["x"] * (1 - inner["x"])
    )
    assert [dict(found[k].point) for k in (0, 2)] == [{"x": 0, "y": 0}, {"x": 1, "y": 0}]
    twice = System.from_strings({"x": "(exp(x) - 2)^2"}).equilibria()
    assert twice.complete and [e.multiplicity for e in twice] == [None]
    assert twice[0].point["x"] == pytest.approx(math.log(2))


def test_a_zero_of_a_factor_where_another_has_no_value_is_left_open() -> None:
    found = System.from_strings({"x": "x^2*(exp(x) - 2)*log(x)", "y": "sin(x) - y"}).equilibria()
    assert not found.complete and all(float(e.point["x"]) > 0.5 for e in found) and len(found) == 2


def test_a_zero_of_two_factors_is_one_point() -> None:
    found = System.from_strings({"x": "x*sin(x)", "y": "sinh(y) + x"}).equilibria(box={"x": (-2, 2), "y": (-2, 2)})
    assert found.complete and [dict(e.point) for e in found] == [{"x": 0, "y": 0}]


ELIMINATED = {  # states with slopes that are neither 1 nor -1, and where the others vanish
    "a number": ({"x": "3*exp(y) - 2*x", "y": "sin(y)"}, [(1.5, 0.0)]),
    "a function": ({"x": "cos(y) + 5 - (2 + sin(y))*x", "y": "tanh(y - 1)"}, [(1.95, 1.0)]),
    "a chain": ({"x": "y - 4*x", "y": "exp(z) + 3*y", "z": "sinh(z) - 1"}, [(-0.201, -0.805, 0.881)]),
}


@pytest.mark.parametrize("name", ELIMINATED)
def test_a_state_that_others_give_makes_its_equation_vanish(name: str) -> None:
    equations, expected = ELIMINATED[name]
    system = System.from_strings(equations)
    found = system.equilibria(box=dict.fromkeys(system.names, (-3, 3)))
    points = [[float(e.point[n]) for n in system.names] for e in found]
    assert found.complete and [pytest.approx(p, abs=1e-3) for p in expected] == points
    for point in points:
        assert abs(system.compile()(0.0, point)).max() < 1e-12


@pytest.mark.parametrize(
    ("box", "count"), [((0, "3/2"), 1), (("3/2", 2), 1), ((0, "149/100"), 0), (("151/100", 2), 0), ((1, 2), 1)]
)
def test_a_box_has_its_ends_for_states_that_others_give_too(box: tuple[object, object], count: int) -> None:
    system = System.from_strings(ELIMINATED["a number"][0])
    assert len(system.equilibria(box={"x": box, "y": (-3, 3)})) == count


def test_zeros_count_on_their_side_of_a_switching_surface_only() -> None:
    """exp(x) - 1/2 - [x > 0] is zero at log(3/2) and at -log 2, each on its side, and both sides push to x = 0."""
    found = equilibria(System.from_strings({"x": "exp(x) - 1/2 - step(x)"}))
    assert found.complete and [e.slides for e in found] == [False, True, False]
    assert [float(e.point["x"]) for e in found] == pytest.approx([-math.log(2), 0, math.log(1.5)], abs=1e-12)
    across = equilibria(System.from_strings({"x": "exp(x) - 3/2 + step(x)"}))  # each zero on the other side
    assert across.complete and not [e for e in across if not e.slides]


def test_a_field_that_is_not_zero_on_a_kink_does_not_rest_there() -> None:
    """There are two equations for one state on the kink: that of the kink, and the field."""
    found = equilibria(System.from_strings({"x": "exp(x) - 3 + 2*abs(x - 1)"}))
    assert found.complete and len(found) == 2 and not found.families and found[0].point["x"] == 0
    x = float(found[1].point["x"])
    assert x > 1 and math.exp(x) + 2 * x == pytest.approx(5, abs=1e-12)
    at_kink = equilibria(System.from_strings({"x": "exp(x - 1) - 1 + 2*abs(x - 1)"}))
    assert 1.0 in [float(e.point["x"]) for e in at_kink]
