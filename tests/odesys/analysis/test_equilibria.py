"""Equilibria: complete or openly not; the cases that were wrong once, each with its known answer."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from odesys import analyse
from odesys.analysis.dependency import substitution, values_at
from odesys.analysis.equilibria import Equilibria, asked_box, asked_range, equilibria, residuals
from odesys.errors import EquationError, ParameterError
from odesys.expr.graph import sym
from odesys.expr.system import System
from tests.known_systems import POSITIVE, X, Y, Z, lotka_volterra, pendulum, rigid_body, sliding

NUMBERS = {"a": 1, "b": 2, "c": 3, "d": sp.Rational(1, 2)}
R = sp.Rational


def points(found: Equilibria) -> list[tuple[object, ...]]:
    return [tuple(e.point.values()) for e in found]


def dimensions(found: Equilibria) -> list[int]:
    return sorted(family.dimension for family in found.families)


# ---- polynomial systems: on the whole space ------------------------------------------------------------------------


@pytest.mark.parametrize("rates", [POSITIVE, NUMBERS, {}], ids=["positive", "numbers", "symbols"])
def test_lotka_volterra_equilibria(rates: dict[str, object]) -> None:
    a, b, c, d = (rates.get(name, sp.Symbol(name, real=True)) for name in "abcd")
    found = equilibria(lotka_volterra(), rates)
    assert len(found) == 2 and all(e.evidence == "proof" for e in found) and found.complete
    assert set(points(found)) == {(0, 0), (sp.sympify(c) / d, sp.sympify(a) / b)}
    # without signs of the rates there are cases with whole lines of rest
    assert bool(found.special) == (not rates)


def test_cases_in_symbols_say_when_they_hold() -> None:
    r, x = sp.Symbol("r", real=True), sp.Symbol("x", real=True)
    found = equilibria(System.from_equations({x: r + x**2}, parameters=["r"]))
    assert [e.point["x"] ** 2 for e in found] == [-r, -r] and all(sp.Le(r, 0) in e.condition for e in found)
    found = equilibria(lotka_volterra())
    lines = {str(c.condition[0]): c.free for c in found.special if len(c.condition) == 1}
    assert lines == {"Eq(c, 0)": ("y",), "Eq(a, 0)": ("x",)}


def test_four_points_with_two_square_roots() -> None:
    found = equilibria(System.from_equations({X: X**2 - 300, Y: Y**2 - 2}))
    big, small = 10 * sp.sqrt(3), sp.sqrt(2)
    assert set(points(found)) == {(big, small), (big, -small), (-big, small), (-big, -small)}
    assert found.complete and found.box == {"x": (-np.inf, np.inf), "y": (-np.inf, np.inf)}


def test_a_float_is_read_as_its_decimal() -> None:
    found = equilibria(System.from_equations({X: X * (1 - X / 20.0)}))
    assert points(found) == [(0,), (20,)] and found.complete
    assert {e.evidence for e in found} == {"measurement"} and "decimals" in found.reading


def test_a_sum_of_squares_has_one_real_zero() -> None:
    found = equilibria(System.from_equations({X: X**2 + Y**2, Y: X**2 + Y**2}))
    assert points(found) == [(0, 0)] and found.complete and not found.families
    assert found[0].multiplicity is None  # over the complex numbers it is not isolated


def test_multiplicities() -> None:
    found = equilibria(System.from_equations({X: X**2 * (X - 1) ** 3 * (X + 2)}))
    assert [(e.point["x"], e.multiplicity) for e in found] == [(-2, 1), (0, 2), (1, 3)]
    (cusp,) = equilibria(System.from_equations({X: X**2 - Y**3, Y: X * Y}))
    assert cusp.multiplicity == 5


def test_lines_of_rest_are_families() -> None:
    found = equilibria(rigid_body())
    assert not found and found.complete and sorted(f.free for f in found.families) == [("x",), ("y",), ("z",)]


@pytest.mark.parametrize(("size", "wanted"), [(3, [2, 2, 2, 2, 3]), (4, [2] * 8 + [4])])
def test_periodic_toda_lattice(size: int, wanted: list[int]) -> None:
    """At rest all a vanish, or all are equal up to sign and all b are equal."""
    a, b = sp.symbols(f"a1:{size + 1}"), sp.symbols(f"b1:{size + 1}")
    field = {a[k]: a[k] * (b[(k + 1) % size] - b[k]) for k in range(size)}
    field |= {b[k]: 2 * (a[k] ** 2 - a[k - 1] ** 2) for k in range(size)}
    found = equilibria(System.from_equations(field))
    assert found.complete and not found and dimensions(found) == wanted


@pytest.mark.parametrize(("size", "wanted"), [(3, [1, 1, 1, 1]), (4, [2, 2, 2]), (5, [1] + [2] * 5)])
def test_periodic_volterra_lattice(size: int, wanted: list[int]) -> None:
    """At rest x_k (x_(k+1) - x_(k-1)) = 0: all equal (by parity), or no two neighbours of a zero differ."""
    x = sp.symbols(f"x1:{size + 1}")
    found = equilibria(System.from_equations({x[k]: x[k] * (x[(k + 1) % size] - x[k - 1]) for k in range(size)}))
    assert found.complete and not found and dimensions(found) == wanted


def test_hires_rests_on_a_line() -> None:
    """The sum of the last two states is conserved, so rest is a curve (HIRES, Hairer and Wanner, IV.10)."""
    y1, y2, y3, y4, y5, y6, y7, y8 = sp.symbols("y1:9")
    field = {
        y1: -R("1.71") * y1 + R("0.43") * y2 + R("8.32") * y3 + R("0.0007"),
        y2: R("1.71") * y1 - R("8.75") * y2,
        y3: -R("10.03") * y3 + R("0.43") * y4 + R("0.035") * y5,
        y4: R("8.32") * y2 + R("1.71") * y3 - R("1.12") * y4,
        y5: -R("1.745") * y5 + R("0.43") * y6 + R("0.43") * y7,
        y6: -280 * y6 * y8 + R("0.69") * y4 + R("1.71") * y5 - R("0.43") * y6 + R("0.69") * y7,
        y7: 280 * y6 * y8 - R("1.81") * y7,
        y8: -280 * y6 * y8 + R("1.81") * y7,
    }
    system = System.from_equations(field)
    found = equilibria(system)
    (line,) = found.families
    assert found.complete and not found and line.dimension == 1
    rest = {
        name: sp.sympify(value).subs(sp.Symbol(line.free[0], real=True), R(1, 3)) for name, value in line.point.items()
    }
    assert all(value == 0 for value in values_at(system.nodes, rest))


def test_algebraic_points_are_exact() -> None:
    system = System.from_equations({X: X - Y**3 - R(1, 5), Y: X * Y - 1})
    found = equilibria(system)
    assert len(found) == 2 and all(e.evidence == "proof" for e in found)
    for e in found:
        values = values_at(system.nodes, e.point)
        assert all(abs(sp.N(value, 40)) < sp.Float(10) ** -35 for value in values)
        assert all(low <= R(str(sp.N(e.point[n], 50))) <= high for n, (low, high) in e.enclosure.items())
    wanted = [r.real for r in np.roots([1, 0, 0, 0.2, -1]) if abs(r.imag) < 1e-9]
    assert sorted(float(e.point["y"]) for e in found) == pytest.approx(sorted(wanted))


def test_several_points_on_one_irrational_coordinate() -> None:
    found = equilibria(System.from_equations({X: X**2 - 2, Y: Y**2 - X**2}))
    root = sp.sqrt(2)
    assert set(points(found)) == {(root, root), (root, -root), (-root, root), (-root, -root)}


@pytest.mark.parametrize("seed", range(20))
def test_planar_cubics_against_a_resultant_in_floats(seed: int) -> None:
    """As many real points as a resultant, computed another way, has real roots with a real partner."""
    rng = np.random.default_rng(seed)
    p, q = (sum(int(rng.integers(-4, 5)) * X**i * Y**j for i in range(4) for j in range(4 - i)) for _ in range(2))
    found = equilibria(System.from_equations({X: p, Y: q}))
    wanted = []
    for x in sp.Poly(sp.resultant(p, q, Y), X).nroots(n=40, maxsteps=200):
        if abs(sp.im(x)) < 1e-20:
            ys = sp.Poly(p.subs(X, sp.re(x)), Y).nroots(n=30, maxsteps=200)
            wanted += [1 for y in ys if abs(sp.im(y)) < 1e-12 and abs(q.subs({X: sp.re(x), Y: sp.re(y)})) < 1e-9]
    assert found.complete and len(found) == len(wanted)


def test_everything_at_rest_is_one_family() -> None:
    found = equilibria(System.from_equations({X: 0, Y: 0}))
    assert found.families[0].free == ("x", "y") and dimensions(found) == [2]


def test_complex_roots_and_poles_are_left_out() -> None:
    found = equilibria(System.from_equations({X: X**2 + 1}))
    assert not found and found.complete
    assert points(equilibria(System.from_equations({X: (X**2 - 1) / (X - 1)}))) == [(-1,)]


def test_a_curve_whose_real_part_is_not_seen_stays_open() -> None:
    """(x - y)^2 + (y - 1)^2 vanishes at one real point; elimination alone does not show that."""
    found = equilibria(System.from_equations({X: (X - Y) ** 2 + (Y - 1) ** 2, Y: ((X - Y) ** 2 + (Y - 1) ** 2) * X}))
    assert not found.complete and found.undecided[0].equations


def test_a_box_keeps_what_is_in_it() -> None:
    system = System.from_equations({X: X * (X**2 - 2)})
    assert points(system.equilibria(box={"x": (-1, 2)})) == [(0,), (sp.sqrt(2),)]
    assert points(system.equilibria(box={"x": (0, 1)})) == [(0,)]
    with pytest.raises(ParameterError, match="no state"):
        system.equilibria(box={"z": (0, 1)})
    with pytest.raises(ParameterError, match="empty"):
        system.equilibria(box={"x": (1, 0)})


# ---- other systems: in a box ---------------------------------------------------------------------------------------


def test_many_states_are_searched_and_certified() -> None:
    states = sp.symbols("u1:6")
    shifted = {x: 3 * x - k + states[k - 1] ** 3 for k, x in enumerate(states)}
    (found,) = equilibria(System.from_equations(shifted))
    assert found.evidence == "certificate"
    assert all(high - low < Fraction(1, 10**30) for low, high in found.enclosure.values())
    (plain,) = equilibria(System.from_equations({x: 3 * x - k for k, x in enumerate(states)}))
    assert plain.evidence == "proof" and plain.point["u5"] == R(4, 3)


def test_transcendental_systems_are_searched_and_checked() -> None:
    found = equilibria(pendulum(), box={"x": (-5, 5)})
    assert points(found) == [(-sp.pi, 0), (0, 0), (sp.pi, 0)] and all(e.evidence == "proof" for e in found)
    assert len(equilibria(pendulum())) == 7 and equilibria(pendulum()).box["x"] == (-10, 10)
    found = equilibria(System.from_equations({X: sp.exp(-X) - X}))
    (omega,) = found
    assert found.complete and omega.evidence == "certificate" and omega.point["x"] == pytest.approx(0.567143290409784)
    assert points(equilibria(System.from_equations({X: X - 10 * sp.pi}))) == [(10 * sp.pi,)]
    with pytest.raises(ParameterError, match="k needs a number"):
        equilibria(System.from_equations({X: sp.sin(X) - sp.Symbol("k")}, parameters=["k"]))
    with pytest.raises(EquationError, match="time"):
        equilibria(System.from_equations({X: X - sp.Symbol("t")}))


def test_what_an_elimination_divides_by_is_not_lost() -> None:
    """x' = x sin y is linear in x, but where sin y = 0 every x is at rest for it: (2, pi) is an equilibrium."""
    found = equilibria(System.from_equations({X: X * sp.sin(Y), Y: sp.cos(Y) - 1 + X}))
    assert (2, sp.pi) in points(found) and (2, -sp.pi) in points(found) and not found.complete  # (0, 0) is not simple
    lines = equilibria(System.from_equations({X: X * sp.sin(Y), Y: 0}))
    assert not lines.complete


def test_repeated_zeros_of_one_equation() -> None:
    found = equilibria(System.from_equations({X: 1 - sp.cos(X)}))
    assert [(e.point["x"], e.multiplicity) for e in found] == [(-2 * sp.pi, 2), (0, 2), (2 * sp.pi, 2)]
    assert found.complete


def test_the_edge_of_a_domain_is_undecided_and_says_so() -> None:
    found = equilibria(System.from_equations({X: sp.sqrt(X) - X / 2}))
    assert points(found) == [(4,)] and not found.complete
    (edge,) = found.undecided
    assert edge.contains == {"x": 0} and edge.box["x"][0] < 0 < edge.box["x"][1] < Fraction(1, 10**8)


def hodgkin_huxley(current: object) -> System:
    """Hodgkin and Huxley, J. Physiol. 117 (1952), 500-544, with rest near -65 mV."""
    v, m, h, n = sp.symbols("V m h n")
    rates = {
        m: (R(1, 10) * (v + 40) / (1 - sp.exp(-(v + 40) / 10)), 4 * sp.exp(-(v + 65) / 18)),
        h: (R(7, 100) * sp.exp(-(v + 65) / 20), 1 / (1 + sp.exp(-(v + 35) / 10))),
        n: (R(1, 100) * (v + 55) / (1 - sp.exp(-(v + 55) / 10)), R(1, 8) * sp.exp(-(v + 65) / 80)),
    }
    ions = 120 * m**3 * h * (v - 50) + 36 * n**4 * (v + 77) + R("0.3") * (v + R("54.387"))
    return System.from_equations({v: current - ions, **{x: up * (1 - x) - down * x for x, (up, down) in rates.items()}})


def test_hodgkin_huxley_has_one_state_of_rest() -> None:
    """Its rates are 0/0 at V = -40 and -55, and nothing is left open there."""
    found = equilibria(hodgkin_huxley(0))
    (rest,) = found
    assert found.complete and rest.evidence == "certificate"
    wanted = {"V": -64.9963793, "m": 0.0529551, "h": 0.5959941, "n": 0.3177324}
    assert rest.point == pytest.approx(wanted, abs=1e-7)


@pytest.mark.parametrize(
    ("current", "voltages"), [(0, [-60.8554]), (90, [-26.5969]), (30, [-41.8452, -19.5632, 3.8715])]
)
def test_morris_lecar_rests(current: int, voltages: list[float]) -> None:
    """Morris and Lecar, Biophys. J. 35 (1981), 193-213; constants of Rinzel and Ermentrout, Hopf and saddle-node."""
    v, w = sp.symbols("V w")
    conductance, v3, v4, phi = (R("4.4"), 2, 30, R("0.04")) if current != 30 else (4, 12, R("17.4"), R(1, 15))
    activation = (1 + sp.tanh((v + R("1.2")) / 18)) / 2
    recovery = (1 + sp.tanh((v - v3) / v4)) / 2
    ions = 2 * (v + 60) + conductance * activation * (v - 120) + 8 * w * (v + 84)
    field = {v: (current - ions) / 20, w: phi * (recovery - w) * sp.cosh((v - v3) / (2 * v4))}
    found = equilibria(System.from_equations(field))
    assert found.complete and len(found) == len(voltages)
    system = System.from_equations(field).compile()
    for e in found:
        assert np.abs(system(0.0, list(e.point.values()))).max() < 1e-9
    assert [e.point["V"] for e in found] == pytest.approx(voltages, abs=1e-4)


# ---- gates ---------------------------------------------------------------------------------------------------------


def test_each_side_of_a_kink_is_solved_for_itself() -> None:
    found = equilibria(System.from_equations({X: sp.Max(X, 0)}))
    assert not found and found.complete and [f.condition for f in found.families] == [(X <= 0,)]
    found = equilibria(System.from_equations({X: X * (X - 1) * sp.Heaviside(X - R(1, 2))}))
    assert points(found) == [(1,)] and dimensions(found) == [1] and found.complete
    found = equilibria(System.from_equations({X: sp.Abs(X) - 1, Y: -Y}))
    assert points(found) == [(-1, 0), (1, 0)]
    found = equilibria(System.from_equations({X: sp.Max(X, 0) + sp.exp(X) - 2}))
    assert found.complete and [e.point["x"] for e in found] == pytest.approx([0.4428544010])
    assert not equilibria(sliding()) and equilibria(sliding()).complete


def test_floats_are_never_proofs() -> None:
    assert {e.evidence for e in System.from_equations({X: 0.1 - X**2}).equilibria()} == {"measurement"}


def test_an_answer_says_what_was_searched() -> None:
    text = str(equilibria(System.from_equations({X: sp.sin(X), Y: Y * Z, Z: 0})))
    assert "undecided" in text or "family" in text
    assert str(equilibria(pendulum())) == "7 isolated equilibria with x in [-10, 10]; complete"


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ({"x": (1, -1)}, r"the range of x is empty: 1 is above -1; give \(-1, 1\)"),
        ({"x": (0.5, np.float64(0.25))}, "the range of x is empty"),
        ({"x": (float("nan"), 1)}, "no pair of finite numbers"),
        ({"x": (0, float("inf"))}, "no pair of finite numbers .* searched everywhere"),
        ({"x": 3}, r"the range 3 of x is no pair"),
        ({"x": (1, 2, 3)}, "is no pair"),
        ({"x": ("a", 1)}, "is no pair"),
        ({"z": (0, 1)}, "a range for z, which is no state"),
        ([(0, 1)], "has no names"),
    ],
)
@pytest.mark.parametrize("ask", [analyse, equilibria, lambda system, box: system.equilibria(box=box)])
def test_a_box_that_is_none_is_refused(ask: Any, box: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        ask(System.from_strings({"x": "y", "y": "-x"}), box=box)


def test_ends_of_a_box_may_be_numbers_of_numpy() -> None:
    found = equilibria(System.from_strings({"x": "sin(x)"}), box={"x": (np.float64(-0.1), np.int64(1))})
    assert found.box["x"] == (Fraction(-1, 10), 1) and len(found) == 1


def test_fixed_points_of_maps() -> None:
    """A map rests where its displacement vanishes, and not where it does itself."""
    squares = System.from_strings({"x": "x^2", "y": "k"}, kind="map")
    assert residuals(squares) == [sym("x") ** 2 - sym("x"), sym("k") - sym("y")]
    assert residuals(System.from_strings({"x": "x^2"})) == [sym("x") ** 2]
    found = equilibria(squares, {"k": 3})
    assert [e.point for e in found] == [{"x": 0, "y": 3}, {"x": 1, "y": 3}] and found.kind == "map" and found.complete
    in_symbols = equilibria(squares)
    assert [e.point["x"] for e in in_symbols] == [0, 1] and in_symbols.kind == "map"
    assert equilibria(System.from_strings({"x": "x"})).kind == "flow"


@pytest.mark.parametrize(
    ("equation", "kind", "said"),
    [
        ("exp(x) - k", "flow", "the equilibria of this system are searched for in a box, so k needs a number"),
        ("exp(x) - k", "map", "the fixed points of this system are searched for in a box, so k needs a number"),
    ],
)
def test_a_search_needs_numbers(equation: str, kind: str, said: str) -> None:
    with pytest.raises(ParameterError) as caught:
        equilibria(System.from_strings({"x": equation}, kind=kind))
    assert str(caught.value) == said


def test_time_must_stand_still() -> None:
    with pytest.raises(EquationError) as caught:
        equilibria(System.from_strings({"x": "x - t"}))
    assert str(caught.value) == "the system depends on time t, so it has no equilibria; freeze t first"


def test_numbers_that_only_sympy_can_hold_are_read_as_decimals_and_said() -> None:
    """The real root of k^5 = k + 1 as a parameter; all that rests on it is a measurement."""
    root = sp.CRootOf(X**5 - X - 1, 0)
    assert "k" in substitution({"k": root})[1]
    found = equilibria(System.from_strings({"x": "x^2 - k"}), {"k": root})
    assert [float(e.point["x"]) for e in found] == pytest.approx([-(float(root) ** 0.5), float(root) ** 0.5], rel=1e-14)
    assert {e.evidence for e in found} == {"measurement"}
    assert found.reading == "floats are read as the decimals they print as"
    line = equilibria(System.from_strings({"x": "k*y", "y": "0"}), {"k": root})
    assert [f.evidence for f in line.families] == ["measurement"] and len(line) == 0
    exact = equilibria(System.from_strings({"x": "x^2 - k"}), {"k": 2})
    assert exact.reading == "" and {e.evidence for e in exact} == {"proof"}
    assert equilibria(System.from_strings({"x": "x - k"}), {"k": sp.Symbol("m", positive=True)})[0].evidence == "proof"


def test_floats_of_a_system_are_decimals() -> None:
    found = equilibria(System.from_equations({X: 0.5 * X - Y, Y: 0 * X}))
    assert [f.evidence for f in found.families] == ["measurement"] and found.reading.startswith("floats are read")


@pytest.mark.parametrize(
    ("pair", "ends"),
    [
        ((1, 2), (1, 2)),
        ((0.1, "1/3"), (Fraction(1, 10), Fraction(1, 3))),
        ((np.int64(2), np.float64(2.5)), (2, Fraction(5, 2))),
        ((-1, -1), (-1, -1)),
        ((2**70, 2**71), (2**70, 2**71)),
    ],
)
def test_ends_of_a_range_are_exact(pair: Any, ends: Any) -> None:
    assert asked_range("x", pair) == ends
    assert asked_box(System.from_strings({"x": "1", "y": "1"}), {sp.Symbol("y"): pair}) == {"y": ends}
    assert asked_box(System.from_strings({"x": "1"}), None) == {}


def test_parameters_at_which_an_equation_divides_by_zero_get_a_sentence() -> None:
    x, a = sp.symbols("x a")
    system = System.from_equations({x: x / a - 1}, parameters=[a])
    with pytest.raises(EquationError, match=r"^the equations divide by zero at a = 0$"):
        system.equilibria({"a": 0})
