"""Pictures of a sweep: lines over one parameter, heat maps over two, and fitted exponents with their intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from ..pictures.plotting import new_figure, save_figure
from .power_law import fit_power_law
from .store import flat
from .sweep import Axis

PANELS_SHOWN = 4  # observables shown where none are asked for
LOG_AXIS_RATIO = 30.0  # ratio of largest to smallest value above which an axis is logarithmic
FEWEST_POINTS = 3  # points of a fit
SMALLEST_CHANGE = 1e-9  # relative change of an observable that does not move

Table = Mapping[tuple[Any, ...], Mapping[str, Any]]


def table_of(axes: Sequence[Axis], rows: Sequence[Mapping[str, Any]]) -> dict[tuple[Any, ...], Mapping[str, Any]]:
    """Results by grid point, without the points that failed."""
    return {tuple(row["parameters"][axis.name] for axis in axes): flat(row) for row in rows if not row["error"]}


def observables(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Columns with a number in every row that did not fail, in order."""
    done = [flat(row) for row in rows if not row["error"]]
    names = list(dict.fromkeys(name for columns in done for name in columns))
    return [name for name in names if all(_is_number(columns.get(name)) for columns in done)]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def exponents(axes: Sequence[Axis], rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[dict[str, Any]]:
    """Power laws along every axis with positive values, for each choice of the others; all points of a line count.

    `misfit` is the largest distance of a point from the line in natural logarithms: small only for a real power law.
    """
    table, found = table_of(axes, rows), []
    for k, axis in enumerate(axes):
        others = [a for i, a in enumerate(axes) if i != k]
        for name, rest in product(names, product(*(a.values for a in others))):
            points = [(x, table[key][name]) for x in axis.values if (key := (*rest[:k], x, *rest[k:])) in table]
            usable = len(points) >= FEWEST_POINTS and all(math.isfinite(y) and x > 0 and y > 0 for x, y in points)
            if not usable or max(y for _, y in points) < (1 + SMALLEST_CHANGE) * min(y for _, y in points):
                continue
            law = fit_power_law([x for x, _ in points], [y for _, y in points])
            misfit = max(abs(math.log(y / (law.prefactor * x**law.value))) for x, y in points)
            found.append(
                {
                    "observable": name,
                    "over": axis.name,
                    "at": {a.name: v for a, v in zip(others, rest, strict=True)},
                    "value": law.value,
                    "low": law.low,
                    "high": law.high,
                    "prefactor": law.prefactor,
                    "misfit": misfit,
                    "points": len(points),
                }
            )
    return found


def draw(
    axes: Sequence[Axis], rows: Sequence[Mapping[str, Any]], names: Sequence[str], title: str, folder: Path
) -> list[Path]:
    """Lines for one axis, a heat map for two; further axes stay at their first value."""
    table = table_of(axes, rows)
    if not table or not names:
        return []
    moving = sorted((a for a in axes if len(a.values) > 1), key=lambda a: axes.index(a))[:2] or list(axes[:1])
    still = {a.name: a.values[0] for a in axes if a not in moving}
    note = ", ".join(f"{name} = {value:g}" for name, value in still.items())
    columns = min(2, len(names))
    fig, panels = new_figure(math.ceil(len(names) / columns), columns, squeeze=False)
    for ax, name in zip(panels.flat, names, strict=False):
        values = {
            key: columns_of[name]
            for key, columns_of in table.items()
            if all(key[axes.index(a)] == still[a.name] for a in axes if a.name in still)
        }
        if len(moving) == 1:
            _lines(ax, axes, moving[0], values, name, rows)
        else:
            _heat_map(fig, ax, axes, moving, values, name)
    for ax in panels.flat[len(names) :]:
        ax.set_axis_off()
    fig.suptitle(title + (f" ({note})" if note else ""), fontsize=10)
    return save_figure(fig, folder, "sweep")


def _lines(
    ax: Any,
    axes: Sequence[Axis],
    axis: Axis,
    values: Mapping[tuple[Any, ...], float],
    name: str,
    rows: Sequence[Mapping[str, Any]],
) -> None:
    place = list(axes).index(axis)
    points = sorted((key[place], value) for key, value in values.items())
    x, y = np.array([p[0] for p in points], dtype=float), np.array([p[1] for p in points], dtype=float)
    ax.plot(x, y, "o-", markersize=3.5, color="C0")
    law = exponents(axes, rows, [name]) if len(axes) == 1 else []
    if axis.spacing == "log" or _wide(x):
        ax.set_xscale("log")
        if law:
            fitted = law[0]
            ax.plot(
                x,
                fitted["prefactor"] * x ** fitted["value"],
                "--",
                color="C3",
                linewidth=1,
                label=f"exponent {fitted['value']:.3g} in [{fitted['low']:.3g}, {fitted['high']:.3g}]",
            )
            ax.legend(fontsize=8)
    if _wide(y):
        ax.set_yscale("log")
    ax.set(xlabel=axis.name, ylabel=name)


def _heat_map(
    fig: Any, ax: Any, axes: Sequence[Axis], moving: Sequence[Axis], values: Mapping[tuple[Any, ...], float], name: str
) -> None:
    from matplotlib.colors import LogNorm

    first, second = (list(axes).index(axis) for axis in moving)
    grid = np.full((len(moving[1].values), len(moving[0].values)), np.nan)
    for key, value in values.items():
        grid[moving[1].values.index(key[second]), moving[0].values.index(key[first])] = value
    seen = grid[np.isfinite(grid)]
    norm = LogNorm(seen.min(), seen.max()) if seen.size and _wide(seen) else None
    image = ax.imshow(np.ma.masked_invalid(grid), origin="lower", aspect="auto", norm=norm, interpolation="nearest")
    fig.colorbar(image, ax=ax, label=name)
    for place, axis in ((ax.xaxis, moving[0]), (ax.yaxis, moving[1])):
        ticks = sorted({round(t) for t in np.linspace(0, len(axis.values) - 1, min(6, len(axis.values)))})
        place.set_ticks(ticks, [f"{axis.values[t]:.3g}" for t in ticks])
    ax.set(xlabel=moving[0].name, ylabel=moving[1].name, facecolor="0.85")
    ax.grid(False)


def _wide(values: np.ndarray) -> bool:
    values = values[np.isfinite(values)]
    return bool(values.size > 1 and values.min() > 0 and values.max() > LOG_AXIS_RATIO * values.min())
