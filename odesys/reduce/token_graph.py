r"""Words and samples of a program as a coloured graph: a proposer of symmetries where the whole loss is too large.

A signed permutation of the words that maps weighted samples to weighted samples of the same target leaves the loss of
many programs alone; whether it does is decided elsewhere, so that nothing here has to know what the program is. Units
and maps stay where they are.
"""

from __future__ import annotations

from collections.abc import Hashable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expr.graph import ONE, Node
from ..model.paths import Path
from ..program.data import coordinates
from .automorphism import automorphisms
from .path_graph import pin_vertices
from .program_element import ProgramSymmetry
from .signed_graph import SIGNS, SignedGraph
from .symmetry import checked_state

if TYPE_CHECKING:
    from ..derive.program_flow import ProgramFlow

Mark = tuple[Hashable, Hashable]  # a token and what is said of it: how often it occurs, or where


def word_symmetries(flow: ProgramFlow, state: Any, ordered: bool) -> tuple[list[ProgramSymmetry], int]:
    """Proposed generators and the order of their action on states; `ordered` keeps the order of tokens."""
    build, words = _graph(flow, state, ordered), flow.program.data.words
    group = automorphisms(build.coloured())
    keys = {number: key for key, number in build.index.items()}
    elements = []
    for permutation in group.generators:
        moved: list[Any] = [keys[permutation[number]] for number in _places(build, flow)]
        elements.append(ProgramSymmetry(pins=((words.name, tuple(key[1:] for key in moved)),)))
    # only the sign of all words at once can move no state, and only where every path has words at both ends or at none
    blind = all((path.left == words.name) == (path.right == words.name) for path in flow.closure.paths)
    return elements, group.order // 2 if blind and _flips(build, flow) else group.order


def _graph(flow: ProgramFlow, state: Any, ordered: bool) -> SignedGraph:
    build, words = SignedGraph(), flow.program.data.words
    pin_vertices(build, words.name, flow.naming.pins[words.name])
    _add_samples(build, flow, ordered)
    if state is not None:
        _add_values(build, flow, state)
    return build


def _places(build: SignedGraph, flow: ProgramFlow, sign: int = 1) -> list[int]:
    """The vertices of all words with one sign."""
    name = flow.program.data.words.name
    return [build.index["pin", name, i, sign] for i in range(flow.naming.pins[name].size)]


def _flips(build: SignedGraph, flow: ProgramFlow) -> bool:
    """Whether the sign of all words at once is in the group: with words told apart, the two signs can still move."""
    for sign in SIGNS:
        frame = build.vertex(("frame", sign), "frame")
        for i, place in enumerate(_places(build, flow, sign)):
            build.colours[place] = ("word", i)
            build.edges.append((frame, place, "of"))
    return automorphisms(build.coloured()).order == 2


def _add_samples(build: SignedGraph, flow: ProgramFlow, ordered: bool) -> None:
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
        build.vertex(name, ("sample", weight, target))
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


def _add_values(build: SignedGraph, flow: ProgramFlow, given: Any) -> None:
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
