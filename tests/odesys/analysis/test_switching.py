"""switching and patterns: gates as inputs, exact sliding fields, rates of surfaces, interpolation between patterns."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
import sympy as sp

from derivations.two_mixture import dynamics
from numerics.flows.patterns import PatternTable
from odesys.analysis.switching import Switching, hold_gates, sliding_system, switching_surfaces
from odesys.errors import EquationError, IntegrationError
from odesys.expr import graph
from odesys.expr.system import System

x, y, z, t, a = sp.symbols("x y z t a", real=True)
gate = sp.Heaviside


def flow(*rhs: Any, **more: Any) -> System:
    return System.from_equations(dict(zip((x, y, z), map(sp.sympify, rhs), strict=False)), **more)


# ---- surfaces and patterns -----------------------------------------------------------------------------------------


def test_surfaces_have_the_names_of_the_observables_they_are() -> None:
    system = flow(gate(x + y - 1), gate(x * y), observables={"total": x + y})
    assert [(s.index, s.name) for s in switching_surfaces(system)] == [(0, "total"), (1, "x*y")]
    assert [s.node for s in switching_surfaces(system)] == list(system.surfaces)


def test_surfaces_of_the_two_mixture_flow_are_the_heads_on_the_samples() -> None:
    # twelve orbits of (head, sample) for K = 3, L = 4; H_p_i is the head + on sample i, the surface H + b = 0
    names = [s.name for s in switching_surfaces(dynamics.reduced("simultaneous", 3, 4).system, {"b": 0.5})]
    assert len(set(names)) == 12 and all(name.startswith(("H_p_", "H_m_")) for name in names)
    full = dynamics.full_flow("simultaneous").system
    both = {f"H_{head}_{i}" for head in "pm" for i in range(1, 9)}
    for backend in ("scalar", "block"):
        assert set(Switching(full.compile({"b": 0.5}, backend)).names) == both


@pytest.mark.parametrize("pattern", list(product((0, 1), repeat=2)))
def test_a_pattern_is_the_field_on_its_side(pattern: tuple[int, int]) -> None:
    system = flow(2 * gate(x) - 3 * gate(y) * x, sp.Max(y, 0) + a, parameters=[a])
    fixed = hold_gates(system, dict(enumerate(pattern)))
    assert not fixed.surfaces and fixed.parameters == ("a",)
    names = [s.name for s in switching_surfaces(system, {"a": 1})]
    on = dict(zip(names, pattern, strict=True))
    point = {"x": Fraction(on["x"] * 2 - 1, 3), "y": Fraction(on["y"] * 2 - 1, 7)}
    exact = [sp.sympify(r).subs({sp.Symbol(n, real=True): v for n, v in point.items()}) for r in fixed.rhs]
    values = [float(sp.sympify(e).subs({sp.Symbol("a", real=True): 5, sp.Symbol("a"): 5})) for e in exact]
    assert system.compile({"a": 5})(0, [float(v) for v in point.values()]) == pytest.approx(values, abs=1e-15)


def test_a_gate_can_become_a_parameter() -> None:
    open_system = flow(2 - 3 * gate(x) + gate(-x))  # one surface; the gate of -x is one minus that of x
    system = hold_gates(open_system, {0: "g"})
    above = 0.25 if open_system.surfaces[0] is graph.sym("x") else 0.75
    assert system.parameters == ("g",) and not system.surfaces
    assert system.compile({"g": 0.25})(0, [1.0])[0] == pytest.approx(2 - 3 * above + (1 - above), abs=1e-15)


def test_unknown_surfaces_get_a_sentence() -> None:
    with pytest.raises(EquationError, match="there is no surface 2; the system has 1"):
        hold_gates(flow(gate(x)), {2: 1})


# ---- exact sliding fields ------------------------------------------------------------------------------------------


def test_sliding_field_of_dry_friction() -> None:
    # m v' = a cos t - mu sign v with position: the gate balances the force, and the velocity stays
    force, friction = sp.cos(t) / 2, sp.Rational(4, 5)
    slide = sliding_system(flow(y, force - friction * sp.sign(y)), [0])
    assert slide.rhs[0] == slide.states[1] and sp.simplify(slide.rhs[1]) == 0
    values = slide.compile().observables(1.0, [0.3, 0.0])
    balance = float(force.subs(t, 1) / friction)  # = sign v in the convex combination
    assert abs(2 * values["gate_0"] - 1) == pytest.approx(abs(balance), abs=1e-14)


def test_sliding_field_along_a_curve_is_tangent_to_it() -> None:
    h = x**2 + y**2 - 1
    slide = sliding_system(flow(-y - x * sp.sign(h) + sp.Rational(1, 5), x - y * sp.sign(h)), [0])
    X, Y = slide.states
    tangent = sp.simplify(X * slide.rhs[0] + Y * slide.rhs[1])
    assert tangent == 0


def test_sliding_field_at_a_corner_solves_for_both_gates() -> None:
    corner = flow(
        sp.Rational(1, 2) - sp.sign(x) + sp.sign(y) / 4, sp.Rational(1, 3) - sp.sign(y), sp.sign(x) + 10 * sp.sign(y)
    )
    slide = sliding_system(corner, [0, 1])
    # sign y = 1/3, sign x = 1/2 + 1/12 = 7/12
    assert [sp.nsimplify(r) for r in slide.rhs] == [0, 0, sp.Rational(7, 12) + sp.Rational(10, 3)]


def test_sliding_with_another_gate_held() -> None:
    system = flow(gate(y) - 2 * gate(x), 1)
    number = {s.name: s.index for s in switching_surfaces(system)}
    slide = sliding_system(system, [number["x"]], {number["y"]: 1})
    assert slide.compile().observables(0, [0, 1]) == {f"gate_{number['x']}": 0.5}


@pytest.mark.parametrize(
    ("rhs", "which", "text"),
    [
        ((sp.sign(x) * sp.sign(y), -sp.sign(y)), [0, 1], "products of gates"),
        ((y, -sp.sign(x)), [0], "not determined by the sliding condition"),
        ((-sp.sign(x),), [], "1 to 3 different surfaces"),
        ((-sp.sign(x), -sp.sign(y)), [1, 1], "1 to 3 different surfaces"),
    ],
)
def test_what_has_no_exact_sliding_field_gets_a_sentence(rhs: Any, which: list[int], text: str) -> None:
    with pytest.raises(EquationError, match=text):
        sliding_system(flow(*rhs), which)


# ---- rates ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["scalar", "block"])
def test_rates_are_derivatives_along_the_field(backend: str) -> None:
    system = dynamics.full_flow("simultaneous").system
    compiled = system.compile({"b": 0.5}, backend)
    watch, rng = Switching(compiled), np.random.default_rng(5)
    point, directions = rng.standard_normal(80), rng.standard_normal((3, 80))
    rates, noise = watch.rates(0.0, point, np.ones(16), np.arange(16), directions)
    assert rates.shape == noise.shape == (3, 16) and np.all(noise < 1e-9)
    step = 1e-5
    for direction, row in zip(directions, rates, strict=True):
        ends = [compiled.surfaces(0.0, point + s * step * direction) for s in (1, -1)]
        assert np.allclose((ends[0] - ends[1]) / (2 * step), row, atol=1e-7, rtol=0)


@pytest.mark.parametrize("backend", ["scalar", "block"])
def test_rates_have_the_size_of_the_velocity_and_their_rounding_too(backend: str) -> None:
    """Twice as fast is twice the rate and twice what may be rounding, which is never nothing where something moves."""
    compiled = dynamics.full_flow("simultaneous").system.compile({"b": 0.5}, backend)
    watch, rng = Switching(compiled), np.random.default_rng(6)
    point, directions = rng.standard_normal(80), rng.standard_normal((3, 80))
    which = np.arange(16)
    rates, noise = watch.rates(0.0, point, np.ones(16), which, directions)
    quick, more = watch.rates(0.0, point, np.ones(16), which, 1024 * directions)
    assert np.allclose(quick, 1024 * rates, rtol=1e-12) and np.allclose(more, 1024 * noise, rtol=1e-12)
    speed = np.abs(directions).max(axis=1)[:, None]
    assert np.all(noise >= 1e-14 * speed) and np.all(noise <= 1e-9 * speed * (1 + np.abs(rates)))
    # along a velocity without a part across a surface, nothing is left but rounding
    slopes = watch.rates(0.0, point, np.ones(16), which[:1], np.eye(80))[0][:, 0]
    along = directions[0] - slopes * (slopes @ directions[0]) / (slopes @ slopes)
    left, allowed = watch.rates(0.0, point, np.ones(16), which[:1], along[None])
    assert 0 <= abs(left[0, 0]) < allowed[0, 0] < 1e-9


def test_what_may_be_rounding_is_a_share_of_what_is_added_up() -> None:
    """Of x - 3y along (u, v) the terms are u and -3v, and the move itself is rounded."""
    watch = Switching(flow(gate(x - 3 * y), 0).compile())
    for u, v in ((2.0, 5.0), (3e6, 1e6), (1e-4, 0.0)):
        rates, noise = watch.rates(0.0, np.array([1.0, 1.0]), np.ones(1), np.array([0]), np.array([[u, v]]))
        assert abs(rates[0, 0]) == pytest.approx(abs(u - 3 * v))
        assert noise[0, 0] == pytest.approx(1e-11 * (u + 3 * v) + 4e-14 * max(u, v), rel=1e-6)


def test_rates_contain_the_explicit_time() -> None:
    watch = Switching(flow(gate(x * t - t**2)).compile())
    rates, _ = watch.rates(3.0, np.array([2.0]), np.ones(1), np.array([0]), np.array([[1.5]]))
    assert abs(rates[0, 0]) == pytest.approx(abs(3 * 1.5 + 2 - 6), abs=1e-12)


def test_a_surface_with_gates_inside_is_read_with_those_held() -> None:
    system = flow(gate(sp.Max(x, 0) + x - 1))
    watch = Switching(system.compile())
    inner = next(i for i, node in enumerate(system.surfaces) if node in (graph.sym("x"), -graph.sym("x")))
    sign = 1 if system.surfaces[inner] is graph.sym("x") else -1
    for on in (0.0, 1.0):
        gates = np.zeros(2)
        gates[inner] = on if sign > 0 else 1 - on
        assert watch.values(0.0, np.array([5.0]), gates)[1 - inner] == pytest.approx(5 * on + 4)


# ---- interpolation between patterns --------------------------------------------------------------------------------


def table(system: System, which: list[int], affine: bool | None = None, **point: float) -> PatternTable:
    state = np.array([point.get(name, 0.0) for name in system.names])
    gates = np.zeros(len(system.surfaces))
    return PatternTable(Switching(system.compile()), 0.0, state, gates, np.array(which), affine)


def test_interpolation_meets_the_corners_and_is_linear_in_each_gate() -> None:
    system = flow(gate(x) * gate(y) * gate(z) + 2 * gate(x) - gate(y) * gate(z), gate(y) ** 3, 1 + gate(z) * gate(x))
    made, rng = table(system, [0, 1, 2]), np.random.default_rng(1)
    assert not made.affine
    for pattern in product((0, 1), repeat=3):
        assert np.allclose(made.velocity(np.array(pattern, dtype=float)), made.corner(pattern), atol=1e-14)
    g, step = rng.random(3), 0.37
    for j, unit in enumerate(np.eye(3)):
        moved = made.velocity(g + step * unit) - made.velocity(g)
        assert np.allclose(moved, step * made.columns(g)[j], atol=1e-14)
        assert np.allclose(made.rates(g + step * unit) - made.rates(g), step * made.matrix(g)[:, j], atol=1e-14)


def test_a_power_or_function_of_a_gate_is_read_at_its_ends_only() -> None:
    plain, bent = flow(1 - 2 * gate(x)), flow(2 - sp.exp(sp.log(3) * gate(x)))
    half = np.array([0.5])
    assert table(plain, [0]).velocity(half) == pytest.approx(table(bent, [0]).velocity(half), abs=1e-15)


def test_affine_gates_are_recognised() -> None:
    assert table(flow(-sp.sign(x) + sp.sign(y), sp.sign(y) - 2 * sp.sign(x)), [0, 1]).affine
    assert not table(flow(sp.sign(x) * sp.sign(y), sp.sign(y)), [0, 1]).affine
    assert table(flow(sp.sign(x) * sp.sign(y), sp.sign(y)), [1]).affine  # one gate alone always is
    forced = table(flow(-sp.sign(x) + sp.sign(y), sp.sign(y)), [0, 1], affine=False)
    found = table(flow(-sp.sign(x) + sp.sign(y), sp.sign(y)), [0, 1])
    g = np.array([0.3, 0.9])
    assert np.allclose(forced.velocity(g), found.velocity(g)) and np.allclose(forced.matrix(g), found.matrix(g))


def test_relu_gates_are_affine_on_their_surfaces_only() -> None:
    # the output relu(H + b) contains the gate times H + b: off the surface, the two heads on one sample interact
    compiled = dynamics.full_flow("simultaneous").system.compile({"b": 0.5})
    watch, state = Switching(compiled), 0.3 * np.random.default_rng(2).standard_normal(80)
    which, gates = np.array([watch.names.index(name) for name in ("H_p_1", "H_m_1")]), np.ones(16)
    assert not PatternTable(watch, 0.0, state, gates, which).affine
    for _ in range(20):  # onto both surfaces, along the fields of the gates
        now = PatternTable(watch, 0.0, state, gates, which, affine=True)
        miss = watch.values(0.0, state, gates)[which]
        state = state - np.linalg.solve(now.matrix(np.ones(2)), miss) @ now.columns(np.ones(2))
    assert np.abs(watch.values(0.0, state, gates)[which]).max() < 1e-13
    assert PatternTable(watch, 0.0, state, gates, which).affine


def test_too_many_gates_in_products_get_a_sentence() -> None:
    states = sp.symbols("x0:9", real=True)
    system = System.from_equations({s: sp.prod([sp.sign(u) for u in states]) - sp.sign(s) for s in states})
    with pytest.raises(IntegrationError, match=r"9 surfaces meet .* at most 8"):
        table(system, list(range(9))).velocity(np.full(9, 0.5))
