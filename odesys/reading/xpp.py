"""Files of XPPAUT (.ode): equations, parameters, starts, functions, fixed quantities, the length of a run.

The rest is refused by name, or noted where it is about the program and not the system.

XPP does not tell capital from small letters, and neither does this.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.letters import plain_name, refuse_merged
from ..expr.system import TIME, System
from .grammar import Definition, Grammar
from .reading import Reading

_EQUATION = re.compile(r"(?:d(?P<leibniz>\w+)/dt|(?P<prime>\w+)\s*'|(?P<map>\w+)\(t\+1\))\s*=\s*(?P<right>.+)")
_START = re.compile(r"(?P<name>\w+)\(0\)\s*=\s*(?P<right>.+)")
_FUNCTION = re.compile(r"(?P<name>[a-z]\w*)\((?P<arguments>[a-z]\w*(?:\s*,\s*[a-z]\w*)*)\)\s*=\s*(?P<right>.+)")
_FIXED = re.compile(r"!?(?P<name>[a-z]\w*)\s*=\s*(?P<right>.+)")
_NAMED = re.compile(r"(?<!\w)(?P<name>[a-z_]\w*)\s*=(?!=)")
#: names that the language has a meaning for
KEPT = {TIME: "time", "pi": "a number"}
REFUSED = {
    "wiener": "noise",
    "markov": "a random process",
    "global": "a jump of the state at an event",
    "table": "a table of numbers",
    "bdry": "a boundary condition",
    "volterra": "an integral equation",
    "solv": "an algebraic equation",
    "special": "a convolution",
    "export": "an outside library",
}
#: functions of XPP with a memory or with chance in them, as they stand in a formula
OUTSIDE = {
    "delay": "a delay",
    "del_shft": "a delay",
    "shift": "a neighbour in an array",
    "int": "an integral over the past",
    "ran": "noise",
    "normal": "noise",
    "poisson": "noise",
}
#: options of XPP about its runs that runs here do without, and why
IDLE = {
    "t0": "runs begin at t = 0",
    "trans": "a run is shown from its start",
    "dt": "steps are chosen by their error",
    "bounds": "a run goes on to its end, however far it goes",
    "meth": "the method follows from the run",
    "method": "the method follows from the run",
    **dict.fromkeys(("tol", "toler", "atol", "atoler"), "tolerances are those of integrate"),
}
_OUTSIDE = re.compile(rf"\b({'|'.join(OUTSIDE)})\s*[({{\[]")


def system_from_ode(text: str) -> Reading:
    """The system of an .ode file, with its parameters and starts.

    >>> reading = system_from_ode("x'=y\\ny'=-x+mu*(1-x^2)*y\\npar mu=0.5\\ninit x=1\\ndone\\n")
    >>> reading.system.names, dict(reading.values), dict(reading.start)
    (('x', 'y'), {'mu': Fraction(1, 2)}, {'x': Fraction(1, 1), 'y': Fraction(0, 1)})
    """
    equations: dict[str, str] = {}
    values: dict[str, Fraction] = {}
    start: dict[str, Fraction] = {}
    functions: dict[str, Definition] = {}
    fixed: dict[str, str] = {}
    shown: dict[str, str] = {}
    notes: list[str] = []
    kinds: set[str] = set()
    options: dict[str, str] = {}
    written: list[str] = []
    for raw in re.sub(r"\\\n", "", text).splitlines():
        line = raw.strip().lower()
        if line.startswith("#include"):
            raise EquationError(f"{raw.strip()!r} takes in another file, which is not read; write its lines here")
        if line.startswith("%["):
            raise EquationError(f"arrays of equations are not read: {raw.strip()!r}; write each one out")
        if not line or line[0] in '#"%':
            continue
        word, rest = (*line.split(None, 1), "")[:2]
        if rest.startswith("=") or line[0] == "@":
            word = ""  # a name that is given a meaning
        if word == "done" or line == "d":
            break
        if line[0] != "@" and word not in ("set", "only", "options"):
            written += re.findall(r"[^\W\d]\w*", line)
        if line[0] == "@" and (found := _given(line[1:])):
            options |= found
        elif line[0] == "@" or word in ("set", "only", "options"):
            notes.append(f"left out, it is about the program and not the system: {line}")
        elif word in REFUSED:
            raise EquationError(f"{word} stands for {REFUSED[word]}, which is no part of a System: {raw.strip()!r}")
        elif match := _OUTSIDE.search(line):
            told = OUTSIDE[match[1]]
            raise EquationError(f"{match[1]} stands for {told}, which is no part of a System: {raw.strip()!r}")
        elif line.startswith("0="):
            raise EquationError(
                f"{raw.strip()!r} is an algebraic equation, which is no part of a System; solve it for its unknown and "
                f"write that as a fixed quantity, y = ..."
            )
        elif "[" in line or "{" in line:
            raise EquationError(f"arrays of equations are not read: {raw.strip()!r}; write each one out")
        elif word in ("par", "param", "parameter", "params", "p", "number", "num", "init", "i"):
            target = start if word in ("init", "i") else values
            found = _given(rest)
            if not found:
                raise EquationError(f"{raw.strip()!r} gives no name a number")
            for name, number in found:
                _once(target, name, _number(number, raw), raw)
        elif word in ("aux", "a"):
            name, _, right = rest.partition("=")
            _once(shown, name.strip(), right, raw)
        elif match := _EQUATION.fullmatch(line):
            name = match["leibniz"] or match["prime"] or match["map"]
            if plain_name(name) in equations:
                raise EquationError(f"{name} has a second equation: {raw.strip()!r}")
            kinds.add("map" if match["map"] else "flow")
            equations[plain_name(name)] = match["right"]
        elif match := _START.fullmatch(line):
            _once(start, match["name"], _number(match["right"], raw), raw)
        elif match := _FUNCTION.fullmatch(line):
            arguments = tuple(a.strip() for a in match["arguments"].split(","))
            _once(functions, match["name"], Definition(arguments, match["right"]), raw)
        elif match := _FIXED.fullmatch(line):
            _once(fixed, match["name"], match["right"], raw)
        else:
            raise EquationError(f"the line {raw.strip()!r} is not understood")
    if not equations:
        raise EquationError("the file has no equation x' = ... or dx/dt = ...")
    if len(kinds) > 1:
        raise EquationError("the file mixes a flow (x' = ...) and a map (x(t+1) = ...)")
    refuse_merged(written)
    values, start = ({plain_name(name): value for name, value in table.items()} for table in (values, start))
    for name in (*fixed, *values):
        if name in KEPT:
            raise EquationError(f"{name} is {KEPT[name]} and can not be given another value; rename it")
        if plain_name(name) in equations or (name in fixed and plain_name(name) in values):
            raise EquationError(f"{name} has two meanings in this file; give one of them another name")
    meaning: dict[str, graph.Node] = {}
    grammar = Grammar(frozenset(equations), meaning, functions, fold=True, parameters=frozenset(values))
    for name, right in fixed.items():  # each may use those before it
        meaning[name] = grammar.read(right)
    nodes = tuple(grammar.read(right) for right in equations.values())
    seen = {name: grammar.read(right) for name, right in shown.items()}
    used = graph.symbols([*nodes, *seen.values()]) - set(equations) - {TIME}
    unknown = sorted(used - set(values))
    if unknown:
        raise EquationError(f"{unknown[0]} has neither an equation nor a value; add par {unknown[0]}=...")
    idle = sorted(set(values) - used)
    notes += [f"the parameter {name} is not used" for name in idle]
    notes += [f"the start of {name} is not used: it has no equation" for name in start if name not in equations]
    parameters = tuple(name for name in values if name in used)
    system = System(tuple(equations), ScalarField(nodes, seen), parameters, kinds.pop())
    t_end, said = _run(options, system)
    begin = {name: start.get(name, Fraction(0)) for name in equations}
    return Reading(system, {name: values[name] for name in parameters}, begin, (*notes, *said), t_end)


def _given(text: str) -> list[tuple[str, str]]:
    """Names with the texts they are given, as in a=1, b = 2*3 c=4; nothing where that is not all of it.

    >>> _given("a=1, b = 2*3 c=4"), _given("a b=1")
    ([('a', '1'), ('b', '2*3'), ('c', '4')], [])
    """
    found = list(_NAMED.finditer(text))
    if not found or text[: found[0].start()].strip(" \t,"):
        return []
    ends = [*(each.start() for each in found[1:]), len(text)]
    return [(each["name"], text[each.end() : end].strip(" \t,")) for each, end in zip(found, ends, strict=True)]


def _once(table: dict[str, Any], name: str, value: Any, raw: str) -> None:
    """Keep what a name is given, where it is not given something else before."""
    if table.setdefault(name, value) != value:
        raise EquationError(f"{name} is given twice, and differently in {raw.strip()!r}")


def _run(options: dict[str, str], system: System) -> tuple[Fraction | None, list[str]]:
    """How long a run is, and a sentence for each option that nothing here uses."""
    given = {name: text for name, text in options.items() if name in IDLE and not (name == "t0" and _is_zero(text))}
    notes = [f"{name}={text} is not used: {IDLE[name]}" for name, text in given.items()]
    if "t0" in given and TIME in graph.symbols(system.nodes):
        notes.append(f"the equations depend on t: for a start at t0 write t + ({given['t0']}) in place of t")
    others = [f"{name}={text}" for name, text in options.items() if name not in IDLE and name != "total"]
    if others:
        notes.append(f"left out, it is about the program and not the system: @ {', '.join(others)}")
    if "total" not in options:
        return None, notes
    line = f"@ total={options['total']}"
    total = _number(options["total"], line)
    if system.kind == "map" or total <= 0:
        why = "no run of a map is made here" if system.kind == "map" else "the length of a run is positive"
        return None, [*notes, f"{line} is not used: {why}"]
    return total, notes


def _is_zero(text: str) -> bool:
    return not text.strip("+-0.")


def _number(text: str, line: str) -> Fraction:
    node = Grammar().read(text)
    if node.op != "num":
        raise EquationError(f"in {line.strip()!r} a number should stand where {text} is")
    return Fraction(node.args[0])
