"""Every measured claim again, with seeds and points that nobody has looked at: does its verdict flip?

A draw is one measured claim under one new set of seeds and one new set of admissible points. A book is trusted where
fewer than one draw in two hundred flips.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..terminal import Progress
from ..verdicts import Evidence
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
            verdict.evidence == Evidence.MEASUREMENT for verdict in (outcome.verdict, *outcome.verdict.parts.values())
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
    """Draw every measured claim `times` times: how many draws there were, and which verdicts flipped."""
    known = {outcome.claim.id: outcome.verdict.as_stated for outcome in outcomes}
    chosen = measured_claims(outcomes)
    tasks = [task for k in range(1, times + 1) for task in tasks_of(chosen, draw=Draw(seed, k))]
    flips = []
    answers = run_tasks(paper, book, tasks, workers, progress) if tasks else []
    for found in answers:
        if _says(found) != known[found.claim]:
            flips.append(
                {
                    "id": found.claim,
                    "seed": seed,
                    "draw": found.draw.number,
                    "from": known[found.claim],
                    "to": _says(found),
                    "why": _why(found),
                }
            )
    return {"seed": seed, "draws": len(answers), "flips": flips}


def _says(found: Answer) -> str:
    return found.problem if found.verdict is None else found.verdict.as_stated


def _why(found: Answer) -> str:
    if found.verdict is None:
        return found.sentence
    witness = found.verdict.witness
    return found.verdict.residual or str(getattr(witness, "sentence", witness or ""))


def redraw_lines(summary: dict[str, Any]) -> list[str]:
    """The summary for a person."""
    draws, flips = summary["draws"], summary["flips"]
    if not draws:
        return ["nothing was measured, so there is nothing to draw again"]
    share = f"{len(flips)}/{draws}" + (f" = {len(flips) / draws:.4f}" if flips else "")
    lines = [f"drawn again with seed {summary['seed']}: {draws} draws, flips {share}"]
    return lines + [f"    {f['id']} in draw {f['draw']}: {f['from']} -> {f['to']}; {f['why']}" for f in flips]
