"""Machine code of blocks gives what NumPy gives, whatever all samples share."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.networks.block_kernel import BlockKernel
from odesys import blocks, gradient_flow
from odesys.errors import OdesysError
from odesys.jit import llvm
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
