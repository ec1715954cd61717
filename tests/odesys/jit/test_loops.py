"""Functions in the language of loops: machine code against the same text run as Python, and what is refused."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy as sp
from hypothesis import given

from odesys import System
from odesys.jit import llvm, loops, native
from odesys.jit.loops import Array, Code, LoopError, Record, call
from tests.machine_and_python import EXAMPLES, check, vectors

pytestmark = pytest.mark.skipif(not llvm.available(), reason="llvmlite does not load")
TABLE = np.array([[1.0, -2.5], [0.125, 1e300]])
LIMIT, HALF = 7, 0.5


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


TABLE_PARTS = TABLE.ravel()


def halved(n: int, x: Array) -> int:
    """A function that calls itself and another one."""
    return 0 if n <= 1 else 1 + halved(n // 2, x) + (1 if positive(x[n - 1]) else 0)


def positive(a: float) -> bool:
    """A function that is only called from such functions may give a truth value."""
    return a > 0.0


@EXAMPLES
@given(vectors)
def test_sums(x: np.ndarray) -> None:
    check(prefix_sums, len(x), x, np.zeros(len(x)))


@EXAMPLES
@given(vectors)
def test_functions_call_functions(x: np.ndarray) -> None:
    check(halved, len(x), x)


def exponential(a: float) -> float:
    """A function of the mathematical library."""
    return math.exp(a) / 2.0


def test_exponentials_are_those_of_the_library_and_do_not_raise() -> None:
    (code,) = loops.ready(exponential)
    for a in (0.0, -1.5, 3.25, -800.0):
        assert code(a) == pytest.approx(exponential(a), rel=1e-15)
    assert code(1000.0) == math.inf


def test_a_text_that_was_written_runs_like_a_function_of_a_module() -> None:
    text = (
        "def weighed(n: int, x: Array) -> float:\n    total = 0.0\n    for i in range(n):\n        total += {} * x[i]\n"
    )
    first, second = (loops.written(text.format(c) + "    return total\n")["weighed"] for c in ("2.0", "-1.0"))
    x = np.array([1.0, 0.5])
    assert first(2, x) == 3.0 and second(2, x) == -1.5
    (quick,), (other,) = loops.ready(first), loops.ready(second)
    assert quick(2, x) == 3.0 and other(2, x) == -1.5  # two texts with one name are two functions


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


# ---- records ---------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Counter(Record):
    """A number that is changed, and an array."""

    count: int
    total: float
    seen: Array


@dataclass(eq=False)
class Walk(Record):
    """A record inside of another one."""

    step: float
    counter: Counter


def add_up(walk: Walk, n: int, x: Array) -> float:
    """Fields are read and set, arrays in them written to, records handed on."""
    rest = walk.counter.seen[1:]
    for i in range(n):
        walk.counter.count += 1
        walk.counter.seen[i] = x[i]
        walk.step, rest[n] = walk.step / 2.0, x[i] + walk.step
    return sum_of(walk.counter, n) + walk.step


def sum_of(counter: Counter, n: int) -> float:
    """The sum of an array in a record."""
    seen = counter.seen
    for i in range(n):
        counter.total += seen[i]
    return counter.total


@EXAMPLES
@given(vectors)
def test_records_are_shared(x: np.ndarray) -> None:
    (machine,) = loops.ready(add_up)
    walks = [Walk(1.0, Counter(7, -0.5, np.zeros(len(x) + 2))) for _ in range(2)]
    results = [run(walk, len(x), x) for run, walk in zip((add_up, machine), walks, strict=True)]
    ours, plain = walks[1].counter, walks[0].counter
    assert results[0] == results[1] and walks[0].step == walks[1].step == 0.5 ** len(x)
    assert (ours.count, ours.total) == (plain.count, plain.total) and ours.count == 7 + len(x)
    assert np.array_equal(ours.seen, plain.seen)


def test_a_prepared_call_reads_what_is_there_by_then() -> None:
    counter, x = Counter(0, 0.0, np.array([1.0, 2.0, 3.0])), np.zeros(3)
    settled, (machine,) = loops.settled(counter), loops.ready(sum_of)
    first, second = loops.prepared(machine, settled, 3), loops.prepared(machine, settled, 2)
    assert first() == 6.0 and first() == 12.0  # the record stays, with its total
    loops.put(settled, total=0.0)
    counter.seen[0] = 10.0
    assert second() == 12.0
    loops.put(settled, total=0.0, seen=x)
    assert first() == 0.0


@dataclass(eq=False)
class Worded(Record):
    """A field without a kind."""

    name: str


def no_such_field(counter: Counter) -> None:
    counter.missing = 1.0  # type: ignore[attr-defined]


def set_anew(counter: Counter, other: Counter) -> None:
    counter = other  # noqa: F841


def unkind(worded: Worded) -> None:
    worded.name = 1.0  # type: ignore[assignment]


@pytest.mark.parametrize(("function", "words"), [(no_such_field, "missing"), (set_anew, "counter"), (unkind, "str")])
def test_what_records_do_not_have_is_refused(function: Callable[..., Any], words: str) -> None:
    with pytest.raises(LoopError, match=words):
        loops.assembly([function])


def test_without_machine_code_functions_are_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls, records and prepared calls as well: all of it is Python."""
    monkeypatch.setattr(llvm, "available", lambda: False)
    counter = Counter(0, 0.5, np.array([1.0, 2.0, 3.0]))
    assert loops.ready(sum_of, positive) == (sum_of, positive) and loops.compiled_loops(sum_of) is None
    assert loops.settled(counter) is counter
    run = loops.prepared(sum_of, counter, 3)
    assert run() == 6.5
    loops.put(counter, total=1.0, count=4)
    assert run() == 7.0 and counter.count == 4


def test_numbers_of_a_settled_record_are_its_own_until_they_are_put() -> None:
    """In both places; records inside are read back after a call that is not prepared."""
    walk = Walk(1.0, Counter(7, -0.5, np.zeros(4)))
    settled = loops.settled(walk)
    loops.put(settled, step=0.25)
    assert (walk.step, settled.memory.step, settled.address) == (0.25, 0.25, loops.ctypes.addressof(settled.memory))
    inside = settled.inside["counter"]
    assert set(settled.inside) == {"counter"} and inside.record is walk.counter
    inside.memory.count, inside.memory.total, settled.memory.step = 9, 2.5, 8.0
    assert (walk.counter.count, walk.counter.total, walk.step) == (7, -0.5, 0.25)
    settled.read_back()
    assert (walk.counter.count, walk.counter.total, walk.step) == (9, 2.5, 8.0)


def test_compiled_loops_are_functions_and_texts_by_name() -> None:
    text = "def twice(a: float) -> float:\n    return once(a) + once(a)\ndef once(a: float) -> float:\n    return a\n"
    made = loops.compiled_loops(text, prefix_sums)
    assert made is not None and list(made) == ["twice", "once", "prefix_sums"]
    assert made["twice"](1.5) == 3.0 and made["once"](1.5) == 1.5
    out = np.zeros(2)
    assert made["prefix_sums"](2, np.array([1.0, 2.0]), out) == 1.5 and out.tolist() == [1.0, 6.0]
    assert set(loops.written(text)) == {"twice", "once"}


def truth(flag: bool) -> float:
    """A truth value from outside."""
    return 1.0 if flag else 0.0


def test_truth_values_and_other_counts_of_arguments_are_refused() -> None:
    for function in (truth, positive):
        with pytest.raises(LoopError, match="takes and gives int and float, not bool"):
            loops.ready(function)
    (machine,) = loops.ready(exponential)
    for values in ((), (1.0, 2.0)):
        with pytest.raises(LoopError, match=f"{len(values)} arguments were given, 1 are needed"):
            machine(*values)
