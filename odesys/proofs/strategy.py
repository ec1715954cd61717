"""How far a proof has to look: which sums, divisors and functions may stay closed, found by residues modulo a prime.

An identity between expressions in which closed parts are free variables is a stronger statement, and a cheaper one:
``ring`` then never multiplies out what cancels as it is. Residues only choose the script; Coq does the proof.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
class Outline:
    """Expressions and those of their parts that stay closed."""

    roots: tuple[Node, ...]
    closed: tuple[Node, ...]

    def residues(self) -> list[Any] | None:
        """Values at a random point modulo a prime, with a variable for each closed part; None where there are none."""
        return residues(close(self.roots, {node: graph.sym(f"@{k}") for k, node in enumerate(self.closed)}))

    def open_nodes(self) -> list[Node]:
        """Nodes that can be seen without looking into a closed one, which is listed itself."""
        found: dict[Node, None] = dict.fromkeys(self.roots)
        queue = list(found)
        for node in queue:
            if node in self.closed:
                continue
            if node.op == "mul":
                children = [root_parts(b, e)[0] if e.denominator > 1 else b for b, e in node.args]
            else:
                children = list(graph.children(node))
            for child in children:
                if child not in found:
                    found[child] = None
                    queue.append(child)
        return list(found)


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


def close(roots: Sequence[Node], symbols: Mapping[Node, Node]) -> list[Node]:
    """`roots` with these parts, roots among them, replaced by symbols."""
    memo: dict[Node, Node] = {}
    for node in graph.topological(roots):
        if node in symbols:
            memo[node] = symbols[node]
        elif node.op == "mul":
            parts = []
            for base, exponent in node.args:
                key, whole = root_parts(base, exponent) if exponent.denominator > 1 else (base, exponent)
                parts.append(graph.power(symbols[key] if key in symbols else memo[base], whole))
            memo[node] = graph.multiply(*parts)
        else:
            memo[node] = graph.rebuild(node, memo.__getitem__)
    return [memo[root] for root in roots]


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


def choose(roots: Sequence[Node], agrees: Combined) -> Outline | None:
    """The outline with most parts closed in which the values still agree."""
    for each in outlines(roots):
        values = each.residues()
        if values is not None and agrees(values):
            return each
    return None
