r"""Spaces and axes: an index is free (only inner products exist) or listed (finitely many axes, each with a name).

`Space` is free. `Words` is a free space with pinned vectors, the words, of which the Gram matrix is known. `Units` are
listed axes: neurons, classes, outputs. `Tokens` are the columns of a sample.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr.graph import ONE, Node
from ..model.dictionary import Dictionary

_NAME = re.compile(r"[A-Za-z](_?[A-Za-z0-9]+)*")


def check_name(name: Any, what: str) -> str:
    """The name itself, if it is one."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ModelError(f"{name!r} is not the name of {what}: a letter, then letters, digits, underscores, as in W_K")
    return name


@dataclass(frozen=True)
class Space:
    """A free space, such as that of keys and queries: its dimension is the width, and only inner products exist.

    Parameters
    ----------
    name : str
        Short; part of no state's name.

    Examples
    --------
    >>> Space("m")
    Space(m)
    """

    name: str

    def __post_init__(self) -> None:
        check_name(self.name, "a space")

    def __repr__(self) -> str:
        return f"Space({self.name})"


@dataclass(frozen=True)
class Groups:
    """That words come in groups: how many kinds have one word in each, how many groups, and what the last stands for.

    In the window of a family the last group is in no sample, and stands for all that are not.
    """

    kinds: int
    size: int
    last: Node = ONE

    @property
    def counts(self) -> tuple[Node, ...] | None:
        """How many groups each one stands for; None where each is itself."""
        return None if self.last is ONE else (ONE,) * (self.size - 1) + (self.last,)


@dataclass(frozen=True, repr=False)
class Words(Space):
    r"""The space of the tokens with its pinned vectors: words with a Gram matrix, and positions.

    Parameters
    ----------
    words : str | Sequence[str]
        Names separated by blanks, or a list of them.
    gram : Any, optional
        Inner products of the words, as in `Dictionary`; orthonormal if left out. Positions are orthonormal, and
        orthogonal to the words.
    positions : int, optional
        How many position vectors there are; ``X.positions`` are those of the tokens of a sample.
    name : str, optional
        How the set of words is called; programs with two sets need two names.
    groups : Groups, optional
        Said by a `Family`, whose words come in groups.

    Examples
    --------
    >>> words = Words("a b c", positions=2)
    >>> len(words), words.pinned.words
    (3, ('a', 'b', 'c', 'pos1', 'pos2'))
    """

    name: str = "E"
    words: tuple[str, ...] = ()
    positions: int = 0
    pinned: Dictionary = field(repr=False, compare=False, default=None)  # type: ignore[assignment]
    groups: Groups | None = field(repr=False, compare=False, default=None)

    def __init__(
        self,
        words: str | Sequence[str],
        gram: Any = None,
        positions: int = 0,
        name: str = "E",
        groups: Groups | None = None,
    ) -> None:
        if not isinstance(words, (str, Sequence, np.ndarray)):
            raise ModelError(
                f"Words({words!r}) needs names separated by blanks, as in Words('a b c'), or a list of them"
            )
        names = tuple(words.split()) if isinstance(words, str) else tuple(words)
        own = Dictionary(names, gram)
        if isinstance(positions, bool) or not isinstance(positions, int) or positions < 0:
            raise ModelError(f"positions={positions!r} is how many position vectors there are: a whole number")
        places = tuple(f"pos{i + 1}" for i in range(positions))
        object.__setattr__(self, "name", check_name(name, "a set of words"))
        object.__setattr__(self, "words", names)
        object.__setattr__(self, "positions", positions)
        object.__setattr__(self, "groups", groups)
        object.__setattr__(self, "pinned", _with_positions(own, places) if positions else own)

    def __hash__(self) -> int:
        return hash((self.name, self.words, self.positions))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Words):
            return NotImplemented
        return self.name == other.name and self.positions == other.positions and self.pinned == other.pinned

    def __len__(self) -> int:
        return len(self.words)

    def __repr__(self) -> str:
        return f"Words({' '.join(self.words)})"

    def __getitem__(self, word: str) -> Any:
        """A single word as a column, such as a query that is the same for every sample.

        >>> Words("q a b")["q"]
        words.all[0]
        """
        if word not in self.words:
            raise ModelError(f"there is no word {word!r}; there are {', '.join(self.words[:9])}")
        return self.all[self.words.index(word)]

    def __iter__(self) -> Any:
        return iter(self.words)

    def parse(self, token: str) -> tuple[int, int]:
        """Number and sign of a token such as ``-v2``.

        >>> Words("c1 v1").parse("-v1")
        (1, -1)
        """
        return self.pinned.parse(token)

    @property
    def all(self) -> Any:
        """The matrix whose columns are all words; ``words.all.T @ v`` are the inner products with each of them."""
        from .expressions import all_words

        return all_words(self)


def _with_positions(own: Dictionary, places: tuple[str, ...]) -> Dictionary:
    if own.gram is None:
        return Dictionary((*own.words, *places))
    n, size = len(own.words), len(own.words) + len(places)
    gram = [[own.gram[i][j] if i < n and j < n else int(i == j) for j in range(size)] for i in range(size)]
    return Dictionary((*own.words, *places), gram)


@dataclass(frozen=True)
class Units:
    """Listed axes, such as neurons or classes, called y1, y2, ...; functions act on them one by one.

    ``Units("y", words)`` has one axis for each group of the words of a `Family`, such as a class of its own.

    Parameters
    ----------
    name : str
        Of the axes, which are numbered.
    size : int
        How many, or the `Words` of a family.
    counts : tuple[Node, ...], optional
        How many equal axes each one stands for.
    grouped : bool, optional
        Said by a `Family`.
    words : tuple[str, ...], optional
        Said by a `Family`.

    Examples
    --------
    >>> Units("y", 3).labels
    ('y1', 'y2', 'y3')
    """

    name: str
    size: int
    counts: tuple[Node, ...] | None = None  # how many equal axes each one stands for
    grouped: bool = False  # one for each group of a family
    words: tuple[str, ...] = field(default=(), compare=False)  # the words that the axes are, those of ``words.all``

    def __post_init__(self) -> None:
        check_name(self.name, "units")
        if isinstance(self.size, Words):
            groups = self.size.groups
            if groups is None:
                raise ModelError(
                    f"Units({self.name!r}, words) has one axis for each group of the words of a Family, and these "
                    f"words have no groups; say how many axes there are"
                )
            object.__setattr__(self, "counts", groups.counts)
            object.__setattr__(self, "grouped", True)
            object.__setattr__(self, "size", groups.size)
        if isinstance(self.size, bool) or not isinstance(self.size, int) or self.size < 1:
            raise ModelError(f"Units({self.name!r}, {self.size!r}) needs how many there are: a whole number above 0")

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the axes; a single one has none."""
        return tuple(f"{self.name}{i + 1}" for i in range(self.size)) if self.size > 1 else ("",)

    def __repr__(self) -> str:
        return f"Units({self.name}, {self.size})"


ONE_AXIS = Units("one", 1)


@dataclass(frozen=True)
class Tokens:
    """Columns of a sample, by their positions counted from 0."""

    positions: tuple[int, ...]

    @property
    def size(self) -> int:
        """How many columns."""
        return len(self.positions)

    def __repr__(self) -> str:
        return f"{self.size} tokens"


Listed = Units | Tokens
Side = Space | Units | Tokens


def same_side(left: Side, right: Side) -> bool:
    """True if two sides can be contracted or added: one free space, or listed axes that correspond."""
    if isinstance(left, Space) or isinstance(right, Space):
        return left == right
    if isinstance(left, Tokens) and isinstance(right, Tokens) and left.size > 1:
        return left.positions == right.positions
    return left.size == right.size


def say_side(side: Side) -> str:
    """A side in a sentence."""
    if isinstance(side, Words):
        shown = ", ".join(side.words[:4]) + (", ..." if len(side.words) > 4 else "")
        places = f" with {side.positions} positions" if side.positions else ""
        return f"the space of the words {shown}{places}" + ("" if side.name == "E" else f" ({side.name})")
    if isinstance(side, Space):
        return f"the space {side.name}"
    if isinstance(side, Tokens):
        return f"{side.size} token{'s' * (side.size != 1)}"
    return f"{side.size} {side.name}" if side != ONE_AXIS else "1"
