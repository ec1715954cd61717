"""Modes: gates that agree with the rates they produce, by exchange, in a smoothing layer, and exactly."""

from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.flows.modes import Solution, _patterns, is_mode, layer, modes, settle, sliding_gates, undetermined
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


class Table:
    """Rates c + M g and the field D' g of gates that enter affinely."""

    affine, x = True, np.zeros(2)

    def __init__(self, matrix: Any, constant: Any, field: Any) -> None:
        self.m, self.c, self.d = (np.array(v, dtype=float) for v in (matrix, constant, field))

    def matrix(self, g: np.ndarray) -> np.ndarray:
        return self.m

    def rates(self, g: np.ndarray) -> np.ndarray:
        return self.c + self.m @ g

    def columns(self, g: np.ndarray) -> np.ndarray:
        return self.d

    def noise(self, g: np.ndarray) -> np.ndarray:
        return 0.0 * self.c

    def corner_rates(self, g: list[float]) -> tuple[np.ndarray, np.ndarray]:
        return self.rates(np.array(g)), 0.0 * self.c


def test_gates_that_slide_keep_their_rates_at_zero_and_the_others_stay() -> None:
    table: Any = Table([[2, 1, 0], [1, 3, 1], [0, 1, 4]], [-1, -2, -3], np.eye(3))
    for slides in ([True, True, True], [True, False, True], [False, True, False]):
        mask, given = np.array(slides), np.array([1.0, 0.0, 1.0])
        found = sliding_gates(table, given, mask)
        assert found.unique and np.array_equal(found.slides, mask) and np.array_equal(found.g[~mask], given[~mask])
        assert table.rates(found.g)[mask] == pytest.approx(np.zeros(mask.sum()), abs=1e-13)
    still = sliding_gates(table, np.array([1.0, 0.0, 1.0]), np.zeros(3, dtype=bool))
    assert still.g.tolist() == [1, 0, 1] and not still.slides.any()


def test_of_many_gates_those_nearest_to_a_half_are_taken_or_some_in_the_box() -> None:
    copies: Any = Table([[-2, -2], [-2, -2]], [3, 3], np.eye(2))
    found = sliding_gates(copies, np.zeros(2), np.ones(2, dtype=bool))
    assert not found.unique and found.g == pytest.approx([0.75, 0.75])
    uneven: Any = Table([[-1, -3], [-1, -3]], [0.1, 0.1], np.eye(2))  # the nearest, (0.31, -0.07), leaves the box
    found = sliding_gates(uneven, np.zeros(2), np.ones(2, dtype=bool))
    assert not found.unique and ((found.g >= -1e-9) & (found.g <= 1)).all()
    assert found.g @ [1, 3] == pytest.approx(0.1)


def test_rates_that_are_no_numbers_give_no_gates() -> None:
    for table in (Table([[np.nan, 0], [0, 1]], [0, 0], np.eye(2)), Table(np.eye(2), [np.nan, 0], np.eye(2))):
        found = sliding_gates(table, np.array([1.0, 1.0]), np.array([True, False]))  # type: ignore[arg-type]
        assert np.isnan(found.g[0]) and found.g[1] == 1 and found.slides.tolist() == [True, False]


@pytest.mark.parametrize(
    ("matrix", "field", "slides", "expected"),
    [
        ([[2, 0], [0, 1]], [[1, 0], [0, 1]], [True, True], [0, 0]),
        ([[1, 1], [1, 1]], [[3, 1], [3, 1]], [True, True], [0, 0]),  # a copy: it does not matter which of them acts
        ([[1, 1], [1, 1]], [[4, 0], [0, 2]], [True, True], [0.5**0.5, 0.5**0.5 / 2]),
        ([[1, 1], [1, 1]], [[4, 0], [0, 2]], [True, False], [0, 0]),
        ([[0, 0], [0, 0]], [[4, 0], [0, 2]], [True, True], [1, 0.5]),
        ([[1, 1], [1, 1]], [[4, 0], [0, 2]], [False, False], [0, 0]),
    ],
)
def test_how_much_gates_that_are_left_open_change_the_field(
    matrix: Any, field: Any, slides: list[bool], expected: list[float]
) -> None:
    table: Any = Table(matrix, [0, 0], field)
    found = undetermined(table, Solution(np.full(2, 0.5), np.array(slides)))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("start", [[1, 0, 1], [0, 1, 1], [0, 0, 0], [1, 1, 0.4], [0.3, 0.8, 0.6]])
def test_of_modes_without_sliding_the_one_the_gates_lead_to_comes_first_then_the_nearest(start: list[float]) -> None:
    """Each of three gates feeds itself, so all eight patterns are modes."""
    table: Any = Table(2 * np.eye(3), [-1, -1, -1], np.eye(3))
    found = [m.g for m in _patterns(table, np.array(start))]
    assert found[0].tolist() == [float(g > 0.5) for g in start]
    far = [np.abs(g - start).sum() for g in found[1:]]
    assert far == sorted(far) and len({tuple(g) for g in found[1:]}) == len(found) - 1 == 8
    chain: Any = Table([[0, 0, 0], [2, 0, 0], [0, 2, 0]], [1, -1, -1], np.eye(3))  # each opens the next
    assert [m.g.tolist() for m in _patterns(chain, np.zeros(3))] == [[1, 1, 1]] * 2
    relay: Any = Table([[-2]], [1], np.eye(1))  # it slides: no gate agrees with its rate
    assert not [*_patterns(relay, np.zeros(1))]


@pytest.mark.parametrize("gates", [[0, 0], [1, 0], [1, 1]])
def test_a_gate_that_is_held_at_no_rate_stays_as_it_is(gates: list[float]) -> None:
    still: Any = Table(np.zeros((2, 2)), [0, 0], np.eye(2))
    found = settle(still, np.array(gates), np.zeros(2, dtype=bool))
    assert found is not None and found.g.tolist() == gates and not found.slides.any()
    assert next(_patterns(still, np.array(gates))).g.tolist() == gates
    relays: Any = Table(-np.eye(2), [0.5, 0.5], np.eye(2))  # rates that all patterns deny: both are to slide
    slid = settle(relays, np.array(gates), np.zeros(2, dtype=bool))
    assert slid is not None and slid.g == pytest.approx([0.5, 0.5]) and slid.slides.all()
