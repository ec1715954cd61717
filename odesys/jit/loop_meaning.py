"""What functions in the language of `odesys.jit.loops` depend on, as a short text: the name of their machine code.

It is read off what was imported, which takes a millisecond where writing the assembly takes fifty: the instructions of
each function and of those it calls, the constants and tables they name, the fields of records, and the files of this
folder that write the assembly.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from .loop_kinds import Record, places

WRITERS = ("llvm.py", "loop_body.py", "loop_kinds.py", "loop_values.py", "loop_meaning.py")


def meaning(functions: Sequence[Callable[..., Any]]) -> str:
    """A hash of all that the assembly of these functions depends on."""
    found, seen = hashlib.sha256(_of_writers().encode()), dict[Any, int]()
    for function in functions:
        for part in _parts(function, seen):
            found.update(part)
    return f"loops {found.hexdigest()}"


@cache
def _of_writers() -> str:
    folder = Path(__file__).parent
    texts = b"".join((folder / name).read_bytes() for name in WRITERS)
    return f"{sys.version} {np.__version__} {hashlib.sha256(texts).hexdigest()}"


def _parts(value: Any, seen: dict[Any, int], names: tuple[str, ...] = ()) -> Iterator[bytes]:
    """What a function, and all it names, is made of; each once, by its number from then on.

    names : those of a function that names a class or a module, whose constants and functions they may be.
    """
    if not inspect.isfunction(value):
        yield _plain(value)
        if isinstance(value, type | ModuleType) and (value, names) not in seen:
            seen[value, names] = len(seen)
            for name in names:
                if hasattr(value, name):
                    yield name.encode()
                    yield from _parts(getattr(value, name), seen, names)
        return
    if value in seen:
        yield f"function {seen[value]}".encode()
        return
    seen[value] = len(seen)
    code = value.__code__
    said = (value.__name__, code.co_varnames, code.co_names, code.co_consts, sorted(value.__annotations__.items()))
    yield repr((said, code.co_argcount)).encode() + code.co_code
    kinds = {str(name).split(".")[-1] for name in value.__annotations__.values()}
    for name in (*code.co_names, *sorted(kinds)):
        yield name.encode()
        if name in value.__globals__:
            yield from _parts(value.__globals__[name], seen, code.co_names)


def _plain(value: Any) -> bytes:
    if isinstance(value, np.ndarray):
        return f"{value.dtype} {value.shape}".encode() + value.tobytes()
    if isinstance(value, type) and issubclass(value, Record):
        return repr([(name, place.kind, place.record) for name, place in places(value).items()]).encode()
    return repr(value).encode() if isinstance(value, (int, float, str, tuple)) else type(value).__name__.encode()
