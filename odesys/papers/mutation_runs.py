"""Claims on systems broken on purpose: which check notices what, and why the others do not.

A pair of a claim and a mutation is *killed* if the verdict changes, or that of one of its parts, or the run the claim
speaks of does not exist any more; *unread* if the check reads no part of the laboratory that the mutation changes,
which is found by program; *refused* if the check could not be run; and *survived* otherwise: then the book has to say
why that is right. Where a book says why the whole keeps its verdict, the pair has survived, whatever its parts do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..terminal import Progress
from ..verdicts import Verdict
from .claims import ClaimBook, Outcome
from .laboratory import Part
from .workers import NO_RUN, Answer, Task, run_tasks, tasks_of

KILLED, SURVIVED, UNREAD, REFUSED = STATES = ("killed", "survived", "unread", "refused")
NO_REASON = "no reason known"


@dataclass(frozen=True)
class Mutant:
    """What became of one claim on one mutated system; `how` is the change seen, or the reason why there is none."""

    claim: str
    mutation: str
    state: str
    how: str

    @property
    def unexplained(self) -> bool:
        """True for a survivor that the book does not explain."""
        return self.state == SURVIVED and self.how == NO_REASON


def mutation_runs(
    paper: str,
    book: ClaimBook,
    outcomes: Sequence[Outcome],
    mutations: Iterable[str],
    progress: Progress,
    workers: int = 1,
) -> list[Mutant]:
    """Compare every verdict with the one on every mutated system; what is not read is not run."""
    names = list(mutations)
    tasks: list[Task] = []
    for mutation in names:
        touched = _touched(book, mutation, outcomes)
        tasks += tasks_of(book, (o.claim for o in outcomes if o.reads is None or o.reads & touched), mutation)
    answers = {(a.claim, a.mutation): a for a in run_tasks(paper, book, tasks, workers, progress)}
    return [
        _mutant(book, outcome, mutation, answers.get((outcome.claim.id, mutation)))
        for outcome in outcomes
        for mutation in names
    ]


def _touched(book: ClaimBook, mutation: str, outcomes: Sequence[Outcome]) -> set[Part]:
    """The parts read by these checks that the mutation changes."""
    read = {part for outcome in outcomes for part in outcome.reads or ()}
    return {part for part in read if book.laboratory(mutation=mutation).changes(part)}


def _mutant(book: ClaimBook, outcome: Outcome, mutation: str, answer: Answer | None) -> Mutant:
    id = outcome.claim.id
    if answer is None:
        parts = ", ".join(sorted(map(str, outcome.reads or ()))) or "nothing of the system"
        return Mutant(id, mutation, UNREAD, f"it reads {parts}")
    if answer.verdict is None:
        state = KILLED if answer.problem == NO_RUN else REFUSED
        return Mutant(id, mutation, state, f"{answer.problem}: {answer.sentence}")
    before, after = _says(outcome.verdict), _says(answer.verdict)
    if before != after:
        return Mutant(id, mutation, KILLED, f"{before} -> {after}")
    reason = book.reasons.get((id, mutation)) or outcome.claim.insensitive
    changed = _changed_parts(outcome.verdict, answer.verdict)
    if changed and not reason:
        return Mutant(id, mutation, KILLED, "; ".join(changed))
    return Mutant(id, mutation, SURVIVED, reason or NO_REASON)


def _changed_parts(before: Verdict, after: Verdict) -> list[str]:
    """What parts say otherwise, one by one."""
    said = {name: (_says(part), _says(after.parts[name])) for name, part in before.parts.items() if name in after.parts}
    return [f"{name}: {first} -> {then}" for name, (first, then) in said.items() if first != then]


def _says(verdict: Verdict) -> str:
    """The answer, and the one for the corrected form if there is one."""
    return verdict.as_stated + (f", corrected {verdict.corrected.as_stated}" if verdict.corrected else "")


def mutation_summary(book: ClaimBook, mutants: Sequence[Mutant]) -> dict[str, Any]:
    """Counts, score, the table of all pairs, survivors with their reasons, and claims that notice nothing.

    The score is killed / (killed + survived): pairs that were not read or not run say nothing about a check.
    """
    counts = {state: sum(m.state == state for m in mutants) for state in STATES}
    table: dict[str, dict[str, str]] = {}
    for m in mutants:
        table.setdefault(m.claim, {})[m.mutation] = m.state
    blind = [id for id, row in table.items() if KILLED not in row.values()]
    noticed = {id: book[id].insensitive or NO_REASON for id in blind}
    survivors = [{"claim": m.claim, "mutation": m.mutation, "reason": m.how} for m in mutants if m.state == SURVIVED]
    stale = [
        f"{id} on {mutation}" for id, mutation in book.reasons if table.get(id, {}).get(mutation, SURVIVED) != SURVIVED
    ]
    stale += [f"{m.claim} on {m.mutation}" for m in mutants if m.state == KILLED and book[m.claim].insensitive]
    return {
        "mutations": {name: book.mutations[name] for name in dict.fromkeys(m.mutation for m in mutants)},
        "claims": len(table),
        "noticing": len(table) - len(blind),
        "pairs": counts,
        "killed_without_a_run": sum(m.state == KILLED and m.how.startswith(NO_RUN) for m in mutants),
        "score": counts[KILLED] / max(1, counts[KILLED] + counts[SURVIVED]),
        "table": table,
        "blind": noticed,
        "stale_reasons": stale,
        "survivors": survivors,
        "explained": not any(m.unexplained for m in mutants) and NO_REASON not in noticed.values() and not stale,
    }


def mutation_lines(summary: dict[str, Any]) -> list[str]:
    """The summary for a person: score, and every survivor under its reason."""
    pairs = summary["pairs"]
    lines = [
        f"mutations: {summary['noticing']} of {summary['claims']} claims notice a broken system; "
        f"score {pairs[KILLED]}/{pairs[KILLED] + pairs[SURVIVED]} = {summary['score']:.3f} (killed / killed and "
        f"survived); {pairs[UNREAD]} pairs do not read what was broken, {pairs[REFUSED]} could not be run; in "
        f"{summary['killed_without_a_run']} of the killed the run a claim speaks of no longer exists"
    ]
    if summary["blind"]:
        lines += ["notice nothing:", *(f"    {id}: {reason}" for id, reason in summary["blind"].items())]
    by_reason: dict[str, dict[str, list[str]]] = {}
    for row in summary["survivors"]:
        by_reason.setdefault(row["reason"], {}).setdefault(row["mutation"], []).append(row["claim"])
    if by_reason:
        lines.append("keep their verdict:")
    for reason in sorted(by_reason, key=lambda text: text != NO_REASON):
        lines += [f"    {reason}", *(f"        {m}: {', '.join(ids)}" for m, ids in by_reason[reason].items())]
    if summary["stale_reasons"]:
        lines.append(f"a reason is given, but they did not survive: {'; '.join(summary['stale_reasons'])}")
    return lines
