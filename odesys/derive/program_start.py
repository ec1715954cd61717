r"""Start values of the path scalars of a program: the infinite-width limit, or those of given weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import reduce
from typing import Any

import numpy as np

from ..errors import ModelError
from ..model.paths import Path
from ..program.naming import Naming
from ..program.reading import Pin
from ..program.spaces import Words
from .closure import Closure
from .initial import nonnegative, paired_names, positive


def infinite_width(
    naming: Naming, closure: Closure, omega: Any, spread: Mapping[str, Any], values: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """All path matrices at infinite width: pairs of maps give the Gram matrix times their spreads, the rest is zero."""
    sizes = {m: nonnegative(m, v) for name, v in spread.items() for m in _maps_called(naming, name)}
    default = None if omega is None else positive("omega", omega) ** 2
    given = {name: path for name, path in _given_paths(naming, closure, values)}
    out = {}
    for path in closure.paths:
        leaf, (left, right) = naming.leaf(path), (naming.pins[path.left], naming.pins[path.right])
        matrix, pairs = np.zeros((left.size, right.size)), paired_names(path.letters)
        if leaf in given:
            matrix = _matrix(given[leaf], path, left, right)
        elif pairs is not None and path.left == path.right:
            missing = [name for name in pairs if name not in sizes and default is None]
            if missing:
                raise ModelError(
                    f"the path {path} starts at the spread of {missing[0]}, which is not given; add omega=..., or "
                    f"{missing[0].partition('.')[0]}=... (the number s in {missing[0]}' {missing[0]} -> s I)"
                )
            matrix = math.prod(sizes.get(name, default or 0.0) for name in pairs) * gram_floats(left)
        out[leaf] = matrix
    return out


def _maps_called(naming: Naming, name: str) -> list[str]:
    found = [m for m in naming.letters if name in (m, m.partition(".")[0])]
    if not found:
        raise ModelError(f"there is no map {name!r}; the program has {', '.join(naming.letters)}")
    return found


def _given_paths(naming: Naming, closure: Closure, values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Values by leaf: a name is that of a matrix (``KQ_p``), of a path in all heads (``KQ``), or of a map (``W_O``)."""
    out: list[tuple[str, Any]] = []
    for name, value in values.items():
        found = [p for p in closure.paths if name in (naming.leaf(p), naming.path(p), *_single(p))]
        if not found:
            leaves = ", ".join(naming.leaf(p) for p in closure.paths)
            raise ModelError(f"values has {name!r}, which is not a matrix of this flow; there are {leaves}")
        out += [(naming.leaf(p), value) for p in found]
    return out


def _single(path: Path) -> tuple[str, ...]:
    return (path.letters[0].map, path.letters[0].name) if len(path.letters) == 1 else ()


def _matrix(value: Any, path: Path, left: Pin, right: Pin) -> np.ndarray:
    try:
        matrix = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"the values of {path} are not a matrix of numbers") from None
    if len(path.letters) == 1 and path.letters[0].transposed:
        matrix = matrix.T
    if matrix.shape != (left.size, right.size):
        if matrix.size != left.size * right.size or min(left.size, right.size) != 1:
            raise ModelError(f"the values of {path} have shape {matrix.shape} instead of {(left.size, right.size)}")
        matrix = matrix.reshape(left.size, right.size)
    if not np.isfinite(matrix).all():
        raise ModelError(f"the values of {path} have an entry that is not finite")
    if path.symmetric and not np.array_equal(matrix, matrix.T):
        raise ModelError(f"the values of {path} are inner products of the same vectors, so the matrix is symmetric")
    if path.symmetric and np.linalg.eigvalsh(matrix)[0] < -1e-9 * max(1.0, float(np.abs(matrix).max())):
        raise ModelError(f"the values of {path} are inner products of the same vectors, so no eigenvalue is negative")
    for pin, table in ((left, matrix.T), (right, matrix)):
        _check_dependent(pin, table, path)
    return matrix


def _check_dependent(pin: Pin, table: np.ndarray, path: Path) -> None:
    """Words that depend on each other have values that depend in the same way."""
    if pin.gram is None:
        return
    sizes, vectors = np.linalg.eigh(gram_floats(pin))
    null = vectors[:, sizes < 1e-12 * max(1.0, float(sizes[-1]))]
    if null.size and np.abs(table @ null).max() > 1e-9 * max(1.0, float(np.abs(table).max())):
        raise ModelError(
            f"the values of {path} differ between words that the Gram matrix makes equal or dependent; no map has them"
        )


def gram_floats(pin: Pin) -> np.ndarray:
    """Inner products of a pinned set in floats."""
    return pin.side.pinned.gram_floats() if isinstance(pin.side, Words) else np.eye(pin.size)


def weight_values(naming: Naming, closure: Closure, weights: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """All path matrices of given weights, the words being the axes of their space."""
    for pin in naming.pins.values():
        if pin.gram is not None:
            raise ModelError(
                "weights= are for orthonormal words; flow.network(...).paths() gives the values of any other"
            )
    unknown = sorted(set(weights) - set(naming.letters))
    if unknown:
        raise ModelError(f"there is no map {unknown[0]!r}; the program has {', '.join(naming.letters)}")
    arrays = {name: np.atleast_2d(np.asarray(value, dtype=float)) for name, value in weights.items()}
    return path_products(naming, closure, arrays, {})


def path_products(
    naming: Naming, closure: Closure, arrays: Mapping[str, np.ndarray], vectors: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Path matrices of weights: chains multiplied out between pinned vectors (columns of `vectors`, default axes)."""
    out = {}
    for path in closure.paths:
        missing = [letter.map for letter in path.letters if letter.map not in arrays]
        if missing:
            raise ModelError(f"the weights of {missing[0]} are missing; the program has {', '.join(naming.letters)}")
        factors = [arrays[letter.map].mT if letter.transposed else arrays[letter.map] for letter in path.letters]
        if path.left in vectors:
            factors.insert(0, vectors[path.left].mT)
        if path.right in vectors:
            factors.append(vectors[path.right])
        try:
            value = reduce(np.matmul, factors)
        except ValueError as problem:
            raise ModelError(f"the weights do not fit together along the path {path}: {problem}") from None
        if value.shape[-2:] != (naming.pins[path.left].size, naming.pins[path.right].size):
            raise ModelError(f"the weights along {path} have the wrong shape: {value.shape}")
        out[naming.leaf(path)] = value
    return out
