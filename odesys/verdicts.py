"""Verdict: does a statement hold as printed, on what evidence, where that was seen, and what holds instead.

`as_stated` and `evidence` are kept apart, so that a plot never passes for a proof; `fails` carries a witness that can
be substituted by hand, `undecided` its residual, `untested` the reason why nothing can be said. What a book under the
verdict rule may do with a verdict is in `odesys.papers.rule`.

>>> measured(True).as_stated == HOLDS, refuted({"x": "1"}).as_stated == FAILS
(True, True)
>>> undecided("x is left").as_stated == UNDECIDED, untested("m must be huge").as_stated == UNTESTED
(True, True)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import Any

from . import stated as statements
from .shortening import shortened

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


# ---- what a verdict carries ------------------------------------------------------------------------------------------


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


@dataclass(frozen=True)
class Corrected:
    """The form that holds where the printed one fails: a verdict of its own, and why."""

    statement: str
    verdict: Verdict
    why: str = ""

    @property
    def as_stated(self) -> str:
        """The answer for this form."""
        return self.verdict.as_stated

    @property
    def evidence(self) -> Evidence:
        """How strongly this form was checked."""
        return self.verdict.evidence

    def as_json(self) -> dict[str, Any]:
        """The documented fields."""
        return {
            "statement": self.statement,
            "as_stated": self.as_stated,
            "evidence": str(self.evidence),
            "witness": _plain(self.verdict.witness),
            "seeds": self.verdict.seeds and self.verdict.seeds.as_json(),
            "tolerance": self.verdict.tolerance and self.verdict.tolerance.as_json(),
            "why": self.why,
        }


# ---- the verdict -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer for one statement taken literally; `corrected`, `sharpened` and `constants` say what is true.

    Parameters
    ----------
    as_stated : str
        ``holds``, ``fails``, ``undecided`` or ``untested``.
    evidence : Evidence
        How strongly that was checked.
    witness : Any, optional
        Where it fails.
    residual : str, optional
        What is left over, or why nothing can be said.
    corrected : Corrected, optional
        The form that holds instead.
    sharpened : str, optional
        What more holds.
    constants : Mapping[str, Any], optional
        Explicit constants.
    details : Mapping[str, Any], optional
        Numbers beside the verdict.
    fault : str, optional
        ``misprint``, ``constant``, ``proof`` or ``false``.
    cause : str, optional
        A short id, the same for all displays of one slip.
    points : tuple[Point, ...], optional
        Where it was seen; a box has pairs.
    tolerance : Tolerance, optional
        A limit and its reason.
    seeds : Seeds, optional
        Of what is random.
    regime : Regime, optional
        Where the hypotheses were met.
    proof : Proof, optional
        Its steps and sizes.
    parts : Mapping[str, Verdict], optional
        Verdicts of bullets or displays.
    stated : tuple[Record, ...], optional
        What was proved, while proofs are exported; empty otherwise.

    Examples
    --------
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
    fault: str = ""
    cause: str = ""
    points: tuple[Point, ...] = ()  # where it was seen; a box has pairs
    tolerance: Tolerance | None = None
    seeds: Seeds | None = None
    regime: Regime | None = None
    proof: Proof | None = None
    parts: Mapping[str, Verdict] = field(default_factory=dict)
    stated: tuple[statements.Record, ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if self.evidence == Evidence.PROOF and not self.stated and statements.recording():
            object.__setattr__(self, "stated", (statements.Unstated(),))
        if self.as_stated not in ANSWERS:
            raise ValueError(f"a verdict holds, fails, is undecided or untested, not {self.as_stated!r}")
        if not isinstance(self.evidence, Evidence):
            raise ValueError(f"the evidence {self.evidence!r} is not one of measurement, certificate, proof")
        if self.as_stated == FAILS and self.witness is None:
            raise ValueError("a failure needs a witness that anyone can check")
        if self.as_stated in (UNDECIDED, UNTESTED) and not self.residual:
            raise ValueError(
                f"an {self.as_stated} verdict needs its residual: what is left, or why nothing can be said"
            )
        if self.fault and (self.fault not in FAULTS or self.as_stated != FAILS):
            raise ValueError(f"only a failure has a fault, one of {', '.join(FAULTS)}, not {self.fault!r}")

    def __repr__(self) -> str:
        fault = f", {self.fault}" if self.fault else ""
        why = f": {self.witness.sentence if isinstance(self.witness, Witness) else self.witness or self.residual}"
        return shortened(f"<Verdict: {self.as_stated}, {self.evidence}{fault}{why if why != ': ' else ''}>")

    def _repr_html_(self) -> str:
        from .report.cards import verdict_card

        return verdict_card(self)

    def __bool__(self) -> bool:
        raise TypeError("a verdict has no truth value; look at .as_stated (holds, fails, undecided, untested)")

    def __and__(self, other: Verdict) -> Verdict:
        """Both statements: a failure wins, then undecided, then untested; two that hold keep the weaker evidence."""
        if not isinstance(other, Verdict):
            return NotImplemented
        first, second = sorted((self, other), key=lambda v: (_RANK[v.as_stated], v.evidence))
        strength = first.evidence if first.as_stated != second.as_stated else min(first.evidence, second.evidence)
        if first.as_stated == FAILS == second.as_stated:
            # one failure is enough: the severer one speaks, then the better proved one, then the one named first
            first, second = sorted((self, other), key=lambda v: (_severity(v.fault), v.evidence), reverse=True)
            strength = first.evidence
        return replace(
            first,
            evidence=strength,
            constants={**other.constants, **self.constants},
            details=_both(self.details, other.details),
            corrected=first.corrected or second.corrected,
            sharpened=self.sharpened or other.sharpened,
            points=_union(self.points, other.points),
            tolerance=_limits(first.tolerance, second.tolerance),
            seeds=self.seeds & other.seeds if self.seeds and other.seeds else self.seeds or other.seeds,
            regime=_weaker_regime(self.regime, other.regime),
            proof=self.proof & other.proof if self.proof and other.proof else self.proof or other.proof,
            stated=tuple(dict.fromkeys((*self.stated, *other.stated))),
        )

    def adding(self, **details: Any) -> Verdict:
        """The same verdict with more details."""
        return replace(self, details={**self.details, **details})

    def with_constants(self, **constants: Any) -> Verdict:
        """The same verdict with explicit constants."""
        return replace(self, constants={**self.constants, **constants})

    def correcting(self, statement: str, holds: Verdict, why: str) -> Verdict:
        """The same verdict with the form that holds instead, whose own check is `holds`.

        Parameters
        ----------
        statement : str
            What holds, in TeX.
        holds : Verdict
            The verdict of that form.
        why : str
            In a sentence.

        Returns
        -------
        Verdict
            The same verdict.
        """
        said = {name: value for name, value in holds.details.items() if isinstance(value, (str, int, float))}
        fixed = Corrected(statement, replace(holds, details=said, parts={}), why)
        return replace(self, corrected=fixed, constants={**self.constants, **holds.constants})

    def blaming(self, fault: str, cause: str = "") -> Verdict:
        """A failure with its fault, and the short id of the slip that caused it; any other verdict is left alone.

        Parameters
        ----------
        fault : str
            ``misprint``, ``constant``, ``proof`` or ``false``.
        cause : str, optional
            A short id of the slip.

        Returns
        -------
        Verdict
            The same verdict.
        """
        return replace(self, fault=fault, cause=cause) if self.as_stated == FAILS else self

    def witnessed(self, sentence: str, point: Point) -> Verdict:
        """A failure with its witness as a sentence and the point it speaks of; any other verdict is left alone."""
        if self.as_stated != FAILS:
            return self
        return replace(self, witness=Witness(sentence, point), points=(point,))

    def at(self, *points: Point) -> Verdict:
        """The same verdict with the points or boxes where it was seen."""
        return replace(self, points=_union(self.points, points))

    def averaging(self, seeds: Iterable[int]) -> Verdict:
        """The same verdict, about means (or the largest, or the smallest) over these seeds.

        >>> measured(True, mean=0.3).averaging(range(20)).seeds.count
        20
        """
        return replace(self, seeds=Seeds(tuple(seeds)))

    def within(self, value: Any, because: str, calibrated_on: Iterable[Any] = ()) -> Verdict:
        """The same verdict with its tolerance and the reason for it."""
        return replace(self, tolerance=Tolerance(value, because, tuple(calibrated_on)))

    def approaching(self, violated: Mapping[str, Shortfall]) -> Verdict:
        """The same verdict, about the trend along a path into the regime; `violated` is what is left at its end."""
        return replace(self, regime=Regime(APPROACHED, dict(violated)))

    def inside(self, of: str) -> Verdict:
        """The same verdict, seen inside what `of` names, which is not all that the paper supposes elsewhere."""
        return replace(self, regime=Regime(of=of))

    def proving(self, *steps: str, **sizes: Any) -> Verdict:
        """The same verdict with steps of its proof, and sizes it is for: ``K="every"``, or ``K=2`` for an instance.

        An instance is never a proof of a general statement: its evidence is a certificate.

        Parameters
        ----------
        *steps : str
            What was substituted, which identity closed it.
        **sizes : Any
            ``K="every"``, or ``K=2`` for an instance.

        Returns
        -------
        Verdict
            The same verdict.
        """
        known = {name: str(size) for name, size in sizes.items()}
        instance = any(size != EVERY for size in known.values())
        evidence = min(self.evidence, Evidence.CERTIFICATE) if instance else self.evidence
        return replace(self, evidence=evidence, proof=(self.proof or Proof()) & Proof(steps, 0, known))

    def assuming(self, *facts: str) -> Verdict:
        """The same verdict, whose proof takes facts for granted: what they are is said with it.

        Parameters
        ----------
        *facts : str
            Such as ``"Lemma 2, which is measured"``.

        Returns
        -------
        Verdict
            The same verdict.
        """
        return replace(self, proof=(self.proof or Proof()) & Proof(assumed=facts))

    def stating(
        self,
        relations: Mapping[str, tuple[Any, str, Any]],
        positive: Collection[str] = (),
        nonnegative: Collection[str] = (),
        *,
        at: Mapping[Any, Any] | None = None,
        where: Iterable[tuple[Any, str, Any]] = (),
    ) -> Verdict:
        """The same verdict with what it decided, for an export of proofs; of a failure that is the negation.

        Parameters
        ----------
        relations : Mapping[str, tuple[Any, str, Any]]
            By name a left side, a relation (``=``, ``!=``, ``<``, ``<=``, ``>``, ``>=``) and a right side: numbers,
            nodes or expressions of SymPy.
        positive : Collection[str], optional
            Names of symbols taken to be positive, besides those of which SymPy knows it.
        nonnegative : Collection[str], optional
            Names of symbols taken to be zero or more, likewise.
        at : Mapping[Any, Any], optional
            Values put into both sides: the statement is about the sides there.
        where : Iterable[tuple[Any, str, Any]], optional
            What is assumed besides, as relations.

        Returns
        -------
        Verdict
            The same verdict.

        Examples
        --------
        >>> decided(2 < 3, {}).stating({"two and three": (2, "<", 3)}).as_stated
        'holds'
        """
        if not statements.recording():
            return self
        known = tuple(each for each in self.stated if each != statements.Unstated())
        more = statements.handed(relations, positive, nonnegative, at or {}, where)
        return replace(self, stated=(*known, *more))

    def arguing(self, why: str) -> Verdict:
        """The same verdict, which goes from what it states to its answer in words: an export of proofs says so.

        >>> refuted({"x": "1"}).arguing("argues in words from a bound").as_stated
        'fails'
        """
        if not statements.recording():
            return self
        known = tuple(each for each in self.stated if each != statements.Unstated())
        return replace(self, stated=(*known, statements.Unstated(why)))

    def by_theorems(
        self,
        file: Path,
        definitions: Mapping[str, tuple[Collection[str], Any]] | None = None,
        alone: bool = False,
    ) -> Verdict:
        """The same verdict, whose way from what it states to its answer is written in Coq, for an export of proofs.

        Parameters
        ----------
        file : Path
            Theorems with their proofs; they speak of the definitions by name.
        definitions : Mapping[str, tuple[Collection[str], Any]], optional
            By name the symbols that are arguments, and an expression of the check: a number, a node, or one of SymPy.
        alone : bool, optional
            Whether the theorems say all of it, so that what was stated before is left out.

        Returns
        -------
        Verdict
            The same verdict.

        Examples
        --------
        >>> decided(2 < 3, {}).by_theorems(Path("order.v"), {"three": ((), 3)}).as_stated
        'holds'
        """
        if not statements.recording():
            return self
        known = () if alone else tuple(each for each in self.stated if each != statements.Unstated())
        told = tuple((name, tuple(symbols), value) for name, (symbols, value) in (definitions or {}).items())
        return replace(self, stated=(*known, statements.Argued(file.read_text("utf-8"), told)))

    @property
    def scope(self) -> dict[str, Any]:
        """Values of each parameter among the points: listed where they are few, else lowest and highest."""
        names = dict.fromkeys(name for point in self.points for name in point)
        return {name: _span([point[name] for point in self.points if name in point]) for name in names}

    def as_json(self) -> dict[str, Any]:
        """The documented fields, as plain data."""
        return {
            "as_stated": self.as_stated,
            "fault": self.fault or None,
            "cause": self.cause or None,
            "evidence": str(self.evidence),
            "corrected": None if self.corrected is None else self.corrected.as_json(),
            "sharpened": self.sharpened or None,
            "witness": _plain(self.witness),
            "residual": self.residual or None,
            "constants": dict(self.constants),
            "scope": {name: [_number(value) for value in values] for name, values in self.scope.items()},
            "tolerance": self.tolerance and self.tolerance.as_json(),
            "seeds": self.seeds and self.seeds.as_json(),
            "regime": self.regime
            and {
                "where": self.regime.where,
                "violated": [{"name": name} | left.as_json() for name, left in self.regime.violated.items()],
            }
            | ({"of": self.regime.of} if self.regime.of else {}),
            "proof": self.proof
            and {
                "steps": list(self.proof.steps),
                "residuals": self.proof.residuals,
                "sizes": dict(self.proof.sizes),
                "assumed": list(self.proof.assumed),
            },
            "details": {name: _plain(value) for name, value in self.details.items()},
        }


_RANK = {FAILS: 0, UNDECIDED: 1, UNTESTED: 2, HOLDS: 3}
_FEW = 8  # values of a parameter that are listed one by one


def _severity(fault: str) -> int:
    return FAULTS.index(fault) if fault else -1


def _union(first: Iterable[Point], second: Iterable[Point]) -> tuple[Point, ...]:
    found = list(first)
    found += [point for point in second if point not in found]
    return tuple(found)


def _limits(first: Tolerance | None, second: Tolerance | None) -> Tolerance | None:
    return first & second if first and second else first or second


def _both(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Details of two checks: other numbers of the same name get a number behind it; of other things the first stays."""
    found = {**second, **first}
    for name, value in second.items():
        if name in first and _numbers(value):
            known = [key for key in found if key == name or key.startswith(f"{name} (")]
            if all(repr(found[key]) != repr(value) for key in known):
                found[f"{name} ({len(known) + 1})"] = value
    return found


def _numbers(value: Any) -> bool:
    """Measured numbers: a float, or a list; whole numbers by themselves are counts."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in value)
    return isinstance(value, float)


def _weaker_regime(first: Regime | None, second: Regime | None) -> Regime | None:
    return max(filter(None, (first, second)), key=lambda regime: WHERE.index(regime.where), default=None)


def _plain(witness: Any) -> Any:
    if isinstance(witness, Witness):
        return {"sentence": witness.sentence, "point": {name: _number(value) for name, value in witness.point.items()}}
    return witness


def _number(value: Any) -> Any:
    """An entry of a point as plain data: exact fractions as whole numbers or floats, boxes as lists."""
    if isinstance(value, (tuple, list)):
        return [_number(end) for end in value]
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else float(value)
    return value


def _span(values: list[Any]) -> list[Any]:
    ends = [end for value in values for end in (value if isinstance(value, (tuple, list)) else [value])]
    listed = sorted(set(ends)) if all(not isinstance(end, str) for end in ends) else list(dict.fromkeys(ends))
    return listed if len(listed) <= _FEW else [listed[0], listed[-1]]


def without_statements(verdict: Verdict) -> Verdict:
    """The same verdict without the statements that were recorded for an export of proofs."""
    parts = {name: without_statements(part) for name, part in verdict.parts.items()}
    fixed = verdict.corrected and replace(verdict.corrected, verdict=without_statements(verdict.corrected.verdict))
    with statements.recorded(False):
        return replace(verdict, parts=parts, corrected=fixed, stated=())


# ---- making verdicts -------------------------------------------------------------------------------------------------


def proved(**details: Any) -> Verdict:
    """Holds, by exact rewriting.

    Parameters
    ----------
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> verdict = proved(method="expansion")
    >>> verdict.as_stated, str(verdict.evidence)
    ('holds', 'proof')
    """
    return Verdict(HOLDS, Evidence.PROOF, details=details)


def certified(**details: Any) -> Verdict:
    """Holds, exhaustively or with outward rounding over the whole region.

    Parameters
    ----------
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> verdict = certified(enumerated="24 permutations").at({"omega": (0, 1)})
    >>> verdict.as_stated, str(verdict.evidence), verdict.scope
    ('holds', 'certificate', {'omega': [0, 1]})
    """
    return Verdict(HOLDS, Evidence.CERTIFICATE, details=details)


def measured(holds: bool, witness: Any = None, **details: Any) -> Verdict:
    """The outcome of a floating-point check: never more than a measurement.

    Parameters
    ----------
    holds : bool
        The outcome.
    witness : Any, optional
        Where it fails, if it does.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> measured(0.51 < 0.5, loss=0.51).witness
    {'loss': 0.51}
    """
    if holds:
        return Verdict(HOLDS, Evidence.MEASUREMENT, details=details)
    return Verdict(FAILS, Evidence.MEASUREMENT, witness=witness if witness is not None else details, details=details)


def decided(holds: bool, witness: Any, evidence: Evidence = Evidence.PROOF, /, **details: Any) -> Verdict:
    """The outcome of an exact check: it holds, with its details, or fails by the witness, on the same evidence.

    Parameters
    ----------
    holds : bool
        The outcome.
    witness : Any
        Where it fails, if it does.
    evidence : Evidence, optional
        Of the check.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> decided(1 + 1 == 3, {"1 + 1": 2}).witness
    {'1 + 1': 2}
    """
    return Verdict(HOLDS, evidence, details=details) if holds else refuted(witness, evidence)


def refuted(witness: Any, evidence: Evidence = Evidence.PROOF, **details: Any) -> Verdict:
    """Fails, with a witness; one that is a `Witness` brings its point along.

    Parameters
    ----------
    witness : Any
        Where it fails.
    evidence : Evidence, optional
        Of the check.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> verdict = refuted({"x": "1/2", "residual": "3/4"})
    >>> verdict.as_stated, verdict.witness["x"]
    ('fails', '1/2')
    """
    points = (witness.point,) if isinstance(witness, Witness) else ()
    return Verdict(FAILS, evidence, witness=witness, details=details, points=points)


def undecided(residual: str, evidence: Evidence = Evidence.MEASUREMENT, **details: Any) -> Verdict:
    """Not decided: what is left over, as text.

    Parameters
    ----------
    residual : str
        What is left over.
    evidence : Evidence, optional
        Of what was tried.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> undecided("x**2 - y**2 is left").residual
    'x**2 - y**2 is left'
    """
    return Verdict(UNDECIDED, evidence, residual=residual, details=details)


def untested(why: str, violated: Mapping[str, Shortfall] | None = None, **details: Any) -> Verdict:
    """Nothing can be said here: no point inside the hypotheses is within reach, and no path leads there.

    Parameters
    ----------
    why : str
        The reason.
    violated : Mapping[str, Shortfall], optional
        By hypothesis, how far it is from holding.
    **details : Any
        Numbers to keep beside it.

    Returns
    -------
    Verdict
        The verdict.

    Examples
    --------
    >>> untested("m must exceed 10^9").regime.where
    'outside'
    """
    return Verdict(
        UNTESTED, Evidence.MEASUREMENT, residual=why, details=details, regime=Regime(OUTSIDE, violated or {})
    )
