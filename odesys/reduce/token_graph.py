r"""Words and samples of a program as a coloured graph: a proposer of symmetries where the whole loss is too large.

A signed permutation of the words that maps weighted samples to weighted samples of the same target, or with all signs
of targets changed, leaves the loss of many programs alone, perhaps together with a move of the maps; whether it does is
decided elsewhere, so that nothing here has to know what the program is. Units stay where they are.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expr.graph import ONE, Node
from ..model.paths import Path
from ..program.data import coordinates
from .automorphism import automorphisms
from .path_graph import pin_vertices
from .program_symmetry import ProgramSymmetry
from .signed_graph import SIGNS, SignedGraph
from .symmetry import checked_state

if TYPE_CHECKING:
    from ..derive.flow import Flow

Mark = tuple[Hashable, Hashable]  # a token and what is said of it: how often it occurs, or where


@dataclass(frozen=True)
class SampleMoves:
    """Signed permutations of the words, each with the sign of the target, that map samples to samples.

    `order` counts their actions on words, and `negation` says whether the sign of all words at once is one of them.
    """

    generators: tuple[tuple[ProgramSymmetry, int], ...]
    order: int
    negation: bool


def sample_moves(flow: Flow, state: Any, ordered: bool, flips: bool) -> SampleMoves:
    """All moves of words; `ordered` keeps the order of tokens, `flips` allows the sign of all targets to change."""
    build, words = _graph(flow, state, ordered, flips), flow.program.data.words
    group = automorphisms(build.coloured())
    keys = {number: key for key, number in build.index.items()}
    found = []
    for permutation in group.generators:
        moved: list[Any] = [keys[permutation[number]] for number in _places(build, flow)]
        label: Any = keys[permutation[build.index["label", 1]]] if flips else ("label", 1)
        found.append((ProgramSymmetry(pins=((words.name, tuple(key[1:] for key in moved)),)), label[1]))
    still = _framed(flow, state, ordered, flips, told=True)
    both = _framed(flow, state, ordered, flips, told=False)
    return SampleMoves(tuple(found), group.order // still, both > still)


def _framed(flow: Flow, state: Any, ordered: bool, flips: bool, told: bool) -> int:
    """How many automorphisms leave every word alone (`told`), or all of them up to one common sign."""
    build = _graph(flow, state, ordered, flips)
    for sign in SIGNS:
        frame = build.vertex(("frame", sign), ("frame", sign if told else 0))
        for i, place in enumerate(_places(build, flow, sign)):
            build.colours[place] = ("word", i)
            build.edges.append((frame, place, "of"))
    return automorphisms(build.coloured()).order


def has_signs(flow: Flow) -> bool:
    """True if every target is +1 or -1, so that all of them can change their sign."""
    return all(isinstance(s.label, int) and s.label in (1, -1) for s in flow.program.data.samples)


def _graph(flow: Flow, state: Any, ordered: bool, flips: bool) -> SignedGraph:
    build, words = SignedGraph(), flow.program.data.words
    pin_vertices(build, words.name, flow.naming.pins[words.name])
    for sign in SIGNS if flips else ():
        build.vertex(("label", sign), "label")
    _add_samples(build, flow, ordered, flips)
    if state is not None:
        _add_values(build, flow, state)
    return build


def _places(build: SignedGraph, flow: Flow, sign: int = 1) -> list[int]:
    """The vertices of all words with one sign."""
    name = flow.program.data.words.name
    return [build.index["pin", name, i, sign] for i in range(flow.naming.pins[name].size)]


def _add_samples(build: SignedGraph, flow: Flow, ordered: bool, flips: bool) -> None:
    data = flow.program.data
    tokens: dict[Hashable, Hashable] = {}  # combinations of words have a vertex each
    merged: dict[tuple[tuple[Mark, ...], str], Fraction] = {}
    for sample in data.samples:
        counts = sample.counts or (ONE,) * len(sample.tokens)
        marks: list[Mark] = []
        for place, (token, count) in enumerate(zip(sample.tokens, counts, strict=True)):
            vertex = _token(build, data.words.name, coordinates(data.words, token), tokens)
            marks.append((vertex, (place if ordered else "", count)))
        key = tuple(marks if ordered else sorted(marks, key=repr)), repr(sample.label)
        merged[key] = merged.get(key, Fraction(0)) + sample.weight
    for (where, target), weight in merged.items():
        name = ("sample", where, target)
        build.vertex(name, ("sample", weight, "" if flips else target))
        if flips:
            build.edge(name, ("label", int(target)), "label")
        for vertex, mark in where:
            build.edge(name, vertex, mark)


def _token(build: SignedGraph, name: str, parts: dict[int, Node], known: dict[Hashable, Hashable]) -> Hashable:
    """The vertex of a token: that of a signed word, or one of its own that is tied to its words."""
    signed = [((("pin", name, i, -1 if _negative(c) else 1)), -c if _negative(c) else c) for i, c in parts.items()]
    if len(signed) == 1 and signed[0][1] is ONE:
        return signed[0][0]
    content = frozenset(signed)
    if content not in known:
        known[content] = key = ("token", len(known))
        build.vertex(key, "token")
        for vertex, size in signed:
            build.edge(key, vertex, ("size", size))
    return known[content]


def _negative(node: Node) -> bool:
    return bool(node.op == "num" and node.args[0] < 0) or bool(node.op == "add" and node.args[0][0] < 0)


def _add_values(build: SignedGraph, flow: Flow, given: Any) -> None:
    """Tie each value of a state that is not zero to its signed words."""
    state, unit = checked_state(given, len(flow.layout.names))
    name = flow.program.data.words.name
    for path in flow.closure.paths:
        matrix = state[flow.segment(path).index]
        for i, j in zip(*np.nonzero(np.abs(matrix) > unit), strict=True):
            for si in SIGNS if path.left == name else (1,):
                for sj in SIGNS if path.right == name else (1,):
                    value = round(matrix[i, j] * si * sj / unit)
                    _add_value(build, path, name, (int(i), si), (int(j), sj), value)


def _add_value(
    build: SignedGraph, path: Path, name: str, left: tuple[int, int], right: tuple[int, int], value: int
) -> None:
    fixed = (left if path.left != name else (), right if path.right != name else ())
    key = build.vertex(("value", len(build.colours)), ("value", path, fixed, value))
    for pin, end, label in ((path.left, left, "left"), (path.right, right, "right")):
        if pin == name:
            build.edges.append((key, build.index["pin", name, *end], label))
