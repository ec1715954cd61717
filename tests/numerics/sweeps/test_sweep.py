"""Sweeps: the same table whoever computes it, nothing lost when killed, and sentences for what does not fit."""

from __future__ import annotations

import csv
import os
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from numerics.sweeps import sweep
from numerics.sweeps.sweep import LOST_PROCESS, Plan, PointResult
from odesys.errors import OdesysError
from odesys.papers import registry
from odesys.papers.paper import Paper, Parameter
from tests.swept_paper import GRID, ROOT, odesys, refused


@pytest.mark.slow
def test_a_process_that_dies_is_a_row_too(swept: Path) -> None:
    """The grid ends with the deadly point, so that others are under way when it strikes."""
    result = odesys("sweep", "./swept", "--over", "y=1,2,3,15,4,5", "--out", "o", "--workers", 2)
    assert result.exit_code == 0, result.output
    errors = {row["y"]: row["error"] for row in csv.DictReader(Path("o/sweep.csv").read_text().splitlines())}
    assert errors.pop("15") == sweep.LOST_PROCESS and set(errors.values()) == {""}


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
    assert "pip install dask distributed" in odesys(*GRID, "--dask", "tcp://127.0.0.1:1", "--out", "p").stderr


def test_an_unknown_protocol_and_a_silent_address_are_sentences(swept: Path) -> None:
    """The second accepts connections and says nothing: 8 s of patience, and the sweep can go on later."""
    pytest.importorskip("distributed")
    assert "no Dask scheduler answers at 'gopher://" in odesys(*GRID, "--dask", "gopher://127.0.0.1:1").stderr
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        began = time.monotonic()
        result = odesys(*GRID, "--out", "o", "--dask", address)
        assert time.monotonic() - began < 30  # 15 on a quiet machine
    assert result.exit_code == 2 and f"no Dask scheduler answers at '{address}'" in result.stderr
    assert not list(Path("o").iterdir())
    assert odesys(*GRID, "--out", "o", "--resume", "--workers", 1).exit_code == 0


def test_a_scheduler_without_workers_is_a_sentence(swept: Path) -> None:
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=0, dashboard_address=None) as cluster:
        result = odesys(*GRID, "--out", "o", "--dask", cluster.scheduler_address)
    assert result.exit_code == 2 and "has no workers" in result.stderr
    assert "no point was computed; the same command begins again" in result.stderr and not list(Path("o").iterdir())
    assert odesys(*GRID, "--out", "o", "--workers", 1).exit_code == 0


@pytest.mark.nightly
def test_a_worker_that_is_killed_changes_nothing(swept: Path) -> None:
    distributed = pytest.importorskip("distributed")
    grid = ["sweep", "./swept", "--over", "x=lin:1:2:24", "--set", "wait=0.2"]
    assert odesys(*grid, "--out", "here", "--workers", 1).exit_code == 0
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        victim = next(iter(cluster.workers.values()))
        timer = threading.Timer(1.5, lambda: os.kill(victim.process.pid, signal.SIGKILL))
        timer.start()
        result = odesys(*grid, "--out", "there", "--dask", cluster.scheduler_address)
        timer.join()
    assert result.exit_code == 0, result.output
    assert Path("here/sweep.csv").read_bytes() == Path("there/sweep.csv").read_bytes()


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


def test_grids(swept: Path) -> None:
    paper = registry.find_paper("./swept")
    assert sweep.read_axis("x=log:1e-3:0.2:20", paper).values[::19] == (1e-3, 0.2)
    assert sweep.read_axis("x=lin:5:1:3", paper).values == (5.0, 3.0, 1.0)
    assert sweep.read_axis("x=log:4:4:1", paper).values == (4.0,)
    assert sweep.read_axis("x=lin:1.00000000000001:2.00000000000003:2", paper).values == (
        1.00000000000001,
        2.00000000000003,
    )  # the ends as they are written
    assert sweep.read_axis("y=log:1:10:20", paper).values == tuple(range(1, 11))
    assert sweep.read_axis("y = 3, 1", paper).values == (3, 1)
    with pytest.raises(OdesysError, match="p has no protocols"):
        sweep.make_plan("p", Paper("p", "t", "r", (Parameter("x", 1.0, ""),), {}, {}, {}), None, ["x=1,2"], {})


def test_points_under_way_when_a_process_dies_are_tried_alone_and_no_other_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Points are computed here; one of them kills its process, which breaks the whole pool."""
    begun: list[int] = []

    class Pool:
        broken = False

        def submit(self, run: object, paper: str, protocol: str, parameters: dict[str, int]) -> Future[PointResult]:
            begun.append(parameters["x"])
            future: Future[PointResult] = Future()
            self.broken = self.broken or parameters["x"] == 5
            if self.broken:
                future.set_exception(BrokenProcessPool())
            else:
                future.set_result(PointResult({"x": parameters["x"]}, "", 0.1, "here"))
            return future

    @contextmanager
    def process_pool(workers: int) -> Iterator[Any]:
        assert workers in (1, 2)
        yield Pool()

    monkeypatch.setattr(sweep, "process_pool", process_pool)
    monkeypatch.setattr(sweep, "program_digest", lambda paper: "here")
    plan = Plan("paper", "paper", "protocol", {}, ())
    rows = list(islice(sweep._on_processes(plan, [(k, {"x": k}) for k in range(9)], 2), 30))
    assert sorted(number for number, _ in rows) == list(range(9))
    assert [number for number, row in rows if row.error] == [5] and dict(rows)[5].error == LOST_PROCESS
    assert all(row.result == {"x": number} for number, row in rows if number != 5)
    assert all(begun.count(k) <= 2 for k in range(9)) and begun.count(0) == 1 and begun.count(8) == 1
