"""Verdict: does a statement hold as printed, on what evidence, and what holds instead.

`as_stated` and `evidence` are kept apart, so that a plot never passes for a proof; `fails` carries a witness that can
be substituted by hand, `undecided` its residual.

>>> measured(True).as_stated == HOLDS, refuted({"x": "1"}).as_stated == FAILS
(True, True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"


class Evidence(IntEnum):
    """How strongly something was checked; combining never raises it.

    >>> str(min(Evidence.PROOF, Evidence.MEASUREMENT))
    'measurement'
    """

    MEASUREMENT = 1  # floats, or exact arithmetic at sampled points: tolerance, margin, sweep, seeds in .details
    CERTIFICATE = 2  # exhaustive, or outward-rounded arithmetic over the whole region
    PROOF = 3  # residual reduced to zero by exact, named rewriting

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True)
class Corrected:
    """The form that holds where the printed one fails: a verdict of its own, and why."""

    statement: str
    as_stated: str
    evidence: Evidence
    why: str = ""
    witness: Any = None

    def as_json(self) -> dict[str, Any]:
        """The documented fields."""
        return {
            "statement": self.statement,
            "as_stated": self.as_stated,
            "evidence": str(self.evidence),
            "witness": self.witness,
            "why": self.why,
        }


@dataclass(frozen=True)
class Verdict:
    """The answer for one statement taken literally; `corrected`, `sharpened` and `constants` say what is true.

    >>> both = proved() & measured(True, loss=0.01)
    >>> both.as_stated, str(both.evidence), both.details
    ('holds', 'measurement', {'loss': 0.01})
    """

    as_stated: str
    evidence: Evidence
    witness: Any = None
    residual: str = ""
    corrected: Corrected | None = None
    sharpened: str = ""
    constants: Mapping[str, Any] = field(default_factory=dict)
    details: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.as_stated not in (HOLDS, FAILS, UNDECIDED):
            raise ValueError(f"a verdict holds, fails or is undecided, not {self.as_stated!r}")
        if not isinstance(self.evidence, Evidence):
            raise ValueError(f"the evidence {self.evidence!r} is not one of measurement, certificate, proof")
        if self.as_stated == FAILS and self.witness is None:
            raise ValueError("a failure needs a witness that anyone can check")
        if self.as_stated == UNDECIDED and not self.residual:
            raise ValueError("an undecided verdict needs its residual")

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; look at .as_stated (holds, fails, undecided)")

    def __and__(self, other: Verdict) -> Verdict:
        """Both statements: a failure wins, then what is undecided; two that hold keep the weaker evidence."""
        if not isinstance(other, Verdict):
            return NotImplemented
        first, second = sorted((self, other), key=lambda v: (_RANK[v.as_stated], v.evidence))
        strength = first.evidence if first.as_stated != second.as_stated else min(first.evidence, second.evidence)
        if first.as_stated == FAILS == second.as_stated:
            # one failure is enough: the better proved one speaks
            first, second = second, first
            strength = first.evidence
        return replace(
            first,
            evidence=strength,
            constants={**other.constants, **self.constants},
            details={**other.details, **self.details},
            corrected=self.corrected or other.corrected,
            sharpened=self.sharpened or other.sharpened,
        )

    def adding(self, **details: Any) -> Verdict:
        """The same verdict with more details."""
        return replace(self, details={**self.details, **details})

    def with_constants(self, **constants: Any) -> Verdict:
        """The same verdict with explicit constants."""
        return replace(self, constants={**self.constants, **constants})

    def correcting(self, statement: str, holds: Verdict, why: str) -> Verdict:
        """The same verdict with the form that holds instead, whose own check is `holds`."""
        fixed = Corrected(statement, holds.as_stated, holds.evidence, why, holds.witness)
        return replace(self, corrected=fixed, constants={**self.constants, **holds.constants})


_RANK = {FAILS: 0, UNDECIDED: 1, HOLDS: 2}


def proved(**details: Any) -> Verdict:
    """Holds, by exact rewriting.

    >>> verdict = proved(method="expansion")
    >>> verdict.as_stated, str(verdict.evidence)
    ('holds', 'proof')
    """
    return Verdict(HOLDS, Evidence.PROOF, details=details)


def certified(**details: Any) -> Verdict:
    """Holds, exhaustively or with outward rounding over the whole region.

    >>> verdict = certified(enumerated="24 permutations")
    >>> verdict.as_stated, str(verdict.evidence)
    ('holds', 'certificate')
    """
    return Verdict(HOLDS, Evidence.CERTIFICATE, details=details)


def measured(holds: bool, witness: Any = None, **details: Any) -> Verdict:
    """The outcome of a floating-point check: never more than a measurement.

    >>> measured(0.51 < 0.5, loss=0.51).witness
    {'loss': 0.51}
    """
    if holds:
        return Verdict(HOLDS, Evidence.MEASUREMENT, details=details)
    return Verdict(FAILS, Evidence.MEASUREMENT, witness=witness if witness is not None else details, details=details)


def decided(holds: bool, witness: Any, evidence: Evidence = Evidence.PROOF, /, **details: Any) -> Verdict:
    """The outcome of an exact check: it holds, with its details, or fails by the witness, on the same evidence.

    >>> decided(1 + 1 == 3, {"1 + 1": 2}).witness
    {'1 + 1': 2}
    """
    return Verdict(HOLDS, evidence, details=details) if holds else refuted(witness, evidence)


def refuted(witness: Any, evidence: Evidence = Evidence.PROOF, **details: Any) -> Verdict:
    """Fails, with a witness.

    >>> verdict = refuted({"x": "1/2", "residual": "3/4"})
    >>> verdict.as_stated, verdict.witness["x"]
    ('fails', '1/2')
    """
    return Verdict(FAILS, evidence, witness=witness, details=details)


def undecided(residual: str, evidence: Evidence = Evidence.MEASUREMENT, **details: Any) -> Verdict:
    """Not decided: what is left over, as text.

    >>> undecided("x**2 - y**2 is left").residual
    'x**2 - y**2 is left'
    """
    return Verdict(UNDECIDED, evidence, residual=residual, details=details)
