"""Pictures of sweeps: what is drawn, and which exponents are fitted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import LogNorm

from numerics.sweeps import plot, sweep
from numerics.sweeps.plot import draw, exponents, observables
from numerics.sweeps.power_law import fit_power_law


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


# ---- what is in a picture --------------------------------------------------------------------------------------------


def axis(name: str, *values: float, spacing: str = "list") -> sweep.Axis:
    return sweep.Axis(name, values, spacing, "")


def rows_of(axes: Sequence[sweep.Axis], function: Callable[..., dict[str, Any]]) -> list[dict[str, Any]]:
    """A row per point of the grid, with what the function gives there; None is a point that failed."""
    points = [dict(zip((a.name for a in axes), values, strict=True)) for values in product(*(a.values for a in axes))]
    found = [(point, function(**point)) for point in points]
    return [{"parameters": p, "error": "" if f is not None else "no", "result": {"final": f or {}}} for p, f in found]


@pytest.fixture
def figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Draws, and gives the figure in place of its files."""
    made: list[Any] = []
    monkeypatch.setattr(plot, "save_figure", lambda fig, folder, name: made.append((fig, name)) or [folder / name])

    def draw_it(axes: Sequence[sweep.Axis], rows: list[dict[str, Any]], names: Sequence[str]) -> Any:
        assert draw(axes, rows, names, "title", tmp_path) == [tmp_path / "sweep"]
        return made[-1][0]

    yield draw_it
    for fig, _ in made:
        pyplot.close(fig)


def test_lines_go_through_the_points_in_order(figure: Callable[..., Any]) -> None:
    x = axis("x", 4.0, 1.0, 2.0)
    fig = figure([x], rows_of([x], lambda x: {"a": x**2, "b": -x}), ["a", "b"])
    first, second = fig.axes
    for ax, name, values in ((first, "a", [1, 4, 16]), (second, "b", [-1, -2, -4])):
        (line,) = ax.lines
        assert line.get_xdata().tolist() == [1, 2, 4] and line.get_ydata().tolist() == values
        assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale(), ax.get_yscale()) == ("x", name, "linear", "linear")
        assert ax.get_legend() is None
    assert fig.get_suptitle() == "title"


@pytest.mark.parametrize(
    ("values", "spacing", "x_scale", "y_scale"),
    [
        ((1.0, 30.0, 15.0), "list", "linear", "linear"),
        ((1.0, 30.1, 15.0), "list", "log", "log"),
        ((1.0, 2.0, 4.0), "log", "log", "linear"),
        ((0.0, 50.0, 100.0), "list", "linear", "linear"),
        ((-1.0, 50.0, 100.0), "lin", "linear", "linear"),
        ((50.0,), "list", "linear", "linear"),
    ],
)
def test_an_axis_is_logarithmic_beyond_a_factor_of_thirty(
    figure: Callable[..., Any], values: tuple[float, ...], spacing: str, x_scale: str, y_scale: str
) -> None:
    x = axis("x", *values, spacing=spacing)
    (ax,) = figure([x], rows_of([x], lambda x: {"a": x}), ["a"]).axes
    assert (ax.get_xscale(), ax.get_yscale()) == (x_scale, y_scale)
    fitted = x_scale == "log"
    assert len(ax.lines) == 1 + fitted and (ax.get_legend() is not None) is fitted


def test_the_fitted_line_is_the_power_law_with_its_interval(figure: Callable[..., Any]) -> None:
    x = axis("x", 1.0, 10.0, 100.0, spacing="log")
    (ax,) = figure([x], rows_of([x], lambda x: {"a": 3 * x**-0.5}), ["a"]).axes
    points, fitted = ax.lines
    assert fitted.get_ydata() == pytest.approx(points.get_ydata()) and fitted.get_xdata() == pytest.approx([1, 10, 100])
    assert fitted.get_label() == "exponent -0.5 in [-0.5, -0.5]"
    (ax,) = figure([x], rows_of([x], lambda x: {"a": -x}), ["a"]).axes
    assert len(ax.lines) == 1, "what is negative has no power"


def test_a_heat_map_has_the_first_axis_across_and_the_second_upwards(figure: Callable[..., Any]) -> None:
    x, y = axis("x", 1.0, 2.0, 4.0), axis("y", 5.0, 3.0)
    failing = rows_of([x, y], lambda x, y: None if (x, y) == (2.0, 3.0) else {"a": x + 10 * y})
    fig = figure([x, y], failing, ["a"])
    ax, bar = fig.axes
    (image,) = ax.images
    seen = image.get_array()
    assert seen.filled(-1).tolist() == [[51, 52, 54], [31, -1, 34]] and not isinstance(image.norm, LogNorm)
    assert image.origin == "lower" and (ax.get_xlabel(), ax.get_ylabel(), bar.get_ylabel()) == ("x", "y", "a")
    for place, ticks, labels in ((ax.xaxis, [0, 1, 2], ["1", "2", "4"]), (ax.yaxis, [0, 1], ["5", "3"])):
        assert place.get_ticklocs().tolist() == ticks and [t.get_text() for t in place.get_ticklabels()] == labels
    assert not any(line.get_visible() for line in ax.get_xgridlines())
    wide = figure([x, y], rows_of([x, y], lambda x, y: {"a": x * y**4}), ["a"])
    (image,) = wide.axes[0].images
    assert isinstance(image.norm, LogNorm) and (image.norm.vmin, image.norm.vmax) == (81, 2500)


def test_of_a_long_axis_six_places_are_named_the_ends_among_them(figure: Callable[..., Any]) -> None:
    x, y = axis("x", *map(float, range(11))), axis("y", *map(float, range(6)))
    ax, _ = figure([x, y], rows_of([x, y], lambda x, y: {"a": x - y}), ["a"]).axes
    assert ax.get_xticks().tolist() == [0, 2, 4, 6, 8, 10] and ax.get_yticks().tolist() == list(range(6))
    assert [t.get_text() for t in ax.get_xticklabels()] == ["0", "2", "4", "6", "8", "10"]


def test_further_axes_stay_at_their_first_value_and_single_values_are_no_axis(figure: Callable[..., Any]) -> None:
    x, y, z, one = axis("x", 1.0, 2.0), axis("y", 3.0, 4.0), axis("z", 7.0, 8.0), axis("one", 0.5)
    axes = [one, x, y, z]
    fig = figure(axes, rows_of(axes, lambda one, x, y, z: {"a": 100 * x + 10 * y + z}), ["a"])
    assert fig.axes[0].images[0].get_array().tolist() == [[137, 237], [147, 247]]
    assert fig.get_suptitle() == "title (one = 0.5, z = 7)"
    axes = [one, z]
    fig = figure(axes, rows_of(axes, lambda one, z: {"a": z}), ["a"])
    (ax,) = fig.axes
    assert ax.lines[0].get_xdata().tolist() == [7, 8] and ax.get_xlabel() == "z"
    assert fig.get_suptitle() == "title (one = 0.5)"
    fig = figure([one], rows_of([one], lambda one: {"a": one}), ["a"])
    assert fig.get_suptitle() == "title" and fig.axes[0].lines[0].get_xdata().tolist() == [0.5]


@pytest.mark.parametrize(("count", "rows", "columns"), [(1, 1, 1), (2, 1, 2), (3, 2, 2), (4, 2, 2), (5, 3, 2)])
def test_panels_stand_in_two_columns_and_none_is_empty(
    figure: Callable[..., Any], count: int, rows: int, columns: int
) -> None:
    x, names = axis("x", 1.0, 2.0), [f"a{k}" for k in range(count)]
    fig = figure([x], rows_of([x], lambda x: dict.fromkeys(names, x)), names)
    shapes = {ax.get_gridspec().get_geometry() for ax in fig.axes}
    assert shapes == {(rows, columns)} and [ax.axison for ax in fig.axes] == [True] * count + [False] * (
        count % 2 > 0 < count - 1
    )


def test_nothing_is_drawn_where_all_points_failed(tmp_path: Path) -> None:
    x = axis("x", 1.0, 2.0)
    assert draw([x], rows_of([x], lambda x: None), ["a"], "title", tmp_path / "none") == []
    assert plot.table_of([x], rows_of([x], lambda x: None)) == {}
    assert plot.table_of([x], rows_of([x], lambda x: {"a": x})) == {(1.0,): {"a": 1.0}, (2.0,): {"a": 2.0}}


# ---- which exponents are fitted --------------------------------------------------------------------------------------


def test_a_law_says_where_it_was_fitted_and_how_far_a_point_is_from_it() -> None:
    x, y = axis("x", 1.0, 2.0, 4.0, 8.0), axis("y", 5.0)
    rows = rows_of([y, x], lambda y, x: {"a": 3 * x**1.5 * (1.1 if x == 4 else 1)})
    (law,) = exponents([y, x], rows, ["a"])
    fit = fit_power_law(x.values, [row["result"]["final"]["a"] for row in rows])
    gaps = [
        abs(np.log(row["result"]["final"]["a"] / (fit.prefactor * row["parameters"]["x"] ** fit.value))) for row in rows
    ]
    assert law == {
        "observable": "a",
        "over": "x",
        "at": {"y": 5.0},
        "value": fit.value,
        "low": fit.low,
        "high": fit.high,
        "prefactor": fit.prefactor,
        "misfit": pytest.approx(max(gaps)),
        "points": 4,
    }
    assert max(gaps) > 0.02


@pytest.mark.parametrize(
    ("function", "fitted"),
    [
        (lambda x: {"a": x}, True),
        (lambda x: {"a": x if x != 4 else None}, False),
        (lambda x: None if x == 4 else {"a": x}, True),
        (lambda x: None if x >= 4 else {"a": x}, False),
        (lambda x: {"a": x - 1}, False),
        (lambda x: {"a": x if x != 4 else float("inf")}, False),
        (lambda x: {"a": x if x != 4 else float("nan")}, False),
        (lambda x: {"a": 2.0}, False),
        (lambda x: {"a": 2.0 + 1e-9 * x}, True),
        (lambda x: {"a": 2.0 + 1e-10 * x}, False),
    ],
)
def test_a_power_needs_three_positive_points_that_move(function: Callable[..., Any], fitted: bool) -> None:
    x = axis("x", 1.0, 2.0, 4.0, 8.0)
    rows = rows_of([x], function)
    names = ["a"] if observables(rows) else []
    assert bool(exponents([x], rows, names)) is fitted
    shifted = axis("x", 0.0, 1.0, 2.0, 4.0)
    assert exponents([shifted], rows_of([shifted], lambda x: {"a": x + 1}), ["a"]) == [], "zero has no logarithm"


def test_an_observable_is_a_number_at_every_point() -> None:
    values = {"float": 1.5, "whole": 3, "truth": True, "text": "x", "nothing": None}
    rows = rows_of([axis("x", 1.0, 2.0)], lambda x: {**values, **({"late": 1.0} if x > 1 else {})})
    assert observables(rows) == ["float", "whole"] and observables([]) == []
