"""Orbit variables of a family: which pair of pinned vectors belongs to which, their names, TeX and symmetries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ..derive.assembly import PathNaming
from ..derive.closure import Closure
from ..expr.field import Layout, Segment
from ..expr.system import State
from ..model.family import Family
from ..model.family_symmetry import TypeSymmetry
from ..model.orbit_algebra import OTHER, SAME, OrbitAlgebra, PairSpace, Pin
from ..model.paths import WORDS, Path, state_name
from ..program.spaces import Units

if TYPE_CHECKING:
    from .family_origin import ModelOrigin, ProgramOrigin


def pin_of(family: Family, naming: PathNaming, pin: str) -> Pin:
    """A pinned set of a model or program up to permutations of groups."""
    if pin == WORDS:
        return Pin((True,) * len(family.words) + (False,) * len(family.shared))
    return Pin((True,)) if is_grouped(naming, pin) else Pin((False,) * naming.size(pin))


def is_grouped(naming: PathNaming, pin: str) -> bool:
    """True for units of which every group has one."""
    known = getattr(naming, "pins", {}).get(pin)
    return isinstance(getattr(known, "side", None), Units) and known.side.grouped


def _members(family: Family, naming: PathNaming, pin: str, size: int) -> list[tuple[int, int]]:
    """Kind and group of every pinned vector of `size` groups, in the order of the dictionary."""
    if pin == WORDS:
        grouped = [(t, g) for t in range(len(family.words)) for g in range(size)]
        return grouped + [(len(family.words) + t, 0) for t in range(len(family.shared))]
    if is_grouped(naming, pin):
        return [(0, g) for g in range(naming.size(pin))]
    return [(row, 0) for row in range(naming.size(pin))]


def pair_table(family: Family, naming: PathNaming, path: Path, space: PairSpace, size: int) -> np.ndarray:
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
    naming: PathNaming,
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
    for path, head in naming.tables(closure.paths):
        leaf, space = naming.leaf(path, head), spaces[path]
        state_at, tex_at = naming.state(path, head), naming.tex(path, head)
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


def _place(family: Family, naming: PathNaming, pin: str, kind: int, group: int, size: int) -> int:
    if pin == WORDS:
        return family.place(kind, group, size)
    return group if is_grouped(naming, pin) else kind


def _orbit_state(family: Family, naming: PathNaming, path: Path, entry: State, i: int, j: int, relation: str) -> State:
    def called(pin: str, kind: int, own: str) -> str:
        return family.types[kind] if pin == WORDS else pin if is_grouped(naming, pin) else own

    ends = called(path.left, i, entry.left), called(path.right, j, entry.right)
    return State(entry.path, entry.head, *ends, relation)


def on_states(
    element: TypeSymmetry,
    layout: Layout,
    origin: ModelOrigin | ProgramOrigin,
    closure: Closure,
    spaces: Mapping[Path, PairSpace],
) -> tuple[np.ndarray, np.ndarray]:
    """The action of a symmetry on the orbit variables of all heads."""
    target, sign = np.empty(len(layout.names), dtype=int), np.empty(len(layout.names), dtype=int)
    segments = {segment.leaf: segment for segment in layout.segments}
    naming = origin.naming
    for path, head in naming.tables(closure.paths):
        image, other, *signs = origin.moved(element, path, head)
        stored, turned = closure.canonical(image)
        source, goal = segments[naming.leaf(path, head)].index, segments[naming.leaf(stored, other)].index
        for n, (i, j, relation) in enumerate(spaces[path].pairs):
            (a, s), (b, r) = (
                element.types[kind] if pin == WORDS else (kind, own)
                for pin, kind, own in zip((path.left, path.right), (i, j), signs, strict=True)
            )
            pair = (b, a, relation) if turned else (a, b, relation)
            target[source[n, 0]] = goal[spaces[stored].index[pair], 0]
            sign[source[n, 0]] = s * r
    return target, sign
