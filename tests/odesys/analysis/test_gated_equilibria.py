"""Rest of fields that jump, against the sliding flow and against hand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys.analysis.equilibria import equilibria
from odesys.analysis.gated_equilibria import _ends, _lies_in

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
        return _lies_in(SimpleNamespace(algebraic=True, point=at), line, system)  # type: ignore[arg-type]

    for sign in (-1, 0, 1):
        at = {"x": sp.sqrt(2) + sign, "y": sp.Integer(2)}
        held = {"condition": (relation(X, sp.sqrt(2)),)}
        assert lies(at, **held) is (sign in signs)
        assert lies(at, condition=(sp.Gt(X, -9), *held["condition"])) is (sign in signs)
        assert not lies(at | {"y": sp.Integer(3)}, **held)
        assert lies(at, equations=(X - sp.sqrt(2), y - 2)) is (sign == 0)
    unknown: Any = SimpleNamespace(algebraic=None, point={"x": sp.Integer(1), "y": sp.Integer(2)})
    assert not _lies_in(unknown, SimpleNamespace(point={"x": X, "y": 2}, condition=(), equations=()), system)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "value", [sp.sqrt(2), -sp.sqrt(3) / 10**6, sp.Rational(1, 3), sp.Rational(-(10**45) - 1, 10**45), 0]
)
def test_the_ends_of_a_coordinate_hold_it(value: Any) -> None:
    low, high = _ends(value)
    ends = [sp.Rational(end.numerator, end.denominator) for end in (low, high)]
    assert ends[0] <= value <= ends[1] and (ends[0] == ends[1]) is bool(sp.sympify(value).is_Rational)
    assert ends[1] - ends[0] <= abs(value) / 10**37
