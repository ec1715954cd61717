"""Lines about sets that no solution leaves: planes, curves and surfaces, and states that stay positive."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import flint
import sympy as sp

from ..errors import EquationError
from ..exact.balls import as_ball, ball_program
from ..exact.sparse_terms import TooManyTerms, sparse_terms
from ..exact.zero import rational_points
from ..expr import graph
from ..expr.graph import Node, sym
from ..expr.sympy_bridge import to_sympy
from ..expr.system import System
from .darboux import invariant_curves
from .dependency import sign_of
from .finding import Finding
from .undefined import PRECISION, demands

SEEDS = 8  # of points on a plane at which equations are tried

#: smooth on the whole line
ENTIRE = {"exp", "sin", "cos", "sinh", "cosh", "tanh", "arctan", "arcsinh", "erf", "sigmoid", "softplus", "sech"}


def invariant_set_lines(system: System, values: Mapping[str, Any]) -> Iterator[Finding]:
    """Planes, curves and surfaces that are invariant, and whether states that are not negative stay so."""
    if system.kind == "map" or not _has_unique_solutions(system):  # x' = sqrt(x) leaves x = 0, where it is zero
        return
    below = {name for name, value in values.items() if sign_of(value) == -1}
    signed = {*system.names, *system.parameters} - below
    loose = [name for name in system.parameters if name not in values]
    planes: list[str] = []
    positive: list[str] = []
    open_states: list[str] = []
    flow_has_value = _planes_with_values(system.nodes, values)
    for name, node in system.equations.items():
        try:
            there = graph.substitute([node], {sym(name): graph.ZERO})[0]
        except ZeroDivisionError:
            open_states.append(name)
            continue
        if not _is_smooth_in(system, name):  # x' = x log(x) has no value at zero
            open_states.append(name)
            continue
        # x/(sigmoid(x) - 1/2) has no value at zero, though it has a limit
        if not _planes_with_values([node], values)(name):
            open_states.append(name)
            continue
        if there is graph.ZERO and flow_has_value(name):
            planes.append(name)
        (positive if _not_negative(there, signed) else open_states).append(name)
    if planes:
        listed = ", ".join(f"{name} = 0" for name in planes[:12]) + (", ..." if len(planes) > 12 else "")
        text = f"The set {listed} is invariant" if len(planes) == 1 else f"These sets are invariant: {listed}"
        yield Finding("invariant sets", text, "proof")
    yield from _invariant_curves(system)
    given = " with parameters that are not negative" if loose else ""
    if not open_states:
        yield Finding(
            "invariant sets",
            f"States that are not negative stay so{given}",
            "proof",
            "for t >= 0, as long as the solution exists",
        )
    elif positive:
        text = f"As long as no other state is negative, {', '.join(positive[:12])} can not become negative{given}"
        yield Finding("invariant sets", text, "proof")


def _invariant_curves(system: System) -> Iterator[Finding]:
    """Invariant curves and surfaces of a polynomial flow that are no coordinate planes."""
    if system.dimension == 1:
        return
    products = (node for node in graph.topological(system.nodes) if node.op == "mul")
    if any(e < 0 and graph.symbols([base]) & {*system.names} for node in products for base, e in node.args):
        return
    found = invariant_curves(system)
    shown = [f"{to_sympy(f)} = 0" for f in found.curves if f.op != "sym" and not _is_definite(f)]
    every = f"every one of degree at most {found.degree} over the rational numbers is among them"
    every, what = every if found.degree else "", "curves" if system.dimension == 2 else "surfaces"
    if shown:
        yield Finding("invariant sets", f"These {what} are invariant: {', '.join(shown)}", "proof", every)


def _is_definite(node: Node) -> bool:
    """Whether a polynomial is a sum of even powers and a number, all of one sign: x^2 + 1 = 0 is no curve."""
    return is_even(node) and frozenset() in sparse_terms(node)


def is_even(node: Node) -> bool:
    """Whether an expression is a sum of even powers, all of one sign."""
    try:
        terms = sparse_terms(node)
    except TooManyTerms:
        return False
    even = all(power % 2 == 0 for monomial in terms for _, power in monomial)
    return even and len({c > 0 for c in terms.values()}) == 1


def _has_unique_solutions(system: System) -> bool:
    """True if the field is smooth where it is defined: no switches, and no roots, whose slope is infinite at zero."""
    products = (node for node in graph.topological(system.nodes) if node.op == "mul")
    return not system.surfaces and all(e.denominator == 1 for node in products for _, e in node.args)


def _planes_with_values(nodes: Sequence[Node], values: Mapping[str, Any]) -> Callable[[str], bool]:
    """Whether equations are known to have a value somewhere on the plane of a state: y (1 - y/x) has none on x = 0.

    Where they have one at a point, divisors are not zero there and arguments lie inside of their domains.
    """
    asking = [node for node in nodes if demands([node])]
    numbers = {name: ball for name, value in values.items() if (ball := _ball(value)) is not None}
    run = ball_program(asking, PRECISION)

    def has_value(name: str) -> bool:
        known = numbers | {name: flint.arb(0)}
        names = sorted(graph.symbols(asking) - set(known))
        if not asking:
            return True
        for point in (p for seed in range(SEEDS if names else 1) for p in rational_points(names, (), seed)):
            try:
                found = run({n: as_ball(v) for n, v in point.items()} | known)
            except ZeroDivisionError:
                continue
            if all(ball.is_finite() for ball in found):
                return True
        return False

    return has_value


def _ball(value: Any) -> Any:
    """A ball around a number, None where it has symbols."""
    value = sp.sympify(value) if isinstance(value, str) else value
    try:
        return ball_program([graph.as_node(value)], PRECISION)({})[0]
    except EquationError:  # pi, which the graph does not have
        pass
    except KeyError:
        return None
    exact = sp.sympify(value)
    if exact.free_symbols or not exact.is_real:
        return None
    near = Fraction(str(sp.N(exact, 40)))
    return flint.arb(flint.fmpq(near.numerator, near.denominator), 1e-30 * max(1.0, abs(float(near))))


def _is_smooth_in(system: System, name: str) -> bool:
    """True if every function that contains a state is one without a singularity."""
    functions = (node for node in graph.topological(system.nodes) if node.op not in ("num", "sym", "add", "mul"))
    return all(node.op in ENTIRE or name not in graph.symbols([node]) for node in functions)


def _not_negative(node: Node, signed: set[str]) -> bool:
    """True if an expression is a sum of products of numbers, names, exponentials and such sums, none negative."""
    if node.op in ("sym", "exp"):
        return node.op == "exp" or node.args[0] in signed
    try:
        terms = sparse_terms(node)
    except TooManyTerms:
        return False
    atoms = {atom for monomial in terms for atom, _ in monomial}
    known = all(atom.op in ("sym", "exp", "add") and _not_negative(atom, signed) for atom in atoms)
    return known and all(c > 0 for c in terms.values())


def never_zero(node: Node) -> bool:
    """True if an expression is seen to be positive for all values of its names: 1 + x^2, or 1 + exp(x)."""
    return node.op == "exp" or (node.op == "add" and (_is_definite(node) or _not_negative(node, set())))
