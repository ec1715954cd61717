"""Sweeps: the same table whoever computes it, nothing lost when killed, and sentences for what does not fit."""

from __future__ import annotations

import csv
import importlib
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from importlib.metadata import EntryPoint
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from numerics.sweeps import sweep
from numerics.sweeps.sweep import (
    LOST_PROCESS,
    Plan,
    PointResult,
    make_plan,
    read_axis,
    run_point,
    run_sweep,
)
from odesys import __version__
from odesys.errors import IntegrationError, OdesysError
from odesys.papers import registry, sources
from odesys.papers.paper import Paper, Parameter, Simulation
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


# ---- without the command line ----------------------------------------------------------------------------------------

PARAMETERS = (Parameter("x", 1.0, "a number", low=0), Parameter("y", 2, "a count", int, low=0), Parameter("w", 0.0, ""))


def paper_of(*protocols: Callable[..., Any], name: str = "p") -> Paper:
    return Paper(name, "t", "r", PARAMETERS, {}, {run.__name__: run for run in protocols}, {})


def test_a_grid_is_even_in_its_values_or_their_logarithms(monkeypatch: pytest.MonkeyPatch) -> None:
    made = paper_of()
    for text, values in (
        ("x=log:1:100:3", (1.0, 10.0, 100.0)),
        ("x=log:100:1:3", (100.0, 10.0, 1.0)),
        ("x=lin:1:4:4", (1.0, 2.0, 3.0, 4.0)),
        ("x=lin:4:1:3", (4.0, 2.5, 1.0)),
        ("x=lin:0:1:3", (0.0, 0.5, 1.0)),
        ("x=lin:2:2:1", (2.0,)),
        ("x=lin:0.1:0.4:4", (0.1, 0.2, 0.3, 0.4)),
        ("x=log:0.1:9:1", (0.1,)),
        ("y=lin:1:3:5", (1, 2, 3)),
        (" x = 3 , 1 ", (3.0, 1.0)),
        ("x= lin : 1 : 2 : 2", None),
        ("x=lin:1: 2 : 2 ", (1.0, 2.0)),
    ):
        if values is None:
            with pytest.raises(OdesysError, match="a grid is log:LOW:HIGH:COUNT or lin:LOW:HIGH:COUNT"):
                read_axis(text, made)
            continue
        axis = read_axis(text, made)
        assert axis.values == values and [type(v) for v in axis.values] == [type(v) for v in values]
        name, _, grid = text.partition("=")
        spacing = grid.strip()[:3] if ":" in grid else "list"
        assert (axis.name, axis.spacing, axis.text) == (name.strip(), spacing, grid.strip())
    for text in ("x=log:1:0:3", "x=log:0:1:3"):
        with pytest.raises(OdesysError, match="a logarithmic grid has positive ends"):
            read_axis(text, made)
    monkeypatch.setattr(sweep, "LARGEST_GRID", 50)
    assert len(read_axis("x=lin:0:1:50", made).values) == 50
    for text in ("x=lin:0:1:51", "x=lin:0:1:0", "x=lin:0:1:²", "x=lin:0:1:१"):
        with pytest.raises(OdesysError, match="is not a whole number from 1 to 50"):
            read_axis(text, made)
    with pytest.raises(OdesysError, match="has 3 points between 2 and itself"):
        read_axis("x=lin:2:2:3", made)
    with pytest.raises(OdesysError, match=r"has 1\.0 twice; give each value once"):
        read_axis("x=2,1,3,1", made)


def run(parameters: dict[str, Any], progress: object) -> Simulation:
    """Stages of one name count once, at their first time; numbers may be NumPy's."""
    if parameters["x"] == 7:
        raise IntegrationError("seven is not reached", time=0.0)
    if parameters["x"] == 8:
        raise ZeroDivisionError("eight")
    final = {"z": np.float64(2.0), "n": np.int64(3), "x": parameters["x"]}
    kinds = (("T", "stage", 2.0), ("S", "switch", 1.0), ("T", "stage", 5.0), ("U", "stage", np.float64(3.0)))
    events = tuple({"name": name, "kind": kind, "time": time} for name, kind, time in kinds)
    return Simulation("run", parameters, final, events, {"steps": 4, "seconds": 0.5}, np.float64(1e-9), {}, "slow")


def other(parameters: dict[str, Any], progress: object) -> Simulation:
    return Simulation("other", parameters, {}, (), {}, None, {})


def test_a_plan_has_every_point_and_the_last_axis_runs_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    made = paper_of(run, other)
    plan = make_plan("p", made, None, ["x=1,2", "y=3,4,5"], {"w": "0.5"})
    assert plan.points == [{"x": x, "y": y, "w": 0.5} for x in (1.0, 2.0) for y in (3, 4, 5)]
    assert (plan.paper, plan.name, plan.protocol) == ("p", "p", "run")
    assert make_plan("p", made, "other", ["x=1"], {}).protocol == "other"
    assert plan.identity() == {
        "paper": "p",
        "protocol": "run",
        "over": {"x": [1.0, 2.0], "y": [3, 4, 5]},
        "set": {"w": 0.5},
    }
    monkeypatch.setattr(sweep, "LARGEST_GRID", 6)
    for over, settings, said in (
        ([], {}, "a sweep needs at least one --over"),
        (["x=1", "x=2"], {}, "x is given twice"),
        (["x=1", "y=2"], {"y": "3"}, "y is given twice"),
        (["x=1,2,3,4", "y=1,2"], {}, "the grid has 8 points, more than 6; make it coarser"),
    ):
        with pytest.raises(OdesysError, match=said):
            make_plan("p", made, None, over, settings)
    assert len(make_plan("p", made, None, ["x=1,2,3", "y=1,2"], {}).points) == 6
    with pytest.raises(OdesysError, match="p has no protocol 'q'"):
        make_plan("p", made, "q", ["x=1"], {})


def test_a_folder_is_known_by_its_whole_path_and_a_paper_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = paper_of(run)
    for name in ("here", "known"):
        (tmp_path / name).mkdir()
    monkeypatch.setattr(registry, "known_names", lambda: ["known"])
    asked = {text: make_plan(text, made, None, ["x=1"], {}).paper for text in ("here", "./here", "known", "elsewhere")}
    assert asked == {
        "here": str(tmp_path / "here"),
        "./here": str(tmp_path / "here"),
        "known": "known",
        "elsewhere": "elsewhere",
    }


@pytest.fixture
def papers(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The paper p, and a program that is called here."""
    sweep._paper.cache_clear()
    monkeypatch.setattr(registry, "find_paper", lambda text: paper_of(run, other))
    monkeypatch.setattr(sweep, "program_digest", lambda text: "here")
    yield
    sweep._paper.cache_clear()


def test_a_point_gives_plain_data(papers: None) -> None:
    began = time.perf_counter()
    row = run_point("p", "run", {"x": 1.0})
    assert (row.error, row.program) == ("", "here") and 0 <= row.seconds <= time.perf_counter() - began
    assert row.result == {
        "final": {"z": 2.0, "n": 3, "x": 1.0},
        "time": {"T": 2.0, "U": 3.0},
        "cost": {"steps": 4},
        "invariant_drift": 1e-9,
        "note": "slow",
    }
    assert all(type(v) in (float, int) for v in (*row.result["final"].values(), row.result["invariant_drift"]))
    assert [run_point("p", "run", {"x": x}).error for x in (7, 8)] == [
        "seven is not reached",
        "ZeroDivisionError: eight",
    ]
    assert run_point("p", "run", {"x": 7}).result == {}


def test_only_what_is_missing_is_computed_and_told(papers: None) -> None:
    plan = make_plan("p", paper_of(run), None, ["x=1,2,3,4,5"], {})
    kept: dict[int, PointResult] = {}
    told: list[tuple[str, float]] = []
    count = run_sweep(plan, kept.__setitem__, {1, 3}, lambda text, share: told.append((text, share)))
    assert count == 3 and list(kept) == [0, 2, 4]
    assert [row.result["final"]["x"] for row in kept.values()] == [1.0, 3.0, 5.0]
    assert told == [(f"{k + 2} of 5 points", k / 3) for k in (1, 2, 3)]
    assert run_sweep(plan, kept.__setitem__, set(range(5))) == 0


def test_rows_of_another_program_are_not_kept(papers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, kept = make_plan("p", paper_of(run), None, ["x=1,2"], {}), dict[int, PointResult]()
    foreign = PointResult({}, "", 0.0, "there")
    monkeypatch.setattr(sweep, "computed", lambda plan, todo, workers, dask: iter([(0, foreign)]))
    with pytest.raises(OdesysError, match="a worker runs odesys there, this is here: install the same version"):
        run_sweep(plan, kept.__setitem__, set())
    assert kept == {}


def test_who_computes_is_one_process_several_or_a_cluster(papers: None, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = make_plan("p", paper_of(run), None, ["x=1,2,3"], {})
    monkeypatch.setattr(sweep, "_on_processes", lambda plan, todo, workers: f"{workers} processes")
    monkeypatch.setattr(sweep, "_here", lambda plan, todo: "here")
    monkeypatch.setattr("numerics.sweeps.on_dask.on_dask", lambda plan, todo, address: address)
    todo = list(enumerate(plan.points))
    for points, workers, dask, who in (
        (3, 1, "", "here"),
        (3, 2, "", "2 processes"),
        (2, 9, "", "9 processes"),
        (1, 9, "", "here"),
        (0, 9, "", "here"),
        (3, 2, "tcp://cluster", "tcp://cluster"),
    ):
        assert sweep.computed(plan, todo[:points], workers, dask) == who
    assert sweep.computed(plan, todo) == "here"


def test_the_program_is_another_one_with_every_file_and_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also a file of data and a module from elsewhere count; what a sweep writes, and hidden files, do not."""
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "elsewhere")
    folder = tmp_path / "paper"
    monkeypatch.setattr(registry, "source_folder", lambda text: folder)
    files = {
        "paper/a.py": "import shared_with",
        "paper/b/c.py": "2",
        "paper/d.json": "1",
        "elsewhere/shared_with.py": "",
    }
    changes = [{"paper/a.py": "import shared_with#"}, {"paper/b/c.py": "3"}, {"paper/e.py": ""}, {"paper/d.json": "2"}]
    changes += [{"elsewhere/shared_with.py": "x"}, {"paper/note.txt": "x"}]
    outputs = [
        {"paper/o/sweep.sqlite": "x", "paper/o/plots/a.svg": "x"},
        {"paper/.note": ""},
        {"paper/sweep.sqlite": ""},
    ]
    outputs += [{"paper/__pycache__/a.pyc": ""}, {"elsewhere/other.py": ""}, {}]

    def digest(change: dict[str, str]) -> str:
        for name in ("paper", "elsewhere"):
            shutil.rmtree(tmp_path / name, ignore_errors=True)
        for name, text in {**files, **change}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        importlib.invalidate_caches()
        for cached in (sweep.program_digest, sources.imported):
            cached.cache_clear()
        return sweep.program_digest("p")

    plain = digest({})
    assert {digest(change) for change in outputs} == {plain}
    assert len({plain, *(digest(change) for change in changes)}) == len(changes) + 1
    digest({})
    version, found, *_ = plain.split(" ", 2)
    assert version == __version__ and len(found) == 12
    for available in (True, False):
        monkeypatch.setattr(sweep.llvm, "available", lambda available=available: available)
        sweep.program_digest.cache_clear()
        assert sweep.program_digest("p") == f"{version} {found}" + " with machine code" * available
    monkeypatch.setattr(sweep, "own_digest", lambda: "odesys or numerics with another file")
    sweep.program_digest.cache_clear()
    assert sweep.program_digest("p").split()[1] != found
    monkeypatch.undo()
    monkeypatch.setattr(registry, "source_folder", lambda text: None)
    sweep.program_digest.cache_clear()
    assert sweep.program_digest("p").split()[1] != found
    sweep.program_digest.cache_clear()


def test_a_paper_without_a_folder_counts_by_the_file_of_its_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lone_paper.py").write_text("def run(parameters, progress): pass")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry, "source_folder", lambda text: None)
    importlib.import_module("lone_paper")
    monkeypatch.setattr(registry, "announced", lambda: {"p": EntryPoint("p", "lone_paper:PAPER", registry.GROUP)})
    found = []
    for text in ("a", "b"):
        monkeypatch.setattr(sources, "content", lambda file, text=text: text if file.stem == "lone_paper" else "")
        for cached in (sweep.program_digest, sources.imported):
            cached.cache_clear()
        found.append(sweep.program_digest("p"))
    assert found[0] != found[1]
    for cached in (sweep.program_digest, sources.imported):
        cached.cache_clear()
    sys.modules.pop("lone_paper")


def test_no_more_points_are_under_way_than_twice_the_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are handed out in order; each row is given as soon as it is there."""
    under_way, most, sizes = set[int](), [0], list[int]()

    class Pool:
        def submit(self, run: object, paper: str, protocol: str, parameters: dict[str, int]) -> Future[PointResult]:
            under_way.add(parameters["x"])
            most[0] = max(most[0], len(under_way))
            future: Future[PointResult] = Future()
            future.set_result(PointResult({"x": parameters["x"]}, "", 0.1, "here"))
            return future

    @contextmanager
    def process_pool(workers: int) -> Iterator[Any]:
        sizes.append(workers)
        yield Pool()

    monkeypatch.setattr(sweep, "process_pool", process_pool)
    plan = Plan("paper", "paper", "protocol", {}, ())
    for workers, count, size in ((3, 20, 3), (5, 2, 2)):
        most[0], seen = 0, []
        for number, row in sweep._on_processes(plan, [(k, {"x": k}) for k in range(count)], workers):
            under_way.discard(number)
            seen.append(number)
            assert row.result == {"x": number}
        assert sorted(seen) == list(range(count)) and most[0] == min(2 * workers, count) and sizes[-1] == size
    assert len(sizes) == 2
