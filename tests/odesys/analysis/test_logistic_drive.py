"""Closed forms of logistic drives against integration."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp
from mpmath import mp
from scipy.integrate import solve_ivp

from odesys.analysis.logistic_drive import find_logistic_drive
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import ZERO, sym
from odesys.expr.sympy_bridge import to_sympy

X, Y, C = sym("x"), sym("y"), sym("c")


def drive():
    factor = graph.call("sigmoid", -(2 * X - Y + C))
    return find_logistic_drive({"x": 3 * factor, "y": factor, "z": ZERO})


def test_states_agree_with_integration() -> None:
    found = drive()
    assert found.speed == 5 and dict(found.rates) == {"x": 3, "y": 1}
    start = {"x": 0.2, "y": -0.4, "c": 0.7}
    run = solve_ivp(
        lambda t, s: np.array([3.0, 1.0]) / (1 + np.exp(2 * s[0] - s[1] + 0.7)),
        (0, 9),
        [0.2, -0.4],
        rtol=1e-11,
        atol=1e-13,
    )
    final = found.states_at(start, 9.0)
    assert [final["x"], final["y"]] == pytest.approx(run.y[:, -1], abs=1e-9)


@pytest.mark.parametrize(
    ("first", "time"), [(0.0, 1e12), (0.0, 1e300), (45.0, 1e22), (55.0, 1e25), (800.0, 10.0), (-800.0, 5.0)]
)
def test_no_digit_is_lost_in_long_runs_and_from_far_away(first: float, time: float) -> None:
    """F + e^F = F_0 + e^(F_0) + t, in numbers with 400 digits; the difference of t and e^F lost all digits of F."""
    found = find_logistic_drive({"x": graph.call("sigmoid", -X)})
    last = found.states_at({"x": first}, time)["x"]
    with mp.workdps(400):
        left = mp.mpf(last) + mp.exp(last) - mp.mpf(first) - mp.exp(first) - mp.mpf(time)
        off = left / (1 + mp.exp(last))  # a step of Newton's method
        assert abs(off) < 1e-15 * max(1, abs(last))


def test_crossing_time_is_when_the_surface_vanishes() -> None:
    found = drive()
    start = {"x": sp.Integer(0), "y": sp.Integer(0), "c": sp.Integer(0)}
    surface = 1 - X
    form = found.form_when_zero(surface, start)
    time = float(found.time_at_form(start, form))
    assert found.states_at({"x": 0.0, "y": 0.0, "c": 0.0}, time)["x"] == pytest.approx(1.0, abs=1e-12)
    with pytest.raises(EquationError, match="does not change along this motion"):
        found.form_when_zero(X - 3 * Y, start)


def test_other_equations_are_refused() -> None:
    with pytest.raises(EquationError, match="not a multiple of one logistic factor"):
        find_logistic_drive({"x": X * Y})
    with pytest.raises(EquationError, match="nothing moves"):
        find_logistic_drive({"x": ZERO})


def test_forms_and_states_are_those_at_the_same_time() -> None:
    """F as a function of the states, the time it takes, and the states after that time, from several starts."""
    found = drive()
    assert found.form is 2 * X - Y + C
    for x, y, c in ((0, 0, 0), (sp.Rational(1, 2), -1, 2), (-3, 1, sp.Rational(-5, 3))):
        start = {"x": sp.sympify(x), "y": sp.sympify(y), "c": sp.sympify(c)}
        first = 2 * start["x"] - start["y"] + start["c"]
        assert found.form_at(start) == first
        for step in (0, sp.Rational(1, 3), 2):
            places = found.states_at_form(start, first + step)
            assert places == {"x": start["x"] + sp.Rational(3, 5) * step, "y": start["y"] + step / sp.Integer(5)}
            assert found.form_at({**start, **places}) == first + step
            time = float(found.time_at_form(start, first + step))
            assert time == pytest.approx(float(step + sp.exp(first + step) - sp.exp(first)) / 5)
            after = found.states_at({k: float(v) for k, v in start.items()}, time)
            assert [after[k] for k in "xy"] == pytest.approx([float(places[k]) for k in "xy"], abs=1e-12)


def test_surfaces_change_by_their_slope_along_the_motion() -> None:
    found = drive()
    assert found.slope(X) == 3 and found.slope(2 * X - 5 * Y + 7) == 1 and found.slope(C + 3) == 0
    start = {"x": sp.Integer(1), "y": sp.Integer(2), "c": sp.Integer(-1)}
    for surface, slope in ((X - 4, 3), (Y - X / 2 + 3, sp.Rational(-1, 2)), (X + Y - 9, 4)):
        form = found.form_when_zero(surface, start)
        place = {**start, **found.states_at_form(start, form)}
        value = to_sympy(surface).subs({sp.Symbol(k, real=True): v for k, v in place.items()})
        assert value == 0 and found.slope(surface) == slope


def test_what_is_no_single_linear_logistic_factor_is_refused() -> None:
    one, other = graph.call("sigmoid", X), graph.call("sigmoid", Y)
    with pytest.raises(EquationError, match=r"the equation of y is .*, not a multiple of one logistic factor"):
        find_logistic_drive({"x": one, "y": other})
    with pytest.raises(EquationError, match="the equation of x is"):
        find_logistic_drive({"x": one + 1})
    for argument in (X * Y, graph.exp(X), X**2 + Y):
        with pytest.raises(EquationError, match="which is not linear"):
            find_logistic_drive({"x": graph.call("sigmoid", argument)})
    shifted = find_logistic_drive({"x": -2 * graph.call("sigmoid", 1 - X), "y": ZERO})
    assert shifted.rates == {"x": -2} and shifted.form is X - 1 and shifted.speed == -2
