r"""Data of a program: samples of tokens with targets and exact weights, encoded in groups of one length.

A token is a signed word such as ``"-v2"``, a combination of words such as ``{"a": 2, "b": Fraction(1, 2)}``, or a list
of coordinates, one per word. A target is a sign, a class counted from 0, a real number, a vector, or one per position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import DistributionError, ModelError
from ..expr.graph import ZERO, Node, as_node, num, symbols
from ..model.dictionary import exact_number
from ..model.distribution import Sample, SampleArrays
from ..shortening import shortened, some
from .spaces import Words


@dataclass(frozen=True, repr=False)
class Data:
    """Samples over the words: pairs (tokens, target), triples with an exact weight, or `Sample` objects.

    Weights are equal unless they are given; given, they sum to 1.

    Parameters
    ----------
    words : Words
        The words of the tokens.
    samples : Iterable[Any]
        Pairs, triples or `Sample` objects.

    Examples
    --------
    >>> from odesys import Data, Words
    >>> data = Data(Words("good bad the"), [(("good", "the"), +1), (("bad", "the"), -1)])
    >>> data.weights
    (Fraction(1, 2), Fraction(1, 2))
    """

    words: Words
    samples: tuple[Sample, ...]

    def __repr__(self) -> str:
        shown = some((f"{sample.name}: {sample.label}" for sample in self.samples), 4)
        return shortened(f"<Data: {len(self.samples)} samples over {self.words}: {shown}>")

    def __init__(self, words: Words, samples: Iterable[Any]) -> None:
        if not isinstance(words, Words):
            raise DistributionError(f"Data(words, samples) begins with the Words, not with {words!r}")
        if not hasattr(samples, "__iter__") or isinstance(samples, (str, Mapping)):
            raise DistributionError(f"data are a list of pairs (tokens, target), not {samples!r}")
        items = [_sample(item) for item in samples]
        if not items:
            raise DistributionError("data need at least one sample")
        if all(item.weight == 1 for item in items):
            items = [_weighted(item, Fraction(1, len(items))) for item in items]
        total = sum((item.weight for item in items), Fraction(0))
        if total != 1:
            raise DistributionError(f"the weights of the {len(items)} samples sum to {total}, not to 1", total=total)
        object.__setattr__(self, "words", words)
        object.__setattr__(self, "samples", tuple(items))
        for item in items:
            for token in item.tokens:
                coordinates(words, token)

    @classmethod
    def proportional(cls, words: Words, samples: Iterable[Any]) -> Data:
        """The data whose weights are proportional to those given.

        >>> from odesys import Data, Words
        >>> Data.proportional(Words("a b"), [("a", +1, 2), ("b", -1, 1)]).weights
        (Fraction(2, 3), Fraction(1, 3))
        """
        items = [_sample(item) for item in samples]
        total = sum((item.weight for item in items), Fraction(0))
        return cls(words, [_weighted(item, item.weight / total) for item in items])

    def condition(self, keep: Callable[[Sample], bool]) -> Data:
        """The conditional distribution on the samples for which `keep` is true.

        >>> from odesys import Data, Words
        >>> Data(Words("a b"), [("a", +1), ("b", +1), ("a b", -1)]).condition(lambda s: s.label > 0).weights
        (Fraction(1, 2), Fraction(1, 2))
        """
        kept = [sample for sample in self.samples if keep(sample)]
        if not kept:
            raise DistributionError("no sample satisfies the condition, so there is nothing to condition on")
        return Data.proportional(self.words, kept)

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The exact weights of the samples."""
        return tuple(sample.weight for sample in self.samples)

    @property
    def parameters(self) -> set[str]:
        """Names of the parameters among coordinates and counts."""
        nodes = [c for sample in self.samples for c in sample.counts or ()]
        nodes += [c for s in self.samples for t in s.tokens for c in coordinates(self.words, t).values()]
        return symbols(nodes)

    def groups(self) -> tuple[Group, ...]:
        """The samples by length, each group as arrays."""
        lengths: dict[int, list[int]] = {}
        for place, sample in enumerate(self.samples):
            lengths.setdefault(len(sample.tokens), []).append(place)
        return tuple(Group.of(self, length, places) for length, places in sorted(lengths.items()))


def _sample(item: Any) -> Sample:
    if isinstance(item, Sample):
        return item
    if not isinstance(item, (tuple, list)) or len(item) not in (2, 3):
        raise DistributionError(f"a sample is a pair (tokens, target) or a triple with its weight, not {item!r}")
    tokens, target, *weight = item
    if isinstance(tokens, str):
        tokens = tokens.split()
    return Sample(tokens, target, *weight)


def _weighted(sample: Sample, weight: Fraction) -> Sample:
    return Sample(sample.tokens, sample.label, weight, sample.name, sample.counts)


def coordinates(words: Words, token: Any) -> dict[int, Node]:
    """A token as a combination of pinned vectors: their numbers, and the coefficients."""
    if isinstance(token, str):
        place, sign = words.pinned.parse(token)
        return {place: num(sign)}
    if isinstance(token, Mapping):
        out = {words.pinned.parse(word)[0]: _coefficient(value) for word, value in token.items()}
    elif isinstance(token, (Sequence, np.ndarray)):
        if len(token) != len(words):
            raise DistributionError(
                f"the token {token!r} has {len(token)} coordinates, but there are {len(words)} words"
            )
        out = {place: _coefficient(value) for place, value in enumerate(token)}
    else:
        raise DistributionError(f"{token!r} is not a token: write a word, coordinates, or {{word: coefficient}}")
    return {place: value for place, value in out.items() if value is not ZERO}


def _coefficient(value: Any, what: str = "a coordinate of a token") -> Node:
    if isinstance(value, (str, Node)) or getattr(value, "free_symbols", None):
        return as_node(value)
    return num(exact_number(value, what, DistributionError))


@dataclass(frozen=True, eq=False)
class Group:
    """Samples of one length: tokens as words with factors or as coordinates, weights, targets, places in the data.

    `index` (s, L) and `factor` (s, L) where every token is a multiple of one word; else `index` is (1, n) and `table`
    (s, n, L) has the coordinates. `counts` (s, L) are multiplicities, None where every token stands for itself.
    """

    length: int
    index: np.ndarray
    factor: np.ndarray
    table: np.ndarray | None
    weights: tuple[Fraction, ...]
    targets: tuple[Any, ...]
    places: tuple[int, ...]
    counts: np.ndarray | None

    @classmethod
    def of(cls, data: Data, length: int, places: Sequence[int]) -> Group:
        """The samples at `places`, all of one length."""
        samples = [data.samples[p] for p in places]
        tokens = [[coordinates(data.words, token) for token in sample.tokens] for sample in samples]
        weights, targets = tuple(s.weight for s in samples), tuple(s.label for s in samples)
        counts = None
        if any(s.counts is not None for s in samples):
            rows = [s.counts or (num(1),) * length for s in samples]
            counts = np.array(rows, dtype=object)
        if all(len(token) == 1 for row in tokens for token in row):
            index = np.array([[next(iter(token)) for token in row] for row in tokens])
            factor = np.array([[next(iter(token.values())) for token in row] for row in tokens], dtype=object)
            return cls(length, index, factor, None, weights, targets, tuple(places), counts)
        size = len(data.words.pinned)
        table = np.full((len(samples), size, length), ZERO, dtype=object)
        for s, row in enumerate(tokens):
            for column, token in enumerate(row):
                for place, value in token.items():
                    table[s, place, column] = value
        factor = np.full((1, size), num(1), dtype=object)
        return cls(length, np.arange(size)[None], factor, table, weights, targets, tuple(places), counts)

    @classmethod
    def encoded(cls, arrays: SampleArrays) -> Group:
        """Samples that are index arrays already, of a distribution or one for each orbit of a family."""
        factor = np.asarray(np.frompyfunc(num, 1, 1)(arrays.signs.astype(int)), dtype=object)
        targets = tuple(label if isinstance(label, str) else int(label) for label in arrays.labels.tolist())
        return cls(arrays.length, arrays.words, factor, None, arrays.weights, targets, arrays.positions, arrays.counts)

    @property
    def size(self) -> int:
        """Number of samples."""
        return len(self.weights)


@dataclass(frozen=True)
class Wanted:
    """What targets are compared with: an output of so many rows and columns, its rows by name, and its text."""

    rows: int
    columns: int
    names: Mapping[str, int]
    shown: str


def target_table(group: Group, wanted: Wanted) -> np.ndarray:
    """Targets of a group, shape (samples, rows, columns)."""
    return np.array([_target(target, wanted) for target in group.targets], dtype=object)


def _target(target: Any, wanted: Wanted) -> list[list[Node]]:
    rows, columns = wanted.rows, wanted.columns
    if columns > 1 and rows > 1 and isinstance(target, str) and len(target.split()) > 1:
        target = target.split()
    listed = isinstance(target, (tuple, list, np.ndarray))
    if columns == 1 and rows == 1:
        (value,) = target if listed and len(target) == 1 else (target,)
        return [[_coefficient(value, "a target")]]
    if columns == 1 or not listed:
        column = _column(target, wanted)
        return [[value] * columns for value in column]
    if len(target) != columns:
        raise ModelError(f"the target {target!r} has {len(target)} entries, but {wanted.shown} has {columns} columns")
    parts = [_column(value, wanted) for value in target]
    return [[part[r] for part in parts] for r in range(rows)]


def _column(target: Any, wanted: Wanted) -> list[Node]:
    rows = wanted.rows
    if isinstance(target, (tuple, list, np.ndarray)):
        if len(target) != rows:
            raise ModelError(f"the target {target!r} has {len(target)} entries, but {wanted.shown} has {rows} rows")
        return [_coefficient(value, "a target") for value in target]
    if rows == 1:
        return [_coefficient(target, "a target")]
    if isinstance(target, str) and target in wanted.names:
        target = wanted.names[target]
    if isinstance(target, bool) or not isinstance(target, (int, np.integer)) or not 0 <= target < rows:
        raise ModelError(
            f"the target {target!r} of the output {wanted.shown} is a class from 0 to {rows - 1}, one of "
            f"{', '.join(list(wanted.names)[:4])}{', ...' if rows > 4 else ''}, or {rows} numbers"
        )
    return [num(int(r == target)) for r in range(rows)]
