"""A coloured graph under construction, in which what can change sign has a vertex for each sign."""

from __future__ import annotations

from collections.abc import Hashable
from itertools import product
from math import prod
from typing import Any

from .automorphism import ColouredGraph

SIGNS = (1, -1)


class SignedGraph:
    """Collects vertices and labelled edges of a coloured graph; a key names a vertex."""

    def __init__(self) -> None:
        self.colours: list[Hashable] = []
        self.edges: list[tuple[int, int, Hashable]] = []
        self.index: dict[Hashable, int] = {}

    def vertex(self, key: Hashable, colour: Hashable) -> int:
        """A new vertex."""
        self.index[key] = len(self.colours)
        self.colours.append(colour)
        return self.index[key]

    def edge(self, a: Hashable, b: Hashable, label: Hashable) -> None:
        """An arrow from a to b."""
        self.edges.append((self.index[a], self.index[b], label))

    def signed(self, key: tuple[Any, ...], colour: Hashable, flips: bool) -> None:
        """A vertex for each sign; where the sign may not flip, the two get different colours."""
        for sign in SIGNS:
            self.vertex((*key, sign), (colour, "" if flips else str(sign)))
        self.edge((*key, 1), (*key, -1), "neg")
        self.edge((*key, -1), (*key, 1), "neg")

    def product(self, value: tuple[Any, ...], factors: list[tuple[tuple[Any, ...], Hashable]], colour: str) -> None:
        """Tie the sign of `value` to the product of the signs of `factors`, given as (key, label of its edges).

        There is one vertex for each choice of signs, 2^k of them; factors with equal labels may be exchanged.
        """
        for signs in product(SIGNS, repeat=len(factors)):
            gate = self.vertex(("product", len(self.colours)), colour)
            for (key, label), sign in zip(factors, signs, strict=True):
                self.edges.append((gate, self.index[(*key, sign)], label))
            self.edges.append((gate, self.index[(*value, prod(signs))], "value"))

    def coloured(self) -> ColouredGraph:
        """The graph as it is now."""
        return ColouredGraph(tuple(self.colours), tuple(self.edges))
