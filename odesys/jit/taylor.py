"""Taylor coefficients of the solution of a flow as straight-line machine code, to any order.

With x(t + s) = sum_k x_k s^k and the field's own coefficients f_k along it, x_(k+1) = f_k / (k + 1). Those of every
node of the expression graph follow from its arguments': sums term by term, products as convolutions, powers and
functions from their differential equations,

    k b_0 p_k = sum_(j<k) (e (k - j) - j) b_(k-j) p_j       for p = b^e,
    k y_k = sum_(j>0) j a_j d_(k-j)                         for y = f(a) with d = f'(a), which is a node as well.

Zero coefficients, as those of parameters, leave no instructions. Gates are held, as in the field.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node, Number
from ..expr.system import TIME, System
from .llvm import DECLARED, LONG, STRAIGHT, Address, compiled, constant
from .native import HELPERS, function_text, held_gates
from .shared_factors import is_exponential_power, read_nodes

MOST_INSTRUCTIONS = 40_000  # above, compiling takes longer than runs that are done here
QUICKLY = 6_000  # instructions from which on code is compiled quickly, to run half as fast
ZERO = ""  # a coefficient that is zero has no register


def has_branches(system: System) -> bool:
    """Whether the field has other branches beyond a point of the real line, as a root has at zero.

    Then the series of a solution can lead past such a point where the solution does not: x' = -sqrt(x) is solved by
    (1 - t/2)^2 before t = 2 only. Gates are held and do not count.
    """
    for node in read_nodes(system.nodes, held_gates(system)):
        if node.op == "mul" and any(exponent.denominator != 1 for _, exponent in node.args):
            return True
        if node.op in graph.FUNCTIONS and graph.FUNCTIONS[node.op].domain != (-math.inf, math.inf):
            return True
    return False


def taylor_code(system: System, order: int) -> Address:
    """Address of machine code of (t, x, p, g, out): coefficients 1 to `order` of all states, order by order."""
    text = assembly(system, order)
    return compiled(text, LONG if text.count("\n") > QUICKLY else STRAIGHT).address("function")


def assembly(system: System, order: int) -> str:
    """The code as LLVM assembly."""
    writer = _Writer(system)
    roots = [writer.place(node) for node in system.nodes]
    for k in range(order):
        writer.next_order(k)
        for i, root in enumerate(roots):
            found = writer.scaled(writer.series[root][k], Fraction(1, k + 1))
            writer.states[i].append(found)
            writer.store(found or constant(0), k * system.dimension + i)
        if len(writer.lines) > MOST_INSTRUCTIONS:
            raise EquationError(
                f"Taylor coefficients to order {order} of this system are more than {MOST_INSTRUCTIONS:,} operations; "
                f"use method='DOP853', or a larger rtol"
            )
    body = function_text("function", writer.lines)
    helpers = (text for name, text in HELPERS.items() if f"@{name}(" in body)
    return "\n".join([DECLARED, *helpers, body])


@dataclass(frozen=True)
class _Operation:
    """How the coefficients of a place follow from those of others."""

    kind: str  # number, leaf, time, state, sum, product, power or function
    places: tuple[int, ...] = ()
    numbers: tuple[Number, ...] = ()
    text: str = ""  # a leaf's register, or a function's name


def _newest_last(k: int) -> list[int]:
    """The terms of a convolution with those at the end that wait for the last coefficients."""
    return [*range(1, k), 0, *([k] if k else [])]


class _Writer:
    """Coefficients in the making: a place per node (and per part of a product), a list of registers per place."""

    def __init__(self, system: System) -> None:
        self.lines: list[str] = []
        self.operations: list[_Operation] = []
        self.series: list[list[str]] = []
        self._places: dict[object, int] = {}
        self._gates = held_gates(system)
        self._parameters = {name: i for i, name in enumerate(system.parameters)}
        self._slopes: dict[int, int] = {}  # places of functions, and of their derivatives
        self.states = [[self._load("%x", i)] for i in range(system.dimension)]
        self._places[graph.ONE] = self._leaf(constant(1))
        for name, coefficients in zip(system.names, self.states, strict=True):
            self._places[graph.sym(name)] = self._new(_Operation("state"), coefficients)

    # ---- places ------------------------------------------------------------------------------------------------------

    def place(self, node: Node) -> int:
        """The place of a node, which is made with all it needs."""
        for inner in read_nodes([node], self._gates):
            if inner not in self._places:
                self._places[inner] = self._made(inner)
        return self._places[node]

    def _made(self, node: Node) -> int:
        if node in self._gates:
            i, plain = self._gates[node]
            gate = self._load("%g", i)
            return self._leaf(gate if plain else self._put(f"fsub double {constant(1)}, {gate}"))
        if node.op == "num":
            return self._new(_Operation("leaf", text=constant(node.args[0])))
        if node.op == "sym":
            if node.args[0] == TIME:
                return self._new(_Operation("time"))
            return self._leaf(self._load("%p", self._parameters[node.args[0]]))
        if node.op == "add":
            return self._new(
                _Operation("sum", tuple(self._places[term] for _, term in node.args), tuple(c for c, _ in node.args))
            )
        if node.op == "mul":
            return self._product([self._factor(base, exponent) for base, exponent in node.args])
        return self._function(node)

    def _factor(self, base: Node, exponent: Fraction) -> int:
        if not is_exponential_power(base, exponent):
            return self._power(self._places[base], exponent)
        argument = self._shared(_Operation("sum", (self._places[base.args[0]],), (exponent,)))
        found = self._shared(_Operation("function", (argument,), text="exp"))
        self._slopes[found] = found
        return found

    def _leaf(self, register: str) -> int:
        return self._new(_Operation("leaf", text=register))

    def _function(self, node: Node) -> int:
        argument = self._places[node.args[0]]
        found = self._places[node] = self._new(_Operation("function", (argument,), text=node.op))
        slope = graph.FUNCTIONS[node.op].derivative(node.args[0], node, graph.call)
        self._slopes[found] = self.place(graph.as_node(slope))
        return found

    def _power(self, base: int, exponent: Fraction) -> int:
        if exponent == 1:
            return base
        if exponent.denominator == 1 and 1 < exponent <= 8:  # also where the base is zero
            half = self._power(base, Fraction(int(exponent) // 2))
            whole = self._product([half, half])
            return self._product([whole, base]) if int(exponent) % 2 else whole
        return self._shared(_Operation("power", (base,), (exponent,)))

    def _product(self, factors: Sequence[int]) -> int:
        found = factors[0]
        for factor in factors[1:]:
            found = self._shared(_Operation("product", tuple(sorted((found, factor)))))
        return found

    def _shared(self, operation: _Operation) -> int:
        if operation not in self._places:
            self._places[operation] = self._new(operation)
        return self._places[operation]

    def _new(self, operation: _Operation, coefficients: list[str] | None = None) -> int:
        self.operations.append(operation)
        self.series.append([] if coefficients is None else coefficients)
        return len(self.operations) - 1

    # ---- coefficients ------------------------------------------------------------------------------------------------

    def next_order(self, k: int) -> None:
        """Write coefficient k of every place but the states, whose own is known."""
        for place, operation in enumerate(self.operations):
            if operation.kind != "state":
                self.series[place].append(self._coefficient(operation, place, k))

    def _coefficient(self, operation: _Operation, place: int, k: int) -> str:
        kind, args = operation.kind, [self.series[p] for p in operation.places]
        if kind == "leaf":
            return operation.text if k == 0 else ZERO
        if kind == "time":
            return ("%t", constant(1))[k] if k < 2 else ZERO
        if kind == "sum":
            return self._sum([self.scaled(a[k], c) for a, c in zip(args, operation.numbers, strict=True)])
        if kind == "product":
            return self._convolution(args[0], args[1], k)
        if kind == "power":
            return self._power_coefficient(args[0], self.series[place], Fraction(operation.numbers[0]), k)
        return self._function_coefficient(operation.text, args[0], place, k)

    def _convolution(self, a: list[str], b: list[str], k: int) -> str:
        if a is not b:
            return self._sum([self._times(a[j], b[k - j]) for j in _newest_last(k)])
        twice = self._sum([self._times(a[j], a[k - j]) for j in reversed(range((k + 1) // 2))])
        middle = [] if k % 2 else [self._times(a[k // 2], a[k // 2])]
        return self._sum([self.scaled(twice, Fraction(2)), *middle])

    def _power_coefficient(self, b: list[str], p: list[str], e: Fraction, k: int) -> str:
        if k == 0:
            return self._number_power(b[0] or constant(0), e)
        total = self._sum([self.scaled(self._times(b[k - j], p[j]), e * (k - j) - j) for j in reversed(range(k))])
        return total and self._put(f"fdiv double {self.scaled(total, Fraction(1, k))}, {b[0]}")

    def _function_coefficient(self, name: str, a: list[str], place: int, k: int) -> str:
        if k == 0:
            if name == "step":
                raise EquationError("a gate that is not one of the system's has no Taylor coefficients")
            defined = "" if graph.FUNCTIONS[name].assembly else "lib_"
            return self._put(f"call double @{defined}{name}(double {a[0] or constant(0)})")
        slope = self.series[self._slopes[place]]
        total = self._sum([self.scaled(self._times(a[j], slope[k - j]), Fraction(j)) for j in range(1, k + 1)])
        return self.scaled(total, Fraction(1, k))

    # ---- instructions ------------------------------------------------------------------------------------------------

    def scaled(self, register: str, by: Number) -> str:
        """A register times a number."""
        if not register or by == 1:
            return register
        if by == -1:
            return self._put(f"fneg double {register}")
        return self._put(f"fmul contract double {constant(by)}, {register}")

    def store(self, register: str, place: int) -> None:
        """Write a register into the result."""
        pointer = self._put(f"getelementptr double, ptr %out, i64 {place}")
        self.lines.append(f"store double {register}, ptr {pointer}")

    def _sum(self, parts: Sequence[str]) -> str:
        total = ZERO
        for part in filter(None, parts):
            total = part if not total else self._put(f"fadd contract double {total}, {part}")
        return total

    def _times(self, a: str, b: str) -> str:
        one = constant(1)
        if not a or not b or a == one or b == one:
            return ZERO if not a or not b else b if a == one else a
        return self._put(f"fmul contract double {a}, {b}")

    def _number_power(self, base: str, exponent: Fraction) -> str:
        if exponent == -1:
            return self._put(f"fdiv double {constant(1)}, {base}")
        if abs(exponent) == Fraction(1, 2):
            root = self._put(f"call double @llvm.sqrt.f64(double {base})")
            return root if exponent > 0 else self._put(f"fdiv double {constant(1)}, {root}")
        return self._put(f"call double @lib_pow(double {base}, double {constant(exponent)})")

    def _load(self, array: str, place: int) -> str:
        pointer = self._put(f"getelementptr double, ptr {array}, i64 {place}")
        return self._put(f"load double, ptr {pointer}")

    def _put(self, line: str) -> str:
        register = f"%v{len(self.lines)}"
        self.lines.append(f"{register} = {line}")
        return register
