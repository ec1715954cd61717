"""The log of a run: switches, slides that begin, end and go on."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from numerics.flows.events import EventLog
from numerics.flows.modes import Mode


def mode(*gates: float) -> Mode:
    """Gates 0 and 1 are held, others slide."""
    values = np.array(gates)
    return Mode(values, np.flatnonzero((values != 0) & (values != 1)))


def log() -> EventLog:
    return EventLog(SimpleNamespace(names=["H", "margin"]), 0.0)  # type: ignore[arg-type]


def told(made: EventLog) -> list[tuple[object, ...]]:
    return [(e.name, e.kind, e.time, e.detail.get("end"), e.detail["gate"]) for e in made.events]


def test_a_switch_names_its_surface_and_gate() -> None:
    made = log()
    made.change(1.0, mode(0, 0), mode(0, 1))
    assert told(made) == [("margin", "switch", 1.0, None, 1)]


def test_at_the_start_a_gate_is_chosen_not_switched() -> None:
    made = log()
    made.change(0.0, mode(0, 0), mode(1, 0))
    assert made.events == []


def test_a_slide_is_told_when_it_ends_with_the_gate_it_ends_at() -> None:
    made = log()
    made.change(1.0, mode(0, 0), mode(0.4, 0))
    assert made.events == []
    made.change(3.0, mode(0.9, 0), mode(1, 0))
    assert told(made) == [("H", "slide", 1.0, 3.0, 1)] and made.events[0].detail["before"] == 0


def test_a_slide_that_goes_on_ends_with_the_run_and_has_no_gate() -> None:
    made = log()
    made.change(1.0, mode(0, 1), mode(0, 0.5))
    made.finish(9.0)
    assert told(made) == [("margin", "slide", 1.0, 9.0, None)]


def test_a_slide_left_and_entered_at_one_time_is_one_slide() -> None:
    made = log()
    made.change(1.0, mode(0, 0), mode(0.5, 0))
    made.change(2.0, mode(0.5, 0), mode(1, 0))
    made.change(2.0, mode(1, 0), mode(0.5, 0))
    made.finish(3.0)
    assert told(made) == [("H", "slide", 1.0, 3.0, None)]


def test_a_switch_there_and_back_at_one_time_is_none() -> None:
    made = log()
    made.change(1.0, mode(0, 0), mode(1, 0))
    made.change(1.0, mode(1, 0), mode(0, 0))
    assert made.events == []


def test_a_slide_of_no_duration_is_a_switch_or_nothing() -> None:
    made = log()
    made.change(1.0, mode(0, 0), mode(0.5, 0.5))
    made.change(1.0, mode(0.5, 0.5), mode(1, 0))
    assert told(made) == [("H", "switch", 1.0, None, 1)]
