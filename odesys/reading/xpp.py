"""Files of XPPAUT (.ode): equations, parameters, starts, functions, fixed quantities, the length of a run.

The rest is refused by name, or noted where it is about the program and not the system.

XPP does not tell capital from small letters, and neither does this.
"""

from __future__ import annotations

import re
from fractions import Fraction

from ..errors import EquationError
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.letters import plain_name
from ..expr.system import TIME, System
from .grammar import Definition, Grammar
from .reading import Reading

_EQUATION = re.compile(r"(?:d(?P<leibniz>\w+)/dt|(?P<prime>\w+)\s*'|(?P<map>\w+)\(t\+1\))\s*=\s*(?P<right>.+)")
_START = re.compile(r"(?P<name>\w+)\(0\)\s*=\s*(?P<right>.+)")
_FUNCTION = re.compile(r"(?P<name>[a-z]\w*)\((?P<arguments>[a-z]\w*(?:\s*,\s*[a-z]\w*)*)\)\s*=\s*(?P<right>.+)")
_FIXED = re.compile(r"!?(?P<name>[a-z]\w*)\s*=\s*(?P<right>.+)")
_PARTS = re.compile(r"([a-z_]\w*)\s*=\s*([^\s,]+)")
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
    for raw in re.sub(r"\\\n", "", text).splitlines():
        line = raw.strip().lower()
        if not line or line[0] in '#"%':
            continue
        word, _, rest = line.partition(" ")
        if word in ("done", "d"):
            break
        if line[0] == "@" and (found := _PARTS.findall(line)):
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
            found = _PARTS.findall(rest)
            if not found:
                raise EquationError(f"{raw.strip()!r} gives no name a number")
            target |= {plain_name(name): _number(number, raw) for name, number in found}
        elif word in ("aux", "a"):
            name, _, right = rest.partition("=")
            shown[name.strip()] = right
        elif match := _EQUATION.fullmatch(line):
            name = match["leibniz"] or match["prime"] or match["map"]
            if plain_name(name) in equations:
                raise EquationError(f"{name} has a second equation: {raw.strip()!r}")
            kinds.add("map" if match["map"] else "flow")
            equations[plain_name(name)] = match["right"]
        elif match := _START.fullmatch(line):
            start[plain_name(match["name"])] = _number(match["right"], raw)
        elif match := _FUNCTION.fullmatch(line):
            arguments = tuple(a.strip() for a in match["arguments"].split(","))
            functions[match["name"]] = Definition(arguments, match["right"])
        elif match := _FIXED.fullmatch(line):
            fixed[match["name"]] = match["right"]
        else:
            raise EquationError(f"the line {raw.strip()!r} is not understood")
    if not equations:
        raise EquationError("the file has no equation x' = ... or dx/dt = ...")
    if len(kinds) > 1:
        raise EquationError("the file mixes a flow (x' = ...) and a map (x(t+1) = ...)")
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
    parameters = tuple(name for name in values if name in used)
    system = System(tuple(equations), ScalarField(nodes, seen), parameters, kinds.pop())
    t_end, said = _run(options, system)
    begin = {name: start.get(name, Fraction(0)) for name in equations}
    return Reading(system, {name: values[name] for name in parameters}, begin, (*notes, *said), t_end)


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
