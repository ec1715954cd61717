"""Exact equilibria: points beside an open case, and the ends of continua."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys.analysis import exact_equilibria as room
from odesys.analysis import polynomial_zeros
from odesys.analysis.equilibria import equilibria
from odesys.analysis.exact_equilibria import _follows, _square_roots, exact_equilibria
from odesys.analysis.polynomial_form import polynomial_context
from odesys.reading.grammar import Grammar

CIRCLE = System.from_strings({"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"})


def test_a_circle_of_rest_is_a_family() -> None:
    found = equilibria(CIRCLE)
    assert [e.point for e in found] == [{"x": 0, "y": 0}] and found.complete
    assert [(f.dimension, [str(e) for e in f.equations]) for f in found.families] == [(1, ["x**2 + y**2 - 1"])]


def test_points_that_an_open_case_may_hold_are_not_called_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomial_zeros, "SLICES", 0)  # then no real point of the circle is found
    found = equilibria(CIRCLE)
    assert not found.complete and [e.point for e in found] == [{"x": 0, "y": 0}]
    held = [u.contains for u in found.undecided if u.contains]
    assert {"x": 1, "y": 0} in held and len(held) == 4


def test_symbols_stay() -> None:
    found = equilibria(System.from_strings({"x": "r*x - x^3"}))
    assert len(found) == 3 and found.complete


def test_zero_is_found_where_other_points_in_symbols_stay_open() -> None:
    hopf = System.from_strings({"x": "mu*x - y - x*(x^2 + y^2)", "y": "x + mu*y - y*(x^2 + y^2)"}, ["mu"]).equilibria()
    assert not hopf.complete and [dict(e.point) for e in hopf] == [{"x": 0, "y": 0}] and hopf[0].condition == ()
    divided = System.from_strings(
        {"x": "(mu*x - y^5 - x^3)/(a - y)", "y": "x^3 + mu*y^3 - y"}, ["mu", "a"]
    ).equilibria()
    assert [str(c) for c in divided[0].condition] == ["Ne(a, 0)"]
    shifted = System.from_strings({"x": "mu - y^5 - x^3", "y": "x^3 + mu*y^3 - y"}, ["mu"]).equilibria()
    assert not any(not any(e.point.values()) for e in shifted)


#: with parameters that may make a leading coefficient, a slope or a divisor vanish
IN_SYMBOLS = {
    "roessler": {"x": "-y - z", "y": "x + a*y", "z": "b + z*(x - c)"},
    "lorenz": {"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"},
    "duffing": {"x": "y", "y": "-d*y - a*x - b*x^3"},
    "lotka": {"x": "a*x - b*x*y", "y": "d*x*y - c*y"},
    "quadratic": {"x": "a*x^2 + b*x + c"},
    "glycolysis": {"x": "a - x*y^2 - x*b", "y": "x*y^2 - c*y"},
    "two squares": {"x": "a*x^2 - b", "y": "b*y^2 - c*x"},
    "divided": {"x": "(x^2 - a)/(x + 2)", "y": "x - y"},
    "competition": {"x": "x*(1 - x - a*y)", "y": "y*(1 - y - b*x)"},
    "line": {"x": "a*x + b"},
    "square": {"x": "a^2*x - b^2"},
    "pole": {"x": "(x - a)/(x - b)"},
    "crossed": {"x": "a*y", "y": "b*x"},
    "pair": {"x": "a*x*y", "y": "b*y"},
    "circle": {"x": "x^2 + y^2 - a", "y": "x - b*y"},
    "definite": {"x": "x^2 + a^2 - b"},
    "three": {"x": "x^3 - a*x"},
    "shared": {"x": "(x - a)*(y - b)", "y": "(x - a)*(x - y)"},
}


@pytest.mark.parametrize("name", IN_SYMBOLS)
def test_cases_in_symbols_are_those_of_every_number(name: str) -> None:
    """The answer in symbols at whole numbers, zero among them, against the answer for these numbers."""
    system = System.from_strings(IN_SYMBOLS[name])
    symbolic = system.equilibria()
    everything = (*symbolic, *symbolic.families, *symbolic.special)
    for numbers in product((-1, 0, 4), repeat=len(system.parameters)):
        values = dict(zip(system.parameters, numbers, strict=True))
        at = {sp.Symbol(p, real=True): n for p, n in values.items()}
        if any(all(c.subs(at) for c in u.condition) for u in symbolic.undecided):
            continue
        alive = [e for e in everything if all(c.subs(at) for c in e.condition)]
        exact = system.equilibria(values)
        points = {
            tuple(round(float(sp.sympify(e.point[n]).subs(at)), 9) for n in system.names)
            for e in alive
            if not hasattr(e, "free")
        }
        expected = {tuple(round(float(e.point[n]), 9) for n in system.names) for e in exact}
        assert expected <= points, values
        dimension = max((f.dimension for f in exact.families), default=0)
        assert max((getattr(e, "dimension", 0) for e in alive), default=0) == dimension, values
        assert dimension or points == expected, values  # some may lie in a family


def test_conditions_are_in_their_simplest_form() -> None:
    found = System.from_strings({"v": "v - v^3/3 - w + i", "w": "e*(v + a - b*w)"}).equilibria()
    told = [[str(c) for c in e.condition] for e in found.special]
    assert told == [["Eq(e, 0)"], ["Eq(b, 0)", "Ne(e, 0)"]]  # and none where b is 0 and 1 at once
    assert [str(c) for c in found.undecided[0].condition] == ["Ne(e, 0)", "Ne(b, 0)"]
    assert str(found.special[1].point["v"]) == "-a"


def test_cases_whose_parameters_contradict_them_are_no_families() -> None:
    """Malaria after R. Ross and G. Macdonald: x = a b m y/(a b m y + r) was a family where m = r = 0, as 0/0."""
    malaria = System.from_strings({"x": "m*a*b*y*(1 - x) - r*x", "y": "a*c*x*(1 - y) - g*y"})
    found = equilibria(malaria)
    assert found.complete and len(found.special) > 10
    for one in (*found, *found.families, *found.special):
        assert not any(sp.sympify(value).has(sp.nan, sp.zoo) for value in one.point.values()), one


def test_a_divisor_that_becomes_a_parameter_is_a_condition() -> None:
    """T = s/d is said with d not zero, also where it comes from T = s/(d + k V) and k = 0."""
    virus = System.from_strings({"T": "s - d*T - k*T*V", "I": "k*T*V - e*I", "V": "N*e*I - c*V"})
    d = sp.Symbol("d", real=True)
    found = equilibria(virus)
    over = [one for one in (*found, *found.special) if sp.denom(sp.together(one.point["T"])) == d]
    assert len(over) > 3 and all(sp.Ne(d, 0) in one.condition for one in over)


@pytest.mark.parametrize(
    ("equations", "count"),
    [
        # four limit cycles: S. L. Shi, Sci. Sinica 23 (1980) 153
        (
            "x' = -1e-200*x - y - 10*x^2 + (5 - 1e-13)*x*y + y^2; y' = x + x^2 + (-25 - 8e-52 + 9e-13)*x*y",
            2,
        ),
        ("x' = x^2 - 1e-30", 2),
    ],
)
def test_numbers_of_any_size_have_factors(equations: str, count: int) -> None:
    found = equilibria(System.from_strings(equations))
    assert len(found) == count and found.complete


def test_conditions_on_parameters_are_in_their_simplest_form() -> None:
    (line,) = (f for f in System.from_strings(IN_SYMBOLS["competition"]).equilibria().special if hasattr(f, "free"))
    assert {str(c) for c in line.condition} == {"Eq(a - 1, 0)", "Eq(b - 1, 0)"}


INFINITE = float("inf")
PLANE = System.from_strings("x' = y; y' = x")
EDGE = "whether a continuum of zeros meets its side of the switching surfaces"


def zeros(
    nodes: list[str], sides: dict[str, int], touching: tuple[str, ...] = (), kind: str = "flow", **box: Any
) -> tuple[list[Any], list[Any], list[str]]:
    """Points with their multiplicity, continua with what is free and their conditions, and what is left."""
    read = Grammar().read
    asked = {name: (Fraction(low), Fraction(high)) for name, (low, high) in box.items()}
    system = System.from_strings({"x": "y", "y": "x"}, kind=kind)
    walls = {read(text): sign for text, sign in sides.items()}
    found = exact_equilibria(system, [read(n) for n in nodes], [read(t) for t in touching], walls, asked, 0)
    assert found is not None and found.box == {n: asked.get(n, (-INFINITE, INFINITE)) for n in "xy"}
    points = [(*map(str, e.point.values()), e.multiplicity) for e in found.points]
    families = [
        (*map(str, f.point.values()), f.free, f.dimension, [*map(str, f.equations)], [*map(str, f.condition)])
        for f in found.families
    ]
    return points, families, [u.reason for u in found.undecided]


def line(*conditions: str, at: tuple[str, str] = ("x", "0"), free: str = "x") -> tuple[Any, ...]:
    return (*at, (free,), 1, [], [*conditions])


@pytest.mark.parametrize(
    ("nodes", "sides", "families", "left"),
    [
        (["y", "y"], {"x - 3": 1}, [line("x - 3 >= 0")], []),
        (["y", "y"], {"x - 3": -1}, [line("x - 3 <= 0")], []),
        (["y", "y"], {"y - 1": 1}, [], []),
        (["y", "y"], {"y - 1": -1}, [line()], []),
        (["y", "y"], {"y + 1": 1}, [line()], []),
        (["y", "y"], {"x - 3": 1, "5 - x": 1}, [line("x - 3 >= 0", "5 - x >= 0")], []),
        (["y", "y"], {"x - 3": 1, "1 - x": 1}, [], [EDGE]),
        (["y", "y"], {"1/(x - 3)": 1}, [line("1/(x - 3) >= 0")], []),
        (["x*y", "x*y"], {}, [line(), line(at=("0", "y"), free="y")], []),
        (["x - y", "2*x - 2*y"], {"x + y - 10": 1}, [line("2*y - 10 >= 0", at=("y", "y"), free="y")], []),
        (["x - y", "2*x - 2*y"], {"x - y + 1": -1}, [], []),
        (["y*(x - 1)", "y*(x - 1)"], {"x - 1": 1}, [line("x - 1 >= 0")], []),
        (["y - x^2", "y - x^2"], {"y": 1, "1/100 - y": 1}, [line("1/100 - x**2 >= 0", at=("x", "x**2"))], []),
        (["x^2 + y^2 - 1"] * 2, {"x": 1}, [("x", "y", ("y",), 1, ["x**2 + y**2 - 1"], ["x >= 0"])], []),
        (["x^2 + y^2 - 1"] * 2, {"x - 2": 1}, [], [EDGE]),
        (["(x - 1)/(x - 1)*y", "y"], {}, [line()], []),
    ],
)
def test_continua_lie_on_their_sides(nodes: list[str], sides: dict[str, int], families: Any, left: list[str]) -> None:
    """A wall that is constant along a continuum decides alone; others become conditions, with the ends."""
    assert zeros(nodes, sides) == ([], families, left)


def test_a_map_does_not_rest_at_the_ends_of_a_side() -> None:
    assert zeros(["y", "y"], {"x - 3": 1}, kind="map")[1] == [line("x - 3 > 0")]
    assert zeros(["y", "y"], {"x - 3": -1}, kind="map")[1] == [line("x - 3 < 0")]


@pytest.mark.parametrize(
    ("nodes", "more", "points"),
    [
        (["x^2 - 1", "y^2 - 4"], {}, [("-1", "-2", 1), ("-1", "2", 1), ("1", "-2", 1), ("1", "2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"sides": {"x + y": 1}}, [("-1", "2", 1), ("1", "2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"sides": {"x + y": -1, "x": 1}}, [("1", "-2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"sides": {"1/(x + y)": 1, "x": 1}}, [("1", "2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"sides": {"x - 1": 1}}, []),
        (["x^2 - 1", "y^2 - 4"], {"x": (0, 1)}, [("1", "-2", 1), ("1", "2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"x": (-1, "-1/2"), "y": ("3/2", 2)}, [("-1", "2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"x": ("1/2", 3), "y": (-2, 1)}, [("1", "-2", 1)]),
        (["x^2 - 1", "y^2 - 4"], {"y": ("-3/2", "3/2")}, []),
        (["x^2 - 2", "y - x"], {"x": (0, 2)}, [("sqrt(2)", "sqrt(2)", 1)]),
        (["x^2*(x - 1)", "y"], {}, [("0", "0", 2), ("1", "0", 1)]),
        (["x^2*(x - 1)", "y"], {"touching": ("y",)}, [("0", "0", None), ("1", "0", None)]),
        (["y", "y"], {"touching": ("x - 1",)}, [("1", "0", None)]),
        (["x^2/(x - y)", "y"], {}, []),
        (["1/x - 1", "y"], {}, [("1", "0", 1)]),
        (["x^2 + y^2", "x^2 + y^2"], {}, [("0", "0", None)]),
        (["x^3", "y^2"], {}, [("0", "0", 6)]),
    ],
)
def test_points_lie_on_their_sides_in_the_box_and_on_what_they_touch(nodes: Any, more: Any, points: Any) -> None:
    sides = more.get("sides", {})
    assert zeros(nodes, sides, **{k: v for k, v in more.items() if k != "sides"}) == (points, [], [])


@pytest.mark.parametrize(
    ("text", "roots", "where"),
    [
        ("x**2 - 4", ["-2", "2"], []),
        ("x**2 + 1", [], []),
        ("x**2 + x + 1", [], []),
        ("x**2 + a**2 + 1", [], []),
        ("x**2 - 2*x + 1", ["1"], []),
        ("x**2 - 2*a*x + a**2", ["a"], []),
        ("3*x**2 - x", ["0", "1/3"], []),
        ("x**2 - a", ["-sqrt(a)", "sqrt(a)"], ["a >= 0"]),
        ("-x**2 - a", ["sqrt(-a)", "-sqrt(-a)"], ["a <= 0"]),
        ("2*x**2 + a*x - 1", ["-a/4 - sqrt(a**2 + 8)/4", "-a/4 + sqrt(a**2 + 8)/4"], []),
    ],
)
def test_zeros_of_a_square_and_where_they_are_real(text: str, roots: list[str], where: list[str]) -> None:
    x, a = (sp.Symbol(name, real=True) for name in "xa")
    found = _square_roots(sp.sympify(text, {"x": x, "a": a}), "x", {"x": x, "a": a})
    assert {sp.expand(start["x"]) for start, _ in found} == {sp.expand(sp.sympify(r, {"a": a})) for r in roots}
    assert len(found) == len(roots) and all([str(c) for c in conditions] == where for _, conditions in found)


def test_what_follows_from_equations_between_parameters() -> None:
    context = polynomial_context(["a", "b", "c"])
    a, b, c = context.gens()
    for equal, polynomial, follows in (
        ([], a, False),
        ([], a - a, True),
        ([a], a * b, True),
        ([a], b, False),
        ([a - b, b - c], a - c, True),
        ([a - b, b - c], a + c, False),
        ([a**2], a, False),  # in the ideal, and not only where it vanishes
        ([a, b], 3 * a - 5 * b, True),
    ):
        assert _follows(polynomial, equal, context) is follows


@pytest.mark.parametrize(
    ("equations", "points", "special"),
    [
        ("x' = a*x + b", [(["-b/a"], ["Ne(a, 0)"])], [(["x"], ["Eq(a, 0)", "Eq(b, 0)"])]),
        ("x' = x*(x - a)", [(["0"], []), (["a"], ["Ne(a, 0)"])], []),
        ("x' = x/(x + a)", [(["0"], ["Ne(a, 0)"])], []),
        ("x' = (x - a)/(x - b)", [(["a"], ["Ne(a - b, 0)"])], []),
        ("x' = (a^2 + 1)*x", [(["0"], [])], []),
        ("x' = a", [], [(["x"], ["Eq(a, 0)"])]),
        ("x' = x^2 - 2*a*x + a^2", [(["a"], [])], []),
        (
            "x' = a*x^2 + b*x",
            [(["0"], []), (["-b/a"], ["Ne(b, 0)", "Ne(a, 0)"])],
            [(["x"], ["Eq(a, 0)", "Eq(b, 0)"])],
        ),
    ],
)
def test_conditions_of_cases_by_hand(equations: str, points: Any, special: Any) -> None:
    found = System.from_strings(equations).equilibria()

    def told(some: Any) -> list[Any]:
        return [([*map(str, one.point.values())], [*map(str, one.condition)]) for one in some]

    assert found.complete and told(found) == points and told(found.special) == special


@pytest.mark.parametrize(
    ("equations", "conditions"),
    [
        (
            "x' = b*x + 1 + a*x*y; y' = a*b",
            [["Eq(b, 0)", "Ne(a, 0)"], ["Eq(a, 0)", "Ne(b, 0)"]],
        ),
        ("x' = (a*y + b)*x + 1; y' = 0", [["Ne(a**2 + b**2, 0)"]]),
        ("x' = (a*y + b*c)*x + 1; y' = a*c", [["Eq(c, 0)", "Ne(a, 0)"], ["Eq(a, 0)", "Ne(c, 0)", "Ne(b, 0)"]]),
        ("x' = (a*y + a - b)*x + 1; y' = b - a", [["Eq(a - b, 0)", "Ne(a, 0)"]]),
        ("x' = (a*y + 1)*x + 1; y' = 0", [[]]),
        ("x' = (a*y + b)*x + 1; y' = a - b - 1", [["Eq(a - b - 1, 0)"]]),  # never both zero
    ],
)
def test_a_slope_in_free_states_is_not_zero_throughout(equations: str, conditions: list[list[str]]) -> None:
    found = System.from_strings(equations).equilibria()
    assert found.complete and not found.points
    told = [[*map(str, family.condition)] for family in (*found.families, *found.special)]
    assert sorted(map(sorted, told)) == sorted(map(sorted, conditions))


@pytest.mark.parametrize(
    "equations",
    [
        "x' = x^2*(1 - y*x^2); y' = a - b*y + a*b*x",
        "x' = (a^2 + b^2)*x^2 + b*x - c; y' = a - b*x*y + a*b",
        "x' = a*x^2*y - b; y' = b - a*y + a*b*x^2",
    ],
)
def test_a_degree_that_falls_with_the_parameters_is_a_case_of_its_own(equations: str) -> None:
    """No number of parameters has another answer than the one in symbols, where this is not open."""
    system = System.from_strings(equations)
    symbolic = system.equilibria()
    for numbers in product((-1, 0, 2), repeat=len(system.parameters)):
        values = dict(zip(system.parameters, numbers, strict=True))
        at = {sp.Symbol(p, real=True): n for p, n in values.items()}
        if any(all(c.subs(at) for c in u.condition) for u in symbolic.undecided):
            continue
        everything = (*symbolic, *symbolic.families, *symbolic.special)
        alive = [e for e in everything if all(c.subs(at) for c in e.condition)]
        points = [e for e in alive if not hasattr(e, "free")]
        exact = system.equilibria(values)
        assert len(exact) <= len(points) and bool(exact.families) == (len(alive) > len(points)), values


def test_a_kink_has_no_multiplicity() -> None:
    (point,) = System.from_strings("x' = x*abs(x)").equilibria()
    assert point.point == {"x": 0} and point.multiplicity is None
    assert [e.multiplicity for e in System.from_strings("x' = abs(x) - 1").equilibria()] == [1, 1]


def test_a_point_where_the_formula_of_a_family_has_no_value_is_not_lost() -> None:
    """v = -y^2/x^2 says nothing about x = y = 0: v > 0 forces it, and Whitney's umbrella has the axis of v."""
    umbrella = "x' = x^2*v + y^2; y' = x^2*v + y^2; v' = "
    even = System.from_strings(umbrella + "v^2 - 4").equilibria()
    assert even.complete and [(*e.point.values(),) for e in even] == [(0, 0, 2)] and len(even.families) == 1
    odd = System.from_strings(umbrella + "v^2 - 2").equilibria()
    assert [(*e.point.values(),) for e in odd] == [(0, 0, sp.sqrt(2))] and not odd.complete
    assert [(*u.contains.values(),) for u in odd.undecided if u.contains] == [(0, 0, -sp.sqrt(2))]
    system = System.from_strings(umbrella + "v^2 - 2")
    above = exact_equilibria(system, system.nodes, (), {}, {"v": (Fraction(1), Fraction(2))}, 0)
    assert above is not None and above.complete and len(above) == 1
    whole = System.from_strings(umbrella + "x*(x^2*v + y^2)").equilibria()
    assert whole.complete and not whole.points and sorted(f.free for f in whole.families) == [("v",), ("x", "y")]


def test_a_case_that_needs_more_than_square_roots_is_left_with_its_equation() -> None:
    (left,) = System.from_strings("x' = x^3 - a").equilibria().undecided
    assert left.reason == "a case in symbols needs more than square roots; give numbers" and left.condition == ()
    a, x = (sp.Symbol(name, real=True) for name in "ax")
    assert left.equations == (x**3 - a,)
    mixed = System.from_strings("x' = x^2 - a; y' = y^2 - b*x").equilibria()
    assert [str(c) for c in mixed.undecided[0].condition] == ["Ne(b, 0)"]
    assert all(str(one.condition[0]) == "Eq(b, 0)" for one in mixed.special) and len(mixed.special) == 2


def test_equations_that_are_too_large_are_left_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "quotients", lambda *_: None)
    found = System.from_strings("x' = x - a").equilibria()
    assert [u.reason for u in found.undecided] == ["the equations are too large to be solved in symbols"]
    assert exact_equilibria(PLANE, PLANE.nodes, (), {}, {}, 0) is None and len(found) == 0
