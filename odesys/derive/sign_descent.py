r"""Sign descent: every weight moves by eta against the sign of its own gradient; the map on inner products it makes.

A weight matrix W acts between vectors that data or architecture pin: :math:`P_{lj} = u_l^\top W x_j`. Its gradient is
:math:`\sum_{lj} u_l\,G_{lj}\,x_j^\top` with :math:`G = \partial L/\partial P`, so the entry (r, k) moves by

.. math::  -\eta\,\operatorname{sgn}\Big(\sum_{l,j} u_l[r]\,G_{lj}\,x_j[k]\Big) .

Coordinates k at which the vectors :math:`(x_j[k])_j` are multiples :math:`\rho_k V_{\cdot c}` of a direction share one
sign, and together have the mass :math:`m_c = \sum_k |\rho_k|`. Hence, exactly,

.. math::  P_{lj}^+ = P_{lj} - \eta\sum_{c,d} m_c\,m'_d\,U_{lc} V_{jd}\,\operatorname{sgn}\big(U^\top G V\big)_{cd} .

Vectors with disjoint supports are the simplest case: one direction each, its mass the L1 norm; no other property of
the vectors matters, and the map closes on the inner products with no approximation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ModelError
from ..exact.sign_normal import sign_node
from ..expr import blocks, graph
from ..expr.blocks import Block
from ..expr.field import ScalarField
from ..expr.graph import ZERO, Node, as_node, num, sym
from ..expr.system import State, System
from ..model.attention import AttentionModel
from ..model.distribution import Distribution
from ..model.loss import as_loss
from ..model.paths import leaf_name, score_path, state_name, value_path
from ..program.attention import attention_loss
from .motion import STEP_SIZE


@dataclass(frozen=True)
class PinnedVectors:
    """Vectors coordinate by coordinate: `directions[j][c]` exact, and the mass of each direction (number or name).

    >>> PinnedVectors.disjoint(["m", 3]).masses
    (Node(m), Node(3))
    """

    directions: tuple[tuple[Fraction, ...], ...]
    masses: tuple[Node, ...]

    @property
    def count(self) -> int:
        """Number of vectors."""
        return len(self.directions)

    @classmethod
    def disjoint(cls, masses: Sequence[Any]) -> PinnedVectors:
        """Vectors with disjoint supports, given by their L1 norms."""
        size = len(masses)
        unit = tuple(tuple(Fraction(i == j) for j in range(size)) for i in range(size))
        return cls(unit, tuple(as_node(m) for m in masses))

    @classmethod
    def axes(cls, count: int) -> PinnedVectors:
        """The coordinate axes of a space."""
        return cls.disjoint([1] * count)

    @classmethod
    def of(cls, vectors: Sequence[Sequence[Any]]) -> PinnedVectors:
        """Exact vectors, one per row: coordinates that are multiples of each other are put together.

        >>> PinnedVectors.of([[1, -2, 0, 1], [2, -4, 3, 0]]).masses  # of the directions (1, 2), (0, 1) and (1, 0)
        (Node(3), Node(3), Node(1))
        """
        rows = [[Fraction(entry) for entry in vector] for vector in vectors]
        if not rows or len({len(row) for row in rows}) != 1:
            raise ModelError("vectors are rows of one length, at least one of them")
        mass: dict[tuple[Fraction, ...], Fraction] = {}
        for column in zip(*rows, strict=True):
            lead = next((entry for entry in column if entry), None)
            if lead is not None:
                key = tuple(entry / lead for entry in column)
                mass[key] = mass.get(key, Fraction(0)) + abs(lead)
        directions = tuple(tuple(key[j] for key in mass) for j in range(len(rows)))
        return cls(directions, tuple(num(m) for m in mass.values()))


def sign_step(
    gradient: np.ndarray, left: PinnedVectors, right: PinnedVectors, sign: Callable[[Node], Node] = sign_node
) -> np.ndarray:
    """The change of all inner products over -eta, as nodes (left vectors, right vectors); see the module."""
    U, V = (np.array(side.directions, dtype=object) for side in (left, right))
    signs = np.frompyfunc(sign, 1, 1)(_by_direction(gradient, U, V)) * _masses(left, right)
    out = np.empty((len(U), len(V)), dtype=object)
    for l in range(len(U)):
        for j in range(len(V)):
            out[l, j] = graph.add(
                [
                    num(U[l, c] * V[j, d]) * signs[c, d]
                    for c in range(U.shape[1])
                    for d in range(V.shape[1])
                    if U[l, c] and V[j, d]
                ]
                or [ZERO]
            )
    return out


def _by_direction(gradient: np.ndarray, U: np.ndarray, V: np.ndarray) -> np.ndarray:
    """U' G V as nodes: the gradient of an entry over its positive scale."""
    out = np.empty((U.shape[1], V.shape[1]), dtype=object)
    for c in range(U.shape[1]):
        for d in range(V.shape[1]):
            out[c, d] = graph.add(
                [
                    num(U[l, c] * V[j, d]) * gradient[l, j]
                    for l in range(len(U))
                    for j in range(len(V))
                    if U[l, c] and V[j, d]
                ]
            )
    return out


def _masses(left: PinnedVectors, right: PinnedVectors) -> np.ndarray:
    return np.array([[a * b for b in right.masses] for a in left.masses], dtype=object)


@dataclass(frozen=True, eq=False)
class SignDescent:
    """A model's loss on inner products: leaves by name with the names of their states, gradients, and both sides.

    `names[leaf]`, `gradients[leaf]` are arrays (left vectors, words); `observables` are those of the model, `structure`
    says of each state its leaf, row and word.

    >>> from odesys import Dictionary, FixedVector, Sample, Value
    >>> model = AttentionModel(Dictionary(["mu"]), value=Value(("W_V",), output=FixedVector("v")))
    >>> unit = PinnedVectors.disjoint([1])
    >>> made = inner_product_sign_descent(model, Distribution([Sample(["mu"], +1)]), unit, 1, unit)
    >>> made.system().equations["v_mu"]
    Node(eta + v_mu)
    >>> made.gradient_norm()
    Node(1/(exp(v_mu) + 1))
    """

    names: Mapping[str, np.ndarray]
    gradients: Mapping[str, np.ndarray]
    left: Mapping[str, PinnedVectors]
    right: PinnedVectors
    observables: Mapping[str, Node]
    structure: Mapping[str, State]

    def gradient_norm(self) -> Node:
        """The L1 norm of the gradient by all weights: minus the rate of the loss along the flow."""
        terms = list[Node]()
        for leaf, gradient in self.gradients.items():
            U, V = (np.array(side.directions, dtype=object) for side in (self.left[leaf], self.right))
            sizes = np.frompyfunc(graph.absolute, 1, 1)(_by_direction(gradient, U, V))
            terms += list((sizes * _masses(self.left[leaf], self.right)).ravel())
        return graph.add(terms)

    def system(
        self, sign: Callable[[Node], Node] = sign_node, kind: str = "map", observables: Mapping[str, Node] | None = None
    ) -> System:
        """The step as a map, or its limit for small eta as a flow in theta = eta t; `sign` writes sgn of a gradient."""
        names, nodes = list[str](), list[Node]()
        for leaf, table in self.names.items():
            change = sign_step(self.gradients[leaf], self.left[leaf], self.right, sign)
            for name, move in zip(table.ravel(), change.ravel(), strict=True):
                names.append(name)
                nodes.append(-move if kind == "flow" else sym(name) - sym(STEP_SIZE) * move)
        seen = dict(self.observables if observables is None else observables)
        used = graph.symbols([*nodes, *seen.values()]) - set(names)
        field = ScalarField(tuple(nodes), seen)
        return System(tuple(names), field, tuple(sorted(used)), kind, structure=self.structure)


def inner_product_sign_descent(
    model: AttentionModel,
    data: Distribution,
    words: PinnedVectors,
    neurons: int,
    output: PinnedVectors,
    loss: Any = "logistic",
) -> SignDescent:
    """The loss of an attention model with one head on the inner products of its rows with the words, differentiated.

    Parameters
    ----------
    model : scores W_K' W_Q with both maps trained, one value row: the read-out vector times one trained map.
    words : the dictionary's vectors, coordinate by coordinate.
    neurons : rows of W_K and W_Q, whose coordinate axes are pinned.
    output : the frozen read-out vector of the values, as `PinnedVectors.of([[...]])`.

    >>> from odesys import Dictionary, FixedVector, Sample, Value
    >>> model = AttentionModel(Dictionary(["mu"]), value=Value(("W_V",), output=FixedVector("v")))
    >>> signal = PinnedVectors.disjoint(["m"])  # one word with L1 norm m
    >>> data, readout = Distribution([Sample(["mu"], +1)]), PinnedVectors.of([[1]])
    >>> made = inner_product_sign_descent(model, data, signal, neurons=1, output=readout)
    >>> made.system(kind="flow").equations["v_mu"]
    Node(m)
    """
    if len(model.heads) != 1 or model.score != ("W_K'", "W_Q") or len(model.value.maps) != 1 or model.value.rows != 1:
        raise ModelError("sign descent reads one head with scores W_K' W_Q and one value row with one trained map")
    if words.count != len(model.words) or output.count != 1:
        raise ModelError(
            f"the dictionary has {len(model.words)} words and the read-out is one vector; the columns are "
            f"of {words.count} and {output.count}"
        )
    size = len(model.words)
    shapes = {"v": (1, size), "q": (neurons, size), "k": (neurons, size)}
    leaves: dict[str, Block] = {name: blocks.leaf(name, shape) for name, shape in shapes.items()}
    read = (value_path(model), score_path(model))
    made = {leaf_name(model, read[0], 0): leaves["v"], leaf_name(model, read[1], 0): leaves["k"].T @ leaves["q"]}
    objective, observables = attention_loss(model, data, as_loss(loss), made)
    roots = [*blocks.gradient(objective, list(leaves.values())), *observables.values()]
    names = {leaf: np.empty(shape, dtype=object) for leaf, shape in shapes.items()}
    structure: dict[str, State] = {}
    for leaf, table in names.items():
        for r, j in np.ndindex(table.shape):
            state = State(leaf, left="" if leaf == "v" else str(r + 1), right=model.words.words[j])
            name = table[r, j] = state_name(state)
            structure[name] = state
    symbols = {leaf: np.vectorize(sym, otypes=[object])(table) for leaf, table in names.items()}
    found = blocks.evaluate(roots, symbols)
    axes = PinnedVectors.axes(neurons)
    return SignDescent(
        names,
        dict(zip(leaves, found[:3], strict=True)),
        {"v": output, "q": axes, "k": axes},
        words,
        {name: value.reshape(-1)[0] for name, value in zip(observables, found[3:], strict=True)},
        structure,
    )


__all__ = ["PinnedVectors", "SignDescent", "inner_product_sign_descent", "sign_step"]
