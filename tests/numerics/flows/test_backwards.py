"""Backwards in time: there and back again, closed forms, events and slides along the way."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import StopWhen, System, integrate
from odesys.errors import IntegrationError, ParameterError

FORCED = System.from_strings({"x": "y*cos(t)", "y": "-x + k*t"})


def test_there_and_back_again() -> None:
    there = integrate(FORCED, [1.0, 0.5], (0.5, 3.0), {"k": 0.3})
    back = integrate(FORCED, there.end_state, (3.0, 0.5), {"k": 0.3})
    assert back.start_time == 3.0 and back.end_time == 0.5
    assert np.abs(back.end_state - [1.0, 0.5]).max() < 1e-8
    times = np.linspace(0.6, 2.9, 7)
    assert np.abs(there.at(times) - back.at(times)).max() < 1e-8
    assert np.all(np.diff(back.times) < 0) and back.final["x"] == back.end_state[0]


@pytest.mark.parametrize("backend", ["auto", "reference"])
def test_a_closed_form_and_its_events(backend: str) -> None:
    decay = System.from_strings({"x": "-x"})
    events = [StopWhen("two", "x - 2", terminal=False), StopWhen("late", "t + 1", terminal=True)]
    run = integrate(decay, [1.0], (0.0, -5.0), events=events, backend=backend)
    assert run.t_events["two"] == pytest.approx([-np.log(2)], abs=1e-8) and run.end_time == pytest.approx(-1.0)
    assert run.final["x"] == pytest.approx(np.e, rel=1e-8)
    wanted = integrate(decay, [1.0], (0.0, -1.0), t_eval=[0.0, -0.25, -1.0])
    assert wanted.states[:, 0] == pytest.approx(np.exp([0.0, 0.25, 1.0]), rel=1e-8)
    with pytest.raises(ParameterError, match="t_eval must fall"):
        integrate(decay, [1.0], (0.0, -1.0), t_eval=[-1.0, 0.0])


def test_what_repels_forwards_attracts_backwards() -> None:
    leaving = System.from_strings({"x": "sign(x)", "y": "1"})
    run = integrate(leaving, [0.5, 0.0], (0.0, -2.0))
    (slide,) = run.slides
    assert (slide.start, slide.end) == pytest.approx((-0.5, -2.0)) and run.final["x"] == pytest.approx(0.0, abs=1e-9)


def test_an_event_of_time_alone_happens_at_its_time() -> None:
    line = System.from_strings({"x": "1"})
    run = integrate(line, [0.0], (2.0, -2.0), events=[StopWhen("then", "t", level=-1.0)])
    assert run.stop == "event:then" and run.end_time == pytest.approx(-1.0)  # it was at +1


def test_a_run_says_when_it_turned_out_stiff_in_its_own_time() -> None:
    run = integrate(System.from_strings({"x": "1000*(x - cos(t))"}), [1.0], (3.0, 0.0))
    assert run.stiff_from is not None and 0 < run.stiff_from < 3


def test_an_error_names_the_time_of_the_run() -> None:
    with pytest.raises(IntegrationError, match="stuck at t = -1 with") as caught:
        integrate(System.from_strings({"x": "-x**2"}), [1.0], (0.0, -3.0))  # x = 1/(1 + t)
    assert caught.value.objects["time"] == pytest.approx(-1.0)
