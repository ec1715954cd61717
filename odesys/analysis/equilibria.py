r"""All real equilibria of a flow (fixed points of a map), or what is left open and where.

.. math::  F(p) = 0 \quad (\text{of a map: } F(p) = p).

Polynomial and rational systems are solved exactly on the whole space (`exact_equilibria`). Others are searched in a box
by branch and prune (`searched_equilibria`), after states that an equation contains only linearly have been eliminated.
A field with gates is solved on each side of its surfaces and on them (`gated_equilibria`). Floats are read as the
decimals they print as, and what rests on them is a measurement. Type and stability are in `odesys.analysis.stability`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

import sympy as sp

from ..errors import EquationError, ParameterError
from ..exact.rewriting import has_floats
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System
from .dependency import checked_values, substitution
from .exact_equilibria import parametric_equilibria
from .gated_equilibria import gated_equilibria
from .polynomial_form import decimals, is_rational
from .rest_sets import Continuum, Equilibria, Equilibrium, Undecided
from .rest_words import rest_words

__all__ = ["Continuum", "Equilibria", "Equilibrium", "Undecided", "equilibria", "residuals"]


def equilibria(
    system: System,
    parameters: Mapping[str, Any] | None = None,
    box: Mapping[str, tuple[Any, Any]] | None = None,
    seed: int = 0,
) -> Equilibria:
    """All real equilibria, isolated and in continua, with what is left undecided and where was searched.

    Parameters
    ----------
    parameters : values; a polynomial system may keep parameters as symbols, and then answers by cases.
    box : {state: (low, high)}, by default the whole space where algebra is complete there, and otherwise a box from the
        size of the numbers in the equations; it is part of the answer.
    seed : of the slices on which a real point of a continuum is looked for.

    >>> x = sp.Symbol("x")
    >>> [str(e.point["x"]) for e in equilibria(System.from_equations({x: x * (1 - x)}))]
    ['0', '1']
    """
    values = checked_values(system, {}, parameters or {})
    words = rest_words(system)
    nodes = residuals(system)
    if TIME in graph.symbols(nodes) and TIME not in system.names:
        raise EquationError(f"the system depends on time t, so it has no {words.many}; freeze t first")
    mapping, outside = substitution(values)
    nodes = graph.substitute(nodes, mapping)
    floats = has_floats(nodes)
    nodes = decimals(nodes) if floats else nodes
    asked = _asked(system, box)
    loose = sorted(graph.symbols(nodes) - set(system.names))
    numbers = {name: outside[name] for name in loose if name in outside and not outside[name].free_symbols}
    if any(name not in numbers for name in loose) and is_rational(nodes):
        return replace(parametric_equilibria(system, nodes, loose, outside), kind=system.kind)
    for name in (name for name in loose if name not in numbers):
        raise ParameterError(
            f"the {words.many} of this system are searched for in a box, so {name} needs a number", parameter=name
        )
    if numbers:  # numbers that the graph can not hold: tight intervals would do, the nearest decimals are honest too
        floats = True
        near = {graph.sym(name): graph.num(Fraction(str(sp.N(value, 30)))) for name, value in numbers.items()}
        nodes = graph.substitute(nodes, near)
    found = replace(gated_equilibria(system, nodes, asked, seed), kind=system.kind)
    if not floats:
        return found
    return replace(
        found,
        points=tuple(replace(e, evidence="measurement") for e in found.points),
        families=tuple(replace(f, evidence="measurement") for f in found.families),
        reading="floats are read as the decimals they print as",
    )


def residuals(system: System) -> list[Node]:
    """What vanishes at rest: the field of a flow, the displacement of a map."""
    if system.kind == "flow":
        return list(system.nodes)
    return [node - graph.sym(name) for name, node in system.equations.items()]


def _asked(system: System, box: Mapping[str, tuple[Any, Any]] | None) -> dict[str, tuple[Fraction, Fraction]]:
    found = {}
    for key, (low, high) in (box or {}).items():
        if str(key) not in system.names:
            raise ParameterError(
                f"the box has a range for {key}, which is no state; they are {', '.join(system.names[:12])}"
            )
        ends = tuple(Fraction(repr(end)) if isinstance(end, float) else Fraction(end) for end in (low, high))
        if ends[0] > ends[1]:
            raise ParameterError(f"the range of {key} is empty: {low} is not below {high}")
        found[str(key)] = (ends[0], ends[1])
    return found
