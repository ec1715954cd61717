r"""Populations of Gaussian tokens: every coefficient of a token is a polynomial in independent standard normals.

In-context linear regression, for example, has the task :math:`w \sim N(0, I_d)`, inputs :math:`x_i \sim N(0, I_d)`, the
tokens :math:`(x_i, \langle w, x_i\rangle)` for i = 1, ..., N, the query :math:`(x_q, 0)` and the target
:math:`\langle w, x_q\rangle`. The words are the coordinate axes; the mean of a loss that is polynomial in the tokens is
exact, by Wick's rule.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import DistributionError
from ..expr import graph
from ..expr.blocks import Block
from ..expr.graph import Node, add, sym
from . import expanded
from .data import Data, _coefficient, coordinates
from .spaces import Words

_MARK = "~"  # normals are renamed, so that a parameter of the program can have any name


class Gaussian(Data):
    """A random sample: tokens and target in symbols, each symbol an independent standard normal.

    Parameters
    ----------
    words : Words
        Orthonormal words, the axes of the tokens.
    tokens : Sequence[Any]
        As in `Data`, words, coordinates or ``{word: coefficient}``; coefficients are SymPy expressions, nodes, or the
        name of a symbol.
    target : Any
        A number, an expression in the same symbols, or several of them for a vector.
    parameters : str | Sequence[str], optional
        Symbols that are no normals, such as a standard deviation, separated by blanks.

    Examples
    --------
    >>> from odesys import Gaussian, Words, gradient_flow, maps, squared, sym
    >>> words = Words("a b")
    >>> w, x, y = maps("w", 1, words), sym("x"), sym("y")
    >>> data = Gaussian(words, [{"a": x, "b": x + sym("s") * y}], target=3 * x, parameters="s")
    >>> data.normals
    ('x', 'y')
    >>> gradient_flow(lambda X: w @ X[0], data, squared).system.equations["w_a"]
    Node(-w_a - w_b + 3)
    """

    normals: tuple[str, ...]

    def __init__(self, words: Words, tokens: Sequence[Any], target: Any, parameters: str | Sequence[str] = ()) -> None:
        if not isinstance(words, Words):
            raise DistributionError(f"Gaussian(words, tokens, target) begins with the Words, not with {words!r}")
        if isinstance(tokens, (str, Mapping)) or not hasattr(tokens, "__iter__") or not list(tokens):
            raise DistributionError(f"tokens are a list such as [{{'x1': sym('a'), 'y': sym('b')}}], not {tokens!r}")
        if not words.pinned.orthonormal:
            raise DistributionError("Gaussian tokens are combinations of orthonormal words; leave gram out")
        kept = set(parameters.split() if isinstance(parameters, str) else map(str, parameters))
        rows = [coordinates(words, token) for token in tokens]
        found = graph.symbols([*(value for row in rows for value in row.values()), *_entries(target)])
        unused = sorted(kept - found)
        if unused:
            raise DistributionError(f"parameters has {unused[0]}, which is in no token and not in the target")
        normals = tuple(sorted(found - kept))
        if not normals:
            raise DistributionError("no symbol is left to be a normal; samples without randomness are Data(words, ...)")
        marked = {sym(name): sym(_MARK + name) for name in normals}
        named = [{words.pinned.words[place]: _renamed(value, marked) for place, value in row.items()} for row in rows]
        super().__init__(words, [(named, _renamed(target, marked))])
        object.__setattr__(self, "normals", normals)

    @classmethod
    def regression(cls, dimension: int, examples: int) -> Gaussian:
        """In-context linear regression: so many examples (x, <w, x>) and a query, in words x1, ..., xd and y.

        >>> from odesys import Gaussian
        >>> data = Gaussian.regression(2, 3)
        >>> data.words, len(data.samples[0].tokens), len(data.normals)
        (Words(x1 x2 y), 4, 10)
        """
        for what, value in (("dimension", dimension), ("examples", examples)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise DistributionError(f"{what}={value!r} is a whole number above 0")
        axes = [f"x{a + 1}" for a in range(dimension)]
        task = [sym(f"w{a + 1}") for a in range(dimension)]
        inputs = [[sym(f"x{i + 1}_{a + 1}") for a in range(dimension)] for i in range(examples)]
        query = [sym(f"q{a + 1}") for a in range(dimension)]
        tokens = [{**dict(zip(axes, x, strict=True)), "y": _inner(task, x)} for x in inputs]
        return cls(Words([*axes, "y"]), [*tokens, dict(zip(axes, query, strict=True))], _inner(task, query))

    def __repr__(self) -> str:
        return f"Gaussian({len(self.samples[0].tokens)} tokens in {len(self.normals)} normals)"

    @property
    def parameters(self) -> set[str]:
        """Names of the parameters among the coefficients."""
        return {name for name in super().parameters if not name.startswith(_MARK)}

    def mean(self, block: Block) -> Block:
        """The mean of a block over all normals."""
        return expanded.mean(block, [_MARK + name for name in self.normals])


def _inner(left: Sequence[Node], right: Sequence[Node]) -> Node:
    return add(a * b for a, b in zip(left, right, strict=True))


def _entries(target: Any) -> list[Node]:
    """All expressions in a target."""
    if isinstance(target, (tuple, list, np.ndarray)):
        return [node for entry in target for node in _entries(entry)]
    return [_coefficient(target)]


def _renamed(value: Any, marked: Mapping[Node, Node]) -> Any:
    if isinstance(value, (tuple, list, np.ndarray)):
        return tuple(_renamed(entry, marked) for entry in value)
    if isinstance(value, (int, np.integer)):
        return value  # a class stays one
    (node,) = graph.substitute([_coefficient(value)], marked)
    return node


__all__ = ["Gaussian"]
