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


def test_each_operation_asks_for_the_entries_it_is_made_of() -> None:
    """By moving one entry of a leaf at a time: what changes a wanted entry is asked for."""
    rng = np.random.default_rng(4)
    a, b, row = blocks.leaf("a", (3, 3)), blocks.leaf("b", (3, 3)), blocks.leaf("r", (1, 3))
    left, right = a @ b, b @ a.T
    roots = {
        "add": left + right,
        "multiply": left * right.T,
        "broadcast": blocks.multiply(left, row @ b),
        "apply": blocks.apply(graph.exp(blocks.Z), left),
        "softmax": blocks.softmax(left),
        "product": left @ right,
        "sum": blocks.sum_axis(left, 0),
    }
    for name, root in roots.items():
        mask = np.zeros(root.shape, dtype=bool)
        mask[0, 2] = True
        leaves = {n: rng.normal(size=block.shape) for n, block in (("a", a), ("b", b), ("r", row))}
        needed = entries_needed([root], {id(root): mask})
        (before,) = blocks.evaluate([root], leaves, {})
        for product in blocks.topological([root]):
            if product.op != "matmul" or product is root:
                continue
            (value,) = blocks.evaluate([product], leaves, {})
            for place in np.ndindex(product.shape):
                moved = value.copy()
                moved[place] += 0.5
                (cut,) = blocks.replace_leaves([_with(root, product)], {})
                (after,) = blocks.evaluate([cut], {**leaves, "cut": moved}, {})
                changes = after[0, 2] != before[0, 2]
                assert needed[id(product)][place] or not changes, (name, place)
    exact = {"add": 1, "multiply": 1, "apply": 1}
    for name, count in exact.items():
        mask = np.zeros((3, 3), dtype=bool)
        mask[0, 2] = True
        assert entries_needed([roots[name]], {id(roots[name]): mask})[id(left)].sum() == count


def _with(root: Block, product: Block) -> Block:
    """The expression with a leaf of its own in the place of one product."""
    memo: dict[int, Block] = {}
    for block in blocks.topological([root]):
        args = tuple(memo[id(argument)] for argument in block.args)
        memo[id(block)] = (
            blocks.leaf("cut", block.shape) if block is product else Block(block.op, args, block.shape, block.data)
        )
    return memo[id(root)]


def test_a_root_without_a_mask_is_needed_whole_and_masks_of_two_roots_add_up() -> None:
    a, b = blocks.leaf("a", (2, 2)), blocks.leaf("b", (2, 2))
    product = a @ b
    masks = [np.zeros((2, 2), dtype=bool) for _ in range(2)]
    masks[0][0, 0] = masks[1][1, 0] = True
    two = product + a
    needed = entries_needed([product, two], {id(product): masks[0], id(two): masks[1]})
    assert needed[id(product)].tolist() == [[True, False], [True, False]]
    assert entries_needed([product], {})[id(product)].all() and set(needed) == {id(product)}
