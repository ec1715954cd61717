r"""Attention of networks of infinite width; here because n and L are swept beyond what path matrices allow.

At leading order in 1/m a score moves by :math:`2\sigma_0^2m\,\mathcal D`, and with uniform attention

.. math::  \mathcal D_{\nu\mu}=\frac1{nL\sqrt m}\sum_{i\ni\mu,\nu}g_iy_i(G(\nu)-F_i/L) ,

so that of a sample only its special words, the sum over its irrelevant words and its output enter. Every function takes
a network of path matrices too, and reads the same number off it, for the comparison at one size.

Two numbers bound all of it: `reach`, the largest :math:`M=|G(\nu)-F_i/L|` of a word of a sample, and `pulled`, the
integral :math:`P=\int\frac1n\sum g_i\,d\tau`, which is the sum of the changes of G on one irrelevant word of each
sample. A score divided by the root of m moves by at most :math:`2\sigma_0^2MP/(L\beta)`, a softmax weight by
:math:`2/L` times that, and a row of :math:`\int\mathcal D` is at most :math:`MP/(\beta\sqrt m)` in sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .sample_sums import Sums
from .trajectories import Course


def _mean_force(run: Sums, kind: int, query: int) -> np.ndarray:
    """The mean over the keys of a sample of the force on its scores, for a special query, (k, samples of the class)."""
    places = run.classes[kind]
    has = run.has[places[0]]
    free = run.L - has.sum()
    own = run.alone[:, places] * (run.rest[:, places] - free * run.outputs[:, places] / run.L)
    return np.asarray(((run.forces[:, :, query] @ has)[:, None] + own) / run.L)


def softmax_rate(run: Sums, kind: int, query: int, key: int | None) -> np.ndarray:
    """dp/dt for a special query, (k, samples of the class); without a key the mean over the irrelevant words."""
    places = run.classes[kind]
    if key is None:
        free = run.L - run.has[places[0]].sum()
        force = run.alone[:, places] * (run.rest[:, places] / free - run.outputs[:, places] / run.L)
    else:
        force = run.forces[:, key, query][:, None]
    return np.asarray((force - _mean_force(run, kind, query)) * 2 * run.scale.k0 / (run.L**2 * float(run.scale.m)))


def irrelevant_softmax(run: Any) -> np.ndarray:
    """Largest |dp/dt| for a target word as query, on the average over the irrelevant words of a sample, (k,)."""
    pairs = [(kind, query) for kind, queries in ((1, (0, 1)), (2, (0,)), (3, (1,))) for query in queries]
    if isinstance(run, Sums):
        return np.max([np.abs(softmax_rate(run, kind, query, None)).max(axis=1) for kind, query in pairs], axis=0)
    rows = []
    for kind, query in pairs:
        for i in run.classes[kind]:
            tokens = run.tokens[i]
            place = tokens.tolist().index(query)
            rows.append(np.abs(run.attention_rate[:, i, place, tokens >= 3].mean(axis=1)) * run.scale.B)
    return np.max(rows, axis=0)


def attention_pull(run: Any) -> np.ndarray:
    """max_i |sum G dp/dt| over beta and the mean of g, (k,): item (e) of Definition F.1."""
    if not isinstance(run, Sums):
        part = np.abs(np.einsum("knlh,knh->kn", run.attention_rate, run.G[:, run.tokens])).max(axis=1) * run.scale.B
        return np.asarray(part / run.beta / run.g.mean(axis=1))
    found = []
    for places in run.classes.values():
        has = run.has[places[0]]
        free, mean, pull = run.L - has.sum(), run.outputs[:, places] / run.L, run.alone[:, places]
        gaps = (run.special[:, :, None] - mean[:, None, :]) * has[:, None]  # time, special word, sample
        rest = pull * (run.rest[:, places] - free * mean) ** 2 / free
        targets = np.einsum("khi,khq,q->ki", gaps, run.forces, has) + has.sum() * rest
        found.append(np.abs(targets + free * (pull * (gaps**2).sum(axis=1) + rest)).max(axis=1))
    unit = 2 * run.scale.k0 / (run.L**2 * float(run.scale.m))
    return np.asarray(np.max(found, axis=0) * unit / run.scale.B / run.g.mean(axis=1))


def reach(run: Any) -> np.ndarray:
    """M: the largest |G(nu) - F_i/L| of a word nu of a sample i, (k,)."""
    if isinstance(run, Sums):
        special = np.where(run.has > 0, run.special[:, None, :] - run.outputs[:, :, None] / run.L, 0.0)
        rest = run.rest / (run.L - run.has.sum(axis=1)) - run.outputs / run.L
        return np.maximum(np.abs(special).max(axis=(1, 2)), np.abs(rest).max(axis=1))
    return np.asarray(np.abs(run.G[:, run.tokens] - run.outputs[:, :, None] / run.L).max(axis=(1, 2)))


def pulled(run: Any) -> np.ndarray:
    """P: the integral of the mean of g since the start, (k,)."""
    if isinstance(run, Sums):
        return np.abs((run.rest - run.rest[0]) / (run.L - run.has.sum(axis=1))).sum(axis=1)
    irrelevant = run.tokens >= 3
    change = np.where(irrelevant, (run.G - run.G[0])[:, run.tokens], 0.0).sum(axis=2)
    return np.asarray(np.abs(change / irrelevant.sum(axis=1)).sum(axis=1))


def softmax_bound(run: Course | Sums) -> np.ndarray:
    """What bounds |p - p(0)|, (k,): 4 sigma_0^2 M P/(L^2 beta), with the largest M so far."""
    top = np.maximum.accumulate(reach(run)) * pulled(run)
    return np.asarray(4 * run.scale.sigma0**2 * top / (run.L**2 * run.scale.B))


def key_bound(run: Course | Sums, since: float) -> np.ndarray:
    """2 M P since a time: bounds changes of keys and queries over sigma_0^2/beta and the largest score at the start."""
    later = run.taus >= since
    change = pulled(run)[later]
    return np.asarray(2 * np.maximum.accumulate(reach(run)[later]) * (change - change[0]))
