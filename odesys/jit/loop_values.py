"""Expressions of functions in the language of `odesys.jit.loops`, as lines of LLVM assembly."""

from __future__ import annotations

import ast
import builtins
import inspect
import math
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from .llvm import constant
from .loop_kinds import (
    DOUBLE,
    INTEGER,
    NOTHING,
    POINTER,
    TRUTH,
    LoopError,
    LoopValue,
    Record,
    call,
    is_record,
    places,
    signature,
)

ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("slt", "olt"),
    ast.LtE: ("sle", "ole"),
    ast.Gt: ("sgt", "ogt"),
    ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"),
    ast.NotEq: ("ne", "une"),
}
FUNCTIONS: dict[Any, tuple[str, int]] = {
    abs: ("@llvm.fabs.f64", 1),
    math.exp: ("@lib_exp", 1),
    math.sqrt: ("@llvm.sqrt.f64", 1),
    math.nextafter: ("@lib_nextafter", 2),
}


class Names(typing.Protocol):
    """Names of other functions and of tables of constants, which are written when they are first asked for."""

    def symbol(self, function: Callable[..., Any]) -> str: ...

    def table(self, name: str, array: np.ndarray) -> LoopValue: ...


class Values:
    """The lines of one function, its variables, and the values of expressions in it."""

    def __init__(self, names: Names, function: Callable[..., Any]) -> None:
        self.names, self.function = names, function
        self.head: list[str] = []
        self.lines: list[str] = []
        self.slots: dict[str, LoopValue] = {}
        self.count, self.open, self.calls = 0, True, False
        hints = typing.get_type_hints(function)
        self.records: dict[str, type[Record]] = {name: hint for name, hint in hints.items() if is_record(hint)}

    def _refuse(self, node: ast.AST) -> typing.NoReturn:
        line = getattr(node, "lineno", 1)
        raise LoopError(
            f"{self.function.__name__}, line {line}: {type(node).__name__} has no machine code: "
            f"{ast.unparse(node).splitlines()[0]}"
        )

    def _value(self, node: ast.expr) -> LoopValue:
        return LoopValue(*getattr(self, f"_of_{type(node).__name__}", self._refuse)(node))

    def _of_Constant(self, node: ast.Constant) -> LoopValue:
        return self._literal(node.value, node)

    def _literal(self, value: Any, node: ast.expr) -> LoopValue:
        if isinstance(value, bool):
            return LoopValue(str(int(value)), TRUTH)
        if isinstance(value, int) and abs(value) < 2**63:
            return LoopValue(str(value), INTEGER)
        if isinstance(value, float):
            return LoopValue(constant(value), DOUBLE)
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype == np.float64:
            return self.names.table(ast.unparse(node), value)
        self._refuse(node)

    def _of_Name(self, node: ast.Name) -> LoopValue:
        if node.id in self.slots:
            slot = self.slots[node.id]
            return self._put(f"load {slot.kind}, ptr {slot.text}", slot.kind)
        return self._literal(self._known(node), node)

    def _of_Attribute(self, node: ast.Attribute) -> LoopValue:
        if self._record(node.value) is None:
            return self._literal(self._known(node), node)
        place = self._field(node)
        return self._put(f"load {place.kind}, ptr {place.text}", place.kind)

    def _record(self, node: ast.expr) -> type[Record] | None:
        """The kind of record an expression is, if it is one: an argument, or a field of one."""
        if isinstance(node, ast.Attribute) and (owner := self._record(node.value)) is not None:
            return places(owner)[node.attr].record if node.attr in places(owner) else None
        return self.records.get(node.id) if isinstance(node, ast.Name) else None

    def _field(self, node: ast.Attribute) -> LoopValue:
        """Where a field of a record is, and its kind."""
        owner = self._record(node.value)
        if owner is None or node.attr not in places(owner):
            self._refuse(node)
        place = places(owner)[node.attr]
        where = self._put(f"getelementptr i64, ptr {self._value(node.value).text}, i64 {place.number}", POINTER)
        return LoopValue(where.text, place.kind)

    def _known(self, node: ast.expr) -> Any:
        """What a name of the module stands for."""
        with suppress(AttributeError, KeyError):
            if isinstance(node, ast.Attribute):
                return getattr(self._known(node.value), node.attr)
            if isinstance(node, ast.Name):
                return {**vars(builtins), **self.function.__globals__}[node.id]
        self._refuse(node)

    def _of_Subscript(self, node: ast.Subscript) -> LoopValue:
        place = self._place(node)
        return (
            LoopValue(place, POINTER) if isinstance(node.slice, ast.Slice) else self._put(f"load double, ptr {place}")
        )

    def _place(self, node: ast.Subscript) -> str:
        index = node.slice
        if isinstance(index, ast.Slice):
            if index.upper or index.step or not index.lower:
                self._refuse(node)
            index = index.lower
        array, where = self._value(node.value), self._value(index)
        if array.kind != POINTER or where.kind != INTEGER or isinstance(index, ast.UnaryOp):
            self._refuse(node)
        return self._put(f"getelementptr double, ptr {array.text}, i64 {where.text}", POINTER).text

    def _of_UnaryOp(self, node: ast.UnaryOp) -> LoopValue:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return self._put(f"xor i1 {self._as(value, TRUTH, node).text}, 1", TRUTH)
        if not isinstance(node.op, ast.USub):
            self._refuse(node)
        if value.kind == INTEGER:
            return self._put(f"sub i64 0, {value.text}", INTEGER)
        return self._put(f"fneg double {self._as(value, DOUBLE, node).text}")

    def _of_BinOp(self, node: ast.BinOp) -> LoopValue:
        return self._binary(node, node.op, self._value(node.left), self._value(node.right))

    def _binary(self, node: ast.AST, op: ast.operator, left: LoopValue, right: LoopValue) -> LoopValue:
        whole = left.kind == right.kind == INTEGER
        if whole and type(op) in ARITHMETIC:
            return self._put(f"{ARITHMETIC[type(op)]} i64 {left.text}, {right.text}", INTEGER)
        if whole and type(op) in (ast.FloorDiv, ast.Mod) and right.text.isdecimal() and right.text != "0":
            return self._floor_division(left.text, right.text, isinstance(op, ast.Mod))
        a, b = (self._as(value, DOUBLE, node).text for value in (left, right))
        if type(op) in ARITHMETIC:
            return self._put(f"f{ARITHMETIC[type(op)]} double {a}, {b}")
        if isinstance(op, ast.Div):
            return self._put(f"fdiv double {a}, {b}")
        if isinstance(op, ast.Pow):
            return self._put(f"call double @lib_pow(double {a}, double {b})")
        self._refuse(node)

    def _floor_division(self, left: str, right: str, rest: bool) -> LoopValue:
        """Quotient or rest of a division by a positive constant, rounded down as in Python."""
        remainder = self._put(f"srem i64 {left}, {right}", INTEGER).text
        below = self._put(f"icmp slt i64 {remainder}, 0", TRUTH).text
        if rest:
            more = self._put(f"select i1 {below}, i64 {right}, i64 0", INTEGER).text
            return self._put(f"add i64 {remainder}, {more}", INTEGER)
        one = self._put(f"zext i1 {below} to i64", INTEGER).text
        return self._put(f"sub i64 {self._put(f'sdiv i64 {left}, {right}', INTEGER).text}, {one}", INTEGER)

    def _of_Compare(self, node: ast.Compare) -> LoopValue:
        if len(node.ops) > 1 and any(isinstance(part, ast.Call) for part in ast.walk(node)):
            self._refuse(node)  # Python may not come to the last call
        values = [self._value(v) for v in (node.left, *node.comparators)]
        found = LoopValue("1", TRUTH)
        for op, left, right in zip(node.ops, values, values[1:], strict=False):
            if type(op) not in COMPARISONS:
                self._refuse(node)
            whole, broken = COMPARISONS[type(op)]
            if left.kind == right.kind == INTEGER:
                one = self._put(f"icmp {whole} i64 {left.text}, {right.text}", TRUTH)
            else:
                a, b = (self._as(value, DOUBLE, node).text for value in (left, right))
                one = self._put(f"fcmp {broken} double {a}, {b}", TRUTH)
            found = self._put(f"and i1 {found.text}, {one.text}", TRUTH)
        return found

    def _of_BoolOp(self, node: ast.BoolOp) -> LoopValue:
        slot, done = self._slot(self._new("truth"), TRUTH), self._new("done")
        for k, part in enumerate(node.values):
            value = self._as(self._value(part), TRUTH, node)
            self._line(f"store i1 {value.text}, ptr {slot.text}")
            if k + 1 < len(node.values):
                more = self._new("more")
                ways = (more, done) if isinstance(node.op, ast.And) else (done, more)
                self._end(f"br i1 {value.text}, label %{ways[0]}, label %{ways[1]}")
                self._label(more)
        self._label(done)
        return self._put(f"load i1, ptr {slot.text}", TRUTH)

    def _of_IfExp(self, node: ast.IfExp) -> LoopValue:
        then, other, after = self._new("then"), self._new("else"), self._new("after")
        self._fork(node.test, then, other)
        self._label(then)
        first = self._value(node.body)
        slot = self._slot(self._new("choice"), first.kind)
        self._line(f"store {first.kind} {first.text}, ptr {slot.text}")
        self._go(after)
        self._label(other)
        second = self._as(self._value(node.orelse), first.kind, node)
        self._line(f"store {first.kind} {second.text}, ptr {slot.text}")
        self._label(after)
        return self._put(f"load {first.kind}, ptr {slot.text}", first.kind)

    def _of_Call(self, node: ast.Call) -> LoopValue:
        if node.keywords:
            self._refuse(node)
        function, values = self._known(node.func), [self._value(a) for a in node.args]
        if function in (min, max):
            return self._extreme(node, "olt" if function is min else "ogt", values)
        if function in (int, float):
            (value,) = values
            if function is int and value.kind == DOUBLE:
                return self._put(f"fptosi double {value.text} to i64", INTEGER)
            return self._as(value, INTEGER if function is int else DOUBLE, node)
        self.calls = self.calls or inspect.isfunction(function)
        if function is call:
            kinds, _ = signature(call)
            if len(values) != len(kinds):
                self._refuse(node)
            code, *rest = (self._as(value, kind, node) for value, kind in zip(values, kinds, strict=True))
            self._line(f"call void {code.text}({', '.join(f'{value.kind} {value.text}' for value in rest)})")
            return LoopValue("", NOTHING)
        if function in FUNCTIONS:
            symbol, count = FUNCTIONS[function]
            kinds, result = (DOUBLE,) * count, DOUBLE
        elif inspect.isfunction(function):
            symbol, (kinds, result) = self.names.symbol(function), signature(function)
        else:
            self._refuse(node)
        if len(kinds) != len(values):
            self._refuse(node)
        listed = ", ".join(f"{kind} {self._as(v, kind, node).text}" for v, kind in zip(values, kinds, strict=True))
        if result == NOTHING:
            self._line(f"call void {symbol}({listed})")
            return LoopValue("", NOTHING)
        return self._put(f"call {result} {symbol}({listed})", result)

    def _extreme(self, node: ast.Call, order: str, values: Sequence[LoopValue]) -> LoopValue:
        total = self._as(values[0], DOUBLE, node).text
        for value in values[1:]:
            other = self._as(value, DOUBLE, node).text
            better = self._put(f"fcmp {order} double {other}, {total}", TRUTH).text
            total = self._put(f"select i1 {better}, double {other}, double {total}").text
        return LoopValue(total, DOUBLE)

    # ---- lines and blocks --------------------------------------------------------------------------------------------

    def _as(self, value: LoopValue, kind: str, node: ast.AST) -> LoopValue:
        """A value as one of another kind."""
        if value.kind == kind:
            return value
        if kind == DOUBLE and value.kind in (INTEGER, TRUTH):
            return self._put(f"{'s' if value.kind == INTEGER else 'u'}itofp {value.kind} {value.text} to double")
        if kind == INTEGER and value.kind == TRUTH:
            return self._put(f"zext i1 {value.text} to i64", INTEGER)
        line = getattr(node, "lineno", 1)
        raise LoopError(
            f"{self.function.__name__}, line {line}: {value.kind} where {kind} is needed: "
            f"{ast.unparse(node).splitlines()[0]}"
        )

    def _store(self, name: str, value: LoopValue) -> None:
        if name not in self.slots:
            self.slots[name] = self._slot(f"var.{name}", value.kind)
        slot = self.slots[name]
        if slot.kind == INTEGER and value.kind == DOUBLE:
            raise LoopError(
                f"{self.function.__name__}: {name} is an integer at first and a float later; start it with a float"
            )
        value = self._as(value, slot.kind, ast.Name(name))
        self._line(f"store {slot.kind} {value.text}, ptr {slot.text}")

    def _slot(self, name: str, kind: str) -> LoopValue:
        self.head.append(f"%{name} = alloca {kind}")
        return LoopValue(f"%{name}", kind)

    def _fork(self, test: ast.expr, then: str, other: str) -> None:
        value = self._as(self._value(test), TRUTH, test)
        self._end(f"br i1 {value.text}, label %{then}, label %{other}")

    def _new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}.{self.count}"

    def _put(self, line: str, kind: str = DOUBLE) -> LoopValue:
        self.count += 1
        self._line(f"%v{self.count} = {line}")
        return LoopValue(f"%v{self.count}", kind)

    def _line(self, line: str) -> None:
        self.lines.append(line)

    def _label(self, label: str) -> None:
        if self.open:
            self._go(label)
        self.lines.append(f"{label}:")
        self.open = True

    def _go(self, label: str) -> None:
        if self.open:
            self._end(f"br label %{label}")

    def _end(self, line: str) -> None:
        self._line(line)
        self.open = False
