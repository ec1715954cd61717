"""A system pairs every state with its right-hand side."""

import pytest
import sympy as sp

from odesys import EquationError, System, stated, sym

X, Y = sp.symbols("x y")


def test_equations_pair_names_and_right_hand_sides() -> None:
    system = System.from_equations({Y: X, X: -Y})
    assert tuple(system.equations) == system.names == ("y", "x")
    assert tuple(system.equations.values()) == system.nodes
    again = System.from_equations(system.equations)
    assert again.equations == system.equations


def test_time_is_no_state() -> None:
    with pytest.raises(EquationError, match="t is time"):
        System.from_strings("t' = 1")
    with pytest.raises(EquationError, match="t is time"):
        System.from_equations({"x": sym("x")}, parameters=["t"])
    with pytest.raises(EquationError, match="Latin or Greek"):
        System.from_strings("人口' = -人口")


def test_states_that_never_move_become_parameters() -> None:
    frozen = System.from_strings("x' = -k*w*x, w' = 0, y' = x").freeze_still()
    assert frozen.names == ("x", "y") and frozen.parameters == ("k", "w")
    assert frozen.equations == {"x": -sym("k") * sym("w") * sym("x"), "y": sym("x")}


def test_rates_and_next_values_are_called_so_in_what_is_recorded() -> None:
    for kind, node, title in (("flow", 2 * sym("x"), "rate_of_x"), ("map", 3 * sym("x"), "next_x")):
        with stated.recorded():
            assert System.from_equations({"x": node}, kind=kind).equations["x"] is node
            assert stated.titles[node] == title
