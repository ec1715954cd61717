r"""Parts of an `AttentionModel`: heads, value maps, and what stands on their left.

The value is a chain of linear maps applied to a word: a row vector :math:`w`, maps read out by a frozen vector
:math:`a^\top W W_V`, or the neurons of a ReLU layer :math:`W_O W_V` whose coordinate axes are pinned.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import ModelError
from ..expr.graph import Node, as_node, num
from .dictionary import exact_number

_FUNCTIONS = ("relu", "softmax", "gelu", "silu", "tanh", "sigmoid", "norm", "layernorm", "exp")
_MAP = re.compile(r"[A-Za-z](_?[A-Za-z0-9]+)*")


def _is_row(item: Any) -> bool:
    return isinstance(item, (tuple, list, np.ndarray))


def one_of(what: str, value: str, choices: tuple[str, ...]) -> None:
    """Refuse a choice that is not known."""
    if value not in choices:
        raise ModelError(f"the {what} {value!r} is not known; choose {' or '.join(choices)}")


def sequence(items: Any, what: str, of: str) -> tuple[Any, ...]:
    """A list of parts, as a tuple."""
    if not hasattr(items, "__iter__"):
        raise ModelError(f"{what} is a list of {of}, not {items!r}")
    return tuple(items)


def check_maps(names: tuple[str, ...], what: str) -> None:
    """Refuse names that are no maps, functions, and maps that stand twice."""
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


def scalar(value: Any, where: str) -> Node:
    """A number or parameter as a node."""
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

    Parameters
    ----------
    sign : int, optional
        +1 or -1, in front of the head.
    activation : str, optional
        ``linear`` or ``relu``, or another that `odesys` knows.
    bias : Any, optional
        Inside the activation: a number or the name of a parameter.

    Examples
    --------
    >>> Head(-1, activation="relu", bias="b").bias
    Node(b)
    """

    sign: int = 1
    activation: str = "linear"
    bias: Any = 0

    def __post_init__(self) -> None:
        if self.sign not in (1, -1):
            raise ModelError(f"a head has the sign {self.sign!r}; it is +1 or -1")
        one_of("activation", self.activation, ("linear", "relu"))
        object.__setattr__(self, "bias", scalar(self.bias, "the bias of a head"))


@dataclass(frozen=True)
class FixedVector:
    r"""A frozen output vector `a` in front of the value maps; `square` is :math:`a^\top a` (number or parameter).

    Parameters
    ----------
    name : str, optional
        What it is called.
    square : Any, optional
        Its squared length, a number or the name of a parameter.

    Examples
    --------
    >>> FixedVector("a", square="m1").square
    Node(m1)
    """

    name: str = "a"
    square: Any = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "square", scalar(self.square, f"the square of {self.name}"))
        if self.square.op == "num" and self.square.args[0] <= 0:
            raise ModelError(f"the square of {self.name} is {self.square.args[0]}; it must be positive")


@dataclass(frozen=True)
class Neurons:
    """A layer whose coordinate axes are pinned: activation on each neuron, frozen read-out weights.

    `readout` has one weight per neuron, or one row of them per token position (then the order of tokens matters).

    Parameters
    ----------
    readout : tuple[Any, ...]
        One weight per neuron, or one row of them per token position.
    activation : str, optional
        Of every neuron.

    Examples
    --------
    >>> Neurons([1, 1, -1, -1]).size
    4
    >>> Neurons([[1, -1], [1, -1], [1, -1]]).per_position
    True
    """

    readout: tuple[Any, ...]
    activation: str = "relu"

    def __post_init__(self) -> None:
        one_of("activation", self.activation, ("linear", "relu"))
        rows = [list(row) if _is_row(row) else row for row in self.readout]
        if any(_is_row(row) and not row for row in rows):
            rows = []
        if not rows or any(_is_row(row) != _is_row(rows[0]) for row in rows):
            raise ModelError("the read-out of a neuron layer is a list of weights, or one such list per token position")
        exact = tuple(
            tuple(scalar(x, "a read-out weight") for x in row) if _is_row(row) else scalar(row, "a read-out weight")
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

    Parameters
    ----------
    maps : tuple[str, ...], optional
        From left to right, ending at the words.
    output : FixedVector | Neurons, optional
        What stands on their left.

    Examples
    --------
    >>> Value().maps                                    # a trained row vector w
    ('w',)
    >>> Value(("W", "W_V"), output=FixedVector("a", square="m1")).maps
    ('W', 'W_V')
    """

    maps: tuple[str, ...] = ("w",)
    output: FixedVector | Neurons | None = None

    def __post_init__(self) -> None:
        maps = (self.maps,) if isinstance(self.maps, str) else sequence(self.maps, "the value", "names of maps")
        object.__setattr__(self, "maps", maps)
        check_maps(maps, "value")

    @property
    def rows(self) -> int:
        """Number of pinned vectors on the left."""
        return self.output.size if isinstance(self.output, Neurons) else 1
