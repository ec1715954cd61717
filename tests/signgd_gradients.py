r"""Gradients of the network of signgd by hand, as an oracle: nothing of the language is used.

.. math::
    \partial f/\partial z_{la} = s_{la}\sum_b s_{lb}(u_a - u_b), \qquad
    \partial\mathcal L_i/\partial f = -y_i\,\sigma(-y_if)/n .

For signs every coordinate is divided by its own largest positive weight (softmax product times loss slope), as
logarithms. This is enough where no two patches of a sample are equal: else the largest product has no gap.
"""

from types import SimpleNamespace

import numpy as np

from derivations.signgd.special.network import Weights


def forward(weights: Weights, x: np.ndarray):
    """Outputs of the model on patches x (n, L, d)."""
    queries, keys = x @ weights.W_Q.T, x @ weights.W_K.T
    scores = queries @ np.swapaxes(keys, 1, 2)
    top = scores.max(axis=2, keepdims=True)
    log_attention = scores - top - np.log(np.exp(scores - top).sum(axis=2, keepdims=True))
    u = x @ weights.v
    f = np.einsum("nla,na->n", np.exp(log_attention), u)
    return SimpleNamespace(queries=queries, keys=keys, log_attention=log_attention, u=u, f=f)


def slopes(found: SimpleNamespace) -> tuple[np.ndarray, np.ndarray]:
    r"""df/dz_la over the largest product of two attentions of its row, and the logarithm of that product.

    :math:`\partial f/\partial z_{la} = s_{la}\sum_b s_{lb}(u_a - u_b)`, which has no cancellation for s near 1.
    """
    logs = found.log_attention
    first = logs.max(axis=2)
    second = np.sort(logs, axis=2)[:, :, -2]
    scale = first + second
    powers = logs[:, :, :, None] + logs[:, :, None, :] - scale[:, :, None, None]
    powers[..., np.eye(logs.shape[2], dtype=bool)] = -np.inf  # a patch against itself has no gap, and s^2 may be large
    pairs = np.exp(powers)
    gaps = found.u[:, None, :, None] - found.u[:, None, None, :]
    return (pairs * gaps).sum(axis=3), scale


def gradient(weights: Weights, data_x: np.ndarray, y: np.ndarray, relative: bool = False) -> tuple[Weights, np.ndarray]:
    """Gradient of the training loss and the margins; `relative` divides every coordinate by a positive number."""
    found = forward(weights, data_x)
    n, L, d = data_x.shape
    margins = y * found.f
    slope, scale = slopes(found)
    log_g = -np.logaddexp(0.0, margins)
    sign = -y[:, None]  # dL/df = -y g / n
    flat = data_x.reshape(n * L, d)
    rows = log_g[:, None] + scale  # logarithm of the positive weight of query row (i, l)
    best = scale.max(axis=1)
    per_query = sign[:, :, None] * (slope @ found.keys) / n
    inner = np.einsum("nla,nlr->nar", slope * np.exp(scale - best[:, None])[:, :, None], found.queries)
    per_key = sign[:, :, None] * inner / n
    mass = sign * np.exp(found.log_attention).sum(axis=1) / n  # of patch a in df/dv
    keys = np.broadcast_to((log_g + best)[:, None], (n, L))
    losses = np.broadcast_to(log_g[:, None], (n, L))
    W_Q = per_query.reshape(n * L, -1).T @ _weighted(flat, rows.ravel(), relative)
    W_K = per_key.reshape(n * L, -1).T @ _weighted(flat, keys.ravel(), relative)
    value = mass.reshape(1, n * L) @ _weighted(flat, losses.ravel(), relative)
    m_v = weights.W_V.shape[1]
    W_V = np.broadcast_to(np.array([1.0, -1.0])[:, None, None] / m_v * value, weights.W_V.shape)
    return Weights(W_Q, W_K, W_V), margins


def _weighted(flat: np.ndarray, logs: np.ndarray, relative: bool) -> np.ndarray:
    """Patches times exp(logs); relative: over the largest weight among the patches that have the coordinate."""
    if not relative:
        return flat * np.exp(logs)[:, None]
    top = np.where(flat != 0, logs[:, None], -np.inf).max(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(flat != 0, flat * np.exp(np.minimum(logs[:, None] - top, 0.0)), 0.0)
