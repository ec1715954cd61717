"""Two sizes of the figures: for the default page, and near the paper's own for reports of level ``full``."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ..setting import Case
from ..special import sparsify, training_sweeps

_MAP = Case(m=60, L=50, eta=0.4, filling="random", jitter=0.05, m_a=5, m_b=5, steps=3000)


@dataclass(frozen=True)
class Size:
    """How much is run: `suffix` of the file names, trials, the success level, and the cases the runs start from."""

    suffix: str
    trials: int
    level: float
    map: Case
    alphas: tuple[float, ...]
    samples: tuple[int, ...]
    sigmas: tuple[float, ...]
    times: Case  # stopping times
    etas: tuple[float, ...]
    removal: Case
    patterns: tuple[int, ...]  # M of figure 8
    spurious: Case


QUICK = Size(
    "",
    3,
    1e-2,
    _MAP,
    (0.48, 0.42, 0.375, 0.33),
    (4, 8, 16, 32, 64),
    (0.0, 0.2, 0.4),
    replace(training_sweeps.BASE, m=100, eta=0.4),
    (0.4, 0.2, 0.1, 0.05),
    replace(sparsify.EXPERIMENT, N=20, m=40, L=20, alpha_c=0.1),
    (10, 15, 20),
    replace(sparsify.SPURIOUS, m=60, eta=0.4),
)
FULL = Size(
    "_full",
    20,
    1e-3,
    replace(_MAP, m=1000, L=100, eta=0.2, xi=0.01),
    (0.48, 0.45, 0.42, 0.4, 0.375, 0.35, 0.33),
    (8, 16, 32, 64, 128, 256, 512),
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    replace(training_sweeps.BASE, m=1000),
    (0.4, 0.2, 0.1, 0.05, 0.025),
    replace(sparsify.EXPERIMENT, N=80),
    (10, 15, 20),
    sparsify.SPURIOUS,
)
