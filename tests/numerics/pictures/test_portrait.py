"""Phase portraits: what is marked, what is written, and what is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sympy as sp
from matplotlib.collections import LineCollection
from matplotlib.contour import ContourSet
from matplotlib.figure import Figure

from numerics.pictures.portrait import _on_grid, _ranges, marked_equilibria, phase_portrait
from odesys import analyse
from odesys.errors import EquationError, OutputError, ParameterError
from odesys.expr.system import System
from tests.known_systems import (
    X,
    Y,
    logistic,
    lotka_volterra,
    lotka_volterra_integral,
    oscillator,
    pendulum,
    rigid_body,
    sliding,
)

RATES = {"a": 1, "b": 1.0, "c": 1, "d": 0.5}
BOX = {"x": (-0.5, 4.0), "y": (-0.5, 3.0)}


def test_equilibria_are_marked_by_type() -> None:
    open_marks = marked_equilibria(lotka_volterra(), RATES, BOX)
    assert open_marks == [(0.0, 0.0, "saddle", "unstable"), (2.0, 1.0, "linear centre", "undecided")]
    settled = marked_equilibria(lotka_volterra(), RATES, BOX, [lotka_volterra_integral()])
    assert settled[1] == (2.0, 1.0, "centre", "stable")
    wrong = marked_equilibria(lotka_volterra(), RATES, BOX, [lotka_volterra_integral() + X])
    assert wrong == open_marks
    assert marked_equilibria(lotka_volterra(), RATES, {"x": (1.0, 4.0), "y": (0.5, 3.0)}) == open_marks[1:]


def test_marks_say_what_the_lines_of_an_analysis_say() -> None:
    for equations in ("x' = x - x*y; y' = -y + x*y", "x' = -x^3; y' = -y", "x' = y; y' = -x - x^2*y"):
        found = analyse(System.from_strings(equations))
        marks = marked_equilibria(found.system, {}, {"x": (-2.0, 2.0), "y": (-2.0, 2.0)}, found.integrals)
        assert [mark[3] for mark in marks] == [kind.stability for kind in found.types]
        assert "undecided" not in [mark[3] for mark in marks]


def test_a_point_on_a_kink_is_marked_as_one() -> None:
    system = System.from_equations({X: -sp.sign(X), Y: -Y})
    assert marked_equilibria(system, {}, {"x": (-1.0, 1.0), "y": (-1.0, 1.0)}) == [(0.0, 0.0, "kink", "undecided")]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_written_whole(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / f"pendulum.{suffix}"
    found = phase_portrait(pendulum(), {}, [(-7, 7), (-3, 3)], target, title="pendulum")
    assert found == target
    starts = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}
    assert target.read_bytes().startswith(starts[suffix]) and target.stat().st_size > 5000
    assert [file.name for file in tmp_path.iterdir()] == [target.name]  # nothing temporary is left


def test_the_picture_shows_the_field(tmp_path: Path) -> None:
    """Two different flows give two different pictures; the same flow gives the same file."""
    box = [(-2, 2), (-2, 2)]
    first = phase_portrait(oscillator(), {}, box, tmp_path / "a.png").read_bytes()
    again = phase_portrait(oscillator(), {}, box, tmp_path / "b.png").read_bytes()
    damped = System.from_equations({X: Y, Y: -X - Y})
    other = phase_portrait(damped, {}, box, tmp_path / "c.png").read_bytes()
    assert first == again != other


def test_an_older_picture_survives_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "old.png"
    target.write_bytes(b"old")

    def broken(*args: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", broken)
    with pytest.raises(OutputError, match="No space"):
        phase_portrait(oscillator(), {}, [(-1, 1), (-1, 1)], target)
    assert target.read_bytes() == b"old" and list(tmp_path.iterdir()) == [target]


def test_holes_and_sliding_flows_are_drawn(tmp_path: Path) -> None:
    hole = System.from_equations({X: sp.log(X), Y: 1 / Y})
    assert phase_portrait(hole, {}, [(-1, 1), (-1, 1)], tmp_path / "hole.png").is_file()
    assert phase_portrait(sliding(), {}, [(-1, 1), (-1, 1)], tmp_path / "slide.png").is_file()


@pytest.mark.parametrize(
    ("system", "parameters", "box", "name", "error", "words"),
    [
        (rigid_body(), {}, [(-1, 1)] * 2, "a.png", EquationError, "two states"),
        (logistic(), {"r": 1}, [(-1, 1)], "a.png", EquationError, "two states"),
        (lotka_volterra(), {"a": 1}, BOX, "a.png", ParameterError, "has no value"),
        (lotka_volterra(), {**RATES, "a": "much"}, BOX, "a.png", ParameterError, "not a number"),
        (oscillator(), {}, {"x": (0, 1)}, "a.png", ParameterError, "no range for y"),
        (oscillator(), {}, [(0, 1), (1, 1)], "a.png", ParameterError, "empty"),
        (oscillator(), {}, [(0, 1), (0, float("inf"))], "a.png", ParameterError, "finite"),
        (oscillator(), {}, [(0, 1), (0, 1)], "a.doc", OutputError, "should end in"),
        (System.from_equations({X: Y, Y: sp.Symbol("t")}), {}, [(0, 1), (0, 1)], "a.png", EquationError, "time"),
        (System.from_equations({X: sp.log(X), Y: Y}), {}, [(-2, -1), (0, 1)], "a.png", EquationError, "not defined"),
    ],
)
def test_refusals_are_sentences(
    tmp_path: Path,
    system: System,
    parameters: dict[str, object],
    box: object,
    name: str,
    error: type[Exception],
    words: str,
) -> None:
    with pytest.raises(error, match=words):
        phase_portrait(system, parameters, box, tmp_path / name)
    assert not (tmp_path / name).exists()


def test_matplotlib_is_not_imported_with_the_module() -> None:
    import subprocess

    code = "import sys, numerics.pictures.portrait; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.fixture
def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Draws a portrait and gives its axes."""
    figures: list[Figure] = []
    save = Figure.savefig

    def saving(figure: Figure, *given: Any, **options: Any) -> None:
        figures.append(figure)
        save(figure, *given, **options)

    monkeypatch.setattr(Figure, "savefig", saving)

    def draw(system: System, box: Any, parameters: Any = None, **options: Any) -> Any:
        phase_portrait(system, parameters or {}, box, tmp_path / "portrait.svg", **options)
        (axes,) = figures[-1].axes
        return axes

    return draw


def labels(axes: Any) -> list[str]:
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_a_portrait_has_its_box_its_names_and_one_mark_per_equilibrium(drawn: Callable[..., Any]) -> None:
    """Each kind is in the legend once; unstable ones are hollow."""
    system = System.from_strings({"x": "x - x^3", "y": "-y"})
    axes = drawn(system, {"x": (-2, 2), "y": (-1, 3)}, title="two wells")
    assert axes.get_xlim() == (-2, 2) and axes.get_ylim() == (-1, 3)
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("x", "y", "two wells")
    marks = [line for line in axes.lines if line.get_linestyle() == "None"]
    found = {tuple(line.get_xydata()[0]): (line.get_marker(), line.get_markerfacecolor()) for line in marks}
    full, hollow = "tab:red", "white"
    assert found == {(-1.0, 0.0): ("o", full), (0.0, 0.0): ("X", hollow), (1.0, 0.0): ("o", full)}
    curves = [line for line in axes.lines if line.get_linestyle() == "-"]
    assert len(curves) == 4 and {line.get_color() for line in curves} == {"tab:green", "tab:purple"}
    said = ["x at rest", "y at rest", "stable separatrix", "unstable separatrix"]
    kinds = {f"{kind}, {stable}" for _, _, kind, stable in marked_equilibria(system, {}, {"x": (-2, 2), "y": (-1, 3)})}
    assert len(kinds) == 2 and sorted(labels(axes)) == sorted([*said, *kinds])


def test_nullclines_are_drawn_where_they_cross_the_box(drawn: Callable[..., Any]) -> None:
    """Of x' the lines x = 0 and x = 1, of which the second may be outside; of y' a line that never is inside."""
    system = System.from_strings({"x": "x*(x - 1)", "y": "y + 9"})
    for right, count in ((2.0, 2), (0.5, 1)):
        axes = drawn(system, [(-1.0, right), (-1.0, 1.0)])
        dashed = [c for c in axes.collections if isinstance(c, ContourSet)]
        assert len(dashed) == count
        places = sorted(path.vertices[:, 0].mean() for c in dashed for path in c.get_paths())
        assert places == pytest.approx([0.0, 1.0][:count], abs=1e-6)
        assert labels(axes)[:2] == ["x at rest", "y at rest"]


def test_streamlines_go_along_the_field_and_leave_holes_out(drawn: Callable[..., Any]) -> None:
    """Of x' = 1, y' = 2 every piece has the slope 2; log x has none on the left."""
    axes = drawn(System.from_strings({"x": "1", "y": "2"}), [(0.0, 1.0), (0.0, 1.0)])
    (lines,) = [c for c in axes.collections if isinstance(c, LineCollection) and not isinstance(c, ContourSet)]
    steps = np.concatenate([np.diff(piece, axis=0) for piece in lines.get_segments()])
    moving = np.abs(steps[:, 0]) > 1e-9
    assert moving.any() and steps[moving, 1] / steps[moving, 0] == pytest.approx(np.full(moving.sum(), 2.0))
    axes = drawn(System.from_equations({X: sp.log(X), Y: Y}), [(-1.0, 1.0), (-1.0, 1.0)])
    (lines,) = [c for c in axes.collections if isinstance(c, LineCollection) and not isinstance(c, ContourSet)]
    assert min(piece[:, 0].min() for piece in lines.get_segments()) > -0.05


def test_names_in_tex_are_written_so(drawn: Callable[..., Any]) -> None:
    system = replace(System.from_strings({"x": "y", "y": "-x"}), tex={"x": r"\xi"})
    axes = drawn(system, [(-1, 1), (-1, 1)])
    assert (axes.get_xlabel(), axes.get_ylabel()) == (r"$\xi$", "y") and labels(axes)[0] == r"$\xi$ at rest"


def test_the_field_on_a_grid_has_y_down_and_x_across() -> None:
    xs, ys = np.linspace(0, 1, 4), np.linspace(5, 7, 3)
    u, v = _on_grid(lambda t, state: (state[0], 10 * state[1] if state[0] < 1 else np.inf), xs, ys)
    hole = np.isclose(xs, 1.0)
    assert u.shape == (3, 4) and np.isnan(u[:, hole]).all() and np.isnan(v[:, hole]).all()
    assert np.array_equal(u[:, ~hole], np.tile(xs[~hole], (3, 1)))
    assert np.array_equal(v[:, ~hole], np.tile(10 * ys, (3, 1)).T)


def test_the_ends_of_a_box_belong_to_it_and_parameters_may_be_decimals() -> None:
    system = System.from_strings({"x": "x - a", "y": "y"})
    for low, inside in ((0.1, True), (0.1000001, False)):
        found = marked_equilibria(system, {"a": 0.1}, {"x": (low, 1.0), "y": (0.0, 1.0)})
        assert bool(found) is inside
        assert not inside or found[0][:2] == (0.1, 0.0)


def test_a_box_may_be_given_in_any_order_and_its_ends_as_texts() -> None:
    system = oscillator()
    assert _ranges(system, {"y": (0, 1), "x": ("-1/2", "2")}) == {"x": (-0.5, 2.0), "y": (0.0, 1.0)}
    assert list(_ranges(system, {"y": (0, 1), "x": (1, 2)})) == ["x", "y"]
    for pair, said in (((1, 1), "1 is not below 1"), ((2, 1), "2 is above 1")):
        with pytest.raises(ParameterError, match=f"the range of y is empty: {said}"):
            _ranges(system, [(0, 1), pair])
