"""Minima over boxes: certified, narrow, and rational numbers below them."""

from __future__ import annotations

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp

from odesys.certify.box_search import Objective, ends, minimise, prove_at_least, rational_below, value_at
from odesys.certify.region import Region
from odesys.exact.balls import as_ball
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.tape import ARRAYS, Tape
from tests.known_systems import X, Y


@pytest.mark.parametrize(
    "expression",
    [
        (X - sp.Rational(1, 3)) ** 2 + sp.cos(3 * Y) / 2,
        sp.exp(X * Y) - X - Y,
        sp.sin(4 * X) * sp.cos(3 * Y) + X**3,
        sp.Heaviside(X - Y) * (1 - X) - Y / 3,
        sp.sqrt(X**2 + Y**2 + sp.Rational(1, 10)),
    ],
)
def test_minima_are_certified_and_narrow(expression: sp.Expr) -> None:
    objective = Objective(graph.as_node(expression), dict.fromkeys(("x", "y"), (Fraction(-1), Fraction(1))))
    found = minimise([objective], None, Fraction(1, 100), 4000)
    grid = np.linspace(-1, 1, 401)
    xs, ys = np.meshgrid(grid, grid)
    values = sp.lambdify((X, Y), expression, [{"Heaviside": lambda z, _=0: 1.0 * (z > 0)}, "numpy"])(xs, ys)
    assert found.low is not None and float(found.low) <= values.min() + 1e-12
    assert float(found.low) >= values.min() - 0.03 * max(1.0, abs(values.min()))


def test_rational_below_is_below_and_short() -> None:
    for value in (sp.sqrt(2), -sp.pi, sp.Rational(10**20 + 1, 3 * 10**20), sp.exp(-40)):
        short = rational_below(value)
        assert sp.Rational(short) <= value and short.denominator < 10**40
        assert float(short) == pytest.approx(float(value), rel=1e-10)
    assert rational_below(Fraction(3, 7)) == Fraction(3, 7)


UNIT = (Fraction(-1), Fraction(1))


def test_ends_are_exact_and_hold_the_value() -> None:
    assert ends(as_ball(Fraction(3, 4))) == (Fraction(3, 4), Fraction(3, 4))
    low, high = ends(as_ball(Fraction(1, 3)))  # type: ignore[misc]
    assert low < Fraction(1, 3) < high and high - low < Fraction(1, 2**40)
    assert ends(1 / as_ball(0)) is None
    x, y = sym("x"), sym("y")
    point = {"x": Fraction(1, 3), "y": Fraction(-2, 7)}
    found = value_at(x**2 - x * y, point)
    exact = Fraction(1, 9) + Fraction(2, 21)
    assert found is not None and found[0] <= exact <= found[1] and found[1] - found[0] < Fraction(1, 2**40)
    assert value_at(1 / (x - Fraction(1, 2)), {"x": Fraction(1, 2)}) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_level_is_proved_below_the_least_value_and_not_above(seed: int) -> None:
    """Of random quadratic forms, whose least value on the box is looked for on a fine grid."""
    rng = random.Random(seed)
    a, b, c, d, e = (rng.randint(-3, 3) for _ in range(5))
    x, y = sym("x"), sym("y")
    objective = Objective(a * x**2 + b * x * y + c * y**2 + d * x + e * y, {"x": UNIT, "y": UNIT})
    grid = np.linspace(-1, 1, 801)
    xs, ys = np.meshgrid(grid, grid)
    least = Fraction(float((a * xs**2 + b * xs * ys + c * ys**2 + d * xs + e * ys).min())).limit_denominator(10**6)
    assert prove_at_least(objective, least - Fraction(1, 20), None, 2000)
    assert not prove_at_least(objective, least + Fraction(1, 20), None, 2000)
    found = minimise([objective], None, Fraction(1, 100), 4000)
    room = max(1, abs(least)) / 50
    assert found.low is not None and found.seen is not None and least - room < found.low <= found.seen <= least + room
    assert set(found.point) == set(objective.start) and all(-1 <= v <= 1 for v in found.point.values())


def test_a_trail_has_every_box_with_what_was_done_there() -> None:
    x, y = sym("x"), sym("y")
    objective = Objective(x**2 + y**2 - x * y, {"x": UNIT, "y": UNIT})
    trail: list[dict[str, object]] = []
    leaned: list[dict[str, Fraction]] = []
    assert prove_at_least(objective, Fraction(-1, 4), None, 500, lambda _, p: leaned.append(dict(p)), trail)
    open_ones = [entry for entry in trail if "split" in entry]
    assert len(open_ones) == len(leaned) and len(trail) == 2 * len(open_ones) + 1
    assert all(entry["hidden"] == {} for entry in trail if "split" not in entry)
    for entry in open_ones:
        low, high = entry["box"][entry["split"]]  # type: ignore[index]
        assert entry["at"] == (low + high) / 2
    assert not prove_at_least(objective, Fraction(-1, 10**6), None, 3)


def test_conditions_of_a_region_leave_boxes_out() -> None:
    """x - y is at least 1/2 where x >= y + 1/2, and nowhere else that is asked about."""
    x, y = sym("x"), sym("y")
    region = Region({"x": (-1, 1), "y": (-1, 1)}, [x - y - Fraction(1, 2)])
    objective = Objective(x - y, {"x": UNIT, "y": UNIT})
    trail: list[dict[str, object]] = []
    assert prove_at_least(objective, Fraction(1, 4), region, 4000, trail=trail)
    assert not prove_at_least(objective, Fraction(1, 4), None, 4000)
    assert any(entry["box"] is None for entry in trail) or len(trail) > 1
    found = minimise([objective], region, Fraction(1, 50), 4000)
    assert found.low is not None and Fraction(2, 5) <= found.low <= Fraction(1, 2)


@pytest.mark.parametrize("seed", range(12))
def test_a_bound_is_below_every_value_in_its_box_and_near_in_a_small_one(seed: int) -> None:
    """Of random cubics and exponentials: the gap falls with the square of the width."""
    rng = random.Random(seed)
    x, y, z = names = sym("x"), sym("y"), sym("z")
    terms = [a * b * c for a, b, c in product((1, *names), repeat=3)]
    node = sum((rng.randint(-3, 3) * term for term in rng.sample(terms, 6)), x * y - z) + graph.exp(
        x * rng.randint(-1, 1)
    )
    objective = Objective(graph.as_node(node), dict.fromkeys("xyz", (Fraction(-2), Fraction(2))))
    tape = Tape.of([graph.as_node(node)]).over(ARRAYS)
    for width in (Fraction(1), Fraction(1, 8), Fraction(1, 64)) * 4:
        middle = {name: Fraction(rng.randint(-100, 100), 100) for name in "xyz"}
        box = {name: (m - width / 2, m + width / 2 * rng.randint(1, 2)) for name, m in middle.items()}
        grid = np.meshgrid(*(np.linspace(float(low), float(high), 9) for low, high in box.values()))
        (values,) = tape(dict(zip("xyz", grid, strict=True)))
        found = objective.bound(box)
        least = float(np.min(values))
        assert found.low is not None and found.split in box
        assert float(found.low) <= least + 1e-12
        assert least - float(found.low) <= 500 * float(width) ** 2
        assert set(found.point) == set("xyz") and all(box[n][0] <= v <= box[n][1] for n, v in found.point.items())


def test_a_variable_without_width_is_a_number() -> None:
    x, y = sym("x"), sym("y")
    thin = (Fraction(1, 3), Fraction(1, 3))
    found = minimise([Objective((x - y) ** 2 + x, {"x": UNIT, "y": thin})], None, Fraction(1, 1000), 4000)
    alone = minimise([Objective((x - Fraction(1, 3)) ** 2 + x, {"x": UNIT})], None, Fraction(1, 1000), 4000)
    assert found.point == {**alone.point, "y": thin[0]} and found.boxes == alone.boxes
    assert abs(found.low - alone.low) < Fraction(1, 10**15)
    exact = Fraction(1, 12)  # at x = -1/6
    assert found.low <= exact <= found.seen < found.low + Fraction(1, 1000)
    assert found.objective.at(found.point)[0] <= found.seen


def test_what_leans_on_a_hidden_sum_is_put_back_into_its_variables() -> None:
    """Eight variables that enter through two sums only: the search is over the sums, its points are in all eight."""
    names = [f"a{k}" for k in range(4)] + [f"b{k}" for k in range(4)]
    rng = random.Random(3)
    sums = [
        sum((rng.randint(1, 5) * sym(n) ** 3 + sym(n) for n in part), graph.ZERO) for part in (names[:4], names[4:])
    ]
    node = (sums[0] - 2) ** 2 + graph.exp(sums[1] / 10) - sums[0] * sums[1] / 50
    objective = Objective(node, dict.fromkeys(names, UNIT))
    found = minimise([objective], None, Fraction(1, 20), 40)
    assert found.low is not None and found.boxes <= 41 and set(found.point) == set(names)
    assert all(-1 <= v <= 1 for v in found.point.values())
    numbers = np.random.default_rng(1).uniform(-1, 1, (8, 20000))
    (values,) = Tape.of([node]).over(ARRAYS)(dict(zip(names, numbers, strict=True)))
    assert found.low is not None and float(found.low) <= values.min()
    places: list[dict[str, Fraction]] = []
    again = minimise([objective], None, Fraction(1, 20), 40, lambda _, place: places.append(dict(place)))
    assert again.seen == min(objective.at(place)[1] for place in places) and again.low <= again.seen
