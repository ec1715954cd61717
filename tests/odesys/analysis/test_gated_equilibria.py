"""Rest of fields that jump, against the sliding flow and against hand."""

from __future__ import annotations

import sympy as sp

from odesys import System
from odesys.analysis.equilibria import equilibria

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
