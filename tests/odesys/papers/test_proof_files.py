"""From claims to files, and what the command says of them."""

import json
from fractions import Fraction
from pathlib import Path

import pytest

from odesys import proved, sym
from odesys.papers import proof_files
from odesys.papers.proof_files import proof_file
from odesys.papers.registry import find_paper
from odesys.papers.verification import Request, run_command
from odesys.stated import Stated, recorded
from odesys.verdicts import Evidence, Verdict
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
