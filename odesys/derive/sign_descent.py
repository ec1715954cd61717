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
from ..model.paths import Path, state_name
from ..program.data import Data
from ..program.expressions import Expr
from ..program.program import Program, read_program
from ..program.reading import Pin
from ..program.spaces import ONE_AXIS, Units, Words
from .motion import STEP_SIZE


@dataclass(frozen=True)
class PinnedVectors:
    """Vectors coordinate by coordinate: `directions[j][c]` exact, and the mass of each direction (number or name).

    Parameters
    ----------
    directions : tuple[tuple[Fraction, ...], ...]
        Exact coordinates of each vector.
    masses : tuple[Node, ...]
        The mass of each direction, a number or a name.

    Examples
    --------
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
    """A program's loss on inner products: maps by name with the names of their states, gradients, and both sides.

    `names[map]`, `gradients[map]` are arrays (rows, columns); `left`, `right` are the vectors on the two sides of a
    map, `observables` are those of the program, `structure` says of each state its map, row and column.

    Parameters
    ----------
    names : Mapping[str, np.ndarray]
        The names of the states of each map.
    gradients : Mapping[str, np.ndarray]
        The gradient by each entry of each map.
    left : Mapping[str, PinnedVectors]
        The vectors on the left of each map.
    right : Mapping[str, PinnedVectors]
        The vectors on its right.
    observables : Mapping[str, Node]
        Those of the program.
    structure : Mapping[str, State]
        What each state stands for.

    Examples
    --------
    >>> from odesys import Data, Words, maps, logistic
    >>> words = Words("mu")
    >>> v = maps("v", 1, words)
    >>> made = inner_product_sign_descent(lambda X: v @ X[0], Data(words, [("mu", +1)]), logistic)
    >>> made.system().equations["v_mu"]
    Node(eta + v_mu)
    >>> made.gradient_norm()
    Node(1/(exp(v_mu) + 1))
    """

    names: Mapping[str, np.ndarray]
    gradients: Mapping[str, np.ndarray]
    left: Mapping[str, PinnedVectors]
    right: Mapping[str, PinnedVectors]
    observables: Mapping[str, Node]
    structure: Mapping[str, State]

    def gradient_norm(self) -> Node:
        """The L1 norm of the gradient by all weights: minus the rate of the loss along the flow."""
        terms = list[Node]()
        for leaf, gradient in self.gradients.items():
            U, V = (np.array(side.directions, dtype=object) for side in (self.left[leaf], self.right[leaf]))
            sizes = np.frompyfunc(graph.absolute, 1, 1)(_by_direction(gradient, U, V))
            terms += list((sizes * _masses(self.left[leaf], self.right[leaf])).ravel())
        return graph.add(terms)

    def system(
        self, sign: Callable[[Node], Node] = sign_node, kind: str = "map", observables: Mapping[str, Node] | None = None
    ) -> System:
        """The step as a map, or its limit for small eta as a flow in theta = eta t; `sign` writes sgn of a gradient."""
        names, nodes = list[str](), list[Node]()
        for leaf, table in self.names.items():
            change = sign_step(self.gradients[leaf], self.left[leaf], self.right[leaf], sign)
            for name, move in zip(table.ravel(), change.ravel(), strict=True):
                names.append(name)
                nodes.append(-move if kind == "flow" else sym(name) - sym(STEP_SIZE) * move)
        seen = dict(self.observables if observables is None else observables)
        used = graph.symbols([*nodes, *seen.values()]) - set(names)
        field = ScalarField(tuple(nodes), seen)
        return System(tuple(names), field, tuple(sorted(used)), kind, structure=self.structure)


def inner_product_sign_descent(
    program: Callable[[Expr], Expr],
    data: Data,
    loss: Any = "logistic",
    *,
    vectors: Mapping[Words, PinnedVectors] | None = None,
    train: Any = None,
) -> SignDescent:
    """The loss of a program on the inner products of its maps with pinned vectors, differentiated.

    Parameters
    ----------
    program : Callable[[Expr], Expr]
        A function of the tokens X in which every map acts between pinned vectors: listed axes, or words.
    data : Data
        The samples.
    loss : Any, optional
        A function (f, y) such as `logistic`, `hinge`, `squared`, `cross_entropy` or your own; or a SymPy expression in
        the margin z = y f.
    vectors : Mapping[Words, PinnedVectors], optional
        Words that are not the axes of their space, coordinate by coordinate; a word may be a read-out too.
    train : Any, optional
        Names of all maps, in the order of their states; as they are read if left out.

    Returns
    -------
    SignDescent
        Names, gradients and pinned vectors, from which a paper writes its step.

    Examples
    --------
    >>> from odesys import Data, Words, maps, logistic
    >>> words, c = Words("mu"), Words("c", [["c2"]], name="c")
    >>> W_V = maps("W_V", c, words)  # three rows, read out by c = (1, 1, -1); mu has the L1 norm m
    >>> known = {words: PinnedVectors.disjoint(["m"]), c: PinnedVectors.of([[1, 1, -1]])}
    >>> data = Data(words, [("mu", +1)])
    >>> made = inner_product_sign_descent(lambda X: c.all.T @ W_V @ X[0], data, logistic, vectors=known)
    >>> made.system(kind="flow").equations["V_mu"]
    Node(3*m)
    """
    read = read_program(program, data, loss)
    paths = _single_maps(read, read.maps if train is None else _ordered(read, train))
    known = {words.name: coordinates for words, coordinates in (vectors or {}).items()}
    leaves, renamed = dict[str, Block](), dict[str, Block]()
    for name, path in paths.items():
        leaves[name] = blocks.leaf(name, (read.naming.size(path.left), read.naming.size(path.right)))
        table = read.tables.get(path)
        renamed[read.tables[path.T].data if table is None else table.data] = leaves[name] if table else leaves[name].T
    objective, *seen = blocks.replace_leaves([read.loss, *read.observables.values()], renamed)
    names, sides, structure = dict[str, np.ndarray](), dict[str, list[PinnedVectors]](), dict[str, State]()
    for name, path in paths.items():
        pins = [read.naming.pins[end] for end in (path.left, path.right)]
        sides[name] = [_coordinates(pin, known) for pin in pins]
        rows, columns = _row_labels(pins[0]), pins[1].labels
        states = [[State(read.naming.chain(path), left=r, right=c) for c in columns] for r in rows]
        structure |= {state_name(state): state for row in states for state in row}
        names[name] = np.array([[state_name(state) for state in row] for row in states], dtype=object)
    symbols = {name: np.vectorize(sym, otypes=[object])(table) for name, table in names.items()}
    found = blocks.evaluate([*blocks.gradient(objective, list(leaves.values())), *seen], symbols)
    return SignDescent(
        names,
        dict(zip(leaves, found[: len(leaves)], strict=True)),
        {name: side[0] for name, side in sides.items()},
        {name: side[1] for name, side in sides.items()},
        {name: value.reshape(-1)[0] for name, value in zip(read.observables, found[len(leaves) :], strict=True)},
        structure,
    )


def _ordered(read: Program, train: Any) -> tuple[str, ...]:
    names = tuple(train.split() if isinstance(train, str) else train)
    if sorted(names) != sorted(read.maps):
        raise ModelError(
            f"train={train!r} is the order of all maps, which are {', '.join(read.maps)}; a frozen map is a word with "
            f"its coordinates in vectors="
        )
    return names


def _single_maps(read: Program, order: Sequence[str]) -> dict[str, Path]:
    """The path of every map from its rows to its columns, between the pinned vectors on its two sides."""
    found: dict[str, Path] = {}
    for path in read.tables:
        names = [letter.map for letter in path.letters]
        if len(names) > 1 or names[0] in found:
            raise ModelError(
                f"sign descent on inner products reads every map alone and between one pair of pinned sets, but the "
                f"program reads {path}; list the axes of its space with Units"
            )
        found[names[0]] = path.T if path.letters[0].transposed else path
    return {name: found[name] for name in order}


def _coordinates(pin: Pin, known: Mapping[str, PinnedVectors]) -> PinnedVectors:
    made = known.get(pin.name)
    if made is None and pin.gram is not None:
        raise ModelError(f"the words {', '.join(pin.labels)} are not orthonormal; give their coordinates in vectors=")
    made = made or PinnedVectors.axes(pin.size)
    if made.count != pin.size:
        raise ModelError(f"there are {pin.size} words {', '.join(pin.labels)}, but vectors= has {made.count}")
    return made


def _row_labels(pin: Pin) -> Sequence[str]:
    """Numbers for listed axes, names for words; a single read-out has none."""
    if isinstance(pin.side, Units) and pin.side != ONE_AXIS:
        return [str(i + 1) for i in range(pin.size)]
    return pin.labels if pin.size > 1 else [""]


__all__ = ["PinnedVectors", "SignDescent", "inner_product_sign_descent", "sign_step"]
