"""Measured values on disk, under a hash of all they depend on: what was measured once is read the next time.

The key is made of the sources of the engine (but for its pages and commands, which only show results), of `numerics`
and of the paper, the modules from elsewhere that the paper imports, the libraries these use, the observable with all it
has captured, the laboratory's mutation and draw, the points and the seeds. An observable that captures something other
than plain data, changes it, is from elsewhere, or loads a module from elsewhere while it runs is measured each time.
The parts of the laboratory that were read are kept with the values. Files are JSON, in ``measurements`` in the folder
of compiled code; a broken or foreign one is measured again.
``ODESYS_MEASUREMENTS=anew`` measures everything again and keeps nothing.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from fractions import Fraction
from functools import cache
from operator import attrgetter
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import OutputError
from ..files import json_text
from ..jit.code_store import cache_folder, own_bytes, write_own
from .laboratory import BaseLaboratory, Part
from .libraries import libraries
from .sources import digest, from_elsewhere

SHOWING = ("report", "cli")  # rooms of the engine that change no result
MOST_FILES, STARTED = 4096, time.time()  # where there are more files, the oldest quarter goes
TROUBLE = (
    OSError,
    OutputError,
    ValueError,
    SyntaxError,
    KeyError,
    TypeError,
    AttributeError,
    RecursionError,
)  # costs time


def kept(observable: Callable[..., Any], given: Any, compute: Callable[[], Any]) -> np.ndarray:
    """The table `compute()` of values of an observable at what is given (points, seeds), read if it was kept."""
    folder = own_folder("measurements")
    if folder is None:
        return np.asarray(compute(), dtype=float)
    labs: dict[int, BaseLaboratory] = {}
    files: set[str] = set()
    try:
        name = _name((observable, given), labs, files)
        (lab,) = labs.values()  # ValueError where there is none, or several
        roots = _roots(lab)
        others, program = from_elsewhere(roots), program_hash(roots)
    except (OSError, ValueError, KeyError, AttributeError, RecursionError):  # no name, or a paper that is in no module
        roots = ()
    if not roots or not all(any(Path(file).is_relative_to(root) for root in roots) for file in files):
        return np.asarray(compute(), dtype=float)
    key = _hash(program, name)
    path = folder / f"{key}.json"
    found = _read(path, key, lab)
    if found is not None:
        return found
    before, lab.reads = lab.reads, set()
    try:
        table, reads = np.asarray(compute(), dtype=float), set(lab.reads)
    finally:
        lab.reads |= before
    with suppress(*TROUBLE):
        same = _name((observable, given), {}, set()) == name and is_as_loaded(roots) and from_elsewhere(roots) == others
        if same and np.isfinite(table).all():
            _write(path, key, lab, table, reads)
    return table


def kept_file(what: str, paper: Path, name: str) -> Path | None:
    """Where something about a paper is kept until a source changes; `paper` is the folder of its sources."""
    folder, engine = own_folder(what), Path(__file__).parents[1]
    with suppress(*TROUBLE):
        return folder and folder / f"{_hash(program_hash((engine, engine.with_name('numerics'), paper)), name)}.json"
    return None


def own_folder(what: str) -> Path | None:
    """Where something is kept that only this user can write; None where nothing is to be kept."""
    return None if os.environ.get("ODESYS_MEASUREMENTS") == "anew" else cache_folder(what)


def read_own(path: Path) -> Any:
    """What is in a kept file; a ValueError if another user could have written it, or it belongs to another name."""
    data = own_bytes(path)
    found = None if data is None else json.loads(data)
    if not isinstance(found, dict) or found.get("key") != path.stem:
        raise ValueError(f"{path} is not what was kept there")
    return found["kept"]


def keep_own(path: Path, value: Any) -> None:
    """Keep a value for `read_own`, for this user alone."""
    write_own(path, json_text({"key": path.stem, "kept": value}).encode())


def _read(path: Path, key: str, lab: BaseLaboratory) -> np.ndarray | None:
    with suppress(*TROUBLE):
        data = read_own(path)
        if data["hash"] == _hash(key, json.dumps([data["values"], data["reads"]])):
            lab.reads |= _parts(lab, data["reads"])
            return np.asarray(data["values"], dtype=float)
    return None


def _write(path: Path, key: str, lab: BaseLaboratory, table: np.ndarray, reads: set[Part]) -> None:
    parts = sorted([part.method.__name__, repr(part.arguments)] for part in reads)
    check = _hash(key, json.dumps([table.tolist(), parts]))
    if _parts(lab, parts) == reads:
        keep_own(path, {"hash": check, "values": table.tolist(), "reads": parts})
        if len(os.listdir(path.parent)) > MOST_FILES:
            files = sorted(path.parent.glob("*.json"), key=lambda file: file.stat().st_mtime)
            for old in files[: MOST_FILES // 4]:
                old.unlink(missing_ok=True)


def _hash(*texts: str) -> str:
    return hashlib.sha256(" ".join(texts).encode()).hexdigest()


def _parts(lab: BaseLaboratory, found: list[list[str]]) -> set[Part]:
    return {Part(getattr(type(lab), name), ast.literal_eval(arguments)) for name, arguments in found}


def _roots(lab: BaseLaboratory) -> tuple[Path, ...]:
    """Folders of the engine, of `numerics` beside it, and of the paper of a laboratory."""
    engine = Path(__file__).parents[1]
    return engine, engine.with_name("numerics"), Path(str(sys.modules[type(lab).__module__].__file__)).parent


@cache
def source_files(roots: tuple[Path, ...]) -> tuple[Path, ...]:
    """All files of the roots that a result may depend on, as they were when first asked for."""
    return tuple(file for root in roots for file in _files_of(root))


def _files_of(root: Path) -> Iterator[Path]:
    left_out = ("__pycache__", *(SHOWING if root == Path(__file__).parents[1] else ()))
    for file in sorted(root.rglob("*")):
        if file.is_file() and not any(part in left_out for part in file.relative_to(root).parts[:-1]):
            yield file


@cache
def source_hash(roots: tuple[Path, ...]) -> str:
    """A hash of all files of the roots, with the interpreter and the libraries they use."""
    files = source_files(roots)  # under names that are the same in every clone
    named = [(file.relative_to(root.parent), file) for root in roots for file in files if file.is_relative_to(root)]
    contents = [f"{name.as_posix()} {hashlib.sha256(file.read_bytes()).hexdigest()}" for name, file in named]
    engine = Path(__file__).parents[1]
    own = [file for file in files if not file.is_relative_to(engine)]  # the engine's own are what it requires
    used = libraries(file for file in own if not file.is_relative_to(engine.with_name("numerics")))
    return _hash(sys.version, platform.machine(), *used, *contents)


def program_hash(roots: tuple[Path, ...]) -> str:
    """A hash of all files of the roots, and of the modules from elsewhere these import or that were loaded until now.

    Libraries that only a module from elsewhere uses count as well.
    """
    others = from_elsewhere(roots)
    return _hash(source_hash(roots), digest(others), *libraries(others.values())) if others else source_hash(roots)


def is_as_loaded(roots: tuple[Path, ...]) -> bool:
    """False if a file that `program_hash` is made of is newer than this process."""
    files = (*source_files(roots), *from_elsewhere(roots).values())
    return max(file.stat().st_mtime for file in files) < STARTED


def _name(value: Any, labs: dict[int, BaseLaboratory], files: set[str]) -> str:
    """A text that tells this value from others; laboratories and files of code that are met are collected."""
    match value:
        case None | bool() | int() | float() | str() | Fraction() | np.generic():
            return f"{type(value).__name__} {value!r}"
        case np.ndarray() if not value.dtype.hasobject:
            return f"array {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
        case BuiltinFunctionType() if isinstance(value.__self__, ModuleType):
            return f"built in {value.__module__} {value.__name__}"
        case tuple() | list():
            inner: Any = value
        case Mapping():
            inner = list(value.items())
        case BaseLaboratory():
            labs[id(value)] = value
            known = ("mutation", "draw_given", "drawn", "reads")
            more = {name: held for name, held in vars(value).items() if name not in known}
            inner = [
                type(value).__module__,
                type(value).__qualname__,
                value.mutation.name,
                repr(value.draw),  # asked for, since kept values belong to one draw
                more,
            ]
        case FunctionType():
            inner = _of_function(value, files)
        case _:
            raise ValueError(f"the content of a {type(value).__name__} does not name it")
    return f"{type(value).__name__}({', '.join(_name(item, labs, files) for item in inner)})"


def _of_function(function: FunctionType, files: set[str]) -> list[Any]:
    """Where a function stands in the source, and what it has captured unless its name says all about it."""
    named = [function.__module__, function.__qualname__]
    with suppress(AttributeError, KeyError):
        module = sys.modules[function.__module__]
        if attrgetter(function.__qualname__)(module) is function:
            files.add(str(module.__file__))
            return named
    files.add(function.__code__.co_filename)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    places = list(function.__code__.co_positions())
    if all(column is None for _, _, column, _ in places):
        raise ValueError("two functions of one line can not be told apart")
    return [*named, places, cells, function.__defaults__, function.__kwdefaults__]
