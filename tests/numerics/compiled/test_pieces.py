"""Dense output of steps."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from numerics.compiled.pieces import Piece, TaylorPiece
from numerics.flows.dense_output import basis


def test_a_taylor_piece_is_its_polynomial() -> None:
    piece = TaylorPiece(1.0, 2.0, np.array([3.0, 1.0]), np.array([[1.0, 0.0], [0.5, 2.0]]))
    assert piece(2.0).tolist() == [3.0 + 0.5 + 0.125, 1.0 + 0.5]
    assert piece(np.array([1.0, 3.0])).tolist() == [[3.0, 4.5], [1.0, 3.0]]


@pytest.mark.parametrize("part", [0.0, 0.3, 1.0])
def test_a_piece_alternates_between_both_ends(part: float) -> None:
    table = np.arange(1.0, 8.0).reshape(7, 1)
    wanted, power = 2.0, 1.0
    for k, row in enumerate(table[:, 0]):
        power *= part if k % 2 == 0 else 1 - part
        wanted += row * power
    assert Piece(5.0, 4.0, np.array([2.0]), table)(5.0 + 4.0 * part) == pytest.approx([wanted])


@pytest.mark.parametrize("shape", [(), (1,), (5,), (2, 3)])
def test_pieces_are_polynomials_of_every_state_at_times_of_any_shape(shape: tuple[int, ...]) -> None:
    """In the fraction of the step: of powers, or of the basis of the dense output of DOP853."""
    rng = np.random.default_rng(len(shape))
    start, table, t = rng.normal(size=3), rng.normal(size=(7, 3)), rng.uniform(1.0, 3.0, shape)
    part = (t - 1.0) / 2.0
    for kind, rows in ((Piece, basis()), (TaylorPiece, [Polynomial.basis(k) for k in range(1, 8)])):
        found = kind(1.0, 2.0, start, table)(t)
        assert found.shape == (3, *shape)
        for i in range(3):
            wanted = start[i] + sum(row(part) * entry for row, entry in zip(rows, table[:, i], strict=True))
            np.testing.assert_allclose(found[i], wanted, rtol=1e-12, atol=1e-13)
    order = 4
    short = TaylorPiece(1.0, 2.0, start, table[:order])(3.0)
    np.testing.assert_allclose(short, start + table[:order].sum(axis=0), rtol=1e-13)
