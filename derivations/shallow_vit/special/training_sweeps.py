"""Stopping times and test losses over fractions, samples, errors; here because sample complexity is claimed.

A case with all its seeds is a cell of `numerics.sweeps.cells`: the results do not depend on the number of processes,
and with a folder `store` an interrupted sweep goes on where it was.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from odesys import IntegrationError, PowerLaw, Progress, fit_power_law, fit_power_law_of_means, run_cells, silent

from ..setting import Case
from . import many_networks

Cell = tuple[Case, tuple[int, ...]]
KINDS = 4  # steps of the fraction of label-relevant tokens to either side, as in the claims


def stopping_time(cell: Cell) -> list[float]:
    """eta T of the seeds on the two exact samples; infinite if the steps were not enough."""
    case, seeds = cell
    law = many_networks.exact_law(case)
    run = many_networks.train_many(case, law, np.full((len(seeds), 2), 0.5), many_networks.starts(case, seeds))
    return [
        float(case.eta * steps) if fitted else math.inf for steps, fitted in zip(run.steps, run.fitted, strict=True)
    ]


def generalisation(cell: Cell) -> list[float]:
    """The exact risk of the seeds, each trained on N samples of its own whose fractions scatter by `jitter`."""
    case, seeds = cell
    return over_sizes((case, (case.N,), seeds))[0]


def over_sizes(cell: tuple[Case, tuple[int, ...], tuple[int, ...]]) -> list[list[float]]:
    """The same for several N, a row for each: all networks of a case are trained together.

    The last step is cut where the last margin is reached: whole steps leave margin over, the more the larger eta is.
    """
    case, sizes, seeds = cell
    law = many_networks.fluctuating(case, case.jitter, KINDS)
    shares = np.stack([law.drawn(N, np.random.default_rng([seed, 7])) for N in sizes for seed in seeds])
    start = many_networks.starts(case, [seed for _ in sizes for seed in seeds])
    run = many_networks.train_many(case, law, shares, start, sharp=True)
    return [[float(risk) for risk in row] for row in run.risk(law).reshape(len(sizes), len(seeds))]


@dataclass(frozen=True, eq=False)
class Sweep:
    """Values of some cases, one row per case and one column per seed."""

    cases: tuple[Case, ...]
    values: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Mean over the seeds."""
        return self.values.mean(axis=1)

    def law(self, x: Sequence[float], which: slice = slice(None)) -> PowerLaw:
        """The power of x in the values, all seeds of the chosen cases, with its 95 percent interval."""
        xs, ys = np.asarray(x, dtype=float)[which], self.values[which]
        if not np.isfinite(ys).all():
            raise IntegrationError(f"{int((~np.isfinite(ys)).sum())} runs did not reach their margins; raise steps")
        return fit_power_law(np.repeat(xs, ys.shape[1]).tolist(), ys.ravel().tolist())

    def mean_law(self, x: Sequence[float]) -> PowerLaw:
        """The power of x in the means over the seeds: for losses, which can be zero."""
        return fit_power_law_of_means(list(x), self.values)


def stopping_times(
    cases: Sequence[Case], seeds: int = 1, progress: Progress = silent, workers: int = 1, store: Path | None = None
) -> Sweep:
    """eta T for all cases and seeds."""
    return _sweep(stopping_time, cases, seeds, progress, workers, store, "stopping times")


def test_losses(
    cases: Sequence[Case], seeds: int = 3, progress: Progress = silent, workers: int = 1, store: Path | None = None
) -> Sweep:
    """Test losses after training to zero training loss."""
    return _sweep(generalisation, cases, seeds, progress, workers, store, "test losses")


def _sweep(
    of: Callable[[Cell], list[float]],
    cases: Sequence[Case],
    seeds: int,
    progress: Progress,
    workers: int,
    store: Path | None,
    what: str,
) -> Sweep:
    cells = [(case, tuple(range(case.seed, case.seed + seeds))) for case in cases]
    return Sweep(
        tuple(cases), np.array(run_cells(of, cells, progress, workers, store, what)).reshape(len(cases), seeds)
    )


def thresholds(sizes: Sequence[int], losses: np.ndarray, level: float) -> float:
    """The number of samples at which the mean loss falls through a level, interpolated in logarithms; nan if not seen.

    `losses` has one row per size, one column per seed; the last fall counts.
    """
    mean = np.maximum(losses.mean(axis=1), 1e-300)
    above = np.flatnonzero(mean > level)
    if not above.size:
        return float(sizes[0])
    k = int(above[-1])
    if k + 1 >= len(sizes):
        return math.nan
    low, high = math.log(mean[k]), math.log(mean[k + 1])
    part = (low - math.log(level)) / (low - high)
    return float(math.exp(math.log(sizes[k]) + part * (math.log(sizes[k + 1]) - math.log(sizes[k]))))


# ---- the schemes of figure 2 -----------------------------------------------------------------------------------------

BASE = Case(m=500, m_a=5, m_b=5, eta=0.1, steps=5000, seed=3)


def scheme(name: str, base: Case = BASE) -> list[Case]:
    """Cases along alpha_*: without confusion tokens, with alpha_# = alpha_*/4, or with alpha_nd = 1/2."""
    if name == "none":
        pairs = [(a, 0.0) for a in (0.8, 0.6, 0.4, 0.3, 0.2, 0.1, 0.05)]
    elif name == "quarter":
        pairs = [(a, a / 4) for a in (0.64, 0.4, 0.3, 0.2, 0.1)]
    else:
        pairs = [(a, 0.5 - a) for a in (0.45, 0.4, 0.375, 0.35, 0.325, 0.3)]
    return [replace(base, alpha_s=a, alpha_c=max(0.0, c)) for a, c in pairs]


SCHEMES = {"none": r"$\alpha_\# = 0$", "quarter": r"$\alpha_\# = \alpha_*/4$", "half": r"$\alpha_{nd} = 1/2$"}
