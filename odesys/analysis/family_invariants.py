r"""Conserved numbers of a family flow, sector by sector, as an error gauge of integrations.

In each sector :math:`\theta` of the orbit algebra (`odesys.reduce.family_slaving`) the small matrix
:math:`\mathsf L^\theta = \begin{pmatrix} A^\theta & M^\theta \\ -M^{\theta\top} & -B^\theta \end{pmatrix}` moves by
conjugation, so :math:`I_q^\theta = \mathrm{tr}(\mathsf L^\theta)^q` are constants of motion.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.orbit_algebra import OTHER, SAME
from ..reduce.family_slaving import STANDARD, TRIVIAL
from ..reduce.slaving import SelfScores, self_scores
from .lax import power_traces

if TYPE_CHECKING:
    from ..reduce.family_gradient import FamilyFlow


def family_drift(flow: FamilyFlow, states: Any, K: Any = None) -> float:
    r"""How far the conserved numbers of all heads and sectors moved along a trajectory, one state vector per row.

    .. math::  \max_{t,\theta,q}\ |I_q^\theta(t) - I_q^\theta(0)| \,/\, \|S^\theta(t)\|_F^q

    Parameters
    ----------
    flow : FamilyFlow
        The family whose conserved numbers are followed.
    states : Any
        One state vector per row.
    K : Any, optional
        The number of groups, where the flow leaves it open.

    Returns
    -------
    float
        The largest relative change.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from odesys import AttentionModel, Family, Head, SampleTemplate, family_flow, integrate
    >>> half = Fraction(1, 2)
    >>> data = Family(["c", "v"], [SampleTemplate(["c", "v"], +1, half), SampleTemplate(["c", "-v"], -1, half)])
    >>> flow = family_flow(data, lambda words: AttentionModel(words, [Head(+1), Head(-1)]), K=3)
    >>> run = integrate(flow.system, flow.initial_state(omega=0.5), (0.0, 5.0))
    >>> family_drift(flow, run.states) < 1e-8
    True
    """
    rows = np.atleast_2d(np.asarray(states, dtype=float))
    size = flow.whole(K)
    worst = 0.0
    for pair in self_scores(flow):
        for sector in (TRIVIAL, STANDARD):
            lax = _lax_matrices(flow, rows, pair, sector, size)
            norm = np.linalg.norm(lax, axis=(1, 2))[:, None, None]
            norm[norm == 0] = 1.0
            now, then = power_traces(lax / norm, lax.shape[1]), power_traces(lax[:1] / norm, lax.shape[1])
            worst = max(worst, float(np.abs(now - then).max()))
    return worst


def _lax_matrices(flow: FamilyFlow, rows: np.ndarray, pair: SelfScores, sector: str, size: int) -> np.ndarray:
    m, a, b = (_sector_values(flow, rows, path, sector, size) for path in pair.paths)
    top, bottom = np.concatenate([a, m], axis=2), np.concatenate([-np.swapaxes(m, 1, 2), -b], axis=2)
    return np.concatenate([top, bottom], axis=1)


def _sector_values(flow: FamilyFlow, rows: np.ndarray, path: Any, sector: str, size: int) -> np.ndarray:
    space, segment = flow.space(path), flow.segment(path)
    units = [float(unit.at(size)) for unit in flow.algebra.scales(space)]
    kinds = len(flow.family.types) if sector == TRIVIAL else len(flow.family.words)
    out = np.zeros((len(rows), kinds, kinds))
    for n, (i, j, relation) in enumerate(space.pairs):
        if max(i, j) >= kinds:
            continue
        sign = 1 if segment.sign is None else int(segment.sign[n, 0])
        value = sign * rows[:, segment.index[n, 0]] / units[n]
        mixed = space.left.grouped[i] != space.right.grouped[j]
        factor = 1.0 if relation == SAME else size**0.5 if mixed else 1.0
        if relation == OTHER:
            factor = size - 1.0 if sector == TRIVIAL else -1.0
        out[:, i, j] += factor * value
    return out
