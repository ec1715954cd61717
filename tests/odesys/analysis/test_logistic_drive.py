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
