r"""The planar limit as a validated enclosure; here because the limit of this task has two variables and no end.

With :math:`\theta = g_1/g_2` and :math:`\kappa = g_4/g_2` the ratio R is a function of these two alone, and
:math:`\frac{d}{d\tau}\ln g_c = -(1-g_c)\,\dot u_c` with the margins' rates :math:`\dot u_c` linear in the g. On the set

.. math::  R_- \le R \le R_+, \quad 0 < \kappa \le \kappa_0, \quad 0 < g_2 \le \bar g

the flow points inwards wherever it touches the boundary; this is checked over the whole boundary in ball arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import flint
import sympy as sp

from odesys import (
    ONE,
    ZERO,
    Enclosure,
    EquationError,
    Evidence,
    Node,
    System,
    Verdict,
    ball_around,
    ball_evaluate,
    certified,
    combine_verdicts,
    computed_once,
    enclose,
    from_sympy,
    graph,
    refuted,
    sym,
    undecided,
)

from ..laboratory import Laboratory
from .balancing import KINDS, read_off

ORDER, PRECISION, TOLERANCE = 16, 128, Fraction(1, 2**60)
FIRST, LAST = Fraction(1), Fraction(100)


@dataclass(frozen=True, eq=False)
class Planar:
    """Enclosures on [0, 1] and [1, 100], and the expressions claims speak about."""

    system: System
    early: Enclosure
    late: Enclosure

    @property
    def rates(self) -> Mapping[str, Node]:
        """Equations by state."""
        return self.system.equations

    def above(self, level: Fraction) -> Node:
        """Positive exactly where R = z'/x' is above `level`, as long as x' > 0."""
        return self.rates["z"] - level * self.rates["x"]

    def lie(self, node: Node) -> Node:
        """Derivative of an expression along the flow."""
        slopes = graph.gradient(node, [sym(name) for name in self.system.names])
        return graph.add([s * r for s, r in zip(slopes, self.system.nodes, strict=True)])


@computed_once
def planar(lab: Laboratory) -> Planar:
    """Enclose level 4 from zero; in two runs, since what vanishes at zero is told from its Taylor coefficients."""
    system = lab.planar()
    options: dict[str, Any] = {"order": ORDER, "precision": PRECISION, "tolerance": TOLERANCE, "frames": False}
    early = enclose(system, {"x": 0, "z": 0}, FIRST, **options)
    with flint.ctx.workprec(PRECISION):
        start = {name: ball_around(*ends) for name, ends in zip(system.names, early.final, strict=True)}
    return Planar(system, early, enclose(system, start, LAST, t_start=FIRST, **options))


def reduced_rates(system: System) -> tuple[dict[str, sp.Expr], sp.Expr]:
    """Rates of theta, kappa and g2 divided by g2, and R, as expressions in theta, kappa, g2; read off the equations."""
    theta, kappa, g2 = sp.symbols("theta kappa g2", positive=True)
    K, phi = read_off(system)
    g = sp.Matrix([theta * g2, g2, kappa * g2])
    u = phi * K * g  # rates of the margins of I1, I2, I4
    log = {c: -(1 - g[j]) * u[j] for j, c in enumerate(KINDS)}
    rates = {"theta": theta * (log[1] - log[2]), "kappa": kappa * (log[4] - log[2]), "g2": g2 * log[2]}
    moved = K * g
    names = list(system.names)
    return (
        {name: sp.expand(sp.cancel(rate / g2)) for name, rate in rates.items()},
        sp.cancel(moved[names.index("z")] / moved[names.index("x")]),
    )


def boundary(system: System, low: Fraction, high: Fraction) -> dict[str, sp.Expr]:
    """Expressions in kappa and g2 that are positive on the whole region if the flow never leaves R in [low, high]."""
    theta, kappa, g2 = sp.symbols("theta kappa g2", positive=True)
    rates, R = reduced_rates(system)
    if any(sp.degree(rates[name], theta) > 1 for name in ("kappa", "g2")):
        raise EquationError("the rates of kappa and g2 are not linear in theta between the edges")
    inside, edges = {}, {}
    for name, level, sign in (("R = low", low, 1), ("R = high", high, -1)):
        top, bottom = sp.fraction(sp.together(R - sp.Rational(level.numerator, level.denominator)))
        edge = sp.solve(top, theta)[0]
        change = sum(sp.diff(top / bottom, v) * rates[str(v)] for v in (theta, kappa))
        inside[name] = sp.cancel((sign * change).subs(theta, edge))
        edges[name] = edge
    for name, edge in edges.items():  # kappa and g2 fall on both edges; both rates are linear in theta between them
        for what, rate in (("kappa", rates["kappa"] / kappa), ("g2", rates["g2"] / g2)):
            inside[f"{what} falls, {name}"] = sp.cancel(-rate.subs(theta, edge))
    return inside


def trapping(system: System, low: Fraction, high: Fraction, kappa0: Fraction, g_bar: Fraction) -> Verdict:
    """The set R in [low, high], kappa <= kappa0, g2 <= g_bar is never left: signs on its boundary, in balls."""
    try:
        inside = boundary(system, low, high)
    except EquationError as error:
        return undecided(str(error))
    return combine_verdicts({name: _positive_on(node, kappa0, g_bar) for name, node in inside.items()})


def _positive_on(expression: sp.Expr, kappa0: Fraction, g_bar: Fraction, depth: int = 12) -> Verdict:
    """An expression in kappa, g2 is positive on [0, kappa0] x [0, g_bar], by bisection with balls."""
    node = from_sympy(expression)
    todo = [((Fraction(0), kappa0), (Fraction(0), g_bar), 0)]
    boxes = 0
    while todo:
        first, second, level = todo.pop()
        with flint.ctx.workprec(PRECISION):
            env = {"kappa": ball_around(*first), "g2": ball_around(*second)}
        value = ball_evaluate([node], env, PRECISION)[0]
        boxes += 1
        if value > 0:
            continue
        if value < 0:
            return refuted({"kappa": str(first), "g2": str(second)}, Evidence.CERTIFICATE)
        if level == depth:
            return undecided(f"not decided at kappa in {first}, g2 in {second}", Evidence.CERTIFICATE)
        middle = [(a + b) / 2 for a, b in (first, second)]
        halves = [[(a, c), (c, b)] for (a, b), c in zip((first, second), middle, strict=True)]
        todo += [(p, q, level + 1) for p in halves[0] for q in halves[1]]
    return certified(boxes=boxes)


def at_end(run: Enclosure, nodes: Mapping[str, Node]) -> dict[str, Any]:
    """Balls that hold expressions in the states at the end of a run."""
    with flint.ctx.workprec(PRECISION):
        env = {name: ball_around(*ends) for name, ends in zip(run.system.names, run.final, strict=True)}
    return dict(zip(nodes, ball_evaluate(list(nodes.values()), env, PRECISION), strict=True))


# ---- certificates ------------------------------------------------------------------------------------------------

TURN, HALF, RIGHT = (
    tuple(map(Fraction, ends)) for ends in (("3.56472", "3.56473"), ("4.88548", "4.88549"), ("12.97941", "12.97942"))
)  # R = 1, R = 1.2, all samples right
PEAK = Fraction("1.5307")
LOW, HIGH, KAPPA, G_BAR = Fraction(6, 5), Fraction(154, 100), Fraction(1, 20), Fraction(6, 25)  # the trapping region


def write_crossings(lab: Laboratory, path: Path, until: Fraction = LAST) -> None:
    """The flow from zero to `until` in one run, with the signs that are its crossings, for `check_enclosure.py`."""
    system = lab.planar()
    run = enclose(system, {"x": 0, "z": 0}, until, order=ORDER, precision=PRECISION, tolerance=TOLERANCE)
    whole = Planar(system, run, run)
    rates, margin = whole.rates, system.observables
    claims: list[Any] = [("x grows", rates["x"], ">0")]
    claims += [(f"I{c} is right", margin[f"margin_I{c}"], ">0") for c in (1, 4)]
    for text, node, (low, high) in (
        ("R = 1", whole.above(Fraction(1)), TURN),
        ("R = 1.2", whole.above(LOW), HALF),
        ("one-target margin = 0", margin["margin_I2"], RIGHT),
    ):
        if until >= high:
            claims += [
                (f"{text}: not before {float(low)}", -node, ">0", (None, low)),
                (f"{text}: crossed once", whole.lie(node), ">0", (low, high)),
            ]
        if until > high:
            claims.append((f"{text}: passed from {float(high)} on", node, ">0", (high, None)))
    if until > HALF[1]:
        claims.append((f"R < {float(PEAK)}", -whole.above(PEAK), ">0", (HALF[1], None)))
    if until == LAST:
        g = {c: graph.call("sigmoid", -margin[f"margin_I{c}"]) for c in (2, 4)}
        late = (LAST - 1, None)
        claims += [
            (f"arrives: g4/g2 < {KAPPA}", KAPPA * g[2] - g[4], ">0", late),
            (f"arrives: g2 < {G_BAR}", G_BAR - g[2], ">0", late),
        ]
    run.to_file(path, claims)


def write_trapping(lab: Laboratory, path: Path) -> None:
    """The signs on the boundary of the trapping region, for `check_enclosure.py`.

    The file is a run in which kappa is the time and g2, anywhere in its range, stands still: it meets every point.
    """
    forms = boundary(lab.planar(), LOW, HIGH)
    with flint.ctx.workprec(PRECISION):
        anywhere = ball_around(Fraction(0), G_BAR)
    sweep = System.from_equations({"kappa": ONE, "g2": ZERO})
    run = enclose(sweep, {"kappa": 0, "g2": anywhere}, KAPPA, order=ORDER, precision=PRECISION, frames=False)
    run.to_file(path, [(name, from_sympy(node), ">0") for name, node in forms.items()])
