"""Supplied quantities: conserved ones are proved, others have a point where they change."""

from __future__ import annotations

import pytest
import sympy as sp

from odesys.analysis.conserved import check_integral, lie_derivative
from odesys.errors import EquationError
from odesys.expr import graph
from odesys.expr.system import System

x, y, t = sp.symbols("x y t")


def test_supplied_integrals_with_angles_and_time() -> None:
    pendulum = System.from_equations({x: y, y: -sp.sin(x)})
    assert check_integral(pendulum, y**2 / 2 - sp.cos(x)).answer == "zero"
    assert check_integral(pendulum, y**2 / 2 + sp.cos(x)).answer == "nonzero"
    growth = System.from_equations({x: x})
    assert check_integral(growth, x * sp.exp(-t)).answer == "zero"
    assert check_integral(growth, x * sp.exp(t)).answer == "nonzero"


def test_a_quantity_that_jumps_is_not_conserved() -> None:
    assert check_integral(System.from_equations({x: 1}), sp.sign(x)).answer == "nonzero"
    assert check_integral(System.from_equations({x: x}), sp.sign(x)).answer == "zero"  # it never crosses
    bouncing = System.from_equations({x: y, y: -sp.sign(x)})
    assert check_integral(bouncing, y**2 / 2 + sp.Abs(x)).answer == "zero"  # a kink, no jump
    assert check_integral(bouncing, y**2 / 2 + sp.Abs(x) + sp.sign(x)).answer == "nonzero"
    assert check_integral(bouncing, y**2 / 2 + sp.Abs(x) + sp.sign(x**2 + y**2 - 1)).answer == "undecided"


def test_the_change_of_a_quantity() -> None:
    turn = System.from_equations({x: y, y: -x})
    assert lie_derivative(turn, x) is graph.as_node(y) and lie_derivative(turn, x**2 + y**2) is graph.ZERO
    with pytest.raises(EquationError, match="neither a state nor a parameter"):
        lie_derivative(turn, sp.Symbol("u"))


def test_a_quantity_may_be_text() -> None:
    turn = System.from_strings({"x": "y", "y": "-x"})
    assert check_integral(turn, "x^2 + y^2").answer == "zero" and check_integral(turn, "x").answer == "nonzero"
    assert check_integral(System.from_strings({"x": "1"}), "sign(x)").answer == "nonzero"


@pytest.mark.parametrize(
    ("equations", "quantity", "answer"),
    [
        ("x' = 1", "sign(x)", "nonzero"),
        ("x' = x", "sign(x)", "zero"),
        ("x' = 1; y' = 0", "step(y)", "zero"),
        ("x' = 1; y' = 0", "step(x + y)", "nonzero"),
        ("x' = 1; y' = -1", "step(x + y)", "zero"),
        ("x' = 1; y' = -1", "step(2*x - y/3 - 1)", "nonzero"),
        ("x' = 1; y' = 0", "step(x^2 + y)", "nonzero"),
        ("x' = 1; y' = 0", "step(x^2 - 1)", "undecided"),
        ("x' = 1", "x*step(x)", "nonzero"),
        ("x' = 0", "step(x)", "zero"),
        ("x' = y; y' = -sign(x)", "y^2/2 + abs(x)", "zero"),
        ("x' = y; y' = -sign(x)", "y^2/2 + abs(x) + 3*step(x)", "nonzero"),
        ("x' = -sign(x)", "sign(x)", "undecided"),
        ("x' = 1; y' = 1", "step(x)*(x - y) - step(x)*(x - y)", "zero"),
        ("x' = 1; y' = 1", "step(x - y)*(x - y)", "zero"),
        ("x' = 1; y' = 1", "step(x)*(x - y)", "nonzero"),
    ],
)
def test_a_jump_is_looked_at_where_the_flow_crosses_its_surface(equations: str, quantity: str, answer: str) -> None:
    """Also where the surface does not contain the first state: one over its slope there was taken, which is zero."""
    result = check_integral(System.from_strings(equations), quantity)
    assert result.answer == answer
    if answer == "nonzero" and result.method.startswith("it jumps"):
        assert result.witness is not None and result.method == "it jumps where the flow crosses a surface"


def test_what_is_not_decided_about_a_jump_is_said() -> None:
    curved = check_integral(System.from_strings("x' = 1; y' = 0"), "step(x^2 - 1)")
    assert curved.method == "a jump at a curved switching surface is not decided" and curved.residual is graph.ONE
    sliding = check_integral(System.from_strings("x' = -sign(x)"), "sign(x)")
    assert sliding.method == "whether the flow crosses a surface where it jumps is not decided"


def test_a_flow_changes_by_its_slope_and_a_map_by_its_step() -> None:
    moving = System.from_strings({"x": "x/2", "y": "k"})
    symbols = {name: graph.sym(name) for name in "xytk"}
    changed = lie_derivative(moving, "x*t + y^2*k + t^2")
    wanted = symbols["x"] + symbols["t"] * symbols["x"] / 2 + 2 * symbols["k"] ** 2 * symbols["y"] + 2 * symbols["t"]
    assert changed is wanted and lie_derivative(moving, "t") is graph.ONE and lie_derivative(moving, "k") is graph.ZERO
    halved = System.from_strings({"x": "x/2", "y": "y + x"}, kind="map")
    assert lie_derivative(halved, "x^2") is -3 * symbols["x"] ** 2 / 4
    assert lie_derivative(halved, "y + 2*x") is graph.ZERO and check_integral(halved, "y + 2*x").answer == "zero"
    with pytest.raises(EquationError, match="a map has no time t; write the conserved quantity in the states"):
        lie_derivative(halved, "x*t")
    with pytest.raises(EquationError, match=r"^the quantity uses a, which is neither a state nor a parameter"):
        lie_derivative(moving, "b*a")


def test_a_gate_of_a_map_is_no_jump_on_a_way() -> None:
    """A map moves in steps, so that its quantity with a gate is compared before and after one."""
    turn = System.from_strings({"x": "-x"}, kind="map")
    assert check_integral(turn, "step(x) + step(-x)").answer == "zero"
    assert check_integral(turn, "step(x)").answer == "nonzero"


def test_a_name_of_the_system_is_itself_also_where_the_grammar_reads_something_else() -> None:
    named = System.from_strings({"x": "lambda_*x"}, ["lambda_"])
    assert lie_derivative(named, "lambda_") is graph.ZERO and lie_derivative(named, "x") is named.nodes[0]
