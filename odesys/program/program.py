r"""A program with data and loss, read whole: the population loss as a block, the paths it reads, its outputs.

.. math::  \mathcal L = \sum_X \pi(X)\ \frac1C \sum_{c=1}^{C} \ell\big(f(X)_c, y_c\big),

summed over the outputs (rows of f) and averaged over positions (columns) and samples.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr import blocks
from ..expr.blocks import Block
from ..model.loss import Loss, as_loss
from ..model.paths import Path
from .data import Data, Group
from .expressions import Expr, check_call, cross_entropy, squared, tokens
from .gaussian import Gaussian
from .naming import Naming
from .reading import Reader, Reads
from .spaces import Space, Units, same_side, say_side


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


def read_program(function: Callable[[Expr], Expr], data: Data, criterion: Any) -> Program:
    """Call `function` on the tokens of each length of sample, and read what it says."""
    if not isinstance(data, Data):
        raise ModelError(f"a program is trained on Data(words, samples) or Gaussian, not on {type(data).__name__}")
    criterion = _criterion(criterion)
    check_call(function, 1, "a program", "of the tokens X")
    _check_signs(criterion, data)
    reads, parts = Reads(), []
    outputs: dict[int, dict[str, Block]] = {}
    for group in data.groups():
        output = program_output(function, data, group.length)
        reader = Reader(group, reads)
        target = _target(output)
        parts.append(_weighted(reader, group, _checked(criterion, output, target)))
        outputs |= _outputs(reader, group, output, target, isinstance(criterion, Loss))
    objective = blocks.add(*parts)
    if isinstance(data, Gaussian):  # outputs are random, so the mean loss is all there is to see
        objective, outputs = data.mean(objective), {}
    if not reads.tables:
        raise ModelError("the output reads no map, so there is nothing to train; write f with maps(...)")
    names = {place: outputs[place] for place in sorted(outputs)}
    observables = {"loss": objective} | {name: block for part in names.values() for name, block in part.items()}
    return Program(function, data, criterion, Naming(reads.pins, reads.letters), reads.tables, objective, observables)


def sample_losses(program: Program) -> list[Block]:
    """The loss of every single sample, over the same leaves as the population loss."""
    reads = Reads(dict(program.naming.pins), dict(program.tables), dict(program.naming.letters))
    out = []
    for place, sample in enumerate(program.data.samples):
        group = replace(Group.of(program.data, len(sample.tokens), [place]), weights=(Fraction(1),))
        output, reader = program_output(program.function, program.data, group.length), Reader(group, reads)
        out.append(_weighted(reader, group, _checked(program.criterion, output, _target(output))))
    return out


def _criterion(given: Any) -> Any:
    """A function (f, y) from a loss that may be given by its name or as an expression in the margin."""
    named = {"squared": squared, "cross_entropy": cross_entropy}
    if isinstance(given, str) and given in named:
        return named[given]
    if callable(given) and not hasattr(given, "free_symbols"):
        return given
    if given is None:
        raise ModelError("a loss is logistic, hinge, squared, cross_entropy, or a function (f, y) of your own")
    return as_loss(given)


def program_output(function: Callable[[Expr], Expr], data: Data, length: int) -> Expr:
    """What a program returns for a sample of so many tokens; a listed matrix, or a sentence says why not."""
    output = function(tokens(data.words, length))
    if not isinstance(output, Expr):
        raise ModelError(f"the program returns {type(output).__name__}, not an expression in X and maps")
    free = [side for side in (output.rows, output.columns) if isinstance(side, Space)]
    if free:
        raise ModelError(
            f"the output {output} is in {say_side(free[0])}, whose axes are not listed: read it out with a map from "
            f"it, or take inner products with words.all"
        )
    return output


def _target(output: Expr) -> Expr:
    shape = output.rows.size, output.columns.size  # type: ignore[union-attr]
    return Expr("target", (), output.rows, output.columns, (*shape, str(output)))


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


def _outputs(reader: Reader, group: Group, output: Expr, target: Expr, margin: bool) -> dict[int, dict[str, Block]]:
    """Margins y f(X) for losses of the margin, else outputs f(X), by place of the sample."""
    margin = margin and output.rows.size == output.columns.size == 1  # type: ignore[union-attr]
    block = reader.block(target * output if margin else output)
    samples, rows, columns = block.shape
    labels = output.rows.labels if isinstance(output.rows, Units) else [str(r + 1) for r in range(rows)]
    out: dict[int, dict[str, Block]] = {}
    for s, place in enumerate(group.places):
        names = out.setdefault(place, {})
        for r in range(rows):
            for c in range(columns):
                ends = [labels[r] if rows > 1 else "", f"at{c + 1}" if columns > 1 else ""]
                name = "_".join(["margin" if margin else "f", str(place + 1), *(e for e in ends if e)])
                at = tuple(np.array([[k]]) for k in (min(s, samples - 1), r, c))
                names[name] = blocks.take(block, at)
    return out
