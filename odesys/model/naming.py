"""Names of the path scalars of an `AttentionModel`, whose heads share their paths, and its pinned sets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..expr.graph import ZERO, Node, num
from ..expr.system import State
from .attention import AttentionModel, FixedVector
from .paths import OUTPUT, WORDS, Path, chain_tex, leaf_name, path_name, pin_name, pin_size, pin_tex


@dataclass(frozen=True)
class ModelNaming:
    """Sizes and Gram matrices of the pinned sets of a model, and names of its path scalars.

    >>> from odesys import Dictionary
    >>> from odesys.model.paths import value_path
    >>> naming = ModelNaming(AttentionModel(Dictionary(["a", "b"])))
    >>> path = value_path(naming.model)
    >>> naming.leaf(path), naming.state(path)(0, 1).right, naming.tex(path)(0, 1)
    ('w', 'b', 'w^\\\\top b')
    """

    model: AttentionModel

    @property
    def heads(self) -> int:
        """How many heads there are."""
        return len(self.model.heads)

    def tables(self, paths: Sequence[Path]) -> list[tuple[Path, int]]:
        """All paths of one head after the other."""
        return [(path, head) for head in range(self.heads) for path in paths]

    def size(self, pin: str) -> int:
        """Number of vectors of a pinned set."""
        return pin_size(self.model, pin)

    def gram(self, pin: str) -> np.ndarray | None:
        """Inner products of a pinned set as nodes; None for the identity."""
        words, output = self.model.words, self.model.value.output
        if pin == WORDS and not words.orthonormal:
            entries = [[v if isinstance(v, Node) else num(v) if v else ZERO for v in row] for row in words.gram_array()]
            return np.array(entries, dtype=object)
        if pin == OUTPUT and isinstance(output, FixedVector):
            return np.array([[output.square]], dtype=object)
        return None

    def leaf(self, path: Path, head: int = 0) -> str:
        """Name of the matrix of a path in one head."""
        return leaf_name(self.model, path, head)

    def state(self, path: Path, head: int = 0) -> Callable[[int, int], State]:
        """Path, head and ends of the scalars of a path, by their place in its matrix."""
        name, label = path_name(self.model, path), self.model.head_labels[head]
        left, right = ([pin_name(self.model, pin, i) for i in range(self.size(pin))] for pin in (path.left, path.right))
        return lambda i, j: State(name, label, left[i], right[j])

    def tex(self, path: Path, head: int = 0) -> Callable[[int, int], str]:
        r"""TeX of the scalars of a path, e.g. ``c_1^\top W_{K+}^\top W_{Q+} v_1``, by their place in its matrix."""
        left = [pin_tex(self.model, path.left, i, True) for i in range(self.size(path.left))]
        right = [pin_tex(self.model, path.right, j, False) for j in range(self.size(path.right))]
        chain = chain_tex(self.model, head, path)
        return lambda i, j: " ".join(part for part in (left[i], chain, right[j]) if part)
