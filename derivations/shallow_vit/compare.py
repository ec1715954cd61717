r"""Finite width against the symmetric system: logits of class-level networks after the same number of steps.

Networks have random neurons of size :math:`\xi = 10^{-2}/\sqrt m` and the features p, q without errors. The symmetric
recursion has the fraction pi of living neurons, found with the same ratio of step and start size, since steps that are
long beside the start let fewer neurons live. What differs is how many neurons of a finite network live, and the start
that is small but not zero. A number is over eight networks: the share of living neurons is nearly all that is
random, so that one network is as near to zero as a normal variable is. That share is a mean over m neurons and scatters
by :math:`1/\sqrt m`, and so do the logits: the expected exponent is -1/2.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from odesys import ParameterError, WidthMeasure, over_widths

from .setting import Case
from .special import many_networks, observables, symmetric_runs

SMALL = 1e-2  # xi sqrt(m)
STEP = 0.02  # the longest step
LIVING = 40_000  # neurons followed to find pi
GROUP = 8  # networks behind one number: that of one network is near zero now and then, which logarithms do not forgive
FAR = 1e9  # a margin that is not reached
EXPLAINED = (
    "Expected is -1/2: the share of living neurons is a mean over m of them. "
    "The theory is the limit of the networks if the interval has -1/2 in it and not 0."
)


def deviation(width: int, seed: int, case: Case, steps: int, target: tuple[float, ...]) -> float:
    """Root mean square difference of the six logits after `steps` steps, over a group of networks."""
    wide = replace(case, m=width, xi=SMALL / math.sqrt(width), margin=FAR)
    begun = many_networks.starts(wide, [(seed, width, k) for k in range(GROUP)])
    run = many_networks.train_many(wide, many_networks.exact_law(wide), np.full((GROUP, 2), 0.5), begun, steps=steps)
    found = [observables.logits(run.state.one(k).S) for k in range(GROUP)]
    squares = [(each[name] - t) ** 2 for each in found for name, t in zip(observables.LOGITS, target, strict=True)]
    return float(np.sqrt(np.mean(squares)))


@over_widths
def compare(widths: list[int], parameters: Mapping[str, Any]) -> WidthMeasure:
    """Deviation of the logits from the symmetric system over widths m and seeds, with the fitted exponent."""
    case = Case.of(parameters)
    case = replace(
        case,
        m_a=case.M,
        m_b=case.M,
        d=max(case.d, case.M),
        sigma=0.0,
        delta=0.0,
        B=0,
        eta=min(case.eta, STEP),
        steps=max(case.steps, round(case.steps * case.eta / STEP)),
    )
    odd = [width for width in widths if width % 2]
    if odd:
        raise ParameterError(
            f"a width of {odd[0]} can not be used: half of the output weights is positive, so widths are even"
        )
    step = case.eta / SMALL
    pi = symmetric_runs.living(case, count=LIVING, ds=step, s_end=60 * max(1.0, step))
    theory = symmetric_runs.descend(case, "auto", pi)
    steps = round(0.9 * theory.steps)  # before the stop of any of them
    point = dict(zip(theory.names, map(float, theory.states[steps]), strict=True))
    found = symmetric_runs.scalars(point, case, pi)
    measure = partial(deviation, case=case, steps=steps, target=tuple(found[name] for name in observables.LOGITS))
    return WidthMeasure(rf"rms of the logits at $s = {case.eta * steps:.3g}$", parameters, measure, EXPLAINED)
