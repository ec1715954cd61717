"""Sweeps: the same table whoever computes it, nothing lost when killed, and sentences for what does not fit."""

from __future__ import annotations

import csv
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from numerics.sweeps import sweep
from numerics.sweeps.plot import exponents, observables
from odesys.cli import commands
from odesys.errors import OdesysError
from odesys.papers import registry
from odesys.papers.paper import Paper, Parameter

ROOT = Path(__file__).resolve().parents[3]

#: a paper whose points take a moment, fail, die or are counted, as asked for
SOURCE = """
import os, pathlib, time
from odesys.errors import IntegrationError
from odesys.papers.paper import Paper, Parameter, Simulation

def run(parameters, progress):
    x, y = parameters["x"], parameters["y"]
    time.sleep(parameters["wait"])
    if log := os.environ.get("SWEEP_LOG"):
        with open(log, "a") as file:
            file.write(f"{x!r} {y!r}\\n")
    if y == 13:
        raise IntegrationError("thirteen, is never reached")
    if y == 14:
        raise ZeroDivisionError("a mistake of ours")
    if y == 15:
        os._exit(9)
    events = ({"name": "T", "kind": "stage", "time": x / 3}, {"name": "T", "kind": "stage", "time": 9.0})
    cost = {"steps": y, "seconds": time.perf_counter()}
    return Simulation("run", parameters, {"z": 2 * x**1.5, "loss": y + x / 7}, events, cost, None, {"t": [0.0]})

PAPER = Paper("swept", "A paper to sweep", "none",
              (Parameter("x", 1.0, "a number", low=0, open_low=True), Parameter("y", 1, "a count", int, low=0),
               Parameter("wait", 0.0, "seconds")), {}, {"run": run}, {})
"""


@pytest.fixture
def swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "swept"
    folder.mkdir()
    (folder / "__init__.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "swept", raising=False)
    sweep.program.cache_clear()
    return folder


def odesys(*words: object) -> Any:
    return CliRunner().invoke(commands.app, list(map(str, words)), prog_name="odesys")


def refused(*words: object) -> str:
    result = odesys(*words)
    assert result.exit_code == 2 and result.stderr.count("\n") == 1, result.output
    return result.stderr


GRID = ("sweep", "./swept", "--over", "x=log:0.5:8:5", "--over", "y=1,2,3")


def test_a_sweep_from_grid_to_exponent(swept: Path) -> None:
    result = odesys(*GRID, "--out", "o", "--workers", 1, "--json", "o.json", "--plot", "z", "--plot", "loss")
    assert result.exit_code == 0, result.output
    rows = list(csv.DictReader(Path("o/sweep.csv").read_text().splitlines()))
    assert list(rows[0]) == ["x", "y", "wait", "z", "loss", "time_T", "cost_steps", "invariant_drift", "note", "error"]
    assert [(float(r["x"]), int(r["y"])) for r in rows] == [(x, y) for x in (0.5, 1, 2, 4, 8) for y in (1, 2, 3)]
    assert all(float(r["z"]) == 2 * float(r["x"]) ** 1.5 and float(r["time_T"]) == float(r["x"]) / 3 for r in rows)
    found = json.loads(Path("o.json").read_text())
    laws = {(law["observable"], law["over"], law["at"]["y"]): law for law in found["exponents"] if law["over"] == "x"}
    assert abs(laws["z", "x", 2]["value"] - 1.5) < 1e-12 and laws["z", "x", 2]["misfit"] < 1e-12
    assert laws["loss", "x", 1]["misfit"] > 0.05  # no power law, and it says so
    assert len(found["points"]) == 15 and found["failed"] == 0
    assert {"sweep.csv", "sweep.png", "sweep.sqlite", "sweep.svg"} == {f.name for f in Path("o").iterdir()}


def test_failing_points_are_rows(swept: Path) -> None:
    result = odesys("sweep", "./swept", "--over", "y=12,13,14,16", "--out", "o", "--workers", 1)
    assert result.exit_code == 0 and "2 of 4 points failed" in result.stdout
    errors = [row["error"] for row in csv.DictReader(Path("o/sweep.csv").read_text().splitlines())]
    assert errors == ["", "thirteen, is never reached", "ZeroDivisionError: a mistake of ours", ""]
    assert odesys("sweep", "./swept", "--over", "y=13,14", "--out", "p", "--workers", 1).exit_code == 1


@pytest.mark.slow
def test_a_process_that_dies_is_a_row_too(swept: Path) -> None:
    """The grid ends with the deadly point, so that others are under way when it strikes."""
    result = odesys("sweep", "./swept", "--over", "y=1,2,3,15,4,5", "--out", "o", "--workers", 2)
    assert result.exit_code == 0, result.output
    errors = {row["y"]: row["error"] for row in csv.DictReader(Path("o/sweep.csv").read_text().splitlines())}
    assert errors.pop("15") == sweep.LOST and set(errors.values()) == {""}


@pytest.mark.nightly
def test_the_number_of_processes_changes_nothing(swept: Path) -> None:
    for workers in (1, 2):
        assert odesys(*GRID, "--out", f"o{workers}", "--workers", workers).exit_code == 0
    assert Path("o1/sweep.csv").read_bytes() == Path("o2/sweep.csv").read_bytes()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is POSIX")
def test_killed_three_times_and_resumed(swept: Path, tmp_path: Path) -> None:
    """Byte for byte the table of an uninterrupted sweep, and no point that was there is computed again."""
    line = ["sweep", "./swept", "--over", "x=lin:1:20:20", "--over", "y=1,2,13"]
    assert odesys(*line, "--out", "whole", "--workers", 1).exit_code == 0
    slow = [*line, "--set", "wait=0.02", "--out", "killed", "--workers", "1"]
    log = tmp_path / "log"
    env = {**os.environ, "PYTHONPATH": str(ROOT), "SWEEP_LOG": str(log)}
    known: set[int] = set()

    def stored() -> set[int]:
        base = sqlite3.connect(f"file:{tmp_path}/killed/sweep.sqlite?mode=ro", uri=True)
        try:
            return {n for (n,) in base.execute("SELECT number FROM points")}
        except sqlite3.OperationalError:
            return set()
        finally:
            base.close()

    for target in (10, 25, 40):
        process = subprocess.Popen(
            [sys.executable, "-m", "odesys", *slow, *(["--resume"] if known else [])],
            env=env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 120
        while not (tmp_path / "killed/sweep.sqlite").exists() or len(stored()) < target:
            assert process.poll() is None and time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert stored() >= known  # nothing is lost
        known = stored()
    before = len(log.read_text().splitlines())
    last = subprocess.run(
        [sys.executable, "-m", "odesys", *slow[:-1], "2", "--resume"], env=env, capture_output=True, text=True
    )
    assert last.returncode == 0, last.stderr
    assert len(log.read_text().splitlines()) - before == 60 - len(known)  # nothing is computed again
    strip = [line.replace(",0.02,", ",0.0,", 1) for line in Path("killed/sweep.csv").read_text().splitlines()]
    assert strip == Path("whole/sweep.csv").read_text().splitlines()
    assert odesys(*slow, "--resume").exit_code == 0 and len(log.read_text().splitlines()) - before == 60 - len(known)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="signals of this kind are POSIX")
def test_an_interrupt_keeps_what_is_there(swept: Path, tmp_path: Path) -> None:
    line = [*GRID, "--set", "wait=0.3", "--workers", "1", "--out", "o"]
    process = subprocess.Popen(
        [sys.executable, "-m", "odesys", *line],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "o/sweep.sqlite").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and "Traceback" not in err
    assert "of 15 points are kept in o" in err and err.endswith("odesys: interrupted\n")
    rows = Path("o/sweep.csv").read_text().splitlines()
    assert 2 <= len(rows) <= 15
    assert odesys(*line, "--resume").exit_code == 0
    assert len(Path("o/sweep.csv").read_text().splitlines()) == 16


@pytest.mark.nightly
def test_a_dask_cluster_agrees(swept: Path) -> None:
    distributed = pytest.importorskip("distributed")
    assert odesys(*GRID, "--out", "here", "--workers", 1).exit_code == 0
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        result = odesys(*GRID, "--out", "there", "--dask", cluster.scheduler_address)
    assert result.exit_code == 0, result.output
    assert Path("here/sweep.csv").read_bytes() == Path("there/sweep.csv").read_bytes()


def test_no_cluster_is_a_sentence(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    assert "no Dask scheduler answers at 'nonsense'" in odesys(*GRID, "--dask", "nonsense").stderr
    monkeypatch.setitem(sys.modules, "distributed", None)
    assert "pip install 'odesys[sweep]'" in odesys(*GRID, "--dask", "tcp://127.0.0.1:1", "--out", "p").stderr


def test_files_of_other_sweeps_are_refused(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = ("sweep", "./swept", "--over", "x=1,2", "--workers", 1, "--out", "o")
    assert odesys(*line).exit_code == 0
    before = Path("o/sweep.sqlite").read_bytes()
    assert "has 2 of 2 points of this sweep already; go on with --resume" in refused(*line)
    assert 'holds another sweep: set {"wait": 0.0, "y": 1} instead of' in refused(*line, "--set", "y=5", "--resume")
    assert "holds another sweep: over" in refused("sweep", "./swept", "--over", "x=1,3", "--out", "o", "--resume")
    (swept / "__init__.py").write_text(SOURCE + "# another version\n")
    sweep.program.cache_clear()
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


def test_failed_points_can_be_tried_again(swept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SWEEP_LOG", str(tmp_path / "log"))
    line = ("sweep", "./swept", "--over", "y=12,13", "--workers", 1, "--out", "o")
    for more, count in (((), 2), (("--resume",), 2), (("--resume", "--retry-failed"), 3)):
        assert odesys(*line, *more).exit_code == 0
        assert len((tmp_path / "log").read_text().splitlines()) == count


@pytest.mark.skipif(sys.platform == "win32", reason="folders are locked on POSIX")
def test_two_at_once_are_refused(swept: Path) -> None:
    import fcntl

    Path("o").mkdir()
    held = os.open("o", os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert "another sweep is writing to o" in refused(*GRID, "--out", "o")
    finally:
        os.close(held)


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        ("x", "write --over NAME=log"),
        ("=1", "write --over NAME=log"),
        ("x=", "write --over NAME=log"),
        ("z=1,2", "has no parameter 'z'"),
        ("x=1,x", "'x' can not be used"),
        ("x=1,1", "has 1.0 twice"),
        ("x=1,", "'' can not be used"),
        ("x=log:1:2", "a grid is log:LOW:HIGH:COUNT"),
        ("x=cubic:1:2:3", "a grid is"),
        ("x=log:1:2:x", "the count 'x'"),
        ("x=log:1:2:0", "the count '0'"),
        ("x=log:1:2:-3", "the count '-3'"),
        ("x=log:1:2:" + "9" * 30, "is not a whole number from 1"),
        ("x=log:0:2:3", "out of range"),
        ("x=lin:nan:2:3", "out of range"),
        ("x=lin:1:1e999:3", "out of range"),
        ("x=lin:2:2:3", "between 2 and itself"),
        ("y=log:0:5:3", "positive ends"),
        ("y=2.5", "whole number"),
        ("x=__import__('os').getcwd()", "can not be used"),
    ],
)
def test_grids_that_can_not_be_read(swept: Path, grid: str, sentence: str) -> None:
    assert sentence in refused("sweep", "./swept", "--over", grid, "--out", "o")
    assert not Path("o").exists()


def test_lines_that_make_no_sense(swept: Path) -> None:
    for words, sentence in (
        ((), "at least one --over"),
        (("--over", "x=1,2", "--set", "x=3"), "x is given twice"),
        (("--over", "x=1,2", "--over", "x=3"), "x is given twice"),
        (("--over", "x=lin:1:2:200000", "--over", "y=1,2"), "400000 points, more than 200000"),
        (("--over", "x=1", "--dask", "a", "--workers", "2"), "--workers and --dask"),
        (("--over", "x=1", "--retry-failed"), "give --resume with it"),
        (("--over", "x=1", "--protocol", "q"), "no protocol"),
    ):
        assert sentence in refused("sweep", "./swept", *words, "--out", "o")
    assert "there is no observable 'q'" in odesys("sweep", "./swept", "--over", "x=1,2", "--plot", "q").stderr


def test_grids(swept: Path) -> None:
    paper = registry.find_paper("./swept")
    assert sweep.read_axis("x=log:1e-3:0.2:20", paper).values[::19] == (1e-3, 0.2)
    assert sweep.read_axis("x=lin:5:1:3", paper).values == (5.0, 3.0, 1.0)
    assert sweep.read_axis("x=log:4:4:1", paper).values == (4.0,)
    assert sweep.read_axis("y=log:1:10:20", paper).values == tuple(range(1, 11))
    assert sweep.read_axis("y = 3, 1", paper).values == (3, 1)
    with pytest.raises(OdesysError, match="p has no protocols"):
        sweep.make_plan("p", Paper("p", "t", "r", (Parameter("x", 1.0, ""),), {}, {}, {}), None, ["x=1,2"], {})


def test_observables_and_exponents_skip_what_is_no_number() -> None:
    axes = [sweep.Axis("x", (1.0, 2.0, 4.0), "list", "")]
    rows = [
        {"parameters": {"x": x}, "error": "", "result": {"final": {"a": x**-2, "b": None, "c": -x, "d": 1.0}}}
        for x in (1.0, 2.0, 4.0)
    ] + [{"parameters": {"x": 8.0}, "error": "no", "result": {}}]
    assert observables(rows) == ["a", "c", "d"]
    laws = exponents(axes, rows, ["a", "c", "d"])
    assert [law["observable"] for law in laws] == ["a"] and abs(laws[0]["value"] + 2) < 1e-12
