r"""Scalar expression graph: walking, substituting, differentiating and evaluating nodes.

The nodes themselves and their normal forms are made in `odesys.expr.nodes`, whose constructors are re-exported here.
SymPy is only an edge (`odesys.expr.sympy_bridge`); floats enter in `odesys.jit.codegen`.

>>> from odesys import ONE, ZERO, graph, sym
>>> x = sym("x")
>>> (x - 1) * (1 - x) + (x - 1) ** 2 is ZERO, x / x is ONE
(True, True)
>>> graph.gradient(graph.exp(-(x**2)), [x])
[Node(-2*x*exp(-x**2))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import stated
from . import gc_pause
from .functions import FUNCTIONS as FUNCTIONS
from .nodes import ONE as ONE
from .nodes import ZERO as ZERO
from .nodes import Node as Node
from .nodes import Number as Number
from .nodes import absolute as absolute
from .nodes import add as add
from .nodes import as_node as as_node
from .nodes import call as call
from .nodes import combine as combine
from .nodes import derivative as derivative
from .nodes import exp as exp
from .nodes import from_powers
from .nodes import linear_terms as linear_terms
from .nodes import multiply as multiply
from .nodes import num as num
from .nodes import power as power
from .nodes import power_parts as power_parts
from .nodes import relu as relu
from .nodes import scale as scale
from .nodes import sqrt as sqrt
from .nodes import step as step
from .nodes import sym as sym
from .nodes import symbolic_power as symbolic_power
from .tape import ARRAYS
from .tape import children as children
from .tape import evaluate as evaluate
from .tape import topological as topological

FLOAT_FUNCTIONS = ARRAYS.functions  #: the elementary functions of floats and arrays, for `evaluate`


def symbols(roots: Iterable[Node]) -> set[str]:
    """Names of all variables and parameters that occur.

    >>> from odesys import graph, sym
    >>> sorted(graph.symbols([sym("k") * sym("x"), sym("x") + 1]))
    ['k', 'x']
    """
    return {n.args[0] for n in topological(roots) if n.op == "sym"}


def written_leaves(node: Node) -> int:
    """How many symbols and numbers a formula has where it is written out: a shared part counts wherever it stands.

    >>> from odesys import graph, sym
    >>> shared = sym("x") + sym("y")
    >>> graph.written_leaves(graph.exp(shared) * shared)
    4
    """
    found: dict[Node, int] = {}
    for one in topological([node]):
        found[one] = sum(found[child] for child in children(one)) or 1
    return found[node]


def surfaces(roots: Iterable[Node]) -> list[Node]:
    """Arguments of all gates below `roots`, deepest first; `h` and `-h` are one surface.

    >>> from odesys import graph, sym
    >>> x = sym("x")
    >>> graph.surfaces([graph.step(x - 1) + graph.step(1 - x), graph.relu(x)])
    [Node(x - 1), Node(x)]
    """
    found: dict[Node, None] = {}
    for node in topological(roots):
        if node.op == "step" and -node.args[0] not in found:
            found[node.args[0]] = None
    return list(found)


def rebuild(node: Node, new: Callable[[Node], Node]) -> Node:
    """`node` with each child replaced by `new(child)`, normalised again.

    >>> from odesys import graph, sym
    >>> graph.rebuild(3 * sym("x"), lambda child: child**2)
    Node(3*x**2)
    """
    if node.op == "add":
        return combine((c, new(t)) for c, t in node.args)
    if node.op == "mul":
        return multiply(*(power(new(b), e) for b, e in node.args))
    if node.op in ("num", "sym"):
        return node
    return call(node.op, new(node.args[0]))


@gc_pause.paused()
def substitute(roots: Sequence[Node], mapping: Mapping[Node, Node]) -> list[Node]:
    """Replace nodes (usually symbols) simultaneously in all `roots`.

    >>> from odesys import graph, sym
    >>> x, y = sym("x"), sym("y")
    >>> graph.substitute([x - y, x * y], {x: y, y: x})
    [Node(-x + y), Node(x*y)]
    """
    memo: dict[Node, Node] = {}
    for node in topological(roots, mapping):
        if node in mapping:
            memo[node] = mapping[node]
        elif all(memo[child] is child for child in children(node)):
            memo[node] = node
        else:
            memo[node] = rebuild(node, memo.__getitem__)
    results = [memo[root] for root in roots]
    if stated.recording():
        stated.note_substitution(roots, mapping, results)
    return results


def partials(node: Node) -> list[tuple[Node, Node]]:
    """Pairs (child, derivative of node by that child), one per occurrence."""
    if node.op == "add":
        return [(t, num(c)) for c, t in node.args if t is not ONE]
    if node.op == "mul":
        out = []
        for base, exponent in node.args:
            rest = dict(node.args)
            rest[base] = exponent - 1
            out.append((base, from_powers(rest, exponent)))
        return out
    if node.op in ("num", "sym"):
        return []
    return [(node.args[0], derivative(node.op, node.args[0], node))]


def gradient(output: Node, wrt: Sequence[Node]) -> list[Node]:
    """Reverse-mode derivative of one `output` by each node of `wrt`; gates count as constants.

    >>> from odesys import graph, sym
    >>> x, y = sym("x"), sym("y")
    >>> graph.gradient(x**2 * y, [x, y])
    [Node(2*x*y), Node(x**2)]
    """
    order, asked = topological([output]), set(wrt)
    active: set[Node] = set()  # what depends on `wrt`; nothing else hands a derivative on
    for node in order:
        if node in asked or any(child in active for child in children(node)):
            active.add(node)
    adjoint: dict[Node, list[Node]] = {output: [ONE]}
    for node in reversed(order):
        if node not in adjoint:
            continue
        total = add(adjoint[node])
        adjoint[node] = [total]
        for child, slope in partials(node):
            if child in active and slope is not ZERO:
                adjoint.setdefault(child, []).append(multiply(total, slope))
    return [add(adjoint[node]) if node in adjoint else ZERO for node in wrt]


@gc_pause.paused()
def jacobian(outputs: Sequence[Node], wrt: Sequence[Node]) -> list[dict[int, Node]]:
    """Forward-mode sparse Jacobian: one row {column: derivative} per output; gates count as constants."""
    columns = {node: j for j, node in enumerate(wrt)}
    rows: dict[Node, dict[int, Node]] = {}
    for node in topological(outputs):
        if node in columns:
            rows[node] = {columns[node]: ONE}
            continue
        row: dict[int, list[Node]] = {}
        for child, slope in partials(node):
            if slope is ZERO:
                continue
            for j, inner in rows[child].items():
                row.setdefault(j, []).append(multiply(slope, inner))
        merged = ((j, add(terms)) for j, terms in row.items())
        rows[node] = {j: value for j, value in merged if value is not ZERO}
    return [rows[output] for output in outputs]
