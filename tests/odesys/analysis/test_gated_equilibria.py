"""Rest of fields that jump, against the sliding flow and against hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys.analysis import gated_equilibria as room
from odesys.analysis.equilibria import equilibria
from odesys.analysis.gated_equilibria import _ends, _is_continuous, _lies_in, _with_gates
from odesys.analysis.rest_sets import Continuum, Equilibria, Undecided
from odesys.expr import graph
from odesys.reading.grammar import Grammar

X = sp.Symbol("x", real=True)


def test_dry_friction_rests_on_a_segment() -> None:
    (family,) = equilibria(System.from_strings({"x": "v", "v": "-x - sign(v)"})).families
    assert family.point["v"] == 0 and family.free == ("x",)
    inside = [all(bool(c.subs(X, value)) for c in family.condition) for value in (-1.1, -1, 0, 1, 1.1)]
    assert inside == [False, True, True, True, False]


def test_a_relay_rests_where_both_sides_push_to_it() -> None:
    held = equilibria(System.from_strings({"x": "-sign(x - 1) + 1/2"}))
    assert [(e.point["x"], e.slides) for e in held] == [(1, True)] and held.complete
    passed = equilibria(System.from_strings({"x": "-sign(x - 1) + 2"}))  # the field is positive on both sides
    assert not len(passed) and passed.complete


def test_the_mixture_is_found_on_a_curve() -> None:
    # on x = 0 the field is (mixture of -1 and 1, y - 1): rest at y = 1
    found = equilibria(System.from_strings({"x": "-sign(x)", "y": "y - 1"}))
    assert [(e.point["x"], e.point["y"]) for e in found] == [(0, 1)] and found.complete


def test_fields_that_are_not_polynomials() -> None:
    found = equilibria(System.from_strings({"x": "-sign(x)", "y": "exp(y) - 2"}))
    assert found.complete and len(found) == 1 and abs(float(found[0].point["y"]) - 0.6931471805599453) < 1e-12


def test_a_continuous_field_needs_no_mixture() -> None:
    found = equilibria(System.from_strings({"x": "abs(x) - 1"}))
    assert [(e.point["x"], e.slides) for e in found] == [(-1, False), (1, False)]


def test_a_map_takes_its_own_value_at_a_surface() -> None:
    found = equilibria(System.from_strings({"x": "x + sign(x)"}, kind="map"))
    assert [e.point["x"] for e in found] == [0] and found.complete and not found[0].slides


def test_a_jump_is_looked_for_on_its_surface() -> None:
    """The field jumps at x = 1/2, where both sides push to it, and rests at x = 2."""
    found = equilibria(System.from_strings({"x": "(x - 2)*sign(2*x - 1)"}))
    assert [(e.point["x"], e.slides) for e in found] == [(sp.Rational(1, 2), True), (2, False)] and found.complete


@pytest.mark.parametrize(
    ("relation", "signs"),
    [(sp.Ge, {0, 1}), (sp.Le, {0, -1}), (sp.Gt, {1}), (sp.Lt, {-1})],
    ids=["ge", "le", "gt", "lt"],
)
def test_a_point_lies_in_a_continuum_where_its_conditions_hold(relation: Any, signs: set[int]) -> None:
    """Of a line y = 2 with a condition on x and an equation, only where all of them hold."""
    system = System.from_strings({"x": "-x", "y": "-y"})
    y = sp.Symbol("y", real=True)

    def lies(at: dict[str, Any], **more: Any) -> bool:
        line: Any = SimpleNamespace(**{"point": {"x": X, "y": sp.Integer(2)}, "condition": (), "equations": ()} | more)
        return _lies_in(SimpleNamespace(evidence="proof", point=at), line, system)  # type: ignore[arg-type]

    for sign in (-1, 0, 1):
        at = {"x": sp.sqrt(2) + sign, "y": sp.Integer(2)}
        held = {"condition": (relation(X, sp.sqrt(2)),)}
        assert lies(at, **held) is (sign in signs)
        assert lies(at, condition=(sp.Gt(X, -9), *held["condition"])) is (sign in signs)
        assert not lies(at | {"y": sp.Integer(3)}, **held)
        assert lies(at, equations=(X - sp.sqrt(2), y - 2)) is (sign == 0)
    unknown: Any = SimpleNamespace(evidence="certificate", point={"x": sp.Integer(1), "y": sp.Integer(2)})
    assert not _lies_in(unknown, SimpleNamespace(point={"x": X, "y": 2}, condition=(), equations=()), system)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [sp.sqrt(2), -sp.sqrt(3) / 10**6, sp.Rational(1, 3), sp.Rational(-(10**45) - 1, 10**45), 0]
)
def test_the_ends_of_a_coordinate_hold_it(value: Any) -> None:
    low, high = _ends(value)
    ends = [sp.Rational(end.numerator, end.denominator) for end in (low, high)]
    assert ends[0] <= value <= ends[1] and (ends[0] == ends[1]) is bool(sp.sympify(value).is_Rational)
    assert ends[1] - ends[0] <= abs(value) / 10**37


def rests(equations: Any, kind: str = "flow") -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """Points with whether they slide, and continua with what is free and where they lie; all must be settled."""
    found = equilibria(System.from_strings(equations, kind=kind))
    assert found.complete
    points = [(*e.point.values(), e.slides) for e in found]
    families = [
        (*map(str, f.point.values()), f.free, f.dimension, tuple(map(str, f.condition))) for f in found.families
    ]
    return points, families


@pytest.mark.parametrize(
    ("equations", "points", "families"),
    [
        ("x' = -sign(x)", [(0, True)], []),
        ("x' = sign(x)", [(0, True)], []),
        ("x' = sign(x) + 1", [], [("x", ("x",), 1, ("x <= 0",))]),
        ("x' = sign(x) - 1", [], [("x", ("x",), 1, ("x >= 0",))]),
        ("x' = step(x)*x", [], [("x", ("x",), 1, ("x <= 0",))]),
        ("x' = 2*step(x) + 1", [], []),
        ("x' = abs(x) - 1", [(-1, False), (1, False)], []),
        ("x' = abs(x)", [(0, False)], []),
        ("x' = -sign(x) + y; y' = -sign(y) - x", [(0, 0, True)], []),
        ("x' = -sign(x); y' = 0", [], [("0", "y", ("y",), 1, ())]),
        ("x' = -sign(x - y) + 1/3; y' = y^2 - 4", [(-2, -2, True), (2, 2, True)], []),
        ("x' = -sign(x) - 1/2; y' = y", [(0, 0, True)], []),
        ("x' = -sign(x) - 1; y' = y", [], [("x", "0", ("x",), 1, ("x <= 0",))]),
        ("gate1' = -sign(gate1); gate2' = gate2 - 1", [(0, 1, True)], []),
        ("x' = step(x) - 1/2; y' = (1 + step(x))^3 - 9/2", [], [("0", "y", ("y",), 1, ())]),
        ("x' = 1/(1 + step(x)) - 3/4; y' = 1/(1 + step(x))^2 - 5/8", [], [("0", "y", ("y",), 1, ())]),
        ("x' = step(x) - 1/2; y' = step(x)^2 - 1/4", [], []),
        ("x' = step(x) - 1/4; y' = step(x^3) - 3/4", [], []),
        ("x' = step(x) - 1/4; y' = step(x^3 + x) - 1/4", [], [("0", "y", ("y",), 1, ())]),
        ("x' = sign(x)*sign(x^3)", [], []),
        ("x' = step(x^2)", [], []),
        ("x' = -step(-x^2)", [], [("x", ("x",), 1, ())]),
        ("x' = relu(x^2 - 2)", [], [("x", ("x",), 1, ("x**2/2 - 1 <= 0",))]),
        ("x' = -abs(x^2 - 2)", [(-sp.sqrt(2), False), (sp.sqrt(2), False)], []),
        ("x' = 1 - x*y; y' = relu(x*y - 1) + y - x", [(-1, -1, False), (1, 1, False)], []),
        ("x' = relu(relu(x)); y' = y", [], [("x", "0", ("x",), 1, ("x <= 0",))]),
        ("x' = relu(relu(1/2 - x))", [], [("x", ("x",), 1, ("1 - 2*x <= 0",))]),
        (
            "x' = -x - 2*sign(x + y); y' = -y - 2*sign(x - y)",
            [(-2, 2, True), (0, 0, True), (2, -2, True)],
            [],
        ),
    ],
)
def test_rest_by_hand(equations: str, points: list[Any], families: list[Any]) -> None:
    """Points where both sides push to a surface or away from it, continua with their ends, and names like gates."""
    assert rests(equations) == (points, families)


@pytest.mark.parametrize(
    ("equation", "points", "families"),
    [
        ("x + sign(x)", [(0, False)], []),
        ("step(x)", [(0, False), (1, False)], []),
        ("x*step(x)", [(0, False)], [("x", ("x",), 1, ("x > 0",))]),
        ("x + step(-x)*(x + 1)", [(-1, False), (0, False)], [("x", ("x",), 1, ("-x < 0",))]),
    ],
)
def test_fixed_points_of_a_map_by_hand(equation: str, points: list[Any], families: list[Any]) -> None:
    """At the surface itself both gates are zero."""
    assert rests({"x": equation}, "map") == (points, families)


def test_a_point_of_a_continuum_is_not_called_isolated() -> None:
    """The line y = 0 is at rest on both sides of x = 0 and on it; a mixture there is no point of its own."""
    points, families = rests("x' = -sign(x)*y; y' = -y")
    assert points == [] and {line[-1] for line in families} == {("x >= 0",), ("x <= 0",)}


def test_a_box_holds_what_lies_in_it_and_on_its_ends() -> None:
    system = System.from_strings("x' = (x - 2)*sign(2*x - 1)")
    for box, wanted in (
        ((0, 1), [sp.Rational(1, 2)]),
        ((2, 3), [2]),
        ((3, 4), []),
        ((sp.Rational(1, 2), 2), [sp.Rational(1, 2), 2]),
    ):
        found = equilibria(system, box={"x": box})
        assert [e.point["x"] for e in found] == wanted and found.complete
        assert found.box == {"x": box}


def test_too_many_sides_are_left_undecided(monkeypatch: pytest.MonkeyPatch) -> None:
    system = System.from_strings("x' = -sign(x) - 2*sign(x - 1)")
    monkeypatch.setattr(room, "PATTERNS", 25)  # five places at each of two surfaces
    assert equilibria(system).complete
    monkeypatch.setattr(room, "PATTERNS", 24)
    found = equilibria(system)
    assert [u.reason for u in found.undecided] == ["2 switching surfaces have 25 patterns of sides, more than 24"]
    assert len(found) == 0 and found.box == {"x": (-float("inf"), float("inf"))}


@pytest.mark.parametrize(
    ("text", "continuous"),
    [
        ("abs(x)", True),
        ("sign(x)", False),
        ("step(y)*y", True),
        ("step(y)", False),
        ("step(x + 2*y - 1)*(3*x + 6*y - 3)", True),
        ("step(x + 2*y - 1)*(3*x + 6*y - 2)", False),
        ("step(x^2 - y)*(x^2 - y)*exp(x)", True),
        ("step(x^2 - 2)*(x^2 - 3)", False),
    ],
)
def test_whether_a_field_jumps_at_a_surface(text: str, continuous: bool) -> None:
    """Also where the surface has no slope along the first state."""
    system = System.from_strings("x' = y; y' = -x")
    node = Grammar().read(text)
    (surface,) = graph.surfaces([node])
    assert _is_continuous(system, [graph.ONE, node], surface) is continuous


def test_gates_take_the_values_of_their_sides() -> None:
    node = Grammar().read("5*step(x - 1) + 7*step(1 - x) + x")
    (surface,) = graph.surfaces([node])
    values = {
        text: _with_gates([node], [surface], {surface: value})[0]
        for text, value in (("on", graph.ONE), ("off", graph.ZERO))
    }
    side = 1 if graph.substitute([surface], {graph.sym("x"): graph.num(3)})[0].args[0] > 0 else -1
    x = graph.sym("x")
    assert values["on" if side > 0 else "off"] is x + 5 and values["off" if side > 0 else "on"] is x + 7


def test_what_algebra_does_not_settle_is_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search counts where it settles all and the algebra found no continuum."""
    system = System.from_strings("x' = x^2 - 2")
    settled = equilibria(system)
    monkeypatch.setattr(room, "exact_equilibria", lambda *_: None)
    found = equilibria(system)
    assert found.complete and [float(e.point["x"]) for e in found] == pytest.approx([-(2**0.5), 2**0.5])
    assert found.box != settled.box
    why = (Undecided("why"),)
    for partly, chosen in (
        (Equilibria((), (), why, settled.box), False),
        (Equilibria((), (Continuum({"x": X}, ("x",), 1),), why, settled.box), True),
    ):
        monkeypatch.setattr(room, "exact_equilibria", lambda *_, partly=partly: partly)
        assert (equilibria(system).undecided == why) is chosen


def test_the_field_is_mixed_and_not_the_gate_in_it() -> None:
    """Both sides of x = 0 are -1/2, and sin(pi/6) is no value of the field."""
    found = equilibria(System.from_strings("x' = sin(pi*step(x)) - 1/2"))
    assert not len(found) and not found.families and found.complete
    (rest,) = equilibria(System.from_strings("x' = exp(step(x)) - 2"))  # both sides: -1 and e - 2
    assert rest.point["x"] == 0 and rest.slides


@pytest.mark.parametrize(
    ("equations", "one", "other"),
    [
        ("x' = sign(x)*sign(exp(x) - 1)", "x = 0", "exp(x)"),  # one surface: the field is 1
        ("x' = step(x) - 1/4; y' = step(exp(x) - 1) - 3/4", "x = 0", "exp(x)"),  # no mixture is both
        ("x' = step(x) - 1/2; y' = step(exp(x) - 1) - 1/2", "x = 0", "exp(x)"),  # rests on all of x = 0
        ("x' = step(x)*step(exp(x) - 1) - 1/2; y' = step(x) - 1/2; z' = step(exp(x) - 1) - 1/2", "x = 0", "exp(x)"),
        ("x' = -sign(x); y' = -sign(x + y^2)", "x = 0", "y**2"),  # they touch at the origin
        ("x' = sign(relu(x))^2 - 1/2", "x*Heaviside", "x = 0"),  # rests at 0: the sides are 1/2 and -1/2
        ("x' = step(abs(x)) - 1/2", "Heaviside", "x = 0"),
    ],
)
def test_surfaces_that_may_be_one_are_not_mixed_independently(equations: str, one: str, other: str) -> None:
    found = equilibria(System.from_strings(equations))
    assert not found.complete and not len(found) and not found.families
    assert any(one in u.reason and other in u.reason and "not known to cross" in u.reason for u in found.undecided)
    assert not any("gate" in name for u in found.undecided for name in u.box)


def test_a_surface_without_a_slope_may_have_one_side() -> None:
    found = equilibria(System.from_strings("x' = step(x^2 + y^2) - 1/2; y' = y"))
    assert not len(found) and [u.reason for u in found.undecided] == [
        "whether x**2 + y**2 = 0 has two sides at a point without a slope is not known"
    ]


def test_a_surface_that_jumps_where_another_is_crossed() -> None:
    found = equilibria(System.from_strings("x' = step(x - step(y)) - 1/2; y' = 1/2 - y"))
    assert [(e.point["x"], e.point["y"]) for e in found] == [(1, sp.Rational(1, 2))]
    assert [u.reason for u in found.undecided] == ["x - Heaviside(y, 0) jumps where y = 0, and switches the field too"]


@pytest.mark.parametrize(
    ("equations", "count"),
    [
        ("x' = abs(x^2 + y^2 - 1); y' = y - x", 2),
        ("x' = relu(relu(1/2 - x)); y' = tan(y)", None),
        ("x' = sign(x^2 - 2)*y; y' = tan(y)", None),
        ("x' = 1/step(x)", None),
    ],
)
def test_kinks_on_curves_and_inside_of_each_other_are_answered(equations: str, count: int | None) -> None:
    found = equilibria(System.from_strings(equations))
    assert found.complete is (count is not None) and (count is None or len(found) == count)
    assert not any(e.slides for e in found) or "sign" in equations


def test_gates_inside_of_gates_of_a_map() -> None:
    found = equilibria(System.from_strings({"x": "relu(min(x/2, 3) + 1)"}, kind="map"))
    assert [e.point["x"] for e in found] == [2] and found.complete
    search = equilibria(System.from_strings({"x": "relu(atan(min(x, 3)))"}, kind="map"))
    assert not search.complete and not search.families


def test_a_continuum_of_a_search_lies_where_its_mixture_does() -> None:
    """Dry friction with a force of sin(1): x rests from sin(1) - 1 to sin(1) + 1."""
    (family,) = equilibria(System.from_strings("x' = y; y' = -x - sign(y) + sin(1)")).families
    inside = [all(bool(c.subs(X, value)) for c in family.condition) for value in (-0.2, -0.1, 1.8, 1.9)]
    assert family.free == ("x",) and inside == [False, True, True, False]


def test_a_continuum_ends_at_a_surface_only_where_it_comes_near() -> None:
    """The field is 1 on both sides of -1 and of 0, where both surfaces vanish; it is 0 from 1 on."""
    found = equilibria(System.from_strings("x' = -step(x^2 + x) + 2/(1 + step(x^3 - x))"))
    (family,) = found.families
    inside = [all(bool(c.subs(X, value)) for c in family.condition) for value in (-2, -1, 0, 1 / 2, 2)]
    assert inside == [False, False, False, False, True]
    (family,) = equilibria(System.from_strings("x' = step(x^2 - 2)")).families
    assert family.condition == (sp.Le(X**2 / 2 - 1, 0),)
