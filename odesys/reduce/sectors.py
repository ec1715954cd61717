r"""Sectors of an algebra of symmetric matrices: small blocks that carry all of it, found exactly.

Matrices that commute with a group form an algebra spanned by orbit matrices :math:`E_o`. Its centre splits the space
into isotypic components; inside one of multiplicity :math:`\mu` a single :math:`\mu`-dimensional invariant subspace
:math:`U` carries the whole action, so every matrix of the algebra becomes a list of :math:`\mu\times\mu` matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import flint
import numpy as np


@dataclass(frozen=True, eq=False)
class Sector:
    """An orthogonal rational basis (columns of `basis`, shape (n, mu)) and the squared norms of its vectors."""

    basis: np.ndarray
    squares: tuple[Fraction, ...]
    multiplicity: int

    @property
    def size(self) -> int:
        """mu, the size of the sector's matrices."""
        return len(self.squares)


def orbit_matrices(orbit: np.ndarray, sign: np.ndarray) -> dict[int, np.ndarray]:
    """One signed 0/1 matrix per orbit that occurs in the index table `orbit` (integers, exact)."""
    return {int(o): np.where(orbit == o, sign, 0).astype(object) for o in np.unique(orbit[sign != 0])}


def find_sectors(algebra: Sequence[np.ndarray]) -> list[Sector] | None:
    """Sectors of the matrix algebra spanned by `algebra`; None where the split is not rational."""
    algebra = _independent(algebra)
    n = algebra[0].shape[0]
    centre = _centre(algebra)
    generic = sum((int(7 * i * i + 3 * i + 1) * z for i, z in enumerate(centre)), np.zeros((n, n), dtype=object))
    split = eigenprojectors(generic)
    if split is None or len(split) != len(centre):
        return None
    sectors = []
    for _, projector in split:
        dimension = _rank([projector @ e for e in algebra])
        mu = isqrt(dimension)
        if mu * mu != dimension:
            return None
        subspace = _carrier(projector, algebra, mu)
        if subspace is None:
            return None
        total = _rank_matrix(projector)
        sectors.append(Sector(subspace, tuple(sum(v * v for v in column) for column in subspace.T), total // mu))
    return sectors


def _independent(matrices: Sequence[np.ndarray]) -> list[np.ndarray]:
    """A maximal linearly independent part, the first ones first."""
    reduced, rank = to_flint(np.array([m.ravel() for m in matrices], dtype=object).T).rref()
    pivots = [next(j for j in range(len(matrices)) if reduced[i, j] != 0) for i in range(rank)]
    return [matrices[j] for j in pivots]


def to_flint(matrix: np.ndarray) -> flint.fmpq_mat:
    """An array of exact numbers as a FLINT matrix."""
    rows = [[_fmpq(x) for x in row] for row in matrix]
    return flint.fmpq_mat(len(rows), len(rows[0]), [x for row in rows for x in row])


def _fmpq(value: int | Fraction) -> flint.fmpq:
    value = Fraction(value)
    return flint.fmpq(value.numerator, value.denominator)


def to_fraction(value: flint.fmpq) -> Fraction:
    """A FLINT rational as a Fraction."""
    return Fraction(int(value.p), int(value.q))


def _rank_matrix(matrix: np.ndarray) -> int:
    return int(to_flint(matrix).rref()[1])


def _rank(matrices: Sequence[np.ndarray]) -> int:
    return _rank_matrix(np.array([m.ravel() for m in matrices], dtype=object))


def null_space(matrix: np.ndarray) -> list[np.ndarray]:
    """Exact rational basis of the null space."""
    reduced, rank = to_flint(matrix).rref()
    columns = matrix.shape[1]
    table = [[to_fraction(reduced[i, j]) for j in range(columns)] for i in range(rank)]
    pivots = [next(j for j, x in enumerate(row) if x) for row in table]
    basis = []
    for free in (j for j in range(columns) if j not in pivots):
        vector = np.array([Fraction(0)] * columns, dtype=object)
        vector[free] = Fraction(1)
        for row, pivot in zip(table, pivots, strict=True):
            vector[pivot] = -row[free]
        basis.append(vector)
    return basis


def _centre(algebra: Sequence[np.ndarray]) -> list[np.ndarray]:
    equations = np.array([np.concatenate([(a @ b - b @ a).ravel() for b in algebra]) for a in algebra], dtype=object).T
    return [sum((c * e for c, e in zip(v, algebra, strict=True)), 0 * algebra[0]) for v in null_space(equations)]


def eigenprojectors(matrix: np.ndarray) -> list[tuple[Fraction, np.ndarray]] | None:
    """Eigenvalues and eigenprojectors of a diagonalisable rational matrix with rational eigenvalues, else None.

    Parameters
    ----------
    matrix : np.ndarray
        Square, with rational entries.

    Returns
    -------
    list[tuple[Fraction, np.ndarray]] | None
        Pairs of eigenvalue and projector, or None.

    Examples
    --------
    >>> from fractions import Fraction
    >>> import numpy as np
    >>> swap = np.array([[Fraction(0), Fraction(1)], [Fraction(1), Fraction(0)]])
    >>> [(str(value), projector[0].tolist()) for value, projector in eigenprojectors(swap)]
    [('1', [Fraction(1, 2), Fraction(1, 2)]), ('-1', [Fraction(1, 2), Fraction(-1, 2)])]
    """
    n = matrix.shape[0]
    _, factors = to_flint(matrix).charpoly().numer().factor()
    roots = []
    for factor, _ in factors:
        if factor.degree() != 1:
            return None
        roots.append(Fraction(-int(factor[0]), int(factor[1])))
    identity = np.array([[Fraction(int(i == j)) for j in range(n)] for i in range(n)], dtype=object)
    projectors = []
    for root in roots:
        product = identity
        for other in roots:
            if other != root:
                product = product @ (matrix - other * identity) / (root - other)
        projectors.append((root, product))
    return projectors


def _carrier(projector: np.ndarray, algebra: Sequence[np.ndarray], mu: int) -> np.ndarray | None:
    """Orthogonal rational basis of a mu-dimensional subspace that the algebra maps to itself."""
    for i in range(projector.shape[0]):
        start = projector[:, i]
        if not any(start):
            continue
        images = [start, *(e @ start for e in algebra)]
        images = [v for v in images if any(v)]
        if _rank_matrix(np.array(images, dtype=object)) != mu:
            continue
        return _orthogonal(images, mu)
    return None


def _orthogonal(vectors: Sequence[np.ndarray], count: int) -> np.ndarray:
    basis: list[np.ndarray] = []
    for vector in vectors:
        rest = np.array([Fraction(x) for x in vector], dtype=object)
        for b in basis:
            rest = rest - (rest @ b) / (b @ b) * b
        if any(rest):
            basis.append(rest)
        if len(basis) == count:
            break
    return np.array(basis, dtype=object).T
