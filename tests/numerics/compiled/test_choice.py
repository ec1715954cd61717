"""Long runs at tight tolerances go on by Taylor series, and say so; others stay as they are, bit by bit."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.compiled import choice
from numerics.compiled.choice import (
    COMPILE,
    LEAST_STEPS,
    STEP,
    can_be_series,
    nodes_of,
    series_pay,
    steps_left,
    work_of,
)
from numerics.compiled.taylor import order_for
from numerics.flows.trajectory import StopWhen
from odesys import System, integrate
from odesys.expr import graph
from odesys.jit import llvm

WAVE = System.from_strings({"x": "y", "y": "-x"})
LONG = 60_000.0
pytestmark = pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")


def test_a_long_run_goes_on_by_series_and_says_so() -> None:
    run = integrate(WAVE, [1.0, 0.0], (0.0, LONG), rtol=1e-12)
    assert run.series_from is not None and 0 < run.series_from < 0.05 * LONG
    assert "Taylor series from" in repr(run) and "Taylor series from" in run._repr_html_()
    plain = integrate(WAVE, [1.0, 0.0], (0.0, LONG), rtol=1e-12, method="DOP853", max_steps=10**6)
    assert plain.series_from is None and run.cost.steps < 0.8 * plain.cost.steps
    t = np.linspace(0.0, LONG, 1001)
    assert np.abs(run.solution(t)[0] - np.cos(t)).max() < 1e-7  # before and after, and between steps


def test_a_run_that_could_not_end_otherwise_ends() -> None:
    run = integrate(WAVE, [1.0, 0.0], (0.0, LONG), rtol=1e-13)
    assert run.series_from is not None and abs(run.end_state[0] - math.cos(LONG)) < 1e-7


@pytest.mark.parametrize(
    ("system", "end", "rtol"),
    [
        (WAVE, 3000.0, 1e-12),  # short
        (WAVE, LONG, 1e-9),  # not tight
        (System.from_strings({"x": "y", "y": "-x*(1 + heaviside(x - 2))"}), 3000.0, 1e-12),  # with a surface
    ],
)
def test_other_runs_stay_as_they_are(system: System, end: float, rtol: float) -> None:
    run = integrate(system, [1.0, 0.0], (0.0, end), rtol=rtol, max_steps=10**6)
    other = integrate(system, [1.0, 0.0], (0.0, end), rtol=rtol, method="DOP853", max_steps=10**6)
    assert run.series_from is None and np.array_equal(run.states, other.states)


def test_events_are_found_before_and_after() -> None:
    run = integrate(
        WAVE, [1.0, 0.0], (0.0, LONG), rtol=1e-12, events=[StopWhen("up", "x", direction=1, terminal=False)]
    )
    assert run.series_from is not None
    times = np.array([event.time for event in run.events])
    assert len(times) == math.floor((LONG - 1.5 * math.pi) / (2 * math.pi)) + 1
    np.testing.assert_allclose(times, 1.5 * math.pi + 2 * math.pi * np.arange(len(times)), atol=1e-6)


def test_the_rule_counts_what_it_takes_to_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    assert series_pay(WAVE, 1e-12, 1e6, 1e7) and not series_pay(WAVE, 1e-12, LEAST_STEPS - 1, 1e7)
    assert not series_pay(WAVE, 1e-9, 1e9, 1e7)
    many = System.from_strings({f"x{k}": f"sin(x{(k + 1) % 40})*x{k}" for k in range(40)})
    assert not can_be_series(many, 1e-12)
    monkeypatch.setattr(choice, "COMPILE", 1.0)
    assert not series_pay(WAVE, 1e-12, 1e6, 1e7) and series_pay(WAVE, 1e-12, 1e6, 1e5)


def test_steps_that_grow_say_nothing_of_the_rest() -> None:
    assert steps_left(512, 0.0, 1.0, 2.0, 102.0) == 51_200
    assert steps_left(512, 0.0, 1.0, 3.0, 102.0) == 0.0 == steps_left(512, 0.0, 1.0, 2.0, math.inf)


def test_the_more_is_computed_in_a_step_the_more_is_saved_with_it() -> None:
    system = System.from_strings({f"x{k}": f"sin(x{(k + 1) % 8})*x{k}" for k in range(8)})
    even = COMPILE * work_of(system, 1e-12) / STEP  # where steps without any operations would just pay
    assert even > LEAST_STEPS and series_pay(system, 1e-12, even, math.inf)


def test_work_is_that_of_convolutions_of_every_node() -> None:
    """Each order of a product is a sum of as many products."""
    for system, rtol in ((WAVE, 1e-12), (WAVE, 1e-3), (System.from_strings({"x": "sin(x)*x - k"}, ["k"]), 1e-9)):
        nodes = nodes_of(system)
        assert nodes == len(graph.topological(list(system.nodes)))
        assert work_of(system, rtol) == sum(order_for(rtol, nodes) ** 2 / 2 for _ in range(nodes))


def test_a_series_is_for_small_smooth_systems_at_tight_tolerances(monkeypatch: pytest.MonkeyPatch) -> None:
    kinked = System.from_strings({"x": "y", "y": "-x*(1 + heaviside(x - 2))"})
    assert can_be_series(WAVE, choice.MOST_RTOL) and not can_be_series(WAVE, math.nextafter(choice.MOST_RTOL, 1))
    assert not can_be_series(kinked, 1e-13)
    for most, fits in ((work_of(WAVE, 1e-12), True), (work_of(WAVE, 1e-12) - 0.5, False)):
        monkeypatch.setattr(choice, "MOST_WORK", most)
        assert can_be_series(WAVE, 1e-12) is fits


def test_a_series_pays_from_so_many_steps_on_or_where_there_is_no_other_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """It saves so much a step, and so much for each node in one."""
    assert series_pay(WAVE, 1e-12, LEAST_STEPS, 1e9)
    monkeypatch.setattr(choice, "LEAST_STEPS", 0)
    pays = COMPILE * work_of(WAVE, 1e-12) / (STEP + choice.OPERATION * nodes_of(WAVE))
    for left, allowed, found in ((1.001 * pays, 1e9, True), (0.999 * pays, 1e9, False), (0.9 * pays, 0.9 * pays, False),
                                 (0.9 * pays, 0.8 * pays, True)):  # fmt: skip
        assert series_pay(WAVE, 1e-12, left, allowed) is found


@pytest.mark.parametrize(
    ("first", "before", "now", "end", "steps"),
    [
        (0.0, 1.0, 2.0, 12.0, 5120),
        (0.0, 1.0, 2.25, 12.0, 512 * 9.75 / 1.25),  # just as much longer as is steady
        (0.0, 1.0, 2.2501, 12.0, 0),
        (0.0, 4.0, 5.0, 12.0, 512 * 7),  # they may get shorter
        (0.0, 1.0, 1.0, 12.0, 0),  # or stand still
        (3.0, 4.0, 5.0, 5.0, 0),
        (0.0, 1.0, 2.0, math.inf, 0),
        (0.0, 1.0, 2.0, math.nan, 0),
    ],
)
def test_steps_left_are_as_many_as_in_the_last_part(
    first: float, before: float, now: float, end: float, steps: float
) -> None:
    assert steps_left(512, first, before, now, end) == pytest.approx(steps)
