r"""An `AttentionModel` as the program it stands for.

.. math::  f(X) = \sum_{\text{heads}} \varsigma\,\sigma\big(\mathrm{pool}\ a^\top \varphi(U X\, P) + b\big), \qquad
           P = \mathrm{softmax}(\text{scale}\cdot X^\top W_K^\top W_Q X) .
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import matmul

from ..model.attention import AttentionModel, FixedVector, Head, Neurons
from ..model.distribution import Distribution
from .data import Data
from .expressions import Expr, as_expr, maps, relu, softmax
from .spaces import ONE_AXIS, Side, Space, Units, Words


def attention_program(model: AttentionModel) -> tuple[Callable[[Expr], Expr], Words]:
    """The function of the tokens that a model computes, and its words."""
    words = Words(model.words.words, model.words.gram)
    heads = [_head(model, head, label, words) for head, label in zip(model.heads, model.head_labels, strict=True)]
    return lambda X: reduce(lambda a, b: a + b, [head(X) for head in heads]), words


def attention_data(words: Words, data: Distribution) -> Data:
    """The samples of a distribution as data of a program."""
    return Data(words, data.samples)


def _head(model: AttentionModel, head: Head, label: str, words: Words) -> Callable[[Expr], Expr]:
    output = model.value.output
    left: Side = ONE_AXIS
    if isinstance(output, FixedVector):
        left = Words(output.name, [[output.square]], name=output.name)
    elif isinstance(output, Neurons):
        left = Units("n", output.size)
    value = reduce(matmul, _chain(model.value.maps, left, words, "v", label))
    if isinstance(left, Words):
        value = left.all.T @ value
    score = reduce(matmul, _chain(model.score, words, words, "m", label))

    def run(X: Expr) -> Expr:
        mixed = value @ X @ softmax((X.T @ score @ X) * model.scale)
        rows = relu(mixed) if model.row_activation == "relu" else mixed
        readout = as_expr(model.readout().T if model.readout().ndim == 2 else model.readout()[:, None])
        read = rows * readout
        pooled = read.sum(0).mean(1) if model.pooling == "mean" else read.sum()
        inner = pooled + head.bias
        return (relu(inner) if head.activation == "relu" else inner) * head.sign

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
