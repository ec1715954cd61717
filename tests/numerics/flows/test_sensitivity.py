"""Sensitivities against differences of runs, time scales against rates by hand."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.flows.sensitivity import sensitivities, time_scales
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
