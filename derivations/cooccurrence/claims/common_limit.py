r"""Runs of the limits: level 3 at any n, and the planar flow; compared with logistic regression on bags of words.

At level 3 keys, queries and beta stand still and :math:`G(0)=0`: it is what networks tend to as :math:`m\to\infty`. It
has n as a parameter, so orders in n, and times up to poly(m), are read off it. A run is integrated twice: as derived,
and as the regression on the bags of words of Definition 2.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import expit

from odesys import Measurement, Trajectory, Verdict, computed_once, integrate

from .. import setting
from ..laboratory import Laboratory
from ..special.trained_network import word_weights
from ..special.trajectories import values_along

TWO_RUNS = "both integrations have a relative tolerance of 1e-10 or less"
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
    system = lab.every_n(L).substitute({"n": n})
    return integrate(system, np.zeros(5), (0.0, tau), rtol=1e-10, atol=1e-13, method="LSODA")


def whole_six(value: float) -> int:
    """The nearest multiple of 6."""
    return max(6, 6 * round(value / 6))


def seen_at(run: Trajectory, node: Any, tau: float) -> float:
    """An expression in the states at one time."""
    return float(values_along(run, node, [tau])[0])


def as_regression(lab: Laboratory, point: Point, tau: float) -> Verdict:
    """The run at a point agrees with the regression on bags of words at its end."""
    n, L = point["n"], point["L"]
    own = level_three(lab, n, L, tau).at(tau)
    known = word_weights((0.0, 0.0, 0.0), (tau,), float(n), L)[0][[0, 2, 3, 4, 6]]
    gap = float(np.abs(own - known).max() / np.abs(known).max())
    seen = Measurement("the relative gap to the regression on bags of words", [point], [gap])
    found = seen.between(0, SAME, TWO_RUNS).adding(gap_to_regression=float(f"{gap:.2g}"))
    return found.adding(why_measured=WHY_MEASURED)


def leading_rates(x: Mapping[str, float], point: Point) -> dict[str, float]:
    """Rates of scores and values between special words at a state of level 3, over the loss, without k0/sqrt(m) and 1/beta."""
    u, L = margins(point)(x), point["L"]
    pull = {1: 1 / 2 * expit(-u[1]), 2: -1 / 6 * expit(-u[2]), 4: -1 / 6 * expit(-u[4])}
    outputs, total = {1: u[1], 2: -u[2], 4: -u[4]}, loss_at(x, point)
    G, C = x["G_1"], x["G_3"]
    xi, xi3 = pull[1] + pull[2], pull[1] + 2 * pull[2] + pull[4]
    found = {
        "A_21": pull[1] * (G - outputs[1] / L),
        "A_31": pull[1] * (C - outputs[1] / L) + pull[2] * (C - outputs[2] / L),
        "V_12": 2 * G * xi,
        "V_13": G * xi3 + C * xi,
    }
    return {name: float(value * (2 if name[0] == "A" else 1) / total) for name, value in found.items()}


def loss_at(x: Mapping[str, float], point: Point) -> float:
    """The training loss at a state of level 3."""
    u = margins(point)(x)
    return float(sum(w * np.logaddexp(0, -u[c]) for c, w in ((1, 1 / 2), (2, 1 / 3), (4, 1 / 6))))


def tied_points(lab: Laboratory, count: int = 5, one_n: bool = False) -> list[dict[str, Any]]:
    """m over two decades, with n at least L^2 log m: the logarithm under the tilde of n >= L^2 that times poly(m) need.

    With `one_n` all points have the n of the last: the constant of the loss depends on n.
    """
    points = []
    for p in lab.draw.along("m", 1e15, 1e17, count):
        n = whole_six(16 * np.log(1e17 if one_n else p["m"]) + 6)
        points.append({"n": n, "L": 4, "m": round(p["m"]), "m1": 16, "c0": 1e-3})
    return points


def hitting_time(lab: Laboratory, point: Point, loss: float, longest: float) -> float:
    """The first tau at which the loss of level 3 is `loss`."""
    run = level_three(lab, point["n"], point["L"], longest)
    taus = np.geomspace(1.0, longest, 400)
    seen = values_along(run, run.system.observables["loss"], taus)
    return float(np.exp(np.interp(-np.log(loss), -np.log(seen), np.log(taus))))


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
