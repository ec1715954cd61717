"""The name of machine code says all that it depends on, and is the same in every process."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

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
