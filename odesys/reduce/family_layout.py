"""Orbit variables of a family: which pair of pinned vectors belongs to which, their names, TeX and symmetries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..derive.closure import Closure
from ..expr.field import Layout, Segment
from ..expr.system import State
from ..model.family import Family
from ..model.family_symmetry import TypeSymmetry
from ..model.orbit_algebra import OTHER, SAME, OrbitAlgebra, PairSpace, Pin
from ..model.paths import WORDS, Path, state_name
from ..program.naming import Naming
from ..program.spaces import Units

if TYPE_CHECKING:
    from .family_origin import FamilyOrigin


def pin_of(family: Family, naming: Naming, pin: str) -> Pin:
    """A pinned set of a program up to permutations of groups."""
    if pin == WORDS:
        return Pin((True,) * len(family.words) + (False,) * len(family.shared))
    return Pin((True,)) if is_grouped(naming, pin) else Pin((False,) * naming.size(pin))


def is_grouped(naming: Naming, pin: str) -> bool:
    """True for units of which every group has one."""
    side = naming.pins[pin].side
    return isinstance(side, Units) and side.grouped


def _members(family: Family, naming: Naming, pin: str, size: int) -> list[tuple[int, int]]:
    """Kind and group of every pinned vector of `size` groups, in the order of the dictionary."""
    if pin == WORDS:
        grouped = [(t, g) for t in range(len(family.words)) for g in range(size)]
        return grouped + [(len(family.words) + t, 0) for t in range(len(family.shared))]
    if is_grouped(naming, pin):
        return [(0, g) for g in range(naming.size(pin))]
    return [(row, 0) for row in range(naming.size(pin))]


def pair_table(family: Family, naming: Naming, path: Path, space: PairSpace, size: int) -> np.ndarray:
    """Orbit number of every entry of the matrix of a path with `size` groups."""
    rows, columns = (_members(family, naming, pin, size) for pin in (path.left, path.right))
    table = np.empty((len(rows), len(columns)), dtype=int)
    for i, (a, g) in enumerate(rows):
        for j, (b, h) in enumerate(columns):
            both = space.left.grouped[a] and space.right.grouped[b]
            table[i, j] = space.index[a, b, (SAME if g == h else OTHER) if both else ""]
    return table


def orbit_layout(
    family: Family,
    naming: Naming,
    closure: Closure,
    spaces: Mapping[Path, PairSpace],
    algebra: OrbitAlgebra,
    size: int,
) -> tuple[Layout, dict[str, str], dict[str, State]]:
    """One state for each pair orbit of each path and head; a symmetric path has one for a pair and its mirror image."""
    names: list[str] = []
    tex: dict[str, str] = {}
    structure: dict[str, State] = {}
    places: list[tuple[str, int, int]] = []
    segments: list[Segment] = []
    for path in naming.tables(closure.paths):
        leaf, space = naming.leaf(path), spaces[path]
        state_at, tex_at = naming.state(path), naming.tex(path)
        index = np.empty(space.shape, dtype=int)
        for n, (i, j, relation) in enumerate(space.pairs):
            if path.symmetric and j < i:
                index[n, 0] = index[space.index[j, i, relation], 0]
                continue
            index[n, 0] = len(names)
            shown = "others" if algebra.scaled and relation == OTHER else relation
            second = 1 if relation == OTHER else 0
            ends = _place(family, naming, path.left, i, 0, size), _place(family, naming, path.right, j, second, size)
            state = _orbit_state(family, naming, path, state_at(*ends), i, j, shown)
            name = state_name(state)
            names.append(name)
            structure[name] = state
            places.append((leaf, n, 0))
            entry = tex_at(*ends)
            tex[name] = rf"\sum_{{j\ne1}}{entry.replace('_{2}', '_{j}')}" if shown == "others" else entry
        segments.append(Segment(leaf, index))
    return Layout(tuple(names), tuple(places), tuple(segments)), tex, structure


def _place(family: Family, naming: Naming, pin: str, kind: int, group: int, size: int) -> int:
    if pin == WORDS:
        return family.place(kind, group, size)
    return group if is_grouped(naming, pin) else kind


def _orbit_state(family: Family, naming: Naming, path: Path, entry: State, i: int, j: int, relation: str) -> State:
    def called(pin: str, kind: int, own: str) -> str:
        return family.types[kind] if pin == WORDS else pin if is_grouped(naming, pin) else own

    ends = called(path.left, i, entry.left), called(path.right, j, entry.right)
    return State(entry.path, entry.head, *ends, relation)


def on_states(
    element: TypeSymmetry,
    layout: Layout,
    origin: FamilyOrigin,
    closure: Closure,
    spaces: Mapping[Path, PairSpace],
) -> tuple[np.ndarray, np.ndarray]:
    """The action of a symmetry on the orbit variables of all heads."""
    target, sign = np.empty(len(layout.names), dtype=int), np.empty(len(layout.names), dtype=int)
    segments = {segment.leaf: segment for segment in layout.segments}
    naming = origin.naming
    for path in naming.tables(closure.paths):
        image, *signs = origin.moved(element, path)
        stored, turned = closure.canonical(image)
        source, goal = segments[naming.leaf(path)].index, segments[naming.leaf(stored)].index
        for n, (i, j, relation) in enumerate(spaces[path].pairs):
            (a, s), (b, r) = (
                element.types[kind] if pin == WORDS else (kind, own)
                for pin, kind, own in zip((path.left, path.right), (i, j), signs, strict=True)
            )
            pair = (b, a, relation) if turned else (a, b, relation)
            target[source[n, 0]] = goal[spaces[stored].index[pair], 0]
            sign[source[n, 0]] = s * r
    return target, sign
