r"""Attention models: heads, value maps, what is pinned, and how a sample is read.

.. math::
    f(X) = \sum_{\text{heads}} \varsigma\,\sigma\Big(\mathrm{pool}_l\ \sum_i a_i\,\varphi\big(
           \sum_h u_i(x_h)\,p_{lh}\big) + b\Big), \qquad
    p_{l\cdot} = \mathrm{softmax}_h\big(\text{scale}\cdot x_h^\top W_K^\top W_Q\, x_l\big),

where :math:`u` is a chain of linear maps applied to a word: a row vector :math:`w`, maps read out by a frozen vector
:math:`a^\top W W_V`, or the neurons of a ReLU layer :math:`W_O W_V` whose coordinate axes are pinned.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr.graph import ONE, Node, as_node, num
from .dictionary import Dictionary, exact_number

_FUNCTIONS = ("relu", "softmax", "gelu", "silu", "tanh", "sigmoid", "norm", "layernorm", "exp")
_MAP = re.compile(r"[A-Za-z](_?[A-Za-z0-9]+)*")


def _is_row(item: Any) -> bool:
    return isinstance(item, (tuple, list, np.ndarray))


def _one_of(what: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise ModelError(f"the {what} {value!r} is not known; choose {' or '.join(choices)}")


def _sequence(items: Any, what: str, of: str) -> tuple[Any, ...]:
    if not hasattr(items, "__iter__"):
        raise ModelError(f"{what} is a list of {of}, not {items!r}")
    return tuple(items)


def _check_maps(names: tuple[str, ...], what: str) -> None:
    if not names:
        raise ModelError(f"the {what} needs at least one map")
    for name in names:
        if not isinstance(name, str) or not _MAP.fullmatch(name):
            raise ModelError(f"{name!r} is not the name of a map: use letters, digits and underscores, as in W_K")
        if name.lower() in _FUNCTIONS:
            raise ModelError(
                f"{name} in the {what} {'.'.join(names)} is a function, and a chain has linear maps only; write the "
                f"model as a program, e.g. lambda X: V @ relu(W @ X[0])"
            )
    if len(set(names)) != len(names):
        raise ModelError(f"a map stands twice in the {what} {'.'.join(names)}; each map once")


def _scalar(value: Any, where: str) -> Node:
    if isinstance(value, Node):
        return value
    if isinstance(value, str):
        return as_node(value)
    if hasattr(value, "free_symbols") and not getattr(value, "is_Rational", False):
        return as_node(value)
    return num(exact_number(value, where, ModelError))


@dataclass(frozen=True)
class Head:
    """One attention head: sign in front, activation on the pooled output, bias inside the activation.

    `bias` is a number or the name of a parameter.

    >>> Head(-1, activation="relu", bias="b").bias
    Node(b)
    """

    sign: int = 1
    activation: str = "linear"
    bias: Any = 0

    def __post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise ModelError(f"a head has the sign {self.sign!r}; it is +1 or -1")
        _one_of("activation", self.activation, ("linear", "relu"))
        object.__setattr__(self, "bias", _scalar(self.bias, "the bias of a head"))


@dataclass(frozen=True)
class FixedVector:
    r"""A frozen output vector `a` in front of the value maps; `square` is :math:`a^\top a` (number or parameter).

    >>> FixedVector("a", square="m1").square
    Node(m1)
    """

    name: str = "a"
    square: Any = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "square", _scalar(self.square, f"the square of {self.name}"))
        if self.square.op == "num" and self.square.args[0] <= 0:
            raise ModelError(f"the square of {self.name} is {self.square.args[0]}; it must be positive")


@dataclass(frozen=True)
class Neurons:
    """A layer whose coordinate axes are pinned: activation on each neuron, frozen read-out weights.

    `readout` has one weight per neuron, or one row of them per token position (then the order of tokens matters).

    >>> Neurons([1, 1, -1, -1]).size
    4
    >>> Neurons([[1, -1], [1, -1], [1, -1]]).per_position
    True
    """

    readout: tuple[Any, ...]
    activation: str = "relu"

    def __post_init__(self) -> None:
        _one_of("activation", self.activation, ("linear", "relu"))
        rows = [list(row) if _is_row(row) else row for row in self.readout]
        if any(_is_row(row) and not row for row in rows):
            rows = []
        if not rows or any(_is_row(row) != _is_row(rows[0]) for row in rows):
            raise ModelError("the read-out of a neuron layer is a list of weights, or one such list per token position")
        exact = tuple(
            tuple(_scalar(x, "a read-out weight") for x in row) if _is_row(row) else _scalar(row, "a read-out weight")
            for row in rows
        )
        if self.per_position and len({len(row) for row in rows}) != 1:
            raise ModelError("the read-out rows of a neuron layer differ in length")
        object.__setattr__(self, "readout", exact)

    @property
    def per_position(self) -> bool:
        """True if each token position has read-out weights of its own."""
        return _is_row(self.readout[0])

    @property
    def size(self) -> int:
        """Number of neurons."""
        return len(self.readout[0]) if self.per_position else len(self.readout)


@dataclass(frozen=True)
class Value:
    """The maps from words to the value, left to right, ending at the words; and what stands on their left.

    >>> Value().maps                                    # a trained row vector w
    ('w',)
    >>> Value(("W", "W_V"), output=FixedVector("a", square="m1")).maps
    ('W', 'W_V')
    """

    maps: tuple[str, ...] = ("w",)
    output: FixedVector | Neurons | None = None

    def __post_init__(self) -> None:
        maps = (self.maps,) if isinstance(self.maps, str) else _sequence(self.maps, "the value", "names of maps")
        object.__setattr__(self, "maps", maps)
        _check_maps(maps, "value")

    @property
    def rows(self) -> int:
        """Number of pinned vectors on the left."""
        return self.output.size if isinstance(self.output, Neurons) else 1


@dataclass(frozen=True)
class AttentionModel:
    """Heads of one shape over one dictionary; each head has weights of its own.

    Parameters
    ----------
    words : the dictionary, or `Words`.
    heads : their signs, activations and biases.
    value : value maps, the same shape in every head.
    score : maps between key word and query word; a trailing ``'`` is a transpose.
    pooling : ``sum`` or ``mean`` over the query positions.
    scale : factor of the scores inside the softmax (number, SymPy expression such as 1/sqrt(m), or parameter name).

    >>> model = AttentionModel(Dictionary(["good", "bad"]), heads=[Head(+1, "relu"), Head(-1, "relu")])
    >>> model.weights, model.head_labels
    (('w', 'W_K', 'W_Q'), ('p', 'm'))
    """

    words: Dictionary
    heads: tuple[Head, ...]
    value: Value = Value()
    score: tuple[str, ...] = ("W_K'", "W_Q")
    pooling: str = "sum"
    scale: Any = 1

    def __init__(
        self,
        words: Any,
        heads: Sequence[Head] = (Head(),),
        value: Value | Sequence[str] = ("w",),
        score: Sequence[str] = ("W_K'", "W_Q"),
        pooling: str = "sum",
        scale: Any = 1,
    ) -> None:
        words = getattr(words, "pinned", words)  # the Words of a program have a dictionary
        if not isinstance(words, Dictionary):
            raise ModelError(f"a model needs a Dictionary, got {type(words).__name__}")
        heads = (heads,) if isinstance(heads, Head) else _sequence(heads, "heads", "Head objects")
        if not heads or any(not isinstance(head, Head) for head in heads):
            raise ModelError("a model needs at least one Head")
        _one_of("pooling", pooling, ("sum", "mean"))
        value = value if isinstance(value, Value) else Value(value)  # type: ignore[arg-type]
        score = _sequence(score, "the score", "names of maps")
        _check_maps(tuple(n.removesuffix("'") if isinstance(n, str) else n for n in score), "score")
        maps = (*value.maps, *(name.removesuffix("'") for name in score))
        if isinstance(value.output, FixedVector) and value.output.name in maps:
            raise ModelError(f"{value.output.name} is the output vector and a map; give one of them another name")
        shared = set(value.maps) & {name.removesuffix("'") for name in score}
        if shared:
            raise ModelError(f"the map {sorted(shared)[0]} stands in the value and in the score; each map once")
        for name, item in (
            ("words", words),
            ("heads", heads),
            ("value", value),
            ("score", tuple(score)),
            ("pooling", pooling),
            ("scale", _scalar(scale, "the score scale")),
        ):
            object.__setattr__(self, name, item)

    @property
    def weights(self) -> tuple[str, ...]:
        """Names of all maps that can be trained."""
        return self.value.maps + tuple(name.removesuffix("'") for name in self.score)

    @property
    def head_labels(self) -> tuple[str, ...]:
        """Short names of the heads: p and m for one head of each sign, nothing for one head, else h1, h2, ..."""
        if len(self.heads) == 1:
            return ("",)
        signs = [head.sign for head in self.heads]
        if len(signs) == 2 and set(signs) == {1, -1}:
            return tuple("p" if sign > 0 else "m" for sign in signs)
        return tuple(f"h{i + 1}" for i in range(len(signs)))

    def head_index(self, label: str | int) -> int:
        """Position of a head given as ``"+"``, ``"-"``, its label or its number from 0."""
        labels = self.head_labels
        key = {"+": "p", "-": "m"}.get(str(label), str(label))
        if key in labels:
            return labels.index(key)
        if isinstance(label, int) and 0 <= label < len(labels):
            return label
        raise ModelError(f"there is no head {label!r}; the heads are {', '.join(x or '0' for x in labels)}")

    def readout(self) -> np.ndarray:
        """Read-out weights as nodes, shape (rows,) or (positions, rows)."""
        output = self.value.output
        return np.array(output.readout if isinstance(output, Neurons) else [ONE], dtype=object)

    @property
    def row_activation(self) -> str:
        """Activation on each value row before it is read out."""
        return self.value.output.activation if isinstance(self.value.output, Neurons) else "linear"
