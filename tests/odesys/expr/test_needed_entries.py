"""Only the entries that matter are scalarised, and they are the same as without the shortcut."""

from __future__ import annotations

import numpy as np
import pytest

from odesys import gradient_descent, gradient_flow
from odesys.expr import blocks, graph
from odesys.expr.blocks import Block
from odesys.expr.field import BlockField
from odesys.expr.needed_entries import entries_needed
from tests import toy_models


@pytest.mark.parametrize("derive", [gradient_flow, gradient_descent])
def test_quotients_have_the_same_equations(derive) -> None:
    toy = toy_models.cooccurrence()
    quotient = derive(toy.model, toy.data, train=toy.train).quotient()
    field = quotient.system.field
    assert isinstance(field, BlockField)
    leaves = field.layout.unpack(np.array([graph.sym(name) for name in field.layout.names], dtype=object))
    leaves = {name: np.frompyfunc(graph.as_node, 1, 1)(table) for name, table in leaves.items()}
    whole = dict(zip(field.rhs, blocks.evaluate(list(field.rhs.values()), leaves), strict=True))
    assert tuple(field.layout.pack(whole)) == field.nodes


def test_masks_follow_products_and_transposes() -> None:
    a, b = blocks.leaf("a", (3, 4)), blocks.leaf("b", (4, 2))
    inner = a @ b
    root: Block = inner.T @ inner
    mask = np.zeros((2, 2), dtype=bool)
    mask[0, 1] = True
    needed = entries_needed([root], {id(root): mask})
    assert needed[id(root)].sum() == 1 and needed[id(inner)].all(), "both columns of the inner product are read"
    mask = np.zeros((3, 2), dtype=bool)
    mask[2, 0] = True
    assert entries_needed([inner], {id(inner): mask})[id(inner)].sum() == 1


def test_what_is_not_asked_for_stays_zero() -> None:
    a, b = blocks.leaf("a", (2, 2)), blocks.leaf("b", (2, 2))
    product = a @ b
    mask = np.array([[True, False], [False, False]])
    leaves = {
        name: np.array([[graph.sym(f"{name}{i}{j}") for j in range(2)] for i in range(2)], dtype=object)
        for name in ("a", "b")
    }
    only = entries_needed([product], {id(product): mask})
    (value,) = blocks.evaluate([product], leaves, only=only)
    (whole,) = blocks.evaluate([product], leaves)
    assert value[0, 0] is whole[0, 0] and all(value[i, j] is graph.ZERO for i, j in ((0, 1), (1, 0), (1, 1)))
