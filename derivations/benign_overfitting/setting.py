r"""Setting of the paper: data of Definition 3.1, the model of Eq. (1), parameters, and Condition 4.1 as a predicate.

A sample with label y has the tokens :math:`(\mu_y,\ \xi_2, \dots, \xi_M)`; :math:`\xi_2` has the variance
:math:`\tilde\sigma_p^2 = C_p^2\sigma_p^2`, the others :math:`\sigma_p^2`, all orthogonal to :math:`\mu_\pm`. The
distinct tokens of N samples are :math:`\mu_+, \mu_-` and N (M - 1) noise tokens: P = 2 + N (M - 1).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from odesys import (
    Data,
    Expr,
    Formula,
    Node,
    ParameterError,
    Sample,
    Setting,
    Space,
    Words,
    maps,
    softmax,
    sym,
)

from .parameters import PARAMETERS as PARAMETERS

TRAINED = ("W_V", "W_K", "W_Q")
SIGNAL = ("mup", "mum")


@dataclass(frozen=True)
class Case:
    """One choice of all numbers; `noise` is sigma_p^2 d."""

    N: int
    M: int
    d: int
    d_h: int
    mu: float
    noise: float
    C_p: float
    w2: float = 1.0
    kappa: float = 0.0
    sigma_V: float = 0.0

    def __post_init__(self) -> None:
        if self.M < 2:
            raise ParameterError(
                f"M = {self.M} can not be used: a sample has a signal token and at least one noise token"
            )
        if self.N < 2:
            raise ParameterError(f"N = {self.N} can not be used: each class has a sample, so N is at least 2")
        for name in ("noise", "C_p", "w2"):
            if not 0 < getattr(self, name) < math.inf:
                raise ParameterError(
                    f"{name} = {getattr(self, name):g} can not be used: it is a variance or length, so it is positive"
                )
        if not 0 < self.mu < math.inf:
            raise ParameterError(
                f"mu = {self.mu:g} makes SNR = {self.snr:g}: without a signal there is nothing to learn; mu is positive"
            )
        for name in ("kappa", "sigma_V"):
            if not 0 <= getattr(self, name) < math.inf:
                raise ParameterError(
                    f"{name} = {getattr(self, name):g} can not be used: it is a variance or length, "
                    f"so it is not negative"
                )
        if self.d < self.P:
            raise ParameterError(
                f"d = {self.d} is too small for N = {self.N}, M = {self.M}: the {self.P} distinct "
                f"tokens are independent vectors, so d is at least {self.P}"
            )
        if self.d_h < 1:
            raise ParameterError(f"d_h = {self.d_h} can not be used: a width is at least 1")
        if self.kappa == 0:
            object.__setattr__(self, "kappa", 20.0 / self.largest)

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Case:
        """The case of a table of parameters; V(0) is in units of condition (7)."""
        made = cls(**{name: parameters[name] for name in cls.__dataclass_fields__ if name != "sigma_V"})
        unit = made.d_h**-0.25 / math.sqrt(made.w2 * max(made.m_s, made.noise))
        return replace(made, sigma_V=parameters["V_0"] * unit)

    @property
    def P(self) -> int:
        """Number of distinct tokens."""
        return 2 + self.N * (self.M - 1)

    @property
    def m_s(self) -> float:
        """Squared length of a signal."""
        return self.mu**2

    @property
    def m_2(self) -> float:
        """Squared length of the first noise token."""
        return self.C_p**2 * self.noise

    @property
    def m_w(self) -> float:
        """Squared length of a weak noise token."""
        return self.noise

    @property
    def largest(self) -> float:
        """The largest squared length."""
        return max(self.m_s, self.m_2)

    @property
    def sigma_p(self) -> float:
        """Standard deviation of the weak noise."""
        return math.sqrt(self.noise / self.d)

    @property
    def sigma_h(self) -> float:
        """Standard deviation of the entries of W_Q and W_K."""
        return math.sqrt(self.kappa / self.d_h)

    @property
    def snr(self) -> float:
        """SNR = |mu| / (sigma_p sqrt(d))."""
        return self.mu / math.sqrt(self.noise)

    @property
    def n_snr2(self) -> float:
        """N SNR^2."""
        return self.N * self.snr**2

    @property
    def balance(self) -> float:
        """r = N mu^2 / (2 sigma~_p^2 d): what v_s / v_2 is while attention is uniform."""
        return self.N * self.m_s / (2 * self.m_2)

    @property
    def mean_field(self) -> dict[str, float]:
        """The parameters of the mean-field systems."""
        return {
            "N": float(self.N),
            "m_s": self.m_s,
            "m_2": self.m_2,
            "m_w": self.m_w,
            "kappa": self.kappa,
            "w2": self.w2,
        }


# ---- words, samples and model ----------------------------------------------------------------------------------------


def noise_word(n: int, i: int) -> str:
    """The noise token i = 2 .. M of sample n = 1 .. N."""
    return f"xi{n}t{i}"


def token_names(N: int, M: int) -> list[str]:
    """All distinct tokens: mu+, mu-, then the noise tokens sample by sample."""
    return [*SIGNAL, *(noise_word(n, i) for n in range(1, N + 1) for i in range(2, M + 1))]


def labels(N: int, share: float = 0.5) -> tuple[int, ...]:
    """Labels, +1 first, with this share of them; balanced labels of an odd number of samples have one +1 more."""
    plus = N - N // 2 if share == 0.5 else round(share * N)
    if not 0 < plus < N:
        raise ParameterError(f"share = {share:g} of N = {N} samples leaves a class empty: {plus} of them are +1")
    return (1,) * plus + (-1,) * (N - plus)


def samples(N: int, M: int, signs: Sequence[int] | None = None) -> list[Sample]:
    """The training set: sample n has the signal of its label and its own noise tokens, all with weight 1/N."""
    return [
        Sample([SIGNAL[0 if y > 0 else 1], *(noise_word(n, i) for i in range(2, M + 1))], y, Fraction(1, N))
        for n, y in enumerate(labels(N) if signs is None else signs, 1)
    ]


def places(N: int, M: int, signs: Sequence[int] | None = None) -> np.ndarray:
    """Index of each token among the distinct tokens, shape (N, M)."""
    y = labels(N) if signs is None else signs
    return np.array([[0 if y[n] > 0 else 1, *range(2 + n * (M - 1), 2 + (n + 1) * (M - 1))] for n in range(N)])


def words(N: int, M: int, gram: Any) -> Words:
    """The distinct tokens with their Gram matrix: numbers, or expressions in parameters."""
    return Words(token_names(N, M), gram)


def orthogonal_gram(N: int, M: int) -> list[list[Any]]:
    """The Gram matrix at infinite dimension: diagonal, with squared lengths m_s, m_2 and m_w."""
    lengths = ["m_s", "m_s", *(["m_2", *["m_w"] * (M - 2)] * N)]
    return [[a if i == j else 0 for j in range(len(lengths))] for i, a in enumerate(lengths)]


def general_gram(N: int, M: int) -> list[list[Any]]:
    """Signals of squared length m_s, orthogonal to everything; noise tokens with one parameter for each pair."""
    P = 2 + N * (M - 1)

    def entry(i: int, j: int) -> Node | str | int:
        if min(i, j) < 2:
            return "m_s" if i == j else 0
        return sym(f"g_{min(i, j) - 1}_{max(i, j) - 1}")

    return [[entry(i, j) for j in range(P)] for i in range(P)]


def unprojected_gram(N: int, M: int) -> list[list[Any]]:
    """The same with an inner product g of mu+ and the last noise token, as noise that is not projected has it."""
    table = general_gram(N, M)
    table[0][-1] = table[-1][0] = "g"
    return table


GRAMS = {"general": general_gram, "orthogonal": orthogonal_gram, "unprojected": unprojected_gram}


@dataclass(frozen=True)
class Network:
    """f = (1/M) sum_l w_O' W_V' X softmax(X' W_K' W_Q x_l) with w_O frozen and |w_O|^2 = w2 (Eq. (1))."""

    words: Words
    sign: int = 1
    scale: Any = 1
    pooled: Callable[[Expr], Expr] = Expr.mean

    def __call__(self, X: Expr) -> Expr:
        """The output for a sample with the columns X."""
        w_O = Words("wO", [["w2"]], name="wO")
        W_V, (W_K, W_Q) = maps("W_V", w_O, self.words), maps("W_K W_Q", Space("d_h"), self.words)
        P = softmax((X.T @ W_K.T @ W_Q @ X) * self.scale)
        return self.pooled(w_O.all.T @ W_V @ X @ P) * self.sign


def law_of_data(parameters: Mapping[str, Any]) -> list[Formula]:
    """What Definition 3.1 draws, and what becomes of it as d grows: noise is Gaussian, and orthogonal in the limit."""
    share = Fraction(parameters["share"]).limit_denominator(1000)
    other = 1 - share
    law = r"\xi_{n,2}\sim\mathcal N(0,\tilde\sigma_p^2\,\Pi),\quad \xi_{n,i}\sim\mathcal N(0,\sigma_p^2\,\Pi)\ (i\ge3),"
    law += r"\quad \Pi=I-\|\mu\|_2^{-2}(\mu_+\mu_+^\top+\mu_-\mu_-^\top),\quad \tilde\sigma_p=C_p\sigma_p"
    limit = r"\|\xi_{n,2}\|_2^2/m_2\to1,\ \|\xi_{n,i}\|_2^2/m_w\to1,\ \langle\xi,\xi'\rangle/\sqrt{m\,m'}=O(d^{-1/2}),"
    limit += r"\quad m_2=\tilde\sigma_p^2d,\ m_w=\sigma_p^2d,\ m_s=\|\mu\|_2^2"
    return [
        Formula("law of the noise tokens", law),
        Formula("labels in Definition 3.1", r"\mathbb P[y_n=1]=\mathbb P[y_n=-1]=\tfrac12"),
        Formula("labels of runs and equations here", rf"N_+={share}\,N,\quad N_-={other}\,N"),
        Formula("as d grows tokens become orthogonal, which the equations start from", limit),
    ]


def whole(parameters: Mapping[str, Any]) -> Setting:
    """Model and training set with orthogonal tokens, trained by gradient steps, for the report."""
    N, M = parameters["N"], parameters["M"]
    known = words(N, M, orthogonal_gram(N, M))
    return Setting(Network(known), Data(known, samples(N, M)), TRAINED, step=True)
