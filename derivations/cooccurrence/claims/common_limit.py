r"""Runs of the limits: level 3 at any n, and the planar flow; compared with logistic regression on bags of words.

At level 3 keys, queries and beta stand still and :math:`G(0)=0`: it is what networks tend to as :math:`m\to\infty`. It
has n as a parameter, so orders in n, and times up to poly(m), are read off it. A run is integrated twice: as derived,
and as the regression on the bags of words of Definition 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from odesys import Trajectory, Verdict, computed_once, integrate, measured

from .. import setting
from ..laboratory import Laboratory
from ..special.trained_network import word_weights
from ..special.trajectories import values_along

TWO_RUNS = "both integrations have a relative tolerance of 1e-9 or less"
SAME = 1e-6
WHY_MEASURED = (
    "tried: level 3 at n = 30, L = 4 is enclosed up to tau = 40, also from a box of starts of width 10^-3; the planar limit "
    "is trapped for ever. Beyond T_1 at finite n the five variables have no trapping set of the planar form: G on "
    "irrelevant words grows like log(tau)/n"
)
Point = Mapping[str, Any]


@computed_once
def level_three(lab: Laboratory, n: int, L: int, tau: float) -> Trajectory:
    """Level 3 from zero at any n."""
    return integrate(lab.every_n(L), np.zeros(5), (0.0, tau), {"n": n}, rtol=1e-10, atol=1e-13, method="LSODA")


def whole_six(value: float) -> int:
    """The nearest multiple of 6."""
    return max(6, 6 * round(value / 6))


def seen_at(run: Trajectory, node: Any, tau: float) -> float:
    """An expression in the states at one time."""
    return float(values_along(run, node, [tau])[0])


@computed_once
def _gap_to_regression(lab: Laboratory, n: int, L: int, tau: float) -> float:
    own = level_three(lab, n, L, tau).at(tau)
    known = word_weights((0.0, 0.0, 0.0), (tau,), float(n), L)[0][[0, 2, 3, 4, 6]]
    return float(np.abs(own - known).max() / np.abs(known).max())


def as_regression(lab: Laboratory, point: Point, tau: float) -> Verdict:
    """The run at a point agrees with the regression on bags of words at its end."""
    gap = _gap_to_regression(lab, point["n"], point["L"], tau)
    return checked("gap to the regression on bags of words", gap, SAME, TWO_RUNS).adding(why_measured=WHY_MEASURED)


def checked(what: str, gap: float, allowed: float, because: str) -> Verdict:
    """A check of the program, at no point of the statement: what is allowed is no limit of the claim, so a detail."""
    seen = {what: float(f"{gap:.2g}"), f"{what}, allowed": f"{allowed:g}, because {because}"}
    return measured(gap < allowed, {what: gap, "allowed": allowed}, **seen)


def margins(point: Point) -> Callable[[Mapping[str, float]], dict[int, float]]:
    """Margins of I1, I2, I4 at a state of level 3."""
    L = point["L"]
    free = {c: L - len(setting.SPECIAL[c]) for c in (1, 2, 4)}
    return lambda x: {
        1: 2 * x["G_1"] + x["G_3"] + free[1] * x["G_r1"],
        2: -(x["G_1"] + x["G_3"] + free[2] * x["G_r2"]),
        4: -(x["G_3"] + free[4] * x["G_r4"]),
    }


def states(lab: Laboratory, point: Point, taus: Sequence[float]) -> list[dict[str, float]]:
    """States of level 3 at a point at the given times."""
    run = level_three(lab, point["n"], point["L"], float(max(taus)))
    return [dict(zip(run.names, map(float, run.at(float(tau))), strict=True)) for tau in taus]
