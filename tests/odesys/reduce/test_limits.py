"""Limits taken by program: units, powers, vanishing parameters and families, with broken twins that are refused."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from numerics.flows.integrate import integrate
from odesys import System
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import sym
from odesys.reduce.limits import collect_powers, interpolate_reciprocal, leading_order, rescale_system, vanishing_limit

x, y, e, a = (sym(name) for name in ("x", "y", "e", "a"))


def test_rescaled_runs_are_the_same_runs() -> None:
    system = System.from_equations({"x": x * y - x, "y": graph.exp(-x) - y}, observables={"sum": x + y})
    scaled = rescale_system(system, {"x": 3, "y": Fraction(1, 2)}, time=5, names={"x": "u"})
    assert scaled.names == ("u", "y")
    plain = integrate(system, [0.6, 0.2], (0, 2), rtol=1e-11)
    other = integrate(scaled, [0.2, 0.4], (0, 0.4), rtol=1e-11)
    assert other.end_state * [3, 0.5] == pytest.approx(plain.end_state, abs=1e-9)
    assert other.final["sum"] == pytest.approx(plain.final["sum"], abs=1e-9)


def test_collected_powers_change_nothing_and_show_what_cancels() -> None:
    node = (a * x + a * e * y + a**2 * (a * x + a * x * y)) / a
    system = System.from_equations({"x": node, "y": graph.sqrt(a) * x * graph.sqrt(a) / a}, ["a", "e"])
    after = collect_powers(system, ["a", "e"])
    assert zero_test(after.nodes[0] - node, ["a", "e"]).answer == "zero"
    assert after.nodes[1] is x


def test_what_stands_still_keeps_its_start_value_and_leaves() -> None:
    system = System.from_equations({"x": y * x + e * x, "y": e * x, "z": sym("z") * (y - 2)}, ["e"])
    limit = vanishing_limit(system, ["e"], {"x": 1, "y": 2, "z": 7})
    assert limit.names == ("x",) and limit.nodes[0] is 2 * x, "z stands still once y does"
    assert leading_order(system, "e", ["e"], {"x": 1, "y": 2, "z": 7}) == {"y": x}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: vanishing_limit(System.from_equations({"x": x / e}, ["e"]), ["e"], {"x": 1}), "divide by zero"),
        (lambda: vanishing_limit(System.from_equations({"x": e * x}, ["e"]), ["e"], {"x": 1}), "nothing moves"),
        (lambda: vanishing_limit(System.from_equations({"x": x}), ["e"], {"x": 1}), "not a parameter"),
        (lambda: rescale_system(System.from_equations({"x": x}), {"y": 2}), "not a state"),
        (lambda: rescale_system(System.from_equations({"x": x}, kind="map"), {}), "flows"),
        (lambda: interpolate_reciprocal("n", {2: System.from_equations({"x": x})}), "at least three"),
    ],
)
def test_mistakes_get_a_sentence(make, words: str) -> None:
    with pytest.raises(EquationError, match=words):
        make()


def test_family_is_found_exactly_and_checked() -> None:
    def member(n: int, twist: int = 0) -> System:
        growth = Fraction(1, 2) * x + Fraction(3 + twist, n) * graph.exp(x)
        return System.from_equations({"x": growth, "y": Fraction(1, n) * y})

    family = interpolate_reciprocal("n", {n: member(n) for n in (4, 6, 10)})
    for n in (5, 100):
        pairs = zip(family.substitute({"n": n}).nodes, member(n).nodes, strict=True)
        assert all(one - other is graph.ZERO for one, other in pairs)
    with pytest.raises(EquationError, match="coefficient of x"):
        interpolate_reciprocal("n", {n: member(n, twist=int(n == 10)) for n in (4, 6, 10)})


def test_limits_agree_with_small_parameters() -> None:
    system = System.from_equations({"x": y - x, "y": e * (x - y)}, ["e"])
    limit = vanishing_limit(system, ["e"], {"x": 0, "y": 1})
    gaps = [
        abs(integrate(system, [0, 1], (0, 1), {"e": s}).final["x"] - integrate(limit, [0], (0, 1)).final["x"])
        for s in (1e-2, 1e-3)
    ]
    assert gaps[0] / gaps[1] == pytest.approx(10, rel=0.02) and np.isfinite(gaps[0])
