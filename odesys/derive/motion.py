r"""Rules of training: a map moves by a combination of maps and of its force :math:`-\partial\mathcal L/\partial W`.

.. math::  \dot W = c\,(-\partial\mathcal L/\partial W) + \sum_V c_V V \quad\text{(a flow)}, \qquad
           W^+ = \eta c\,(-\partial\mathcal L/\partial W) + \sum_V c_V V \quad\text{(a step)} .

Every rule of this form closes on the same paths; a new rule is one more function from maps to `Motion`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ..expr.graph import ONE, ZERO, Node, sym

STEP_SIZE = "eta"


@dataclass(frozen=True)
class Motion:
    """How one map moves: the factor of a force (its own, or that `on` another map), and maps with their factors."""

    force: Node = ONE
    maps: Mapping[str, Node] = field(default_factory=dict)
    on: str = ""


@dataclass(frozen=True)
class Rule:
    """How all maps move. `step` marks a map W -> W+ instead of a flow; a map that is not listed stands still."""

    motions: Mapping[str, Motion]
    step: bool = False

    @property
    def moving(self) -> frozenset[str]:
        """The maps that move."""
        return frozenset(self.motions)

    def motion(self, name: str) -> Motion:
        """The motion of a map."""
        return self.motions.get(name, Motion(ZERO, {name: ONE} if self.step else {}))


def plain(maps: frozenset[str], step: bool, rates: Mapping[str, Node] | None = None, decay: Node = ZERO) -> Rule:
    """Gradient flow, or the gradient step with step size eta; `decay` pulls every trained map towards zero."""
    rates, own = rates or {}, ONE - sym(STEP_SIZE) * decay if step else -decay
    kept = {name: {} if own is ZERO else {name: own} for name in maps}
    return Rule({name: Motion(rates.get(name, ONE), kept[name]) for name in sorted(maps)}, step)


def velocity_name(name: str) -> str:
    """The name of the velocity of a map: dK for W_K, dZ for Z; the head stays."""
    stem, dot, head = name.partition(".")
    return f"d{stem.removeprefix('W_')}{dot}{head}"


def heavy_ball(
    maps: frozenset[str], step: bool, friction: Node, rates: Mapping[str, Node] | None = None, decay: Node = ZERO
) -> Rule:
    r"""Motion with inertia; every map has a velocity V beside it, which is a map of its own.

    .. math::  \dot W = V,\ \dot V = F - \gamma V \quad\text{(a flow)}, \qquad
               V^+ = \beta V + \eta F,\ W^+ = W + V^+ \quad\text{(a step)} .
    """
    rates = rates or {}
    eta, motions = sym(STEP_SIZE), {}
    for name in sorted(maps):
        velocity, rate = velocity_name(name), rates.get(name, ONE)
        pull = {} if decay is ZERO else {name: -decay}
        if step:
            motions[velocity] = Motion(rate, {velocity: friction, **{k: eta * v for k, v in pull.items()}}, name)
            motions[name] = Motion(rate, {name: ONE - eta * decay, velocity: friction})
        else:
            motions[velocity] = Motion(rate, {velocity: -friction, **pull}, name)
            motions[name] = Motion(ZERO, {velocity: ONE})
    return Rule(motions, step)
