"""Loops as machine code: functions of numbers and arrays, in a small part of Python, written as LLVM assembly.

A function says the kinds of its arguments and of its result by annotations: `int`, `float`, `Array` (of floats; K[k:]
is its part from k on), `Code` (machine code of (t, x, p, g, out), called by `call`) and kinds of `Record` (named fields
of these kinds, which are read and set). It may use assignments, if,
while, for over range, break, continue, return of one number, arithmetic, comparisons, and, or, not, abs, min, max,
int, float, `math.exp` (infinite where Python's raises), `math.sqrt`, `math.nextafter`, constants and tables of floats
of its module, and other such functions.
A variable is set before it is read and keeps the kind of its first value; and, or, not are for truth values; whole
numbers have 64 bits and are divided by constants only; nothing looks at the ends of an array. The same text runs as
Python, with the same digits up to those of `**`. A function that calls no other is compiled to be quick, one that does
is quickly compiled.

Numba would take all of Python, and seconds for what takes a tenth of one here; the kernel of an integrator has to be
paid back within a few runs.
"""

from __future__ import annotations

import ctypes
import hashlib
import linecache
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import llvm
from .loop_body import assembly
from .loop_kinds import (
    DOUBLE,
    INTEGER,
    NOTHING,
    POINTER,
    TRUTH,
    Array,
    Code,
    LoopError,
    Record,
    call,
    places,
    signature,
)
from .loop_meaning import meaning

__all__ = [
    "Array",
    "Code",
    "LoopError",
    "Record",
    "assembly",
    "call",
    "compiled_loops",
    "prepared",
    "put",
    "ready",
    "settled",
    "written",
]

C_KINDS: dict[str, Any] = {DOUBLE: ctypes.c_double, INTEGER: ctypes.c_int64, POINTER: ctypes.c_void_p, NOTHING: None}


def ready(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """The functions as machine code, to be called with numbers, arrays and addresses of code; else as they are."""
    if not llvm.available():
        return functions
    names = [function.__name__ for function in functions]
    code = llvm.compiled_as(meaning(functions), names, lambda: assembly(functions), llvm.LOOPS)
    return tuple(_caller(code.address(function.__name__), *signature(function)) for function in functions)


def compiled_loops(*parts: str | Callable[..., Any]) -> dict[str, Callable[..., Any]] | None:
    """Functions in the language of `odesys.jit.loops` as machine code, or nothing where there is none.

    Parameters
    ----------
    *parts : str | Callable[..., Any]
        Functions of a module, or texts of functions, which may be written around expressions that were derived.

    Returns
    -------
    dict[str, Callable[..., Any]] | None
        The compiled functions by name; None if no machine code can be made here.

    Examples
    --------
    >>> import numpy as np
    >>> from odesys import compiled_loops
    >>> text = "def total(n: int, x: Array) -> float:\\n    a = 0.0\\n    for i in range(n):\\n        a += x[i]\\n"
    >>> made = compiled_loops(text + "    return a\\n")
    >>> made is None or made["total"](3, np.array([1.0, 2.0, 4.0])) == 7.0
    True
    """
    if not llvm.available():
        return None
    found: dict[str, Callable[..., Any]] = {}
    for part in parts:
        found |= written(part) if isinstance(part, str) else {part.__name__: part}
    return dict(zip(found, ready(*found.values()), strict=True))


def written(text: str) -> dict[str, Callable[..., Any]]:
    """The functions of a text in this language, by name: for loops around expressions that were derived."""
    place = f"<loops {hashlib.sha256(text.encode()).hexdigest()[:16]}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)  # where `inspect` finds it
    names: dict[str, Any] = {"Array": Array, "Code": Code, "call": call, "math": math}
    exec(compile(text, place, "exec"), names)
    return {name: value for name, value in names.items() if getattr(value, "__code__", None) and value is not call}


def _caller(address: llvm.Address, kinds: Sequence[str], result: str) -> Callable[..., Any]:
    if TRUTH in (*kinds, result):
        raise LoopError("a function that is called from Python takes and gives int and float, not bool")
    function = ctypes.CFUNCTYPE(C_KINDS[result], *(C_KINDS[kind] for kind in kinds))(address)
    function.address = address  # type: ignore[attr-defined]  # keeps the code in its place

    def run(*given: Any) -> Any:
        if len(given) != len(kinds):
            raise LoopError(f"{len(given)} arguments were given, {len(kinds)} are needed")
        plain, shared = [], []
        for value in given:
            if isinstance(value, Record):
                shared.append(Shared(value))
                plain.append(shared[-1].address)
            else:
                plain.append(_plain(value))
        result = function(*plain)
        for record in shared:
            record.read_back()
        return result

    run.code = function  # type: ignore[attr-defined]
    return run


def prepared(function: Callable[..., Any], *given: Any) -> Callable[[], Any]:
    """A call that is made again and again, with the numbers that are in `given` by then: records that are settled,
    arrays, and numbers, which stay.
    """
    if not llvm.available():
        return lambda: function(*given)
    code, plain = function.code, [_plain(value) for value in given]  # type: ignore[attr-defined]

    def run() -> Any:
        assert given  # stays where it is
        return code(*plain)

    return run


def settled(record: Record) -> Record | Shared:
    """A record at a place where machine code finds it in many calls, which do not read its numbers back."""
    return Shared(record) if llvm.available() else record


def put(record: Record | Shared, **values: Any) -> None:
    """Set fields of a record, wherever it is."""
    if isinstance(record, Shared):
        own, memory = record.record, record.memory
        for name, value in values.items():
            setattr(own, name, value)
            setattr(memory, name, _plain(value))
    else:
        for name, value in values.items():
            setattr(record, name, value)


class Shared:
    """A record as machine code sees it, with those inside of it; its numbers are read back after a call."""

    def __init__(self, record: Record) -> None:
        self.record = record
        self.inside = {name: Shared(getattr(record, name)) for name, p in places(type(record)).items() if p.record}
        values = (self.inside.get(name, getattr(record, name)) for name in places(type(record)))
        kind: Any = type(record)
        self.memory = _structure(kind)(*map(_plain, values))
        self.address = ctypes.addressof(self.memory)

    def read_back(self) -> None:
        for name, place in places(type(self.record)).items():
            if place.kind in (DOUBLE, INTEGER):
                setattr(self.record, name, getattr(self.memory, name))
        for part in self.inside.values():
            part.read_back()


_STRUCTURES: dict[Any, type[ctypes.Structure]] = {}


def _structure(record: type[Record]) -> type[ctypes.Structure]:
    if record not in _STRUCTURES:
        fields = [(name, C_KINDS[place.kind]) for name, place in places(record).items()]
        _STRUCTURES[record] = type(record.__name__, (ctypes.Structure,), {"_fields_": fields})
    return _STRUCTURES[record]


def _plain(value: Any) -> Any:
    if type(value) is np.ndarray:
        return _place(value)
    return value.address if type(value) is Shared else value


def _place(array: np.ndarray) -> int:
    if array.dtype != np.float64 or not array.flags.c_contiguous:
        raise LoopError(f"an array of {array.dtype} was given; machine code takes floats without gaps")
    return llvm.address_of(array)
