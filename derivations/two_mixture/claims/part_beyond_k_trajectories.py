"""Beyond the paper: training with any number of groups, measured on the 22 variables in time t / K."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from odesys import IntegrationError, StopWhen, Trajectory, Verdict, integrate, measured

from ..laboratory import Laboratory
from .book import book

BIAS, RTOL = 0.5, 1e-10
GROUPS = (2, 3, 4, 8, 64, 1000, 1_000_000)
LATEST = 4000.0  # t / K


@cache
def simultaneous(lab: Laboratory, K: int | str, omega: float, state: str, level: float, direction: int) -> Trajectory:
    """Simultaneous training in scaled variables and time t / K until a state or the loss passes a level."""
    flow = lab.family(K="infinity") if K == "infinity" else lab.family(scaled=True)
    parameters = {"b": BIAS} if K == "infinity" else {"b": BIAS, "K": K}
    stop = StopWhen("reached", state, direction=direction, level=level)
    run = integrate(flow.system, flow.initial_state(omega), (0.0, LATEST), parameters, rtol=RTOL, events=[stop])
    if run.stop != "event:reached":
        raise IntegrationError(
            f"with K = {K} and omega = {omega:g}, {state} does not reach {level:g} ({run.stop})", time=run.end_time
        )
    return run


def time_to_learn(lab: Laboratory, K: int | str, omega: float = 0.1) -> float:
    """t / K when the score of c_k for v_k reaches 1."""
    return simultaneous(lab, K, omega, "M_cv_same", 1.0, 1).end_time


@book.claim(
    "Beyond.K.linear",
    "Training time is linear in K",
    kind="order",
    origin="ours",
    uses=["Beyond.K.limit", "Beyond.K.stage1"],
    statement=r"T(K)=\alpha K+\beta\,(1+o(1)),\quad \alpha=T_\infty\ \text{of the limit equations}",
    reading="L = 3, b = 1/2, omega in 0.1, 0.01, simultaneous training: T is the time at which M_cv_same = 1; alpha is that time in "
    "the limit equations; for K = 2, 3, 4, 8, 64, 10^3, 10^6 the line through K = 2 with slope alpha is met within 1 percent",
)
def linear_in_groups(lab: Laboratory) -> Verdict:
    """Times to learn against the line whose slope comes from the limit equations."""
    worst = 0.0
    constants: dict[str, Any] = {}
    for omega in (0.1, 0.01):
        slope = time_to_learn(lab, "infinity", omega)
        times = {K: K * time_to_learn(lab, K, omega) for K in GROUPS}
        offset = times[2] - 2 * slope
        worst = max(worst, *(abs(t - slope * K - offset) / t for K, t in times.items()))
        constants |= {f"alpha at omega={omega}": slope, f"beta at omega={omega}": offset}
        constants |= {f"T/K at omega={omega}": {str(K): t / K for K, t in times.items()}}
    return measured(worst <= 0.01, {"off by": worst}, largest_deviation=worst).with_constants(**constants)


@cache
def stage_two_time(
    lab: Laboratory, K: int, omega: float, tau: float = 10.0, x_star: float = 1.0
) -> tuple[float, float]:
    """Duration of stage 2 after a stage 1 of length K tau, until M_cv_same = x_star (K-1)/K (M^a_cv = x_star); and n_c."""
    first, second = lab.family("stage1", scaled=True), lab.family("stage2", scaled=True)
    values = {"b": BIAS, "K": float(K)}
    begin = integrate(first.system, first.initial_state(omega), (0.0, tau), values, rtol=1e-11)
    stop = StopWhen("T2", "M_cv_same", direction=1, level=x_star * (K - 1) / K)
    run = integrate(second.system, begin.end_state, (0.0, LATEST), values, rtol=1e-11, events=[stop])
    if run.stop != "event:T2":
        raise IntegrationError(f"with K = {K} stage 2 does not reach x* ({run.stop})", time=run.end_time)
    return K * run.end_time, begin.final["n_c"]


@book.claim(
    "Beyond.K.T2",
    "The duration of stage 2 for any K",
    kind="order",
    origin="ours",
    uses=["Beyond.K.frozen", "Beyond.K.stage1"],
    statement=r"\frac{d(T_2-T_1)}{d\log(1/\omega)}=\frac{9(K-1)}{n_c},\quad T_2-T_1\propto K-1",
    reading="L = 3, b = 1/2, stage 1 of length 10 K (so n_c is the same for all K), M^a_cv up to 1, K = 2, 3, 8, 10^3, 10^6: the slope "
    "between omega = 0.01 and 0.001 is within 0.1 percent of 9 (K-1)/n_c, and (T_2 - T_1)/(K-1) varies by less than 1 percent",
)
def stage_two_duration(lab: Laboratory) -> Verdict:
    """Slopes in log(1/omega), and durations over K - 1."""
    slopes, durations = {}, {}
    for K in (2, 3, 8, 1000, 1_000_000):
        (slow, n_c), (fast, _) = stage_two_time(lab, K, 0.001), stage_two_time(lab, K, 0.01)
        slopes[str(K)] = (slow - fast) / math.log(10) * n_c / (9 * (K - 1))
        durations[str(K)] = fast / (K - 1)
    spread = max(durations.values()) / min(durations.values()) - 1
    off = max(abs(value - 1) for value in slopes.values())
    seen = {"slope over 9(K-1)/n_c": slopes, "(T2-T1)/(K-1) at omega=0.01": durations}
    return measured(off <= 1e-3 and spread <= 0.01, seen, slope_error=off, spread=spread).with_constants(**seen)


def asymmetry(run: Trajectory, above: float) -> float:
    """Largest |M^s_cv| / M_cv_same along a run where M_cv_same is at least `above`."""
    states = run.at(np.linspace(0.0, run.end_time, 4000))
    same, others = (states[:, run.names.index(f"M_cv_{r}")] for r in ("same", "others"))
    kept = same >= above
    return float((np.abs(same + others)[kept] / same[kept]).max()) if kept.any() else math.inf


@book.claim(
    "Beyond.K.near_symmetry",
    "Near symmetry survives for every K in another form",
    kind="inequality",
    origin="ours",
    uses=["Obs.1", "Beyond.K.kappa"],
    statement=r"|M_{c_kv_k}+(K-1)M_{c_kv_j}|\ \le\ \tfrac1{20}M_{c_kv_k}",
    reading="L = 3, b = 1/2, simultaneous training, K = 2, 3, 8, 10^3, 10^6, omega in 0.1, 0.05, 0.01, from the time M_cv_same = 0.1 "
    "until the loss is 0.01; constants give the largest ratio for each omega, and what happens outside: omega = 0.2, "
    "scores as small as 0.01, and long after learning",
)
def near_symmetry(lab: Laboratory) -> Verdict:
    """The trivial sector of the dominant score over (K, omega, t)."""
    table = {
        omega: {K: asymmetry(simultaneous(lab, K, omega, "loss", 0.01, -1), 0.1) for K in (2, 3, 8, 1000, 1_000_000)}
        for omega in (0.1, 0.05, 0.01)
    }
    worst, omega, K = max((value, omega, K) for omega, row in table.items() for K, value in row.items())
    outside = {
        "omega = 0.2, K = 10^6": asymmetry(simultaneous(lab, GROUPS[-1], 0.2, "loss", 0.01, -1), 0.1),
        "from M_cv_same = 0.01 on, omega = 0.1, K = 10^6": asymmetry(
            simultaneous(lab, GROUPS[-1], 0.1, "loss", 0.01, -1), 0.01
        ),
        "until loss = 0.0002, omega = 0.1, K = 10^6": asymmetry(
            simultaneous(lab, GROUPS[-1], 0.1, "loss", 0.0002, -1), 0.1
        ),
    }
    verdict = measured(
        worst <= 0.05, {"ratio": worst, "K": K, "omega": omega}, largest=worst, at={"K": K, "omega": omega}
    )
    verdict = verdict.with_constants(
        largest=worst, **{f"largest at omega={o}": max(row.values()) for o, row in table.items()}, outside=outside
    )
    late = outside["until loss = 0.0002, omega = 0.1, K = 10^6"]
    return replace(
        verdict,
        sharpened=f"at most {100 * worst:.1f} percent (K = {K}, omega = {omega:g}); it does not stay small for ever "
        f"with many groups: {100 * late:.0f} percent when the loss is down to 0.0002",
    )
