"""Balls and series of balls: enclosing values, gates, and floats that are refused."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest

from odesys.errors import IntegrationError, ParameterError
from odesys.exact.balls import (
    MOST_BITS,
    as_ball,
    ball_around,
    ball_context,
    ball_endpoints,
    ball_evaluate,
    ball_number,
    ball_program,
    coefficient,
    dyadic,
    exact,
    exact_tape,
    has_endpoints,
    series_program,
    solution_series,
    state_series,
)
from odesys.expr import graph
from odesys.expr.graph import call, exp, sym

X, Y = sym("x"), sym("y")


def test_ball_programs_agree_with_plain_evaluation() -> None:
    nodes = [exp(X) * Y + 2 * X, (1 + X * X) ** Fraction(1, 2), graph.step(X) * Y, call("sigmoid", X * Y) ** -2]
    program = ball_program(nodes, 64)
    found = program({"x": as_ball(Fraction(3, 4)), "y": as_ball(Fraction(-2))})
    x, y = 0.75, -2.0
    wanted = [math.exp(x) * y + 2 * x, math.sqrt(1 + x * x), y, (1 + math.exp(-x * y)) ** 2]
    for value, number in zip(found, wanted, strict=True):
        low, high = ball_endpoints(value)
        assert float(low) == pytest.approx(number, rel=1e-14) and high - low < Fraction(1, 10**13)
    wide = program({"x": as_ball(Fraction(-1)).union(as_ball(Fraction(1))), "y": as_ball(Fraction(1))})
    low, high = ball_endpoints(wide[2])
    assert -1e-6 < low <= 0 and 1 <= high < 1 + 1e-6, "an undecided gate is all of [0, 1], rounded outward"


def test_gates_of_balls() -> None:
    gate = ball_program([graph.step(X)], 64)
    on, off, edge, both, lost = (
        gate({"x": value})[0]
        for value in (flint.arb(1, 0.5), flint.arb(-1, 0.5), flint.arb(0), flint.arb(0, 0.5), flint.arb("nan"))
    )
    assert on == 1 and off == 0 and edge == 0 and not lost.is_finite()
    assert both.contains(0) and both.contains(1)


def test_a_gate_of_a_series_is_decided_or_refused() -> None:
    gate = series_program((graph.step(X),), 64)
    with ball_context(64, 4):
        assert gate({"x": flint.arb_series([1, 1], prec=3)}) == [1]
        with pytest.raises(IntegrationError, match="undecided"):
            gate({"x": flint.arb_series([flint.arb(0, 1), 1], prec=3)})


def test_a_float_is_a_ball_with_its_error_and_never_exact() -> None:
    (value,) = ball_evaluate([0.5 * X], {"x": flint.arb(1)}, 64)
    assert value.contains(flint.arb("0.5")) and value.rad() > 1e-16
    for refused in (exact_tape, lambda nodes: series_program(tuple(nodes), 64)):
        with pytest.raises(ParameterError, match=r"0\.5 is not exact"):
            refused([0.5 * X])
    assert exact_tape([X / 3]).rows == (("sym", "x"), ("add", ((Fraction(1, 3), 0),)))


def test_a_series_is_lost_where_a_divisor_or_a_root_meets_zero() -> None:
    with ball_context(64, 4):
        around = {"x": flint.arb_series([flint.arb(0, 1), 1], prec=3)}
        for node in (X**-1, X ** Fraction(1, 2), X ** Fraction(1, 3), call("log", X), X**Y):
            (value,) = series_program((node,), 64)({**around, "y": flint.arb(2)})
            assert not any(c.is_finite() for c in value.coeffs()[1:])


@pytest.mark.parametrize("power", [1, 2, 3, 4])
def test_powers_of_a_ball_around_zero(power: int) -> None:
    (ball,) = ball_program([sym("x") ** power], 64)({"x": flint.arb(0, 1)})
    assert ball.is_finite() and ball.contains(1) and ball.contains(0) and float(ball.rad()) < 1.01


def test_a_ball_is_a_constant_series() -> None:
    ball = flint.arb(3, 1)
    assert coefficient(ball, 0) is ball and all(coefficient(ball, k) == 0 for k in (1, 2, 7))
    with ball_context(64, 4):
        series = flint.arb_series([2, 5], prec=3)
        assert [coefficient(series, k) for k in range(3)] == [2, 5, 0]
        with pytest.raises(ArithmeticError, match="has 3 coefficients, number 3 is not known"):
            coefficient(series, 3)


@pytest.mark.parametrize("length", [1, 2, 3, 6])
def test_solutions_have_their_taylor_coefficients(length: int) -> None:
    """x' = t x from x(1) = 3 is 3 exp((t^2 - 1)/2), y' = r y + t from y(1) = 0 is e^(t-1) 2 - t - 1 for r = 1."""
    with ball_context(128, length + 1):
        field = series_program((sym("t") * X, sym("r") * Y + sym("t")), 128)
        x, y = solution_series(
            field, ("x", "y"), {"r": flint.arb(1)}, [flint.arb(3), flint.arb(0)], flint.arb(1), length
        )
        t = flint.arb_series([1, 1], prec=length)
        for found, known in ((x, 3 * ((t * t - 1) / 2).exp()), (y, 2 * (t - 1).exp() - t - 1)):
            assert len(found) == length
            for k in range(length):
                assert found[k].overlaps(coefficient(known, k)) and float(found[k].rad()) < 1e-30
        table = state_series(("x",), [[1, 2, 3, 4, 5, 6, 7]], flint.arb(9), length)
        assert [coefficient(table["x"], k) for k in range(length)] == list(range(1, length + 1))
        assert [coefficient(table["t"], k) for k in range(length)] == [9, 1, 0, 0, 0, 0][:length]


def test_endpoints_without_end_are_refused() -> None:
    """FLINT ends the process where 2 to the power 10^19 becomes a fraction."""
    one, huge, tiny = as_ball(Fraction(3, 4)), as_ball(2) ** 10**19, (as_ball(2) ** 10**19) ** -1
    assert has_endpoints(one) and has_endpoints(as_ball(0)) and has_endpoints(as_ball(2) ** -1000)
    for value in (huge, tiny, flint.arb(0, huge), flint.arb(1, tiny), flint.arb("nan"), flint.arb("inf")):
        assert not has_endpoints(value)
        with pytest.raises(OverflowError, match="written out"):
            ball_endpoints(value)


def test_a_range_from_the_larger_to_the_smaller_number_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"the range \(1, 1/2\) is empty"):
        ball_around(1, Fraction(1, 2))
    assert 1 in ball_around(1, 1)


EXPONENTS = [Fraction(p, q) for q in (1, 2, 3, 5) for p in range(-4, 5) if p and math.gcd(p, q) == 1]


@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
def test_a_power_of_a_ball_or_a_series_is_one(exponent: Fraction) -> None:
    """Law: the q-th power of x^(p/q) is x^p, and it is positive; of a series all coefficients."""
    p, q = exponent.numerator, exponent.denominator
    with ball_context(128, 6):
        curve = flint.arb_series([flint.arb(3) / 2, flint.arb(1) / 3, -flint.arb(1) / 5, 1], prec=6)
        (series,) = series_program((X**exponent,), 128)({"x": curve})
        (ball,) = ball_program([X**exponent], 128)({"x": curve[0]})
        (plain,) = series_program((X**exponent,), 128)({"x": curve[0]})
        assert ball > 0 and series[0].overlaps(ball) and plain.overlaps(ball) and ball.rad() < 1e-30
        left, right = flint.arb_series([1], prec=6), flint.arb_series([1], prec=6)
        for _ in range(q):
            left = left * series
        for _ in range(abs(p)):
            left, right = (left, right * curve) if p > 0 else (left * curve, right)
        for k in range(6):
            assert left[k].overlaps(right[k]) and left[k].rad() < 1e-25, k


@pytest.mark.parametrize("name", [name for name in graph.FUNCTIONS if name != "step"])
def test_the_slope_of_a_series_is_that_of_its_function_times_that_of_its_argument(name: str) -> None:
    """Law: f(z)' = f'(z) z', and f(z) begins with the value of f; outside of its domain it is not a number."""
    low, high = graph.FUNCTIONS[name].domain
    start = Fraction(3, 2) if low == 1 else Fraction(1, 4)
    node = call(name, X)
    slope = graph.gradient(node, [X])[0]
    with ball_context(128, 6):
        curve = flint.arb_series([as_ball(start), flint.arb(1) / 3, -flint.arb(1) / 5], prec=6)
        value, first = series_program((node, slope), 128)({"x": curve})
        (ball,) = ball_evaluate([node], {"x": as_ball(start)}, 128)
        (plain,) = series_program((node,), 128)({"x": as_ball(start)})
        assert value[0].overlaps(ball) and plain.overlaps(ball) and ball.rad() < 1e-30
        left, right = value.derivative(), first * curve.derivative()
        for k in range(5):
            assert left[k].overlaps(right[k]) and left[k].rad() < 1e-25, k
        for end, way in ((low, -1), (high, 1)):
            if math.isfinite(end):
                for outside in (flint.arb(end), flint.arb(end, 0.125), flint.arb(end + way)):
                    (lost,) = series_program((node,), 128)({"x": flint.arb_series([outside, 1], prec=3)})
                    assert not lost[0].is_finite() and not lost[2].is_finite()


def test_a_context_is_left_as_it_was_found() -> None:
    before = flint.ctx.cap, flint.ctx.prec
    with pytest.raises(ZeroDivisionError), ball_context(200, 9):
        assert (flint.ctx.cap, flint.ctx.prec) == (9, 200)
        _ = 1 // 0
    assert (flint.ctx.cap, flint.ctx.prec) == before
    (third,) = ball_program([X / 3], 300)({"x": flint.arb(1)})
    assert third.rad() < 1e-85 and flint.ctx.prec == before[1]


def test_numbers_that_are_exact_and_others() -> None:
    assert (exact(3), exact("2/3"), exact(Fraction(1, 7))) == (3, Fraction(2, 3), Fraction(1, 7))
    for wrong, words in ((0.5, "is not exact"), ("x", "is not an exact number"), (None, "is not an exact number")):
        with pytest.raises(ParameterError, match=words):
            exact(wrong)
    ball = flint.arb(1, 2)
    assert as_ball(ball) is ball and as_ball(3) == 3 and ball_number(Fraction(1, 2)) == flint.arb(0.5)
    for value in (0.1, -300.0, 0.0, 1.0):
        error = 2.0**-50 * max(1.0, abs(value))
        low, high = ball_endpoints(ball_number(value))
        assert low <= Fraction(value) - Fraction(error) and Fraction(value) + Fraction(error) <= high
        assert high - low < Fraction(2.01 * error)
    assert 1 in 7 * as_ball(Fraction(1, 7)) and as_ball(Fraction(-5, 4)) == flint.arb(-1.25)
    with pytest.raises(ParameterError, match="not exact"):
        exact_tape([X + 0.5])
    with pytest.raises(ParameterError, match="not exact"):
        exact_tape([graph.num(0.5) ** Fraction(1, 3) * X, graph.num(0.25)])


@pytest.mark.parametrize(
    "value", [Fraction(1, 3), Fraction(22, 7), Fraction(-1, 999), Fraction(10**9, 7), Fraction(2**-40), Fraction(5)]
)
def test_a_nearby_number_has_few_binary_digits(value: Fraction) -> None:
    near = dyadic(value)
    assert near.denominator & (near.denominator - 1) == 0 and abs(near - value) <= abs(value) / 2**11
    assert value >= 2**12 or near.numerator.bit_length() <= 14
    assert dyadic(near) == near


def test_ends_of_balls_are_exact_up_to_a_length() -> None:
    low, high = ball_endpoints(ball_around(Fraction(-1, 4), Fraction(3, 4)))
    assert low <= Fraction(-1, 4) and Fraction(3, 4) <= high and high - low < Fraction(1) + Fraction(1, 10**6)
    assert ball_endpoints(flint.arb(0.75)) == (Fraction(3, 4),) * 2
    assert ball_endpoints(flint.arb(0.75, 0.25))[0] <= Fraction(1, 2) and ball_endpoints(flint.arb(0)) == (0, 0)
    for sign in (1, -1):
        assert has_endpoints(as_ball(2) ** (sign * (MOST_BITS - 100)))
        assert not has_endpoints(as_ball(2) ** (sign * (MOST_BITS + 100)))
