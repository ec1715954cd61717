"""Lines about invariant sets: true ones are there, and sets that solutions leave are not."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys import analyse as findings
from odesys.analysis.invariant_sets import invariant_set_lines, is_even, never_zero
from odesys.reading.grammar import Grammar
from tests.found_lines import texts


def test_negative_states_are_possible_where_nothing_forbids_them() -> None:
    found = findings(System.from_strings({"x": "y - 1", "y": "x"}))
    assert texts(found, "invariant sets") == ["As long as no other state is negative, y can not become negative"]


def test_divisors_without_a_negative_term_keep_states_from_becoming_negative() -> None:
    """T. S. Gardner, C. R. Cantor, J. J. Collins, Nature 403 (2000) 339: two genes that repress each other."""
    switch = findings(System.from_strings("u' = a/(1 + v^2) - u; v' = a/(1 + u^2) - v"), {"a": 3})
    assert "States that are not negative stay so" in texts(switch, "invariant sets")
    assert texts(switch, "equilibria")[-1] == "There are no others anywhere"  # 1 + u^2 is never zero
    other = texts(findings(System.from_strings("u' = 1/(1 + v) - u; v' = 1/(1 - u) - v")), "invariant sets")
    assert other == ["As long as no other state is negative, u can not become negative"]


def test_a_plane_that_solutions_can_leave_is_not_called_invariant() -> None:
    # x = 0 and x = t^2/4 both start at 0
    assert texts(findings(System.from_strings({"x": "sqrt(x)"})), "invariant sets") == []
    assert texts(findings(System.from_strings({"x": "x*sign(x - 1)"})), "invariant sets") == []


def test_a_set_on_which_the_field_has_no_value_is_not_called_invariant() -> None:
    assert texts(findings(System.from_strings({"n": "-n*log(n)"})), "invariant sets") == []
    assert "The set n = 0 is invariant" in texts(findings(System.from_strings({"n": "-n*exp(n)"})), "invariant sets")
    prey = System.from_strings({"x": "x*(1 - x) - x*y", "y": "y*(1 - y/x)"})  # P. H. Leslie, J. C. Gower, Biometrika 47
    assert "The set y = 0 is invariant" in texts(findings(prey), "invariant sets")


def test_a_curve_that_is_invariant_is_listed() -> None:
    found = findings(System.from_strings("x' = -y + x*y; y' = x + D*x^2 + F*y^2"))
    (line,) = (one for one in found.findings if "These curves" in one.text)
    assert "1 - x = 0" in line.text and "degree at most 2" in line.searched
    rests = [one.text for one in found.findings if one.section == "equilibria"]
    assert any("sqrt(-F*(D + 1))" in text and "stable exactly where" in text for text in rests)
    focus = findings(System.from_strings("x' = x - y; y' = x + y"))
    assert any("integrating factor" in one.text and one.evidence == "proof" for one in focus.findings)


def test_a_parameter_that_is_negative_is_not_supposed_to_be_positive() -> None:
    cusp = System.from_strings({"x": "y", "y": "b + x^2 - x*y"})
    assert "States that are not negative stay so with parameters that are not negative" in texts(
        findings(cusp), "invariant sets"
    )
    assert "States that are not negative stay so" in texts(findings(cusp, {"b": 1}), "invariant sets")
    assert not any("States that" in text for text in texts(findings(cusp, {"b": -1}), "invariant sets"))


def test_a_curve_without_a_real_point_is_not_listed() -> None:
    found = texts(findings(System.from_strings("x' = (x - 1)*(x^2 + 1); y' = -y^3")), "invariant sets")
    assert "These curves are invariant: 1 - x = 0" in found


STAY = "States that are not negative stay so"
BOTH = "These sets are invariant: x = 0, y = 0"


@pytest.mark.parametrize(
    ("equations", "lines"),
    [
        ("x' = -x; y' = x - y", ["The set x = 0 is invariant", STAY]),
        ("x' = x*y; y' = -y*x; z' = x + y", [BOTH, STAY]),
        ("x' = -1", []),
        ("x' = y; y' = -x", ["As long as no other state is negative, x can not become negative"]),
        ("x' = a - x", [f"{STAY} with parameters that are not negative"]),
        ("x' = a*y - x; y' = x*exp(-y) - y", [f"{STAY} with parameters that are not negative"]),
        ("x' = 1/x", []),
        ("x' = 1/(1 + x) - x", [STAY]),
        ("x' = x*(x - 1); y' = y*x", [BOTH, "These curves are invariant: 1 - x = 0", STAY]),
        ("x' = x*(x - 1)/y; y' = y*x", ["The set x = 0 is invariant", STAY]),
        ("x' = log(y) - x; y' = -y", []),
        ("x' = -x*sinh(y); y' = -y*cosh(x)", [BOTH, STAY]),
        ("x' = x*sqrt(x)", []),
        ("x' = -x*abs(x)", []),
        ("x' = x*(1 - x)", ["The set x = 0 is invariant", STAY]),
        (
            "x' = (x - 1)*(z + y); y' = y^3 + z*y; z' = 1 - z",
            [
                "The set y = 0 is invariant",
                "These surfaces are invariant: 1 - x = 0, 1 - z = 0",
                "As long as no other state is negative, y, z can not become negative",
            ],
        ),
    ],
)
def test_all_lines_of_a_system(equations: str, lines: list[str]) -> None:
    assert [one.text for one in invariant_set_lines(System.from_strings(equations), {})] == lines


def test_maps_have_no_line_and_many_planes_are_cut_off() -> None:
    assert list(invariant_set_lines(System.from_strings({"x": "x/2"}, kind="map"), {})) == []
    for count, tail in ((12, ""), (13, ", ...")):
        system = System.from_strings({f"x{k}": f"-x{k}" for k in range(count)})
        planes, stay = invariant_set_lines(system, {})
        shown = ", ".join(f"x{k} = 0" for k in range(12))
        assert planes.text == f"These sets are invariant: {shown}{tail}" and planes.evidence == "proof"
        assert stay.searched == "for t >= 0, as long as the solution exists"


def test_values_decide_about_signs_of_parameters() -> None:
    system = System.from_strings({"x": "a - x", "y": "a*x - y"})
    for value, stay in ((Fraction(1, 2), True), (0, True), (-2, False)):
        assert (STAY in [one.text for one in invariant_set_lines(system, {"a": value})]) is stay


@pytest.mark.parametrize(
    ("text", "even", "apart_from_zero"),
    [
        ("x^2 + 1", True, True),
        ("x^2 - 1", False, False),
        ("-x^2 - 3", True, True),
        ("x^2", True, False),
        ("x^2*y^4 + 2", True, True),
        ("x^3 + 1", False, False),
        ("x^2 + x", False, False),
        ("x^2 + y^2 + 5*x^2*y^2", True, False),
        ("exp(x)", False, True),
        ("1 + exp(2*x)", False, True),
        ("exp(x) - 1", False, False),
        ("exp(x) + x^2", False, False),
        ("3 + 2*exp(x)*exp(-y)", False, True),
        ("x*y", False, False),
    ],
)
def test_sums_of_even_powers_of_one_sign_and_what_never_vanishes(text: str, even: bool, apart_from_zero: bool) -> None:
    node = Grammar().read(text)
    assert is_even(node) is even and never_zero(node) is apart_from_zero


def test_the_degree_of_curves_is_told_where_all_of_them_are_known() -> None:
    def curves(equations: Any) -> tuple[str, str]:
        lines = invariant_set_lines(System.from_strings(equations), {})
        return next(
            ((one.text, one.searched) for one in lines if " are invariant: " in one.text and "sets" not in one.text),
            ("", ""),
        )

    every = "every one of degree at most 2 over the rational numbers is among them"
    assert curves("x' = -y + x*y; y' = x + 2*y^2")[1] == every
    assert curves("x' = -y + x*y; y' = x + 2*y^2")[0].startswith("These curves are invariant: 1 - x = 0, ")
    assert curves("x' = (x - 1)/(x - y); y' = x") == ("", "")
    wide = "; ".join(["x0' = (x0 - 1)*x1", *(f"x{k}' = x0 - x{k}" for k in range(1, 5))])
    assert curves(wide) == ("These surfaces are invariant: 1 - x0 = 0", "")


@pytest.mark.parametrize(
    ("divisor", "values"),
    [
        ("sigmoid(x) - 1/2", {}),
        ("softplus(x) - log(2)", {}),
        ("sin(x + pi)", {}),
        ("cos(x) - sech(x) + x", {}),
        ("sigmoid(x) - a", {"a": Fraction(1, 2)}),
        ("sigmoid(x) - a", {"a": 0.5}),
        ("sigmoid(x) - a", {"a": sp.Rational(1, 2)}),
        ("sin(x + a)", {"a": sp.pi}),
    ],
)
def test_a_plane_where_a_divisor_vanishes_is_not_called_invariant(divisor: str, values: dict[str, Any]) -> None:
    """With the first, x' is -4 beside x = 0, where it has no value."""
    system = System.from_strings({"x": f"-x/({divisor})", "y": "y"})
    lines = [line.text for line in invariant_set_lines(system, values)]
    assert lines == ["The set y = 0 is invariant", "As long as no other state is negative, y can not become negative"]
    other = System.from_strings({"x": "x", "y": f"x*y/({divisor})"})
    assert next(line.text for line in invariant_set_lines(other, values)) == "The set y = 0 is invariant"


def test_a_plane_where_a_function_has_no_value_is_not_called_invariant() -> None:
    for rate in ("x*log(-1 - y^2)", "x*asin(2 + y^2)", "x/(sin(y)^2 + cos(y)^2 - 1)"):
        lines = [line.text for line in invariant_set_lines(System.from_strings({"x": rate, "y": "1 - y"}), {})]
        assert lines == ["As long as no other state is negative, y can not become negative"] * len(lines)


def test_a_plane_where_a_divisor_vanishes_in_places_only_is_invariant() -> None:
    for rate, values in (
        ("-x/(sigmoid(x) - a)", {}),
        ("-x/(sigmoid(x) - a)", {"a": Fraction(1, 4)}),
        ("-x/(sigmoid(x) - a)", {"a": "1/4"}),
        ("-x/(x - sin(a))", {"a": sp.pi / 3}),
        ("x*log(y)", {}),
        ("x*y/(k - y)", {}),
    ):
        lines = [line.text for line in invariant_set_lines(System.from_strings({"x": rate, "y": "1 - y"}), values)]
        assert "The set x = 0 is invariant" in lines
