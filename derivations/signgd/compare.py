r"""Finite width against infinite width: the noise logit at three flip times, sample by sample.

At infinite m_k the aligned fraction of a sample is fixed by the norms of the noise, and its logit
:math:`z_{22} - z_{21}` at 3 T_f is the mean field's. With m_k neurons the fraction fluctuates by
:math:`m_k^{-1/2}`, and so does the logit. The start is scaled with the width,
:math:`\sigma_0\sigma_p s\sqrt{m_k}` fixed, as Condition 3.1 asks; supports are disjoint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from odesys import ParameterError, WidthMeasure, over_widths

from .setting import DISJOINT, Case
from .special import power_laws, recursion
from .special.mean_field import MeanField

END = 3.0  # in T_f: unaligned keys have crossed zero, unaligned queries have turned
LEAST_LAMBDA = 100.0
FRACTION = 1e-2  # of a step beside the time; a third of it changes a deviation by less than a hundredth of itself


def deviation(width: int, seed: int, case: Case) -> float:
    """Root mean square over samples of Z_i / Z_infinity - 1 at 3 T_f."""
    here = replace(case, m_k=width, sigma_0=case.kappa / (case.strength * math.sqrt(width)))
    start = recursion.draw(here, (seed, width))
    end = END * here.flip_time()
    run = recursion.geometric(start, end, FRACTION, records=4)
    fractions = power_laws.infinite_fractions(start.l1, start.l2, here.mu, seed=seed)
    wanted = [
        float(MeanField(float(l / here.mu), float(p), width, 1.0, here.mu).logits(np.array([end]))[0][0])
        for l, p in zip(start.l1, fractions, strict=True)
    ]
    return float(np.sqrt(np.mean((-run.z21[-1] / np.array(wanted) - 1) ** 2)))


@over_widths
def compare(widths: list[int], parameters: Mapping[str, Any]) -> WidthMeasure:
    """Deviation of the noise logit from infinite width over widths m_k and seeds, with the fitted exponent.

    The published sizes have Lambda of about 14, where the limit itself is rough; the sparsity is raised to 10^5 (times
    sigma_p = 1) unless Lambda is at least 100 already, and start values to kappa = 10^-3.
    """
    if min(widths) < 2:
        raise ParameterError(f"a width of {min(widths)} has no fluctuations to speak of; use at least 2")
    case = Case.of({**parameters, "supports": DISJOINT})
    if case.Lambda < LEAST_LAMBDA:
        case = power_laws.sparse_case(case.n, case.m_k, 1e5)
    measure = partial(deviation, case=case)
    what = r"rms of $Z/Z^\infty - 1$ at $3T_f$"
    told = {**parameters, "s": case.s, "d": case.d, "sigma_p": case.sigma_p, "sigma_0": case.sigma_0}
    return WidthMeasure(what, told, measure)
