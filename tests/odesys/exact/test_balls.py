"""Balls and series of balls: enclosing values, gates, and floats that are refused."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest

from odesys.errors import IntegrationError, ParameterError
from odesys.exact.balls import (
    as_ball,
    ball_around,
    ball_context,
    ball_endpoints,
    ball_evaluate,
    ball_program,
    coefficient,
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
