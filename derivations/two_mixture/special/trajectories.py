"""Runs of a laboratory's systems through three stages; here because training switches weights and samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from odesys import IntegrationError, StopWhen, Trajectory, computed_once, integrate

from ..laboratory import Laboratory

RTOL = 1e-11
BIAS = 0.5  # where a bias is not swept
LONGEST = 50.0  # stage 2 is given up after so many log(e/omega^2)/kappa, with the rate kappa = n_c/18
GRID = ((0.1, 20.0), (0.05, 20.0), (0.01, 20.0), (0.1, 3.0), (0.01, 3.0))  # (omega, T1)


@dataclass(frozen=True, eq=False)
class StageTwo:
    """Stage 2 from T1 to the time when M_cv_same = x_star: times since T1 and states by name, without the start."""

    omega: float
    b: float
    start: np.ndarray
    run: Trajectory

    @property
    def duration(self) -> float:
        """T2 - T1."""
        return self.run.end_time - self.run.times[0]

    def column(self, name: str, points: int = 400) -> np.ndarray:
        """One state along a fine grid after T1."""
        return self.table(points)[:, self.run.names.index(name)]

    def table(self, points: int = 400) -> np.ndarray:
        """All states on a grid that is dense near T1, where everything starts at zero."""
        return _table(self, points)

    def times(self, points: int = 400) -> np.ndarray:
        """Grid of times after T1."""
        fraction = np.concatenate([np.geomspace(1e-3, 0.05, points // 4), np.linspace(0.05, 1.0, points)])
        return np.minimum(self.run.times[0] + self.duration * fraction, self.run.end_time)


@lru_cache(maxsize=128)
def _table(stage: StageTwo, points: int) -> np.ndarray:
    """Many claims read the same runs on the same grid; what they have in common is not written to."""
    found = stage.run.at(stage.times(points))
    found.flags.writeable = False
    return found


@computed_once
def stage_two(lab: Laboratory, omega: float = 0.1, T1: float = 20.0, x_star: float = 1.0, b: float = BIAS) -> StageTwo:
    """Integrate stage 1 to T1 and stage 2 until the score of c1 for v1 is x_star."""
    first = lab.reduced("stage1")
    begin = integrate(first.system, first.initial_state(omega), (0.0, T1), {"b": b}, rtol=RTOL).end_state
    learned = StopWhen("T2", "M_cv_same", direction=1, level=x_star)
    kappa = abs(float(begin[first.system.names.index("n_c")])) / 18
    end = T1 + LONGEST * (1 - 2 * np.log(omega)) / max(kappa, 1e-6)
    run = integrate(lab.reduced("stage2").system, begin, (T1, end), {"b": b}, rtol=RTOL, events=[learned])
    if run.stop != "event:T2":
        raise IntegrationError(f"stage 2 does not reach x* = {x_star:g} ({run.stop})", time=run.end_time)
    return StageTwo(omega, b, begin, run)


@computed_once
def stage_three(
    lab: Laboratory, omega: float, T1: float, x_star: float, duration: float, b: float = BIAS
) -> Trajectory:
    """Integrate stage 3 for a given time after T2."""
    second = stage_two(lab, omega, T1, x_star, b).run
    span = (second.end_time, second.end_time + duration)
    return integrate(lab.reduced("stage3").system, second.end_state, span, {"b": b}, rtol=1e-9)
