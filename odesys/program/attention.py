r"""An `AttentionModel` as the program it stands for.

.. math::  f(X) = \sum_{\text{heads}} \varsigma\,\sigma\big(\mathrm{pool}\ a^\top \varphi(U X\, P) + b\big), \qquad
           P = \mathrm{softmax}(\text{scale}\cdot X^\top W_K^\top W_Q X) .
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache, reduce
from operator import add, matmul
from typing import Protocol

from ..errors import ModelError
from ..expr import blocks
from ..expr.blocks import Block
from ..model.attention import AttentionModel, FixedVector, Head, Neurons
from ..model.dictionary import Dictionary
from ..model.distribution import Distribution, SampleArrays
from ..model.loss import Loss
from ..model.paths import OUTPUT, Path, leaf_name, score_path, value_path
from .data import Data, Group
from .expressions import Expr, as_expr, maps
from .functions import relu, softmax
from .program import read_groups
from .spaces import ONE_AXIS, Side, Space, Units, Words


def attention_program(model: AttentionModel) -> tuple[Callable[[Expr], Expr], Words]:
    """The function of the tokens that a model computes, and its words."""
    words = Words(model.words.words, model.words.gram)
    return _output(model, _pooled_outputs(model, words)), words


def attention_data(words: Words, data: Distribution) -> Data:
    """The samples of a distribution as data of a program."""
    return Data(words, data.samples)


class Encoded(Protocol):
    """Weighted samples as index arrays: a distribution, or one sample for each orbit of a family."""

    def encode(self, dictionary: Dictionary) -> tuple[SampleArrays, ...]: ...


def attention_loss(
    model: AttentionModel, data: Encoded, loss: Loss, leaves: Mapping[str, Block]
) -> tuple[Block, dict[str, Block]]:
    """The population loss as a block, and the observables: loss, margins y f(X) and pooled head outputs H(X).

    `leaves` are the matrices of the value path and of the score path of every head, by name.
    """
    words = Words(model.words.words, model.words.gram)
    pooled = _pooled_outputs(model, words)
    shown = {"_".join(part for part in ("H", label) if part): each for label, each in pooled.items()}
    groups = [Group.encoded(arrays) for arrays in data.encode(model.words)]
    if model.readout().ndim == 2 and any(group.counts is not None for group in groups):
        raise ModelError(
            "a sample with counts has no positions, but the read-out has one row per position; "
            "list every token by itself"
        )
    reads, parts, outputs = read_groups(_output(model, pooled), words, groups, loss, shown)
    renamed = {table.data: leaves[_leaf(model, path)] for path, table in reads.tables.items()}
    objective, *found = blocks.replace_leaves([blocks.add(*parts), *outputs.values()], renamed)
    return objective, {"loss": objective, **dict(zip(outputs, found, strict=True))}


def _leaf(model: AttentionModel, path: Path) -> str:
    """The matrix of a model that a path of its program reads."""
    read = score_path(model) if path.left == path.right else value_path(model)
    return leaf_name(model, read, model.head_labels.index(path.letters[0].of))


def _pooled_outputs(model: AttentionModel, words: Words) -> dict[str, Callable[[Expr], Expr]]:
    """The pooled output of each head, by its label."""
    return {label: cache(_pooled(model, label, words)) for label in model.head_labels}


def _output(model: AttentionModel, pooled: Mapping[str, Callable[[Expr], Expr]]) -> Callable[[Expr], Expr]:
    def active(head: Head, X: Expr, label: str) -> Expr:
        inner = pooled[label](X) + head.bias
        return (relu(inner) if head.activation == "relu" else inner) * head.sign

    heads = list(zip(model.heads, model.head_labels, strict=True))
    return lambda X: reduce(add, [active(head, X, label) for head, label in heads])


def _pooled(model: AttentionModel, label: str, words: Words) -> Callable[[Expr], Expr]:
    output, readout = model.value.output, model.readout()
    left: Side = ONE_AXIS
    if isinstance(output, FixedVector):
        left = Words([OUTPUT], [[output.square]], name=OUTPUT)
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
        rows = relu(mixed) if model.row_activation == "relu" else mixed
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
