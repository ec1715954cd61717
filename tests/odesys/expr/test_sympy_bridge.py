"""To SymPy and back: the same value, and sentences for what has no counterpart."""

from __future__ import annotations

import pytest
import sympy as sp
from hypothesis import given, settings

from odesys import System
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.sympy_bridge import from_sympy, to_sympy
from tests.random_nodes import expressions, value

SX, SY = sp.Symbol("x", real=True), sp.Symbol("y", real=True)


@settings(deadline=None, max_examples=150)
@given(expressions())
def test_sympy_round_trip_is_the_same_value(node: graph.Node) -> None:
    back = from_sympy(to_sympy(node))
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        assert value(back, x, y) == pytest.approx(value(node, x, y), rel=1e-9, abs=1e-12)


def test_min_max_abs_sign_from_sympy() -> None:
    for expression in (sp.Max(SX, SY, 1), sp.Min(SX, SY, 0), sp.Abs(SX - SY), sp.sign(SX) * SY, sp.Heaviside(SX) * SY):
        node = from_sympy(expression)
        for x, y in ((0.5, -2.0), (-1.5, 2.5), (3.0, 0.25)):
            assert value(node, x, y) == pytest.approx(float(expression.subs({SX: x, SY: y})))


@pytest.mark.parametrize("tower", ["9^(a^9)", "a^a^a^a", "exp(9^9*log(a))"])
def test_powers_of_too_many_digits_are_refused_before_they_are_computed(tower: str) -> None:
    (node,) = System.from_strings({"x": tower}, ["a"]).nodes
    (known,) = graph.substitute([node], {graph.sym("a"): graph.num(9)})
    with pytest.raises(EquationError, match=r"9 to the power .* has more than 4000 digits"):
        to_sympy(known)


def test_unknown_functions_are_refused_with_a_sentence() -> None:
    with pytest.raises(EquationError, match="the function gamma is not known"):
        from_sympy(sp.gamma(SX))


def test_cases_from_sympy() -> None:
    cases = [
        sp.Piecewise((SX, SX > 1), (SY, SX <= -1), (3, True)),
        sp.Piecewise((SX**2, sp.And(SX >= 0, SY < 1)), (-SY, sp.Or(SX < -1, SY >= 2)), (5, True)),
        sp.Piecewise((1, sp.Not(sp.And(SX > SY, SX > 0))), (2, True), evaluate=False),
    ]
    for expression in cases:
        node = from_sympy(expression)
        for x in (-2.0, -1.0, 0.0, 0.5, 1.0, 2.0):
            for y in (-1.5, 0.5, 1.0, 2.0):
                assert value(node, x, y) == pytest.approx(float(expression.subs({SX: x, SY: y}))), (expression, x, y)
    with pytest.raises(EquationError, match="does not say what it is elsewhere"):
        from_sympy(sp.Piecewise((SX, SX > 1)))
    with pytest.raises(EquationError, match="is not made of"):
        from_sympy(sp.Piecewise((SX, sp.Ne(SX, SY)), (SY, True)))


def test_what_sympy_has_its_own_words_for_keeps_its_value() -> None:
    """Constants, floats, functions of time that stand for states, powers with symbols in them, nested extremes."""
    t = sp.Symbol("t")
    of_time = {sp.Function("x")(t): SX, sp.Function("y")(t): SY}
    for expression in (
        sp.pi * SX + sp.E * SY - 2 * sp.E,
        sp.exp(SX) - sp.exp(-2 * SX * SY),
        sp.Float(0.1) * SX + sp.Float(1e-17) + sp.Rational(2, 7) * SY,
        (SX**2 + 1) ** SY - 2**SX + (SY**2 + 1) ** sp.Rational(-3, 2),
        sp.Max(SX, sp.Min(SY, SX * SY), -SY, evaluate=False),
        sp.Min(sp.Abs(SX), sp.sign(SY), sp.Max(SX - 1, SY + 1), evaluate=False),
        sp.Heaviside(SX - SY) - sp.sign(SX + SY) * SX,
    ):
        for written in (expression, expression.xreplace({state: call for call, state in of_time.items()})):
            node = from_sympy(written)
            assert graph.symbols([node]) <= {"x", "y"}
            for x, y in ((0.5, -2.0), (-1.5, 2.5), (3.0, 0.25), (0.25, 0.125)):
                wanted = float(expression.subs({SX: x, SY: y}))
                found = graph.evaluate([node], {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float)[0]
                assert found == pytest.approx(wanted, rel=1e-14, abs=1e-15), (written, x, y)
    edge = from_sympy(sp.Heaviside(SX)), from_sympy(sp.sign(SX)), from_sympy(sp.Max(SX, 0))
    assert [value(node, 0.0, 0.0) for node in edge] == [0, 0, 0]


def test_numbers_and_symbols_cross_as_they_are() -> None:
    z = sp.Symbol("z")
    node = graph.num(0.1) * graph.sym("x") + graph.sym("z") / 3
    there = to_sympy(node, {"z": z})
    assert there.free_symbols == {SX, z} and float(there.coeff(SX)) == 0.1 and there.coeff(z) == sp.Rational(1, 3)
    assert from_sympy(there) is node and from_sympy(0.1) is graph.num(0.1) and from_sympy("2/3") is graph.num(2) / 3
    assert to_sympy(graph.sym("x") ** graph.sym("z"), {"z": z}) == SX**z
    assert to_sympy(graph.num(2) ** graph.sym("x")) == 2**SX and to_sympy(graph.sqrt(graph.num(2))) == sp.sqrt(2)
    assert to_sympy(graph.sym("x") ** graph.num(0.3)).has(sp.Float)


def test_a_function_of_several_or_of_no_symbol_is_not_a_state() -> None:
    f = sp.Function("f")
    for unknown in (f(SX, SY), f(2), f(SX + SY), sp.besselj(0, SX), sp.LambertW(SX)):
        with pytest.raises(EquationError, match="is not known"):
            from_sympy(unknown)
    for no_expression in (object(), [1, 2], "x +"):
        with pytest.raises(EquationError, match="is not an expression"):
            from_sympy(no_expression)


def test_conditions_are_gates_on_their_edges_too() -> None:
    """Strict inequalities fail on the edge and others hold; and, or, not, and what is always or never so."""
    conditions = [
        SX > SY,
        SX >= SY,
        SX < SY,
        SX <= SY,
        sp.And(SX >= SY, SX > 0),
        sp.Or(SX > SY, SY > 1),
        sp.Or(SX > 1, SX <= SY, SX > SY + 5),
        sp.Not(sp.Or(SX >= SY, SY > 1)),
    ]
    for condition in conditions:
        node = from_sympy(sp.Piecewise((2, condition), (-1, True), evaluate=False))
        for x in (-1.0, 0.0, 1.0, 2.0):
            for y in (-1.0, 0.0, 1.0, 2.0):
                wanted = 2 if condition.subs({SX: x, SY: y}) == sp.true else -1
                assert value(node, x, y) == wanted, (condition, x, y)
    never = sp.Piecewise((SX, sp.false), (SY, True), evaluate=False)
    assert from_sympy(never) is graph.sym("y") and from_sympy(sp.Piecewise((SX, True), evaluate=False)) is graph.sym(
        "x"
    )
