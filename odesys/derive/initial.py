r"""Start values of path scalars: the infinite-width limit, or those of given weights.

At infinite width :math:`W^\top W \to s\,I` and everything unpaired tends to zero, so a path is either a product of such
numbers times the Gram matrix of its pinned vectors, or zero.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from functools import reduce
from typing import Any

import numpy as np

from ..errors import ModelError, ParameterError
from ..expr.graph import ONE, ZERO, symbols
from ..expr.tape import ARRAYS, Tape
from ..model.paths import Letter, Path
from ..program.naming import Naming
from ..program.reading import Pin
from ..program.spaces import say_side
from .closure import Closure


def positive(name: str, value: Any) -> float:
    """A positive finite number, or a sentence that says what is wrong."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"{name} = {value!r} is not a number") from None
    if not math.isfinite(number) or number <= 0:
        raise ParameterError(f"{name} = {number:g} must be positive and finite")
    return number


def nonnegative(name: str, value: Any) -> float:
    """A spread: a finite number that is not negative."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(f"the spread {name} = {value!r} is not a number") from None
    if not math.isfinite(number) or number < 0:
        raise ParameterError(f"the spread {name} = {number:g} must be non-negative and finite")
    return number


def paired_names(letters: tuple[Letter, ...]) -> list[str] | None:
    """Names paired when adjacent X'X or XX' cancel until nothing is left; None if something stays unpaired."""
    stack: list[Letter] = []
    pairs: list[str] = []
    for letter in letters:
        if stack and stack[-1] == letter.T:
            pairs.append(stack.pop().map)
        else:
            stack.append(letter)
    return None if stack else pairs


def infinite_width(
    naming: Naming,
    closure: Closure,
    omega: Any,
    spread: Mapping[str, Any],
    values: Mapping[str, Any],
    resting: Collection[str] = (),
) -> dict[str, np.ndarray]:
    """All path matrices at infinite width: pairs of maps give the Gram matrix times their spreads, the rest is zero.

    Maps that are `resting` (velocities) have the spread 0 unless it is given.
    """
    open_numbers = {name for pin in naming.pins.values() for name in gram_parameters(pin)}
    numbers = {name: positive(name, spread[name]) for name in open_numbers & set(spread)}
    maps = {name: value for name, value in spread.items() if name not in numbers}
    sizes = dict.fromkeys(resting, 0.0)
    sizes |= {m: nonnegative(m, v) for name, v in maps.items() for m in _maps_called(naming, name)}
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
            matrix = math.prod(sizes.get(name, default or 0.0) for name in pairs) * gram_floats(left, numbers)
        out[leaf] = matrix
    return out


def _maps_called(naming: Naming, name: str) -> list[str]:
    found = [m for m in naming.letters if name in (m, m.partition(".")[0])]
    if not found:
        squares = [
            f"{pin.labels[0]}'{pin.labels[0]} = {pin.gram[0, 0].args[0]}"
            for set_, pin in naming.pins.items()
            if naming.is_alone(set_) and pin.gram is not None and pin.gram[0, 0].op == "num"
        ]
        also = f"; {', '.join(squares)} is a number already, given where the vector is written" if squares else ""
        raise ModelError(f"there is no map {name!r}; the program has {', '.join(naming.letters)}{also}")
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
    if pin.gram is None or gram_parameters(pin):
        return
    sizes, vectors = np.linalg.eigh(gram_floats(pin))
    null = vectors[:, sizes < 1e-12 * max(1.0, float(sizes[-1]))]
    if null.size and np.abs(table @ null).max() > 1e-9 * max(1.0, float(np.abs(table).max())):
        raise ModelError(
            f"the values of {path} differ between words that the Gram matrix makes equal or dependent; no map has them"
        )


def gram_parameters(pin: Pin) -> set[str]:
    """Names of the parameters among the inner products of a pinned set."""
    return set() if pin.gram is None else symbols(list(pin.gram.flat))


def gram_floats(pin: Pin, numbers: Mapping[str, float] | None = None) -> np.ndarray:
    """Inner products of a pinned set in floats; parameters take their values from `numbers`."""
    if pin.gram is None:
        return np.eye(pin.size)
    missing = sorted(gram_parameters(pin) - set(numbers or {}))
    if missing:
        raise ModelError(
            f"the inner products of {', '.join(pin.labels[:4])} have the parameter {missing[0]}; start values need a "
            f"number, add {missing[0]}=..."
        )
    values = Tape.of(list(pin.gram.flat)).over(ARRAYS)(numbers or {})
    return np.array([float(value) for value in values]).reshape(pin.gram.shape)


def weight_values(naming: Naming, closure: Closure, weights: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """All path matrices of given weights; axes along words are the words, so that W E is given.

    A name without a head stands for all heads, which then are the first axis. The name of a frozen vector gives its
    coordinates, in which the rows of the map beside it are then written.
    """
    alone = {pin.labels[0]: name for name, pin in naming.pins.items() if naming.is_alone(name)}
    arrays: dict[str, np.ndarray] = {}
    vectors: dict[str, np.ndarray] = {}
    for name, value in weights.items():
        array = _real(name, value)
        if name in alone:
            vectors[alone[name]] = array.reshape(-1, 1)
            continue
        if name in naming.letters and array.ndim < 3:
            arrays[name] = np.atleast_2d(array)
            continue
        heads = [m for m in naming.letters if name in (m, m.partition(".")[0])]
        if not heads:
            known = [*naming.letters, *alone]
            raise ModelError(f"there is no map {name!r}; the program has {', '.join(known)}")
        if array.ndim < 2 or len(array) != len(heads):
            expr = naming.letters[heads[0]]
            meant = f"is a matrix, {say_side(expr.rows)} by {say_side(expr.columns)}"
            if heads != [name]:
                meant = f"stands for {', '.join(heads)}, which the first axis counts; or give each by its own name"
            raise ModelError(f"the weights {name} have shape {array.shape}; {name} {meant}")
        arrays |= {head: np.atleast_2d(each) for head, each in zip(heads, array, strict=True)}
    return path_products(naming, closure, arrays, vectors)


def _real(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise ValueError
        array = array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"the weights {name} are not an array of real numbers") from None
    if not np.isfinite(array).all():
        raise ModelError(f"the weights {name} have an entry that is not finite")
    return array


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


def unit_gram(size: int) -> np.ndarray:
    """Inner products of orthonormal vectors, as nodes."""
    return np.array([[ONE if i == j else ZERO for j in range(size)] for i in range(size)], dtype=object)
