"""Symmetries of systems written by hand: searched, given, refused; and their quotients."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from odesys import System
from odesys.errors import SymmetryError
from odesys.reduce.state_symmetry import StateSymmetry, check_symmetry

X, Y, Z = sp.symbols("x y z")


def lorenz() -> System:
    s, r, b = sp.symbols("s r b")
    return System.from_equations({X: s * (Y - X), Y: X * (r - Z) - Y, Z: X * Y - b * Z}, [s, r, b])


def oscillator() -> System:
    return System.from_equations({X: Y, Y: -X})


def test_lorenz_has_exactly_its_rotation() -> None:
    assert [str(g) for g in lorenz().symmetries()] == ["x -> -x, y -> -y"]


def test_oscillator_has_the_quarter_turns() -> None:
    found = {str(g) for g in oscillator().symmetries()}
    assert found == {"x -> -x, y -> -y", "x -> y, y -> -x", "x -> -y, y -> x"}


def test_quotient_of_lorenz_is_the_axis() -> None:
    quotient = lorenz().quotient([{"x": "-x", "y": "-y"}])
    assert quotient.system.names == ("z",)
    assert quotient.lift([2.0]).tolist() == [0.0, 0.0, 2.0] and quotient.project([5.0, 6.0, 7.0]).tolist() == [7.0]


def test_quotient_commutes_with_the_field() -> None:
    a, b, c = sp.symbols("a b c")
    ring = System.from_equations({a: sp.tanh(b) - a * c, b: sp.tanh(c) - b * a, c: sp.tanh(a) - c * b})
    rotations = [g for g in ring.symmetries()]
    assert len(rotations) == 2
    quotient = ring.quotient(rotations[:1])
    assert quotient.system.dimension == 1
    z = np.array([0.7])
    lifted = ring.compile()(0.0, quotient.lift(z))
    assert np.abs(lifted - quotient.lift(quotient.system.compile()(0.0, z))).max() < 1e-15


def test_wrong_symmetry_is_refused_with_a_point_that_shows_it() -> None:
    system = lorenz()
    wrong = StateSymmetry.from_mapping(system, {"x": "-x"})
    answer, result = check_symmetry(system, wrong)
    assert answer == "nonzero" and all(isinstance(v, Fraction) for v in result.witness.values())
    with pytest.raises(SymmetryError, match="x -> -x does not commute with the system"):
        system.quotient([wrong])


def test_a_constant_gap_is_no_open_question() -> None:
    system = System.from_equations({X: X + 1})
    with pytest.raises(SymmetryError, match="at every point the two sides differ"):
        system.quotient([{"x": "-x"}])


@pytest.mark.parametrize(("mapping", "words"), [({"x": "q"}, "'q' is not a state"), ({"x": "y"}, "the same image")])
def test_mistakes_get_a_sentence(mapping: dict[str, str], words: str) -> None:
    with pytest.raises(SymmetryError, match=words):
        oscillator().quotient([mapping])


def test_large_systems_are_not_searched() -> None:
    names = sp.symbols("q0:12")
    system = System.from_equations({q: -q for q in names})
    with pytest.raises(SymmetryError, match="more than 200000; give them"):
        system.symmetries()
    assert system.quotient([{"q0": "q1", "q1": "q0"}]).system.dimension == 11
