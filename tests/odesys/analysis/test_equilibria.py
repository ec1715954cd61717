"""Equilibria found exactly, linear types, and what it takes to call a linear centre a centre."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from odesys.analysis.dependency import values_at
from odesys.analysis.equilibria import Equilibrium, classify, equilibria, linearise
from odesys.errors import EquationError, ParameterError
from odesys.expr.system import System
from tests.known_systems import (
    POSITIVE,
    X,
    Y,
    Z,
    bouncing,
    logistic,
    logistic_map,
    lotka_volterra,
    lotka_volterra_integral,
    oscillator,
    pendulum,
    rigid_body,
    sliding,
)

NUMBERS = {"a": 1, "b": 2, "c": 3, "d": sp.Rational(1, 2)}


def points(found: list[Equilibrium]) -> list[tuple[object, ...]]:
    return [tuple(e.point.values()) for e in found]


# ---- finding -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rates", [POSITIVE, NUMBERS, {}], ids=["positive", "numbers", "symbols"])
def test_lotka_volterra_equilibria(rates: dict[str, object]) -> None:
    a, b, c, d = (rates.get(name, sp.Symbol(name, real=True)) for name in "abcd")
    found = equilibria(lotka_volterra(), rates)
    assert len(found) == 2 and all(e.evidence == "proof" and not e.free for e in found)
    assert set(points(found)) == {(0, 0), (sp.sympify(c) / d, sp.sympify(a) / b)}


def test_lines_of_rest_are_families() -> None:
    found = equilibria(rigid_body())
    assert sorted(e.free for e in found) == [("x",), ("y",), ("z",)]
    assert all(e.point[e.free[0]].name == e.free[0] for e in found)


def test_above_four_states_it_is_a_search_with_an_exact_check() -> None:
    states = sp.symbols("u1:6")
    shifted = {x: 3 * x - k + states[k - 1] ** 3 for k, x in enumerate(states)}
    (found,) = equilibria(System.from_equations(shifted))
    assert found.evidence == "measurement" and found.residual < 1e-9
    (plain,) = equilibria(System.from_equations({x: 3 * x - k for k, x in enumerate(states)}))
    assert plain.evidence == "proof" and plain.point["u5"] == sp.Rational(4, 3)


def test_algebraic_points_are_exact() -> None:
    system = System.from_equations({X: X - Y**3 - sp.Rational(1, 5), Y: X * Y - 1})
    found = equilibria(system)
    assert len(found) == 2 and all(e.evidence == "proof" for e in found)
    for e in found:
        values = values_at(system.nodes, e.point)
        assert all(abs(sp.N(value, 40)) < sp.Float(10) ** -35 for value in values)
    wanted = [r.real for r in np.roots([1, 0, 0, 0.2, -1]) if abs(r.imag) < 1e-9]
    assert sorted(float(e.point["y"]) for e in found) == pytest.approx(sorted(wanted))


def test_several_points_on_one_irrational_coordinate() -> None:
    found = equilibria(System.from_equations({X: X**2 - 2, Y: Y**2 - X**2}))
    root = sp.sqrt(2)
    assert set(points(found)) == {(root, root), (root, -root), (-root, root), (-root, -root)}


def test_everything_at_rest_is_one_family() -> None:
    (found,) = equilibria(System.from_equations({X: 0, Y: 0}))
    assert found.free == ("x", "y")


def test_complex_roots_and_poles_are_left_out() -> None:
    assert equilibria(System.from_equations({X: X**2 + 1})) == []
    assert points(equilibria(System.from_equations({X: (X**2 - 1) / (X - 1)}))) == [(-1,)]


def test_transcendental_systems_are_searched_and_checked() -> None:
    found = equilibria(pendulum())
    assert points(found) == [(-sp.pi, 0), (0, 0), (sp.pi, 0)] and all(e.evidence == "proof" for e in found)
    (omega,) = equilibria(System.from_equations({X: sp.exp(-X) - X}))
    assert omega.evidence == "measurement" and omega.point["x"] == pytest.approx(0.567143290409784)
    assert omega.residual < 1e-9
    with pytest.raises(ParameterError, match="k needs a number"):
        equilibria(System.from_equations({X: sp.sin(X) - sp.Symbol("k")}, parameters=["k"]))
    with pytest.raises(EquationError, match="time"):
        equilibria(System.from_equations({X: X - sp.Symbol("t")}))


def test_fixed_points_of_a_map_and_their_multipliers() -> None:
    r = sp.Symbol("r", positive=True)
    found = equilibria(logistic_map(), {"r": r})
    multipliers = {sp.expand(linearise(logistic_map(), e, {"r": r}).eigenvalues[0][0]) for e in found}
    assert len(found) == 2 and multipliers == {r, sp.expand(2 - r)}


# ---- linear types --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("matrix", "kind", "stability"),
    [
        ([[-1, 0], [0, -2]], "node", "asymptotically stable"),
        ([[1, 1], [0, 1]], "node", "unstable"),
        ([[1, 0], [0, -1]], "saddle", "unstable"),
        ([[-1, 1], [-1, -1]], "focus", "asymptotically stable"),
        ([[1, 1], [-1, 1]], "focus", "unstable"),
        ([[0, 1], [-1, 0]], "centre", "undecided"),
        ([[0, 1], [0, 0]], "degenerate", "undecided"),
        ([[0, 0], [0, 1]], "degenerate", "unstable"),
        ([[-1, 0, 0], [0, -1, 2], [0, -2, -1]], "focus", "asymptotically stable"),
        ([[-1, 0, 0], [0, 1, 2], [0, -2, 1]], "saddle", "unstable"),
        ([[-1, 0, 0], [0, 0, 2], [0, -2, 0]], "degenerate", "undecided"),
        ([[-3]], "node", "asymptotically stable"),
    ],
)
def test_linear_types(matrix: list[list[int]], kind: str, stability: str) -> None:
    states = sp.symbols("x y z")[: len(matrix)]
    system = System.from_equations(dict(zip(states, sp.Matrix(matrix) * sp.Matrix(states), strict=True)))
    answer = classify(system, {s.name: 0 for s in states})
    assert (answer.linear_type, answer.stability) == (kind, stability)
    hyperbolic = kind in ("node", "saddle", "focus")
    assert answer.nonlinear_type == (kind if hyperbolic else "undecided") and answer.evidence == "proof"


def test_logistic_flow_and_map() -> None:
    assert [classify(logistic(), {"x": p}, parameters={"r": 2}).stability for p in (0, 1)] == [
        "unstable",
        "asymptotically stable",
    ]
    for r, wanted in ((2, "asymptotically stable"), (3, "undecided"), (sp.Rational(7, 2), "unstable")):
        place = {"x": 1 - 1 / sp.sympify(r)}
        assert classify(logistic_map(), place, parameters={"r": r}).stability == wanted


def test_rigid_body_axes() -> None:
    """Rotation about the middle axis is unstable; about the others the linear part leaves it open."""
    body = rigid_body()
    middle = linearise(body, {"x": 0, "y": 1, "z": 0}).eigenvalues
    assert {value for value, _ in middle} == {0, sp.sqrt(3) / 3, -sp.sqrt(3) / 3}
    assert classify(body, {"x": 0, "y": 1, "z": 0}).stability == "unstable"
    for axis in ("x", "z"):
        answer = classify(body, {**dict.fromkeys("xyz", 0), axis: 1})
        assert (answer.linear_type, answer.stability) == ("degenerate", "undecided")
    # energy-Casimir: H combined with the square of the momentum has a strict maximum at rotation about the first axis
    energy, momentum = X**2 + 2 * Y**2 + 3 * Z**2, X**2 + 4 * Y**2 + 9 * Z**2
    lyapunov = energy - momentum - (momentum - 1) ** 2
    settled = classify(body, {"x": 1, "y": 0, "z": 0}, integral=lyapunov)
    assert (settled.stability, settled.nonlinear_type) == ("stable", "undecided")


def test_undecided_signs_are_not_guessed() -> None:
    answer = classify(lotka_volterra(), {"x": 0, "y": 0})
    assert answer.linear_type == "undecided" and "assumptions" in answer.reason
    weak = System.from_equations({X: sp.Float(1e-13) * X + Y, Y: -X})
    assert classify(weak, {"x": 0, "y": 0}).linear_type == "undecided"  # floats do not show a centre


# ---- centres -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rates", [POSITIVE, NUMBERS], ids=["positive", "numbers"])
def test_lotka_volterra_centre_needs_its_integral(rates: dict[str, object]) -> None:
    system = lotka_volterra()
    origin, rest = equilibria(system, rates)
    saddle = classify(system, origin, parameters=rates)
    assert (saddle.linear_type, saddle.nonlinear_type, saddle.stability) == ("saddle", "saddle", "unstable")
    before = classify(system, rest, parameters=rates)
    assert (before.linear_type, before.nonlinear_type, before.stability) == ("centre", "undecided", "undecided")
    after = classify(system, rest, lotka_volterra_integral(), rates)
    assert (after.linear_type, after.nonlinear_type, after.stability) == ("centre", "centre", "stable")


@pytest.mark.parametrize("term", range(4))
def test_a_wrong_integral_does_not_make_a_centre(term: int) -> None:
    right = lotka_volterra_integral()
    wrong = right - 2 * right.args[term]  # one sign flipped
    rest = {"x": POSITIVE["c"] / POSITIVE["d"], "y": POSITIVE["a"] / POSITIVE["b"]}
    answer = classify(lotka_volterra(), rest, wrong, POSITIVE)
    assert answer.nonlinear_type == "undecided" and "not proved to be conserved" in answer.reason


@pytest.mark.parametrize(
    ("integral", "reason"),
    [(sp.Integer(1), "Hessian"), ((X**2 + Y**2) ** 2, "Hessian"), (sp.atan(X) * 0 + X, "not proved")],
)
def test_a_conserved_quantity_without_a_strict_extremum_is_not_enough(integral: sp.Expr, reason: str) -> None:
    answer = classify(oscillator(), {"x": 0, "y": 0}, integral)
    assert answer.nonlinear_type == "undecided" and reason in answer.reason


def test_a_definite_hessian_without_a_vanishing_gradient_is_not_an_extremum() -> None:
    still = System.from_equations({X: 0, Y: 0})
    answer = classify(still, {"x": 0, "y": 0}, X + X**2 + Y**2)
    assert answer.stability == "undecided" and "gradient" in answer.reason
    assert classify(still, {"x": 0, "y": 0}, X**2 + Y**2).stability == "stable"


def test_a_linear_centre_may_be_a_focus() -> None:
    """x' = y - x r^2, y' = -x - y r^2 spirals in; x^2 + y^2 decreases, and the test notices."""
    radius = X**2 + Y**2
    system = System.from_equations({X: Y - X * radius, Y: -X - Y * radius})
    answer = classify(system, {"x": 0, "y": 0}, radius)
    assert (answer.linear_type, answer.nonlinear_type) == ("centre", "undecided")


def test_pendulum() -> None:
    energy = Y**2 / 2 - sp.cos(X)
    kinds = [classify(pendulum(), e, energy).nonlinear_type for e in equilibria(pendulum())]
    assert kinds == ["saddle", "centre", "saddle"]


# ---- refusals ------------------------------------------------------------------------------------------------------


def test_a_point_that_moves_and_a_kink_are_refused() -> None:
    with pytest.raises(EquationError, match="no equilibrium"):
        classify(pendulum(), {"x": 1, "y": 0})
    with pytest.raises(EquationError, match="no value for y"):
        classify(pendulum(), {"x": 0})
    with pytest.raises(EquationError, match="kink"):
        classify(bouncing(), {"x": 0, "y": 0})
    assert equilibria(sliding()) == []


def test_kinks_and_floats_are_never_proofs() -> None:
    x = sp.Symbol("x")
    for equation in (sp.Max(x, 0), x * (x - 1) * sp.Heaviside(x - sp.Rational(1, 2)), 0.1 - x**2):
        assert {e.evidence for e in System.from_equations({x: equation}).equilibria()} <= {"measurement"}
    assert classify(System.from_equations({x: 1 - x}), {"x": 1 + 1e-12}).evidence == "measurement"
    assert classify(System.from_equations({x: 1 - x}), {"x": 1}).evidence == "proof"
