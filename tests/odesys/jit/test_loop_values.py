"""Expressions in the language of loops: library functions, division, comparisons, as in Python."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odesys.jit import llvm, loops
from odesys.jit.loops import Array, Code, LoopError, Record, call
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


# ---- expressions of five arguments, by Python and as machine code ---------------------------------------------------

HEAD = "def f{}(i: int, j: int, a: float, b: float, x: Array) -> {}:\n    return {}\n"
WHOLE = [
    "i + j * 3 - 7",
    "-i",
    "-(-i)",
    "i // 7",
    "i % 7",
    "j // 1 + j % 1",
    "int(a)",
    "int(-b)",
    "int(a < b)",
    "int(True) + int(False)",
    "9223372036854775807 - i * i",
    "-9223372036854775807 + i * i",
    "i if i < j else j",
    "int(not i < j)",
    *(f"int(i {sign} j)" for sign in ("<", "<=", ">", ">=", "==", "!=")),
    *(f"int(a {sign} b)" for sign in ("<", "<=", ">", ">=", "==", "!=")),
    "int(i < a) + 2 * int(b >= j)",
    "int(i < j < 3) + 2 * int(0 <= i <= j <= 5) + 4 * int(a < b <= x[0])",
    "int(i < j and a < b and x[0] < x[1])",
    "int(i < j or a < b or x[0] < x[1])",
    "int((i < j or a < b) and not (x[0] < x[1] or i == j))",
    "int(True and i < j) + 2 * int(False or i < j)",
    "1 if (a < b if i < j else b < a) else 0",
]
BROKEN = [
    "a + b - 0.5",
    "a * b / 3",
    "-a",
    "i / 4 + j",
    "i * a - b * j",
    "i + 0.5",
    "abs(a) + abs(i)",
    "math.sqrt(abs(a)) * math.pi",
    "math.nextafter(a, b)",
    "math.nextafter(b, math.inf) - math.nextafter(b, -math.inf)",
    "min(a, b, i) + 2 * max(a, b, j)",
    "min(a, b) - max(b, a)",
    "min(i, j) + max(i, a)",
    "float(i) / 8 + float(a < b)",
    "x[0] - x[1] * x[i - i] + x[2:][1] - x[1:][0]",
    "x[i * 0 + 2]",
    "a if i < j else b",
    "a if i < j else i",
    "0.25 if not (i < j) else -1.5",
    "(a < b) * 2.0 + (i < j)",
    "a ** 2 + abs(b) ** 0.5",
    "(a + b) * (a - b)",
    "3.0 ** i if i < 5 else 1.0",
]
REFUSED = [
    ("+a", "UnaryOp"),
    ("~i", "UnaryOp"),
    ("i | j", "BinOp"),
    ("i // j", "BinOp"),
    ("i // 0", "BinOp"),
    ("i % -3", "BinOp"),
    ("a // 2", "BinOp"),
    ("x[0:2]", "Subscript"),
    ("x[::2]", "Subscript"),
    ("x[:]", "Subscript"),
    ("x[a]", "Subscript"),
    ("x[-1]", "Subscript"),
    ("i[0]", "Subscript"),
    ("'text'", "Constant"),
    ("9223372036854775808 + i", "Constant"),
    ("a in x", "Compare"),
    ("0 < i < abs(i)", "Compare"),
    ("math.sqrt(a, b)", "Call"),
    ("math.nextafter(a)", "Call"),
    ("math.cos(a)", "Call"),
    ("min(a, b, key=abs)", "Call"),
    ("unknown + a", "Name"),
    ("math.unknown + a", "Attribute"),
    ("a.real", "Name"),
    ("(a, b)", "Tuple"),
    ("a or b", "double where i1"),
    ("not a", "double where i1"),
    ("1 if i else 2", "i64 where i1"),
    ("x + a", "ptr where double"),
    ("i if i < j else a", "double where i64"),
    ("int(x)", "ptr where i64"),
]


def written_as(kind: str, expressions: list[str]) -> list[Callable[..., Any]]:
    made = loops.written("".join(HEAD.format(k, kind, each) for k, each in enumerate(expressions)))
    return list(made.values())


@pytest.mark.parametrize(("kind", "expressions"), [("int", WHOLE), ("float", BROKEN)])
def test_expressions_have_the_values_of_python(kind: str, expressions: list[str]) -> None:
    functions = written_as(kind, expressions)
    rng = np.random.default_rng(7)
    for expression, function, machine in zip(expressions, functions, loops.ready(*functions), strict=True):
        for k in range(40):
            i, j = (int(v) for v in rng.integers(-3, 6, 2) * rng.choice([1, 1, 37]))
            a, b = rng.integers(-2, 3, 2) / 2 if k % 2 else rng.normal(size=2) * 4
            x = rng.integers(-1, 2, 4) / 2.0
            given = (i, j, float(a), float(b), x)
            assert machine(*given) == pytest.approx(function(*given), rel=1e-15, abs=0.0), (expression, given)


@pytest.mark.parametrize(("expression", "words"), REFUSED)
def test_what_has_no_machine_code_is_refused_where_it_stands(expression: str, words: str) -> None:
    """With the line, what it is and its text."""
    (function,) = loops.written(HEAD.format("", "float", expression)).values()
    with pytest.raises(LoopError, match=r"f, line [12]: ") as caught:
        loops.assembly([function])
    assert words in str(caught.value) and "\n" not in str(caught.value)


COUNTED = """
def count(x: Array) -> bool:
    x[0] += 1.0
    return x[0] > 2.0

def both(x: Array) -> int:
    return 1 if count(x) and count(x) and count(x) else 0

def either(x: Array) -> int:
    return 1 if count(x) or count(x) or count(x) else 0

def one(x: Array, a: float) -> int:
    return 1 if (count(x) if a > 0.0 else a < -1.0) else 0
"""


def test_what_decides_is_computed_and_nothing_after_it() -> None:
    made = loops.written(COUNTED)
    names = ("both", "either", "one")
    machine = dict(zip(names, loops.ready(*(made[name] for name in names)), strict=True))
    for start in (0.0, 1.0, 2.0, 5.0):
        for name, more in (("both", ()), ("either", ()), ("one", (1.0,)), ("one", (-1.0,)), ("one", (-2.0,))):
            ours, theirs = np.array([start]), np.array([start])
            assert machine[name](ours, *more) == made[name](theirs, *more) and ours[0] == theirs[0]


class Tables:
    """Constants of a class."""

    whole, broken, row = 12, 0.375, np.array([5.0, -7.0])
    square, counts, text = np.eye(2), np.array([1, 2]), "text"


def of_a_class(k: int) -> float:
    return Tables.whole * Tables.broken + Tables.row[k] + TABLE_PARTS[k]


def of_a_square(k: int) -> float:
    return Tables.square[k]  # type: ignore[return-value]


def of_counts(k: int) -> float:
    return Tables.counts[k]  # type: ignore[no-any-return]


def test_constants_of_a_class_are_those_of_its_time() -> None:
    (machine,) = loops.ready(of_a_class)
    assert [machine(k) for k in (0, 1)] == [of_a_class(k) for k in (0, 1)] == [4.5 + 5.0 + 1.0, 4.5 - 7.0 - 2.5]
    for function in (of_a_square, of_counts):
        with pytest.raises(LoopError, match="Attribute has no machine code"):
            loops.assembly([function])


def test_a_variable_keeps_its_kind() -> None:
    text = "def f(i: int, a: float) -> float:\n    total = {}\n    total = {}\n    return total * 1.0\n"
    for first, second, refused in (
        ("0.5", "i", False),
        ("i", "a", True),
        ("a", "a < 1.0", False),
        ("a < 1.0", "a", True),
    ):
        (function,) = loops.written(text.format(first, second)).values()
        if refused:
            with pytest.raises(LoopError):
                loops.assembly([function])
        else:
            (machine,) = loops.ready(function)
            assert [machine(3, v) for v in (0.5, 2.0)] == [function(3, v) for v in (0.5, 2.0)]


@dataclass(eq=False)
class Part(Record):
    """What another record has inside."""

    count: int
    size: float


@dataclass(eq=False)
class Whole(Record):
    """A field of each kind."""

    first: float
    seen: Array
    part: Part
    number: int
    code: Code


def of_fields(whole: Whole, part: Part, k: int) -> float:
    """Fields are read in expressions, set, and handed on; those of a record inside as well."""
    part.count = whole.number + k
    whole.part.size += whole.first * 2.0
    whole.number -= 1
    whole.seen[k] = whole.part.size + part.size
    return whole.seen[0] + inner_sum(whole.part) * whole.number + (1.0 if part.count > k else 0.0)


def inner_sum(part: Part) -> float:
    return part.size + part.count


def no_field(whole: Whole) -> float:
    return whole.part.missing  # type: ignore[attr-defined,no-any-return]


def test_fields_of_records_are_values() -> None:
    (machine,) = loops.ready(of_fields)
    for k in (0, 1, 2):
        records = [(Whole(0.5, np.arange(3.0), Part(4, 0.25), 6, 0), Part(1, 8.0)) for _ in range(2)]  # type: ignore[arg-type]
        found = [run(*given, k) for run, given in zip((of_fields, machine), records, strict=True)]
        assert found[0] == found[1]
        (ours, mine), (theirs, other) = records
        assert ours.seen.tolist() == theirs.seen.tolist() and (ours.number, mine.count) == (5, 6 + k)
        assert (ours.part.size, ours.part.count, ours.number) == (theirs.part.size, theirs.part.count, theirs.number)
        assert (mine.count, mine.size) == (other.count, other.size)
    with pytest.raises(LoopError, match=r"Attribute has no machine code: whole\.part\.missing"):
        loops.assembly([no_field])
