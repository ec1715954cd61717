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
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

from odesys.code_store import cache_folder
from odesys.errors import ParameterError
from odesys.output import write_json
from odesys.paper import Progress, silent

MISSING = object()


def run_cells(function: Callable[[Any], Any], cells: Sequence[Any], progress: Progress = silent, workers: int = 1,
              store: Path | None = None, label: str = "runs") -> list[Any]:
    """The results of `function` for all cells.

    Parameters
    ----------
    function : a function of one cell that another process can be given (at the top level of a module, or a partial of
        such a one); gives numbers, texts, lists or mappings of them.
    workers : number of processes; 1 stays in this one.
    store : a folder in which every finished cell is kept; a later call goes on where this one was interrupted. Results
        of another version of the function's package are not taken for those of this one.

    >>> run_cells(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    if workers < 1:
        raise ParameterError(f"{workers} processes can not run anything; use at least 1")
    files = [None if store is None else store / f"{_key(function, cell)}.json" for cell in cells]
    known: dict[int, Any] = {}
    for k, file in enumerate(files):
        found = _stored(file)
        if found is not MISSING:
            known[k] = found
    left = [k for k in range(len(cells)) if k not in known]

    def keep(k: int, value: Any) -> None:
        known[k] = value
        if files[k] is not None:
            write_json(files[k], {"value": value})  # type: ignore[arg-type]
        progress(label, len(known) / len(cells))

    if min(workers, len(left)) > 1:
        context = multiprocessing.get_context("fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn")
        with ProcessPoolExecutor(min(workers, len(left)), mp_context=context) as pool:
            futures = {pool.submit(function, cells[k]): k for k in left}
            try:
                for future in as_completed(futures):
                    keep(futures[future], future.result())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
    else:
        for k in left:
            keep(k, function(cells[k]))
    return [known[k] for k in range(len(cells))]


@contextmanager
def unfinished(name: str) -> Iterator[Path | None]:
    """A folder for the finished cells of a task: it outlives an interruption, and is removed when the task is done.

    It is below the folder of `odesys.code_store`; None where nothing can be written there.
    """
    base = cache_folder()
    folder = Path() if base is None else base / "unfinished" / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        base = None
    if base is None:
        yield None
        return
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


def _key(function: Callable[[Any], Any], cell: Any) -> str:
    """A name that depends on the function, the source of its package and every number of the cell."""
    inner, fixed = function, []
    while isinstance(inner, partial):
        fixed.append((inner.args, sorted(inner.keywords.items())))
        inner = inner.func
    name = (getattr(inner, "__module__", ""), getattr(inner, "__qualname__", repr(inner)))
    text = repr((name, fixed, cell, _source(inner)))
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()


def _source(function: Callable[..., Any]) -> str:
    """A digest of the Python files beside the one that defines a function."""
    module = inspect.getmodule(function)
    file = getattr(module, "__file__", None)
    return _digest(str(Path(file).parent)) if file else ""


@cache
def _digest(folder: str) -> str:
    digest = hashlib.blake2b(digest_size=12)
    for file in sorted(Path(folder).glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _stored(file: Path | None) -> Any:
    if file is None or not file.is_file():
        return MISSING
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except ValueError:
        return MISSING
    if not isinstance(found, dict) or "value" not in found:
        return MISSING
    return _restored(found["value"], "value", found.get("not_finite", {}))


def _restored(value: Any, where: str, not_finite: dict[str, str]) -> Any:
    """A value as it was before it was written: infinities and numbers that are none stand beside it, by place."""
    if isinstance(value, list):
        return [_restored(item, f"{where}.{k}", not_finite) for k, item in enumerate(value)]
    if isinstance(value, dict):
        return {key: _restored(item, f"{where}.{key}", not_finite) for key, item in value.items()}
    return float(not_finite[where]) if value is None and where in not_finite else value


__all__ = ["run_cells", "unfinished"]
