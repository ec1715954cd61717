"""Findings about known systems against what is known of them, and what is said where nothing is decided."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from odesys import Analysis, System
from odesys import analyse as findings
from odesys.errors import ParameterError


def texts(found: Analysis, section: str) -> list[str]:
    return [line.text for line in found.findings if line.section == section]


def test_lorenz() -> None:
    lorenz = System.from_strings({"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"})
    found = findings(lorenz, {"s": 10, "r": 28, "b": Fraction(8, 3)})
    assert found.sentence == (
        "3 states: no conserved quantity up to degree 3, 2 signed permutations, 3 equilibria (0 stable). "
        "Nothing is left open."
    )
    assert "(x = 0, y = 0, z = 0) is an equilibrium: saddle, unstable" in texts(found, "equilibria")
    calm = findings(lorenz, {"s": 10, "r": Fraction(1, 2), "b": 1})
    assert texts(calm, "equilibria")[0].endswith("node, asymptotically stable")
    assert {line.evidence for line in found.findings} == {"proof"}


def test_an_epidemic() -> None:
    found = findings(System.from_strings({"S": "-b*S*I", "I": "b*S*I - g*I", "R": "g*I"}))
    assert "I + R + S is conserved" in texts(found, "conserved") and found.counts["conserved"] == 2
    assert "These sets are invariant: S = 0, I = 0" in texts(found, "invariant sets")
    assert any("not negative stay so" in line for line in texts(found, "invariant sets"))
    assert any("leaves none" in line for line in texts(found, "symmetries"))
    assert any("dimension 2: I = 0" in line for line in texts(found, "equilibria"))


def test_what_is_left_open_is_said_with_what_would_decide_it() -> None:
    open_type = findings(System.from_strings({"x": "x^2 + y^2", "y": "x^2 + y^2"}))
    assert open_type.open_questions and "1 question is left open" in open_type.sentence
    forced = findings(System.from_strings({"x": "cos(t)*x"}))
    assert [line.text for line in forced.open_questions] == [
        "Conserved quantities were not searched",
        "Equilibria were not searched: the equations depend on t",
    ]
    assert forced.rests is None
    many = findings(System.from_strings({f"x{k}": f"-x{k}**3" for k in range(14)}))
    assert any("Equilibria were not searched" in line.text and line.further for line in many.open_questions)


def test_negative_states_are_possible_where_nothing_forbids_them() -> None:
    found = findings(System.from_strings({"x": "y - 1", "y": "x"}))
    assert texts(found, "invariant sets") == ["As long as no other state is negative, y can not become negative"]


def test_text_and_json_say_the_same() -> None:
    found = findings(System.from_strings({"x": "y", "y": "-x"}), notes=("a plot command",))
    assert all(line.text in str(found) for line in found.findings) and "a plot command" in str(found)
    table = found.as_json()
    assert [line["text"] for line in table["findings"]] == [line.text for line in found.findings]
    assert table["sentence"] == found.sentence and table["notes"] == ["a plot command"]


@pytest.mark.parametrize("text", ["-sign(x)", "x/(1 + x**2)", "exp(-x) - x", "sqrt(x)"])
def test_no_kind_of_equation_breaks_it(text: str) -> None:
    assert findings(System.from_strings({"x": text})).sentence


def test_what_a_notebook_shows() -> None:
    found = findings(System.from_strings({"x": "y", "y": "-x"}))
    assert len(repr(found)) < 300 and found.sentence in repr(found)
    assert "x**2 + y**2 is conserved" in found._repr_html_()


def test_a_plane_that_solutions_can_leave_is_not_called_invariant() -> None:
    # x = 0 and x = t^2/4 both start at 0
    assert texts(findings(System.from_strings({"x": "sqrt(x)"})), "invariant sets") == []
    assert texts(findings(System.from_strings({"x": "x*sign(x - 1)"})), "invariant sets") == []


@pytest.mark.parametrize(
    ("equations", "line"),
    [
        ({"x": "-x + tanh(2*x)"}, "(x = 0) is an equilibrium: node, unstable"),  # Newton's method runs away here
        ({"x": "atan(x) - y", "y": "x - 2*y"}, "(x = 0, y = 0) is an equilibrium: saddle, unstable"),
        ({"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"}, "dimension 1: x, y on x**2 + y**2 - 1 = 0"),
        ({"x": "v", "v": "-x - sign(v)"}, "dimension 1: v = 0, x free where x/2 + 1/2 >= 0 and 1/2 - x/2 >= 0"),
        ({"x": "max(x, 0) - min(x, 1)"}, "dimension 1: x free where x - 1 <= 0 and -x <= 0"),
        ({"x": "Piecewise((1, x < 0), (-1, True))"}, "sliding flow (Filippov): kink, asymptotically stable"),
        ({"x": "x - x^2/4 - 1"}, "(x = 2) is an equilibrium: degenerate, unstable"),
        ({"x": "y", "y": "-x - y^3"}, "focus whose linear part is a centre, asymptotically stable"),
        ({"x": "y", "y": "-x + x^2"}, "(x = 0, y = 0) is an equilibrium: centre, stable"),
        ({"x": "u", "y": "v", "u": "-x - 2*x*y", "v": "-y - x^2 + y^2"}, "an equilibrium: not hyperbolic, unstable"),
        ({"x": "1"}, "There is no equilibrium anywhere"),
    ],
)
def test_what_textbooks_say_about_rest(equations: dict[str, str], line: str) -> None:
    assert any(line in text for text in texts(findings(System.from_strings(equations)), "equilibria"))


def test_points_of_a_continuum_are_not_listed_as_isolated() -> None:
    found = findings(System.from_strings({"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"}))
    assert found.rests is not None and len(found.rests) == 1 and found.rests.complete
    friction = findings(System.from_strings({"x": "v", "v": "-x - sign(v)"}))
    assert friction.rests is not None and not len(friction.rests) and len(friction.rests.families) == 1


def test_a_conserved_quantity_is_listed_once() -> None:
    for equations in ({"x": "0"}, {"x": "y", "y": "0"}, {"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"}):
        found = findings(System.from_strings(equations))
        assert found.counts["conserved"] == found.counts["independent"] == 1
    kepler = {"x": "u", "y": "v", "u": "-x/(x^2 + y^2)^(3/2)", "v": "-y/(x^2 + y^2)^(3/2)"}
    found = findings(System.from_strings(kepler), box={name: (1, 2) for name in kepler})
    assert "4 conserved quantities, 3 of them independent, up to degree 3" in found.sentence


def test_a_set_on_which_the_field_has_no_value_is_not_called_invariant() -> None:
    assert texts(findings(System.from_strings({"n": "-n*log(n)"})), "invariant sets") == []
    assert "The set n = 0 is invariant" in texts(findings(System.from_strings({"n": "-n*exp(n)"})), "invariant sets")
    prey = System.from_strings({"x": "x*(1 - x) - x*y", "y": "y*(1 - y/x)"})  # P. H. Leslie, J. C. Gower, Biometrika 47
    assert "The set y = 0 is invariant" in texts(findings(prey), "invariant sets")


def test_the_step_of_a_symmetry_has_a_name_of_its_own() -> None:
    lines = texts(findings(System.from_strings({"s": "-s*i", "i": "s*i - i", "r": "i"})), "symmetries")
    assert any("r -> r + eps*(i + r + s)" in line for line in lines)


def test_equilibria_in_symbols_have_their_conditions() -> None:
    found = findings(System.from_strings({"x": "r*x - x^3"}))
    lines = texts(found, "equilibria")
    assert lines[0] == "(x = 0) is an equilibrium: its linear part is stable exactly where -r > 0"
    assert "(x = sqrt(r)) is an equilibrium where r >= 0: its linear part is stable exactly where 2*r > 0" in lines
    assert "(0 shown to be stable)" in found.sentence


def test_a_point_where_the_field_has_no_value_is_no_equilibrium() -> None:
    found = findings(System.from_strings({"x": "x*log(abs(x))"}))
    assert found.rests is not None and [e.point["x"] for e in found.rests] == [-1, 1] and not found.rests.complete
    assert "at least 2 equilibria" in found.sentence


def test_a_root_at_a_kink_is_left_open() -> None:
    found = findings(System.from_strings({"x": "-sign(x)*sqrt(abs(x))"}))
    assert any(line.evidence == "undecided" for line in found.findings if line.section == "equilibria")


@pytest.mark.parametrize(
    ("equations", "stability"),
    [
        ("x' = x^3; y' = -y", "unstable"),
        ("x' = x^2; y' = -y", "unstable"),  # its integral log(y) - 1/x has no value at the point
        ("x' = -x^3; y' = -y^5", "asymptotically stable"),
        ("x' = 0*x - x^3; y' = -y + x*y^2", "undecided"),  # a state that is driven says nothing alone
        ("x' = y; y' = -x^3", "stable"),  # by x^4 + 2 y^2, whose Hessian is not definite
        ("x' = y; y' = x^3", "undecided"),
        ("x' = -y + x*y; y' = x + y^2/4", "stable"),  # by one over its integral, which has a pole there
        ("x' = y; y' = -x; z' = w; w' = -2*z", "stable"),  # by the sum of two integrals
    ],
)
def test_degenerate_points_are_decided_where_an_argument_is_known(equations: str, stability: str) -> None:
    found = findings(System.from_strings(equations))
    (kind,) = found.types
    assert kind.stability == stability


def test_a_symmetry_must_keep_the_surfaces_where_the_field_switches() -> None:
    """Between gates V = (y, -2 y) commutes with the field, but it moves the surface x = 0."""
    found = findings(System.from_strings("x' = -sign(x) + y/2; y' = -y"))
    assert not [line for line in found.findings if "moved in the direction" in line.text]
    turn = findings(System.from_strings("x' = y*sign(x^2 + y^2 - 1); y' = -x*sign(x^2 + y^2 - 1)"))
    assert [line for line in turn.findings if "moved in the direction" in line.text]


def test_numbers_of_any_size_go_through() -> None:
    for equations in ("x' = 1e-20*(1 - x); y' = 1e20*(x - y)", "x' = 123456789012*x - x^3; y' = -y/1e12"):
        assert not [line for line in findings(System.from_strings(equations)).findings if "could not" in line.text]


def test_a_curve_that_is_invariant_is_listed() -> None:
    found = findings(System.from_strings("x' = -y + x*y; y' = x + D*x^2 + F*y^2"))
    (line,) = (one for one in found.findings if "These curves" in one.text)
    assert "1 - x = 0" in line.text and "degree at most 2" in line.searched
    rests = [one.text for one in found.findings if one.section == "equilibria"]
    assert any("sqrt(-F*(D + 1))" in text and "stable exactly where" in text for text in rests)
    focus = findings(System.from_strings("x' = x - y; y' = x + y"))
    assert any("integrating factor" in one.text and one.evidence == "proof" for one in focus.findings)


def test_what_is_zero_within_its_enclosure_is_shown_as_zero() -> None:
    found = findings(System.from_strings("x' = exp(-x) - x; y' = sin(y) - y/2"))
    assert any("y = 0)" in one.text for one in found.findings) and not any("e-3" in one.text for one in found.findings)


def test_a_lumped_system_is_told() -> None:
    found = findings(System.from_strings("a' = b + c; b' = -b*(1 + a); c' = -c*(1 + a); d' = b - c"))
    (line,) = (one for one in found.findings if one.searched == "exact lumping")
    assert line.text == "2 combinations of the states move by themselves and contain a: a, b + c"
    alone = findings(System.from_strings("a' = b*c; b' = -b; c' = -2*c - a"))
    assert not [one for one in alone.findings if one.searched == "exact lumping"]


def test_numbers_that_are_nearly_whole_are_not_called_whole() -> None:
    """J. H. Wilkinson, Numer. Math. 1 (1959) 150: a small change of one coefficient moves the zeros 1, ..., 20."""
    moved = "*".join(f"(x - {k})" for k in range(1, 21)) + "-x^19/8388608"
    found = texts(findings(System.from_strings({"x": moved})), "equilibria")
    assert len(found) == 11 and found[0].startswith("(x = 1.00000)") and found[9].startswith("(x = 20.8469)")


def test_a_model_of_infection_in_symbols_is_told_in_seconds() -> None:
    """A. S. Perelson, P. W. Nelson, SIAM Rev. 41 (1999) 3; Cardano's roots in six letters took minutes."""
    virus = System.from_strings({"T": "s - d*T - k*T*V", "I": "k*T*V - e*I", "V": "N*e*I - c*V"})
    found = findings(virus)
    free, *_ = texts(found, "equilibria")
    assert free.startswith("(T = s/d, I = 0, V = 0) is an equilibrium where") and "-e*(N*k*s - c*d) > 0" in free
    shown = [text for text in texts(found, "equilibria") if "more points and families" in text]
    assert shown == [
        f"{len(found.rests.special) - 8} more points and families rest where parameters satisfy more equations"
    ]


def test_values_are_found_by_symbols_and_by_words_of_python() -> None:
    decay = System.from_strings({"x": "1 - lambda*x"})
    for key in ("lambda", sp.Symbol("lambda")):
        assert texts(findings(decay, {key: 2}), "equilibria")[0].startswith("(x = 1/2)")
    with pytest.raises(ParameterError, match="mu is not a parameter"):
        findings(decay, {"mu": 2})


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


def test_many_equilibria_are_counted_and_not_all_listed() -> None:
    found = findings(System.from_strings({"x": "sin(x)"}), box={"x": (-500, 500)})
    lines = texts(found, "equilibria")
    assert len(found.rests) == 319 and len(lines) == 62
    assert lines[60] == "259 more equilibria are not listed here, 130 of them stable"


def test_where_a_search_stopped_is_said() -> None:
    found = findings(System.from_strings({"x": "1 - cos(x - sqrt(2))"}), box={"x": (0, 3)})
    (line,) = found.open_questions
    assert "of 1.41421" in line.searched and "searched with x in [0, 3]" in line.searched
    assert "no isolated equilibrium found" in found.sentence


def test_a_field_that_divides_is_judged_where_it_has_a_value() -> None:
    """R. E. Vinograd, Mat. Sb. 41 (1957) 431: the origin attracts and is unstable, but the quotient has no value."""
    r = "((x^2 + y^2)*(1 + (x^2 + y^2)^2))"
    found = findings(System.from_strings({"x": f"(x^2*(y - x) + y^5)/{r}", "y": f"y^2*(y - 2*x)/{r}"}))
    assert texts(found, "equilibria") == ["There is no equilibrium anywhere, where the field has a value"]


def test_many_oscillators_rest_stably() -> None:
    equations = {"x": "u", "y": "v", "z": "w", "u": "-x", "v": "-y", "w": "-z"}
    assert findings(System.from_strings(equations)).types[0].stability == "stable"


def test_states_at_rest_are_not_lumped(recwarn: pytest.WarningsRecorder) -> None:
    findings(System.from_strings("a' = b*c; b' = -a*c; c' = 0"))
    assert not list(recwarn)


def test_an_invariant_line_that_leads_away_makes_a_point_unstable() -> None:
    monkey = findings(System.from_strings("x' = x^2 - y^2; y' = -2*x*y"))  # y = 0 is invariant, and x' = x^2 on it
    assert "(x = 0, y = 0) is an equilibrium: degenerate, unstable" in texts(monkey, "equilibria")
    vinograd = findings(System.from_strings("x' = x^2*(y - x) + y^5; y' = y^2*(y - 2*x)"))
    assert vinograd.types[0].stability == "undecided"
