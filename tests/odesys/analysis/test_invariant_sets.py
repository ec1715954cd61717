"""Lines about invariant sets: true ones are there, and sets that solutions leave are not."""

from __future__ import annotations

from odesys import System
from odesys import analyse as findings
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
