"""How many proofs a proof assistant checks, and why the others are not: python -m benchmarks.proofs [PAPER ...].

Runs the claims of `proofs.json` (those that were a proof once) and, with ``--all``, every claim; exports what they
proved, has Coq check it (answers are kept by content), and prints a table by reason. ``--json`` keeps the answers,
beside those of other papers that are there; ``--write`` puts the table of all of them into `proofs.md`. ``--twins N``
breaks every file with an argument in its conclusion, and N others of each paper in a sign: Coq must refuse them.
``--update`` looks at every claim, too, and adds those that are a proof now to `proofs.json`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from odesys.papers.proof_files import ProofFile, proof_file
from odesys.papers.registry import find_paper
from odesys.papers.workers import answer
from odesys.proofs.checking import check_folder, write_folder
from odesys.stated import recorded
from odesys.verdicts import Evidence

LIST = Path(__file__).with_name("proofs.json")
PAGE = Path(__file__).with_name("proofs.md")
BEGINS, ENDS = "<!-- table: python -m benchmarks.proofs --write -->\n", "<!-- end of the table -->\n"
SEALED, UNCHECKED, REFUSED, DEMOTED = "sealed", "exported, not checked", "Coq does not accept it", "no proof any more"
ARGUMENT = "Module argument_1."
TWIN_REFUSED, TWIN_ACCEPTED = "refused", "accepted"
REASONS = {
    "decided in exact arithmetic": "decides by a computation of its own and hands over no statement",
    "only a difference": "hands over a difference without its sides",
    "one normal form": "both sides are one expression",
    "argues in words": "argues in words from what it handed over",
}


@dataclass(frozen=True)
class Row:
    """A claim, what came of it, and how long Coq took."""

    paper: str
    claim: str
    result: str
    why: str = ""
    statements: int = 0
    seconds: float = 0.0
    twin: str = ""  # refused or accepted, where one was made


def exported(paper: str, chosen: Iterable[str]) -> dict[str, ProofFile | None]:
    """Files of claims by identifier; None where the claim is no proof now."""
    book, chosen = find_paper(paper).book(), list(chosen)
    found: dict[str, ProofFile | None] = {}
    for claim in (claim for claim in book if claim.id in set(chosen)):
        with recorded():
            verdict = answer(book, claim.id, "").verdict
            proof = verdict is not None and verdict.evidence == Evidence.PROOF
            found[claim.id] = proof_file(paper, claim, verdict) if verdict is not None and proof else None
        print(
            f"    {claim.id}: {found[claim.id] and (found[claim.id].missing or 'exported')}",
            file=sys.stderr,
            flush=True,
        )
    return found | {claim: None for claim in chosen if claim not in found}  # a claim that the book has no more


def rows(paper: str, files: Mapping[str, ProofFile | None], folder: Path, check: bool) -> list[Row]:
    """What came of each claim."""
    written = {each.name: each.text for each in files.values() if each is not None and each.text}
    write_folder(folder, written)
    whole = [each.name for each in files.values() if each is not None and each.text and not each.missing]
    said = check_folder(folder, whole, 1, lambda text, _: print(f"    {text}", file=sys.stderr)) if check else {}
    found = []
    for claim, each in files.items():
        if each is None:
            found.append(Row(paper, claim, DEMOTED))
        elif each.missing:
            found.append(Row(paper, claim, reason(each.missing[0]), "; ".join(each.missing), each.statements))
        elif each.name not in said:
            found.append(Row(paper, claim, UNCHECKED, "", each.statements))
        else:
            seen = said[each.name]
            found.append(Row(paper, claim, SEALED if seen.ok else REFUSED, seen.why, each.statements, seen.seconds))
    return found


def reason(missing: str) -> str:
    """The kind of a reason.

    >>> reason("M is left: the function erf is not in the libraries of Coq that are used here")
    'not exported: the function erf is not in the libraries of Coq that are used here'
    """
    for part, kind in REASONS.items():
        if part in missing:
            return kind
    return f"not exported: {missing.rpartition(': ')[2]}"


def table(found: Iterable[Row]) -> str:
    """Results by paper, the most frequent first; twins, and seconds that Coq took.

    >>> print(table([Row("a", "1", SEALED, seconds=1.5, twin="refused"), Row("b", "2", SEALED, seconds=2.0)]))
    | result | a | b | all |
    | --- | ---: | ---: | ---: |
    | sealed | 1 | 1 | 2 |
    | claims | 1 | 1 | 2 |
    | twins refused | 1 | 0 | 1 |
    | twins accepted | 0 | 0 | 0 |
    | seconds of Coq | 2 | 2 | 4 |
    | longest file | 2 | 2 | 2 |
    """
    found = list(found)
    papers = list(dict.fromkeys(row.paper for row in found))
    kinds = [kind for kind, _ in Counter(row.result for row in found).most_common()]
    lines = ["| result | " + " | ".join([*papers, "all"]) + " |", "| --- |" + " ---: |" * (len(papers) + 1)]

    def line(name: str, number: Callable[[list[Row]], float]) -> None:
        parts = [[row for row in found if row.paper == paper] for paper in papers]
        lines.append("| " + " | ".join([name, *(f"{number(rows):.0f}" for rows in [*parts, found])]) + " |")

    for kind in kinds:
        line(kind, lambda rows, kind=kind: sum(row.result == kind for row in rows))
    line("claims", len)
    for said in (TWIN_REFUSED, TWIN_ACCEPTED):
        line(f"twins {said}", lambda rows, said=said: sum(row.twin == said for row in rows))
    line("seconds of Coq", lambda rows: sum(row.seconds for row in rows))
    line("longest file", lambda rows: max((row.seconds for row in rows), default=0.0))
    return "\n".join(lines)


def page(text: str, found: Iterable[Row]) -> str:
    """A page with the table of these rows, and what is not sealed, between its marks.

    >>> print(page(f"before\\n{BEGINS}old\\n{ENDS}after", [Row("a", "1", SEALED)]).splitlines()[-1])
    after
    """
    found = list(found)
    before, _, rest = text.partition(BEGINS)
    _, _, after = rest.partition(ENDS)
    sealed = sum(row.result == SEALED for row in found)
    lines = [table(found), "", f"{sealed} of {len(found)} is {100 * sealed / len(found):.0f} percent."]
    return f"{before}{BEGINS}" + "\n".join(lines) + f"\n{ENDS}{after}"


SIDE = re.compile(r"^Definition right_\d+ : R := (.*)\.$", re.M)
STATED = re.compile(r"^Theorem \w+(.*?)\.\s+Proof", re.M | re.S)
RELATION = re.compile(r" (<=|<>|<|=|>=|>)\s")
OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "=": "<>", "<>": "="}


def broken(text: str) -> str | None:
    """A file that must be refused: the conclusion of its last argument turned round, else the sign of a right side.

    >>> broken("Definition right_1 : R := (2 * x).")
    'Definition right_1 : R := - ((2 * x)).'
    >>> print(broken("Module argument_1.\\nTheorem above : forall x, 0 < x -> one <= f x.\\nProof. lra. Qed."))
    Module argument_1.
    Theorem above : forall x, 0 < x -> one > f x.
    Proof. lra. Qed.
    """
    argued = text.find(ARGUMENT)
    if argued >= 0:
        *_, statement = STATED.finditer(text, argued)
        *_, last = RELATION.finditer(statement.group(1))
        start = statement.start(1)
        return f"{text[: start + last.start(1)]}{OPPOSITE[last.group(1)]}{text[start + last.end(1) :]}"
    for found in SIDE.finditer(text):
        if found.group(1).strip("()") != "0":
            return f"{text[: found.start(1)]}- ({found.group(1)}){text[found.end(1) :]}"
    return None


def kind_of(text: str) -> str:
    """What a file proves, for a choice of examples."""
    if ARGUMENT in text:
        return "argument"
    if "interval" in text:
        return "enclosure"
    if re.search(r"^Theorem claim_1 :.*(<>|<=|<)", text, re.M):
        return "comparison"
    if "Section maps" in text:
        return "map at values"
    return "as written" if re.search(r"^Lemma w\d", text, re.M) else "identity"


def twins(files: Iterable[ProofFile], others: int) -> dict[str, str]:
    """By claim whether Coq refuses its broken file: every argument, and some other files, a small one of each kind."""
    chosen: dict[str, ProofFile] = {}
    taken: Counter[str] = Counter()
    for file in sorted(files, key=lambda file: len(file.text)):
        kind = kind_of(file.text)
        if broken(file.text) is not None and (kind == "argument" or (taken[kind] == 0 and len(taken) < others + 1)):
            taken[kind] += 1
            chosen[file.name] = file
    with tempfile.TemporaryDirectory() as place:
        write_folder(Path(place), {name: broken(file.text) or "" for name, file in chosen.items()})
        said = check_folder(Path(place), list(chosen), 1, lambda text, _: print(f"    twins, {text}", file=sys.stderr))
    return {file.claim: TWIN_ACCEPTED if said[name].ok else TWIN_REFUSED for name, file in chosen.items()}


def main() -> int:
    """Print the table; 1 where a broken file is accepted."""
    listed: dict[str, list[str]] = json.loads(LIST.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", default=sorted(listed))
    parser.add_argument("--all", action="store_true", help="every claim of the books, not the listed ones alone")
    parser.add_argument("--folder", type=Path, default=Path("results/proofs"))
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--twins", type=int, default=-1)
    parser.add_argument("--update", action="store_true", help="list claims that are a proof now, of every claim")
    parser.add_argument("--write", action="store_true", help="put the table into proofs.md")
    asked = parser.parse_args()
    kept = json.loads(asked.json.read_text("utf-8")) if asked.json and asked.json.exists() else []
    before = [row for row in (Row(**each) for each in kept) if row.paper not in asked.papers]
    found: list[Row] = []
    for paper in asked.papers:
        every = asked.all or asked.update  # a claim that is new among the proofs is not listed yet
        ids = [claim.id for claim in find_paper(paper).book()] if every else listed.get(paper, [])
        files = exported(paper, ids)
        if asked.update:
            now = [claim for claim, each in files.items() if each is not None]
            listed[paper] = sorted({*listed.get(paper, ()), *now})
        known = {claim: each for claim, each in files.items() if each is not None or claim in listed.get(paper, ())}
        seen = rows(paper, known, asked.folder / paper, not asked.no_check)
        sealed = {row.claim for row in seen if row.result == SEALED}
        sample = [each for claim, each in known.items() if each is not None and claim in sealed]
        answers = twins(sample, asked.twins) if asked.twins >= 0 else {}
        found += [replace(row, twin=answers.get(row.claim, "")) for row in seen]
        if asked.json:
            asked.json.write_text(json.dumps([asdict(row) for row in [*before, *found]], indent=1), "utf-8")
    if asked.update:
        LIST.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    found = [*before, *found]
    if asked.write:
        PAGE.write_text(page(PAGE.read_text("utf-8"), found), "utf-8")
    print(table(found))
    for row in found:
        if row.result != SEALED:
            print(
                f"- {row.paper} {row.claim}: {row.result}{f' ({row.why})' if row.why and row.why != row.result else ''}"
            )
    wrong = [row for row in found if row.twin == TWIN_ACCEPTED]
    for row in wrong:
        print(f"accepted though broken: {row.claim} of {row.paper}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
