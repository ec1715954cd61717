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

from numerics.flows.integrate import integrate
from numerics.pictures.live_page import _window, page, system_explorer
from numerics.pictures.portrait import phase_portrait
from odesys import analyse
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
