"""Pictures of sweeps: what is drawn, and which exponents are fitted."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

from numerics.sweeps import sweep
from numerics.sweeps.plot import draw, exponents, observables


def test_observables_and_exponents_skip_what_is_no_number() -> None:
    axes = [sweep.Axis("x", (1.0, 2.0, 4.0), "list", "")]
    rows = [
        {"parameters": {"x": x}, "error": "", "result": {"final": {"a": x**-2, "b": None, "c": -x, "d": 1.0}}}
        for x in (1.0, 2.0, 4.0)
    ] + [{"parameters": {"x": 8.0}, "error": "no", "result": {}}]
    assert observables(rows) == ["a", "c", "d"]
    laws = exponents(axes, rows, ["a", "c", "d"])
    assert [law["observable"] for law in laws] == ["a"] and abs(laws[0]["value"] + 2) < 1e-12


def grid(*values: tuple[float, float]) -> list[dict[str, Any]]:
    return [{"parameters": {"x": x, "y": y}, "error": "", "result": {"final": {"a": x * y**2}}} for x, y in values]


def test_exponents_along_every_axis_at_every_value_of_the_others() -> None:
    axes = [sweep.Axis("x", (1.0, 2.0, 4.0), "list", ""), sweep.Axis("y", (1.0, 3.0, 9.0), "list", "")]
    laws = exponents(axes, grid(*product(axes[0].values, axes[1].values)), ["a"])
    assert [(law["over"], round(law["value"], 9)) for law in laws] == [("x", 1.0)] * 3 + [("y", 2.0)] * 3
    assert [law["at"] for law in laws[:3]] == [{"y": 1.0}, {"y": 3.0}, {"y": 9.0}]
    assert exponents(axes, grid((1.0, 1.0), (2.0, 1.0)), ["a"]) == []  # two points have every exponent


def test_pictures_are_drawn_whole_and_nothing_is_drawn_of_nothing(tmp_path: Path) -> None:
    axes = [sweep.Axis("x", (1.0, 2.0, 4.0), "list", ""), sweep.Axis("y", (1.0, 3.0, 9.0), "list", "")]
    rows = grid(*product(axes[0].values, axes[1].values))
    for folder, chosen in (("lines", axes[:1]), ("map", axes)):
        files = draw(chosen, rows, ["a"], "title", tmp_path / folder)
        assert {f.name for f in files} == {"sweep.png", "sweep.svg"} and all(f.stat().st_size > 1000 for f in files)
    assert draw(axes, rows, [], "title", tmp_path / "none") == [] and not (tmp_path / "none").exists()


def test_the_fitted_exponent_is_drawn_where_nothing_else_is_swept(tmp_path: Path) -> None:
    x, y = sweep.Axis("x", (1.0, 10.0, 100.0), "log", ""), sweep.Axis("y", (1.0,), "list", "")
    for axes, drawn in (([x], True), ([x, y], False)):
        rows = grid((1.0, 1.0), (10.0, 1.0), (100.0, 1.0))
        files = draw(axes, rows, ["a"], "title", tmp_path / str(len(axes)))
        (page,) = (f.read_text() for f in files if f.suffix == ".svg")
        assert ("exponent 1 in [1, 1]" in page) == drawn
