"""How far a proof has to look: which sums, divisors and functions may stay closed, found by residues modulo a prime.

An identity between expressions in which closed parts are free variables is a stronger statement, and a cheaper one:
``ring`` then never multiplies out what cancels as it is. Residues only choose the script; Coq does the proof.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import flint

from ..expr import graph
from ..expr.graph import Node
from ..expr.tape import Arithmetic, Tape

PRIME = 2**61 - 1
DEEPEST = 12
Combined = Callable[[Sequence[Any]], bool]


@dataclass(frozen=True)
class Twin:
    """A function at an argument that another one has, too: equal to it, or 1 minus it, with the proof."""

    node: Node
    opposite: bool
    fact: str


@dataclass(frozen=True)
class Outline:
    """Expressions, those of their parts that stay closed, and which of these are twins of others."""

    roots: tuple[Node, ...]
    closed: tuple[Node, ...]
    twins: Mapping[Node, Twin] = field(default_factory=dict)

    def residues(self) -> list[Any] | None:
        """Values at a random point modulo a prime, with a variable for each closed part; None where there are none."""
        symbols = {node: graph.sym(f"@{k}") for k, node in enumerate(self.closed)}
        for node, twin in self.twins.items():
            if node in symbols and twin.node in symbols:
                symbols[node] = 1 - symbols[twin.node] if twin.opposite else symbols[twin.node]
        memo: dict[Node, Node] = {}
        for node in self.open_nodes():
            if node in symbols:
                memo[node] = symbols[node]
            elif node.op == "mul":
                powers = (root_parts(b, e) if e.denominator > 1 else (b, e) for b, e in node.args)
                memo[node] = graph.multiply(*(graph.power(memo[base], e) for base, e in powers))
            else:
                memo[node] = graph.rebuild(node, memo.__getitem__)
        return residues([memo[root] for root in self.roots])

    def open_nodes(self) -> list[Node]:
        """Nodes that can be seen without looking into a closed one, which is listed itself; parts before wholes."""
        closed = set(self.closed)
        order: list[Node] = []
        seen: set[Node] = set()
        stack = [(root, False) for root in self.roots]
        while stack:
            node, done = stack.pop()
            if done:
                order.append(node)
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                if node not in closed:
                    stack += [(child, False) for child in _parts(node)]
        return order


def _parts(node: Node) -> list[Node]:
    """Children, where a root is one."""
    if node.op == "mul" and not is_root(node):
        return [root_parts(b, e)[0] if e.denominator > 1 else b for b, e in node.args]
    return list(graph.children(node))


def is_root(node: Node) -> bool:
    """Whether a node is a base to the power 1/q."""
    return node.op == "mul" and len(node.args) == 1 and node.args[0][1].denominator > 1 == node.args[0][1].numerator


def outlines(roots: Sequence[Node]) -> Iterator[Outline]:
    """Expressions with fewer and fewer parts closed: sums by depth, then divisors; functions and roots stay closed."""
    seen: set[frozenset[Node]] = set()
    for divisors in (False, True):
        for depth in range(DEEPEST):
            closed = _closed(roots, depth, divisors)
            key = frozenset(closed)
            if key in seen:
                continue
            seen.add(key)
            yield Outline(tuple(roots), tuple(closed))


def root_parts(base: Node, exponent: Fraction) -> tuple[Node, Fraction]:
    """A fractional power as a whole power of a root.

    >>> root_parts(graph.sym("x"), Fraction(-3, 2))[1]
    Fraction(-3, 1)
    """
    return graph.power(base, Fraction(1, exponent.denominator)), exponent * exponent.denominator


def _closed(roots: Sequence[Node], depth: int, divisors: bool) -> list[Node]:
    """Functions and roots, divisors unless they are opened, and sums in products nested deeper than `depth`."""
    closed: dict[Node, None] = {}
    level = dict.fromkeys(roots, 0)
    queue = list(level)
    for node in queue:
        below: list[tuple[Node, int]] = []
        if node.op == "add":
            below = [(term, level[node]) for _, term in node.args]
        elif node.op == "mul":
            for base, exponent in node.args:
                if exponent.denominator != 1:
                    closed[root_parts(base, exponent)[0]] = None
                elif base.op == "add" and (level[node] >= depth or (exponent < 0 and not divisors)):
                    closed[base] = None
                else:
                    below.append((base, level[node] + (base.op == "add")))
        elif node.op not in ("num", "sym"):
            closed[node] = None
        for child, deep in below:
            if child not in level:
                level[child] = deep
                queue.append(child)
    return list(closed)


def residues(roots: Sequence[Node], seed: int = 1) -> list[Any] | None:
    """Values at a random point modulo a prime; None where there is none."""
    rng = random.Random(seed)
    return at_residues(roots, {n: flint.nmod(rng.randrange(PRIME), PRIME) for n in sorted(graph.symbols(roots))})


def at_residues(roots: Sequence[Node], point: Mapping[str, Any]) -> list[Any] | None:
    """Values at a point modulo a prime; None where there are none."""
    try:
        return list(Tape.of(list(roots)).over(Arithmetic({}, _residue))(point))
    except (TypeError, ZeroDivisionError, KeyError):
        return None


def _residue(value: Any) -> Any:
    return flint.nmod(value.numerator % PRIME, PRIME) / (value.denominator % PRIME)


def functions_in(roots: Sequence[Node]) -> list[Node]:
    """Functions that are seen without looking into others."""
    return [node for node in _closed(roots, DEEPEST, True) if node.op not in ("add", "mul", "num", "sym")]


def choose(roots: Sequence[Node], agrees: Combined, twins: Mapping[Node, Twin] | None = None) -> Outline | None:
    """The outline with most parts closed in which the values still agree."""
    for each in outlines(roots):
        each = replace(each, twins=twins or {})
        values = each.residues()
        if values is not None and agrees(values):
            return each
    return None
