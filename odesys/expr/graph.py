r"""Scalar expression graph: walking, substituting, differentiating and evaluating nodes.

The nodes themselves and their normal forms are made in `odesys.expr.nodes`, whose constructors are re-exported here.
SymPy is only an edge (`odesys.expr.sympy_bridge`); floats enter in `odesys.jit.codegen`.

>>> x = sym("x")
>>> (x - 1) * (1 - x) + (x - 1) ** 2 is ZERO, x / x is ONE
(True, True)
>>> gradient(exp(-(x**2)), [x])
[Node(-2*x*exp(-x**2))]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from . import gc_pause
from .functions import FUNCTIONS
from .nodes import (
    ONE,
    ZERO,
    Node,
    Number,
    absolute,
    add,
    as_node,
    call,
    combine,
    derivative,
    exp,
    from_powers,
    linear_terms,
    multiply,
    num,
    power,
    power_parts,
    relu,
    scale,
    sqrt,
    step,
    sym,
    symbolic_power,
)
from .tape import children, evaluate, topological

__all__ = [
    "FUNCTIONS",
    "ONE",
    "ZERO",
    "Node",
    "Number",
    "absolute",
    "add",
    "as_node",
    "call",
    "children",
    "combine",
    "derivative",
    "evaluate",
    "exp",
    "gradient",
    "jacobian",
    "linear_terms",
    "multiply",
    "num",
    "partials",
    "power",
    "power_parts",
    "rebuild",
    "relu",
    "scale",
    "sqrt",
    "step",
    "substitute",
    "surfaces",
    "sym",
    "symbolic_power",
    "symbols",
    "topological",
]


def symbols(roots: Iterable[Node]) -> set[str]:
    """Names of all variables and parameters that occur."""
    return {n.args[0] for n in topological(roots) if n.op == "sym"}


def surfaces(roots: Iterable[Node]) -> list[Node]:
    """Arguments of all gates below `roots`, deepest first; `h` and `-h` are one surface."""
    found: dict[Node, None] = {}
    for node in topological(roots):
        if node.op == "step" and -node.args[0] not in found:
            found[node.args[0]] = None
    return list(found)


def rebuild(node: Node, new: Callable[[Node], Node]) -> Node:
    """`node` with each child replaced by `new(child)`, normalised again."""
    if node.op == "add":
        return combine((c, new(t)) for c, t in node.args)
    if node.op == "mul":
        return multiply(*(power(new(b), e) for b, e in node.args))
    if node.op in ("num", "sym"):
        return node
    return call(node.op, new(node.args[0]))


@gc_pause.paused()
def substitute(roots: Sequence[Node], mapping: Mapping[Node, Node]) -> list[Node]:
    """Replace nodes (usually symbols) simultaneously in all `roots`."""
    memo: dict[Node, Node] = {}
    for node in topological(roots):
        memo[node] = mapping[node] if node in mapping else rebuild(node, memo.__getitem__)
    return [memo[root] for root in roots]


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
    """Reverse-mode derivative of one `output` by each node of `wrt`; gates count as constants."""
    adjoint: dict[Node, list[Node]] = {output: [ONE]}
    for node in reversed(topological([output])):
        if node not in adjoint:
            continue
        total = add(adjoint[node])
        adjoint[node] = [total]
        for child, slope in partials(node):
            if slope is not ZERO:
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
