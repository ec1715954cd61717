"""Forward derivatives of block expressions: values and directional derivatives in one pass, over floats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from . import graph
from .blocks import Block, Z, apply_function, evaluate_op, topological
from .graph import Node

Gates = Mapping[tuple[int, Node], np.ndarray] | None


def tangent(
    roots: Sequence[Block],
    leaves: Mapping[str, np.ndarray],
    directions: Mapping[str, np.ndarray],
    parameters: Mapping[str, float],
    gates: Gates = None,
) -> list[np.ndarray]:
    """Derivatives of `roots` along `directions` of the leaves, gates taken as constants."""
    value: dict[int, np.ndarray] = {}
    slope: dict[int, np.ndarray | None] = {}  # None stands for zero
    for block in topological(roots):
        args = [value[id(a)] for a in block.args]
        value[id(block)] = evaluate_op(block, args, leaves, parameters, gates)
        if block.op == "leaf":
            slope[id(block)] = directions.get(block.data)
        else:
            inner = [slope[id(a)] for a in block.args]
            slope[id(block)] = _slope(block, args, inner, value[id(block)], parameters, gates)
    out = []
    for root in roots:
        found = slope[id(root)]
        out.append(np.zeros(root.shape) if found is None else np.broadcast_to(found, root.shape))
    return out


def _slope(
    block: Block,
    args: list[np.ndarray],
    slopes: list[np.ndarray | None],
    value: np.ndarray,
    parameters: Mapping[str, float],
    gates: Gates,
) -> np.ndarray | None:
    if all(s is None for s in slopes):
        return None
    op = block.op
    if op == "add":
        return sum((np.broadcast_to(s, block.shape) for s in slopes if s is not None), np.zeros(block.shape))
    if op in ("multiply", "matmul"):
        product = np.multiply if op == "multiply" else np.matmul
        parts: list[np.ndarray] = [product(slopes[0], args[1])] if slopes[0] is not None else []
        parts += [product(args[0], slopes[1])] if slopes[1] is not None else []
        return sum(parts[1:], parts[0])
    first = slopes[0]
    assert first is not None
    if op in ("apply", "shifted_exp"):
        factor = value
        if op == "apply":
            derivative = Block("apply", block.args, block.shape, graph.gradient(block.data, [Z])[0])
            factor = apply_function(derivative, args[0], parameters, gates)
        slope: np.ndarray = factor * first
        return slope
    if op == "log_sum_exp":
        share = np.exp(args[0] - value) * (1.0 if len(args) == 1 else args[1])
        return np.sum(share * first, axis=-1, keepdims=True)  # type: ignore[no-any-return]
    if op == "gram_root":
        return _root_slope(args[0], first, value, block.data)
    return evaluate_op(block, [first, *args[1:]], {}, parameters, None)  # the linear ones: transpose, take, sum, ...


def _root_slope(matrix: np.ndarray, direction: np.ndarray, root: np.ndarray, side: str) -> np.ndarray:
    """Derivative X of a root R with R^2 = C: the solution of R X + X R = dC."""
    product = direction @ matrix.T if side == "left" else direction.T @ matrix
    values, basis = np.linalg.eigh(root)
    inner = basis.T @ (product + product.T) @ basis
    slope: np.ndarray = basis @ (inner / (values[:, None] + values[None, :])) @ basis.T
    return slope
