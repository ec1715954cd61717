"""Systems written for other programs, and read back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from odesys import System, graph, integrate
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.reading.sbml import system_from_sbml
from odesys.reading.writing import infix, ode_text, python_text, sbml_text
from odesys.reading.xpp import system_from_ode

SYSTEMS = [
    {"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"},
    {"x": "y*exp(-x)/(1 + y^2) - 3/7*abs(x) + t", "y": "-k*x^(1/2) + sigmoid(y) - 2^y"},
    {"x": "-1/3*x^3 + (x - 2)^2/(y + 4)", "y": "-x*(1 - x)^(-2/3)"},
    {"v": "v - v^3/3 - w + max(v, 1)", "w": "tanh(v)^2 - cos(w)*ln(2 + w^2)"},
]


def same(one: System, two: System) -> bool:
    gaps = [a - b for a, b in zip(one.nodes, two.nodes, strict=True)]
    return one.names == two.names and all(g is graph.ZERO or zero_test(g).answer == "zero" for g in gaps)


@pytest.mark.parametrize("equations", SYSTEMS)
def test_files_of_xppaut_are_read_back(equations: dict[str, str]) -> None:
    system = System.from_strings(equations)
    reading = system_from_ode(ode_text(system, dict.fromkeys(system.parameters, 0.25), {system.names[0]: 2}))
    assert same(reading.system, system) and set(reading.values.values()) <= {0.25}
    assert reading.start[system.names[0]] == 2


@pytest.mark.parametrize("equations", SYSTEMS)
def test_sbml_is_read_back_and_valid(equations: dict[str, str]) -> None:
    libsbml = pytest.importorskip("libsbml", reason="the extra import is not installed")
    system = System.from_strings(equations)
    text = sbml_text(system, dict.fromkeys(system.parameters, 0.25), dict.fromkeys(system.names, 1))
    document = libsbml.readSBMLFromString(text)
    document.setConsistencyChecks(libsbml.LIBSBML_CAT_UNITS_CONSISTENCY, False)
    document.setConsistencyChecks(libsbml.LIBSBML_CAT_MODELING_PRACTICE, False)
    assert document.checkConsistency() == 0
    reading = system_from_sbml(text)
    assert same(reading.system, system) and reading.start == dict.fromkeys(system.names, 1)


def test_the_program_runs_and_agrees(tmp_path: Path) -> None:
    system = System.from_strings({"x": "y", "y": "-k*x + step(x)"})
    start = {"x": 1, "y": 0.5}
    (tmp_path / "program.py").write_text(python_text(system, {"k": 2}, start))
    done = subprocess.run([sys.executable, str(tmp_path / "program.py")], capture_output=True, text=True, check=True)
    ends = [float(word) for word in done.stdout.split()]
    run = integrate(system, start, (0, 10), {"k": 2})
    assert ends[1:] == pytest.approx(run.end_state.tolist(), abs=1e-5)


def test_what_a_format_can_not_hold_is_said() -> None:
    with pytest.raises(EquationError, match="capital from small"):
        ode_text(System.from_strings({"x": "X*x"}))
    with pytest.raises(EquationError, match="more than the 9 letters"):
        ode_text(System.from_strings({"concentration": "1"}))
    with pytest.raises(EquationError, match="a map"):
        sbml_text(System.from_strings({"x": "x/2"}, kind="map"))
    with pytest.raises(EquationError, match="no name in this format"):
        infix(graph.call("arctanh", graph.sym("x")), {})
