"""Straight-line code: the value of the expression, literals that read back, gates held or followed."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, Value, gradient_flow
from odesys.errors import ParameterError
from odesys.expr import graph
from odesys.expr.functions import FUNCTIONS
from odesys.expr.graph import Node
from odesys.expr.system import System
from odesys.jit import codegen, llvm
from odesys.jit.codegen import (
    Compiled,
    bind_parameters,
    compile_system,
    float_literal,
    generate,
    node_function,
    shared_code,
    slopes_code,
    straight_line,
)
from tests.known_systems import bouncing, logistic, oscillator
from tests.odesys.jit.test_shared_factors import products_that_share
from tests.random_nodes import X, Y, expressions, value

Z = graph.sym("z")
PLANE = System.from_equations({"x": X, "y": Y})


@settings(deadline=None, max_examples=60, derandomize=True)
@given(expressions())
def test_the_code_of_an_expression_has_its_value(node: Node) -> None:
    run = node_function(PLANE, [node], {})
    for x, y in ((0.37, -1.21), (-0.64, 0.83)):
        assert run(0.0, np.array([x, y]))[0] == pytest.approx(value(node, x, y), rel=1e-9, abs=1e-12)


@settings(deadline=None, derandomize=True)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_literals_read_back_to_the_last_bit(number: float) -> None:
    text = float_literal(number)
    assert float(text.strip("()")) == number


def test_what_is_used_twice_is_computed_once() -> None:
    inner = graph.call("sin", X + Y)
    lines = straight_line([inner + inner**2, inner * 3], {"x": "x", "y": "y"}, ["a", "b"], float_literal, {})
    assert sum(line.count("sin(") for line in lines) == 1


def test_gates_are_held_where_they_are_given() -> None:
    system = bouncing()
    code = {gated: generate(system, system.nodes, ["out[0]", "out[1]"], gated).function for gated in (False, True)}
    for x, gate, push in ((1.0, 0.0, 1.0), (1.0, 1.0, -1.0), (-1.0, 0.5, 0.0)):
        out = [0.0, 0.0]
        code[True](0.0, [x, 0.0], [], [gate], out)
        assert out[1] == push
        code[False](0.0, [x, 0.0], [], [], out)
        assert out[1] == -math.copysign(1.0, x)


@pytest.mark.parametrize("make", [oscillator, bouncing])
def test_jacobians_are_difference_quotients(make: Callable[[], System]) -> None:
    system = make()
    compiled, x, h = system.compile(), 0.3 + np.arange(system.dimension), 1e-6
    found = compiled.jacobian(0.0, x)
    for j in range(system.dimension):
        step = h * np.eye(system.dimension)[j]
        difference = (compiled(0.0, x + step) - compiled(0.0, x - step)) / (2 * h)
        np.testing.assert_allclose(found[:, j], difference, atol=1e-9)


def test_exponentials_do_not_overflow_into_an_error() -> None:
    assert FUNCTIONS["exp"].floats(1e4) == math.inf and FUNCTIONS["sigmoid"].floats(-1e4) == 0.0
    assert FUNCTIONS["softplus"].floats(1e4) == 1e4 and FUNCTIONS["step"].floats(0.0) == 0.0


@pytest.mark.parametrize("point", [0.0, -0.0, 1e200, -1e200, 800.0, math.inf, math.nan])
def test_python_code_has_the_infinities_of_machine_code_value_by_value(point: float) -> None:
    nodes = [1 / X, X**3, X**-9, X**11, 1 / (graph.exp(X) - 1), graph.sqrt(X) ** -1, graph.call("log", X) / X, Y / X]
    names = [f"s{k}" for k in range(len(nodes) - 2)]
    system = System.from_equations({"x": nodes[0], "y": nodes[1]} | dict(zip(names, nodes[2:], strict=True)))
    start = [point, 2.0] + [0.0] * len(names)
    plain, machine = (system.compile(backend=name) for name in ("scalar", "native"))
    np.testing.assert_allclose(plain(0.0, start), machine(0.0, start), rtol=1e-14)
    np.testing.assert_allclose(plain.jacobian(0.0, start), machine.jacobian(0.0, start), rtol=1e-14)


def test_parameters_are_bound_by_name() -> None:
    assert logistic().compile({"r": 2.0})(0.0, np.array([0.25]))[0] == pytest.approx(2.0 * 0.25 * 0.75)


def same_surfaces(here: Compiled, there: Compiled, states: np.ndarray) -> np.ndarray:
    """Where each surface of the second stands in the first: both have their order, and positive factors."""
    one, other = (np.array([each.surfaces(0.0, x) for x in states]) for each in (here, there))
    found = []
    for column in other.T:
        ratios = one / column[:, None]
        same = np.flatnonzero((ratios[0] > 0) & (np.ptp(ratios, axis=0) < 1e-9 * abs(ratios[0])))
        assert len(same) == 1
        found.append(same[0])
    assert sorted(found) == list(range(here.surface_count))
    return np.array(found, dtype=int)


@pytest.mark.parametrize("activation", ["relu", "linear"])
def test_the_back_ends_agree_in_everything_they_say(activation: str) -> None:
    """Of a system with gates and of one without: field, gates held, surfaces, their slopes, Jacobian, observables."""
    words = Dictionary(["a", "b"])
    model = AttentionModel(words, [Head(1, activation, Fraction(1, 2)), Head(-1, activation, 0)], Value(("w",)))
    data = Distribution([Sample(["a", "b"], 1, Fraction(1, 2)), Sample(["b", "b"], -1, Fraction(1, 2))])
    system = gradient_flow(model, data, train=("w", "W_K", "W_Q"), loss="logistic").system
    block, scalar = (compile_system(system, {}, backend) for backend in ("block", "scalar"))
    rng = np.random.default_rng(5)
    x, along = rng.normal(size=(2, system.dimension))
    assert block.surface_count == scalar.surface_count == len(system.surfaces) == (4 if activation == "relu" else 0)
    place = same_surfaces(block, scalar, rng.normal(size=(5, system.dimension)))
    gates = rng.random(block.surface_count)
    held = gates[place]
    np.testing.assert_allclose(block(0.0, x), scalar(0.0, x), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(block.field(0.0, x, gates), scalar.field(0.0, x, held), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(block.jacobian(0.0, x), scalar.jacobian(0.0, x), rtol=1e-10, atol=1e-12)
    gates = np.round(gates)  # between 0 and 1 the square of a gate is not the gate
    slopes = block.jacobian(0.0, x, gates), scalar.jacobian(0.0, x, gates[place])
    np.testing.assert_allclose(*slopes, rtol=1e-10, atol=1e-12)
    assert block.observables(0.0, x) == pytest.approx(scalar.observables(0.0, x))
    if len(gates):
        step = 1e-6
        ends = [block.surfaces(0.0, x + sign * step * along) for sign in (1, -1)]
        np.testing.assert_allclose(
            block.surface_slopes(x, along), (ends[0] - ends[1]) / (2 * step), rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("backend", ["scalar", "native"])
def test_a_jacobian_is_that_of_gates_at_their_ends(backend: str) -> None:
    """The slope of (g u + 1) g u has g^2, which is g at the ends only."""
    system = System.from_strings({"x": "(relu(x - y) + 1) * relu(x - y) * y", "y": "-y"})
    compiled = compile_system(system, {}, backend)
    at = [0.7, 0.3]
    for held in ([0.0], [1.0]):
        field = lambda z, held=held: compiled.field(0.0, z, held)  # noqa: E731
        slope = (field([at[0] + 1e-6, at[1]]) - field([at[0] - 1e-6, at[1]])) / 2e-6
        np.testing.assert_allclose(compiled.jacobian(0.0, at, held)[:, 0], slope, atol=1e-9)
    with pytest.raises(ParameterError, match=r"a gate is 0\.5; the Jacobian is that of gates at 0 or 1"):
        compiled.jacobian(0.0, at, [0.5])


def test_slopes_are_the_jacobian_row_by_row_and_then_the_change_in_time() -> None:
    x, y, t = graph.sym("x"), graph.sym("y"), graph.sym("t")
    system = System.from_equations({"x": x * y + t**2, "y": graph.call("sin", t) * x + y**3})
    out = [0.0] * 6
    slopes_code(system, False).function(0.7, [0.3, -0.4], [], [], out)
    assert out == pytest.approx([-0.4, 0.3, math.sin(0.7), 3 * 0.16, 1.4, 0.3 * math.cos(0.7)])


def straight(*roots: Node) -> str:
    """The lines of code for a few expressions in x, y, z."""
    return "; ".join(straight_line(roots, {name: name for name in "xyz"}, "abcdefg"[: len(roots)], float_literal, {}))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("gated", [False, True])
def test_products_that_share_factors_have_their_values(seed: int, gated: bool) -> None:
    roots = products_that_share(random.Random(seed))
    names = [f"out[{k}]" for k in range(len(roots))]
    code, out = generate(PLANE, roots, names, gated), [0.0] * len(roots)
    for x, y in ((0.83, 1.3), (1.64, 2.2)):
        code.function(0.0, [x, y], [], [], out)
        wanted = list(map(float, graph.evaluate(roots, {"x": x, "y": y}, graph.FLOAT_FUNCTIONS, float, pow)))
        assert out == pytest.approx(wanted, rel=1e-10)


@pytest.mark.parametrize(
    ("roots", "text"),
    [
        ((X**2, 1 / X, X**3, X**-2), "a = ((x*x)); b = ((1/x)); c = (x**(3)); d = (x**(-2))"),
        ((graph.sqrt(X), graph.sqrt(X) ** -1), "a = (sqrt(x)); b = ((1/sqrt(x)))"),
        ((graph.power(X, Fraction(-3, 2)),), "a = (pow(x, (-1.5)))"),
        ((graph.exp(-X),), "a = (exp((-1.0)*x))"),
        ((X - Y, -X - Y, X / 2 - 3 * Y + 1), "a = (x - y); b = (-x - y); c = (1.0 + 0.5*x + (-3.0)*y)"),
        ((X, X, graph.num(3)), "a = x; b = x; c = 3.0"),
        ((X * Y * Z,), "a = (z*x*y)"),
        ((X * Y, X * Y * Z), "v0 = x*y; a = (v0); b = (v0*z)"),
        (((X + Y) ** 2 * Z,), "a = (z*((x + y)*(x + y)))"),
        (((X + Y) ** 2 * Z, (X + Y) ** 2 * Y), "v0 = x + y; v1 = (v0*v0); a = (z*v1); b = (y*v1)"),
        ((graph.call("sin", X) + graph.call("cos", graph.call("sin", X)),), "v0 = sin(x); a = ((cos(v0)) + v0)"),
        ((), ""),
    ],
)
def test_only_what_is_read_again_has_a_name(roots: tuple[Node, ...], text: str) -> None:
    wanted = [part for part in text.split("; ") if part]
    found = [part for part in straight(*roots).split("; ") if part]
    # the order of terms and factors is that of the graph, which is another one in another process
    assert sorted(map(sorted, found)) == sorted(map(sorted, wanted))


def test_a_long_expression_has_a_line_of_its_own() -> None:
    waves = [graph.call("sin", k * X) for k in range(2, 40)]
    assert straight(graph.add(waves) * Y).startswith("v0 = ")
    assert straight(graph.add(waves[:4]) * Y).startswith("a = ")


def test_negative_constants_are_in_brackets() -> None:
    assert [float_literal(v) for v in (-0.5, 0, Fraction(1, 4), -3)] == ["(-0.5)", "0.0", "0.25", "(-3.0)"]


def test_gates_of_both_sides_of_a_surface_are_given_by_one_number() -> None:
    above, below = graph.step(X - Y), graph.step(Y - X)
    system = System.from_equations({"x": above * X + 2 * below * Y, "y": graph.ZERO})
    (surface,), out = system.surfaces, [0.0, 0.0]
    code = generate(system, system.nodes, ["out[0]", "out[1]"], True)
    for gate in (0.0, 0.25, 1.0):
        code.function(0.0, [3.0, 7.0], [], [gate], out)
        share = gate if graph.step(surface) is above else 1.0 - gate
        assert out == pytest.approx([3.0 * share + 14.0 * (1.0 - share), 0.0])


def test_code_is_written_once_for_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a system, under a name, with gates held or not, in Python or for the machine; for another one anew."""
    written: list[tuple[str, bool]] = []
    monkeypatch.setattr(
        codegen, "generate", lambda system, roots, targets, gated: written.append((*targets, gated)) or len(written)
    )
    monkeypatch.setattr(codegen, "generate_native", lambda *given: written.append((given[2], given[3])) or len(written))
    for times in (1, 2):
        system = logistic()
        asked = [(what, gated, machine) for what in ("one", "two") for gated in (0, 1) for machine in (False, True)]
        for _ in range(2):
            found = [shared_code(system, what, system.nodes, bool(g), machine) for what, g, machine in asked]
            assert found == list(range(8 * times - 7, 8 * times + 1))
    assert written[:4] == [("out[0]", False), (range(1), False), ("out[0]", True), (range(1), True)]


def test_code_is_for_the_machine_unless_python_is_asked_for() -> None:
    system = logistic()
    assert isinstance(shared_code(system, "field", system.nodes).function, llvm.Address)
    assert callable(shared_code(system, "field", system.nodes, machine=False).function)


def test_a_function_of_nodes_has_gates_that_follow_or_are_given() -> None:
    system = System.from_equations({"x": graph.step(X) * Y, "y": graph.sym("k") * X}, ["k"])
    run = node_function(system, [graph.step(X) * Y + graph.sym("t"), graph.sym("k") * X], {"k": 3.0})
    assert run(0.5, np.array([2.0, 7.0])).tolist() == [7.5, 6.0]
    assert run(0.5, [-2.0, 7.0]).tolist() == [0.5, -6.0]
    assert run(0.5, [-2.0, 7.0], [1.0]).tolist() == [7.5, -6.0] == run(0.5, [-2, 7], np.array([1])).tolist()
    assert run(0.5, [2.0, 7.0], [0.0]).tolist() == [0.5, 6.0]


KINKED = System.from_equations(
    {"x": graph.sym("k") * graph.step(X - Y) * X, "y": X * Y - graph.exp(Y) / 3 + graph.sym("t")},
    ["k"],
    observables={"sum": X + Y, "rate": graph.sym("k") * graph.sym("t"), "three": graph.num(3)},
)


@pytest.mark.parametrize("backend", ["scalar", "native"])
def test_a_compiled_system_says_what_it_is_and_refuses_other_sizes(backend: str) -> None:
    compiled = KINKED.compile(k=2.0, backend=backend)
    assert (compiled.backend, compiled.surface_count, compiled.parameter_values) == (backend, 1, {"k": 2.0})
    assert ("def function" in compiled.source) is (backend == "scalar")
    assert compiled(0.5, [2.0, 1.0]) == pytest.approx([4.0, 2.5 - math.e / 3])
    assert compiled(0.5, [1.0, 2.0])[0] == 0.0 and compiled.field(0.5, [1.0, 2.0], [1.0])[0] == 2.0
    assert abs(compiled.surfaces(0.0, [3.0, 1.0])[0]) == 2.0
    for x, gates in (
        ([3.0, 1.0], None),
        ([1.0, 3.0], None),
        ([1.0, 1.0], None),
        ([1.0, 3.0], [1.0]),
        ([3.0, 1.0], [0.0]),
    ):
        gate = float(x[0] > x[1]) if gates is None else gates[0]
        wanted = [[2.0 * gate, 0.0], [x[1], x[0] - math.exp(x[1]) / 3]]
        np.testing.assert_allclose(compiled.jacobian(0.0, x, gates), wanted, rtol=1e-14)
    assert compiled.observables(0.5, [2.0, 1.0]) == {"sum": 3.0, "rate": 1.0, "three": 3.0}
    for wrong, size in (([1.0], "1"), ([1.0, 2.0, 3.0], "3"), (np.ones((2, 1)), "2 x 1"), (5.0, "no")):
        for call in (compiled, compiled.surfaces, compiled.observables, compiled.jacobian):
            with pytest.raises(ParameterError, match=f"the state has {size} entries but the system has 2 states"):
                call(0.0, wrong)
    for gates, size in (([], "0"), ([1.0, 1.0], "2")):
        for call in (compiled.field, compiled.jacobian):
            with pytest.raises(ParameterError, match=f"there are {size} gates but the system has 1 surfaces"):
                call(0.0, [1.0, 2.0], gates)


@pytest.mark.parametrize("backend", ["scalar", "native"])
def test_observables_at_many_points_are_those_at_each(backend: str) -> None:
    compiled, rng = KINKED.compile(k=2.0, backend=backend), np.random.default_rng(1)
    times, states = rng.normal(size=5), rng.normal(size=(5, 2))
    found = compiled.observed(times, states)
    rows = [compiled.observables(t, x) for t, x in zip(times, states, strict=True)]
    assert list(found) == ["sum", "rate", "three"] and all(values.shape == (5,) for values in found.values())
    for name, values in found.items():
        np.testing.assert_allclose(values, [row[name] for row in rows], rtol=1e-15)


def test_operations_are_those_of_the_text() -> None:
    """A sum and two products, an exponential; a root, a difference and a quotient; r x (1 - x)."""
    assert System.from_strings({"x": "y + 2*x", "y": "-exp(x)*y"}).compile().operations == 4
    assert System.from_strings({"x": "y", "y": "sqrt(x) - 1/y"}).compile().operations == 3
    assert logistic().compile(r=1.0).operations == 3


def test_parameters_are_numbers_by_name_or_symbol() -> None:
    system = System.from_equations({"x": graph.sym("b") - graph.sym("a") * X}, ["b", "a"])
    for values in ({"a": 2, "b": 3.5}, {sp.Symbol("b"): "3.5", sp.Symbol("a"): Fraction(2)}):
        assert bind_parameters(system, values).tolist() == [3.5, 2.0]
        assert compile_system(system, values)(0.0, [1.0]).tolist() == [1.5]
    for wrong, words in (
        ([1.0, 2.0], "parameters are given by name"),
        ({"a": 1.0, "b": 2.0, "d": 1.0, "c": 2.0}, "c is not a parameter; the parameters are b, a"),
        ({"a": 1.0}, "the parameter b has no value"),
        ({"a": 1.0, "b": "two"}, "the parameter b = 'two' is not a number"),
        ({"a": 1.0, "b": 10**400}, "is not a number"),
        ({"a": math.inf, "b": 1.0}, "the parameter a = inf must be finite"),
        ({"a": math.nan, "b": 1.0}, "the parameter a = nan must be finite"),
    ):
        with pytest.raises(ParameterError, match=words):
            bind_parameters(system, wrong)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="k is not a parameter; the parameters are none"):
        bind_parameters(oscillator(), {"k": 1.0})


def small_network() -> System:
    words = Dictionary(["a", "b"])
    model = AttentionModel(words, [Head(1, "relu", Fraction(1, 2))], Value(("w",)))
    return gradient_flow(model, Distribution([Sample(["a", "b"], 1, 1)]), train=("w", "W_K"), loss="logistic").system


def test_blocks_are_for_large_systems_that_have_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else machine code is the choice, and Python where there is none; what can not be had is refused by a sentence."""
    system = small_network()
    for limit, backend in ((system.dimension, "native"), (system.dimension - 1, "block")):
        monkeypatch.setattr(codegen, "SCALAR_LIMIT", limit)
        assert compile_system(system, {}).backend == backend
        assert compile_system(oscillator(), {}).backend == "native"
    assert compile_system(system, {}, "scalar").backend == "scalar" and compile_system(system, {}, "native")._native
    with pytest.raises(ParameterError, match="no block form; use backend='scalar'"):
        compile_system(oscillator(), {}, "block")
    with pytest.raises(ParameterError, match="choose auto, scalar, native or block"):
        compile_system(system, {}, "quick")
    monkeypatch.setattr(llvm, "available", lambda: False)
    assert compile_system(oscillator(), {}).backend == "scalar" == compile_system(oscillator(), {}, "scalar").backend
    with pytest.raises(ParameterError, match="'native' needs llvmlite"):
        compile_system(oscillator(), {}, "native")


def test_blocks_have_observables_at_many_points_and_gates_of_their_own() -> None:
    system = small_network()
    block, scalar = (compile_system(system, {}, backend) for backend in ("block", "scalar"))
    rng = np.random.default_rng(2)
    states = rng.normal(size=(4, system.dimension))
    found, wanted = (each.observed(np.zeros(4), states) for each in (block, scalar))
    assert list(found) == list(wanted) and block.surface_count == block.surfaces(0.0, states[0]).size > 0
    for name in found:
        np.testing.assert_allclose(found[name], wanted[name], rtol=1e-11)
    smooth = AttentionModel(Dictionary(["a"]), [Head(1, "linear", 0)], Value(("w",)))
    flow = gradient_flow(smooth, Distribution([Sample(["a"], 1, 1)]), train=("w",)).system
    plain = compile_system(flow, {}, "block")
    x = rng.normal(size=flow.dimension)
    assert plain.surfaces(0.0, x).shape == (0,) and plain.surface_count == 0
    np.testing.assert_allclose(plain.jacobian(0.0, x), compile_system(flow, {}, "scalar").jacobian(0.0, x), atol=1e-14)
