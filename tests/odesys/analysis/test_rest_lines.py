"""Lines about equilibria: points, families, and what may be missing."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
import sympy as sp

from odesys import System
from odesys import analyse as findings
from odesys.analysis.finding import Finding
from odesys.analysis.rest_lines import (
    _conditions,
    _family,
    _has_value_everywhere,
    _in_symbols,
    _point,
    _range,
    _short,
    _specials,
    _type_words,
    _weakest,
    rest_lines,
)
from odesys.analysis.rest_sets import Continuum, Equilibrium
from odesys.analysis.rest_words import rest_words
from odesys.analysis.stability import Classification
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


def lines_of(text: str, box: Any = None, **values: Any) -> list[Finding]:
    kind = "map" if text.startswith("map ") else "flow"
    return rest_lines(System.from_strings(text.removeprefix("map "), kind=kind), values, box, 0, [])[2]


def test_where_no_search_was_made_the_line_says_why() -> None:
    found, types, (line,) = rest_lines(System.from_strings("x' = sin(t) - x"), {}, None, 0, [])
    assert found is None and types == () and line.evidence == "undecided"
    assert line.text == "Equilibria were not searched: the equations depend on t" and "freeze t" in line.further
    for count, searched in ((12, True), (13, False)):
        chain = System.from_strings({f"s{k}": f"-s{k}" for k in range(count)})
        found, _, lines = rest_lines(chain, {}, None, 0, [])
        assert (found is not None) is searched
        if not searched:
            assert [line.text for line in lines] == ["Equilibria were not searched: there are more than 12 states"]
            assert lines[0].further == "system.equilibria(...), or lump it first"
    (line,) = lines_of("x' = exp(x) - a*x")
    assert line.text == "Equilibria were not searched" and line.evidence == "undecided" and "a" in line.searched


@pytest.mark.parametrize(
    ("text", "box", "expected"),
    [
        (
            "x' = 1 - x",
            None,
            [
                ("(x = 1) is an equilibrium: node, asymptotically stable", "proof", ""),
                ("There are no others anywhere", "proof", ""),
            ],
        ),
        (
            "x' = sin(x)",
            {"x": (-1, 1)},
            [
                ("(x = 0) is an equilibrium: node, unstable", "proof", ""),
                ("There are no others with x in [-1, 1]", "proof", ""),
            ],
        ),
        (
            "x' = exp(x) - 2",
            {"x": (-1, 1)},
            [
                ("(x = 0.693147) is an equilibrium: node, unstable", "certificate", ""),
                ("There are no others with x in [-1, 1]", "proof", ""),
            ],
        ),
        (
            "x' = y; y' = -x",
            None,
            [
                (
                    "(x = 0, y = 0) is an equilibrium: its linear part is a centre, stability not decided",
                    "undecided",
                    "eigenvalues on the imaginary axis decide nothing; a first integral may",
                ),
                ("There are no others anywhere", "proof", ""),
            ],
        ),
        (
            "x' = 1/x - x",
            None,
            [
                ("(x = -1) is an equilibrium: node, asymptotically stable", "proof", ""),
                ("(x = 1) is an equilibrium: node, asymptotically stable", "proof", ""),
                ("There are no others anywhere, where the field has a value", "proof", ""),
            ],
        ),
        (
            "map x' = x/2 + 1",
            None,
            [
                ("(x = 2) is a fixed point: node, asymptotically stable", "proof", ""),
                ("There are no others anywhere", "proof", rest_words("map").others),
            ],
        ),
        ("x' = exp(x)", {"x": (-9, 9)}, [("There is no equilibrium with x in [-9, 9]", "proof", "")]),
    ],
)
def test_lines_have_their_evidence_and_what_was_searched(
    text: str, box: Any, expected: list[tuple[str, str, str]]
) -> None:
    assert [(line.text, line.evidence, line.searched) for line in lines_of(text, box)] == expected


def test_conditions_of_stability_are_those_that_are_not_met_anyway() -> None:
    a, b = sp.Symbol("a", positive=True), sp.Symbol("b", real=True)
    (line, *_) = lines_of("x' = -a*x; y' = b*y - x", a=a, b=b)
    assert line.evidence == "proof" and line.text.endswith(
        "its linear part is stable exactly where a - b > 0 and -a*b > 0"
    )
    unstable = [line.text for line in lines_of("x' = a*x", a=a)]
    assert unstable[0] == "(x = 0) is an equilibrium: node, unstable"
    (never, *_) = lines_of("x' = a*x; y' = b*y; z' = -a*z + 0*b", a=a, b=b)
    assert "is an equilibrium" in never.text


def test_what_may_be_missing_is_said_with_its_box() -> None:
    lines = lines_of("x' = 1 - cos(x - sqrt(2))", {"x": (0, 3)})
    (left,) = [line for line in lines if line.evidence == "undecided"]
    assert left.text.startswith("Equilibria may be missing: this box is neither excluded nor")
    assert left.searched.startswith("with x within ") and left.searched.endswith(
        " of 1.41421; searched with x in [0, 3]"
    )
    assert left.further == "system.equilibria(box=...)" and not any("no others" in line.text for line in lines)


def test_ranges_are_written_by_their_ends_or_their_middle() -> None:
    assert _range("x", (Fraction(-1, 2), Fraction(3))) == "x in [-0.5, 3]"
    assert _range("x", (Fraction(1), Fraction(1) + Fraction(1, 10**6))) == "x within 1e-06 of 1"
    assert _range("x", (Fraction(0), Fraction(1, 10**9))) == "x in [0, 1e-09]"
    assert _range("y", (Fraction(-100002), Fraction(-100000))) == "y in [-100002, -100000]"
    assert _range("y", (Fraction(-1000002), Fraction(-1000000))) == "y within 2 of -1e+06"


def test_the_weakest_evidence_of_several_points() -> None:
    def points(*evidence: str) -> list[Equilibrium]:
        return [Equilibrium({"x": k}, e) for k, e in enumerate(evidence)]

    assert _weakest(points("proof", "proof")) == "proof"
    assert _weakest(points("proof", "certificate")) == "certificate"
    assert _weakest(points("certificate", "measurement", "proof")) == "measurement"


@pytest.mark.parametrize(
    ("text", "everywhere"),
    [
        ("x' = x^2 + 1", True),
        ("x' = exp(x) + sin(x*y); y' = cosh(y)", True),
        ("x' = 1/x", False),
        ("x' = 1/(1 + x^2)", True),
        ("x' = 1/(1 + exp(x))", True),
        ("x' = x/(a + 1)", True),
        ("x' = log(x)", False),
        ("x' = log(a)*x", True),
        ("x' = step(x)*x", True),
        ("x' = y; y' = y/(x - 1)", False),
    ],
)
def test_whether_the_field_has_a_value_everywhere(text: str, everywhere: bool) -> None:
    assert _has_value_everywhere(System.from_strings(text)) is everywhere


def test_numbers_are_short_and_not_rounded_to_others() -> None:
    assert _short(sp.Rational(1, 3)) == "1/3" and _short(0.1) == "0.1" and _short(1 / 3) == "0.333333"
    long = sp.sqrt(2) + sp.sqrt(3) + sp.sqrt(5) + sp.sqrt(7)
    assert len(str(long)) > 24 and _short(long) == f"{float(long):.6g}"
    four = sp.Integer(10) ** 23
    assert len(str(four)) == 24 and _short(four) == str(four) and _short(10 * four) == "1e+24"
    p = sp.Symbol("p")
    symbolic = sum(p**k for k in range(9))
    assert _short(symbolic) == str(symbolic)


def test_points_with_enclosures_are_written_within_them() -> None:
    def shown(value: Any, low: str, high: str) -> str:
        return _point(Equilibrium({"x": value}, "certificate", {"x": (Fraction(low), Fraction(high))}))

    assert shown(0.25, "1/4", "1/4") == "x = 0.25" and shown(0.0, "-1/1000000", "1/1000000") == "x = 0"
    assert shown(0.99999999, "99999998/100000000", "99999999/100000000") == "x = 1.00000"
    assert shown(1.0, "99999999/100000000", "100000001/100000000") == "x = 1"
    assert shown(sp.Rational(1, 3), "1/3", "1/3") == "x = 1/3"
    root = sp.CRootOf(sp.Symbol("x") ** 3 - sp.Symbol("x") - 1, 0)
    assert shown(root, "1324717/1000000", "1324719/1000000") == "x = 1.32472"
    two = Equilibrium({"x": sp.sqrt(2), "y": 0.5}, "proof", {"x": (Fraction(1), Fraction(2))})
    assert _point(two) == "x = sqrt(2), y = 0.5"
    assert _in_symbols(Equilibrium({"x": sp.Symbol("a")}, enclosure={"x": (0, 1)})) and _in_symbols(
        Equilibrium({"x": 1})
    )
    assert not _in_symbols(Equilibrium({"x": sp.Integer(1)}, enclosure={"x": (Fraction(1), Fraction(1))}))


def test_types_are_said_as_far_as_they_are_known() -> None:
    def words(linear: str, nonlinear: str) -> str:
        return _type_words(Classification(linear, "undecided", nonlinear, (), "proof", ""))

    assert words("centre", "undecided") == "its linear part is a centre" and words("centre", "centre") == "centre"
    assert words("node", "node") == "node" and words("degenerate", "undecided") == "degenerate"
    assert words("centre", "focus") == "focus whose linear part is a centre"


def test_conditions_are_said_once_each() -> None:
    r, s = sp.symbols("r s", real=True)
    assert _conditions((sp.Eq(r, 0), sp.Ne(s, 1), r - s > 2, sp.Eq(r, 0))) == "r = 0 and s is not 1 and r - s > 2"


def test_what_rests_for_special_parameters_is_listed_by_how_special_it_is() -> None:
    r, s, x = sp.symbols("r s x", real=True)
    words = rest_words("flow")
    one = Equilibrium({"x": s}, condition=(sp.Eq(r, 1),))
    both = Equilibrium({"x": r}, condition=(sp.Eq(r, 1), sp.Eq(s, 2)))
    line = Continuum({"x": x}, ("x",), 1, condition=(sp.Eq(r, 0), sp.Ne(s, 0)))
    found = [finding.text for finding in _specials([both, one, line], words)]
    assert found == [
        "A family of equilibria of dimension 1: x free where r = 0 and s is not 0",
        "(x = s) is an equilibrium where r = 1",
        "(x = r) is an equilibrium where r = 1 and s = 2",
    ]
    many = list(_specials([one] * 11, words))
    assert len(many) == 9 and many[-1].text == "3 more points and families rest where parameters satisfy more equations"
    assert (
        len(list(_specials([one] * 8, words))) == 8 and many[-1].searched == "system.equilibria().special has them all"
    )


def test_a_family_bound_by_equations_names_all_that_is_not_fixed() -> None:
    x, y, z = sp.symbols("x y z", real=True)
    words = rest_words("map")
    bound = Continuum({"x": x, "y": y, "z": sp.Integer(2)}, ("x",), 1, (x**2 - y,))
    assert _family(bound, words) == "A family of fixed points of dimension 1: z = 2, x, y on x**2 - y = 0"
    free = Continuum({"x": x, "y": 2 * x, "z": z}, ("x", "z"), 2, condition=(x > 0,))
    assert _family(free, words) == "A family of fixed points of dimension 2: y = 2*x, x, z free where x > 0"
