"""Systems written for other programs, and read back."""

from __future__ import annotations

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from odesys import System, graph, integrate
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.reading.sbml import system_from_sbml
from odesys.reading.writing import PYTHON, XPP, infix, ode_text, python_text, sbml_text
from odesys.reading.xpp import system_from_ode
from tests.random_nodes import expressions, value
from tests.written_code import value_of

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


x, y = graph.sym("x"), graph.sym("y")
MEANING: dict[str, Any] = {**vars(math), "step": lambda z: 1.0 if z > 0 else 0.0}


@settings(deadline=None, max_examples=60, derandomize=True)
@given(expressions())
def test_text_for_python_has_the_value_of_the_expression(node: graph.Node) -> None:
    text = infix(node, PYTHON, "**")
    for a, b in ((0.37, -1.21), (-0.64, 0.83)):
        assert value_of(text, {**MEANING, "x": a, "y": b}) == pytest.approx(value(node, a, b), rel=1e-9, abs=1e-10), (
            text
        )


@pytest.mark.parametrize("name", sorted({*PYTHON} - {"step", "erf"}))
def test_functions_have_their_names_in_python_and_in_xppaut(name: str) -> None:
    node, point = graph.call(name, x), 1.5 if name == "arccosh" else 0.3
    expected = graph.evaluate([node], {"x": point}, graph.FLOAT_FUNCTIONS, float)[0]
    assert value_of(infix(node, PYTHON, "**"), {**MEANING, "x": point}) == pytest.approx(expected, rel=1e-14)
    if name in XPP:
        assert system_from_ode(f"x' = {infix(node, XPP)}").system.nodes == (node,)


@pytest.mark.parametrize(
    ("node", "text"),
    [
        (graph.num(Fraction(-2, 7)), "-2/7"),
        (2 * x, "(2*x)"),
        (-x, "(-x)"),
        (x / 3, "(1/3*x)"),
        (x**2, "x^2"),
        (1 / x, "(1/(x))"),
        (x**-2, "(1/(x^2))"),
        (graph.sqrt(x), "x^(1/2)"),
        (x * graph.num(2) ** Fraction(1, 2), "(2^(1/2)*x)"),
        (graph.num(-2) ** Fraction(1, 3), "(-2)^(1/3)"),
        (graph.step(x), "heav(x)"),
        (graph.call("sin", graph.exp(x)), "sin(exp(x))"),
        (graph.exp(2 * x), "exp(2*x)"),
        (graph.call("sin", (x + 1) ** 2), "sin((1 + x)^2)"),
        (graph.call("softplus", 2 * x), "ln(1 + exp(2*x))"),
    ],
)
def test_no_brackets_more_than_a_reader_needs(node: graph.Node, text: str) -> None:
    assert infix(node, XPP) == text


def test_an_argument_of_two_factors_in_brackets_keeps_its_own() -> None:
    node = graph.call("sin", (x + 1) * (y + 2) / (x + 3))
    text = infix(node, PYTHON, "**")
    assert text.startswith("sin(") and value_of(text, {**MEANING, "x": 0.5, "y": 0.25}) == pytest.approx(
        math.sin(1.5 * 2.25 / 3.5)
    )


FORCED = System.from_strings({"x": "-k*x", "v": "t*x"}, observables={"e": "x^2", "f": "x/v"})


def test_a_whole_file_of_xppaut() -> None:
    assert ode_text(FORCED, {"k": 0.1}, {"v": Fraction(1, 4)}) == (
        "x' = -(k*x)\nv' = t*x\naux e=x^2\naux f=x/(v)\npar k=0.1\ninit x=0\ninit v=0.25\ndone\n"
    )
    assert ode_text(System.from_strings({"x": "a*x"}, kind="map")) == "x(t+1) = a*x\npar a=1\ninit x=0\ndone\n"
    assert "par k=100000\n" in ode_text(FORCED, {"k": 1e5}) and "par k=1e-07\n" in ode_text(FORCED, {"k": 1e-7})


def test_a_whole_file_of_sbml() -> None:
    def rule(kind: str, name: str, formula: str) -> str:
        mathml = f'<math xmlns="http://www.w3.org/1998/Math/MathML">{formula}</math>'
        return f'<{kind}Rule variable="{name}">{mathml}</{kind}Rule>'

    parameters = [
        '<parameter id="k" value="0.1" constant="true"/>',
        '<parameter id="x" constant="false"/>',
        '<parameter id="e" constant="false"/>',
    ]
    square = '<apply><power/><ci> x </ci><cn type="integer"> 2 </cn></apply>'
    system = System.from_strings({"x": "k"}, observables={"e": "x^2"})
    assert sbml_text(system, {"k": 0.1}).splitlines() == [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<sbml xmlns="http://www.sbml.org/sbml/level3/version1/core" level="3" version="1">',
        '<model id="system">',
        "<listOfParameters>",
        *parameters,
        "</listOfParameters>",
        "<listOfRules>",
        rule("rate", "x", "<ci> k </ci>"),
        rule("assignment", "e", square),
        "</listOfRules>",
        "</model>",
        "</sbml>",
    ]
    assert '<parameter id="x" value="3" constant="false"/>' in sbml_text(system, None, {"x": 3})


def test_a_whole_program() -> None:
    """Also with a word of Python as a name; states without a start begin at 1, parameters without a value are 1."""
    text = python_text(System.from_strings({"x": "-lambda*x^2", "y": "x + x*a"}), {"a": 0.5}, {"y": 2})
    assert text.splitlines() == [
        "from math import *",
        "",
        "from scipy.integrate import solve_ivp",
        "",
        "a = 0.5",
        "lambda_ = 1",
        "",
        "",
        "def step(x):",
        "    return 1.0 if x > 0 else 0.0",
        "",
        "",
        "def field(t, state):",
        "    x, y, = state",
        "    return [",
        "        -(lambda_*x**2),",
        "        x + (x*a)," if "x + (x*a)" in text else "        x + (a*x),",
        "    ]",
        "",
        "",
        'if __name__ == "__main__":',
        "    start = [1, 2]",
        '    run = solve_ivp(field, (0, 10), start, method="LSODA", rtol=1e-9, atol=1e-12)',
        "    print(run.t[-1], *run.y[:, -1])",
    ]
    assert text.endswith("\n") and "lambda_" not in python_text(System.from_strings({"x": "1"}))


def test_what_a_format_can_not_hold_is_said_in_a_whole_sentence() -> None:
    two_cases = System.from_strings({"x": "X*x"})
    long, limit = System.from_strings({"ninechars": "1"}), System.from_strings({"tencharact": "1"})
    flip = System.from_strings({"x": "x/2"}, kind="map")
    assert ode_text(long).startswith("ninechars' = 1\n")
    for call, said in (
        (
            lambda: ode_text(two_cases),
            "XPPAUT does not tell capital from small letters, and two names differ in nothing else",
        ),
        (lambda: ode_text(limit), "tencharact has more than the 9 letters that a name of XPPAUT may have"),
        (lambda: ode_text(System.from_strings({"e": "1"})), "pi and e are numbers in XPPAUT"),
        (lambda: ode_text(System.from_strings({"x": "pi"}, ["pi"])), "pi and e are numbers in XPPAUT"),
        (lambda: sbml_text(flip), "SBML has equations of motion, and this system is a map"),
        (lambda: python_text(flip), "the program integrates a flow, and this system is a map"),
        (lambda: infix(graph.call("erf", x), {}), "the function erf has no name in this format"),
    ):
        with pytest.raises(EquationError) as caught:
            call()
        assert str(caught.value) == said
