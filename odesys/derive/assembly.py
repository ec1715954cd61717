r"""Matrices of path scalars with their names, and the terms of a closure as blocks.

.. math::  \tfrac{d}{dt}(Q W R) = c\,(Q P^\top) G_\phi (S^\top R) + \dots
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..errors import ModelError
from ..expr import blocks
from ..expr.blocks import Block
from ..expr.field import Layout, Segment
from ..expr.graph import ONE, sym
from ..expr.system import State
from ..model.paths import Path, state_name
from ..program.naming import Naming
from .closure import Closure, Force, Term
from .motion import STEP_SIZE, Forces


def path_shape(naming: Naming, path: Path) -> tuple[int, int]:
    """Shape of the matrix of a path."""
    return naming.size(path.left), naming.size(path.right)


def path_leaves(naming: Naming, closure: Closure) -> dict[str, Block]:
    """The matrices of all paths as leaves, by name; refuses maps whose paths would share a name."""
    seen: dict[str, Path] = {}
    for path in naming.tables(closure.paths):
        name = naming.leaf(path)
        if name in seen:
            raise ModelError(f"the paths {seen[name]} and {path} would both be called {name}; rename a map")
        seen[name] = path
    return {name: blocks.leaf(name, path_shape(naming, path)) for name, path in seen.items()}


def path_layout(naming: Naming, closure: Closure) -> tuple[Layout, dict[str, str], dict[str, State]]:
    """Where each path scalar sits in the matrices of paths, its TeX, and its path, head and ends."""
    names: list[str] = []
    tex: dict[str, str] = {}
    structure: dict[str, State] = {}
    places: list[tuple[str, int, int]] = []
    segments: list[Segment] = []
    for path in naming.tables(closure.paths):
        leaf, symmetric = naming.leaf(path), path.symmetric
        index = np.empty(path_shape(naming, path), dtype=int)
        state_at, tex_at = naming.state(path), naming.tex(path)
        for i, j in np.ndindex(index.shape):
            if symmetric and j < i:
                index[i, j] = index[j, i]
                continue
            index[i, j] = len(names)
            state = state_at(i, j)
            name = state_name(state)
            names.append(name)
            structure[name], tex[name] = state, tex_at(i, j)
            places.append((leaf, i, j))
        segments.append(Segment(leaf, index))
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"two path scalars would both be called {twice}; rename a map or a word")
    return Layout(tuple(names), tuple(places), tuple(segments)), tex, structure


def term_block(term: Term, naming: Naming, closure: Closure, leaves: Mapping[str, Block], forces: Forces) -> Block:
    """One term of the variation of a path: the product of its matrices and forces, with the factor in front."""
    factors: list[Block] = []
    for factor in term.factors:
        if isinstance(factor, Force):
            factors.append(forces[factor.read].T if factor.transposed else forces[factor.read])
        elif factor.letters:
            stored, turned = closure.canonical(factor)
            block = leaves[naming.leaf(stored)]
            factors.append(block.T if turned else block)
        else:
            gram = naming.gram(factor.left)
            if gram is not None:
                factors.append(blocks.constant(gram))
    coefficient = term.coefficient * sym(STEP_SIZE) ** term.order if closure.exact_step else term.coefficient
    product = blocks.chain(factors)
    return product if coefficient is ONE else blocks.multiply(blocks.constant([[coefficient]]), product)
