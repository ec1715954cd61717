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


def test_only_a_softmax_over_the_last_axis_has_a_slope_by_pairs() -> None:
    """What looks like one, but shares no exponentials, has no sum over them or another axis, is left to its parts."""
    z, y, bar = blocks.leaf("z", (3, 4)), blocks.leaf("y", (3, 4)), blocks.leaf("u", (3, 4))
    rule = SoftmaxPairs(4)
    share = blocks.softmax(z)
    up, over = share.args
    ((where, slope),) = rule(share, bar)
    assert where is z and slope.shape == (3, 4)
    other = blocks.softmax(y).args[1]
    last_not, twice = blocks.sum_axis(up, 0), blocks.sum_axis(blocks.multiply(up, up), -1)
    for block in (
        z,
        up,
        blocks.add(share, share),
        blocks.multiply(up, other),  # over the sum of something else
        blocks.multiply(up, blocks.sum_axis(up, -1)),  # no reciprocal
        blocks.multiply(up, blocks.apply(blocks.STEP, blocks.sum_axis(up, -1))),
        blocks.multiply(up, blocks.apply(blocks.RECIPROCAL, up)),  # no sum
        blocks.multiply(up, blocks.apply(blocks.RECIPROCAL, last_not)),
        blocks.multiply(up, blocks.apply(blocks.RECIPROCAL, twice)),
        blocks.multiply(z, over),
    ):
        assert rule(block, bar) is None, block.op
    assert SoftmaxPairs(3)(share, bar) is None and SoftmaxPairs(4)(share, bar) is not None
    assert SoftmaxPairs().longest == 4


@pytest.mark.parametrize("shape", [(1,), (4,), (3, 4), (2, 3, 2)])
def test_a_slope_by_pairs_is_the_derivative_of_the_softmax(shape: tuple[int, ...]) -> None:
    """By all entries at once: s_a (u_a - sum of s_b u_b), for tables of any number of axes, with counts too."""
    rng = np.random.default_rng(len(shape))
    z, u = blocks.leaf("z", shape), blocks.leaf("u", shape)
    x, bar, n = rng.normal(size=shape), rng.normal(size=shape), rng.integers(1, 5, shape)
    for counts in (None, blocks.constant(n)):
        read = blocks.multiply(blocks.softmax(z, counts), u)
        (slope,) = BlockKernel(blocks.gradient(read, [z], SoftmaxPairs()), {})({"z": x[None], "u": bar[None]})
        weight = np.exp(x) * (1 if counts is None else n)
        s = weight / weight.sum(axis=-1, keepdims=True)
        np.testing.assert_allclose(slope[0], s * (bar - (s * bar).sum(axis=-1, keepdims=True)), rtol=1e-11, atol=1e-15)
