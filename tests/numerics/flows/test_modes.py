"""Modes: gates that agree with the rates they produce, by exchange, in a smoothing layer, and exactly."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp

from numerics.flows.modes import (
    MODES_LIMIT,
    Mode,
    Solution,
    _all_modes,
    _patterns,
    _rank,
    is_mode,
    layer,
    modes,
    settle,
    sliding_gates,
    undetermined,
    with_copies,
)
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
        self.which = np.arange(self.c.size)

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


def agrees(table: Any, g: np.ndarray, room: float = 1e-8) -> bool:
    """The definition: each surface leaves to the side of its gate, or stays at zero with a gate between."""
    rates = table.rates(g)
    inside = (g > room) & (g < 1 - room)
    wanted = np.where(inside, np.abs(rates) <= room, np.where(g > 0.5, rates >= -room, rates <= room))
    return bool(((g >= -room) & (g <= 1 + room) & wanted).all())


def relays(rng: np.random.Generator, size: int) -> Any:
    """Gates whose matrix is minus a diagonally dominant one, so that there is one mode."""
    matrix = -rng.normal(size=(size, size))
    matrix[np.diag_indices(size)] = -np.abs(matrix).sum(axis=1) - 0.1
    return Table(matrix, 2 * rng.normal(size=size) * size, np.eye(size))


@pytest.mark.parametrize("seed", range(30))
def test_the_one_mode_is_found_from_everywhere_and_by_every_route(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 1 + seed % 5
    table = relays(rng, size)
    routes = [[*_all_modes(table)]]
    for _ in range(4):
        g = np.where(rng.random(size) < 0.5, rng.random(size), rng.integers(0, 2, size))
        slides = rng.random(size) < 0.4
        settled = settle(table, g, slides)
        assert settled is not None
        routes += [[settled], [*modes(table, g, slides)]]
    g = routes[0][0].g
    assert len(routes[0]) == 1 and agrees(table, g)
    assert layer(table, rng.random(size)) == pytest.approx(g, abs=1e-6)
    for found in routes:
        assert found
        for mode in found:
            assert mode.g == pytest.approx(g, abs=1e-9) and is_mode(table, mode)
            assert np.array_equal(mode.slides, (g > 1e-9) & (g < 1 - 1e-9))


@pytest.mark.parametrize("seed", range(20))
def test_all_modes_of_few_gates_are_those_of_the_definition_with_the_fewest_slides_first(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = 1 + seed % 3
    table: Any = Table(rng.normal(size=(size, size)), rng.normal(size=size) / 2, np.eye(size))
    wanted = []
    for labels in product((0, 1, 2), repeat=size):
        label = np.array(labels)
        at, g = label == 2, np.where(label == 2, 0.0, label)
        if at.any():
            g[at] = np.linalg.solve(table.m[np.ix_(at, at)], -(table.c + table.m @ g)[at])
        if agrees(table, g):
            wanted.append((labels.count(2), g.round(6).tolist()))
    found = [(int(m.slides.sum()), m.g.round(6).tolist()) for m in _all_modes(table)]
    assert sorted(found) == sorted(wanted) and [n for n, _ in found] == sorted(n for n, _ in found)
    for start in (np.zeros(size), np.ones(size)):
        seen = [*modes(table, start, np.zeros(size, dtype=bool))]
        assert {tuple(m.g.round(6)) for m in seen} == {tuple(g) for _, g in wanted}
        quiet = [m for m in seen if not m.slides.any()]
        if quiet:  # patterns come first where nothing slides yet
            assert not seen[0].slides.any()


def test_a_slide_is_gone_on_with_before_patterns_are_tried() -> None:
    """One gate that feeds itself: both ends are modes, and so is the middle, which is kept once it is entered."""
    table: Any = Table([[2.0]], [-1.0], [[1.0]])
    first = next(modes(table, np.array([0.5]), np.array([True])))
    assert first.slides.all() and first.g == pytest.approx([0.5])
    quiet = [m.g.tolist() for m in modes(table, np.array([1.0]), np.array([False]))]
    assert quiet[0] == [1.0] and [0.5] in quiet and [0.0] in quiet


@pytest.mark.parametrize(
    ("g", "slides", "rate", "mode"),
    [
        (0.0, False, -1.0, True), (0.0, False, 1e-12, True), (0.0, False, 1e-6, False),
        (1.0, False, 1.0, True), (1.0, False, -1e-12, True), (1.0, False, -1e-6, False),
        (0.5, True, 0.0, True), (0.5, True, 1e-6, False), (0.5, True, -1e-6, False), (0.5, True, 1e-12, True),
        (1.0, True, 0.0, True), (1 + 5e-10, True, 0.0, True), (1 + 2e-9, True, 0.0, False),
        (0.0, True, 0.0, True), (-5e-10, True, 0.0, True), (-2e-9, True, 0.0, False),
    ],
)  # fmt: skip
def test_what_is_a_mode_up_to_rounding(g: float, slides: bool, rate: float, mode: bool) -> None:
    """A gate within EDGE of an end is there, and a rate that this much of a gate makes is none."""
    table: Any = Table([[0.1]], [rate - 0.1 * g], [[1.0]])
    assert is_mode(table, Solution(np.array([g]), np.array([slides]))) == mode


def test_what_may_be_rounding_of_a_rate_is_no_rate() -> None:
    class Noisy(Table):
        def noise(self, g: np.ndarray) -> np.ndarray:
            return np.full(2, 0.01)

        def corner_rates(self, g: list[float]) -> tuple[np.ndarray, np.ndarray]:
            return self.rates(np.array(g)), self.noise(np.array(g))

    still: Any = Noisy(np.zeros((2, 2)), [0.009, -0.009], np.eye(2))
    moving: Any = Noisy(np.zeros((2, 2)), [0.011, -0.011], np.eye(2))
    for gates in ([0, 1], [1, 0], [0, 0]):
        g = np.array(gates, dtype=float)
        assert is_mode(still, Solution(g, np.zeros(2, dtype=bool)))
        assert is_mode(moving, Solution(g, np.zeros(2, dtype=bool))) == (gates == [1, 0])
        assert next(_patterns(still, g)).g.tolist() == gates and next(_patterns(moving, g)).g.tolist() == [1, 0]
        found = settle(still, g, np.zeros(2, dtype=bool))
        assert found is not None and found.g.tolist() == gates


class Product(Table):
    """Rates c + M g + q g_0 g_1 of two gates that are multiplied."""

    affine = False

    def __init__(self, matrix: Any, constant: Any, q: Any) -> None:
        super().__init__(matrix, constant, np.eye(2))
        self.q = np.array(q, dtype=float)

    def matrix(self, g: np.ndarray) -> np.ndarray:
        return self.m + np.outer(self.q, g[::-1])

    def rates(self, g: np.ndarray) -> np.ndarray:
        return self.c + self.m @ g + self.q * g[0] * g[1]


def test_gates_that_are_multiplied_are_found_by_newton_s_method() -> None:
    table: Any = Product([[-1, 0], [0, -1]], [0.7, 0.9], [-0.8, -0.6])
    for start in ([0.5, 0.5], [0.1, 0.9], [1.0, 0.0]):
        found = sliding_gates(table, np.array(start), np.ones(2, dtype=bool))
        assert found.unique and np.abs(table.rates(found.g)).max() < 1e-14 and (found.g > 0).all()
    one = sliding_gates(table, np.array([0.2, 1.0]), np.array([True, False]))
    assert one.g == pytest.approx([0.7 / 1.8, 1.0])
    none: Any = Product([[-1, 1], [1, -1]], [1.0, 1.0], [1.0, 1.0])  # g0 g1 + 1 = 0 and g0 = g1: no real numbers
    lost = sliding_gates(none, np.array([0.4, 0.5]), np.ones(2, dtype=bool))
    assert np.isnan(lost.g).all() and lost.slides.all()


def test_two_solutions_that_meet_are_one_to_which_newton_s_method_comes_slowly() -> None:
    """g0 + g1 = 0.6 and g0 g1 = 0.09 at once: each step halves what is missing."""
    table: Any = Product([[1, 1], [0, 0]], [-0.6, -0.09], [0.0, 1.0])
    for start in ([0.5, 0.1], [0.2, 0.4]):
        found = sliding_gates(table, np.array(start), np.ones(2, dtype=bool))
        assert found.g == pytest.approx([0.3, 0.3], abs=1e-7)


def test_more_gates_than_are_tried_all_are_found_by_exchange_and_by_a_layer() -> None:
    """Seven of them, which all slide, so that no pattern is a mode."""
    rng = np.random.default_rng(5)
    for _ in range(5):
        table, rest = relays(rng, MODES_LIMIT + 1), rng.uniform(0.1, 0.9, MODES_LIMIT + 1)
        table.c = -table.m @ rest
        found = [*modes(table, np.zeros(MODES_LIMIT + 1), np.zeros(MODES_LIMIT + 1, dtype=bool))]
        assert len(found) == 2
        assert all(mode.slides.all() and mode.g == pytest.approx(rest, abs=1e-9) for mode in found)


def test_labels_of_modes_and_gates_that_are_let_go() -> None:
    mode = Mode(np.array([0.0, 1.0, 0.3, 0.8]), np.array([2, 3]), affine=False, loose="y")
    assert mode.key == (0, 1, 2, 2)
    free = mode.release(2, 1.0)
    assert free.key == (0, 1, 1, 2) and free.sliding.tolist() == [3] and not free.affine and free.loose == ""
    assert mode.gates.tolist() == [0.0, 1.0, 0.3, 0.8] and mode.key == (0, 1, 2, 2)
    assert Mode(np.array([0.5, 0.5 + 1e-9]), np.empty(0, dtype=int)).key == (0, 1)
    assert mode.release(1, 0.0).key == (0, 0, 2, 2)


def test_copies_of_what_slides_slide_along() -> None:
    """Surface 1 moves as surface 0 does, twice as fast; 2 is at rest by itself, 3 moves, 4 stays only by chance."""
    matrix = [[-2, 0, 1, 0, 0], [-4, 0, 2, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [-1, 0, 0, 0, 0]]
    table: Any = Table(matrix, [1.0, 2.0, 0.0, 5.0, 0.5], np.eye(5))
    slides = np.array([True, False, False, False, False])
    found = sliding_gates(table, np.array([0.5, 0.0, 0.0, 1.0, 0.0]), slides)
    more = with_copies(table, found)
    assert more.slides.tolist() == [True, True, True, False, False] and is_mode(table, more)
    assert slides.tolist() == [True] + 4 * [False]  # what is given is left alone
    alone = Solution(np.array([0.0, 1.0]), np.zeros(2, dtype=bool))
    assert with_copies(table, alone) is alone
    whole = Solution(np.array([0.5, 0.5]), np.ones(2, dtype=bool))
    assert with_copies(table, whole) is whole
    apart: Any = Table([[-2, 0], [0, -2]], [1.0, 0.0], np.eye(2))  # at rest, and moved by a gate of its own
    other = Solution(np.array([0.5, 0.0]), np.array([True, False]))
    assert with_copies(apart, other) is other


def test_the_rank_of_rows_does_not_depend_on_their_units() -> None:
    rows = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 1.0, 1.0]])
    for scale in ([1, 1, 1], [1e-12, 1e9, 1.0], [1.0, 1e-150, 1e100]):
        assert _rank(np.array(scale)[:, None] * rows) == 2
    assert _rank(np.zeros((2, 3))) == 0 and _rank(np.eye(3)) == 3
    assert (
        _rank(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-11]])) == 1 and _rank(np.array([[1.0, 1.0], [1.0, 1.0 + 1e-7]])) == 2
    )
    for gap, rank in ((1.4e-10, 1), (1e-8, 2)):  # of a hundred rows, whose largest singular value is about 14
        assert _rank(np.column_stack([np.ones(100), 1 + gap * (-1.0) ** np.arange(100)])) == rank


def test_a_layer_without_rates_stays_and_others_stop_at_the_ends() -> None:
    still: Any = Table(np.zeros((2, 2)), [0.0, 0.0], np.eye(2))
    assert layer(still, np.array([0.3, 0.8])).tolist() == [0.3, 0.8]
    decoupled: Any = Table(-np.diag([1.0, 5.0, 2.0]), [0.4, 7.0, -1.0], np.eye(3))
    assert layer(decoupled, np.full(3, 0.5)) == pytest.approx([0.4, 1.0, 0.0], abs=1e-9)
