r"""Path scalars between pinned vectors: their words of maps, names, TeX and symmetry.

A path is :math:`\langle\text{pinned}\,|\,W_1 W_2 \cdots\,|\,\text{pinned}\rangle`, written as a tuple of letters; a
letter is a map with a transpose flag. Pinned sets: ``E`` (the words) and ``o`` (what stands left of the value maps).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..expr.system import State
from .attention import AttentionModel, FixedVector, Neurons

WORDS, OUTPUT = "E", "o"


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
    """Pinned set, letters, pinned set."""

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
        left = {OUTPUT: "a", "one": ""}.get(self.left, f"{self.left}'")
        right = {OUTPUT: "a'", "one": ""}.get(self.right, self.right)
        return ".".join(part for part in (left, *map(str, self.letters), right) if part)


def value_path(model: AttentionModel) -> Path:
    """The path through the value maps, from the output to the words."""
    return Path(OUTPUT, tuple(Letter(name) for name in model.value.maps), WORDS)


def score_path(model: AttentionModel) -> Path:
    """The path through the score maps, from key word to query word."""
    letters = tuple(Letter(name.removesuffix("'"), name.endswith("'")) for name in model.score)
    return Path(WORDS, letters, WORDS)


def pin_size(model: AttentionModel, pin: str) -> int:
    """Number of pinned vectors in a set."""
    return len(model.words) if pin == WORDS else model.value.rows


def path_name(model: AttentionModel, path: Path) -> str:
    """Short ASCII name of a path, e.g. ``KQ`` for keys against queries, ``w`` for the neurons."""
    frozen = model.value.output.name if isinstance(model.value.output, FixedVector) else ""
    body = "".join(re.sub(r"^W_", "", letter.name).replace("_", "") for letter in path.letters)
    return (frozen if path.left == OUTPUT else "") + body + (frozen if path.right == OUTPUT else "")


def leaf_name(model: AttentionModel, path: Path, head: int) -> str:
    """Name of the matrix of one path in one head, e.g. ``KQ_p``."""
    label = model.head_labels[head]
    return path_name(model, path) + (f"_{label}" if label else "")


def state_name(state: State) -> str:
    """ASCII name of a path scalar or of an orbit of them, for arrays and CSV headers.

    >>> state_name(State("KQ", "p", "c1", "v1"))
    'KQ_p_c1_v1'
    """
    parts = (state.path, state.head, state.left, state.right, state.relation)
    return "_".join(part for part in parts if part)


def pin_name(model: AttentionModel, pin: str, index: int) -> str:
    """Name of one pinned vector: a word, a neuron n1, n2, ..., nothing for a frozen vector."""
    if pin == WORDS:
        return model.words.words[index]
    return f"n{index + 1}" if isinstance(model.value.output, Neurons) else ""


def chain_tex(model: AttentionModel, head: int, path: Path) -> str:
    r"""TeX of the maps of a path without its ends, e.g. ``W_{K+}^\top W_{Q+}``."""
    row = model.value.maps[0] if model.value.output is None else None
    return " ".join(_letter_tex(letter, head_mark(model, head), letter.name == row) for letter in path.letters)


def head_mark(model: AttentionModel, head: int) -> str:
    """How a head is marked in TeX: a sign, a number, or not at all."""
    label = model.head_labels[head]
    return {"p": "+", "m": "-", "": ""}.get(label, label.removeprefix("h"))


def pin_tex(model: AttentionModel, pin: str, index: int, left: bool) -> str:
    """TeX of one pinned vector, transposed where it stands on the left; nothing where there is none to see."""
    if pin == WORDS:
        body = word_tex(model.words.words[index])
    elif isinstance(model.value.output, FixedVector):
        body = model.value.output.name
    elif isinstance(model.value.output, Neurons):
        body = f"e_{{{index + 1}}}"
    else:
        return ""
    return body + r"^\top" if left else body


def _letter_tex(letter: Letter, mark: str, is_row: bool) -> str:
    base, _, index = letter.name.partition("_")
    if index or mark:
        base = f"{base}_{{{index}{mark}}}"
    # a row vector w is printed as the column the papers use, so its transpose flag reads the other way round
    return base + r"^\top" if letter.transposed != is_row else base


def word_tex(word: str) -> str:
    r"""``c1`` as ``c_{1}``; a trailing number is an index, and so is what follows a Greek name."""
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", word)
    stem, index = (match.group(1), match.group(2)) if match else (word, "")
    if stem in _GREEK:
        stem = "\\" + stem
    elif len(stem) > 1:
        stem = rf"\mathrm{{{stem}}}"
    return f"{stem}_{{{index}}}" if index else stem


_GREEK = frozenset(
    (
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "zeta",
        "eta",
        "theta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "pi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "chi",
        "psi",
        "omega",
    )
)
