r"""Stage 2 as a validated enclosure in sector coordinates; here because stage 2 ends at a finite time T2.

The 8 scores split into sums and differences over the groups, :math:`M^s = M^= + M^{\ne}` and
:math:`M^d = M^= - M^{\ne}`. From the zero start :math:`M^s_{cv} = M^s_{vv} = 0` for ever, which is proved exactly; the
6 states that are left have far narrower enclosures than the 8, where nearly equal scores are subtracted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from odesys import (
    ZERO,
    Enclosure,
    EquationError,
    Node,
    System,
    as_ball,
    ball_evaluate,
    enclose,
    from_sympy,
    graph,
    sym,
    zero_test,
)

from .. import dynamics
from . import closed_forms

PAIRS = ("cc", "cv", "vc", "vv")
STILL = ("s_cv", "s_vv")
ORDER, PRECISION, TOLERANCE = 16, 96, Fraction(1, 2**52)


@dataclass(frozen=True)
class SectorSystem:
    """The system in sector coordinates (6 states), and every score and self-score as an expression in them."""

    system: System
    scores: Mapping[str, Node]


def stage_two_sectors() -> SectorSystem:
    """Stage 2, slaved, for K = 2, in the coordinates d_cv, s_cc, ...; the invariant subspace is proved on the way."""
    slaved = dynamics.slaved("stage2")
    system = slaved.system.freeze_still()
    field = system.equations
    scores: dict[str, Node] = {}
    moving: dict[str, Node] = {}
    for pair in PAIRS:
        same, other, s, d = f"M_{pair}_same", f"M_{pair}_other", sym(f"s_{pair}"), sym(f"d_{pair}")
        s = ZERO if f"s_{pair}" in STILL else s
        scores |= {same: (s + d) / 2, other: (s - d) / 2}
        moving |= {f"s_{pair}": field[same] + field[other], f"d_{pair}": field[same] - field[other]}
    mapping = {sym(name): node for name, node in scores.items()}
    nodes = dict(zip(moving, graph.substitute(list(moving.values()), mapping), strict=True))
    for name in STILL:
        if zero_test(nodes[name], ["omega"]).answer != "zero":
            raise EquationError(f"{name} = 0 is not an invariant subspace of stage 2")
    kept = {name: node for name, node in nodes.items() if name not in STILL}
    lifted = graph.substitute(list(slaved.eliminated.values()), mapping)
    return SectorSystem(
        System.from_equations(kept, parameters=system.parameters),
        scores | dict(zip(slaved.eliminated, lifted, strict=True)),
    )


def neurons_at(T1: Fraction, b: Fraction, precision: int = PRECISION) -> dict[str, Any]:
    r"""n_c and n_v at the end of stage 1 as balls, from the closed form that was derived for its second phase.

    With :math:`F_0` the form at the switch, :math:`F + e^F = F_0 + e^{F_0} + \text{speed}\,(T_1 - T_{0.5})`.
    """
    stage, values = closed_forms.stage_one(), {"b": as_ball(b)}
    start = stage.at_switch()
    with flint.ctx.workprec(precision):
        switch, first, *begin = ball_evaluate(
            [from_sympy(e) for e in (stage.switch_time(), stage.second.form_at(start), start["n_c"], start["n_v"])],
            values,
            precision,
        )
        if not as_ball(T1) > switch:
            raise EquationError(f"T1 = {T1} is not after the switch of stage 1 at {switch.str(6)}")
        zeta = first + first.exp() + as_ball(stage.second.speed) * (as_ball(T1) - switch)
        moved = zeta - zeta.exp().lambertw() - first
        rates = stage.second.rates
        return {
            name: at + as_ball(rates[name] / stage.second.speed) * moved
            for name, at in zip(("n_c", "n_v"), begin, strict=True)
        }


def growth_rows(sectors: SectorSystem, rate: Node) -> tuple[Node, ...]:
    """The rows of dx/dt - rate A_3 x with x = (M_cv_same, A_cc_same, B_vv_same), as expressions of the 6 states."""
    x, y, z = (sectors.scores[name] for name in ("M_cv_same", "A_cc_same", "B_vv_same"))
    return tuple(_rate(sectors.system, node) - rate * ask for node, ask in ((x, y + z), (y, x), (z, x)))


def _rate(system: System, node: Node) -> Node:
    """The time derivative of an expression of the states."""
    slopes = graph.gradient(node, [sym(name) for name in system.names])
    return graph.add(slope * change for slope, change in zip(slopes, system.nodes, strict=True))


def pre_activations(sectors: SectorSystem) -> dict[str, Node]:
    """H_+ + b on the four conflicting samples, as expressions of the 6 states."""
    system, mapping = dynamics.reduced("stage2").system, {sym(name): node for name, node in sectors.scores.items()}
    names = [name for name in sorted(system.observables) if name.startswith("H_p_")]
    nodes = graph.substitute([system.observables[name] for name in names], mapping)
    return {f"{name} + b": node + sym("b") for name, node in zip(names, nodes, strict=True)}


def enclose_stage_two(sectors: SectorSystem, omega: Fraction, b: Fraction, T1: Fraction, length: Fraction) -> Enclosure:
    """The scores from T1 (time 0 of the enclosure) on, for `length`."""
    parameters = {"b": b, "omega": omega, **neurons_at(T1, b)}
    return enclose(
        sectors.system,
        dict.fromkeys(sectors.system.names, 0),
        length,
        parameters,
        order=ORDER,
        precision=PRECISION,
        tolerance=TOLERANCE,
    )
