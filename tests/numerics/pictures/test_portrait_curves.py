"""Nullclines by factors, and separatrices that lie on known curves."""

from __future__ import annotations

import numpy as np
import pytest

from numerics.pictures.portrait_curves import factors, nullclines, separatrices
from odesys import System

BOX = {"x": (-2.0, 2.0), "y": (-2.0, 2.0)}


def test_a_nullcline_without_a_change_of_sign_is_a_factor() -> None:
    system = System.from_strings({"x": "x^2*(y - 1)^2/(1 + y^2)", "y": "sin(x)*exp(y)*k"})
    first = {str(f) for f in factors(system, system.nodes[0], {"k": 2})}
    assert {f.replace("Node(", "").rstrip(")") for f in first} == {"x", "y - 1"}
    assert len(factors(system, system.nodes[1], {"k": 2})) >= 1
    xs, ys, tables = nullclines(system, {"k": 2}, BOX)
    assert all(table.min() < 0 < table.max() for table in tables[0]) and len(xs) == len(ys)


def test_a_state_that_never_moves_has_none() -> None:
    system = System.from_strings({"x": "0", "y": "1"})
    assert nullclines(system, {}, BOX)[2] == [[], []]


def test_separatrices_of_a_hamiltonian_keep_its_energy() -> None:
    """x'' = x - x^3: the loops of the saddle at 0 have the energy 0."""
    system = System.from_strings({"x": "y", "y": "x - x^3"})
    found = separatrices(system, {}, BOX, [(0.0, 0.0)])
    assert sorted(kind for kind, _ in found) == ["stable", "stable", "unstable", "unstable"]
    for _, points in found:
        x, y = points.T
        assert np.abs(y**2 / 2 - x**2 / 2 + x**4 / 4).max() < 1e-6 and np.abs(x).max() > 1.4


def test_directions_are_forwards_and_backwards() -> None:
    for kind, points in separatrices(System.from_strings({"x": "x", "y": "-y"}), {}, BOX, [(0.0, 0.0)]):
        along = points[-1]
        assert (abs(along[0]) > 1.9) == (kind == "unstable") and (abs(along[1]) > 1.9) == (kind == "stable")


def test_what_is_no_saddle_has_none() -> None:
    assert separatrices(System.from_strings({"x": "-x", "y": "-y"}), {}, BOX, [(0.0, 0.0)]) == []


def test_a_nullcline_is_where_a_factor_vanishes_on_a_grid() -> None:
    """Each table has the values of one factor, y downwards and x across; numbers and powers are none."""
    system = System.from_strings({"x": "2*k*(x - y^2)/(1 + y^2)", "y": "(x + k)/y"})
    xs, ys, (first, second) = nullclines(system, {"k": 3.0}, {"x": (-1.0, 2.0), "y": (0.5, 4.0)})
    assert (xs[0], xs[-1], ys[0], ys[-1]) == (-1.0, 2.0, 0.5, 4.0) and len(xs) == len(ys) == 201
    x, y = np.meshgrid(xs, ys)
    found = [table / (x - y**2) for table in first if np.allclose(np.abs(table), np.abs(x - y**2))]
    assert len(found) == 1 and [table.shape for table in first + second] == [(201, 201)] * len(first + second)
    (line,) = second
    assert line / (x + 3) == pytest.approx(line[0, 0] / (x + 3)[0, 0]), "a pole is no nullcline"
    (crossing,) = nullclines(System.from_strings({"x": "x*y", "y": "0*y + 1"}), {}, BOX)[2][:1]
    assert len(crossing) == 2


def test_what_has_no_state_can_not_vanish() -> None:
    system = System.from_strings({"x": "k*sin(x)/exp(y)", "y": "k^2"})
    assert factors(system, system.nodes[1], {"k": 2}) == [] and factors(system, system.nodes[0], {"k": 0}) == []
    found = factors(system, system.nodes[0], {"k": 2})
    assert [str(f) for f in found if "sin" in str(f)] and not any(f.op == "num" for f in found)
    alone = System.from_strings({"x": "sin(x) + y", "y": "y"})
    assert len(factors(alone, alone.nodes[0], {})) == 1


def test_separatrices_start_near_their_saddle_and_end_a_little_outside_of_the_box() -> None:
    """Along the directions of the linear part, to both sides; 20 percent beyond the box they stop."""
    box = {"x": (-1.0, 3.0), "y": (-2.0, 6.0)}
    system = System.from_strings({"x": "a*(x - 1)", "y": "-b*(y - 2)"})
    found = separatrices(system, {"a": 2, "b": 0.5}, box, [(1.0, 2.0)])
    ends = {"unstable": ([-1.8, 2.0], [3.8, 2.0]), "stable": ([1.0, -3.6], [1.0, 7.6])}
    for kind, wanted in ends.items():
        curves = [points for name, points in found if name == kind]
        assert len(curves) == 2
        assert sorted(points[-1].tolist() for points in curves) == [pytest.approx(end, abs=1e-6) for end in wanted]
        for points in curves:
            assert points[0].tolist() == [1.0, 2.0] and points.shape == (401, 2)
            size = 4.0 if kind == "unstable" else 8.0
            assert np.abs(points[1] - points[0]).max() == pytest.approx(1e-4 * size)
            assert np.abs(points[1] - points[0]).min() < 1e-12


def test_each_saddle_has_four_and_what_turns_or_stands_still_has_none() -> None:
    pendulum = System.from_strings({"x": "y", "y": "sin(x)"})
    box = {"x": (-7.0, 7.0), "y": (-3.0, 3.0)}
    assert len(separatrices(pendulum, {}, box, [(0.0, 0.0), (2 * np.pi, 0.0)])) == 8
    for equations in ({"x": "y", "y": "-x"}, {"x": "0*x", "y": "y"}, {"x": "x", "y": "2*y"}, {"x": "0*x", "y": "-y"}):
        assert separatrices(System.from_strings(equations), {}, BOX, [(0.0, 0.0)]) == []


def test_a_separatrix_that_stays_in_the_box_goes_on_for_long() -> None:
    """The loop of the saddle of x'' = x - x^3 comes back near it within 40 times one."""
    found = separatrices(System.from_strings({"x": "y", "y": "x - x^3"}), {}, BOX, [(0.0, 0.0)])
    for _, points in found:
        assert np.abs(points[:, 0]).max() == pytest.approx(2**0.5, abs=1e-3)
        near = np.hypot(*points.T) < 0.1
        assert near[:5].all() and near[50:].any(), "it has been around"


def test_a_run_that_blows_up_is_left_out_and_the_others_are_drawn() -> None:
    system = System.from_strings({"x": "x + log(1 + x)", "y": "-y"})
    box = {"x": (-3.0, 3.0), "y": (-2.0, 2.0)}
    kinds = sorted(kind for kind, _ in separatrices(system, {}, box, [(0.0, 0.0)]))
    assert kinds.count("stable") == 2 and kinds.count("unstable") in (1, 2)
