r"""Softmax attention heads as one program, given by their parts: a short form for the models of the papers.

.. math::
    f(X) = \sum_{\text{heads}} \varsigma\,\sigma\Big(\mathrm{pool}_l\ \sum_i a_i\,\varphi\big(
           \sum_h u_i(x_h)\,p_{lh}\big) + b\Big), \qquad
    p_{l\cdot} = \mathrm{softmax}_h\big(\text{scale}\cdot x_h^\top W_K^\top W_Q\, x_l\big).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import add, matmul
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr.graph import ONE
from ..model.attention import FixedVector, Head, Neurons, Value, check_maps, one_of, scalar, sequence
from ..model.dictionary import Dictionary
from .expressions import Expr, as_expr, maps
from .functions import relu, softmax
from .spaces import ONE_AXIS, Side, Space, Units, Words


@dataclass(frozen=True)
class AttentionModel:
    """Heads of one shape over one set of words; each head has weights of its own. A function of the tokens X.

    Parameters
    ----------
    words : Any
        A `Dictionary`, or `Words`.
    heads : Sequence[Head], optional
        Their signs, activations and biases.
    value : Value | Sequence[str], optional
        Value maps, the same shape in every head.
    score : Sequence[str], optional
        Maps between key word and query word; a trailing ``'`` is a transpose.
    pooling : str, optional
        ``sum`` or ``mean`` over the query positions.
    scale : Any, optional
        Factor of the scores inside the softmax (number, SymPy expression such as 1/sqrt(m), or parameter name).

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Head
    >>> model = AttentionModel(Dictionary(["good", "bad"]), heads=[Head(+1, "relu"), Head(-1, "relu")])
    >>> model.weights, model.head_labels
    (('w', 'W_K', 'W_Q'), ('p', 'm'))
    """

    words: Dictionary
    heads: tuple[Head, ...]
    value: Value
    score: tuple[str, ...] = ("W_K'", "W_Q")
    pooling: str = "sum"
    scale: Any = 1

    def __init__(
        self,
        words: Any,
        heads: Sequence[Head] = (Head(),),
        value: Value | Sequence[str] = ("w",),
        score: Sequence[str] = ("W_K'", "W_Q"),
        pooling: str = "sum",
        scale: Any = 1,
    ) -> None:
        words = getattr(words, "pinned", words)  # the Words of a program have a dictionary
        if not isinstance(words, Dictionary):
            raise ModelError(f"a model needs a Dictionary, got {type(words).__name__}")
        heads = (heads,) if isinstance(heads, Head) else sequence(heads, "heads", "Head objects")
        if not heads or any(not isinstance(head, Head) for head in heads):
            raise ModelError("a model needs at least one Head")
        one_of("pooling", pooling, ("sum", "mean"))
        value = value if isinstance(value, Value) else Value(value)  # type: ignore[arg-type]
        score = sequence(score, "the score", "names of maps")
        check_maps(tuple(n.removesuffix("'") if isinstance(n, str) else n for n in score), "score")
        maps = (*value.maps, *(name.removesuffix("'") for name in score))
        if isinstance(value.output, FixedVector) and value.output.name in maps:
            raise ModelError(f"{value.output.name} is the output vector and a map; give one of them another name")
        shared = set(value.maps) & {name.removesuffix("'") for name in score}
        if shared:
            raise ModelError(f"the map {sorted(shared)[0]} stands in the value and in the score; each map once")
        for name, item in (
            ("words", words),
            ("heads", heads),
            ("value", value),
            ("score", tuple(score)),
            ("pooling", pooling),
            ("scale", scalar(scale, "the score scale")),
        ):
            object.__setattr__(self, name, item)

    @property
    def weights(self) -> tuple[str, ...]:
        """Names of all maps that can be trained, without their heads."""
        return self.value.maps + tuple(name.removesuffix("'") for name in self.score)

    @property
    def head_labels(self) -> tuple[str, ...]:
        """Short names of the heads: p and m for one head of each sign, nothing for one head, else h1, h2, ..."""
        if len(self.heads) == 1:
            return ("",)
        signs = [head.sign for head in self.heads]
        if len(signs) == 2 and set(signs) == {1, -1}:
            return tuple("p" if sign > 0 else "m" for sign in signs)
        return tuple(f"h{i + 1}" for i in range(len(signs)))

    # ---- the program -----------------------------------------------------------------------------------------------

    def __call__(self, X: Expr) -> Expr:
        """The output for a sample with the columns X."""
        heads = zip(self.heads, self.shown.values(), strict=True)
        return reduce(add, [_active(head, pooled(X)) * head.sign for head, pooled in heads])

    @cached_property
    def space(self) -> Words:
        """The words as those of a program."""
        return Words(self.words.words, self.words.gram)

    @cached_property
    def shown(self) -> dict[str, Callable[[Expr], Expr]]:
        """The pooled output of each head, called ``H_p`` and so on: seen along runs, beside the margins."""
        names = {label: "_".join(part for part in ("H", label) if part) for label in self.head_labels}
        return {name: cache(_pooled(self, label)) for label, name in names.items()}

    @property
    def readout(self) -> np.ndarray:
        """Read-out weights as nodes, shape (rows,) or (positions, rows)."""
        output = self.value.output
        return np.array(output.readout if isinstance(output, Neurons) else [ONE], dtype=object)


def _active(head: Head, pooled: Expr) -> Expr:
    inner = pooled + head.bias
    return relu(inner) if head.activation == "relu" else inner


def _pooled(model: AttentionModel, label: str) -> Callable[[Expr], Expr]:
    output, readout, words = model.value.output, model.readout, model.space
    left: Side = ONE_AXIS
    if isinstance(output, FixedVector):
        left = Words([output.name], [[output.square]], name=output.name)
    elif isinstance(output, Neurons):
        left = Units("n", output.size)
    value = reduce(matmul, _chain(model.value.maps, left, words, "v", label))
    if isinstance(left, Words):
        value = left.all.T @ value
    score = reduce(matmul, _chain(model.score, words, words, "m", label))
    weights = as_expr(readout.T if readout.ndim == 2 else readout[:, None])

    def run(X: Expr) -> Expr:
        if readout.ndim == 2 and len(X) != len(readout):
            raise ModelError(f"the read-out has {len(readout)} positions but a sample has {len(X)} tokens")
        mixed = value @ X @ softmax((X.T @ score @ X) * model.scale)
        rows = relu(mixed) if isinstance(output, Neurons) and output.activation == "relu" else mixed
        # weights and shares go to every single entry, before the sums: so the papers write it
        return (rows * (weights / X.count if model.pooling == "mean" else weights)).sum(1).sum(0)

    return run


def _chain(names: tuple[str, ...], left: Side, right: Side, free: str, label: str) -> list[Expr]:
    """Maps between two ends, with a free space of its own between each two of them."""
    sides = [left, *(Space(f"{free}{j}" if j > 1 else free) for j in range(1, len(names))), right]
    out = []
    for j, name in enumerate(names):
        if name.endswith("'"):
            out.append(maps(name.removesuffix("'"), sides[j + 1], sides[j], of=label).T)
        else:
            out.append(maps(name, sides[j], sides[j + 1], of=label))
    return out
