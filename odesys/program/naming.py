r"""Names of path scalars of a program: ASCII for arrays and files, TeX for documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..expr.system import State
from ..model.paths import WORDS, Letter, Path, word_tex
from .expressions import Expr
from .reading import Pin
from .spaces import ONE_AXIS, Units, Words


@dataclass(frozen=True)
class Naming:
    """Pinned sets and maps of a program, by name."""

    pins: Mapping[str, Pin]
    letters: Mapping[str, Expr]

    def tables(self, paths: Sequence[Path]) -> list[Path]:
        """One head after the other, in the order in which they are read."""
        heads = list(dict.fromkeys(self.head(path) for path in paths))
        return sorted(paths, key=lambda path: heads.index(self.head(path)))

    def size(self, pin: str) -> int:
        """Number of vectors of a pinned set."""
        return self.pins[pin].size

    def gram(self, pin: str) -> np.ndarray | None:
        """Inner products of a pinned set as nodes; None for the identity."""
        return self.pins[pin].gram

    def head(self, path: Path) -> str:
        """The head all maps of a path belong to; nothing where they differ."""
        heads = {letter.of for letter in path.letters}
        return heads.pop() if len(heads) == 1 else ""

    def path(self, path: Path) -> str:
        """Short name of a path without its head, e.g. ``KQ``; a vector that stands alone is part of it: ``aWV``."""
        return self._alone(path.left) + self.chain(path) + self._alone(path.right)

    def chain(self, path: Path) -> str:
        """Short name of the maps of a path, without its ends."""
        mixed = len({letter.of for letter in path.letters}) > 1
        return "".join(
            re.sub(r"^W_", "", letter.name).replace("_", "") + (letter.of if mixed else "") for letter in path.letters
        )

    def is_alone(self, pin: str) -> bool:
        """True for the only vector of a set beside the words, such as a frozen output vector."""
        known = self.pins[pin]
        return isinstance(known.side, Words) and pin != WORDS and known.size == 1

    def _alone(self, pin: str) -> str:
        return self.pins[pin].labels[0] if self.is_alone(pin) else ""

    def _labels(self, pin: str) -> tuple[str, ...]:
        return ("",) if self.is_alone(pin) else self.pins[pin].labels

    def leaf(self, path: Path) -> str:
        """Name of the matrix of a path, e.g. ``KQ_p``."""
        label = self.head(path)
        return self.path(path) + (f"_{label}" if label else "")

    def state(self, path: Path) -> Callable[[int, int], State]:
        """Path, head and ends of the scalars of a path, by their place in its matrix."""
        name, label = self.path(path), self.head(path)
        left, right = self._labels(path.left), self._labels(path.right)
        return lambda i, j: State(name, label, left[i], right[j])

    def tex(self, path: Path) -> Callable[[int, int], str]:
        r"""TeX of scalars, e.g. ``c_{1}^\top W_{K+}^\top W_{Q+} v_{1}``, or ``V_{1,2}`` between listed axes."""
        ends = self.pins[path.left], self.pins[path.right]
        if len(path.letters) == 1 and all(isinstance(pin.side, Units) for pin in ends):
            return lambda i, j: self._entry(path.letters[0], ends, (i, j))
        left = [self._pin(ends[0], k, True) for k in range(ends[0].size)]
        right = [self._pin(ends[1], k, False) for k in range(ends[1].size)]
        middle = " ".join(self.letter(letter) for letter in path.letters)
        return lambda i, j: " ".join(part for part in (left[i], middle, right[j]) if part)

    def _entry(self, letter: Letter, ends: tuple[Pin, Pin], place: tuple[int, int]) -> str:
        index = [str(k + 1) for k, pin in zip(place, ends, strict=True) if pin.size > 1]
        if letter.transposed:
            index.reverse()
        return self.letter(Letter(letter.name, False, letter.of), index)

    def _pin(self, pin: Pin, index: int, left: bool) -> str:
        if pin.side == ONE_AXIS or (pin.size == 1 and isinstance(pin.side, Units)):
            return ""
        body = word_tex(pin.labels[index])
        if isinstance(pin.side, Units):
            listed = [known for known in self.pins.values() if isinstance(known.side, Units) and known.size > 1]
            body = f"e_{{{body if len(listed) > 1 else index + 1}}}"
        return body + r"^\top" if left else body

    def letter(self, letter: Letter, index: list[str] | None = None) -> str:
        r"""A map in TeX, with the indices of an entry; a row is the transpose of a vector, as in ``w^\top X``."""
        base, _, lower = letter.name.partition("_")
        if len(base) > 1:
            base = word_tex(base)
        mark = head_mark(letter.of)
        below = ",".join(
            part for part in (*((lower, mark) if len(mark) > 1 else (lower + mark,)), *(index or [])) if part
        )
        if below:
            base = f"{base}_{{{below}}}" if "_" not in base else f"{{{base}}}_{{{below}}}"
        row = self._is_row(letter) and index is None
        return base + r"^\top" if letter.transposed != row else base

    def _is_row(self, letter: Letter) -> bool:
        known = self.letters.get(letter.map)
        return known is not None and known.rows == ONE_AXIS and known.columns != ONE_AXIS


def head_mark(head: str) -> str:
    """How a head is marked in TeX: p and m by their signs, h1, h2, ... by their numbers."""
    return {"p": "+", "m": "-"}.get(head, re.sub(r"^h(?=\d+$)", "", head))
