r"""Setting of the two-mixture paper: data of Definition 2.1, the two-headed model of Eq. (1), parameters.

A sample of group k has the tokens :math:`(c_k,\ y v_k,\ \epsilon v_{k'}, \dots)` with distractors :math:`k' \ne k`;
its label is y.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from itertools import combinations_with_replacement
from math import comb, factorial
from typing import Any

from odesys import (
    Data,
    Expr,
    Family,
    OtherGroups,
    ParameterError,
    Sample,
    SampleTemplate,
    Setting,
    Space,
    Words,
    maps,
    relu,
    softmax,
)

from .parameters import PARAMETERS as PARAMETERS

RATE = 0.1  # of gradient descent, in the paper's experiments
LARGEST_SUPPORT = 20_000
LARGEST_LISTED = 500  # samples; above this the orbit variables come from the family, which lists none


def words(K: int = 2) -> Words:
    """Group signals c1..cK, then classification signals v1..vK, orthonormal."""
    return Words([f"c{k}" for k in range(1, K + 1)] + [f"v{k}" for k in range(1, K + 1)])


@dataclass(frozen=True)
class TwoHeads:
    """f(X) = relu(H+(X) + b) - relu(H-(X) + b), Eq. (1), over any words; H = sum_l w' X softmax(X' W_K' W_Q x_l)."""

    words: Words
    signs: tuple[int, int] = (1, -1)
    bias: Any = "b"

    def __call__(self, X: Expr) -> Expr:
        """The output for a sample with the columns X."""
        plus, minus = (relu(H(X) + self.bias) for H in self.shown.values())
        return self.signs[0] * plus + self.signs[1] * minus

    @cached_property
    def shown(self) -> dict[str, Callable[[Expr], Expr]]:
        """The heads H+ and H-, which are seen along runs."""
        return {"H_p": head(self.words, "p"), "H_m": head(self.words, "m")}


def head(words: Words, name: str) -> Callable[[Expr], Expr]:
    """The pooled output of one head."""
    w, (W_K, W_Q) = maps("w", 1, words, of=name), maps("W_K W_Q", Space("m"), words, of=name)
    return cache(lambda X: (w @ X @ softmax(X.T @ W_K.T @ W_Q @ X)).sum())


def model(K: int = 2) -> TwoHeads:
    """The model over the words of K groups."""
    return TwoHeads(words(K))


@cache
def data(K: int = 2, L: int = 3) -> Data:
    """The support of Definition 2.1 up to order of tokens, with multinomial weights."""
    signed = [(sign, j) for j in range(1, K + 1) for sign in (1, -1)]
    size = support_size(K, L)
    if size > LARGEST_SUPPORT:
        raise ParameterError(f"K = {K}, L = {L} has {size} distinct samples, more than {LARGEST_SUPPORT}; lower K or L")
    samples = []
    for k in range(1, K + 1):
        others = [(sign, j) for sign, j in signed if j != k]
        for y in (1, -1):
            for bag in combinations_with_replacement(others, L - 2):
                orders = factorial(L - 2)
                for count in Counter(bag).values():
                    orders //= factorial(count)
                weight = Fraction(orders, 2 * K * len(others) ** (L - 2))
                tokens = [f"c{k}", signal_token(y, k), *(signal_token(sign, j) for sign, j in bag)]
                samples.append(Sample(tokens, label=y, weight=weight))
    return Data(words(K), samples)


def whole(parameters: Mapping[str, Any]) -> Setting:
    """Model and data of simultaneous training, for the report."""
    K, L = parameters["K"], parameters["L"]
    return Setting(model(K), data(K, L), ("w", "W_K", "W_Q"))


def signal_token(sign: int, k: int) -> str:
    """The classification signal of group k with a sign, as a token."""
    return f"v{k}" if sign > 0 else f"-v{k}"


def surface_tex(name: str, K: int = 2, L: int = 3) -> str:
    """A switching surface in the paper's notation: ``H_p_4`` is the head + on the fourth sample.

    >>> surface_tex("H_p_4")
    'H_+(c_1, -v_1, -v_2) + b'
    """
    samples = enumerate(data(K, L).samples, start=1)
    known = {
        f"H_{label}_{number}": (sign, s.tokens) for number, s in samples for label, sign in (("p", "+"), ("m", "-"))
    }
    sign, tokens = known[name]
    return f"H_{sign}({', '.join(f'{token[:-1]}_{token[-1]}' for token in tokens)}) + b"


def is_conflicting(sample: Sample) -> bool:
    """True if the distractor carries the other sign than the label (L = 3)."""
    return sample.tokens[2].startswith("-") == (sample.label > 0)


def conflicting(K: int = 2, L: int = 3) -> Data:
    """The conditional distribution on the conflicting samples, the objective of stage 2."""
    _one_distractor(L)
    return data(K, L).condition(is_conflicting)


def _one_distractor(L: int) -> None:
    if L != 3:
        raise ParameterError(f"conflicting samples are defined for L = 3, not L = {L}; use --protocol simultaneous")


def support_size(K: int, L: int) -> int:
    """Number of distinct samples up to the order of tokens."""
    return 2 * K * comb(2 * (K - 1) + L - 3, L - 2)


# ---- the same data for every number of groups ------------------------------------------------------------------------


def family(L: int = 3) -> Family:
    """Definition 2.1 as a family: group signal, classification signal with the sign of the label, L - 2 distractors."""
    if isinstance(L, bool) or not isinstance(L, int) or L < 3:
        raise ParameterError(
            f"L = {L!r} can not be used: a sample has a group signal, a classification signal and at "
            f"least one distractor, so L is a whole number of at least 3"
        )
    draw = OtherGroups(["v", "-v"], count=L - 2)
    return Family(
        ["c", "v"], [SampleTemplate(["c", signal, draw], label, Fraction(1, 2)) for signal, label in _SIGNALS]
    )


def conflicting_family(L: int = 3) -> Family:
    """The conflicting samples of the family: the distractor has the other sign than the signal."""
    _one_distractor(L)
    clash = {"v": "-v", "-v": "v"}
    return Family(
        ["c", "v"], [SampleTemplate(["c", v, OtherGroups([clash[v]])], label, Fraction(1, 2)) for v, label in _SIGNALS]
    )


_SIGNALS = (("v", 1), ("-v", -1))
