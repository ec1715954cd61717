r"""Attention of networks of infinite width; here because n and L are swept beyond what path matrices allow.

At leading order in 1/m a score moves by :math:`2\sigma_0^2m\,\mathcal D`, and with uniform attention

.. math::  \mathcal D_{\nu\mu}=\frac1{nL\sqrt m}\sum_{i\ni\mu,\nu}g_iy_i(G(\nu)-F_i/L) ,

so that of a sample only its special words, the sum over its irrelevant words and its output enter. Every function takes
a network of path matrices too, and reads the same number off it, for the comparison at one size.

Two numbers bound all of it: `reach`, the largest :math:`M=|G(\nu)-F_i/L|` of a word of a sample, and `pulled`, the
integral :math:`P=\int\frac1n\sum g_i\,d\tau`, which is the sum of the changes of G on one irrelevant word of each
sample. A score divided by the root of m moves by at most :math:`2\sigma_0^2MP/(L\beta)`, a softmax weight by
:math:`2/L` times that, and a row of :math:`\int\mathcal D` is at most :math:`MP/(\beta\sqrt m)` in sum.

The score of an irrelevant word and a special one moves by two terms. One is by squared norms, through the one sample of
the irrelevant word: at most :math:`2MQ\,\sigma_0^2m/(n\sqrt mL\beta)` with :math:`Q=\max_i\int g_i\,d\tau`.
The other is by products of different keys (or queries) at the start, at most c in units
:math:`\sigma_0^2\sqrt m`, through a row of :math:`\int\mathcal D`: at most
:math:`2MP\,c\,\sigma_0^2/\beta` (`partner_bounds`).
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


def samples(run: Any) -> float:
    """n; six samples may stand for n alike."""
    return run.n / run.own if isinstance(run, Sums) else float(run.n)


def partner_units(run: Any) -> tuple[float, float]:
    """Both terms of the printed order: sigma_0^2 m/(n sqrt(m) L beta) and sigma_0^2/beta."""
    s = run.scale
    return s.k0 / (samples(run) * np.sqrt(float(s.m)) * run.L * s.B), s.sigma0**2 / s.B


def partner_bounds(run: Any, since: float) -> tuple[np.ndarray, np.ndarray]:
    """2 M Q and 2 M P since a time: they bound changes of scores with an irrelevant word, term by term."""
    later = run.taus >= since
    M = np.maximum.accumulate(reach(run)[later])
    if isinstance(run, Sums):
        moved = np.abs((run.rest - run.rest[later][0]) / (run.L - run.has.sum(axis=1)))[later]
        P = (pulled(run)[later] - pulled(run)[later][0]) / run.own
    else:
        moved = np.abs(run.G[later, 3:] - run.G[later][0, 3:])
        P = pulled(run)[later] - pulled(run)[later][0]
    return 2 * M * samples(run) * moved.max(axis=1), 2 * M * P


def partner_rate_bounds(run: Any) -> tuple[np.ndarray, np.ndarray]:
    """2 M max g and 2 M mean g, over the loss: the same for rates, (k,)."""
    M = 2 * reach(run) / run.loss
    return M * run.g.max(axis=1), M * run.g.mean(axis=1)


def start_products(run: Any) -> float:
    """c: the largest product of two different keys, or queries, at the start over sigma_0^2 sqrt(m)."""
    largest = 0.0
    for leaf in ("KK", "QQ"):
        table = np.abs(run.tables[leaf][0])
        largest = max(largest, float((table - np.diag(np.diag(table))).max()))
    return largest / (run.scale.sigma0**2 * np.sqrt(float(run.scale.m)))
