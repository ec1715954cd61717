"""Linear types with their evidence, and what it takes to call a linear centre a centre."""

from __future__ import annotations

import random
from itertools import combinations_with_replacement

import flint
import numpy as np
import pytest
import sympy as sp

from odesys.analysis.equilibria import equilibria
from odesys.analysis.stability import (
    _check_length,
    _clusters,
    _even_powers,
    _zero_eigenvalues,
    classify,
    enclosed_spectrum,
    linearise,
    stability_conditions,
)
from odesys.errors import EquationError
from odesys.expr import graph
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


#: blocks by their eigenvalue: a real number, or a pair a +- b i
FLOW_BLOCKS = [-2, -1, 0, 1, (-1, 2), (0, 1), (0, 3), (1, 1)]
MAP_BLOCKS = [0, -1, 1, 2, sp.Rational(-1, 2), (0, sp.Rational(1, 2)), (sp.Rational(3, 5), sp.Rational(4, 5)), (1, 1)]


def block_diagonal(blocks: tuple[object, ...]) -> sp.Matrix:
    return sp.diag(*(sp.Matrix([[b[0], b[1]], [-b[1], b[0]]]) if isinstance(b, tuple) else b for b in blocks))


def expected_type(blocks: tuple[object, ...], kind: str) -> tuple[str, str]:
    """From the real part of each eigenvalue, or from its size for a map."""
    sides, simple = [], True
    for b in blocks:
        real, imaginary = b if isinstance(b, tuple) else (b, 0)
        side = int(sp.sign(real if kind == "flow" else real**2 + imaginary**2 - 1))
        sides.append(side)
        simple = simple and (side != 0 or (imaginary != 0 and blocks.count(b) == 1))
    unstable = "unstable" if 1 in sides else "undecided"
    if 0 in sides:
        return ("degenerate" if not simple else "centre" if not any(sides) else "not hyperbolic"), unstable
    if len(set(sides)) > 1:
        return "saddle", "unstable"
    shape = "focus" if any(isinstance(b, tuple) for b in blocks) else "node"
    return shape, "asymptotically stable" if sides[0] == -1 else "unstable"


@pytest.mark.parametrize("kind", ["flow", "map"])
def test_every_combination_of_eigenvalues_has_its_type(kind: str) -> None:
    table = FLOW_BLOCKS if kind == "flow" else MAP_BLOCKS
    choices = [(b,) for b in table] + list(combinations_with_replacement(table, 2))
    choices += [(-2, -1, (0, 1)), (1, 2, (1, 1)), (-1, -1, 0)]
    for blocks in choices:
        matrix = block_diagonal(blocks)
        states = sp.symbols("x y z u v")[: matrix.rows]
        system = System.from_equations(dict(zip(states, matrix * sp.Matrix(states), strict=True)), kind=kind)
        answer = classify(system, {s.name: 0 for s in states})
        wanted = expected_type(blocks, kind)
        assert (answer.linear_type, answer.stability) == wanted, blocks
        hyperbolic = wanted[0] in ("node", "saddle", "focus")
        assert answer.nonlinear_type == (wanted[0] if hyperbolic else "undecided") and answer.evidence == "proof"
        assert sum(times for _, times in answer.eigenvalues) == matrix.rows


@pytest.mark.parametrize(
    ("kind", "matrix", "reason"),
    [
        ("flow", [[-1]], "hyperbolic: Hartman-Grobman"),
        ("flow", [[0, 1], [-1, 0]], "eigenvalues on the imaginary axis decide nothing; a first integral may"),
        (
            "flow",
            [[0]],
            "an eigenvalue is zero or repeated on the imaginary axis, which decides nothing",
        ),
        (
            "flow",
            [[-1, 0, 0], [0, 0, 2], [0, -2, 0]],
            "beside others there are eigenvalues on the imaginary axis, which decide nothing",
        ),
        ("flow", [[1, 0], [0, 0]], "an eigenvalue has a positive real part"),
        ("map", [[0, 1], [-1, 0]], "multipliers on the unit circle decide nothing; a first integral may"),
        ("map", [[1]], "a multiplier is 1 or -1, or repeated on the unit circle, which decides nothing"),
        ("map", [[2, 0], [0, 1]], "a multiplier lies outside the unit circle"),
    ],
)
def test_the_sentence_behind_a_type(kind: str, matrix: list[list[int]], reason: str) -> None:
    states = sp.symbols("x y z")[: len(matrix)]
    system = System.from_equations(dict(zip(states, sp.Matrix(matrix) * sp.Matrix(states), strict=True)), kind=kind)
    assert classify(system, {s.name: 0 for s in states}).reason == reason


def test_an_unknown_sign_is_named_with_the_boundary() -> None:
    q = sp.Symbol("q", real=True)
    answer = classify(System.from_equations({X: q * X}, parameters=[q]), {"x": 0}, parameters={"q": q})
    assert (answer.linear_type, answer.stability) == ("undecided", "undecided")
    assert answer.reason == (
        "on which side of the imaginary axis an eigenvalue lies is not decided; give numbers or assumptions"
    )
    p = sp.Symbol("p", positive=True)
    plane = System.from_equations({X: q * X, Y: p * Y}, parameters=[q, p])
    assert classify(plane, {"x": 0, "y": 0}, parameters={"q": q, "p": p}).linear_type == "undecided"
    turned = System.from_equations({X: -X + q * Y, Y: -q * X - Y}, parameters=[q])
    answer = classify(turned, {"x": 0, "y": 0}, parameters={"q": q})
    assert answer.stability == "asymptotically stable" and answer.linear_type in ("focus", "node or focus")


def test_a_point_that_is_none_says_what_is_left() -> None:
    with pytest.raises(EquationError, match="the point is no equilibrium: y does not rest, its equation gives 2"):
        classify(System.from_equations({X: -X, Y: 2 - Y}), {"x": 0, "y": 0})
    with pytest.raises(EquationError, match="the point is no fixed point: x does not rest, one step moves it by 1"):
        classify(System.from_equations({X: X + 1}, kind="map"), {"x": 0})
    rest = System.from_equations({X: 1 - X})
    assert classify(rest, {"x": 1 + 9e-7}).stability == "asymptotically stable"
    with pytest.raises(EquationError, match="does not rest"):
        classify(rest, {"x": 1 + 2e-6})


@pytest.mark.parametrize("seed", range(3))
def test_conditions_of_routh_and_hurwitz_hold_exactly_for_stable_matrices(seed: int) -> None:
    """Of random matrices up to four by four, whose eigenvalues NumPy finds."""
    rng = random.Random(seed)
    seen = set()
    for size in (1, 2, 3, 4, 4, 4):
        numbers = [[rng.randint(-3, 3) - (4 if i == j else 0) for j in range(size)] for i in range(size)]
        states = sp.symbols("x y z u")[:size]
        system = System.from_equations(dict(zip(states, sp.Matrix(numbers) * sp.Matrix(states), strict=True)))
        conditions = stability_conditions(system, {s.name: 0 for s in states})
        largest = np.linalg.eigvals(np.array(numbers, dtype=float)).real.max()
        if abs(largest) > 1e-6:
            assert all(c > 0 for c in conditions) == (largest < 0), numbers
            seen.add(largest < 0)
    assert True in seen


def test_minors_of_hurwitz_in_symbols() -> None:
    """The equation with coefficients 1, a, b, c is stable where these and a b - c are positive; of four, one more."""
    a, b, c, d = sp.symbols("a b c d", real=True)
    third = System.from_equations({X: Y, Y: Z, Z: -c * X - b * Y - a * Z}, parameters=[a, b, c])
    found = stability_conditions(third, dict.fromkeys("xyz", 0))
    assert [sp.expand(f) for f in found] == [a, b, c, a * b - c]
    u = sp.Symbol("u")
    fourth = System.from_equations({X: Y, Y: Z, Z: u, u: -d * X - c * Y - b * Z - a * u}, parameters=[a, b, c, d])
    found = stability_conditions(fourth, dict.fromkeys("xyzu", 0))
    assert [sp.expand(f) for f in found] == [a, b, c, d, a * b - c, sp.expand(a * b * c - c**2 - a**2 * d)]


# ---- eigenvalues in balls ------------------------------------------------------------------------------------------


def test_eigenvalues_of_a_large_system_are_enclosed_with_exact_parameters() -> None:
    """Seven states are too many for exact algebra; a square root is known to all bits, a float as what it is."""
    names = [sp.Symbol(f"s{k}") for k in range(7)]
    p = sp.Symbol("p")
    system = System.from_equations({s: -p * (k + 1) * s / 3 for k, s in enumerate(names)}, parameters=[p])
    place = {s.name: 0 for s in names}
    for value, evidence, width in ((sp.sqrt(2), "certificate", 1e-60), (1.5, "measurement", 1e-10)):
        linear = linearise(system, place, {"p": value})
        assert linear.evidence == evidence and len(linear.enclosures) == 7
        exact = sorted(-float(value) * (k + 1) / 3 for k in range(7))
        assert sorted(float(b.real.mid()) for b in linear.enclosures) == pytest.approx(exact, rel=1e-12)
        assert all(float(b.rad()) < width for b in linear.enclosures)
        if evidence == "certificate":
            with flint.ctx.workprec(400):
                roots = [-flint.arb(2).sqrt() * (k + 1) / 3 for k in range(7)]
                assert all(any(b.contains(flint.acb(r)) for b in linear.enclosures) for r in roots)
    rational = linearise(system, place, {"p": sp.Rational(1, 7)})
    assert rational.evidence == "certificate" and all(times == 1 for _, times in rational.eigenvalues)
    answer = classify(system, place, parameters={"p": sp.Rational(1, 7)})
    assert (answer.linear_type, answer.stability, answer.evidence) == ("node", "asymptotically stable", "certificate")


@pytest.mark.parametrize(
    ("extra", "kind", "answer"),
    [(-1, "node", "asymptotically stable"), (1, "saddle", "unstable"), (0, "undecided", "undecided")],
)
def test_balls_that_meet_the_boundary_decide_nothing(extra: int, kind: str, answer: str) -> None:
    names = [sp.Symbol(f"s{k}") for k in range(7)]
    place = {s.name: 0 for s in names}
    field = {s: -(k + 1) * s for k, s in enumerate(names[:6])} | {names[6]: extra * sp.sqrt(2) * names[6]}
    found = classify(System.from_equations(field), place)
    assert (found.linear_type, found.stability) == (kind, answer)
    if extra == 0:
        assert found.reason == (
            "non-hyperbolic as far as balls can tell: an eigenvalue is not separated from the imaginary axis"
        )
    turning = field | {names[0]: names[1] - names[0], names[1]: -names[0] - names[1]}
    found = classify(System.from_equations(turning), place)
    assert found.linear_type == ("focus" if extra == -1 else kind) and found.stability == answer
    found = classify(System.from_equations({s: -v for s, v in turning.items()}), place)
    assert found.stability == "unstable" and found.linear_type == ("focus" if extra == -1 else kind)


def test_multipliers_in_balls_are_compared_with_the_unit_circle() -> None:
    names = [sp.Symbol(f"s{k}") for k in range(7)]
    for inner, kind, answer in (
        ((sp.Rational(3, 5), sp.Rational(3, 5)), "focus", "asymptotically stable"),
        ((sp.Rational(4, 5), sp.Rational(4, 5)), "saddle", "unstable"),
        ((0, sp.Rational(9, 10)), "focus", "asymptotically stable"),
    ):
        field = {s: s / (k + 2) for k, s in enumerate(names)}
        field[names[0]] = inner[0] * names[0] + inner[1] * names[1]
        field[names[1]] = inner[0] * names[1] - inner[1] * names[0]
        found = classify(System.from_equations(field, kind="map"), {s.name: 0 for s in names})
        assert (found.linear_type, found.stability) == (kind, answer)


def test_where_eigenvalues_can_not_be_told_apart_all_are_in_one_disc(monkeypatch: pytest.MonkeyPatch) -> None:
    """The disc of Gershgorin around zero, whose radius is the largest sum of a row."""
    block = flint.arb_mat([[0, 1, 0], [0, 0, -2], [0, 0, 0]])
    monkeypatch.setattr("odesys.analysis.stability._clusters", lambda _: None)
    discs = enclosed_spectrum(block)
    assert len(discs) == 3
    for disc in discs:
        assert float(disc.real.mid()) == float(disc.imag.mid()) == 0
        assert float(disc.real.rad()) == pytest.approx(2) == float(disc.imag.rad())


def test_simple_eigenvalues_are_found_sharply_and_jordan_blocks_in_clusters() -> None:
    sharp = enclosed_spectrum(flint.arb_mat([[1, 2], [3, 4]]))
    assert sorted(float(v.real.mid()) for v in sharp) == pytest.approx([(5 - 33**0.5) / 2, (5 + 33**0.5) / 2])
    assert all(float(v.rad()) < 1e-60 for v in sharp)
    block = enclosed_spectrum(flint.arb_mat([[3, 1, 0], [0, 3, 1], [0, 0, 3]]))
    assert len(block) == 3 and all(v.contains(flint.acb(3)) and float(v.rad()) < 1e-20 for v in block)


def test_clusters_have_the_radius_of_ostrowski() -> None:
    """(2n - 1) times the n-th root of n e g^(n-1), with e the largest error of a coefficient, g twice a bound."""
    for size, error in ((2, 1e-6), (3, 1e-9)):
        rows = [[flint.arb(2 if i == j else int(j == i + 1)) for j in range(size)] for i in range(size)]
        rows[size - 1][0] = flint.arb(0, error)
        matrix = flint.arb_mat(rows)
        polynomial = matrix.charpoly()
        numbers = [float(abs(polynomial[k]).upper()) for k in range(size)]
        errors = max(float(polynomial[k].rad()) for k in range(size))
        bound = 2 * (1 + max(numbers))
        wanted = (2 * size - 1) * (size * errors * bound ** (size - 1)) ** (1 / size)
        discs = _clusters(matrix)
        assert discs is not None and len(discs) == size
        for disc in discs:
            assert float(disc.real.rad()) == pytest.approx(wanted, rel=1e-6) == float(disc.imag.rad())
            assert float(disc.real.mid()) == pytest.approx(2, abs=1e-6)
    exact = _clusters(flint.arb_mat([[0, 1], [0, 0]]))
    assert exact is not None and all(float(disc.rad()) == 0 for disc in exact)
    assert _clusters(flint.arb_mat([[flint.arb("nan")]])) is None


@pytest.mark.parametrize(
    ("rest", "zeros"),
    [
        ({Y: Z, Z: Y**3}, 2),
        ({Y: Y - Z, Z: Z + Y}, 0),
        ({Y: Y**3, Z: -Z}, 1),
        ({Y: -Y + X * Z, Z: Z**3}, 1),
        ({Y: Y / (X + 5) - Z / (X + 5), Z: Y - Z + Z**3}, 1),
        ({Y: -2 * Y, Z: Z}, 0),
    ],
)
def test_zero_eigenvalues_at_an_algebraic_point_are_counted(rest: dict[sp.Symbol, sp.Expr], zeros: int) -> None:
    """At y = z = 0 and the root of x^3 - x - 1 the Jacobian is that of `rest` beside 3 x^2 - 1, which is not zero."""
    system = System.from_equations({X: X**3 - X - 1, **rest})
    point = next(e for e in equilibria(system) if e.point["y"] == 0 == e.point["z"])
    assert point.algebraic is not None
    assert _zero_eigenvalues(system, point) == zeros and _zero_eigenvalues(system, point.point) == 0
    answer = classify(system, point)
    assert answer.stability == "unstable" and (answer.linear_type == "degenerate") == bool(zeros)


# ---- integrals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sign", "sense"), [(1, "minimum"), (-1, "maximum")])
def test_a_definite_hessian_is_a_minimum_or_a_maximum(sign: int, sense: str) -> None:
    answer = classify(oscillator(), {"x": 0, "y": 0}, sign * (X**2 + Y**2))
    assert answer.nonlinear_type == "centre" and answer.stability == "stable"
    assert answer.reason.startswith(f"a conserved quantity has a strict {sense} at the point")
    q = sp.Symbol("q", positive=True)
    scaled = System.from_equations({X: q * Y, Y: -q * X}, parameters=[q])
    assert sense in classify(scaled, {"x": 0, "y": 0}, sign * q * (X**2 + Y**2), {"q": q}).reason
    numbered = classify(scaled, {"x": 0, "y": 0}, sign * q * (X**2 + Y**2), {"q": 3})
    assert numbered.nonlinear_type == "centre" and sense in numbered.reason


@pytest.mark.parametrize(
    ("expression", "values", "holds"),
    [
        (X**4 + Y**2, {"x": 0, "y": 0}, True),
        (-(X**4) - 2 * Y**2 + 7, {"x": 0, "y": 0}, True),
        (X**4 + X**2 * Y**2 + Y**4, {"x": 0, "y": 0}, True),
        (X**4 + X**2 * Y**2, {"x": 0, "y": 0}, False),
        (X**4 - Y**4, {"x": 0, "y": 0}, False),
        (X**4 + X**3 + Y**2, {"x": 0, "y": 0}, False),
        (X**4, {"x": 0, "y": 0}, False),
        ((X - 1) ** 2 + (Y + 2) ** 4, {"x": 1, "y": -2}, True),
        ((X - 1) ** 2 + (Y + 2) ** 4, {"x": 0, "y": -2}, False),
        (1 / (X + 2) + Y**2, {"x": 0, "y": 0}, False),
        (sp.cos(X) + Y**2, {"x": 0, "y": 0}, False),
        (X**2 * Y**2, {"x": 0, "y": 0}, False),
        (sp.Integer(3), {"x": 0, "y": 0}, False),
    ],
)
def test_sums_of_even_powers_of_one_sign_around_a_point(
    expression: sp.Expr, values: dict[str, int], holds: bool
) -> None:
    assert _even_powers(graph.as_node(expression), ("x", "y"), values) is holds


def test_eigenvalues_in_symbols_that_have_no_closed_form_ask_for_numbers() -> None:
    names = [sp.Symbol(f"s{k}") for k in range(7)]
    p = sp.Symbol("p")
    chain = System.from_equations({s: p * names[k - 1] - s for k, s in enumerate(names)}, parameters=[p])
    with pytest.raises(EquationError, match="an eigenvalue at this point has no closed form; give p a number"):
        linearise(chain, {s.name: 0 for s in names})
    fifth = System.from_equations(
        {s: p * names[(k + 1) % 5] + int(k == 0) * s for k, s in enumerate(names[:5])}, parameters=[p]
    )
    with pytest.raises(EquationError, match="give p a number"):
        linearise(fifth, {s.name: 0 for s in names[:5]})
    a, b, c = sp.symbols("a b c", real=True)
    third = System.from_equations({X: Y, Y: Z, Z: -c * X - b * Y - a * Z}, parameters=[a, b, c])
    answer = classify(third, dict.fromkeys("xyz", 0))
    assert (answer.linear_type, answer.stability) == ("undecided", "undecided")


def test_evidence_of_a_linear_part_is_that_of_its_numbers() -> None:
    """Exact numbers are a proof; balls around an exact point a certificate; floats anywhere a measurement."""
    plain = System.from_equations({X: -X + Y, Y: -2 * Y})
    assert linearise(plain, {"x": 0, "y": 0}).evidence == "proof"
    assert linearise(plain, {"x": 0.0, "y": 0}).evidence in ("proof", "measurement")
    assert classify(plain, {"x": 0.0, "y": 0}).evidence == "measurement"
    r = sp.Symbol("r")
    scaled = System.from_equations({X: -r * X}, parameters=[r])
    assert classify(scaled, {"x": 0}, parameters={"r": 0.5}).evidence == "measurement"
    assert classify(scaled, {"x": 0}, parameters={"r": sp.Rational(1, 2)}).evidence == "proof"
    (root,) = equilibria(System.from_equations({X: sp.exp(-X) - X}))
    assert classify(System.from_equations({X: sp.exp(-X) - X}), root).evidence == "certificate"
    assert linearise(System.from_equations({X: sp.exp(-X) - X}), {"x": root.point["x"]}).evidence == "measurement"


def test_conditions_with_long_roots_in_symbols_are_refused() -> None:
    """They would take minutes; with one number less in symbols they are told."""
    system = System.from_strings("x' = -b*y - x - a*z; y' = a*x + a*z - a*y*x; z' = b*z*x - b*y*y + a*b*x*x")
    found = equilibria(system)
    long = [e for e in found if any(value.atoms(sp.Abs) for value in e.point.values())]
    assert len(long) == 2
    for point in long:
        with pytest.raises(EquationError, match="too long; give a a number"):
            stability_conditions(system, point)
    root = System.from_strings("x' = x^2 - a")
    assert [len(stability_conditions(root, e)) for e in equilibria(root)] == [1, 1]


def test_only_long_expressions_with_roots_of_symbols_are_too_long() -> None:
    a, b = sp.symbols("a b", positive=True)
    terms = [a**k + k * b for k in range(1, 80)]
    _check_length(sp.Matrix([sp.Add(*(t**2 for t in terms))]))
    _check_length(sp.Matrix([sp.sqrt(2) * sp.Add(*(t**2 for t in terms)), sp.sqrt(3)]))
    _check_length(sp.Matrix([sp.sqrt(a), b]))
    with pytest.raises(EquationError, match="give a a number"):
        _check_length(sp.Matrix([sp.Add(*(sp.sqrt(t) for t in terms))]))
