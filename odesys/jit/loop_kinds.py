"""The language of `odesys.jit.loops`: kinds of values, code that is called, and refusals."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import OdesysError

Array = np.ndarray
DOUBLE, INTEGER, TRUTH, POINTER, NOTHING = "double", "i64", "i1", "ptr", "void"


class Code(Protocol):
    """A field or the values of surfaces and events; in machine code its address."""

    def __call__(self, t: float, x: Any, p: Any, g: Any, out: Any) -> None: ...


class Record:
    """Numbers, arrays and code under names, which functions share: a dataclass with fields annotated like arguments."""


class LoopError(OdesysError):
    """A function uses more of Python than has machine code here."""


def call(code: Code, t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """Run code of (t, x, p, g, out)."""
    code(t, x, p, g, out)


KINDS = {int: INTEGER, float: DOUBLE, bool: TRUTH, Array: POINTER, Code: POINTER, type(None): NOTHING}


@cache
def signature(function: Callable[..., Any]) -> tuple[tuple[str, ...], str]:
    """Kinds of the arguments and of the result."""
    hints = typing.get_type_hints(function)
    result = hints.pop("return", type(None))
    try:
        return tuple(_kind(hints[name]) for name in inspect.signature(function).parameters), KINDS[result]
    except KeyError as missing:
        raise LoopError(
            f"{function.__name__}: {missing} has no kind; annotate arguments and result with int, float, Array or Code"
        ) from None


def _kind(hint: Any) -> str:
    return POINTER if is_record(hint) else KINDS[hint]


def is_record(hint: Any) -> bool:
    """True for a kind of records."""
    return isinstance(hint, type) and issubclass(hint, Record)


class Place(NamedTuple):
    """A field of a record: its number, its kind, and the kind of record it is if it is one."""

    number: int
    kind: str
    record: type[Record] | None


def places(record: type[Record]) -> dict[str, Place]:
    """The fields of a kind of records by name; each takes eight bytes."""
    key: Any = record  # for mypy a class is not hashable
    return _places(key)


@cache
def _places(record: Any) -> dict[str, Place]:
    hints = typing.get_type_hints(record)
    try:
        return {
            name: Place(k, _kind(hint), hint if is_record(hint) else None)
            for k, (name, hint) in enumerate(hints.items())
        }
    except KeyError as missing:
        raise LoopError(
            f"{record.__name__}: {missing} has no kind; fields are int, float, Array, Code or records"
        ) from None


class LoopValue(NamedTuple):
    """A register or constant and its kind."""

    text: str
    kind: str
