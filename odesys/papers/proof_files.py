"""Claims to files of proofs: what a proof handed over, as a theory of Coq, or the reason why there is none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import OdesysError
from ..expr.graph import ZERO, as_node
from ..proofs.checking import (
    WITHOUT_COQ,
    Checked,
    check_folder,
    coq_version,
    write_folder,
)
from ..proofs.forms import written_forms
from ..proofs.theory import theory
from ..stated import EQUAL, Argued, Stated, Unstated, origins
from ..terminal import Progress
from ..verdicts import Evidence, Verdict
from .claims import Claim, Outcome

CHECKER = "Coq"
NOTHING = "both sides of every statement have one normal form, so that there is nothing to check"
RESIDUAL = "hands over only a difference that vanishes, not its two sides"


@dataclass(frozen=True)
class ProofFile:
    """The file of one claim: its text, and what of the claim is not in it."""

    claim: str
    name: str
    text: str = ""
    statements: int = 0
    by_definition: int = 0
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class ProofCheck:
    """What a proof assistant says of a claim; `sealed` if it checked all of it.

    Statements `by_definition` are those whose sides have one normal form: there is nothing to check in them.
    """

    file: str
    version: str
    seconds: float
    axioms: tuple[str, ...]
    statements: int
    by_definition: int
    why: str

    @property
    def sealed(self) -> bool:
        """Whether the kernel checked every statement, and at least one that is not so by definition."""
        return not self.why

    def as_json(self) -> dict[str, Any]:
        """The documented fields."""
        return {
            "checker": CHECKER,
            "version": self.version or None,
            "sealed": self.sealed,
            "seconds": self.seconds,
            "axioms": list(self.axioms),
            "file": self.file or None,
            "statements": self.statements,
            "by_definition": self.by_definition,
            "why": self.why or None,
        }


def file_name(claim: str) -> str:
    """The file of a claim.

    >>> file_name("E.4(15)"), file_name("6.1/exists")
    ('claim_E_4_15.v', 'claim_6_1_exists.v')
    """
    return f"claim_{re.sub('[^A-Za-z0-9]+', '_', claim).strip('_')}.v"


def proof_file(paper: str, claim: Claim, verdict: Verdict) -> ProofFile | None:
    """The file for a claim that was proved while statements were recorded; None for any other evidence."""
    if verdict.evidence != Evidence.PROOF:
        return None
    handed = [each for each in verdict.stated if isinstance(each, Stated)]
    stated = [each for each in handed if not each.residual and not _number_twice(each)]
    numbers = list(dict.fromkeys(each.name for each in handed if not each.residual and _number_twice(each)))
    argued = [each for each in verdict.stated if isinstance(each, Argued)]
    missing = [each.why for each in verdict.stated if isinstance(each, Unstated)]
    same = [each.name for each in handed if each.residual and each.left is ZERO]  # two sides that were one expression
    same += numbers
    only = [each.name for each in handed if each.residual and each.left is not ZERO]
    if only:
        more = f" and {len(only) - 1} more" if len(only) > 1 else ""
        missing.append(f"{only[0]}{more} {RESIDUAL}")
    other = [f"{name} ({part.evidence})" for name, part in verdict.parts.items() if part.evidence != Evidence.PROOF]
    name = file_name(claim.id)
    title = (
        f"{paper} {claim.id}: {claim.title}" + (f" [{claim.where}]" if claim.where else ""),
        f"as printed: {claim.statement}",
        f"read as: {claim.reading}" if claim.reading else "",
        f"not here, since both sides are one expression: {', '.join(same)}" if same else "",
        f"not here, since their evidence is no proof: the parts {', '.join(other)}" if other else "",
    )
    if not stated and not argued:
        missing += [NOTHING] if same and not missing else []
        return ProofFile(claim.id, "", missing=tuple(missing))
    try:
        found = theory(title, stated, argued)
    except RecursionError:
        return ProofFile(claim.id, "", missing=(*missing, "the expression is nested too deeply"))
    except OdesysError as error:
        return ProofFile(claim.id, "", missing=(*missing, str(error)))
    missing += found.left_out
    if not found.statements:
        return ProofFile(claim.id, "", missing=tuple(missing))
    if found.by_definition == found.statements:
        missing.append(NOTHING)
    counted = found.statements + len(same), found.by_definition + len(same)
    return ProofFile(claim.id, name, found.text, *counted, tuple(missing))


def _number_twice(each: Stated) -> bool:
    """Whether it says of a number that it is itself, as 0 = 0, where nothing is known of how a side was made."""
    left, right = as_node(each.left), as_node(each.right)
    one = each.relation == EQUAL and left is right and left.op == "num" and not each.values
    return one and left not in origins and len(written_forms(left)) < 2


@dataclass(frozen=True)
class ProofRun:
    """What came of writing and checking: outcomes with their seals, the files, and what Coq said of derivations."""

    outcomes: list[Outcome]
    paths: list[Path]
    derivations: list[Checked]


def check_proofs(
    outcomes: Iterable[Outcome],
    proofs: Iterable[ProofFile],
    folder: Path,
    check: bool,
    workers: int,
    progress: Progress,
    derivations: Mapping[str, str] | None = None,
) -> ProofRun:
    """Write the files and check them; `derivations` are texts of files that belong to no claim, by name."""
    by_claim = {each.claim: each for each in proofs}
    extra = dict(derivations or {})
    written = {**{each.name: each.text for each in by_claim.values() if each.text}, **extra}
    paths = write_folder(folder, written)
    version = coq_version() if check else ""
    answers: dict[str, Checked] = {}
    if version:
        answers = check_folder(folder, list(written), workers, progress)
    unchecked = WITHOUT_COQ if check else "not checked, as asked for"
    found = []
    for outcome in outcomes:
        proof = by_claim.get(outcome.claim.id)
        if proof is not None:
            outcome = replace(outcome, proof_check=_answer(proof, answers.get(proof.name), version, unchecked, folder))
        found.append(outcome)
    said = [answers.get(name) or Checked(name, False, 0.0, (), unchecked) for name in extra]
    return ProofRun(found, paths, said)


def _answer(proof: ProofFile, said: Checked | None, version: str, unchecked: str, folder: Path) -> ProofCheck:
    missing = "; ".join(dict.fromkeys(proof.missing))
    file = f"{folder.name}/{proof.name}" if proof.name else ""
    counted = proof.statements, proof.by_definition
    if not proof.text:
        return ProofCheck("", version, 0.0, (), 0, 0, f"not exported: {missing}")
    if said is None:
        return ProofCheck(file, "", 0.0, (), *counted, missing or unchecked)
    if not said.ok:
        return ProofCheck(file, said.version, said.seconds, said.axioms, *counted, f"does not check: {said.why}")
    return ProofCheck(file, said.version, said.seconds, said.axioms, *counted, missing and f"in part: {missing}")


def proof_lines(outcomes: Iterable[Outcome], derivations: Iterable[Checked] = ()) -> list[str]:
    """How many proofs are sealed, and why the others are not; what was said of derivations."""
    asked = {o.claim.id: o.proof_check for o in outcomes if o.proof_check is not None}
    sealed = sum(each.sealed for each in asked.values())
    lines = [f"{sealed} of {len(asked)} proofs checked by the kernel of {CHECKER}"]
    lines += [f"    {claim}: {each.why}" for claim, each in asked.items() if each.why]
    return lines + [f"{each.file}: {each.why or f'checked in {each.seconds:.3g} s'}" for each in derivations]
