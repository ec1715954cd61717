r"""Theory against finite width: deviations over widths and seeds, and the fitted power law with its interval.

.. math::  \text{deviation}(m) \sim C\,m^{\alpha}, \qquad \alpha \text{ from a straight line in logarithms, all seeds.}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from odesys.errors import ParameterError
from odesys.workers import cores

from .cells import run_cells, task_name, unfinished


@dataclass(frozen=True)
class PowerLaw:
    """Fitted exponent with its 95 percent interval, and the prefactor."""

    value: float
    low: float
    high: float
    prefactor: float

    @property
    def half_width(self) -> float:
        """Half the length of the interval."""
        return (self.high - self.low) / 2


def fit_power_law(x: Sequence[float], y: Sequence[float]) -> PowerLaw:
    """Least-squares line through (log x, log y); the interval is Student's for the slope."""
    if len(set(x)) < 2:
        raise ParameterError("an exponent needs at least two different widths")
    fit = stats.linregress(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)))
    slope, prefactor = float(fit.slope), float(np.exp(fit.intercept))
    margin = float(stats.t.ppf(0.975, len(x) - 2)) * float(fit.stderr) if len(x) > 2 else float("inf")
    return PowerLaw(slope, slope - margin, slope + margin, prefactor)


def fit_power_law_of_means(x: Sequence[float], values: np.ndarray, draws: int = 2000, seed: int = 0) -> PowerLaw:
    """The power of x in the means of the rows of `values` (points, repeats); values may be zero, their means not.

    The interval is the 95 percent one of the bootstrap over repeats: whole columns are drawn again, so what the
    repeats share from point to point stays together.

    >>> law = fit_power_law_of_means([1, 2, 4], np.array([[1.0, 3.0], [4.0, 4.0], [0.0, 16.0]]))
    >>> round(law.value, 10), law.low <= law.value <= law.high
    (1.0, True)
    """
    table = np.asarray(values, dtype=float)
    if table.ndim != 2 or len(table) != len(x) or len(set(x)) < 2:
        raise ParameterError(
            f"a power needs one row of values a point and two different points, not {table.shape} "
            f"values at {len(x)} points"
        )
    means = table.mean(axis=1)
    if not (means > 0).all():
        raise ParameterError(
            f"the mean at x = {x[int(np.argmin(means))]:g} is {means.min():g}; a power law needs positive means"
        )
    repeats = table.shape[1]
    picks = np.random.default_rng(seed).integers(repeats, size=(draws, repeats))
    drawn = table[:, picks].mean(axis=2)  # (points, draws)
    drawn = drawn[:, (drawn > 0).all(axis=0)]
    logs = np.log(np.asarray(x, dtype=float))
    weights = (logs - logs.mean()) / ((logs - logs.mean()) ** 2).sum()
    low, high = np.quantile(weights @ np.log(drawn), [0.025, 0.975]) if repeats > 1 else (-np.inf, np.inf)
    slope = float(weights @ np.log(means))
    return PowerLaw(slope, float(low), float(high), float(np.exp(np.log(means).mean() - slope * logs.mean())))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Deviations of networks from the infinite-width flow: `deviations[width]` has one number a seed."""

    what: str
    parameters: Mapping[str, Any]
    seeds: tuple[int, ...]
    deviations: Mapping[int, np.ndarray]

    @property
    def exponent(self) -> PowerLaw | None:
        """Exponent of the width, or None for a single width."""
        if len(self.deviations) < 2:
            return None
        pairs = [(width, value) for width, values in self.deviations.items() for value in values]
        return fit_power_law([w for w, _ in pairs], [v for _, v in pairs])

    def rows(self) -> list[dict[str, float]]:
        """Mean deviation a width with its 95 percent interval (Student's)."""
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
        }

    def plot(self, folder: Path) -> list[Path]:
        """Deviation against width, every seed a dot, with the fitted line."""
        from .plotting import figure, save

        fig, ax = figure()
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
        ax.legend()
        return save(fig, folder, "deviation")


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
    """
    if seeds < 1:
        raise ParameterError(f"{seeds} seeds give no statistics; use at least 1")
    jobs = [(int(width), seed) for width in sorted(set(widths)) for seed in range(seeds)]
    with unfinished(task_name("compare", measure)) as store:
        found = run_cells(partial(_measured, measure), jobs, progress, workers or cores(), store, "networks")
    values = dict(zip(jobs, found, strict=True))
    table = {w: np.array([values[w, s] for s in range(seeds)]) for w in sorted(set(map(int, widths)))}
    return Comparison(what, parameters, tuple(range(seeds)), table)


def _measured(measure: Callable[[int, int], float], pair: tuple[int, int]) -> float:
    """One number of a comparison."""
    return float(measure(*pair))
