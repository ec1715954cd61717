"""The list of NumPy calls gives what the blocks say, for one network and for many."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.special import expit, logsumexp

from numerics.networks import block_kernel
from numerics.networks.block_kernel import (
    VARYING,
    BlockKernel,
    _contraction,
    _function,
    _scattering,
    _shifted_exp,
    _step,
    _summing,
    _taking,
)
from numerics.networks.wide_floats import Wide
from odesys import blocks, gradient_flow, graph
from odesys.errors import OdesysError
from odesys.jit import llvm
from odesys.model.loss import LOGISTIC
from tests import random_blocks
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


@pytest.mark.parametrize("large", [2000, 2])
def test_random_expressions_are_what_they_are_for_each_network(monkeypatch: pytest.MonkeyPatch, large: int) -> None:
    """Three networks at once against the blocks of one; also where all sums of products count as large."""
    monkeypatch.setattr(block_kernel, "LARGE", large)
    for seed in range(60):
        made = random_blocks.grown(seed, 20)
        arrays = made.arrays(np.random.default_rng(seed), (3, 3, 3))
        roots = made.made if seed % 2 else made.made[-2:]
        found = BlockKernel(roots, random_blocks.PARAMETERS)(arrays)
        for k in range(3):
            alone = {name: array[k] for name, array in arrays.items()}
            wanted = blocks.evaluate(roots, alone, random_blocks.PARAMETERS)
            for block, value, exact in zip(roots, found, wanted, strict=True):
                assert value[k].shape == exact.shape == block.shape, (seed, block.op)
                room = 1e-10 * np.abs(exact).max(initial=1.0)
                np.testing.assert_allclose(value[k], exact, rtol=1e-10, atol=room, err_msg=f"{seed} {block.op}")


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_contractions_are_sums_of_products(axes: int) -> None:
    """Every axis is in both factors, in one of them, or of length one; another one is summed."""
    sizes = {"both": (3, 3), "left": (3, 1), "right": (1, 3), "none": (1, 1)}
    rng = np.random.default_rng(axes)
    for axis, kinds in product(range(axes), product(sizes, repeat=axes - 1)):
        pairs = [sizes[kind] for kind in kinds]
        pairs.insert(axis, (4, 4))
        left, right = ((*shape,) for shape in zip(*pairs, strict=True))
        for networks in ((2, 2), (1, 2), (2, 1)):
            x, y = (rng.normal(size=(n, *shape)) for n, shape in zip(networks, (left, right), strict=True))
            found = _contraction(left, right, axis - axes)(x, y)
            np.testing.assert_allclose(found, (x * y).sum(axis=axis + 1, keepdims=True), rtol=1e-12, atol=1e-13)


def test_a_sum_of_a_product_of_two_smaller_tables_is_a_product_of_matrices() -> None:
    """The table of all products would be larger than both factors and than the sum; it is not made."""
    A, B = blocks.leaf("A", (20, 1, 12)), blocks.leaf("B", (1, 15, 12))
    kernel = BlockKernel([blocks.sum_axis(blocks.multiply(A, B), -1)], {})
    assert [number for number, *_ in kernel.rows] == list(kernel.operations)[1:] and len(kernel.rows) == 1
    assert kernel.operations[kernel.rows[0][0]].kind == "contract"
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 20, 1, 12)), rng.normal(size=(2, 1, 15, 12))
    np.testing.assert_allclose(kernel({"A": a, "B": b})[0], (a * b).sum(axis=-1, keepdims=True), rtol=1e-12, atol=1e-12)
    whole = blocks.leaf("A", (20, 15, 12))  # as large as the product
    kept = BlockKernel([blocks.sum_axis(blocks.multiply(whole, B), -1)], {})
    assert [kept.operations[row[0]].kind for row in kept.rows] == ["multiply", "sum"]


def test_classes_that_are_counted_count_in_a_logarithm_of_a_sum() -> None:
    """Also where the counts are parameters that differ from network to network."""
    z = blocks.leaf("z", (2, 3))
    rng = np.random.default_rng(1)
    scores, given = rng.normal(size=(4, 2, 3)), np.array([[1.0], [2.0], [0.5], [4.0]])
    (listed,) = BlockKernel([blocks.log_sum_exp(z, blocks.constant([[1, 2, 3]]))], {})({"z": scores})
    np.testing.assert_allclose(listed, logsumexp(scores, axis=-1, b=[1, 2, 3], keepdims=True), rtol=1e-14)
    counts = blocks.constant([["c", graph.num(1), graph.sym("c") * graph.num(3)]])
    (varied,) = BlockKernel([blocks.log_sum_exp(z, counts)], {}, ["c"])({"z": scores, VARYING: given})
    for k, c in enumerate(given[:, 0]):
        exact = logsumexp(scores[k], axis=-1, b=[c, 1, 3 * c], keepdims=True)
        np.testing.assert_allclose(varied[k], exact, rtol=1e-13)
    fixed = blocks.log_sum_exp(blocks.constant([[1, 2]]), blocks.constant([["c", graph.num(2)]]))
    (found,) = BlockKernel([fixed], {}, ["c"])({VARYING: given})
    np.testing.assert_allclose(found[:, 0, 0], np.log(given[:, 0] * np.e + 2 * np.e**2), rtol=1e-14)
    single = BlockKernel([blocks.add(blocks.log_sum_exp(z, blocks.constant([[1, 1, 1]])))], {})
    assert [single.operations[row[0]].kind for row in single.rows] == ["log_sum_exp"]  # a count of one is none


def test_entries_are_put_and_taken_network_by_network() -> None:
    rng = np.random.default_rng(4)
    flat = np.array([0, 5, 2, 2, 5, 5])
    scatter, take = _scattering(flat, (2, 3)), _taking(flat, (3, 2))
    for networks in (1, 3, 2, 3, 1):  # places are kept for each number of networks
        x = rng.normal(size=(networks, 3, 2))
        expected = np.zeros((networks, 6))
        for k in range(networks):
            np.add.at(expected[k], flat, x[k].ravel())
        np.testing.assert_allclose(scatter(x), expected.reshape(networks, 2, 3), rtol=1e-15)
        np.testing.assert_array_equal(take(expected.reshape(networks, 2, 3)), expected[:, flat].reshape(-1, 3, 2))


def test_exponentials_are_shifted_by_the_largest_of_a_row() -> None:
    x = np.array([[[1.0, 800.0, 799.0], [-900.0, -901.0, -900.0]]])
    kept = x.copy()
    np.testing.assert_allclose(_shifted_exp(x), np.exp(x - x.max(axis=-1, keepdims=True)), rtol=1e-15)
    np.testing.assert_array_equal(x, kept)  # what is given is left alone
    assert _shifted_exp(x).max(axis=-1).tolist() == [[1.0, 1.0]]


def test_functions_with_a_way_of_their_own_are_what_they_are_elsewhere() -> None:
    x = np.array([[-3.0, -0.5, 0.25, 2.0]])
    slope = graph.gradient(blocks.RECIPROCAL, [blocks.Z])[0]
    for function, wanted in (
        (blocks.RECIPROCAL, 1 / x),
        (slope, -1 / x**2),
        (blocks.STEP, np.heaviside(x, 0)),
        (LOGISTIC.slope, -expit(-x)),
        (graph.sym("b") * blocks.Z * blocks.Z + graph.num(1), 1 + 0.37 * x**2),
        (graph.num(3) * graph.sym("c"), np.full_like(x, -1.8)),
    ):
        found = _function(function, random_blocks.PARAMETERS)(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-15)
        assert found.shape == x.shape
        given = blocks.apply(function, blocks.leaf("x", (4,)))  # by the general way
        np.testing.assert_allclose(blocks.evaluate([given], {"x": x[0]}, random_blocks.PARAMETERS)[0], wanted[0])


def test_a_gate_of_a_number_beyond_floats_is_its_sign() -> None:
    tiny = Wide.scaled(np.array([1.0, -1.0, 0.0]), np.array([-5000.0, -5000.0, 0.0]))
    assert np.asarray(_step(tiny)).tolist() == [1.0, 0.0, 0.0]


def test_functions_of_numbers_beyond_floats_have_a_value_for_each() -> None:
    x = Wide.of(np.array([[-8000.0, 8.0]]))
    found = _function(graph.exp(blocks.Z) * graph.num(2) + graph.num(0), {})(x)
    assert found.shape == (1, 2) and found.sign().tolist() == [[1.0, 1.0]]  # type: ignore[attr-defined]
    assert found.e[0, 0] == pytest.approx(-8000 / np.log(2), abs=2)  # type: ignore[attr-defined]
    assert _function(graph.num(3), {})(x).tolist() == [[3.0, 3.0]]


def kinds(kernel: BlockKernel) -> list[str]:
    return [kernel.operations[number].kind for number, *_ in kernel.rows]


def test_constants_that_follow_each_other_are_one_and_those_without_effect_are_none() -> None:
    x = blocks.leaf("x", (2, 3))

    def times(factor: object, block: blocks.Block) -> blocks.Block:
        return blocks.multiply(blocks.constant(factor), block)

    values = np.arange(12.0).reshape(2, 2, 3)
    rows, columns = [[2, 3, 5]], [[7], [2]]
    for root, wanted, made in (
        (times([[2]], times([[3]], x)), 6 * values, ["multiple"]),
        (times(rows, times(rows, x)), np.array(rows) ** 2 * values, ["multiple"]),
        (times(columns, times(rows, x)), np.array(columns) * np.array(rows) * values, ["multiple"]),
        (times([[1]], x), values, []),
        (times([[Fraction(1, 2)]], times([[2]], x)), values, []),
        (times([[1, 1, 1]], x), values, []),
        (times([[1, 1, 2]], x), [1, 1, 2] * values, ["multiple"]),
        (blocks.add(x, blocks.constant([[0]])), values, []),
        (blocks.add(x, blocks.constant([[1]]), blocks.constant([[-1]])), values, []),
        (blocks.add(blocks.constant([[1]]), x, blocks.constant([[2]])), 3 + values, ["add constant"]),
        (blocks.add(x, blocks.constant([[0], [4]])), np.array([[0], [4]]) + values, ["add constant"]),
    ):
        kernel = BlockKernel([root], {})
        assert kinds(kernel) == made
        np.testing.assert_array_equal(kernel({"x": values})[0], np.broadcast_to(wanted, (2, *root.shape)))
    wide = blocks.leaf("y", (1, 3))
    twice = times([[1], [2]], times([[3]], wide))  # the factor makes the table larger
    y = np.array([[[1.0, 2.0, 3.0]]])
    np.testing.assert_array_equal(BlockKernel([twice], {})({"y": y})[0], [[[3, 6, 9], [6, 12, 18]]])


def test_entries_of_entries_are_taken_once_and_factors_are_taken_along() -> None:
    x = blocks.leaf("x", (2, 3))
    values = np.arange(1.0, 13.0).reshape(2, 2, 3)
    index = np.array([0, 1, 1]), np.array([2, 0, 1])
    first = blocks.take(x, index)
    again = BlockKernel([blocks.take(first, (np.array([2, 0]),))], {})
    assert kinds(again) == ["take"]
    np.testing.assert_array_equal(again({"x": values})[0], values[:, [1, 0], [1, 2]])
    for factor in ([[2]], [[1, 2, 3], [4, 5, 6]], [[1, 2, 3]]):
        whole = np.broadcast_to(np.array(factor, dtype=float), (2, 3))
        kernel = BlockKernel([blocks.take(blocks.multiply(blocks.constant(factor), x), index)], {})
        np.testing.assert_array_equal(kernel({"x": values})[0], (whole * values)[:, index[0], index[1]])
        assert kinds(kernel) == (["multiple", "take"] if factor == [[1, 2, 3]] else ["take", "multiple"])
    turned = blocks.take(x, (np.array([[0, 1]] * 3), np.array([[0] * 2, [1] * 2, [2] * 2])))
    assert kinds(BlockKernel([turned], {})) == ["transpose"]
    deep, at = blocks.leaf("d", (2, 3, 4)), np.arange(24).reshape(2, 3, 4).swapaxes(-1, -2)
    kernel = BlockKernel([blocks.take(deep, np.unravel_index(at, (2, 3, 4)))], {})
    table = np.arange(48.0).reshape(2, 2, 3, 4)
    assert kinds(kernel) == ["transpose"]
    np.testing.assert_array_equal(kernel({"d": table})[0], table.mT)
    shaped = blocks.take(x, (np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2])))
    assert kinds(BlockKernel([shaped], {})) == ["reshape"]
    for shape, made in (((3, 2), ["take"]), ((3, 3), ["scatter"])):  # a place for each entry, and more places
        flat = np.array([[5, 0, 3], [1, 2, 4]])
        put = blocks.scatter(x, np.unravel_index(flat, shape), shape)
        kernel = BlockKernel([put], {})
        expected = np.zeros((2, math.prod(shape)))
        expected[:, flat.ravel()] = values.reshape(2, 6)
        assert kinds(kernel) == made
        np.testing.assert_array_equal(kernel({"x": values})[0], expected.reshape(2, *shape))


def test_what_is_kept_of_the_samples_can_not_be_written_to() -> None:
    table = blocks.constant([["b", graph.num(2) * graph.sym("b"), "b", "c"]])
    kernel = BlockKernel([table], {"c": 5.0}, ["b", "d"])
    given = np.array([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0]])
    (own,) = kernel({VARYING: given})
    assert own.tolist() == [[[b, 2 * b, b, 5.0]] for b in (1.0, 2.0, 3.0)]
    assert not own.flags.writeable and not kernel.plan and kernel.given == ()
    two = BlockKernel([blocks.multiply(table, blocks.leaf("x", (1, 4))), blocks.add(table, table)], {"c": 5.0}, ["b"])
    x = np.arange(12.0).reshape(3, 1, 4)
    product_, total = two({"x": x, VARYING: given[:, :1]})
    np.testing.assert_array_equal(product_, own * x)
    np.testing.assert_array_equal(total, 2 * own)
    assert len(two.plan) == 1 and two.shapes[two.leaves[VARYING]] == (1,)


@pytest.mark.skipif(not llvm.available(), reason="no machine code here")
def test_machine_code_is_made_once_for_what_the_networks_share() -> None:
    a, b = blocks.leaf("a", (1, 2)), blocks.leaf("b", (2, 2))
    kernel = BlockKernel([blocks.multiply(a @ b, a), a, blocks.constant([[1]])], {}, often=True)
    rng = np.random.default_rng(0)
    seen = []
    for first, second in ((3, 3), (1, 3), (3, 1), (1, 1), (5, 5)):
        x, y = rng.normal(size=(first, 1, 2)), rng.normal(size=(second, 2, 2))
        found, same, one = kernel({"a": x, "b": y})
        np.testing.assert_allclose(found, (x @ y) * x, rtol=1e-13)
        assert found.shape == (max(first, second), 1, 2) and same is x and one.tolist() == [[[1.0]]] * first
        seen.append(len(kernel.codes))
    assert seen == [1, 2, 3, 3, 3]
    assert set(kernel.codes) == {frozenset(), frozenset([kernel.leaves["a"]]), frozenset([kernel.leaves["b"]])}
    assert all(code is not None for code in kernel.codes.values())
    with pytest.raises(ValueError, match=r"broadcast|mismatch"):  # two networks and three
        kernel({"a": np.ones((2, 1, 2)), "b": np.ones((3, 2, 2))})
    assert len(kernel.codes) == 3
    plain = BlockKernel([a, blocks.constant([[1]])], {}, often=True)
    assert plain({"a": np.ones((2, 1, 2))})[0].shape == (2, 1, 2)
