"""Equilibria in a box: zeros whose first box is wide."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp
from scipy import optimize

from odesys import System, analyse
from odesys.analysis.equilibria import equilibria
from odesys.analysis.rest_sets import Equilibrium, Undecided
from odesys.analysis.searched_equilibria import (
    _factor_by_factor,
    _factors,
    _linear_states,
    _not_square,
    _of_the_whole,
    _repeated,
    _scale,
    _simple,
    _touch,
    _value_at,
)
from odesys.errors import EquationError
from odesys.exact.balls import ball_endpoints
from odesys.expr import graph
from odesys.expr.graph import sym
from tests.found_lines import texts


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


def test_how_far_a_search_goes_by_default() -> None:
    """Ten times the largest number in the equations, as a power of ten, from ten to a hundred thousand."""
    x = sym("x")
    for number, size in (
        (1, 10),
        (2, 100),
        (9, 100),
        (10, 100),
        (11, 1000),
        (100, 1000),
        (10**7, 10**5),
        (10**4, 10**5),
    ):
        assert _scale([graph.exp(x) + number]) == size == _scale([number * x - graph.exp(x)])
        assert _scale([graph.exp(-number * x) + x]) == size
    assert _scale([x + Fraction(1, 50)]) == _scale([x]) == _scale([]) == 10
    assert _scale([-700 + graph.exp(x), x + 3]) == 10**4


@pytest.mark.parametrize(
    ("text", "ends"), [("exp(x) - 1001", 10**5), ("exp(x) - 90", 1000), ("sinh(x) - x/2", 10), ("30*tanh(x) - x", 1000)]
)
def test_a_search_without_a_box_says_where_it_looked(text: str, ends: int) -> None:
    assert System.from_strings({"x": text}).equilibria().box["x"] == (-ends, ends)


def test_simple_numbers_in_narrow_intervals() -> None:
    width = Fraction(1, 10**20)

    def around(value: Fraction) -> tuple[Fraction, Fraction]:
        return value - width, value + width

    for value in (Fraction(0), Fraction(-3, 7), Fraction(22, 7), Fraction(10**9), Fraction(1, 9973)):
        assert _simple(around(value)) == sp.Rational(value.numerator, value.denominator)
    assert _simple(around(Fraction(1, 10007))) is None and _simple(around(Fraction(1, 991)), 990) is None
    with flint.ctx.workprec(200):
        pi = ball_endpoints(flint.arb.pi())[0]
        root = ball_endpoints(flint.arb(2).sqrt())[0]
    for turns in (Fraction(1), Fraction(-2, 3), Fraction(5, 6), Fraction(1, 997)):
        assert _simple(around(turns * pi)) == sp.pi * sp.Rational(turns.numerator, turns.denominator)
    assert _simple(around(root)) is None and _simple(around(pi / 1009)) is None
    assert (
        _simple((Fraction(1, 3), Fraction(1, 3))) == sp.Rational(1, 3)
        and _simple((Fraction(1, 3), Fraction(1, 2))) is not None
    )


def test_boxes_touch_where_all_their_sides_do() -> None:
    for (a, b), (c, d), (e, f), (g, h) in product([(0, 1), (1, 2), (2, 3)], repeat=4):
        one = {"x": (Fraction(a), Fraction(b)), "y": (Fraction(c), Fraction(d))}
        other = {"x": (Fraction(e), Fraction(f)), "y": (Fraction(g), Fraction(h))}
        assert _touch(one, other) == (max(a, e) <= min(b, f) and max(c, g) <= min(d, h))


def test_factors_with_states_are_what_a_product_vanishes_with() -> None:
    x, y, p = sym("x"), sym("y"), sym("p")
    assert set(_factors(3 * x * graph.exp(y) * p * (x - y), {"x", "y"})) == {x, graph.exp(y), x - y}
    assert set(_factors(x**2 * (y - 1) * 5 / (x + 2), {"x", "y"})) in ({x, y - 1}, {x, 1 - y})
    assert _factors(x + y, {"x", "y"}) == [x + y] and _factors(x, {"x"}) == [x]
    assert _factors(p * (p + 1), {"x"}) == [p * (p + 1)]


def test_states_that_are_linear_in_an_equation_are_given_by_the_others() -> None:
    system = System.from_strings({"x": "exp(y) - 2*x", "y": "sin(y) + x*y - z", "z": "y - z/3"})
    solved, left, divided = _linear_states(system, system.nodes)
    assert [name for name, _ in solved] and len(solved) + len(left) == 3 and len(divided) == len(solved)
    free = set(system.names) - {name for name, _ in solved}
    assert len(free) == 1 and graph.symbols(left) == free
    at: dict[str, Any] = dict.fromkeys(free, 0.7)
    for name, value in reversed(solved):
        (at[name],) = graph.evaluate([value], at, {"exp": math.exp, "sin": math.sin}, float)
    zero = graph.evaluate(list(system.nodes), at, {"exp": math.exp, "sin": math.sin}, float)
    assert sum(abs(v) < 1e-12 for v in zero) >= len(solved)
    for (name, value), (slope, rest) in zip(solved, divided, strict=True):
        assert not graph.symbols([slope, rest]) & {name} and value is -rest / slope
    assert _linear_states(System.from_strings({"x": "sinh(x)"}), [graph.call("sinh", sym("x"))]) == (
        [],
        [graph.call("sinh", sym("x"))],
        [],
    )


@pytest.mark.parametrize(("text", "order"), [("1 - cos(x)", 2), ("x - sin(x)", 3)])
def test_a_repeated_zero_of_one_equation_has_its_order(text: str, order: int) -> None:
    found = System.from_strings({"x": text}).equilibria(box={"x": (-1, 1)})
    assert found.complete and [(e.point["x"], e.multiplicity, e.evidence) for e in found] == [(0, order, "proof")]


@pytest.mark.parametrize("place", [Fraction(0), Fraction(2, 3)])
def test_the_order_of_a_zero_is_that_of_the_first_derivative_that_is_not_zero_there(place: Fraction) -> None:
    """Of (x - c)^n e^x for n up to 6; a box in which that derivative vanishes elsewhere does not show it."""
    x = sym("x")
    narrow, wide = ({"x": (place - width, place + width)} for width in (Fraction(1, 1000), Fraction(9)))
    for order in range(1, 9):
        node = (x - place) ** order * graph.exp(x)
        found = _repeated(Undecided("", narrow), node, "x")
        if order > 6:
            assert found is None
            continue
        assert found is not None and found.multiplicity == order and found.evidence == "proof"
        assert found.point == {"x": sp.Rational(place.numerator, place.denominator)} and found.enclosure == narrow
        assert _repeated(Undecided("", wide), node, "x") is None
    assert _repeated(Undecided("", narrow), x - place + Fraction(1, 7), "x") is None
    odd = {"x": (Fraction(14142135, 10**7), Fraction(14142136, 10**7))}
    assert _repeated(Undecided("", odd), (x**2 - 2) ** 2, "x") is None, "no simple number is in the box"


def test_a_zero_in_a_box_that_stays_open_is_named() -> None:
    """In two states a repeated zero has no order."""
    plane = System.from_strings({"x": "1 - cos(x) + y*sinh(y)", "y": "y - sin(y) + x*sinh(x)*exp(y)"})
    found = plane.equilibria(box={"x": (-1, 1), "y": (-1, 1)})
    named = [u for u in found.undecided if u.contains]
    assert not found.complete and named and all(dict(u.contains) == {"x": 0, "y": 0} for u in named)
    assert all("it holds a zero, at which the test fails" in u.reason for u in named)


def test_fewer_equations_than_states_leave_a_continuum() -> None:
    line = System.from_strings({"x": "exp(x) - y - 1", "y": "0"}).equilibria()
    (family,) = line.families
    assert (family.dimension, family.evidence, not line.points) == (1, "certificate", True)
    (free,) = family.free
    value = sp.sympify(family.point["y" if free == "x" else "x"])
    expected = {"x": sp.exp(sp.Symbol("x", real=True)) - 1, "y": sp.log(sp.Symbol("y", real=True) + 1)}[free]
    names = {s: sp.Symbol(s.name, real=True) for s in value.free_symbols}
    assert sp.simplify(value.subs(names) - expected) == 0
    curve = System.from_strings({"x": "exp(x) + exp(y) + sin(x*y) - 3", "y": "0"}).equilibria(
        box={"x": (-3, 3), "y": (-3, 3)}
    )
    (family,) = curve.families
    assert family.dimension == 1 and len(family.free) == 1 and len(family.equations) == 1
    assert [u.reason for u in curve.undecided] == ["there may be more than this continuum"]
    nowhere = System.from_strings({"x": "exp(x) + exp(y) + cosh(x*y)", "y": "0"}).equilibria(
        box={"x": (-3, 3), "y": (-3, 3)}
    )
    assert not nowhere.families and [u.reason for u in nowhere.undecided] == [
        "fewer equations than states, and no point of a continuum was found"
    ]


@pytest.mark.parametrize("sign", [1, -1])
def test_points_of_a_search_are_zeros_with_narrow_boxes(sign: int) -> None:
    """sin x = y, e^y = 1 + x^2 (turned over for the other sign): against SciPy from many starts."""
    system = System.from_strings({"x": f"sin(x) - {sign}*y", "y": f"exp({sign}*y) - 1 - x^2"})
    found = system.equilibria(box={"x": (-4, 4), "y": (-4, 4)})
    field = system.compile()
    rng = np.random.default_rng(3)
    wanted: set[tuple[float, float]] = set()
    for start in rng.uniform(-4, 4, (60, 2)):
        root = optimize.root(lambda v: field(0.0, v), start, tol=1e-13)
        if np.abs(field(0.0, root.x)).max() < 1e-10 and np.abs(root.x).max() <= 4:
            wanted.add((round(float(root.x[0]), 6) + 0.0, round(float(root.x[1]), 6) + 0.0))
    places = {(round(float(e.point["x"]), 6) + 0.0, round(float(e.point["y"]), 6) + 0.0) for e in found}
    assert found.complete and places == wanted and (0.0, 0.0) in places
    for e in found:
        assert all(
            low <= Fraction(0 if e.evidence == "proof" else float(e.point[n])) + Fraction(1, 10**12)
            for n, (low, _) in e.enclosure.items()
        )
        assert all(high - low < Fraction(1, 10**15) for low, high in e.enclosure.values())
        assert e.evidence == ("proof" if e.point["x"] == 0 else "certificate")


def test_a_logarithm_of_zero_is_no_value() -> None:
    found = System.from_strings({"x": "x*log(x)"}).equilibria(box={"x": (0, 3)})
    assert [e.point["x"] for e in found] == [1]
    rest = Equilibrium({"x": sp.Integer(0)}, "proof", {"x": (Fraction(0), Fraction(0))})
    x = sym("x")
    log = graph.call("log", x)
    assert _value_at([x * log], rest) == "edge" and _value_at([x * graph.call("log", x + 1)], rest) == "value"
    assert _value_at([graph.call("log", x + 1) * graph.call("log", 3 * x)], rest) == "edge"
    assert _value_at([x], rest) == "value"
    measured = Equilibrium({"x": 0.0}, "certificate", {"x": (Fraction(0), Fraction(0))})
    assert _value_at([x * log], measured) == "open"


def test_more_equations_than_states_have_no_common_zero_or_are_left_open() -> None:
    x, y = sym("x"), sym("y")
    system = System.from_strings({"x": "y", "y": "x"})
    ends = (Fraction(-2), Fraction(2))
    box = {"x": ends, "y": ends}
    sinh, none, shared = graph.call("sinh", x), graph.exp(x) - 2, graph.exp(x) - 1
    empty = _not_square(system, [], [sinh, none], ["x"], box, {}, [])
    assert empty.complete and not empty.points and not empty.families
    assert _not_square(system, [], [none + 5, sinh], ["x"], box, {}, []).complete
    plane = [sinh, graph.call("sinh", y), graph.exp(x + y) - 3]
    assert _not_square(system, [], plane, ["x", "y"], box, {}, []).complete
    for nodes in ([sinh, shared], [shared, sinh]):
        left = _not_square(system, [], nodes, ["x"], box, {}, [])
        assert [u.reason for u in left.undecided] == ["more equations than states, on a switching surface"]
    number = graph.exp(graph.num(1)) - 2
    assert _not_square(system, [("x", y), ("y", graph.ZERO)], [number], [], box, {}, []).complete
    doubtful = _not_square(system, [("x", y), ("y", graph.ZERO)], [number], [], box, {}, [(x, y)])
    assert not doubtful.complete


def test_a_zero_of_factors_is_one_of_the_equations_where_these_have_a_value() -> None:
    x, y = sym("x"), sym("y")
    zero = Equilibrium({"x": 0, "y": 0}, "proof", {n: (Fraction(-1, 10**30), Fraction(1, 10**30)) for n in "xy"})
    sinh = graph.call("sinh", x)
    assert _of_the_whole(zero, [sinh * (x - 1), y]) is zero
    assert _of_the_whole(zero, [sinh * x, y]).multiplicity is None
    assert (
        _of_the_whole(zero, [sinh - y, x + y]) is zero and _of_the_whole(zero, [sinh - y, x - y]).multiplicity is None
    )
    for nodes in ([x / y, y], [sinh, graph.power(x, Fraction(1, 2)) * y], [1 / (x * y), y]):
        found = _of_the_whole(zero, nodes)
        assert isinstance(found, Undecided) and "no value at a zero of" in found.reason
    assert _of_the_whole(zero, [x * graph.call("log", y - 1), y]) is None
    found = _of_the_whole(zero, [x * graph.call("log", x + 1) * graph.call("log", y), y])
    assert isinstance(found, Undecided) and "has no value at a zero of what is left" in found.reason


def test_products_with_a_continuum_or_too_many_choices_are_not_searched_by_factors() -> None:
    system = System.from_strings({"x": "sinh(x)*sinh(y)", "y": "sinh(x)*(exp(y) - 2)"})
    assert _factor_by_factor(system, list(system.nodes), {}, {}) is None
    plain = System.from_strings({"x": "sinh(x) - y", "y": "exp(y) - 2"})
    assert _factor_by_factor(plain, list(plain.nodes), {}, {}) is None
    many = System.from_strings({n: "*".join(f"(exp({n}) - {k})" for k in range(2, 7)) for n in "xy"})
    assert _factor_by_factor(many, list(many.nodes), {}, {}) is None
    both = System.from_strings({"x": "(exp(x) - 2)*(exp(x) - 5)", "y": "(exp(y) - 3)*(exp(y) - 2*exp(x))"})
    found = _factor_by_factor(both, list(both.nodes), {}, {})
    assert found is not None and found.complete and found.box == {"x": (-100, 100), "y": (-100, 100)}
    places = {(round(float(e.point["x"]), 9), round(float(e.point["y"]), 9)) for e in found}
    wanted = {(math.log(a), math.log(b)) for a, b in ((2, 3), (2, 4), (5, 3), (5, 10))}
    assert places == {(round(a, 9), round(b, 9)) for a, b in wanted} and all(e.multiplicity == 1 for e in found)
    assert [float(e.point["x"]) for e in found] == sorted(float(e.point["x"]) for e in found)


OUTSIDE = [  # zeros of what is left after an elimination, outside of the domain of the equations
    {"x": "x-y", "y": "(x-y)*log(-1-y^2)-y"},
    {"x": "-x", "y": "x*log(y)-y-1"},
    {"x": "x", "y": "x*sqrt(y-1)-sinh(y)"},
    {"x": "-x", "y": "x*asin(y+2)-y"},
    {"x": "-x", "y": "x*acos(y-2)-y"},
    {"x": "-x", "y": "x*acosh(y)-y"},
    {"x": "-x", "y": "x*atanh(y+2)-y"},
    {"x": "-x", "y": "x*log(cos(y))-exp(y)+5"},
    {"x": "-x", "y": "x*log(y-z-1)-y+1", "z": "y-z"},
]
EDGES = [  # where they may have a limit
    {"x": "-x", "y": "x/(cosh(y)-1)-y"},
    {"x": "x-y", "y": "(x-y)/sinh(y)-y"},
    {"x": "-x", "y": "x/log(y)-y+1"},
    {"x": "-x", "y": "x/sqrt(y)-y"},
    {"x": "-x", "y": "x*tan(y)-y+pi/2"},
    {"x": "-x", "y": "x*log(exp(y)-5)-exp(y)+5"},
]


@pytest.mark.parametrize("equations", OUTSIDE, ids=str)
def test_a_point_outside_of_the_domain_is_no_equilibrium(equations: dict[str, str]) -> None:
    found = System.from_strings(equations).equilibria()
    assert not found and not found.families and found.complete


@pytest.mark.parametrize("equations", EDGES, ids=str)
def test_a_point_where_a_divisor_vanishes_is_left_open(equations: dict[str, str]) -> None:
    found = System.from_strings(equations).equilibria()
    assert not found and not found.families and not found.complete
    assert all("have a value" in u.reason or "has no value" in u.reason for u in found.undecided)
    assert texts(analyse(System.from_strings(equations)), "equilibria")


def test_a_quotient_of_zeros_is_no_fixed_point() -> None:
    found = System.from_strings({"y": "x", "x": "(x-y)/tanh(y)"}, kind="map").equilibria()
    assert not found and not found.complete


def test_a_point_at_the_end_of_a_root_is_one() -> None:
    for rate in ("x*sqrt(y)-y", "x*sqrt(1-y)-y+1", "x*asin(y)-y+1", "x*acosh(y)-y+1", "x*y/(1-exp(-y))-y+1"):
        found = System.from_strings({"x": "-x", "y": rate}).equilibria()
        assert [e.evidence for e in found] == ["proof"] and found.complete


def test_a_continuum_has_a_value_where_its_condition_holds() -> None:
    y = sp.Symbol("y", real=True)
    for function, condition in {"log": {y > 0}, "asin": {y >= -1, y <= 1}, "sin": set()}.items():
        (family,) = System.from_strings({"x": "x-y", "y": f"(x-y)*{function}(y)"}).equilibria().families
        assert set(family.condition) == condition
    nowhere = System.from_strings({"x": "x-y", "y": "(x-y)*log(-1-y^2)"}).equilibria()
    assert not nowhere.families
    for rate in ("(x-y)*asin(y+20)", "(x-y)*log(log(y))"):
        far = System.from_strings({"x": "x-y", "y": rate}).equilibria()
        assert not far.families and not far.complete


def test_a_logarithm_of_the_constant_zero_is_refused_with_a_sentence() -> None:
    with pytest.raises(EquationError, match="the rate of x has no value anywhere: it takes the logarithm of 0"):
        System.from_strings({"x": "log(0*x)"}).equilibria()
    with pytest.raises(EquationError, match="takes the logarithm of 0"):
        System.from_strings({"x": "log(a*x)"}).equilibria({"a": 0})


def test_a_state_whose_range_is_one_number_is_put_in() -> None:
    one = {"x": (0, 0)}
    found = System.from_strings({"x": "exp(x)-1", "y": "cos(y)-y"}).equilibria(box=one)
    (e,) = found
    assert found.complete and e.multiplicity == 1 and e.point["x"] == 0 and e.point["y"] == pytest.approx(0.7390851332)
    double = System.from_strings({"x": "cos(x)-1", "y": "cos(y)-y"}).equilibria(box=one)
    assert double.complete and [e.multiplicity for e in double] == [None]
    edge = System.from_strings({"x": "x*log(x)", "y": "cos(y)-y"}).equilibria(box=one)
    assert not edge and not edge.complete
    corner = System.from_strings({"x": "sinh(x)", "y": "sin(y)"}).equilibria(box={"x": (0, 0), "y": (0, 0)})
    assert corner.complete and [dict(e.point) for e in corner] == [{"x": 0, "y": 0}]
    beside = System.from_strings({"x": "exp(x)-1", "y": "cos(y)-y"}).equilibria(box={"x": (1, 1)})
    assert beside.complete and not beside


def test_a_zero_next_to_which_newtons_steps_become_too_small_to_be_written() -> None:
    system = System.from_strings({"x": "tanh(y)*(y-3)", "y": "(9+x-1/2)*(tan(x)-1/2-y)"})
    found = system.equilibria(box={"x": (-10, -8), "y": (-1, 1)})
    assert {"x": sp.Rational(-17, 2), "y": 0} in [dict(e.point) for e in found]


def test_a_point_at_which_sympy_has_no_number_is_left_open() -> None:
    """The arc tangent of the logarithm of zero is a range for SymPy, not a number."""
    system = System.from_strings({"x": "atan(log10(sin(y)))", "y": "asin(z-pi)", "z": "x"})
    found = system.equilibria(box={"y": (0, 0), "x": (0, 1), "z": (0, 4)})
    assert not found and not found.complete and all(u.contains is None for u in found.undecided)
