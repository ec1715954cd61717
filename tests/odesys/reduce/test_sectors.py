"""Sectors of an algebra of symmetric matrices: small blocks that multiply as the whole matrices do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from odesys.reduce.sectors import Sector, find_sectors, null_space


def test_sectors_of_the_permutation_algebra() -> None:
    ones = np.ones((5, 5), dtype=int).astype(object)
    sectors = find_sectors([np.eye(5, dtype=int).astype(object), ones])
    assert sectors is not None and sorted((s.size, s.multiplicity) for s in sectors) == [(1, 1), (1, 4)]


def test_matrices_of_a_sector_multiply_as_the_whole_ones_do() -> None:
    """Two kinds of three words each: X Y restricted to a sector is X restricted times Y restricted."""
    same, other = np.eye(3, dtype=int), np.ones((3, 3), dtype=int) - np.eye(3, dtype=int)
    pairs = [[(i, j) for j in range(2)] for i in range(2)]
    algebra = [np.kron(unit(i, j), part).astype(object) for row in pairs for i, j in row for part in (same, other)]
    sectors = find_sectors(algebra)
    assert sectors is not None and sorted((s.size, s.multiplicity) for s in sectors) == [(2, 1), (2, 2)]
    x = sum((k + 1) * e for k, e in enumerate(algebra))
    y = sum((3 - k) * e for k, e in enumerate(algebra))
    for sector in sectors:
        first, second, product = (restricted(m, sector) for m in (x, y, x @ y))
        assert (first @ second == product).all()


def unit(i: int, j: int) -> np.ndarray:
    out = np.zeros((2, 2), dtype=int)
    out[i, j] = 1
    return out


def restricted(matrix: np.ndarray, sector: Sector) -> np.ndarray:
    return (sector.basis.T @ matrix @ sector.basis) / np.array(sector.squares, dtype=object)[:, None]


def test_a_split_that_is_not_rational_is_none() -> None:
    turn = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], dtype=object)  # eigenvalues are cube roots of one
    assert find_sectors([np.eye(3, dtype=int).astype(object), turn, turn @ turn]) is None


def test_null_spaces_are_exact() -> None:
    matrix = np.array([[Fraction(1), Fraction(1, 3), Fraction(-2)], [Fraction(2), Fraction(2, 3), Fraction(-4)]])
    basis = null_space(matrix)
    assert len(basis) == 2 and all(not any(matrix @ v) for v in basis)
