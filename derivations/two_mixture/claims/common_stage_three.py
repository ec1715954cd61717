"""Runs to T2 and T3 at the points of a draw, and what Theorem 4.1 says of them; shared by the claims about stage 3."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from odesys import IntegrationError, Measurement, StopWhen, Trajectory, Verdict, computed_once, integrate, measure

from ..laboratory import Laboratory
from ..special.closed_forms import late_loss_constant
from ..special.trajectories import stage_three, stage_two
from .book import SAMPLES, name
from .common_stage_two import LATEST_FOR_3, STAGE_3, explored, largest_omega
from .part_e_trajectories import attention_at

BASE = {"omega": 0.05, "b": 0.5, "T1": 20.0, "x_star": 1.0, "eps": 1e-5}
RANGES = {
    "b": (0.05, 2.0),
    "T1": (0.11, LATEST_FOR_3),
    "x_star": (0.5, 2.0),
    "eps": (1e-6, 1e-4),
}  # where a new draw looks
LARGEST = 0.1  # omega of a sweep, or nine tenths of its bound at T_1 if that is less
LEAST_BOUND = 0.01  # of omega: closer to T_0.5 stage 2 takes a hundred times as long, and so do the runs
DECADES = 2
LARGEST_EPS, EPS_DECADES = (
    1e-4,
    3,
)  # of a path along eps, or a tenth of the loss at which the last unit switches, if less
POINTS = 9
Point = Mapping[str, Any]
SOLVER = 1e-9  # relative tolerance of stage 3
UNBOUNDED = 1e9  # an upper end that no observable here comes near: only the lower one is asked


def base(lab: Laboratory) -> dict[str, Any]:
    """The constants b, T1 and x* of a draw, with the omega and eps that are held while the other moves."""
    (point,) = lab.draw.points("stage 3", [{**BASE, "omega": LEAST_BOUND}], RANGES, STAGE_3)
    if lab.draw.own:
        return dict(BASE)
    top = _largest(point)
    (held,) = lab.draw.points("stage 3, omega", [point], {"omega": (top / 10, top)}, STAGE_3)
    ends = [{**held, "omega": omega} for omega in (held["omega"], top / 10**DECADES, top)]
    return {**held, "eps": min(held["eps"], *(largest_eps(lab, end) for end in ends))}


def _largest(point: Point) -> float:
    return min(LARGEST, 0.9 * largest_omega(point["T1"], point["b"]))


def over_omega(lab: Laboratory) -> list[dict[str, Any]]:
    """Points along omega, over two decades; a new draw takes off less than one spacing, which is added before."""
    held = {k: v for k, v in base(lab).items() if k != "omega"}
    top = _largest(held)
    spare = 1 if lab.draw.own else POINTS / (POINTS - 2)
    return lab.draw.along("omega", top / 10 ** (spare * DECADES), top, POINTS, **held)


def over_eps(lab: Laboratory) -> list[dict[str, Any]]:
    """Points along eps, from where the pattern of units is the last one on."""
    held = base(lab)
    top = largest_eps(lab, held)
    del held["eps"]
    return lab.draw.along("eps", top / 10**EPS_DECADES, top, POINTS, **held)


def largest_eps(lab: Laboratory, p: Point) -> float:
    """Where a path along eps begins: O(1/eps) is about small eps, and the law in eps changes with the units.

    The last unit switches on at a loss of 6e-4 at b = 0.05, T1 = 2000, x* = 2, omega = 0.1, and of 0.1 at the point BASE.
    """
    run = third_stage(lab, p["omega"], p["b"], p["T1"], p["x_star"], LARGEST_EPS / 10**EPS_DECADES)
    compiled = lab.reduced("stage3").system.compile(b=p["b"])
    times = [e.detail.get("end") or e.time for e in run.events if e.kind in ("switch", "slide")]
    return min([LARGEST_EPS, *(0.1 * float(compiled.observables(0.0, run.at(t))["loss"]) for t in times)])


def at_T2(lab: Laboratory, p: Point) -> dict[str, float]:
    """The state at T2, and T2 - T1."""
    run = stage_two(lab, p["omega"], p["T1"], p["x_star"], p["b"])
    return {**run.run.final, "T2 - T1": run.duration}


@computed_once
def third_stage(lab: Laboratory, omega: float, b: float, T1: float, x_star: float, eps: float) -> Trajectory:
    """Stage 3 from T2 until the loss is eps."""
    second = stage_two(lab, omega, T1, x_star, b).run
    fitted = StopWhen("T3", "loss", direction=-1, level=eps)
    longest = 10 * late_loss_constant(second.final) / eps
    span = (second.end_time, second.end_time + longest)
    run = integrate(lab.reduced("stage3").system, second.end_state, span, {"b": b}, rtol=SOLVER, events=[fitted])
    if run.stop != "event:T3":
        raise IntegrationError(
            f"the loss does not reach eps = {eps:g} in a time {longest:.4g} ({run.stop})", time=run.end_time
        )
    return run


def at_T3(lab: Laboratory, p: Point) -> dict[str, float]:
    """The state at T3, the loss there, and T3 - T2."""
    run = third_stage(lab, p["omega"], p["b"], p["T1"], p["x_star"], p["eps"])
    return {**run.final, "T3 - T2": run.end_time - run.times[0]}


LATER = 10.0  # times T3 - T2: so long the loss stays below eps, which T3 does not say by itself


def loss_later(lab: Laboratory, p: Point) -> float:
    """Largest loss over eps from T3 on, to ten times T3 - T2."""
    first = third_stage(lab, p["omega"], p["b"], p["T1"], p["x_star"], p["eps"])
    begin, time = first.times[0], first.end_time - first.times[0]
    run = stage_three(lab, p["omega"], p["T1"], p["x_star"], LATER * time, p["b"])
    system = lab.reduced("stage3").system
    compiled = system.compile(b=p["b"])
    states = run.at(np.minimum(begin + time * np.geomspace(1.0, LATER, 30), run.end_time))
    return max(float(compiled.observables(0.0, x)["loss"]) for x in states) / float(p["eps"])


def margins_at(lab: Laboratory, state: dict[str, float], b: float) -> dict[str, float]:
    """y f on every sample."""
    system = lab.reduced("stage3").system
    values = system.compile(b=b).observables(0.0, np.array([state[n] for n in system.names]))
    return {name(*s): values[f"margin_{lab.sample(*s) + 1}"] for s in SAMPLES}


def conflicting_attention(state: dict[str, float]) -> tuple[np.ndarray, np.ndarray]:
    """Softmax weights on X_{1,+,-} of both heads; the - head has those of the + head on X_{1,-,+} (Corollary C.5)."""
    return attention_at(state, 1, -1), attention_at(state, -1, 1)


# ---- orders ----------------------------------------------------------------------------------------------------------

Observable = Callable[[dict[str, float], Point], float]


def along(lab: Laboratory, what: str, points: Sequence[Point], state: Any, value: Observable) -> Measurement:
    """An observable of the state at T2 or T3 at each point."""
    return measure(what, points, lambda p: value(state(lab, p), p))


def constant_in(lab: Laboratory, what: str, value: Observable, kind: str = "Theta") -> Verdict:
    """An observable at T3 is Theta(1) (or O, Omega) as omega and as eps go to zero."""
    moving = {"omega": over_omega(lab), "eps": over_eps(lab)}
    found = [along(lab, what, points, at_T3, value).order(n, 0, kind, "zero") for n, points in moving.items()]
    return found[0] & found[1]


def within_omega(lab: Laboratory, what: str, value: Observable) -> Verdict:
    """An observable at T3 is at most omega in size, along omega and along eps: O~(omega) with the constant 1."""
    because = (
        "two weights differ by at most half of what their scores differ by, which is at most Delta; that Delta is below omega is "
        "the constant of Lemma E.4, chosen after its runs"
    )
    ratio: Observable = lambda state, p: abs(value(state, p)) / p["omega"]  # noqa: E731
    found = [
        along(lab, f"{what} over omega", q, at_T3, ratio).between(0, 1, because, calibrated_on=explored())
        for q in (over_omega(lab), over_eps(lab))
    ]
    return found[0] & found[1]


def shrinks_with_omega(lab: Laboratory, what: str, value: Observable) -> Verdict:
    """An observable at T3 is O(omega) as omega goes to zero, by its exponent."""
    size: Observable = lambda state, p: abs(value(state, p))  # noqa: E731
    return along(lab, what, over_omega(lab), at_T3, size).order("omega", 1, "O", "zero")


def logarithmic_in_eps(lab: Laboratory, what: str, value: Observable) -> Verdict:
    """An observable at T3 is Theta~(1): bounded below as omega and eps go to zero, and above by log^2(1/eps)."""
    scaled: Observable = lambda state, p: value(state, p) / np.log(1 / p["eps"]) ** 2  # noqa: E731
    low = along(lab, what, over_eps(lab), at_T3, value).order("eps", 0, "Omega", "zero")
    high = along(lab, f"{what} / log^2(1/eps)", over_eps(lab), at_T3, scaled).order("eps", 0, "O", "zero")
    return along(lab, what, over_omega(lab), at_T3, value).order("omega", 0, "Theta", "zero") & low & high
