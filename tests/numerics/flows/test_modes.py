"""Modes: gates that agree with the rates they produce, by exchange, in a smoothing layer, and exactly."""

import numpy as np
import pytest
import sympy as sp

from numerics.flows.modes import is_mode, layer, modes, settle, sliding_gates
from numerics.flows.patterns import PatternTable
from odesys.analysis.switching import Switching, sliding_system
from odesys.expr.graph import as_node
from odesys.expr.system import System
from tests.known_systems import corner

gate = sp.Heaviside
CORNER = corner()


@pytest.mark.parametrize("seed", range(6))
def test_the_mode_found_is_the_one_a_smoothing_layer_comes_to_rest_in(seed: int) -> None:
    rng = np.random.default_rng(seed)
    states = sp.symbols("x0:5", real=True)
    root = rng.integers(-3, 4, (5, 5))
    matrix = root @ root.T + np.eye(5, dtype=int)  # minus a positive definite matrix acts on the gates: one mode
    push = rng.integers(-9, 10, 5)
    equations = {
        s: int(c) - sum(int(m) * gate(u) for m, u in zip(row, states, strict=True))
        for s, c, row in zip(states, push, matrix, strict=True)
    }
    system = System.from_equations(equations)
    order = [system.surfaces.index(node) for node in map(as_node, states)]
    table = PatternTable(Switching(system.compile()), 0.0, np.zeros(5), np.zeros(5), np.array(order))
    found = settle(table, np.zeros(5), np.zeros(5, dtype=bool))
    assert found is not None and is_mode(table, found)
    rest = layer(table, rng.random(5))
    assert rest == pytest.approx(found.g, abs=1e-6)
    assert all(np.allclose(other.g, found.g, atol=1e-9) for other in modes(table, np.zeros(5), np.zeros(5, dtype=bool)))


def test_sliding_gates_agree_with_the_exact_sliding_field() -> None:
    exact = sliding_system(CORNER, [0, 1]).compile()
    table = PatternTable(Switching(CORNER.compile()), 0.7, np.zeros(3), np.zeros(2), np.arange(2))
    found = sliding_gates(table, np.full(2, 0.5), np.ones(2, dtype=bool))
    assert list(exact.observables(0.7, np.zeros(3)).values()) == pytest.approx(found.g.tolist(), abs=1e-14)
    assert exact(0.7, np.zeros(3)) == pytest.approx(table.velocity(found.g), abs=1e-14)
