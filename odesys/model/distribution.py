"""Finite data distributions with exact weights: Sample, Distribution, and their encoding for a dictionary."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import DistributionError
from ..expr.graph import Node, as_node, symbols
from .dictionary import Dictionary, exact_number


@dataclass(frozen=True)
class Sample:
    """Tokens (signed words; repetitions allowed), a label and an exact weight.

    The label is +1 or -1 in a `Distribution`; the `Data` of a program also take classes, numbers, vectors, or one of
    them per position.

    With `counts`, one per token, a token stands for that many equal ones: a number, or the name of a parameter. Only
    ratios matter to softmax and mean, so counts may also be fractions of the whole.

    Parameters
    ----------
    tokens : Sequence[str]
        Signed words, in order.
    label : Any
        +1 or -1, or for `Data` a class, a number, a vector, or one of them per position.
    weight : Any, optional
        Exact.
    name : str, optional
        For tables and observables.
    counts : Sequence[Any], optional
        How many equal tokens each one stands for.

    Examples
    --------
    >>> from fractions import Fraction
    >>> Sample(["c1", "v1", "-v2"], label=+1, weight=Fraction(1, 8)).tokens
    ('c1', 'v1', '-v2')
    >>> [str(count.args[0]) for count in Sample(["c1", "v1"], label=+1, counts=["alpha", 3]).counts]
    ['alpha', '3']
    """

    tokens: tuple[str, ...]
    label: Any
    weight: Fraction
    name: str = ""
    counts: tuple[Node, ...] | None = None

    def __init__(
        self,
        tokens: Sequence[str],
        label: Any,
        weight: Any = Fraction(1),
        name: str = "",
        counts: Sequence[Any] | None = None,
    ) -> None:
        if isinstance(tokens, str) or not hasattr(tokens, "__iter__") or not list(tokens):
            raise DistributionError(f"a sample needs a list of at least one token, got {tokens!r}")
        shown = "(" + ", ".join(map(str, tokens)) + ")"
        object.__setattr__(self, "tokens", tuple(tokens))
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "weight", _weight(weight, shown))
        object.__setattr__(self, "name", name or shown)
        object.__setattr__(self, "counts", None if counts is None else _counts(counts, len(self.tokens), shown))


def _counts(counts: Sequence[Any], length: int, shown: str) -> tuple[Node, ...]:
    if isinstance(counts, str) or len(counts) != length:
        raise DistributionError(f"the sample {shown} has {length} tokens, so it needs {length} counts, not {counts!r}")
    nodes = tuple(
        as_node(c if isinstance(c, (str, Node)) else exact_number(c, "a count", DistributionError)) for c in counts
    )
    for node in nodes:
        if node.op == "num" and node.args[0] <= 0:
            raise DistributionError(
                f"the sample {shown} has the count {node.args[0]}; counts are positive, and a word "
                f"that does not occur is left out"
            )
    return nodes


def _weight(weight: Any, shown: str) -> Fraction:
    if getattr(weight, "is_Rational", False):
        weight = Fraction(int(weight.p), int(weight.q))
    if isinstance(weight, bool) or not isinstance(weight, (int, Fraction, np.integer)):
        raise DistributionError(
            f"the sample {shown} has the weight {weight!r}; weights are exact, write Fraction(1, 8) instead of 0.125"
        )
    if weight <= 0:
        raise DistributionError(f"the sample {shown} has the weight {weight}; weights are positive")
    return Fraction(int(weight)) if not isinstance(weight, Fraction) else weight


@dataclass(frozen=True)
class SampleArrays:
    """Samples of one length as arrays: token words and signs (s, L), labels and weights (s,), positions in the data.

    `counts` (s, L) are the nodes of the multiplicities of the tokens, None where every token stands for itself.
    """

    words: np.ndarray
    signs: np.ndarray
    labels: np.ndarray
    weights: tuple[Fraction, ...]
    positions: tuple[int, ...]
    counts: np.ndarray | None = None

    @property
    def length(self) -> int:
        """Tokens per sample."""
        return int(self.words.shape[1])


@dataclass(frozen=True)
class Distribution:
    """A finite population: samples whose exact weights sum to 1.

    Parameters
    ----------
    samples : Iterable[Sample]
        Their weights sum to 1.

    Examples
    --------
    >>> from fractions import Fraction
    >>> half = Fraction(1, 2)
    >>> data = Distribution([Sample(["good", "the"], +1, half), Sample(["bad", "the"], -1, half)])
    >>> len(data.samples), data.condition(lambda sample: sample.label > 0).samples[0].weight
    (2, Fraction(1, 1))
    """

    samples: tuple[Sample, ...]

    def __init__(self, samples: Iterable[Sample]) -> None:
        if samples is not None and not hasattr(samples, "__iter__"):
            raise DistributionError(f"a distribution is made of a list of samples, not of {samples!r}")
        items = tuple(samples or ())
        if not items:
            raise DistributionError("a distribution needs at least one sample")
        for item in items:
            if not isinstance(item, Sample):
                raise DistributionError(f"{item!r} is not a Sample")
            if isinstance(item.label, (bool, np.ndarray)) or item.label not in (1, -1):
                raise DistributionError(
                    f"the sample {item.name} has the label {item.label!r}; a label is +1 or -1", label=item.label
                )
        total = sum((item.weight for item in items), Fraction(0))
        if total != 1:
            raise DistributionError(
                f"the weights of the {len(items)} samples sum to {total}, not to 1; "
                f"Distribution.proportional(samples) rescales them",
                total=total,
            )
        object.__setattr__(self, "samples", items)

    @classmethod
    def proportional(cls, samples: Iterable[Sample]) -> Distribution:
        """The distribution whose weights are proportional to those given."""
        items = tuple(samples)
        if any(not isinstance(item, Sample) for item in items):
            raise DistributionError("a distribution is made of Sample objects")
        total = sum((item.weight for item in items), Fraction(0))
        return cls(Sample(item.tokens, item.label, item.weight / total, item.name, item.counts) for item in items)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def parameters(self) -> set[str]:
        """Names of the parameters among the counts."""
        return symbols([count for item in self.samples for count in item.counts or ()])

    def condition(self, keep: Callable[[Sample], bool]) -> Distribution:
        """The conditional distribution on the samples for which `keep` is true."""
        kept = [item for item in self.samples if keep(item)]
        if not kept:
            raise DistributionError("no sample satisfies the condition, so there is nothing to condition on")
        return Distribution.proportional(kept)

    def expectation(self, function: Callable[[Sample], Any]) -> Any:
        """Exact expectation of `function(sample)`."""
        return sum(
            (item.weight * function(item) for item in self.samples[1:]),
            self.samples[0].weight * function(self.samples[0]),
        )

    def encode(self, dictionary: Dictionary) -> tuple[SampleArrays, ...]:
        """Samples as index arrays, one record per length; unknown words are named."""
        by_length: dict[tuple[int, bool], list[int]] = {}
        parsed = [[dictionary.parse(token) for token in item.tokens] for item in self.samples]
        for position, tokens in enumerate(parsed):
            by_length.setdefault((len(tokens), self.samples[position].counts is not None), []).append(position)
        return tuple(
            SampleArrays(
                np.array([[i for i, _ in parsed[p]] for p in places]),
                np.array([[s for _, s in parsed[p]] for p in places]),
                np.array([self.samples[p].label for p in places]),
                tuple(self.samples[p].weight for p in places),
                tuple(places),
                np.array([self.samples[p].counts for p in places], dtype=object) if counted else None,
            )
            for (_, counted), places in sorted(by_length.items())
        )
