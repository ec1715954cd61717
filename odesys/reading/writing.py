"""A system as text for other programs: .ode of XPPAUT, SBML, and a Python program that runs by itself.

Numbers stay exact where the format has fractions, and are written with all digits of a float elsewhere.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from fractions import Fraction
from typing import Any
from xml.sax.saxutils import quoteattr

from ..errors import EquationError
from ..expr import graph
from ..expr.graph import Node
from ..expr.system import TIME, System
from .mathml import NAMESPACE, math_element

#: functions as XPPAUT calls them
XPP = {"exp": "exp", "log": "ln", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh",
       "tanh": "tanh", "arctan": "atan", "arcsin": "asin", "arccos": "acos", "erf": "erf", "step": "heav"}  # fmt: skip
#: and as Python does
PYTHON = {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tan": "tan", "sinh": "sinh", "cosh": "cosh",
          "tanh": "tanh", "arctan": "atan", "arcsin": "asin", "arccos": "acos", "arcsinh": "asinh",
          "arccosh": "acosh", "arctanh": "atanh", "erf": "erf", "step": "step"}  # fmt: skip
MOST_LETTERS = 9  # of a name in XPPAUT


def infix(node: Node, functions: Mapping[str, str], power: str = "^") -> str:
    """An expression as plain text, every product and sum in brackets where it needs them.

    >>> infix(2 * graph.sym("x") ** 2 / 3 - 1, XPP)
    '(-1 + 2/3*x^2)'
    """
    if node.op == "num":
        return _number(Fraction(node.args[0]))
    if node.op == "sym":
        return str(node.args[0])
    if node.op == "add":
        parts = []
        for c, term in node.args:
            size = abs(Fraction(c))
            text = infix(term, functions, power)
            text = _number(size) if term is graph.ONE else text if size == 1 else f"{_number(size)}*{text}"
            parts.append((" - " if c < 0 else " + ", text))
        first = parts[0][1] if parts[0][0] == " + " else f"-{parts[0][1]}"
        return "(" + first + "".join(sign + text for sign, text in parts[1:]) + ")"
    if node.op == "mul":
        above = [_factor(b, Fraction(e), functions, power) for b, e in node.args if e > 0]
        below = [_factor(b, -Fraction(e), functions, power) for b, e in node.args if e < 0]
        text = "*".join(above) or "1"
        return f"({text}/({'*'.join(below)}))" if below else f"({text})" if len(above) > 1 else text
    if node.op == "sigmoid":
        return infix(1 / (1 + graph.exp(-node.args[0])), functions, power)
    if node.op == "softplus":
        return infix(graph.call("log", 1 + graph.exp(node.args[0])), functions, power)
    if node.op not in functions:
        raise EquationError(f"the function {node.op} has no name in this format", function=node.op)
    inner = infix(node.args[0], functions, power)
    return f"{functions[node.op]}{inner if inner.startswith('(') and _is_one(inner) else f'({inner})'}"


def _is_one(text: str) -> bool:
    """Whether the first bracket of a text closes at its end."""
    depth = 0
    for k, letter in enumerate(text):
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if depth == 0:
            return k == len(text) - 1
    return False


def _factor(base: Node, exponent: Fraction, functions: Mapping[str, str], power: str) -> str:
    inner = infix(base, functions, power)
    if exponent == 1:
        return inner
    if base.op == "num" and (base.args[0] < 0 or Fraction(base.args[0]).denominator != 1):
        inner = f"({inner})"
    return f"{inner}{power}{exponent if exponent.denominator == 1 else f'({exponent})'}"


def _number(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f"{value.numerator}/{value.denominator}"


def ode_text(system: System, values: Mapping[str, Any] | None = None, start: Mapping[str, Any] | None = None) -> str:
    """A system as a file of XPPAUT; parameters without a value are 1, states without one start at 0.

    >>> print(ode_text(System.from_strings({"x": "-k*x"}), {"k": 2}, {"x": 1}))
    x' = -(k*x)
    par k=2
    init x=1
    done
    <BLANKLINE>
    """
    names = [*system.names, *system.parameters]
    if len({name.lower() for name in names}) < len(names):
        raise EquationError("XPPAUT does not tell capital from small letters, and two names differ in nothing else")
    long = [name for name in names if len(name) > MOST_LETTERS]
    if long:
        raise EquationError(f"{long[0]} has more than the {MOST_LETTERS} letters that a name of XPPAUT may have")
    if not set(names) & {TIME, "pi", "e"} <= {TIME}:
        raise EquationError("pi and e are numbers in XPPAUT")
    left = "{}'" if system.kind == "flow" else "{}(t+1)"
    lines = [f"{left.format(name)} = {_bare(infix(node, XPP))}" for name, node in system.equations.items()]
    lines += [f"aux {name}={_bare(infix(node, XPP))}" for name, node in system.observables.items() if name not in names]
    lines += [f"par {name}={_decimal((values or {}).get(name, 1))}" for name in system.parameters]
    lines += [f"init {name}={_decimal((start or {}).get(name, 0))}" for name in system.names]
    return "\n".join([*lines, "done", ""])


def _bare(text: str) -> str:
    return text[1:-1] if text.startswith("(") and _is_one(text) else text


def _decimal(value: Any) -> str:
    number = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    return str(number) if number.denominator == 1 else repr(float(number))


def sbml_text(system: System, values: Mapping[str, Any] | None = None, start: Mapping[str, Any] | None = None) -> str:
    """A flow as SBML, level 3 version 1: a rate rule for each state, an assignment rule for each observable."""
    if system.kind != "flow":
        raise EquationError("SBML has equations of motion, and this system is a map")
    known, begin = values or {}, start or {}
    seen = {name: node for name, node in system.observables.items() if name not in {*system.names, *system.parameters}}
    entries = [_parameter(name, known.get(name), True) for name in system.parameters]
    entries += [_parameter(name, begin.get(name), False) for name in (*system.names, *seen)]
    rules = [_rule("rateRule", name, node) for name, node in system.equations.items()]
    rules += [_rule("assignmentRule", name, node) for name, node in seen.items()]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            '<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">',
            '<model id="system">',
            *(["<listOfParameters>", *entries, "</listOfParameters>"] if entries else []),
            *(["<listOfRules>", *rules, "</listOfRules>"] if rules else []),
            "</model>",
            "</sbml>",
            "",
        ]
    )


def _parameter(name: str, value: Any, constant: bool) -> str:
    given = f" value={quoteattr(_decimal(value))}" if value is not None else ""
    return f'<parameter id={quoteattr(name)}{given} constant="{str(constant).lower()}"/>'


def _rule(kind: str, name: str, node: Node) -> str:
    return f'<{kind} variable={quoteattr(name)}><math xmlns="{NAMESPACE}">{math_element(node)}</math></{kind}>'


def python_text(system: System, values: Mapping[str, Any] | None = None, start: Mapping[str, Any] | None = None) -> str:
    """A flow as a Python program that integrates it with SciPy and prints the end."""
    if system.kind != "flow":
        raise EquationError("the program integrates a flow, and this system is a map")
    names = {name: f"{name}_" if keyword.iskeyword(name) else name for name in (*system.names, *system.parameters)}
    nodes = graph.substitute(list(system.nodes), {graph.sym(a): graph.sym(b) for a, b in names.items() if a != b})
    rows = [f"        {_bare(infix(node, PYTHON, '**'))}," for node in nodes]
    known, begin = values or {}, start or {}
    return "\n".join(
        [
            "from math import *",
            "",
            "from scipy.integrate import solve_ivp",
            "",
            *(f"{names[name]} = {_decimal(known.get(name, 1))}" for name in system.parameters),
            "",
            "",
            "def step(x):",
            "    return 1.0 if x > 0 else 0.0",
            "",
            "",
            f"def field({TIME}, state):",
            f"    {', '.join(names[name] for name in system.names)}, = state",
            "    return [",
            *rows,
            "    ]",
            "",
            "",
            'if __name__ == "__main__":',
            f"    start = [{', '.join(_decimal(begin.get(name, 1)) for name in system.names)}]",
            '    run = solve_ivp(field, (0, 10), start, method="LSODA", rtol=1e-9, atol=1e-12)',
            "    print(run.t[-1], *run.y[:, -1])",
            "",
        ]
    )
