"""Two sizes of the figures: for the default page, and near the paper's own for reports of level ``full``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..setting import Case
from ..special import image_tokens, sparsify, training_sweeps

_MAP = Case(m=1000, eta=0.4, xi=0.01, sigma=0.1, delta=0.2, jitter=0.02, steps=3000)


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
    runs: int  # trials of a stopping time
    removals: int  # trials of a removal
    pictures: int  # trials of figure 6
    patterns: tuple[int, ...]  # M of figure 8
    images: Case  # figure 6
    shares: tuple[float, ...]  # of the background that is removed
    workers: int = 1
    keep: bool = False  # runs for a month, so that they are drawn again at once


QUICK = Size(
    "",
    5,
    1e-3,
    replace(
        _MAP, M=3, m=60, xi=60**-0.5, sigma=0.0, delta=0.0, m_a=4, m_b=4
    ),  # the fewest patterns, so that (7) asks for few neurons
    (0.48, 0.45, 0.42, 0.39, 0.36, 0.33),
    (4, 8, 16, 32, 64, 128),
    (0.0, 0.1, 0.2),
    replace(training_sweeps.BASE, m=100, xi=0.1, eta=0.4),
    (0.4, 0.2, 0.1, 0.05),
    replace(sparsify.EXPERIMENT, N=20, m=40, L=20, alpha_c=0.1),
    3,
    3,
    3,
    (10, 15, 20),
    image_tokens.CASE,
    (0.0, 0.5, 1.0),
)
FULL = Size(
    "_full",
    20,
    1e-3,
    _MAP,
    (0.48, 0.45, 0.42, 0.4, 0.375, 0.35, 0.33),
    (8, 16, 32, 64, 128, 256, 512),
    (0.0, 0.1, 0.2, 0.3, 0.4, 0.5),
    replace(training_sweeps.BASE, m=1000, xi=0.01),
    (0.4, 0.2, 0.1, 0.05, 0.025),
    replace(sparsify.EXPERIMENT, N=80, xi=0.01),
    20,
    20,
    10,
    (10, 15, 20),
    replace(image_tokens.CASE, N=96, m=100),
    (0.0, 0.25, 0.5, 0.75, 1.0),
    workers=2,
    keep=True,
)


def say_size(fig: Any, size: Size, case: Case, trials: int, *more: str, patterns: Sequence[int] = ()) -> None:
    """Below a figure near the paper's size: how large it is, and what is not as printed."""
    if not size.suffix:
        return
    numbers = {
        "M": ", ".join(str(M) for M in patterns or (case.M,)),
        "m": case.m,
        "m_a = m_b": case.m_a,
        r"\xi": f"{case.xi:.3g}",
        r"\eta": case.eta,
    }
    said = ", ".join(f"${name} = {value}$" for name, value in numbers.items())
    fig.supxlabel("; ".join((said, *more, f"{trials} trials")), fontsize=8, color="0.35")
