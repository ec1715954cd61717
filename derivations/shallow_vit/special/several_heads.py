r"""Several heads in one layer, Eq. (240), as an expression and by hand; here because they share their hidden neurons.

.. math::
    F = \sum_k f_k\sum_i a_i\Big(\sum_h w_{i,h}^\top V^h_k\Big)_+, \qquad
    V^h_k = \sum_j A^h_{jk}v^h_j, \quad A^h_{jk} \propto c_j e^{\kappa^h_j{}'\rho^h_k} .

All heads act on the same hidden neurons, so this is no sum of networks with one head each. The rates of `HeadTables`
are scalar derivatives of the written loss, taken by the engine; those of `Heads` are written by hand, an array
per head.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from odesys import MARGIN, Distribution, Loss, Node, graph, num, sym

from . import class_network
from .class_network import Counts, Weights

WIDTH = 2  # m_a = m_b of the expressions
LEAVES = ("O", "V", "K", "Q")


@dataclass(frozen=True, eq=False)
class HeadTables:
    """Weights as symbols, (head, neuron, axis) for O and (head, axis, pattern) for V, K, Q; the loss over them."""

    weights: dict[str, np.ndarray]
    loss: Node

    @cached_property
    def _slopes(self) -> dict[Node, Node]:
        states = [x for leaf in LEAVES for x in self.weights[leaf].ravel()]
        return dict(zip(states, graph.gradient(self.loss, states), strict=True))

    def rates(self, leaf: str) -> np.ndarray:
        """Minus the derivatives of the loss by one kind of weights, in their shape."""
        return np.vectorize(lambda x: -self._slopes[x], otypes=[object])(self.weights[leaf])


def tables(
    heads: int, readout: Sequence[Node], data: Distribution, loss: Loss, activation: str = "relu", scale: Any = 1
) -> HeadTables:
    """Symbols and loss for samples given by counts; neurons with frozen weights `readout`."""
    M, m = len(data.samples[0].tokens), len(readout)
    shapes = {"O": (heads, m, WIDTH), **{leaf: (heads, WIDTH, M) for leaf in "VKQ"}}
    made = {
        leaf: np.array([sym(f"{leaf}{h + 1}_{i + 1}_{j + 1}") for h, i, j in np.ndindex(shape)], dtype=object).reshape(
            shape
        )
        for leaf, shape in shapes.items()
    }
    total = []
    for sample in data.samples:
        counts = [graph.as_node(c) for c in sample.counts or [1] * M]
        output = []
        for k in range(M):
            mixed = [_mixed(made, h, k, counts, scale) for h in range(heads)]
            for i, a in enumerate(readout):
                before = graph.add(w * v for h in range(heads) for w, v in zip(made["O"][h, i], mixed[h], strict=True))
                active = graph.relu(before) if activation == "relu" else before
                output.append(counts[k] / graph.add(counts) * a * active)
        margin = num(sample.label) * graph.add(output)
        total.append(graph.as_node(sample.weight) * graph.substitute([loss.value], {MARGIN: margin})[0])
    return HeadTables(made, graph.add(total))


def _mixed(made: dict[str, np.ndarray], h: int, k: int, counts: Sequence[Node], scale: Any) -> list[Node]:
    """V^h_k: values under the attention of head h for a query of pattern k."""
    K, Q, V = (made[leaf][h] for leaf in "KQV")
    weights = [c * graph.exp(graph.as_node(scale) * graph.add(K[:, j] * Q[:, k])) for j, c in enumerate(counts)]
    whole = graph.add(weights)
    return [graph.add(w / whole * v for w, v in zip(weights, row, strict=True)) for row in V]


# ---- a network, by hand ----------------------------------------------------------------------------------------------


class Heads(Weights):
    """Neurons w (H, m, m_a), images v (H, M, m_a), kappa and rho (H, M, m_b), frozen weights a (m,)."""

    @property
    def conserved(self) -> tuple[np.ndarray, np.ndarray]:
        """W_O' W_O - W_V W_V' and W_K W_K' - W_Q W_Q' for every pair of heads, (H, H, axis, axis)."""
        w, v, kappa, rho = self.w, self.v, self.kappa, self.rho
        return (
            np.einsum("gia,hib->ghab", w, w) - np.einsum("gja,hjb->ghab", v, v),
            np.einsum("gja,hjb->ghab", kappa, kappa) - np.einsum("gja,hjb->ghab", rho, rho),
        )


def draw(heads: int, m: int, M: int, seed: int, tilt: float = 0.3) -> Heads:
    """Features near the axes, different in every head, and small neurons; half of the output weights is positive."""
    rng = np.random.default_rng(seed)
    v, kappa, rho = (np.eye(M) + tilt * rng.standard_normal((heads, M, M)) for _ in range(3))
    return Heads(rng.standard_normal((heads, m, M)) / m**0.5, v, kappa, rho, np.repeat([1.0, -1.0], m // 2) / m**0.5)


def margins(net: Heads, data: Counts) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attention (H, n, j, k), pre-activations (n, k, i) and margins (n,)."""
    A = np.array([class_network.attention(k @ r.T, data.counts) for k, r in zip(net.kappa, net.rho, strict=True)])
    u = np.einsum("hia,hja->hij", net.w, net.v)
    before = np.einsum("hnjk,hij->nki", A, u)
    return A, before, data.y * np.einsum("nk,nki,i->n", data.fractions, np.maximum(before, 0.0), net.a)


def loss(net: Heads, data: Counts, margin: float) -> float:
    """Mean hinge loss."""
    return float(np.maximum(margin - margins(net, data)[2], 0.0).mean())


def slopes(net: Heads, data: Counts, margin: float) -> dict[str, np.ndarray]:
    """Minus the gradient of the mean hinge loss, by hand."""
    A, before, reached = margins(net, data)
    active = data.y * (reached < margin) / len(data.y)
    D = (active[:, None] * data.fractions)[:, :, None] * ((before > 0) * net.a)  # (n, k, i)
    C = np.einsum("nki,hnjk->hij", D, A)
    g = np.einsum("nki,hia,hja->hnjk", D, net.w, net.v)
    G = (A * (g - (A * g).sum(axis=2, keepdims=True))).sum(axis=1)  # (h, j, k)
    return {
        "w": C @ net.v,
        "v": np.swapaxes(C, 1, 2) @ net.w,
        "kappa": G @ net.rho,
        "rho": np.swapaxes(G, 1, 2) @ net.kappa,
    }


def train(
    net: Heads, data: Counts, eta: float, steps: int, margin: float, speed: Mapping[str, Any] | None = None
) -> Heads:
    """Gradient steps from a copy of a network; `speed` multiplies the changes of some weights."""
    now = net.copy()
    for _ in range(steps):
        for name, change in slopes(now, data, margin).items():
            setattr(now, name, getattr(now, name) + eta * (speed or {}).get(name, 1) * change)
    return now
