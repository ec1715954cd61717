"""How many proofs a proof assistant checks, and why the others are not: python -m benchmarks.proofs [PAPER ...].

Runs the claims of `proofs.json` (those that were a proof once) and, with ``--all``, every claim; exports what they
proved, has Coq check it (answers are kept by content), and prints a table by reason. ``--json`` keeps the answers,
``--twins N`` breaks N files of each kind by a sign and demands that Coq refuses them, ``--update`` adds claims that are
a proof now to `proofs.json`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from odesys.papers.proof_files import ProofFile, proof_file
from odesys.papers.registry import find_paper
from odesys.papers.workers import answer
from odesys.proofs.checking import check_folder, write_folder
from odesys.stated import recorded
from odesys.verdicts import Evidence

LIST = Path(__file__).with_name("proofs.json")
SEALED, UNCHECKED, REFUSED, DEMOTED = "sealed", "exported, not checked", "Coq does not accept it", "no proof any more"
ARGUMENT = "Module argument_1."
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
    """Results by paper, the most frequent first."""
    found = list(found)
    papers = list(dict.fromkeys(row.paper for row in found))
    counts = Counter((row.result, row.paper) for row in found)
    kinds = [kind for kind, _ in Counter(row.result for row in found).most_common()]
    lines = ["| result | " + " | ".join([*papers, "all"]) + " |", "| --- |" + " ---: |" * (len(papers) + 1)]
    for kind in kinds:
        numbers = [counts[kind, paper] for paper in papers]
        lines.append("| " + " | ".join([kind, *map(str, numbers), str(sum(numbers))]) + " |")
    totals = [sum(row.paper == paper for row in found) for paper in papers]
    lines.append("| " + " | ".join(["claims", *map(str, totals), str(sum(totals))]) + " |")
    return "\n".join(lines)


SIDE = re.compile(r"^Definition right_\d+ : R := (.*)\.$", re.M)
ARGUED = re.compile(r"^Definition \w+(?: \([^:]*: R\))? : R := (.*)\.$", re.M)


def broken(text: str) -> str | None:
    """A file with a sign changed: that of what an argument speaks of, else of a right side that is not zero.

    >>> broken("Definition right_1 : R := (2 * x).")
    'Definition right_1 : R := - ((2 * x)).'
    >>> print(broken("Module argument_1.\\nDefinition moved (t h : R) : R := (h * t)."))
    Module argument_1.
    Definition moved (t h : R) : R := - ((h * t)).
    """
    argued = text.find(ARGUMENT)
    places = ARGUED.finditer(text, argued) if argued >= 0 else SIDE.finditer(text)
    for found in places:
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


def twins(files: Iterable[ProofFile], each_kind: int) -> list[tuple[str, str, bool]]:
    """Broken files by kind, and whether Coq refuses them."""
    taken: Counter[str] = Counter()
    found = []
    for file in sorted(files, key=lambda file: len(file.text)):
        text = broken(file.text)
        kind = kind_of(file.text)
        if text is None or taken[kind] >= each_kind:
            continue
        taken[kind] += 1
        with tempfile.TemporaryDirectory() as place:
            write_folder(Path(place), {file.name: text})
            answered = check_folder(Path(place), [file.name], 1, lambda *_: None)
        found.append((kind, file.claim, not answered[file.name].ok))
        print(f"    {kind}, {file.claim}: {'refused' if found[-1][2] else 'ACCEPTED'}", file=sys.stderr, flush=True)
    return found


def main() -> int:
    """Print the table; 1 where a broken file is accepted."""
    listed: dict[str, list[str]] = json.loads(LIST.read_text("utf-8"))
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("papers", nargs="*", default=sorted(listed))
    parser.add_argument("--all", action="store_true", help="every claim of the books, not the listed ones alone")
    parser.add_argument("--folder", type=Path, default=Path("results/proofs"))
    parser.add_argument("--no-check", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--twins", type=int, default=0)
    parser.add_argument("--update", action="store_true")
    asked = parser.parse_args()
    began, found, wrong = time.process_time(), [], []
    for paper in asked.papers:
        ids = [claim.id for claim in find_paper(paper).book()] if asked.all else listed.get(paper, [])
        files = exported(paper, ids)
        if asked.update:
            now = [claim for claim, each in files.items() if each is not None]
            listed[paper] = sorted({*listed.get(paper, ()), *now})
        known = {claim: each for claim, each in files.items() if each is not None or claim in listed.get(paper, ())}
        found += rows(paper, known, asked.folder / paper, not asked.no_check)
        sealed = {row.claim for row in found if row.paper == paper and row.result == SEALED}
        sample = [each for claim, each in known.items() if each is not None and claim in sealed]
        wrong += [twin for twin in twins(sample, asked.twins) if not twin[2]]
        if asked.json:
            asked.json.write_text(json.dumps([asdict(row) for row in found], indent=1), "utf-8")
    if asked.update:
        LIST.write_text(json.dumps(listed, indent=1) + "\n", "utf-8")
    print(table(found))
    print(f"\n{time.process_time() - began:.0f} s of processor time here, {sum(r.seconds for r in found):.0f} s of Coq")
    for row in found:
        if row.result != SEALED:
            print(
                f"- {row.paper} {row.claim}: {row.result}{f' ({row.why})' if row.why and row.why != row.result else ''}"
            )
    for kind, claim, _ in wrong:
        print(f"accepted though broken: {claim} ({kind})")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
