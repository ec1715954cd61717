"""A run as a picture: curves over time, with switches and slides marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from odesys.expr.system import TIME

from ..flows.trajectory import StagedTrajectory, observable_names, observable_table
from .plotting import new_figure

if TYPE_CHECKING:
    from ..flows.trajectory import Trajectory

MOST_CURVES = 8  # where none are named
POINTS = 400  # of a curve
SIZE = (6.0, 3.2)


def plot_run(run: Trajectory, names: Sequence[str], ax: Any, options: Mapping[str, Any]) -> Any:
    """The axes with one curve per name; see `Trajectory.plot`."""
    if not names:
        names = ["loss"] if "loss" in observable_names(run.system) else run.names[:MOST_CURVES]
    for name in names:
        run[name]  # a wrong name is refused before a figure is made
    times, columns = curves(run, names)
    if ax is None:
        _, ax = new_figure(size=SIZE)
    for name, values in columns.items():
        ax.plot(times, values, **{"label": name, **options})
    for event in run.events:
        if event.kind == "slide":
            ax.axvspan(event.time, event.detail["end"], color="0.5", alpha=0.2, linewidth=0)
        elif event.kind in ("switch", "stage"):
            ax.axvline(event.time, color="0.5", linewidth=0.6, linestyle=":")
    ax.set_xlabel("step" if run.system.kind == "map" else "t")
    if len(columns) == 1:
        ax.set_ylabel(next(iter(columns)))
    else:
        ax.legend(fontsize=8)
    return ax


def curves(run: Trajectory, names: Sequence[str]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Times and values of smooth curves: between recorded rows by dense output, where the run has it."""
    if isinstance(run, StagedTrajectory):
        parts = [curves(part, names) for part in run.parts.values()]
        return np.concatenate([t for t, _ in parts]), {n: np.concatenate([c[n] for _, c in parts]) for n in names}
    if run.solution is None:
        return run.times, {name: run[name] for name in names}
    times = np.union1d(run.times, np.linspace(run.start_time, run.end_time, POINTS))
    states = run.at(times)
    table = observable_table(run.system, run.parameters, times, states) if set(names) - set(run.names) else {}
    known = {**table, **dict(zip(run.names, states.T, strict=True)), TIME: times}
    return times, {name: known[name] for name in names}
