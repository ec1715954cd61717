r"""Where stage 2 is looked at: its hypotheses, points that sweep :math:`\omega, T_1, b`, and states up to :math:`C`.

The lemmas of Appendix E have constants that may depend on T_1 and b, which are constants themselves, and not on omega.
One choice serves them all: scores up to C = 1/2, and the "sufficiently small constant" of Condition 1 is n_c/n_v at
T_1, which is below 1/2. This choice was made after runs at the points `explored` gives; so every limit that rests on it
is calibrated on those, and judged at others. T_1 - T_0.5 is Theta(1) in the paper, and C depends on its constant: the sums
over the groups are driven by n_v/n_c times the third power of the score, so that C = 1/2 is too much where n_c/n_v is tiny
(at n_c/n_v = 1.8e-6 Delta/omega reaches 586). Here n_c/n_v is 1e-3 or more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np

from odesys import Hypothesis, Measurement, Verdict, Witness, measure, measured, say_number, say_point, undecided

from ..laboratory import Laboratory
from ..special.closed_forms import stage_one
from ..special.trajectories import StageTwo, stage_two
from .common_hypotheses import AFTER_SWITCH, BIASED, half_time

REACH = 0.5  # C of the lemmas, and the score x* that ends stage 2
ENDS = (  # (b, T1), from just above T_0.5 on
    *((0.1, T1) for T1 in (0.214, 0.5, 1000.0)),
    *((0.4, T1) for T1 in (1.03, 1.2, 4.0, 30.0, 1500.0)),
    *((1.5, T1) for T1 in (11.2, 25.0, 1800.0)),
)
SHARES = (0.9, 0.1, 0.01)  # omega over its bound
LATEST, NEAREST = 1e6, 1e-3  # T_1 at most, and n_c/n_v at T_1 at least
LATEST_FOR_3 = 2000.0  # T_1 at most where a loss is followed: its law in eps sets in far below 1/T_1
RANGES = {"omega": (1e-4, 0.45), "T1": (0.11, LATEST), "b": (0.05, 2.0)}
SOLVER = 1e-9  # a hundred times the relative tolerance of the solver
ROUNDING = 1e-14
EXACT = "a hundred times the relative tolerance of the solver"
Observable = Callable[[StageTwo], float]


@cache
def neurons(T1: float, b: float) -> dict[str, float]:
    """n_c and n_v at T_1, from the closed form of stage 1."""
    return stage_one().neurons(T1, b)


def largest_omega(T1: Any, b: Any) -> float:
    """The small constant of Condition 1: n_c/n_v at T_1; there the sums over the groups have no time to grow."""
    found = neurons(float(T1), float(b))
    return found["n_c"] / found["n_v"]


def kappa(point: Mapping[str, Any]) -> float:
    """kappa = n_c/18 at T_1, the rate of stage 2 at uniform attention."""
    return neurons(float(point["T1"]), float(point["b"]))["n_c"] / 18


SMALL_ENOUGH = Hypothesis(
    "small start",
    r"\omega<C<1\text{ for a small constant, here }n_c/n_v\text{ at }T_1",
    lambda p: largest_omega(p["T1"], p["b"]) - p["omega"],
    strict=True,
)
CONSTANT_T1 = Hypothesis("T1 is a constant", r"T_1=\Theta(1),\text{ here }T_1\le10^6", lambda p: LATEST - p["T1"])
AWAY_FROM_SWITCH = Hypothesis(
    "T1 is a constant after the switch",
    r"T_1-T_{0.5}=\Theta(1),\text{ here }n_c/n_v\ge10^{-3}\text{ at }T_1",
    lambda p: largest_omega(p["T1"], p["b"]) - NEAREST,
)
STAGE_2 = (BIASED, AFTER_SWITCH, CONSTANT_T1, AWAY_FROM_SWITCH, SMALL_ENOUGH)
SCORE_IN_REACH = Hypothesis("score within reach", r"x^*\le2", lambda p: 2 - p["x_star"])
NOT_TOO_LATE = Hypothesis(
    "T1 is no larger than that", r"T_1=\Theta(1),\text{ here }T_1\le2000", lambda p: LATEST_FOR_3 - p["T1"]
)
STAGE_3 = (BIASED, AFTER_SWITCH, NOT_TOO_LATE, AWAY_FROM_SWITCH, SMALL_ENOUGH, SCORE_IN_REACH)
CONSTANTS = {"C": "1/2", "omega below": "n_c/n_v at T1"}


def sweep(lab: Laboratory, ends: Sequence[tuple[float, float]] = ENDS) -> list[dict[str, Any]]:
    """Points (omega, T1, b): two decades of omega for each T1 and b, or new ones inside the hypotheses."""
    own = [
        {"omega": float(f"{share * largest_omega(T1, b):.4g}"), "T1": T1, "b": b} for b, T1 in ends for share in SHARES
    ]
    return lab.draw.points("stage 2", own, RANGES, STAGE_2)


def path(lab: Laboratory, T1: float = 30.0, b: float = 0.4, decades: int = 3, count: int = 7) -> list[dict[str, Any]]:
    """Points along omega, from its bound down."""
    top = 0.9 * largest_omega(T1, b)
    return lab.draw.along("omega", top / 10**decades, top, count, T1=T1, b=b)


@cache
def explored() -> tuple[dict[str, Any], ...]:
    """The runs after which C, c, the rate and the bound of omega were chosen."""
    first = [
        {"omega": omega, "T1": share * half_time(b), "b": b}
        for b in (0.05, 0.5, 2.0)
        for share in (1.001, 1.01, 1.1, 2, 20, 1000)
        for omega in (0.3, 0.01, 0.001)
    ]
    ends = ((0.5, 20.0), (0.5, 3.0), (0.5, 1.5), (0.5, 2000.0), (0.05, 0.2), (2.0, 60.0), (2.0, 2000.0), (0.05, 2000.0))
    second = [{"omega": min(0.3, largest_omega(T1, b)) / 10**k, "T1": T1, "b": b} for b, T1 in ends for k in range(4)]
    return (*first, *second)


def judged(found: Measurement, low: float, high: float, because: str) -> Verdict:
    """All values lie in these limits, which were chosen after the explored runs, or in a reach that was."""
    return found.between(low, high, because, calibrated_on=explored())


def run_at(lab: Laboratory, point: Mapping[str, Any]) -> StageTwo:
    """Stage 2 at a point, to the score x* = C."""
    return stage_two(lab, point["omega"], point["T1"], point.get("x_star", REACH), point["b"])


@lru_cache(maxsize=128)
def states_in_reach(run: StageTwo) -> np.ndarray:
    """States from T_1 itself on, as long as no score exceeds C."""
    table = np.vstack([run.start, run.table()])
    scores = [i for i, name in enumerate(run.run.names) if name.startswith("M_")]
    beyond = np.abs(table[:, scores]).max(axis=1) > REACH * (1 + SOLVER)
    return table[: int(beyond.argmax())] if beyond.any() else table


def seen(lab: Laboratory, what: str, points: Sequence[Mapping[str, Any]], observable: Observable) -> Measurement:
    """The measurement of an observable of runs."""
    return measure(what, points, lambda point: observable(run_at(lab, point)))


def always_positive_along(
    lab: Laboratory, what: str, points: Sequence[Mapping[str, Any]], observable: Observable
) -> Verdict:
    """Strictly positive at every point; undecided where a value is as small as rounding."""
    values = [observable(run_at(lab, point)) for point in points]
    low = int(np.argmin(values))
    sentence = f"at {say_point(points[low])} (all hypotheses hold) {what} is {say_number(values[low])}, not positive"
    if abs(values[low]) < ROUNDING:
        return undecided(f"at {say_point(points[low])} {what} is {say_number(values[low])}, which rounding may be").at(
            *(dict(point) for point in points)
        )
    verdict = measured(values[low] > 0, Witness(sentence, dict(points[low])), smallest=float(f"{values[low]:.4g}"))
    return verdict.at(*(dict(point) for point in points)).within(0, "a strict inequality", explored())
