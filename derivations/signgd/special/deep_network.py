r"""Deeper transformers of appendix B.6, by the program of their model; here because the first layer is compared.

A block before the last layer maps patches to patches,

.. math:: X\mapsto[X+]\,OX\,\mathrm{softmax}(X^\top W_K^\top W_QX),\qquad H\mapsto[H+]\,B\,\mathrm{relu}(AH),

and the last layer is that of the paper. Residual connections (in brackets) and the second map, the MLP, are options.
The paper does not give widths, activation, readout or start: here O is square, A and B have as many hidden units as
there are coordinates, everything starts as in the paper, and the coordinates are those that some patch has.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from odesys import Data, Expr, ManySamples, Sample, Units, Words, logistic, maps, relu, softmax

from .. import dynamics
from ..setting import Case
from . import recursion
from .network import Weights, gaussian, projected
from .recursion import Run, State
from .training_sets import make


@dataclass(frozen=True)
class Deep:
    """How many attention layers, and whether blocks have an MLP and residual connections."""

    layers: int
    mlp: bool
    residual: bool

    @property
    def label(self) -> str:
        """For titles."""
        return f"{self.layers} layers, {'with' if self.mlp else 'without'} MLP"


def model(words: Words, m_k: int, width: int, deep: Deep) -> Callable[[Expr], Expr]:
    """The output of the model; maps of block l are q<l>, k<l>, o<l>, a<l>, b<l>, those of the last layer q, k, v."""
    rows, readout = Units("r", m_k), dynamics.READOUT
    v, (q, k) = maps("v", readout, words), maps("q k", rows, words)
    blocks = []
    for l in range(1, deep.layers):
        attention = (maps(f"o{l}", words, words), *maps(f"q{l} k{l}", rows, words))
        hidden = Units(f"h{l}", width)
        blocks.append((attention, (maps(f"a{l}", hidden, words), maps(f"b{l}", words, hidden)) if deep.mlp else None))

    def f(X: Expr) -> Expr:
        for (o, q_l, k_l), mlp in blocks:
            new = o @ X @ softmax(X.T @ k_l.T @ q_l @ X)
            X = X + new if deep.residual else new
            if mlp is not None:
                new = mlp[1] @ relu(mlp[0] @ X)
                X = X + new if deep.residual else new
        return (readout.all.T @ v @ X @ softmax(X.T @ k.T @ q @ X)).sum()

    return f


@lru_cache(maxsize=16)
def program(m_k: int, width: int, deep: Deep) -> ManySamples:
    """The model on one sample of two patches, whose label and patches are arrays later."""
    words = Words(["x1", "x2"])
    return ManySamples(
        model(words, m_k, width, deep), Data(words, [Sample(words.words, "y")]), logistic, ["y"], pairs=2
    )


@dataclass(frozen=True, eq=False)
class DeepRun:
    """Queries and keys of the first layer with values of the last, and mean sizes of the first layer's gradients."""

    run: Run
    gradient: np.ndarray  # of W_Q and W_K of the first layer, at every record


def train(case: Case, deep: Deep, eta: float, steps: int, seed: int, record: int = 5, floats: bool = False) -> DeepRun:
    """SignGD on all maps from Gaussians of standard deviation sigma_0; data (seed, 0), weights (seed, 1).

    With `floats` signs are those of gradients in floats: quicker, and the same while nothing underflows.
    """
    data, whole = make(case, (seed, 0)), gaussian(case, (seed, 1))
    first = whole.columns(data.active)
    width, rng = len(data.active), np.random.default_rng((seed, 3))
    weights = {"v": first.W_V.reshape(-1, width), "q1": first.W_Q, "k1": first.W_K}
    shapes = {"q": (case.m_k, width), "k": (case.m_k, width)}
    for l in range(1, deep.layers):
        square = ("o",) if not deep.mlp else ("o", "a", "b")
        shapes |= {f"{name}{l}": (width, width) for name in square}
        shapes |= {f"{name}{l}": (case.m_k, width) for name in "qk" if l > 1}
    weights |= {name: case.sigma_0 * rng.standard_normal(shape) for name, shape in shapes.items()}
    made = program(case.m_k, width, deep)
    patches = np.ascontiguousarray(data.x[:, :, data.active]).mT
    parameters = {"E": patches, "c": np.repeat([1.0, -1.0], case.m_v)[None, :, None] / case.m_v}
    pinned, y = data.pinned[:, data.active], data.y[:, None].astype(float)
    times, states, sizes = list[int](), list[State](), list[float]()
    for number in range(steps + 1):
        if number % record == 0:
            times.append(number)
            states.append(projected(_first(weights, case), pinned))
            now = made.gradients(weights, parameters, y)
            sizes.append(float(np.mean([np.abs(now[name]).mean() for name in ("q1", "k1")])))
        moves = made.gradients if floats else made.signs
        for name, found in moves(weights, parameters, y).items():
            weights[name] = weights[name] - eta * np.sign(found)
    start = recursion.project(data, whole)
    return DeepRun(recursion.from_states(start, times, states, eta), np.array(sizes))


def _first(weights: dict[str, np.ndarray], case: Case) -> Weights:
    """Queries and keys of the first layer with values of the last."""
    return Weights(weights["q1"].copy(), weights["k1"].copy(), weights["v"].reshape(2, case.m_v, -1).copy())
