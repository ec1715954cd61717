"""What a search for equilibria answers with: points, continua, what is undecided, and all of it as one sequence."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..exact.balls import Interval
from ..expr.system import System
from .number_field import AlgebraicPoint
from .rest_words import rest_words

EVERYWHERE = (-math.inf, math.inf)

Ends = tuple[Any, Any]


@dataclass(frozen=True)
class Equilibrium:
    """A point where the field vanishes.

    Attributes
    ----------
    point : values by state name, exact expressions where there are such, else floats.
    evidence : ``proof`` for an exact point, ``certificate`` for one enclosed with the proof that it is there and
        alone, ``measurement`` where the equations contain floats.
    enclosure : rational ends of an interval for each state that holds the point; empty in symbols.
    multiplicity : of the zero; None where only known to be above one, in symbols, or where the field has a kink.
    condition : what parameters must satisfy, for a point in symbols.
    slides : True where the field jumps at the point, and rests by a mixture of both sides (Filippov).
    """

    point: Mapping[str, Any]
    evidence: str = "proof"
    enclosure: Mapping[str, Interval] = field(default_factory=dict, repr=False)
    multiplicity: int | None = 1
    condition: tuple[Any, ...] = ()
    algebraic: AlgebraicPoint | None = field(default=None, repr=False, compare=False)
    slides: bool = False


@dataclass(frozen=True)
class Continuum:
    """A set of equilibria of positive dimension.

    Attributes
    ----------
    point : the states; those in `free` stand for themselves, the others are functions of them.
    dimension : of the set.
    equations : what else must vanish between the states that are left.
    condition : where in the space, or for which parameters, this is so.
    """

    point: Mapping[str, Any]
    free: tuple[str, ...]
    dimension: int
    equations: tuple[Any, ...] = ()
    condition: tuple[Any, ...] = ()
    evidence: str = "proof"


@dataclass(frozen=True)
class Undecided:
    """Where equilibria are neither found nor excluded: a box, or equations; with the reason, and one that is there.

    `condition` says for which parameters this is so.
    """

    reason: str
    box: Mapping[str, Interval] = field(default_factory=dict)
    equations: tuple[Any, ...] = ()
    contains: Mapping[str, Any] | None = None
    condition: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Equilibria(Sequence[Equilibrium]):
    """The isolated real equilibria as a sequence, and all that belongs to an honest answer.

    Attributes
    ----------
    families : continua of equilibria, with their dimension.
    undecided : what is left open.
    box : where was searched, by state; (-inf, inf) is everywhere.
    complete : True if every real equilibrium in `box` is one of these points or lies in one of the families.
    special : equilibria in symbols that exist only where parameters satisfy an equation.
    reading : how floats were read; empty if there were none.
    kind : ``flow``, or ``map``, whose fixed points these are.

    >>> import sympy as sp
    >>> from odesys.analysis.equilibria import equilibria
    >>> x = sp.Symbol("x")
    >>> found = equilibria(System.from_equations({x: x * (x**2 - 300)}))
    >>> [str(e.point["x"]) for e in found], found.complete, found.box
    (['-10*sqrt(3)', '0', '10*sqrt(3)'], True, {'x': (-inf, inf)})
    """

    points: tuple[Equilibrium, ...]
    families: tuple[Continuum, ...]
    undecided: tuple[Undecided, ...]
    box: Mapping[str, Ends]
    special: tuple[Equilibrium | Continuum, ...] = ()
    reading: str = ""
    kind: str = "flow"

    @property
    def complete(self) -> bool:
        """Whether nothing is left open in the box."""
        return not self.undecided

    @property
    def where(self) -> str:
        """Where was searched: the ranges of states that have one, or an empty text for the whole space."""
        ranges: dict[str, list[str]] = {}
        for name, (low, high) in self.box.items():
            if math.isfinite(low) or math.isfinite(high):
                ranges.setdefault(f"[{float(low):g}, {float(high):g}]", []).append(name)
        return ", ".join(f"{', '.join(names)} in {ends}" for ends, names in ranges.items())

    def __getitem__(self, index: Any) -> Any:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[Equilibrium]:
        return iter(self.points)

    def __str__(self) -> str:
        count = rest_words(self.kind).count(len(self.points), "isolated ")
        parts = [f"{count} {'with ' + self.where if self.where else 'on the whole space'}"]
        parts += [f"a family of dimension {f.dimension} in {', '.join(f.free)}" for f in self.families]
        parts += [f"undecided: {u.reason}" for u in self.undecided] or ["complete"]
        return "; ".join(parts)


def in_order(points: Sequence[Equilibrium], system: System) -> tuple[Equilibrium, ...]:
    """Points from the least value of the first state to the largest, then by the next ones."""

    def place(e: Equilibrium) -> list[float]:
        return [round(float(sum(e.enclosure[name])), 12) for name in system.names]  # an enclosed zero is not quite zero

    return tuple(sorted(points, key=place))
