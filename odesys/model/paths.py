r"""Path scalars between pinned vectors: their words of maps, names, TeX and symmetry.

A path is :math:`\langle\text{pinned}\,|\,W_1 W_2 \cdots\,|\,\text{pinned}\rangle`, written as a tuple of letters; a
letter is a map with a transpose flag. Pinned sets have names: ``E`` are the words, ``one`` is the axis of a number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..expr.letters import GREEK
from ..expr.system import State

WORDS = "E"


@dataclass(frozen=True, order=True)
class Letter:
    """A linear map, or its transpose."""

    name: str
    transposed: bool = False
    of: str = ""  # the head it belongs to, where every head has maps of its own

    @property
    def T(self) -> Letter:
        """The other one."""
        return Letter(self.name, not self.transposed, self.of)

    @property
    def map(self) -> str:
        """The map without its transpose flag, e.g. ``W_K`` or ``W_K.p``."""
        return f"{self.name}.{self.of}" if self.of else self.name

    def __str__(self) -> str:
        return self.map + ("'" if self.transposed else "")


@dataclass(frozen=True)
class Path:
    """Pinned set, letters, pinned set.

    >>> readout = Path("one", (Letter("w", of="p"),), WORDS)
    >>> str(readout), str(readout.T)
    ('w.p.E', "E'.w.p'")
    """

    left: str
    letters: tuple[Letter, ...]
    right: str

    @property
    def T(self) -> Path:
        """The same scalars read from the other end."""
        return Path(self.right, tuple(letter.T for letter in reversed(self.letters)), self.left)

    @property
    def symmetric(self) -> bool:
        """True if the matrix of these scalars is symmetric."""
        return self == self.T

    def __str__(self) -> str:
        left = "" if self.left == "one" else f"{self.left}'"
        right = "" if self.right == "one" else self.right
        return ".".join(part for part in (left, *map(str, self.letters), right) if part)


def state_name(state: State) -> str:
    """ASCII name of a path scalar or of an orbit of them, for arrays and CSV headers.

    >>> state_name(State("KQ", "p", "c1", "v1"))
    'KQ_p_c1_v1'
    """
    parts = (state.path, state.head, state.left, state.right, state.relation)
    return "_".join(part for part in parts if part)


def word_tex(word: str) -> str:
    r"""``c1`` as ``c_{1}``; a trailing number is an index, and so is what follows a Greek name."""
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", word)
    stem, index = (match.group(1), match.group(2)) if match else (word, "")
    if stem in GREEK:
        stem = "\\" + stem
    elif len(stem) > 1:
        stem = rf"\mathrm{{{stem}}}"
    return f"{stem}_{{{index}}}" if index else stem
