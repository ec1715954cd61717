"""Functions in the language of loops: machine code against the same text run as Python, and what is refused."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from odesys import System
from odesys.jit import llvm, loops, native
from odesys.jit.loops import Array, Code, LoopError, call

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")
TABLE = np.array([[1.0, -2.5], [0.125, 1e300]])
LIMIT, HALF = 7, 0.5
# the first example is compiled, and a busy machine makes them slowly
EXAMPLES = settings(deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
numbers = st.floats(-50, 50)
vectors = arrays(float, st.integers(1, 12), elements=numbers)


def prefix_sums(n: int, x: Array, out: Array) -> float:
    """Assignments, two targets, augmented ones, a part of an array."""
    total = largest = 0.0
    for i in range(n):
        total += x[i]
        out[i] = total
        largest = max(largest, abs(total), HALF)
    rest = out[n - 1 :]
    rest[0] *= 2.0
    return largest / n


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


def functions(a: float, b: float, k: int) -> float:
    """Library functions, tables and constants, conversions."""
    root = math.sqrt(abs(a)) + TABLE_PARTS[k] * float(k) + int(b)
    return root + math.nextafter(a, math.inf) - a + min(a, b, 3) - max(b, -a) + abs(b) ** 0.3


TABLE_PARTS = TABLE.ravel()


def halved(n: int, x: Array) -> int:
    """A function that calls itself and another one."""
    return 0 if n <= 1 else 1 + halved(n // 2, x) + (1 if positive(x[n - 1]) else 0)


def positive(a: float) -> bool:
    """A function that is only called from such functions may give a truth value."""
    return a > 0.0


def both(function: Callable[..., Any], *given: Any) -> list[tuple[Any, list[np.ndarray]]]:
    """Result and arrays after the call, by Python and by machine code."""
    (machine,) = loops.ready(function)
    outcomes = []
    for run in (function, machine):
        copies = [v.copy() if isinstance(v, np.ndarray) else v for v in given]
        outcomes.append((run(*copies), [v for v in copies if isinstance(v, np.ndarray)]))
    return outcomes


def check(function: Callable[..., Any], *given: Any) -> Any:
    (result, old), (found, new) = both(function, *given)
    assert type(found) is (int if isinstance(result, int) else float)
    assert found == result or (math.isnan(found) and math.isnan(result))
    assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(old, new, strict=True))
    return found


@EXAMPLES
@given(vectors)
def test_sums(x: np.ndarray) -> None:
    check(prefix_sums, len(x), x, np.zeros(len(x)))


@EXAMPLES
@given(st.integers(1, 10_000))
def test_whole_numbers(k: int) -> None:
    check(collatz, k)


@EXAMPLES
@given(vectors)
def test_loops_left_early(x: np.ndarray) -> None:
    (result, _), (found, _) = both(nested, len(x), x)
    assert found == pytest.approx(result, rel=1e-12, abs=1e-12)  # a power by NumPy and by the library


@EXAMPLES
@given(numbers, numbers, st.integers(0, 3))
def test_library(a: float, b: float, k: int) -> None:
    (result, _), (found, _) = both(functions, a, b, k)
    assert found == pytest.approx(result, rel=1e-14)


@EXAMPLES
@given(vectors)
def test_functions_call_functions(x: np.ndarray) -> None:
    check(halved, len(x), x)


def test_code_is_called_by_its_address() -> None:
    def twice(code: Code, n: int, x: Array, p: Array, g: Array, out: Array) -> None:
        call(code, 1.0, x, p, g, out)
        call(code, 2.0, out, p, g, x[n:])

    a, b, k = sp.symbols("a b k")
    system = System.from_equations({a: b * k, b: a - b}, parameters=[k])
    address = native.compile_nodes(system, system.nodes, [0, 1], gated=False)
    (machine,) = loops.ready(twice)
    x, p, out = np.array([2.0, 3.0, 0.0, 0.0]), np.array([5.0]), np.zeros(2)
    machine(address, 2, x, p, np.empty(0), out)
    assert out.tolist() == [15.0, -1.0] and x.tolist() == [2.0, 3.0, -5.0, 16.0]


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


def test_what_python_would_do_otherwise_is_refused() -> None:
    scale = 2.0

    def chosen(a: float, b: float) -> float:
        return a or b

    def divided(a: int, b: int) -> int:
        return a // b

    def searched(n: int) -> int:
        for i in range(n):
            if i > 3:
                break
        else:
            return -1
        return 1

    def keyed(a: float, b: float) -> float:
        return min(a, b, key=abs)

    def captured(a: float) -> float:
        return a * scale

    def chained(n: int, x: Array) -> bool:
        return 0 < n < halved(n, x)

    def mixed_truth(n: int) -> int:
        flag = n > 3
        flag = n  # type: ignore[assignment]
        return 1 if flag else 0

    def last(x: Array) -> float:
        return float(x[-1])

    def stored(a: float) -> float:
        TABLE_PARTS[0] = a
        return float(TABLE_PARTS[0])

    def open_end(a: float) -> float:  # type: ignore[return]
        if a > 0.0:
            return 1.0

    def flat(k: int) -> float:
        return float(TABLE[k])

    def large(n: int) -> int:
        return n + 10**30

    def short(code: Code, x: Array) -> None:
        call(code, 1.0, x)  # type: ignore[call-arg]

    def counted(a: float) -> float:
        for _ in range(a):  # type: ignore[call-overload]
            pass
        return a

    def assigned(n: int, x: Array) -> int:
        y = nothing(x)  # type: ignore[func-returns-value]
        return n if y else 0

    refused = (
        chosen,
        divided,
        searched,
        keyed,
        captured,
        chained,
        mixed_truth,
        last,
        stored,
        open_end,
        flat,
        large,
        short,
        counted,
        assigned,
        lambda a: a,
    )
    for function in refused:
        with pytest.raises(LoopError):
            loops.ready(function)
    assert TABLE_PARTS[0] == 1.0
    with pytest.raises(LoopError, match="same name"):
        loops.assembly([positive, type(positive)(positive.__code__, positive.__globals__)])


def nothing(x: Array) -> None:
    """A function without a result."""
    x[0] = 0.0


def test_arguments_are_checked() -> None:
    (machine,) = loops.ready(prefix_sums)
    x, out = np.ones(6), np.zeros(3)
    assert machine(3, x, out) == 1.0 and out.tolist() == [1.0, 2.0, 6.0]
    for wrong in (x.astype(np.float32), np.ones(6, dtype=int), x[::2]):
        with pytest.raises(LoopError, match="floats without gaps"):
            machine(3, wrong, out)
    with pytest.raises(LoopError, match="2 arguments"):
        machine(3, x)


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
