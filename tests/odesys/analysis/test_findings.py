"""Findings about known systems against what is known of them, and what is said where nothing is decided."""

from __future__ import annotations

from fractions import Fraction

import pytest
import sympy as sp

from odesys import System
from odesys import analyse as findings
from odesys.errors import EquationError, ParameterError
from tests.found_lines import texts


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


def test_the_headline_names_the_box_outside_of_which_nothing_was_searched() -> None:
    """A pendulum rests at every multiple of pi, so that a bare number of equilibria is false."""
    pendulum = System.from_strings({"x": "y", "y": "-sin(x) - y/10"})
    assert findings(pendulum).sentence.endswith(
        "7 equilibria with x in [-10, 10] (3 stable). Equilibria outside were not searched. Nothing else is left open."
    )
    asked = findings(System.from_strings({"x": "x - x^3", "y": "-y"}), box={"x": (0, 5), "y": (0, 5)})
    assert "2 equilibria with x, y in [0, 5] (1 stable). Equilibria outside were not searched. " in asked.sentence
    assert texts(asked, "equilibria")[-1] == "There are no others with x, y in [0, 5]"


def test_an_epidemic() -> None:
    found = findings(System.from_strings({"S": "-b*S*I", "I": "b*S*I - g*I", "R": "g*I"}))
    assert "I + R + S is conserved" in texts(found, "conserved") and found.counts["conserved"] == 2
    assert "These sets are invariant: S = 0, I = 0" in texts(found, "invariant sets")
    assert any("not negative stay so" in line for line in texts(found, "invariant sets"))
    assert any("leaves none" in line for line in texts(found, "symmetries"))
    assert any("dimension 2: I = 0" in line for line in texts(found, "equilibria"))
    assert "no isolated equilibrium found, 1 family of equilibria. " in found.sentence
    closed = findings(System.from_strings({"x": "y - x", "y": "x - y"}))
    assert "0 isolated equilibria, 1 family of equilibria. Nothing is left open." in closed.sentence


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


@pytest.mark.parametrize("text", ["-sign(x)", "x/(1 + x**2)", "exp(-x) - x", "sqrt(x)"])
def test_no_kind_of_equation_breaks_it(text: str) -> None:
    assert findings(System.from_strings({"x": text})).sentence


def test_what_a_notebook_shows() -> None:
    found = findings(System.from_strings({"x": "y", "y": "-x"}))
    assert len(repr(found)) < 300 and found.sentence in repr(found)
    assert "x**2 + y**2 is conserved" in found._repr_html_()


def test_a_conserved_quantity_is_listed_once() -> None:
    for equations in ({"x": "0"}, {"x": "y", "y": "0"}, {"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"}):
        found = findings(System.from_strings(equations))
        assert found.counts["conserved"] == found.counts["independent"] == 1
    kepler = {"x": "u", "y": "v", "u": "-x/(x^2 + y^2)^(3/2)", "v": "-y/(x^2 + y^2)^(3/2)"}
    found = findings(System.from_strings(kepler), box={name: (1, 2) for name in kepler})
    assert "4 conserved quantities, 3 of them independent, up to degree 3" in found.sentence


def test_the_step_of_a_symmetry_has_a_name_of_its_own() -> None:
    lines = texts(findings(System.from_strings({"s": "-s*i", "i": "s*i - i", "r": "i"})), "symmetries")
    assert any("r -> r + eps*(i + r + s)" in line for line in lines)


def test_a_symmetry_must_keep_the_surfaces_where_the_field_switches() -> None:
    """Between gates V = (y, -2 y) commutes with the field, but it moves the surface x = 0."""
    found = findings(System.from_strings("x' = -sign(x) + y/2; y' = -y"))
    assert not [line for line in found.findings if "moved in the direction" in line.text]
    turn = findings(System.from_strings("x' = y*sign(x^2 + y^2 - 1); y' = -x*sign(x^2 + y^2 - 1)"))
    assert [line for line in turn.findings if "moved in the direction" in line.text]


def test_numbers_of_any_size_go_through() -> None:
    for equations in ("x' = 1e-20*(1 - x); y' = 1e20*(x - y)", "x' = 123456789012*x - x^3; y' = -y/1e12"):
        assert not [line for line in findings(System.from_strings(equations)).findings if "could not" in line.text]


def test_a_lumped_system_is_told() -> None:
    found = findings(System.from_strings("a' = b + c; b' = -b*(1 + a); c' = -c*(1 + a); d' = b - c"))
    (line,) = (one for one in found.findings if one.searched == "exact lumping")
    assert line.text == "2 combinations of the states move by themselves and contain a: a, b + c"
    alone = findings(System.from_strings("a' = b*c; b' = -b; c' = -2*c - a"))
    assert not [one for one in alone.findings if one.searched == "exact lumping"]


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


def test_states_at_rest_are_not_lumped(recwarn: pytest.WarningsRecorder) -> None:
    findings(System.from_strings("a' = b*c; b' = -a*c; c' = 0"))
    assert not list(recwarn)


def test_powers_beyond_all_numbers_are_left_undecided() -> None:
    """Their balls are finite, and can not be written out: the process ended."""
    found = findings(System.from_strings({"x": "(x + 1)**(2**62)"}))
    assert "no symmetry" in found.sentence and found.rests is not None


def test_what_is_not_searched_in_large_systems_is_said() -> None:
    found = findings(System.from_strings({f"x{k}": f"-x{k}" for k in range(301)}))
    assert any("not searched" in line.text for line in found.open_questions if line.section == "symmetries")
    assert "symmetr" not in found.sentence
    with pytest.raises(EquationError, match="has 2,001 states, and at most 2,000 are analysed"):
        findings(System.from_strings({f"x{k}": f"-x{k}" for k in range(2001)}))


def test_long_switching_surfaces_are_counted_and_not_written_out() -> None:
    """The surfaces of a maximum of many states double at each step: ten states made lines of some thousand letters."""
    names = [f"x{i}" for i in range(10)]
    equations = {"x0": f"max({', '.join(names)}) - x0"} | {n: f"-{n}" for n in names[1:]}
    found = findings(System.from_strings(equations))
    (line,) = [each.text for each in found.findings if "switches where" in each.text]
    assert line.startswith("The field switches where -x0 + x1 = 0, ") and line.endswith("longer formulas vanish")
    assert len(line) < 400
    three = findings(System.from_strings({"x": "-abs(x)", "y": "-step(y - 1)"}))
    (line,) = [each.text for each in three.findings if "switches where" in each.text]
    assert line == "The field switches where x = 0, y - 1 = 0"


def test_progress_is_told_what_is_searched() -> None:
    told: list[tuple[str, float]] = []
    findings(System.from_strings({"x": "y", "y": "-x"}), progress=lambda step, fraction: told.append((step, fraction)))
    steps, fractions = zip(*told, strict=True)
    assert steps == ("structure", "conserved quantities", "symmetries", "invariant sets", "equilibria")
    assert sorted(fractions) == list(fractions) and fractions[0] >= 0 and fractions[-1] < 1
