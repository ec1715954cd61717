"""One validated step: Picard's box holds the solution, spreads and ranges are from above."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import flint
import pytest

from odesys.certify.validated_step import (
    domain_guards,
    horner,
    outside_domain,
    picard,
    polynomial_range,
    spread,
    widen,
)
from odesys.expr import graph
from odesys.expr.graph import ONE, call, sym


def growth(box: list[flint.arb]) -> tuple[list[flint.arb], ...]:
    """Taylor coefficients of x' = x: value and slope."""
    return tuple([x, x] for x in box)


def test_a_box_that_passes_holds_the_solution() -> None:
    (box,) = picard([flint.arb(1)], Fraction(1, 4), growth)
    for part in (Fraction(0), Fraction(1, 8), Fraction(1, 4)):
        assert box.contains(flint.arb(flint.fmpq(part.numerator, part.denominator)).exp())


def test_a_step_that_is_too_long_has_no_box() -> None:
    assert picard([flint.arb(1)], Fraction(5), growth) is None
    assert picard([flint.arb("nan")], Fraction(1, 4), growth) is None


@pytest.mark.parametrize(("slope", "rate"), [(ONE, 1), (-ONE, -1), (3 * ONE, 3)])
def test_solutions_spread_at_most_so_far(slope: object, rate: int) -> None:
    """x' = rate x: the distance of two solutions is e^(rate h) times the one before; there is a quarter to spare."""
    (grown,) = spread([{0: slope}], {}, Fraction(1, 2), [flint.arb(1)])
    exact = (flint.arb(rate) / 2).exp()
    assert exact <= grown <= (flint.arb(rate + abs(rate) / 4) / 2).exp() * (1 + flint.arb(2) ** -20)


def test_a_slope_over_a_box_is_taken_at_its_largest() -> None:
    (grown,) = spread([{0: sym("r")}], {"r": flint.arb_series([flint.arb(1, 1)])}, Fraction(1), [flint.arb(1)])
    assert grown >= flint.arb(2).exp()


def test_room_for_a_checker() -> None:
    x = flint.arb(1, 0.01)
    wide = widen(x, flint.arb(0.001), flint.arb(0))
    assert wide.contains(x) and wide.rad() > x.rad() + flint.arb(0.003)


def test_room_is_on_both_sides_and_of_the_sizes_that_are_said() -> None:
    """A 32nd of the radius, a 2048th of the widest spread, three times the rest."""
    x = flint.arb(5, 0.5)
    for rest, most in ((0, 0), (0.125, 0), (-0.125, 0), (0, 4), (0.25, 8)):
        wide = widen(x, flint.arb(rest), flint.arb(most))
        room = 0.5 / 32 + most / 2048 + 3 * abs(rest)
        assert float(x.lower() - wide.lower()) == pytest.approx(room, rel=1e-6)
        assert float(wide.upper() - x.upper()) == pytest.approx(room, rel=1e-6)


def test_the_range_of_a_polynomial_holds_every_value_and_is_not_much_wider() -> None:
    model = [flint.arb(c) for c in (1, -2, 1)]  # (1 - x)^2
    found = polynomial_range(model, Fraction(0), Fraction(1, 2))
    for k in range(11):
        assert found.contains(horner(model, flint.arb(k) / 20))
    assert found.rad() < flint.arb("0.8") and not found.contains(flint.arb(2))
    point = polynomial_range(model, Fraction(1, 2), Fraction(1, 2))
    assert point.contains(flint.arb("0.25")) and point.rad() < flint.arb(2) ** -40


def test_a_box_that_passes_is_not_much_wider_than_it_has_to_be() -> None:
    """Of x' = x from 1 over 1/4 the least box of the test is [1, 4/3], for 1 + 4/3 * 1/4 = 4/3."""
    (box,) = picard([flint.arb(1)], Fraction(1, 4), growth)
    assert 0.9 < float(box.lower()) <= 1 and 4 / 3 <= float(box.upper()) < 1.45
    image = flint.arb(1) + flint.arb(0.125, 0.125) * box
    assert box.contains(image)


def test_arguments_with_a_domain_are_listed_with_it() -> None:
    """Roots, logarithms, inverse functions, divisors; numbers and exponentials may be divided by."""
    x, y, z = sym("x"), sym("y"), sym("z")
    nodes = [
        graph.sqrt(x + 2) * graph.sqrt(graph.num(2)) + call("log", y + 1) * call("sin", z),
        z / (x - y) + call("arcsin", x * y) + z**2 / call("exp", x) + graph.power(z, Fraction(-3, 2)),
    ]
    found = {node: (low, high, what) for node, low, high, what in domain_guards(nodes)}
    divisor = found.pop(x - y, None) or found.pop(y - x)
    assert divisor[2] == "a divisor" and math.isnan(divisor[0]) and math.isnan(divisor[1])
    assert found == {
        x + 2: (0.0, math.inf, "a fractional power"),
        z: (0.0, math.inf, "a fractional power"),
        y + 1: (0.0, math.inf, "log"),
        x * y: (-1.0, 1.0, "arcsin"),
    }
    assert domain_guards([x**2 * y + call("exp", -x), graph.num(Fraction(1, 3))]) == []


def test_a_root_that_is_also_a_divisor_has_the_domain_of_the_root() -> None:
    x = sym("x")
    for nodes in ([graph.sqrt(x), 1 / x], [1 / x, graph.sqrt(x)], [call("log", x) / x]):
        ((_, low, high, _),) = domain_guards(nodes)
        assert (low, high) == (0, math.inf)


@pytest.mark.parametrize(
    ("node", "ends", "said"),
    [
        (call("log", sym("x")), (0.5, 2), ""),
        (call("log", sym("x")), (0, 2), "log"),
        (call("log", sym("x")), (-2, -1), "log"),
        (1 / sym("x"), (0.5, 2), ""),
        (1 / sym("x"), (-2, -0.5), ""),
        (1 / sym("x"), (-1, 1), "a divisor"),
        (graph.sqrt(sym("x") + sym("a")), (-2.5, 0), ""),
        (graph.sqrt(sym("x") + sym("a")), (-3.5, 0), "a fractional power"),
        (call("arcsin", sym("x")), (-0.75, 0.75), ""),
        (call("arcsin", sym("x")), (0.5, 1.5), "arcsin"),
        (call("arcsin", sym("x")), (-1.5, 0), "arcsin"),
        (sym("x") ** 2, (-1, 1), ""),
    ],
)
def test_what_may_leave_its_domain_is_said(node: graph.Node, ends: tuple[float, float], said: str) -> None:
    low, high = ends
    box = [flint.arb((low + high) / 2, (high - low) / 2)]
    found = outside_domain(domain_guards([node]), {"a": flint.arb(3)}, ["x"], box, Fraction(0), Fraction(1))
    assert found == said if not said else found.startswith(f"{said} is not defined on all of the box")


@pytest.mark.parametrize(("time", "inside"), [(Fraction(1, 2), True), (Fraction(1, 4), True), (Fraction(3, 2), False)])
def test_a_domain_in_time_is_looked_at_over_the_step(time: Fraction, inside: bool) -> None:
    """sqrt(t) and log(2 - t) from `time` on, for a time of 1."""
    guards = domain_guards([graph.sqrt(sym("t")), call("log", 2 - sym("t"))])
    assert (outside_domain(guards, {}, [], [], time, Fraction(1)) == "") is inside
    assert outside_domain(guards, {}, [], [], time, Fraction(1, 8)) == ""


def test_an_argument_without_bound_is_outside() -> None:
    guards = domain_guards([call("log", sym("x"))])
    assert outside_domain(guards, {}, ["x"], [flint.arb("nan")], Fraction(0), Fraction(1)).startswith("log")


def test_there_is_room_around_a_point_too() -> None:
    wide = widen(flint.arb(1), flint.arb(0), flint.arb(0))
    assert float(wide.rad()) == pytest.approx(2.0 ** (8 - flint.ctx.prec), rel=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_the_range_of_a_polynomial_is_that_of_its_tangent_on_a_small_piece(seed: int) -> None:
    """Values at random places are inside; the radius is that of f'(m) (t - m), up to the square of the width."""
    rng = random.Random(seed)
    numbers = [rng.randint(-9, 9) for _ in range(5)]
    model = [flint.arb(c) for c in numbers]
    for a in (Fraction(-3, 2), Fraction(0), Fraction(5, 4)):
        h = Fraction(1, 2**9)
        found = polynomial_range(model, a, a + h)
        for k in range(9):
            t = a + h * k / 8
            exact = sum(c * t**n for n, c in enumerate(numbers))
            assert float(found.lower()) - 1e-12 <= exact <= float(found.upper()) + 1e-12
        slope = abs(sum(n * c * (a + h / 2) ** (n - 1) for n, c in enumerate(numbers) if n))
        assert float(found.rad()) <= float(slope * h / 2 + 400 * h**2)


def test_the_range_of_a_parabola_around_its_top_is_found_without_the_linear_part() -> None:
    """x - x^2 on [2/5, 3/5] is in 1/4 +- 1/50, which the product x (1 - x) of balls is not."""
    found = polynomial_range([flint.arb(0), flint.arb(1), flint.arb(-1)], Fraction(2, 5), Fraction(3, 5))
    assert found.contains(flint.arb(1) / 4) and found.contains(flint.arb(6) / 25) and float(found.rad()) < 0.021


def test_without_a_bound_there_is_no_range() -> None:
    assert not polynomial_range([flint.arb("nan"), flint.arb(1)], Fraction(0), Fraction(1)).is_finite()
    assert not polynomial_range([flint.arb("nan")], Fraction(1), Fraction(1)).is_finite()
