"""Systems from strings, and from equations as SymPy users have them."""

from __future__ import annotations

import pytest
import sympy as sp

from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.expr.system import System
from odesys.reading.strings import left_name, system_from_strings

t = sp.Symbol("t")


def test_van_der_pol() -> None:
    system = System.from_strings({"x": "y", "y": "-x + mu*(1-x**2)*y"})
    x, y, mu = sym("x"), sym("y"), sym("mu")
    assert system.nodes == (y, -x + mu * (1 - x**2) * y) and system.parameters == ("mu",)
    for lines in (["x' = y", "dy/dt = -x + mu*(1-x^2)*y"], "x'(t) = y; y' = -x(t) + μ*(1-x^2)*y"):
        if "x'(t)" not in lines:
            assert System.from_strings(lines).nodes == system.nodes
    assert System.from_strings("x' = y; y' = -x(t) + μ*(1-x^2)*y").nodes == system.nodes


def test_lambda_and_greek_letters() -> None:
    system = System.from_strings({"θ": "-lambda*θ"})
    assert system.names == ("theta",) and system.parameters == ("lambda_",)
    assert system.tex == {"theta": "\\theta", "lambda_": "\\lambda"}
    assert "lambda_" not in system.latex() and "\\lambda" in system.latex()
    rate = sp.Symbol("lambda")
    assert System.from_equations({sp.Symbol("θ"): -rate * sp.Symbol("θ")}, [rate]).nodes == system.nodes
    assert system.substitute({rate: 3}).nodes == (-3 * sym("theta"),)


def test_unknown_names_and_lines_are_refused() -> None:
    with pytest.raises(EquationError, match="use k"):
        System.from_strings({"x": "k*x"}, parameters=["m"])
    with pytest.raises(EquationError, match="no equation"):
        System.from_strings(["x = y"])


def test_equations_of_sympy() -> None:
    x, y = sp.Function("x")(t), sp.Function("y")(t)
    system = System.from_equations([sp.Eq(x.diff(t), y), sp.Eq(-x, y.diff(t))])
    assert system.nodes == (sym("y"), -sym("x"))
    assert System.from_equations({x.diff(t): y, y: -x}).nodes == system.nodes
    with pytest.raises(EquationError, match="order 2"):
        System.from_equations([sp.Eq(x.diff(t, 2), -x)])
    with pytest.raises(EquationError, match="two equations"):
        System.from_equations([sp.Eq(x.diff(t), y), sp.Eq(x.diff(t), 1)])
    with pytest.raises(EquationError, match="no equation"):
        System.from_equations([x])


def test_functions_by_cases() -> None:
    x = sp.Symbol("x")
    cases = sp.Piecewise((1, x > 2), (x, sp.And(x >= 0, x < 1)), (-1, True))
    (node,) = System.from_equations({x: cases}).nodes
    for place, wanted in ((3, 1), (2, -1), (0.5, 0.5), (0, 0), (-1, -1), (1, -1)):
        assert graph.evaluate([node], {"x": place}, graph.FLOAT_FUNCTIONS, float)[0] == wanted
    with pytest.raises(EquationError, match="elsewhere"):
        System.from_equations({x: sp.Piecewise((1, x > 2))})


def test_commas_between_equations_and_derivatives_on_the_right() -> None:
    system = System.from_strings("x' = max(x, y), y' = 1 - y")
    assert system.names == ("x", "y") and len(system.surfaces) == 1
    assert System.from_strings(["dx/dt = y, dy/dt = -x"]).names == ("x", "y")
    with pytest.raises(EquationError, match="a derivative stands on the right"):
        System.from_strings("x' = y' + 1; y' = x")
    with pytest.raises(EquationError, match="second order"):
        System.from_strings("x'' = -x")


def test_signs_of_printed_formulas_and_no_equation_at_all() -> None:
    pasted = System.from_strings("x' = \u2212x\u00b7y; y' = 2\u00d7x\u00b2 \u2212 y\u00b3")
    assert pasted.nodes == System.from_strings("x' = -x*y; y' = 2*x^2 - y^3").nodes
    for nothing in ("", " \n", {}):
        with pytest.raises(EquationError, match="no equation was given"):
            System.from_strings(nothing)


@pytest.mark.parametrize("line", ["exp(" + "9" * 5000 + ")", "x' = y'" + "9" * 5000])
def test_a_long_line_is_refused_by_a_short_sentence(line: str) -> None:
    with pytest.raises(EquationError) as caught:
        System.from_strings([line])
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "name"),
    [
        *((text, "x") for text in ("x'", "dx/dt", "x_dot", " d x / dt ", "x(t)'", "x ' ", "x (t) '")),
        ("x_1'", "x_1"),
        *((text, None) for text in ("x", "d/dt", "x'y", "2x'", "", "x''", "x(s)'")),
    ],
)
def test_the_state_on_the_left(text: str, name: str | None) -> None:
    assert left_name(text) == name


@pytest.mark.parametrize(
    ("equations", "said"),
    [
        ("x", "'x' is no equation: write x' = ..., dx/dt = ... or a mapping"),
        ("x' 3", "\"x' 3\" is no equation: write x' = ..., dx/dt = ... or a mapping"),
        ("x = 1", "'x = 1' is no equation: write x' = ..., dx/dt = ... or a mapping"),
        ("x'' = 1", "\"x'' = 1\" is of second order; write x' = v; v' = ..., a state for each derivative"),
        ("", "no equation was given; write x' = ..., dx/dt = ... or a mapping"),
    ],
)
def test_lines_that_are_no_equation_are_shown(equations: str, said: str) -> None:
    with pytest.raises(EquationError) as caught:
        system_from_strings(equations)
    assert str(caught.value) == said


def test_every_way_to_write_several_equations() -> None:
    lines = ("x' = max(x, y)", "dy/dt = 2*k", "z_dot = t")
    wanted = system_from_strings({"x": "max(x, y)", "y": "2*k", "z": "t"})
    for equations in (
        "; ".join(lines),
        "\n".join(lines),
        ", ".join(lines),
        list(lines),
        [lines[0], "; ".join(lines[1:])],
    ):
        found = system_from_strings(equations)
        assert (found.names, found.nodes, found.parameters) == (wanted.names, wanted.nodes, ("k",))
    assert system_from_strings({"dx/dt": "y", "y'": "1"}).names == ("x", "y")


def test_parameters_are_those_that_are_used_or_those_that_are_given() -> None:
    """Observables count as well; time is no parameter."""
    system = system_from_strings({"x": "-k + t"}, observables={"e": "x + q"})
    assert system.parameters == ("k", "q") and dict(system.observables) == {"e": sym("x") + sym("q")}
    assert system_from_strings({"x": "-k"}, ["z", "k"]).parameters == ("z", "k") and system.kind == "flow"
    assert system_from_strings({"x": "x/2"}, kind="map").kind == "map"
    with pytest.raises(EquationError) as caught:
        system_from_strings({"x": "-k + j"}, ["m"])
    assert str(caught.value) == "the equations use j, which is neither a state nor one of the parameters m"
    assert caught.value.unknown == ("j", "k")


def test_letters_are_kept_for_what_is_shown_where_they_name_something() -> None:
    """A function or a word of another meaning has no letter of its own."""
    assert system_from_strings({"x": "-k*sin(x)"}).tex == {}
    assert system_from_strings({"β": "-γ*β + x"}, ["γ", "x"]).tex == {"beta": "\\beta", "gamma": "\\gamma"}
