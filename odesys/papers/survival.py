"""Do the theorems stand? What follows from the failures below them, and which slips there are.

A failing claim that a theorem rests on does not bring it down by itself: a misprint does no harm where what follows
uses the right form, and a claim that `repairs` it, and is checked like any other, makes good a constant or a step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..verdicts import FAILS, FAULTS, HOLDS, UNDECIDED, UNTESTED, Verdict
from .claims import ClaimBook, Outcome

if TYPE_CHECKING:
    import networkx as nx

STANDS = ("as printed", "with corrected constants", "given a repaired step", "open", "falls")  # from best to worst
AS_PRINTED, CONSTANTS, REPAIRED, OPEN, FALLS = STANDS
OPEN_LIMIT = 0.1  # share of claims that a book may leave open


def with_survival(book: ClaimBook, outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The same outcomes with what each rests on that fails, and for each main theorem whether it stands.

    A theorem of which something below was not run has no answer: `stands` is None. A repair of ours counts with all it
    rests on itself.
    """
    graph, found = book.proof_graph(), {outcome.claim.id: outcome for outcome in outcomes}
    repaired = _repairs(outcomes)
    done = []
    for outcome in outcomes:
        below = _below(book, graph, outcome.claim.id)
        failed = tuple(id for id in below if id in found and found[id].verdict.as_stated == FAILS)
        stands = None
        if outcome.claim.main:
            needed = _needed(book, graph, [*below, outcome.claim.id], failed, repaired)
            if all(id in found for id in needed):
                stands = max((_stands(found[id], repaired) for id in needed), key=STANDS.index)
        done.append(replace(outcome, rests_on_failed=failed, stands=stands))
    return done


@dataclass(frozen=True)
class SoFar:
    """How a main theorem stands by what was run, and which of the claims it needs did not run."""

    word: str
    missing: tuple[str, ...]


def standing_so_far(book: ClaimBook, outcomes: Sequence[Outcome]) -> dict[str, SoFar]:
    """Each main theorem by what was run; only where nothing is missing is this how it stands.

    A failure that a claim repairs which did not run waits for that claim.
    """
    graph, found = book.proof_graph(), {outcome.claim.id: outcome for outcome in outcomes}
    repaired, answers = _repairs(outcomes), {}
    waiting = {id: claim.id for claim in book if claim.id not in found for id in claim.repairs if id not in repaired}
    for claim in (claim for claim in book if claim.main):
        below = [*_below(book, graph, claim.id), claim.id]
        failed = [id for id in below if id in found and found[id].verdict.as_stated == FAILS]
        needed = _needed(book, graph, below, failed, repaired)
        needed += [waiting[id] for id in failed if id in waiting]
        settled = [_stands(found[id], repaired) for id in needed if id in found and id not in waiting]
        missing = tuple(id for id in dict.fromkeys(needed) if id not in found)
        answers[claim.id] = SoFar(max(settled, key=STANDS.index, default=AS_PRINTED), missing)
    return answers


def _below(book: ClaimBook, graph: nx.DiGraph, id: str) -> list[str]:
    """The claims that one rests on, in the order of the book."""
    import networkx as nx

    ancestors = nx.ancestors(graph, id)
    return [other for other in book.ids() if other in ancestors]


def _needed(
    book: ClaimBook, graph: nx.DiGraph, below: Sequence[str], failed: Sequence[str], repaired: Mapping[str, str]
) -> list[str]:
    """What a theorem rests on: the claims below it, and those below the repairs of ours that it needs."""
    import networkx as nx

    needed = list(below)
    by = {repaired[id] for id in failed if id in repaired}
    for repair in (id for id in by if book[id].origin == "ours"):
        needed += [repair, *(id for id in nx.ancestors(graph, repair) if id not in needed)]
    return needed


def _repairs(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """The claims that are repaired by another that holds, and by which."""
    return {
        id: outcome.claim.id
        for outcome in outcomes
        if outcome.verdict.as_stated == HOLDS
        for id in outcome.claim.repairs
    }


def _stands(outcome: Outcome, repaired: Mapping[str, str]) -> str:
    """How a theorem stands that rests on this claim, as far as this claim is concerned."""
    claim, verdict = outcome.claim, outcome.verdict
    if verdict.as_stated == HOLDS or not claim.judged:
        return AS_PRINTED
    if verdict.as_stated != FAILS:
        return OPEN if claim.id not in repaired else REPAIRED
    mended = verdict.corrected is not None and verdict.corrected.as_stated == HOLDS
    if verdict.fault == "misprint" and mended:
        return AS_PRINTED
    if claim.id in repaired:
        return CONSTANTS if verdict.fault == "constant" else REPAIRED
    if claim.main:
        return CONSTANTS if verdict.fault == "constant" and mended else FALLS if verdict.fault == "false" else OPEN
    return OPEN


def theorem_lines(book: ClaimBook, outcomes: Sequence[Outcome]) -> list[str]:
    """A line for each main theorem, the last ones of the proof first: does it stand, and what is changed below it."""
    return [line for _, line, _ in theorem_answers(book, outcomes)]


def theorem_answers(book: ClaimBook, outcomes: Sequence[Outcome]) -> list[tuple[str, str, list[str]]]:
    """For each main theorem, the last ones of the proof first: how it stands, a line with what is changed below.

    Third come lines on what holds instead, where the theorem itself fails.
    """
    import networkx as nx

    repaired, graph = _repairs(outcomes), book.proof_graph()
    found = {outcome.claim.id: outcome for outcome in outcomes}
    lines: list[tuple[str, str, list[str]]] = []
    mains = [outcome for outcome in outcomes if outcome.claim.main]
    for outcome in sorted(mains, key=lambda o: len(nx.descendants(graph, o.claim.id))):
        claim = outcome.claim
        if outcome.stands is None:
            missing = sorted(id for id in nx.ancestors(graph, claim.id) if id not in found)
            lines.append(("open", f"{claim.id} {claim.title}: not known, {', '.join(missing)} did not run", []))
            continue
        named = [f"{id} (repaired by {repaired[id]})" for id in outcome.rests_on_failed if id in repaired]
        named += [f"{id} ({found[id].verdict.fault})" for id in outcome.rests_on_failed if id not in repaired]
        below = f"; below it fail {', '.join(named)}" if named else ""
        said = f"{'stands ' if outcome.stands in STANDS[:3] else ''}{outcome.stands}"
        lines.append((outcome.stands, f"{claim.id} {claim.title}: {said}{below}", _instead(outcome.verdict)))
    return lines


def _instead(verdict: Verdict) -> list[str]:
    """What holds in place of a theorem that fails, part by part."""
    parts = {f"{name}, ": part for name, part in verdict.parts.items()} or {"": verdict}
    return [
        f"{name}instead ({part.corrected.evidence}): {part.corrected.statement}"
        for name, part in parts.items()
        if part.as_stated == FAILS and part.corrected is not None and part.corrected.as_stated == HOLDS
    ]


def causes(outcomes: Sequence[Outcome]) -> dict[str, dict[str, list[Outcome]]]:
    """Failures of the paper by fault, severest first, and by cause: one slip that shows in eight displays is one.

    A slip stands under the severest fault it leads to, with its milder displays; each keeps the verdict of its own. A
    claim whose parts fail for two reasons is listed under both, each time with the verdict of that part.
    """
    shown = [(verdict, replace(outcome, verdict=verdict)) for outcome in outcomes for verdict in _failures(outcome)]
    found: dict[str, dict[str, list[Outcome]]] = {}
    place: dict[str, list[Outcome]] = {}
    for fault in reversed((*FAULTS,)):
        for verdict, outcome in shown:
            if verdict.fault == fault:
                cause = verdict.cause or outcome.claim.id
                if cause not in place:
                    place[cause] = found.setdefault(fault, {}).setdefault(cause, [])
                if all(other.claim.id != outcome.claim.id for other in place[cause]):
                    place[cause].append(outcome)
    return found


def _failures(outcome: Outcome) -> list[Verdict]:
    """The verdict of a failing claim of the paper, and those of its parts that fail for another reason."""
    if not outcome.claim.scored or outcome.verdict.as_stated != FAILS:
        return []
    found = {(outcome.verdict.fault, outcome.verdict.cause): outcome.verdict}
    for part in outcome.verdict.parts.values():
        if part.as_stated == FAILS and part.fault:
            found.setdefault((part.fault, part.cause), part)
    return list(found.values())


def few_open(outcomes: Sequence[Outcome]) -> bool:
    """True if less than a tenth of the paper's own claims are untested or undecided: more, and a book is not done."""
    answers = score(outcomes)
    return answers.get(UNTESTED, 0) + answers.get(UNDECIDED, 0) < OPEN_LIMIT * max(1, answers["claims"])


def score(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """The paper's own claims by answer, and the number of causes of the failures."""
    counted = [outcome for outcome in outcomes if outcome.claim.scored]
    answers = {"claims": len(counted)}
    for outcome in counted:
        answers[outcome.verdict.as_stated] = answers.get(outcome.verdict.as_stated, 0) + 1
    answers["causes"] = len({cause for by_cause in causes(outcomes).values() for cause in by_cause})
    return answers
