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
from odesys.analysis.dependency import critical_block, dependency_graph, linear_part, sign_of, strong_components
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
