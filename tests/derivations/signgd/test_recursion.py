"""The sign-descent paper: the derived recursion, and the flow it tends to.

Numbers in this file that come from a reading of the paper are compared with, never used.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from derivations.signgd import dynamics
from derivations.signgd.setting import Case
from derivations.signgd.special import array_step, mean_field, network, pair_loops, recursion, sign_flow
from derivations.signgd.special.network import Weights
from derivations.signgd.special.recursion import Start, State
from derivations.signgd.special.training_sets import make
from numerics.maps.iterate import iterate
from odesys import Units, Words, maps, softmax
from odesys.errors import OdesysError
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import num, sym

SMALL = Case(n=10, s=60, d=701, m_k=16, m_v=4, sigma_0=2e-3)
TINY = Case(n=3, s=60, d=181, m_k=2, m_v=4, sigma_0=2e-3)
FIELDS = ("v_mu", "v", "q_mu", "k_mu", "q", "k")


# ---- the derived recursion -------------------------------------------------------------------------------------------


def test_gradients_are_the_products_of_the_recursion() -> None:
    """dL/dq_ri = -g_i b_i w_i B_ri / n and so on, exactly, with attention and slopes as atoms."""
    n, m_k = 2, 2
    atoms, found = dynamics.atoms(n, m_k), dynamics.in_atoms(n, m_k)

    def weight(i: int, query: str) -> graph.Node:
        """s(1 - s) of a row of sample i, through the atoms' own meaning."""
        logit = dynamics.attention(m_k, i)[f"s{'11' if query == 'mu' else '21'}_{i}"].args[0]
        for atom, node in atoms.meaning.items():
            if atom not in atoms.slopes and atom.args[0].startswith("p") and not atom.args[0].startswith("pbar"):
                for side in (1, -1):
                    if zero_test(node.args[0] - side * logit).answer == "zero":
                        return atom * (1 - atom)
        raise AssertionError(f"no atom for the row {query} of sample {i}")

    def slope(i: int) -> graph.Node:
        (found_one,) = [a for a in atoms.slopes if f"v_z{i}" in graph.symbols([atoms.meaning[a]])]
        return found_one

    for r in range(1, m_k + 1):
        total_q, total_k = [], []
        for i in range(1, n + 1):
            w = sym(f"v_z{i}") - sym("v_mu")
            B = sym(f"k_{r}_z{i}") - sym(f"k_{r}_mu")
            A = weight(i, "mu") * sym(f"q_{r}_mu") + weight(i, "z") * sym(f"q_{r}_z{i}")
            g = slope(i) / num(n)
            assert zero_test(found[f"q_{r}_z{i}"] + g * weight(i, "z") * w * B).answer == "zero"
            assert zero_test(found[f"k_{r}_z{i}"] + g * w * A).answer == "zero"
            total_q.append(g * weight(i, "mu") * w * B)
            total_k.append(g * w * A)
        assert zero_test(found[f"q_{r}_mu"] + graph.add(total_q)).answer == "zero"
        assert zero_test(found[f"k_{r}_mu"] - graph.add(total_k)).answer == "zero"
        assert zero_test(found[f"k_{r}_mu"] + graph.add(total_k)).answer != "zero"  # the check can fail


def test_values_move_at_constant_speed_and_labels_are_gone() -> None:
    system = dynamics.reduced(2, 2)
    assert system.dimension == 3 * 5 and set(system.parameters) == {"eta", "m", "l1", "l2"}
    assert [str(e) for e in system.rhs[:3]] == ["2*eta*m + v_mu", "2*eta*l1 + v_z1", "2*eta*l2 + v_z2"]
    reference = dynamics.derived(2, 1)
    for signs in itertools.product((1, -1), repeat=2):
        other = dynamics.derived(2, 1, 1, signs)
        for leaf, table in reference.gradients.items():
            assert all(a is b for a, b in zip(table.ravel(), other.gradients[leaf].ravel(), strict=True))
    rows = dynamics.derived(1, 1, 3)  # three value rows of each class: the same step of v
    assert rows.system().nodes[0] is dynamics.derived(1, 1, 1).system().nodes[0]


@pytest.mark.parametrize("n, m_k", [(3, 2), (1, 3), (4, 1)])
def test_step_over_arrays_is_the_derived_map(n: int, m_k: int) -> None:
    """One sample and one neuron are carried over to all; systems of other sizes, derived whole, are the same map."""
    start = recursion.draw(replace(TINY, n=n, d=60 * n + 1, m_k=m_k), 1)
    values = {"m": 1.0, "eta": 5e-4, **{f"l{i + 1}": float(l) for i, l in enumerate(start.l1)}}
    run = recursion.descend(start, 5e-4, 400)
    packed = np.array([run.state(j).pack() for j in range(401)])
    for system in (dynamics.reduced(n, m_k), dynamics.raw(n, m_k)) if n == 3 else (dynamics.raw(n, m_k),):
        assert np.array_equal(iterate(system, start.state.pack(), 400, values).states, packed)
    seen = dynamics.raw(n, m_k).compile(values).observables(0.0, packed[-1])
    assert np.allclose([seen[f"margin_{i + 1}"] for i in range(n)], run.margin[-1], rtol=1e-13)
    again = State.unpack(start.state.pack(), n, m_k)
    assert all(np.array_equal(getattr(again, f), getattr(start.state, f)) for f in FIELDS)


@cache
def _all_caches() -> list[Any]:
    made = (
        dynamics.derived,
        dynamics.atoms,
        dynamics.sign_form,
        dynamics.reduced,
        array_step.lifted,
        array_step.pairs_are_saddles,
        pair_loops._kernels,
    )
    assert all(hasattr(function, "cache_clear") for function in made)
    return list(made)


@pytest.mark.parametrize("scores, values", [(2, 1), (1, -3)])
def test_no_step_is_typed(monkeypatch: pytest.MonkeyPatch, scores: int, values: int) -> None:
    """Another program gives another step, that of its own derived system: nothing of the paper's is left in it."""
    start = recursion.draw(TINY, 1)
    paper = recursion.descend(start, 5e-4, 300)

    def other(words: Words, m_k: int, heads: Any = ("",)) -> Any:
        v, (q, k) = maps("v", dynamics.READOUT, words), maps("q k", Units("r", m_k), words)
        return lambda X: (dynamics.READOUT.all.T @ v @ X @ softmax(X.T @ k.T @ q @ X * scores)).sum() * values

    monkeypatch.setattr(dynamics, "model", other)
    try:
        for function in _all_caches():
            function.cache_clear()
        run = recursion.descend(start, 5e-4, 300)
        known = {"m": 1.0, "eta": 5e-4, **{f"l{i + 1}": float(l) for i, l in enumerate(start.l1)}}
        system = dynamics.derived(3, 2).system()
        assert np.array_equal(iterate(system, start.state.pack(), 300, known).end_state, run.state(-1).pack())
        assert array_step.pairs_are_saddles() == (values > 0)  # else saddles lie elsewhere: refused
    finally:
        monkeypatch.undo()
        for function in _all_caches():
            function.cache_clear()
    assert np.abs(run.state(-1).pack() - paper.state(-1).pack()).max() > 0.1


def test_loss_falls_by_the_l1_norm_of_the_gradient() -> None:
    data, weights = make(TINY, 0), network.gaussian(TINY, 1)
    weights = Weights(*(100 * w for w in weights.all()))
    slope = network.gradient(weights, data.x, data.y)
    start = recursion.project(data, weights)
    whole = sum(float(np.abs(g).sum()) for g in slope.all())
    assert gradient_norm(start, start.state) == pytest.approx(whole, rel=1e-12)


def gradient_norm(start: Start, state: State) -> float:
    """The derived L1 norm of the gradient."""
    made = dynamics.derived(start.case.n, start.case.m_k)
    system = made.system(kind="flow").with_observables({"norm": made.gradient_norm()})
    values = {"m": start.mu, **{f"l{i + 1}": float(l) for i, l in enumerate(start.l1)}}
    return system.compile(values).observables(0.0, state.pack())["norm"]


# ---- the flow --------------------------------------------------------------------------------------------------------


def test_recursion_converges_to_the_flow_at_first_order() -> None:
    start = recursion.draw(Case(n=3, s=60, d=181, m_k=2, m_v=4, sigma_0=2e-3), 4)
    found = sign_flow.convergence(start, 0.2, [1600, 3200, 6400, 12_800, 25_600])
    assert found.cycles[0] > 0 and found.turned[0] > 0 and found.errors[0] > 1  # held, and sent to the other side
    assert found.cycles[1:] == found.turned[1:] == (0, 0, 0, 0)
    assert found.order.value == pytest.approx(1.0, abs=0.35)
    assert found.errors[-1] < 1e-3


def test_loss_falls_along_the_flow_and_values_are_straight() -> None:
    start = recursion.draw(TINY, 2)
    trajectory = sign_flow.integrate_flow(start, 0.2)
    run = sign_flow.as_run(start, trajectory, np.linspace(0, 0.2, 201))
    assert (np.diff(run.loss) < 0).all()
    assert np.allclose(run.v, start.state.v + 2 * run.times[:, None] * start.l1, rtol=1e-9)
    rate = -np.gradient(run.loss, run.times)[100]
    assert rate == pytest.approx(gradient_norm(start, run.state(100)), rel=0.02)


@pytest.mark.parametrize("seed", [0, 2])
def test_geometric_steps_follow_the_flow(seed: int) -> None:
    """Two integrators of one flow: event by event, and growing steps that pass saddles exactly."""
    start = recursion.draw(TINY, seed)
    trajectory = sign_flow.integrate_flow(start, 0.2)
    assert not trajectory.slides
    coarse, fine = (recursion.geometric(start, 0.2, fraction=x).state(-1).pack() for x in (3e-3, 1e-3))
    exact = trajectory.end_state
    scale = np.abs(exact).max()
    assert np.abs(fine - exact).max() < 7e-3 * scale and np.abs(coarse - exact).max() < 2e-2 * scale


def outvoted() -> Start:
    """One neuron, three samples with signs +, +, -: the third has no aligned neuron, p = 0."""
    case = Case(n=3, s=4 * 10**6, d=12 * 10**6 + 1, m_k=1, m_v=4, sigma_p=1.0, sigma_0=1e-12)
    start = recursion.draw(case, 0)
    row = np.array([[1.0, 1.0, -1.0]]) * 1e-12 * start.l2
    one = np.array([1e-12])
    state = State(0.0, np.abs(start.state.v) + 1e-9, one, -one, row, row.copy())
    return replace(start, state=state)


def test_an_outvoted_key_slides() -> None:
    start = outvoted()
    unit = start.case.flip_time()
    trajectory = sign_flow.integrate_flow(start, 4 * unit)
    (slide,) = trajectory.slides
    assert slide.name == "A_1_3"  # the surface a q_mu + b q = 0 of the third sample
    assert slide.start == pytest.approx(unit, rel=0.01) and slide.end == pytest.approx(4 * unit)
    run = sign_flow.as_run(start, trajectory, np.linspace(1.2 * unit, 4 * unit, 15))
    level = math.acosh(2 * start.l1[2] - 1)  # where b = a / Lambda with a = 1/4
    assert np.allclose(-run.z21[:, 2], level, rtol=1e-4)
    recursive = recursion.descend(start, unit / 500, 2000)
    assert sign_flow.sliding_keys(recursive) and not sign_flow.trapped(recursive)  # chatter of a slide is no trap
    assert -recursive.z21[-1, 2] == pytest.approx(level, rel=0.01)
    assert mean_field.MeanField(start.l1[2], 0.0, 1).slides


def test_two_step_cycles_are_reported_and_follow_their_law() -> None:
    case = Case(n=20, s=2000, d=40_001, m_k=100, m_v=10**6, sigma_p=2.0, sigma_0=1e-6)
    for grain in (0.1, 0.4):
        eta = grain * case.sigma_0 / math.sqrt(2 * case.s / math.pi)
        drawn = recursion.draw(case, 0)
        start = replace(drawn, state=replace(drawn.state, v_mu=0.0, v=np.abs(drawn.state.v) + 1e-12))
        opposite, same = sign_flow.count_crossings(start.state, start, eta)
        law = sign_flow.trap_probability(start, eta)
        fine = [sign_flow.trap_probability(start, eta * few) / few for few in (1e-4, 1e-7, 1e-20)]
        assert fine[1:] == pytest.approx([fine[0]] * 2, rel=1e-6)  # the last with more steps than fit in memory
        error = math.sqrt(law * (1 - law) / opposite)
        assert abs(same / opposite - law) < 4 * error
        assert law == pytest.approx(grain / math.sqrt(math.pi), rel=0.03)
        held = {
            (t.neuron, t.sample) for t in sign_flow.trapped(recursion.descend(start, eta, math.ceil(4.5 / grain) + 20))
        }
        assert abs(len(held) - same) < 0.1 * same + 3


def test_flow_refuses_large_systems() -> None:
    with pytest.raises(OdesysError, match="event by event for at most"):
        sign_flow.integrate_flow(recursion.draw(SMALL, 0), 0.1)
    with pytest.raises(OdesysError, match="multiples of 20"):
        sign_flow.convergence(recursion.draw(TINY, 0), 0.1, [30])
    run = recursion.descend(recursion.draw(TINY, 0), 1e-4, 20, record=5)
    with pytest.raises(OdesysError, match="record every step"):
        sign_flow.trapped(run)
