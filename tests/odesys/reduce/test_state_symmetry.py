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
from odesys.reduce.state_symmetry import (
    StateSymmetry,
    Symmetries,
    _cut,
    check_symmetry,
    invariant_sums,
    search_symmetries,
    symmetry_pairs,
    system_quotient,
)

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


@pytest.mark.parametrize("seed", range(4))
def test_the_two_sides_of_a_symmetry_are_those_at_points(seed: int) -> None:
    """F(g x) and g F(x) in floats, for any signed permutation and a system that has none."""
    rng = np.random.default_rng(seed)
    x, y, z = (sym(n) for n in "xyz")
    system = System.from_equations({"x": x * y - 2 * z, "y": y**2 + 3 * x, "z": graph.exp(x) - z})
    element = StateSymmetry(
        ("x", "y", "z"), tuple(map(int, rng.permutation(3))), tuple(map(int, rng.choice([1, -1], 3)))
    )
    point, field = rng.normal(size=3), system.compile()
    moved, image = field(0.0, element.act(point)), element.act(field(0.0, point))
    pairs = symmetry_pairs(system, element)
    values = dict(zip("xyz", point, strict=True))
    for name, (left, right) in pairs.items():
        at = graph.evaluate([left, right], values, graph.FLOAT_FUNCTIONS, float)
        place = element.target["xyz".index(name)]
        assert at == pytest.approx([moved[place], image[place]])
    assert check_symmetry(system, element)[0] == ("zero" if str(element) == "identity" else "nonzero")


def test_elements_by_names() -> None:
    system = System.from_equations({"x": sym("y"), "y": -sym("x"), "z": sym("z")})
    turn = StateSymmetry.from_mapping(system, {"x": "-y", "y": "x"})
    assert (turn.target, turn.sign) == ((1, 0, 2), (-1, 1, 1)) and str(turn) == "x -> -y, y -> x"
    assert str(StateSymmetry.from_mapping(system, {})) == "identity"
    assert str(StateSymmetry.from_mapping(system, {"z": "-z"})) == "z -> -z"
    assert turn.act([1, 2, 3]).tolist() == [2, -1, 3] and turn.act(np.array([1.5, 0, 0])).dtype == float
    with pytest.raises(SymmetryError, match="'q' is not a state; the states are x, y, z"):
        StateSymmetry.from_mapping(system, {"x": "-q"})


def test_elements_of_a_group_are_all_products() -> None:
    found = oscillator().symmetries()
    assert found.order == 4 and len(found) == len(found.generators) and found[0] is found.generators[0]
    assert len(found.elements(4)) == 3
    with pytest.raises(SymmetryError, match="the group has 4 elements, more than 3"):
        found.elements(3)
    alone = Symmetries((), 1, True, "")
    assert alone.elements() == () and repr(alone) == "<Symmetries: order 1, generated by nothing>"
    assert repr(found).startswith("<Symmetries: order 4, generated by ")
    square = System.from_equations({"x": -sym("x"), "y": -sym("y")}).symmetries()
    elements = square.elements()
    assert square.order == 8 and len(set(elements)) == 7
    for g, h in product(elements, repeat=2):
        point = np.array([1.0, 3.0])
        image = g.act(h.act(point))
        assert np.array_equal(image, point) or any(np.array_equal(image, k.act(point)) for k in elements)


def test_states_that_rest_are_moved_too() -> None:
    """x' = 0 has a sign of its own, and is not exchanged with what moves."""
    still = System.from_equations({"x": x_ * 0, "y": x_ * 0, "z": -sym("z")})
    assert still.symmetries().order == 8 * 2
    driven = System.from_equations({"x": x_ * 0, "z": sym("x")})
    found = driven.symmetries()
    assert found.order == 2 and [str(g) for g in found] == ["x -> -x, z -> -z"]


x_ = sym("x")


def test_products_of_many_states_are_said_to_be_searched_in_part() -> None:
    names = [f"q{k}" for k in range(8)]
    long = graph.multiply(*map(sym, names))
    found = search_symmetries(System.from_equations({q: long * sym(q) for q in names}))
    assert not found.complete and found.order == factorial(8) and "as they are written" in found.searched
    few = search_symmetries(System.from_equations({q: graph.multiply(*map(sym, names[:4])) for q in names[:4]}))
    assert few.complete and few.searched == "all signed permutations of the states"
    assert few.order == 24 and set(few.elements()) == brute_force(
        System.from_equations({q: graph.multiply(*map(sym, names[:4])) for q in names[:4]})
    ) - {identity_of(System.from_equations({q: sym(q) for q in names[:4]}))}


def test_powers_and_roots_of_states() -> None:
    root = graph.power(1 + x_ * x_, Fraction(1, 2))
    system = System.from_equations({"x": -x_ * root, "y": -sym("y") * graph.power(1 + sym("y") ** 2, Fraction(1, 2))})
    found = system.symmetries()
    assert found.order == 8 and found.complete  # two states: what was not found is refuted one by one
    inverse = System.from_equations({"x": 1 / x_, "y": 1 / sym("y")}).symmetries()
    assert inverse.order == 8


def invariant(node: graph.Node, g: StateSymmetry) -> bool:
    images = {sym(n): sym(g.names[t]) * s for n, t, s in zip(g.names, g.target, g.sign, strict=True)}
    return graph.substitute([node], images)[0] is node


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize(
    "moves",
    [
        [{"a": "b", "b": "c", "c": "a"}],
        [{"a": "-a"}, {"b": "-b"}],
        [{"a": "b", "b": "-a"}],
        [{"a": "-b", "b": "-a"}, {"c": "-c"}],
        [{"a": "-a", "b": "-b", "c": "-c"}],
        [],
    ],
)
def test_invariant_sums_are_as_many_as_the_mean_over_the_group_has(moves: list, degree: int) -> None:
    """Molien: there are as many invariants of a degree as the mean trace of the group on its monomials."""
    system = System.from_equations({n: sym(n) for n in "abc"})
    generators = [StateSymmetry.from_mapping(system, move) for move in moves]
    found = invariant_sums(system.names, generators, degree)
    assert all(invariant(node, g) for node in found for g in generators) and len(set(found)) == len(found)
    order = 10**6
    group = Symmetries(tuple(generators), order, True, "").elements(order) if generators else ()
    group = (*group, identity_of(system))
    trace = 0
    for d in range(1, degree + 1):
        monomials = [m for m in product(range(d + 1), repeat=3) if sum(m) == d]
        for g in group:
            for m in monomials:
                image = [0] * 3
                sign = 1
                for s, e in enumerate(m):
                    image[g.target[s]] += e
                    sign *= g.sign[s] ** e
                trace += sign * (tuple(image) == m)
    assert len(found) * len(group) == trace


def test_a_quotient_keeps_observables_parameters_and_members() -> None:
    x, y, z = (sym(n) for n in "xyz")
    system = System.from_equations(
        {"x": sym("k") * x * z, "y": sym("k") * y * z, "z": x * y}, ["k"], observables={"r": x + y}
    )
    made = system_quotient(system, [StateSymmetry.from_mapping(system, {"x": "y", "y": "x"})])
    assert made.system.names == ("x", "z") and made.system.parameters == ("k",)
    assert made.system.nodes[1] is x * x and made.system.observables["r"] is 2 * x
    assert made.system.structure["x"].orbit == ("x", "y") and made.system.structure["z"].orbit == ("z",)
    assert [str(g) for g in made.generators] == ["x -> y, y -> x"]
    assert made.invariants(1) == (x + y, z)


def test_functions_offered_where_only_the_origin_is_left() -> None:
    one = System.from_equations({"x": sym("x") ** 3})
    with pytest.raises(SymmetryError, match=r"the origin; functions that they leave alone: x\*\*2$"):
        one.quotient()
    quarter = [{"x": "y", "y": "-x"}]
    system = System.from_equations({"x": sym("y"), "y": -sym("x")})
    with pytest.raises(SymmetryError, match=r"functions that they leave alone: x\*\*2 \+ y\*\*2$"):
        system.quotient(quarter)
