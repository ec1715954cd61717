"""Forward derivatives of blocks agree with reverse ones and, for a matrix root, with difference quotients."""

from __future__ import annotations

import numpy as np
import pytest

from odesys.expr import blocks
from odesys.expr.block_tangent import tangent
from odesys.expr.graph import num
from tests.odesys.expr.test_blocks import EXPRESSIONS, A, B, point, value


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_forward_and_reverse_derivatives_agree(name: str) -> None:
    """The sum of all entries changes along a direction by the inner product of gradient and direction."""
    block, leaves, directions = EXPRESSIONS[name], point(), point(8)
    (forward,) = tangent([block], leaves, directions, {})
    reverse = blocks.gradient(block, [A, B])
    expected = sum(float((value(s, leaves) * directions[b.data]).sum()) for s, b in zip(reverse, (A, B), strict=True))
    assert float(forward.sum()) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_what_moves_along_one_leaf_after_the_other_adds_up(name: str) -> None:
    """A derivative is linear in its direction, also where one of the leaves stands still."""
    block, leaves, directions = EXPRESSIONS[name], point(), point(8)
    (both,) = tangent([block], leaves, directions, {})
    (first,), (second,) = (tangent([block], leaves, {leaf: directions[leaf]}, {}) for leaf in "AB")
    np.testing.assert_allclose(first + second, both, rtol=1e-12, atol=1e-14)
    assert both.shape == block.shape and not tangent([block], leaves, {}, {})[0].any()


@pytest.mark.parametrize("side", ["left", "right"])
def test_the_slope_of_a_root(side: str) -> None:
    root = blocks.gram_root(A, blocks.constant(np.array([[num(2)]], dtype=object)), side)
    leaves, direction, h = point(), point(8)["A"], 1e-6
    (slope,) = tangent([root], leaves, {"A": direction}, {})
    ends = [value(root, {"A": leaves["A"] + s * h * direction}) for s in (1, -1)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-8)


def test_what_does_not_depend_on_the_direction_does_not_move() -> None:
    moved, still = tangent([A * A, B * B], point(), {"A": np.ones((2, 3))}, {})
    np.testing.assert_allclose(moved, 2 * point()["A"])
    assert not still.any()


def test_gates_are_constants() -> None:
    """The slope of relu is its gate, and there is none across the kink."""
    (slope,) = tangent([blocks.relu(A)], {"A": np.array([[1.0, -1.0, 2.0]] * 2)}, {"A": np.ones((2, 3))}, {})
    np.testing.assert_array_equal(slope, [[1.0, 0.0, 1.0]] * 2)
