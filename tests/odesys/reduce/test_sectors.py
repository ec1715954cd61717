"""Sectors of an algebra of symmetric matrices: small blocks that multiply as the whole matrices do."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys.reduce.sectors import (
    Sector,
    eigenprojectors,
    find_sectors,
    null_space,
    orbit_matrices,
    to_flint,
    to_fraction,
)


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


def exact(rows: list) -> np.ndarray:
    return np.array([[Fraction(x) for x in row] for row in rows], dtype=object)


@pytest.mark.parametrize("seed", range(6))
def test_null_spaces_are_those_of_sympy(seed: int) -> None:
    """As many vectors as the nullity, each killed by the matrix, and independent."""
    rng = np.random.default_rng(seed)
    rows, columns, rank = (int(n) for n in rng.integers(1, 5, 3))
    table = rng.integers(-2, 3, (rows, rank)) @ rng.integers(-2, 3, (rank, columns))
    basis, known = null_space(exact(table.tolist())), sp.Matrix(table.tolist()).nullspace()
    assert len(basis) == len(known)
    assert all(not any(table.astype(object) @ v) for v in basis)
    if basis:
        assert sp.Matrix([[sp.Rational(x.numerator, x.denominator) for x in v] for v in basis]).rank() == len(basis)
    assert all(isinstance(x, Fraction) for v in basis for x in v)


def test_numbers_go_to_flint_and_back() -> None:
    table = to_flint(exact([[1, Fraction(-2, 3)], [0, 5]]))
    assert [[to_fraction(table[i, j]) for j in range(2)] for i in range(2)] == [[1, Fraction(-2, 3)], [0, 5]]


@pytest.mark.parametrize(
    ("rows", "values"),
    [
        ([[2, 0, 0], [0, 2, 0], [0, 0, -1]], {2: 2, -1: 1}),
        ([[Fraction(1, 2), 1], [1, Fraction(1, 2)]], {Fraction(3, 2): 1, Fraction(-1, 2): 1}),
        ([[0, 1, 1], [1, 0, 1], [1, 1, 0]], {2: 1, -1: 2}),
        ([[3]], {3: 1}),
        ([[Fraction(2, 3), 0], [0, Fraction(1, 5)]], {Fraction(2, 3): 1, Fraction(1, 5): 1}),
    ],
)
def test_projectors_split_the_matrix(rows: list, values: dict) -> None:
    """They are idempotent, add up to one, have the right traces, and times their eigenvalues give the matrix."""
    matrix = exact(rows)
    found = eigenprojectors(matrix)
    assert found is not None and {value: np.trace(p) for value, p in found} == values
    assert all((p @ p == p).all() for _, p in found)
    assert (sum(p for _, p in found) == exact(np.eye(len(rows), dtype=int).tolist())).all()
    assert (sum(value * p for value, p in found) == matrix).all()


def test_eigenvalues_that_are_not_rational_have_no_projectors() -> None:
    assert eigenprojectors(exact([[0, 2], [1, 0]])) is None and eigenprojectors(exact([[0, -1], [1, 0]])) is None


def test_orbit_matrices_have_the_signs_of_their_entries() -> None:
    orbit, sign = np.array([[0, 1], [1, 2]]), np.array([[1, -1], [1, 0]])
    made = orbit_matrices(orbit, sign)
    assert {k: m.tolist() for k, m in made.items()} == {0: [[1, 0], [0, 0]], 1: [[0, -1], [1, 0]]}
    assert all(m.dtype == object for m in made.values())


def commutant(generators: list[np.ndarray]) -> list[np.ndarray]:
    """All matrices that commute with some signed permutations, by exact linear algebra."""
    n = len(generators[0])
    one = np.eye(n, dtype=int)
    rows = np.concatenate([np.kron(one, g) - np.kron(g.T, one) for g in generators])
    return [v.reshape(n, n).T for v in null_space(exact(rows.tolist()))]


def permutation(*images: int, signs: tuple[int, ...] = ()) -> np.ndarray:
    out = np.zeros((len(images), len(images)), dtype=int)
    for i, (j, s) in enumerate(zip(images, signs or (1,) * len(images), strict=True)):
        out[j, i] = s
    return out


@pytest.mark.parametrize(
    ("generators", "sectors"),
    [
        ([permutation(1, 0, 3, 2)], [(2, 1), (2, 1)]),
        ([permutation(1, 2, 0, 4, 5, 3), permutation(1, 0, 2, 4, 3, 5)], [(2, 1), (2, 2)]),
        ([permutation(1, 0, 2), permutation(0, 1, 2, signs=(1, 1, -1))], [(1, 1), (1, 1), (1, 1)]),
        ([permutation(0, 1, signs=(-1, -1))], [(2, 1)]),
        ([permutation(1, 2, 3, 0), permutation(1, 0, 3, 2)], [(1, 1), (1, 1), (1, 2)]),
        ([permutation(1, 2, 3, 0), permutation(1, 0, 2, 3)], [(1, 1), (1, 3)]),
    ],
)
def test_sectors_carry_the_whole_algebra(generators: list[np.ndarray], sectors: list[tuple[int, int]]) -> None:
    """Sizes and multiplicities; bases are orthogonal and invariant, and products and traces are those of the whole."""
    algebra = commutant(generators)
    found = find_sectors([*algebra, algebra[0]])  # one of them twice is no matter
    assert found is not None and sorted((s.size, s.multiplicity) for s in found) == sorted(sectors)
    assert sum(s.size**2 for s in found) == len(algebra)
    assert sum(s.size * s.multiplicity for s in found) == len(generators[0])
    rng = np.random.default_rng(2)
    x, y = (sum((int(c) * e for c, e in zip(rng.integers(-3, 4, len(algebra)), algebra, strict=True))) for _ in "xy")
    trace = Fraction(0)
    for s in found:
        gram = s.basis.T @ s.basis
        assert (gram == np.diag(s.squares)).all() and all(v > 0 for v in s.squares)
        assert (s.basis @ restricted(x, s) == x @ s.basis).all()
        assert (restricted(x, s) @ restricted(y, s) == restricted(x @ y, s)).all()
        trace += s.multiplicity * np.trace(restricted(x, s))
    assert trace == np.trace(x)


def test_a_cycle_of_three_is_not_split_by_rational_numbers() -> None:
    assert find_sectors(commutant([permutation(1, 2, 0)])) is None
