r"""The start of the Gram scalars at any width, by exact Wishart laws; here because neglected terms need huge widths.

For a p x n matrix X of independent standard Gaussians, n >= p, :math:`X X^\top = A A^\top` in law, with A lower
triangular, :math:`A_{ii}^2 \sim \chi^2_{n-i+1}` and standard Gaussians below the diagonal. Tokens, queries and keys
enter the recursion through such products alone, so d and d_h cost nothing: widths at which the paper's neglected terms
really are small (N SNR / sqrt(d_h), N sqrt(log / d)) can be run.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from odesys import ParameterError

from .. import setting
from ..setting import Case
from . import span_network


@dataclass(frozen=True, eq=False)
class GramStart:
    """A training set and its start as the recursion sees them: G and the matrices S, Q, K and V."""

    case: Case
    gram: np.ndarray
    y: np.ndarray
    places: np.ndarray
    values: dict[str, np.ndarray]


def bartlett(size: int, width: int, rng: np.random.Generator) -> np.ndarray:
    """A lower triangular A such that A A' has the law of X X' for a Gaussian X of size x width."""
    if width < size:
        raise ParameterError(f"a width of {width} is below the {size} vectors, whose Gram matrix is then singular")
    root = np.tril(rng.standard_normal((size, size)), -1)
    root[np.diag_indices(size)] = np.sqrt(rng.chisquare(float(width) - np.arange(size)))
    return root


def gram_start(case: Case, seed: int | tuple[int, ...]) -> GramStart:
    """Draw G (signals orthogonal to the noise, as in Definition 3.1) and S, Q, K, V given G."""
    rng = np.random.default_rng(seed)
    noise = np.tile(span_network.scales(case), case.N)[:, None] * bartlett(case.P - 2, case.d - 2, rng)
    root = np.zeros((case.P, case.P))
    root[0, 0] = root[1, 1] = case.mu
    root[2:, 2:] = noise
    gram = root @ root.T
    both = case.sigma_h * bartlett(2 * case.P, case.d_h, rng)
    q, k = root @ both[: case.P], root @ both[case.P :]
    V = case.sigma_V * np.sqrt(case.w2) * root @ rng.standard_normal(case.P)
    y = np.array(setting.labels(case.N))
    return GramStart(case, gram, y, setting.places(case.N, case.M), {"S": q @ k.T, "Q": q @ q.T, "K": k @ k.T, "V": V})
