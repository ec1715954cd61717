r"""Self-scores of a family eliminated at infinite width, for any K.

A matrix of the orbit algebra splits into two sectors: the trivial one, :math:`Z^s = Z^{=} + (K-1) Z^{\ne}` on all word
types, and the standard one, :math:`Z^a = Z^{=} - Z^{\ne}` on those with one word per group, K - 1 times. In each

.. math::  A^\theta = (\omega^4 I + M^\theta M^{\theta\top})^{1/2}, \qquad
           Z^{=} = \frac{Z^s + (K-1) Z^a}{K}, \quad Z^{\ne} = \frac{Z^s - Z^a}{K} .
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SlavingError
from ..expr import graph
from ..expr.graph import Node, num, sym
from ..model.group_count import GROUPS, ONE_GROUP, below
from ..model.orbit_algebra import OTHER, SAME, PairSpace
from ..model.paths import Path
from .slaving import Slaved, closed_root, self_scores, without

if TYPE_CHECKING:
    from .family_gradient import FamilyFlow

TRIVIAL, STANDARD = "trivial", "standard"


def slave_family(flow: FamilyFlow) -> Slaved:
    """Eliminate the self-scores of a family flow: closed forms in sectors of size one and two."""
    pairs = self_scores(flow)
    types = flow.family.types
    sizes = (len(types), len(flow.family.words))
    if max(sizes) > 2:
        raise SlavingError(f"a sector of this family has size {max(sizes)}; closed forms stop at 2, use the flow")
    if flow.scaled and flow.family.shared:
        raise SlavingError("shared words scale like the root of K, so scaled variables can not be slaved; use the flow")
    replaced: dict[str, Node] = {}
    for pair in pairs:
        path, left, right = pair.paths
        score = _column(flow, path)
        for target, turned in ((left, False), (right, True)):
            roots = {}
            for sector, size in zip((TRIVIAL, STANDARD), sizes, strict=True):
                matrix = sector_matrix(flow, score, flow.space(path), sector)[:size, :size]
                roots[sector] = closed_root(matrix.T if turned else matrix)
            replaced |= _entries(flow, target, roots)
    return Slaved(without(flow.system, replaced), flow, sizes, replaced)


def _column(flow: FamilyFlow, path: Path) -> list[Node]:
    """The orbit column of a path in the states of the flow."""
    values = flow.segment(path).fill(np.array([sym(name) for name in flow.system.names], dtype=object))
    return [graph.as_node(value) for value in values[:, 0]]


def sector_matrix(flow: FamilyFlow, column: list[Node], space: PairSpace, sector: str) -> np.ndarray:
    """The matrix of an orbit column in a sector; rows and columns are word types."""
    units = flow.algebra.scales(space)
    out = np.empty((len(space.left.grouped), len(space.right.grouped)), dtype=object)
    out.fill(graph.ZERO)
    for value, unit, (i, j, relation) in zip(column, units, space.pairs, strict=True):
        if relation == SAME:
            factor = num(1)
        elif relation == OTHER:
            factor = ((below(1) if sector == TRIVIAL else -1 * ONE_GROUP) / unit).node(flow.groups)
        else:
            factor = _root_of_groups(flow, space, i, j, 1) if sector == TRIVIAL else graph.ZERO
        out[i, j] = out[i, j] + factor * value
    return out


def _root_of_groups(flow: FamilyFlow, space: PairSpace, i: int, j: int, sign: int) -> Node:
    """K^(1/2) between a word type of all groups and a shared word, 1 between shared words."""
    if space.left.grouped[i] == space.right.grouped[j]:
        return num(1)
    return graph.power(GROUPS.node(flow.groups), Fraction(sign, 2))


def _entries(flow: FamilyFlow, path: Path, roots: Mapping[str, np.ndarray]) -> dict[str, Node]:
    """Orbit variables of a self-score from its sector matrices."""
    space, segment = flow.space(path), flow.segment(path)
    out: dict[str, Node] = {}
    for n, (unit, (i, j, relation)) in enumerate(zip(flow.algebra.scales(space), space.pairs, strict=True)):
        sign = 1 if segment.sign is None else int(segment.sign[n, 0])
        name = flow.system.names[int(segment.index[n, 0])]
        if sign == 0 or name in out:
            continue
        if relation in (SAME, OTHER):
            shares = {TRIVIAL: ONE_GROUP, STANDARD: below(1) if relation == SAME else -1 * ONE_GROUP}
            value = graph.add(
                (share * unit / GROUPS).node(flow.groups) * roots[sector][i, j] for sector, share in shares.items()
            )
        else:
            value = _root_of_groups(flow, space, i, j, -1) * roots[TRIVIAL][i, j]
        out[name] = sign * value
    return out
