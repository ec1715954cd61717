"""Machine code of blocks gives what NumPy gives, whatever all samples share."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import sympy as sp
from scipy.special import expit

from numerics.networks import block_code
from numerics.networks.block_code import _flat, _met, _monomial, _number, _same_axes
from numerics.networks.block_kernel import BlockKernel
from odesys import blocks, gradient_flow, graph
from odesys.errors import OdesysError
from odesys.jit import llvm
from odesys.model.loss import LOGISTIC
from tests import random_blocks
from tests.random_programs import PARAMETERS, random_program

pytestmark = pytest.mark.skipif(not llvm.available(), reason="no machine code here")


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("seed", range(1, 60, 3))
def test_machine_code_gives_what_numpy_gives(seed: int) -> None:
    case = random_program(seed)
    try:
        program = gradient_flow(case.function, case.data, case.loss, **case.options).program
    except OdesysError:
        pytest.skip("this one is refused")
    leaves = list(program.tables.values())
    slopes = blocks.gradient(program.loss, leaves)
    quick, plain = (BlockKernel(slopes, PARAMETERS, often=often) for often in (True, False))
    rng = np.random.default_rng(seed)
    for shared in (0, 1):  # the first tables are those of all samples
        arrays = {leaf.data: rng.normal(size=(1 if k < shared else 3, *leaf.shape)) for k, leaf in enumerate(leaves)}
        for mine, theirs in zip(quick(arrays), plain(arrays), strict=True):
            mine, theirs = np.broadcast_arrays(mine, theirs)
            assert np.allclose(mine, theirs, rtol=1e-11, atol=1e-12, equal_nan=True)


def _both(roots: list[blocks.Block], arrays: dict[str, np.ndarray]) -> tuple[BlockKernel, list[np.ndarray]]:
    quick = BlockKernel(roots, {}, often=True)
    found = quick(arrays)
    for mine, theirs in zip(found, BlockKernel(roots, {})(arrays), strict=True):
        assert mine.shape == theirs.shape and np.allclose(mine, theirs, rtol=1e-13)
    return quick, found


def test_what_all_samples_share_is_done_once() -> None:
    a, b = blocks.leaf("a", (2, 3)), blocks.leaf("b", (3, 2))
    square = a @ a.T
    roots = [square, square @ blocks.multiply(a @ b, a @ b)]
    arrays = {"a": np.arange(6.0).reshape(1, 2, 3), "b": np.arange(30.0).reshape(5, 3, 2)}
    quick, (alone, each) = _both(roots, arrays)
    assert len(alone) == 1 and len(each) == 5
    (code,) = quick.codes.values()
    assert code is not None and code.text.index("r0[") < code.text.index("for s in range(count)")


def test_long_sums_and_chosen_entries() -> None:
    a, b = blocks.leaf("a", (2, 40)), blocks.leaf("b", (40, 2))
    rows, columns = np.array([[1, 0]]), np.array([[0, 0]])
    taken = blocks.take(a @ b, (rows, columns))
    rng = np.random.default_rng(0)
    quick, _ = _both([blocks.add(taken, taken)], {"a": rng.normal(size=(3, 2, 40)), "b": rng.normal(size=(3, 40, 2))})
    assert all(quick.codes.values())


def test_numbers_that_are_no_arrays_go_row_by_row() -> None:
    from numerics.networks.wide_floats import Wide

    a = blocks.leaf("a", (1, 2))
    kernel = BlockKernel([blocks.multiply(a, a)], {}, often=True)
    assert not kernel.codes and np.array_equal(
        np.sign(kernel({"a": Wide.of(np.array([[[1e-300, -2.0]]]))})[0]), [[[1, 1]]]
    )
    assert not kernel.codes


def test_the_slope_of_a_gate_that_is_no_number_stays_so() -> None:
    a = blocks.leaf("a", (1, 4))
    gate = blocks.apply(blocks.STEP, a)
    _, (value,) = _both(
        [blocks.multiply(gate, gate)], {"a": np.array([[[1.0, -1.0, 0.0, 2.0]], [[3.0, -0.5, -0.0, 1.0]]])}
    )
    assert value[0].tolist() == [[1.0, 0.0, 0.0, 1.0]]
    lost = BlockKernel([gate], {}, often=True)({"a": np.array([[[np.nan, 1.0, -np.inf, np.inf]]])})[0]
    assert np.isnan(lost[0, 0, 0]) and lost[0, 0, 1:].tolist() == [1.0, 0.0, 1.0]


@pytest.mark.parametrize("shared", [0, 1, 2])
def test_random_expressions_in_machine_code_are_those_of_numpy(shared: int) -> None:
    """All samples have a network each, or share the first leaves."""
    coded = 0
    for seed in range(15 * shared, 15 * shared + 15):
        made = random_blocks.grown(seed, 16, without="log_sum_exp")
        roots = made.made[-1 - seed % 4 :]  # what others read, and what none does
        arrays = made.arrays(np.random.default_rng(seed), [1] * shared + [3] * (3 - shared))
        quick, plain = (BlockKernel(roots, random_blocks.PARAMETERS, often=often) for often in (True, False))
        for block, mine, theirs in zip(roots, quick(arrays), plain(arrays), strict=True):
            mine, theirs = np.broadcast_arrays(mine, theirs)
            room = 1e-12 * np.abs(theirs).max(initial=1.0)
            np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=room, err_msg=f"{seed} {block.op}")
        coded += all(quick.codes.values())
    assert coded > 10


def _values(a: np.ndarray, b: np.ndarray) -> dict[str, np.ndarray]:
    return {"a": a, "b": b}


@pytest.mark.parametrize("size", [2, 15, 16, 40])
def test_products_of_matrices_of_every_length(size: int) -> None:
    """Of tables, with a constant on either side, and of two tables that are summed over one axis."""
    rng = np.random.default_rng(size)
    a, b = blocks.leaf("a", (2, size)), blocks.leaf("b", (size, 3))
    left, right = rng.integers(-3, 4, (3, 2)), rng.integers(-3, 4, (size, 2))
    roots = [a @ b, blocks.constant(left) @ a, a @ blocks.constant(right), blocks.sum_axis(a, -1), (a @ b).T @ a]
    x, y = rng.normal(size=(4, 2, size)), rng.normal(size=(4, size, 3))
    _, found = _both(roots, _values(x, y))
    for mine, theirs in zip(
        found, (x @ y, left @ x, x @ right, x.sum(axis=-1, keepdims=True), (x @ y).mT @ x), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-11, atol=1e-12)
    many = rng.integers(-3, 4, (70, size))  # more results than are added up side by side
    _, (tall,) = _both([blocks.constant(many) @ b], _values(x, y))
    np.testing.assert_allclose(tall, many @ y, rtol=1e-11, atol=1e-11)


def test_sums_of_large_products_and_along_every_axis() -> None:
    rng = np.random.default_rng(2)
    a, b = blocks.leaf("a", (20, 1, 12)), blocks.leaf("b", (1, 15, 12))
    x, y = rng.normal(size=(2, 20, 1, 12)), rng.normal(size=(2, 1, 15, 12))
    quick, (found,) = _both([blocks.sum_axis(blocks.multiply(a, b), -1)], _values(x, y))
    np.testing.assert_allclose(found, (x * y).sum(axis=-1, keepdims=True), rtol=1e-11, atol=1e-11)
    c = blocks.leaf("a", (4, 3, 5))
    z = rng.normal(size=(2, 4, 3, 5))
    _, sums = _both([blocks.sum_axis(c, axis) for axis in (0, 1, 2)], {"a": z})
    for axis, value in enumerate(sums):
        np.testing.assert_allclose(value, z.sum(axis=axis + 1, keepdims=True), rtol=1e-12)
    assert all(quick.codes.values())


def test_a_choice_of_very_many_entries_has_no_machine_code() -> None:
    rng = np.random.default_rng(5)
    for size, coded in ((block_code.MOST_PLACES, True), (block_code.MOST_PLACES + 1, False)):
        a = blocks.leaf("a", (3,))
        few = blocks.take(a, (rng.integers(0, 3, size),))
        quick, _ = _both([blocks.add(few, few)], {"a": rng.normal(size=(2, 3))})
        assert all(quick.codes.values()) == coded
    put = blocks.scatter(blocks.leaf("a", (3,)), (np.array([7, 2, 7]),), (block_code.MOST_PLACES + 1,))
    quick, _ = _both([put], {"a": rng.normal(size=(2, 3))})
    assert not any(quick.codes.values())


def worth(text: str, z: float = 0.0) -> float:
    """What a text of numbers and z comes to."""
    return float(sp.sympify(text).subs("z", z))


def test_places_in_tables() -> None:
    for shape in ((), (3,), (1, 3), (2, 1, 3), (2, 3, 4)):
        for place in product(*map(range, shape)):
            index = tuple(map(str, place))
            assert worth(_flat(shape, index, "")) == (np.ravel_multi_index(place, shape) if shape else 0)
            assert worth(_flat(shape, index, "100")) == 100 + worth(_flat(shape, index, "0"))
    assert _flat((2, 3), ("i", "j"), "s * 6") == "s * 6 + (i) * 3 + j"
    assert _met(("i", "j", "k"), (4, 1)) == ("j", "0") and _met(("i", "j"), (2, 3)) == ("i", "j")
    assert _same_axes((1, 3, 2), (3, 1, 2)) and not _same_axes((2, 3), (3, 2)) and not _same_axes((6,), (2, 3))


def test_powers_and_numbers_as_text() -> None:
    z = 1.7
    for e in (1, 2, 3, 8, -1, -2, -8):
        assert worth(_monomial([("z", Fraction(e))]), z) == pytest.approx(z**e)
    assert worth(_monomial([("z", Fraction(2)), ("(3.0)", Fraction(-1))]), z) == pytest.approx(z**2 / 3)
    for e in (Fraction(1, 2), Fraction(9), Fraction(-9)):
        with pytest.raises(block_code.NoCode):
            _monomial([("z", e)])
    assert worth(_number(-0.1)) == -0.1
    for value in (np.inf, -np.inf, np.nan):
        with pytest.raises(block_code.NoCode):
            _number(value)


def test_functions_in_machine_code_are_those_of_numpy() -> None:
    """Sums with factors, powers, exponentials, gates and logistic functions, with a parameter."""
    z = blocks.Z
    a = blocks.leaf("a", (1, 5))
    x = np.array([[[-2.0, -0.5, 0.0, 0.5, 3.0]], [[1.0, -1.0, 4.0, -4.0, 0.1]]])
    functions = {
        graph.num(2) * z + graph.sym("b") - graph.num(3): 2 * x + 0.37 - 3,
        graph.exp(z * graph.num(3)) + z: np.exp(3 * x) + x,
        z * z * z: x**3,
        LOGISTIC.slope: -expit(-x),
        graph.step(z - graph.num(Fraction(1, 2))): np.heaviside(x - 0.5, 0),
        graph.power(graph.num(1) + z * z, Fraction(-2)): (1 + x**2) ** -2,
    }
    roots = [blocks.apply(function, a) for function in functions]
    quick = BlockKernel(roots, random_blocks.PARAMETERS, often=True)
    for mine, wanted in zip(quick({"a": x}), functions.values(), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-13)
    assert all(quick.codes.values())
    unknown = BlockKernel([blocks.apply(graph.sqrt(z), a)], {}, often=True)
    np.testing.assert_array_equal(unknown({"a": x**2})[0], np.abs(x))
    assert not any(unknown.codes.values())  # a root has no code here, and is taken by NumPy
