"""Products of orbit matrices are those of real matrices, for every number of groups."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

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
