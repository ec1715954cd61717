"""Pages of systems written by hand: whole, and in a browser they run as `integrate` does, along kinks as well."""

from __future__ import annotations

import re
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from matplotlib import pyplot

from numerics.flows.integrate import integrate
from numerics.pictures.live_page import (
    CURVES,
    LARGEST,
    PANELS,
    STARTS,
    _figure,
    _portrait,
    _slider,
    _static,
    _window,
    page,
    system_explorer,
)
from numerics.pictures.portrait import phase_portrait
from odesys import Panel, analyse
from odesys.errors import EquationError, ParameterError
from odesys.expr import graph
from odesys.expr.system import System
from tests import known_systems
from tests.browser import Browser, browser
from tests.live_pages import needs_browser, show, solve, times
from tests.report_pages import Reader

x, y, z = sp.symbols("x y z")
STEP = sp.Heaviside


def stick_slip() -> System:
    return System.from_strings({"x": "v", "v": "F - x - mu*sign(v - 1)*(1 + 0.3*exp(-abs(v - 1)))"})


def corner() -> System:
    """Two relays that feed each other: both slide at the origin, and z is what is left of their gates."""
    gates = STEP(x), STEP(y)
    return System.from_equations(
        {x: 1 - 2 * gates[0] + gates[1] / 2, y: sp.Rational(3, 4) - gates[0] / 4 - gates[1], z: gates[0] * gates[1]}
    )


SYSTEMS: dict[str, tuple[System, list[float], float, dict[str, float]]] = {
    "oscillator": (known_systems.oscillator(), [1.0, 0.5], 20.0, {}),
    "lotka_volterra": (known_systems.lotka_volterra(), [1.0, 2.0], 15.0, {"a": 1, "b": 0.5, "c": 1, "d": 0.3}),
    "bouncing": (known_systems.bouncing(), [1.0, 0.0], 12.0, {}),
    "sliding": (known_systems.sliding(), [1.0, 0.0], 3.0, {}),
    "stick_slip": (stick_slip(), [0.0, 0.0], 30.0, {"F": 0.2, "mu": 1.0}),
    "corner": (corner(), [0.7, -0.4, 0.0], 6.0, {}),
    "moving surface": (System.from_equations({x: sp.cos(y) - 2 * STEP(x - sp.sin(y) / 2), y: 1}), [1.0, 0.0], 9.0, {}),
    "leaving": (
        System.from_equations({x: sp.Symbol("t") - 1 + 2 * STEP(-x) - STEP(x), y: STEP(x)}),
        [0.5, 0.0],
        4.0,
        {},
    ),
    "relu": (System.from_equations({x: y, y: -x + sp.Max(x - sp.Rational(1, 2), 0) ** 2}), [0.2, 1.0], 20.0, {}),
}


def test_the_page_is_one_whole_file(tmp_path: Path) -> None:
    file = page(stick_slip(), tmp_path / "slip.html", {"x": 0, "v": 0}, 20, {"F": 0.2, "mu": 1})
    text = file.read_text(encoding="utf-8")
    seen = Reader(text)
    assert not [link for link in seen.links if not link.startswith(("#", "data:"))]
    assert {a["name"] for tag, a in seen.elements if tag == "input"} == {"F", "mu", "x_0", "v_0", "t_end"}
    assert "<svg" in text and len(re.findall("<script", text)) == 1 and "No values were given" not in text


def test_what_was_not_given_is_one_and_the_page_says_so(tmp_path: Path) -> None:
    text = page(known_systems.logistic(), tmp_path / "a.html").read_text(encoding="utf-8")
    assert "No values were given for r, x: they are 1 at first." in text


def test_what_has_no_slider_no_curve_and_no_formula_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    large = System.from_strings({f"x{k}": f"-x{k}" for k in range(40)})
    text = page(large, tmp_path / "a.html", dict.fromkeys(large.names, 1.0)).read_text(encoding="utf-8")
    assert "12 of the 40 states have a slider for their start; the others keep theirs. 36 of the 40 states" in text
    assert "too long" not in text
    monkeypatch.setattr("numerics.pictures.live_page.LARGEST_MATHML", 10)
    small = page(known_systems.oscillator(), tmp_path / "b.html", [1.0, 0.5]).read_text(encoding="utf-8")
    assert "The equations are too long for this page" in small and "have a slider" not in small


def test_what_is_no_state_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="q is no parameter of this system; it has r"):
        page(known_systems.logistic(), tmp_path / "a.html", parameters={"q": 1})
    with pytest.raises(ParameterError, match="w is no state"):
        page(known_systems.logistic(), tmp_path / "a.html", start={"w": 1})
    with pytest.raises(ParameterError, match="2 entries"):
        page(known_systems.logistic(), tmp_path / "a.html", start=[1, 2])
    with pytest.raises(EquationError, match="takes a System"):
        page("x", tmp_path / "a.html")
    with pytest.raises(EquationError, match="map"):
        page(known_systems.logistic_map(), tmp_path / "a.html")
    with pytest.raises(ParameterError, match=r"r = 1e\+308 is too large for a page"):
        page(known_systems.logistic(), tmp_path / "a.html", parameters={"r": 1e308})
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with browser(tmp_path_factory.mktemp("profile")) as session:
        yield session


@pytest.mark.slow
@needs_browser
@pytest.mark.parametrize("name", SYSTEMS)
def test_a_browser_runs_it_as_integrate_does(chromium: Browser, tmp_path: Path, name: str) -> None:
    system, start, end, values = SYSTEMS[name]
    run = integrate(system, start, (0.0, end), values)
    show(chromium, tmp_path, system_explorer(system, start, end, values))
    found: dict[str, Any] = solve(chromium, "run")
    assert found["problem"] == "" and found["t"] == end
    assert found["x"] == pytest.approx(run.end_state, rel=1e-6, abs=1e-7)
    assert times(found, "switch") == pytest.approx(run.times_of("switch"), abs=1e-7)
    slides = sorted((slide.start, slide.end) for slide in run.slides)
    assert times(found, "slide") == pytest.approx(np.ravel(slides) if slides else [], abs=1e-6)


def test_the_loss_is_shown_first_and_formulas_have_their_font(tmp_path: Path) -> None:
    squared = graph.sym("x") ** 2
    system = System.from_strings({"x": "-x"}).with_observables({"norm": squared, "loss": squared})
    titles = [panel.title for panel in system_explorer(system, t_end=1.0).protocols[0].panels]
    assert titles == ["loss", "states", "observables"]
    text = page(system, tmp_path / "own.html", t_end=1.0).read_text(encoding="utf-8")
    assert "data:font/woff2;base64," in text and "font-src data:" in text


def test_sliders_of_positive_values_are_logarithmic_and_others_reach_zero() -> None:
    system = System.from_strings({"x": "-r*x", "y": "r*x"})
    found = {s.name: s for s in system_explorer(system, [2.0, 0.0], 10.0, {"r": 0.5}).sliders}
    assert {name: slider.log for name, slider in found.items()} == {"r": True, "x_0": True, "y_0": False, "t_end": True}
    assert found["r"].low == 0.05 and found["r"].high == 5.0 and found["y_0"].low < 0 < found["y_0"].high


def test_a_window_holds_the_run_with_room_around_it() -> None:
    nothing: Any = types.SimpleNamespace(rests=None)
    turn = System.from_strings({"x": "y", "y": "-x"})
    for size in (1.0, 10.0):
        box = _window(turn, [size, 0.0], 7.0, {}, nothing)
        for low, high in box.values():
            assert [low, high] == pytest.approx([-1.6 * size, 1.6 * size], rel=0.02)
    still = _window(System.from_strings({"x": "0*x"}), [3.0], 1.0, {}, nothing)
    assert still == {"x": (2.5, 3.5)}


@pytest.mark.parametrize(
    ("equations", "why"),
    [
        ({"x": "y", "y": "-x"}, ""),
        ({"x": "y", "y": "-x + cos(t)"}, "a phase portrait: the field depends on time"),
        ({"x": "y", "y": "-x", "z": "-z"}, "a phase portrait: it is drawn for two states, and there are 3"),
    ],
)
def test_there_is_a_phase_portrait_or_a_reason(tmp_path: Path, equations: dict[str, str], why: str) -> None:
    system = System.from_strings(equations)
    start = dict.fromkeys(system.names, 1.0)
    text = page(system, tmp_path / "a.html", start, 3.0, analysis=analyse(system)).read_text(encoding="utf-8")
    assert ("Phase portrait: streamlines" in text) is not bool(why) and why in text


def test_the_portrait_marks_with_the_quantities_that_were_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A centre by a conserved quantity was called a linear centre in the picture beside the line that proves it."""
    given: list[Any] = []

    def portrait(system: System, parameters: Any, box: Any, path: Path, integrals: Any = ()) -> Path:
        given.extend(integrals)
        return phase_portrait(system, parameters, box, path, integrals)

    monkeypatch.setattr("numerics.pictures.live_page.phase_portrait", portrait)
    system = System.from_strings("x' = x - x*y; y' = -y + x*y")
    page(system, tmp_path / "a.html", [1.0, 2.0], 3.0, analysis=analyse(system))
    assert len(given) == 1


def states(count: int) -> System:
    return System.from_strings({f"x{k}": f"-x{k}" for k in range(count)})


@pytest.mark.parametrize(
    ("value", "low", "high", "log"),
    [
        (2.0, 0.2, 20.0, True),
        (1e300, 1e299, 1e301, True),
        (0.0, -1.0, 1.0, False),
        (-0.25, -1.25, 0.75, False),
        (-0.5, -1.5, 0.5, False),
        (-3.0, -9.0, 3.0, False),
    ],
)
def test_a_slider_has_room_to_both_sides(value: float, low: float, high: float, log: bool) -> None:
    if value == LARGEST:  # as large as can be moved at all, which a slider itself does not take
        with pytest.raises(ParameterError, match="which is not in its range"):
            _slider("x", value, "x")
        return
    made = _slider("x", value, "\\xi")
    assert (made.name, made.value, made.tex, made.log, made.whole) == ("x", value, "\\xi", log, False)
    assert (made.low, made.high) == pytest.approx((low, high))
    for beyond in (1.1 * LARGEST, -1.1 * LARGEST):
        with pytest.raises(ParameterError, match=r"x = -?1\.1e\+300 is too large for a page to move it"):
            _slider("x", beyond, "x")


def test_an_explorer_has_a_slider_for_everything_that_can_be_moved() -> None:
    system = System.from_strings({"x": "-r*x", "y": "x - t_end", "t_end": "0*x"})
    made = system_explorer(system, {"x": 2}, 30.0, {}, title="mine")
    assert [(s.name, s.value) for s in made.sliders] == [
        ("r", 1.0),
        ("x_0", 2.0),
        ("y_0", 1.0),
        ("t_end_0", 1.0),
        ("t_end_", 30.0),
    ]
    end = made.sliders[-1]
    assert (end.low, end.high, end.words, end.tex, end.log) == (1.5, 600.0, "end of the run", "t", True)
    assert [s.tex for s in made.sliders[:3]] == ["r", "x(0)", "y(0)"]
    (protocol,) = made.protocols
    assert protocol.start == {name: graph.sym(f"{name}_0") for name in system.names}
    assert protocol.end is graph.sym("t_end_") and protocol.stages[0].system is system
    assert (made.title, made.note) == ("mine", "No values were given for r, y, t_end: they are 1 at first.")
    given = system_explorer(system, [1, 2, 3], 30.0, {"r": 5})
    assert given.note == "" and [s.value for s in given.sliders] == [5.0, 1.0, 2.0, 3.0, 30.0]
    with pytest.raises(ParameterError, match="p is no parameter of this system; it has none"):
        system_explorer(states(1), parameters={"q": 1, "p": 2})
    with pytest.raises(ParameterError, match="the start has 2 entries but the system has 3 states"):
        system_explorer(system, [1, 2])


@pytest.mark.parametrize("count", [1, 12, 13, 36, 37])
def test_of_a_large_system_as_much_is_shown_as_a_page_has_room_for(count: int) -> None:
    system = states(count)
    made = system_explorer(system, dict.fromkeys(system.names, 2.0))
    moved, drawn = min(count, STARTS), min(count, PANELS * CURVES)
    assert len(made.sliders) == moved + 1
    start = made.protocols[0].start
    assert [node.op for node in start.values()] == ["sym"] * moved + ["num"] * (count - moved)
    assert all(node.args[0] == 2 for node in list(start.values())[moved:])
    panels = made.protocols[0].panels
    assert [name for panel in panels for name in panel.curves] == list(system.names[:drawn])
    assert all(len(panel.curves) == CURVES for panel in panels[:-1]) and {panel.title for panel in panels} == {"states"}
    notes = [f"12 of the {count} states have a slider for their start; the others keep theirs."] * (count > 12)
    notes += [f"36 of the {count} states are drawn."] * (count > 36)
    assert made.note == " ".join(notes)
    own = [Panel("mine", {"x0": graph.sym("x0")})]
    asked = system_explorer(system, dict.fromkeys(system.names, 2.0), panels=own)
    assert asked.protocols[0].panels == own and "are drawn" not in asked.note


def test_every_observable_has_a_curve_and_the_loss_a_picture_of_its_own() -> None:
    x0 = graph.sym("x0")
    system = states(2).with_observables({"a": x0, "loss": x0**2, "b": 2 * x0})
    panels = system_explorer(system).protocols[0].panels
    assert [(p.title, dict(p.curves)) for p in panels] == [
        ("loss", {"loss": x0**2}),
        ("states", {"x0": x0, "x1": graph.sym("x1")}),
        ("observables", {"a": x0, "b": 2 * x0}),
    ]


def rests(*points: tuple[Any, ...], condition: str = "") -> Any:
    """An analysis that found these equilibria."""
    found = [types.SimpleNamespace(point=dict(zip("xy", point, strict=True)), condition=condition) for point in points]
    return types.SimpleNamespace(rests=found)


@pytest.mark.parametrize(
    ("equations", "start", "end", "found", "box"),
    [
        # a run that stays, with equilibria near it, far from it, with symbols, or under a condition
        ({"x": "0*x", "y": "0*y"}, [1.0, 2.0], 1.0, [(4, 0)], [(0.1, 4.9), (-0.6, 2.6)]),
        ({"x": "0*x", "y": "0*y"}, [1.0, 2.0], 1.0, [(61, 0)], [(0.5, 1.5), (1.5, 2.5)]),
        ({"x": "0*x", "y": "0*y"}, [1.0, 2.0], 1.0, [(60, 2)], [(-16.7, 77.7), (1.5, 2.5)]),
        ({"x": "0*x", "y": "0*y"}, [1.0, 2.0], 1.0, [(x, 3), (2, 2)], [(0.5, 2.5), (1.5, 2.5)]),
        # a run that goes far away: around the equilibria alone, or around the start
        ({"x": "x", "y": "y"}, [1.0, 1.0], 30.0, [(0, 0)], [(-0.5, 0.5), (-0.5, 0.5)]),
        ({"x": "x", "y": "y"}, [1.0, 1.0], 30.0, [(0, 0), (4, 1)], [(-1.2, 5.2), (-0.5, 1.5)]),
        ({"x": "x", "y": "y"}, [1.0, 2.0], 30.0, [], [(0.5, 1.5), (1.5, 2.5)]),
        ({"x": "x^2", "y": "0*y"}, [1.0, 2.0], 3.0, [], [(0.5, 1.5), (1.5, 2.5)]),
        ({"x": "x^2", "y": "0*y"}, [1.0, 2.0], 3.0, [(0, 2)], [(-0.5, 0.5), (1.5, 2.5)]),
    ],
)
def test_a_window_is_around_the_run_and_the_equilibria_near_it(
    equations: dict[str, str], start: list[float], end: float, found: list[Any], box: list[Any]
) -> None:
    made = _window(System.from_strings(equations), start, end, {}, rests(*found))
    assert [made[name] for name in "xy"] == [pytest.approx(pair) for pair in box]


def test_equilibria_under_a_condition_set_no_window() -> None:
    still = System.from_strings({"x": "0*x", "y": "0*y"})
    made = _window(still, [1.0, 2.0], 1.0, {}, rests((4, 0), condition="a > 0"))
    assert made == {"x": (0.5, 1.5), "y": (1.5, 2.5)}


@pytest.mark.parametrize(("end", "far"), [(2.99, False), (3.01, True)])
def test_a_run_is_far_away_beyond_twenty_times_what_is_known(end: float, far: bool) -> None:
    """From x = 1 at the speed 13: of a start alone up to 20 times 1 + 1."""
    line = System.from_strings({"x": "13", "y": "0*y"})
    made = _window(line, [1.0, 0.0], end, {}, rests())
    assert made["x"] == pytest.approx((0.5, 1.5) if far else (1 - 3.9 * end, 1 + 16.9 * end))


def test_a_portrait_is_of_the_values_the_sliders_begin_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def window(
        system: System, start: Any, end: float, parameters: Any, analysis: Any
    ) -> dict[str, tuple[float, float]]:
        asked.extend([list(start), end, dict(parameters)])
        return {"x": (-1.0, 1.0), "v": (-1.0, 1.0)}

    monkeypatch.setattr("numerics.pictures.live_page._window", window)
    system = System.from_strings({"x": "v", "v": "-k*x"})
    made = system_explorer(system, [3.0, -2.0], 7.0, {"k": 4.0})
    analysis = analyse(system)
    (picture,), why = _portrait(system, made, analysis)
    assert asked == [[3.0, -2.0], 7.0, {"k": 4.0}] and why == "" and "<svg" in picture.svg

    def refuse(*given: object) -> None:
        raise EquationError("the field is not defined anywhere")

    monkeypatch.setattr("numerics.pictures.live_page.phase_portrait", refuse)
    assert _portrait(system, made, analysis) == ([], "a phase portrait: the field is not defined anywhere")
    text = page(system, tmp_path / "a.html", [3.0, -2.0], 7.0, {"k": 4.0}, analysis=analysis).read_text(
        encoding="utf-8"
    )
    assert "a phase portrait: the field is not defined anywhere" in text and "Who drives whom" in text


def test_the_run_at_first_is_drawn_or_said_to_stop() -> None:
    blows = System.from_strings({"x": "x^2"})
    assert _static(blows, system_explorer(blows, [1.0], 3.0)).startswith('<p class="note">The run stops: ')
    still = _static(states(13), system_explorer(states(13), dict.fromkeys(states(13).names, 2.0), 1.0))
    assert still.startswith("<svg")


def test_the_panels_of_a_run_stand_side_by_side() -> None:
    system = System.from_strings({"x": "-k*x", "y": "1"})
    run = integrate(system, [1.0, 0.0], (0.0, 2.0), {"k": 0.5})
    symbols_ = {name: graph.sym(name) for name in "xy"}
    fig = _figure(run, [Panel("both", symbols_), Panel("square", {"s": symbols_["x"] ** 2}, log=True)])
    first, second = fig.axes
    assert [line.get_label() for line in first.lines] == ["x", "y"] and len(second.lines) == 1
    assert (first.get_title(), first.get_xlabel(), first.get_yscale(), second.get_yscale()) == (
        "both",
        "t",
        "linear",
        "log",
    )
    times_ = second.lines[0].get_xdata()
    assert times_[0] == 0 and times_[-1] == 2 and len(times_) >= 300 and np.all(np.diff(times_) > 0)
    assert second.lines[0].get_ydata() == pytest.approx(np.exp(-times_), rel=1e-5)
    assert first.lines[1].get_ydata() == pytest.approx(times_, abs=1e-9)
    assert fig.get_size_inches() == pytest.approx([8.4, 3.0])
    pyplot.close(fig)
