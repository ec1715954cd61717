r"""The network against the recursion where supports overlap; here because the recursion is exact for disjoint ones.

A coordinate that several samples have moves with the sign of their weighted sum, so inner products move by less than
:math:`\eta\|\xi_i\|_1`, and the reduced recursion (exact for disjoint supports) is only a model of the network.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from odesys import Progress, silent

from ..setting import Case
from . import network, recursion, stages
from .network import Optimiser, Training
from .recursion import Run
from .training_sets import make


@dataclass(frozen=True)
class OverlapReport:
    """Network against reduced recursion from the same weights.

    shared       part of a support that others have too, mean over samples
    speed        mean of |change of q| per step over eta |xi|_1 while queries rise (1 if disjoint)
    value_speed  the same of v_i over 2 eta |xi|_1
    turned       part of all pairs whose query noise has another sign than in the recursion, at T_f
    noise        root mean square of the deviations of q and k over that of the recursion's, at T_f, and largest later
    loss         largest |log10| of the ratio of the training losses
    """

    shared: float
    speed: float
    value_speed: float
    turned: float
    noise_at_flip: float
    noise: float
    loss: float
    flips: dict[str, float]
    reduced_flips: dict[str, float]

    def sentence(self) -> str:
        """One sentence for people."""
        if self.shared == 0:
            return f"supports are disjoint: network and recursion differ by {self.noise:.1e} of the noise products"
        text = (
            f"supports overlap ({100 * self.shared:.0f} percent of a support is shared), so the reduced recursion "
            f"is not exact: {100 * self.turned:.1f} percent of the pairs have another sign, noise products are off "
            f"by {100 * self.noise_at_flip:.0f} percent (root mean square) at T_f or the end"
        )
        if math.isfinite(self.speed):
            text += f"; queries move at {self.speed:.2f} of full speed"
        if math.isfinite(self.flips["key_flip"]) and math.isfinite(self.reduced_flips["key_flip"]):
            text += (
                f"; the key flip is at step {self.flips['key_flip']:.0f} instead of "
                f"{self.reduced_flips['key_flip']:.0f}"
            )
        return text


def report(training: Training, reduced: Run) -> OverlapReport:
    """The report of a network run and the recursion started from its projected weights, recorded at the same steps."""
    run, data = training.run, training.data
    unit = stages.flip_unit(run.start, run.eta)
    size = np.sqrt((reduced.q**2 + reduced.k**2).mean(axis=(1, 2)))
    gap = np.sqrt(((run.q - reduced.q) ** 2 + (run.k - reduced.k) ** 2).mean(axis=(1, 2))) / size
    at = run.index(unit)
    early = (run.times >= 0.3 * unit) & (run.times <= 0.7 * unit)
    inside = np.flatnonzero(early[:-1] & early[1:])
    span = np.diff(run.times)[inside][:, None, None]
    moves = np.abs(np.diff(run.q, axis=0)[inside]) / (span * run.eta * data.norms)
    values = (run.v[-1] - run.v[0]) / (2 * run.eta * run.times[-1] * data.norms)
    names = ("key_flip", "query_flip", "key_zero", "query_zero")
    found, theory = (stages.flips(x, stages.REFERENCE * unit) for x in (run, reduced))
    return OverlapReport(
        float(data.shared.mean()),
        float(moves.mean()) if moves.size else float("nan"),
        float(values.mean()),
        float((run.q[at] * reduced.q[at] < 0).mean()),
        float(gap[at]),
        float(gap[at:].max()),
        float(np.abs(np.log10(run.loss / reduced.loss)).max()),
        {name: getattr(found, name) for name in names},
        {name: getattr(theory, name) for name in names},
    )


def measure(
    case: Case, seed: int, eta: float, steps: int, record: int = 1, progress: Progress = silent
) -> tuple[Training, Run, OverlapReport]:
    """Train a network by sign descent, run the recursion from its weights, and compare."""
    data = make(case, (seed, 0))
    weights = network.gaussian(case, (seed, 1))
    trained = network.train(data, weights, Optimiser("signgd", eta), steps, record, progress=progress, seed=seed)
    reduced = recursion.descend(recursion.project(data, weights), eta, steps, record)
    return trained, reduced, report(trained, reduced)


def over_dimension(
    case: Case, dimensions: Sequence[int], seeds: int, eta: float, progress: Progress = silent
) -> list[dict[str, float]]:
    """Shared fraction and deviations at the key flip for growing d with n, s, m_k fixed: supports become disjoint."""
    rows = []
    for k, d in enumerate(dimensions):
        for seed in range(seeds):
            here = replace(case, d=d, sigma_0=case.sigma_0)
            steps = round(1.3 * here.flip_time(eta))
            _, _, found = measure(here, seed, eta, steps)
            rows.append(
                {
                    "d": float(d),
                    "seed": float(seed),
                    "shared": found.shared,
                    "speed": found.speed,
                    "turned": found.turned,
                    "noise": found.noise_at_flip,
                    "loss": found.loss,
                }
            )
        progress("networks", (k + 1) / len(dimensions))
    return rows
