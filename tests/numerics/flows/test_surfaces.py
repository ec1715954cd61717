"""Surfaces along a run: states counted once, modes chosen where surfaces are zero, and how wide zero is."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.flows.integrate import integrate
from numerics.flows.surfaces import STATES_REMEMBERED, Surfaces, WorkMeter
from numerics.flows.trajectory import StopWhen
from odesys.expr.system import System
from odesys.jit.codegen import Compiled
from tests.known_systems import corner

CORNER = corner()


def test_every_state_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[tuple[float, bytes]] = set()
    for name in ("field", "surfaces"):
        original = getattr(Compiled, name)

        def noted(self: Compiled, time: float, state: Any, *rest: Any, original: Any = original) -> Any:
            seen.add((float(time), np.asarray(state, dtype=float).tobytes()))
            return original(self, time, state, *rest)

        monkeypatch.setattr(Compiled, name, noted)
    low = StopWhen("low", "z", level=-1.0, terminal=False)
    run = integrate(CORNER, [0.3, -0.2, 0], (0, 5), events=[low], backend="reference")
    points = 12  # random ones, read to find names for the surfaces
    assert len(run.slides) > 1 and run.cost.state_evaluations == len(seen) - points
    assert run.cost.field_evaluations > run.cost.steps


def surfaces(system: System) -> Surfaces:
    return Surfaces(system.compile(), {}, {"rtol": 1e-9, "atol": 1e-12})


def test_the_start_follows_the_signs() -> None:
    made = surfaces(CORNER)
    mode = made.start_mode(0.0, np.array([0.5, -0.5, 0.0]))
    assert mode.gates.tolist() == [1.0, 0.0] and not mode.sliding.size


def test_off_the_surfaces_nothing_is_chosen_and_on_them_the_flow_slides() -> None:
    made = surfaces(CORNER)
    away = made.choose(1.0, np.array([0.5, -0.5, 0.0]), made.start_mode(1.0, np.array([0.5, -0.5, 0.0])))
    assert not away.zero.any() and away.mode.gates.tolist() == [1.0, 0.0]
    there = made.choose(1.0, np.zeros(3), made.start_mode(1.0, np.zeros(3)), crossed=(0, 1))
    assert there.zero.all() and there.mode.sliding.tolist() == [0, 1]
    signs = 2 * there.mode.gates - 1
    assert signs == pytest.approx([np.sin(1.0) / 2, 0.9 * np.cos(1.0) + np.sin(1.0) / 2], abs=1e-12)


def test_where_switches_pile_up_a_corner_of_two_surfaces_is_reached() -> None:
    """The second surface is further away than rounding, and nearer than the error of a step."""
    made, near = surfaces(CORNER), np.array([0.0, 5e-13, 0.0])
    mode = made.start_mode(1.0, near)
    piled = made.choose(1.0, near, mode, crossed=(0,), piling=True)
    assert piled.mode.sliding.tolist() == [0, 1] and piled.zero.all() and piled.width[1] >= 5e-13
    assert made.choose(1.0, near, mode, crossed=(0,)).mode.sliding.tolist() == [0]
    far = np.array([0.0, 5e-11, 0.0])
    assert made.choose(1.0, far, made.start_mode(1.0, far), crossed=(0,), piling=True).mode.sliding.tolist() == [0]


def test_the_width_of_zero_is_rounding_and_grows_with_the_state() -> None:
    made = surfaces(oscillating())
    near, far = (made.width(1.0, np.array([s, s]), np.zeros(1), 0.1) for s in (1.0, 1e6))
    assert 0 < near[0] < 1e-12 and far[0] > 1e5 * near[0]


def oscillating() -> System:
    x, y = sp.symbols("x y", real=True)
    return System.from_equations({x: y, y: -sp.sign(x - y)})


def test_a_state_met_again_is_not_counted_again() -> None:
    meter = WorkMeter()
    for state in (np.zeros(2), np.ones(2), np.zeros(2)):
        meter.visit(0.0, state)
    meter.visit(0.5, np.zeros(2))
    assert meter.states == 3


def test_work_is_counted_from_nothing_a_call_at_a_time() -> None:
    made, here = surfaces(oscillating()), np.array([0.3, 0.7])
    assert (made.meter.fields, made.meter.states) == (0, 0)
    for calls in (1, 2):
        made.field(0.0, here, np.ones(1))
        assert (made.meter.fields, made.meter.states) == (calls, 1)
    made.values(0.5, here, np.ones(1))
    assert (made.meter.fields, made.meter.states) == (2, 2)


def test_only_the_last_states_are_remembered() -> None:
    meter = WorkMeter()
    for k in range(STATES_REMEMBERED + 1):
        meter.visit(float(k), np.zeros(1))
    meter.visit(float(STATES_REMEMBERED), np.zeros(1))
    meter.visit(1.0, np.zeros(1))
    assert meter.states == STATES_REMEMBERED + 1
    meter.visit(0.0, np.zeros(1))
    assert meter.states == STATES_REMEMBERED + 2
