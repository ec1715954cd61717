"""Invariant curves: those of Loud's centres and of planes made to have some, and that none of low degree is missed."""

from __future__ import annotations

import random
from itertools import combinations
from typing import Any

import pytest
import sympy as sp

from odesys import System, check_integral, sym
from odesys.analysis import darboux
from odesys.analysis.darboux import (
    Curves,
    _is_multiple,
    _node,
    _numerators,
    _positive_at_zero,
    _quotients,
    _wronskians,
    integrating_factor,
    invariant_curves,
)
from odesys.analysis.polynomial_form import polynomial_context
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


FOUND = [
    ("x' = x^2; y' = y", ["x", "y"], ["1/x", "y/x"], 2, []),
    ("x' = x; y' = 2*y", ["x", "y"], [], 0, ["x**2/y"]),
    ("x' = x*y; y' = y^2", ["x", "y"], [], 0, ["y/x"]),
    ("x' = y; y' = -x", [], [], 0, ["x**2 + y**2"]),
    ("x' = 1; y' = x", [], [], 0, ["y - x**2/2"]),
    ("x' = x*(1 - x)", ["x", "1 - x"], [], 1, []),
    ("x' = x*(x - 1); y' = y*(y + 2)", ["x", "1 - x", "y", "y + 2", "2*x**2 - 2*x*y - 4*x + y + 2"], [], 2, []),
    ("x' = a*x; y' = b*y", ["x", "y"], [], 2, []),
    ("x' = x; y' = y; z' = z", ["x", "y", "z"], [], 0, ["y/x"]),
    ("x' = x*(1 - y); y' = y*(1 - z); z' = z*(1 - x)", ["x", "y", "z"], [], 1, []),
    ("x' = y + x^2; y' = x*y", ["y"], [], 0, ["y**2/(x**2 + 2*y)"]),
    ("x' = x^2 - 2; y' = y", ["y", "2 - x**2"], [], 2, []),
    ("x' = (x - 1)^2; y' = y - 1", ["1 - x", "1 - y"], ["1/(1 - x)", "y/(1 - x)"], 2, []),
    ("x' = x - y; y' = x + y", ["x**2 + y**2"], [], 2, []),
    ("x' = x*(1 - y)/(1 + x*y); y' = 3*y/(1 + x*y)", ["x", "y"], [], 2, []),
]


@pytest.mark.parametrize(("equations", "curves", "exponents", "degree", "rational"), FOUND)
def test_what_is_found(
    equations: str, curves: list[str], exponents: list[str], degree: int, rational: list[str]
) -> None:
    """Also checked here: curves divide their change, and what is rational and found on the way is conserved."""
    system = System.from_strings(equations)
    found = invariant_curves(system)
    assert {sp.expand(_plain(f)) for f in found.curves} == {sp.sympify(text) for text in curves}
    assert found.degree == degree
    assert {sp.simplify(_plain(g)) for g in found.exponents} == {sp.simplify(sp.sympify(text)) for text in exponents}
    ratios = [[sp.simplify(_plain(r) / sp.sympify(text)) for r in found.rational] for text in rational]
    assert all(any(ratio.is_number for ratio in row) for row in ratios) and bool(found.rational) is bool(rational)
    rates = {sp.Symbol(name): _plain(rhs) for name, rhs in system.equations.items()}

    def change(node: graph.Node) -> sp.Expr:
        return sp.together(sum(sp.diff(_plain(node), s) * rhs for s, rhs in rates.items()))

    for curve in found.curves:
        bottom = sp.denom(sp.cancel(change(curve) / _plain(curve)))
        assert not bottom.has(*rates) or "/" in equations
    assert all(sp.simplify(change(one)) == 0 for one in found.rational)


def test_degrees_that_are_asked_for() -> None:
    system = System.from_strings("x' = x*(x - 1); y' = y*(y + 2)")
    assert invariant_curves(system, 1).degree == 1 and len(invariant_curves(system, 1).curves) == 4
    third = invariant_curves(System.from_strings("x' = x*y; y' = x^2 + y^2"), 3)
    assert third.degree == 3 and third.curves == (sym("x"),)
    assert invariant_curves(system, 0).degree == 0 and invariant_curves(system, 0).curves


def test_maps_and_large_systems_have_none(monkeypatch: pytest.MonkeyPatch) -> None:
    assert invariant_curves(System.from_strings({"x": "-x"}, kind="map")) == Curves()
    names = [f"u{k}" for k in range(4)]
    system = System.from_strings({n: f"-{n}" for n in names})
    monkeypatch.setattr(darboux, "MOST_STATES", 3)
    assert invariant_curves(system) == Curves()
    monkeypatch.setattr(darboux, "MOST_STATES", 4)
    assert len(invariant_curves(System.from_strings({n: f"-2*{n}" for n in names})).curves) == 4


def test_long_determinants_are_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit on their terms a lower degree is tried, and at last candidates alone."""

    def fresh(shift: int) -> System:
        return System.from_strings(f"x' = x*(1 + x + y + {shift}); y' = y*(2 - x + 3*y)")

    assert invariant_curves(fresh(1)).degree == 2
    monkeypatch.setattr(darboux, "LARGEST_MINOR", 30)
    assert invariant_curves(fresh(2)).degree == 1
    monkeypatch.setattr(darboux, "LARGEST_MINOR", 1)
    found = invariant_curves(fresh(3))
    assert found.degree == 0 and found.curves == (sym("x"), sym("y"))


def rational_field(text: str) -> tuple[Any, Any, Any, list[sp.Expr]]:
    context = polynomial_context(["x", "y", "a"])
    x, y, a = context.gens()
    field = {"first": [x * y + a, y**2 - x], "second": [x, 2 * y], "third": [x**2, y]}[text]
    written = {"first": "x*y + a, y**2 - x", "second": "x, 2*y", "third": "x**2, y"}[text]

    def change(f: Any) -> Any:
        return sum((f.derivative(j) * rhs for j, rhs in enumerate(field)), context.constant(0))

    return context, field, change, list(sp.sympify(written))


@pytest.mark.parametrize("text", ["first", "second", "third"])
@pytest.mark.parametrize("degree", [1, 2])
def test_minors_are_determinants_of_repeated_changes(text: str, degree: int) -> None:
    context, _, change, rates = rational_field(text)
    minors = _wronskians(context, 2, degree, change)
    assert minors is not None
    x, y = sp.symbols("x y")
    row = [sp.Integer(1), x, y, *([x**2, x * y, y**2] if degree == 2 else [])]
    rows = []
    for _ in row:
        rows.append(row)
        row = [sp.expand(sp.diff(e, x) * rates[0] + sp.diff(e, y) * rates[1]) for e in row]
    size = len(row)
    chosen = [c for k in (1, 2, 3) for c in combinations(range(size), k)] + (
        [tuple(range(size))] if degree == 1 else []
    )
    for columns in chosen:
        wanted = sp.Matrix([[rows[i][j] for j in columns] for i in range(len(columns))]).det()
        assert sp.expand(_plain(_node(minors[columns], ["x", "y", "a"])) - wanted) == 0, columns
    assert len(minors) == 2**size


def test_the_shortest_quotient_of_minors_is_conserved() -> None:
    context, _, change, rates = rational_field("second")
    minors = _wronskians(context, 2, 2, change)
    assert minors is not None
    (quotient,) = _quotients(minors, 2, ["x", "y", "a"])
    value = sp.simplify(_plain(quotient))
    x, y = sp.symbols("x y")
    assert sp.simplify(sp.diff(value, x) * rates[0] + sp.diff(value, y) * rates[1]) == 0
    assert sp.simplify(value / (x**2 / y)).is_number or sp.simplify(value * (x**2 / y)).is_number


def test_signs_multiple_lines_and_their_numerators() -> None:
    context, _, change, _ = rational_field("third")
    x, y, a = context.gens()
    for f, turned in ((x - 1, True), (1 - x, False), (-x - y, True), (x + y, False), (x * y - a, True), (a - x, False)):
        assert _positive_at_zero(f, 2) == (-f if turned else f)
    minors = _wronskians(context, 2, 1, change)
    assert minors is not None and _is_multiple(x, minors, 2) and not _is_multiple(y, minors, 2)
    assert not _is_multiple(x * y, minors, 2) and not _is_multiple(x**2, minors, 2)
    assert not _is_multiple(x, {**minors, (0, 1, 2): context.constant(0)}, 2)
    assert _numerators(x + 2 * y, ["x", "y"]) == [graph.ONE, sym("y")] == _numerators(x, ["x", "y"])
    assert _numerators(y - 3, ["x", "y"]) == [graph.ONE, sym("x")]


@pytest.mark.parametrize(
    ("equations", "factor"),
    [
        ("x' = x^2; y' = y", "1/(x**2*y)"),
        ("x' = x*(1 - x)", "1/(x*(1 - x))"),
        ("x' = x^2 + 1", "1/(x**2 + 1)"),
        ("x' = 2; y' = y", "1/y"),
        ("x' = x*(1 + y); y' = -y*(2 + x)", "1/(x*y)"),
        ("x' = x*(1 - y); y' = y*(1 - z); z' = z*(1 - x)", "1/(x*y*z)"),
        ("x' = y; y' = -x", None),
        ("x' = y; y' = -x + (1 - x^2)*y", None),
    ],
)
def test_integrating_factors_by_hand(equations: str, factor: str | None) -> None:
    system = System.from_strings(equations)
    found = integrating_factor(system, invariant_curves(system))
    assert (found is None) is (factor is None)
    if factor is not None:
        assert found is not None and sp.simplify(_plain(found) / sp.sympify(factor)).is_number


def test_large_powers_of_curves_stay_in_an_exponential(monkeypatch: pytest.MonkeyPatch) -> None:
    """x' = x, y' = -4 y - 1: the flux of x^a vanishes for a = 2, which is a power up to the limit."""
    system = System.from_strings("x' = x; y' = -4*y - 1")
    line = Curves(curves=(sym("x"),))
    monkeypatch.setattr(darboux, "LARGEST_POWER", 3)
    assert integrating_factor(system, line) is sym("x") ** 3
    monkeypatch.setattr(darboux, "LARGEST_POWER", 2)
    assert integrating_factor(system, line) is graph.exp(3 * graph.call("log", sym("x")))
