"""Running a claim book: outcomes, mutation runs, and the errata list in Markdown and LaTeX, all generated."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from . import output
from .claims import Claim, ClaimBook, Outcome
from .errors import IntegrationError, OdesysError
from .paper import Paper, Progress
from .terminal import print_files, print_table, progress_bar
from .verdicts import FAILS, HOLDS, Evidence


def verify(book: ClaimBook, claims: Sequence[Claim], progress: Progress) -> list[Outcome]:
    """Check claims one after the other, each in a laboratory of its own."""
    outcomes = []
    for k, claim in enumerate(claims):
        progress(claim.id, k / len(claims))
        outcomes.append(book.run(claim))
    return outcomes


@dataclass(frozen=True)
class Mutant:
    """What a claim says of a mutated system: `noticed` if its verdict changes, `refused` if it could not be run."""

    claim: Claim
    mutation: str
    noticed: bool
    how: str
    refused: bool = False


def mutation_runs(book: ClaimBook, outcomes: Sequence[Outcome], mutations: Iterable[str],
                  progress: Progress) -> list[Mutant]:
    """Run every claim on every mutated system and compare with its own verdict."""
    found = []
    names = list(mutations)
    for k, outcome in enumerate(outcomes):
        for mutation in names:
            progress(f"{outcome.claim.id} on {mutation}", k / len(outcomes))
            found.append(_mutant(book, outcome, mutation))
    return found


def _mutant(book: ClaimBook, outcome: Outcome, mutation: str) -> Mutant:
    try:
        other = book.run(outcome.claim, mutation=mutation).verdict
    except IntegrationError as error:  # the run the claim speaks of does not exist for the mutated system
        return Mutant(outcome.claim, mutation, True, f"no such run: {error}")
    except OdesysError as error:  # e.g. the mutated data no longer have the symmetry the check is written in
        return Mutant(outcome.claim, mutation, False, f"refused: {error}", refused=True)
    before, after = (_answers(v.as_stated, v.corrected) for v in (outcome.verdict, other))
    how = f"{before} -> {after}" if before != after else "same verdict"
    return Mutant(outcome.claim, mutation, before != after, how)


def _answers(as_stated: str, corrected: object) -> tuple[str, str]:
    return as_stated, getattr(corrected, "as_stated", "")


def run_command(papers: Sequence[Paper], ids: Sequence[str], level: str, with_mutations: bool, errata: Path | None,
                json: Path | None) -> bool:
    """The command ``odesys verify``: print tables, write what was asked for; True if all is as expected."""
    done: list[Outcome] = []
    mutated: dict[str, Any] = {}
    for paper in papers:
        if paper.book is None:
            typer.echo(f"{paper.name} has no registered claims yet")
            continue
        book = paper.book()
        with progress_bar(f"verifying {paper.name}") as progress:
            outcomes = verify(book, book.select(ids, level), progress)
            mutants = mutation_runs(book, outcomes, book.mutations, progress) if with_mutations else []
        _show(paper, outcomes)
        done += outcomes
        if mutants:
            mutated[paper.name] = mutation_summary(mutants)
            _show_mutations(mutated[paper.name])
    if errata:
        text = errata_latex(done) if errata.suffix == ".tex" else errata_markdown(done)
        print_files([output.write_text(errata, text)])
    if json:
        output.write_json(json, {"claims": [o.as_json() for o in done], "mutations": mutated})
    return all(outcome.as_expected for outcome in done)


def _show(paper: Paper, outcomes: Sequence[Outcome]) -> None:
    rows = [(o.claim.id, o.claim.title, o.verdict.as_stated, str(o.verdict.evidence),
             "" if o.as_expected else "unexpected", f"{o.seconds:.1f} s") for o in outcomes]
    print_table(f"{paper.name}: {paper.reference}", ("claim", "title", "as printed", "evidence", "", "time"), rows)
    for outcome in outcomes:
        verdict = outcome.verdict
        if verdict.as_stated == HOLDS:
            continue
        why = f"witness {verdict.witness}" if verdict.as_stated == FAILS else f"undecided: {verdict.residual}"
        typer.echo(f"{outcome.claim.id} {verdict.as_stated}: {why}")
        if verdict.corrected is not None:
            fixed = verdict.corrected
            typer.echo(f"    instead ({fixed.as_stated}, {fixed.evidence}): {fixed.statement}\n    because {fixed.why}")
    strong = sum(o.verdict.evidence > Evidence.MEASUREMENT for o in outcomes if o.claim.kind != "definition")
    typer.echo(f"{len(outcomes)} claims; {strong} by proof or certificate, definitions not counted")


def _show_mutations(summary: Mapping[str, Any]) -> None:
    typer.echo(f"mutations: {summary['noticing']} of {summary['claims']} claims notice a broken system; the others:")
    for claim, reason in summary["survivors"].items():
        typer.echo(f"    {claim}: {reason}")


def mutation_summary(mutants: Sequence[Mutant]) -> dict[str, Any]:
    """Score: the share of claims that notice some mutation; survivors with the reason the book gives for them."""
    by_claim: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        by_claim.setdefault(mutant.claim.id, []).append(mutant)
    blind = {key: rows[0].claim for key, rows in by_claim.items() if not any(m.noticed for m in rows)}
    return {
        "claims": len(by_claim), "noticing": len(by_claim) - len(blind),
        "score": (len(by_claim) - len(blind)) / max(1, len(by_claim)),
        "survivors": {key: claim.apart or _why(by_claim[key]) for key, claim in blind.items()},
    }


def _why(rows: Sequence[Mutant]) -> str:
    refused = [m.mutation for m in rows if m.refused]
    same = [m.mutation for m in rows if not m.refused]
    text = f"the same verdict on {', '.join(same)}" if same else "never run"
    return text + (f"; refused on {', '.join(refused)}" if refused else "")


def errata_markdown(outcomes: Sequence[Outcome]) -> str:
    """The statements that fail as printed, with witness and corrected form."""
    lines = ["# Errata found by computation", ""]
    for outcome in outcomes:
        verdict, claim = outcome.verdict, outcome.claim
        if verdict.as_stated != FAILS:
            continue
        lines += [f"## {claim.id}: {claim.title}", "", f"Printed: ${claim.statement}$", "",
                  f"Fails ({verdict.evidence}). Witness: `{verdict.witness}`", ""]
        if verdict.corrected is not None:
            fixed = verdict.corrected
            lines += [f"Instead: ${fixed.statement}$ ({fixed.as_stated}, {fixed.evidence}); {fixed.why}.", ""]
    return "\n".join(lines) + ("" if len(lines) > 2 else "Nothing fails as printed.\n")


def errata_latex(outcomes: Sequence[Outcome]) -> str:
    """The same list as a LaTeX description environment in a complete document."""
    rows = []
    for outcome in outcomes:
        verdict, claim = outcome.verdict, outcome.claim
        if verdict.as_stated != FAILS:
            continue
        text = rf"\item[{_plain(claim.id)}] {_plain(claim.title)}. Printed: \( {claim.statement} \)."
        text += rf" It fails ({verdict.evidence}); witness: \texttt{{{_plain(str(verdict.witness))}}}."
        if verdict.corrected is not None:
            fixed = verdict.corrected
            text += rf" Instead: \( {fixed.statement} \) ({fixed.evidence}; {_plain(fixed.why)})."
        rows.append(text)
    body = "\n".join([r"\begin{description}", *rows, r"\end{description}"]) if rows else "Nothing fails as printed."
    return "\n".join([r"\documentclass{article}", r"\usepackage{amsmath,amssymb}", r"\sloppy", r"\begin{document}",
                      r"\section*{Errata found by computation}", body, r"\end{document}", ""])


def _plain(text: str) -> str:
    """Text with TeX's special characters made harmless."""
    table = {"\\": r"\textbackslash{}", "^": r"\^{}", "~": r"\~{}"} | {c: "\\" + c for c in "{}_&%#$"}
    return "".join(table.get(c, c) for c in text)
