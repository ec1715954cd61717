r"""Pinned vectors, maps, paths and path scalars as a coloured graph with signs.

An automorphism is a signed permutation of pinned vectors and of maps; it acts on paths letter by letter, and on path
scalars by :math:`x_{P,ij} \mapsto s_i\,s_j\,s_P\,x_{gP,\,gi\,gj}` with :math:`s_P` the product of the signs of maps.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..expr.graph import ZERO
from ..model.paths import Path
from .signed_graph import SIGNS, SignedGraph

if TYPE_CHECKING:
    from ..derive.flow import Flow
    from ..program.reading import Pin


class PathGraph:
    """The part of the graph that every program has; paths and states are added as they are needed."""

    def __init__(self, flow: Flow) -> None:
        self.flow, self.build = flow, SignedGraph()
        self.states: dict[str, tuple[Any, ...]] = {}  # keys of the signed vertices
        self.written: set[Path] = set()
        paths = flow.closure.paths
        self.patterns = {_pattern(path) for path in paths}
        self.pins = sorted({pin for path in paths for pin in (path.left, path.right)})
        self.maps = sorted({letter.map for path in paths for letter in path.letters} | flow.rule.moving)
        for pin in self.pins:
            pin_vertices(self.build, pin, flow.naming.pins[pin])
        self._maps()

    def _maps(self) -> None:
        rule = self.flow.rule
        for name in self.maps:
            moves = name in rule.moving
            self.build.signed(("map", name), ("map", moves, rule.motion(name).force), True)
        for name in rule.moving:
            motion = rule.motion(name)
            pulls: list[tuple[str, Hashable]] = [(other, ("moves", c)) for other, c in motion.maps.items()]
            for other, label in [*pulls, (motion.on or name, "force")]:
                for sign in SIGNS:
                    self.build.edge(("map", name, sign), ("map", other, sign), label)

    def _path(self, path: Path) -> tuple[Any, ...]:
        """The key of the sign of a path, read in one direction: its maps are multiplied one after the other."""
        end = ("path", path, len(path.letters))
        if path in self.written:
            return end
        self.written.add(path)
        self.build.signed(("path", path, 0), "start", False)
        self.build.edge(("path", path, 0, 1), ("set", path.left), "left")
        for place, letter in enumerate(path.letters):
            before, after = ("path", path, place), ("path", path, place + 1)
            self.build.signed(after, "path", True)
            factors: list[tuple[tuple[Any, ...], Hashable]] = [(before, "before"), (("map", letter.map), "map")]
            self.build.product(after, factors, f"letter {letter.transposed}")
        for sign in SIGNS:
            self.build.edge((*end, sign), ("set", path.right), "right")
        return end

    def state(self, path: Path, i: int, j: int, colours: tuple[Hashable, Hashable] = ("", "")) -> None:
        """Add one path scalar, with the colours of its two signs; a scalar that is there already is left alone."""
        name = self.flow.layout.names[self.flow.segment(path).index[i, j]]
        if name in self.states:
            return
        self.states[name] = key = ("state", name)
        for sign, colour in zip(SIGNS, colours, strict=True):
            self.build.vertex((*key, sign), ("state", colour))
        for sign in SIGNS:
            self.build.edge((*key, sign), (*key, -sign), "neg")
        for way, left, right in self._ways(path, i, j):
            ends: list[tuple[tuple[Any, ...], Hashable]] = [
                (("pin", way.left, left), "left"),
                (("pin", way.right, right), "right"),
                (self._path(way), "path"),
            ]
            self.build.product(key, ends, "entry")

    def _ways(self, path: Path, i: int, j: int) -> Iterable[tuple[Path, int, int]]:
        """The directions in which a scalar is read; the second only if it could be that of another path."""
        yield path, i, j
        if path.symmetric and i == j:
            return
        if _pattern(path.T) in self.patterns:
            yield path.T, j, i


def _pattern(path: Path) -> tuple[bool, ...]:
    return tuple(letter.transposed for letter in path.letters)


def pin_vertices(build: SignedGraph, name: str, pin: Pin) -> None:
    """A set of pinned vectors: signed vertices, tied to their set and by their inner products."""
    build.vertex(("set", name), "set")
    for i in range(pin.size):
        build.signed(("pin", name, i), "pin", True)
        for sign in SIGNS:
            build.edge(("pin", name, i, sign), ("set", name), "in")
    gram = pin.gram
    if gram is None:
        return
    for (i, j), entry in np.ndenumerate(gram):
        if entry is not ZERO:
            for si in SIGNS:
                for sj in SIGNS:
                    build.edge(("pin", name, i, si), ("pin", name, j, sj), ("gram", entry * (si * sj)))
