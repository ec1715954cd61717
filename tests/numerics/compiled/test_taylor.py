"""Steps by Taylor series: ends, states between, events and switches against other methods."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.compiled import taylor
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.flows.trajectory import StopWhen
from odesys import System, integrate
from odesys.errors import IntegrationError
from odesys.jit import llvm

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite is not installed")
KEPLER = System.from_strings({"x": "u", "y": "v", "u": "-x/(x**2 + y**2)**(3/2)", "v": "-y/(x**2 + y**2)**(3/2)"})
OVAL = [1.0, 0.0, 0.0, 1.2]


def test_a_planet_comes_back() -> None:
    """After one period, known in closed form, to 13 digits; a third of the steps of DOP853."""
    half_axis = 1 / (2 - 1.2**2)
    period = 2 * math.pi * half_axis**1.5
    run = integrate(KEPLER, OVAL, (0.0, period), method="Taylor", rtol=1e-14 * 3, atol=1e-16)
    assert run.end_state == pytest.approx(OVAL, abs=5e-13)
    other = integrate(KEPLER, OVAL, (0.0, period), method="DOP853", rtol=1e-14 * 3, atol=1e-16)
    assert run.cost.steps < 0.4 * other.cost.steps


@pytest.mark.parametrize("rtol", [1e-5, 1e-9, 1e-12])
def test_the_error_is_of_the_size_asked_for_also_between_steps(rtol: float) -> None:
    swing = System.from_strings({"x": "y", "y": "-x"})
    run = integrate(swing, [1.0, 0.0], (0.0, 20.0), method="Taylor", rtol=rtol, atol=rtol)
    times = np.linspace(0, 20, 1001)
    assert np.abs(run.solution(times)[0] - np.cos(times)).max() < 40 * rtol
    assert np.abs(run.solution(times)[0] - np.cos(times)).max() > 1e-6 * rtol  # it was not a tighter tolerance


def test_the_order_follows_the_tolerance_and_the_size() -> None:
    assert [taylor.order_for(rtol, 10**6) for rtol in (1e-3, 1e-9, 1e-14)] == [8, 12, 18]
    assert [taylor.order_for(rtol, 10) for rtol in (1e-3, 1e-9, 1e-14)] == [12, 16, 22]
    between = [taylor.order_for(1e-9, nodes) for nodes in range(1, 200)]
    assert between == sorted(between, reverse=True) and {*between} == {12, 13, 14, 15, 16}
    assert all(order == 12 or nodes * order**2 <= taylor.SHORT for nodes, order in enumerate(between, start=1))


def test_events_and_switches() -> None:
    bounce = System.from_strings({"x": "v", "v": "-1 - 20*Heaviside(-x)*x"})
    events = [StopWhen("top", "v", direction=-1, terminal=False)]
    options = {"rtol": 1e-11, "events": events}
    ours = integrate(bounce, [1.0, 0.0], (0.0, 12.0), method="Taylor", **options)
    theirs = integrate(bounce, [1.0, 0.0], (0.0, 12.0), method="DOP853", backend="reference", **options)
    assert [e.name for e in ours.events] == [e.name for e in theirs.events] and len(ours.events) > 5
    assert [e.time for e in ours.events] == pytest.approx([e.time for e in theirs.events], abs=1e-8)
    np.testing.assert_allclose(ours.end_state, theirs.end_state, atol=1e-8)


def test_fast_events_are_not_jumped_over() -> None:
    """A long step, of which x = t is known exactly, hides many zeros of sin(50 x)."""
    line = System.from_strings({"x": "1"})
    run = integrate(line, [0.01], (0.0, 3.0), method="Taylor", events=[StopWhen("zero", "sin(50*x)", terminal=False)])
    assert len(run.events) == math.floor(50 * 3.01 / math.pi)


def test_a_blow_up_is_an_error() -> None:
    with pytest.raises(IntegrationError):
        integrate(System.from_strings({"x": "x**2"}), [1.0], (0.0, 2.0), method="Taylor")


def test_a_batch_is_made_of_single_runs() -> None:
    flow, starts = CompiledFlow(KEPLER), [OVAL, [1.0, 0.0, 0.0, 0.9]]
    ends = flow.batch(starts, (0.0, 10.0), [{}, {}], method="Taylor", rtol=1e-11)
    for start, end in zip(starts, ends, strict=True):
        single = integrate(KEPLER, start, (0.0, 10.0), method="Taylor", rtol=1e-11).end_state
        np.testing.assert_allclose(end, single, rtol=0, atol=100 * 1e-11)  # in lanes, which round otherwise


@pytest.mark.parametrize("power", [3, 4, 5, 7])
@pytest.mark.parametrize("rtol", [1e-6, 1e-8, 1e-9, 1e-10])
def test_a_series_with_gaps_is_not_taken_for_its_end(power: int, rtol: float) -> None:
    """That of exp(-t^k) at 0 has every k-th term, so the last two of an order may vanish; one step led to the end."""
    gaps = System.from_strings({"x": f"-{power}*t**{power - 1}*x"})
    for start, end in ((0.0, 1.5), (-1.0, 1.2)):
        exact = math.exp(start**power - end**power)
        run = integrate(gaps, [1.0], (start, end), method="Taylor", rtol=rtol, atol=rtol)
        assert run.final["x"] == pytest.approx(exact, abs=100 * rtol)


def test_a_series_whose_terms_all_vanish_at_the_start_is_followed() -> None:
    late = System.from_strings({"x": "1 + 0*x", "y": "9*x**8", "z": "x*y**2"})
    run = integrate(late, [0.0, 0.0, 0.0], (0.0, 2.0), method="Taylor")
    assert run.final["z"] == pytest.approx(2**20 / 20, rel=1e-8)
    gate = System.from_strings({"x": "1 + 0*x", "y": "Heaviside(x - 1)*y*(-5*(x - 1)**4)"})
    run = integrate(gate, [0.0, 1.0], (0.0, 2.5), method="Taylor", rtol=1e-6, atol=1e-6)
    assert run.final["y"] == pytest.approx(math.exp(-(1.5**5)), abs=1e-4)
