r"""Training sets of Definition 2.1 and fresh samples; here because supports of the noise may overlap.

Patches are rows, x[i, 0] = y_i mu e_1 and x[i, 1] = xi_i; with L > 2 patches the first L/2 are the signal, the others
independent noise. The order of patches does not matter to the model.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from odesys import ParameterError

from ..setting import DISJOINT, EVERYWHERE, LARGEST_ENTRIES, Case


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Patches x (n, L, d) and labels y (n,) in {1, -1}; the first `signals` patches of a sample are y mu."""

    case: Case
    x: np.ndarray
    y: np.ndarray
    signals: int = 1

    @cached_property
    def pinned(self) -> np.ndarray:
        """mu and y_i xi_i as rows, (1 + n, d): what weights are projected on (first noise patch of each sample)."""
        mu = np.zeros((1, self.x.shape[2]))
        mu[0, 0] = self.case.mu
        return np.vstack([mu, self.y[:, None] * self.x[:, self.signals]])

    @cached_property
    def norms(self) -> np.ndarray:
        """L1 norms of the noise, (n,)."""
        return np.abs(self.pinned[1:]).sum(axis=1)

    @cached_property
    def lengths(self) -> np.ndarray:
        """L2 norms of the noise, (n,)."""
        return np.linalg.norm(self.pinned[1:], axis=1)

    @cached_property
    def active(self) -> np.ndarray:
        """Coordinates that some patch has: no other weight ever moves."""
        return np.flatnonzero((self.x != 0).any(axis=(0, 1)))

    @cached_property
    def disjoint(self) -> bool:
        """True if no coordinate belongs to two of mu, xi_1, ..., xi_n."""
        return bool(((self.pinned != 0).sum(axis=0) <= 1).all())

    @cached_property
    def shared(self) -> np.ndarray:
        """Fraction of each support that mu or another sample has too, (n,)."""
        used = self.pinned != 0
        several = used.sum(axis=0) > 1
        return (used[1:] & several).sum(axis=1) / used[1:].sum(axis=1)


def labels(n: int) -> np.ndarray:
    """Balanced labels: half +1 (the larger half for odd n), then -1."""
    return np.where(np.arange(n) < (n + 1) // 2, 1, -1)


def make(case: Case, seed: int | tuple[int, ...], patches: int = 2) -> TrainingSet:
    """A training set; `patches` = L is even, half of them signal."""
    _check(case, patches)
    rng = np.random.default_rng(seed)
    return _assemble(case, labels(case.n), patches, rng, case.supports)


def fresh(case: Case, count: int, seed: int | tuple[int, ...], patches: int = 2) -> TrainingSet:
    """Fresh samples of the same law (supports drawn independently, also where the training set has disjoint ones)."""
    _check(case, patches)
    if count < 1:
        raise ParameterError(f"{count} fresh samples can not be drawn; use at least 1")
    rng = np.random.default_rng(seed)
    return _assemble(case, rng.choice([1, -1], size=count), patches, rng, max(case.supports, 1))


def _check(case: Case, patches: int) -> None:
    if patches < 2 or patches % 2:
        raise ParameterError(f"{patches} patches can not be used: half of them are signal, so they are even in number")
    if case.n * patches * case.d > LARGEST_ENTRIES or case.m_k * case.d > LARGEST_ENTRIES:
        raise ParameterError(
            f"d = {case.d} is too large to build vectors with n = {case.n}, m_k = {case.m_k}; the "
            f"reduced recursion needs only norms"
        )


def _assemble(case: Case, y: np.ndarray, patches: int, rng: np.random.Generator, supports: int) -> TrainingSet:
    n, signals = len(y), patches // 2
    noise = patches - signals
    x = np.zeros((n, patches, case.d))
    x[:, :signals, 0] = case.mu * y[:, None]
    first = 0 if supports == EVERYWHERE else 1
    if supports == DISJOINT:
        if n * noise * case.s > case.d - 1:
            raise ParameterError(
                f"{n * noise} disjoint supports of s = {case.s} coordinates do not fit into d = {case.d}"
            )
        places = (1 + rng.permutation(case.d - 1)[: n * noise * case.s]).reshape(n * noise, case.s)
    else:
        places = np.array([first + rng.choice(case.d - first, case.s, replace=False) for _ in range(n * noise)])
    values = case.sigma_p * rng.standard_normal((n * noise, case.s))
    flat = np.zeros((n * noise, case.d))
    np.put_along_axis(flat, places, values, axis=1)
    x[:, signals:] = flat.reshape(n, noise, case.d)
    return TrainingSet(case, x, y, signals)
