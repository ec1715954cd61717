r"""What the flow of a family needs of its program, over the words of a few groups.

It gives paths, a loss on one sample of each orbit, start values, and the symmetries that act on all groups alike. Those
are found by trying: signed permutations of word types and heads, kept where the loss, as an
expression of the orbit variables, stays the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import Any

import numpy as np

from ..derive.closure import Closure, close, restricted
from ..derive.flow import carried_maps, speeds_of
from ..derive.initial import infinite_width, weight_values
from ..derive.motion import Rule, plain
from ..derive.training import gradient_descent, gradient_flow
from ..errors import ModelError, ParameterError
from ..expr import blocks, graph
from ..expr.blocks import Block
from ..expr.graph import Node
from ..expr.system import System
from ..model.family import Family, Representatives
from ..model.family_symmetry import TypeSymmetry, sample_symmetries
from ..model.group_count import INFINITY, below
from ..model.loss import Loss
from ..model.paths import WORDS, Path
from ..program.data import Data, Group
from ..program.expressions import Expr, tokens
from ..program.naming import Naming
from ..program.order import knows_order, parts
from ..program.program import as_criterion, read_groups
from ..program.reading import Reads, pin_of
from ..program.spaces import Groups, Units, Words

Shape = Callable[[Words], Callable[[Expr], Expr]]
Unchanged = Callable[[TypeSymmetry], bool]


def family_words(family: Family, size: int, last: Node = graph.ONE) -> Words:
    """The words of so many groups, the last of which stands for `last` groups."""
    return Words(family.dictionary(size).words, groups=Groups(len(family.words), size, last))


def _window_words(family: Family, samples: Representatives) -> Words:
    """The words in which samples are written; a group that is in none of them stands for all such groups."""
    spread = max(orbit.spread for orbit in samples.orbits)
    if not any(isinstance(orbit.label, str) for orbit in samples.orbits):
        return Words(family.dictionary(samples.window).words)
    if samples.groups == INFINITY:
        raise ParameterError("the loss of K classes has no limit for K = infinity; take K a symbol, or a large number")
    assert samples.window > spread
    return family_words(family, samples.window, below(samples.window - 1).node(samples.groups))


def family_origin(family: Family, shape: Shape, samples: Representatives, loss: Any) -> FamilyOrigin:
    """The program that `shape` makes of the words in which the samples are written."""
    words = _window_words(family, samples)
    made = shape(words)
    if not callable(made):
        raise ModelError("the shape of a family is a function of its words that gives a program, a function of X")
    return FamilyOrigin(family, shape, samples, as_criterion(loss), made, words)


@dataclass(frozen=True)
class Training:
    """How a family is trained, as it was asked for: maps that move, maps that are kept, rates, decay, steps or flow."""

    train: Any = None
    carry: Any = None
    rates: Mapping[str, Any] | None = None
    decay: Any = 0
    step: bool = False


@dataclass(frozen=True, eq=False)
class FamilyOrigin:
    """A program on the words of a few groups."""

    family: Family
    shape: Shape
    samples: Representatives
    loss: Any
    function: Callable[[Expr], Expr]
    words: Words

    @cached_property
    def _read(self) -> tuple[Reads, Block, dict[str, Block]]:
        groups = [Group.encoded(arrays) for arrays in self.samples.encode(self.words.pinned)]
        for length in {group.length for group in groups}:
            output = self.function(tokens(self.words, length))
            _refuse_order(output, self.words, len(self.family.shared))
            _check_labels(output, self.words, self.loss)
        reads, losses, outputs = read_groups(self.function, self.words, groups, self.loss)
        return reads, blocks.add(*losses), outputs

    @cached_property
    def naming(self) -> Naming:
        """Pinned sets and names over the words of the samples."""
        return Naming(self._read[0].pins, self._read[0].letters)

    def naming_of(self, size: int) -> Naming:
        """The same over the words of `size` groups."""
        words = family_words(self.family, size)
        pins = {**self.naming.pins, WORDS: pin_of(words)}
        for name, pin in pins.items():
            if isinstance(pin.side, Units) and pin.side.grouped:
                pins[name] = pin_of(Units(name, size, grouped=True))
        return replace(self.naming, pins=pins)

    @property
    def maps(self) -> tuple[str, ...]:
        """Names of all maps that occur."""
        return tuple(self.naming.letters)

    def closed(self, training: Training) -> tuple[tuple[str, ...], Rule, Closure]:
        """What is trained and how, and the closed set of paths."""
        trained, carried = carried_maps(self, training.train, training.carry)
        speeds = speeds_of(self, training.rates, training.decay, trained)
        rule, wider = (plain(frozenset(maps), training.step, *speeds) for maps in (trained, carried))
        closure = close(tuple(self._read[0].tables), frozenset(carried), training.step, rule=wider)
        return trained, rule, closure if carried == trained else restricted(closure, rule)

    def blocks(self, leaves: Mapping[str, Block]) -> tuple[Block, dict[str, Block]]:
        """Loss and observables over the matrices of the paths."""
        reads, objective, outputs = self._read
        renamed = {table.data: leaves[self.naming.leaf(path)] for path, table in reads.tables.items()}
        objective, *found = blocks.replace_leaves([objective, *outputs.values()], renamed)
        return objective, {"loss": objective, **dict(zip(outputs, found, strict=True))}

    @cached_property
    def parameters(self) -> set[str]:
        """Names of the parameters of the program and the loss."""
        found = set()
        for length in {orbit.length for orbit in self.samples.orbits}:
            output = self.function(tokens(self.words, length))
            for expr in parts(self.loss(output, output)):
                if expr.op == "constant":
                    found |= graph.symbols(list(expr.data.flat))
                elif expr.op == "apply":
                    found |= graph.symbols([expr.data[0]]) - {"z"}
        return found

    def start(self, closure: Closure, omega: Any, spread: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """All matrices of paths at infinite width."""
        return infinite_width(self.naming, closure, omega, spread, {})

    def network(self, closure: Closure, weights: Mapping[str, Any], size: int) -> dict[str, np.ndarray]:
        """All matrices of paths of a network of `size` groups."""
        return weight_values(self.naming_of(size), closure, weights)

    def enumerated(self, training: Training, size: int) -> System:
        """The system of `size` groups with all its words and samples."""
        words, how = family_words(self.family, size), training
        derive = gradient_descent if how.step else gradient_flow
        data, shape = Data(words, self.family.samples(size)), self.shape(words)
        made = derive(shape, data, self.loss, train=how.train, carry=how.carry, rates=how.rates, decay=how.decay)
        return made.system

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The heads that maps belong to."""
        return tuple(dict.fromkeys(letter.data.of for letter in self.naming.letters.values()))

    def moved(self, element: TypeSymmetry, path: Path) -> tuple[Path, int, int]:
        """Where a symmetry takes a path, and the signs of ends that are no words."""
        heads = [element.heads[self.labels.index(letter.of)] for letter in path.letters]
        letters = [replace(x, of=self.labels[h]) for x, (h, _) in zip(path.letters, heads, strict=True)]
        return Path(path.left, tuple(letters), path.right), heads[0][1], heads[-1][1]

    def keeps_rule(self, element: TypeSymmetry, rule: Rule) -> bool:
        """True if every head moves like the head that it goes to."""
        for name, expr in self.naming.letters.items():
            goal = replace(expr.data, of=self.labels[element.heads[self.labels.index(expr.data.of)][0]]).map
            own, other = rule.motion(name), rule.motion(goal)
            kept, moved = ({k.partition(".")[0]: v for k, v in m.maps.items()} for m in (own, other))
            if (name in rule.moving) != (goal in rule.moving) or own.force is not other.force or kept != moved:
                return False
        return True

    def symmetries(self, unchanged: Unchanged) -> tuple[TypeSymmetry, ...]:
        """All symmetries that act on the groups alike."""
        identity = tuple((i, 1) for i in range(len(self.family.types)))
        trivial = tuple((k, 1) for k in range(len(self.labels)))
        candidates = (
            TypeSymmetry(types, heads, label)
            for types, label in sample_symmetries(self.family)
            for heads in self._head_maps()
            if (types, heads) != (identity, trivial)
        )
        return tuple(element for element in candidates if unchanged(element))

    def is_symmetry(self, element: TypeSymmetry, unchanged: Unchanged) -> bool:
        """Exact check of one of them."""
        samples = (element.types, element.label) in set(sample_symmetries(self.family))
        return samples and element.heads in set(self._head_maps()) and unchanged(element)

    def _head_maps(self) -> Iterator[tuple[tuple[int, int], ...]]:
        """Signed permutations of heads that have the same maps."""
        for order in permutations(range(len(self.labels))):
            if all(self._has(expr, self.labels[order[self.labels.index(expr.data.of)]]) for expr in self._maps()):
                for signs in product((1, -1), repeat=len(order)):
                    yield tuple(zip(order, signs, strict=True))

    def _maps(self) -> Iterable[Expr]:
        return self.naming.letters.values()

    def _has(self, expr: Expr, head: str) -> bool:
        other = self.naming.letters.get(replace(expr.data, of=head).map)
        return other is not None and (other.rows, other.columns) == (expr.rows, expr.columns)

    def describe(self, element: TypeSymmetry) -> str:
        """A symmetry in words."""
        return element.describe(self.family, self.labels)


def _refuse_order(output: Any, words: Words, shared: int) -> None:
    """Refuse programs that know the order of the tokens or the list of all words: a family has neither."""
    if not isinstance(output, Expr):
        return  # the reader says what is wrong
    listed = words.all.columns
    for expr in parts(output):
        if (
            expr.op == "words"
            and expr.rows == words
            and words.groups is None
            and not _shared_only(output, words, shared)
        ):
            raise ModelError(
                f"{output} reads words.all, but a family has K groups of words, not only those listed; it may where "
                f"the labels of its templates are word types"
            )
        if expr.op == "columns" and not _shared_places(expr, words, shared):
            side = expr.args[0].columns
            if side == listed or (isinstance(side, Units) and side.grouped):
                raise ModelError(
                    f"{expr} takes one group by its place, but the groups of a family are all alike; take a shared word"
                )
        if knows_order(expr):
            raise ModelError(
                f"{expr} depends on the order of the tokens, which the samples of a family do not have; use sums, "
                f"means and softmax over all tokens"
            )


def _shared_places(expr: Expr, words: Words, shared: int) -> bool:
    """True for columns of words.all that are shared words."""
    first = len(words) - shared
    return expr.args[0].op == "words" and expr.args[0].rows == words and min(expr.data[0]) >= first


def _shared_only(output: Expr, words: Words, shared: int) -> bool:
    """True if all words that are read are shared ones, taken by their names."""
    found = list(parts(output))
    chosen = {expr.args[0] for expr in found if expr.op == "columns" and _shared_places(expr, words, shared)}
    uses = [a for expr in found if not (expr.op == "columns" and expr.args[0] in chosen) for a in expr.args]
    return not any(a.op == "words" and a.rows == words for a in uses)


def _check_labels(output: Any, words: Words, loss: Any) -> None:
    """Labels that are words need an output with a row for each group or word, and a loss of classes."""
    if words.groups is None or not isinstance(output, Expr):
        return
    rows = output.rows
    if isinstance(loss, Loss):
        raise ModelError(f"the loss {loss.name} takes the labels +1 and -1, but those of the templates are word types")
    if rows != words.all.columns and not (isinstance(rows, Units) and rows.grouped):
        raise ModelError(
            f"the labels of the templates are word types, so the output has a row for each group, "
            f"maps('Y', Units('y', words), words), or for each word, words.all.T @ ...; {output} has neither"
        )


__all__ = ["FamilyOrigin", "Shape", "Training", "family_origin", "family_words"]
