"""Array expressions: floats and nodes agree, and reverse derivatives are those of finite differences."""

from __future__ import annotations

import copy
from collections.abc import Mapping

import numpy as np
import pytest

from odesys.errors import SlavingError
from odesys.expr import blocks, graph
from odesys.expr.blocks import Block, leaf, relu, softmax, sum_axis, take, topological
from odesys.expr.graph import num, sym
from odesys.expr.tape import ARRAYS, Tape

A, B = leaf("A", (2, 3)), leaf("B", (3, 2))
INDEX = (np.array([0, 1, 1]), np.array([2, 0, 0]))
CUBE = graph.power(sym("z"), graph.num(3).args[0])
EXPRESSIONS: Mapping[str, Block] = {
    "add with broadcasting": A + sum_axis(A, 0),
    "multiply": A * A,
    "matmul": A @ B,
    "transpose": A.T @ B.T,
    "take": take(A, INDEX),
    "scatter": blocks.scatter(take(A, INDEX), INDEX, (2, 3)),
    "sum": sum_axis(A @ B, 1),
    "reshape": blocks.reshape(A, (3, 2)) @ A,
    "apply": blocks.apply(CUBE, A @ B),
    "softmax": softmax(A @ B) @ A,
    "relu": relu(A @ B),
    "chain": blocks.chain([A, B, A]),
    "row added": A + blocks.reshape(sum_axis(A, 0), (3,)),
    "row times stack": blocks.multiply(blocks.reshape(sum_axis(A, 0), (3,)), blocks.reshape(A, (2, 1, 3))),
    "log sum exp": blocks.log_sum_exp(A @ B),
    "log sum exp with counts": blocks.log_sum_exp(A @ B, blocks.constant([[1, 2], [3, 1]])),
}


def point(seed: int = 3) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"A": rng.standard_normal((2, 3)), "B": rng.standard_normal((3, 2))}


def value(block: Block, leaves: Mapping[str, np.ndarray]) -> np.ndarray:
    return blocks.evaluate([block], leaves, {})[0]


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_reverse_derivatives_are_difference_quotients(name: str) -> None:
    block, leaves, h = EXPRESSIONS[name], point(), 1e-6
    for which, slope in zip((A, B), blocks.gradient(block, [A, B]), strict=True):
        found = value(slope, leaves)
        for place in np.ndindex(which.shape):
            moved = [{k: v.copy() for k, v in leaves.items()} for _ in range(2)]
            moved[0][which.data][place] += h
            moved[1][which.data][place] -= h
            difference = (value(block, moved[0]).sum() - value(block, moved[1]).sum()) / (2 * h)
            assert found[place] == pytest.approx(difference, rel=1e-6, abs=1e-7)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_nodes_and_floats_are_the_same_function(name: str) -> None:
    block, leaves = EXPRESSIONS[name], point(5)
    symbols = {
        key: np.array([[sym(f"{key}_{i}_{j}") for j in range(array.shape[1])] for i in range(array.shape[0])])
        for key, array in leaves.items()
    }
    env = {f"{key}_{i}_{j}": leaves[key][i, j] for key in leaves for i, j in np.ndindex(leaves[key].shape)}
    nodes = blocks.evaluate([block], symbols)[0]
    numbers = Tape.of(list(nodes.flat)).over(ARRAYS)(env)
    assert nodes.shape == block.shape
    np.testing.assert_allclose(np.array(numbers, dtype=float).reshape(block.shape), value(block, leaves), rtol=1e-12)


def test_a_softmax_row_sums_to_one_and_does_not_overflow() -> None:
    rows = value(softmax(A), {"A": np.array([[800.0, 799.0, -800.0], [0.0, 0.0, 0.0]])})
    np.testing.assert_allclose(rows.sum(axis=1), 1.0)
    np.testing.assert_allclose(rows[1], 1 / 3)


def test_counts_stand_for_equal_entries() -> None:
    scores = np.array([[0.3, -1.0, 0.3]])
    short, long = leaf("S", (1, 2)), leaf("L", (1, 3))
    counts = blocks.constant(np.array([[num(2), num(1)]], dtype=object))
    merged = value(softmax(short, counts), {"S": scores[:, :2]})
    np.testing.assert_allclose(merged, [value(softmax(long), {"L": scores})[0, [0, 1]] * [2, 1]])


def test_a_gram_root_is_a_root_and_has_no_scalar_form() -> None:
    scale = blocks.constant(np.array([[num(2)]], dtype=object))
    matrix = point()["A"]
    for side, product in (("left", matrix @ matrix.T), ("right", matrix.T @ matrix)):
        block = blocks.gram_root(A, scale, side)
        root = value(block, {"A": matrix})
        assert root.shape == block.shape == product.shape
        np.testing.assert_allclose(root @ root, 4 * np.eye(len(root)) + product, rtol=1e-12)
    with pytest.raises(SlavingError, match="no scalar form"):
        blocks.evaluate([blocks.gram_root(A, scale, "left")], {"A": np.full((2, 3), sym("x"), dtype=object)})


def test_replaced_leaves_share_what_did_not_change() -> None:
    inner = A @ B
    (new,) = blocks.replace_leaves([inner * inner], {"B": A.T})
    (same,) = blocks.replace_leaves([inner * inner], {"C": A})
    assert new.args[0].args[1] is not B and same.args[0] is inner
    matrix = point()["A"]
    np.testing.assert_allclose(value(new, {"A": matrix}), (matrix @ matrix.T) ** 2)
    order = [id(b) for b in topological([new])]
    assert len(order) == len(set(order)) and order[-1] == id(new)


def test_constants_follow_their_parameters_and_blocks_can_be_sent() -> None:
    made = blocks.constant([[sym("p"), num(2)]])
    for value in (3.0, 3.0, 5.0, 3.0):  # what was kept for one value is not taken for another
        assert blocks.evaluate([made], {}, {"p": value})[0].tolist() == [[value, 2.0]]
    sent = copy.copy(made)  # by the state that is sent to other processes, which has no compiled functions
    assert not any(map(callable, vars(sent).values()))
    assert blocks.evaluate([sent], {}, {"p": 7.0})[0].tolist() == [[7.0, 2.0]]


def test_the_logarithm_of_a_sum_of_exponentials_in_nodes_and_floats() -> None:
    rng = np.random.default_rng(8)
    for shape in ((1,), (2,), (3,), (2, 2), (3, 2), (2, 3, 4)):
        array, counts = rng.normal(size=shape), rng.integers(1, 4, shape)
        for weights in (None, counts):
            given = None if weights is None else leaf("c", shape)
            block = blocks.log_sum_exp(leaf("a", shape), given)
            assert block.shape == (*shape[:-1], 1)
            expected = np.log((np.exp(array) * (1 if weights is None else weights)).sum(axis=-1, keepdims=True))
            leaves = {"a": array} if weights is None else {"a": array, "c": weights.astype(float)}
            np.testing.assert_allclose(blocks.evaluate([block], leaves, {})[0], expected, rtol=1e-13)
            names = np.array([sym(f"x{k}") for k in range(array.size)], dtype=object).reshape(shape)
            nodes = {"a": names} if weights is None else {"a": names, "c": np.vectorize(num, otypes=[object])(weights)}
            (found,) = blocks.evaluate([block], nodes)
            assert found.shape == block.shape
            values = graph.evaluate(
                list(found.ravel()), {f"x{k}": v for k, v in enumerate(array.ravel())}, graph.FLOAT_FUNCTIONS, float
            )
            np.testing.assert_allclose(values, expected.ravel(), rtol=1e-13)


def test_zeros_are_left_out_and_absorb_what_they_meet() -> None:
    zero, row = blocks.zeros((2, 3)), leaf("r", (1, 3))
    assert blocks.is_zero(zero) and not blocks.is_zero(A)
    assert blocks.add(A, zero) is A and blocks.add(zero, A, zero) is A
    for made, shape in (
        (blocks.add(zero, zero), (2, 3)),
        (blocks.add(zero, blocks.zeros((1, 3))), (2, 3)),
        (blocks.multiply(zero, row), (2, 3)),
        (blocks.multiply(row, zero), (2, 3)),
        (blocks.matmul(zero, B), (2, 2)),
        (blocks.matmul(B, zero), (3, 3)),
    ):
        assert blocks.is_zero(made) and made.shape == shape
        assert np.array_equal(value(made, {}), np.zeros(shape))
    wide = blocks.add(zero, row)  # not the row itself: it is repeated
    assert wide.shape == (2, 3)
    np.testing.assert_array_equal(value(wide, {"r": np.array([[1.0, 2.0, 3.0]])}), [[1.0, 2.0, 3.0]] * 2)


def test_gates_are_listed_once_with_their_arguments_and_can_be_held() -> None:
    inner, kink = A @ B, graph.step(sym("z") - 1) * sym("z")
    once, twice = relu(inner), blocks.apply(kink, inner)
    found = blocks.gated_arguments([once, twice, once * twice, blocks.apply(CUBE, inner)])
    assert found == [(inner, sym("z")), (inner, sym("z") - 1)]
    leaves, rng = point(), np.random.default_rng(1)
    matrix = leaves["A"] @ leaves["B"]
    held = {(id(argument), surface): rng.integers(0, 2, (2, 2)).astype(float) for argument, surface in found}
    first, second = blocks.evaluate([once, twice], leaves, {}, gates=held)
    np.testing.assert_allclose(first, held[id(inner), found[0][1]] * matrix, rtol=1e-14)
    np.testing.assert_allclose(second, held[id(inner), found[1][1]] * matrix, rtol=1e-14)
    first, second = blocks.evaluate([once, twice], leaves, {})
    np.testing.assert_allclose(first, np.maximum(matrix, 0), rtol=1e-14)
    np.testing.assert_allclose(second, np.where(matrix > 1, matrix, 0), rtol=1e-14)


def test_a_logarithm_of_one_and_one_exponential_is_a_softplus() -> None:
    """Of two entries that both count once, one of which is zero; any other is a logarithm of a sum."""
    x = sym("x")
    two = num(2)

    def made(entries: list[graph.Node], counts: list[graph.Node] | None = None) -> graph.Node:
        leaves = {"a": np.array(entries, dtype=object)}
        given = None if counts is None else blocks.constant(counts)
        (found,) = blocks.evaluate([blocks.log_sum_exp(leaf("a", (len(entries),)), given)], leaves)
        return found.item()

    softplus = graph.call("softplus", x)
    assert made([x, graph.ZERO]) is softplus and made([graph.ZERO, x], [num(1), num(1)]) is softplus
    assert made([graph.ZERO, x], [num(1), two]) is graph.call("log", 1 + 2 * graph.exp(x))
    assert made([x, graph.ZERO, graph.ZERO]) is graph.call("log", 2 + graph.exp(x))
    assert made([graph.ZERO, graph.ZERO]) is graph.call("log", two) and made([x]) is graph.call("log", graph.exp(x))


def test_sums_over_an_axis_count_it_from_either_end() -> None:
    stack = leaf("s", (2, 3, 4))
    array = np.arange(24.0).reshape(2, 3, 4) ** 2
    for axis in range(-3, 3):
        total = sum_axis(stack, axis)
        assert total.shape == array.sum(axis=axis, keepdims=True).shape
        np.testing.assert_array_equal(value(total, {"s": array}), array.sum(axis=axis, keepdims=True))
    rows = value(softmax(stack), {"s": np.log1p(array)})
    np.testing.assert_allclose(rows, (1 + array) / (1 + array).sum(axis=-1, keepdims=True), rtol=1e-13)
    assert [block.op for block in topological([blocks.zeros((2, 3)).T])] == ["zeros"]
    assert sum_axis(blocks.zeros((2, 3)), 0).shape == (1, 3) and blocks.is_zero(sum_axis(blocks.zeros((2, 3)), 0))
