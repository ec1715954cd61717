"""Rows on disk: files of other sweeps are refused, and so are two writers at once."""

from __future__ import annotations

import os
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from numerics.sweeps import store, sweep
from numerics.sweeps.store import FILE, TABLE, SweepStore, _is_result, flat, write_table
from numerics.sweeps.sweep import Axis, Plan, PointResult
from odesys.errors import OutputError
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
    assert "it has the table points, which no sweep has" in refused(*line[:-1], "foreign")


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
    line = ["sweep", "./swept", "--over", "x=1,11", "--out", "o", "--workers", 1]
    assert odesys(*line).exit_code == 0
    with sqlite3.connect("o/sweep.sqlite") as base:
        base.execute(change)
    assert words in refused(*line, "--resume")


# ---- without the command line ----------------------------------------------------------------------------------------


def plan_of(*values: float) -> Plan:
    return Plan("toy", "toy", "run", {"x": 0.0, "y": 2}, (Axis("x", values, "list", ""),))


@pytest.fixture(autouse=True)
def program(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """What computes is called here, unless a paper is swept by the command."""
    if "swept" not in request.fixturenames:
        monkeypatch.setattr(store, "program_digest", lambda text: "here")


def row(x: float, error: str = "") -> PointResult:
    return PointResult({} if error else {"final": {"z": x}}, error, 0.5, "here")


def test_rows_come_back_in_the_order_of_the_grid(tmp_path: Path) -> None:
    plan = plan_of(1.0, 2.0, 3.0, 4.0)
    with SweepStore(tmp_path, plan, resume=False) as rows:
        assert rows.have() == set() and rows.rows() == []
        for number in (2, 0, 3):
            rows.keep(number, row(plan.points[number]["x"], "no" if number == 3 else ""))
        assert rows.have() == {0, 2, 3}
        rows.keep(0, row(9.0))
    with SweepStore(tmp_path, plan, resume=True) as rows:
        assert rows.rows() == [
            {"number": 0, "parameters": {"x": 1.0, "y": 2}, "result": {"final": {"z": 9.0}}, "error": ""},
            {"number": 2, "parameters": {"x": 3.0, "y": 2}, "result": {"final": {"z": 3.0}}, "error": ""},
            {"number": 3, "parameters": {"x": 4.0, "y": 2}, "result": {}, "error": "no"},
        ]
        assert rows.forget_failed() == 1 and rows.have() == {0, 2} and rows.forget_failed() == 0
    with pytest.raises(OutputError, match="has 2 of 4 points of this sweep already; go on with --resume"):
        SweepStore(tmp_path, plan, resume=False)


def test_a_store_that_is_closed_is_one_file_and_one_that_is_discarded_is_none(tmp_path: Path) -> None:
    with SweepStore(tmp_path, plan_of(1.0), resume=False) as rows:
        rows.keep(0, row(1.0))
        assert len(list(tmp_path.iterdir())) > 1
    assert [file.name for file in tmp_path.iterdir()] == [FILE]
    with pytest.raises(OutputError, match=r"can not be written: .*; what is there is kept"):
        rows.keep(0, row(1.0))
    (tmp_path / "other").mkdir()
    other = SweepStore(tmp_path / "other", plan_of(1.0), resume=False)
    other.discard()
    assert not list((tmp_path / "other").iterdir())
    other.discard()


def test_a_file_that_does_not_say_what_was_swept_is_refused_and_an_empty_one_is_used(tmp_path: Path) -> None:
    plan = plan_of(1.0, 2.0)
    cases = (
        ("UPDATE about SET value = 'odesys sweep 0' WHERE key = 'format'", "is not the file of a sweep"),
        ("DELETE FROM about WHERE key = 'format'", "is not the file of a sweep"),
        ("DELETE FROM about WHERE key = 'program'", "was computed by odesys None, this is here"),
        ("DELETE FROM about WHERE key = 'plan'", "does not say what was swept"),
        ("DELETE FROM about", "does not say what was swept"),
        ("SELECT 1", r'holds another sweep: set \{"y": 2\} instead of \{"y": 5\}; give another'),
    )
    for number, (change, said) in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / FILE).touch()
        with SweepStore(folder, plan, resume=True) as rows:
            rows.keep(0, row(1.0))
        with sqlite3.connect(folder / FILE) as base:
            base.execute(change)
        base.close()
        asked = plan if change != "SELECT 1" else replace(plan, base={"x": 0.0, "y": 5})
        with pytest.raises(OutputError, match=said):
            SweepStore(folder, asked, resume=True)


def test_an_empty_store_of_another_format_is_refused(tmp_path: Path) -> None:
    with SweepStore(tmp_path, plan_of(1.0), resume=False):
        pass
    with SweepStore(tmp_path, plan_of(5.0), resume=False) as rows:
        assert rows.have() == set(), "a sweep that came to no point leaves its place"
    with sqlite3.connect(tmp_path / FILE) as base:
        base.execute("UPDATE about SET value = 'something else' WHERE key = 'format'")
    base.close()
    with pytest.raises(OutputError, match="is not the file of a sweep"):
        SweepStore(tmp_path, plan_of(5.0), resume=False)


@pytest.mark.parametrize(
    ("found", "fine"),
    [
        ({}, True),
        ({"final": {"x": 1.0}, "time": {"T": 2}, "cost": {"steps": 3}, "invariant_drift": None, "note": "n"}, True),
        ({"final": {"x": None}, "note": None, "invariant_drift": 1e-9}, True),
        ({"final": {"x": 2**1023 - 1}}, True),
        ({"final": {"x": 2**1023}}, False),
        ({"final": {"x": -(2**1023)}}, False),
        ({"final": {"x": "1"}}, False),
        ({"final": [1]}, False),
        ({"time": 3}, False),
        ({"cost": "x"}, False),
        ({"cost": {"x": {}}}, False),
        ({"invariant_drift": "x"}, False),
        ({"note": 3}, False),
        ({"note": ["x"]}, False),
        ([], False),
        (None, False),
    ],
)
def test_a_result_is_tables_of_numbers_a_drift_and_a_note(found: object, fine: bool) -> None:
    assert _is_result(found) is fine


@pytest.mark.parametrize("number", [-1, 2, 7])
def test_a_row_beyond_the_grid_is_refused(tmp_path: Path, number: int) -> None:
    plan = plan_of(1.0, 2.0)
    with SweepStore(tmp_path, plan, resume=False) as rows:
        rows.keep(1, row(2.0))
    with sqlite3.connect(tmp_path / FILE) as base:
        base.execute("UPDATE points SET number = ?", (number,))
    base.close()
    with pytest.raises(OutputError, match=f"row {number} of .* belongs to other parameters"):
        SweepStore(tmp_path, plan, resume=True).rows()


def test_a_table_has_a_column_for_everything_that_any_row_has(tmp_path: Path) -> None:
    rows = [
        {"parameters": {"x": 0.1, "y": 2}, "result": {"final": {"z": 1 / 3, "x": 5}, "time": {"T": 2.0}}, "error": ""},
        {"parameters": {"x": 0.2, "y": 2}, "result": {}, "error": "no, not here"},
        {
            "parameters": {"x": 0.3, "y": 2},
            "result": {"final": {"z": 1.0}, "cost": {"steps": 4}, "invariant_drift": None, "note": "n"},
            "error": "",
        },
    ]
    file = write_table(tmp_path, rows)
    assert file == tmp_path / TABLE and file.read_text().splitlines() == [
        "x,y,z,final_x,time_T,cost_steps,invariant_drift,note,error",
        f"0.1,2,{1 / 3!r},5,2.0,,,,",
        '0.2,2,,,,,,,"no, not here"',
        "0.3,2,1.0,,,4,,n,",
    ]
    assert flat(rows[2]) == {"z": 1.0, "cost_steps": 4, "invariant_drift": None, "note": "n"}
    assert write_table(tmp_path, []).read_text().splitlines() == ["error"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and pipes are of POSIX")
def test_a_store_is_a_file_of_its_folder(swept: Path) -> None:
    line = ("sweep", "./swept", "--over", "x=1,2", "--workers", 1, "--out")
    for name in ("dangling", "linked", "pipe"):
        Path(name).mkdir()
    Path("dangling/sweep.sqlite").symlink_to("../outside")
    Path("there").write_text("")
    Path("linked/sweep.sqlite").symlink_to("../there")
    os.mkfifo("pipe/sweep.sqlite")
    for name in ("dangling", "linked", "pipe"):
        assert f"{name}/sweep.sqlite is a link or no file" in refused(*line, name)
    assert not Path("outside").exists() and Path("there").read_text() == ""


@pytest.mark.parametrize(
    ("kind", "name", "change"),
    [
        ("trigger", "gone", "CREATE TRIGGER gone AFTER INSERT ON points BEGIN DELETE FROM points; END"),
        ("view", "seen", "CREATE VIEW seen AS SELECT * FROM points"),
        ("table", "points", "ALTER TABLE points ADD COLUMN more TEXT"),
        ("table", "other", "CREATE TABLE other (x)"),
    ],
)
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tables_that_are_not_of_a_sweep_are_refused(swept: Path, kind: str, name: str, change: str, rows: int) -> None:
    line = ("sweep", "./swept", "--over", "x=1,2", "--workers", 1, "--out", "o")
    assert odesys(*line).exit_code == 0
    with sqlite3.connect("o/sweep.sqlite") as base:
        base.execute("DELETE FROM points WHERE number >= ?", (rows,))
        base.execute(change)
    base.close()
    before = Path("o/sweep.sqlite").read_bytes()
    assert f"it has the {kind} {name}, which no sweep has" in refused(*line, "--resume")
    assert Path("o/sweep.sqlite").read_bytes() == before
