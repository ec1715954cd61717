r"""Runs of the mean field to a training loss or to the phase boundary; here because the two regimes meet there."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scipy.optimize import brentq

from odesys import StopWhen, System, Trajectory, integrate

from .. import dynamics
from ..setting import Case
from . import two_classes

RTOL = 1e-8
LEVEL = 0.2  # the test loss at which Fig. 1 is cut
SEARCH = 3.0  # the balance is searched for within this factor


def run(
    M: int,
    values: Mapping[str, float],
    eps: float,
    frozen: bool = True,
    system: System | None = None,
    rtol: float = RTOL,
    events: Sequence[StopWhen] = (),
    method: str = "LSODA",
    t_end: float = math.inf,
    start_factor: float = 1.0,
    max_steps: int = 100_000,
    start: Mapping[str, float] | None = None,
) -> Trajectory:
    """The mean-field flow from the infinite-width start until the training loss is eps; time is tau = eta t.

    `start_factor` multiplies the norms of the keys at the start; another `start` has all states.
    """
    made = dynamics.mean_field(M, frozen) if system is None else system
    if start is None:
        start = dynamics.start(M, values, frozen)
        start |= {name: start_factor * value for name, value in start.items() if name in dynamics.NORMS["K"]}
    known = {name: value for name, value in values.items() if name in made.parameters}
    fitted = StopWhen("T3", "loss", direction=-1, level=eps)
    return integrate(
        made,
        start,
        (0.0, t_end),
        known,
        rtol=rtol,
        atol=1e-3 * rtol,
        events=(*events, fitted),
        method=method,
        max_steps=max_steps,
    )


def run_case(case: Case, eps: float, frozen: bool = True, **options: Any) -> Trajectory:
    """The run of one case."""
    return run(case.M, case.mean_field, eps, frozen, **options)


def paper_start(case: Case, frozen: bool = False) -> dict[str, float]:
    """The infinite-width start with V(0) of its size, and as adverse as the proofs of D.5 and E.3 allow for.

    Values have the size of a standard deviation; the one that wins has the wrong sign, the others the right one.
    """
    start = dynamics.start(case.M, case.mean_field, frozen)
    sign, spread = (-1 if case.balance > 1 else 1), case.sigma_V * math.sqrt(case.w2)
    sizes = {"v_s": sign * math.sqrt(case.m_s), "v_2": -sign * math.sqrt(case.m_2), "v_w": math.sqrt(case.m_w)}
    return start | {name: spread * size for name, size in sizes.items() if name in start}


def run_share(case: Case, share: float, eps: float) -> Trajectory:
    """The run from the paper's start with a share of the samples in the class +; 36 variables where it is not 1/2."""
    start = paper_start(case)
    if share == 0.5:
        return run(case.M, case.mean_field, eps, False, start=start)
    both = {f"{name}_{mark}": value for mark in two_classes.CLASSES for name, value in start.items()}
    values = {**case.mean_field, two_classes.SHARE: share}
    return run(case.M, values, eps, False, two_classes.both_classes(case.M), start=both)


def test_loss(case: Case, eps: float, frozen: bool = True) -> float:
    """Test loss at the time the training loss reaches eps."""
    return float(run_case(case, eps, frozen, method="auto").final["test_loss"])  # not stiff with frozen norms


def with_balance(case: Case, balance: float) -> Case:
    """The same case with the signal rescaled to r = N mu^2 / (2 sigma~_p^2 d)."""
    return replace(case, mu=math.sqrt(2 * balance * case.m_2 / case.N))


def boundary(
    case: Case,
    eps: float,
    level: float = LEVEL,
    low: float = 1 / SEARCH,
    high: float = SEARCH,
    loss: Callable[[Case], float] | None = None,
) -> float:
    """The balance r* at which the test loss at training loss eps equals `level`; kappa is held."""
    measure = loss or (lambda c: test_loss(c, eps))

    def gap(log_r: float) -> float:
        return measure(with_balance(case, math.exp(log_r))) - level

    return math.exp(brentq(gap, math.log(low), math.log(high), xtol=1e-5))
