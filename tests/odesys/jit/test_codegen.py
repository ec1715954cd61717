"""Straight-line code: the value of the expression, literals that read back, gates held or followed."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, Value, gradient_flow
from odesys.errors import ParameterError
from odesys.expr import graph
from odesys.expr.functions import FUNCTIONS
from odesys.expr.graph import Node
from odesys.expr.system import System
from odesys.jit.codegen import (
    Compiled,
    compile_system,
    float_literal,
    generate,
    node_function,
    slopes_code,
    straight_line,
)
from tests.known_systems import bouncing, logistic, oscillator
from tests.random_nodes import X, Y, expressions, value

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
