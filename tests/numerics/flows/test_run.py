"""One integration in progress: why it ends, what it keeps, and a mode in every segment."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.flows.integrate import integrate
from numerics.flows.run import METHODS, Run
from numerics.flows.trajectory import StopWhen
from odesys.errors import IntegrationError
from odesys.expr.system import System
from odesys.terminal import silent
from tests.known_systems import bouncing, oscillator, sliding

LIMITS = {"max_switches": 100, "max_steps": 10_000}


def make(system: System, start: list[float], end: float, events: tuple[StopWhen, ...] = (), **more: object) -> Run:
    options = {"method": "DOP853", "on_slide": "follow", "limits": LIMITS} | more
    tolerances = {"rtol": 1e-10, "atol": 1e-12}
    return Run(
        system.compile(),
        {},
        events,
        (0.0, end),
        np.array(start),
        options["method"],
        tolerances,
        options["limits"],
        options["on_slide"],
    )


def report(fraction: float) -> None:
    silent("", fraction)


@pytest.mark.parametrize("method", METHODS)
def test_a_smooth_run_is_one_segment_to_the_end(method: str) -> None:
    run = make(oscillator(), [1.0, 0.0], math.pi, method=method)
    assert run.run(report) == "end" and run.t == math.pi and run.log.events == []
    assert run.x == pytest.approx([-1.0, 0.0], abs=1e-5)
    assert run.knots[0] == 0.0 and len(run.pieces) == len(run.knots) - 1 == run.steps


def test_a_kink_breaks_a_run_into_segments_whose_ends_are_on_it() -> None:
    run = make(bouncing(), [0.5, 0.0], 4.0)  # quarter periods of sqrt(2 x0) = 1
    assert run.run(report) == "end"
    assert [event.time for event in run.log.events] == pytest.approx([1.0, 3.0], abs=1e-9)
    for event in run.log.events:
        assert run.states[run.knots.index(event.time)][0] == pytest.approx(0.0, abs=1e-9)


def test_an_event_ends_the_run_where_it_happens() -> None:
    run = make(oscillator(), [1.0, 0.0], 10.0, (StopWhen("zero", "x"),))
    assert run.run(report) == "event:zero" and run.t == pytest.approx(math.pi / 2, abs=1e-9)


def test_steps_and_switches_are_limited() -> None:
    with pytest.raises(IntegrationError, match="steps"):
        make(oscillator(), [1.0, 0.0], 1000.0, limits={**LIMITS, "max_steps": 5}).run(report)
    with pytest.raises(IntegrationError, match="switch"):
        make(bouncing(), [0.5, 0.0], 40.0, limits={**LIMITS, "max_switches": 3}).run(report)


def test_a_slide_is_followed_along_its_surface() -> None:
    run = make(sliding(), [1.0, 0.0], 3.0)
    assert run.run(report) == "end" and run.x == pytest.approx([0.0, 3.0], abs=1e-12)
    assert [(e.kind, e.time, e.detail["end"]) for e in run.log.events] == [("slide", pytest.approx(1.0), 3.0)]


@pytest.mark.parametrize("backend", ["reference", "auto"])
def test_progress_is_the_part_of_the_time_that_is_done(backend: str) -> None:
    seen: list[float] = []
    integrate(oscillator(), [1.0, 0.0], (10.0, 14.0), backend=backend, progress=lambda label, done: seen.append(done))
    assert seen == sorted(seen) and 0.0 < seen[0] <= seen[-1] == 1.0


def test_the_side_that_a_start_on_a_surface_leaves_to_is_no_switch() -> None:
    """x = t^2 / 2 starts on the surface with no speed, and its gate is open from then on."""
    system = System.from_strings({"x": "v", "y": "heaviside(x)", "v": "1"})
    run = make(system, [0.0, 0.0, 0.0], 4.0, limits={**LIMITS, "max_switches": 0})
    assert run.run(report) == "end" and run.log.events == [] and run.x == pytest.approx([8.0, 4.0, 4.0], abs=1e-9)
