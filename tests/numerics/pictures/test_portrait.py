"""Phase portraits: what is marked, what is written, and what is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import sympy as sp

from numerics.pictures.portrait import marked_equilibria, phase_portrait
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
