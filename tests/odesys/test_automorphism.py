"""Automorphism groups against known orders, brute force, and the two data sets whose symmetry we need."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Hashable, Iterable

import pytest

from odesys.automorphism import ColouredGraph, PermutationGroup, automorphisms, is_automorphism

Pairs = Iterable[tuple[int, int]]
SEED = 20240607


def undirected(n: int, pairs: Pairs, colours: tuple[Hashable, ...] | None = None) -> ColouredGraph:
    """Give each pair as two arrows, on vertices of one colour unless told otherwise."""
    edges = tuple((u, v, "edge") for a, b in pairs for u, v in ((a, b), (b, a)))
    return ColouredGraph(colours if colours is not None else (0,) * n, edges)


def cycle(n: int) -> list[tuple[int, int]]:
    return [(i, (i + 1) % n) for i in range(n)]


def shift(pairs: Pairs, by: int) -> list[tuple[int, int]]:
    return [(u + by, v + by) for u, v in pairs]


def cube(dimension: int) -> list[tuple[int, int]]:
    return [(v, v ^ 1 << k) for v in range(2**dimension) for k in range(dimension) if not v >> k & 1]


def petersen() -> list[tuple[int, int]]:
    """Join disjoint pairs from five points."""
    pairs = list(itertools.combinations(range(5), 2))
    return [(i, j) for i, j in itertools.combinations(range(10), 2) if not set(pairs[i]) & set(pairs[j])]


def on_torus(steps: set[tuple[int, int]]) -> list[tuple[int, int]]:
    """Join the points of Z_4 x Z_4 whose difference is, up to sign, one of the steps."""
    signed = steps | {(-a % 4, -b % 4) for a, b in steps}
    points = list(itertools.product(range(4), repeat=2))
    return [
        (i, j)
        for i, j in itertools.combinations(range(16), 2)
        if ((points[i][0] - points[j][0]) % 4, (points[i][1] - points[j][1]) % 4) in signed
    ]


# The same parameters (16, 6, 2, 2): refinement alone sees no difference within or between the two.
SHRIKHANDE = on_torus({(0, 1), (1, 0), (1, 1)})
ROOK = on_torus({(0, 1), (0, 2), (1, 0), (2, 0)})
# The smallest trees without symmetry have seven vertices: legs of length 1, 2 and 3 at a centre.
RIGID_TREE = [(0, 1), (0, 2), (2, 3), (0, 4), (4, 5), (5, 6)]
# The Frucht graph is cubic, so one cell for refinement, and rigid.
FRUCHT = [
    *cycle(7), (0, 7), (1, 7), (2, 8), (3, 9), (4, 9), (5, 10), (6, 10), (7, 11), (8, 11), (8, 9), (10, 11),
]  # fmt: skip


def check(graph: ColouredGraph) -> PermutationGroup:
    """Check what holds for every result, and return it."""
    group = automorphisms(graph)
    n = len(graph.colours)
    assert group.degree == n
    assert all(is_automorphism(graph, g) for g in group.generators)
    assert tuple(range(n)) not in group.generators
    assert len(group.generators) <= n - len(group.orbits()) + sum(len(orbit) > 1 for orbit in group.orbits())
    assert schreier_sims_order(group) == group.order
    return group


def schreier_sims_order(group: PermutationGroup) -> int:
    """Recompute the order of the generated group along the base, without trusting that generators are strong."""
    raise NotImplementedError
