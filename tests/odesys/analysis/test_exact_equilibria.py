"""Exact equilibria: points beside an open case, and the ends of continua."""

from __future__ import annotations

import pytest

from odesys import System
from odesys.analysis import polynomial_zeros
from odesys.analysis.equilibria import equilibria

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
