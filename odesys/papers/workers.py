"""Checks of claims spread over processes: each process imports the paper by name, and sends back plain data.

A task is some claims of one paper under one mutation (none: ``""``) and one draw of seeds and points. Claims that share
what is computed once stay together: those of one file, or of files that the book names. Answers come back in the order
of the tasks, whatever was finished first.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any

import numpy as np

from ..errors import IntegrationError, OdesysError
from ..expr import gc_pause
from ..shortening import some
from ..stated import recorded
from ..terminal import Progress
from ..threads import one_thread
from ..verdicts import Verdict, Witness, without_statements
from .claims import CheckError, Claim, ClaimBook
from .draw import OWN_DRAW, Draw
from .laboratory import Part
from .proof_files import ProofFile, proof_file

NO_RUN, REFUSED, BROKEN = "no such run", "refused", "broke off"


@dataclass(frozen=True)
class Task:
    """Claims to be checked together in one process."""

    mutation: str
    claims: tuple[str, ...]
    draw: Draw = OWN_DRAW
    proofs: bool = False  # whether proofs are exported


@dataclass(frozen=True)
class Answer:
    """What one check gave: a verdict, or on a mutated system the reason why there is none."""

    claim: str
    mutation: str
    verdict: Verdict | None
    seconds: float = 0.0
    reads: frozenset[Part] | None = None
    problem: str = ""  # NO_RUN or REFUSED; BROKEN on its way to `run_tasks`, which raises
    sentence: str = ""
    draw: Draw = OWN_DRAW
    proof: ProofFile | None = None


_ALLOWED: ContextVar[int | None] = ContextVar("allowed", default=None)
_SHARED: ContextVar[_Pool | None] = ContextVar("shared", default=None)


@contextmanager
def at_most(workers: int) -> Iterator[None]:
    """Inside, no more processes are started than this, whatever the machine has.

    >>> with at_most(1):
    ...     available_cores()
    1
    """
    token = _ALLOWED.set(workers)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def available_cores() -> int:
    """Processors this process may use.

    Returns
    -------
    int
        At least 1.

    Examples
    --------
    >>> available_cores() >= 1
    True
    """
    found = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(found, _ALLOWED.get() or found)


def tasks_of(
    book: ClaimBook, claims: Iterable[Claim], mutation: str = "", draw: Draw = OWN_DRAW, proofs: bool = False
) -> list[Task]:
    """One task for all claims that are checked in one place (`ClaimBook.place`), in the order of their first claims."""
    places: dict[str, list[str]] = {}
    for claim in claims:
        places.setdefault(book.place(claim), []).append(claim.id)
    return [Task(mutation, tuple(ids), draw, proofs) for ids in places.values()]


def proved_answer(book: ClaimBook, id: str) -> Answer:
    """Check one claim and write down what was proved; the statements themselves stay in this process."""
    with recorded():
        found = answer(book, id, "")
        assert found.verdict is not None  # on the unbroken system a check that does not come to a verdict raises
        proof = proof_file(book.paper, book[id], found.verdict)
    return replace(found, verdict=without_statements(found.verdict), proof=proof)


def answer(book: ClaimBook, id: str, mutation: str, draw: Draw = OWN_DRAW) -> Answer:
    """Check one claim; on a mutated system or a new draw a refusal is an answer too, otherwise it is a mistake."""
    claim = book[id]
    asked: dict[str, Any] = {"mutation": mutation} if mutation else {}
    if not draw.own:
        asked["draw"] = draw
    try:
        outcome = book.run(claim, **asked)
    except CheckError:
        raise
    except OdesysError as error:
        if not asked:
            raise CheckError(f"the check of {book.paper} {id} broke off: {error}", claim=id) from error
        # a run the claim speaks of does not exist; or, e.g., the data lost the symmetry the check is written in
        problem = NO_RUN if isinstance(error, IntegrationError) else REFUSED
        return Answer(id, mutation, None, problem=problem, sentence=str(error), draw=draw)
    return Answer(id, mutation, outcome.verdict, outcome.seconds, outcome.reads, draw=draw)


def run_tasks(
    paper: str,
    book: ClaimBook,
    tasks: Sequence[Task],
    workers: int,
    progress: Progress,
    arrived: list[Answer] | None = None,
) -> list[Answer]:
    """Answers to all tasks in their order; `paper` is the name under which another process finds `book`.

    Each answer is put into `arrived` as soon as it is there: what is left when someone interrupts, or where checks
    broke off, which is told when all others are done.
    """
    arrived = [] if arrived is None else arrived
    if _SHARED.get() is None and min(workers, len(tasks)) <= 1:
        answers = list(_one_after_the_other(book, tasks, progress, arrived))
    else:
        answers = _side_by_side(paper, tasks, workers, progress, arrived)
    broken = [found for found in answers if found.problem == BROKEN]
    if broken:
        told = some([found.sentence for found in broken], 3)
        raise CheckError(told, claim=broken[0].claim)
    return answers


def _one_after_the_other(
    book: ClaimBook, tasks: Sequence[Task], progress: Progress, arrived: list[Answer]
) -> Iterator[Answer]:
    total, done = sum(len(task.claims) for task in tasks), 0
    for task in tasks:
        for id in task.claims:
            progress(f"{id} {task.mutation}".strip(), done / total)
            found = _checked(book, id, task)
            arrived += _verdicts([found])
            yield found
            done += 1


def _side_by_side(
    paper: str, tasks: Sequence[Task], workers: int, progress: Progress, arrived: list[Answer]
) -> list[Answer]:
    found: dict[int, list[Answer]] = {}
    with _pool(min(workers, len(tasks))) as pool, suppress(BrokenProcessPool):
        futures = {pool.submit(paper, task): k for k, task in enumerate(tasks)}
        for future in as_completed(futures):
            with suppress(BrokenProcessPool):  # others may have finished before
                answers = found[futures[future]] = future.result()
                arrived += _verdicts(answers)
                last = answers[-1]
                progress(f"{last.claim} {last.mutation}".strip(), len(found) / len(tasks))
    for k, task in enumerate(tasks):
        if k not in found:
            progress(f"{task.claims[0]} {task.mutation}".strip(), k / len(tasks))
            found[k] = _claim_by_claim(paper, task)
            arrived += _verdicts(found[k])
    return [answer for k in range(len(tasks)) for answer in found[k]]


def _claim_by_claim(paper: str, task: Task) -> list[Answer]:
    """Answers to a task of which, or beside which, a process ended: whose check ends another one is told by name."""
    answers: list[Answer] = []
    left = list(task.claims)
    while left:
        with process_pool(1) as alone:
            while left:
                id = left.pop(0)
                try:
                    answers += alone.submit(_work, paper, replace(task, claims=(id,))).result()
                except BrokenProcessPool:
                    ended = f"the process that checked {paper} {id} ended before its answer came"
                    answers.append(_broken(task, id, ended))
                    break
    return answers


def _verdicts(answers: Iterable[Answer]) -> list[Answer]:
    return [found for found in answers if found.problem != BROKEN]


def _broken(task: Task, id: str, sentence: str) -> Answer:
    return Answer(id, task.mutation, None, problem=BROKEN, sentence=sentence, draw=task.draw)


def _checked(book: ClaimBook, id: str, task: Task, sent: bool = False) -> Answer:
    """The answer to one claim of a task; where its check breaks off that is said, and the other claims are checked."""
    try:
        found = proved_answer(book, id) if task.proofs else answer(book, id, task.mutation, task.draw)
        return _sendable(found, book.paper) if sent else found
    except CheckError as error:
        return _broken(task, id, str(error))


def _work(paper: str, task: Task) -> list[Answer]:
    """Runs in another process, which has nothing but the name of the paper and of the claims."""
    from .registry import find_paper

    found = find_paper(paper)
    if found.book is None:
        raise CheckError(f"{paper} has no registered claims in a worker process")
    book = found.book()
    return [_checked(book, id, task, sent=True) for id in task.claims]


def _sendable(found: Answer, paper: str) -> Answer:
    """The answer itself; a verdict that is not plain data gets a sentence instead of a riddle in the other process."""
    for strange in _strange(found.verdict):
        raise CheckError(
            f"the verdict of {paper} {found.claim} can not be sent to another process: it contains "
            f"{strange!r}, and is made of numbers, texts, lists and mappings",
            claim=found.claim,
        )
    return found


def _strange(value: Any) -> Iterator[Any]:
    """What is not plain data in a value."""
    if isinstance(value, Verdict):
        fixed = value.corrected.verdict if value.corrected else None
        value = [value.witness, value.constants, value.details, value.points, fixed]  # parts are in these
    if isinstance(value, Witness):
        value = value.point
    if isinstance(value, Mapping):
        value = [*value, *value.values()]
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _strange(item)
    elif value is not None and not isinstance(value, (str, Number, np.generic)):
        yield value


@dataclass(frozen=True)
class _Pool:
    """Processes, and what they were given to do before someone asked for its answers."""

    processes: ProcessPoolExecutor
    begun: dict[tuple[str, Task], Future[list[Answer]]] = field(default_factory=dict)

    def submit(self, paper: str, task: Task) -> Future[list[Answer]]:
        """The answers to a task, which are asked for once."""
        return self.begun.pop((paper, task), None) or self.processes.submit(_work, paper, task)


@contextmanager
def one_pool(workers: int, tasks: Mapping[str, Sequence[Task]]) -> Iterator[None]:
    """Inside, the same processes serve all papers, whose tasks they begin at once, those of many claims first."""
    listed = [(paper, task) for paper, own in tasks.items() for task in own]
    if min(workers, len(listed)) <= 1:
        yield
        return
    with process_pool(min(workers, len(listed))) as processes:
        ordered = sorted(listed, key=lambda each: -len(each[1].claims))
        token = _SHARED.set(_Pool(processes, {each: processes.submit(_work, *each) for each in ordered}))
        try:
            yield
        finally:
            _SHARED.reset(token)


@contextmanager
def _pool(workers: int) -> Iterator[_Pool]:
    shared = _SHARED.get()
    if shared is not None:
        yield shared
        return
    with process_pool(workers) as processes:
        yield _Pool(processes)


@contextmanager
def process_pool(workers: int, start: str = "spawn") -> Iterator[ProcessPoolExecutor]:
    """Processes, fresh ones by default, that leave an interrupt from the keyboard to this one and end with it."""
    before = set(multiprocessing.active_children())
    pool = ProcessPoolExecutor(workers, multiprocessing.get_context(start), _start_worker)
    try:
        with one_thread():  # processes start when work comes
            yield pool
    except BaseException:
        # not cancelled first: the pool's own thread would then complain about futures that are neither open nor done
        for process in set(multiprocessing.active_children()) - before:
            process.terminate()
        pool.shutdown(wait=True)
        raise
    pool.shutdown()


def _start_worker() -> None:
    gc_pause.collect_less_often()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
