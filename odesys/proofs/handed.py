"""Statements that a claim hands over itself, with sides of SymPy or plain numbers, as statements about nodes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import sympy as sp

from ..expr import graph
from ..expr.graph import Node
from ..expr.letters import plain_name
from ..expr.sympy_bridge import from_sympy
from ..stated import Stated


def as_node(value: Any) -> Node:
    """A side as a node.

    >>> as_node(sp.Rational(1, 2)), as_node(3)
    (Node(1/2), Node(3))
    """
    if isinstance(value, str):
        return graph.sym(value)
    return from_sympy(value) if isinstance(value, sp.Basic) else graph.as_node(value)


def as_nodes(each: Stated) -> Stated:
    """The same statement about nodes; signs that SymPy assumes of its symbols become hypotheses."""
    given = [each.left, each.right]
    given += [part for key, value in each.values for part in (key, value)]
    given += [part for left, _, right in each.where for part in (left, right)]
    symbols = {s for part in given if isinstance(part, sp.Basic) for s in part.free_symbols}
    positive = {plain_name(s.name) for s in symbols if s.is_positive}
    weak = {plain_name(s.name) for s in symbols if s.is_nonnegative}
    return replace(
        each,
        left=as_node(each.left),
        right=as_node(each.right),
        positive=tuple(sorted({*each.positive, *positive})),
        nonnegative=tuple(sorted({*each.nonnegative, *weak} - positive)),
        values=tuple((as_node(key), as_node(value)) for key, value in each.values),
        where=tuple((as_node(left), how, as_node(right)) for left, how, right in each.where),
    )
