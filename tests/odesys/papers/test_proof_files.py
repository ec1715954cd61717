"""From claims to files, and what the command says of them."""

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from odesys import proved, sym
from odesys.errors import OdesysError
from odesys.expr.graph import ZERO
from odesys.papers import proof_files
from odesys.papers.claims import Claim, Outcome
from odesys.papers.proof_files import (
    NOTHING,
    RESIDUAL,
    ProofCheck,
    ProofFile,
    _number_twice,
    check_proofs,
    proof_file,
    proof_lines,
)
from odesys.papers.registry import find_paper
from odesys.papers.verification import Request, run_command
from odesys.proofs.checking import WITHOUT_COQ, Checked
from odesys.proofs.theory import Theory
from odesys.stated import Stated, Unstated, recorded
from odesys.terminal import silent
from odesys.verdicts import Evidence, Verdict, measured
from tests.coq import needs_coq

X = sym("x")


def claim():
    book = find_paper("two_mixture").book
    assert book is not None
    return book()["E.5-proof"]


def test_a_proof_without_statements_is_not_exported() -> None:
    with recorded():
        made = proof_file("two_mixture", claim(), proved())
    assert made is not None
    assert not made.text
    assert "hands over no statement" in made.missing[0]


def test_what_argues_in_words_is_written_and_has_no_seal() -> None:
    with recorded():
        found = proved().stating({"two": (2, "<", 3)}).arguing("argues in words from two")
        made = proof_file("two_mixture", claim(), found)
    assert made is not None and made.text
    assert made.missing == ("argues in words from two",)


def test_one_normal_form_on_both_sides_is_no_seal() -> None:
    verdict = Verdict("holds", Evidence.PROOF, stated=(Stated("x", "=", X, X),))
    made = proof_file("two_mixture", claim(), verdict)
    assert made is not None
    assert made.text
    assert "one normal form" in made.missing[0]


@pytest.mark.parametrize("number", [4, Fraction(1, 2), sym("x") - sym("x")])
def test_a_number_that_is_itself_is_no_statement(number: object) -> None:
    """Claims may hand over plain numbers, too; a file has the other statements and names this one."""
    with recorded():
        alone = proof_file("two_mixture", claim(), proved().stating({"count": (number, "=", number)}))
        both = {"count": (number, "=", number), "two": (2, "<", 3)}
        beside = proof_file("two_mixture", claim(), proved().stating(both))
    assert alone is not None and not alone.text and alone.missing
    assert beside is not None and beside.statements == 2 and "one expression: count" in beside.text


def run(folder: Path, ids: list[str], check: bool = True) -> list[dict]:
    paper = {"two_mixture": find_paper("two_mixture")}
    file = folder / "found.json"
    assert run_command(paper, Request(ids, json=file, proofs=folder, check=check))
    return json.loads(file.read_text("utf-8"))["claims"]


@needs_coq
def test_claims_of_a_paper_are_sealed(tmp_path: Path) -> None:
    for found in run(tmp_path, ["D.1", "E.5-proof"]):
        seal = found["proof_check"]
        assert seal["sealed"], seal["why"]
        assert seal["checker"] == "Coq"
        assert (tmp_path / seal["file"]).exists()
        assert all("Reals" in axiom or "Extensionality" in axiom or "Classical" in axiom for axiom in seal["axioms"])


def test_without_coq_the_files_are_written_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(proof_files, "coq_version", lambda: "")
    monkeypatch.setattr("odesys.papers.verification.coq_version", lambda: "")
    (found,) = run(tmp_path, ["E.5-proof"])
    assert not found["proof_check"]["sealed"]
    assert (tmp_path / "two_mixture" / "claim_E_5_proof.v").exists()
    assert "apt install coq" in " ".join(capsys.readouterr().out.split())


# ---- files of one claim ----------------------------------------------------------------------------------------------

Y = sym("y")
SQUARE = Stated("square", "=", (X + Y) ** 2, X**2 + 2 * X * Y + Y**2)
SAME = Stated("same", "=", X, X)
GAP, GONE = Stated("gap", "=", X - Y, 0, residual=True), Stated("gone", "=", ZERO, 0, residual=True)
COUNT = Stated("count", "=", 4, 4)


def plain(**fields: str) -> Claim:
    """A claim that says what it is in three words."""
    known = {"where": "", "reading": ""}
    return Claim("toy", "A.1", "title", "identity", "a = b", check=len, **{**known, **fields})


def proof(*stated: object, **parts: Verdict) -> Verdict:
    """A proof that handed these statements over."""
    return Verdict("holds", Evidence.PROOF, stated=stated, parts=parts)


@pytest.mark.parametrize(
    ("stated", "counted", "missing", "said"),
    [
        ([SQUARE], (1, 0), (), ""),
        ([SAME], (1, 1), (NOTHING,), ""),
        ([SQUARE, SAME], (2, 1), (), ""),
        ([SQUARE, COUNT], (2, 1), (), "count"),
        ([SQUARE, GONE], (2, 1), (), "gone"),
        ([SQUARE, GONE, COUNT, COUNT], (3, 2), (), "gone, count"),
        ([SQUARE, GAP], (1, 0), (f"gap {RESIDUAL}",), ""),
        ([SQUARE, GAP, replace(GAP, name="other")], (1, 0), (f"gap and 1 more {RESIDUAL}",), ""),
        ([SQUARE, *[GAP] * 3], (1, 0), (f"gap and 2 more {RESIDUAL}",), ""),
        ([SQUARE, Unstated("by hand")], (1, 0), ("by hand",), ""),
    ],
)
def test_a_file_has_what_was_stated_and_says_what_it_has_not(
    stated: list[object], counted: tuple[int, int], missing: tuple[str, ...], said: str
) -> None:
    made = proof_file("toy", plain(), proof(*stated))
    assert made is not None and made.name == "claim_A_1.v" and made.claim == "A.1"
    assert (made.statements, made.by_definition) == counted and made.missing == missing
    same = "not here, since both sides are one expression"
    assert (f"{same}: {said}" in made.text) if said else (same not in made.text)


@pytest.mark.parametrize(
    ("stated", "missing"),
    [
        ([COUNT], (NOTHING,)),
        ([GONE], (NOTHING,)),
        ([GAP], (f"gap {RESIDUAL}",)),
        ([GAP, GONE], (f"gap {RESIDUAL}",)),
        ([Unstated("by hand")], ("by hand",)),
        ([], ()),
    ],
)
def test_without_a_statement_there_is_no_file(stated: list[object], missing: tuple[str, ...]) -> None:
    made = proof_file("toy", plain(), proof(*stated))
    assert made == ProofFile("A.1", "", missing=missing)


def test_only_a_proof_has_a_file() -> None:
    for evidence in (Evidence.CERTIFICATE, Evidence.MEASUREMENT):
        assert proof_file("toy", plain(), replace(proof(SQUARE), evidence=evidence)) is None


def test_the_title_of_a_file_says_where_the_claim_is_and_how_it_is_read() -> None:
    bare = proof_file("toy", plain(), proof(SQUARE))
    full = proof_file("toy", plain(where="Lemma 7", reading="for all x"), proof(SQUARE, a=proof(), b=measured(True)))
    assert bare is not None and full is not None
    assert "toy A.1: title [Lemma 7]" in full.text and "read as: for all x" in full.text
    assert "their evidence is no proof: the parts b (measurement)" in full.text
    assert "toy A.1: title" in bare.text and "as printed: a = b" in bare.text
    assert not any(word in bare.text for word in ("[", "read as", "no proof"))


def test_what_can_not_be_written_is_said_in_place_of_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    def raising(error: Exception) -> Callable[..., Theory]:
        def theory(*given: object) -> Theory:
            raise error

        return theory

    for made, missing in (
        (raising(RecursionError()), "the expression is nested too deeply"),
        (raising(OdesysError("it has a gate")), "it has a gate"),
        (lambda *given: Theory("", 0, 0, 0, ("square: it has a gate",)), "square: it has a gate"),
    ):
        monkeypatch.setattr(proof_files, "theory", made)
        found = proof_file("toy", plain(), proof(SQUARE, Unstated("by hand")))
        assert found == ProofFile("A.1", "", missing=("by hand", missing))
    monkeypatch.setattr(proof_files, "theory", lambda *given: Theory("text", 3, 5, 1, ("rest: it has a gate",)))
    assert proof_file("toy", plain(), proof(SQUARE, COUNT)) == ProofFile(
        "A.1", "claim_A_1.v", "text", 4, 2, ("rest: it has a gate",)
    )


@pytest.mark.parametrize(
    ("each", "twice"),
    [
        (COUNT, True),
        (replace(COUNT, right=5), False),
        (replace(COUNT, relation="<="), False),
        (SAME, False),
        (replace(COUNT, values=((X, 2),)), False),
    ],
)
def test_a_number_is_itself_only_where_that_is_all_that_is_said(each: Stated, twice: bool) -> None:
    assert _number_twice(each) is twice


# ---- what a proof assistant says -------------------------------------------------------------------------------------

GOOD, BAD = Checked("a.v", True, 1.5, ("Reals",), "", "8.16"), Checked("b.v", False, 0.5, (), "no such lemma", "8.16")


def answers(proofs: list[ProofFile], check: bool, version: str, monkeypatch: pytest.MonkeyPatch, folder: Path) -> Any:
    """What comes of three claims, of which Coq knows the files ``a.v`` and ``b.v``."""
    monkeypatch.setattr(proof_files, "coq_version", lambda: version)
    asked: list[list[str]] = []
    known = {"a.v": GOOD, "b.v": BAD}
    monkeypatch.setattr(proof_files, "check_folder", lambda folder, names, *rest: asked.append(names) or known)
    outcomes = [Outcome(replace(plain(), id=id), proved(), 0.0) for id in ("A", "B", "C")]
    found = check_proofs(outcomes, proofs, folder, check, 1, silent, {"flow.v": "Theorem."})
    return found, asked


def test_a_claim_is_sealed_where_all_of_it_was_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proofs = [ProofFile("A", "a.v", "text", 3, 1), ProofFile("B", "b.v", "text", 2)]
    found, asked = answers(proofs, True, "8.16", monkeypatch, tmp_path / "toy")
    first, second, third = (outcome.proof_check for outcome in found.outcomes)
    assert first == ProofCheck("toy/a.v", "8.16", 1.5, ("Reals",), 3, 1, "") and first.sealed
    assert second == ProofCheck("toy/b.v", "8.16", 0.5, (), 2, 0, "does not check: no such lemma")
    assert third is None and not second.sealed and asked == [["a.v", "b.v", "flow.v"]]
    assert {path.name for path in found.paths} >= {"a.v", "b.v", "flow.v"}
    assert (tmp_path / "toy" / "flow.v").read_text().strip() == "Theorem."
    assert found.derivations == [Checked("flow.v", False, 0.0, (), WITHOUT_COQ)]
    assert first.as_json() == {
        "checker": "Coq",
        "version": "8.16",
        "sealed": True,
        "seconds": 1.5,
        "axioms": ["Reals"],
        "file": "toy/a.v",
        "statements": 3,
        "by_definition": 1,
        "why": None,
    }
    assert proof_lines(found.outcomes, [GOOD, BAD]) == [
        "1 of 2 proofs checked by the kernel of Coq",
        "    B: does not check: no such lemma",
        "a.v: checked in 1.5 s",
        "b.v: no such lemma",
    ]


def test_what_is_missing_is_no_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = ("one", "two", "one")
    proofs = [ProofFile("A", "a.v", "text", 3, missing=left), ProofFile("B", "", missing=left)]
    found, _ = answers([*proofs, ProofFile("C", "c.v", "text", 2, 1)], True, "8.16", monkeypatch, tmp_path / "toy")
    first, second, third = (outcome.proof_check for outcome in found.outcomes)
    assert first.why == "in part: one; two" and not first.sealed and first.file == "toy/a.v"
    assert second == ProofCheck("", "8.16", 0.0, (), 0, 0, "not exported: one; two")
    assert (second.as_json()["file"], second.as_json()["why"]) == (None, "not exported: one; two")
    assert third == ProofCheck("toy/c.v", "", 0.0, (), 2, 1, WITHOUT_COQ) and third.as_json()["version"] is None


@pytest.mark.parametrize("check", [True, False])
def test_files_that_are_not_checked_say_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    proofs = [ProofFile("A", "a.v", "text", 3), ProofFile("B", "b.v", "text", 2, missing=("one",))]
    found, asked = answers(proofs, check, "" if check else "8.16", monkeypatch, tmp_path)
    why = WITHOUT_COQ if check else "not checked, as asked for"
    assert [o.proof_check and o.proof_check.why for o in found.outcomes] == [why, "one", None] and asked == []
    assert found.derivations == [Checked("flow.v", False, 0.0, (), why)]
    assert (tmp_path / "a.v").exists()
