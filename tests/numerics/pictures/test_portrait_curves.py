"""Nullclines by factors, and separatrices that lie on known curves."""

from __future__ import annotations

import numpy as np

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
