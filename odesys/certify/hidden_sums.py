r"""Hide what an expression sees of some variables only through sums.

.. math::  f(x, z) = h(x,\ a(x) + \varphi(z),\ b(x) + \psi(z)) \quad\longrightarrow\quad h(x,\ a(x) + p,\ b(x) + q),
           \qquad p \in \varphi(Z),\ q \in \psi(Z) .

Bounding the ranges of :math:`\varphi, \psi` first takes the variables z out of the search over boxes. It is a
relaxation: p and q forget each other, and conditions that tie z to x.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ..expr import graph
from ..expr.graph import ONE, ZERO, Node, Number

HIDDEN = "hidden_"


def factored(node: Node) -> Node:
    """The same expression as a product with a logistic function, where it is linear in one and has no other term."""
    for inner in (n for n in graph.topological([node]) if n.op == "sigmoid"):
        mark = graph.sym(f"{HIDDEN}factor")
        marked = graph.substitute([node], {inner: mark})[0]
        slope = graph.gradient(marked, [mark])[0]
        if mark.args[0] in graph.symbols([slope]) or graph.substitute([marked], {mark: ZERO})[0] is not ZERO:
            continue
        return graph.multiply(inner, slope)
    return node


def separate(node: Node, narrow: Collection[str] = (), coarse: bool = False) -> tuple[Node, dict[str, Node]]:
    """The expression with hidden sums replaced by new symbols, and what each new symbol stands for.

    Variables in `narrow` have almost no range, so that they may occur inside and outside of a hidden sum. The largest
    set of variables that belong together stays in view, unless `coarse` hides all of them.

    >>> x, y, z = map(graph.sym, "xyz")
    >>> outer, parts = separate(x * graph.exp(x + y * z + z), ())
    >>> sorted(graph.symbols([outer])), parts["hidden_1"] is y * z + z
    (['hidden_1', 'x'], True)
    """
    parts: dict[str, Node] = {}
    node, thin = factored(node), set(narrow)
    sets = [names for names in _candidates(node, thin) if _pure(node, names, thin)]
    for names in sets if coarse else sets[1:] or [s for s in sets if s < graph.symbols([node]) - thin]:
        found = _pure(node, names, thin)
        replaced: dict[Node, Node] = {}
        for total, group in found.items():
            name = f"{HIDDEN}{len(parts) + 1}"
            parts[name] = graph.combine(group)
            replaced[total] = graph.combine(term for term in total.args if term not in group) + graph.sym(name)
        node = graph.substitute([node], replaced)[0]
    return node, parts


def _candidates(node: Node, narrow: set[str]) -> Iterator[frozenset[str]]:
    """Sets of variables that terms of a sum tie together, the largest first."""
    found: set[frozenset[str]] = set()
    for total in (n for n in graph.topological([node]) if n.op == "add"):
        sets = [names for _, term in total.args if (names := graph.symbols([term]) - narrow)]
        while sets:
            group = sets.pop()
            while touching := [names for names in sets if names & group]:
                group = group.union(*touching)
                sets = [names for names in sets if not names & group]
            found.add(frozenset(group))
    yield from sorted(found, key=lambda group: (-len(group), sorted(group)))


def _pure(node: Node, names: frozenset[str], narrow: set[str]) -> dict[Node, tuple[tuple[Number, Node], ...]]:
    """Per sum the terms of these variables alone; empty unless they hold all occurrences and are fewer than them."""
    groups: dict[Node, tuple[tuple[Number, Node], ...]] = {}
    seen: set[Node] = set()
    todo = [node]
    while todo:
        here = todo.pop()
        if here in seen:
            continue
        seen.add(here)
        if here.op == "sym" and here.args[0] in names:
            return {}
        below = list(graph.children(here))
        if here.op == "add":
            group = tuple(
                pair
                for pair in here.args
                if (inside := graph.symbols([pair[1]]) - narrow) and inside <= names and pair[1] is not ONE
            )
            if group and not (here is node and len(group) == len(here.args)):
                groups[here] = group
                below = [term for pair in here.args if pair not in group for term in (pair[1],)]
        todo += below
    return groups if len(groups) < len(names) else {}
