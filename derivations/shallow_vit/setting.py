r"""Setting of the paper: parameters with their checks, patterns, counts of tokens, and the start of Assumption 1.

A sample with label y has :math:`\alpha_* L` tokens of the label's pattern (:math:`\mu_1` for +1, :math:`\mu_2` for -1),
:math:`\alpha_\# L` of the other discriminative one, and the rest from :math:`\mu_3, \dots, \mu_M`. The network is

.. math::  F(X) = \frac1{|S|}\sum_{l \in S} a_{(l)}^\top\,\mathrm{Relu}\big(W_O W_V X\,
           \mathrm{softmax}(X^\top W_K^\top W_Q x_l)\big), \qquad \ell = \max(\Gamma - yF, 0).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from odesys import IntegrationError, ParameterError

from .parameters import FILLINGS as FILLINGS
from .parameters import PARAMETERS as PARAMETERS
from .parameters import READOUTS as READOUTS

TRAINED = ("W_O", "W_V", "W_K", "W_Q")


@dataclass(frozen=True)
class Case:
    """One choice of all numbers; xi = 0 stands for 1/sqrt(m) and B = 0 for the full batch."""

    M: int = 5
    alpha_s: float = 0.5
    alpha_c: float = 0.05
    L: int = 50
    N: int = 40
    d: int = 10
    m_a: int = 10
    m_b: int = 10
    m: int = 200
    sigma: float = 0.0
    delta: float = 0.0
    noise: float = 0.0
    tau: float = 0.0
    unit: int = 0
    overlap: float = 0.0
    flips: float = 0.0
    xi: float = 0.0
    eta: float = 0.1
    B: int = 0
    margin: float = 1.0
    readout: str = "shared"
    filling: str = "balanced"
    jitter: float = 0.0
    frozen: int = 0
    steps: int = 3000
    tests: int = 400
    seed: int = 0

    def __post_init__(self) -> None:
        if self.M < 3:
            raise ParameterError(
                f"M = {self.M} can not be used: besides the two discriminative patterns there is at "
                f"least one other, so M is at least 3"
            )
        if not self.alpha_s > self.alpha_c >= 0:
            raise ParameterError(
                f"alpha_s = {self.alpha_s:g}, alpha_c = {self.alpha_c:g} can not be used: the label "
                f"is the majority of mu1 and mu2, so alpha_s > alpha_c >= 0"
            )
        if self.alpha_s + self.alpha_c > 1 + 1e-12:
            raise ParameterError(
                f"alpha_s + alpha_c = {self.alpha_s + self.alpha_c:g} is more than all tokens; their sum is at most 1"
            )
        for name, least in (("d", self.M), ("m_a", self.M), ("m_b", self.M)):
            if getattr(self, name) < least:
                raise ParameterError(
                    f"{name} = {getattr(self, name)} is too small: the {self.M} patterns and their "
                    f"features are orthonormal, so {name} is at least M = {self.M}"
                )
        if self.N < 2 or self.N % 2:
            raise ParameterError(f"N = {self.N} can not be used: the classes are balanced, so N is even and at least 2")
        if self.m < 2 or self.m % 2:
            raise ParameterError(f"m = {self.m} can not be used: half of the output weights is positive, so m is even")
        if self.B < 0 or self.B > self.N:
            raise ParameterError(
                f"B = {self.B} can not be used: a batch has between 1 and N = {self.N} samples, or 0 for all of them"
            )
        if self.L < 2:
            raise ParameterError(f"L = {self.L} can not be used: a sample has at least two tokens")
        if not 0 <= self.overlap < 1 or not 0 <= self.flips < 1:
            raise ParameterError(
                f"overlap = {self.overlap:g}, flips = {self.flips:g} can not be used: an inner product of two "
                f"different unit patterns and a share of labels are at least 0 and below 1"
            )
        for name in ("sigma", "delta", "noise", "tau", "xi", "jitter"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ParameterError(
                    f"{name} = {getattr(self, name):g} can not be used: it is a size, so it is not negative"
                )
        if self.tau >= self.kappa / 4:
            raise ParameterError(
                f"tau = {self.tau:g} can not be used: by (5) tokens are nearer to their own pattern than to others, "
                f"so tau is below kappa/4 = {self.kappa / 4:.4g}"
            )
        for name in ("eta", "margin"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(f"{name} = {getattr(self, name):g} can not be used: it is positive and finite")
        for name, known in (("readout", READOUTS), ("filling", FILLINGS)):
            if getattr(self, name) not in known:
                raise ParameterError(f"{name} = {getattr(self, name)!r} is not known; choose {' or '.join(known)}")
        if self.xi == 0:
            object.__setattr__(self, "xi", 1 / math.sqrt(self.m))

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Case:
        """The case of a table of parameters."""
        return cls(**{name: parameters[name] for name in cls.__dataclass_fields__})

    @property
    def kappa(self) -> float:
        """Distance of two patterns."""
        return math.sqrt(2 * (1 - self.overlap))

    @property
    def nuisance(self) -> int:
        """Number of nuisance patterns, K_n = M - 2."""
        return self.M - 2

    @property
    def alpha_nd(self) -> float:
        """Fraction of non-discriminative tokens."""
        return max(0.0, 1 - self.alpha_s - self.alpha_c)

    @property
    def beta(self) -> float:
        """Fraction of each nuisance pattern when they are balanced."""
        return self.alpha_nd / self.nuisance


class CountedSteps:
    """A run of a case that took a number of steps."""

    case: Case
    steps: int

    @property
    def eta_T(self) -> float:
        """eta times the number of steps."""
        return self.case.eta * self.steps


def labels(N: int) -> np.ndarray:
    """Balanced labels: the first half +1, the second half -1."""
    return np.repeat([1, -1], [N - N // 2, N // 2])


def exact_counts(case: Case) -> tuple[np.ndarray, np.ndarray]:
    """One sample of each class with the exact fractions: counts (2, M) as real numbers that sum to 1, labels (2,)."""
    rest = [case.beta] * case.nuisance
    return np.array([[case.alpha_s, case.alpha_c, *rest], [case.alpha_c, case.alpha_s, *rest]]), np.array([1, -1])


def draw_counts(case: Case, rng: np.random.Generator, N: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers of tokens of each pattern, (N, M), and labels (N,), by the rules `filling` and `jitter`."""
    y = labels(case.N if N is None else N)
    confusion = round(case.alpha_c * case.L)
    out = np.zeros((len(y), case.M), dtype=int)
    for n, label in enumerate(y):
        share = case.alpha_s + (case.jitter * rng.standard_normal() if case.jitter else 0.0)
        relevant = min(max(round(share * case.L), confusion + 1), case.L - confusion)
        if relevant <= confusion:
            raise ParameterError(
                f"L = {case.L} tokens have no majority with alpha_s = {case.alpha_s:g} and alpha_c = "
                f"{case.alpha_c:g}: {relevant} against {confusion}; use more tokens"
            )
        rest = case.L - relevant - confusion
        first, second = (0, 1) if label > 0 else (1, 0)
        out[n, first], out[n, second] = relevant, confusion
        if case.filling == "balanced":
            out[n, 2:] = rest // case.nuisance
            out[n, 2 + rng.permutation(case.nuisance)[: rest % case.nuisance]] += 1
        elif case.filling == "random":
            out[n, 2:] = rng.multinomial(rest, [1 / case.nuisance] * case.nuisance)
        else:
            out[n, 2 + int(rng.integers(case.nuisance))] = rest
    return out, y


def check_outputs(F: np.ndarray, step: int, case: Case) -> None:
    """Refuse to go on from outputs that are not finite."""
    wrong = F[~np.isfinite(F)]
    if wrong.size:
        raise IntegrationError(
            f"after {step} steps an output is {wrong[0]}; a step size below eta = {case.eta:g} may help",
            time=case.eta * step,
        )


# ---- start -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Features:
    """Images of the patterns at the start, rows v_j (M, m_a), kappa_j and rho_j (M, m_b); and their ideal p_j, q_j."""

    v: np.ndarray
    kappa: np.ndarray
    rho: np.ndarray
    p: np.ndarray
    q: np.ndarray


def features(case: Case, rng: np.random.Generator) -> Features:
    r"""Assumption 1 up to scale: :math:`(P + E)/\max(1, \|P + E\|)` with error rows :math:`E_j \perp p_j` of length
    sigma (delta for keys and queries); q_j = r_j for all j. Without errors the p_j and q_j are the first M axes.

    The division keeps operator norms at most 1 but moves the rows further from the p_j than sigma: `distance` and
    `least_distance` say how far.
    """
    p = _orthonormal(case.M, case.m_a, case.sigma, rng)
    q = _orthonormal(case.M, case.m_b, case.delta, rng)
    return Features(_tilted(p, case.sigma, rng), _tilted(q, case.delta, rng), _tilted(q, case.delta, rng), p, q)


def _orthonormal(count: int, dimension: int, error: float, rng: np.random.Generator) -> np.ndarray:
    if error == 0:
        return np.eye(count, dimension)
    return np.linalg.qr(rng.standard_normal((dimension, dimension)))[0][:, :count].T


def _tilted(p: np.ndarray, error: float, rng: np.random.Generator) -> np.ndarray:
    if error == 0:
        return p.copy()
    if p.shape[1] < 2:
        return p.copy()
    noise = rng.standard_normal(p.shape)
    noise -= np.sum(noise * p, axis=1, keepdims=True) * p
    tilted = p + error * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    return tilted / max(1.0, float(np.linalg.norm(tilted, 2)))


def distance(image: np.ndarray, ideal: np.ndarray) -> float:
    """The error of Assumption 1 against given features: the largest distance of a row from its ideal."""
    return float(np.linalg.norm(image - ideal, axis=1).max())


def least_distance(image: np.ndarray) -> float:
    """The error against the nearest orthonormal features (those of the polar decomposition)."""
    left, _, right = np.linalg.svd(image, full_matrices=False)
    return distance(image, left @ right)


def readout(case: Case, rng: np.random.Generator) -> np.ndarray:
    """Output weights +-1/sqrt(m): (m,), half of them positive; or (L, m), each drawn by itself, `per_position`."""
    if case.readout == "shared":
        return np.repeat([1.0, -1.0], case.m // 2) / math.sqrt(case.m)
    return rng.choice([-1.0, 1.0], size=(case.L, case.m)) / math.sqrt(case.m)


def hidden(case: Case, rng: np.random.Generator) -> np.ndarray:
    """W_O at the start, (m, m_a), normal with standard deviation xi."""
    return case.xi * rng.standard_normal((case.m, case.m_a))
