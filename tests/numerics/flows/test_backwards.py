"""Backwards in time: there and back again, closed forms, events and slides along the way."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from numerics.flows.backwards import _turned_error, runs_backwards
from odesys import StopWhen, System, integrate, sym
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


def test_what_runs_backwards() -> None:
    for span, back in (
        ((1, 0), True), ((0, 1), False), ((1, 1), False), ([2.0, -1], True), ((0, -np.inf), True), ((np.nan, 0), False),
        ("10", False), ((1,), False), ((1, 0, -1), False), (5, False), (("a", "b"), False), ((10**400, 0), False),
    ):  # fmt: skip
        assert runs_backwards(span) is back, span


def test_time_is_turned_in_fields_observables_events_and_gates() -> None:
    """Each against the run forwards from where the run backwards ended."""
    t, x, y = sp.symbols("t x y")
    system = System.from_equations(
        {x: sp.cos(t) + sp.Heaviside(y), y: 1 + 0 * y}, observables={"sum": x + t, "late": t * y}
    )
    events = [
        StopWhen("name", "sum", level=1.7, terminal=False),
        StopWhen("expression", x - t / 5, level=0.2, terminal=False),
        StopWhen("node", sym("t") * sym("y"), level=0.5, terminal=False),
        StopWhen("python", lambda s, state: s - 0.75 + 0 * state[0], terminal=False),
        StopWhen("both", sp.Symbol("late") + t, level=1, terminal=False),
        StopWhen("time", "t", level=1.25, terminal=False),
    ]
    back = integrate(system, [1.0, 1.0], (2.0, 0.0), events=events)
    there = integrate(system, back.end_state, (0.0, 2.0), events=events)
    assert there.end_state == pytest.approx([1.0, 1.0], abs=1e-8)
    assert sorted(back.t_events) == sorted(there.t_events) and {"python", "time", "node"} <= set(back.t_events)
    for name, times in there.t_events.items():
        assert back.t_events[name][::-1] == pytest.approx(times, abs=1e-7), name
    assert back.times_of("switch") == pytest.approx([1.0]) and back.times_of("user", "time") == [1.25]
    ways = {e.name: e.detail["direction"] for e in back.events if e.kind == "user"}
    assert ways["time"] == -1 and ways["python"] == -1  # along the run
    assert back["sum"] == pytest.approx(back["x"] + back.times) and back.system is system
    assert back.final["late"] == pytest.approx(0.0) and back.solution.ts[0] == 2.0 and back.solution.ts[-1] == 0.0
    falls = integrate(system, [1.0, 1.0], (2.0, 0.0), events=[StopWhen("time", "t", direction=-1, level=1.25)])
    assert falls.stop == "event:time" and falls.end_time == pytest.approx(1.25)
    assert integrate(system, [1.0, 1.0], (2.0, 0.0), events=[StopWhen("t", "t", direction=1, level=1.25)]).stop == "end"


def test_times_to_record_fall() -> None:
    decay = System.from_strings({"x": "-x"})
    run = integrate(decay, [1.0], (1.0, -1.0), t_eval=[1.0, 0.5, -1.0])
    assert run.times.tolist() == [1.0, 0.5, -1.0] and run.states[:, 0] == pytest.approx(np.exp([0.0, 0.5, 2.0]))
    assert integrate(decay, [1.0], (1.0, -1.0), t_eval=[]).times.size == 0
    for wrong in ([0.5, 0.5], [0.0, 0.5]):
        with pytest.raises(ParameterError, match="t_eval must fall along a run backwards in time, like the run itself"):
            integrate(decay, [1.0], (1.0, -1.0), t_eval=wrong)
    with pytest.raises(ParameterError, match="t_eval = 'a' is not a list of times"):
        integrate(decay, [1.0], (1.0, -1.0), t_eval="a")


def test_slides_that_have_no_end_and_runs_without_steps() -> None:
    x = sp.Symbol("x")
    leaving = System.from_equations({x: sp.sign(x)})
    run = integrate(leaving, [0.0], (3.0, 1.0), on_slide="stop")
    assert run.stop == "slide" and run.end_time == 3.0 and run.solution is None
    pushed = System.from_equations({x: sp.sign(x) - sp.Symbol("t")})  # held by gates between -1 and 1
    run = integrate(pushed, [0.0], (0.0, -3.0))
    (slide,) = run.slides
    assert (slide.start, slide.end) == (0.0, pytest.approx(-1.0)) and run.series_from is None
    (event,) = [e for e in run.events if e.kind == "slide"]
    assert event.detail["gate"] in (0, 1) and event.detail["end"] == slide.end


@pytest.mark.parametrize(
    ("text", "time", "turned"),
    [
        ("stuck at t = 2.5 with x", 2.5, "stuck at t = -2.5 with x"),
        ("slides from t = -1e-05: x", -1e-5, "slides from t = 1e-05: x"),
        ("up to t = .5, last: x", 0.5, "up to t = -0.5, last: x"),
        ("at t = 0 something", 0.0, "at t = 0 something"),
        ("at t = 12 and at t = 3", 12.0, "at t = -12 and at t = -3"),
        ("format = 3 is none", 3.0, "format = 3 is none"),
    ],
)
def test_sentences_have_the_times_of_the_run(text: str, time: float, turned: str) -> None:
    found = _turned_error(IntegrationError(text, time=time, state=np.ones(1)))
    assert str(found) == turned and found.objects["time"] == -time and found.objects["state"].tolist() == [1.0]
