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


z, b = sym("z"), sym("b")


@pytest.mark.parametrize("node", [
    a * x + a * y,
    (a * x + a**2 * y) / a,
    graph.sqrt(a) * x + a * y,
    graph.exp(a * x / a) * e,
    (a * x + a * y) ** 2 / (a * e),
    1 / (a * x + a * e * y),
    (a * e * x + a * y) * (e * x + e * e * y),
    x + y / a,
    graph.call("tanh", (a * x + a * y) / a) * a,
    b * x + a * b * y,
    x + y,
])  # fmt: skip
def test_collected_systems_have_the_same_values(node: graph.Node) -> None:
    """Also the observables; and what every term of a sum has as a factor stands in front of it."""
    system = System.from_equations({"x": node, "y": -node}, ["a", "b", "e"], observables={"f": node * y})
    after = collect_powers(system, ["a", "e"])
    for k in range(3):
        point = {"x": 0.7 + k, "y": 1.3, "a": 2.0, "b": 0.4, "e": 0.25}
        old, new = (
            graph.evaluate([*s.nodes, s.observables["f"]], point, graph.FLOAT_FUNCTIONS, float) for s in (system, after)
        )
        assert new == pytest.approx(old, rel=1e-13)


def test_what_is_pulled_out_stands_in_front() -> None:
    made = collect_powers(System.from_equations({"x": (a * x + a**2 * y) / a, "y": a * x + a * y}, ["a"]), ["a"])
    assert made.nodes[0] is x + a * y and made.nodes[1] is a * (x + y)
    assert collect_powers(System.from_equations({"x": x + a * y, "y": x}, ["a"]), ["a"]).nodes[0] is x + a * y
    root = collect_powers(System.from_equations({"x": a * x + graph.sqrt(a) * y, "y": x}, ["a"]), ["a"])
    assert root.nodes[0] is graph.sqrt(a) * (graph.sqrt(a) * x + y)
    assert collect_powers(System.from_equations({"x": x / a + y}, ["a", "y"]), ["a"]).nodes[0] is (x + a * y) / a
    assert collect_powers(System.from_equations({"x": b * x + b * y, "y": x}, ["b"]), []).nodes[0] is b * x + b * y


@pytest.mark.parametrize("time", [1, 5, Fraction(1, 3), "T"])
def test_rescaled_equations_are_those_of_the_new_unit(time) -> None:
    """With x = 3 u and t = T s: du/ds = (T / 3) F(3 u, y), and the same for y."""
    system = System.from_equations({"x": x * y - b * x, "y": graph.exp(-x) - y}, ["b"], observables={"sum": x + y})
    scaled = rescale_system(system, {"x": 3}, time=time)
    unit = sym(time) if isinstance(time, str) else time
    u = {x: 3 * x}
    wanted = [unit * n / f for n, f in zip(graph.substitute(system.nodes, u), (3, 1), strict=True)]
    for one, other in zip(scaled.nodes, wanted, strict=True):
        assert zero_test(one - other).answer == "zero"
    assert scaled.observables["sum"] is 3 * x + y and scaled.names == ("x", "y")
    assert scaled.parameters == (("T", "b") if time == "T" else ("b",))


def test_limits_of_several_parameters_and_their_observables() -> None:
    system = System.from_equations(
        {"x": y * x + e * x, "y": e * x + a * y, "z": -z * y}, ["e", "a", "b"], observables={"f": x * y + e + b}
    )
    limit = vanishing_limit(system, ["e", "a"], {"x": 1, "y": Fraction(1, 2), "z": 3})
    assert limit.names == ("x", "z") and limit.nodes == (x / 2, -z / 2)
    assert limit.observables["f"] is x / 2 + b and limit.parameters == ("b",)
    first = leading_order(system, "a", ["e", "a"], {"x": 1, "y": Fraction(1, 2), "z": 3})
    assert first == {"y": graph.num(Fraction(1, 2))}
    assert leading_order(system, "e", ["e", "a"], {"x": 1, "y": 2, "z": 3}) == {"y": x}
    alone = System.from_equations({"x": -x, "y": e * x, "z": e * e * x}, ["e"])
    assert leading_order(alone, "e", ["e"], {"x": 1, "y": 0, "z": 0}) == {"y": x}
    with pytest.raises(EquationError, match="q is not a parameter; the parameters are e"):
        vanishing_limit(alone, ["e", "q"], {})
    with pytest.raises(EquationError, match="nothing moves when e vanish; rescale time first"):
        vanishing_limit(System.from_equations({"x": e * x}, ["e"]), ["e"], {"x": 1})
    with pytest.raises(EquationError, match="limits are taken of flows; a map has no time"):
        vanishing_limit(System.from_equations({"x": e * x}, ["e"], kind="map"), ["e"], {"x": 1})


def test_families_of_reciprocals_keep_shared_observables() -> None:
    def member(n: int, constant: int = 0) -> System:
        found = {"f": x + Fraction(2, n) * y} | ({"g": x} if n == 2 else {})
        return System.from_equations({"x": 3 * x + y * constant, "y": (1 + Fraction(5, n)) * y * x}, observables=found)

    made = interpolate_reciprocal("n", {n: member(n) for n in (2, 3, 7)})
    n = sym("n")
    assert set(made.observables) == {"f"} and made.parameters == ("n",) and made.nodes[0] is 3 * x
    for k in (4, 50):
        at = graph.substitute([*made.nodes, made.observables["f"]], {n: graph.num(k)})
        assert at == [*member(k).nodes, member(k).observables["f"]]
    still = interpolate_reciprocal("n", {n: System.from_equations({"x": x}) for n in (2, 3, 4)})
    assert still.parameters == ("n",)
    for members, words in (
        ({2: member(2), 3: member(3)}, "2 members can not check one system for every n; give at least three"),
        ({2: member(2), 3: member(3), 4: System.from_equations({"x": x})}, "for every n need the same states"),
        ({2: member(2), 3: member(3), 4: member(4, 1)}, r"a coefficient of x is 1 at n = 4, not 0 \+ 0 / n"),
    ):
        with pytest.raises(EquationError, match=words):
            interpolate_reciprocal("n", members)
    with pytest.raises(EquationError) as caught:
        interpolate_reciprocal("n", {2: member(2), 3: member(3), 4: member(4, 1)})
    assert caught.value.parameter == "n"
