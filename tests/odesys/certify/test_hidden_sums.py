"""Expressions with hidden sums: the same values, fewer variables, and ranges that hold what they hide."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odesys.certify.box_search import Objective, minimise
from odesys.certify.hidden_sums import factored, separate
from odesys.certify.region import Region
from odesys.expr import graph
from odesys.expr.graph import exp, sym
from odesys.expr.nodes import call

A, B, C, W, X, Y, Z = map(sym, "abcwxyz")
UNIT = (Fraction(-1), Fraction(1))


def value(node: graph.Node, **at: float) -> float:
    functions = {"exp": math.exp, "sigmoid": lambda z: 1 / (1 + math.exp(-z)), "sin": math.sin}
    return float(graph.evaluate([node], at, functions, float)[0])


def test_hidden_sums_stand_for_what_they_replace() -> None:
    node = X * call("sigmoid", X * Y + exp(A) * B + A) + Y
    outer, parts = separate(node)
    assert graph.symbols([outer]) == {"x", "y", "hidden_1"}
    assert graph.substitute([outer], {sym(name): part for name, part in parts.items()})[0] is node


def test_variables_seen_in_two_sums_are_hidden_in_both() -> None:
    node = X * Y * Z * W * (X + Y + A * B * exp(C)) * exp(X + A * C * exp(B))
    outer, parts = separate(node)
    assert graph.symbols([outer]) == {"w", "x", "y", "z", "hidden_1", "hidden_2"}
    assert graph.substitute([outer], {sym(name): part for name, part in parts.items()})[0] is node
    assert separate(X * Y * Z * (X + A * B) * exp(X + A * exp(B)))[1] == {}, "two for two is no gain"


def test_what_occurs_outside_of_sums_stays() -> None:
    node = A * exp(X + A * B)
    outer, parts = separate(node)
    assert (outer, parts) == (node, {})


def test_narrow_variables_may_occur_everywhere() -> None:
    node = Z * X * Y * exp(X * Y + Z * A + Z * exp(A * B))
    assert separate(node)[1] == {}
    outer, parts = separate(node, {"z"})
    assert graph.symbols([outer]) == {"x", "y", "z", "hidden_1"} and len(parts) == 1


def test_a_logistic_factor_is_taken_out() -> None:
    s = call("sigmoid", X)
    spread = exp(Y) * (A * s + B * s / (1 + exp(Y)))
    assert s in [base for base, _ in factored(spread).args]
    for at in ({"a": 0.3, "b": -1.2, "x": 0.7, "y": 0.4}, {"a": -2.0, "b": 0.1, "x": -1.0, "y": 2.0}):
        assert value(factored(spread), **at) == pytest.approx(value(spread, **at), rel=1e-13)
    assert factored(s + A) is s + A and factored(s * s) is s * s


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_minima_with_hidden_sums_hold_everywhere(seed: int) -> None:
    rng = random.Random(seed)
    c = [Fraction(rng.randint(-8, 8), 4) for _ in range(7)]
    inner = c[0] * A * B + c[1] * exp(A) + c[2] * B
    node = (X * Y + c[3] * X + 2) * call("sigmoid", c[4] * X * exp(Y) + inner) + c[5] * Y + c[6] * X * X
    box = dict.fromkeys("abxy", UNIT)
    found = minimise([Objective(node, box)], None, Fraction(1, 20), 60)
    assert found.low is not None
    for _ in range(200):
        at = {name: rng.uniform(-1, 1) for name in box}
        assert value(node, **at) >= float(found.low) - 1e-12
    assert found.seen is None or found.seen >= found.low


def test_a_region_shrinks_boxes_without_losing_points() -> None:
    rng = random.Random(3)
    region = Region(dict.fromkeys("xyz", UNIT), [X / 2 - Y, X / 2 + Y, X + Z - Fraction(1, 2)])
    for _ in range(50):
        box = {}
        for name in "xyz":
            low, high = sorted(Fraction(rng.randint(-16, 16), 16) for _ in range(2))
            box[name] = (low, high)
        small = region.shrink(box)
        for _ in range(60):
            point = {name: low + (high - low) * Fraction(rng.randint(0, 16), 16) for name, (low, high) in box.items()}
            if region.contains(point):
                assert small is not None and all(small[s][0] <= x <= small[s][1] for s, x in point.items())
    assert region.shrink({"x": (-Fraction(1), -Fraction(1, 2))}) is None


def test_the_way_to_a_point_outside_ends_on_the_border() -> None:
    region = Region(dict.fromkeys("xy", UNIT), [X - Y])
    inside = {"x": Fraction(1, 2), "y": Fraction(0)}
    edge = region.between(inside, {"x": Fraction(0), "y": Fraction(1)})
    assert edge is not None and edge["x"] == edge["y"]
    assert region.between(inside, {"x": Fraction(1), "y": Fraction(0)}) == {"x": 1, "y": 0}
    assert region.between({"x": Fraction(0), "y": Fraction(1)}, inside) is None


def test_the_largest_set_of_variables_stays_in_view_unless_all_are_hidden() -> None:
    """Of exp(a b c + w x) the part in a, b, c is looked at; a single set is hidden where something else is left."""
    node = exp(A * B * C + W * X)
    for coarse, symbols in ((False, {"a", "b", "c", "hidden_1"}), (True, {"hidden_1", "hidden_2"})):
        outer, parts = separate(node, coarse=coarse)
        assert graph.symbols([outer]) == symbols
        assert graph.substitute([outer], {sym(name): part for name, part in parts.items()})[0] is node
        assert W * X in parts.values() and (A * B * C in parts.values()) is coarse
    alone = exp(A * B + A)
    assert separate(alone) == (alone, {}) and separate(alone, coarse=True)[1] == {"hidden_1": A * B + A}
    outer, parts = separate(alone * X)
    assert parts == {"hidden_1": A * B + A} and outer is exp(sym("hidden_1")) * X
    assert separate(alone * X, {"x"}) == (alone * X, {}), "what has no width does not count"


def test_a_whole_sum_is_not_hidden_in_itself() -> None:
    node = A * B + A + 3
    assert separate(node, coarse=True) == (sym("hidden_1") + 3, {"hidden_1": A * B + A})
    assert separate(A * B + A, coarse=True) == (A * B + A, {})


def test_a_number_in_a_sum_stays_in_view() -> None:
    outer, parts = separate(X * exp(5 + A * B + A * X) * exp(A * B + 2))
    assert parts == {} and graph.symbols([outer]) == {"a", "b", "x"}
    outer, parts = separate(X * exp(5 + A * B + A))
    assert parts == {"hidden_1": A * B + A} and outer is X * exp(5 + sym("hidden_1"))
