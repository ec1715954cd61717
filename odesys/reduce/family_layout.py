"""Orbit variables of a family: which pair of pinned vectors belongs to which, their names, TeX and symmetries."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..derive.closure import Closure
from ..expr.field import Layout, Segment
from ..expr.system import State
from ..model.attention import AttentionModel
from ..model.family import Family
from ..model.family_symmetry import TypeSymmetry
from ..model.naming import ModelNaming
from ..model.orbit_algebra import OTHER, SAME, OrbitAlgebra, PairSpace, Pin
from ..model.paths import WORDS, Path, leaf_name, path_name, pin_size, state_name


def pin_of(family: Family, model: AttentionModel, pin: str) -> Pin:
    """A pinned set of the model up to permutations of groups."""
    if pin == WORDS:
        return Pin((True,) * len(family.words) + (False,) * len(family.shared))
    return Pin((False,) * pin_size(model, pin))


def _members(family: Family, model: AttentionModel, pin: str, size: int) -> list[tuple[int, int]]:
    """Kind and group of every pinned vector of `size` groups, in the order of the dictionary."""
    if pin == WORDS:
        grouped = [(t, g) for t in range(len(family.words)) for g in range(size)]
        return grouped + [(len(family.words) + t, 0) for t in range(len(family.shared))]
    return [(row, 0) for row in range(pin_size(model, pin))]


def pair_table(family: Family, model: AttentionModel, path: Path, space: PairSpace, size: int) -> np.ndarray:
    """Orbit number of every entry of the matrix of a path with `size` groups."""
    rows, columns = (_members(family, model, pin, size) for pin in (path.left, path.right))
    table = np.empty((len(rows), len(columns)), dtype=int)
    for i, (a, g) in enumerate(rows):
        for j, (b, h) in enumerate(columns):
            both = space.left.grouped[a] and space.right.grouped[b]
            table[i, j] = space.index[a, b, (SAME if g == h else OTHER) if both else ""]
    return table


def orbit_layout(
    family: Family,
    model: AttentionModel,
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
    for k in range(len(model.heads)):
        for path in closure.paths:
            leaf, space = leaf_name(model, path, k), spaces[path]
            index = np.empty(space.shape, dtype=int)
            for n, (i, j, relation) in enumerate(space.pairs):
                if path.symmetric and j < i:
                    index[n, 0] = index[space.index[j, i, relation], 0]
                    continue
                index[n, 0] = len(names)
                shown = "others" if algebra.scaled and relation == OTHER else relation
                state = _orbit_state(family, model, path, k, i, j, shown)
                name = state_name(state)
                names.append(name)
                structure[name] = state
                places.append((leaf, n, 0))
                second = 1 if relation == OTHER else 0
                ends = _place(family, path.left, i, 0, size), _place(family, path.right, j, second, size)
                entry = ModelNaming(model).tex(path, k)(*ends)
                tex[name] = rf"\sum_{{j\ne1}}{entry.replace('_{2}', '_{j}')}" if shown == "others" else entry
            segments.append(Segment(leaf, index))
    return Layout(tuple(names), tuple(places), tuple(segments)), tex, structure


def _place(family: Family, pin: str, kind: int, group: int, size: int) -> int:
    return family.place(kind, group, size) if pin == WORDS else kind


def _orbit_state(family: Family, model: AttentionModel, path: Path, head: int, i: int, j: int, relation: str) -> State:
    def end(pin: str, kind: int) -> str:
        if pin == WORDS:
            return family.types[kind]
        return f"n{kind + 1}" if pin_size(model, pin) > 1 else ""

    ends = end(path.left, i), end(path.right, j)
    return State(path_name(model, path), model.head_labels[head], *ends, relation)


def on_states(
    element: TypeSymmetry, layout: Layout, model: AttentionModel, closure: Closure, spaces: Mapping[Path, PairSpace]
) -> tuple[np.ndarray, np.ndarray]:
    """The action of a symmetry on the orbit variables of all heads."""
    target, sign = np.empty(len(layout.names), dtype=int), np.empty(len(layout.names), dtype=int)
    segments = {segment.leaf: segment for segment in layout.segments}

    def moved(pin: str, kind: int, head: int) -> tuple[int, int]:
        return element.types[kind] if pin == WORDS else (kind, element.heads[head][1])

    for k in range(len(model.heads)):
        for path in closure.paths:
            source, image = (segments[leaf_name(model, path, h)].index for h in (k, element.heads[k][0]))
            for n, (i, j, relation) in enumerate(spaces[path].pairs):
                (a, s), (b, r) = moved(path.left, i, k), moved(path.right, j, k)
                target[source[n, 0]] = image[spaces[path].index[a, b, relation], 0]
                sign[source[n, 0]] = s * r
    return target, sign
