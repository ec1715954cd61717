"""Running Coq."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

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


def test_libraries_that_files_need_are_built_first_and_no_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checking, "coq_version", lambda: "none")
    for library in checking.OTHERS:
        built: list[str] = []
        monkeypatch.setattr(
            checking, "_run", lambda place, name, built=built: built.append(name) or checking.Checked(name, True, 0.0)
        )
        folder = tmp_path / library
        folder.mkdir()
        checking.write_folder(
            folder, {"one.v": f"From Odesys Require Import prelude {library.removesuffix('.v')}.\nCheck 1.\n"}
        )
        needed = checking.libraries_of((folder / "one.v").read_text())
        assert library in needed
        assert checking.check_folder(folder, ["one.v"], 1, lambda *_: None)["one.v"].ok
        assert sorted(built) == sorted({checking.PRELUDE, *needed, "one.v"}) and built[-1] == "one.v"


def test_two_checks_in_one_folder_leave_each_other_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checking.write_folder(tmp_path, {"one.v": "Check 1.\n", "two.v": "Check 2.\n"})
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(checking, "coq_version", lambda: "none")
    places = []

    def fake(place: Path, name: str) -> checking.Checked:
        if name == "one.v":  # another command checks a file of this folder, from its start to its end
            assert checking.check_folder(tmp_path, ["two.v"], 1, lambda *_: None)["two.v"].ok
        (place / f"{name}o").touch()
        places.append(place)
        return checking.Checked(name, (place / "prelude.vo").exists(), 0.0)

    monkeypatch.setattr(checking, "_run", fake)
    assert checking.check_folder(tmp_path, ["one.v"], 1, lambda *_: None)["one.v"].ok
    assert len(set(places)) == 2
    assert not list(tmp_path.rglob("*.vo"))


@needs_coq
def test_seconds_are_those_of_a_processor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "SECONDS", 2)
    forever = "Ltac forever := idtac; forever.\nLemma wrong : 1 = 2.\nProof. forever. Qed.\n"
    found = said_of(forever, tmp_path)
    assert not found.ok
    assert found.why == "stopped at the limit of 2 s or 3 GB"
    assert 1 < found.seconds < 4


@needs_coq
def test_seconds_are_those_of_the_file_and_of_the_system_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = os.wait4
    used = SimpleNamespace(ru_utime=3.0, ru_stime=1.0)
    monkeypatch.setattr(os, "wait4", lambda *given: (*ended(*given)[:2], used))
    (tmp_path / "one.v").write_text("Check 1.\n")
    assert checking._run(tmp_path, "one.v").seconds == 4


def test_limits_are_no_higher_than_those_of_the_command() -> None:
    """A process can lower its limits and not raise them again, so this is asked of one that ends."""
    asked = (
        "import resource as r; from odesys.proofs import checking;"
        "r.setrlimit(r.RLIMIT_CPU, (60, 65)); r.setrlimit(r.RLIMIT_STACK, (2**22, 2**23)); checking._limits();"
        "print(r.getrlimit(r.RLIMIT_CPU), r.getrlimit(r.RLIMIT_STACK))"
    )
    said = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout
    assert said == "(65, 65) (8388608, 8388608)\n"


def test_the_folder_describes_itself(tmp_path: Path) -> None:
    written = checking.write_folder(tmp_path, {"one.v": "Check 1.\n"})
    assert [file.name for file in written] == ["_CoqProject", "prelude.v", "one.v"]
    assert (tmp_path / "_CoqProject").read_text("utf-8") == "-R . Odesys\nprelude.v\none.v\n"
    for library in (checking.PRELUDE, checking.DERIVATIVES):
        assert "Admitted" not in checking.library_text(library).partition("*)")[2]
