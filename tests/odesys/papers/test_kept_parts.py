"""Parts of reports on disk: read where all is the same, computed again where anything differs or is damaged."""

from __future__ import annotations

import importlib
import os
import stat
import sys
from fractions import Fraction
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from odesys.papers import kept_parts, kept_runs, registry, sources
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


def test_parts_of_a_paper_are_kept_while_its_sources_are_older_than_this_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is kept where that is asked for, of a paper without a source, or of one that is unknown."""
    source = tmp_path / "toy"
    source.mkdir()
    (source / "__init__.py").write_text("")
    monkeypatch.setattr(kept_parts, "own_folder", lambda what: tmp_path / what)
    monkeypatch.setattr(registry, "source_folder", lambda text: source)
    asked: list[Any] = []
    monkeypatch.setattr(kept_runs, "source_files", lambda roots: asked.append(roots) or (source / "__init__.py",))
    monkeypatch.setattr(kept_runs, "from_elsewhere", lambda roots: {})
    monkeypatch.setattr(kept_runs, "source_hash", lambda roots: "a hash")
    changed = (source / "__init__.py").stat().st_mtime
    for started, wanted in ((changed + 1, KeptParts(tmp_path / "parts", "a hash")), (changed, KeptParts())):
        monkeypatch.setattr(kept_runs, "STARTED", started)
        assert KeptParts.of("toy") == wanted
    engine, numbers, own = asked[0]
    assert (engine.name, numbers.name, own) == ("odesys", "numerics", source) and numbers.parent == engine.parent
    assert (engine / "papers" / "kept_parts.py").is_file() and (numbers / "sweeps").is_dir()
    monkeypatch.setattr(kept_runs, "STARTED", changed + 1)
    monkeypatch.setattr(registry, "source_folder", lambda text: None)
    assert KeptParts.of("toy") == KeptParts()
    monkeypatch.undo()
    assert KeptParts.of("no such paper") == KeptParts() and KeptParts() == KeptParts(None, "")


def test_the_oldest_quarter_goes_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_parts, "MOST_ENTRIES", 8)
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[str]()
    counts = []
    for k in range(10):
        ask(kept, tmp_path / "out", calls, K=k)
        entries = list((tmp_path / "kept").iterdir())
        counts.append(len(entries))
        for entry in entries:  # older than what comes next
            past = entry.stat().st_mtime - 10
            os.utime(entry, (past, past))
    assert counts == [1, 2, 3, 4, 5, 6, 7, 8, 7, 8], "of nine the two oldest go"
    before = len(calls)
    ask(kept, tmp_path / "out", calls, K=0)
    ask(kept, tmp_path / "out", calls, K=9)
    assert len(calls) == before + 1, "the first was computed again and the last was not"


def test_what_is_read_counts_as_new(tmp_path: Path) -> None:
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[str]()
    ask(kept, tmp_path / "one", calls)
    (entry,) = (tmp_path / "kept").iterdir()
    os.utime(entry, (0, 0))
    ask(kept, tmp_path / "two", calls)
    assert entry.stat().st_mtime > 0 and len(calls) == 1


def test_files_in_folders_come_back_where_they_were(tmp_path: Path) -> None:
    kept, calls = KeptParts(tmp_path / "kept", "sources"), list[int]()

    def work(folder: Path) -> None:
        calls.append(1)
        for name in ("a/b/one.txt", "a/two.bin", "three"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(name.encode())

    for target in (tmp_path / "one", tmp_path / "two"):
        value, _ = kept.part("run", {}, target, work)
        assert value is None
        found = {file.relative_to(target).as_posix(): file.read_bytes() for file in target.rglob("*") if file.is_file()}
        assert found == {name: name.encode() for name in ("a/b/one.txt", "a/two.bin", "three")}
    assert len(calls) == 1
    entry = next((tmp_path / "kept").iterdir())
    assert stat.S_IMODE((entry / "files" / "a" / "b").stat().st_mode) & 0o077 == 0


def test_answers_of_another_paper_or_source_are_not_taken(tmp_path: Path) -> None:
    kept, answers = KeptParts(tmp_path / "kept", "sources"), {"1": Answer("1", "", proved(), 1.23456)}
    kept.keep_answers("toy", answers)
    assert kept.answers("toy")["1"].seconds == 1.235
    assert kept.answers("other") == {} == KeptParts(tmp_path / "kept", "others").answers("toy")
    assert KeptParts().answers("toy") == {} and KeptParts().keep_answers("toy", answers) is None
    for file in (tmp_path / "kept").rglob("value.json"):
        file.write_text("{")
    assert kept.answers("toy") == {}
    kept.keep_answers("toy", answers)
    assert set(kept.answers("toy")) == {"1"}


def test_a_part_that_can_not_be_kept_is_computed_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    kept, calls = KeptParts(tmp_path / "file" / "kept", "sources"), list[str]()
    assert [ask(kept, tmp_path / name, calls)["z"] for name in ("one", "two")] == [[1, 2.5]] * 2 and len(calls) == 2


def test_parts_of_a_paper_change_with_the_modules_from_elsewhere_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, elsewhere = tmp_path / "toy", tmp_path / "elsewhere"
    for place in (source, elsewhere):
        place.mkdir()
    monkeypatch.syspath_prepend(elsewhere)
    (source / "__init__.py").write_text("")
    (source / "claims.py").write_text("from shared_part import RATE")
    monkeypatch.setattr(kept_parts, "own_folder", lambda what: tmp_path / what)
    monkeypatch.setattr(registry, "source_folder", lambda text: source)
    monkeypatch.setattr(kept_runs, "STARTED", float("inf"))
    found = []
    for text in ("RATE = 1", "RATE = 1", "RATE = 2"):
        (elsewhere / "shared_part.py").write_text(text)
        importlib.invalidate_caches()
        sources.imported.cache_clear()
        found.append(KeptParts.of("toy").sources)
    assert found[0] == found[1] != found[2] and all(found)


def test_a_part_that_loads_a_module_from_elsewhere_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptParts(tmp_path / "kept", "sources")
    (tmp_path / "late_part.py").write_text("")
    late = ModuleType("late_part")
    late.__file__ = str(tmp_path / "late_part.py")
    kept.part("run", {}, tmp_path / "out", lambda folder: monkeypatch.setitem(sys.modules, "late_" + "part", late))
    assert not (tmp_path / "kept").exists()
    kept.part("run", {}, tmp_path / "out", lambda folder: monkeypatch.setitem(sys.modules, "late_" + "part", late))
    assert (tmp_path / "kept").exists(), "it was loaded before, and counts"
