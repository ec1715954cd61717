"""Triangle bounds: like terms cancel first, every monomial is counted, and what is no polynomial is refused."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from odesys.errors import EquationError
from odesys.exact.triangle_bound import triangle_bound
from odesys.expr import graph
from odesys.expr.graph import sym

x, y, D = sym("x"), sym("y"), sym("D")


def test_like_terms_cancel_before_the_bound_is_taken() -> None:
    assert triangle_bound((x + y) ** 2 - (x - y) ** 2, {"x": D, "y": 3}) is 12 * D
    assert triangle_bound(x - x, {}) is graph.ZERO


def test_no_point_of_the_box_is_above_the_bound() -> None:
    node = (x - 2 * y) ** 3 / 5 - x * y + Fraction(1, 7)
    (bound,) = graph.evaluate([triangle_bound(node, {"x": Fraction(1, 2), "y": 2})], {}, {})
    rng = random.Random(0)
    corners = [{"x": s * Fraction(1, 2), "y": Fraction(2 * r)} for s in (1, -1) for r in (1, -1)]
    inside = [{"x": Fraction(rng.randint(-32, 32), 64), "y": Fraction(rng.randint(-128, 128), 64)} for _ in range(200)]
    values = [abs(graph.evaluate([node], point, {})[0]) for point in corners + inside]
    assert max(values) <= bound


@pytest.mark.parametrize("node", [1 / x, graph.sqrt(x), graph.exp(x), x + y, 1.5 * x])
def test_refusals(node) -> None:
    with pytest.raises(EquationError):
        triangle_bound(node, {"x": 1})


def test_a_bound_is_the_polynomial_with_all_signs_positive() -> None:
    B = sym("B")
    bound = triangle_bound((x - 2 * y) ** 3 / 5 - x * y + Fraction(-1, 7), {"x": D, "y": B, "unused": 1})
    wanted = (D + 2 * B) ** 3 / 5 + D * B + Fraction(1, 7)
    for at in ({"D": 2, "B": 3}, {"D": Fraction(1, 3), "B": 5}):
        assert graph.evaluate([bound - wanted], at, {}) == [0]
    assert triangle_bound((x**2 - 1) / (x - 1), {"x": 3}) is graph.num(4)  # it is x + 1
    assert triangle_bound(-x / 3, {"x": D}) is D / 3 and triangle_bound(graph.num(-2), {}) is graph.num(2)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (1.5 * x, "with floats would be no proof"),
        (1 / x, "for polynomials; this expression has divisors or roots"),
        (x / (x + 1), "has divisors or roots"),
        (graph.sqrt(x) + x, "has divisors or roots"),
        (x + y, r"Node\(y\) has no bound"),
        (x * graph.exp(y), r"Node\(exp\(y\)\) has no bound"),
        ((x + 1) ** 10**9, "too many terms"),
    ],
)
def test_refusals_say_why(node: graph.Node, words: str) -> None:
    with pytest.raises(EquationError, match=words):
        triangle_bound(node, {"x": 1})
