"""Reading: a system from a file, the numbers that came with it, and what was left out."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from .. import files
from ..errors import EquationError
from ..expr.letters import plain_name, refuse_merged
from ..expr.system import System

#: what a file of equations may hold; the last four are words for people
PARTS = ("equations", "parameters", "start", "observables", "kind", "source", "title", "name", "description")


@dataclass(frozen=True)
class Reading:
    """A system with values of its parameters, a start, the end of a run if a file says it, and what was left out."""

    system: System
    values: Mapping[str, Fraction] = field(default_factory=dict)
    start: Mapping[str, Fraction] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    t_end: Fraction | None = None

    @property
    def with_values(self) -> System:
        """The system with its parameters replaced by their values."""
        return self.system.substitute(self.values) if self.values else self.system


def read_system(path: str | Path) -> Reading:
    """A system from a file: .json (ours, or equations as strings), .ode (XPPAUT), .sbml or .xml, .ant, .cellml.

    Parameters
    ----------
    path : str | Path
        A file ending in .json, .ode, .sbml, .xml (SBML), .ant (Antimony) or .cellml. SBML and Antimony need the extra
        ``import``.

    Returns
    -------
    Reading
        The system, with start values and parameters if the file has them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "decay.ode")
    ...     _ = file.write_text("x' = -k*x\\npar k=2\\ndone\\n")
    ...     read_system(file).with_values.nodes
    (Node(-2*x),)
    """
    from .cellml import system_from_cellml
    from .sbml import system_from_antimony, system_from_sbml
    from .xpp import system_from_ode

    file = Path(path)
    readers = {".json": system_from_text, ".ode": system_from_ode, ".cellml": system_from_cellml}
    readers |= {".sbml": system_from_sbml, ".xml": system_from_sbml, ".ant": system_from_antimony}
    if file.suffix.lower() not in readers:
        raise EquationError(f"{file.name} has no ending that can be read; known are {', '.join(sorted(readers))}")
    try:
        text = files.read_text(file)
    except FileNotFoundError:
        raise EquationError(f"there is no file {file}") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise EquationError(f"{file} can not be read: {problem}") from None
    return readers[file.suffix.lower()](text)


def system_from_text(text: str) -> Reading:
    """A system from JSON: that of `System.to_json`, or {"equations": {...}, "parameters": {...}, "start": {...}}.

    >>> system_from_text('{"equations": {"x": "-k*x"}, "parameters": {"k": 0.1}}').values
    {'k': Fraction(1, 10)}
    """
    from ..jit.serialise import one_of_each, system_from_json
    from .grammar import Grammar
    from .strings import system_from_strings

    try:
        data = json.loads(text, parse_float=str, object_pairs_hook=one_of_each)
    except (ValueError, RecursionError) as problem:
        raise EquationError(f"this is not JSON: {problem}") from None
    if not isinstance(data, dict) or "equations" not in data or "format" in data:
        return Reading(system_from_json(text))
    equations, given = data["equations"], data.get("parameters", {})
    if not isinstance(equations, dict | list) or not all(isinstance(e, str) for e in _texts(equations)):
        raise EquationError('"equations" must give a text for each state')
    if not isinstance(given, dict | list) or not isinstance(data.get("start", {}), dict):
        raise EquationError('"parameters" and "start" must give a number for each name')
    seen = data.get("observables") or {}
    if not isinstance(seen, dict) or not all(isinstance(e, str) for e in _texts(seen)):
        raise EquationError('"observables" must give a text for each name')
    system = system_from_strings(equations, list(given) or None, data.get("kind", "flow"), seen)

    moving = set(system.names)

    def numbers(table: object) -> dict[str, Fraction]:
        found = {}
        for name, value in table.items() if isinstance(table, dict) else ():
            node = Grammar().read(str(value))
            if node.op != "num":
                raise EquationError(f"{name} = {value} is not a number")
            found[str(name)] = Fraction(node.args[0])
        refuse_merged(found)
        return {plain_name(name): value for name, value in found.items()}

    start = numbers(data.get("start", {}))
    notes = [f"the start of {name} is not used: it has no equation" for name in start if name not in moving]
    notes += [f"left out, it is no part of a system: {name}" for name in data if name not in PARTS]
    return Reading(system, numbers(given), start, tuple(notes))


def _texts(equations: object) -> list[object]:
    return list(equations.values()) if isinstance(equations, dict) else list(equations)  # type: ignore[call-overload]
