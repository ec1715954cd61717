"""Who drives whom, exact linear parts, and the critical block of the two-mixture flow."""

from __future__ import annotations

import random
from fractions import Fraction
from functools import cache

import networkx as nx
import numpy as np
import pytest
import sympy as sp

from odesys import AttentionModel, Dictionary, Distribution, Head, Sample, gradient_flow
from odesys.analysis.dependency import (
    _point_text,
    checked_values,
    critical_block,
    dependency_graph,
    linear_part,
    ordered_components,
    sign_of,
    strong_components,
    substitution,
    values_at,
)
from odesys.derive.flow import Flow
from odesys.errors import EquationError, ParameterError
from odesys.expr import graph
from odesys.expr.system import System
from tests.known_systems import X, Y, Z, bouncing, lotka_volterra, pendulum, toda

SEED = 7


@cache
def stage_two() -> Flow:
    """Attention trained on the four conflicting samples, 80 states."""
    samples = [
        Sample([f"c{k}", f"{'' if s > 0 else '-'}v{k}", f"{'-' if s > 0 else ''}v{3 - k}"], s, Fraction(1, 4))
        for k in (1, 2)
        for s in (1, -1)
    ]
    model = AttentionModel(Dictionary(["c1", "c2", "v1", "v2"]), [Head(1, "relu", "b"), Head(-1, "relu", "b")])
    weights = ("w", "W_K", "W_Q")
    return gradient_flow(model, Distribution(samples), train=("W_K", "W_Q"), carry=weights)


def start(omega: object, n_c: Fraction = Fraction(3, 10), n_v: Fraction = Fraction(4, 5)) -> dict[str, object]:
    """M = 0, A = B = omega^2 I, group neurons n_c in both heads, classification neurons +-n_v."""
    point: dict[str, object] = {}
    for name in stage_two().system.names:
        kind, head, *words = name.split("_")
        if kind == "w":
            point[name] = n_c if words[0][0] == "c" else n_v if head == "p" else -n_v
        else:
            point[name] = omega**2 if kind in ("KK", "QQ") and words[0] == words[1] else Fraction(0)
    return point


# ---- dependency graph ----------------------------------------------------------------------------------------------


def test_edges_point_from_driver_to_driven() -> None:
    system = System.from_equations({X: Y * sp.sin(Z), Y: sp.Abs(X), Z: 1})
    assert set(dependency_graph(system).edges) == {("y", "x"), ("z", "x"), ("x", "y")}


def test_the_bitset_pass_agrees_with_a_traversal_for_each_state() -> None:
    system = stage_two().system
    edges = set(dependency_graph(system).edges)
    rng = random.Random(SEED)
    for name in rng.sample(system.names, 12):
        used = graph.symbols([system.equations[name]]) & set(system.names)
        assert {source for source, target in edges if target == name} == used


def test_strong_components_come_in_topological_order() -> None:
    w, v = sp.symbols("w v")
    system = System.from_equations({X: Y + w, Y: X, Z: X + v, w: w, v: Z})
    components = strong_components(system)
    assert components == (("w",), ("x", "y"), ("z", "v"))
    place = {name: k for k, names in enumerate(components) for name in names}
    assert all(place[a] <= place[b] for a, b in dependency_graph(system).edges)


def test_all_states_of_toda_hang_together_but_not_with_a_passenger() -> None:
    system = toda()
    assert strong_components(system) == (system.names,)
    extra = System.from_equations({**system.equations, X: system.states[0]})
    assert strong_components(extra) == (system.names, ("x",))
    assert nx.number_strongly_connected_components(dependency_graph(extra)) == 2


# ---- linear part ---------------------------------------------------------------------------------------------------


def test_linear_part_is_exact_with_symbols() -> None:
    a, b, c, d = sp.symbols("a b c d", positive=True)
    rates = {"a": a, "b": b, "c": c, "d": d}
    matrix = linear_part(lotka_volterra(), {"x": c / d, "y": a / b}, rates)
    assert matrix.applyfunc(sp.cancel) == sp.Matrix([[0, -b * c / d], [a * d / b, 0]])


def test_linear_part_at_a_point_the_graph_can_not_hold() -> None:
    assert linear_part(pendulum(), {"x": sp.pi, "y": 0}) == sp.Matrix([[0, 1], [1, 0]])


@pytest.mark.parametrize("system", [lotka_volterra(), pendulum(), toda(), bouncing()])
def test_linear_part_agrees_with_the_compiled_jacobian(system: System) -> None:
    rng = random.Random(SEED)
    point = {name: Fraction(rng.randint(1, 20), 8) for name in system.names}
    numbers = {name: Fraction(rng.randint(1, 20), 8) for name in system.parameters}
    exact = np.array(linear_part(system, point, numbers).tolist(), dtype=float)
    compiled = system.compile({name: float(value) for name, value in numbers.items()})
    assert np.allclose(exact, compiled.jacobian(0.0, [float(v) for v in point.values()]), rtol=1e-13)


def test_linear_part_of_the_two_mixture_flow_agrees_with_differences() -> None:
    """At M = 0 the entries are short, and the derivative of the softmax still enters."""
    system = stage_two().system
    rng = random.Random(SEED)
    point = {name: Fraction(rng.randint(-20, 20), 40) for name in system.names}
    point |= {name: Fraction(rng.randint(1, 9), 10) for name in system.names if name.startswith("w")}
    point |= {name: Fraction(0) for name in system.names if name.startswith("KQ")}
    exact = linear_part(system, point, {"b": Fraction(3)})
    assert not exact.has(sp.Float)
    compiled, x = system.compile(b=3.0), np.array([float(point[name]) for name in system.names])
    numbers = np.array(exact.tolist(), dtype=float)
    for name in ("KQ_p_c1_v1", "KQ_m_v1_v2", "KK_p_c1_c2", "w_p_v2"):
        column, step = system.names.index(name), 1e-5
        shift = step * np.eye(system.dimension)[column]
        slope = (compiled(0.0, x + shift) - compiled(0.0, x - shift)) / (2 * step)
        assert np.allclose(numbers[:, column], slope, atol=1e-9) and np.abs(slope).max() > 1e-3


def test_a_kink_has_no_linear_part() -> None:
    with pytest.raises(EquationError, match="kink"):
        linear_part(bouncing(), {"x": 0, "y": 1})
    assert linear_part(bouncing(), {"x": 1, "y": 1}) == sp.Matrix([[0, 1], [0, 0]])


def test_wrong_names_and_poles_get_a_sentence() -> None:
    with pytest.raises(EquationError, match="q is not a state"):
        linear_part(pendulum(), {"q": 0})
    with pytest.raises(EquationError, match="k is not a parameter"):
        linear_part(pendulum(), {"x": 0}, {"k": 1})
    with pytest.raises(EquationError, match="divide by zero"):
        linear_part(System.from_equations({X: 1 / X}), {"x": 0})


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (sp.sqrt(2) - sp.Rational(141421356, 100000000), 1),
        (sp.sqrt(2) * sp.sqrt(3) - sp.sqrt(6), 0),
        (sp.sqrt(5 + 2 * sp.sqrt(6)) - sp.sqrt(2) - sp.sqrt(3), 0),
        (-sp.Symbol("a", positive=True) * sp.Symbol("c", positive=True), -1),
        (sp.Symbol("a", real=True), None),
        (sp.Float(1e-12), None),
        (sp.Float(-0.5), -1),
    ],
)
def test_signs(value: sp.Expr, sign: int | None) -> None:
    assert sign_of(value) == sign


# ---- critical block ------------------------------------------------------------------------------------------------


def test_the_critical_block_is_the_fastest_strong_component() -> None:
    system = System.from_equations({X: 3 * Y, Y: X, Z: X + Z})
    block = critical_block(system)
    assert block.states == ("x", "y")
    assert block.matrix == sp.Matrix([[0, 3], [1, 0]])
    assert block.growth == pytest.approx(3**0.5)
    slow = System.from_equations({X: Y / 2, Y: X / 2, Z: X + Z})
    assert critical_block(slow).states == ("z",)


def test_a_map_is_measured_by_modulus() -> None:
    system = System.from_equations({X: -2 * X, Y: Y}, kind="map")
    assert critical_block(system).states == ("x",)
    assert critical_block(system).growth == pytest.approx(2.0)


def test_growth_needs_numbers() -> None:
    with pytest.raises(ParameterError, match="a has none"):
        critical_block(lotka_volterra(), parameters={"c": 1, "b": 1, "d": 1})


@pytest.mark.parametrize("n_c", [Fraction(3, 10), Fraction(1, 20)])
def test_two_mixture_scores_grow_at_four_kappa(n_c: Fraction) -> None:
    """Growth 4 kappa, kappa = g n_c / 9 with g = 1/2, as omega -> 0; the excess is of order omega^4."""
    system = stage_two().system
    assert system.dimension == 80
    kappa = Fraction(1, 2) * n_c / 9
    wanted = {"KQ_p_c1_v1", "KK_p_c1_c1", "QQ_p_v1_v1"}
    gaps = []
    for omega in (Fraction(1, 10), Fraction(1, 20), Fraction(1, 1000)):
        block = critical_block(system, start(omega, n_c), {"b": Fraction(1, 2)})
        assert wanted <= set(block.states)
        assert not any(name.startswith("w_") for name in block.states)
        gaps.append(block.growth - 4 * float(kappa))
    assert abs(gaps[2]) < 1e-12
    assert gaps[0] / gaps[1] == pytest.approx(16.0, rel=0.1)


def test_two_mixture_limit_block_is_exact() -> None:
    """At omega = 0 the heads decouple: ten states each, and 4 kappa is an exact eigenvalue."""
    system = stage_two().system
    block = critical_block(system, start(Fraction(0)), {"b": Fraction(1, 2)})
    scores = [f"KQ_p_c{i}_v{j}" for i in (1, 2) for j in (1, 2)]
    selves = [
        f"{kind}_{a}_{b}"
        for kind, w in (("KK_p", "c"), ("QQ_p", "v"))
        for a, b in ((f"{w}1", f"{w}1"), (f"{w}1", f"{w}2"), (f"{w}2", f"{w}2"))
    ]
    assert set(block.states) == {*scores, *selves}
    assert len(block.ties) == 1 and all(name.split("_")[1] == "m" for name in block.ties[0])
    rate = 4 * sp.Rational(1, 2) * sp.Rational(3, 10) / 9
    assert (block.matrix - rate * sp.eye(10)).rank() == 9
    assert (block.matrix - 2 * rate * sp.eye(10)).rank() == 10
    key, query, score = (block.states.index(n) for n in ("KK_p_c1_c1", "QQ_p_v1_v1", "KQ_p_c1_v1"))
    assert block.matrix[score, key] == block.matrix[score, query] == rate / 4  # kappa
    assert block.matrix[key, score] == rate / 2


def test_a_point_may_be_written_in_symbols_of_its_own() -> None:
    omega = sp.Symbol("omega")
    system = stage_two().system
    symbolic = critical_block(system, start(omega), {"b": Fraction(1, 2), "omega": Fraction(1, 10)})
    numeric = critical_block(system, start(Fraction(1, 10)), {"b": Fraction(1, 2)})
    assert symbolic.states == numeric.states and symbolic.matrix == numeric.matrix


# ---- sentences, numbers and ties -----------------------------------------------------------------------------------


def test_errors_name_the_point_and_what_is_wrong_there() -> None:
    system = System.from_strings("x' = y/(x - 1); y' = abs(x) - k")
    for call, said, kind in (
        (lambda: linear_part(system, {"x": 1, "y": 0}), "the equations divide by zero at x = 1, y = 0", EquationError),
        (
            lambda: linear_part(system, {"x": 0, "y": 2}),
            "the field has a kink at x = 0, y = 2: x is zero there, so the Jacobian does not exist; take a point on "
            "one side",
            EquationError,
        ),
        (lambda: linear_part(system, {"q": 1}), "q is not a state; the states are x, y", EquationError),
        (lambda: linear_part(system, {}, {"q": 1}), "q is not a parameter; the parameters are k", EquationError),
        (
            lambda: linear_part(System.from_strings({"x": "x"}), {}, {"q": 1}),
            "q is not a parameter; the parameters are none",
            EquationError,
        ),
        (lambda: values_at([1 / graph.sym("x")], {"x": 0}), "the equations divide by zero at x = 0", EquationError),
        (
            lambda: critical_block(System.from_strings("x' = x*t")),
            "the growth rate needs numbers, but t has none (the system depends on time)",
            ParameterError,
        ),
        (
            lambda: critical_block(System.from_strings("x' = k*x")),
            "the growth rate needs numbers, but k has none; pass parameters={'k': ...}",
            ParameterError,
        ),
    ):
        with pytest.raises(kind) as caught:
            call()
        assert str(caught.value) == said
    many = System.from_strings({f"x{k}": "1" for k in range(13)})
    with pytest.raises(EquationError, match=r"the states are x0, .*, x10, x11$"):
        linear_part(many, {"q": 1})


def test_a_point_is_told_by_its_first_four_values() -> None:
    assert _point_text({}) == "the symbolic point" and _point_text({"a": 1, "b": 2}) == "a = 1, b = 2"
    assert _point_text(dict.fromkeys("abcd", 0)) == "a = 0, b = 0, c = 0, d = 0"
    assert _point_text(dict.fromkeys("abcde", 0)) == "a = 0, b = 0, c = 0, d = 0, ..."


@pytest.mark.parametrize(
    ("value", "sign"),
    [
        (0, 0),
        (sp.Rational(-1, 3), -1),
        (sp.sqrt(2) / 10**30, 1),
        (-sp.sqrt(2) / 10**35, -1),
        (sp.sin(1) ** 2 + sp.cos(1) ** 2 - 1, 0),
        (sp.exp(1) * sp.exp(-1) - 1, 0),
        (sp.I, None),
        (sp.sqrt(-2), None),
        (sp.zoo, None),
        (sp.nan, None),
        (sp.Float(0.0), None),
        (sp.Float(2e-9), 1),
        (sp.Float(-2e-9), -1),
        (sp.Float(5e-10), None),
        (sp.Symbol("a", positive=True) - sp.Symbol("a", positive=True), 0),
        (sp.Symbol("a", negative=True) * 3, -1),
        (sp.Symbol("a", positive=True) + 1.0, 1),
        (sp.Symbol("a", positive=True) ** 2 + 2 * sp.Symbol("a", positive=True), 1),
        (sp.Symbol("a") ** 2, None),
        (sp.sqrt(3 - 2 * sp.sqrt(2)) - sp.sqrt(2) + 1, 0),
        (sp.log(6) - sp.log(2) - sp.log(3), 0),
        ((sp.E + 1) ** 2 - sp.E**2 - 2 * sp.E - 1, 0),
        (sp.besselj(0, 1), 1),
        (sp.gamma(sp.Rational(1, 4)) * sp.gamma(sp.Rational(3, 4)) - sp.pi * sp.sqrt(2), None),
    ],
)
def test_signs_of_exact_numbers_floats_and_symbols(value: object, sign: int | None) -> None:
    """Within rounding of zero a float has none; an exact number is zero only where that is proved."""
    assert sign_of(value) == sign


def test_components_of_a_graph_come_after_their_drivers_and_else_by_name() -> None:
    edges = nx.DiGraph([("d", "a"), ("c", "b"), ("b", "c")])
    edges.add_node("e")
    assert ordered_components(edges, "abcde") == (("b", "c"), ("d",), ("a",), ("e",))
    assert ordered_components(edges, "edcba") == (("e",), ("d",), ("c", "b"), ("a",))


@pytest.mark.parametrize("seed", range(4))
def test_random_linear_parts_are_those_of_sympy(seed: int) -> None:
    """Products, quotients, roots and functions, at a point and in symbols, zero entries among them."""
    rng = random.Random(seed)
    parts = ["x*y", "x/(1 + y^2)", "sin(x*z)", "exp(y)/x", "z^3", "sqrt(1 + x^2)", "3", "y", "log(2 + z^2)", "1/(x*y)"]
    rates = {name: " + ".join(f"{rng.randint(-3, 3)}*({t})" for t in rng.sample(parts, 3)) for name in "xyz"}
    system = System.from_strings(rates)
    point = {name: Fraction(rng.randint(1, 9), rng.randint(1, 4)) for name in "xyz"}
    states = list(system.states)
    jacobian = sp.Matrix(system.rhs).jacobian(states)
    at = {s: sp.Rational(str(point[s.name])) for s in states}
    assert (linear_part(system, point) - jacobian.subs(at)).applyfunc(sp.simplify) == sp.zeros(3, 3)
    assert (linear_part(system) - jacobian).applyfunc(sp.simplify) == sp.zeros(3, 3)
    half = linear_part(system, {"y": point["y"]}) - jacobian.subs(states[1], at[states[1]])
    assert half.applyfunc(sp.simplify) == sp.zeros(3, 3)


def test_values_are_split_into_those_of_the_graph_and_others() -> None:
    a = sp.Symbol("a", positive=True)
    nodes, outside = substitution({"x": Fraction(1, 2), "y": sp.pi, "z": a + 1, "w": graph.sym("u")})
    assert nodes[graph.sym("x")] is graph.num(Fraction(1, 2)) and nodes[graph.sym("w")] is graph.sym("u")
    assert outside["a"] is a and nodes[graph.sym("z")] is graph.sym("a") + 1
    (value,) = values_at([graph.sym("y") * graph.sym("x") + graph.sym("z")], {"x": 2, "y": sp.pi, "z": a})
    assert sp.expand(value - 2 * sp.pi - a) == 0


def test_points_in_symbols_take_numbers_of_parameters() -> None:
    system = System.from_strings("x' = k*x; y' = y")
    omega = sp.Symbol("omega")
    found = checked_values(system, {"x": omega**2}, {"omega": 3, "k": 2})
    assert found == {"x": 9, "k": 2}
    with pytest.raises(EquationError, match="tau is not a parameter"):
        checked_values(system, {"x": omega}, {"tau": 3})
    with pytest.raises(EquationError, match="omega is not a parameter"):
        checked_values(system, {"x": 1}, {"omega": 3})


def test_blocks_of_equal_growth_are_ties_and_zero_entries_are_no_edges() -> None:
    """x and y are joined by an entry that is zero for a reason (sin^2 + cos^2 - 1), so each is a block of its own."""
    tied = critical_block(System.from_strings("x' = 2*x; y' = x + 2*y; z' = y + z; w' = 2*w - z"))
    assert (
        tied.states == ("x",) and tied.ties == (("y",), ("w",)) and tied.growth == 2 and tied.evidence == "measurement"
    )
    near = critical_block(System.from_strings("x' = 2*x; y' = (2 + 3e-9)*y; z' = (2 - 3e-9)*z"))
    assert near.states == ("y",) and near.ties == ()
    zero = System.from_equations({X: X + Y * (sp.sin(2) ** 2 + sp.cos(2) ** 2 - 1), Y: X + 5 * Y})
    assert critical_block(zero).states == ("y",)
    spiral = critical_block(System.from_strings("x' = -x - 9*y; y' = 9*x - y; z' = z/2"))
    assert spiral.states == ("z",) and spiral.growth == pytest.approx(0.5)
    turned = critical_block(System.from_strings({"x": "-x - y", "y": "x - y", "z": "1.2*z"}, kind="map"))
    assert turned.states == ("x", "y") and turned.growth == pytest.approx(2**0.5)


def test_a_block_at_a_point_that_only_sympy_can_hold() -> None:
    block = critical_block(pendulum(), {"x": sp.pi})
    assert (
        block.states == ("x", "y")
        and block.growth == pytest.approx(1.0)
        and block.matrix == sp.Matrix([[0, 1], [1, 0]])
    )
    scaled = System.from_strings("x' = k*x - y; y' = sin(k)*x")
    alone = critical_block(scaled, {}, {"k": sp.pi})
    assert alone.states == ("x",) and alone.growth == pytest.approx(np.pi)


def test_a_block_with_a_number_that_is_a_root_of_a_polynomial() -> None:
    """With k^5 = k + 1 the entry k^5 - k - 1 is zero, so that x and y are blocks of their own."""
    k = sp.CRootOf(X**5 - X - 1, 0)
    block = critical_block(System.from_strings("x' = k*x - y; y' = (k^5 - k - 1)*x + y/2"), {}, {"k": k})
    assert block.states == ("x",) and block.growth == pytest.approx(float(k)) and block.ties == ()
    joined = critical_block(System.from_strings("x' = k*x - y; y' = -(k^5 - k - 2)*x + k*y"), {}, {"k": k})
    assert joined.states == ("x", "y") and joined.growth == pytest.approx(float(k))


def test_ties_are_relative_to_the_growth() -> None:
    large = critical_block(System.from_strings("x' = 1000000*x; y' = (1000000 - 1/10000)*y; z' = 999999*z"))
    assert large.states == ("x",) and large.ties == (("y",),)
    small = critical_block(System.from_strings("x' = x/1000000; y' = (1/1000000 - 5e-10)*y; z' = -x - z"))
    assert small.states == ("x",) and small.ties == (("y",),)


@pytest.mark.parametrize("value", [sp.AccumBounds(0, sp.pi / 2), sp.zoo, sp.nan, sp.oo, sp.atan(sp.zoo), sp.oo + X])
def test_what_is_no_number_has_no_sign(value: sp.Expr) -> None:
    assert sign_of(value) is None
