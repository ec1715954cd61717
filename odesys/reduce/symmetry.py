r"""Symmetries of a flow, found from its data: signed permutations of words, permutations of heads, a label flip.

An element maps each sample (tokens, y) to a sample (g tokens, eps y) of the same weight and each head to a head of the
same shape, with :math:`\varsigma_{h(k)}\,\delta_k = \epsilon\,\varsigma_k`; a linear head may also change the sign
:math:`\delta` of its value. All of them are automorphisms of one coloured graph.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import numpy as np

from ..errors import SymmetryError
from ..expr import graph
from ..expr.graph import Node
from ..model.distribution import Sample
from ..model.paths import WORDS
from .automorphism import automorphisms
from .signed_graph import SignedGraph

if TYPE_CHECKING:
    from ..derive.flow import Flow
    from ..model.attention import AttentionModel
    from ..model.distribution import Distribution

Signed = tuple[int, int]
Marked = tuple[int, int, str]  # a signed word of a sample, with its position or how often it occurs
_SIGN = {1: "", -1: "-"}


class Trained(Protocol):
    """What symmetries are found from: a model and its data."""

    @property
    def model(self) -> AttentionModel: ...

    @property
    def data(self) -> Distribution: ...


@dataclass(frozen=True)
class SignedPermutation:
    """One symmetry: where each word, each head and each value row of a head goes (index, sign), and the label sign.

    >>> from fractions import Fraction
    >>> from odesys import AttentionModel, Dictionary, Distribution, Sample, gradient_flow
    >>> half = Fraction(1, 2)
    >>> pair = Distribution([Sample(["good", "the"], +1, half), Sample(["bad", "the"], -1, half)])
    >>> flow = gradient_flow(AttentionModel(Dictionary(["good", "bad", "the"])), pair)
    >>> flow.symmetries().generators[0].describe(flow)
    'good -> bad, bad -> good, value -> -value, label -> -label'
    """

    words: tuple[Signed, ...]
    heads: tuple[Signed, ...]
    rows: tuple[tuple[Signed, ...], ...]
    label: int

    def describe(self, flow: Trained) -> str:
        """Readable text, e.g. ``c1 <-> c2, v1 <-> v2`` or ``v1 -> -v1, ..., heads p <-> m, label -> -label``."""
        names = flow.model.words.words
        labels = flow.model.head_labels
        parts = [f"{names[i]} -> {_SIGN[s]}{names[j]}" for i, (j, s) in enumerate(self.words) if (j, s) != (i, 1)]
        parts += [f"head {labels[k]} -> {labels[h]}" for k, (h, _) in enumerate(self.heads) if h != k]
        for k, row in enumerate(self.rows):
            moved = [(r, j, s) for r, (j, s) in enumerate(row) if (j, s) != (r, 1)]
            if len(row) == 1:
                parts += [f"value{labels[k] and ' ' + labels[k]} -> -value" for _ in moved]
            else:
                parts += [f"neuron {labels[k]}{r + 1} -> {_SIGN[s]}{j + 1}" for r, j, s in moved]
        if self.label < 0:
            parts.append("label -> -label")
        return ", ".join(parts) or "identity"

    def on_states(self, flow: Flow) -> tuple[np.ndarray, np.ndarray]:
        """The action on state vectors: state s goes to `target[s]` with factor `sign[s]`."""
        target = np.empty(len(flow.layout.names), dtype=int)
        sign = np.empty(len(flow.layout.names), dtype=int)
        for k in range(len(flow.model.heads)):
            for path in flow.closure.paths:
                source, image = (flow.segment(path, head).index for head in (k, self.heads[k][0]))
                (li, ls), (ri, rs) = self._pin(path.left, k), self._pin(path.right, k)
                target[source] = image[np.ix_(li, ri)]
                sign[source] = np.outer(ls, rs)
        return target, sign

    def _pin(self, pin: str, head: int) -> tuple[np.ndarray, np.ndarray]:
        pairs = self.words if pin == WORDS else self.rows[head]
        return np.array([i for i, _ in pairs]), np.array([s for _, s in pairs])


class Element(Protocol):
    """A symmetry of a flow: its text, and how it acts on states."""

    def describe(self, flow: Any) -> str: ...

    def on_states(self, flow: Any) -> tuple[np.ndarray, np.ndarray]: ...


E = TypeVar("E", bound=Element)


@dataclass(frozen=True)
class SymmetryGroup(Generic[E]):
    """Generators of the group, and its exact order; `unsearched` says in words where more could be."""

    generators: tuple[E, ...]
    order: int
    unsearched: str = ""

    def describe(self, flow: Any) -> list[str]:
        """One line per generator."""
        return [g.describe(flow) for g in self.generators]


def find_symmetries(flow: Flow, state: Any = None) -> SymmetryGroup[SignedPermutation]:
    """The symmetry group of model and data, or its subgroup that fixes `state`."""
    builder = _data_graph(flow)
    if state is not None:
        _add_state(builder, flow, state)
    group = automorphisms(builder.coloured())
    generators = tuple(dict.fromkeys(_read_off(flow, builder, g) for g in group.generators))
    return SymmetryGroup(generators, group.order)


def _data_graph(flow: Trained) -> SignedGraph:
    model, build = flow.model, SignedGraph()
    for i in range(len(model.words)):
        build.signed(("word", i), "word", True)
    for y in (1, -1):
        build.vertex(("label", y), "label")
    for k, head in enumerate(model.heads):
        odd = head.activation == "linear" and head.bias is graph.ZERO
        build.signed(("head", k), f"head {head.activation} {_text(head.bias)}", odd)
        for sign in (1, -1):
            build.edge(("head", k, sign), ("label", sign * head.sign), "sign")
        for r in range(model.value.rows):
            build.signed(("row", k, r), "row", model.row_activation == "linear")
            weight, size = _readout(model.readout(), r)
            for sign in (1, -1):
                build.edge(("row", k, r, sign), ("head", k, sign * weight), f"row {size}")
    _add_gram(build, flow)
    _add_samples(build, flow)
    return build


def _text(node: Node) -> str:
    return repr(node)


def _readout(readout: np.ndarray, row: int) -> tuple[int, str]:
    """Sign and size of the read-out weights of one row, so that rows can be exchanged up to a common sign."""
    weights = list(readout[:, row]) if readout.ndim == 2 else [readout[row]]
    first = next((w for w in weights if w is not graph.ZERO), graph.ZERO)
    value = first.args[0] if first.op == "num" else (first.args[0][0] if first.op == "add" else 1)
    sign = -1 if value < 0 else 1
    return sign, ",".join(_text(w * sign) for w in weights)


def _add_gram(build: SignedGraph, flow: Trained) -> None:
    if flow.model.words.orthonormal:
        return
    gram = flow.model.words.gram_array()
    for i, j in np.ndindex(gram.shape):
        for si in (1, -1):
            for sj in (1, -1):
                entry: Any = gram[i, j]
                if entry != 0 and entry is not graph.ZERO:
                    build.edge(("word", i, si), ("word", j, sj), f"gram {entry * si * sj}")


def _add_samples(build: SignedGraph, flow: Trained) -> None:
    readout = flow.model.readout()
    ordered = readout.ndim == 2
    merged: dict[tuple[tuple[Marked, ...], int], Fraction] = {}
    for sample in flow.data.samples:
        parsed = [flow.model.words.parse(token) for token in sample.tokens]
        if ordered:
            marked = tuple((i, s, f"token {p}") for p, (i, s) in enumerate(parsed))
        else:
            marked = tuple(sorted((i, s, f"token x{count}") for (i, s), count in _totals(parsed, sample).items()))
        merged[marked, sample.label] = merged.get((marked, sample.label), Fraction(0)) + sample.weight
    for (tokens, label), weight in merged.items():
        name = ("sample", tokens, label)
        build.vertex(name, f"sample {weight}")
        build.edge(name, ("label", label), "label")
        for i, s, mark in tokens:
            build.edge(name, ("word", i, s), mark)


def _totals(parsed: Sequence[Signed], sample: Sample) -> dict[Signed, Node]:
    """How often each signed word occurs in a sample."""
    counts = sample.counts or (graph.ONE,) * len(parsed)
    return {
        token: graph.add([c for other, c in zip(parsed, counts, strict=True) if other == token])
        for token in dict.fromkeys(parsed)
    }


def checked_state(given: Any, size: int) -> tuple[np.ndarray, float]:
    """A state as a vector of floats, and the resolution at which its values are told apart."""
    try:
        state = np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise SymmetryError("the state is not a vector of numbers") from None
    if state.shape != (size,):
        raise SymmetryError(f"the state has shape {state.shape}; this flow has {size} states")
    if not np.isfinite(state).all():
        raise SymmetryError("the state has an entry that is not finite")
    return state, 1e-11 * max(1e-300, float(np.abs(state).max()))


def _add_state(build: SignedGraph, flow: Flow, given: Any) -> None:
    """Tie each non-zero path value to its head and signed ends."""
    state, unit = checked_state(given, len(flow.layout.names))
    for k in range(len(flow.model.heads)):
        for path in flow.closure.paths:
            matrix = state[flow.segment(path, k).index]
            for i, j in zip(*np.nonzero(np.abs(matrix) > unit), strict=True):
                for si in (1, -1):
                    for sj in (1, -1):
                        key = ("value", k, str(path), int(i), int(j), si, sj)
                        build.vertex(key, f"value {path} {round(matrix[i, j] * si * sj / unit)}")
                        build.edge(key, _end(path.left, k, int(i), si), "left")
                        build.edge(key, _end(path.right, k, int(j), sj), "right")
                        build.edge(key, ("head", k, 1), "head")
                        build.edge(key, ("head", k, -1), "head")


def _end(pin: str, head: int, index: int, sign: int) -> tuple[Any, ...]:
    return ("word", index, sign) if pin == WORDS else ("row", head, index, sign)


def _read_off(flow: Flow, build: SignedGraph, permutation: Sequence[int]) -> SignedPermutation:
    keys = {number: key for key, number in build.index.items()}

    def image(*key: Any) -> tuple[Any, ...]:
        return keys[permutation[build.index[key]]]  # type: ignore[return-value]

    model = flow.model
    words = tuple((image("word", i, 1)[1], image("word", i, 1)[2]) for i in range(len(model.words)))
    heads = tuple((image("head", k, 1)[1], image("head", k, 1)[2]) for k in range(len(model.heads)))
    rows = tuple(
        tuple((image("row", k, r, 1)[2], image("row", k, r, 1)[3]) for r in range(model.value.rows))
        for k in range(len(model.heads))
    )
    return SignedPermutation(words, heads, rows, image("label", 1)[1])


def is_symmetry(flow: Trained, element: SignedPermutation) -> bool:
    """Exact check that an element maps weighted samples, heads, rows and the Gram matrix to themselves."""
    build, ordered = _data_graph(flow), flow.model.readout().ndim == 2
    mapping: dict[int, int] = {}
    for key, number in build.index.items():
        try:
            mapping[number] = build.index[_moved(element, key, ordered)]
        except KeyError:
            return False
    edges = Counter(build.edges)
    moved = Counter((mapping[a], mapping[b], label) for a, b, label in build.edges)
    return edges == moved and all(build.colours[a] == build.colours[b] for a, b in mapping.items())


def _moved(element: SignedPermutation, key: Any, ordered: bool) -> Any:
    kind = key[0]
    if kind == "label":
        return ("label", key[1] * element.label)
    if kind == "row":
        image, sign = element.rows[key[1]][key[2]]
        return ("row", element.heads[key[1]][0], image, sign * key[3])
    if kind in ("word", "head"):
        image, sign = (element.words if kind == "word" else element.heads)[key[1]]
        return (kind, image, sign * key[2])
    tokens = tuple((element.words[i][0], element.words[i][1] * s, mark) for i, s, mark in key[1])
    return ("sample", tokens if ordered else tuple(sorted(tokens)), key[2] * element.label)


__all__ = ["SignedPermutation", "SymmetryGroup", "find_symmetries", "is_symmetry"]
