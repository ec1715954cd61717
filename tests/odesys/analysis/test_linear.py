"""Exact spectra, solutions and hitting times against hand-made answers, substitution and the matrix exponential."""

from __future__ import annotations

import random

import mpmath
import numpy as np
import pytest
import sympy as sp
from scipy.linalg import expm

from odesys.analysis.linear import (
    LinearSystem,
    _common_factor,
    _divide,
    _exponential_time,
    _linear_time,
    charpoly,
    check_metzler,
    exact_spectrum,
)
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


RATES = [
    (1,),
    (-1,),
    (0, 1),
    (0, -2),
    (1, 2),
    (-1, -2),
    (-1, 1),
    (0, 1, 2),
    (0, -1, -2),
    (-1, 0, 1),
    (-3, 0, 3),
    (1, 3),
    (-1, 2),
    (2, 3),
    (-2, -3),
    (0, 2, 4),
]


@pytest.mark.parametrize("rates", RATES, ids=str)
def test_hitting_times_of_sums_of_exponentials_are_the_first_roots_of_a_polynomial(rates: tuple[int, ...]) -> None:
    """With z = e^(t s) for s = 1 or -1 the component is a polynomial in z, whose first root after z = 1 NumPy finds."""
    rng = random.Random(sum(rates) + 100 * len(rates))
    unit = sp.Rational(1, 3)
    for _ in range(14 if len(rates) < 3 else 50):
        weights = [rng.choice([-3, -2, -1, 1, 2, 3]) for _ in rates]
        level = sp.Rational(rng.randint(-9, 9), 2)
        gap = sp.sign(level - sum(weights))
        if gap == 0:
            continue
        terms = [(rate * unit, 0, sp.Integer(c)) for rate, c in zip(rates, weights, strict=True)]
        found = _exponential_time(terms, level, int(gap))
        if found is None:
            powers = {*rates, 0}
            assert (max(powers) - min(powers)) / np.gcd.reduce(list(powers)) > 2
            continue
        assert found.evidence == "proof" and found.condition is True
        low = min(*rates, 0)
        polynomial = np.zeros(max(*rates, 0) - low + 1)
        for rate, c in [*zip(rates, weights, strict=True), (0, -float(level))]:
            polynomial[rate - low] += c
        roots = np.polynomial.Polynomial(polynomial).roots()
        times = [3 * np.log(r.real) for r in roots if abs(r.imag) < 1e-7 and r.real > 1]
        if found.value == sp.oo:
            assert not times, (rates, weights, level)
        else:
            assert float(found.value) == pytest.approx(min(times), rel=1e-6), (rates, weights, level)


def test_a_level_between_symbols_is_reached_under_a_condition() -> None:
    """c e^(b t) is at x* where x* >= c, which is not known; with a known gap the direction says it all."""
    c = sp.Symbol("c", positive=True)
    found = _exponential_time([(B, 0, c)], LEVEL, None)
    assert found is not None and found.value == sp.log(LEVEL / c) / B and found.condition == (LEVEL / c >= 1)
    up = _exponential_time([(B, 0, c)], LEVEL, 1)
    assert up is not None and up.condition is True and up.value == found.value
    down = _exponential_time([(B, 0, c)], LEVEL, -1)
    assert down is not None and down.value == sp.oo and "moving away" in down.method
    q = sp.Symbol("q", real=True)
    unknown = _exponential_time([(B, 0, q)], LEVEL, 1)
    assert unknown is not None and unknown.condition == (LEVEL / q >= 1)
    assert _exponential_time([(q, 0, c)], LEVEL, 1) is None
    assert _exponential_time([(B, 0, c), (W, 0, c)], LEVEL, 1) is None
    assert _exponential_time([(B, 0, c), (2 * B, 0, -c)], LEVEL, None) is None


def test_a_straight_line_is_at_a_level_once_or_never() -> None:
    line = [(sp.S.Zero, 0, sp.Integer(2)), (sp.S.Zero, 1, sp.Rational(-1, 3))]
    ahead, behind = _linear_time(line, sp.Integer(1)), _linear_time(line, sp.Integer(3))
    assert (ahead.value, ahead.condition) == (3, True) and behind.value == sp.oo and "moving away" in behind.method
    p = sp.Symbol("p", real=True)
    open_one = _linear_time([(sp.S.Zero, 1, sp.Integer(2))], p)
    assert open_one.value == p / 2 and open_one.condition == (p / 2 >= 0)
    assert _linear_time([(sp.S.One, 1, sp.Integer(2))], p) is None
    assert _linear_time([(sp.S.Zero, 2, sp.Integer(2))], p) is None
    curve = LinearSystem(sp.Matrix([[0, 1, 0], [0, 0, 1], [0, 0, 0]]), sp.Matrix([0, 0, 2]))  # t^2, 2 t and 2
    measured = curve.hitting_time(0, 9)
    assert measured.evidence == "measurement" and measured.value == pytest.approx(3, abs=1e-9)
    assert curve.hitting_time(1, 9).value == sp.Rational(9, 2)


@pytest.mark.parametrize("seed", range(3))
def test_series_divided_by_a_linear_factor_multiply_back(seed: int) -> None:
    rng = random.Random(seed)
    series = [sp.Integer(rng.randint(-5, 5)) for _ in range(4)]
    root = sp.Rational(rng.choice([-3, 2, 5]), 2)
    found = _divide(series, root)
    assert [root * c + (found[k - 1] if k else 0) for k, c in enumerate(found)] == series


def test_a_symbol_that_all_entries_share_is_taken_out() -> None:
    b, c = sp.symbols("b c")
    numbers = sp.Matrix([[0, 2], [sp.Rational(1, 3), -1]])
    assert _common_factor(numbers) == (1, numbers)
    assert _common_factor(b * numbers) == (b, numbers / 1) and _common_factor(b**2 * c * numbers) == (b**2 * c, numbers)
    assert _common_factor((b + 1) * sp.eye(2)) == (b + 1, sp.eye(2))
    mixed = sp.Matrix([[b, 0], [0, c]])
    assert _common_factor(mixed) == (1, mixed) and _common_factor(sp.zeros(2, 2)) == (1, sp.zeros(2, 2))


@pytest.mark.parametrize("size", [2, 3, 4])
def test_modes_of_random_matrices_with_repeated_eigenvalues_solve_the_equation(size: int) -> None:
    """P J P^-1 with Jordan blocks of eigenvalues that repeat, and a symbol as a common factor."""
    rng = random.Random(size)
    for factor in (sp.S.One, sp.S(2) / 3, B):
        jordan = sp.diag(*(rng.choice([-1, 0, 2]) for _ in range(size)))
        for k in range(size - 1):
            if jordan[k, k] == jordan[k + 1, k + 1]:
                jordan[k, k + 1] = 1
        change = sp.eye(size)
        for i in range(size):
            for j in range(i):
                change[i, j] = rng.randint(-2, 2)
        matrix = change * jordan * change.inv()
        system = LinearSystem(factor * matrix, sp.Matrix([rng.randint(-3, 3) for _ in range(size)]))
        assert solves(system), system.matrix
        assert sorted(s.value / factor for s in system.spectrum) == sorted({jordan[k, k] for k in range(size)})
        for space in system.spectrum:
            value = space.value / factor
            assert space.multiplicity == sum(jordan[k, k] == value for k in range(size))
            assert len(space.vectors) == size - (matrix - value * sp.eye(size)).rank()


def test_cubics_and_quartics_keep_their_roots() -> None:
    for matrix in ([[0, 0, 2], [1, 0, 0], [0, 1, 1]], [[0, 0, 0, 3], [1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0]]):
        spaces = exact_spectrum(sp.Matrix(matrix))
        assert all(space.value.has(sp.CRootOf) for space in spaces) and len(spaces) == len(matrix)


def test_complex_systems_have_complex_solutions() -> None:
    turning = LinearSystem(sp.Matrix([[sp.I]]), sp.Matrix([2]))
    assert turning.solution(T) == sp.Matrix([2 * sp.exp(sp.I * T)]) and not turning._is_real
    start = LinearSystem(sp.Matrix([[0, 1], [-1, 0]]), sp.Matrix([sp.I, 1]))
    assert solves(start)
    assert LinearSystem(sp.Matrix([[1]]), sp.Matrix([1]))._is_real


def test_names_are_one_per_component_and_given_or_counted() -> None:
    plain = LinearSystem(sp.eye(2), sp.Matrix([1, 2]))
    assert plain.names == ("x1", "x2")
    named = LinearSystem(sp.eye(2), sp.Matrix([1, 2]), ("u", "v"))
    assert named.hitting_time("v", 4).value == named.hitting_time(1, 4).value == sp.log(2)
    for names in (("u", "u"), ("u",), ("u", "v", "w")):
        with pytest.raises(EquationError, match="the system has 2 components but the names are"):
            LinearSystem(sp.eye(2), sp.Matrix([1, 2]), names)


def test_sizes_up_to_six_have_an_exact_spectrum() -> None:
    assert [space.multiplicity for space in exact_spectrum(2 * sp.eye(6))] == [6]
    with pytest.raises(EquationError, match="a matrix of size 7 is too large"):
        charpoly(sp.eye(7), T)
    assert sp.expand(charpoly(sp.Matrix([[1, 2], [3, 4]]), T) - (T**2 - 5 * T - 2)) == 0
    with pytest.raises(EquationError, match="not 1 by 2"):
        charpoly(sp.zeros(1, 2), T)


def test_a_search_in_floats_ends_at_its_horizon() -> None:
    spiral = LinearSystem(sp.Matrix([[0, 1], [-1, 0]]), sp.Matrix([1, 0]))
    missed = spiral.hitting_time(0, 2, horizon=1.5)
    assert missed.value is None and missed.method.startswith("the level was not reached before t = 1.5")
    assert spiral.hitting_time(0, -1, horizon=3.0).value is None
    assert spiral.hitting_time(0, sp.Rational(-1, 2), horizon=3.0).value == pytest.approx(2 * np.pi / 3, abs=1e-10)
    slow = LinearSystem(sp.Matrix([[-1, 5, 0], [-5, -1, 0], [1, 0, 0]]) / 100, sp.Matrix([1, 0, 0]))
    late = slow.hitting_time(0, sp.Rational(-1, 2))
    t = float(late.value)
    assert np.exp(-t / 100) * np.cos(t / 20) == pytest.approx(-0.5, abs=1e-10) and t < 20 * np.pi


def test_metzler_matrices_by_their_entries() -> None:
    """All sign patterns of two by two: off the diagonal nothing negative, for maps on it neither; `no` outweighs."""
    q = sp.Symbol("q", real=True)
    for a in (-1, 0, 1):
        for b in (-1, 0, 1, q):
            for c in (-1, 0, 1, q):
                for d in (-1, 2):
                    for diagonal in (False, True):
                        found = check_metzler(sp.Matrix([[a, b], [c, d]]), diagonal)
                        entries = {(0, 0): a, (0, 1): b, (1, 0): c, (1, 1): d}
                        asked = {k: v for k, v in entries.items() if diagonal or k[0] != k[1]}
                        no = [k for k, v in asked.items() if v != q and v < 0]
                        unknown = [k for k, v in asked.items() if v == q]
                        wanted = ("no", no[0]) if no else ("undecided", unknown[0]) if unknown else ("yes", None)
                        assert (found.answer, found.entry) == wanted
                        assert found.value == (None if found.entry is None else entries[found.entry])
