"""First Lyapunov coefficients against return maps of runs."""

from __future__ import annotations

import pytest
from sympy import Rational

from odesys import StopWhen, System, integrate
from odesys.analysis.weak_focus import first_lyapunov

ORIGIN = {"x": 0, "y": 0}


@pytest.mark.parametrize(
    "equations",
    [
        {"x": "y", "y": "-x - y^3"},
        {"x": "y", "y": "-2*x - x^2 - x*y"},
        {"x": "y", "y": "-x - y^3 + x*y"},
        {"x": "y - x^3/3 + x^2", "y": "-x"},
        {"x": "x - 2*y + x^3", "y": "x - y - x*y"},
    ],
)
def test_the_sign_is_that_of_one_turn(equations: dict[str, str]) -> None:
    system = System.from_strings(equations)
    value = first_lyapunov(system, ORIGIN)
    assert value is not None and value != 0
    back = StopWhen("turn", "y", terminal=False)
    run = integrate(system, [0.02, 0.0], (0.0, 40.0), rtol=1e-12, events=[back])
    right = [x for x in (float(run.sol(t)[0]) for t in run.t_events["turn"]) if x > 0]
    assert (right[-1] > 0.02) == (value > 0) and len(right) >= 4


def test_a_centre_has_none_and_other_points_have_no_coefficient() -> None:
    assert first_lyapunov(System.from_strings({"x": "y", "y": "-x + x^2"}), ORIGIN) == 0
    assert first_lyapunov(System.from_strings({"x": "y", "y": "x"}), ORIGIN) is None
    assert first_lyapunov(System.from_strings({"x": "y", "y": "-x - y"}), ORIGIN) is None


def test_the_coefficient_scales_with_the_cubic_terms_and_with_the_turn() -> None:
    slow, fast = ({"x": f"-{w}*y - x*(x^2 + y^2)", "y": f"{w}*x - y*(x^2 + y^2)"} for w in (1, 3))
    values = [first_lyapunov(System.from_strings(equations), ORIGIN) for equations in (slow, fast)]
    assert values == [-4, Rational(-4, 3)]
