"""Functions in the language of `odesys.jit.loops`, statement by statement, as one text of LLVM assembly."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .llvm import DECLARED, constant
from .loop_kinds import DOUBLE, INTEGER, NOTHING, POINTER, TRUTH, LoopError, LoopValue, signature
from .loop_values import Values


def assembly(functions: Sequence[Callable[..., Any]]) -> str:
    """The functions, and those they call, as one text; only the ones named here can be called from outside."""
    if len({function.__name__ for function in functions}) < len(set(functions)):
        raise LoopError("two functions that are called from Python have the same name")
    unit = _Unit(set(functions))
    for function in functions:
        unit.symbol(function)
    return DECLARED + "".join(unit.tables.values()) + "".join(unit.texts.values())


def _definition(function: Callable[..., Any], files: dict[str, ast.Module]) -> ast.FunctionDef:
    """The text of a function as a tree; what is on disk must be what was imported. Each of `files` is read once."""
    if not inspect.isfunction(function) or function.__name__ == "<lambda>" or function.__code__.co_freevars:
        raise LoopError(
            f"{getattr(function, '__qualname__', function)} is no function of a module, or uses variables "
            f"of another function"
        )
    code = function.__code__
    try:
        if code.co_filename not in files:
            linecache.checkcache(code.co_filename)
            files[code.co_filename] = ast.parse("".join(linecache.getlines(code.co_filename, function.__globals__)))
        tree = next(
            node
            for node in ast.walk(files[code.co_filename])
            if isinstance(node, ast.FunctionDef)
            and min([node.lineno, *(each.lineno for each in node.decorator_list)]) == code.co_firstlineno
        )
        alone = compile(ast.Module([tree], []), "", "exec")
        made = next(c for c in alone.co_consts if inspect.iscode(c))
    except (OSError, SyntaxError, StopIteration) as error:
        raise LoopError(f"the source of {function.__name__} can not be read: {error}") from None
    found, wanted = ((c.co_name, c.co_varnames, c.co_names, c.co_consts) for c in (made, code))
    if found != wanted:
        raise LoopError(f"the source of {function.__name__} has changed since it was imported; start again")
    return tree


class _Unit:
    """Functions and tables written so far."""

    def __init__(self, public: set[Callable[..., Any]]) -> None:
        self.public, self.texts, self.tables = public, dict[Any, str](), dict[int, str]()
        self.kept: list[np.ndarray] = []
        self.files: dict[str, ast.Module] = {}
        self.symbols: dict[Any, str] = {function: f"@{function.__name__}" for function in public}

    def symbol(self, function: Callable[..., Any]) -> str:
        """Name of a function, which is written if it was not yet."""
        symbol = self.symbols.setdefault(function, f"@{function.__name__}.{len(self.symbols)}")
        if function not in self.texts:
            self.texts[function] = ""  # it may call itself
            self.texts[function] = _Body(self, function).text(symbol, function in self.public)
        return symbol

    def table(self, name: str, array: np.ndarray) -> LoopValue:
        """Name of a table of constants."""
        self.kept.append(array)  # its id is its name
        numbers = ", ".join(f"double {constant(v)}" for v in array.tolist())
        kind = f"[{array.size} x double]"
        self.tables.setdefault(id(array), f"@{name}.{len(self.tables)} = internal constant {kind} [{numbers}]\n")
        return LoopValue(self.tables[id(array)].split(" ", 1)[0], POINTER)


class _Body(Values):
    """One function in the making."""

    def __init__(self, unit: _Unit, function: Callable[..., Any]) -> None:
        super().__init__(unit, function)
        self.tree, (self.kinds, self.result) = _definition(function, unit.files), signature(function)
        self.loops: list[tuple[str, str]] = []  # where continue and break go

    def text(self, symbol: str, public: bool) -> str:
        """The whole function."""
        names = [a.arg for a in self.tree.args.args]
        for name, kind in zip(names, self.kinds, strict=True):
            self._store(name, LoopValue(f"%arg.{name}", kind))
        self._all(self.tree.body)
        if self.result != NOTHING and not isinstance(self.tree.body[-1], ast.Return):
            raise LoopError(f"{self.function.__name__} has to end with a return")
        if self.open:
            self._end("ret void" if self.result == NOTHING else "unreachable")
        arguments = ", ".join(f"{kind} %arg.{name}" for name, kind in zip(names, self.kinds, strict=True))
        head = f"define {'' if public else 'internal '}{self.result} {symbol}({arguments})"
        head += " noinline optnone {\n" if self.calls else " {\n"
        return head + "".join(f"  {line}\n" for line in [*self.head, *self.lines]) + "}\n"

    # ---- statements --------------------------------------------------------------------------------------------------

    def _all(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if not self.open:
                self._label(self._new("dead"))
            getattr(self, f"_do_{type(statement).__name__}", self._refuse)(statement)

    def _do_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self._value(node.value)

    def _do_Assign(self, node: ast.Assign) -> None:
        tuples = isinstance(node.value, ast.Tuple)
        values = [self._value(v) for v in (node.value.elts if isinstance(node.value, ast.Tuple) else [node.value])]
        for target in node.targets:
            places = target.elts if isinstance(target, ast.Tuple) else [target]
            if isinstance(target, ast.Tuple) != tuples or len(places) != len(values):
                self._refuse(node)
            for one, value in zip(places, values, strict=True):
                self._assign(one, value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        load = ast.copy_location(ast.parse(ast.unparse(node.target), mode="eval").body, node)
        self._assign(node.target, self._binary(node, node.op, self._value(load), self._value(node.value)))

    def _assign(self, target: ast.expr, value: LoopValue) -> None:
        if value.kind == NOTHING:
            self._refuse(target)
        if isinstance(target, ast.Name) and self._record(target) is None:
            self._store(target.id, value)
        elif isinstance(target, ast.Attribute):
            place = self._field(target)
            self._line(f"store {place.kind} {self._as(value, place.kind, target).text}, ptr {place.text}")
        elif isinstance(target, ast.Subscript) and self._is_variable(target.value):
            self._line(f"store double {self._as(value, DOUBLE, target).text}, ptr {self._place(target)}")
        else:
            self._refuse(target)

    def _is_variable(self, node: ast.expr) -> bool:
        """True for an array that may be written to: a variable, or a field of a record; not a table of the module."""
        if isinstance(node, ast.Attribute):
            return self._record(node.value) is not None
        return isinstance(node, ast.Name) and node.id in self.slots

    def _do_If(self, node: ast.If) -> None:
        then, other, after = self._new("then"), self._new("else"), self._new("after")
        self._fork(node.test, then, other)
        for label, body in ((then, node.body), (other, node.orelse)):
            self._label(label)
            self._all(body)
            self._go(after)
        self._label(after)

    def _do_While(self, node: ast.While) -> None:
        if node.orelse:
            self._refuse(node)
        test, body, after = self._new("test"), self._new("body"), self._new("after")
        self._label(test)
        self._fork(node.test, body, after)
        self._label(body)
        self._loop(node.body, test, after)
        self._label(after)

    def _do_For(self, node: ast.For) -> None:
        source = node.iter
        if not (
            isinstance(source, ast.Call)
            and isinstance(source.func, ast.Name)
            and source.func.id == "range"
            and 1 <= len(source.args) <= 2
            and isinstance(node.target, ast.Name)
            and not node.orelse
        ):
            self._refuse(node)
        ends = [LoopValue("0", INTEGER)] + [self._as(self._value(a), INTEGER, node) for a in source.args]
        low, high = ends[-2:]
        counter, body, more, after = self._slot(self._new("count"), INTEGER), *map(self._new, ("body", "more", "after"))
        test = self._new("test")
        self._line(f"store i64 {low.text}, ptr {counter.text}")
        self._label(test)
        here = self._put(f"load i64, ptr {counter.text}", INTEGER)
        less = self._put(f"icmp slt i64 {here.text}, {high.text}", TRUTH)
        self._end(f"br i1 {less.text}, label %{body}, label %{after}")
        self._label(body)
        self._store(node.target.id, here)
        self._loop(node.body, more, after)
        self._label(more)
        last = self._put(f"load i64, ptr {counter.text}", INTEGER)
        self._line(f"store i64 {self._put(f'add nsw i64 {last.text}, 1', INTEGER).text}, ptr {counter.text}")
        self._go(test)
        self._label(after)

    def _loop(self, body: Sequence[ast.stmt], again: str, after: str) -> None:
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
        if (node.value is None) != (self.result == NOTHING):
            self._refuse(node)
        if node.value is None:
            self._end("ret void")
        else:
            self._end(f"ret {self.result} {self._as(self._value(node.value), self.result, node).text}")
