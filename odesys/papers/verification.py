"""Running a claim book: outcomes, what the command prints of them, and the errata in Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import typer

from .. import files
from ..proofs.checking import WITHOUT_COQ, coq_version
from ..sentences import say_answer, say_parts, say_witness
from ..terminal import Progress, print_files, print_table, progress_bar, say, shown
from ..tex.documents import tex_templates
from ..verdicts import ANSWERS, FAILS, HOLDS, UNDECIDED, UNTESTED, Evidence
from .claims import CheckError, Claim, ClaimBook, Outcome
from .mutation_runs import mutation_lines, mutation_runs, mutation_summary
from .paper import Paper
from .proof_files import ProofFile, check_proofs, proof_lines
from .redraw import FLIP_LIMIT, redraw, redraw_lines
from .survival import causes, few_open, score, theorem_answers, with_survival
from .workers import Answer, one_pool, run_tasks, tasks_of


def verify(
    book: ClaimBook,
    claims: Sequence[Claim],
    progress: Progress,
    workers: int = 1,
    paper: str = "",
    rescue: Callable[[list[Outcome]], None] | None = None,
    known: Mapping[str, Answer] | None = None,
    proofs: list[ProofFile] | None = None,
) -> list[Outcome]:
    """Check claims, each in a laboratory of its own; the order and the number of processes change no verdict.

    With several `workers` the processes find the book as that of `paper` (its name by default). Where someone
    interrupts, `rescue` is given the outcomes so far; where checks broke off, the error has the others'. Answers
    that are `known` are not asked for again. What was proved is put into `proofs`, where that is given.
    """
    arrived: list[Answer] = []
    open_ones = [claim for claim in claims if claim.id not in (known or {})]

    def outcomes() -> list[Outcome]:
        found = {**(known or {}), **{answer.claim: answer for answer in arrived}}
        return with_survival(book, [_outcome(claim, found[claim.id]) for claim in claims if claim.id in found])

    try:
        tasks = tasks_of(book, open_ones, proofs=proofs is not None)
        run_tasks(paper or book.paper, book, tasks, workers, progress, arrived)
    except KeyboardInterrupt:
        if rescue is not None:
            rescue(outcomes())
        raise
    except CheckError as error:
        error.outcomes = outcomes()
        raise
    if proofs is not None:
        proofs += [answer.proof for answer in arrived if answer.proof is not None]
    return outcomes()


def _outcome(claim: Claim, found: Answer) -> Outcome:
    assert found.verdict is not None  # a check that does not come to a verdict raises
    return Outcome(claim, found.verdict, found.seconds, found.reads)


@dataclass(frozen=True)
class Request:
    """What ``odesys verify`` is asked for: which claims, which extra runs, what to show and what to write."""

    ids: Sequence[str] = ()
    level: str = "quick"
    mutations: bool = False
    redraw: int = 0
    seed: int = 0
    show_all: bool = False
    errata: Path | None = None
    json: Path | None = None
    workers: int = 1
    certificates: Path | None = None
    proofs: Path | None = None
    check: bool = True


def run_command(papers: Mapping[str, Paper], request: Request) -> bool:
    """The command ``odesys verify``: print what stands, write what was asked for; True if all is as it should be."""
    books = {name: paper.book() for name, paper in papers.items() if paper.book is not None}
    chosen = {
        name: book.select(request.ids, "full" if request.redraw else request.level) for name, book in books.items()
    }
    exported = request.proofs is not None
    with one_pool(request.workers, {name: tasks_of(books[name], own, proofs=exported) for name, own in chosen.items()}):
        return _verified(papers, chosen, request)


def _verified(papers: Mapping[str, Paper], chosen: Mapping[str, Sequence[Claim]], request: Request) -> bool:
    done: list[Outcome] = []
    broken: list[CheckError] = []
    more: dict[str, Any] = {"mutations": {}}
    decided = True

    def rescue(outcomes: list[Outcome]) -> None:
        if outcomes:
            show(paper.name, book, outcomes, request.show_all, bool(request.ids))
        _write([*done, *outcomes], more, request, complete=False)

    for name, paper in papers.items():
        if paper.book is None:
            typer.echo(f"{paper.name} has no registered claims yet")
            continue
        book = paper.book()
        with progress_bar(f"verifying {paper.name}") as progress:
            proofs: list[ProofFile] | None = None if request.proofs is None else []
            try:
                outcomes = verify(book, chosen[name], progress, request.workers, name, rescue, proofs=proofs)
            except CheckError as error:  # told at the end, after what the others gave
                outcomes, proofs = error.outcomes, None
                broken.append(error)
            found = {} if broken else _extra_runs(name, book, outcomes, request, progress)
        if outcomes:
            show(paper.name, book, outcomes, request.show_all, bool(request.ids))
        if proofs is not None and request.proofs is not None:
            folder = request.proofs / paper.name
            with progress_bar("checking proofs") as progress:
                own = {} if request.ids else {file: text() for file, text in book.derivations.items()}
                seen = check_proofs(outcomes, proofs or [], folder, request.check, request.workers, progress, own)
            outcomes = seen.outcomes
            print_files(seen.paths)
            typer.echo(shown("\n".join(proof_lines(outcomes, seen.derivations))))
            more.setdefault("derivations", []).extend(
                {"paper": paper.name, **asdict(each)} for each in seen.derivations
            )
            if request.check and not coq_version():
                typer.echo(WITHOUT_COQ)
        done += outcomes
        if "mutations" in found:
            more["mutations"][paper.name] = found["mutations"]
            typer.echo(shown("\n".join(mutation_lines(found["mutations"]))))
        if "redraw" in found:
            more["draws"] = more.get("draws", 0) + found["redraw"]["draws"]
            more["flips"] = [*more.get("flips", []), *found["redraw"]["flips"]]
            typer.echo(shown("\n".join(redraw_lines(found["redraw"]))))
            if book.rule and not request.ids and not few_open(outcomes):
                decided = False
                typer.echo("a tenth of the paper's claims or more is untested or undecided: the book is not done")
        if request.certificates:
            with progress_bar("writing certificates") as progress:
                print_files(write_certificates(book, outcomes, request.certificates, progress))
    _write(done, more, request, complete=not broken)
    if broken:
        raise CheckError("; ".join(map(str, broken)), claim=broken[0].claim)  # type: ignore[attr-defined]
    few_flips = not more.get("flips") or len(more["flips"]) < FLIP_LIMIT * more["draws"]
    explained = all(summary["explained"] for summary in more["mutations"].values())
    return all(o.as_expected for o in done) and explained and few_flips and decided


def _extra_runs(
    name: str, book: ClaimBook, outcomes: Sequence[Outcome], request: Request, progress: Progress
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if request.mutations:
        mutants = mutation_runs(name, book, outcomes, book.mutations, progress, request.workers)
        if mutants:
            found["mutations"] = mutation_summary(book, mutants)
    if request.redraw:
        found["redraw"] = redraw(name, book, outcomes, request.redraw, request.seed, progress, request.workers)
    return found


def _write(outcomes: Sequence[Outcome], more: Mapping[str, Any], request: Request, complete: bool) -> None:
    errata, json = request.errata, request.json
    if errata:
        text = errata_latex(outcomes) if errata.suffix == ".tex" else errata_markdown(outcomes)
        print_files([files.write_text(errata, text)])
    if json:
        found = [outcome.as_json() for outcome in outcomes]
        files.write_json(json, {"claims": found, **more, "complete": complete})


def write_certificates(book: ClaimBook, outcomes: Sequence[Outcome], folder: Path, progress: Progress) -> list[Path]:
    """Write the registered certificates of which a claim was checked and has one; tools/ has programs to check them."""
    strong = {o.claim.id for o in outcomes if o.verdict.evidence == Evidence.CERTIFICATE}
    wanted = {file: write for file, (ids, write) in book.certificates.items() if strong & set(ids)}
    for k, (file, write) in enumerate(wanted.items()):
        progress(file, k / len(wanted))
        folder.mkdir(parents=True, exist_ok=True)
        write(folder / file)
    return [folder / file for file in wanted]


# ---- what a person sees ----------------------------------------------------------------------------------------------


def show(
    paper: str, book: ClaimBook, outcomes: Sequence[Outcome], show_all: bool = False, chosen: bool = False
) -> None:
    """Print which theorems stand, then causes by fault, then what does not hold; with `show_all` the whole table.

    Where claims were `chosen` one by one, those that hold are said too.
    """
    say(f"{paper}: {book.reference}", style="bold")
    if not book.rule:
        say("not yet under the verdict rule: answers may be about a part of a statement, or outside hypotheses", 0, 0)
    if book.not_yet:
        say(f"of the verdict rule not yet kept: {'; '.join(book.not_yet)}", 0, 0)
    theorems = theorem_answers(book, outcomes)
    done = {outcome.claim.id for outcome in outcomes}
    unrun = [claim.id for claim in book if claim.main and claim.id not in done] if not chosen else []
    if theorems or unrun:
        say("\nDo the main theorems stand?", style="bold")
        for stands, line, instead in theorems:
            say(line, 4, mark=stands)
            for fixed in instead:
                say(fixed, 8, 0)
        if unrun:
            say(f"{', '.join(unrun)}: not known, level full decides", 4, mark="open")
    for fault, by_cause in causes(outcomes).items():
        say(f"\n{FAULT_WORDS[fault]}, {_count(len(by_cause), 'cause')}:", style="bold")
        for cause, failing in by_cause.items():
            say(f"{cause}: {', '.join(o.claim.id for o in failing)}", 4, mark=fault)
    for title, wanted in (*SECTIONS, *([HOLDING] if chosen else ())):
        listed = [outcome for outcome in outcomes if wanted(outcome)]
        if listed:
            say(f"\n{title}:", style="bold")
        for outcome in listed:
            say_outcome(outcome)
    if show_all:
        _table(outcomes)
    say("\n" + summary_line(outcomes), 0, 0)
    if not show_all and not chosen:
        say("--all shows every claim, --claim ID one of them", 0, 0)


def summary_line(outcomes: Sequence[Outcome]) -> str:
    """The paper's own claims by answer, how many rest on proof or certificate, and what is ours."""
    counted = score(outcomes)
    plural = {HOLDS: "hold", FAILS: "fail"}
    answers = ", ".join(
        f"{counted[answer]} {plural.get(answer, answer) if counted[answer] > 1 else answer}"
        for answer in ANSWERS
        if counted.get(answer)
    )
    strong = sum(o.verdict.evidence > Evidence.MEASUREMENT for o in outcomes if o.claim.scored)
    causes_found = f" ({_count(counted['causes'], 'cause')})" if counted["causes"] else ""
    ours = sum(o.claim.origin == "ours" for o in outcomes)
    rest = len(outcomes) - counted["claims"] - ours
    aside = f"{_count(rest, 'definition or condition', 'definitions and conditions')}, {ours} of ours"
    if not counted["claims"]:
        return f"No claim of the paper: {aside}."
    return (
        f"{_count(counted['claims'], 'claim')} of the paper: {answers}{causes_found}; "
        f"{strong} by proof or certificate. "
        f"Not counted: {aside}."
    )


FAULT_WORDS = {
    "false": "False inside its hypotheses",
    "proof": "A printed step fails, the statement stands or is open",
    "constant": "The order is right, a constant is not",
    "misprint": "Misprints",
}
SECTIONS: tuple[tuple[str, Callable[[Outcome], bool]], ...] = (
    ("Fails as printed", lambda o: o.verdict.as_stated == FAILS and o.claim.scored),
    ("Undecided", lambda o: o.verdict.as_stated == UNDECIDED and o.claim.scored),
    ("Untested", lambda o: o.verdict.as_stated == UNTESTED and o.claim.scored),
    ("Ours, and not so", lambda o: o.verdict.as_stated != HOLDS and not o.claim.scored),
)
HOLDING = ("Holds", lambda o: o.verdict.as_stated == HOLDS)


def say_outcome(outcome: Outcome) -> None:
    """Print a claim, its answer with a witness, and what holds instead."""
    claim, verdict = outcome.claim, outcome.verdict
    note = "" if outcome.as_expected else f" (unexpected: the book expects {claim.expect})"
    place = f" [{claim.where}]" if claim.where else ""
    say(f"{claim.id} {claim.title}{place}, {verdict.evidence}{note}", 4, mark=verdict.as_stated)
    for line in (say_parts(verdict) if verdict.as_stated == HOLDS else []) or [say_answer(verdict)]:
        say(line, 8, 0)
    if verdict.corrected is not None:
        fixed = verdict.corrected
        say(f"instead ({fixed.as_stated}, {fixed.evidence}): {fixed.statement}", 8, 0)
        say(f"because {fixed.why}", 8, 0)


def _table(outcomes: Sequence[Outcome]) -> None:
    rows = [
        (
            o.claim.id,
            o.claim.title,
            o.verdict.as_stated if o.claim.judged else None,
            str(o.verdict.evidence),
            "" if o.as_expected else "unexpected",
            f"{o.seconds:.1f} s",
        )
        for o in outcomes
    ]
    typer.echo("")
    print_table("", ("claim", "title", "as printed", "evidence", "", "time"), rows)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


# ---- errata ----------------------------------------------------------------------------------------------------------


def errata_markdown(outcomes: Sequence[Outcome]) -> str:
    """The statements that fail as printed by fault, severest first, and by cause, with what remains true."""
    return _errata("errata.md", outcomes)


def errata_latex(outcomes: Sequence[Outcome]) -> str:
    """The same list as a complete LaTeX document."""
    return _errata("errata.tex", outcomes)


def _errata(template: str, outcomes: Sequence[Outcome]) -> str:
    groups = causes(outcomes)
    other = [o for o in outcomes if o.verdict.as_stated == FAILS and o.claim.scored and not o.verdict.fault]
    if other:  # a book that is not yet under the verdict rule
        groups[""] = {outcome.claim.id: [outcome] for outcome in other}
    words = {**FAULT_WORDS, "": "Fails as printed, fault not yet named"}
    return tex_templates("odesys.papers").get_template(template).render(groups=groups, words=words, say=say_witness)
