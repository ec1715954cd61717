"""Slopes of softmax by pairs: those of its parts where these are accurate, and right where they cancel."""

import mpmath
import numpy as np
import pytest

from numerics.networks.block_kernel import BlockKernel
from numerics.networks.softmax_pairs import SoftmaxPairs, _factors
from odesys import blocks
from odesys.program import batch

TABLE = blocks.leaf("z", (2, 3, 4))  # samples, keys, queries
VALUES = np.random.default_rng(1).normal(size=(2, 3, 4))


def slope(z: np.ndarray, rule, counts=None, visible=None, whole=False) -> np.ndarray:
    share = batch.softmax(TABLE, counts, visible, whole)
    read = blocks.multiply(share, blocks.leaf("u", TABLE.shape))
    kernel = BlockKernel(blocks.gradient(read, [TABLE], rule), {})
    return kernel({"z": z[None], "u": VALUES[None]})[0][0]


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("masked", [False, True])
def test_pairs_give_the_slopes_of_the_parts(whole: bool, counted: bool, masked: bool) -> None:
    z = np.random.default_rng(2).normal(size=TABLE.shape)
    counts = blocks.constant(np.array([[[1], [3], [2]], [[2], [1], [5]]])) if counted else None
    visible = np.arange(3)[:, None] <= np.arange(4)[None] if masked else None
    by_pairs, by_parts = (slope(z, rule, counts, visible, whole) for rule in (SoftmaxPairs(), None))
    assert np.abs(by_pairs - by_parts).max() < 1e-15 and np.abs(by_parts).max() > 0.01
    assert np.array_equal(slope(z, SoftmaxPairs(2), counts, visible, whole), by_parts)  # rows of three are too long


def test_attention_of_almost_one_has_the_right_slope() -> None:
    """Gaps of 60: the weight is 1 in floats and its slope about 1e-26, where the parts cancel to 1e-17."""
    z = 60.0 * np.arange(3)[None, :, None] * np.ones(TABLE.shape)
    found, by_parts = slope(z, SoftmaxPairs()), slope(z, None)
    wrong = 0
    for sample, query in np.ndindex(2, 4):
        with mpmath.workdps(80):
            e = [mpmath.exp(60 * a) for a in range(3)]
            s = [x / mpmath.fsum(e) for x in e]
            u = VALUES[sample, :, query]
            exact = [s[a] * mpmath.fsum(s[b] * (u[a] - u[b]) for b in range(3)) for a in range(3)]
        for a in range(3):
            assert found[sample, a, query] == pytest.approx(float(exact[a]), rel=1e-12)
        wrong += np.sign(by_parts[sample, 2, query]) != np.sign(float(exact[2]))
    assert wrong > 0


def test_factors_of_shifted_exponentials_are_taken_off_and_nothing_else_is() -> None:
    z = blocks.leaf("z", (2, 3))
    weights = blocks.softmax(z).args[0]
    assert weights.op == "shifted_exp" and _factors(weights) == (weights, [])
    two, three = (blocks.constant([[k]]) for k in (2, 3))
    found, factors = _factors(blocks.multiply(two, blocks.multiply(three, weights)))
    assert found is weights and factors == [two, three]
    assert _factors(z) == (None, []) and _factors(blocks.multiply(two, z)) == (None, [])
    assert _factors(blocks.multiply(z, weights)) == (None, [])
