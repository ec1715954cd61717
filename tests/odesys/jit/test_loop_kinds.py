"""Kinds of arguments and results: read from annotations, or refused."""

from dataclasses import dataclass

import numpy as np
import pytest

from odesys.jit.loop_kinds import (
    DOUBLE,
    INTEGER,
    NOTHING,
    POINTER,
    TRUTH,
    Array,
    Code,
    LoopError,
    LoopValue,
    Record,
    call,
    is_record,
    places,
    signature,
)


def everything(n: int, a: float, b: bool, x: Array, code: Code) -> None:
    """One argument of each kind."""


def chosen(n: int) -> bool:
    return n > 0


def worded(text: str) -> int:
    return len(text)


def bare(n) -> int:  # type: ignore[no-untyped-def]
    return int(n)


def test_kinds_are_read_from_annotations() -> None:
    assert signature(everything) == ((INTEGER, DOUBLE, TRUTH, POINTER, POINTER), NOTHING)
    assert signature(chosen) == ((INTEGER,), TRUTH)


@pytest.mark.parametrize(("function", "words"), [(worded, "str.* has no kind"), (bare, "'n' has no kind")])
def test_what_has_no_kind_is_refused_with_the_ones_there_are(function: object, words: str) -> None:
    with pytest.raises(LoopError, match=f"{words}; annotate arguments and result with int, float, Array or Code"):
        signature(function)  # type: ignore[arg-type]


def test_code_is_called_with_its_five_arguments() -> None:
    def doubled(t: float, x: Array, p: Array, g: Array, out: Array) -> None:
        out[:] = 2 * x + p + t

    out = np.zeros(2)
    call(doubled, 1.0, np.array([1.0, 2.0]), np.array([10.0]), np.empty(0), out)
    assert out.tolist() == [13.0, 15.0]


@dataclass(eq=False)
class Inner(Record):
    """A record of two fields."""

    count: int
    size: float


@dataclass(eq=False)
class Outer(Record):
    """A record with one inside."""

    x: Array
    inner: Inner
    code: Code


@dataclass(eq=False)
class Worded(Record):
    """A field without a kind."""

    n: int
    text: str


def of_records(outer: Outer, inner: Inner) -> float:
    return outer.inner.size + inner.size


def test_fields_of_records_are_numbered_in_their_order() -> None:
    assert places(Inner) == {"count": (0, INTEGER, None), "size": (1, DOUBLE, None)}
    assert places(Outer) == {"x": (0, POINTER, None), "inner": (1, POINTER, Inner), "code": (2, POINTER, None)}
    assert signature(of_records) == ((POINTER, POINTER), DOUBLE)
    assert [is_record(hint) for hint in (Inner, Outer, Record, int, Array, "Inner", None)] == [True] * 3 + [False] * 4
    with pytest.raises(LoopError, match=r"Worded: .*str.* has no kind; fields are int, float, Array, Code or records"):
        places(Worded)


def test_kinds_and_values_are_told_apart() -> None:
    assert len({DOUBLE, INTEGER, TRUTH, POINTER, NOTHING}) == 5
    value = LoopValue("%v1", DOUBLE)
    assert (value.text, value.kind) == ("%v1", DOUBLE) == value
