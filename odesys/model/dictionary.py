"""Dictionary: the words a model reads, their signs and their Gram matrix."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import DictionaryError
from ..expr.graph import Node, Number, as_node, symbols

LARGEST_NUMBER = 10**300
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9]*")


@dataclass(frozen=True)
class Dictionary:
    r"""Words :math:`e_1, \dots, e_n` with Gram matrix :math:`\Gamma_{ij} = \langle e_i, e_j\rangle`.

    Parameters
    ----------
    words : Sequence[str]
        Distinct names made of letters and digits, such as ``c1``; a minus sign in front means the negative word.
    gram : Any, optional
        None for orthonormal words, else an n-by-n symmetric positive semidefinite matrix. Integers, fractions and SymPy
        rationals stay exact; one float makes the whole matrix a float matrix. Entries may be parameters: names such as
        ``"m"`` or SymPy expressions; then the whole matrix is kept as expressions, and no sign is checked.

    Examples
    --------
    >>> Dictionary(["c1", "v1"]).parse("-v1")
    (1, -1)
    """

    words: tuple[str, ...]
    gram: tuple[tuple[Number | Node, ...], ...] | None = None
    _index: dict[str, int] = field(init=False, repr=False, compare=False)

    def __init__(self, words: Sequence[str], gram: Any = None) -> None:
        if (words and isinstance(words, str)) or (words is not None and not hasattr(words, "__iter__")):
            raise DictionaryError(f"a dictionary is made of a list of words, such as ['c1', 'v1'], not of {words!r}")
        names = tuple(words or ())
        if not names:
            raise DictionaryError("a dictionary needs at least one word")
        for name in names:
            if not isinstance(name, str) or not _WORD.fullmatch(name):
                raise DictionaryError(f"{name!r} is not a word: use a letter followed by letters or digits, as in 'c1'")
        repeated = sorted({name for name in names if names.count(name) > 1})
        if repeated:
            raise DictionaryError(f"the word {repeated[0]!r} stands twice in the dictionary; each word once")
        object.__setattr__(self, "words", names)
        object.__setattr__(self, "gram", None if gram is None else _checked_gram(gram, names))
        object.__setattr__(self, "_index", {name: i for i, name in enumerate(names)})

    def __len__(self) -> int:
        return len(self.words)

    @property
    def orthonormal(self) -> bool:
        """True if the Gram matrix is exactly the identity."""
        return self.gram is None or all(
            value == (i == j) for i, row in enumerate(self.gram) for j, value in enumerate(row)
        )

    def parse(self, token: str) -> tuple[int, int]:
        """Index and sign of a signed word such as ``"-v2"``."""
        if not isinstance(token, str):
            raise DictionaryError(f"{token!r} is not a token: write a word, or a minus sign and a word")
        sign, name = (-1, token[1:]) if token.startswith("-") else (1, token)
        if name not in self._index:
            near = difflib.get_close_matches(name, self.words, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"the words are {', '.join(self.words[:12])}"
            raise DictionaryError(f"the token {token!r} is not in the dictionary; {hint}", token=token)
        return self._index[name], sign

    @property
    def parameters(self) -> set[str]:
        """Names of the parameters in the Gram matrix."""
        return symbols([v for row in self.gram or () for v in row if isinstance(v, Node)])

    def gram_floats(self) -> np.ndarray:
        """The Gram matrix in floats, shape (n, n); refused where it has parameters."""
        if self.parameters:
            raise DictionaryError(f"the Gram matrix has the parameter {sorted(self.parameters)[0]}; numbers are needed")
        return np.array(self.gram_array(), dtype=float)

    def gram_array(self) -> np.ndarray:
        """The Gram matrix as an array of exact numbers (or floats, or expressions in parameters), shape (n, n)."""
        n = len(self.words)
        out = np.empty((n, n), dtype=object)
        for i in range(n):
            for j in range(n):
                out[i, j] = self.gram[i][j] if self.gram is not None else Fraction(int(i == j))
        return out


def _checked_gram(gram: Any, names: tuple[str, ...]) -> tuple[tuple[Number | Node, ...], ...]:
    n = len(names)
    try:
        rows = [list(row) for row in (gram.tolist() if hasattr(gram, "tolist") else gram)]
    except TypeError:
        rows = []
    if len(rows) != n or any(len(row) != n for row in rows):
        raise DictionaryError(f"the Gram matrix must be {n} by {n}, one row and column per word")
    if any(_is_symbolic(value) for row in rows for value in row):
        nodes = tuple(tuple(as_node(value) for value in row) for row in rows)
        _check_symmetric(nodes, names)
        return nodes
    out = tuple(tuple(exact_number(value, "the Gram matrix") for value in row) for row in rows)
    if any(isinstance(value, float) for row in out for value in row):
        out = tuple(tuple(float(value) for value in row) for row in out)
    _check_symmetric(out, names)
    lowest = float(np.linalg.eigvalsh(np.array(out, dtype=float))[0])
    largest = max(1.0, max(abs(float(value)) for row in out for value in row))
    if lowest < -1e-9 * largest:
        raise DictionaryError(f"the Gram matrix has the negative eigenvalue {lowest:.3g}, so no vectors have it")
    return out


def _is_symbolic(value: Any) -> bool:
    return isinstance(value, (str, Node)) or bool(getattr(value, "free_symbols", ()))


def _check_symmetric(rows: Sequence[Sequence[Any]], names: tuple[str, ...]) -> None:
    for i, row in enumerate(rows):
        for j in range(i):
            if row[j] != rows[j][i]:
                raise DictionaryError(
                    f"the Gram matrix is not symmetric: <{names[i]}, {names[j]}> = {row[j]} but "
                    f"<{names[j]}, {names[i]}> = {rows[j][i]}"
                )


def _fraction(value: Any) -> Fraction | None:
    if isinstance(value, (int, np.integer)):
        return Fraction(int(value))
    if getattr(value, "is_Rational", False):
        return Fraction(int(value.p), int(value.q))
    return value if isinstance(value, Fraction) else None


def exact_number(value: Any, where: str, error: type[DictionaryError] | Any = DictionaryError) -> Number:
    """A Fraction where the value is exact, a finite float otherwise."""
    if isinstance(value, (bool, np.bool_)):
        raise error(f"{where} has the entry {value}; a number is needed")
    exact = _fraction(value)
    if exact is not None:
        if abs(exact) > LARGEST_NUMBER:
            raise error(f"{where} has an entry above 1e300, which no computation in floats could use")
        return exact
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise error(f"{where} has the entry {value!r}; a number is needed") from None
    if not math.isfinite(number):
        raise error(f"{where} has the entry {number}; every entry must be finite")
    return number
