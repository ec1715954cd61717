r"""Eq. (1) trained on patches of images; here because images have more tokens than a network in their span could hold.

A token at position j is a patch :math:`x_j` in block j, so that :math:`W_Q`, :math:`W_K` have a block for each position
and :math:`u = W_Vw_O` a vector. Gradients are written by hand; they are compared with finite differences in the tests.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from odesys import IntegrationError, row_softmax

PARTS = ("W_Q", "W_K", "u")


@dataclass(frozen=True, eq=False)
class PatchNetwork:
    """Weights: W_Q and W_K of shape (M, p, d_h), u of shape (M, p); |w_O| = 1."""

    W_Q: np.ndarray
    W_K: np.ndarray
    u: np.ndarray

    @classmethod
    def start(cls, M: int, p: int, d_h: int, scale: float, rng: np.random.Generator) -> PatchNetwork:
        """A Gaussian start of W_Q and W_K, and u = 0."""
        W_Q, W_K = (scale * rng.standard_normal((M, p, d_h)) for _ in range(2))
        return cls(W_Q, W_K, np.zeros((M, p)))

    def margins(self, X: np.ndarray, y: np.ndarray) -> np.ndarray:
        """y f(X) of samples (n, M, p)."""
        return np.asarray(y * self._forward(X)[3].mean(axis=1))

    def loss(self, X: np.ndarray, y: np.ndarray) -> float:
        """Mean cross-entropy loss."""
        return float(np.logaddexp(0.0, -self.margins(X, y)).mean())

    def _forward(self, X: np.ndarray) -> tuple[np.ndarray, ...]:
        q, k = (np.einsum("njp,jph->njh", X, W, optimize=True) for W in (self.W_Q, self.W_K))
        v = np.einsum("njp,jp->nj", X, self.u)
        attention = row_softmax(q @ np.swapaxes(k, 1, 2))
        return q, k, attention, np.einsum("nlj,nj->nl", attention, v), v

    def gradients(self, X: np.ndarray, y: np.ndarray) -> tuple[float, dict[str, np.ndarray]]:
        """The loss and its derivatives by the three weights."""
        n, M, _ = X.shape
        q, k, attention, rows, v = self._forward(X)
        margins = y * rows.mean(axis=1)
        c = -y * expit(-margins) / (n * M)
        pull = c[:, None, None] * attention * (v[:, None, :] - rows[:, :, None])
        push = c[:, None] * attention.sum(axis=1)
        out = {
            "W_Q": np.einsum("njp,njh->jph", X, pull @ k, optimize=True),
            "W_K": np.einsum("njp,njh->jph", X, np.swapaxes(pull, 1, 2) @ q, optimize=True),
            "u": np.einsum("njp,nj->jp", X, push),
        }
        return float(np.logaddexp(0.0, -margins).mean()), out


def train(
    network: PatchNetwork, X: np.ndarray, y: np.ndarray, eps: float, steps: int, rate: float = 40.0
) -> tuple[PatchNetwork, float, int]:
    """Gradient descent until the training loss is eps, or for that many steps: network, loss, steps taken.

    The step is `rate` times M over the mean squared length of a sample, half of that wherever the loss rises.
    """
    eta = rate * X.shape[1] / float((X**2).sum(axis=(1, 2)).mean())
    before = np.inf
    for number in range(steps + 1):
        loss, slopes = network.gradients(X, y)
        if not np.isfinite(loss):
            raise IntegrationError(f"gradient descent overflows at step {number}; lower the rate {rate:g}")
        if loss <= eps or number == steps:
            break
        eta, before = (eta / 2 if loss > before else eta), loss
        network = replace(network, **{name: getattr(network, name) - eta * slopes[name] for name in PARTS})
    return network, loss, number
