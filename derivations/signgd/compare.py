r"""Finite width against infinite width: the noise logit of trained networks at two flip times, sample by sample.

At infinite m_k the aligned fraction of a sample is fixed by the norms of the noise, and its logit
:math:`z_{22} - z_{21}` at 2 T_f is the mean field's. With m_k neurons the fraction fluctuates by
:math:`m_k^{-1/2}`, and so does the logit. Networks are trained by sign descent in weight space, on disjoint supports;
the start is scaled with the width, :math:`\sigma_0\sigma_p s\sqrt{m_k}` fixed, as Condition 3.1 asks.
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
from .special import network, power_laws
from .special.mean_field import MeanField
from .special.training_sets import make

END = 2.0  # in T_f: unaligned keys have turned and reach zero
STEPS = 400  # to 2 T_f: a step is a fifth of the start values, so that few pairs are held in two-step cycles
LEAST_LAMBDA, SPARSITY, NOISE, KAPPA = 100.0, 100, 4.0, 0.5
EXPLAINED = (
    "Expected is -1/2: Z is a mean over m_k neurons, of which each is aligned with its vote at random; a floor of a "
    "few percent, from steps of finite size, starts and 1/Lambda, makes the fitted exponent of wide networks smaller."
)


def deviation(width: int, seed: int, case: Case) -> float:
    """Root mean square over samples of Z_i / Z_infinity - 1 at 2 T_f, for a network that is trained."""
    here = replace(case, m_k=width, sigma_0=KAPPA / (case.strength * math.sqrt(width)))
    end = END * here.flip_time()
    data, weights = make(here, (seed, width)), network.gaussian(here, (seed, width, 1))
    trained = network.train(data, weights, network.Optimiser("signgd", end / STEPS), STEPS, STEPS)
    fractions = power_laws.infinite_fractions(data.norms, data.lengths, here.mu, seed=seed)
    wanted = [
        float(MeanField(float(l / here.mu), float(p), width, 1.0, here.mu).logits(np.array([end]))[0][0])
        for l, p in zip(data.norms, fractions, strict=True)
    ]
    return float(np.sqrt(np.mean((-trained.run.z21[-1] / np.array(wanted) - 1) ** 2)))


@over_widths
def compare(widths: list[int], parameters: Mapping[str, Any]) -> WidthMeasure:
    """Deviation of the noise logit from infinite width over widths m_k and seeds, with the fitted exponent.

    The published sizes have Lambda of about 14, where the limit itself is rough; unless Lambda is at least 100 already,
    noise has s = 100 coordinates with sigma_p = 4, so that Lambda is about 320.
    """
    if min(widths) < 2:
        raise ParameterError(f"a width of {min(widths)} has no fluctuations to speak of; use at least 2")
    case = Case.of({**parameters, "supports": DISJOINT})
    if case.Lambda < LEAST_LAMBDA:
        case = replace(case, s=SPARSITY, d=case.n * SPARSITY + 1, sigma_p=NOISE, mu=1.0)
    what = r"rms of $Z/Z^\infty - 1$ at $2T_f$"
    told = {**parameters, "s": case.s, "d": case.d, "sigma_p": case.sigma_p, "kappa": KAPPA, "steps": STEPS}
    told = {name: value for name, value in told.items() if name not in ("sigma_0", "eta", "m_k")}  # they follow m_k
    return WidthMeasure(what, told, partial(deviation, case=case), EXPLAINED)
