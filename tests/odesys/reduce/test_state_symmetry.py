"""Symmetries of systems written by hand: searched, given, refused; and their quotients."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations, product
from math import factorial

import numpy as np
import pytest
import sympy as sp

from odesys import System, graph, sym
from odesys.errors import AsymmetryWarning, SymmetryError
from odesys.reduce.state_symmetry import StateSymmetry, _cut, check_symmetry

X, Y, Z = sp.symbols("x y z")


def lorenz() -> System:
    s, r, b = sp.symbols("s r b")
    return System.from_equations({X: s * (Y - X), Y: X * (r - Z) - Y, Z: X * Y - b * Z}, [s, r, b])


def oscillator() -> System:
    return System.from_equations({X: Y, Y: -X})


def test_lorenz_has_exactly_its_rotation() -> None:
    assert [str(g) for g in lorenz().symmetries()] == ["x -> -x, y -> -y"]


def test_oscillator_has_the_quarter_turns() -> None:
    found = {str(g) for g in oscillator().symmetries().elements()}
    assert found == {"x -> -x, y -> -y", "x -> y, y -> -x", "x -> -y, y -> x"}


def test_quotient_of_lorenz_is_the_axis() -> None:
    quotient = lorenz().quotient([{"x": "-x", "y": "-y"}])
    assert quotient.system.names == ("z",)
    assert quotient.lift([2.0]).tolist() == [0.0, 0.0, 2.0]
    with pytest.warns(AsymmetryWarning, match="off by 6"):
        assert quotient.project([5.0, 6.0, 7.0]).tolist() == [7.0]


def test_quotient_commutes_with_the_field() -> None:
    a, b, c = sp.symbols("a b c")
    ring = System.from_equations({a: sp.tanh(b) - a * c, b: sp.tanh(c) - b * a, c: sp.tanh(a) - c * b})
    rotations = ring.symmetries()
    assert rotations.order == 3 and rotations.complete  # the other 45 signed permutations are refuted, each at a point
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


def brute_force(system: System) -> set[StateSymmetry]:
    """Every signed permutation, each decided exactly: another route to the whole group."""
    n, found = system.dimension, set()
    for target in permutations(range(n)):
        for sign in product((1, -1), repeat=n):
            element = StateSymmetry(system.names, target, sign)
            if check_symmetry(system, element)[0] == "zero":
                found.add(element)
    return found


def test_the_search_finds_what_trying_all_finds() -> None:
    rng = np.random.default_rng(11)  # sums of few monomials with few coefficients have symmetries now and then
    states = sp.symbols("a b c")
    orders = []
    for _ in range(40):
        terms = [sp.prod(rng.choice(states, size=rng.integers(1, 4))) for _ in range(6)]
        coefficients = rng.choice([1, -1, 2], size=6)
        rhs = [coefficients[2 * k] * terms[2 * k] + coefficients[2 * k + 1] * terms[2 * k + 1] for k in range(3)]
        if rng.random() < 0.5:  # written so that a cycle shows only after multiplying out
            turn = dict(zip(states, (*states[1:], states[0]), strict=True))
            rhs = [states[0] * (rhs[0] + 1), None, None]
            rhs[1] = rhs[0].xreplace(turn)
            rhs[2] = sp.expand(rhs[1].xreplace(turn))
        system = System.from_equations(dict(zip(states, rhs, strict=True)))
        found = system.symmetries()
        assert found.complete and set(found.elements()) == brute_force(system) - {identity_of(system)}
        orders.append(found.order)
    assert max(orders) >= 6 and min(orders) == 1


def identity_of(system: System) -> StateSymmetry:
    return StateSymmetry.from_mapping(system, {})


def test_hundreds_of_states_are_searched() -> None:
    n = 120
    ring = System.from_equations({f"q{i}": sym(f"q{(i + 1) % n}") * sym(f"q{(i - 1) % n}") for i in range(n)})
    found = ring.symmetries()
    assert found.complete and found.order % (2 * n) == 0  # the rotations and reflections at least
    shift = StateSymmetry.from_mapping(ring, {f"q{i}": f"q{(i + 1) % n}" for i in range(n)})
    assert ring.quotient([shift]).system.dimension == 1
    assert len(repr(found)) < 300


def test_a_large_group_is_given_by_generators() -> None:
    names = [f"q{k}" for k in range(12)]
    free = System.from_equations({q: -sym(q) for q in names})
    found = free.symmetries()
    assert found.order == 2**12 * factorial(12) and found.complete
    with pytest.raises(SymmetryError, match=r"work with \.generators"):
        found.elements()
    with pytest.raises(SymmetryError, match="the origin; functions that they leave alone: q0"):
        free.quotient()


def test_a_symmetry_that_only_shows_in_functions_is_said_to_be_unsearched() -> None:
    first = sp.log(sp.exp(Y) + 1) - sp.log(sp.exp(-Y) + 1)  # which is y
    u, v = sp.symbols("u v")
    found = System.from_equations({X: first, Y: X, u: v**2, v: v**3}).symmetries()
    assert not found.complete and "as they are written" in found.searched
    small = System.from_equations({X: first, Y: X}).symmetries()
    assert small.complete and small.order == 4  # a small system has every signed permutation tried


def test_invariants_are_left_alone_and_are_all() -> None:
    system = lorenz()
    axis = system.quotient([{"x": "-x", "y": "-y"}])
    assert "leave alone" in repr(axis)
    assert len(axis.invariants(3)) == 1 + 4 + 4  # z; x^2, xy, y^2, z^2; z^3 and z times x^2, xy, y^2
    mirrored = {sym("x"): -sym("x"), sym("y"): -sym("y")}
    assert all(graph.substitute([node], mirrored)[0] is node for node in axis.invariants(3))


def test_a_long_text_is_cut_to_its_length() -> None:
    assert _cut("x" * 20, 20) == "x" * 20 and _cut("", 20) == ""
    assert _cut("x" * 21, 20) == "x" * 16 + " ..." and len(_cut("x" * 999, 20)) == 20
