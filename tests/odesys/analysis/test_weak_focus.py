"""First Lyapunov coefficients against return maps of runs."""

from __future__ import annotations

import random

import pytest
import sympy as sp
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


@pytest.mark.parametrize("seed", range(5))
def test_the_coefficient_is_that_of_guckenheimer_and_holmes(seed: int) -> None:
    """Of x' = -w y + f, y' = w x + g (Nonlinear Oscillations, (3.4.11)), up to a factor that depends on w alone."""
    rng = random.Random(seed)
    x, y = sp.symbols("x y", real=True)
    ratios = set()
    for w in (1, 2):
        for _ in range(2):
            powers = [(i, j) for i in range(4) for j in range(4) if 2 <= i + j <= 3]
            f, g = (sum(rng.randint(-2, 2) * x**i * y**j for i, j in powers) for _ in "fg")
            found = first_lyapunov(System.from_equations({x: -w * y + f, y: w * x + g}), ORIGIN)

            def d(e: sp.Expr, *by: sp.Symbol) -> sp.Expr:
                return sp.diff(e, *by).subs({x: 0, y: 0})

            known = d(f, x, x, x) + d(f, x, y, y) + d(g, x, x, y) + d(g, y, y, y)
            known += (
                d(f, x, y) * (d(f, x, x) + d(f, y, y))
                - d(g, x, y) * (d(g, x, x) + d(g, y, y))
                - d(f, x, x) * d(g, x, x)
                + d(f, y, y) * d(g, y, y)
            ) / sp.Integer(w)
            assert (found == 0) == (known == 0)
            if known:
                ratios.add((w, found / known))
                assert found / known > 0
    assert len({ratio for w, ratio in ratios if w == 1}) <= 1 and len({ratio for w, ratio in ratios if w == 2}) <= 1


def test_it_does_not_depend_on_the_place_of_the_point_and_is_left_out_elsewhere() -> None:
    base = {"x": "y - x^3/3 + x^2", "y": "-x"}
    moved = {"x": "(y + 2) - (x - 1)^3/3 + (x - 1)^2", "y": "-(x - 1)"}
    values = [first_lyapunov(System.from_strings(e), p) for e, p in ((base, ORIGIN), (moved, {"x": 1, "y": -2}))]
    assert values[0] == values[1] != 0
    scaled = System.from_strings({"x": "y", "y": "-w^2*x - c*y^3"})
    w, c = sp.symbols("w c", positive=True)
    found = first_lyapunov(scaled, ORIGIN, {"w": w, "c": c})
    assert found is not None and found.is_negative and found.has(c)
    for equations in (
        {"x": "y", "y": "-x - abs(y)*y"},
        {"x": "y", "y": "-x", "z": "-z"},
        {"x": "y", "y": "-x^3"},
    ):
        assert first_lyapunov(System.from_strings(equations), dict.fromkeys(equations, 0)) is None
    root = System.from_strings({"x": "y", "y": "-x - y*(x^2 + y^2)^(1/2)"})
    assert first_lyapunov(root, ORIGIN) is None
    assert first_lyapunov(System.from_strings({"x": "y", "y": "-x - y^3"}, kind="map"), ORIGIN) is None
