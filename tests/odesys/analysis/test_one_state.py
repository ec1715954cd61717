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


@pytest.mark.parametrize("order", range(1, 11))
@pytest.mark.parametrize("sign", [1, -1])
def test_a_power_is_seen_up_to_the_ninth_derivative(order: int, sign: int) -> None:
    """Of sign (x - 2)^n e^x; the sentence says where the state moves to on both sides."""
    system = System.from_strings({"x": f"{sign}*(x - 2)^{order}*exp(x)"})
    found, reason = stability_of_one(system, {"x": 2})
    if order > 9:
        assert (found, reason) == ("undecided", "the sign of the field beside the point is not decided")
        return
    below, above = sign * (-1) ** order, sign
    assert sides_of(system, {"x": 2}, {}) == (below, above)
    said = {1: "upwards", -1: "downwards"}
    assert reason == f"the state moves {said[below]} just below the point and {said[above]} just above it"
    assert found == ("asymptotically stable" if order % 2 and sign < 0 else "unstable")


@pytest.mark.parametrize(
    ("text", "sides"),
    [
        ("step(x)*x - step(-x)*x^2", (-1, 1)),
        ("3*step(x) - 1", (-1, 1)),
        ("1 - 3*step(x)", (1, -1)),
        ("step(x - 1)*x", (0, 0)),
        ("-step(x)*x", (0, -1)),
        ("step(-x)*x", (-1, 0)),
        ("step(x^2)*x", (-1, 1)),
        ("step(-x^3)", (1, 0)),
        ("x*sqrt(x^2)", (None, None)),
        ("abs(x)^3 - x^4", (1, 1)),
    ],
)
def test_gates_are_as_they_are_on_each_side(text: str, sides: tuple[int | None, int | None]) -> None:
    found = sides_of(System.from_strings({"x": text}), {"x": 0}, {})
    assert found == sides or (sides == (None, None) and None in found)


def test_a_surface_whose_sign_is_open_leaves_the_sides_open() -> None:
    system = System.from_strings({"x": "step(a - x)*x"})
    assert sides_of(system, {"x": 0}, {}) == (None, None) and sides_of(system, {"x": 0}, {"a": 1}) == (-1, 1)
    still, reason = stability_of_one(System.from_strings({"x": "0*x"}), {"x": 0})
    assert (
        still == "stable" and reason == "the state moves not at all just below the point and not at all just above it"
    )
