"""Is a run stuck where a root, a logarithm or a divisor comes to the end of its domain? Then no step goes across."""

from __future__ import annotations

import math

import numpy as np

from odesys.certify.validated_step import domain_guards
from odesys.errors import IntegrationError
from odesys.expr import graph
from odesys.expr.graph import Node
from odesys.expr.sympy_bridge import to_sympy
from odesys.jit.codegen import node_function

from .run import Run

NEAR = 1e-7  # of the size of the state: closer to an end than this a run has arrived there


def with_edge_hint(error: IntegrationError, run: Run) -> IntegrationError | None:
    """The error with a sentence on the end of the domain that the run has come to, None if it has not."""
    guards = domain_guards(run.compiled.system.nodes)
    if not guards:
        return None
    values = node_function(run.compiled.system, [g[0] for g in guards], run.parameters)(run.t, run.x, run.mode.gates)
    room = NEAR * (1 + float(np.abs(run.x).max(initial=0.0)))
    for (node, low, high, what), value in zip(guards, values, strict=True):
        ends = (0.0,) if math.isnan(low) else (low, high)
        end = next((e for e in ends if math.isfinite(e) and abs(value - e) < room), None)
        if end is not None:
            held: dict[Node, Node] = {}
            for h, g in zip(run.compiled.system.surfaces, run.mode.gates, strict=True):
                held |= {graph.step(h): graph.num(round(g)), graph.step(-h): graph.num(1 - round(g))}
            (shown,) = graph.substitute([node], held)
            text = f"{str(error).removesuffix('.')}; it has come to {to_sympy(shown)} = {end:g}, {_meaning(what)}"
            return IntegrationError(f"{text}. {_way_out(run)}", **error.objects)
    return None


def _meaning(what: str) -> str:
    if what == "a fractional power":
        return "where a root of it has no finite slope, so that no step of any method goes across"
    return "which is divided by" if what == "a divisor" else f"the end of the domain of {what}"


def _way_out(run: Run) -> str:
    if run.compiled.system.surfaces:
        return (
            "What stays there afterwards (a slide of second order, as of a super-twisting controller) is not followed: "
            "end the run there with an event, or smooth it: x/sqrt(abs(x) + 1e-6) for sqrt(abs(x))*sign(x), and "
            "x/(abs(x) + 1e-6) for sign(x)"
        )
    return "End the run before with an event, or go on with the equations that hold afterwards"
