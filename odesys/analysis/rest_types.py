"""What an equilibrium is: by its linear part, by conserved quantities, by states that move alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from ..errors import EquationError, OdesysError
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node, sym
from ..expr.system import System
from .dependency import sign_of
from .equilibria import Equilibrium
from .invariant_sets import is_even
from .one_state import stability_of_one
from .stability import Classification, classify
from .weak_focus import first_lyapunov


def type_at_rest(
    system: System, point: Equilibrium, values: Mapping[str, Any], integrals: Sequence[Node] = ()
) -> Classification:
    """What an equilibrium is; where its linear part does not decide, by the first argument that does."""
    try:
        kind = classify(system, point, parameters=values)
    except OdesysError as problem:
        shape = "kink" if "kink" in str(problem) else "undecided"
        kind = Classification(shape, "undecided", "undecided", (), point.evidence, str(problem))
    if kind.stability != "undecided" or point.condition:
        return kind
    if system.dimension == 1 and system.kind == "flow" and not any(isinstance(v, float) for v in point.point.values()):
        stability, reason = stability_of_one(system, point.point, values)
        return replace(kind, stability=stability, reason=reason)
    if kind.linear_type == "kink":
        return kind
    for integral in _candidates(integrals):
        try:
            better = classify(system, point, integral, values)
        except OdesysError:  # it has no value at the point
            continue
        if better.stability != "undecided":
            return better
    alone = _states_alone(system, point, values)
    if alone != "undecided":
        return replace(kind, stability=alone, reason="by states whose equations contain no other state")
    if _leaves_along_a_line(system, point, values):
        return replace(kind, stability="unstable", reason="an invariant line through it leads away")
    turn = first_lyapunov(system, point.point, values) if kind.linear_type == "centre" else None
    if turn is not None and sign_of(turn) in (-1, 1):
        stability = "asymptotically stable" if sign_of(turn) == -1 else "unstable"
        return replace(kind, stability=stability, nonlinear_type="focus", reason=f"first Lyapunov coefficient {turn}")
    return kind


def _candidates(integrals: Sequence[Node]) -> Iterator[Node]:
    """Conserved quantities, one over those that divide, the sum of those that are sums of even powers, and others."""
    yield from integrals
    for one in integrals:
        (_, term), *more = graph.linear_terms(one)
        if not more and term.op == "mul" and any(exponent < 0 for _, exponent in term.args):
            yield 1 / one
    squares = [one for one in integrals if is_even(one)]
    if len(squares) > 1:
        yield graph.combine((1, one) for one in squares)
    if 1 < len(integrals) <= 4:
        for signs in product((1, -1), repeat=len(integrals) - 1):
            yield graph.combine(zip((1, *signs), integrals, strict=True))


def _states_alone(system: System, point: Equilibrium, values: Mapping[str, Any]) -> str:
    """Stability by states that move on their own: one that leaves is enough, all that come back are needed."""
    if system.kind != "flow" or any(isinstance(v, float) for v in point.point.values()):
        return "undecided"
    found = []
    for name, node in system.equations.items():
        used = graph.symbols([node])
        if used & set(system.names) <= {name}:
            one = replace(
                system,
                names=(name,),
                field=ScalarField((node,), {}),
                parameters=tuple(p for p in system.parameters if p in used),
            )
            given = {p: v for p, v in values.items() if p in one.parameters}
            found.append(stability_of_one(one, {name: point.point[name]}, given)[0])
    if "unstable" in found:
        return "unstable"
    if len(found) < system.dimension or "undecided" in found:
        return "undecided"
    return "asymptotically stable" if set(found) == {"asymptotically stable"} else "stable"


def _leaves_along_a_line(system: System, point: Equilibrium, values: Mapping[str, Any]) -> bool:
    """Whether one state can move alone, all others resting where they are, and leaves the point."""
    if system.kind != "flow" or system.surfaces or any(isinstance(v, float) for v in point.point.values()):
        return False
    try:
        place = {sym(name): graph.as_node(value) for name, value in {**values, **point.point}.items()}
        for name in system.names:
            others = {symbol: value for symbol, value in place.items() if symbol is not sym(name)}
            nodes = dict(zip(system.names, graph.substitute(system.nodes, others), strict=True))
            moves = nodes.pop(name)
            if graph.symbols([moves]) <= {name} and all(zero_test(node).answer == "zero" for node in nodes.values()):
                alone = replace(system, names=(name,), field=ScalarField((moves,), {}), parameters=())
                if stability_of_one(alone, {name: point.point[name]})[0] == "unstable":
                    return True
    except (EquationError, ZeroDivisionError):  # a number that expressions can not hold, or a pole on the line
        return False
    return False
