"""A system as JSON text that reads back without loss, and as a Python module that needs nothing but `math`.

The JSON holds the expressions as one table of nodes, each after the nodes it is made of. Exact numbers are written as
"1/3", floats as hexadecimal strings, so that no digit is lost. Reading goes through the constructors of `graph`: in one
process the nodes that come back are the nodes that went in.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.constants import read_number, shown
from ..expr.field import ScalarField
from ..expr.functions import FLOAT_ROOTS, unknown
from ..expr.graph import Node, Number
from ..expr.system import TIME, System
from ..expr.tape import Tape
from .codegen import float_literal, straight_line

FORMAT, VERSION = "odesys-system", 1
_EXACT = re.compile(r"-?\d+(/\d+)?")


# ---- JSON ----------------------------------------------------------------------------------------------------------


def system_to_json(system: System) -> str:
    """Lossless JSON text of a system; a block system is written with one expression per state.

    >>> x = graph.sym("x")
    >>> system = System.from_equations({"x": -x / 3})
    >>> system_from_json(system_to_json(system)).nodes == system.nodes
    True
    """
    observables = dict(system.observables)
    tape = Tape.of([*system.nodes, *observables.values()])
    data = {
        "format": FORMAT,
        "version": VERSION,
        "kind": system.kind,
        "states": list(system.names),
        "parameters": list(system.parameters),
        "tex": dict(system.tex),
        "equations": [tape.index[node] for node in system.nodes],
        "observables": {name: tape.index[node] for name, node in observables.items()},
    }
    lines = [f'"{key}": {json.dumps(value)}' for key, value in data.items()]
    rows = ",\n  ".join(json.dumps(_spelled(*row)) for row in tape.rows)
    return "{\n" + ",\n".join([*lines, f'"nodes": [\n  {rows}\n]']) + "\n}\n"


def _spelled(op: str, what: Any) -> list[Any]:
    """A row of the tape as it is written."""
    if op == "num":
        return [op, _spell(what)]
    if op == "add":
        return [op, *([_spell(c), i] for c, i in what)]
    return [op, *([i, _spell(e)] for i, e in what)] if op == "mul" else [op, what]


def _spell(value: Number) -> str:
    return value.hex() if isinstance(value, float) else str(value)


def system_from_json(text: str) -> System:
    """The system written by `system_to_json`; anything else is an EquationError that says what is wrong."""
    try:
        data = json.loads(text, object_pairs_hook=one_of_each)
    except (ValueError, TypeError, RecursionError) as problem:
        raise EquationError(f"this is not JSON: {problem}") from None
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise EquationError(f'this JSON does not hold a system: its "format" is not "{FORMAT}"')
    if data.get("version") != VERSION:
        found = data.get("version")
        raise EquationError(
            f"the system is written in version {shown(repr(found))} of the format, and only {VERSION} can be read"
        )
    names, parameters = _strings(data, "states"), _strings(data, "parameters")
    tex = _get(data, "tex", dict)
    if not all(isinstance(value, str) for value in tex.values()):
        raise EquationError('in the JSON of a system "tex" must give a string for each name')
    nodes: list[Node] = []
    for row in _get(data, "nodes", list):
        nodes.append(_node(row, nodes))
    equations = tuple(_at(nodes, i) for i in _get(data, "equations", list))
    observables = {name: _at(nodes, i) for name, i in _get(data, "observables", dict).items()}
    if len(equations) != len(names):
        raise EquationError(f"the JSON has {len(names)} states but {len(equations)} equations")
    unknown = graph.symbols([*equations, *observables.values()]) - {*names, *parameters, TIME}
    if unknown:
        raise EquationError(f"the equations use {min(unknown)}, which is neither a state nor a parameter")
    return System(names, ScalarField(equations, observables), parameters, _get(data, "kind", str), tex)


def one_of_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a key that is there twice is refused, for the first of its values would be lost.

    >>> one_of_each([("x", "-x"), ("x", "x")])
    Traceback (most recent call last):
        ...
    ValueError: the key 'x' is there twice
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for k, (key, _) in enumerate(pairs) if key in dict(pairs[:k]))
        raise ValueError(f"the key {shown(repr(twice))} is there twice")
    return found


def _get(data: Mapping[str, Any], key: str, kind: type) -> Any:
    if key not in data:
        raise EquationError(f'the JSON of a system needs the key "{key}"')
    if not isinstance(data[key], kind):
        raise EquationError(f'"{key}" in the JSON of a system is a {type(data[key]).__name__}, not a {kind.__name__}')
    return data[key]


def _strings(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    items = _get(data, key, list)
    if not all(isinstance(item, str) for item in items):
        raise EquationError(f'in the JSON of a system "{key}" must be a list of names')
    return tuple(items)


def _at(nodes: list[Node], index: Any) -> Node:
    if type(index) is not int or not 0 <= index < len(nodes):
        raise EquationError(f"node {index!r} is used but is not among the {len(nodes)} nodes before it", index=index)
    return nodes[index]


def _node(row: Any, nodes: list[Node]) -> Node:
    """One row of the table, from nodes read before."""
    where = f"node {len(nodes)}"
    if not isinstance(row, list) or not row or not isinstance(row[0], str):
        raise EquationError(f"{where} is not a list that starts with an operation")
    op, *args = row
    if op not in ("num", "sym", "add", "mul") and op not in graph.FUNCTIONS:
        raise unknown(op)
    try:
        if op == "add":
            return graph.combine([(_number(c), _at(nodes, i)) for c, i in args])
        if op == "mul":
            return graph.multiply(*(graph.power(_at(nodes, i), _exact(e)) for i, e in args))
        (argument,) = args
        if op == "num":
            return graph.num(_number(argument))
        if op == "sym":
            if not isinstance(argument, str):
                raise ValueError("a symbol needs a name")
            return graph.sym(argument)
        return graph.call(op, _at(nodes, argument))
    except (ValueError, TypeError, ArithmeticError) as problem:
        raise EquationError(f"{where} can not be read as {op}: {problem}") from None


def _number(text: Any) -> Number:
    if isinstance(text, str) and ("0x" in text or text in ("inf", "-inf", "nan")):
        return float.fromhex(text)
    return _exact(text)


def _exact(text: Any) -> Fraction:
    if not isinstance(text, str) or not _EXACT.fullmatch(text):
        raise ValueError(f'{text!r} is not an exact number such as "1/3"')
    return read_number(text)


# ---- a Python module -----------------------------------------------------------------------------------------------


def system_to_python(system: System) -> str:
    """A Python module with STATES, PARAMETERS and `field(t, x, p)`, readable and independent of this package."""
    free = _fresh_names()
    state = {name: free(name) for name in system.names}
    given = {name: free(name) for name in system.parameters}
    word = "d_" if system.kind == "flow" else "next_"
    targets = [free(word + name) for name in system.names]
    lines = straight_line(system.nodes, {TIME: "t"} | state | given, targets, float_literal)
    body = "\n".join(f"    {line}" for line in lines)
    used = [record for name, record in graph.FUNCTIONS.items() if re.search(rf"\b{name}\(", body)]
    roots = [name for name in FLOAT_ROOTS if re.search(rf"\b{name}\(", body)]
    imports = sorted({*roots, *(item for record in used for item in record.imports)}, key=str.lower)
    title = "The flow dx/dt = field(t, x, p)" if system.kind == "flow" else "The map x -> field(t, x, p)"
    blocks = [f'"""{title} of {system.dimension} states, written by odesys."""']
    if imports:
        blocks.append(f"from math import {', '.join(imports)}")
    names = [_listing(map(repr, group)) for group in (system.names, system.parameters)]
    blocks.append(f"STATES = {names[0]}\nPARAMETERS = {names[1]}")
    blocks += ["\n" + record.helper for record in used if record.helper]
    unpack = [f"    {_listing(group.values())} = {source}" for group, source in ((state, "x"), (given, "p")) if group]
    blocks.append(
        "\ndef field(t, x, p=()):\n"
        '    """Right-hand side at time t, for values x of STATES and p of PARAMETERS, each in order."""\n'
        + "\n".join([*unpack, body, f"    return [{_listing(targets)[1:-1].rstrip(',')}]"])
    )
    return "\n\n".join(blocks) + "\n"


def _listing(items: Iterable[str], width: int = 110) -> str:
    """A tuple display, broken into lines."""
    lines, line = [], ""
    for item in items:
        if len(line) + len(item) > width:
            lines.append(line.rstrip())
            line = ""
        line += f"{item}, "
    lines.append(line.rstrip())
    text = "\n        ".join(lines)
    return f"({text})" if len(lines) > 1 or text.count(",") == 1 else f"({text.rstrip(',')})"


def _fresh_names() -> Callable[[str], str]:
    """Python names for states and parameters that meet neither each other nor the names the module itself uses."""
    taken = {"t", "x", "p", "field", "inf", "log1p", "max", "abs", *FLOAT_ROOTS, "_exp", "STATES", "PARAMETERS"}
    taken |= set(graph.FUNCTIONS)

    def fresh(name: str) -> str:
        while name in taken or re.fullmatch(r"v\d+", name):
            name += "_"
        taken.add(name)
        return name

    return fresh
