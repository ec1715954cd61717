"""Statements in the language of loops: the same as in Python, or refused with the line."""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odesys.jit import llvm, loops
from odesys.jit.loops import Array, LoopError, Record
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


# ---- statements, by Python and as machine code -----------------------------------------------------------------------

STATEMENTS = [
    # of (n: int, a: float, x: Array) -> float; x has eight numbers
    "total = 0.0\nfor i in range(n):\n    total += x[i] * i\nreturn total",
    "total = 0.0\nfor i in range(2, n):\n    total = total * 2.0 + i\nreturn total",
    "total = 0.0\nfor i in range(n):\n    i = 7\n    total += i\nreturn total",
    "last = -1\nfor i in range(n):\n    last = i\nreturn last * 1.0",
    "total = 0.0\nfor i in range(n):\n    if i == 1:\n        continue\n"
    "    if i == 3:\n        break\n    total += x[i] + 0.5\nreturn total",
    "total = 0.0\nfor i in range(n):\n    for j in range(i, n):\n        if j > 3:\n"
    "            break\n        total += j\n    total += 100.0\nreturn total",
    "k = n\nwhile k > 0:\n    k -= 2\nreturn k * 1.0",
    "k, total = n, 0.0\nwhile True:\n    k -= 1\n    if k < 0:\n"
    "        break\n    if k % 2 == 0:\n        continue\n    total += x[k]\nreturn total",
    "if a > 0.0:\n    b = 1.0\nelif a > -1.0:\n    b = 2.0\nelse:\n    b = 3.0\nreturn b",
    "b = 0.0\nif a > 0.0:\n    b = 1.0\nreturn b",
    "if a > 0.0:\n    return 1.0\nelse:\n    return 2.0\nreturn 3.0",
    "if a > 0.0:\n    return 1.0\n    a = 5.0\nreturn a",
    "for i in range(n):\n    return x[i]\nreturn -1.0",
    "while a > 0.0:\n    return a\nreturn -a",
    "b = c = a\nb += 1.0\nreturn b * 10.0 + c",
    "b, c = a, 2.0\nb, c = c, b\nreturn b - 3.0 * c",
    "x[0], x[1] = x[1], x[0]\nreturn x[0]",
    "x[n % 8] += a\nx[0] -= 1.0\nx[1] *= 2.0\nx[2] /= 4.0\nreturn x[0] + x[1] + x[2]",
    "b = n\nb //= 3\nb %= 4\nreturn b * 1.0",
    "rest = x[3:]\nrest[0] = a\nrest = rest[1:]\nrest[0] = -a\nreturn x[3] + 2.0 * x[4]",
    "pass\n'a text'\nreturn a",
    "flag = a > 0.0\nflag = not flag\nif flag:\n    return 1.0\nreturn 0.0",
    "a = a + 1.0\nn = n + 1\nreturn a * n",
]
NO_STATEMENTS = [
    ("for i in range(0, n, 2):\n    a += 1.0\nreturn a", "For"),
    ("for i in x:\n    a += 1.0\nreturn a", "For"),
    ("for i in range(n):\n    a += 1.0\nelse:\n    a = 0.0\nreturn a", "For"),
    ("for x[0] in range(n):\n    a += 1.0\nreturn a", "For"),
    ("for i in range():\n    a += 1.0\nreturn a", "For"),
    ("for i in reversed(n):\n    a += 1.0\nreturn a", "For"),
    ("while a > 0.0:\n    a -= 1.0\nelse:\n    a = 0.0\nreturn a", "While"),
    ("a, b = 1.0\nreturn a", "Assign"),
    ("b = 1.0, 2.0\nreturn a", "Assign"),
    ("a, b = 1.0, 2.0, 3.0\nreturn a", "Assign"),
    ("b = call(1, 2, 3)\nreturn a", "Call"),
    ("x[0:2] = a\nreturn a", "Subscript"),
    ("math.pi = a\nreturn a", "Attribute"),
    ("[b] = x\nreturn a", "List"),
    ("return", "Return"),
    ("with a:\n    pass\nreturn a", "With"),
    ("import math\nreturn a", "Import"),
    ("a = 1.0", "has to end with a return"),
    ("if a > 0.0:\n    return a\nelse:\n    return -a", "has to end with a return"),
    ("b = n\nb = a\nreturn b", "is an integer at first and a float later"),
    ("n += a\nreturn a", "is an integer at first and a float later"),
]


def body_of(lines: str, name: str = "f", result: str = "float") -> str:
    indented = "".join(f"    {line}\n" for line in lines.split("\n"))
    return f"def {name}(n: int, a: float, x: Array) -> {result}:\n{indented}"


def test_statements_do_what_python_does() -> None:
    functions = list(loops.written("".join(body_of(lines, f"f{k}") for k, lines in enumerate(STATEMENTS))).values())
    assert len(functions) == len(STATEMENTS)
    for lines, function, machine in zip(STATEMENTS, functions, loops.ready(*functions), strict=True):
        for n in (0, 1, 2, 4, 5, 8):
            for a in (0.5, -0.5, -2.0, 0.0):
                ours, theirs = np.arange(8.0) - 2.5, np.arange(8.0) - 2.5
                assert machine(n, a, ours) == function(n, a, theirs), (lines, n, a)
                assert np.array_equal(ours, theirs), lines


@pytest.mark.parametrize(("lines", "words"), NO_STATEMENTS)
def test_other_statements_are_refused(lines: str, words: str) -> None:
    (function,) = loops.written(body_of(lines)).values()
    with pytest.raises(LoopError, match=words):
        loops.assembly([function])


def test_a_function_without_a_result_gives_none_and_may_stop_early() -> None:
    text = body_of("if a > 0.0:\n    x[0] = a\n    return\nx[1] = a", "early", "None")
    text += body_of("for i in range(n):\n    early(i, a, x)\n    x[2] += 1.0", "often", "None")
    made = loops.written(text)
    early, often = loops.ready(made["early"], made["often"])
    for a, wanted in ((2.0, [2.0, 0.0, 0.0]), (-2.0, [0.0, -2.0, 0.0])):
        x = np.zeros(3)
        assert early(1, a, x) is None and x.tolist() == wanted
        often(3, a, x)
        assert x.tolist() == [*wanted[:2], 3.0]
    for lines in ("b = early(n, a, x)\nreturn a", "return early(n, a, x)"):
        both = loops.written(body_of("x[0] = a", "early", "None") + body_of(lines, "late"))
        with pytest.raises(LoopError):
            loops.assembly([both["late"]])
    (function,) = loops.written(body_of("return a", "f", "None")).values()
    with pytest.raises(LoopError, match="Return"):
        loops.assembly([function])


def test_only_functions_that_are_asked_for_can_be_called_from_outside() -> None:
    made = loops.written(body_of("return a", "inner") + body_of("return inner(n, a, x) + inner(n, a, x)", "outer"))
    text = loops.assembly([made["outer"]])
    assert "define double @outer(" in text and "define internal double @inner." in text
    assert text.count("define ") == 2 and "define double @inner(" in loops.assembly([made["inner"], made["outer"]])
    again = loops.written(body_of("return 2.0 * a", "inner"))
    with pytest.raises(LoopError, match="two functions that are called from Python have the same name"):
        loops.assembly([made["inner"], again["inner"]])
    assert loops.assembly([made["inner"], made["inner"]]) == loops.assembly([made["inner"]])


def plain(function: Callable[..., float]) -> Callable[..., float]:
    """A decorator that changes nothing."""
    return function


@plain
@plain
def decorated(n: int, a: float) -> float:
    return a * n


def test_a_decorated_function_is_found_by_its_first_line() -> None:
    (machine,) = loops.ready(decorated)
    assert machine(3, 0.5) == 1.5


def test_a_source_that_has_changed_or_is_gone_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a_module_of_loops.py"
    path.write_text("def f(a: float) -> float:\n    return 2.0 * a\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("a_module_of_loops")
    assert "fmul" in loops.assembly([module.f])
    for text, words in (
        ("def f(a: float) -> float:\n    return 2.5 * a\n", "has changed since it was imported"),
        ("def g(a: float) -> float:\n    return 2.0 * a\n", "has changed since it was imported"),
        ("\ndef f(a: float) -> float:\n    return 2.0 * a\n", "can not be read"),
        ("def f(a: float) -> float\n    return 2.0 * a\n", "can not be read"),
        ("", "can not be read"),
    ):
        path.write_text(text)
        os.utime(path, (1, len(text)))
        with pytest.raises(LoopError, match=words):
            loops.assembly([module.f])


@dataclass(eq=False)
class Inside(Record):
    """A record in another one."""

    size: float
    row: Array


@dataclass(eq=False)
class Held(Record):
    """A field of each kind that can be set."""

    count: int
    seen: Array
    inside: Inside


def set_fields(held: Held, n: int, a: float) -> float:
    held.count, held.inside.size = n, a
    held.count += 2
    held.inside.size *= 3.0
    for i in range(n):
        held.seen[i] = a + i
        held.seen[i] -= 0.5
        held.inside.row[i] = held.seen[i] * held.count
    held.seen, held.inside.row = held.inside.row, held.seen[1:]
    held.inside.row[0] = -a
    return held.seen[0] + held.inside.size


def whole_from_broken(held: Held, a: float) -> None:
    held.count = a  # type: ignore[assignment]


def record_anew(held: Held, inside: Inside) -> None:
    held.inside = inside.size  # type: ignore[assignment]


def test_fields_of_records_and_their_arrays_are_set() -> None:
    (machine,) = loops.ready(set_fields)
    for n in (1, 3):
        ours, theirs = (Held(9, np.zeros(5), Inside(1.0, np.zeros(5))) for _ in range(2))
        arrays = [(held.seen, held.inside.row) for held in (ours, theirs)]
        assert machine(ours, n, 0.25) == set_fields(theirs, n, 0.25)
        assert (ours.count, ours.inside.size) == (theirs.count, theirs.inside.size) == (n + 2, 0.75)
        for one, other in zip(*arrays, strict=True):
            assert np.array_equal(one, other) and one.any()
    for function, words in ((whole_from_broken, "double where i64"), (record_anew, "double where ptr")):
        with pytest.raises(LoopError, match=words):
            loops.assembly([function])
