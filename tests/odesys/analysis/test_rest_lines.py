"""Lines about equilibria: points, families, and what may be missing."""

from __future__ import annotations

from odesys import System
from odesys import analyse as findings
from tests.found_lines import texts


def test_points_of_a_continuum_are_not_listed_as_isolated() -> None:
    found = findings(System.from_strings({"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"}))
    assert found.rests is not None and len(found.rests) == 1 and found.rests.complete
    friction = findings(System.from_strings({"x": "v", "v": "-x - sign(v)"}))
    assert friction.rests is not None and not len(friction.rests) and len(friction.rests.families) == 1


def test_equilibria_in_symbols_have_their_conditions() -> None:
    found = findings(System.from_strings({"x": "r*x - x^3"}))
    lines = texts(found, "equilibria")
    assert lines[0] == "(x = 0) is an equilibrium: its linear part is stable exactly where -r > 0"
    assert "(x = sqrt(r)) is an equilibrium where r >= 0: its linear part is stable exactly where 2*r > 0" in lines
    assert "3 equilibria in symbols, where their conditions hold. " in found.sentence
    assert "1 equilibrium in symbols. " in findings(System.from_strings({"x": "r - x"})).sentence


def test_a_point_where_the_field_has_no_value_is_no_equilibrium() -> None:
    found = findings(System.from_strings({"x": "x*log(abs(x))"}))
    assert found.rests is not None and [e.point["x"] for e in found.rests] == [-1, 1] and not found.rests.complete
    assert "at least 2 equilibria" in found.sentence


def test_numbers_that_are_nearly_whole_are_not_called_whole() -> None:
    """J. H. Wilkinson, Numer. Math. 1 (1959) 150: a small change of one coefficient moves the zeros 1, ..., 20."""
    moved = "*".join(f"(x - {k})" for k in range(1, 21)) + "-x^19/8388608"
    found = texts(findings(System.from_strings({"x": moved})), "equilibria")
    assert len(found) == 11 and found[0].startswith("(x = 1.00000)") and found[9].startswith("(x = 20.8469)")


def test_what_is_zero_within_its_enclosure_is_shown_as_zero() -> None:
    found = findings(System.from_strings("x' = exp(-x) - x; y' = sin(y) - y/2"))
    assert any("y = 0)" in one.text for one in found.findings) and not any("e-3" in one.text for one in found.findings)


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


def test_a_field_that_has_a_value_everywhere_needs_no_such_clause() -> None:
    assert texts(findings(System.from_strings({"x": "x^2 + 1"})), "equilibria") == ["There is no equilibrium anywhere"]


def test_the_type_of_the_linear_part_is_told_where_that_of_the_flow_differs() -> None:
    same, other = (findings(System.from_strings({"x": "y", "y": y})) for y in ("-x - y", "-x - y^3"))
    assert texts(same, "equilibria")[0] == "(x = 0, y = 0) is an equilibrium: focus, asymptotically stable"
    assert "equilibrium: focus whose linear part is a centre, asymptotically" in texts(other, "equilibria")[0]


def test_families_are_said_with_what_is_fixed_what_is_free_and_where() -> None:
    lines = {
        "x' = relu(x); y' = y": ["of dimension 1: y = 0, x free where x <= 0"],
        "x' = y - x; y' = x - y": ["of dimension 1: x = y, y free"],
        "x' = -x + abs(y); y' = -y - abs(x)": ["of dimension 1: x = -y, y free where -y >= 0"],  # both gates ask for it
        "x' = x*y; y' = x*z; z' = 0": ["of dimension 1: y = 0, z = 0, x free", "of dimension 2: x = 0, y, z free"],
        "x' = r*x; y' = 0": ["of dimension 1: x = 0, y free where r is not 0", "of dimension 2: x, y free where r = 0"],
        "x' = y*(x^2 + y^2 - 1); y' = -x*(x^2 + y^2 - 1)": ["of dimension 1: x, y on x**2 + y**2 - 1 = 0"],
        "x' = 0; y' = 0": ["of dimension 2: x, y free"],
    }
    for text, families in lines.items():
        found = texts(findings(System.from_strings(text)), "equilibria")
        start = "A family of equilibria "
        assert [line.removeprefix(start) for line in found if line.startswith(start)] == families, text
