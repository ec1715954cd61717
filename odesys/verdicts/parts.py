"""What a verdict carries: evidence, witness, tolerance, seeds, regime and proof, each a value of its own.

>>> Regime().where, str(max(Evidence))
('inside', 'proof')
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from math import isfinite
from typing import Any

HOLDS, FAILS, UNDECIDED, UNTESTED = ANSWERS = ("holds", "fails", "undecided", "untested")
FAULTS = ("misprint", "constant", "proof", "false")  # from the mildest to the severest
INSIDE, APPROACHED, OUTSIDE = WHERE = ("inside", "approached", "outside")
EVERY = "every"  # of a size: the proof is for all its values

Point = Mapping[str, Any]  # a number per name; a pair (low, high) in place of a number makes it a box


class Evidence(IntEnum):
    """How strongly something was checked; combining never raises it.

    Examples
    --------
    >>> str(min(Evidence.PROOF, Evidence.MEASUREMENT))
    'measurement'
    """

    MEASUREMENT = 1  # floats, or exact arithmetic at sampled points: tolerance, margin, sweep, seeds in the verdict
    CERTIFICATE = 2  # exhaustive, or outward-rounded arithmetic over the whole region; also an instance, exactly
    PROOF = 3  # residual reduced to zero by exact, named rewriting

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Witness:
    """Where a statement fails: a sentence that anyone can check by hand, and the point it speaks of.

    Parameters
    ----------
    sentence : str
        Anyone can check it by hand.
    point : Point
        What it speaks of.

    Examples
    --------
    >>> Witness("at t = 1 the left side is 0.031 and the right side 0.008", {"t": 1}).point
    {'t': 1}
    """

    sentence: str
    point: Point


@dataclass(frozen=True)
class Tolerance:
    """A limit and the reason it had before the run; a calibrated one names the seeds or points it was set on.

    >>> Tolerance(1e-6, "ten times the tolerance of the solver").calibrated_on
    ()
    """

    value: Any
    because: str
    calibrated_on: tuple[Any, ...] = ()
    beside: tuple[Tolerance, ...] = ()  # limits of the other checks that a verdict is made of

    def __and__(self, other: Tolerance) -> Tolerance:
        """The first one speaks; each other limit is kept beside it, once."""
        known = dict.fromkeys(map(repr, (replace(self, beside=()), *self.beside)))
        more = [each for each in (replace(other, beside=()), *other.beside) if repr(each) not in known]
        return replace(self, beside=(*self.beside, *more))

    def as_json(self) -> dict[str, Any]:
        """The documented fields."""
        own = {"value": self.value, "because": self.because, "calibrated": bool(self.calibrated_on)}
        return own | ({"beside": [each.as_json() for each in self.beside]} if self.beside else {})


@dataclass(frozen=True)
class Seeds:
    """Seeds used; where each passes or not, how many passed, and the exact 99.9 percent interval of the probability.

    >>> Seeds((0, 1, 2), passed=3, low=0.08, high=1.0).count
    3
    """

    used: tuple[int, ...]
    passed: int | None = None
    low: float | None = None
    high: float | None = None
    beside: tuple[int, ...] = ()  # those of other parts, which a limit may not have been calibrated on either

    @property
    def count(self) -> int:
        """Number of seeds."""
        return len(self.used)

    def as_json(self) -> dict[str, Any]:
        """The documented fields."""
        return {"count": self.count, "passed": self.passed, "low": self.low, "high": self.high}

    def __and__(self, other: Seeds) -> Seeds:
        """The part of lower probability speaks; the seeds of the other one are kept beside it."""
        first, second = sorted((self, other), key=lambda seeds: 2.0 if seeds.low is None else seeds.low)
        return replace(first, beside=tuple(dict.fromkeys((*first.beside, *second.used, *second.beside))))


@dataclass(frozen=True)
class Shortfall:
    """How far a hypothesis is from holding: its slack, and the factor between its two sides where both are positive.

    >>> Shortfall(0.75, 4.0).factor, Shortfall(0.75).factor
    (4.0, None)
    """

    by: float
    factor: float | None = None

    def as_json(self) -> dict[str, float | None]:
        """The documented fields; no factor where none would help."""
        return {"by": self.by, "factor": self.factor if self.factor is None or isfinite(self.factor) else None}


@dataclass(frozen=True)
class Regime:
    """Where the hypotheses were met: inside, approached along a path, or outside; what is violated, and by how much.

    `of` says inside of what, where that is less than all that the paper supposes, as for its experiments.

    >>> Regime("approached", {"m is large": Shortfall(0.2)}).where
    'approached'
    """

    where: str = INSIDE
    violated: Mapping[str, Shortfall] = field(default_factory=dict)
    of: str = ""

    def __post_init__(self) -> None:
        if self.where not in WHERE:
            raise ValueError(f"a regime is {', '.join(WHERE)}, not {self.where!r}")

    def as_json(self) -> dict[str, Any]:
        """The documented fields; `of` where it is said."""
        violated = [{"name": name} | left.as_json() for name, left in self.violated.items()]
        return {"where": self.where, "violated": violated} | ({"of": self.of} if self.of else {})


@dataclass(frozen=True)
class Proof:
    """What was proved: the steps, how many residuals were reduced to zero, for which sizes, and what was assumed.

    `sizes` has for a size such as K the word ``every``, or the number the proof is about: then it is one instance.
    `assumed` has the hypotheses that were used, such as ``omega > 0``.

    >>> Proof(("named rewriting",), 80, {"K": "2"}).sizes
    {'K': '2'}
    """

    steps: tuple[str, ...] = ()
    residuals: int = 0
    sizes: Mapping[str, str] = field(default_factory=dict)
    assumed: tuple[str, ...] = ()

    def __and__(self, other: Proof) -> Proof:
        steps = tuple(dict.fromkeys((*self.steps, *other.steps)))
        assumed = tuple(dict.fromkeys((*self.assumed, *other.assumed)))
        sizes = {}
        for name in dict.fromkeys((*self.sizes, *other.sizes)):
            known = [proof.sizes[name] for proof in (self, other) if name in proof.sizes]
            sizes[name] = ", ".join(dict.fromkeys(size for size in known if size != EVERY)) or EVERY
        return Proof(steps, self.residuals + other.residuals, sizes, assumed)

    def as_json(self) -> dict[str, Any]:
        """The documented fields."""
        steps, sizes, assumed = list(self.steps), dict(self.sizes), list(self.assumed)
        return {"steps": steps, "residuals": self.residuals, "sizes": sizes, "assumed": assumed}
