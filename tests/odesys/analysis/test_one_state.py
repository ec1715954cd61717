"""Stability of points on a line against the sign of the field beside them."""

from __future__ import annotations

import pytest

from odesys import System
from odesys.analysis.one_state import sides_of, stability_of_one

KNOWN = [
    ("-x*abs(x)", "asymptotically stable"),
    ("x*sin(x)", "unstable"),
    ("x^2", "unstable"),
    ("-x^3", "asymptotically stable"),
    ("-sign(x)", "asymptotically stable"),
    ("sign(x)", "unstable"),
    ("max(x, 0)", "unstable"),
    ("-max(x, 0)", "stable"),
    ("0", "stable"),
]


@pytest.mark.parametrize(("text", "stability"), KNOWN)
def test_known_points(text: str, stability: str) -> None:
    assert stability_of_one(System.from_strings({"x": text}), {"x": 0})[0] == stability


def test_signs_are_those_of_the_field_nearby() -> None:
    for text, _ in KNOWN:
        field = System.from_strings({"x": text}).compile({})
        near = [float(field(0.0, (x,))[0]) for x in (-1e-3, 1e-3)]
        assert sides_of(System.from_strings({"x": text}), {"x": 0}, {}) == tuple((v > 0) - (v < 0) for v in near)


def test_what_is_not_decided_is_said() -> None:
    assert stability_of_one(System.from_strings({"x": "a*x"}), {"x": 0})[0] == "undecided"
    assert stability_of_one(System.from_strings({"x": "a*x"}), {"x": 0}, {"a": -1})[0] == "asymptotically stable"
