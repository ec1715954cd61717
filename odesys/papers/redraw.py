"""Every measured claim again, with seeds and points that nobody has looked at: does its verdict flip?

A draw is one measured claim under one new set of seeds and one new set of admissible points. A book is trusted where
fewer than one draw in two hundred flips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..terminal import Progress
from ..verdicts import UNTESTED, Evidence, Verdict
from .claims import Claim, ClaimBook, Outcome
from .draw import Draw
from .workers import Answer, run_tasks, tasks_of

FLIP_LIMIT = 1 / 200


def measured_claims(outcomes: Sequence[Outcome]) -> list[Claim]:
    """The claims whose verdict rests on floats: a part that was measured counts."""
    return [
        outcome.claim
        for outcome in outcomes
        if outcome.claim.judged
        and any(
            verdict.evidence == Evidence.MEASUREMENT and verdict.as_stated != UNTESTED
            for verdict in (outcome.verdict, *outcome.verdict.parts.values())
        )
    ]


def redraw(
    paper: str,
    book: ClaimBook,
    outcomes: Sequence[Outcome],
    times: int,
    seed: int,
    progress: Progress,
    workers: int = 1,
) -> dict[str, Any]:
    """Draw every measured claim `times` times: how many draws there were, and which verdicts flipped.

    A verdict flips if its answer, or that of a part, is another one. A check that was at the same points and seeds as
    before was not drawn at all: it is listed under `same` and does not count.
    """
    known = {outcome.claim.id: outcome.verdict for outcome in outcomes}
    chosen = measured_claims(outcomes)
    tasks = [task for k in range(1, times + 1) for task in tasks_of(book, chosen, draw=Draw(seed, k))]
    answers = run_tasks(paper, book, tasks, workers, progress) if tasks else []
    drawn = [found for found in answers if found.verdict is None or _seen(found.verdict) != _seen(known[found.claim])]
    flips = []
    for found in drawn:
        for before, after in _changes(known[found.claim], found):
            flips.append(
                {
                    "id": found.claim,
                    "seed": seed,
                    "draw": found.draw.number,
                    "from": before,
                    "to": after,
                    "why": _why(found),
                }
            )
    same = sorted({found.claim for found in answers} - {found.claim for found in drawn})
    return {"seed": seed, "draws": len(drawn), "flips": flips, "same": same}


def _seen(verdict: Verdict) -> list[Any]:
    """Points and seeds of what was measured, part by part."""
    leaves = [leaf for leaf in verdict.parts.values() or [verdict] if leaf.evidence == Evidence.MEASUREMENT]
    return [(leaf.points, leaf.seeds and (leaf.seeds.used, leaf.seeds.beside)) for leaf in leaves or [verdict]]


def _changes(known: Verdict, found: Answer) -> list[tuple[str, str]]:
    """The answer before and now, if it is another one; or else those of the first part that changed."""
    if found.verdict is None:
        return [(known.as_stated, found.problem)]
    if found.verdict.as_stated != known.as_stated:
        return [(known.as_stated, found.verdict.as_stated)]
    parts = [(name, part, found.verdict.parts.get(name)) for name, part in known.parts.items()]
    return [
        (f"{name}: {old.as_stated}", f"{name}: {new.as_stated}")
        for name, old, new in parts
        if new is not None and new.as_stated != old.as_stated
    ][:1]


def _why(found: Answer) -> str:
    if found.verdict is None:
        return found.sentence
    witness = found.verdict.witness
    return found.verdict.residual or str(getattr(witness, "sentence", witness or ""))


def redraw_lines(summary: dict[str, Any]) -> list[str]:
    """The summary for a person."""
    draws, flips = summary["draws"], summary["flips"]
    if not draws and not summary["same"]:
        return ["nothing was measured, so there is nothing to draw again"]
    share = f"{len(flips)}/{draws}" + (f" = {len(flips) / draws:.4f}" if flips else "")
    lines = [f"drawn again with seed {summary['seed']}: {draws} draws, flips {share}"]
    if summary["same"]:
        lines.append(f"    the same points and seeds each time, so not counted: {', '.join(summary['same'])}")
    return lines + [f"    {f['id']} in draw {f['draw']}: {f['from']} -> {f['to']}; {f['why']}" for f in flips]
