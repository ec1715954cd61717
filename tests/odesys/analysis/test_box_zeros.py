"""Zeros in a box: all of them, each certified, or an undecided box."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import flint
import numpy as np
import pytest

from odesys.analysis.box_zeros import (
    FINE_PRECISION,
    PRECISION,
    _common_zero,
    _down,
    _Field,
    _may_contain,
    _merged,
    _up,
    _without_removable,
    box_zeros,
    domain_limits,
    with_sigmoids,
)
from odesys.exact.balls import ball_program
from odesys.expr import graph
from odesys.expr.graph import Node, sym

x, y = sym("x"), sym("y")


def square(size: int, count: int = 1) -> list[tuple[Fraction, Fraction]]:
    return [(Fraction(-size), Fraction(size))] * count


def test_all_zeros_of_a_sine() -> None:
    found = box_zeros([graph.call("sin", 7 * x)], ["x"], square(10))
    wanted = np.arange(-22, 23) * np.pi / 7
    assert sorted(float(z.mid()) for (z,) in found.zeros) == pytest.approx(wanted.tolist()) and not found.undecided


@pytest.mark.parametrize("gap", [Fraction(1, 10**k) for k in (2, 4, 6)])
def test_near_zeros_are_told_apart(gap: Fraction) -> None:
    node = (x - 1) * (x - 1 - graph.num(gap)) * graph.exp(x)
    found = box_zeros([node], ["x"], square(10))
    assert len(found.zeros) == 2 and not found.undecided


def test_a_double_zero_is_left_undecided_and_not_lost() -> None:
    for node in ((graph.exp(x) - 1) ** 2, (graph.exp(x) - 1) ** 2 + graph.num(Fraction(1, 10**30))):
        found = box_zeros([node], ["x"], square(3))
        assert not found.zeros and any(low <= 0 <= high for ((low, high),) in found.undecided)


def test_two_equations() -> None:
    found = box_zeros([x**2 + y**2 - 4, y - graph.exp(x)], ["x", "y"], square(100, 2))
    places = sorted([float(z.mid()) for z in zero] for zero in found.zeros)
    assert np.array(places) == pytest.approx(np.array([[-1.99537317, 0.13596291], [0.63926307, 1.89508383]]))
    assert not found.undecided and all(float(z.rad()) < 1e-40 for zero in found.zeros for z in zero)


def quotient(shift: int) -> Node:
    u = x - shift
    return u / (1 - graph.exp(-u))


def test_a_removable_singularity_leaves_nothing_open() -> None:
    found = box_zeros([quotient(1) ** 3 - 2 + quotient(-2)], ["x"], square(50))
    assert len(found.zeros) == 1 and not found.undecided
    found = box_zeros([quotient(1) + 1], ["x"], square(50))
    assert not found.zeros and not found.undecided


def test_outside_of_the_domain_there_is_no_field() -> None:
    found = box_zeros([graph.call("log", x - 2) + 1], ["x"], square(50))
    assert [float(z.mid()) for (z,) in found.zeros] == pytest.approx([2 + np.exp(-1)])
    assert all(low > 1.9 and high < 2.1 for ((low, high),) in found.undecided)  # only the edge


def test_a_limit_leaves_the_rest_undecided() -> None:
    found = box_zeros([graph.call("sin", 50 * x)], ["x"], square(10), limit=20)
    assert found.undecided and found.looked == 20


def test_quotients_of_exponentials_are_sigmoids() -> None:
    node = x / (2 + 3 * graph.exp(2 * x)) ** 2
    (new,) = with_sigmoids([node])
    assert any(part.op == "sigmoid" for part in graph.topological([new]))
    assert not any(part.op == "sigmoid" for part in graph.topological(with_sigmoids([x / (2 - graph.exp(x))])))
    old_value, new_value = ball_program([node, new], 128)({"x": flint.arb(0.3)})
    assert old_value.overlaps(new_value) and float(new_value.rad()) < 1e-30


def test_neurons_are_searched_in_a_wide_box() -> None:
    """The ball of an exponential over a wide box reaches far below zero, so one over 1 + e^z had no value there."""
    u = [1 / (1 + graph.exp(8 * y - 10 * x)) - x, 1 / (1 + graph.exp(4 - 12 * x + 3 * y)) - y]
    found = box_zeros(u, ["x", "y"], square(1000, 2))
    assert len(found.zeros) == 1 and not found.undecided


def test_an_exponential_over_its_sum_is_a_sigmoid() -> None:
    for node in (graph.exp(x) / (2 + 3 * graph.exp(x)), graph.exp(x) ** 2 / (1 + graph.exp(x)) ** 3):
        (new,) = with_sigmoids([node])
        assert {part.op for part in graph.topological([new])} & {"exp", "sigmoid"} == {"sigmoid"}
        old_value, new_value = ball_program([node, new], 128)({"x": flint.arb(0.3)})
        assert old_value.overlaps(new_value) and float(new_value.rad()) < 1e-30


def test_a_pair_that_may_vanish_together_is_told_from_one_that_may_not() -> None:
    x, y = sym("x"), sym("y")
    pairs = [(x - 1, y), (y - 2, x + 5), (x + y - 6, graph.exp(x))]
    field = _Field([x * y], ["x", "y"], pairs)
    for a in (-5, 0, 1, 3):
        for b in (0, 1, 2, 9):
            vanish = any(u == 0 and v == 0 for u, v in ((a - 1, b), (b - 2, a + 5)))
            assert field.may_degenerate([flint.arb(a), flint.arb(b)]) is vanish
    assert field.may_degenerate([flint.arb(0, 2), flint.arb(0, 1)]) and not _Field([x], ["x"]).may_degenerate([])


@pytest.mark.parametrize(
    ("above", "below", "place"),
    [
        (lambda x: x - 1, lambda x: graph.call("sin", x) ** 2 + graph.call("cos", x) ** 2 - 1, 1),
        (lambda x: 3 * x + 2, lambda x: 9 * x**2 - 4, Fraction(-2, 3)),
        (lambda x: x - 1, lambda x: graph.exp(x) - 1, None),
        (lambda x: 2 * x, lambda x: graph.exp(x) - 1, 0),
        (lambda x: x**2 - 1, lambda x: x - 1, None),
        (lambda x: x + sym("y"), lambda x: x, None),
        (lambda x: x - 0.5, lambda x: x - Fraction(1, 2), None),
        (lambda x: x, lambda x: 1 / x, None),
    ],
)
def test_a_common_zero_is_rational_and_proved(above: object, below: object, place: Fraction | None) -> None:
    x = sym("x")
    assert _common_zero(above(x), below(x)) == place  # type: ignore[operator]


def test_intervals_have_their_ends() -> None:
    unit = (Fraction(0), Fraction(1))
    for value, inside in ((0, True), (1, True), (-1, False), (2, False)):
        assert _may_contain(unit, flint.arb(value)) is inside
    assert _may_contain(unit, flint.arb(2, 1)) and _may_contain(unit, flint.arb(-1, 1))
    assert not _may_contain(unit, flint.arb(3, 1)) and not _may_contain(unit, flint.arb(-2, 1))
    for end in (0, 1):
        (zero,) = box_zeros([graph.call("sinh", sym("x") - end)], ["x"], [unit]).zeros
        assert zero[0].contains(end)


@pytest.mark.parametrize("seed", range(10))
def test_random_quotients_of_exponentials_are_sigmoids_of_the_same_value(seed: int) -> None:
    rng = random.Random(seed)
    x, y = sym("x"), sym("y")
    for _ in range(8):
        z = rng.choice([x, -x, x + y, 2 * x - y, -3 * y])
        a, b = Fraction(rng.randint(1, 5), rng.randint(1, 3)), Fraction(rng.randint(1, 5))
        m, k = rng.randint(0, 3), rng.randint(1, 3)
        node = graph.exp(z) ** m / (a + b * graph.exp(z)) ** k * (x + 2) + rng.choice([0, 1]) * y
        (found,) = with_sigmoids([node])
        if m <= k:
            assert not any(n.op == "exp" for n in graph.topological([found]))
        for values in ({"x": 0.3, "y": -0.7}, {"x": -1.1, "y": 0.4}):
            one, other = graph.evaluate([node, found], values, graph.FLOAT_FUNCTIONS, float)
            assert one == pytest.approx(other, rel=1e-12)


def test_quotients_with_a_common_zero_have_a_name_and_a_value_there() -> None:
    """x / (1 - exp(-x)) is 1 at 0, (x - 1)^2 / log(x)^2 is no quotient of sums; powers of a quotient are powers."""
    x = sym("x")
    node = (
        x**2 / (1 - graph.exp(-x)) ** 2 + 3 * x / (1 - graph.exp(-x)) + (x - 1) / (graph.exp(x) - graph.exp(1 + 0 * x))
    )
    (found,), removable = _without_removable([node])
    assert [r.place for r in removable] == [0, 1] and {r.name for r in removable} <= graph.symbols([found])
    values = {
        "x": 0.7,
        **{r.name: graph.evaluate([r.above / r.below], {"x": 0.7}, graph.FLOAT_FUNCTIONS, float)[0] for r in removable},
    }
    one, other = graph.evaluate([node, found], values, graph.FLOAT_FUNCTIONS, float)
    assert one == pytest.approx(other, rel=1e-13)
    quotient, slope = removable[0].at(flint.arb(0, 1e-6), PRECISION)
    assert quotient.contains(1) and float(quotient.rad()) < 1e-5 and not slope.is_finite()
    quotient, slope = removable[0].at(flint.arb(0.5), PRECISION)
    assert float(quotient.mid()) == pytest.approx(0.5 / (1 - math.exp(-0.5)))
    h = 1e-6
    difference = ((0.5 + h) / (1 - math.exp(-0.5 - h)) - (0.5 - h) / (1 - math.exp(-0.5 + h))) / (2 * h)
    assert float(slope.mid()) == pytest.approx(difference, rel=1e-8)
    assert _without_removable([x / (1 + graph.exp(x))])[1] == []


def test_arguments_must_lie_in_their_domains() -> None:
    x, y = sym("x"), sym("y")
    found = {
        node: (float(low), float(high))
        for node, low, high in domain_limits(
            [
                graph.sqrt(x) * graph.call("log", y),
                graph.call("arcsin", x + y),
                graph.exp(x),
                (x - y) ** -2,
                graph.sqrt(graph.num(2)),
            ]
        )
    }
    assert found == {x: (0, math.inf), y: (0, math.inf), x + y: (-1, 1)}


def test_floats_around_a_fraction() -> None:
    for value in (
        Fraction(1, 3),
        Fraction(-1, 3),
        Fraction(1, 2),
        Fraction(0),
        Fraction(10) ** 400,
        -(Fraction(10) ** 400),
    ):
        low, high = _down(value), _up(value)
        assert low <= value <= high
        assert (low == high == value) or math.nextafter(low, math.inf) == high or not math.isfinite(low * high)
    assert _down(Fraction(10) ** 400) < math.inf == _up(Fraction(10) ** 400)


def test_boxes_that_touch_become_one() -> None:
    boxes = [((0.0, 1.0),), ((1.0, 2.0),), ((3.0, 4.0),), ((2.0, 2.5),)]
    assert sorted(_merged(boxes)) == [((0, Fraction(5, 2)),), ((3, 4),)]
    apart = [((0.0, 1.0), (0.0, 1.0)), ((0.5, 2.0), (2.0, 3.0))]
    assert len(_merged(apart)) == 2 and _merged([]) == []
    many = [((float(2 * k), float(2 * k + 1)),) for k in range(500)]
    assert _merged(many) == [((0, 999),)]


@pytest.mark.parametrize(
    ("node", "low", "high", "roots"),
    [
        (lambda x: x**3 - x, -50, 50, [-1, 0, 1]),
        (lambda x: graph.exp(x) - 1000, -100, 100, [math.log(1000)]),
        (lambda x: graph.call("log", x) - 3, -5, 1000, [math.exp(3)]),
        (lambda x: graph.sqrt(x) - x / 10, 1, 1000, [100]),
        (lambda x: graph.call("tanh", x) - x / 3, -60, 60, [-2.9847, 0, 2.9847]),
        (lambda x: (x - 10**6) * (x + 10**6), -(10**8), 10**8, [-(10**6), 10**6]),
        (lambda x: graph.exp(-x) + 1, -9, 9, []),
        (lambda x: 1 / x - 2, -3, 3, [0.5]),
    ],
)
def test_zeros_in_wide_boxes(node: Callable[[Node], Node], low: int, high: int, roots: list[float]) -> None:
    found = box_zeros([node(sym("x"))], ["x"], [(Fraction(low), Fraction(high))])
    assert sorted(float(z.mid()) for (z,) in found.zeros) == pytest.approx(roots, rel=1e-4, abs=1e-9)
    assert all(float(z.rad()) < 1e-20 * max(1, abs(float(z.mid()))) for (z,) in found.zeros)
    assert not [b for b in found.undecided if b[0][0] > Fraction(1, 100) or b[0][1] < Fraction(-1, 100)]


@pytest.mark.parametrize("seed", range(5))
def test_linear_and_curved_systems_with_known_zeros(seed: int) -> None:
    rng = random.Random(seed)
    x, y, z = map(sym, "xyz")
    a, b, c = (Fraction(rng.randint(-8, 8), 3) for _ in range(3))
    nodes = [
        graph.call("sinh", x - a) + (y - b) / 2,
        3 * (y - b) + (x - a) * (z - c),
        graph.call("tanh", z - c) + (x - a) / 4,
    ]
    found = box_zeros(nodes, ["x", "y", "z"], square(4, 3))
    assert len(found.zeros) == 1 and not found.undecided
    assert [float(ball.mid()) for ball in found.zeros[0]] == pytest.approx([float(v) for v in (a, b, c)], abs=1e-14)


@pytest.mark.parametrize(
    ("a", "b", "low", "high"),
    [(-1, 4, -2, 4), (1, 1, -2, 6), (2, 3, -2, 2), (5, 5, -3, 4), (6, 6, -4, 5)],
)
def test_a_zero_is_refined_also_where_newtons_method_leaves_the_box(a: int, b: int, low: int, high: int) -> None:
    """The only real root of a cubic, in a box in which its slope vanishes, so that no image is smaller."""
    field = _Field([x**3 - a * x + b], ["x"])
    with flint.ctx.workprec(FINE_PRECISION):
        wide = [flint.arb((low + high) / 2, (high - low) / 2)]
        assert field.contracted(wide) is wide
        (ball,) = field.refined(wide)
        assert wide[0].contains(ball) and float(ball.rad()) < 1e-30
        value = ball**3 - a * ball + b
        assert value.contains(0) and float(value.rad()) < 1e-25
