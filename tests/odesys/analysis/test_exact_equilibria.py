"""Exact equilibria: points beside an open case, and the ends of continua."""

from __future__ import annotations

from itertools import product

import pytest
import sympy as sp

from odesys import System
from odesys.analysis import polynomial_zeros
from odesys.analysis.equilibria import equilibria

CIRCLE = System.from_strings({"x": "(x^2 + y^2 - 1)*y", "y": "-(x^2 + y^2 - 1)*x"})


def test_a_circle_of_rest_is_a_family() -> None:
    found = equilibria(CIRCLE)
    assert [e.point for e in found] == [{"x": 0, "y": 0}] and found.complete
    assert [(f.dimension, [str(e) for e in f.equations]) for f in found.families] == [(1, ["x**2 + y**2 - 1"])]


def test_points_that_an_open_case_may_hold_are_not_called_isolated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(polynomial_zeros, "SLICES", 0)  # then no real point of the circle is found
    found = equilibria(CIRCLE)
    assert not found.complete and [e.point for e in found] == [{"x": 0, "y": 0}]
    held = [u.contains for u in found.undecided if u.contains]
    assert {"x": 1, "y": 0} in held and len(held) == 4


def test_symbols_stay() -> None:
    found = equilibria(System.from_strings({"x": "r*x - x^3"}))
    assert len(found) == 3 and found.complete


def test_zero_is_found_where_other_points_in_symbols_stay_open() -> None:
    hopf = System.from_strings({"x": "mu*x - y - x*(x^2 + y^2)", "y": "x + mu*y - y*(x^2 + y^2)"}, ["mu"]).equilibria()
    assert not hopf.complete and [dict(e.point) for e in hopf] == [{"x": 0, "y": 0}] and hopf[0].condition == ()
    divided = System.from_strings(
        {"x": "(mu*x - y^5 - x^3)/(a - y)", "y": "x^3 + mu*y^3 - y"}, ["mu", "a"]
    ).equilibria()
    assert [str(c) for c in divided[0].condition] == ["Ne(a, 0)"]
    shifted = System.from_strings({"x": "mu - y^5 - x^3", "y": "x^3 + mu*y^3 - y"}, ["mu"]).equilibria()
    assert not any(not any(e.point.values()) for e in shifted)


#: with parameters that may make a leading coefficient, a slope or a divisor vanish
IN_SYMBOLS = {
    "roessler": {"x": "-y - z", "y": "x + a*y", "z": "b + z*(x - c)"},
    "lorenz": {"x": "s*(y - x)", "y": "x*(r - z) - y", "z": "x*y - b*z"},
    "duffing": {"x": "y", "y": "-d*y - a*x - b*x^3"},
    "lotka": {"x": "a*x - b*x*y", "y": "d*x*y - c*y"},
    "quadratic": {"x": "a*x^2 + b*x + c"},
    "glycolysis": {"x": "a - x*y^2 - x*b", "y": "x*y^2 - c*y"},
    "two squares": {"x": "a*x^2 - b", "y": "b*y^2 - c*x"},
    "divided": {"x": "(x^2 - a)/(x + 2)", "y": "x - y"},
    "competition": {"x": "x*(1 - x - a*y)", "y": "y*(1 - y - b*x)"},
}


@pytest.mark.parametrize("name", IN_SYMBOLS)
def test_cases_in_symbols_are_those_of_every_number(name: str) -> None:
    """The answer in symbols at whole numbers, zero among them, against the answer for these numbers."""
    system = System.from_strings(IN_SYMBOLS[name])
    symbolic = system.equilibria()
    everything = (*symbolic, *symbolic.families, *symbolic.special)
    for numbers in product((-1, 0, 4), repeat=len(system.parameters)):
        values = dict(zip(system.parameters, numbers, strict=True))
        at = {sp.Symbol(p, real=True): n for p, n in values.items()}
        if any(all(c.subs(at) for c in u.condition) for u in symbolic.undecided):
            continue
        alive = [e for e in everything if all(c.subs(at) for c in e.condition)]
        exact = system.equilibria(values)
        points = {
            tuple(round(float(sp.sympify(e.point[n]).subs(at)), 9) for n in system.names)
            for e in alive
            if not hasattr(e, "free")
        }
        expected = {tuple(round(float(e.point[n]), 9) for n in system.names) for e in exact}
        assert expected <= points, values
        dimension = max((f.dimension for f in exact.families), default=0)
        assert max((getattr(e, "dimension", 0) for e in alive), default=0) == dimension, values
        assert dimension or points == expected, values  # some may lie in a family


def test_conditions_are_in_their_simplest_form() -> None:
    found = System.from_strings({"v": "v - v^3/3 - w + i", "w": "e*(v + a - b*w)"}).equilibria()
    told = [[str(c) for c in e.condition] for e in found.special]
    assert told == [["Eq(e, 0)"], ["Eq(b, 0)", "Ne(e, 0)"]]  # and none where b is 0 and 1 at once
    assert [str(c) for c in found.undecided[0].condition] == ["Ne(e, 0)", "Ne(b, 0)"]
    assert str(found.special[1].point["v"]) == "-a"


def test_cases_whose_parameters_contradict_them_are_no_families() -> None:
    """Malaria after R. Ross and G. Macdonald: x = a b m y/(a b m y + r) was a family where m = r = 0, as 0/0."""
    malaria = System.from_strings({"x": "m*a*b*y*(1 - x) - r*x", "y": "a*c*x*(1 - y) - g*y"})
    found = equilibria(malaria)
    assert found.complete and len(found.special) > 10
    for one in (*found, *found.families, *found.special):
        assert not any(sp.sympify(value).has(sp.nan, sp.zoo) for value in one.point.values()), one


def test_a_divisor_that_becomes_a_parameter_is_a_condition() -> None:
    """T = s/d is said with d not zero, also where it comes from T = s/(d + k V) and k = 0."""
    virus = System.from_strings({"T": "s - d*T - k*T*V", "I": "k*T*V - e*I", "V": "N*e*I - c*V"})
    d = sp.Symbol("d", real=True)
    found = equilibria(virus)
    over = [one for one in (*found, *found.special) if sp.denom(sp.together(one.point["T"])) == d]
    assert len(over) > 3 and all(sp.Ne(d, 0) in one.condition for one in over)


@pytest.mark.parametrize(
    ("equations", "count"),
    [
        # four limit cycles: S. L. Shi, Sci. Sinica 23 (1980) 153
        (
            "x' = -1e-200*x - y - 10*x^2 + (5 - 1e-13)*x*y + y^2; y' = x + x^2 + (-25 - 8e-52 + 9e-13)*x*y",
            2,
        ),
        ("x' = x^2 - 1e-30", 2),
    ],
)
def test_numbers_of_any_size_have_factors(equations: str, count: int) -> None:
    found = equilibria(System.from_strings(equations))
    assert len(found) == count and found.complete


def test_conditions_on_parameters_are_in_their_simplest_form() -> None:
    (line,) = (f for f in System.from_strings(IN_SYMBOLS["competition"]).equilibria().special if hasattr(f, "free"))
    assert {str(c) for c in line.condition} == {"Eq(a - 1, 0)", "Eq(b - 1, 0)"}
