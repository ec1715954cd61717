"""Lemma E.2 on regions: certified rates against an optimiser in floats, and the point where no rate works."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import differential_evolution

from derivations.two_mixture.claims.part_e_growth import BLOCK, GROWTH, bound, neuron_ranges, region
from derivations.two_mixture.laboratory import Laboratory

SMALL = ("M_cc_same", "M_vc_same", "M_vc_other", "M_vv_same", "M_vv_other")


def force(M: dict[str, float], n_c: float, n_v: float, b: float) -> float:
    """G of (c1, v1) at uniform weights on the conflicting samples, from the softmax model in plain numpy."""
    slopes, outputs = [], []
    for s in (1, -1):  # tokens c1, s v1, -s v2; rows queries, columns keys
        scores = np.array(
            [
                [M["M_cc_same"], s * M["M_vc_same"], -s * M["M_vc_other"]],
                [s * M["M_cv_same"], M["M_vv_same"], -M["M_vv_other"]],
                [-s * M["M_cv_other"], -M["M_vv_other"], M["M_vv_same"]],
            ]
        )
        weights = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        values = np.array([n_c, s * n_v, -s * n_v])
        pooled = weights @ values
        outputs.append(pooled.sum() + b)
        slopes.append(weights[1, 0] * (values[0] - pooled[1]) * (outputs[-1] > 0))
    margin = max(outputs[0], 0) - max(outputs[1], 0)
    return float(sum(slopes) / 4 / (1 + np.exp(margin)))


def least_force(C: float, T1: int) -> float:
    """Least G_cv (same group) over kappa on the region, by differential evolution on coordinates that fill it."""
    n_c, n_v = (float(sum(neuron_ranges(T1)[n]) / 2) for n in ("n_c", "n_v"))

    def objective(z: np.ndarray) -> float:
        same, other = C * z[0], C * z[1]
        reach = 0.51 * min(same, other)
        scores = {"M_cv_same": same, "M_cv_other": -other}
        scores |= {name: reach * r for name, r in zip(SMALL, z[2:], strict=True)}
        return force(scores, n_c, n_v, 0.5) / (n_c / 18)

    found = differential_evolution(objective, [(0, 1)] * 2 + [(-1, 1)] * 5, seed=1, tol=1e-8, maxiter=60, popsize=8)
    return float(found.fun)


@pytest.mark.parametrize(
    ("C", "T1"),
    [("1/100", 20), pytest.param("1/10", 3, marks=pytest.mark.slow), pytest.param("1/2", 3, marks=pytest.mark.nightly)],
)
def test_the_certified_rate_is_within_two_percent_of_the_least_one_found(C: str, T1: int) -> None:
    found, kappa = bound(Laboratory(), Fraction(C), T1), float(neuron_ranges(T1)["n_c"][0]) / 18
    least = least_force(float(Fraction(C)), T1)
    assert found.answer == "holds" and found.evidence == "certificate"
    assert 0.98 * least <= float(found.rate) / kappa <= least
    assert float(found.upper) / kappa == pytest.approx(least, rel=1e-3), "both find the same point"


def test_no_rate_works_on_a_wide_region() -> None:
    lab = Laboratory()
    found = bound(lab, Fraction(1), 3, wanted=Fraction(0))
    assert found.answer == "fails" and found.evidence == "certificate"
    system = lab.reduced("stage2").system
    assert region(system, Fraction(1), 3).contains(found.tight_at)
    state = np.array([float(found.tight_at[name]) for name in system.names])
    rates = dict(zip(system.names, system.compile(b=0.5)(0.0, state), strict=True))
    asked = np.array(GROWTH, dtype=float) @ [float(found.tight_at[n]) for n in BLOCK]
    assert any(rates[name] < -1e-6 and ask > 0 for name, ask in zip(BLOCK, asked, strict=True))
