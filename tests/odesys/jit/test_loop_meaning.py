"""The name of machine code says all that it depends on, and is the same in every process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from odesys.jit import llvm, loops
from odesys.jit.loop_meaning import meaning
from odesys.jit.loops import Array, Record

TABLE, FACTOR = np.array([1.0, 2.0]), 3.0


@dataclass(eq=False)
class Pair(Record):
    first: float
    second: float


@dataclass(eq=False)
class Turned(Record):
    second: float
    first: float


def inner(x: float) -> float:
    return FACTOR * x


def other_inner(x: float) -> float:
    return FACTOR + x


def outer(x: float, out: Array) -> float:
    return inner(x) + TABLE[1] * out[0]


def of_pair(pair: Pair) -> float:
    return pair.first


def test_it_is_the_same_each_time_and_in_other_processes() -> None:
    text = "from tests.odesys.jit.test_loop_meaning import *; print(meaning((outer, of_pair)))"
    found = [
        subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout.strip()
        for _ in range(2)
    ]
    assert found == [meaning((outer, of_pair))] * 2


@pytest.mark.parametrize(
    ("name", "value"), [("FACTOR", 4.0), ("TABLE", np.array([1.0, 5.0])), ("inner", other_inner), ("inner", abs)]
)
def test_constants_tables_and_functions_that_are_called_belong_to_it(
    monkeypatch: pytest.MonkeyPatch, name: str, value: object
) -> None:
    before = meaning((outer,))
    monkeypatch.setitem(outer.__globals__, name, value)
    assert meaning((outer,)) != before


def test_the_order_of_fields_belongs_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = meaning((of_pair,))
    monkeypatch.setitem(of_pair.__globals__, "Pair", Turned)
    assert meaning((of_pair,)) != before


@pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
def test_assembly_is_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loops.ready(outer)
    llvm._LINKED.clear()
    llvm._RECENT.clear()
    monkeypatch.setattr(loops, "assembly", lambda functions: pytest.fail("the code is kept"))
    (code,) = loops.ready(outer)
    assert code(2.0, np.array([5.0])) == 16.0


class Held:
    """A table and a number of a class, which is a part of itself."""

    row, size = np.array([1.0, 2.0]), 5
    again: type


Held.again = Held
HOLDER = ModuleType("holder")
HOLDER.size, HOLDER.inner, HOLDER.Held = 2.5, inner, Held  # type: ignore[attr-defined]


def of_a_class(k: int) -> float:
    return Held.row[k] * Held.again.size


def of_a_module(x: float) -> float:
    return HOLDER.inner(x) * HOLDER.size + HOLDER.Held.row[0]


def twice(x: float) -> float:
    return inner(x) + inner(inner(x))


@pytest.mark.parametrize(
    ("function", "holder", "name", "value"),
    [
        (of_a_class, Held, "size", 6),
        (of_a_class, Held, "row", np.array([1.0, 2.5])),
        (of_a_module, HOLDER, "size", 3.5),
        (of_a_module, HOLDER, "inner", other_inner),
        (of_a_module, Held, "row", np.array([4.0, 2.0])),
    ],
)
def test_constants_tables_and_functions_of_a_class_or_a_module_belong_to_it(
    function: Callable[..., float], holder: Any, name: str, value: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their values are in the machine code: kept code with an older one must not be taken."""
    before = meaning((function,))
    monkeypatch.setattr(holder, name, value)
    assert meaning((function,)) != before
    monkeypatch.undo()
    assert meaning((function,)) == before


@pytest.mark.skipif(not llvm.available(), reason="needs llvmlite")
def test_code_with_another_constant_of_a_class_is_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    for size in (5, 7):
        monkeypatch.setattr(Held, "size", size)
        (code,) = loops.ready(of_a_class)
        assert code(1) == 2.0 * size


def test_annotations_belong_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    before = meaning((inner,))
    monkeypatch.setitem(inner.__annotations__, "x", "int")
    assert meaning((inner,)) != before


def test_which_functions_are_asked_for_belongs_to_it_and_each_is_read_once() -> None:
    names = [
        meaning(functions) for functions in ((inner,), (twice,), (inner, twice), (twice, inner), (inner, other_inner))
    ]
    assert len(set(names)) == 5 and all(name.startswith("loops ") and len(name) == 70 for name in names)
