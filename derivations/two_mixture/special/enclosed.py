r"""Stage 2 as a validated enclosure in sector coordinates; here because stage 2 ends at a finite time T2.

The 8 scores split into sums and differences over the groups, :math:`M^s = M^= + M^{\ne}` and
:math:`M^d = M^= - M^{\ne}`. From the zero start :math:`M^s_{cv} = M^s_{vv} = 0` for ever, which is proved exactly; the
6 states that are left have far narrower enclosures than the 8, where nearly equal scores are subtracted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import flint

from odesys import (
    ZERO,
    Enclosure,
    EquationError,
    InNewVariables,
    Node,
    System,
    as_ball,
    ball_evaluate,
    enclose,
    from_sympy,
    graph,
    in_new_variables,
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


def in_sectors(system: System, K: int, still: Collection[str] = (), time: int = 1) -> InNewVariables:
    """Scores as s = Z_same + (K-1) Z_other and d = Z_same - Z_other, those named in `still` put to zero."""
    new: dict[str, Node] = {}
    old: dict[str, Node] = {}
    for pair in PAIRS:
        same, other = f"M_{pair}_same", f"M_{pair}_other"
        new |= {f"s_{pair}": sym(same) + (K - 1) * sym(other), f"d_{pair}": sym(same) - sym(other)}
        s, d = (ZERO if name in still else sym(name) for name in (f"s_{pair}", f"d_{pair}"))
        old |= {same: (s + (K - 1) * d) / K, other: (s - d) / K}
    return in_new_variables(system, {name: node for name, node in new.items() if name not in still}, old, time)


def stage_two_sectors() -> SectorSystem:
    """Stage 2, slaved, for K = 2, in the coordinates d_cv, s_cc, ...; the invariant subspace is proved on the way."""
    slaved = dynamics.slaved("stage2")
    made = in_sectors(slaved.system.freeze_still(), 2, STILL)
    left = made.defects()
    assert left is not None
    for pair in ("cv", "vv"):  # the rate of s, which is M_same + M_other
        if zero_test(left[f"M_{pair}_same"] + left[f"M_{pair}_other"], ["omega"]).answer != "zero":
            raise EquationError(f"s_{pair} = 0 is not an invariant subspace of stage 2")
    mapping = {sym(name): node for name, node in made.old.items()}
    lifted = graph.substitute(list(slaved.eliminated.values()), mapping)
    return SectorSystem(made.system, {**made.old, **dict(zip(slaved.eliminated, lifted, strict=True))})


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
