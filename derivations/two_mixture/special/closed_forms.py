r"""Closed forms of stages 1 to 3; here because a stage trains neurons alone, or attention with frozen forces.

Everything is read off the derived systems: rates and switching surface of stage 1 from the 22-variable field at
uniform attention; the force matrix of stage 2 from the score equations at :math:`A = I, B = 0`; stage 3 from margins
and orbit sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
import sympy as sp

from odesys import ONE, ZERO, LogisticDrive, Node, System, eigenprojectors, find_logistic_drive, graph, sym, to_sympy

from .. import dynamics, setting


@dataclass(frozen=True)
class StageOne:
    """Both phases of stage 1 and the surface between them: the unit that switches off at T_0.5."""

    first: LogisticDrive
    second: LogisticDrive
    surface: Node

    def switch_time(self) -> sp.Expr:
        """T_0.5 as an expression in b."""
        start = {"n_c": 0, "n_v": 0}
        return self.first.time_at_form(start, self.first.form_when_zero(self.surface, start))

    def at_switch(self) -> dict[str, sp.Expr]:
        """n_c and n_v at T_0.5 as expressions in b."""
        start = {"n_c": sp.Integer(0), "n_v": sp.Integer(0)}
        moved = self.first.states_at_form(start, self.first.form_when_zero(self.surface, start))
        return {**start, **moved}

    def neurons(self, t: float, b: float) -> dict[str, float]:
        """n_c and n_v at time t of stage 1."""
        bias = sp.Symbol("b", real=True)
        switch = float(self.switch_time().subs(bias, b))
        if t <= switch:
            return {"n_c": 0.0, "n_v": 0.0, **self.first.states_at({"n_c": 0.0, "n_v": 0.0, "b": b}, t)}
        start = {name: float(sp.sympify(value).subs(bias, b)) for name, value in self.at_switch().items()}
        return {**start, **self.second.states_at({**start, "b": b}, t - switch)}


@cache
def stage_one(K: int = 2, L: int = 3) -> StageOne:
    """Both phases of stage 1 of the paper's system."""
    return stage_one_of(dynamics.reduced("stage1", K, L).system)


def stage_one_of(system: System) -> StageOne:
    """Derive both phases of stage 1 from a reduced system at uniform attention (zero scores)."""
    scores = {sym(name): ZERO for name in system.on_path("KQ")}
    moving = system.on_path("w")
    picked = [system.equations[name] for name in moving]
    at_zero = dict(zip(moving, graph.substitute(picked, scores), strict=True))
    surfaces = graph.surfaces(at_zero.values())
    all_on = {graph.step(s): ONE for s in surfaces} | {graph.step(-s): ZERO for s in surfaces}
    first = find_logistic_drive(_gated(at_zero, all_on))
    surface = min(surfaces, key=first.slope)  # all start at the common bias: the steepest falls to zero first
    second = find_logistic_drive(_gated(at_zero, {**all_on, graph.step(surface): ZERO, graph.step(-surface): ONE}))
    return StageOne(first, second, surface)


def _gated(nodes: Mapping[str, Node], gates: Mapping[Node, Node]) -> dict[str, Node]:
    return dict(zip(nodes, graph.substitute(list(nodes.values()), gates), strict=True))


@cache
def uniform_force(K: int = 2) -> sp.Matrix:
    """The force matrix G of the + head at uniform attention in stage 2, as expressions in the neurons.

    With A = I and B = 0 the derived score equation dM = A G + G B is G itself.
    """
    flow = dynamics.full_flow("stage2", K)
    reduced = dynamics.reduced("stage2", K)
    names = flow.matrices["KQ_p"]
    state = {name: ZERO for name in flow.layout.names}
    for name, what in flow.system.structure.items():
        if what.path == "KK" and what.left == what.right:
            state[name] = ONE
        if what.path == "w":
            variable, sign = reduced.variable(name)
            state[name] = sym(variable) * sign
    index = {name: i for i, name in enumerate(flow.layout.names)}
    gates: dict[Node, Node] = {}
    mapping = {sym(name): value for name, value in state.items()}
    nodes = graph.substitute([flow.system.nodes[index[name]] for name in names.ravel()], mapping)
    for surface in graph.surfaces(nodes):  # after stage 1 all conflicting units are on: H + b = n_c + b > 0
        gates |= {graph.step(surface): ONE, graph.step(-surface): ZERO}
    entries = [to_sympy(node) for node in graph.substitute(nodes, gates)]
    return sp.Matrix(names.shape[0], names.shape[1], [sp.together(e) for e in entries])


def frozen_solution(K: int = 2) -> tuple[sp.Expr, sp.Matrix]:
    r"""Rate kappa and S(t) = omega^2 exp(2 Gamma t) with the forces frozen at uniform attention, exact.

    S is the 2N-by-2N matrix of key self-scores, scores and query self-scores of the + head.
    """
    force = uniform_force(K)
    kappa = max((abs(e.subs(sp.Symbol("n_c", real=True), 1)) for e in force), key=lambda e: e)
    unit = force.subs(sp.Symbol("n_c", real=True), 1) / kappa
    n = unit.shape[0]
    gamma = sp.zeros(2 * n)
    gamma[:n, n:], gamma[n:, :n] = unit, unit.T
    rational = np.array([[Fraction(int(e.p), int(e.q)) for e in gamma.row(i)] for i in range(2 * n)], dtype=object)
    split = eigenprojectors(rational)
    if split is None:
        raise ArithmeticError("the frozen force matrix has irrational eigenvalues")
    t, omega, n_c = sp.Symbol("t", real=True), sp.Symbol("omega", positive=True), sp.Symbol("n_c", real=True)
    rate = kappa * n_c
    solution = sp.zeros(2 * n)
    for value, projector in split:
        solution += sp.exp(2 * sp.Rational(value.numerator, value.denominator) * rate * t) * sp.Matrix(
            2 * n, 2 * n, [sp.Rational(x.numerator, x.denominator) for x in projector.ravel()]
        )
    return rate, omega**2 * solution


def late_loss_constant(state: Mapping[str, float], K: int = 2, b: float = 0.5) -> float:
    r"""Limit of t * loss in stage 3 for frozen scores: the sum over neuron modes of orbit size / slope^2.

    Late in stage 3 all units are on and each margin is carried by one neuron variable, :math:`f = q\,n`; gradient flow
    in the metric of the full model gives :math:`\dot f = (q^2 w / s) e^{-f}` with orbit size s and sample weight w.
    """
    reduced = dynamics.reduced("stage3", K)
    system = reduced.system
    gates = {graph.step(s): ONE for s in system.surfaces} | {graph.step(-s): ZERO for s in system.surfaces}
    total = 0.0
    samples = setting.data(K).samples
    groups = {
        "n_c": [i for i, s in enumerate(samples) if setting.is_conflicting(s)],
        "n_v": [i for i, s in enumerate(samples) if not setting.is_conflicting(s)],
    }
    env = {**dict(state), "b": b}
    for neuron, members in groups.items():
        margin = graph.substitute([system.observables[f"margin_{members[0] + 1}"]], gates)[0]
        slope = float(graph.evaluate(graph.gradient(margin, [sym(neuron)]), env, graph.FLOAT_FUNCTIONS, float)[0])
        size = int(np.sum(np.abs(reduced.orbits.sign[reduced.orbits.orbit == system.names.index(neuron)])))
        total += size / slope**2
    return total
