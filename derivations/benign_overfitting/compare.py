r"""Finite width against infinite width: scores within samples after the same gradient steps.

The infinite-width recursion is the exact quotient for orthogonal tokens, started at :math:`\mathcal Q = \mathcal K =
\kappa G`, S = 0, V = 0; networks start with V = 0 too (the paper's V(0) is larger than what is compared) and have
widths d_h and dimension d = 2 d_h, so that token overlaps vanish with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

from odesys import ParameterError, Quotient, StopWhen, WidthMeasure, iterate, over_widths

from . import dynamics, setting
from .setting import Case
from .special import span_network

LARGEST = 40  # tokens of the quotient
RATE = 0.1


@cache
def quotient(N: int, M: int, step: bool = True) -> Quotient:
    """The exact orbit variables for orthogonal tokens, as a gradient step or as a flow."""
    made = (dynamics.recursion if step else dynamics.flow)(N, M, setting.orthogonal_gram(N, M))
    return dynamics.reduced(made, N, M)


def orbit_start(reduced: Quotient, case: Case) -> np.ndarray:
    """Infinite-width start of the orbit variables: Q = K = kappa G, all else zero."""
    gram = np.diag([case.m_s] * 2 + [case.m_2, *[case.m_w] * (case.M - 2)] * case.N)
    leaves = {"wOV": np.zeros((1, case.P)), "KQ": np.zeros_like(gram), "QQ": case.kappa * gram, "KK": case.kappa * gram}
    return reduced.project(reduced.flow.layout.pack(leaves))


def limit_scores(case: Case, eta: float, eps: float, steps: int) -> tuple[int, np.ndarray]:
    """Number of steps to the training loss eps at infinite width, and the scores S of all pairs then."""
    reduced = quotient(case.N, case.M)
    known = {**case.mean_field, "eta": eta}
    values = {name: known[name] for name in reduced.system.parameters}
    fitted = StopWhen("T3", "loss", direction=-1, level=eps)
    run = iterate(
        reduced.system, orbit_start(reduced, case), steps, values, record_every=steps, stop=fitted, backend="block"
    )
    full = reduced.flow.layout.unpack(reduced.lift(run.end_state))
    return int(run.end_time), full["KQ"].T


def deviation(width: int, seed: int, case: Case, eta: float, steps: int, target: Any) -> float:
    """Root mean square difference of the scores within samples after `steps` steps."""
    made = span_network.draw(replace(case, d_h=width, d=max(2 * width, case.P)), (seed, width))
    state = span_network.start(made)
    for _ in range(steps):
        span_network.step(made, state, eta)
    pick = made.places[:, :, None], made.places[:, None, :]
    return float(np.sqrt(np.mean(((state.q @ state.k.T)[pick] - target[pick]) ** 2)))


@over_widths
def compare(widths: list[int], parameters: Mapping[str, Any]) -> WidthMeasure:
    """Deviation of the scores from infinite width over widths d_h and seeds, with the fitted exponent."""
    case = replace(Case.of(parameters), sigma_V=0.0)  # V(0) is of the order d_h^(-1/4) and would hide d_h^(-1/2)
    if case.N % 2:
        raise ParameterError(f"N = {case.N} can not be used: the infinite-width recursion is for balanced classes")
    if case.P > LARGEST:
        raise ParameterError(f"the comparison lists all {case.P} tokens and stops at {LARGEST}; lower N or M")
    if min(widths) < case.P:
        raise ParameterError(f"a width of {min(widths)} is below the {case.P} tokens; use wider networks")
    eta = RATE / case.largest
    steps, target = limit_scores(case, eta, parameters["eps"], parameters["steps"])
    measure = partial(deviation, case=case, eta=eta, steps=steps, target=target)
    what = r"rms of $S - S^\infty$ within samples at $T_3$"
    return WidthMeasure(what, parameters, measure)
