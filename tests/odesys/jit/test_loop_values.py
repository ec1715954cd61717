"""Expressions in the language of loops: library functions, division, comparisons, as in Python."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odesys.jit import llvm, loops
from odesys.jit.loops import Array, Code, LoopError, call
from tests.machine_and_python import EXAMPLES, both, check, numbers

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")

TABLE = np.array([[1.0, -2.5], [0.125, 1e300]])


def functions(a: float, b: float, k: int) -> float:
    """Library functions, tables and constants, conversions."""
    root = math.sqrt(abs(a)) + TABLE_PARTS[k] * float(k) + int(b)
    return root + math.nextafter(a, math.inf) - a + min(a, b, 3) - max(b, -a) + abs(b) ** 0.3


TABLE_PARTS = TABLE.ravel()


@EXAMPLES
@given(numbers, numbers, st.integers(0, 3))
def test_library(a: float, b: float, k: int) -> None:
    (result, _), (found, _) = both(functions, a, b, k)
    assert found == pytest.approx(result, rel=1e-14)


def floors(a: int) -> int:
    """Division of negative numbers rounds down."""
    return 1000 * (a // 7) + a % 7


def unequal(a: float, b: float) -> int:
    """Nothing is equal to what is not a number."""
    return (1 if a != b else 0) + (2 if a == b else 0) + (4 if a < b else 0) + (8 if not a >= b else 0)


@EXAMPLES
@given(st.integers(-(10**6), 10**6))
def test_division_rounds_down(a: int) -> None:
    check(floors, a)


@EXAMPLES
@given(st.sampled_from([0.0, -0.0, 1.5, math.inf, -math.inf, math.nan]), st.sampled_from([0.0, 1.5, math.nan]))
def test_comparisons(a: float, b: float) -> None:
    check(unequal, a, b)


def doubled(a: float) -> float:
    return 2.0 * a


def calls_another(a: float) -> float:
    return doubled(a) + math.sqrt(a)


def calls_no_other(a: float) -> float:
    return math.sqrt(a) + max(a, 1.0)


def test_a_function_that_calls_another_is_compiled_as_it_stands() -> None:
    for function, alone in ((calls_another, True), (calls_no_other, False), (doubled, False)):
        (head,) = (
            line
            for line in loops.assembly([function]).splitlines()
            if line.startswith("define") and "internal" not in line
        )
        assert ("optnone" in head) is alone


def test_code_is_called_with_all_that_it_takes() -> None:
    def short(code: Code, x: Array) -> None:
        call(code, 0.0, x)  # type: ignore[call-arg]

    def named(a: float) -> float:
        return math.sqrt(x=a)  # type: ignore[call-arg]

    for function in (short, named):
        with pytest.raises(LoopError):
            loops.assembly([function])
