"""Events and switches by both integrators: the same list of small systems, the same events, times, order and ends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.flows import semantics
from numerics.flows.integrate import integrate
from numerics.flows.run import Run
from numerics.flows.trajectory import StopWhen, Trajectory
from odesys import System

t, x, y, z = sp.symbols("t x y z")
sign = sp.sign


@dataclass(frozen=True)
class Case:
    """A run, and what is known of it: (name, time) of its events in order, and how it stops."""

    name: str
    equations: dict[sp.Symbol, Any]
    start: list[float]
    end: float
    events: tuple[StopWhen, ...] = ()
    happens: list[tuple[str, float]] = field(default_factory=list)
    stop: str = "end"
    final: list[float] | None = None
    accuracy: float = 1e-8


def recorded(name: str, expression: Any, direction: int = 0, level: float = 0.0) -> StopWhen:
    return StopWhen(name, expression, direction, terminal=False, level=level)


CUBIC = 3 * (t - 1) ** 2  # the rate of (t - 1)^3
CASES = [
    Case(
        "two terminal events at one time: both are recorded, the first in the list is the reason",
        {x: sp.Integer(1), y: sp.Integer(2)},
        [0.0, 0.0],
        3.0,
        (StopWhen("b", y - 2), StopWhen("a", x**2 - 1), recorded("c", sp.exp(x) - sp.E), StopWhen("d", x - 2)),
        [("b", 1.0), ("a", 1.0), ("c", 1.0)],
        "event:b",
    ),
    Case(
        "a terminal event goes before a switch at the same time",
        {x: 2 - sp.Heaviside(x - 1)},
        [0.0],
        1.0,
        (recorded("seen", t - sp.Rational(1, 2)), StopWhen("stop", x**3 - 1)),
        [("seen", 0.5), ("stop", 0.5)],
        "event:stop",
    ),
    Case(
        "a terminal event in the other direction does not end the run",
        {x: sp.cos(t)},
        [0.0],
        4.0,
        (StopWhen("up", x, +1, level=0.5), StopWhen("down", x, -1, level=0.5)),
        [("up", np.pi / 6)],
        "event:up",
    ),
    Case(
        "recorded events come in order, both passages of a dip, those of one time as listed, before the switch",
        {x: sp.cos(t), y: sp.Heaviside(x - sp.Rational(1, 2))},
        [0.0, 0.0],
        7.0,
        (
            recorded("late", x, -1, 0.5),
            recorded("half", x, 0, 0.5),
            recorded("top", x, 0, 1 - 1e-6),
            recorded("zero", x),
        ),
        [
            ("half", np.pi / 6),
            ("2*x - 1", np.pi / 6),
            ("top", np.arcsin(1 - 1e-6)),
            ("top", np.pi - np.arcsin(1 - 1e-6)),
            ("late", 5 * np.pi / 6),
            ("half", 5 * np.pi / 6),
            ("2*x - 1", 5 * np.pi / 6),
            ("zero", np.pi),
            ("zero", 2 * np.pi),
            ("half", 13 * np.pi / 6),
            ("2*x - 1", 13 * np.pi / 6),
        ],
    ),
    Case(
        "a triple root is a passage",
        {x: CUBIC, y: sp.Integer(1)},
        [-1.0, 0.0],
        3.0,
        (recorded("cubic", x, +1), recorded("never", x, -1), StopWhen("two", y - 2)),
        [("cubic", 1.0), ("two", 2.0)],
        "event:two",
        accuracy=3e-5,
    ),
    Case(
        "a triple root of a surface is a switch",
        {x: CUBIC, y: sp.Heaviside(x)},
        [-1.0, 0.0],
        3.0,
        (),
        [("x", 1.0)],
        final=[8.0, 2.0],
        accuracy=3e-5,
    ),
    Case(
        "events that start at zero have not happened; they do when they come back",
        {x: sp.cos(t), y: sp.Integer(1)},
        [0.0, 0.0],
        4.0,
        (
            StopWhen("here", t),
            recorded("back", x),
            recorded("past", y + 1),
            recorded("level", x + sp.Rational(3, 10), 0, 0.3),
        ),
        [("back", np.pi), ("level", np.pi)],
    ),
    Case(
        "events at zero up to rounding at the start have not happened either",
        {x: sp.Integer(-1), y: sp.Integer(1)},
        [0.1 + 0.2, 0.0],
        1.0,
        (StopWhen("here", x, level=0.3), StopWhen("sum", x - sp.Rational(3, 10) - 10 * y)),
    ),
    Case(
        "gates at the start are chosen, not switched, also where the surface is zero",
        {x: sp.Integer(1), y: sp.Heaviside(x) - 2 * sp.Heaviside(-x), z: sp.Heaviside(z - 1)},
        [0.0, 0.0, 1.0],
        1.0,
        final=[1.0, 1.0, 1.0],
    ),
    Case(
        "a slide along one surface and off it again",
        {x: 1 - 2 * sp.Heaviside(x) + t / 2, y: sp.Heaviside(x)},
        [-0.5, 0.0],
        4.0,
        (recorded("mark", t - sp.Rational(3, 2)),),
        [("x", 2 * (np.sqrt(1.5) - 1)), ("mark", 1.5)],
    ),
    Case(
        "triple roots of expressions, also where a surface has one",
        {x: sp.Integer(1), y: sp.Heaviside((x - 2) ** 3)},
        [-5.0, 0.0],
        9.0,
        (recorded("cube", x**3), StopWhen("up", (x - 3) ** 3, +1), StopWhen("down", (x - 1) ** 3, -1)),
        [("cube", 5.0), ("-(1 - x/2)**3", 7.0), ("up", 8.0)],
        "event:up",
        final=[3.0, 1.0],
    ),
    Case(
        "an event that turns back with a gate happens once, in the direction in which it came",
        {x: sp.Integer(1), y: 1 - 2 * sp.Heaviside(x - 1)},
        [0.0, 0.0],
        3.0,
        (recorded("top", y - 1), StopWhen("down", y - 1, -1), recorded("bend", sp.Abs(x - 1))),
        [("top", 1.0), ("bend", 1.0), ("x - 1", 1.0)],
    ),
    Case(
        "an event that stays at zero along a slide happens at its begin only, and not when it leaves",
        {x: 1 - 2 * sp.Heaviside(x) + t / 2, y: sp.Heaviside(x)},
        [-0.5, 0.0],
        4.0,
        (recorded("there", x), StopWhen("back", x, -1), recorded("gate", sp.Heaviside(x) - sp.Rational(3, 4))),
        [("there", 2 * (np.sqrt(1.5) - 1)), ("x", 2 * (np.sqrt(1.5) - 1)), ("gate", 1.0)],
    ),
    Case(
        "an event that jumps past zero with a gate, and is soon back, happens after the switch",
        {x: 1 + 0 * x, y: sp.Heaviside(x - 1)},
        [0.0, 0.0],
        3.0,
        (recorded("jump", y + sp.Rational(1, 1000) - sp.Heaviside(x - 1) / 500, -1),),
        [("x - 1", 1.0), ("jump", 1.0)],
    ),
    Case(
        "what is not a number has no side",
        {x: sp.Integer(-1)},
        [1.0],
        2.0,
        (StopWhen("end of log", sp.log(x)), recorded("passed", sp.log(x) + 1), recorded("begins", sp.log(-x))),
        [("passed", 1 - np.exp(-1))],
    ),
    Case(
        "two surfaces at one time",
        {x: 1 - sp.Heaviside(x - 1) / 2, y: 1 + sp.Heaviside(y - 1)},
        [0.0, 0.0],
        2.0,
        (),
        [("x - 1", 1.0), ("y - 1", 1.0)],
        final=[1.5, 3.0],
    ),
]


def outcome(case: Case, backend: str) -> Trajectory:
    system = System.from_equations(case.equations)
    return integrate(system, case.start, (0.0, case.end), events=case.events, rtol=1e-10, backend=backend)


def story(run: Trajectory) -> list[tuple[Any, ...]]:
    """What happened, without times: name, kind, and the details that are no times."""
    return [(e.name, e.kind, *(v for k, v in sorted(e.detail.items()) if k != "end")) for e in run.events]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_both_integrators_tell_the_same_story(case: Case) -> None:
    quick, reference = outcome(case, "compiled"), outcome(case, "reference")
    for run in (quick, reference):
        assert [e.name for e in run.events] == [name for name, _ in case.happens]
        assert [e.time for e in run.events] == pytest.approx([time for _, time in case.happens], abs=case.accuracy)
        assert run.stop == case.stop
        if case.final is not None:
            assert run.end_state == pytest.approx(case.final, abs=case.accuracy)
    assert story(quick) == story(reference)
    assert quick.end_time == pytest.approx(reference.end_time, abs=case.accuracy)
    assert quick.end_state == pytest.approx(reference.end_state, abs=case.accuracy)


@pytest.mark.parametrize(("speeds", "y0", "start"), [((2, 2), 0.3, 0), ((3, 3), 0.3, 0), ((1.1, 1.2), 0.4, 10)])
def test_a_spiral_ends_in_the_corner_and_stays_there(speeds: tuple[float, float], y0: float, start: float) -> None:
    """Relays that turn around a corner with ever shorter turns: infinitely many switches before a finite time."""
    up, down = (sp.Rational(str(speed)) for speed in speeds)
    system = System.from_equations(
        {x: -sign(x) + up * sign(y), y: -down * sign(x) - sign(y), z: 1 + sp.Heaviside(x) * sp.Heaviside(y)}
    )
    quick, reference = (
        integrate(system, [1.0, y0, 0.0], (start, start + 4.0), rtol=1e-10, backend=backend)
        for backend in ("compiled", "reference")
    )
    assert quick.end_state == pytest.approx(reference.end_state, abs=1e-8)
    assert quick.end_state[:2] == pytest.approx([0, 0], abs=1e-9)
    ends = [max(run.times_of("switch")) for run in (quick, reference)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)
    early = [[(e.name, e.kind) for e in run.events if e.time < ends[0] - 1e-6] for run in (quick, reference)]
    times = [[e.time for e in run.events if e.time < ends[0] - 1e-6] for run in (quick, reference)]
    assert early[0] == early[1] and len(early[0]) >= 5 and times[0] == pytest.approx(times[1], abs=1e-8)
    for run in (quick, reference):
        assert sorted(s.name for s in run.slides) == ["x", "y"] and all(s.end == start + 4.0 for s in run.slides)


def test_a_run_may_be_shorter_than_a_moment() -> None:
    """Late and short: the times of one moment reach beyond the end, but what is not reached does not happen."""
    system = System.from_equations({x: sp.Integer(1), y: sp.Heaviside(x - 9)})
    events = (StopWhen("far", x - 5), recorded("behind", x + 1))
    for backend in ("compiled", "reference"):
        run = integrate(system, [0.0, 0.0], (1000.0, 1000.0 + 1e-12), events=events, backend=backend)
        assert run.stop == "end" and not run.events and run.end_state == pytest.approx([1e-12, 0.0], abs=1e-13)


def test_the_compiled_runs_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no slide, no corner and no root of higher order is met, the reference integrator makes no step."""
    monkeypatch.setattr(Run, "_segment", lambda *_: pytest.fail("a step was left to the reference"))
    plain = [
        case
        for case in CASES
        if case.name.startswith(("two terminal", "a terminal", "recorded", "events", "a triple root is a p"))
    ]
    assert len(plain) >= 7
    for case in plain:
        outcome(case, "compiled")


@pytest.mark.parametrize("method", ["auto", "Taylor", "Rodas5P", "reference"])
def test_a_touch_of_time_alone_happens_from_time_zero_on(method: str) -> None:
    """No tolerance moves it, and at t = 0 there was no time to be rounded: one in five was missed."""
    options = {"backend": "reference"} if method == "reference" else {"method": method}
    places = np.random.default_rng(1).uniform(0.1, 2.9, 12).tolist()
    for place in places:
        touch = StopWhen("touch", f"(t - {place!r})**2", terminal=False)
        run = integrate(System.from_strings("x' = y; y' = -x"), [0.0, 1.0], (0.0, 3.0), events=[touch], **options)
        assert [(e.name, e.detail["direction"]) for e in run.events] == [("touch", 0)]


def test_probe_weights_give_every_polynomial_through_the_readings() -> None:
    """Readings are at the ends of the parts and one beyond each end of the step, in units of a part."""
    weights = semantics.probe_weights()
    places = np.arange(-1, semantics.STEP_PARTS + 2)
    assert weights.shape == (len(semantics.PROBES), semantics.STEP_PARTS + 3)
    rng = np.random.default_rng(0)
    for degree in range(places.size):
        polynomial = np.polynomial.Polynomial(rng.normal(size=degree + 1))
        wanted = polynomial(semantics.STEP_PARTS * np.array(semantics.PROBES))
        np.testing.assert_allclose(weights @ polynomial(places), wanted, atol=1e-10)
    assert (np.diff([0.0, *semantics.PROBES, 1.0]) > 0.05).all()


def test_roundings_are_a_few_last_digits() -> None:
    """A width covers what a sum of some terms may lose, and a moment is longer than time is rounded by."""
    eps = np.finfo(float).eps
    assert eps < semantics.STATE_ROUNDING < semantics.TIME_ROUNDING < semantics.ONE_MOMENT < 1000 * eps
