"""The command `analyse`: a system from a file or from the command line, and what is written about it."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from ..analysis.findings import Analysis, analyse
from ..errors import EquationError, ParameterError
from ..expr.constants import read_number
from ..expr.letters import plain_name
from ..expr.system import System
from ..files import write_text
from ..reading.reading import Reading, read_system
from ..reading.writing import ode_text, python_text, sbml_text
from ..report.explorer import findings_page
from ..terminal import Progress, silent
from ..tex.latex import system_mathml

FILES = ("page.html", "analysis.txt", "findings.csv", "equations.tex", "system.json")
EXPORTS = {"system.ode": ode_text, "system.sbml": sbml_text, "system.py": python_text}


def analysed(
    file: Path | None,
    equations: Sequence[str],
    settings: Mapping[str, str],
    box: Sequence[str],
    seed: int,
    progress: Progress = silent,
) -> Analysis:
    """What is found about the system of a file, or of equations on the command line."""
    if (file is None) == (not equations):
        raise ParameterError('give a file, or equations as -e "x\' = y" -e "y\' = -x", and not both')
    reading = Reading(System.from_strings(list(equations))) if file is None else read_system(file)
    values: dict[str, Any] = dict(reading.values)
    start: dict[str, Any] = dict(reading.start)
    for name, text in settings.items():
        plain = plain_name(name)
        table = values if plain in reading.system.parameters else start if plain in reading.system.names else None
        if table is None:
            known = ", ".join((*reading.system.parameters, *reading.system.names))
            raise ParameterError(f"{name} is neither a parameter nor a state of the system, which has {known}")
        table[plain] = _number(name, text)
    from odesys import with_run  # which integrates, so it lives in numerics

    found = analyse(reading.system, values, start, _box(box, reading.system), reading.notes, seed, progress)
    progress("a run", 0.9)
    return with_run(found) if reading.t_end is None else with_run(found, float(reading.t_end))


def _number(name: str, text: str) -> Fraction:
    try:
        return read_number(text)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"{name} = {text!r} is not a number; write 3, 0.5, 1e-3 or 8/3") from None


def _box(texts: Sequence[str], system: System) -> dict[str, tuple[Fraction, Fraction]] | None:
    found = {}
    for text in texts:
        name, equal, ends = text.partition("=")
        low, colon, high = ends.partition(":")
        if not equal or not colon or plain_name(name) not in system.names:
            raise ParameterError(f"{text!r} is no range of a state; write --box {system.names[0]}=-5:5")
        least, most = _number(name, low), _number(name, high)
        if least > most:
            raise ParameterError(f"the range {text} is empty; write --box {name}={high}:{low}")
        found[plain_name(name)] = (least, most)
    return found or None


def write_analysis(found: Analysis, folder: Path, title: str = "A system") -> list[Path]:
    """One page; the lines as text and table, the equations as LaTeX, the system as JSON and for other programs."""
    from odesys import page  # which draws, so it lives in numerics

    texts = [  # first, for a page needs numbers that floats can hold
        write_text(folder / FILES[1], f"{found}\n"),
        write_text(folder / FILES[2], findings_csv(found)),
        write_text(folder / FILES[3], f"{found.system.latex()}\n"),
        write_text(folder / FILES[4], found.system.to_json()),
        *_exported(found, folder),
    ]
    if found.system.kind == "map":  # which no page runs
        text = findings_page(title, system_mathml(found.system), found)
        return [write_text(folder / FILES[0], text), *texts]
    numbers = {name: float(value) for name, value in found.values.items()}
    start = {name: float(value) for name, value in found.start.items()}
    return [
        page(found.system, folder / FILES[0], start, found.t_end, parameters=numbers, title=title, analysis=found),
        *texts,
    ]


def findings_csv(found: Analysis) -> str:
    """The lines as a table, for a spreadsheet."""
    table = io.StringIO()
    rows = [line.as_json() for line in found.findings]
    writer = csv.DictWriter(table, ["section", "text", "evidence", "searched", "further"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return table.getvalue()


def _exported(found: Analysis, folder: Path) -> list[Path]:
    """The system in the formats of other programs that can hold it; what can not is said in a file of that name."""
    written, refused = [], []
    for name, text_of in EXPORTS.items():
        try:
            written.append(write_text(folder / name, text_of(found.system, found.values, found.start)))
        except EquationError as problem:
            refused.append(f"{name}: {problem}")
    if refused:
        written.append(write_text(folder / "not_exported.txt", "\n".join([*refused, ""])))
    return written
