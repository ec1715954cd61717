"""Running a claim book: outcomes, the command that shows them, and the errata list in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from .. import files
from ..terminal import Progress, print_files, print_table, progress_bar
from ..tex.documents import tex_templates
from ..verdicts import FAILS, HOLDS, Evidence
from .claims import Claim, ClaimBook, Outcome
from .mutation_runs import mutation_lines, mutation_runs, mutation_summary
from .paper import Paper
from .workers import Answer, run_tasks, tasks_of


def verify(
    book: ClaimBook,
    claims: Sequence[Claim],
    progress: Progress,
    workers: int = 1,
    paper: str = "",
    rescue: Callable[[list[Outcome]], None] | None = None,
) -> list[Outcome]:
    """Check claims, each in a laboratory of its own; the order and the number of processes change no verdict.

    With several `workers` the processes find the book as that of `paper` (its name by default). Where someone
    interrupts, `rescue` is given the outcomes so far.
    """
    arrived: list[Answer] = []
    try:
        answers = run_tasks(paper or book.paper, book, tasks_of(claims), workers, progress, arrived)
    except KeyboardInterrupt:
        if rescue is not None:
            known = {found.claim: found for found in arrived}
            rescue([_outcome(claim, known[claim.id]) for claim in claims if claim.id in known])
        raise
    return [_outcome(claim, found) for claim, found in zip(claims, answers, strict=True)]


def _outcome(claim: Claim, found: Answer) -> Outcome:
    assert found.verdict is not None  # a check that does not come to a verdict raises
    return Outcome(claim, found.verdict, found.seconds, found.reads)


def run_command(
    papers: Mapping[str, Paper],
    ids: Sequence[str],
    level: str,
    with_mutations: bool,
    errata: Path | None,
    json: Path | None,
    workers: int,
    certificates: Path | None = None,
) -> bool:
    """The command ``odesys verify``: print tables, write what was asked for; True if all is as it should be."""
    done: list[Outcome] = []
    mutated: dict[str, Any] = {}

    def rescue(outcomes: list[Outcome]) -> None:
        if outcomes:
            _show(paper, outcomes)
        _write([*done, *outcomes], mutated, errata, json, complete=False)

    for name, paper in papers.items():
        if paper.book is None:
            typer.echo(f"{paper.name} has no registered claims yet")
            continue
        book = paper.book()
        with progress_bar(f"verifying {paper.name}") as progress:
            outcomes = verify(book, book.select(ids, level), progress, workers, name, rescue)
            mutants = mutation_runs(name, book, outcomes, book.mutations, progress, workers) if with_mutations else []
        _show(paper, outcomes)
        done += outcomes
        if mutants:
            mutated[paper.name] = mutation_summary(book, mutants)
            typer.echo("\n".join(mutation_lines(mutated[paper.name])))
        if certificates:
            with progress_bar(f"certificates of {paper.name}") as progress:
                files = write_certificates(book, outcomes, certificates / paper.name, progress)
            print_files(files)
    _write(done, mutated, errata, json, complete=True)
    return all(o.as_expected for o in done) and all(summary["explained"] for summary in mutated.values())


def _write(
    outcomes: Sequence[Outcome], mutated: Mapping[str, Any], errata: Path | None, json: Path | None, complete: bool
) -> None:
    if errata:
        text = errata_latex(outcomes) if errata.suffix == ".tex" else errata_markdown(outcomes)
        print_files([files.write_text(errata, text)])
    if json:
        found = [outcome.as_json() for outcome in outcomes]
        files.write_json(json, {"claims": found, "mutations": mutated, "complete": complete})


def write_certificates(book: ClaimBook, outcomes: Sequence[Outcome], folder: Path, progress: Progress) -> list[Path]:
    """Write the registered certificates of which a claim was checked and has one; tools/ has programs to check them."""
    strong = {o.claim.id for o in outcomes if o.verdict.evidence == Evidence.CERTIFICATE}
    wanted = {file: write for file, (ids, write) in book.certificates.items() if strong & set(ids)}
    for k, (file, write) in enumerate(wanted.items()):
        progress(file, k / len(wanted))
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / file)
    return [folder / file for file in wanted]


def _show(paper: Paper, outcomes: Sequence[Outcome]) -> None:
    rows = [
        (
            o.claim.id,
            o.claim.title,
            o.verdict.as_stated,
            str(o.verdict.evidence),
            "" if o.as_expected else "unexpected",
            f"{o.seconds:.1f} s",
        )
        for o in outcomes
    ]
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


def errata_markdown(outcomes: Sequence[Outcome]) -> str:
    """The statements that fail as printed, with witness and corrected form."""
    return _errata("errata.md", outcomes)


def errata_latex(outcomes: Sequence[Outcome]) -> str:
    """The same list as a LaTeX description environment in a complete document."""
    return _errata("errata.tex", outcomes)


def _errata(template: str, outcomes: Sequence[Outcome]) -> str:
    failing = [outcome for outcome in outcomes if outcome.verdict.as_stated == FAILS]
    return tex_templates("odesys.papers").get_template(template).render(failing=failing)
