"""Curves of a phase portrait: nullclines factor by factor, and separatrices of saddles.

A component is split into factors, so a nullcline on which it does not change its sign, as x = 0 of x^2 y, is drawn too.
Separatrices are runs that leave a saddle along the directions of its linear part, forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from numerics.flows.integrate import integrate
from numerics.flows.trajectory import StopWhen
from odesys.analysis.polynomial_form import as_expression, decimals, is_rational, polynomial_context, quotients
from odesys.errors import OdesysError
from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.system import System

FINE = 201  # points of the grid of nullclines, each way
NEAR = 1e-4  # of the box: how far from a saddle a separatrix starts
LONGEST = 40.0  # times one over the rate of the direction
Box = Mapping[str, tuple[float, float]]


def factors(system: System, node: Node, parameters: Mapping[str, Any]) -> list[Node]:
    """What can vanish in a component of the field: irreducible factors of its numerator, or factors as written.

    >>> system = System.from_strings({"x": "x^2*(y - 1)", "y": "0"})
    >>> factors(system, system.nodes[0], {})
    [Node(y - 1), Node(x)]
    """
    known = {graph.sym(name): graph.as_node(value) for name, value in parameters.items()}
    (node,) = decimals(graph.substitute([node], known))
    if node is graph.ZERO or not graph.symbols([node]) & set(system.names):
        return []
    if is_rational([node]):
        context = polynomial_context(system.names)
        found = quotients([node], context)
        if found is not None:
            symbols = dict(zip(system.names, system.states, strict=True))
            return [graph.as_node(as_expression(f, symbols)) for f, _ in found[0][0][0].factor()[1]]
    parts = [base for base, e in node.args if e > 0] if node.op == "mul" else [node]
    return [part for part in parts if graph.symbols([part]) & set(system.names)]


def nullclines(
    system: System, parameters: Mapping[str, Any], box: Box
) -> tuple[np.ndarray, np.ndarray, list[list[np.ndarray]]]:
    """Two axes of a grid, and for each state the values (y, x) of all factors of its equation."""
    xs, ys = (np.linspace(*box[name], FINE) for name in system.names)
    x, y = (a.ravel() for a in np.meshgrid(xs, ys))
    tables: list[list[np.ndarray]] = []
    for node in system.nodes:
        found = factors(system, node, parameters)
        names = {f"factor_{k}": part for k, part in enumerate(found)}
        if not names:
            tables.append([])
            continue
        compiled = system.with_observables(names).compile({n: float(v) for n, v in parameters.items()})
        with np.errstate(all="ignore"):
            columns = compiled.observed(np.zeros(x.size), np.column_stack([x, y]))
        tables.append([np.asarray(columns[name]).reshape(FINE, FINE) for name in names])
    return xs, ys, tables


def separatrices(
    system: System, parameters: Mapping[str, Any], box: Box, saddles: Sequence[tuple[float, float]]
) -> list[tuple[str, np.ndarray]]:
    """Curves (stable or unstable, points (k, 2)) that start and end at saddles, as far as they stay in the box."""
    numbers = {name: float(value) for name, value in parameters.items()}
    compiled, found = system.compile(numbers), []
    size = np.array([box[name][1] - box[name][0] for name in system.names])
    room = {name: (low - 0.2 * (high - low), high + 0.2 * (high - low)) for name, (low, high) in box.items()}
    out = [StopWhen(f"{name} {k}", name, level=end) for name, ends in room.items() for k, end in enumerate(ends)]
    for saddle in saddles:
        values, vectors = np.linalg.eig(np.asarray(compiled.jacobian(0.0, np.array(saddle)), dtype=float))
        if np.iscomplexobj(values) or not values.min() < 0 < values.max():
            continue
        for rate, vector in zip(values, vectors.T, strict=True):
            step = NEAR * vector / np.max(np.abs(vector / size))
            for side in (1.0, -1.0):
                end = LONGEST / rate  # backwards along the stable direction
                try:
                    run = integrate(system, np.array(saddle) + side * step, (0.0, end), numbers, rtol=1e-8, events=out)
                except OdesysError:
                    continue  # it blows up or leaves the domain before it leaves the box
                times = np.linspace(run.times[0], run.end_time, 400)
                points = np.vstack([saddle, run.at(times)])
                found.append(("unstable" if rate > 0 else "stable", points))
    return found
