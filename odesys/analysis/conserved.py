"""How a quantity changes along a system, and whether it is conserved: a proof, or a point where it changes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..exact.zero import ZeroResult, zero_test
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System
from ..reading.grammar import Grammar


def lie_derivative(system: System, node: Any) -> Node:
    r"""Change of a quantity along the system.

    .. math::  \nabla I \cdot F + \partial_t I \quad\text{for a flow}, \qquad I(F(x)) - I(x) \quad\text{for a map.}

    Gates count as constants, so the answer is about motion between switching surfaces; a quantity that jumps there
    needs more.

    Parameters
    ----------
    system : System
        A flow or a map.
    node : Any
        The quantity: a node, a SymPy expression or text.

    Returns
    -------
    Node
        The rate of change, or for a map the change in one step.

    Examples
    --------
    >>> from odesys import System, lie_derivative, sym
    >>> x, y = sym("x"), sym("y")
    >>> lie_derivative(System.from_equations({"x": y, "y": -x}), x**2 + y**2)
    Node(0)
    """
    node = _quantity(system, node)
    used = graph.symbols([node])
    unknown = sorted(used - {*system.names, *system.parameters, TIME})
    if unknown:
        raise EquationError(f"the quantity uses {unknown[0]}, which is neither a state nor a parameter of the system")
    moving = [(graph.sym(name), rhs) for name, rhs in system.equations.items() if name in used]
    if system.kind == "map":
        if TIME in used:
            raise EquationError("a map has no time t; write the conserved quantity in the states and parameters")
        return graph.add([graph.substitute([node], dict(moving))[0], -node])
    if TIME in used:
        moving.append((graph.sym(TIME), graph.ONE))
    slopes = graph.gradient(node, [symbol for symbol, _ in moving])
    return graph.add(graph.multiply(slope, rhs) for slope, (_, rhs) in zip(slopes, moving, strict=True))


def check_integral(system: System, expression: Any, positive: Collection[str] = (), seed: int = 0) -> ZeroResult:
    """Whether a supplied quantity is conserved: ``zero`` is a proof, ``nonzero`` has a point where it changes.

    A quantity with gates of its own must not jump where the flow crosses their surfaces.

    Parameters
    ----------
    system : System
        A flow or a map.
    expression : Any
        The quantity: a node, a SymPy expression or text.
    positive : Collection[str], optional
        Names taken to be positive.
    seed : int, optional
        Of the points tried as witnesses.

    Returns
    -------
    ZeroResult
        Answer ``zero``, ``nonzero`` or ``undecided``, with a point or what is left over.

    Examples
    --------
    >>> from odesys import System, graph, sym
    >>> sign = graph.step(sym("x")) - graph.step(-sym("x"))
    >>> check_integral(System.from_equations({"x": 1}), sign).answer
    'nonzero'
    """
    node = _quantity(system, expression)
    between = zero_test(lie_derivative(system, node), positive, seed)
    if between.answer != "zero" or system.kind == "map":
        return between
    for surface in graph.surfaces([node]):
        jump = _jump(system, node, surface, positive, seed)
        if jump is not None:
            return jump
    return between


def _quantity(system: System, given: Any) -> Node:
    """A quantity as an expression; text is read by the grammar, unless it is a name as it stands."""
    if isinstance(given, str) and given not in (*system.names, *system.parameters):
        return Grammar(states=system.names).read(given)
    return graph.as_node(given)


def _jump(system: System, node: Node, surface: Node, positive: Collection[str], seed: int) -> ZeroResult | None:
    """None if a quantity does not jump at a surface; otherwise where it does, or that this is not known."""

    def side(value: int, roots: Sequence[Node]) -> list[Node]:
        gates = {graph.step(surface): graph.num(value), graph.step(-surface): graph.num(1 - value)}
        return graph.substitute(roots, gates)

    (above,), (below,) = side(1, [node]), side(0, [node])
    gap = above - below
    if gap is graph.ZERO:
        return None
    onto = None  # the surface, solved for a state
    for name in system.names:
        (slope,) = graph.gradient(surface, [graph.sym(name)])
        if slope.op == "num" and slope is not graph.ZERO:
            rest = graph.substitute([surface], {graph.sym(name): graph.ZERO})[0]
            onto = {graph.sym(name): graph.multiply(rest, graph.num(-1), graph.power(slope, Fraction(-1)))}
            break
    if onto is None:
        return ZeroResult("undecided", None, None, gap, "a jump at a curved switching surface is not decided")
    on_surface = zero_test(graph.substitute([gap], onto)[0], positive, seed)
    if on_surface.answer == "zero":
        return None
    speed = lie_derivative(system, surface)
    speeds = [graph.substitute(side(value, [speed]), onto)[0] for value in (0, 1)]
    crossing = graph.multiply(graph.substitute([gap], onto)[0], *speeds)
    crossed = zero_test(crossing, positive, seed)
    if crossed.answer == "zero":  # the flow does not cross
        return None if all(zero_test(v, positive, seed).answer == "zero" for v in speeds) else on_surface
    if crossed.answer == "nonzero" and speeds[0] is speeds[1]:
        return ZeroResult(
            "nonzero", crossed.witness, on_surface.value, None, "it jumps where the flow crosses a surface"
        )
    return ZeroResult("undecided", None, None, gap, "whether the flow crosses a surface where it jumps is not decided")
