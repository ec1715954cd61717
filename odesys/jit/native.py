"""Straight-line machine code from expressions: the graph is written as LLVM assembly.

One instruction an operation, every node once; the operations and their order are those of the straight-line Python code
of `odesys.jit.codegen`, so both give the same digits up to the last ones of library functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System
from .llvm import DECLARED, LONG, STRAIGHT, Address, compiled, constant
from .shared_factors import Pair, Products, is_exponential_power, read_nodes, reads, shared_products
from .shifted_sums import shifted

SMALL_POWER = 8  # up to here a power is a product
NODES_PER_PIECE = 1500  # the time to compile one function grows with the square of its length
LONG_PIECES = 4  # from here on code is compiled quickly, to run half as fast

HELPERS = {record.name: record.assembly for record in graph.FUNCTIONS.values() if record.assembly}


def compile_nodes(system: System, roots: Sequence[Node], targets: Sequence[int], gated: bool) -> Address:
    """Address of machine code of (t, x, p, g, out) that computes `roots` into the places `targets` of `out`.

    With `gated` the gates come from `g`.
    """
    return compile_text(assembly(system, roots, targets, gated))


def compile_text(text: str) -> Address:
    """Address of the function that `assembly` wrote."""
    return compiled(text, LONG if f"@piece{LONG_PIECES}(" in text else STRAIGHT).address("function")


def assembly(system: System, roots: Sequence[Node], targets: Sequence[int], gated: bool) -> str:
    """The function as LLVM assembly; a long one in pieces, which keep in %s what later ones need of them."""
    gates = held_gates(system) if gated else {}
    roots = shifted(roots, gates)
    order, places = read_nodes(roots, gates), dict[Node, list[int]]()
    for root, place in zip(roots, targets, strict=True):
        places.setdefault(root, []).append(place)
    piece_of = {node: k // NODES_PER_PIECE for k, node in enumerate(order)}
    writer = _Writer(system, gates, shared_products(order))
    read = ((node, n) for node in order if node not in gates for n in reads(node) if not writer.is_leaf(n))
    shared = {n for node, n in read if piece_of[n] != piece_of[node]}
    writer.slots = {node: i for i, node in enumerate(sorted(shared, key=lambda node: node.uid))}
    texts, count = [], piece_of[order[-1]] + 1 if order else 1
    for k in range(count):
        writer.begin()
        for node in order[k * NODES_PER_PIECE : (k + 1) * NODES_PER_PIECE]:
            register = writer.value(node)
            for place in places.get(node, ()):
                writer.store(register, "%out", place)
        name, more = (f"piece{k}", ", ptr noalias %s") if count > 1 else ("function", "")
        texts.append(function_text(name, writer.lines, more))
    if count > 1:
        calls = (f"call void @piece{k}(double %t, ptr %x, ptr %p, ptr %g, ptr %out, ptr %s)" for k in range(count))
        texts.append(function_text("function", [f"%s = alloca [{len(shared)} x double]", *calls]))
    body = "".join(texts)
    helpers = (text for name, text in HELPERS.items() if f"@{name}(" in body)
    return "\n".join([DECLARED, *helpers, body])


def function_text(name: str, lines: Sequence[str], more: str = "") -> str:
    """Lines as a function of (t, x, p, g, out)."""
    arrays = ", ".join(f"ptr noalias %{array}" for array in ("x", "p", "g", "out"))
    head = f"define void @{name}(double %t, {arrays}{more}) {{\n"
    return head + "".join(f"  {line}\n" for line in lines) + "  ret void\n}\n"


def held_gates(system: System) -> dict[Node, tuple[int, bool]]:
    """The gates by their place in g; False for the opposite of one."""
    found: dict[Node, tuple[int, bool]] = {}
    for i, surface in enumerate(system.surfaces):
        found |= {graph.step(surface): (i, True), graph.step(-surface): (i, False)}
    return found


class _Writer:
    """Assembly of one function in the making: the register of every node that has been written."""

    def __init__(self, system: System, gates: Mapping[Node, tuple[int, bool]], products: Products) -> None:
        self._gates, self._products = gates, products
        self._factors: dict[int, str] = {}
        self.lines: list[str] = []
        self.known: dict[Node, str] = {}
        self.slots: dict[Node, int] = {}
        self._places = {name: ("%x", i) for i, name in enumerate(system.names)}
        self._places |= {name: ("%p", i) for i, name in enumerate(system.parameters)}

    def begin(self) -> None:
        """Start a piece: registers of the one before are gone."""
        self.lines, self.known, self._factors = [], {}, {}

    def is_leaf(self, node: Node) -> bool:
        """True for what is read from the arguments wherever it is needed."""
        return node.op in ("num", "sym") or node in self._gates

    def value(self, node: Node) -> str:
        """The register, or constant, that holds a node whose children have been written."""
        self.known[node] = found = self._write(node)
        if node in self.slots:
            self.store(found, "%s", self.slots[node])
        return found

    def store(self, register: str, array: str, place: int) -> None:
        """Write a register into an array."""
        self._put(f"store double {register}, ptr {self._element(array, place)}", False)

    def _of(self, node: Node) -> str:
        """The register of a node that was written in this piece or before."""
        if node not in self.known:
            self.known[node] = self._write(node) if self.is_leaf(node) else self._load("%s", self.slots[node])
        return self.known[node]

    def _write(self, node: Node) -> str:
        if node in self._gates:
            i, plain = self._gates[node]
            gate = self._load("%g", i)
            return gate if plain else self._put(f"fsub double {constant(1)}, {gate}")
        if node.op == "num":
            return constant(node.args[0])
        if node.op == "sym":
            return "%t" if node.args[0] == TIME else self._load(*self._places[node.args[0]])
        if node.op == "add":
            return self._sum(node)
        if node.op == "mul":
            return self._product([self._factor(number) for number in self._products.factors[node]])
        return self._call(node.op, self._of(node.args[0]))

    def _sum(self, node: Node) -> str:
        total = ""
        for c, term in node.args:
            if term is graph.ONE:
                part, minus = constant(c), False
            elif c == 1 or c == -1:
                part, minus = self._of(term), c == -1
            else:
                part, minus = self._put(f"fmul double {constant(c)}, {self._of(term)}"), False
            if not total:
                total = self._put(f"fneg double {part}") if minus else part
            else:
                total = self._put(f"{'fsub' if minus else 'fadd'} double {total}, {part}")
        return total

    def _product(self, factors: Sequence[str]) -> str:
        total = factors[0]
        for factor in factors[1:]:
            total = self._put(f"fmul double {total}, {factor}")
        return total

    def _factor(self, number: int) -> str:
        if number not in self._factors:
            defined = self._products.definitions[number]
            if isinstance(defined, Pair):
                self._factors[number] = self._product([self._factor(part) for part in defined])
            else:
                self._factors[number] = self._power(*defined)
        return self._factors[number]

    def _power(self, base: Node, exponent: Fraction) -> str:
        if is_exponential_power(base, exponent):
            return self._call("exp", self._put(f"fmul double {constant(exponent)}, {self._of(base.args[0])}"))
        inner = self._of(base)
        if exponent == 1:
            return inner
        if abs(exponent) == Fraction(1, 2):
            root = self._put(f"call double @llvm.sqrt.f64(double {inner})")
            return root if exponent > 0 else self._inverse(root)
        if exponent.denominator == 1 and abs(exponent) <= SMALL_POWER:
            whole = self._product([inner] * abs(int(exponent)))
            return whole if exponent > 0 else self._inverse(whole)
        return self._put(f"call double @lib_pow(double {inner}, double {constant(exponent)})")

    def _inverse(self, register: str) -> str:
        return self._put(f"fdiv double {constant(1)}, {register}")

    def _call(self, function: str, register: str) -> str:
        if function == "step":
            above = self._put(f"fcmp ogt double {register}, {constant(0)}")
            return self._put(f"uitofp i1 {above} to double")
        defined = "" if graph.FUNCTIONS[function].assembly else "lib_"
        return self._put(f"call double @{defined}{function}(double {register})")

    def _load(self, array: str, place: int) -> str:
        return self._put(f"load double, ptr {self._element(array, place)}")

    def _element(self, array: str, place: int) -> str:
        return self._put(f"getelementptr double, ptr {array}, i64 {place}")

    def _put(self, line: str, result: bool = True) -> str:
        register = f"%v{len(self.lines)}"
        self.lines.append(f"{register} = {line}" if result else line)
        return register
