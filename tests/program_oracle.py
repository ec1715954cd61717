"""Programs run by plain NumPy on dense matrices, one sample at a time: nothing of the engine but the expressions.

Tokens with counts are written out as so many columns. Gradients are differences of the loss in weight space.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from functools import cache, reduce
from typing import Any

import numpy as np
import sympy as sp

from odesys import blocks, to_sympy
from odesys.model.paths import Path
from odesys.program.expressions import Expr, tokens
from odesys.program.spaces import Space, Tokens, Words

Arrays = Mapping[str, np.ndarray]


class Dense:
    """One sample on dense weights: words are columns of `frames`, weights are matrices."""

    def __init__(self, data: Any, sample: Any, weights: Arrays, frames: Arrays, parameters: Mapping[str, float]):
        self.words, self.sample = data.words, sample
        self.weights, self.frames, self.parameters = weights, frames, parameters
        counts = sample.counts or (1,) * len(sample.tokens)
        self.copies = [round(self.number(c)) for c in counts]
        self.memo: dict[int, np.ndarray] = {}

    def number(self, value: Any) -> float:
        value = sp.sympify(to_sympy(value) if hasattr(value, "op") else value)
        return float(value.subs({s: self.parameters[str(s)] for s in value.free_symbols}))

    def physical(self, side: Any) -> list[int]:
        """The token in each column of a side of tokens."""
        return [p for p in side.positions for _ in range(self.copies[p])]

    def repeat(self, matrix: np.ndarray, expr: Expr) -> np.ndarray:
        """Rows and columns of tokens, given once each, as often as they stand there."""
        for axis, side in enumerate((expr.rows, expr.columns)):
            if isinstance(side, Tokens):
                matrix = np.repeat(matrix, [self.copies[p] for p in side.positions], axis=axis)
        return matrix

    def value(self, expr: Expr) -> np.ndarray:
        if id(expr) not in self.memo:
            self.memo[id(expr)] = getattr(self, f"do_{expr.op}")(expr, *map(self.value, expr.args))
        return self.memo[id(expr)]

    def do_tokens(self, expr: Expr) -> np.ndarray:
        frame = self.frames[self.words.name]
        columns = []
        for place in self.physical(expr.columns):
            token = self.sample.tokens[place]
            if isinstance(token, str):
                token = {token.lstrip("+-"): -1 if token.startswith("-") else 1}
            elif not isinstance(token, Mapping):
                token = dict(zip(self.words.words, token, strict=True))
            named = self.words.pinned.words
            columns.append(sum(self.number(c) * frame[:, named.index(word)] for word, c in token.items()))
        return np.array(columns).T

    def do_positions(self, expr: Expr) -> np.ndarray:
        return self.frames[self.words.name][:, [len(self.words) + p for p in self.physical(expr.columns)]]

    def do_words(self, expr: Expr) -> np.ndarray:
        return self.frames[expr.rows.name][:, : len(expr.rows)]

    def do_map(self, expr: Expr) -> np.ndarray:
        return self.weights[expr.data.map]

    def do_constant(self, expr: Expr) -> np.ndarray:
        return np.array([[self.number(entry) for entry in row] for row in expr.data])

    def do_count(self, expr: Expr) -> np.ndarray:
        return np.array([[float(len(self.physical(expr.data)))]])

    def do_target(self, expr: Expr) -> np.ndarray:
        rows, columns, _ = expr.data
        label = self.sample.label
        listed = isinstance(label, (tuple, list, np.ndarray))
        per_column = list(label) if listed and columns > 1 else [label] * columns
        table = np.zeros((rows, columns))
        for c, target in enumerate(per_column):
            if isinstance(target, (tuple, list, np.ndarray)):
                table[:, c] = [self.number(t) for t in target]
            elif rows > 1:
                table[target, c] = 1.0
            else:
                table[0, c] = self.number(target)
        return self.repeat(table, expr)

    def do_transpose(self, expr: Expr, x: np.ndarray) -> np.ndarray:
        return x.T

    def do_columns(self, expr: Expr, x: np.ndarray) -> np.ndarray:
        places, side = expr.data[0], expr.args[0].columns
        if not isinstance(side, Tokens):
            return x[:, list(places)]
        starts = list(itertools.accumulate((self.copies[p] for p in side.positions), initial=0))
        return x[:, [k for p in places for k in range(starts[p], starts[p + 1])]]

    def do_add(self, expr: Expr, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x + y

    def do_times(self, expr: Expr, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x * y

    def do_matmul(self, expr: Expr, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x @ y

    def do_apply(self, expr: Expr, x: np.ndarray) -> np.ndarray:
        return function_of(expr.data[0])(x, self.parameters)

    def do_softmax(self, expr: Expr, x: np.ndarray) -> np.ndarray:
        if expr.data is not None:
            x = np.where(self.repeat(expr.data, expr), x, -np.inf)
        weights = np.exp(x - x.max(axis=0))
        return weights / weights.sum(axis=0)

    def do_sum(self, expr: Expr, x: np.ndarray) -> np.ndarray:
        return x.sum(axis=expr.data, keepdims=True)

    def do_norm(self, expr: Expr, x: np.ndarray) -> np.ndarray:
        return np.sqrt((x * x).sum(axis=0, keepdims=True))

    def do_cross_entropy(self, expr: Expr, f: np.ndarray, y: np.ndarray) -> np.ndarray:
        top = f.max(axis=0)
        return (top + np.log(np.exp(f - top).sum(axis=0)) - (y * f).sum(axis=0))[None]


@cache
def function_of(node: Any) -> Callable[[np.ndarray, Mapping[str, float]], np.ndarray]:
    """A function of one number, through SymPy."""
    expression = to_sympy(node)
    symbols = sorted(expression.free_symbols, key=str)
    compiled = sp.lambdify(symbols, expression, modules=[{"Heaviside": np.heaviside}, "numpy", "scipy"])

    def run(x: np.ndarray, parameters: Mapping[str, float]) -> np.ndarray:
        given = [x if str(s) == "z" else parameters[str(s)] for s in symbols]
        return np.broadcast_to(np.asarray(compiled(*given), dtype=float), x.shape)

    return run


class Oracle:
    """Loss of a program on dense weights, and its gradient by differences."""

    def __init__(self, program: Any, frames: Arrays, parameters: Mapping[str, float]) -> None:
        self.program, self.frames, self.parameters = program, frames, parameters
        self.losses: dict[int, Expr] = {}
        for sample in program.data.samples:
            length = len(sample.tokens)
            if length not in self.losses:
                output = program.function(tokens(program.data.words, length))
                shape = output.rows.size, output.columns.size
                target = Expr("target", (), output.rows, output.columns, (*shape, "f"))
                self.losses[length] = program.criterion(output, target)

    def loss(self, weights: Arrays) -> float:
        total = 0.0
        for sample in self.program.data.samples:
            run = Dense(self.program.data, sample, weights, self.frames, self.parameters)
            table = run.value(self.losses[len(sample.tokens)])
            total += float(sample.weight) * float(table.sum(axis=0).mean())
        return total

    def gradient(self, weights: Arrays, name: str, h: float) -> np.ndarray:
        """Differences of fourth order, entry by entry."""
        moved = {key: np.array(array) for key, array in weights.items()}
        out, array = np.zeros(weights[name].shape), moved[name]
        for at in np.ndindex(array.shape):
            here, values = array[at], []
            for k in (-2, -1, 1, 2):
                array[at] = here + k * h
                values.append(self.loss(moved))
            array[at] = here
            out[at] = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * h)
        return out

    def gradients(self, weights: Arrays, train: Any) -> dict[str, np.ndarray] | None:
        """Gradients by all trained maps; None next to a kink, where two step sizes differ."""
        out = {}
        for name in train:
            out[name], other = (self.gradient(weights, name, h) for h in (2e-3, 5e-4))
            if np.abs(out[name] - other).max() > 1e-8 * (1 + np.abs(other).max()):
                return None
        return out


def product(path: Path, weights: Arrays, frames: Arrays, instead: Mapping[int, np.ndarray] | None = None) -> np.ndarray:
    """The matrix of a path; `instead` replaces the matrices at some places."""
    factors = []
    for place, letter in enumerate(path.letters):
        matrix = (instead or {}).get(place, weights[letter.map])
        factors.append(matrix.T if letter.transposed else matrix)
    if path.left in frames:
        factors.insert(0, frames[path.left].T)
    if path.right in frames:
        factors.append(frames[path.right])
    return reduce(np.matmul, factors)


def path_rates(paths: Any, weights: Arrays, frames: Arrays, rates: Arrays) -> list[np.ndarray]:
    """How fast the matrices of paths change when the weights move, by the product rule."""
    out = []
    for path in paths:
        total = np.zeros(product(path, weights, frames).shape)
        for place, letter in enumerate(path.letters):
            if letter.map in rates:
                total += product(path, weights, frames, {place: rates[letter.map]})
        out.append(total)
    return out


def network(program: Any, seed: int, width: int = 4) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Random dense weights of a program's maps, and frames: pinned vectors as columns, with their inner products."""
    rng, pins, frames, weights = np.random.default_rng(seed), program.naming.pins, {}, {}
    for name, pin in pins.items():
        if isinstance(pin.side, Words):
            values, vectors = np.linalg.eigh(pin.side.pinned.gram_floats())
            turned = np.linalg.qr(rng.normal(size=vectors.shape))[0]
            frames[name] = turned @ (np.sqrt(np.maximum(values, 0))[:, None] * vectors.T)
    for name, expr in program.naming.letters.items():
        sizes = [
            len(side.pinned.words) if isinstance(side, Words) else width if isinstance(side, Space) else side.size
            for side in (expr.rows, expr.columns)
        ]
        weights[name] = rng.normal(size=sizes) / 2
    return weights, frames


def read_values(program: Any, weights: Arrays, frames: Arrays, parameters: Mapping[str, float]) -> dict[str, Any]:
    """What the blocks of a program are worth where its path scalars are those of dense weights."""
    leaves = {str(path): product(path, weights, frames) for path in program.tables}
    found = blocks.evaluate(list(program.observables.values()), leaves, parameters)
    return dict(zip(program.observables, (float(np.asarray(value).item()) for value in found), strict=True))
