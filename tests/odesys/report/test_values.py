"""Nested data as text."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys.report import values


def test_values() -> None:
    nested = {"a": [1, 2.5, None, True], "b": {"c": "x<y"}}
    assert values.text(nested) == "a: 1, 2.5, none, True; b: c: x<y"
    assert values.text(np.array([0.125, 2 / 3])) == "0.125, 0.666667"
    assert values.text(list(range(100))).endswith("(100 in all)")


def test_lists_are_cut_after_forty_and_numbers_have_six_digits() -> None:
    assert values.text(list(range(40))) == ", ".join(map(str, range(40)))
    assert values.text(range(41)[:0] or [0] * 41) == ", ".join(["0"] * 40) + ", ... (41 in all)"
    assert values.text((Fraction(1, 3), 1 / 3, 1234567, 1e-9)) == "1/3, 0.333333, 1234567, 1e-09"
    assert values.text({}) == values.text([]) == "" and values.text({1: {2: [3]}}) == "1: 2: 3"
    assert values.text(np.float64(0.5)) == "0.5" and values.text(object) == str(object)
