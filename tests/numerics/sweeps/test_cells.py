"""Many runs: order, independence of the number of processes, resumption, and what is not taken for a result."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from numerics.sweeps import cells
from numerics.sweeps.cells import run_cells, task_name, unfinished_cells
from odesys import Data, System, Words, gradient_flow, graph, logistic, maps
from odesys.errors import ParameterError
from odesys.papers import sources


@pytest.fixture(autouse=True)
def old_sources(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that are made in a test are taken for older than this process."""
    monkeypatch.setattr(cells, "STARTED", math.inf)


def noisy_square(cell: tuple[int, int]) -> float:
    number, seed = cell
    return number**2 + float(np.random.default_rng(seed).standard_normal())


def logged(number: int, log: str = "") -> list[float]:
    with open(log, "a", encoding="utf-8") as file:
        file.write(f"{number}\n")
    if number == 13:
        raise KeyboardInterrupt
    return [float(number), math.inf if number % 2 else -math.inf, math.nan]


def test_results_do_not_depend_on_the_number_of_processes() -> None:
    tasks = [(k, 3 * k) for k in range(12)]
    seen: list[float] = []
    assert run_cells(noisy_square, tasks) == run_cells(noisy_square, tasks, lambda what, done: seen.append(done), 2)
    assert seen == sorted(seen) and seen[-1] == 1.0


def slow(number: int) -> int:
    time.sleep(1.0)
    return number


def test_processes_that_work_long_are_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cells, "HEARTBEAT", 0.1)
    seen: list[float] = []
    assert run_cells(slow, [1, 2], lambda what, done: seen.append(done), 2) == [1, 2]
    assert seen.count(0.0) >= 3 and seen[-1] == 1.0


def test_an_interrupted_task_goes_on_where_it_was(tmp_path: Path) -> None:
    log = tmp_path / "log"
    run = partial(logged, log=str(log))
    with pytest.raises(KeyboardInterrupt) as caught:
        run_cells(run, [1, 2, 13, 4], store=tmp_path / "store", label="squares")
    assert caught.value.__notes__ == ["2 of 4 squares are kept; the same command goes on"]
    with pytest.raises(KeyboardInterrupt) as caught:
        run_cells(partial(logged, log=str(tmp_path / "other")), [2, 13])
    assert not hasattr(caught.value, "__notes__"), "nothing is kept without a store"
    first = log.read_text().split()
    assert first == ["1", "2", "13"]
    found = run_cells(run, [1, 2, 4], store=tmp_path / "store")
    assert log.read_text().split()[3:] == ["4"], "finished cells are not computed again"
    fresh = run_cells(run, [1, 2, 4])
    assert repr(found) == repr(fresh), "stored and fresh results are the same, infinities included"


def test_a_broken_file_or_another_source_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    task = (2, 0)
    want = run_cells(noisy_square, [task], store=tmp_path)
    (file,) = tmp_path.iterdir()
    file.write_text("{", encoding="utf-8")
    assert run_cells(noisy_square, [task], store=tmp_path) == want
    file.write_text(json.dumps({"key": file.stem, "value": -1.0}), encoding="utf-8")
    assert run_cells(noisy_square, [task], store=tmp_path) == [-1.0], "the file is what is read"
    monkeypatch.setattr(cells, "own_digest", lambda: "another version")
    assert run_cells(noisy_square, [task], store=tmp_path) == want


def test_the_folder_of_a_task_lives_as_long_as_the_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    with pytest.raises(KeyboardInterrupt), unfinished_cells("a task") as store:
        assert store is not None
        (store / "cell.json").write_text("{}", encoding="utf-8")
        raise KeyboardInterrupt
    with unfinished_cells("a task") as store:
        assert store is not None and (store / "cell.json").is_file()
    assert not store.exists()
    (tmp_path / "file").write_text("", encoding="utf-8")
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path / "file"))
    with unfinished_cells("a task") as store:
        assert store is None


def test_a_task_that_nobody_goes_on_with_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    old, young = (tmp_path / "unfinished" / name for name in ("old", "young"))
    for folder in (old, young):
        folder.mkdir(parents=True)
    os.utime(old, (0, 0))
    with unfinished_cells("a task"):
        assert young.exists() and not old.exists()


@pytest.mark.parametrize("text", ["{}", "[]", "7", '{"value": 7}', '{"key": "@"}', '{"key": "@", "value": 7', ""])
def test_a_cell_without_its_value_is_run_again(tmp_path: Path, text: str) -> None:
    assert run_cells(abs, [-1], store=tmp_path) == [1]
    (file,) = tmp_path.iterdir()
    file.write_text(text.replace("@", file.stem))
    assert run_cells(abs, [-1], store=tmp_path) == [1]
    file.write_text(json.dumps({"key": file.stem, "value": 7}))
    assert run_cells(abs, [-1], store=tmp_path) == [7]


@pytest.mark.parametrize("attack", ["rights", "place"])
def test_a_cell_somebody_else_could_have_written_is_run_again(tmp_path: Path, attack: str) -> None:
    assert run_cells(abs, [-1, -2], store=tmp_path) == [1, 2]
    one, two = tmp_path.iterdir()
    if attack == "rights":
        one.write_bytes(one.read_bytes().replace(b'"value": ', b'"value": 7'))
        one.chmod(0o666)
    else:
        two.replace(one)
    assert run_cells(abs, [-1, -2], store=tmp_path) == [1, 2]


def total(cell: int, numbers: np.ndarray, more: object = None) -> float:
    return cell * float(numbers.sum())


def test_fixed_arguments_tell_tasks_apart(tmp_path: Path) -> None:
    numbers = np.zeros(10**4)
    other = numbers.copy()
    other[5000] = 1.0
    assert repr(numbers) == repr(other), "text alone would not tell them apart"
    runs = [partial(total, numbers=each) for each in (numbers, other)]
    assert [run_cells(run, [2], store=tmp_path) for run in runs] == [[0.0], [2.0]]
    inside = [partial(total, numbers=numbers, more=run) for run in runs]  # a function of a function
    names = {task_name("sum", run) for run in (*runs, *inside, total)}
    assert len(names) == 5 and all(name is not None and name.startswith(f"sum {__name__} ") for name in names)
    assert task_name("sum", partial(total, numbers=numbers.copy())) == task_name("sum", runs[0])


def test_a_local_function_keeps_nothing() -> None:
    def local(cell: int) -> int:
        return cell

    assert task_name("sum", local) is None and task_name("sum", partial(local, cell=1)) is None
    with unfinished_cells(None) as store:
        assert store is None


def test_a_store_that_can_not_be_written_costs_only_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run_cells(abs, [-1, 2], store=tmp_path / "file" / "store") == [1, 2]


def test_no_processes_get_a_sentence() -> None:
    with pytest.raises(ParameterError, match="use at least 1"):
        run_cells(abs, [1], workers=0)


def test_a_long_task_is_kept_where_that_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    log = tmp_path / "log"
    for keep, wanted in ((True, ["1"]), (False, ["1"]), (False, ["1", "1"])):
        with unfinished_cells("a task", keep) as store:
            run_cells(partial(logged, log=str(log)), [1], store=store)
        assert store is not None and store.exists() == keep
        assert log.read_text().split() == wanted


def test_looking_for_kept_results_tells_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million cells take longer to look up than a person waits without a word."""
    monkeypatch.setattr(cells, "paced", lambda progress: progress)
    told: list[str] = []
    assert run_cells(abs, [-1, 2], lambda what, done: told.append(what), store=tmp_path) == [1, 2]
    assert told[:2] == ["looking for results that are kept"] * 2 and len(told) == 4


def test_results_are_told_as_they_come_and_kept_for_as_many_as_were_run(tmp_path: Path) -> None:
    told: list[tuple[str, float]] = []
    assert run_cells(abs, [-1, -2, -3, -4], lambda what, share: told.append((what, share)), label="cells") == [
        1,
        2,
        3,
        4,
    ]
    assert told == [("cells", 0.25), ("cells", 0.5), ("cells", 0.75), ("cells", 1.0)]
    assert run_cells(abs, [], store=tmp_path) == []
    run_cells(abs, [-1, -2], store=tmp_path)
    told.clear()
    run_cells(abs, [-1, -2, -3, -4], lambda what, share: told.append((what, share)), store=tmp_path, label="cells")
    assert told[-2:] == [("cells", 0.75), ("cells", 1.0)], "what is kept is not run"


class Counted:
    """A pool that computes at once, and notes how many processes it was asked for."""

    sizes: ClassVar[list[int]] = []

    def submit(self, function: Callable[[Any], Any], cell: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(function(cell))
        return future


@pytest.mark.parametrize(("workers", "cells_", "size"), [(1, 5, None), (2, 1, None), (2, 5, 2), (9, 3, 3), (2, 2, 2)])
def test_there_are_no_more_processes_than_cells(
    monkeypatch: pytest.MonkeyPatch, workers: int, cells_: int, size: int | None
) -> None:
    @contextmanager
    def pool(count: int, method: str) -> Iterator[Counted]:
        Counted.sizes.append(count)
        yield Counted()

    Counted.sizes.clear()
    monkeypatch.setattr(cells, "process_pool", pool)
    assert run_cells(abs, list(range(-cells_, 0)), workers=workers) == list(range(cells_, 0, -1))
    assert Counted.sizes == ([] if size is None else [size])


def test_a_sentence_for_each_number_of_processes_below_one() -> None:
    for workers in (0, -3):
        with pytest.raises(ParameterError, match=f"^{workers} processes can not run anything; use at least 1$"):
            run_cells(abs, [1], workers=workers)


NAMES = [
    0,
    0.0,
    "0",
    (0,),
    [0],
    ((0,),),
    {"a": 0},
    {"a": 1},
    {"b": 0},
    {"a": 0, "b": 0},
    np.zeros(2),
    np.zeros(3),
    np.zeros((2, 1)),
    np.zeros(2, dtype=int),
    np.array([0.0, 1.0]),
    abs,
    max,
    noisy_square,
    slow,
    partial(noisy_square),
    partial(noisy_square, (1, 2)),
    partial(noisy_square, cell=(1, 2)),
    partial(slow, (1, 2)),
]


@dataclass(frozen=True)
class Held:
    """Data in a dataclass."""

    numbers: object


class Plain:
    """Not a dataclass: nothing says what determines it."""


def test_the_name_of_a_value_tells_it_from_every_other() -> None:
    long = np.zeros(10**4)
    many = [*NAMES, Held(1), Held(2), Held(long), Held(np.append(long[1:], 1.0)), Held, {1}, frozenset({1}), -0.0]
    many += [np.float64(0.0), np.int64(0), Held(1).__eq__, Held(2).__eq__, Path("a"), Fraction(0), b"0", None, True]
    x = graph.sym("x")
    many += [System.from_equations({"x": sign * x}) for sign in (1, -1)]
    texts = [text(value) for value in many]
    assert len(set(texts)) == len(many) and texts == [text(value) for value in many]
    assert text({"a": 1, "b": 2}) == text({"b": 2, "a": 1})
    assert text(np.zeros(10**4)) != text(np.append(np.zeros(10**4 - 1), 1.0))


def text(value: object) -> str:
    return cells._text(value, {})


def test_what_can_not_be_written_down_is_not_kept(tmp_path: Path) -> None:
    """The text of a flow, or of a long array in a dataclass, is the same for other numbers."""
    words = Words("good bad the")
    w = maps("w", 1, words)
    one, other = (
        gradient_flow(lambda X: (w @ X).sum(), Data(words, [("good the", +1), ("bad the", sign)]), logistic)
        for sign in (+1, -1)
    )
    assert repr(one) == repr(other)
    names = [task_name("sum", partial(giving, value=flow)) for flow in (one, other)]
    assert names[0] is None or names[0] != names[1]
    local = lambda: 1  # noqa: E731
    for value in (Plain(), [Plain()], {"a": Held(Plain())}, local, np.array([Plain()]), [].append, (n for n in [1])):
        assert task_name("sum", partial(giving, value=value)) is None
        run_cells(partial(giving, value=1.0), [0, value], store=tmp_path / "cells")
        run_cells(partial(ignoring, value=value), [0], store=tmp_path / "runs")
    assert len(list((tmp_path / "cells").iterdir())) == 1 and not (tmp_path / "runs").exists()


def ignoring(cell: int, value: object = None) -> int:
    return cell


@pytest.mark.parametrize("program", ["", "-"])
def test_a_function_without_a_source_file_keeps_nothing(tmp_path: Path, program: str) -> None:
    """As in a notebook: its text can change from one call to the next."""
    lines = """
from functools import partial
from numerics.sweeps.cells import run_cells, task_name
def measure(width, seed=0):
    return width * %s
print(task_name("t", measure), task_name("t", partial(measure, seed=1)), run_cells(measure, [1], store=STORE))
"""
    found = []
    for factor in (2, 3):
        code = f"from pathlib import Path\nSTORE = Path({str(tmp_path)!r})\n" + lines % factor
        command = [sys.executable, *([program] if program else ["-c", code])]
        done = subprocess.run(command, input=code, text=True, capture_output=True, check=True, cwd=ROOT)
        found.append(done.stdout.strip())
    assert found == ["None None [2]", "None None [3]"] and not list(tmp_path.iterdir())


ROOT = Path(cells.__file__).parents[2]


def make(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


@pytest.fixture
def forgetful() -> Iterator[Callable[[], None]]:
    """Forget what was read of files, and modules of this test."""
    before = set(sys.modules)

    def forget() -> None:
        for name in set(sys.modules) - before:
            del sys.modules[name]
        sources.imported.cache_clear()
        importlib.invalidate_caches()

    yield forget
    forget()


FILES = {
    "mine/__init__.py": "",
    "mine/measure.py": "from .parts.factor import FACTOR\ndef run(cell):\n    return cell\n",
    "mine/parts/__init__.py": "",
    "mine/parts/factor.py": "import shared_factor\nFACTOR = 1\ndef run(cell):\n    return cell\n",
    "mine/data/d.json": "1",
    "shared_factor.py": "X = 1",
}


def test_the_name_of_a_cell_changes_with_everything_its_function_is_made_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: Callable[[], None]
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    changes = {"mine/parts/factor.py": FILES["mine/parts/factor.py"].replace("1", "2"), "mine/data/d.json": "2"}
    changes |= {"shared_factor.py": "X = 2", "mine/measure.py": FILES["mine/measure.py"] + "#", "mine/new.txt": "x"}
    for module in ("mine.measure", "mine.parts.factor"):
        keys = []
        for change in ((), (), *changes.items()):
            make(tmp_path, {**FILES, **dict([change] if change else [])})
            forgetful()
            keys.append(cells._key(importlib.import_module(module).run)(3))
        assert keys[0] == keys[1] and len(set(keys)) == len(changes) + 1
        (tmp_path / "mine/new.txt").unlink()


def test_a_function_beside_a_folder_counts_what_it_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: Callable[[], None]
) -> None:
    """A module that is in no package, with a folder of parts beside it."""
    monkeypatch.syspath_prepend(tmp_path)
    keys = []
    for factor in (1, 1, 2):
        make(tmp_path, {"parts_of_it/factor.py": f"FACTOR = {factor}"})
        make(tmp_path, {"alone.py": "def run(cell):\n    from parts_of_it import factor\n    return factor.FACTOR"})
        forgetful()
        keys.append(cells._key(importlib.import_module("alone").run)(3))
    assert keys[0] == keys[1] != keys[2]


def test_a_source_that_is_newer_than_this_process_keeps_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, forgetful: Callable[[], None]
) -> None:
    """Nobody can tell whether what is on disk is what was loaded."""
    monkeypatch.syspath_prepend(tmp_path)
    make(tmp_path, {"fresh_one.py": "def run(cell): return cell"})
    made = importlib.import_module("fresh_one").run
    assert task_name("t", made) is not None
    monkeypatch.setattr(cells, "STARTED", (tmp_path / "fresh_one.py").stat().st_mtime)
    monkeypatch.setattr(cells, "OWN", ())
    assert task_name("t", made) is None


def test_all_of_odesys_and_numerics_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len({cells._key(abs)(cell) for cell in (1, 2, (1, 2))}) == 3 and cells._key(abs)(1) != cells._key(max)(1)
    before = cells._key(abs)(1)
    for name in ("odesys/derive/flow.py", "numerics/compiled/dop853.py", "odesys/errors.py"):
        sources.own_digest.cache_clear()
        with monkeypatch.context() as patch:
            patch.setattr(sources, "content", lambda file, name=name: "x" if file.as_posix().endswith(name) else "y")
            one = sources.own_digest()
            patch.setattr(sources, "content", lambda file: "y")
            sources.own_digest.cache_clear()
            assert one != sources.own_digest()
        sources.own_digest.cache_clear()
    assert cells._key(abs)(1) == before


def test_a_task_that_was_touched_within_a_month_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ODESYS_CACHE", str(tmp_path))
    now = time.time()
    ages = {"day": 1.0, "nearly": 29.9, "over": 30.1, "year": 365.0}
    for name, days in ages.items():
        folder = tmp_path / "unfinished" / name
        folder.mkdir(parents=True)
        os.utime(folder, (now - days * 86400, now - days * 86400))
    with unfinished_cells("a task"):
        left = {path.name for path in (tmp_path / "unfinished").iterdir()}
    assert {"day", "nearly"} <= left and not {"over", "year"} & left


def test_numbers_that_are_none_stand_where_they_stood(tmp_path: Path) -> None:
    """Also deep inside, beside values that are nothing at all."""
    value = {"a": [1.0, math.inf, None], "b": {"c": -math.inf, "d": [math.nan, [2, None]]}, "e": None, "f": "x"}
    (first,) = run_cells(partial(giving, value=value), [0], store=tmp_path)
    (second,) = run_cells(partial(giving, value=value), [0], store=tmp_path)
    assert repr(first) == repr(second) == repr(value)


def giving(cell: int, value: object = None) -> object:
    """The value, whatever the cell."""
    return value


def test_a_function_has_a_name_if_it_is_at_the_top_of_a_module() -> None:
    class Callable_:
        def __call__(self, cell: int) -> int:
            return cell

    assert task_name("t", Callable_()) is None and task_name("t", partial(partial(Callable_()), 1)) is None
    name = task_name("t", partial(partial(slow), number=1))
    assert (
        name is not None
        and name.startswith(f"t {__name__} ")
        and name != task_name("u", partial(partial(slow), number=1))
    )
