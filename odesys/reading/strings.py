"""A system from strings: {"x": "y", ...} or lines x' = y."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import EquationError
from ..expr import graph
from ..expr.field import ScalarField
from ..expr.letters import letter_tex, plain_name, refuse_merged
from ..expr.system import TIME, System
from ..shortening import shortened
from .grammar import Grammar

_RATE = r"\s*(?:d\s*(?P<leibniz>[^\W\d]\w*)\s*/\s*dt|(?P<prime>[^\W\d]\w*)\s*(?:\(t\))?\s*'|(?P<dot>[^\W\d]\w*)_dot)\s*"
_LEFT = re.compile(_RATE + "$")
_NEXT = re.compile(
    r"[;\n]|,(?=" + re.sub(r"\?P<\w+>", "?:", _RATE) + "=)"
)  # a comma between equations, not in max(x, y)


def system_from_strings(
    equations: Mapping[Any, str] | Iterable[str],
    parameters: Iterable[Any] | None = None,
    kind: str = "flow",
    observables: Mapping[str, str] | None = None,
) -> System:
    """A system from text; names without an equation are parameters unless these are listed.

    >>> system_from_strings({"x": "y", "y": "-x + mu*(1-x**2)*y"}).parameters
    ('mu',)
    >>> system_from_strings(["x' = -x(t)", "dy/dt = 2.5*x"]).equations["y"]
    Node(5*x/2)
    """
    pairs = _pairs(equations)
    if not pairs:
        raise EquationError("no equation was given; write x' = ..., dx/dt = ... or a mapping")
    names = [plain_name(name) for name, _ in pairs]
    words = [word for _, text in pairs for word in re.findall(r"[^\W\d]\w*", text)]
    words += [word for text in (observables or {}).values() for word in re.findall(r"[^\W\d]\w*", text)]
    refuse_merged([*(name for name, _ in pairs), *words])
    listed = None if parameters is None else [str(p) for p in parameters]
    refuse_merged(listed or ())
    given = None if listed is None else tuple(plain_name(p) for p in listed)
    grammar = Grammar(states=names, parameters=given or ())
    nodes = tuple(grammar.read(text) for _, text in pairs)
    seen = {name: grammar.read(text) for name, text in (observables or {}).items()}
    used = sorted(graph.symbols([*nodes, *seen.values()]) - set(names) - {TIME})
    given = tuple(used) if given is None else given
    unknown = [name for name in used if name not in given]
    if unknown:
        raise EquationError(
            f"the equations use {unknown[0]}, which is neither a state nor one of the parameters {', '.join(given)}",
            unknown=tuple(unknown),
        )
    letters = {*(name for name, _ in pairs), *given, *words}
    tex = {
        plain_name(w): told for w in sorted(letters) if (told := letter_tex(w)) and plain_name(w) in {*names, *given}
    }
    return System(tuple(names), ScalarField(nodes, seen), given, kind, tex)


def _pairs(equations: Mapping[Any, str] | Iterable[str]) -> list[tuple[str, str]]:
    if isinstance(equations, Mapping):
        return [(left_name(str(name)) or str(name), text) for name, text in equations.items()]
    lines = [equations] if isinstance(equations, str) else list(equations)
    found = []
    for line in (part for text in lines for part in _NEXT.split(text) if part.strip()):
        left, equal, right = line.partition("=")
        name = left_name(left)
        if "''" in left:
            raise EquationError(
                f"{line.strip()!r} is of second order; write x' = v; v' = ..., a state for each derivative"
            )
        if "'" in right:
            raise EquationError(
                f"in {shortened(line.strip())!r} a derivative stands on the right; solve the equations for x', y', ... "
                f"first, or give them as equations of SymPy, which are solved"
            )
        if not equal or name is None:
            raise EquationError(f"{shortened(line.strip())!r} is no equation: write x' = ..., dx/dt = ... or a mapping")
        found.append((name, right))
    return found


def left_name(text: str) -> str | None:
    """The state on the left of an equation such as x' = ... or dx/dt = ..., None if it is none."""
    found = _LEFT.match(text)
    return next(filter(None, found.groups())) if found else None
