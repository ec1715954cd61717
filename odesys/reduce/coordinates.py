r"""The flow in coordinates: free spaces get axes, and the entries of the weights themselves are the states.

Paths between pinned vectors close a flow at every width; where the widths are given and small, or where a chain of
trained maps does not close, the weights can be followed instead. With axes of the free spaces pinned, a map W between
the spaces X and Y is the matrix of its entries (images of the words, or rows at a frozen vector, at the ends), and

.. math::  \dot W = -\Gamma_X\,\frac{\partial\mathcal L}{\partial W}\,\Gamma_Y ,

with Gram matrices of pinned ends, and identities for axes. A permutation of axes, with signs, changes nothing: so a
symmetry is one of model and data together with any signed permutation of the axes of each free space.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..derive.flow import check_weights, parameter_names
from ..derive.motion import STEP_SIZE
from ..errors import ModelError, SymmetryError
from ..expr import blocks
from ..expr.blocks import Block
from ..expr.field import BlockField, Layout, Segment
from ..expr.graph import sym
from ..expr.system import TIME, State, System
from ..model.attention import AttentionModel, FixedVector
from ..model.distribution import Distribution
from ..model.loss import Loss, as_loss
from ..model.naming import ModelNaming
from ..model.paths import (
    OUTPUT,
    WORDS,
    Path,
    leaf_name,
    pin_name,
    pin_size,
    score_path,
    state_name,
    value_path,
    word_tex,
)
from ..program.attention import attention_loss
from .quotient import OrbitReduction, Orbits, merged, signed_orbits
from .symmetry import Signed, SignedPermutation, is_symmetry

Axes = tuple[Signed, ...]  # where each axis of a free space goes, and its sign


@dataclass(frozen=True)
class CoordinateSpace:
    """One side of a map: a pinned set of a model (`pin`), or axes of a free space (`pin` is empty)."""

    name: str
    size: int
    pin: str = ""


@dataclass(frozen=True)
class CoordinateMap:
    """One map in coordinates: the spaces of its rows and columns; `turned` if it is read as a transpose."""

    map: str
    rows: CoordinateSpace
    columns: CoordinateSpace
    turned: bool


@dataclass(frozen=True)
class CoordinateSymmetry:
    """A symmetry of model and data, with signed permutations of the axes of the free spaces named in `axes`.

    >>> from odesys import Dictionary, Sample
    >>> data = Distribution([Sample(["a", "b"], +1)])
    >>> flow = coordinate_flow(AttentionModel(Dictionary(["a", "b"])), data, ["w", "W_K", "W_Q"], score=2)
    >>> identity = SignedPermutation(((0, 1), (1, 1)), ((0, 1),), (((0, 1),),), 1)
    >>> swap = CoordinateSymmetry(identity, {"score": ((1, 1), (0, 1))})  # exchange the axes between W_K and W_Q
    >>> [flow.system.names[k] for k in flow.on_states(swap)[0]][2:6]
    ['K_2_a', 'K_2_b', 'K_1_a', 'K_1_b']
    """

    base: SignedPermutation
    axes: Mapping[str, Axes]


@dataclass(frozen=True, eq=False)
class CoordinateFlow:
    """A gradient flow (or step) on the entries of the weights.

    >>> from odesys import Dictionary, Sample
    >>> data = Distribution([Sample(["a", "b"], +1)])
    >>> flow = coordinate_flow(AttentionModel(Dictionary(["a", "b"])), data, ["w", "W_K", "W_Q"], score=2)
    >>> flow.matrices["K"].tolist()
    [['K_1_a', 'K_1_b'], ['K_2_a', 'K_2_b']]
    >>> flow.initial_state({"w": [[1, -1]], "W_K": [[1, 0], [0, 1]], "W_Q": [[0, 0], [0, 0]]}).tolist()
    [1.0, -1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]
    """

    model: AttentionModel
    data: Distribution
    loss: Loss
    train: tuple[str, ...]
    pieces: tuple[CoordinateMap, ...]
    system: System

    @property
    def layout(self) -> Layout:
        """How states sit in the matrices of weights."""
        assert isinstance(self.system.field, BlockField)
        return self.system.field.layout

    @cached_property
    def matrices(self) -> dict[str, np.ndarray]:
        """For each weight of each head the array of its state names."""
        names = np.array(self.layout.names, dtype=object)
        return {segment.leaf: names[segment.index] for segment in self.layout.segments}

    def initial_state(self, weights: Mapping[str, Any]) -> np.ndarray:
        """The state vector of given matrices, by weight (heads first if there are several)."""
        leaves = {}
        for piece in self.pieces:
            if piece.map not in weights:
                raise ModelError(f"the weight {piece.map} has no start value; give {', '.join(self.model.weights)}")
            array = np.asarray(weights[piece.map], dtype=float)
            shape = (piece.rows.size, piece.columns.size)
            array = array[None] if array.shape == shape and len(self.model.heads) == 1 else array
            if array.shape != (len(self.model.heads), *shape):
                raise ModelError(
                    f"the weight {piece.map} has the shape {array.shape}; here it is {(len(self.model.heads), *shape)}"
                )
            for k in range(len(self.model.heads)):
                leaves[_leaf(self.model, piece, k)] = array[k]
        return self.layout.pack(leaves)

    def on_states(self, element: CoordinateSymmetry) -> tuple[np.ndarray, np.ndarray]:
        """The action on state vectors: state s goes to `target[s]` with factor `sign[s]`."""
        target, sign = np.empty((2, len(self.layout.names)), dtype=int)
        index = {segment.leaf: segment.index for segment in self.layout.segments}
        for k in range(len(self.model.heads)):
            for piece in self.pieces:
                source = index[_leaf(self.model, piece, k)]
                image = index[_leaf(self.model, piece, element.base.heads[k][0])]
                (ri, rs), (ci, cs) = (_moves(element, space, k) for space in (piece.rows, piece.columns))
                target[source] = image[np.ix_(ri, ci)]
                sign[source] = np.outer(rs, cs)
        return target, sign

    def quotient(self, generators: Sequence[CoordinateSymmetry]) -> CoordinateQuotient:
        """One variable per orbit of `generators`; each is checked exactly against model and data."""
        for element in generators:
            self._check(element)
        orbits = signed_orbits(len(self.layout.names), [self.on_states(element) for element in generators])
        return CoordinateQuotient(self, tuple(generators), orbits, merged(self.system, orbits))

    def _check(self, element: CoordinateSymmetry) -> None:
        if not is_symmetry(self, element.base):
            raise SymmetryError(
                f"{element.base.describe(self)} does not map the weighted samples and heads to themselves",
                witness=element,
            )
        spaces = {s.name: s.size for piece in self.pieces for s in (piece.rows, piece.columns) if not s.pin}
        for name, axes in element.axes.items():
            if name not in spaces:
                raise SymmetryError(f"there is no free space {name!r}; there are {', '.join(spaces) or 'none'}")
            images, signs = sorted(i for i, _ in axes), {s for _, s in axes}
            if images != list(range(spaces[name])) or not signs <= {1, -1}:
                raise SymmetryError(f"the axes of {name} are not permuted by {axes}; it has {spaces[name]} of them")


@dataclass(frozen=True, eq=False, repr=False)
class CoordinateQuotient(OrbitReduction):
    """A flow in coordinates on the subspace that symmetries leave alone. Starts off it are not described.

    >>> from odesys import Dictionary, Sample
    >>> data = Distribution([Sample(["a", "b"], +1)])
    >>> flow = coordinate_flow(AttentionModel(Dictionary(["a", "b"])), data, ["w", "W_K", "W_Q"], score=2)
    >>> identity = SignedPermutation(((0, 1), (1, 1)), ((0, 1),), (((0, 1),),), 1)
    >>> quotient = flow.quotient([CoordinateSymmetry(identity, {"score": ((1, 1), (0, 1))})])
    >>> flow.system.dimension, quotient.system.names
    (10, ('w_a', 'w_b', 'K_1_a', 'K_1_b', 'Q_1_a', 'Q_1_b'))
    """

    flow: CoordinateFlow
    generators: tuple[CoordinateSymmetry, ...]
    orbits: Orbits
    system: System

    @property
    def source(self) -> System:  # type: ignore[override]
        """The system of the flow."""
        return self.flow.system


def coordinate_flow(
    model: AttentionModel,
    data: Distribution,
    train: Iterable[str],
    value: int | Sequence[int] = (),
    score: int | Sequence[int] = (),
    loss: Any = "logistic",
    step: bool = False,
) -> CoordinateFlow:
    """Derive the gradient flow (with `step` the gradient step) on the entries of the weights.

    Parameters
    ----------
    model, data, train, loss : as in `gradient_flow`.
    value, score : dimensions of the free spaces between the value maps and between the score maps, left to right.

    >>> from odesys import Dictionary, Sample
    >>> one = Distribution([Sample(["a"], +1)])  # one token: attention is 1, and the margin is w'a
    >>> flow = coordinate_flow(AttentionModel(Dictionary(["a"])), one, ["w", "W_K", "W_Q"], score=2)
    >>> flow.system.names, flow.system.equations["w_a"]
    (('w_a', 'K_1_a', 'K_2_a', 'Q_1_a', 'Q_2_a'), Node(1/(exp(w_a) + 1)))
    """
    trained, loss = tuple(train), as_loss(loss)
    check_weights(model, trained, trained)
    chains = [_chain(value_path(model), "value", value, model), _chain(score_path(model), "score", score, model)]
    pieces = tuple(piece for chain in chains for piece in chain)
    leaves = {
        _leaf(model, piece, k): blocks.leaf(_leaf(model, piece, k), (piece.rows.size, piece.columns.size))
        for k in range(len(model.heads))
        for piece in pieces
    }
    read = (value_path(model), score_path(model))
    products = {
        leaf_name(model, path, k): blocks.chain([_factor(leaves, model, piece, k) for piece in chain])
        for k in range(len(model.heads))
        for path, chain in zip(read, chains, strict=True)
    }
    objective, observables = attention_loss(model, data, loss, products)
    rhs: dict[str, Block] = {}
    for k in range(len(model.heads)):
        own = [leaves[_leaf(model, piece, k)] for piece in pieces]
        for piece, leaf, slope in zip(pieces, own, blocks.gradient(objective, own), strict=True):
            moving = piece.map in trained
            rate = _rate(model, piece, slope) if moving else blocks.zeros(leaf.shape)
            rhs[leaf.data] = (
                blocks.add(leaf, blocks.multiply(blocks.constant([[sym(STEP_SIZE)]]), rate))
                if step and moving
                else leaf
                if step
                else rate
            )
    layout, tex, structure = _layout(model, pieces)
    names = layout.names
    field = BlockField(layout, rhs, observables)
    taken = (parameter_names(model, loss) | data.parameters) & {*names, TIME, *([STEP_SIZE] if step else [])}
    if taken:
        raise ModelError(
            f"the parameter {sorted(taken)[0]} is also the name of a state, of time or of the step size; rename it"
        )
    system = System(names, field, tuple(sorted(field.parameters)), "map" if step else "flow", tex, structure)
    return CoordinateFlow(model, data, loss, trained, pieces, system)


def _chain(path: Path, what: str, sizes: int | Sequence[int], model: AttentionModel) -> tuple[CoordinateMap, ...]:
    inner = (sizes,) if isinstance(sizes, int) else tuple(sizes)
    if len(inner) != len(path.letters) - 1 or any(not isinstance(n, int) or n < 1 for n in inner):
        raise ModelError(
            f"the {what} {path} has {len(path.letters) - 1} free spaces between its maps; give the "
            f"dimension of each as a positive whole number, not {inner}"
        )
    free = [CoordinateSpace(what if len(inner) == 1 else f"{what} {j + 1}", size) for j, size in enumerate(inner)]
    ends = [CoordinateSpace(pin, pin_size(model, pin), pin) for pin in (path.left, path.right)]
    spaces = [ends[0], *free, ends[1]]
    out = []
    for j, letter in enumerate(path.letters):
        rows, columns = spaces[j : j + 2]
        out.append(
            CoordinateMap(letter.name, columns, rows, True)
            if letter.transposed
            else CoordinateMap(letter.name, rows, columns, False)
        )
    return tuple(out)


def _leaf(model: AttentionModel, piece: CoordinateMap, head: int) -> str:
    """Name of the matrix of one map in one head, e.g. ``V`` for W_V."""
    label = model.head_labels[head]
    return _short(model, piece) + (f"_{label}" if label else "")


def _short(model: AttentionModel, piece: CoordinateMap) -> str:
    output = model.value.output
    frozen = output.name if piece.rows.pin == OUTPUT and isinstance(output, FixedVector) else ""
    return frozen + piece.map.removeprefix("W_").replace("_", "")


def _factor(leaves: Mapping[str, Block], model: AttentionModel, piece: CoordinateMap, head: int) -> Block:
    leaf = leaves[_leaf(model, piece, head)]
    return leaf.T if piece.turned else leaf


def _rate(model: AttentionModel, piece: CoordinateMap, slope: Block) -> Block:
    factors = [blocks.multiply(blocks.constant([[-1]]), slope)]
    for space, left in ((piece.rows, True), (piece.columns, False)):
        gram = ModelNaming(model).gram(space.pin) if space.pin else None
        if gram is not None:
            factors.insert(0 if left else len(factors), blocks.constant(gram))
    return blocks.chain(factors)


def _moves(element: CoordinateSymmetry, space: CoordinateSpace, head: int) -> tuple[np.ndarray, np.ndarray]:
    if space.pin == WORDS:
        pairs: Sequence[Signed] = element.base.words
    elif space.pin:
        pairs = element.base.rows[head]
    else:
        pairs = element.axes.get(space.name, tuple((i, 1) for i in range(space.size)))
    return np.array([i for i, _ in pairs]), np.array([s for _, s in pairs])


def _layout(model: AttentionModel, pieces: Sequence[CoordinateMap]) -> tuple[Layout, dict[str, str], dict[str, State]]:
    names: list[str] = []
    tex: dict[str, str] = {}
    structure: dict[str, State] = {}
    places: list[tuple[str, int, int]] = []
    segments = []
    for k in range(len(model.heads)):
        for piece in pieces:
            shape, leaf = (piece.rows.size, piece.columns.size), _leaf(model, piece, k)
            segments.append(Segment(leaf, len(names) + np.arange(shape[0] * shape[1]).reshape(shape)))
            for i, j in np.ndindex(shape):
                ends = _mark(model, piece.rows, i), _mark(model, piece.columns, j)
                state = State(_short(model, piece), model.head_labels[k], *ends)
                names.append(state_name(state))
                structure[names[-1]] = state
                where = ",".join(_mark_tex(model, s, n) for s, n in ((piece.rows, i), (piece.columns, j)))
                tex[names[-1]] = rf"({_map_tex(model, piece, k)})_{{{where}}}"
                places.append((leaf, i, j))
    if len(set(names)) != len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ModelError(f"two entries of weights would both be called {twice}; rename a map or a word")
    return Layout(tuple(names), tuple(places), tuple(segments)), tex, structure


def _mark(model: AttentionModel, space: CoordinateSpace, index: int) -> str:
    """Words by name, neurons n1, n2, ..., axes by number; a frozen vector has no mark."""
    return pin_name(model, space.pin, index) if space.pin else str(index + 1)


def _mark_tex(model: AttentionModel, space: CoordinateSpace, index: int) -> str:
    return word_tex(model.words.words[index]) if space.pin == WORDS else str(index + 1)


def _map_tex(model: AttentionModel, piece: CoordinateMap, head: int) -> str:
    base, _, index = piece.map.partition("_")
    mark = {"p": "+", "m": "-"}.get(model.head_labels[head], "")
    return f"{base}_{{{index}{mark}}}" if index or mark else base


__all__ = ["CoordinateFlow", "CoordinateQuotient", "CoordinateSymmetry", "coordinate_flow"]
