"""LLVM assembly on several numbers at once, the lanes of a vector, written by Python's operators.

Sums and products may be joined to one rounding (`contract`); `exact` keeps them apart. Nothing here mixes lanes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from .llvm import constant

OPERATIONS = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
INTRINSICS = ("sqrt", "fabs", "fma")


def declarations(width: int) -> str:
    """Intrinsic functions on lanes."""
    kind = f"<{width} x double>"
    counts = {"sqrt": 1, "fabs": 1, "fma": 3}
    return "".join(
        f"declare {kind} @llvm.{name}.v{width}f64({', '.join([kind] * counts[name])})\n" for name in INTRINSICS
    )


@dataclass(frozen=True, eq=False)
class LaneValue:
    """A register with a number, or a truth value, per lane."""

    writer: LaneWriter
    text: str

    def __add__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.joined(self, "+", other)

    def __sub__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.joined(self, "-", other)

    def __mul__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.joined(self, "*", other)

    def __truediv__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.exact(self, "/", other)

    def __neg__(self) -> LaneValue:
        return self.writer.value(self.writer.put(f"fneg {self.writer.kind} {self.text}"))

    def __lt__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.compared("olt", self, other)

    def __gt__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.compared("ogt", self, other)

    def __ge__(self, other: LaneValue | float) -> LaneValue:
        return self.writer.compared("oge", self, other)

    def __and__(self, other: LaneValue) -> LaneValue:
        return self.writer.mask(f"and {self.writer.truths} {self.text}, {other.text}")

    def __or__(self, other: LaneValue) -> LaneValue:
        return self.writer.mask(f"or {self.writer.truths} {self.text}, {other.text}")

    def __invert__(self) -> LaneValue:
        ones = ", ".join(["i1 1"] * self.writer.width)
        return self.writer.mask(f"xor {self.writer.truths} {self.text}, <{ones}>")


class LaneWriter:
    """A function in the making; arrays of lanes are pointers, and a place in them is counted in lanes' widths."""

    def __init__(self, width: int) -> None:
        self.width, self.lines, self.head = width, list[str](), list[str]()
        self.kind, self.truths, self.integers = (f"<{width} x {kind}>" for kind in ("double", "i1", "i64"))
        self._count = 0

    # ---- values ------------------------------------------------------------------------------------------------------

    def value(self, text: str) -> LaneValue:
        """A register that is known by its name."""
        return LaneValue(self, text)

    def number(self, value: Any) -> LaneValue:
        """The same number in every lane."""
        return LaneValue(self, "<" + ", ".join([f"double {constant(value)}"] * self.width) + ">")

    def whole(self, value: int) -> str:
        """The same integer in every lane."""
        return "<" + ", ".join([f"i64 {value}"] * self.width) + ">"

    def joined(self, left: LaneValue | float, sign: str, right: LaneValue | float) -> LaneValue:
        """Sum, difference or product, which may be joined with another operation."""
        return self._operation(f"{OPERATIONS[sign]} contract", left, right)

    def exact(self, left: LaneValue | float, sign: str, right: LaneValue | float) -> LaneValue:
        """An operation with its own rounding."""
        return self._operation(OPERATIONS[sign], left, right)

    def _operation(self, instruction: str, left: LaneValue | float, right: LaneValue | float) -> LaneValue:
        return self.value(self.put(f"{instruction} {self.kind} {self._of(left)}, {self._of(right)}"))

    def compared(self, order: str, left: LaneValue, right: LaneValue | float) -> LaneValue:
        """Which lanes are in an order; none with not-a-number is."""
        return self.mask(f"fcmp {order} {self.kind} {left.text}, {self._of(right)}")

    def mask(self, line: str) -> LaneValue:
        """Truth values by an instruction."""
        return self.value(self.put(line))

    def where(self, mask: LaneValue, yes: LaneValue | float, no: LaneValue | float) -> LaneValue:
        """One of two values, lane by lane."""
        chosen = f"select {self.truths} {mask.text}, {self.kind} {self._of(yes)}, {self.kind} {self._of(no)}"
        return self.value(self.put(chosen))

    def least(self, first: LaneValue, second: LaneValue | float) -> LaneValue:
        """The smaller of two, as Python has it."""
        return self.where(self.compared("ogt", first, second), second, first)

    def largest(self, first: LaneValue, second: LaneValue | float) -> LaneValue:
        """The larger of two, as Python has it."""
        return self.where(self.compared("olt", first, second), second, first)

    def clamped(self, a: LaneValue, low: float, high: float) -> LaneValue:
        """a between two bounds; not-a-number stays."""
        a = self.where(self.compared("ogt", self.number(low), a), low, a)
        return self.where(self.compared("olt", self.number(high), a), high, a)

    def fma(self, a: LaneValue, b: LaneValue | float, c: LaneValue) -> LaneValue:
        """a b + c with one rounding."""
        return self._intrinsic("fma", a.text, self._of(b), c.text)

    def sqrt(self, a: LaneValue) -> LaneValue:
        """The square root."""
        return self._intrinsic("sqrt", a.text)

    def absolute(self, a: LaneValue) -> LaneValue:
        """The absolute value."""
        return self._intrinsic("fabs", a.text)

    def bits(self, a: LaneValue) -> str:
        """The floats as integers with the same bits."""
        return self.put(f"bitcast {self.kind} {a.text} to {self.integers}")

    def from_bits(self, register: str) -> LaneValue:
        """The integers as floats with the same bits."""
        return self.value(self.put(f"bitcast {self.integers} {register} to {self.kind}"))

    def _intrinsic(self, name: str, *registers: str) -> LaneValue:
        listed = ", ".join(f"{self.kind} {register}" for register in registers)
        return self.value(self.put(f"call {self.kind} @llvm.{name}.v{self.width}f64({listed})"))

    def _of(self, value: LaneValue | float) -> str:
        return value.text if isinstance(value, LaneValue) else self.number(value).text

    # ---- memory and loops --------------------------------------------------------------------------------------------

    def local(self, size: int) -> str:
        """An array of the function's own."""
        self._count += 1
        self.head.append(f"%local{self._count} = alloca {self.kind}, i64 {max(size, 1)}")
        return f"%local{self._count}"

    def place(self, array: str, place: int | str) -> str:
        """A pointer into an array."""
        return self.put(f"getelementptr {self.kind}, ptr {array}, i64 {place}")

    def load(self, array: str, place: int | str = 0) -> LaneValue:
        """Read from an array."""
        return self.value(self.put(f"load {self.kind}, ptr {self.place(array, place)}, align 8"))

    def store(self, value: LaneValue | float, array: str, place: int | str = 0) -> None:
        """Write to an array."""
        self.lines.append(f"store {self.kind} {self._of(value)}, ptr {self.place(array, place)}, align 8")

    @contextmanager
    def loop(self, count: int) -> Iterator[str]:
        """For 0, 1, ... count - 1, at least once; gives the register of the number."""
        self._count += 1
        k = self._count
        slot = f"%slot{k}"
        self.head.append(f"{slot} = alloca i64")
        self.lines += [f"store i64 0, ptr {slot}", f"br label %loop{k}", f"loop{k}:"]
        number = self.put(f"load i64, ptr {slot}")
        yield number
        after = self.put(f"add i64 {number}, 1")
        self.lines.append(f"store i64 {after}, ptr {slot}")
        more = self.put(f"icmp slt i64 {after}, {count}")
        self.lines += [f"br i1 {more}, label %loop{k}, label %after{k}", f"after{k}:"]

    @contextmanager
    def where_any(self, mask: LaneValue) -> Iterator[None]:
        """Lines that are passed over where a mask is true in no lane."""
        some = self.any(mask)
        self._count += 1
        k = self._count
        self.lines += [f"br i1 {some}, label %some{k}, label %none{k}", f"some{k}:"]
        yield
        self.lines += [f"br label %none{k}", f"none{k}:"]

    def any(self, mask: LaneValue) -> str:
        """A truth value: whether it is true in any lane."""
        packed = self.put(f"bitcast {self.truths} {mask.text} to i{self.width}")
        return self.put(f"icmp ne i{self.width} {packed}, 0")

    def put(self, line: str) -> str:
        """A line that gives a register."""
        self._count += 1
        self.lines.append(f"%r{self._count} = {line}")
        return f"%r{self._count}"

    # ---- whole functions ---------------------------------------------------------------------------------------------

    def function(self, name: str, result: LaneValue, far: tuple[LaneValue, str] | None = None) -> str:
        """A function of %z; lanes outside of the mask `far[0]` are taken from another function, if there are any."""
        lines = [*self.lines]
        if far is None:
            lines.append(f"ret {self.kind} {result.text}")
        else:
            self.lines = []
            some = self.any(~far[0])
            lines += [*self.lines, f"br i1 {some}, label %far, label %near", "near:", f"ret {self.kind} {result.text}"]
            self.lines = ["far:"]
            other = self.value(self.put(f"call {self.kind} @{far[1]}({self.kind} %z)"))
            lines += [*self.lines]
            self.lines = []
            chosen = self.where(far[0], result, other)
            lines += [*self.lines, f"ret {self.kind} {chosen.text}"]
        return f"define internal {self.kind} @{name}({self.kind} %z) {{\n" + _listed(lines) + "}\n"

    def two_results(self, name: str, first: LaneValue, second: LaneValue) -> str:
        """A function of %z with two results."""
        both = f"{{{self.kind}, {self.kind}}}"
        one = self.put(f"insertvalue {both} undef, {self.kind} {first.text}, 0")
        two = self.put(f"insertvalue {both} {one}, {self.kind} {second.text}, 1")
        lines = [*self.lines, f"ret {both} {two}"]
        return f"define internal {both} @{name}({self.kind} %z) {{\n" + _listed(lines) + "}\n"

    def procedure(self, name: str, arguments: str) -> str:
        """The lines as a function that gives nothing."""
        return f"define void @{name}({arguments}) {{\n" + _listed([*self.head, *self.lines, "ret void"]) + "}\n"


def _listed(lines: list[str]) -> str:
    return "".join(line + "\n" if line.endswith(":") else f"  {line}\n" for line in lines)
