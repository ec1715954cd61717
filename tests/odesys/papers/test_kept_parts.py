"""Parts of reports on disk: read where all is the same, computed again where anything differs or is damaged."""

from __future__ import annotations

import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from odesys.papers import kept_parts, kept_runs
from odesys.papers.kept_parts import KeptParts
from odesys.papers.workers import Answer
from odesys.verdicts import measured, proved


def ask(kept: KeptParts, target: Path, calls: list[str], **given: Any) -> Any:
    def work(folder: Path) -> Any:
        calls.append("computed")
        (folder / "a.txt").write_text("text")
        return {"z": [1, 2.5], "a": None}

    value, files = kept.part("run", given, target, work)
    assert files == [target / "a.txt"] and files[0].read_text() == "text"
    return value


def test_a_part_is_computed_once(tmp_path: Path) -> None:
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[str]()
    first, second = (ask(kept, tmp_path / name, calls, K=2) for name in ("one", "two"))
    assert first == second == {"z": [1, 2.5], "a": None} and calls == ["computed"]
    ask(kept, tmp_path / "three", calls, K=3)
    ask(KeptParts(kept.folder, "other sources"), tmp_path / "four", calls, K=2)
    assert len(calls) == 3
    ask(KeptParts(), tmp_path / "five", calls, K=2)
    assert len(calls) == 4


@pytest.mark.parametrize("file", ["value.json", "files/a.txt"])
def test_what_was_changed_is_computed_again(tmp_path: Path, file: str) -> None:
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[str]()
    ask(kept, tmp_path / "one", calls)
    (entry,) = (tmp_path / "kept").iterdir()
    place = entry / file
    place.write_text(place.read_text().replace("2.5", "2.6").replace("text", "other"))
    ask(kept, tmp_path / "two", calls)
    assert len(calls) == 2


def test_answers_come_back(tmp_path: Path) -> None:
    kept = KeptParts(tmp_path / "kept", "sources")
    answers = {
        "1": Answer("1", "", measured(True, x=Fraction(1, 3)), 1.5),
        "2": Answer("2", "", proved(z=object()), 1.0),
    }
    assert kept.answers("toy") == {}
    kept.keep_answers("toy", answers)
    assert kept.answers("toy") == {"1": answers["1"]}  # what is not plain data is checked again


def test_sources_of_pages_are_no_part_of_the_key() -> None:
    from odesys.papers import kept_runs

    engine = Path(kept_runs.__file__).parents[1]
    rooms = {file.relative_to(engine).parts[0] for file in kept_runs.source_files((engine,))}
    assert "papers" in rooms and "sentences.py" in rooms and not {"report", "cli"} & rooms


@pytest.mark.parametrize("file", ["value.json", "files/a.txt"])
@pytest.mark.parametrize("attack", ["link", "rights"])
def test_what_somebody_else_could_have_written_is_computed_again(tmp_path: Path, file: str, attack: str) -> None:
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[str]()
    ask(kept, tmp_path / "one", calls)
    (entry,) = (tmp_path / "kept").iterdir()
    place = entry / file
    assert stat.S_IMODE(place.stat().st_mode) == 0o600 and stat.S_IMODE(entry.stat().st_mode) == 0o700
    if attack == "link":
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
    else:
        place.chmod(0o666)
    ask(kept, tmp_path / "two", calls)
    assert len(calls) == 2


def test_names_that_lead_out_of_an_entry_are_not_followed(tmp_path: Path) -> None:
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[str]()
    ask(kept, tmp_path / "one", calls)
    (entry,) = (tmp_path / "kept").iterdir()
    value = {"z": [1, 2.5], "a": None}
    (entry / "outside.txt").write_bytes(b"text")
    (entry / "outside.txt").chmod(0o600)
    names = {"../outside.txt": b"text"}
    kept_runs.keep_own(
        entry / "value.json", {"hash": kept_parts._hash(entry, value, names), "value": value, "files": list(names)}
    )
    ask(kept, tmp_path / "two" / "inner", calls)
    assert len(calls) == 2 and not (tmp_path / "two" / "outside.txt").exists()
