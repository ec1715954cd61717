"""Words by kind of system: what is written about a map has fixed points and multipliers, nowhere equilibria."""

from __future__ import annotations

import pytest

from odesys import System, analyse
from odesys.analysis.finding import SECTIONS, heading
from odesys.analysis.stability import classify
from odesys.report.explorer import _templates

MAPS = {  # with isolated points, a family, a box, parameters, and a point that nothing decides
    "henon": ({"x": "1 + y - 7*x^2/5", "y": "3*x/10"}, {}, None),
    "shear": ({"x": "x", "y": "y + x"}, {}, None),
    "turn": ({"x": "cos(x)"}, {}, {"x": (0, 2)}),
    "logistic": ({"x": "r*x*(1 - x)"}, {}, None),
    "jump": ({"x": "x + sign(x)"}, {}, None),
    "late": ({"x": "x + sin(t)"}, {}, None),
    "none": ({"x": "x + 1"}, {}, None),
    "neutral": ({"x": "-x"}, {}, None),
}


def test_a_map_has_fixed_points_and_multipliers_in_every_text() -> None:
    for name, (equations, values, box) in MAPS.items():
        found = analyse(System.from_strings(equations, kind="map"), values, box=box)
        page = _templates().get_template("findings.html")
        shown = page.render(analysis=found, sections=SECTIONS, heading=heading, pictures=())
        for written in (str(found), shown, str(found.rests)):
            text = written.replace("system.equilibria", "")  # the name of a function
            assert "quilibri" not in text and "eigenvalue" not in text and "field" not in text, (name, text)
        assert "ixed point" in str(found) and "FIXED POINTS" in str(found) and "Fixed points" in shown, name


def test_points_of_longer_periods_are_said_not_to_be_searched() -> None:
    found = analyse(System.from_strings({"x": "-x"}, kind="map"))
    (line,) = (line for line in found.findings if line.text == "There are no others anywhere")
    assert line.section == "equilibria" and "longer period" in line.searched
    assert not any("period" in str(line) for line in analyse(System.from_strings({"x": "-x"})).findings)


@pytest.mark.parametrize(
    ("kind", "equations", "wanted"),
    [
        ("map", {"x": "2*x", "y": "y"}, "a multiplier lies outside the unit circle"),
        ("map", {"x": "x + x^2", "y": "y/2"}, "a multiplier is 1 or -1"),
        ("map", {"x": "(3*x - 4*y)/5", "y": "(4*x + 3*y)/5"}, "multipliers on the unit circle decide nothing"),
        ("flow", {"x": "x", "y": "y^2"}, "an eigenvalue has a positive real part"),
        ("flow", {"x": "x^2", "y": "-y"}, "an eigenvalue is zero or repeated on the imaginary axis"),
        ("flow", {"x": "y", "y": "-x"}, "eigenvalues on the imaginary axis decide nothing"),
    ],
)
def test_reasons_speak_of_one_kind_of_system(kind: str, equations: dict[str, str], wanted: str) -> None:
    assert classify(System.from_strings(equations, kind=kind), {"x": 0, "y": 0}).reason.startswith(wanted)
