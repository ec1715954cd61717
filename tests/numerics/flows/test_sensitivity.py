"""Sensitivities against differences of runs, time scales against rates by hand."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.flows.sensitivity import LARGEST, sensitivities, time_scales
from odesys import System, integrate
from odesys.errors import EquationError, ParameterError

OSCILLATOR = System.from_strings({"x": "y", "y": "mu*(1 - x^2)*y - k*x"})
VALUES = {"mu": 1.3, "k": 0.8}


def test_derivatives_are_those_of_runs() -> None:
    start = [0.5, 0.1]
    found = sensitivities(OSCILLATOR, start, 3.0, VALUES, ["k", "mu", "y(0)"], rtol=1e-11)
    for j, name in enumerate(found.to):
        ends = []
        for step in (1e-5, -1e-5):
            values = {**VALUES, name: VALUES[name] + step} if name in VALUES else VALUES
            begin = start if name in VALUES else [start[0], start[1] + step]
            ends.append(integrate(OSCILLATOR, begin, (0.0, 3.0), values, rtol=1e-12).end_state)
        assert found.at_end[:, j] == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-5)
    table = found.relative({**VALUES, "y": 0.1})
    assert table[0, 0] == pytest.approx(found.at_end[0, 0] * 0.8 / found.run.end_state[0])


def test_what_has_no_derivative_is_refused() -> None:
    with pytest.raises(EquationError, match="jump where it does"):
        sensitivities(System.from_strings({"x": "-sign(x)*k"}), [1], 1.0, {"k": 1})
    with pytest.raises(ParameterError, match="neither a parameter nor a start value"):
        sensitivities(OSCILLATOR, [1, 0], 1.0, VALUES, ["z"])


def test_time_scales_of_a_stiff_run() -> None:
    run = integrate(System.from_strings({"x": "-1000*x + y", "y": "-y", "z": "0"}), [1, 1, 1], (0, 2), method="Radau")
    scales = time_scales(run)
    assert scales.shortest == pytest.approx(1e-3) and scales.longest == pytest.approx(1.0)
    assert scales.ratio == pytest.approx(1e3)
    with pytest.raises(EquationError, match="all eigenvalues of the Jacobian are zero"):
        time_scales(integrate(System.from_strings({"x": "1"}), [0], (0, 1)))


def test_many_states_are_refused() -> None:
    names = [f"x{k}" for k in range(30)]
    with pytest.raises(ParameterError, match="more than 600"):
        sensitivities(System.from_strings({n: f"-{n}" for n in names}), np.ones(30), 1.0, to=[f"{n}(0)" for n in names])


def test_sensitivities_of_a_linear_flow_in_closed_form() -> None:
    """x = (x0 + b (e^(a t) - 1)/a) ... of x' = a x + b, by everything it depends on, in the order asked for."""
    linear = System.from_strings({"x": "a*x + b", "y": "x"})
    a, b, x0, y0, t = -0.7, 0.4, 1.5, 0.25, 2.0
    grown = np.exp(a * t)
    found = sensitivities(linear, {"x": x0, "y": y0}, t, {"a": a, "b": b}, ["y(0)", "b", "x(0)", "a"], rtol=1e-11)
    by_b = (grown - 1) / a
    by_a = x0 * t * grown + b * (t * grown / a - (grown - 1) / a**2)
    assert found.names == ("x", "y") and found.to == ("y(0)", "b", "x(0)", "a")
    assert found.at_end[0] == pytest.approx([0, by_b, grown, by_a], abs=1e-8)
    assert found.at_end[1, :3] == pytest.approx([1, (by_b - t) / a, by_b], abs=1e-8)
    assert found.run.end_time == t and found.run.end_state[0] == pytest.approx(x0 * grown + b * by_b)
    given = {"a": a, "b": b, "x": x0, "y": y0}
    exact = found.at_end * np.array([y0, b, x0, a]) / found.run.end_state[:2, None]
    assert found.relative(given) == pytest.approx(exact)
    every = sensitivities(linear, [x0, y0], t, {"a": a, "b": b})
    assert every.to == linear.parameters and every.at_end.shape == (2, 2)


def test_as_many_derivatives_as_are_allowed() -> None:
    names = [f"x{k}" for k in range(25)]
    system = System.from_strings({n: f"-{n}" for n in names})
    allowed = [f"{n}(0)" for n in names[:24]]
    assert len(allowed) * 25 == LARGEST
    found = sensitivities(system, np.ones(25), 0.5, to=allowed)
    assert found.at_end == pytest.approx(np.exp(-0.5) * np.eye(25)[:, :24], abs=1e-8)
    with pytest.raises(ParameterError, match="25 states and 25 names are more than 600 derivatives"):
        sensitivities(system, np.ones(25), 0.5, to=[f"{n}(0)" for n in names])


def test_time_scales_are_those_of_the_fastest_and_slowest_time() -> None:
    """x' = -(1 + t) x moves in 1/(1 + t); rates a trillion times smaller than the fastest are zero."""
    run = integrate(System.from_strings({"x": "-(1 + t)*x"}), [1.0], (0.0, 4.0))
    scales = time_scales(run)
    assert (scales.shortest, scales.longest, scales.at) == (pytest.approx(0.2), pytest.approx(1.0), 4.0)
    assert scales.ratio == pytest.approx(5.0)
    two = time_scales(run, points=2)
    assert (two.shortest, two.longest) == (pytest.approx(0.2), pytest.approx(1.0))
    swing = integrate(System.from_strings({"x": "3*y", "y": "-3*x"}), [1.0, 0.0], (0.0, 1.0))
    assert time_scales(swing).shortest == pytest.approx(1 / 3)
    slow = integrate(System.from_strings({"x": "-1000*x", "y": "-y*1e-10"}), [1.0, 1.0], (0.0, 0.01))
    assert time_scales(slow).longest == pytest.approx(1e-3)
    faint = integrate(System.from_strings({"x": "-x*1e-11", "y": "-y*1e-13"}), [1.0, 1.0], (0.0, 1.0))
    assert time_scales(faint).longest == time_scales(faint).shortest == pytest.approx(1e11)


def test_times_at_the_edge_of_where_the_field_has_a_value_are_left_out() -> None:
    """y = 1 at the start, where the slope of asin is infinite."""
    edge = System.from_strings({"x": "-x", "y": "(x - y)*asin(y)"})
    run = integrate(edge, [1.0, 1.0], (0.0, 2.0))
    assert not np.isfinite(edge.compile().jacobian(0.0, run.at(0.0))).all()
    assert 1 < time_scales(run).ratio < 100
