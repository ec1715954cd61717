"""Surfaces along a run: states counted once, modes chosen where surfaces are zero, and how wide zero is."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.flows.integrate import integrate
from numerics.flows.surfaces import STATES_REMEMBERED, Surfaces, WorkMeter, rounding_signs
from numerics.flows.trajectory import StopWhen
from odesys.errors import IntegrationError
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


def test_a_surface_without_a_value_at_the_start_is_named() -> None:
    x, y = sp.symbols("x y", real=True)
    made = surfaces(System.from_equations({x: sp.Heaviside(y), y: sp.Heaviside(sp.log(x))}))
    with pytest.raises(IntegrationError, match=r"the surface log\(x\) has no value at the start, t = 2$") as caught:
        made.start_mode(2.0, np.array([-1.0, 1.0]))
    assert caught.value.objects["time"] == 2.0 and caught.value.objects["state"].tolist() == [-1.0, 1.0]
    assert sorted(made.start_mode(2.0, np.array([0.5, 1.0])).gates.tolist()) == [0.0, 1.0]
    assert made.start_mode(2.0, np.array([1.0, 0.0])).gates.tolist() == [0.0, 0.0]  # at zero a gate is shut


def test_what_rounding_moves_is_four_times_the_largest_change() -> None:
    """The state by the last digits of each entry and by the room given, and by the field for those of time."""
    made = surfaces(oscillating())
    eps = np.finfo(float).eps
    signs = rounding_signs(2)
    assert signs.shape == (3, 2) and set(signs.ravel()) == {-1.0, 1.0} and not signs.flags.writeable
    slope = np.array([3.0, -7.0])
    for t, step, room in ((2.0, 0.1, 0.0), (0.5, 40.0, 0.0), (-6.0, 0.1, 1e-9), (0.0, 0.0, np.array([1e-9, 5e-9]))):
        x = np.array([0.3, 1.7])
        late = 8 * eps * max(abs(t), step)
        drift = late * np.array([1.7, 1.0])
        moved = 4 * eps * x + room
        found = made.moved_by_rounding(lambda s, y: np.array([slope @ y + 11 * s]), t, x, np.zeros(1), step, room)
        exact = 4 * max(abs(slope @ (drift + moved * s) + 11 * late) for s in signs)
        assert found == pytest.approx([exact], rel=1e-6, abs=2e-14)
    still = surfaces(System.from_equations({sp.Symbol("x"): sp.Integer(1)}))
    assert still.width(0.0, np.ones(1), np.zeros(0), 1.0).shape == (0,)
    count = still.meter.states
    still.values(3.0, np.ones(1), np.zeros(0))
    assert still.meter.states == count  # nothing is computed


def test_the_tolerance_of_a_step_may_be_one_per_state() -> None:
    made = Surfaces(CORNER.compile(), {}, {"rtol": 1e-3, "atol": np.array([1.0, 2.0, 3.0])})
    assert made.tolerance(np.array([1000.0, -2000.0, 0.0])).tolist() == [2.0, 4.0, 3.0]


def test_modes_that_were_refused_are_not_chosen_again() -> None:
    """Both sides of x = 0 point away, so either gate will do, and so does staying."""
    x = sp.Symbol("x", real=True)
    made = surfaces(System.from_equations({x: sp.sign(x)}))
    at = np.zeros(1)
    mode = made.start_mode(0.0, at)
    seen: list[tuple[int, ...]] = []
    for _ in range(3):
        seen.append(made.choose(0.0, at, mode, refused=seen).mode.key)
    assert seen == [(0,), (1,), (2,)]
    with pytest.raises(IntegrationError, match=r"at t = 0 no choice of gates lets the flow go on from x = 0") as caught:
        made.choose(0.0, at, mode, refused=seen)
    assert caught.value.objects["surfaces"] == [0] and caught.value.objects["state"].tolist() == [0.0]


def test_a_flow_slides_along_one_more_surface_where_it_can() -> None:
    made = surfaces(CORNER)
    at = np.zeros(3)
    mode = made.start_mode(1.0, at)
    both = made.slide_along(1.0, at, mode, 0, np.array([0, 1]))
    assert both is not None and both.sliding.tolist() == [0, 1]
    one = made.slide_along(1.0, np.array([0.0, -0.5, 0.0]), mode, 0, np.array([0]))
    assert one is not None and one.sliding.tolist() == [0] and one.gates[1] == mode.gates[1]
    more = made.slide_along(1.0, at, one, 1, np.array([], dtype=int))
    assert more is not None and more.sliding.tolist() == [0, 1]
    x = sp.Symbol("x", real=True)
    through = surfaces(System.from_equations({x: 3 + sp.sign(x)}))
    assert through.slide_along(0.0, np.zeros(1), through.start_mode(0.0, np.zeros(1)), 0, np.array([0])) is None


def test_what_was_crossed_is_at_zero_however_far_rounding_left_it() -> None:
    made = surfaces(CORNER)
    near = np.array([1e-7, -0.5, 0.0])
    chosen = made.choose(1.0, near, made.start_mode(1.0, near), crossed=(0,))
    assert chosen.zero.tolist() == [True, False] and chosen.width[0] >= 1e-7 > 1e3 * chosen.width[1]
    assert chosen.mode.sliding.tolist() == [0]
    again = made.choose(1.0, near, chosen.mode)  # it slides, and is there as well
    assert again.zero.tolist() == [True, False] and again.mode.sliding.tolist() == [0]
    other = made.choose(1.0, near, made.start_mode(1.0, near))
    assert not other.zero.any() and other.mode.gates.tolist() == [1.0, 0.0]


def test_a_copy_of_a_surface_within_the_tolerance_slides_along() -> None:
    """x = 0 and exp(x) = 1 are one surface; a third one that is as near, but moves by itself, does not."""
    x, y = sp.symbols("x y", real=True)
    gate = sp.Heaviside
    twice = System.from_equations({x: 1 - 2 * gate(x) - gate(sp.exp(x) - 1) / 10, y: 1 + gate(y)})
    made = surfaces(twice)
    at = np.array([1e-13, 1e-13])
    start = made.start_mode(0.0, at)
    first = next(i for i, name in enumerate(made.names) if name == "x")
    chosen = made.choose(0.0, at, start, crossed=(first,))
    names = [made.names[i] for i in chosen.mode.sliding]
    assert len(names) == 2 and "y" not in names and chosen.mode.loose == ""
    assert chosen.mode.gates[made.names.index("y")] == 1.0


def test_states_beyond_the_last_ones_are_forgotten_in_their_order() -> None:
    meter = WorkMeter()
    for k in range(STATES_REMEMBERED):
        meter.visit(float(k), np.zeros(1))
    meter.visit(0.0, np.zeros(1))
    assert meter.states == STATES_REMEMBERED and meter.fields == 0
    meter.visit(-1.0, np.zeros(1))
    meter.visit(1.0, np.zeros(1))
    assert meter.states == STATES_REMEMBERED + 1
    meter.visit(0.0, np.zeros(1))
    assert meter.states == STATES_REMEMBERED + 2


def test_what_the_tolerance_of_a_step_can_move_to_zero_is_near() -> None:
    made = Surfaces(CORNER.compile(), {}, {"rtol": 1e-3, "atol": np.array([1e-2, 3e-2, 1.0])})
    for x, y in ((0.5, 0.5), (0.99e-2, 0.5), (1.02e-2, 2.9e-2), (-0.5, -2.99e-2), (-0.99e-2, 3.02e-2), (0.0, 0.0)):
        at = np.array([x, y, 7.0])
        mode = made.start_mode(0.0, at)
        near = made._within_tolerance(0.0, at, mode, made.values(0.0, at, mode.gates))
        assert near.tolist() == [abs(x) <= 1e-2 + 1e-3 * abs(x), abs(y) <= 3e-2 + 1e-3 * abs(y)]


def test_where_no_gate_will_do_a_corner_within_the_tolerance_is_tried() -> None:
    """The surface that was crossed has no mode left; with the other one, which is not at zero quite, there is one."""
    made, near, far = surfaces(CORNER), np.array([0.0, 5e-13, 0.0]), np.array([0.0, 5e-11, 0.0])
    mode = made.start_mode(1.0, near)
    refused = {(gate, other) for gate in (0, 1, 2) for other in (0, 1)}
    found = made.choose(1.0, near, mode, crossed=(0,), refused=refused)
    assert found.mode.key == (2, 2) and found.zero.all() and found.width[1] >= 5e-13
    with pytest.raises(IntegrationError, match="no choice of gates lets the flow go on"):
        made.choose(1.0, far, made.start_mode(1.0, far), crossed=(0,), refused=refused)
    piled = made.choose(1.0, near, mode, crossed=(0,), refused={(2, 2)}, piling=True)
    assert piled.mode.key != (2, 2) and not piled.zero[1]  # a corner that was refused is not reached again
    single = surfaces(oscillating())
    at = np.zeros(2)
    assert single._corner(0.0, at, single.start_mode(0.0, at), np.zeros(1), np.ones(1, dtype=bool)) is None


def test_a_corner_through_which_the_flow_goes_is_none() -> None:
    x, y = sp.symbols("x y", real=True)
    made = surfaces(System.from_equations({x: 3 - sp.sign(x), y: -sp.sign(y)}))
    at = np.zeros(2)
    mode = made.start_mode(0.0, at)
    assert made._corner(0.0, at, mode, np.zeros(2), np.ones(2, dtype=bool)) is None
    piled = made.choose(0.0, at, mode, crossed=(0, 1), piling=True)
    assert sorted(piled.mode.key) == [1, 2] and piled.zero.all()
