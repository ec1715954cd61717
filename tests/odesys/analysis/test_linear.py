"""Exact spectra, solutions and hitting times against hand-made answers, substitution and the matrix exponential."""

from __future__ import annotations

import random

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm

from odesys.analysis.linear import LinearSystem, charpoly, check_metzler, exact_spectrum
from odesys.errors import EquationError
from odesys.exact.zero import zero_test
from odesys.expr.graph import as_node
from tests.known_systems import GROWTH_MATRIX

SEED = 11
T, B, W, LEVEL = sp.symbols("t b omega x_star", positive=True)


def growth() -> LinearSystem:
    """The comparison system of Lemma E.3."""
    return LinearSystem(B * GROWTH_MATRIX, sp.Matrix([0, W**2, W**2]), ("score", "key", "query"))


def solves(system: LinearSystem) -> bool:
    """Whether the closed form satisfies the equation and the start, by expansion alone."""
    x = system.solution(T)
    rest = (x.diff(T) - system.matrix * x).applyfunc(lambda e: sp.expand(e.rewrite(sp.exp)))
    start = (x.subs(T, 0) - system.start).applyfunc(sp.expand)
    return rest == sp.zeros(*rest.shape) and start == sp.zeros(*start.shape)


# ---- the growth system ---------------------------------------------------------------------------------------------


def test_growth_spectrum() -> None:
    spaces = {space.value: space for space in growth().spectrum}
    assert set(spaces) == {sp.Integer(0), sp.sqrt(2) * B, -sp.sqrt(2) * B}
    root = sp.sqrt(2)
    for value, vector in ((0, (0, -1, 1)), (root * B, (root, 1, 1)), (-root * B, (-root, 1, 1))):
        (found,) = spaces[value].vectors
        assert sp.Matrix.hstack(sp.Matrix(found), sp.Matrix(vector)).rank() == 1
        assert spaces[value].multiplicity == 1
    assert charpoly(B * GROWTH_MATRIX, T) == sp.factor(T * (T**2 - 2 * B**2))


def test_roots_of_symbols_that_sympy_can_not_order_have_a_characteristic_polynomial() -> None:
    c, d = sp.symbols("c d", real=True)
    root = sp.sqrt(-c * (d + 1))
    matrix = sp.Matrix([[root / c, 0], [2 * d + 1, 2 * root]])
    with pytest.raises(TypeError):
        matrix.charpoly()
    assert sp.expand(charpoly(matrix, T) - (T - root / c) * (T - 2 * root)) == 0


def test_the_rate_may_be_any_symbol() -> None:
    """No square root of b^2 appears, so nothing is assumed about b."""
    rate = sp.Symbol("b")
    assert {space.value for space in exact_spectrum(rate * GROWTH_MATRIX)} == {0, sp.sqrt(2) * rate, -sp.sqrt(2) * rate}


def test_growth_solution_is_a_hyperbolic_sine() -> None:
    system = growth()
    assert solves(system)
    first = system.solution(T)[0]
    wanted = sp.sqrt(2) * W**2 * sp.sinh(sp.sqrt(2) * B * T)
    assert sp.expand((first - wanted).rewrite(sp.exp)) == 0
    assert zero_test(as_node(first - wanted)).answer == "zero"
    assert zero_test(as_node(first - 2 * wanted)).answer == "nonzero"


def test_growth_hitting_time() -> None:
    found = growth().hitting_time("score", LEVEL)
    wanted = sp.asinh(LEVEL / (sp.sqrt(2) * W**2)) / (sp.sqrt(2) * B)
    assert found.evidence == "proof" and found.condition is True
    assert sp.radsimp(sp.expand(found.value - wanted)) == 0
    values = {B: sp.Rational(17, 1000), W: sp.Rational(1, 100), LEVEL: sp.Rational(9, 10)}
    with mpmath.workdps(60):
        digits = sp.N(found.value.subs(values), 50) / sp.N(wanted.subs(values), 50) - 1
        back = sp.N(growth().solution(T)[0].subs({**values, T: found.value.subs(values)}), 50) - sp.N(values[LEVEL], 50)
    assert abs(digits) < sp.Float(10) ** -40 and abs(back) < sp.Float(10) ** -40


def test_other_components_and_other_directions() -> None:
    system = growth()
    cosh = system.hitting_time("key", 2 * W**2)
    assert cosh.evidence == "proof"
    ratio = (cosh.value * sp.sqrt(2) * B / sp.acosh(2)).subs({B: 3, W: sp.Rational(1, 3)})
    assert abs(sp.N(ratio, 50) - 1) < sp.Float(10) ** -40
    assert system.hitting_time("score", 0).value == 0
    assert system.hitting_time("score", -LEVEL).value == sp.oo


# ---- spectrum and solution in general ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "matrix",
    [
        [[2, 1, 0], [0, 2, 1], [0, 0, 2]],
        [[2, 1, 0], [0, 2, 0], [1, 0, 5]],
        [[0, 1], [-4, -1]],
        [[0, 1, 0], [0, 0, 1], [-1, 0, 0]],
        [[1, 2], [3, 4]],
        [[0, 0], [0, 0]],
        [[sp.sqrt(2), 1], [0, -1]],
    ],
)
def test_the_closed_form_solves_the_equation(matrix: list[list[int]]) -> None:
    system = LinearSystem(sp.Matrix(matrix), sp.Matrix(range(1, len(matrix) + 1)))
    assert solves(system)
    numbers = np.array(system.matrix.tolist(), dtype=float)
    exact = np.array([float(v) for v in system.solution(sp.Rational(7, 10))])
    assert np.allclose(exact, expm(0.7 * numbers) @ np.array(system.start, dtype=float).ravel(), rtol=1e-12)


def test_random_integer_matrices() -> None:
    rng = random.Random(SEED)
    done = 0
    while done < 6:
        matrix = sp.Matrix(3, 3, lambda i, j: rng.randint(-3, 3))
        if sp.Poly(matrix.charpoly().as_expr(T), T).is_irreducible:
            continue
        done += 1
        spaces = exact_spectrum(matrix)
        assert sum(space.multiplicity for space in spaces) == 3, matrix
        for space in spaces:
            for vector in space.vectors:
                residual = (matrix * sp.Matrix(vector) - space.value * sp.Matrix(vector)).applyfunc(sp.expand)
                assert all(abs(sp.N(e, 30)) < 1e-25 for e in residual), matrix
        system = LinearSystem(matrix, sp.Matrix([1, -2, 3]))
        exact = [complex(v).real for v in system.solution(sp.Rational(1, 2))]
        assert np.allclose(exact, expm(0.5 * np.array(matrix.tolist(), dtype=float)) @ [1, -2, 3], rtol=1e-10), matrix


def test_an_irreducible_cubic_keeps_its_exact_spectrum_and_refuses_a_closed_form() -> None:
    matrix = sp.Matrix([[0, 3, 1], [3, 3, 0], [0, 1, 3]])  # t^3 - 6 t^2 + 24: three real roots
    spaces = exact_spectrum(matrix)
    assert len(spaces) == 3 and all(space.value.is_real for space in spaces)
    wanted = np.sort(np.linalg.eigvals(np.array(matrix.tolist(), dtype=float)).real)
    assert np.allclose(sorted(float(space.value) for space in spaces), wanted)
    system = LinearSystem(matrix, sp.Matrix([1, 1, 1]))
    with pytest.raises(EquationError, match="cubic"):
        system.solution(T)
    found = system.hitting_time(0, 5)
    assert found.evidence == "measurement"
    assert (expm(found.value * np.array(matrix.tolist(), dtype=float)) @ np.ones(3))[0] == pytest.approx(5.0, abs=1e-10)


def test_complex_pairs_come_out_real() -> None:
    x = LinearSystem(sp.Matrix([[0, 1], [-1, 0]]), sp.Matrix([1, 0])).solution(T)
    assert x == sp.Matrix([sp.cos(T), -sp.sin(T)])


def test_a_jordan_block_has_one_eigenvector() -> None:
    (space,) = exact_spectrum(sp.Matrix([[3, 1], [0, 3]]))
    assert (space.value, space.multiplicity, len(space.vectors)) == (3, 2, 1)


def test_refusals_are_sentences() -> None:
    with pytest.raises(EquationError, match="size 7 is too large"):
        exact_spectrum(sp.eye(7))
    companion = sp.zeros(5, 5)
    for k in range(4):
        companion[k + 1, k] = 1
    companion[0, 4], companion[1, 4] = 1, 1  # x^5 - x - 1
    with pytest.raises(EquationError, match="degree above 4"):
        exact_spectrum(companion)
    assert LinearSystem(companion, sp.ones(5, 1)).hitting_time(0, 2).evidence == "measurement"
    with pytest.raises(EquationError, match="square"):
        LinearSystem(sp.zeros(2, 3), sp.zeros(2, 1))
    with pytest.raises(EquationError, match="not a component"):
        growth().hitting_time("nobody", 1)
    with pytest.raises(EquationError, match="exact numbers"):
        exact_spectrum(sp.Matrix([[0.5, 1], [1, 0]]))


# ---- hitting times -------------------------------------------------------------------------------------------------


def test_single_exponential_and_straight_line() -> None:
    decay = LinearSystem(sp.Matrix([[-2]]), sp.Matrix([3]))
    assert decay.hitting_time(0, 1).value == sp.log(3) / 2
    assert decay.hitting_time(0, 5).value == decay.hitting_time(0, -1).value == decay.hitting_time(0, 0).value == sp.oo
    line = LinearSystem(sp.Matrix([[0, 1], [0, 0]]), sp.Matrix([1, 2]))
    assert line.hitting_time(0, 7).value == 3
    assert line.hitting_time(0, 0).value == sp.oo
    from_rest = LinearSystem(sp.Matrix([[0, 1], [0, 0]]), sp.Matrix([0, 2]))  # 2 t and 2
    assert from_rest.hitting_time(0, 7).value == sp.Rational(7, 2) and from_rest.hitting_time(0, -1).value == sp.oo
    still = from_rest.hitting_time(1, 5)
    assert (still.value, still.evidence) == (sp.oo, "proof") and "constant" in still.method
    assert from_rest.hitting_time(1, 2).value == 0
    assert LinearSystem(sp.Matrix([[1]]), sp.Matrix([1])).hitting_time(0, 3).value == sp.log(3)
    open_end = LinearSystem(sp.Matrix([[-B]]), sp.Matrix([W])).hitting_time(0, LEVEL)
    assert open_end.value == sp.log(W / LEVEL) / B and open_end.condition == (W / LEVEL >= 1)


@pytest.mark.parametrize("level", [sp.Rational(5, 2), 3, 4, 10])
def test_quadratic_in_one_exponential_takes_the_first_root(level: sp.Expr) -> None:
    """x = (e^t + 5 e^-t)/2 falls from 3 to sqrt 5 and rises again."""
    system = LinearSystem(sp.Matrix([[0, 1], [1, 0]]), sp.Matrix([3, -2]))
    found = system.hitting_time(0, level)
    assert found.evidence == "proof"
    assert sp.expand(system.solution(T)[0].subs(T, found.value) - level).equals(0)
    grid = np.linspace(0.0, float(found.value), 400)[:-1]
    path = (np.exp(grid) + 5 * np.exp(-grid)) / 2 - float(level)
    assert np.all(path * path[0] > 0) or level == 3  # no earlier crossing; at level 3 the start itself is on it
    assert (found.value == 0) == (level == 3)


def test_a_level_that_is_never_reached() -> None:
    system = LinearSystem(sp.Matrix([[0, 1], [1, 0]]), sp.Matrix([3, -2]))
    assert system.hitting_time(0, 2).value == sp.oo  # below the minimum sqrt 5


def test_everything_else_is_a_measurement_and_says_so() -> None:
    incommensurate = LinearSystem(sp.Matrix([[1, 0, 0], [0, sp.sqrt(2), 0], [1, 1, 0]]), sp.Matrix([1, 1, 0]))
    found = incommensurate.hitting_time(2, 1)
    assert found.evidence == "measurement" and "floats" in found.method
    assert float(incommensurate.solution(sp.Float(found.value))[2]) == pytest.approx(1.0, abs=1e-10)
    spiral = LinearSystem(sp.Matrix([[0, 1], [-1, 0]]), sp.Matrix([1, 0]))
    assert spiral.hitting_time(0, 0).value == pytest.approx(np.pi / 2, abs=1e-12)
    missed = spiral.hitting_time(0, 2)
    assert missed.value is None and missed.evidence == "measurement"
    with pytest.raises(EquationError, match="declare"):
        LinearSystem(sp.Matrix([[0, -B], [1, 0]]), sp.Matrix([1, 0])).hitting_time(0, 0)


# ---- Metzler -------------------------------------------------------------------------------------------------------


def test_metzler_names_the_entry() -> None:
    assert check_metzler(B * GROWTH_MATRIX).answer == "yes"
    refused = check_metzler(sp.Matrix([[-1, 2], [-sp.sqrt(3), 0]]))
    assert (refused.answer, refused.entry, refused.value) == ("no", (1, 0), -sp.sqrt(3))
    unknown = check_metzler(sp.Matrix([[0, sp.Symbol("q", real=True)], [1, 0]]))
    assert (unknown.answer, unknown.entry) == ("undecided", (0, 1))
    assert check_metzler(sp.Matrix([[-1, 0], [0, -1]]), diagonal=True).answer == "no"


@pytest.mark.parametrize("level", [0.999999, 1 - 1e-10, 0.5, -0.9999999])
def test_the_first_time_is_not_stepped_over(level: float) -> None:
    wave = LinearSystem(sp.Matrix([[0, 1], [-1, 0]]), sp.Matrix([0, 1]))  # sin t: just below its maximum twice a turn
    found = wave.hitting_time(0, level)
    expected = np.arcsin(level) if level > 0 else np.pi - np.arcsin(level)
    assert found.value == pytest.approx(expected, abs=1e-9)
    assert wave.hitting_time(0, 1 + 1e-6, horizon=20.0).value is None


def test_a_level_that_is_touched_is_reached() -> None:
    wave = LinearSystem(sp.Matrix([[0, 1], [-1, 0]]), sp.Matrix([0, 1]))
    assert wave.hitting_time(0, 1.0).value == pytest.approx(np.pi / 2, abs=1e-6)


def test_first_times_of_random_systems_are_first() -> None:
    from scipy.linalg import expm

    from odesys.analysis.linear import first_crossing

    rng = np.random.default_rng(8)
    for _ in range(10):
        matrix = rng.normal(size=(4, 4)) - 0.3 * np.eye(4)
        x = rng.normal(size=4)
        fine = np.linspace(0, 4, 8001)
        values = np.array([(expm(t * matrix) @ x)[0] for t in fine[::40]])
        level = float(rng.uniform(values.min(), values.max()))
        found, _ = first_crossing(matrix, x, 0, level, 0.05 / np.abs(np.linalg.eigvals(matrix)).max(), 4.0)
        move, path = expm(fine[1] * matrix), [x]
        for _ in fine[1:]:
            path.append(move @ path[-1])
        gaps = np.array(path)[:, 0] - level
        first = fine[np.flatnonzero(np.sign(gaps[1:]) != np.sign(gaps[0]))[0]]
        assert found == pytest.approx(first, abs=2 * fine[1])


@pytest.mark.parametrize("rates", [(1, 3), (1, 4), (2, 3)])
def test_more_than_two_steps_of_one_exponential_are_solved_in_floats(rates: tuple[int, int]) -> None:
    """x3 = (e^(a t) - 1)/a + (e^(b t) - 1)/b."""
    a, b = rates
    system = LinearSystem(sp.Matrix([[a, 0, 0], [0, b, 0], [1, 1, 0]]), sp.Matrix([1, 1, 0]))
    found = system.hitting_time(2, 5)
    time = float(found.value)
    assert found.evidence == "measurement"
    assert (np.exp(a * time) - 1) / a + (np.exp(b * time) - 1) / b == pytest.approx(5, rel=1e-10)
