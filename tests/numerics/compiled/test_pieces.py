"""Dense output of steps."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.compiled.pieces import Piece, TaylorPiece


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
