"""The symmetric system of 21 variables: exact for mirrored neurons, its gates, integrals, ends and wide networks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from derivations.shallow_vit import PAPER, dynamics
from derivations.shallow_vit import compare as comparison
from derivations.shallow_vit.setting import Case
from derivations.shallow_vit.special import bounds, class_network, observables, symmetric_runs
from numerics.flows.integrate import integrate
from odesys.exact.zero import zero_test
from odesys.expr import graph
from odesys.expr.graph import Node, num, sym

EXACT = Case(m_a=5, m_b=5, d=5, m=2, eta=0.01)
PI = 0.3255


@pytest.mark.parametrize("M", [4, 5, 8])
def test_21_variables_are_exact_for_two_mirrored_neurons(M: int) -> None:
    case = Case(M=M, d=M, m_a=M, m_b=M, m=2, eta=0.02, margin=3.0)
    D = (0.3, -0.05, 0.04)
    run = symmetric_runs.descend(case, "auto", 0.5, D)
    assert run.names == dynamics.STATES and run.fitted and 300 < run.steps < 340
    state, data = symmetric_runs.lift(symmetric_runs.start(M, D), M, 0.5), symmetric_runs.samples(case)
    for F in run.F:
        assert np.abs(class_network.forward(state, data).margins - F).max() < 1e-12
        last = state.copy()
        class_network.step(state, data, case.eta, case.margin)
    end = symmetric_runs.lift(run.final, M, 0.5)
    for name in ("w", "v", "kappa", "rho"):
        assert np.abs(getattr(end, name) - getattr(last, name)).max() < 1e-12, name


def test_three_patterns_have_no_pair_of_nuisance_patterns() -> None:
    assert dynamics.mirrored(3).dimension == 18
    case = Case(M=3, d=3, m_a=3, m_b=3, m=2)
    assert symmetric_runs.flow(case, "fixed", 0.3).end_time > 0


@pytest.mark.parametrize(
    ("gates", "s", "d"), [("fixed", 6.8619, (2.4719, 0.1492, 0.5421)), ("paper", 6.6286, (2.4026, 0.2757, 0.5580))]
)
def test_end_of_the_smooth_flows(gates: str, s: float, d: tuple[float, float, float]) -> None:
    run = symmetric_runs.flow(EXACT, gates, PI)
    found = dict(zip(run.names, run.end_state, strict=True))
    assert run.end_time == pytest.approx(s, abs=1e-4)
    assert [found[name] for name in ("d1", "d2", "dn")] == pytest.approx(d, abs=1e-4)
    if gates == "fixed":
        assert [found[n] for n in ("x1", "x2", "xn", "z1", "zo", "zx")] == pytest.approx(
            [1.7105, 0.0503, 0.1609, 0.1504, 1.0637, 0.0637], abs=1e-4
        )
        assert [found[n] for n in ("ka", "kb", "kn", "kc", "ko", "kx")] == pytest.approx(
            [1.1172, 0.0131, 0.0400, -0.0434, 0.9530, -0.0165], abs=1e-4
        )
        slope = run.system.compile(dict(run.parameters))
        h = 1e-5
        x = np.array([symmetric_runs.start(5)[name] for name in run.names])
        F = slope.observables(0.0, x + h * slope(0.0, x))["F"]
        assert F / h == pytest.approx(0.05889, abs=2e-5)


def test_gates_as_the_relus_set_them_slide_and_agree_with_small_steps() -> None:
    run = symmetric_runs.flow(EXACT, "auto", PI)
    assert run.end_time == pytest.approx(7.15, abs=0.02)
    names = symmetric_runs.surface_names(5, "auto")
    slides = [names[event.name] for event in run.events if event.kind == "slide"]
    assert set(slides) == {"gate -n"}, "only nuisance queries of the other class stay on their surface"
    steps = symmetric_runs.descend(EXACT, "auto", PI)
    assert steps.eta_T == pytest.approx(7.15, abs=0.011)
    assert [steps.final[n] for n in ("d1", "d2", "dn", "x1", "ka", "ra")] == pytest.approx(
        [2.571, -0.408, 0.347, 1.771, 1.1445, 1.1429], abs=1e-3
    )
    fine = symmetric_runs.descend(replace(EXACT, eta=0.001, steps=10**5), "auto", PI)
    assert fine.eta_T == pytest.approx(run.end_time, abs=0.003)


def test_after_the_hinge_stop_nothing_moves() -> None:
    """With the hinge as a surface of its own the run goes on at rest, where the reading `running` ends."""
    values = symmetric_runs.parameters(EXACT, PI)
    stop = symmetric_runs.flow(EXACT, "fixed", PI)
    end = integrate(
        symmetric_runs.system(5, "fixed"), symmetric_runs.start(5), (0.0, 200.0), values, rtol=1e-9, atol=1e-12
    )
    assert np.abs(end.end_state - stop.end_state).max() < 1e-7 and end.final["F"] == pytest.approx(1.0, abs=1e-8)


def conserved_nodes(M: int) -> list[Node]:
    """The entries of pi (D+ D+' + D- D-') - sum_j v_j v_j' and of sum_j kappa_j kappa_j' - rho_j rho_j'."""
    K = num(M - 2)

    def gram(own: str, other: str, rest: str, shared: str, diagonal: str, cross: str) -> list[Node]:
        a, b, n, c, o, x = map(sym, (own, other, rest, shared, diagonal, cross))
        return [
            a * a + b * b + K * c * c,
            2 * a * b + K * c * c,
            (a + b) * n + c * (o + (K - 1) * x),
            2 * n * n + o * o + (K - 1) * x * x,
            2 * n * n + 2 * o * x + (K - 2) * x * x,
        ]

    d1, d2, dn, pi = map(sym, ("d1", "d2", "dn", "pi"))
    neurons = [d1 * d1 + d2 * d2, 2 * d1 * d2, dn * (d1 + d2), 2 * dn * dn, 2 * dn * dn]
    values = gram("x1", "x2", "xn", "z1", "zo", "zx")
    keys, queries = gram("ka", "kb", "kn", "kc", "ko", "kx"), gram("ra", "rb", "rn", "rc", "ro", "rx")
    return [pi * a - b for a, b in zip(neurons, values, strict=True)] + [
        a - b for a, b in zip(keys, queries, strict=True)
    ]


@pytest.mark.parametrize("gates", symmetric_runs.CHOICES)
def test_ten_quadratic_integrals_of_the_symmetric_system(gates: str) -> None:
    system = symmetric_runs.system(5, gates)
    states = [sym(name) for name in system.names]

    def rates(nodes) -> list[Node]:
        out = []
        for quantity in conserved_nodes(5):
            row = graph.gradient(quantity, states)
            out.append(graph.add([graph.multiply(a, b) for a, b in zip(row, nodes, strict=True)]))
        return out

    if gates == "auto":  # gates stay opaque: the identity holds for every pattern, here tried at random points
        rng = np.random.default_rng(0)
        broken = [node * 2 if name == "ka" else node for name, node in system.equations.items()]
        env = lambda: {**{n: rng.uniform(-1, 1) for n in system.names}, **symmetric_runs.parameters(EXACT, PI)}  # noqa: E731
        table = {"exp": np.exp, "step": lambda z: float(z > 0)}
        for _ in range(5):
            values = graph.evaluate(rates(system.nodes), env(), table, float, lambda v, e: v ** float(e))
            assert np.abs(np.array(values, dtype=float)).max() < 1e-13
        assert np.abs(graph.evaluate(rates(broken), env(), table, float, lambda v, e: v ** float(e))[5]) > 1e-6
    else:
        assert all(zero_test(node).answer == "zero" for node in rates(system.nodes))


def test_attention_of_nuisance_queries_ends_at_the_ceiling_and_not_at_one() -> None:
    wanted = {
        1.0: (0.8003, 0.4680, 0.4457, 0.6241),
        10.0: (0.9544, 0.6402, 0.8056, 0.8717),
        1e4: (0.965, 0.784, 0.9091, 0.931),
    }
    for margin, values in wanted.items():
        case = replace(EXACT, margin=margin)
        run = symmetric_runs.flow(case, "auto", PI, rtol=1e-8)
        found = symmetric_runs.scalars(dict(zip(run.names, run.end_state, strict=True)), case, PI)
        assert [found[name] for name in observables.QUERIES] == pytest.approx(values, abs=1e-3)
    assert found["rel_n"] == pytest.approx(bounds.attention_ceiling(0.5, 0.05), abs=2e-4)
    clear = replace(EXACT, alpha_c=0.0, margin=1e4)
    run = symmetric_runs.flow(clear, "fixed", PI, rtol=1e-8)
    found = symmetric_runs.scalars(dict(zip(run.names, run.end_state, strict=True)), clear, PI)
    assert min(found[name] for name in observables.QUERIES) > 0.999, "without confusion tokens the limit is 1"


def test_without_a_stop_attention_and_output_grow_exponentially() -> None:
    case = replace(EXACT, alpha_c=0.0, margin=1e6)
    run = symmetric_runs.flow(case, "fixed", PI)
    times = np.array([14.0, 18.0, 22.0, 26.0])
    rows = [symmetric_runs.scalars(dict(zip(run.names, x, strict=True)), case, PI) for x in run.at(times)]
    F = [run.system.compile(dict(run.parameters)).observables(0.0, x)["F"] for x in run.at(times)]
    assert pytest.approx([45.3, 444, 4350, 42700], rel=0.01) == F
    assert [1 - row["rel_s"] for row in rows] == pytest.approx([2.9e-3, 1.8e-4, 1.3e-5, 1.1e-6], rel=0.05)


@pytest.mark.slow
def test_a_wide_network_stays_within_3_percent_of_21_variables() -> None:
    case = Case(m=10_000, xi=1e-4, eta=0.02, m_a=5, m_b=5)
    data = class_network.exact_data(case)
    run = class_network.train(case, 0, data, observe=lambda s, f: observables.of_classes(s, f, data), record=20)
    alive = symmetric_runs.alive_fraction(5, 0.5, 0.05, count=20_000)
    assert alive == pytest.approx(0.650, abs=0.012)
    theory = symmetric_runs.flow(case, "auto", alive / 2)
    assert run.eta_T == pytest.approx(theory.end_time, rel=0.03)
    wanted = symmetric_runs.scalars(dict(zip(theory.names, theory.end_state, strict=True)), case, alive / 2)
    for name in ("S11", "Skk", "rel_s", "rel_c", "rel_n", "rel", "d1"):
        assert run.table[name][-1] == pytest.approx(wanted[name], rel=0.03), name
    for name in ("S21", "Sn1", "S1n", "Skx"):
        assert run.table[name][-1] == pytest.approx(wanted[name], abs=0.006), name


def test_deviation_falls_with_width() -> None:
    found = comparison.compare([64, 1024], 1, PAPER.read_parameters({}), workers=1)
    small, large = (found.deviations[m].mean() for m in (64, 1024))
    assert large < 0.6 * small < 0.02


def test_living_neurons_are_followed_until_they_have_settled() -> None:
    """At the fractions of figure 1b silent neurons still come alive after s = 60."""
    early = symmetric_runs.alive_fraction(5, 0.3, 0.2, count=500) / 2
    assert early == pytest.approx(0.33, abs=0.03)
