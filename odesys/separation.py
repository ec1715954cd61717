r"""Hide what an expression sees of some variables only through a sum.

.. math::  f(x, z) = h(x,\ a(x) + \varphi(z)) \quad\longrightarrow\quad h(x,\ a(x) + p), \quad p \in \varphi(Z) .

Bounding the range of :math:`\varphi` first takes the variables z out of the search over boxes. It is a relaxation only
in so far as z was tied to x by conditions.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from . import graph
from .graph import Node

HIDDEN = "hidden_"


def separate(node: Node, narrow: Collection[str] = ()) -> tuple[Node, dict[str, Node]]:
    """The expression with hidden sums replaced by new symbols, and what each new symbol stands for.

    Variables in `narrow` have almost no range, so that they may occur inside and outside of a hidden sum.

    >>> x, y, z = map(graph.sym, "xyz")
    >>> outer, parts = separate(x * graph.exp(x + y * z + z), ())
    >>> sorted(graph.symbols([outer])), parts["hidden_1"] is y * z + z
    (['hidden_1', 'x'], True)
    """
    parts: dict[str, Node] = {}
    while True:
        found = ((total, _group(node, total, set(narrow), parts)) for total in _sums(node))
        total, group = next((pair for pair in found if pair[1]), (node, ()))
        if not group:
            return node, parts
        name = f"{HIDDEN}{len(parts) + 1}"
        parts[name] = graph.combine(group)
        kept = graph.combine(term for term in total.args if term not in group)
        node = graph.substitute([node], {total: kept + graph.sym(name)})[0]


def _sums(node: Node) -> list[Node]:
    return [n for n in graph.topological([node]) if n.op == "add"]


def _group(node: Node, total: Node, narrow: set[str], hidden: Collection[str]) -> tuple[Any, ...]:
    """The terms of a sum that hold all occurrences of two or more variables and nothing else of any width."""
    private = graph.symbols([total]) - _around(node, total) - narrow - set(hidden)  # no hidden sum inside another one
    terms = [(pair, graph.symbols([pair[1]]) - narrow) for pair in total.args]
    best: tuple[tuple[Any, ...], set[str]] = ((), set())
    for seed in sorted(private):
        inside = {seed}
        while True:
            wider = inside.union(*(names for _, names in terms if names & inside))
            if wider == inside:
                break
            inside = wider
        group = tuple(pair for pair, names in terms if names & inside)
        everything = total is node and len(group) == len(terms)
        if inside <= private and len(inside) > max(1, len(best[1])) and not everything:
            best = (group, inside)
    return best[0]


def _around(node: Node, total: Node) -> set[str]:
    """The symbols an expression reaches without going through one of its sums."""
    seen, todo, found = {total}, [node], set()
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            found |= {here.args[0]} if here.op == "sym" else set()
            todo += graph.children(here)
    return found
