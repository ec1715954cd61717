"""The verdict rule: what a book under it refuses to register, and which verdicts it refuses to show.

A page tells authors that their lemma fails, or readers that it holds. So a claim names its place, its parts and its
hypotheses before it is checked; and a verdict says where it was seen, inside those hypotheses, how strong it is, and
what kind of fault a failure is. Each refusal below is a sentence that says what is missing. `docs/verdicts.md` explains
the rule to the reader of a page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..errors import OdesysError
from ..verdicts import APPROACHED, EVERY, FAILS, HOLDS, OUTSIDE, UNTESTED, Evidence, Verdict, Witness
from .hypotheses import Hypothesis, OutsideHypotheses, admit, approach

if TYPE_CHECKING:
    from .claims import Claim, Outcome

LONGEST_READING = 30  # words
FEWEST_SEEDS = 20
LATER = NAMES, CORRECTIONS, EXACT = (  # refusals that are younger than some books, which may say so with `not_yet`
    "names of the table of symbols only",
    "corrected forms under the rule",
    "exact points for failures that are called a proof",
)
Natural = Callable[[Collection[str]], Sequence[Hypothesis]]
_FLOATS = "floats are a measurement"
_LONG_NUMBER = re.compile(r"[1-9]\d*\.\d{6,}|\b0\.0*[1-9]\d{5,}|\bNode\(|[{}]'|': ")  # leading zeros are no digits


class RuleError(OdesysError):
    """A claim or a verdict does not keep the verdict rule; `.claim` says which.

    Parameters
    ----------
    message : str
        The sentence that a person reads.
    **objects : Any
        Become attributes of the error.

    Examples
    --------
    >>> from odesys import ClaimBook
    >>> book = ClaimBook("toy", laboratory=dict, rule=True)
    >>> book.claim("1", "Twice", kind="identity", statement="a + a = 2a", reading="all a")(lambda lab: None)
    Traceback (most recent call last):
        ...
    odesys.papers.rule.RuleError: the claim toy 1 does not say its hypotheses; write hypotheses=() if it has none
    """


def admit_claim(claim: Claim) -> None:
    """Refuse a claim without its place, its parts or its hypotheses, or with a reading that is too long."""
    for problem in _claim_problems(claim):
        raise RuleError(f"the claim {claim.paper} {claim.id} {problem}", claim=claim.id)


def admit_outcome(outcome: Outcome, natural: Natural, symbols: Collection[str], not_yet: Collection[str] = ()) -> None:
    """Refuse a verdict that skips a part, was seen outside the hypotheses, or claims more than it has shown.

    `symbols` are the names in the book's table; `natural` gives the natural domains of names; `not_yet` has those of
    `LATER` that the book does not keep yet.
    """
    claim = outcome.claim

    def domains(names: Collection[str]) -> Sequence[Hypothesis]:
        strange = (
            [name for name in names if name not in symbols and not natural([name])] if NAMES not in not_yet else []
        )
        if strange:
            raise OutsideHypotheses(
                f"its point says {strange[0]}, which is not in the table of symbols, so that nothing is known of its "
                f"natural domain; list it with Symbol(...), or name the flow whose state it is with "
                f"ClaimBook(natural=natural_domain(...))",
                name=strange[0],
                margin=None,
            )
        return natural(names)

    verdict = outcome.verdict
    problems: Iterator[str] = _outcome_problems(outcome, domains)
    if CORRECTIONS not in not_yet:
        problems = chain(
            problems, *(_correction_problems(claim, v, domains) for v in verdict.parts.values() or [verdict])
        )
    if EXACT in not_yet:
        problems = (problem for problem in problems if _FLOATS not in problem)
    for problem in problems:
        raise RuleError(f"the verdict of {claim.paper} {claim.id} is refused: {problem}", claim=claim.id)


def _claim_problems(claim: Claim) -> Iterator[str]:
    words = len(claim.reading.split())
    if words > LONGEST_READING:
        yield f"has a reading of {words} words; {LONGEST_READING} are allowed, the rest belongs into fields"
    if claim.hypotheses is None:
        yield "does not say its hypotheses; write hypotheses=() if it has none"
    if not claim.judged and claim.expect != HOLDS:
        yield f"is a {claim.kind}, which is neither true nor false, and yet expects '{claim.expect}'"
    if len(set(claim.parts)) < len(claim.parts) or not all(part.strip() for part in claim.parts):
        yield "has two parts of one name, or one without a name; each part has a verdict of its own"
    if claim.id in claim.repairs or claim.id in claim.uses:
        yield "uses or repairs itself"
    if claim.origin == "ours":
        return
    if not claim.where:
        yield 'names no place; write where="Lemma E.2, second bullet" or the like'
    if not claim.parts and claim.judged:
        yield "lists no parts; name its bullets or displays, one at least"


def _outcome_problems(outcome: Outcome, natural: Natural) -> Iterator[str]:
    claim, verdict = outcome.claim, outcome.verdict
    if outcome.reads is not None and not outcome.reads and not claim.insensitive and claim.judged:
        yield "the check reads nothing of the laboratory, so no mutation can change it; say why with insensitive="
    yield from _part_problems(claim, verdict)
    leaves = list(verdict.parts.items()) or [("", verdict)]
    for name, part in leaves:
        for problem in _leaf_problems(claim, part, natural):
            yield f"part '{name}': {problem}" if name else problem


def _part_problems(claim: Claim, verdict: Verdict) -> Iterator[str]:
    if not claim.parts:
        return
    if not verdict.parts:
        if len(claim.parts) > 1:
            yield f"it has one answer for {len(claim.parts)} parts ({', '.join(claim.parts)}); return one for each"
        return
    missing = [name for name in claim.parts if name not in verdict.parts]
    unknown = [name for name in verdict.parts if name not in claim.parts]
    if missing:
        yield f"the part '{missing[0]}' has no verdict"
    if unknown:
        yield f"there is a verdict for '{unknown[0]}', which is no part of the statement"


def _leaf_problems(claim: Claim, verdict: Verdict, natural: Natural) -> Iterator[str]:
    if not claim.judged:
        return
    yield from _where_problems(claim, verdict, natural)
    if verdict.as_stated == FAILS == claim.expect:  # an unexpected failure is shown as such; nobody has judged it yet
        yield from _failure_problems(claim, verdict)
    if verdict.as_stated in (FAILS, HOLDS):
        yield from _evidence_problems(claim, verdict)


def _correction_problems(claim: Claim, verdict: Verdict, natural: Natural) -> Iterator[str]:
    """What is said to hold instead keeps the same rule."""
    fixed = verdict.corrected.verdict if verdict.corrected is not None else None
    if claim.judged and fixed is not None and fixed.as_stated == HOLDS:
        for problem in (*_where_problems(claim, fixed, natural), *_evidence_problems(claim, fixed)):
            yield f"the corrected form: {problem}"


def _where_problems(claim: Claim, verdict: Verdict, natural: Natural) -> Iterator[str]:
    """Every point lies inside the hypotheses, or on a path into their regime."""
    regime = verdict.regime
    where = regime.where if regime else None
    if where == OUTSIDE and verdict.as_stated != UNTESTED:
        yield f"it was seen outside the hypotheses and {verdict.as_stated}; outside, a statement is untested"
    asked = [h for h in claim.hypotheses or () if not (where == APPROACHED and h.asymptotic)]
    if where == APPROACHED:
        yield from _path_problems(claim, verdict)
    witness = [verdict.witness.point] if isinstance(verdict.witness, Witness) else []
    for point in [*verdict.points, *(p for p in witness if p)] if where != OUTSIDE else ():
        try:
            admit(point, [*asked, *natural(point.keys())])
        except OutsideHypotheses as error:
            yield str(error)


def _path_problems(claim: Claim, verdict: Verdict) -> Iterator[str]:
    """The points are a path along which every asymptotic margin grows, and what is left at its end is what is said."""
    try:
        left = approach(verdict.points, claim.hypotheses or ())
    except OutsideHypotheses as error:
        yield str(error)
        return
    said = verdict.regime.violated if verdict.regime else {}
    if set(said) != set(left) or any(abs(said[name].by - left[name].by) > 1e-9 * left[name].by for name in left):
        found, told = (", ".join(f"{name} by {short.by:.4g}" for name, short in each.items()) for each in (left, said))
        yield f"it says that {told or 'nothing'} is left at the end of its path, which leaves {found or 'nothing'}"


def _failure_problems(claim: Claim, verdict: Verdict) -> Iterator[str]:
    if not isinstance(verdict.witness, Witness):
        yield "its witness is no sentence with a point; use Witness(sentence, point)"
    else:
        if claim.hypotheses and not verdict.witness.point:
            yield "its witness names no point, so nobody can see that the hypotheses hold there"
        if _LONG_NUMBER.search(verdict.witness.sentence):
            yield "its witness is not written for a reader: numbers of at most four digits, no data structures"
    if claim.origin == "ours":
        return
    if not verdict.fault or not verdict.cause:
        yield "a failure has a fault (misprint, constant, proof, false) and a cause; use .blaming(fault, cause)"
    mended = verdict.corrected is not None and verdict.corrected.as_stated == HOLDS
    if verdict.fault in ("misprint", "constant") and not mended:
        yield f"a {verdict.fault} has a corrected form that holds; without one the fault is another"
    if verdict.fault == "proof" and claim.origin != "proof" and not mended:
        yield "a statement is not at fault for its proof unless a corrected form holds"
    if verdict.fault == "false" and claim.source == "damaged":
        yield "on a damaged source nothing is called false"


def _evidence_problems(claim: Claim, verdict: Verdict) -> Iterator[str]:
    if verdict.evidence == Evidence.MEASUREMENT:
        yield from _measurement_problems(claim, verdict)
    elif verdict.as_stated == FAILS:
        point = verdict.witness.point if isinstance(verdict.witness, Witness) else {}
        floats = [name for name, value in point.items() if isinstance(value, float)]
        if floats and verdict.evidence == Evidence.PROOF:
            yield (
                f"its witness has {floats[0]} as a float, and yet it is called a proof; {_FLOATS}, an "
                f"exact point has whole numbers, fractions or texts"
            )
        return
    recorded = verdict.proof is not None and bool(verdict.proof.steps or verdict.proof.residuals)
    if verdict.evidence == Evidence.CERTIFICATE and not (verdict.points or verdict.proof or verdict.details):
        yield "a certificate says the box it is for, or what it went through; use .at(box) or certified(enumerated=...)"
    if verdict.evidence == Evidence.PROOF:
        yield from _proof_problems(claim, verdict, recorded)


def _proof_problems(claim: Claim, verdict: Verdict, recorded: bool) -> Iterator[str]:
    if not recorded:
        yield "a proof records what it proved; use .proving(step, ...)"
    sizes = verdict.proof.sizes if verdict.proof else {}
    for size in (*claim.for_all, *(size for size in sizes if size not in claim.for_all)):
        if sizes.get(size) != EVERY:
            what = f"is for {size} = {sizes[size]}" if size in sizes else f"says nothing about {size}"
            yield f"the statement is for every {size}, its proof {what}: an instance is a certificate, not a proof"


def _measurement_problems(claim: Claim, verdict: Verdict) -> Iterator[str]:
    if not verdict.points and verdict.seeds is None:
        yield "a measurement says where it was made; use .at(point, ...)"
    if verdict.tolerance is None and verdict.seeds is None:
        yield "a measurement has a tolerance with a reason; use .within(value, because)"
    if claim.kind == "probability" and verdict.seeds is None:
        yield f"a probability is measured over at least {FEWEST_SEEDS} seeds"
    if verdict.seeds is not None and verdict.seeds.count < FEWEST_SEEDS:
        yield f"what is random is measured over at least {FEWEST_SEEDS} seeds, not {verdict.seeds.count}"
    if verdict.tolerance is not None:
        if not verdict.tolerance.because.strip():
            yield "its tolerance has no reason; say why in .within(value, because)"
        seeds = (*verdict.seeds.used, *verdict.seeds.beside) if verdict.seeds else ()
        used = [*verdict.points, *seeds]
        for item in in_both(verdict.tolerance.calibrated_on, used):
            yield f"its tolerance was calibrated on {item}, on which it is judged too; judge it elsewhere"


def in_both(calibrated_on: Iterable[Any], used: Sequence[Any]) -> list[Any]:
    """The points and seeds that a limit was calibrated on, and on which it is judged too.

    >>> in_both([{"omega": "1/10"}, 3], [{"omega": 0.1, "m": 64}, {"omega": 0.2, "m": 64}])
    [{'omega': '1/10'}]
    """
    judged = [_numbers(other) for other in used]
    return [item for item in calibrated_on if _in(_numbers(item), judged)]


def _in(item: Any, judged: Sequence[Any]) -> bool:
    return any(_same(item, other) for other in judged)


def _numbers(item: Any) -> Any:
    return {name: _number(value) for name, value in item.items()} if isinstance(item, Mapping) else item


def _same(calibrated: Any, judged: Any) -> bool:
    """The same seed; or points that agree in all that both say, where one says all the other does."""
    if not (isinstance(calibrated, Mapping) and isinstance(judged, Mapping)):
        return bool(calibrated == judged)
    common = calibrated.keys() & judged.keys()
    nested = common and common in (calibrated.keys(), judged.keys())
    return bool(nested) and all(calibrated[name] == judged[name] for name in common)


def _number(value: Any) -> Any:
    """An entry of a point as a float where it is a number, so that 1/2, "1/2" and 0.5 are one."""
    try:
        return float(Fraction(value))
    except (TypeError, ValueError):
        return value
