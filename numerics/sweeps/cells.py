"""Many independent runs: spread over processes, kept as they finish, and resumed after an interruption.

A cell is the argument of one run. It can be kept if it is a number, a text, an array, or made of such ones (tuples,
lists, mappings, dataclasses). The results come in the order of the cells, so they do not depend on the number of
processes.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import multiprocessing
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import contextmanager, suppress
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path, PurePath
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType, NoneType
from typing import Any

import numpy as np

from odesys.errors import OdesysError, OutputError, ParameterError
from odesys.expr.field import ScalarField
from odesys.expr.system import System
from odesys.files import json_text
from odesys.jit.code_store import cache_folder, own_bytes, write_own
from odesys.papers.kept_runs import STARTED
from odesys.papers.registry import SOURCE_PACKAGE
from odesys.papers.sources import OWN, digest, files_below, from_elsewhere, own_digest, package_of
from odesys.papers.workers import process_pool
from odesys.terminal import Progress, paced, silent

HEARTBEAT = 5.0  # seconds
MISSING = object()
PLAIN = (NoneType, bool, int, float, complex, str, bytes, Fraction)  # their repr says all
HOLDERS = (*PLAIN[1:], tuple, list, dict, set, frozenset, np.ndarray)  # there is more in one than its fields
UNNAMED = (ValueError, TypeError, AttributeError, KeyError, RecursionError, OSError, OdesysError)
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
        another version of the function's package, of what it imports, or of odesys are not taken for those of this one.
        Nothing is kept of a function without a source file, as in a notebook, and of arguments that have no exact text.
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

    That is a function that is not at the top of a module with a source file, or one with an argument that is more than
    plain data, arrays, dataclasses of these, systems and functions.

    >>> task_name("compare", lambda width, seed: 0.0) is None
    True
    """
    inner = function
    while isinstance(inner, partial):
        inner = inner.func
    try:
        return f"{kind} {inner.__module__} {_key(function)(())}"
    except UNNAMED:
        return None


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
    """Where results of cells, of which there may be millions, are kept; None for one that has no name."""
    told, files = paced(progress), list[Path | None]()
    try:
        key = _key(function)
    except UNNAMED:
        return [None] * len(cells)
    for cell in cells:
        try:
            files.append(store / f"{key(cell)}.json")
        except UNNAMED:
            files.append(None)
        told("looking for results that are kept", 0.0)
    return files


def _key(function: Callable[[Any], Any]) -> Callable[[Any], str]:
    """Names by the function, all files it is made of, those of odesys and `numerics`, and every number of a cell."""
    sources: dict[str, str] = {}
    if not _is_old(file for root in OWN for file in files_below(root)):
        raise ValueError("odesys was changed while it runs")
    named = own_digest(), _text(function, sources)

    def key(cell: Any) -> str:
        return hashlib.blake2b(repr((named, _text(cell, sources))).encode(), digest_size=12).hexdigest()

    return key


def _text(value: Any, sources: dict[str, str]) -> str:
    """A text that determines a value, with the hash of the source of its function or class; ValueError without one."""
    inner: Any
    kind = type(value)
    if kind in PLAIN:
        return f"{kind.__name__} {value!r}"
    if kind in (tuple, list):
        inner = [_text(item, sources) for item in value]
    elif kind in (set, frozenset):
        inner = sorted(_text(item, sources) for item in value)
    elif kind in (dict, MappingProxyType):
        inner = sorted((_text(key, sources), _text(item, sources)) for key, item in value.items())
    elif kind is partial:
        inner = [_text(item, sources) for item in (value.func, value.args, value.keywords)]
    elif isinstance(value, np.generic) or kind is np.ndarray:
        if value.dtype.hasobject:
            raise ValueError("an array of objects has no text")
        inner = repr(value.dtype), value.shape, hashlib.blake2b(value.tobytes()).hexdigest()
    elif isinstance(value, Enum):
        inner = _top(kind, sources), value.name
    elif isinstance(value, PurePath):
        inner = str(value)
    elif kind is System and isinstance(value.field, ScalarField) and value.written is None:
        inner = value.to_json(), *(_text(dict(more), sources) for more in (value.structure, value.meanings))
    elif is_dataclass(value) and not isinstance(value, (type, *HOLDERS)):
        inner = _top(kind, sources), [(name, _text(item, sources)) for name, item in _fields(value)]
    elif isinstance(value, tuple) and hasattr(kind, "_fields"):
        inner = _top(kind, sources), [_text(item, sources) for item in value]
    elif isinstance(value, MethodType):
        inner = value.__func__.__qualname__, _text(value.__self__, sources)
    elif isinstance(value, (type, FunctionType, BuiltinFunctionType)) or hasattr(value, "__wrapped__"):
        inner = _top(value, sources)
    else:
        raise ValueError(f"a {kind.__name__} has no text that determines it")
    return repr((kind.__name__, inner))


def _fields(value: Any) -> list[tuple[str, Any]]:
    """The fields of a dataclass, and what else is stored in it; what was derived from these does not count."""
    found = {field.name: getattr(value, field.name) for field in fields(value)}
    more = {name: held for name, held in getattr(value, "__dict__", {}).items() if name not in found}
    derived = {name for name in more if isinstance(inspect.getattr_static(type(value), name, None), cached_property)}
    return sorted({**found, **{name: held for name, held in more.items() if name not in derived}}.items())


def _top(value: Any, sources: dict[str, str]) -> tuple[str, str, str]:
    """Name and source of a function or class; a ValueError if its module has no file, or has another one there."""
    name = value.__module__
    module = sys.modules[name]
    if attrgetter(value.__qualname__)(module) is not value:
        raise ValueError(f"{value.__qualname__} is not at the top of its module")
    if isinstance(value, FunctionType) and not Path(value.__code__.co_filename).is_file():
        raise ValueError(f"{value.__qualname__} has no source file")
    if name not in sources:
        sources[name] = _source(module)
    return name, value.__qualname__, sources[name]


def _source(module: ModuleType) -> str:
    """A hash of what a module is made of: the files of its package, or those beside it, and what these import."""
    file = getattr(module, "__file__", None)
    if file is None:
        if module.__name__ in sys.builtin_module_names:
            return ""
        raise ValueError(f"{module.__name__} has no source file")
    path = Path(file).resolve()
    if any(path.is_relative_to(root) for root in OWN):
        return ""  # counts always
    package = package_of(path.parent)
    if package:  # of papers that stand side by side each is one
        depth = len(package) - (2 if package[0] == SOURCE_PACKAGE and len(package) > 1 else 1)
        root = path.parents[depth]
        found, start = files_below(root), root
    else:
        root = path.parent
        found, start = sorted({path, *root.glob("*.py")}), path
    others = from_elsewhere((start,))
    if not _is_old((*found, *others.values())):
        raise ValueError(f"the source of {module.__name__} was changed while it runs")
    return digest({**others, **{f"beside it {each.relative_to(root).as_posix()}": each for each in found}})


def _is_old(files: Iterable[Path]) -> bool:
    """True if no file is newer than this process, so that what is on disk is what runs."""
    return all(file.stat().st_mtime < STARTED for file in files)


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
