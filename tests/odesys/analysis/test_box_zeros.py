"""Zeros in a box: all of them, each certified, or an undecided box."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp

from odesys.analysis import box_zeros as room
from odesys.analysis.box_zeros import (
    FINE_PRECISION,
    PRECISION,
    _common_zero,
    _down,
    _Field,
    _may_contain,
    _merged,
    _number_and_exponential,
    _Unique,
    _up,
    _within,
    _without_removable,
    box_zeros,
    domain_limits,
    with_sigmoids,
)
from odesys.exact.balls import ball_program
from odesys.expr import graph
from odesys.expr.graph import Node, sym
from odesys.expr.system import System

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
    for touching in ([((0.0, 1.0),), ((1.0, 2.0),)], [((1.0, 2.0),), ((0.0, 1.0),)]):
        assert _merged(touching) == [((0, 2),)]
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


@pytest.mark.parametrize("seed", range(3))
def test_a_box_is_cut_inside_along_its_widest_side(seed: int) -> None:
    """Wide sides are cut across the origin first and then by factors; the two parts are the box again."""
    rng = random.Random(seed)
    field = _Field([x, y], ["x", "y"])
    for _ in range(60):
        ends = []
        for _ in range(2):
            low = rng.choice([-1, 1]) * 10 ** rng.uniform(-2, 5)
            ends.append((low, low + 10 ** rng.uniform(-2, 5)))
        box = tuple(ends)
        one, two = field.halves(box)
        widths = [(b - a) / max(1.0, abs(a), abs(b)) for a, b in box]
        j = widths.index(max(widths))
        assert one[1 - j] == two[1 - j] == box[1 - j] and one[j][0] == box[j][0] and two[j][1] == box[j][1]
        (a, b), cut = box[j], one[j][1]
        assert a < cut == two[j][0] < b
        if a < -1 and b > 1 and b - a > 40:
            assert abs(cut) < 0.1
        elif (a > 1 and b > 4 * a) or (b < -1 and a < 4 * b):
            assert cut / a == pytest.approx(b / cut)
        else:
            assert 0.4 < (cut - a) / (b - a) < 0.6 and cut != (a + b) / 2


@pytest.mark.parametrize(
    ("box", "cut"),
    [
        ((-1.0, 100.0), None), ((-100.0, 1.0), None), ((-20.0, 20.0), None), ((-21.0, 20.0), 0.0137),
        ((1.0, 5.0), None), ((2.0, 8.0), None), ((2.0, 8.5), 17**0.5), ((-8.5, -2.0), -(17**0.5)), ((-8.0, -2.0), None),
        ((-5.0, -1.0), None),
    ],
)  # fmt: skip
def test_where_a_side_is_cut(box: tuple[float, float], cut: float | None) -> None:
    (_, found), _ = (part[0] for part in _Field([x], ["x"]).halves((box,)))
    assert found == pytest.approx(box[0] + (box[1] - box[0]) * 0.4857 if cut is None else cut)


@pytest.mark.parametrize("place", [0, 1, 10**6, -(10**9)])
def test_a_double_zero_is_enclosed_as_narrowly_as_floats_are_there(place: int) -> None:
    """Boxes end at a width relative to where they are, after few steps."""
    found = box_zeros([(x - place) ** 2 * (1 + x**2)], ["x"], [(Fraction(place - 1), Fraction(place + 2))])
    ((low, high),) = found.undecided[0]
    assert len(found.undecided) == 1 and not found.zeros and low <= place <= high
    assert high - low < 1e-8 * max(1, abs(place)) and found.looked < 700


def test_an_image_of_a_linear_field_is_its_zero() -> None:
    """K(X) = m - Y F(m) + (I - Y A)(X - m) is the zero itself where Y inverts A."""
    field = _Field([2 * x + y - 5, x - 3 * y + 8], ["x", "y"])
    with flint.ctx.workprec(PRECISION):
        balls = [flint.arb(0.5, 4), flint.arb(2, 3)]
        values, matrix, arguments = field.at(balls, PRECISION)
        image = field.krawczyk(balls, matrix, PRECISION)
        assert image is not None and arguments == []
        assert [float(k.mid()) for k in image] == pytest.approx([1, 3]) and all(float(k.rad()) < 1e-12 for k in image)
        assert [matrix[0, 0], matrix[0, 1], matrix[1, 0], matrix[1, 1]] == [2, 1, 1, -3]
        assert values[0].contains(2 * 0.5 + 2 - 5 + 2 * 4 + 3) and float(values[0].rad()) == pytest.approx(11)
        assert [float(v) for v in field.value([flint.arb(1), flint.arb(3)], FINE_PRECISION)] == [0, 0]
        singular = _Field([x + y, 2 * x + 2 * y], ["x", "y"])
        assert singular.krawczyk(balls, singular.at(balls, PRECISION)[1], PRECISION) is None
        pole = _Field([1 / x, y], ["x", "y"])
        over = [flint.arb(0, 1), flint.arb(1)]
        assert pole.krawczyk(over, pole.at(over, PRECISION)[1], PRECISION) is None
        assert not pole.value([flint.arb(0), flint.arb(1)], PRECISION)[0].is_finite()


@pytest.mark.parametrize("seed", range(3))
def test_an_image_holds_every_zero_of_its_box(seed: int) -> None:
    """For fields with a known zero, wherever the box around it lies; and a box without one gives nothing."""
    rng = random.Random(seed)
    for _ in range(10):
        a, b = rng.uniform(-1, 1), rng.uniform(-1, 1)
        p, q = graph.num(Fraction(a)), graph.num(Fraction(b))
        field = _Field(
            [graph.call("sinh", x - p) + (y - q) ** 2, graph.call("sin", y - q) - 0 * x + (x - p) / 2], ["x", "y"]
        )
        with flint.ctx.workprec(PRECISION):
            balls = [flint.arb(a + rng.uniform(-0.2, 0.2), 0.25), flint.arb(b + rng.uniform(-0.2, 0.2), 0.25)]
            image = field.krawczyk(balls, field.at(balls, PRECISION)[1], PRECISION)
        assert image is not None and image[0].contains(flint.arb(a)) and image[1].contains(flint.arb(b))
        box = ((a - 0.05, a + 0.06), (b - 0.07, b + 0.04))
        unique = field.look(box)
        assert isinstance(unique, _Unique) and unique.balls[0].contains(flint.arb(a))
        assert field.look(((a + 0.5, a + 0.9), (b - 0.1, b + 0.1))) is None


def test_a_box_is_excluded_made_smaller_or_known_to_have_one_zero() -> None:
    field = _Field([x**2 - 2], ["x"])
    assert field.look(((2.0, 3.0),)) is None and field.look(((-1.0, 1.0),)) is None
    assert isinstance(field.look(((1.3, 1.5),)), _Unique)
    assert field.look(((-3.0, 3.0),)) == ((-3.0, 3.0),)  # the slope vanishes inside
    smaller = _Field([graph.exp(x) - 1], ["x"]).look(((-1.0, 30.0),))
    assert isinstance(smaller, _Unique) or (smaller is not None and smaller[0][0] <= 0 <= smaller[0][1])
    inside = _Field([graph.call("log", x)], ["x"])
    assert inside.look(((-3.0, -1.0),)) is None and inside.look(((-1.0, 0.5),)) is not None
    assert isinstance(_Field([graph.call("arcsin", x) - 1], ["x"]).look(((0.8, 0.9),)), _Unique)
    assert _Field([graph.call("arcsin", x) - 1], ["x"]).look(((1.5, 2.0),)) is None


def test_a_zero_that_is_found_again_is_recorded_once() -> None:
    field = _Field([x**2 - 2], ["x"])
    zeros: list[tuple[list[Any], list[Any]]] = []
    near, same, other = (_Unique([flint.arb(m, r)]) for m, r in ((1.4, 0.1), (1.42, 0.05), (-1.4, 0.1)))
    assert field.record(near, zeros) and field.record(same, zeros) and len(zeros) == 1
    assert field.record(other, zeros) and len(zeros) == 2
    (fine,), (wide,) = zeros[0]
    assert fine.overlaps(flint.arb(2).sqrt()) and float(fine.rad()) < 1e-40 and wide is near.balls[0]


def test_zeros_that_can_not_be_told_apart_are_not_recorded() -> None:
    """Fine balls that overlap, of which neither lies in the box of the other: then nothing is said."""
    field = _Field([x**2 - 2], ["x"])
    root = field.refined([flint.arb(1.4, 0.1)])
    far: list[tuple[list[Any], list[Any]]] = [([flint.arb(1.4, 0.5)], [flint.arb(9, 1)])]
    assert not field.record(_Unique([flint.arb(1.4, 0.1)]), far) and len(far) == 1
    held: list[tuple[list[Any], list[Any]]] = [([flint.arb(1.4, 0.05)], [flint.arb(9, 1)])]
    assert field.record(_Unique([flint.arb(1.4, 0.1)]), held) and len(held) == 1
    whole: list[tuple[list[Any], list[Any]]] = [([flint.arb(1.4, 0.5)], [flint.arb(1, 1)])]
    assert field.record(_Unique([flint.arb(1.4, 0.1)]), whole) and root[0].overlaps(flint.arb(2).sqrt())


@pytest.mark.parametrize(
    ("node", "parts"),
    [
        (2 + 3 * graph.exp(x), (2, 3, x)),
        (graph.exp(x - y) / 2 + 5, (5, Fraction(1, 2), x - y)),
        (graph.exp(x) * graph.exp(y) + 1, (1, 1, x + y)),
        (graph.exp(x) ** 2 + 1, (1, 1, 2 * x)),
        (2 - graph.exp(x), None),
        (graph.exp(x) - 2, None),
        (x + graph.exp(x), None),
        (1 + graph.exp(x) + graph.exp(y), None),
        (1 + x * graph.exp(x), None),
        (2 + x, None),
        (graph.exp(x) + graph.exp(y), None),
        (graph.exp(x), None),
        (graph.num(0.5) + graph.exp(x), None),
    ],
)
def test_sums_of_a_number_and_an_exponential(node: Node, parts: Any) -> None:
    assert _number_and_exponential(node) == parts


@pytest.mark.parametrize(
    ("node", "sigmoids"),
    [
        (1 / (1 + graph.exp(x)), {-x: 1}),
        (graph.exp(x) / (1 + graph.exp(x)), {x: 1}),
        (graph.exp(x) / (1 + graph.exp(x)) ** 3, {x: 1, -x: 2}),
        (graph.exp(x) ** 2 / (1 + graph.exp(x)) ** 2, {x: 2}),
        (graph.exp(-x) / (1 + graph.exp(x)), {-x: 1}),
        (y / (1 + graph.exp(-x)), {x: 1}),
        (graph.exp(-x) / (1 + graph.exp(-x)) ** 2, {x: 1, -x: 1}),
    ],
)
def test_powers_of_sigmoids_by_hand(node: Node, sigmoids: dict[Node, int]) -> None:
    """e^(m z) / (1 + e^z)^k is sigma(z)^m sigma(-z)^(k - m), with m at most k; more exponentials are left over."""
    (found,) = with_sigmoids([node])
    powers = dict(found.args) if found.op == "mul" else {found: 1}
    assert {b.args[0]: e for b, e in powers.items() if b.op == "sigmoid"} == sigmoids
    for values in ({"x": 0.3, "y": -0.7}, {"x": -1.1, "y": 0.4}):
        one, other = graph.evaluate([node, found], values, graph.FLOAT_FUNCTIONS, float)
        assert one == pytest.approx(other, rel=1e-12)


def test_undecided_boxes_that_a_known_zero_explains_are_left_out() -> None:
    assert _within(((0.0, 1.0),), [flint.arb(0.5, 0.5)]) and not _within(((0.0, 1.1),), [flint.arb(0.5, 0.5)])
    assert not _within(((-0.1, 1.0),), [flint.arb(0.5, 0.5)])
    assert not _within(((0.0, 1.0), (2.0, 3.0)), [flint.arb(0.5, 0.5), flint.arb(2, 0.5)])
    for limit in (0, 1, 7):
        found = box_zeros([graph.call("sin", 9 * x)], ["x"], square(10), limit=limit)
        assert found.looked == limit and found.undecided
    covered = box_zeros([graph.call("sin", 9 * x)], ["x"], square(10), limit=30)
    for k in range(-28, 29):
        place = k * math.pi / 9
        assert (
            abs(place) > 10
            or any(z.overlaps(flint.arb.pi() * k / 9) for (z,) in covered.zeros)
            or any(low <= place <= high for ((low, high),) in covered.undecided)
        )


def test_pairs_that_may_vanish_together_leave_their_place_undecided() -> None:
    """What was divided by x may have other zeros where x and the other expression vanish."""
    free = box_zeros([y - 1, x - 2], ["x", "y"], square(5, 2), apart=[(x, y - 3)])
    assert len(free.zeros) == 1 and any(a <= 0 <= b and c <= 3 <= d for (a, b), (c, d) in free.undecided) is bool(
        free.undecided
    )
    touching = box_zeros([graph.call("sinh", x), y - 3], ["x", "y"], square(5, 2), apart=[(x, y - 3)])
    assert not touching.zeros and any(a <= 0 <= b and c <= 3 <= d for (a, b), (c, d) in touching.undecided)
    never = box_zeros([graph.call("sinh", x), y - 3], ["x", "y"], square(5, 2), apart=[(x, y - 3), (y - 3, x - 1)][1:])
    assert len(never.zeros) == 1 and not [b for b in never.undecided if b[0][0] <= 0 <= b[0][1]]


def test_boxes_in_the_plane_touch_where_both_sides_do() -> None:
    corner = [((0.0, 1.0), (0.0, 1.0)), ((1.0, 2.0), (1.0, 2.0)), ((5.0, 6.0), (0.0, 1.0)), ((6.5, 7.0), (0.0, 1.0))]
    assert sorted(_merged(corner)) == [((0, 2), (0, 2)), ((5, 6), (0, 1)), ((Fraction(13, 2), 7), (0, 1))]
    twelve = [((float(2 * k), float(2 * k + 1)),) for k in range(12)]
    assert len(_merged(twelve)) == 12 and len(_merged([*twelve, ((30.0, 31.0),)])) == 1


def test_images_leave_little_of_a_box_with_one_zero() -> None:
    """Each holds the zero, so that their intersection does; a box in which the slope vanishes at the middle stays."""
    field = _Field([graph.exp(x) - 2, y**3 + y - 10], ["x", "y"])
    with flint.ctx.workprec(FINE_PRECISION):
        wide = [flint.arb(0.6, 0.3), flint.arb(2.1, 0.4)]
        small = field.contracted(wide)
        zero = [flint.arb(2).log(), flint.arb(2)]
        assert all(s.contains(z) and w.contains(s) for s, z, w in zip(small, zero, wide, strict=True))
        assert all(float(s.rad()) < 1e-20 for s in small)
        flat = [flint.arb(0, 1)]
        assert _Field([x**3], ["x"]).refined(flat) == flat and _Field([x**2], ["x"]).contracted(flat) is flat
        fine = field.refined(wide)
        assert all(f.contains(z) and float(f.rad()) < 1e-40 for f, z in zip(fine, zero, strict=True))


@pytest.mark.parametrize("limits", [(-1, 1), (0, 3), (-2, 0), (2, 3), (-2.1, -2)])
def test_quotients_over_balls_hold_those_at_points(limits: tuple[float, float]) -> None:
    """The quotient x/(1 - exp(-x)) and its slope at points of a ball, where these are finite."""
    _, (quotient,) = _without_removable([x / (1 - graph.exp(-x))])
    low, high = limits
    value, slope = quotient.at(flint.arb(low).union(flint.arb(high)), PRECISION)
    for k in range(1, 10):
        place = low + (high - low) * k / 10
        if abs(place) > 1e-9:
            number = place / (1 - math.exp(-place))
            change = (1 - number * math.exp(-place)) / (1 - math.exp(-place))
            assert (
                value.contains(flint.arb(number, 1e-12)) or not value.is_finite() or value.overlaps(flint.arb(number))
            )
            assert slope.overlaps(flint.arb(change, 1e-12)) or not slope.is_finite()
    assert value.is_finite() and slope.is_finite() is (not low <= 0 <= high)


def test_contractions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is an image with the one before: after none the box is as it was, and after some it is smaller."""
    field = _Field([graph.exp(x) - 2], ["x"])
    sizes = []
    with flint.ctx.workprec(FINE_PRECISION):
        for count in (0, 1, 2, 3):
            monkeypatch.setattr(room, "CONTRACTIONS", count)
            (ball,) = field.contracted([flint.arb(0.6, 0.3)])
            assert ball.contains(flint.arb(2).log())
            sizes.append(float(ball.rad()))
    assert sizes[0] == pytest.approx(0.3) and all(b < 0.5 * a for a, b in pairwise(sizes))


def test_a_zero_with_one_coordinate_known_exactly_is_refined_in_the_others() -> None:
    """A box that is a point in x goes on shrinking in y: all four zeros are told apart, at their places."""
    x, y = sp.symbols("x y")
    rhs = {x: sp.sinh(x) * (sp.exp(x) - 2), y: sp.sinh(y - 1) * (sp.exp(y) - 3 * sp.exp(x))}
    found = System.from_equations(rhs).equilibria()
    assert found.complete and len(found) == 4
    wanted = [(0, 1), (0, math.log(3)), (math.log(2), 1), (math.log(2), math.log(6))]
    places = sorted((float(e.point["x"]), float(e.point["y"])) for e in found)
    assert np.allclose(places, sorted(wanted), rtol=0, atol=1e-14)


def test_a_ball_too_near_to_zero_for_its_ends_to_be_written_out() -> None:
    tiny = flint.arb(2) ** -(2**21)
    inside, outside = (Fraction(-1), Fraction(1)), (Fraction(1, 2), Fraction(1))
    assert (
        _may_contain(inside, tiny)
        and not _may_contain(outside, tiny)
        and not _may_contain((-outside[1], -outside[0]), tiny)
    )
    found = box_zeros([graph.call("tanh", y)], ["y"], square(3))
    (zero,) = found.zeros
    assert zero[0].contains(0) and not found.undecided and abs(zero[0]) < 1e-30
