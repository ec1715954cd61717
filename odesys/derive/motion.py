r"""Rules of training: a map moves by a combination of maps and of its force :math:`-\partial\mathcal L/\partial W`.

.. math::  \dot W = c\,(-\partial\mathcal L/\partial W) + \sum_V c_V V \quad\text{(a flow)}, \qquad
           W^+ = \eta c\,(-\partial\mathcal L/\partial W) + \sum_V c_V V \quad\text{(a step)} .

Every rule of this form closes on the same paths. A new rule is one small object of two parts, of which mostly one is
needed:

1. a function from maps to `Rule`, such as `plain` or `heavy_ball`: for each map its `Motion`, the factor of the force
   and the maps that are added. A map that the program does not have (a velocity) becomes part of the system.
2. a `Turn`, what is done with all forces before they move anything: `SIGN`, `NORMALISED`. It gets the forces of the
   read paths as blocks, and the squared size of the gradient where it asks for it. A turn that looks at entries, as
   the sign does, says so; it is then only used where the axes of every trained map are listed.

`derive_flow(program, train, turn=Turn(...))` derives with it; clipping, for example, is

>>> from odesys.expr.graph import relu
>>> def clipped(forces, square):
...     z = sym("z")
...     return [blocks.apply(-1 + relu(z + 1) - relu(z - 1), force) for force in forces]
>>> Turn("clipped descent", clipped, entries=True).name
'clipped descent'
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from ..errors import ModelError
from ..exact.sign_normal import sign_node
from ..expr import blocks
from ..expr.blocks import Block
from ..expr.graph import ONE, ZERO, Node, power, sym
from ..model.paths import Path
from ..program.naming import Naming
from ..program.spaces import Space, Words

STEP_SIZE, FRICTION = "eta", "gamma"


@dataclass(frozen=True)
class Motion:
    """How one map moves: the factor of a force (its own, or that `on` another map), and maps with their factors."""

    force: Node = ONE
    maps: Mapping[str, Node] = field(default_factory=dict)
    on: str = ""


Forces = Sequence[Block]  # -dL/d(read path), one for each path that the loss reads


@dataclass(frozen=True)
class Turn:
    """What a rule makes of all forces before they move maps: a function of them and of |gradient|^2, made on demand.

    `entries` says that it looks at single entries, so that the axes of every trained map must be listed.
    """

    name: str
    change: Callable[[Forces, Callable[[], Block]], Forces]
    entries: bool = False


def _signs(forces: Forces, square: Callable[[], Block]) -> Forces:
    return [blocks.apply(sign_node(sym("z")), force) for force in forces]


def _of_size_one(forces: Forces, square: Callable[[], Block]) -> Forces:
    scale = blocks.apply(power(sym("z"), Fraction(-1, 2)), square())
    return [blocks.multiply(scale, force) for force in forces]


SIGN = Turn("sign descent", _signs, entries=True)
NORMALISED = Turn("normalised descent", _of_size_one)


@dataclass(frozen=True)
class Rule:
    """How all maps move. `step` marks a map W -> W+ instead of a flow; a map that is not listed stands still."""

    motions: Mapping[str, Motion]
    step: bool = False
    turn: Turn | None = None

    @property
    def moving(self) -> frozenset[str]:
        """The maps that move."""
        return frozenset(self.motions)

    @property
    def velocities(self) -> tuple[str, ...]:
        """The maps that the rule brings, each moved by the force on another map."""
        return tuple(name for name, motion in self.motions.items() if motion.on)

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


def check_velocities(maps: Sequence[str], moving: Sequence[str]) -> None:
    """Refuse a velocity whose name is that of a map of the program, or of another velocity."""
    owners: dict[str, str] = {}
    for name in moving:
        velocity = velocity_name(name)
        if velocity in maps:
            raise ModelError(f"the map {velocity} has the name of the velocity of {name}; rename it")
        if velocity in owners:
            raise ModelError(f"the velocities of {owners[velocity]} and {name} are both called {velocity}; rename one")
        owners[velocity] = name


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


def check_turn(turn: Turn, naming: Naming, read: Sequence[Path], rule: Rule) -> None:
    """Refuse a turn that looks at entries where a trained map is read without its axes."""
    for path in read if turn.entries else ():
        for name in dict.fromkeys(letter.map for letter in path.letters if letter.map in rule.moving):
            if len(path.letters) > 1:
                sides = naming.letters[name].rows, naming.letters[name].columns
                free = [s.name for s in sides if isinstance(s, Space) and not isinstance(s, Words)]
                raise ModelError(
                    f"{turn.name} needs the axes of {name} listed: {name} is read in the chain {path}, where only "
                    f"inner products exist; list its space with Units('{free[0] if free else 'r'}', n)",
                    path=path,
                )
            for pin in (naming.pins[path.left], naming.pins[path.right]):
                if pin.gram is not None:
                    raise ModelError(
                        f"{turn.name} needs the axes of {name} listed, but its words {', '.join(pin.labels[:3])} have "
                        f"a Gram matrix; take orthonormal words, which are the axes, and tokens as combinations"
                    )
    silent = [name for name, motion in rule.motions.items() if motion.force is ZERO]
    if silent:
        raise ModelError(f"{turn.name} gives the rate 0 to {silent[0]}; leave it out of train")
