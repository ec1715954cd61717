r"""Setting of the co-occurrence paper: data of Definition 2.1 and Assumption 2.3, the model of Eq. (1), start scales.

A sample has the common word :math:`\mu_3`, in class :math:`I_1` also both target words :math:`\mu_1, \mu_2` (label +1),
in :math:`I_2` only :math:`\mu_1`, in :math:`I_3` only :math:`\mu_2`, in :math:`I_4` neither (label -1); irrelevant
words :math:`\mu_4, \mu_5, \dots` fill it up to L tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp

from odesys import (
    Data,
    Expr,
    ParameterError,
    Sample,
    Setting,
    Space,
    Units,
    Words,
    maps,
    softmax,
)

from .parameters import PARAMETERS as PARAMETERS

SIGNALS, COMMON = ("mu1", "mu2"), "mu3"
CLASSES = (1, 2, 3, 4)
SPECIAL = {1: ("mu1", "mu2", "mu3"), 2: ("mu1", "mu3"), 3: ("mu2", "mu3"), 4: ("mu3",)}
LABEL = {1: 1, 2: -1, 3: -1, 4: -1}
PROBABILITY = {1: Fraction(1, 2), 2: Fraction(1, 6), 3: Fraction(1, 6), 4: Fraction(1, 6)}
TRAINED = ("W", "W_V", "W_K", "W_Q")
LARGEST_WORDS = 10_000  # of a training set that is written down


def check_sizes(n: int, L: int) -> None:
    """Refuse sizes that Assumption 2.3 can not have."""
    if n < 6 or n % 6:
        raise ParameterError(
            f"n = {n} samples can not be split 3 : 1 : 1 : 1 as Assumption 2.3 wants; "
            f"n must be a positive multiple of 6, such as {max(6, 6 * round(n / 6))}"
        )
    if L < 4:
        raise ParameterError(f"L = {L} tokens leave no room for an irrelevant word in a sample; L must be at least 4")


def class_sizes(n: int) -> dict[int, int]:
    """Samples per class: n/2, n/6, n/6, n/6."""
    return {c: int(PROBABILITY[c] * n) for c in CLASSES}


def words_needed(n: int, L: int) -> int:
    """Words of a training set whose irrelevant words are all different: 3 + n L - 7 n / 3."""
    check_sizes(n, L)
    return 3 + sum(size * (L - len(SPECIAL[c])) for c, size in class_sizes(n).items())


def words(d: int) -> Words:
    """The vocabulary mu1 .. mud, orthonormal."""
    return Words([f"mu{i}" for i in range(1, d + 1)])


@dataclass(frozen=True)
class Network:
    """F(X) = sum_l a' W W_V X softmax(X' W_K' W_Q x_l / sqrt(m)) with a' a = m1, both as parameters (Eq. (1)).

    With `neurons`, the signs a_j, each neuron is followed by itself (the paper's variables), else only their sum.
    """

    words: Words
    neurons: tuple[int, ...] | None = None
    scale: Any = 1 / sp.sqrt(sp.Symbol("m", positive=True))

    def __call__(self, X: Expr) -> Expr:
        """The output for a sample with the columns X."""
        values, scores = Space("v"), Space("m")
        W_V, (W_K, W_Q) = maps("W_V", values, self.words), maps("W_K W_Q", scores, self.words)
        P = softmax((X.T @ W_K.T @ W_Q @ X) * self.scale)
        if self.neurons is None:
            a = Words("a", [["m1"]], name="a")
            return (a.all.T @ maps("W", a, values) @ W_V @ X @ P).sum()
        W = maps("W", Units("n", len(self.neurons)), values)
        return (list(self.neurons) @ (W @ W_V @ X @ P)).sum()


def model(d: int, neurons: tuple[int, ...] | None = None) -> Network:
    """The network over d words."""
    return Network(words(d), neurons)


@cache
def data(n: int, L: int) -> Data:
    """The training set of Assumption 2.3, unique up to names and order of tokens: mu4, mu5, ... in order of use."""
    check_sizes(n, L)
    if words_needed(n, L) > LARGEST_WORDS:
        d = words_needed(n, L)
        raise ParameterError(
            f"n = {n}, L = {L} needs {d:,} words, and inner products of {float(d) ** 2:.1e} pairs of them for each "
            f"of five matrices; at most {LARGEST_WORDS:,} words can be used, so lower n or L"
        )
    fresh = iter(range(4, words_needed(n, L) + 1))
    samples = []
    for c, size in class_sizes(n).items():
        for k in range(size):
            fill = [f"mu{next(fresh)}" for _ in range(L - len(SPECIAL[c]))]
            samples.append(Sample([*SPECIAL[c], *fill], LABEL[c], Fraction(1, n), f"I{c}.{k + 1}"))
    return Data(words(words_needed(n, L)), samples)


def whole(parameters: Mapping[str, Any]) -> Setting:
    """Model and training set, for the report."""
    n, L = parameters["n"], parameters["L"]
    return Setting(model(words_needed(n, L)), data(n, L), TRAINED)


def word_numbers(data: Data) -> np.ndarray:
    """The numbers of the words of all tokens, (n, L)."""
    return np.array([[data.words.parse(token)[0] for token in sample.tokens] for sample in data.samples])


def class_of(sample: Sample) -> int:
    """The class 1 .. 4 of a sample, by the target words in it."""
    return {(True, True): 1, (True, False): 2, (False, True): 3, (False, False): 4}[
        "mu1" in sample.tokens, "mu2" in sample.tokens
    ]


def class_positions(dataset: Data) -> dict[int, np.ndarray]:
    """Positions of the samples of each class."""
    found = np.array([class_of(sample) for sample in dataset.samples])
    return {c: np.flatnonzero(found == c) for c in CLASSES}


# ---- random data sets --------------------------------------------------------------------------------------------


def draw(L: int, d: int, rng: np.random.Generator, kind: int | None = None) -> tuple[list[str], int]:
    """Tokens and label of one sample of Definition 2.1, or of its class `kind`."""
    if L < 4 or d < 4:
        raise ParameterError(f"a sample needs L >= 4 tokens and an irrelevant word, not L = {L}, d = {d}")
    kind = int(rng.choice(CLASSES, p=[float(PROBABILITY[c]) for c in CLASSES])) if kind is None else kind
    tokens = [f"mu{i}" for i in rng.integers(4, d + 1, size=L)]
    places = rng.permutation(L)[: len(SPECIAL[kind])]
    for place, word in zip(places, SPECIAL[kind], strict=True):
        tokens[place] = word
    return tokens, LABEL[kind]


def training_set(n: int, L: int, d: int, rng: np.random.Generator, distinct: bool = True) -> Data:
    """n samples in the exact proportions of Assumption 2.3 at random places; `distinct` asks for its second part too.

    With ``distinct=False`` irrelevant words are drawn with repetition, as in the experiment of the paper (d = 64).
    """
    check_sizes(n, L)
    needed = words_needed(n, L)
    if distinct and d < needed:
        raise ParameterError(
            f"d = {d} words are too few: n = {n}, L = {L} uses {needed - 3} irrelevant words, all "
            f"different, and 3 others, so d must be at least {needed}, or irrelevant words repeat"
        )
    fresh = iter(4 + rng.permutation(d - 3))
    samples = []
    for c, size in class_sizes(n).items():
        for k in range(size):
            tokens, label = draw(L, d, rng, c)
            if distinct:
                tokens = [token if token in SPECIAL[c] else f"mu{next(fresh)}" for token in tokens]
            samples.append(Sample(tokens, label, Fraction(1, n), f"I{c}.{k + 1}"))
    return Data(words(d), samples)


def satisfies_assumption(dataset: Data) -> list[str]:
    """What Assumption 2.3 and Definition 2.1 ask for and `dataset` does not have; empty if it has all."""
    n, missing = len(dataset), []
    sizes = {c: len(p) for c, p in class_positions(dataset).items()}
    if any(sizes[c] * PROBABILITY[c].denominator != n * PROBABILITY[c].numerator for c in CLASSES):
        missing.append(f"class sizes {sizes} of n = {n}")
    special = {*SIGNALS, COMMON}
    for sample in dataset.samples:
        counts = [sample.tokens.count(word) for word in ("mu1", "mu2", "mu3")]
        if max(counts) > 1 or counts[2] != 1:
            missing.append(f"{sample.name} has mu1, mu2, mu3 {counts} times")
        if sample.label != LABEL[class_of(sample)]:
            missing.append(f"{sample.name} has the label {sample.label}")
    irrelevant = [t for sample in dataset.samples for t in sample.tokens if t not in special]
    if len(set(irrelevant)) < len(irrelevant):
        missing.append(f"{len(irrelevant) - len(set(irrelevant))} irrelevant words repeat")
    return missing


# ---- start scales ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scales:
    """Widths and standard deviations of the start, and the numbers that follow from them."""

    m: int
    m1: int
    sigma0: float
    sigma1: float

    @property
    def B(self) -> float:
        """Mean of beta(0) = |W' a|^2: sigma_1^2 m m1, the speed of the slow time tau = B t."""
        return self.sigma1**2 * self.m * self.m1

    @property
    def k0(self) -> float:
        """Mean of the squared norms of keys, queries and values: sigma_0^2 m."""
        return self.sigma0**2 * self.m

    @property
    def epsilon(self) -> dict[str, float]:
        """The three small numbers the infinite-width flow depends on besides n and L."""
        return {"eps2": self.m1 * self.k0 / self.B, "eps3": 1 / (self.k0 * self.B), "eps4": self.k0 / (self.m * self.B)}

    def spread(self) -> dict[str, float]:
        """Arguments of `initial_state` for the infinite-width start."""
        return {"W": self.sigma1**2 * self.m, "W_V": self.k0, "W_K": self.k0, "W_Q": self.k0, "m1": float(self.m1)}

    def deviations(self) -> dict[str, float]:
        """Standard deviation of the entries of each map."""
        return {"W": self.sigma1, "W_V": self.sigma0, "W_K": self.sigma0, "W_Q": self.sigma0}

    @property
    def parameters(self) -> dict[str, float]:
        """Parameters of the closed systems."""
        return {"m": float(self.m), "m1": float(self.m1)}


def condition_one(L: int, m: int, m1: int, c0: float = 1.0) -> Scales:
    """The instance sigma_0 = c0 / sqrt(L m), sigma_1 = 1 / sqrt(m1) of Condition 1."""
    return Scales(m, m1, float(c0 / np.sqrt(L * m)), float(1 / np.sqrt(m1)))


def framework_default(d: int, m: int, m1: int) -> Scales:
    """Uniform on +-1/sqrt(fan-in), the default of linear layers: variance 1 / (3 fan-in); for the experiment."""
    return Scales(m, m1, float(1 / np.sqrt(3 * d)), float(1 / np.sqrt(3 * m)))


def scales(parameters: Mapping[str, Any]) -> Scales:
    """Scales of a run from the command line's parameters."""
    return condition_one(parameters["L"], parameters["m"], parameters["m1"], parameters["c0"])


def condition_ratios(scale: Scales, n: int, L: int) -> dict[str, float]:
    """The five ratios Condition 1 speaks of: the first, second and last should be large, the others of order one."""
    return {
        "m/m1": scale.m / scale.m1,
        "m/L^2": scale.m / L**2,
        "sigma0 sqrt(Lm)": scale.sigma0 * np.sqrt(L * scale.m),
        "sigma1 sqrt(m1)": scale.sigma1 * np.sqrt(scale.m1),
        "n/L^2": n / L**2,
    }
