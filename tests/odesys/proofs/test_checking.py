"""Running Coq."""

from pathlib import Path

import pytest

from odesys.proofs import checking
from tests.coq import needs_coq, said_of


@needs_coq
@pytest.mark.parametrize(
    "text",
    [
        "From Coq Require Import Reals.\nAxiom easy : (1 = 2)%R.\nDefinition all_claims := easy.\n",
        "Lemma open : 1 = 2.\nAdmitted.\nDefinition all_claims := open.\n",
    ],
)
def test_an_axiom_of_ones_own_is_no_proof(text: str, tmp_path: Path) -> None:
    found = said_of(f"{text}Print Assumptions all_claims.\n", tmp_path)
    assert not found.ok
    assert "no axiom of the reals" in found.why


@needs_coq
def test_the_reason_names_the_lemma(tmp_path: Path) -> None:
    found = said_of("Lemma wrong : 1 = 2.\nProof. reflexivity. Qed.\n", tmp_path)
    assert not found.ok
    assert found.why.startswith("wrong: ")


@needs_coq
def test_a_file_is_checked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "cache"))
    text = "Lemma right : 1 = 1.\nProof. reflexivity. Qed.\nPrint Assumptions right.\n"
    assert said_of(text, tmp_path / "a").ok
    monkeypatch.setattr(checking, "_run", lambda *_: pytest.fail("checked again"))
    assert said_of(text, tmp_path / "a").ok


def test_the_folder_describes_itself(tmp_path: Path) -> None:
    written = checking.write_folder(tmp_path, {"one.v": "Check 1.\n"})
    assert [file.name for file in written] == ["_CoqProject", "prelude.v", "one.v"]
    assert (tmp_path / "_CoqProject").read_text("utf-8") == "-R . Odesys\nprelude.v\none.v\n"
    for library in (checking.PRELUDE, checking.DERIVATIVES):
        assert "Admitted" not in checking.library_text(library).partition("*)")[2]
