"""Small systems with known answers, shared by tests: what is known is said in each docstring."""

from __future__ import annotations

import sympy as sp

from odesys.expr.system import System

X, Y, Z = sp.symbols("x y z", real=True)
RATES = sp.symbols("a b c d", real=True)
POSITIVE = {name: sp.Symbol(name, positive=True) for name in "abcd"}


def oscillator() -> System:
    """x'' = -x: conserves x^2 + y^2; the origin is a centre, eigenvalues +-i."""
    return System.from_equations({X: Y, Y: -X})


def logistic() -> System:
    """x' = r x (1 - x): 0 unstable and 1 stable for r > 0; x(t) = 1/(1 + (1/x0 - 1) e^(-r t))."""
    r = sp.Symbol("r", real=True)
    return System.from_equations({X: r * X * (1 - X)}, parameters=["r"])


def logistic_map() -> System:
    """x -> r x (1 - x): 0 with multiplier r, 1 - 1/r with multiplier 2 - r."""
    r = sp.Symbol("r", real=True)
    return System.from_equations({X: r * X * (1 - X)}, parameters=["r"], kind="map")


def lotka_volterra() -> System:
    """Prey x, predator y: (0, 0) a saddle, (c/d, a/b) a centre, conserves `lotka_volterra_integral`."""
    a, b, c, d = RATES
    return System.from_equations({X: a * X - b * X * Y, Y: d * X * Y - c * Y}, parameters=["a", "b", "c", "d"])


def lotka_volterra_integral() -> sp.Expr:
    """d x - c log x + b y - a log y: a strict minimum at (c/d, a/b) for positive rates."""
    a, b, c, d = RATES
    return d * X - c * sp.log(X) + b * Y - a * sp.log(Y)


def rigid_body(first: int = 1, second: int = 2, third: int = 3) -> System:
    """Euler's equations with moments of inertia: conserves energy and angular momentum; each axis is a line of rest."""
    i1, i2, i3 = map(sp.Integer, (first, second, third))
    return System.from_equations({X: (i2 - i3) / i1 * Y * Z, Y: (i3 - i1) / i2 * Z * X, Z: (i1 - i2) / i3 * X * Y})


def toda() -> System:
    """Open Toda lattice of three particles in Flaschka's variables: the eigenvalues of the Lax matrix are conserved."""
    a1, a2, b1, b2, b3 = sp.symbols("a1 a2 b1 b2 b3", real=True)
    return System.from_equations(
        {
            a1: a1 * (b2 - b1),
            a2: a2 * (b3 - b2),
            b1: 2 * a1**2,
            b2: 2 * a2**2 - 2 * a1**2,
            b3: -2 * a2**2,
        }
    )


GROWTH_MATRIX = sp.Matrix([[0, 1, 1], [1, 0, 0], [1, 0, 0]])


def growth() -> System:
    """x' = b A x with the 3 x 3 matrix of score growth: eigenvalues 0 and +-sqrt(2) b."""
    b = sp.Symbol("b", real=True)
    x = sp.symbols("x1 x2 x3", real=True)
    return System.from_equations(dict(zip(x, b * GROWTH_MATRIX * sp.Matrix(x), strict=True)), parameters=["b"])


def bouncing() -> System:
    """x'' = -sign(x), a ball in the potential |x|: crosses x = 0, conserves E = y^2/2 + |x|, period 4 sqrt(2 E)."""
    return System.from_equations({X: Y, Y: -sp.sign(X)})


def sliding() -> System:
    """x' = -sign(x), y' = 1: reaches x = 0 at time |x0| and slides along it for ever."""
    return System.from_equations({X: -sp.sign(X), Y: 1})


def pendulum() -> System:
    """x'' = -sin x: centres at even and saddles at odd multiples of pi; conserves y^2/2 - cos x."""
    return System.from_equations({X: Y, Y: -sp.sin(X)})


def corner() -> System:
    """Slides along x = 0 and y = 0 at once: sign x = sin t / 2 and sign y = 0.9 cos t + sin t / 2 while both hold."""
    t = sp.Symbol("t", real=True)
    pushed = sp.Rational(9, 10) * sp.cos(t) + sp.sign(X) - sp.sign(Y)
    return System.from_equations({X: sp.sin(t) / 2 - sp.sign(X), Y: pushed, Z: sp.sign(X) - 3 * sp.sign(Y)})
