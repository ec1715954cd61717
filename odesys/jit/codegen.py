"""The one door to floats: straight-line code or block code for a System, with gates, surfaces and Jacobian.

Straight-line code is one Python function after common-subexpression elimination; `odesys.jit.native` makes machine code
of the same operations. Block code evaluates matrices and one vectorised kernel over samples and is the default for
large systems. Straight-line softmax weights are quotients of exponentials, which leave the range of floats at scores of
about 700; the block code shifts them and has no such limit. Class probabilities are shifted in both (`shifted_sums`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..errors import ParameterError
from ..expr import blocks, graph
from ..expr.constants import to_float
from ..expr.field import BlockField
from ..expr.functions import FLOAT_ROOTS, FUNCTIONS
from ..expr.graph import Node, Number
from ..expr.letters import plain_name
from ..expr.system import TIME, System
from ..expr.tape import ARRAYS, Tape
from . import llvm, native
from .shared_factors import Pair, is_exponential_power, read_nodes, reads, shared_products
from .shifted_sums import shifted

SCALAR_LIMIT = 200  # states; above this the block back end is the default


# ---- text of straight-line code ------------------------------------------------------------------------------------


def straight_line(
    roots: Sequence[Node],
    argument: Mapping[str, str],
    targets: Sequence[str],
    constant: Callable[[Number], str],
    gates: Mapping[Node, str] | None = None,
) -> list[str]:
    """Assignments that compute `roots` into `targets`; what is used more than once is computed once."""
    roots = shifted(roots, gates or {})
    order = read_nodes(roots, gates or {})
    products, factor_text = shared_products(order), dict[int, str]()
    uses: dict[Node, int] = dict.fromkeys(order, 0)
    for node in order:
        for child in reads(node) if node not in (gates or {}) else ():
            uses[child] += 1
    for root in roots:
        uses[root] += 1
    text: dict[Node, str] = {}
    lines: list[str] = []

    def factor(number: int) -> str:
        if number not in factor_text:
            defined = products.definitions[number]
            if isinstance(defined, Pair):
                body, once = f"{factor(defined.first)}*{factor(defined.second)}", products.uses[number] == 1
                body = f"({body})" if once else body
            else:
                body, once = _power(*defined, text, constant), products.uses[number] == 1 or defined[1] == 1
            factor_text[number] = body if once else f"v{len(lines)}"
            if not once:
                lines.append(f"{factor_text[number]} = {body}")
        return factor_text[number]

    for node in order:
        if node.op == "mul":
            body = "*".join(factor(number) for number in products.factors[node])
        else:
            body = _expression(node, text, argument, constant, gates or {})
        simple = node.op in ("num", "sym") or (gates is not None and node in gates)
        if simple or (uses[node] == 1 and len(body) < 160):
            text[node] = body if simple else f"({body})"
        else:
            text[node] = f"v{len(lines)}"
            lines.append(f"{text[node]} = {body}")
    lines += [f"{target} = {text[root]}" for target, root in zip(targets, roots, strict=True)]
    return lines


def _expression(
    node: Node,
    text: Mapping[Node, str],
    argument: Mapping[str, str],
    constant: Callable[[Number], str],
    gates: Mapping[Node, str],
) -> str:
    if node in gates:
        return gates[node]
    if node.op == "num":
        return constant(node.args[0])
    if node.op == "sym":
        return argument[node.args[0]]
    if node.op == "add":
        parts = []
        for c, t in node.args:
            if t is graph.ONE:
                parts.append(constant(c))
            elif c == 1:
                parts.append(text[t])
            elif c == -1:
                parts.append(f"-{text[t]}")
            else:
                parts.append(f"{constant(c)}*{text[t]}")
        return " + ".join(parts).replace("+ -", "- ")
    return f"{node.op}({text[node.args[0]]})"


def _power(base: Node, exponent: Fraction, text: Mapping[Node, str], constant: Callable[[Number], str]) -> str:
    if is_exponential_power(base, exponent):
        return f"exp({constant(exponent)}*{text[base.args[0]]})"
    inner = text[base]
    if exponent == 1:
        return inner
    if exponent == Fraction(1, 2):
        return f"sqrt({inner})"
    if exponent == Fraction(-1, 2):
        return f"(1/sqrt({inner}))"
    if exponent.denominator == 1:
        if exponent == 2:
            return f"({inner}*{inner})"
        return f"(1/{inner})" if exponent == -1 else f"{inner}**({int(exponent)})"
    return f"pow({inner}, {constant(exponent)})"


def float_literal(value: Number) -> str:
    """A float constant that reads back exactly."""
    number = to_float(value)
    return repr(number) if number >= 0 else f"({number!r})"


@dataclass(frozen=True)
class GeneratedCode:
    """Generated source and what it defines: `function(t, x, p, g, out)` in Python, or the address of machine code."""

    source: str
    function: Any


def generate(system: System, roots: Sequence[Node], targets: Sequence[str], gated: bool) -> GeneratedCode:
    """Straight-line Python function of (t, x, p, g, out) for `roots`; with `gated` the gates come from `g`."""
    argument = {TIME: "t"}
    argument |= {name: f"x[{i}]" for i, name in enumerate(system.names)}
    argument |= {name: f"p[{i}]" for i, name in enumerate(system.parameters)}
    gates: dict[Node, str] = {}
    if gated:
        for i, surface in enumerate(system.surfaces):
            gates[graph.step(surface)] = f"g[{i}]"
            gates[graph.step(-surface)] = f"(1.0 - g[{i}])"
    lines = straight_line(roots, argument, targets, float_literal, gates)
    source = "def function(t, x, p, g, out):\n" + "".join(f"    {line}\n" for line in lines or ["pass"])
    return GeneratedCode(source, _total_function(source))


def _total_function(source: str) -> Callable[..., None]:
    """The function of a source; where Python's floats raise, NumPy's go on with infinity as machine code does."""
    code = compile(source, "<odesys straight-line code>", "exec")
    quick: dict[str, Any] = FLOAT_ROOTS | {name: record.floats for name, record in FUNCTIONS.items()}
    careful = {name: lambda *z, f=function: np.float64(f(*z)) for name, function in quick.items()}
    exec(code, quick)
    exec(code, careful)

    def function(t: float, x: Any, p: Any, g: Any, out: Any) -> None:
        try:
            quick["function"](t, x, p, g, out)
        except ArithmeticError:
            with np.errstate(all="ignore"):
                careful["function"](np.float64(t), *(np.array(given, dtype=float) for given in (x, p, g)), out)

    return function


def generate_native(system: System, roots: Sequence[Node], places: Sequence[int], gated: bool) -> GeneratedCode:
    """The same as machine code of (t, x, p, g, out)."""
    text = native.assembly(system, roots, places, gated)
    return GeneratedCode(text, native.compile_text(text))


_CODE: WeakKeyDictionary[System, dict[Any, GeneratedCode]] = WeakKeyDictionary()


def shared_code(
    system: System, what: str, roots: Sequence[Node], gated: bool = False, machine: bool = True
) -> GeneratedCode:
    """Code of a system that computes `roots` into `out`, written once per system, whatever its parameters are."""
    return _once(system, (what, gated, machine), lambda: _write(system, roots, range(len(roots)), gated, machine))


def _write(system: System, roots: Sequence[Node], places: Sequence[int], gated: bool, machine: bool) -> GeneratedCode:
    if machine:
        return generate_native(system, roots, places, gated)
    return generate(system, roots, [f"out[{place}]" for place in places], gated)


def _once(system: System, key: Any, write: Callable[[], GeneratedCode]) -> GeneratedCode:
    kept = _CODE.setdefault(system, {})
    if key not in kept:
        kept[key] = write()
    return kept[key]


class PythonFunction:
    """Straight-line Python code with parameters bound, as a function of t, x and gates."""

    def __init__(self, function: Callable[..., None], size: int, p: list[float]) -> None:
        self._function, self._size, self._p = function, size, p

    def __call__(self, t: float, x: Any, gates: Any = None) -> np.ndarray:
        out = [0.0] * self._size
        g = [] if gates is None else np.asarray(gates, dtype=float).tolist()
        self._function(float(t), np.asarray(x, dtype=float).tolist(), self._p, g, out)
        return np.array(out, dtype=float)


def node_function(system: System, roots: Sequence[Node], parameters: Mapping[str, float]) -> Callable[..., np.ndarray]:
    """Straight-line code of (t, x, gates) for `roots`, parameters bound; without gates these follow the state.

    Parameters
    ----------
    system : System
        Whose states and parameters the roots are in.
    roots : Sequence[Node]
        The expressions.
    parameters : Mapping[str, float]
        Values of the parameters.

    Returns
    -------
    Callable[..., np.ndarray]
        A function (t, x, gates=None) that gives one number per root.

    Examples
    --------
    >>> import numpy as np
    >>> from odesys import System, sym
    >>> x, k = sym("x"), sym("k")
    >>> decay = System.from_equations({"x": -k * x}, ["k"])
    >>> node_function(decay, [x**2, k], {"k": 3.0})(0.0, np.array([2.0]))
    array([4., 3.])
    """
    names = [f"out[{k}]" for k in range(len(roots))]
    size, p = len(roots), list(parameters.values())
    code = {gated: PythonFunction(generate(system, roots, names, gated).function, size, p) for gated in (False, True)}
    return lambda t, x, gates=None: code[gates is not None](t, x, gates)


# ---- compiled systems ----------------------------------------------------------------------------------------------


class Compiled:
    """A system with its parameters bound: `f(t, x)`; `field` and `jacobian` with gates held fixed; `surfaces`."""

    def __init__(self, system: System, values: np.ndarray, native: bool) -> None:
        self.system = system
        self.backend = "native" if native else "scalar"
        self._p, self._native, self._shape = values, native, (system.dimension,)

    def __call__(self, t: float, x: Any) -> np.ndarray:
        self._check_sizes(x)
        return self._plain(t, x)

    def field(self, t: float, x: Any, gates: Any) -> np.ndarray:
        """The field with the gates held at the given values (one per surface)."""
        self._check_sizes(x, gates)
        return self._gated(t, x, gates)

    def surfaces(self, t: float, x: Any) -> np.ndarray:
        """Values of all switching surfaces."""
        self._check_sizes(x)
        return self._surfaces(t, x)

    def jacobian(self, t: float, x: Any, gates: Any = None) -> np.ndarray:
        """Jacobian matrix with the gates held fixed (at their present values if none are given), each at 0 or 1."""
        gates = np.where(self.surfaces(t, x) > 0, 1.0, 0.0) if gates is None else gates
        self._check_sizes(x, gates)
        for gate in np.asarray(gates, dtype=float).tolist():
            if gate != 0.0 and gate != 1.0:  # g g = g was used where derivatives were multiplied
                raise ParameterError(
                    f"a gate is {gate:g}; the Jacobian is that of gates at 0 or 1: use a difference of fields"
                )
        return self._jacobian(t, x, gates).reshape(self._shape * 2)

    def observables(self, t: float, x: Any) -> dict[str, float]:
        """Values of all observables."""
        self._check_sizes(x)
        return dict(zip(self.system.observables, self._observables(t, x).tolist(), strict=True))

    def observed(self, times: Any, states: Any) -> dict[str, np.ndarray]:
        """Values of all observables at many points, all at once."""
        columns: dict[str, Any] = {TIME: np.asarray(times, dtype=float)} | self.parameter_values
        columns |= dict(zip(self.system.names, np.asarray(states, dtype=float).T, strict=True))
        with np.errstate(all="ignore"):
            values = Tape.of(shifted(list(self.system.observables.values()))).over(ARRAYS)(columns)
        shape = columns[TIME].shape
        return {
            name: np.array(np.broadcast_to(v, shape), dtype=float)
            for name, v in zip(self.system.observables, values, strict=True)
        }

    @property
    def surface_count(self) -> int:
        """Number of switching surfaces, and of gates."""
        return len(self.system.surfaces)

    @property
    def parameter_values(self) -> dict[str, float]:
        """The numbers bound to the parameters, by name."""
        return dict(zip(self.system.parameters, map(float, self._p), strict=True))

    @property
    def source(self) -> str:
        """Source text of the field."""
        return self._code("field", self.system.nodes).source

    @property
    def operations(self) -> int:
        """Arithmetic operations of one field evaluation, as written in Python."""
        text = shared_code(self.system, "field", self.system.nodes, machine=False).source
        return sum(text.count(mark) for mark in (" + ", " - ", "*", "/", "exp(", "sqrt(", "log(", "sigmoid("))

    def _check_sizes(self, x: Any, gates: Any = None) -> None:
        """Refuse what has other sizes: machine code reads as many numbers as there should be."""
        if (x.shape if type(x) is np.ndarray else np.shape(x)) != self._shape:
            raise ParameterError(f"the state has {_sizes(x)} entries but the system has {self._shape[0]} states")
        if gates is not None and np.shape(gates) != (self.surface_count,):
            raise ParameterError(f"there are {_sizes(gates)} gates but the system has {self.surface_count} surfaces")

    def _code(self, what: str, roots: Sequence[Node], gated: bool = False) -> GeneratedCode:
        return shared_code(self.system, what, roots, gated, self._native)

    def _bound(self, code: GeneratedCode, size: int) -> Callable[..., np.ndarray]:
        if self._native:
            return llvm.BoundFunction(code.function, (*self._shape, self.surface_count, size), self._p)
        return PythonFunction(code.function, size, self._p.tolist())

    @cached_property
    def _plain(self) -> Callable[..., np.ndarray]:
        return self._bound(self._code("field", self.system.nodes), self.system.dimension)

    @cached_property
    def _gated(self) -> Callable[..., np.ndarray]:
        return self._bound(self._code("field", self.system.nodes, gated=True), self.system.dimension)

    @cached_property
    def _surfaces(self) -> Callable[..., np.ndarray]:
        return self._bound(self._code("surfaces", self.system.surfaces), len(self.system.surfaces))

    @cached_property
    def _observables(self) -> Callable[..., np.ndarray]:
        nodes = list(self.system.observables.values())
        return self._bound(self._code("observables", nodes), len(nodes))

    @cached_property
    def _jacobian(self) -> Callable[..., np.ndarray]:
        system, machine = self.system, self._native
        return self._bound(
            _once(system, ("jacobian", machine), lambda: _jacobian_code(system, machine)), len(system.names) ** 2
        )


def _jacobian_code(system: System, machine: bool) -> GeneratedCode:
    """Code for the entries of the Jacobian that are not zero, row by row, with gates given."""
    rows = graph.jacobian(system.nodes, [graph.sym(name) for name in system.names])
    entries = {i * system.dimension + j: node for i, row in enumerate(rows) for j, node in row.items()}
    return _write(system, list(entries.values()), list(entries), True, machine)


def slopes_code(system: System, machine: bool) -> GeneratedCode:
    """Code for what is not zero of the Jacobian, row by row, and of the field's change in time, with gates given."""
    return _once(system, ("slopes", machine), lambda: _slopes_code(system, machine))


def _slopes_code(system: System, machine: bool) -> GeneratedCode:
    n = system.dimension
    rows = graph.jacobian(system.nodes, [graph.sym(name) for name in (*system.names, TIME)])
    entries = {i * n + j if j < n else n * n + i: node for i, row in enumerate(rows) for j, node in row.items()}
    return _write(system, list(entries.values()), list(entries), True, machine)


def _sizes(values: Any) -> str:
    return " x ".join(map(str, np.shape(values))) or "no"


class CompiledBlocks(Compiled):
    """The block back end: matrices and one vectorised kernel over samples."""

    def __init__(self, system: System, values: np.ndarray) -> None:
        super().__init__(system, values, native=False)
        assert isinstance(system.field, BlockField)
        self.backend = "block"
        self._values = dict(zip(system.parameters, values.tolist(), strict=True))
        self._block = system.field
        self._gates = blocks.gated_arguments(list(self._block.rhs.values()))

    def __call__(self, t: float, x: Any) -> np.ndarray:
        return self._evaluate(x, None)

    def field(self, t: float, x: Any, gates: Any) -> np.ndarray:
        """The field with the gates held at the given values."""
        return self._evaluate(x, self._gate_table(gates))

    def _gate_table(self, gates: Any) -> dict[tuple[int, Node], np.ndarray]:
        table: dict[tuple[int, Node], np.ndarray] = {}
        start = 0
        for argument, surface in self._gates:
            size = math.prod(argument.shape)
            table[id(argument), surface] = np.asarray(gates[start : start + size]).reshape(argument.shape)
            start += size
        return table

    def surfaces(self, t: float, x: Any) -> np.ndarray:
        """Values of all switching surfaces, one per entry of each gated array."""
        if not self._gates:
            return np.empty(0)
        leaves = self._block.layout.unpack(np.asarray(x, dtype=float))
        return np.concatenate([v.ravel() for v in blocks.evaluate(self._surface_blocks, leaves, self._values)])

    @property
    def surface_count(self) -> int:
        """Number of switching surfaces: the entries of all gated arrays."""
        return sum(math.prod(argument.shape) for argument, _ in self._gates)

    def surface_slopes(self, x: Any, direction: Any) -> np.ndarray:
        """Derivatives of all switching surfaces along a direction of the state, by forward derivatives."""
        from ..expr.block_tangent import tangent

        unpack = self._block.layout.unpack
        leaves, along = unpack(np.asarray(x, dtype=float)), unpack(np.asarray(direction, dtype=float))
        return np.concatenate([v.ravel() for v in tangent(self._surface_blocks, leaves, along, self._values)])

    @cached_property
    def _surface_blocks(self) -> list[blocks.Block]:
        return [blocks.apply(surface, argument) for argument, surface in self._gates]

    def jacobian(self, t: float, x: Any, gates: Any = None) -> np.ndarray:
        """Jacobian matrix by forward derivatives of the blocks, one direction per state."""
        from ..expr.block_tangent import tangent

        layout, n = self._block.layout, self.system.dimension
        leaves = layout.unpack(np.asarray(x, dtype=float))
        gates = np.where(self.surfaces(t, x) > 0, 1.0, 0.0) if gates is None else gates
        table = self._gate_table(gates)
        out = np.empty((n, n))
        for j, unit in enumerate(np.eye(n)):
            slopes = tangent(list(self._block.rhs.values()), leaves, layout.unpack(unit), self._values, table)
            out[:, j] = layout.pack(dict(zip(self._block.rhs, slopes, strict=True)))
        return out

    def observables(self, t: float, x: Any) -> dict[str, float]:
        """Values of all observables."""
        leaves = self._block.layout.unpack(np.asarray(x, dtype=float))
        values = blocks.evaluate(list(self._block.observable_blocks.values()), leaves, self._values)
        return {name: float(v.reshape(-1)[0]) for name, v in zip(self._block.observable_blocks, values, strict=True)}

    def observed(self, times: Any, states: Any) -> dict[str, np.ndarray]:
        """Values of all observables at many points."""
        rows = [self.observables(t, x) for t, x in zip(times, states, strict=True)]
        return {name: np.array([row[name] for row in rows]) for name in self._block.observable_blocks}

    def _evaluate(self, x: Any, gates: Any) -> np.ndarray:
        leaves = self._block.layout.unpack(np.asarray(x, dtype=float))
        values = blocks.evaluate(list(self._block.rhs.values()), leaves, self._values, gates)
        return self._block.layout.pack(dict(zip(self._block.rhs, values, strict=True)))


def compile_system(system: System, parameters: Mapping[str, Any], backend: str = "auto") -> Compiled:
    """Bind parameters and choose a back end: ``native`` (machine code), ``scalar`` (Python), ``block``; or ``auto``:
    blocks for large systems that have them, else machine code, or Python where llvmlite does not load.
    """
    values = bind_parameters(system, parameters)
    if backend == "auto":
        has_blocks = isinstance(system.field, BlockField)
        large = has_blocks and (system.dimension > SCALAR_LIMIT or system.field.block_only)  # type: ignore[union-attr]
        backend = "block" if large else "native" if llvm.available() else "scalar"
    if backend == "block":
        if not isinstance(system.field, BlockField):
            raise ParameterError("this system has no block form; use backend='scalar'")
        return CompiledBlocks(system, values)
    if backend not in ("scalar", "native"):
        raise ParameterError(f"the back end {backend!r} is not known; choose auto, scalar, native or block")
    if backend != "scalar" and not llvm.available():
        raise ParameterError(f"the back end {backend!r} needs llvmlite, which does not load; use backend='scalar'")
    return Compiled(system, values, native=backend != "scalar")


def bind_parameters(system: System, parameters: Mapping[str, Any]) -> np.ndarray:
    """Parameter values in the order of the system, by name or symbol, checked for names and finiteness."""
    if not hasattr(parameters, "items"):
        raise ParameterError(f"parameters are given by name, as {{'k': 1.0}}, not as {parameters!r}")
    parameters = {plain_name(str(name)): value for name, value in parameters.items()}
    unknown = sorted(set(parameters) - set(system.parameters))
    if unknown:
        known = ", ".join(system.parameters) or "none"
        raise ParameterError(f"{unknown[0]} is not a parameter; the parameters are {known}")
    values = []
    for name in system.parameters:
        if name not in parameters:
            raise ParameterError(f"the parameter {name} has no value; pass parameters={{'{name}': ...}}")
        try:
            number = float(parameters[name])
        except (TypeError, ValueError, OverflowError):
            raise ParameterError(f"the parameter {name} = {parameters[name]!r} is not a number") from None
        if not math.isfinite(number):
            raise ParameterError(f"the parameter {name} = {number} must be finite")
        values.append(number)
    return np.array(values, dtype=float)
