"""What equilibria are: answers of textbooks, and degenerate points."""

from __future__ import annotations

import pytest

from odesys import System
from odesys import analyse as findings
from tests.found_lines import texts


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


def test_many_oscillators_rest_stably() -> None:
    equations = {"x": "u", "y": "v", "z": "w", "u": "-x", "v": "-y", "w": "-z"}
    assert findings(System.from_strings(equations)).types[0].stability == "stable"


def test_an_invariant_line_that_leads_away_makes_a_point_unstable() -> None:
    monkey = findings(System.from_strings("x' = x^2 - y^2; y' = -2*x*y"))  # y = 0 is invariant, and x' = x^2 on it
    assert "(x = 0, y = 0) is an equilibrium: degenerate, unstable" in texts(monkey, "equilibria")
    vinograd = findings(System.from_strings("x' = x^2*(y - x) + y^5; y' = y^2*(y - 2*x)"))
    assert vinograd.types[0].stability == "undecided"
