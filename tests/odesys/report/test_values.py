"""Nested data as text."""

from __future__ import annotations

import numpy as np

from odesys.report import values


def test_values() -> None:
    nested = {"a": [1, 2.5, None, True], "b": {"c": "x<y"}}
    assert values.text(nested) == "a: 1, 2.5, none, True; b: c: x<y"
    assert values.text(np.array([0.125, 2 / 3])) == "0.125, 0.666667"
    assert values.text(list(range(100))).endswith("(100 in all)")
