r"""The automorphism group of a vertex-coloured graph with labelled, directed edges.

An automorphism is a permutation :math:`g` of the vertices that keeps colours and labelled edges,

.. math::  c(g(v)) = c(v), \qquad (u, v, \ell) \in E \iff (g(u), g(v), \ell) \in E .

The method is individualisation and refinement. Fixing vertices :math:`v_1, v_2, \dots` one at a time, and splitting the
cells of equal-looking vertices after each, ends in a discrete partition; so these vertices are a base, and with
:math:`G_i` the automorphisms that fix :math:`v_1, \dots, v_{i-1}`,

.. math::  |G| = \prod_i |G_i v_i| .

The basic orbits :math:`G_i v_i` are computed from the last to the first, by a search for an element of :math:`G_i` that
sends :math:`v_i` to each candidate not yet reached. Every element found is checked edge by edge, and every failed
search is exhaustive, so the order is exact.

References
----------
McKay and Piperno, Practical graph isomorphism II (2014); Darga et al., saucy (2004), for ending a search early.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from math import prod

Permutation = tuple[int, ...]  # image list: g[v] is where v goes
_Neighbours = list[dict[int, int]]  # per vertex u: v -> code of all edges between u and v
_Trace = list[tuple[int, list[tuple[int, int]]]]  # per splitting cell: (cell, key) of every vertex it touches

# Codes of edges are powers of a primitive root modulo a prime: distinct, and without small linear relations.
_PRIME, _ROOT = 2**61 - 1, 0x1E3779B97F4A7C1A


@dataclass(frozen=True)
class ColouredGraph:
    """A finite graph whose vertices 0, ..., n-1 have colours and whose directed edges have labels.

    Parameters
    ----------
    colours : one per vertex; only equality matters, here and for labels.
    edges : triples (from, to, label). Repeated edges count with multiplicity and loops are allowed. An undirected
        relation is given in both directions; given in one direction it is an arrow, and arrows are kept.
    """

    colours: tuple[Hashable, ...]
    edges: tuple[tuple[int, int, Hashable], ...]

    def __post_init__(self) -> None:
        n = len(self.colours)
        for edge in self.edges:
            if not (0 <= edge[0] < n and 0 <= edge[1] < n):
                raise ValueError(
                    f"the edge {edge} leaves the graph, which has {n} vertices numbered from 0; "
                    "give a colour to every vertex that an edge uses."
                )


@dataclass(frozen=True)
class PermutationGroup:
    """A permutation group with a base and strong generators.

    Parameters
    ----------
    degree : the group acts on 0, ..., degree-1.
    generators : image lists. Those that fix the first i base points generate the stabiliser of these points.
    order : exact, the product of the basic orbit lengths.
    base : only the identity fixes all of these points; every basic orbit has at least two points.
    """

    degree: int
    generators: tuple[Permutation, ...]
    order: int
    base: tuple[int, ...]

    def orbits(self) -> tuple[tuple[int, ...], ...]:
        """Give the orbits, fixed points included, each sorted, in the order of their least points."""
        parent = list(range(self.degree))
        for generator in self.generators:
            _merge(parent, generator)
        orbits: dict[int, list[int]] = {}
        for v in range(self.degree):
            orbits.setdefault(_root(parent, v), []).append(v)
        return tuple(map(tuple, orbits.values()))

    def elements(self, limit: int = 10_000) -> Iterator[Permutation]:
        """Enumerate all elements once, the identity first; a group with more than `limit` elements is refused."""
        if self.order > limit:
            raise ValueError(
                f"listing the group was limited to {limit} elements, but it has at least "
                f"2^{self.order.bit_length() - 1} (.order); raise the limit, or work with the generators."
            )
        transversals, strong = [], self.generators
        for point in self.base:
            transversals.append(_transversal(point, strong, self.degree))
            strong = tuple(g for g in strong if g[point] == point)
        identity = tuple(range(self.degree))
        return (reduce(_compose, factors, identity) for factors in product(*transversals))


def is_automorphism(graph: ColouredGraph, permutation: Sequence[int]) -> bool:
    """Decide whether an image list is a permutation of the vertices that keeps colours and labelled edges."""
    if sorted(permutation) != list(range(len(graph.colours))):
        return False
    if any(graph.colours[image] != colour for image, colour in zip(permutation, graph.colours, strict=True)):
        return False
    return Counter(graph.edges) == Counter((permutation[u], permutation[v], label) for u, v, label in graph.edges)


def automorphisms(graph: ColouredGraph) -> PermutationGroup:
    """Compute the automorphism group: strong generators, base and exact order.

    Each generator joins two orbits that the earlier ones left apart, so there are fewer generators than vertices and
    none lies in the group of those before it. Equal input gives equal output.

    Examples
    --------
    >>> square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    >>> both_ways = tuple((u, v, "side") for a, b in square for u, v in ((a, b), (b, a)))
    >>> automorphisms(ColouredGraph(("corner",) * 4, both_ways)).order
    8
    """
    n = len(graph.colours)
    neighbours, partition = _encode(graph)
    levels = _first_path(neighbours, partition)
    generators: list[Permutation] = []
    parent = list(range(n))  # orbits of the group generated so far, which fixes the base points of the levels to come
    for i in reversed(range(len(levels) - 1)):
        level = levels[i]
        settled = [level.vertex]  # reached, or proved out of reach; either way together with the whole orbit
        for w in sorted(level.partition.cell(level.cell)):
            if _root(parent, w) in {_root(parent, u) for u in settled}:
                continue
            found = _search(neighbours, levels, generators, i, w)
            if found is None:
                settled.append(w)
            else:
                generators.append(found)
                _merge(parent, found)
        root = _root(parent, level.vertex)
        level.orbit = sum(_root(parent, v) == root for v in level.partition.cell(level.cell))
    moved = [level for level in levels if level.orbit > 1]
    order = prod(level.orbit for level in moved)
    return PermutationGroup(n, tuple(generators), order, tuple(level.vertex for level in moved))


def _encode(graph: ColouredGraph) -> tuple[_Neighbours, _Partition]:
    """Number what lies between two vertices (labels, multiplicities, directions), and sort vertices by colour."""
    label_numbers: dict[Hashable, int] = {}
    between: dict[tuple[int, int], list[int]] = {}
    for u, v, label in graph.edges:
        number = label_numbers.setdefault(label, len(label_numbers))
        between.setdefault((u, v), []).append(number)
        between.setdefault((v, u), []).append(~number)  # the same edge seen from its head
    codes: dict[tuple[int, ...], int] = {}  # the code for (u, v) determines that for (v, u), so one direction suffices
    neighbours: _Neighbours = [{} for _ in graph.colours]
    for (u, v), numbers in between.items():
        code = codes.setdefault(tuple(sorted(numbers)), len(codes))
        neighbours[u][v] = pow(_ROOT, code + 1, _PRIME)
    classes: dict[Hashable, list[int]] = {}
    for u, colour in enumerate(graph.colours):
        classes.setdefault((colour, neighbours[u].pop(u, None)), []).append(u)  # loops become part of the colour
    n = len(neighbours)
    partition = _Partition(list(range(n)), list(range(n)), [0] * n, [n] + [0] * n)
    end = n
    for members in list(classes.values())[:0:-1]:
        end = partition.cut(end, members)
    return neighbours, partition


@dataclass(slots=True)
class _Partition:
    """An ordered partition: cell s is `elements[s : s + size[s]]`, and v belongs to cell `start[v]`.

    Cells are named by position, so partitions reached by corresponding steps can be compared name by name.
    """

    elements: list[int]
    position: list[int]
    start: list[int]
    size: list[int]  # zero where no cell starts

    def copy(self) -> _Partition:
        return _Partition(self.elements[:], self.position[:], self.start[:], self.size[:])

    def cell(self, start: int) -> list[int]:
        return self.elements[start : start + self.size[start]]

    def cut(self, end: int, vertices: list[int]) -> int:
        """Make `vertices`, all of the cell that reaches up to position `end`, a cell of their own at its end."""
        elements, position = self.elements, self.position
        self.size[self.start[vertices[0]]] -= len(vertices)
        first = end - len(vertices)
        self.size[first] = len(vertices)
        for place, v in enumerate(vertices, first):
            other, hole = elements[place], position[v]
            elements[place], elements[hole] = v, other
            position[other], position[v] = hole, place
            self.start[v] = first
        return first


def _refine(
    neighbours: _Neighbours, partition: _Partition, splitters: Iterable[int], expected: _Trace | None = None
) -> _Trace | None:
    """Split cells in place until the vertices of a cell have equal edges into every cell, and record the steps.

    The key of a vertex is the sum of the codes of its edges into the splitting cell. Should different edges ever give
    equal sums, the partition is only coarser: the search needs keys that do not depend on the names of vertices, no
    more. With `expected`, return None at the first step that differs.
    """
    queue = deque(splitters)
    waiting = set(queue)
    start, size = partition.start, partition.size
    trace: _Trace = []
    while queue:
        splitter = queue.popleft()
        waiting.discard(splitter)
        keys: dict[int, int] = {}
        for u in partition.cell(splitter):
            for v, code in neighbours[u].items():
                keys[v] = keys.get(v, 0) + code
        touched = sorted([(start[v], key, v) for v, key in keys.items()])
        step = (splitter, [(cell, key) for cell, key, _ in touched])
        if expected is not None and expected[len(trace)] != step:
            return None
        trace.append(step)
        split: dict[int, dict[int, list[int]]] = {}
        for cell, key, v in touched:
            if size[cell] > 1:
                split.setdefault(cell, {}).setdefault(key, []).append(v)
        for cell, by_key in split.items():
            groups = list(by_key.values())
            if sum(map(len, groups)) == size[cell]:
                del groups[0]  # no vertex is untouched, so the least key keeps the old name
            end, names = cell + size[cell], [cell]
            for group in reversed(groups):
                end = partition.cut(end, group)
                names.append(end)
            # Hopcroft: keys add up, so a largest part tells nothing new, unless the whole was still waiting.
            spared = cell if cell in waiting else max(names, key=size.__getitem__)
            names.remove(spared)
            queue.extend(names)
            waiting.update(names)
    return trace


@dataclass
class _Level:
    """A place on the first path: `partition` has the base points so far fixed, and `vertex` of `cell` is the next."""

    partition: _Partition
    cell: int = 0
    vertex: int = -1
    trace: _Trace | None = None  # of the refinement after fixing `vertex`
    orbit: int = 1  # length of the basic orbit, once known


def _fix(
    neighbours: _Neighbours, partition: _Partition, v: int, expected: _Trace | None
) -> tuple[_Partition, _Trace | None]:
    """Give v a cell of its own in a copy of `partition`, and refine."""
    result, cell = partition.copy(), partition.start[v]
    alone = result.cut(cell + result.size[cell], [v])
    return result, _refine(neighbours, result, [alone], expected)


def _joins(neighbours: _Neighbours, partition: _Partition, cell: int) -> int:
    """Count the ways (cell, code) in which a vertex of `cell` is joined to a part, but not all, of a cell."""
    ways = Counter((partition.start[v], code) for v, code in neighbours[partition.elements[cell]].items())
    return sum(count < partition.size[other] for (other, _), count in ways.items())


def _first_path(neighbours: _Neighbours, partition: _Partition) -> list[_Level]:
    """Fix the least vertex of a best-joined open cell until no cell is open; the last level is that leaf.

    A base point that tells many cells apart keeps failing searches short: smallest cells are slow on projective planes,
    largest cells on unions of look-alikes. On equal joins the first largest cell is taken.
    """
    _refine(neighbours, partition, sorted(set(partition.start)))
    levels = [_Level(partition)]
    while open_cells := [s for s, size in enumerate(levels[-1].partition.size) if size > 1]:
        level = levels[-1]
        joins = [(_joins(neighbours, level.partition, s), level.partition.size[s], -s) for s in open_cells]
        level.cell = -max(joins)[2]
        level.vertex = min(level.partition.cell(level.cell))
        partition, level.trace = _fix(neighbours, level.partition, level.vertex, None)
        levels.append(_Level(partition))
    return levels


def _search(
    neighbours: _Neighbours, levels: list[_Level], generators: list[Permutation], i: int, w: int
) -> Permutation | None:
    """Find an automorphism that fixes the base points before level i and sends the one of level i to w, if any.

    All `generators` fix the base points before level i, and the basic orbits after it are known. The stack is explicit
    because a base can be longer than Python's own stack is deep.
    """
    # A place of the search is a choice of images for the base points from level i on: the partition they lead to, the
    # generators that fix them, and the candidates for the next image that were tried or are known to fail.
    root = levels[i].partition
    stack = [(root, generators, set(root.cell(levels[i].cell)) - {w})]
    while stack:
        partition, fixing, dead = stack[-1]
        level, following = levels[i + len(stack) - 1], levels[i + len(stack)]
        alive = set(partition.cell(level.cell)) - dead
        # If h leads here, then so does h s for each s that fixes the earlier base points, and these send the next one
        # to all of h(its basic orbit). So there is no h once fewer candidates are left than that orbit has points.
        if len(alive) < level.orbit:
            stack.pop()
            continue
        candidate = level.vertex if level.vertex in alive else min(alive)  # what need not move had better not
        dead |= _orbit(candidate, fixing)
        refined, trace = _fix(neighbours, partition, candidate, level.trace)
        if trace is None:
            continue
        found = _complete(neighbours, following.partition, refined)
        if found is not None:
            return found
        if following.trace is not None:  # not a leaf
            stack.append((refined, [g for g in fixing if g[candidate] == candidate], set()))
    return None


def _complete(neighbours: _Neighbours, left: _Partition, right: _Partition) -> Permutation | None:
    """Send single cells to single cells and fix all other vertices, if the open cells agree and edges are kept."""
    image = list(range(len(neighbours)))
    for u, w in zip(left.elements, right.elements, strict=True):
        if left.size[left.start[u]] == 1:
            image[u] = w
        elif left.start[u] != right.start[u]:
            return None
    for u, w in enumerate(image):  # every edge that moves has a moved end
        if u != w and {image[v]: code for v, code in neighbours[u].items()} != neighbours[w]:
            return None
    return tuple(image)


def _root(parent: list[int], v: int) -> int:
    """Find the representative of v in a union-find forest, the least point of its orbit."""
    while parent[v] != v:
        parent[v] = parent[parent[v]]
        v = parent[v]
    return v


def _merge(parent: list[int], permutation: Permutation) -> None:
    """Join the orbits of each point and its image."""
    for v, w in enumerate(permutation):
        if v == w:
            continue
        a, b = _root(parent, v), _root(parent, w)
        parent[max(a, b)] = min(a, b)


def _orbit(point: int, generators: Sequence[Permutation]) -> set[int]:
    """Collect the images of `point` under the group generated."""
    orbit, queue = {point}, [point]
    for v in queue:  # grows while it is read
        images = {g[v] for g in generators} - orbit
        orbit |= images
        queue.extend(images)
    return orbit


def _transversal(point: int, generators: Sequence[Permutation], degree: int) -> list[Permutation]:
    """Give for each image of `point` one product of generators that sends it there, the identity first."""
    found = {point: tuple(range(degree))}
    for v in (queue := [point]):
        for g in generators:
            if g[v] not in found:
                found[g[v]] = _compose(g, found[v])
                queue.append(g[v])
    return list(found.values())


def _compose(g: Permutation, h: Permutation) -> Permutation:
    """Apply h, then g."""
    return tuple(g[image] for image in h)
