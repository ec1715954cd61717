"""Statements in the language of loops: the same as in Python, or refused with the line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odesys.jit import llvm, loops
from odesys.jit.loops import Array, LoopError
from tests.machine_and_python import EXAMPLES, both, check, vectors

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")
LIMIT, HALF = 7, 0.5


def collatz(start: int) -> int:
    """Whole numbers, while, if, elif, break, continue."""
    steps, k = 0, start
    while True:
        if k == 1:
            break
        elif k % 2 == 0:
            k = k // 2
            steps += 1
            continue
        k, steps = 3 * k + 1, steps + 1
    return steps


def nested(n: int, x: Array) -> float:
    """Loops in loops that are left early, and, or, not, chains, a choice."""
    found = 0.0
    for i in range(n):
        for j in range(i, n):
            if not (x[i] < x[j] and x[j] < 10.0) or i == j:
                continue
            if -1.0 <= x[i] < 1.0:
                found += 1.0
                break
            found += 0.25 if j > LIMIT else -0.5 * (x[j] - x[i]) ** 2
        if found > 100.0:
            return -found
    return found


@EXAMPLES
@given(st.integers(1, 10_000))
def test_whole_numbers(k: int) -> None:
    check(collatz, k)


@EXAMPLES
@given(vectors)
def test_loops_left_early(x: np.ndarray) -> None:
    (result, _), (found, _) = both(nested, len(x), x)
    assert found == pytest.approx(result, rel=1e-12, abs=1e-12)  # a power by NumPy and by the library


def test_more_of_python_is_refused_with_the_line() -> None:
    def listed(n: int) -> float:
        values = [1.0, 2.0]
        return values[n]

    def mixed(n: int) -> float:
        total = 0
        total = total + 0.5
        return total

    def unknown(n: int) -> float:
        return missing(n)  # type: ignore[name-defined,no-any-return]  # noqa: F821

    def bare(n):  # type: ignore[no-untyped-def]
        return n

    def wrong(x: Array) -> float:
        return x[0.5]  # type: ignore[call-overload,no-any-return]

    def truth(n: int) -> bool:
        return n > 0

    for function, words in (
        (listed, "line .*List has no machine code"),
        (mixed, "start it with a float"),
        (unknown, "missing"),
        (bare, "annotate"),
        (wrong, "x\\[0.5\\]"),
        (truth, "not bool"),
    ):
        with pytest.raises(LoopError, match=words):
            loops.ready(function)


def test_tables_of_one_name_are_told_apart() -> None:
    text = loops.assembly([first_of_both])
    (machine,) = loops.ready(first_of_both)
    assert text.count("internal constant") == 2 and machine(0.0) == first_of_both(0.0) == 1.0 + 10 * 3.0


class Left:
    """Holds a table."""

    T = np.array([1.0, 2.0])


class Right:
    """Holds another one."""

    T = np.array([3.0, 4.0])


def first_of_both(a: float) -> float:
    """Two tables that are called T."""
    return a + Left.T[0] + Right.T[0] * 10.0


WEIGHTS = np.array([0.5, 2.0])


def weighted(n: int, x: Array) -> float:
    """An array that is given is written to, entry by entry."""
    for i in range(n):
        x[i] = WEIGHTS[i % 2] * x[i]
        x[i] += 1.0
    return x[0]


@EXAMPLES
@given(vectors)
def test_arrays_that_are_given_are_written_to(x: np.ndarray) -> None:
    check(weighted, len(x), x)


def test_tables_are_not_written_to() -> None:
    def spoiled(a: float) -> float:
        WEIGHTS[0] = a
        return a

    with pytest.raises(LoopError, match="WEIGHTS"):
        loops.ready(spoiled)
