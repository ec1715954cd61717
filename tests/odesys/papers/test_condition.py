"""Conditions say by how much they hold or are violated."""

from __future__ import annotations

from odesys.papers.condition import Condition


def test_conditions_say_by_how_much() -> None:
    assert Condition(1, "a >= b", 1.0).holds and not Condition(1, "a >= b", 0.99).holds
    assert "whatever the constant" in str(Condition(8, "a >= b", 0.0))
    assert str(Condition(1, "a >= b", 4.0)) == "(1) a >= b: holds with a factor 4 to spare"
