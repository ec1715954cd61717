"""Networks beside their closed system, and the generic comparison over widths."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.flows.integrate import integrate
from numerics.networks.network_runs import compare, simulate_network
from numerics.sweeps.power_law import fit_power_law
from odesys import AttentionModel, OdesysError, gradient_flow
from tests import toy_models


@pytest.mark.parametrize("toy", [toy_models.cooccurrence(), toy_models.signgd()], ids=lambda toy: toy.name)
def test_network_run_lies_on_the_closed_system(toy: toy_models.Toy) -> None:
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    net = flow.network(9, 0, widths={"E": 4}, scales=toy.scales, parameters=toy.parameters)
    run = simulate_network(net, 3.0, times=[0.0, 1.0, 3.0])
    exact = integrate(flow.system, run.states[0], (0.0, 3.0), toy.parameters, rtol=1e-10)
    assert np.abs(run.states[-1] - run.states[0]).max() > 0.01
    for t, state in zip(run.times, run.states, strict=True):
        assert np.abs(exact.at(t) - state).max() < 1e-7


def test_generic_comparison() -> None:
    flow = gradient_flow(AttentionModel(toy_models.words()), toy_models.signed_samples())
    result = compare(flow, [50, 200, 800], 12, t_end=5.0, omega=0.5, states="KQ")
    law = result.exponent
    assert law is not None and abs(law.value + 0.5) < max(0.1, law.half_width)
    rows = result.rows()
    assert rows[0]["mean"] > rows[-1]["mean"] and rows[0]["low"] <= rows[0]["mean"] <= rows[0]["high"]
    with pytest.raises(OdesysError, match="no state starts with 'nothing'"):
        compare(flow, [10], 1, 1.0, 0.5, states="nothing")


def test_power_law_fit_recovers_a_known_exponent() -> None:
    x = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    rng = np.random.default_rng(0)
    law = fit_power_law(x, 3.0 * x**-0.5 * np.exp(0.01 * rng.normal(size=5)))
    assert law.low < -0.5 < law.high and law.prefactor == pytest.approx(3.0, rel=0.05)
    with pytest.raises(OdesysError, match="two different widths"):
        fit_power_law([5, 5], [1, 1])


def test_a_run_ends_where_its_last_time_is() -> None:
    toy = toy_models.signgd()
    flow = gradient_flow(toy.model, toy.data, train=toy.train, loss=toy.loss)
    net = flow.network(4, 0, widths={"E": 4}, scales=toy.scales, parameters=toy.parameters)
    run = simulate_network(net, 1.0, times=[0.0, 0.25, 0.5, 1.0])
    assert run.times.tolist() == [0.0, 0.25, 0.5, 1.0] and run.end_time == 1.0
    assert np.array_equal(run.end_state, run.states[-1])
