"""Invariant curves: those of Loud's centres and of planes made to have some, and that none of low degree is missed."""

from __future__ import annotations

import random

import pytest
import sympy as sp

from odesys import System, check_integral, sym
from odesys.analysis.darboux import integrating_factor, invariant_curves
from odesys.exact.zero import zero_test
from odesys.expr import graph

#: the four isochronous centres of Loud, x' = -y + x y, y' = x + D x^2 + F y^2, and centres that are not
LOUD = [(0, 1), ("-1/2", 2), (0, "1/4"), ("-1/2", "1/2"), (3, 2), ("-2/3", "-1/5")]


def loud(d: object = "D", f: object = "F") -> System:
    return System.from_strings({"x": "-y + x*y", "y": f"x + ({d})*x**2 + ({f})*y**2"})


@pytest.mark.parametrize(("d", "f"), LOUD)
def test_a_centre_of_loud_has_an_integral(d: object, f: object) -> None:
    system = loud(d, f)
    (integral,) = system.first_integrals(degree=2)
    x, y = sp.symbols("x y", real=True)
    value = sp.lambdify((x, y), _expression(integral.node))
    # a run by hand (classical Runge-Kutta), which shares nothing with the proof
    numbers = {"d": float(sp.Rational(str(d))), "f": float(sp.Rational(str(f)))}
    point, values = (0.05, 0.02), []
    for _ in range(400):
        values.append(complex(value(*point)))
        point = _step(point, numbers["d"], numbers["f"], 0.01)
    assert max(abs(v - values[0]) for v in values) < 1e-7 * max(1.0, abs(values[0]))
    assert max(abs(v) for v in values) > 1e-12


def _expression(node: graph.Node) -> sp.Expr:
    from odesys import to_sympy

    return to_sympy(node)


def _step(point: tuple[float, float], d: float, f: float, h: float) -> tuple[float, float]:
    def rate(x: float, y: float) -> tuple[float, float]:
        return -y + x * y, x + d * x**2 + f * y**2

    x, y = point
    a = rate(x, y)
    b = rate(x + h / 2 * a[0], y + h / 2 * a[1])
    c = rate(x + h / 2 * b[0], y + h / 2 * b[1])
    e = rate(x + h * c[0], y + h * c[1])
    return (
        x + h / 6 * (a[0] + 2 * b[0] + 2 * c[0] + e[0]),
        y + h / 6 * (a[1] + 2 * b[1] + 2 * c[1] + e[1]),
    )


def test_all_of_louds_family_has_one_in_its_parameters() -> None:
    found = loud().first_integrals(degree=2)
    assert len(found) == 1 and found.complete and "degree at most 2 over the rational numbers" in found.ansatz
    assert check_integral(loud(), found[0].node).answer == "zero"


@pytest.mark.parametrize("seed", range(6))
def test_curves_that_were_put_in_are_found(seed: int) -> None:
    """x' = a f - f_y g, y' = b f + f_x g leaves f = 0 invariant, for a conic f and any a, b, g."""
    rng = random.Random(seed)
    x, y = sp.symbols("x y")
    line = [rng.randint(-3, 3) for _ in range(3)]
    conic = x**2 + line[0] * x * y + rng.choice([1, 2, -3]) * y**2 + line[1] * x + line[2]
    g, a, b = (rng.randint(1, 4) + rng.randint(-3, 3) * x + rng.randint(-3, 3) * y for _ in range(3))
    rates = {x: sp.expand(a * conic - sp.diff(conic, y) * g), y: sp.expand(b * conic + sp.diff(conic, x) * g)}
    found = invariant_curves(System.from_equations(rates))
    assert found.degree == 2
    wanted = {graph.as_node(s * f) for f, _ in sp.factor_list(conic)[1] for s in (1, -1)}
    assert wanted & set(found.curves)
    for curve in found.curves:  # each divides its derivative, by SymPy
        f = sp.Poly(_plain(curve), x, y)
        change = sp.Poly(f.diff(x).as_expr() * rates[x] + f.diff(y).as_expr() * rates[y], x, y)
        assert sp.rem(change, f).is_zero


def _plain(node: graph.Node) -> sp.Expr:
    value = _expression(node)
    return value.xreplace({s: sp.Symbol(s.name) for s in value.free_symbols})


def test_a_multiple_line_brings_an_exponential() -> None:
    (integral,) = System.from_strings({"x": "x**2", "y": "y"}).first_integrals()
    assert integral.node is graph.call("log", sym("y")) + 1 / sym("x")


def test_where_the_determinant_vanishes_there_is_a_rational_integral() -> None:
    system = System.from_strings({"x": "x*(y + 1)", "y": "y*(y + 1)"})
    (quotient,) = invariant_curves(system).rational
    assert check_integral(system, quotient).answer == "zero"
    assert zero_test(graph.gradient(quotient, [sym("x")])[0]).answer == "nonzero"


def test_an_integrating_factor_of_a_focus() -> None:
    focus = System.from_strings({"x": "x - y", "y": "x + y"})
    found = focus.first_integrals()
    assert len(found) == 0 and found.factor is 1 / (sym("x") ** 2 + sym("y") ** 2)
    assert integrating_factor(focus, invariant_curves(focus)) is found.factor


def test_none_where_there_is_none() -> None:
    pol = System.from_strings({"x": "y", "y": "-x + (1 - x**2)*y"})  # no invariant curve of any degree (Odani)
    assert invariant_curves(pol).curves == () and invariant_curves(pol).degree == 2
    assert pol.first_integrals().factor is None


def test_what_is_not_searched_says_so() -> None:
    for text in ("sin(x)", "t*x"):
        unsearched = invariant_curves(System.from_strings({"x": text}))
        assert unsearched.degree == 0 and unsearched.curves == ()
    wide = System.from_strings({f"x{k}": f"x{k}*(1 - x{(k + 1) % 5})" for k in range(5)})
    assert invariant_curves(wide).degree == 0 and len(invariant_curves(wide).curves) == 5


def test_an_integrating_factor_may_have_parameters_in_its_powers() -> None:
    factor = integrating_factor(loud(), invariant_curves(loud()))
    assert factor is not None
    x, power = sp.Symbol("x"), -2 * sp.Symbol("F") - 1
    assert sp.simplify(_plain(factor) - (1 - x) ** power) == 0


def test_an_integrating_factor_makes_the_flux_vanish_or_there_is_none() -> None:
    for equations in (
        {"x": "x*(1 - x - 2*y)", "y": "y*(1 - 3*x - y)"},
        {"x": "x*(1 + y)", "y": "-y*(2 + x)"},
        {"x": "x + x*y", "y": "y + y**2/2"},
        {"x": "x*(1 + y + x)", "y": "-y*(2 + x)"},
        {"x": "y", "y": "-x"},
        {"x": "x**2 + y", "y": "x*y"},
        {"x": "y + x*y", "y": "-x + 2*y**2 - x*y"},
    ):
        system = System.from_strings(equations)
        factor = integrating_factor(system, invariant_curves(system))
        if factor is not None:
            flux = [graph.gradient(factor * rhs, [sym(n)])[0] for n, rhs in system.equations.items()]
            assert factor is not graph.ONE and zero_test(graph.add(flux)).answer == "zero"
    without = System.from_strings({"x": "x*(1 + y + x)", "y": "-y*(2 + x)"})
    assert integrating_factor(without, invariant_curves(without)) is None
    divergence_free = System.from_strings({"x": "y", "y": "-x"})
    assert integrating_factor(divergence_free, invariant_curves(divergence_free)) is None, "1 says nothing"
