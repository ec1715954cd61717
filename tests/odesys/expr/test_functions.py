"""Every function of the table in every back end, against mpmath; a new record is tested without a new line here."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import flint
import mpmath
import numpy as np
import pytest
import sympy as sp

from odesys.certify.validated import enclose
from odesys.errors import EquationError, IntegrationError
from odesys.exact.balls import as_ball, ball_around, ball_context, ball_evaluate, series_program
from odesys.exact.zero import zero_test
from odesys.expr import blocks, graph
from odesys.expr.functions import FUNCTIONS, Function, _series_step, unknown
from odesys.expr.sympy_bridge import from_sympy, to_sympy
from odesys.expr.system import System
from odesys.expr.tape import ARRAYS, Tape
from odesys.jit.serialise import system_to_json, system_to_python
from odesys.tex.latex import system_latex, system_mathml, system_text
from tests.odesys.tex.test_latex import read_tex, read_text, values_of

SEED = 16
HALF, THIRD = Fraction(1, 2), Fraction(1, 3)
X, Y, A = graph.sym("x"), graph.sym("y"), graph.sym("a")
SMOOTH = [record for name, record in FUNCTIONS.items() if name != "step"]
LIMITED = [record for record in SMOOTH if any(map(math.isfinite, record.domain))]
OURS = {"sigmoid": lambda z: 1 / (1 + mpmath.exp(-z)), "softplus": lambda z: mpmath.log(1 + mpmath.exp(z))}
every = pytest.mark.parametrize("record", SMOOTH, ids=lambda record: record.name)


def reference(record: Function) -> Callable[[Any], Any]:
    """The function by mpmath, which knows SymPy's names."""
    return OURS.get(record.name) or getattr(mpmath, str(record.sympy))  # type: ignore[no-any-return]


def points(record: Function, count: int = 4) -> list[float]:
    """Random points of the domain, away from its ends."""
    rng = random.Random(f"{SEED} {record.name}")
    low = max(record.domain[0], -1.2)
    high = min(record.domain[1], low + 2.4)
    room = (high - low) / 10
    return [rng.uniform(low + room, high - room) for _ in range(count)]


def system_of(record: Function) -> System:
    return System.from_equations({"x": graph.call(record.name, X)})


def exported(system: System) -> Callable[[float], float]:
    namespace: dict[str, Any] = {}
    exec(system_to_python(system), namespace)
    return lambda x: namespace["field"](0.0, [x])[0]  # type: ignore[no-any-return]


def block_value(record: Function, x: float) -> float:
    block = blocks.apply(graph.call(record.name, blocks.Z), blocks.leaf("x", (2,)))
    return float(blocks.evaluate([block], {"x": np.array([x, x])}, {})[0][1])


BACK_ENDS: dict[str, Callable[[Function], Callable[[float], Any]]] = {
    "Python code": lambda f: lambda x: system_of(f).compile(backend="scalar")(0.0, [x])[0],
    "machine code": lambda f: lambda x: system_of(f).compile(backend="native")(0.0, [x])[0],
    "blocks": lambda f: lambda x: block_value(f, x),
    "arrays": lambda f: lambda x: Tape.of([graph.call(f.name, X)]).over(ARRAYS)({"x": np.array([x])})[0][0],
    "exported module": lambda f: exported(system_of(f)),
    "SymPy": lambda f: lambda x: to_sympy(graph.call(f.name, X)).subs({"x": x, sp.Symbol("x", real=True): x}).evalf(20),
    "JSON": lambda f: lambda x: System.from_json(system_to_json(system_of(f))).compile(backend="scalar")(0.0, [x])[0],
}


@pytest.mark.parametrize("back_end", BACK_ENDS)
@every
def test_the_value(record: Function, back_end: str) -> None:
    computed = BACK_ENDS[back_end](record)
    for x in points(record):
        assert float(computed(x)) == pytest.approx(float(reference(record)(x)), rel=1e-13, abs=1e-15), x


@pytest.mark.parametrize("back_end", ["scalar", "native"])
@every
def test_the_derivative(record: Function, back_end: str) -> None:
    compiled = system_of(record).compile(backend=back_end)
    for x in points(record):
        slope = float(mpmath.diff(reference(record), x))
        assert compiled.jacobian(0.0, [x])[0, 0] == pytest.approx(slope, rel=1e-12, abs=1e-14), x


@every
def test_a_ball_holds_the_values(record: Function) -> None:
    node = graph.call(record.name, X)
    with mpmath.workdps(60), flint.ctx.workprec(320):
        for x in points(record):
            truth = flint.arb(mpmath.nstr(reference(record)(mpmath.mpf(x)), 55))
            (sharp,) = ball_evaluate([node], {"x": flint.arb(x)}, 128)
            (wide,) = ball_evaluate([node], {"x": flint.arb(x, 0.01)}, 128)
            assert sharp.contains(truth) and sharp.rad() < 1e-30
            for nearby in (x - 0.0099, x + 0.0099):
                assert wide.contains(flint.arb(mpmath.nstr(reference(record)(mpmath.mpf(nearby)), 55)))


@every
def test_taylor_coefficients(record: Function) -> None:
    """Of the function along a curve, so that the recurrence sees more than one coefficient of its argument."""
    x, length = points(record, 1)[0], 8
    with mpmath.workdps(80):
        wanted = mpmath.taylor(lambda t: reference(record)(x + t / 3 - t * t / 5), 0, length - 1)
    with ball_context(128, length):
        curve = flint.arb_series([flint.arb(x), flint.arb(1) / 3, -flint.arb(1) / 5], prec=length)
        (series,) = series_program((graph.call(record.name, X),), 128)({"x": curve})
        for k, value in enumerate(wanted):
            assert abs(series[k] - flint.arb(mpmath.nstr(value, 35))) < 1e-25, k


@every
def test_a_validated_run_holds_the_solution(record: Function) -> None:
    system = System.from_equations({"x": graph.call(record.name, X) / 8})
    start = Fraction(points(record, 1)[0]).limit_denominator(50)
    ((low, high),) = enclose(system, {"x": start}, Fraction(1, 4), order=10, precision=96).final
    with mpmath.workdps(30):
        begin = mpmath.mpf(start.numerator) / start.denominator
        solution = mpmath.odefun(lambda t, x: reference(record)(x) / 8, 0, begin)
        end = Fraction(mpmath.nstr(solution(0.25), 25))
    assert low - Fraction(1, 10**20) < end < high + Fraction(1, 10**20) and high - low < Fraction(1, 10**8)


@every
def test_printed_formulas_read_back(record: Function) -> None:
    inside = Fraction(points(record, 1)[0]).limit_denominator(20)
    node = graph.call(record.name, inside + X * X / 20)
    system = System.from_equations({"x": -X * node, "y": (1 + X * X) ** (A * Y) * node}, ["a"])
    _, _, field = values_of(system)
    assert read_tex(system, system_latex(system)) == pytest.approx(field, rel=1e-13)
    assert read_text(system, system_text(system)) == pytest.approx(field, rel=1e-13)
    assert "tex-only" not in system_mathml(system) and (record.name == "exp" or record.tex in system_latex(system))


@every
def test_sympy_and_back(record: Function) -> None:
    node = graph.call(record.name, 2 * X * Y)
    back = from_sympy(to_sympy(node))
    assert zero_test(back - node).answer == "zero"
    assert back is node or not isinstance(record.sympy, str)


@every
def test_the_zero_test_knows_it(record: Function) -> None:
    f, one = record.name, graph.ONE
    assert zero_test(graph.call(f, (X + 1) * (X + 1) / 9) - graph.call(f, (X * X + 2 * X + one) / 9)).answer == "zero"
    assert zero_test(graph.call(f, X) - 2 * graph.call(f, X * X)).answer != "zero"
    assert (zero_test(graph.call(f, X - Y) + graph.call(f, Y - X)).answer == "zero") == record.odd


@every
def test_what_proofs_use_is_true(record: Function) -> None:
    """A rewriting gives the same values, and a function is called odd if and only if it is."""
    inside = [x for x in points(record) if record.domain[0] < -x < record.domain[1]]
    odd = bool(inside) and all(abs(reference(record)(-x) + reference(record)(x)) < 1e-12 for x in inside)
    assert record.odd == odd
    if record.through is not None:
        run = Tape.of([record.through(X, graph.call), record.through(-X, graph.call)]).over(ARRAYS)
        for x in inside:
            values = [float(reference(record)(v)) for v in (x, -x)]
            assert run({"x": x}) == pytest.approx(values, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("record", LIMITED, ids=lambda record: record.name)
def test_outside_the_domain_is_not_a_number(record: Function) -> None:
    low, high = record.domain
    node = graph.call(record.name, X)
    for outside in [low - 0.5] * math.isfinite(low) + [high + 0.5] * math.isfinite(high):
        with np.errstate(all="ignore"):
            for back_end in ("Python code", "machine code", "blocks", "arrays"):
                assert math.isnan(BACK_ENDS[back_end](record)(outside)), back_end
        assert not ball_evaluate([node], {"x": flint.arb(outside, 0.6)}, 64)[0].is_finite()
        with ball_context(64, 3):
            (series,) = series_program((node,), 64)({"x": flint.arb_series([flint.arb(outside, 0.6), 1], prec=2)})
            assert not series[1].is_finite()


def test_the_ends_of_floats_and_domains_are_those_of_machine_code() -> None:
    cases = {"exp": [800.0, -800.0], "sinh": [800.0, -800.0], "cosh": [-800.0], "log": [0.0], "arctanh": [1.0, -1.0]}
    for name, values in cases.items():
        for x in values:
            system = system_of(FUNCTIONS[name])
            plain, machine = (system.compile(backend=b)(0.0, [x])[0] for b in ("scalar", "native"))
            assert plain == machine, (name, x)


def test_an_exported_exponential_ends_where_floats_do() -> None:
    run = exported(system_of(FUNCTIONS["exp"]))
    assert run(709.78) == math.exp(709.78) and run(709.79) == math.inf and math.isnan(run(math.nan))


@pytest.mark.parametrize("name", ["sigmoid", "tanh", "arctan", "softplus"])
def test_a_box_too_wide_for_a_function_is_refused_by_a_validated_run(name: str) -> None:
    """Where a denominator may vanish for all a ball knows, its series is not a number, of full length."""
    node = graph.call(name, X)
    with pytest.raises(IntegrationError, match="can be validated"):
        enclose(System.from_equations({"x": node}), {"x": ball_around(-60, 60)}, Fraction(1, 4), order=6, precision=64)
    for wide in (ball_around(-60, 60), flint.arb.nan()):
        with ball_context(64, 4):
            (series,) = series_program((node,), 64)({"x": flint.arb_series([wide, 1], prec=4)})
            assert not any(series[k].is_finite() for k in range(1, 4))
            assert series.prec == 4


def test_the_gate_of_a_ball_across_zero_may_be_open_or_closed() -> None:
    for low, high, values in ((1, 2, (1, 1)), (-2, -1, (0, 0)), (-1, 1, (0, 1))):
        (gate,) = ball_evaluate([graph.step(X)], {"x": ball_around(low, high)}, 64)
        assert gate.contains(flint.arb(values[0])) and gate.contains(flint.arb(values[1]))
        assert gate.is_exact() == (values[0] == values[1]) and abs(gate) < 1.001
    (unknown_side,) = ball_evaluate([graph.step(X)], {"x": flint.arb.nan()}, 64)
    assert not unknown_side.is_finite()


# ---- powers --------------------------------------------------------------------------------------------------------


def test_a_power_with_a_symbolic_exponent_works_everywhere() -> None:
    x, a = sp.Symbol("x", real=True), sp.Symbol("a", real=True)
    system = System.from_equations({x: x**a + 2**x - x ** (-2 * a)}, parameters=[a])
    assert system.nodes == (X**A + 2**X - X ** (-2 * A),)
    assert sp.expand(system.rhs[0] - (x**a + 2**x - x ** (-2 * a))) == 0
    wanted = 1.3**0.7 + 2**1.3 - 1.3**-1.4
    for back_end in ("scalar", "native"):
        compiled = system.compile(a=0.7, backend=back_end)
        assert compiled(0.0, [1.3])[0] == pytest.approx(wanted, rel=1e-14)
        slope = float(mpmath.diff(lambda v: v**0.7 + 2**v - v**-1.4, 1.3))
        assert compiled.jacobian(0.0, [1.3])[0, 0] == pytest.approx(slope, rel=1e-12)
    assert "x^{a}" in system.latex() and "x^{-2a}" in system.latex() and "2^{x}" in system.latex()
    (ball,) = ball_evaluate(list(system.nodes), {"x": as_ball(Fraction(13, 10)), "a": as_ball(Fraction(7, 10))}, 64)
    assert float(ball) == pytest.approx(wanted, rel=1e-14) and ball.rad() < 1e-14
    assert System.from_json(system_to_json(system)).nodes == system.nodes
    assert zero_test(X**A * X**A - X ** (2 * A)).answer == "zero"
    assert graph.call("cbrt", X) is X ** Fraction(1, 3) and X ** graph.num(2) is X * X


def test_a_whole_exponent_may_be_written_as_a_float() -> None:
    x = sp.Symbol("x", real=True)
    system = System.from_equations({x: x**2.0 - x**-1.0})
    assert system.nodes == (X**2 - X**-1,) and from_sympy(x**1.5) is not X ** Fraction(3, 2)
    for back_end in ("scalar", "native"):
        assert system.compile(backend=back_end)(0.0, [-4.0])[0] == 16.25


def test_fractional_powers_outside_their_domain_are_not_a_number() -> None:
    for exponent, at_zero in ((HALF, 0.0), (-HALF, math.inf), (THIRD, 0.0), (-THIRD, math.inf), (1 + THIRD, 0.0)):
        system = System.from_equations({"x": X**exponent})
        for back_end in ("scalar", "native"):
            compiled = system.compile(backend=back_end)
            assert math.isnan(compiled(0.0, [-8.0])[0]), (exponent, back_end)
            assert compiled(0.0, [8.0])[0] == pytest.approx(8.0 ** float(exponent), rel=1e-14)
            assert compiled(0.0, [0.0])[0] == at_zero
        assert exported(system)(8.0) == pytest.approx(8.0 ** float(exponent), rel=1e-14)
        with pytest.raises(ValueError, match="math domain error"):
            exported(system)(-8.0)
        assert not ball_evaluate([X**exponent], {"x": flint.arb(-8)}, 64)[0].is_finite()


# ---- what is not in the table --------------------------------------------------------------------------------------


def test_a_function_outside_the_table_is_refused_with_one_sentence_everywhere() -> None:
    sentence = str(unknown("besselj"))
    assert sentence.count(".") == 0 and all(name in sentence for name in FUNCTIONS)
    row = system_to_json(System.from_equations({"x": graph.call("sin", X)})).replace('"sin"', '"besselj"')
    for ask in (
        lambda: System.from_equations({"x": sp.besselj(0, sp.Symbol("x"))}),
        lambda: from_sympy(sp.besselj(1, sp.Symbol("x"))),
        lambda: graph.call("besselj", X),
        lambda: System.from_json(row),
    ):
        with pytest.raises(EquationError) as caught:
            ask()
        assert str(caught.value) == sentence


def test_a_gate_counts_as_constant_away_from_its_surface_only() -> None:
    for surface, gate in ((flint.arb(2), 1), (flint.arb(-2), 0), (flint.arb(1, 0.5), 1), (flint.arb(-1, 0.5), 0)):
        assert _series_step(surface) == gate
        assert _series_step(flint.arb_series([surface, flint.arb(3)], prec=2)) == gate
    for surface in (flint.arb(0), flint.arb(0, 1), flint.arb(-1, 1), flint.arb(1, 1)):
        with pytest.raises(IntegrationError, match="a gate is undecided"):
            _series_step(surface)
