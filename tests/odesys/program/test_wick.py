"""Moments against hand-written pairings, and polynomials multiplied out; a dropped pairing is noticed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import pytest

from odesys import graph, num, sym
from odesys.errors import ModelError
from odesys.program import wick


def pairings(places: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
    """All ways to pair the places, by hand."""
    if not places:
        yield []
        return
    first, *rest = places
    for k, other in enumerate(rest):
        for more in pairings(rest[:k] + rest[k + 1 :]):
            yield [(first, other), *more]


def isserlis(factors: Sequence[str]) -> int:
    """The mean of a product of standard normals: pairings that pair equals."""
    return sum(all(factors[i] == factors[j] for i, j in pairs) for pairs in pairings(range(len(factors))))


def as_monomial(factors: Sequence[str]) -> wick.Monomial:
    return tuple((name, factors.count(name)) for name in sorted(set(factors)))


def test_moments_count_pairings() -> None:
    for length in range(7):
        for factors in product("xyz", repeat=length):
            assert wick.moment(as_monomial(list(factors))) == isserlis(list(factors))


def test_polynomials_are_multiplied_out() -> None:
    x, y, a = sym("x"), sym("y"), sym("a")
    parts = wick.polynomial((x + a * y) ** 3 / a - 2 * x * y, ["x", "y"])
    back = graph.add(c * graph.multiply(num(1), *(sym(n) ** p for n, p in m)) for m, c in parts.items())
    point = {"x": 1.3, "y": -0.7, "a": 2.5}
    values = [float(graph_value(node, point)) for node in (back, (x + a * y) ** 3 / a - 2 * x * y)]
    assert abs(values[0] - values[1]) < 1e-12 and set(parts) >= {(("x", 3),), (("x", 1), ("y", 1))}
    assert wick.polynomial((x + 1) ** 2 - x**2 - 2 * x - 1, ["x"]) == {}
    with pytest.raises(ModelError, match="is no polynomial, so its mean over Gaussian tokens"):
        wick.polynomial(a / (x + 1), ["x"])


def graph_value(node: Any, point: dict[str, float]) -> Any:
    from odesys.expr.tape import ARRAYS, Tape

    return Tape.of([node]).over(ARRAYS)(point)[0]


def test_a_dropped_pairing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wick, "_pairings", lambda power: 2 if power == 4 else 0 if power % 2 else 1)
    assert wick.moment((("x", 4),)) != isserlis("xxxx")
