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


def test_slides_keep_the_gate_before_them_and_end_in_the_order_of_surfaces() -> None:
    made = EventLog(SimpleNamespace(names=["a", "b", "c"]), 0.0)  # type: ignore[arg-type]
    made.change(1.0, mode(1, 0, 1), mode(0.5, 0.5, 1))
    made.change(2.0, mode(0.5, 0.5, 1), mode(0.5, 0.5, 0))
    made.change(3.0, mode(0.9, 0.1, 0), mode(1, 0, 0.5))
    assert [(e.name, e.kind, e.time, dict(e.detail)) for e in made.events] == [
        ("c", "switch", 2.0, {"surface": 2, "gate": 0}),
        ("a", "slide", 1.0, {"surface": 0, "end": 3.0, "before": 1, "gate": 1}),
        ("b", "slide", 1.0, {"surface": 1, "end": 3.0, "before": 0, "gate": 0}),
    ]
    made.finish(4.0)
    assert dict(made.events[-1].detail) == {"surface": 2, "end": 4.0, "before": 0, "gate": None}


def test_a_slide_goes_on_only_where_the_same_one_ended_at_this_time() -> None:
    made = log()
    made.change(1.0, mode(1, 0), mode(0.5, 0.5))
    made.change(2.0, mode(0.5, 0.5), mode(1, 0))
    made.change(2.0, mode(1, 0), mode(0.5, 0))  # the first of them goes on
    made.change(3.0, mode(0.5, 0), mode(0, 0))
    made.change(4.0, mode(0, 0), mode(0.5, 0))  # a new one
    made.finish(5.0)
    slides = [(e.name, e.time, e.detail["end"], e.detail["before"], e.detail["gate"]) for e in made.events]
    assert slides == [("margin", 1.0, 2.0, 0, 0), ("H", 1.0, 3.0, 1, 0), ("H", 4.0, 5.0, 0, None)]


def test_switches_of_other_times_or_surfaces_are_not_taken_back() -> None:
    made = log()
    made.change(1.0, mode(0, 0), mode(1, 0))
    made.change(2.0, mode(1, 0), mode(0, 0))
    made.change(2.0, mode(0, 0), mode(0, 1))
    assert told(made) == [
        ("H", "switch", 1.0, None, 1), ("H", "switch", 2.0, None, 0), ("margin", "switch", 2.0, None, 1)
    ]  # fmt: skip
    made.change(2.0, mode(0, 1), mode(1, 1))
    assert [e[:3] for e in told(made)] == [("H", "switch", 1.0), ("margin", "switch", 2.0)]


def test_a_slide_from_the_start_on_that_ends_at_once_is_no_switch() -> None:
    made = log()
    made.change(0.0, mode(0, 0), mode(0.5, 0))
    made.change(0.0, mode(0.5, 0), mode(1, 0))
    assert made.events == []
    made = log()
    made.change(0.0, mode(0, 0), mode(0.5, 0))
    made.finish(0.0)
    assert told(made) == [("H", "slide", 0.0, 0.0, None)]
