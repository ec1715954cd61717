"""Mutations: a paper's model, data, equations or start broken on purpose, each a record that a laboratory applies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..expr import blocks
from ..expr.blocks import Block
from ..expr.field import BlockField
from ..model.distribution import Sample

Change = Callable[[Any], Any]


def unchanged(value: Any) -> Any:
    """The paper's own object: what a mutation does to everything it leaves alone.

    Parameters
    ----------
    value : Any
        Any object.

    Returns
    -------
    Any
        The same object.

    Examples
    --------
    >>> Mutation("late", "the start is half as large", start=lambda size: size / 2).model is unchanged
    True
    """
    return value


@dataclass(frozen=True)
class Mutation:
    """One way to break a paper's systems: a name, a sentence on what is broken, and what is done to which object.

    `model`, `data`, `equations` and `start` take the paper's object and give the broken one; by default they leave it
    alone. What the objects are is up to the paper's laboratory: often a program or an `AttentionModel`, the
    samples of the data, a derived flow, and the values of the states at time 0.

    Parameters
    ----------
    name : str
        Short, for tables.
    about : str
        A sentence on what is broken.
    model : Change, optional
        What is done to the model.
    data : Change, optional
        What is done to the samples.
    equations : Change, optional
        What is done to the derived flow.
    start : Change, optional
        What is done to the start values.

    Examples
    --------
    >>> late = Mutation("late", "the start is half as large", start=lambda size: size / 2)
    >>> late.start(1.0), late.data("samples")
    (0.5, 'samples')
    """

    name: str
    about: str
    model: Change = unchanged
    data: Change = unchanged
    equations: Change = unchanged
    start: Change = unchanged


UNBROKEN = Mutation("", "the paper as it is")


def each_sample(change: Callable[[Sample], Sample]) -> Callable[[Iterable[Sample]], list[Sample]]:
    """Apply a change to each sample: for `Mutation.data` where a laboratory breaks lists of samples.

    Parameters
    ----------
    change : Callable[[Sample], Sample]
        Of one sample.

    Returns
    -------
    Callable[[Iterable[Sample]], list[Sample]]
        A function of a list of samples.

    Examples
    --------
    >>> from dataclasses import replace
    >>> relabel = each_sample(lambda s: replace(s, label=-s.label))
    >>> [s.label for s in relabel([Sample(["good"], +1), Sample(["bad"], -1)])]
    [-1, 1]
    """
    return lambda samples: [change(sample) for sample in samples]


@dataclass(frozen=True)
class PathSpeeds:
    """Path matrices, in all heads, that move faster, slower or backwards: for `Mutation.equations`.

    `factors` has for a path such as ``KQ`` a number, a node, or a function of the shape (rows, columns) of the matrix
    that gives a table with a factor for each entry; a row is used for all rows. Paths a flow does not have are ignored.
    In a gradient step the change is multiplied, not the state.

    Parameters
    ----------
    factors : Mapping[str, Any], optional
        By path, a number, a node or a function of the shape of its matrix.

    Examples
    --------
    >>> PathSpeeds({"KQ": -1}).of("KQ"), PathSpeeds({"KQ": -1}).of("KK")
    (-1, 1)
    """

    factors: Mapping[str, Any] = field(default_factory=dict)

    def of(self, path: str) -> Any:
        """The factor of a path matrix."""
        return self.factors.get(path, 1)

    def table(self, path: str, shape: tuple[int, ...]) -> Any:
        """The factors of the entries of a path matrix of this shape, as a table that broadcasts."""
        factor = self.of(path)
        return factor(*shape) if callable(factor) else [[factor]]

    def __call__(self, flow: Any) -> Any:
        """The same flow (of listed samples, a family or the weights themselves) at these speeds."""
        system, made = flow.system, flow.system.field
        assert isinstance(made, BlockField)
        rhs = {leaf: self._broken(leaf, block, system.kind == "map") for leaf, block in made.rhs.items()}
        made = replace(made, rhs=rhs)
        new = tuple(sorted(made.parameters - set(system.parameters)))
        return replace(flow, system=replace(system, field=made, parameters=system.parameters + new))

    def _broken(self, leaf: str, block: Block, step: bool) -> Block:
        path = next((path for path in self.factors if leaf == path or leaf.startswith(f"{path}_")), None)
        if path is None:
            return block
        factors = blocks.constant(self.table(path, block.shape))
        if not step:
            return blocks.multiply(factors, block)
        state = blocks.leaf(leaf, block.shape)
        change = blocks.add(block, blocks.multiply(blocks.constant([[-1]]), state))
        return blocks.add(state, blocks.multiply(factors, change))
