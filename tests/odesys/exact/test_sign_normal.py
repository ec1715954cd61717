"""Signs in normal form: the same sign as before everywhere, and nothing dropped that can change sign."""

from __future__ import annotations

import random

import numpy as np
import pytest
import sympy as sp

from odesys.errors import EquationError
from odesys.exact.sign_normal import MOST_UNITS, SignForm, _monic, sign_node
from odesys.expr import graph
from odesys.expr.sympy_bridge import from_sympy
from odesys.expr.tape import ARRAYS, Tape

P, R, G, H = sp.symbols("p r g h", real=True)
X, Y, Z = sp.symbols("x y z", real=True)
FORM = SignForm([G, H], [P, R], [[G, H], [X, Y, Z]], {1 - P: sp.Symbol("pbar", real=True)})


def value(node: graph.Node, at: dict[str, float]) -> float:
    return float(Tape.of([node]).over(ARRAYS)({**at, "pbar": 1 - at["p"]})[0])


@pytest.mark.parametrize(
    "expression",
    [
        G * P * (1 - P) * (X - Y) * (2 * Z + X),
        -(P - P**2) * X / (1 + G),
        G * P * (1 - P) * X + H * R * (1 - R) * Y,
        G * (X - Y) * (P * X + R * Y) + H * (X - Y) * Z,
        (X - Y) ** 3 * (1 + P - R),
        G * (P + R) + H * (2 - P - R),
    ],
)
def test_sign_is_the_same_at_random_points(expression: sp.Expr) -> None:
    rng = np.random.default_rng(3)
    node = FORM.sign(from_sympy(expression))
    for _ in range(40):
        at = {
            **{s: float(rng.uniform(0.01, 0.99)) for s in "pr"},
            **{s: float(rng.exponential()) for s in "gh"},
            **{s: float(rng.standard_normal()) for s in "xyz"},
        }
        assert value(node, at) == np.sign(float(expression.subs({sp.Symbol(k, real=True): v for k, v in at.items()})))


def test_positive_factors_are_dropped_and_others_are_not() -> None:
    assert FORM.factors(from_sympy(G * (P - P**2) * (2 * X - 2 * Y))) == (1, [(X - Y, 1)])
    assert FORM.sign(from_sympy(G * (1 + P - R))) is graph.ONE  # at least 0 at the corners, and not zero
    assert FORM.sign(from_sympy(-G * (P + R))) is graph.num(-1)
    assert FORM.definite(P - sp.Rational(1, 2)) == 0 and FORM.definite(P - R) == 0 and FORM.definite(P + R - 1) == 0
    assert FORM.definite(P**2 - P + 1) == 0  # positive, but not of degree one: left alone
    assert FORM.factors(graph.ZERO) == (0, [])
    assert len(graph.surfaces([FORM.sign(from_sympy((X - Y) * (X + Z)))])) == 2


def test_sign_of_zero_is_zero() -> None:
    node = sign_node(graph.sym("x"))
    assert [value(node, {"x": v, "p": 0.5}) for v in (-2.0, 0.0, 3.0)] == [-1.0, 0.0, 1.0]


def test_factors_multiply_to_the_whole_and_are_all_of_them() -> None:
    """Sums linear in the first level, and others: squares, products of two such letters, a single letter."""
    for part, count in (
        (G**2 - H**2, 2),
        (G * X + H * Y, 1),
        (G * X * Z + H * Y * Z, 2),
        (G**2 * X - G * H * X, 3),
        (G * (X**2 - Y**2), 3),
        (X**2 - 1, 2),
        (2 * G * H + 4 * H**2, 2),
    ):
        number, found = FORM._factor_list(sp.expand(part))
        assert sp.expand(number * sp.Mul(*(base**e for base, e in found)) - part) == 0
        assert len(found) == count and all(e > 0 for _, e in found)


@pytest.mark.parametrize("seed", range(3))
def test_a_sign_that_is_known_is_that_of_the_factor_everywhere(seed: int) -> None:
    """Random polynomials in numbers of (0, 1) and in positive ones: by their values at random points."""
    rng = random.Random(seed)
    draw = np.random.default_rng(seed)
    found = set()
    for _ in range(60):
        monomials = [sp.S.One, P, R, P * R, G, G * P, G * P * R, H * R, G**2]
        factor = sp.Add(*(rng.choice([-2, -1, 1, 1, 2]) * m for m in rng.sample(monomials, rng.randint(2, 4))))
        sign = FORM.definite(factor)
        found.add(sign)
        assert FORM.definite(-factor) == -sign
        compute = sp.lambdify((P, R, G, H), factor)
        values = compute(*draw.uniform(0.001, 0.999, (2, 300)), *draw.exponential(size=(2, 300)))
        assert sign == 0 or (np.sign(values) == sign).all(), factor
        both_signs = (values > 0).any() and (values < 0).any()
        assert not both_signs or sign == 0
    assert found == {-1, 0, 1}


def test_what_decides_a_sign_is_the_corners_and_what_is_given() -> None:
    for factor, sign in (
        (G, 1),
        (-2 * G, -1),
        (1 - P, 1),
        (P - 1, -1),
        (P + R - P * R, 1),
        (P * R - P - R, -1),
        (P * R - P, -1),
        (G * P + H, 1),
        (G * (1 - P) + H * (P - 1), 0),
        (G * P - H * (1 - R), 0),
        (G - 1, 0),
        (X, 0),
        (G * P + X, 0),
        (1 + P**2, 0),
        (P - P * R, 1),
    ):
        assert FORM.definite(factor) == sign, factor
    units = sp.symbols(f"u:{MOST_UNITS + 1}", real=True)
    form = SignForm([X - Y, -3 * Z], units, [])
    assert form.definite(sp.Add(*units[:MOST_UNITS])) == 1 and form.definite(sp.Add(*units)) == 0
    assert form.definite(2 * X - 2 * Y) == 1 and form.definite(Y - X) == -1
    assert form.definite(-Z) == 1 and form.definite(5 * Z) == -1  # -3 z is positive, so z is negative
    assert form.factors(from_sympy(Z**3 * (Y - X) ** 2 * X)) == (-1, [(X, 1)])


def test_signs_in_front_and_exponents_of_a_quotient() -> None:
    for expression, sign, kept in (
        (-X / Y, -1, {X: 1, Y: 1}),
        ((Y - X) ** 3 / (2 * Z), -1, {X - Y: 3, Z: 1}),
        ((Y - X) ** 2, 1, {X - Y: 2}),
        (sp.Integer(-3), -1, {}),
        (1 / (P - 1), -1, {}),
        ((P - 1) ** 2 * X, 1, {X: 1}),
        (sp.S.Zero, 0, {}),
        (X / Y + 1, 1, {X + Y: 1, Y: 1}),
    ):
        outer, factors = FORM.factors(from_sympy(expression))
        assert (outer, dict(factors)) == (sign, kept), expression
    assert FORM.sign(graph.ZERO) is graph.ZERO and FORM.sign(graph.num(-2)) is graph.num(-1)
    x = graph.sym("x")
    assert FORM.sign(from_sympy(X**3)) is sign_node(x) ** 3 and FORM.sign(from_sympy(2 * X)) is sign_node(x)


def test_what_is_written_is_the_same_level_by_level() -> None:
    """A sum over the letters of the first level, whose coefficients are products of sums over those of the second."""
    inner = (P * X - (1 - P) * Y) * (1 - P)
    expression = sp.expand(G * inner + H * R * (X + Y))
    written = FORM.write(expression)
    pbar = sp.Symbol("pbar", real=True)
    assert sp.expand(written.subs(pbar, 1 - P) - expression) == 0 and written.has(pbar)
    coefficient = written.coeff(G)
    assert sp.expand(coefficient.subs(pbar, 1 - P) - inner) == 0 and coefficient.is_Mul
    assert set(written.coeff(H).args) == {R, X + Y} and FORM.write(sp.expand((X - Y) * (P - 1))).has(pbar)
    twice = FORM.write(sp.expand((1 - P) ** 2 * X))
    assert sp.expand(twice - pbar**2 * X) == 0 and FORM.write(-3 * X) == -3 * X
    plain = SignForm([], [], [])
    assert plain.write(X**2 - Y**2) == (X - Y) * (X + Y) and plain.factors(from_sympy(X * Y)) == (1, [(X, 1), (Y, 1)])


def test_an_expression_over_its_leading_coefficient() -> None:
    assert _monic(3 * X - 6 * Y) == (3, X - 2 * Y) and _monic(Y - 2 * X) == (-2, X - Y / 2)
    assert _monic(1 - P) == (-1, P - 1)
    with pytest.raises(EquationError, match="3 is a number"):
        _monic(sp.Integer(3))
