"""The right-hand side of a system in its two forms: scalar nodes, or blocks with the layout that scalarises them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..shortening import shortened, some
from . import blocks, gc_pause, graph
from .blocks import Block
from .graph import Node
from .needed_entries import entries_needed


@dataclass(frozen=True, eq=False)
class ScalarField:
    """One node per state, and named observables.

    Parameters
    ----------
    nodes : tuple[Node, ...]
        One right-hand side per state.
    observables : Mapping[str, Node]
        Functions of the state by name.

    Examples
    --------
    >>> x = graph.sym("x")
    >>> ScalarField((-graph.sym("k") * x,), {"energy": x**2}).parameters == {"k", "x"}
    True
    """

    nodes: tuple[Node, ...]
    observables: Mapping[str, Node]

    @property
    def parameters(self) -> frozenset[str]:
        """All names that occur (states included)."""
        return frozenset(graph.symbols([*self.nodes, *self.observables.values()]))


@dataclass(frozen=True, eq=False)
class Segment:
    """One leaf matrix of the layout: `index[i, j]` is the state that holds its entry, `sign[i, j]` is +1, -1 or 0."""

    leaf: str
    index: np.ndarray
    sign: np.ndarray | None = None

    def fill(self, values: np.ndarray) -> np.ndarray:
        """The matrix whose entries are taken from the state vector `values`."""
        matrix: np.ndarray = values[self.index]
        if self.sign is not None:
            matrix = matrix * (self.sign.astype(object) if values.dtype == object else self.sign)
        return matrix


@dataclass(frozen=True, eq=False, repr=False)
class Layout:
    """Where each state sits: `places[k]` = (leaf, row, column) defines state k; segments say how leaves are filled."""

    names: tuple[str, ...]
    places: tuple[tuple[str, int, int], ...]
    segments: tuple[Segment, ...]

    def __repr__(self) -> str:
        leaves = some(f"{segment.leaf} {segment.index.shape}" for segment in self.segments)
        return shortened(f"<Layout: {len(self.names)} states in {leaves}>")

    def unpack(self, values: np.ndarray) -> dict[str, np.ndarray]:
        """State vector to leaf matrices."""
        return {segment.leaf: segment.fill(values) for segment in self.segments}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The place of each state in state vectors."""
        return {name: k for k, name in enumerate(self.names)}

    @cached_property
    def symbols(self) -> dict[str, np.ndarray]:
        """The leaf matrices with a symbol for each state."""
        leaves = self.unpack(np.array([graph.sym(name) for name in self.names], dtype=object))
        return {name: _as_nodes(array) for name, array in leaves.items()}

    def pack(self, leaves: Mapping[str, np.ndarray]) -> np.ndarray:
        """Leaf matrices to state vector, each state read at its defining place."""
        kind = next(iter(leaves.values())).dtype
        out = np.empty(len(self.names), dtype=kind)
        for leaf, (targets, rows, columns) in self._gather.items():
            out[targets] = leaves[leaf][rows, columns]
        return out

    @cached_property
    def _gather(self) -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        by_leaf: dict[str, list[tuple[int, int, int]]] = {}
        for k, (leaf, i, j) in enumerate(self.places):
            by_leaf.setdefault(leaf, []).append((k, i, j))
        return {
            leaf: tuple(np.array(column) for column in zip(*items, strict=True))  # type: ignore[misc]
            for leaf, items in by_leaf.items()
        }


@dataclass(frozen=True, eq=False)
class BlockField:
    """Right-hand sides as blocks, one per leaf of `layout`; observables are 1-entry blocks.

    Parameters
    ----------
    layout : Layout
        How states sit in matrices.
    rhs : Mapping[str, Block]
        A matrix of right-hand sides per leaf.
    observable_blocks : Mapping[str, Block]
        Blocks of one entry, by name.

    Examples
    --------
    >>> from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, gradient_flow
    >>> model = AttentionModel(Dictionary(["a", "b"]), [Head()])
    >>> flow = gradient_flow(model, Distribution([Sample(["a", "b"], 1)]))
    >>> flow.system.field.rhs["KQ"].shape, len(flow.system.field.nodes)
    ((2, 2), 12)
    """

    layout: Layout
    rhs: Mapping[str, Block]
    observable_blocks: Mapping[str, Block]

    @cached_property
    @gc_pause.paused()
    def _scalar(self) -> ScalarField:
        roots = [*self.rhs.values(), *self.observable_blocks.values()]
        values = self._entries(roots, self.layout.symbols)
        rhs = dict(zip(self.rhs, values, strict=False))
        rest = values[len(self.rhs) :]
        observables = {name: v.reshape(-1)[0] for name, v in zip(self.observable_blocks, rest, strict=True)}
        return ScalarField(tuple(self.layout.pack(rhs)), observables)

    @gc_pause.paused()
    def at(self, values: Sequence[Node]) -> tuple[Node, ...]:
        """Scalarised right-hand sides at expressions put in for the states, before anything is multiplied out."""
        leaves = {leaf: _as_nodes(m) for leaf, m in self.layout.unpack(np.array(values, dtype=object)).items()}
        return tuple(self.layout.pack(dict(zip(self.rhs, self._entries(list(self.rhs.values()), leaves), strict=True))))

    def _entries(self, roots: Sequence[Block], leaves: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return blocks.evaluate(roots, leaves, only=entries_needed(roots, self._wanted()))

    def _wanted(self) -> dict[int, np.ndarray]:
        """The entries of each right-hand side that are states, by the id of its block."""
        masks: dict[int, np.ndarray] = {}
        for leaf, row, column in self.layout.places:
            block = self.rhs[leaf]
            masks.setdefault(id(block), np.zeros(block.shape, dtype=bool))[row, column] = True
        return masks

    @cached_property
    def block_only(self) -> bool:
        """True if an operation (a matrix square root) has no scalar form."""
        return any(block.op == "gram_root" for block in blocks.topological(list(self.rhs.values())))

    @property
    def nodes(self) -> tuple[Node, ...]:
        """Scalarised right-hand sides."""
        return self._scalar.nodes

    @property
    def observables(self) -> Mapping[str, Node]:
        """Scalarised observables."""
        return self._scalar.observables

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the parameters in constants and functions."""
        names: set[str] = set()
        for block in blocks.topological([*self.rhs.values(), *self.observable_blocks.values()]):
            if block.op == "constant":
                names |= graph.symbols(list(block.data.flat))
            elif block.op == "apply":
                names |= graph.symbols([block.data]) - {"z"}
        return frozenset(names)


def _as_nodes(array: np.ndarray) -> np.ndarray:
    return np.asarray(np.frompyfunc(graph.as_node, 1, 1)(array), dtype=object)


Field = ScalarField | BlockField
