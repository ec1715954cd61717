r"""Start values of path scalars: the infinite-width limit, or the actual values of a finite network.

At infinite width independent Gaussian maps give :math:`W^\top W \to s\,I` and everything unpaired tends to zero, so a
path is either a product of such numbers times the Gram matrix of its pinned vectors, or zero.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import ModelError, ParameterError
from ..expr.graph import ONE, ZERO
from ..model.attention import AttentionModel, FixedVector, Neurons
from ..model.paths import OUTPUT, WORDS, Letter, leaf_name, pin_size
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


def infinite_width(
    model: AttentionModel, closure: Closure, omega: Any, spread: Mapping[str, Any]
) -> dict[str, np.ndarray]:
    """All path matrices at infinite width: s = omega^2 for the score maps, `spread` for maps given by name.

    The name of a frozen output vector gives its square, where that is a parameter.
    """
    output = model.value.output.name if isinstance(model.value.output, FixedVector) else ""
    for name in spread:
        if name not in model.weights and name != output:
            raise ModelError(f"there is no weight {name!r}; the model has {', '.join(model.weights)}")
        if name == output and isinstance(model.value.output, FixedVector) and model.value.output.square.op == "num":
            raise ModelError(f"the square of {name} is {model.value.output.square!r} in the model; drop {name}=...")
    values = {name: nonnegative(name, value) for name, value in spread.items()}
    if omega is not None:
        scale = positive("omega", omega) ** 2
        for name in model.score:
            values.setdefault(name.removesuffix("'"), scale)
    out = {}
    for path in closure.paths:
        pairs = paired_names(path.letters)
        shape = pin_size(model, path.left), pin_size(model, path.right)
        matrix = np.zeros(shape)
        if pairs is not None and path.left == path.right:
            missing = [name for name in pairs if name not in values]
            if missing:
                raise ModelError(
                    f"the path {path} starts at the spread of {missing[0]}, which is not given; "
                    f"add {missing[0]}=... (the number s in {missing[0]}' {missing[0]} -> s I)"
                )
            matrix = math.prod(values[name] for name in pairs) * pin_gram_values(model, path.left, values.get(output))
        for head in range(len(model.heads)):
            out[leaf_name(model, path, head)] = matrix
    return out


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


def pin_gram_values(model: AttentionModel, pin: str, given: float | None = None) -> np.ndarray:
    """Gram matrix of a pinned set in floats; `given` is the square of an output vector where it is a parameter."""
    if pin == WORDS:
        return model.words.gram_floats()
    if isinstance(model.value.output, FixedVector):
        square = model.value.output.square
        name = model.value.output.name
        if square.op != "num" and given is not None:
            return np.array([[given]])
        if square.op != "num":
            raise ModelError(f"the square of {name} is a parameter; start values need a number, add {name}=...")
        return np.array([[float(square.args[0])]])
    return np.eye(pin_size(model, pin))


def network_values(model: AttentionModel, closure: Closure, weights: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """All path matrices of a finite network, from the images of the words (heads first)."""
    arrays = {name: _array(name, value) for name, value in weights.items()}
    known = {*model.weights, *([model.value.output.name] if isinstance(model.value.output, FixedVector) else [])}
    unknown = sorted(set(arrays) - known)
    if unknown:
        raise ModelError(f"there is no weight {unknown[0]!r}; the model has {', '.join(sorted(known))}")
    out = {}
    for path in closure.paths:
        for head in range(len(model.heads)):
            factors = [_factor(model, arrays, letter, head) for letter in path.letters]
            if path.left == OUTPUT:
                factors.insert(0, _output_row(model, arrays))
            if path.right == OUTPUT:
                factors.append(_output_row(model, arrays).T)
            try:
                value = np.linalg.multi_dot(factors) if len(factors) > 1 else factors[0]
            except ValueError as problem:
                raise ModelError(f"the weights do not fit together along the path {path}: {problem}") from None
            expected = pin_size(model, path.left), pin_size(model, path.right)
            if value.shape != expected:
                raise ModelError(
                    f"the path {path} has shape {value.shape} instead of {expected}; weights next to the words are "
                    f"the images of the words, e.g. W_K of shape (heads, m, {len(model.words)})"
                )
            if not np.isfinite(value).all():
                raise ModelError(f"the path {path} has an entry that is not finite; check the weights")
            out[leaf_name(model, path, head)] = value
    return out


def _array(name: str, value: Any) -> np.ndarray:
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise ValueError
        return array.astype(float)
    except (TypeError, ValueError, OverflowError):
        raise ModelError(f"the weight {name} is not an array of real numbers") from None


def _factor(model: AttentionModel, arrays: Mapping[str, np.ndarray], letter: Letter, head: int) -> np.ndarray:
    if letter.name not in arrays:
        raise ModelError(f"the weight {letter.name} is missing; the model needs {', '.join(model.weights)}")
    stack = arrays[letter.name]
    if stack.ndim < 2 or stack.shape[0] != len(model.heads):
        raise ModelError(f"the weight {letter.name} has shape {stack.shape}; the {len(model.heads)} heads come first")
    matrix = np.atleast_2d(stack[head])
    return matrix.T if letter.transposed else matrix


def _output_row(model: AttentionModel, arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    output = model.value.output
    if isinstance(output, FixedVector):
        if output.name not in arrays:
            raise ModelError(f"the frozen output vector {output.name} is missing from the weights")
        return np.atleast_2d(arrays[output.name])
    return np.eye(output.size) if isinstance(output, Neurons) else np.eye(1)


def unit_gram(size: int) -> np.ndarray:
    """Inner products of orthonormal vectors, as nodes."""
    return np.array([[ONE if i == j else ZERO for j in range(size)] for i in range(size)], dtype=object)
