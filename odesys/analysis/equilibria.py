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
from numbers import Integral
from typing import Any

import sympy as sp

from ..errors import EquationError, ParameterError
from ..exact.rewriting import has_floats
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System
from ..shortening import shortened
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
    try:
        nodes = graph.substitute(nodes, mapping)
    except ZeroDivisionError:
        told = ", ".join(f"{name} = {value}" for name, value in values.items())
        raise EquationError(f"the equations divide by zero at {told}") from None
    floats = has_floats(nodes)
    nodes = decimals(nodes) if floats else nodes
    asked = asked_box(system, box)
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


def asked_box(system: System, box: Any) -> dict[str, tuple[Fraction, Fraction]]:
    """The ranges of states that somebody gave, as exact numbers; a range that is empty or no range is refused.

    >>> asked_box(System.from_strings({"x": "x"}), {"x": (-0.5, 3)})
    {'x': (Fraction(-1, 2), Fraction(3, 1))}
    """
    if box is not None and not isinstance(box, Mapping):
        raise ParameterError(
            f"the box {shortened(repr(box))} has no names; give {{{system.names[0]!r}: (low, high), ...}}"
        )
    found = {}
    for key, pair in (box or {}).items():
        if str(key) not in system.names:
            raise ParameterError(
                f"the box has a range for {key}, which is no state; they are {', '.join(system.names[:12])}"
            )
        found[str(key)] = asked_range(str(key), pair)
    return found


def asked_range(name: str, pair: Any) -> tuple[Fraction, Fraction]:
    """Both ends of a range, the lower one first."""
    try:
        low, high = pair
        ends = _exact(low), _exact(high)
    except (TypeError, ValueError, OverflowError):
        raise ParameterError(
            f"the range {shortened(repr(pair))} of {name} is no pair of finite numbers (low, high); a state without a "
            f"range is searched everywhere",
            parameter=name,
        ) from None
    if ends[0] > ends[1]:
        raise ParameterError(
            f"the range of {name} is empty: {low} is above {high}; give ({high}, {low})", parameter=name
        )
    return ends


def _exact(value: Any) -> Fraction:
    if isinstance(value, Integral):  # also of NumPy, whose numbers overflow in a Fraction
        return Fraction(int(value))
    return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
