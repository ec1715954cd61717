"""Sizes of the systems of a paper: derived once, read afterwards, and a refusal is said."""

from __future__ import annotations

from pathlib import Path

import pytest

from odesys import System, sym
from odesys.errors import ParameterError
from odesys.papers import kept_runs
from odesys.papers.paper import Paper, Parameter
from odesys.papers.sizes import SystemSize, system_sizes


def test_sizes_are_derived_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = []

    def small(parameters: dict) -> System:
        built.append(parameters)
        return System.from_equations({"x": sym("a") * sym("x")}, parameters=["a"])

    def large(parameters: dict) -> System:
        raise ParameterError("too large to write out")

    paper = Paper("toy", "", "", (Parameter("K", 2, "size", int),), {"small": small, "large": large}, {}, {})
    monkeypatch.setattr(kept_runs, "kept_file", lambda what, folder, name: tmp_path / f"{hash(name)}.json")
    for _ in range(2):
        sizes = system_sizes(paper, {"K": 2}, tmp_path)
        assert sizes == [SystemSize("small", "flow", 1, ("a",)), SystemSize("large", refused="too large to write out")]
    assert built == [{"K": 2}]
    system_sizes(paper, {"K": 3}, tmp_path)
    system_sizes(paper, {"K": 3}, None)
    assert built == [{"K": 2}, {"K": 3}, {"K": 3}]


def test_what_is_kept_changes_with_the_sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ODESYS_MEASUREMENTS", raising=False)
    monkeypatch.setattr(kept_runs, "cache_folder", lambda name: tmp_path / name)
    paper = tmp_path / "paper"
    paper.mkdir()
    (paper / "a.py").write_text("1")
    first = kept_runs.kept_file("sizes", paper, "K = 2")
    assert first == kept_runs.kept_file("sizes", paper, "K = 2") != kept_runs.kept_file("sizes", paper, "K = 3")
    (paper / "a.py").write_text("2")
    kept_runs.source_hash.cache_clear()
    assert first != kept_runs.kept_file("sizes", paper, "K = 2")


def test_progress_goes_from_nothing_to_the_last_system(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    build = lambda parameters: System.from_equations({"x": sym("x"), "y": sym("x")})  # noqa: E731
    paper = Paper("toy", "", "", (), {name: build for name in "abcd"}, {}, {})
    sizes = system_sizes(paper, {}, None, lambda text, share: told.append((text, share)))
    assert told == [(f"deriving toy {name}", k / 4) for k, name in enumerate("abcd")]
    assert sizes == [SystemSize(name, "flow", 2, ()) for name in "abcd"]


def test_a_broken_file_is_derived_again_and_mended_only_where_it_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, built = tmp_path / "kept" / "sizes.json", []
    place.parent.mkdir()

    def build(parameters: dict) -> System:
        built.append(1)
        return System.from_equations({"x": sym("x")})

    paper = Paper("toy", "", "", (), {"a": build}, {}, {})
    monkeypatch.setattr(kept_runs, "kept_file", lambda what, folder, name: place)
    first = system_sizes(paper, {}, tmp_path)
    whole = place.read_text()
    place.write_text("[1")
    assert system_sizes(paper, {}, tmp_path) == first and len(built) == 2 and place.read_text() == whole
    before = place.stat().st_mtime_ns
    assert system_sizes(paper, {}, tmp_path) == first and len(built) == 2
    assert place.stat().st_mtime_ns == before, "what was read is not written again"
    monkeypatch.setattr(kept_runs, "kept_file", lambda what, folder, name: None)
    assert system_sizes(paper, {}, tmp_path) == first and len(built) == 3
