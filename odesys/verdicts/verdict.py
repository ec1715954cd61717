"""The verdict: the answer for one statement taken literally, what it carries, and how two of them combine.

>>> both = Verdict(HOLDS, Evidence.PROOF) & Verdict(UNDECIDED, Evidence.MEASUREMENT, residual="x is left")
>>> both.as_stated, str(both.evidence)
('undecided', 'measurement')
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from .. import stated as statements
from ..shortening import shortened
from .parts import (
    ANSWERS,
    APPROACHED,
    EVERY,
    FAILS,
    FAULTS,
    HOLDS,
    UNDECIDED,
    UNTESTED,
    WHERE,
    Evidence,
    Point,
    Proof,
    Regime,
    Seeds,
    Shortfall,
    Tolerance,
    Witness,
)


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
    >>> from odesys import measured, proved
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
        from ..report.cards import verdict_card

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

        >>> from odesys import measured
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
        >>> from odesys import decided
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

        >>> from odesys import refuted
        >>> refuted({"x": "1"}).arguing("argues in words from a bound").as_stated
        'fails'
        """
        if not statements.recording():
            return self
        known = tuple(each for each in self.stated if each != statements.Unstated())
        return replace(self, stated=(*known, statements.Unstated(why)))

    def by_theorems(
        self,
        file: Path | Sequence[Path],
        definitions: Mapping[str, tuple[Collection[str], Any]] | None = None,
        alone: bool = False,
    ) -> Verdict:
        """The same verdict, whose way from what it states to its answer is written in Coq, for an export of proofs.

        Parameters
        ----------
        file : Path or sequence of them
            Theorems with their proofs; they speak of the definitions by name. Of several files the last one has the
            theorems, and those before it what several arguments share.
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
        >>> from odesys import decided
        >>> decided(2 < 3, {}).by_theorems(Path("order.v"), {"three": ((), 3)}).as_stated
        'holds'
        """
        if not statements.recording():
            return self
        known = () if alone else tuple(each for each in self.stated if each != statements.Unstated())
        told = tuple((name, tuple(symbols), value) for name, (symbols, value) in (definitions or {}).items())
        files = (file,) if isinstance(file, Path) else file
        text = "\n".join(each.read_text("utf-8") for each in files)
        return replace(self, stated=(*known, statements.Argued(text, told)))

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
            "regime": self.regime and self.regime.as_json(),
            "proof": self.proof and self.proof.as_json(),
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
