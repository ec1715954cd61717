"""A system pairs every state with its right-hand side."""

import sympy as sp

from odesys import System

X, Y = sp.symbols("x y")


def test_equations_pair_names_and_right_hand_sides() -> None:
    system = System.from_equations({Y: X, X: -Y})
    assert tuple(system.equations) == system.names == ("y", "x")
    assert tuple(system.equations.values()) == system.nodes
    again = System.from_equations(system.equations)
    assert again.equations == system.equations
