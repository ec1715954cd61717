"""Conserved numbers of a family: constant along its flow, and not along a broken one."""

from __future__ import annotations

import numpy as np

from derivations.two_mixture import dynamics
from numerics.flows.integrate import integrate
from odesys.analysis.family_invariants import family_drift


def test_nothing_drifts_along_a_run_and_a_wrong_state_does() -> None:
    flow = dynamics.family()
    values = {"b": 0.5, "K": 3}
    run = integrate(flow.system, flow.initial_state(0.3), (0.0, 40.0), values, t_eval=np.linspace(0.0, 40.0, 9))
    assert np.abs(run.states[-1] - run.states[0]).max() > 1e-3  # it does move
    assert family_drift(flow, run.states, 3) < 1e-6
    broken = run.states.copy()
    broken[-1, flow.system.names.index("M_cv_same")] += 0.01
    assert family_drift(flow, broken, 3) > 1e-5


def test_the_number_of_groups_matters() -> None:
    """Read with another K the same states do not conserve anything."""
    flow = dynamics.family()
    run = integrate(flow.system, flow.initial_state(0.3), (0.0, 40.0), {"b": 0.5, "K": 3}, t_eval=[0.0, 40.0])
    assert family_drift(flow, run.states, 30) > 10 * family_drift(flow, run.states, 3)
