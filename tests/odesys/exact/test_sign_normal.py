"""Signs in normal form: the same sign as before everywhere, and nothing dropped that can change sign."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from odesys.exact.sign_normal import SignForm, sign_node
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
