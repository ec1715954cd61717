"""Loops as machine code: functions of numbers and arrays, in a small part of Python, written as LLVM assembly.

A function says the kinds of its arguments and of its result by annotations: `int`, `float`, `Array` (of floats; K[k:]
is its part from k on) and `Code` (machine code of (t, x, p, g, out), called by `call`). It may use assignments, if,
while, for over range, break, continue, return of one number, arithmetic, comparisons, and, or, not, abs, min, max,
int, float, `math.sqrt`, `math.nextafter`, constants and tables of floats of its module, and other such functions.
A variable keeps the kind of its first value. The same text runs as Python, with the same digits. A function that calls
no other is compiled to be quick, one that does to be small.

Numba would take all of Python, and seconds for what takes a tenth of one here; the kernel of an integrator has to be
paid back within a few runs.
"""

from __future__ import annotations

import ast
import builtins
import ctypes
import inspect
import math
import textwrap
import typing
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, Protocol

import numpy as np

from . import llvm
from .errors import OdesysError
from .llvm import DECLARED, constant

Array = np.ndarray
DOUBLE, INTEGER, TRUTH, POINTER, NOTHING = "double", "i64", "i1", "ptr", "void"


class Code(Protocol):
    """A field or the values of surfaces and events; in machine code its address."""

    def __call__(self, t: float, x: Any, p: Any, g: Any, out: Any) -> None: ...


class LoopError(OdesysError):
    """A function uses more of Python than has machine code here."""


def call(code: Code, t: float, x: Array, p: Array, g: Array, out: Array) -> None:
    """Run code of (t, x, p, g, out)."""
    code(t, x, p, g, out)


def ready(*functions: Callable[..., Any]) -> tuple[Callable[..., Any], ...]:
    """The functions as machine code, to be called with numbers, arrays and addresses of code; else as they are."""
    if not llvm.available():
        return functions
    code = llvm.compiled(assembly(functions), optimise=True)
    return tuple(_caller(code.address(function.__name__), *signature(function)) for function in functions)


def _caller(address: int, kinds: Sequence[str], result: str) -> Callable[..., Any]:
    if TRUTH in (*kinds, result):
        raise LoopError("a function that is called from Python takes and gives int and float, not bool")
    function = ctypes.CFUNCTYPE(C_KINDS[result], *(C_KINDS[kind] for kind in kinds))(address)
    return lambda *given: function(*(llvm.address_of(v) if isinstance(v, np.ndarray) else v for v in given))


C_KINDS: dict[str, Any] = {DOUBLE: ctypes.c_double, INTEGER: ctypes.c_int64, POINTER: ctypes.c_void_p, NOTHING: None}
KINDS = {int: INTEGER, float: DOUBLE, bool: TRUTH, Array: POINTER, Code: POINTER, type(None): NOTHING}
ARITHMETIC: dict[type[ast.operator], str] = {ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul"}
WHOLE: dict[type[ast.operator], str] = {ast.FloorDiv: "sdiv", ast.Mod: "srem"}
COMPARISONS: dict[type[ast.cmpop], tuple[str, str]] = {
    ast.Lt: ("slt", "olt"), ast.LtE: ("sle", "ole"), ast.Gt: ("sgt", "ogt"), ast.GtE: ("sge", "oge"),
    ast.Eq: ("eq", "oeq"), ast.NotEq: ("ne", "une"),
}
FUNCTIONS: dict[Any, tuple[str, int]] = {
    abs: ("@llvm.fabs.f64", 1), math.sqrt: ("@llvm.sqrt.f64", 1), math.nextafter: ("@lib_nextafter", 2),
    pow: ("@lib_pow", 2),
}


def assembly(functions: Sequence[Callable[..., Any]]) -> str:
    """The functions, and those they call, as one text; only the ones named here can be called from outside."""
    unit = _Unit(set(functions))
    for function in functions:
        unit.symbol(function)
    return DECLARED + "".join(unit.tables.values()) + "".join(unit.texts.values())


def signature(function: Callable[..., Any]) -> tuple[list[str], str]:
    """Kinds of the arguments and of the result."""
    hints = typing.get_type_hints(function)
    result = hints.pop("return", type(None))
    try:
        return [KINDS[hints[name]] for name in inspect.signature(function).parameters], KINDS[result]
    except KeyError as missing:
        raise LoopError(f"{function.__name__}: {missing} has no kind; annotate arguments and result with int, float, "
                        f"Array or Code") from None


class Value(NamedTuple):
    """A register or constant and its kind."""

    text: str
    kind: str


class _Unit:
    """Functions and tables written so far."""

    def __init__(self, public: set[Callable[..., Any]]) -> None:
        self.public, self.texts, self.tables = public, dict[Any, str](), dict[int, str]()

    def symbol(self, function: Callable[..., Any]) -> str:
        """Name of a function, which is written if it was not yet."""
        if function not in self.texts:
            self.texts[function] = ""  # it may call itself
            self.texts[function] = _Body(self, function).text(function in self.public)
        return f"@{function.__name__}"

    def table(self, name: str, array: np.ndarray) -> Value:
        """Name of a table of constants."""
        numbers = ", ".join(f"double {constant(v)}" for v in array.ravel().tolist())
        kind = f"[{array.size} x double]"
        self.tables.setdefault(id(array), f"@table.{name} = internal constant {kind} [{numbers}]\n")
        return Value(self.tables[id(array)].split(" ", 1)[0], POINTER)


class _Body:
    """One function in the making."""

    def __init__(self, unit: _Unit, function: Callable[..., Any]) -> None:
        self.unit, self.function = unit, function
        source, self.first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(source))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree, (self.kinds, self.result) = tree, signature(function)
        self.head: list[str] = []
        self.lines: list[str] = []
        self.slots: dict[str, Value] = {}
        self.loops: list[tuple[str, str]] = []  # where continue and break go
        self.count, self.open, self.calls = 0, True, False

    def text(self, public: bool) -> str:
        """The whole function."""
        names = [a.arg for a in self.tree.args.args]
        for name, kind in zip(names, self.kinds, strict=True):
            self._store(name, Value(f"%arg.{name}", kind))
        self._all(self.tree.body)
        if self.open:
            self._end("ret void" if self.result == NOTHING else "unreachable")
        arguments = ", ".join(f"{kind} %arg.{name}" for name, kind in zip(names, self.kinds, strict=True))
        head = f"define {'' if public else 'internal '}{self.result} @{self.tree.name}({arguments})"
        head += " optsize {\n" if self.calls else " {\n"
        return head + "".join(f"  {line}\n" for line in [*self.head, *self.lines]) + "}\n"

    # ---- statements --------------------------------------------------------------------------------------------------

    def _all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:
                self._label(self._new("dead"))
            getattr(self, f"_do_{type(statement).__name__}", self._refuse)(statement)

    def _refuse(self, node: ast.AST) -> typing.NoReturn:
        line = self.first + getattr(node, "lineno", 1) - 1
        raise LoopError(f"{self.function.__name__}, line {line}: {type(node).__name__} has no machine code: "
                        f"{ast.unparse(node).splitlines()[0]}")

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._value(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        tuples = isinstance(node.value, ast.Tuple)
        values = [self._value(v) for v in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])]
        for target in node.targets:
            if isinstance(target, ast.Tuple) != tuples:
                self._refuse(node)
            for one, value in zip(target.elts if isinstance(target, ast.Tuple) else [target], values, strict=True):
                self._assign(one, value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        load = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        self._assign(node.target, self._binary(node, node.op, self._value(load), self._value(node.value)))

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self._store(target.id, value)
        elif isinstance(target, ast.Subscript):
            self._line(f"store double {self._as(value, DOUBLE, target).text}, ptr {self._place(target)}")
        else:
            self._refuse(target)

    def _do_If(self, node: ast.If) -> None:
        then, other, after = self._new("then"), self._new("else"), self._new("after")
        self._fork(node.test, then, other)
        for label, body in ((then, node.body), (other, node.orelse)):
            self._label(label)
            self._all(body)
            self._go(after)
        self._label(after)

    def _do_While(self, node: ast.While) -> None:
        test, body, after = self._new("test"), self._new("body"), self._new("after")
        self._label(test)
        self._fork(node.test, body, after)
        self._loop(node.body, body, test, after)
        self._label(after)

    def _do_For(self, node: ast.For) -> None:
        source = node.iter
        if not (isinstance(source, ast.Call) and isinstance(source.func, ast.Name) and source.func.id == "range"
                and len(source.args) <= 2 and isinstance(node.target, ast.Name)):
            self._refuse(node)
        low, high = ([Value("0", INTEGER)] + [self._value(a) for a in source.args])[-2:]
        counter, body, more, after = self._slot(self._new("count"), INTEGER), *map(self._new, ("body", "more", "after"))
        test = self._new("test")
        self._line(f"store i64 {low.text}, ptr {counter.text}")
        self._label(test)
        here = self._put(f"load i64, ptr {counter.text}", INTEGER)
        less = self._put(f"icmp slt i64 {here.text}, {self._as(high, INTEGER, node).text}", TRUTH)
        self._end(f"br i1 {less.text}, label %{body}, label %{after}")
        self._label(body)
        self._store(node.target.id, here)
        self._loop(node.body, body, more, after, begun=True)
        self._label(more)
        last = self._put(f"load i64, ptr {counter.text}", INTEGER)
        self._line(f"store i64 {self._put(f'add nsw i64 {last.text}, 1', INTEGER).text}, ptr {counter.text}")
        self._go(test)
        self._label(after)

    def _loop(self, body: Sequence[ast.stmt], label: str, again: str, after: str, begun: bool = False) -> None:
        if not begun:
            self._label(label)
        self.loops.append((again, after))
        self._all(body)
        self.loops.pop()
        self._go(again)

    def _do_Break(self, node: ast.Break) -> None:
        self._go(self.loops[-1][1])

    def _do_Continue(self, node: ast.Continue) -> None:
        self._go(self.loops[-1][0])

    def _do_Pass(self, node: ast.Pass) -> None:
        pass

    def _do_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self._end("ret void")
        else:
            self._end(f"ret {self.result} {self._as(self._value(node.value), self.result, node).text}")

    # ---- values ------------------------------------------------------------------------------------------------------

    def _value(self, node: ast.expr) -> Value:
        return Value(*getattr(self, f"_of_{type(node).__name__}", self._refuse)(node))

    def _of_Constant(self, node: ast.Constant) -> Value:
        return self._literal(node.value, node)

    def _literal(self, value: Any, node: ast.expr) -> Value:
        if isinstance(value, bool):
            return Value(str(int(value)), TRUTH)
        if isinstance(value, int):
            return Value(str(value), INTEGER)
        if isinstance(value, float):
            return Value(constant(value), DOUBLE)
        if isinstance(value, np.ndarray):
            return self.unit.table(ast.unparse(node), value)
        self._refuse(node)

    def _of_Name(self, node: ast.Name) -> Value:
        if node.id in self.slots:
            slot = self.slots[node.id]
            return self._put(f"load {slot.kind}, ptr {slot.text}", slot.kind)
        return self._literal(self._known(node), node)

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        return self._literal(self._known(node), node)

    def _known(self, node: ast.expr) -> Any:
        """What a name of the module stands for."""
        with suppress(AttributeError, KeyError):
            if isinstance(node, ast.Attribute):
                return getattr(self._known(node.value), node.attr)
            if isinstance(node, ast.Name):
                return {**vars(builtins), **self.function.__globals__}[node.id]
        self._refuse(node)

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        place = self._place(node)
        return Value(place, POINTER) if isinstance(node.slice, ast.Slice) else self._put(f"load double, ptr {place}")

    def _place(self, node: ast.Subscript) -> str:
        index = node.slice
        if isinstance(index, ast.Slice):
            if index.upper or index.step or not index.lower:
                self._refuse(node)
            index = index.lower
        array, where = self._value(node.value), self._value(index)
        if array.kind != POINTER or where.kind != INTEGER:
            self._refuse(node)
        return self._put(f"getelementptr double, ptr {array.text}, i64 {where.text}", POINTER).text

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return self._put(f"xor i1 {self._as(value, TRUTH, node).text}, 1", TRUTH)
        if not isinstance(node.op, ast.USub):
            self._refuse(node)
        if value.kind == INTEGER:
            return self._put(f"sub i64 0, {value.text}", INTEGER)
        return self._put(f"fneg double {self._as(value, DOUBLE, node).text}")

    def _of_BinOp(self, node: ast.BinOp) -> Value:
        return self._binary(node, node.op, self._value(node.left), self._value(node.right))

    def _binary(self, node: ast.AST, op: ast.operator, left: Value, right: Value) -> Value:
        whole = left.kind == right.kind == INTEGER
        if whole and type(op) in (ARITHMETIC | WHOLE):
            return self._put(f"{(ARITHMETIC | WHOLE)[type(op)]} i64 {left.text}, {right.text}", INTEGER)
        a, b = (self._as(value, DOUBLE, node).text for value in (left, right))
        if type(op) in ARITHMETIC:
            return self._put(f"f{ARITHMETIC[type(op)]} double {a}, {b}")
        if isinstance(op, ast.Div):
            return self._put(f"fdiv double {a}, {b}")
        if isinstance(op, ast.Pow):
            return self._put(f"call double @lib_pow(double {a}, double {b})")
        self._refuse(node)

    def _of_Compare(self, node: ast.Compare) -> Value:
        values = [self._value(v) for v in (node.left, *node.comparators)]
        found = Value("1", TRUTH)
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

    def _of_BoolOp(self, node: ast.BoolOp) -> Value:
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

    def _of_IfExp(self, node: ast.IfExp) -> Value:
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

    def _of_Call(self, node: ast.Call) -> Value:
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
            listed = ", ".join(f"{value.kind} {value.text}" for value in values[1:])
            self._line(f"call void {values[0].text}({listed})")
            return Value("", NOTHING)
        if function in FUNCTIONS:
            symbol, count = FUNCTIONS[function]
            kinds, result = [DOUBLE] * count, DOUBLE
        elif inspect.isfunction(function):
            symbol, (kinds, result) = self.unit.symbol(function), signature(function)
        else:
            self._refuse(node)
        if len(kinds) != len(values):
            self._refuse(node)
        listed = ", ".join(f"{kind} {self._as(v, kind, node).text}" for v, kind in zip(values, kinds, strict=True))
        if result == NOTHING:
            self._line(f"call void {symbol}({listed})")
            return Value("", NOTHING)
        return self._put(f"call {result} {symbol}({listed})", result)

    def _extreme(self, node: ast.Call, order: str, values: Sequence[Value]) -> Value:
        total = self._as(values[0], DOUBLE, node).text
        for value in values[1:]:
            other = self._as(value, DOUBLE, node).text
            better = self._put(f"fcmp {order} double {other}, {total}", TRUTH).text
            total = self._put(f"select i1 {better}, double {other}, double {total}").text
        return Value(total, DOUBLE)

    # ---- lines and blocks --------------------------------------------------------------------------------------------

    def _as(self, value: Value, kind: str, node: ast.AST) -> Value:
        """A value as one of another kind."""
        if value.kind == kind:
            return value
        if kind == DOUBLE and value.kind in (INTEGER, TRUTH):
            return self._put(f"{'s' if value.kind == INTEGER else 'u'}itofp {value.kind} {value.text} to double")
        if kind == INTEGER and value.kind == TRUTH:
            return self._put(f"zext i1 {value.text} to i64", INTEGER)
        if kind == TRUTH and value.kind == INTEGER:
            return self._put(f"icmp ne i64 {value.text}, 0", TRUTH)
        if kind == TRUTH and value.kind == DOUBLE:
            return self._put(f"fcmp une double {value.text}, {constant(0.0)}", TRUTH)
        line = self.first + getattr(node, "lineno", 1) - 1
        raise LoopError(f"{self.function.__name__}, line {line}: {value.kind} where {kind} is needed: "
                        f"{ast.unparse(node).splitlines()[0]}")

    def _store(self, name: str, value: Value) -> None:
        if name not in self.slots:
            self.slots[name] = self._slot(f"var.{name}", value.kind)
        slot = self.slots[name]
        if slot.kind == INTEGER and value.kind == DOUBLE:
            raise LoopError(f"{self.function.__name__}: {name} is an integer at first and a float later; start it with "
                            f"a float")
        value = self._as(value, slot.kind, self.tree)
        self._line(f"store {slot.kind} {value.text}, ptr {slot.text}")

    def _slot(self, name: str, kind: str) -> Value:
        self.head.append(f"%{name} = alloca {kind}")
        return Value(f"%{name}", kind)

    def _fork(self, test: ast.expr, then: str, other: str) -> None:
        value = self._as(self._value(test), TRUTH, test)
        self._end(f"br i1 {value.text}, label %{then}, label %{other}")

    def _new(self, stem: str) -> str:
        self.count += 1
        return f"{stem}.{self.count}"

    def _put(self, line: str, kind: str = DOUBLE) -> Value:
        self.count += 1
        self._line(f"%v{self.count} = {line}")
        return Value(f"%v{self.count}", kind)

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
