"""Switching surfaces of a compiled system: their values, their slopes along the flow, and the gates at a zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from itertools import product

import numpy as np

from odesys import graph
from odesys.codegen import Compiled
from odesys.sympy_bridge import to_sympy
from odesys.system import TIME

from .trajectory import observable_names
from .trajectory import straight_line_function as compile_nodes

EPS = float(np.finfo(float).eps)


class Surfaces:
    """The switching surfaces of a compiled system: their values, their slopes along the flow, the gates at a zero."""

    def __init__(self, compiled: Compiled, parameters: Mapping[str, float], field: Callable[..., np.ndarray],
                 t: float, x: np.ndarray) -> None:
        self.compiled, self.parameters, self.field = compiled, parameters, field
        self.blocks = compiled.backend == "block"
        nodes = () if self.blocks else compiled.system.surfaces
        # a surface that contains other gates is read with those held too; the others by the compiled code
        nested = any(node.op == "step" for node in graph.topological(nodes))
        self._held = compile_nodes(compiled.system, nodes, parameters) if nested else None
        self.start = compiled.surfaces(t, x)
        moving = set() if self.blocks else {*compiled.system.moving, TIME}
        self.movable = np.array([not graph.symbols([node]).isdisjoint(moving) for node in nodes], dtype=bool)
        if self.blocks:
            self.movable = np.ones(self.start.size, dtype=bool)
        self._signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(3, x.size))
        self._gradients: dict[int, tuple[np.ndarray, Callable[..., np.ndarray]]] = {}

    def values(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """All surfaces at one point; not a number where they are not defined."""
        try:
            return self.compiled.surfaces(t, x) if self._held is None else self._held(t, x, gates)
        except (ArithmeticError, ValueError):
            return np.full(gates.size, np.nan)

    def choose(self, t: float, x: np.ndarray, gates: np.ndarray, step: float = 0.0,
               crossed: Sequence[int] = ()) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Gates to go on with, which surfaces are at zero, how wide their zero is, and which of them slide (if any)."""
        new = gates
        for _ in range(8):  # a surface that contains other gates may jump with them
            h, width = self.values(t, x, new), self._width(t, x, new, step)
            zero = self.movable & (np.abs(h) <= width)
            zero[list(crossed)] = True
            settled = np.where(zero, new, np.where(h > 0, 1.0, 0.0))
            chosen = self._consistent(t, x, settled, np.flatnonzero(zero))
            if chosen is None:
                return settled, zero, width, self._attracting(t, x, settled, np.flatnonzero(zero))
            if np.array_equal(chosen, new):
                break
            new = chosen
        return new, zero, width, np.empty(0, dtype=int)

    def _width(self, t: float, x: np.ndarray, gates: np.ndarray, step: float) -> np.ndarray:
        """How far from zero rounding can leave each surface: it moves with the last digits of state and time."""
        late = 8 * EPS * max(abs(t), step)
        h, drift = self.values(t, x, gates), late * self.field(t, x, gates)
        ends = [self.values(t + late, x + drift + 4 * EPS * x * s, gates) for s in self._signs]
        return 4 * np.abs(np.array(ends) - h).max(axis=0)

    def _consistent(self, t: float, x: np.ndarray, gates: np.ndarray, zero: np.ndarray) -> np.ndarray | None:
        """The gates, changed on `zero` only, that agree with the slopes they produce; nearest to `gates` first."""

        def wanted(trial: np.ndarray) -> np.ndarray:
            slope, noise = self._slopes(t, x, trial, zero)
            return np.where(np.abs(slope) <= noise, trial[zero], np.where(slope > 0, 1.0, 0.0))

        trial = gates.copy()
        for _ in range(zero.size + 2 if zero.size else 0):
            old, trial[zero] = trial[zero].copy(), wanted(trial)
            if np.array_equal(old, trial[zero]):
                return trial
        patterns = [np.array(p) for p in product((0.0, 1.0), repeat=zero.size)] if 0 < zero.size <= 6 else []
        for pattern in sorted(patterns, key=lambda p: float(np.abs(p - gates[zero]).sum())):
            trial[zero] = pattern
            if np.array_equal(wanted(trial), pattern):
                return trial
        return None if zero.size else gates

    def _attracting(self, t: float, x: np.ndarray, gates: np.ndarray, zero: np.ndarray) -> np.ndarray:
        found = []
        for k, i in enumerate(zero):
            above, below = gates.copy(), gates.copy()
            above[i], below[i] = 1.0, 0.0
            if self._slopes(t, x, above, zero)[0][k] < 0 < self._slopes(t, x, below, zero)[0][k]:
                found.append(int(i))
        return np.array(found or zero, dtype=int)

    def _slopes(self, t: float, x: np.ndarray, gates: np.ndarray, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Time derivatives of some surfaces along the field with these gates, and what of them may be rounding."""
        velocity = self.field(t, x, gates)
        speed = float(np.abs(velocity).max(initial=0.0))
        if self.blocks:
            ahead = 1e-6 * max(1.0, float(np.abs(x).max())) / (speed or 1.0)
            ends = [self.values(t + s, x + s * velocity, gates)[which] for s in (ahead, -ahead)]
            return (ends[0] - ends[1]) / (2 * ahead), np.full(which.size, 1e-8 * speed)
        slopes = np.zeros((2, which.size))
        for k, i in enumerate(which):
            columns, gradient = self._gradient(int(i))
            partial = gradient(t, x, gates)
            terms = partial * np.append(velocity, 1.0)[columns]
            slopes[:, k] = terms.sum(), 1e-11 * np.abs(terms).sum() + 1e-14 * speed * np.abs(partial).sum()
        return slopes[0], slopes[1]

    def _gradient(self, i: int) -> tuple[np.ndarray, Callable[..., np.ndarray]]:
        if i not in self._gradients:
            system = self.compiled.system
            row = graph.gradient(system.surfaces[i], [graph.sym(name) for name in (*system.names, TIME)])
            columns = [j for j, node in enumerate(row) if node is not graph.ZERO]
            code = compile_nodes(system, [row[j] for j in columns], self.parameters)
            self._gradients[i] = np.array(columns, dtype=int), code
        return self._gradients[i]

    @cached_property
    def names(self) -> list[str]:
        """For each surface the observable it is up to scale and offset (H of a sample), or its text, or its number."""
        system, size = self.compiled.system, self.start.size
        names = [f"surface_{i + 1}" for i in range(size)]
        for i, node in enumerate(() if self.blocks else system.surfaces):
            if len(graph.topological([node])) < 12:
                names[i] = str(to_sympy(node))
        points = np.random.default_rng(0).standard_normal((12, system.dimension))
        try:
            read = np.array([self.compiled.surfaces(0.0, x) for x in points])
            seen = np.array([list(self.compiled.observables(0.0, x).values()) for x in points])
        except (ArithmeticError, ValueError):
            return names
        for table in (read, seen):
            table -= table.mean(axis=0)
            table /= np.linalg.norm(table, axis=0) + 1e-300
        likeness = np.abs(read.T @ seen)
        labels = list(observable_names(system))
        return [labels[int(row.argmax())] if row.size and row.max() > 1 - 1e-12 else name
                for name, row in zip(names, likeness, strict=True)]
