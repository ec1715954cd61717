"""Two-step cycles are found where they are, and only there."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from numerics.maps.cycles import Alternation, alternation_table, find_alternations
from numerics.maps.iterate import iterate
from odesys import System
from odesys.errors import ParameterError


def saddle_map(step: float) -> System:
    """Euler of a' = sgn b, b' = sgn a."""
    a, b = sp.symbols("a b", real=True)
    return System.from_equations({a: a + step * sp.sign(b), b: b + step * sp.sign(a)}, kind="map")


def test_a_pair_that_passes_zero_in_one_step_is_held_for_ever() -> None:
    run = iterate(saddle_map(1.0), [2.3, -2.6], 30)
    found = find_alternations(alternation_table(run.states))
    assert found == [Alternation(0, 2, 27), Alternation(1, 2, 27)]


def test_a_pair_that_does_not_leaves_at_once() -> None:
    run = iterate(saddle_map(1.0), [2.3, -3.6], 30)
    assert find_alternations(alternation_table(run.states), least=2) == []
    assert run.final["a"] < -20 and run.final["b"] < -20


def test_short_runs_and_flat_arrays_are_refused() -> None:
    for states in (np.zeros((2, 3)), np.zeros(5)):
        with pytest.raises(ParameterError, match="at least 3 states"):
            alternation_table(states)
    assert not alternation_table(np.zeros((5, 2))).any()  # standing still is no cycle


@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
def test_a_cycle_is_one_on_any_scale(size: float) -> None:
    """Steps of the size 1, of which the second misses the way back by a part of it."""
    for missed, cycles in ((0.0, True), (1e-3, True), (3e-3, False)):
        x = size * np.array([[0.0], [1.0], [missed]])
        assert alternation_table(x, tolerance=2e-3).tolist() == [[cycles]]
    assert not alternation_table(np.zeros((5, 2))).any()


def test_stretches_are_those_that_a_plain_count_finds() -> None:
    """Random tables against a walk along each column; a stretch may begin and end at the ends of the table."""
    rng = np.random.default_rng(3)
    for _ in range(60):
        table = rng.random((int(rng.integers(1, 14)), 3)) < 0.7
        least = int(rng.integers(1, 6))
        wanted = []
        for j in range(3):
            start = None
            for t, cycling in enumerate([*table[:, j], False]):
                if cycling and start is None:
                    start = t
                elif not cycling and start is not None:
                    if t - start >= least:
                        wanted.append(Alternation(j, start, t - start))
                    start = None
        assert find_alternations(table, least) == wanted
    four = np.ones((4, 1), dtype=bool)
    assert find_alternations(four) == [Alternation(0, 0, 4)] and find_alternations(four[1:]) == []


def test_each_step_is_held_against_the_next_but_one() -> None:
    x = np.array([[0.0, 0.0], [2.0, 1.0], [0.0, 0.5], [2.0, 1.0], [2.0, 0.5]])
    assert alternation_table(x).tolist() == [[True, False], [True, True], [False, True]]
    exact = np.array([[0.0], [1.0], [0.5]])  # just as far as half a step
    assert alternation_table(exact, tolerance=0.5).tolist() == [[True]]
    assert alternation_table(exact, tolerance=0.499).tolist() == [[False]]
    assert alternation_table(-x).tolist() == alternation_table(x).tolist()
    for base in (-1.0, 100.0):  # wherever it is
        assert alternation_table(x + base).tolist() == alternation_table(x).tolist()
        assert alternation_table(exact + base, tolerance=0.4).tolist() == [[False]]
    assert alternation_table(x[:3]).shape == (1, 2)
    with pytest.raises(ParameterError, match=r"this has the shape \(2, 2\)"):
        alternation_table(x[:2])
    with pytest.raises(ParameterError, match=r"this has the shape \(1, 3, 2\)"):
        alternation_table(x[None, :3])
