"""Checks in worker processes: the same answers in the same order, and no way to hang."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from odesys.errors import OdesysError
from odesys.papers import registry
from odesys.papers.claims import CheckError, ClaimBook
from odesys.papers.mutation_runs import mutation_runs
from odesys.papers.verification import Request, run_command, verify
from odesys.papers.workers import Task, available_cores, one_pool, run_tasks, tasks_of
from odesys.terminal import silent

ROOT = Path(__file__).resolve().parents[3]

BOOK = """
from odesys.papers.claims import ClaimBook
from odesys.papers.mutation import Mutation
book = ClaimBook("folder", laboratory=lambda mutation="": mutation, mutations=[Mutation("broken", "a sentence")])
"""
FIRST = """
import os
from odesys.errors import IntegrationError
from odesys.verdicts import measured, proved, refuted
from .book import book

@book.claim("A", "first", kind="identity", statement="s", reading="r")
def first(lab):
    return refuted({"lab": lab}) if lab else proved(process=os.getpid())
"""
SECOND = """
from odesys.verdicts import measured
from .book import book

@book.claim("B", "second", kind="order", statement="s", reading="r", uses=["A"])
def second(lab):
    return measured(True, numbers=[0.1, {"x": 3}]).with_constants(c=2)

@book.claim("C", "third", kind="order", statement="s", reading="r", level="full")
def third(lab):
    BODY
"""
INIT = """
from odesys.papers.paper import Paper

def get_book():
    from . import first, second
    return first.book

PAPER = Paper("folder", "Claims in a folder", "none", (), {}, {}, {}, book=get_book)
"""


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Any:
    """Write a paper with claims in two files; the third claim does what the test says."""

    def write(body: str) -> tuple[str, ClaimBook]:
        package = tmp_path / re.sub(r"\W", "_", f"paper_{request.node.name}")
        package.mkdir()
        texts = {"__init__": INIT, "book": BOOK, "first": FIRST, "second": SECOND.replace("BODY", body)}
        for name, text in texts.items():
            (package / f"{name}.py").write_text(text)
        paper = registry.find_paper(str(package))
        assert paper.book is not None
        return str(package), paper.book()

    return write


def plain(outcomes: Any) -> list[dict[str, Any]]:
    found = [outcome.as_json() | {"seconds": 0} for outcome in outcomes]
    for row in found:
        row["details"].pop("process", None)
    return found


def test_claims_of_one_file_stay_together(folder) -> None:
    _, book = folder("return measured(True)")
    assert tasks_of(book, list(book), "m") == [Task("m", ("A",)), Task("m", ("B", "C"))]
    assert available_cores() >= 1
    book.together = tuple({claim.check.__module__.rpartition(".")[2] for claim in book})
    assert tasks_of(book, list(book), "m") == [Task("m", ("A", "B", "C"))]


def test_two_processes_give_what_one_gives(folder) -> None:
    name, book = folder("return measured(True)")
    for claims in (list(book), list(book)[::-1]):
        alone, spread = (verify(book, claims, silent, workers, name) for workers in (1, 2))
        assert plain(alone) == plain(spread) and [o.claim.id for o in spread] == [c.id for c in claims]
    places = [next(o for o in run if o.claim.id == "A").verdict.details["process"] for run in (alone, spread)]
    assert places[0] == os.getpid() != places[1], "it really ran elsewhere"
    mutants = [mutation_runs(name, book, alone, book.mutations, silent, workers) for workers in (1, 2)]
    assert mutants[0] == mutants[1] and [m.state for m in mutants[0]] == ["survived", "survived", "killed"]


def test_one_pool_begins_what_is_asked_for_later(folder) -> None:
    name, book = folder("return measured(True)")
    alone, tasks = verify(book, list(book), silent, 1, name), tasks_of(book, list(book))
    with one_pool(2, {name: tasks}):
        runs = [verify(book, list(book), silent, 2, name) for _ in range(2)]  # the second one begins anew
        one = verify(book, [book["A"]], silent, 2, name)
    assert [plain(run) for run in runs] == [plain(alone)] * 2 and plain(one) == plain(alone)[:1]
    served = {run[0].verdict.details["process"] for run in [*runs, one]}
    assert os.getpid() not in served and len(served) <= 2, "the same processes serve all"
    with one_pool(1, {name: tasks}), one_pool(2, {}):
        assert verify(book, [book["A"]], silent, 1, name)[0].verdict.details["process"] == os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_check_that_breaks_is_named(folder, workers: int) -> None:
    name, book = folder("raise ZeroDivisionError('a mistake of ours')")
    with pytest.raises(CheckError, match="folder C broke off: ZeroDivisionError: a mistake of ours") as caught:
        verify(book, list(book), silent, workers, name)
    assert caught.value.claim == "C"  # type: ignore[attr-defined]


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("raise BaseException('of its own')", "BaseException: of its own"),
        ("return None", "TypeError: it returns None, and not a verdict"),
        ("return {}", "TypeError: it returns {}, and not a verdict"),
        ("return {'a': 1}", "TypeError: it returns {'a': 1}, and not a verdict"),
    ],
)
def test_a_check_that_gives_no_verdict_is_named(folder, workers: int, body: str, said: str) -> None:
    """One that ends the process was a run without a failure."""
    name, book = folder(body)
    with pytest.raises(CheckError, match=f"folder C broke off: {said}"):
        verify(book, list(book), silent, workers, name)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_others_are_judged_where_a_check_breaks_off(folder, workers: int) -> None:
    name, book = folder("return [0] * 10**30")
    arrived: list[Any] = []
    with pytest.raises(CheckError, match="folder C broke off: OverflowError") as caught:
        verify(book, list(book)[::-1], silent, workers, name)
    assert [outcome.claim.id for outcome in caught.value.outcomes] == ["B", "A"]
    with pytest.raises(CheckError, match="C broke off"):
        run_tasks(name, book, tasks_of(book, list(book)[::-1]), workers, silent, arrived)
    assert {found.claim for found in arrived} == {"A", "B"}


def test_the_command_writes_what_the_others_gave(folder, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name, _ = folder("raise MemoryError")
    request = Request(level="full", json=tmp_path / "found.json", workers=1)
    with pytest.raises(CheckError, match=r"C broke off: MemoryError$"):
        run_command({name: registry.find_paper(name)}, request)
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["complete"] is False and [claim["id"] for claim in found["claims"]] == ["A", "B"]
    assert "2 hold" in capsys.readouterr().out


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_copy_of_the_process_that_a_check_makes_ends_with_it(folder, tmp_path: Path) -> None:
    """It went on with the other claims, and wrote the results a second time."""
    name, book = folder("import os; return measured(True, child=os.fork())")
    child = verify(book, list(book), silent, 1, name)[-1].verdict.details["child"]
    with open(tmp_path / "who", "a") as file:
        file.write(f"{os.getpid()}\n")
    os.waitpid(child, 0)
    assert (tmp_path / "who").read_text() == f"{os.getpid()}\n"


def test_a_sentence_of_the_engine_is_named_too(folder) -> None:
    name, book = folder("from odesys.errors import EquationError; raise EquationError('no such state')")
    with pytest.raises(CheckError, match="folder C broke off: no such state"):
        verify(book, list(book), silent, 2, name)


def test_a_verdict_that_can_not_travel_is_named(folder) -> None:
    name, book = folder("return measured(True, function=lambda: 0)")
    with pytest.raises(CheckError, match=r"the verdict of folder C can not be sent .*lambda.* made of numbers, texts"):
        verify(book, list(book), silent, 2, name)


def test_a_process_that_dies_is_no_reason_to_wait(folder) -> None:
    name, book = folder("import os; os._exit(3)")
    with pytest.raises(CheckError, match=r"the process that checked .* C ended before its answer came") as caught:
        verify(book, list(book), silent, 2, name)
    assert [outcome.claim.id for outcome in caught.value.outcomes] == ["A", "B"], "what can be judged is"


def test_what_is_asked_of_one_pool_after_a_process_died(folder) -> None:
    """A new task is refused when it is handed in: it goes to a fresh process."""
    name, book = folder("import os; os._exit(3)")
    with one_pool(2, {name: tasks_of(book, list(book))}):
        for _ in range(2):
            with pytest.raises(CheckError, match=" C ended before its answer came"):
                verify(book, list(book), silent, 2, name)


def test_a_paper_that_other_processes_do_not_know(folder) -> None:
    _, book = folder("return measured(True)")
    with pytest.raises(OdesysError, match="there is no paper 'elsewhere'"):
        run_tasks("elsewhere", book, tasks_of(book, list(book)), 2, silent)


@pytest.mark.skipif(not hasattr(signal, "SIGINT") or sys.platform == "win32", reason="signals of this kind are POSIX")
def test_an_interrupt_ends_with_a_sentence(folder, tmp_path: Path) -> None:
    begun = tmp_path / "begun"
    # the answer of the first claim has three seconds to arrive, even where its process was the last to start
    body = f"import pathlib, time; time.sleep(3); pathlib.Path({str(begun)!r}).touch(); time.sleep(600)"
    name, _ = folder(body)
    command = [sys.executable, "-m", "odesys", "verify", name, "--level", "full", "--all", "--workers", "2"]
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        while not begun.exists() and process.poll() is None:
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to this process and its workers alike
        out, err = process.communicate()
    assert (process.returncode, err) == (130, "odesys: interrupted\n")
    assert "first" in out and "second" not in out  # what was found by then is shown
