r"""Heat maps of the test loss: a table of cases, cell by cell, over several processes, and resumable.

A cell is measured by a `Theory` (the mean-field system) or by a `Trained` network; both are plain values, so that a
finished cell is known again by everything it depends on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from odesys import IntegrationError, Progress, run_cells, silent

from .. import dynamics
from ..setting import Case
from ..special import mean_field, span_network


class Measure(Protocol):
    """Test loss of a case; its repr says everything the answer depends on besides the case."""

    def __call__(self, case: Case) -> float: ...

    def prepare(self, cases: Sequence[Case]) -> None: ...


@dataclass(frozen=True)
class Theory:
    """The mean-field system at training loss eps."""

    eps: float

    def __call__(self, case: Case) -> float:
        return mean_field.test_loss(case, self.eps)

    def prepare(self, cases: Sequence[Case]) -> None:
        """Derive the equations once, before the processes are made."""
        for M in {case.M for case in cases}:
            dynamics.mean_field(M, True)


@dataclass(frozen=True)
class Trained:
    """A network trained by gradient descent to training loss eps; the test loss is over fresh samples.

    `rate` is the step size times the largest squared length.
    """

    eps: float
    rate: float
    steps: int = 20_000
    tests: int = 400
    seed: int = 0

    def __call__(self, case: Case) -> float:
        run = span_network.descend(span_network.draw(case, self.seed), self.rate / case.largest, self.eps, self.steps)
        if run.stages["T3"] is None:
            raise IntegrationError(
                f"the network with N = {case.N}, SNR = {case.snr:g} has training loss {run.loss:g} "
                f"after {run.steps} steps, above eps = {self.eps:g}; allow more steps",
                time=run.tau,
            )
        return span_network.test_loss(run, self.tests, self.seed).loss

    def prepare(self, cases: Sequence[Case]) -> None:
        """Nothing is shared between networks."""


def heat_map(
    cases: Sequence[Sequence[Case]],
    measure: Measure,
    progress: Progress = silent,
    workers: int = 1,
    store: Path | None = None,
) -> np.ndarray:
    """Test losses of a table of cases.

    With a folder `store` finished cells are kept there, and a later call goes on where this one was interrupted. The
    numbers do not depend on the number of processes.
    """
    flat = [(i, j, case) for i, line in enumerate(cases) for j, case in enumerate(line)]
    flat.sort(key=lambda cell: -cell[2].P)  # the longest first, so that processes end together
    measure.prepare([case for *_, case in flat])
    found = run_cells(measure, [case for *_, case in flat], progress, workers, store, "heat map")
    table = np.empty((len(cases), len(cases[0])))
    for (i, j, _), loss in zip(flat, found, strict=True):
        table[i, j] = loss
    return table
