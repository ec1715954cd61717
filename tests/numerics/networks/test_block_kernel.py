"""The list of NumPy calls gives what the blocks say, for one network and for many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from numerics.networks.block_kernel import VARYING, BlockKernel, _step, _summing
from odesys import blocks, gradient_flow, graph
from odesys.errors import OdesysError
from tests.random_programs import PARAMETERS, random_program


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_values_and_slopes_are_those_of_the_blocks(seed: int) -> None:
    case = random_program(seed)
    try:
        program = gradient_flow(case.function, case.data, case.loss, **case.options).program
    except OdesysError:
        pytest.skip("this one is refused")
    leaves = list(program.tables.values())
    roots = [program.loss, *program.observables.values(), *blocks.gradient(program.loss, leaves)]
    kernel = BlockKernel(roots, PARAMETERS)
    rng = np.random.default_rng(seed)
    arrays = {leaf.data: rng.normal(size=(3, *leaf.shape)) for leaf in leaves}
    together = kernel(arrays)  # tables are drawn freely: a norm may be the root of a negative number
    for k in range(3):
        alone = kernel({name: array[k : k + 1] for name, array in arrays.items()})
        expected = blocks.evaluate(roots, {name: array[k] for name, array in arrays.items()}, PARAMETERS)
        for many, one, value in zip(together, alone, expected, strict=True):
            assert one.shape[1:] == value.shape and np.array_equal(many[k], one[0], equal_nan=True)
            assert np.allclose(one[0], value, rtol=1e-12, atol=1e-13, equal_nan=True)


def test_equal_operations_are_done_once_and_unused_ones_not_at_all() -> None:
    W = blocks.leaf("W", (2, 2))
    twice = blocks.add(W @ W.T, W @ W.T)
    kernel = BlockKernel([twice, blocks.multiply(blocks.constant([[1]]), W)], {})
    assert len(kernel.rows) == 3  # W', W W', their sum
    value, same = kernel({"W": np.array([[[1.0, 2.0], [0.0, 1.0]]])})
    assert value.tolist() == [[[10.0, 4.0], [4.0, 2.0]]] and same.tolist() == [[[1.0, 2.0], [0.0, 1.0]]]


def test_results_that_read_no_leaf_are_repeated() -> None:
    W = blocks.leaf("W", (1, 1))
    constant, _ = BlockKernel([blocks.constant([["b"]]), W], {"b": 2.0})({"W": np.zeros((3, 1, 1))})
    assert constant.tolist() == [[[2.0]]] * 3


def test_what_depends_on_samples_alone_is_kept_until_other_samples_come() -> None:
    W = blocks.leaf("W", (1, 1))
    squared = blocks.multiply(blocks.constant([["b"]]), blocks.constant([["b"]]))
    kernel = BlockKernel([blocks.multiply(squared, W), squared], {}, ["b"])
    assert len(kernel.of_samples) >= 1 and len(kernel.plan) == 1  # the product with W
    samples = np.array([[2.0], [3.0]])
    for W_now, factor in ((1.0, 1.0), (5.0, 1.0), (5.0, 2.0), (5.0, 1.0)):
        given = factor * samples
        product, own = kernel({"W": np.full((2, 1, 1), W_now), VARYING: given})
        given *= 0  # the caller's own array
        assert own.ravel().tolist() == [4 * factor**2, 9 * factor**2]
        assert product.ravel().tolist() == [4 * factor**2 * W_now, 9 * factor**2 * W_now]


def test_a_choice_of_all_entries_in_order_is_no_choice() -> None:
    W = blocks.leaf("W", (2, 2))
    rows, columns = np.indices((2, 2))
    taken = blocks.take(W, (rows, columns))
    kernel = BlockKernel([blocks.add(taken, W)], {})
    assert [row[0] for row in kernel.known if isinstance(row, tuple)] == ["add"]
    assert kernel({"W": np.arange(4.0).reshape(1, 2, 2)})[0].tolist() == [[[0.0, 2.0], [4.0, 6.0]]]


@pytest.mark.parametrize("length", [2, 5, 7, 8, 40])
def test_short_rows_are_added_in_the_order_of_numpy(length: int) -> None:
    """The same bits whether they are added row by row or column by column."""
    rng = np.random.default_rng(length)
    x = rng.standard_normal((30, 60, length)) * 10.0 ** rng.integers(-9, 9, (30, 60, length))
    for given in (x, x[:2], x.mT.copy().mT):
        np.testing.assert_array_equal(_summing(-1, length)(given), np.add.reduce(given, axis=-1, keepdims=True))


def test_a_gate_is_one_where_its_argument_is_positive() -> None:
    found = _step(np.array([-2.0, -0.0, 0.0, 5e-324, np.inf, np.nan]))
    np.testing.assert_array_equal(found, [0.0, 0.0, 0.0, 1.0, 1.0, np.nan])


def test_a_constant_function_has_a_value_for_every_entry_of_every_network() -> None:
    W = blocks.leaf("W", (2, 3))
    constant = graph.num(5) * graph.sym("b")
    (found,) = BlockKernel([blocks.apply(constant, W)], {"b": 2.0})({"W": np.zeros((4, 2, 3))})
    assert found.shape == (4, 2, 3) and (found == 10.0).all()


def test_a_repeated_value_is_worked_on_before_it_is_repeated() -> None:
    """A row that is the same a thousand times is multiplied once, also where axes of length one were added between."""
    row = blocks.leaf("w", (1, 3))
    repeated = blocks.multiply(row, blocks.constant(np.ones((1000, 3), dtype=int)))
    doubled = blocks.multiply(blocks.reshape(repeated, (1000, 1, 3)), blocks.constant([[[2]]]))
    kernel = BlockKernel([doubled], {})
    w = np.array([[[1.0, 2.0, 3.0]], [[4.0, 5.0, 6.0]]])
    values: list[np.ndarray] = [w]
    for number, work, args in kernel.rows[:-1]:
        assert number == len(values)
        values.append(work(*(values[k] for k in args)))
        assert values[-1].size == w.size  # only the last step repeats
    (found,) = kernel({"w": w})
    assert found.shape == (2, 1000, 1, 3) and (found == 2 * w[:, :, None]).all()


@pytest.mark.parametrize("axis", [-1, -2, -3])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("shapes", [((20, 15, 12), (20, 15, 12)), ((20, 15, 12), (1, 1, 1)), ((20, 15, 12), None)])
def test_sums_of_large_products_along_every_axis(axis: int, swapped: bool, shapes: object) -> None:
    """With a factor that all terms have, which is taken out, and without one."""
    whole, other = shapes  # type: ignore[misc]
    if other is None:
        other = tuple(1 if k == 3 + axis else n for k, n in enumerate(whole))
    A, B = blocks.leaf("A", whole), blocks.leaf("B", other)
    product = blocks.multiply(B, A) if swapped else blocks.multiply(A, B)
    root = blocks.sum_axis(product, axis)
    rng = np.random.default_rng(3)
    arrays = {"A": rng.normal(size=(2, *whole)), "B": rng.normal(size=(2, *other))}
    kernel = BlockKernel([root, blocks.sum_axis(root, -1), blocks.sum_axis(root, -2)], {})
    found = kernel(arrays)
    expected = (arrays["A"] * arrays["B"]).sum(axis=axis, keepdims=True)
    for value, wanted in zip(
        found, (expected, expected.sum(axis=-1, keepdims=True), expected.sum(axis=-2, keepdims=True)), strict=True
    ):
        np.testing.assert_allclose(value, wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("shape", [(5,), (3, 4), (2, 3, 4)])
def test_entries_are_taken_from_arrays_of_any_number_of_axes(shape: tuple[int, ...]) -> None:
    """Also a transpose, which is a view, an order that only looks like one, and entries of entries."""
    rng = np.random.default_rng(7)
    A = blocks.leaf("A", shape)
    array = rng.normal(size=(2, *shape))
    for target in (shape, shape[::-1], (3,)):
        index = tuple(rng.integers(0, n, target) for n in shape)
        taken = blocks.take(A, index)
        again = blocks.take(taken, tuple(rng.integers(0, n, (2,)) for n in target))
        found, twice = BlockKernel([taken, again], {})({"A": array})
        for k in range(2):
            np.testing.assert_array_equal(found[k], array[k][index])
            np.testing.assert_array_equal(twice[k], blocks.evaluate([again], {"A": array[k]}, {})[0])
    if len(shape) > 1:
        turned = np.swapaxes(np.arange(array[0].size).reshape(shape), -1, -2)
        (found,) = BlockKernel([blocks.take(A, np.unravel_index(turned, shape))], {})({"A": array})
        np.testing.assert_array_equal(found, array.swapaxes(-1, -2))


@pytest.mark.parametrize("axis", [-1, -2, -3])
@pytest.mark.parametrize("swapped", [False, True])
@pytest.mark.parametrize("single", [(0, 1, 2), (0,), (1,), (2,), (0, 2)])
def test_of_a_sum_of_a_large_product_the_product_is_never_made(
    axis: int, swapped: bool, single: tuple[int, ...]
) -> None:
    """What all terms have is taken out of the sum, and other sums are products of matrices: nothing larger is made.

    Where both factors have all axes but some, and the sum leaves as many entries, only what is given is as large.
    """
    whole = (20, 15, 12)
    A, B = blocks.leaf("A", whole), blocks.leaf("B", tuple(1 if k in single else n for k, n in enumerate(whole)))
    product = blocks.multiply(B, A) if swapped else blocks.multiply(A, B)
    kernel = BlockKernel([blocks.sum_axis(product, axis)], {})
    if 3 + axis in single:
        assert max(math.prod(kernel.shapes[number]) for number, *_ in kernel.rows) < math.prod(whole)
    rng = np.random.default_rng(5)
    arrays = {"A": rng.normal(size=(2, *whole)), "B": rng.normal(size=(2, *B.shape))}
    expected = (arrays["A"] * arrays["B"]).sum(axis=axis, keepdims=True)
    np.testing.assert_allclose(kernel(arrays)[0], expected, rtol=1e-11, atol=1e-11)
