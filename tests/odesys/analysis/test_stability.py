"""Linear types with their evidence, and what it takes to call a linear centre a centre."""

from __future__ import annotations

import random

import flint
import numpy as np
import pytest
import sympy as sp

from odesys.analysis.equilibria import equilibria
from odesys.analysis.stability import _clusters, classify, linearise, stability_conditions
from odesys.errors import EquationError
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
)

NUMBERS = {"a": 1, "b": 2, "c": 3, "d": sp.Rational(1, 2)}


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
        ([[-1, 0, 0], [0, 0, 2], [0, -2, 0]], "not hyperbolic", "undecided"),
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
    weak = System.from_equations({X: sp.Float(1e-17) * X + Y, Y: -X})
    assert classify(weak, {"x": 0, "y": 0}).linear_type == "undecided"  # floats do not show a centre


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_jordan_block_in_floats_is_not_called_unstable(size: int) -> None:
    states = sp.symbols("x1:6")[:size]
    block = {s: 1.0 * (states[k + 1] if k + 1 < size else 0 * s) - 0.1 * s + 0.1 * s for k, s in enumerate(states)}
    answer = classify(System.from_equations(block), {s.name: 0.0 for s in states})
    assert (answer.linear_type, answer.stability, answer.evidence) == ("undecided", "undecided", "measurement")
    damped = {s: 1.0 * (states[k + 1] if k + 1 < size else 0 * s) - 2.5 * s for k, s in enumerate(states)}
    answer = classify(System.from_equations(damped), {s.name: 0.0 for s in states})
    assert answer.stability == "asymptotically stable" and answer.evidence == "measurement"


def test_eigenvalues_at_a_certified_point_are_enclosed() -> None:
    system = System.from_equations({X: sp.exp(-X) - X + Y, Y: -Y + sp.sin(Y) / 2})
    (rest,) = equilibria(system)
    linear = linearise(system, rest)
    assert linear.evidence == "certificate" and len(linear.enclosures) == 2
    wanted = sorted([-0.5, -1 - float(np.exp(-rest.point["x"]))])
    assert sorted(float(v.real.mid()) for v in linear.enclosures) == pytest.approx(wanted, abs=1e-14)
    assert max(float(v.real.rad()) for v in linear.enclosures) < 1e-40
    answer = classify(system, rest)
    assert (answer.linear_type, answer.stability, answer.evidence) == ("node", "asymptotically stable", "certificate")


def test_a_zero_eigenvalue_at_an_algebraic_point_is_proved() -> None:
    cubic = X**3 - X - 1  # its root has no square roots, so the point is a CRootOf
    system = System.from_equations({X: cubic, Y: Y * (X**3 - X - 1) + Y**3})
    (rest,) = equilibria(system)
    answer = classify(system, rest)
    assert (answer.linear_type, answer.stability) == ("degenerate", "unstable")


def test_conditions_of_routh_and_hurwitz() -> None:
    """Lorenz: the points off the origin lose stability where r = s (s + b + 3) / (s - b - 1)."""
    s, r, b = sp.symbols("s r b", positive=True)
    system = System.from_equations({X: s * (Y - X), Y: r * X - Y - X * Z, Z: X * Y - b * Z}, parameters=[s, r, b])
    place = {"x": sp.sqrt(b * (r - 1)), "y": sp.sqrt(b * (r - 1)), "z": r - 1}
    conditions = stability_conditions(system, place, {"s": s, "r": r, "b": b})
    critical = s * (s + b + 3) / (s - b - 1)
    assert sp.simplify(conditions[-1].subs(r, critical)) == 0
    numbers = {s: 10, b: sp.Rational(8, 3)}
    assert all(c.subs({**numbers, r: 24}) > 0 for c in conditions)
    assert not all(c.subs({**numbers, r: 25}) > 0 for c in conditions)
    with pytest.raises(EquationError, match="flows"):
        stability_conditions(logistic_map(), {"x": 0})


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


def test_a_sum_of_even_powers_has_a_strict_extremum() -> None:
    answer = classify(oscillator(), {"x": 0, "y": 0}, (X**2 + Y**2) ** 2)
    assert answer.nonlinear_type == "centre" and answer.stability == "stable" and "even powers" in answer.reason
    away = System.from_equations({X: Y - 1, Y: -((X - 2) ** 3)})
    moved = classify(away, {"x": 2, "y": 1}, (X - 2) ** 4 + 2 * (Y - 1) ** 2)
    assert moved.stability == "stable"


@pytest.mark.parametrize(
    ("integral", "reason"),
    [
        (sp.Integer(1), "Hessian"),
        ((X**2 + Y**2) ** 2 - (X**2 + Y**2) ** 3, "Hessian"),
        (sp.atan(X) * 0 + X, "not proved"),
    ],
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
    kinds = [classify(pendulum(), e, energy).nonlinear_type for e in equilibria(pendulum(), box={"x": (-5, 5)})]
    assert kinds == ["saddle", "centre", "saddle"]


# ---- refusals ------------------------------------------------------------------------------------------------------


def test_a_point_that_moves_and_a_kink_are_refused() -> None:
    with pytest.raises(EquationError, match="no equilibrium"):
        classify(pendulum(), {"x": 1, "y": 0})
    with pytest.raises(EquationError, match="no value for y"):
        classify(pendulum(), {"x": 0})
    with pytest.raises(EquationError, match="kink"):
        classify(bouncing(), {"x": 0, "y": 0})


def test_floats_are_never_proofs() -> None:
    x = sp.Symbol("x")
    system = System.from_equations({x: 0.1 - x**2})
    assert [classify(system, e).evidence for e in system.equilibria()] == ["measurement"] * 2
    assert classify(System.from_equations({x: 1 - x}), {"x": 1 + 1e-12}).evidence == "measurement"
    assert classify(System.from_equations({x: 1 - x}), {"x": 1}).evidence == "proof"


@pytest.mark.parametrize("seed", range(6))
def test_clusters_hold_the_eigenvalues_of_every_matrix_in_a_ball(seed: int) -> None:
    """Upper triangular ones, whose eigenvalues are the diagonal; it is known to a thousandth in one place."""
    rng = random.Random(seed)
    for place in range(3):
        middle, radius = [rng.choice([0, 0, 1, -2]) for _ in range(3)], 1e-3
        rows = [[flint.arb(middle[i]) if i == j else flint.arb(int(i < j)) for j in range(3)] for i in range(3)]
        rows[place][place] = flint.arb(middle[place], radius)
        discs = _clusters(flint.arb_mat(rows))
        assert discs is not None and len(discs) == 3
        for shift in (-radius, 0.0, radius / 2, radius):
            for k, value in enumerate(middle):
                exact = flint.acb(value + (shift * 0.999 if k == place else 0))
                assert any(disc.contains(exact) for disc in discs)
