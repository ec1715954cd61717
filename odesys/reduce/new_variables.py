r"""A system in new variables, given by the new ones in the old and the old ones in the new.

.. math::  z = \pi(x), \qquad x = \lambda(z), \qquad \dot z = T\,D\pi(\lambda(z))\,F(\lambda(z)), \qquad
           \pi(\lambda(z)) = z ,

where T units of the old time are one of the new. Fewer new variables than old ones describe a subspace: `law` says
whether the system stays in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import EquationError
from ..exact.zero import zero_test
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.graph import Node, as_node, sym
from ..expr.system import TIME, System
from .reduction import Reduction, columns_at, rates_at


@dataclass(frozen=True, eq=False, repr=False)
class InNewVariables(Reduction):
    """A system in new variables: `new` in the old ones, `old` in the new ones, `time` old units in one new.

    It describes only starts that `old` reaches, which are all if there are as many new variables as old ones.

    Parameters
    ----------
    system : System
        In the new variables.
    source : System
        In the old ones.
    new : Mapping[str, Node]
        New variables in the old ones.
    old : Mapping[str, Node]
        Old ones in the new.
    time : int, optional
        Old units of time in a new one.

    Examples
    --------
    >>> x, y, s = sym("x"), sym("y"), sym("s")
    >>> swap = System.from_equations({"x": y, "y": x})
    >>> made = in_new_variables(swap, {"s": x + y}, {"x": s / 2, "y": s / 2})
    >>> made.system.equations, made.lift([3.0]).tolist(), made.law().as_stated
    ({'s': Node(s)}, [1.5, 1.5], 'holds')
    """

    system: System
    source: System
    new: Mapping[str, Node]
    old: Mapping[str, Node]
    time: int = 1
    starts = "that its new variables reach"

    @property
    def lifted(self) -> Mapping[str, Node]:
        """The old variables in the new ones."""
        return self.old

    @property
    def speed(self) -> int:
        """Old units of time in one new unit."""
        return self.time

    def _project(self, values: np.ndarray) -> np.ndarray:
        return columns_at(list(self.new.values()), self.source.names, values, {})


def in_new_variables(system: System, new: Mapping[str, Any], old: Mapping[str, Any], time: int = 1) -> InNewVariables:
    """The system in the variables `new`, with every state as an expression in them in `old`; both without parameters.

    Parameters
    ----------
    system : System
        A flow or a map.
    new : Mapping[str, Any]
        New variables as expressions in the states.
    old : Mapping[str, Any]
        Every state as an expression in the new variables.
    time : int, optional
        Old units of time in a new one.

    Returns
    -------
    InNewVariables
        The system, with `lift` and `project`.

    Examples
    --------
    >>> x = sym("x")
    >>> half = in_new_variables(System.from_equations({"x": x * x}), {"z": x / 2}, {"x": 2 * sym("z")}, time=3)
    >>> half.system.equations["z"] == 6 * sym("z") ** 2
    True
    """
    fresh, states = ({str(n): as_node(v) for n, v in table.items()} for table in (new, old))
    if set(states) != set(system.names):
        name = sorted(set(states) ^ set(system.names))[0]
        raise EquationError(f"new variables give every state, and no other name, an expression: {name} is not so")
    states = {name: states[name] for name in system.names}
    for table, known in ((fresh, set(states)), (states, set(fresh))):
        unknown = sorted(graph.symbols(table.values()) - known)
        if unknown:
            raise EquationError(f"{unknown[0]} is in an expression for one of {', '.join(table)}, and is no variable")
    if time != 1 and (system.kind == "map" or TIME in graph.symbols(system.nodes)):
        raise EquationError("only a flow that does not depend on t can have another unit of time")
    put = {sym(name): node for name, node in states.items()}
    for name, node in zip(fresh, graph.substitute(list(fresh.values()), put), strict=True):
        if zero_test(node - sym(name)).answer != "zero":
            raise EquationError(
                f"{name} does not come back: {fresh[name]} is not {name} where states are what `old` says"
            )
    nodes, rates = list(fresh.values()), rates_at(system, states)
    if system.kind == "map":
        moved = graph.substitute(nodes, {sym(n): node for n, node in zip(system.names, rates, strict=True)})
    else:
        rows = graph.jacobian(nodes, [sym(name) for name in system.names])
        slopes = [dict(zip(row, graph.substitute(list(row.values()), put), strict=True)) for row in rows]
        moved = [time * graph.add(slope * rates[j] for j, slope in row.items()) for row in slopes]
    seen = dict(zip(system.observables, graph.substitute(list(system.observables.values()), put), strict=True))
    made = System(tuple(fresh), ScalarField(tuple(moved), seen), system.parameters, system.kind)
    return InNewVariables(made, system, fresh, states, time)


__all__ = ["InNewVariables", "in_new_variables"]
