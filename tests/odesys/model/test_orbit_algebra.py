"""Products of orbit matrices are those of real matrices, for every number of groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from odesys.expr import blocks, graph
from odesys.expr.blocks import leaf
from odesys.model.orbit_algebra import OrbitAlgebra, PairSpace, Pin, structure_constants


def matrices(space: PairSpace, K: int) -> list[np.ndarray]:
    """The orbit matrices themselves: entry 1 where a pair belongs to the orbit."""
    ends = [
        [(kind, g) for kind, grouped in enumerate(pin.grouped) for g in (range(K) if grouped else (0,))]
        for pin in (space.left, space.right)
    ]
    out = [np.zeros((len(ends[0]), len(ends[1])), dtype=int) for _ in space.pairs]
    for (r, (i, g)), (c, (j, h)) in product(enumerate(ends[0]), enumerate(ends[1])):
        both = space.left.grouped[i] and space.right.grouped[j]
        out[space.index[i, j, ("same" if g == h else "other") if both else ""]][r, c] = 1
    return out


@pytest.mark.parametrize("K", [2, 3, 5])
def test_structure_constants_are_those_of_real_matrices(K: int) -> None:
    words, rows = Pin((True, True, False)), Pin((False, False))
    for left, middle, right in product((words, rows), repeat=3):
        first, second, ends = PairSpace(left, middle), PairSpace(middle, right), PairSpace(left, right)
        a, b, c = matrices(first, K), matrices(second, K), matrices(ends, K)
        assert [m.sum() for m in a] == [size.at(K) for size in first.sizes()]
        turned = matrices(first.T, K)
        assert all((turned[k] == m.T).all() for k, m in zip(first.T.transposed(), a, strict=True))
        table = structure_constants(first, second)
        rest = {(i, j): x @ y for i, x in enumerate(a) for j, y in enumerate(b)}
        for i, j, k, count in zip(table.first, table.second, table.result, table.counts, strict=True):
            rest[i, j] = rest[i, j] - int(count.at(K)) * c[k]
        assert all((m == 0).all() for m in rest.values())


def test_scaled_products_stay_bounded() -> None:
    words = PairSpace(Pin((True, True)), Pin((True, True)))
    assert all(row[3].degree <= 0 for row in OrbitAlgebra("symbol", scaled=True)._products(words, words))
    assert any(row[3].degree > 0 for row in OrbitAlgebra("symbol")._products(words, words))


@pytest.mark.parametrize("scaled", [False, True])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_products_and_transposes_of_columns_are_those_of_the_matrices_they_stand_for(K: int, scaled: bool) -> None:
    """In numbers, in nodes, and with the number of groups as a symbol; in scaled units an entry counts its partners."""
    algebra, rng = OrbitAlgebra(K, scaled), np.random.default_rng(K)
    words, rows = Pin((True, False, True)), Pin((False,))

    def whole(column: np.ndarray, space: PairSpace) -> np.ndarray:
        units = [float(scale.at(K)) for scale in algebra.scales(space)]
        return sum(x / unit * m for x, unit, m in zip(column, units, matrices(space, K), strict=True))

    for left, middle, right in (
        (words, words, words),
        (rows, words, words),
        (words, words, rows),
        (words, rows, words),
    ):
        first, second, ends = PairSpace(left, middle), PairSpace(middle, right), PairSpace(left, right)
        x, y = (rng.integers(-4, 5, len(space.pairs)) for space in (first, second))
        (made, space) = algebra.product((leaf("x", first.shape), first), (leaf("y", second.shape), second))
        assert space == ends and made.shape == ends.shape
        expected = whole(x, first) @ whole(y, second)
        (column,) = blocks.evaluate([made], {"x": 1.0 * x[:, None], "y": 1.0 * y[:, None]}, {})
        np.testing.assert_allclose(whole(column[:, 0], ends), expected, rtol=1e-12, atol=1e-12)
        nodes = [[graph.num(int(v)) for v in values] for values in (x, y)]
        written = algebra.multiply_nodes(*nodes, first, second)
        np.testing.assert_allclose([float(node.args[0]) for node in written], column[:, 0], rtol=1e-12, atol=1e-14)
        general = OrbitAlgebra("symbol", scaled).multiply_nodes(*nodes, first, second)
        assert graph.substitute(general, {graph.sym("K"): graph.num(K)}) == written
        turned, back = algebra.transpose((leaf("x", first.shape), first))
        (column,) = blocks.evaluate([turned], {"x": 1.0 * x[:, None]}, {})
        assert back == PairSpace(middle, left)
        if not scaled:
            np.testing.assert_array_equal(whole(column[:, 0], back), whole(x, first).T)
    zero = algebra.product((blocks.zeros(first.shape), first), (leaf("y", second.shape), second))
    assert blocks.is_zero(zero[0]) and zero[0].shape == ends.shape and zero[1] == ends
