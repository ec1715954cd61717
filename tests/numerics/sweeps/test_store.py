"""Rows on disk: files of other sweeps are refused, and so are two writers at once."""

from __future__ import annotations

import os
import sqlite3
import sys
from pathlib import Path

import pytest

from numerics.sweeps import sweep
from tests.swept_paper import GRID, SOURCE, odesys, refused


def test_files_of_other_sweeps_are_refused(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("sweep", "./swept", "--over", "x=1,2", "--workers", 1, "--out", "o")
    assert odesys(*line).exit_code == 0
    before = Path("o/sweep.sqlite").read_bytes()
    assert "has 2 of 2 points of this sweep already; go on with --resume" in refused(*line)
    assert 'holds another sweep: set {"wait": 0.0, "y": 1} instead of' in refused(*line, "--set", "y=5", "--resume")
    assert "holds another sweep: over" in refused("sweep", "./swept", "--over", "x=1,3", "--out", "o", "--resume")
    (swept / "__init__.py").write_text(SOURCE + "# another version\n")
    sweep.program_digest.cache_clear()
    assert "their results are not mixed" in refused(*line, "--resume")
    assert Path("o/sweep.sqlite").read_bytes() == before
    Path("text").mkdir()
    Path("text/sweep.sqlite").write_text("not a database at all, but long enough to be looked at as one by the library")
    assert "can not be used for a sweep" in refused(*line[:-1], "text")
    with sqlite3.connect("foreign.sqlite") as base:
        base.execute("CREATE TABLE points (number INTEGER)")
    Path("foreign").mkdir()
    Path("foreign.sqlite").rename("foreign/sweep.sqlite")
    assert "no such column" in refused(*line[:-1], "foreign")


def test_a_store_without_points_is_begun_anew(swept: Path) -> None:
    """A sweep that is killed before its first point leaves one; another sweep may then have the folder."""
    line = ("sweep", "./swept", "--over", "x=1,2", "--workers", 1, "--out", "o")
    assert odesys(*line).exit_code == 0
    whole = Path("o/sweep.csv").read_bytes()
    for change in ("SELECT 1", "UPDATE about SET value = '{}' WHERE key = 'plan'"):
        with sqlite3.connect("o/sweep.sqlite") as base:
            base.execute("DELETE FROM points")
            base.execute(change)
        assert odesys(*line).exit_code == 0
        assert Path("o/sweep.csv").read_bytes() == whole
    with sqlite3.connect("o/sweep.sqlite") as base:
        assert base.execute("SELECT count(*) FROM about").fetchone() == (3,)


@pytest.mark.skipif(sys.platform == "win32", reason="folders are locked on POSIX")
def test_two_at_once_are_refused(swept: Path) -> None:
    import fcntl

    Path("o").mkdir()
    held = os.open("o", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another command is writing to o" in refused(*GRID, "--out", "o")
    finally:
        os.close(held)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE points SET parameters = replace(parameters, '1', '7') WHERE number = 1", "row 1 of"),
        ("UPDATE points SET number = 999 WHERE number = 1", "row 999 of"),
        ("UPDATE points SET result = '[1]' WHERE number = 0", "row 0 of"),
        ("UPDATE points SET result = '{' WHERE number = 0", "is damaged"),
        (f"UPDATE points SET result = '{'[' * 100_000}' WHERE number = 0", "is damaged"),
        *(
            (f"UPDATE points SET result = '{found}' WHERE number = 0", "row 0 of o/sweep.sqlite is no result")
            for found in (
                '{"final": 5}',
                '{"final": {"x": 1}, "time": "abc"}',
                '{"final": {"x": [1, 2]}}',
                '{"final": {"x": "<script>"}}',
                '{"final": {"x": 1%s}}' % ("0" * 400),
                '{"final": {"x": 1}, "note": {"a": 1}}',
            )
        ),
        *(
            (f"UPDATE about SET value = '{found}' WHERE key = 'plan'", "does not say what was swept")
            for found in ("nonsense", "[1]", "[" * 100_000)
        ),
    ],
)
def test_a_row_that_is_not_of_the_plan_is_refused(swept: Path, change: str, words: str) -> None:
    line = ["sweep", "./swept", "--over", "x=1,11", "--out", "o"]
    assert odesys(*line).exit_code == 0
    with sqlite3.connect("o/sweep.sqlite") as base:
        base.execute(change)
    assert words in refused(*line, "--resume")
