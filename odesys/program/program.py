r"""A program with data and loss, read whole: the population loss as a block, the paths it reads, its outputs.

.. math::  \mathcal L = \sum_X \pi(X)\ \frac1C \sum_{c=1}^{C} \ell\big(f(X)_c, y_c\big),

summed over the outputs (rows of f) and averaged over positions (columns) and samples.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr import blocks
from ..expr.blocks import Block
from ..model.loss import Loss, as_loss
from ..model.paths import Path
from .data import Data, Group, Wanted
from .expressions import Expr, tokens
from .functions import check_call, cross_entropy, squared
from .gaussian import Gaussian
from .naming import Naming
from .reading import Reader, Reads
from .spaces import Space, Units, Words, same_side, say_side

Shown = Mapping[str, Callable[[Expr], Expr]]  # more functions of the tokens to see along a run, by name


@dataclass(frozen=True, eq=False)
class Program:
    """What `read_program` finds: `loss` and `observables` are blocks over the leaves `tables` of the paths read."""

    function: Callable[[Expr], Expr]
    data: Data
    criterion: Any
    naming: Naming
    tables: Mapping[Path, Block]
    loss: Block
    observables: Mapping[str, Block]

    @property
    def maps(self) -> tuple[str, ...]:
        """Names of all maps that occur, e.g. ``W_K.p``."""
        return tuple(self.naming.letters)


def read_program(function: Callable[[Expr], Expr], data: Data, criterion: Any, shown: Shown | None = None) -> Program:
    """Call `function` on the tokens of each length of sample, and read what it says."""
    if not isinstance(data, Data):
        raise ModelError(f"a program is trained on Data(words, samples) or Gaussian, not on {type(data).__name__}")
    check_call(function, 1, "a program", "of the tokens X")
    criterion = as_criterion(criterion)
    _check_signs(criterion, data)
    reads, parts, outputs = read_groups(function, data.words, data.groups(), criterion, shown)
    objective = blocks.add(*parts)
    if isinstance(data, Gaussian):  # outputs are random, so the mean loss is all there is to see
        try:
            objective, outputs = data.mean(objective), {}
        except ModelError as problem:
            raise _told_of_the_loss(problem, data, criterion, outputs) from None
    observables = {"loss": objective, **outputs}
    return Program(function, data, criterion, Naming(reads.pins, reads.letters), reads.tables, objective, observables)


def _told_of_the_loss(problem: ModelError, data: Gaussian, criterion: Any, outputs: Mapping[str, Block]) -> ModelError:
    """The loss by its name where it is no polynomial and the outputs are; otherwise what was said."""
    try:
        for output in outputs.values():
            data.mean(output)
    except ModelError:
        return problem
    own = getattr(criterion, "name", getattr(criterion, "__name__", "<lambda>"))
    return ModelError(
        f"the loss{'' if own == '<lambda>' else f' {own}'} is no polynomial in the output, so its mean over Gaussian "
        f"tokens is no finite sum of moments; take a polynomial such as squared, or a finite sample: "
        f"Data(Words(..., gram=...), samples)"
    )


def as_criterion(loss: Any) -> Any:
    """A loss as a function (f, y): as given, or from its name or an expression in the margin."""
    named = {"squared": squared, "cross_entropy": cross_entropy}
    if loss is None:
        raise ModelError("a loss is logistic, hinge, squared, cross_entropy, or a function (f, y) of your own")
    if isinstance(loss, str) and loss not in ("logistic", "hinge"):
        if loss not in named:
            raise ModelError(
                f"the loss {loss!r} is not known; use logistic, hinge, squared, cross_entropy, or a function (f, y)"
            )
        return named[loss]
    return loss if callable(loss) and not hasattr(loss, "free_symbols") else as_loss(loss)


def read_groups(
    function: Callable[[Expr], Expr],
    words: Words,
    groups: Iterable[Group],
    criterion: Any,
    shown: Shown | None = None,
) -> tuple[Reads, list[Block], dict[str, Block]]:
    """What a function reads, its weighted loss on each group of samples, and its outputs on every sample.

    The outputs are those of the function (margins y f(X) for losses of the margin), then those `shown` by name, by the
    function itself (its attribute `shown`) or here.
    """
    reads, parts = Reads(), []
    shown = {**getattr(function, "shown", {}), **(shown or {})}
    outputs: dict[str, dict[int, dict[str, Block]]] = {}
    for group in groups:
        X, reader = tokens(words, group.length), Reader(group, reads)
        output = _listed_output(function(X))
        target = _target(output, words)
        parts.append(_weighted(reader, group, _checked(criterion, output, target)))
        margin = isinstance(criterion, Loss) and output.rows.size == output.columns.size == 1  # type: ignore[union-attr]
        seen = {"margin": target * output} if margin else {"f": output}
        seen |= {name: _listed_output(each(X)) for name, each in shown.items()}
        for name, expr in seen.items():
            outputs.setdefault(name, {}).update(_outputs(reader, group, expr, name))
    if not reads.tables:
        raise ModelError("the output reads no map, so there is nothing to train; write f with maps(...)")
    named = (found[place] for found in outputs.values() for place in sorted(found))
    return reads, parts, {name: block for part in named for name, block in part.items()}


def sample_losses(program: Program) -> list[Block]:
    """The loss of every single sample, over the same leaves as the population loss."""
    reads = Reads(dict(program.naming.pins), dict(program.tables), dict(program.naming.letters))
    out = []
    for place, sample in enumerate(program.data.samples):
        group = replace(Group.of(program.data, len(sample.tokens), [place]), weights=(Fraction(1),))
        output, reader = program_output(program.function, program.data, group.length), Reader(group, reads)
        out.append(_weighted(reader, group, _checked(program.criterion, output, _target(output, program.data.words))))
    return out


def program_output(function: Callable[[Expr], Expr], data: Data, length: int) -> Expr:
    """What a program returns for a sample of so many tokens; a listed matrix, or a sentence says why not."""
    return _listed_output(function(tokens(data.words, length)))


def _listed_output(output: Any) -> Expr:
    if not isinstance(output, Expr):
        raise ModelError(f"the program returns {type(output).__name__}, not an expression in X and maps")
    free = [side for side in (output.rows, output.columns) if isinstance(side, Space)]
    if free:
        raise ModelError(
            f"the output {output} is in {say_side(free[0])}, whose axes are not listed: read it out with a map from "
            f"it, or take inner products with words.all"
        )
    return output


def _target(output: Expr, words: Words) -> Expr:
    rows, columns = output.rows, output.columns
    assert not isinstance(rows, Space) and not isinstance(columns, Space)
    labels = rows.labels if isinstance(rows, Units) else tuple(f"token {r + 1}" for r in range(rows.size))
    if isinstance(rows, Units) and rows.grouped and words.groups is not None:
        group = {word: k % rows.size for k, word in enumerate(words.words[: words.groups.kinds * rows.size])}
        names = dict(zip(labels, range(rows.size), strict=True)) | group
    else:
        own = rows.words if isinstance(rows, Units) else ()
        names = {name: r for r, name in enumerate(own or labels)}
    return Expr("target", (), rows, columns, Wanted(rows.size, columns.size, names, str(output)))


def _checked(criterion: Any, output: Expr, target: Expr) -> Expr:
    check_call(criterion, 2, "a loss", "(f, y) of output and target")
    value = criterion(output, target)
    if not isinstance(value, Expr) or isinstance(value.rows, Space) or isinstance(value.columns, Space):
        raise ModelError("a loss is a function (f, y) that returns numbers: an expression in the output and the target")
    for mine, own in ((value.rows, output.rows), (value.columns, output.columns)):
        if mine.size > 1 and not same_side(mine, own):
            raise ModelError(
                f"the loss {value} is a table of {say_side(value.rows)} by {say_side(value.columns)}; a loss is one "
                f"number, or one for each entry or column of the output, e.g. ((f - y) ** 2).sum(0)"
            )
    return value


def _check_signs(criterion: Any, data: Data) -> None:
    """Losses of the margin y f need signs: a target 0 would train nothing, without a word."""
    if not isinstance(criterion, Loss):
        return
    for sample in data.samples:
        labels = sample.label if isinstance(sample.label, (list, tuple, np.ndarray)) else [sample.label]
        for label in np.ravel(np.array(labels, dtype=object)):
            if isinstance(label, (int, float, Fraction, np.number)) and label not in (1, -1):
                raise ModelError(
                    f"the loss {criterion.name} takes signs +1 and -1, but the target of {sample.name} is {label}"
                )


def _weighted(reader: Reader, group: Group, loss: Expr) -> Block:
    """The weighted sum over the samples of a group, shape (1, 1)."""
    per_column = loss.sum(0)
    block = reader.block(per_column.mean(1))
    weights = blocks.constant(np.array(group.weights, dtype=object)[:, None, None])
    block = blocks.multiply(weights, block)
    return blocks.reshape(blocks.sum_axis(block, 0), (1, 1))


def _outputs(reader: Reader, group: Group, output: Expr, called: str) -> dict[int, dict[str, Block]]:
    """The entries of an output with their names, by place of the sample."""
    block = reader.block(output)
    samples, rows, columns = block.shape
    labels = output.rows.labels if isinstance(output.rows, Units) else [str(r + 1) for r in range(rows)]
    out: dict[int, dict[str, Block]] = {}
    for s, place in enumerate(group.places):
        names = out.setdefault(place, {})
        for r in range(rows):
            for c in range(columns):
                ends = [labels[r] if rows > 1 else "", f"at{c + 1}" if columns > 1 else ""]
                name = "_".join([called, str(place + 1), *(e for e in ends if e)])
                at = tuple(np.array([[k]]) for k in (min(s, samples - 1), r, c))
                names[name] = blocks.take(block, at)
    return out
