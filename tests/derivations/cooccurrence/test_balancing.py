"""The root of the quadratic: corners decide what is linear in each moving symbol, and nothing else."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from derivations.cooccurrence.claims import book, part_f1_balancing
from derivations.cooccurrence.claims.part_f1_balancing import _at_corners

x, y, a = sp.symbols("x y a")
UNIT = (Fraction(0), Fraction(1))


@pytest.mark.parametrize(
    ("form", "fine"),
    [
        (a * (1 - x * y), True),
        (a * (x - sp.Rational(1, 2)), False),  # negative at one of two corners
        (a * (1 - x - y), False),  # at one of four
        (a * x**2, False),  # not linear: corners say nothing
    ],
)
def test_corners_decide_what_is_linear(form: sp.Expr, fine: bool) -> None:
    assert _at_corners(form, (x, y), [UNIT, UNIT]) is fine


def test_a_quarter_needs_classes_that_are_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    """-b/(2a) >= -1/4 is open where the samples of a class may differ by more than the proof allows."""
    claim = book["F.6-root/b"]
    assert book.run(claim).verdict.as_stated == "holds"
    monkeypatch.setattr(part_f1_balancing, "NINE_EIGHTHS", sp.Integer(3))
    assert book.run(claim).verdict.parts["-b/(2a)"].as_stated == "fails"
