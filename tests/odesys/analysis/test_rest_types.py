"""What equilibria are: answers of textbooks, and degenerate points."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from odesys import System
from odesys import analyse as findings
from odesys.analysis.equilibria import Equilibrium
from odesys.analysis.rest_types import _candidates, _leaves_along_a_line, _states_alone, type_at_rest
from odesys.expr import graph
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


def test_only_the_linear_part_is_called_a_centre_where_nothing_decides() -> None:
    """x' = -y + x^3 - 3 x y^2: the first Lyapunov coefficient is zero, the flow may turn either way."""
    found = findings(System.from_strings("x' = -y + x^3 - 3*x*y^2; y' = x"))
    assert "(x = 0, y = 0) is an equilibrium: its linear part is a centre, stability not decided" in texts(
        found, "equilibria"
    )


def test_a_conserved_quantity_of_a_map_shows_that_it_rests_stably() -> None:
    turn = System.from_strings({"x": "y", "y": "-x"}, kind="map")
    (kind,) = findings(turn).types
    assert (kind.stability, kind.nonlinear_type) == ("stable", "undecided")


def test_what_decides_beyond_the_linear_part_is_said() -> None:
    lines = {
        "x' = y; y' = -x": "a conserved quantity has a strict minimum at the point",
        "x' = -x^3; y' = -y": "by states whose equations contain no other state",
        "x' = y; y' = -x - x^2*y": "first Lyapunov coefficient",
        "x' = 0*x - x^2; y' = y": "an eigenvalue has a positive real part",
        "x' = -x; y' = -2*y": "",  # hyperbolic
    }
    for equations, why in lines.items():
        line, _ = (f for f in findings(System.from_strings(equations)).findings if f.section == "equilibria")
        assert line.evidence == "proof" and line.searched.startswith(why) and bool(why) == bool(line.searched)


def test_many_oscillators_rest_stably() -> None:
    equations = {"x": "u", "y": "v", "z": "w", "u": "-x", "v": "-y", "w": "-z"}
    assert findings(System.from_strings(equations)).types[0].stability == "stable"


def test_an_invariant_line_that_leads_away_makes_a_point_unstable() -> None:
    monkey = findings(System.from_strings("x' = x^2 - y^2; y' = -2*x*y"))  # y = 0 is invariant, and x' = x^2 on it
    assert "(x = 0, y = 0) is an equilibrium: degenerate, unstable" in texts(monkey, "equilibria")
    vinograd = findings(System.from_strings("x' = x^2*(y - x) + y^5; y' = y^2*(y - 2*x)"))
    assert vinograd.types[0].stability == "undecided"


def test_sums_and_differences_of_up_to_four_quantities_are_tried() -> None:
    names = [graph.sym(f"i{k}") for k in range(5)]
    for count in range(1, 6):
        found = list(_candidates(names[:count]))
        assert found[:count] == names[:count]
        signs = product((1, -1), repeat=count - 1) if 1 < count <= 4 else ()
        mixed = [graph.combine(zip((1, *s), names[:count], strict=True)) for s in signs]
        assert found[count:] == mixed
    x, y = names[:2]
    assert list(_candidates([1 / x])) == [1 / x, x] and list(_candidates([x**2, y**4]))[2] is x**2 + y**4


def test_two_quantities_may_be_definite_only_together() -> None:
    oscillators = System.from_strings("x' = y; y' = -x; z' = w; w' = -2*z")
    x, y, z, w = map(graph.sym, oscillators.names)
    first, second = x**2 + y**2, 2 * z**2 + w**2
    rest = Equilibrium(dict.fromkeys(oscillators.names, Fraction(0)))
    for integrals, stability in (
        ([2 * first - second], "undecided"),
        ([2 * first - second, first - 2 * second], "stable"),
        ([2 * first - second, 2 * second - first], "stable"),
        ([2 * first - second, first - second], "undecided"),
    ):
        assert type_at_rest(oscillators, rest, {}, integrals).stability == stability


@pytest.mark.parametrize(
    ("equations", "stability"),
    [
        ("x' = -x^3; y' = -y^5", "asymptotically stable"),
        ("x' = -x^3; y' = 0", "stable"),
        ("x' = -x^3; y' = y^3", "unstable"),
        ("x' = -x^3; y' = x - y", "undecided"),
        ("x' = x^3; y' = x*y", "unstable"),
        ("x' = a*x; y' = -y", "undecided"),
        ("x' = -a^2*x^3 - x; y' = -y", "asymptotically stable"),
        ("map x' = x/2; y' = y/2", "undecided"),
    ],
)
def test_states_that_move_alone_decide_if_one_leaves_or_all_come_back(equations: str, stability: str) -> None:
    kind = "map" if equations.startswith("map ") else "flow"
    system = System.from_strings(equations.removeprefix("map "), kind=kind)
    origin = Equilibrium(dict.fromkeys(system.names, 0))
    assert _states_alone(system, origin, {}) == stability
    assert _states_alone(system, Equilibrium(dict.fromkeys(system.names, 0.0)), {}) == "undecided"


def test_parameters_of_a_state_that_moves_alone_are_given_to_it() -> None:
    system = System.from_strings("x' = a*x; y' = b*y")
    origin = Equilibrium({"x": 0, "y": 0})
    answers = {(1, -1): "unstable", (-1, -2): "asymptotically stable", (-1, 0): "stable", (0, 3): "unstable"}
    for (a, b), stability in answers.items():
        assert _states_alone(system, origin, {"a": a, "b": b}) == stability


@pytest.mark.parametrize(
    ("equations", "leaves"),
    [
        ("x' = x^3 + y; y' = x*y", True),
        ("x' = -x^3 + y; y' = x*y", False),
        ("x' = x^3 + y; y' = x^2 - y", False),  # the line y = 0 is not invariant
        ("x' = x*y; y' = y^2 + x", True),
        ("x' = a*x^3; y' = a*y*x", False),
        ("x' = abs(x)*x + y; y' = x*y", False),  # gates are left to others
        ("x' = x^3 + x/y; y' = x*y", False),
        ("map x' = x + x^3 + y; y' = x*y", False),
    ],
)
def test_a_line_through_a_point_may_lead_away_from_it(equations: str, leaves: bool) -> None:
    kind = "map" if equations.startswith("map ") else "flow"
    system = System.from_strings(equations.removeprefix("map "), kind=kind)
    assert _leaves_along_a_line(system, Equilibrium({"x": 0, "y": 0}), {}) is leaves
    assert not _leaves_along_a_line(system, Equilibrium({"x": 0.0, "y": 0.0}), {})
    if "a" in system.parameters:
        assert _leaves_along_a_line(system, Equilibrium({"x": 0, "y": 0}), {"a": 2})


@pytest.mark.parametrize(
    ("equations", "answer"),
    [
        ("x' = -x^3", ("degenerate", "asymptotically stable", "undecided")),
        ("x' = x^3 + y; y' = x*y", ("degenerate", "unstable", "undecided")),
        ("x' = y; y' = -x - y^3", ("centre", "asymptotically stable", "focus")),
        ("x' = y; y' = -x + y^3", ("centre", "unstable", "focus")),
        ("x' = y; y' = -x + x^2", ("centre", "undecided", "undecided")),
        ("x' = -x^3; y' = -y^3", ("degenerate", "asymptotically stable", "undecided")),
        ("x' = -x; y' = -y", ("node", "asymptotically stable", "node")),
    ],
)
def test_the_first_argument_that_decides_is_the_reason(equations: str, answer: tuple[str, str, str]) -> None:
    system = System.from_strings(equations)
    kind = type_at_rest(system, Equilibrium(dict.fromkeys(system.names, 0)), {})
    assert (kind.linear_type, kind.stability, kind.nonlinear_type) == answer
    said = {
        "x' = x^3 + y; y' = x*y": "an invariant line through it leads away",
        "x' = y; y' = -x - y^3": "first Lyapunov coefficient -3/2",
        "x' = -x^3; y' = -y^3": "by states whose equations contain no other state",
        "x' = -x^3": "the state moves upwards just below the point and downwards just above it",
    }
    assert equations not in said or kind.reason == said[equations]


def test_a_point_with_a_condition_or_of_a_map_is_left_as_its_linear_part_says() -> None:
    system = System.from_strings("x' = -x^3")
    assert type_at_rest(system, Equilibrium({"x": 0}, condition=(True,)), {}).stability == "undecided"
    steps = System.from_strings("x' = x - x^3", kind="map")
    assert type_at_rest(steps, Equilibrium({"x": 0}), {}).stability == "undecided"
    assert type_at_rest(system, Equilibrium({"x": 0.0}), {}).stability == "undecided"
