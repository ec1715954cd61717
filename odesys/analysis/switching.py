r"""Gates as inputs: activation patterns as smooth fields, surfaces and their rates along a field, the sliding field.

A kink of the equations is a gate :math:`g_i = [h_i(t, x) > 0]`; the argument :math:`h_i` is its switching surface. With
the gates taken as inputs the field :math:`F(t, x, g)` is smooth in t and x, and every 0-1 vector g is an activation
pattern. On surfaces along which the flow slides the gates take values between 0 and 1. What the field is there must be
said, and is the same everywhere in this project: the *multilinear interpolation of its values at the patterns*,

.. math::  F(g) = \sum_{\sigma \in \{0,1\}^k} \Bigl(\prod_{i} g_i^{\sigma_i} (1 - g_i)^{1 - \sigma_i}\Bigr) F_\sigma .

It is a convex combination of the fields on the adjacent sides, as Filippov asks; for one surface it is his convention;
it does not depend on how the gates are written (a squared gate is the gate); and where gates enter affinely on the
surfaces, as those of a ReLU model do, it is that affine field. Products of gates of different surfaces are allowed.

Exact and symbolic: `switching_surfaces`, `hold_gates`, `sliding_system`. In floats: `Switching`, and the interpolation
itself in `numerics.flows.patterns`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any

import numpy as np

from ..errors import EquationError
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node
from ..expr.sympy_bridge import to_sympy
from ..expr.system import TIME, System
from ..jit.codegen import Compiled, CompiledBlocks, node_function

EXACT_LIMIT = 3  # surfaces of an exact sliding field: Cramer's rule
LONGEST_NAME = 12  # nodes of a surface that is named by its own text


# ---- exact -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Surface:
    """A switching surface h = 0: its number, its name, and h; the gate is 1 where h > 0.

    The name is the observable that h is up to scale and offset (``H_p_4``: the head + on sample 4, h = H + b), else the
    text of h if that is short, else its number.
    """

    index: int
    name: str
    node: Node


def switching_surfaces(system: System, parameters: Mapping[str, Any] | None = None) -> tuple[Surface, ...]:
    """The surfaces of a system in the order of its gates; `parameters` as in `System.compile`.

    >>> x, v = graph.sym("x"), graph.sym("v")
    >>> friction = System.from_equations({"x": v, "v": graph.relu(x) - graph.step(v - 1)})
    >>> sorted(surface.name for surface in switching_surfaces(friction))
    ['v - 1', 'x']
    """
    names = Switching(system.compile(parameters, backend="scalar")).names
    return tuple(Surface(i, *pair) for i, pair in enumerate(zip(names, system.surfaces, strict=True)))


def hold_gates(system: System, gates: Mapping[int, Any]) -> System:
    """The system with some gates replaced: by 0 or 1 (an activation pattern) or by any expression.

    A string becomes a parameter. With all gates given the field is smooth.

    Parameters
    ----------
    system : System
        A system with gates.
    gates : Mapping[int, Any]
        By the number of its surface, what a gate is replaced by.

    Returns
    -------
    System
        The same system with these gates held.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> relay = System.from_equations({x: 2 - 3 * sp.Heaviside(x)})
    >>> hold_gates(relay, {0: 1}).rhs, hold_gates(relay, {0: "g"}).rhs
    ((-1,), (2 - 3*g,))
    """
    mapping: dict[Node, Node] = {}
    for i, value in gates.items():
        if not 0 <= i < len(system.surfaces):
            raise EquationError(f"there is no surface {i}; the system has {len(system.surfaces)}, numbered from 0")
        gate = graph.as_node(value)
        mapping |= {graph.step(system.surfaces[i]): gate, graph.step(-system.surfaces[i]): 1 - gate}
    new = graph.substitute([*system.nodes, *system.observables.values()], mapping)
    nodes, seen = tuple(new[: system.dimension]), new[system.dimension :]
    known = {*system.names, *system.parameters, TIME}
    added = tuple(sorted(graph.symbols(new) - known))
    field = ScalarField(nodes, dict(zip(system.observables, seen, strict=True)))
    return replace(system, field=field, parameters=system.parameters + added)


def sliding_system(system: System, which: Sequence[int], others: Mapping[int, Any] | None = None) -> System:
    r"""The exact sliding field on the surfaces `which`, for gates that enter affinely: at most three surfaces.

    The gates solve :math:`\partial_t h_i + \nabla h_i \cdot (F_0 + \sum_j g_j D_j) = 0` for all i in `which`, with
    :math:`D_j` the change of the field when gate j opens; they become the observables gate_0, gate_1, ... (by number of
    the surface). The field is only meant on the surfaces; `others` holds further gates.

    >>> import sympy as sp
    >>> x, y = sp.symbols("x y")
    >>> slide = sliding_system(System.from_equations({x: sp.cos(y) - 2 * sp.sign(x), y: 1 + sp.Heaviside(x)}), [0])
    >>> slide.rhs[0], sp.expand(slide.rhs[1])
    (0, cos(y)/4 + 3/2)
    """
    chosen, size = list(which), len(which)
    if not 0 < size <= EXACT_LIMIT or len(set(chosen)) < size:
        raise EquationError(f"an exact sliding field needs 1 to {EXACT_LIMIT} different surfaces, not {chosen}")
    base = {**(others or {}), **dict.fromkeys(chosen, 0)}
    closed = hold_gates(system, base)
    columns = [_difference(hold_gates(system, {**base, i: 1}), closed) for i in chosen]
    full = hold_gates(system, {**base, **dict.fromkeys(chosen, 1)})
    _check_affine(system, chosen, full, closed, columns)
    inside = [held_surface(system, i, others or {}) for i in chosen]
    rows = [graph.gradient(node, [graph.sym(name) for name in (*system.names, TIME)]) for node in inside]
    matrix = [[_dot(row, (*column, graph.ZERO)) for column in columns] for row in rows]
    right = [-_dot(row, (*closed.nodes, graph.ONE)) for row in rows]
    total = determinant(matrix)
    if total is graph.ZERO:
        raise EquationError("the gates are not determined by the sliding condition: no gate moves its own surface")
    gates = []
    for j in range(size):
        replaced = [[*row[:j], value, *row[j + 1 :]] for row, value in zip(matrix, right, strict=True)]
        gates.append(determinant(replaced) / total)
    nodes = tuple(
        graph.add([node, *(graph.multiply(g, c[k]) for g, c in zip(gates, columns, strict=True))])
        for k, node in enumerate(closed.nodes)
    )
    named = {f"gate_{i}": gate for i, gate in zip(chosen, gates, strict=True)}
    return replace(closed, field=ScalarField(nodes, {**closed.observables, **named}))


def held_surface(system: System, i: int, gates: Mapping[int, Any]) -> Node:
    """The surface i with the gates inside of it held."""
    mapping: dict[Node, Node] = {}
    for j, value in gates.items():
        mapping |= {
            graph.step(system.surfaces[j]): graph.as_node(value),
            graph.step(-system.surfaces[j]): 1 - graph.as_node(value),
        }
    return graph.substitute([system.surfaces[i]], mapping)[0]


def _difference(left: System, right: System) -> list[Node]:
    return [a - b for a, b in zip(left.nodes, right.nodes, strict=True)]


def _dot(row: Sequence[Node], column: Sequence[Node]) -> Node:
    return graph.add([graph.multiply(a, b) for a, b in zip(row, column, strict=True)])


def _check_affine(system: System, chosen: list[int], full: System, closed: System, columns: list[list[Node]]) -> None:
    """With up to three gates, corner values agree with the affine field if the mixed differences vanish exactly."""
    for k, node in enumerate(full.nodes if len(chosen) > 1 else ()):
        mixed = graph.add([node, -closed.nodes[k], *(-column[k] for column in columns)])
        if zero_test(mixed).answer != "zero":
            raise EquationError(
                f"the equation of {system.names[k]} has products of gates of different surfaces: the sliding field has "
                f"no rational closed form; integrate follows it with gates found numerically"
            )


def determinant(matrix: list[list[Node]]) -> Node:
    """The determinant of a small matrix of expressions: of the empty one, 1."""
    size = len(matrix)
    terms = []
    for order in permutations(range(size)):
        swaps = sum(order[i] > order[j] for i in range(size) for j in range(i + 1, size))
        terms.append(graph.multiply(graph.num(-1 if swaps % 2 else 1), *(matrix[i][order[i]] for i in range(size))))
    return graph.add(terms)


# ---- floats ----------------------------------------------------------------------------------------------------------


class Switching:
    """A compiled system seen from its gates: field with gates as inputs, surfaces, and rates of surfaces.

    Shapes: n states, s surfaces; `gates` is (s,), `which` an index array (k,).

    Parameters
    ----------
    compiled : Compiled
        A compiled system, as `System.compile` gives it.
    parameters : Mapping[str, float], optional
        Values of its parameters.

    Examples
    --------
    >>> x = graph.sym("x")
    >>> relay = Switching(System.from_equations({"x": 2 - 3 * graph.step(x - 1)}).compile())
    >>> relay.names, relay.count
    (['x - 1'], 1)
    """

    def __init__(self, compiled: Compiled, parameters: Mapping[str, float] | None = None) -> None:
        self.compiled = compiled
        values = compiled.parameter_values if parameters is None else parameters
        self.parameters = dict(values)
        self.blocks = isinstance(compiled, CompiledBlocks)
        self.count = compiled.surface_count
        # a surface that contains other gates is read with those held too; the others by the compiled code
        self.nested = not self.blocks and compiled.system.nested_surfaces
        self._held = node_function(compiled.system, compiled.system.surfaces, self.parameters) if self.nested else None
        self.movable = (
            np.ones(self.count, dtype=bool) if self.blocks else np.array(compiled.system.moving_surfaces, bool)
        )
        self._gradients: dict[int, tuple[np.ndarray, Callable[..., np.ndarray]]] = {}

    def field(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """The smooth field of an activation pattern, shape (n,); not a number outside of its domain."""
        return self.compiled.field(t, x, gates)

    def values(self, t: float, x: np.ndarray, gates: np.ndarray) -> np.ndarray:
        """All surfaces at one point, shape (s,); not a number where they are not defined."""
        return self.compiled.surfaces(t, x) if self._held is None else self._held(t, x, gates)

    def rates(
        self, t: float, x: np.ndarray, gates: np.ndarray, which: np.ndarray, velocities: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        r"""Rates :math:`\partial_t h_i + \nabla h_i \cdot v` for r velocities (r, n): (r, k), and what may be rounding.

        Gradients are exact, by reverse differentiation of the surface or forward differentiation of the blocks.
        """
        speed = np.abs(velocities).max(axis=1, initial=0.0)[:, None]
        if isinstance(self.compiled, CompiledBlocks):
            slopes = np.array([self.compiled.surface_slopes(x, v)[which] for v in velocities])
            return slopes, 1e-11 * np.abs(slopes) + 1e-13 * speed
        slopes, noise = np.zeros((2, len(velocities), which.size))
        extended = np.hstack([velocities, np.ones((len(velocities), 1))])
        for k, i in enumerate(which):
            columns, gradient = self._gradient(int(i))
            partial = gradient(t, x, gates)
            terms = extended[:, columns] * partial
            slopes[:, k] = terms.sum(axis=1)
            noise[:, k] = 1e-11 * np.abs(terms).sum(axis=1) + 1e-14 * speed[:, 0] * np.abs(partial).sum()
        return slopes, noise

    def _gradient(self, i: int) -> tuple[np.ndarray, Callable[..., np.ndarray]]:
        if i not in self._gradients:
            system = self.compiled.system
            row = graph.gradient(system.surfaces[i], [graph.sym(name) for name in (*system.names, TIME)])
            columns = [j for j, node in enumerate(row) if node is not graph.ZERO]
            code = node_function(system, [row[j] for j in columns], self.parameters)
            self._gradients[i] = np.array(columns, dtype=int), code
        return self._gradients[i]

    @cached_property
    def names(self) -> list[str]:
        """For each surface the observable it is up to scale and offset (H of a sample), or its text, or its number."""
        system = self.compiled.system
        names = [f"surface_{i + 1}" for i in range(self.count)]
        for i, node in enumerate(() if self.blocks else system.surfaces):
            if len(graph.topological([node])) < LONGEST_NAME:
                names[i] = str(to_sympy(node))
        points = np.random.default_rng(0).standard_normal((12, system.dimension))
        read = np.array([self.compiled.surfaces(0.0, x) for x in points])
        table = [self.compiled.observables(0.0, x) for x in points]
        seen = np.array([list(row.values()) for row in table]).reshape(len(points), -1)
        for columns in (read, seen):
            columns -= columns.mean(axis=0)
            columns /= np.linalg.norm(columns, axis=0) + 1e-300
        likeness, labels = np.abs(read.T @ seen), list(table[0])
        return [
            labels[int(row.argmax())] if row.max(initial=0.0) > 1 - 1e-12 else name
            for name, row in zip(names, np.nan_to_num(likeness), strict=True)
        ]
