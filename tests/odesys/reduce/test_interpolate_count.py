"""One system for every value of a whole number, through a few members."""

from __future__ import annotations

from fractions import Fraction

import pytest

from odesys import System
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.graph import Node, num, sym
from odesys.reduce.interpolate_count import _fit, interpolate_count, through

x, y, z, n = sym("x"), sym("y"), sym("z"), sym("n")


def rates(k: int | Node) -> dict[str, Node]:
    """Multiplicities in sums, products, denominators, exponentials, gates; and a polynomial of degree 2."""
    k = graph.as_node(k)
    total = x + (k - 1) * y * z
    weight = graph.exp(x * x + (k - 2) * y) / (graph.exp(x * x + (k - 2) * y) + (k - 1) * graph.exp(y * z))
    return {
        "x": weight * total + k * (k - 1) * y,
        "y": k * total * total * graph.step(x - k * z),
        "z": (y + k * x) / ((k + 3) * total),
    }


def member(k: int) -> System:
    found = rates(k)
    return System.from_equations(found, observables={"f": found["x"] * y})


def test_members_that_were_not_used_are_values_of_the_family() -> None:
    family = interpolate_count("n", {k: member(k) for k in (5, 6, 7, 9)})
    assert family.parameters == ("n",) and family.names == ("x", "y", "z")
    for k in (1, 2, 3, 4, 8, 40):
        at = graph.substitute([*family.nodes, family.observables["f"]], {n: num(k)})
        assert at == [*member(k).nodes, member(k).observables["f"]], k


@pytest.mark.parametrize("numbers", [(3, 4, 5, 6), (10, 20, 30, 40, 50)])
def test_the_members_may_be_any(numbers: tuple[int, ...]) -> None:
    family = interpolate_count("n", {k: member(k) for k in numbers})
    (at,) = graph.substitute([family.nodes[0]], {n: num(7)})
    assert at is member(7).nodes[0]


def test_a_member_that_is_no_value_of_the_others_is_noticed() -> None:
    found = {**rates(9), "y": rates(9)["y"] * Fraction(9, 8)}
    broken = System.from_equations(found, observables={"f": found["x"] * y})
    with pytest.raises(EquationError, match="differ in more than multiplicities: y, whose factor is no polynomial"):
        interpolate_count("n", {k: member(k) for k in (5, 6, 7)} | {9: broken})


def test_other_shapes_powers_and_names_are_refused() -> None:
    def systems(make, numbers=(4, 5, 6, 7)):
        return {k: System.from_equations({"x": make(k), "y": x}) for k in numbers}

    with pytest.raises(EquationError, match="parts have different shapes"):
        interpolate_count("n", systems(lambda k: x + y if k < 7 else x * y))
    with pytest.raises(EquationError, match="no polynomial in n"):
        interpolate_count("n", systems(lambda k: x * 2**k))
    with pytest.raises(EquationError, match="differ in numbers only"):
        interpolate_count("n", systems(lambda k: graph.exp(k * x) + graph.exp((k + 1) * x)))
    with pytest.raises(EquationError, match="give at least 4"):
        interpolate_count("n", systems(lambda k: k * x, (4, 5, 6)))
    with pytest.raises(EquationError, match="x is already a name"):
        interpolate_count("x", systems(lambda k: k * x))
    with pytest.raises(EquationError, match="the same states"):
        interpolate_count("n", {**systems(lambda k: k * x), 8: System.from_equations({"x": x})})


def test_polynomials_go_through_every_value() -> None:
    assert _fit((2, 3, 5, 7), [Fraction(3)] * 4) == [3]
    square = [Fraction(k * k - 4 * k + Fraction(1, 2)) for k in (2, 3, 5, 7)]
    assert _fit((2, 3, 5, 7), square) == [Fraction(1, 2), -4, 1]
    assert _fit((2, 3, 5, 7), [Fraction(k**3) for k in (2, 3, 5, 7)]) is None
    assert _fit((2, 3, 5, 7), [Fraction(1, k) for k in (2, 3, 5, 7)]) is None


def test_factors_over_a_power_of_the_number() -> None:
    x = graph.sym("x")

    def member(n: int) -> System:
        return System.from_equations({"x": x * Fraction(n - 1, n) + x**2 / n**2})

    found = interpolate_count("n", {n: member(n) for n in (3, 4, 5, 6)})
    nine = found.substitute({"n": 9})
    assert nine.nodes == member(9).nodes


def test_a_root_may_stand_beside_what_is_counted_and_not_over_it() -> None:
    def systems(make):
        return {k: System.from_equations({"x": make(k), "y": x}) for k in (4, 5, 6, 7)}

    family = interpolate_count("n", systems(lambda k: graph.sqrt(x + y) * (k * x + y) * k))
    assert graph.substitute(family.nodes, {n: num(9)})[0] is graph.sqrt(x + y) * (9 * x + y) * 9
    with pytest.raises(EquationError, match="a root of which changes with n"):
        interpolate_count("n", systems(lambda k: y * graph.sqrt(k * x + k * y)))


def values_of(make, numbers=(4, 5, 6, 7), states=("x", "y", "z")) -> None:
    """What the members give at numbers that were not used is what is written with the symbol."""

    def member(k: int) -> System:
        return System.from_equations({name: make(k) if name == "x" else x for name in states})

    family = interpolate_count("n", {k: member(k) for k in numbers})
    assert family.parameters == ("n",)
    for k in (2, 3, 11, 50):
        (at,) = graph.substitute([family.nodes[0]], {n: num(k)})
        assert at is member(k).nodes[0], (k, at)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: x * graph.step(k * y - k * z),
        lambda k: x * graph.step(k * y - z) * k,
        lambda k: graph.call("tanh", k * x + k * y),
        lambda k: graph.call("tanh", x + (k - 1) * y) * k**2,
        lambda k: (k * x + k * y) ** 2 * z,
        lambda k: (k * x + y) ** 3 / (x + k * z) ** 2,
        lambda k: z / (k * x + k * y) ** 2,
        lambda k: graph.exp(graph.exp(x * k) + k * y),
        lambda k: x + y,
        lambda k: num(k**2 - 3 * k + Fraction(1, 2)),
        lambda k: num(Fraction(k)) + x * 0,
        lambda k: k + x * k,
        lambda k: (1 + k * x * y) * (k * x + y + 2),
    ],
)
def test_gates_powers_and_functions_of_what_is_counted(make) -> None:
    values_of(make)


@pytest.mark.parametrize(
    "make",
    [
        lambda k: x * (k**2 + 1),
        lambda k: x / (k**2 + 1),
        lambda k: x * Fraction(1, k),
        lambda k: x * Fraction(k - 1, k**2),
        lambda k: x * Fraction(k**2 - 2, k**2),
        lambda k: x * Fraction(k**2, k - 1),
        lambda k: x * Fraction(k**2, k**2 - 2),
    ],
)
def test_factors_that_are_polynomials_or_one_over_them(make) -> None:
    values_of(make)


@pytest.mark.parametrize(
    "wrong", [lambda k: Fraction(1, k**3), lambda k: k**3, lambda k: Fraction(k + 1, k - 1), lambda k: 2**k]
)
def test_other_factors_are_refused(wrong) -> None:
    with pytest.raises(EquationError, match="x, whose factor is no polynomial in n, nor one over a polynomial"):
        values_of(lambda k: x * wrong(k))


def test_a_gate_of_another_sign_is_not_taken_for_the_same() -> None:
    def turned(k: int) -> Node:
        return z * graph.step((x - y) * (1 if k < 6 else -1))

    with pytest.raises(EquationError, match="differ in more than multiplicities"):
        values_of(turned)


@pytest.mark.parametrize("broken", ["names", "kind", "observables"])
def test_members_of_another_kind_are_refused(broken: str) -> None:
    def member(k: int) -> System:
        return System.from_equations({"x": k * x}, observables={"f": x})

    def other(k: int) -> System:
        if broken == "names":
            return System.from_equations({"y": k * y}, observables={"f": y})
        if broken == "kind":
            return System.from_equations({"x": k * x}, observables={"f": x}, kind="map")
        return System.from_equations({"x": k * x}, observables={"g": x})

    with pytest.raises(EquationError, match="members for every n need the same states and observables"):
        interpolate_count("n", {k: member(k) if k < 7 else other(k) for k in (4, 5, 6, 7)})
    b = sym("b")
    held = {k: System.from_equations({"x": k * b * x}, parameters=["b"]) for k in (4, 5, 6, 7)}
    assert interpolate_count("n", held).parameters == ("b", "n")
    with pytest.raises(EquationError, match="b is already a name in the members"):
        interpolate_count("b", held)


def test_the_error_knows_its_parameter() -> None:
    with pytest.raises(EquationError) as caught:
        interpolate_count("n", {k: System.from_equations({"x": x * 2**k}) for k in (4, 5, 6, 7)})
    assert caught.value.parameter == "n"


@pytest.mark.parametrize("numbers", [(1,), (2, 5), (0, 3, 7), (-2, 1, 4, 9), (1, 2, 3, 4, 8)])
def test_the_polynomial_through_values_has_them(numbers: tuple[int, ...]) -> None:
    values = [Fraction(7 * k * k * k - 3 * k + 5, k + 4) for k in numbers]
    row = through(numbers, values)
    assert len(row) == len(numbers)
    assert [sum(c * k**j for j, c in enumerate(row)) for k in numbers] == values
