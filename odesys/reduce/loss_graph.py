r"""The scalar graph of a loss on a signed double cover, for the search of symmetries.

Every scalar has a vertex for each of its signs. What an operation does to signs is all that is written down, once for
sums, products, powers and functions, so that no layer or loss needs a rule of its own:

.. math::  \textstyle\sum_i c_i t_i:\ |c_i| \to t_i^{\operatorname{sgn} c_i}, \qquad
           \prod_i b_i^{e_i}:\ \text{the product of the signs with odd } e_i, \qquad
           e^{a}, f(a):\ \text{tied to the signed argument.}

Numeric factors are taken out of every scalar and put on the edge to it: a normal form that begins with coefficient one
would tell 2x + 3y from 2y + 3x.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from ..expr import graph
from ..expr.functions import FUNCTIONS
from ..expr.graph import ONE, Node, Number
from .signed_graph import SIGNS, SignedGraph

EVEN = frozenset(("cos", "cosh"))
MOST_SIGNS = 6  # factors of a product whose signs are followed; in a longer one they are kept


@dataclass(frozen=True)
class Scalar:
    """A scalar as sign times size times a shape, which is a number: equal shapes are equal expressions."""

    sign: int
    size: Number
    shape: int


@dataclass(frozen=True)
class _Shape:
    """What a shape is made of: (sign or 0 for both, label, shape) of its parts, and factors whose signs multiply."""

    kind: Hashable
    parts: frozenset[tuple[int, Hashable, int]] = frozenset()
    factors: tuple[tuple[Hashable, int], ...] = ()
    follows: bool = False  # the sign of the scalar is that of its parts
    rigid: bool = True  # the sign can not flip


class LossGraph:
    """Shapes of all scalars below a loss; equal ones have one number. `states` are the symbols that may be moved."""

    def __init__(self, states: Container[str]) -> None:
        self.states = states
        self.shapes: list[_Shape] = []
        self.numbers: dict[_Shape, int] = {}
        self.known: dict[Node, Scalar] = {}

    def scalar(self, root: Node) -> Scalar:
        """The scalar of an expression."""
        for node in graph.topological([root]):
            if node not in self.known:
                self.known[node] = self._read(node)
        return self.known[root]

    def _shape(self, shape: _Shape) -> int:
        if shape not in self.numbers:
            self.numbers[shape] = len(self.shapes)
            self.shapes.append(shape)
        return self.numbers[shape]

    def _read(self, node: Node) -> Scalar:
        if node.op == "num":
            value = node.args[0]
            return Scalar(-1 if value < 0 else 1, abs(value), self._shape(_Shape("one")))
        if node.op == "sym":
            moved = node.args[0] in self.states
            return Scalar(
                1, _one(), self._shape(_Shape(("state" if moved else "parameter", node.args[0]), rigid=not moved))
            )
        if node.op == "add":
            return self._sum(node)
        return self._product(node) if node.op in ("mul", "exp") else self._function(node)

    def _sum(self, node: Node) -> Scalar:
        terms = []
        for c, t in node.args:
            if t not in self.known:  # the number one, which is no child
                self.known[t] = self._read(t)
            term = self.known[t]
            terms.append((term.sign * (-1 if c < 0 else 1), abs(c) * term.size, term.shape))
        if len(terms) == 1:
            return Scalar(*terms[0])
        largest = max(size for _, size, _ in terms) or _one()
        merged: dict[int, Number] = {}  # shapes may be equal where nodes are not, as tanh(x) and tanh(-x)
        for sign, size, shape in terms:
            merged[shape] = merged.get(shape, 0) + sign * size / largest
        first = -1 if merged[terms[0][2]] < 0 else 1
        parts = frozenset((first if c > 0 else -first, abs(c), shape) for shape, c in merged.items() if c)
        one = self._shape(_Shape("one"))
        alike = len({sign for sign, _, _ in parts}) == 1
        rigid = any(s == one for _, _, s in parts) or (alike and all(self.shapes[s].rigid for _, _, s in parts))
        return Scalar(first, largest, self._shape(_Shape("sum", parts, follows=True, rigid=rigid)))

    def _product(self, node: Node) -> Scalar:
        sign, size = 1, _one()
        parts: set[tuple[int, Hashable, int]] = set()
        signed: list[tuple[Hashable, int]] = []
        constants: list[Hashable] = []
        for b, e in node.args if node.op == "mul" else ((node, 1),):
            if b.op == "exp":
                argument = self.known[b.args[0]]
                parts.add((argument.sign * (-1 if e < 0 else 1), ("exp", abs(e) * argument.size), argument.shape))
                continue
            base = self.known[b]
            if b.op == "num":
                constants.append((repr(b.args[0]), str(e)))
            elif e.denominator != 1:
                parts.add((base.sign, ("power", str(e), base.size), base.shape))
            elif e % 2 == 0:
                size = size * base.size ** int(e)
                parts.add((0, ("power", int(e)), base.shape))
            else:
                sign, size = sign * base.sign, size * base.size ** int(e)
                signed.append((("power", int(e)), base.shape))
        flexible = [factor for factor in signed if not self.shapes[factor[1]].rigid]
        kept = signed if len(flexible) > MOST_SIGNS else [factor for factor in signed if factor not in flexible]
        parts |= {(1, label, shape) for label, shape in kept}
        factors = tuple(sorted((f for f in signed if f not in kept), key=repr))
        shape = _Shape(("product", *sorted(constants, key=repr)), frozenset(parts), factors, rigid=not factors)
        return Scalar(sign, size, self._shape(shape))

    def _function(self, node: Node) -> Scalar:
        argument = self.known[node.args[0]]
        label = () if node.op == "step" else (argument.size,)  # a gate does not see the size of its argument
        if FUNCTIONS[node.op].odd:
            rigid = self.shapes[argument.shape].rigid
            part = frozenset({(1, label, argument.shape)})
            return Scalar(argument.sign, _one(), self._shape(_Shape(node.op, part, follows=True, rigid=rigid)))
        part = frozenset({(0 if node.op in EVEN else argument.sign, label, argument.shape)})
        return Scalar(1, _one(), self._shape(_Shape(node.op, part)))

    def write(self, build: SignedGraph, root: Node, states: dict[str, tuple[Any, ...]]) -> None:
        """Add all scalars below `root` to a graph; `states` are the keys of the signed vertices of states there."""
        top, keys = self.scalar(root), self.add_scalars(build, [root], states)
        build.vertex("loss", "loss")
        build.edge("loss", (*keys[top.shape], top.sign), "is")

    def add_scalars(
        self, build: SignedGraph, roots: Sequence[Node], states: dict[str, tuple[Any, ...]]
    ) -> dict[int, tuple[Any, ...]]:
        """Add all scalars below some expressions, and give the key of each shape."""
        keys: dict[int, tuple[Any, ...]] = {}
        for number in self._below([self.scalar(root).shape for root in roots]):
            shape = self.shapes[number]
            kind = shape.kind
            if isinstance(kind, tuple) and kind[0] == "state":
                keys[number] = states[kind[1]]
                continue
            keys[number] = ("scalar", number)
            build.signed(keys[number], ("scalar", kind), not shape.rigid)
            for sign, label, part in shape.parts:
                for own in SIGNS:
                    for s in SIGNS if sign == 0 else (sign * own if shape.follows else sign,):
                        build.edge((*keys[number], own), (*keys[part], s), label)
            if shape.factors:
                build.product(keys[number], [(keys[part], label) for label, part in shape.factors], "product")
        return keys

    def _below(self, tops: Sequence[int]) -> list[int]:
        wanted = set(tops)
        for number in range(max(tops, default=-1), -1, -1):  # parts have smaller numbers
            if number in wanted:
                shape = self.shapes[number]
                wanted |= {part for _, _, part in shape.parts} | {part for _, part in shape.factors}
        return sorted(wanted)


def _one() -> Number:
    value: Number = ONE.args[0]
    return value
