"""Parts of runs, buffer by buffer."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.compiled import stretch
from numerics.compiled.compiled_flow import CompiledFlow
from numerics.compiled.stretch import new_log
from odesys import BrokenRunWarning, IntegrationError, StopWhen, System, integrate

OSCILLATOR = System.from_strings("x' = y; y' = -x")


@pytest.mark.parametrize("method", ["DOP853", "Taylor", "Rodas5P"])
def test_a_run_is_the_same_however_often_its_steps_are_fetched(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    flow = CompiledFlow(OSCILLATOR, [StopWhen("up", "x", 1, False)])
    whole = flow.run([1.0, 0.0], (0.0, 20.0), method=method)
    monkeypatch.setattr(stretch, "BUFFER_STEPS", 2)
    parts = flow.run([1.0, 0.0], (0.0, 20.0), method=method)
    assert np.array_equal(parts.times, whole.times) and np.array_equal(parts.states, whole.states)
    assert [(e.name, e.time) for e in parts.events] == [(e.name, e.time) for e in whole.events]
    assert len(whole.events) == 3 and np.array_equal(parts.at(7.3), whole.at(7.3))


def test_buffers_have_room_for_what_one_step_may_bring() -> None:
    log = new_log(3, 2, 5, 7)
    assert log.knots.size == 15 and log.states.size == 15 and log.tables.size == 105
    assert log.happenings.size == 3 * log.places > 3 * stretch.BUFFER_STEPS


def test_only_an_event_that_ends_the_run_is_its_event(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of events listed before and after it; a run to its end has none."""
    ends: list[tuple[str, int]] = []
    original = stretch.Stretch.steps

    def noted(self: stretch.Stretch) -> object:
        ends.append((type(self).__name__, self.event))
        return original(self)

    monkeypatch.setattr(stretch.Stretch, "steps", noted)
    events = [StopWhen("passed", "x", 1, False), StopWhen("down", "y", -1)]
    for level, event in ((0.0, 1), (-5.0, -1)):
        flow = CompiledFlow(OSCILLATOR, [events[0], StopWhen("down", "y", -1, level=level)])
        run = flow.run([0.0, 1.0], (0.0, 20.0))
        assert (run.stop == "event:down") is (event == 1) and ends[-1][1] == event


def test_series_follow_three_full_buffers_in_a_row_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rule is asked once, then the run goes on by series."""
    asked: list[float] = []

    def pays(system: System, rtol: float, left: float, allowed: float) -> bool:
        asked.append(left)
        return True

    monkeypatch.setattr(stretch, "BUFFER_STEPS", 8)
    monkeypatch.setattr(stretch, "series_pay", pays)
    wave = integrate(OSCILLATOR, [1.0, 0.0], (0.0, 100.0), rtol=1e-12)
    assert wave.series_from is not None and len(asked) == 1
    assert np.abs(wave.end_state - [np.cos(100.0), -np.sin(100.0)]).max() < 1e-9


@pytest.mark.parametrize("method", ["auto", "DOP853"])
def test_a_state_that_overflows_is_no_end(method: str) -> None:
    """The error of a step to infinity is zero in units of that state; ends were infinite, or a ValueError."""
    pole = System.from_strings("x' = 1/t**2")
    with pytest.raises(IntegrationError):
        integrate(pole, [0.0], (-1.0, 1.0), method=method)
    flow = CompiledFlow(pole)
    with pytest.raises(IntegrationError):
        flow.final([0.0], (-1.0, 1.0), method=method)
    with pytest.warns(BrokenRunWarning):
        assert np.isnan(flow.batch([0.0], (-1.0, 1.0), [{}] * 2, method=method)).all()
