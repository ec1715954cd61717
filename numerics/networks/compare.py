r"""Theory against finite width: deviations over widths and seeds, and the fitted power law with its interval.

.. math::  \text{deviation}(m) \sim C\,m^{\alpha}, \qquad \alpha \text{ from a straight line in logarithms, all seeds.}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from odesys.errors import ParameterError
from odesys.papers.workers import available_cores
from odesys.terminal import Progress, silent

from ..sweeps.cells import run_cells, task_name, unfinished_cells
from ..sweeps.power_law import PowerLaw, fit_power_law

MOST_TICKS = 6  # widths that are named below the axis


@dataclass(frozen=True, eq=False)
class Comparison:
    """Deviations of networks from the infinite-width flow: `deviations[width]` has one number per seed.

    Parameters
    ----------
    what : str
        What was compared, in words.
    parameters : Mapping[str, Any]
        The parameters of the comparison.
    seeds : tuple[int, ...]
        The seeds of the networks.
    deviations : Mapping[int, np.ndarray]
        One number per seed, by width.
    explained : str, optional
        Which exponent is expected, and why.

    Examples
    --------
    >>> import numpy as np
    >>> found = Comparison("distance", {}, (0, 1), {4: np.array([0.5, 0.5]), 16: np.array([0.25, 0.25])})
    >>> round(found.exponent.value, 9), found.rows()[1]["mean"]
    (-0.5, 0.25)
    """

    what: str
    parameters: Mapping[str, Any]
    seeds: tuple[int, ...]
    deviations: Mapping[int, np.ndarray]
    explained: str = ""

    @property
    def exponent(self) -> PowerLaw | None:
        """Exponent of the width, or None for a single width."""
        if len(self.deviations) < 2:
            return None
        pairs = [(width, value) for width, values in self.deviations.items() for value in values]
        return fit_power_law([w for w, _ in pairs], [v for _, v in pairs])

    def rows(self) -> list[dict[str, float]]:
        """Mean deviation per width with its 95 percent interval (Student's)."""
        out = []
        for width, values in self.deviations.items():
            mean, count = float(values.mean()), len(values)
            spread = float(values.std(ddof=1) / np.sqrt(count)) if count > 1 else float("nan")
            margin = float(stats.t.ppf(0.975, count - 1)) * spread if count > 1 else float("nan")
            rms = float(np.sqrt((values**2).mean()))
            out.append({"width": width, "mean": mean, "low": mean - margin, "high": mean + margin, "rms": rms})
        return out

    def as_json(self, paper: str) -> dict[str, Any]:
        """The documented result of ``odesys compare``."""
        law = self.exponent
        return {
            "paper": paper,
            "what": self.what,
            "parameters": dict(self.parameters),
            "seeds": list(self.seeds),
            "deviation": self.rows(),
            "exponent": None if law is None else {"value": law.value, "low": law.low, "high": law.high},
            "explained": self.explained,
        }

    def plot(self, folder: Path) -> list[Path]:
        """Deviation against width, every seed a dot, with the fitted line."""
        from ..pictures.plotting import new_figure, save_figure

        fig, ax = new_figure()
        for width, values in self.deviations.items():
            ax.loglog([width] * len(values), values, ".", color="0.65", zorder=1)
        rows = self.rows()
        widths = np.array([row["width"] for row in rows])
        mean = np.array([row["mean"] for row in rows])
        ax.errorbar(
            widths,
            mean,
            yerr=[mean - [r["low"] for r in rows], np.array([r["high"] for r in rows]) - mean],
            fmt="o",
            color="C0",
            capsize=3,
            label="mean, 95 % interval",
            zorder=3,
        )
        law = self.exponent
        if law is not None:
            margin = rf"\pm{law.half_width:.3f}" if np.isfinite(law.half_width) else ""
            ax.loglog(
                widths, law.prefactor * widths**law.value, "--", color="C3", label=f"$m^{{{law.value:.3f}{margin}}}$"
            )
        ax.set(xlabel="width $m$", ylabel=self.what)
        if len(rows) <= MOST_TICKS:  # those of a logarithmic axis would stand in each other within two decades
            ax.set_xticks(widths, [f"{width:g}" for width in widths])
            ax.set_xticks([], minor=True)
        ax.legend()
        return save_figure(fig, folder, "deviation")


@dataclass(frozen=True)
class WidthMeasure:
    """What a comparison measures: in words, the parameters it tells of, and a number for a width and a seed.

    Parameters
    ----------
    what : str
        What is measured, in words.
    parameters : Mapping[str, Any]
        What the result tells of.
    measure : Callable[[int, int], float]
        The number for a width and a seed.
    explained : str, optional
        Which exponent is expected, and why, in a sentence.

    Examples
    --------
    >>> error = WidthMeasure("error", {"omega": 0.1}, measure=lambda width, seed: width**-0.5)
    >>> error.measure(16, 0)
    0.25
    """

    what: str
    parameters: Mapping[str, Any]
    measure: Callable[[int, int], float]
    explained: str = ""


def over_widths(prepare: Callable[[list[int], Mapping[str, Any]], WidthMeasure]) -> Callable[..., Comparison]:
    """Make the comparison of a paper from a function that checks widths and parameters and says what is measured.

    Parameters
    ----------
    prepare : Callable[[list[int], Mapping[str, Any]], WidthMeasure]
        Checks widths and parameters, and says what is measured.

    Returns
    -------
    Callable[..., Comparison]
        A function (widths, seeds, parameters, progress), as `Paper.compare` wants it.

    Examples
    --------
    >>> @over_widths
    ... def compare(widths, parameters):
    ...     return WidthMeasure("error", parameters, lambda width, seed: width**-0.5)
    >>> round(compare([4, 16, 64], 2, {}, workers=1).exponent.value, 9)
    -0.5
    """

    @wraps(prepare)
    def compare(
        widths: list[int],
        seeds: int,
        parameters: Mapping[str, Any],
        progress: Progress = silent,
        workers: int | None = None,
    ) -> Comparison:
        found = prepare(widths, parameters)
        done = compare_widths(found.what, widths, seeds, found.parameters, found.measure, progress, workers)
        return replace(done, explained=found.explained)

    return compare


def compare_widths(
    what: str,
    widths: Sequence[int],
    seeds: int,
    parameters: Mapping[str, Any],
    measure: Callable[[int, int], float],
    progress: Callable[[str, float], None],
    workers: int | None = None,
) -> Comparison:
    """Call `measure(width, seed)` for every pair; results do not depend on the number of worker processes.

    `measure` must be a picklable function (a module-level function or a partial of one). What is finished when someone
    interrupts is kept, and the next call with the same `measure` goes on from there; a local function, which can only
    be called with one worker, is called anew.

    Parameters
    ----------
    what : str
        What is measured, in words.
    widths : Sequence[int]
        Widths of the networks.
    seeds : int
        How many networks per width.
    parameters : Mapping[str, Any]
        What the result tells of.
    measure : Callable[[int, int], float]
        A picklable function of width and seed.
    progress : Callable[[str, float], None]
        Told which pair is done, and the fraction of all.
    workers : int, optional
        Processes; by default all cores.

    Returns
    -------
    Comparison
        Deviations by width and seed, with the fitted exponent.

    Examples
    --------
    >>> from odesys import silent
    >>> found = compare_widths("error", [4, 16, 64], 2, {}, lambda width, seed: width**-0.5, silent, workers=1)
    >>> round(found.exponent.value, 9)
    -0.5
    """
    if seeds < 1:
        raise ParameterError(f"{seeds} seeds give no statistics; use at least 1")
    jobs = [(int(width), seed) for width in sorted(set(widths)) for seed in range(seeds)]
    with unfinished_cells(task_name("compare", measure)) as store:
        found = run_cells(partial(_measured, measure), jobs, progress, workers or available_cores(), store, "networks")
    values = dict(zip(jobs, found, strict=True))
    table = {w: np.array([values[w, s] for s in range(seeds)]) for w in sorted(set(map(int, widths)))}
    return Comparison(what, parameters, tuple(range(seeds)), table)


def _measured(measure: Callable[[int, int], float], pair: tuple[int, int]) -> float:
    """One number of a comparison."""
    return float(measure(*pair))
