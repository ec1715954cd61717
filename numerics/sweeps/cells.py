"""Many independent runs: spread over processes, kept as they finish, and resumed after an interruption.

A cell is the argument of one run: a value whose text determines it (numbers, tuples, frozen dataclasses of them). The
results come in the order of the cells, so they do not depend on the number of processes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import multiprocessing
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import odesys
from odesys.errors import OutputError, ParameterError
from odesys.files import json_text
from odesys.jit.code_store import cache_folder, own_bytes, write_own
from odesys.papers.workers import process_pool
from odesys.terminal import Progress, paced, silent

HEARTBEAT = 5.0  # seconds
MISSING = object()
ABANDONED = 30 * 86400.0  # seconds since the last cell of a task was kept


def run_cells(
    function: Callable[[Any], Any],
    cells: Sequence[Any],
    progress: Progress = silent,
    workers: int = 1,
    store: Path | None = None,
    label: str = "runs",
) -> list[Any]:
    """The results of `function` for all cells.

    Parameters
    ----------
    function : Callable[[Any], Any]
        A function of one cell that another process can be given (at the top level of a module, or a partial of such a
        one); gives numbers, texts, lists or mappings of them.
    cells : Sequence[Any]
        What the function is called with, one by one.
    progress : Progress, optional
        Told what is done, and the fraction of all; every few seconds while processes work.
    workers : int, optional
        Number of processes; 1 stays in this one.
    store : Path, optional
        A folder in which every finished cell is kept; a later call goes on where this one was interrupted. Results of
        another version of the function's package, or of this one, are not taken for those of this one.
    label : str, optional
        What the cells are, for progress and for the note on an interrupt that says how many are kept.

    Returns
    -------
    list[Any]
        One result per cell, in the order of the cells.

    Examples
    --------
    >>> run_cells(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    if workers < 1:
        raise ParameterError(f"{workers} processes can not run anything; use at least 1")
    files = [None] * len(cells) if store is None else _files(store, function, cells, progress)
    known: dict[int, Any] = {}
    for k, file in enumerate(files):
        found = _stored(file)
        if found is not MISSING:
            known[k] = found
    left = [k for k in range(len(cells)) if k not in known]

    def keep(k: int, value: Any) -> None:
        file = files[k]
        if file is not None:
            with suppress(OutputError):  # a full disk costs only the time to compute it again
                write_own(file, json_text({"key": file.stem, "value": value}).encode())
        kept = _stored(file)
        known[k] = value if kept is MISSING else kept  # of the same types as after an interruption
        progress(label, len(known) / len(cells))

    try:
        if min(workers, len(left)) > 1:
            with process_pool(min(workers, len(left)), multiprocessing.get_start_method()) as pool:
                futures = {pool.submit(function, cells[k]): k for k in left}
                waiting = set(futures)
                while waiting:
                    done, waiting = wait(waiting, HEARTBEAT, FIRST_COMPLETED)
                    for future in done:
                        keep(futures[future], future.result())
                    if not done:
                        progress(label, len(known) / len(cells))
        else:
            for k in left:
                keep(k, function(cells[k]))
    except KeyboardInterrupt as interrupt:
        kept = sum(file is not None and file.is_file() for file in files)
        if kept:
            interrupt.add_note(f"{kept} of {len(cells)} {label} are kept; the same command goes on")
        raise
    return [known[k] for k in range(len(cells))]


def task_name(kind: str, function: Callable[..., Any]) -> str | None:
    """A name for what a function with its fixed arguments is used for; None if a key can not tell it from others.

    That is a local function, whose captured values have no name.

    >>> task_name("compare", lambda width, seed: 0.0) is None
    True
    """
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    local = "<" in getattr(inner, "__qualname__", "<")
    return None if local else f"{kind} {inner.__module__} {_key(function)(())}"


@contextmanager
def unfinished_cells(name: str | None, keep: bool = False) -> Iterator[Path | None]:
    """A folder for the finished cells of a task: it outlives an interruption, and is removed when the task is done.

    With `keep` it stays for a month, so that a long task is done at once when it is asked for again.

    It is below the folder of `odesys.jit.code_store`; None where nothing can be written there, or without a name.

    Parameters
    ----------
    name : str | None
        Of the task; None for a task that keeps nothing.
    keep : bool, optional
        Whether the folder stays when the task is done.

    Returns
    -------
    Iterator[Path | None]
        The folder, for use in a ``with`` statement.

    Examples
    --------
    >>> with unfinished_cells(None) as store:  # a name in place of None gives a folder
    ...     run_cells(abs, [-1, 2], store=store)
    [1, 2]
    """
    folder = None if name is None else cache_folder("unfinished", name)
    if folder is None:
        yield None
        return
    _forget_abandoned(folder.parent)
    yield folder
    if not keep:
        shutil.rmtree(folder, ignore_errors=True)


def _forget_abandoned(folder: Path) -> None:
    """Remove tasks that nobody went on with for a month, and what was kept of others."""
    for task in folder.iterdir():
        with suppress(OSError):
            if time.time() - task.stat().st_mtime > ABANDONED:
                shutil.rmtree(task, ignore_errors=True)


def _files(store: Path, function: Callable[[Any], Any], cells: Sequence[Any], progress: Progress) -> list[Path | None]:
    """Where results of cells, of which there may be millions, are kept."""
    key, told, files = _key(function), paced(progress), list[Path | None]()
    for cell in cells:
        files.append(store / f"{key(cell)}.json")
        told("looking for results that are kept", 0.0)
    return files


def _key(function: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Names by the function, the source of its package and of these, and every number of a cell."""
    ours, named = [_digest(str(Path(file).parent)) for file in (__file__, odesys.__file__)], _text(function)

    def key(cell: Any) -> str:
        return hashlib.blake2b(repr((named, _text(cell), ours)).encode(), digest_size=12).hexdigest()

    return key


def _text(value: Any) -> str:
    """A text that determines a value: a function by its name and source, an array by all of its numbers."""
    if isinstance(value, partial):
        return repr((_text(value.func), _text(value.args), _text(value.keywords)))
    if isinstance(value, Mapping):
        return repr(sorted((_text(key), _text(item)) for key, item in value.items()))
    if isinstance(value, (tuple, list)):
        return repr((type(value).__name__, [_text(item) for item in value]))
    if isinstance(value, np.ndarray):
        return repr((value.dtype.str, value.shape, hashlib.blake2b(value.tobytes()).hexdigest()))
    if inspect.isroutine(value):
        file = getattr(inspect.getmodule(value), "__file__", None)
        return repr((value.__module__, value.__qualname__, _digest(str(Path(file).parent)) if file else ""))
    return repr(value)


@cache
def _digest(folder: str) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for file in sorted(Path(folder).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _stored(file: Path | None) -> Any:
    if file is None:
        return MISSING
    try:
        found = json.loads(own_bytes(file) or b"")
    except ValueError:
        return MISSING
    if not isinstance(found, dict) or "value" not in found or found.get("key") != file.stem:
        return MISSING
    return _restored(found["value"], "value", found.get("not_finite", {}))


def _restored(value: Any, where: str, not_finite: dict[str, str]) -> Any:
    """A value as it was before it was written: infinities and numbers that are none stand beside it, by place."""
    if isinstance(value, list):
        return [_restored(item, f"{where}.{k}", not_finite) for k, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _restored(item, f"{where}.{key}", not_finite) for key, item in value.items()}
    return float(not_finite[where]) if value is None and where in not_finite else value


__all__ = ["run_cells", "task_name", "unfinished_cells"]
